/* requests.c - see requests.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* fileno, S_ISREG */
#include "tools/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/block_manager.h"
#include "tools/id_table.h"
#include "tools/snapshot.h"
#include "tools/snapshot_reader.h"

enum { FIRST_CAPACITY = 64, READ_STEP = 1 << 20 };

static const char TRACE_WORD[] = "ashlar-trace";

/* --- growing --- */

/* Makes room for one more element of `size` bytes; *array and *capacity are kept on failure. */
static bool grow(void **array, size_t *capacity, size_t count, size_t size)
{
  if (count < *capacity) {
    return true;
  }
  if (*capacity > SIZE_MAX / 2 / size) {
    return false;
  }
  const size_t larger = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
  void *grown = realloc(*array, larger * size);
  if (grown == NULL) {
    return false;
  }
  *array = grown;
  *capacity = larger;
  return true;
}

/* The highest device that was named decides how many there are. */
static void note_device(struct ashlar_requests *requests, uint8_t device)
{
  if (device != ASHLAR_REQUESTS_EVERY_DEVICE && device >= requests->device_count) {
    requests->device_count = (uint32_t)device + 1;
  }
}

bool ashlar_requests_init(struct ashlar_requests *requests)
{
  *requests = (struct ashlar_requests){.config = ashlar_default_config()};
  requests->stream_ids = ashlar_id_table_new();
  uint16_t index = 0;
  if (requests->stream_ids == NULL || !ashlar_requests_stream(requests, 0, false, &index)) {
    ashlar_requests_free(requests);
    return false;
  }
  return true;
}

bool ashlar_requests_add(struct ashlar_requests *requests, const struct ashlar_request_item *item)
{
  void *array = requests->items;
  const bool done =
      grow(&array, &requests->item_capacity, requests->item_count, sizeof *requests->items);
  requests->items = array;
  if (done) {
    note_device(requests, item->device);
    requests->items[requests->item_count] = *item;
    requests->item_count++;
    requests->release_count += item->kind == ASHLAR_REQUEST_RELEASE ? 1 : 0;
  }
  return done;
}

bool ashlar_requests_add_segment(struct ashlar_requests *requests,
                                 const struct ashlar_seed_segment *segment)
{
  void *array = requests->segments;
  const bool done = grow(&array, &requests->segment_capacity, requests->segment_count,
                         sizeof *requests->segments);
  requests->segments = array;
  if (done) {
    note_device(requests, segment->device);
    requests->segments[requests->segment_count] = *segment;
    requests->segment_count++;
  }
  return done;
}

bool ashlar_requests_add_range(struct ashlar_requests *requests,
                               const struct ashlar_request_range *range)
{
  void *array = requests->ranges;
  const bool done =
      grow(&array, &requests->range_capacity, requests->range_count, sizeof *requests->ranges);
  requests->ranges = array;
  if (done) {
    requests->ranges[requests->range_count] = *range;
    requests->range_count++;
  }
  return done;
}

bool ashlar_requests_add_mapped(struct ashlar_requests *requests,
                                const struct ashlar_seed_segment *part)
{
  void *array = requests->mapped;
  const bool done =
      grow(&array, &requests->mapped_capacity, requests->mapped_count, sizeof *requests->mapped);
  requests->mapped = array;
  if (done) {
    requests->mapped[requests->mapped_count] = *part;
    requests->mapped_count++;
  }
  return done;
}

bool ashlar_requests_add_seed(struct ashlar_requests *requests,
                              const struct ashlar_seed_block *seed)
{
  void *array = requests->seeds;
  const bool done =
      grow(&array, &requests->seed_capacity, requests->seed_count, sizeof *requests->seeds);
  requests->seeds = array;
  if (done) {
    note_device(requests, seed->device);
    requests->seeds[requests->seed_count] = *seed;
    requests->seed_count++;
  }
  return done;
}

bool ashlar_requests_add_line(struct ashlar_requests *requests, uint8_t device,
                              const struct ashlar_sim_script_line *line)
{
  if (requests->scripts == NULL) {
    requests->scripts = calloc(ASHLAR_REQUESTS_DEVICES, sizeof *requests->scripts);
    if (requests->scripts == NULL) {
      return false;
    }
  }
  struct ashlar_request_script *script = &requests->scripts[device];
  void *array = script->lines;
  const bool done = grow(&array, &script->capacity, script->length, sizeof *script->lines);
  script->lines = array;
  if (done) {
    note_device(requests, device);
    script->lines[script->length] = *line;
    script->length++;
  }
  return done;
}

bool ashlar_requests_stream(struct ashlar_requests *requests, uint64_t handle, bool is_negative,
                            uint16_t *index)
{
  bool is_new = false;
  void *array = requests->streams;
  const bool has_room =
      grow(&array, &requests->stream_capacity, requests->stream_count, sizeof *requests->streams);
  requests->streams = array;
  if (!has_room ||
      !ashlar_id_table_find(requests->stream_ids, handle, is_negative ? 1 : 0, index, &is_new)) {
    return false;
  }
  if (is_new) {
    requests->streams[requests->stream_count] = (struct ashlar_request_stream){handle, is_negative};
    requests->stream_count++;
  }
  return true;
}

const struct ashlar_event *ashlar_requests_event(const struct ashlar_requests *requests,
                                                 const struct ashlar_request_item *item)
{
  const struct ashlar_snapshot *snapshot = requests->snapshot;
  if (snapshot == NULL || item->device >= snapshot->trace_count ||
      item->event >= snapshot->traces[item->device].event_count) {
    return NULL;
  }
  return &snapshot->traces[item->device].events[item->event];
}

void ashlar_requests_free(struct ashlar_requests *requests)
{
  free(requests->items);
  free(requests->streams);
  free(requests->segments);
  free(requests->seeds);
  free(requests->ranges);
  free(requests->mapped);
  free(requests->whole_pools);
  if (requests->scripts != NULL) {
    for (int i = 0; i < ASHLAR_REQUESTS_DEVICES; i++) {
      free(requests->scripts[i].lines);
    }
    free(requests->scripts);
  }
  if (requests->snapshot != NULL) {
    ashlar_snapshot_free(requests->snapshot);
    free(requests->snapshot);
  }
  ashlar_id_table_free(requests->stream_ids);
  *requests = (struct ashlar_requests){0};
}

/* --- reading --- */

static bool is_trace(const void *data, size_t size)
{
  return size >= sizeof TRACE_WORD - 1 && memcmp(data, TRACE_WORD, sizeof TRACE_WORD - 1) == 0;
}

static void empty(struct ashlar_requests *requests)
{
  const bool is_from_trace = requests->is_trace;
  ashlar_requests_free(requests);
  requests->is_trace = is_from_trace;
}

/* The room for the snapshot that is going to be read. */
static bool prepare_snapshot(struct ashlar_requests *requests, struct ashlar_error *error)
{
  requests->snapshot = calloc(1, sizeof *requests->snapshot);
  return requests->snapshot != NULL || ashlar_error_set(error, 0, "out of memory");
}

static bool read_bytes(struct ashlar_requests *requests, const void *data, size_t size,
                       struct ashlar_error *error)
{
  requests->is_trace = is_trace(data, size);
  if (requests->is_trace) {
    return ashlar_requests_of_trace(requests, data, size, error);
  }
  return prepare_snapshot(requests, error) &&
         ashlar_snapshot_read_memory(data, size, requests->snapshot, error) &&
         ashlar_requests_of_snapshot(requests, error);
}

bool ashlar_requests_read_memory(const void *data, size_t size, struct ashlar_requests *requests,
                                 struct ashlar_error *error)
{
  if (!ashlar_requests_init(requests)) {
    return ashlar_error_set(error, 0, "out of memory");
  }
  const bool is_done = read_bytes(requests, data, size, error);
  if (!is_done) {
    empty(requests);
  }
  return is_done;
}

/* All that a stream still holds. The bytes are the caller's to free, on failure too. */
static bool read_all(FILE *file, char **data, size_t *size, struct ashlar_error *error)
{
  size_t capacity = 0;
  *data = NULL;
  *size = 0;
  do {
    if (*size == capacity) {
      if (capacity > SIZE_MAX / 2) {
        return ashlar_error_set(error, *size, "out of memory");
      }
      capacity = capacity == 0 ? READ_STEP : capacity * 2;
      char *grown = realloc(*data, capacity);
      if (grown == NULL) {
        return ashlar_error_set(error, *size, "out of memory");
      }
      *data = grown;
    }
    *size += fread(*data + *size, 1, capacity - *size, file);
  } while (*size == capacity);
  if (ferror(file) != 0) {
    return ashlar_error_set(error, *size, "cannot be read: %s", strerror(errno));
  }
  return true;
}

/* Snapshots in regular files are read in a stream, by the name; all else as a whole: a trace is
   small, and what comes through a pipe can be read only once. */
static bool read_open_file(FILE *file, const char *path, struct ashlar_requests *requests,
                           struct ashlar_error *error)
{
  struct stat status;
  if (file != stdin && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode)) {
    char head[sizeof TRACE_WORD - 1];
    const size_t length = fread(head, 1, sizeof head, file);
    if (!is_trace(head, length)) {
      return prepare_snapshot(requests, error) &&
             ashlar_snapshot_read_file(path, requests->snapshot, error) &&
             ashlar_requests_of_snapshot(requests, error);
    }
    rewind(file);
  }
  char *data = NULL;
  size_t size = 0;
  const bool done = read_all(file, &data, &size, error) && read_bytes(requests, data, size, error);
  free(data);
  return done;
}

bool ashlar_requests_read_file(const char *path, struct ashlar_requests *requests,
                               struct ashlar_error *error)
{
  if (!ashlar_requests_init(requests)) {
    return ashlar_error_set(error, 0, "out of memory");
  }
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (file == NULL) {
    ashlar_requests_free(requests);
    return ashlar_error_set(error, 0, "cannot be opened: %s", strerror(errno));
  }
  const bool done = read_open_file(file, path, requests, error);
  if (file != stdin) {
    (void)fclose(file);
  }
  if (!done) {
    empty(requests);
  }
  return done;
}
