/* index_cost_test.c - REQ-BOUND-cost: how many steps the free index takes, counted.
 *
 * The index is built with a call of a hook in each of its basic blocks. A search takes steps that grow with the logarithm
 * of the free blocks, whatever the blocks are. Insert and remove move entries: what is bounded of them is that they grow
 * no more than with the free blocks.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/free_index.h"
#include "tests/storage.h"

/* Steps for each halving, and those that a call takes besides, of any list; with room for another compiler. */
enum { EACH = 40, ONCE = 100, MOVE = 40, LARGEST = 15, QUESTIONS = 2000, SIZES = 64 };

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
  steps++;
}

/* Steps since the last time that it was asked. */
static uint64_t taken(void)
{
  uint64_t count = steps;
  steps = 0;
  return count;
}

/* Oracle: the bits of a number, 1 more than its logarithm, which bounds the comparisons (REQ-BOUND-cost). */
static uint64_t bits(int32_t number)
{
  uint64_t count = 0;
  for (int32_t rest = number; rest > 0; rest /= 2) {
    count++;
  }
  return count;
}

static void set_key(struct ashlar_manager *m, int32_t slot, uint64_t *random)
{
  m->list[slot] = (int32_t)(ashlar_random(random) % 4);
  m->size[slot] = 512 * (1 + ashlar_random(random) % SIZES);
  m->age[slot] = ashlar_random(random) % 3;
  m->addr[slot] = 512 * (uint64_t)slot;
}

static void test_logarithm(void **state)
{
  struct ashlar_manager *m = *state;
  uint64_t random = 7;
  int32_t slot = 0;
  uint64_t most = 0;
  for (int exponent = 3; exponent <= LARGEST; exponent++) {
    int32_t blocks = 1 << exponent;
    uint64_t bound = EACH * bits(blocks) + ONCE;
    for (; slot < blocks; slot++) {
      set_key(m, slot, &random);
      ashlar_index_grow(m);
      steps = 0;
      ashlar_index_insert(m, slot);
      assert_true(taken() <= MOVE * (uint64_t)slot + bound);
    }
    uint64_t few = most;
    most = 0;
    for (int i = 0; i < QUESTIONS; i++) {
      int32_t list = (int32_t)(ashlar_random(&random) % 5);
      uint64_t size = 512 * (ashlar_random(&random) % (SIZES + 6));
      int32_t other = (int32_t)(ashlar_random(&random) % (uint64_t)blocks);
      steps = 0;
      (void)ashlar_index_best(m, list, size);
      uint64_t count = taken();
      assert_in_range(count, 1, bound);
      most = count > most ? count : most;
      (void)ashlar_index_after(m, list, size, 1, m->addr[other]);
      assert_in_range(taken(), 1, bound);
      (void)ashlar_index_before(m, list, size, 1, m->addr[other]);
      assert_in_range(taken(), 1, bound);
      if (i < QUESTIONS / 10) {
        ashlar_index_remove(m, other);
        assert_in_range(taken(), 1, MOVE * (uint64_t)blocks + bound);
        set_key(m, other, &random);
        steps = 0;
        ashlar_index_insert(m, other);
        assert_in_range(taken(), 1, MOVE * (uint64_t)blocks + bound);
      }
    }
    /* the steps of the search are counted: with twice the blocks there are some more, and not many */
    assert_true(exponent == 3 || (few < most && most <= few + EACH));
  }
}

static int start(void **state)
{
  *state = ashlar_storage_new();
  return 0;
}

static int stop(void **state)
{
  ashlar_storage_delete(*state);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_logarithm, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
