/* block_manager_growable_test.c - growable segments at the ends: ranges by the size of the device, and what happens where
 * slots are few, or a request is dropped while a range goes back.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */
#define RANGE (UINT64_C(1) << 42)   /* where the device reserves */

/* Slots without which nothing is reserved, mapped or unmapped. */
enum { ENOUGH = 2 + ASHLAR_SET_ASIDE };

static struct ashlar_config growable(uint64_t device_total)
{
  struct ashlar_config config = ashlar_default_config();
  config.growable = 1;
  config.device_total = device_total;
  return config;
}

static int32_t slots_left(const struct ashlar_manager *m)
{
  return m->spare_count + (ASHLAR_SLOTS - m->top);
}

/* Owned segments of 512 bytes until so many slots are left; one of them. */
static int32_t fill(struct fixture *f, int32_t left)
{
  uint64_t address = SEGMENT;
  int32_t slot = -1;
  while (slots_left(f->m) > left) {
    slot = must_add(f, address, 512, ASHLAR_CLASS_SMALL, 1);
    assert_int_equal(ashlar_allocate_at(f->m, slot, address, 512, 1).status, ASHLAR_OK);
    address += 1024;
  }
  assert_int_equal(slots_left(f->m), left);
  return slot;
}

static struct ashlar_step begun(struct fixture *f, uint64_t bytes)
{
  return ashlar_allocate_begin(f->m, bytes, 0, ashlar_nobody());
}

static struct ashlar_step resumed(struct fixture *f, struct ashlar_step step, uint64_t value)
{
  return ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, value);
}

/* Allocates from a new range. */
static struct ashlar_step grown(struct fixture *f, uint64_t bytes)
{
  struct ashlar_step step = begun(f, bytes);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  step = resumed(f, step, RANGE);
  while (step.kind == ASHLAR_STEP_MAP) {
    step = resumed(f, step, 0);
  }
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  return step;
}

/* Covers REQ-GROW-reserve. */
static void ranges_follow_the_device(void **state)
{
  struct fixture *f = *state;
  const struct {
    uint64_t total;
    uint64_t configured;
    uint64_t bytes;
  } rows[] = {
      {1, 0, 2 * MIB}, /* an eighth of it is nothing; rounded up to granules and pages */
      {513, 0, 2 * MIB},
      {GIB, 0, GIB + GIB / 8},
      {GIB, 2 * GIB, GIB + GIB / 8},
      {GIB, GIB + GIB / 8, GIB + GIB / 8},
      {GIB, 7 * MIB, 8 * MIB},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct ashlar_config config = growable(rows[i].total);
    struct ashlar_step step;
    config.reservation_small = rows[i].configured;
    fixture_restart(f, config, 2, UINT64_MAX);
    step = begun(f, 512);
    assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
    assert_int_equal(step.bytes, rows[i].bytes);
    check_whole(f->m);
  }
}

/* Without slots for it nothing is reserved: growing counts as refused. Covers REQ-CAPACITY-slots. */
static void without_slots_nothing_is_reserved(void **state)
{
  struct fixture *f = *state;
  int32_t slot = -1;
  fixture_restart(f, growable(GIB), 2, UINT64_MAX);
  slot = fill(f, ENOUGH - 1);
  assert_int_equal(begun(f, MIB).kind, ASHLAR_STEP_OUT_OF_MEMORY);
  check_whole(f->m);
  must_free(f, slot);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_OK);
  assert_int_equal(begun(f, MIB).kind, ASHLAR_STEP_RESERVE);
}

/* The slots for it go while the device reserves: the range goes back. Covers REQ-CAPACITY-slots. */
static void a_range_without_slots_goes_back(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  uint64_t bytes = 0;
  fixture_restart(f, growable(GIB), 2, UINT64_MAX);
  (void)must_add(f, 2 * SEGMENT, MIB, ASHLAR_CLASS_SMALL, 1);
  (void)fill(f, ENOUGH);
  step = begun(f, MIB);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  bytes = step.bytes;
  assert_int_equal(ashlar_allocate_begin(f->m, 512, 1, ashlar_nobody()).kind, ASHLAR_STEP_DONE);
  assert_int_equal(slots_left(f->m), ENOUGH - 1);

  step = resumed(f, step, RANGE);
  assert_int_equal(step.kind, ASHLAR_STEP_UNRESERVE);
  assert_int_equal(step.address, RANGE);
  assert_int_equal(step.bytes, bytes);
  assert_int_equal(f->m->bytes[ASHLAR_UNMAPPED], 0);
  check_whole(f->m);
  assert_int_equal(resumed(f, step, 0).kind, ASHLAR_STEP_OUT_OF_MEMORY);
  check_whole(f->m);
}

/* Pages stay mapped where there are no slots for what is beside them. Covers REQ-CAPACITY-slots, REQ-GROW-unmap. */
static void without_slots_pages_stay(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  int32_t slot = -1;
  fixture_restart(f, growable(GIB), 2, UINT64_MAX);
  must_free(f, grown(f, MIB).slot);
  slot = fill(f, ENOUGH - 1);
  step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(f->m->bytes[ASHLAR_FREE], 2 * MIB);

  must_free(f, slot);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_OK);
  step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_UNMAP);
  assert_int_equal(step.address, RANGE);
  assert_int_equal(step.bytes, 2 * MIB);
  check_whole(f->m);
}

/* A release that is not reported counts as done, that of a range too. Covers REQ-GROW-destroy. */
static void a_dropped_return_counts_as_done(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  fixture_restart(f, growable(GIB), 2, UINT64_MAX);
  must_free(f, grown(f, MIB).slot);
  step = resumed(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()), 0);
  assert_int_equal(step.kind, ASHLAR_STEP_UNRESERVE);
  assert_int_equal(step.address, RANGE);
  assert_int_equal(step.bytes, GIB + GIB / 8);
  assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
  assert_int_equal(f->m->in_flight, 0);
  assert_int_equal(ashlar_block_bytes(f->m), 0);
  assert_int_equal(slots_left(f->m), ASHLAR_SLOTS);
  check_whole(f->m);

  /* one that was too short is no block */
  step = resumed(f, begun(f, MIB), RANGE);
  assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
  fixture_restart(f, growable(MIB), 2, UINT64_MAX);
  step = resumed(f, begun(f, 64 * MIB), RANGE);
  assert_int_equal(step.kind, ASHLAR_STEP_UNRESERVE);
  assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
  assert_int_equal(ashlar_block_bytes(f->m), 0);
  check_whole(f->m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_follow_the_device),
      cmocka_unit_test(without_slots_nothing_is_reserved),
      cmocka_unit_test(a_range_without_slots_goes_back),
      cmocka_unit_test(without_slots_pages_stay),
      cmocka_unit_test(a_dropped_return_counts_as_done),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
