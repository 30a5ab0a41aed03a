/* audit_faults_test.c - one good recording, and what is found when one thing in it is wrong.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/audit_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct ashlar_event *event_at(struct ashlar_snapshot *snapshot, enum good_event event)
{
  return &snapshot->traces[0].events[event];
}

/* --- faults of the list --- */

static void overlap_blocks(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[1].address -= 512;
}

static void leave_gap(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[1].address += 512;
  snapshot->blocks[1].size -= 512;
}

static void leave_gap_at_end(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[3].size -= 512;
}

static void split_free_block(struct ashlar_snapshot *snapshot)
{
  /* The last segment's free block is listed in two pieces. */
  snapshot->blocks[6].size -= MIB;
  list_block(snapshot, MIB, 0, ASHLAR_BLOCK_INACTIVE);
}

static void spoil_total(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[0].total_size += 2 * MIB;
}

static void spoil_allocated(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[0].allocated_size += 512;
}

static void spoil_active(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[1].active_size -= 512;
}

static void spoil_requested(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[1].requested_size++;
}

static void unround_block(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[4].size -= 24;
  snapshot->blocks[5].address -= 24;
  snapshot->blocks[5].size += 24;
  fix_sums(snapshot, 1);
}

static void shrink_block(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[1].requested_size = 2 * MIB + 1;
  fix_sums(snapshot, 0);
}

static void keep_block_whole(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[2].size += 5 * MIB;
  snapshot->blocks[3].address += 5 * MIB;
  snapshot->blocks[3].size -= 5 * MIB;
  fix_sums(snapshot, 0);
}

static void resize_segment(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[1].total_size += 2 * MIB;
  snapshot->blocks[6].size += 2 * MIB;
}

static void swap_pool(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[1].type = ASHLAR_SEGMENT_LARGE;
}

static void put_large_request_into_small_pool(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[4].size = MIB + 512;
  snapshot->blocks[4].requested_size = MIB + 1;
  snapshot->blocks[5].address = SMALL_A + MIB + 512;
  snapshot->blocks[6].address = SMALL_A + MIB + KIB;
  snapshot->blocks[6].size = MIB - KIB;
  fix_sums(snapshot, 1);
}

static void overlap_segments(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[1].address = LARGE_A + 20 * MIB - KIB;
  snapshot->blocks[4].address = snapshot->segments[1].address;
  snapshot->blocks[5].address = snapshot->blocks[4].address + snapshot->blocks[4].size;
  snapshot->blocks[6].address = snapshot->blocks[5].address + snapshot->blocks[5].size;
}

static void list_wrong_stream(struct ashlar_snapshot *snapshot)
{
  snapshot->segments[0].stream = stream_index(snapshot, OTHER_STREAM);
}

static void list_as_pending(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[1].state = ASHLAR_BLOCK_PENDING_FREE;
  fix_sums(snapshot, 0);
}

static void list_as_free(struct ashlar_snapshot *snapshot)
{
  snapshot->blocks[1].state = ASHLAR_BLOCK_INACTIVE;
  fix_sums(snapshot, 0);
}

static void hide_segment(struct ashlar_snapshot *snapshot)
{
  snapshot->segment_count = 1;
}

/* --- faults of the events --- */

static void move_alloc(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = LARGE_A + 9 * MIB;
}

static void move_alloc_and_frees(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_SMALL_2)->address += 512;
  event_at(snapshot, GOOD_REQUESTED_SMALL_2)->address += 512;
}

static void move_alloc_into_block(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = LARGE_A + 3 * MIB;
}

static void move_alloc_across_end(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = LARGE_A + 19 * MIB;
}

static void move_alloc_away(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = UINT64_C(0x900000000);
}

static void move_alloc_to_other_pool(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = SMALL_A + 4 * KIB;
}

static void move_alloc_to_other_stream(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_SPLIT)->stream = stream_index(snapshot, OTHER_STREAM);
}

static void enlarge_request(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_SPLIT)->size = 30 * MIB;
}

static void ask_too_much(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_ALLOC_SPLIT)->size = (uint64_t)1 << 61;
}

static void skip_reuse(struct ashlar_snapshot *snapshot)
{
  /* A new segment although the hole of A fits. */
  event_at(snapshot, GOOD_ALLOC_REUSE)->address = UINT64_C(0x900000000);
  insert_event(snapshot, GOOD_ALLOC_REUSE, ASHLAR_ACTION_SEGMENT_ALLOC, UINT64_C(0x900000000),
               20 * MIB, 0);
}

static void free_unknown(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_REQUESTED_C)->address = UINT64_C(0x900000000);
  event_at(snapshot, GOOD_COMPLETED_C)->address = UINT64_C(0x900000000);
}

static void free_inside(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_SEGMENT_OTHER, ASHLAR_ACTION_FREE_COMPLETED, LARGE_A + 4 * MIB, MIB,
               0);
}

static void free_twice(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_SEGMENT_SMALL, ASHLAR_ACTION_FREE_COMPLETED, LARGE_A, 3 * MIB, 0);
}

static void request_free_twice(struct ashlar_snapshot *snapshot)
{
  add_event(snapshot, ASHLAR_ACTION_FREE_REQUESTED, SMALL_A + KIB, 512, 0);
}

static void free_other_size(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_COMPLETED_C)->size += 512;
}

static void free_on_other_stream(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_COMPLETED_C)->stream = stream_index(snapshot, OTHER_STREAM);
}

static void lose_free(struct ashlar_snapshot *snapshot)
{
  remove_event(snapshot, GOOD_COMPLETED_A);
  remove_event(snapshot, GOOD_REQUESTED_A);
}

static void lose_alloc(struct ashlar_snapshot *snapshot)
{
  remove_event(snapshot, GOOD_ALLOC_C);
}

static void release_in_use(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_SEGMENT_OTHER, ASHLAR_ACTION_SEGMENT_FREE, LARGE_A, 20 * MIB, 0);
}

static void release_nothing(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_RELEASE_EXACT, ASHLAR_ACTION_SEGMENT_FREE, LARGE_A + 512, MIB, 0);
}

static void release_out_of_order(struct ashlar_snapshot *snapshot)
{
  const struct ashlar_event first = *event_at(snapshot, GOOD_RELEASE_EXACT);
  *event_at(snapshot, GOOD_RELEASE_EXACT) = *event_at(snapshot, GOOD_RELEASE_OTHER);
  *event_at(snapshot, GOOD_RELEASE_OTHER) = first;
}

static void release_too_little(struct ashlar_snapshot *snapshot)
{
  remove_event(snapshot, GOOD_RELEASE_OTHER);
}

static void release_part(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_RELEASE_EXACT)->size -= 2 * MIB;
}

static void segment_of_other_size(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_SEGMENT_EXACT)->size += 2 * MIB;
}

static void segment_unrounded(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_SEGMENT_EXACT)->size -= 100;
  event_at(snapshot, GOOD_RELEASE_EXACT)->size -= 100;
}

static void segment_over_another(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_SEGMENT_EXACT)->address = LARGE_A + 10 * MIB;
}

static void segment_on_other_stream(struct ashlar_snapshot *snapshot)
{
  event_at(snapshot, GOOD_SEGMENT_EXACT)->stream = stream_index(snapshot, OTHER_STREAM);
}

static void segment_for_nothing(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_REQUESTED_EXACT, ASHLAR_ACTION_SEGMENT_ALLOC, UINT64_C(0x900000000),
               20 * MIB, 0);
}

static void out_of_memory_needlessly(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_SEGMENT_OTHER, ASHLAR_ACTION_OOM, 0, 4 * MIB, 0);
}

static void out_of_memory_with_cache(struct ashlar_snapshot *snapshot)
{
  insert_event(snapshot, GOOD_RELEASE_EXACT, ASHLAR_ACTION_OOM, 0, 64 * MIB, 0);
}

static void private_pool_in_default_segment(struct ashlar_snapshot *snapshot)
{
  uint16_t pool = 0;
  assert_true(ashlar_snapshot_pool(snapshot, 0, 1, &pool));
  event_at(snapshot, GOOD_ALLOC_SPLIT)->pool = pool;
}

struct fault {
  const char *name;
  void (*make)(struct ashlar_snapshot *snapshot);
  enum ashlar_rule rule;
};

static const struct fault FAULTS[] = {
    {"two blocks overlap", overlap_blocks, ASHLAR_RULE_DISJOINT},
    {"a gap between blocks", leave_gap, ASHLAR_RULE_TILE},
    {"a gap before the end of a segment", leave_gap_at_end, ASHLAR_RULE_TILE},
    {"adjacent free blocks", split_free_block, ASHLAR_RULE_COALESCE},
    {"wrong total_size", spoil_total, ASHLAR_RULE_ACCOUNT},
    {"wrong allocated_size", spoil_allocated, ASHLAR_RULE_ACCOUNT},
    {"wrong active_size", spoil_active, ASHLAR_RULE_ACCOUNT},
    {"wrong requested_size", spoil_requested, ASHLAR_RULE_ACCOUNT},
    {"a block size not rounded", unround_block, ASHLAR_RULE_SIZE},
    {"a block smaller than its request", shrink_block, ASHLAR_RULE_SIZE},
    {"a block that was not split", keep_block_whole, ASHLAR_RULE_SIZE},
    {"a segment of an impossible size", resize_segment, ASHLAR_RULE_SIZE},
    {"a segment in the wrong pool", swap_pool, ASHLAR_RULE_POOL},
    {"a request in the wrong pool", put_large_request_into_small_pool, ASHLAR_RULE_POOL},
    {"two segments overlap", overlap_segments, ASHLAR_RULE_DISJOINT},
    {"a segment listed under another stream", list_wrong_stream, ASHLAR_RULE_STREAM},
    {"a live block listed as pending", list_as_pending, ASHLAR_RULE_ACCOUNT},
    {"a live block listed as free", list_as_free, ASHLAR_RULE_ACCOUNT},
    {"a segment not listed", hide_segment, ASHLAR_RULE_ACCOUNT},
    {"an alloc moved to a block that is not the best", move_alloc, ASHLAR_RULE_BESTFIT},
    {"an alloc and its free moved", move_alloc_and_frees, ASHLAR_RULE_BESTFIT},
    {"an alloc over a live block", move_alloc_into_block, ASHLAR_RULE_DISJOINT},
    {"an alloc across the end of its segment", move_alloc_across_end, ASHLAR_RULE_DISJOINT},
    {"an alloc across the end, its room", move_alloc_across_end, ASHLAR_RULE_SIZE},
    {"an alloc in no segment", move_alloc_away, ASHLAR_RULE_DISJOINT},
    {"an alloc in the other pool", move_alloc_to_other_pool, ASHLAR_RULE_POOL},
    {"an alloc of another stream", move_alloc_to_other_stream, ASHLAR_RULE_STREAM},
    {"an alloc larger than its block", enlarge_request, ASHLAR_RULE_SIZE},
    {"an alloc above every limit", ask_too_much, ASHLAR_RULE_SIZE},
    {"a new segment although a block fits", skip_reuse, ASHLAR_RULE_BESTFIT},
    {"a free of an unknown address", free_unknown, ASHLAR_RULE_FREE},
    {"a free inside a block", free_inside, ASHLAR_RULE_FREE},
    {"a double free", free_twice, ASHLAR_RULE_FREE},
    {"a free requested twice", request_free_twice, ASHLAR_RULE_FREE},
    {"a free of another size", free_other_size, ASHLAR_RULE_FREE},
    {"a free on another stream", free_on_other_stream, ASHLAR_RULE_STREAM},
    {"a lost free", lose_free, ASHLAR_RULE_DISJOINT},
    {"a lost alloc", lose_alloc, ASHLAR_RULE_FREE},
    {"a segment released while in use", release_in_use, ASHLAR_RULE_LADDER},
    {"a release where no segment starts", release_nothing, ASHLAR_RULE_LADDER},
    {"releases out of order", release_out_of_order, ASHLAR_RULE_LADDER},
    {"a release that is missing", release_too_little, ASHLAR_RULE_LADDER},
    {"a release of another size", release_part, ASHLAR_RULE_SIZE},
    {"a segment larger than asked for", segment_of_other_size, ASHLAR_RULE_SIZE},
    {"a segment size not rounded", segment_unrounded, ASHLAR_RULE_SIZE},
    {"a new segment over another one", segment_over_another, ASHLAR_RULE_DISJOINT},
    {"a new segment on another stream", segment_on_other_stream, ASHLAR_RULE_STREAM},
    {"a new segment for no request", segment_for_nothing, ASHLAR_RULE_LADDER},
    {"out of memory although a block fits", out_of_memory_needlessly, ASHLAR_RULE_OOM},
    {"out of memory before the cache is released", out_of_memory_with_cache, ASHLAR_RULE_OOM},
    {"a private pool's block in a default segment", private_pool_in_default_segment,
     ASHLAR_RULE_POOL},
};

enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };

static void finds_nothing_in_the_good_recording(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  print_findings(&audit);
  assert_int_equal(audit.device_count, 1);
  assert_int_equal(audit.devices[0].finding_count, 0);
  assert_int_equal(audit.devices[0].allocations, 9);
  assert_int_equal(audit.devices[0].agree, 9);
  assert_int_equal(audit.devices[0].releases, 2);
  assert_int_equal(audit.devices[0].live_before, 0);
  assert_false(audit.devices[0].has_difference);
  assert_int_equal(audit.order, ASHLAR_AUDIT_ORDER_ADDRESS);
  assert_int_equal(ashlar_audit_exit_status(&audit), 0);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

static void finds_each_fault(void **state)
{
  unsigned wrong = 0;
  (void)state;
  for (unsigned i = 0; i < FAULT_COUNT; i++) {
    struct ashlar_snapshot snapshot;
    good_recording(&snapshot);
    FAULTS[i].make(&snapshot);
    struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
    if (ashlar_audit_exit_status(&audit) != 1 || count_rule(&audit, FAULTS[i].rule) == 0) {
      print_message("%s: no %s\n", FAULTS[i].name, ashlar_rule_name(FAULTS[i].rule));
      print_findings(&audit);
      wrong++;
    }
    ashlar_audit_free(&audit);
    ashlar_snapshot_free(&snapshot);
  }
  print_message("%d kinds of faults\n", (int)FAULT_COUNT);
  assert_int_equal(wrong, 0);
}

/* The events of a wrapped ring: the first ones are gone. */
static void finds_nothing_in_any_rest_of_the_recording(void **state)
{
  (void)state;
  for (uint64_t gone = 1; gone < GOOD_EVENTS; gone++) {
    struct ashlar_snapshot snapshot;
    good_recording(&snapshot);
    for (uint64_t i = 0; i < gone; i++) {
      remove_event(&snapshot, 0);
    }
    struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
    if (ashlar_audit_exit_status(&audit) != 0) {
      print_message("without the first %d events:\n", (int)gone);
      print_findings(&audit);
    }
    assert_int_equal(audit.devices[0].agree, audit.devices[0].allocations);
    assert_int_equal(ashlar_audit_exit_status(&audit), 0);
    ashlar_audit_free(&audit);
    ashlar_snapshot_free(&snapshot);
  }
}

/* Far more findings than are kept. */
static void counts_findings_that_it_does_not_keep(void **state)
{
  enum { MANY = 3 * ASHLAR_FINDINGS_KEPT };
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  for (uint64_t i = 0; i < MANY; i++) {
    add_event(&snapshot, ASHLAR_ACTION_FREE_COMPLETED, LARGE_A, 1, 0);
  }
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS);
  assert_int_equal(count_rule(&audit, ASHLAR_RULE_FREE), ASHLAR_FINDINGS_KEPT);
  assert_true(audit.devices[0].finding_count >= MANY - 1);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_nothing_in_the_good_recording),
      cmocka_unit_test(finds_each_fault),
      cmocka_unit_test(finds_nothing_in_any_rest_of_the_recording),
      cmocka_unit_test(counts_findings_that_it_does_not_keep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
