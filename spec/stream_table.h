/* stream_table.h (ACSL only) - the stream table lists every stream once, ascending by key.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_STREAM_TABLE_H
#define ASHLAR_SPEC_STREAM_TABLE_H
/*@
  predicate streams_in_range(integer stream_count, int32_t stream_order[256]) =
    0 <= stream_count <= ASHLAR_STREAMS &&
    (\forall integer k; 0 <= k < stream_count ==> 0 <= stream_order[k] < stream_count);
  predicate streams_sorted(integer stream_count, uint64_t stream_key[256], int32_t stream_order[256]) =
    \forall integer j; 0 <= j < stream_count ==> \forall integer k; j < k < stream_count ==>
      stream_key[stream_order[j]] < stream_key[stream_order[k]];
*/
// clang-format off
#define REQUIRES_STREAMS requires streams: streams_in_range(m->stream_count, m->stream_order); requires order: streams_sorted(m->stream_count, m->stream_key, m->stream_order);
#define ENSURES_STREAMS ensures streams: streams_in_range(m->stream_count, m->stream_order); ensures order: streams_sorted(m->stream_count, m->stream_key, m->stream_order);
// clang-format on
#endif
