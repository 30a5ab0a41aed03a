/* What the tests of snapshots share.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* mkstemp */
#include "tests/snapshot_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

const struct recorded_snapshot RECORDED_SNAPSHOTS[RECORDED_COUNT] = {
    {"cnn-training", 10, 5803, 1935, 1926, 7, 0, false, 0.12},
    {"finetune-notebook", 215, 10307, 3505, 3325, 152, 0, false, 6.03},
    {"llm-oldformat-notrace", 257, 1, 0, 1, 0, 0, false, 7.09},
    {"lm-forward-mixed-ctx128", 688, 5992, 2703, 1414, 461, 0, true, 22.58},
    {"lm-fullstep-ctx128", 1010, 19342, 6771, 5894, 783, 0, true, 56.91},
    {"lm-fullstep-ctx512-emptycache", 820, 19936, 6769, 5894, 589, 790, true, 58.52},
    {"lm-inference-midstart-ctx1024", 108, 3840, 1280, 1280, 0, 0, true, 2.98},
    {"lm-training-midstart-ctx128", 377, 19136, 6526, 6305, 0, 0, true, 6.74},
    {"oom-oldformat", 176, 1, 0, 0, 0, 0, false, 11.03},
    {"small-midstart", 2, 713, 240, 236, 1, 0, true, 0.02},
    {"tiny-fresh", 9, 97, 36, 26, 9, 0, true, 3.52},
};

bool recorded_path(const char *name, char path[SNAPSHOT_PATH_SIZE])
{
  const char *folder = getenv("ASHLAR_SNAPSHOTS");

  if (folder == NULL || *folder == '\0') {
    (void)printf("SKIPPED: %s: ASHLAR_SNAPSHOTS is not set\n", name);
    return false;
  }
  (void)snprintf(path, SNAPSHOT_PATH_SIZE, "%s/%s.pickle", folder, name);
  if (access(path, R_OK) != 0) {
    (void)printf("SKIPPED: %s: there is no such recorded snapshot\n", name);
    return false;
  }
  return true;
}

bool has_sanitizer(void)
{
  return HAS_SANITIZER != 0;
}

bool limit_memory(void)
{
#if HAS_SANITIZER
  return true;
#else
  const struct rlimit one_gigabyte = {(rlim_t)1 << 30, (rlim_t)1 << 30};

  return setrlimit(RLIMIT_AS, &one_gigabyte) == 0;
#endif
}

uint8_t *read_whole_file(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  long length = 0;

  *size = 0;
  if (file == NULL) {
    return NULL;
  }
  if (fseek(file, 0, SEEK_END) == 0) {
    length = ftell(file);
  }
  if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    bytes = malloc((size_t)length + 1);
  }
  if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  (void)fclose(file);
  *size = bytes != NULL ? (size_t)length : 0;
  return bytes;
}

bool make_temporary(char path[SNAPSHOT_PATH_SIZE])
{
  const char *folder = getenv("TEST_TMPDIR");
  int file = -1;

  (void)snprintf(path, SNAPSHOT_PATH_SIZE, "%s/ashlar-snapshot-XXXXXX",
                 folder != NULL ? folder : "/tmp");
  file = mkstemp(path);
  return file >= 0 && close(file) == 0;
}

static bool differ(const char *what, uint64_t index)
{
  (void)fprintf(stderr, "snapshots differ: %s %" PRIu64 "\n", what, index);
  return false;
}

static bool same_stream(const struct ashlar_snapshot *left, uint16_t one,
                        const struct ashlar_snapshot *right, uint16_t two)
{
  return left->streams[one].handle == right->streams[two].handle &&
         left->streams[one].is_negative == right->streams[two].is_negative;
}

static bool same_pool(const struct ashlar_snapshot *left, uint16_t one,
                      const struct ashlar_snapshot *right, uint16_t two)
{
  return left->pools[one].first == right->pools[two].first &&
         left->pools[one].second == right->pools[two].second;
}

static bool same_text(const struct ashlar_text *left, const struct ashlar_text *right)
{
  return left->length == right->length &&
         (left->length == 0 || memcmp(left->bytes, right->bytes, left->length) == 0);
}

static bool same_segment(const struct ashlar_snapshot *left, const struct ashlar_segment *one,
                         const struct ashlar_snapshot *right, const struct ashlar_segment *two)
{
  return one->address == two->address && one->total_size == two->total_size &&
         one->allocated_size == two->allocated_size && one->active_size == two->active_size &&
         one->requested_size == two->requested_size && one->first_block == two->first_block &&
         one->block_count == two->block_count && one->device == two->device &&
         one->flags == two->flags && one->type == two->type &&
         one->is_expandable == two->is_expandable &&
         same_stream(left, one->stream, right, two->stream) &&
         same_pool(left, one->pool, right, two->pool);
}

static bool same_segments(const struct ashlar_snapshot *left, const struct ashlar_snapshot *right)
{
  if (left->segment_count != right->segment_count) {
    return differ("number of segments", right->segment_count);
  }
  for (uint64_t i = 0; i < left->segment_count; i++) {
    if (!same_segment(left, &left->segments[i], right, &right->segments[i])) {
      return differ("segment", i);
    }
  }
  return true;
}

static bool same_blocks(const struct ashlar_snapshot *left, const struct ashlar_snapshot *right)
{
  if (left->block_count != right->block_count) {
    return differ("number of blocks", right->block_count);
  }
  for (uint64_t i = 0; i < left->block_count; i++) {
    const struct ashlar_block *one = &left->blocks[i];
    const struct ashlar_block *two = &right->blocks[i];

    if (one->address != two->address || one->size != two->size ||
        one->requested_size != two->requested_size || one->state != two->state ||
        one->flags != two->flags) {
      return differ("block", i);
    }
  }
  return true;
}

static bool same_event(const struct ashlar_snapshot *left, const struct ashlar_event *one,
                       const struct ashlar_snapshot *right, const struct ashlar_event *two)
{
  return one->address == two->address && one->size == two->size && one->time_us == two->time_us &&
         one->action == two->action && one->flags == two->flags &&
         same_stream(left, one->stream, right, two->stream) &&
         same_pool(left, one->pool, right, two->pool) &&
         same_text(&left->names[one->name], &right->names[two->name]);
}

static bool same_events(const struct ashlar_snapshot *left, const struct ashlar_snapshot *right)
{
  if (left->trace_count != right->trace_count || left->has_traces != right->has_traces ||
      left->has_history != right->has_history || left->event_count != right->event_count) {
    return differ("traces", right->trace_count);
  }
  for (uint32_t i = 0; i < left->trace_count; i++) {
    if (left->traces[i].event_count != right->traces[i].event_count) {
      return differ("number of events of trace", i);
    }
    for (uint64_t k = 0; k < left->traces[i].event_count; k++) {
      if (!same_event(left, &left->traces[i].events[k], right, &right->traces[i].events[k])) {
        return differ("event", k);
      }
    }
  }
  return true;
}

static bool same_settings(const struct ashlar_settings *left, const struct ashlar_settings *right)
{
  if (!same_text(&left->conf, &right->conf) || left->flags != right->flags ||
      left->is_present != right->is_present || left->max_split_size != right->max_split_size ||
      left->pinned_num_register_threads != right->pinned_num_register_threads ||
      left->garbage_collection_threshold != right->garbage_collection_threshold ||
      left->divisions_present != right->divisions_present ||
      memcmp(left->divisions, right->divisions, sizeof left->divisions) != 0 ||
      left->expandable_segments != right->expandable_segments ||
      left->release_lock_on_cudamalloc != right->release_lock_on_cudamalloc ||
      left->pinned_use_cuda_host_register != right->pinned_use_cuda_host_register ||
      left->graph_capture_record_stream_reuse != right->graph_capture_record_stream_reuse) {
    return differ("settings", 0);
  }
  return true;
}

bool snapshots_are_equal(const struct ashlar_snapshot *left, const struct ashlar_snapshot *right)
{
  return same_segments(left, right) && same_blocks(left, right) && same_events(left, right) &&
         same_settings(&left->settings, &right->settings) &&
         (left->has_annotations == right->has_annotations || differ("annotations", 0));
}
