/* pool.h (ACSL only) - the invariant of private pools and scopes.
 *
 * Neither is a list: pools and scopes carry the number of their creation or opening, and "the next one", "the newest" are
 * the least or greatest number among those that fit. Every clause is about one pool or two.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_POOL_H
#define ASHLAR_SPEC_POOL_H
/*@
  predicate pools_in_range(integer pool_top, uint8_t pool_state[65], uint64_t pool_segments[65]) =
    0 <= pool_top < ASHLAR_POOL_NUMBERS && pool_state[0] == ASHLAR_POOL_UNUSED &&
    (\forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_state[p] < ASHLAR_POOL_STATES && (pool_top < p ==> pool_state[p] == ASHLAR_POOL_UNUSED));

  // a pool is live as long as it has users
  predicate pools_counted(uint8_t pool_state[65], uint32_t pool_uses[65]) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> (pool_state[p] == ASHLAR_POOL_LIVE <==> 0 < pool_uses[p]);

  // what has ended has left nothing behind, and nothing routes to it
  predicate pools_ended(uint8_t pool_state[65], uint64_t pool_segments[65], uint8_t pool_use_on_oom[65],
    uint64_t scope_serial[65]) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_state[p] == ASHLAR_POOL_UNUSED ==>
      (0 < p ==> pool_segments[p] == 0) && pool_use_on_oom[p] == 0 && scope_serial[p] == 0;

  // a pool that nobody uses any more has no foreign blocks to keep whole
  predicate pools_whole(uint8_t pool_state[65], uint8_t pool_no_split[65]) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_no_split[p] != 0 ==> pool_state[p] == ASHLAR_POOL_LIVE;

  predicate pools_created(uint8_t pool_state[65], uint64_t pool_serial[65], integer pool_serials) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_state[p] != ASHLAR_POOL_UNUSED ==>
      0 < pool_serial[p] <= pool_serials;
  predicate pools_distinct(uint8_t pool_state[65], uint64_t pool_serial[65]) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> \forall integer q; 0 <= q < ASHLAR_POOL_NUMBERS ==>
      pool_state[p] != ASHLAR_POOL_UNUSED ==> pool_state[q] != ASHLAR_POOL_UNUSED ==> p != q ==>
      pool_serial[p] != pool_serial[q];

  predicate scopes_opened(uint64_t scope_serial[65], integer scope_serials) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> scope_serial[p] <= scope_serials;
  predicate scopes_distinct(uint64_t scope_serial[65]) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> \forall integer q; 0 <= q < ASHLAR_POOL_NUMBERS ==>
      0 < scope_serial[p] ==> p != q ==> scope_serial[p] != scope_serial[q];

  // --- words for contracts ---
  predicate has_pool(struct ashlar_manager m, integer p) =
    0 < p < ASHLAR_POOL_NUMBERS && m.pool_state[p] != ASHLAR_POOL_UNUSED;
  // REQ-POOL-allocator: where the segment of a block is from
  predicate is_from(struct ashlar_manager m, integer slot, integer allocator) =
    allocator == m.pool_allocator[m.home[slot] / ASHLAR_STREAMS / ASHLAR_CLASSES];
  predicate scope_applies(struct ashlar_manager m, integer p, integer thread, integer stream) =
    0 < m.scope_serial[p] && (m.scope_thread[p] == 0 || m.scope_thread[p] == thread) &&
    (m.scope_stream[p] == -1 || m.scope_stream[p] == stream);
  // which pools a walk passes: those in a state, or of these the ones with the mark; and one of its own
  predicate walks(struct ashlar_manager m, integer p, integer state, integer marked, integer own) =
    m.pool_state[p] != ASHLAR_POOL_UNUSED &&
    ((m.pool_state[p] == state && (marked == 0 || m.pool_use_on_oom[p] != 0)) || p == own);
  // the first pool created behind `after` that a walk passes; 0: none
  predicate walk_next(struct ashlar_manager m, integer after, integer state, integer marked, integer own,
    integer r) =
    0 <= r < ASHLAR_POOL_NUMBERS &&
    (0 < r ==> walks(m, r, state, marked, own) && after < m.pool_serial[r]) &&
    (\forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==> walks(m, p, state, marked, own) ==> after < m.pool_serial[p] ==>
      0 < r && m.pool_serial[r] <= m.pool_serial[p]);

  predicate same_scope(struct ashlar_manager a, struct ashlar_manager b, integer p) =
    a.scope_serial[p] == b.scope_serial[p] && a.scope_thread[p] == b.scope_thread[p] &&
    a.scope_stream[p] == b.scope_stream[p];
  // all but the use count
  predicate same_but_uses(struct ashlar_manager a, struct ashlar_manager b, integer p) =
    a.pool_state[p] == b.pool_state[p] && a.pool_segments[p] == b.pool_segments[p] &&
    a.pool_allocator[p] == b.pool_allocator[p] && a.pool_use_on_oom[p] == b.pool_use_on_oom[p] &&
    a.pool_no_split[p] == b.pool_no_split[p] && a.pool_serial[p] == b.pool_serial[p];
  predicate same_pool(struct ashlar_manager a, struct ashlar_manager b, integer p) =
    a.pool_uses[p] == b.pool_uses[p] && same_but_uses(a, b, p) && same_scope(a, b, p);
  predicate same_pools(struct ashlar_manager a, struct ashlar_manager b) =
    a.pool_serials == b.pool_serials && a.pool_top == b.pool_top && a.scope_serials == b.scope_serials &&
    (\forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> same_pool(a, b, p));
*/
// clang-format off
#define POOL_CLAUSES(K) \
  K pools: pools_in_range(m->pool_top, m->pool_state, m->pool_segments); \
  K REQ_POOL_count_users: pools_counted(m->pool_state, m->pool_uses); \
  K REQ_POOL_freeable_ended: pools_ended(m->pool_state, m->pool_segments, m->pool_use_on_oom, m->scope_serial); \
  K REQ_POOL_count_whole: pools_whole(m->pool_state, m->pool_no_split); \
  K pool_serials: pools_created(m->pool_state, m->pool_serial, m->pool_serials); \
  K pool_order: pools_distinct(m->pool_state, m->pool_serial); \
  K scope_serials: scopes_opened(m->scope_serial, m->scope_serials); \
  K scope_order: scopes_distinct(m->scope_serial);
#define REQUIRES_POOLS requires pools: POOLS_STATE;
#define ENSURES_POOLS ensures pools: POOLS_STATE;
#define ENSURES_POOL_FRAME ensures REQ_FRAME_pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> p != pool ==> same_pool(\old(*m), *m, p);
#define ENSURES_POOL_ATOMIC ensures REQ_ATOMIC_pools: \result != ASHLAR_OK ==> same_pools(\old(*m), *m);
// clang-format on
#endif
