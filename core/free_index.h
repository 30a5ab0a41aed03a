/* free_index.h - the ordered set of free blocks: exact best fit.
 *
 * Nothing here tells how the set is kept; callers prove against these contracts only, so that a faster index replaces
 * this one without touching their proofs. Keys (list, size, age, address) are read from the block table and must not
 * change while a block is in the index. Where a cost names free blocks, those are meant that are in the index, unmapped
 * ones too. Requirement: REQ-BESTFIT.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_FREE_INDEX_H
#define ASHLAR_CORE_FREE_INDEX_H

#include <stdint.h>
#include "core/manager.h"
#include "spec/free_index.h"

/* Least block of the list, in free-list order, of at least `size` bytes; -1 only where the list has none.
   O(log free blocks). */
/*@ requires \valid(m); REQUIRES_INDEX
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> m->size[j] < size;
    ensures REQ_BESTFIT_some: \result != -1 ==> 0 <= \result < m->top && indexed(*m, \result) &&
      m->list[\result] == list && size <= m->size[\result];
    ensures REQ_BESTFIT_least: \result != -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> size <= m->size[j] ==> j == \result || block_less(*m, \result, j);
*/
int32_t ashlar_index_best(const struct ashlar_manager *m, int32_t list, uint64_t size);

/* Least block of the list behind the key (size, age, addr), -1: none. O(log free blocks). */
/*@ requires \valid(m); REQUIRES_INDEX
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_after_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> !above(*m, j, list, size, age, addr);
    ensures REQ_LADDER_after_some: \result != -1 ==> 0 <= \result < m->top && indexed(*m, \result) &&
      m->list[\result] == list && above(*m, \result, list, size, age, addr);
    ensures REQ_LADDER_after_least: \result != -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> above(*m, j, list, size, age, addr) ==> j == \result || block_less(*m, \result, j);
*/
int32_t ashlar_index_after(const struct ashlar_manager *m, int32_t list, uint64_t size,
                           uint64_t age, uint64_t addr);

/* Greatest block of the list before the key (size, age, addr), -1: none. O(log free blocks). */
/*@ requires \valid(m); REQUIRES_INDEX
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_before_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> !below(*m, j, list, size, age, addr);
    ensures REQ_LADDER_before_some: \result != -1 ==> 0 <= \result < m->top && indexed(*m, \result) &&
      m->list[\result] == list && below(*m, \result, list, size, age, addr);
    ensures REQ_LADDER_before_greatest: \result != -1 ==> \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
      m->list[j] == list ==> below(*m, j, list, size, age, addr) ==> j == \result || block_less(*m, j, \result);
*/
int32_t ashlar_index_before(const struct ashlar_manager *m, int32_t list, uint64_t size,
                            uint64_t age, uint64_t addr);

/* Adds a block. O(log free blocks) comparisons and O(free blocks) moves of eight bytes. */
/*@ requires \valid(m); REQUIRES_INDEX
    requires new: 0 <= slot < m->top && !indexed(*m, slot);
    requires apart: \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==> m->addr[j] != m->addr[slot];
    terminates \true; exits \false;
    assigns ASSIGNS_INDEX;
    ENSURES_INDEX
    ensures members: \forall integer j; 0 <= j < m->top ==>
      (indexed(*m, j) <==> (\old(indexed(*m, j)) || j == slot));
*/
void ashlar_index_insert(struct ashlar_manager *m, int32_t slot);

/* Removes a block. O(free blocks) moves of eight bytes. */
/*@ requires \valid(m); REQUIRES_INDEX
    requires member: 0 <= slot < m->top && indexed(*m, slot);
    terminates \true; exits \false;
    assigns ASSIGNS_INDEX;
    ENSURES_INDEX
    ensures members: \forall integer j; 0 <= j < m->top ==>
      (indexed(*m, j) <==> (\old(indexed(*m, j)) && j != slot));
*/
void ashlar_index_remove(struct ashlar_manager *m, int32_t slot);

/* Lets the index know of one more slot, m->top, which is not a member. O(1). */
/*@ requires \valid(m); REQUIRES_INDEX
    requires room: m->top < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns m->top, m->order[m->top], m->place[m->top];
    ENSURES_INDEX
    ensures grown: m->top == \old(m->top) + 1 && !indexed(*m, \old(m->top));
    ensures members: \forall integer j; 0 <= j < \old(m->top) ==> (indexed(*m, j) <==> \old(indexed(*m, j)));
*/
void ashlar_index_grow(struct ashlar_manager *m);

#endif
