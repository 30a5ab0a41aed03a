/* segment.h (ACSL only) - what a new segment needs, and how segments are counted.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_SEGMENT_H
#define ASHLAR_SPEC_SEGMENT_H
/*@
  // segments of a stream, or of a pool, are not more than were ever created
  predicate segments_counted(integer segments_created, uint64_t stream_segments[256], uint64_t pool_segments[65]) =
    (\forall integer s; 0 <= s < ASHLAR_STREAMS ==> stream_segments[s] <= segments_created) &&
    (\forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_segments[p] <= segments_created);

  // a block that is a whole segment and free
  predicate whole_free(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_FREE && m.prev[i] == -1 && m.next[i] == -1;
*/
// clang-format off
#define REQUIRES_NEW_SEGMENT(ADDR, SIZE, HOME) \
  requires spare: 0 < m->spare_count; \
  requires range: 0 < (SIZE) && (ADDR) + (SIZE) <= UINT64_MAX && (ADDR) % 512 == 0 && (SIZE) % 512 == 0; \
  requires home: 0 <= (HOME) < ASHLAR_LISTS; \
  requires total: all_bytes(m->bytes) + (SIZE) <= UINT64_MAX; \
  requires ages: m->segments_created < UINT64_MAX; \
  requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==> \
    (ADDR) + (SIZE) <= m->addr[j] || m->addr[j] + m->size[j] <= (ADDR);
#define ASSIGNS_RESERVED ASSIGNS_STATS, m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1]
#define ASSIGNS_SEGMENT_COUNTS m->stream_segments[0 .. ASHLAR_STREAMS - 1], m->pool_segments[0 .. ASHLAR_POOL_NUMBERS - 1]
// clang-format on
#endif
