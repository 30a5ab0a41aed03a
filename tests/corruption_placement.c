/* corruption_placement.c - allocations that are not where they belong.
 *
 * Unless it says otherwise, only the address of the alloc is changed: its free stays where it was.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

enum {
  WINDOW = 400 /* events that a block may be live for, to be moved with all that is about it */
};

/* An allocation that was served by a free block of known extent. */
struct site {
  const struct ashlar_event *event;
  struct ashlar_world_place place; /* the free block */
  uint64_t index;                  /* of the event */
  uint64_t rounded;                /* bytes */
  uint64_t room;                   /* bytes of the free block */
};

/* Right behind such an event a request is served as the event says. */
static bool is_of_device(uint8_t action)
{
  return action == ASHLAR_ACTION_SEGMENT_ALLOC || action == ASHLAR_ACTION_SEGMENT_MAP ||
         action == ASHLAR_ACTION_SEGMENT_UNMAP;
}

static bool find_site(const struct ashlar_corruption *corruption, uint64_t event, struct site *site)
{
  const uint64_t before = ashlar_event_before(corruption, event);
  *site = (struct site){.event = ashlar_event_of(corruption, event), .index = event};
  if (site->event->action != ASHLAR_ACTION_ALLOC || before == ASHLAR_NO_EVENT ||
      is_of_device(ashlar_action_of(corruption, before))) {
    return false;
  }
  site->rounded = ashlar_world_rounded(corruption->start, site->event->size);
  site->place = ashlar_world_at(&corruption->world, site->event->address);
  if (site->place.segment == NULL) {
    return false;
  }
  const struct ashlar_world_block *block = &site->place.segment->blocks[site->place.index];
  site->room = block->size;
  return block->address == site->event->address &&
         ashlar_world_is_certain(site->place.segment, site->place.index);
}

/* Whether a place ends at the end of its segment or at a block that is known to have been live. */
static bool is_bounded(struct ashlar_world_place place)
{
  return place.index + 1 == place.segment->count ||
         place.segment->blocks[place.index + 1].made_at != ASHLAR_NO_EVENT;
}

static void move_to(struct ashlar_corruption *corruption, const struct site *site, uint64_t address)
{
  ashlar_faulty_events(corruption)[site->index].address = address;
  ashlar_expect_event(corruption, site->index);
}

static bool is_same_list(const struct site *site, const struct ashlar_world_segment *segment)
{
  return segment->stream == site->event->stream && segment->pool == site->event->pool &&
         segment->class == site->place.segment->class;
}

/* Moves the allocation to a free block that passes. Where it was is known to have been free, so its
   free cannot be that of an old block there. */
static bool move_if(struct ashlar_corruption *corruption, uint64_t event, ashlar_free_test test)
{
  struct site site;
  if (!find_site(corruption, event, &site) || !ashlar_was_free(corruption, event)) {
    return false;
  }
  const struct ashlar_world_place target = ashlar_pick_free(corruption, test, &site);
  if (target.segment == NULL) {
    return false;
  }
  move_to(corruption, &site, target.segment->blocks[target.index].address);
  return true;
}

/* --- not the best block --- */

static bool is_larger(const struct ashlar_corruption *corruption, const void *data,
                      const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  const uint64_t size = segment->blocks[index].size;
  return is_same_list(site, segment) && size > site->room &&
         ashlar_world_may_serve(corruption->start, size, site->rounded);
}

static bool try_not_best(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_larger);
}

bool ashlar_corrupt_not_best(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_not_best);
}

/* The recorded order prefers the one that was taken. */
static bool is_later_equal(const struct ashlar_corruption *corruption, const void *data,
                           const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  const struct ashlar_world_segment *taken = site->place.segment;
  if (!is_same_list(site, segment) || segment->blocks[index].size != site->room) {
    return false;
  }
  if (corruption->order == ASHLAR_ORDER_SEGMENT && segment != taken) {
    return segment->made_at != ASHLAR_NO_EVENT &&
           (taken->made_at == ASHLAR_NO_EVENT || taken->made_at < segment->made_at);
  }
  return segment->blocks[index].address > site->event->address;
}

static bool try_not_first(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_later_equal);
}

bool ashlar_corrupt_not_first_of_equals(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_not_first);
}

/* The block is cut from the middle or the end of the free block, apart from where it was: there
   its free may tell of a block from before. */
static bool try_not_at_front(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site) || site.room < 2 * site.rounded ||
      !ashlar_was_free(corruption, event)) {
    return false;
  }
  const uint64_t more = site.room - 2 * site.rounded + ASHLAR_GRANULE;
  move_to(corruption, &site,
          site.event->address + site.rounded + ashlar_draw_granules(corruption, more) -
              ASHLAR_GRANULE);
  return true;
}

bool ashlar_corrupt_not_at_front(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_not_at_front);
}

/* A block that is kept whole by the split limit serves a small request, or is too large for a large
   one. */
static bool is_over_limit(const struct ashlar_corruption *corruption, const void *data,
                          const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  const uint64_t size = segment->blocks[index].size;
  return is_same_list(site, segment) && size >= site->rounded &&
         segment->blocks[index].address != site->event->address &&
         !ashlar_world_may_serve(corruption->start, size, site->rounded);
}

static bool try_over_limit(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_over_limit);
}

bool ashlar_corrupt_over_split_limit(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_over_limit);
}

/* --- not the best block, and all else goes by it --- */

/* The recording as it is, and with one block elsewhere. */
struct window {
  struct ashlar_world as_is;
  struct ashlar_world moved;
  uint64_t from; /* address */
  uint64_t to;
};

/* Whether the allocation at `event` goes to the same place with the block moved. */
static bool is_unmoved(const struct ashlar_corruption *corruption, const struct window *window,
                       const struct site *site, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  const uint64_t rounded = ashlar_world_rounded(corruption->start, recorded->size);
  uint64_t address = 0;
  if (recorded->stream != site->event->stream || recorded->pool != site->event->pool ||
      ashlar_pool_class(rounded) != ashlar_pool_class(site->rounded)) {
    return true;
  }
  const bool is_device =
      event > 0 && ashlar_action_of(corruption, event - 1) == ASHLAR_ACTION_SEGMENT_ALLOC;
  if (is_device) {
    return true; /* asked before its segment_alloc */
  }
  const struct ashlar_world_place one = ashlar_world_at(&window->as_is, recorded->address);
  const struct ashlar_world_place other = ashlar_world_at(&window->moved, recorded->address);
  return ashlar_world_choose(&window->moved, recorded, &address) == ASHLAR_WORLD_FOUND &&
         address == recorded->address &&
         one.segment->blocks[one.index].size == other.segment->blocks[other.index].size;
}

/* Whether the device is asked with the block moved as well. */
static bool is_still_asked(const struct ashlar_corruption *corruption, const struct window *window,
                           uint64_t event)
{
  uint64_t address = 0;
  if (ashlar_action_of(corruption, event + 1) != ASHLAR_ACTION_ALLOC) {
    return false;
  }
  const struct ashlar_event *request = ashlar_event_of(corruption, event + 1);
  return ashlar_world_choose(&window->moved, request, &address) == ASHLAR_WORLD_NONE;
}

/* Carries out one event in both worlds. False: the move would change more than this block. */
static bool step_window(struct ashlar_corruption *corruption, struct window *window,
                        const struct site *site, uint64_t event)
{
  struct ashlar_event recorded = *ashlar_event_of(corruption, event);
  switch (recorded.action) {
  case ASHLAR_ACTION_SEGMENT_FREE:
  case ASHLAR_ACTION_SEGMENT_MAP:
  case ASHLAR_ACTION_SEGMENT_UNMAP:
  case ASHLAR_ACTION_OOM:
    return false;
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    if (!is_still_asked(corruption, window, event)) {
      return false;
    }
    break;
  case ASHLAR_ACTION_ALLOC:
    if (event != site->index && !is_unmoved(corruption, window, site, event)) {
      return false;
    }
    break;
  default:
    break;
  }
  ashlar_world_apply(&window->as_is, &recorded, event);
  if (recorded.address == window->from && recorded.action != ASHLAR_ACTION_SNAPSHOT) {
    recorded.address = window->to;
    ashlar_faulty_events(corruption)[event].address = window->to;
  }
  ashlar_world_apply(&window->moved, &recorded, event);
  return !window->moved.is_broken;
}

static bool is_same_segment(const struct window *window, uint64_t address)
{
  const struct ashlar_world_segment *one = ashlar_world_at(&window->as_is, address).segment;
  const struct ashlar_world_segment *other = ashlar_world_at(&window->moved, address).segment;
  if (one->count != other->count) {
    return false;
  }
  for (size_t i = 0; i < one->count; i++) {
    if (one->blocks[i].address != other->blocks[i].address ||
        one->blocks[i].size != other->blocks[i].size ||
        one->blocks[i].state != other->blocks[i].state) {
      return false;
    }
  }
  return true;
}

static bool move_throughout(struct ashlar_corruption *corruption, struct window *window,
                            const struct site *site)
{
  const uint64_t count = corruption->start->event_count;
  uint64_t event = site->index;
  bool is_freed = false;
  while (event < count && !is_freed) {
    if (event - site->index == WINDOW || !step_window(corruption, window, site, event)) {
      return false;
    }
    is_freed = ashlar_action_of(corruption, event) == ASHLAR_ACTION_FREE_COMPLETED &&
               ashlar_event_of(corruption, event)->address == window->from;
    event++;
  }
  if (is_freed) {
    return is_same_segment(window, window->from) && is_same_segment(window, window->to);
  }
  ashlar_list_as(corruption, ashlar_world_at(&window->moved, window->from).segment);
  ashlar_list_as(corruption, ashlar_world_at(&window->moved, window->to).segment);
  return true;
}

static bool try_throughout(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site) || site.place.segment->is_growable ||
      ashlar_collects(corruption)) {
    return false;
  }
  const struct ashlar_world_place target = ashlar_pick_free(corruption, is_larger, &site);
  if (target.segment == NULL) {
    return false;
  }
  struct window window = {
      .from = site.event->address,
      .to = target.segment->blocks[target.index].address,
  };
  ashlar_world_copy(&window.as_is, &corruption->world);
  ashlar_world_copy(&window.moved, &corruption->world);
  const bool is_done = move_throughout(corruption, &window, &site);
  const uint64_t count = corruption->start->event_count;
  for (uint64_t i = event; !is_done && i < count && i - event <= WINDOW; i++) {
    ashlar_faulty_events(corruption)[i] = *ashlar_event_of(corruption, i);
  }
  ashlar_world_free(&window.as_is);
  ashlar_world_free(&window.moved);
  ashlar_expect_event(corruption, event);
  return is_done;
}

bool ashlar_corrupt_not_best_throughout(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_throughout);
}

/* --- no place at all --- */

/* The block is placed in one that is live. */
static bool try_into_live(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site)) {
    return false;
  }
  const struct ashlar_world_block *picked = NULL;
  uint64_t seen = 0;
  for (size_t i = 0; i < corruption->world.segment_count; i++) {
    const struct ashlar_world_segment *segment = &corruption->world.segments[i];
    for (size_t k = 0; is_same_list(&site, segment) && k < segment->count; k++) {
      if (segment->blocks[k].made_at != ASHLAR_NO_EVENT && ashlar_draw(corruption, ++seen) == 0) {
        picked = &segment->blocks[k];
      }
    }
  }
  if (picked == NULL) {
    return false;
  }
  move_to(corruption, &site,
          picked->address + ashlar_draw_granules(corruption, picked->size) - ASHLAR_GRANULE);
  return true;
}

bool ashlar_corrupt_into_live_block(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_into_live);
}

static bool is_too_small(const struct ashlar_corruption *corruption, const void *data,
                         const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  (void)corruption;
  return is_same_list(site, segment) && segment->blocks[index].size < site->rounded &&
         (index + 1 == segment->count || segment->blocks[index + 1].made_at != ASHLAR_NO_EVENT);
}

/* The block runs into the one behind, or beyond its segment. */
static bool try_too_small(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_too_small);
}

bool ashlar_corrupt_into_too_small(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_too_small);
}

static bool try_outside(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site)) {
    return false;
  }
  move_to(corruption, &site, ashlar_fresh_address(corruption));
  return true;
}

bool ashlar_corrupt_outside(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_outside);
}

static bool try_alloc_unaligned(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site) || site.room < site.rounded + ASHLAR_GRANULE) {
    return false;
  }
  move_to(corruption, &site, site.event->address + 1 + ashlar_draw(corruption, ASHLAR_GRANULE - 1));
  return true;
}

bool ashlar_corrupt_alloc_unaligned(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_alloc_unaligned);
}

/* --- the wrong pool or stream --- */

static bool is_other_pool(const struct ashlar_corruption *corruption, const void *data,
                          const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  (void)corruption;
  return segment->stream == site->event->stream && segment->pool == site->event->pool &&
         segment->blocks[index].size >= site->rounded &&
         segment->class != site->place.segment->class;
}

static bool try_other_pool(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_other_pool);
}

bool ashlar_corrupt_other_pool(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_other_pool);
}

/* A request of a private pool is served by the default one. */
static bool try_private(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  uint16_t pool = 0;
  if (!find_site(corruption, event, &site) ||
      !ashlar_snapshot_pool(&corruption->faulty, ashlar_draw(corruption, 2),
                            1 + ashlar_draw(corruption, 9), &pool) ||
      pool == site.event->pool) {
    return false;
  }
  struct ashlar_event *changed = &ashlar_faulty_events(corruption)[event];
  changed->pool = pool;
  changed->flags |= ASHLAR_EVENT_HAS_POOL;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_private_pool(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_private);
}

static bool is_other_stream(const struct ashlar_corruption *corruption, const void *data,
                            const struct ashlar_world_segment *segment, size_t index)
{
  const struct site *site = data;
  const struct ashlar_stream *streams = corruption->good->streams;
  return streams[segment->stream].handle != streams[site->event->stream].handle &&
         segment->pool == site->event->pool && segment->blocks[index].size >= site->rounded &&
         segment->class == site->place.segment->class;
}

static bool try_other_stream_block(struct ashlar_corruption *corruption, uint64_t event)
{
  return move_if(corruption, event, is_other_stream);
}

bool ashlar_corrupt_other_stream_block(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_other_stream_block);
}

/* Allocation and frees say another stream than that of the block. */
static bool try_to_other_stream(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site)) {
    return false;
  }
  const uint16_t stream = ashlar_other_stream(corruption, site.event->stream);
  const uint64_t requested =
      ashlar_next_at(corruption, event, site.event->address, ASHLAR_ACTION_FREE_REQUESTED);
  const uint64_t completed =
      ashlar_next_at(corruption, event, site.event->address, ASHLAR_ACTION_FREE_COMPLETED);
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].stream = stream;
  events[event].flags |= ASHLAR_EVENT_HAS_STREAM;
  if (requested != ASHLAR_NO_EVENT) {
    events[requested].stream = stream;
  }
  if (completed != ASHLAR_NO_EVENT) {
    events[completed].stream = stream;
  }
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_to_other_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_to_other_stream);
}

/* --- the wrong size --- */

static bool try_zero_bytes(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_action_of(corruption, event) != ASHLAR_ACTION_ALLOC) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].size = 0;
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_zero_bytes(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_zero_bytes);
}

/* Above the greatest request there is, 2^60 - 1 bytes. */
static bool try_exabytes(struct ashlar_corruption *corruption, uint64_t event)
{
  if (ashlar_action_of(corruption, event) != ASHLAR_ACTION_ALLOC) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].size =
      ASHLAR_MAX_REQUEST + 1 + ashlar_draw(corruption, UINT64_C(1) << 61);
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_exabytes(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_exabytes);
}

/* Allocation and frees say more bytes than the free block had. */
static bool try_exceeds_room(struct ashlar_corruption *corruption, uint64_t event)
{
  struct site site;
  if (!find_site(corruption, event, &site) || !is_bounded(site.place)) {
    return false;
  }
  const uint64_t size = site.room + 1 + ashlar_draw(corruption, site.room);
  const uint64_t requested =
      ashlar_next_at(corruption, event, site.event->address, ASHLAR_ACTION_FREE_REQUESTED);
  const uint64_t completed =
      ashlar_next_at(corruption, event, site.event->address, ASHLAR_ACTION_FREE_COMPLETED);
  struct ashlar_event *events = ashlar_faulty_events(corruption);
  events[event].size = size;
  if (requested != ASHLAR_NO_EVENT) {
    events[requested].size = size;
  }
  if (completed != ASHLAR_NO_EVENT) {
    events[completed].size = size;
  }
  ashlar_expect_event(corruption, event);
  return true;
}

bool ashlar_corrupt_request_exceeds_room(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_exceeds_room);
}

/* The allocation alone says another size, for which it takes the same block. */
static bool try_request_changed(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (recorded->action != ASHLAR_ACTION_ALLOC || recorded->size < 2 ||
      ashlar_world_at(&corruption->world, recorded->address).segment == NULL ||
      !ashlar_was_free(corruption, event)) {
    return false;
  }
  ashlar_faulty_events(corruption)[event].size =
      recorded->size % ASHLAR_GRANULE == 1 ? recorded->size + 1 : recorded->size - 1;
  ashlar_expect_range(corruption, recorded->address, 1);
  return true;
}

bool ashlar_corrupt_request_changed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_request_changed);
}
