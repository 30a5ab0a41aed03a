/* snapshot_files_test.c - the reader on recorded snapshots: counts, files and pipes, every
 * truncation, random damage, memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* pipe, fork */
#include "tests/pickle_text.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FLIP_ROUNDS = 20000 };

#define MEGABYTE ((size_t)1 << 20)

/* A snapshot is empty and the error says something, as after every refusal. */
static void assert_refusal(const struct ashlar_snapshot *snapshot, const struct ashlar_error *error,
                           size_t size)
{
  static const struct ashlar_snapshot EMPTY;

  assert_memory_equal(snapshot, &EMPTY, sizeof EMPTY);
  assert_true(error->text[0] != '\0' && error->position <= size);
}

/* Reads what a child process writes to a pipe in pieces of an odd size. */
static bool read_by_pipe(const uint8_t *bytes, size_t size, size_t piece,
                         struct ashlar_snapshot *snapshot, struct ashlar_error *error)
{
  int ends[2];
  char path[64];
  pid_t child = -1;
  bool is_read = false;
  int status = 0;

  assert_int_equal(pipe(ends), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)close(ends[0]);
    for (size_t at = 0; at < size; at += piece) {
      if (write(ends[1], bytes + at, piece < size - at ? piece : size - at) < 0) {
        _exit(1);
      }
    }
    _exit(0);
  }
  (void)close(ends[1]);
  (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  is_read = ashlar_snapshot_read_file(path, snapshot, error);
  (void)close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return is_read;
}

static uint64_t count_action(const struct ashlar_snapshot *snapshot, unsigned action)
{
  uint64_t count = 0;

  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    for (uint64_t k = 0; k < snapshot->traces[i].event_count; k++) {
      count += snapshot->traces[i].events[k].action == action ? 1 : 0;
    }
  }
  return count;
}

static void check_counts(const struct ashlar_snapshot *snapshot,
                         const struct recorded_snapshot *expected)
{
  uint64_t reserved = 0;

  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    reserved += snapshot->segments[i].total_size;
  }
  assert_int_equal(snapshot->segment_count, expected->segments);
  assert_int_equal(snapshot->event_count, expected->events);
  assert_int_equal(count_action(snapshot, ASHLAR_ACTION_ALLOC), expected->allocations);
  assert_int_equal(count_action(snapshot, ASHLAR_ACTION_FREE_COMPLETED), expected->frees_completed);
  assert_int_equal(count_action(snapshot, ASHLAR_ACTION_SEGMENT_ALLOC),
                   expected->segment_allocations);
  assert_int_equal(count_action(snapshot, ASHLAR_ACTION_SEGMENT_FREE), expected->segment_frees);
  assert_int_equal(snapshot->settings.is_present, expected->has_settings);
  assert_true((double)reserved / 1073741824.0 - expected->reserved_gib < 0.00501);
  assert_true(expected->reserved_gib - (double)reserved / 1073741824.0 < 0.00501);
  assert_true(ashlar_snapshot_is_valid(snapshot));
}

/* From a file, from memory and through a pipe, each recorded snapshot reads as it is known. */
static void recorded(void **state)
{
  size_t count = 0;

  (void)state;
  for (size_t i = 0; i < RECORDED_COUNT; i++) {
    char path[SNAPSHOT_PATH_SIZE];
    struct ashlar_snapshot one;
    struct ashlar_snapshot two;
    struct ashlar_error error = {0};
    size_t size = 0;
    uint8_t *bytes = NULL;

    if (!recorded_path(RECORDED_SNAPSHOTS[i].name, path)) {
      skip();
    }
    if (!ashlar_snapshot_read_file(path, &one, &error)) {
      fail_msg("%s: %s", path, error.text);
    }
    check_counts(&one, &RECORDED_SNAPSHOTS[i]);
    bytes = read_whole_file(path, &size);
    assert_non_null(bytes);
    assert_true(ashlar_snapshot_read_memory(bytes, size, &two, &error));
    assert_true(snapshots_are_equal(&one, &two));
    ashlar_snapshot_free(&two);
    assert_true(read_by_pipe(bytes, size, 7919, &two, &error));
    assert_true(snapshots_are_equal(&one, &two));
    ashlar_snapshot_free(&two);
    ashlar_snapshot_free(&one);
    free(bytes);
    count++;
  }
  print_message("%zu recorded snapshots\n", count);
}

static void every_truncation(void **state)
{
  char path[SNAPSHOT_PATH_SIZE];
  size_t size = 0;
  uint8_t *bytes = NULL;

  (void)state;
  if (!recorded_path("tiny-fresh", path)) {
    skip();
  }
  bytes = read_whole_file(path, &size);
  assert_non_null(bytes);
  for (size_t cut = 0; cut < size; cut++) {
    struct ashlar_snapshot snapshot;
    struct ashlar_error error = {0};
    /* The end of the block is the cut, so that the sanitizer sees a read beyond it. */
    uint8_t *copy = malloc(cut == 0 ? 1 : cut);

    assert_non_null(copy);
    memcpy(copy, bytes, cut);
    assert_false(ashlar_snapshot_read_memory(copy, cut, &snapshot, &error));
    assert_refusal(&snapshot, &error, cut);
    free(copy);
  }
  print_message("%zu truncations\n", size);
  free(bytes);
}

/* The same damage everywhere: xorshift with a fixed seed. */
static uint64_t next_random(uint64_t *random)
{
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* Damaged snapshots are refused, or are valid ones. */
static void random_flips(void **state)
{
  static const char *const NAMES[] = {"tiny-fresh", "small-midstart", "oom-oldformat"};
  uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
  size_t accepted = 0;

  (void)state;
  for (size_t i = 0; i < 3; i++) {
    char path[SNAPSHOT_PATH_SIZE];
    size_t size = 0;
    uint8_t *bytes = NULL;

    if (!recorded_path(NAMES[i], path)) {
      skip();
    }
    bytes = read_whole_file(path, &size);
    assert_non_null(bytes);
    for (size_t round = 0; round < FLIP_ROUNDS / 3 + 1; round++) {
      struct ashlar_snapshot snapshot;
      struct ashlar_error error = {0};
      const size_t at = (size_t)(next_random(&random) % size);
      const uint8_t old = bytes[at];

      bytes[at] = (uint8_t)(old ^ (1 + next_random(&random) % 255));
      if (ashlar_snapshot_read_memory(bytes, size, &snapshot, &error)) {
        assert_true(ashlar_snapshot_is_valid(&snapshot));
        ashlar_snapshot_free(&snapshot);
        accepted++;
      } else {
        assert_refusal(&snapshot, &error, size);
      }
      bytes[at] = old;
    }
    free(bytes);
  }
  print_message("%d flips, %zu of them accepted\n", FLIP_ROUNDS, accepted);
  assert_true(accepted > 0 && accepted < FLIP_ROUNDS);
}

/* Files that are no snapshots. */
static void wrong_files(void **state)
{
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};

  (void)state;
  assert_false(ashlar_snapshot_read_file("/nowhere/at-all.pickle", &snapshot, &error));
  assert_non_null(strstr(error.text, "cannot open /nowhere/at-all.pickle"));
  assert_refusal(&snapshot, &error, 0);
  assert_false(ashlar_snapshot_read_file("/", &snapshot, &error));
  assert_non_null(strstr(error.text, "is a directory"));
  assert_refusal(&snapshot, &error, 0);
  assert_false(ashlar_snapshot_read_file("/dev/null", &snapshot, &error));
  assert_non_null(strstr(error.text, "the input is empty"));
  assert_refusal(&snapshot, &error, 0);
  assert_false(ashlar_snapshot_read_file("/proc/self/status", &snapshot, &error));
  assert_non_null(strstr(error.text, "no pickle"));
  assert_false(ashlar_snapshot_read_file("/proc/self/mem", &snapshot, &error));
  assert_non_null(strstr(error.text, "cannot read"));
  assert_false(ashlar_snapshot_read_file("/dev/zero", &snapshot, NULL));
}

/* A text too long for the buffer is passed over in a pipe too; one whose length cannot be is refused
 * though the size of a pipe is not known. A text met first in skipped data is gone from a pipe. */
static void pipes(void **state)
{
  static const struct {
    const char *text;
    const char *message; /* NULL: accepted */
  } ROWS[] = {
      {"80 04 } ( 'x' X 40 42 0f 00 61*1000000 'segments' ] u .", NULL},
      {"80 04 } ( 'x' B 40 42 0f 00 61*1000000 'segments' ] u .", NULL},
      {"80 04 } ( 'x' 8d 00*7 80 'segments' ] u .", "9223372036854775808 bytes is more"},
      {"80 04 } ( 'x' X ff ff ff 7f 61*1000000 'segments' ] u .", "cut short"},
      {"80 04 } ( 'x' ] ( 'own' q 00 e 'segments' ] 'y' X 40 42 0f 00 61*1000000 'device_traces' "
       "] ] } 'action' h 00 s a a u .",
       "cannot be read again"},
      {"80 04 } ( 'segments' ] u . .", "bytes follow"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    struct pickle_bytes pickle = pickle_assemble(ROWS[i].text);
    struct ashlar_snapshot snapshot;
    struct ashlar_error error = {0};
    const bool is_read = read_by_pipe(pickle.bytes, pickle.size, 65521, &snapshot, &error);

    if (is_read != (ROWS[i].message == NULL) ||
        (!is_read && strstr(error.text, ROWS[i].message) == NULL)) {
      fail_msg("pipe %zu: %s", i, is_read ? "accepted" : error.text);
    }
    ashlar_snapshot_free(&snapshot);
    pickle_bytes_free(&pickle);
  }
}

/* Numbers of streams, pools and actions that a snapshot may have, and one more. */
static void limits(void **state)
{
  static const struct {
    const char *before; /* an event up to the number */
    const char *after;
    unsigned most; /* distinct ones, the one that is always there included */
    const char *message;
  } ROWS[] = {
      {"} ( 'action' 'oom' 'stream' J", "u", ASHLAR_SNAPSHOT_MAX_STREAMS, "too many different str"},
      {"} ( 'action' 'oom' 'pool_id' K 00 J", "86 u", ASHLAR_SNAPSHOT_MAX_POOLS, "too many diff"},
      {"} ( 'action' 8c 04", "u", ASHLAR_SNAPSHOT_MAX_NAMES, "different unknown actions"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    struct pickle_bytes before = pickle_assemble(ROWS[i].before);
    struct pickle_bytes after = pickle_assemble(ROWS[i].after);

    for (unsigned extra = 0; extra < 2; extra++) {
      struct pickle_bytes pickle =
          pickle_assemble("80 04 } ( 'segments' ] 'device_traces' ] ( ] ( ");
      struct pickle_bytes end = pickle_assemble("e e u .");
      struct ashlar_snapshot snapshot;
      struct ashlar_error error = {0};

      for (uint32_t k = 1; k < ROWS[i].most + extra; k++) {
        /* Four bytes below 128: a positive number, and valid UTF-8. */
        const uint8_t bytes[] = {k & 127, (k >> 7) & 127, (k >> 14) & 127, 0};

        pickle_bytes_add(&pickle, before.bytes, before.size);
        pickle_bytes_add(&pickle, bytes, sizeof bytes);
        pickle_bytes_add(&pickle, after.bytes, after.size);
      }
      pickle_bytes_add(&pickle, end.bytes, end.size);
      if (extra == 0) {
        assert_true(ashlar_snapshot_read_memory(pickle.bytes, pickle.size, &snapshot, &error));
        assert_true(ashlar_snapshot_is_valid(&snapshot));
        ashlar_snapshot_free(&snapshot);
      } else {
        assert_false(ashlar_snapshot_read_memory(pickle.bytes, pickle.size, &snapshot, &error));
        assert_non_null(strstr(error.text, ROWS[i].message));
      }
      pickle_bytes_free(&end);
      pickle_bytes_free(&pickle);
    }
    pickle_bytes_free(&before);
    pickle_bytes_free(&after);
  }
}

/* A file of `count` events, each with two memo entries of its own, as Python writes them. */
static void write_events(const char *path, size_t count)
{
  struct pickle_bytes head =
      pickle_assemble("80 04 } 94 ( 'segments' 94 ] 94 'device_traces' 94 ] 94 ] 94 ( } 94 ( "
                      "'action' 94 'alloc' 94 "
                      "'addr' 94 #140000000000000 'size' 94 #512 'frames' 94 ] 94 u");
  struct pickle_bytes event = pickle_assemble(
      "} 94 ( h 07 h 08 h 09 #140000000000512 h 0a #70000 h 0b ] 94 ( h 08 h 09 e u");
  struct pickle_bytes tail = pickle_assemble("e a u .");
  FILE *file = fopen(path, "wb");

  assert_non_null(file);
  assert_int_equal(fwrite(head.bytes, 1, head.size, file), head.size);
  for (size_t i = 1; i < count; i++) {
    assert_int_equal(fwrite(event.bytes, 1, event.size, file), event.size);
  }
  assert_int_equal(fwrite(tail.bytes, 1, tail.size, file), tail.size);
  assert_int_equal(fclose(file), 0);
  pickle_bytes_free(&head);
  pickle_bytes_free(&event);
  pickle_bytes_free(&tail);
}

/* The largest memory of a child process that reads the file, in bytes; and its count of events. */
static size_t peak_memory(const char *path, uint64_t *events)
{
  struct rusage usage;
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  int ends[2];
  int status = 0;
  pid_t child = -1;

  assert_int_equal(pipe(ends), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const bool is_read = ashlar_snapshot_read_file(path, &snapshot, &error);
    const ssize_t written = write(ends[1], &snapshot.event_count, sizeof snapshot.event_count);

    _exit(is_read && written == (ssize_t)sizeof snapshot.event_count ? 0 : 1);
  }
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(ends[0], events, sizeof *events), sizeof *events);
  (void)close(ends[0]);
  (void)close(ends[1]);
  return (size_t)usage.ru_maxrss * 1024;
}

/* 32 bytes an event and 8 a memo entry, beside a constant. */
static void memory_bound(void **state)
{
  const size_t count = 2000000;
  char path[SNAPSHOT_PATH_SIZE];
  uint64_t events = 0;
  size_t small = 0;
  size_t large = 0;

  (void)state;
  assert_true(make_temporary(path));
  write_events(path, 1);
  small = peak_memory(path, &events);
  assert_int_equal(events, 1);
  write_events(path, count);
  large = peak_memory(path, &events);
  assert_int_equal(events, count);
  (void)unlink(path);
  print_message("%zu events: %.1f bytes each\n", count, (double)(large - small) / (double)count);
  assert_true(large - small <= count * (32 + 2 * 8) + 2 * MEGABYTE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recorded),     cmocka_unit_test(every_truncation),
      cmocka_unit_test(random_flips), cmocka_unit_test(wrong_files),
      cmocka_unit_test(pipes),        cmocka_unit_test(limits),
      cmocka_unit_test(memory_bound), /* last: under a sanitizer memory is not what it is */
  };
  const size_t count = sizeof tests / sizeof tests[0] - (has_sanitizer() ? 1 : 0);

  if (!limit_memory()) {
    return 1;
  }
  return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
