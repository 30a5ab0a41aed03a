/* core_check_faults_state.c - see core_check_faults.h: what holds between them, requests in flight, statistics.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check_faults.h"

#include "core/growth.h"
#include "core/step.h"
#include "core/stream_use.h"

#define MIB (UINT64_C(1) << 20)

/* Record of the last use of a block. */
static int32_t last_use(const struct ashlar_manager *m, int32_t block)
{
  return m->first_use[block] - 1;
}

static struct ashlar_counter *counter(struct ashlar_manager *m, size_t kind, size_t column)
{
  return &m->stat[kind * ASHLAR_STAT_COLUMNS + column];
}

#define FAULT(name) static void name(struct ashlar_manager *m, const struct core_check_slots *slot)

FAULT(mapped_twice)
{
  m->in_map[slot->whole] = 2;
}

FAULT(allocated_unmapped)
{
  ashlar_map_remove(m, slot->first);
}

FAULT(taken)
{
  ashlar_block_pass(m, slot->queued, ASHLAR_TAKEN);
}

FAULT(used_by_none)
{
  ashlar_block_pass(m, slot->queued, ASHLAR_HELD);
}

FAULT(submitted_owned)
{
  ashlar_block_pass(m, slot->queued, ASHLAR_ALLOCATED);
  ashlar_map_insert(m, slot->queued);
}

FAULT(pending_for_nothing)
{
  ashlar_map_remove(m, slot->large);
  ashlar_block_pass(m, slot->large, ASHLAR_PENDING);
}

FAULT(not_deferrable)
{
  int32_t use = last_use(m, slot->third);
  while (m->use_more[use] != -1) {
    use = m->use_more[use];
  }
  m->use_stream[use] = 2;
}

FAULT(deferred_submitted)
{
  const int32_t use = last_use(m, slot->deferred);
  (void)ashlar_use_submit(m, use);
}

FAULT(unreferenced)
{
  m->references[slot->large] = 0;
}

FAULT(stream_unknown)
{
  m->list[slot->large] += m->stream_count;
  m->home[slot->large] += m->stream_count;
}

FAULT(pool_unknown)
{
  m->list[slot->large] += 2 * ASHLAR_CLASSES * ASHLAR_STREAMS;
  m->home[slot->large] = m->list[slot->large];
}

FAULT(entered_in_the_future)
{
  m->entered[slot->whole]++;
}

FAULT(age_of_the_future)
{
  m->age[slot->large] = m->segments_created;
}

FAULT(age_in_address_order)
{
  (void)slot;
  m->config.order = ASHLAR_ORDER_ADDRESS;
}

FAULT(stream_segment_lost)
{
  (void)slot;
  m->stream_segments[0]--;
}

FAULT(pool_segment_lost)
{
  (void)slot;
  m->pool_segments[0]--;
}

FAULT(segments_uncreated)
{
  (void)slot;
  for (int32_t i = 0; i < m->top; i++) {
    m->age[i] = 0;
  }
  m->segments_created = 1;
}

FAULT(setting_division)
{
  (void)slot;
  m->config.divisions[15] = 6;
}

FAULT(setting_slack)
{
  (void)slot;
  m->config.oversize_slack = 19 * MIB;
}

FAULT(setting_switch)
{
  (void)slot;
  m->config.callbacks = 2;
}

FAULT(setting_growable)
{
  (void)slot;
  m->config.growable = 1;
  m->config.device_total = 0;
}

FAULT(growable_unknown)
{
  (void)slot;
  m->growable_on = 2;
}

FAULT(flight_miscounted)
{
  (void)slot;
  m->in_flight++;
}

FAULT(request_forgotten)
{
  m->request[slot->asks].rung = ASHLAR_RUNG_IDLE;
}

/* Segments, one after the other, until one slot is left. */
FAULT(no_room)
{
  (void)slot;
  for (uint64_t k = 0; ashlar_block_reserve(m, 2); k++) {
    const int32_t block = ashlar_segment_create(m, (UINT64_C(1) << 30) + 1024 * k, 512, 0, 0);
    ashlar_block_put(m, block);
  }
}

FAULT(rung_unknown)
{
  m->request[slot->asks].rung = ASHLAR_RUNG_EMPTY + 1;
}

FAULT(request_size_odd)
{
  m->request[slot->asks].size--;
}

FAULT(request_of_nothing)
{
  m->request[slot->asks].bytes = 0;
}

FAULT(request_homeless)
{
  m->request[slot->asks].home = -1;
}

FAULT(emptying_bytes)
{
  m->request[slot->waits].bytes = 1;
}

FAULT(request_of_stream_gone)
{
  m->request[slot->asks].home = ashlar_home(0, ASHLAR_CLASS_LARGE, 2);
}

FAULT(request_of_pool_of_stream_gone)
{
  m->request[slot->asks].home = ashlar_home(4, ASHLAR_CLASS_LARGE, 2);
}

FAULT(request_of_pool_ended)
{
  m->request[slot->asks].home = ashlar_home(2, ASHLAR_CLASS_LARGE, 1);
}

FAULT(holder_beyond)
{
  m->holder[m->request[slot->maps].run] = ASHLAR_REQUESTS;
}

FAULT(holder_idle)
{
  m->holder[m->request[slot->maps].run] = ASHLAR_REQUESTS - 1;
}

FAULT(hold_without_reason)
{
  m->hold[m->request[slot->maps].run] = ASHLAR_HOLD_NONE;
}

FAULT(hold_ordinary)
{
  m->hold[m->request[slot->releases].slot] = ASHLAR_HOLD_MAPPED;
}

FAULT(held_by_another)
{
  m->request[slot->asks].slot = m->request[slot->releases].slot;
}

FAULT(held_by_none)
{
  m->request[slot->asks].slot = slot->whole;
}

FAULT(run_of_leaving)
{
  m->request[slot->releases].run = m->request[slot->releases].slot;
}

FAULT(leaving_forgotten)
{
  m->request[slot->releases].slot = -1;
}

FAULT(run_forgotten)
{
  m->request[slot->maps].run = -1;
}

FAULT(run_begins_late)
{
  m->request[slot->maps].run = m->next[m->request[slot->maps].run];
}

FAULT(run_ends_early)
{
  m->request[slot->maps].run_end -= 512;
}

FAULT(run_ends_late)
{
  m->request[slot->maps].run_end += 512;
}

FAULT(step_unknown)
{
  m->request[slot->asks].step = ASHLAR_STEP_DONE;
}

FAULT(step_of_nothing)
{
  m->request[slot->asks].step = ASHLAR_STEP_RELEASE;
}

FAULT(segment_too_short)
{
  m->request[slot->asks].asked = 512;
}

FAULT(growth_lost)
{
  m->request[slot->maps].growth = ASHLAR_GROWTH_NONE;
}

FAULT(waits_for_none)
{
  m->request[slot->waits].waited = -1;
}

FAULT(waits_too_long)
{
  m->request[slot->waits].number = UINT64_MAX;
}

FAULT(waited_beyond)
{
  m->request[slot->asks].waited = m->stream_count;
}

FAULT(stat_wrong)
{
  (void)slot;
  counter(m, ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_SMALL)->current++;
}

FAULT(stat_of_all_wrong)
{
  (void)slot;
  counter(m, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL)->current += 512;
}

FAULT(stat_of_large_wrong)
{
  (void)slot;
  counter(m, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_LARGE)->current--;
}

/* The sum is what it was, but for 2^64. */
FAULT(requested_too_large)
{
  m->requested[slot->first] += UINT64_C(1) << 63;
  m->requested[slot->third] += UINT64_C(1) << 63;
}

FAULT(requested_wrong)
{
  m->requested[slot->other]++;
}

FAULT(pool_reserved_lost)
{
  (void)slot;
  m->pool_reserved[4].current -= 512;
}

FAULT(oversize_allocation_lost)
{
  (void)slot;
  m->oversize_allocations.current--;
}

FAULT(oversize_segment_lost)
{
  (void)slot;
  m->oversize_segments.current--;
}

FAULT(peak_too_low)
{
  (void)slot;
  counter(m, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL)->peak = 1;
}

FAULT(freed_lost)
{
  (void)slot;
  counter(m, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_ALL)->freed--;
}

FAULT(pool_peak_too_low)
{
  (void)slot;
  m->pool_reserved[4].peak = 0;
}

FAULT(allocated_lost_oversize)
{
  (void)slot;
  m->oversize_allocations.allocated += m->oversize_allocations.freed + 100;
}

FAULT(peak_too_low_oversize)
{
  (void)slot;
  m->oversize_segments.peak = 0;
}

FAULT(columns_differ)
{
  (void)slot;
  struct ashlar_counter *small = counter(m, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_SMALL);
  small->allocated++;
  small->freed++;
}

FAULT(columns_differ_freed)
{
  (void)slot;
  counter(m, ASHLAR_STAT_ACTIVE, ASHLAR_STAT_ALL)->freed++;
}

FAULT(used_beyond)
{
  const int32_t use = last_use(m, slot->queued);
  m->use_block[use] = ASHLAR_SLOTS - 1;
  m->first_use[ASHLAR_SLOTS - 1] = use + 1;
  m->first_use[slot->queued] = 0;
}

/* As many as the stream with most of them has; the default pool has those of two streams. */
FAULT(pool_segments_uncreated)
{
  (void)slot;
  for (int32_t i = 0; i < m->top; i++) {
    m->age[i] = 0;
  }
  m->segments_created =
      m->stream_segments[0] > m->stream_segments[1] ? m->stream_segments[0] : m->stream_segments[1];
}

FAULT(setting_segment)
{
  (void)slot;
  m->config.large_segment_size = UINT64_C(1) << 60;
  m->config.max_split_size = UINT64_MAX;
  m->config.oversize_slack = UINT64_MAX;
}

FAULT(setting_segment_odd)
{
  (void)slot;
  m->config.large_segment_size += 512;
}

FAULT(setting_split)
{
  (void)slot;
  m->config.max_split_size = m->config.large_segment_size - 512;
}

FAULT(setting_total)
{
  (void)slot;
  m->config.device_total = UINT64_C(1) << 60;
}

FAULT(setting_rejection)
{
  (void)slot;
  m->config.reject_above = UINT64_C(1) << 60;
}

FAULT(setting_order)
{
  (void)slot;
  for (int32_t i = 0; i < m->top; i++) {
    m->age[i] = 0;
  }
  m->config.order = ASHLAR_ORDER_SEGMENT + 1;
}

FAULT(setting_policy)
{
  (void)slot;
  m->config.policy = ASHLAR_POLICY_FAITHFUL + 1;
}

FAULT(setting_growable_unknown)
{
  (void)slot;
  m->config.growable = 2;
}

FAULT(growable_of_no_device)
{
  (void)slot;
  m->config.device_total = 0;
  m->growable_on = 1;
}

FAULT(request_size_beyond)
{
  m->request[slot->asks].size = (UINT64_C(1) << 61) + 512;
}

FAULT(request_size_uneven)
{
  m->request[slot->asks].size++;
}

FAULT(growth_unknown)
{
  m->request[slot->asks].growth = ASHLAR_GROWTH_RETURNING + 1;
}

FAULT(home_negative)
{
  m->request[slot->waits].home = -2;
}

FAULT(home_beyond)
{
  m->request[slot->waits].home = ASHLAR_LISTS;
}

FAULT(emptying_asks)
{
  m->request[slot->waits].step = ASHLAR_STEP_ALLOCATE;
}

FAULT(range_of_nothing)
{
  m->request[slot->asks].step = ASHLAR_STEP_RESERVE;
  m->request[slot->asks].growth = ASHLAR_GROWTH_RESERVING;
  m->request[slot->asks].asked = 0;
}

FAULT(segment_odd)
{
  m->request[slot->asks].asked++;
}

FAULT(range_without_growth)
{
  m->request[slot->asks].step = ASHLAR_STEP_RESERVE;
}

FAULT(range_while_leaving)
{
  m->request[slot->releases].step = ASHLAR_STEP_RESERVE;
}

FAULT(asks_while_leaving)
{
  m->request[slot->releases].step = ASHLAR_STEP_ALLOCATE;
}

FAULT(maps_nothing)
{
  m->request[slot->maps].slot = -1;
}

FAULT(maps_again)
{
  m->request[slot->maps].slot = m->request[slot->maps].run;
}

FAULT(maps_without_run)
{
  m->request[slot->asks].step = ASHLAR_STEP_MAP;
}

FAULT(unmaps_nothing)
{
  m->request[slot->asks].step = ASHLAR_STEP_UNMAP;
}

FAULT(unmaps_while_mapping)
{
  m->request[slot->maps].step = ASHLAR_STEP_UNMAP;
}

FAULT(unmaps_ordinary)
{
  m->request[slot->releases].step = ASHLAR_STEP_UNMAP;
}

FAULT(unmaps_while_returning)
{
  m->request[slot->releases].step = ASHLAR_STEP_UNMAP;
  m->request[slot->releases].growth = ASHLAR_GROWTH_RETURNING;
}

FAULT(returns_nothing)
{
  m->request[slot->asks].step = ASHLAR_STEP_UNRESERVE;
}

FAULT(returns_run)
{
  m->request[slot->maps].step = ASHLAR_STEP_UNRESERVE;
}

FAULT(returns_segment)
{
  m->request[slot->releases].step = ASHLAR_STEP_UNRESERVE;
}

FAULT(returns_ordinary)
{
  m->request[slot->releases].step = ASHLAR_STEP_UNRESERVE;
  m->request[slot->releases].growth = ASHLAR_GROWTH_RETURNING;
}

/* A request gives back a block of a growable segment that is not all of it. */
static void returns(struct ashlar_manager *m, int32_t request, int32_t block)
{
  m->hold[block] = ASHLAR_HOLD_LEAVING;
  m->holder[block] = request;
  m->request[request].run = -1;
  m->request[request].slot = block;
  m->request[request].step = ASHLAR_STEP_UNRESERVE;
  m->request[request].growth = ASHLAR_GROWTH_RETURNING;
}

FAULT(returns_end)
{
  int32_t block = m->request[slot->maps].run;
  ashlar_growth_let_go(m, slot->maps);
  while (m->state[block] != ASHLAR_UNMAPPED) {
    block = m->next[block];
  }
  ashlar_growth_hold_range(m, slot->maps, block);
  returns(m, slot->maps, block);
}

FAULT(returns_beginning)
{
  const int32_t block = ashlar_segment_create(m, UINT64_C(1) << 36, 4 * MIB, 0, 1);
  ashlar_block_put_unmapped(m, ashlar_block_cut(m, block, 2 * MIB));
  ashlar_block_pass(m, block, ASHLAR_HELD);
  ashlar_growth_let_go(m, slot->maps);
  returns(m, slot->maps, block);
}

FAULT(asks_on_another_rung)
{
  m->request[slot->asks].rung = ASHLAR_RUNG_RELEASE;
}

FAULT(asks_while_growing)
{
  m->request[slot->asks].growth = ASHLAR_GROWTH_MAPPING;
}

FAULT(asks_while_undoing)
{
  m->request[slot->asks].growth = ASHLAR_GROWTH_UNDOING;
}

FAULT(asks_and_returns)
{
  m->request[slot->asks].growth = ASHLAR_GROWTH_RETURNING;
}

FAULT(asks_and_reserves)
{
  m->request[slot->asks].growth = ASHLAR_GROWTH_RESERVING;
  m->request[slot->asks].growable = 1;
}

FAULT(calls_on_another_rung)
{
  m->request[slot->asks].step = ASHLAR_STEP_CALLBACKS;
}

FAULT(reserves_on_another_rung)
{
  m->request[slot->asks].step = ASHLAR_STEP_RESERVE;
  m->request[slot->asks].growth = ASHLAR_GROWTH_RESERVING;
  m->request[slot->asks].growable = 1;
  m->request[slot->asks].rung = ASHLAR_RUNG_COLLECT;
}

FAULT(reserves_ordinary)
{
  m->request[slot->asks].step = ASHLAR_STEP_UNRESERVE;
  m->request[slot->asks].growth = ASHLAR_GROWTH_RESERVING;
  m->request[slot->asks].growable = 0;
}

FAULT(maps_on_another_rung)
{
  m->request[slot->maps].rung = ASHLAR_RUNG_SEARCH_LAST;
}

FAULT(maps_ordinary)
{
  m->request[slot->maps].growable = 0;
}

FAULT(undoes_ordinary)
{
  m->request[slot->maps].step = ASHLAR_STEP_UNMAP;
  m->request[slot->maps].growth = ASHLAR_GROWTH_UNDOING;
  m->request[slot->maps].growable = 0;
}

FAULT(run_too_short)
{
  m->request[slot->maps].size += m->request[slot->maps].run_end;
}

FAULT(waits_while_growing)
{
  m->request[slot->waits].growth = ASHLAR_GROWTH_MAPPING;
}

/* The growable segment is given back on a rung that asks. */
FAULT(returns_while_asking)
{
  const int32_t block = ashlar_segment_create(m, UINT64_C(1) << 36, 2 * MIB, 0, 1);
  ashlar_block_pass(m, block, ASHLAR_HELD);
  ashlar_growth_let_go(m, slot->maps);
  returns(m, slot->maps, block);
}

FAULT(unmaps_while_asking)
{
  returns_while_asking(m, slot);
  m->request[slot->maps].step = ASHLAR_STEP_UNMAP;
  m->request[slot->maps].growth = ASHLAR_GROWTH_NONE;
}

FAULT(total_lost)
{
  (void)slot;
  m->config.growable = 0;
  m->growable_on = 0;
  m->config.device_total = 0;
}

const struct core_check_fault core_check_faults_state[] = {
    {ASHLAR_CLAUSE_MAP_ALLOCATED, "map_allocated", mapped_twice},
    {ASHLAR_CLAUSE_MAP_ALLOCATED, "map_allocated", allocated_unmapped},
    {ASHLAR_CLAUSE_NONE_TAKEN, "none_taken", taken},
    {ASHLAR_CLAUSE_USES_HAD, "uses_of_states", used_by_none},
    {ASHLAR_CLAUSE_USES_HAD, "uses_of_states", used_beyond},
    {ASHLAR_CLAUSE_SUBMITTED_PENDING, "uses_of_states", submitted_owned},
    {ASHLAR_CLAUSE_PENDING_USED, "pending_used", pending_for_nothing},
    {ASHLAR_CLAUSE_DEFERRAL_FIRST, "deferral_first", not_deferrable},
    {ASHLAR_CLAUSE_DEFERRED_WAITS, "deferred_waits", deferred_submitted},
    {ASHLAR_CLAUSE_BLOCKS_REFERENCED, "blocks_referenced", unreferenced},
    {ASHLAR_CLAUSE_HOMES_LISTED, "blocks_homed", stream_unknown},
    {ASHLAR_CLAUSE_HOMES_POOLED, "blocks_homed", pool_unknown},
    {ASHLAR_CLAUSE_AGES_VALID, "ages_valid", entered_in_the_future},
    {ASHLAR_CLAUSE_AGES_CREATED, "ages_created", age_of_the_future},
    {ASHLAR_CLAUSE_AGES_CREATED, "ages_created", age_in_address_order},
    {ASHLAR_CLAUSE_STREAM_SEGMENTS, "segments_counted", stream_segment_lost},
    {ASHLAR_CLAUSE_POOL_SEGMENTS, "segments_counted", pool_segment_lost},
    {ASHLAR_CLAUSE_SEGMENTS_COUNTED, "segments_counted", segments_uncreated},
    {ASHLAR_CLAUSE_SEGMENTS_COUNTED, "segments_counted", pool_segments_uncreated},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_division},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_slack},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_switch},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_growable},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_segment},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_segment_odd},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_split},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_total},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_rejection},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_order},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_policy},
    {ASHLAR_CLAUSE_VALID_CONFIG, "settings_valid", setting_growable_unknown},
    {ASHLAR_CLAUSE_GROWABLE_ALLOWED, "settings_valid", growable_unknown},
    {ASHLAR_CLAUSE_GROWABLE_ALLOWED, "settings_valid", growable_of_no_device},
    {ASHLAR_CLAUSE_FLIGHT_COUNTED, "flight_counted", flight_miscounted},
    {ASHLAR_CLAUSE_FLIGHT_COUNTED, "flight_counted", request_forgotten},
    {ASHLAR_CLAUSE_FLIGHT_ROOM, "flight_room", no_room},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", rung_unknown},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", request_size_odd},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", request_of_nothing},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", request_homeless},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", emptying_bytes},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", request_size_beyond},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", request_size_uneven},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", growth_unknown},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", home_negative},
    {ASHLAR_CLAUSE_REQUESTS_VALID, "requests_valid", home_beyond},
    {ASHLAR_CLAUSE_REQUESTS_HOMED, "requests_valid", request_of_stream_gone},
    {ASHLAR_CLAUSE_REQUESTS_HOMED, "requests_valid", request_of_pool_of_stream_gone},
    {ASHLAR_CLAUSE_REQUESTS_HOMED, "requests_valid", request_of_pool_ended},
    {ASHLAR_CLAUSE_BLOCKS_HELD, "blocks_held", holder_beyond},
    {ASHLAR_CLAUSE_BLOCKS_HELD, "blocks_held", holder_idle},
    {ASHLAR_CLAUSE_BLOCKS_HELD, "blocks_held", hold_without_reason},
    {ASHLAR_CLAUSE_BLOCKS_HELD, "blocks_held", hold_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_HOLD, "requests_hold", held_by_another},
    {ASHLAR_CLAUSE_REQUESTS_HOLD, "requests_hold", held_by_none},
    {ASHLAR_CLAUSE_REQUESTS_HOLD, "requests_hold", run_of_leaving},
    {ASHLAR_CLAUSE_LEAVING_ASKED, "requests_hold", leaving_forgotten},
    {ASHLAR_CLAUSE_RUNS_BEGIN, "requests_hold", run_forgotten},
    {ASHLAR_CLAUSE_RUNS_BEGIN, "requests_hold", run_begins_late},
    {ASHLAR_CLAUSE_RUNS_END, "requests_hold", run_ends_early},
    {ASHLAR_CLAUSE_RUNS_END, "requests_hold", run_ends_late},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", step_unknown},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", step_of_nothing},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", segment_too_short},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", growth_lost},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", emptying_asks},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", range_of_nothing},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", segment_odd},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", range_without_growth},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", range_while_leaving},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", asks_while_leaving},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", maps_nothing},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", maps_again},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", maps_without_run},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", unmaps_nothing},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", unmaps_while_mapping},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", unmaps_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", unmaps_while_returning},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_nothing},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_run},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_segment},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_end},
    {ASHLAR_CLAUSE_REQUESTS_ASKED, "requests_asked", returns_beginning},
    {ASHLAR_CLAUSE_REQUESTS_WAIT, "requests_asked", waits_for_none},
    {ASHLAR_CLAUSE_REQUESTS_WAIT, "requests_asked", waits_too_long},
    {ASHLAR_CLAUSE_REQUESTS_WAIT, "requests_asked", waited_beyond},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", asks_on_another_rung},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", asks_while_growing},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", asks_while_undoing},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", asks_and_returns},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", asks_and_reserves},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", calls_on_another_rung},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", reserves_on_another_rung},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", reserves_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", maps_on_another_rung},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", maps_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", undoes_ordinary},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", run_too_short},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", waits_while_growing},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", returns_while_asking},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", unmaps_while_asking},
    {ASHLAR_CLAUSE_REQUESTS_READY, "requests_ready", total_lost},
    {ASHLAR_CLAUSE_BLOCKS_COUNTED, "stats_current", stat_wrong},
    {ASHLAR_CLAUSE_BLOCKS_COUNTED, "stats_current", stat_of_all_wrong},
    {ASHLAR_CLAUSE_BLOCKS_COUNTED, "stats_current", stat_of_large_wrong},
    {ASHLAR_CLAUSE_BLOCKS_COUNTED, "stats_current", requested_wrong},
    {ASHLAR_CLAUSE_BLOCKS_COUNTED, "stats_current", requested_too_large},
    {ASHLAR_CLAUSE_RESERVED_COUNTED, "stats_private", pool_reserved_lost},
    {ASHLAR_CLAUSE_OVERSIZE_COUNTED, "stats_oversize", oversize_allocation_lost},
    {ASHLAR_CLAUSE_OVERSIZE_COUNTED, "stats_oversize", oversize_segment_lost},
    {ASHLAR_CLAUSE_TOTALS_VALID, "stats_totals", peak_too_low},
    {ASHLAR_CLAUSE_TOTALS_VALID, "stats_totals", freed_lost},
    {ASHLAR_CLAUSE_TOTALS_VALID, "stats_totals", pool_peak_too_low},
    {ASHLAR_CLAUSE_TOTALS_VALID, "stats_totals", allocated_lost_oversize},
    {ASHLAR_CLAUSE_TOTALS_VALID, "stats_totals", peak_too_low_oversize},
    {ASHLAR_CLAUSE_COLUMNS_SUMMED, "stats_columns", columns_differ},
    {ASHLAR_CLAUSE_COLUMNS_SUMMED, "stats_columns", columns_differ_freed},
    {-1, NULL, NULL},
};
