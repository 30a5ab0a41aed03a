/* stream_use_test.c - uses of blocks on other streams, against a list of them that is searched from end to end.
 *
 * Here each function of stream_use is reached: find, room, add, drop, submit, uses_submit, pop (and forget).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/stream_use.h"
#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, BLOCKS = 12, STREAMS = 4, MOST = BLOCKS * STREAMS, STEPS = 40000 };

/* One use, as the oracle has it; number 0: not submitted. */
struct use {
  int32_t block;
  int32_t stream;
  uint64_t number;
  uint8_t captured;
};

struct list {
  struct use uses[MOST];
  int32_t count;
  uint64_t submitted[STREAMS];
  uint64_t completed[STREAMS];
};

static int start(void **state)
{
  struct ashlar_manager *m = ashlar_storage_new();
  m->top = BLOCKS; /* the chains of these are looked at */
  *state = m;
  return 0;
}

static int stop(void **state)
{
  ashlar_storage_delete(*state);
  return 0;
}

static void check(const struct ashlar_manager *m)
{
  char why[WHY];
  if (!ashlar_core_check_parts(m, ASHLAR_CORE_USES, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

static int32_t find(const struct list *list, int32_t block, int32_t stream)
{
  for (int32_t k = 0; k < list->count; k++) {
    if (list->uses[k].block == block && list->uses[k].stream == stream) {
      return k;
    }
  }
  return -1;
}

static void forget(struct list *list, int32_t k)
{
  list->count--;
  list->uses[k] = list->uses[list->count];
}

static bool is_submitted(const struct list *list, int32_t block)
{
  for (int32_t k = 0; k < list->count; k++) {
    if (list->uses[k].block == block && list->uses[k].number > 0) {
      return true;
    }
  }
  return false;
}

/* The use of the stream that was submitted first, if it is finished. */
static int32_t first_finished(const struct list *list, int32_t stream)
{
  int32_t first = -1;
  for (int32_t k = 0; k < list->count; k++) {
    const struct use *use = &list->uses[k];
    if (use->stream == stream && use->number > 0 && use->number <= list->completed[stream] &&
        (first == -1 || use->number < list->uses[first].number)) {
      first = k;
    }
  }
  return first;
}

static void must_agree(const struct ashlar_manager *m, const struct list *list)
{
  uint64_t submitted = 0;
  check(m);
  assert_int_equal(m->use_top - m->use_spare_count, list->count);
  for (int32_t stream = 0; stream < STREAMS; stream++) {
    assert_int_equal(m->submitted[stream], list->submitted[stream]);
    submitted += list->submitted[stream];
  }
  assert_int_equal(m->use_submissions, submitted);
  for (int32_t block = 0; block < BLOCKS; block++) {
    for (int32_t stream = 0; stream < STREAMS; stream++) {
      const int32_t k = find(list, block, stream);
      const int32_t use = ashlar_use_find(m, block, stream);
      assert_int_equal(use == -1, k == -1);
      if (k != -1) {
        assert_int_equal(m->use_block[use], block);
        assert_int_equal(m->use_stream[use], stream);
        assert_int_equal(m->use_captured[use], list->uses[k].captured);
        if (m->use_number[use] != list->uses[k].number) {
          fail_msg("block %d on stream %d has number %d", (int)block, (int)stream,
                   (int)m->use_number[use]);
        }
      }
    }
  }
}

static void add(struct ashlar_manager *m, struct list *list, int32_t block, int32_t stream,
                uint8_t captured)
{
  assert_int_not_equal(ashlar_use_room(m, 1), 0);
  (void)ashlar_use_add(m, block, stream, captured);
  list->uses[list->count] = (struct use){block, stream, 0, captured};
  list->count++;
}

/* The order of numbers within a block is the chain's, the latest use first: the oracle takes them over and checks that
   each stream's clock has gone on by one. */
static void submit_all(struct ashlar_manager *m, struct list *list, int32_t block)
{
  ashlar_uses_submit(m, block);
  for (int32_t k = 0; k < list->count; k++) {
    struct use *use = &list->uses[k];
    if (use->block == block) {
      list->submitted[use->stream]++;
      use->number = list->submitted[use->stream];
    }
  }
}

static void pop(struct ashlar_manager *m, struct list *list, int32_t stream)
{
  const int32_t k = first_finished(list, stream);
  const int32_t block = ashlar_use_pop(m, stream);
  assert_int_equal(block, k == -1 ? -1 : list->uses[k].block);
  if (k != -1) {
    forget(list, k);
  }
}

/* Covers REQ-STREAM-use, REQ-STREAM-queue, REQ-STREAM-poll. */
static void random_steps(void **state)
{
  struct ashlar_manager *m = *state;
  struct list list = {.count = 0};
  uint64_t seed = 5;
  size_t popped = 0;
  for (int step = 0; step < STEPS; step++) {
    const int32_t block = (int32_t)ashlar_random_below(&seed, BLOCKS);
    const int32_t stream = (int32_t)ashlar_random_below(&seed, STREAMS);
    const int32_t before = list.count;
    switch (ashlar_random_below(&seed, 5)) {
    case 0:
    case 1:
      if (find(&list, block, stream) == -1 && !is_submitted(&list, block)) {
        add(m, &list, block, stream, (uint8_t)ashlar_random_below(&seed, 2));
      }
      break;
    case 2:
      if (!is_submitted(&list, block)) {
        submit_all(m, &list, block);
      }
      break;
    case 3:
      if (find(&list, block, stream) != -1 && !is_submitted(&list, block)) {
        ashlar_use_drop(m, ashlar_use_find(m, block, stream));
        forget(&list, find(&list, block, stream));
      }
      break;
    default:
      list.completed[stream] +=
          ashlar_random_below(&seed, 1 + list.submitted[stream] - list.completed[stream]);
      m->completed[stream] = list.completed[stream];
      pop(m, &list, stream);
      popped += list.count < before ? 1 : 0;
    }
    must_agree(m, &list);
  }
  assert_true(popped > STEPS / 100);
  print_message("%zu uses finished, %d records\n", popped, (int)m->use_top);
}

/* Covers REQ-CAPACITY-others. */
static void records_run_out(void **state)
{
  struct ashlar_manager *m = *state;
  int32_t last = -1;
  m->top = ASHLAR_SLOTS;
  for (int32_t k = 0; k < ASHLAR_USES; k++) {
    assert_int_not_equal(ashlar_use_room(m, 1), 0);
    assert_int_equal(ashlar_use_room(m, 2) != 0, k + 1 < ASHLAR_USES);
    last = ashlar_use_add(m, k / ASHLAR_STREAMS, k % ASHLAR_STREAMS, 0);
  }
  assert_int_equal(ashlar_use_room(m, 1), 0);
  check(m);
  ashlar_use_drop(m, last);
  assert_int_not_equal(ashlar_use_room(m, 1), 0);
  assert_int_equal(ashlar_use_room(m, 2), 0);
  m->use_serials = UINT64_MAX;
  assert_int_equal(ashlar_use_room(m, 1), 0);
}

/* Serial numbers run out before the clocks do: no submission is ever refused, and no clock wraps.
   Covers REQ-CAPACITY-others. */
static void clocks_outlast_serials(void **state)
{
  struct ashlar_manager *m = *state;
  const uint64_t last = UINT64_MAX - 2; /* as many were recorded, and all submitted to one stream */
  m->use_serials = last;
  m->use_submissions = last;
  m->submitted[1] = last;
  m->completed[1] = last;
  assert_int_not_equal(ashlar_use_room(m, 2), 0);
  (void)ashlar_use_add(m, 0, 1, 0);
  (void)ashlar_use_add(m, 3, 1, 1);
  assert_int_equal(ashlar_use_room(m, 1), 0);
  ashlar_uses_submit(m, 0);
  ashlar_uses_submit(m, 3);
  check(m);
  assert_int_equal(m->submitted[1], UINT64_MAX);
  assert_int_equal(m->use_submissions, UINT64_MAX);
  m->completed[1] = UINT64_MAX;
  assert_int_equal(ashlar_use_pop(m, 1), 0);
  assert_int_equal(ashlar_use_pop(m, 1), 3);
  assert_int_equal(ashlar_use_room(m, 1), 0); /* records are spare, serials are not */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(random_steps, start, stop),
      cmocka_unit_test_setup_teardown(records_run_out, start, stop),
      cmocka_unit_test_setup_teardown(clocks_outlast_serials, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
