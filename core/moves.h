/* moves.h - each change that a request or an owner makes to blocks, with the whole state before and after.
 *
 * The modules below say what they need and keep clause by clause; from here on the state is one predicate, and a change
 * is that, its frame and its effect. Nothing here decides.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_MOVES_H
#define ASHLAR_CORE_MOVES_H

#include "core/growth.h"
#include "core/pending.h"
#include "core/reclaim.h"
#include "spec/moves.h"

/* A free block is taken for a request of `bytes` bytes, rounded to `size`. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(slot)
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->home[slot] == \old(m->home[slot]) && m->requested[slot] == bytes && m->references[slot] == 1;
    ensures REQ_SIZE_split_taken: \old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==> m->size[slot] == size;
    ensures REQ_SIZE_split_kept: !\old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==>
      m->size[slot] == \old(m->size[slot]);
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_move_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                      int growable);

/* An ordinary segment that is one free block leaves: the request holds it. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires whole: 0 <= slot < m->top && whole_free(*m, slot) && m->growable[slot] == 0;
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_NONE(request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_RESERVED, m->oversize_segments, m->hold[slot], m->holder[slot];
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_ATOMIC_leaving_held: HOLDS_ONE(request, slot) && IS_WHOLE(slot);
*/
void ashlar_move_leave(struct ashlar_manager *m, int32_t slot, int32_t request);

/* All uses of a stream up to a number are finished. How many blocks are free now. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires stream: 0 <= stream < m->stream_count;
    requires number: number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[stream];
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_STREAM_poll_done: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_move_finish(struct ashlar_manager *m, int32_t stream, uint64_t number);

#endif
