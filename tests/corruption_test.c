/* corruption_test.c - every kind of fault that is put into a good snapshot is found, under the
 * right rule, at its place; and the good snapshot has no finding.
 *
 * Over the recorded snapshots and over those that the generator of recordings.h makes. Prints a
 * table with a line for each kind.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <inttypes.h>
#include <jansson.h>

#include "tests/corruption.h"
#include "tests/model_recording.h"
#include "tests/recordings.h"
#include "tests/snapshot_support.h"
#include "tools/audit.h"
#include "tools/command.h"
#include "tools/snapshot_reader.h"
#include "tools/snapshot_writer.h"

enum {
  KINDS_MOST = 128,
  KINDS_LEAST = 20,
  RECORDINGS_LEAST = 40,
  MODELLED_LEAST = 200,
  PLACES = 3,          /* of a kind in a snapshot and device */
  SANITIZED_STEP = 16, /* under a sanitizer: a kind in one of so many recorded snapshots */
  SANITIZED_MOST = 4,  /* and in at most so many generated ones */
  MODELLED_STEP = 8,   /* a kind in one of so many recordings of the model */
  FILES = 2,           /* snapshots of a kind that go through a file and the command */
  ESCAPES_SHOWN = 4    /* of a kind */
};

/* What became of the faults of one kind. */
struct tally {
  unsigned recorded; /* put into a recorded snapshot */
  unsigned generated;
  unsigned modelled; /* into a recording of the reference model */
  unsigned caught;
  unsigned without_place; /* snapshots that have none for it */
  unsigned files;         /* written, read and audited by the command as well */
  unsigned by_rule[ASHLAR_RULE_COUNT];
};

static struct tally tallies[KINDS_MOST];
static unsigned good_recorded; /* snapshots that were seen to be clean */
static unsigned good_generated;
static unsigned good_modelled;

/* A good snapshot. */
struct source {
  struct ashlar_snapshot snapshot;
  char name[64];
  enum ashlar_order order;
  enum { RECORDED, GENERATED, MODELLED } origin;
};

static struct ashlar_audit audited(const struct ashlar_snapshot *snapshot,
                                   enum ashlar_audit_order order)
{
  const struct ashlar_audit_options options = {.order = order};
  struct ashlar_audit audit;
  struct ashlar_error error = {0};
  assert_true(ashlar_audit_snapshot(snapshot, "snapshot", &options, &audit, &error));
  return audit;
}

static enum ashlar_audit_order order_of(const struct source *source)
{
  return source->order == ASHLAR_ORDER_SEGMENT ? ASHLAR_AUDIT_ORDER_SEGMENT
                                               : ASHLAR_AUDIT_ORDER_ADDRESS;
}

static void assert_clean(const struct source *source)
{
  const enum ashlar_audit_order orders[] = {order_of(source), ASHLAR_AUDIT_ORDER_AUTO};
  for (size_t i = 0; i < 2; i++) {
    struct ashlar_audit audit = audited(&source->snapshot, orders[i]);
    assert_int_equal(ashlar_audit_exit_status(&audit), 0);
    for (uint64_t k = 0; k < audit.device_count; k++) {
      assert_int_equal(audit.devices[k].finding_count, 0);
      assert_int_equal(audit.devices[k].differ, 0);
    }
    ashlar_audit_free(&audit);
  }
}

/* --- one fault --- */

static bool is_at_place(const struct ashlar_corruption *corruption,
                        const struct ashlar_finding *finding)
{
  return (finding->event != ASHLAR_NO_EVENT && finding->event == corruption->event) ||
         (finding->address >= corruption->low && finding->address < corruption->high);
}

/* The rules under which the fault is found at its place, as bits. */
static uint32_t rules_found(const struct ashlar_corruption *corruption,
                            const struct ashlar_audit *audit)
{
  uint32_t rules = 0;
  for (uint64_t i = 0; i < audit->device_count; i++) {
    const struct ashlar_audit_device *device = &audit->devices[i];
    for (uint64_t k = 0; device->device == corruption->start->device && k < device->findings_kept;
         k++) {
      if (is_at_place(corruption, &device->findings[k])) {
        rules |= UINT32_C(1) << device->findings[k].rule;
      }
    }
  }
  return rules;
}

/* Whether there is one finding only. Asked with the order given: it may be that one decision alone
   tells it, and after a fault there is as much to be said for the other. */
static bool is_single(const struct source *source, const struct ashlar_corruption *corruption)
{
  struct ashlar_audit audit = audited(&corruption->faulty, order_of(source));
  uint64_t findings = 0;
  uint64_t differ = 0;
  for (uint64_t i = 0; i < audit.device_count; i++) {
    findings += audit.devices[i].finding_count;
    differ += audit.devices[i].differ;
  }
  ashlar_audit_free(&audit);
  return findings == 1 && differ <= 1;
}

static void show_escape(const struct ashlar_corruption_kind *kind, const struct source *source,
                        const struct ashlar_corruption *corruption,
                        const struct ashlar_audit *audit, uint64_t seed)
{
  printf("ESCAPE: %s in %s, device %d, seed %" PRIu64 ": exit %d, expected at event %" PRId64
         " or in [0x%" PRIx64 ", 0x%" PRIx64 ")\n",
         kind->name, source->name, corruption->start->device, seed, ashlar_audit_exit_status(audit),
         (int64_t)corruption->event, corruption->low, corruption->high);
  for (uint64_t i = 0; i < audit->device_count; i++) {
    const struct ashlar_audit_device *device = &audit->devices[i];
    printf("  device %d: %" PRIu64 " agree, %" PRIu64 " differ, %" PRIu64 " undetermined, %" PRIu64
           " findings\n",
           device->device, device->agree, device->differ, device->undetermined,
           device->finding_count);
    for (uint64_t k = 0; k < device->findings_kept && k < 4; k++) {
      printf("  %s event %" PRId64 " 0x%" PRIx64 ": %s\n",
             ashlar_rule_name(device->findings[k].rule), (int64_t)device->findings[k].event,
             device->findings[k].address, device->findings[k].detail);
    }
  }
}

static bool has_rule(const json_t *report, const char *rule)
{
  size_t at = 0;
  const json_t *device = NULL;
  json_array_foreach(json_object_get(report, "devices"), at, device)
  {
    size_t number = 0;
    const json_t *finding = NULL;
    json_array_foreach(json_object_get(device, "findings"), number, finding)
    {
      const char *found = json_string_value(json_object_get(finding, "rule"));
      if (found != NULL && strcmp(found, rule) == 0) {
        return true;
      }
    }
  }
  return false;
}

/* What the command says of a file: exit status 1, and each of the rules among the findings. */
static void check_command(char *path, uint32_t rules)
{
  char command[] = "ashlar";
  char audit[] = "audit";
  char json[] = "--json";
  char *arguments[] = {command, audit, json, path, NULL};
  char *printed = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&printed, &length);
  assert_non_null(out);
  assert_int_equal(ashlar_main(4, arguments, out, stderr), 1);
  assert_int_equal(fclose(out), 0);
  json_t *report = json_loads(printed, 0, NULL);
  assert_non_null(report);
  assert_true(json_integer_value(json_object_get(json_object_get(report, "totals"), "findings")) >
              0);
  for (unsigned rule = 0; rule < ASHLAR_RULE_COUNT; rule++) {
    assert_true((rules >> rule & 1) == 0 || has_rule(report, ashlar_rule_name(rule)));
  }
  json_decref(report);
  free(printed);
}

/* The faulty snapshot says the same after it was written and read. */
static void check_file(struct ashlar_corruption *corruption, const struct ashlar_audit *audit,
                       uint32_t rules)
{
  char path[SNAPSHOT_PATH_SIZE];
  struct ashlar_error error = {0};
  struct ashlar_snapshot again;
  assert_true(make_temporary(path));
  assert_true(ashlar_snapshot_write_file(path, &corruption->faulty, &error));
  assert_true(ashlar_snapshot_read_file(path, &again, &error));
  struct ashlar_audit read = audited(&again, ASHLAR_AUDIT_ORDER_AUTO);
  assert_int_equal(read.device_count, audit->device_count);
  for (uint64_t i = 0; i < read.device_count; i++) {
    assert_int_equal(read.devices[i].finding_count, audit->devices[i].finding_count);
    assert_int_equal(read.devices[i].differ, audit->devices[i].differ);
  }
  assert_int_equal(rules_found(corruption, &read), rules_found(corruption, audit));
  check_command(path, rules);
  ashlar_audit_free(&read);
  ashlar_snapshot_free(&again);
  assert_int_equal(unlink(path), 0);
}

static unsigned applied_of(const struct tally *tally)
{
  return tally->recorded + tally->generated + tally->modelled;
}

/* Audits a faulty snapshot and says what came of it. */
static void judge(size_t number, const struct source *source, struct ashlar_corruption *corruption,
                  uint64_t seed)
{
  const struct ashlar_corruption_kind *kind = &ASHLAR_CORRUPTION_KINDS[number];
  struct tally *tally = &tallies[number];
  /* A short recording has so few decisions that with a fault there is as much to be said for the other order. */
  const bool is_ordered =
      (kind->flags & ASHLAR_CORRUPTION_ORDER) != 0 || source->origin == MODELLED;
  assert_true(ashlar_snapshot_is_valid(&corruption->faulty));
  struct ashlar_audit audit =
      audited(&corruption->faulty, is_ordered ? order_of(source) : ASHLAR_AUDIT_ORDER_AUTO);
  const uint32_t rules = rules_found(corruption, &audit) & kind->rules;
  const bool is_caught =
      ashlar_audit_exit_status(&audit) == 1 && rules != 0 &&
      ((kind->flags & ASHLAR_CORRUPTION_SINGLE) == 0 || is_single(source, corruption));
  tally->recorded += source->origin == RECORDED ? 1 : 0;
  tally->generated += source->origin == GENERATED ? 1 : 0;
  tally->modelled += source->origin == MODELLED ? 1 : 0;
  for (unsigned rule = 0; rule < ASHLAR_RULE_COUNT; rule++) {
    tally->by_rule[rule] += rules >> rule & 1;
  }
  if (is_caught) {
    tally->caught++;
    if (tally->files < FILES && !is_ordered) {
      tally->files++;
      check_file(corruption, &audit, rules);
    }
  } else if (applied_of(tally) - tally->caught <= ESCAPES_SHOWN) {
    show_escape(kind, source, corruption, &audit, seed);
  }
  ashlar_audit_free(&audit);
}

static void corrupt(size_t number, const struct source *source, const struct ashlar_world *start)
{
  for (uint64_t place = 0; place < PLACES; place++) {
    const uint64_t seed = 1000 * place + number;
    struct ashlar_corruption corruption;
    const bool is_made = ashlar_corruption_make(&ASHLAR_CORRUPTION_KINDS[number], start,
                                                source->order, seed, &corruption);
    assert_false(corruption.world.is_broken);
    if (is_made) {
      judge(number, source, &corruption, seed);
    } else {
      tallies[number].without_place += place == 0 ? 1 : 0;
    }
    ashlar_corruption_free(&corruption);
    if (!is_made || has_sanitizer()) {
      break;
    }
  }
}

/* Under a sanitizer, which takes its time, a sample has to do; and of the many recordings of the model, unless all are
   asked for. */
static bool is_sampled(const struct source *source, size_t number, unsigned index)
{
  if (source->origin == MODELLED) {
    return has_sanitizer() ? tallies[number].modelled < SANITIZED_MOST
                           : getenv("ASHLAR_ALL_FAULTS") != NULL ||
                                 (number + index + index / MODEL_FAMILIES) % MODELLED_STEP == 0;
  }
  if (!has_sanitizer()) {
    return true;
  }
  return source->origin == RECORDED ? (number + index) % SANITIZED_STEP == 0
                                    : tallies[number].generated < SANITIZED_MOST;
}

/* Puts every kind of fault into a snapshot. */
static void corrupt_all(const struct source *source, unsigned index)
{
  const int32_t devices =
      source->snapshot.trace_count > 0 ? (int32_t)source->snapshot.trace_count : 1;
  assert_clean(source);
  for (int32_t device = 0; device < devices; device++) {
    struct ashlar_world start;
    ashlar_world_start(&start, &source->snapshot, device);
    assert_false(start.is_broken);
    const bool is_empty = start.segment_count == 0 && start.event_count == 0;
    for (size_t i = 0; !is_empty && i < ASHLAR_CORRUPTION_KIND_COUNT; i++) {
      if (is_sampled(source, i, index)) {
        corrupt(i, source, &start);
      }
    }
    ashlar_world_free(&start);
  }
}

/* --- the tests --- */

static void faults_in_recorded_snapshots_are_found(void **state)
{
  (void)state;
  for (unsigned i = 0; i < RECORDED_COUNT; i++) {
    struct source source = {.order = ASHLAR_ORDER_ADDRESS, .origin = RECORDED};
    char path[SNAPSHOT_PATH_SIZE];
    struct ashlar_error error = {0};
    if (!recorded_path(RECORDED_SNAPSHOTS[i].name, path)) {
      skip();
    }
    if (!ashlar_snapshot_read_file(path, &source.snapshot, &error)) {
      fail_msg("%s: %s", path, error.text);
    }
    (void)snprintf(source.name, sizeof source.name, "%s", RECORDED_SNAPSHOTS[i].name);
    corrupt_all(&source, i);
    good_recorded++;
    ashlar_snapshot_free(&source.snapshot);
  }
}

static void faults_in_generated_recordings_are_found(void **state)
{
  (void)state;
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i++) {
    const struct ashlar_recording_plan plan = ashlar_recording_plan(i);
    struct source source = {.order = plan.options.order, .origin = GENERATED};
    struct ashlar_error error = {0};
    if (!ashlar_recording_make(&plan, &source.snapshot, NULL, &error)) {
      fail_msg("recording %u: %s", i, error.text);
    }
    (void)snprintf(source.name, sizeof source.name, "recording %u", i);
    corrupt_all(&source, i);
    good_generated++;
    ashlar_snapshot_free(&source.snapshot);
  }
}

static void faults_in_recordings_of_the_model_are_found(void **state)
{
  (void)state;
  struct model_counts counts = {0};
  for (unsigned i = 0; i < MODEL_PLANS; i++) {
    const struct model_plan plan = model_plan(i);
    struct source source = {.order = plan.order == MODEL_ORDER_SEGMENT ? ASHLAR_ORDER_SEGMENT
                                                                       : ASHLAR_ORDER_ADDRESS,
                            .origin = MODELLED};
    model_recording_make(&plan, &source.snapshot, &counts);
    (void)snprintf(source.name, sizeof source.name, "model's recording %u (%s)", i, plan.family);
    corrupt_all(&source, i);
    good_modelled++;
    ashlar_snapshot_free(&source.snapshot);
  }
}

static void print_tally(const struct ashlar_corruption_kind *kind, const struct tally *tally)
{
  printf("%-44s %8u %9u %8u %6u %6u ", kind->name, tally->recorded, tally->generated,
         tally->modelled, tally->caught, tally->without_place);
  for (unsigned rule = 0; rule < ASHLAR_RULE_COUNT; rule++) {
    if (tally->by_rule[rule] > 0) {
      printf(" %s %u", ashlar_rule_name(rule), tally->by_rule[rule]);
    }
  }
  printf("\n");
}

/* No fault escapes, and each kind was put somewhere. */
static void every_kind_is_caught(void **state)
{
  (void)state;
  unsigned applied = 0;
  unsigned caught = 0;
  unsigned unused = 0;
  printf("%-44s %8s %9s %8s %6s %6s  %s\n", "kind of fault", "recorded", "generated", "modelled",
         "caught", "none in", "found at its place under");
  for (size_t i = 0; i < ASHLAR_CORRUPTION_KIND_COUNT; i++) {
    const struct tally *tally = &tallies[i];
    print_tally(&ASHLAR_CORRUPTION_KINDS[i], tally);
    applied += applied_of(tally);
    caught += tally->caught;
    if (applied_of(tally) == 0) {
      printf("UNUSED: no snapshot has a place for: %s\n", ASHLAR_CORRUPTION_KINDS[i].name);
      unused++;
    }
  }
  printf("%zu kinds, %u faulty snapshots, %u caught; %u recorded, %u generated and %u modelled "
         "snapshots are clean\n",
         ASHLAR_CORRUPTION_KIND_COUNT, applied, caught, good_recorded, good_generated,
         good_modelled);
  assert_true(ASHLAR_CORRUPTION_KIND_COUNT >= KINDS_LEAST);
  assert_true(good_generated >= RECORDINGS_LEAST);
  assert_true(good_modelled >= MODELLED_LEAST);
  assert_int_equal(unused, 0);
  assert_int_equal(caught, applied);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_in_recorded_snapshots_are_found),
      cmocka_unit_test(faults_in_generated_recordings_are_found),
      cmocka_unit_test(faults_in_recordings_of_the_model_are_found),
      cmocka_unit_test(every_kind_is_caught),
  };
  if (ASHLAR_CORRUPTION_KIND_COUNT > KINDS_MOST) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
