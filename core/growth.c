/* growth.c - see growth.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/growth.h"

/* Holds a taken block for a request. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires request: 0 <= request < ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES, m->hold[slot], m->holder[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures held: m->state[slot] == ASHLAR_HELD && m->hold[slot] == why && m->holder[slot] == request;
*/
static void hold(struct ashlar_manager *m, int32_t slot, int32_t request, uint8_t why)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_block_pass(m, slot, ASHLAR_HELD);
  m->hold[slot] = why;
  m->holder[slot] = request;
}

/* A function only for the provers, which lose this fact among the arrays. */
/*@ requires a % 512 == 0 && b % 512 == 0 && b <= a;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == a - b && \result % 512 == 0;
*/
static inline uint64_t aligned_rest(uint64_t a, uint64_t b)
{
  return a - b;
}

void ashlar_growth_shorten(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  if (size < m->size[slot]) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    /*@ assert addresses: \forall integer j; 0 <= j < m->top ==> m->in_map[j] == 1 ==>
          m->addr[j] == \at(*m, Pre).addr[j]; */
    //@ ghost ashlar_map_close(m);
    ashlar_block_put_unmapped(m, rest);
  }
}

/* Holds an open block; of an unmapped one that is larger no more than `most` bytes. */
/*@ requires \valid(m); REQUIRES_STATE
    requires open: 0 <= slot < m->top && is_open(*m, slot) && m->growable[slot] == 1;
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires most: 0 < most && most % 512 == 0;
    requires spare: most < m->size[slot] ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, m->hold[slot], m->holder[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures held: m->state[slot] == ASHLAR_HELD && m->holder[slot] == request && m->addr[slot] == \old(m->addr[slot]) &&
      m->home[slot] == \old(m->home[slot]) && m->base[slot] == \old(m->base[slot]) && m->growable[slot] == 1;
    ensures why: m->hold[slot] == (\old(m->state[slot]) == ASHLAR_FREE ? ASHLAR_HOLD_MAPPED : ASHLAR_HOLD_UNMAPPED);
    ensures whole: \old(m->state[slot]) == ASHLAR_FREE || \old(m->size[slot]) <= most ==>
      m->size[slot] == \old(m->size[slot]) && m->next[slot] == \old(m->next[slot]) &&
      m->spare_count == \old(m->spare_count) &&
      (\forall integer j; 0 <= j < m->top ==> j != slot ==> m->state[j] == \old(*m).state[j] &&
        same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j]);
    ensures part: \old(m->state[slot]) == ASHLAR_UNMAPPED && most < \old(m->size[slot]) ==> m->size[slot] == most;
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
    ensures REQ_FRAME_hold_open: others_kept(\old(*m), *m, slot);
    ensures run: \forall integer j; 0 <= j < m->top ==> j != slot ==>
      (in_run(*m, request, j) <==> in_run(\old(*m), request, j)) &&
      (in_run(*m, request, j) ==> m->next[j] == \old(*m).next[j] && m->addr[j] == \old(*m).addr[j] &&
        m->growable[j] == \old(*m).growable[j]);
*/
static void hold_open(struct ashlar_manager *m, int32_t slot, int32_t request, uint64_t most)
{
  //@ ghost ashlar_blocks_open(m);
  uint8_t why = m->state[slot] == ASHLAR_FREE ? ASHLAR_HOLD_MAPPED : ASHLAR_HOLD_UNMAPPED;
  ashlar_block_take(m, slot);
  if (why == ASHLAR_HOLD_UNMAPPED) {
    ashlar_growth_shorten(m, slot, most);
  }
  hold(m, slot, request, why);
}

void ashlar_growth_hold(struct ashlar_manager *m, int32_t request, int32_t start)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t page = ashlar_growable_page(m, m->home[start]) / ASHLAR_GRANULE;
  uint64_t missing = m->request[request].size;
  int32_t slot = start;
  hold_open(m, slot, request, ashlar_growable_pages(missing, page));
  /*@ loop invariant slot: 0 <= slot < m->top && in_run(*m, request, slot) && m->home[slot] == \at(m->home[start], Pre) &&
        m->growable[slot] == 1 && m->base[slot] == \at(m->base[start], Pre);
      loop invariant missing: 0 < missing <= \at(m->request[request].size, Pre) &&
        m->addr[slot] + missing == \at(m->addr[start], Pre) + \at(m->request[request].size, Pre);
      loop invariant granule: missing % 512 == 0;
      loop invariant start: m->addr[start] == \at(m->addr[start], Pre) && in_run(*m, request, start) &&
        m->home[start] == \at(m->home[start], Pre);
      loop invariant run: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
        m->addr[start] <= m->addr[i] <= m->addr[slot] && m->growable[i] == 1 &&
        (i != slot ==> 0 <= m->next[i] && in_run(*m, request, m->next[i]));
      loop invariant why: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
        ASHLAR_HOLD_LEAVING < m->hold[i] <= ASHLAR_HOLD_FRESH;
      loop invariant behind: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==> i != start ==>
        0 <= m->prev[i] && in_run(*m, request, m->prev[i]);
      loop invariant ahead: m->size[slot] < missing ==> 0 <= m->next[slot] &&
        \forall integer i; 0 <= i < m->top ==> m->state[i] != ASHLAR_UNUSED ==>
        m->addr[slot] < m->addr[i] < m->addr[slot] + missing ==>
        is_open(*m, i) && m->base[i] == \at(m->base[start], Pre) &&
        (m->addr[i] + m->size[i] < m->addr[slot] + missing ==> 0 <= m->next[i]);
      loop invariant frame: \forall integer j; 0 <= j < m->top ==> is_had(\at(*m, Pre), j) ==> kept(\at(*m, Pre), *m, j);
      loop invariant new: \forall integer j; 0 <= j < m->top ==> !is_had(\at(*m, Pre), j) ==> is_had(*m, j) ==>
        in_run(*m, request, j);
      STATE_INVARIANT(loop invariant) KEEPS_LISTED
      loop invariant spare: m->spare_count >= \at(m->spare_count, Pre) - 1 &&
        (m->size[slot] < missing ==> m->spare_count == \at(m->spare_count, Pre));
      loop assigns slot, missing, ASSIGNS_BLOCKS, ALL(hold), ALL(holder);
      loop variant missing;
  */
  while (m->size[slot] < missing) {
    //@ ghost ashlar_blocks_open(m);
    //@ ghost int32_t last = slot;
    missing = aligned_rest(missing, m->size[slot]);
    slot = m->next[slot];
    /*@ assert next: 0 <= slot < m->top && m->addr[slot] + missing == \at(m->addr[start], Pre) +
          \at(m->request[request].size, Pre) && is_open(*m, slot) && m->base[slot] == \at(m->base[start], Pre) &&
          m->home[slot] == \at(m->home[start], Pre) && m->growable[slot] == 1; */
    hold_open(m, slot, request, ashlar_growable_pages(missing, page));
    //@ assert linked: m->next[last] == slot && in_run(*m, request, last) && last != slot;
    //@ assert others: \forall integer j; 0 <= j < m->top ==> is_had(\at(*m, Pre), j) ==> kept(\at(*m, Pre), *m, j);
    /*@ assert members: \forall integer i; 0 <= i < m->top ==> i != slot ==> in_run(*m, request, i) ==>
          in_run(\at(*m, LoopCurrent), request, i) && m->next[i] == \at(m->next[i], LoopCurrent) &&
          m->addr[i] == \at(m->addr[i], LoopCurrent) && m->growable[i] == 1; */
    /*@ assert follow: \forall integer i; 0 <= i < m->top ==> i != slot ==> in_run(*m, request, i) ==>
          0 <= m->next[i] && in_run(*m, request, m->next[i]); */
    //@ ghost ashlar_blocks_open(m);
    /*@ assert ahead_of: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==> i != start ==> i != slot ==>
          m->next[\at(m->prev[i], LoopCurrent)] == i; */
    /*@ assert back: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==> i != start ==> i != slot ==>
          m->prev[i] == \at(m->prev[i], LoopCurrent); */
    //@ assert back_to: m->prev[slot] == last;
  }
  m->request[request].run = start;
  m->request[request].run_end = m->addr[slot] + m->size[slot];
}

int32_t ashlar_growth_find(const struct ashlar_manager *m, int32_t request, int32_t slot,
                           uint8_t hold)
{
  //@ ghost ashlar_blocks_open(m);
  /*@ loop invariant slot: 0 <= slot < m->top && in_run(*m, request, slot);
      loop invariant passed: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
        \at(m->addr[\at(slot, Pre)], Pre) <= m->addr[i] < m->addr[slot] ==> m->hold[i] != hold;
      loop assigns slot;
      loop variant UINT64_MAX - m->addr[slot];
  */
  while (m->hold[slot] != hold) {
    if (m->addr[slot] + m->size[slot] >= m->request[request].run_end) {
      return -1;
    }
    slot = m->next[slot];
  }
  return slot;
}

void ashlar_growth_mapped(struct ashlar_manager *m, int32_t slot)
{
  m->hold[slot] = ASHLAR_HOLD_FRESH;
  ashlar_segment_reserved(m, m->home[slot], m->size[slot]);
}

void ashlar_growth_unmapped(struct ashlar_manager *m, int32_t slot, uint8_t hold)
{
  m->hold[slot] = hold;
  ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
}

int32_t ashlar_growth_put(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t result;
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  result = ashlar_block_release(m, slot, state);
  m->entered[result] = m->pool_searches[ashlar_home_pool_class(m->home[result])];
  return result;
}

/* Lets a block of a held run go, by what it is held for. */
/*@ requires \valid(m); REQUIRES_STATE
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD && m->growable[slot] == 1;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures gone: !is_had(*m, slot);
    ensures REQ_FRAME_put_held: others_kept(\old(*m), *m, slot);
    ensures held: \forall integer j; 0 <= j < m->top ==> j != slot ==>
      (m->state[j] == ASHLAR_HELD <==> \old(*m).state[j] == ASHLAR_HELD) &&
      (m->state[j] == ASHLAR_HELD ==> m->next[j] == \old(*m).next[j] && m->addr[j] == \old(*m).addr[j] &&
        m->size[j] == \old(*m).size[j] && m->growable[j] == \old(*m).growable[j]);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
static void put_held(struct ashlar_manager *m, int32_t slot)
{
  if (m->hold[slot] == ASHLAR_HOLD_UNMAPPED) {
    (void)ashlar_growth_put(m, slot, ASHLAR_UNMAPPED);
  } else {
    (void)ashlar_growth_put(m, slot, ASHLAR_FREE);
  }
}

void ashlar_growth_let_go(struct ashlar_manager *m, int32_t request)
{
  uint64_t end = m->request[request].run_end;
  int32_t slot = m->request[request].run;
  m->request[request].run = -1;
  /*@ loop invariant slot: 0 <= slot < m->top && in_run(*m, request, slot);
      loop invariant end: m->addr[slot] + m->size[slot] <= end;
      loop invariant rest: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
        m->addr[slot] <= m->addr[i] && m->addr[i] + m->size[i] <= end && m->growable[i] == 1 &&
        (m->addr[i] + m->size[i] < end ==> 0 <= m->next[i] && in_run(*m, request, m->next[i]));
      loop invariant frame: \forall integer j; 0 <= j < m->top ==> is_had(\at(*m, Pre), j) ==>
        !in_run(\at(*m, Pre), request, j) ==> kept(\at(*m, Pre), *m, j);
      loop invariant new: \forall integer j; 0 <= j < m->top ==> is_had(*m, j) ==> is_had(\at(*m, Pre), j) &&
        (in_run(*m, request, j) <==> in_run(\at(*m, Pre), request, j));
      STATE_INVARIANT(loop invariant) KEEPS_LISTED
      loop invariant spare: m->spare_count >= \at(m->spare_count, Pre);
      loop assigns slot, ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered);
      loop variant UINT64_MAX - m->addr[slot];
  */
  while (m->addr[slot] + m->size[slot] < end) {
    int32_t next = m->next[slot];
    //@ ghost ashlar_blocks_open(m);
    //@ assert next: 0 <= next < m->top && in_run(*m, request, next) && m->addr[next] == m->addr[slot] + m->size[slot];
    /*@ assert ahead: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==> i != slot ==>
          m->addr[next] <= m->addr[i]; */
    put_held(m, slot);
    slot = next;
  }
  //@ ghost ashlar_blocks_open(m);
  //@ assert last: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==> i == slot;
  put_held(m, slot);
}

int32_t ashlar_growth_gather(struct ashlar_manager *m, int32_t request)
{
  uint64_t end = m->request[request].run_end;
  int32_t slot = m->request[request].run;
  int32_t result;
  //@ ghost ashlar_blocks_open(m);
  m->request[request].run = -1;
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  /*@ loop invariant slot: m->state[slot] == ASHLAR_TAKEN && m->addr[slot] == \at(m->addr[m->request[request].run], Pre) &&
        m->home[slot] == \at(m->home[m->request[request].run], Pre) && m->growable[slot] == 1;
      loop invariant end: m->addr[slot] + m->size[slot] <= end;
      loop invariant ahead: m->addr[slot] + m->size[slot] < end ==> 0 <= m->next[slot] && in_run(*m, request, m->next[slot]);
      loop invariant rest: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
        m->addr[slot] <= m->addr[i] && m->addr[i] + m->size[i] <= end && m->growable[i] == 1 &&
        (m->addr[i] + m->size[i] < end ==> 0 <= m->next[i] && in_run(*m, request, m->next[i]));
      loop invariant frame: \forall integer j; 0 <= j < m->top ==> is_had(\at(*m, Pre), j) ==>
        !in_run(\at(*m, Pre), request, j) ==> kept(\at(*m, Pre), *m, j);
      loop invariant new: \forall integer j; 0 <= j < m->top ==> j != slot ==> is_had(*m, j) ==> is_had(\at(*m, Pre), j) &&
        (in_run(*m, request, j) <==> in_run(\at(*m, Pre), request, j));
      STATE_INVARIANT(loop invariant) KEEPS_LISTED
      loop invariant spare: m->spare_count >= \at(m->spare_count, Pre);
      loop assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested);
      loop variant end - m->addr[slot] - m->size[slot];
  */
  while (m->addr[slot] + m->size[slot] < end) {
    int32_t next = m->next[slot];
    //@ ghost ashlar_blocks_open(m);
    //@ assert next: 0 <= next < m->top && in_run(*m, request, next) && m->addr[next] == m->addr[slot] + m->size[slot];
    //@ assert apart: next != slot;
    m->requested[slot] = m->requested[next];
    ashlar_block_pass(m, next, ASHLAR_TAKEN);
    ashlar_block_join(m, slot);
  }
  //@ ghost ashlar_blocks_open(m);
  //@ assert last: \forall integer i; 0 <= i < m->top ==> !in_run(*m, request, i);
  result = ashlar_block_release(m, slot, ASHLAR_FREE);
  //@ ghost ashlar_blocks_open(m);
  m->entered[result] = m->pool_searches[ashlar_home_pool_class(m->home[result])];
  return result;
}

int32_t ashlar_growth_take_pages(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t lead = ashlar_growable_lead(m, slot);
  uint64_t pages = ashlar_growable_whole(m, slot, lead);
  uint64_t entered = m->entered[slot];
  slot = ashlar_allocation_take_from(m, slot, lead);
  ashlar_allocation_shorten(m, slot, pages, entered);
  hold(m, slot, request, ASHLAR_HOLD_LEAVING);
  ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
  return slot;
}

void ashlar_growth_hold_range(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_block_take(m, slot);
  hold(m, slot, request, ASHLAR_HOLD_LEAVING);
}
