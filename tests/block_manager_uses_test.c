/* block_manager_uses_test.c - streams, uses and handles at the ends of what can be counted, and while requests wait.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */

static enum ashlar_status used(struct fixture *f, int32_t slot, int32_t stream)
{
  return ashlar_record_use(f->m, slot, ashlar_block(f->m, slot).generation, stream,
                           ashlar_nobody());
}

static int32_t records_left(const struct ashlar_manager *m)
{
  return m->use_spare_count + (ASHLAR_USES - m->use_top);
}

/* Records uses of new blocks until so many records are left; the last block. */
static int32_t fill(struct fixture *f, int32_t left)
{
  int32_t slot = -1;
  int32_t stream = ASHLAR_STREAM_DEFERRED;
  while (records_left(f->m) > left) {
    if (stream == ASHLAR_STREAM_DEFERRED) {
      slot = must_allocate(f, 512, 0).slot;
      stream = 1;
    }
    assert_int_equal(used(f, slot, stream), ASHLAR_OK);
    stream++;
  }
  assert_int_equal(records_left(f->m), left);
  return slot;
}

/* The first use of a block needs two records. Covers REQ-CAPACITY-others, REQ-ATOMIC. */
static void uses_run_out(void **state)
{
  struct fixture *f = *state;
  int32_t first = -1;
  int32_t last = -1;
  fixture_restart(f, ashlar_default_config(), ASHLAR_STREAM_DEFERRED, UINT64_MAX);
  first = must_allocate(f, 512, 0).slot;
  assert_int_equal(used(f, first, 1), ASHLAR_OK);
  last = fill(f, 1);
  assert_int_equal(used(f, must_allocate(f, 512, 0).slot, 1), ASHLAR_ERROR_USES);
  assert_int_equal(used(f, first, 2), ASHLAR_OK); /* one is enough */
  remember(f);
  assert_int_equal(used(f, first, 3), ASHLAR_ERROR_USES);
  assert_int_equal(used(f, last, ASHLAR_STREAM_DEFERRED - 1), ASHLAR_ERROR_USES);
  must_be_unchanged(f);
  assert_int_equal(used(f, first, 2), ASHLAR_OK); /* recorded already */
  assert_int_equal(used(f, first, 0), ASHLAR_OK); /* its own stream needs no record */
  check_whole(f->m);
  must_free(f, first); /* the record of deferral comes back */
  assert_int_equal(records_left(f->m), 1);
  check_whole(f->m);
}

/* Emptying one pool waits for the uses of its blocks only. Covers REQ-POOL-freeable. */
static void emptying_a_pool_waits_for_its_uses(void **state)
{
  struct fixture *f = *state;
  const int32_t pool = ashlar_pool_create(f->m, 0).pool;
  int32_t own = -1;
  int32_t other = -1;
  struct ashlar_step step;
  assert_int_equal(ashlar_scope_open(f->m, pool, 0, -1), ASHLAR_OK);
  own = must_allocate(f, 512, 0).slot;
  assert_int_equal(ashlar_scope_leave(f->m, pool), ASHLAR_OK);
  other = must_allocate(f, 512, 0).slot;
  assert_int_equal(ashlar_block(f->m, own).pool, pool);
  assert_int_equal(ashlar_block(f->m, other).pool, 0);
  assert_int_equal(used(f, own, 1), ASHLAR_OK);
  assert_int_equal(used(f, other, 1), ASHLAR_OK);
  must_free(f, own);
  must_free(f, other);
  while (f->m->pool_uses[pool] > 0) {
    assert_int_equal(ashlar_pool_leave(f->m, pool), ASHLAR_OK);
  }

  step = ashlar_empty_cache_begin(f->m, pool, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_WAIT);
  assert_int_equal(step.stream, 1);
  assert_int_equal(step.number, 1);
  check_whole(f->m);
  step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_RELEASE);
  assert_int_equal(step.pool, pool);
  step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(ashlar_block(f->m, other).state, ASHLAR_PENDING);
  assert_int_equal(ashlar_queue_head(f->m, 1), 2);
  check_whole(f->m);
}

/* A stream that a request waits for cannot go; another one can. Covers REQ-STREAM-gone. */
static void a_stream_that_is_waited_for_stays(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  int32_t slot = -1;
  fixture_restart(f, ashlar_default_config(), 3, UINT64_MAX);
  slot = must_allocate(f, 512, 0).slot;
  assert_int_equal(used(f, slot, 1), ASHLAR_OK);
  must_free(f, slot);
  step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_WAIT);
  remember(f);
  assert_int_equal(ashlar_stream_gone(f->m, 1, ashlar_nobody()), ASHLAR_ERROR_BUSY);
  must_be_unchanged(f);
  assert_int_equal(ashlar_stream_gone(f->m, 2, ashlar_nobody()), ASHLAR_OK);
  step = ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_RELEASE);
  assert_int_equal(ashlar_stream_gone(f->m, 1, ashlar_nobody()), ASHLAR_OK);
  check_whole(f->m);
}

/* A key comes again while a stream that had it, and is gone, has segments still. Covers REQ-STREAM-registered. */
static void streams_of_one_key_stand_by_number(void **state)
{
  struct fixture *f = *state;
  fixture_restart(f, ashlar_default_config(), 0, UINT64_MAX);
  assert_int_equal(ashlar_stream_register(f->m, 200).stream, 0);
  assert_int_equal(ashlar_stream_register(f->m, 100).stream, 1);
  (void)must_add(f, SEGMENT, 2 * MIB, ASHLAR_CLASS_SMALL, 1);
  assert_int_equal(ashlar_stream_gone(f->m, 0, ashlar_nobody()), ASHLAR_OK);
  assert_int_equal(ashlar_stream_gone(f->m, 1, ashlar_nobody()), ASHLAR_OK);
  assert_int_equal(ashlar_stream_register(f->m, 100).stream, 0);
  assert_int_equal(f->m->stream_order[0], 0);
  assert_int_equal(f->m->stream_order[1], 1);
  assert_int_equal(ashlar_stream_find(f->m, 100), 0);
  assert_int_equal(ashlar_stream_find(f->m, 200), -1);
  check_whole(f->m);
}

/* Covers REQ-FREE-handle. */
static void a_block_that_nobody_owned_has_no_handle(void **state)
{
  struct fixture *f = *state;
  const int32_t slot = must_add(f, SEGMENT, 512, ASHLAR_CLASS_SMALL, 0);
  remember(f);
  assert_int_equal(ashlar_retain(f->m, slot, 0), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_free(f->m, slot, 0, ashlar_nobody()).status, ASHLAR_ERROR_SLOT);
  must_be_unchanged(f);
  assert_int_equal(ashlar_allocate_at(f->m, slot, SEGMENT, 512, 1).status, ASHLAR_OK);
  must_free(f, slot);
  assert_int_equal(ashlar_retain(f->m, slot, 0), ASHLAR_ERROR_STALE_HANDLE);
}

/* Covers REQ-LIFETIME-once, REQ-ATOMIC. */
static void references_are_counted_to_their_end(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = must_allocate(f, 512, 0);
  f->m->references[step.slot] = UINT32_MAX - 1;
  assert_int_equal(ashlar_retain(f->m, step.slot, step.generation), ASHLAR_OK);
  remember(f);
  assert_int_equal(ashlar_retain(f->m, step.slot, step.generation), ASHLAR_ERROR_COUNT);
  must_be_unchanged(f);
  assert_int_equal(ashlar_release(f->m, step.slot, step.generation, ashlar_nobody()).status,
                   ASHLAR_OK);
  assert_int_equal(f->m->references[step.slot], UINT32_MAX - 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(uses_run_out, fixture_start, fixture_stop),
      cmocka_unit_test_setup_teardown(emptying_a_pool_waits_for_its_uses, fixture_start,
                                      fixture_stop),
      cmocka_unit_test_setup_teardown(a_stream_that_is_waited_for_stays, fixture_start,
                                      fixture_stop),
      cmocka_unit_test_setup_teardown(streams_of_one_key_stand_by_number, fixture_start,
                                      fixture_stop),
      cmocka_unit_test_setup_teardown(a_block_that_nobody_owned_has_no_handle, fixture_start,
                                      fixture_stop),
      cmocka_unit_test_setup_teardown(references_are_counted_to_their_end, fixture_start,
                                      fixture_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
