/* allocation.h - handing out and taking back a block, with split, statistics and address map.
 *
 * A block is handed out by `take` (or, of a new segment, `take_new`), and comes back in two stages: `end` when its owner
 * gives it back, `free` when no work on other streams uses it any more. Requirements: REQ-BESTFIT, REQ-SIZE,
 * REQ-ACCOUNT, REQ-FRAME.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_ALLOCATION_H
#define ASHLAR_CORE_ALLOCATION_H

#include "core/address_map.h"
#include "core/block_table.h"
#include "core/home.h"
#include "core/size_policy.h"
#include "core/stats.h"
#include "spec/allocation.h"

/* The free block that a request takes, -1: none. The least of the list of at least `size` bytes; where growable
   segments are off for the request, of ordinary segments alone; where they are on, the walk of REQ-BESTFIT-walk goes on
   from it. No other block is tried where the split limit forbids the one reached. Changes nothing. O(log free blocks),
   and again for each block of a growable segment that is passed over. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_choice: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->home[\result] == home && size <= m->size[\result] &&
      within_split_limit(size, m->size[\result], m->config.max_split_size, m->config.oversize_slack);
    ensures REQ_BESTFIT_skip: \result != -1 ==> growable == 0 ==> m->growable[\result] == 0;
    ensures REQ_BESTFIT_least: \result != -1 ==> m->growable[\result] == 0 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_FREE ==> m->list[j] == home ==> size <= m->size[j] ==> m->growable[j] == 0 ==>
      j == \result || block_less(*m, \result, j);
    ensures REQ_BESTFIT_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_FREE ==> m->list[j] == home ==> size <= m->size[j] ==>
      (growable == 0 ==> m->growable[j] == 0) ==>
      !within_split_limit(size, m->size[j], m->config.max_split_size, m->config.oversize_slack) ||
      (\exists integer k; 0 <= k < m->top && m->state[k] == ASHLAR_FREE && m->list[k] == home &&
        size <= m->size[k] &&
        !within_split_limit(size, m->size[k], m->config.max_split_size, m->config.oversize_slack));
*/
int32_t ashlar_allocation_choose(const struct ashlar_manager *m, int32_t home, uint64_t size,
                                 int growable);

/* 1 where the rest of a block of `whole` bytes of a home is split off behind `size` bytes. O(1). */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS && size <= whole;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_split_rule: \result != 0 <==> splits(*m, home, whole, size, growable);
    ensures bool: \result == 0 || \result == 1;
*/
int ashlar_allocation_splits(const struct ashlar_manager *m, int32_t home, uint64_t whole,
                             uint64_t size, int growable);

/* Takes what a free block has from `before` bytes on; what is before stays free. Slot of the block taken.
   O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: before % 512 == 0 && before < m->size[slot];
    requires spare: 0 < before ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures taken: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN &&
      m->addr[\result] == \old(m->addr[slot]) + before && m->size[\result] == \old(m->size[slot]) - before &&
      m->home[\result] == \old(m->home[slot]) && m->growable[\result] == \old(m->growable[slot]);
    ensures old: \old(*m).state[\result] == ASHLAR_FREE || \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != ASHLAR_FREE;
    ensures before: 0 < before ==> m->state[slot] == ASHLAR_FREE && m->addr[slot] == \old(m->addr[slot]) &&
      m->size[slot] == before && m->home[slot] == \old(m->home[slot]) && slot != \result;
    ensures spare: m->spare_count == \old(m->spare_count) - (0 < before ? 1 : 0);
    ensures REQ_FRAME_take: others_kept(\old(*m), *m, \result);
    ENSURES_FREE_LEFT(slot)
*/
int32_t ashlar_allocation_take_from(struct ashlar_manager *m, int32_t slot, uint64_t before);

/* Cuts a taken block after `size` bytes, where it is larger; the rest is free, and entered its list when `entered`
   searches had been made. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: size < m->size[slot] ==> 0 < m->spare_count;
    requires entered: entered <= m->pool_searches[m->home[slot] / ASHLAR_STREAMS];
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures kept: m->state[slot] == ASHLAR_TAKEN && m->addr[slot] == \old(m->addr[slot]) &&
      m->home[slot] == \old(m->home[slot]) && m->growable[slot] == \old(m->growable[slot]) && m->size[slot] == size &&
      m->requested[slot] == \old(m->requested[slot]);
    ensures rest: size < \old(m->size[slot]) ==> 0 <= m->next[slot] < m->top &&
      m->state[m->next[slot]] == ASHLAR_FREE && m->addr[m->next[slot]] == m->addr[slot] + size &&
      m->size[m->next[slot]] == \old(m->size[slot]) - size && m->home[m->next[slot]] == m->home[slot];
    ensures spare: m->spare_count == \old(m->spare_count) - (size < \old(m->size[slot]) ? 1 : 0);
    ensures REQ_FRAME_shorten: others_kept(\old(*m), *m, slot);
    ENSURES_FREE_LEFT(slot)
*/
void ashlar_allocation_shorten(struct ashlar_manager *m, int32_t slot, uint64_t size,
                               uint64_t entered);

/* Takes a free block for a request of `bytes` bytes, rounded to `size`, splitting the rest off as the rules say.
   O(free blocks) moves, and linear in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_STATE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_STATE ENSURES_GIVEN ENSURES_LISTED
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_allocation_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                            int growable);

/* The same for the block of a segment that was just created, which is taken already. O(free blocks) moves, and linear
   in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_STATE
    requires new: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->prev[slot] == -1 &&
      m->next[slot] == -1;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_STATE ENSURES_GIVEN ENSURES_LISTED
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_allocation_take_new(struct ashlar_manager *m, int32_t slot, uint64_t bytes,
                                uint64_t size, int growable);

/* Allocates exactly [addr, addr + size) of a free block; what is before and behind stays free. Slot of the block.
   O(free blocks) moves, and linear in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_STATE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: 0 < size && addr % 512 == 0 && size % 512 == 0 && m->addr[slot] <= addr &&
      addr + size <= m->addr[slot] + m->size[slot];
    requires spare: (m->addr[slot] < addr ? 1 : 0) + (addr + size < m->addr[slot] + m->size[slot] ? 1 : 0) <=
      m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_STATE ENSURES_LISTED
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == addr &&
      m->size[\result] == size && m->requested[\result] == bytes && m->home[\result] == \old(m->home[slot]);
    ensures old: \old(*m).state[\result] == ASHLAR_FREE || \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures REQ_FRAME_place: others_kept(\old(*m), *m, \result);
    ensures REQ_LIFETIME_once_placed: m->references[\result] == 1 && \forall integer j; 0 <= j < m->top ==>
      j != \result ==> m->references[j] == \old(*m).references[j];
    ensures before: \old(m->addr[slot]) < addr ==> m->state[slot] == ASHLAR_FREE &&
      m->addr[slot] == \old(m->addr[slot]) && m->size[slot] == addr - m->addr[slot] &&
      m->home[slot] == \old(m->home[slot]);
    ensures behind: addr + size < \old(m->addr[slot] + m->size[slot]) ==> 0 <= m->next[\result] < m->top &&
      m->state[m->next[\result]] == ASHLAR_FREE && m->addr[m->next[\result]] == addr + size &&
      m->addr[m->next[\result]] + m->size[m->next[\result]] == \old(m->addr[slot] + m->size[slot]) &&
      m->home[m->next[\result]] == \old(m->home[slot]);
    ensures spare: m->spare_count >= \old(m->spare_count) - 2;
    ENSURES_FREE_LEFT(slot)
*/
int32_t ashlar_allocation_take_at(struct ashlar_manager *m, int32_t slot, uint64_t addr,
                                  uint64_t size, uint64_t bytes);

/* The owner gives an allocated block back: its handle is void from here on, its address unknown. It is pending. Linear
   in its bucket of the address map. */
/*@ requires \valid(m); REQUIRES_STATE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES, ASSIGNS_STATS, m->oversize_allocations, ASSIGNS_MAP, m->in_map[slot],
      m->generation[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_STREAM_pending_ended: m->state[slot] == ASHLAR_PENDING;
    ensures REQ_FREE_handle_renewed: m->generation[slot] != \old(m->generation[slot]);
    ensures REQ_FRAME_end: others_kept(\old(*m), *m, slot);
*/
void ashlar_allocation_end(struct ashlar_manager *m, int32_t slot);

/* A pending block is free: coalesced and in its list. Slot of the result. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_STATE
    requires pending: 0 <= slot < m->top && m->state[slot] == ASHLAR_PENDING;
    terminates \true; exits \false;
    assigns ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ensures REQ_FREE_done: m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures result: 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE;
    ensures REQ_FRAME_free: others_kept(\old(*m), *m, slot);
    ENSURES_SLOTS_LEFT
    ENSURES_INSIDE(\result)
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_allocation_free(struct ashlar_manager *m, int32_t slot);

/* Moves the end of an allocated block inside the room that it and a free block behind it have. O(free blocks) moves,
   and linear in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_STATE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_STATE ENSURES_LISTED
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_resize: others_kept(\old(*m), *m, slot);
    ensures REQ_LIFETIME_once_resized: \forall integer j; 0 <= j < m->top ==> m->references[j] == \old(*m).references[j];
*/
void ashlar_allocation_resize(struct ashlar_manager *m, int32_t slot, uint64_t size);

#endif
