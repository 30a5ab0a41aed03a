/* recordings_test.c - the generated recordings: what they cover, that they audit clean, that a recorded
 * device plays them again exactly, and that damaged ones do no harm.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/recordings.h"
#include "tests/snapshot_support.h"
#include "tools/audit.h"
#include "tools/replay.h"
#include "tools/requests.h"
#include "tools/snapshot_writer.h"

enum { FLIPS = 4000, MUTATED_RECORDINGS = 8, CONTRADICTIONS = 2000 };

static struct ashlar_snapshot recording(unsigned index)
{
  const struct ashlar_recording_plan plan = ashlar_recording_plan(index);
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  if (!ashlar_recording_make(&plan, &snapshot, NULL, &error)) {
    fail_msg("recording %u: %s", index, error.text);
  }
  return snapshot;
}

/* Whether the oldest events were overwritten: then the recording begins in the middle. */
static bool is_wrapped(const struct ashlar_recording_plan *plan,
                       const struct ashlar_snapshot *snapshot)
{
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    if (snapshot->traces[i].event_count == plan->options.max_entries) {
      return true;
    }
  }
  return false;
}

static void the_same_index_gives_the_same_recording(void **state)
{
  (void)state;
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i += 5) {
    struct ashlar_snapshot first = recording(i);
    struct ashlar_snapshot second = recording(i);
    assert_true(snapshots_are_equal(&first, &second));
    ashlar_snapshot_free(&first);
    ashlar_snapshot_free(&second);
  }
}

/* What the recordings are for has to be in them. */
struct coverage {
  unsigned streams;
  unsigned wrapped;
  unsigned devices;
  unsigned refused; /* the device refused, so the ladder ran */
  unsigned saved;   /* and it helped at least once */
  unsigned ooms;
  unsigned oversize; /* with a split limit, segments were released for a request */
  unsigned releases; /* the cache was released by a call */
  unsigned late;     /* a free was completed later than requested */
  unsigned pending;  /* one still is not */
  unsigned large;    /* a request above 100 MiB was served */
  unsigned tiny;     /* a request below 16 bytes was served */
};

static void cover_event(struct coverage *found, const struct ashlar_event *event)
{
  found->ooms += event->action == ASHLAR_ACTION_OOM ? 1 : 0;
  if (event->action == ASHLAR_ACTION_ALLOC) {
    found->large += event->size > UINT64_C(100) << 20 ? 1 : 0;
    found->tiny += event->size < 16 ? 1 : 0;
  }
  if (event->action == ASHLAR_ACTION_FREE_COMPLETED) {
    found->late += event[-1].action != ASHLAR_ACTION_FREE_REQUESTED ? 1 : 0;
  }
}

static void cover(struct coverage *sum, unsigned index)
{
  const struct ashlar_recording_plan plan = ashlar_recording_plan(index);
  struct ashlar_snapshot snapshot;
  struct ashlar_replay replay;
  struct ashlar_error error = {0};
  struct coverage found = {0};
  assert_true(ashlar_recording_make(&plan, &snapshot, &replay, &error));
  for (uint32_t i = 0; i < snapshot.trace_count; i++) {
    for (uint64_t k = 1; k < snapshot.traces[i].event_count; k++) {
      cover_event(&found, &snapshot.traces[i].events[k]);
    }
  }
  for (uint64_t i = 0; i < snapshot.block_count; i++) {
    found.pending += snapshot.blocks[i].state == ASHLAR_BLOCK_PENDING_FREE ? 1 : 0;
  }
  const struct ashlar_replay_device *device = &replay.devices[0];
  const bool has_ladder = device->calls.refused > 0;
  sum->streams += plan.streams > 2 ? 1 : 0;
  sum->wrapped += is_wrapped(&plan, &snapshot) ? 1 : 0;
  sum->devices += plan.devices > 1 ? 1 : 0;
  sum->refused += has_ladder ? 1 : 0;
  sum->saved += has_ladder && device->failed < device->calls.refused / 2 ? 1 : 0;
  sum->oversize += has_ladder && plan.options.max_split_size != 0 ? 1 : 0;
  sum->releases += device->cache_releases > 0 && device->calls.frees > 0 ? 1 : 0;
  sum->ooms += found.ooms > 0 ? 1 : 0;
  sum->late += found.late > 0 ? 1 : 0;
  sum->pending += found.pending > 0 ? 1 : 0;
  sum->large += found.large > 0 ? 1 : 0;
  sum->tiny += found.tiny > 0 ? 1 : 0;
  ashlar_snapshot_free(&snapshot);
  ashlar_replay_free(&replay);
}

static void the_recordings_cover_what_they_are_for(void **state)
{
  (void)state;
  struct coverage sum = {0};
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i++) {
    cover(&sum, i);
  }
  print_message("of %d: streams %u, wrapped %u, devices %u, refused %u, saved %u, ooms %u, "
                "oversize %u, releases %u, late %u, pending %u, large %u, tiny %u\n",
                ASHLAR_RECORDINGS, sum.streams, sum.wrapped, sum.devices, sum.refused, sum.saved,
                sum.ooms, sum.oversize, sum.releases, sum.late, sum.pending, sum.large, sum.tiny);
  assert_true(ASHLAR_RECORDINGS >= 40);
  assert_true(sum.streams >= 40);
  assert_true(sum.wrapped >= 20 && sum.wrapped <= ASHLAR_RECORDINGS - 20);
  assert_true(sum.devices >= 5);
  assert_true(sum.refused >= 20 && sum.saved >= 10 && sum.ooms >= 15 && sum.oversize >= 10);
  assert_true(sum.releases >= 15);
  assert_true(sum.late >= 15 && sum.pending >= 10);
  assert_true(sum.large >= 10 && sum.tiny >= 40);
}

static void every_recording_audits_clean(void **state)
{
  (void)state;
  uint64_t allocations = 0;
  unsigned open = 0;
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i++) {
    const struct ashlar_recording_plan plan = ashlar_recording_plan(i);
    const struct ashlar_audit_options options = {.order = plan.options.order == ASHLAR_ORDER_SEGMENT
                                                              ? ASHLAR_AUDIT_ORDER_SEGMENT
                                                              : ASHLAR_AUDIT_ORDER_ADDRESS};
    struct ashlar_snapshot snapshot = recording(i);
    struct ashlar_audit audit;
    struct ashlar_error error = {0};
    uint64_t undetermined = 0;
    assert_true(ashlar_audit_snapshot(&snapshot, "recording", &options, &audit, &error));
    for (uint64_t k = 0; k < audit.device_count; k++) {
      const struct ashlar_audit_device *device = &audit.devices[k];
      if (device->differ > 0 || device->finding_count > 0) {
        fail_msg("recording %u: %llu differ, %llu findings", i, (unsigned long long)device->differ,
                 (unsigned long long)device->finding_count);
      }
      undetermined += device->undetermined;
      allocations += device->allocations;
      assert_int_equal(device->agree + device->undetermined, device->allocations);
    }
    /* Only what happened before a recording can leave a decision open. */
    assert_true(undetermined == 0 || is_wrapped(&plan, &snapshot));
    open += undetermined > 0 ? 1 : 0;
    ashlar_audit_free(&audit);
    ashlar_snapshot_free(&snapshot);
  }
  print_message("%llu allocations; %u recordings leave decisions open\n",
                (unsigned long long)allocations, open);
  assert_true(ASHLAR_RECORDINGS - open >= 50);
}

/* --- a recorded device --- */

static void assert_same_events(const struct ashlar_snapshot *left,
                               const struct ashlar_snapshot *right)
{
  assert_int_equal(left->trace_count, right->trace_count);
  for (uint32_t i = 0; i < left->trace_count; i++) {
    assert_int_equal(left->traces[i].event_count, right->traces[i].event_count);
    for (uint64_t k = 0; k < left->traces[i].event_count; k++) {
      const struct ashlar_event *a = &left->traces[i].events[k];
      const struct ashlar_event *b = &right->traces[i].events[k];
      assert_int_equal(a->action, b->action);
      assert_int_equal(a->address, b->address);
      assert_int_equal(a->size, b->size);
      assert_int_equal(left->streams[a->stream].handle, right->streams[b->stream].handle);
    }
  }
}

static void assert_same_state(const struct ashlar_snapshot *left,
                              const struct ashlar_snapshot *right)
{
  assert_int_equal(left->segment_count, right->segment_count);
  assert_int_equal(left->block_count, right->block_count);
  for (uint64_t i = 0; i < left->segment_count; i++) {
    const struct ashlar_segment *a = &left->segments[i];
    const struct ashlar_segment *b = &right->segments[i];
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->device, b->device);
    assert_int_equal(a->total_size, b->total_size);
    assert_int_equal(a->allocated_size, b->allocated_size);
    assert_int_equal(a->active_size, b->active_size);
    assert_int_equal(a->requested_size, b->requested_size);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(left->streams[a->stream].handle, right->streams[b->stream].handle);
  }
  for (uint64_t i = 0; i < left->block_count; i++) {
    assert_int_equal(left->blocks[i].address, right->blocks[i].address);
    assert_int_equal(left->blocks[i].size, right->blocks[i].size);
    assert_int_equal(left->blocks[i].requested_size, right->blocks[i].requested_size);
    assert_int_equal(left->blocks[i].state, right->blocks[i].state);
  }
}

/* The bytes of a recording as a file has them; the caller's to free(). */
static uint8_t *pickled(const struct ashlar_snapshot *snapshot, size_t *size)
{
  char path[SNAPSHOT_PATH_SIZE];
  struct ashlar_error error = {0};
  assert_true(make_temporary(path));
  assert_true(ashlar_snapshot_write_file(path, snapshot, &error));
  uint8_t *bytes = read_whole_file(path, size);
  assert_non_null(bytes);
  (void)unlink(path);
  return bytes;
}

static void a_recorded_device_plays_it_again_exactly(void **state)
{
  (void)state;
  unsigned exact = 0;
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i++) {
    const struct ashlar_recording_plan plan = ashlar_recording_plan(i);
    struct ashlar_snapshot source = recording(i);
    struct ashlar_requests requests;
    struct ashlar_replay replay;
    struct ashlar_snapshot again;
    struct ashlar_error error = {0};
    size_t size = 0;
    uint8_t *bytes = pickled(&source, &size);
    const struct ashlar_replay_options options = {.policy = ASHLAR_POLICY_FAITHFUL,
                                                  .order = plan.options.order,
                                                  .placement = ASHLAR_SIM_RECORDED,
                                                  .capacity = ASHLAR_SIM_UNLIMITED,
                                                  .max_entries = UINT64_MAX};
    assert_true(ashlar_requests_read_memory(bytes, size, &requests, &error));
    assert_true(ashlar_replay_run(&requests, &options, &replay, &again, &error));
    /* How old the segments from before a recording are is nowhere to be seen. */
    if (!is_wrapped(&plan, &source) || plan.options.order == ASHLAR_ORDER_ADDRESS) {
      assert_same_events(&source, &again);
      assert_same_state(&source, &again);
      assert_int_equal(ashlar_replay_exit_status(&replay), 0);
      exact++;
    }
    ashlar_snapshot_free(&again);
    ashlar_replay_free(&replay);
    ashlar_requests_free(&requests);
    ashlar_snapshot_free(&source);
    free(bytes);
  }
  print_message("%u of %d are the same again\n", exact, ASHLAR_RECORDINGS);
  assert_true(exact >= 40);
}

/* --- damage --- */

static void replay_bytes(const uint8_t *bytes, size_t size, enum ashlar_sim_placement placement,
                         unsigned *replayed)
{
  struct ashlar_requests requests;
  struct ashlar_replay replay;
  struct ashlar_snapshot again;
  struct ashlar_error error = {0};
  const struct ashlar_replay_options options = {
      .placement = placement, .capacity = UINT64_C(1) << 40, .max_entries = UINT64_MAX};
  if (!ashlar_requests_read_memory(bytes, size, &requests, &error)) {
    assert_true(error.text[0] != '\0');
    return;
  }
  if (ashlar_replay_run(&requests, &options, &replay, &again, &error)) {
    (*replayed)++;
    ashlar_snapshot_free(&again);
    ashlar_replay_free(&replay);
  } else {
    assert_true(error.text[0] != '\0');
  }
  ashlar_requests_free(&requests);
}

/* One to four bytes are changed; the sanitizers watch. */
static void damaged_recordings_do_no_harm(void **state)
{
  (void)state;
  unsigned replayed = 0;
  uint64_t random = 99;
  for (unsigned i = 0; i < MUTATED_RECORDINGS; i++) {
    struct ashlar_snapshot source = recording(i * 7 % ASHLAR_RECORDINGS);
    size_t size = 0;
    uint8_t *bytes = pickled(&source, &size);
    uint8_t *damaged = malloc(size);
    assert_non_null(damaged);
    for (unsigned k = 0; k < FLIPS / MUTATED_RECORDINGS; k++) {
      memcpy(damaged, bytes, size);
      for (unsigned n = 0; n <= k % 4; n++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        damaged[(random >> 16) % size] ^= (uint8_t)(1U << (random >> 61));
      }
      replay_bytes(damaged, size, k % 2 == 0 ? ASHLAR_SIM_RECORDED : ASHLAR_SIM_ASCENDING,
                   &replayed);
    }
    free(damaged);
    free(bytes);
    ashlar_snapshot_free(&source);
  }
  print_message("%u of %d damaged recordings could be replayed\n", replayed, FLIPS);
  assert_true(replayed > FLIPS / 10);
}

static uint64_t draw(uint64_t *random, uint64_t end)
{
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*random >> 24) % end;
}

static void damage_event(struct ashlar_device_trace *trace, uint64_t *random)
{
  struct ashlar_event *event = &trace->events[draw(random, trace->event_count)];
  struct ashlar_event *other = &trace->events[draw(random, trace->event_count)];
  const struct ashlar_event kept = *event;
  switch (draw(random, 6)) {
  case 0:
    event->address = other->address;
    break;
  case 1:
    event->size = UINT64_C(1) << draw(random, 62);
    break;
  case 2:
    event->action = (uint8_t)draw(random, ASHLAR_ACTION_SEGMENT_UNMAP);
    break;
  case 3:
    event->address += draw(random, 2048);
    break;
  case 4:
    event->stream = other->stream;
    break;
  default:
    *event = *other;
    *other = kept;
    break;
  }
}

static void damage_state(struct ashlar_snapshot *snapshot, uint64_t *random)
{
  struct ashlar_segment *segment = &snapshot->segments[draw(random, snapshot->segment_count)];
  struct ashlar_block *block = &snapshot->blocks[draw(random, snapshot->block_count)];
  switch (draw(random, 6)) {
  case 0:
    block->state = (uint8_t)draw(random, 3);
    break;
  case 1:
    block->size = UINT64_C(512) << draw(random, 40);
    break;
  case 2:
    block->address += draw(random, 4096);
    break;
  case 3:
    block->requested_size = draw(random, UINT64_C(1) << 40);
    break;
  case 4:
    segment->address += UINT64_C(512) * draw(random, 4096);
    break;
  default:
    segment->total_size = UINT64_C(256) << draw(random, 40);
    break;
  }
}

/* What is listed and what is told contradict each other. */
static void contradictory_recordings_do_no_harm(void **state)
{
  (void)state;
  unsigned replayed = 0;
  uint64_t random = 5;
  for (unsigned i = 0; i < CONTRADICTIONS; i++) {
    struct ashlar_snapshot source = recording(i % ASHLAR_RECORDINGS);
    size_t size = 0;
    for (unsigned n = 0; n <= i % 5; n++) {
      struct ashlar_device_trace *trace = &source.traces[draw(&random, source.trace_count)];
      if (i % 3 == 0 || trace->event_count == 0) {
        damage_state(&source, &random);
      } else {
        damage_event(trace, &random);
      }
    }
    uint8_t *bytes = pickled(&source, &size);
    replay_bytes(bytes, size, i % 2 == 0 ? ASHLAR_SIM_RECORDED : ASHLAR_SIM_ASCENDING, &replayed);
    free(bytes);
    ashlar_snapshot_free(&source);
  }
  print_message("%u of %d contradictory recordings could be replayed\n", replayed, CONTRADICTIONS);
  assert_true(replayed > CONTRADICTIONS / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_index_gives_the_same_recording),
      cmocka_unit_test(the_recordings_cover_what_they_are_for),
      cmocka_unit_test(every_recording_audits_clean),
      cmocka_unit_test(a_recorded_device_plays_it_again_exactly),
      cmocka_unit_test(damaged_recordings_do_no_harm),
      cmocka_unit_test(contradictory_recordings_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
