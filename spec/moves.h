/* moves.h (ACSL only) - what a change leaves as it was, from the point of view of one request.
 *
 * The predicate takes arrays and not managers: a request that moves leaves it as it is by syntax. For one request it is
 * transitive, so that chains of changes compose.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_MOVES_H
#define ASHLAR_SPEC_MOVES_H

#include "spec/growth.h"
#include "spec/whole.h"
/*@
  // REQ-FRAME: between a and b, what has an owner, or is held by another request than r, is the same set and the same blocks;
  // but for block `but`, which has an owner now
  predicate request_frame(integer a_top, uint8_t a_state[ASHLAR_SLOTS], uint64_t a_addr[ASHLAR_SLOTS],
    uint64_t a_size[ASHLAR_SLOTS], uint64_t a_requested[ASHLAR_SLOTS], uint64_t a_age[ASHLAR_SLOTS],
    uint64_t a_base[ASHLAR_SLOTS], int32_t a_home[ASHLAR_SLOTS], int32_t a_next[ASHLAR_SLOTS],
    uint32_t a_generation[ASHLAR_SLOTS], uint8_t a_growable[ASHLAR_SLOTS], uint8_t a_hold[ASHLAR_SLOTS],
    int32_t a_holder[ASHLAR_SLOTS], integer b_top, uint8_t b_state[ASHLAR_SLOTS], uint64_t b_addr[ASHLAR_SLOTS],
    uint64_t b_size[ASHLAR_SLOTS], uint64_t b_requested[ASHLAR_SLOTS], uint64_t b_age[ASHLAR_SLOTS],
    uint64_t b_base[ASHLAR_SLOTS], int32_t b_home[ASHLAR_SLOTS], int32_t b_next[ASHLAR_SLOTS],
    uint32_t b_generation[ASHLAR_SLOTS], uint8_t b_growable[ASHLAR_SLOTS], uint8_t b_hold[ASHLAR_SLOTS],
    int32_t b_holder[ASHLAR_SLOTS], integer r, integer but) =
    a_top <= b_top &&
    (\forall integer j; 0 <= j < a_top ==>
      a_state[j] == ASHLAR_ALLOCATED || (a_state[j] == ASHLAR_HELD && a_holder[j] != r) ==>
      b_state[j] == a_state[j] && b_addr[j] == a_addr[j] && b_size[j] == a_size[j] && b_requested[j] == a_requested[j] &&
      b_age[j] == a_age[j] && b_base[j] == a_base[j] && b_home[j] == a_home[j] && b_next[j] == a_next[j] &&
      b_generation[j] == a_generation[j] && b_growable[j] == a_growable[j] && b_hold[j] == a_hold[j] &&
      b_holder[j] == a_holder[j]) &&
    (\forall integer j; 0 <= j < b_top ==>
      (b_state[j] == ASHLAR_ALLOCATED && j != but) || (b_state[j] == ASHLAR_HELD && b_holder[j] != r) ==>
      j < a_top && a_state[j] == b_state[j] && a_holder[j] == b_holder[j]);

  // no clock is put back
  predicate clocks_on(uint64_t a[256], uint64_t b[256]) = \forall integer s; 0 <= s < ASHLAR_STREAMS ==> a[s] <= b[s];

  // the request holds nothing
  predicate holds_none(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS], integer r) =
    \forall integer j; 0 <= j < top ==> state[j] == ASHLAR_HELD ==> holder[j] != r;
  // it holds one block and nothing else
  predicate holds_one(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS], integer r, integer slot) =
    0 <= slot < top && state[slot] == ASHLAR_HELD && holder[slot] == r &&
    (\forall integer j; 0 <= j < top ==> state[j] == ASHLAR_HELD ==> holder[j] == r ==> j == slot);
  // what it holds is of a run, and none of it is leaving
  predicate holds_to_map(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    uint8_t hold[ASHLAR_SLOTS], integer r) =
    \forall integer j; 0 <= j < top ==> state[j] == ASHLAR_HELD ==> holder[j] == r ==>
      ASHLAR_HOLD_LEAVING < hold[j] <= ASHLAR_HOLD_FRESH;
  // it holds a run: its blocks stand one behind the other, from the first one up to the end
  predicate holds_run(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    uint8_t growable[ASHLAR_SLOTS], integer r, integer run, integer end) =
    0 <= run < top && state[run] == ASHLAR_HELD && holder[run] == r &&
    (\forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==> holder[i] == r ==>
      addr[i] + size[i] <= end && growable[i] == 1 && addr[run] <= addr[i] &&
      (addr[i] + size[i] < end ==> 0 <= next[i] < top && state[next[i]] == ASHLAR_HELD && holder[next[i]] == r));
  // and each of them but the first one has the block before it in the run too
  predicate run_linked(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], integer r, integer run) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==> holder[i] == r ==> i != run ==>
      0 <= prev[i] < top && state[prev[i]] == ASHLAR_HELD && holder[prev[i]] == r;
*/
// clang-format off
#define FRAMED(A) (A).top, (A).state, (A).addr, (A).size, (A).requested, (A).age, (A).base, (A).home, (A).next, \
  (A).generation, (A).growable, (A).hold, (A).holder
#define FRAME(A, R, BUT) request_frame(FRAMED(A), FRAMED(*m), R, BUT)
#define ENSURES_FRAME(R, BUT) ensures REQ_FRAME_move: FRAME(\old(*m), R, BUT);
/* of a change that no request is involved in */
#define ENSURES_FRAME_ALL(BUT) ensures REQ_FRAME_move: \forall integer r; FRAME(\old(*m), r, BUT); \
  ensures framed: FRAME(\old(*m), -1, BUT); \
  ensures clocks: clocks_on(\old(*m).submitted, m->submitted); \
  ensures held: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_HELD ==> \
    j < \old(m->top) && \old(*m).state[j] == ASHLAR_HELD && m->holder[j] == \old(*m).holder[j];
#define HOLDS_NONE(R) holds_none(m->top, m->state, m->holder, R)
#define HOLDS_ONE(R, SLOT) holds_one(m->top, m->state, m->holder, R, SLOT)
#define HOLDS_TO_MAP(R) holds_to_map(m->top, m->state, m->holder, m->hold, R)
#define HOLDS_RUN(R) holds_run(m->top, m->state, m->holder, m->addr, m->size, m->next, m->growable, R, m->request[R].run, \
  m->request[R].run_end)
#define RUN_LINKED(R) (m->request[R].run != -1 ==> \
  run_linked(m->top, m->state, m->holder, m->prev, R, m->request[R].run))
#define RUN_MAPPED(R) (\forall integer i; 0 <= i < m->top ==> in_run(*m, R, i) ==> m->hold[i] != ASHLAR_HOLD_UNMAPPED)
/* the promise of the device */
#define APART(ADDR, SIZE) \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==> \
  (ADDR) + (SIZE) <= m->addr[j] || m->addr[j] + m->size[j] <= (ADDR)
/* a segment that is one block */
#define IS_WHOLE(SLOT) (m->base[SLOT] == m->addr[SLOT] && m->next[SLOT] == -1)
// clang-format on
#endif
