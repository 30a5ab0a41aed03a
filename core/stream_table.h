/* stream_table.h - streams as small numbers and 64-bit ordering keys.
 *
 * The key decides the order in which a pool's free lists are walked when cache is released (the stream handle's value,
 * for PyTorch's order). A stream that is gone stays in the table, since blocks may belong to it, until its number is given to
 * another one. Requirements: REQ-STREAM, REQ-LADDER.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_STREAM_TABLE_H
#define ASHLAR_CORE_STREAM_TABLE_H

#include "core/manager.h"
#include "spec/groups.h"

/* For the prover only: the state opened into its clauses, and closed again. Comments to the compiler. */
/*@ ghost
  /@ requires \valid(m);
     requires streams: STREAMS_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     STREAM_CLAUSES(ensures)
  @/
  void ashlar_streams_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     STREAM_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures streams: STREAMS_STATE;
  @/
  void ashlar_streams_close(const struct ashlar_manager *m);
*/

/* 1 where the number is of a stream that takes requests. O(1). */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_gone_refused: \result != 0 <==> is_stream(*m, stream);
*/
int ashlar_stream_live(const struct ashlar_manager *m, int32_t stream);

/* Number of the stream with this key that takes requests, -1: none. O(log streams), and linear in those that are gone and
   had the key. */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_registered_found: \result != -1 ==> is_stream(*m, \result) && m->stream_key[\result] == key;
    ensures REQ_STREAM_registered_none: \result == -1 ==> \forall integer s; is_stream(*m, s) ==>
      m->stream_key[s] != key;
*/
int32_t ashlar_stream_lookup(const struct ashlar_manager *m, uint64_t key);

/* A new stream under a number: the next one, or that of a stream that is gone. O(streams). */
/*@ requires \valid(m); REQUIRES_STREAMS
    requires number: 0 <= stream <= m->stream_count && stream < ASHLAR_STREAM_DEFERRED;
    requires gone: stream < m->stream_count ==> m->stream_gone[stream] != 0;
    requires new: \forall integer s; is_stream(*m, s) ==> m->stream_key[s] != key;
    terminates \true; exits \false;
    assigns ASSIGNS_STREAMS;
    ENSURES_STREAMS
    ensures REQ_STREAM_registered_added: is_stream(*m, stream) && m->stream_key[stream] == key &&
      m->stream_captured[stream] == 0;
    ensures count: m->stream_count == (\old(m->stream_count) == stream ? stream + 1 : \old(m->stream_count));
    ensures others: \forall integer s; 0 <= s < \old(m->stream_count) ==> s != stream ==>
      m->stream_key[s] == \old(*m).stream_key[s] && m->stream_gone[s] == \old(*m).stream_gone[s] &&
      m->stream_captured[s] == \old(*m).stream_captured[s];
*/
void ashlar_stream_put(struct ashlar_manager *m, int32_t stream, uint64_t key);

/* Place of a stream in key order. O(1). */
/*@ requires \valid(m); REQUIRES_STREAMS
    requires stream: 0 <= stream < m->stream_count;
    terminates \true; exits \false;
    assigns \nothing;
    ensures 0 <= \result < m->stream_count && m->stream_order[\result] == stream;
*/
int32_t ashlar_stream_rank(const struct ashlar_manager *m, int32_t stream);

#endif
