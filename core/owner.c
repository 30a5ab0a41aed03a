/* owner.c - see block_manager.h: what the owner of a block does with it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

/* Whether a handle names an allocated block. Generation 0 says that no owner has given a block of the slot back yet. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_exact_named: \result == ASHLAR_OK <==> is_handle(*m, slot, generation);
    ensures REQ_FREE_distinct_named: handle_answer(*m, slot, generation, \result);
    ensures answers: \result == ASHLAR_OK || \result == ASHLAR_ERROR_SLOT || \result == ASHLAR_ERROR_STALE_HANDLE;
*/
static enum ashlar_status named(const struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  //@ ghost ashlar_blocks_open(m);
  if (slot < 0 || slot >= m->top ||
      (m->state[slot] != ASHLAR_ALLOCATED && m->generation[slot] == 0)) {
    return ASHLAR_ERROR_SLOT;
  }
  if (m->state[slot] != ASHLAR_ALLOCATED || m->generation[slot] != generation) {
    return ASHLAR_ERROR_STALE_HANDLE;
  }
  return ASHLAR_OK;
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.status == status && \result.waits == 0;
*/
static struct ashlar_freed failed(enum ashlar_status status)
{
  struct ashlar_freed freed;
  freed.status = status;
  freed.waits = 0;
  return freed;
}

/* Gives an allocated block back. */
/*@ requires \valid(m); REQUIRES_STANDING
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_GIVEN_BACK;
    ENSURES_STANDING
    ensures ok: \result.status == ASHLAR_OK;
    ENSURES_FREED(slot)
*/
static struct ashlar_freed give_back(struct ashlar_manager *m, int32_t slot,
                                     struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  /*@ assert led: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==>
        m->hold[i] != ASHLAR_HOLD_LEAVING ==> m->request[m->holder[i]].run != i ==>
        0 <= m->prev[i] < m->top && m->state[m->prev[i]] == ASHLAR_HELD; */
  struct ashlar_freed freed = failed(ASHLAR_OK);
  int captured = ashlar_ladder_in_capture(m, caller.stream);
  ashlar_allocation_end(m, slot);
  freed.waits = ashlar_pending_back(m, slot, captured);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  /*@ assert behind: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==>
        0 <= \at(*m, Pre).prev[i] ==> \at(*m, Pre).state[\at(*m, Pre).prev[i]] == ASHLAR_HELD ==>
        m->prev[i] == \at(*m, Pre).prev[i]; */
  /*@ assert held: \forall integer i; 0 <= i < m->top ==>
        (m->state[i] == ASHLAR_HELD <==> \at(*m, Pre).state[i] == ASHLAR_HELD); */
  /*@ assert ahead: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==>
        m->hold[i] != ASHLAR_HOLD_LEAVING ==> m->request[m->holder[i]].run != i ==>
        0 <= m->prev[i] < m->top && m->prev[i] == \at(*m, Pre).prev[i] && m->state[m->prev[i]] == ASHLAR_HELD; */
  //@ assert begun: runs_begin(m->top, m->state, m->hold, m->holder, m->prev, m->request);
  /*@ assert same: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==>
        m->addr[i] == \at(*m, Pre).addr[i] && m->size[i] == \at(*m, Pre).size[i] &&
        m->base[i] == \at(*m, Pre).base[i] && m->next[i] == \at(*m, Pre).next[i]; */
  //@ assert ended: runs_end(m->top, m->state, m->hold, m->holder, m->next, m->addr, m->size, m->request);
  /*@ ghost
    int32_t k = 0;
    /@ loop invariant k: 0 <= k <= m->top;
       HEADS_KEPT(k)
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) { k++; }
  */
  //@ assert none: \forall integer r; holds_none(m->top, \at(*m, Pre).state, m->holder, r) ==> HOLDS_NONE(r);
  //@ assert one: \forall integer r, i; holds_one(m->top, \at(*m, Pre).state, m->holder, r, i) ==> HOLDS_ONE(r, i);
  /*@ assert map: \forall integer r; holds_to_map(m->top, \at(*m, Pre).state, m->holder, m->hold, r) ==>
        HOLDS_TO_MAP(r); */
  /*@ assert run: \forall integer r, i, end; holds_run(m->top, \at(*m, Pre).state, m->holder, \at(*m, Pre).addr,
        \at(*m, Pre).size, \at(*m, Pre).next, m->growable, r, i, end) ==>
        holds_run(m->top, m->state, m->holder, m->addr, m->size, m->next, m->growable, r, i, end); */
  //@ assert hold: OTHERS_HOLD(-1);
  //@ ghost ashlar_whole_close(m);
  return freed;
}

struct ashlar_freed ashlar_free(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return failed(status);
  }
  if (m->references[slot] > 1) {
    return failed(ASHLAR_ERROR_SHARED);
  }
  return give_back(m, slot, caller);
}

/* What is at an address where no allocated block starts. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_distinct_interior: \result == ASHLAR_ERROR_INTERIOR ==> \exists integer i;
      contains(*m, i, address) && m->addr[i] != address;
    ensures REQ_FREE_distinct_freed: \result == ASHLAR_ERROR_FREED ==> \exists integer i;
      contains(*m, i, address) && m->addr[i] == address;
    ensures REQ_FREE_distinct_unknown: \result == ASHLAR_ERROR_UNKNOWN_ADDRESS ==> \forall integer i;
      !contains(*m, i, address);
    ensures answers: \result == ASHLAR_ERROR_INTERIOR || \result == ASHLAR_ERROR_FREED ||
      \result == ASHLAR_ERROR_UNKNOWN_ADDRESS;
*/
static enum ashlar_status found_instead(const struct ashlar_manager *m, uint64_t address)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = 0;
  /*@ loop invariant slot: 0 <= slot <= m->top;
      loop invariant passed: \forall integer i; 0 <= i < slot ==> !contains(*m, i, address);
      loop assigns slot;
      loop variant m->top - slot;
  */
  while (slot < m->top) {
    if (m->state[slot] != ASHLAR_UNUSED && address >= m->addr[slot] &&
        address - m->addr[slot] < m->size[slot]) {
      return address == m->addr[slot] ? ASHLAR_ERROR_FREED : ASHLAR_ERROR_INTERIOR;
    }
    slot++;
  }
  return ASHLAR_ERROR_UNKNOWN_ADDRESS;
}

struct ashlar_freed ashlar_free_address(struct ashlar_manager *m, uint64_t address,
                                        struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_map_find(m, address);
  /*@ assert one: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_ALLOCATED ==>
        m->addr[i] == address ==> i == slot; */
  if (ashlar_ladder_busy(m)) {
    return failed(ASHLAR_ERROR_BUSY);
  }
  if (slot == -1) {
    return failed(found_instead(m, address));
  }
  return ashlar_free(m, slot, m->generation[slot], caller);
}

enum ashlar_status ashlar_retain(struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (m->references[slot] == UINT32_MAX) {
    return ASHLAR_ERROR_COUNT;
  }
  m->references[slot]++;
  return ASHLAR_OK;
}

struct ashlar_freed ashlar_release(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                   struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return failed(status);
  }
  if (m->references[slot] > 1) {
    m->references[slot]--;
    return failed(ASHLAR_OK);
  }
  return give_back(m, slot, caller);
}

enum ashlar_status ashlar_record_use(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                     int32_t stream, struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (stream == ashlar_home_stream(m->home[slot])) {
    return ASHLAR_OK;
  }
  status = ashlar_pending_use(m, slot, stream, ashlar_ladder_in_capture(m, caller.stream) ? 1 : 0);
  //@ ghost ashlar_whole_close(m);
  return status;
}

struct ashlar_range ashlar_base(const struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  struct ashlar_range range;
  int32_t last = slot;
  range.status = named(m, slot, generation);
  range.address = 0;
  range.bytes = 0;
  if (range.status != ASHLAR_OK) {
    return range;
  }
  if (m->growable[slot] != 0) {
    range.status = ASHLAR_ERROR_GROWABLE;
    return range;
  }
  /*@ loop invariant last: 0 <= last < m->top && m->state[last] != ASHLAR_UNUSED;
      loop invariant segment: m->base[last] == m->base[slot] && m->addr[slot] <= m->addr[last] &&
        m->addr[slot] + m->size[slot] <= m->addr[last] + m->size[last];
      loop assigns last;
      loop variant UINT64_MAX - m->addr[last];
  */
  while (m->next[last] != -1) {
    last = m->next[last];
  }
  range.address = m->base[slot];
  range.bytes = m->addr[last] + m->size[last] - m->base[slot];
  return range;
}

int32_t ashlar_find(const struct ashlar_manager *m, uint64_t address)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_map_find(m, address);
}
