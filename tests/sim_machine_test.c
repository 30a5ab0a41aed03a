/* sim_machine_test.c - the pretend machine: devices, planned failures, violations, and what is left at the end.
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

#define PAGE ASHLAR_SIM_ALIGNMENT

/* --- planned failures --- */

static void the_kth_call_fails(void **state)
{
  (void)state;
  struct ashlar_sim_failures f = {0};
  const enum ashlar_sim_call kind = ASHLAR_SIM_CALL_MAP;
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 0), ASHLAR_SIM_RANGE);
  assert_false(ashlar_sim_call_fails(&f, kind));
  assert_int_equal(ashlar_sim_fail_call(&f, kind, UINT64_MAX), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 3), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 3), ASHLAR_SIM_OK);
  static const bool FAILS[] = {true, false, true, false, false};
  for (size_t i = 0; i < 5; i++) {
    assert_false(ashlar_sim_call_fails(&f, ASHLAR_SIM_CALL_UNMAP));
    assert_int_equal(ashlar_sim_call_fails(&f, kind), FAILS[i]);
  }
  assert_int_equal(f.kind[kind].calls, 6);
  assert_int_equal(f.kind[kind].failed, 2);
  assert_int_equal(f.kind[kind].planned_count, 0);
  ashlar_sim_fail_all(&f, kind);
  assert_true(ashlar_sim_call_fails(&f, kind));
  assert_true(ashlar_sim_call_fails(&f, kind));
  for (uint64_t i = 0; i < ASHLAR_SIM_PLANNED; i++) {
    assert_int_equal(ashlar_sim_fail_call(&f, kind, i + 1), ASHLAR_SIM_OK);
  }
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 1), ASHLAR_SIM_LIMIT);
  ashlar_sim_fail_none(&f, kind);
  assert_false(ashlar_sim_call_fails(&f, kind));
  assert_int_equal(ashlar_sim_fail_call(&f, kind, 1), ASHLAR_SIM_OK);
  assert_true(ashlar_sim_call_fails(&f, kind));
}

static void each_kind_has_a_name_of_its_own(void **state)
{
  (void)state;
  for (int i = 0; i < ASHLAR_SIM_CALLS; i++) {
    for (int k = 0; k < i; k++) {
      assert_string_not_equal(ashlar_sim_call_name((enum ashlar_sim_call)i),
                              ashlar_sim_call_name((enum ashlar_sim_call)k));
    }
  }
  assert_string_equal(ashlar_sim_call_name(ASHLAR_SIM_CALLS), "no call");
}

/* Things for one call of each kind. */
struct things {
  uint64_t stream;
  uint64_t event;
  uint64_t segment;
  uint64_t range;  /* with a mapping on its first page */
  uint64_t empty;  /* a range without one */
  uint64_t piece;  /* the mapped one */
  uint64_t result; /* what a call hands out */
  uint64_t total;
};

static enum ashlar_sim_status call(struct ashlar_sim_machine *m, struct things *t,
                                   enum ashlar_sim_call kind)
{
  const struct ashlar_sim_touch touch = {t->segment, 1, true};
  const struct ashlar_sim_work work = {.touches = &touch, .touch_count = 1};
  switch (kind) {
  case ASHLAR_SIM_CALL_SET_DEVICE:
    return ashlar_sim_machine_set_device(m, 1);
  case ASHLAR_SIM_CALL_ALLOCATE:
    return ashlar_sim_machine_allocate(m, 0, PAGE, &t->result);
  case ASHLAR_SIM_CALL_FREE:
    return ashlar_sim_machine_free(m, 0, t->segment);
  case ASHLAR_SIM_CALL_MEMORY_INFO:
    return ashlar_sim_machine_memory_info(m, 0, &t->result, &t->total);
  case ASHLAR_SIM_CALL_RESERVE:
    return ashlar_sim_machine_reserve(m, PAGE, &t->result);
  case ASHLAR_SIM_CALL_UNRESERVE:
    return ashlar_sim_machine_unreserve(m, t->empty, PAGE);
  case ASHLAR_SIM_CALL_CREATE:
    return ashlar_sim_machine_create(m, 0, PAGE, &t->result);
  case ASHLAR_SIM_CALL_RELEASE:
    return ashlar_sim_machine_release(m, t->piece);
  case ASHLAR_SIM_CALL_MAP:
    return ashlar_sim_machine_map(m, t->range + PAGE, t->piece);
  case ASHLAR_SIM_CALL_UNMAP:
    return ashlar_sim_machine_unmap(m, t->range, PAGE);
  case ASHLAR_SIM_CALL_SET_ACCESS:
    return ashlar_sim_machine_set_access(m, t->range, PAGE, 0, true);
  case ASHLAR_SIM_CALL_STREAM_CREATE:
    return ashlar_sim_machine_stream_create(m, 0, &t->result);
  case ASHLAR_SIM_CALL_STREAM_DESTROY:
    return ashlar_sim_machine_stream_destroy(m, t->stream);
  case ASHLAR_SIM_CALL_SUBMIT:
    return ashlar_sim_machine_submit(m, t->stream, &work);
  case ASHLAR_SIM_CALL_STREAM_WAIT:
    return ashlar_sim_machine_stream_wait(m, t->stream, t->event);
  case ASHLAR_SIM_CALL_STREAM_QUERY:
    return ashlar_sim_machine_stream_query(m, t->stream);
  case ASHLAR_SIM_CALL_STREAM_SYNCHRONIZE:
    return ashlar_sim_machine_stream_synchronize(m, t->stream);
  case ASHLAR_SIM_CALL_DEVICE_SYNCHRONIZE:
    return ashlar_sim_machine_device_synchronize(m, 0);
  case ASHLAR_SIM_CALL_EVENT_CREATE:
    return ashlar_sim_machine_event_create(m, 0, &t->result);
  case ASHLAR_SIM_CALL_EVENT_DESTROY:
    return ashlar_sim_machine_event_destroy(m, t->event);
  case ASHLAR_SIM_CALL_EVENT_RECORD:
    return ashlar_sim_machine_event_record(m, t->event, t->stream);
  case ASHLAR_SIM_CALL_EVENT_QUERY:
    return ashlar_sim_machine_event_query(m, t->event);
  case ASHLAR_SIM_CALL_EVENT_SYNCHRONIZE:
    return ashlar_sim_machine_event_synchronize(m, t->event);
  case ASHLAR_SIM_CALL_CAPTURE_BEGIN:
    return ashlar_sim_machine_capture_begin(m, t->stream, 0, &t->result);
  default: {
    /* To end a capture, one must have begun. */
    const bool begun = ashlar_sim_machine_left(m).captures == 1;
    if (!begun) {
      assert_int_equal(ashlar_sim_machine_capture_begin(m, t->stream, 0, &t->total), ASHLAR_SIM_OK);
    }
    return ashlar_sim_machine_capture_end(m, t->stream);
  }
  }
}

static struct things make_things(struct ashlar_sim_machine *m)
{
  struct things t = {0};
  t.stream = sim_stream(m);
  t.event = sim_event(m);
  t.segment = sim_segment(m, PAGE);
  assert_int_equal(ashlar_sim_machine_reserve(m, 2 * PAGE, &t.range), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_reserve(m, PAGE, &t.empty), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_create(m, 0, PAGE, &t.piece), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_map(m, t.range, t.piece), ASHLAR_SIM_OK);
  return t;
}

/* Scenario MF(call, k): each call fails when it is told to, changes nothing, and succeeds the next time. */
static void a_failed_call_changes_nothing(void **state)
{
  (void)state;
  for (int kind = 0; kind < ASHLAR_SIM_CALLS; kind++) {
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 2);
    struct things t = make_things(&m);
    if (kind == ASHLAR_SIM_CALL_CAPTURE_END) {
      assert_int_equal(ashlar_sim_machine_capture_begin(&m, t.stream, 0, &t.total), ASHLAR_SIM_OK);
    }
    assert_int_equal(ashlar_sim_fail_call(&m.failures, (enum ashlar_sim_call)kind, 1),
                     ASHLAR_SIM_OK);
    const struct ashlar_sim_left left = ashlar_sim_machine_left(&m);
    const struct things before = t;
    struct ashlar_sim_device device;
    memcpy(&device, &m.device[0], sizeof device);
    const struct ashlar_sim_virtual_counts counts = m.memory.counts;
    const uint64_t submitted = m.streams.slot[0].submitted;
    assert_int_equal(call(&m, &t, (enum ashlar_sim_call)kind), ASHLAR_SIM_FAILED);
    const struct ashlar_sim_left after = ashlar_sim_machine_left(&m);
    assert_memory_equal(&left, &after, sizeof left);
    assert_memory_equal(&before, &t, sizeof before);
    assert_memory_equal(&device, &m.device[0], sizeof device);
    assert_memory_equal(&counts, &m.memory.counts, sizeof counts);
    assert_int_equal(m.streams.slot[0].submitted, submitted);
    assert_int_equal(m.current, 0);
    assert_int_equal(m.failures.kind[kind].failed, 1);
    assert_int_equal(call(&m, &t, (enum ashlar_sim_call)kind), ASHLAR_SIM_OK);
    sim_stop_clean(&m);
  }
}

/* Scenario 59. A growing segment fails half-way at any call, and is rolled back. */
static enum ashlar_sim_status grow(struct ashlar_sim_machine *m, uint64_t address, uint64_t pages)
{
  enum ashlar_sim_status status = ASHLAR_SIM_OK;
  uint64_t done = 0;
  while (done < pages && status == ASHLAR_SIM_OK) {
    uint64_t piece = 0;
    status = ashlar_sim_machine_create(m, 0, PAGE, &piece);
    if (status != ASHLAR_SIM_OK) {
      break;
    }
    status = ashlar_sim_machine_map(m, address + done * PAGE, piece);
    assert_int_equal(ashlar_sim_machine_release(m, piece), ASHLAR_SIM_OK);
    done += status == ASHLAR_SIM_OK ? 1 : 0;
  }
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_machine_set_access(m, address, pages * PAGE, 0, true);
  }
  if (status != ASHLAR_SIM_OK && done > 0) {
    assert_int_equal(ashlar_sim_machine_unmap(m, address, done * PAGE), ASHLAR_SIM_OK);
  }
  return status;
}

static void growing_is_rolled_back(void **state)
{
  (void)state;
  static const struct {
    enum ashlar_sim_call kind;
    uint64_t k;
  } FAILS[] = {{ASHLAR_SIM_CALL_MAP, 3},
               {ASHLAR_SIM_CALL_SET_ACCESS, 1},
               {ASHLAR_SIM_CALL_CREATE, 4},
               {ASHLAR_SIM_CALL_CREATE, 1}};
  for (size_t i = 0; i < sizeof FAILS / sizeof FAILS[0]; i++) {
    struct ashlar_sim_machine m;
    sim_start(&m, 1, 5 * PAGE);
    uint64_t range = 0;
    assert_int_equal(ashlar_sim_machine_reserve(&m, 8 * PAGE, &range), ASHLAR_SIM_OK);
    assert_int_equal(ashlar_sim_fail_call(&m.failures, FAILS[i].kind, FAILS[i].k), ASHLAR_SIM_OK);
    assert_int_equal(grow(&m, range, 5), ASHLAR_SIM_FAILED);
    assert_int_equal(m.device[0].used, 0);
    assert_int_equal(grow(&m, range, 6), ASHLAR_SIM_REFUSED);
    assert_int_equal(m.device[0].used, 0);
    assert_int_equal(grow(&m, range, 5), ASHLAR_SIM_OK);
    assert_int_equal(m.device[0].used, 5 * PAGE);
    assert_int_equal(ashlar_sim_machine_unmap(&m, range, 5 * PAGE), ASHLAR_SIM_OK);
    assert_int_equal(ashlar_sim_machine_unreserve(&m, range, 8 * PAGE), ASHLAR_SIM_OK);
    assert_true(ashlar_sim_is_balanced(&m.memory));
    sim_stop_clean(&m);
  }
}

/* --- devices --- */

static void machines_are_judged_when_they_are_made(void **state)
{
  (void)state;
  const struct ashlar_sim_config device = {.capacity = PAGE};
  struct ashlar_sim_machine m;
  struct ashlar_sim_machine_config config = {.devices = &device, .device_count = 0};
  assert_int_equal(ashlar_sim_machine_init(&m, &config), ASHLAR_SIM_RANGE);
  config.device_count = ASHLAR_SIM_MOST_DEVICES + 1;
  assert_int_equal(ashlar_sim_machine_init(&m, &config), ASHLAR_SIM_RANGE);
  sim_start_plain(&m, ASHLAR_SIM_MOST_DEVICES);
  assert_int_equal(ashlar_sim_machine_set_device(&m, ASHLAR_SIM_MOST_DEVICES - 1), ASHLAR_SIM_OK);
  assert_true(sim_segment(&m, PAGE) < ASHLAR_SIM_VIRTUAL_BASE);
  sim_stop_clean(&m);
}

static void a_call_needs_its_device_to_be_current(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 2), ASHLAR_SIM_NO_DEVICE);
  assert_int_equal(ashlar_sim_machine_set_device(&m, -1), ASHLAR_SIM_NO_DEVICE);
  /* An allocator that does not look whether the device was set gets no memory. */
  assert_int_equal(ashlar_sim_fail_call(&m.failures, ASHLAR_SIM_CALL_SET_DEVICE, 1), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_FAILED);
  uint64_t address = 0;
  assert_int_equal(ashlar_sim_machine_allocate(&m, 1, 1024, &address), ASHLAR_SIM_WRONG_DEVICE);
  assert_int_equal(ashlar_sim_machine_allocate(&m, 2, 1024, &address), ASHLAR_SIM_NO_DEVICE);
  assert_int_equal(m.violation[ASHLAR_SIM_VIOLATION_DEVICE].count, 1);
  assert_string_equal(m.violation[ASHLAR_SIM_VIOLATION_DEVICE].last,
                      "allocate on device 1 while device 0 is current");
  assert_int_equal(m.device[1].counts.allocs, 0);
  sim_stop_after(&m, ASHLAR_SIM_VIOLATION_DEVICE, 1);
}

static bool needs_its_device(enum ashlar_sim_call kind)
{
  switch (kind) {
  case ASHLAR_SIM_CALL_ALLOCATE:
  case ASHLAR_SIM_CALL_FREE:
  case ASHLAR_SIM_CALL_CREATE:
  case ASHLAR_SIM_CALL_RELEASE:
  case ASHLAR_SIM_CALL_MAP:
  case ASHLAR_SIM_CALL_UNMAP:
  case ASHLAR_SIM_CALL_STREAM_CREATE:
  case ASHLAR_SIM_CALL_EVENT_CREATE:
  case ASHLAR_SIM_CALL_SUBMIT:
  case ASHLAR_SIM_CALL_EVENT_RECORD:
  case ASHLAR_SIM_CALL_DEVICE_SYNCHRONIZE:
    return true;
  default:
    return false;
  }
}

/* Scenario 15. Each call that is about a device is made while that is current. */
static void which_calls_need_their_device(void **state)
{
  (void)state;
  for (int i = 0; i < ASHLAR_SIM_CALLS; i++) {
    const enum ashlar_sim_call kind = (enum ashlar_sim_call)i;
    struct ashlar_sim_machine m;
    sim_start_plain(&m, 2);
    struct things t = make_things(&m);
    assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
    const struct ashlar_sim_left before = ashlar_sim_machine_left(&m);
    assert_int_equal(call(&m, &t, kind),
                     needs_its_device(kind) ? ASHLAR_SIM_WRONG_DEVICE : ASHLAR_SIM_OK);
    if (needs_its_device(kind)) {
      const struct ashlar_sim_left after = ashlar_sim_machine_left(&m);
      assert_memory_equal(&before, &after, sizeof before);
    }
    sim_stop_after(&m, ASHLAR_SIM_VIOLATION_DEVICE, needs_its_device(kind) ? 1 : 0);
  }
}

static void events_are_of_their_streams_device(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  const uint64_t here = sim_event(&m);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
  const uint64_t stream = sim_stream(&m);
  const uint64_t there = sim_event(&m);
  assert_int_equal(ashlar_sim_machine_event_record(&m, here, stream), ASHLAR_SIM_WRONG_DEVICE);
  assert_int_equal(ashlar_sim_machine_event_record(&m, there, stream), ASHLAR_SIM_OK);
  /* Waiting is allowed from anywhere. */
  assert_int_equal(ashlar_sim_machine_set_device(&m, 0), ASHLAR_SIM_OK);
  const uint64_t other = sim_stream(&m);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, other, there), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_event_query(&m, there), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, stream), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

static void memory_is_told_for_each_device(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start(&m, 2, 4 * PAGE);
  const uint64_t a = sim_segment(&m, PAGE);
  uint64_t piece = 0;
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  assert_int_equal(ashlar_sim_machine_create(&m, 0, PAGE, &piece), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_memory_info(&m, 0, &free_bytes, &total), ASHLAR_SIM_OK);
  assert_int_equal(free_bytes, 2 * PAGE);
  assert_int_equal(total, 4 * PAGE);
  assert_int_equal(ashlar_sim_machine_memory_info(&m, 1, &free_bytes, &total), ASHLAR_SIM_OK);
  assert_int_equal(free_bytes, 4 * PAGE);
  assert_int_equal(ashlar_sim_machine_memory_info(&m, 2, &free_bytes, &total),
                   ASHLAR_SIM_NO_DEVICE);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, a + 512), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, a), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(m.device[0].counts.unknown, 2);
  sim_stop_clean(&m);
}

/* --- work and memory --- */

static void work_must_find_its_memory(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  m.behaviour.free_returns_at_once = true;
  const struct things t = make_things(&m);
  const uint64_t next = sim_segment(&m, PAGE);
  assert_int_equal(next, t.segment + PAGE);
  struct ashlar_sim_violation_record *fault = &m.violation[ASHLAR_SIM_VIOLATION_FAULT];
  /* Across two segments that touch, and where nothing is mapped for the device. */
  sim_read(&m, t.stream, t.segment + 1, 2 * PAGE - 1);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(fault->count, 0);
  sim_read(&m, t.stream, t.range, PAGE);
  sim_read(&m, t.stream, next + PAGE, 1);
  sim_read(&m, t.stream, next, PAGE + 1);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(fault->count, 3);
  assert_int_equal(ashlar_sim_machine_set_access(&m, t.range, PAGE, 0, true), ASHLAR_SIM_OK);
  sim_write(&m, t.stream, t.range, PAGE);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(fault->count, 3);
  /* Segments of another device are open to all. */
  assert_int_equal(ashlar_sim_machine_set_device(&m, 1), ASHLAR_SIM_OK);
  const uint64_t peer = sim_segment(&m, PAGE);
  assert_int_equal(ashlar_sim_machine_set_device(&m, 0), ASHLAR_SIM_OK);
  sim_write(&m, t.stream, peer, PAGE);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(fault->count, 3);
  /* Unmapped, and freed, under queued work. */
  sim_write(&m, t.stream, t.range, PAGE);
  sim_write(&m, t.stream, next, PAGE);
  assert_int_equal(ashlar_sim_machine_unmap(&m, t.range, PAGE), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, next), ASHLAR_SIM_OK);
  assert_int_equal(sim_races(&m), 2);
  assert_int_equal(m.races.race[1].kind, ASHLAR_SIM_RACE_RELEASED);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_OK);
  assert_int_equal(fault->count, 5);
  assert_non_null(strstr(fault->last, "writes memory it may not touch"));
  assert_int_equal(ashlar_sim_machine_violations(&m), 7);
  ashlar_sim_machine_destroy(&m);
}

/* Scenarios 15 and 17. Memory goes back only when the work on it is done: a free waits for its device, an unmap needs a
   synchronize before it. */
static void memory_goes_back_when_its_work_is_done(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  const struct things t = make_things(&m);
  assert_int_equal(ashlar_sim_machine_set_access(&m, t.range, PAGE, 0, true), ASHLAR_SIM_OK);
  sim_write(&m, t.stream, t.segment, PAGE);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment), ASHLAR_SIM_OK);
  assert_int_equal(m.streams.pending, 0);
  sim_write(&m, t.stream, t.range, PAGE);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 0), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_unmap(&m, t.range, PAGE), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

/* A stream that is gone is waited for with its device. */
static void a_free_waits_for_streams_that_are_gone(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const struct things t = make_things(&m);
  sim_write(&m, t.stream, t.segment, PAGE);
  assert_int_equal(ashlar_sim_machine_stream_destroy(&m, t.stream), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_left(&m).items, 1);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_left(&m).items, 0);
  sim_stop_clean(&m);
}

static void a_deadlock_keeps_the_memory(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const struct things t = make_things(&m);
  assert_int_equal(ashlar_sim_machine_hold(&m, t.stream), ASHLAR_SIM_OK);
  sim_write(&m, t.stream, t.segment, PAGE);
  assert_int_equal(ashlar_sim_machine_event_record(&m, t.event, t.stream), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 0), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, t.stream), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_machine_event_synchronize(&m, t.event), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_machine_drain_all(&m), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_machine_drain(&m, t.stream), ASHLAR_SIM_HELD);
  assert_int_equal(ashlar_sim_machine_drain_one(&m, t.stream), ASHLAR_SIM_HELD);
  assert_int_equal(ashlar_sim_machine_advance(&m, 10), 0);
  assert_int_equal(ashlar_sim_machine_stream_query(&m, t.stream), ASHLAR_SIM_NOT_READY);
  assert_int_equal(ashlar_sim_machine_event_query(&m, t.event), ASHLAR_SIM_NOT_READY);
  assert_int_equal(ashlar_sim_machine_left(&m).segments, 1);
  assert_int_equal(ashlar_sim_machine_let_go(&m, t.stream), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_let_go(&m, t.stream), ASHLAR_SIM_NO_GATE);
  assert_int_equal(ashlar_sim_machine_advance(&m, 10), 2);
  assert_int_equal(ashlar_sim_machine_stream_query(&m, t.stream), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment), ASHLAR_SIM_OK);
  sim_stop_clean(&m);
}

/* A free of what is no segment waits for nothing. */
static void a_wrong_free_waits_for_nothing(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const struct things t = make_things(&m);
  sim_write(&m, t.stream, t.segment, PAGE);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment + 512), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_machine_left(&m).items, 1);
  sim_stop_clean(&m);
}

static void handles_that_are_none_are_told(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t stream = sim_stream(&m);
  const uint64_t event = sim_event(&m);
  const struct ashlar_sim_work work = {0};
  uint64_t capture = 0;
  assert_int_equal(ashlar_sim_machine_submit(&m, 1, &work), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_stream_destroy(&m, 2), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_stream_query(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, 0, event), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_stream_wait(&m, stream, 0), ASHLAR_SIM_NO_EVENT);
  assert_int_equal(ashlar_sim_machine_event_record(&m, event, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_event_record(&m, 0, stream), ASHLAR_SIM_NO_EVENT);
  assert_int_equal(ashlar_sim_machine_event_query(&m, 0), ASHLAR_SIM_NO_EVENT);
  assert_int_equal(ashlar_sim_machine_event_synchronize(&m, 0), ASHLAR_SIM_NO_EVENT);
  assert_int_equal(ashlar_sim_machine_event_destroy(&m, 0), ASHLAR_SIM_NO_EVENT);
  assert_int_equal(ashlar_sim_machine_capture_begin(&m, 0, 0, &capture), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_capture_end(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_hold(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_let_go(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_drain(&m, 0), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_machine_drain_one(&m, 0), ASHLAR_SIM_NO_STREAM);
  sim_stop_clean(&m);
}

static void what_is_left_is_told(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 2);
  const struct ashlar_sim_left none = {0};
  struct ashlar_sim_left left = ashlar_sim_machine_left(&m);
  assert_memory_equal(&left, &none, sizeof none);
  const struct things t = make_things(&m);
  sim_write(&m, t.stream, t.segment, PAGE);
  left = ashlar_sim_machine_left(&m);
  assert_int_equal(left.segments, 1);
  assert_int_equal(left.reservations, 2);
  assert_int_equal(left.mappings, 1);
  assert_int_equal(left.pieces, 1);
  assert_int_equal(left.streams, 1);
  assert_int_equal(left.events, 1);
  assert_int_equal(left.items, 1);
  assert_int_equal(ashlar_sim_machine_free(&m, 0, t.segment), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_unmap(&m, t.range, PAGE), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_release(&m, t.piece), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_unreserve(&m, t.range, 2 * PAGE), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_unreserve(&m, t.empty, PAGE), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_destroy(&m, t.stream), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_event_destroy(&m, t.event), ASHLAR_SIM_OK);
  left = ashlar_sim_machine_left(&m);
  assert_memory_equal(&left, &none, sizeof none);
  sim_stop_clean(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_kth_call_fails),
      cmocka_unit_test(each_kind_has_a_name_of_its_own),
      cmocka_unit_test(a_failed_call_changes_nothing),
      cmocka_unit_test(growing_is_rolled_back),
      cmocka_unit_test(machines_are_judged_when_they_are_made),
      cmocka_unit_test(a_call_needs_its_device_to_be_current),
      cmocka_unit_test(which_calls_need_their_device),
      cmocka_unit_test(events_are_of_their_streams_device),
      cmocka_unit_test(memory_is_told_for_each_device),
      cmocka_unit_test(work_must_find_its_memory),
      cmocka_unit_test(memory_goes_back_when_its_work_is_done),
      cmocka_unit_test(a_free_waits_for_streams_that_are_gone),
      cmocka_unit_test(a_deadlock_keeps_the_memory),
      cmocka_unit_test(a_wrong_free_waits_for_nothing),
      cmocka_unit_test(handles_that_are_none_are_told),
      cmocka_unit_test(what_is_left_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
