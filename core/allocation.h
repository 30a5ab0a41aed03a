/* allocation.h - handing out and taking back a block, with split, counters and address map.
 *
 * Requirements: REQ-BESTFIT, REQ-SIZE, REQ-ACCOUNT, REQ-FRAME.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_ALLOCATION_H
#define ASHLAR_CORE_ALLOCATION_H

#include "core/address_map.h"
#include "core/block_table.h"
#include "core/size_policy.h"
#include "core/stats.h"

// clang-format off
#define ASSIGNS_ALLOCATION ASSIGNS_BLOCKS, ASSIGNS_STATS, m->oversize_allocations, \
  m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1]
#define SPLITS(SLOT, SIZE) \
  splits_off(m->list[SLOT] / ASHLAR_STREAMS, m->size[SLOT], SIZE, m->config.max_split_size)
// clang-format on

/* The free block that a request takes: the least of the list of at least `size` bytes, unless the split limit forbids
   that one (no other is tried). -1: none. Changes nothing. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_choice: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->list[\result] == list && size <= m->size[\result] &&
      within_split_limit(size, m->size[\result], m->config.max_split_size, m->config.oversize_slack);
    ensures REQ_BESTFIT_least: \result != -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_FREE ==> m->list[j] == list ==> size <= m->size[j] ==>
      j == \result || block_less(*m, \result, j);
    ensures REQ_BESTFIT_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_FREE ==> m->list[j] == list ==> size <= m->size[j] ==>
      !within_split_limit(size, m->size[j], m->config.max_split_size, m->config.oversize_slack) ||
      (\exists integer k; 0 <= k < m->top && m->state[k] == ASHLAR_FREE && m->list[k] == list &&
        size <= m->size[k] && block_less(*m, k, j) &&
        !within_split_limit(size, m->size[k], m->config.max_split_size, m->config.oversize_slack));
*/
int32_t ashlar_allocation_choose(const struct ashlar_manager *m, int32_t list, uint64_t size);

/* Takes a free block for a request of `bytes` bytes, rounded to `size`, splitting the rest off as the rules say. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: SPLITS(slot, size) ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->requested[slot] == bytes;
    ensures REQ_SIZE_split: \old(SPLITS(slot, size)) ==> m->size[slot] == size;
    ensures REQ_SIZE_split_whole: !\old(SPLITS(slot, size)) ==> m->size[slot] == \old(m->size[slot]);
    ensures REQ_FRAME_give: others_kept(\old(*m), *m, slot);
*/
void ashlar_allocation_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size);

/* The same for the block of a segment that was just created, which is allocated already. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    REQUIRES_MAP(slot)
    requires new: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED && m->prev[slot] == -1 &&
      m->next[slot] == -1;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: SPLITS(slot, size) ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->requested[slot] == bytes;
    ensures REQ_SIZE_split: \old(SPLITS(slot, size)) ==> m->size[slot] == size;
    ensures REQ_SIZE_split_whole: !\old(SPLITS(slot, size)) ==> m->size[slot] == \old(m->size[slot]);
    ensures REQ_FRAME_give: others_kept(\old(*m), *m, slot);
*/
void ashlar_allocation_take_new(struct ashlar_manager *m, int32_t slot, uint64_t bytes,
                                uint64_t size);

/* Allocates exactly [addr, addr + size) of a free block; what is before and behind stays free. Slot of the block. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: 0 < size && addr % 512 == 0 && size % 512 == 0 && m->addr[slot] <= addr &&
      addr + size <= m->addr[slot] + m->size[slot];
    requires spare: (m->addr[slot] < addr ? 1 : 0) + (addr + size < m->addr[slot] + m->size[slot] ? 1 : 0) <=
      m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == addr &&
      m->size[\result] == size && m->requested[\result] == bytes;
    ensures REQ_FRAME_place: others_kept(\old(*m), *m, \result);
*/
int32_t ashlar_allocation_take_at(struct ashlar_manager *m, int32_t slot, uint64_t addr,
                                  uint64_t size, uint64_t bytes);

/* Takes an allocated block back: coalesced, counted, in the free index, out of the address map. Its handle is void from
   here on, whatever block the slot holds next. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, m->generation[slot];
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures REQ_FREE_done: m->state[slot] != ASHLAR_ALLOCATED;
    ensures REQ_FREE_handle_renewed: m->generation[slot] != \old(m->generation[slot]);
    ensures REQ_FRAME_free: others_kept(\old(*m), *m, slot);
*/
void ashlar_allocation_release(struct ashlar_manager *m, int32_t slot);

/* Moves the end of an allocated block inside the room that it and a free block behind it have. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_resize: others_kept(\old(*m), *m, slot);
*/
void ashlar_allocation_resize(struct ashlar_manager *m, int32_t slot, uint64_t size);

#endif
