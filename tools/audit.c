/* audit.c - see audit.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strdup, qsort_r */

#include "tools/audit.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/audit_run.h"
#include "tools/audit_state.h"
#include "tools/snapshot_reader.h"

const char *ashlar_rule_name(unsigned rule)
{
  static const char *const NAMES[ASHLAR_RULE_COUNT] = {
      [ASHLAR_RULE_SIZE] = "REQ-SIZE",       [ASHLAR_RULE_DISJOINT] = "REQ-DISJOINT",
      [ASHLAR_RULE_TILE] = "REQ-TILE",       [ASHLAR_RULE_COALESCE] = "REQ-COALESCE",
      [ASHLAR_RULE_BESTFIT] = "REQ-BESTFIT", [ASHLAR_RULE_STREAM] = "REQ-STREAM",
      [ASHLAR_RULE_ACCOUNT] = "REQ-ACCOUNT", [ASHLAR_RULE_FREE] = "REQ-FREE",
      [ASHLAR_RULE_OOM] = "REQ-OOM",         [ASHLAR_RULE_LADDER] = "REQ-LADDER",
      [ASHLAR_RULE_POOL] = "REQ-POOL",
  };
  return rule < ASHLAR_RULE_COUNT ? NAMES[rule] : "?";
}

const char *ashlar_open_reason_text(unsigned reason)
{
  static const char *const TEXTS[ASHLAR_OPEN_COUNT] = {
      [ASHLAR_OPEN_NONE] = "",
      [ASHLAR_OPEN_SIZE] = "the exact size of a block from before the recording decides",
      [ASHLAR_OPEN_AGE] = "the ages of segments from before the recording decide",
      [ASHLAR_OPEN_CUT] = "the recording begins inside the request",
      [ASHLAR_OPEN_EVENTS] = "blocks came back while the request was served",
      [ASHLAR_OPEN_LOCK] = "the lock was released during device calls",
      [ASHLAR_OPEN_POOL] = "pools that the events do not name, or more than a manager holds",
      [ASHLAR_OPEN_GROWABLE] = "growable segments with ranges that the recording does not tell",
      [ASHLAR_OPEN_STREAMS] = "more streams than a manager holds",
      [ASHLAR_OPEN_CAPACITY] = "more blocks than a manager holds",
      [ASHLAR_OPEN_SETTINGS] = "the recorded settings are not allowed",
      [ASHLAR_OPEN_SEGMENT] = "the segment as listed cannot be followed",
      [ASHLAR_OPEN_DAMAGE] = "the recording is too damaged to be followed any further",
  };
  return reason < ASHLAR_OPEN_COUNT ? TEXTS[reason] : "?";
}

void ashlar_audit_find(struct ashlar_audit_device *device, enum ashlar_rule rule, uint64_t event,
                       uint64_t address, const char *format, ...)
{
  device->finding_count++;
  device->finding_count_by_rule[rule]++;
  if (device->finding_count_by_rule[rule] > ASHLAR_FINDINGS_KEPT) {
    return;
  }
  struct ashlar_finding *findings =
      realloc(device->findings, ((size_t)device->findings_kept + 1) * sizeof *device->findings);
  if (findings == NULL) {
    return;
  }
  struct ashlar_finding *finding = &findings[device->findings_kept];
  device->findings = findings;
  device->findings_kept++;
  finding->event = event;
  finding->address = address;
  finding->rule = (uint8_t)rule;
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(finding->detail, sizeof finding->detail, format, arguments) < 0) {
    finding->detail[0] = '\0';
  }
  va_end(arguments);
}

/* --- settings --- */

#define MEBIBYTE (UINT64_C(1024) * 1024)

/* A size in MiB from the settings string, which is the last one given to the allocator; `fallback`
   where it has no such key. Blanks are ignored there. */
static uint64_t conf_megabytes(const struct ashlar_text *conf, const char *key, uint64_t fallback)
{
  const size_t length = strlen(key);
  size_t matched = 0;
  for (uint32_t i = 0; i < conf->length; i++) {
    if (conf->bytes[i] == ' ') {
      continue;
    }
    if (matched == length && conf->bytes[i] == ':') {
      const unsigned long long value = strtoull(&conf->bytes[i + 1], NULL, 10);
      return value > 0 && value <= ASHLAR_MAX_REQUEST / MEBIBYTE ? value * MEBIBYTE : fallback;
    }
    if (matched < length && conf->bytes[i] == key[matched]) {
      matched++;
    } else {
      /* A key begins behind a comma; no key begins like another one inside it. */
      matched = conf->bytes[i] == key[0] ? 1 : 0;
    }
  }
  return fallback;
}

/* The settings of the recording. Divisions that are not allowed make the manager refuse them. */
static struct ashlar_config config_of(const struct ashlar_settings *settings, uint32_t order)
{
  struct ashlar_config config = ashlar_default_config();
  config.order = order;
  config.policy = ASHLAR_POLICY_FAITHFUL;
  if (!settings->is_present) {
    return config;
  }
  config.large_segment_size =
      conf_megabytes(&settings->conf, "large_segment_size_mb", ASHLAR_DEFAULT_LARGE_SEGMENT);
  config.oversize_slack =
      conf_megabytes(&settings->conf, "max_non_split_rounding_mb", config.large_segment_size);
  if ((settings->flags & ASHLAR_SETTINGS_HAS_MAX_SPLIT) != 0) {
    config.max_split_size = (uint64_t)settings->max_split_size; /* -1: unlimited */
  }
  for (uint32_t i = 0; i < ASHLAR_DIVISIONS; i++) {
    config.divisions[i] =
        settings->divisions[i] <= UINT32_MAX ? (uint32_t)settings->divisions[i] : UINT32_MAX;
  }
  return config;
}

/* Settings that a manager takes: the recorded ones, or the defaults where those are not allowed (then
   no decision is judged, see ashlar_run_start, and the state rules go by the defaults). */
static struct ashlar_config state_config(const struct ashlar_config *recorded)
{
  struct ashlar_config config = *recorded;
  const struct ashlar_config fallback = ashlar_default_config();
  for (uint32_t i = 0; i < ASHLAR_DIVISIONS; i++) {
    if (ashlar_division_valid(config.divisions[i]) == 0) {
      config.divisions[i] = 0;
    }
  }
  if (config.large_segment_size <= ASHLAR_LARGE_EXACT ||
      config.large_segment_size > ASHLAR_MAX_REQUEST ||
      config.max_split_size < config.large_segment_size ||
      config.oversize_slack < config.large_segment_size) {
    config.large_segment_size = fallback.large_segment_size;
    config.max_split_size = fallback.max_split_size;
    config.oversize_slack = fallback.oversize_slack;
  }
  return config;
}

/* --- devices --- */

/* The snapshot, split by devices. */
struct parts {
  struct ashlar_device_part *parts; /* ascending by device */
  uint64_t count;
  uint64_t *segments; /* indices, ascending by device, then address */
};

static int by_device_and_address(const void *left, const void *right, void *context)
{
  const struct ashlar_snapshot *snapshot = context;
  const uint64_t one = *(const uint64_t *)left;
  const uint64_t other = *(const uint64_t *)right;
  const struct ashlar_segment *a = &snapshot->segments[one];
  const struct ashlar_segment *b = &snapshot->segments[other];
  if (a->device != b->device) {
    return a->device < b->device ? -1 : 1;
  }
  if (a->address != b->address) {
    return a->address < b->address ? -1 : 1;
  }
  return (one > other) - (one < other);
}

static void free_parts(struct parts *parts)
{
  free(parts->parts);
  free(parts->segments);
  *parts = (struct parts){0};
}

/* Number of distinct devices in the sorted segments, at most. */
static uint64_t count_devices(const struct ashlar_snapshot *snapshot, const struct parts *parts)
{
  uint64_t count = 0;
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    if (i == 0 || snapshot->segments[parts->segments[i]].device !=
                      snapshot->segments[parts->segments[i - 1]].device) {
      count++;
    }
  }
  return count;
}

static void add_part(const struct ashlar_snapshot *snapshot, struct parts *parts, int32_t device,
                     uint64_t first, uint64_t count)
{
  struct ashlar_device_part *part = &parts->parts[parts->count];
  *part = (struct ashlar_device_part){
      .snapshot = snapshot,
      .segments = &parts->segments[first],
      .segment_count = count,
      .device = device,
  };
  if (device >= 0 && (uint32_t)device < snapshot->trace_count) {
    part->events = snapshot->traces[device].events;
    part->event_count = snapshot->traces[device].event_count;
  }
  parts->count++;
}

/* Adds the devices below `device` that have events and no segment. */
static void add_bare_traces(const struct ashlar_snapshot *snapshot, struct parts *parts,
                            int64_t *next_trace, int64_t device)
{
  while (*next_trace < device && *next_trace < (int64_t)snapshot->trace_count) {
    if (snapshot->traces[*next_trace].event_count > 0) {
      add_part(snapshot, parts, (int32_t)*next_trace, 0, 0);
    }
    (*next_trace)++;
  }
}

static bool split_devices(const struct ashlar_snapshot *snapshot, struct parts *parts)
{
  *parts = (struct parts){0};
  parts->segments = malloc(((size_t)snapshot->segment_count + 1) * sizeof *parts->segments);
  if (parts->segments == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    parts->segments[i] = i;
  }
  qsort_r(parts->segments, (size_t)snapshot->segment_count, sizeof *parts->segments,
          by_device_and_address, (void *)snapshot);
  const uint64_t most = count_devices(snapshot, parts) + snapshot->trace_count;
  parts->parts = calloc((size_t)most + 1, sizeof *parts->parts);
  if (parts->parts == NULL) {
    free_parts(parts);
    return false;
  }
  int64_t next_trace = 0;
  uint64_t first = 0;
  while (first < snapshot->segment_count) {
    const int32_t device = snapshot->segments[parts->segments[first]].device;
    uint64_t last = first;
    while (last < snapshot->segment_count &&
           snapshot->segments[parts->segments[last]].device == device) {
      last++;
    }
    add_bare_traces(snapshot, parts, &next_trace, device);
    next_trace = next_trace <= device ? (int64_t)device + 1 : next_trace;
    add_part(snapshot, parts, device, first, last - first);
    first = last;
  }
  add_bare_traces(snapshot, parts, &next_trace, INT64_MAX);
  return true;
}

/* --- judging --- */

enum { TIES_A_FAULT = 6 };

/* Results of all devices under one free-list order. */
struct verdict {
  struct ashlar_audit_device *devices;
  uint64_t count;
  uint64_t problems;     /* decisions that differ, and releases out of order */
  uint64_t ties_open;    /* choices that unknown ages of segments leave open */
  uint64_t only_segment; /* decisions that only segment order explains, as segment order sees it */
  uint64_t only_address;
};

static void free_devices(struct ashlar_audit_device *devices, uint64_t count)
{
  for (uint64_t i = 0; devices != NULL && i < count; i++) {
    free(devices[i].findings);
  }
  free(devices);
}

static bool judge_device(const struct ashlar_device_part *part, const struct ashlar_config *config,
                         bool has_history, struct verdict *verdict)
{
  struct ashlar_audit_device *result = &verdict->devices[verdict->count];
  const struct ashlar_config usable = state_config(config);
  struct ashlar_history history;
  struct ashlar_audit_run run;
  result->device = part->device;
  result->events = part->event_count;
  verdict->count++;
  ashlar_audit_state(part, &usable, result);
  if (part->event_count == 0 || !has_history) {
    return true;
  }
  if (!ashlar_history_rebuild(part, &usable, &history)) {
    return false;
  }
  result->live_before = history.block_count;
  result->unknown_sizes = history.unknown_sizes;
  bool is_done = ashlar_run_start(&run, part, &history, config, result) && ashlar_run_events(&run);
  if (is_done && run.blind == ASHLAR_OPEN_NONE) {
    ashlar_run_compare(&run);
  }
  result->collects_from = run.ages.least;
  result->collects_below = run.ages.most;
  result->has_open_ages = run.ages.was_open;
  verdict->ties_open += run.ties_open;
  verdict->only_segment += run.only_segment;
  verdict->only_address += run.only_address;
  verdict->problems += result->differ + result->finding_count_by_rule[ASHLAR_RULE_LADDER];
  ashlar_run_stop(&run);
  ashlar_history_free(&history);
  return is_done;
}

static bool judge_all(const struct ashlar_snapshot *snapshot, const struct parts *parts,
                      uint32_t order, bool has_history, struct verdict *verdict)
{
  const struct ashlar_config config = config_of(&snapshot->settings, order);
  *verdict = (struct verdict){0};
  verdict->devices = calloc((size_t)parts->count + 1, sizeof *verdict->devices);
  if (verdict->devices == NULL) {
    return false;
  }
  for (uint64_t i = 0; i < parts->count; i++) {
    if (!judge_device(&parts->parts[i], &config, has_history, verdict)) {
      free_devices(verdict->devices, verdict->count);
      *verdict = (struct verdict){0};
      return false;
    }
  }
  return true;
}

/* Whether segment order explains the file better than address order, which leaves something
   unexplained. Where decisions are settled in which the orders part, they tell. Else segment order has
   nothing for it but that unknown ages excuse everything; each tie that it excuses is a coincidence of
   one in two, and a fault is taken to be one in 2^TIES_A_FAULT. */
static bool is_segment_better(const struct verdict *address, const struct verdict *segment)
{
  if (segment->only_segment > 0 || segment->only_address > 0) {
    return segment->problems < address->problems && segment->only_segment >= segment->only_address;
  }
  return segment->problems == 0 && segment->ties_open < TIES_A_FAULT * address->problems;
}

/* A history is more than the event or two that a recording leaves behind that was never enabled. */
static bool has_history(const struct ashlar_snapshot *snapshot)
{
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    for (uint64_t k = 0; k < snapshot->traces[i].event_count; k++) {
      switch (snapshot->traces[i].events[k].action) {
      case ASHLAR_ACTION_ALLOC:
      case ASHLAR_ACTION_SEGMENT_ALLOC:
      case ASHLAR_ACTION_SEGMENT_FREE:
      case ASHLAR_ACTION_SEGMENT_MAP:
      case ASHLAR_ACTION_SEGMENT_UNMAP:
        return true;
      default:
        if (k > 0) {
          return true;
        }
      }
    }
  }
  return false;
}

static bool judge_snapshot(const struct ashlar_snapshot *snapshot, const struct parts *parts,
                           enum ashlar_audit_order order, struct ashlar_audit *audit)
{
  struct verdict verdict;
  struct verdict other;
  const bool is_segment = order == ASHLAR_AUDIT_ORDER_SEGMENT;
  audit->has_history = has_history(snapshot);
  audit->order_was_chosen = order == ASHLAR_AUDIT_ORDER_AUTO;
  audit->order = is_segment ? ASHLAR_AUDIT_ORDER_SEGMENT : ASHLAR_AUDIT_ORDER_ADDRESS;
  if (!judge_all(snapshot, parts, is_segment ? ASHLAR_ORDER_SEGMENT : ASHLAR_ORDER_ADDRESS,
                 audit->has_history, &verdict)) {
    return false;
  }
  if (audit->order_was_chosen && verdict.problems > 0) {
    if (!judge_all(snapshot, parts, ASHLAR_ORDER_SEGMENT, audit->has_history, &other)) {
      free_devices(verdict.devices, verdict.count);
      return false;
    }
    if (is_segment_better(&verdict, &other)) {
      const struct verdict swapped = verdict;
      verdict = other;
      other = swapped;
      audit->order = ASHLAR_AUDIT_ORDER_SEGMENT;
    }
    free_devices(other.devices, other.count);
  }
  audit->devices = verdict.devices;
  audit->device_count = verdict.count;
  return true;
}

bool ashlar_audit_snapshot(const struct ashlar_snapshot *snapshot, const char *name,
                           const struct ashlar_audit_options *options, struct ashlar_audit *audit,
                           struct ashlar_error *error)
{
  struct parts parts = {0};
  *audit = (struct ashlar_audit){.format = snapshot->format, .protocol = snapshot->protocol};
  audit->file = strdup(name);
  const bool is_done = audit->file != NULL && split_devices(snapshot, &parts) &&
                       judge_snapshot(snapshot, &parts, options->order, audit);
  free_parts(&parts);
  if (!is_done) {
    ashlar_audit_free(audit);
    return ashlar_error_set(error, 0, "not enough memory for the audit");
  }
  return true;
}

bool ashlar_audit_file(const char *path, const struct ashlar_audit_options *options,
                       struct ashlar_audit *audit, struct ashlar_error *error)
{
  struct ashlar_snapshot snapshot;
  *audit = (struct ashlar_audit){0};
  if (!ashlar_snapshot_read_file(path, &snapshot, error)) {
    return false;
  }
  const bool is_done = ashlar_audit_snapshot(&snapshot, path, options, audit, error);
  ashlar_snapshot_free(&snapshot);
  return is_done;
}

void ashlar_audit_free(struct ashlar_audit *audit)
{
  free_devices(audit->devices, audit->device_count);
  free(audit->file);
  *audit = (struct ashlar_audit){0};
}

int ashlar_audit_exit_status(const struct ashlar_audit *audit)
{
  for (uint64_t i = 0; i < audit->device_count; i++) {
    if (audit->devices[i].differ > 0 || audit->devices[i].finding_count > 0) {
      return 1;
    }
  }
  return 0;
}
