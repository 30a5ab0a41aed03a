/* block_table.h - the blocks: slots, neighbours, split, coalesce, and the bytes in each state.
 *
 * Shapes (address, size, neighbours) change only on allocated blocks, which are out of the free index: so a key never
 * changes while its block is indexed, and every operation here keeps the whole invariant. Allocation is take, cut, put;
 * release is take and join on both sides, then put.
 *
 *     before cut(a, n)   | ....... a ....... |        before join(a)   | .. a .. | .. b .. |
 *     after              | .. a .. | .. r .. |        after            | ....... a ....... |   slot b is spare
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_BLOCK_TABLE_H
#define ASHLAR_CORE_BLOCK_TABLE_H

#include "core/free_index.h"
#include "core/manager.h"
#include "spec/block_table.h"

/* Sees to at least `count` spare slots. 0: there are not so many left, and no block has changed. O(count). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires 0 <= count <= ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns m->top, m->state[0 .. ASHLAR_SLOTS - 1], m->generation[0 .. ASHLAR_SLOTS - 1], m->next[0 .. ASHLAR_SLOTS - 1], m->spare[0 .. ASHLAR_SLOTS - 1],
            m->spare_count, m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1];
    ENSURES_BLOCKS
    ensures enough: \result != 0 ==> count <= m->spare_count;
    ensures REQ_CAPACITY_slots: \result == 0 ==> m->top == ASHLAR_SLOTS && m->spare_count < count;
    ensures REQ_ATOMIC_blocks: blocks_kept(\old(*m), *m);
    ensures grown: \old(m->top) <= m->top;
    ensures fresh: \forall integer j; \old(m->top) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED;
*/
int ashlar_block_reserve(struct ashlar_manager *m, int32_t count);

/* Free block -> allocated block. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    terminates \true; exits \false;
    assigns m->state[slot], m->allocated_bytes, m->free_bytes, ASSIGNS_INDEX;
    ENSURES_BLOCKS
    ensures taken: m->state[slot] == ASHLAR_ALLOCATED;
    ensures REQ_ACCOUNT_take: m->allocated_bytes == \old(m->allocated_bytes) + m->size[slot] &&
      m->free_bytes == \old(m->free_bytes) - m->size[slot];
*/
void ashlar_block_take(struct ashlar_manager *m, int32_t slot);

/* Allocated block between neighbours that are not free -> free block. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires before: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] != ASHLAR_FREE;
    terminates \true; exits \false;
    assigns m->state[slot], m->allocated_bytes, m->free_bytes, ASSIGNS_INDEX;
    ENSURES_BLOCKS
    ensures put: m->state[slot] == ASHLAR_FREE;
    ensures REQ_ACCOUNT_put: m->allocated_bytes == \old(m->allocated_bytes) - m->size[slot] &&
      m->free_bytes == \old(m->free_bytes) + m->size[slot];
*/
void ashlar_block_put(struct ashlar_manager *m, int32_t slot);

/* Cuts an allocated block after `size` bytes; the rest becomes an allocated block, whose slot is returned. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size < m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_SHAPE, m->state[0 .. ASHLAR_SLOTS - 1], m->addr[0 .. ASHLAR_SLOTS - 1], m->list[0 .. ASHLAR_SLOTS - 1],
            m->age[0 .. ASHLAR_SLOTS - 1], m->requested[0 .. ASHLAR_SLOTS - 1];
    ENSURES_BLOCKS
    ensures new: 0 <= \result < m->top && \result != slot && \old(*m).state[\result] == ASHLAR_UNUSED &&
      m->state[\result] == ASHLAR_ALLOCATED;
    ensures first: m->addr[slot] == \old(m->addr[slot]) && m->size[slot] == size && m->next[slot] == \result &&
      m->prev[slot] == \old(m->prev[slot]) && m->list[slot] == \old(m->list[slot]) &&
      m->age[slot] == \old(m->age[slot]);
    ensures second: m->addr[\result] == \old(m->addr[slot]) + size &&
      m->size[\result] == \old(m->size[slot]) - size && m->next[\result] == \old(m->next[slot]) &&
      m->prev[\result] == slot;
    ensures REQ_STREAM_inherited: m->list[\result] == m->list[slot] && m->age[\result] == m->age[slot];
    ensures request: m->requested[\result] == m->requested[slot] == \old(m->requested[slot]);
    ensures states: \forall integer j; 0 <= j < m->top ==> j != \result ==> m->state[j] == \old(*m).state[j];
    ensures REQ_FRAME_cut: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      same_block(\old(*m), *m, j);
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_block_cut(struct ashlar_manager *m, int32_t slot, uint64_t size);

/* Joins an allocated block with the allocated block behind it, whose slot becomes spare. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns m->state[\old(m->next[slot])], m->size[slot], m->prev[0 .. ASHLAR_SLOTS - 1], m->next[0 .. ASHLAR_SLOTS - 1],
            m->spare[0 .. ASHLAR_SLOTS - 1], m->spare_count;
    ENSURES_BLOCKS
    ensures gone: m->state[\old(m->next[slot])] == ASHLAR_UNUSED && \old(m->next[slot]) != slot;
    ensures joined: m->size[slot] == \old(m->size[slot]) + \old(m->size[m->next[slot]]) &&
      m->next[slot] == \old(m->next[m->next[slot]]) && m->prev[slot] == \old(m->prev[slot]);
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
*/
void ashlar_block_join(struct ashlar_manager *m, int32_t slot);

/* Frees an allocated block: coalesces it with free neighbours and puts the result, whose slot is returned, into the
   free index. The result keeps the request of the freed block. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, m->requested[0 .. ASHLAR_SLOTS - 1];
    ENSURES_BLOCKS
    ensures REQ_FREE_done: m->state[slot] != ASHLAR_ALLOCATED;
    ensures REQ_FRAME_release: others_kept(\old(*m), *m, slot);
    ensures covered: 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->addr[\result] <= \old(m->addr[slot]) &&
      \old(m->addr[slot]) + \old(m->size[slot]) <= m->addr[\result] + m->size[\result];
    ensures REQ_STREAM_kept: m->list[\result] == \old(m->list[slot]) && m->age[\result] == \old(m->age[slot]);
    ensures REQ_ACCOUNT_release: m->allocated_bytes == \old(m->allocated_bytes) - \old(m->size[slot]) &&
      m->allocated_bytes + m->free_bytes == \old(m->allocated_bytes) + \old(m->free_bytes);
*/
int32_t ashlar_block_release(struct ashlar_manager *m, int32_t slot);

/* A new allocated block that is a whole segment; its slot is returned. The range is apart from every block (the
   promise of the device) and the bytes of all blocks stay below 2^64. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires spare: 0 < m->spare_count;
    requires range: 0 < size && addr + size <= UINT64_MAX && addr % 512 == 0 && size % 512 == 0;
    requires list: 0 <= list < ASHLAR_LISTS;
    requires total: m->allocated_bytes + m->free_bytes + size <= UINT64_MAX;
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      addr + size <= m->addr[j] || m->addr[j] + m->size[j] <= addr;
    terminates \true; exits \false;
    assigns ASSIGNS_SHAPE, m->state[0 .. ASHLAR_SLOTS - 1], m->addr[0 .. ASHLAR_SLOTS - 1], m->list[0 .. ASHLAR_SLOTS - 1],
            m->age[0 .. ASHLAR_SLOTS - 1], m->requested[0 .. ASHLAR_SLOTS - 1], m->allocated_bytes;
    ENSURES_BLOCKS
    ensures new: 0 <= \result < m->top && \old(*m).state[\result] == ASHLAR_UNUSED &&
      m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == addr && m->size[\result] == size &&
      m->list[\result] == list && m->age[\result] == age && m->requested[\result] == 0 &&
      m->prev[\result] == -1 && m->next[\result] == -1;
    ensures REQ_FRAME_create: \forall integer j; 0 <= j < m->top ==> j != \result ==>
      m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j);
    ensures REQ_ACCOUNT_create: m->allocated_bytes == \old(m->allocated_bytes) + size;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_block_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t list,
                            uint64_t age);

/* Forgets an allocated block that is a whole segment; its slot becomes spare. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires whole: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED && m->prev[slot] == -1 &&
      m->next[slot] == -1;
    terminates \true; exits \false;
    assigns m->state[slot], m->next[slot], m->spare[0 .. ASHLAR_SLOTS - 1], m->spare_count, m->allocated_bytes;
    ENSURES_BLOCKS
    ensures gone: m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_ACCOUNT_destroy: m->allocated_bytes == \old(m->allocated_bytes) - m->size[slot];
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
*/
void ashlar_block_destroy(struct ashlar_manager *m, int32_t slot);

#endif
