/* block_manager.h (ACSL only) - the whole invariant of a manager: that of each part, and what holds between them.
 *
 * Between two calls no block is taken, what is held is held by a request in flight, and every statistic is what the block
 * list says. Each predicate has a clause of its own in core/check.h, which runs it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_BLOCK_MANAGER_H
#define ASHLAR_SPEC_BLOCK_MANAGER_H

#include "spec/whole.h"
/*@
  // --- settings ---
  predicate valid_config(struct ashlar_config c) =
    c.order <= ASHLAR_ORDER_SEGMENT && c.policy <= ASHLAR_POLICY_FAITHFUL && c.growable <= 1 && c.callbacks <= 1 &&
    10485760 < c.large_segment_size <= 1152921504606846975 && c.large_segment_size % 2097152 == 0 &&
    c.large_segment_size <= c.max_split_size && c.large_segment_size <= c.oversize_slack &&
    c.device_total <= 1152921504606846975 && c.reject_above <= 1152921504606846975 &&
    (c.growable == 1 ==> 0 < c.device_total) &&
    (\forall integer k; 0 <= k < ASHLAR_DIVISIONS ==> valid_division(c.divisions[k]));

  predicate growable_allowed(integer growable_on, struct ashlar_config c) =
    0 <= growable_on <= 1 && (growable_on == 1 ==> 0 < c.device_total);

  // --- blocks between calls ---
  // REQ-LIFETIME: an owner has at least one reference
  predicate blocks_referenced(integer top, uint8_t state[ASHLAR_SLOTS], uint32_t references[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_ALLOCATED ==> 0 < references[i];

  // REQ-POOL: blocks belong to the default pool or to one that has not ended
  predicate homes_pooled(integer top, uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint8_t pool_state[65]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==> ASHLAR_STREAMS * ASHLAR_CLASSES <= home[i] ==>
      pool_state[home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED;

  // in segment order the age is the number of the segment's creation; else it is no part of the key
  predicate ages_created(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t age[ASHLAR_SLOTS], integer order,
    integer segments_created) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      (order == ASHLAR_ORDER_SEGMENT ? age[i] < segments_created : age[i] == 0);

  // --- segments of a stream, and of a pool: the blocks that are first in theirs, among the first k slots ---
  logic integer stream_heads(uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    integer s, integer k) =
    k <= 0 ? 0 : stream_heads(state, prev, home, s, k - 1) +
      (state[k - 1] != ASHLAR_UNUSED && prev[k - 1] == -1 && home[k - 1] % ASHLAR_STREAMS == s ? 1 : 0);
  predicate stream_segments(uint64_t stream_segments[256], uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS],
    int32_t home[ASHLAR_SLOTS], integer top) =
    \forall integer s; 0 <= s < ASHLAR_STREAMS ==> stream_segments[s] == stream_heads(state, prev, home, s, top);
  logic integer pool_heads(uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    integer p, integer k) =
    k <= 0 ? 0 : pool_heads(state, prev, home, p, k - 1) +
      (state[k - 1] != ASHLAR_UNUSED && prev[k - 1] == -1 && home[k - 1] / ASHLAR_STREAMS / ASHLAR_CLASSES == p ? 1 : 0);
  predicate pool_segments(uint64_t pool_segments[65], uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS],
    int32_t home[ASHLAR_SLOTS], integer top) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> pool_segments[p] == pool_heads(state, prev, home, p, top);

  // --- requests in flight ---
  logic integer flying(struct ashlar_request request[8], integer k) =
    k <= 0 ? 0 : flying(request, k - 1) + (request[k - 1].rung != ASHLAR_RUNG_IDLE ? 1 : 0);
  predicate flight_counted(integer in_flight, struct ashlar_request request[8]) =
    in_flight == flying(request, ASHLAR_REQUESTS);

  // REQ-CAPACITY: slots are set aside for each request for memory; one that empties the cache needs none
  logic integer slots_needed(struct ashlar_request request[8], integer k) =
    k <= 0 ? 0 : slots_needed(request, k - 1) +
      (request[k - 1].rung != ASHLAR_RUNG_IDLE && 0 < request[k - 1].bytes ? ASHLAR_REQUEST_SLOTS : 0);
  predicate flight_room(integer spare_count, integer top, struct ashlar_request request[8]) =
    slots_needed(request, ASHLAR_REQUESTS) <= spare_count + (ASHLAR_SLOTS - top);

  // a request for memory has a size and a home; one that empties the cache may have a pool
  predicate requests_valid(struct ashlar_request request[8]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung != ASHLAR_RUNG_IDLE ==>
      request[r].rung <= ASHLAR_RUNG_EMPTY && request[r].growth <= ASHLAR_GROWTH_RETURNING &&
      -1 <= request[r].home < ASHLAR_LISTS &&
      (request[r].rung < ASHLAR_RUNG_EMPTY_WAIT ==> 0 < request[r].bytes <= request[r].size <= 2305843009213693952 &&
        request[r].size % 512 == 0 && 0 <= request[r].home) &&
      (ASHLAR_RUNG_EMPTY_WAIT <= request[r].rung ==> request[r].bytes == 0);

  // pools and streams stay as long as a request is for them
  predicate requests_homed(struct ashlar_request request[8], integer stream_count, uint8_t stream_gone[256],
    uint8_t pool_state[65]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung != ASHLAR_RUNG_IDLE ==> 0 <= request[r].home ==>
      (ASHLAR_STREAMS * ASHLAR_CLASSES <= request[r].home ==>
        pool_state[request[r].home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED) &&
      (0 < request[r].bytes ==> request[r].home % ASHLAR_STREAMS < stream_count &&
        stream_gone[request[r].home % ASHLAR_STREAMS] == 0);

  // what is held has a holder in flight and a reason; of an ordinary segment, all of it is leaving
  predicate blocks_held(integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    uint8_t hold[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS],
    int32_t next[ASHLAR_SLOTS], struct ashlar_request request[8]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==>
      0 <= holder[i] < ASHLAR_REQUESTS && request[holder[i]].rung != ASHLAR_RUNG_IDLE &&
      ASHLAR_HOLD_LEAVING <= hold[i] <= ASHLAR_HOLD_FRESH &&
      (growable[i] == 0 ==> hold[i] == ASHLAR_HOLD_LEAVING && prev[i] == -1 && next[i] == -1);

  // a request's block and the first block of its run are held by it
  predicate requests_hold(struct ashlar_request request[8], integer top, uint8_t state[ASHLAR_SLOTS],
    int32_t holder[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung != ASHLAR_RUNG_IDLE ==>
      -1 <= request[r].slot < top && -1 <= request[r].run < top &&
      (0 <= request[r].slot ==> state[request[r].slot] == ASHLAR_HELD && holder[request[r].slot] == r) &&
      (0 <= request[r].run ==> state[request[r].run] == ASHLAR_HELD && holder[request[r].run] == r &&
        hold[request[r].run] != ASHLAR_HOLD_LEAVING);

  // what leaves is what its holder has asked the device about
  predicate leaving_asked(integer top, uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS],
    int32_t holder[ASHLAR_SLOTS], struct ashlar_request request[8]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==> hold[i] == ASHLAR_HOLD_LEAVING ==>
      request[holder[i]].slot == i;

  // a run is one piece: prev leads to its first block, next to its end
  predicate in_run(integer top, uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    integer i, integer r) =
    0 <= i < top && state[i] == ASHLAR_HELD && holder[i] == r && hold[i] != ASHLAR_HOLD_LEAVING;
  predicate runs_begin(integer top, uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS],
    int32_t holder[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], struct ashlar_request request[8]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==> hold[i] != ASHLAR_HOLD_LEAVING ==>
      request[holder[i]].run != -1 &&
      (request[holder[i]].run != i ==> in_run(top, state, hold, holder, prev[i], holder[i]));
  predicate runs_end(integer top, uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS],
    int32_t holder[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], struct ashlar_request request[8]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_HELD ==> hold[i] != ASHLAR_HOLD_LEAVING ==>
      addr[i] + size[i] <= request[holder[i]].run_end &&
      (addr[i] + size[i] < request[holder[i]].run_end ==> in_run(top, state, hold, holder, next[i], holder[i]));

  // the step that waits for its outcome is about what the request holds
  predicate asked_nothing_held(struct ashlar_request q) =
    (q.step == ASHLAR_STEP_ALLOCATE || q.step == ASHLAR_STEP_RESERVE || q.step == ASHLAR_STEP_WAIT ||
      q.step == ASHLAR_STEP_CALLBACKS || (q.step == ASHLAR_STEP_UNRESERVE && q.growth == ASHLAR_GROWTH_RESERVING)) &&
    q.slot == -1 && q.run == -1 &&
    (q.step == ASHLAR_STEP_RESERVE ==> q.growth == ASHLAR_GROWTH_RESERVING) &&
    (q.step == ASHLAR_STEP_ALLOCATE ==> 0 < q.bytes && q.size <= q.asked) &&
    (q.step == ASHLAR_STEP_ALLOCATE || q.step == ASHLAR_STEP_RESERVE ==> 0 < q.bytes && 0 < q.asked && q.asked % 512 == 0);
  predicate asked_leaving(struct ashlar_request q, integer hold, integer growable, integer prev, integer next) =
    q.slot != -1 && q.run == -1 && hold == ASHLAR_HOLD_LEAVING &&
    ((q.step == ASHLAR_STEP_RELEASE && growable == 0) ||
     (q.step == ASHLAR_STEP_UNMAP && growable != 0 && q.growth == ASHLAR_GROWTH_NONE) ||
     (q.step == ASHLAR_STEP_UNRESERVE && growable != 0 && q.growth == ASHLAR_GROWTH_RETURNING && prev == -1 &&
       next == -1));
  predicate asked_run(struct ashlar_request q, integer hold) =
    q.slot != -1 && q.run != -1 && hold == ASHLAR_HOLD_UNMAPPED &&
    ((q.step == ASHLAR_STEP_MAP && q.growth == ASHLAR_GROWTH_MAPPING) ||
     (q.step == ASHLAR_STEP_UNMAP && q.growth == ASHLAR_GROWTH_UNDOING));
  predicate requests_asked(struct ashlar_request request[8], uint8_t hold[ASHLAR_SLOTS],
    uint8_t growable[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung != ASHLAR_RUNG_IDLE ==>
      asked_nothing_held(request[r]) ||
      (0 <= request[r].slot && (asked_run(request[r], hold[request[r].slot]) ||
        asked_leaving(request[r], hold[request[r].slot], growable[request[r].slot], prev[request[r].slot],
          next[request[r].slot])));

  // a stream that is waited for has the use that is waited for
  predicate requests_wait(struct ashlar_request request[8], integer stream_count, uint64_t submitted[256]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung != ASHLAR_RUNG_IDLE ==>
      -2 <= request[r].waited < stream_count &&
      (request[r].step == ASHLAR_STEP_WAIT ==> 0 <= request[r].waited &&
        request[r].number <= submitted[request[r].waited]);

  // --- REQ-ACCOUNT: what the first k slots add to a column: all blocks, small, large. (A condition inside a term has to
  // be one of numbers.) ---
  logic integer in_column(integer home, integer column) =
    column == ASHLAR_STAT_ALL || home / ASHLAR_STREAMS % ASHLAR_CLASSES + 1 == column ? 1 : 0;
  // memory stands behind the block; what leaves counts as gone
  logic integer is_reserved(integer state, integer hold) =
    state == ASHLAR_FREE || state == ASHLAR_ALLOCATED || state == ASHLAR_PENDING || state == ASHLAR_TAKEN ||
    (state == ASHLAR_HELD && (hold == ASHLAR_HOLD_MAPPED || hold == ASHLAR_HOLD_FRESH)) ? 1 : 0;
  logic integer number_in(uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer s, integer column,
    integer k) =
    k <= 0 ? 0 : number_in(state, home, s, column, k - 1) +
      (state[k - 1] == s && in_column(home[k - 1], column) == 1 ? 1 : 0);
  logic integer sizes_in(uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    integer s, integer column, integer k) =
    k <= 0 ? 0 : sizes_in(state, home, size, s, column, k - 1) +
      (state[k - 1] == s && in_column(home[k - 1], column) == 1 ? size[k - 1] : 0);
  logic integer reserved_in(uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], integer column, integer k) =
    k <= 0 ? 0 : reserved_in(state, hold, home, size, column, k - 1) +
      (is_reserved(state[k - 1], hold[k - 1]) == 1 && in_column(home[k - 1], column) == 1 ? size[k - 1] : 0);
  logic integer segments_in(uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer column, integer k) =
    k <= 0 ? 0 : segments_in(state, hold, growable, prev, home, column, k - 1) +
      (is_reserved(state[k - 1], hold[k - 1]) == 1 && growable[k - 1] == 0 && prev[k - 1] == -1 &&
        in_column(home[k - 1], column) == 1 ? 1 : 0);
  logic integer is_inactive_split(integer state, integer growable, integer prev, integer next) =
    state == ASHLAR_FREE && growable == 0 && (prev != -1 || next != -1) ? 1 : 0;
  logic integer inactive_in(uint8_t state[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS],
    int32_t next[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer column, integer k) =
    k <= 0 ? 0 : inactive_in(state, growable, prev, next, home, column, k - 1) +
      (is_inactive_split(state[k - 1], growable[k - 1], prev[k - 1], next[k - 1]) == 1 && in_column(home[k - 1], column) == 1 ?
        1 : 0);
  logic integer inactive_bytes_in(uint8_t state[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    integer column, integer k) =
    k <= 0 ? 0 : inactive_bytes_in(state, growable, prev, next, home, size, column, k - 1) +
      (is_inactive_split(state[k - 1], growable[k - 1], prev[k - 1], next[k - 1]) == 1 && in_column(home[k - 1], column) == 1 ?
        size[k - 1] : 0);

  // a counter of a kind and column: m->stat[kind * 3 + column]
  predicate counts(struct ashlar_counter stat[27], integer kind, integer column, integer sum) =
    stat[kind * ASHLAR_STAT_COLUMNS + column].current == sum;
  predicate owned_counted(struct ashlar_counter stat[27], uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], uint64_t requested[ASHLAR_SLOTS], integer top) =
    \forall integer c; 0 <= c < ASHLAR_STAT_COLUMNS ==>
      counts(stat, ASHLAR_STAT_ALLOCATION, c, number_in(state, home, ASHLAR_ALLOCATED, c, top)) &&
      counts(stat, ASHLAR_STAT_ALLOCATED_BYTES, c, sizes_in(state, home, size, ASHLAR_ALLOCATED, c, top)) &&
      counts(stat, ASHLAR_STAT_ACTIVE, c, number_in(state, home, ASHLAR_ALLOCATED, c, top) +
        number_in(state, home, ASHLAR_PENDING, c, top)) &&
      counts(stat, ASHLAR_STAT_ACTIVE_BYTES, c, sizes_in(state, home, size, ASHLAR_ALLOCATED, c, top) +
        sizes_in(state, home, size, ASHLAR_PENDING, c, top)) &&
      counts(stat, ASHLAR_STAT_REQUESTED_BYTES, c, sizes_in(state, home, requested, ASHLAR_ALLOCATED, c, top) +
        sizes_in(state, home, requested, ASHLAR_PENDING, c, top));
  predicate segments_and_rests_counted(struct ashlar_counter stat[27], uint8_t state[ASHLAR_SLOTS],
    uint8_t hold[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    int32_t home[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer top) =
    \forall integer c; 0 <= c < ASHLAR_STAT_COLUMNS ==>
      counts(stat, ASHLAR_STAT_SEGMENT, c, segments_in(state, hold, growable, prev, home, c, top)) &&
      counts(stat, ASHLAR_STAT_RESERVED_BYTES, c, reserved_in(state, hold, home, size, c, top)) &&
      counts(stat, ASHLAR_STAT_INACTIVE_SPLIT, c, inactive_in(state, growable, prev, next, home, c, top)) &&
      counts(stat, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, c,
        inactive_bytes_in(state, growable, prev, next, home, size, c, top));

  logic integer pool_bytes_in(uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], integer p, integer k) =
    k <= 0 ? 0 : pool_bytes_in(state, hold, home, size, p, k - 1) +
      (is_reserved(state[k - 1], hold[k - 1]) == 1 && home[k - 1] / ASHLAR_STREAMS / ASHLAR_CLASSES == p ? size[k - 1] : 0);
  predicate reserved_counted(struct ashlar_counter pool_reserved[65], uint8_t state[ASHLAR_SLOTS],
    uint8_t hold[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer top) =
    \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==>
      pool_reserved[p].current == pool_bytes_in(state, hold, home, size, p, top);

  // bytes from a block to the end of its segment; n bounds the blocks that are followed
  logic integer bytes_from(int32_t next[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer i, integer n) =
    i < 0 || n <= 0 ? 0 : size[i] + bytes_from(next, size, next[i], n - 1);
  logic integer oversize_in(uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer limit, integer k) =
    k <= 0 ? 0 : oversize_in(state, size, limit, k - 1) +
      (state[k - 1] == ASHLAR_ALLOCATED && limit <= size[k - 1] ? 1 : 0);
  logic integer oversize_segments_in(uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS],
    uint8_t growable[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], integer limit, integer top, integer k) =
    k <= 0 ? 0 : oversize_segments_in(state, hold, growable, prev, next, size, limit, top, k - 1) +
      (is_reserved(state[k - 1], hold[k - 1]) == 1 && growable[k - 1] == 0 && prev[k - 1] == -1 &&
        limit <= bytes_from(next, size, k - 1, top) ? 1 : 0);
  predicate oversize_counted(struct ashlar_counter allocations, struct ashlar_counter segments,
    uint8_t state[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer limit, integer top) =
    allocations.current == oversize_in(state, size, limit, top) &&
    segments.current == oversize_segments_in(state, hold, growable, prev, next, size, limit, top, top);

  // totals may have begun anew, and stop at the greatest number
  logic integer saturated(integer n) = n <= UINT64_MAX ? n : UINT64_MAX;
  predicate total_valid(struct ashlar_counter c) = c.current <= c.peak && c.allocated <= saturated(c.current + c.freed);
  predicate totals_valid(struct ashlar_counter stat[27], struct ashlar_counter pool_reserved[65],
    struct ashlar_counter allocations, struct ashlar_counter segments) =
    (\forall integer k; 0 <= k < ASHLAR_STATS ==> total_valid(stat[k])) &&
    (\forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> total_valid(pool_reserved[p])) &&
    total_valid(allocations) && total_valid(segments);
  predicate kind_summed(struct ashlar_counter stat[27], integer k) =
    stat[3 * k].allocated == saturated(stat[3 * k + 1].allocated + stat[3 * k + 2].allocated) &&
    stat[3 * k].freed == saturated(stat[3 * k + 1].freed + stat[3 * k + 2].freed);
  predicate columns_summed(struct ashlar_counter stat[27]) =
    \forall integer k; 0 <= k < ASHLAR_STAT_KINDS ==> kind_summed(stat, k);

  // --- words for contracts ---
  predicate is_busy(struct ashlar_manager m) = m.config.policy == ASHLAR_POLICY_FAITHFUL && 0 < m.in_flight;
  predicate in_capture(struct ashlar_manager m, integer s) = is_stream(m, s) && m.stream_captured[s] != 0;
  predicate is_handle(struct ashlar_manager m, integer slot, integer generation) =
    0 <= slot < m.top && m.state[slot] == ASHLAR_ALLOCATED && m.generation[slot] == generation;
  // no owner has had a block of the slot, or the first one has it still
  predicate never_returned(struct ashlar_manager m, integer slot) =
    slot < 0 || m.top <= slot || (m.state[slot] != ASHLAR_ALLOCATED && m.generation[slot] == 0);
  // why a handle is refused, where it is
  predicate handle_answer(struct ashlar_manager m, integer slot, integer generation, integer status) =
    never_returned(m, slot) ? status == ASHLAR_ERROR_SLOT :
    is_handle(m, slot, generation) ? status != ASHLAR_ERROR_SLOT && status != ASHLAR_ERROR_STALE_HANDLE :
      status == ASHLAR_ERROR_STALE_HANDLE;
  predicate call_answer(struct ashlar_manager m, integer slot, integer generation, integer status) =
    is_busy(m) ? status == ASHLAR_ERROR_BUSY :
      status != ASHLAR_ERROR_BUSY && handle_answer(m, slot, generation, status);
  // a request in flight is for a stream, or waits for it
  predicate wants_stream(struct ashlar_request q, integer s) =
    q.rung != ASHLAR_RUNG_IDLE &&
    ((0 < q.bytes && q.home % ASHLAR_STREAMS == s) || (q.step == ASHLAR_STEP_WAIT && q.waited == s));
  // the block of a slot contains an address
  predicate contains(struct ashlar_manager m, integer i, integer address) =
    0 <= i < m.top && m.state[i] != ASHLAR_UNUSED && m.addr[i] <= address < m.addr[i] + m.size[i];
*/
// clang-format off
#define BETWEEN_INVARIANT(K) \
  K REQ_LIFETIME_once_count: blocks_referenced(m->top, m->state, m->references); \
  K REQ_POOL_apart_homes: homes_pooled(m->top, m->state, m->home, m->pool_state); \
  K ages_created: ages_created(m->top, m->state, m->age, m->config.order, m->segments_created); \
  K stream_segments: stream_segments(m->stream_segments, m->state, m->prev, m->home, m->top); \
  K pool_segments: pool_segments(m->pool_segments, m->state, m->prev, m->home, m->top);
#define SETTINGS_INVARIANT(K) \
  K REQ_SIZE_settings: valid_config(m->config); \
  K REQ_GROW_toggle: growable_allowed(m->growable_on, m->config);
#define REQUESTS_INVARIANT(K) \
  K REQ_ATOMIC_flight_count: flight_counted(m->in_flight, m->request); \
  K REQ_CAPACITY_slots_room: flight_room(m->spare_count, m->top, m->request); \
  K requests: requests_valid(m->request); \
  K requests_homed: requests_homed(m->request, m->stream_count, m->stream_gone, m->pool_state); \
  K REQ_ATOMIC_leaving_held: blocks_held(m->top, m->state, m->holder, m->hold, m->growable, m->prev, m->next, m->request); \
  K requests_hold: requests_hold(m->request, m->top, m->state, m->holder, m->hold); \
  K REQ_ATOMIC_leaving_asked: leaving_asked(m->top, m->state, m->hold, m->holder, m->request); \
  K runs_begin: runs_begin(m->top, m->state, m->hold, m->holder, m->prev, m->request); \
  K runs_end: runs_end(m->top, m->state, m->hold, m->holder, m->next, m->addr, m->size, m->request); \
  K requests_asked: requests_asked(m->request, m->hold, m->growable, m->prev, m->next); \
  K requests_wait: requests_wait(m->request, m->stream_count, m->submitted);
#define STATS_INVARIANT(K) \
  K REQ_ACCOUNT_allocation_owned: owned_counted(m->stat, m->state, m->home, m->size, m->requested, m->top); \
  K REQ_ACCOUNT_segment_counted: segments_and_rests_counted(m->stat, m->state, m->hold, m->growable, m->prev, m->next, m->home, m->size, m->top); \
  K REQ_ACCOUNT_private: reserved_counted(m->pool_reserved, m->state, m->hold, m->home, m->size, m->top); \
  K REQ_ACCOUNT_oversize: oversize_counted(m->oversize_allocations, m->oversize_segments, m->state, m->hold, m->growable, m->prev, m->next, m->size, m->config.max_split_size, m->top); \
  K REQ_ACCOUNT_counter_valid: totals_valid(m->stat, m->pool_reserved, m->oversize_allocations, m->oversize_segments); \
  K REQ_ACCOUNT_columns: columns_summed(m->stat);
#define STANDING_INVARIANT(K) K whole: WHOLE_STATE; BETWEEN_INVARIANT(K) SETTINGS_INVARIANT(K) REQUESTS_INVARIANT(K)
/* What owners and streams change: uses, blocks that become free, and what is counted of them. */
#define ASSIGNS_FINISHED ASSIGNS_USES, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->completed[0 .. ASHLAR_STREAMS - 1]
#define ASSIGNS_GIVEN_BACK ASSIGNS_USES, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->oversize_allocations, \
  ASSIGNS_MAP, ALL(in_map), ALL(generation)
/* of a block that its owner has given back */
#define ENSURES_FREED(SLOT) \
  ensures REQ_FREE_done: \result.status == ASHLAR_OK ==> m->state[SLOT] != ASHLAR_ALLOCATED; \
  ensures REQ_FREE_handle_void: \result.status == ASHLAR_OK ==> m->generation[SLOT] != \old(*m).generation[SLOT]; \
  ensures REQ_STREAM_pending_unused: \result.status == ASHLAR_OK ==> \old(*m).first_use[SLOT] == 0 ==> \
    m->state[SLOT] != ASHLAR_PENDING; \
  ensures REQ_STREAM_queue_waits: \result.waits != 0 ==> m->state[SLOT] == ASHLAR_PENDING; \
  ensures REQ_FRAME_freed: \result.status == ASHLAR_OK ==> others_kept(\old(*m), *m, SLOT);
/* Blocks that are the first of their segment, and those counted up to a slot, are what they were. */
#define FIRSTS(A) \forall integer j; 0 <= j < (A).top ==> (A).state[j] != ASHLAR_UNUSED ==> \
  ((A).prev[j] == -1 <==> (A).base[j] == (A).addr[j])
#define HEADS_KEPT(END) \
  loop invariant streams: \forall integer s; stream_heads(m->state, m->prev, m->home, s, END) == \
    stream_heads(\at(*m, Pre).state, \at(*m, Pre).prev, \at(*m, Pre).home, s, END); \
  loop invariant pools: \forall integer p; pool_heads(m->state, m->prev, m->home, p, END) == \
    pool_heads(\at(*m, Pre).state, \at(*m, Pre).prev, \at(*m, Pre).home, p, END);
#define MANAGER_INVARIANT(K) STANDING_INVARIANT(K) STATS_INVARIANT(K)
#define REQUIRES_MANAGER MANAGER_INVARIANT(requires)
#define ENSURES_MANAGER MANAGER_INVARIANT(ensures)
#define ASSIGNS_MANAGER *m
// clang-format on
#endif
