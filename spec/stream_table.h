/* stream_table.h (ACSL only) - the stream table lists every stream once, ascending by key.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_STREAM_TABLE_H
#define ASHLAR_SPEC_STREAM_TABLE_H
/*@
  predicate streams_in_range(struct ashlar_manager m) =
    0 <= m.stream_count <= ASHLAR_STREAMS &&
    (\forall integer k; 0 <= k < m.stream_count ==> 0 <= m.stream_order[k] < m.stream_count);
  predicate streams_sorted(struct ashlar_manager m) =
    \forall integer j; 0 <= j < m.stream_count ==> \forall integer k; j < k < m.stream_count ==>
      m.stream_key[m.stream_order[j]] < m.stream_key[m.stream_order[k]];
*/
// clang-format off
#define REQUIRES_STREAMS requires streams: streams_in_range(*m); requires order: streams_sorted(*m);
#define ENSURES_STREAMS ensures streams: streams_in_range(*m); ensures order: streams_sorted(*m);
// clang-format on
#endif
