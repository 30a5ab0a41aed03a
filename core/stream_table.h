/* stream_table.h - streams as small numbers and 64-bit ordering keys.
 *
 * The key decides the order in which a pool's free lists are walked when cache is released (the stream handle's value,
 * for PyTorch's order). Requirements: REQ-STREAM, REQ-LADDER.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_STREAM_TABLE_H
#define ASHLAR_CORE_STREAM_TABLE_H

#include "core/manager.h"
#include "spec/stream_table.h"

/* Place in ascending key order where the key stands or would stand. O(log streams). */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 <= \result <= m->stream_count;
    ensures low: \forall integer k; 0 <= k < \result ==> m->stream_key[m->stream_order[k]] < key;
    ensures high: \forall integer k; \result <= k < m->stream_count ==> key <= m->stream_key[m->stream_order[k]];
*/
int32_t ashlar_stream_place(const struct ashlar_manager *m, uint64_t key);

/* Adds a stream; its number is the count before. O(streams). */
/*@ requires \valid(m); REQUIRES_STREAMS
    requires room: m->stream_count < ASHLAR_STREAMS;
    requires new: \forall integer k; 0 <= k < m->stream_count ==> m->stream_key[m->stream_order[k]] != key;
    terminates \true; exits \false;
    assigns m->stream_count, m->stream_key[m->stream_count], m->stream_order[0 .. ASHLAR_STREAMS - 1];
    ENSURES_STREAMS
    ensures added: m->stream_count == \old(m->stream_count) + 1 && m->stream_key[\old(m->stream_count)] == key;
*/
void ashlar_stream_add(struct ashlar_manager *m, uint64_t key);

#endif
