/* stream_use.h - uses of a block on streams other than its own, and when they are finished (REQ-STREAM).
 *
 * A stream has a clock: uses that wait for it are numbered 1, 2, 3 ... as they are submitted, and the layer above reports
 * up to which number the work of the stream is finished. While the owner has a block, its uses form a chain; when the
 * owner frees it they are submitted, each to the queue of its stream; the block may be reused when its chain is empty.
 * Nothing here looks at the state of blocks: that is for the operations that call it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_STREAM_USE_H
#define ASHLAR_CORE_STREAM_USE_H

#include "core/manager.h"
#include "spec/groups.h"

/* For the prover only: the state opened into its clauses, and closed again. Comments to the compiler. */
/*@ ghost
  /@ requires \valid(m);
     requires uses: USES_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     USES_CLAUSES(ensures)
  @/
  void ashlar_uses_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     USES_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures uses: USES_STATE;
  @/
  void ashlar_uses_close(const struct ashlar_manager *m);
*/

/* The record of the block's use on the stream, -1: none. Linear in the uses of the block. */
/*@ requires \valid(m); REQUIRES_USES
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_use_found: \result != -1 ==> 0 <= \result < m->use_top && m->use_block[\result] == slot &&
      m->use_stream[\result] == stream;
    ensures REQ_STREAM_use_none: \result == -1 ==> \forall integer u; 0 <= u < m->use_top ==>
      m->use_block[u] == slot ==> m->use_stream[u] != stream;
*/
int32_t ashlar_use_find(const struct ashlar_manager *m, int32_t slot, int32_t stream);

/* Whether `count` uses can be recorded. O(1). */
/*@ requires \valid(m); REQUIRES_USES
    requires count: 0 < count <= 2;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CAPACITY_others_uses: \result != 0 <==> use_room(*m, count);
*/
int ashlar_use_room(const struct ashlar_manager *m, int32_t count);

/* Records a use of a block, which none of its records has yet. O(1). */
/*@ requires \valid(m); REQUIRES_USES
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= stream < ASHLAR_STREAMS;
    requires once: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==> m->use_stream[u] != stream;
    requires room: use_room(*m, 1);
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, m->use_top, EVERY_USE(use_stream), EVERY_USE(use_serial), m->use_serials,
      EVERY_USE(use_number), EVERY_USE(use_captured), ASSIGNS_CHAINS;
    ENSURES_USES
    ensures REQ_STREAM_use_recorded: 0 <= \result < m->use_top && m->use_block[\result] == slot &&
      m->use_stream[\result] == stream && m->use_number[\result] == 0 && m->use_captured[\result] == captured;
    ensures room: \forall integer n; \old(use_room(*m, n)) ==> use_room(*m, n - 1);
    ensures REQ_FRAME_record: \forall integer u; 0 <= u < \old(m->use_top) ==> u != \result ==>
      SAME_USE(u);
    ensures first: m->first_use[slot] == \result + 1 && m->use_more[\result] == \old(m->first_use[slot]) - 1;
    ensures others_more: \forall integer u; 0 <= u < \old(m->use_top) ==> u != \result ==>
      m->use_more[u] == \old(*m).use_more[u] && m->use_captured[u] == \old(*m).use_captured[u];
    ENSURES_OTHERS_FIRST(slot)
    ensures new: \result < \old(m->use_top) ==> \old(*m).use_block[\result] == -1;
    ensures grown: m->use_top == \old(m->use_top) ||
      (m->use_top == \old(m->use_top) + 1 && \result == \old(m->use_top));
*/
int32_t ashlar_use_add(struct ashlar_manager *m, int32_t slot, int32_t stream, uint8_t captured);

/* Forgets a use that is in no queue. O(1). */
/*@ requires \valid(m); REQUIRES_USES
    requires known: 0 <= use < m->use_top && 0 <= m->use_block[use] && m->use_number[use] == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    ENSURES_USES
    ensures REQ_STREAM_defer_dropped: m->use_block[use] == -1;
    ensures spare: m->use_spare_count == \old(m->use_spare_count) + 1;
    ENSURES_OTHERS_FIRST(\old(m->use_block[use]))
    ENSURES_OTHERS_MORE(use)
    ensures REQ_FRAME_drop: \forall integer u; 0 <= u < m->use_top ==> u != use ==> SAME_USE(u);
*/
void ashlar_use_drop(struct ashlar_manager *m, int32_t use);

/* Puts a use that is in no queue behind the others of its stream; its number is returned. O(1). */
/*@ requires \valid(m); REQUIRES_USES
    requires known: 0 <= use < m->use_top && 0 <= m->use_block[use] && m->use_number[use] == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_QUEUES;
    ENSURES_USES
    ensures REQ_STREAM_queue_last: \result == m->use_number[use] == m->submitted[m->use_stream[use]] ==
      \old(m->submitted[m->use_stream[use]]) + 1;
    ensures others: \forall integer u; 0 <= u < m->use_top ==> u != use ==> m->use_number[u] == \old(*m).use_number[u];
    ensures clocks: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> s != m->use_stream[use] ==>
      m->submitted[s] == \old(*m).submitted[s];
*/
uint64_t ashlar_use_submit(struct ashlar_manager *m, int32_t use);

/* Submits every use of a block, none of which is in a queue. Linear in the uses of the block. */
/*@ requires \valid(m); REQUIRES_USES
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    requires waiting: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==> m->use_number[u] == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_QUEUES;
    ENSURES_USES
    ensures REQ_STREAM_queue_all: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==> 0 < m->use_number[u];
    ensures REQ_FRAME_submit: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] != slot ==>
      m->use_number[u] == \old(*m).use_number[u];
    ENSURES_CLOCKS
    ensures REQ_STREAM_defer_clock: (\forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
      m->use_stream[u] != ASHLAR_STREAM_DEFERRED) ==>
      m->submitted[ASHLAR_STREAM_DEFERRED] == \old(m->submitted[ASHLAR_STREAM_DEFERRED]);
*/
void ashlar_uses_submit(struct ashlar_manager *m, int32_t slot);

/* Takes the first use of a stream's queue, if it is finished: forgets it and returns the slot of its block; -1: none is
   finished. O(1). */
/*@ requires \valid(m); REQUIRES_USES
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS, EVERY_USE(use_number), m->queue_head[stream], m->queue_tail[stream];
    ENSURES_USES
    ensures REQ_STREAM_poll_none: \result == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> m->completed[stream] < m->use_number[u];
    ensures spare: m->use_spare_count == \old(m->use_spare_count) + (\result == -1 ? 0 : 1);
    ENSURES_OTHERS_FIRST(\result)
    ensures others_more: \result != -1 ==> \forall integer u; 0 <= u < m->use_top ==>
      u != \old(m->queue_head[stream]) - 1 ==> 0 <= m->use_block[u] ==> m->use_more[u] == \old(*m).use_more[u] ||
      (\old(*m).use_more[u] == \old(m->queue_head[stream]) - 1 && m->use_block[u] == \result);
    ensures kept: \result == -1 ==> \forall integer u; 0 <= u < m->use_top ==> m->use_more[u] == \old(*m).use_more[u];
    ensures unchanged: \result == -1 ==> \forall integer u; 0 <= u < m->use_top ==> SAME_USE(u);
    ensures REQ_STREAM_poll_finished: \result != -1 ==> 0 <= \result < ASHLAR_SLOTS && 0 < \old(m->queue_head[stream]) &&
      \old(*m).use_block[\old(m->queue_head[stream]) - 1] == \result &&
      m->use_block[\old(m->queue_head[stream]) - 1] == -1 &&
      \old(*m).use_number[\old(m->queue_head[stream]) - 1] <= m->completed[stream];
    ensures REQ_FRAME_pop: \result != -1 ==> \forall integer u; 0 <= u < m->use_top ==>
      u != \old(m->queue_head[stream]) - 1 ==> SAME_USE(u);
*/
int32_t ashlar_use_pop(struct ashlar_manager *m, int32_t stream);

#endif
