/* address_map.h - from the start address of an allocated block to its slot.
 *
 * A chained hash: buckets and chains hold slot + 1, so that zeroed storage is an empty map. Chains ascend by slot. The
 * map answers for starts only; an interior or unknown address has no slot. Requirement: REQ-FREE.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_ADDRESS_MAP_H
#define ASHLAR_CORE_ADDRESS_MAP_H

#include "core/manager.h"
#include "spec/address_map.h"

/* Slot of the allocated block that starts at the address, -1 only where there is none. Expected O(1). */
/*@ requires \valid(m); REQUIRES_MAP(-1)
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_found: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED &&
      m->addr[\result] == addr;
    ensures REQ_FREE_found_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_ALLOCATED ==> m->addr[j] != addr;
*/
int32_t ashlar_map_find(const struct ashlar_manager *m, uint64_t addr);

/* Adds an allocated block, the only one that is not mapped. Expected O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    REQUIRES_MAP(slot)
    terminates \true; exits \false;
    assigns m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MAP(-1)
*/
void ashlar_map_insert(struct ashlar_manager *m, int32_t slot);

/* Removes an allocated block, before its state or address changes. Expected O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    REQUIRES_MAP(-1)
    terminates \true; exits \false;
    assigns m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MAP(slot)
*/
void ashlar_map_remove(struct ashlar_manager *m, int32_t slot);

#endif
