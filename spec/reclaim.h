/* reclaim.h (ACSL only) - what can be given back to the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_RECLAIM_H
#define ASHLAR_SPEC_RECLAIM_H
/*@
  predicate whole_free(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_FREE && m.prev[i] == -1 && m.next[i] == -1;

  // no list of a stream that the table lists holds a segment that could be released
  predicate nothing_to_release(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> whole_free(m, i) ==> \forall integer k; 0 <= k < m.stream_count ==>
      m.list[i] != ASHLAR_CLASS_LARGE * ASHLAR_STREAMS + m.stream_order[k] &&
      m.list[i] != ASHLAR_CLASS_SMALL * ASHLAR_STREAMS + m.stream_order[k];
*/
#endif
