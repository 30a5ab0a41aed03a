/* whole.h (ACSL only) - the state of a manager as one predicate, for the functions that only call others.
 *
 * Written by spec/make_groups.py. A predicate takes the arrays and not the manager: then a write to any other field leaves
 * it as it is by syntax.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_WHOLE_H
#define ASHLAR_SPEC_WHOLE_H

#include "spec/groups.h"
#include "spec/pending.h"
#include "spec/reclaim.h"

// clang-format off
#define WHOLE_CLAUSES(K) PENDING_INVARIANT(K, -1) K pools: POOLS_STATE; K streams: STREAMS_STATE; \
  K counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments); \
  K homes: homes_listed(m->top, m->state, m->home, m->stream_count); \
  K ages: ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches); \
  K taken: none_taken(m->top, m->state);
#define REQUIRES_WHOLE requires whole: WHOLE_STATE; requires settings: page_allowed(m->config.large_segment_size);
#define ENSURES_WHOLE ensures whole: WHOLE_STATE;
// clang-format on

/*@
  predicate whole(integer free_count, integer top, int32_t order[ASHLAR_SLOTS], int32_t place[ASHLAR_SLOTS],
    int32_t list[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], uint64_t age[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS],
    uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS], integer spare_count, int32_t spare[ASHLAR_SLOTS],
    uint64_t bytes[7], int32_t bucket[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS], uint8_t in_map[ASHLAR_SLOTS],
    integer use_spare_count, integer use_top, int32_t use_block[ASHLAR_USES], int32_t use_stream[ASHLAR_USES],
    uint64_t use_serial[ASHLAR_USES], integer use_serials, int32_t use_spare[ASHLAR_USES],
    int32_t use_next[ASHLAR_USES], int32_t use_more[ASHLAR_USES], int32_t use_less[ASHLAR_USES],
    int32_t first_use[ASHLAR_SLOTS], uint64_t use_number[ASHLAR_USES], int32_t queue_head[256],
    int32_t queue_tail[256], uint64_t completed[256], uint64_t submitted[256], integer use_submissions,
    integer pool_top, uint8_t pool_state[65], uint64_t pool_segments[65], uint32_t pool_uses[65],
    uint8_t pool_use_on_oom[65], uint64_t scope_serial[65], uint8_t pool_no_split[65], uint64_t pool_serial[65],
    integer pool_serials, integer scope_serials, integer stream_count, int32_t stream_order[256],
    int32_t stream_rank[256], uint64_t stream_key[256], uint8_t stream_gone[256], integer segments_created,
    uint64_t stream_segments[256], uint64_t entered[ASHLAR_SLOTS], uint64_t pool_searches[130]) =
    blocks_state(free_count, top, order, place, list, size, age, addr, state, home, base, next, prev, growable,
      spare_count, spare, bytes) &&
    map_state(top, bucket, chain, in_map, addr) &&
    map_allocated(top, in_map, state) &&
    uses_state(use_spare_count, use_top, use_block, use_stream, use_serial, use_serials, use_spare, use_next,
      use_more, use_less, first_use, use_number, queue_head, queue_tail, completed, submitted, use_submissions) &&
    uses_had(top, use_top, use_block, state) &&
    deferral_first(use_top, use_block, use_more, use_stream, state) &&
    deferred_waits(use_top, use_block, use_number, use_stream) &&
    submitted_pending(use_top, use_block, use_number, state) &&
    pending_used(top, state, first_use, -1) &&
    pools_state(pool_top, pool_state, pool_segments, pool_uses, pool_use_on_oom, scope_serial, pool_no_split,
      pool_serial, pool_serials, scope_serials) &&
    streams_state(stream_count, stream_order, stream_rank, stream_key, stream_gone) &&
    segments_counted(segments_created, stream_segments, pool_segments) &&
    homes_listed(top, state, home, stream_count) &&
    ages_valid(top, state, home, entered, pool_searches) &&
    none_taken(top, state);
*/
// clang-format off
#define WHOLE_STATE whole(m->free_count, m->top, m->order, m->place, m->list, m->size, m->age, m->addr, m->state, \
    m->home, m->base, m->next, m->prev, m->growable, m->spare_count, m->spare, m->bytes, m->bucket, m->chain, \
    m->in_map, m->use_spare_count, m->use_top, m->use_block, m->use_stream, m->use_serial, m->use_serials, \
    m->use_spare, m->use_next, m->use_more, m->use_less, m->first_use, m->use_number, m->queue_head, m->queue_tail, \
    m->completed, m->submitted, m->use_submissions, m->pool_top, m->pool_state, m->pool_segments, m->pool_uses, \
    m->pool_use_on_oom, m->scope_serial, m->pool_no_split, m->pool_serial, m->pool_serials, m->scope_serials, \
    m->stream_count, m->stream_order, m->stream_rank, m->stream_key, m->stream_gone, m->segments_created, \
    m->stream_segments, m->entered, m->pool_searches)
// clang-format on

#endif
