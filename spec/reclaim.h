/* reclaim.h (ACSL only) - what can be given back to the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_RECLAIM_H
#define ASHLAR_SPEC_RECLAIM_H

#include "spec/segment.h"
#include "spec/growable.h"
/*@
  // two slots beyond those that are set aside for requests in flight
  predicate has_room(struct ashlar_manager m) = 2 + ASHLAR_SET_ASIDE <= m.spare_count + ASHLAR_SLOTS - m.top;

  // REQ-LADDER-all, REQ-GROW-unmap: what a release of everything may take
  predicate can_go(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_FREE &&
    (m.growable[i] == 0 ? whole_free(m, i) : has_pages(m, i) && has_room(m));

  // no block of a pool and class can go
  predicate none_in_class(struct ashlar_manager m, integer pool_class) =
    \forall integer i; 0 <= i < m.top ==> m.home[i] / ASHLAR_STREAMS == pool_class ==> !can_go(m, i);
*/
// clang-format off
#define REQUIRES_LISTED REQUIRES_BLOCKS REQUIRES_STREAMS \
  requires homes: homes_listed(m->top, m->state, m->home, m->stream_count);
// clang-format on
#endif
