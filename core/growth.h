/* growth.h - what a request holds while the device maps or unmaps memory of a growable segment.
 *
 * A run of open blocks is held as a whole, from its first block to `run_end`, while it is mapped block by block; so no other
 * request can use a part of it, and a failure can be undone. Requirements: REQ-GROW, REQ-ATOMIC-leaving.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_GROWTH_H
#define ASHLAR_CORE_GROWTH_H

#include "core/growable.h"
#include "spec/growth.h"

/* Cuts a taken block after `size` bytes, where it is larger; the rest is unmapped. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->growable[slot] == 1;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_UNMAPPED;
    requires size: 0 < size && size % 512 == 0;
    requires spare: size < m->size[slot] ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_STATE ENSURES_LISTED
    ensures kept: m->state[slot] == ASHLAR_TAKEN && m->addr[slot] == \old(m->addr[slot]) &&
      m->home[slot] == \old(m->home[slot]) && m->base[slot] == \old(m->base[slot]) && m->growable[slot] == 1;
    ensures size: m->size[slot] == (size < \old(m->size[slot]) ? size : \old(m->size[slot]));
    ensures whole: \old(m->size[slot]) <= size ==> m->next[slot] == \old(m->next[slot]) &&
      m->spare_count == \old(m->spare_count) && (\forall integer j; 0 <= j < m->top ==>
        m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j]);
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
    ensures REQ_FRAME_shorten_unmapped: others_kept(\old(*m), *m, slot);
*/
void ashlar_growth_shorten(struct ashlar_manager *m, int32_t slot, uint64_t size);

/* Holds what the request needs of the run that starts at a block: whole blocks, and of the last one, where it is
   unmapped, whole pages. O(free blocks) moves for each block of the run. */
/*@ requires \valid(m); REQUIRES_STATE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires start: 0 <= start < m->top && run_open(*m, start, m->request[request].size) && m->growable[start] == 1;
    requires size: 0 < m->request[request].size && m->request[request].size % 512 == 0 &&
      m->request[request].size <= 2305843009213693952;
    requires settings: page_allowed(m->config.large_segment_size);
    requires spare: 0 < m->spare_count;
    requires none: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==> m->holder[i] != request;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(hold), ALL(holder), m->request[request].run, m->request[request].run_end;
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_GROW_allocate_held: run_held(*m, request) && m->request[request].run == start &&
      m->addr[start] + m->request[request].size <= m->request[request].run_end && m->home[start] == \old(m->home[start]);
    ensures why: \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
      ASHLAR_HOLD_LEAVING < m->hold[i] <= ASHLAR_HOLD_FRESH && (i != start ==> 0 <= m->prev[i] &&
        in_run(*m, request, m->prev[i]));
    ensures REQ_FRAME_hold: \forall integer j; 0 <= j < m->top ==> is_had(\old(*m), j) ==> kept(\old(*m), *m, j);
    ensures new: \forall integer j; 0 <= j < m->top ==> !is_had(\old(*m), j) ==> is_had(*m, j) ==>
      m->state[j] == ASHLAR_HELD && m->holder[j] == request;
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_growth_hold(struct ashlar_manager *m, int32_t request, int32_t start);

/* The first block of the held run, from one of its blocks on, that is held for a reason; -1: none. Linear in the blocks
   of the run. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires run: run_held(*m, request);
    requires slot: 0 <= slot < m->top && in_run(*m, request, slot);
    terminates \true; exits \false;
    assigns \nothing;
    ensures found: \result != -1 ==> 0 <= \result < m->top && in_run(*m, request, \result) && m->hold[\result] == hold;
    ensures none: \result == -1 ==> \forall integer i; 0 <= i < m->top ==> in_run(*m, request, i) ==>
      m->addr[slot] <= m->addr[i] ==> m->hold[i] != hold;
*/
int32_t ashlar_growth_find(const struct ashlar_manager *m, int32_t request, int32_t slot,
                           uint8_t hold);

/* The device has mapped, or lost, the memory of a held block: it is counted, and held as such. O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= m->home[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns m->hold[slot], ASSIGNS_RESERVED;
    ensures REQ_GROW_map_fresh: m->hold[slot] == ASHLAR_HOLD_FRESH;
*/
void ashlar_growth_mapped(struct ashlar_manager *m, int32_t slot);
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= m->home[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns m->hold[slot], ASSIGNS_RESERVED;
    ensures held: m->hold[slot] == hold;
*/
void ashlar_growth_unmapped(struct ashlar_manager *m, int32_t slot, uint8_t hold);

/* Lets a single held block go, free or unmapped. Slot of the result. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD;
    requires state: state == ASHLAR_FREE || (state == ASHLAR_UNMAPPED && m->growable[slot] == 1);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_COALESCE_mapping: m->state[slot] == state || m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_put: others_kept(\old(*m), *m, slot);
    ensures result: 0 <= \result < m->top && m->state[\result] == state && m->addr[\result] <= \old(m->addr[slot]) &&
      \old(m->addr[slot]) + \old(m->size[slot]) <= m->addr[\result] + m->size[\result] &&
      m->home[\result] == \old(m->home[slot]) && m->growable[\result] == \old(m->growable[slot]);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_growth_put(struct ashlar_manager *m, int32_t slot, uint8_t state);

/* Lets the held run go: mapped blocks are free, the others unmapped. O(free blocks) moves for each of its blocks. */
/*@ requires \valid(m); REQUIRES_STATE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires run: run_held(*m, request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered), m->request[request].run;
    ENSURES_STATE ENSURES_LISTED
    ensures over: m->request[request].run == -1;
    ensures none: \forall integer i; 0 <= i < m->top ==> !in_run(*m, request, i);
    ensures REQ_FRAME_let_go: \forall integer j; 0 <= j < m->top ==> is_had(\old(*m), j) ==>
      !in_run(\old(*m), request, j) ==> kept(\old(*m), *m, j);
    ensures new: \forall integer j; 0 <= j < m->top ==> is_had(*m, j) ==> is_had(\old(*m), j) &&
      !in_run(\old(*m), request, j);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_growth_let_go(struct ashlar_manager *m, int32_t request);

/* Makes the held run, all of which is mapped, one free block; its slot. Linear in the blocks of the run, and
   O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires run: run_held(*m, request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered), m->request[request].run;
    ENSURES_STATE ENSURES_LISTED
    ensures over: m->request[request].run == -1;
    ensures none: \forall integer i; 0 <= i < m->top ==> !in_run(*m, request, i);
    ensures REQ_FRAME_gather: \forall integer j; 0 <= j < m->top ==> is_had(\old(*m), j) ==>
      !in_run(\old(*m), request, j) ==> kept(\old(*m), *m, j);
    ensures new: \forall integer j; 0 <= j < m->top ==> is_had(*m, j) ==> is_had(\old(*m), j) &&
      !in_run(\old(*m), request, j);
    ensures REQ_GROW_allocate_covered: 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->addr[\result] <= \old(m->addr[m->request[request].run]) &&
      \old(m->request[request].run_end) <= m->addr[\result] + m->size[\result] &&
      m->home[\result] == \old(m->home[m->request[request].run]);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_growth_gather(struct ashlar_manager *m, int32_t request);

/* Cuts the whole pages out of a free block of a growable segment and holds them, to be unmapped; what is before and
   behind stays free. Slot of the held block. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->growable[slot] == 1;
    requires settings: page_allowed(m->config.large_segment_size);
    requires spare: 2 <= m->spare_count;
    requires pages: has_pages(*m, slot);
    requires entered: m->entered[slot] <= m->pool_searches[m->home[slot] / ASHLAR_STREAMS];
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, ALL(entered), ALL(hold), ALL(holder);
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_GROW_unmap_held: 0 <= \result < m->top && m->state[\result] == ASHLAR_HELD &&
      m->holder[\result] == request && m->hold[\result] == ASHLAR_HOLD_LEAVING && m->growable[\result] == 1 &&
      m->home[\result] == \old(m->home[slot]);
    ensures REQ_FRAME_take_pages: others_kept(\old(*m), *m, \result);
    ensures new: !is_had(\old(*m), \result);
    ensures holders: \forall integer j; 0 <= j < m->top ==> j != \result ==>
      m->hold[j] == \old(*m).hold[j] && m->holder[j] == \old(*m).holder[j];
    ensures spare: m->spare_count >= \old(m->spare_count) - 2;
*/
int32_t ashlar_growth_take_pages(struct ashlar_manager *m, int32_t request, int32_t slot);

/* Holds a free or unmapped block that is all of its segment, to be given back. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires whole: 0 <= slot < m->top && is_open(*m, slot) && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, m->hold[slot], m->holder[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures held: m->state[slot] == ASHLAR_HELD && m->holder[slot] == request && m->hold[slot] == ASHLAR_HOLD_LEAVING;
    ensures REQ_FRAME_hold_range: others_kept(\old(*m), *m, slot);
*/
void ashlar_growth_hold_range(struct ashlar_manager *m, int32_t request, int32_t slot);

#endif
