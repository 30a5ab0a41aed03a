/* pending.c - see pending.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/pending.h"

/* Records a use of an allocated block that has none like it; its first is that of deferral. */
/*@ requires \valid(m); REQUIRES_USED
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    requires deferral: m->first_use[slot] == 0 ==> stream == ASHLAR_STREAM_DEFERRED;
    requires once: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==> m->use_stream[u] != stream;
    requires room: use_room(*m, 1);
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDED;
    ENSURES_USED
    ensures recorded: 0 <= \result < m->use_top && m->use_block[\result] == slot && m->use_stream[\result] == stream;
    ensures others: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==> u != \result ==>
      u < \old(m->use_top) && \old(*m).use_block[u] == slot && m->use_stream[u] == \old(*m).use_stream[u];
    ensures room: \forall integer n; \old(use_room(*m, n)) ==> use_room(*m, n - 1);
    ensures first: 0 < m->first_use[slot];
*/
static int32_t add(struct ashlar_manager *m, int32_t slot, int32_t stream, uint8_t captured)
{
  return ashlar_use_add(m, slot, stream, captured);
}

enum ashlar_status ashlar_pending_use(struct ashlar_manager *m, int32_t slot, int32_t stream,
                                      uint8_t captured)
{
  int32_t use = ashlar_use_find(m, slot, stream);
  if (use != -1) {
    if (captured == (m->config.policy == ASHLAR_POLICY_FAITHFUL ? 1 : 0)) {
      m->use_captured[use] = captured;
    }
    return ASHLAR_OK;
  }
  if (!ashlar_use_room(m, m->first_use[slot] == 0 ? 2 : 1)) {
    return ASHLAR_ERROR_USES;
  }
  if (m->first_use[slot] == 0) {
    (void)add(m, slot, ASHLAR_STREAM_DEFERRED, 0);
  }
  (void)add(m, slot, stream, captured);
  return ASHLAR_OK;
}

/* Drops the record of deferral of a block, where it has one. */
/*@ requires \valid(m); REQUIRES_GIVEN_BACK(slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    PENDING_INVARIANT(ensures, slot)
    ensures waiting: not_submitted(m->use_top, m->use_block, m->use_number, slot);
    ensures other_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] != slot ==> SAME_USE(u);
    ensures own_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] == slot ==>
      m->use_block[u] == slot || m->use_block[u] == -1;
    ensures deferral: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
      m->use_stream[u] != ASHLAR_STREAM_DEFERRED;
    ensures none: \old(m->first_use[slot]) == 0 ==> m->first_use[slot] == 0;
    ensures spares: m->use_spare_count >= \old(m->use_spare_count);
*/
static void drop_deferral(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_uses_open(m);
  int32_t deferral = ashlar_use_find(m, slot, ASHLAR_STREAM_DEFERRED);
  if (deferral != -1) {
    ashlar_use_drop(m, deferral);
  }
}

/* Frees a pending block that has no use. */
/*@ requires \valid(m); PENDING_INVARIANT(requires, slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING && m->first_use[slot] == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
    ENSURES_USED ENSURES_LISTED
    ensures state: m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures spare: m->spare_count >= \old(m->spare_count);
    ensures REQ_FRAME_unused: others_kept(\old(*m), *m, slot);
    ENSURES_SLOTS_LEFT
    ENSURES_MEMORY_KEPT
*/
static void free_unused(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_uses_open(m);
  /*@ assert none: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] != slot; */
  (void)ashlar_allocation_free(m, slot);
  /*@ assert kept: \forall integer i; 0 <= i < m->top ==> i != slot ==> \at(*m, Pre).state[i] == ASHLAR_PENDING ==>
        m->state[i] == ASHLAR_PENDING; */
}

/* Submits all uses of a block but that of deferral, which is dropped; the block is free where none is left. */
/*@ requires \valid(m); REQUIRES_GIVEN_BACK(slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_ENDED, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
    ENSURES_USED ENSURES_LISTED
    ensures REQ_FRAME_submit: others_kept(\old(*m), *m, slot);
    ensures other_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] != slot ==>
      SAME_USE(u);
    ensures own_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] == slot ==>
      m->use_block[u] == slot || m->use_block[u] == -1;
    ensures same: m->state[slot] == ASHLAR_PENDING ==> same_block(\old(*m), *m, slot);
    ensures unused: \old(m->first_use[slot]) == 0 ==> m->state[slot] != ASHLAR_PENDING;
    ensures nowhere: NOT_USED(\old(*m), slot) ==> m->state[slot] != ASHLAR_PENDING;
    ensures waits: \result != 0 ==> m->state[slot] == ASHLAR_PENDING;
    ENSURES_USES_LEFT
    ENSURES_MEMORY_KEPT
    ensures deferred_clock: m->submitted[ASHLAR_STREAM_DEFERRED] == \old(m->submitted[ASHLAR_STREAM_DEFERRED]);
    ensures deferral: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
      m->use_stream[u] != ASHLAR_STREAM_DEFERRED;
    ensures use_spares: m->use_spare_count >= \old(m->use_spare_count);
    ensures state: m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
static int submit(struct ashlar_manager *m, int32_t slot)
{
  drop_deferral(m, slot);
  //@ ghost ashlar_uses_open(m);
  /*@ assert none: NOT_USED(\at(*m, Pre), slot) ==> \forall integer u; 0 <= u < m->use_top ==>
        m->use_block[u] != slot; */
  //@ assert first: m->first_use[slot] != 0 ==> 0 <= m->first_use[slot] - 1 < m->use_top;
  //@ assert own: m->first_use[slot] != 0 ==> m->use_block[m->first_use[slot] - 1] == slot;
  //@ assert nowhere: NOT_USED(\at(*m, Pre), slot) ==> m->first_use[slot] == 0;
  if (m->first_use[slot] == 0) {
    free_unused(m, slot);
    return 0;
  }
  ashlar_uses_submit(m, slot);
  return 1;
}

/* The first use that was recorded of a block, of those from one on. */
/*@ requires \valid(m); REQUIRES_USES
    requires use: 0 <= use < m->use_top && 0 <= m->use_block[use];
    terminates \true; exits \false;
    assigns \nothing;
    ensures first: 0 <= \result < m->use_top && m->use_block[\result] == m->use_block[use] &&
      m->use_more[\result] == -1;
*/
static int32_t first_recorded(const struct ashlar_manager *m, int32_t use)
{
  //@ ghost ashlar_uses_open(m);
  /*@ loop invariant use: 0 <= use < m->use_top && m->use_block[use] == m->use_block[\at(use, Pre)];
      loop assigns use;
      loop variant m->use_serial[use];
  */
  while (m->use_more[use] != -1) {
    use = m->use_more[use];
  }
  return use;
}

int ashlar_pending_back(struct ashlar_manager *m, int32_t slot, int captured)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t last = m->first_use[slot] - 1;
  if (captured && last != -1 && m->use_stream[last] != ASHLAR_STREAM_DEFERRED) {
    (void)ashlar_use_submit(m, first_recorded(m, last));
    return 0;
  }
  return submit(m, slot);
}

/* Drops the uses of a block that were recorded during a capture. */
/*@ requires \valid(m); REQUIRES_GIVEN_BACK(slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    PENDING_INVARIANT(ensures, slot)
    ensures waiting: not_submitted(m->use_top, m->use_block, m->use_number, slot);
    ensures other_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] != slot ==>
      SAME_USE(u);
    ensures own_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] == slot ==>
      m->use_block[u] == slot || m->use_block[u] == -1;
    ensures REQ_STREAM_defer_captured: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
      m->use_captured[u] == 0;
    ensures spares: m->use_spare_count >= \old(m->use_spare_count);
*/
static void drop_captured(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t use = m->first_use[slot] - 1;
  /*@ loop invariant use: -1 <= use < m->use_top && (0 <= use ==> m->use_block[use] == slot);
      loop invariant passed: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
        (use == -1 || m->use_serial[use] < m->use_serial[u]) ==> m->use_captured[u] == 0;
      PENDING_INVARIANT(loop invariant, slot)
      loop invariant waiting: not_submitted(m->use_top, m->use_block, m->use_number, slot);
      loop invariant other_uses: \forall integer u; 0 <= u < m->use_top ==> \at(*m, Pre).use_block[u] != slot ==>
        m->use_block[u] == \at(*m, Pre).use_block[u];
      loop invariant own_uses: \forall integer u; 0 <= u < m->use_top ==> \at(*m, Pre).use_block[u] == slot ==>
        m->use_block[u] == slot || m->use_block[u] == -1;
      loop invariant spares: m->use_spare_count >= \at(m->use_spare_count, Pre);
      loop assigns use, ASSIGNS_RECORDS, ASSIGNS_CHAINS;
      loop variant use == -1 ? 0 : m->use_serial[use];
  */
  while (use != -1) {
    //@ ghost ashlar_uses_open(m);
    int32_t more = m->use_more[use];
    if (m->use_captured[use] != 0) {
      ashlar_use_drop(m, use);
    }
    use = more;
  }
}

/* Takes the first use of a stream's queue, if it is finished: its pending block, which may have none left; -1: none is. */
/*@ requires \valid(m); REQUIRES_USED
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS, EVERY_USE(use_number), m->queue_head[stream], m->queue_tail[stream];
    PENDING_INVARIANT(ensures, \result)
    ensures pending: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_PENDING;
    ensures deferred: \result != -1 ==> stream == ASHLAR_STREAM_DEFERRED ==>
      not_submitted(m->use_top, m->use_block, m->use_number, \result);
    ensures none: \result == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> m->completed[stream] < m->use_number[u];
    ensures spare: m->use_spare_count == \old(m->use_spare_count) + (\result == -1 ? 0 : 1);
    ensures uses: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == -1 || SAME_USE(u);
*/
static int32_t finished(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_uses_open(m);
  return ashlar_use_pop(m, stream);
}

void ashlar_pending_go_on(struct ashlar_manager *m)
{
  int32_t slot;
  //@ ghost ashlar_uses_open(m);
  m->completed[ASHLAR_STREAM_DEFERRED] = m->submitted[ASHLAR_STREAM_DEFERRED];
  //@ ghost ashlar_uses_close(m);
  slot = finished(m, ASHLAR_STREAM_DEFERRED);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING &&
        not_submitted(m->use_top, m->use_block, m->use_number, slot);
      loop invariant none: slot == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
      PENDING_INVARIANT(loop invariant, slot) KEEPS_LISTED
      loop invariant clock: m->completed[ASHLAR_STREAM_DEFERRED] == m->submitted[ASHLAR_STREAM_DEFERRED] ==
        \at(m->submitted[ASHLAR_STREAM_DEFERRED], Pre);
      loop invariant frame: owned_kept(\at(*m, Pre), *m);
      loop invariant spares: m->spare_count >= \at(m->spare_count, Pre) && m->use_top == \at(m->use_top, Pre);
      KEEPS_CLOCKS KEEPS_USES_LEFT
      loop assigns slot, ASSIGNS_ENDED, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
      loop variant m->use_top - m->use_spare_count + (slot == -1 ? 0 : 1);
  */
  while (slot != -1) {
    drop_captured(m, slot);
    (void)submit(m, slot);
    slot = finished(m, ASHLAR_STREAM_DEFERRED);
  }
}

/* A pending block is free if none of its uses is left. 1: it is. */
/*@ requires \valid(m); PENDING_INVARIANT(requires, slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
    ENSURES_USED ENSURES_LISTED
    ensures freed: 0 <= \result <= 1;
    ensures state: m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures same: m->state[slot] == ASHLAR_PENDING ==> same_block(\old(*m), *m, slot);
    ensures spare: m->spare_count >= \old(m->spare_count);
    ensures REQ_FRAME_settle: others_kept(\old(*m), *m, slot);
    ENSURES_SLOTS_LEFT
*/
static int32_t settle(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_uses_open(m);
  if (m->first_use[slot] != 0) {
    return 0;
  }
  free_unused(m, slot);
  return 1;
}

int32_t ashlar_pending_finish(struct ashlar_manager *m, int32_t stream, uint64_t number)
{
  int32_t freed = 0;
  int32_t slot;
  //@ ghost ashlar_uses_open(m);
  if (number > m->completed[stream]) {
    m->completed[stream] = number;
  }
  //@ ghost ashlar_uses_close(m);
  slot = finished(m, stream);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
      loop invariant none: slot == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> m->completed[stream] < m->use_number[u];
      PENDING_INVARIANT(loop invariant, slot) KEEPS_LISTED
      loop invariant frame: owned_kept(\at(*m, Pre), *m);
      loop invariant freed: 0 <= freed <= m->use_spare_count - (slot != -1 ? 1 : 0);
      loop invariant spares: m->spare_count >= \at(m->spare_count, Pre) && m->use_top == \at(m->use_top, Pre);
      KEEPS_USES_LEFT
      loop invariant uses_kept: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == -1 ||
        m->use_number[u] == \at(*m, Pre).use_number[u];
      loop invariant room: m->use_spare_count <= m->use_top <= ASHLAR_USES;
      loop assigns slot, freed, ASSIGNS_RECORDS, ASSIGNS_CHAINS, EVERY_USE(use_number), m->queue_head[stream],
        m->queue_tail[stream], ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
      loop variant m->use_top - m->use_spare_count + (slot == -1 ? 0 : 1);
  */
  while (slot != -1) {
    freed += settle(m, slot);
    slot = finished(m, stream);
  }
  return freed;
}

uint64_t ashlar_pending_last(const struct ashlar_manager *m, int32_t stream, int32_t pool)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t use = m->queue_head[stream] - 1;
  uint64_t last = 0;
  if (pool == -1) {
    return m->queue_tail[stream] == 0 ? 0 : m->use_number[m->queue_tail[stream] - 1];
  }
  /*@ loop invariant use: -1 <= use < m->use_top && (0 <= use ==> 0 <= m->use_block[use] &&
        m->use_stream[use] == stream && 0 < m->use_number[use]);
      loop invariant last: last <= m->submitted[stream];
      loop assigns use, last;
      loop variant use == -1 ? 0 : m->submitted[stream] + 1 - m->use_number[use];
  */
  while (use != -1) {
    if (ashlar_home_pool(m->home[m->use_block[use]]) == pool) {
      last = m->use_number[use];
    }
    use = m->use_next[use];
  }
  return last;
}

/* Drops a use of an allocated block that is not that of deferral. */
/*@ requires \valid(m); REQUIRES_USED
    requires use: 0 <= use < m->use_top && 0 <= m->use_block[use] && m->use_stream[use] != ASHLAR_STREAM_DEFERRED;
    requires allocated: m->state[m->use_block[use]] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    ENSURES_USED
    ensures gone: m->use_block[use] == -1;
    ensures others: \forall integer u; 0 <= u < m->use_top ==> u != use ==> m->use_block[u] == \old(*m).use_block[u];
*/
static void forget(struct ashlar_manager *m, int32_t use)
{
  //@ ghost ashlar_uses_open(m);
  ashlar_use_drop(m, use);
}

void ashlar_pending_forget(struct ashlar_manager *m, int32_t stream)
{
  int32_t use = 0;
  //@ ghost ashlar_uses_open(m);
  /*@ loop invariant use: 0 <= use <= m->use_top;
      loop invariant passed: \forall integer u; 0 <= u < use ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == stream ==> m->state[m->use_block[u]] == ASHLAR_PENDING;
      PENDING_INVARIANT(loop invariant, -1)
      loop invariant uses_left: \forall integer u; 0 <= u < m->use_top ==> USE_LEFT(\at(*m, Pre), u);
      loop assigns use, ASSIGNS_RECORDS, ASSIGNS_CHAINS;
      loop variant m->use_top - use;
  */
  while (use < m->use_top) {
    if (m->use_block[use] != -1 && m->use_stream[use] == stream &&
        m->state[m->use_block[use]] == ASHLAR_ALLOCATED) {
      forget(m, use);
    }
    use++;
  }
}
