/* sim_race_test.c - memory that changes hands out of order: the published cases, a wrong allocator and a right one.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim_support.h"

/* --- the published cases --- */

/* Scenario 1. A block copied to the host on a side stream is freed and used again on its own stream, which does not wait
   for the copy. */
static void a_copy_on_a_side_stream_is_overtaken(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s0 = sim_stream(&m);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t a = sim_segment(&m, 64 * MIB);
  sim_hand(&m, s0, a, 64 * MIB);
  sim_write(&m, s0, a, 64 * MIB);
  sim_order(&m, s1, s0);
  sim_read(&m, s1, a, 64 * MIB);
  assert_int_equal(sim_races(&m), 0);
  /* Handed again to s0, at the same address. */
  sim_hand(&m, s0, a, 32 * MIB);
  assert_int_equal(sim_races(&m), 1);
  const struct ashlar_sim_race *race = &m.races.race[0];
  assert_int_equal(race->kind, ASHLAR_SIM_RACE_HANDED);
  assert_int_equal(m.streams.slot[race->earlier.slot].handle, s1);
  assert_int_equal(race->earlier.at, 2); /* behind the wait */
  assert_false(race->earlier_writes);
  assert_int_equal(m.streams.slot[race->later.slot].handle, s0);
  assert_int_equal(race->address, a);
  assert_int_equal(race->bytes, 32 * MIB);
  assert_non_null(strstr(m.violation[ASHLAR_SIM_VIOLATION_RACE].last, "which reads it"));
  sim_write(&m, s0, a + 512, 512);
  assert_int_equal(sim_races(&m), 2);
  assert_int_equal(m.races.race[1].kind, ASHLAR_SIM_RACE_TOUCHED);
  assert_int_equal(m.races.race[1].address, a + 512);
  assert_int_equal(m.races.race[1].bytes, 512);
  /* Behind what was handed, nothing has changed hands. */
  sim_write(&m, s0, a + 32 * MIB, 32 * MIB);
  assert_int_equal(sim_races(&m), 2);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 2);
}

/* Scenario 2. Somebody waited for the work, but not the stream that the block goes to. */
static void a_wait_of_a_third_stream_is_none(void **state)
{
  (void)state;
  for (int joined = 0; joined < 2; joined++) {
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 1);
    const uint64_t s0 = sim_stream(&m);
    const uint64_t s1 = sim_stream(&m);
    const uint64_t s3 = sim_stream(&m);
    const uint64_t a = sim_segment(&m, MIB);
    sim_hand(&m, s0, a, MIB);
    sim_write(&m, s0, a, MIB);
    sim_order(&m, s3, s0);
    sim_write(&m, s3, a, MIB);
    sim_order(&m, s1, s3);
    if (joined != 0) {
      sim_order(&m, s0, s1); /* transitive */
    }
    sim_hand(&m, s0, a, MIB);
    sim_write(&m, s0, a, MIB);
    sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, joined != 0 ? 0 : 2);
  }
}

/* Scenario 3. The order there is no order back. */
static void the_direction_of_a_wait_matters(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s0 = sim_stream(&m);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t q = sim_segment(&m, MIB);
  sim_hand(&m, s1, q, MIB);
  sim_write(&m, s1, q, MIB);
  sim_order(&m, s0, s1);
  sim_read(&m, s0, q, MIB);
  /* That all has run this time makes no difference. */
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  sim_hand(&m, s1, q, MIB);
  sim_write(&m, s1, q, MIB);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 2);
}

/* Scenario 11. A stream is destroyed, and a new one has its handle: it is another stream. */
static void a_reused_handle_is_another_stream(void **state)
{
  (void)state;
  for (int seen = 0; seen < 2; seen++) {
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 1);
    m.behaviour.reuse_stream_handles = true;
    const uint64_t old = sim_stream(&m);
    const uint64_t a = sim_segment(&m, MIB);
    sim_hand(&m, old, a, MIB);
    sim_write(&m, old, a, MIB);
    if (seen != 0) {
      assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, old), ASHLAR_SIM_OK);
    }
    assert_int_equal(ashlar_sim_machine_stream_destroy(&m, old), ASHLAR_SIM_OK);
    const uint64_t new = sim_stream(&m);
    assert_int_equal(new, old);
    sim_hand(&m, new, a, MIB);
    sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, seen != 0 ? 0 : 1);
  }
}

/* Scenario 14. The free waits for its own device only. */
static void a_free_does_not_wait_for_another_device(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  const uint64_t own = sim_stream(&m);
  const uint64_t d = sim_segment(&m, 32 * MIB);
  sim_write(&m, own, d, 32 * MIB);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
  const uint64_t peer = sim_stream(&m);
  sim_write(&m, peer, d, 32 * MIB);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 0), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, d), ASHLAR_SIM_OK);
  assert_int_equal(sim_races(&m), 1);
  assert_int_equal(m.races.race[0].kind, ASHLAR_SIM_RACE_RELEASED);
  assert_int_equal(m.races.race[0].later.slot, ASHLAR_SIM_NONE);
  assert_int_equal(m.streams.slot[m.races.race[0].earlier.slot].handle, peer);
  /* And the work, when it runs, finds the memory gone. */
  assert_int_equal(m.violation[ASHLAR_SIM_VIOLATION_FAULT].count, 0);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(m.violation[ASHLAR_SIM_VIOLATION_FAULT].count, 1);
  ashlar_sim_machine_destroy(&m);
}

/* A client that uses its block on a second stream must put that one in order: no fault of the allocator. */
static void a_client_out_of_order_is_told_apart(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s0 = sim_stream(&m);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t a = sim_segment(&m, MIB);
  sim_hand(&m, s0, a, MIB);
  sim_read(&m, s0, a, MIB);
  sim_hand(&m, s0, a, MIB);
  assert_int_equal(sim_races(&m), 0);
  sim_read(&m, s1, a, MIB); /* two reads do not conflict */
  assert_int_equal(sim_races(&m), 0);
  sim_write(&m, s1, a, MIB);
  assert_int_equal(sim_races(&m), 1);
  assert_int_equal(m.races.race[0].kind, ASHLAR_SIM_RACE_TOUCHED);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 1);
}

static void ranges_that_are_none_are_refused(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s = sim_stream(&m);
  assert_int_equal(ashlar_sim_machine_hand_over(&m, s, 0, 0), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_machine_hand_over(&m, s, 1, UINT64_MAX), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_machine_hand_over(&m, s + 1, 0, 1), ASHLAR_SIM_NO_STREAM);
  /* The greatest ranges are ranges. */
  sim_hand(&m, s, 0, UINT64_MAX);
  sim_hand(&m, s, UINT64_MAX - 1, 1);
  sim_stop_clean(&m);
}

/* --- allocators --- */

enum { BLOCKS = 6, STEPS = 3000 };
static const uint64_t BLOCK = UINT64_C(512);

enum rule {
  TAKES_FREE,     /* a free block goes to whoever asks */
  KEEPS_STREAMS,  /* to its own stream only, but other streams' uses are forgotten */
  WAITS_FOR_USES, /* … and only when events recorded at the free are ready: right */
  WAITS_FOR_ONE   /* as before, but only the last use is waited for */
};

struct block {
  uint64_t stream; /* that it was handed to first; 0: never */
  bool taken;
  size_t event_count;
  uint64_t event[3];
};

/* Whether a free block may go to a request on the stream, by the rule; polls its events. */
static bool may_take(struct ashlar_sim_machine *m, enum rule rule, struct block *block,
                     uint64_t stream)
{
  if (block->taken) {
    return false;
  }
  if (rule == TAKES_FREE || block->stream == 0) {
    return true;
  }
  if (block->stream != stream) {
    return false;
  }
  while (block->event_count > 0) {
    const uint64_t event = block->event[block->event_count - 1];
    const enum ashlar_sim_status status = ashlar_sim_machine_event_query(m, event);
    if (status == ASHLAR_SIM_NOT_READY) {
      return false;
    }
    assert_int_equal(status, ASHLAR_SIM_OK);
    assert_int_equal(ashlar_sim_machine_event_destroy(m, event), ASHLAR_SIM_OK);
    block->event_count--;
  }
  return true;
}

static void use_and_free(struct ashlar_sim_machine *m, enum rule rule, struct block *block,
                         uint64_t address, const uint64_t *streams, uint64_t *random)
{
  sim_write(m, block->stream, address, BLOCK);
  const uint64_t uses = sim_random(random, 3);
  for (uint64_t i = 0; i < uses; i++) {
    const uint64_t stream = streams[sim_random(random, 3)];
    if (stream == block->stream) {
      continue;
    }
    sim_order(m, stream, block->stream);
    sim_read(m, stream, address, BLOCK);
    const bool is_kept = rule == WAITS_FOR_USES || (rule == WAITS_FOR_ONE && i + 1 == uses);
    if (is_kept) {
      const uint64_t event = sim_event(m);
      assert_int_equal(ashlar_sim_machine_event_record(m, event, stream), ASHLAR_SIM_OK);
      block->event[block->event_count] = event;
      block->event_count++;
    }
  }
  block->taken = false;
}

/* Runs an allocator; returns how many races it makes at hand-over. */
static uint64_t run_allocator(enum rule rule, uint64_t seed)
{
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t base = sim_segment(&m, BLOCKS * BLOCK);
  const uint64_t streams[] = {sim_stream(&m), sim_stream(&m), sim_stream(&m)};
  struct block blocks[BLOCKS] = {0};
  uint64_t random = seed;
  uint64_t handed = 0;
  for (int i = 0; i < STEPS; i++) {
    const uint64_t stream = streams[sim_random(&random, 3)];
    for (size_t k = 0; k < BLOCKS; k++) {
      if (may_take(&m, rule, &blocks[k], stream)) {
        blocks[k].taken = true;
        blocks[k].stream = stream;
        sim_hand(&m, stream, base + k * BLOCK, BLOCK);
        handed++;
        use_and_free(&m, rule, &blocks[k], base + k * BLOCK, streams, &random);
        break;
      }
    }
    (void)ashlar_sim_machine_drain(&m, streams[sim_random(&random, 3)]);
  }
  assert_true(handed > STEPS / 4);
  assert_int_equal(m.violation[ASHLAR_SIM_VIOLATION_FAULT].count, 0);
  const uint64_t races = sim_races(&m);
  for (size_t i = 0; i < races && i < ASHLAR_SIM_RACES_KEPT; i++) {
    assert_true(m.races.race[i].kind != ASHLAR_SIM_RACE_RELEASED);
  }
  ashlar_sim_machine_destroy(&m);
  return races;
}

static void a_wrong_allocator_is_found_out_and_a_right_one_is_not(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    assert_int_equal(run_allocator(WAITS_FOR_USES, seed), 0);
    assert_true(run_allocator(TAKES_FREE, seed) > 0);
    assert_true(run_allocator(KEEPS_STREAMS, seed) > 0);
    assert_true(run_allocator(WAITS_FOR_ONE, seed) > 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_on_a_side_stream_is_overtaken),
      cmocka_unit_test(a_wait_of_a_third_stream_is_none),
      cmocka_unit_test(the_direction_of_a_wait_matters),
      cmocka_unit_test(a_reused_handle_is_another_stream),
      cmocka_unit_test(a_free_does_not_wait_for_another_device),
      cmocka_unit_test(a_client_out_of_order_is_told_apart),
      cmocka_unit_test(ranges_that_are_none_are_refused),
      cmocka_unit_test(a_wrong_allocator_is_found_out_and_a_right_one_is_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
