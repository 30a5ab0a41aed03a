/* flight.h (ACSL only) - the invariant that requests need and keep, clause by clause and request by request.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_FLIGHT_H
#define ASHLAR_SPEC_FLIGHT_H

#include "spec/block_manager.h"
#include "spec/ladder.h"

// clang-format off
/* What requests need and keep beside it: each that waits for an outcome can go on (spec/ladder.h). */
#define READY_INVARIANT(K) K requests_ready: \forall integer r; FLIES(r) ==> REQUEST_OK(r);
#define REQUIRES_STANDING STANDING_INVARIANT(requires) READY_INVARIANT(requires)
#define ENSURES_STANDING STANDING_INVARIANT(ensures) READY_INVARIANT(ensures)
#define SERVING_INVARIANT(K) K whole: WHOLE_STATE; SETTINGS_INVARIANT(K) REQUESTS_INVARIANT(K) READY_INVARIANT(K)
#define REQUIRES_SERVING requires \valid(m); SERVING_INVARIANT(requires)
#define ENSURES_SERVING SERVING_INVARIANT(ensures)
/* for the prover: the same by request, which is what the ladder asks for and leaves; core/flight.h */
#define FLIES(R) 0 <= (R) < ASHLAR_REQUESTS ==> m->request[R].rung != ASHLAR_RUNG_IDLE
#define FLIGHT_INVARIANT(K) K whole: WHOLE_STATE; SETTINGS_INVARIANT(K) \
  K REQ_ATOMIC_flight_count: flight_counted(m->in_flight, m->request); \
  K REQ_CAPACITY_slots_room: flight_room(m->spare_count, m->top, m->request); \
  K ready: \forall integer r; FLIES(r) ==> REQUEST_OK(r); \
  K linked: \forall integer r; FLIES(r) ==> RUN_LINKED(r); \
  K idle: \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> m->request[r].rung == ASHLAR_RUNG_IDLE ==> HOLDS_NONE(r); \
  K holders: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_HELD ==> 0 <= m->holder[j] < ASHLAR_REQUESTS; \
  K streams: \forall integer r; FLIES(r) ==> 0 < m->request[r].bytes ==> \
    m->stream_gone[m->request[r].home % ASHLAR_STREAMS] == 0;
/* for the prover: the other requests, and the sums over all */
#define OTHERS_WANT(R) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (R) ==> \
  m->request[q].rung != ASHLAR_RUNG_IDLE ==> WANTS(q)
#define OTHERS_NONE(R) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (R) ==> \
  m->request[q].rung == ASHLAR_RUNG_IDLE ==> HOLDS_NONE(q)
#define OTHERS_HOLD(R) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (R) ==> \
  m->request[q].rung != ASHLAR_RUNG_IDLE ==> HOLDS(q, STEP_IS_ABOUT_ONE(q))
#define OTHERS_ASKED(R) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (R) ==> \
  m->request[q].rung != ASHLAR_RUNG_IDLE ==> ASKED(q)
#define OTHERS_LINKED(R) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (R) ==> \
  m->request[q].rung != ASHLAR_RUNG_IDLE ==> RUN_LINKED(q)
/* storage before the first call: what is counted, and what is looked up by the number of a slot, stream, pool or request */
#define NOTHING_YET (m->top == 0 && m->spare_count == 0 && m->free_count == 0 && m->use_top == 0 && \
  m->use_spare_count == 0 && m->use_submissions == 0 && m->stream_count == 0 && m->pool_top == 0 && \
  m->in_flight == 0 && \
  (\forall integer s; 0 <= s < ASHLAR_STATES ==> m->bytes[s] == 0) && \
  (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> m->bucket[i] == 0 && m->chain[i] == 0 && m->first_use[i] == 0) && \
  (\forall integer s; 0 <= s < ASHLAR_STREAMS ==> m->queue_head[s] == 0 && m->queue_tail[s] == 0 && \
    m->submitted[s] == 0 && m->completed[s] == 0 && m->stream_segments[s] == 0) && \
  (\forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> m->pool_state[p] == ASHLAR_POOL_UNUSED && \
    m->pool_uses[p] == 0 && m->pool_segments[p] == 0 && m->pool_use_on_oom[p] == 0 && m->pool_no_split[p] == 0 && \
    m->scope_serial[p] == 0) && \
  (\forall integer r; 0 <= r < ASHLAR_REQUESTS ==> m->request[r].rung == ASHLAR_RUNG_IDLE))
// clang-format on
#endif
