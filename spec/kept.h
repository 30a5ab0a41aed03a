/* kept.h (ACSL only) - lemmas: what one request does leaves what another one holds, and what its step is about, as it was.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_KEPT_H
#define ASHLAR_SPEC_KEPT_H

#include "spec/flight.h"

// clang-format off
/* slots that a request is given room for */
#define NEEDS(Q) needs((Q).rung, (Q).bytes)
/* of the sums over all requests, where one of them changes */
#define COUNT_CHANGED(A, N) flying(m->request, ASHLAR_REQUESTS) - flies(m->request[N].rung) == \
  flying((A).request, ASHLAR_REQUESTS) - flies((A).request[N].rung)
#define NEED_CHANGED(A, N) slots_needed(m->request, ASHLAR_REQUESTS) - NEEDS(m->request[N]) == \
  slots_needed((A).request, ASHLAR_REQUESTS) - NEEDS((A).request[N])
// clang-format on
/*@
  logic integer needs(integer rung, integer bytes) =
    rung != ASHLAR_RUNG_IDLE && 0 < bytes ? ASHLAR_REQUEST_SLOTS : 0;
  logic integer flies(integer rung) = rung != ASHLAR_RUNG_IDLE ? 1 : 0;

  // what another request holds, and what its step is about, is kept
  lemma none_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer r, but, q;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    holds_none(a_top, a_state, a_holder, q) ==> holds_none(b_top, b_state, b_holder, q);

  lemma one_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer r, but, q, slot;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    holds_one(a_top, a_state, a_holder, q, slot) ==> holds_one(b_top, b_state, b_holder, q, slot) && b_addr[slot]
      == a_addr[slot] && b_base[slot] == a_base[slot] &&
      b_next[slot] == a_next[slot] && b_growable[slot] == a_growable[slot];

  lemma run_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer r, but, q, run, end;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    holds_run(a_top, a_state, a_holder, a_addr, a_size, a_next, a_growable, q, run, end) ==> holds_run(b_top,
      b_state, b_holder, b_addr, b_size, b_next, b_growable, q, run, end) && b_addr[run] == a_addr[run];

  lemma member_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer r, but, q, slot;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    0 <= slot < a_top ==> a_state[slot] == ASHLAR_HELD ==> a_holder[slot] == q ==>
      slot < b_top && b_state[slot] == ASHLAR_HELD && b_holder[slot] == q;

  lemma holding_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer r, but, q, rung, growth, growable, run, end, slot, size, one;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    request_holds(rung, growth, growable, run, end, slot, size, a_top, a_state, a_holder, a_hold, a_addr, a_size, a_base,
      a_next, a_growable, q, one) ==>
    request_holds(rung, growth, growable, run, end, slot, size, b_top, b_state, b_holder, b_hold, b_addr, b_size, b_base,
      b_next, b_growable, q, one);

  lemma asking_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall uint64_t a_submitted[256]; \forall uint64_t b_submitted[256];
    \forall integer r, but, q, rung, step, growth, growable, run, end, slot, size, asked, waited, number, one;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    clocks_on(a_submitted, b_submitted) ==>
    -2 <= waited < ASHLAR_STREAMS ==>
    (step == ASHLAR_STEP_RELEASE || step == ASHLAR_STEP_UNMAP ==> one != 0) ==>
    request_holds(rung, growth, growable, run, end, slot, size, a_top, a_state, a_holder, a_hold, a_addr, a_size, a_base,
      a_next, a_growable, q, one) ==>
    request_asked(rung, step, growth, slot, size, asked, waited, number, a_top, a_state, a_holder, a_hold, a_addr, a_base,
      a_next, a_growable, a_submitted, q) ==>
    request_asked(rung, step, growth, slot, size, asked, waited, number, b_top, b_state, b_holder, b_hold, b_addr, b_base,
      b_next, b_growable, b_submitted, q);
  lemma link_kept:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall int32_t a_prev[ASHLAR_SLOTS]; \forall int32_t b_prev[ASHLAR_SLOTS];
    \forall integer r, but, q, run;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, but) ==> q != r ==>
    links_prev(a_top, a_state, a_prev, a_next) ==> links_next(b_top, b_state, b_next, b_prev) ==>
    run_linked(a_top, a_state, a_holder, a_prev, q, run) ==> run_linked(b_top, b_state, b_holder, b_prev, q, run);

  // requests in flight are counted one by one
  lemma flying_all: \forall struct ashlar_request a[8]; flying(a, 8) ==
    (a[0].rung != ASHLAR_RUNG_IDLE ? 1 : 0) + (a[1].rung != ASHLAR_RUNG_IDLE ? 1 : 0) +
    (a[2].rung != ASHLAR_RUNG_IDLE ? 1 : 0) + (a[3].rung != ASHLAR_RUNG_IDLE ? 1 : 0) +
    (a[4].rung != ASHLAR_RUNG_IDLE ? 1 : 0) + (a[5].rung != ASHLAR_RUNG_IDLE ? 1 : 0) +
    (a[6].rung != ASHLAR_RUNG_IDLE ? 1 : 0) + (a[7].rung != ASHLAR_RUNG_IDLE ? 1 : 0);
  lemma slots_needed_all: \forall struct ashlar_request a[8]; slots_needed(a, 8) == NEEDS(a[0]) + NEEDS(a[1]) +
    NEEDS(a[2]) + NEEDS(a[3]) + NEEDS(a[4]) + NEEDS(a[5]) + NEEDS(a[6]) + NEEDS(a[7]);
  lemma flying_least: \forall struct ashlar_request a[8]; \forall integer n; 0 <= n < 8 ==>
    (a[n].rung != ASHLAR_RUNG_IDLE ? 1 : 0) <= flying(a, 8) <= 8;
  lemma slots_needed_least: \forall struct ashlar_request a[8]; \forall integer n; 0 <= n < 8 ==>
    NEEDS(a[n]) <= slots_needed(a, 8) <= ASHLAR_SET_ASIDE - ASHLAR_REQUEST_SLOTS + NEEDS(a[n]);
  lemma slots_needed_most: \forall struct ashlar_request a[8];
    slots_needed(a, 8) <= ASHLAR_REQUEST_SLOTS * flying(a, 8);

  // where one request changes, the sums over all change by what it adds to them
  lemma flying_changed: \forall struct ashlar_request a[8], b[8]; \forall integer n; 0 <= n < 8 ==>
    (\forall integer q; 0 <= q < 8 ==> q != n ==> a[q].rung == b[q].rung) ==>
    flying(b, 8) - flies(b[n].rung) == flying(a, 8) - flies(a[n].rung);
  lemma slots_needed_changed: \forall struct ashlar_request a[8], b[8]; \forall integer n; 0 <= n < 8 ==>
    (\forall integer q; 0 <= q < 8 ==> q != n ==> a[q].rung == b[q].rung && a[q].bytes == b[q].bytes) ==>
    slots_needed(b, 8) - NEEDS(b[n]) == slots_needed(a, 8) - NEEDS(a[n]);

  // frames of one request compose
  lemma frames_compose:
    \forall integer a_top;
    \forall uint8_t a_state[ASHLAR_SLOTS];
    \forall uint64_t a_addr[ASHLAR_SLOTS];
    \forall uint64_t a_size[ASHLAR_SLOTS];
    \forall uint64_t a_requested[ASHLAR_SLOTS];
    \forall uint64_t a_age[ASHLAR_SLOTS];
    \forall uint64_t a_base[ASHLAR_SLOTS];
    \forall int32_t a_home[ASHLAR_SLOTS];
    \forall int32_t a_next[ASHLAR_SLOTS];
    \forall uint32_t a_generation[ASHLAR_SLOTS];
    \forall uint8_t a_growable[ASHLAR_SLOTS];
    \forall uint8_t a_hold[ASHLAR_SLOTS];
    \forall int32_t a_holder[ASHLAR_SLOTS];
    \forall integer b_top;
    \forall uint8_t b_state[ASHLAR_SLOTS];
    \forall uint64_t b_addr[ASHLAR_SLOTS];
    \forall uint64_t b_size[ASHLAR_SLOTS];
    \forall uint64_t b_requested[ASHLAR_SLOTS];
    \forall uint64_t b_age[ASHLAR_SLOTS];
    \forall uint64_t b_base[ASHLAR_SLOTS];
    \forall int32_t b_home[ASHLAR_SLOTS];
    \forall int32_t b_next[ASHLAR_SLOTS];
    \forall uint32_t b_generation[ASHLAR_SLOTS];
    \forall uint8_t b_growable[ASHLAR_SLOTS];
    \forall uint8_t b_hold[ASHLAR_SLOTS];
    \forall int32_t b_holder[ASHLAR_SLOTS];
    \forall integer c_top;
    \forall uint8_t c_state[ASHLAR_SLOTS];
    \forall uint64_t c_addr[ASHLAR_SLOTS];
    \forall uint64_t c_size[ASHLAR_SLOTS];
    \forall uint64_t c_requested[ASHLAR_SLOTS];
    \forall uint64_t c_age[ASHLAR_SLOTS];
    \forall uint64_t c_base[ASHLAR_SLOTS];
    \forall int32_t c_home[ASHLAR_SLOTS];
    \forall int32_t c_next[ASHLAR_SLOTS];
    \forall uint32_t c_generation[ASHLAR_SLOTS];
    \forall uint8_t c_growable[ASHLAR_SLOTS];
    \forall uint8_t c_hold[ASHLAR_SLOTS];
    \forall int32_t c_holder[ASHLAR_SLOTS];
    \forall integer r, but;
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation, b_growable,
        b_hold, b_holder, r, -1) ==>
    request_frame(b_top, b_state, b_addr, b_size, b_requested, b_age, b_base, b_home, b_next, b_generation,
      b_growable, b_hold, b_holder,
      c_top, c_state, c_addr, c_size, c_requested, c_age, c_base, c_home, c_next, c_generation, c_growable,
        c_hold, c_holder, r, but) ==>
    request_frame(a_top, a_state, a_addr, a_size, a_requested, a_age, a_base, a_home, a_next, a_generation,
      a_growable, a_hold, a_holder,
      c_top, c_state, c_addr, c_size, c_requested, c_age, c_base, c_home, c_next, c_generation, c_growable,
        c_hold, c_holder, r, but);
*/
#endif
