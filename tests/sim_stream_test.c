/* sim_stream_test.c - streams as queues, events, waits, gates and virtual time of the pretend device.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda/sim/event.h"
#include "cuda/sim/stream.h"

enum { MOST_RUN = 128 };

/* What has run, as slot * 100 + position. */
struct journal {
  int ran[MOST_RUN];
  size_t count;
  size_t touches;
};

static void write_down(void *context, struct ashlar_sim_position position,
                       const struct ashlar_sim_touch *touches, size_t touch_count)
{
  struct journal *journal = context;
  assert_true(journal->count < MOST_RUN);
  assert_true((touches == NULL) == (touch_count == 0));
  journal->ran[journal->count] = (int)position.slot * 100 + (int)position.at;
  journal->count++;
  journal->touches += touch_count;
}

static struct ashlar_sim_streams start(struct journal *journal)
{
  *journal = (struct journal){0};
  struct ashlar_sim_streams streams;
  ashlar_sim_streams_init(&streams,
                          (struct ashlar_sim_hook){.ran = write_down, .context = journal});
  return streams;
}

/* A new stream's slot. */
static uint32_t open_stream(struct ashlar_sim_streams *streams)
{
  uint64_t handle = 0;
  assert_int_equal(ashlar_sim_stream_create(streams, 0, false, &handle), ASHLAR_SIM_OK);
  assert_true(handle >= 16);
  return ashlar_sim_stream_find(streams, handle);
}

static void submit(struct ashlar_sim_streams *streams, uint32_t slot, uint64_t ticks)
{
  const struct ashlar_sim_work work = {.ticks = ticks};
  struct ashlar_sim_position position;
  assert_int_equal(ashlar_sim_stream_submit(streams, slot, &work, &position), ASHLAR_SIM_OK);
  assert_int_equal(position.slot, slot);
  assert_int_equal(position.at, streams->slot[slot].submitted);
}

/* `later` waits for what is queued in `earlier` so far. */
static void wait_for(struct ashlar_sim_streams *streams, uint32_t later, uint32_t earlier)
{
  struct ashlar_sim_event event = {0};
  assert_int_equal(ashlar_sim_event_record(&event, streams, earlier), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_block(&event, streams, later), ASHLAR_SIM_OK);
  ashlar_sim_clock_destroy(&event.clock);
}

static void work_runs_in_order_and_one_by_one(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_IDLE);
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_OK);
  for (int i = 0; i < 3; i++) {
    submit(&streams, a, 1);
  }
  assert_int_equal(streams.pending, 3);
  assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(journal.count, 1);
  assert_int_equal(journal.ran[0], 1);
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(journal.count, 3);
  assert_int_equal(journal.ran[2], 3);
  assert_int_equal(streams.pending, 0);
  assert_int_equal(streams.ran, 3);
  ashlar_sim_streams_destroy(&streams);
}

static void touches_come_with_their_item(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const struct ashlar_sim_touch touches[] = {{4096, 512, true}, {0, 1, false}};
  const struct ashlar_sim_work work = {.touches = touches, .touch_count = 2};
  struct ashlar_sim_position position;
  for (int i = 0; i < 40; i++) {
    assert_int_equal(ashlar_sim_stream_submit(&streams, a, &work, &position), ASHLAR_SIM_OK);
    submit(&streams, a, 0);
    /* The queue moves to the front again and again. */
    if (i >= 10) {
      assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_OK);
    }
  }
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(journal.touches, 80);
  /* Touches that are no ranges: nothing is queued. */
  const struct ashlar_sim_touch wrong[] = {{4096, 512, true}, {UINT64_MAX, 1, true}};
  const struct ashlar_sim_work refused = {.touches = wrong, .touch_count = 2};
  assert_int_equal(ashlar_sim_stream_submit(&streams, a, &refused, &position), ASHLAR_SIM_RANGE);
  const struct ashlar_sim_touch empty = {4096, 0, true};
  const struct ashlar_sim_work nothing = {.touches = &empty, .touch_count = 1};
  assert_int_equal(ashlar_sim_stream_submit(&streams, a, &nothing, &position), ASHLAR_SIM_RANGE);
  assert_int_equal(streams.slot[a].submitted, 80);
  assert_int_equal(streams.pending, 0);
  ashlar_sim_streams_destroy(&streams);
}

static void room_of_work_that_ran_is_used_again(void **state)
{
  (void)state;
  struct ashlar_sim_streams streams;
  ashlar_sim_streams_init(&streams, (struct ashlar_sim_hook){0});
  const uint32_t a = open_stream(&streams);
  submit(&streams, a, 0);
  /* Never empty, never more than two items. */
  for (int i = 0; i < 10000; i++) {
    submit(&streams, a, 0);
    assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_OK);
  }
  assert_true(streams.slot[a].item_capacity <= 16);
  for (int i = 0; i < 10000; i++) {
    submit(&streams, a, 0);
  }
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(streams.slot[a].item_capacity, 0);
  ashlar_sim_streams_destroy(&streams);
}

static void a_wait_holds_a_stream_up(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  submit(&streams, a, 1);
  wait_for(&streams, b, a);
  submit(&streams, b, 1);
  /* What comes after the record is not waited for. */
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_stream_run_one(&streams, b), ASHLAR_SIM_BLOCKED);
  assert_int_equal(ashlar_sim_stream_run(&streams, b), ASHLAR_SIM_BLOCKED);
  assert_int_equal(journal.count, 0);
  assert_int_equal(ashlar_sim_stream_run_one(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_run(&streams, b), ASHLAR_SIM_OK);
  assert_int_equal(journal.count, 2);
  assert_int_equal(journal.ran[1], 102);
  assert_int_equal(streams.slot[a].completed, 1);
  /* Waits for itself and for what has run are no items. */
  const uint64_t pending = streams.pending;
  wait_for(&streams, a, a);
  wait_for(&streams, a, b);
  assert_int_equal(streams.pending, pending);
  ashlar_sim_streams_destroy(&streams);
}

static void the_host_runs_only_what_it_needs(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  const uint32_t c = open_stream(&streams);
  submit(&streams, a, 1);
  submit(&streams, c, 1);
  wait_for(&streams, b, a);
  submit(&streams, b, 1);
  wait_for(&streams, a, b);
  submit(&streams, a, 1);
  struct ashlar_sim_event event = {0};
  assert_int_equal(ashlar_sim_event_query(&event, &streams), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_wait(&event, &streams), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_record(&event, &streams, a), ASHLAR_SIM_OK);
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_event_query(&event, &streams), ASHLAR_SIM_NOT_READY);
  assert_int_equal(ashlar_sim_clock_at(&streams.host, b), 0);
  assert_int_equal(ashlar_sim_event_wait(&event, &streams), ASHLAR_SIM_OK);
  assert_int_equal(journal.count, 3);
  assert_int_equal(journal.ran[0], 1);
  assert_int_equal(journal.ran[1], 102);
  assert_int_equal(journal.ran[2], 3);
  assert_int_equal(ashlar_sim_event_query(&event, &streams), ASHLAR_SIM_OK);
  /* The host knows what it waited for, and what that waited for; not more. */
  assert_int_equal(ashlar_sim_clock_at(&streams.host, a), 3);
  assert_int_equal(ashlar_sim_clock_at(&streams.host, b), 2);
  assert_int_equal(ashlar_sim_clock_at(&streams.host, c), 0);
  ashlar_sim_clock_destroy(&event.clock);
  ashlar_sim_streams_destroy(&streams);
}

static void what_ran_unseen_is_not_known(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_streams_run_all(&streams), ASHLAR_SIM_OK);
  submit(&streams, b, 1);
  assert_int_equal(ashlar_sim_clock_at(&streams.slot[b].clock, a), 0);
  struct ashlar_sim_event event = {0};
  assert_int_equal(ashlar_sim_event_record(&event, &streams, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_query(&event, &streams), ASHLAR_SIM_OK);
  submit(&streams, b, 1);
  assert_int_equal(ashlar_sim_clock_at(&streams.slot[b].clock, a), 1);
  ashlar_sim_clock_destroy(&event.clock);
  ashlar_sim_streams_destroy(&streams);
}

static void a_closed_gate_is_a_deadlock(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  assert_int_equal(ashlar_sim_stream_open(&streams, a), ASHLAR_SIM_NO_GATE);
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_stream_gate(&streams, a), ASHLAR_SIM_OK);
  submit(&streams, a, 1);
  wait_for(&streams, b, a);
  submit(&streams, b, 1);
  const struct ashlar_sim_position last = {b, streams.slot[b].submitted};
  assert_int_equal(ashlar_sim_streams_run_until(&streams, last), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(journal.count, 1);
  assert_int_equal(ashlar_sim_streams_run_all(&streams), ASHLAR_SIM_DEADLOCK);
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_HELD);
  assert_int_equal(ashlar_sim_stream_run(&streams, b), ASHLAR_SIM_BLOCKED);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 100), 0);
  assert_int_equal(ashlar_sim_stream_open(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_open(&streams, a), ASHLAR_SIM_NO_GATE);
  assert_int_equal(ashlar_sim_streams_run_until(&streams, last), ASHLAR_SIM_OK);
  assert_int_equal(streams.pending, 0);
  /* The next one is closed again. */
  assert_int_equal(ashlar_sim_stream_open(&streams, a), ASHLAR_SIM_NO_GATE);
  assert_int_equal(ashlar_sim_stream_gate(&streams, a), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_HELD);
  ashlar_sim_streams_destroy(&streams);
}

static void time_runs_what_ends_in_it(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  const uint32_t c = open_stream(&streams);
  submit(&streams, a, 10);
  submit(&streams, b, 4);
  submit(&streams, b, 6);
  wait_for(&streams, c, b);
  submit(&streams, c, 3);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 3), 0);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 1), 1);
  assert_int_equal(journal.ran[0], 101);
  /* a and b end at 10 both: by slot. The wait passes at once, its work takes until 13. */
  assert_int_equal(ashlar_sim_streams_advance(&streams, 8), 3);
  assert_int_equal(journal.ran[1], 1);
  assert_int_equal(journal.ran[2], 102);
  assert_int_equal(streams.now, 12);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 1), 1);
  assert_int_equal(journal.ran[3], 202);
  /* Work begins when it is queued, not before; time does not wrap. */
  submit(&streams, a, 5);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 4), 0);
  assert_int_equal(ashlar_sim_streams_advance(&streams, UINT64_MAX), 1);
  assert_int_equal(streams.now, UINT64_MAX);
  submit(&streams, a, 5);
  assert_int_equal(ashlar_sim_streams_advance(&streams, 0), 1);
  ashlar_sim_streams_destroy(&streams);
}

static void handles_come_again_only_on_purpose(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  uint64_t first = 0;
  uint64_t second = 0;
  uint64_t third = 0;
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, true, &first), ASHLAR_SIM_OK);
  submit(&streams, ashlar_sim_stream_find(&streams, first), 1);
  const uint32_t old_slot = ashlar_sim_stream_find(&streams, first);
  assert_int_equal(ashlar_sim_stream_destroy(&streams, first), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_destroy(&streams, first), ASHLAR_SIM_NO_STREAM);
  assert_int_equal(ashlar_sim_stream_find(&streams, first), ASHLAR_SIM_NONE);
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, false, &second), ASHLAR_SIM_OK);
  assert_true(second != first);
  assert_int_equal(ashlar_sim_stream_find(&streams, first), ASHLAR_SIM_NONE);
  assert_int_equal(ashlar_sim_stream_destroy(&streams, second), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, true, &third), ASHLAR_SIM_OK);
  assert_true(third == second);
  /* The old work is there still, in a slot of its own. */
  const uint32_t new_slot = ashlar_sim_stream_find(&streams, third);
  assert_int_not_equal(new_slot, old_slot);
  assert_int_equal(streams.pending, 1);
  assert_int_equal(ashlar_sim_streams_run_all(&streams), ASHLAR_SIM_OK);
  assert_int_equal(journal.count, 1);
  /* Done is not enough: only once the host knows is the slot used again. */
  assert_int_not_equal(open_stream(&streams), old_slot);
  assert_int_equal(ashlar_sim_host_learns(&streams, &streams.slot[old_slot].clock), ASHLAR_SIM_OK);
  assert_int_equal(open_stream(&streams), old_slot);
  submit(&streams, old_slot, 1);
  assert_int_equal(streams.slot[old_slot].submitted, 2);
  assert_int_equal(ashlar_sim_stream_find(&streams, 0), ASHLAR_SIM_NONE);
  assert_int_equal(ashlar_sim_stream_find(&streams, 2), ASHLAR_SIM_NONE);
  assert_int_equal(ashlar_sim_stream_find(&streams, UINT64_MAX), ASHLAR_SIM_NONE);
  ashlar_sim_streams_destroy(&streams);
}

/* What the stream knew that had the slot before is not known to the new one; what the host knows, is. */
static void a_new_stream_knows_what_the_host_knows(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  const uint32_t a = open_stream(&streams);
  const uint32_t b = open_stream(&streams);
  uint64_t handle = 0;
  submit(&streams, a, 1);
  submit(&streams, b, 1);
  assert_int_equal(ashlar_sim_streams_run_all(&streams), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_host_learns(&streams, &streams.slot[b].clock), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, false, &handle), ASHLAR_SIM_OK);
  const uint32_t c = ashlar_sim_stream_find(&streams, handle);
  wait_for(&streams, c, a); /* done: no item */
  assert_int_equal(ashlar_sim_clock_at(&streams.slot[c].clock, a), 1);
  assert_int_equal(ashlar_sim_stream_destroy(&streams, handle), ASHLAR_SIM_OK);
  assert_int_equal(open_stream(&streams), c);
  submit(&streams, c, 1);
  assert_int_equal(ashlar_sim_clock_at(&streams.slot[c].clock, a), 0);
  assert_int_equal(ashlar_sim_clock_at(&streams.slot[c].clock, b), 1);
  ashlar_sim_streams_destroy(&streams);
}

static void there_is_a_limit_of_streams(void **state)
{
  (void)state;
  struct ashlar_sim_streams streams;
  ashlar_sim_streams_init(&streams, (struct ashlar_sim_hook){0});
  uint64_t handle = 0;
  for (int i = 0; i < ASHLAR_SIM_MOST_STREAMS; i++) {
    assert_int_equal(ashlar_sim_stream_create(&streams, 0, false, &handle), ASHLAR_SIM_OK);
  }
  uint64_t none = 5;
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, false, &none), ASHLAR_SIM_LIMIT);
  assert_int_equal(none, 5);
  assert_int_equal(ashlar_sim_stream_destroy(&streams, handle), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_stream_create(&streams, 0, false, &handle), ASHLAR_SIM_OK);
  ashlar_sim_streams_destroy(&streams);
}

static void events_have_handles_and_devices(void **state)
{
  (void)state;
  struct journal journal;
  struct ashlar_sim_streams streams = start(&journal);
  struct ashlar_sim_events events = {0};
  const uint32_t a = open_stream(&streams);
  uint64_t here = 0;
  uint64_t there = 0;
  assert_int_equal(ashlar_sim_event_create(&events, 0, false, &here), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_create(&events, 1, false, &there), ASHLAR_SIM_OK);
  assert_int_equal(events.open, 2);
  assert_int_equal(ashlar_sim_event_record(ashlar_sim_event_find(&events, there), &streams, a),
                   ASHLAR_SIM_WRONG_DEVICE);
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_event_record(ashlar_sim_event_find(&events, here), &streams, a),
                   ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_query(ashlar_sim_event_find(&events, here), &streams),
                   ASHLAR_SIM_NOT_READY);
  /* A second record replaces the first. */
  assert_int_equal(ashlar_sim_stream_run(&streams, a), ASHLAR_SIM_OK);
  submit(&streams, a, 1);
  assert_int_equal(ashlar_sim_event_record(ashlar_sim_event_find(&events, here), &streams, a),
                   ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_query(ashlar_sim_event_find(&events, here), &streams),
                   ASHLAR_SIM_NOT_READY);
  /* An event gone and come again with its handle has not been recorded. */
  uint64_t again = 0;
  assert_int_equal(ashlar_sim_event_destroy(&events, here), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_event_destroy(&events, here), ASHLAR_SIM_NO_EVENT);
  assert_null(ashlar_sim_event_find(&events, here));
  assert_int_equal(ashlar_sim_event_create(&events, 0, true, &again), ASHLAR_SIM_OK);
  assert_true(again == here);
  assert_int_equal(ashlar_sim_event_query(ashlar_sim_event_find(&events, again), &streams),
                   ASHLAR_SIM_OK);
  ashlar_sim_events_destroy(&events);
  ashlar_sim_streams_destroy(&streams);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_runs_in_order_and_one_by_one),
      cmocka_unit_test(touches_come_with_their_item),
      cmocka_unit_test(room_of_work_that_ran_is_used_again),
      cmocka_unit_test(a_wait_holds_a_stream_up),
      cmocka_unit_test(the_host_runs_only_what_it_needs),
      cmocka_unit_test(what_ran_unseen_is_not_known),
      cmocka_unit_test(a_closed_gate_is_a_deadlock),
      cmocka_unit_test(time_runs_what_ends_in_it),
      cmocka_unit_test(handles_come_again_only_on_purpose),
      cmocka_unit_test(a_new_stream_knows_what_the_host_knows),
      cmocka_unit_test(there_is_a_limit_of_streams),
      cmocka_unit_test(events_have_handles_and_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
