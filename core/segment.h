/* segment.h - segments: what the device gave in one piece, or a range of addresses that is mapped in pages.
 *
 * An ordinary segment begins and ends its life as one block. On its way back to the device it is held: in no list,
 * counted nowhere, and nobody's, until the device has answered. Requirements: REQ-TILE, REQ-CANON, REQ-ACCOUNT,
 * REQ-ATOMIC-leaving.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_SEGMENT_H
#define ASHLAR_CORE_SEGMENT_H

#include "core/allocation.h"
#include "spec/segment.h"

/* Age of the next segment as free lists see it: its creation number in segment order, 0 in address order. O(1). */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_age: \result == (m->config.order == ASHLAR_ORDER_SEGMENT ? m->segments_created : 0);
*/
uint64_t ashlar_segment_age(const struct ashlar_manager *m);

/* Memory that the pool and class of a home got, or lost: `bytes` of reserved memory. O(1). */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVED;
*/
void ashlar_segment_reserved(struct ashlar_manager *m, int32_t home, uint64_t bytes);
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVED;
*/
void ashlar_segment_unreserved(struct ashlar_manager *m, int32_t home, uint64_t bytes);

/* A new segment as one taken block, so that the request that caused it gets it first; its slot is returned. A growable
   one has no memory yet. The range is apart from every block (the promise of the device). O(1). */
/*@ requires \valid(m); REQUIRES_STATE
    REQUIRES_NEW_SEGMENT(addr, size, home)
    requires growable: growable <= 1;
    requires counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments);
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, m->segments_created, ASSIGNS_SEGMENT_COUNTS;
    ENSURES_STATE
    ensures counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments);
    ensures new: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN && m->addr[\result] == addr &&
      m->size[\result] == size && m->home[\result] == home && m->growable[\result] == growable &&
      m->prev[\result] == -1 && m->next[\result] == -1;
    ensures free: \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures REQ_FRAME_create: others_kept(\old(*m), *m, \result);
    ensures REQ_ACCOUNT_create: all_bytes(m->bytes) == \old(all_bytes(m->bytes)) + size;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
    ensures homes: home % ASHLAR_STREAMS < m->stream_count ==>
      \old(homes_listed(m->top, m->state, m->home, m->stream_count)) ==>
      homes_listed(m->top, m->state, m->home, m->stream_count);
    ensures ages: \old(ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches)) ==>
      ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches);
    ensures pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> p != home / ASHLAR_STREAMS / ASHLAR_CLASSES ==>
      m->pool_segments[p] == \old(*m).pool_segments[p];
*/
int32_t ashlar_segment_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t home,
                              uint8_t growable);

/* An ordinary segment that is one free block leaves: a request holds it. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires whole: 0 <= slot < m->top && whole_free(*m, slot) && m->growable[slot] == 0;
    requires request: 0 <= request < ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_RESERVED, m->oversize_segments, m->hold[slot], m->holder[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_ATOMIC_leaving_held: m->state[slot] == ASHLAR_HELD && m->hold[slot] == ASHLAR_HOLD_LEAVING &&
      m->holder[slot] == request;
    ensures REQ_FRAME_leave: others_kept(\old(*m), *m, slot);
*/
void ashlar_segment_leave(struct ashlar_manager *m, int32_t slot, int32_t request);

/* A segment that was leaving is a cached segment again. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_ATOMIC_error_cached: m->state[slot] == ASHLAR_FREE;
    ensures REQ_FRAME_stay: others_kept(\old(*m), *m, slot);
    ensures spare: m->spare_count == \old(m->spare_count);
*/
void ashlar_segment_stay(struct ashlar_manager *m, int32_t slot);

/* Forgets a segment that is one held block. O(1). */
/*@ requires \valid(m); REQUIRES_STATE
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD && m->prev[slot] == -1 && m->next[slot] == -1;
    requires counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments);
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_SEGMENT_COUNTS;
    ENSURES_STATE ENSURES_LISTED
    ensures counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments);
    ensures gone: m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_destroy: others_kept(\old(*m), *m, slot);
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
    ensures pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==>
      m->pool_segments[p] <= \old(*m).pool_segments[p];
*/
void ashlar_segment_end(struct ashlar_manager *m, int32_t slot);

#endif
