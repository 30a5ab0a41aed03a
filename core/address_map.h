/* address_map.h - from the start address of an allocated block to its slot.
 *
 * A chained hash: buckets and chains hold slot + 1, so that zeroed storage is an empty map. It answers for starts only;
 * an interior or unknown address has no slot. Requirement: REQ-FREE.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_ADDRESS_MAP_H
#define ASHLAR_CORE_ADDRESS_MAP_H

#include "core/manager.h"
#include "spec/address_map.h"

/* Slot of the mapped block that starts at the address, or -1. Expected O(1). */
/*@ requires \valid(m); REQUIRES_MAP
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_found: \result != -1 ==> 0 <= \result < m->top && m->addr[\result] == addr;
*/
int32_t ashlar_map_find(const struct ashlar_manager *m, uint64_t addr);

/* Adds a block that is not mapped. O(1). */
/*@ requires \valid(m); REQUIRES_MAP
    requires slot: 0 <= slot < m->top;
    terminates \true; exits \false;
    assigns m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[slot];
    ENSURES_MAP
*/
void ashlar_map_insert(struct ashlar_manager *m, int32_t slot);

/* Removes a mapped block, before its address changes. Expected O(1). */
/*@ requires \valid(m); REQUIRES_MAP
    requires slot: 0 <= slot < m->top;
    terminates \true; exits \false;
    assigns m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MAP
*/
void ashlar_map_remove(struct ashlar_manager *m, int32_t slot);

#endif
