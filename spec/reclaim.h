/* reclaim.h (ACSL only) - what can be given back to the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_RECLAIM_H
#define ASHLAR_SPEC_RECLAIM_H
/*@
  predicate whole_free(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_FREE && m.prev[i] == -1 && m.next[i] == -1;
*/
#endif
