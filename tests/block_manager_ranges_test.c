/* block_manager_ranges_test.c - growable segments that are rebuilt: ranges added, mapped and unmapped in parts, removed.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"

#define RANGE (UINT64_C(1) << 33) /* where the range is */
#define BYTES (16 * MIB)

static int32_t added_range(struct fixture *f)
{
  const struct ashlar_placement added =
      ashlar_range_add(f->m, RANGE, BYTES, 0, ASHLAR_CLASS_LARGE, 0);
  assert_int_equal(added.status, ASHLAR_OK);
  return added.slot;
}

static int32_t mapped(struct fixture *f, int32_t slot, uint64_t from, uint64_t to)
{
  const struct ashlar_placement result = ashlar_range_map(f->m, slot, RANGE + from, to - from);
  assert_int_equal(result.status, ASHLAR_OK);
  check_whole(f->m);
  return result.slot;
}

static int32_t unmapped(struct fixture *f, int32_t slot, uint64_t from, uint64_t to)
{
  const struct ashlar_placement result = ashlar_range_unmap(f->m, slot, RANGE + from, to - from);
  assert_int_equal(result.status, ASHLAR_OK);
  check_whole(f->m);
  return result.slot;
}

/* The block in the slot is [from, to) of the range, in that state. */
static void must_be(const struct fixture *f, int32_t slot, uint64_t from, uint64_t to,
                    uint8_t state)
{
  const struct ashlar_block_view view = ashlar_block(f->m, slot);
  assert_int_equal(view.address, RANGE + from);
  assert_int_equal(view.size, to - from);
  assert_int_equal(view.state, state);
  assert_int_equal(view.growable, 1);
}

/* Bytes with memory are reserved, and no segment is counted. Covers REQ-ACCOUNT-reserved. */
static void must_reserve(const struct fixture *f, uint64_t bytes)
{
  assert_int_equal(current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_LARGE), bytes);
  assert_int_equal(current(f, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_LARGE), 0);
}

/* Parts are cut out, and joined with what is alike beside them. Covers REQ-COALESCE-blocks, REQ-TILE-blocks. */
static void parts_are_mapped_and_unmapped(void **state)
{
  struct fixture *f = *state;
  int32_t slot = added_range(f);
  must_be(f, slot, 0, BYTES, ASHLAR_UNMAPPED);
  must_reserve(f, 0);

  slot = mapped(f, slot, 4 * MIB, 8 * MIB); /* in the middle: cut on both sides */
  must_be(f, slot, 4 * MIB, 8 * MIB, ASHLAR_FREE);
  must_be(f, ashlar_block(f->m, slot).prev, 0, 4 * MIB, ASHLAR_UNMAPPED);
  must_be(f, ashlar_block(f->m, slot).next, 8 * MIB, BYTES, ASHLAR_UNMAPPED);
  must_reserve(f, 4 * MIB);

  slot = mapped(f, ashlar_block(f->m, slot).prev, 0, 4 * MIB); /* all of what is before */
  must_be(f, slot, 0, 8 * MIB, ASHLAR_FREE);
  slot = mapped(f, ashlar_block(f->m, slot).next, 8 * MIB, 10 * MIB); /* cut behind */
  must_be(f, slot, 0, 10 * MIB, ASHLAR_FREE);
  must_reserve(f, 10 * MIB);

  slot = unmapped(f, slot, 2 * MIB, 4 * MIB);
  must_be(f, slot, 2 * MIB, 4 * MIB, ASHLAR_UNMAPPED);
  must_be(f, ashlar_block(f->m, slot).prev, 0, 2 * MIB, ASHLAR_FREE);
  must_reserve(f, 8 * MIB);
  slot = unmapped(f, ashlar_block(f->m, slot).next, 4 * MIB, 10 * MIB); /* joined on both sides */
  must_be(f, slot, 2 * MIB, BYTES, ASHLAR_UNMAPPED);
  slot = unmapped(f, ashlar_block(f->m, slot).prev, 0, 2 * MIB);
  must_be(f, slot, 0, BYTES, ASHLAR_UNMAPPED);
  must_reserve(f, 0);
}

/* What stays of a free block has been in its list as long as before. Covers REQ-LADDER-age. */
static void a_rest_keeps_its_age(void **state)
{
  struct fixture *f = *state;
  int32_t slot = mapped(f, added_range(f), 0, BYTES);
  assert_int_equal(ashlar_limit_set(f->m, GIB, GIB), ASHLAR_OK);
  must_free(f, must_allocate(f, 64 * MIB, 1).slot); /* a search */
  f->m->entered[slot] = 1;
  slot = unmapped(f, slot, 2 * MIB, 4 * MIB);
  assert_int_equal(f->m->entered[ashlar_block(f->m, slot).next], 1);
}

/* A range is forgotten while it is one block, with memory or without. */
static void ranges_are_removed(void **state)
{
  struct fixture *f = *state;
  int32_t slot = mapped(f, added_range(f), 0, 2 * MIB);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_segment_remove(f->m, ashlar_block(f->m, slot).next), ASHLAR_ERROR_SLOT);
  slot = mapped(f, ashlar_block(f->m, slot).next, 2 * MIB, BYTES);
  must_reserve(f, BYTES);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_OK);
  must_reserve(f, 0);
  assert_int_equal(ashlar_block(f->m, slot).state, ASHLAR_UNUSED);
  assert_int_equal(ashlar_segment_remove(f->m, added_range(f)), ASHLAR_OK);
  assert_int_equal(f->m->bytes[ASHLAR_UNMAPPED], 0);
  check_whole(f->m);
}

/* Covers REQ-ATOMIC. */
static void what_does_not_fit_is_refused(void **state)
{
  struct fixture *f = *state;
  const int32_t ordinary = must_add(f, 2 * RANGE, 2 * MIB, ASHLAR_CLASS_SMALL, 0);
  const int32_t part = mapped(f, added_range(f), 4 * MIB, 8 * MIB);
  const int32_t rest = ashlar_block(f->m, part).next;
  const struct {
    int32_t slot;
    uint64_t from;
    uint64_t to;
    enum ashlar_status maps;
    enum ashlar_status unmaps;
  } rows[] = {
      {-1, 0, 512, ASHLAR_ERROR_SLOT, ASHLAR_ERROR_SLOT},
      {ordinary, RANGE, RANGE + 512, ASHLAR_ERROR_SLOT, ASHLAR_ERROR_SLOT},
      {part, 4 * MIB - 512, 5 * MIB, ASHLAR_ERROR_SLOT, ASHLAR_ERROR_RANGE},
      {part, 7 * MIB, 8 * MIB + 512, ASHLAR_ERROR_SLOT, ASHLAR_ERROR_RANGE},
      {rest, 8 * MIB, 8 * MIB, ASHLAR_ERROR_RANGE, ASHLAR_ERROR_SLOT},
      {rest, 8 * MIB + 1, 9 * MIB + 1, ASHLAR_ERROR_RANGE, ASHLAR_ERROR_SLOT},
      {rest, 8 * MIB, 8 * MIB + 1, ASHLAR_ERROR_RANGE, ASHLAR_ERROR_SLOT},
      {rest, BYTES + 512, BYTES + 1024, ASHLAR_ERROR_RANGE, ASHLAR_ERROR_SLOT},
  };
  remember(f);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const uint64_t address = RANGE + rows[i].from;
    const uint64_t bytes = rows[i].to - rows[i].from;
    const struct ashlar_placement one = ashlar_range_map(f->m, rows[i].slot, address, bytes);
    const struct ashlar_placement two = ashlar_range_unmap(f->m, rows[i].slot, address, bytes);
    assert_int_equal(one.status, rows[i].maps);
    assert_int_equal(one.slot, -1);
    assert_int_equal(two.status, rows[i].unmaps);
    assert_int_equal(two.slot, -1);
  }
  assert_int_equal(ashlar_range_add(f->m, RANGE - 1, BYTES, 0, ASHLAR_CLASS_LARGE, 0).status,
                   ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_range_add(f->m, 3 * RANGE, BYTES, 1, ASHLAR_CLASS_LARGE, 0).status,
                   ASHLAR_ERROR_POOL);
  must_be_unchanged(f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(parts_are_mapped_and_unmapped, fixture_start, fixture_stop),
      cmocka_unit_test_setup_teardown(a_rest_keeps_its_age, fixture_start, fixture_stop),
      cmocka_unit_test_setup_teardown(ranges_are_removed, fixture_start, fixture_stop),
      cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, fixture_start, fixture_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
