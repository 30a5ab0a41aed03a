/* allocation.h (ACSL only) - when a block is split, and what handing out a block achieves.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_ALLOCATION_H
#define ASHLAR_SPEC_ALLOCATION_H

#include "spec/address_map.h"
#include "spec/block_table.h"
#include "spec/size_policy.h"
/*@
  // REQ-SIZE-split, REQ-GROW-split, REQ-POOL-nosplit
  predicate splits(struct ashlar_manager m, integer home, integer whole, integer size, integer growable) =
    m.pool_no_split[home / ASHLAR_STREAMS / ASHLAR_CLASSES] == 0 &&
    (growable != 0 ? size < whole :
      splits_off(home / ASHLAR_STREAMS % ASHLAR_CLASSES, whole, size, m.config.max_split_size));
*/
// clang-format off
#define STATE_INVARIANT(K) K blocks: BLOCKS_STATE; K map: MAP_STATE; \
  K REQ_FREE_found_mapped: map_allocated(m->top, m->in_map, m->state);
#define REQUIRES_STATE STATE_INVARIANT(requires)
#define ENSURES_STATE STATE_INVARIANT(ensures)

#define ASSIGNS_ALLOCATION ASSIGNS_BLOCKS, ASSIGNS_STATS, m->oversize_allocations, ASSIGNS_MAP, ALL(in_map), \
  ALL(entered), ALL(references)
#define ENSURES_GIVEN \
  ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) && \
    m->requested[slot] == bytes && m->home[slot] == \old(m->home[slot]) && m->references[slot] == 1; \
  ensures REQ_SIZE_split: \old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==> m->size[slot] == size; \
  ensures REQ_SIZE_split_whole: !\old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==> \
    m->size[slot] == \old(m->size[slot]); \
  ensures REQ_FRAME_give: others_kept(\old(*m), *m, slot);
// clang-format on
#endif
