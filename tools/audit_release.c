/* audit_release.c - see audit_run.h: which segments were given back, and in which order; out of memory.
 *
 * A run of releases is either a call that empties the cache, or the ladder of a request that the device
 * refused. Both release everything that is free, in one order; with a split limit the ladder begins with
 * oversize blocks. Which it was shows at the first release.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

enum { LOOK_BACK = 1000, TIES_LOOKED_AT = 64 };

struct releases {
  struct ashlar_audit_run *run;
  uint64_t end;                        /* event behind the last release */
  struct ashlar_audit_request request; /* that the run may be for: an alloc, or a failure */
  uint64_t released;                   /* bytes, by the oversize part of the ladder */
  uint64_t need;     /* bytes that this part is after; 0: the run has no such part */
  int32_t pool;      /* number of the one of which everything is being released, -1: none yet */
  int32_t expected;  /* slot of the next release, -1: none */
  int32_t following; /* after one out of order: slot of the one behind it, -1: none */
  bool has_request;  /* there is one, and nothing that is free may serve it */
  bool is_retried;   /* a new segment follows */
  bool
      is_captured; /* the request is made in a capture: nothing more than oversize segments is released */
  bool is_excused; /* the recording begins here, or collections by age are possible */
};

static const struct ashlar_event *event_of(const struct ashlar_audit_run *run, uint64_t event)
{
  return &run->part->events[event];
}

/* Whether a free was completed by events on other streams, not by the call that requested it. */
static bool is_late_free(const struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  return recorded->action == ASHLAR_ACTION_FREE_COMPLETED &&
         (event == 0 || event_of(run, event - 1)->action != ASHLAR_ACTION_FREE_REQUESTED ||
          event_of(run, event - 1)->address != recorded->address);
}

bool ashlar_run_came_late(const struct ashlar_audit_run *run, uint64_t event, int32_t slot,
                          bool is_retried)
{
  const struct ashlar_manager *manager = run->manager;
  bool is_released = false;
  for (uint64_t back = 1; back <= event && back <= LOOK_BACK; back++) {
    const struct ashlar_event *recorded = event_of(run, event - back);
    if (recorded->action == ASHLAR_ACTION_SEGMENT_FREE ||
        recorded->action == ASHLAR_ACTION_SEGMENT_UNMAP) {
      is_released = true;
      continue;
    }
    if (recorded->action != ASHLAR_ACTION_FREE_COMPLETED) {
      return false;
    }
    /* A free right behind its request looks like one that did not wait, but where others did it need
       not be. It is the last that may be late: what was requested before was waited for before. */
    const bool is_late = is_late_free(run, event - back);
    if (recorded->address - manager->addr[slot] < manager->size[slot] &&
        (is_released || !is_retried) && (is_late || run->history->has_late_frees)) {
      return true;
    }
    if (!is_late) {
      return false;
    }
  }
  return false;
}

static bool is_release(const struct ashlar_audit_run *run, uint64_t event)
{
  return event_of(run, event)->action == ASHLAR_ACTION_SEGMENT_FREE ||
         event_of(run, event)->action == ASHLAR_ACTION_SEGMENT_UNMAP;
}

/* Event behind the last release of the run; frees that events complete may be between releases. */
static uint64_t end_of_run(const struct ashlar_audit_run *run, uint64_t begin)
{
  uint64_t end = begin;
  for (uint64_t i = begin; i < run->part->event_count; i = ashlar_history_next(run->part, i + 1)) {
    if (is_release(run, i)) {
      end = i + 1;
    } else if (!is_late_free(run, i)) {
      break;
    }
  }
  return end;
}

/* The event behind what the device gave for a request. */
static uint64_t behind_memory(const struct ashlar_audit_run *run, uint64_t event)
{
  const uint64_t count = run->part->event_count;
  if (event < count && event_of(run, event)->action == ASHLAR_ACTION_SEGMENT_ALLOC) {
    return ashlar_history_next(run->part, event + 1);
  }
  while (event < count && event_of(run, event)->action == ASHLAR_ACTION_SEGMENT_MAP) {
    event = ashlar_history_next(run->part, event + 1);
  }
  return event;
}

/* The request that the run may be for: the next one, if it gets new memory or fails. Where segments grow a request may also
   get what it finds in its range. */
static void find_request(struct releases *releases, uint64_t begin)
{
  struct ashlar_audit_run *run = releases->run;
  const uint64_t count = run->part->event_count;
  uint64_t first = ashlar_history_next(run->part, releases->end);
  while (first < count && is_late_free(run, first)) {
    first =
        ashlar_history_next(run->part, first + 1); /* waited for, and nothing was released then */
  }
  const uint64_t next = behind_memory(run, first);
  releases->is_retried = next != first || run->history->grows;
  if (next == count ||
      (event_of(run, next)->action != ASHLAR_ACTION_OOM &&
       (event_of(run, next)->action != ASHLAR_ACTION_ALLOC || !releases->is_retried))) {
    return;
  }
  releases->is_retried = event_of(run, next)->action == ASHLAR_ACTION_ALLOC;
  struct ashlar_audit_request *request = &releases->request;
  releases->is_captured = ashlar_run_is_graph(run, event_of(run, next)->pool);
  if (ashlar_request_of(run, next, request) != ASHLAR_OPEN_NONE || request->size == 0) {
    return;
  }
  const int32_t choice = ashlar_request_choose(run, request);
  releases->has_request = choice < 0;
  if (choice < 0 || ashlar_run_came_late(run, begin, choice, false)) {
    run->ladder = next;
  }
}

static int32_t next_oversize(const struct releases *releases)
{
  const struct ashlar_audit_request *request = &releases->request;
  return ashlar_reclaim_oversize(
      releases->run->manager, ashlar_home(request->pool, request->class, request->stream),
      releases->need, releases->run->config.max_split_size, releases->released == 0);
}

/* From here on everything is released, pool by pool. */
static void release_all(struct releases *releases)
{
  releases->need = 0;
  releases->pool = -1;
  releases->expected = -1;
  releases->following = -1;
}

/* Free blocks of one size in segments of unknown age may be released in any order. */
static bool is_tie(const struct ashlar_audit_run *run, int32_t one, int32_t other)
{
  const struct ashlar_manager *manager = run->manager;
  return one >= 0 && manager->list[one] == manager->list[other] &&
         manager->size[one] == manager->size[other] && manager->age[one] != manager->age[other] &&
         manager->age[one] < run->old_ages && manager->age[other] < run->old_ages;
}

/* Decides what the run is, by its first release behind those of a collection. */
static void begin_releases(struct releases *releases, uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const uint64_t limit = run->config.max_split_size;
  release_all(releases);
  if (!releases->has_request || limit == UINT64_MAX) {
    return;
  }
  releases->need = releases->request.size > limit ? releases->request.size : limit;
  releases->released = 0;
  const int32_t oversize = next_oversize(releases);
  const struct ashlar_segment_record *segment =
      ashlar_segments_find(&run->segments, event_of(run, event)->address);
  if (oversize >= 0 && segment != NULL && segment->slot >= 0 &&
      (segment->slot == oversize || is_tie(run, oversize, segment->slot))) {
    releases->expected = oversize;
  } else {
    releases->need = 0;
  }
}

static bool is_whole(const struct ashlar_manager *manager, int32_t slot)
{
  return manager->state[slot] == ASHLAR_FREE && manager->prev[slot] < 0 && manager->next[slot] < 0;
}

/* A segment that is not there afterwards was released indeed. Blocks in it that are known only from
   their later free were never here then; those frees will be the findings. */
static bool retract_blocks(struct ashlar_audit_run *run,
                           const struct ashlar_segment_record *segment, uint64_t event)
{
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, event);
  return (conflict == NULL || conflict->kind != ASHLAR_CONFLICT_RELEASE) &&
         ashlar_run_retract(run, segment, segment->address, segment->size);
}

/* Faults of a release that do not depend on the order. True: it can be carried out. */
static bool check_release(struct ashlar_audit_run *run, struct ashlar_segment_record *segment,
                          uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  if (segment->size != recorded->size) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "%" PRIu64 " bytes were released of a segment of %" PRIu64, recorded->size,
                      segment->size);
  }
  if (segment->reason != ASHLAR_OPEN_NONE) {
    return true;
  }
  if ((recorded->flags & ASHLAR_EVENT_HAS_POOL) != 0 && recorded->pool != segment->pool) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, event, recorded->address,
                      "the segment was released in another pool than its own");
  } else if (ashlar_run_stream(run, recorded->stream) != ashlar_run_stream(run, segment->stream)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, event, recorded->address,
                      "the segment was released on another stream than its own");
  }
  if (!is_whole(run->manager, segment->slot) && !retract_blocks(run, segment, event)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, recorded->address,
                      "the segment of %" PRIu64 " bytes was released although it is in use",
                      segment->size);
    return false;
  }
  return true;
}

/* Whether address order would have released another segment of the same size first. */
static bool is_release_evidence(const struct ashlar_audit_run *run, int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  int32_t next = slot;
  for (int looked_at = 0; looked_at < TIES_LOOKED_AT; looked_at++) {
    next = ashlar_run_next_release(run, next);
    if (next < 0 || manager->list[next] != manager->list[slot] ||
        manager->size[next] != manager->size[slot]) {
      return false;
    }
    if (manager->addr[next] < manager->addr[slot]) {
      return true;
    }
  }
  return false;
}

/* True: the segment that was expected proved doubtful and is gone; what is expected must be looked up
   again. */
static bool find_out_of_order(const struct releases *releases,
                              const struct ashlar_segment_record *segment, uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const struct ashlar_manager *manager = run->manager;
  const int32_t expected = releases->expected;
  if (expected < 0) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, segment->address,
                      "released although nothing is left to release");
    return false;
  }
  ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, segment->address,
                    "released out of order: the next segment to release is at 0x%" PRIx64,
                    manager->addr[expected]);
  if (manager->size[segment->slot] == manager->size[expected] &&
      manager->list[segment->slot] == manager->list[expected] &&
      segment->address < manager->addr[expected]) {
    run->only_address++;
  }
  return ashlar_run_suspect(run, expected);
}

static void find_incomplete(const struct releases *releases, uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  int32_t left = releases->expected;
  if (left < 0 && releases->need > 0 && !releases->is_retried && !releases->is_captured) {
    left = ashlar_run_first_release(run, 0);
  }
  if (left >= 0 && !releases->is_excused) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, run->manager->addr[left],
                      "the releases end before the free segment of %" PRIu64 " bytes here",
                      run->manager->size[left]);
  }
}

/* One pool after the other is released, each of them to the end. */
static void enter_pool(struct releases *releases, const struct ashlar_segment_record *segment,
                       uint64_t event)
{
  const int32_t pool = ashlar_run_pool(releases->run, segment->pool);
  if (releases->need > 0 || releases->pool == pool) {
    return;
  }
  if (releases->pool >= 0) {
    find_incomplete(releases, event);
  }
  releases->pool = pool;
  releases->expected = ashlar_run_first_release(releases->run, pool);
  releases->following = -1;
}

/* What is free has changed: it may be part of what is released next. */
static void look_again(struct releases *releases)
{
  const int32_t pool = releases->pool;
  release_all(releases);
  if (pool >= 0) {
    releases->pool = pool;
    releases->expected = ashlar_run_first_release(releases->run, pool);
  }
}

/* The place in the order of an unmap; gives what is to come. */
static int32_t judge_place(struct releases *releases, int32_t slot, uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const struct ashlar_manager *manager = run->manager;
  const int32_t behind = ashlar_run_next_release(run, slot);
  const bool goes_on = slot == releases->following;
  if (slot == releases->expected) {
    return behind;
  }
  if (is_tie(run, releases->expected, slot)) {
    run->ties_open++;
    return releases->expected;
  }
  if (releases->expected >= 0 && !goes_on && !releases->is_excused) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, manager->addr[slot],
                      "unmapped out of order: what goes back next is at 0x%" PRIx64,
                      manager->addr[releases->expected]);
  } else if (!goes_on && !releases->is_excused) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, manager->addr[slot],
                      "unmapped although nothing is left to go back");
  }
  releases->following = behind;
  return releases->expected;
}

/* Compares one release with the expected one, carries it out, and sees what is to come. */
static void judge_release(struct releases *releases, struct ashlar_segment_record *segment,
                          uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const int32_t slot = segment->slot;
  enter_pool(releases, segment, event);
  bool goes_on = slot == releases->following;
  bool is_lost = false;
  if (releases->need > 0 && is_tie(run, releases->expected, slot)) {
    run->ties_open++;
    releases->expected = slot;
  }
  const bool is_expected = slot == releases->expected;
  if (!is_expected && is_tie(run, releases->expected, slot)) {
    run->ties_open++;
  } else if (!is_expected && !goes_on && !releases->is_excused) {
    is_lost = find_out_of_order(releases, segment, event);
    goes_on = true;
  }
  if (is_expected && run->config.order == ASHLAR_ORDER_SEGMENT && is_release_evidence(run, slot)) {
    run->only_segment++;
  }
  releases->released += segment->size;
  if (releases->need == 0) {
    /* One that was passed over is one fault: the order goes on behind the one that was not. */
    const int32_t behind = ashlar_run_next_release(run, slot);
    releases->expected = is_expected ? behind : releases->expected;
    releases->following = goes_on ? behind : releases->following;
  }
  (void)ashlar_run_remove_segment(run, segment);
  if (is_lost) {
    look_again(releases);
  }
  if (is_expected && releases->need > 0) {
    releases->expected = releases->released < releases->need ? next_oversize(releases) : -1;
    if (releases->expected < 0 &&
        (releases->released < releases->need || event + 1 < releases->end)) {
      release_all(releases);
      releases->pool = releases->is_captured ? -1 : 0;
      look_again(releases);
    }
  }
}

/* Faults of an unmap that do not depend on the order. Slot of the block, -1: it cannot be carried out. */
static int32_t check_unmap(struct ashlar_audit_run *run, const struct ashlar_segment_record *record,
                           uint64_t event)
{
  const struct ashlar_manager *manager = run->manager;
  const struct ashlar_event *recorded = event_of(run, event);
  const int32_t slot = ashlar_run_block_at(run, record, recorded->address);
  if (recorded->pool != record->pool) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, event, recorded->address,
                      "memory was unmapped in another pool than its own");
  } else if (ashlar_run_stream(run, recorded->stream) != ashlar_run_stream(run, record->stream)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, event, recorded->address,
                      "memory was unmapped on another stream than its own");
  }
  if (manager->state[slot] == ASHLAR_UNMAPPED) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, event, recorded->address,
                      "unmapped, but nothing is mapped here");
    return -1;
  }
  const uint64_t room = manager->size[slot] - (recorded->address - manager->addr[slot]);
  if (manager->state[slot] != ASHLAR_FREE || recorded->size > room) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, recorded->address,
                      "%" PRIu64 " bytes were unmapped although they are in use", recorded->size);
    return -1;
  }
  const uint64_t lead = ashlar_growable_lead(manager, slot);
  const uint64_t whole = ashlar_growable_whole(manager, slot, lead);
  if (recorded->address != manager->addr[slot] + lead || recorded->size != whole) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "%" PRIu64 " bytes were unmapped of a free block that has %" PRIu64
                      " in whole pages",
                      recorded->size, whole);
  }
  return slot;
}

/* One segment_unmap. True: something is gone. */
static bool unmap_one(struct releases *releases, uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const struct ashlar_event *recorded = event_of(run, event);
  struct ashlar_segment_record *record = ashlar_segments_at(&run->segments, recorded->address);
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, event);
  if (run->history->is_growable && conflict == NULL) {
    return false;
  }
  if (record == NULL || !record->is_growable || record->reason != ASHLAR_OPEN_NONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, event, recorded->address,
                      "unmapped, but the address is in no range");
    return false;
  }
  const int32_t slot = check_unmap(run, record, event);
  if (slot < 0) {
    return false;
  }
  if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_UNMAP) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, recorded->address,
                      "unmapped, but it is mapped afterwards");
    return false;
  }
  run->result->releases++;
  enter_pool(releases, record, event);
  releases->expected = judge_place(releases, slot, event);
  if (!ashlar_run_unmap(run, record, slot, recorded->address, recorded->size)) {
    run->blind = ASHLAR_OPEN_CAPACITY;
  }
  return true;
}

/* One segment_free. True: a segment that the manager holds is gone. */
static bool release_one(struct releases *releases, uint64_t event, bool is_collected)
{
  struct ashlar_audit_run *run = releases->run;
  struct ashlar_segment_record *segment =
      ashlar_segments_find(&run->segments, event_of(run, event)->address);
  if (segment == NULL) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, event_of(run, event)->address,
                      "released, but no segment starts there");
    return false;
  }
  if (!check_release(run, segment, event)) {
    return false;
  }
  if (segment->reason != ASHLAR_OPEN_NONE) {
    (void)ashlar_run_remove_segment(run, segment);
    return false;
  }
  run->result->releases++;
  if (is_collected) {
    (void)ashlar_run_remove_segment(run, segment);
  } else {
    judge_release(releases, segment, event);
  }
  return true;
}

uint64_t ashlar_run_segment_free(struct ashlar_audit_run *run, uint64_t event)
{
  struct releases releases = {
      .run = run, .end = end_of_run(run, event), .pool = -1, .expected = -1, .following = -1};
  uint64_t collected = event; /* what is before was collected by age */
  uint64_t held = 0;
  if (run->blind != ASHLAR_OPEN_NONE) {
    return releases.end;
  }
  find_request(&releases, event);
  if (releases.has_request) {
    collected = ashlar_collection_match(run, event, releases.end, &releases.request);
  }
  releases.is_excused = (releases.has_request && ashlar_collection_is_open(run)) ||
                        (event == run->first_event && run->config.max_split_size != UINT64_MAX);
  for (uint64_t i = event; i < releases.end; i = ashlar_history_next(run->part, i + 1)) {
    if (i == collected) {
      begin_releases(&releases, i);
    }
    if (event_of(run, i)->action == ASHLAR_ACTION_FREE_COMPLETED) {
      ashlar_run_free_completed(run, i);
      look_again(&releases);
    } else if (event_of(run, i)->action == ASHLAR_ACTION_SEGMENT_UNMAP) {
      held += unmap_one(&releases, i) ? 1 : 0;
    } else if (release_one(&releases, i, i < collected)) {
      held++;
    }
  }
  if (held > 0 && collected < releases.end) {
    find_incomplete(&releases, releases.end - 1);
  }
  return releases.end;
}

bool ashlar_run_is_graph(const struct ashlar_audit_run *run, uint16_t pool)
{
  return run->part->snapshot->pools[pool].first != 0;
}

void ashlar_run_oom(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  if (run->blind != ASHLAR_OPEN_NONE || run->history->is_growable || recorded->size == 0) {
    return;
  }
  struct ashlar_audit_request request;
  const enum ashlar_open_reason reason = ashlar_request_of(run, event, &request);
  ashlar_ages_search(run, request.owner, request.class);
  ashlar_collection_miss(run, event);
  if (reason != ASHLAR_OPEN_NONE || event == run->first_event ||
      run->part->snapshot->settings.release_lock_on_cudamalloc) {
    return;
  }
  int32_t choice = ashlar_request_choose(run, &request);
  const int32_t growing = ashlar_run_growing(run, &request);
  if (choice < 0 && growing >= 0 && run->manager->state[growing] == ASHLAR_FREE &&
      run->manager->size[growing] >= request.size) {
    choice = growing; /* no search takes it, but growing would */
  }
  if (choice >= 0) {
    if (!ashlar_run_came_late(run, event, choice, false)) {
      ashlar_audit_find(run->result, ASHLAR_RULE_OOM, event, run->manager->addr[choice],
                        "out of memory for %" PRIu64 " bytes although the free block of %" PRIu64
                        " bytes here may serve them",
                        recorded->size, run->manager->size[choice]);
    }
    return;
  }
  const int32_t whole = ashlar_run_first_release(run, 0);
  if (whole >= 0 && !ashlar_run_is_graph(run, recorded->pool) && !is_release(run, event - 1) &&
      event_of(run, event - 1)->action != ASHLAR_ACTION_SEGMENT_MAP) {
    ashlar_audit_find(run->result, ASHLAR_RULE_OOM, event, run->manager->addr[whole],
                      "out of memory for %" PRIu64 " bytes although the free segment of %" PRIu64
                      " bytes here was not released first",
                      recorded->size, run->manager->size[whole]);
  }
}
