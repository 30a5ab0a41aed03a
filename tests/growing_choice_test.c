/* growing_choice_test.c - which free block serves a request where there are growable segments, and how it is split.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/growing_support.h"

#define SEGMENT (UINT64_C(1) << 43) /* where ordinary segments are added */
#define NOTHING UINT64_MAX          /* no block may serve */
#define ORDINARY (NOTHING - 1)      /* the one of the ordinary segment */

enum { PARTS = 8 };

struct choice_case {
  struct part parts[PARTS];
  uint64_t ordinary; /* MiB of a free ordinary segment; 0: none */
  uint64_t request;  /* in MiB */
  uint64_t choice;   /* where it is, in MiB from the start of the range on; or as below */
};

static void lay_case(struct fixture *f, struct ashlar_config config, const struct choice_case *row)
{
  fixture_restart(f, config, 2, UINT64_MAX);
  lay(f, RANGE, row->parts, 0, 0);
  if (row->ordinary > 0) {
    (void)must_add(f, SEGMENT, row->ordinary * MIB, ASHLAR_CLASS_LARGE, 0);
  }
}

static void must_choose(const struct fixture *f, const struct choice_case *row, size_t number)
{
  const int32_t slot = ashlar_choose(f->m, row->request * MIB, 0, ashlar_nobody());
  const uint64_t found = slot == -1 ? NOTHING : ashlar_block(f->m, slot).address;
  const uint64_t expected = row->choice == NOTHING    ? NOTHING
                            : row->choice == ORDINARY ? SEGMENT
                                                      : RANGE + row->choice * MIB;
  if (found != expected) {
    fail_msg("row %zu chose %llx", number, (unsigned long long)found);
  }
}

/* From the least adequate block on to the next one as long as that has less room to grow; no further than an ordinary
   block, and no block behind one that has no less. Sizes here are all different: the order is theirs. Covers
   REQ-BESTFIT-walk. */
static void the_walk_keeps_room_to_grow(void **state)
{
  static const struct choice_case cases[] = {
      /* one block, whatever its room */
      {{FREE(4), UNMAPPED(96)}, 0, 2, 0},
      /* the next is closed in, and taken; then there is none */
      {{FREE(9), OWNED(7), FREE(4), UNMAPPED(80)}, 0, 2, 0},
      /* through three, each with less room than the one before */
      {{FREE(4), UNMAPPED(40), OWNED(4), FREE(5), UNMAPPED(20), OWNED(1), FREE(6)}, 0, 2, 74},
      /* judged by the block that it is at, not by the first one */
      {{FREE(4), UNMAPPED(40), OWNED(4), FREE(5), UNMAPPED(20), OWNED(1), FREE(30)}, 0, 2, 48},
      /* equal room does not lead on */
      {{FREE(4), UNMAPPED(4), OWNED(4), FREE(8), OWNED(4)}, 0, 2, 0},
      /* less does */
      {{FREE(4), UNMAPPED(5), OWNED(4), FREE(8), OWNED(4)}, 0, 2, 13},
      /* the next has more room: the walk ends, though the one behind has less */
      {{FREE(4), UNMAPPED(20), OWNED(4), FREE(5), UNMAPPED(40), OWNED(1), FREE(6)}, 0, 2, 0},
      /* blocks that are too small are no part of it */
      {{FREE(1), UNMAPPED(80), OWNED(4), FREE(4), UNMAPPED(8), OWNED(1), FREE(20)}, 0, 2, 85},
      /* an ordinary block is reached, and ends it */
      {{FREE(4), UNMAPPED(40), OWNED(4), FREE(9), OWNED(4)}, 6, 2, ORDINARY},
      /* the least is ordinary: there is no walk */
      {{FREE(9), OWNED(4), FREE(20), UNMAPPED(4)}, 6, 2, ORDINARY},
      /* the ordinary one has more room than the growable one could get */
      {{FREE(4), UNMAPPED(4), OWNED(4)}, 9, 2, 0},
  };
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lay_case(f, growing_config(), &cases[i]);
    must_choose(f, &cases[i], i);
  }
}

/* The split limit judges the block that the walk reaches, not the one that it begins at. Covers REQ-BESTFIT-walk,
   REQ-BESTFIT-oversize. */
static void the_block_reached_is_judged(void **state)
{
  static const struct choice_case limited = {
      {FREE(4), UNMAPPED(60), OWNED(4), FREE(24), OWNED(4)}, 0, 2, NOTHING};
  struct choice_case unlimited = limited;
  struct ashlar_config config = growing_config();
  struct fixture *f = *state;
  unlimited.choice = 68;
  lay_case(f, config, &unlimited);
  must_choose(f, &unlimited, 0);
  config.max_split_size = 20 * MIB;
  lay_case(f, config, &limited);
  must_choose(f, &limited, 1);
}

/* Off, growable blocks are passed over, those at the front of the list and those behind; on again, they serve. Covers
   REQ-BESTFIT-skip, REQ-GROW-toggle. */
static void growable_blocks_are_passed_over(void **state)
{
  static const struct choice_case cases[] = {
      {{FREE(4), OWNED(4)}, 0, 2, NOTHING},
      {{FREE(4), OWNED(4)}, 6, 2, ORDINARY},
      {{FREE(4), OWNED(4), FREE(5), OWNED(4), FREE(9)}, 6, 2, ORDINARY},
      {{FREE(8), OWNED(4)}, 6, 2, ORDINARY},
      {{FREE(8), OWNED(4)}, 6, 7, NOTHING},
  };
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lay_case(f, growing_config(), &cases[i]);
    assert_int_equal(ashlar_growable_set(f->m, 0), ASHLAR_OK);
    must_choose(f, &cases[i], i);
    if (cases[i].choice == NOTHING) {
      const struct ashlar_step step = begun(f, cases[i].request * MIB, 0);
      assert_int_equal(step.kind, ASHLAR_STEP_ALLOCATE); /* a segment, and no page */
      assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
      assert_int_equal(ashlar_growable_set(f->m, 1), ASHLAR_OK);
      assert_int_not_equal(ashlar_choose(f->m, cases[i].request * MIB, 0, ashlar_nobody()), -1);
    }
  }
}

/* For a pool with an allocator they are off. Covers REQ-BESTFIT-skip, REQ-POOL-allocator. */
static void a_pool_with_an_allocator_has_none(void **state)
{
  static const struct part parts[] = {FREE(4), OWNED(4), {LAYER_END, 0}};
  struct fixture *f = *state;
  int32_t pool = 0;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  pool = ashlar_pool_create(f->m, 7).pool;
  lay(f, RANGE, parts, pool, 0);
  assert_int_equal(ashlar_scope_open(f->m, pool, 0, -1), ASHLAR_OK);
  assert_int_equal(ashlar_choose(f->m, 2 * MIB, 0, ashlar_nobody()), -1);
  assert_int_equal(begun(f, 2 * MIB, 0).kind, ASHLAR_STEP_ALLOCATE);
}

/* The block that a request gets out of a free one of so many MiB. */
static uint64_t given(struct fixture *f, struct ashlar_config config, uint64_t whole, int growable,
                      uint64_t bytes)
{
  const struct choice_case row = {{{LAYER_FREE, whole * MIB}, OWNED(4)}, 0, 0, 0};
  const struct choice_case ordinary = {{OWNED(4)}, whole, 0, 0};
  struct ashlar_step step;
  lay_case(f, config, growable != 0 ? &row : &ordinary);
  step = finished(f, begun(f, bytes, 0));
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.address, growable != 0 ? RANGE : SEGMENT);
  assert_int_equal(f->device.step_count, 0);
  return step.bytes;
}

/* On, the rest is split off from 512 bytes on, of blocks of both kinds, and of oversize requests; nothing is where nothing
   is left. Off, large blocks are split by the rule of ordinary ones. Covers REQ-GROW-split. */
static void every_rest_is_split_off(void **state)
{
  struct fixture *f = *state;
  struct ashlar_config limited = growing_config();
  limited.max_split_size = 20 * MIB;
  for (int growable = 0; growable < 2; growable++) {
    struct ashlar_config off = growing_config();
    assert_int_equal(given(f, growing_config(), 12, growable, 12 * MIB - 512), 12 * MIB - 512);
    assert_int_equal(given(f, growing_config(), 12, growable, 12 * MIB - 511), 12 * MIB);
    assert_int_equal(given(f, growing_config(), 12, growable, 11 * MIB), 11 * MIB);
    assert_int_equal(given(f, growing_config(), 12, growable, 2 * MIB), 2 * MIB);
    assert_int_equal(given(f, limited, 40, growable, 24 * MIB), 24 * MIB);
    off.growable = 0;
    if (growable == 0) {
      assert_int_equal(given(f, off, 12, 0, 12 * MIB - 512), 12 * MIB);
      assert_int_equal(given(f, off, 12, 0, 11 * MIB), 12 * MIB);
      limited.growable = 0;
      assert_int_equal(given(f, limited, 40, 0, 24 * MIB), 40 * MIB);
      limited.growable = 1;
    }
  }
}

/* The same in the small class, and of a page that was just mapped. Covers REQ-GROW-split. */
static void a_rest_of_one_granule_is_split_off(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  fixture_restart(f, growing_config(), 2, UINT64_MAX);
  step = finished(f, begun(f, MIB, 0));
  assert_int_equal(step.bytes, MIB);
  step = finished(f, begun(f, MIB - 512, 0));
  assert_int_equal(step.bytes, MIB - 512);
  step = finished(f, begun(f, 1, 0));
  assert_int_equal(step.bytes, 512);
  assert_int_equal(f->device.step_count, 0);
  assert_int_equal(current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL), 2 * MIB);
  step = finished(f, begun(f, 20 * MIB - 512, 0));
  assert_int_equal(step.bytes, 20 * MIB - 512);
  assert_int_equal(ashlar_block(f->m, slot_at(f->m, step.address + step.bytes)).size, 512);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_walk_keeps_room_to_grow),
      cmocka_unit_test(the_block_reached_is_judged),
      cmocka_unit_test(growable_blocks_are_passed_over),
      cmocka_unit_test(a_pool_with_an_allocator_has_none),
      cmocka_unit_test(every_rest_is_split_off),
      cmocka_unit_test(a_rest_of_one_granule_is_split_off),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
