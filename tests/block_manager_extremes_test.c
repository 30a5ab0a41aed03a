/* block_manager_extremes_test.c - every public operation with numbers, sizes and addresses at the ends of their types.
 *
 * What may be passed is not checked by the layer above, so that nothing may come of it but an answer: no index out of
 * range, no sum that overflows, no state that is not whole.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"
#include "tests/storage.h"

#define RANGE (UINT64_C(1) << 42)

/* What an operation is called with: each number and each size that it takes is one of these. */
struct extreme {
  int32_t number;
  uint64_t size;
  uint64_t other;
};

/* Blocks of the state that operations are tried on. */
static struct {
  int32_t owned;
  int32_t free;
  int32_t mapped;   /* free, of a growable segment */
  int32_t unmapped; /* behind it */
} at;

static uint32_t handle(const struct ashlar_manager *m, int32_t slot)
{
  return ashlar_block(m, slot).generation;
}

static struct ashlar_caller caller_of(struct extreme x)
{
  return (struct ashlar_caller){x.number, x.size};
}

static void settings(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_limit_set(m, x.size, x.other);
  (void)ashlar_growable_set(m, x.number);
}

static void streams(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_stream_register(m, x.size);
  (void)ashlar_stream_find(m, x.size);
  (void)ashlar_capture_begin(m, x.number);
  (void)ashlar_stream_gone(m, x.number, caller_of(x));
  (void)ashlar_capture_end(m, x.number);
  (void)ashlar_stream_gone(m, x.number, caller_of(x));
}

static void uses(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_record_use(m, x.number, (uint32_t)x.size, x.number, caller_of(x));
  (void)ashlar_record_use(m, at.owned, handle(m, at.owned), x.number, caller_of(x));
  (void)ashlar_free(m, at.owned, handle(m, at.owned), caller_of(x));
  (void)ashlar_queue_head(m, x.number);
  (void)ashlar_event_next(m);
  (void)ashlar_complete(m, x.number, x.size, caller_of(x));
  (void)ashlar_complete(m, 1, x.size, caller_of(x));
}

static void pools(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_pool_create(m, (uint32_t)x.size);
  (void)ashlar_pool_exists(m, x.number);
  (void)ashlar_pool_acquire(m, x.number, (uint32_t)x.size);
  (void)ashlar_pool_set_use_on_oom(m, x.number, 1);
  (void)ashlar_pool_set_no_split(m, x.number);
  (void)ashlar_scope_open(m, x.number, x.size, x.number);
  (void)ashlar_scope_open(m, 1, x.size, x.number);
  (void)ashlar_scope_route(m, x.size, x.number);
  (void)ashlar_pool_leave(m, x.number);
  (void)ashlar_scope_leave(m, x.number);
}

static void requests(struct ashlar_manager *m, struct extreme x)
{
  const struct ashlar_caller caller = caller_of(x);
  (void)ashlar_allocate_begin(m, x.size, x.number, caller);
  (void)ashlar_choose(m, x.size, x.number, caller);
  (void)ashlar_choose(m, x.size, 0, caller);
  (void)ashlar_allocate_exactly(m, x.other, x.size, 0, caller);
  (void)ashlar_allocate_exactly(m, ashlar_block(m, at.free).address, x.size, 0, caller);
  (void)ashlar_empty_cache_begin(m, x.number, caller);
  (void)ashlar_abandon(m, x.number);
}

/* Addresses that the device gives. That they are apart from every block is its promise, which it keeps. */
static void addresses(struct ashlar_manager *m, struct extreme x)
{
  const struct ashlar_step step = ashlar_allocate_begin(m, x.size, 0, ashlar_nobody());
  (void)ashlar_resume(m, x.number, ASHLAR_OUTCOME_REFUSED, x.other);
  if (x.number != step.request) {
    (void)ashlar_resume(m, x.number, ASHLAR_OUTCOME_FAILED, x.other);
  }
  if (x.size < GIB || x.other > RANGE + GIB) {
    (void)ashlar_resume(m, step.request, ASHLAR_OUTCOME_DONE, x.other);
  }
}

static void owners(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_retain(m, x.number, (uint32_t)x.size);
  (void)ashlar_release(m, x.number, (uint32_t)x.size, caller_of(x));
  (void)ashlar_base(m, x.number, (uint32_t)x.size);
  (void)ashlar_find(m, x.size);
  (void)ashlar_free(m, x.number, (uint32_t)x.size, caller_of(x));
  (void)ashlar_free_address(m, x.size, caller_of(x));
}

static void rebuilding(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_range_map(m, x.number, x.size, x.other);
  (void)ashlar_range_map(m, at.unmapped, x.size, x.other);
  (void)ashlar_range_map(m, at.unmapped, RANGE + 20 * MIB, x.size);
  (void)ashlar_range_unmap(m, x.number, x.size, x.other);
  (void)ashlar_range_unmap(m, at.mapped, x.size, x.other);
  (void)ashlar_range_unmap(m, at.mapped, RANGE, x.size);
  (void)ashlar_allocate_at(m, x.number, x.size, x.other, x.size);
  (void)ashlar_allocate_at(m, at.free, x.size, x.other, x.size);
  (void)ashlar_allocate_at(m, at.free, ashlar_block(m, at.free).address, x.size, x.other);
  (void)ashlar_resize(m, x.number, x.size);
  (void)ashlar_resize(m, at.owned, x.size);
  (void)ashlar_segment_remove(m, x.number);
}

static void looking(struct ashlar_manager *m, struct extreme x)
{
  (void)ashlar_block(m, x.number);
  (void)ashlar_release_next(m, x.number);
  (void)ashlar_largest(m);
}

/* Owned, free, mapped and unmapped blocks; uses, a pool, and two requests in flight, or none. */
static void prepare(struct fixture *f, int in_flight)
{
  struct ashlar_config config = ashlar_default_config();
  struct ashlar_placement range;
  struct ashlar_step step;
  config.device_total = GIB;
  fixture_restart(f, config, 3, UINT64_MAX);
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 1);
  step = must_allocate(f, 2 * MIB, 0);
  at.owned = step.slot;
  assert_int_equal(ashlar_record_use(f->m, step.slot, step.generation, 1, ashlar_nobody()),
                   ASHLAR_OK);
  at.free = ashlar_block(f->m, at.owned).next;
  range = ashlar_range_add(f->m, RANGE, 60 * MIB, 0, ASHLAR_CLASS_LARGE, 0);
  at.mapped = ashlar_range_map(f->m, range.slot, RANGE, 20 * MIB).slot;
  at.unmapped = ashlar_block(f->m, at.mapped).next;
  if (in_flight != 0) {
    (void)ashlar_allocate_begin(f->m, 64 * MIB, 1, ashlar_nobody());
    assert_int_equal(ashlar_growable_set(f->m, 1), ASHLAR_OK);
    assert_int_equal(ashlar_allocate_begin(f->m, 70 * MIB, 0, ashlar_nobody()).kind,
                     ASHLAR_STEP_RESERVE);
  }
  check_whole(f->m);
}

static const int32_t NUMBERS[] = {INT32_MIN,        -2,           -1,       0, 1,
                                  ASHLAR_SLOTS - 1, ASHLAR_SLOTS, INT32_MAX};
static const uint64_t SIZES[] = {0,
                                 1,
                                 512,
                                 MIB,
                                 (UINT64_C(1) << 60) - 1,
                                 UINT64_C(1) << 60,
                                 UINT64_C(1) << 63,
                                 UINT64_MAX - 511,
                                 UINT64_MAX};
static const uint64_t OTHERS[] = {0, 512, UINT64_C(1) << 63, UINT64_MAX - 511, UINT64_MAX};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Tries an operation with everything, each time on the state that was remembered. */
static void try_all(struct fixture *f, void (*operation)(struct ashlar_manager *, struct extreme))
{
  remember(f);
  for (size_t i = 0; i < COUNT(NUMBERS) * COUNT(SIZES) * COUNT(OTHERS); i++) {
    const struct extreme x = {NUMBERS[i % COUNT(NUMBERS)], SIZES[i / COUNT(NUMBERS) % COUNT(SIZES)],
                              OTHERS[i / COUNT(NUMBERS) / COUNT(SIZES)]};
    operation(f->m, x);
    if (!ashlar_storage_same(f->m, f->before)) {
      check_whole(f->m);
      ashlar_storage_copy(f->m, f->before);
    }
  }
}

/* Covers REQ-RTE. Oracle: the address and undefined behaviour sanitizers, under which each test runs a second time:
   REQ-RTE. */
static void any_number_has_an_answer(void **state)
{
  static void (*const operations[])(struct ashlar_manager *, struct extreme) = {
      settings, streams, uses, pools, requests, addresses, owners, rebuilding, looking};
  struct fixture *f = *state;
  for (int in_flight = 0; in_flight < 2; in_flight++) {
    prepare(f, in_flight);
    for (size_t i = 0; i < COUNT(operations); i++) {
      try_all(f, operations[i]);
    }
  }
}

static void segments(struct ashlar_manager *m, struct extreme x)
{
  if (ashlar_segment_add(m, x.other, x.size, x.number, x.number, x.number).status != ASHLAR_OK) {
    (void)ashlar_segment_add(m, x.other, x.size, 0, ASHLAR_CLASS_LARGE, 0);
  }
}

static void ranges(struct ashlar_manager *m, struct extreme x)
{
  if (ashlar_range_add(m, x.other, x.size, x.number, x.number, x.number).status != ASHLAR_OK) {
    (void)ashlar_range_add(m, x.other, x.size, 0, ASHLAR_CLASS_LARGE, 0);
  }
}

/* The same of segments, in a manager that has none: they are to be apart. Covers REQ-RTE. */
static void any_segment_has_an_answer(void **state)
{
  struct fixture *f = *state;
  fixture_restart(f, ashlar_default_config(), 1, UINT64_MAX);
  try_all(f, segments);
  try_all(f, ranges);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_number_has_an_answer),
      cmocka_unit_test(any_segment_has_an_answer),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
