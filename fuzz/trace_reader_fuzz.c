/* trace_reader_fuzz.c - any bytes as a text trace.
 *
 * What is refused must say where and why and leave nothing; what is accepted must be a legal sequence of what the
 * lines say, and what the writer makes of it must read as the same and be written as the same. An operation is one of
 * the trace.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strnlen */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/harness.h"
#include "tools/trace.h"

enum {
  IDS_SCANNED = 256, /* the naive check is quadratic */
  FIELDS = 5,
  DECIMAL_ROOM = 24
};

static void check_refusal(const struct ashlar_trace *trace, const struct ashlar_error *error,
                          const uint8_t *text, size_t length)
{
  static const struct ashlar_trace nothing;
  uint64_t lines = 1;
  for (size_t i = 0; i < length; i++) {
    lines += text[i] == '\n' ? 1 : 0;
  }
  const size_t said = strnlen(error->text, sizeof error->text);
  FUZZ_SAY("refused: line %" PRIu64 ": %s", error->position, error->text);
  FUZZ_CHECK(0 < said && said < sizeof error->text, "a refusal without a reason");
  FUZZ_CHECK(error->position <= lines, "line %" PRIu64 " of %" PRIu64, error->position, lines);
  FUZZ_CHECK(memcmp(trace, &nothing, sizeof nothing) == 0, "something is left of a refused trace");
}

/* --- what an accepted trace must be --- */

/* The last allocation of an id before operation `at`, -1 where it is not live there. */
static FUZZ_ORACLE int64_t live_allocation(const struct ashlar_trace *trace, size_t at, uint64_t id)
{
  for (size_t i = at; i > 0; i--) {
    const struct ashlar_trace_operation *operation = &trace->operations[i - 1];
    if (operation->id == id && operation->kind == ASHLAR_TRACE_FREE) {
      return -1;
    }
    if (operation->id == id && operation->kind == ASHLAR_TRACE_ALLOCATE) {
      return (int64_t)i - 1;
    }
  }
  return -1;
}

static void check_names(const struct ashlar_trace *trace, size_t at)
{
  const struct ashlar_trace_operation *operation = &trace->operations[at];
  const int64_t live = live_allocation(trace, at, operation->id);
  if (operation->kind == ASHLAR_TRACE_ALLOCATE) {
    FUZZ_CHECK(live == -1, "operation %zu allocates a live id", at);
    return;
  }
  FUZZ_CHECK(live >= 0, "operation %zu names an id that is not live", at);
  const struct ashlar_trace_operation *allocation = &trace->operations[live];
  FUZZ_CHECK(operation->number == allocation->number && operation->size == allocation->size &&
                 operation->device == allocation->device &&
                 (operation->kind == ASHLAR_TRACE_USE || operation->stream == allocation->stream),
             "operation %zu is not of its allocation", at);
}

static void check_operation(const struct ashlar_trace *trace, size_t at, size_t allocations,
                            size_t markers)
{
  const struct ashlar_trace_operation *operation = &trace->operations[at];
  switch (operation->kind) {
  case ASHLAR_TRACE_ALLOCATE:
    FUZZ_CHECK(operation->number == allocations, "operation %zu has number %" PRIu32, at,
               operation->number);
    break;
  case ASHLAR_TRACE_FREE:
  case ASHLAR_TRACE_USE:
    FUZZ_CHECK(operation->number < allocations, "operation %zu has number %" PRIu32, at,
               operation->number);
    break;
  case ASHLAR_TRACE_EMPTY_CACHE:
    FUZZ_CHECK(operation->device <= ASHLAR_TRACE_DEVICE_MAX ||
                   operation->device == ASHLAR_TRACE_EVERY_DEVICE,
               "operation %zu has device %u", at, (unsigned)operation->device);
    return;
  case ASHLAR_TRACE_MARKER:
    FUZZ_CHECK(operation->number == markers && markers < trace->marker_count,
               "operation %zu has name %" PRIu32, at, operation->number);
    return;
  default:
    fuzz_fail("operation %zu has kind %u", at, (unsigned)operation->kind);
  }
  FUZZ_CHECK(operation->device <= ASHLAR_TRACE_DEVICE_MAX, "operation %zu has device %u", at,
             (unsigned)operation->device);
  if (at < IDS_SCANNED) {
    check_names(trace, at);
  }
}

static void check_trace(const struct ashlar_trace *trace)
{
  size_t count[ASHLAR_TRACE_MARKER + 1] = {0};
  unsigned __int128 live = 0;
  unsigned __int128 peak = 0;
  for (size_t i = 0; i < trace->operation_count; i++) {
    const struct ashlar_trace_operation *operation = &trace->operations[i];
    FUZZ_SAY("kind %u id %" PRIu64 " size %" PRIu64 " stream %" PRIu64 " device %u number %" PRIu32,
             (unsigned)operation->kind, operation->id, operation->size, operation->stream,
             (unsigned)operation->device, operation->number);
    check_operation(trace, i, count[ASHLAR_TRACE_ALLOCATE], count[ASHLAR_TRACE_MARKER]);
    count[operation->kind]++;
    live += operation->kind == ASHLAR_TRACE_ALLOCATE ? operation->size : 0;
    live -= operation->kind == ASHLAR_TRACE_FREE ? operation->size : 0;
    peak = live > peak ? live : peak;
  }
  FUZZ_CHECK(count[ASHLAR_TRACE_ALLOCATE] == trace->allocation_count &&
                 count[ASHLAR_TRACE_FREE] == trace->free_count &&
                 count[ASHLAR_TRACE_MARKER] == trace->marker_count,
             "wrong counts");
  FUZZ_CHECK((uint64_t)live == trace->live_bytes, "live bytes %" PRIu64, trace->live_bytes);
  FUZZ_CHECK((peak > UINT64_MAX ? UINT64_MAX : (uint64_t)peak) == trace->peak_bytes,
             "peak bytes %" PRIu64, trace->peak_bytes);
}

/* --- what the text says, line by line --- */

/* The fields of a line, terminated; those that are not there are empty. */
struct fields {
  char text[FIELDS][ASHLAR_TRACE_LINE_MAX + 1];
};

static FUZZ_ORACLE struct fields split(const uint8_t *line, size_t length)
{
  struct fields fields = {0};
  size_t field = 0;
  size_t at = 0;
  for (size_t i = 0; i < length && line[i] != '\r'; i++) {
    if (line[i] == ' ') {
      field++;
      at = 0;
    } else if (field < FIELDS && at < ASHLAR_TRACE_LINE_MAX) {
      fields.text[field][at] = (char)line[i];
      at++;
    }
  }
  return fields;
}

/* Decimal, or hexadecimal behind 0x; `absent` for no field. */
static FUZZ_ORACLE bool says(const char *field, uint64_t number, uint64_t absent)
{
  char decimal[DECIMAL_ROOM];
  if (field[0] == '\0') {
    return number == absent;
  }
  if (strncmp(field, "0x", 2) == 0) {
    return strtoull(field, NULL, 16) == number;
  }
  (void)snprintf(decimal, sizeof decimal, "%" PRIu64, number);
  return strcmp(field, decimal) == 0;
}

static bool says_operation(const struct ashlar_trace *trace, size_t at, const struct fields *fields)
{
  static const char letters[] = "afues";
  const struct ashlar_trace_operation *operation = &trace->operations[at];
  if (fields->text[0][0] != letters[operation->kind] || fields->text[0][1] != '\0') {
    return false;
  }
  switch (operation->kind) {
  case ASHLAR_TRACE_ALLOCATE:
    return says(fields->text[1], operation->id, UINT64_MAX) &&
           says(fields->text[2], operation->size, UINT64_MAX) &&
           says(fields->text[3], operation->stream, 0) &&
           says(fields->text[4], operation->device, 0);
  case ASHLAR_TRACE_FREE:
    return says(fields->text[1], operation->id, UINT64_MAX);
  case ASHLAR_TRACE_USE:
    return says(fields->text[1], operation->id, UINT64_MAX) &&
           says(fields->text[2], operation->stream, UINT64_MAX);
  case ASHLAR_TRACE_EMPTY_CACHE:
    return says(fields->text[1], operation->device, ASHLAR_TRACE_EVERY_DEVICE);
  default:
    return strcmp(fields->text[1], trace->names[operation->number].text) == 0;
  }
}

/* Each line of one letter is the next operation, and says what is kept of it. */
static void check_text(const struct ashlar_trace *trace, const uint8_t *text, size_t length)
{
  size_t operations = 0;
  size_t start = 0;
  while (start < length) {
    const uint8_t *end = memchr(text + start, '\n', length - start);
    const size_t stop = end == NULL ? length : (size_t)(end - text);
    const struct fields fields = split(text + start, stop - start);
    if (strlen(fields.text[0]) == 1 && fields.text[0][0] != '#') {
      FUZZ_CHECK(operations < trace->operation_count, "fewer operations than lines");
      FUZZ_CHECK(says_operation(trace, operations, &fields),
                 "operation %zu is not what its line says", operations);
      operations++;
    }
    start = stop + 1;
  }
  FUZZ_CHECK(operations == trace->operation_count, "more operations than lines");
}

/* --- there and back --- */

static bool same_operation(const struct ashlar_trace_operation *a,
                           const struct ashlar_trace_operation *b)
{
  return a->id == b->id && a->size == b->size && a->stream == b->stream && a->number == b->number &&
         a->kind == b->kind && a->device == b->device;
}

static bool same_trace(const struct ashlar_trace *a, const struct ashlar_trace *b)
{
  bool same = a->operation_count == b->operation_count && a->marker_count == b->marker_count &&
              a->notes_length == b->notes_length;
  for (size_t i = 0; same && i < a->operation_count; i++) {
    same = same_operation(&a->operations[i], &b->operations[i]);
  }
  for (size_t i = 0; same && i < a->marker_count; i++) {
    same = strcmp(a->names[i].text, b->names[i].text) == 0;
  }
  return same && (a->notes_length == 0 || memcmp(a->notes, b->notes, a->notes_length) == 0);
}

static void check_round_trip(const struct ashlar_trace *trace)
{
  struct ashlar_trace again;
  struct ashlar_error error = {0};
  char *text[2] = {NULL, NULL};
  size_t length[2] = {0, 0};
  FUZZ_CHECK(ashlar_trace_write_memory(trace, &text[0], &length[0], &error), "not written: %s",
             error.text);
  FUZZ_CHECK(ashlar_trace_read_memory(text[0], length[0], &again, &error),
             "what was written is refused: line %" PRIu64 ": %s", error.position, error.text);
  FUZZ_CHECK(same_trace(trace, &again), "what was written reads as something else");
  FUZZ_CHECK(ashlar_trace_write_memory(&again, &text[1], &length[1], &error),
             "not written again: %s", error.text);
  FUZZ_CHECK(length[0] == length[1] && memcmp(text[0], text[1], length[0]) == 0,
             "two spellings of one trace");
  ashlar_trace_free(&again);
  free(text[0]);
  free(text[1]);
}

static void run(struct fuzz_input *in)
{
  const size_t length = (size_t)(in->end - in->next);
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  fuzz_operations++;
  if (!ashlar_trace_read_memory((const char *)in->next, length, &trace, &error)) {
    check_refusal(&trace, &error, in->next, length);
    return;
  }
  fuzz_operations += trace.operation_count;
  check_trace(&trace);
  check_text(&trace, in->next, length);
  check_round_trip(&trace);
  ashlar_trace_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run);
}
