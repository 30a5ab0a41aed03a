/* The snapshot reader: allocator settings.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/snapshot_reading.h"

static void set_flag(struct ashlar_settings *settings, unsigned flag)
{
  settings->flags = (uint16_t)(settings->flags | flag);
}

static bool store_conf(struct ashlar_snapshot_reading *reading,
                       const struct ashlar_pickle_value *value)
{
  const char *text = NULL;
  size_t length = 0;
  uint8_t *buffer;
  bool is_good;

  if (value->tag == ASHLAR_PICKLE_NONE || value->word == ASHLAR_TEXT_CONF) {
    return true; /* absent, or stored when it was first met */
  }
  if (value->tag != ASHLAR_PICKLE_TEXT) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_SETTINGS, ASHLAR_WORD_ALLOC_CONF, value,
                                    "");
  }
  buffer = malloc(ASHLAR_SNAPSHOT_MAX_CONF_BYTES);
  is_good = buffer != NULL && ashlar_reading_text(reading, value, buffer,
                                                  ASHLAR_SNAPSHOT_MAX_CONF_BYTES, &text, &length);
  if (buffer == NULL ||
      (is_good && !ashlar_snapshot_set_conf(reading->snapshot, text, (uint32_t)length))) {
    is_good = ashlar_reading_fail(reading, ASHLAR_ROLE_SETTINGS, "out of memory", value->position);
  }
  free(buffer);
  return is_good;
}

/* A signed number. SIZE_MAX, where -1 was meant, is -1. */
static bool store_signed(struct ashlar_snapshot_reading *reading, unsigned key,
                         const struct ashlar_pickle_value *value, int64_t *number, unsigned flag)
{
  switch (value->tag) {
  case ASHLAR_PICKLE_NONE:
    return true;
  case ASHLAR_PICKLE_INT:
  case ASHLAR_PICKLE_BOOL:
    *number = value->bits <= INT64_MAX ? (int64_t)value->bits : -1;
    break;
  case ASHLAR_PICKLE_NEGATIVE:
    *number = -(int64_t)~value->bits - 1;
    break;
  default:
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_SETTINGS, key, value, ", not an integer");
  }
  set_flag(&reading->snapshot->settings, flag);
  return true;
}

static bool store_threshold(struct ashlar_snapshot_reading *reading,
                            const struct ashlar_pickle_value *value)
{
  struct ashlar_settings *settings = &reading->snapshot->settings;
  double threshold = 0;

  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (value->tag == ASHLAR_PICKLE_FLOAT) {
    memcpy(&threshold, &value->bits, sizeof threshold);
  } else if (value->tag == ASHLAR_PICKLE_INT) {
    threshold = (double)value->bits;
  } else {
    threshold = NAN;
  }
  if (!isfinite(threshold)) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_SETTINGS,
                                    ASHLAR_WORD_GARBAGE_COLLECTION_THRESHOLD, value,
                                    ", not a finite number of 0 or more");
  }
  settings->garbage_collection_threshold = threshold;
  set_flag(settings, ASHLAR_SETTINGS_HAS_GC_THRESHOLD);
  return true;
}

/* What one boolean key fills. */
static bool *truth_of_settings(struct ashlar_settings *settings, unsigned key, unsigned *flag)
{
  switch (key) {
  case ASHLAR_WORD_EXPANDABLE_SEGMENTS:
    *flag = ASHLAR_SETTINGS_HAS_EXPANDABLE;
    return &settings->expandable_segments;
  case ASHLAR_WORD_RELEASE_LOCK_ON_CUDAMALLOC:
    *flag = ASHLAR_SETTINGS_HAS_RELEASE_LOCK;
    return &settings->release_lock_on_cudamalloc;
  case ASHLAR_WORD_PINNED_USE_CUDA_HOST_REGISTER:
    *flag = ASHLAR_SETTINGS_HAS_HOST_REGISTER;
    return &settings->pinned_use_cuda_host_register;
  case ASHLAR_WORD_GRAPH_CAPTURE_RECORD_STREAM_REUSE:
    *flag = ASHLAR_SETTINGS_HAS_STREAM_REUSE;
    return &settings->graph_capture_record_stream_reuse;
  default:
    return NULL;
  }
}

bool ashlar_reading_store_settings(struct ashlar_snapshot_reading *reading, unsigned key,
                                   const struct ashlar_pickle_value *value)
{
  struct ashlar_settings *settings = &reading->snapshot->settings;
  unsigned flag = 0;
  bool *truth = truth_of_settings(settings, key, &flag);

  if (truth != NULL) {
    return ashlar_reading_flag(reading, ASHLAR_ROLE_SETTINGS, key, value, truth, &settings->flags,
                               flag);
  }
  switch (key) {
  case ASHLAR_WORD_ALLOC_CONF:
    return store_conf(reading, value);
  case ASHLAR_WORD_MAX_SPLIT_SIZE:
    return store_signed(reading, key, value, &settings->max_split_size,
                        ASHLAR_SETTINGS_HAS_MAX_SPLIT);
  case ASHLAR_WORD_PINNED_NUM_REGISTER_THREADS:
    return store_signed(reading, key, value, &settings->pinned_num_register_threads,
                        ASHLAR_SETTINGS_HAS_PINNED_THREADS);
  case ASHLAR_WORD_GARBAGE_COLLECTION_THRESHOLD:
    return store_threshold(reading, value);
  case ASHLAR_WORD_ROUNDUP_POWER2_DIVISIONS:
    return value->tag == ASHLAR_PICKLE_NONE ||
           ashlar_reading_bad_value(reading, ASHLAR_ROLE_SETTINGS, key, value,
                                    ", not a dictionary of its own");
  default:
    return true;
  }
}

bool ashlar_reading_store_division(struct ashlar_snapshot_reading *reading, unsigned key,
                                   const struct ashlar_pickle_value *value)
{
  struct ashlar_settings *settings = &reading->snapshot->settings;
  const int slot = ashlar_division_of_word(key);

  if (slot < 0 || value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (value->tag != ASHLAR_PICKLE_INT) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_DIVISIONS, key, value,
                                    ", not an integer of 0 or more");
  }
  settings->divisions[slot] = value->bits;
  settings->divisions_present |= 1U << slot;
  return true;
}
