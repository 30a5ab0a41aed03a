/* ladder.h - how a request is served: rung by rung, until the device is needed or the request is over (REQ-LADDER).
 *
 * A request is a number; where it stands is in the manager, so that other calls may come between its steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_LADDER_H
#define ASHLAR_CORE_LADDER_H

#include "core/moves.h"
#include "core/step.h"
#include "spec/block_manager.h"
#include "spec/ladder.h"

/* Whether the caller of a stream is in a capture: the stream takes requests and is captured. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_capture_caller: \result != 0 <==> in_capture(*m, caller_stream);
*/
int ashlar_ladder_in_capture(const struct ashlar_manager *m, int32_t caller_stream);

/* Whether calls that change blocks are refused: the faithful policy admits one request at a time. O(1). */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ATOMIC_busy: \result != 0 <==> is_busy(*m);
*/
int ashlar_ladder_busy(const struct ashlar_manager *m);

/* Deferred blocks go on where the caller is outside a capture. Linear in the uses of deferred blocks, and
   O(free blocks) moves for each block that is free then. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_FRAME_poll: owned_kept(\old(*m), *m);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_ladder_poll(struct ashlar_manager *m, int32_t caller_stream);

/* Goes on with a request, from its rung on, up to the next step. No rung is tried twice. O(log free blocks) for each
   list that is searched, of all streams and pools at most, and again for each block passed over; O(pools^2) for their
   order. Where it grows: ashlar_growable_run. Where it waits: linear in the streams, in the uses of deferred blocks
   and, where one pool is emptied, in all that wait. O(free blocks) moves for each block that changes hands; linear in a
   bucket of the address map. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER, m->oom_rejections;
    ENSURES_STEP
    ensures step: \result.kind != ASHLAR_STEP_NONE;
*/
struct ashlar_step ashlar_ladder_go(struct ashlar_manager *m, int32_t request);

/* Goes on with the next rung. O(1). */
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request) && m->request[request].run == -1;
    requires rung: m->request[request].rung < ASHLAR_RUNG_EMPTY &&
      m->request[request].rung != ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns m->request[request].rung, m->request[request].released, m->request[request].waited,
      m->request[request].growth, m->request[request].reserved;
    ensures next: m->request[request].rung == \old(m->request[request].rung) + 1 && WANTS(request) && POISED(request);
*/
void ashlar_ladder_next_rung(struct ashlar_manager *m, int32_t request);

/* A step about a block. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures about: \result.kind == kind && \result.status == ASHLAR_OK && \result.slot == slot &&
      \result.request == -1 && \result.generation == m->generation[slot] && \result.address == m->addr[slot] &&
      \result.bytes == m->size[slot];
    ensures aligned: \result.address % 512 == 0 && \result.bytes % 512 == 0;
*/
struct ashlar_step ashlar_ladder_about(const struct ashlar_manager *m, enum ashlar_step_kind kind,
                                       int32_t slot);

/* The request takes a free block and is over. O(free blocks) moves, linear in a bucket of the address map, and
   O(pools). */
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request);
    requires rung: m->request[request].rung <= ASHLAR_RUNG_OUT_OF_MEMORY;
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->request[request].size <= m->size[slot];
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
    ensures done: \result.kind == ASHLAR_STEP_DONE && \result.slot == slot;
*/
struct ashlar_step ashlar_ladder_serve(struct ashlar_manager *m, int32_t request, int32_t slot);

/* The request is over with a step that ends it. O(pools). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires homed: HOMED;
    requires flight: 1 <= m->in_flight <= ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns m->request[request].rung, m->in_flight, ASSIGNS_END;
    ENSURES_WHOLE
    ensures over: m->request[request].rung == ASHLAR_RUNG_IDLE && m->in_flight == \old(m->in_flight) - 1;
    ensures homed: HOMED;
    ensures pools: WANTED_KEPT(\old(*m), request);
    ensures same: \result.kind == step.kind && \result.status == step.status && \result.request == request &&
      \result.slot == step.slot && \result.generation == step.generation && \result.address == step.address &&
      \result.bytes == step.bytes;
*/
struct ashlar_step ashlar_ladder_over(struct ashlar_manager *m, int32_t request,
                                      struct ashlar_step step);

/* Private pools that nothing leads to any more end: REQ-POOL-freeable. O(pools). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires homed: HOMED;
    terminates \true; exits \false;
    assigns ASSIGNS_END;
    ENSURES_WHOLE
    ensures REQ_POOL_freeable_wanted: WANTED_KEPT(\old(*m), -1);
*/
void ashlar_ladder_end_pools(struct ashlar_manager *m);

#endif
