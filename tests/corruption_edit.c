/* corruption_edit.c - see corruption_edit.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_edit.h"

#include <stdlib.h>
#include <string.h>

#include "core/size_policy.h"

#define KEPT_APART (UINT64_C(64) << 30) /* bytes, of fresh addresses from others */
#define SEGMENT_STEP (UINT64_C(2) << 20)
#define RANGE_MOST                                                                                 \
  (UINT64_C(1) << 46) /* bytes that a growable segment may reach beyond what is mapped */

struct ashlar_owner ashlar_owner_of(const struct ashlar_world_segment *segment)
{
  return (struct ashlar_owner){segment->stream, segment->pool};
}

struct ashlar_owner ashlar_owner_of_event(const struct ashlar_event *event)
{
  return (struct ashlar_owner){event->stream, event->pool};
}

/* splitmix64 */
uint64_t ashlar_draw(struct ashlar_corruption *corruption, uint64_t end)
{
  corruption->random += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = corruption->random;
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (mixed ^ (mixed >> 31)) % end;
}

uint64_t ashlar_draw_granules(struct ashlar_corruption *corruption, uint64_t most)
{
  return (1 + ashlar_draw(corruption, most / ASHLAR_GRANULE)) * ASHLAR_GRANULE;
}

void ashlar_expect_event(struct ashlar_corruption *corruption, uint64_t event)
{
  corruption->event = event;
}

void ashlar_expect_range(struct ashlar_corruption *corruption, uint64_t low, uint64_t size)
{
  corruption->low = low;
  corruption->high = low + size;
}

/* --- places in the recording --- */

bool ashlar_seek_event(struct ashlar_corruption *corruption, ashlar_event_try try_event)
{
  struct ashlar_world *world = &corruption->world;
  const uint64_t count = corruption->start->event_count;
  if (!ashlar_has_history(corruption)) {
    return false;
  }
  const uint64_t first = ashlar_draw(corruption, count);
  for (int round = 0; round < 2; round++) {
    const uint64_t from = round == 0 ? first : 0;
    const uint64_t end = round == 0 ? count : first;
    ashlar_world_copy(world, corruption->start);
    while (world->next < end) {
      if (world->next >= from && try_event(corruption, world->next)) {
        return true;
      }
      ashlar_world_step(world);
    }
  }
  return false;
}

void ashlar_seek_end(struct ashlar_corruption *corruption)
{
  ashlar_world_copy(&corruption->world, corruption->start);
  while (corruption->world.next < corruption->world.event_count) {
    ashlar_world_step(&corruption->world);
  }
}

bool ashlar_seek_block(struct ashlar_corruption *corruption, ashlar_block_try try_block)
{
  const struct ashlar_snapshot *good = corruption->good;
  if (good->segment_count == 0) {
    return false;
  }
  const uint64_t first = ashlar_draw(corruption, good->segment_count);
  ashlar_seek_end(corruption);
  for (uint64_t i = 0; i < good->segment_count; i++) {
    const uint64_t segment = (first + i) % good->segment_count;
    const uint64_t count = good->segments[segment].block_count;
    if (good->segments[segment].device != corruption->start->device || count == 0) {
      continue;
    }
    const uint64_t from = ashlar_draw(corruption, count);
    for (uint64_t k = 0; k < count; k++) {
      if (try_block(corruption, segment, (from + k) % count)) {
        return true;
      }
    }
  }
  return false;
}

struct ashlar_world_place ashlar_pick_free(struct ashlar_corruption *corruption,
                                           ashlar_free_test test, const void *data)
{
  struct ashlar_world_place picked = {0};
  uint64_t seen = 0;
  for (size_t i = 0; i < corruption->world.segment_count; i++) {
    struct ashlar_world_segment *segment = &corruption->world.segments[i];
    for (size_t k = 0; k < segment->count; k++) {
      if (segment->blocks[k].state != ASHLAR_BLOCK_INACTIVE ||
          !ashlar_world_is_certain(segment, k) || !test(corruption, data, segment, k)) {
        continue;
      }
      seen++;
      if (ashlar_draw(corruption, seen) == 0) {
        picked = (struct ashlar_world_place){segment, k};
      }
    }
  }
  return picked;
}

/* --- about events of the good recording --- */

const struct ashlar_event *ashlar_event_of(const struct ashlar_corruption *corruption,
                                           uint64_t event)
{
  return &corruption->start->events[event];
}

uint8_t ashlar_action_of(const struct ashlar_corruption *corruption, uint64_t event)
{
  return event < corruption->start->event_count ? corruption->start->events[event].action
                                                : (uint8_t)ASHLAR_ACTION_SNAPSHOT;
}

uint64_t ashlar_event_before(const struct ashlar_corruption *corruption, uint64_t event)
{
  while (event > 0) {
    event--;
    const uint8_t action = ashlar_action_of(corruption, event);
    if (action != ASHLAR_ACTION_OTHER && action != ASHLAR_ACTION_SNAPSHOT) {
      return event;
    }
  }
  return ASHLAR_NO_EVENT;
}

bool ashlar_has_history(const struct ashlar_corruption *corruption)
{
  return corruption->start->event_count > 2;
}

bool ashlar_is_settled(const struct ashlar_corruption *corruption, uint64_t event)
{
  return event >= 2 && ashlar_action_of(corruption, event - 1) == ASHLAR_ACTION_ALLOC;
}

bool ashlar_is_quiet(const struct ashlar_corruption *corruption, uint64_t event)
{
  if (event < 2) {
    return false;
  }
  const struct ashlar_event *before = ashlar_event_of(corruption, event - 1);
  return before->action == ASHLAR_ACTION_ALLOC ||
         (before->action == ASHLAR_ACTION_FREE_COMPLETED &&
          before[-1].action == ASHLAR_ACTION_FREE_REQUESTED &&
          before[-1].address == before->address);
}

uint64_t ashlar_next_at(const struct ashlar_corruption *corruption, uint64_t event,
                        uint64_t address, uint8_t action)
{
  for (uint64_t i = event + 1; i < corruption->start->event_count; i++) {
    const struct ashlar_event *recorded = ashlar_event_of(corruption, i);
    if (recorded->address == address && recorded->action == action) {
      return i;
    }
    if (recorded->address == address && recorded->action == ASHLAR_ACTION_ALLOC) {
      break;
    }
  }
  return ASHLAR_NO_EVENT;
}

uint64_t ashlar_request_of_free(const struct ashlar_corruption *corruption, uint64_t event)
{
  const uint64_t address = ashlar_event_of(corruption, event)->address;
  for (uint64_t i = event; i > 0; i--) {
    const struct ashlar_event *recorded = ashlar_event_of(corruption, i - 1);
    if (recorded->address != address) {
      continue;
    }
    if (recorded->action == ASHLAR_ACTION_FREE_REQUESTED) {
      return i - 1;
    }
    if (recorded->action == ASHLAR_ACTION_ALLOC ||
        recorded->action == ASHLAR_ACTION_FREE_COMPLETED) {
      break;
    }
  }
  return ASHLAR_NO_EVENT;
}

bool ashlar_was_used(const struct ashlar_corruption *corruption, uint64_t event, uint64_t low,
                     uint64_t high)
{
  for (uint64_t i = 0; i < event; i++) {
    const struct ashlar_event *recorded = ashlar_event_of(corruption, i);
    if (recorded->action == ASHLAR_ACTION_ALLOC && recorded->address >= low &&
        recorded->address < high) {
      return true;
    }
  }
  return false;
}

bool ashlar_was_free(const struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  const struct ashlar_world_place place = ashlar_world_at(&corruption->world, recorded->address);
  const uint64_t size = ashlar_world_rounded(corruption->start, recorded->size);
  return (place.segment->made_at != ASHLAR_NO_EVENT && place.segment->made_at < event) ||
         ashlar_was_used(corruption, event, recorded->address, recorded->address + size);
}

bool ashlar_is_shared(const struct ashlar_corruption *corruption, uint64_t address, uint64_t size)
{
  const struct ashlar_world *start = corruption->start;
  uint64_t count = 0;
  for (size_t i = 0; i < start->segment_count; i++) {
    const struct ashlar_world_segment *segment = &start->segments[i];
    count +=
        segment->address < address + size && address < segment->address + segment->size ? 1 : 0;
  }
  for (uint64_t i = 0; i < start->event_count; i++) {
    const struct ashlar_event *event = ashlar_event_of(corruption, i);
    if (event->action == ASHLAR_ACTION_SEGMENT_ALLOC ||
        event->action == ASHLAR_ACTION_SEGMENT_MAP) {
      count += event->address < address + size && address < event->address + event->size ? 1 : 0;
    }
  }
  return count > 1;
}

bool ashlar_grows(const struct ashlar_corruption *corruption)
{
  return corruption->good->settings.expandable_segments;
}

bool ashlar_collects(const struct ashlar_corruption *corruption)
{
  return corruption->good->settings.garbage_collection_threshold > 0;
}

uint64_t ashlar_fresh_address(struct ashlar_corruption *corruption)
{
  const struct ashlar_world *start = corruption->start;
  uint64_t end = 0;
  for (size_t i = 0; i < start->segment_count; i++) {
    const struct ashlar_world_segment *segment = &start->segments[i];
    end = segment->address + segment->size > end ? segment->address + segment->size : end;
  }
  for (uint64_t i = 0; i < start->event_count; i++) {
    const struct ashlar_event *event = ashlar_event_of(corruption, i);
    if ((event->action == ASHLAR_ACTION_SEGMENT_ALLOC ||
         event->action == ASHLAR_ACTION_SEGMENT_MAP) &&
        event->address + event->size > end) {
      end = event->address + event->size;
    }
  }
  end += ashlar_grows(corruption) ? RANGE_MOST : 0;
  return end - end % SEGMENT_STEP + (1 + ashlar_draw(corruption, 8)) * KEPT_APART;
}

uint16_t ashlar_other_stream(struct ashlar_corruption *corruption, uint16_t stream)
{
  const uint32_t count = corruption->faulty.stream_count;
  uint16_t index = 0;
  if (count > 1 && ashlar_draw(corruption, 4) > 0) {
    index = (uint16_t)((stream + 1 + ashlar_draw(corruption, count - 1)) % count);
    /* A table may hold one handle twice, once as a negative number. */
    if (corruption->faulty.streams[index].handle != corruption->faulty.streams[stream].handle) {
      return index;
    }
  }
  const uint64_t handle = UINT64_C(0x7e0000000000) + 16 * ashlar_draw(corruption, 1 << 20);
  if (!ashlar_snapshot_stream(&corruption->faulty, handle, false, &index) || index == stream) {
    abort();
  }
  return index;
}

/* --- events --- */

static struct ashlar_device_trace *trace_of(struct ashlar_corruption *corruption)
{
  return &corruption->faulty.traces[corruption->start->device];
}

struct ashlar_event *ashlar_faulty_events(struct ashlar_corruption *corruption)
{
  return trace_of(corruption)->events;
}

void ashlar_insert_event(struct ashlar_corruption *corruption, uint64_t index,
                         const struct ashlar_event *event)
{
  struct ashlar_event inserted = *event;
  if (!ashlar_snapshot_add_event(&corruption->faulty, (uint32_t)corruption->start->device,
                                 &inserted)) {
    abort();
  }
  const struct ashlar_device_trace *trace = trace_of(corruption);
  memmove(&trace->events[index + 1], &trace->events[index],
          (size_t)(trace->event_count - 1 - index) * sizeof inserted);
  inserted.time_us = index > 0 ? trace->events[index - 1].time_us : trace->events[1].time_us;
  trace->events[index] = inserted;
}

void ashlar_remove_event(struct ashlar_corruption *corruption, uint64_t index)
{
  struct ashlar_device_trace *trace = trace_of(corruption);
  trace->event_count--;
  corruption->faulty.event_count--;
  memmove(&trace->events[index], &trace->events[index + 1],
          (size_t)(trace->event_count - index) * sizeof *trace->events);
}

struct ashlar_event ashlar_new_event(const struct ashlar_corruption *corruption, uint8_t action,
                                     uint64_t address, uint64_t size, struct ashlar_owner owner)
{
  struct ashlar_event event = {
      .address = address,
      .size = size,
      .stream = owner.stream,
      .pool = owner.pool,
      .action = action,
  };
  /* The keys are those that the recording writes. */
  for (uint64_t i = 0; i < corruption->start->event_count; i++) {
    if (ashlar_action_of(corruption, i) == ASHLAR_ACTION_ALLOC) {
      event.flags = ashlar_event_of(corruption, i)->flags;
      break;
    }
  }
  event.flags |= ASHLAR_EVENT_HAS_ADDRESS | ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM;
  if (action == ASHLAR_ACTION_OOM) {
    event.flags =
        (uint8_t)((event.flags & ~ASHLAR_EVENT_HAS_ADDRESS) | ASHLAR_EVENT_HAS_DEVICE_FREE);
  }
  return event;
}

/* --- listing --- */

struct ashlar_segment *ashlar_faulty_segment(struct ashlar_corruption *corruption, uint64_t segment)
{
  return &corruption->faulty.segments[segment];
}

struct ashlar_block *ashlar_faulty_block(struct ashlar_corruption *corruption, uint64_t segment,
                                         uint64_t block)
{
  return &corruption->faulty.blocks[corruption->faulty.segments[segment].first_block + block];
}

/* Sets where the blocks of the segments behind begin. */
static void number_blocks(struct ashlar_snapshot *snapshot, uint64_t segment)
{
  for (uint64_t i = segment + 1; i < snapshot->segment_count; i++) {
    snapshot->segments[i].first_block =
        snapshot->segments[i - 1].first_block + snapshot->segments[i - 1].block_count;
  }
}

void ashlar_insert_block(struct ashlar_corruption *corruption, uint64_t segment, uint64_t index,
                         const struct ashlar_block *block)
{
  struct ashlar_snapshot *faulty = &corruption->faulty;
  const struct ashlar_block inserted = *block;
  const uint64_t place = faulty->segments[segment].first_block + index;
  if (!ashlar_snapshot_add_block(faulty, &inserted)) {
    abort();
  }
  memmove(&faulty->blocks[place + 1], &faulty->blocks[place],
          (size_t)(faulty->block_count - 1 - place) * sizeof *block);
  faulty->blocks[place] = inserted;
  faulty->segments[faulty->segment_count - 1].block_count--;
  faulty->segments[segment].block_count++;
  number_blocks(faulty, segment);
}

void ashlar_remove_block(struct ashlar_corruption *corruption, uint64_t segment, uint64_t index)
{
  struct ashlar_snapshot *faulty = &corruption->faulty;
  const uint64_t place = faulty->segments[segment].first_block + index;
  faulty->block_count--;
  memmove(&faulty->blocks[place], &faulty->blocks[place + 1],
          (size_t)(faulty->block_count - place) * sizeof *faulty->blocks);
  faulty->segments[segment].block_count--;
  number_blocks(faulty, segment);
}

void ashlar_sum_up(struct ashlar_corruption *corruption, uint64_t segment, bool with_total)
{
  struct ashlar_segment *sums = ashlar_faulty_segment(corruption, segment);
  uint64_t total = 0;
  sums->allocated_size = 0;
  sums->active_size = 0;
  sums->requested_size = 0;
  for (uint64_t i = 0; i < sums->block_count; i++) {
    const struct ashlar_block *block = ashlar_faulty_block(corruption, segment, i);
    total += block->size;
    if (block->state != ASHLAR_BLOCK_INACTIVE) {
      sums->allocated_size += block->state == ASHLAR_BLOCK_ALLOCATED ? block->size : 0;
      sums->active_size += block->size;
      sums->requested_size += block->requested_size;
    }
  }
  if (with_total) {
    sums->total_size = total;
  }
}

void ashlar_list_free_segment(struct ashlar_corruption *corruption, uint64_t address, uint64_t size,
                              struct ashlar_owner owner)
{
  struct ashlar_snapshot *faulty = &corruption->faulty;
  const struct ashlar_block block = {
      .address = address,
      .size = size,
      .flags = ASHLAR_BLOCK_HAS_ADDRESS,
  };
  const struct ashlar_segment segment = {
      .address = address,
      .total_size = size,
      .device = corruption->start->device,
      .stream = owner.stream,
      .pool = owner.pool,
      .flags = ASHLAR_SEGMENT_HAS_DEVICE | ASHLAR_SEGMENT_HAS_STREAM | ASHLAR_SEGMENT_HAS_TOTAL |
               ASHLAR_SEGMENT_HAS_POOL | ASHLAR_SEGMENT_HAS_ALLOCATED | ASHLAR_SEGMENT_HAS_ACTIVE |
               ASHLAR_SEGMENT_HAS_BLOCKS,
      .type = size == ASHLAR_SMALL_SEGMENT ? ASHLAR_SEGMENT_SMALL : ASHLAR_SEGMENT_LARGE,
  };
  if (!ashlar_snapshot_add_segment(faulty, &segment) ||
      !ashlar_snapshot_add_block(faulty, &block)) {
    abort();
  }
}

void ashlar_unlist_segment(struct ashlar_corruption *corruption, uint64_t segment)
{
  struct ashlar_snapshot *faulty = &corruption->faulty;
  while (faulty->segments[segment].block_count > 0) {
    ashlar_remove_block(corruption, segment, 0);
  }
  faulty->segment_count--;
  memmove(&faulty->segments[segment], &faulty->segments[segment + 1],
          (size_t)(faulty->segment_count - segment) * sizeof *faulty->segments);
}

uint64_t ashlar_listed_at(const struct ashlar_corruption *corruption, uint64_t address)
{
  const struct ashlar_snapshot *faulty = &corruption->faulty;
  for (uint64_t i = 0; i < faulty->segment_count; i++) {
    if (faulty->segments[i].device == corruption->start->device &&
        faulty->segments[i].address == address) {
      return i;
    }
  }
  return ASHLAR_NO_EVENT;
}

void ashlar_list_as(struct ashlar_corruption *corruption,
                    const struct ashlar_world_segment *segment)
{
  const uint64_t listed = ashlar_listed_at(corruption, segment->address);
  if (listed == ASHLAR_NO_EVENT) {
    abort();
  }
  while (ashlar_faulty_segment(corruption, listed)->block_count > 0) {
    ashlar_remove_block(corruption, listed, 0);
  }
  for (size_t i = 0; i < segment->count; i++) {
    const struct ashlar_world_block *block = &segment->blocks[i];
    const struct ashlar_block as_listed = {
        .address = block->address,
        .size = block->size,
        .requested_size = block->state == ASHLAR_BLOCK_INACTIVE ? 0 : block->requested,
        .state = block->state,
        .flags = ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED,
    };
    ashlar_insert_block(corruption, listed, i, &as_listed);
  }
  ashlar_sum_up(corruption, listed, true);
}
