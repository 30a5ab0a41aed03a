/* malformed_history_test.c - histories with holes and contradictions, and very long ones: what the
 * audit says of them, and that it ends.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/manager.h"
#include "tests/malformed_support.h"
#include "tests/pickle_text.h"
#include "tests/snapshot_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- snapshots as text, in the notation of pickle_text.h --- */

#define SNAPSHOT(segments, events)                                                                 \
  "80 04 } ( 'segments' ] ( " segments " e 'device_traces' ] ( ] ( " events " e e u ."

/* Segments of 2 MiB at 2^40, of the small pool: free, and with one live block of 512 bytes. */
#define SEGMENT_OF(device, live, more, blocks)                                                     \
  "} ( 'device' #" device                                                                          \
  " 'address' #1099511627776 'total_size' #2097152 'allocated_size' #" live                        \
  " 'active_size' #" live                                                                          \
  " 'stream' #0 'segment_type' 'small' 'segment_pool_id' K 00 K 00 86 " more                       \
  "'blocks' ] ( " blocks " e u "
#define BLOCK(size, state) "} ( 'size' #" size " 'requested_size' #500 'state' '" state "' u "
#define FREE_SEGMENT SEGMENT_OF("0", "0", "", BLOCK("2097152", "inactive"))
#define LIVE_SEGMENT                                                                               \
  SEGMENT_OF("0", "512", "", BLOCK("512", "active_allocated") BLOCK("2096640", "inactive"))

#define EVENT(action, addr, size)                                                                  \
  "} ( 'action' '" action "' 'addr' #" addr " 'size' #" size " 'stream' #0 u "
#define FIRST "1099511627776"  /* where the segment and its first block begin */
#define SECOND "1099511628288" /* the next block */
#define FREED(addr, size) EVENT("free_requested", addr, size) EVENT("free_completed", addr, size)

struct history_case {
  const char *name;
  const char *pickle;
  int status;
  const char *said; /* a part of the report */
};

#define CLEAN "\"findings\": 0"
#define AGREES(count) "\"agree\": " count ",\n    \"differ\": 0,\n    \"undetermined\": 0"

static const struct history_case HISTORY_CASES[] = {
    /* Holes: what the recording does not tell is no fault of the allocator. */
    {"nothing recorded", SNAPSHOT(LIVE_SEGMENT, ""), 0, "\"history\": false"},
    {"one event, left over from a recording that never was",
     SNAPSHOT(LIVE_SEGMENT, EVENT("free_completed", FIRST, "500")), 0, "\"history\": false"},
    {"a live block that was never allocated",
     SNAPSHOT(LIVE_SEGMENT, EVENT("alloc", SECOND, "500") FREED(SECOND, "500")), 0, AGREES("1")},
    {"a free of a block from before the recording",
     SNAPSHOT(FREE_SEGMENT, FREED(FIRST, "500") EVENT("alloc", FIRST, "500") FREED(FIRST, "500")),
     0, AGREES("1")},
    {"only the second half of a free",
     SNAPSHOT(FREE_SEGMENT, EVENT("free_completed", FIRST, "500") EVENT("alloc", FIRST, "500")
                                FREED(FIRST, "500")),
     0, AGREES("1")},
    {"a free that is still pending",
     SNAPSHOT(SEGMENT_OF("0", "0", "'active_size' #512 ",
                         BLOCK("512", "active_pending_free") BLOCK("2096640", "inactive")),
              EVENT("alloc", FIRST, "500") EVENT("free_requested", FIRST, "500")),
     0, AGREES("1")},
    {"one entry was kept", SNAPSHOT(LIVE_SEGMENT, EVENT("alloc", FIRST, "500")), 0, CLEAN},
    {"unknown actions, and markers",
     SNAPSHOT(
         LIVE_SEGMENT,
         "} ( 'action' 'workspace_snapshot' u } ( 'action' 'user_defined' 'name' 'step' u " EVENT(
             "snapshot", "0", "0")
             EVENT("alloc", FIRST, "500") "} ( 'action' 'workspace_snapshot' 'addr' 'x' u "),
     0, AGREES("1")},
    {"oom with no address",
     SNAPSHOT(LIVE_SEGMENT,
              "} ( 'action' 'oom' 'size' #9223372036854775807 u " EVENT("alloc", FIRST, "500")),
     0, "\"allocations\": 1"},
    {"unmapped before it was mapped",
     SNAPSHOT(FREE_SEGMENT,
              EVENT("segment_unmap", FIRST, "2097152") EVENT("segment_map", FIRST, "2097152")),
     1, "\"rule\": \"REQ-TILE\""},
    {"unmapped, and not there at the end",
     SNAPSHOT(FREE_SEGMENT, EVENT("segment_unmap", "2199023255552", "2097152")
                                EVENT("segment_unmap", "2199023255552", "2097152")),
     1, "\"rule\": \"REQ-TILE\""},
    {"the same address on two devices",
     SNAPSHOT(FREE_SEGMENT SEGMENT_OF("1", "0", "", BLOCK("2097152", "inactive")), ""), 0, CLEAN},
    {"device -1", SNAPSHOT(SEGMENT_OF("-1", "0", "", BLOCK("2097152", "inactive")), ""), 0,
     "\"device\": -1"},
    {"device 300", SNAPSHOT(SEGMENT_OF("300", "0", "", BLOCK("2097152", "inactive")), ""), 0,
     "\"device\": 300"},

    /* Contradictions. */
    {"allocated over a live block",
     SNAPSHOT(LIVE_SEGMENT, EVENT("alloc", FIRST, "500") EVENT("alloc", FIRST, "500")), 1,
     "REQ-DISJOINT"},
    {"freed twice",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", FIRST, "500") FREED(FIRST, "500") FREED(FIRST, "500")),
     1, "REQ-FREE"},
    {"freed in no segment",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", FIRST, "500") FREED(FIRST, "500") FREED("4096", "500")),
     1, "REQ-FREE"},
    {"freed inside a block",
     SNAPSHOT(LIVE_SEGMENT, EVENT("alloc", FIRST, "500") FREED("1099511627784", "500")), 1,
     "REQ-FREE"},
    {"allocated in no segment",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", "4096", "500") FREED("4096", "500")), 1, "REQ-DISJOINT"},
    {"allocated beyond the end of its segment",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", "1099513724416", "1024") FREED("1099513724416", "1024")),
     1, "REQ-DISJOINT"},
    {"allocated at an odd address",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", "1099511627777", "500") FREED("1099511627777", "500")),
     1, "REQ-SIZE"},
    {"an allocation of 0 bytes",
     SNAPSHOT(FREE_SEGMENT, EVENT("alloc", FIRST, "0") FREED(FIRST, "0")), 1, "REQ-SIZE"},
    {"an allocation of 2^62 bytes",
     SNAPSHOT(FREE_SEGMENT,
              EVENT("alloc", FIRST, "4611686018427387904") FREED(FIRST, "4611686018427387904")),
     1, "REQ-SIZE"},
    {"sums that do not add up",
     SNAPSHOT(SEGMENT_OF("0", "512", "", BLOCK("2097152", "inactive")), ""), 1, "REQ-ACCOUNT"},
    {"blocks that do not add up", SNAPSHOT(SEGMENT_OF("0", "0", "", BLOCK("1024", "inactive")), ""),
     1, "REQ-TILE"},
    {"one segment twice", SNAPSHOT(FREE_SEGMENT FREE_SEGMENT, ""), 1, "REQ-DISJOINT"},
    {"a segment freed that is in use",
     SNAPSHOT("", EVENT("segment_alloc", FIRST, "2097152") EVENT("alloc", FIRST, "500")
                      EVENT("segment_free", FIRST, "2097152")),
     1, "\"rule\""},
    {"a segment freed twice",
     SNAPSHOT("", EVENT("segment_free", FIRST, "2097152") EVENT("segment_free", FIRST, "2097152")),
     1, "\"rule\""},
};

static void histories(void **state)
{
  struct malformed_tool tool;
  size_t wrong = 0;
  (void)state;
  malformed_open(&tool);
  for (size_t i = 0; i < COUNT(HISTORY_CASES); i++) {
    const struct history_case *row = &HISTORY_CASES[i];
    struct pickle_bytes pickle = pickle_assemble(row->pickle);
    int status;
    malformed_write(&tool, pickle.bytes, pickle.size);
    (void)malformed_audit(&tool, row->name, pickle.size, false);
    status = malformed_audit(&tool, row->name, pickle.size, true);
    if (status != row->status || strstr(tool.said, row->said) == NULL) {
      print_error("%s: status %d: %s%s\n", row->name, status, tool.complained, tool.said);
      wrong++;
    }
    pickle_bytes_free(&pickle);
  }
  print_message("%zu histories\n", COUNT(HISTORY_CASES));
  malformed_close(&tool);
  assert_int_equal(wrong, 0);
}

/* --- long ones --- */

/* A file that is written piece by piece. */
struct writing {
  struct malformed_tool tool;
  size_t size;
};

static void add_bytes(struct writing *work, const void *bytes, size_t size)
{
  malformed_patch(&work->tool, work->size, bytes, size);
  work->size += size;
}

static void add(struct writing *work, const char *text)
{
  struct pickle_bytes pickle = pickle_assemble(text);
  add_bytes(work, pickle.bytes, pickle.size);
  pickle_bytes_free(&pickle);
}

/* The same text `count` times, in which the integer behind "J" is `first`, then more by `step`. */
static void add_many(struct writing *work, const char *text, size_t count, uint32_t first,
                     uint32_t step)
{
  enum { PIECES = 4096 };
  struct pickle_bytes one = pickle_assemble(text);
  struct pickle_bytes many = {0};
  const uint8_t *opcode = memchr(one.bytes, 'J', one.size);
  const size_t at = opcode == NULL ? 0 : (size_t)(opcode - one.bytes) + 1;
  uint32_t number = first;
  for (size_t i = 1; i <= count; i++) {
    for (size_t k = 0; at != 0 && k < sizeof number; k++) {
      one.bytes[at + k] = (uint8_t)(number >> (8 * k));
    }
    number += step;
    pickle_bytes_add(&many, one.bytes, one.size);
    if (i % PIECES == 0 || i == count) {
      add_bytes(work, many.bytes, many.size);
      many.size = 0;
    }
  }
  pickle_bytes_free(&many);
  pickle_bytes_free(&one);
}

static void begin(struct writing *work)
{
  work->size = 0;
  malformed_open(&work->tool);
  /* Memo: 0 'action', 1 'addr', 2 'size', 3 'alloc', 4 'free_completed', 5 'segment_free',
     6 'stream'. */
  add(work, "80 04 } ( 'x' ] ( 'action' 94 'addr' 94 'size' 94 'alloc' 94 'free_completed' 94 "
            "'segment_free' 94 'stream' 94 e 'segments' ] ( ");
}

static void begin_events(struct writing *work)
{
  add(work, "e 'device_traces' ] ( ] (");
}

/* Audits the file and wants this status and this text in the report. */
static void end(struct writing *work, const char *name, int status, const char *said)
{
  add(work, "e e u .");
  if (malformed_audit(&work->tool, name, work->size, true) != status ||
      strstr(work->tool.said, said) == NULL) {
    fail_msg("%s, not status %d and %s: %s%.2000s", name, status, said, work->tool.complained,
             work->tool.said);
  }
  malformed_close(&work->tool);
}

enum { MILLION = 1000000 };

static void one_address_a_million_times(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  add(&work, FREE_SEGMENT);
  begin_events(&work);
  add_many(&work,
           "} ( h 00 h 03 h 01 #" FIRST " h 02 #500 u } ( h 00 h 04 h 01 #" FIRST " h 02 #500 u",
           MILLION, 0, 0);
  end(&work, "one address a million times", 0, AGREES("1000000"));
}

static void a_million_lost_frees(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  add(&work, LIVE_SEGMENT);
  begin_events(&work);
  add_many(&work, "} ( h 00 h 03 h 01 #" FIRST " h 02 #500 u", MILLION, 0, 0);
  end(&work, "a million lost frees", 1, "\"differ\": 999999");
}

static void a_million_unknown_frees(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  begin_events(&work);
  add_many(&work, "} ( h 00 h 04 h 01 J 00*4 h 02 #500 u", MILLION, 512, 512);
  end(&work, "a million unknown frees", 1, "\"findings\": 1000000");
}

/* The first one was there last: the worst order for the array that keeps them sorted. */
static void many_segments_freed(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  begin_events(&work);
  add_many(&work, "} ( h 00 h 05 h 01 J 00*4 h 02 #2097152 u", 1000, 0, 2097152);
  end(&work, "many segments freed", 0, "\"releases\": 1000");
}

/* A manager has room for ASHLAR_SLOTS blocks. */
static void more_blocks_than_slots(void **state)
{
  char text[64];
  struct writing work;
  (void)state;
  begin(&work);
  (void)snprintf(text, sizeof text, "} ( 'address' #%u 'total_size' #%zu ", 1U << 30,
                 ((size_t)ASHLAR_SLOTS + 2) * 512);
  add(&work, text);
  add(&work, "'segment_type' 'small' 'blocks' ] (");
  add_many(&work, BLOCK("512", "active_allocated"), ASHLAR_SLOTS + 1, 0, 0);
  add(&work, BLOCK("512", "inactive") "e u");
  begin_events(&work);
  (void)snprintf(text, sizeof text, "} ( h 00 h 03 h 01 #%zu h 02 #1 u",
                 ((size_t)1 << 30) + ((size_t)ASHLAR_SLOTS) * 512);
  add(&work, text);
  end(&work, "more blocks than slots", 1, "more blocks than a manager holds");
}

static void more_streams_than_a_manager_has(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  add_many(&work,
           "} ( 'address' #0 'stream' J 00*4 'total_size' #2097152 'segment_type' 'small' "
           "'blocks' ] ( " BLOCK("2097152", "inactive") "e u",
           1, 1, 0);
  begin_events(&work);
  add_many(&work, "} ( h 00 h 03 h 01 #0 h 02 #1 h 06 J 00*4 u", ASHLAR_STREAMS + 1, 1, 1);
  end(&work, "more streams than a manager has", 1, "more streams than a manager holds");
}

/* Each device has a manager of its own, but not all of them at a time. */
static void four_thousand_devices(void **state)
{
  struct writing work;
  (void)state;
  begin(&work);
  add_many(&work,
           "} ( 'address' #" FIRST " 'device' J 00*4 'total_size' #2097152 'segment_type' 'small' "
           "'blocks' ] ( " BLOCK("2097152", "inactive") "e u",
           4096, 0, 1);
  add(&work, "e 'device_traces' ] (");
  add_many(&work,
           "] ( } ( h 00 h 03 h 01 #" FIRST " h 02 #500 u } ( h 00 h 04 h 01 #" FIRST
           " h 02 #500 u e",
           4095, 0, 0);
  add(&work, "] (");
  end(&work, "four thousand devices", 0, AGREES("4095"));
}

static void memory(void **state)
{
  (void)state;
  assert_true(malformed_memory_is_bounded());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(histories),
      cmocka_unit_test(one_address_a_million_times),
      cmocka_unit_test(a_million_lost_frees),
      cmocka_unit_test(a_million_unknown_frees),
      cmocka_unit_test(many_segments_freed),
      cmocka_unit_test(more_blocks_than_slots),
      cmocka_unit_test(more_streams_than_a_manager_has),
      cmocka_unit_test(four_thousand_devices),
      cmocka_unit_test(memory), /* of all of the above */
  };
  if (!limit_memory()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
