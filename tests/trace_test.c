/* trace_test.c - the text form of traces: what is read, what is refused and why, round trips.
 *
 * Run from the root of the repository. The rules tested are those of spec/trace-format.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* mkstemp, ftruncate */

#include "tests/trace_cases.h"
#include "tools/error.h"
#include "tools/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RECORDING "tests/data/transformer-training.trace"

static void assert_empty(const struct ashlar_trace *trace)
{
  static const struct ashlar_trace empty;
  assert_memory_equal(trace, &empty, sizeof empty);
}

/* A copy on the heap of exactly the text's size, so that the sanitizer sees a read beyond it. */
static bool read_exact(const char *text, size_t length, struct ashlar_trace *trace,
                       struct ashlar_error *error)
{
  char *copy = malloc(length == 0 ? 1 : length);
  assert_non_null(copy);
  memcpy(copy, text, length);
  memset(trace, 0x5a, sizeof *trace); /* the reader must not look at it */
  const bool good = ashlar_trace_read_memory(copy, length, trace, error);
  free(copy);
  return good;
}

static void assert_same_operations(const struct ashlar_trace *left,
                                   const struct ashlar_trace *right)
{
  assert_int_equal(left->operation_count, right->operation_count);
  assert_int_equal(left->marker_count, right->marker_count);
  for (size_t i = 0; i < left->operation_count; i++) {
    const struct ashlar_trace_operation *one = &left->operations[i];
    const struct ashlar_trace_operation *two = &right->operations[i];
    assert_int_equal(one->kind, two->kind);
    assert_int_equal(one->id, two->id);
    assert_int_equal(one->size, two->size);
    assert_int_equal(one->stream, two->stream);
    assert_int_equal(one->device, two->device);
    assert_int_equal(one->number, two->number);
    if (one->kind == ASHLAR_TRACE_MARKER) {
      assert_string_equal(left->names[one->number].text, right->names[two->number].text);
    }
  }
  assert_int_equal(left->notes_length, right->notes_length);
  if (left->notes_length > 0) {
    assert_memory_equal(left->notes, right->notes, left->notes_length);
  }
  assert_int_equal(left->allocation_count, right->allocation_count);
  assert_int_equal(left->free_count, right->free_count);
  assert_int_equal(left->live_bytes, right->live_bytes);
  assert_int_equal(left->peak_bytes, right->peak_bytes);
}

/* Writes, reads back, compares; and writes again, which must give the same bytes. */
static void assert_round_trip(const struct ashlar_trace *trace)
{
  char *first = NULL;
  char *second = NULL;
  size_t first_length = 0;
  size_t second_length = 0;
  struct ashlar_trace again;
  struct ashlar_error error = {0};
  assert_true(ashlar_trace_write_memory(trace, &first, &first_length, &error));
  if (!read_exact(first, first_length, &again, &error)) {
    fail_msg("line %llu: %s", (unsigned long long)error.position, error.text);
  }
  assert_same_operations(trace, &again);
  assert_true(ashlar_trace_write_memory(&again, &second, &second_length, &error));
  assert_int_equal(first_length, second_length);
  assert_memory_equal(first, second, first_length);
  free(first);
  free(second);
  ashlar_trace_free(&again);
}

static void test_good_texts_are_read(void **state)
{
  (void)state;
  size_t rows = 0;
  for (size_t i = 0; i < COUNT(GOOD); i++) {
    struct ashlar_trace trace;
    struct ashlar_error error = {0};
    if (!read_exact(GOOD[i].text, strlen(GOOD[i].text), &trace, &error)) {
      fail_msg("row %zu, line %llu: %s", i, (unsigned long long)error.position, error.text);
    }
    assert_int_equal(trace.operation_count, GOOD[i].operations);
    assert_int_equal(trace.allocation_count, GOOD[i].allocations);
    assert_int_equal(trace.free_count, GOOD[i].frees);
    assert_int_equal(trace.peak_bytes, GOOD[i].peak);
    assert_round_trip(&trace);
    ashlar_trace_free(&trace);
    assert_empty(&trace);
    rows++;
  }
  print_message("%zu good texts\n", rows);
  assert_int_equal(rows, COUNT(GOOD));
}

static void test_bad_texts_are_refused(void **state)
{
  (void)state;
  size_t rows = 0;
  for (size_t i = 0; i < COUNT(BAD); i++) {
    struct ashlar_trace trace;
    struct ashlar_error error = {0};
    const size_t length = BAD[i].length != 0 ? BAD[i].length : strlen(BAD[i].text);
    if (read_exact(BAD[i].text, length, &trace, &error)) {
      fail_msg("row %zu was accepted: %s", i, BAD[i].text);
    }
    if (error.position != BAD[i].line || strstr(error.text, BAD[i].reason) == NULL) {
      fail_msg("row %zu: expected line %llu, '%s'; got line %llu, '%s'", i,
               (unsigned long long)BAD[i].line, BAD[i].reason, (unsigned long long)error.position,
               error.text);
    }
    assert_empty(&trace);
    assert_false(read_exact(BAD[i].text, length, &trace, NULL));
    assert_empty(&trace);
    rows++;
  }
  print_message("%zu bad texts\n", rows);
  assert_int_equal(rows, COUNT(BAD));
}

static void test_fields_of_operations(void **state)
{
  (void)state;
  static const char text[] = V "# head\ns warm-up\na 9 100 0xAB 3\nu 9 5\na 4 7\nf 9\na 9 1 2\n"
                               "# tail\ne\ne 6\ns end\nf 9\n";
  static const struct ashlar_trace_operation expected[] = {
      {0, 0, 0, 0, ASHLAR_TRACE_MARKER, 0},
      {9, 100, 0xab, 0, ASHLAR_TRACE_ALLOCATE, 3},
      {9, 100, 5, 0, ASHLAR_TRACE_USE, 3},
      {4, 7, 0, 1, ASHLAR_TRACE_ALLOCATE, 0},
      {9, 100, 0xab, 0, ASHLAR_TRACE_FREE, 3},
      {9, 1, 2, 2, ASHLAR_TRACE_ALLOCATE, 0},
      {0, 0, 0, 0, ASHLAR_TRACE_EMPTY_CACHE, ASHLAR_TRACE_EVERY_DEVICE},
      {0, 0, 0, 0, ASHLAR_TRACE_EMPTY_CACHE, 6},
      {0, 0, 0, 1, ASHLAR_TRACE_MARKER, 0},
      {9, 1, 2, 2, ASHLAR_TRACE_FREE, 0},
  };
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  assert_true(read_exact(text, sizeof text - 1, &trace, &error));
  assert_int_equal(trace.operation_count, COUNT(expected));
  for (size_t i = 0; i < COUNT(expected); i++) {
    assert_int_equal(trace.operations[i].id, expected[i].id);
    assert_int_equal(trace.operations[i].size, expected[i].size);
    assert_int_equal(trace.operations[i].stream, expected[i].stream);
    assert_int_equal(trace.operations[i].number, expected[i].number);
    assert_int_equal(trace.operations[i].kind, expected[i].kind);
    assert_int_equal(trace.operations[i].device, expected[i].device);
  }
  assert_int_equal(trace.marker_count, 2);
  assert_string_equal(trace.names[0].text, "warm-up");
  assert_string_equal(trace.names[1].text, "end");
  assert_int_equal(trace.notes_length, strlen(" head\n"));
  assert_memory_equal(trace.notes, " head\n", trace.notes_length);
  assert_int_equal(trace.live_bytes, 7);
  assert_int_equal(trace.peak_bytes, 107);
  ashlar_trace_free(&trace);
}

/* The spelling is part of the format: equal traces are equal files. */
static void test_written_spelling(void **state)
{
  (void)state;
  static const char loose[] = "ashlar-trace 1\r\nfrees 1\r\n#one\r\n\r\n# two\r\n"
                              "a 1 2 0\r\na 3 4 0x000FFFF 0\r\na 5 6 65536\r\na 7 8 0 1\r\n"
                              "# gone\r\nu 1 0x9\r\nf 1\r\ne\r\ne 0\r\ns x";
  static const char strict[] = V "#one\n# two\nallocations 4\nfrees 1\npeak 20\n"
                                 "a 1 2\na 3 4 65535\na 5 6 0x10000\na 7 8 0 1\n"
                                 "u 1 9\nf 1\ne\ne 0\ns x\n";
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  char *text = NULL;
  size_t length = 0;
  assert_true(read_exact(loose, sizeof loose - 1, &trace, &error));
  assert_true(ashlar_trace_write_memory(&trace, &text, &length, &error));
  assert_int_equal(length, sizeof strict - 1);
  assert_memory_equal(text, strict, length);
  free(text);
  ashlar_trace_free(&trace);
}

/* A refusal leaves the trace as it was, and the next legal call works. */
static void test_append_refuses(void **state)
{
  (void)state;
  struct ashlar_trace trace = {0};
  struct ashlar_error error = {.position = 99};
  struct ashlar_trace_operation next = {.id = 1, .kind = ASHLAR_TRACE_FREE};
  assert_false(ashlar_trace_append(&trace, next, &error));
  assert_int_equal(error.position, 0);
  assert_non_null(strstr(error.text, "never allocated"));
  next = (struct ashlar_trace_operation){.id = 1, .size = 8, .device = 128};
  assert_false(ashlar_trace_append(&trace, next, &error));
  next.device = ASHLAR_TRACE_EVERY_DEVICE;
  assert_false(ashlar_trace_append(&trace, next, &error));
  next.device = 127;
  assert_true(ashlar_trace_append(&trace, next, &error));
  assert_false(ashlar_trace_append(&trace, next, &error));
  assert_non_null(strstr(error.text, "not freed yet"));
  next = (struct ashlar_trace_operation){.kind = ASHLAR_TRACE_EMPTY_CACHE, .device = 128};
  assert_false(ashlar_trace_append(&trace, next, &error));
  next.kind = ASHLAR_TRACE_MARKER;
  assert_false(ashlar_trace_append(&trace, next, &error));
  next.kind = 200;
  assert_false(ashlar_trace_append(&trace, next, &error));
  assert_false(ashlar_trace_append_marker(&trace, "", 0, &error));
  assert_false(ashlar_trace_append_marker(&trace, "a b", 3, &error));
  assert_false(ashlar_trace_append_marker(&trace, "a\n", 2, &error));
  assert_false(ashlar_trace_append_marker(&trace, "a\0b", 3, &error));
  assert_false(ashlar_trace_append_marker(&trace, FIFTY "12345678901234", 64, &error));
  assert_false(ashlar_trace_append_note(&trace, "two\nlines", 9, &error));
  assert_false(ashlar_trace_append_note(&trace, FIFTY FIFTY FIFTY FIFTY FIFTY "12345", 255, NULL));
  assert_int_equal(trace.operation_count, 1);
  assert_int_equal(trace.allocation_count, 1);
  assert_int_equal(trace.marker_count, 0);
  assert_int_equal(trace.notes_length, 0);
  assert_int_equal(trace.live_bytes, 8);
  assert_true(ashlar_trace_append_note(&trace, FIFTY FIFTY FIFTY FIFTY FIFTY "1234", 254, &error));
  assert_true(ashlar_trace_append_marker(&trace, FIFTY "1234567890123", 63, &error));
  next = (struct ashlar_trace_operation){.id = 1, .stream = 6, .kind = ASHLAR_TRACE_USE};
  assert_true(ashlar_trace_append(&trace, next, &error));
  next.kind = ASHLAR_TRACE_FREE;
  assert_true(ashlar_trace_append(&trace, next, &error));
  assert_round_trip(&trace);
  ashlar_trace_free(&trace);
  assert_empty(&trace);
}

/* splitmix64's role, not its text: any full-period generator will do here. */
static uint64_t next_random(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

enum { IDS = 97, RANDOM_OPERATIONS = 20000 };

/* Against an array indexed by id: which calls succeed, and what the trace then holds. */
static void test_random_sequence_against_model(void **state)
{
  (void)state;
  uint64_t seed = 7;
  bool live[IDS] = {false};
  uint64_t size[IDS] = {0};
  uint32_t number[IDS] = {0};
  uint64_t sum = 0;
  uint64_t peak = 0;
  uint32_t allocations = 0;
  size_t accepted = 0;
  struct ashlar_trace trace = {0};
  for (size_t i = 0; i < RANDOM_OPERATIONS; i++) {
    const size_t where = (size_t)(next_random(&seed) % IDS);
    const uint8_t kind = (uint8_t)(next_random(&seed) % 4);
    struct ashlar_trace_operation next = {.kind = kind, .id = (uint64_t)where << 44};
    next.size = next_random(&seed) >> (next_random(&seed) % 32);
    next.stream = (next_random(&seed) << 33) >> (next_random(&seed) % 64);
    next.device = (uint8_t)(next_random(&seed) % 128);
    const bool legal =
        kind == ASHLAR_TRACE_EMPTY_CACHE || live[where] == (kind != ASHLAR_TRACE_ALLOCATE);
    assert_int_equal(ashlar_trace_append(&trace, next, NULL), legal);
    if (!legal) {
      continue;
    }
    const struct ashlar_trace_operation *last = &trace.operations[accepted];
    accepted++;
    if (kind == ASHLAR_TRACE_ALLOCATE) {
      live[where] = true;
      size[where] = next.size;
      number[where] = allocations;
      allocations++;
      sum += next.size;
      peak = sum > peak ? sum : peak;
    } else if (kind == ASHLAR_TRACE_FREE) {
      live[where] = false;
      sum -= size[where];
    }
    if (kind != ASHLAR_TRACE_EMPTY_CACHE) {
      assert_int_equal(last->size, size[where]);
      assert_int_equal(last->number, number[where]);
    }
  }
  assert_int_equal(trace.operation_count, accepted);
  assert_int_equal(trace.allocation_count, allocations);
  assert_int_equal(trace.live_bytes, sum);
  assert_int_equal(trace.peak_bytes, peak);
  assert_true(accepted > RANDOM_OPERATIONS / 2);
  assert_round_trip(&trace);
  ashlar_trace_free(&trace);
}

static const char SAMPLE[] = V "# sample\nallocations 3\nfrees 2\npeak 1049600\ns one\na 0 512\n"
                               "a 1 1048576 0x7f00\nu 0 0x7f00\nf 0\na 0 1024 3 1\ne 1\nf 1\n";

/* The statements make every cut visible, down to the last operation. */
static void test_every_truncation(void **state)
{
  (void)state;
  const size_t length = sizeof SAMPLE - 1;
  for (size_t cut = 0; cut <= length; cut++) {
    struct ashlar_trace trace;
    struct ashlar_error error = {0};
    const bool good = read_exact(SAMPLE, cut, &trace, &error);
    /* Without its last line feed the file is whole; without "f 1\n" it is not. */
    assert_int_equal(good, cut >= length - 1 || cut == strlen("ashlar-trace 1") ||
                               cut == strlen(V) || cut == strlen(V "#") ||
                               (cut > strlen(V "#") && cut <= strlen(V "# sample\n")));
    ashlar_trace_free(&trace);
  }
}

/* Whatever is accepted can be written and read back; whatever is refused says where and why. */
static void test_random_damage(void **state)
{
  (void)state;
  uint64_t seed = 3;
  size_t accepted = 0;
  size_t refused = 0;
  for (size_t round = 0; round < 100000; round++) {
    char text[sizeof SAMPLE - 1];
    memcpy(text, SAMPLE, sizeof text);
    const size_t changes = 1 + (size_t)(next_random(&seed) % 3);
    for (size_t i = 0; i < changes; i++) {
      const size_t where = (size_t)(next_random(&seed) % sizeof text);
      if (next_random(&seed) % 2 == 0) {
        const unsigned char byte = (unsigned char)(next_random(&seed) % 256);
        memcpy(&text[where], &byte, 1);
      } else {
        text[where] = SAMPLE[next_random(&seed) % sizeof text];
      }
    }
    struct ashlar_trace trace;
    struct ashlar_error error = {0};
    if (read_exact(text, sizeof text, &trace, &error)) {
      accepted++;
      assert_round_trip(&trace);
      ashlar_trace_free(&trace);
      continue;
    }
    refused++;
    assert_empty(&trace);
    assert_true(error.position >= 1 && error.position <= 20);
    assert_true(strlen(error.text) > 0);
    for (size_t i = 0; error.text[i] != '\0'; i++) {
      assert_true(error.text[i] >= ' ' && error.text[i] <= '~');
    }
  }
  print_message("%zu damaged texts: %zu accepted, %zu refused\n", accepted + refused, accepted,
                refused);
  assert_true(accepted > 1000 && refused > 10000);
}

static void test_largest_text(void **state)
{
  (void)state;
  static const char head[] = V "e\n";
  const size_t most = ASHLAR_TRACE_BYTES_MAX;
  char *text = malloc(most + 1);
  assert_non_null(text);
  memset(text, '#', most + 1);
  memcpy(text, head, sizeof head - 1);
  for (size_t where = sizeof head - 1 + ASHLAR_TRACE_LINE_MAX; where < most;
       where += ASHLAR_TRACE_LINE_MAX + 1) {
    text[where] = '\n';
  }
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  assert_true(ashlar_trace_read_memory(text, most, &trace, &error));
  assert_int_equal(trace.operation_count, 1);
  assert_int_equal(trace.notes_length, 0);
  ashlar_trace_free(&trace);
  assert_false(ashlar_trace_read_memory(text, most + 1, &trace, &error));
  assert_int_equal(error.position, 0);
  assert_non_null(strstr(error.text, "more than 268435456 bytes"));
  assert_empty(&trace);
  free(text);
}

/* A trace that no reader would take is not written. */
static void test_largest_written(void **state)
{
  (void)state;
  static const char line[] = "u 18446744073709551615 0xffffffffffffffff\n";
  const size_t uses = ASHLAR_TRACE_BYTES_MAX / (sizeof line - 1) + 1;
  struct ashlar_trace trace = {0};
  struct ashlar_error error = {0};
  struct ashlar_trace_operation next = {.id = UINT64_MAX, .stream = UINT64_MAX};
  assert_true(ashlar_trace_append(&trace, next, &error));
  next.kind = ASHLAR_TRACE_USE;
  for (size_t i = 0; i < uses; i++) {
    if (!ashlar_trace_append(&trace, next, &error)) {
      fail_msg("%s", error.text);
    }
  }
  char *text = NULL;
  size_t length = 0;
  assert_false(ashlar_trace_write_memory(&trace, &text, &length, &error));
  assert_null(text);
  assert_non_null(strstr(error.text, "more than 268435456 bytes"));
  ashlar_trace_free(&trace);
}

static void test_files(void **state)
{
  (void)state;
  char path[] = "/tmp/ashlar-trace-test-XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  struct ashlar_trace trace;
  struct ashlar_trace again;
  struct ashlar_error error = {0};
  assert_true(read_exact(SAMPLE, sizeof SAMPLE - 1, &trace, &error));
  assert_true(ashlar_trace_write_file(path, &trace, &error));
  assert_true(ashlar_trace_read_file(path, &again, &error));
  assert_same_operations(&trace, &again);
  ashlar_trace_free(&again);

  /* One byte too many, in a file of holes: refused for its size before it is looked at. */
  assert_int_equal(ftruncate(descriptor, (off_t)ASHLAR_TRACE_BYTES_MAX + 1), 0);
  assert_false(ashlar_trace_read_file(path, &again, &error));
  assert_int_equal(error.position, 0);
  assert_non_null(strstr(error.text, "more than"));
  assert_empty(&again);
  assert_int_equal(ftruncate(descriptor, 0), 0);
  assert_false(ashlar_trace_read_file(path, &again, &error));
  assert_int_equal(error.position, 1);
  assert_int_equal(close(descriptor), 0);
  assert_int_equal(unlink(path), 0);

  assert_false(ashlar_trace_read_file(path, &again, &error));
  assert_int_equal(error.position, 0);
  assert_non_null(strstr(error.text, "cannot be opened"));
  assert_false(ashlar_trace_read_file("/tmp", &again, &error));
  assert_non_null(strstr(error.text, "cannot be read"));
  assert_empty(&again);
  assert_false(ashlar_trace_write_file("/tmp/no-such-folder/trace", &trace, &error));
  assert_non_null(strstr(error.text, "cannot be created"));
  if (access("/dev/full", W_OK) == 0) {
    assert_false(ashlar_trace_write_file("/dev/full", &trace, &error));
    assert_non_null(strstr(error.text, "cannot be written"));
  } else {
    print_message("SKIPPED: writing to a full disk (no /dev/full)\n");
  }
  ashlar_trace_free(&trace);
}

/* What a recording holds, counted with sscanf and an array, apart from the reader. */
struct tally {
  uint64_t stated_allocations, stated_frees, stated_peak;
  uint64_t allocations, frees, sum, peak, smallest, largest;
  size_t small, medium, large; /* by the allocator's segment classes */
  size_t markers;
};

enum { TALLY_IDS = 100000, SMALL_MAX = 1 << 20, LARGE_MIN = 10 << 20 };

static void tally_allocation(struct tally *tally, uint64_t size)
{
  tally->allocations++;
  tally->sum += size;
  tally->peak = tally->sum > tally->peak ? tally->sum : tally->peak;
  tally->smallest = size < tally->smallest ? size : tally->smallest;
  tally->largest = size > tally->largest ? size : tally->largest;
  tally->small += size <= SMALL_MAX;
  tally->medium += size > SMALL_MAX && size < LARGE_MIN;
  tally->large += size >= LARGE_MIN;
}

static struct tally tally_recording(const char *path)
{
  static uint64_t size_of[TALLY_IDS];
  struct tally tally = {.smallest = UINT64_MAX};
  char line[ASHLAR_TRACE_LINE_MAX + 2];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, (int)sizeof line, file) != NULL) {
    char *space = strchr(line, ' ');
    char *rest = space == NULL ? line : space;
    const uint64_t number = strtoull(rest, &rest, 10);
    if (strncmp(line, "allocations ", strlen("allocations ")) == 0) {
      tally.stated_allocations = number;
    } else if (strncmp(line, "frees ", strlen("frees ")) == 0) {
      tally.stated_frees = number;
    } else if (strncmp(line, "peak ", strlen("peak ")) == 0) {
      tally.stated_peak = number;
    } else if (strncmp(line, "a ", 2) == 0) {
      assert_true(number < TALLY_IDS);
      size_of[number] = strtoull(rest, NULL, 10);
      tally_allocation(&tally, size_of[number]);
    } else if (strncmp(line, "f ", 2) == 0) {
      assert_true(number < TALLY_IDS);
      tally.frees++;
      tally.sum -= size_of[number];
    } else if (strncmp(line, "s ", 2) == 0) {
      tally.markers++;
    }
  }
  (void)fclose(file);
  return tally;
}

static void test_committed_recording(void **state)
{
  (void)state;
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  if (!ashlar_trace_read_file(RECORDING, &trace, &error)) {
    fail_msg("%s, line %llu: %s", RECORDING, (unsigned long long)error.position, error.text);
  }
  const struct tally tally = tally_recording(RECORDING);
  print_message("%s: %zu operations, %zu allocations, peak %llu bytes\n", RECORDING,
                trace.operation_count, trace.allocation_count, (unsigned long long)tally.peak);
  assert_int_equal(tally.stated_allocations, tally.allocations);
  assert_int_equal(tally.stated_frees, tally.frees);
  assert_int_equal(tally.stated_peak, tally.peak);
  assert_int_equal(trace.allocation_count, tally.allocations);
  assert_int_equal(trace.free_count, tally.frees);
  assert_int_equal(trace.peak_bytes, tally.peak);
  assert_int_equal(trace.live_bytes, tally.sum);
  assert_int_equal(trace.marker_count, tally.markers);
  assert_int_equal(trace.operation_count, tally.allocations + tally.frees + tally.markers);

  /* What the demo is to show: both pools, segments of every size class, blocks left at the end. */
  assert_true(trace.operation_count >= 5000 && trace.operation_count <= 20000);
  assert_true(tally.smallest <= 16 && tally.largest >= (16U << 20));
  assert_true(tally.small > 1000 && tally.medium > 100 && tally.large > 10);
  assert_true(trace.free_count < trace.allocation_count);
  ashlar_trace_free(&trace);
}

/* The recording is in the writer's spelling, so that regenerating it gives no needless changes. */
static void test_committed_recording_is_canonical(void **state)
{
  (void)state;
  struct ashlar_trace trace;
  struct ashlar_error error = {0};
  char *text = NULL;
  size_t length = 0;
  assert_true(ashlar_trace_read_file(RECORDING, &trace, &error));
  assert_true(ashlar_trace_write_memory(&trace, &text, &length, &error));
  FILE *file = fopen(RECORDING, "rb");
  assert_non_null(file);
  char *bytes = malloc(length + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, length + 1, file), length);
  assert_memory_equal(bytes, text, length);
  assert_true(length < 300000);
  (void)fclose(file);
  free(bytes);
  free(text);
  ashlar_trace_free(&trace);
}

static void test_error_text(void **state)
{
  (void)state;
  struct ashlar_error error = {0};
  assert_false(ashlar_error_set(&error, 12, "%s-%d", "x", 3));
  assert_int_equal(error.position, 12);
  assert_string_equal(error.text, "x-3");
  assert_false(ashlar_error_set(&error, 1, "%s", FIFTY FIFTY FIFTY FIFTY FIFTY));
  assert_int_equal(strlen(error.text), ASHLAR_ERROR_TEXT - 1);
  assert_false(ashlar_error_set(NULL, 1, "nobody listens"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_texts_are_read),
      cmocka_unit_test(test_bad_texts_are_refused),
      cmocka_unit_test(test_fields_of_operations),
      cmocka_unit_test(test_written_spelling),
      cmocka_unit_test(test_append_refuses),
      cmocka_unit_test(test_random_sequence_against_model),
      cmocka_unit_test(test_every_truncation),
      cmocka_unit_test(test_random_damage),
      cmocka_unit_test(test_largest_text),
      cmocka_unit_test(test_largest_written),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_committed_recording),
      cmocka_unit_test(test_committed_recording_is_canonical),
      cmocka_unit_test(test_error_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
