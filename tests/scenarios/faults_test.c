/* faults_test.c - each check of a scenario fails where it should: subjects with one fault each, claims that are false,
 * scripts and tables that say nothing.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/scenarios/player.h"
#include "tests/scenarios/table.h"

static struct player_result result;

/* --- subjects with a fault: the model, but for one function --- */

static size_t larger_blocks(const void *self, struct subject_block *block, size_t room)
{
  const size_t count = subject_model.blocks(self, block, room);
  for (size_t i = 0; i < count && i < room; i++) {
    block[i].size += block[i].state == SUBJECT_ALLOCATED ? 512 : 0;
  }
  return count;
}

static size_t fewer_blocks(const void *self, struct subject_block *block, size_t room)
{
  const size_t count = subject_model.blocks(self, block, room);
  size_t kept = 0;
  for (size_t i = 0; i < count && i < room; i++) {
    if (block[i].state != SUBJECT_FREE) {
      block[kept] = block[i];
      kept++;
    }
  }
  return kept;
}

static size_t halved_blocks(const void *self, struct subject_block *block, size_t room)
{
  size_t count = subject_model.blocks(self, block, room);
  for (size_t i = 0; i < count && count < room; i++) {
    if (block[i].state == SUBJECT_FREE && block[i].size >= 1024) {
      block[count] = block[i];
      block[count].address += 512;
      block[count].size -= 512;
      block[i].size = 512;
      return count + 1;
    }
  }
  return count;
}

static struct subject_step moved_segment(void *self, int32_t request, enum subject_outcome outcome,
                                         uint64_t value)
{
  return subject_model.resume(self, request, outcome, value == 0 ? 0 : value + (UINT64_C(1) << 30));
}

/* The first segment is taken for a refusal: the machine has given what nobody knows of. */
static struct subject_step lost_segment(void *self, int32_t request, enum subject_outcome outcome,
                                        uint64_t value)
{
  static bool lost = false;
  lost = !lost;
  return subject_model.resume(self, request, lost ? SUBJECT_REFUSED : outcome, lost ? 0 : value);
}

static struct subject_counter more_allocated(const void *self, enum subject_statistic kind,
                                             int column)
{
  struct subject_counter counter = subject_model.counter(self, kind, column);
  counter.current += kind == SUBJECT_STAT_ALLOCATED_BYTES ? 512 : 0;
  counter.allocated += kind == SUBJECT_STAT_ALLOCATED_BYTES ? 512 : 0;
  counter.peak += 512;
  return counter;
}

static struct subject_counter no_peak(const void *self, enum subject_statistic kind, int column)
{
  struct subject_counter counter = subject_model.counter(self, kind, column);
  counter.peak = 0;
  return counter;
}

static struct subject_counter wrapped_total(const void *self, enum subject_statistic kind,
                                            int column)
{
  struct subject_counter counter = subject_model.counter(self, kind, column);
  counter.freed++;
  return counter;
}

static struct subject_counter busier_sum(const void *self, enum subject_statistic kind, int column)
{
  struct subject_counter counter = subject_model.counter(self, kind, column);
  counter.allocated += column == SUBJECT_ALL ? 1 : 0;
  counter.freed += column == SUBJECT_ALL ? 1 : 0;
  return counter;
}

static bool never_sound(const void *self, char *why, size_t n)
{
  (void)self;
  (void)snprintf(why, n, "nothing");
  return false;
}

static uint64_t no_largest(const void *self)
{
  (void)self;
  return 0;
}

static enum subject_status no_use(void *self, int32_t slot, uint32_t generation, int32_t stream,
                                  struct subject_caller caller)
{
  (void)self;
  (void)slot;
  (void)generation;
  (void)stream;
  (void)caller;
  return SUBJECT_OK;
}

/* What the cache could serve is out of memory. */
static struct subject_step blind_begin(void *self, uint64_t bytes, int32_t stream,
                                       struct subject_caller caller)
{
  struct subject_step step = subject_model.allocate_begin(self, bytes, stream, caller);
  if (step.kind == SUBJECT_STEP_DONE &&
      subject_model.free_handle(self, step.slot, step.generation, caller) == SUBJECT_OK) {
    step.kind = SUBJECT_STEP_OUT_OF_MEMORY;
  }
  return step;
}

/* Gives up where the device refuses. */
static struct subject_step early_end(void *self, int32_t request, enum subject_outcome outcome,
                                     uint64_t value)
{
  const struct subject_step step = subject_model.resume(self, request, outcome, value);
  if (outcome != SUBJECT_REFUSED || step.kind >= SUBJECT_STEP_DONE) {
    return step;
  }
  (void)subject_model.resume(self, request, SUBJECT_FAILED, 0);
  return (struct subject_step){.kind = SUBJECT_STEP_OUT_OF_MEMORY, .slot = -1, .bytes = step.bytes};
}

/* A request that is too large takes a block before it is refused. */
static struct subject_step greedy_refusal(void *self, uint64_t bytes, int32_t stream,
                                          struct subject_caller caller)
{
  const struct subject_step step = subject_model.allocate_begin(self, bytes, stream, caller);
  if (step.kind == SUBJECT_STEP_ERROR) {
    (void)subject_model.allocate_begin(self, 512, stream, caller);
  }
  return step;
}

/* The same, and what it took is freed: only totals tell. */
static struct subject_step counted_refusal(void *self, uint64_t bytes, int32_t stream,
                                           struct subject_caller caller)
{
  const struct subject_step step = subject_model.allocate_begin(self, bytes, stream, caller);
  if (step.kind == SUBJECT_STEP_ERROR) {
    const struct subject_step taken = subject_model.allocate_begin(self, 512, stream, caller);
    (void)subject_model.free_handle(self, taken.slot, taken.generation, caller);
  }
  return step;
}

static enum subject_status no_free(void *self, int32_t slot, uint32_t generation,
                                   struct subject_caller caller)
{
  (void)self;
  (void)slot;
  (void)generation;
  (void)caller;
  return SUBJECT_OK;
}

/* Frees a block of somebody else as well. */
static enum subject_status another_too(void *self, int32_t slot, uint32_t generation,
                                       struct subject_caller caller)
{
  struct subject_block block[8];
  const size_t count = subject_model.blocks(self, block, 8);
  for (size_t i = 0; i < count && i < 8; i++) {
    if (block[i].state == SUBJECT_ALLOCATED && block[i].slot != slot) {
      (void)subject_model.free_handle(self, block[i].slot, block[i].generation, caller);
      break;
    }
  }
  return subject_model.free_handle(self, slot, generation, caller);
}

static enum subject_status no_completion(void *self, int32_t stream, uint64_t number,
                                         struct subject_caller caller)
{
  (void)self;
  (void)stream;
  (void)number;
  (void)caller;
  return SUBJECT_OK;
}

static uint64_t empty_queue(const void *self, int32_t stream)
{
  (void)self;
  (void)stream;
  return 0;
}

static struct subject_step kept_cache(void *self, int32_t pool, struct subject_caller caller)
{
  (void)self;
  (void)pool;
  (void)caller;
  return (struct subject_step){.kind = SUBJECT_STEP_DONE, .slot = -1, .request = -1};
}

static enum subject_status unseen_capture(void *self, int32_t stream)
{
  (void)self;
  (void)stream;
  return SUBJECT_OK;
}

#define CAPTURED "cap(100M) split(32M) CB(g,s1) A(o,48M,s1) F(o) A(p,60M,s1)!device steps(x!) CE(g)"
#define USED "A(a,8M,s0) K(s1,a:w) U(a,s1) F(a) "

static void faulty_subjects(void **state)
{
  struct subject larger = subject_model;
  struct subject fewer = subject_model;
  struct subject halved = subject_model;
  struct subject moved = subject_model;
  struct subject losing = subject_model;
  struct subject counting = subject_model;
  struct subject peakless = subject_model;
  struct subject wrapped = subject_model;
  struct subject busier = subject_model;
  struct subject unsound = subject_model;
  struct subject blind = subject_model;
  struct subject useless = subject_model;
  struct subject hasty = subject_model;
  struct subject early = subject_model;
  struct subject greedy = subject_model;
  struct subject counted = subject_model;
  struct subject keeping = subject_model;
  struct subject doubled = subject_model;
  struct subject endless = subject_model;
  struct subject forgetful = subject_model;
  struct subject hoarding = subject_model;
  struct subject careless = subject_model;
  (void)state;
  larger.blocks = larger_blocks;
  fewer.blocks = fewer_blocks;
  halved.blocks = halved_blocks;
  moved.resume = moved_segment;
  losing.resume = lost_segment;
  counting.counter = more_allocated;
  peakless.counter = no_peak;
  wrapped.counter = wrapped_total;
  busier.counter = busier_sum;
  unsound.is_sound = never_sound;
  blind.largest = no_largest;
  useless.record_use = no_use;
  hasty.allocate_begin = blind_begin;
  early.resume = early_end;
  greedy.allocate_begin = greedy_refusal;
  counted.allocate_begin = counted_refusal;
  keeping.free_handle = no_free;
  doubled.free_handle = another_too;
  endless.complete = no_completion;
  forgetful.queue_head = empty_queue;
  hoarding.empty_cache_begin = kept_cache;
  careless.capture_begin = unseen_capture;
  const struct {
    const struct subject *subject;
    const char *check;
    const char *script;
  } faults[] = {
      {&larger, "P1", "A(a,512,s0)"},
      {&moved, "P1", "A(a,512,s0)"},
      {&fewer, "P2", "A(a,512,s0)"},
      {&halved, "P2", "A(a,512,s0)"},
      {&losing, "P3", "A(a,512,s0)"},
      {&counting, "P3", "A(a,512,s0)"},
      {&peakless, "P3", "A(a,512,s0)"},
      {&wrapped, "P3", "A(a,512,s0)"},
      {&busier, "P3", "A(a,512,s0)"},
      {&blind, "P3", "A(a,512,s0)"},
      {&unsound, "its own invariant", "A(a,512,s0)"},
      {&useless, "P4", USED "A(b,8M,s0) A(c,512,s0)"},
      {&hasty, "P5", "A(a,8M,s0) A(b,8M,s0)!oom"},
      {&early, "P5", "cap(64M) A(a,60M,s0) F(a) A(b,50M,s1)!oom"},
      {&early, "P5", "cap(64M) A(k,2M,s0) A(a,40M,s0) U(a,s1) K(s1,a:w) F(a) A(b,50M,s1)!oom"},
      {&greedy, "P6", "A(a,512,s0) A(b,2^63,s0)!too-large"},
      {&counted, "P6", "A(a,512,s0) A(b,2^63,s0)!too-large"},
      {&keeping, "P6", "A(a,512,s0) F(a)"},
      {&doubled, "P6", "A(a,512,s0) A(b,512,s0) F(a)"},
      {&endless, "P7", USED "D(s1) E"},
      {&forgetful, "P7", USED},
      {&hoarding, "P7", "A(a,512,s0)"},
      {&careless, "P8", CAPTURED},
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    player_play(&subject_model, SUBJECT_COMPLETE, SUBJECT_ADDRESS, "A(a,512,s0)", &result);
    assert_true(result.holds);
    player_play(faults[i].subject, SUBJECT_COMPLETE, SUBJECT_ADDRESS, faults[i].script, &result);
    const char *check = strstr(result.fault, faults[i].check);
    if (result.holds || check == NULL || check[strlen(faults[i].check)] != ':') {
      fail_msg("fault %zu was to break %s: %s", i, faults[i].check, result.fault);
    }
  }
}

/* --- claims that are false, refusals that do not come, words that are none --- */

static void must_fail(const char *script, const char *because)
{
  player_play(&subject_model, SUBJECT_COMPLETE, SUBJECT_ADDRESS, script, &result);
  if (result.holds || strstr(result.fault, because) == NULL) {
    fail_msg("%s must fail with `%s`: %s", script, because, result.fault);
  }
}

#define BEFORE                                                                                     \
  "cap(64M) pool(P) A(a,4M,s0) A(b,4M,s0) A(c,8M,s1) F(a) random(9,1,1M,s0) random(9,2,2M,s0) "

static void false_claims(void **state)
{
  static const char *const claims[] = {
      "same(a,b)",
      "apart(a,a)",
      "inside(a,b)",
      "outside(a,a)",
      "touch(b,a)",
      "size(b,8M)",
      "stream(b,s1)",
      "of(b,P)",
      "is(b,free)",
      "base(b,2M)",
      "reserved(1)",
      "allocated(1)",
      "active(1)",
      "requested(1)",
      "segments(7)",
      "free(1)",
      "largest(1)",
      "ooms(1)",
      "retries(1)",
      "syncs(1)",
      "peak(reserved,1)",
      "peak(nothing,1)",
      "totals(active,1,1)",
      "steps(x)",
      "report(512)",
      "calls(malloc,99)",
      "allocator(0,9,9)",
      "alike",
      "race(s0,s1)",
      "race(s0,host)",
      "forbidden(1)",
      "faults(1)",
      "same(a,nobody)",
      "of(b,nobody)",
      "calls(nothing,1)",
      "A(e,60M,s0)",
      "F(a)",
      "A(e,512,none)",
      "A(e,512,s0)!oom",
      "F(b)!stale",
      "FA(b)!foreign",
      "A(e,1K,s0)!ok,",
      "each(1..2,s0)!oom",
      "A(e,2^63,s0)!oom",
  };
  (void)state;
  player_play(&subject_model, SUBJECT_COMPLETE, SUBJECT_ADDRESS, BEFORE "is(b,allocated)", &result);
  if (!result.holds) {
    fail_msg("%s", result.fault);
  }
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    char script[PLAYER_FAULT];
    (void)snprintf(script, sizeof script, BEFORE "%s", claims[i]);
    must_fail(script, "");
  }
  must_fail(BEFORE "EC steps()", "the steps were r");
  must_fail("MF(malloc,all) A(a,512,s0)!oom most(malloc,1)", "most");
}

static void words_that_are_none(void **state)
{
  (void)state;
  must_fail("", "without a call");
  must_fail("cap(1M)", "without a call");
  must_fail("A(a,512)", "2 arguments");
  must_fail("same(a)", "1 arguments");
  must_fail("B(a)", "no such word");
  must_fail("A(a,512,s0", "bracket");
  must_fail("A(a,12Q,s0)", "no size");
  must_fail("A(a,x,s0)", "no size");
  must_fail("A(a,512,s:0)", "no such stream");
  must_fail("A(averylongname,512,s0)", "too long");
  must_fail("A(a,512,s0) A(a,512,s0)", "in use");
  must_fail("A(a,512,s0) is(a,allocated)!oom", "not refused");
  must_fail("A(a,512,s0) cap(1M)", "no such word");
  must_fail("repeat(2){ A(a,512,s0) F(a)", "does not end");
  must_fail("A(a,512,s0) }", "no loop");
  must_fail("K(s0,a:w)", "no such block");
  must_fail("A(a,512,s0) K(s0,a:x)", "no touch");
  must_fail("CE(g)", "no such capture");
  must_fail("growable(yes)", "neither on nor off");
  must_fail("place(here)", "no such placement");
  must_fail("devices(9)", "too many devices");
  must_fail("split(19M) A(a,512,s0)", "the start came to: setting");
  must_fail("split(20M) start!setting", "the start came to: ok");
  must_fail("split(19M) start!setting A(a,512,s0)", "was refused");
}

/* Two races of which one is claimed, and one that nobody claims. */
static void unclaimed_races(void **state)
{
  (void)state;
  must_fail("A(a,8M,s0) K(s1,a:w) F(a) A(b,8M,s0)", "P4");
  must_fail("A(a,8M,s0) K(s1,a:w) F(a) A(b,8M,s0) same(a,b)", "P4");
  must_fail("A(a,8M,s0) K(s1,a:w) F(a) A(b,8M,s0) race(s2,s0)", "race");
  must_fail("A(a,8M,s0) K(s1,a:w) K(s2,a:w) F(a) A(b,8M,s0) race(s1,s0)", "race");
  must_fail("A(a,8M,s0) K(s1,a:w) F(a) A(b,8M,s0) race(s1,s0) K(s0,b:w)", "P4");
}

/* --- tables --- */

static void bad_tables(void **state)
{
  static const struct {
    const char *text;
    const char *because;
  } tables[] = {
      {"row 1: x\n  play: y\n    A(a,512,s0)\n", ""},
      {"row 1: x\n  part D: y\n", ""},
      {"row 1: x\n", "row 1: neither played nor listed"},
      {"row 1: x\n  differs: y\n", "row 1: neither played nor listed"},
      {"row 1: x\n  play: y\n", "no script"},
      {"row 1\n", "line 1: a row without title"},
      {"rows\n", "line 1: no row"},
      {"row 1: x\n  play: y\n   A(a,512,s0)\n", "line 3: an indent"},
      {"    A(a,512,s0)\n", "line 1: nothing goes on here"},
      {"row 1: x\n  play complete often: y\n    E\n", "line 2: neither policy nor order"},
      {"row 1: x\n  later: y\n  later: z\n", "line 3: no such line, or a second one"},
      {"row 1: x\n  never: y\n", "line 2: no such line"},
      {"  play: y\n    E\n", "line 1: an indent"},
  };
  static struct table table;
  (void)state;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    char text[PLAYER_FAULT];
    (void)snprintf(text, sizeof text, "%s", tables[i].text);
    memset(&table, 0, sizeof table);
    assert_int_equal(table_parse(&table, text), tables[i].because[0] == '\0');
    if (strncmp(table.fault, tables[i].because, strlen(tables[i].because)) != 0 &&
        strstr(table.fault, tables[i].because) == NULL) {
      fail_msg("table %zu: %s", i, table.fault);
    }
  }
  assert_false(table_read(&table, "tests/scenarios/there is none"));
  table_free(&table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faulty_subjects),     cmocka_unit_test(false_claims),
      cmocka_unit_test(words_that_are_none), cmocka_unit_test(unclaimed_races),
      cmocka_unit_test(bad_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
