/* reclaim.h (ACSL only) - what can be given back to the device.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_RECLAIM_H
#define ASHLAR_SPEC_RECLAIM_H
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

  // every block belongs to a stream that the table lists
  predicate homes_listed(integer top, uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer stream_count) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==> home[i] % ASHLAR_STREAMS < stream_count;

  // REQ-LADDER-age: no free block entered its list after the last search
  predicate ages_valid(integer top, uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    uint64_t entered[ASHLAR_SLOTS], uint64_t pool_searches[130]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_FREE ==>
      entered[i] <= pool_searches[home[i] / ASHLAR_STREAMS];
*/
// clang-format off
#define REQUIRES_LISTED REQUIRES_BLOCKS REQUIRES_STREAMS \
  requires settings: page_allowed(m->config.large_segment_size); \
  requires homes: homes_listed(m->top, m->state, m->home, m->stream_count);
// clang-format on
#endif
