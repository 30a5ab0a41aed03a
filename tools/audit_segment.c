/* audit_segment.c - see audit_run.h: judging the allocations for which the device was asked.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

static bool is_capable(const struct ashlar_audit_run *run)
{
  return run->blind == ASHLAR_OPEN_NONE;
}

static const struct ashlar_event *event_of(const struct ashlar_audit_run *run, uint64_t event)
{
  return &run->part->events[event];
}

/* The size and place of the new segment, as the recording goes on with it. */
struct new_segment {
  uint64_t event;
  uint64_t address;
  uint64_t size;
};

static struct new_segment new_segment_of(struct ashlar_audit_run *run, uint64_t event)
{
  struct new_segment segment = {event, event_of(run, event)->address, event_of(run, event)->size};
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, event);
  if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_SEGMENT_SIZE) {
    segment.size = conflict->value;
  } else if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_SEGMENT_PLACE) {
    segment.address = conflict->value;
  }
  return segment;
}

/* What is wrong with the new segment itself, whether it is needed or not. */
static bool find_wrong_segment(struct ashlar_audit_run *run, uint64_t event,
                               const struct ashlar_audit_request *request)
{
  const uint64_t bytes = ashlar_segment_size(request->size, run->config.large_segment_size);
  const struct ashlar_event *recorded = event_of(run, event);
  const struct ashlar_segment_record *other =
      ashlar_segments_overlapping(&run->segments, recorded->address, recorded->size);
  bool is_found = false;
  if (recorded->size != bytes) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "a segment of %" PRIu64 " bytes was allocated where a request of %" PRIu64
                      " bytes needs one of %" PRIu64,
                      recorded->size, request->bytes, bytes);
    is_found = true;
  }
  if (recorded->address % ASHLAR_GRANULE != 0) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "the address of the segment is not a multiple of 512");
    is_found = true;
  }
  if (other != NULL) {
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, event, recorded->address,
                      "the new segment overlaps the one at 0x%" PRIx64, other->address);
    is_found = true;
  }
  if (recorded->pool != request->owner) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, event, recorded->address,
                      "the new segment is for another pool than the request behind it");
    is_found = true;
  } else if (ashlar_run_stream(run, recorded->stream) != request->stream) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, event, recorded->address,
                      "the new segment is for another stream than the request behind it");
    is_found = true;
  }
  if (request->address != recorded->address) {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                      "%" PRIu64 " bytes were not placed at the start of the segment at 0x%" PRIx64
                      " that was allocated for them",
                      request->bytes, recorded->address);
    is_found = true;
  }
  return is_found;
}

enum ashlar_open_reason ashlar_request_excuse(const struct ashlar_audit_run *run, uint64_t event,
                                              int32_t choice)
{
  if (run->part->snapshot->settings.release_lock_on_cudamalloc) {
    return ASHLAR_OPEN_LOCK;
  }
  if (event == run->first_event) {
    return ASHLAR_OPEN_CUT;
  }
  if (ashlar_run_came_late(run, event, choice, true)) {
    return ASHLAR_OPEN_EVENTS;
  }
  const bool has_pool = (event_of(run, event)->flags & ASHLAR_EVENT_HAS_POOL) != 0;
  return run->has_private && !has_pool ? ASHLAR_OPEN_POOL : ASHLAR_OPEN_NONE;
}

static void adopt_with_segment(struct ashlar_audit_run *run, const struct new_segment *segment,
                               const struct ashlar_audit_request *request)
{
  const struct ashlar_segment_record wanted = {
      .address = segment->address,
      .size = segment->size,
      .stream = event_of(run, request->event)->stream,
      .pool = request->owner,
      .class = (uint8_t)request->class,
  };
  (void)ashlar_run_add_segment(run, &wanted);
  if (is_capable(run) && !run->is_out_of_memory) {
    ashlar_run_adopt(run, request);
  }
}

/* A block was free that may serve the request. */
static void judge_needless(struct ashlar_audit_run *run, const struct new_segment *segment,
                           const struct ashlar_audit_request *request,
                           const struct ashlar_step *step)
{
  ashlar_request_undo(run, step);
  const bool is_wrong = find_wrong_segment(run, segment->event, request);
  const enum ashlar_open_reason reason = ashlar_request_excuse(run, segment->event, step->slot);
  if (reason != ASHLAR_OPEN_NONE && is_wrong) {
    ashlar_run_differ(run, request, step->address, true);
  } else if (reason != ASHLAR_OPEN_NONE) {
    ashlar_run_undetermined(run, reason);
  } else {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, segment->event, segment->address,
                      "a segment was allocated for %" PRIu64
                      " bytes although the free block at 0x%" PRIx64 " may serve them",
                      request->bytes, step->address);
    ashlar_run_differ(run, request, step->address, true);
    (void)ashlar_run_suspect(run, step->slot);
  }
  adopt_with_segment(run, segment, request);
}

static void count(struct ashlar_audit_run *run, enum ashlar_open_reason reason)
{
  if (reason == ASHLAR_OPEN_NONE) {
    ashlar_run_agree(run);
  } else {
    ashlar_run_undetermined(run, reason);
  }
}

/* The manager asks the device as well. */
static void judge_needed(struct ashlar_audit_run *run, const struct new_segment *segment,
                         const struct ashlar_audit_request *request, const struct ashlar_step *step)
{
  if (find_wrong_segment(run, segment->event, request)) {
    ashlar_request_undo(run, step);
    ashlar_run_differ(run, request, ASHLAR_ASKS_DEVICE, true);
    adopt_with_segment(run, segment, request);
    return;
  }
  const enum ashlar_open_reason reason = ashlar_open_after_miss(run, request);
  ashlar_collection_miss(run, request->event);
  const struct ashlar_step done = ashlar_resume(run->manager, step->request, ASHLAR_OUTCOME_DONE,
                                                event_of(run, segment->event)->address);
  if (done.kind != ASHLAR_STEP_DONE) {
    ashlar_request_refuse(run, request, &done);
    return;
  }
  const struct ashlar_segment_record record = {
      .address = done.address,
      .size = step->bytes,
      .slot = done.slot,
      .stream = event_of(run, segment->event)->stream,
      .pool = request->owner,
      .class = (uint8_t)request->class,
  };
  run->reserved += record.size;
  if (ashlar_segments_add(&run->segments, &record) != ASHLAR_SEGMENTS_ADDED) {
    run->is_out_of_memory = true;
  }
  ashlar_ages_enter_rest(run, done.slot);
  count(run, reason);
}

/* Whether the snapshot lists a segment of a private pool at the address. Older recordings do not
   write the pool with the event. */
static bool is_listed_private(const struct ashlar_device_part *part, uint64_t address)
{
  uint64_t low = 0;
  uint64_t high = part->segment_count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (part->snapshot->segments[part->segments[middle]].address < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == part->segment_count) {
    return false;
  }
  const struct ashlar_segment *listed = &part->snapshot->segments[part->segments[low]];
  return listed->address == address && listed->pool != 0;
}

/* A segment that the manager does not hold. */
static void enter_foreign(struct ashlar_audit_run *run, uint64_t event,
                          enum ashlar_open_reason reason)
{
  const struct ashlar_event *recorded = event_of(run, event);
  const struct ashlar_segment_record record = {
      .address = recorded->address,
      .size = recorded->size,
      .slot = -1,
      .stream = recorded->stream,
      .pool = recorded->pool,
      .reason = (uint8_t)reason,
  };
  switch (ashlar_segments_add(&run->segments, &record)) {
  case ASHLAR_SEGMENTS_ADDED:
    run->reserved += record.size;
    break;
  case ASHLAR_SEGMENTS_NO_MEMORY:
    run->is_out_of_memory = true;
    break;
  case ASHLAR_SEGMENTS_OVERLAP:
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, event, recorded->address,
                      "the new segment overlaps another one or is empty");
    break;
  }
}

static enum ashlar_open_reason foreign_reason(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  if (run->history->is_growable) {
    return ASHLAR_OPEN_GROWABLE;
  }
  if ((recorded->flags & ASHLAR_EVENT_HAS_POOL) == 0 &&
      is_listed_private(run->part, recorded->address)) {
    return ASHLAR_OPEN_POOL;
  }
  return ashlar_run_no_room(run, recorded->pool, recorded->stream);
}

static void add_as_recorded(struct ashlar_audit_run *run, uint64_t event, uint64_t address,
                            uint64_t size)
{
  const struct ashlar_segment_record wanted = {
      .address = address,
      .size = size,
      .stream = event_of(run, event)->stream,
      .pool = event_of(run, event)->pool,
      .class = (uint8_t)ashlar_history_segment_pool(size),
  };
  (void)ashlar_run_add_segment(run, &wanted);
}

uint64_t ashlar_run_segment_alloc(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = event_of(run, event);
  const uint64_t next = ashlar_history_next(run->part, event + 1);
  struct ashlar_audit_request request;
  if (!is_capable(run)) {
    return event + 1;
  }
  const enum ashlar_open_reason foreign = foreign_reason(run, event);
  if (foreign != ASHLAR_OPEN_NONE) {
    enter_foreign(run, event, foreign);
    return event + 1;
  }
  if (next == run->part->event_count || event_of(run, next)->action != ASHLAR_ACTION_ALLOC) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, recorded->address,
                      "a segment of %" PRIu64 " bytes was allocated for no request",
                      recorded->size);
    add_as_recorded(run, event, recorded->address, recorded->size);
    return event + 1;
  }
  const struct new_segment segment = new_segment_of(run, event);
  if (ashlar_request_of(run, next, &request) != ASHLAR_OPEN_NONE) {
    add_as_recorded(run, event, segment.address, segment.size);
    return event + 1; /* the allocation is counted on its own */
  }
  run->result->allocations++;
  ashlar_ages_search(run, request.owner, request.class);
  const struct ashlar_step step = ashlar_request_begin(run, &request);
  switch (step.kind) {
  case ASHLAR_STEP_DONE:
    judge_needless(run, &segment, &request, &step);
    break;
  case ASHLAR_STEP_ALLOCATE:
    judge_needed(run, &segment, &request, &step);
    break;
  default:
    ashlar_request_refuse(run, &request, &step);
    break;
  }
  if (next >= run->conflict_event) {
    ashlar_request_find_lost(run, &request);
  }
  return next + 1;
}
