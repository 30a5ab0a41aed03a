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

int32_t ashlar_world_class(uint64_t size)
{
  return size <= ASHLAR_SMALL_SEGMENT ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
}

bool ashlar_world_splits(const struct ashlar_world *world,
                         const struct ashlar_world_segment *segment, uint64_t room,
                         uint64_t rounded)
{
  if (segment->is_growable) {
    return room > rounded;
  }
  return world->splits[segment->pool] &&
         ashlar_should_split(segment->class, room, rounded, world->config.max_split_size) != 0;
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

/* Adds a segment that is one free block. */
static void add_segment(struct ashlar_world *world, const struct ashlar_event *event,
                        uint64_t made_at, int32_t class, bool is_growable)
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
      .pool = event->pool,
      .class = class,
      .is_growable = is_growable,
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
  const bool is_split = ashlar_world_splits(world, segment, room, want);
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

/* Joins a free block with the free ones beside it. */
static void coalesce(struct ashlar_world_segment *segment, size_t index)
{
  if (index + 1 < segment->count && segment->blocks[index + 1].state == ASHLAR_BLOCK_INACTIVE) {
    segment->blocks[index].size += segment->blocks[index + 1].size;
    remove_block(segment, index + 1);
  }
  if (index > 0 && segment->blocks[index - 1].state == ASHLAR_BLOCK_INACTIVE) {
    segment->blocks[index - 1].size += segment->blocks[index].size;
    remove_block(segment, index);
  }
}

static void release(struct ashlar_world *world, const struct ashlar_event *event)
{
  const struct ashlar_world_place place = live_at(world, event);
  if (place.segment == NULL) {
    return;
  }
  struct ashlar_world_block *block = &place.segment->blocks[place.index];
  block->state = ASHLAR_BLOCK_INACTIVE;
  block->is_vague = false;
  block->made_at = ASHLAR_NO_EVENT;
  coalesce(place.segment, place.index);
}

/* --- growable segments --- */

static bool go_together(const struct ashlar_world_segment *one,
                        const struct ashlar_world_segment *other)
{
  return one->is_growable && other->is_growable && one->stream == other->stream &&
         one->pool == other->pool && one->class == other->class;
}

/* Makes one part of two that touch. */
static void join_parts(struct ashlar_world *world, struct ashlar_world_segment *front)
{
  struct ashlar_world_segment *rest = front + 1;
  const size_t border = front->count;
  if (rest == world->segments + world->segment_count || !go_together(front, rest) ||
      front->address + front->size != rest->address) {
    return;
  }
  for (size_t i = 0; i < rest->count; i++) {
    insert_block(front, front->count, &rest->blocks[i]);
  }
  if (front->blocks[border - 1].state == ASHLAR_BLOCK_INACTIVE &&
      front->blocks[border].state == ASHLAR_BLOCK_INACTIVE) {
    front->blocks[border - 1].size += front->blocks[border].size;
    remove_block(front, border);
  }
  front->size += rest->size;
  front->made_at = rest->made_at == ASHLAR_NO_EVENT ? ASHLAR_NO_EVENT : front->made_at;
  free(rest->blocks);
  world->segment_count--;
  memmove(rest, rest + 1, (world->segment_count - (size_t)(rest - world->segments)) * sizeof *rest);
}

static void map(struct ashlar_world *world, const struct ashlar_event *event, uint64_t made_at,
                int32_t class)
{
  add_segment(world, event, made_at, class, true);
  const size_t index = segments_up_to(world, event->address) - 1;
  join_parts(world, &world->segments[index]);
  if (index > 0) {
    join_parts(world, &world->segments[index - 1]);
  }
}

/* Adds what is left of a part before, or behind, a range that is cut out of one of its blocks. */
static void add_rest(struct ashlar_world *world, const struct ashlar_world_segment *whole,
                     size_t index, const struct ashlar_event *cut_out, bool before)
{
  const struct ashlar_world_block cut = whole->blocks[index];
  const uint64_t end = cut_out->address + cut_out->size;
  const struct ashlar_event part = {
      .address = before ? whole->address : end,
      .size = before ? cut_out->address - whole->address : whole->address + whole->size - end,
      .stream = whole->stream,
      .pool = whole->pool,
  };
  if (part.size == 0) {
    return;
  }
  add_segment(world, &part, whole->made_at, whole->class, true);
  struct ashlar_world_segment *added = ashlar_world_at(world, part.address).segment;
  if (added == NULL) {
    broken(world, "what is left of a part is nowhere", cut_out);
    return;
  }
  added->count = 0;
  for (size_t i = before ? 0 : index; i < (before ? index + 1 : whole->count); i++) {
    struct ashlar_world_block block = whole->blocks[i];
    if (i == index) {
      block.address = before ? cut.address : end;
      block.size = before ? cut_out->address - cut.address : cut.address + cut.size - end;
    }
    if (block.size > 0) {
      insert_block(added, added->count, &block);
    }
  }
}

/* Cuts a free range out of the part that has it. */
static void unmap(struct ashlar_world *world, const struct ashlar_event *event)
{
  const struct ashlar_world_place place = ashlar_world_at(world, event->address);
  const uint64_t end = event->address + event->size;
  if (place.segment == NULL || !place.segment->is_growable ||
      place.segment->blocks[place.index].state != ASHLAR_BLOCK_INACTIVE ||
      end > place.segment->blocks[place.index].address + place.segment->blocks[place.index].size) {
    broken(world, "what is unmapped is not free", event);
    return;
  }
  struct ashlar_world_segment whole = *place.segment;
  const size_t at = (size_t)(place.segment - world->segments);
  world->segment_count--;
  memmove(&world->segments[at], &world->segments[at + 1],
          (world->segment_count - at) * sizeof whole);
  add_rest(world, &whole, place.index, event, true);
  add_rest(world, &whole, place.index, event, false);
  free(whole.blocks);
}

/* Class of the request that memory was mapped for: the next one. */
static int32_t class_behind(const struct ashlar_world *world, uint64_t event)
{
  while (event < world->event_count && world->events[event].action != ASHLAR_ACTION_ALLOC &&
         world->events[event].action != ASHLAR_ACTION_OOM) {
    event++;
  }
  return event == world->event_count
             ? ASHLAR_CLASS_LARGE
             : ashlar_pool_class(ashlar_world_rounded(world, world->events[event].size));
}

/* Class of what an unmap took away: by the map, or by blocks that were there. */
static int32_t class_before(const struct ashlar_world *world, uint64_t event)
{
  const struct ashlar_event *gone = &world->events[event];
  for (uint64_t i = event; i > 0; i--) {
    const struct ashlar_event *recorded = &world->events[i - 1];
    if (recorded->action == ASHLAR_ACTION_SEGMENT_MAP &&
        gone->address - recorded->address < recorded->size) {
      return class_behind(world, i - 1);
    }
    if ((recorded->action == ASHLAR_ACTION_ALLOC ||
         recorded->action == ASHLAR_ACTION_FREE_COMPLETED) &&
        recorded->address - gone->address < gone->size) {
      return ashlar_pool_class(ashlar_world_rounded(world, recorded->size));
    }
  }
  return gone->size % world->config.large_segment_size == 0 ? ASHLAR_CLASS_LARGE
                                                            : ASHLAR_CLASS_SMALL;
}

/* --- events --- */

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
    add_segment(world, event, index, ashlar_world_class(event->size), false);
    break;
  case ASHLAR_ACTION_SEGMENT_FREE:
    remove_segment(world, event);
    break;
  case ASHLAR_ACTION_SEGMENT_MAP:
    map(world, event, index, class_behind(world, index));
    break;
  case ASHLAR_ACTION_SEGMENT_UNMAP:
    unmap(world, event);
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

enum ashlar_world_choice ashlar_world_choose(const struct ashlar_world *world,
                                             const struct ashlar_event *request, uint64_t *address)
{
  const uint64_t rounded = ashlar_world_rounded(world, request->size);
  uint64_t best = UINT64_MAX;
  uint64_t least_vague = UINT64_MAX; /* size that a block of unknown size may have */
  bool is_tie = false;
  for (size_t i = 0; i < world->segment_count; i++) {
    const struct ashlar_world_segment *segment = &world->segments[i];
    if (segment->is_growable) {
      return ASHLAR_WORLD_UNSURE;
    }
    if (segment->stream != request->stream || segment->pool != request->pool ||
        segment->class != ashlar_pool_class(rounded)) {
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
  for (unsigned i = 0; i < ASHLAR_DIVISIONS; i++) {
    config.divisions[i] = (uint32_t)snapshot->settings.divisions[i];
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
    const struct ashlar_event as_event = {.address = listed->address,
                                          .size = listed->total_size,
                                          .stream = listed->stream,
                                          .pool = listed->pool};
    if (listed->is_expandable) {
      map(world, &as_event, ASHLAR_NO_EVENT,
          listed->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE);
    } else {
      add_segment(world, &as_event, ASHLAR_NO_EVENT, ashlar_world_class(listed->total_size), false);
    }
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
    add_segment(world, event, ASHLAR_NO_EVENT, ashlar_world_class(event->size), false);
    break;
  case ASHLAR_ACTION_SEGMENT_MAP:
    unmap(world, event);
    break;
  case ASHLAR_ACTION_SEGMENT_UNMAP:
    map(world, event, ASHLAR_NO_EVENT, class_before(world, world->next - 1));
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
  if (entry->size == 0 && !segment->is_growable && !world->splits[segment->pool]) {
    block.size = room;
  }
  block.is_vague = entry->size == 0 && !segment->is_growable &&
                   segment->class == ASHLAR_CLASS_LARGE && block.size < room;
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

static int by_number(const void *left, const void *right)
{
  const uint64_t a = *(const uint64_t *)left;
  const uint64_t b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* A private pool in which no block is ever anywhere but at the start of a segment may have been told not to split. */
static void find_splits(struct ashlar_world *world)
{
  const struct ashlar_snapshot *snapshot = world->snapshot;
  uint64_t *starts = ashlar_world_grown(
      NULL, (size_t)(snapshot->segment_count + world->event_count), sizeof *starts);
  size_t count = 0;
  world->splits = ashlar_world_grown(NULL, snapshot->pool_count, sizeof *world->splits);
  memset(world->splits, 0, (size_t)snapshot->pool_count + 1);
  world->splits[0] = true;
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    starts[count++] = snapshot->segments[i].address;
    if (snapshot->segments[i].device == world->device && snapshot->segments[i].block_count > 1) {
      world->splits[snapshot->segments[i].pool] = true;
    }
  }
  for (uint64_t i = 0; i < world->event_count; i++) {
    const uint8_t action = world->events[i].action;
    if (action == ASHLAR_ACTION_SEGMENT_ALLOC || action == ASHLAR_ACTION_SEGMENT_FREE) {
      starts[count++] = world->events[i].address;
    }
  }
  qsort(starts, count, sizeof *starts, by_number);
  for (uint64_t i = 0; i < world->event_count; i++) {
    const struct ashlar_event *event = &world->events[i];
    if ((event->action == ASHLAR_ACTION_ALLOC || event->action == ASHLAR_ACTION_FREE_COMPLETED) &&
        bsearch(&event->address, starts, count, sizeof *starts, by_number) == NULL) {
      world->splits[event->pool] = true;
    }
  }
  free(starts);
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
  find_splits(world);
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
  free(world->splits);
  *world = (struct ashlar_world){0};
}

void ashlar_world_copy(struct ashlar_world *copy, const struct ashlar_world *world)
{
  ashlar_world_free(copy);
  *copy = *world;
  copy->splits = ashlar_world_grown(NULL, world->snapshot->pool_count, sizeof *copy->splits);
  memcpy(copy->splits, world->splits, world->snapshot->pool_count * sizeof *copy->splits);
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
