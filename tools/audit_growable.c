/* audit_growable.c - see audit_run.h: growable segments, which are mapped and unmapped in pages.
 *
 * A request for which memory is mapped is made of the manager, which tells the maps one after the other; each is compared
 * with the one recorded. Where the recording ends them early the device had no more memory: what was mapped stays.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

static const struct ashlar_event *event_of(const struct ashlar_audit_run *run, uint64_t event)
{
  return &run->part->events[event];
}

/* --- ranges in the manager --- */

struct ashlar_segment_record *ashlar_run_add_range(struct ashlar_audit_run *run,
                                                   const struct ashlar_range_life *life)
{
  struct ashlar_segment_record record = {
      .address = life->address,
      .size = life->size,
      .slot = -1,
      .stream = life->stream,
      .pool = life->pool,
      .class = life->class,
      .is_growable = true,
  };
  if (ashlar_run_no_room(run, life->pool, life->stream) != ASHLAR_OPEN_NONE ||
      ashlar_segments_overlapping(&run->segments, life->address, life->size) != NULL) {
    return NULL;
  }
  const struct ashlar_placement placed =
      ashlar_range_add(run->manager, life->address, life->size, ashlar_run_pool(run, life->pool),
                       (int32_t)life->class, ashlar_run_stream(run, life->stream));
  if (placed.status != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_CAPACITY;
    return NULL;
  }
  record.slot = placed.slot;
  if (ashlar_segments_add(&run->segments, &record) != ASHLAR_SEGMENTS_ADDED) {
    run->is_out_of_memory = true;
    return NULL;
  }
  return ashlar_segments_find(&run->segments, life->address);
}

static void count_mapped(struct ashlar_audit_run *run, struct ashlar_segment_record *record,
                         uint64_t size)
{
  record->mapped += size;
  run->reserved += size;
}

bool ashlar_run_map(struct ashlar_audit_run *run, uint64_t address, uint64_t size)
{
  struct ashlar_segment_record *record = ashlar_segments_at(&run->segments, address);
  if (record == NULL || !record->is_growable) {
    return false;
  }
  const int32_t slot = ashlar_run_block_at(run, record, address);
  if (ashlar_range_map(run->manager, slot, address, size).status != ASHLAR_OK) {
    return false;
  }
  count_mapped(run, record, size);
  return true;
}

bool ashlar_run_unmap(struct ashlar_audit_run *run, struct ashlar_segment_record *record,
                      int32_t slot, uint64_t address, uint64_t size)
{
  if (ashlar_range_unmap(run->manager, slot, address, size).status != ASHLAR_OK) {
    return false;
  }
  record->mapped -= size;
  run->reserved -= size;
  if (record->mapped == 0) {
    (void)ashlar_segment_remove(run->manager, record->slot);
    ashlar_segments_remove(&run->segments, record);
  }
  return true;
}

/* --- maps --- */

/* The maps of one request, up to the next event of another kind. */
struct maps {
  struct ashlar_audit_run *run;
  uint64_t begin; /* events */
  uint64_t end;
  struct ashlar_audit_request request;
  bool is_served; /* it gets its block right behind them */
};

/* The range that begins with the map at the event, where one does. */
static void begin_range(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_range_set *ranges = &run->history->ranges;
  while (run->next_life < ranges->count &&
         (ranges->lives[run->next_life].begin == ASHLAR_NO_EVENT ||
          ranges->lives[run->next_life].begin < event)) {
    run->next_life++;
  }
  if (run->next_life < ranges->count && ranges->lives[run->next_life].begin == event) {
    (void)ashlar_run_add_range(run, &ranges->lives[run->next_life]);
    run->next_life++;
  }
}

/* Does what the recording did. */
static void adopt(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  begin_range(run, event);
  if (!ashlar_run_map(run, recorded->address, recorded->size)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, event, recorded->address,
                      "%" PRIu64
                      " bytes were mapped where memory is mapped already, or is not heard "
                      "of afterwards",
                      recorded->size);
  }
}

static void adopt_from(const struct maps *maps, uint64_t event)
{
  for (uint64_t i = event; i < maps->end; i = ashlar_history_next(maps->run->part, i + 1)) {
    adopt(maps->run, i);
  }
}

/* The request for which memory is mapped: the next one, behind what the ladder does. False: there is none. */
static bool find_request(struct maps *maps)
{
  struct ashlar_audit_run *run = maps->run;
  const uint64_t count = run->part->event_count;
  uint64_t next = maps->end;
  maps->is_served = next < count && event_of(run, next)->action == ASHLAR_ACTION_ALLOC;
  while (next < count && event_of(run, next)->action != ASHLAR_ACTION_ALLOC &&
         event_of(run, next)->action != ASHLAR_ACTION_OOM) {
    if (event_of(run, next)->action == ASHLAR_ACTION_FREE_REQUESTED) {
      return false;
    }
    next = ashlar_history_next(run->part, next + 1);
  }
  return next < count && ashlar_request_of(run, next, &maps->request) == ASHLAR_OPEN_NONE;
}

/* Whether pool and stream of the maps are those of the request. */
static bool find_wrong_owner(const struct maps *maps)
{
  struct ashlar_audit_run *run = maps->run;
  bool is_found = false;
  for (uint64_t i = maps->begin; i < maps->end; i = ashlar_history_next(run->part, i + 1)) {
    const struct ashlar_event *recorded = event_of(run, i);
    if (recorded->pool != maps->request.owner) {
      ashlar_audit_find(run->result, ASHLAR_RULE_POOL, i, recorded->address,
                        "memory was mapped for another pool than that of the request behind it");
      is_found = true;
    } else if (ashlar_run_stream(run, recorded->stream) != maps->request.stream) {
      ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, i, recorded->address,
                        "memory was mapped for another stream than that of the request behind it");
      is_found = true;
    }
  }
  return is_found;
}

static void find_wrong_map(struct ashlar_audit_run *run, uint64_t event,
                           const struct ashlar_step *step)
{
  const struct ashlar_event *recorded = event_of(run, event);
  if (step->kind == ASHLAR_STEP_MAP && step->address == recorded->address) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "%" PRIu64 " bytes were mapped where the request needs %" PRIu64,
                      recorded->size, step->bytes);
  } else if (step->kind == ASHLAR_STEP_MAP) {
    ashlar_audit_find(
        run->result, ASHLAR_RULE_BESTFIT, event, recorded->address,
        "memory was mapped here although the first room for the request is at 0x%" PRIx64,
        step->address);
  } else if (step->kind == ASHLAR_STEP_DONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, recorded->address,
                      "memory was mapped although the request has enough at 0x%" PRIx64,
                      step->address);
  } else {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, event, recorded->address,
                      "memory was mapped here although no range has room for the request");
  }
}

/* Makes the request again where it wants a range, and the recording begins one here. */
static struct ashlar_step with_range(const struct maps *maps, uint64_t event,
                                     struct ashlar_step step)
{
  struct ashlar_audit_run *run = maps->run;
  if (step.kind != ASHLAR_STEP_RESERVE) {
    return step;
  }
  ashlar_request_undo(run, &step);
  begin_range(run, event);
  return ashlar_request_begin(run, &maps->request);
}

/* Follows the maps. *step: what the manager does behind them. False: one was wrong, and the rest was adopted. */
static bool follow(const struct maps *maps, struct ashlar_step *step)
{
  struct ashlar_audit_run *run = maps->run;
  for (uint64_t i = maps->begin; i < maps->end; i = ashlar_history_next(run->part, i + 1)) {
    const struct ashlar_event *recorded = event_of(run, i);
    *step = with_range(maps, i, *step);
    if (step->kind != ASHLAR_STEP_MAP || step->address != recorded->address ||
        step->bytes != recorded->size) {
      find_wrong_map(run, i, step);
      ashlar_request_undo(run, step);
      adopt_from(maps, i);
      return false;
    }
    count_mapped(run, ashlar_segments_at(&run->segments, recorded->address), recorded->size);
    *step = ashlar_resume(run->manager, step->request, ASHLAR_OUTCOME_DONE, 0);
  }
  return true;
}

/* Behind the maps, which were right, comes the block. */
static void judge_served(const struct maps *maps, const struct ashlar_step *step, bool is_wrong)
{
  struct ashlar_audit_run *run = maps->run;
  const struct ashlar_audit_request *request = &maps->request;
  if (step->kind == ASHLAR_STEP_DONE && step->address == request->address && !is_wrong) {
    ashlar_run_agree(run);
    return;
  }
  if (step->kind == ASHLAR_STEP_DONE && step->address != request->address) {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                      "%" PRIu64 " bytes were not placed at 0x%" PRIx64
                      ", where memory was mapped for them",
                      request->bytes, step->address);
  } else if (step->kind != ASHLAR_STEP_DONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, request->event, request->address,
                      "too little memory was mapped for %" PRIu64 " bytes", request->bytes);
  }
  ashlar_request_undo(run, step);
  ashlar_run_differ(run, request, step->address, true);
  ashlar_run_adopt(run, request);
}

/* --- behind the ladder --- */

int32_t ashlar_run_growing(const struct ashlar_audit_run *run,
                           const struct ashlar_audit_request *request)
{
  return run->manager->growable_on == 0
             ? -1
             : ashlar_growable_run(run->manager,
                                   ashlar_home(request->pool, request->class, request->stream),
                                   request->size);
}

/* Bytes from an address on that are free and mapped, one behind the other. *next: the block behind them. */
static uint64_t mapped_from(const struct maps *maps, uint64_t address, int32_t *next)
{
  struct ashlar_audit_run *run = maps->run;
  const struct ashlar_segment_record *record = ashlar_segments_at(&run->segments, address);
  const int32_t slot = ashlar_run_block_at(run, record, address);
  *next = slot;
  if (run->manager->state[slot] != ASHLAR_FREE) {
    return 0;
  }
  *next = run->manager->next[slot];
  return run->manager->size[slot];
}

/* Whether the request, which something that is free may serve by now, comes behind the ladder: then it was not searched for
   again, and the first run of its range with room for it serves it. */
static bool is_behind_ladder(const struct maps *maps)
{
  const struct ashlar_audit_run *run = maps->run;
  const int32_t start = ashlar_run_growing(run, &maps->request);
  return maps->is_served && run->ladder == maps->request.event && start >= 0 &&
         run->manager->addr[start] == maps->request.address;
}

/* Bytes of the next map that the rules ask for, whose place is *address; 0: none is needed. */
static uint64_t next_map(const struct maps *maps, uint64_t *address)
{
  const struct ashlar_audit_request *request = &maps->request;
  const struct ashlar_manager *manager = maps->run->manager;
  int32_t next = -1;
  const uint64_t mapped = mapped_from(maps, request->address, &next);
  if (mapped >= request->size || next < 0) {
    return 0;
  }
  const uint64_t page = ashlar_growable_page(manager, manager->home[next]) / ASHLAR_GRANULE;
  const uint64_t pages = ashlar_growable_pages(request->size - mapped, page);
  *address = manager->addr[next];
  return pages < manager->size[next] ? pages : manager->size[next];
}

static void judge_behind_ladder(const struct maps *maps)
{
  struct ashlar_audit_run *run = maps->run;
  uint64_t address = 0;
  for (uint64_t i = maps->begin; i < maps->end; i = ashlar_history_next(run->part, i + 1)) {
    const struct ashlar_event *recorded = event_of(run, i);
    const uint64_t bytes = next_map(maps, &address);
    if (bytes != recorded->size || address != recorded->address ||
        !ashlar_run_map(run, address, bytes)) {
      struct ashlar_step step = ashlar_step_of(ASHLAR_STEP_MAP);
      step.address = address;
      step.bytes = bytes;
      find_wrong_map(run, i, &step);
      adopt_from(maps, i);
      ashlar_run_differ(run, &maps->request, address, true);
      ashlar_run_adopt(run, &maps->request);
      return;
    }
  }
  if (next_map(maps, &address) == 0) {
    ashlar_run_agree(run);
  } else {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, maps->request.event, maps->request.address,
                      "too little memory was mapped for %" PRIu64 " bytes", maps->request.bytes);
    ashlar_run_differ(run, &maps->request, address, true);
  }
  ashlar_run_adopt(run, &maps->request);
}

/* Something that is free may serve the request. */
static void judge_needless(const struct maps *maps, const struct ashlar_step *step)
{
  struct ashlar_audit_run *run = maps->run;
  const struct ashlar_audit_request *request = &maps->request;
  const enum ashlar_open_reason reason = ashlar_request_excuse(run, maps->begin, step->slot);
  if (reason == ASHLAR_OPEN_NONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, maps->begin,
                      event_of(run, maps->begin)->address,
                      "memory was mapped for %" PRIu64
                      " bytes although the free block at 0x%" PRIx64 " may serve them",
                      request->bytes, step->address);
  }
  adopt_from(maps, maps->begin);
  if (maps->is_served && reason != ASHLAR_OPEN_NONE) {
    ashlar_run_undetermined(run, reason);
  } else if (maps->is_served) {
    ashlar_run_differ(run, request, step->address, true);
  }
  if (maps->is_served) {
    ashlar_run_adopt(run, request);
  }
}

static void judge(const struct maps *maps)
{
  struct ashlar_audit_run *run = maps->run;
  const bool is_wrong = find_wrong_owner(maps);
  struct ashlar_step step = ashlar_request_begin(run, &maps->request);
  if (step.kind == ASHLAR_STEP_ERROR) {
    ashlar_request_refuse(run, &maps->request, &step);
    return;
  }
  if (step.kind == ASHLAR_STEP_DONE) {
    ashlar_request_undo(run, &step);
    if (is_behind_ladder(maps)) {
      judge_behind_ladder(maps);
    } else {
      judge_needless(maps, &step);
    }
    return;
  }
  const bool is_right = follow(maps, &step);
  if (maps->is_served && is_right) {
    judge_served(maps, &step, is_wrong);
  } else if (maps->is_served) {
    ashlar_run_differ(run, &maps->request, step.address, true);
    ashlar_run_adopt(run, &maps->request);
  } else if (is_right) {
    if (step.kind == ASHLAR_STEP_DONE) {
      ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, maps->begin,
                        event_of(run, maps->begin)->address,
                        "memory was mapped for a request that does not get its block then");
    }
    ashlar_request_undo(run, &step); /* the device had no more: what was mapped stays */
  }
}

uint64_t ashlar_run_segment_map(struct ashlar_audit_run *run, uint64_t event)
{
  struct maps maps = {.run = run, .begin = event, .end = event};
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, event);
  if (run->blind != ASHLAR_OPEN_NONE) {
    return event + 1;
  }
  if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_MAP) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, event, event_of(run, event)->address,
                      "%" PRIu64 " bytes were mapped that are not mapped afterwards",
                      event_of(run, event)->size);
    return event + 1;
  }
  if (run->history->is_growable) {
    return event + 1;
  }
  while (maps.end < run->part->event_count &&
         event_of(run, maps.end)->action == ASHLAR_ACTION_SEGMENT_MAP) {
    maps.end = ashlar_history_next(run->part, maps.end + 1);
  }
  if (!find_request(&maps)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, event_of(run, event)->address,
                      "memory was mapped for no request");
    adopt_from(&maps, event);
    return maps.end;
  }
  if (maps.is_served) {
    run->result->allocations++;
    ashlar_ages_search(run, maps.request.owner, maps.request.class);
  }
  judge(&maps);
  if (maps.is_served && maps.request.event >= run->conflict_event) {
    ashlar_request_find_lost(run, &maps.request);
  }
  return maps.is_served ? maps.request.event + 1 : maps.end;
}
