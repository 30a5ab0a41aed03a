/* history_ranges.c - see history_ranges.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history_ranges.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16, CLASSES = 2, STREAM_BITS = 16, POOL_BITS = 17 };

void ashlar_ranges_free(struct ashlar_range_set *set)
{
  free(set->lives);
  ashlar_segments_free(&set->mapped);
  ashlar_live_free(&set->open);
  *set = (struct ashlar_range_set){0};
}

static uint64_t key_of(uint16_t pool, uint16_t stream, uint8_t class)
{
  return ((uint64_t) class << (POOL_BITS + STREAM_BITS)) | ((uint64_t)pool << STREAM_BITS) | stream;
}

static struct ashlar_range_life *open_life(const struct ashlar_range_set *set, uint16_t pool,
                                           uint16_t stream, uint8_t class)
{
  const struct ashlar_live *entry = ashlar_live_find(&set->open, key_of(pool, stream, class));
  return entry == NULL ? NULL : &set->lives[entry->note];
}

/* A life of which nothing is mapped yet. NULL: memory is short. */
static struct ashlar_range_life *new_life(struct ashlar_range_set *set,
                                          const struct ashlar_segment_record *part)
{
  if (set->count == set->capacity) {
    const uint64_t capacity = set->capacity == 0 ? FIRST_CAPACITY : set->capacity * 2;
    struct ashlar_range_life *grown = realloc(set->lives, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      return NULL;
    }
    set->lives = grown;
    set->capacity = capacity;
  }
  struct ashlar_live *entry =
      ashlar_live_add(&set->open, key_of(part->pool, part->stream, part->class));
  if (entry == NULL) {
    return NULL;
  }
  entry->note = set->count;
  struct ashlar_range_life *life = &set->lives[set->count];
  *life = (struct ashlar_range_life){
      .address = part->address,
      .size = part->size,
      .begin = ASHLAR_NO_EVENT,
      .stream = part->stream,
      .pool = part->pool,
      .class = part->class,
  };
  set->count++;
  return life;
}

/* Lets the range reach from its first to its last byte ever mapped. */
static void extend(struct ashlar_range_life *life, uint64_t address, uint64_t size)
{
  const uint64_t end = life->address + life->size;
  const uint64_t first = address < life->address ? address : life->address;
  life->size = (address + size > end ? address + size : end) - first;
  life->address = first;
}

static bool go_together(const struct ashlar_segment_record *one,
                        const struct ashlar_segment_record *other)
{
  return one->pool == other->pool && one->stream == other->stream && one->class == other->class;
}

/* Takes parts that touch the one given out of the set, and makes them part of it. */
static void absorb(struct ashlar_range_set *set, struct ashlar_segment_record *part)
{
  const struct ashlar_segment_record *before =
      part->address == 0 ? NULL : ashlar_segments_at(&set->mapped, part->address - 1);
  if (before != NULL && go_together(before, part)) {
    part->size += before->size;
    part->address = before->address;
    part->mapped += before->mapped;
    ashlar_segments_remove(&set->mapped, before);
  }
  const struct ashlar_segment_record *behind =
      ashlar_segments_find(&set->mapped, part->address + part->size);
  if (behind != NULL && go_together(behind, part)) {
    part->size += behind->size;
    part->mapped += behind->mapped;
    ashlar_segments_remove(&set->mapped, behind);
  }
}

enum ashlar_ranges_result ashlar_ranges_add(struct ashlar_range_set *set,
                                            const struct ashlar_segment_record *part)
{
  struct ashlar_segment_record whole = *part;
  struct ashlar_range_life *life = open_life(set, part->pool, part->stream, part->class);
  if (part->size == 0 ||
      ashlar_segments_overlapping(&set->mapped, part->address, part->size) != NULL) {
    return ASHLAR_RANGES_CONFLICT;
  }
  life = life != NULL ? life : new_life(set, part);
  if (life == NULL) {
    return ASHLAR_RANGES_NO_MEMORY;
  }
  absorb(set, &whole);
  if (ashlar_segments_add(&set->mapped, &whole) != ASHLAR_SEGMENTS_ADDED) {
    return ASHLAR_RANGES_NO_MEMORY;
  }
  extend(life, part->address, part->size);
  life->mapped += part->size;
  return ASHLAR_RANGES_DONE;
}

enum ashlar_ranges_result ashlar_ranges_undo_map(struct ashlar_range_set *set, uint64_t event,
                                                 uint64_t address, uint64_t size)
{
  const struct ashlar_segment_record *found = ashlar_segments_at(&set->mapped, address);
  if (found == NULL || size == 0 || size > found->size - (address - found->address)) {
    return ASHLAR_RANGES_CONFLICT;
  }
  const struct ashlar_segment_record whole = *found;
  struct ashlar_segment_record before = whole;
  struct ashlar_segment_record behind = whole;
  struct ashlar_range_life *life = open_life(set, whole.pool, whole.stream, whole.class);
  before.size = address - whole.address;
  behind.address = address + size;
  behind.size = whole.size - before.size - size;
  ashlar_segments_remove(&set->mapped, found);
  if ((before.size > 0 && ashlar_segments_add(&set->mapped, &before) != ASHLAR_SEGMENTS_ADDED) ||
      (behind.size > 0 && ashlar_segments_add(&set->mapped, &behind) != ASHLAR_SEGMENTS_ADDED)) {
    return ASHLAR_RANGES_NO_MEMORY;
  }
  life->mapped -= size;
  if (life->mapped == 0) {
    life->begin = event;
    ashlar_live_remove(&set->open,
                       ashlar_live_find(&set->open, key_of(whole.pool, whole.stream, whole.class)));
  }
  return ASHLAR_RANGES_DONE;
}

int32_t ashlar_ranges_class(const struct ashlar_range_set *set,
                            const struct ashlar_segment_record *part)
{
  static const uint8_t BOTH[CLASSES] = {ASHLAR_SEGMENT_SMALL, ASHLAR_SEGMENT_LARGE};
  for (int32_t i = 0; i < CLASSES; i++) {
    const uint8_t class = BOTH[i];
    const struct ashlar_range_life *life = open_life(set, part->pool, part->stream, class);
    if (life != NULL && part->address + part->size >= life->address &&
        part->address <= life->address + life->size) {
      return class;
    }
  }
  return -1;
}

static int by_beginning(const void *left, const void *right)
{
  const struct ashlar_range_life *a = left;
  const struct ashlar_range_life *b = right;
  const uint64_t one = a->begin + 1; /* ASHLAR_NO_EVENT comes first */
  const uint64_t other = b->begin + 1;
  if (one != other) {
    return one < other ? -1 : 1;
  }
  return (a->address > b->address) - (a->address < b->address);
}

void ashlar_ranges_finish(struct ashlar_range_set *set, const uint64_t *starts, uint64_t count,
                          uint64_t most)
{
  for (uint64_t i = 0; i < set->count; i++) {
    struct ashlar_range_life *life = &set->lives[i];
    const uint64_t end = life->address + life->size;
    uint64_t low = 0;
    uint64_t high = count;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (starts[middle] < end) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const uint64_t room = low < count ? starts[low] - life->address : most;
    life->size = room > most ? (life->size > most ? life->size : most) : room;
  }
  if (set->count > 0) {
    qsort(set->lives, (size_t)set->count, sizeof *set->lives, by_beginning);
  }
}
