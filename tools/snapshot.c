/* A PyTorch memory snapshot in memory: building and releasing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "tools/id_table.h"

enum { FIRST_CAPACITY = 16 };

static const char *const ACTION_NAMES[ASHLAR_ACTION_COUNT] = {
    [ASHLAR_ACTION_OTHER] = "other",
    [ASHLAR_ACTION_ALLOC] = "alloc",
    [ASHLAR_ACTION_FREE_REQUESTED] = "free_requested",
    [ASHLAR_ACTION_FREE_COMPLETED] = "free_completed",
    [ASHLAR_ACTION_SEGMENT_ALLOC] = "segment_alloc",
    [ASHLAR_ACTION_SEGMENT_FREE] = "segment_free",
    [ASHLAR_ACTION_SEGMENT_MAP] = "segment_map",
    [ASHLAR_ACTION_SEGMENT_UNMAP] = "segment_unmap",
    [ASHLAR_ACTION_OOM] = "oom",
    [ASHLAR_ACTION_SNAPSHOT] = "snapshot",
};

const char *ashlar_action_name(unsigned action)
{
  return action < ASHLAR_ACTION_COUNT ? ACTION_NAMES[action] : ACTION_NAMES[ASHLAR_ACTION_OTHER];
}

/* Makes room for one element more than `count` and returns the array, moved if need be; NULL, with
 * the old array still good, when memory is short. Doubles: realloc of a large block moves pages
 * instead of bytes (mremap), and pages not yet written take no memory, so the peak is the data. */
static void *grow(void *array, uint64_t *capacity, uint64_t count, size_t element)
{
  uint64_t wanted = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity * 2;
  void *grown;

  if (count < *capacity) {
    return array;
  }
  if (wanted > SIZE_MAX / element) {
    return NULL;
  }
  grown = realloc(array, (size_t)wanted * element);
  if (grown != NULL) {
    *capacity = wanted;
  }
  return grown;
}

/* The same for the small tables that have a 32-bit count. */
static void *grow_table(void *array, uint32_t *capacity, uint32_t count, size_t element)
{
  uint64_t wide = *capacity;
  void *grown = grow(array, &wide, count, element);

  *capacity = (uint32_t)wide;
  return grown;
}

bool ashlar_snapshot_init(struct ashlar_snapshot *snapshot)
{
  uint16_t index = 0;

  *snapshot = (struct ashlar_snapshot){0};
  snapshot->stream_ids = ashlar_id_table_new();
  snapshot->pool_ids = ashlar_id_table_new();
  if (snapshot->stream_ids == NULL || snapshot->pool_ids == NULL ||
      !ashlar_snapshot_stream(snapshot, 0, false, &index) ||
      !ashlar_snapshot_pool(snapshot, 0, 0, &index) ||
      !ashlar_snapshot_name(snapshot, "", 0, &index)) {
    ashlar_snapshot_free(snapshot);
    return false;
  }
  return true;
}

void ashlar_snapshot_free(struct ashlar_snapshot *snapshot)
{
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    free(snapshot->traces[i].events);
  }
  for (uint32_t i = 0; i < snapshot->name_count; i++) {
    free(snapshot->names[i].bytes);
  }
  free(snapshot->segments);
  free(snapshot->blocks);
  free(snapshot->traces);
  free(snapshot->streams);
  free(snapshot->pools);
  free(snapshot->names);
  free(snapshot->settings.conf.bytes);
  ashlar_id_table_free(snapshot->stream_ids);
  ashlar_id_table_free(snapshot->pool_ids);
  *snapshot = (struct ashlar_snapshot){0};
}

bool ashlar_snapshot_add_segment(struct ashlar_snapshot *snapshot,
                                 const struct ashlar_segment *segment)
{
  struct ashlar_segment *segments = grow(snapshot->segments, &snapshot->segment_capacity,
                                         snapshot->segment_count, sizeof *segments);

  if (segments == NULL) {
    return false;
  }
  snapshot->segments = segments;
  segments[snapshot->segment_count] = *segment;
  segments[snapshot->segment_count].first_block = snapshot->block_count;
  segments[snapshot->segment_count].block_count = 0;
  snapshot->segment_count++;
  return true;
}

bool ashlar_snapshot_add_block(struct ashlar_snapshot *snapshot, const struct ashlar_block *block)
{
  struct ashlar_block *blocks =
      grow(snapshot->blocks, &snapshot->block_capacity, snapshot->block_count, sizeof *blocks);

  if (blocks == NULL) {
    return false;
  }
  snapshot->blocks = blocks;
  blocks[snapshot->block_count] = *block;
  snapshot->block_count++;
  snapshot->segments[snapshot->segment_count - 1].block_count++;
  return true;
}

bool ashlar_snapshot_add_trace(struct ashlar_snapshot *snapshot)
{
  struct ashlar_device_trace *traces;

  if (snapshot->trace_count == ASHLAR_SNAPSHOT_MAX_TRACES) {
    return false;
  }
  traces = grow(snapshot->traces, &snapshot->trace_capacity, snapshot->trace_count, sizeof *traces);
  if (traces == NULL) {
    return false;
  }
  snapshot->traces = traces;
  traces[snapshot->trace_count] = (struct ashlar_device_trace){0};
  snapshot->trace_count++;
  snapshot->has_traces = true;
  return true;
}

bool ashlar_snapshot_add_event(struct ashlar_snapshot *snapshot, uint32_t trace,
                               const struct ashlar_event *event)
{
  struct ashlar_device_trace *list = &snapshot->traces[trace];
  struct ashlar_event *events =
      grow(list->events, &list->event_capacity, list->event_count, sizeof *events);

  if (events == NULL) {
    return false;
  }
  list->events = events;
  events[list->event_count] = *event;
  list->event_count++;
  snapshot->event_count++;
  snapshot->has_history = true;
  return true;
}

bool ashlar_snapshot_stream(struct ashlar_snapshot *snapshot, uint64_t handle, bool is_negative,
                            uint16_t *index)
{
  bool is_new = false;
  struct ashlar_stream *streams;

  if (handle == 0 && !is_negative && snapshot->stream_count > 0) {
    *index = 0; /* nearly always */
    return true;
  }
  /* Room first, so that a failure leaves the table of ids and the array alike. */
  streams = grow_table(snapshot->streams, &snapshot->stream_capacity, snapshot->stream_count,
                       sizeof *streams);
  if (streams == NULL) {
    return false;
  }
  snapshot->streams = streams;
  if (!ashlar_id_table_find(snapshot->stream_ids, is_negative ? 1 : 0, handle, index, &is_new)) {
    return false;
  }
  if (is_new) {
    streams[*index] = (struct ashlar_stream){handle, is_negative};
    snapshot->stream_count++;
  }
  return true;
}

bool ashlar_snapshot_pool(struct ashlar_snapshot *snapshot, uint64_t first, uint64_t second,
                          uint16_t *index)
{
  bool is_new = false;
  struct ashlar_pool_id *pools;

  if (first == 0 && second == 0 && snapshot->pool_count > 0) {
    *index = 0;
    return true;
  }
  pools =
      grow_table(snapshot->pools, &snapshot->pool_capacity, snapshot->pool_count, sizeof *pools);
  if (pools == NULL) {
    return false;
  }
  snapshot->pools = pools;
  if (!ashlar_id_table_find(snapshot->pool_ids, first, second, index, &is_new)) {
    return false;
  }
  if (is_new) {
    pools[*index] = (struct ashlar_pool_id){first, second};
    snapshot->pool_count++;
  }
  return true;
}

/* A copy of `length` bytes with a NUL after them; bytes NULL when memory is short. */
static struct ashlar_text copy_text(const char *text, uint32_t length)
{
  struct ashlar_text copy = {malloc((size_t)length + 1), length};

  if (copy.bytes != NULL) {
    if (length > 0) {
      memcpy(copy.bytes, text, length);
    }
    copy.bytes[length] = '\0';
  }
  return copy;
}

bool ashlar_snapshot_name(struct ashlar_snapshot *snapshot, const char *text, uint32_t length,
                          uint16_t *index)
{
  struct ashlar_text *names;

  for (uint32_t i = 0; i < snapshot->name_count; i++) {
    if (snapshot->names[i].length == length &&
        (length == 0 || memcmp(snapshot->names[i].bytes, text, length) == 0)) {
      *index = (uint16_t)i;
      return true;
    }
  }
  if (snapshot->name_count == ASHLAR_SNAPSHOT_MAX_NAMES ||
      length > ASHLAR_SNAPSHOT_MAX_NAME_BYTES) {
    return false;
  }
  names =
      grow_table(snapshot->names, &snapshot->name_capacity, snapshot->name_count, sizeof *names);
  if (names == NULL) {
    return false;
  }
  snapshot->names = names;
  names[snapshot->name_count] = copy_text(text, length);
  if (names[snapshot->name_count].bytes == NULL) {
    return false;
  }
  *index = (uint16_t)snapshot->name_count;
  snapshot->name_count++;
  return true;
}

bool ashlar_snapshot_set_conf(struct ashlar_snapshot *snapshot, const char *text, uint32_t length)
{
  struct ashlar_text copy;

  if (length > ASHLAR_SNAPSHOT_MAX_CONF_BYTES) {
    return false;
  }
  copy = copy_text(text, length);
  if (copy.bytes == NULL) {
    return false;
  }
  free(snapshot->settings.conf.bytes);
  snapshot->settings.conf = copy;
  snapshot->settings.flags = (uint16_t)(snapshot->settings.flags | ASHLAR_SETTINGS_HAS_CONF);
  snapshot->settings.is_present = true;
  return true;
}
