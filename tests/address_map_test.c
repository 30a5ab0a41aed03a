/* address_map_test.c - the map from start addresses to slots, against a plain array.
 *
 * The map alone: slots get addresses by hand. Known, unknown, interior and stale addresses are asked for; many blocks
 * share a bucket on purpose.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/address_map.h"
#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, SLOTS = 200, STEPS = 20000, QUESTIONS = 4, CHECKS = 16 };

/* The same bucket again. */
#define ONCE_AROUND ((uint64_t)512 * (uint64_t)ASHLAR_BUCKETS)

static int start(void **state)
{
  struct ashlar_manager *m = ashlar_storage_new();
  m->top = SLOTS;
  *state = m;
  return 0;
}

static int stop(void **state)
{
  ashlar_storage_delete(*state);
  return 0;
}

static void check_map(const struct ashlar_manager *m)
{
  char why[WHY];
  if (!ashlar_core_check_parts(m, ASHLAR_CORE_MAP, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

/* The state tells the check, and the scan, which slots are mapped. */
static void map(struct ashlar_manager *m, int32_t slot, uint64_t addr)
{
  m->addr[slot] = addr;
  m->state[slot] = ASHLAR_ALLOCATED;
  ashlar_map_insert(m, slot);
  assert_int_equal(m->in_map[slot], 1);
}

static void unmap(struct ashlar_manager *m, int32_t slot)
{
  ashlar_map_remove(m, slot);
  assert_int_equal(m->in_map[slot], 0);
  m->state[slot] = ASHLAR_FREE;
}

/* The plain array: a scan.
   Oracle: REQ-FREE-found, REQ-FREE-address. */
static int32_t scan(const struct ashlar_manager *m, uint64_t addr)
{
  for (int32_t i = 0; i < SLOTS; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->addr[i] == addr) {
      return i;
    }
  }
  return -1;
}

/* One bucket in four holds everything that comes to it. */
static uint64_t random_address(uint64_t *seed)
{
  return 512 * ashlar_random_below(seed, 4) + ONCE_AROUND * ashlar_random_below(seed, 400);
}

/* Covers REQ-FREE-found, REQ-FREE-address. */
static void random_changes(void **state)
{
  struct ashlar_manager *m = *state;
  uint64_t seed = 9;
  size_t found = 0;
  for (int step = 0; step < STEPS; step++) {
    const int32_t slot = (int32_t)ashlar_random_below(&seed, SLOTS);
    const uint64_t addr = random_address(&seed);
    if (m->state[slot] == ASHLAR_ALLOCATED) {
      const uint64_t stale = m->addr[slot];
      assert_int_equal(ashlar_map_find(m, stale), slot);
      unmap(m, slot);
      assert_int_equal(ashlar_map_find(m, stale), -1);
    } else if (scan(m, addr) == -1) {
      map(m, slot, addr);
      assert_int_equal(ashlar_map_find(m, addr), slot);
      assert_int_equal(ashlar_map_find(m, addr + 1), -1);
      assert_int_equal(ashlar_map_find(m, addr + 511), -1);
    }
    for (int k = 0; k < QUESTIONS; k++) {
      const uint64_t asked = random_address(&seed);
      const int32_t answer = ashlar_map_find(m, asked);
      assert_int_equal(answer, scan(m, asked));
      found += answer != -1 ? 1 : 0;
    }
    if (ASHLAR_SLOTS <= 65536 || step % (STEPS / CHECKS) == 0) {
      check_map(m);
    }
  }
  check_map(m);
  assert_in_range(found, 1, (size_t)STEPS * QUESTIONS - 1);
  print_message("%d random steps, %zu of %d random questions found a block\n", STEPS, found,
                STEPS * QUESTIONS);
}

/* First, middle and last of a chain go, in each order; the others stay. */
static void one_chain(void **state)
{
  struct ashlar_manager *m = *state;
  static const int32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
    for (int32_t i = 0; i < 3; i++) {
      map(m, i, (uint64_t)i * ONCE_AROUND);
    }
    for (int32_t gone = 0; gone < 3; gone++) {
      unmap(m, orders[k][gone]);
      check_map(m);
      for (int32_t i = 0; i < 3; i++) {
        const int32_t expected = m->state[i] == ASHLAR_ALLOCATED ? i : -1;
        assert_int_equal(ashlar_map_find(m, (uint64_t)i * ONCE_AROUND), expected);
      }
    }
  }
}

static void ends_of_the_address_space(void **state)
{
  struct ashlar_manager *m = *state;
  const uint64_t last = UINT64_MAX - 511;
  assert_int_equal(ashlar_map_find(m, 0), -1);
  assert_int_equal(ashlar_map_find(m, UINT64_MAX), -1);
  map(m, 0, 0);
  map(m, 1, last);
  check_map(m);
  assert_int_equal(ashlar_map_find(m, 0), 0);
  assert_int_equal(ashlar_map_find(m, last), 1);
  assert_int_equal(ashlar_map_find(m, UINT64_MAX), -1);
  assert_int_equal(ashlar_map_find(m, 16), -1);
  unmap(m, 0);
  unmap(m, 1);
  check_map(m);
  assert_int_equal(ashlar_map_find(m, 0), -1);
  assert_int_equal(ashlar_map_find(m, last), -1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_chain, start, stop),
      cmocka_unit_test_setup_teardown(ends_of_the_address_space, start, stop),
      cmocka_unit_test_setup_teardown(random_changes, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
