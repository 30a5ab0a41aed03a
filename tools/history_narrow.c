/* history_narrow.c - see history_narrow.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history_narrow.h"

#include <stdlib.h>

/* The blocks of unknown size, ascending by address. */
struct unknown {
  struct ashlar_old_block **blocks;
  uint64_t count;
  uint64_t watched; /* those that are neither settled nor freed yet */
};

static bool is_watched(const struct ashlar_old_block *block, uint64_t event)
{
  return block->low < block->high && event <= block->freed_at;
}

/* The last block of unknown size that starts at or before the address, or NULL. */
static struct ashlar_old_block *unknown_before(const struct unknown *unknown, uint64_t address)
{
  uint64_t low = 0;
  uint64_t high = unknown->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (unknown->blocks[middle]->address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? NULL : unknown->blocks[low - 1];
}

/* An allocation in the window where the block may end: nothing that is large enough for its pool fits
   in between, and an allocation takes the front of a free block, so the block ends there. */
static void narrow_by_alloc(const struct ashlar_device_part *part, struct unknown *unknown,
                            uint64_t event)
{
  const uint64_t address = part->events[event].address;
  struct ashlar_old_block *block = unknown_before(unknown, address);
  if (block == NULL || !is_watched(block, event) || address % ASHLAR_GRANULE != 0) {
    return;
  }
  const uint64_t size = address - block->address;
  if (size < block->low || size > block->high) {
    return;
  }
  block->high = size;
  if (size - block->low <= ASHLAR_SMALL_LIMIT) {
    block->low = size;
  }
  if (block->low == block->high) {
    unknown->watched--;
  }
}

static void narrow_by_free(const struct ashlar_device_part *part, struct unknown *unknown,
                           uint64_t event)
{
  const struct ashlar_old_block *block = unknown_before(unknown, part->events[event].address);
  if (block != NULL && block->freed_at == event && block->low < block->high) {
    unknown->watched--;
  }
}

bool ashlar_history_narrow(const struct ashlar_device_part *part, struct ashlar_history *history)
{
  struct unknown unknown = {0};
  if (history->unknown_sizes == 0) {
    return true;
  }
  unknown.blocks = malloc((size_t)history->unknown_sizes * sizeof(struct ashlar_old_block *));
  if (unknown.blocks == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < history->block_count; i++) {
    if (history->blocks[i].low < history->blocks[i].high) {
      unknown.blocks[unknown.count++] = &history->blocks[i];
    }
  }
  unknown.watched = unknown.count;
  for (uint64_t i = 0; i < part->event_count && unknown.watched > 0; i++) {
    if (part->events[i].action == ASHLAR_ACTION_ALLOC) {
      narrow_by_alloc(part, &unknown, i);
    } else if (part->events[i].action == ASHLAR_ACTION_FREE_COMPLETED) {
      narrow_by_free(part, &unknown, i);
    }
  }
  history->unknown_sizes = 0;
  for (uint64_t i = 0; i < unknown.count; i++) {
    history->unknown_sizes += unknown.blocks[i]->low < unknown.blocks[i]->high ? 1 : 0;
  }
  free(unknown.blocks);
  return true;
}
