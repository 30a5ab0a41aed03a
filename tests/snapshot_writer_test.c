/* snapshot_writer_test.c - what is written reads back the same, here and in Python.
 *
 * Run from the root of the repository.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* posix_spawn, environ */
#include "tests/pickle_text.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_reader.h"
#include "tools/snapshot_writer.h"

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Whether Python finds the same in two files. */
static bool python_agrees(const char *source, const char *written)
{
  char program[] = "/usr/bin/python3";
  char script[] = "tests/compare_snapshots.py";
  char one[SNAPSHOT_PATH_SIZE];
  char two[SNAPSHOT_PATH_SIZE];
  char *const arguments[] = {program, script, one, two, NULL};
  pid_t child = -1;
  int status = 1;

  (void)snprintf(one, sizeof one, "%s", source);
  (void)snprintf(two, sizeof two, "%s", written);
  (void)fflush(stdout);
  if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0 ||
      waitpid(child, &status, 0) != child) {
    return false;
  }
  return status == 0;
}

/* Reads `path`, writes it to a temporary file, reads that and compares, in Python too. */
static void check_round_trip(const char *path)
{
  struct ashlar_snapshot first;
  struct ashlar_snapshot second = {0};
  struct ashlar_error error = {0};
  char copy[SNAPSHOT_PATH_SIZE];

  assert_true(make_temporary(copy));
  if (!ashlar_snapshot_read_file(path, &first, &error) ||
      !ashlar_snapshot_write_file(copy, &first, &error) ||
      !ashlar_snapshot_read_file(copy, &second, &error)) {
    fail_msg("%s: at %zu: %s", path, (size_t)error.position, error.text);
  }
  assert_int_equal(second.protocol, 4);
  assert_int_equal(second.format, ASHLAR_FORMAT_DICT);
  assert_true(ashlar_snapshot_is_valid(&second));
  assert_true(snapshots_are_equal(&first, &second));
  assert_true(python_agrees(path, copy));
  ashlar_snapshot_free(&first);
  ashlar_snapshot_free(&second);
  assert_int_equal(unlink(copy), 0);
}

static void recorded(void **state)
{
  (void)state;
  for (size_t i = 0; i < RECORDED_COUNT; i++) {
    char path[SNAPSHOT_PATH_SIZE];

    if (!recorded_path(RECORDED_SNAPSHOTS[i].name, path)) {
      skip();
    }
    check_round_trip(path);
  }
  print_message("%d recorded snapshots\n", RECORDED_COUNT);
}

/* Snapshots whose keys, numbers and texts are at the borders of what is written one way or another;
 * made by other means than the writer. */
static const char *const SPECIAL[] = {
    "80 04 } ( 'segments' ] u .",
    "80 04 } ( 'segments' ] 'device_traces' ] u .",
    "80 04 } ( 'segments' ] 'device_traces' ] ( ]*2100 e 'allocator_settings' } u .",
    "80 04 ] ( } ( 'address' #0 u } ( 'address' #0 'blocks' ] u e .",
    "80 04 } ( 'segments' ] ( } ( 'address' #255 'total_size' #256 'allocated_size' #65535 "
    "'active_size' #65536 'requested_size' #2147483647 'device' #-1 u } ( 'address' #2147483648 "
    "'total_size' #4294967295 'allocated_size' #4294967296 'active_size' #549755813887 "
    "'requested_size' #549755813888 'device' #2147483647 u } ( 'address' #140737488355327 "
    "'total_size' #140737488355328 'allocated_size' #36028797018963967 'active_size' "
    "#36028797018963968 'requested_size' #9223372036854775807 'device' #-2147483648 u e u .",
    "80 04 } ( 'segments' ] 'device_traces' ] ( ] ( } ( 'action' 'oom' 'device_free' "
    "#18446744073709551615 'size' #9223372036854775808 'stream' #-1 u } ( 'action' 'oom' 'stream' "
    "#-128 u } ( 'action' 'oom' 'stream' #-129 u } ( 'action' 'oom' 'stream' #-2147483648 u } ( "
    "'action' 'oom' 'stream' #-2147483649 u } ( 'action' 'oom' 'stream' #-9223372036854775808 u } "
    "( 'action' 'oom' 'stream' #18446744073709551615 'pool_id' #18446744073709551615 "
    "#18446744073709551615 86 u e e u .",
    "80 04 } ( 'segments' ] 'device_traces' ] ( ] ( } ( 'action' 'workspace_snapshot' u } ( "
    "'action' '' u } ( 'action' 'alloc' 'addr' #0 'size' #0 'time_us' #0 u } ( 'action' 8c 04 f0 "
    "9f "
    "98 80 u } ( 'action' 8c 05 a 00 b c d u e e u .",
    "80 04 } ( 'segments' ] ( } ( 'address' #512 'segment_pool_id' ] ( K 00 K 07 e 'blocks' ] ( } "
    "( "
    "'size' #512 'state' 'active_awaiting_free' u } ( 'size' #512 'state' 'active_pending_free' u "
    "e "
    "u e 'allocator_settings' } ( 'PYTORCH_CUDA_ALLOC_CONF' X 2c 01 00 00 61*300 'max_split_size' "
    "#-1 'garbage_collection_threshold' G 3f e9 99*5 9a 'pinned_num_register_threads' #8 "
    "'expandable_segments' 88 'release_lock_on_cudamalloc' 89 'pinned_use_cuda_host_register' 88 "
    "'graph_capture_record_stream_reuse' 89 'roundup_power2_divisions' } ( '1' #0 '2' #2 '32768' "
    "#16 u u 'external_annotations' ] u .",
};

static void special(void **state)
{
  (void)state;
  for (size_t i = 0; i < COUNT(SPECIAL); i++) {
    struct pickle_bytes pickle = pickle_assemble(SPECIAL[i]);
    char path[SNAPSHOT_PATH_SIZE];
    FILE *file = NULL;

    assert_true(make_temporary(path));
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(pickle.bytes, 1, pickle.size, file), pickle.size);
    assert_int_equal(fclose(file), 0);
    check_round_trip(path);
    assert_int_equal(unlink(path), 0);
    pickle_bytes_free(&pickle);
  }
  print_message("%zu special snapshots\n", COUNT(SPECIAL));
}

/* A snapshot that is built and not read: many segments, blocks and events, so that lists have
 * several batches, and more than 256 texts, so that the memo needs its long form. */
static void built(void **state)
{
  struct ashlar_snapshot snapshot;
  struct ashlar_snapshot again;
  struct ashlar_error error = {0};
  char path[SNAPSHOT_PATH_SIZE];
  char second[SNAPSHOT_PATH_SIZE];

  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  for (uint32_t i = 0; i < 2001; i++) {
    struct ashlar_segment segment = {.address = 2097152ULL * i,
                                     .total_size = 2097152,
                                     .device = (int32_t)(i % 3),
                                     .type = ASHLAR_SEGMENT_LARGE,
                                     .flags = ASHLAR_SEGMENT_HAS_ALL};

    assert_true(ashlar_snapshot_stream(&snapshot, i % 7, false, &segment.stream));
    assert_true(ashlar_snapshot_pool(&snapshot, 0, i % 5, &segment.pool));
    assert_true(ashlar_snapshot_add_segment(&snapshot, &segment));
    for (uint32_t k = 0; k < (i == 0 ? 1000 : 2); k++) {
      const struct ashlar_block block = {.address = segment.address + 512ULL * k,
                                         .size = 512,
                                         .requested_size = k,
                                         .state = (uint8_t)(k % 3),
                                         .flags =
                                             ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED};

      assert_true(ashlar_snapshot_add_block(&snapshot, &block));
    }
  }
  for (uint32_t trace = 0; trace < 2; trace++) {
    assert_true(ashlar_snapshot_add_trace(&snapshot));
    for (uint32_t i = 0; i < 1000 + 5000 * trace; i++) {
      struct ashlar_event event = {.address = 512ULL * i, .size = i, .time_us = i, .flags = 63 - 2};
      char name[32];

      event.action = (uint8_t)(i % ASHLAR_ACTION_COUNT);
      (void)snprintf(name, sizeof name, "vendor %u", i / 10 % 255);
      assert_true(event.action != ASHLAR_ACTION_OTHER ||
                  ashlar_snapshot_name(&snapshot, name, (uint32_t)strlen(name), &event.name));
      assert_true(ashlar_snapshot_add_event(&snapshot, trace, &event));
    }
  }
  assert_true(ashlar_snapshot_set_conf(&snapshot, "expandable_segments:True", 24));
  assert_true(ashlar_snapshot_is_valid(&snapshot));
  assert_true(make_temporary(path) && make_temporary(second));
  assert_true(ashlar_snapshot_write_file(path, &snapshot, &error));
  assert_true(ashlar_snapshot_read_file(path, &again, &error));
  assert_true(snapshots_are_equal(&snapshot, &again));
  assert_true(ashlar_snapshot_write_file(second, &again, &error));
  assert_true(python_agrees(path, second));
  assert_int_equal(unlink(path) + unlink(second), 0);
  ashlar_snapshot_free(&snapshot);
  ashlar_snapshot_free(&again);
}

static void failures(void **state)
{
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};

  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_false(ashlar_snapshot_write_file("/nowhere/x.pickle", &snapshot, &error));
  assert_non_null(strstr(error.text, "cannot create /nowhere/x.pickle"));
  assert_false(ashlar_snapshot_write_file("/dev/full", &snapshot, &error));
  assert_non_null(strstr(error.text, "cannot write: No space left"));
  ashlar_snapshot_free(&snapshot);
}

/* The comparison in Python can say no. */
static void comparison_differs(void **state)
{
  char one[SNAPSHOT_PATH_SIZE];
  char two[SNAPSHOT_PATH_SIZE];
  struct ashlar_snapshot snapshot;
  struct ashlar_segment segment = {.address = 512, .flags = ASHLAR_SEGMENT_HAS_TOTAL};

  (void)state;
  assert_true(make_temporary(one) && make_temporary(two));
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_true(ashlar_snapshot_add_segment(&snapshot, &segment));
  assert_true(ashlar_snapshot_write_file(one, &snapshot, NULL));
  snapshot.segments[0].total_size = 1;
  assert_true(ashlar_snapshot_write_file(two, &snapshot, NULL));
  assert_true(python_agrees(one, one));
  assert_false(python_agrees(one, two));
  ashlar_snapshot_free(&snapshot);
  assert_int_equal(unlink(one) + unlink(two), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recorded),
      cmocka_unit_test(special),
      cmocka_unit_test(built),
      cmocka_unit_test(failures),
      cmocka_unit_test(comparison_differs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
