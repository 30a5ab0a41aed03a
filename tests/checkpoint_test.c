/* checkpoint_test.c - records of private pools: what does not fit is refused before anything changes.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/checkpoint.h"
#include "tests/manager_support.h"

#define SEGMENT (UINT64_C(1) << 33)   /* of the pool */
#define RANGE (UINT64_C(1) << 34)     /* growable, of the pool */
#define ELSEWHERE (UINT64_C(1) << 35) /* segments that fill the tables */

enum { BLOCKS = 3, NEEDED = ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS };

struct pooled {
  struct fixture *f;
  int32_t pool;
  struct ashlar_saved saved[BLOCKS]; /* allocated, free, allocated: all of the segment */
};
static struct pooled world;

static int start(void **state)
{
  struct fixture *f = NULL;
  int32_t slot = -1;
  struct ashlar_recorded recorded;
  if (fixture_start(state) != 0) {
    return -1;
  }
  f = *state;
  world.f = f;
  fixture_restart(f, ashlar_default_config(), ASHLAR_STREAM_DEFERRED, UINT64_MAX);
  world.pool = ashlar_pool_create(f->m, 0).pool;
  slot = ashlar_segment_add(f->m, SEGMENT, 2 * MIB, world.pool, ASHLAR_CLASS_SMALL, 0).slot;
  slot = ashlar_allocate_at(f->m, slot, SEGMENT, 512, 1).slot;
  slot = ashlar_block(f->m, slot).next;
  assert_int_equal(ashlar_allocate_at(f->m, slot, SEGMENT + MIB, MIB, 1).status, ASHLAR_OK);
  recorded = ashlar_checkpoint_save(f->m, world.pool, ashlar_nobody(), world.saved, BLOCKS);
  assert_int_equal(recorded.status, ASHLAR_OK);
  assert_int_equal(recorded.count, BLOCKS);
  return 0;
}

static struct ashlar_restored restored(const struct ashlar_saved *saved, int32_t count)
{
  return ashlar_checkpoint_restore(world.f->m, world.pool, ashlar_nobody(), saved, count);
}

/* A record that is refused changes nothing. Covers REQ-CHECKPOINT-restore, REQ-ATOMIC. */
static void must_not_fit(const struct ashlar_saved *saved, int32_t count, enum ashlar_status status)
{
  struct ashlar_restored result;
  remember(world.f);
  result = restored(saved, count);
  assert_int_equal(result.status, status);
  assert_int_equal(result.freed, 0);
  assert_int_equal(result.created, 0);
  must_be_unchanged(world.f);
}

/* An array that is too short gets the first blocks, and its caller the number of all. Covers REQ-CHECKPOINT-save. */
static void short_arrays_are_filled(void **state)
{
  struct fixture *f = *state;
  struct ashlar_saved saved[BLOCKS] = {0};
  for (int32_t room = 0; room <= BLOCKS; room++) {
    const struct ashlar_recorded recorded =
        ashlar_checkpoint_save(f->m, world.pool, ashlar_nobody(), saved, room);
    assert_int_equal(recorded.status, room < BLOCKS ? ASHLAR_ERROR_CAPACITY : ASHLAR_OK);
    assert_int_equal(recorded.count, BLOCKS);
    for (int32_t i = 0; i < BLOCKS; i++) {
      assert_int_equal(saved[i].address, i < room ? world.saved[i].address : 0);
      assert_int_equal(saved[i].allocated, i < room && i != 1 ? 1 : 0);
    }
  }
}

/* Covers REQ-CHECKPOINT-restore. */
static void a_record_that_fits_is_restored(void **state)
{
  struct fixture *f = *state;
  struct ashlar_restored result;
  const int32_t first = ashlar_find(f->m, SEGMENT);
  must_free(f, first);
  result = restored(world.saved, BLOCKS);
  assert_int_equal(result.status, ASHLAR_OK);
  assert_int_equal(result.freed, 1);
  assert_int_equal(result.created, 2);
  assert_int_equal(ashlar_block(f->m, ashlar_find(f->m, SEGMENT)).size, 512);
  assert_int_equal(ashlar_block(f->m, ashlar_find(f->m, SEGMENT + MIB)).size, MIB);
  check_whole(f->m);
}

/* Any record may be given, whoever made it. */
static void wrong_records_are_refused(void **state)
{
  const struct {
    int32_t home; /* added to that of the first block */
    uint64_t address;
    uint64_t size;
  } rows[] = {
      {-ASHLAR_LISTS, SEGMENT, 512},
      {ASHLAR_LISTS, SEGMENT, 512},
      {ASHLAR_CLASSES * ASHLAR_STREAMS, SEGMENT, 512}, /* of another pool */
      {1, SEGMENT, 512},                               /* of another stream */
      {0, SEGMENT, 0},
      {0, SEGMENT, 256},
      {0, SEGMENT + 256, 512},
      {0, UINT64_MAX - 511, 1024},
      {0, SEGMENT - 512, 512},
      {0, SEGMENT + 2 * MIB, 512},
      {0, SEGMENT + MIB, MIB + 512},
      {0, SEGMENT, 2 * MIB + 512}, /* over all blocks of the segment, and beyond it */
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct ashlar_saved saved = world.saved[0];
    saved.home += rows[i].home;
    saved.address = rows[i].address;
    saved.size = rows[i].size;
    must_not_fit(&saved, 1, ASHLAR_ERROR_MISFIT);
  }
}

/* No address is recorded twice, in whatever order the blocks are given. Covers REQ-CHECKPOINT-restore, REQ-DISJOINT. */
static void overlapping_records_are_refused(void **state)
{
  const struct {
    uint64_t start[3]; /* from that of the segment */
    uint64_t size[3];
    int fits;
  } rows[] = {
      {{0, 0, MIB}, {512, 512, 512}, 0},         {{0, 512, 512}, {512, 512, 512}, 0},
      {{0, 512, 0}, {512, 512, 1024}, 0},        {{0, MIB, 512}, {512, 512, MIB}, 0},
      {{MIB, 0, 512}, {512, 512, MIB}, 0},       {{MIB, 512, 0}, {512, 512, 1024}, 0},
      {{0, 512, MIB}, {1024, 512, 512}, 0},      {{512, 0, MIB}, {512, 1024, 512}, 0},
      {{MIB, 0, MIB}, {MIB, 512, MIB}, 0},       {{0, 0, 0}, {2 * MIB, 512, 512}, 0},
      {{MIB, 512, 0}, {MIB, MIB - 512, 512}, 1}, {{512, MIB, 0}, {512, MIB, 512}, 1},
      {{0, MIB, 512}, {512, 512, MIB - 512}, 1},
  };
  struct fixture *f = *state;
  for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
    struct ashlar_saved saved[3];
    for (int32_t i = 0; i < 3; i++) {
      saved[i] = world.saved[0];
      saved[i].address = SEGMENT + rows[row].start[i];
      saved[i].size = rows[row].size[i];
    }
    if (rows[row].fits) {
      const struct ashlar_restored result = restored(saved, 3);
      assert_int_equal(result.status, ASHLAR_OK);
      assert_int_equal(result.created, 3);
      check_whole(f->m);
    } else {
      must_not_fit(saved, 3, ASHLAR_ERROR_MISFIT);
    }
  }
}

/* A record needs memory behind all of it. */
static void memory_must_be_there(void **state)
{
  struct fixture *f = *state;
  struct ashlar_saved saved = world.saved[1];
  const int32_t range =
      ashlar_range_add(f->m, RANGE, 4 * MIB, world.pool, ASHLAR_CLASS_SMALL, 0).slot;
  const int32_t slot = ashlar_range_map(f->m, range, RANGE, 2 * MIB).slot;
  saved.address = RANGE;
  saved.size = 4 * MIB;
  must_not_fit(&saved, 1, ASHLAR_ERROR_MISFIT);
  saved.address = RANGE + 2 * MIB;
  saved.size = 512;
  must_not_fit(&saved, 1, ASHLAR_ERROR_MISFIT);
  assert_int_equal(
      ashlar_range_map(f->m, ashlar_block(f->m, slot).next, RANGE + 2 * MIB, 2 * MIB).status,
      ASHLAR_OK);
  saved.address = RANGE;
  saved.size = 4 * MIB;
  assert_int_equal(restored(&saved, 1).status, ASHLAR_OK);
  check_whole(f->m);
}

/* Uses that were recorded need records, one for each stream and that of deferral. Covers REQ-CAPACITY-others. */
static void uses_may_be_too_many(void **state)
{
  struct fixture *f = *state;
  struct ashlar_saved saved = world.saved[0];
  int32_t slot = -1;
  int32_t stream = ASHLAR_STREAM_DEFERRED;
  saved.use[0] = 6; /* streams 1 and 2 */
  while (f->m->use_spare_count + (ASHLAR_USES - f->m->use_top) > 2) {
    if (stream == ASHLAR_STREAM_DEFERRED) {
      slot = must_allocate(f, 512, 0).slot;
      stream = 1;
    }
    assert_int_equal(
        ashlar_record_use(f->m, slot, ashlar_block(f->m, slot).generation, stream, ashlar_nobody()),
        ASHLAR_OK);
    stream++;
  }
  must_not_fit(&saved, 1, ASHLAR_ERROR_USES);
  saved.use[0] = 2;
  assert_int_equal(restored(&saved, 1).status, ASHLAR_OK);
  assert_int_equal(f->m->use_spare_count + (ASHLAR_USES - f->m->use_top), 0);
  check_whole(f->m);
}

/* Each block needs two slots, beside those that requests may need. Covers REQ-CAPACITY-slots. */
static void slots_may_be_too_few(void **state)
{
  struct fixture *f = *state;
  struct ashlar_manager *m = f->m;
  uint64_t address = ELSEWHERE;
  while (m->spare_count + (ASHLAR_SLOTS - m->top) > NEEDED - 1) {
    (void)must_add(f, address, 512, ASHLAR_CLASS_SMALL, 1);
    address += 1024;
  }
  for (int32_t left = NEEDED - 1; left < NEEDED + 2; left++) {
    assert_int_equal(m->spare_count + (ASHLAR_SLOTS - m->top), left);
    must_not_fit(world.saved, 1, ASHLAR_ERROR_CAPACITY);
    assert_int_equal(ashlar_segment_remove(m, ashlar_release_next(m, -1)), ASHLAR_OK);
  }
  assert_int_equal(restored(world.saved, 1).status, ASHLAR_OK);
  check_whole(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(short_arrays_are_filled, start, fixture_stop),
      cmocka_unit_test_setup_teardown(a_record_that_fits_is_restored, start, fixture_stop),
      cmocka_unit_test_setup_teardown(wrong_records_are_refused, start, fixture_stop),
      cmocka_unit_test_setup_teardown(overlapping_records_are_refused, start, fixture_stop),
      cmocka_unit_test_setup_teardown(memory_must_be_there, start, fixture_stop),
      cmocka_unit_test_setup_teardown(uses_may_be_too_many, start, fixture_stop),
      cmocka_unit_test_setup_teardown(slots_may_be_too_few, start, fixture_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
