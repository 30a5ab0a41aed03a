/* core_check_test.c - the check of the whole state fails: each clause, for a state that breaks it.
 *
 * A check that nothing can break would hide faults in every other test.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/block_manager.h"
#include "core/pool.h"
#include "core/stream_use.h"
#include "tests/core_check.h"
#include "tests/pretend.h"
#include "tests/storage.h"

#define MIB (UINT64_C(1) << 20)

enum { WHY = 128 };

static struct ashlar_manager *good;   /* a state with a bit of everything */
static struct ashlar_manager *broken; /* its copy */

/* Blocks of the good state, by slot. */
static struct {
  int32_t first; /* allocated, first of its segment */
  int32_t hole;  /* free, between two allocated blocks */
  int32_t third; /* allocated, behind the hole */
  int32_t rest;  /* free, last of that segment */
  int32_t whole; /* free, a segment of its own */
  int32_t large; /* allocated, a segment of its own, oversize */
  int32_t other; /* allocated, of the other stream */
} slot;

static int32_t allocated(struct ashlar_pretend *device, uint64_t bytes, int32_t stream)
{
  const struct ashlar_step step = ashlar_pretend_allocate(good, device, bytes, stream);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  return step.slot;
}

static void freed(int32_t block)
{
  assert_int_equal(ashlar_free(good, block, good->generation[block]), ASHLAR_OK);
}

/* Pools: 1 live with a scope, 2 unused again, 3 live with a scope and both marks, 4 freeable with a segment. */
static void make_pools(void)
{
  for (int32_t pool = 1; pool <= 4; pool++) {
    assert_int_equal(ashlar_pool_create(good, 0).pool, pool);
  }
  assert_int_equal(ashlar_scope_open(good, 3, 0, -1), ASHLAR_OK);
  assert_int_equal(ashlar_scope_open(good, 1, 5, 1), ASHLAR_OK);
  assert_int_equal(ashlar_pool_set_use_on_oom(good, 3, 1), ASHLAR_OK);
  assert_int_equal(ashlar_pool_set_no_split(good, 3), ASHLAR_OK);
  ashlar_pool_segment_added(good, 4);
  assert_int_equal(ashlar_pool_release(good, 4), ASHLAR_OK);
  assert_int_equal(ashlar_pool_release(good, 2), ASHLAR_OK);
  assert_int_equal(ashlar_pool_end(good, 2), ASHLAR_OK);
}

static int make_good(void **state)
{
  struct ashlar_pretend device = ashlar_pretend_new(UINT64_MAX);
  struct ashlar_config config = ashlar_default_config();
  int32_t last = -1;
  (void)state;
  good = ashlar_storage_new();
  broken = ashlar_storage_new();
  device.gap = 2 * MIB;
  config.max_split_size = 32 * MIB;
  config.order = ASHLAR_ORDER_SEGMENT;
  assert_int_equal(ashlar_manager_init(good, config), ASHLAR_OK);
  assert_int_equal(ashlar_stream_register(good, 7).status, ASHLAR_OK);
  assert_int_equal(ashlar_stream_register(good, 3).status, ASHLAR_OK);
  slot.first = allocated(&device, 512, 0);
  slot.hole = allocated(&device, 1024, 0);
  slot.third = allocated(&device, 512, 0);
  last = allocated(&device, 512, 0);
  slot.whole = allocated(&device, 40 * MIB, 0);
  slot.large = allocated(&device, 36 * MIB, 0);
  /* in the same bucket of the address map */
  device.next = good->addr[slot.large] + (uint64_t)512 * (uint64_t)ASHLAR_BUCKETS;
  slot.other = allocated(&device, 4 * MIB, 1);
  freed(slot.hole);
  freed(slot.whole);
  freed(last);
  slot.rest = good->next[slot.third];
  (void)ashlar_use_add(good, slot.first, 1);
  (void)ashlar_use_add(good, slot.large, 1);
  ashlar_uses_submit(good, slot.first);
  ashlar_uses_submit(good, slot.large);
  ashlar_use_drop(good, ashlar_use_add(good, slot.other, 0));
  (void)ashlar_use_add(good, slot.third, 0);
  (void)ashlar_use_add(good, slot.third, 1);
  make_pools();
  return 0;
}

static int drop_good(void **state)
{
  (void)state;
  ashlar_storage_delete(good);
  ashlar_storage_delete(broken);
  return 0;
}

/* --- faults: what each does to `m` --- */

static void free_count_negative(struct ashlar_manager *m)
{
  m->free_count = -1;
}

static void free_count_beyond(struct ashlar_manager *m)
{
  m->free_count = m->top + 1;
}

static void order_beyond(struct ashlar_manager *m)
{
  m->order[m->top - 1] = m->top;
}

static void order_twice(struct ashlar_manager *m)
{
  m->order[0] = m->order[1];
}

static void order_exchanged(struct ashlar_manager *m)
{
  const int32_t one = m->order[0];
  m->order[0] = m->order[1];
  m->order[1] = one;
  m->place[m->order[0]] = 0;
  m->place[m->order[1]] = 1;
}

static void key_changed(struct ashlar_manager *m)
{
  m->size[m->order[0]] = UINT64_MAX;
}

static void state_unknown(struct ashlar_manager *m)
{
  m->state[slot.first] = ASHLAR_STATES;
}

static void size_zero(struct ashlar_manager *m)
{
  m->size[slot.large] = 0;
}

static void block_wraps(struct ashlar_manager *m)
{
  m->addr[slot.large] = UINT64_MAX - 512;
}

static void list_beyond(struct ashlar_manager *m)
{
  m->home[slot.large] = ASHLAR_LISTS;
}

static void address_odd(struct ashlar_manager *m)
{
  m->addr[slot.large] += 1;
}

static void size_odd(struct ashlar_manager *m)
{
  m->size[slot.large] -= 256;
}

static void next_elsewhere(struct ashlar_manager *m)
{
  m->next[slot.large] = slot.first;
}

static void next_unused(struct ashlar_manager *m)
{
  m->next[slot.large] = m->spare[0];
}

static void prev_elsewhere(struct ashlar_manager *m)
{
  m->prev[slot.large] = slot.first;
}

static void gap_between(struct ashlar_manager *m)
{
  m->size[slot.first] += 512;
}

static void stream_changes(struct ashlar_manager *m)
{
  m->list[slot.first] += 1;
  m->home[slot.first] += 1;
}

static void listed_elsewhere(struct ashlar_manager *m)
{
  m->list[slot.first] += 1;
}

static void unmapped_listed(struct ashlar_manager *m)
{
  m->state[slot.whole] = ASHLAR_UNMAPPED;
}

static void base_changes(struct ashlar_manager *m)
{
  m->base[slot.rest] += 512;
}

static void base_of_first(struct ashlar_manager *m)
{
  m->base[slot.large] -= 512;
}

static void growable_changes(struct ashlar_manager *m)
{
  m->growable[slot.first] = 1;
}

static void unmapped_ordinary(struct ashlar_manager *m)
{
  m->state[slot.large] = ASHLAR_UNMAPPED;
  m->list[slot.large] += ASHLAR_LISTS;
}

static void age_changes(struct ashlar_manager *m)
{
  m->age[slot.first] += 1;
}

static void segments_overlap(struct ashlar_manager *m)
{
  m->addr[slot.large] = m->addr[slot.whole] + 2 * MIB;
  m->base[slot.large] = m->addr[slot.large];
}

/* Two free neighbours, in the index and all: only the coalescing is missing. */
static void not_coalesced(struct ashlar_manager *m)
{
  m->state[slot.third] = ASHLAR_FREE;
}

static void free_unindexed(struct ashlar_manager *m)
{
  m->state[slot.large] = ASHLAR_FREE;
}

static void indexed_allocated(struct ashlar_manager *m)
{
  m->state[slot.whole] = ASHLAR_ALLOCATED;
}

static void spare_in_use(struct ashlar_manager *m)
{
  m->spare[0] = slot.first;
}

static void spare_count_negative(struct ashlar_manager *m)
{
  m->spare_count = -1;
}

static void spare_lost(struct ashlar_manager *m)
{
  m->spare_count--;
}

static void bytes_allocated_wrong(struct ashlar_manager *m)
{
  m->bytes[ASHLAR_ALLOCATED] += 512;
}

static void bytes_free_wrong(struct ashlar_manager *m)
{
  m->bytes[ASHLAR_FREE] -= 512;
}

static void use_of_no_block(struct ashlar_manager *m)
{
  m->use_block[0] = ASHLAR_SLOTS;
}

static void use_without_serial(struct ashlar_manager *m)
{
  m->use_serial[0] = 0;
}

static void use_spare_lost(struct ashlar_manager *m)
{
  m->use_block[m->use_more[m->first_use[slot.third] - 1]] = -1;
}

static void use_unchained(struct ashlar_manager *m)
{
  m->first_use[slot.first] = 0;
}

static void uses_out_of_order(struct ashlar_manager *m)
{
  m->use_serial[m->first_use[slot.third] - 1] = 1;
}

static void use_twice(struct ashlar_manager *m)
{
  m->use_stream[m->first_use[slot.third] - 1] = 0;
}

static void queue_cut(struct ashlar_manager *m)
{
  m->use_next[m->queue_head[1] - 1] = -1;
}

static void queue_tail_wrong(struct ashlar_manager *m)
{
  m->queue_tail[1] = m->queue_head[1];
}

static void clock_behind(struct ashlar_manager *m)
{
  m->submitted[1] = 1;
}

static void clock_ahead(struct ashlar_manager *m)
{
  m->completed[5] = 1;
}

static void pool_top_beyond(struct ashlar_manager *m)
{
  m->pool_top = ASHLAR_POOL_NUMBERS;
}

static void pool_beyond_top(struct ashlar_manager *m)
{
  m->pool_top = 3;
}

static void pool_state_unknown(struct ashlar_manager *m)
{
  m->pool_state[1] = ASHLAR_POOL_STATES;
}

static void pool_default_created(struct ashlar_manager *m)
{
  m->pool_state[0] = ASHLAR_POOL_LIVE;
}

static void pool_segments_negative(struct ashlar_manager *m)
{
  m->pool_segments[0] = -1;
}

static void pool_segments_beyond(struct ashlar_manager *m)
{
  m->pool_segments[4] = ASHLAR_SLOTS + 1;
}

static void pool_without_users(struct ashlar_manager *m)
{
  m->pool_uses[1] = 0;
}

static void pool_freeable_used(struct ashlar_manager *m)
{
  m->pool_uses[4] = 1;
}

static void pool_freeable_whole(struct ashlar_manager *m)
{
  m->pool_no_split[4] = 1;
}

static void pool_ended_with_segment(struct ashlar_manager *m)
{
  m->pool_state[4] = ASHLAR_POOL_UNUSED;
}

static void pool_ended_lends(struct ashlar_manager *m)
{
  m->pool_use_on_oom[2] = 1;
}

static void pool_ended_routed(struct ashlar_manager *m)
{
  m->scope_serial[2] = 1;
}

static void pool_without_serial(struct ashlar_manager *m)
{
  m->pool_serial[1] = 0;
}

static void pool_serial_beyond(struct ashlar_manager *m)
{
  m->pool_serials = 3;
}

static void pools_created_together(struct ashlar_manager *m)
{
  m->pool_serial[4] = m->pool_serial[1];
}

static void scope_serial_beyond(struct ashlar_manager *m)
{
  m->scope_serials = 1;
}

static void scopes_opened_together(struct ashlar_manager *m)
{
  m->scope_serial[1] = m->scope_serial[3];
}

static void bucket_beyond(struct ashlar_manager *m)
{
  m->bucket[3] = m->top + 1;
}

static void chain_beyond(struct ashlar_manager *m)
{
  m->chain[ASHLAR_SLOTS - 1] = -1;
}

static void chain_cyclic(struct ashlar_manager *m)
{
  m->chain[slot.first] = slot.first + 1;
}

static void mapped_free(struct ashlar_manager *m)
{
  m->bucket[0] = slot.whole + 1;
}

static int32_t bucket_of(const struct ashlar_manager *m, int32_t block)
{
  return (int32_t)(m->addr[block] / 512 % ASHLAR_BUCKETS);
}

static void unmapped(struct ashlar_manager *m)
{
  m->bucket[bucket_of(m, slot.large)] = 0;
}

/* Moves an entry to the bucket of nobody. */
static void mapped_elsewhere(struct ashlar_manager *m)
{
  const int32_t home = bucket_of(m, slot.large);
  m->bucket[home] = m->chain[slot.large];
  m->chain[slot.large] = m->bucket[(home + 7) % ASHLAR_BUCKETS];
  m->bucket[(home + 7) % ASHLAR_BUCKETS] = slot.large + 1;
}

/* The two blocks of a bucket in the wrong order. */
static void chain_descends(struct ashlar_manager *m)
{
  const int32_t home = bucket_of(m, slot.large);
  const int32_t first = m->bucket[home] - 1;
  const int32_t second = m->chain[first] - 1;
  m->bucket[home] = second + 1;
  m->chain[second] = first + 1;
  m->chain[first] = 0;
}

static void stream_count_beyond(struct ashlar_manager *m)
{
  m->stream_count = ASHLAR_STREAMS + 1;
}

static void stream_number_beyond(struct ashlar_manager *m)
{
  m->stream_order[0] = 2;
}

static void stream_keys_equal(struct ashlar_manager *m)
{
  m->stream_key[0] = m->stream_key[1];
}

static void stream_unknown(struct ashlar_manager *m)
{
  m->list[slot.large] += 2;
  m->home[slot.large] += 2;
}

static void setting_division(struct ashlar_manager *m)
{
  m->config.divisions[15] = 6;
}

static void setting_slack(struct ashlar_manager *m)
{
  m->config.oversize_slack = 19 * MIB;
}

static void phase_unknown(struct ashlar_manager *m)
{
  m->request.phase = ASHLAR_PHASE_EMPTY_CACHE + 1;
}

static void request_size_odd(struct ashlar_manager *m)
{
  m->request.phase = ASHLAR_PHASE_ALLOCATE;
  m->request.bytes = 100;
  m->request.size = 100;
  m->request.segment = 2 * MIB;
}

static void request_of_no_segment(struct ashlar_manager *m)
{
  m->request.phase = ASHLAR_PHASE_ALLOCATE_LAST;
  m->request.bytes = 512;
  m->request.size = 1024;
  m->request.segment = 512;
}

static void age_of_the_future(struct ashlar_manager *m)
{
  m->age[slot.large] = m->segments_created;
}

static struct ashlar_counter *counter(struct ashlar_manager *m, size_t kind, size_t column)
{
  return &m->stat[kind * ASHLAR_STAT_COLUMNS + column];
}

static void stat_wrong(struct ashlar_manager *m)
{
  counter(m, ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_SMALL)->current++;
}

static void requested_wrong(struct ashlar_manager *m)
{
  m->requested[slot.other]++;
}

static void oversize_allocation_lost(struct ashlar_manager *m)
{
  m->oversize_allocations.current--;
}

static void oversize_segment_lost(struct ashlar_manager *m)
{
  m->oversize_segments.current--;
}

static void peak_too_low(struct ashlar_manager *m)
{
  counter(m, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL)->peak = 1;
}

static void freed_lost(struct ashlar_manager *m)
{
  counter(m, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_ALL)->freed--;
}

static void freed_lost_oversize(struct ashlar_manager *m)
{
  m->oversize_allocations.freed++;
}

static void columns_differ(struct ashlar_manager *m)
{
  struct ashlar_counter *small = counter(m, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_SMALL);
  small->allocated++;
  small->freed++;
}

static const struct {
  const char *clause;
  void (*fault)(struct ashlar_manager *m);
} FAULTS[] = {
    {"index_counts", free_count_negative},
    {"index_counts", free_count_beyond},
    {"index_bijective", order_beyond},
    {"index_bijective", order_twice},
    {"index_sorted", order_exchanged},
    {"index_sorted", key_changed},
    {"states_valid", state_unknown},
    {"blocks_in_range", size_zero},
    {"blocks_in_range", block_wraps},
    {"blocks_in_range", list_beyond},
    {"blocks_aligned", address_odd},
    {"blocks_aligned", size_odd},
    {"links_next", next_elsewhere},
    {"links_next", next_unused},
    {"links_prev", prev_elsewhere},
    {"blocks_tile", gap_between},
    {"blocks_tile", stream_changes},
    {"blocks_tile", age_changes},
    {"blocks_tile", base_changes},
    {"blocks_tile", growable_changes},
    {"blocks_listed", listed_elsewhere},
    {"blocks_listed", unmapped_listed},
    {"blocks_based", base_of_first},
    {"unmapped_growable", unmapped_ordinary},
    {"blocks_disjoint", segments_overlap},
    {"blocks_coalesced", not_coalesced},
    {"index_is_free", free_unindexed},
    {"index_is_free", indexed_allocated},
    {"spares_unused", spare_in_use},
    {"spares_unused", spare_count_negative},
    {"unused_spare", spare_lost},
    {"bytes_counted", bytes_allocated_wrong},
    {"bytes_counted", bytes_free_wrong},
    {"uses_in_range", use_of_no_block},
    {"uses_in_range", use_without_serial},
    {"uses_spare", use_spare_lost},
    {"use_chains", use_unchained},
    {"use_chains", uses_out_of_order},
    {"use_chains", use_twice},
    {"use_queues", queue_cut},
    {"use_queues", queue_tail_wrong},
    {"use_queues", clock_behind},
    {"use_queues", clock_ahead},
    {"pools_in_range", pool_top_beyond},
    {"pools_in_range", pool_beyond_top},
    {"pools_in_range", pool_state_unknown},
    {"pools_in_range", pool_default_created},
    {"pools_in_range", pool_segments_negative},
    {"pools_in_range", pool_segments_beyond},
    {"pools_counted", pool_without_users},
    {"pools_counted", pool_freeable_used},
    {"pools_counted", pool_freeable_whole},
    {"pools_ended", pool_ended_with_segment},
    {"pools_ended", pool_ended_lends},
    {"pools_ended", pool_ended_routed},
    {"pools_ordered", pool_without_serial},
    {"pools_ordered", pool_serial_beyond},
    {"pools_ordered", pools_created_together},
    {"scopes_ordered", scope_serial_beyond},
    {"scopes_ordered", scopes_opened_together},
    {"map_buckets", bucket_beyond},
    {"map_chains", chain_beyond},
    {"map_members", chain_cyclic},
    {"map_members", mapped_free},
    {"map_members", unmapped},
    {"map_finds", mapped_elsewhere},
    {"map_ascends", chain_descends},
    {"streams_in_range", stream_count_beyond},
    {"streams_in_range", stream_number_beyond},
    {"streams_sorted", stream_keys_equal},
    {"blocks_of_streams", stream_unknown},
    {"settings_valid", setting_division},
    {"settings_valid", setting_slack},
    {"request_valid", phase_unknown},
    {"request_valid", request_size_odd},
    {"request_valid", request_of_no_segment},
    {"ages_valid", age_of_the_future},
    {"stats_current", stat_wrong},
    {"stats_current", requested_wrong},
    {"stats_oversize", oversize_allocation_lost},
    {"stats_oversize", oversize_segment_lost},
    {"stats_totals", peak_too_low},
    {"stats_totals", freed_lost},
    {"stats_totals", freed_lost_oversize},
    {"stats_columns", columns_differ},
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

/* The good state has a free block between two allocated ones, a whole free segment, spare slots. */
static void the_good_state_passes(void **state)
{
  char why[WHY];
  (void)state;
  assert_int_equal(good->state[slot.hole], ASHLAR_FREE);
  assert_int_equal(good->next[slot.hole], slot.third);
  assert_int_equal(good->state[slot.rest], ASHLAR_FREE);
  assert_int_equal(good->next[slot.whole], -1);
  assert_true(good->spare_count > 0);
  assert_true(ashlar_core_check(good, why, sizeof why));
  assert_string_equal(why, "");
}

static void each_fault_breaks_its_clause(void **state)
{
  char why[WHY];
  (void)state;
  for (size_t i = 0; i < FAULT_COUNT; i++) {
    ashlar_storage_copy(broken, good);
    assert_true(ashlar_storage_same(broken, good));
    FAULTS[i].fault(broken);
    assert_false(ashlar_storage_same(broken, good));
    if (ashlar_core_check(broken, why, sizeof why)) {
      fail_msg("fault %zu of %s was not seen", i, FAULTS[i].clause);
    }
    if (strncmp(why, FAULTS[i].clause, strlen(FAULTS[i].clause)) != 0 ||
        why[strlen(FAULTS[i].clause)] != ':') {
      fail_msg("fault %zu of %s was seen as %s", i, FAULTS[i].clause, why);
    }
  }
  print_message("%d faults seen\n", FAULT_COUNT);
}

static void each_clause_has_a_fault(void **state)
{
  size_t clauses = 0;
  (void)state;
  for (const char *name = ashlar_core_clause(0); name != NULL; name = ashlar_core_clause(clauses)) {
    size_t faults = 0;
    for (size_t i = 0; i < FAULT_COUNT; i++) {
      faults += strcmp(FAULTS[i].clause, name) == 0 ? 1 : 0;
    }
    if (faults == 0) {
      fail_msg("no fault for %s", name);
    }
    clauses++;
  }
  assert_true(clauses > 0);
  print_message("%zu clauses\n", clauses);
}

/* A group is looked at only where it is asked for. */
static void parts_are_separate(void **state)
{
  char why[WHY];
  (void)state;
  ashlar_storage_copy(broken, good);
  unmapped(broken);
  assert_true(
      ashlar_core_check_parts(broken, ASHLAR_CORE_WHOLE - ASHLAR_CORE_MAP, why, sizeof why));
  assert_false(ashlar_core_check_parts(broken, ASHLAR_CORE_MAP, why, sizeof why));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_good_state_passes),
      cmocka_unit_test(each_fault_breaks_its_clause),
      cmocka_unit_test(each_clause_has_a_fault),
      cmocka_unit_test(parts_are_separate),
  };
  return cmocka_run_group_tests(tests, make_good, drop_good);
}
