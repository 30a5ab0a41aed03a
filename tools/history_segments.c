/* history_segments.c - see history_segments.h.
 *
 * Segments come and go far more rarely than blocks, so a sorted array of four-byte places is enough.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history_segments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void ashlar_segments_free(struct ashlar_segment_set *set)
{
  free(set->records);
  free(set->order);
  *set = (struct ashlar_segment_set){0};
}

/* How many segments start at or before the address. */
static uint32_t count_up_to(const struct ashlar_segment_set *set, uint64_t address)
{
  uint32_t low = 0;
  uint32_t high = set->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (set->records[set->order[middle]].address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct ashlar_segment_record *ashlar_segments_nth(const struct ashlar_segment_set *set, uint32_t k)
{
  return &set->records[set->order[k]];
}

struct ashlar_segment_record *ashlar_segments_at(const struct ashlar_segment_set *set,
                                                 uint64_t address)
{
  const uint32_t before = count_up_to(set, address);
  if (before == 0) {
    return NULL;
  }
  struct ashlar_segment_record *record = ashlar_segments_nth(set, before - 1);
  return address - record->address < record->size ? record : NULL;
}

struct ashlar_segment_record *ashlar_segments_find(const struct ashlar_segment_set *set,
                                                   uint64_t address)
{
  struct ashlar_segment_record *record = ashlar_segments_at(set, address);
  return record != NULL && record->address == address ? record : NULL;
}

struct ashlar_segment_record *ashlar_segments_overlapping(const struct ashlar_segment_set *set,
                                                          uint64_t address, uint64_t size)
{
  struct ashlar_segment_record *record = ashlar_segments_at(set, address);
  if (record != NULL || size == 0) {
    return record;
  }
  const uint32_t before = count_up_to(set, address);
  if (before == set->count) {
    return NULL;
  }
  record = ashlar_segments_nth(set, before);
  return record->address - address < size ? record : NULL;
}

static bool grow(struct ashlar_segment_set *set)
{
  if (set->capacity > UINT32_MAX / 2) {
    return false;
  }
  const uint32_t capacity = set->capacity == 0 ? FIRST_CAPACITY : set->capacity * 2;
  struct ashlar_segment_record *records = realloc(set->records, (size_t)capacity * sizeof *records);
  if (records == NULL) {
    return false;
  }
  set->records = records;
  uint32_t *order = realloc(set->order, (size_t)capacity * sizeof *order);
  if (order == NULL) {
    return false;
  }
  set->order = order;
  for (uint32_t i = set->capacity; i < capacity; i++) {
    order[i] = i;
  }
  set->capacity = capacity;
  return true;
}

enum ashlar_segments_result ashlar_segments_add(struct ashlar_segment_set *set,
                                                const struct ashlar_segment_record *record)
{
  if (record->size == 0 ||
      ashlar_segments_overlapping(set, record->address, record->size) != NULL) {
    return ASHLAR_SEGMENTS_OVERLAP;
  }
  if (set->count == set->capacity && !grow(set)) {
    return ASHLAR_SEGMENTS_NO_MEMORY;
  }
  const uint32_t at = count_up_to(set, record->address);
  const uint32_t place = set->order[set->count];
  memmove(&set->order[at + 1], &set->order[at], (size_t)(set->count - at) * sizeof *set->order);
  set->order[at] = place;
  set->records[place] = *record;
  set->count++;
  return ASHLAR_SEGMENTS_ADDED;
}

void ashlar_segments_remove(struct ashlar_segment_set *set,
                            const struct ashlar_segment_record *record)
{
  const uint32_t at = count_up_to(set, record->address) - 1;
  const uint32_t place = set->order[at];
  set->count--;
  memmove(&set->order[at], &set->order[at + 1], (size_t)(set->count - at) * sizeof *set->order);
  set->order[set->count] = place;
}

bool ashlar_segments_copy(struct ashlar_segment_set *copy, const struct ashlar_segment_set *set)
{
  *copy = (struct ashlar_segment_set){0};
  if (set->capacity == 0) {
    return true;
  }
  copy->records = malloc((size_t)set->capacity * sizeof *copy->records);
  copy->order = malloc((size_t)set->capacity * sizeof *copy->order);
  if (copy->records == NULL || copy->order == NULL) {
    ashlar_segments_free(copy);
    return false;
  }
  /* Spare records were never written; only those in use are copied. */
  memcpy(copy->order, set->order, (size_t)set->capacity * sizeof *copy->order);
  for (uint32_t i = 0; i < set->count; i++) {
    copy->records[set->order[i]] = set->records[set->order[i]];
  }
  copy->count = set->count;
  copy->capacity = set->capacity;
  return true;
}
