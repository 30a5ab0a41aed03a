/* history_live.h - which blocks are live: a hash table from start address to what is known of the block.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_LIVE_H
#define ASHLAR_TOOLS_HISTORY_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#define ASHLAR_NO_EVENT UINT64_MAX /* in place of the index of an event */

/* One live block. What `size`, `event` and `note` mean is the user's affair. */
struct ashlar_live {
  uint64_t address;   /* key; UINT64_MAX marks an unused entry */
  uint64_t requested; /* bytes */
  uint64_t size;      /* bytes; 0: not known */
  uint64_t event;     /* index of an event of the trace, or ASHLAR_NO_EVENT */
  uint64_t note;
};

/* Open addressing with linear probing, at most half full. A zeroed struct is a valid empty table. */
struct ashlar_live_table {
  struct ashlar_live *entries;
  uint64_t capacity; /* a power of two, or 0 */
  uint64_t count;
};

/* Releases the entries and zeroes *table. */
void ashlar_live_free(struct ashlar_live_table *table);

/* The entry of an address, or NULL. Expected O(1). */
struct ashlar_live *ashlar_live_find(const struct ashlar_live_table *table, uint64_t address);

/* The entry of an address (not UINT64_MAX), added with zeroed fields where there was none; NULL when
   memory is short. Pointers to other entries become invalid. Amortised O(1). */
struct ashlar_live *ashlar_live_add(struct ashlar_live_table *table, uint64_t address);

/* Removes an entry that find or add returned. Pointers to other entries become invalid. Expected
   O(1). */
void ashlar_live_remove(struct ashlar_live_table *table, const struct ashlar_live *entry);

/* Makes *copy an independent copy of *table. False when memory is short; then *copy is empty. */
bool ashlar_live_copy(struct ashlar_live_table *copy, const struct ashlar_live_table *table);

#endif
