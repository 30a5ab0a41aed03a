/* stream_table.h (ACSL only) - the stream table lists every stream once, ascending by key.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_STREAM_TABLE_H
#define ASHLAR_SPEC_STREAM_TABLE_H
/*@
  // order and rank are inverse to each other, so that every stream is listed
  predicate streams_in_range(integer stream_count, int32_t stream_order[256], int32_t stream_rank[256]) =
    0 <= stream_count < ASHLAR_STREAMS &&
    (\forall integer k; 0 <= k < stream_count ==>
      0 <= stream_order[k] < stream_count && stream_rank[stream_order[k]] == k) &&
    (\forall integer s; 0 <= s < stream_count ==>
      0 <= stream_rank[s] < stream_count && stream_order[stream_rank[s]] == s);

  // streams that are gone may have the key of a later one; then the number decides
  predicate stream_less(uint64_t stream_key[256], integer a, integer b) =
    stream_key[a] < stream_key[b] || (stream_key[a] == stream_key[b] && a < b);
  predicate streams_sorted(integer stream_count, uint64_t stream_key[256], int32_t stream_order[256]) =
    \forall integer j; 0 <= j < stream_count ==> \forall integer k; j < k < stream_count ==>
      stream_less(stream_key, stream_order[j], stream_order[k]);

  // all but the one at a place are in order
  predicate sorted_but(integer stream_count, uint64_t stream_key[256], int32_t stream_order[256], integer place) =
    \forall integer j; 0 <= j < stream_count ==> \forall integer k; j < k < stream_count ==> j != place ==>
      k != place ==> stream_less(stream_key, stream_order[j], stream_order[k]);

  // no two streams that take requests have one key
  predicate streams_distinct(integer stream_count, uint64_t stream_key[256], uint8_t stream_gone[256]) =
    \forall integer a; 0 <= a < stream_count ==> \forall integer b; 0 <= b < stream_count ==> a != b ==>
      stream_gone[a] == 0 ==> stream_gone[b] == 0 ==> stream_key[a] != stream_key[b];

  predicate is_stream(struct ashlar_manager m, integer s) = 0 <= s < m.stream_count && m.stream_gone[s] == 0;
*/
// clang-format off
#define STREAM_CLAUSES(K) \
  K streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank); \
  K stream_order: streams_sorted(m->stream_count, m->stream_key, m->stream_order); \
  K REQ_STREAM_registered_once: streams_distinct(m->stream_count, m->stream_key, m->stream_gone);
#define REQUIRES_STREAMS requires streams: STREAMS_STATE;
#define ENSURES_STREAMS ensures streams: STREAMS_STATE;
#define ASSIGNS_STREAMS m->stream_count, m->stream_key[0 .. ASHLAR_STREAMS - 1], \
  m->stream_order[0 .. ASHLAR_STREAMS - 1], m->stream_rank[0 .. ASHLAR_STREAMS - 1], \
  m->stream_gone[0 .. ASHLAR_STREAMS - 1], m->stream_captured[0 .. ASHLAR_STREAMS - 1]
// clang-format on
#endif
