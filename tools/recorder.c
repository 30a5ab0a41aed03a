/* recorder.c - see recorder.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/block_manager.h"
#include "tools/history_live.h"

enum { FIRST_CAPACITY = 1024, MIB_SHIFT = 20, CONF_TEXT = 64 };

/* --- events --- */

void ashlar_recorder_start(struct ashlar_recorder *recorder, uint64_t max_entries)
{
  *recorder = (struct ashlar_recorder){.max_entries = max_entries == 0 ? 1 : max_entries};
}

void ashlar_recorder_free(struct ashlar_recorder *recorder)
{
  for (int i = 0; i < ASHLAR_REQUESTS_DEVICES; i++) {
    free(recorder->rings[i].events);
  }
  *recorder = (struct ashlar_recorder){0};
}

static bool grow(struct ashlar_recorder_ring *ring, uint64_t most)
{
  uint64_t capacity = ring->capacity == 0 ? FIRST_CAPACITY : ring->capacity * 2;
  if (capacity > most) {
    capacity = most;
  }
  if (capacity > SIZE_MAX / sizeof *ring->events) {
    return false;
  }
  struct ashlar_event *grown = realloc(ring->events, (size_t)capacity * sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  ring->events = grown;
  ring->capacity = capacity;
  return true;
}

void ashlar_recorder_note(struct ashlar_recorder *recorder, uint8_t device,
                          const struct ashlar_event *event)
{
  if (recorder->max_entries == 0 || recorder->is_out_of_memory) {
    return;
  }
  struct ashlar_recorder_ring *ring = &recorder->rings[device];
  if (ring->count == recorder->max_entries) {
    ring->events[ring->next] = *event;
    ring->next = ring->next + 1 == ring->count ? 0 : ring->next + 1;
    return;
  }
  if (ring->count == ring->capacity && !grow(ring, recorder->max_entries)) {
    recorder->is_out_of_memory = true;
    return;
  }
  ring->events[ring->count] = *event;
  ring->count++;
}

static bool add_trace(const struct ashlar_recorder_ring *ring, struct ashlar_snapshot *snapshot)
{
  if (!ashlar_snapshot_add_trace(snapshot)) {
    return false;
  }
  for (uint64_t i = 0; i < ring->count; i++) {
    const uint64_t behind = ring->next + i;
    const uint64_t at = behind >= ring->count ? behind - ring->count : behind;
    if (!ashlar_snapshot_add_event(snapshot, snapshot->trace_count - 1, &ring->events[at])) {
      return false;
    }
  }
  return true;
}

/* --- settings --- */

/* The settings string: the recording's where nothing was changed, else what says the same. */
static bool set_conf(const struct ashlar_requests *requests, const struct ashlar_config *config,
                     struct ashlar_snapshot *snapshot)
{
  const struct ashlar_text *recorded =
      requests->snapshot == NULL ? NULL : &requests->snapshot->settings.conf;
  if (recorded != NULL && recorded->bytes != NULL &&
      requests->config.max_split_size == config->max_split_size) {
    return ashlar_snapshot_set_conf(snapshot, recorded->bytes, recorded->length);
  }
  char text[CONF_TEXT] = "";
  if (config->max_split_size != UINT64_MAX && config->max_split_size % (1U << MIB_SHIFT) == 0) {
    (void)snprintf(text, sizeof text, "max_split_size_mb:%llu",
                   (unsigned long long)(config->max_split_size >> MIB_SHIFT));
  }
  return ashlar_snapshot_set_conf(snapshot, text, (uint32_t)strlen(text));
}

static bool add_settings(const struct ashlar_requests *requests, const struct ashlar_config *config,
                         struct ashlar_snapshot *snapshot)
{
  struct ashlar_settings *settings = &snapshot->settings;
  if (!set_conf(requests, config, snapshot)) {
    return false;
  }
  settings->is_present = true;
  settings->max_split_size =
      config->max_split_size <= INT64_MAX ? (int64_t)config->max_split_size : -1;
  settings->expandable_segments = config->growable != 0;
  settings->garbage_collection_threshold = 0;
  settings->pinned_num_register_threads = 1;
  for (unsigned i = 0; i < ASHLAR_DIVISION_SLOTS; i++) {
    settings->divisions[i] = config->divisions[i];
    settings->divisions_present |= 1U << i;
  }
  settings->flags = ASHLAR_SETTINGS_HAS_CONF | ASHLAR_SETTINGS_HAS_MAX_SPLIT |
                    ASHLAR_SETTINGS_HAS_GC_THRESHOLD | ASHLAR_SETTINGS_HAS_EXPANDABLE |
                    ASHLAR_SETTINGS_HAS_PINNED_THREADS | ASHLAR_SETTINGS_HAS_RELEASE_LOCK |
                    ASHLAR_SETTINGS_HAS_HOST_REGISTER | ASHLAR_SETTINGS_HAS_STREAM_REUSE |
                    ASHLAR_SETTINGS_HAS_DIVISIONS;
  return true;
}

bool ashlar_recorder_finish(const struct ashlar_recorder *recorder,
                            const struct ashlar_requests *requests,
                            const struct ashlar_config *config, struct ashlar_snapshot *snapshot)
{
  if (!ashlar_snapshot_init(snapshot) || recorder->is_out_of_memory) {
    return false;
  }
  snapshot->format = ASHLAR_FORMAT_DICT;
  for (uint32_t i = 0; i < requests->stream_count; i++) {
    uint16_t index = 0;
    if (!ashlar_snapshot_stream(snapshot, requests->streams[i].handle,
                                requests->streams[i].is_negative, &index)) {
      return false;
    }
  }
  for (uint32_t i = 0; requests->snapshot != NULL && i < requests->snapshot->pool_count; i++) {
    uint16_t index = 0;
    const struct ashlar_pool_id *id = &requests->snapshot->pools[i];
    if (!ashlar_snapshot_pool(snapshot, id->first, id->second, &index)) {
      return false;
    }
  }
  for (uint32_t i = 0; i == 0 || i < requests->device_count; i++) {
    if (!add_trace(&recorder->rings[i], snapshot)) {
      return false;
    }
  }
  snapshot->has_traces = true;
  snapshot->has_history = snapshot->event_count > 0;
  snapshot->has_annotations = true;
  return add_settings(requests, config, snapshot);
}

/* --- segments and blocks --- */

struct head {
  uint64_t address;
  int32_t slot;
};

static int by_address(const void *left, const void *right)
{
  const struct head *a = left;
  const struct head *b = right;
  return (a->address > b->address) - (a->address < b->address);
}

/* Whether a segment is listed from here on: each part of a growable one that is mapped is a segment of its own. */
static bool is_head(const struct ashlar_manager *manager, const struct ashlar_block_view *view)
{
  return view->state != ASHLAR_UNUSED && view->state != ASHLAR_UNMAPPED &&
         (view->prev == -1 || ashlar_block(manager, view->prev).state == ASHLAR_UNMAPPED);
}

/* The block behind one in its segment as listed, -1: none. */
static int32_t block_behind(const struct ashlar_manager *manager,
                            const struct ashlar_block_view *view)
{
  return view->next != -1 && ashlar_block(manager, view->next).state == ASHLAR_UNMAPPED
             ? -1
             : view->next;
}

/* The first block of every segment, by address; the caller's to free(). */
static struct head *sorted_heads(const struct ashlar_manager *manager, size_t *count)
{
  const int32_t limit = ashlar_slot_limit(manager);
  size_t number = 0;
  for (int32_t slot = 0; slot < limit; slot++) {
    const struct ashlar_block_view view = ashlar_block(manager, slot);
    number += is_head(manager, &view) ? 1 : 0;
  }
  *count = number;
  struct head *heads = calloc(number + 1, sizeof *heads);
  if (heads == NULL) {
    return NULL;
  }
  number = 0;
  for (int32_t slot = 0; slot < limit; slot++) {
    const struct ashlar_block_view view = ashlar_block(manager, slot);
    if (is_head(manager, &view)) {
      heads[number] = (struct head){view.address, slot};
      number++;
    }
  }
  qsort(heads, number, sizeof *heads, by_address);
  return heads;
}

static struct ashlar_block block_of(const struct ashlar_recorder_state *state, int32_t slot,
                                    const struct ashlar_block_view *view)
{
  struct ashlar_block block = {
      .address = view->address,
      .size = view->size,
      .requested_size = view->requested,
      .state = ASHLAR_BLOCK_INACTIVE,
      .flags = ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED,
  };
  if (view->state == ASHLAR_ALLOCATED) {
    const bool is_pending = state->pending != NULL && state->pending[slot] != 0;
    block.state = is_pending ? ASHLAR_BLOCK_PENDING_FREE : ASHLAR_BLOCK_ALLOCATED;
  }
  return block;
}

static void count_block(struct ashlar_segment *segment, const struct ashlar_block *block)
{
  segment->total_size += block->size;
  if (block->state == ASHLAR_BLOCK_ALLOCATED) {
    segment->allocated_size += block->size;
  }
  if (block->state != ASHLAR_BLOCK_INACTIVE) {
    segment->active_size += block->size;
    segment->requested_size += block->requested_size;
  }
}

static bool add_segment(const struct ashlar_recorder_state *state, int32_t head,
                        struct ashlar_snapshot *snapshot)
{
  const struct ashlar_block_view first = ashlar_block(state->manager, head);
  struct ashlar_segment segment = {
      .address = first.address,
      .device = state->device,
      .stream = state->streams[first.stream],
      .pool = state->pools[first.pool],
      .flags = ASHLAR_SEGMENT_HAS_DEVICE | ASHLAR_SEGMENT_HAS_STREAM | ASHLAR_SEGMENT_HAS_POOL |
               ASHLAR_SEGMENT_HAS_EXPANDABLE | ASHLAR_SEGMENT_HAS_TOTAL |
               ASHLAR_SEGMENT_HAS_ALLOCATED | ASHLAR_SEGMENT_HAS_ACTIVE |
               ASHLAR_SEGMENT_HAS_REQUESTED | ASHLAR_SEGMENT_HAS_BLOCKS,
      .is_expandable = first.growable != 0,
      .type = first.class == ASHLAR_CLASS_SMALL ? ASHLAR_SEGMENT_SMALL : ASHLAR_SEGMENT_LARGE,
  };
  for (int32_t slot = head; slot != -1;) {
    const struct ashlar_block_view view = ashlar_block(state->manager, slot);
    const struct ashlar_block block = block_of(state, slot, &view);
    count_block(&segment, &block);
    slot = block_behind(state->manager, &view);
  }
  if (!ashlar_snapshot_add_segment(snapshot, &segment)) {
    return false;
  }
  for (int32_t slot = head; slot != -1;) {
    const struct ashlar_block_view view = ashlar_block(state->manager, slot);
    const struct ashlar_block block = block_of(state, slot, &view);
    if (!ashlar_snapshot_add_block(snapshot, &block)) {
      return false;
    }
    slot = block_behind(state->manager, &view);
  }
  return true;
}

bool ashlar_recorder_add_state(const struct ashlar_recorder_state *state,
                               struct ashlar_snapshot *snapshot)
{
  size_t count = 0;
  struct head *heads = sorted_heads(state->manager, &count);
  bool is_done = heads != NULL;
  for (size_t i = 0; is_done && i < count; i++) {
    is_done = add_segment(state, heads[i].slot, snapshot);
  }
  free(heads);
  return is_done;
}

/* --- stale sizes --- */

/* Whether the segment was there before the recording began. */
static bool is_seeded(const struct ashlar_requests *requests, const struct ashlar_segment *segment)
{
  size_t low = 0;
  size_t high = requests->segment_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const struct ashlar_seed_segment *seed = &requests->segments[middle];
    if (seed->device < segment->device ||
        (seed->device == segment->device && seed->address < segment->address)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < requests->segment_count && requests->segments[low].device == segment->device &&
         requests->segments[low].address == segment->address;
}

static bool list_free_blocks(const struct ashlar_snapshot *recorded, int32_t device,
                             struct ashlar_live_table *table)
{
  for (uint64_t i = 0; i < recorded->segment_count; i++) {
    const struct ashlar_segment *segment = &recorded->segments[i];
    for (uint64_t k = 0; segment->device == device && k < segment->block_count; k++) {
      const struct ashlar_block *block = &recorded->blocks[segment->first_block + k];
      if (block->state != ASHLAR_BLOCK_INACTIVE) {
        continue;
      }
      struct ashlar_live *entry = ashlar_live_add(table, block->address);
      if (entry == NULL) {
        return false;
      }
      entry->size = block->size;
      entry->requested = block->requested_size;
    }
  }
  return true;
}

static uint64_t adopt_in_segment(struct ashlar_snapshot *snapshot,
                                 const struct ashlar_segment *segment,
                                 const struct ashlar_live_table *table)
{
  uint64_t adopted = 0;
  for (uint64_t i = 0; i < segment->block_count; i++) {
    struct ashlar_block *block = &snapshot->blocks[segment->first_block + i];
    if (block->state != ASHLAR_BLOCK_INACTIVE || block->requested_size != 0) {
      continue;
    }
    const struct ashlar_live *entry = ashlar_live_find(table, block->address);
    if (entry != NULL && entry->size == block->size && entry->requested != 0) {
      block->requested_size = entry->requested;
      adopted++;
    }
  }
  return adopted;
}

bool ashlar_recorder_adopt_requested(const struct ashlar_requests *requests,
                                     struct ashlar_snapshot *snapshot, uint64_t *adopted)
{
  struct ashlar_live_table table = {0};
  bool is_done = true;
  int32_t device = -1;
  *adopted = 0;
  for (uint64_t i = 0; is_done && i < snapshot->segment_count; i++) {
    const struct ashlar_segment *segment = &snapshot->segments[i];
    if (segment->device != device) {
      device = segment->device;
      ashlar_live_free(&table);
      is_done = list_free_blocks(requests->snapshot, device, &table);
    }
    if (is_done && is_seeded(requests, segment)) {
      *adopted += adopt_in_segment(snapshot, segment, &table);
    }
  }
  ashlar_live_free(&table);
  return is_done;
}
