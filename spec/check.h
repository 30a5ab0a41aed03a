/* check.h (ACSL only) - what is known of a state while its clauses are checked in their order (core/check.h).
 *
 * One predicate a group of clauses: those before a number hold. The manager is taken by value: nothing is written while it
 * is checked. Predicates that follow from clauses stand at the clause that settles them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_CHECK_H
#define ASHLAR_SPEC_CHECK_H

#include "spec/flight.h"
/*@
  // --- ranges of numbers, sorted by the first of each ---
  predicate ranges_sorted(integer count, uint64_t first[256]) =
    \forall integer a; 0 <= a < count ==> \forall integer b; a < b < count ==> first[a] <= first[b];
  predicate ranges_filled(integer count, uint64_t first[256], uint64_t last[256]) =
    \forall integer k; 0 <= k < count ==> first[k] <= last[k];
  predicate ranges_apart(integer count, uint64_t first[256], uint64_t last[256]) =
    \forall integer a; 0 <= a < count ==> \forall integer b; a < b < count ==> last[a] < first[b];
  predicate in_ranges(integer count, uint64_t first[256], uint64_t last[256], integer number) =
    \exists integer k; 0 <= k < count && first[k] <= number <= last[k];

  // --- segments ---
  // where the segment ends that a block is of
  logic integer segment_end(int32_t next[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    integer i) =
    next[i] < 0 ? addr[i] + size[i] : segment_end(next, addr, size, next[i]);
  predicate begins_segment(uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], integer i) =
    state[i] != ASHLAR_UNUSED && prev[i] == -1;
  // no segment begins inside another one, of those that begin with slots below a number
  predicate segments_apart(struct ashlar_manager m, integer to) =
    \forall integer g; 0 <= g < to ==> \forall integer f; 0 <= f < m.top ==> f != g ==>
      begins_segment(m.state, m.prev, g) ==> begins_segment(m.state, m.prev, f) ==>
      m.addr[f] < m.addr[g] || segment_end(m.next, m.addr, m.size, g) <= m.addr[f];
  // what a batch has: segments of slots in [from, to), each once, and all of them
  predicate batch_segments(struct ashlar_manager m, integer from, integer to, integer count, uint64_t first[256],
    uint64_t last[256], int32_t name[256]) =
    \forall integer k; 0 <= k < count ==> from <= name[k] < to && begins_segment(m.state, m.prev, name[k]) &&
      first[k] == m.addr[name[k]] && last[k] + 1 == segment_end(m.next, m.addr, m.size, name[k]);
  predicate batch_once(integer count, int32_t name[256]) =
    \forall integer a; 0 <= a < count ==> \forall integer b; a < b < count ==> name[a] != name[b];
  predicate in_batch(integer count, int32_t name[256], integer i) = \exists integer k; 0 <= k < count && name[k] == i;
  predicate batch_all(struct ashlar_manager m, integer from, integer to, integer count, int32_t name[256]) =
    \forall integer i; from <= i < to ==> begins_segment(m.state, m.prev, i) ==> in_batch(count, name, i);

  // bytes of the blocks among the first k slots, and those of them below x
  logic integer block_bytes(uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer k) =
    k <= 0 ? 0 : block_bytes(state, size, k - 1) + (state[k - 1] != ASHLAR_UNUSED ? size[k - 1] : 0);
  logic integer bytes_below(integer addr, integer size, integer x) =
    x <= addr ? 0 : (x - addr <= size ? x - addr : size);
  logic integer covered(uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    integer x, integer k) =
    k <= 0 ? 0 : covered(state, addr, size, x, k - 1) +
      (state[k - 1] != ASHLAR_UNUSED ? bytes_below(addr[k - 1], size[k - 1], x) : 0);
  // unused slots among the first n whose place in `spare` is below k
  logic integer spares_below(uint8_t state[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS], integer k, integer n) =
    n <= 0 ? 0 : spares_below(state, next, k, n - 1) +
      (state[n - 1] == ASHLAR_UNUSED && next[n - 1] < k ? 1 : 0);

  // --- chains of the map ---
  // blocks of the map among the first k slots, of a bucket and of all buckets before it
  logic integer in_bucket(uint8_t in_map[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], integer b, integer k) =
    k <= 0 ? 0 : in_bucket(in_map, addr, b, k - 1) + (in_map[k - 1] == 1 && bucket_number(addr[k - 1]) == b ? 1 : 0);
  logic integer below_bucket(uint8_t in_map[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], integer b, integer k) =
    k <= 0 ? 0 : below_bucket(in_map, addr, b, k - 1) + (in_map[k - 1] == 1 && bucket_number(addr[k - 1]) < b ? 1 : 0);
  // no block of a bucket is left out behind one of the first `to` slots
  predicate chain_complete(struct ashlar_manager m, integer b, integer to) =
    \forall integer i; 0 <= i < to ==> m.in_map[i] == 1 ==> bucket_number(m.addr[i]) == b ==>
      \forall integer j; i < j < m.top ==> m.in_map[j] == 1 ==> bucket_number(m.addr[j]) == b ==>
      0 < m.chain[i] <= j + 1;
  predicate chains_complete(struct ashlar_manager m, integer to) =
    \forall integer i; 0 <= i < m.top ==> m.in_map[i] == 1 ==> bucket_number(m.addr[i]) < to ==>
      \forall integer j; i < j < m.top ==> m.in_map[j] == 1 ==> bucket_number(m.addr[i]) == bucket_number(m.addr[j]) ==>
      0 < m.chain[i] <= j + 1;

  // --- uses ---
  // spare records among the first n whose place in `use_spare` is below k
  logic integer spare_uses_below(int32_t use_block[ASHLAR_USES], int32_t use_next[ASHLAR_USES], integer k, integer n) =
    n <= 0 ? 0 : spare_uses_below(use_block, use_next, k, n - 1) +
      (use_block[n - 1] == -1 && use_next[n - 1] < k ? 1 : 0);
  // the chain goes on from a to b, or to one before b
  predicate goes_on(struct ashlar_manager m, integer a, integer b) =
    0 <= m.use_more[a] && m.use_serial[b] <= m.use_serial[m.use_more[a]];
  predicate chain_whole(struct ashlar_manager m) =
    \forall integer u; 0 <= u < m.use_top ==> \forall integer v; 0 <= v < m.use_top ==> u != v ==>
      0 <= m.use_block[u] ==> m.use_block[v] == m.use_block[u] ==> m.use_serial[v] <= m.use_serial[u] ==>
      goes_on(m, u, v);
  predicate serials_apart(struct ashlar_manager m, integer to) =
    \forall integer u; 0 <= u < to ==> \forall integer v; 0 <= v < m.use_top ==> u != v ==>
      0 <= m.use_block[u] ==> 0 <= m.use_block[v] ==> m.use_serial[u] != m.use_serial[v];
  predicate batch_serials(struct ashlar_manager m, integer from, integer to, integer count, uint64_t first[256],
    uint64_t last[256], int32_t name[256]) =
    \forall integer k; 0 <= k < count ==> from <= name[k] < to && 0 <= m.use_block[name[k]] &&
      first[k] == m.use_serial[name[k]] && last[k] == first[k];
  predicate batch_uses(struct ashlar_manager m, integer from, integer to, integer count, int32_t name[256]) =
    \forall integer u; from <= u < to ==> 0 <= m.use_block[u] ==> in_batch(count, name, u);

  // --- queues ---
  predicate queued(struct ashlar_manager m, integer s, integer u) =
    0 <= m.use_block[u] && 0 < m.use_number[u] && m.use_stream[u] == s;
  // uses among the first k records that are queued on a stream, and those of them with a number below x
  logic integer queued_on(int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], integer s, integer k) =
    k <= 0 ? 0 : queued_on(use_block, use_number, use_stream, s, k - 1) +
      (0 <= use_block[k - 1] && 0 < use_number[k - 1] && use_stream[k - 1] == s ? 1 : 0);
  logic integer queued_below(int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], integer s, integer x, integer k) =
    k <= 0 ? 0 : queued_below(use_block, use_number, use_stream, s, x, k - 1) +
      (0 <= use_block[k - 1] && 0 < use_number[k - 1] && use_stream[k - 1] == s && use_number[k - 1] < x ? 1 : 0);
  // the number of a use; of none one that is behind all
  logic integer number_at(uint64_t use_number[ASHLAR_USES], integer u) = u < 0 ? UINT64_MAX + 1 : use_number[u];
  // the queue leaves nothing out behind a use, and no other one has its number
  predicate queue_clear(struct ashlar_manager m, integer s, integer v) =
    \forall integer w; 0 <= w < m.use_top ==> w != v ==> queued(m, s, w) ==>
      m.use_number[w] != m.use_number[v] &&
      (m.use_number[v] < m.use_number[w] ==> number_at(m.use_number, m.use_next[v]) <= m.use_number[w]);
  // ... behind any use with a number below x
  predicate queue_complete(struct ashlar_manager m, integer s, integer x) =
    \forall integer v; 0 <= v < m.use_top ==> queued(m, s, v) ==> m.use_number[v] < x ==> queue_clear(m, s, v);

  predicate blocks_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_INDEX_BIJECTIVE < clause ==> index_bijective(m.free_count, m.top, m.order, m.place)) &&
    (ASHLAR_CLAUSE_INDEX_SORTED < clause ==> index_sorted(m.free_count, m.order, m.list, m.size, m.age, m.addr)) &&
    (ASHLAR_CLAUSE_STATES_VALID < clause ==> states_valid(m.top, m.state)) &&
    (ASHLAR_CLAUSE_BLOCKS_IN_RANGE < clause ==> blocks_in_range(m.top, m.state, m.size, m.addr, m.home)) &&
    (ASHLAR_CLAUSE_BLOCKS_ALIGNED < clause ==> blocks_aligned(m.top, m.state, m.addr, m.size, m.base)) &&
    (ASHLAR_CLAUSE_BLOCKS_LISTED < clause ==> blocks_listed(m.top, m.state, m.list, m.home)) &&
    (ASHLAR_CLAUSE_LINKS_NEXT < clause ==> links_next(m.top, m.state, m.next, m.prev)) &&
    (ASHLAR_CLAUSE_LINKS_PREV < clause ==> links_prev(m.top, m.state, m.prev, m.next)) &&
    (ASHLAR_CLAUSE_BLOCKS_TILE < clause ==>
      blocks_tile(m.top, m.state, m.next, m.addr, m.size, m.home, m.age, m.base, m.growable)) &&
    (ASHLAR_CLAUSE_BLOCKS_BASED < clause ==> blocks_based(m.top, m.state, m.base, m.addr, m.prev)) &&
    (ASHLAR_CLAUSE_UNMAPPED_GROWABLE < clause ==> unmapped_growable(m.top, m.state, m.growable)) &&
    (ASHLAR_CLAUSE_BLOCKS_DISJOINT < clause ==> blocks_disjoint(m.top, m.state, m.addr, m.size)) &&
    (ASHLAR_CLAUSE_BLOCKS_COALESCED < clause ==> blocks_coalesced(m.top, m.next, m.state)) &&
    (ASHLAR_CLAUSE_INDEX_IS_FREE < clause ==> index_is_free(m.top, m.place, m.free_count, m.state)) &&
    (ASHLAR_CLAUSE_SPARES_UNUSED < clause ==> spares_unused(m.spare_count, m.top, m.spare, m.state, m.next)) &&
    (ASHLAR_CLAUSE_UNUSED_SPARE < clause ==> unused_spare(m.top, m.state, m.next, m.spare_count, m.spare) &&
      spares_counted(m.spare_count, m.state, m.top)) &&
    (ASHLAR_CLAUSE_BYTES_COUNTED < clause ==> bytes_counted(m.bytes, m.state, m.size, m.top) &&
      bytes_bounded(m.bytes));

  predicate map_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_MAP_IN_RANGE < clause ==> map_in_range(m.top, m.bucket, m.chain)) &&
    (ASHLAR_CLAUSE_MAP_HEADS < clause ==> map_heads(m.top, m.in_map, m.bucket, m.addr)) &&
    (ASHLAR_CLAUSE_MAP_CHAINS < clause ==> map_chains(m.top, m.in_map, m.chain, m.addr)) &&
    (ASHLAR_CLAUSE_MAP_FIRST < clause ==> map_first(m.top, m.in_map, m.bucket, m.addr)) &&
    (ASHLAR_CLAUSE_MAP_NEXT < clause ==> map_next(m.top, m.in_map, m.chain, m.addr));

  predicate uses_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_STREAMS_IN_RANGE < clause ==> streams_in_range(m.stream_count, m.stream_order, m.stream_rank)) &&
    (ASHLAR_CLAUSE_STREAMS_SORTED < clause ==> streams_sorted(m.stream_count, m.stream_key, m.stream_order)) &&
    (ASHLAR_CLAUSE_STREAMS_DISTINCT < clause ==> streams_distinct(m.stream_count, m.stream_key, m.stream_gone)) &&
    (ASHLAR_CLAUSE_USES_IN_RANGE < clause ==>
      uses_in_range(m.use_spare_count, m.use_top, m.use_block, m.use_stream, m.use_serial, m.use_serials)) &&
    (ASHLAR_CLAUSE_USES_SPARE < clause ==>
      uses_spare(m.use_spare_count, m.use_spare, m.use_top, m.use_block, m.use_next) &&
      uses_counted(m.use_spare_count, m.use_block, m.use_top)) &&
    (ASHLAR_CLAUSE_CHAIN_MORE < clause ==>
      chain_more(m.use_top, m.use_block, m.use_more, m.use_serial, m.use_less)) &&
    (ASHLAR_CLAUSE_CHAIN_LESS < clause ==>
      chain_less(m.use_top, m.use_block, m.use_less, m.first_use, m.use_serial, m.use_more)) &&
    (ASHLAR_CLAUSE_CHAIN_STARTS < clause ==> chain_starts(m.first_use, m.use_top, m.use_block, m.use_less) &&
      chain_first(m.use_top, m.use_block, m.first_use, m.use_serial) &&
      chain_dense(m.use_top, m.use_block, m.use_serial, m.use_more) && chain_whole(m)) &&
    (ASHLAR_CLAUSE_USES_UNIQUE < clause ==> uses_unique(m.use_top, m.use_block, m.use_stream)) &&
    (ASHLAR_CLAUSE_SERIALS_DISTINCT < clause ==> serials_distinct(m.use_top, m.use_block, m.use_serial));

  predicate queues_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_QUEUE_NEXT < clause ==>
      queue_next(m.use_top, m.use_block, m.use_number, m.use_next, m.use_stream)) &&
    (ASHLAR_CLAUSE_QUEUE_ENDS < clause ==> queue_ends(m.queue_head, m.use_top, m.queue_tail)) &&
    (ASHLAR_CLAUSE_QUEUE_HEADS < clause ==>
      queue_heads(m.use_top, m.queue_head, m.use_block, m.use_stream, m.use_number)) &&
    (ASHLAR_CLAUSE_QUEUE_TAILS < clause ==>
      queue_tails(m.use_top, m.queue_tail, m.use_block, m.use_stream, m.use_number, m.use_next)) &&
    (ASHLAR_CLAUSE_QUEUE_FIRST < clause ==>
      queue_first(m.use_top, m.use_block, m.use_number, m.queue_head, m.use_stream)) &&
    (ASHLAR_CLAUSE_QUEUE_LAST < clause ==>
      queue_last(m.use_top, m.use_block, m.use_number, m.queue_tail, m.use_stream)) &&
    (ASHLAR_CLAUSE_QUEUE_DENSE < clause ==>
      queue_dense(m.use_top, m.use_block, m.use_number, m.use_stream, m.use_next) &&
      numbers_distinct(m.use_top, m.use_block, m.use_number, m.use_stream)) &&
    (ASHLAR_CLAUSE_CLOCKS_VALID < clause ==>
      clocks_valid(m.completed, m.submitted, m.use_top, m.use_block, m.use_number, m.use_stream)) &&
    (ASHLAR_CLAUSE_CLOCKS_BOUNDED < clause ==> clocks_bounded(m.submitted, m.use_submissions)) &&
    (ASHLAR_CLAUSE_USES_CLOCKED < clause ==>
      uses_clocked(m.use_block, m.use_number, m.use_top, m.use_submissions, m.use_serials));

  predicate pools_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_POOLS_IN_RANGE < clause ==> pools_in_range(m.pool_top, m.pool_state, m.pool_segments)) &&
    (ASHLAR_CLAUSE_POOLS_COUNTED < clause ==> pools_counted(m.pool_state, m.pool_uses)) &&
    (ASHLAR_CLAUSE_POOLS_ENDED < clause ==>
      pools_ended(m.pool_state, m.pool_segments, m.pool_use_on_oom, m.scope_serial)) &&
    (ASHLAR_CLAUSE_POOLS_WHOLE < clause ==> pools_whole(m.pool_state, m.pool_no_split)) &&
    (ASHLAR_CLAUSE_POOLS_CREATED < clause ==> pools_created(m.pool_state, m.pool_serial, m.pool_serials)) &&
    (ASHLAR_CLAUSE_POOLS_DISTINCT < clause ==> pools_distinct(m.pool_state, m.pool_serial)) &&
    (ASHLAR_CLAUSE_SCOPES_OPENED < clause ==> scopes_opened(m.scope_serial, m.scope_serials)) &&
    (ASHLAR_CLAUSE_SCOPES_DISTINCT < clause ==> scopes_distinct(m.scope_serial));
*/
/*@
  predicate state_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_MAP_ALLOCATED < clause ==> map_allocated(m.top, m.in_map, m.state)) &&
    (ASHLAR_CLAUSE_NONE_TAKEN < clause ==> none_taken(m.top, m.state)) &&
    (ASHLAR_CLAUSE_USES_HAD < clause ==> uses_had(m.top, m.use_top, m.use_block, m.state)) &&
    (ASHLAR_CLAUSE_SUBMITTED_PENDING < clause ==>
      submitted_pending(m.use_top, m.use_block, m.use_number, m.state)) &&
    (ASHLAR_CLAUSE_PENDING_USED < clause ==> pending_used(m.top, m.state, m.first_use, -1)) &&
    (ASHLAR_CLAUSE_DEFERRAL_FIRST < clause ==>
      deferral_first(m.use_top, m.use_block, m.use_more, m.use_stream, m.state)) &&
    (ASHLAR_CLAUSE_DEFERRED_WAITS < clause ==>
      deferred_waits(m.use_top, m.use_block, m.use_number, m.use_stream)) &&
    (ASHLAR_CLAUSE_BLOCKS_REFERENCED < clause ==> blocks_referenced(m.top, m.state, m.references)) &&
    (ASHLAR_CLAUSE_HOMES_LISTED < clause ==> homes_listed(m.top, m.state, m.home, m.stream_count)) &&
    (ASHLAR_CLAUSE_HOMES_POOLED < clause ==> homes_pooled(m.top, m.state, m.home, m.pool_state)) &&
    (ASHLAR_CLAUSE_AGES_VALID < clause ==> ages_valid(m.top, m.state, m.home, m.entered, m.pool_searches)) &&
    (ASHLAR_CLAUSE_AGES_CREATED < clause ==>
      ages_created(m.top, m.state, m.age, m.config.order, m.segments_created)) &&
    (ASHLAR_CLAUSE_STREAM_SEGMENTS < clause ==>
      stream_segments(m.stream_segments, m.state, m.prev, m.home, m.top)) &&
    (ASHLAR_CLAUSE_POOL_SEGMENTS < clause ==> pool_segments(m.pool_segments, m.state, m.prev, m.home, m.top)) &&
    (ASHLAR_CLAUSE_SEGMENTS_COUNTED < clause ==>
      segments_counted(m.segments_created, m.stream_segments, m.pool_segments));

  // each request that waits for an outcome can go on: the words of spec/ladder.h
  predicate request_ready(struct ashlar_manager m, integer r) =
    request_wants(m.request[r].rung, m.request[r].home, m.request[r].bytes, m.request[r].size, m.request[r].waited,
      m.request[r].growable, m.config.device_total, m.pool_state, m.stream_count) &&
    request_asked(m.request[r].rung, m.request[r].step, m.request[r].growth, m.request[r].slot, m.request[r].size,
      m.request[r].asked, m.request[r].waited, m.request[r].number, m.top, m.state, m.holder, m.hold, m.addr, m.base,
      m.next, m.growable, m.submitted, r) &&
    request_holds(m.request[r].rung, m.request[r].growth, m.request[r].growable, m.request[r].run,
      m.request[r].run_end, m.request[r].slot, m.request[r].size, m.top, m.state, m.holder, m.hold, m.addr, m.size,
      m.base, m.next, m.growable, r,
      m.request[r].step == ASHLAR_STEP_RELEASE || m.request[r].step == ASHLAR_STEP_UNMAP ? 1 : 0);
  predicate requests_ready(struct ashlar_manager m) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> m.request[r].rung != ASHLAR_RUNG_IDLE ==> request_ready(m, r);
  // what that adds to the clauses before it, but for the length of a run: a step of its rung
  predicate on_rung(struct ashlar_request q) =
    (q.growth == ASHLAR_GROWTH_NONE ==> (q.step == ASHLAR_STEP_ALLOCATE ==> asks(q.rung)) &&
      (q.step == ASHLAR_STEP_UNMAP ==> releases(q.rung)) &&
      (q.step == ASHLAR_STEP_CALLBACKS ==> q.rung == ASHLAR_RUNG_CALLBACKS)) &&
    (q.growth == ASHLAR_GROWTH_RESERVING ==> (q.step == ASHLAR_STEP_RESERVE || q.step == ASHLAR_STEP_UNRESERVE) &&
      asks(q.rung) && q.growable != 0) &&
    (q.growth == ASHLAR_GROWTH_MAPPING ==> q.step == ASHLAR_STEP_MAP && asks(q.rung) && q.growable != 0) &&
    (q.growth == ASHLAR_GROWTH_UNDOING ==> q.step == ASHLAR_STEP_UNMAP && asks(q.rung) && q.growable != 0) &&
    (q.growth == ASHLAR_GROWTH_RETURNING ==> q.step == ASHLAR_STEP_UNRESERVE && releases(q.rung));

  predicate requests_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_VALID_CONFIG < clause ==> valid_config(m.config)) &&
    (ASHLAR_CLAUSE_GROWABLE_ALLOWED < clause ==> growable_allowed(m.growable_on, m.config)) &&
    (ASHLAR_CLAUSE_FLIGHT_COUNTED < clause ==> flight_counted(m.in_flight, m.request)) &&
    (ASHLAR_CLAUSE_FLIGHT_ROOM < clause ==> flight_room(m.spare_count, m.top, m.request)) &&
    (ASHLAR_CLAUSE_REQUESTS_VALID < clause ==> requests_valid(m.request)) &&
    (ASHLAR_CLAUSE_REQUESTS_HOMED < clause ==>
      requests_homed(m.request, m.stream_count, m.stream_gone, m.pool_state)) &&
    (ASHLAR_CLAUSE_BLOCKS_HELD < clause ==>
      blocks_held(m.top, m.state, m.holder, m.hold, m.growable, m.prev, m.next, m.request)) &&
    (ASHLAR_CLAUSE_REQUESTS_HOLD < clause ==> requests_hold(m.request, m.top, m.state, m.holder, m.hold)) &&
    (ASHLAR_CLAUSE_LEAVING_ASKED < clause ==> leaving_asked(m.top, m.state, m.hold, m.holder, m.request)) &&
    (ASHLAR_CLAUSE_RUNS_BEGIN < clause ==> runs_begin(m.top, m.state, m.hold, m.holder, m.prev, m.request)) &&
    (ASHLAR_CLAUSE_RUNS_END < clause ==>
      runs_end(m.top, m.state, m.hold, m.holder, m.next, m.addr, m.size, m.request)) &&
    (ASHLAR_CLAUSE_REQUESTS_ASKED < clause ==> requests_asked(m.request, m.hold, m.growable, m.prev, m.next)) &&
    (ASHLAR_CLAUSE_REQUESTS_WAIT < clause ==> requests_wait(m.request, m.stream_count, m.submitted)) &&
    (ASHLAR_CLAUSE_REQUESTS_READY < clause ==> requests_ready(m));
  // the step that waits for its outcome is about what request r holds
  predicate request_asked(struct ashlar_manager m, integer r) =
    asked_nothing_held(m.request[r]) ||
    (0 <= m.request[r].slot && (asked_run(m.request[r], m.hold[m.request[r].slot]) ||
      asked_leaving(m.request[r], m.hold[m.request[r].slot], m.growable[m.request[r].slot],
        m.prev[m.request[r].slot], m.next[m.request[r].slot])));

  // --- statistics ---
  // what a block adds to a kind of counter, and what the first k slots add to a column of it
  logic integer share(struct ashlar_manager m, integer kind, integer i) =
    kind == ASHLAR_STAT_ALLOCATION ? (m.state[i] == ASHLAR_ALLOCATED ? 1 : 0) :
    kind == ASHLAR_STAT_SEGMENT ?
      (m.growable[i] == 0 && m.prev[i] == -1 && is_reserved(m.state[i], m.hold[i]) == 1 ? 1 : 0) :
    kind == ASHLAR_STAT_ACTIVE ? (m.state[i] == ASHLAR_ALLOCATED || m.state[i] == ASHLAR_PENDING ? 1 : 0) :
    kind == ASHLAR_STAT_INACTIVE_SPLIT ? is_inactive_split(m.state[i], m.growable[i], m.prev[i], m.next[i]) :
    kind == ASHLAR_STAT_ALLOCATED_BYTES ? (m.state[i] == ASHLAR_ALLOCATED ? m.size[i] : 0) :
    kind == ASHLAR_STAT_RESERVED_BYTES ? (is_reserved(m.state[i], m.hold[i]) == 1 ? m.size[i] : 0) :
    kind == ASHLAR_STAT_ACTIVE_BYTES ?
      (m.state[i] == ASHLAR_ALLOCATED || m.state[i] == ASHLAR_PENDING ? m.size[i] : 0) :
    kind == ASHLAR_STAT_INACTIVE_SPLIT_BYTES ?
      (is_inactive_split(m.state[i], m.growable[i], m.prev[i], m.next[i]) == 1 ? m.size[i] : 0) :
      (m.state[i] == ASHLAR_ALLOCATED || m.state[i] == ASHLAR_PENDING ? m.requested[i] : 0);
  logic integer shares(struct ashlar_manager m, integer kind, integer column, integer k) =
    k <= 0 ? 0 : shares(m, kind, column, k - 1) +
      (in_column(m.home[k - 1], column) == 1 ? share(m, kind, k - 1) : 0);
  predicate column_counted(struct ashlar_manager m, integer column) =
    \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==>
      counts(m.stat, kind, column, shares(m, kind, column, m.top));
  // the same in the words of spec/block_manager.h
  predicate column_specified(struct ashlar_manager m, integer c) =
    counts(m.stat, ASHLAR_STAT_ALLOCATION, c, number_in(m.state, m.home, ASHLAR_ALLOCATED, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_ALLOCATED_BYTES, c, sizes_in(m.state, m.home, m.size, ASHLAR_ALLOCATED, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_ACTIVE, c, number_in(m.state, m.home, ASHLAR_ALLOCATED, c, m.top) +
      number_in(m.state, m.home, ASHLAR_PENDING, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_ACTIVE_BYTES, c, sizes_in(m.state, m.home, m.size, ASHLAR_ALLOCATED, c, m.top) +
      sizes_in(m.state, m.home, m.size, ASHLAR_PENDING, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_REQUESTED_BYTES, c, sizes_in(m.state, m.home, m.requested, ASHLAR_ALLOCATED, c, m.top) +
      sizes_in(m.state, m.home, m.requested, ASHLAR_PENDING, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_SEGMENT, c, segments_in(m.state, m.hold, m.growable, m.prev, m.home, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_RESERVED_BYTES, c, reserved_in(m.state, m.hold, m.home, m.size, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_INACTIVE_SPLIT, c,
      inactive_in(m.state, m.growable, m.prev, m.next, m.home, c, m.top)) &&
    counts(m.stat, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, c,
      inactive_bytes_in(m.state, m.growable, m.prev, m.next, m.home, m.size, c, m.top));
  // blocks among the first k slots at addresses below x
  logic integer blocks_below(uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], integer x, integer k) =
    k <= 0 ? 0 : blocks_below(state, addr, x, k - 1) + (state[k - 1] != ASHLAR_UNUSED && addr[k - 1] < x ? 1 : 0);

  predicate stats_checked(struct ashlar_manager m, integer clause) =
    (ASHLAR_CLAUSE_BLOCKS_COUNTED < clause ==>
      owned_counted(m.stat, m.state, m.home, m.size, m.requested, m.top) &&
      segments_and_rests_counted(m.stat, m.state, m.hold, m.growable, m.prev, m.next, m.home, m.size, m.top)) &&
    (ASHLAR_CLAUSE_RESERVED_COUNTED < clause ==>
      reserved_counted(m.pool_reserved, m.state, m.hold, m.home, m.size, m.top)) &&
    (ASHLAR_CLAUSE_OVERSIZE_COUNTED < clause ==>
      oversize_counted(m.oversize_allocations, m.oversize_segments, m.state, m.hold, m.growable, m.prev, m.next,
        m.size, m.config.max_split_size, m.top)) &&
    (ASHLAR_CLAUSE_TOTALS_VALID < clause ==>
      totals_valid(m.stat, m.pool_reserved, m.oversize_allocations, m.oversize_segments)) &&
    (ASHLAR_CLAUSE_COLUMNS_SUMMED < clause ==> columns_summed(m.stat));

  // all clauses before a number hold
  predicate checked(struct ashlar_manager m, integer clause) =
    blocks_checked(m, clause) && map_checked(m, clause) && uses_checked(m, clause) && queues_checked(m, clause) &&
    pools_checked(m, clause) && state_checked(m, clause) && requests_checked(m, clause) && stats_checked(m, clause);
*/
// clang-format off
/* The result of the check of a clause, and what it says of one predicate. */
#define READS terminates \true; exits \false; assigns \nothing;
#define CHECKS(LAST, PREDICATE) READS \
  ensures index: -1 <= \result <= (LAST); \
  ensures REQ_VALID_clause: \result == -1 <==> (PREDICATE);
#define BLOCKS_BEFORE(CLAUSE) requires blocks: blocks_checked(*m, CLAUSE);
#define MAP_BEFORE(CLAUSE) BLOCKS_BEFORE(CLAUSE) requires map: map_checked(*m, CLAUSE);
#define USES_BEFORE(CLAUSE) requires uses: uses_checked(*m, CLAUSE);
#define QUEUES_BEFORE(CLAUSE) USES_BEFORE(CLAUSE) requires queues: queues_checked(*m, CLAUSE);
#define POOLS_BEFORE(CLAUSE) requires pools: pools_checked(*m, CLAUSE);
#define STATE_BEFORE(CLAUSE) MAP_BEFORE(CLAUSE) QUEUES_BEFORE(CLAUSE) POOLS_BEFORE(CLAUSE) \
  requires state: state_checked(*m, CLAUSE);
#define REQUESTS_BEFORE(CLAUSE) STATE_BEFORE(CLAUSE) requires requests: requests_checked(*m, CLAUSE);
#define STATS_BEFORE(CLAUSE) REQUESTS_BEFORE(CLAUSE) requires stats: stats_checked(*m, CLAUSE);
// clang-format on
#endif
