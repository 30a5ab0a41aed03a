/* audit_report.c - see audit_report.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>

/* Counts that fit a JSON integer: none comes near 2^63. */
static json_t *integer(uint64_t value)
{
  return json_integer((json_int_t)value);
}

static const char *order_name(const struct ashlar_audit *audit)
{
  return audit->order == ASHLAR_AUDIT_ORDER_SEGMENT ? "segment" : "address";
}

static const char *format_name(const struct ashlar_audit *audit)
{
  return audit->format == ASHLAR_FORMAT_LIST ? "list" : "dict";
}

/* --- JSON --- */

static json_t *json_of_event(uint64_t event)
{
  return event == ASHLAR_NO_EVENT ? json_null() : integer(event);
}

static json_t *json_of_finding(const struct ashlar_finding *finding)
{
  return json_pack("{s:s, s:o, s:o, s:s}", "rule", ashlar_rule_name(finding->rule), "event",
                   json_of_event(finding->event), "address", integer(finding->address), "detail",
                   finding->detail);
}

static json_t *json_of_findings(const struct ashlar_audit_device *device)
{
  json_t *list = json_array();
  for (uint64_t i = 0; list != NULL && i < device->findings_kept; i++) {
    if (json_array_append_new(list, json_of_finding(&device->findings[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

static json_t *json_of_place(bool is_device, uint64_t address)
{
  return is_device ? json_string("device") : integer(address);
}

static json_t *json_of_difference(const struct ashlar_audit_device *device)
{
  const struct ashlar_difference *difference = &device->first_difference;
  if (!device->has_difference) {
    return json_null();
  }
  return json_pack("{s:o, s:o, s:o, s:b, s:o}", "event", integer(difference->event), "size",
                   integer(difference->size), "recorded", integer(difference->recorded_address),
                   "recorded_new_segment", difference->recorded_device ? 1 : 0, "expected",
                   json_of_place(difference->expects_device, difference->expected_address));
}

static json_t *json_of_reasons(const struct ashlar_audit_device *device)
{
  json_t *notes = json_array();
  for (unsigned i = 0; notes != NULL && i < ASHLAR_OPEN_COUNT; i++) {
    if (device->undetermined_for[i] == 0) {
      continue;
    }
    json_t *note = json_pack("{s:o, s:s}", "undetermined", integer(device->undetermined_for[i]),
                             "reason", ashlar_open_reason_text(i));
    if (json_array_append_new(notes, note) != 0) {
      json_decref(notes);
      return NULL;
    }
  }
  return notes;
}

static json_t *json_of_device(const struct ashlar_audit_device *device)
{
  return json_pack(
      "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device",
      (int)device->device, "segments", integer(device->segments), "blocks", integer(device->blocks),
      "events", integer(device->events), "allocations", integer(device->allocations), "agree",
      integer(device->agree), "differ", integer(device->differ), "undetermined",
      integer(device->undetermined), "releases", integer(device->releases), "live_before",
      integer(device->live_before), "unknown_sizes", integer(device->unknown_sizes), "notes",
      json_of_reasons(device), "first_difference", json_of_difference(device), "finding_count",
      integer(device->finding_count), "findings", json_of_findings(device));
}

/* Sums over the devices. */
static struct ashlar_audit_device totals_of(const struct ashlar_audit *audit)
{
  struct ashlar_audit_device totals = {0};
  for (uint64_t i = 0; i < audit->device_count; i++) {
    const struct ashlar_audit_device *device = &audit->devices[i];
    totals.segments += device->segments;
    totals.blocks += device->blocks;
    totals.events += device->events;
    totals.allocations += device->allocations;
    totals.agree += device->agree;
    totals.differ += device->differ;
    totals.undetermined += device->undetermined;
    totals.releases += device->releases;
    totals.finding_count += device->finding_count;
  }
  return totals;
}

static json_t *json_of_totals(const struct ashlar_audit *audit)
{
  const struct ashlar_audit_device totals = totals_of(audit);
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "allocations", integer(totals.allocations), "agree",
                   integer(totals.agree), "differ", integer(totals.differ), "undetermined",
                   integer(totals.undetermined), "findings", integer(totals.finding_count));
}

static json_t *json_of_audit(const struct ashlar_audit *audit)
{
  json_t *devices = json_array();
  for (uint64_t i = 0; devices != NULL && i < audit->device_count; i++) {
    if (json_array_append_new(devices, json_of_device(&audit->devices[i])) != 0) {
      json_decref(devices);
      return NULL;
    }
  }
  /* A file name need not be text. */
  json_t *file = json_string(audit->file);
  if (file == NULL) {
    file = json_null();
  }
  return json_pack("{s:o, s:s, s:i, s:b, s:s, s:b, s:o, s:o}", "file", file, "format",
                   format_name(audit), "protocol", (int)audit->protocol, "history",
                   audit->has_history ? 1 : 0, "order", order_name(audit), "order_chosen",
                   audit->order_was_chosen ? 1 : 0, "devices", devices, "totals",
                   json_of_totals(audit));
}

bool ashlar_audit_print_json(FILE *stream, const struct ashlar_audit *audit)
{
  json_t *report = json_of_audit(audit);
  if (report == NULL) {
    return false;
  }
  const bool is_printed = json_dumpf(report, stream, JSON_INDENT(2)) == 0;
  json_decref(report);
  return is_printed && fputc('\n', stream) != EOF && fflush(stream) == 0;
}

/* --- text --- */

/* Prints; whether the stream took everything is asked once, at the end. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vfprintf(stream, format, arguments);
  va_end(arguments);
}

static void print_difference(FILE *stream, const struct ashlar_audit_device *device)
{
  const struct ashlar_difference *difference = &device->first_difference;
  if (!device->has_difference) {
    return;
  }
  say(stream,
      "  first difference: event %" PRIu64 ", %" PRIu64 " bytes: recorded 0x%" PRIx64
      "%s, expected ",
      difference->event, difference->size, difference->recorded_address,
      difference->recorded_device ? " in a new segment" : "");
  if (difference->expects_device) {
    say(stream, "a new segment\n");
  } else {
    say(stream, "0x%" PRIx64 "\n", difference->expected_address);
  }
}

static void print_findings(FILE *stream, const struct ashlar_audit_device *device)
{
  for (uint64_t i = 0; i < device->findings_kept; i++) {
    const struct ashlar_finding *finding = &device->findings[i];
    say(stream, "  %-12s ", ashlar_rule_name(finding->rule));
    if (finding->event == ASHLAR_NO_EVENT) {
      say(stream, "state");
    } else {
      say(stream, "event %" PRIu64, finding->event);
    }
    say(stream, ", 0x%" PRIx64 ": %s\n", finding->address, finding->detail);
  }
  if (device->finding_count > device->findings_kept) {
    say(stream, "  and %" PRIu64 " more findings\n", device->finding_count - device->findings_kept);
  }
}

static void print_device(FILE *stream, const struct ashlar_audit *audit,
                         const struct ashlar_audit_device *device)
{
  say(stream, "device %" PRId32 ": %" PRIu64 " segments, %" PRIu64 " blocks", device->device,
      device->segments, device->blocks);
  if (audit->has_history && device->events > 0) {
    say(stream, ", %" PRIu64 " events\n", device->events);
    say(stream,
        "  %" PRIu64 " allocations: %" PRIu64 " agree, %" PRIu64 " differ, %" PRIu64
        " undetermined\n",
        device->allocations, device->agree, device->differ, device->undetermined);
    say(stream,
        "  %" PRIu64 " releases checked; %" PRIu64 " blocks live before the recording, %" PRIu64
        " of them of unknown size\n",
        device->releases, device->live_before, device->unknown_sizes);
  } else {
    say(stream, "\n  no recorded history: state only\n");
  }
  for (unsigned i = 0; i < ASHLAR_OPEN_COUNT; i++) {
    if (device->undetermined_for[i] > 0) {
      say(stream, "  undetermined: %" PRIu64 ", because %s\n", device->undetermined_for[i],
          ashlar_open_reason_text(i));
    }
  }
  print_difference(stream, device);
  print_findings(stream, device);
}

bool ashlar_audit_print_text(FILE *stream, const struct ashlar_audit *audit)
{
  const struct ashlar_audit_device totals = totals_of(audit);
  say(stream, "%s: PyTorch snapshot (%s, pickle protocol %u)", audit->file, format_name(audit),
      (unsigned)audit->protocol);
  if (audit->has_history) {
    say(stream, ", free-list order: %s%s\n", order_name(audit),
        audit->order_was_chosen ? " (chosen)" : "");
  } else {
    say(stream, ", state only\n");
  }
  for (uint64_t i = 0; i < audit->device_count; i++) {
    print_device(stream, audit, &audit->devices[i]);
  }
  if (ashlar_audit_exit_status(audit) == 0) {
    say(stream, "nothing found\n");
  } else {
    say(stream, "%" PRIu64 " differences, %" PRIu64 " findings\n", totals.differ,
        totals.finding_count);
  }
  return fflush(stream) == 0 && ferror(stream) == 0;
}
