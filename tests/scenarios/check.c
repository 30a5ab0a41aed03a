/* check.c - see check.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scenarios/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_LIMIT UINT64_C(1048576) /* greatest rounded size of the small class */

static bool broken(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool broken(char *why, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(why, WORLD_WHY, format, arguments);
  va_end(arguments);
  return false;
}

static int by_address(const void *a, const void *b)
{
  const struct subject_block *x = a;
  const struct subject_block *y = b;
  if (x->address == y->address) {
    return 0;
  }
  return x->address < y->address ? -1 : 1;
}

bool view_take(struct view *view, const struct world *w)
{
  const size_t count = w->subject->blocks(w->self, view->block, VIEW_BLOCKS);
  if (count > VIEW_BLOCKS) {
    return false;
  }
  view->count = count;
  qsort(view->block, view->count, sizeof view->block[0], by_address);
  for (int kind = 0; kind < SUBJECT_STATISTICS; kind++) {
    for (int column = 0; column < SUBJECT_COLUMNS; column++) {
      view->counter[kind][column] =
          w->subject->counter(w->self, (enum subject_statistic)kind, column);
    }
  }
  view->calls = w->subject->calls(w->self);
  return true;
}

static uint64_t end_of(const struct subject_block *block)
{
  return block->address + block->size;
}

static bool is_mapped(const struct subject_block *block)
{
  return block->state != SUBJECT_UNMAPPED;
}

/* --- P1 --- */

static const struct ashlar_sim_reservation *reservation_at(const struct world *w, uint64_t address)
{
  const struct ashlar_sim_virtual_memory *memory = &w->machine.memory;
  for (size_t i = 0; i < memory->reservation_count; i++) {
    if (memory->reservation[i].address == address) {
      return &memory->reservation[i];
    }
  }
  return NULL;
}

/* Bytes that the machine gave at the start of a segment; 0: none. */
static uint64_t given(const struct world *w, const struct subject_block *block)
{
  if (block->growable) {
    const struct ashlar_sim_reservation *range = reservation_at(w, block->segment);
    return range == NULL ? 0 : range->bytes;
  }
  const struct ashlar_sim_segment *segment =
      ashlar_sim_segment_at(&w->machine.device[0], block->segment);
  return segment == NULL || segment->address != block->segment ? 0 : segment->bytes;
}

static bool check_block(const struct world *w, const struct subject_block *block, char *why)
{
  const uint64_t bytes = given(w, block);
  if (block->size == 0 || block->size % 512 != 0 || block->address % 512 != 0) {
    return broken(why, "P1: the block at 0x%" PRIx64 " is empty or not aligned", block->address);
  }
  if (block->address < block->segment || bytes == 0 || end_of(block) > block->segment + bytes) {
    return broken(why, "P1: the block at 0x%" PRIx64 " is not inside a segment", block->address);
  }
  if (block->growable && is_mapped(block) &&
      !ashlar_sim_is_accessible(&w->machine.memory, block->address, block->size, 0)) {
    return broken(why, "P1: the block at 0x%" PRIx64 " is not mapped", block->address);
  }
  if (block->state == SUBJECT_ALLOCATED && block->requested > block->size) {
    return broken(why, "P1: the block at 0x%" PRIx64 " is smaller than its request",
                  block->address);
  }
  if (block->state == SUBJECT_HELD) {
    return broken(why, "P6: the block at 0x%" PRIx64 " is held, and no request is in flight",
                  block->address);
  }
  return true;
}

/* --- P2; of two blocks that follow each other --- */

static bool check_pair(const struct world *w, const struct subject_block *a,
                       const struct subject_block *b, char *why)
{
  if (end_of(a) > b->address) {
    return broken(why, "P1: the blocks at 0x%" PRIx64 " and 0x%" PRIx64 " overlap", a->address,
                  b->address);
  }
  if (a->segment != b->segment) {
    if (end_of(a) != a->segment + given(w, a) || b->address != b->segment) {
      return broken(why, "P2: blocks do not tile the segment of 0x%" PRIx64, a->address);
    }
    return true;
  }
  if (end_of(a) != b->address) {
    return broken(why, "P2: there is a gap before 0x%" PRIx64, b->address);
  }
  if (a->pool != b->pool || a->stream != b->stream || a->small != b->small ||
      a->growable != b->growable) {
    return broken(why, "P2: the segment of 0x%" PRIx64 " has two pools, classes or streams",
                  a->address);
  }
  if (a->state == b->state && (a->state == SUBJECT_FREE || a->state == SUBJECT_UNMAPPED)) {
    return broken(why, "P2: the free blocks at 0x%" PRIx64 " and 0x%" PRIx64 " stay apart",
                  a->address, b->address);
  }
  return true;
}

static bool check_blocks(const struct world *w, const struct view *view, char *why)
{
  for (size_t i = 0; i < view->count; i++) {
    if (!check_block(w, &view->block[i], why)) {
      return false;
    }
    if (i > 0 && !check_pair(w, &view->block[i - 1], &view->block[i], why)) {
      return false;
    }
  }
  if (view->count > 0) {
    const struct subject_block *first = &view->block[0];
    const struct subject_block *last = &view->block[view->count - 1];
    if (first->address != first->segment || end_of(last) != last->segment + given(w, last)) {
      return broken(why, "P2: blocks do not tile the first segment or the last");
    }
  }
  return true;
}

/* --- P3 --- */

/* Whether the block is all of its segment. */
static bool is_whole(const struct view *view, size_t i)
{
  const struct subject_block *block = view->block;
  return (i == 0 || block[i - 1].segment != block[i].segment) &&
         (i + 1 == view->count || block[i + 1].segment != block[i].segment);
}

/* Bytes of the segment that begins with block i. */
static uint64_t segment_bytes(const struct view *view, size_t i)
{
  uint64_t bytes = 0;
  for (size_t k = i; k < view->count && view->block[k].segment == view->block[i].segment; k++) {
    bytes += view->block[k].size;
  }
  return bytes;
}

/* What one block adds to a statistic. */
static uint64_t share(const struct view *view, size_t i, enum subject_statistic kind,
                      uint64_t max_split_size)
{
  const struct subject_block *block = &view->block[i];
  const uint64_t owned = block->state == SUBJECT_ALLOCATED ? 1 : 0;
  const uint64_t active = block->state == SUBJECT_PENDING_BLOCK ? 1 : owned;
  const uint64_t first = !block->growable && block->address == block->segment ? 1 : 0;
  const uint64_t split =
      block->state == SUBJECT_FREE && !block->growable && !is_whole(view, i) ? 1 : 0;
  switch (kind) {
  case SUBJECT_STAT_ALLOCATION:
    return owned;
  case SUBJECT_STAT_ALLOCATED_BYTES:
    return owned * block->size;
  case SUBJECT_STAT_SEGMENT:
    return first;
  case SUBJECT_STAT_RESERVED_BYTES:
    return is_mapped(block) ? block->size : 0;
  case SUBJECT_STAT_ACTIVE:
    return active;
  case SUBJECT_STAT_ACTIVE_BYTES:
    return active * block->size;
  case SUBJECT_STAT_REQUESTED_BYTES:
    return active * block->requested;
  case SUBJECT_STAT_INACTIVE_SPLIT:
    return split;
  case SUBJECT_STAT_INACTIVE_SPLIT_BYTES:
    return split * block->size;
  case SUBJECT_STAT_OVERSIZE_ALLOCATIONS:
    return block->size >= max_split_size ? owned : 0;
  default:
    return first != 0 && segment_bytes(view, i) >= max_split_size ? 1 : 0;
  }
}

static bool check_counter(const struct view *view, enum subject_statistic kind, int column,
                          struct check_settings settings, char *why)
{
  const struct subject_counter counter = view->counter[kind][column];
  uint64_t sum = 0;
  for (size_t i = 0; i < view->count; i++) {
    const bool small = view->block[i].small;
    if (column == SUBJECT_ALL || small == (column == SUBJECT_SMALL)) {
      sum += share(view, i, kind, settings.max_split_size);
    }
  }
  if (counter.current != sum) {
    return broken(why, "P3: statistic %d, column %d is %" PRIu64 " and the blocks say %" PRIu64,
                  (int)kind, column, counter.current, sum);
  }
  if (counter.peak < counter.current ||
      (settings.totals && counter.allocated - counter.freed != counter.current)) {
    return broken(why, "P3: peak or totals of statistic %d, column %d do not go with its value",
                  (int)kind, column);
  }
  return true;
}

/* Totals of all blocks are those of both classes together. */
static bool check_columns(const struct view *view, enum subject_statistic kind, char *why)
{
  const struct subject_counter *column = view->counter[kind];
  return column[SUBJECT_ALL].allocated ==
                     column[SUBJECT_SMALL].allocated + column[SUBJECT_LARGE].allocated &&
                 column[SUBJECT_ALL].freed ==
                     column[SUBJECT_SMALL].freed + column[SUBJECT_LARGE].freed
             ? true
             : broken(why, "P3: the totals of statistic %d are not those of its classes",
                      (int)kind);
}

static bool check_counters(const struct world *w, const struct view *view,
                           struct check_settings settings, char *why)
{
  for (int kind = 0; kind < SUBJECT_STATISTICS; kind++) {
    const int columns = kind < SUBJECT_STAT_OVERSIZE_ALLOCATIONS ? SUBJECT_COLUMNS : 1;
    if (columns > 1 && !check_columns(view, (enum subject_statistic)kind, why)) {
      return false;
    }
    for (int column = 0; column < columns; column++) {
      if (!check_counter(view, (enum subject_statistic)kind, column, settings, why)) {
        return false;
      }
    }
  }
  const uint64_t reserved = view->counter[SUBJECT_STAT_RESERVED_BYTES][SUBJECT_ALL].current;
  if (w->machine.device[0].used - w->raw != reserved) {
    return broken(why, "P3: the machine has given %" PRIu64 " bytes, and %" PRIu64 " are reserved",
                  w->machine.device[0].used - w->raw, reserved);
  }
  uint64_t largest = 0;
  for (size_t i = 0; i < view->count; i++) {
    const struct subject_block *block = &view->block[i];
    largest = block->state == SUBJECT_FREE && block->size > largest ? block->size : largest;
  }
  return w->subject->largest(w->self) == largest
             ? true
             : broken(why,
                      "P3: the largest free block is said to have %" PRIu64 " bytes, not %" PRIu64,
                      w->subject->largest(w->self), largest);
}

bool check_state(const struct world *w, const struct view *view, struct check_settings settings,
                 char why[WORLD_WHY])
{
  return check_blocks(w, view, why) && check_counters(w, view, settings, why);
}

/* --- P5 --- */

static bool may_serve(uint64_t size, uint64_t block, struct check_settings settings)
{
  if (size < settings.max_split_size) {
    return block < settings.max_split_size;
  }
  return block - size < settings.oversize_slack;
}

bool check_out_of_memory(const struct view *view, struct subject_step step, int32_t stream,
                         struct check_settings settings, bool captured, char why[WORLD_WHY])
{
  const struct subject_block *least = NULL;
  if (!settings.complete) {
    return true;
  }
  for (size_t i = 0; i < view->count; i++) {
    const struct subject_block *block = &view->block[i];
    const bool reached = block->pool == 0 || block->pool == step.pool;
    if (block->state == SUBJECT_FREE && block->pool == step.pool && block->stream == stream &&
        block->small == (step.bytes <= CLASS_LIMIT) && block->size >= step.bytes &&
        (least == NULL || block->size < least->size)) {
      least = block;
    }
    if (!captured && block->state == SUBJECT_PENDING_BLOCK) {
      return broken(why, "P5: out of memory, and the block at 0x%" PRIx64 " was not waited for",
                    block->address);
    }
    if (!captured && block->state == SUBJECT_FREE && !block->growable && is_whole(view, i) &&
        reached) {
      return broken(why, "P5: out of memory, and the segment at 0x%" PRIx64 " was not released",
                    block->address);
    }
  }
  return least == NULL || !may_serve(step.bytes, least->size, settings)
             ? true
             : broken(why, "P5: out of memory, and the block at 0x%" PRIx64 " fits",
                      least->address);
}

/* --- P6 --- */

static bool is_same_block(const struct subject_block *a, const struct subject_block *b)
{
  return a->state == b->state && a->slot == b->slot && a->generation == b->generation &&
         a->stream == b->stream && a->pool == b->pool && a->small == b->small &&
         a->growable == b->growable && a->segment == b->segment && a->address == b->address &&
         a->size == b->size && a->requested == b->requested;
}

bool check_unchanged(const struct view *before, const struct view *after, char why[WORLD_WHY])
{
  if (before->count != after->count ||
      memcmp(before->counter, after->counter, sizeof before->counter) != 0 ||
      memcmp(&before->calls, &after->calls, sizeof before->calls) != 0) {
    return broken(why, "P6: a refused call changed a counter or the number of blocks");
  }
  for (size_t i = 0; i < before->count; i++) {
    if (!is_same_block(&before->block[i], &after->block[i])) {
      return broken(why, "P6: a refused call changed the block at 0x%" PRIx64,
                    before->block[i].address);
    }
  }
  return true;
}

/* The block that starts there; NULL: none. */
static const struct subject_block *block_at(const struct view *view, uint64_t address)
{
  const struct subject_block key = {.address = address};
  return bsearch(&key, view->block, view->count, sizeof view->block[0], by_address);
}

bool check_kept(const struct view *before, const struct view *after, char why[WORLD_WHY])
{
  size_t owned = 0;
  for (size_t i = 0; i < before->count; i++) {
    const struct subject_block *block = &before->block[i];
    const struct subject_block *now = block_at(after, block->address);
    if (block->state == SUBJECT_ALLOCATED && (now == NULL || !is_same_block(block, now))) {
      return broken(why, "P6: a failed call changed the block at 0x%" PRIx64, block->address);
    }
    owned += block->state == SUBJECT_ALLOCATED ? 1 : 0;
  }
  for (size_t i = 0; i < after->count; i++) {
    const struct subject_block *block = &after->block[i];
    const struct subject_block *then = block_at(before, block->address);
    owned -= block->state == SUBJECT_ALLOCATED ? 1 : 0;
    if (block->state == SUBJECT_PENDING_BLOCK && (then == NULL || !is_same_block(block, then))) {
      return broken(why, "P6: a failed call made the block at 0x%" PRIx64 " pending",
                    block->address);
    }
  }
  return owned == 0 ? true : broken(why, "P6: a failed call left a block without owner");
}

/* --- P7 --- */

bool check_canonical(const struct view *view, char why[WORLD_WHY])
{
  for (size_t i = 0; i < view->count; i++) {
    const struct subject_block *block = &view->block[i];
    const bool idle = block->state == SUBJECT_FREE || block->state == SUBJECT_UNMAPPED;
    if (!idle || (!block->growable && !is_whole(view, i))) {
      return broken(
          why, "P7: all is freed and drained, and the block at 0x%" PRIx64 " is not a free segment",
          block->address);
    }
  }
  return true;
}
