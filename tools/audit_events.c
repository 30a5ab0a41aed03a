/* audit_events.c - see audit_run.h: the loop over the events, and frees.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

/* Says what stands where something was freed that is not the start of a live block. */
static void find_unknown_free(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = &run->part->events[event];
  const char *action =
      recorded->action == ASHLAR_ACTION_FREE_REQUESTED ? "freed (requested)" : "freed";
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&run->segments, recorded->address);
  if (segment == NULL) {
    ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, recorded->address,
                      "%s, but the address is in no segment", action);
    return;
  }
  if (segment->reason != ASHLAR_OPEN_NONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, recorded->address,
                      "%s, but no live block starts there", action);
    return;
  }
  const int32_t slot = ashlar_run_block_at(run, segment, recorded->address);
  ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, recorded->address,
                    "%s, but the address is in the %s block of %" PRIu64 " bytes at 0x%" PRIx64,
                    action, run->manager->state[slot] == ASHLAR_FREE ? "free" : "live",
                    run->manager->size[slot], run->manager->addr[slot]);
}

static void find_wrong_request(struct ashlar_audit_run *run, uint64_t event, uint64_t requested)
{
  const struct ashlar_event *recorded = &run->part->events[event];
  ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, recorded->address,
                    "freed as a request of %" PRIu64 " bytes, but %" PRIu64 " were requested",
                    recorded->size, requested);
}

static void find_twice(struct ashlar_audit_run *run, uint64_t event)
{
  ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, run->part->events[event].address,
                    "its free is requested a second time");
}

/* A free of a block that the manager does not hold. */
static void free_stray(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_event *recorded = &run->part->events[event];
  struct ashlar_live *stray = ashlar_live_find(&run->strays, recorded->address);
  if (stray == NULL) {
    find_unknown_free(run, event);
    return;
  }
  if (stray->requested != recorded->size && (stray->note & ASHLAR_STRAY_FAULTY) == 0 &&
      stray->requested != 0) {
    find_wrong_request(run, event, stray->requested);
  }
  if (recorded->action == ASHLAR_ACTION_FREE_COMPLETED) {
    ashlar_live_remove(&run->strays, stray);
    return;
  }
  if ((stray->note & ASHLAR_STRAY_PENDING) != 0) {
    find_twice(run, event);
  }
  stray->note |= ASHLAR_STRAY_PENDING;
}

/* Checks size and stream of a free against its block. */
static void check_free(struct ashlar_audit_run *run, uint64_t event, int32_t slot)
{
  const struct ashlar_event *recorded = &run->part->events[event];
  const struct ashlar_manager *manager = run->manager;
  const uint64_t size = recorded->size == 0 ? 1 : recorded->size;
  if (manager->requested[slot] != size && (run->marks[slot] & ASHLAR_MARK_UNREQUESTED) == 0) {
    find_wrong_request(run, event, manager->requested[slot]);
  }
  const int32_t stream = ashlar_home_stream(manager->home[slot]);
  const int32_t pool = ashlar_home_pool(manager->home[slot]);
  if ((recorded->flags & ASHLAR_EVENT_HAS_POOL) != 0 && recorded->pool != run->pool_names[pool]) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, event, recorded->address,
                      "freed in another pool than its own");
  } else if ((recorded->flags & ASHLAR_EVENT_HAS_STREAM) != 0 &&
             ashlar_run_stream(run, recorded->stream) != stream) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, event, recorded->address,
                      "freed on stream %" PRIu64 ", but the block belongs to stream %" PRIu64,
                      run->part->snapshot->streams[recorded->stream].handle,
                      ashlar_run_handle(run, stream));
  }
}

void ashlar_run_free_completed(struct ashlar_audit_run *run, uint64_t event)
{
  const int32_t slot = ashlar_find(run->manager, run->part->events[event].address);
  if (slot < 0) {
    free_stray(run, event);
    return;
  }
  check_free(run, event, slot);
  if ((run->marks[slot] & (ASHLAR_MARK_PENDING | ASHLAR_MARK_OLD)) == 0 &&
      run->history->has_requests) {
    ashlar_audit_find(run->result, ASHLAR_RULE_FREE, event, run->part->events[event].address,
                      "its free was completed without having been requested");
  }
  ashlar_run_release(run, slot);
}

static void free_requested(struct ashlar_audit_run *run, uint64_t event)
{
  const int32_t slot = ashlar_find(run->manager, run->part->events[event].address);
  if (slot < 0) {
    free_stray(run, event);
    return;
  }
  check_free(run, event, slot);
  if ((run->marks[slot] & ASHLAR_MARK_PENDING) != 0) {
    find_twice(run, event);
  }
  run->marks[slot] |= ASHLAR_MARK_PENDING;
}

/* Replays one event, or several that belong together; index of the next one. */
static uint64_t replay(struct ashlar_audit_run *run, uint64_t event)
{
  switch (run->part->events[event].action) {
  case ASHLAR_ACTION_ALLOC:
    ashlar_run_alloc(run, event);
    return event + 1;
  case ASHLAR_ACTION_FREE_REQUESTED:
    if (run->blind == ASHLAR_OPEN_NONE) {
      free_requested(run, event);
    }
    return event + 1;
  case ASHLAR_ACTION_FREE_COMPLETED:
    if (run->blind == ASHLAR_OPEN_NONE) {
      ashlar_run_free_completed(run, event);
    }
    return event + 1;
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    return ashlar_run_segment_alloc(run, event);
  case ASHLAR_ACTION_SEGMENT_FREE:
  case ASHLAR_ACTION_SEGMENT_UNMAP:
    return ashlar_run_segment_free(run, event);
  case ASHLAR_ACTION_SEGMENT_MAP:
    return ashlar_run_segment_map(run, event);
  case ASHLAR_ACTION_OOM:
    ashlar_run_oom(run, event);
    return event + 1;
  default:
    return event + 1;
  }
}

bool ashlar_run_events(struct ashlar_audit_run *run)
{
  uint64_t event = 0;
  while (event < run->part->event_count && !run->is_out_of_memory) {
    event = replay(run, event);
  }
  return !run->is_out_of_memory;
}
