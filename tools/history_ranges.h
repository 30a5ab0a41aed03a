/* history_ranges.h - growable segments of one device: which ranges of addresses there were, and when.
 *
 * A recording tells what was mapped and unmapped, never what was reserved. A pool, class and stream has one range at a time,
 * longer than the device has memory, unless the program says otherwise in its settings; it begins with the first byte
 * that is ever mapped of it, and ends when nothing of it is mapped. So what is mapped tells the ranges, backwards from
 * what is mapped in the end.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_RANGES_H
#define ASHLAR_TOOLS_HISTORY_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/history_live.h"
#include "tools/history_segments.h"
#include "tools/snapshot.h"

struct ashlar_range_life {
  uint64_t address;
  uint64_t
      size; /* up to the last byte that is ever mapped; in the end up to what comes behind, see below */
  uint64_t begin;  /* the first map; ASHLAR_NO_EVENT: before the recording */
  uint64_t mapped; /* bytes, at the moment reached */
  uint16_t stream; /* index into ashlar_snapshot.streams */
  uint16_t pool;   /* index into ashlar_snapshot.pools */
  uint8_t class;   /* ASHLAR_CLASS_... */
};

/* A zeroed struct is a valid empty one. */
struct ashlar_range_set {
  struct ashlar_range_life *lives;
  uint64_t count;
  uint64_t capacity;
  struct ashlar_segment_set
      mapped; /* at the moment reached; apart, and never two that touch and go together */
  struct ashlar_live_table
      open; /* lives at the moment reached: place in `lives`, by pool, class and stream */
};

enum ashlar_ranges_result {
  ASHLAR_RANGES_DONE,
  ASHLAR_RANGES_CONFLICT, /* mapped already, or not mapped; nothing was done */
  ASHLAR_RANGES_NO_MEMORY
};

/* Releases everything and zeroes *set. */
void ashlar_ranges_free(struct ashlar_range_set *set);

/* What is mapped in the end, and what an unmap took away: address, size, stream, pool and class of *part. */
enum ashlar_ranges_result ashlar_ranges_add(struct ashlar_range_set *set,
                                            const struct ashlar_segment_record *part);

/* Undoes the map at `event`. */
enum ashlar_ranges_result ashlar_ranges_undo_map(struct ashlar_range_set *set, uint64_t event,
                                                 uint64_t address, uint64_t size);

/* Class of what an unmap took away, as far as ranges tell; -1: they do not. */
int32_t ashlar_ranges_class(const struct ashlar_range_set *set,
                            const struct ashlar_segment_record *part);

/* Behind the first event: lets each range go on to the next of `starts` (ascending), or to `most` bytes, and sorts them by
   their beginning, old ones first. */
void ashlar_ranges_finish(struct ashlar_range_set *set, const uint64_t *starts, uint64_t count,
                          uint64_t most);

#endif
