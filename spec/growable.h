/* growable.h (ACSL only) - pages, and what can be mapped.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_GROWABLE_H
#define ASHLAR_SPEC_GROWABLE_H

#include "spec/size_policy.h"
/*@
  predicate page_allowed(integer large) = 10485760 < large <= 1152921504606846975 && large % 2097152 == 0;
  logic integer page_of(integer large, integer home) =
    home / ASHLAR_STREAMS % ASHLAR_CLASSES == ASHLAR_CLASS_SMALL ? 2097152 : large;

  // REQ-GROW-reserve: what a range is to have, before it is rounded up to pages
  logic integer range_bytes(integer total, integer most) =
    most != 0 && most < total + total / 8 ? most : total + total / 8;
  logic integer range_most(struct ashlar_manager m, integer home) =
    home / ASHLAR_STREAMS % ASHLAR_CLASSES == ASHLAR_CLASS_SMALL ?
      m.config.reservation_small : m.config.reservation_large;

  // bytes of a block before its first whole page, and whether it has one
  logic integer granules_over(struct ashlar_manager m, integer i) =
    ((m.addr[i] - m.base[i]) / 512) % (page_of(m.config.large_segment_size, m.home[i]) / 512);
  logic integer lead_of(struct ashlar_manager m, integer i) =
    granules_over(m, i) == 0 ? 0 :
      (page_of(m.config.large_segment_size, m.home[i]) / 512 - granules_over(m, i)) * 512;
  predicate has_pages(struct ashlar_manager m, integer i) =
    lead_of(m, i) + page_of(m.config.large_segment_size, m.home[i]) <= m.size[i];

  // a block that growing may take: free or unmapped
  predicate is_open(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_FREE || m.state[i] == ASHLAR_UNMAPPED;

  // the blocks from one on are open, one behind the other, up to the last that is needed for so many bytes
  predicate run_open(struct ashlar_manager m, integer start, integer size) =
    is_open(m, start) &&
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      m.addr[start] <= m.addr[i] < m.addr[start] + size ==>
      is_open(m, i) && m.base[i] == m.base[start] &&
      (m.addr[i] + m.size[i] < m.addr[start] + size ==> 0 <= m.next[i]);

  // REQ-GROW-run: an unmapped block of a home gives a start: `start`, the open block `before` it, or itself
  predicate gives_start(struct ashlar_manager m, integer home, integer i, integer start) =
    m.state[i] == ASHLAR_UNMAPPED && m.home[i] == home &&
    (0 <= m.prev[i] && is_open(m, m.prev[i]) ? start == m.prev[i] : start == i);
*/
#endif
