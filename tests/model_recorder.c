/* model_recorder.c - see model_recorder.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONF_ROOM = 256, TICK_US = 7 };

static void must(bool done)
{
  if (!done) {
    (void)fprintf(stderr, "out of memory\n");
    abort();
  }
}

/* --- events --- */

void model_recorder_stop(struct model_recorder *recorder)
{
  for (int32_t i = 0; i < MODEL_RECORDER_DEVICES; i++) {
    free(recorder->events[i]);
  }
  memset(recorder, 0, sizeof *recorder);
}

void model_recorder_note(struct model_recorder *recorder, int32_t device, enum ashlar_action action,
                         uint64_t address, uint64_t size, uint64_t stream,
                         struct ashlar_pool_id pool)
{
  const uint64_t count = recorder->count[device];
  if ((count & (count - 1)) == 0) {
    recorder->events[device] =
        realloc(recorder->events[device],
                (size_t)(count == 0 ? 1 : 2 * count) * sizeof *recorder->events[device]);
    must(recorder->events[device] != NULL);
  }
  recorder->time_us += TICK_US;
  recorder->events[device][count] = (struct model_recorded_event){
      .event = {.address = address,
                .size = size,
                .time_us = recorder->time_us,
                .action = (uint8_t)action,
                .flags = (uint8_t)((action == ASHLAR_ACTION_OOM ? ASHLAR_EVENT_HAS_DEVICE_FREE
                                                                : ASHLAR_EVENT_HAS_ADDRESS) |
                                   ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM |
                                   ASHLAR_EVENT_HAS_TIME | ASHLAR_EVENT_HAS_POOL)},
      .stream = stream,
      .pool = pool,
  };
  recorder->count[device]++;
}

static void add_events(const struct model_recorder *recorder, const struct model_plan *plan,
                       int32_t device, struct ashlar_snapshot *snapshot)
{
  const uint64_t count = recorder->count[device];
  must(ashlar_snapshot_add_trace(snapshot));
  for (uint64_t i = count > plan->entries ? count - plan->entries : 0; i < count; i++) {
    const struct model_recorded_event *recorded = &recorder->events[device][i];
    struct ashlar_event event = recorded->event;
    must(ashlar_snapshot_stream(snapshot, recorded->stream, false, &event.stream));
    must(ashlar_snapshot_pool(snapshot, recorded->pool.first, recorded->pool.second, &event.pool));
    must(ashlar_snapshot_add_event(snapshot, (uint32_t)device, &event));
  }
}

/* --- settings --- */

/* The string that sets what the plan says. */
static void set_conf(const struct model_plan *plan, struct ashlar_snapshot *snapshot)
{
  char text[CONF_ROOM];
  int length =
      snprintf(text, sizeof text, "expandable_segments:%s", plan->growable ? "True" : "False");
  if (plan->max_split_size != MODEL_UNSET) {
    length += snprintf(text + length, sizeof text - (size_t)length, ",max_split_size_mb:%llu",
                       (unsigned long long)(plan->max_split_size / MODEL_MIB));
  }
  if (plan->threshold > 0) {
    length += snprintf(text + length, sizeof text - (size_t)length,
                       ",garbage_collection_threshold:%g", plan->threshold);
  }
  if (plan->division != 0) {
    length += snprintf(text + length, sizeof text - (size_t)length,
                       ",roundup_power2_divisions:%llu", (unsigned long long)plan->division);
  }
  must(ashlar_snapshot_set_conf(snapshot, text, (uint32_t)length));
}

static void add_settings(const struct model_plan *plan, struct ashlar_snapshot *snapshot)
{
  struct ashlar_settings *settings = &snapshot->settings;
  set_conf(plan, snapshot);
  settings->is_present = true;
  settings->max_split_size =
      plan->max_split_size == MODEL_UNSET ? -1 : (int64_t)plan->max_split_size;
  settings->garbage_collection_threshold = plan->threshold;
  settings->expandable_segments = plan->growable;
  settings->pinned_num_register_threads = 1;
  for (unsigned i = 0; i < ASHLAR_DIVISION_SLOTS; i++) {
    settings->divisions[i] = plan->division;
    settings->divisions_present |= UINT32_C(1) << i;
  }
  settings->flags = ASHLAR_SETTINGS_HAS_CONF | ASHLAR_SETTINGS_HAS_MAX_SPLIT |
                    ASHLAR_SETTINGS_HAS_GC_THRESHOLD | ASHLAR_SETTINGS_HAS_EXPANDABLE |
                    ASHLAR_SETTINGS_HAS_PINNED_THREADS | ASHLAR_SETTINGS_HAS_RELEASE_LOCK |
                    ASHLAR_SETTINGS_HAS_HOST_REGISTER | ASHLAR_SETTINGS_HAS_STREAM_REUSE |
                    ASHLAR_SETTINGS_HAS_DIVISIONS;
}

void model_recorder_finish(const struct model_recorder *recorder, const struct model_plan *plan,
                           struct ashlar_snapshot *snapshot)
{
  must(ashlar_snapshot_init(snapshot));
  snapshot->format = ASHLAR_FORMAT_DICT;
  for (int32_t device = 0; device < (int32_t)plan->devices; device++) {
    add_events(recorder, plan, device, snapshot);
  }
  snapshot->has_traces = true;
  snapshot->has_history = snapshot->event_count > 0;
  snapshot->has_annotations = true;
  add_settings(plan, snapshot);
}

/* --- segments and blocks --- */

static const struct model *sorted_model; /* of by_address */

static int by_address(const void *left, const void *right)
{
  const uint64_t a = sorted_model->block[*(const int32_t *)left].address;
  const uint64_t b = sorted_model->block[*(const int32_t *)right].address;
  return (a > b) - (a < b);
}

/* The mapped blocks, by address: what a snapshot shows. */
static int32_t *sorted_blocks(const struct model *model, int32_t *count)
{
  int32_t *slots = malloc(((size_t)model->blocks + 1) * sizeof *slots);
  must(slots != NULL);
  *count = 0;
  for (int32_t i = 0; i < model->blocks; i++) {
    if (model->block[i].state != MODEL_UNUSED && model->block[i].mapped) {
      slots[*count] = i;
      (*count)++;
    }
  }
  sorted_model = model;
  qsort(slots, (size_t)*count, sizeof *slots, by_address);
  return slots;
}

static struct ashlar_block listed_block(const struct model_block *block)
{
  struct ashlar_block listed = {
      .address = block->address,
      .size = block->size,
      .requested_size = block->requested,
      .state = ASHLAR_BLOCK_INACTIVE,
      .flags = ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED,
  };
  if (block->state == MODEL_ALLOCATED) {
    listed.state = ASHLAR_BLOCK_ALLOCATED;
  } else if (block->state == MODEL_PENDING) {
    listed.state = ASHLAR_BLOCK_PENDING_FREE;
  }
  return listed;
}

/* The segment, or part of a growable one, that begins with a block. */
static struct ashlar_segment listed_segment(const struct model *model,
                                            const struct ashlar_pool_id *pools, int32_t device,
                                            int32_t slot, struct ashlar_snapshot *snapshot)
{
  const struct model_segment *from = &model->segment[model->block[slot].segment];
  struct ashlar_segment segment = {
      .address = model->block[slot].address,
      .device = device,
      .flags = ASHLAR_SEGMENT_HAS_ALL,
      .type = from->small ? ASHLAR_SEGMENT_SMALL : ASHLAR_SEGMENT_LARGE,
      .is_expandable = from->growable,
  };
  must(ashlar_snapshot_stream(snapshot, model->stream[from->stream].key, false, &segment.stream));
  must(ashlar_snapshot_pool(snapshot, pools[from->pool].first, pools[from->pool].second,
                            &segment.pool));
  return segment;
}

static void count_block(struct ashlar_segment *segment, const struct ashlar_block *block)
{
  segment->total_size += block->size;
  segment->allocated_size += block->state == ASHLAR_BLOCK_ALLOCATED ? block->size : 0;
  if (block->state != ASHLAR_BLOCK_INACTIVE) {
    segment->active_size += block->size;
    segment->requested_size += block->requested_size;
  }
}

void model_recorder_add_state(const struct model *model, const struct ashlar_pool_id *pools,
                              int32_t device, struct ashlar_snapshot *snapshot)
{
  int32_t count = 0;
  int32_t *slots = sorted_blocks(model, &count);
  int32_t end = 0;
  for (int32_t i = 0; i < count; i = end) {
    struct ashlar_segment segment = listed_segment(model, pools, device, slots[i], snapshot);
    uint64_t next = segment.address;
    for (end = i; end < count && model->block[slots[end]].address == next &&
                  model->block[slots[end]].segment == model->block[slots[i]].segment;
         end++) {
      const struct ashlar_block block = listed_block(&model->block[slots[end]]);
      count_block(&segment, &block);
      next += block.size;
    }
    must(ashlar_snapshot_add_segment(snapshot, &segment));
    for (int32_t k = i; k < end; k++) {
      const struct ashlar_block block = listed_block(&model->block[slots[k]]);
      must(ashlar_snapshot_add_block(snapshot, &block));
    }
  }
  free(slots);
}
