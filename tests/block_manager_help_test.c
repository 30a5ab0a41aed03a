/* block_manager_help_test.c - what helps a request before anything is released for it: the caller's callbacks, and pools
 * that lend.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"

static struct ashlar_step begun(struct fixture *f, uint64_t bytes)
{
  return ashlar_allocate_begin(f->m, bytes, 0, ashlar_nobody());
}

/* --- callbacks --- */

static void restart_with_callbacks(struct fixture *f, uint32_t policy, uint32_t callbacks)
{
  struct ashlar_config config = ashlar_default_config();
  config.policy = policy;
  config.callbacks = callbacks;
  fixture_restart(f, config, 2, UINT64_MAX);
}

/* They are asked for where the search fails, and before the device. Where there are none nobody is asked. Covers
   REQ-LADDER-callbacks. */
static void callbacks_come_behind_a_failed_search(void **state)
{
  struct fixture *f = *state;
  for (uint32_t policy = ASHLAR_POLICY_COMPLETE; policy <= ASHLAR_POLICY_FAITHFUL; policy++) {
    struct ashlar_step step;
    restart_with_callbacks(f, policy, 1);
    step = begun(f, 4 * MIB);
    assert_int_equal(step.kind, ASHLAR_STEP_CALLBACKS);
    step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, 0);
    assert_int_equal(step.kind, ASHLAR_STEP_ALLOCATE);
    step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, GIB);
    assert_int_equal(step.kind, ASHLAR_STEP_DONE);
    assert_int_equal(begun(f, 4 * MIB).kind, ASHLAR_STEP_DONE); /* out of the same segment */
    check_whole(f->m);
    restart_with_callbacks(f, policy, 0);
    assert_int_equal(begun(f, 4 * MIB).kind, ASHLAR_STEP_ALLOCATE);
  }
}

/* What the callbacks freed serves where they say so, and only there is the search repeated. Covers
   REQ-LADDER-callbacks. */
static void what_callbacks_free_serves(void **state)
{
  struct fixture *f = *state;
  for (uint64_t said = 0; said < 2; said++) {
    struct ashlar_step owned;
    struct ashlar_step step;
    restart_with_callbacks(f, ASHLAR_POLICY_COMPLETE, 1);
    step = ashlar_resume(f->m, begun(f, 12 * MIB).request, ASHLAR_OUTCOME_DONE, 0);
    owned = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, GIB);
    assert_int_equal(owned.kind, ASHLAR_STEP_DONE);
    step = begun(f, 12 * MIB);
    assert_int_equal(step.kind, ASHLAR_STEP_CALLBACKS);
    must_free(f, owned.slot);
    step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, said);
    assert_int_equal(step.kind, said == 1 ? ASHLAR_STEP_DONE : ASHLAR_STEP_ALLOCATE);
    assert_int_equal(step.address, said == 1 ? GIB : 0);
    check_whole(f->m);
  }
}

/* Once a request, on the whole way to out of memory; and once for the next one. Covers REQ-LADDER-callbacks. */
static void callbacks_are_asked_once(void **state)
{
  struct fixture *f = *state;
  for (uint32_t policy = ASHLAR_POLICY_COMPLETE; policy <= ASHLAR_POLICY_FAITHFUL; policy++) {
    restart_with_callbacks(f, policy, 1);
    for (int round = 0; round < 2; round++) {
      struct ashlar_step step = begun(f, 4 * MIB);
      uint32_t asked = 0;
      while (step.kind < ASHLAR_STEP_DONE) {
        const bool called = step.kind == ASHLAR_STEP_CALLBACKS;
        asked += called ? 1 : 0;
        step = ashlar_resume(f->m, step.request,
                             called ? ASHLAR_OUTCOME_DONE : ASHLAR_OUTCOME_REFUSED, 1);
      }
      assert_int_equal(step.kind, ASHLAR_STEP_OUT_OF_MEMORY);
      assert_int_equal(asked, 1);
    }
  }
}

/* --- pools that lend --- */

/* A request of the thread that the scope of the pool with the same number is for; 0: the default pool. */
static struct ashlar_step by(struct fixture *f, uint64_t bytes, int32_t pool, int32_t stream)
{
  const struct ashlar_caller caller = {-1, (uint64_t)pool};
  return ashlar_pretend_finish(f->m, &f->device,
                               ashlar_allocate_begin(f->m, bytes, stream, caller));
}

/* A pool whose scope is for the thread with its number; marked or not. */
static int32_t pool_of(struct fixture *f, int lends)
{
  const int32_t pool = ashlar_pool_create(f->m, 0).pool;
  assert_true(pool > 0);
  assert_int_equal(ashlar_pool_set_use_on_oom(f->m, pool, lends), ASHLAR_OK);
  assert_int_equal(ashlar_scope_open(f->m, pool, (uint64_t)pool, -1), ASHLAR_OK);
  return pool;
}

/* The address of a block that a pool has cached. */
static uint64_t cached(struct fixture *f, uint64_t bytes, int32_t pool, int32_t stream)
{
  const struct ashlar_step step = by(f, bytes, pool, stream);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.pool, pool);
  must_free(f, step.slot);
  return step.address;
}

/* The block stays the pool's, is counted by its class, and nothing is released for it: neither what the default pool has
   cached. Once the device refuses, not before. Covers REQ-LADDER-fallback. */
static void a_marked_pool_lends(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  uint64_t address = 0;
  int32_t pool = 0;
  fixture_restart(f, ashlar_default_config(), 2, 62 * MIB);
  pool = pool_of(f, 1);
  address = cached(f, 30 * MIB, pool, 0);
  (void)cached(f, 12 * MIB, 0, 1);
  step = by(f, 12 * MIB, 0, 0);
  assert_int_not_equal(step.address, address); /* the device gave */
  assert_int_equal(step.pool, 0);

  step = by(f, 20 * MIB, 0, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.address, address);
  assert_int_equal(step.pool, pool);
  assert_int_equal(f->device.releases, 0);
  assert_int_equal(f->device.step_count, 1);
  assert_int_equal(f->device.refusals, 1);
  assert_int_equal(current(f, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_LARGE), 2);
  assert_int_equal(current(f, ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_SMALL), 0);
  assert_int_equal(f->m->pool_reserved[pool].current, 30 * MIB);
  check_whole(f->m);
  must_free(f, step.slot);
  assert_int_equal(ashlar_choose(f->m, 20 * MIB, 0, ashlar_nobody()), -1);
  assert_int_equal(by(f, 20 * MIB, pool, 0).address, address); /* it went back to the pool */
}

/* Not a pool without the mark, not to a request of another pool, not what is of another stream or class. Covers
   REQ-LADDER-fallback. */
static void nothing_else_is_lent(void **state)
{
  struct fixture *f = *state;
  int32_t other = 0;
  fixture_restart(f, ashlar_default_config(), 2, 32 * MIB);
  (void)cached(f, 30 * MIB, pool_of(f, 0), 0);
  (void)cached(f, MIB, pool_of(f, 1), 0);
  must_run_out(f, 20 * MIB, 0);
  must_run_out(f, 2 * MIB, 0);

  fixture_restart(f, ashlar_default_config(), 2, 30 * MIB);
  (void)cached(f, 30 * MIB, pool_of(f, 1), 0);
  other = pool_of(f, 0);
  assert_int_equal(by(f, 20 * MIB, other, 0).kind, ASHLAR_STEP_OUT_OF_MEMORY);
  assert_int_equal(by(f, 20 * MIB, 0, 1).kind, ASHLAR_STEP_OUT_OF_MEMORY);
  assert_int_equal(f->device.releases, 0);
  assert_int_equal(by(f, 20 * MIB, 0, 0).kind, ASHLAR_STEP_DONE);
}

/* A pool without users gives its memory back, and lends nothing. Covers REQ-LADDER-fallback. */
static void a_freeable_pool_lends_nothing(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  int32_t pool = 0;
  fixture_restart(f, ashlar_default_config(), 2, 30 * MIB);
  pool = pool_of(f, 1);
  (void)cached(f, 30 * MIB, pool, 0);
  assert_int_equal(ashlar_scope_close(f->m, pool), ASHLAR_OK);
  assert_int_equal(ashlar_pool_release(f->m, pool), ASHLAR_OK); /* of the scope */
  assert_int_equal(ashlar_pool_release(f->m, pool), ASHLAR_OK);
  step = by(f, 20 * MIB, 0, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.pool, 0);
  assert_int_equal(f->device.releases, 1);
}

/* The pool that was created first, whatever its number, and however well the other's block fits. Covers
   REQ-LADDER-fallback. */
static void the_first_pool_created_lends(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  uint64_t address = 0;
  int32_t ended = 0;
  int32_t old = 0;
  int32_t young = 0;
  fixture_restart(f, ashlar_default_config(), 2, 70 * MIB);
  ended = ashlar_pool_create(f->m, 0).pool;
  old = pool_of(f, 1);
  assert_int_equal(ashlar_pool_leave(f->m, ended), ASHLAR_OK);
  young = pool_of(f, 1);
  assert_int_equal(young, ended);
  (void)cached(f, 30 * MIB, young, 0);
  address = cached(f, 40 * MIB, old, 0);
  step = by(f, 30 * MIB, 0, 0);
  assert_int_equal(step.address, address);
  assert_int_equal(step.pool, old);
}

/* Growable segments are off for the search: a growable block is not lent, though it fits better. Covers
   REQ-LADDER-fallback, REQ-BESTFIT-skip. */
static void growable_segments_are_off_for_it(void **state)
{
  struct fixture *f = *state;
  struct ashlar_config config = ashlar_default_config();
  struct ashlar_step step;
  int32_t pool = 0;
  config.device_total = GIB;
  fixture_restart(f, config, 2, UINT64_MAX);
  pool = pool_of(f, 1);
  const struct ashlar_placement range =
      ashlar_range_add(f->m, GIB, 20 * MIB, pool, ASHLAR_CLASS_LARGE, 0);
  assert_int_equal(range.status, ASHLAR_OK);
  assert_int_equal(ashlar_range_map(f->m, range.slot, GIB, 20 * MIB).status, ASHLAR_OK);
  assert_int_equal(ashlar_segment_add(f->m, 2 * GIB, 30 * MIB, pool, ASHLAR_CLASS_LARGE, 0).status,
                   ASHLAR_OK);
  assert_int_equal(ashlar_growable_set(f->m, 1), ASHLAR_OK);
  step = begun(f, 12 * MIB);
  assert_int_equal(step.kind, ASHLAR_STEP_RESERVE);
  step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, UINT64_C(1) << 40);
  assert_int_equal(step.kind, ASHLAR_STEP_MAP);
  step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_REFUSED, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.address, 2 * GIB);
  assert_int_equal(step.bytes, 12 * MIB);
  check_whole(f->m);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, fixture_start, fixture_stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      EACH(callbacks_come_behind_a_failed_search),
      EACH(what_callbacks_free_serves),
      EACH(callbacks_are_asked_once),
      EACH(a_marked_pool_lends),
      EACH(nothing_else_is_lent),
      EACH(a_freeable_pool_lends_nothing),
      EACH(the_first_pool_created_lends),
      EACH(growable_segments_are_off_for_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
