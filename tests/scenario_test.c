/* scenario_test.c - faults that were reported of other allocators, played here. Rows have the numbers of the collection
 * that they come from; those that need pending work, growable segments, private pools, threads or the command line are
 * not here yet.
 *
 * Where a report and the requirements disagree, the requirements decide, and the row says so.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/manager_support.h"
#include "tests/scenario_script.h"
#include "tests/storage.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */

enum { TITLE = 96 };

static struct fixture *fixture; /* of the row that runs */

/* --- rows that need more than a script --- */

/* Segments that touch are filled, and their blocks freed in random order: two free segments, both released.
   Covers REQ-TILE-blocks, REQ-COALESCE-blocks. */
static void segments_that_touch(struct fixture *f)
{
  uint64_t seed = 19;
  for (int round = 0; round < 20; round++) {
    struct ashlar_step made[10];
    fixture_restart(f, ashlar_default_config(), 1, UINT64_MAX);
    for (int i = 0; i < 10; i++) {
      made[i] = must_allocate(f, 4 * MIB, 0);
      assert_int_equal(made[i].address, made[0].address + (uint64_t)i * 4 * MIB);
    }
    assert_int_equal(f->device.allocations, 2);
    for (int i = 10; i > 0; i--) {
      const uint64_t k = ashlar_random_below(&seed, (uint64_t)i);
      must_free(f, made[k].slot);
      made[k] = made[i - 1];
      check_whole(f->m);
    }
    assert_int_equal(f->m->free_count, 2);
    assert_int_equal(ashlar_pretend_empty(f->m, &f->device), 2);
    assert_int_equal(f->device.step[0].bytes, 20 * MIB);
    assert_int_equal(f->device.step[1].bytes, 20 * MIB);
    check_whole(f->m);
  }
}

/* Whatever fits an empty pool is served from it: every size up to the whole, and two that others refused.
   Covers REQ-BESTFIT-none. */
static void everything_that_fits(struct fixture *f)
{
  static const uint64_t pairs[][2] = {{324, 255}, {69, 67}};
  const uint64_t pool = 1366;
  const int32_t slot = must_add(f, SEGMENT, pool * 512, ASHLAR_CLASS_SMALL, 0);
  for (uint64_t n = 1; n <= pool; n++) {
    for (uint64_t less = 0; less < 512; less += 511) {
      const struct ashlar_step step = must_allocate(f, n * 512 - less, 0);
      assert_int_equal(step.slot, slot);
      assert_int_equal(step.bytes, n * 512);
      must_free(f, slot);
      assert_int_equal(f->m->size[slot], pool * 512);
    }
  }
  assert_int_equal(ashlar_choose(f->m, pool * 512 + 1, 0, ashlar_nobody()), -1);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_OK);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    (void)must_add(f, SEGMENT, pairs[i][0] * 512, ASHLAR_CLASS_SMALL, 0);
    must_free(f, must_allocate(f, pairs[i][1] * 512, 0).slot);
    assert_int_equal(ashlar_segment_remove(f->m, ashlar_release_next(f->m, -1)), ASHLAR_OK);
  }
  assert_int_equal(f->device.allocations, 0);
  check_whole(f->m);
}

/* The reported sequence in a pool of 48 MiB, then random small sizes in it. */
static void small_sizes_in_a_pool(struct fixture *f)
{
  enum { BLOCKS = 100 };
  static int32_t slot[BLOCKS];
  struct ashlar_step first;
  uint64_t seed = 30;
  (void)must_add(f, SEGMENT, 48 * MIB, ASHLAR_CLASS_SMALL, 0);
  first = must_allocate(f, 576, 0);
  slot[0] = must_allocate(f, 648, 0).slot;
  must_free(f, first.slot);
  assert_int_equal(must_allocate(f, 720, 0).address, first.address);
  must_free(f, slot[0]);
  for (int i = 0; i < BLOCKS; i++) {
    slot[i] = -1;
  }
  for (int step = 0; step < 4000; step++) {
    const uint64_t k = ashlar_random_below(&seed, BLOCKS);
    if (slot[k] == -1) {
      slot[k] = must_allocate(f, 1 + ashlar_random_below(&seed, 4096), 0).slot;
    } else {
      must_free(f, slot[k]);
      slot[k] = -1;
    }
  }
  assert_int_equal(f->device.allocations, 0);
  check_whole(f->m);
}

/* A device that refuses everything is asked twice, thrice with a split limit and something to release for it, and once
   more by the complete policy; and sizes on the borders of classes are served exactly.
   Covers REQ-LADDER-once. */
static void attempts_are_bounded(struct fixture *f)
{
  static const uint64_t borders[] = {512, MIB, 2 * MIB, 10 * MIB, 20 * MIB};
  static const int64_t offsets[] = {-512, -1, 0, 1, 512};
  struct ashlar_config config = ashlar_default_config();
  for (uint32_t more = 0; more < 2; more++) {
    config.policy = more == 1 ? ASHLAR_POLICY_COMPLETE : ASHLAR_POLICY_FAITHFUL;
    config.max_split_size = UINT64_MAX;
    fixture_restart(f, config, 1, UINT64_MAX);
    f->device.refuses = true;
    must_run_out(f, 1024, 0);
    assert_int_equal(f->device.refusals, 2 + more);
    config.max_split_size = 32 * MIB;
    fixture_restart(f, config, 1, UINT64_MAX);
    must_free(f, must_allocate(f, 64 * MIB, 0).slot);
    f->device.refuses = true;
    must_run_out(f, 33 * MIB, 0);
    assert_int_equal(f->device.refusals, 3 + more);
    assert_int_equal(f->device.step_count, 4 + more);
  }
  fixture_restart(f, ashlar_default_config(), 1, UINT64_MAX);
  for (size_t b = 0; b < sizeof borders / sizeof borders[0]; b++) {
    for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
      const uint64_t bytes = borders[b] + (uint64_t)offsets[k];
      if (bytes != 0) {
        const struct ashlar_step step = must_allocate(f, bytes, 0);
        assert_true(step.bytes < bytes + 512 + (bytes > MIB ? MIB : 0));
        must_free(f, step.slot);
      }
    }
  }
  check_whole(f->m);
}

enum { SEQUENCE = 100, REPETITIONS = 50 };

/* 100 requests and 100 frees, the same every time; where the blocks were. */
static void play_sequence(struct fixture *f, uint64_t address[SEQUENCE])
{
  int32_t slot[SEQUENCE];
  uint64_t seed = 37;
  int count = 0;
  int in_use = 0;
  while (count < SEQUENCE || in_use > 0) {
    if (count < SEQUENCE && (in_use == 0 || ashlar_random_below(&seed, 2) == 0)) {
      const uint64_t bytes = 1 + (ashlar_random(&seed) >> (38 + ashlar_random_below(&seed, 20)));
      const struct ashlar_step step = must_allocate(f, bytes, (int32_t)(bytes % 2));
      slot[in_use] = step.slot;
      address[count] = step.address;
      count++;
      in_use++;
    } else {
      const uint64_t k = ashlar_random_below(&seed, (uint64_t)in_use);
      must_free(f, slot[k]);
      in_use--;
      slot[k] = slot[in_use];
    }
  }
  check_whole(f->m);
  assert_int_equal(f->m->bytes[ASHLAR_ALLOCATED], 0);
}

/* With the cache emptied in between, each run behaves as the first: the same addresses, counted from where the device
   gives its next segment, and the same peak. */
static void runs_are_alike_from_nothing(struct fixture *f)
{
  static uint64_t first[SEQUENCE];
  static uint64_t address[SEQUENCE];
  uint64_t peak = 0;
  for (int run = 0; run < REPETITIONS; run++) {
    const uint64_t base = f->device.next;
    struct ashlar_counter reserved;
    play_sequence(f, address);
    for (int i = 0; i < SEQUENCE; i++) {
      address[i] -= base;
    }
    (void)ashlar_pretend_empty(f->m, &f->device);
    reserved = counter_of(f->m, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL);
    if (run == 0) {
      memcpy(first, address, sizeof first);
      peak = reserved.peak;
    }
    assert_memory_equal(first, address, sizeof first);
    assert_int_equal(reserved.peak, peak);
    assert_int_equal(reserved.current, 0);
  }
}

/* Without, the runs soon have all the segments that they need; from then on all addresses are the same. */
static void runs_are_alike_with_a_cache(struct fixture *f)
{
  static uint64_t last[SEQUENCE];
  static uint64_t address[SEQUENCE];
  int settled = 0;
  for (int run = 0; run < REPETITIONS; run++) {
    const uint32_t before = f->device.allocations;
    play_sequence(f, address);
    if (settled > 0) {
      assert_int_equal(f->device.allocations, before);
      assert_memory_equal(last, address, sizeof last);
    }
    settled += f->device.allocations == before ? 1 : 0;
    memcpy(last, address, sizeof last);
  }
  assert_true(settled >= REPETITIONS - 5);
}

/* Covers REQ-CANON-whole. */
static void runs_are_alike(struct fixture *f)
{
  for (uint32_t order = ASHLAR_ORDER_ADDRESS; order <= ASHLAR_ORDER_SEGMENT; order++) {
    struct ashlar_config config = ashlar_default_config();
    config.order = order;
    fixture_restart(f, config, 2, UINT64_MAX);
    runs_are_alike_from_nothing(f);
    runs_are_alike_with_a_cache(f);
  }
}

/* Sizes that wrap when rounded are refused, and small blocks stay apart.
   Covers REQ-SIZE-refused. */
static void sizes_that_wrap_to_nothing(struct fixture *f)
{
  struct ashlar_step one;
  struct ashlar_step two;
  must_free(f, must_allocate(f, 4096, 0).slot);
  remember(f);
  for (uint64_t k = 0; k < 512; k++) {
    must_refuse(ashlar_allocate_begin(f->m, UINT64_MAX - k, 0, ashlar_nobody()),
                ASHLAR_ERROR_TOO_LARGE);
  }
  must_be_unchanged(f);
  one = must_allocate(f, 512, 0);
  two = must_allocate(f, 512, 0);
  assert_int_equal(two.address, one.address + 512);
  check_whole(f->m);
}

/* Covers REQ-SIZE-refused. */
static void sizes_that_wrap_in_a_segment(struct fixture *f)
{
  const uint64_t sizes[] = {UINT64_MAX - 1117952, UINT64_MAX - 2 * MIB + 1, UINT64_MAX - 2 * MIB,
                            UINT64_C(1) << 63,    (UINT64_C(1) << 63) - 1,  UINT64_C(1) << 60};
  struct ashlar_step step;
  fixture_restart(f, ashlar_default_config(), 1, 64 * GIB);
  remember(f);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    must_refuse(ashlar_allocate_begin(f->m, sizes[i], 0, ashlar_nobody()), ASHLAR_ERROR_TOO_LARGE);
  }
  must_be_unchanged(f);
  step = ashlar_allocate_begin(f->m, (UINT64_C(1) << 48) - 1, 0, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_ALLOCATE);
  assert_int_equal(step.bytes, UINT64_C(1) << 48);
  assert_int_equal(ashlar_pretend_finish(f->m, &f->device, step).kind, ASHLAR_STEP_OUT_OF_MEMORY);
  must_run_out(f, (UINT64_C(1) << 60) - 1, 0);
  assert_int_equal(f->device.step[0].bytes, UINT64_C(1) << 60);
  check_whole(f->m);
}

/* The report wants the free of nothing to succeed; that is for the layer above, which knows null. Here no block was
   made, so its handle (slot -1) and address 0 name none.
   Covers REQ-SIZE-nothing. */
static void nothing_is_no_block(struct fixture *f)
{
  struct ashlar_step step;
  (void)must_allocate(f, 512, 0);
  remember(f);
  step = ashlar_allocate_begin(f->m, 0, 0, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.slot, -1);
  assert_int_equal(ashlar_free(f->m, step.slot, step.generation, ashlar_nobody()).status,
                   ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_free_address(f->m, 0, ashlar_nobody()).status,
                   ASHLAR_ERROR_UNKNOWN_ADDRESS);
  must_be_unchanged(f);
}

/* Whole regions only are given back, after every operation.
   Covers REQ-LADDER-empty. */
static void shrink_after_every_step(struct fixture *f)
{
  enum { BLOCKS = 12 };
  int32_t slot[BLOCKS];
  uint64_t seed = 81;
  for (int i = 0; i < BLOCKS; i++) {
    slot[i] = -1;
  }
  for (int step = 0; step < 600; step++) {
    const uint64_t k = ashlar_random_below(&seed, BLOCKS);
    if (slot[k] == -1) {
      slot[k] = must_allocate(f, 1 + (ashlar_random(&seed) >> 40), (int32_t)(k % 2)).slot;
    } else {
      must_free(f, slot[k]);
      slot[k] = -1;
    }
    (void)ashlar_pretend_empty(f->m, &f->device);
    check_whole(f->m);
    assert_int_equal(ashlar_release_next(f->m, -1), -1);
    assert_int_equal(f->device.used, current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL));
  }
}

/* Covers REQ-ACCOUNT-active, REQ-ACCOUNT-allocation. */
static void a_thousand_times(struct fixture *f)
{
  for (int i = 0; i < 1000; i++) {
    must_free(f, must_allocate(f, MIB, 0).slot);
  }
  for (size_t kind = 0; kind < ASHLAR_STAT_KINDS; kind++) {
    const struct ashlar_counter counter = counter_of(f->m, kind, ASHLAR_STAT_ALL);
    if (kind != ASHLAR_STAT_SEGMENT && kind != ASHLAR_STAT_RESERVED_BYTES) {
      assert_int_equal(counter.current, 0);
      assert_int_equal(counter.freed, counter.allocated);
    }
  }
  assert_int_equal(counter_of(f->m, ASHLAR_STAT_ACTIVE_BYTES, ASHLAR_STAT_ALL).allocated,
                   1000 * MIB);
  check_whole(f->m);
}

/* --- the rows --- */

#define FILL_100M "A big 100M; F big; A p1 12M; A p2 12M; A p3 12M; A p4 12M; A p5 12M; "
#define FREE_ODD "F p1; F p3; F p5; "

static const struct row {
  int number;
  const char *title;
  const char *script;              /* NULL: none */
  void (*play)(struct fixture *f); /* NULL: none */
} ROWS[] = {
    {6, "a rest stays with its stream",
     "streams 3; A a 20M 1; F a; A b 4M 1; same b a; A c 4M 2; outside c a; stream c 2; "
     "A d 4M 1; inside d a; stream d 1; reserved 40M; segments 2",
     NULL},
    {7, "a block goes back to its own stream",
     "streams 2; A a 2M 1; FA a; A b 2M 0; outside b a; stream b 0; A c 2M 1; same c a; stream c 1",
     NULL},
    {9, "frees work after the cache was emptied",
     "streams 2; A a 256 0; A b 32K 1; EC 0; F a; FA b; EC 2; reserved 0", NULL},
    {19, "segments that touch are never joined", NULL, segments_that_touch},
    {21, "a large cached block is carved up",
     "cap 128M; " FILL_100M FREE_ODD
     "OOM 100M; reserved 100M; allocated 24M; largest 52M; segments 1; ooms 1; F p2; F p4; "
     "A big2 100M; same big2 big",
     NULL},
    {21, "with a split limit it stays whole",
     "cap 128M; split 64M; A big 100M; F big; A p1 12M; A p2 12M; reserved 124M; A p3 12M; "
     "steps xrA; reserved 36M; A p4 12M; A p5 12M; " FREE_ODD
     "A big2 100M; steps xrrrA; reserved 124M; ooms 0",
     NULL},
    {22, "several oversize blocks are released and counted",
     "cap 110M; split 32M; A a 34M; A b 36M; A c 38M; F a; F b; F c; A y 106M; steps xrrrA; "
     "reserved 106M; retries 0",
     NULL},
    {22, "all oversize blocks are not enough",
     "cap 110M; split 32M; A a 34M; A b 36M; A c 38M; F b; F c; F a; OOM 112M; steps xrrrxx; "
     "reserved 0; retries 1; A d 110M",
     NULL},
    {25, "oversize reuse beyond the slack asks the device",
     "split 400M; slack 20M; A a 1024M; F a; A b 512M; outside b a; reserved 1536M", NULL},
    {25, "oversize reuse within the slack",
     "split 400M; slack 600M; A a 1024M; F a; A b 512M; same b a; size b 1024M; reserved 1024M",
     NULL},
    {27, "a limit gives the cache back first",
     "cap 1024M; A a 512M; F a; A b 768M; steps xrA; reserved 768M; ooms 0", NULL},
    {28, "whatever fits is found", NULL, everything_that_fits},
    {30, "small sizes in a pool", NULL, small_sizes_in_a_pool},
    {32, "attempts are bounded, borders exact", NULL, attempts_are_bounded},
    {35, "a large block is not wasted on a small request",
     "A a 4G; F a; A b 10K; size b 10K; A c 4G; same c a; reserved 4098M", NULL},
    {36, "no block is smaller than its request",
     "A a 150M; F a; A b 200M; outside b a; size b 200M; reserved 350M", NULL},
    {37, "runs are alike", NULL, runs_are_alike},
    {39, "sizes that wrap to nothing", NULL, sizes_that_wrap_to_nothing},
    {40, "sizes that wrap in a segment", NULL, sizes_that_wrap_in_a_segment},
    {43, "nothing is no block", NULL, nothing_is_no_block},
    {44, "no divisions", "divide 0; A a 514M; size a 514M; A b 512M; size b 512M", NULL},
    /* the report wants 1024M; by the rules one division is none */
    {44, "one division is none", "divide 1; A a 514M; size a 514M; A b 512M; size b 512M", NULL},
    {44, "two divisions", "divide 2; A a 514M; size a 768M; A b 512M; size b 512M", NULL},
    {44, "four divisions", "divide 4; A a 514M; size a 640M; A b 512M; size b 512M", NULL},
    {44, "eight divisions", "divide 8; A a 514M; size a 576M; A b 512M; size b 512M", NULL},
    {49, "a cap holds", "cap 100M; A a 90M; OOM 9M; reserved 90M; A b 1M; reserved 92M; OOM 100M",
     NULL},
    {56, "after running out, frees and requests work",
     "cap 2048M; A a 512M; A b 512M; A c 512M; A d 512M; OOM 512M; F b; A e 512M; same e b; "
     "OOM 512M; OOM 1; F c; A f 1; steps xrA; reserved 1538M; F f; F e; A g 1024M; ooms 3",
     NULL},
    {69, "wrong frees are refused",
     "A a 512; A b 512; F a; STALE a; FREED a 0; INTERIOR b 1; INTERIOR b 256; FREED b 512; "
     "UNKNOWN b 2M; FA b; INTERIOR b 0; STALE b; A c 512; same c a; STALE a; F c",
     NULL},
    {81, "shrinking after every step", NULL, shrink_after_every_step},
    {95, "a thousand times", NULL, a_thousand_times},
};
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

static void play_row(void **state)
{
  const struct row *row = *state;
  fixture_restart(fixture, ashlar_default_config(), 2, UINT64_MAX);
  if (row->play != NULL) {
    row->play(fixture);
  } else {
    const size_t commands = scenario_play(fixture, row->script);
    assert_true(commands > 1);
    print_message("%zu commands\n", commands);
  }
}

/* The state of the group stays empty: where it is not, the rows do not get theirs. */
static int start(void **state)
{
  void *made = NULL;
  const int result = fixture_start(&made);
  (void)state;
  fixture = made;
  return result;
}

static int stop(void **state)
{
  void *made = fixture;
  (void)state;
  return fixture_stop(&made);
}

int main(void)
{
  static char title[ROW_COUNT][TITLE];
  struct CMUnitTest tests[ROW_COUNT];
  int result = 0;
  memset(tests, 0, sizeof tests);
  for (int i = 0; i < ROW_COUNT; i++) {
    (void)snprintf(title[i], sizeof title[i], "row %d: %s", ROWS[i].number, ROWS[i].title);
    tests[i].name = title[i];
    tests[i].test_func = play_row;
    tests[i].initial_state = (void *)&ROWS[i];
  }
  result = cmocka_run_group_tests(tests, start, stop);
  print_message("%d rows\n", ROW_COUNT);
  return result;
}
