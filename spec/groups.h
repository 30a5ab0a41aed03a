/* groups.h (ACSL only) - the invariant of each module as one predicate: the conjunction of its clauses.
 *
 * Written by spec/make_groups.py. A predicate takes the arrays and not the manager: then a write to any other field leaves
 * it as it is by syntax.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_GROUPS_H
#define ASHLAR_SPEC_GROUPS_H

#include "spec/address_map.h"
#include "spec/block_table.h"
#include "spec/free_index.h"
#include "spec/pool.h"
#include "spec/stream_table.h"
#include "spec/stream_use.h"

/*@
  predicate blocks_state(integer free_count, integer top, int32_t order[ASHLAR_SLOTS], int32_t place[ASHLAR_SLOTS],
    int32_t list[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], uint64_t age[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS],
    uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS], integer spare_count, int32_t spare[ASHLAR_SLOTS],
    uint64_t bytes[7]) =
    index_bijective(free_count, top, order, place) &&
    index_sorted(free_count, order, list, size, age, addr) &&
    states_valid(top, state) &&
    blocks_in_range(top, state, size, addr, home) &&
    blocks_aligned(top, state, addr, size, base) &&
    blocks_listed(top, state, list, home) &&
    blocks_disjoint(top, state, addr, size) &&
    links_next(top, state, next, prev) &&
    links_prev(top, state, prev, next) &&
    blocks_tile(top, state, next, addr, size, home, age, base, growable) &&
    blocks_based(top, state, base, addr, prev) &&
    unmapped_growable(top, state, growable) &&
    blocks_coalesced(top, next, state) &&
    index_is_free(top, place, free_count, state) &&
    spares_unused(spare_count, top, spare, state, next) &&
    unused_spare(top, state, next, spare_count, spare) &&
    bytes_counted(bytes, state, size, top) &&
    bytes_bounded(bytes) &&
    spares_counted(spare_count, state, top);
*/
// clang-format off
#define BLOCKS_STATE blocks_state(m->free_count, m->top, m->order, m->place, m->list, m->size, m->age, m->addr, \
    m->state, m->home, m->base, m->next, m->prev, m->growable, m->spare_count, m->spare, m->bytes)
// clang-format on

/*@
  predicate map_state(integer top, int32_t bucket[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS],
    uint8_t in_map[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS]) =
    map_in_range(top, bucket, chain) &&
    map_heads(top, in_map, bucket, addr) &&
    map_chains(top, in_map, chain, addr) &&
    map_first(top, in_map, bucket, addr) &&
    map_next(top, in_map, chain, addr);
*/
// clang-format off
#define MAP_STATE map_state(m->top, m->bucket, m->chain, m->in_map, m->addr)
// clang-format on

/*@
  predicate uses_state(integer use_spare_count, integer use_top, int32_t use_block[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], uint64_t use_serial[ASHLAR_USES], integer use_serials,
    int32_t use_spare[ASHLAR_USES], int32_t use_next[ASHLAR_USES], int32_t use_more[ASHLAR_USES],
    int32_t use_less[ASHLAR_USES], int32_t first_use[ASHLAR_SLOTS], uint64_t use_number[ASHLAR_USES],
    int32_t queue_head[256], int32_t queue_tail[256], uint64_t completed[256], uint64_t submitted[256],
    integer use_submissions) =
    uses_in_range(use_spare_count, use_top, use_block, use_stream, use_serial, use_serials) &&
    uses_spare(use_spare_count, use_spare, use_top, use_block, use_next) &&
    uses_counted(use_spare_count, use_block, use_top) &&
    uses_unique(use_top, use_block, use_stream) &&
    serials_distinct(use_top, use_block, use_serial) &&
    chain_more(use_top, use_block, use_more, use_serial, use_less) &&
    chain_less(use_top, use_block, use_less, first_use, use_serial, use_more) &&
    chain_starts(first_use, use_top, use_block, use_less) &&
    chain_first(use_top, use_block, first_use, use_serial) &&
    chain_dense(use_top, use_block, use_serial, use_more) &&
    queue_next(use_top, use_block, use_number, use_next, use_stream) &&
    queue_ends(queue_head, use_top, queue_tail) &&
    queue_heads(use_top, queue_head, use_block, use_stream, use_number) &&
    queue_tails(use_top, queue_tail, use_block, use_stream, use_number, use_next) &&
    queue_first(use_top, use_block, use_number, queue_head, use_stream) &&
    queue_last(use_top, use_block, use_number, queue_tail, use_stream) &&
    queue_dense(use_top, use_block, use_number, use_stream, use_next) &&
    numbers_distinct(use_top, use_block, use_number, use_stream) &&
    clocks_valid(completed, submitted, use_top, use_block, use_number, use_stream) &&
    clocks_bounded(submitted, use_submissions) &&
    uses_clocked(use_block, use_number, use_top, use_submissions, use_serials);
*/
// clang-format off
#define USES_STATE uses_state(m->use_spare_count, m->use_top, m->use_block, m->use_stream, m->use_serial, \
    m->use_serials, m->use_spare, m->use_next, m->use_more, m->use_less, m->first_use, m->use_number, m->queue_head, \
    m->queue_tail, m->completed, m->submitted, m->use_submissions)
// clang-format on

/*@
  predicate pools_state(integer pool_top, uint8_t pool_state[65], uint64_t pool_segments[65], uint32_t pool_uses[65],
    uint8_t pool_use_on_oom[65], uint64_t scope_serial[65], uint8_t pool_no_split[65], uint64_t pool_serial[65],
    integer pool_serials, integer scope_serials) =
    pools_in_range(pool_top, pool_state, pool_segments) &&
    pools_counted(pool_state, pool_uses) &&
    pools_ended(pool_state, pool_segments, pool_use_on_oom, scope_serial) &&
    pools_whole(pool_state, pool_no_split) &&
    pools_created(pool_state, pool_serial, pool_serials) &&
    pools_distinct(pool_state, pool_serial) &&
    scopes_opened(scope_serial, scope_serials) &&
    scopes_distinct(scope_serial);
*/
// clang-format off
#define POOLS_STATE pools_state(m->pool_top, m->pool_state, m->pool_segments, m->pool_uses, m->pool_use_on_oom, \
    m->scope_serial, m->pool_no_split, m->pool_serial, m->pool_serials, m->scope_serials)
// clang-format on

/*@
  predicate streams_state(integer stream_count, int32_t stream_order[256], int32_t stream_rank[256],
    uint64_t stream_key[256], uint8_t stream_gone[256]) =
    streams_in_range(stream_count, stream_order, stream_rank) &&
    streams_sorted(stream_count, stream_key, stream_order) &&
    streams_distinct(stream_count, stream_key, stream_gone);
*/
// clang-format off
#define STREAMS_STATE streams_state(m->stream_count, m->stream_order, m->stream_rank, m->stream_key, m->stream_gone)
// clang-format on

#endif
