/* growth.h (ACSL only) - a run of blocks that a request holds while it is mapped.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_GROWTH_H
#define ASHLAR_SPEC_GROWTH_H
/*@
  predicate in_run(struct ashlar_manager m, integer request, integer i) =
    m.state[i] == ASHLAR_HELD && m.holder[i] == request;

  // the blocks of a run stand one behind the other, from its first one up to its end
  predicate run_held(struct ashlar_manager m, integer request) =
    0 <= m.request[request].run < m.top && in_run(m, request, m.request[request].run) &&
    \forall integer i; 0 <= i < m.top ==> in_run(m, request, i) ==>
      m.addr[i] + m.size[i] <= m.request[request].run_end && m.growable[i] == 1 &&
      m.addr[m.request[request].run] <= m.addr[i] &&
      (m.addr[i] + m.size[i] < m.request[request].run_end ==> 0 <= m.next[i] && in_run(m, request, m.next[i]));

  // a block that somebody has is what it was
  predicate kept(struct ashlar_manager a, struct ashlar_manager b, integer j) =
    a.state[j] == b.state[j] && same_block(a, b, j) && a.next[j] == b.next[j] && a.holder[j] == b.holder[j] &&
    a.hold[j] == b.hold[j] && a.generation[j] == b.generation[j];
*/
#endif
