/* audit_test.c - recorded snapshots are clean; the reports; the command's exit status; files that
 * cannot be read.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream */

#include "tests/audit_support.h"
#include "tests/snapshot_support.h"
#include "tools/audit_report.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALLOCATIONS_RECORDED = 29765 };

/* Every decision of every recording is the manager's.
   Oracle: REQ-BESTFIT-order, REQ-BESTFIT-least, REQ-LADDER-order. */
static void agrees_with_recorded_snapshots(void **state)
{
  const struct ashlar_audit_options options = {ASHLAR_AUDIT_ORDER_AUTO};
  uint64_t allocations = 0;
  (void)state;
  for (unsigned i = 0; i < RECORDED_COUNT; i++) {
    const struct recorded_snapshot *recorded = &RECORDED_SNAPSHOTS[i];
    char path[SNAPSHOT_PATH_SIZE];
    struct ashlar_audit audit;
    struct ashlar_error error;
    if (!recorded_path(recorded->name, path)) {
      skip();
    }
    assert_true(ashlar_audit_file(path, &options, &audit, &error));
    print_findings(&audit);
    assert_int_equal(audit.device_count, 1);
    const struct ashlar_audit_device *device = &audit.devices[0];
    print_message("%s: %d allocations, %d agree\n", recorded->name, (int)device->allocations,
                  (int)device->agree);
    assert_int_equal(audit.has_history, recorded->allocations > 0);
    assert_int_equal(audit.order, ASHLAR_AUDIT_ORDER_ADDRESS);
    assert_int_equal(device->segments, recorded->segments);
    assert_int_equal(device->events, recorded->events);
    assert_int_equal(device->allocations, recorded->allocations);
    assert_int_equal(device->agree, recorded->allocations);
    assert_int_equal(device->differ, 0);
    assert_int_equal(device->undetermined, 0);
    assert_int_equal(device->releases, recorded->segment_frees);
    assert_int_equal(device->finding_count, 0);
    assert_int_equal(ashlar_audit_exit_status(&audit), 0);
    allocations += device->allocations;
    ashlar_audit_free(&audit);
  }
  assert_int_equal(allocations, ALLOCATIONS_RECORDED);
}

/* The other order does not fit recordings that have enough ties. */
static void tells_the_orders_apart(void **state)
{
  const struct ashlar_audit_options options = {ASHLAR_AUDIT_ORDER_SEGMENT};
  char path[SNAPSHOT_PATH_SIZE];
  struct ashlar_audit audit;
  struct ashlar_error error;
  (void)state;
  if (!recorded_path("lm-fullstep-ctx512-emptycache", path)) {
    skip();
  }
  assert_true(ashlar_audit_file(path, &options, &audit, &error));
  assert_true(audit.devices[0].differ > 0);
  assert_int_equal(ashlar_audit_exit_status(&audit), 1);
  ashlar_audit_free(&audit);
}

static void refuses_what_is_no_snapshot(void **state)
{
  const struct ashlar_audit_options options = {ASHLAR_AUDIT_ORDER_AUTO};
  struct ashlar_audit audit;
  struct ashlar_error error = {0};
  (void)state;
  assert_false(ashlar_audit_file("/nonexistent/snapshot.pickle", &options, &audit, &error));
  assert_true(error.text[0] != '\0');
  assert_null(audit.devices);
  ashlar_audit_free(&audit);
}

/* --- reports --- */

static char *print_with(bool (*print)(FILE *, const struct ashlar_audit *),
                        const struct ashlar_audit *audit)
{
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  assert_true(print(stream, audit));
  assert_int_equal(fclose(stream), 0);
  return text;
}

static json_int_t number(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static json_t *json_report(const struct ashlar_audit *audit)
{
  char *text = print_with(ashlar_audit_print_json, audit);
  json_error_t error;
  json_t *report = json_loads(text, 0, &error);
  free(text);
  assert_non_null(report);
  return report;
}

static void prints_a_clean_report(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  json_t *report = json_report(&audit);
  assert_string_equal(json_string_value(json_object_get(report, "file")), "test");
  assert_string_equal(json_string_value(json_object_get(report, "format")), "dict");
  assert_string_equal(json_string_value(json_object_get(report, "order")), "address");
  const json_t *devices = json_object_get(report, "devices");
  assert_int_equal(json_array_size(devices), 1);
  const json_t *device = json_array_get(devices, 0);
  assert_int_equal(number(device, "device"), 0);
  assert_int_equal(number(device, "events"), GOOD_EVENTS);
  assert_int_equal(number(device, "allocations"), 9);
  assert_int_equal(number(device, "agree"), 9);
  assert_int_equal(number(device, "differ"), 0);
  assert_int_equal(number(device, "undetermined"), 0);
  assert_true(json_is_null(json_object_get(device, "first_difference")));
  assert_int_equal(json_array_size(json_object_get(device, "findings")), 0);
  const json_t *totals = json_object_get(report, "totals");
  assert_int_equal(number(totals, "allocations"), 9);
  assert_int_equal(number(totals, "agree"), 9);
  assert_int_equal(number(totals, "findings"), 0);
  json_decref(report);
  char *text = print_with(ashlar_audit_print_text, &audit);
  assert_non_null(strstr(text, "9 allocations: 9 agree, 0 differ, 0 undetermined"));
  assert_non_null(strstr(text, "nothing found"));
  free(text);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

static void prints_a_finding(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  snapshot.traces[0].events[GOOD_ALLOC_REUSE].address = LARGE_A + 9 * MIB;
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_ADDRESS);
  json_t *report = json_report(&audit);
  const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
  const json_t *difference = json_object_get(device, "first_difference");
  assert_int_equal(number(difference, "event"), GOOD_ALLOC_REUSE);
  assert_int_equal(number(difference, "recorded"), LARGE_A + 9 * MIB);
  assert_int_equal(number(difference, "expected"), LARGE_A);
  const json_t *finding = json_array_get(json_object_get(device, "findings"), 0);
  assert_string_equal(json_string_value(json_object_get(finding, "rule")), "REQ-BESTFIT");
  assert_int_equal(number(finding, "event"), GOOD_ALLOC_REUSE);
  assert_int_equal(number(finding, "address"), LARGE_A + 9 * MIB);
  assert_true(json_is_string(json_object_get(finding, "detail")));
  json_decref(report);
  char *text = print_with(ashlar_audit_print_text, &audit);
  assert_non_null(strstr(text, "REQ-BESTFIT  event 9, 0x100900000"));
  assert_non_null(strstr(text, "1 differences"));
  free(text);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

static void prints_a_state_finding_without_event(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  snapshot.segments[0].allocated_size++;
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  json_t *report = json_report(&audit);
  const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
  const json_t *finding = json_array_get(json_object_get(device, "findings"), 0);
  assert_true(json_is_null(json_object_get(finding, "event")));
  assert_string_equal(json_string_value(json_object_get(finding, "rule")), "REQ-ACCOUNT");
  assert_int_equal(number(json_object_get(report, "totals"), "findings"), 1);
  json_decref(report);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

/* --- without history, and with several devices --- */

static void checks_the_state_alone(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  good_recording(&snapshot);
  snapshot.traces[0].event_count = 0;
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_false(audit.has_history);
  assert_int_equal(audit.devices[0].allocations, 0);
  assert_int_equal(ashlar_audit_exit_status(&audit), 0);
  char *text = print_with(ashlar_audit_print_text, &audit);
  assert_non_null(strstr(text, "state only"));
  free(text);
  ashlar_audit_free(&audit);
  snapshot.blocks[1].address += 512;
  audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_int_equal(ashlar_audit_exit_status(&audit), 1);
  assert_int_equal(count_rule(&audit, ASHLAR_RULE_TILE), 1);
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

/* An empty snapshot has nothing wrong, and nothing at all. */
static void accepts_nothing(void **state)
{
  struct ashlar_snapshot snapshot;
  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  assert_int_equal(audit.device_count, 0);
  assert_int_equal(ashlar_audit_exit_status(&audit), 0);
  json_decref(json_report(&audit));
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

/* The same addresses on two devices are different memory; a device may have events and no segment. */
static void keeps_devices_apart(void **state)
{
  struct ashlar_snapshot snapshot;
  struct ashlar_event event;
  (void)state;
  good_recording(&snapshot);
  assert_true(ashlar_snapshot_add_trace(&snapshot));
  assert_true(ashlar_snapshot_add_trace(&snapshot));
  for (uint64_t i = 0; i < GOOD_EVENTS; i++) {
    event = snapshot.traces[0].events[i];
    assert_true(ashlar_snapshot_add_event(&snapshot, 2, &event));
  }
  for (uint64_t i = 0; i <= GOOD_ALLOC_A; i++) {
    event = snapshot.traces[0].events[i];
    assert_true(ashlar_snapshot_add_event(&snapshot, 1, &event));
  }
  event = snapshot.traces[0].events[GOOD_REQUESTED_A];
  assert_true(ashlar_snapshot_add_event(&snapshot, 1, &event));
  event = snapshot.traces[0].events[GOOD_COMPLETED_A];
  assert_true(ashlar_snapshot_add_event(&snapshot, 1, &event));
  event = snapshot.traces[0].events[GOOD_SEGMENT_A];
  event.action = ASHLAR_ACTION_SEGMENT_FREE;
  assert_true(ashlar_snapshot_add_event(&snapshot, 1, &event));
  for (uint64_t i = 0; i < 2; i++) {
    struct ashlar_segment segment = snapshot.segments[i];
    segment.device = 2;
    assert_true(ashlar_snapshot_add_segment(&snapshot, &segment));
    for (uint64_t k = 0; k < segment.block_count; k++) {
      const struct ashlar_block block = snapshot.blocks[segment.first_block + k];
      assert_true(ashlar_snapshot_add_block(&snapshot, &block));
    }
  }
  snapshot.segments[2].device = 2;
  struct ashlar_audit audit = audit_of(&snapshot, ASHLAR_AUDIT_ORDER_AUTO);
  print_findings(&audit);
  assert_int_equal(ashlar_audit_exit_status(&audit), 0);
  assert_int_equal(audit.device_count, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(audit.devices[i].device, i);
    assert_int_equal(audit.devices[i].agree, i == 1 ? 1 : 9);
  }
  ashlar_audit_free(&audit);
  ashlar_snapshot_free(&snapshot);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_recorded_snapshots),
      cmocka_unit_test(tells_the_orders_apart),
      cmocka_unit_test(refuses_what_is_no_snapshot),
      cmocka_unit_test(prints_a_clean_report),
      cmocka_unit_test(prints_a_finding),
      cmocka_unit_test(prints_a_state_finding_without_event),
      cmocka_unit_test(checks_the_state_alone),
      cmocka_unit_test(accepts_nothing),
      cmocka_unit_test(keeps_devices_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
