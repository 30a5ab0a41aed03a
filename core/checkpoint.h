/* checkpoint.h - the mapped blocks of a private pool, recorded and restored (REQ-CHECKPOINT).
 *
 * A graph that is captured from a recorded state must find its blocks where they were. The record is the caller's: an array
 * of blocks, segment by segment, in each ascending by address.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_CHECKPOINT_H
#define ASHLAR_CORE_CHECKPOINT_H

#include "core/block_manager.h"

enum { ASHLAR_SAVED_WORDS = ASHLAR_STREAMS / 64 };

/* One recorded block. */
struct ashlar_saved {
  uint64_t address;
  uint64_t size;
  uint64_t use[ASHLAR_SAVED_WORDS]; /* bit s % 64 of word s / 64: it was used on stream s */
  int32_t home;
  uint8_t allocated; /* 1: it had an owner; 0: it was free */
};

struct ashlar_recorded {
  enum ashlar_status status;
  int32_t count; /* blocks of the pool, also where the caller's array is too short */
};

struct ashlar_restored {
  enum ashlar_status status;
  int32_t freed;   /* blocks that were allocated before */
  int32_t created; /* blocks that are allocated now */
};

/* Records a private pool, after deferred blocks went on. Errors: BUSY, POOL; PENDING: a block of it is pending or held;
   CAPACITY: it has more than `room` blocks, of which the first are recorded. Linear in the blocks of the manager. */
struct ashlar_recorded ashlar_checkpoint_save(struct ashlar_manager *m, int32_t pool,
                                              struct ashlar_caller caller,
                                              struct ashlar_saved *saved, int32_t room);

/* Makes the allocated blocks of a private pool those of a record: frees what the pool has, and takes what was recorded, at
   its address. Statistics move once, by the difference. Errors, before anything changes but that deferred blocks went on:
   BUSY, POOL, PENDING as above, or where a block of the pool has a use; MISFIT: what was recorded is not there any more, or a
   stream of its uses is gone; CAPACITY, USES. Linear in the blocks of the manager for each segment that was recorded. */
struct ashlar_restored ashlar_checkpoint_restore(struct ashlar_manager *m, int32_t pool,
                                                 struct ashlar_caller caller,
                                                 const struct ashlar_saved *saved, int32_t count);

#endif
