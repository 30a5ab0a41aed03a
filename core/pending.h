/* pending.h - blocks that their owner has given back, and when they may be reused (REQ-STREAM).
 *
 * A block that is used on other streams is pending until the last of its uses is finished. During a capture nothing can
 * be asked of the device, so such a block is deferred: its uses wait until a call outside the capture. A block with uses
 * therefore has one record more, of ASHLAR_STREAM_DEFERRED, its first; the queue of that number lists the deferred blocks in
 * their order, and no call can fail for want of a record when a block is given back.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_PENDING_H
#define ASHLAR_CORE_PENDING_H

#include "core/allocation.h"
#include "core/stream_use.h"
#include "spec/pending.h"

/* Records a use of an allocated block on another stream; `captured`: during a capture. ASHLAR_ERROR_USES: no record is
   left. A use that is recorded already: faithful policy, of the capture if either call was; complete policy, if both
   were. Linear in the uses of the block. */
/*@ requires \valid(m); REQUIRES_USED
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    requires captured: captured <= 1;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDED;
    ENSURES_USED
    ensures REQ_STREAM_use_recorded: \result == ASHLAR_OK ==> \exists integer u; 0 <= u < m->use_top &&
      m->use_block[u] == slot && m->use_stream[u] == stream;
    ensures REQ_CAPACITY_others_uses: \result != ASHLAR_OK ==> \result == ASHLAR_ERROR_USES;
    ensures REQ_ATOMIC_use: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_pending_use(struct ashlar_manager *m, int32_t slot, int32_t stream,
                                      uint8_t captured);

/* A block that is pending has no owner any more: it is free where it has no use, else its uses are submitted, or,
   during a capture, it is deferred. 1: uses were submitted. Linear in the uses of the block, and O(free blocks) moves
   where it is free. */
/*@ requires \valid(m); REQUIRES_ENDED(slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_ENDED, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
    ENSURES_USED ENSURES_LISTED
    ensures REQ_FREE_done: m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_FREE ||
      m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_STREAM_pending_unused: \old(m->first_use[slot]) == 0 ==> m->state[slot] != ASHLAR_PENDING;
    ensures REQ_STREAM_pending_nowhere: captured == 0 ==> NOT_USED(\old(*m), slot) ==> m->state[slot] != ASHLAR_PENDING;
    ensures REQ_STREAM_queue_waits: \result != 0 ==> m->state[slot] == ASHLAR_PENDING;
    ensures REQ_FRAME_back: others_kept(\old(*m), *m, slot);
    ENSURES_USES_LEFT
    ENSURES_MEMORY_KEPT
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int ashlar_pending_back(struct ashlar_manager *m, int32_t slot, int captured);

/* Deferred blocks go on, in the order in which they were deferred: uses recorded during a capture are dropped, the
   others submitted; a block with none left is free. Linear in the uses of the deferred blocks, and O(free blocks) moves
   for each that is free. */
/*@ requires \valid(m); REQUIRES_USED
    terminates \true; exits \false;
    assigns ASSIGNS_ENDED, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    ENSURES_USED ENSURES_LISTED
    ensures REQ_FRAME_go_on: owned_kept(\old(*m), *m);
    ENSURES_USES_LEFT
    ensures REQ_STREAM_defer_none: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_pending_go_on(struct ashlar_manager *m);

/* All uses of a stream up to a number are finished: a block whose last one it was is free. How many blocks that were.
   Linear in the uses that are finished, and O(free blocks) moves for each of these blocks. */
/*@ requires \valid(m); REQUIRES_USED
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    requires number: number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS, EVERY_USE(use_number), m->queue_head[stream], m->queue_tail[stream],
      ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->completed[stream];
    ENSURES_USED ENSURES_LISTED
    ensures REQ_STREAM_poll_done: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures REQ_STREAM_poll_completed: m->completed[stream] ==
      (\old(m->completed[stream]) < number ? number : \old(m->completed[stream]));
    ensures count: 0 <= \result;
    ensures REQ_FRAME_finish: owned_kept(\old(*m), *m);
    ensures REQ_FRAME_finish_uses: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == -1 ||
      SAME_USE(u);
    ENSURES_USES_LEFT
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_pending_finish(struct ashlar_manager *m, int32_t stream, uint64_t number);

/* Number of the last use in the queue of a stream, of a block of a pool (-1: of any); 0: there is none. Linear in the
   queue, for -1 O(1). */
/*@ requires \valid(m); REQUIRES_USED
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_drain_number: \result <= m->submitted[stream];
    ensures REQ_STREAM_drain_none: \result == 0 ==> pool == -1 ==> \forall integer u; 0 <= u < m->use_top ==>
      0 <= m->use_block[u] ==> m->use_stream[u] == stream ==> m->use_number[u] == 0;
*/
uint64_t ashlar_pending_last(const struct ashlar_manager *m, int32_t stream, int32_t pool);

/* Forgets the uses on a stream of allocated blocks: nothing will use the blocks on it any more. Linear in
   the records. */
/*@ requires \valid(m); REQUIRES_USED
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    ENSURES_USED
    ensures uses_left: \forall integer u; 0 <= u < m->use_top ==> USE_LEFT(\old(*m), u);
    ensures REQ_STREAM_gone_forgotten: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> m->state[m->use_block[u]] == ASHLAR_PENDING;
*/
void ashlar_pending_forget(struct ashlar_manager *m, int32_t stream);

#endif
