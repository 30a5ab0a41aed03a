/* corruption_releases.c - segments that are given back wrongly.
 *
 * A run of releases gives back every free segment, in one order: large pool before small, streams
 * by handle, then by size. With a split limit it may begin with, or be, a few oversize segments in
 * an order of their own; such runs are left alone here where they would excuse a fault.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

static bool is_release(const struct ashlar_corruption *corruption, uint64_t event)
{
  return ashlar_action_of(corruption, event) == ASHLAR_ACTION_SEGMENT_FREE;
}

static bool has_limit(const struct ashlar_corruption *corruption)
{
  return corruption->start->config.max_split_size != UINT64_MAX;
}

/* Whether the release of so many bytes tells that everything is being released; never where some go for their age. */
static bool is_of_all(const struct ashlar_corruption *corruption, uint64_t size)
{
  return !ashlar_collects(corruption) && size < corruption->start->config.max_split_size;
}

/* Whether the releases at two events are of one pool: in which order pools come nobody says. */
static bool are_of_one_pool(const struct ashlar_corruption *corruption, uint64_t event,
                            uint64_t other)
{
  return is_release(corruption, event) && is_release(corruption, other) &&
         ashlar_event_of(corruption, event)->pool == ashlar_event_of(corruption, other)->pool;
}

/* Whether the recording may begin inside of the run: of one with a split limit not all is known. */
static bool begins_recording(const struct ashlar_corruption *corruption, uint64_t event)
{
  uint64_t before = event;
  while (has_limit(corruption)) {
    before = ashlar_event_before(corruption, before);
    if (before == ASHLAR_NO_EVENT) {
      return true;
    }
    if (!is_release(corruption, before)) {
      return false;
    }
  }
  return false;
}

static void insert_release(struct ashlar_corruption *corruption, uint64_t event, uint64_t address,
                           uint64_t size, struct ashlar_owner owner)
{
  const struct ashlar_event release =
      ashlar_new_event(corruption, ASHLAR_ACTION_SEGMENT_FREE, address, size, owner);
  ashlar_insert_event(corruption, event, &release);
  ashlar_expect_event(corruption, event);
}

/* A segment with a live block is given back. */
static bool try_in_use(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_world_segment *picked = NULL;
  uint64_t seen = 0;
  if (!ashlar_is_quiet(corruption, event)) {
    return false;
  }
  for (size_t i = 0; i < corruption->world.segment_count; i++) {
    const struct ashlar_world_segment *segment = &corruption->world.segments[i];
    bool is_used = false;
    for (size_t k = 0; k < segment->count; k++) {
      is_used = is_used || segment->blocks[k].made_at != ASHLAR_NO_EVENT;
    }
    if (is_used && !segment->is_growable && ashlar_draw(corruption, ++seen) == 0) {
      picked = segment;
    }
  }
  if (picked == NULL) {
    return false;
  }
  insert_release(corruption, event, picked->address, picked->size, ashlar_owner_of(picked));
  return true;
}

bool ashlar_corrupt_release_in_use(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_in_use);
}

/* Two releases change places. */
static bool try_order(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!are_of_one_pool(corruption, event, event + 1) || begins_recording(corruption, event)) {
    return false;
  }
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  const struct ashlar_event first = events[event];
  const struct ashlar_event second = events[event + 1];
  if ((first.size == second.size && first.stream == second.stream) ||
      !is_of_all(corruption, first.size) || !is_of_all(corruption, second.size)) {
    return false;
  }
  events[event] = second;
  events[event + 1] = first;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_release_order(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_order);
}

/* Whether the release at the event is one of a run that gives back everything, with others. */
static bool is_one_of_all(const struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_release(corruption, event) || begins_recording(corruption, event) ||
      !is_of_all(corruption, ashlar_event_of(corruption, event)->size)) {
    return false;
  }
  for (uint64_t i = event; i > 0 && are_of_one_pool(corruption, i - 1, event); i--) {
    if (is_of_all(corruption, ashlar_event_of(corruption, i - 1)->size)) {
      return true;
    }
  }
  for (uint64_t i = event + 1; are_of_one_pool(corruption, i, event); i++) {
    if (is_of_all(corruption, ashlar_event_of(corruption, i)->size)) {
      return true;
    }
  }
  return false;
}

/* A segment from the recording is gone, but its release is not recorded. */
static bool try_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_one_of_all(corruption, event) ||
      ashlar_world_at(&corruption->world, recorded->address).segment->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  ashlar_expect_event(corruption, event);
  ashlar_expect_range(corruption, recorded->address, recorded->size);
  return true;
}

bool ashlar_corrupt_release_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_missing);
}

/* A segment is kept although everything else is given back. */
static bool try_skipped(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_one_of_all(corruption, event) ||
      ashlar_is_shared(corruption, recorded->address, recorded->size)) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  ashlar_list_free_segment(corruption, recorded->address, recorded->size,
                           ashlar_owner_of_event(recorded));
  ashlar_expect_event(corruption, event);
  ashlar_expect_range(corruption, recorded->address, recorded->size);
  return true;
}

bool ashlar_corrupt_release_skipped(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_skipped);
}

/* A free segment whose release means that of all the others. */
static bool is_releasable(const struct ashlar_corruption *corruption, const void *data,
                          const struct ashlar_world_segment *segment, size_t index)
{
  (void)data;
  (void)index;
  return segment->count == 1 && !segment->is_growable && is_of_all(corruption, segment->size);
}

static bool is_other_releasable(const struct ashlar_corruption *corruption, const void *data,
                                const struct ashlar_world_segment *segment, size_t index)
{
  const struct ashlar_world_segment *released = data;
  return segment != released && segment->pool == released->pool &&
         is_releasable(corruption, NULL, segment, index);
}

/* One of several free segments is given back. */
static bool try_alone(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_quiet(corruption, event) || is_release(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place released = ashlar_pick_free(corruption, is_releasable, NULL);
  if (released.segment == NULL ||
      ashlar_pick_free(corruption, is_other_releasable, released.segment).segment == NULL) {
    return false;
  }
  insert_release(corruption, event, released.segment->address, released.segment->size,
                 ashlar_owner_of(released.segment));
  /* Its own release, if it is near, may be what is found fault with. */
  ashlar_expect_range(corruption, released.segment->address, 1);
  return true;
}

bool ashlar_corrupt_release_alone(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alone);
}

/* A segment that nobody ever heard of is given back, and a free one is not. */
static bool try_unknown(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_quiet(corruption, event) || is_release(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place kept = ashlar_pick_free(corruption, is_releasable, NULL);
  if (kept.segment == NULL) {
    return false;
  }
  const uint64_t address = ashlar_fresh_address(corruption);
  insert_release(corruption, event, address, kept.segment->size, ashlar_owner_of(kept.segment));
  /* An earlier run gave back everything, so it should have given back this one, and earlier requests would have had it. */
  ashlar_expect_range(corruption, 0, UINT64_MAX);
  return true;
}

bool ashlar_corrupt_release_unknown(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_unknown);
}

/* The same release again. */
static bool try_twice(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_release(corruption, event)) {
    return false;
  }
  ashlar_insert_event(corruption, event + 1, ashlar_event_of(corruption, event));
  ashlar_expect_event(corruption, event + 1);
  return true;
}

bool ashlar_corrupt_release_twice(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_twice);
}

static bool try_size(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_release(corruption, event) ||
      ashlar_world_at(&corruption->world, recorded->address).segment->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].size +=
      (1 + ashlar_draw(corruption, 4)) * ASHLAR_LARGE_STEP;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_release_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_size);
}

static bool try_stream(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_release(corruption, event) || (recorded->flags & ASHLAR_EVENT_HAS_STREAM) == 0 ||
      ashlar_world_at(&corruption->world, recorded->address).segment->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  const uint16_t stream = ashlar_other_stream(corruption, recorded->stream);
  ashlar_faulty_events(corruption)[event].stream = stream;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_release_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_stream);
}
