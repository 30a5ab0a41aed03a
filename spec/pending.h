/* pending.h (ACSL only) - which blocks have uses, and which of them are submitted (REQ-STREAM).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_PENDING_H
#define ASHLAR_SPEC_PENDING_H

#include "spec/stream_use.h"
#include "spec/allocation.h"
/*@
  // "the block of a use" is said of a block i with use_block[u] <= i <= use_block[u], as in stream_use.h

  // REQ-STREAM: a block that has a use is allocated or pending: no free block has an outstanding use on any stream
  predicate uses_had(integer top, integer use_top, int32_t use_block[ASHLAR_USES], uint8_t state[ASHLAR_SLOTS]) =
    \forall integer u; 0 <= u < use_top ==> use_block[u] < top &&
      (\forall integer i; 0 <= i < top ==> use_block[u] <= i <= use_block[u] ==>
        state[i] == ASHLAR_ALLOCATED || state[i] == ASHLAR_PENDING);

  // uses are submitted when their block is given back, not before
  predicate submitted_pending(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    uint8_t state[ASHLAR_SLOTS]) =
    \forall integer u; 0 <= u < use_top ==> 0 < use_number[u] ==>
      \forall integer i; 0 <= i < ASHLAR_SLOTS ==> use_block[u] <= i <= use_block[u] ==> state[i] == ASHLAR_PENDING;

  // nothing else of a deferred block is submitted
  predicate deferred_waits(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> use_stream[u] == ASHLAR_STREAM_DEFERRED ==>
      0 < use_number[u] ==> \forall integer v; 0 <= v < use_top ==> use_block[v] == use_block[u] ==> v != u ==>
      use_number[v] == 0;

  // the first record of an allocated block is that of deferral
  predicate deferral_first(integer use_top, int32_t use_block[ASHLAR_USES], int32_t use_more[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], uint8_t state[ASHLAR_SLOTS]) =
    \forall integer u; 0 <= u < use_top ==> use_more[u] == -1 ==> use_stream[u] != ASHLAR_STREAM_DEFERRED ==>
      \forall integer i; 0 <= i < ASHLAR_SLOTS ==> use_block[u] <= i <= use_block[u] ==> state[i] != ASHLAR_ALLOCATED;

  // what waits has something to wait for
  predicate pending_used(integer top, uint8_t state[ASHLAR_SLOTS], int32_t first_use[ASHLAR_SLOTS], integer but) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_PENDING ==> i != but ==> 0 < first_use[i];

  // no use of a block is submitted
  predicate not_submitted(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    integer slot) =
    \forall integer u; 0 <= u < use_top ==> use_block[u] == slot ==> use_number[u] == 0;
*/
// clang-format off
#define USED_INVARIANT(K) STATE_INVARIANT(K) K uses: USES_STATE; \
  K REQ_STREAM_pending_had: uses_had(m->top, m->use_top, m->use_block, m->state); \
  K REQ_STREAM_defer_first: deferral_first(m->use_top, m->use_block, m->use_more, m->use_stream, m->state); \
  K REQ_STREAM_defer_waits: deferred_waits(m->use_top, m->use_block, m->use_number, m->use_stream); \
  K REQ_STREAM_pending_submitted: submitted_pending(m->use_top, m->use_block, m->use_number, m->state);
#define PENDING_INVARIANT(K, BUT) USED_INVARIANT(K) \
  K REQ_STREAM_pending_used: pending_used(m->top, m->state, m->first_use, BUT);
#define REQUIRES_USED PENDING_INVARIANT(requires, -1)
#define ENSURES_USED PENDING_INVARIANT(ensures, -1)
#define REQUIRES_GIVEN_BACK(SLOT) PENDING_INVARIANT(requires, SLOT) \
  requires waiting: not_submitted(m->use_top, m->use_block, m->use_number, SLOT);
#define REQUIRES_ENDED(SLOT) REQUIRES_GIVEN_BACK(SLOT) requires deferral: \forall integer u; 0 <= u < m->use_top ==> \
  m->use_block[u] == (SLOT) ==> m->use_more[u] == -1 ==> m->use_stream[u] == ASHLAR_STREAM_DEFERRED;
#define ASSIGNS_ENDED ASSIGNS_RECORDS, ASSIGNS_CHAINS, ASSIGNS_QUEUES
#define USE_LEFT(A, U) (m->use_block[U] == -1 || m->use_block[U] == (A).use_block[U])
#define KEEPS_USES_LEFT loop invariant slots_left: SLOTS_LEFT(\at(*m, Pre)); \
  loop invariant uses_left: \forall integer u; 0 <= u < m->use_top ==> USE_LEFT(\at(*m, Pre), u);
// uses may end, and go on to the queues; no block comes to be
#define ENSURES_USES_LEFT ENSURES_SLOTS_LEFT ENSURES_CLOCKS \
  ensures uses_left: m->use_top == \old(m->use_top) && \forall integer u; 0 <= u < m->use_top ==> \
    USE_LEFT(\old(*m), u);
#define ASSIGNS_RECORDED ASSIGNS_RECORDS, m->use_top, EVERY_USE(use_stream), EVERY_USE(use_serial), m->use_serials, \
  EVERY_USE(use_captured), EVERY_USE(use_number), ASSIGNS_CHAINS
#define ASSIGNS_USES ASSIGNS_RECORDED, m->queue_head[0 .. ASHLAR_STREAMS - 1], m->queue_tail[0 .. ASHLAR_STREAMS - 1], \
  m->submitted[0 .. ASHLAR_STREAMS - 1], m->use_submissions
// clang-format on
#endif
