/* corruption_world.c - see corruption_world.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block_manager.h"
#include "core/size_policy.h"

void *ashlar_world_grown(void *array, size_t count, size_t size)
{
  void *grown = realloc(array, (count + 1) * size);
  if (grown == NULL) {
    (void)fprintf(stderr, "out of memory\n");
    abort();
  }
  return grown;
}

static void broken(struct ashlar_world *world, const char *why, const struct ashlar_event *event)
{
  if (!world->is_broken) {
    (void)fprintf(stderr, "event %" PRIu64 " (%s 0x%" PRIx64 ", %" PRIu64 " bytes): %s\n",
                  world->next, ashlar_action_name(event->action), event->address, event->size, why);
  }
  world->is_broken = true;
}

/* --- rules --- */

int32_t ashlar_world_pool(const struct ashlar_world_segment *segment)
{
  return segment->size <= ASHLAR_SMALL_SEGMENT ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
}

uint64_t ashlar_world_rounded(const struct ashlar_world *world, uint64_t bytes)
{
  return ashlar_round_size(bytes, world->config.divisions[ashlar_division_row(bytes)]);
}

bool ashlar_world_may_serve(const struct ashlar_world *world, uint64_t size, uint64_t rounded)
{
  const uint64_t limit = world->config.max_split_size;
  if (size < rounded) {
    return false;
  }
  return rounded < limit ? size < limit : size - rounded < world->config.oversize_slack;
}

bool ashlar_world_is_certain(const struct ashlar_world_segment *segment, size_t index)
{
  const struct ashlar_world_block *block = &segment->blocks[index];
  if (block->is_vague) {
    return false;
  }
  return block->state != ASHLAR_BLOCK_INACTIVE || index == 0 || !block[-1].is_vague;
}

/* --- places --- */

/* Number of segments that start at or before the address. */
static size_t segments_up_to(const struct ashlar_world *world, uint64_t address)
{
  size_t low = 0;
  size_t high = world->segment_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (world->segments[middle].address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct ashlar_world_place ashlar_world_at(const struct ashlar_world *world, uint64_t address)
{
  const size_t count = segments_up_to(world, address);
  struct ashlar_world_place place = {0};
  if (count == 0 ||
      address - world->segments[count - 1].address >= world->segments[count - 1].size) {
    return place;
  }
  place.segment = &world->segments[count - 1];
  size_t high = place.segment->count;
  while (place.index + 1 < high) {
    const size_t middle = place.index + (high - place.index) / 2;
    if (place.segment->blocks[middle].address <= address) {
      place.index = middle;
    } else {
      high = middle;
    }
  }
  return place;
}

/* --- changes --- */

static void insert_block(struct ashlar_world_segment *segment, size_t index,
                         const struct ashlar_world_block *block)
{
  if (segment->count == segment->capacity) {
    segment->capacity = 2 * segment->capacity + 4;
    segment->blocks =
        ashlar_world_grown(segment->blocks, segment->capacity, sizeof *segment->blocks);
  }
  memmove(&segment->blocks[index + 1], &segment->blocks[index],
          (segment->count - index) * sizeof *segment->blocks);
  segment->blocks[index] = *block;
  segment->count++;
}

static void remove_block(struct ashlar_world_segment *segment, size_t index)
{
  segment->count--;
  memmove(&segment->blocks[index], &segment->blocks[index + 1],
          (segment->count - index) * sizeof *segment->blocks);
}

static void add_segment(struct ashlar_world *world, const struct ashlar_event *event,
                        uint64_t made_at)
{
  const size_t index = segments_up_to(world, event->address);
  if (world->segment_count == world->segment_capacity) {
    world->segment_capacity = 2 * world->segment_capacity + 16;
    world->segments =
        ashlar_world_grown(world->segments, world->segment_capacity, sizeof *world->segments);
  }
  struct ashlar_world_segment *segment = &world->segments[index];
  memmove(segment + 1, segment, (world->segment_count - index) * sizeof *segment);
  world->segment_count++;
  *segment = (struct ashlar_world_segment){
      .address = event->address,
      .size = event->size,
      .made_at = made_at,
      .stream = event->stream,
  };
  const struct ashlar_world_block whole = {
      .address = event->address, .size = event->size, .made_at = ASHLAR_NO_EVENT};
  insert_block(segment, 0, &whole);
  if ((index > 0 && segment[-1].address + segment[-1].size > event->address) ||
      (index + 1 < world->segment_count && event->address + event->size > segment[1].address)) {
    broken(world, "the segment overlaps another one", event);
  }
}

static void remove_segment(struct ashlar_world *world, const struct ashlar_event *event)
{
  struct ashlar_world_segment *segment = ashlar_world_at(world, event->address).segment;
  if (segment == NULL || segment->address != event->address || segment->size != event->size ||
      segment->count != 1 || segment->blocks[0].state != ASHLAR_BLOCK_INACTIVE) {
    broken(world, "there is no such free segment", event);
    return;
  }
  free(segment->blocks);
  world->segment_count--;
  memmove(segment, segment + 1,
          (world->segment_count - (size_t)(segment - world->segments)) * sizeof *segment);
}

/* Cuts the block at [address, end of the free block) where the request goes. */
static void allocate(struct ashlar_world *world, const struct ashlar_event *event, uint64_t index)
{
  const struct ashlar_world_place place = ashlar_world_at(world, event->address);
  struct ashlar_world_segment *segment = place.segment;
  const uint64_t want = ashlar_world_rounded(world, event->size);
  if (segment == NULL || segment->blocks[place.index].state != ASHLAR_BLOCK_INACTIVE) {
    broken(world, "there is no free block", event);
    return;
  }
  struct ashlar_world_block *block = &segment->blocks[place.index];
  const uint64_t before = event->address - block->address;
  const uint64_t room = block->size - before;
  if (room < want || (before > 0 && (place.index == 0 || !block[-1].is_vague))) {
    broken(world, "the place is not the front of a free block that is large enough", event);
    return;
  }
  if (place.index > 0 && block[-1].is_vague) {
    /* An allocation takes the front of a free block, so the block before it ends here. */
    block[-1].size += before;
    block[-1].is_vague = false;
  }
  const bool is_split = ashlar_should_split(ashlar_world_pool(segment), room, want,
                                            world->config.max_split_size) != 0;
  *block = (struct ashlar_world_block){
      .address = event->address,
      .size = is_split ? want : room,
      .requested = event->size,
      .made_at = index,
      .state = ASHLAR_BLOCK_ALLOCATED,
  };
  if (is_split) {
    const struct ashlar_world_block rest = {
        .address = event->address + want, .size = room - want, .made_at = ASHLAR_NO_EVENT};
    insert_block(segment, place.index + 1, &rest);
  }
}

/* The live block that starts at the address of the event. */
static struct ashlar_world_place live_at(struct ashlar_world *world,
                                         const struct ashlar_event *event)
{
  struct ashlar_world_place place = ashlar_world_at(world, event->address);
  if (place.segment == NULL || place.segment->blocks[place.index].address != event->address ||
      place.segment->blocks[place.index].state == ASHLAR_BLOCK_INACTIVE) {
    broken(world, "no live block starts here", event);
    place.segment = NULL;
  }
  return place;
}

static void release(struct ashlar_world *world, const struct ashlar_event *event)
{
  const struct ashlar_world_place place = live_at(world, event);
  struct ashlar_world_segment *segment = place.segment;
  size_t index = place.index;
  if (segment == NULL) {
    return;
  }
  segment->blocks[index].state = ASHLAR_BLOCK_INACTIVE;
  segment->blocks[index].is_vague = false;
  segment->blocks[index].made_at = ASHLAR_NO_EVENT;
  if (index + 1 < segment->count && segment->blocks[index + 1].state == ASHLAR_BLOCK_INACTIVE) {
    segment->blocks[index].size += segment->blocks[index + 1].size;
    remove_block(segment, index + 1);
  }
  if (index > 0 && segment->blocks[index - 1].state == ASHLAR_BLOCK_INACTIVE) {
    segment->blocks[index - 1].size += segment->blocks[index].size;
    remove_block(segment, index);
  }
}

void ashlar_world_apply(struct ashlar_world *world, const struct ashlar_event *event,
                        uint64_t index)
{
  struct ashlar_world_place place;
  switch (event->action) {
  case ASHLAR_ACTION_ALLOC:
    allocate(world, event, index);
    break;
  case ASHLAR_ACTION_FREE_REQUESTED:
    place = live_at(world, event);
    if (place.segment != NULL) {
      place.segment->blocks[place.index].state = ASHLAR_BLOCK_PENDING_FREE;
    }
    break;
  case ASHLAR_ACTION_FREE_COMPLETED:
    release(world, event);
    break;
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    add_segment(world, event, index);
    break;
  case ASHLAR_ACTION_SEGMENT_FREE:
    remove_segment(world, event);
    break;
  default:
    break;
  }
}

void ashlar_world_step(struct ashlar_world *world)
{
  ashlar_world_apply(world, &world->events[world->next], world->next);
  world->next++;
}

enum ashlar_world_choice ashlar_world_choose(const struct ashlar_world *world, uint16_t stream,
                                             uint64_t rounded, uint64_t *address)
{
  uint64_t best = UINT64_MAX;
  uint64_t least_vague = UINT64_MAX; /* size that a block of unknown size may have */
  bool is_tie = false;
  for (size_t i = 0; i < world->segment_count; i++) {
    const struct ashlar_world_segment *segment = &world->segments[i];
    if (segment->stream != stream || ashlar_world_pool(segment) != ashlar_pool_class(rounded)) {
      continue;
    }
    for (size_t k = 0; k < segment->count; k++) {
      const struct ashlar_world_block *block = &segment->blocks[k];
      if (block->state != ASHLAR_BLOCK_INACTIVE || block->size < rounded) {
        continue;
      }
      if (!ashlar_world_is_certain(segment, k)) {
        least_vague = rounded;
      } else if (block->size < best) {
        best = block->size;
        *address = block->address;
        is_tie = false;
      } else if (block->size == best) {
        is_tie = true;
      }
    }
  }
  if (is_tie || least_vague != UINT64_MAX) {
    return ASHLAR_WORLD_UNSURE;
  }
  return best != UINT64_MAX && ashlar_world_may_serve(world, best, rounded) ? ASHLAR_WORLD_FOUND
                                                                            : ASHLAR_WORLD_NONE;
}

/* --- the beginning --- */

static struct ashlar_config config_of(const struct ashlar_snapshot *snapshot)
{
  struct ashlar_config config = ashlar_default_config();
  if ((snapshot->settings.flags & ASHLAR_SETTINGS_HAS_MAX_SPLIT) != 0) {
    config.max_split_size = (uint64_t)snapshot->settings.max_split_size;
  }
  return config;
}

/* The listed segments, empty, and the listed live blocks. */
static void take_listing(struct ashlar_world *world, struct ashlar_live_table *live)
{
  const struct ashlar_snapshot *snapshot = world->snapshot;
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    const struct ashlar_segment *listed = &snapshot->segments[i];
    if (listed->device != world->device) {
      continue;
    }
    const struct ashlar_event as_event = {
        .address = listed->address, .size = listed->total_size, .stream = listed->stream};
    add_segment(world, &as_event, ASHLAR_NO_EVENT);
    for (uint64_t k = 0; k < listed->block_count; k++) {
      const struct ashlar_block *block = &snapshot->blocks[listed->first_block + k];
      if (block->state != ASHLAR_BLOCK_INACTIVE) {
        struct ashlar_live *entry = ashlar_live_add(live, block->address);
        entry->size = block->size;
        entry->requested = block->requested_size;
        entry->note = block->state;
      }
    }
  }
}

static void undo(struct ashlar_world *world, struct ashlar_live_table *live,
                 const struct ashlar_event *event)
{
  struct ashlar_live *entry = ashlar_live_find(live, event->address);
  switch (event->action) {
  case ASHLAR_ACTION_ALLOC:
    if (entry == NULL) {
      broken(world, "the block is not heard of again", event);
    } else {
      ashlar_live_remove(live, entry);
    }
    break;
  case ASHLAR_ACTION_FREE_REQUESTED:
    if (entry == NULL) {
      broken(world, "the free is not completed and the block not listed", event);
    } else {
      entry->note = ASHLAR_BLOCK_ALLOCATED;
    }
    break;
  case ASHLAR_ACTION_FREE_COMPLETED:
    entry = ashlar_live_add(live, event->address);
    entry->size = 0;
    entry->requested = event->size;
    entry->note = ASHLAR_BLOCK_PENDING_FREE;
    break;
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    remove_segment(world, event);
    break;
  case ASHLAR_ACTION_SEGMENT_FREE:
    add_segment(world, event, ASHLAR_NO_EVENT);
    break;
  default:
    break;
  }
}

static int by_address(const void *left, const void *right)
{
  const struct ashlar_live *a = left;
  const struct ashlar_live *b = right;
  return (a->address > b->address) - (a->address < b->address);
}

/* Puts a block into the free rest of its segment; `end`: where the next live block starts. */
static void place_block(struct ashlar_world *world, const struct ashlar_live *entry, uint64_t end)
{
  const struct ashlar_world_place place = ashlar_world_at(world, entry->address);
  const struct ashlar_event as_event = {.address = entry->address, .size = entry->requested};
  if (place.segment == NULL || place.segment->blocks[place.index].state != ASHLAR_BLOCK_INACTIVE) {
    broken(world, "a block from before the recording has no place", &as_event);
    return;
  }
  struct ashlar_world_segment *segment = place.segment;
  struct ashlar_world_block rest = segment->blocks[place.index];
  const uint64_t rest_end = rest.address + rest.size;
  const uint64_t room = (end < rest_end ? end : rest_end) - entry->address;
  struct ashlar_world_block block = {
      .address = entry->address,
      .size = entry->size != 0 ? entry->size : ashlar_world_rounded(world, entry->requested),
      .requested = entry->requested,
      .made_at = ASHLAR_NO_EVENT,
      .state = (uint8_t)entry->note,
  };
  block.is_vague =
      entry->size == 0 && ashlar_world_pool(segment) == ASHLAR_CLASS_LARGE && block.size < room;
  if (block.size > room) {
    broken(world, "a block from before the recording has no room", &as_event);
    return;
  }
  remove_block(segment, place.index);
  if (entry->address + block.size < rest_end) {
    const struct ashlar_world_block behind = {.address = entry->address + block.size,
                                              .size = rest_end - entry->address - block.size,
                                              .made_at = ASHLAR_NO_EVENT};
    insert_block(segment, place.index, &behind);
  }
  insert_block(segment, place.index, &block);
  if (rest.address < entry->address) {
    rest.size = entry->address - rest.address;
    insert_block(segment, place.index, &rest);
  }
}

void ashlar_world_start(struct ashlar_world *world, const struct ashlar_snapshot *snapshot,
                        int32_t device)
{
  struct ashlar_live_table live = {0};
  *world =
      (struct ashlar_world){.snapshot = snapshot, .device = device, .config = config_of(snapshot)};
  if (device >= 0 && (uint32_t)device < snapshot->trace_count) {
    world->events = snapshot->traces[device].events;
    world->event_count = snapshot->traces[device].event_count;
  }
  take_listing(world, &live);
  for (world->next = world->event_count; world->next > 0; world->next--) {
    undo(world, &live, &world->events[world->next - 1]);
  }
  struct ashlar_live *sorted = ashlar_world_grown(NULL, live.count, sizeof *sorted);
  size_t count = 0;
  for (uint64_t i = 0; i < live.capacity; i++) {
    if (live.entries[i].address != UINT64_MAX) {
      sorted[count++] = live.entries[i];
    }
  }
  qsort(sorted, count, sizeof *sorted, by_address);
  for (size_t i = 0; i < count && !world->is_broken; i++) {
    place_block(world, &sorted[i], i + 1 < count ? sorted[i + 1].address : UINT64_MAX);
  }
  free(sorted);
  ashlar_live_free(&live);
}

void ashlar_world_free(struct ashlar_world *world)
{
  for (size_t i = 0; i < world->segment_count; i++) {
    free(world->segments[i].blocks);
  }
  free(world->segments);
  *world = (struct ashlar_world){0};
}

void ashlar_world_copy(struct ashlar_world *copy, const struct ashlar_world *world)
{
  ashlar_world_free(copy);
  *copy = *world;
  copy->segment_capacity = world->segment_count;
  copy->segments = ashlar_world_grown(NULL, world->segment_count, sizeof *copy->segments);
  for (size_t i = 0; i < world->segment_count; i++) {
    struct ashlar_world_segment *segment = &copy->segments[i];
    *segment = world->segments[i];
    segment->capacity = segment->count;
    segment->blocks = ashlar_world_grown(NULL, segment->count, sizeof *segment->blocks);
    memcpy(segment->blocks, world->segments[i].blocks, segment->count * sizeof *segment->blocks);
  }
}
