/* replay_test.c - replays of small traces whose figures can be worked out by hand.
 *
 * Sizes of the rules that are used here: a request up to 1 MiB takes part of a 2 MiB segment, one below
 * 10 MiB part of a 20 MiB segment, a larger one a segment of its own, rounded up to 2 MiB.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/replay.h"
#include "tools/replay_report.h"
#include "tools/requests.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* A replay of a trace, with the snapshot made of it. */
struct played {
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_snapshot snapshot;
  const struct ashlar_replay_device *device; /* device 0 */
};

static void assert_near(double value, double expected)
{
  if (value - expected > 1e-12 || expected - value > 1e-12) {
    fail_msg("%.15g is not %.15g", value, expected);
  }
}

static struct ashlar_replay_options options_for(uint64_t capacity)
{
  return (struct ashlar_replay_options){
      .capacity = capacity, .call_cost = 1000, .max_entries = UINT64_MAX};
}

static struct played play(const char *operations, struct ashlar_replay_options options)
{
  struct played played;
  struct ashlar_error error = {0};
  char text[4096];
  (void)snprintf(text, sizeof text, "ashlar-trace 1\n%s", operations);
  if (!ashlar_requests_read_memory(text, strlen(text), &played.requests, &error) ||
      !ashlar_replay_run(&played.requests, &options, &played.replay, &played.snapshot, &error)) {
    fail_msg("line %llu: %s", (unsigned long long)error.position, error.text);
  }
  assert_true(played.replay.device_count > 0);
  played.device = &played.replay.devices[0];
  return played;
}

static void done(struct played *played)
{
  ashlar_snapshot_free(&played->snapshot);
  ashlar_replay_free(&played->replay);
  ashlar_requests_free(&played->requests);
}

/* The events of device 0 as text, "alloc 512" for action and size, separated by commas. */
static char *events_of(const struct played *played)
{
  static char text[8192];
  size_t length = 0;
  text[0] = '\0';
  for (uint64_t i = 0; i < played->snapshot.traces[0].event_count; i++) {
    const struct ashlar_event *event = &played->snapshot.traces[0].events[i];
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %llu", i == 0 ? "" : ", ",
                               ashlar_action_name(event->action), (unsigned long long)event->size);
    assert_true(length < sizeof text);
  }
  return text;
}

static void figures_are_those_worked_out(void **state)
{
  (void)state;
  struct played played = play("a 0 1000\n"     /* 1024 of a 2 MiB segment */
                              "a 1 5242880\n"  /* 5 MiB of a 20 MiB segment */
                              "a 2 4194304\n"  /* 4 MiB behind it */
                              "f 1\n"          /* 5 MiB and 11 MiB are free in two pieces */
                              "a 3 12582912\n" /* 12 MiB: too large for either */
                              "f 3\n"
                              "f 0\n",
                              options_for(ASHLAR_SIM_UNLIMITED));
  const struct ashlar_replay_device *device = played.device;
  assert_int_equal(device->allocations, 4);
  assert_int_equal(device->served, 4);
  assert_int_equal(device->frees, 3);
  assert_int_equal(device->failed, 0);
  assert_int_equal(played.replay.operations, 7);
  assert_int_equal(device->calls.allocs, 3);
  assert_int_equal(device->calls.frees + device->calls.refused, 0);
  assert_int_equal(device->calls_uncached, 7);
  assert_near(ashlar_replay_saved_seconds(&played.replay, device), 4e-6);

  const struct ashlar_replay_moment *moment = &device->at_peak_reserved;
  assert_int_equal(moment->event, 4);
  assert_int_equal(moment->reserved, 34 * MIB);
  assert_int_equal(moment->allocated, 16 * MIB + KIB);
  assert_int_equal(moment->free, 18 * MIB - KIB);
  assert_int_equal(moment->largest_free, 11 * MIB);
  assert_near(ashlar_replay_fragmentation(moment),
              1 - (double)(11 * MIB) / (double)(18 * MIB - KIB));
  assert_int_equal(device->at_peak_allocated.event, 4);

  moment = &device->at_end;
  assert_int_equal(moment->event, 6);
  assert_int_equal(moment->reserved, 34 * MIB);
  assert_int_equal(moment->allocated, 4 * MIB);
  assert_int_equal(moment->largest_free, 12 * MIB);
  assert_int_equal(device->live_blocks, 1);
  assert_int_equal(device->live_bytes, 4 * MIB);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  assert_string_equal(events_of(&played),
                      "segment_alloc 2097152, alloc 1000, segment_alloc 20971520, alloc 5242880, "
                      "alloc 4194304, free_requested 5242880, free_completed 5242880, "
                      "segment_alloc 12582912, alloc 12582912, free_requested 12582912, "
                      "free_completed 12582912, free_requested 1000, free_completed 1000");
  done(&played);
}

static void nothing_free_is_no_fragmentation(void **state)
{
  (void)state;
  const struct ashlar_replay_moment full = {.reserved = MIB, .allocated = MIB};
  assert_near(ashlar_replay_fragmentation(&full), 0);
}

static void a_request_that_fails_is_reported_and_skipped(void **state)
{
  (void)state;
  struct played played = play("a 0 12582912\n"
                              "a 1 12582912\n" /* the device has 8 MiB left */
                              "a 2 2097152\n"
                              "u 1 5\n"
                              "f 1\n" /* what never was needs no free */
                              "a 1 1000\n"
                              "f 0\n"
                              "a 3 2305843009213693952\n" /* more than any request can be */
                              "a 4 0\n"
                              "f 4\n",
                              options_for(20 * MIB));
  const struct ashlar_replay_device *device = played.device;
  assert_int_equal(device->allocations, 6);
  assert_int_equal(device->served, 3);
  assert_int_equal(device->failed, 3);
  assert_int_equal(device->skipped, 3);
  assert_int_equal(played.replay.failure_count, 3);
  const struct ashlar_replay_failure *failure = &played.replay.failures[0];
  assert_int_equal(failure->event, 1);
  assert_int_equal(failure->bytes, 12582912);
  assert_int_equal(failure->reason, ASHLAR_REPLAY_OUT_OF_MEMORY);
  assert_int_equal(failure->free, 8 * MIB);
  assert_int_equal(failure->cached, 0);
  /* 2 MiB go to a segment of 20 MiB, which is not there either. */
  assert_int_equal(played.replay.failures[1].event, 2);
  assert_int_equal(played.replay.failures[2].event, 7);
  assert_int_equal(played.replay.failures[2].reason, ASHLAR_REPLAY_TOO_LARGE);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 1);
  assert_int_equal(device->calls.refused, 2 * 3); /* at first, at last, and once more */
  assert_string_equal(events_of(&played),
                      "segment_alloc 12582912, alloc 12582912, oom 12582912, oom 2097152, "
                      "segment_alloc 2097152, alloc 1000, free_requested 12582912, "
                      "free_completed 12582912");
  assert_int_equal(played.snapshot.traces[0].events[2].address, 8 * MIB);
  assert_int_equal(played.snapshot.traces[0].events[2].flags & ASHLAR_EVENT_HAS_DEVICE_FREE,
                   ASHLAR_EVENT_HAS_DEVICE_FREE);
  done(&played);
}

static void the_ladder_releases_everything_that_is_free(void **state)
{
  (void)state;
  struct played played = play("a 0 20971520\n"
                              "a 1 12582912\n"
                              "a 2 1000\n"
                              "f 0\nf 1\n"
                              "a 3 33554432\n", /* fits only once both are given back */
                              options_for(40 * MIB));
  assert_int_equal(played.device->failed, 0);
  assert_string_equal(strstr(events_of(&played), "segment_free"),
                      "segment_free 12582912, segment_free 20971520, segment_alloc 33554432, "
                      "alloc 33554432");
  assert_int_equal(played.device->calls.refused, 1);
  assert_int_equal(played.device->calls.frees, 2);
  done(&played);
}

static void with_a_split_limit_oversize_blocks_go_first(void **state)
{
  (void)state;
  struct ashlar_replay_options options = options_for(120 * MIB);
  options.max_split_size = 32 * MIB;
  struct played played = play("a 0 12582912\nf 0\n" /* 12 MiB, below the limit */
                              "a 1 33554432\n"      /* two oversize ones of 32 and 36 MiB */
                              "a 2 37748736\n"
                              "f 1\nf 2\n"
                              "a 3 67108864\n", /* 64 MiB: both go back, the 12 MiB stay */
                              options);
  assert_int_equal(played.device->failed, 0);
  assert_string_equal(strstr(events_of(&played), "segment_free"),
                      "segment_free 37748736, segment_free 33554432, segment_alloc 67108864, "
                      "alloc 67108864");
  assert_int_equal(played.device->at_end.reserved, 76 * MIB);
  assert_int_equal(played.snapshot.settings.max_split_size, 32 * (int64_t)MIB);
  assert_string_equal(played.snapshot.settings.conf.bytes, "max_split_size_mb:32");
  done(&played);
}

static void an_oversize_block_is_not_split(void **state)
{
  (void)state;
  struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
  options.max_split_size = 20 * MIB;
  struct played played = play("a 0 41943040\nf 0\na 1 12582912\na 2 31457280\n", options);
  /* 12 MiB may not take the 40 MiB block; 30 MiB may, and gets all of it. */
  assert_int_equal(played.device->calls.allocs, 2);
  assert_int_equal(played.device->live_bytes, 52 * MIB);
  done(&played);
}

static void a_block_in_use_elsewhere_comes_back_later(void **state)
{
  (void)state;
  struct played played = play("a 0 1048576 7\n"
                              "u 0 7\n" /* its own stream: no use */
                              "u 0 9\n"
                              "f 0\n"
                              "a 1 1048576 7\n" /* the other half of the segment */
                              "a 2 1048576 7\n",
                              options_for(ASHLAR_SIM_UNLIMITED));
  assert_int_equal(played.device->uses, 2);
  assert_int_equal(played.device->frees, 0);
  assert_int_equal(played.device->pending_blocks, 1);
  assert_int_equal(played.device->live_blocks, 3);
  assert_int_equal(played.device->at_end.pending, MIB);
  assert_int_equal(played.device->at_end.allocated, 2 * MIB);
  assert_int_equal(played.device->calls.allocs, 2);
  assert_int_equal(played.snapshot.blocks[0].state, ASHLAR_BLOCK_PENDING_FREE);
  assert_int_equal(played.snapshot.segments[0].allocated_size, MIB);
  assert_int_equal(played.snapshot.segments[0].active_size, 2 * MIB);
  assert_int_equal(played.snapshot.segments[0].requested_size, 2 * MIB);
  done(&played);
}

static void a_use_on_its_own_stream_is_none(void **state)
{
  (void)state;
  struct played played = play("a 0 1000 7\nu 0 7\nf 0\n", options_for(ASHLAR_SIM_UNLIMITED));
  assert_int_equal(played.device->uses, 1);
  assert_int_equal(played.device->frees, 1);
  assert_int_equal(played.device->pending_blocks, 0);
  done(&played);
}

/* After ASHLAR_REPLAY_USE_LAG more allocations the use counts as finished. */
static void uses_finish_after_so_many_allocations(void **state)
{
  (void)state;
  for (int more = ASHLAR_REPLAY_USE_LAG - 1; more <= ASHLAR_REPLAY_USE_LAG; more++) {
    char text[2048] = "a 0 12582912 7\nu 0 9\nf 0\n";
    for (int i = 1; i <= more; i++) {
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "a %d 1 7\n", i);
    }
    struct played played = play(text, options_for(ASHLAR_SIM_UNLIMITED));
    assert_int_equal(played.device->frees, more == ASHLAR_REPLAY_USE_LAG ? 1 : 0);
    done(&played);
  }
}

static void uses_are_waited_for_before_anything_is_released(void **state)
{
  (void)state;
  struct played played = play("a 0 12582912 7\n"
                              "a 1 12582912 7\n"
                              "u 0 9\nf 0\nf 1\n"
                              "a 2 20971520 7\n" /* 20 of 30 MiB: both blocks have to go back */
                              "u 2 9\nf 2\n"
                              "a 3 20971520 7\n", /* waiting is enough */
                              options_for(30 * MIB));
  assert_int_equal(played.device->failed, 0);
  assert_string_equal(
      strstr(events_of(&played), "free_requested"),
      "free_requested 12582912, free_requested 12582912, free_completed 12582912, "
      "free_completed 12582912, segment_free 12582912, segment_free 12582912, "
      "segment_alloc 20971520, alloc 20971520, free_requested 20971520, free_completed 20971520, "
      "alloc 20971520");
  done(&played);
}

static void the_cache_is_released_on_one_device_or_on_all(void **state)
{
  (void)state;
  struct played played = play("a 0 12582912 0 0\na 1 12582912 0 2\na 2 1000 0 2\n"
                              "f 0\nf 1\n"
                              "e 0\n"
                              "a 3 12582912 0 0\nf 3\n"
                              "e\n",
                              options_for(ASHLAR_SIM_UNLIMITED));
  const struct ashlar_replay_device *other = &played.replay.devices[2];
  assert_int_equal(played.replay.device_count, 3);
  assert_true(played.device->is_used && other->is_used && !played.replay.devices[1].is_used);
  assert_int_equal(played.device->cache_releases, 2);
  assert_int_equal(other->cache_releases, 1);
  assert_int_equal(played.device->calls.frees, 2);
  assert_int_equal(other->calls.frees, 1);
  assert_int_equal(other->at_end.reserved, 2 * MIB);
  assert_int_equal(played.snapshot.trace_count, 3);
  assert_int_equal(played.snapshot.traces[1].event_count, 0);
  assert_int_equal(played.snapshot.segment_count, 1);
  assert_int_equal(played.snapshot.segments[0].device, 2);
  done(&played);
}

/* Two free blocks of one size: the lower address, or the older segment. */
static void both_orders_are_followed(void **state)
{
  (void)state;
  static const char OPERATIONS[] = "a 0 12582912\na 1 12582912\nf 0\nf 1\na 2 12582912\n";
  for (int order = ASHLAR_ORDER_ADDRESS; order <= ASHLAR_ORDER_SEGMENT; order++) {
    struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
    options.placement = ASHLAR_SIM_DESCENDING;
    options.order = (enum ashlar_order)order;
    struct played played = play(OPERATIONS, options);
    const struct ashlar_event *events = played.snapshot.traces[0].events;
    const uint64_t first = events[0].address;
    const uint64_t second = events[2].address;
    assert_true(second < first);
    assert_int_equal(events[8].action, ASHLAR_ACTION_ALLOC);
    assert_int_equal(events[8].address, order == ASHLAR_ORDER_SEGMENT ? first : second);
    done(&played);
  }
}

static void only_the_last_events_are_kept(void **state)
{
  (void)state;
  static const char OPERATIONS[] = "a 0 512\na 1 1024\nf 0\nf 1\na 2 1536\n";
  const uint64_t all = 8; /* with the segment, and two events a free */
  for (uint64_t kept = 0; kept <= all + 1; kept++) {
    struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
    options.max_entries = kept;
    struct played played = play(OPERATIONS, options);
    const struct ashlar_device_trace *trace = &played.snapshot.traces[0];
    assert_int_equal(trace->event_count, kept == 0 ? 1 : kept < all ? kept : all);
    const struct ashlar_event *last = &trace->events[trace->event_count - 1];
    assert_int_equal(last->action, ASHLAR_ACTION_ALLOC);
    assert_int_equal(last->size, 1536);
    for (uint64_t i = 1; i < trace->event_count; i++) {
      assert_true(trace->events[i - 1].time_us <= trace->events[i].time_us);
    }
    done(&played);
  }
}

/* More streams than a manager can tell apart: those requests fail, the others are served. */
static void too_many_streams_fail_one_by_one(void **state)
{
  (void)state;
  enum { MORE = 3, ROOM = 32 };
  const size_t count = ASHLAR_STREAM_DEFERRED + MORE;
  char *text = malloc(count * ROOM + ROOM);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "ashlar-trace 1\n");
  for (size_t i = 0; i < count; i++) {
    length += (size_t)sprintf(text + length, "a %zu 1 %zu\n", i, i + 1000);
  }
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_error error;
  const struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
  assert_true(ashlar_requests_read_memory(text, length, &requests, &error));
  assert_true(ashlar_replay_run(&requests, &options, &replay, NULL, &error));
  assert_int_equal(replay.devices[0].served, ASHLAR_STREAM_DEFERRED);
  assert_int_equal(replay.failure_count, MORE);
  assert_int_equal(replay.failures[0].reason, ASHLAR_REPLAY_NO_STREAM);
  ashlar_replay_free(&replay);
  ashlar_requests_free(&requests);
  free(text);
}

/* The free list of a full manager: requests fail, and frees make room again. */
static void a_full_manager_fails_and_recovers(void **state)
{
  (void)state;
  enum { ROOM = 32 };
  if (ASHLAR_SLOTS > 65536) {
    print_message("this needs a manager of at most 65536 slots, which the other variant has\n");
    return;
  }
  const size_t count = ASHLAR_SLOTS + 100;
  char *text = malloc((count + 200) * ROOM);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "ashlar-trace 1\n");
  for (size_t i = 0; i < count; i++) {
    length += (size_t)sprintf(text + length, "a %zu 1\n", i);
  }
  length += (size_t)sprintf(text + length, "f 0\nf 1\nf 2\nf 3\na 0 1\n");
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_error error;
  const struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
  assert_true(ashlar_requests_read_memory(text, length, &requests, &error));
  assert_true(ashlar_replay_run(&requests, &options, &replay, NULL, &error));
  assert_true(replay.failure_count >= 100 && replay.failure_count <= 200);
  assert_int_equal(replay.failures[0].reason, ASHLAR_REPLAY_NO_SLOT);
  assert_int_equal(replay.devices[0].served + replay.failure_count, count + 1);
  /* The last request was served. */
  assert_true(replay.failures[replay.failure_count - 1].event < count);
  ashlar_replay_free(&replay);
  ashlar_requests_free(&requests);
  free(text);
}

static void refused_settings_are_told(void **state)
{
  (void)state;
  static const char TEXT[] = "ashlar-trace 1\na 0 1\n";
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  assert_true(ashlar_requests_read_memory(TEXT, sizeof TEXT - 1, &requests, &error));
  struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
  options.max_split_size = MIB;
  assert_false(ashlar_replay_run(&requests, &options, &replay, &snapshot, &error));
  assert_non_null(strstr(error.text, "split limit"));
  options = options_for(ASHLAR_SIM_UNLIMITED);
  options.placement = ASHLAR_SIM_RECORDED;
  assert_false(ashlar_replay_run(&requests, &options, &replay, &snapshot, &error));
  assert_non_null(strstr(error.text, "text trace"));
  assert_null(snapshot.segments);
  ashlar_requests_free(&requests);
}

static void an_empty_trace_replays(void **state)
{
  (void)state;
  static const char TEXT[] = "ashlar-trace 1\n";
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  const struct ashlar_replay_options options = options_for(ASHLAR_SIM_UNLIMITED);
  assert_true(ashlar_requests_read_memory(TEXT, sizeof TEXT - 1, &requests, &error));
  assert_true(ashlar_replay_run(&requests, &options, &replay, &snapshot, &error));
  assert_int_equal(replay.operations, 0);
  assert_int_equal(snapshot.trace_count, 1);
  assert_int_equal(snapshot.segment_count, 0);
  FILE *sink = tmpfile();
  const struct ashlar_replay_subject subject = {"an empty trace", &requests};
  assert_true(ashlar_replay_print_json(sink, &replay, &subject));
  assert_true(ashlar_replay_print_text(sink, &replay, &subject));
  assert_true(ftell(sink) > 0);
  assert_int_equal(fclose(sink), 0);
  ashlar_snapshot_free(&snapshot);
  ashlar_replay_free(&replay);
  ashlar_requests_free(&requests);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_are_those_worked_out),
      cmocka_unit_test(nothing_free_is_no_fragmentation),
      cmocka_unit_test(a_request_that_fails_is_reported_and_skipped),
      cmocka_unit_test(the_ladder_releases_everything_that_is_free),
      cmocka_unit_test(with_a_split_limit_oversize_blocks_go_first),
      cmocka_unit_test(an_oversize_block_is_not_split),
      cmocka_unit_test(a_block_in_use_elsewhere_comes_back_later),
      cmocka_unit_test(a_use_on_its_own_stream_is_none),
      cmocka_unit_test(uses_finish_after_so_many_allocations),
      cmocka_unit_test(uses_are_waited_for_before_anything_is_released),
      cmocka_unit_test(the_cache_is_released_on_one_device_or_on_all),
      cmocka_unit_test(both_orders_are_followed),
      cmocka_unit_test(only_the_last_events_are_kept),
      cmocka_unit_test(too_many_streams_fail_one_by_one),
      cmocka_unit_test(a_full_manager_fails_and_recovers),
      cmocka_unit_test(refused_settings_are_told),
      cmocka_unit_test(an_empty_trace_replays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
