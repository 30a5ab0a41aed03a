/* growing_run_test.c - where a request that grows a segment begins, and what it maps for it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/growing_support.h"

enum { PARTS = 8, MAPS = 3 };

struct run_case {
  struct part parts[PARTS];
  uint64_t request;       /* in MiB, as all that follows */
  uint64_t start;         /* where the block is that the request gets */
  uint64_t maps[MAPS][2]; /* where, and how much; nothing mapped: a new range is reserved */
};

/* In the order of addresses the first start that has room, however well later ones would fit: at an unmapped block, or at
   the free one before it, through all that is open behind. Covers REQ-GROW-run, REQ-GROW-allocate, REQ-GROW-map. */
static void the_first_run_with_room_is_mapped(void **state)
{
  static const struct run_case cases[] = {
      {{UNMAPPED(20), OWNED(20), UNMAPPED(20), OWNED(20), UNMAPPED(40)}, 20, 0, {{0, 20}}},
      {{UNMAPPED(60), OWNED(20), UNMAPPED(20), OWNED(20)}, 20, 0, {{0, 20}}},
      {{UNMAPPED(20), OWNED(20), UNMAPPED(60), OWNED(20), UNMAPPED(40)}, 40, 40, {{40, 40}}},
      {{OWNED(20), FREE(20), UNMAPPED(20), OWNED(20)}, 40, 20, {{40, 20}}},
      {{OWNED(20), FREE(20), UNMAPPED(60), OWNED(20)}, 30, 20, {{40, 20}}},
      {{FREE(10), OWNED(10), UNMAPPED(20), FREE(20), OWNED(20)}, 40, 20, {{20, 20}}},
      {{UNMAPPED(20), FREE(20), UNMAPPED(20), OWNED(20)}, 60, 0, {{0, 20}, {40, 20}}},
      {{FREE(20), UNMAPPED(20), FREE(20), UNMAPPED(40)}, 70, 0, {{20, 20}, {60, 20}}},
      {{UNMAPPED(20), FREE(20), OWNED(20), FREE(20), UNMAPPED(40)}, 50, 60, {{80, 40}}},
      {{UNMAPPED(20), OWNED(20)}, 40, 0, {{0, 0}}},
      {{UNMAPPED(20), FREE(20), OWNED(20), UNMAPPED(20)}, 60, 0, {{0, 0}}},
  };
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct run_case *row = &cases[i];
    struct ashlar_step step;
    uint32_t maps = 0;
    fixture_restart(f, growing_config(), 2, UINT64_MAX);
    lay(f, RANGE, row->parts, 0, 0);
    step = begun(f, row->request * MIB, 0);
    if (row->maps[0][1] == 0) {
      assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
      continue;
    }
    step = finished(f, step);
    assert_int_equal(step.kind, ASHLAR_STEP_DONE);
    assert_int_equal(step.address, RANGE + row->start * MIB);
    assert_int_equal(step.bytes, row->request * MIB);
    for (; maps < MAPS && row->maps[maps][1] > 0; maps++) {
      assert_int_equal(f->device.step[maps].kind, ASHLAR_STEP_MAP);
      assert_int_equal(f->device.step[maps].address, RANGE + row->maps[maps][0] * MIB);
      assert_int_equal(f->device.step[maps].bytes, row->maps[maps][1] * MIB);
    }
    assert_int_equal(f->device.step_count, maps);
  }
}

/* Of two ranges the lower one, although the higher one is older and has the unmapped block that fits best. Covers
   REQ-GROW-run. */
static void the_lowest_range_is_grown(void **state)
{
  static const struct part tight[] = {OWNED(20), UNMAPPED(20), {LAYER_END, 0}};
  static const struct part wide[] = {OWNED(20), UNMAPPED(60), {LAYER_END, 0}};
  struct fixture *f = *state;
  for (uint32_t order = ASHLAR_ORDER_ADDRESS; order <= ASHLAR_ORDER_SEGMENT; order++) {
    struct ashlar_config config = growing_config();
    config.order = order;
    fixture_restart(f, config, 2, UINT64_MAX);
    lay(f, RANGE + GIB, tight, 0, 0);
    lay(f, RANGE, wide, 0, 0);
    assert_int_equal(finished(f, begun(f, 20 * MIB, 0)).address, RANGE + 20 * MIB);
  }
}

/* A run is of one pool, class and stream. Covers REQ-GROW-run. */
static void other_lists_are_not_grown(void **state)
{
  static const struct part parts[] = {UNMAPPED(60), {LAYER_END, 0}};
  struct fixture *f = *state;
  struct ashlar_step step;
  int32_t pool = 0;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  pool = ashlar_pool_create(f->m, 0).pool;
  lay(f, RANGE, parts, 0, 1);
  lay(f, RANGE + GIB, parts, pool, 0);
  step = begun(f, 20 * MIB, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  assert_int_equal(finished(f, step).kind, ASHLAR_STEP_DONE);
  step = begun(f, 4096, 1);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  assert_int_equal(finished(f, step).kind, ASHLAR_STEP_DONE);
  assert_int_equal(finished(f, begun(f, 20 * MIB, 1)).address, RANGE);
}

/* A block that its owner gave back while another stream uses it is not open. Covers REQ-GROW-run. */
static void a_pending_block_ends_a_run(void **state)
{
  static const struct part parts[] = {UNMAPPED(20), OWNED(20), UNMAPPED(20), {LAYER_END, 0}};
  struct fixture *f = *state;
  struct ashlar_step step;
  int32_t slot = -1;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  lay(f, RANGE, parts, 0, 0);
  slot = slot_at(f->m, RANGE + 20 * MIB);
  assert_int_equal(
      ashlar_record_use(f->m, slot, ashlar_block(f->m, slot).generation, 1, ashlar_nobody()),
      ASHLAR_OK);
  must_free(f, slot);
  step = begun(f, 60 * MIB, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
  assert_int_equal(ashlar_complete(f->m, 1, 1, ashlar_nobody()).freed, 1);
  assert_int_equal(finished(f, begun(f, 60 * MIB, 0)).address, RANGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_run_with_room_is_mapped),
      cmocka_unit_test(the_lowest_range_is_grown),
      cmocka_unit_test(other_lists_are_not_grown),
      cmocka_unit_test(a_pending_block_ends_a_run),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
