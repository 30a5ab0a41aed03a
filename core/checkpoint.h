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

#include "spec/checkpoint.h"

/* Records a private pool, after deferred blocks went on. Errors: BUSY, POOL; PENDING: a block of it is pending or held;
   CAPACITY: it has more than `room` blocks, of which the first are recorded. Linear in the slots and in the uses of the
   pool's blocks, after what deferred blocks cost: ashlar_pending_go_on. */
/*@ requires \valid(m); requires whole: WHOLE_STATE; SETTINGS_INVARIANT(requires)
    requires saved: 0 <= room && \valid(saved + (0 .. room - 1)) && \separated(m, saved + (..));
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED],
      saved[0 .. room - 1];
    ensures whole: WHOLE_STATE; SETTINGS_INVARIANT(ensures)
    ensures REQ_ATOMIC_busy_save: \result.status == ASHLAR_ERROR_BUSY <==>
      is_busy(*m);
    ensures pool: \result.status != ASHLAR_ERROR_BUSY ==> (\result.status == ASHLAR_ERROR_POOL <==> !has_pool(*m, pool));
    ensures REQ_ATOMIC_save: \result.status == ASHLAR_ERROR_BUSY || \result.status == ASHLAR_ERROR_POOL ==>
      *m == \old(*m) && \result.count == 0;
    ensures REQ_CHECKPOINT_save_pending: \result.status == ASHLAR_ERROR_PENDING ==> !pool_settled(*m, pool);
    ensures REQ_CHECKPOINT_save_counted: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_CAPACITY ==>
      pool_settled(*m, pool) && \result.count == blocks_in(m->state, m->home, pool, 0, m->top);
    ensures REQ_CAPACITY_others_save: \result.status == ASHLAR_ERROR_CAPACITY ==> room < \result.count;
    ensures room: \result.status == ASHLAR_OK ==> \result.count <= room;
    ensures status: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_BUSY ||
      \result.status == ASHLAR_ERROR_POOL || \result.status == ASHLAR_ERROR_PENDING ||
      \result.status == ASHLAR_ERROR_CAPACITY;
    ensures REQ_FRAME_save: owned_kept(\old(*m), *m);
*/
struct ashlar_recorded ashlar_checkpoint_save(struct ashlar_manager *m, int32_t pool,
                                              struct ashlar_caller caller,
                                              struct ashlar_saved *saved, int32_t room);

/* Makes the allocated blocks of a private pool those of a record: frees what the pool has, and takes what was recorded,
   at its address. Statistics move once, by the difference. Errors, before anything changes but that deferred blocks
   went on: BUSY, POOL, PENDING as above, or where a block of the pool has a use; MISFIT: what was recorded is not there
   any more, two recorded blocks overlap, or a stream of their uses is gone; CAPACITY, USES. Deferred blocks first:
   ashlar_pending_go_on. Then linear in the slots and in the recorded uses; for each recorded block linear in the slots,
   and O(streams^2) for its uses; O(free blocks) moves and linear in a bucket of the address map for each block that is
   freed or made; the square of the recorded blocks where they do not ascend. */
/*@ requires \valid(m); requires whole: WHOLE_STATE; SETTINGS_INVARIANT(requires)
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1)) && \separated(m, saved + (..));
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_GIVEN_BACK, ASSIGNS_ALLOCATION, m->completed[ASHLAR_STREAM_DEFERRED];
    ensures whole: WHOLE_STATE; SETTINGS_INVARIANT(ensures)
    ensures REQ_ATOMIC_busy_restore: \result.status == ASHLAR_ERROR_BUSY <==>
      is_busy(*m);
    ensures pool: \result.status != ASHLAR_ERROR_BUSY ==> (\result.status == ASHLAR_ERROR_POOL <==> !has_pool(*m, pool));
    ensures REQ_ATOMIC_restore: \result.status == ASHLAR_ERROR_BUSY || \result.status == ASHLAR_ERROR_POOL ==>
      *m == \old(*m);
    ensures REQ_ATOMIC_restore_polled: \result.status != ASHLAR_OK ==> owned_kept(\old(*m), *m) &&
      \result.freed == 0 && \result.created == 0;
    ensures created: 0 <= \result.freed && 0 <= \result.created <= count;
    ensures REQ_CHECKPOINT_restore_done: \result.status == ASHLAR_OK ==> \forall integer k; 0 <= k < count ==>
      saved[k].allocated != 0 ==> is_made(*m, saved[k]);
    ensures REQ_FRAME_restore: \forall integer j; 0 <= j < \old(m->top) ==> is_owned(\old(*m), j) ==>
      (\old(*m).state[j] == ASHLAR_ALLOCATED ==> !in_pool(\old(*m), pool, j)) ==>
      m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j] &&
      m->generation[j] == \old(*m).generation[j];
*/
struct ashlar_restored ashlar_checkpoint_restore(struct ashlar_manager *m, int32_t pool,
                                                 struct ashlar_caller caller,
                                                 const struct ashlar_saved *saved, int32_t count);

#endif
