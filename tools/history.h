/* history.h - the state before the first recorded event, found by running the events backwards.
 *
 * The final state is listed in the snapshot. Undoing the events from the last to the first leaves the
 * segments and live blocks from before the recording. Of a block that was freed during the recording
 * the request is known but not the exact size: it may have kept a rest that was too small to split off.
 * Its size is an interval, narrowed here by what is certain: the next block, the end of the segment,
 * and allocations right behind it, which always take the front of a free block.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_H
#define ASHLAR_TOOLS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block_manager.h"
#include "core/size_policy.h"
#include "tools/history_live.h"
#include "tools/history_ranges.h"
#include "tools/history_segments.h"
#include "tools/snapshot.h"

/* The part of a snapshot that one device owns. */
struct ashlar_device_part {
  const struct ashlar_snapshot *snapshot;
  const uint64_t *segments; /* indices into snapshot->segments, ascending by address */
  uint64_t segment_count;
  const struct ashlar_event *events;
  uint64_t event_count;
  int32_t device;
};

/* A block that was live before the first event. */
struct ashlar_old_block {
  uint64_t address;
  uint64_t requested; /* bytes; 0 where the file does not say */
  uint64_t low;       /* its size is in [low, high], a multiple of 512 */
  uint64_t high;
  uint64_t freed_at; /* event that frees it, ASHLAR_NO_EVENT: live at the end */
  bool is_held;      /* in a segment that the manager holds; else low and high mean nothing */
};

/* Where an event contradicts what comes after it. */
enum ashlar_conflict_kind {
  ASHLAR_CONFLICT_BLOCK,         /* alloc: the block is neither freed later nor live at the end, or
                                    (then `value` is not 0) with another request */
  ASHLAR_CONFLICT_SEGMENT,       /* segment_alloc: neither freed later nor listed */
  ASHLAR_CONFLICT_SEGMENT_SIZE,  /* segment_alloc: `value` is the size it has later */
  ASHLAR_CONFLICT_SEGMENT_PLACE, /* segment_alloc: `value` is the address it has later */
  ASHLAR_CONFLICT_RELEASE,       /* segment_free: the segment is there afterwards */
  ASHLAR_CONFLICT_MAP,           /* segment_map: it is not mapped afterwards */
  ASHLAR_CONFLICT_UNMAP,         /* segment_unmap: it is mapped afterwards */
};

struct ashlar_conflict {
  uint64_t event;
  uint64_t value;
  enum ashlar_conflict_kind kind;
};

struct ashlar_history {
  struct ashlar_old_block *blocks; /* ascending by address; those held are apart */
  uint64_t block_count;
  uint64_t unknown_sizes; /* blocks with low < high */
  struct ashlar_segment_set segments;
  struct ashlar_conflict *conflicts; /* ascending by event; the last ones of the trace at most */
  uint64_t conflict_count;
  bool has_requests; /* requests of frees are recorded; a recording may leave out kinds of events */
  bool has_late_frees; /* some free completed apart from its request: streams were waited for */
  struct ashlar_range_set
      ranges; /* growable segments, by their beginning; what was mapped before the first event */
  bool grows; /* growable segments are on */
  bool is_growable; /* there are some that cannot be followed */
  bool tells_pools; /* events name their pools; older recordings do not */
  bool *
      has_segments; /* by pool of the snapshot: ordinary ones. Where segments grow, a pool that has some has an
                          allocator of its own */
  uint8_t *
      has_split; /* by pool of the snapshot: how often it was seen, up to a few, that a block in it was split. One
                          where none was may be one of those that are told not to split */
};

/* Whether blocks of the pool (an index of the snapshot) are split. A private pool may be told not to; where nothing in it
   was ever split, it makes no difference to take it for one of those. */
bool ashlar_history_splits(const struct ashlar_history *history, uint16_t pool);

/* Rebuilds the state; *history is overwritten and is the caller's to free with ashlar_history_free.
   False when memory is short; then *history is empty. Expected linear in the events. */
bool ashlar_history_rebuild(const struct ashlar_device_part *part,
                            const struct ashlar_config *config, struct ashlar_history *history);

void ashlar_history_free(struct ashlar_history *history);

/* Rounded size of a request; 0 where it is above the greatest one. */
uint64_t ashlar_history_rounded(const struct ashlar_config *config, uint64_t bytes);

/* Pool of a segment, which its size tells: ASHLAR_CLASS_SMALL or ASHLAR_CLASS_LARGE. */
int32_t ashlar_history_segment_pool(uint64_t size);

/* Whether a request can lead to a segment of this size. */
bool ashlar_history_is_segment_size(const struct ashlar_config *config, uint64_t size);

/* Pool of a listed segment: by its size or, where that is none a segment has, by its type. */
int32_t ashlar_history_listed_pool(const struct ashlar_config *config,
                                   const struct ashlar_segment *segment);

/* Index of the first event from `from` on that tells of memory; event_count where there is none.
   Annotations, snapshots and unknown actions are passed over. */
uint64_t ashlar_history_next(const struct ashlar_device_part *part, uint64_t from);

#endif
