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
  uint64_t begin;    /* event */
  uint64_t end;      /* event behind the last release */
  uint64_t released; /* bytes, by the oversize part of the ladder */
  uint64_t need;     /* bytes that this part is after; 0: the run has no such part */
  int32_t list;      /* free list of the request */
  int32_t expected;  /* slot of the next release, -1: none */
  int32_t following; /* after one out of order: slot of the one behind it, -1: none */
  bool is_retried;   /* a new segment follows */
  bool is_excused;   /* the recording begins here, or collections by age are possible */
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
    if (recorded->action == ASHLAR_ACTION_SEGMENT_FREE) {
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

/* Event behind the last release of the run; frees that events complete may be between releases. */
static uint64_t end_of_run(const struct ashlar_audit_run *run, uint64_t begin)
{
  uint64_t end = begin;
  for (uint64_t i = begin; i < run->part->event_count; i = ashlar_history_next(run->part, i + 1)) {
    if (event_of(run, i)->action == ASHLAR_ACTION_SEGMENT_FREE) {
      end = i + 1;
    } else if (!is_late_free(run, i)) {
      break;
    }
  }
  return end;
}

/* Rounded size and list of the request that the run may be for. */
static bool request_behind(struct ashlar_audit_run *run, uint64_t end, uint64_t *size,
                           int32_t *list, bool *is_retried)
{
  const uint64_t count = run->part->event_count;
  uint64_t next = ashlar_history_next(run->part, end);
  *is_retried = next < count && event_of(run, next)->action == ASHLAR_ACTION_SEGMENT_ALLOC;
  if (*is_retried) {
    next = ashlar_history_next(run->part, next + 1);
  }
  if (next == count || event_of(run, next)->pool != 0 ||
      event_of(run, next)->action != (*is_retried ? ASHLAR_ACTION_ALLOC : ASHLAR_ACTION_OOM)) {
    return false;
  }
  const int32_t stream = ashlar_run_stream(run, event_of(run, next)->stream);
  *size = ashlar_history_rounded(&run->config, event_of(run, next)->size);
  if (stream < 0 || *size == 0) {
    return false;
  }
  *list = ashlar_home(0, ashlar_pool_class(*size), stream);
  return true;
}

static int32_t next_oversize(const struct releases *releases)
{
  return ashlar_reclaim_oversize(releases->run->manager, releases->list, releases->need,
                                 releases->run->config.max_split_size, releases->released == 0);
}

/* Decides what the run is, by its first release. */
static void begin_releases(struct releases *releases)
{
  struct ashlar_audit_run *run = releases->run;
  const uint64_t limit = run->config.max_split_size;
  uint64_t size = 0;
  const bool has_request =
      request_behind(run, releases->end, &size, &releases->list, &releases->is_retried);
  releases->expected = ashlar_release_next(run->manager, -1);
  if (!has_request || limit == UINT64_MAX ||
      ashlar_allocation_choose(run->manager, releases->list, size, 0) >= 0) {
    return;
  }
  releases->need = size > limit ? size : limit;
  const int32_t oversize = next_oversize(releases);
  if (oversize >= 0 && run->manager->addr[oversize] == event_of(run, releases->begin)->address) {
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
  if (ashlar_run_stream(run, recorded->stream) != run->streams[segment->stream]) {
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

/* Free blocks of one size in segments of unknown age may be released in any order. */
static bool is_tie(const struct ashlar_audit_run *run, int32_t one, int32_t other)
{
  const struct ashlar_manager *manager = run->manager;
  return one >= 0 && manager->list[one] == manager->list[other] &&
         manager->size[one] == manager->size[other] && manager->age[one] < run->old_ages &&
         manager->age[other] < run->old_ages;
}

/* Whether address order would have released another segment of the same size first. */
static bool is_release_evidence(const struct ashlar_audit_run *run, int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  int32_t next = slot;
  for (int looked_at = 0; looked_at < TIES_LOOKED_AT; looked_at++) {
    next = ashlar_release_next(manager, next);
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

/* Compares one release with the expected one, carries it out, and sees what is to come. */
static void judge_release(struct releases *releases, struct ashlar_segment_record *segment,
                          uint64_t event)
{
  struct ashlar_audit_run *run = releases->run;
  const int32_t slot = segment->slot;
  run->result->releases++;
  const bool is_expected = slot == releases->expected;
  bool goes_on = slot == releases->following;
  bool is_lost = false;
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
    const int32_t behind = ashlar_release_next(run->manager, slot);
    releases->expected = is_expected ? behind : releases->expected;
    releases->following = goes_on ? behind : releases->following;
  }
  (void)ashlar_run_remove_segment(run, segment);
  if (is_lost) {
    releases->need = 0;
    releases->expected = ashlar_release_next(run->manager, -1);
  }
  if (is_expected && releases->need > 0) {
    releases->expected = releases->released < releases->need ? next_oversize(releases) : -1;
    if (releases->expected < 0 &&
        (releases->released < releases->need || event + 1 < releases->end)) {
      releases->need = 0;
      releases->expected = ashlar_release_next(run->manager, -1);
    }
  }
}

static void find_incomplete(const struct releases *releases)
{
  struct ashlar_audit_run *run = releases->run;
  int32_t left = releases->expected;
  if (left < 0 && releases->need > 0 && !releases->is_retried) {
    left = ashlar_release_next(run->manager, -1);
  }
  if (left >= 0 && !releases->is_excused) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, releases->end - 1, run->manager->addr[left],
                      "the releases end before the free segment of %" PRIu64 " bytes here",
                      run->manager->size[left]);
  }
}

uint64_t ashlar_run_segment_free(struct ashlar_audit_run *run, uint64_t event)
{
  struct releases releases = {
      .run = run, .begin = event, .end = end_of_run(run, event), .following = -1};
  const bool is_collecting = run->part->snapshot->settings.garbage_collection_threshold > 0;
  uint64_t held = 0;
  if (run->blind != ASHLAR_OPEN_NONE) {
    return releases.end;
  }
  begin_releases(&releases);
  releases.is_excused =
      is_collecting || (event == run->first_event && run->config.max_split_size != UINT64_MAX);
  for (uint64_t i = event; i < releases.end; i = ashlar_history_next(run->part, i + 1)) {
    if (event_of(run, i)->action == ASHLAR_ACTION_FREE_COMPLETED) {
      ashlar_run_free_completed(run, i);
      releases.need = 0;
      releases.expected = ashlar_release_next(run->manager, -1);
      releases.following = -1;
      continue;
    }
    struct ashlar_segment_record *segment =
        ashlar_segments_find(&run->segments, event_of(run, i)->address);
    if (segment == NULL) {
      ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, i, event_of(run, i)->address,
                        "released, but no segment starts there");
    } else if (check_release(run, segment, i)) {
      if (segment->reason != ASHLAR_OPEN_NONE) {
        (void)ashlar_run_remove_segment(run, segment);
      } else {
        judge_release(&releases, segment, i);
        held++;
      }
    }
  }
  if (held > 0) {
    run->was_collected = is_collecting;
    find_incomplete(&releases);
  }
  return releases.end;
}

void ashlar_run_oom(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  run->was_collected = false;
  if (run->blind != ASHLAR_OPEN_NONE || run->history->is_growable || recorded->pool != 0 ||
      recorded->size == 0 || event == run->first_event ||
      run->part->snapshot->settings.release_lock_on_cudamalloc) {
    return;
  }
  const int32_t stream = ashlar_run_stream(run, recorded->stream);
  const int32_t choice =
      ashlar_choose(run->manager, recorded->size, stream, ashlar_recorded_caller());
  if (choice >= 0) {
    if (!ashlar_run_came_late(run, event, choice, false)) {
      ashlar_audit_find(run->result, ASHLAR_RULE_OOM, event, run->manager->addr[choice],
                        "out of memory for %" PRIu64 " bytes although the free block of %" PRIu64
                        " bytes here may serve them",
                        recorded->size, run->manager->size[choice]);
    }
    return;
  }
  const int32_t whole = ashlar_release_next(run->manager, -1);
  if (whole >= 0 && event_of(run, event - 1)->action != ASHLAR_ACTION_SEGMENT_FREE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_OOM, event, run->manager->addr[whole],
                      "out of memory for %" PRIu64 " bytes although the free segment of %" PRIu64
                      " bytes here was not released first",
                      recorded->size, run->manager->size[whole]);
  }
}
