/* index_cost_test.c - REQ-BOUND-cost: how often the free index compares, counted.
 *
 * The index is built with a call of a hook at the start of each of its functions. The function that is entered more than
 * once while one block is searched is the comparison; from then on its calls are counted. They grow with the logarithm of
 * the free blocks, however the blocks come and go.
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

enum { FUNCTIONS = 64, LARGEST = 15, QUESTIONS = 2000, SIZES = 64 };

struct entries {
  const void *function[FUNCTIONS];
  uint64_t count[FUNCTIONS];
  int functions;
};

static struct entries entered;
static const void *comparison;

void __cyg_profile_func_enter(void *function, void *site) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *site) __attribute__((no_instrument_function));

void __cyg_profile_func_enter(void *function, void *site)
{
  (void)site;
  int i = 0;
  while (i < entered.functions && entered.function[i] != function) {
    i++;
  }
  if (i == FUNCTIONS) {
    return;
  }
  if (i == entered.functions) {
    entered.function[i] = function;
    entered.functions++;
  }
  entered.count[i]++;
}

void __cyg_profile_func_exit(void *function, void *site)
{
  (void)function;
  (void)site;
}

static void forget(void)
{
  entered = (struct entries){0};
}

/* Comparisons since the last time that it was asked. */
static uint64_t comparisons(void)
{
  uint64_t count = 0;
  for (int i = 0; i < entered.functions; i++) {
    if (entered.function[i] == comparison) {
      count = entered.count[i];
    }
  }
  assert_true(entered.functions < FUNCTIONS);
  forget();
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

/* Which function compares: the one that a search in eight blocks enters more than once. */
static void find_comparison(struct ashlar_manager *m)
{
  forget();
  (void)ashlar_index_best(m, 1, 1024);
  for (int i = 0; i < entered.functions; i++) {
    if (entered.count[i] > 1) {
      assert_null(comparison);
      comparison = entered.function[i];
    }
  }
  assert_non_null(comparison);
}

static void test_logarithm(void **state)
{
  struct ashlar_manager *m = *state;
  uint64_t random = 7;
  int32_t slot = 0;
  for (int exponent = 3; exponent <= LARGEST; exponent++) {
    int32_t blocks = 1 << exponent;
    for (; slot < blocks; slot++) {
      set_key(m, slot, &random);
      ashlar_index_grow(m);
      forget();
      ashlar_index_insert(m, slot);
      assert_true(comparison == NULL || comparisons() <= bits(slot));
    }
    if (comparison == NULL) {
      find_comparison(m);
    }
    uint64_t most = 0;
    for (int i = 0; i < QUESTIONS; i++) {
      int32_t list = (int32_t)(ashlar_random(&random) % 5);
      uint64_t size = 512 * (ashlar_random(&random) % (SIZES + 6));
      int32_t other = (int32_t)(ashlar_random(&random) % (uint64_t)blocks);
      forget();
      (void)ashlar_index_best(m, list, size);
      uint64_t count = comparisons();
      assert_true(count <= bits(blocks));
      most = count > most ? count : most;
      (void)ashlar_index_after(m, list, size, 1, m->addr[other]);
      assert_true(comparisons() <= bits(blocks));
      (void)ashlar_index_before(m, list, size, 1, m->addr[other]);
      assert_true(comparisons() <= bits(blocks));
      if (i < QUESTIONS / 10) {
        ashlar_index_remove(m, other);
        assert_true(comparisons() <= bits(blocks));
        set_key(m, other, &random);
        forget();
        ashlar_index_insert(m, other);
        assert_true(comparisons() <= bits(blocks));
      }
    }
    /* the count is not of something else: it reaches the logarithm */
    assert_in_range(most, (uint64_t)exponent, bits(blocks));
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
