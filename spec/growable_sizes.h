/* growable_sizes.h (ACSL only) - where growable segments begin, and how much of them is mapped.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_GROWABLE_SIZES_H
#define ASHLAR_SPEC_GROWABLE_SIZES_H

#include "spec/block_manager.h"
/*@
  // the first block of a growable segment
  predicate begins_growable(struct ashlar_manager m, integer i) =
    m.state[i] != ASHLAR_UNUSED && m.growable[i] != 0 && m.prev[i] == -1;

  // REQ-GROW-sizes: bytes with memory behind them, of the segment that begins at an address, in the first k slots
  logic integer mapped_in(uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], integer address, integer k) =
    k <= 0 ? 0 : mapped_in(state, hold, base, size, address, k - 1) +
      (base[k - 1] == address && is_reserved(state[k - 1], hold[k - 1]) == 1 ? size[k - 1] : 0);

  // bytes of all blocks in the first k slots
  logic integer bytes_before(uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer k) =
    bytes_in(state, size, ASHLAR_FREE, k) + bytes_in(state, size, ASHLAR_ALLOCATED, k) +
    bytes_in(state, size, ASHLAR_PENDING, k) + bytes_in(state, size, ASHLAR_UNMAPPED, k) +
    bytes_in(state, size, ASHLAR_HELD, k) + bytes_in(state, size, ASHLAR_TAKEN, k);
*/
#endif
