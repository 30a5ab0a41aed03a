/* history.c - see history.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history.h"

#include <stdlib.h>

#include "tools/history_growable.h"
#include "tools/history_narrow.h"

enum {
  CONFLICTS_KEPT = 65536, /* a damaged file has one, a hostile one millions */
  SPLITS_TOLD = 2         /* by so many events */
};

/* A reconstruction under way. */
struct rebuilding {
  const struct ashlar_device_part *part;
  const struct ashlar_config *config;
  struct ashlar_history *history;
  struct ashlar_live_table live; /* at the moment reached; `event`: the one that frees the block */
  uint64_t conflict_capacity;
  struct ashlar_unmapped unmapped; /* those of the events that are not undone yet */
};

uint64_t ashlar_history_rounded(const struct ashlar_config *config, uint64_t bytes)
{
  return ashlar_round_size(bytes, config->divisions[ashlar_division_row(bytes)]);
}

int32_t ashlar_history_segment_pool(uint64_t size)
{
  return size <= ASHLAR_SMALL_SEGMENT ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
}

bool ashlar_history_is_segment_size(const struct ashlar_config *config, uint64_t size)
{
  return size == ASHLAR_SMALL_SEGMENT || size == config->large_segment_size ||
         (size >= ASHLAR_LARGE_EXACT && size % ASHLAR_LARGE_STEP == 0);
}

int32_t ashlar_history_listed_pool(const struct ashlar_config *config,
                                   const struct ashlar_segment *segment)
{
  if (ashlar_history_is_segment_size(config, segment->total_size) ||
      segment->type == ASHLAR_SEGMENT_UNTYPED) {
    return ashlar_history_segment_pool(segment->total_size);
  }
  return segment->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
}

uint64_t ashlar_history_next(const struct ashlar_device_part *part, uint64_t from)
{
  while (from < part->event_count && (part->events[from].action == ASHLAR_ACTION_OTHER ||
                                      part->events[from].action == ASHLAR_ACTION_SNAPSHOT)) {
    from++;
  }
  return from;
}

bool ashlar_history_splits(const struct ashlar_history *history, uint16_t pool)
{
  return pool == 0 || history->has_split[pool] == SPLITS_TOLD;
}

void ashlar_history_free(struct ashlar_history *history)
{
  free(history->blocks);
  free(history->has_split);
  free(history->has_segments);
  ashlar_ranges_free(&history->ranges);
  free(history->conflicts);
  ashlar_segments_free(&history->segments);
  *history = (struct ashlar_history){0};
}

/* --- the final state, as listed --- */

/* Events on memory all name their pool, or none does. */
static bool tells_pools(const struct ashlar_device_part *part)
{
  const uint64_t first = ashlar_history_next(part, 0);
  return first < part->event_count && (part->events[first].flags & ASHLAR_EVENT_HAS_POOL) != 0;
}

static uint8_t reason_of_segment(const struct rebuilding *work,
                                 const struct ashlar_segment *segment, uint64_t size)
{
  if (segment->pool != 0 && !work->history->tells_pools) {
    return ASHLAR_OPEN_POOL;
  }
  if (segment->address % ASHLAR_GRANULE != 0 || size % ASHLAR_GRANULE != 0) {
    return ASHLAR_OPEN_SEGMENT;
  }
  return ASHLAR_OPEN_NONE;
}

static bool list_blocks(struct rebuilding *work, const struct ashlar_segment *segment)
{
  for (uint64_t i = 0; i < segment->block_count; i++) {
    const struct ashlar_block *block = &work->part->snapshot->blocks[segment->first_block + i];
    if (block->state == ASHLAR_BLOCK_INACTIVE) {
      continue;
    }
    struct ashlar_live *entry = ashlar_live_add(&work->live, block->address);
    if (entry == NULL) {
      return false;
    }
    entry->requested = block->requested_size;
    entry->size = block->size;
  }
  return true;
}

/* Bytes to follow a listed segment with: those of its blocks where they make sense and its own size
   does not. */
static uint64_t followed_size(const struct rebuilding *work, const struct ashlar_segment *segment)
{
  uint64_t sum = 0;
  for (uint64_t i = 0; i < segment->block_count; i++) {
    sum += work->part->snapshot->blocks[segment->first_block + i].size;
  }
  return !ashlar_history_is_segment_size(work->config, segment->total_size) &&
                 ashlar_history_is_segment_size(work->config, sum)
             ? sum
             : segment->total_size;
}

static int32_t class_of_segment(const struct rebuilding *work, const struct ashlar_segment *segment)
{
  if (segment->is_expandable && segment->type != ASHLAR_SEGMENT_UNTYPED) {
    return segment->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  }
  return ashlar_history_listed_pool(work->config, segment);
}

static uint64_t page_of(const struct ashlar_config *config, uint8_t class)
{
  return class == ASHLAR_CLASS_SMALL ? ASHLAR_SMALL_SEGMENT : config->large_segment_size;
}

/* An alloc alone may be at fault: it takes two of them. */
static void tell_split(struct rebuilding *work, uint16_t pool, bool is_alloc)
{
  const uint8_t told = work->history->has_split[pool];
  work->history->has_split[pool] = is_alloc && told == 0 ? 1 : SPLITS_TOLD;
}

/* A block that is not the first of its segment tells that the one before it was split. */
static void note_split(struct rebuilding *work, uint64_t address, bool is_alloc)
{
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&work->history->segments, address);
  const struct ashlar_segment_record *part =
      segment == NULL ? ashlar_segments_at(&work->history->ranges.mapped, address) : NULL;
  if (segment != NULL && segment->address != address) {
    tell_split(work, segment->pool, is_alloc);
  }
  if (part != NULL && (address - part->address) % page_of(work->config, part->class) != 0) {
    tell_split(work, part->pool, is_alloc);
  }
}

/* A part of a growable segment that is mapped in the end. */
static bool list_mapped(struct rebuilding *work, const struct ashlar_segment_record *part)
{
  switch (ashlar_ranges_add(&work->history->ranges, part)) {
  case ASHLAR_RANGES_DONE:
    return true;
  case ASHLAR_RANGES_CONFLICT: /* a finding of the state rules */
    work->history->is_growable = true;
    return true;
  default:
    return false;
  }
}

static bool list_final_state(struct rebuilding *work)
{
  for (uint64_t i = 0; i < work->part->segment_count; i++) {
    const struct ashlar_segment *segment = &work->part->snapshot->segments[work->part->segments[i]];
    const uint64_t size = followed_size(work, segment);
    const struct ashlar_segment_record record = {
        .address = segment->address,
        .size = size,
        .slot = -1,
        .stream = segment->stream,
        .pool = segment->pool,
        .class = (uint8_t)class_of_segment(work, segment),
        .reason = reason_of_segment(work, segment, size),
        .is_old = true,
    };
    if (segment->is_expandable) {
      if (!list_mapped(work, &record) || !list_blocks(work, segment)) {
        return false;
      }
      for (uint64_t k = 0; k < segment->block_count; k++) {
        note_split(work, work->part->snapshot->blocks[segment->first_block + k].address, false);
      }
      continue;
    }
    work->history->has_segments[segment->pool] = true;
    if (segment->block_count > 1) {
      work->history->has_split[segment->pool] = SPLITS_TOLD;
    }
    /* Segments that overlap are a finding of the state rules; the first one is followed. */
    if (ashlar_segments_add(&work->history->segments, &record) == ASHLAR_SEGMENTS_NO_MEMORY ||
        !list_blocks(work, segment)) {
      return false;
    }
  }
  return true;
}

/* --- backwards --- */

static bool note_conflict(struct rebuilding *work, uint64_t event, enum ashlar_conflict_kind kind,
                          uint64_t value)
{
  struct ashlar_history *history = work->history;
  if (history->conflict_count == CONFLICTS_KEPT) {
    return true;
  }
  if (history->conflict_count == work->conflict_capacity) {
    const uint64_t capacity = work->conflict_capacity == 0 ? 16 : work->conflict_capacity * 2;
    struct ashlar_conflict *grown = realloc(history->conflicts, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      return false;
    }
    history->conflicts = grown;
    work->conflict_capacity = capacity;
  }
  history->conflicts[history->conflict_count] = (struct ashlar_conflict){event, value, kind};
  history->conflict_count++;
  return true;
}

/* Whether the allocator may give a block of this size to a request. */
static bool is_size_for(const struct ashlar_config *config, uint64_t size, uint64_t requested)
{
  const uint64_t rounded = ashlar_history_rounded(config, requested);
  return rounded > 0 && rounded <= size &&
         ashlar_should_split(ashlar_pool_class(rounded), size, rounded, config->max_split_size) ==
             0 &&
         (rounded < config->max_split_size || size - rounded < config->oversize_slack);
}

/* Whether the allocation can be that of the block that is live afterwards. A listed block may tell a
   wrong request, or none; then its size decides. */
static bool is_same_block(const struct rebuilding *work, const struct ashlar_live *entry,
                          const struct ashlar_event *recorded)
{
  if (entry->requested == recorded->size) {
    return true;
  }
  return entry->event == ASHLAR_NO_EVENT &&
         (entry->requested == 0 || !is_size_for(work->config, entry->size, entry->requested)) &&
         is_size_for(work->config, entry->size, recorded->size);
}

static bool undo_alloc(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  struct ashlar_live *entry = ashlar_live_find(&work->live, recorded->address);
  if (entry == NULL) {
    return note_conflict(work, event, ASHLAR_CONFLICT_BLOCK, 0);
  }
  if (!is_same_block(work, entry, recorded)) {
    return note_conflict(work, event, ASHLAR_CONFLICT_BLOCK, entry->size + entry->requested);
  }
  ashlar_live_remove(&work->live, entry);
  return true;
}

static bool undo_free(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  struct ashlar_live *entry = ashlar_live_add(&work->live, recorded->address);
  if (entry == NULL) {
    return false;
  }
  if (event == 0 || work->part->events[event - 1].action != ASHLAR_ACTION_FREE_REQUESTED ||
      work->part->events[event - 1].address != recorded->address) {
    work->history->has_late_frees = true;
  }
  entry->requested = recorded->size;
  entry->size = 0;
  entry->event = event;
  return true;
}

/* Where the segment really is that the event says was allocated: the block it was made for tells, if
   that block is known from later events as well. */
static uint64_t place_of_segment(const struct rebuilding *work, uint64_t event)
{
  const struct ashlar_device_part *part = work->part;
  const struct ashlar_history *history = work->history;
  const uint64_t next = ashlar_history_next(part, event + 1);
  if (next == part->event_count || part->events[next].action != ASHLAR_ACTION_ALLOC ||
      part->events[next].address == part->events[event].address ||
      (history->conflict_count > 0 &&
       history->conflicts[history->conflict_count - 1].event == next) ||
      ashlar_segments_find(&history->segments, part->events[next].address) == NULL) {
    return part->events[event].address;
  }
  return part->events[next].address;
}

static bool undo_segment_alloc(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  struct ashlar_segment_set *segments = &work->history->segments;
  const uint64_t address = place_of_segment(work, event);
  struct ashlar_segment_record *record = ashlar_segments_find(segments, address);
  bool is_noted = true;
  if (record == NULL) {
    return note_conflict(work, event, ASHLAR_CONFLICT_SEGMENT, 0);
  }
  if (address != recorded->address) {
    is_noted = note_conflict(work, event, ASHLAR_CONFLICT_SEGMENT_PLACE, address);
  } else if (record->size != recorded->size) {
    is_noted = note_conflict(work, event, ASHLAR_CONFLICT_SEGMENT_SIZE, record->size);
  }
  ashlar_segments_remove(segments, record);
  return is_noted;
}

static bool undo_segment_free(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  struct ashlar_segment_record record = {
      .address = recorded->address,
      .size = recorded->size,
      .slot = -1,
      .stream = recorded->stream,
      .pool = recorded->pool,
      .class = (uint8_t)ashlar_history_segment_pool(recorded->size),
      .is_old = true,
  };
  if (record.address % ASHLAR_GRANULE != 0 || record.size % ASHLAR_GRANULE != 0) {
    record.reason = ASHLAR_OPEN_SEGMENT;
  }
  record.is_inferred = true;
  switch (ashlar_segments_add(&work->history->segments, &record)) {
  case ASHLAR_SEGMENTS_ADDED:
    return true;
  case ASHLAR_SEGMENTS_OVERLAP:
    return note_conflict(work, event, ASHLAR_CONFLICT_RELEASE, 0);
  default:
    return false;
  }
}

static bool undo_map(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  switch (
      ashlar_ranges_undo_map(&work->history->ranges, event, recorded->address, recorded->size)) {
  case ASHLAR_RANGES_DONE:
    return true;
  case ASHLAR_RANGES_CONFLICT:
    return note_conflict(work, event, ASHLAR_CONFLICT_MAP, 0);
  default:
    return false;
  }
}

static bool undo_unmap(struct rebuilding *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part->events[event];
  struct ashlar_segment_record part = {
      .address = recorded->address,
      .size = recorded->size,
      .slot = -1,
      .stream = recorded->stream,
      .pool = recorded->pool,
  };
  work->unmapped.count--;
  part.class = work->unmapped.classes[work->unmapped.count];
  if (part.class >= ASHLAR_CLASSES) {
    const int32_t class = ashlar_ranges_class(&work->history->ranges, &part);
    const bool is_large = part.size % page_of(work->config, ASHLAR_CLASS_LARGE) == 0;
    part.class = (uint8_t)(class >= 0 ? class : is_large ? ASHLAR_CLASS_LARGE : ASHLAR_CLASS_SMALL);
  }
  switch (ashlar_ranges_add(&work->history->ranges, &part)) {
  case ASHLAR_RANGES_DONE:
    return true;
  case ASHLAR_RANGES_CONFLICT:
    return note_conflict(work, event, ASHLAR_CONFLICT_UNMAP, 0);
  default:
    return false;
  }
}

static bool undo_event(struct rebuilding *work, uint64_t event)
{
  switch (work->part->events[event].action) {
  case ASHLAR_ACTION_ALLOC:
    note_split(work, work->part->events[event].address, true);
    return undo_alloc(work, event);
  case ASHLAR_ACTION_FREE_COMPLETED:
    note_split(work, work->part->events[event].address, false);
    return undo_free(work, event);
  case ASHLAR_ACTION_FREE_REQUESTED:
    work->history->has_requests = true;
    return true;
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    work->history->has_segments[work->part->events[event].pool] = true;
    return undo_segment_alloc(work, event);
  case ASHLAR_ACTION_SEGMENT_FREE:
    work->history->has_segments[work->part->events[event].pool] = true;
    return undo_segment_free(work, event);
  case ASHLAR_ACTION_SEGMENT_MAP:
    return undo_map(work, event);
  case ASHLAR_ACTION_SEGMENT_UNMAP:
    return undo_unmap(work, event);
  default:
    return true;
  }
}

static void reverse_conflicts(struct ashlar_history *history)
{
  for (uint64_t i = 0; i < history->conflict_count / 2; i++) {
    const struct ashlar_conflict swapped = history->conflicts[i];
    history->conflicts[i] = history->conflicts[history->conflict_count - 1 - i];
    history->conflicts[history->conflict_count - 1 - i] = swapped;
  }
}

/* --- what is left at the beginning --- */

static int by_address(const void *left, const void *right)
{
  const struct ashlar_old_block *a = left;
  const struct ashlar_old_block *b = right;
  return (a->address > b->address) - (a->address < b->address);
}

static bool collect_blocks(struct rebuilding *work)
{
  struct ashlar_history *history = work->history;
  const struct ashlar_live_table *live = &work->live;
  if (live->count == 0) {
    return true;
  }
  history->blocks = malloc((size_t)live->count * sizeof *history->blocks);
  if (history->blocks == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < live->capacity; i++) {
    const struct ashlar_live *entry = &live->entries[i];
    if (entry->address != UINT64_MAX) {
      history->blocks[history->block_count] = (struct ashlar_old_block){
          .address = entry->address,
          .requested = entry->requested,
          .low = entry->size,
          .high = entry->size,
          .freed_at = entry->event,
      };
      history->block_count++;
    }
  }
  qsort(history->blocks, (size_t)history->block_count, sizeof *history->blocks, by_address);
  return true;
}

/* Whether the block can stand in the segment at all; sets the least size of one that was freed. */
static bool fits_segment(const struct rebuilding *work, const struct ashlar_segment_record *segment,
                         struct ashlar_old_block *block)
{
  if (block->freed_at != ASHLAR_NO_EVENT) {
    block->low = ashlar_history_rounded(work->config, block->requested);
    if (ashlar_pool_class(block->low) != segment->class) {
      return false;
    }
    if (!segment->is_growable && !ashlar_history_splits(work->history, segment->pool) &&
        block->address == segment->address && block->low <= segment->size) {
      block->low = segment->size;
    }
  } else if (segment->is_inferred) {
    return false; /* it is listed, and not in this segment, which is gone by then */
  }
  block->high = block->low;
  return block->low > 0 && block->low % ASHLAR_GRANULE == 0 &&
         block->address % ASHLAR_GRANULE == 0 &&
         block->low <= segment->size - (block->address - segment->address);
}

/* Whether a block of a growable segment has memory. */
static bool is_mapped(const struct ashlar_history *history,
                      const struct ashlar_segment_record *segment,
                      const struct ashlar_old_block *block)
{
  const struct ashlar_segment_record *part =
      segment->is_growable ? ashlar_segments_at(&history->ranges.mapped, block->address) : segment;
  return part != NULL && block->low <= part->size - (block->address - part->address);
}

/* Keeps the blocks that can have been live together. A block that is known only from its later free
   gives way to one that is listed, and to one before it: its free is the odd one then, and is found
   when the events run forwards. */
static void settle_blocks(struct rebuilding *work)
{
  struct ashlar_history *history = work->history;
  struct ashlar_old_block *blocks = history->blocks;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < history->block_count; i++) {
    struct ashlar_old_block block = blocks[i];
    const struct ashlar_segment_record *segment =
        ashlar_segments_at(&history->segments, block.address);
    if (history->is_growable || (segment != NULL && segment->reason != ASHLAR_OPEN_NONE)) {
      blocks[kept++] = block;
      continue;
    }
    if (segment == NULL || !fits_segment(work, segment, &block) ||
        !is_mapped(history, segment, &block)) {
      continue;
    }
    block.is_held = true;
    while (kept > 0 && blocks[kept - 1].is_held && block.freed_at == ASHLAR_NO_EVENT &&
           blocks[kept - 1].freed_at != ASHLAR_NO_EVENT &&
           block.address - blocks[kept - 1].address < blocks[kept - 1].low) {
      kept--;
    }
    if (kept == 0 || !blocks[kept - 1].is_held ||
        block.address - blocks[kept - 1].address >= blocks[kept - 1].low) {
      blocks[kept++] = block;
    } else if (blocks[kept - 1].freed_at != ASHLAR_NO_EVENT && i + 1 < history->block_count &&
               blocks[i + 1].address - blocks[kept - 1].address < blocks[kept - 1].low) {
      blocks[kept - 1] = block; /* one that is in the way of two is the odd one */
    }
  }
  history->block_count = kept;
}

/* Opens the interval of each size that is not known: up to what the allocator leaves unsplit, the
   next block, or the end of the segment. */
static void open_intervals(struct rebuilding *work)
{
  struct ashlar_history *history = work->history;
  for (uint64_t i = 0; i < history->block_count; i++) {
    struct ashlar_old_block *block = &history->blocks[i];
    if (!block->is_held || block->freed_at == ASHLAR_NO_EVENT) {
      continue;
    }
    const struct ashlar_segment_record *segment =
        ashlar_segments_at(&history->segments, block->address);
    uint64_t room = segment->size - (block->address - segment->address);
    if (i + 1 < history->block_count && block[1].address - block->address < room) {
      room = block[1].address - block->address;
    }
    uint64_t slack = 0; /* growable segments split off every rest */
    if (!segment->is_growable && segment->class == ASHLAR_CLASS_LARGE) {
      slack = block->low < work->config->max_split_size
                  ? ASHLAR_SMALL_LIMIT
                  : work->config->oversize_slack - ASHLAR_GRANULE;
    }
    block->high = room - block->low < slack ? room : block->low + slack;
    block->high -= block->high % ASHLAR_GRANULE;
    if (block->low < block->high) {
      history->unknown_sizes++;
    }
  }
}

static bool rebuild(struct rebuilding *work)
{
  struct ashlar_history *history = work->history;
  history->has_split =
      calloc((size_t)work->part->snapshot->pool_count + 1, sizeof *history->has_split);
  history->has_segments =
      calloc((size_t)work->part->snapshot->pool_count + 1, sizeof *history->has_segments);
  history->tells_pools = tells_pools(work->part);
  if (history->has_split == NULL || history->has_segments == NULL ||
      !ashlar_unmapped_find(work->part, work->config, &work->unmapped) || !list_final_state(work)) {
    return false;
  }
  for (uint64_t i = work->part->event_count; i-- > 0;) {
    if (!undo_event(work, i)) {
      return false;
    }
  }
  reverse_conflicts(history);
  if (!ashlar_history_settle_ranges(work->part, history) || !collect_blocks(work)) {
    return false;
  }
  settle_blocks(work);
  open_intervals(work);
  return ashlar_history_narrow(work->part, history);
}

bool ashlar_history_rebuild(const struct ashlar_device_part *part,
                            const struct ashlar_config *config, struct ashlar_history *history)
{
  struct rebuilding work = {.part = part, .config = config, .history = history};
  *history = (struct ashlar_history){0};
  const bool is_done = rebuild(&work);
  ashlar_live_free(&work.live);
  free(work.unmapped.classes);
  if (!is_done) {
    ashlar_history_free(history);
  }
  return is_done;
}
