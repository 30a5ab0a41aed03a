/* corruption_segments.c - the device is asked wrongly, needlessly, or not after all.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

#define IMPOSSIBLE (UINT64_C(1) << 45) /* bytes, of a request that no free block serves */

/* A segment_alloc with the alloc that it was made for right behind it. */
static bool is_asking(const struct ashlar_corruption *corruption, uint64_t event)
{
  return ashlar_action_of(corruption, event) == ASHLAR_ACTION_SEGMENT_ALLOC &&
         ashlar_action_of(corruption, event + 1) == ASHLAR_ACTION_ALLOC;
}

/* The largest request that a free block serves. */
static uint64_t request_for(const struct ashlar_world_segment *segment, size_t index)
{
  const uint64_t size = segment->blocks[index].size;
  const bool is_small = segment->class == ASHLAR_CLASS_SMALL;
  return is_small && size > ASHLAR_SMALL_LIMIT ? ASHLAR_SMALL_LIMIT : size;
}

static bool serves_some(const struct ashlar_corruption *corruption, const void *data,
                        const struct ashlar_world_segment *segment, size_t index)
{
  const uint64_t request = request_for(segment, index);
  (void)data;
  return ashlar_world_rounded(corruption->start, request) == request &&
         ashlar_pool_class(request) == segment->class &&
         ashlar_world_may_serve(corruption->start, segment->blocks[index].size, request);
}

/* A segment is allocated, used and kept, although a free block fits. */
static bool try_needless(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_settled(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place place = ashlar_pick_free(corruption, serves_some, NULL);
  if (place.segment == NULL || place.segment->is_growable) {
    return false;
  }
  const uint64_t request = request_for(place.segment, place.index);
  const uint64_t address = ashlar_fresh_address(corruption);
  const uint64_t size = ashlar_segment_size(request, ASHLAR_DEFAULT_LARGE_SEGMENT);
  const struct ashlar_owner owner = ashlar_owner_of(place.segment);
  static const uint8_t ACTIONS[] = {ASHLAR_ACTION_FREE_COMPLETED, ASHLAR_ACTION_FREE_REQUESTED,
                                    ASHLAR_ACTION_ALLOC, ASHLAR_ACTION_SEGMENT_ALLOC};
  for (size_t i = 0; i < sizeof ACTIONS; i++) {
    const struct ashlar_event inserted =
        ashlar_new_event(corruption, ACTIONS[i], address,
                         ACTIONS[i] == ASHLAR_ACTION_SEGMENT_ALLOC ? size : request, owner);
    ashlar_insert_event(corruption, event, &inserted);
  }
  ashlar_list_free_segment(corruption, address, size, owner);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_needless_segment(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_needless);
}

static bool try_for_nobody(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_grows(corruption) || !ashlar_is_quiet(corruption, event) ||
      ashlar_action_of(corruption, event) != ASHLAR_ACTION_FREE_REQUESTED) {
    return false;
  }
  const uint64_t address = ashlar_fresh_address(corruption);
  const struct ashlar_owner owner = ashlar_owner_of_event(ashlar_event_of(corruption, event));
  const uint64_t size =
      ashlar_draw(corruption, 2) == 0 ? ASHLAR_SMALL_SEGMENT : ASHLAR_DEFAULT_LARGE_SEGMENT;
  const struct ashlar_event inserted =
      ashlar_new_event(corruption, ASHLAR_ACTION_SEGMENT_ALLOC, address, size, owner);
  ashlar_insert_event(corruption, event, &inserted);
  ashlar_list_free_segment(corruption, address, size, owner);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_segment_for_nobody(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_for_nobody);
}

/* --- the new segment itself --- */

static uint64_t wrong_size(struct ashlar_corruption *corruption, uint64_t size)
{
  return size + (1 + ashlar_draw(corruption, 4)) * ASHLAR_LARGE_STEP;
}

static bool try_new_size(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_asking(corruption, event)) {
    return false;
  }
  struct ashlar_event *changed = &ashlar_faulty_events(corruption)[event];
  changed->size = wrong_size(corruption, changed->size);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_new_segment_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_new_size);
}

/* The same with the end of the segment's life adjusted. */
static bool try_new_size_throughout(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_asking(corruption, event)) {
    return false;
  }
  const uint64_t size = wrong_size(corruption, recorded->size);
  if (ashlar_is_shared(corruption, recorded->address, size)) {
    return false;
  }
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].size = size;
  for (uint64_t i = event + 1; i < corruption->start->event_count; i++) {
    if (events[i].address == recorded->address && events[i].action == ASHLAR_ACTION_SEGMENT_FREE) {
      events[i].size = size;
    }
  }
  const uint64_t listed = ashlar_listed_at(corruption, recorded->address);
  if (listed != ASHLAR_NO_EVENT) {
    const uint64_t count = ashlar_faulty_segment(corruption, listed)->block_count;
    struct ashlar_block *last = ashlar_faulty_block(corruption, listed, count - 1);
    const uint64_t more = size - recorded->size;
    if (last->state == ASHLAR_BLOCK_INACTIVE) {
      last->size += more;
    } else {
      const struct ashlar_block rest = {
          .address = last->address + last->size, .size = more, .flags = last->flags};
      ashlar_insert_block(corruption, listed, count, &rest);
    }
    ashlar_sum_up(corruption, listed, true);
  }
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_new_segment_size_throughout(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_new_size_throughout);
}

/* The new segment overlaps one that is there. */
static bool try_new_overlaps(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_world *world = &corruption->world;
  if (!is_asking(corruption, event) || world->segment_count == 0) {
    return false;
  }
  const struct ashlar_world_segment *other =
      &world->segments[ashlar_draw(corruption, world->segment_count)];
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].address =
      other->address + ashlar_draw_granules(corruption, other->size) - ASHLAR_GRANULE;
  events[event + 1].address = events[event].address;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_new_segment_overlaps(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_new_overlaps);
}

static bool try_new_stream(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_asking(corruption, event) || (recorded->flags & ASHLAR_EVENT_HAS_STREAM) == 0) {
    return false;
  }
  const uint16_t stream = ashlar_other_stream(corruption, recorded->stream);
  ashlar_faulty_events(corruption)[event].stream = stream;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_new_segment_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_new_stream);
}

/* --- the event itself --- */

/* Whether a segment like the one at `event`, free before the recording, would have been used. */
static bool would_be_used(const struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  for (uint64_t i = 0; i < event; i++) {
    if (!is_asking(corruption, i) || ashlar_event_before(corruption, i) == ASHLAR_NO_EVENT) {
      continue;
    }
    const struct ashlar_event *request = ashlar_event_of(corruption, i + 1);
    const uint64_t rounded = ashlar_world_rounded(corruption->start, request->size);
    if (request->stream == recorded->stream && request->pool == recorded->pool &&
        ashlar_pool_class(rounded) == ashlar_world_class(recorded->size) &&
        ashlar_world_may_serve(corruption->start, recorded->size, rounded)) {
      return true;
    }
  }
  return false;
}

/* Without its segment_alloc the segment was there, and free, from the beginning. */
static bool try_alloc_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_asking(corruption, event) ||
      ashlar_is_shared(corruption, recorded->address, recorded->size) ||
      !would_be_used(corruption, event)) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  ashlar_expect_range(corruption, 0, UINT64_MAX);
  return true;
}

bool ashlar_corrupt_segment_alloc_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alloc_missing);
}

static bool try_alloc_twice(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_asking(corruption, event)) {
    return false;
  }
  ashlar_insert_event(corruption, event, ashlar_event_of(corruption, event));
  ashlar_expect_event(corruption, event);
  ashlar_expect_range(corruption, ashlar_event_of(corruption, event)->address, 1);
  return true;
}

bool ashlar_corrupt_segment_alloc_twice(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alloc_twice);
}

/* --- out of memory --- */

static void insert_oom(struct ashlar_corruption *corruption, uint64_t event, uint64_t size,
                       struct ashlar_owner owner)
{
  const struct ashlar_event oom = ashlar_new_event(
      corruption, ASHLAR_ACTION_OOM, ashlar_draw(corruption, ASHLAR_LARGE_STEP), size, owner);
  ashlar_insert_event(corruption, event, &oom);
  ashlar_expect_event(corruption, event);
}

static bool try_oom_fits(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_collects(corruption) || !ashlar_is_settled(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place place = ashlar_pick_free(corruption, serves_some, NULL);
  if (place.segment == NULL) {
    return false;
  }
  if (place.segment->is_growable && corruption->start->config.max_split_size != UINT64_MAX) {
    return false; /* the walk may end at a block that the limit forbids */
  }
  insert_oom(corruption, event, request_for(place.segment, place.index),
             ashlar_owner_of(place.segment));
  return true;
}

bool ashlar_corrupt_oom_while_block_fits(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_oom_fits);
}

static bool is_whole(const struct ashlar_corruption *corruption, const void *data,
                     const struct ashlar_world_segment *segment, size_t index)
{
  (void)corruption;
  (void)data;
  (void)index;
  return segment->count == 1 && segment->pool == 0 && !segment->is_growable;
}

/* A request that nothing serves fails although a free segment could have been given back. */
static bool try_oom_unreleased(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_collects(corruption) || !ashlar_is_settled(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place place = ashlar_pick_free(corruption, is_whole, NULL);
  if (place.segment == NULL) {
    return false;
  }
  insert_oom(corruption, event, IMPOSSIBLE, ashlar_owner_of(place.segment));
  return true;
}

bool ashlar_corrupt_oom_before_release(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_oom_unreleased);
}
