/* ladder.h - how a request is served: rung by rung, until the device is needed or the request is over (REQ-LADDER).
 *
 * A request is a number; where it stands is in the manager, so that other calls may come between its steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_LADDER_H
#define ASHLAR_CORE_LADDER_H

#include "core/growth.h"
#include "core/pending.h"
#include "core/reclaim.h"
#include "core/step.h"
#include "spec/block_manager.h"

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

/* Deferred blocks go on where the caller is outside a capture. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    ENSURES_WHOLE
    ensures REQ_FRAME_poll: owned_kept(\old(*m), *m);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_ladder_poll(struct ashlar_manager *m, int32_t caller_stream);

/* Goes on with a request, from its rung on, up to the next step. */
struct ashlar_step ashlar_ladder_go(struct ashlar_manager *m, int32_t request);

/* Goes on with the next rung. */
void ashlar_ladder_next_rung(struct ashlar_manager *m, int32_t request);

/* The request takes a free block and is over. */
struct ashlar_step ashlar_ladder_serve(struct ashlar_manager *m, int32_t request, int32_t slot);

/* The request is over with a step that ends it. */
struct ashlar_step ashlar_ladder_over(struct ashlar_manager *m, int32_t request,
                                      struct ashlar_step step);

/* Private pools that nothing leads to any more end: REQ-POOL-freeable. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires homed: \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
      m->request[q].home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1];
    ENSURES_WHOLE
*/
void ashlar_ladder_end_pools(struct ashlar_manager *m);

#endif
