/* snapshot_reader_test.c - nasty snapshots: what is refused, where and why; what is accepted, and
 * what it reads as.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/pickle_text.h"
#include "tests/snapshot_cases.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Opcodes that must be refused wherever they stand, with an argument where one would follow. */
static const struct {
  const char *name;
  const char *bytes;
} REFUSED_OPCODES[] = {
    {"GLOBAL", "c o s 0a s y s t e m 0a"},
    {"STACK_GLOBAL", "'os' 'system' @ 93"},
    {"INST", "i o s 0a s y s t e m 0a"},
    {"OBJ", "o"},
    {"REDUCE", "N ) @ R"},
    {"BUILD", "N N @ b"},
    {"NEWOBJ", "N ) @ 81"},
    {"NEWOBJ_EX", "N ) } @ 92"},
    {"EXT1", "82 01"},
    {"EXT2", "83 01 00"},
    {"EXT4", "84 01 00*3"},
    {"PERSID", "P 1 0a"},
    {"BINPERSID", "N @ Q"},
    {"NEXT_BUFFER", "97"},
    {"READONLY_BUFFER", "N @ 98"},
    {"INT", "I 1 0a"},
    {"LONG", "L 1 L 0a"},
    {"FLOAT", "F 1 0a"},
    {"STRING", "S 27 a 27 0a"},
    {"UNICODE", "V a 0a"},
    {"GET", "g 0 0a"},
    {"PUT", "N @ p 0 0a"},
};

/* Places in which they are tried: `%s` is where the bytes go. */
static const char *const PLACES[] = {
    P "%s .",
    P "} ( 'segments' %s u .",
    P "} ( 'segments' ] ( } ( 'address' %s u e u .",
    P "} ( 'segments' ] ( } ( %s N u e u .",
    P "} ( 'segments' ] 'device_traces' ] ( ] ( } ( 'action' %s u e e u .",
    P "} ( 'segments' ] 'device_traces' ] ( ] ( } ( 'frames' ] ( } ( 'x' %s u e u e e u .",
    P "} ( 'segments' ] 'x' ( %s t u .",
};

/* Reads a copy on the heap of exactly the size, so that the sanitizer sees a read beyond it. */
static bool read_exact(const struct pickle_bytes *pickle, struct ashlar_snapshot *snapshot,
                       struct ashlar_error *error)
{
  uint8_t *copy = malloc(pickle->size == 0 ? 1 : pickle->size);
  bool is_read = false;

  assert_non_null(copy);
  if (pickle->size > 0) {
    memcpy(copy, pickle->bytes, pickle->size);
  }
  memset(snapshot, 0x5a, sizeof *snapshot); /* the reader must not look at it */
  is_read = ashlar_snapshot_read_memory(copy, pickle->size, snapshot, error);
  free(copy);
  return is_read;
}

static void assert_empty(const struct ashlar_snapshot *snapshot)
{
  static const struct ashlar_snapshot EMPTY;

  assert_memory_equal(snapshot, &EMPTY, sizeof EMPTY);
}

/* Whether the pickle is refused as the row says; if not, prints how it is. */
static bool is_refused(const char *name, const char *text, const char *message)
{
  struct pickle_bytes pickle = pickle_assemble(text);
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  bool is_good = !read_exact(&pickle, &snapshot, &error);

  if (is_good) {
    assert_empty(&snapshot);
    is_good = strstr(error.text, message) != NULL && strchr(error.text, '\n') == NULL &&
              (pickle.marked == SIZE_MAX || pickle.marked == error.position);
  } else {
    ashlar_snapshot_free(&snapshot);
    (void)snprintf(error.text, sizeof error.text, "(accepted)");
  }
  if (!is_good) {
    print_error("%s: at %zu: \"%s\"; expected at %zd: \"%s\"\n", name, (size_t)error.position,
                error.text, (ssize_t)pickle.marked, message);
  }
  pickle_bytes_free(&pickle);
  return is_good;
}

static void read_good(const char *name, const char *text, struct ashlar_snapshot *snapshot)
{
  struct pickle_bytes pickle = pickle_assemble(text);
  struct ashlar_error error = {0};

  if (!read_exact(&pickle, snapshot, &error)) {
    fail_msg("%s: refused at %zu: %s", name, (size_t)error.position, error.text);
  }
  pickle_bytes_free(&pickle);
}

static void refused(void **state)
{
  size_t wrong = 0;

  (void)state;
  for (size_t i = 0; i < COUNT(REFUSED_CASES); i++) {
    const struct refused_case *row = &REFUSED_CASES[i];

    wrong += is_refused(row->name, row->pickle, row->message) ? 0 : 1;
  }
  print_message("%zu refused snapshots\n", COUNT(REFUSED_CASES));
  assert_int_equal(wrong, 0);
}

static void accepted(void **state)
{
  (void)state;
  for (size_t i = 0; i < COUNT(ACCEPTED_CASES); i++) {
    struct ashlar_snapshot snapshot;

    read_good(ACCEPTED_CASES[i].name, ACCEPTED_CASES[i].pickle, &snapshot);
    ashlar_snapshot_free(&snapshot);
    assert_empty(&snapshot);
  }
  print_message("%zu accepted snapshots\n", COUNT(ACCEPTED_CASES));
}

static void refused_opcodes(void **state)
{
  char text[512];
  char message[64];
  size_t wrong = 0;

  (void)state;
  for (size_t i = 0; i < COUNT(REFUSED_OPCODES); i++) {
    for (size_t k = 0; k < COUNT(PLACES); k++) {
      const bool has_mark = strchr(REFUSED_OPCODES[i].bytes, '@') != NULL;
      char bytes[128];

      (void)snprintf(bytes, sizeof bytes, "%s%s", has_mark ? "" : "@ ", REFUSED_OPCODES[i].bytes);
      (void)snprintf(text, sizeof text, PLACES[k], bytes);
      (void)snprintf(message, sizeof message, "opcode %s (0x", REFUSED_OPCODES[i].name);
      wrong += is_refused(text, text, message) ? 0 : 1;
    }
  }
  print_message("%zu refused opcodes in %zu places\n", COUNT(REFUSED_OPCODES), COUNT(PLACES));
  assert_int_equal(wrong, 0);
}

/* Every byte that is no opcode at all. */
static void unknown_opcodes(void **state)
{
  size_t count = 0;

  (void)state;
  for (unsigned byte = 0; byte < 256; byte++) {
    uint8_t bytes[] = {0x80, 0x04, (uint8_t)byte, '.'};
    const struct pickle_bytes pickle = {.bytes = bytes, .size = sizeof bytes};
    struct ashlar_snapshot snapshot;
    struct ashlar_error error = {0};

    if (!read_exact(&pickle, &snapshot, &error) && strstr(error.text, "is not a pickle opcode")) {
      count++;
      assert_int_equal(error.position, 2);
    }
    ashlar_snapshot_free(&snapshot);
  }
  /* 256 less the 68 opcodes of protocols 0 to 5. */
  assert_int_equal(count, 256 - 68);
}

static const char EVERYTHING[] =
    P "95 10 00*7 } 94 ( 'segments' 94 ] 94 ( } 94 ( 'device' 94 #0 'address' 94 #140000000000000 "
      "'total_size' 94 #2097152 'allocated_size' #1024 'active_size' #1536 'requested_size' #1000 "
      "'stream' 94 #94000000000001 'segment_type' 94 'small' 94 'segment_pool_id' 94 K 00 K 01 86 "
      "94 'is_expandable' 94 89 'frames' 94 ] 94 ( } ( 'name' 94 'main' 94 'line' #12 'filename' "
      "'a.py' u e 'blocks' ] 94 ( } 94 ( h 05 #140000000000000 'size' 94 #1024 'requested_size' "
      "#1000 'state' 94 'active_allocated' 94 u } ( h 05 #140000000001024 'size' #512 'state' "
      "'active_pending_free' u } ( 'size' #2095616 'state' 'inactive' u e u } ( 'address' #0 "
      "'total_size' #512 'stream' #-1 'device' #-1 'segment_pool_id' ] 94 ( K 00 K 01 e "
      "'segment_type' 'large' 'is_expandable' 88 u e 'device_traces' ] ( ] ( } ( 'action' 'alloc' "
      "'addr' #140000000000000 'size' #1000 'stream' " UINT64_MAX_AS_LONG
      " 'time_us' #1700000000000000 'compile_context' 'N/A' 'user_metadata' '' 'pool_id' K 00 K 01 "
      "86 94 'frames' ] ( h 00 h 01 e u } ( 'action' 'oom' 'device_free' #77 "
      "'size' " UINT64_MAX_AS_LONG
      " 'stream' #0 u } ( 'action' 'workspace_snapshot' 'addr' #1 u } ( 'action' "
      "'workspace_snapshot' u } ( 'action' 'snapshot' 'addr' #0 'size' #5 u } ( "
      "'action' 'address' u e ] e 'allocator_settings' } ( "
      "'PYTORCH_CUDA_ALLOC_CONF' 'max_split_size_mb:64' 'max_split_size' #67108864 "
      "'garbage_collection_threshold' G 3f e0 00*6 'expandable_segments' 88 "
      "'pinned_num_register_threads' #8 'release_lock_on_cudamalloc' 88 "
      "'pinned_use_cuda_host_register' 89 'graph_capture_record_stream_reuse' 88 "
      "'roundup_power2_divisions' } ( '1' #0 '256' #4 '32768' #8 'x' #1 u u "
      "'external_annotations' ] u .";

static void check_segments(const struct ashlar_snapshot *snapshot)
{
  const struct ashlar_segment *one = &snapshot->segments[0];
  const struct ashlar_segment *two = &snapshot->segments[1];

  assert_int_equal(snapshot->segment_count, 2);
  assert_int_equal(one->address, 140000000000000);
  assert_int_equal(one->total_size, 2097152);
  assert_int_equal(one->allocated_size, 1024);
  assert_int_equal(one->active_size, 1536);
  assert_int_equal(one->requested_size, 1000);
  assert_int_equal(one->device, 0);
  assert_int_equal(one->type, ASHLAR_SEGMENT_SMALL);
  assert_false(one->is_expandable);
  assert_int_equal(one->flags, 511);
  assert_int_equal(one->first_block, 0);
  assert_int_equal(one->block_count, 3);
  assert_int_equal(snapshot->streams[one->stream].handle, 94000000000001);
  assert_false(snapshot->streams[one->stream].is_negative);
  assert_int_equal(snapshot->pools[one->pool].first, 0);
  assert_int_equal(snapshot->pools[one->pool].second, 1);
  assert_int_equal(two->device, -1);
  assert_int_equal(two->block_count, 0);
  assert_int_equal(two->first_block, 3);
  assert_int_equal(two->pool, one->pool); /* a list is as good as a tuple */
  assert_int_equal(two->type, ASHLAR_SEGMENT_LARGE);
  assert_true(two->is_expandable);
  assert_true(snapshot->streams[two->stream].is_negative);
  assert_int_equal(snapshot->streams[two->stream].handle, UINT64_MAX);
  assert_int_equal(two->flags & (ASHLAR_SEGMENT_HAS_BLOCKS | ASHLAR_SEGMENT_HAS_ALLOCATED), 0);
}

static void check_blocks(const struct ashlar_snapshot *snapshot)
{
  const struct ashlar_block *blocks = snapshot->blocks;

  assert_int_equal(snapshot->block_count, 3);
  assert_int_equal(blocks[0].address, 140000000000000);
  assert_int_equal(blocks[0].size, 1024);
  assert_int_equal(blocks[0].requested_size, 1000);
  assert_int_equal(blocks[0].state, ASHLAR_BLOCK_ALLOCATED);
  assert_int_equal(blocks[0].flags, ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED);
  assert_int_equal(blocks[1].state, ASHLAR_BLOCK_PENDING_FREE);
  assert_int_equal(blocks[1].flags, ASHLAR_BLOCK_HAS_ADDRESS);
  assert_int_equal(blocks[2].state, ASHLAR_BLOCK_INACTIVE);
  assert_int_equal(blocks[2].flags, 0);
  assert_int_equal(blocks[2].address, 140000000001536); /* where the one before it ends */
}

static void check_events(const struct ashlar_snapshot *snapshot)
{
  const struct ashlar_event *events = snapshot->traces[0].events;

  assert_int_equal(snapshot->trace_count, 2);
  assert_int_equal(snapshot->traces[0].event_count, 6);
  assert_int_equal(snapshot->traces[1].event_count, 0);
  assert_int_equal(snapshot->event_count, 6);
  assert_int_equal(events[0].action, ASHLAR_ACTION_ALLOC);
  assert_int_equal(events[0].address, 140000000000000);
  assert_int_equal(events[0].size, 1000);
  assert_int_equal(events[0].time_us, 1700000000000000);
  assert_int_equal(events[0].pool, snapshot->segments[0].pool);
  /* 2^64 - 1 and -1 are two streams, as they are in the file. */
  assert_int_equal(snapshot->streams[events[0].stream].handle, UINT64_MAX);
  assert_false(snapshot->streams[events[0].stream].is_negative);
  assert_int_equal(events[1].action, ASHLAR_ACTION_OOM);
  assert_int_equal(events[1].address, 77);
  assert_int_equal(events[1].size, UINT64_MAX);
  assert_int_equal(events[1].flags,
                   ASHLAR_EVENT_HAS_DEVICE_FREE | ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM);
  assert_int_equal(events[2].action, ASHLAR_ACTION_OTHER);
  assert_string_equal(snapshot->names[events[2].name].bytes, "workspace_snapshot");
  assert_int_equal(events[2].address, 1);
  assert_int_equal(events[3].name, events[2].name);
  assert_int_equal(events[4].action, ASHLAR_ACTION_SNAPSHOT);
  assert_int_equal(events[5].action, ASHLAR_ACTION_OTHER);
  assert_string_equal(snapshot->names[events[5].name].bytes, "address");
}

static void check_settings(const struct ashlar_settings *settings)
{
  assert_true(settings->is_present);
  assert_int_equal(settings->flags, 511);
  assert_string_equal(settings->conf.bytes, "max_split_size_mb:64");
  assert_int_equal(settings->conf.length, strlen("max_split_size_mb:64"));
  assert_int_equal(settings->max_split_size, 67108864);
  assert_true(settings->garbage_collection_threshold == 0.5);
  assert_true(settings->expandable_segments);
  assert_true(settings->release_lock_on_cudamalloc);
  assert_false(settings->pinned_use_cuda_host_register);
  assert_true(settings->graph_capture_record_stream_reuse);
  assert_int_equal(settings->pinned_num_register_threads, 8);
  assert_int_equal(settings->divisions_present, 1U | (1U << 8) | (1U << 15));
  assert_int_equal(settings->divisions[8], 4);
  assert_int_equal(settings->divisions[15], 8);
}

static void everything(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("everything", EVERYTHING, &snapshot);
  assert_int_equal(snapshot.protocol, 4);
  assert_int_equal(snapshot.format, ASHLAR_FORMAT_DICT);
  assert_true(snapshot.has_traces && snapshot.has_history && snapshot.has_annotations);
  check_segments(&snapshot);
  check_blocks(&snapshot);
  check_events(&snapshot);
  check_settings(&snapshot.settings);
  ashlar_snapshot_free(&snapshot);
}

/* Every place at which that snapshot can be cut is refused, as cut short or otherwise. */
static void every_truncation(void **state)
{
  struct pickle_bytes pickle = pickle_assemble(EVERYTHING);

  (void)state;
  for (size_t size = 0; size < pickle.size; size++) {
    const struct pickle_bytes cut = {.bytes = pickle.bytes, .size = size};
    struct ashlar_snapshot snapshot;
    struct ashlar_error error = {0};

    assert_false(read_exact(&cut, &snapshot, &error));
    assert_true(error.position <= size);
    assert_empty(&snapshot);
  }
  print_message("%zu truncations\n", pickle.size);
  pickle_bytes_free(&pickle);
}

/* The form of 2022: a list of segments whose blocks have no address. */
static void list_form(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("list form",
            "80 03 ] q 00 ( } q 01 ( 'device' #0 'address' #1048576 'total_size' #4096 'stream' #0 "
            "'segment_type' 'small' 'blocks' ] q 02 ( } ( 'size' #512 'state' 'active_allocated' "
            "'history' ] ( } ( 'addr' #1048576 'real_size' #500 u e u } ( 'size' #1024 'state' "
            "'active_pending_free' u } ( 'size' #2560 'state' 'inactive' u e u e .",
            &snapshot);
  assert_int_equal(snapshot.format, ASHLAR_FORMAT_LIST);
  assert_int_equal(snapshot.protocol, 3);
  assert_false(snapshot.has_traces || snapshot.has_history || snapshot.settings.is_present);
  assert_int_equal(snapshot.segment_count, 1);
  assert_int_equal(snapshot.block_count, 3);
  assert_int_equal(snapshot.blocks[0].address, 1048576);
  assert_int_equal(snapshot.blocks[1].address, 1048576 + 512);
  assert_int_equal(snapshot.blocks[2].address, 1048576 + 1536);
  assert_int_equal(snapshot.blocks[2].flags, 0);
  ashlar_snapshot_free(&snapshot);
}

/* Blocks come before the address of their segment; there is no total. */
static void late_address(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("late address", SEGMENT("'blocks' ] ( " A_BLOCK " " A_BLOCK " e 'address' #1048576"),
            &snapshot);
  assert_int_equal(snapshot.blocks[1].address, 1048576 + 512);
  assert_int_equal(snapshot.segments[0].total_size, 1024);
  assert_int_equal(snapshot.segments[0].flags, ASHLAR_SEGMENT_HAS_BLOCKS);
  ashlar_snapshot_free(&snapshot);
}

static void odd_numbers(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("odd numbers",
            SEGMENTS("} ( 'address' 8a 00 'total_size' 88 'device' #300 'is_expandable' K 01 u "
                     "} ( 'address' 8a 10 00*2 10 00*13 'total_size' 8a ff 00*255 'device' #-2 u "
                     "} ( 'address' 8b 01 00*3 7f 'device' #-2147483648 'stream' "
                     "#-9223372036854775808 u"),
            &snapshot);
  assert_int_equal(snapshot.segments[0].address, 0);    /* a LONG1 of no bytes */
  assert_int_equal(snapshot.segments[0].total_size, 1); /* True */
  assert_int_equal(snapshot.segments[0].device, 300);
  assert_true(snapshot.segments[0].is_expandable);
  assert_int_equal(snapshot.segments[1].address, 1 << 20); /* 16 bytes, most of them 0 */
  assert_int_equal(snapshot.segments[1].total_size, 0);    /* 255 bytes of 0 */
  assert_int_equal(snapshot.segments[1].device, -2);
  assert_int_equal(snapshot.segments[2].address, 127);
  assert_int_equal(snapshot.segments[2].device, INT32_MIN);
  assert_int_equal(snapshot.streams[snapshot.segments[2].stream].handle, UINT64_C(1) << 63);
  assert_true(snapshot.streams[snapshot.segments[2].stream].is_negative);
  ashlar_snapshot_free(&snapshot);
}

/* Where a value stands a second time through the memo. */
static void through_the_memo(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("through the memo",
            P "} ( 'a' 'alloc' q 00 'b' K 07 q 01 'c' 8a 08 00*7 40 q 02 'd' #-3 q 03 'e' ] ( "
              "'bespoke' q 04 K 03 K 05 86 q 05 ( K 04 K 06 t q 06 e 'segments' ] 'device_traces' "
              "] ( ] ( } ( 'action' h 00 'addr' h 02 'size' h 01 'stream' h 03 'pool_id' h 05 u "
              "} ( 'action' h 04 'pool_id' ] q 07 ( K 08 K 09 e u } ( 'action' h 04 'pool_id' h 07 "
              "u } ( 'action' 'oom' 'pool_id' 8a 05 00*4 10 8a 05 00*4 20 86 q 08 u } ( 'action' "
              "'oom' 'pool_id' h 08 u } ( 'action' 'oom' 'pool_id' h 06 u e e u .",
            &snapshot);
  const struct ashlar_event *events = snapshot.traces[0].events;
  assert_int_equal(events[0].action, ASHLAR_ACTION_ALLOC);
  assert_int_equal(events[0].address, UINT64_C(1) << 62);
  assert_int_equal(events[0].size, 7);
  assert_int_equal(snapshot.streams[events[0].stream].handle, (uint64_t)-3);
  assert_int_equal(snapshot.pools[events[0].pool].first, 3);
  assert_int_equal(snapshot.pools[events[0].pool].second, 5);
  assert_string_equal(snapshot.names[events[1].name].bytes, "bespoke");
  assert_int_equal(snapshot.pools[events[1].pool].second, 9);
  assert_int_equal(events[2].name, events[1].name);
  assert_int_equal(events[2].pool, events[1].pool);
  assert_int_equal(snapshot.pools[events[3].pool].first, UINT64_C(1) << 36);
  assert_int_equal(events[4].pool, events[3].pool);
  assert_int_equal(snapshot.pools[events[5].pool].second, 6);
  ashlar_snapshot_free(&snapshot);
}

static void settings_values(void **state)
{
  struct ashlar_snapshot snapshot;

  (void)state;
  read_good("unlimited as -1, empty string",
            SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' '' 'max_split_size' #-1"), &snapshot);
  assert_int_equal(snapshot.settings.max_split_size, -1);
  assert_non_null(snapshot.settings.conf.bytes); /* empty is not the same as absent */
  assert_int_equal(snapshot.settings.conf.length, 0);
  ashlar_snapshot_free(&snapshot);
  read_good("unlimited as 2^64 - 1, a word as string",
            SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' 'alloc' 'max_split_size' " UINT64_MAX_AS_LONG
                     " 'garbage_collection_threshold' K 01"),
            &snapshot);
  assert_int_equal(snapshot.settings.max_split_size, -1);
  assert_string_equal(snapshot.settings.conf.bytes, "alloc");
  assert_true(snapshot.settings.garbage_collection_threshold == 1.0);
  ashlar_snapshot_free(&snapshot);
  read_good("string met before, in skipped data",
            TOP("'x' ] ( 'a:b,c:[d]' 94 e 'allocator_settings' } 'PYTORCH_CUDA_ALLOC_CONF' h 00 s"),
            &snapshot);
  assert_string_equal(snapshot.settings.conf.bytes, "a:b,c:[d]");
  assert_int_equal(snapshot.settings.flags, ASHLAR_SETTINGS_HAS_CONF);
  ashlar_snapshot_free(&snapshot);
  read_good("65535 bytes", SETTINGS("'PYTORCH_CUDA_ALLOC_CONF' X ff ff 00 00 61*65535"), &snapshot);
  assert_int_equal(snapshot.settings.conf.length, 65535);
  assert_int_equal(strlen(snapshot.settings.conf.bytes), 65535);
  ashlar_snapshot_free(&snapshot);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refused),         cmocka_unit_test(accepted),
      cmocka_unit_test(refused_opcodes), cmocka_unit_test(unknown_opcodes),
      cmocka_unit_test(everything),      cmocka_unit_test(every_truncation),
      cmocka_unit_test(list_form),       cmocka_unit_test(late_address),
      cmocka_unit_test(odd_numbers),     cmocka_unit_test(through_the_memo),
      cmocka_unit_test(settings_values),
  };

  if (!limit_memory()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
