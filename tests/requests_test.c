/* requests_test.c - what becomes of a recorded snapshot when it is replayed: seeds, frees, cache
 * releases, and what cannot be replayed. The snapshots are made by hand.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/snapshot_support.h"
#include "tools/replay.h"
#include "tools/requests.h"
#include "tools/snapshot_writer.h"

#define MIB (UINT64_C(1) << 20)
#define SMALL_SEGMENT UINT64_C(0x7f0000000000) /* 2 MiB */
#define LARGE_SEGMENT UINT64_C(0x7f1000000000) /* 20 MiB */

/* --- making snapshots --- */

static struct ashlar_snapshot empty(void)
{
  struct ashlar_snapshot snapshot;
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_true(ashlar_snapshot_add_trace(&snapshot));
  return snapshot;
}

static void add_segment(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size)
{
  const struct ashlar_segment segment = {
      .address = address,
      .total_size = size,
      .type = size > 2 * MIB ? ASHLAR_SEGMENT_LARGE : ASHLAR_SEGMENT_SMALL,
      .flags = ASHLAR_SEGMENT_HAS_DEVICE | ASHLAR_SEGMENT_HAS_STREAM | ASHLAR_SEGMENT_HAS_POOL |
               ASHLAR_SEGMENT_HAS_EXPANDABLE | ASHLAR_SEGMENT_HAS_TOTAL | ASHLAR_SEGMENT_HAS_BLOCKS,
  };
  assert_true(ashlar_snapshot_add_segment(snapshot, &segment));
}

static void add_block(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size,
                      uint64_t requested, enum ashlar_block_state state)
{
  const struct ashlar_block block = {
      .address = address,
      .size = size,
      .requested_size = requested,
      .state = (uint8_t)state,
      .flags = ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED,
  };
  assert_true(ashlar_snapshot_add_block(snapshot, &block));
}

static void add_event_in(struct ashlar_snapshot *snapshot, enum ashlar_action action,
                         uint64_t address, uint64_t size, uint16_t pool)
{
  const struct ashlar_event event = {
      .address = address,
      .size = size,
      .pool = pool,
      .action = (uint8_t)action,
      .flags = ASHLAR_EVENT_HAS_ADDRESS | ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM |
               ASHLAR_EVENT_HAS_POOL,
  };
  assert_true(ashlar_snapshot_add_event(snapshot, 0, &event));
}

static void add_event(struct ashlar_snapshot *snapshot, enum ashlar_action action, uint64_t address,
                      uint64_t size)
{
  add_event_in(snapshot, action, address, size, 0);
}

static void add_free(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size)
{
  add_event(snapshot, ASHLAR_ACTION_FREE_REQUESTED, address, size);
  add_event(snapshot, ASHLAR_ACTION_FREE_COMPLETED, address, size);
}

/* --- replaying them --- */

struct played {
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_snapshot again;
};

/* Reads the requests of a snapshot, which is freed. */
static bool read_requests(struct ashlar_snapshot *snapshot, struct ashlar_requests *requests,
                          struct ashlar_error *error)
{
  char path[SNAPSHOT_PATH_SIZE];
  assert_true(make_temporary(path));
  assert_true(ashlar_snapshot_write_file(path, snapshot, error));
  ashlar_snapshot_free(snapshot);
  const bool is_read = ashlar_requests_read_file(path, requests, error);
  (void)unlink(path);
  return is_read;
}

static struct played play(struct ashlar_snapshot snapshot, enum ashlar_sim_placement placement,
                          uint64_t capacity)
{
  struct played played;
  struct ashlar_error error = {0};
  const struct ashlar_replay_options options = {
      .placement = placement, .capacity = capacity, .max_entries = UINT64_MAX};
  if (!read_requests(&snapshot, &played.requests, &error) ||
      !ashlar_replay_run(&played.requests, &options, &played.replay, &played.again, &error)) {
    fail_msg("%s", error.text);
  }
  return played;
}

static void done(struct played *played)
{
  ashlar_snapshot_free(&played->again);
  ashlar_replay_free(&played->replay);
  ashlar_requests_free(&played->requests);
}

/* One small and one large segment. Before the recording 512 and 4 MiB were live; 1024 more were freed in
   it, and a block whose owner had let go before is pending to the end. */
static struct ashlar_snapshot from_the_middle(void)
{
  struct ashlar_snapshot snapshot = empty();
  add_segment(&snapshot, SMALL_SEGMENT, 2 * MIB);
  add_block(&snapshot, SMALL_SEGMENT, 512, 500, ASHLAR_BLOCK_ALLOCATED);
  add_block(&snapshot, SMALL_SEGMENT + 512, 1024, 999, ASHLAR_BLOCK_INACTIVE);
  add_block(&snapshot, SMALL_SEGMENT + 1536, 512, 77, ASHLAR_BLOCK_PENDING_FREE);
  add_block(&snapshot, SMALL_SEGMENT + 2048, 2 * MIB - 2048, 4321, ASHLAR_BLOCK_INACTIVE);
  add_segment(&snapshot, LARGE_SEGMENT, 20 * MIB);
  add_block(&snapshot, LARGE_SEGMENT, 4 * MIB, 4 * MIB, ASHLAR_BLOCK_ALLOCATED);
  add_block(&snapshot, LARGE_SEGMENT + 4 * MIB, 16 * MIB, 2 * MIB, ASHLAR_BLOCK_INACTIVE);
  add_free(&snapshot, SMALL_SEGMENT + 512, 999);
  add_event(&snapshot, ASHLAR_ACTION_ALLOC, LARGE_SEGMENT + 4 * MIB, 2 * MIB);
  add_free(&snapshot, LARGE_SEGMENT + 4 * MIB, 2 * MIB);
  return snapshot;
}

static void what_was_live_before_is_put_back_where_it_was(void **state)
{
  (void)state;
  struct played played = play(from_the_middle(), ASHLAR_SIM_RECORDED, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(played.requests.seed_count, 4);
  assert_int_equal(device->seeded_segments, 2);
  assert_int_equal(device->seeded_blocks, 4);
  assert_int_equal(device->seeded_bytes, 4 * MIB + 2048);
  assert_int_equal(device->allocations, 1);
  assert_int_equal(device->frees, 2);
  assert_int_equal(device->elsewhere + device->calls.off_script + device->failed, 0);
  assert_int_equal(device->at_peak_allocated.allocated, 6 * MIB + 512);
  assert_int_equal(device->pending_blocks, 1);
  assert_int_equal(played.again.block_count, 6);
  assert_int_equal(played.again.blocks[2].state, ASHLAR_BLOCK_PENDING_FREE);
  /* 4321 was requested before the recording and is taken over; 999 is known from it. */
  assert_int_equal(played.again.blocks[3].requested_size, 4321);
  assert_int_equal(played.again.blocks[1].requested_size, 999);
  assert_int_equal(played.replay.adopted, 1);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  done(&played);
}

static void what_was_live_before_is_placed_anew(void **state)
{
  (void)state;
  struct played played = play(from_the_middle(), ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(device->seeded_segments, 0);
  assert_int_equal(device->seeded_blocks, 4);
  assert_int_equal(device->seed_calls, 2);
  assert_int_equal(device->calls.allocs, 0);
  assert_int_equal(device->calls_uncached, 3);
  assert_int_equal(device->at_end.reserved, 22 * MIB);
  assert_int_equal(played.again.blocks[0].requested_size, 500);
  assert_int_equal(played.again.segments[0].address % ASHLAR_SIM_ALIGNMENT, 0);
  done(&played);
}

static void seeds_that_do_not_fit_the_device_fail(void **state)
{
  (void)state;
  struct played played = play(from_the_middle(), ASHLAR_SIM_ASCENDING, 20 * MIB);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(played.replay.failure_count, 2);
  assert_int_equal(played.replay.failures[0].event, ASHLAR_REPLAY_BEFORE);
  assert_int_equal(played.replay.failures[0].reason, ASHLAR_REPLAY_OUT_OF_MEMORY);
  assert_int_equal(played.replay.failures[0].address, LARGE_SEGMENT);
  assert_int_equal(played.replay.failures[1].event, 2);
  assert_int_equal(device->skipped, 1);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 1);
  done(&played);
}

/* In the large pool nothing as small as 1 MiB is ever left free: a block before such a gap has it. */
static void a_gap_that_cannot_be_a_block_belongs_to_the_block_before(void **state)
{
  (void)state;
  struct ashlar_snapshot snapshot = empty();
  add_segment(&snapshot, LARGE_SEGMENT, 20 * MIB);
  add_block(&snapshot, LARGE_SEGMENT, 5 * MIB, 4 * MIB, ASHLAR_BLOCK_INACTIVE);
  add_block(&snapshot, LARGE_SEGMENT + 5 * MIB, 15 * MIB, 15 * MIB, ASHLAR_BLOCK_ALLOCATED);
  add_free(&snapshot, LARGE_SEGMENT, 4 * MIB);
  struct played played = play(snapshot, ASHLAR_SIM_RECORDED, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(played.requests.seeds[0].size, 5 * MIB);
  assert_int_equal(played.replay.devices[0].seeded_bytes, 20 * MIB);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  done(&played);
}

static void what_cannot_be_replayed_fails_and_the_rest_goes_on(void **state)
{
  (void)state;
  struct ashlar_snapshot snapshot = empty();
  uint16_t pool = 0;
  assert_true(ashlar_snapshot_pool(&snapshot, 1, 0, &pool));
  add_segment(&snapshot, SMALL_SEGMENT, 2 * MIB);
  add_block(&snapshot, SMALL_SEGMENT, 512, 500, ASHLAR_BLOCK_ALLOCATED);
  add_block(&snapshot, SMALL_SEGMENT + 512, 2 * MIB - 512, 0, ASHLAR_BLOCK_INACTIVE);
  /* frees a block that is in no segment: one request and one failure, not two */
  add_free(&snapshot, LARGE_SEGMENT, 4 * MIB);
  /* allocates where a block is live */
  add_event(&snapshot, ASHLAR_ACTION_ALLOC, SMALL_SEGMENT + 512, 100);
  add_event(&snapshot, ASHLAR_ACTION_ALLOC, SMALL_SEGMENT + 512, 100);
  add_free(&snapshot, SMALL_SEGMENT + 512, 100);
  /* a private pool: its blocks are like others */
  add_event_in(&snapshot, ASHLAR_ACTION_ALLOC, LARGE_SEGMENT + 512, 100, pool);
  add_event_in(&snapshot, ASHLAR_ACTION_FREE_REQUESTED, LARGE_SEGMENT + 512, 100, pool);
  add_event_in(&snapshot, ASHLAR_ACTION_FREE_COMPLETED, LARGE_SEGMENT + 512, 100, pool);
  struct played played = play(snapshot, ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_failure *failures = played.replay.failures;
  assert_int_equal(played.replay.failure_count, 2);
  assert_int_equal(failures[0].event, 0);
  assert_int_equal(failures[0].reason, ASHLAR_REPLAY_NOT_LIVE);
  assert_int_equal(failures[1].event, 3);
  assert_int_equal(failures[1].reason, ASHLAR_REPLAY_LIVE);
  assert_int_equal(played.replay.devices[0].allocations, 2);
  assert_int_equal(played.replay.devices[0].frees, 2);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 1);
  done(&played);
}

/* --- releases --- */

/* A free segment of 12 MiB, which is released; then 12 MiB or more are asked for. */
static struct ashlar_snapshot with_a_release(uint64_t request, bool is_refused)
{
  const uint64_t other = LARGE_SEGMENT + 100 * MIB;
  const uint64_t size = (request + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
  struct ashlar_snapshot snapshot = empty();
  if (!is_refused) {
    add_segment(&snapshot, other, size);
    add_block(&snapshot, other, size, request, ASHLAR_BLOCK_ALLOCATED);
  }
  add_event(&snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_SEGMENT, 12 * MIB);
  if (is_refused) {
    add_event(&snapshot, ASHLAR_ACTION_OOM, MIB, request);
  } else {
    add_event(&snapshot, ASHLAR_ACTION_SEGMENT_ALLOC, other, size);
    add_event(&snapshot, ASHLAR_ACTION_ALLOC, other, request);
  }
  return snapshot;
}

/* The free block would have done, so the request cannot have been why it was released. */
static void a_release_before_a_request_that_it_would_have_served_is_a_call(void **state)
{
  (void)state;
  struct played played =
      play(with_a_release(12 * MIB, false), ASHLAR_SIM_RECORDED, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(device->cache_releases, 1);
  assert_int_equal(device->calls.refused, 0);
  assert_int_equal(device->calls.frees, 1);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  assert_int_equal(played.again.traces[0].event_count, 3);
  done(&played);
  /* Elsewhere the call is made too. */
  played = play(with_a_release(12 * MIB, false), ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(played.replay.devices[0].cache_releases, 1);
  done(&played);
}

static void a_release_for_a_request_is_no_request(void **state)
{
  (void)state;
  struct played played =
      play(with_a_release(24 * MIB, false), ASHLAR_SIM_RECORDED, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(device->cache_releases, 0);
  assert_int_equal(device->calls.refused, 1);
  assert_int_equal(device->calls.frees, 1);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  done(&played);
  /* Where there is room the device is asked once, and gives. */
  played = play(with_a_release(24 * MIB, false), ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(played.replay.devices[0].cache_releases, 0);
  assert_int_equal(played.replay.devices[0].calls.frees, 0);
  done(&played);
}

static void a_recorded_failure_is_one_again_where_it_was_recorded(void **state)
{
  (void)state;
  struct played played =
      play(with_a_release(24 * MIB, true), ASHLAR_SIM_RECORDED, ASHLAR_SIM_UNLIMITED);
  const struct ashlar_replay_device *device = &played.replay.devices[0];
  assert_int_equal(device->refused_before, 1);
  assert_int_equal(device->refused_again, 1);
  assert_int_equal(device->failed, 0);
  assert_int_equal(ashlar_replay_exit_status(&played.replay), 0);
  assert_int_equal(played.again.traces[0].event_count, 2);
  assert_int_equal(played.again.traces[0].events[1].address, MIB);
  done(&played);
  played = play(with_a_release(24 * MIB, true), ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(played.replay.devices[0].refused_before, 1);
  assert_int_equal(played.replay.devices[0].refused_again, 0);
  assert_int_equal(played.replay.devices[0].allocations, 0);
  done(&played);
}

/* --- input that is no use --- */

static void devices_out_of_range_are_refused(void **state)
{
  (void)state;
  static const int32_t DEVICES[] = {-1, 128, 300};
  for (size_t i = 0; i < sizeof DEVICES / sizeof DEVICES[0]; i++) {
    struct ashlar_snapshot snapshot = empty();
    struct ashlar_requests requests;
    struct ashlar_error error = {0};
    add_segment(&snapshot, SMALL_SEGMENT, 2 * MIB);
    snapshot.segments[0].device = DEVICES[i];
    assert_false(read_requests(&snapshot, &requests, &error));
    assert_non_null(strstr(error.text, "device"));
    assert_null(requests.items);
  }
}

static void growable_segments_replay_as_ordinary_ones_only(void **state)
{
  (void)state;
  for (int recorded = 0; recorded <= 1; recorded++) {
    struct ashlar_snapshot snapshot = from_the_middle();
    struct ashlar_requests requests;
    struct ashlar_replay replay;
    struct ashlar_error error = {0};
    const struct ashlar_replay_options options = {.placement = recorded ? ASHLAR_SIM_RECORDED
                                                                        : ASHLAR_SIM_ASCENDING,
                                                  .capacity = ASHLAR_SIM_UNLIMITED};
    snapshot.segments[1].is_expandable = true;
    assert_true(read_requests(&snapshot, &requests, &error));
    assert_true(requests.has_growable);
    const bool is_done = ashlar_replay_run(&requests, &options, &replay, NULL, &error);
    assert_int_equal(is_done, recorded == 0);
    if (is_done) {
      assert_int_equal(replay.devices[0].seeded_blocks, 4);
      assert_int_equal(replay.devices[0].allocations, 1);
      ashlar_replay_free(&replay);
    } else {
      assert_non_null(strstr(error.text, "growable"));
    }
    ashlar_requests_free(&requests);
  }
}

static void segments_without_a_place_are_told(void **state)
{
  (void)state;
  struct ashlar_snapshot snapshot = empty();
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_error error = {0};
  const struct ashlar_replay_options options = {.placement = ASHLAR_SIM_RECORDED,
                                                .capacity = ASHLAR_SIM_UNLIMITED};
  add_segment(&snapshot, SMALL_SEGMENT + 1, 2 * MIB); /* not aligned */
  assert_true(read_requests(&snapshot, &requests, &error));
  assert_false(ashlar_replay_run(&requests, &options, &replay, NULL, &error));
  assert_non_null(strstr(error.text, "0x7f0000000001"));
  ashlar_requests_free(&requests);
}

static void the_first_bytes_tell_what_a_file_is(void **state)
{
  (void)state;
  struct ashlar_requests requests;
  struct ashlar_error error = {0};
  assert_false(ashlar_requests_read_memory("ashlar-trace 2\n", 15, &requests, &error));
  assert_true(requests.is_trace);
  assert_int_equal(error.position, 1);
  assert_false(ashlar_requests_read_memory("ashlar-trac", 11, &requests, &error));
  assert_false(requests.is_trace);
  assert_false(ashlar_requests_read_memory("", 0, &requests, &error));
  assert_false(ashlar_requests_read_file("no/such/file", &requests, &error));
  assert_non_null(strstr(error.text, "No such file"));
  assert_false(ashlar_requests_read_file("/", &requests, &error));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_live_before_is_put_back_where_it_was),
      cmocka_unit_test(what_was_live_before_is_placed_anew),
      cmocka_unit_test(seeds_that_do_not_fit_the_device_fail),
      cmocka_unit_test(a_gap_that_cannot_be_a_block_belongs_to_the_block_before),
      cmocka_unit_test(what_cannot_be_replayed_fails_and_the_rest_goes_on),
      cmocka_unit_test(a_release_before_a_request_that_it_would_have_served_is_a_call),
      cmocka_unit_test(a_release_for_a_request_is_no_request),
      cmocka_unit_test(a_recorded_failure_is_one_again_where_it_was_recorded),
      cmocka_unit_test(devices_out_of_range_are_refused),
      cmocka_unit_test(growable_segments_replay_as_ordinary_ones_only),
      cmocka_unit_test(segments_without_a_place_are_told),
      cmocka_unit_test(the_first_bytes_tell_what_a_file_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
