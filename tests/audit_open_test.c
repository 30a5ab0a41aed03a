/* audit_open_test.c - what a recording from the middle leaves open, the order of free lists, the
 * ladder, private pools, growable segments, collections, and what is never agreed to.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/manager.h"
#include "tests/audit_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Audits, checks the counts, and frees; findings: 0 or at least one. */
static void expect(struct ashlar_snapshot *snapshot, enum ashlar_audit_order order, uint64_t agree,
                   uint64_t differ, uint64_t undetermined, enum ashlar_open_reason reason)
{
  struct ashlar_audit audit = audit_of(snapshot, order);
  const struct ashlar_audit_device *device = &audit.devices[0];
  if (differ == 0 && device->finding_count > 0) {
    print_findings(&audit);
  }
  assert_int_equal(device->agree, agree);
  assert_int_equal(device->differ, differ);
  assert_int_equal(device->undetermined, undetermined);
  assert_int_equal(device->undetermined_for[reason], undetermined);
  assert_int_equal(ashlar_audit_exit_status(&audit), differ > 0 ? 1 : 0);
  ashlar_audit_free(&audit);
}

/* Segment A: a block of unknown size (a request of 4 MiB, so 4 to 5 MiB), a gap, and a live block at
   12 MiB: the gap has 7 to 8 MiB. Segment B: 9 MiB free behind a block. Both begin at the end of the
   recording as they are after `add_unknown_end`. */
static void begin_unknown(struct ashlar_snapshot *snapshot)
{
  begin_snapshot(snapshot);
  list_segment(snapshot, LARGE_A, 20 * MIB, 0);
  list_block(snapshot, 12 * MIB, 4 * MIB, ASHLAR_BLOCK_INACTIVE);
  list_block(snapshot, 8 * MIB, 8 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_segment(snapshot, LARGE_B, 20 * MIB, 0);
  list_block(snapshot, 11 * MIB, 11 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 9 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
}

static void add_unknown_end(struct ashlar_snapshot *snapshot)
{
  add_free(snapshot, LARGE_A, 4 * MIB, 0);
}

static void take_and_free(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size)
{
  add_event(snapshot, ASHLAR_ACTION_ALLOC, address, size, 0);
  add_free(snapshot, address, size, 0);
}

/* A decision that hangs on the unknown size is open; once it is known to be small enough for the
   recorded decision, the next one is not. */
static void leaves_open_what_the_interval_leaves_open(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_unknown(&snapshot);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 15 * MIB / 2);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 31 * MIB / 4);
  add_unknown_end(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 1, 0, 1, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
}

/* 8.5 MiB do not fit the gap, 6 MiB do, whatever its size. */
static void decides_what_every_size_decides(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_unknown(&snapshot);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 17 * MIB / 2);
  add_unknown_end(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 1, 0, 0, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
  begin_unknown(&snapshot);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 6 * MIB);
  add_unknown_end(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 0, 1, 0, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
}

/* An allocation behind the block tells its size, also for decisions before it. */
static void learns_a_size_from_a_later_allocation(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_unknown(&snapshot);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 15 * MIB / 2);
  take_and_free(&snapshot, LARGE_A + 5 * MIB, 13 * MIB / 2);
  add_unknown_end(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 2, 0, 0, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
  /* With 4 MiB the gap has 8 MiB and is the best block for 7.5. */
  begin_unknown(&snapshot);
  take_and_free(&snapshot, LARGE_B + 11 * MIB, 15 * MIB / 2);
  take_and_free(&snapshot, LARGE_A + 4 * MIB, 13 * MIB / 2);
  add_unknown_end(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 1, 1, 0, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
}

/* A new segment is only needed if the gap was too small. */
static void leaves_open_whether_a_segment_was_needed(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  list_block(&snapshot, 12 * MIB, 4 * MIB, ASHLAR_BLOCK_INACTIVE);
  list_block(&snapshot, 8 * MIB, 8 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_segment(&snapshot, LARGE_C, 20 * MIB, 0);
  list_block(&snapshot, 20 * MIB, 8 * MIB, ASHLAR_BLOCK_INACTIVE);
  /* Not the first event, which a recording may begin with in the middle of a request. */
  add_event(&snapshot, ASHLAR_ACTION_FREE_REQUESTED, LARGE_A, 4 * MIB, 0);
  add_segment_and_alloc(&snapshot, LARGE_C, 20 * MIB, 15 * MIB / 2, 0);
  add_free(&snapshot, LARGE_C, 15 * MIB / 2, 0);
  add_event(&snapshot, ASHLAR_ACTION_FREE_COMPLETED, LARGE_A, 4 * MIB, 0);
  snapshot.blocks[2].requested_size = 15 * MIB / 2;
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 0, 0, 1, ASHLAR_OPEN_SIZE);
  ashlar_snapshot_free(&snapshot);
}

/* The recording may begin between a new segment and its block: then any whole segment may be new. */
static void leaves_a_cut_request_open(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  list_block(&snapshot, 20 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
  list_block(&snapshot, 20 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  take_and_free(&snapshot, LARGE_B, 5 * MIB);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 0, 0, 1, ASHLAR_OPEN_CUT);
  take_and_free(&snapshot, LARGE_B, 5 * MIB);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 0, 1, 1, ASHLAR_OPEN_CUT);
  ashlar_snapshot_free(&snapshot);
}

/* --- free-list order --- */

/* Two segments of one size, the older one at the higher address, both free: which one is taken? */
static void begin_two_segments(struct ashlar_snapshot *snapshot, bool takes_older)
{
  const uint64_t taken = takes_older ? LARGE_B : LARGE_A;
  begin_snapshot(snapshot);
  add_segment_and_alloc(snapshot, LARGE_B, 20 * MIB, 9 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_B + 9 * MIB, 9 * MIB, 0);
  add_segment_and_alloc(snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
  add_free(snapshot, LARGE_A, 9 * MIB, 0);
  add_free(snapshot, LARGE_B, 9 * MIB, 0);
  add_free(snapshot, LARGE_B + 9 * MIB, 9 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, taken, 5 * MIB, 0);
  list_segment(snapshot, LARGE_A, 20 * MIB, 0);
  if (!takes_older) {
    list_block(snapshot, 5 * MIB, 5 * MIB, ASHLAR_BLOCK_ALLOCATED);
  }
  list_block(snapshot, takes_older ? 20 * MIB : 15 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(snapshot, LARGE_B, 20 * MIB, 0);
  if (takes_older) {
    list_block(snapshot, 5 * MIB, 5 * MIB, ASHLAR_BLOCK_ALLOCATED);
  }
  list_block(snapshot, takes_older ? 15 * MIB : 20 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
}

static void finds_the_order(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_two_segments(&snapshot, true);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 3, 1, 0, ASHLAR_OPEN_NONE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_SEGMENT, 4, 0, 0, ASHLAR_OPEN_NONE);
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_int_equal(audit.order, ASHLAR_AUDIT_ORDER_SEGMENT);
  assert_true(audit.order_was_chosen);
  assert_int_equal(audit.devices[0].agree, 4);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
  begin_two_segments(&snapshot, false);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 4, 0, 0, ASHLAR_OPEN_NONE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_SEGMENT, 3, 1, 0, ASHLAR_OPEN_NONE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 4, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
}

/* Of segments from before the recording nobody knows which is older, until a decision tells. */
static void learns_ages_from_decisions(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  list_block(&snapshot, 20 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
  list_block(&snapshot, 20 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(&snapshot, SMALL_A, 2 * MIB, 0);
  list_block(&snapshot, 2 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  /* Not with the first event, before which a new segment may have been cut off. */
  add_free(&snapshot, SMALL_A, 512, 0);
  take_and_free(&snapshot, LARGE_B, 5 * MIB);
  take_and_free(&snapshot, LARGE_B, 6 * MIB);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 0, 2, 0, ASHLAR_OPEN_NONE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_SEGMENT, 1, 0, 1, ASHLAR_OPEN_AGE);
  take_and_free(&snapshot, LARGE_A, 7 * MIB);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_SEGMENT, 1, 1, 1, ASHLAR_OPEN_AGE);
  ashlar_snapshot_free(&snapshot);
}

/* --- the ladder with a split limit --- */

#define OVERSIZE_1 UINT64_C(0x500000000) /* 36 MiB */
#define OVERSIZE_2 UINT64_C(0x600000000) /* 40 MiB */
#define OVERSIZE_3 UINT64_C(0x700000000) /* 70 MiB, for the request that needs the others' memory */

static void begin_oversize(struct ashlar_snapshot *snapshot)
{
  begin_snapshot(snapshot);
  snapshot->settings.max_split_size = 32 * (int64_t)MIB;
  add_segment_and_alloc(snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
  add_segment_and_alloc(snapshot, OVERSIZE_1, 36 * MIB, 36 * MIB, 0);
  add_segment_and_alloc(snapshot, OVERSIZE_2, 40 * MIB, 40 * MIB, 0);
  add_free(snapshot, OVERSIZE_1, 36 * MIB, 0);
  add_free(snapshot, OVERSIZE_2, 40 * MIB, 0);
  add_free(snapshot, LARGE_A, 9 * MIB, 0);
}

static void end_oversize(struct ashlar_snapshot *snapshot, bool keeps_small)
{
  add_segment_and_alloc(snapshot, OVERSIZE_3, 70 * MIB, 70 * MIB, 0);
  if (keeps_small) {
    list_segment(snapshot, LARGE_A, 20 * MIB, 0);
    list_block(snapshot, 20 * MIB, 9 * MIB, ASHLAR_BLOCK_INACTIVE);
  }
  list_segment(snapshot, OVERSIZE_3, 70 * MIB, 0);
  list_block(snapshot, 70 * MIB, 70 * MIB, ASHLAR_BLOCK_ALLOCATED);
}

/* Oversize blocks go from the greatest down until there is enough; the rest of the cache stays. */
static void follows_the_oversize_ladder(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  end_oversize(&snapshot, true);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 4, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
  /* Refused once more: everything goes. */
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_A, 20 * MIB, 0);
  end_oversize(&snapshot, false);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 4, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
  /* A call that empties the cache goes in free-list order. */
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_A, 20 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  end_oversize(&snapshot, false);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 4, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
}

static void expect_ladder_finding(struct ashlar_snapshot *snapshot)
{
  struct ashlar_audit audit = audit_of(snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_true(count_rule(&audit, ASHLAR_RULE_LADDER) > 0);
  assert_int_equal(ashlar_audit_exit_status(&audit), 1);
  ashlar_audit_free(&audit);
}

static void finds_a_wrong_oversize_ladder(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  end_oversize(&snapshot, true);
  expect_ladder_finding(&snapshot);
  ashlar_snapshot_free(&snapshot);
  /* One is not enough. */
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  end_oversize(&snapshot, true);
  list_segment(&snapshot, OVERSIZE_1, 36 * MIB, 0);
  list_block(&snapshot, 36 * MIB, 36 * MIB, ASHLAR_BLOCK_INACTIVE);
  expect_ladder_finding(&snapshot);
  ashlar_snapshot_free(&snapshot);
}

/* Out of memory after the whole ladder is as it should be. */
static void accepts_out_of_memory(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_oversize(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_A, 20 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_OOM, 12345, 70 * MIB, 0);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 3, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
}

/* Blocks for which streams were waited come back during the ladder, behind the search. */
static void allows_blocks_to_come_back_late(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  add_segment_and_alloc(&snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_ALLOC, LARGE_A + 9 * MIB, 9 * MIB, 0);
  add_segment_and_alloc(&snapshot, LARGE_C, 32 * MIB, 32 * MIB, 0);
  add_free(&snapshot, LARGE_C, 32 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_FREE_REQUESTED, LARGE_A, 9 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_ALLOC, LARGE_C, 31 * MIB + 1, 0);
  add_free(&snapshot, LARGE_C, 31 * MIB + 1, 0);
  add_event(&snapshot, ASHLAR_ACTION_FREE_COMPLETED, LARGE_A, 9 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_C, 32 * MIB, 0);
  add_segment_and_alloc(&snapshot, LARGE_B, 20 * MIB, 8 * MIB, 0);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_INACTIVE);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 2 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
  list_block(&snapshot, 8 * MIB, 8 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 12 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS, 4, 0, 1, ASHLAR_OPEN_EVENTS);
  ashlar_snapshot_free(&snapshot);
}

/* --- private pools --- */

static void list_pool_of_one_large_block(struct ashlar_snapshot *snapshot, uint16_t pool)
{
  list_segment(snapshot, LARGE_A, 20 * MIB, 0);
  snapshot->segments[snapshot->segment_count - 1].pool = pool;
  list_block(snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(snapshot, LARGE_B, 20 * MIB, 0);
  list_block(snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
}

/* The free 11 MiB of one pool do not serve the other. */
static void keeps_private_pools_apart(void **state)
{
  struct ashlar_snapshot snapshot;
  uint16_t pool = 0;
  (void)state;
  begin_snapshot(&snapshot);
  assert_true(ashlar_snapshot_pool(&snapshot, 0, 1, &pool));
  add_segment_and_alloc(&snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
  add_segment_and_alloc(&snapshot, LARGE_B, 20 * MIB, 9 * MIB, 0);
  snapshot.traces[0].events[0].pool = pool;
  snapshot.traces[0].events[1].pool = pool;
  list_pool_of_one_large_block(&snapshot, pool);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 2, 0, 0, ASHLAR_OPEN_POOL);
  /* Older recordings do not write the pool with the events; the list tells it. */
  for (int i = 0; i < 4; i++) {
    snapshot.traces[0].events[i].pool = 0;
    snapshot.traces[0].events[i].flags &= (uint8_t)~ASHLAR_EVENT_HAS_POOL;
  }
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 1, 0, 1, ASHLAR_OPEN_POOL);
  /* A free that nothing explains is found there as well. */
  add_free(&snapshot, LARGE_A, 9 * MIB, 0);
  add_free(&snapshot, LARGE_A, 9 * MIB, 0);
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_true(count_rule(&audit, ASHLAR_RULE_FREE) > 0);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

/* A pool that is told not to split keeps 20 MiB for 9; one that does had 11 MiB left for the second request. */
static void tells_pools_that_do_not_split(void **state)
{
  struct ashlar_snapshot snapshot;
  uint16_t pool = 0;
  (void)state;
  for (int does_split = 0; does_split < 2; does_split++) {
    begin_snapshot(&snapshot);
    assert_true(ashlar_snapshot_pool(&snapshot, 0, 1, &pool));
    add_segment_and_alloc(&snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
    add_segment_and_alloc(&snapshot, LARGE_B, 20 * MIB, 9 * MIB, 0);
    for (int i = 0; i < 4; i++) {
      snapshot.traces[0].events[i].pool = pool;
    }
    if (does_split != 0) {
      list_pool_of_one_large_block(&snapshot, pool);
      snapshot.segments[1].pool = pool;
    } else {
      list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
      snapshot.segments[0].pool = pool;
      list_block(&snapshot, 20 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
      list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
      snapshot.segments[1].pool = pool;
      list_block(&snapshot, 20 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
    }
    expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, does_split != 0 ? 1 : 2, does_split != 0 ? 1 : 0, 0,
           ASHLAR_OPEN_POOL);
    ashlar_snapshot_free(&snapshot);
  }
}

/* --- growable segments --- */

/* One page is mapped for 9 MiB, and a second one for 15: the 11 MiB left of the first are part of that block. */
static void begin_growing(struct ashlar_snapshot *snapshot)
{
  begin_snapshot(snapshot);
  snapshot->settings.is_present = true;
  snapshot->settings.expandable_segments = true;
  add_event(snapshot, ASHLAR_ACTION_SEGMENT_MAP, LARGE_A, 20 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A, 9 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_SEGMENT_MAP, LARGE_A + 20 * MIB, 20 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A + 9 * MIB, 15 * MIB, 0);
}

static void list_growing(struct ashlar_snapshot *snapshot)
{
  list_segment(snapshot, LARGE_A, 40 * MIB, 0);
  snapshot->segments[0].is_expandable = true;
  snapshot->segments[0].type = ASHLAR_SEGMENT_LARGE;
  list_block(snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 15 * MIB, 15 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 16 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
}

static void follows_growable_segments(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_growing(&snapshot);
  list_growing(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 2, 0, 0, ASHLAR_OPEN_GROWABLE);
  ashlar_snapshot_free(&snapshot);
}

/* The second page is in the middle of a free block of two: 5 MiB that lie before it, and 1 MiB of its own page, stay. */
static void follows_unmaps(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_growing(&snapshot);
  add_free(&snapshot, LARGE_A + 9 * MIB, 15 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_UNMAP, LARGE_A + 20 * MIB, 20 * MIB, 0);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  snapshot.segments[0].is_expandable = true;
  snapshot.segments[0].type = ASHLAR_SEGMENT_LARGE;
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 11 * MIB, 15 * MIB, ASHLAR_BLOCK_INACTIVE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 2, 0, 0, ASHLAR_OPEN_GROWABLE);
  ashlar_snapshot_free(&snapshot);
}

static void expect_rule(struct ashlar_snapshot *snapshot, enum ashlar_rule rule)
{
  struct ashlar_audit audit = audit_of(snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  if (count_rule(&audit, rule) == 0) {
    print_findings(&audit);
  }
  assert_true(count_rule(&audit, rule) > 0);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(snapshot);
}

static void finds_wrong_maps(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  /* Two pages where one is enough. */
  begin_growing(&snapshot);
  snapshot.traces[0].events[2].size = 40 * MIB;
  list_segment(&snapshot, LARGE_A, 60 * MIB, 0);
  snapshot.segments[0].is_expandable = true;
  snapshot.segments[0].type = ASHLAR_SEGMENT_LARGE;
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 15 * MIB, 15 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 36 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect_rule(&snapshot, ASHLAR_RULE_SIZE);
  /* A page for 10 MiB, although 11 are free. */
  begin_growing(&snapshot);
  snapshot.traces[0].events[3].size = 10 * MIB;
  list_segment(&snapshot, LARGE_A, 40 * MIB, 0);
  snapshot.segments[0].is_expandable = true;
  snapshot.segments[0].type = ASHLAR_SEGMENT_LARGE;
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 10 * MIB, 10 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 21 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect_rule(&snapshot, ASHLAR_RULE_BESTFIT);
  /* The same page twice. */
  begin_growing(&snapshot);
  insert_event(&snapshot, 2, ASHLAR_ACTION_SEGMENT_MAP, LARGE_A + 20 * MIB, 20 * MIB, 0);
  list_growing(&snapshot);
  expect_rule(&snapshot, ASHLAR_RULE_TILE);
  /* In use, and unmapped. */
  begin_growing(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_UNMAP, LARGE_A + 20 * MIB, 20 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_MAP, LARGE_A + 20 * MIB, 20 * MIB, 0);
  list_growing(&snapshot);
  expect_rule(&snapshot, ASHLAR_RULE_LADDER);
}

/* The rest of a program's ranges is not known where it says how long they are, or where it switches. */
static void leaves_other_growable_segments_open(void **state)
{
  static const char CONF[] = "expandable_segments:True,expandable_segments_reserve:2G";
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_growing(&snapshot);
  list_growing(&snapshot);
  assert_true(ashlar_snapshot_set_conf(&snapshot, CONF, sizeof CONF - 1));
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 0, 0, 2, ASHLAR_OPEN_GROWABLE);
  ashlar_snapshot_free(&snapshot);
  begin_growing(&snapshot);
  list_growing(&snapshot);
  add_segment_and_alloc(&snapshot, LARGE_B, 20 * MIB, 9 * MIB, 0);
  list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 0, 0, 3, ASHLAR_OPEN_GROWABLE);
  ashlar_snapshot_free(&snapshot);
}

/* --- collection by age --- */

/* Three free segments. The least was in use last: for a request of 70 MiB only the two others are as old as the mean. */
static void begin_collection(struct ashlar_snapshot *snapshot)
{
  begin_oversize(snapshot);
  snapshot->settings.garbage_collection_threshold = 0.8;
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A, 9 * MIB, 0);
  add_free(snapshot, LARGE_A, 9 * MIB, 0);
}

static void end_collection(struct ashlar_snapshot *snapshot)
{
  add_segment_and_alloc(snapshot, OVERSIZE_3, 70 * MIB, 70 * MIB, 0);
  list_segment(snapshot, LARGE_A, 20 * MIB, 0);
  list_block(snapshot, 20 * MIB, 9 * MIB, ASHLAR_BLOCK_INACTIVE);
  list_segment(snapshot, OVERSIZE_3, 70 * MIB, 0);
  list_block(snapshot, 70 * MIB, 70 * MIB, ASHLAR_BLOCK_ALLOCATED);
}

static void judges_collections(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_collection(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_2, 40 * MIB, 0);
  end_collection(&snapshot);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 5, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
}

/* One of them is passed over, and is listed still. */
static void finds_a_wrong_collection(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_collection(&snapshot);
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, OVERSIZE_1, 36 * MIB, 0);
  end_collection(&snapshot);
  list_segment(&snapshot, OVERSIZE_2, 40 * MIB, 0);
  list_block(&snapshot, 40 * MIB, 40 * MIB, ASHLAR_BLOCK_INACTIVE);
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_true(count_rule(&audit, ASHLAR_RULE_LADDER) > 0);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

static void leaves_an_unlocked_search_open(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  snapshot.settings.release_lock_on_cudamalloc = true;
  add_segment_and_alloc(&snapshot, LARGE_A, 20 * MIB, 9 * MIB, 0);
  add_segment_and_alloc(&snapshot, LARGE_B, 20 * MIB, 9 * MIB, 0);
  list_segment(&snapshot, LARGE_A, 20 * MIB, 0);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  list_segment(&snapshot, LARGE_B, 20 * MIB, 0);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 1, 0, 1, ASHLAR_OPEN_LOCK);
  snapshot.settings.release_lock_on_cudamalloc = false;
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 1, 1, 0, ASHLAR_OPEN_LOCK);
  ashlar_snapshot_free(&snapshot);
}

static void leaves_impossible_settings_open(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  snapshot.settings.max_split_size = 1000;
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 0, 0, 9, ASHLAR_OPEN_SETTINGS);
  snapshot.settings.max_split_size = -1;
  snapshot.settings.divisions[3] = 3;
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 0, 0, 9, ASHLAR_OPEN_SETTINGS);
  ashlar_snapshot_free(&snapshot);
}

static void leaves_more_streams_than_fit_open(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  for (uint64_t i = 0; i <= ASHLAR_STREAM_DEFERRED; i++) {
    add_segment_and_alloc(&snapshot, LARGE_A + i * 20 * MIB, 20 * MIB, 9 * MIB, i);
    list_segment(&snapshot, LARGE_A + i * 20 * MIB, 20 * MIB, i);
    list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
    list_block(&snapshot, 11 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  }
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, ASHLAR_STREAM_DEFERRED, 0, 1, ASHLAR_OPEN_STREAMS);
  ashlar_snapshot_free(&snapshot);
}

/* Sizes of the settings string, with blanks as users write them. */
static void reads_sizes_from_the_settings_string(void **state)
{
  static const char CONF[] = "garbage: x, large_segment_size_mb : 32,max_non_split_rounding_mb:64";
  struct ashlar_snapshot snapshot;
  (void)state;
  begin_snapshot(&snapshot);
  add_segment_and_alloc(&snapshot, LARGE_A, 32 * MIB, 9 * MIB, 0);
  list_segment(&snapshot, LARGE_A, 32 * MIB, 0);
  list_block(&snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(&snapshot, 23 * MIB, 0, ASHLAR_BLOCK_INACTIVE);
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 0, 1, 0, ASHLAR_OPEN_NONE);
  assert_true(ashlar_snapshot_set_conf(&snapshot, CONF, sizeof CONF - 1));
  expect(&snapshot, ASHLAR_AUDIT_ORDER_AUTO, 1, 0, 0, ASHLAR_OPEN_NONE);
  ashlar_snapshot_free(&snapshot);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaves_open_what_the_interval_leaves_open),
      cmocka_unit_test(decides_what_every_size_decides),
      cmocka_unit_test(learns_a_size_from_a_later_allocation),
      cmocka_unit_test(leaves_open_whether_a_segment_was_needed),
      cmocka_unit_test(leaves_a_cut_request_open),
      cmocka_unit_test(finds_the_order),
      cmocka_unit_test(learns_ages_from_decisions),
      cmocka_unit_test(follows_the_oversize_ladder),
      cmocka_unit_test(finds_a_wrong_oversize_ladder),
      cmocka_unit_test(accepts_out_of_memory),
      cmocka_unit_test(allows_blocks_to_come_back_late),
      cmocka_unit_test(keeps_private_pools_apart),
      cmocka_unit_test(tells_pools_that_do_not_split),
      cmocka_unit_test(follows_growable_segments),
      cmocka_unit_test(follows_unmaps),
      cmocka_unit_test(finds_wrong_maps),
      cmocka_unit_test(leaves_other_growable_segments_open),
      cmocka_unit_test(judges_collections),
      cmocka_unit_test(finds_a_wrong_collection),
      cmocka_unit_test(leaves_an_unlocked_search_open),
      cmocka_unit_test(leaves_impossible_settings_open),
      cmocka_unit_test(leaves_more_streams_than_fit_open),
      cmocka_unit_test(reads_sizes_from_the_settings_string),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
