/* corruption_growable.c - memory that is mapped, unmapped or listed wrongly.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

#define NEAR (UINT64_C(64) << 30) /* bytes; ranges are longer */

static bool is_map(const struct ashlar_corruption *corruption, uint64_t event)
{
  return ashlar_action_of(corruption, event) == ASHLAR_ACTION_SEGMENT_MAP;
}

static bool is_unmap(const struct ashlar_corruption *corruption, uint64_t event)
{
  return ashlar_action_of(corruption, event) == ASHLAR_ACTION_SEGMENT_UNMAP;
}

/* A map that serves the request right behind it. */
static bool is_serving(const struct ashlar_corruption *corruption, uint64_t event)
{
  return is_map(corruption, event) &&
         ashlar_action_of(corruption, event + 1) == ASHLAR_ACTION_ALLOC;
}

static uint64_t page_of(const struct ashlar_corruption *corruption, int32_t class)
{
  return class == ASHLAR_CLASS_SMALL ? ASHLAR_SMALL_SEGMENT
                                     : corruption->start->config.large_segment_size;
}

/* The fault may show wherever that memory plays a part. */
static void expect_anywhere(struct ashlar_corruption *corruption, uint64_t event)
{
  ashlar_expect_event(corruption, event);
  ashlar_expect_range(corruption, 0, UINT64_MAX);
}

/* --- maps --- */

static bool try_twice(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_map(corruption, event)) {
    return false;
  }
  ashlar_insert_event(corruption, event, ashlar_event_of(corruption, event));
  ashlar_expect_event(corruption, event);
  ashlar_expect_range(corruption, ashlar_event_of(corruption, event)->address, 1);
  return true;
}

bool ashlar_corrupt_map_twice(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_twice);
}

static bool try_size(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_serving(corruption, event) ||
      ashlar_world_at(&corruption->world, recorded->address + recorded->size).segment != NULL) {
    return false; /* what is mapped behind it may have been mapped by it as well */
  }
  ashlar_faulty_events(corruption)[event].size +=
      (1 + ashlar_draw(corruption, 4)) * ASHLAR_SMALL_SEGMENT;
  expect_anywhere(corruption, event);
  return true;
}

bool ashlar_corrupt_map_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_size);
}

static bool try_elsewhere(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_map(corruption, event)) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].address = ashlar_fresh_address(corruption);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_map_elsewhere(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_elsewhere);
}

static bool try_stream(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_serving(corruption, event)) {
    return false;
  }
  const uint16_t stream =
      ashlar_other_stream(corruption, ashlar_event_of(corruption, event)->stream);
  ashlar_faulty_events(corruption)[event].stream = stream;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_map_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_stream);
}

/* A free block of a growable segment that serves a request of its size without doubt. */
static bool serves_growing(const struct ashlar_corruption *corruption, const void *data,
                           const struct ashlar_world_segment *segment, size_t index)
{
  const uint64_t size = segment->blocks[index].size;
  (void)data;
  return segment->is_growable && size < corruption->start->config.max_split_size &&
         ashlar_pool_class(size) == segment->class &&
         ashlar_world_rounded(corruption->start, size) == size;
}

/* Whether nothing is ever mapped in a range of addresses. */
static bool is_never_mapped(const struct ashlar_corruption *corruption, uint64_t address,
                            uint64_t size)
{
  for (uint64_t i = 0; i < corruption->start->event_count; i++) {
    const struct ashlar_event *event = ashlar_event_of(corruption, i);
    if ((is_map(corruption, i) || is_unmap(corruption, i)) && event->address < address + size &&
        address < event->address + event->size) {
      return false;
    }
  }
  for (size_t i = 0; i < corruption->start->segment_count; i++) {
    const struct ashlar_world_segment *segment = &corruption->start->segments[i];
    if (segment->address < address + size && address < segment->address + segment->size) {
      return false;
    }
  }
  return true;
}

/* A page is mapped for a request, and unmapped again, although a free block fits. */
static bool try_needless(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!ashlar_is_settled(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place place = ashlar_pick_free(corruption, serves_growing, NULL);
  if (place.segment == NULL) {
    return false;
  }
  const uint64_t page = page_of(corruption, place.segment->class);
  const uint64_t request = place.segment->blocks[place.index].size;
  const uint64_t address = place.segment->address + place.segment->size;
  const uint64_t mapped = request + (page - request % page) % page;
  if (!is_never_mapped(corruption, address, mapped)) {
    return false;
  }
  const struct ashlar_owner owner = ashlar_owner_of(place.segment);
  static const uint8_t ACTIONS[] = {ASHLAR_ACTION_SEGMENT_UNMAP, ASHLAR_ACTION_FREE_COMPLETED,
                                    ASHLAR_ACTION_FREE_REQUESTED, ASHLAR_ACTION_ALLOC,
                                    ASHLAR_ACTION_SEGMENT_MAP};
  for (size_t i = 0; i < sizeof ACTIONS; i++) {
    const bool is_memory =
        ACTIONS[i] == ASHLAR_ACTION_SEGMENT_MAP || ACTIONS[i] == ASHLAR_ACTION_SEGMENT_UNMAP;
    const struct ashlar_event inserted =
        ashlar_new_event(corruption, ACTIONS[i], address, is_memory ? mapped : request, owner);
    ashlar_insert_event(corruption, event, &inserted);
  }
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_map_needless(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_needless);
}

static int32_t class_of(const struct ashlar_corruption *corruption,
                        const struct ashlar_event *request)
{
  return ashlar_pool_class(ashlar_world_rounded(corruption->start, request->size));
}

/* Whether two addresses may be of one range. */
static bool is_near(uint64_t address, uint64_t other)
{
  return (address < other ? other - address : address - other) < NEAR;
}

/* Whether the pool, class and stream of the map at the event have one range, from the beginning to the end. */
static bool has_one_range(const struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  const int32_t class = class_of(corruption, &recorded[1]);
  for (uint64_t i = 0; i < corruption->start->event_count; i++) {
    const struct ashlar_event *other = ashlar_event_of(corruption, i);
    if (is_serving(corruption, i) && other->pool == recorded->pool &&
        other->stream == recorded->stream && class_of(corruption, &other[1]) == class &&
        !is_near(other->address, recorded->address)) {
      return false;
    }
  }
  for (size_t i = 0; i < corruption->start->segment_count; i++) {
    const struct ashlar_world_segment *part = &corruption->start->segments[i];
    if (part->pool == recorded->pool && part->stream == recorded->stream && part->class == class &&
        !is_near(part->address, recorded->address)) {
      return false;
    }
  }
  return true;
}

/* Without its map the memory was there, and free, from the beginning: an earlier request for which memory of the same range
   was mapped would have had it. */
static bool try_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (!is_serving(corruption, event) ||
      recorded->size >= corruption->start->config.max_split_size ||
      ashlar_is_shared(corruption, recorded->address, recorded->size) ||
      !has_one_range(corruption, event)) {
    return false;
  }
  const int32_t class = class_of(corruption, &recorded[1]);
  for (uint64_t i = 1; i < event; i++) {
    const struct ashlar_event *earlier = ashlar_event_of(corruption, i);
    if (is_serving(corruption, i) && earlier->pool == recorded->pool &&
        earlier->stream == recorded->stream && class_of(corruption, &earlier[1]) == class &&
        ashlar_event_before(corruption, i) != ASHLAR_NO_EVENT &&
        ashlar_world_rounded(corruption->start, earlier[1].size) <= recorded->size) {
      ashlar_remove_event(corruption, event);
      expect_anywhere(corruption, event);
      return true;
    }
  }
  return false;
}

bool ashlar_corrupt_map_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_missing);
}

/* --- unmaps --- */

/* The first page of a part with a live block in it is unmapped. */
static bool try_in_use(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_world_segment *picked = NULL;
  uint64_t seen = 0;
  if (!ashlar_is_quiet(corruption, event)) {
    return false;
  }
  for (size_t i = 0; i < corruption->world.segment_count; i++) {
    const struct ashlar_world_segment *segment = &corruption->world.segments[i];
    if (segment->is_growable && segment->blocks[0].made_at != ASHLAR_NO_EVENT &&
        ashlar_draw(corruption, ++seen) == 0) {
      picked = segment;
    }
  }
  if (picked == NULL) {
    return false;
  }
  const struct ashlar_event unmap =
      ashlar_new_event(corruption, ASHLAR_ACTION_SEGMENT_UNMAP, picked->address,
                       page_of(corruption, picked->class), ashlar_owner_of(picked));
  ashlar_insert_event(corruption, event, &unmap);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_unmap_in_use(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_in_use);
}

/* Whether the memory that goes back at the event was mapped in the recording. */
static bool is_of_recording(const struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_world_place place =
      ashlar_world_at(&corruption->world, ashlar_event_of(corruption, event)->address);
  return place.segment != NULL && place.segment->made_at != ASHLAR_NO_EVENT;
}

static bool try_unmap_size(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_unmap(corruption, event) || !is_of_recording(corruption, event) ||
      ashlar_event_of(corruption, event)->size <= ASHLAR_SMALL_SEGMENT) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].size -= ASHLAR_SMALL_SEGMENT;
  expect_anywhere(corruption, event);
  return true;
}

bool ashlar_corrupt_unmap_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_unmap_size);
}

static bool try_unmap_missing(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_unmap(corruption, event) || !is_of_recording(corruption, event)) {
    return false;
  }
  ashlar_remove_event(corruption, event);
  expect_anywhere(corruption, event);
  return true;
}

bool ashlar_corrupt_unmap_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_unmap_missing);
}

/* Two unmaps of one pool change places. */
static bool try_order(struct ashlar_corruption *corruption, uint64_t event)
{
  if (!is_unmap(corruption, event) || !is_unmap(corruption, event + 1) ||
      ashlar_event_of(corruption, event)->pool != ashlar_event_of(corruption, event + 1)->pool) {
    return false;
  }
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  const struct ashlar_event first = events[event];
  events[event] = events[event + 1];
  events[event + 1] = first;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_unmap_order(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_order);
}

/* --- the listing --- */

static bool is_new_part(const struct ashlar_corruption *corruption, uint64_t segment)
{
  const struct ashlar_segment *listed = &corruption->good->segments[segment];
  return listed->is_expandable &&
         ashlar_world_at(&corruption->world, listed->address).segment->made_at != ASHLAR_NO_EVENT;
}

static bool try_not_listed(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  if (block != 0 || !is_new_part(corruption, segment)) {
    return false;
  }
  expect_anywhere(corruption, ASHLAR_NO_EVENT);
  ashlar_unlist_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_part_not_listed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_not_listed);
}

static bool try_ordinary(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  if (block != 0 || !is_new_part(corruption, segment)) {
    return false;
  }
  ashlar_faulty_segment(corruption, segment)->is_expandable = false;
  expect_anywhere(corruption, ASHLAR_NO_EVENT);
  return true;
}

bool ashlar_corrupt_part_listed_ordinary(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_ordinary);
}
