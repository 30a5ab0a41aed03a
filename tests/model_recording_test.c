/* model_recording_test.c - the recordings of the reference model: that they have in them what they are for, and that the
 * audit, which asks the verified core, agrees with every decision in them.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/model_recording.h"
#include "tests/snapshot_support.h"
#include "tests/storage.h"
#include "tools/audit.h"
#include "tools/replay.h"
#include "tools/requests.h"
#include "tools/snapshot_writer.h"

enum {
  REPEATED_STEP = 17,
  SANITIZED_STEP = 3, /* under a sanitizer: one in so many */
  CONTRADICTIONS = 300,
  STRIDE = 7
};

/* What has to happen in a family, in so many of its recordings at least. */
static const struct demand {
  const char *family;
  enum model_happening happening;
  unsigned recordings;
} DEMANDS[] = {
    {"streams", MODEL_HAPPENED_ALLOC, 15},
    {"streams", MODEL_HAPPENED_SNAPSHOT, 5},
    {"streams", MODEL_HAPPENED_EMPTIED, 8},
    {"uses", MODEL_HAPPENED_PENDING, 15},
    {"uses", MODEL_HAPPENED_COMPLETED, 15},
    {"split limit", MODEL_HAPPENED_REFUSED, 8},
    {"split limit", MODEL_HAPPENED_OVERSIZE, 3},
    {"limit", MODEL_HAPPENED_LIMITED, 4},
    {"limit", MODEL_HAPPENED_WAITED, 3},
    {"collection", MODEL_HAPPENED_COLLECTED, 8},
    {"collection and split limit", MODEL_HAPPENED_COLLECTED, 8},
    {"pools", MODEL_HAPPENED_POOL_ALLOC, 15},
    {"pools", MODEL_HAPPENED_POOL_RELEASED, 8},
    {"captures", MODEL_HAPPENED_CAPTURE, 15},
    {"captures", MODEL_HAPPENED_DEFERRED, 8},
    {"odd pools", MODEL_HAPPENED_UNSPLIT, 8},
    {"odd pools", MODEL_HAPPENED_FOREIGN, 8},
    {"odd pools", MODEL_HAPPENED_LENT, 3},
    {"growable", MODEL_HAPPENED_MAPPED, 15},
    {"growable", MODEL_HAPPENED_UNMAPPED, 8},
    {"growable", MODEL_HAPPENED_RANGE_RETURNED, 4},
    {"growable", MODEL_HAPPENED_WALKED, 8},
    {"growable, uses", MODEL_HAPPENED_MAP_REFUSED, 8},
    {"growable, uses", MODEL_HAPPENED_MAPPED_IN_PARTS, 2},
    {"growable, uses", MODEL_HAPPENED_COMPLETED, 12},
    {"growable, pools", MODEL_HAPPENED_POOL_ALLOC, 12},
    {"growable, captures", MODEL_HAPPENED_DEFERRED, 8},
    {"two devices", MODEL_HAPPENED_COMPLETED, 12},
    {"two devices", MODEL_HAPPENED_POOL_ALLOC, 12},
    {"refusals", MODEL_HAPPENED_REFUSED, 10},
    {"refusals", MODEL_HAPPENED_RELEASED, 5},
    {"refusals", MODEL_HAPPENED_OUT_OF_MEMORY, 2},
    {"everything ordinary", MODEL_HAPPENED_COLLECTED, 5},
    {"everything ordinary", MODEL_HAPPENED_CAPTURE, 12},
    {"everything ordinary", MODEL_HAPPENED_POOL_ALLOC, 12},
};
enum { DEMAND_COUNT = sizeof DEMANDS / sizeof DEMANDS[0] };

static bool is_wrapped(const struct model_plan *plan, const struct ashlar_snapshot *snapshot)
{
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    if (snapshot->traces[i].event_count == plan->entries) {
      return true;
    }
  }
  return false;
}

static unsigned step(void)
{
  return has_sanitizer() ? SANITIZED_STEP : 1;
}

static void the_same_index_gives_the_same_recording(void **state)
{
  (void)state;
  for (unsigned i = 0; i < MODEL_PLANS; i += REPEATED_STEP) {
    const struct model_plan plan = model_plan(i);
    struct model_counts counts = {0};
    struct ashlar_snapshot first;
    struct ashlar_snapshot second;
    model_recording_make(&plan, &first, &counts);
    model_recording_make(&plan, &second, &counts);
    assert_true(snapshots_are_equal(&first, &second));
    ashlar_snapshot_free(&first);
    ashlar_snapshot_free(&second);
  }
}

/* --- what is in them --- */

static unsigned met[DEMAND_COUNT]; /* recordings in which it happened */
static struct model_counts all;
static unsigned wrapped;
static unsigned made;

static void count(const struct model_plan *plan, const struct ashlar_snapshot *snapshot,
                  const struct model_counts *counts)
{
  for (size_t i = 0; i < DEMAND_COUNT; i++) {
    if (strcmp(DEMANDS[i].family, plan->family) == 0 && counts->of[DEMANDS[i].happening] > 0) {
      met[i]++;
    }
  }
  for (int i = 0; i < MODEL_HAPPENINGS; i++) {
    all.of[i] += counts->of[i];
  }
  wrapped += is_wrapped(plan, snapshot) ? 1 : 0;
  made++;
}

/* Behind the test that makes them all. */
static void the_recordings_have_in_them_what_they_are_for(void **state)
{
  (void)state;
  for (int i = 0; i < MODEL_HAPPENINGS; i++) {
    print_message("%-40s %llu\n", model_happening_name((enum model_happening)i),
                  (unsigned long long)all.of[i]);
  }
  print_message("%u recordings, %u from a ring that was full\n", made, wrapped);
  for (int i = 0; i < MODEL_HAPPENINGS; i++) {
    assert_true(all.of[i] > 0);
  }
  if (has_sanitizer()) {
    return;
  }
  assert_true(made >= 200);
  assert_true(wrapped >= 30 && wrapped <= made - 100);
  for (size_t i = 0; i < DEMAND_COUNT; i++) {
    if (met[i] < DEMANDS[i].recordings) {
      fail_msg("%s: in %u recordings only: %s", DEMANDS[i].family, met[i],
               model_happening_name(DEMANDS[i].happening));
    }
  }
}

/* --- the audit --- */

struct totals {
  uint64_t allocations;
  uint64_t agree;
  uint64_t open;
  uint64_t releases;
};

static struct totals totals;

static uint64_t count_events(const struct ashlar_snapshot *snapshot, enum ashlar_action action)
{
  uint64_t found = 0;
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    for (uint64_t k = 0; k < snapshot->traces[i].event_count; k++) {
      found += snapshot->traces[i].events[k].action == action ? 1 : 0;
    }
  }
  return found;
}

/* How old segments from before a recording are, and how large blocks are exactly, is nowhere to be seen. */
static bool may_be_open(const struct model_plan *plan, bool is_cut, unsigned reason)
{
  return is_cut && (reason == ASHLAR_OPEN_SIZE ||
                    (reason == ASHLAR_OPEN_AGE && plan->order == MODEL_ORDER_SEGMENT));
}

static void judge(unsigned index, const struct model_plan *plan, bool is_cut,
                  const struct ashlar_audit *audit, struct totals *sum)
{
  for (uint64_t i = 0; i < audit->device_count; i++) {
    const struct ashlar_audit_device *device = &audit->devices[i];
    if (device->finding_count > 0) {
      fail_msg("recording %u (%s), device %d: event %lld: %s", index, plan->family, device->device,
               (long long)device->findings[0].event, device->findings[0].detail);
    }
    assert_int_equal(device->differ, 0);
    for (unsigned reason = 0; reason < ASHLAR_OPEN_COUNT; reason++) {
      if (device->undetermined_for[reason] > 0 && !may_be_open(plan, is_cut, reason)) {
        fail_msg("recording %u (%s), device %d: %llu undetermined: %s", index, plan->family,
                 device->device, (unsigned long long)device->undetermined_for[reason],
                 ashlar_open_reason_text(reason));
      }
    }
    sum->allocations += device->allocations;
    sum->agree += device->agree;
    sum->open += device->undetermined;
    sum->releases += device->releases;
  }
}

static void the_core_agrees_with_every_recording(void **state)
{
  (void)state;
  for (unsigned i = 0; i < MODEL_PLANS; i += step()) {
    const struct model_plan plan = model_plan(i);
    const struct ashlar_audit_options options = {.order = plan.order == MODEL_ORDER_SEGMENT
                                                              ? ASHLAR_AUDIT_ORDER_SEGMENT
                                                              : ASHLAR_AUDIT_ORDER_ADDRESS};
    struct model_counts counts = {0};
    struct ashlar_snapshot snapshot;
    struct ashlar_audit audit;
    struct ashlar_error error = {0};
    struct totals sum = {0};
    model_recording_make(&plan, &snapshot, &counts);
    count(&plan, &snapshot, &counts);
    assert_true(ashlar_snapshot_is_valid(&snapshot));
    assert_true(ashlar_audit_snapshot(&snapshot, "recording", &options, &audit, &error));
    judge(i, &plan, is_wrapped(&plan, &snapshot), &audit, &sum);
    assert_int_equal(sum.allocations, count_events(&snapshot, ASHLAR_ACTION_ALLOC));
    assert_int_equal(sum.releases, count_events(&snapshot, ASHLAR_ACTION_SEGMENT_FREE) +
                                       count_events(&snapshot, ASHLAR_ACTION_SEGMENT_UNMAP));
    totals.allocations += sum.allocations;
    totals.agree += sum.agree;
    totals.open += sum.open;
    totals.releases += sum.releases;
    ashlar_audit_free(&audit);
    ashlar_snapshot_free(&snapshot);
  }
  print_message("%llu allocations, %llu agree, %llu undetermined; %llu releases in order\n",
                (unsigned long long)totals.allocations, (unsigned long long)totals.agree,
                (unsigned long long)totals.open, (unsigned long long)totals.releases);
  assert_true(totals.agree + totals.open == totals.allocations);
  assert_true(totals.open * 500 < totals.allocations);
}

/* --- replay --- */

/* How many recordings of a family play again exactly, of MODEL_PLANS / MODEL_FAMILIES. Refused is what was collected by the
   age of segments from before the recording. In segment order a full ring does not tell the ages of segments, so that
   releases and choices may differ; it does not tell either what was last requested of free parts of growable segments;
   and in a few, frees that a request waited for cannot be told from frees before it. */
static const struct exact {
  const char *family;
  unsigned recordings;
} EXACT[] = {
    {"streams", 15},         {"uses", 15},
    {"split limit", 13},     {"limit", 14},
    {"collection", 13},      {"collection and split limit", 13},
    {"pools", 14},           {"captures", 15},
    {"odd pools", 15},       {"two devices", 15},
    {"refusals", 14},        {"everything ordinary", 13},
    {"growable", 14},        {"growable, uses", 12},
    {"growable, pools", 14}, {"growable, captures", 14},
};
enum { EXACT_COUNT = sizeof EXACT / sizeof EXACT[0] };

static bool is_same_pool(const struct ashlar_snapshot *one, uint16_t pool,
                         const struct ashlar_snapshot *other, uint16_t other_pool)
{
  return one->pools[pool].first == other->pools[other_pool].first &&
         one->pools[pool].second == other->pools[other_pool].second;
}

static bool is_same_event(const struct ashlar_snapshot *one, const struct ashlar_event *event,
                          const struct ashlar_snapshot *other,
                          const struct ashlar_event *other_event)
{
  /* The size of a snapshot in between is what was allocated then. How much a pool had of it, all of whose blocks are gone,
     and none of which was seen to be split, is not told. */
  const bool is_size_told = event->action != ASHLAR_ACTION_SNAPSHOT || one->pool_count == 1;
  return event->action == other_event->action && event->address == other_event->address &&
         (event->size == other_event->size || !is_size_told) &&
         one->streams[event->stream].handle == other->streams[other_event->stream].handle &&
         is_same_pool(one, event->pool, other, other_event->pool);
}

static bool are_events_same(const struct ashlar_snapshot *one, const struct ashlar_snapshot *other)
{
  bool is_same = one->trace_count == other->trace_count;
  for (uint32_t i = 0; is_same && i < one->trace_count; i++) {
    is_same = one->traces[i].event_count == other->traces[i].event_count;
    for (uint64_t k = 0; is_same && k < one->traces[i].event_count; k++) {
      is_same = is_same_event(one, &one->traces[i].events[k], other, &other->traces[i].events[k]);
    }
  }
  return is_same;
}

static bool is_same_segment(const struct ashlar_snapshot *one, const struct ashlar_segment *segment,
                            const struct ashlar_snapshot *other,
                            const struct ashlar_segment *other_segment)
{
  return segment->address == other_segment->address && segment->device == other_segment->device &&
         segment->total_size == other_segment->total_size &&
         segment->allocated_size == other_segment->allocated_size &&
         segment->active_size == other_segment->active_size &&
         segment->requested_size == other_segment->requested_size &&
         segment->type == other_segment->type &&
         segment->block_count == other_segment->block_count &&
         segment->is_expandable == other_segment->is_expandable &&
         one->streams[segment->stream].handle == other->streams[other_segment->stream].handle &&
         is_same_pool(one, segment->pool, other, other_segment->pool);
}

static bool is_state_same(const struct ashlar_snapshot *one, const struct ashlar_snapshot *other)
{
  bool is_same =
      one->segment_count == other->segment_count && one->block_count == other->block_count;
  for (uint64_t i = 0; is_same && i < one->segment_count; i++) {
    is_same = is_same_segment(one, &one->segments[i], other, &other->segments[i]);
  }
  for (uint64_t i = 0; is_same && i < one->block_count; i++) {
    is_same = one->blocks[i].address == other->blocks[i].address &&
              one->blocks[i].size == other->blocks[i].size &&
              one->blocks[i].requested_size == other->blocks[i].requested_size &&
              one->blocks[i].state == other->blocks[i].state;
  }
  return is_same;
}

enum outcome { OUTCOME_EXACT, OUTCOME_OTHER, OUTCOME_REFUSED };

static enum outcome replay(const struct model_plan *plan, const struct ashlar_snapshot *source)
{
  const struct ashlar_replay_options options = {
      .policy = ASHLAR_POLICY_FAITHFUL,
      .order = plan->order == MODEL_ORDER_SEGMENT ? ASHLAR_ORDER_SEGMENT : ASHLAR_ORDER_ADDRESS,
      .placement = ASHLAR_SIM_RECORDED,
      .capacity = ASHLAR_SIM_UNLIMITED,
      .max_entries = UINT64_MAX};
  char path[SNAPSHOT_PATH_SIZE];
  struct ashlar_requests requests;
  struct ashlar_replay result;
  struct ashlar_snapshot again;
  struct ashlar_error error = {0};
  enum outcome outcome = OUTCOME_REFUSED;
  assert_true(make_temporary(path));
  assert_true(ashlar_snapshot_write_file(path, source, &error));
  assert_true(ashlar_requests_read_file(path, &requests, &error));
  assert_int_equal(unlink(path), 0);
  if (ashlar_replay_run(&requests, &options, &result, &again, &error)) {
    const bool is_exact = ashlar_replay_exit_status(&result) == 0 &&
                          are_events_same(source, &again) && is_state_same(source, &again);
    outcome = is_exact ? OUTCOME_EXACT : OUTCOME_OTHER;
    ashlar_snapshot_free(&again);
    ashlar_replay_free(&result);
  } else {
    assert_non_null(strstr(error.text, "collected by age"));
  }
  ashlar_requests_free(&requests);
  return outcome;
}

static void a_recorded_device_plays_them_again_exactly(void **state)
{
  (void)state;
  unsigned exact[EXACT_COUNT] = {0};
  unsigned sums[3] = {0};
  for (unsigned i = 0; i < MODEL_PLANS; i += step()) {
    const struct model_plan plan = model_plan(i);
    struct model_counts counts = {0};
    struct ashlar_snapshot snapshot;
    model_recording_make(&plan, &snapshot, &counts);
    const enum outcome outcome = replay(&plan, &snapshot);
    sums[outcome]++;
    for (size_t k = 0; k < EXACT_COUNT; k++) {
      exact[k] += outcome == OUTCOME_EXACT && strcmp(EXACT[k].family, plan.family) == 0 ? 1 : 0;
    }
    /* What a whole recording tells leaves nothing open where nothing is collected and nothing grows. */
    if (outcome == OUTCOME_OTHER && !is_wrapped(&plan, &snapshot) && !(plan.threshold > 0) &&
        !plan.growable) {
      fail_msg("recording %u (%s) plays otherwise", i, plan.family);
    }
    ashlar_snapshot_free(&snapshot);
  }
  for (size_t k = 0; k < EXACT_COUNT; k++) {
    print_message("%-28s %u play again exactly\n", EXACT[k].family, exact[k]);
    assert_true(has_sanitizer() || exact[k] >= EXACT[k].recordings);
  }
  print_message("%u play again exactly, %u otherwise, %u are refused\n", sums[OUTCOME_EXACT],
                sums[OUTCOME_OTHER], sums[OUTCOME_REFUSED]);
}

/* --- damage --- */

static uint64_t draw(uint64_t *random, uint64_t end)
{
  return ashlar_random_below(random, end);
}

static void damage_event(struct ashlar_snapshot *snapshot, uint64_t *random)
{
  struct ashlar_device_trace *trace = &snapshot->traces[draw(random, snapshot->trace_count)];
  struct ashlar_event *event = &trace->events[draw(random, trace->event_count)];
  struct ashlar_event *other = &trace->events[draw(random, trace->event_count)];
  const struct ashlar_event kept = *event;
  switch (draw(random, 7)) {
  case 0:
    event->address = other->address;
    break;
  case 1:
    event->size = draw(random, 8) == 0 ? UINT64_C(1) << draw(random, 47) : other->size;
    break;
  case 2:
    event->action = (uint8_t)(1 + draw(random, ASHLAR_ACTION_SNAPSHOT));
    break;
  case 3:
    event->address += MODEL_MIB * draw(random, 40);
    break;
  case 4:
    event->stream = other->stream;
    break;
  case 5:
    event->pool = (uint16_t)draw(random, snapshot->pool_count);
    break;
  default:
    *event = *other;
    *other = kept;
    break;
  }
}

static void damage_listing(struct ashlar_snapshot *snapshot, uint64_t *random)
{
  struct ashlar_segment *segment = &snapshot->segments[draw(random, snapshot->segment_count)];
  struct ashlar_block *block = &snapshot->blocks[draw(random, snapshot->block_count)];
  switch (draw(random, 6)) {
  case 0:
    block->state = (uint8_t)draw(random, 3);
    break;
  case 1:
    block->size = MODEL_GRANULE << draw(random, 20);
    break;
  case 2:
    segment->address += MODEL_GRANULE * draw(random, 4096);
    break;
  case 3:
    segment->is_expandable = !segment->is_expandable;
    break;
  case 4:
    segment->pool = (uint16_t)draw(random, snapshot->pool_count);
    break;
  default:
    segment->type = (uint8_t)draw(random, 3);
    break;
  }
}

/* Events and listing contradict each other; the sanitizers watch. */
static void contradictory_recordings_do_no_harm(void **state)
{
  (void)state;
  unsigned found = 0;
  unsigned audited = 0;
  uint64_t random = 3;
  for (unsigned i = 0; i < CONTRADICTIONS; i++) {
    const struct model_plan plan = model_plan(i * STRIDE % MODEL_PLANS);
    const struct ashlar_audit_options options = {.order = ASHLAR_AUDIT_ORDER_AUTO};
    struct model_counts counts = {0};
    struct ashlar_snapshot snapshot;
    struct ashlar_audit audit;
    struct ashlar_error error = {0};
    model_recording_make(&plan, &snapshot, &counts);
    for (unsigned n = 0; n <= i % 3; n++) {
      if (draw(&random, 4) == 0) {
        damage_listing(&snapshot, &random);
      } else {
        damage_event(&snapshot, &random);
      }
    }
    if (ashlar_snapshot_is_valid(&snapshot)) {
      assert_true(ashlar_audit_snapshot(&snapshot, "recording", &options, &audit, &error));
      found += ashlar_audit_exit_status(&audit) == 1 ? 1 : 0;
      audited++;
      ashlar_audit_free(&audit);
    }
    ashlar_snapshot_free(&snapshot);
  }
  print_message("%u of %u contradictory recordings have findings\n", found, audited);
  assert_true(audited > CONTRADICTIONS / 2 && found > audited / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_index_gives_the_same_recording),
      cmocka_unit_test(the_core_agrees_with_every_recording),
      cmocka_unit_test(the_recordings_have_in_them_what_they_are_for),
      cmocka_unit_test(a_recorded_device_plays_them_again_exactly),
      cmocka_unit_test(contradictory_recordings_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
