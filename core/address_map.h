/* address_map.h - from the start address of an allocated block to its slot.
 *
 * A chained hash: buckets and chains hold slot + 1, so that zeroed storage is an empty map. Chains ascend by slot; at
 * worst one has all blocks of the map. The map answers for starts only; an interior or unknown address has no slot.
 * Requirement: REQ-FREE.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_ADDRESS_MAP_H
#define ASHLAR_CORE_ADDRESS_MAP_H

#include "core/manager.h"
#include "spec/groups.h"

/* For the prover only: the state opened into its clauses, and closed again. Comments to the compiler. */
/*@ ghost
  /@ requires \valid(m);
     requires map: MAP_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     MAP_CLAUSES(ensures)
  @/
  void ashlar_map_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     MAP_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures map: MAP_STATE;
  @/
  void ashlar_map_close(const struct ashlar_manager *m);
*/

/* Slot of the allocated block that starts at the address, -1 only where there is none. Linear in the blocks of a
   bucket, expected O(1). */
/*@ requires \valid(m); REQUIRES_MAP
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_found: \result != -1 ==> 0 <= \result < m->top && m->in_map[\result] == 1 &&
      m->addr[\result] == addr;
    ensures REQ_FREE_found_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->in_map[j] == 1 ==> m->addr[j] != addr;
*/
int32_t ashlar_map_find(const struct ashlar_manager *m, uint64_t addr);

/* Adds a block. Linear in the blocks of its bucket, expected O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top && m->in_map[slot] == 0;
    REQUIRES_MAP
    terminates \true; exits \false;
    assigns ASSIGNS_MAP, m->in_map[slot];
    ENSURES_MAP
    ensures added: m->in_map[slot] == 1;
*/
void ashlar_map_insert(struct ashlar_manager *m, int32_t slot);

/* Removes a block, before its address changes. Linear in the blocks of its bucket, expected O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top && m->in_map[slot] == 1;
    REQUIRES_MAP
    terminates \true; exits \false;
    assigns ASSIGNS_MAP, m->in_map[slot];
    ENSURES_MAP
    ensures removed: m->in_map[slot] == 0;
*/
void ashlar_map_remove(struct ashlar_manager *m, int32_t slot);

#endif
