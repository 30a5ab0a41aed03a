/* block_table.h - the blocks: slots, neighbours, split, coalesce, and the bytes in each state.
 *
 * Shapes (address, size, neighbours) change only on taken blocks, which are out of the free index: so a key never
 * changes while its block is indexed, and every operation here keeps the whole invariant. Allocation is take, cut, put;
 * release is take and join on both sides, then put. Memory that a growable segment loses or gains goes the same way.
 *
 *     before cut(a, n)   | ....... a ....... |        before join(a)   | .. a .. | .. b .. |
 *     after              | .. a .. | .. r .. |        after            | ....... a ....... |   slot b is spare
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_BLOCK_TABLE_H
#define ASHLAR_CORE_BLOCK_TABLE_H

#include "core/free_index.h"
#include "core/manager.h"
#include "spec/groups.h"

/* For the prover only: the state opened into its clauses, and closed again. Comments to the compiler. */
/*@ ghost
  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     BLOCK_CLAUSES(ensures)
  @/
  void ashlar_blocks_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     BLOCK_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures blocks: BLOCKS_STATE;
  @/
  void ashlar_blocks_close(const struct ashlar_manager *m);
*/

/* Bytes of all blocks, with and without memory. O(1). */
/*@ requires \valid(m);
    requires REQ_ACCOUNT_total: bytes_bounded(m->bytes);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_bytes_all: \result == all_bytes(m->bytes);
*/
uint64_t ashlar_block_bytes(const struct ashlar_manager *m);

/* Sees to at least `count` spare slots. 0: there are not so many left, and no block has changed. O(count). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires 0 <= count <= ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    ENSURES_BLOCKS
    ensures enough: \result != 0 ==> count <= m->spare_count;
    ensures REQ_CAPACITY_slots: \result == 0 ==> m->top == ASHLAR_SLOTS && m->spare_count < count;
    ensures REQ_ATOMIC_blocks: blocks_kept(\old(*m), *m);
    ensures grown: \old(m->top) <= m->top;
    ensures fresh: \forall integer j; \old(m->top) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED && m->in_map[j] == 0;
    ensures map: \forall integer j; 0 <= j < \old(m->top) ==> m->in_map[j] == \old(*m).in_map[j];
    ensures room: m->spare_count - m->top == \old(m->spare_count) - \old(m->top);
*/
int ashlar_block_reserve(struct ashlar_manager *m, int32_t count);

/* Free or unmapped block -> taken block. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires indexed: 0 <= slot < m->top && (m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNMAPPED);
    terminates \true; exits \false;
    assigns m->state[slot], m->list[slot], ASSIGNS_BYTES, ASSIGNS_INDEX;
    ENSURES_BLOCKS
    ensures taken: m->state[slot] == ASHLAR_TAKEN;
    ensures REQ_ACCOUNT_take: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) + m->size[slot] &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes));
*/
void ashlar_block_take(struct ashlar_manager *m, int32_t slot);

/* Taken block between neighbours that are not free -> free block. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires before: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] != ASHLAR_FREE;
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES, ASSIGNS_INDEX;
    ENSURES_BLOCKS
    ensures put: m->state[slot] == ASHLAR_FREE;
    ensures REQ_ACCOUNT_put: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - m->size[slot] &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes));
*/
void ashlar_block_put(struct ashlar_manager *m, int32_t slot);

/* Taken block of a growable segment, between neighbours that are not unmapped -> unmapped block. O(free blocks)
   moves. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->growable[slot] == 1;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_UNMAPPED;
    requires before: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] != ASHLAR_UNMAPPED;
    terminates \true; exits \false;
    assigns m->state[slot], m->list[slot], ASSIGNS_BYTES, ASSIGNS_INDEX;
    ENSURES_BLOCKS
    ensures put: m->state[slot] == ASHLAR_UNMAPPED;
    ensures REQ_ACCOUNT_bytes_unmap: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - m->size[slot] &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes));
*/
void ashlar_block_put_unmapped(struct ashlar_manager *m, int32_t slot);

/* Changes who has a block that somebody has: its owner, its pending uses, a request, an operation. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires had: 0 <= slot < m->top && (m->state[slot] == ASHLAR_TAKEN || m->state[slot] == ASHLAR_ALLOCATED ||
      m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_HELD);
    requires state: state == ASHLAR_TAKEN || state == ASHLAR_ALLOCATED || state == ASHLAR_PENDING ||
      state == ASHLAR_HELD;
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES;
    ENSURES_BLOCKS
    ensures passed: m->state[slot] == state;
    ensures REQ_ACCOUNT_bytes_pass: all_bytes(m->bytes) == \old(all_bytes(m->bytes));
*/
void ashlar_block_pass(struct ashlar_manager *m, int32_t slot, uint8_t state);

/* Cuts a taken block after `size` bytes; the rest becomes a taken block, whose slot is returned. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires inside: 0 < size < m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_SHAPE, ASSIGNS_IDENTITY, ALL(state), ALL(list);
    ENSURES_BLOCKS
    ensures new: 0 <= \result < m->top && \result != slot && \old(*m).state[\result] == ASHLAR_UNUSED &&
      m->state[\result] == ASHLAR_TAKEN;
    ensures first: m->addr[slot] == \old(m->addr[slot]) && m->size[slot] == size && m->next[slot] == \result &&
      m->prev[slot] == \old(m->prev[slot]) && m->home[slot] == \old(m->home[slot]) &&
      m->age[slot] == \old(m->age[slot]) && m->base[slot] == \old(m->base[slot]) &&
      m->growable[slot] == \old(m->growable[slot]);
    ensures second: m->addr[\result] == \old(m->addr[slot]) + size &&
      m->size[\result] == \old(m->size[slot]) - size && m->next[\result] == \old(m->next[slot]) &&
      m->prev[\result] == slot;
    ensures REQ_STREAM_inherited: m->home[\result] == m->home[slot] && m->age[\result] == m->age[slot] &&
      m->base[\result] == m->base[slot] && m->growable[\result] == m->growable[slot];
    ensures request: m->requested[\result] == m->requested[slot] == \old(m->requested[slot]);
    ensures states: \forall integer j; 0 <= j < m->top ==> j != \result ==> m->state[j] == \old(*m).state[j];
    ensures REQ_FRAME_cut: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j];
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_block_cut(struct ashlar_manager *m, int32_t slot, uint64_t size);

/* Joins a taken block with the taken block behind it, whose slot becomes spare. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires after: 0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_TAKEN;
    terminates \true; exits \false;
    assigns m->state[\old(m->next[slot])], m->size[slot], ALL(prev), ALL(next), ALL(spare), m->spare_count;
    ENSURES_BLOCKS
    ensures gone: m->state[\old(m->next[slot])] == ASHLAR_UNUSED && \old(m->next[slot]) != slot;
    ensures joined: m->size[slot] == \old(m->size[slot]) + \old(m->size[m->next[slot]]) &&
      m->next[slot] == \old(m->next[m->next[slot]]) && m->prev[slot] == \old(m->prev[slot]);
    ensures REQ_FRAME_join: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \old(m->next[slot]) ==>
      m->next[j] == \old(*m).next[j];
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
*/
void ashlar_block_join(struct ashlar_manager *m, int32_t slot);

/* Puts a taken block back as `state`, free or unmapped: coalesces it with neighbours of that state; the slot of
   the result is returned. The result keeps the request of the block. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires state: state == ASHLAR_FREE || (state == ASHLAR_UNMAPPED && m->growable[slot] == 1);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested);
    ENSURES_BLOCKS
    ensures REQ_FREE_done: m->state[slot] == state || m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_release: others_kept(\old(*m), *m, slot);
    ensures covered: 0 <= \result < m->top && m->state[\result] == state &&
      m->addr[\result] <= \old(m->addr[slot]) &&
      \old(m->addr[slot]) + \old(m->size[slot]) <= m->addr[\result] + m->size[\result];
    ensures REQ_STREAM_kept: m->home[\result] == \old(m->home[slot]) && m->age[\result] == \old(m->age[slot]) &&
      m->base[\result] == \old(m->base[slot]) && m->growable[\result] == \old(m->growable[slot]);
    ensures REQ_ACCOUNT_release:
      m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - \old(m->size[slot]) &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes));
    ensures spare: m->spare_count >= \old(m->spare_count);
    ensures open: \old(*m).state[\result] != ASHLAR_UNUSED && \forall integer j; 0 <= j < m->top ==> j != \result ==>
      m->state[j] == ASHLAR_UNUSED || m->state[j] == \old(*m).state[j];
    ENSURES_SLOTS_LEFT
    ENSURES_INSIDE(\result)
*/
int32_t ashlar_block_release(struct ashlar_manager *m, int32_t slot, uint8_t state);

/* A new taken block that is a whole segment; its slot is returned. The range is apart from every block (the
   promise of the device) and the bytes of all blocks stay below 2^64. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires spare: 0 < m->spare_count;
    requires range: 0 < size && addr + size <= UINT64_MAX && addr % 512 == 0 && size % 512 == 0;
    requires home: 0 <= home < ASHLAR_LISTS;
    requires growable: growable <= 1;
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX;
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      addr + size <= m->addr[j] || m->addr[j] + m->size[j] <= addr;
    terminates \true; exits \false;
    assigns ASSIGNS_SHAPE, ASSIGNS_IDENTITY, ALL(state), ALL(list), ASSIGNS_BYTES;
    ENSURES_BLOCKS
    ensures new: 0 <= \result < m->top && \old(*m).state[\result] == ASHLAR_UNUSED &&
      m->state[\result] == ASHLAR_TAKEN && m->addr[\result] == addr && m->size[\result] == size &&
      m->home[\result] == home && m->age[\result] == age && m->growable[\result] == growable &&
      m->requested[\result] == 0 && m->prev[\result] == -1 && m->next[\result] == -1;
    ensures REQ_FRAME_create: \forall integer j; 0 <= j < m->top ==> j != \result ==>
      m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j];
    ensures REQ_ACCOUNT_create: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) + size &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes)) + size;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_block_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t home,
                            uint64_t age, uint8_t growable);

/* Forgets a taken block that is a whole segment; its slot becomes spare. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires whole: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->prev[slot] == -1 &&
      m->next[slot] == -1;
    terminates \true; exits \false;
    assigns m->state[slot], m->next[slot], ALL(spare), m->spare_count, ASSIGNS_BYTES;
    ENSURES_BLOCKS
    ensures gone: m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_ACCOUNT_destroy: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - m->size[slot] &&
      all_bytes(m->bytes) == \old(all_bytes(m->bytes)) - m->size[slot];
    ensures spare: m->spare_count == \old(m->spare_count) + 1;
*/
void ashlar_block_destroy(struct ashlar_manager *m, int32_t slot);

#endif
