/* snapshot_memory_test.c - the reader and writer when memory is short: every allocation fails in
 * turn, and each time the call says so and leaves nothing behind.
 *
 * To be linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/pickle_text.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_reader.h"
#include "tools/snapshot_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What the linker's --wrap calls the functions of the library, and those that stand in for them. */
void *real_malloc(size_t size) __asm__("__real_malloc");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *real_realloc(void *block, size_t size) __asm__("__real_realloc");
void *wrapped_malloc(size_t size) __asm__("__wrap_malloc");
void *wrapped_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *wrapped_realloc(void *block, size_t size) __asm__("__wrap_realloc");

/* Calls until the one that fails; 0: none will. */
static size_t calls_left;

static bool must_fail(void)
{
  if (calls_left == 0) {
    return false;
  }
  calls_left--;
  return calls_left == 0;
}

void *wrapped_malloc(size_t size)
{
  return must_fail() ? NULL : real_malloc(size);
}

void *wrapped_calloc(size_t count, size_t size)
{
  return must_fail() ? NULL : real_calloc(count, size);
}

void *wrapped_realloc(void *block, size_t size)
{
  return must_fail() ? NULL : real_realloc(block, size);
}

/* Something of everything that is allocated: many segments, blocks, traces, events, streams, pools,
 * names, memo entries, wide numbers in the memo, nested values, kept texts. */
static struct pickle_bytes make_pickle(void)
{
  struct pickle_bytes pickle = pickle_assemble("80 04 } ( 'segments' 94 ] 94 ( ");
  struct pickle_bytes part;
  char text[256];

  for (unsigned i = 1; i <= 40; i++) {
    (void)snprintf(text, sizeof text,
                   "} 94 ( 'address' #%u 'stream' #%u 'segment_pool_id' ] 94 ( #%u K 01 e 'blocks' "
                   "] ( } ( 'size' #1 'state' 'inactive' u e u",
                   i * 512, i, i);
    part = pickle_assemble(text);
    pickle_bytes_add(&pickle, part.bytes, part.size);
    pickle_bytes_free(&part);
  }
  part = pickle_assemble(
      "e 'x' ] ( ]*300 ] a (*70 t*70 8a 08 00*7 70 94 e 'y' G 00*8 94 'z' (*300 t*300 "
      "'device_traces' ] ( ]*20 ] ( ");
  pickle_bytes_add(&pickle, part.bytes, part.size);
  pickle_bytes_free(&part);
  for (unsigned i = 1; i <= 40; i++) {
    (void)snprintf(text, sizeof text,
                   "} 94 ( 'action' 'vendor %u' 'addr' G 00*8 94 'stream' 8a 08 %02x 00*6 70 94 u",
                   i, i);
    part = pickle_assemble(text);
    pickle_bytes_add(&pickle, part.bytes, part.size);
    pickle_bytes_free(&part);
  }
  part = pickle_assemble("e e 'allocator_settings' } ( 'PYTORCH_CUDA_ALLOC_CONF' 'a:b' u u .");
  pickle_bytes_add(&pickle, part.bytes, part.size);
  pickle_bytes_free(&part);
  return pickle;
}

/* Reads from memory and through a file while the k-th allocation fails, for every k. */
static void reading(void **state)
{
  struct pickle_bytes pickle = make_pickle();
  char path[SNAPSHOT_PATH_SIZE];
  FILE *file = NULL;

  (void)state;
  assert_true(make_temporary(path));
  file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(pickle.bytes, 1, pickle.size, file), pickle.size);
  assert_int_equal(fclose(file), 0);
  for (unsigned by_file = 0; by_file < 2; by_file++) {
    bool is_read = false;
    size_t k = 0;

    while (!is_read) {
      static const struct ashlar_snapshot EMPTY;
      struct ashlar_snapshot snapshot;
      struct ashlar_error error = {0};

      k++;
      assert_true(k < 1000);
      calls_left = k;
      is_read = by_file != 0
                    ? ashlar_snapshot_read_file(path, &snapshot, &error)
                    : ashlar_snapshot_read_memory(pickle.bytes, pickle.size, &snapshot, &error);
      if (is_read) {
        assert_true(calls_left > 0); /* else a failure went unnoticed */
        calls_left = 0;
        assert_true(ashlar_snapshot_is_valid(&snapshot));
        assert_int_equal(snapshot.segment_count, 40);
        assert_int_equal(snapshot.event_count, 40);
        ashlar_snapshot_free(&snapshot);
      } else {
        calls_left = 0;
        if (strstr(error.text, "out of memory") == NULL) {
          fail_msg("allocation %zu: at %zu: %s", k, (size_t)error.position, error.text);
        }
        assert_memory_equal(&snapshot, &EMPTY, sizeof EMPTY);
      }
    }
    print_message("%zu failed allocations\n", k - 1);
    assert_true(k > 40);
  }
  assert_int_equal(unlink(path), 0);
  pickle_bytes_free(&pickle);
}

static void writing(void **state)
{
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};

  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  calls_left = 1;
  assert_false(ashlar_snapshot_write_file("/dev/null", &snapshot, &error));
  calls_left = 0;
  assert_non_null(strstr(error.text, "out of memory"));
  ashlar_snapshot_free(&snapshot);
}

/* The functions that append leave the snapshot as it was. */
static void appending(void **state)
{
  struct ashlar_snapshot snapshot;
  const struct ashlar_segment segment = {.address = 512};
  const struct ashlar_block block = {.address = 512, .size = 512};
  const struct ashlar_event event = {.action = ASHLAR_ACTION_SNAPSHOT};
  uint16_t index = 7;

  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_true(ashlar_snapshot_add_segment(&snapshot, &segment));
  assert_true(ashlar_snapshot_add_trace(&snapshot));
  calls_left = 1;
  assert_false(ashlar_snapshot_add_block(&snapshot, &block));
  calls_left = 1;
  assert_false(ashlar_snapshot_add_event(&snapshot, 0, &event));
  calls_left = 1;
  assert_false(ashlar_snapshot_name(&snapshot, "x", 1, &index));
  calls_left = 1;
  assert_false(ashlar_snapshot_set_conf(&snapshot, "x", 1));
  calls_left = 0;
  assert_int_equal(index, 7);
  assert_int_equal(snapshot.block_count + snapshot.event_count, 0);
  assert_int_equal(snapshot.name_count, 1);
  assert_null(snapshot.settings.conf.bytes);
  assert_true(ashlar_snapshot_is_valid(&snapshot));
  assert_true(ashlar_snapshot_add_block(&snapshot, &block));
  assert_true(ashlar_snapshot_add_event(&snapshot, 0, &event));
  assert_true(ashlar_snapshot_is_valid(&snapshot));
  ashlar_snapshot_free(&snapshot);
}

/* The validity that the other tests rely on can say no, clause by clause. */
static void validity(void **state)
{
  struct ashlar_snapshot snapshot;
  const struct ashlar_segment segment = {.address = 512, .total_size = 512};
  const struct ashlar_block block = {.address = 512, .size = 512};
  const struct ashlar_event event = {.action = ASHLAR_ACTION_ALLOC,
                                     .flags = ASHLAR_EVENT_HAS_ADDRESS | ASHLAR_EVENT_HAS_SIZE};

  (void)state;
  assert_true(ashlar_snapshot_init(&snapshot));
  assert_true(ashlar_snapshot_add_segment(&snapshot, &segment));
  assert_true(ashlar_snapshot_add_block(&snapshot, &block));
  assert_true(ashlar_snapshot_add_trace(&snapshot));
  assert_true(ashlar_snapshot_add_event(&snapshot, 0, &event));
  assert_true(ashlar_snapshot_is_valid(&snapshot));

#define BREAKS(place, value)                                                                       \
  do {                                                                                             \
    const uint64_t old_value = (uint64_t)(place);                                                  \
    (place) = (value);                                                                             \
    assert_false(ashlar_snapshot_is_valid(&snapshot));                                             \
    memcpy(&(place), &old_value, sizeof(place));                                                   \
    assert_true(ashlar_snapshot_is_valid(&snapshot));                                              \
  } while (0)
  BREAKS(snapshot.segments[0].address, INT64_MAX);
  BREAKS(snapshot.segments[0].total_size, UINT64_MAX);
  BREAKS(snapshot.segments[0].requested_size, UINT64_MAX);
  BREAKS(snapshot.segments[0].first_block, 1);
  BREAKS(snapshot.segments[0].block_count, 0);
  BREAKS(snapshot.segments[0].block_count, 2);
  BREAKS(snapshot.segments[0].stream, 1);
  BREAKS(snapshot.segments[0].pool, 1);
  BREAKS(snapshot.segments[0].type, 3);
  BREAKS(snapshot.segments[0].flags, 512);
  BREAKS(snapshot.blocks[0].size, INT64_MAX);
  BREAKS(snapshot.blocks[0].state, 3);
  BREAKS(snapshot.traces[0].events[0].stream, 1);
  BREAKS(snapshot.traces[0].events[0].pool, 1);
  BREAKS(snapshot.traces[0].events[0].name, 1);
  BREAKS(snapshot.traces[0].events[0].action, ASHLAR_ACTION_COUNT);
  BREAKS(snapshot.traces[0].events[0].flags, ASHLAR_EVENT_HAS_SIZE);
  BREAKS(snapshot.traces[0].events[0].size, UINT64_MAX);
  BREAKS(snapshot.event_count, 2);
  BREAKS(snapshot.has_history, false);
  BREAKS(snapshot.has_traces, false);
#undef BREAKS
  ashlar_snapshot_free(&snapshot);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading),
      cmocka_unit_test(writing),
      cmocka_unit_test(appending),
      cmocka_unit_test(validity),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
