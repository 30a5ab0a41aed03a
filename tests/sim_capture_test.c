/* sim_capture_test.c - captures of the pretend machine: what they forbid, how they end, and whose memory a graph has.
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

static uint64_t begin(struct ashlar_sim_machine *m, uint64_t stream)
{
  uint64_t capture = 0;
  assert_int_equal(ashlar_sim_machine_capture_begin(m, stream, 0, &capture), ASHLAR_SIM_OK);
  return capture;
}

static void a_capture_becomes_a_graph(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s = sim_stream(&m);
  const uint64_t a = sim_segment(&m, MIB);
  uint64_t again = 7;
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_NOT_CAPTURING);
  assert_int_equal(ashlar_sim_machine_capture_spoil(&m, s), ASHLAR_SIM_NOT_CAPTURING);
  const uint64_t graph = begin(&m, s);
  assert_int_equal(ashlar_sim_machine_capture_begin(&m, s, 0, &again), ASHLAR_SIM_CAPTURING);
  assert_int_equal(again, 7);
  sim_write(&m, s, a, MIB);
  /* Captured work is queued nowhere. */
  assert_int_equal(m.streams.pending, 0);
  assert_int_equal(ashlar_sim_machine_hold(&m, s), ASHLAR_SIM_CAPTURING);
  assert_int_equal(ashlar_sim_machine_left(&m).captures, 1);
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_left(&m).graphs, 1);
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, a), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

/* What each call answers while a stream captures, and whether the capture is valid after it. */
enum { CALLS = 19 };

struct things {
  uint64_t capturing; /* a stream */
  uint64_t other;     /* a stream that does not capture */
  uint64_t captured;  /* an event recorded in the capture */
  uint64_t event;     /* one recorded outside */
  uint64_t segment;
  uint64_t range; /* reserved */
  uint64_t piece;
};

static enum ashlar_sim_status call(struct ashlar_sim_machine *m, const struct things *t, int which)
{
  uint64_t result = 0;
  uint64_t total = 0;
  switch (which) {
  case 0:
    return ashlar_sim_machine_allocate(m, 0, MIB, &result);
  case 1:
    return ashlar_sim_machine_reserve(m, 2 * MIB, &result);
  case 2:
    return ashlar_sim_machine_unreserve(m, t->range, 4 * MIB);
  case 3:
    return ashlar_sim_machine_create(m, 0, 2 * MIB, &result);
  case 4:
    return ashlar_sim_machine_release(m, t->piece);
  case 5:
    return ashlar_sim_machine_map(m, t->range, t->piece);
  case 6:
    return ashlar_sim_machine_set_access(m, t->range, 2 * MIB, 0, true);
  case 7:
    return ashlar_sim_machine_unmap(m, t->range, 2 * MIB);
  case 8:
    return ashlar_sim_machine_stream_query(m, t->other);
  case 9:
    return ashlar_sim_machine_stream_synchronize(m, t->other);
  case 10:
    return ashlar_sim_machine_event_query(m, t->event);
  case 11:
    return ashlar_sim_machine_event_synchronize(m, t->event);
  case 12:
    return ashlar_sim_machine_free(m, 0, t->segment);
  case 13:
    return ashlar_sim_machine_device_synchronize(m, 0);
  case 14:
    return ashlar_sim_machine_stream_query(m, t->capturing);
  case 15:
    return ashlar_sim_machine_stream_synchronize(m, t->capturing);
  case 16:
    return ashlar_sim_machine_stream_destroy(m, t->capturing);
  case 17:
    return ashlar_sim_machine_event_query(m, t->captured);
  case 18:
    return ashlar_sim_machine_event_synchronize(m, t->captured);
  default:
    return ashlar_sim_machine_memory_info(m, 0, &result, &total);
  }
}

/* From here on the calls are forbidden in a relaxed capture too. */
enum { FORBIDDEN_ALWAYS = 12 };

static void what_a_capture_forbids(void **state)
{
  (void)state;
  for (int which = 0; which <= CALLS; which++) {
    for (int relaxed = 0; relaxed < 2; relaxed++) {
      struct ashlar_sim_machine m;
      sim_start_plain(&m, 1);
      struct things t = {0};
      t.capturing = sim_stream(&m);
      t.other = sim_stream(&m);
      t.captured = sim_event(&m);
      t.event = sim_event(&m);
      t.segment = sim_segment(&m, MIB);
      assert_int_equal(ashlar_sim_machine_reserve(&m, 4 * MIB, &t.range), ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_machine_create(&m, 0, 2 * MIB, &t.piece), ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_machine_event_record(&m, t.event, t.other), ASHLAR_SIM_OK);
      (void)begin(&m, t.capturing);
      assert_int_equal(ashlar_sim_machine_event_record(&m, t.captured, t.capturing), ASHLAR_SIM_OK);
      m.behaviour.relaxed_capture = relaxed != 0;
      const bool is_forbidden = which < CALLS && (relaxed == 0 || which >= FORBIDDEN_ALWAYS);
      const struct ashlar_sim_left before = ashlar_sim_machine_left(&m);
      const enum ashlar_sim_status status = call(&m, &t, which);
      assert_int_equal(status == ASHLAR_SIM_CAPTURE_FORBIDS, is_forbidden);
      if (is_forbidden) {
        const struct ashlar_sim_left after = ashlar_sim_machine_left(&m);
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(strlen(m.violation[ASHLAR_SIM_VIOLATION_CAPTURE].last) > 10);
      }
      assert_int_equal(ashlar_sim_machine_capture_end(&m, t.capturing),
                       is_forbidden ? ASHLAR_SIM_CAPTURE_INVALID : ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_machine_left(&m).captures, 0);
      /* What was forbidden is allowed again, but for events that were captured. */
      const enum ashlar_sim_status later = call(&m, &t, which);
      assert_int_equal(later == ASHLAR_SIM_CAPTURE_FORBIDS, which == 17 || which == 18);
      sim_stop_after(&m, ASHLAR_SIM_VIOLATION_CAPTURE,
                     (is_forbidden ? 1U : 0U) + (which == 17 || which == 18 ? 1U : 0U));
    }
  }
}

/* A free that does not wait is allowed in a relaxed capture. */
static void a_free_that_does_not_wait(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s = sim_stream(&m);
  const uint64_t a = sim_segment(&m, MIB);
  m.behaviour.relaxed_capture = true;
  m.behaviour.free_returns_at_once = true;
  (void)begin(&m, s);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

static void another_device_may_be_waited_for(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  m.behaviour.relaxed_capture = true;
  const uint64_t s = sim_stream(&m);
  (void)begin(&m, s);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 1), ASHLAR_SIM_OK);
  const uint64_t a = sim_segment(&m, MIB);
  assert_int_equal(ashlar_sim_machine_free(&m, 1, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

static void streams_join_and_must_come_back(void **state)
{
  (void)state;
  for (int joined = 0; joined < 2; joined++) {
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 1);
    const uint64_t s1 = sim_stream(&m);
    const uint64_t s2 = sim_stream(&m);
    const uint64_t a = sim_segment(&m, MIB);
    (void)begin(&m, s1);
    sim_write(&m, s1, a, MIB);
    sim_order(&m, s2, s1);
    assert_int_equal(m.captures.capture[0].member_count, 2);
    sim_write(&m, s2, a, MIB);
    /* The one that joined cannot end it. */
    assert_int_equal(ashlar_sim_machine_capture_end(&m, s2), ASHLAR_SIM_NOT_CAPTURING);
    if (joined != 0) {
      sim_order(&m, s1, s2);
    }
    assert_int_equal(ashlar_sim_machine_capture_end(&m, s1),
                     joined != 0 ? ASHLAR_SIM_OK : ASHLAR_SIM_CAPTURE_UNJOINED);
    assert_int_equal(ashlar_sim_machine_left(&m).graphs, joined);
    assert_int_equal(m.streams.slot[ashlar_sim_stream_find(&m.streams, s2)].capture, 0);
    sim_write(&m, s2, a, MIB);
    assert_int_equal(m.streams.pending, 1);
    sim_stop_clean(&m);
  }
}

/* A stream that joined and did nothing need not come back. */
static void a_stream_that_did_nothing_need_not_come_back(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t s2 = sim_stream(&m);
  (void)begin(&m, s1);
  sim_write(&m, s1, MIB, 1);
  sim_order(&m, s2, s1);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

/* The same where its shadow has the slot of a graph that went while the capture was in progress. */
static void a_shadow_has_the_slot_of_a_graph(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t s2 = sim_stream(&m);
  uint64_t capture = 0;
  const uint64_t graph = begin(&m, s1);
  /* A capture in progress is no graph yet. */
  assert_int_equal(ashlar_sim_machine_capture_begin(&m, s2, graph, &capture), ASHLAR_SIM_UNKNOWN);
  sim_write(&m, s1, MIB, 1);
  const uint32_t slot = m.streams.slot[0].shadow_slot;
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_OK);
  (void)begin(&m, s1);
  const uint64_t event = sim_event(&m);
  assert_int_equal(ashlar_sim_machine_event_record(&m, event, s1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s2, event), ASHLAR_SIM_OK);
  assert_int_equal(m.streams.slot[1].shadow_slot, slot);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

/* Captured work comes after what was queued in its stream before, and after that only. */
static void the_order_in_a_stream_crosses_the_border(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t s2 = sim_stream(&m);
  const uint64_t a = sim_segment(&m, 2 * MIB);
  sim_write(&m, s1, a, MIB);
  sim_write(&m, s2, a + MIB, MIB);
  (void)begin(&m, s1);
  sim_hand(&m, s1, a, MIB);
  assert_int_equal(sim_races(&m), 0);
  /* s2 joins and comes back: its work in the capture is in order, that before is not. */
  sim_order(&m, s2, s1);
  sim_write(&m, s2, a, MIB);
  sim_order(&m, s1, s2);
  sim_hand(&m, s1, a, MIB);
  assert_int_equal(sim_races(&m), 0);
  sim_hand(&m, s1, a + MIB, MIB);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 1);
}

/* A graph that was captured on a device does not keep the host from waiting for that device. */
static void a_graph_is_no_capture_in_progress(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  m.behaviour.relaxed_capture = true;
  const uint64_t s = sim_stream(&m);
  const uint64_t event = sim_event(&m);
  (void)begin(&m, s);
  assert_int_equal(ashlar_sim_machine_event_record(&m, event, s), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
  const uint64_t other = sim_stream(&m);
  (void)begin(&m, other);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 0), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 0), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, other), ASHLAR_SIM_OK);
  /* Nor can a stream join it. */
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s, event), ASHLAR_SIM_CAPTURE_ISOLATION);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_CAPTURE, 1);
}

static void waits_do_not_cross_the_border(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t s2 = sim_stream(&m);
  const uint64_t s3 = sim_stream(&m);
  const uint64_t outside = sim_event(&m);
  const uint64_t inside = sim_event(&m);
  const uint64_t never = sim_event(&m);
  assert_int_equal(ashlar_sim_machine_event_record(&m, outside, s3), ASHLAR_SIM_OK);
  /* Into a capture. */
  (void)begin(&m, s1);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s1, never), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_event_record(&m, inside, s1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s1, outside), ASHLAR_SIM_CAPTURE_ISOLATION);
  /* An invalid capture takes nothing in. */
  const struct ashlar_sim_work work = {.ticks = 1};
  assert_int_equal(ashlar_sim_machine_submit(&m, s1, &work), ASHLAR_SIM_CAPTURE_INVALID);
  assert_int_equal(ashlar_sim_machine_event_record(&m, never, s1), ASHLAR_SIM_CAPTURE_INVALID);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s3, inside), ASHLAR_SIM_CAPTURE_INVALID);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_CAPTURE_INVALID);
  /* Out of one that is over. */
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s3, inside), ASHLAR_SIM_CAPTURE_ISOLATION);
  /* From one to another: both are invalid. */
  (void)begin(&m, s1);
  (void)begin(&m, s2);
  assert_int_equal(ashlar_sim_machine_event_record(&m, inside, s1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, s2, inside), ASHLAR_SIM_CAPTURE_ISOLATION);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_CAPTURE_INVALID);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s2), ASHLAR_SIM_CAPTURE_INVALID);
  /* The test can make one invalid too. */
  (void)begin(&m, s1);
  assert_int_equal(ashlar_sim_machine_capture_spoil(&m, s1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s1), ASHLAR_SIM_CAPTURE_INVALID);
  assert_int_equal(ashlar_sim_machine_capture_spoil(&m, 0), ASHLAR_SIM_NO_STREAM);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_CAPTURE, 3);
}

/* Scenario 88. Within a capture too, a block is free for its own stream only when that has joined the others. */
static void reuse_within_a_capture_is_judged(void **state)
{
  (void)state;
  for (int joined = 0; joined < 2; joined++) {
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 1);
    const uint64_t s1 = sim_stream(&m);
    const uint64_t s2 = sim_stream(&m);
    const uint64_t a = sim_segment(&m, MIB);
    (void)begin(&m, s1);
    sim_hand(&m, s1, a, MIB);
    sim_order(&m, s2, s1);
    sim_write(&m, s2, a, MIB);
    if (joined != 0) {
      sim_order(&m, s1, s2);
    }
    sim_hand(&m, s1, a, MIB);
    sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, joined != 0 ? 0 : 1);
  }
}

/* Scenario 90. Memory that a graph uses is served to nobody else while the graph is there, even on the stream that it
   was captured on. */
static void a_graph_keeps_its_memory(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s = sim_stream(&m);
  const uint64_t t = sim_segment(&m, 8 * MIB);
  const uint64_t graph = begin(&m, s);
  sim_hand(&m, s, t, 8 * MIB);
  sim_write(&m, s, t, 8 * MIB);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 0), ASHLAR_SIM_OK);
  sim_hand(&m, s, t, 8 * MIB);
  assert_int_equal(sim_races(&m), 1);
  assert_int_equal(m.streams.slot[m.races.race[0].earlier.slot].handle, s);
  /* A graph captured after it, by promise, may use it. */
  uint64_t second = 0;
  assert_int_equal(ashlar_sim_machine_capture_begin(&m, s, graph + 1, &second), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_machine_capture_begin(&m, s, graph, &second), ASHLAR_SIM_OK);
  sim_hand(&m, s, t, 8 * MIB);
  assert_int_equal(sim_races(&m), 1);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  /* Once they are gone, it is free. */
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_graph_destroy(&m, second), ASHLAR_SIM_OK);
  sim_hand(&m, s, t, 8 * MIB);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t), ASHLAR_SIM_OK);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 1);
}

static void memory_of_a_graph_is_not_released(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s = sim_stream(&m);
  const uint64_t t = sim_segment(&m, 8 * MIB);
  (void)begin(&m, s);
  sim_write(&m, s, t, 8 * MIB);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, s), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t), ASHLAR_SIM_OK);
  assert_int_equal(m.races.race[0].kind, ASHLAR_SIM_RACE_RELEASED);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_RACE, 1);
}

/* Captures begun and ended without end use no more slots. */
static void slots_of_captures_come_again(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t s1 = sim_stream(&m);
  const uint64_t s2 = sim_stream(&m);
  const uint64_t a = sim_segment(&m, MIB);
  for (int i = 0; i < 10000; i++) {
    const uint64_t graph = begin(&m, s1);
    sim_order(&m, s2, s1);
    sim_write(&m, s2, a, MIB);
    if (i % 3 != 0) {
      sim_order(&m, s1, s2);
    }
    const enum ashlar_sim_status status = ashlar_sim_machine_capture_end(&m, s1);
    if (i % 3 != 0) {
      assert_int_equal(status, ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_machine_graph_destroy(&m, graph), ASHLAR_SIM_OK);
    } else {
      assert_int_equal(status, ASHLAR_SIM_CAPTURE_UNJOINED);
    }
  }
  assert_true(m.streams.count <= 4);
  sim_stop_clean(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_capture_becomes_a_graph),
      cmocka_unit_test(what_a_capture_forbids),
      cmocka_unit_test(a_free_that_does_not_wait),
      cmocka_unit_test(another_device_may_be_waited_for),
      cmocka_unit_test(streams_join_and_must_come_back),
      cmocka_unit_test(a_stream_that_did_nothing_need_not_come_back),
      cmocka_unit_test(a_shadow_has_the_slot_of_a_graph),
      cmocka_unit_test(the_order_in_a_stream_crosses_the_border),
      cmocka_unit_test(a_graph_is_no_capture_in_progress),
      cmocka_unit_test(waits_do_not_cross_the_border),
      cmocka_unit_test(reuse_within_a_capture_is_judged),
      cmocka_unit_test(a_graph_keeps_its_memory),
      cmocka_unit_test(memory_of_a_graph_is_not_released),
      cmocka_unit_test(slots_of_captures_come_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
