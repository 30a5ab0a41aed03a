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

  // REQ-CANON-whole: no block has an owner, is used, or is in the hands of a request
  predicate nothing_active(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==>
      m.state[i] == ASHLAR_UNUSED || m.state[i] == ASHLAR_FREE || m.state[i] == ASHLAR_UNMAPPED;
  predicate ordinary_whole(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==> m.growable[i] == 0 ==> whole_free(m, i);
  predicate no_ordinary(struct ashlar_manager m, integer pool) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      m.home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES == pool ==> m.growable[i] != 0;

  // REQ-LADDER-order, of blocks of one class: streams ascending by key, in a list the free-list order
  predicate list_before(struct ashlar_manager m, integer i, integer j) =
    m.stream_rank[m.home[i] % ASHLAR_STREAMS] < m.stream_rank[m.home[j] % ASHLAR_STREAMS] ||
    (m.home[i] == m.home[j] && block_less(m, i, j));
  // REQ-GROW-release: those of ordinary segments before those of growable ones
  predicate kind_before(struct ashlar_manager m, integer i, integer j) =
    m.growable[i] < m.growable[j] || (m.growable[i] == m.growable[j] && list_before(m, i, j));
  // of blocks of one pool: the large class first in the default pool, in others the small one
  predicate goes_before(struct ashlar_manager m, integer i, integer j) =
    m.home[i] / ASHLAR_STREAMS == m.home[j] / ASHLAR_STREAMS ? kind_before(m, i, j) :
      m.home[i] / ASHLAR_STREAMS < ASHLAR_CLASSES ?
      m.home[j] / ASHLAR_STREAMS < m.home[i] / ASHLAR_STREAMS :
      m.home[i] / ASHLAR_STREAMS < m.home[j] / ASHLAR_STREAMS;
  // of all: the default pool first, then pools in the order of their creation
  predicate pool_before(struct ashlar_manager m, integer i, integer j) =
    m.home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES == m.home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES ? goes_before(m, i, j) :
      m.home[i] / ASHLAR_STREAMS < ASHLAR_CLASSES || (ASHLAR_CLASSES <= m.home[j] / ASHLAR_STREAMS &&
      m.pool_serial[m.home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES] <
      m.pool_serial[m.home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES]);

  // REQ-LADDER-age: searches are counted, and one in a pool and class is
  predicate ages_count(struct ashlar_manager m) =
    m.collect_above != UINT64_MAX && (m.limit != UINT64_MAX || m.config.policy == ASHLAR_POLICY_COMPLETE);
  predicate search_counted(struct ashlar_manager before, struct ashlar_manager now, integer pool_class) =
    (\forall integer k; 0 <= k < ASHLAR_POOL_CLASSES ==> k != pool_class ==>
      now.pool_searches[k] == before.pool_searches[k]) &&
    (ages_count(before) && before.pool_searches[pool_class] < UINT64_MAX ?
      now.pool_searches[pool_class] == before.pool_searches[pool_class] + 1 :
      now.pool_searches[pool_class] == before.pool_searches[pool_class]);
  logic integer age_in_list(struct ashlar_manager m, integer i) =
    m.pool_searches[m.home[i] / ASHLAR_STREAMS] - m.entered[i];

  // REQ-LADDER-collect: what a pass may release
  predicate is_collected(struct ashlar_manager m, integer i, integer cutoff) =
    whole_free(m, i) && m.growable[i] == 0 && m.home[i] / ASHLAR_STREAMS == ASHLAR_CLASS_LARGE &&
    cutoff <= age_in_list(m, i);
*/
// clang-format off
#define REQUIRES_LISTED REQUIRES_BLOCKS REQUIRES_STREAMS \
  requires homes: homes_listed(m->top, m->state, m->home, m->stream_count);
// clang-format on
#endif
