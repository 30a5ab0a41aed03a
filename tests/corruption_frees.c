/* corruption_frees.c - frees of what is not live, and events that are missing, doubled or
 * misplaced.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

enum { LOOK_BACK = 400 /* events, for a free to repeat */ };

/* Inserts a free, requested and completed at once. */
static void insert_free(struct ashlar_corruption *corruption, uint64_t index, uint64_t address,
                        uint64_t size, struct ashlar_owner owner)
{
  const struct ashlar_event completed =
      ashlar_new_event(corruption, ASHLAR_ACTION_FREE_COMPLETED, address, size, owner);
  const struct ashlar_event requested =
      ashlar_new_event(corruption, ASHLAR_ACTION_FREE_REQUESTED, address, size, owner);
  ashlar_insert_event(corruption, index, &completed);
  ashlar_insert_event(corruption, index, &requested);
  ashlar_expect_range(corruption, address, 1);
}

/* A free that was recorded, of a block that was allocated in the recording. */
struct freed {
  const struct ashlar_event *event; /* free_completed */
  uint64_t made_at;                 /* its alloc */
  uint64_t requested;               /* its free_requested, or ASHLAR_NO_EVENT */
  uint64_t size;                    /* of the block */
};

static bool find_freed(const struct ashlar_corruption *corruption, uint64_t event,
                       struct freed *freed)
{
  *freed = (struct freed){.event = ashlar_event_of(corruption, event)};
  if (freed->event->action != ASHLAR_ACTION_FREE_COMPLETED) {
    return false;
  }
  const struct ashlar_world_place place =
      ashlar_world_at(&corruption->world, freed->event->address);
  freed->made_at = place.segment->blocks[place.index].made_at;
  freed->size = place.segment->blocks[place.index].size;
  freed->requested = ashlar_request_of_free(corruption, event);
  return freed->made_at != ASHLAR_NO_EVENT;
}

/* --- frees of what is not the start of a live block --- */

static bool try_free_outside(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_quiet(corruption, event)) {
    return false;
  }
  insert_free(corruption, event, ashlar_fresh_address(corruption),
              1 + ashlar_draw(corruption, 1 << 20),
              ashlar_owner_of_event(ashlar_event_of(corruption, event - 1)));
  return true;
}

bool ashlar_corrupt_free_outside(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_outside);
}

/* A drawn block for which the test holds, by its segment and index; NULL: none. */
static const struct ashlar_world_block *
pick_block(struct ashlar_corruption *corruption,
           bool (*test)(const struct ashlar_world_segment *segment, size_t index),
           struct ashlar_owner *owner)
{
  const struct ashlar_world_block *picked = NULL;
  uint64_t seen = 0;
  for (size_t i = 0; i < corruption->world.segment_count; i++) {
    const struct ashlar_world_segment *segment = &corruption->world.segments[i];
    for (size_t k = 0; k < segment->count; k++) {
      if (test(segment, k) && ashlar_draw(corruption, ++seen) == 0) {
        picked = &segment->blocks[k];
        *owner = ashlar_owner_of(segment);
      }
    }
  }
  return picked;
}

static bool has_interior(const struct ashlar_world_segment *segment, size_t index)
{
  return segment->blocks[index].made_at != ASHLAR_NO_EVENT &&
         segment->blocks[index].size > ASHLAR_GRANULE;
}

/* Frees an address inside a live block, at a multiple of 512 or not. */
static bool try_free_interior(struct ashlar_corruption *corruption, uint64_t event)
{
  struct ashlar_owner owner = {0};
  const struct ashlar_world_block *block =
      ashlar_is_quiet(corruption, event) ? pick_block(corruption, has_interior, &owner) : NULL;
  if (block == NULL) {
    return false;
  }
  uint64_t offset = ashlar_draw_granules(corruption, block->size - ASHLAR_GRANULE);
  offset -= ashlar_draw(corruption, 4) == 0 ? 1 : 0;
  insert_free(corruption, event, block->address + offset,
              1 + ashlar_draw(corruption, block->size - offset), owner);
  return true;
}

bool ashlar_corrupt_free_interior(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_interior);
}

static bool is_free_in_new(const struct ashlar_world_segment *segment, size_t index)
{
  return segment->made_at != ASHLAR_NO_EVENT &&
         segment->blocks[index].state == ASHLAR_BLOCK_INACTIVE;
}

/* Frees an address in a free block of a segment from the recording. */
static bool try_free_of_free(struct ashlar_corruption *corruption, uint64_t event)
{
  struct ashlar_owner owner = {0};
  const struct ashlar_world_block *block =
      ashlar_is_quiet(corruption, event) ? pick_block(corruption, is_free_in_new, &owner) : NULL;
  if (block == NULL || (ashlar_grows(corruption) &&
                        ashlar_world_at(corruption->start, block->address).segment != NULL)) {
    return false; /* it may be that of a block from before, where memory was mapped then */
  }
  const uint64_t offset = ashlar_draw_granules(corruption, block->size) - ASHLAR_GRANULE;
  insert_free(corruption, event, block->address + offset,
              1 + ashlar_draw(corruption, block->size - offset), owner);
  return true;
}

bool ashlar_corrupt_free_of_free(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_of_free);
}

/* The same free again, at once. */
static bool try_double_free(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (recorded->action != ASHLAR_ACTION_FREE_COMPLETED) {
    return false;
  }
  insert_free(corruption, event + 1, recorded->address, recorded->size,
              ashlar_owner_of_event(recorded));
  return true;
}

bool ashlar_corrupt_double_free(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_double_free);
}

/* A free again, some time later, when other blocks came and went. */
static bool try_stale_free(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_quiet(corruption, event)) {
    return false;
  }
  for (uint64_t back = 8 + ashlar_draw(corruption, LOOK_BACK); back <= event; back++) {
    const struct ashlar_event *recorded = ashlar_event_of(corruption, event - back);
    if (recorded->action != ASHLAR_ACTION_FREE_COMPLETED) {
      continue;
    }
    const struct ashlar_world_place place = ashlar_world_at(&corruption->world, recorded->address);
    if (place.segment != NULL &&
        (place.segment->blocks[place.index].state == ASHLAR_BLOCK_INACTIVE ||
         place.segment->blocks[place.index].address != recorded->address)) {
      insert_free(corruption, event, recorded->address, recorded->size,
                  ashlar_owner_of_event(recorded));
      return true;
    }
  }
  return false;
}

bool ashlar_corrupt_stale_free(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_stale_free);
}

/* --- events that are missing --- */

static bool try_free_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  ashlar_remove_event(corruption, freed.requested);
  ashlar_expect_range(corruption, freed.event->address, freed.size);
  return true;
}

bool ashlar_corrupt_free_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_missing);
}

/* The free was requested and never completed. */
static bool try_completion_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed)) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  ashlar_expect_range(corruption, freed.event->address, freed.size);
  return true;
}

bool ashlar_corrupt_completion_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_completion_missing);
}

/* The free was completed and never requested. */
static bool try_request_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_remove_event(corruption, freed.requested);
  ashlar_expect_range(corruption, freed.event->address, 1);
  return true;
}

bool ashlar_corrupt_free_request_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_request_missing);
}

/* Whether the allocation at the event is one that cannot be left out: its memory is known to have
   been free before. */
static bool is_needed(const struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (recorded->action != ASHLAR_ACTION_ALLOC ||
      (event > 0 && ashlar_action_of(corruption, event - 1) == ASHLAR_ACTION_SEGMENT_ALLOC)) {
    return false;
  }
  return ashlar_was_free(corruption, event);
}

static bool try_alloc_missing(struct ashlar_corruption *corruption, uint64_t event, bool is_freed)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_needed(corruption, event) ||
      (ashlar_next_at(corruption, event, recorded->address, ASHLAR_ACTION_FREE_COMPLETED) !=
       ASHLAR_NO_EVENT) != is_freed) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  const struct ashlar_world_segment *segment =
      ashlar_world_at(&corruption->world, recorded->address).segment;
  /* Of a block that is live in the end, what is said of it may be about its segment. */
  ashlar_expect_range(corruption, is_freed ? recorded->address : segment->address,
                      is_freed ? ashlar_world_rounded(corruption->start, recorded->size)
                               : segment->size);
  return true;
}

static bool try_missing_then_freed(struct ashlar_corruption *corruption, uint64_t event)
{
  return try_alloc_missing(corruption, event, true);
}

static bool try_missing_of_live(struct ashlar_corruption *corruption, uint64_t event)
{
  return try_alloc_missing(corruption, event, false);
}

bool ashlar_corrupt_alloc_missing_then_freed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_missing_then_freed);
}

bool ashlar_corrupt_alloc_missing_of_live(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_missing_of_live);
}

/* --- events in the wrong place --- */

static bool try_requested_twice(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_action_of(corruption, event) != ASHLAR_ACTION_FREE_REQUESTED) {
    return false;
  }
  ashlar_insert_event(corruption, event + 1, ashlar_event_of(corruption, event));
  ashlar_expect_event(corruption, event + 1);
  return true;
}

bool ashlar_corrupt_free_requested_twice(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_requested_twice);
}

/* The free is completed before it is requested. */
static bool try_reversed(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested != event - 1) {
    return false;
  }
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].action = ASHLAR_ACTION_FREE_REQUESTED;
  events[event - 1].action = ASHLAR_ACTION_FREE_COMPLETED;
  ashlar_expect_range(corruption, freed.event->address, 1);
  return true;
}

bool ashlar_corrupt_free_reversed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_reversed);
}

/* Request and completion say another size than the allocation. */
static bool try_free_size(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested == ASHLAR_NO_EVENT ||
      !ashlar_was_free(corruption, freed.made_at)) {
    return false;
  }
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].size += 1 + ashlar_draw(corruption, ASHLAR_GRANULE);
  events[freed.requested].size = events[event].size;
  ashlar_expect_range(corruption, freed.event->address, 1);
  return true;
}

bool ashlar_corrupt_free_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_size);
}

static bool try_free_stream(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) ||
      (freed.event->flags & ASHLAR_EVENT_HAS_STREAM) == 0) {
    return false;
  }
  const uint16_t stream = ashlar_other_stream(corruption, freed.event->stream);
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].stream = stream;
  if (freed.requested != ASHLAR_NO_EVENT) {
    events[freed.requested].stream = stream;
  }
  ashlar_expect_range(corruption, freed.event->address, 1);
  return true;
}

bool ashlar_corrupt_free_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_free_stream);
}

/* The free comes only after the allocation that takes its memory. */
static bool try_too_late(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested != event - 1) {
    return false;
  }
  const uint64_t low = freed.event->address;
  const uint64_t end = event + LOOK_BACK;
  for (uint64_t i = event + 1; i < end && i < corruption->start->event_count; i++) {
    const struct ashlar_event *next = ashlar_event_of(corruption, i);
    if (next->action == ASHLAR_ACTION_SEGMENT_FREE) {
      return false;
    }
    if (next->action != ASHLAR_ACTION_ALLOC || next->address >= low + freed.size ||
        next->address + ashlar_world_rounded(corruption->start, next->size) <= low) {
      continue;
    }
    for (int part = 0; part < 2; part++) {
      ashlar_insert_event(corruption, i + 1,
                          ashlar_event_of(corruption, event - 1 + (uint64_t)part));
      ashlar_remove_event(corruption, event - 1);
    }
    /* Between the two the allocation has moved up by as many. */
    ashlar_expect_range(corruption, low < next->address ? low : next->address,
                        freed.size + next->size);
    return true;
  }
  return false;
}

bool ashlar_corrupt_free_too_late(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_too_late);
}

/* Allocation and free change places. */
static bool try_alloc_after_free(struct ashlar_corruption *corruption, uint64_t event)
{
  struct freed freed;
  if (!find_freed(corruption, event, &freed) || freed.requested != event - 1 ||
      freed.made_at == 0 ||
      ashlar_action_of(corruption, freed.made_at - 1) == ASHLAR_ACTION_SEGMENT_ALLOC) {
    return false;
  }
  const struct ashlar_event *allocation = ashlar_event_of(corruption, freed.made_at);
  ashlar_insert_event(corruption, event + 1, allocation);
  ashlar_remove_event(corruption, event);
  ashlar_remove_event(corruption, event - 1);
  ashlar_remove_event(corruption, freed.made_at);
  ashlar_insert_event(corruption, freed.made_at, freed.event);
  ashlar_insert_event(corruption, freed.made_at, ashlar_event_of(corruption, event - 1));
  ashlar_expect_range(corruption, freed.event->address, 1);
  return true;
}

bool ashlar_corrupt_alloc_after_free(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alloc_after_free);
}

/* The same allocation again, at once. */
static bool try_alloc_twice(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_action_of(corruption, event) != ASHLAR_ACTION_ALLOC) {
    return false;
  }
  ashlar_insert_event(corruption, event + 1, ashlar_event_of(corruption, event));
  ashlar_expect_event(corruption, event + 1);
  return true;
}

bool ashlar_corrupt_alloc_twice(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alloc_twice);
}
