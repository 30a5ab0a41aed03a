/* growing_state_test.c - what is told of growable segments, and which of their blocks become one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/growable_sizes.h"
#include "tests/growing_support.h"
#include "tools/recorder.h"

static const struct part mixed[] = {UNMAPPED(20), FREE(20),     UNMAPPED(40),  OWNED(5),
                                    FREE(15),     UNMAPPED(60), {LAYER_END, 0}};

/* Current values are those of a manager without the unmapped blocks; nothing is a segment, or split. Covers
   REQ-GROW-hidden. */
static void unmapped_blocks_are_not_counted(void **state)
{
  static const uint64_t expected[ASHLAR_STAT_KINDS] = {
      [ASHLAR_STAT_ALLOCATION] = 1,
      [ASHLAR_STAT_ACTIVE] = 1,
      [ASHLAR_STAT_ALLOCATED_BYTES] = 5 * MIB,
      [ASHLAR_STAT_RESERVED_BYTES] = 40 * MIB,
      [ASHLAR_STAT_ACTIVE_BYTES] = 5 * MIB,
      [ASHLAR_STAT_REQUESTED_BYTES] = 5 * MIB,
  };
  struct fixture *f = *state;
  struct ashlar_config config = growing_config();
  config.max_split_size = 40 * MIB;
  fixture_restart(f, config, 2, UINT64_MAX);
  lay(f, RANGE, mixed, 0, 0);
  for (size_t kind = 0; kind < ASHLAR_STAT_KINDS; kind++) {
    assert_int_equal(current(f, kind, ASHLAR_STAT_ALL), expected[kind]);
    assert_int_equal(current(f, kind, ASHLAR_STAT_LARGE), expected[kind]);
    assert_int_equal(current(f, kind, ASHLAR_STAT_SMALL), 0);
  }
  assert_int_equal(counter_of(f->m, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL).peak, 0);
  assert_int_equal(counter_of(f->m, ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_ALL).peak, 0);
  assert_int_equal(f->m->oversize_segments.peak, 0);
  assert_int_equal(f->m->oversize_allocations.peak, 0);
  assert_int_equal(f->m->pool_reserved[0].current, 40 * MIB);
}

/* No search finds them, whether growable segments are on or off, nor is one the largest free block. Covers
   REQ-GROW-hidden, REQ-ACCOUNT-largest. */
static void unmapped_blocks_are_not_found(void **state)
{
  struct fixture *f = *state;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  lay(f, RANGE, mixed, 0, 0);
  assert_int_equal(ashlar_largest(f->m), 20 * MIB);
  for (int on = 1; on >= 0; on--) {
    assert_int_equal(ashlar_growable_set(f->m, on), ASHLAR_OK);
    assert_int_equal(ashlar_choose(f->m, 20 * MIB + 512, 0, ashlar_nobody()), -1);
    assert_int_equal(ashlar_find(f->m, RANGE), -1);
    must_refuse(ashlar_allocate_exactly(f->m, RANGE, 2 * MIB, 0, ashlar_nobody()),
                ASHLAR_ERROR_MISFIT);
  }
}

/* A snapshot has the mapped parts, each as a segment of its own, and nothing of what is between them. Covers
   REQ-GROW-hidden. */
static void unmapped_blocks_are_in_no_snapshot(void **state)
{
  static const uint16_t zero[ASHLAR_STREAMS] = {0};
  static const uint64_t expected[][2] = {{20, 20}, {80, 5}, {85, 15}};
  struct fixture *f = *state;
  struct ashlar_snapshot snapshot;
  const struct ashlar_recorder_state recorded = {f->m, zero, zero, NULL, 0};
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  lay(f, RANGE, mixed, 0, 0);
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_true(ashlar_recorder_add_state(&recorded, &snapshot));
  assert_int_equal(snapshot.segment_count, 2);
  assert_int_equal(snapshot.segments[0].total_size, 20 * MIB);
  assert_int_equal(snapshot.segments[1].total_size, 20 * MIB);
  assert_int_equal(snapshot.block_count, 3);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_int_equal(snapshot.blocks[i].address, RANGE + expected[i][0] * MIB);
    assert_int_equal(snapshot.blocks[i].size, expected[i][1] * MIB);
  }
  ashlar_snapshot_free(&snapshot);
}

static void must_hold(struct ashlar_growable_size size, int32_t slot, int32_t stream,
                      uint64_t mapped)
{
  assert_int_equal(size.slot, slot);
  assert_int_equal(size.stream, stream);
  assert_int_equal(size.class, ASHLAR_CLASS_LARGE);
  assert_int_equal(size.mapped, mapped);
}

/* Growable segments are listed by slot, with what of them is mapped; ordinary ones are not. Covers REQ-GROW-sizes. */
static void segments_tell_what_is_mapped(void **state)
{
  static const struct part none[] = {UNMAPPED(40), {LAYER_END, 0}};
  struct fixture *f = *state;
  const struct ashlar_manager *m = f->m;
  struct ashlar_growable_size size;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  assert_int_equal(ashlar_growable_next(m, -1).slot, -1);
  assert_int_equal(
      ashlar_segment_add(f->m, UINT64_C(1) << 40, 20 * MIB, 0, ASHLAR_CLASS_LARGE, 0).status,
      ASHLAR_OK);
  lay(f, RANGE, mixed, 0, 0);
  lay(f, 2 * RANGE, none, 0, 1);
  size = ashlar_growable_next(m, -1);
  must_hold(size, slot_at(m, RANGE), 0, 40 * MIB);
  size = ashlar_growable_next(m, size.slot);
  must_hold(size, slot_at(m, 2 * RANGE), 1, 0);
  assert_int_equal(ashlar_growable_next(m, size.slot).slot, -1);
  assert_int_equal(ashlar_growable_next(m, ashlar_slot_limit(m)).slot, -1);
  assert_int_equal(ashlar_growable_next(m, INT32_MAX).slot, -1);
  assert_int_equal(ashlar_growable_next(m, INT32_MIN).slot, slot_at(m, RANGE));
}

/* What a request has mapped counts from then on, what it is unmapping counts no more. Covers REQ-GROW-sizes. */
static void a_request_maps_and_unmaps(void **state)
{
  static const struct part parts[] = {UNMAPPED(20), FREE(20), UNMAPPED(20), {LAYER_END, 0}};
  struct fixture *f = *state;
  struct ashlar_step step;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  lay(f, RANGE, parts, 0, 0);
  step = begun(f, 60 * MIB, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_MAP);
  assert_int_equal(ashlar_growable_next(f->m, -1).mapped, 20 * MIB);
  step = performed(f, step);
  assert_int_equal(step.kind, ASHLAR_STEP_MAP);
  assert_int_equal(ashlar_growable_next(f->m, -1).mapped, 40 * MIB);
  step = finished(f, step);
  assert_int_equal(ashlar_growable_next(f->m, -1).mapped, 60 * MIB);
  must_free(f, step.slot);
  step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_UNMAP);
  assert_int_equal(ashlar_growable_next(f->m, -1).mapped, 0);
}

/* The blocks of the range from its start on: state and bytes, in MiB. */
static void must_be(const struct ashlar_manager *m, const uint64_t (*expected)[2], size_t count)
{
  uint64_t address = RANGE;
  int32_t slot = slot_at(m, RANGE);
  for (size_t i = 0; i < count; i++) {
    const struct ashlar_block_view view = ashlar_block(m, slot);
    assert_int_equal(view.address, address);
    assert_int_equal(view.state, expected[i][0]);
    assert_int_equal(view.size, expected[i][1] * MIB);
    address += view.size;
    slot = view.next;
  }
  assert_int_equal(slot, -1);
}

/* Free blocks join free ones, unmapped blocks unmapped ones, on either side; neither joins the other. Covers
   REQ-COALESCE-mapping, REQ-GROW-unmap. */
static void blocks_join_their_kind(void **state)
{
  static const struct part parts[] = {
      OWNED(20), OWNED(20), OWNED(20), UNMAPPED(40), {LAYER_END, 0}};
  static const uint64_t apart[][2] = {
      {ASHLAR_ALLOCATED, 20}, {ASHLAR_ALLOCATED, 20}, {ASHLAR_FREE, 20}, {ASHLAR_UNMAPPED, 40}};
  static const uint64_t behind[][2] = {
      {ASHLAR_ALLOCATED, 20}, {ASHLAR_ALLOCATED, 20}, {ASHLAR_UNMAPPED, 60}};
  static const uint64_t ahead[][2] = {
      {ASHLAR_UNMAPPED, 20}, {ASHLAR_ALLOCATED, 20}, {ASHLAR_UNMAPPED, 60}};
  static const uint64_t between[][2] = {
      {ASHLAR_UNMAPPED, 20}, {ASHLAR_FREE, 20}, {ASHLAR_UNMAPPED, 60}};
  static const uint64_t mapped[][2] = {
      {ASHLAR_ALLOCATED, 50}, {ASHLAR_FREE, 10}, {ASHLAR_UNMAPPED, 40}};
  struct fixture *f = *state;
  struct ashlar_step step;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  lay(f, RANGE, parts, 0, 0);
  must_free(f, slot_at(f->m, RANGE + 40 * MIB));
  must_be(f->m, apart, 4);
  assert_int_equal(finished(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody())).kind,
                   ASHLAR_STEP_DONE);
  must_be(f->m, behind, 3);
  must_free(f, slot_at(f->m, RANGE));
  assert_int_equal(finished(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody())).kind,
                   ASHLAR_STEP_DONE);
  must_be(f->m, ahead, 3);
  must_free(f, slot_at(f->m, RANGE + 20 * MIB));
  must_be(f->m, between, 3);
  step = finished(f, begun(f, 50 * MIB, 0)); /* maps beside the free one, and joins it */
  assert_int_equal(step.address, RANGE);
  must_be(f->m, mapped, 3);
  must_free(f, step.slot);
  assert_int_equal(ashlar_block(f->m, slot_at(f->m, RANGE)).size, 60 * MIB);
  assert_int_equal(finished(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody())).kind,
                   ASHLAR_STEP_DONE);
  assert_int_equal(ashlar_block_bytes(f->m), 0); /* all unmapped is one block, which goes */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unmapped_blocks_are_not_counted),
      cmocka_unit_test(unmapped_blocks_are_not_found),
      cmocka_unit_test(unmapped_blocks_are_in_no_snapshot),
      cmocka_unit_test(segments_tell_what_is_mapped),
      cmocka_unit_test(a_request_maps_and_unmaps),
      cmocka_unit_test(blocks_join_their_kind),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
