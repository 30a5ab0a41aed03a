/* segment.h - ordinary segments: one device allocation, which begins and ends its life as one block.
 *
 * Requirements: REQ-TILE, REQ-CANON, REQ-ACCOUNT.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_SEGMENT_H
#define ASHLAR_CORE_SEGMENT_H

#include "core/block_table.h"
#include "core/stats.h"

// clang-format off
#define ASSIGNS_SEGMENT ASSIGNS_BLOCKS, ASSIGNS_STATS, m->oversize_segments, m->segments_created
// clang-format on

/* Age of the next segment as free lists see it: its creation number in segment order, 0 in address order. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_age: \result == (m->config.order == ASHLAR_ORDER_SEGMENT ? m->segments_created : 0);
*/
uint64_t ashlar_segment_age(const struct ashlar_manager *m);

/* A new segment as one allocated block (so that the request that caused it gets it first); its slot is returned.
   Preconditions as ashlar_block_create. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires spare: 0 < m->spare_count;
    requires range: 0 < size && addr + size <= UINT64_MAX && addr % 512 == 0 && size % 512 == 0;
    requires list: 0 <= list < ASHLAR_LISTS;
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX;
    requires ages: m->segments_created < UINT64_MAX;
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      addr + size <= m->addr[j] || m->addr[j] + m->size[j] <= addr;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT;
    ENSURES_BLOCKS
    ensures new: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == addr &&
      m->size[\result] == size && m->list[\result] == list && m->prev[\result] == -1 && m->next[\result] == -1;
    ensures free: \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures REQ_FRAME_create: others_kept(\old(*m), *m, \result);
    ensures REQ_ACCOUNT_create: m->bytes[ASHLAR_ALLOCATED] == \old(m->bytes[ASHLAR_ALLOCATED]) + size;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_segment_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t list);

/* Forgets a segment that is one free block. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires whole: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT;
    ENSURES_BLOCKS
    ensures gone: m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_destroy: others_kept(\old(*m), *m, slot);
    ensures REQ_ACCOUNT_destroy: m->bytes[ASHLAR_FREE] == \old(m->bytes[ASHLAR_FREE]) - \old(m->size[slot]) &&
      m->bytes[ASHLAR_ALLOCATED] == \old(m->bytes[ASHLAR_ALLOCATED]);
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
*/
void ashlar_segment_destroy(struct ashlar_manager *m, int32_t slot);

#endif
