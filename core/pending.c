/* pending.c - see pending.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/pending.h"

enum ashlar_status ashlar_pending_use(struct ashlar_manager *m, int32_t slot, int32_t stream,
                                      uint8_t captured)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t use = ashlar_use_find(m, slot, stream);
  if (use != -1) {
    if (m->config.policy == ASHLAR_POLICY_FAITHFUL) {
      m->use_captured[use] |= captured;
    } else {
      m->use_captured[use] &= captured;
    }
    return ASHLAR_OK;
  }
  if (!ashlar_use_room(m, m->first_use[slot] == 0 ? 2 : 1)) {
    return ASHLAR_ERROR_USES;
  }
  if (m->first_use[slot] == 0) {
    (void)ashlar_use_add(m, slot, ASHLAR_STREAM_DEFERRED, 0);
  }
  (void)ashlar_use_add(m, slot, stream, captured);
  return ASHLAR_OK;
}

/* Submits all uses of a block but that of deferral, which is dropped; the block is free where none is left. */
/*@ requires \valid(m); REQUIRES_GIVEN_BACK(slot)
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered);
    ENSURES_USED ENSURES_LISTED
    ensures REQ_FRAME_submit: others_kept(\old(*m), *m, slot);
    ensures other_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] != slot ==>
      same_use(\old(*m), *m, u);
    ensures own_uses: \forall integer u; 0 <= u < m->use_top ==> \old(*m).use_block[u] == slot ==>
      m->use_block[u] == slot || m->use_block[u] == -1;
    ensures deferral: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
      m->use_stream[u] != ASHLAR_STREAM_DEFERRED;
    ensures tops: m->use_top == \old(m->use_top) && m->use_spare_count >= \old(m->use_spare_count);
    ensures state: m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures spare: m->spare_count >= \old(m->spare_count);
    ENSURES_CLOCKS
*/
static int submit(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t deferral = ashlar_use_find(m, slot, ASHLAR_STREAM_DEFERRED);
  if (deferral != -1) {
    ashlar_use_drop(m, deferral);
  }
  if (m->first_use[slot] == 0) {
    (void)ashlar_allocation_free(m, slot);
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
      same_use(\old(*m), *m, u);
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
      loop invariant other_uses: \forall integer u; 0 <= u < m->use_top ==> \at(m->use_block[u], Pre) != slot ==>
        m->use_block[u] == \at(m->use_block[u], Pre);
      loop invariant own_uses: \forall integer u; 0 <= u < m->use_top ==> \at(m->use_block[u], Pre) == slot ==>
        m->use_block[u] == slot || m->use_block[u] == -1;
      loop invariant spares: m->use_spare_count >= \at(m->use_spare_count, Pre);
      loop assigns use, ASSIGNS_RECORDS, ASSIGNS_CHAINS;
      loop variant use == -1 ? 0 : m->use_serial[use];
  */
  while (use != -1) {
    int32_t more = m->use_more[use];
    if (m->use_captured[use] != 0) {
      ashlar_use_drop(m, use);
    }
    use = more;
  }
}

void ashlar_pending_go_on(struct ashlar_manager *m)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t slot;
  m->completed[ASHLAR_STREAM_DEFERRED] = m->submitted[ASHLAR_STREAM_DEFERRED];
  slot = ashlar_use_pop(m, ASHLAR_STREAM_DEFERRED);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING &&
        not_submitted(m->use_top, m->use_block, m->use_number, slot);
      loop invariant none: slot == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
      PENDING_INVARIANT(loop invariant, slot) KEEPS_LISTED
      loop invariant clock: m->completed[ASHLAR_STREAM_DEFERRED] == m->submitted[ASHLAR_STREAM_DEFERRED];
      loop invariant frame: owned_kept(\at(*m, Pre), *m);
      loop invariant spares: m->spare_count >= \at(m->spare_count, Pre) && m->use_top == \at(m->use_top, Pre);
      loop invariant clocks: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \at(*m, Pre).submitted[s] <= m->submitted[s];
      loop assigns slot, ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered);
      loop variant m->use_top - m->use_spare_count;
  */
  while (slot != -1) {
    drop_captured(m, slot);
    (void)submit(m, slot);
    slot = ashlar_use_pop(m, ASHLAR_STREAM_DEFERRED);
  }
}

int32_t ashlar_pending_finish(struct ashlar_manager *m, int32_t stream, uint64_t number)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t freed = 0;
  int32_t slot;
  if (number > m->completed[stream]) {
    m->completed[stream] = number;
  }
  slot = ashlar_use_pop(m, stream);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
      loop invariant none: slot == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> m->completed[stream] < m->use_number[u];
      PENDING_INVARIANT(loop invariant, slot) KEEPS_LISTED
      loop invariant frame: owned_kept(\at(*m, Pre), *m);
      loop invariant freed: 0 <= freed <= m->use_spare_count - (slot != -1 ? 1 : 0);
      loop invariant spares: m->spare_count >= \at(m->spare_count, Pre) && m->use_top == \at(m->use_top, Pre);
      loop invariant clocks: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \at(*m, Pre).submitted[s] <= m->submitted[s];
      loop assigns slot, freed, ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered);
      loop variant m->use_top - m->use_spare_count;
  */
  while (slot != -1) {
    if (m->first_use[slot] == 0) {
      (void)ashlar_allocation_free(m, slot);
      freed++;
    }
    slot = ashlar_use_pop(m, stream);
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

void ashlar_pending_forget(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_uses_open(m);
  int32_t use = 0;
  /*@ loop invariant use: 0 <= use <= m->use_top;
      loop invariant passed: \forall integer u; 0 <= u < use ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] == stream ==> m->state[m->use_block[u]] == ASHLAR_PENDING;
      PENDING_INVARIANT(loop invariant, -1)
      loop assigns use, ASSIGNS_RECORDS, ASSIGNS_CHAINS;
      loop variant m->use_top - use;
  */
  while (use < m->use_top) {
    if (m->use_block[use] != -1 && m->use_stream[use] == stream &&
        m->state[m->use_block[use]] == ASHLAR_ALLOCATED) {
      ashlar_use_drop(m, use);
    }
    use++;
  }
}
