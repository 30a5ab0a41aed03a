/* block_manager_limits_test.c - the ends of what a manager can hold, and what it counts.
 *
 * Works at every capacity: at the largest the tables are filled to the last of two million slots.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/core_check.h"
#include "tests/manager_support.h"
#include "tests/storage.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */

/* --- running out of slots --- */

/* Slots that are left: spare, or never used. */
static int32_t slots_left(const struct ashlar_manager *m)
{
  return m->spare_count + (ASHLAR_SLOTS - m->top);
}

/* Adds segments of 512 bytes, ascending, until so many slots are left. */
static void fill(struct fixture *f, int32_t left, uint64_t address)
{
  while (slots_left(f->m) > left) {
    if (ashlar_segment_add(f->m, address, 512, 0, ASHLAR_CLASS_SMALL, 1).status != ASHLAR_OK) {
      fail_msg("%d slots are left", (int)slots_left(f->m));
    }
    address += 1024;
  }
}

/* What needs slots is refused where they are not left, and changes nothing; frees always work.
   Covers REQ-CAPACITY-slots, REQ-ATOMIC. */
static void slots_run_out(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step first = must_allocate(f, 512, 0);
  const struct ashlar_step second = must_allocate(f, 512, 0);
  const struct ashlar_step third = must_allocate(f, 512, 0);
  const enum ashlar_status longer = ashlar_resize(f->m, third.slot, 1024);
  const struct ashlar_step fourth = must_allocate(f, 512, 0);
  const int32_t rest = ashlar_block(f->m, fourth.slot).next;
  const uint64_t inside = fourth.address + 1024;
  int32_t whole = -1;
  assert_int_equal(longer, ASHLAR_OK);
  fill(f, 1, SEGMENT);
  remember(f);
  for (int twice = 0; twice < 2; twice++) { /* with the last slot made spare, nothing changes */
    must_refuse(ashlar_allocate_begin(f->m, 64 * MIB + 512, 1, ashlar_nobody()),
                ASHLAR_ERROR_CAPACITY);
    assert_int_equal(ashlar_allocate_at(f->m, rest, inside, 512, 1).status, ASHLAR_ERROR_CAPACITY);
    assert_int_equal(ashlar_allocate_at(f->m, rest, inside, 512, 1).slot, -1);
    must_keep_blocks(f);
  }

  fill(f, 0, SEGMENT - 512);
  remember(f);
  assert_int_equal(ashlar_segment_add(f->m, MIB, 512, 0, 0, 0).status, ASHLAR_ERROR_CAPACITY);
  assert_int_equal(ashlar_segment_add(f->m, MIB, 512, 0, 0, 0).slot, -1);
  assert_int_equal(ashlar_resize(f->m, third.slot, 512), ASHLAR_ERROR_CAPACITY);
  must_refuse(ashlar_allocate_begin(f->m, 512, 0, ashlar_nobody()), ASHLAR_ERROR_CAPACITY);
  must_refuse(ashlar_allocate_begin(f->m, 64 * MIB, 1, ashlar_nobody()), ASHLAR_ERROR_CAPACITY);
  must_be_unchanged(f);

  /* what needs no slot is done */
  whole = ashlar_release_next(f->m, -1);
  assert_int_equal(
      ashlar_allocate_at(f->m, whole, ashlar_block(f->m, whole).address, 512, 1).status, ASHLAR_OK);
  assert_int_equal(ashlar_resize(f->m, fourth.slot, 1024), ASHLAR_OK);
  assert_int_equal(ashlar_resize(f->m, fourth.slot, 512), ASHLAR_OK);
  assert_int_equal(slots_left(f->m), 0);

  must_free(f, second.slot); /* between two blocks in use: no slot comes back */
  assert_int_equal(slots_left(f->m), 0);
  must_free(f, first.slot); /* joined */
  assert_int_equal(slots_left(f->m), 1);
  assert_int_equal(ashlar_resize(f->m, third.slot, 512), ASHLAR_OK);
  assert_int_equal(slots_left(f->m), 0);
  must_free(f, third.slot);  /* joined on both sides */
  must_free(f, fourth.slot); /* the same */
  assert_int_equal(slots_left(f->m), 4);
  (void)must_allocate(f, 1024, 0);
  check_whole(f->m);
}

/* A request needs four slots; one that has them is served, with a new segment and the rest that is split off it.
   Covers REQ-CAPACITY-slots. */
static void the_last_slots_serve_a_request(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step;
  fill(f, ASHLAR_REQUEST_SLOTS, SEGMENT);
  step = must_allocate(f, 512, 0);
  assert_int_equal(slots_left(f->m), ASHLAR_REQUEST_SLOTS - 2);
  assert_int_equal(ashlar_block(f->m, ashlar_block(f->m, step.slot).next).state, ASHLAR_FREE);
  must_refuse(ashlar_allocate_begin(f->m, 512, 0, ashlar_nobody()), ASHLAR_ERROR_CAPACITY);
  must_free(f, step.slot);
  assert_int_equal(slots_left(f->m), ASHLAR_REQUEST_SLOTS - 1);
  /* the highest first, which costs the free index nothing */
  for (int32_t slot = ashlar_slot_limit(f->m) - 1; slot >= 0; slot--) {
    const enum ashlar_status expected =
        ashlar_block(f->m, slot).state == ASHLAR_FREE ? ASHLAR_OK : ASHLAR_ERROR_SLOT;
    assert_int_equal(ashlar_segment_remove(f->m, slot), expected);
  }
  assert_int_equal(slots_left(f->m), ASHLAR_SLOTS);
  assert_int_equal(f->m->bytes[ASHLAR_FREE], 0);
  check_whole(f->m);
}

/* Each request in flight keeps four slots: so many fit the tables, and no more.
   Covers REQ-CAPACITY-slots, REQ-CAPACITY-others. */
static void requests_in_flight_share_the_slots(void **state)
{
  struct fixture *f = *state;
  enum { FLYING = 3 };
  struct ashlar_step flying[FLYING];
  fill(f, (FLYING + 1) * ASHLAR_REQUEST_SLOTS - 1, SEGMENT);
  for (int i = 0; i < FLYING; i++) {
    flying[i] = ashlar_allocate_begin(f->m, 4 * MIB, 0, ashlar_nobody());
    assert_int_equal(flying[i].kind, ASHLAR_STEP_ALLOCATE);
  }
  remember(f);
  must_refuse(ashlar_allocate_begin(f->m, 512, 1, ashlar_nobody()), ASHLAR_ERROR_CAPACITY);
  must_keep_blocks(f);
  for (int i = 0; i < FLYING; i++) {
    assert_int_equal(ashlar_pretend_finish(f->m, &f->device, flying[i]).kind, ASHLAR_STEP_DONE);
    check_whole(f->m);
  }
}

/* Blocks until no more fit the tables, freed in the reverse order: every slot is there again.
   Covers REQ-CAPACITY-spares. */
static void many_blocks_in_use(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step = must_allocate(f, 512, 0);
  int32_t last = -1;
  int32_t count = 0;
  while (step.kind == ASHLAR_STEP_DONE) {
    last = step.slot;
    count++;
    step = ashlar_pretend_allocate(f->m, &f->device, 512, 0);
  }
  must_refuse(step, ASHLAR_ERROR_CAPACITY);
  assert_in_range(slots_left(f->m), ASHLAR_REQUEST_SLOTS - 2, ASHLAR_REQUEST_SLOTS - 1);
  assert_int_equal(count, ASHLAR_SLOTS - slots_left(f->m) - f->m->free_count);
  check_whole(f->m);
  for (int32_t slot = last; slot != -1;) {
    const int32_t before = ashlar_block(f->m, slot).prev;
    must_free(f, slot);
    slot = before;
  }
  check_whole(f->m);
  print_message("%d blocks in use\n", (int)count);
}

/* --- generations --- */

/* Covers REQ-FREE-handle. */
static void generations_wrap(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step step = must_allocate(f, 2 * MIB, 0);
  f->m->generation[step.slot] = UINT32_MAX - 1;
  must_free(f, step.slot);
  step = must_allocate(f, 2 * MIB, 0);
  assert_int_equal(step.generation, UINT32_MAX);
  assert_int_equal(ashlar_free(f->m, step.slot, 0, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, step.slot, UINT32_MAX, ashlar_nobody()).status, ASHLAR_OK);
  step = must_allocate(f, 2 * MIB, 0);
  assert_int_equal(step.generation, 1); /* 0 is of slots that no owner gave back */
  assert_int_equal(ashlar_free(f->m, step.slot, UINT32_MAX, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, step.slot, 1, ashlar_nobody()).status, ASHLAR_OK);
  check_whole(f->m);
}

/* --- counters --- */

static void must_count(struct ashlar_counter counter, struct ashlar_counter expected)
{
  assert_int_equal(counter.current, expected.current);
  assert_int_equal(counter.peak, expected.peak);
  assert_int_equal(counter.allocated, expected.allocated);
  assert_int_equal(counter.freed, expected.freed);
}

/* Counters stop at the ends instead of wrapping.
   Covers REQ-ACCOUNT-saturate, REQ-ACCOUNT-counter. */
static void counters_saturate(void **state)
{
  const struct ashlar_counter full = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1, 7};
  const struct ashlar_counter tired = {5, 9, 9, UINT64_MAX - 1};
  (void)state;
  must_count(ashlar_counter_increase(full, 1),
             (struct ashlar_counter){UINT64_MAX, UINT64_MAX, UINT64_MAX, 7});
  must_count(ashlar_counter_increase(full, 2),
             (struct ashlar_counter){UINT64_MAX, UINT64_MAX, UINT64_MAX, 7});
  must_count(ashlar_counter_increase(full, UINT64_MAX),
             (struct ashlar_counter){UINT64_MAX, UINT64_MAX, UINT64_MAX, 7});
  must_count(ashlar_counter_decrease(tired, 5), (struct ashlar_counter){0, 9, 9, UINT64_MAX});
  must_count(ashlar_counter_decrease(tired, 6), (struct ashlar_counter){0, 9, 9, UINT64_MAX});
  must_count(ashlar_counter_decrease(tired, 0), tired);
  must_count(ashlar_counter_increase(tired, 3), (struct ashlar_counter){8, 9, 12, UINT64_MAX - 1});
  must_count(ashlar_counter_increase(tired, 5),
             (struct ashlar_counter){10, 10, 14, UINT64_MAX - 1});
}

/* A short history with every counter worked out by hand. Sizes: a is 1000 bytes in 1024; b, c, d 512 each; e 4 MiB.
   Covers REQ-ACCOUNT-allocation, REQ-ACCOUNT-active, REQ-ACCOUNT-segment, REQ-ACCOUNT-reserved,
   REQ-ACCOUNT-inactive, REQ-ACCOUNT-columns, REQ-ACCOUNT-counter, REQ-ACCOUNT-net. */
static void counters_by_hand(void **state)
{
  struct fixture *f = *state;
  static const uint64_t rest = 2 * MIB - 1024; /* behind a */
  static const struct {
    size_t kind;
    size_t column;
    struct ashlar_counter counter;
  } rows[] = {
      /* after: a, b, c, d, e in; b, d, c out, which joins all three and the rest; a new f of 100 bytes, where b was */
      {ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_ALL, {3, 5, 6, 3}},
      {ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_SMALL, {2, 4, 5, 3}},
      {ASHLAR_STAT_ALLOCATION, ASHLAR_STAT_LARGE, {1, 1, 1, 0}},
      {ASHLAR_STAT_ACTIVE, ASHLAR_STAT_ALL, {3, 5, 6, 3}},
      {ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL, {2, 2, 2, 0}},
      {ASHLAR_STAT_SEGMENT, ASHLAR_STAT_SMALL, {1, 1, 1, 0}},
      {ASHLAR_STAT_SEGMENT, ASHLAR_STAT_LARGE, {1, 1, 1, 0}},
      {ASHLAR_STAT_ALLOCATED_BYTES, ASHLAR_STAT_SMALL, {1536, 2560, 3072, 1536}},
      {ASHLAR_STAT_ALLOCATED_BYTES, ASHLAR_STAT_LARGE, {4 * MIB, 4 * MIB, 4 * MIB, 0}},
      {ASHLAR_STAT_ACTIVE_BYTES,
       ASHLAR_STAT_ALL,
       {4 * MIB + 1536, 4 * MIB + 2560, 4 * MIB + 3072, 1536}},
      {ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL, {22 * MIB, 22 * MIB, 22 * MIB, 0}},
      {ASHLAR_STAT_REQUESTED_BYTES,
       ASHLAR_STAT_SMALL,
       {1100, 1000 + 1536, 1000 + 1536 + 100, 1536}},
      /* the rest; +1 for b; d joins the rest: no change; c joins b and the rest: -1; f: no change */
      {ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_SMALL, {1, 2, 2, 1}},
      {ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_LARGE, {1, 1, 1, 0}},
      /* rest in; b, c, d out of it; b, d, c back; f out of it */
      {ASHLAR_STAT_INACTIVE_SPLIT_BYTES, ASHLAR_STAT_SMALL, {rest - 512, rest, rest + 1536, 2048}},
      {ASHLAR_STAT_INACTIVE_SPLIT_BYTES, ASHLAR_STAT_LARGE, {16 * MIB, 16 * MIB, 16 * MIB, 0}},
  };
  struct ashlar_step b;
  struct ashlar_step c;
  struct ashlar_step d;
  (void)must_allocate(f, 1000, 0);
  b = must_allocate(f, 512, 0);
  c = must_allocate(f, 512, 0);
  d = must_allocate(f, 512, 0);
  (void)must_allocate(f, 4 * MIB, 0);
  must_free(f, b.slot);
  must_free(f, d.slot);
  must_free(f, c.slot);
  assert_int_equal(must_allocate(f, 100, 0).address, b.address);
  check_whole(f->m);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    must_count(counter_of(f->m, rows[i].kind, rows[i].column), rows[i].counter);
  }
  assert_int_equal(f->m->device_allocs, 2);
  assert_int_equal(f->m->device_frees, 0);
}

/* --- rejection --- */

/* The request is rejected, and holds nothing. */
static void must_reject(struct fixture *f, uint64_t bytes)
{
  const struct ashlar_step step = ashlar_pretend_allocate(f->m, &f->device, bytes, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_REJECTED);
  assert_int_equal(step.status, ASHLAR_OK);
  assert_int_equal(step.slot, -1);
  assert_int_equal(step.bytes, bytes);
  assert_int_equal(f->m->in_flight, 0);
  check_whole(f->m);
}

static void start_rejecting(struct fixture *f, uint64_t reject_above, uint32_t policy)
{
  struct ashlar_config config = ashlar_default_config();
  config.reject_above = reject_above;
  config.policy = policy;
  fixture_restart(f, config, 2, UINT64_MAX);
}

/* The first device allocation is rejected, to the byte, although a release would help; what is cached serves still.
   Covers REQ-LADDER-reject, REQ-ACCOUNT-rejected, REQ-ACCOUNT-reset. */
static void rejected_at_once(void **state)
{
  struct fixture *f = *state;
  for (uint32_t policy = ASHLAR_POLICY_COMPLETE; policy <= ASHLAR_POLICY_FAITHFUL; policy++) {
    start_rejecting(f, 40 * MIB, policy);
    (void)must_allocate(f, 20 * MIB, 0);
    must_free(f, must_allocate(f, 20 * MIB, 0).slot); /* up to the last byte */
    must_reject(f, 22 * MIB);
    must_reject(f, 42 * MIB); /* more than is allowed on its own */
    must_reject(f, 512);
    assert_int_equal(f->m->oom_rejections, 3);
    assert_int_equal(f->m->ooms, 0);
    assert_int_equal(f->m->alloc_retries, 0);
    assert_int_equal(f->m->sync_all_streams, 0);
    assert_int_equal(f->m->device_frees, 0);
    (void)must_allocate(f, 20 * MIB, 0);
    ashlar_stats_reset_totals(f->m);
    assert_int_equal(f->m->oom_rejections, 0);
  }
  start_rejecting(f, 1, ASHLAR_POLICY_COMPLETE);
  must_reject(f, 512);
}

/* The limit refuses first, so that the ladder goes on; what is rejected further down is a refusal there. The request ends
   rejected, not out of memory. Covers REQ-LADDER-reject, REQ-LADDER-limit, REQ-ACCOUNT-rejected. */
static void rejected_behind_the_limit(void **state)
{
  struct fixture *f = *state;
  for (uint32_t policy = ASHLAR_POLICY_COMPLETE; policy <= ASHLAR_POLICY_FAITHFUL; policy++) {
    start_rejecting(f, 40 * MIB, policy);
    assert_int_equal(ashlar_limit_set(f->m, 50 * MIB, UINT64_MAX), ASHLAR_OK);
    (void)must_allocate(f, 20 * MIB, 0);
    must_free(f, must_allocate(f, 20 * MIB, 0).slot);
    must_reject(f, 30 * MIB);
    assert_int_equal(f->m->device_frees, 1);
    assert_int_equal(f->m->alloc_retries, 1);
    assert_int_equal(f->m->oom_rejections, policy == ASHLAR_POLICY_COMPLETE ? 2 : 1);
    assert_int_equal(f->m->ooms, 0);
    must_run_out(f, 40 * MIB, 0); /* beyond the limit to the end */
    assert_int_equal(f->m->ooms, 1);
    (void)must_allocate(f, 20 * MIB, 0);
  }
}

/* Growable segments ask by the same rule. Covers REQ-LADDER-reject. */
static void rejected_before_growing(void **state)
{
  struct fixture *f = *state;
  struct ashlar_config config = ashlar_default_config();
  config.growable = 1;
  config.device_total = 100 * MIB;
  config.reject_above = 40 * MIB;
  fixture_restart(f, config, 2, UINT64_MAX);
  must_reject(f, 42 * MIB);
  assert_int_equal(f->m->segments_created, 0); /* nor was a range reserved */
  assert_int_equal(f->m->oom_rejections, 1);
  assert_int_equal(ashlar_allocate_begin(f->m, 40 * MIB, 0, ashlar_nobody()).kind,
                   ASHLAR_STEP_RESERVE);
  assert_int_equal(f->m->oom_rejections, 1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, fixture_start, fixture_stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      EACH(slots_run_out),
      EACH(the_last_slots_serve_a_request),
      EACH(requests_in_flight_share_the_slots),
      EACH(many_blocks_in_use),
      EACH(generations_wrap),
      EACH(counters_saturate),
      EACH(counters_by_hand),
      EACH(rejected_at_once),
      EACH(rejected_behind_the_limit),
      EACH(rejected_before_growing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
