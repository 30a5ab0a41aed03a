/* free_index_test.c - the ordered set of free blocks against brute force.
 *
 * The index alone: slots get keys by hand, and are in the set or not. Every answer is compared with a scan of all
 * slots, and the invariant is looked at after each change. Here each function of free_index is reached from a valid
 * state: grow, insert, remove, best, after, before (and with them key_below, lower_bound and exchange).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/free_index.h"
#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, FEW_SLOTS = 48, MANY_SLOTS = 2000, FEW_STEPS = 15000, MANY_STEPS = 2000 };

struct key {
  uint64_t size;
  uint64_t age;
  uint64_t addr;
  int32_t list;
};

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

/* Grows the index by slots that are no members. */
static void grow(struct ashlar_manager *m, int32_t slots)
{
  char why[WHY];
  for (int32_t i = 0; i < slots; i++) {
    ashlar_index_grow(m);
    assert_int_equal(m->top, i + 1);
    assert_int_equal(m->place[i], i);
    assert_int_equal(m->free_count, 0);
  }
  assert_true(ashlar_core_check_parts(m, ASHLAR_CORE_INDEX, why, sizeof why));
}

static void set_key(struct ashlar_manager *m, int32_t slot, struct key key)
{
  m->list[slot] = key.list;
  m->size[slot] = key.size;
  m->age[slot] = key.age;
  m->addr[slot] = key.addr;
}

static struct key key_of(const struct ashlar_manager *m, int32_t slot)
{
  return (struct key){m->size[slot], m->age[slot], m->addr[slot], m->list[slot]};
}

/* -1, 0, 1: a stands before b, is b, stands behind b. */
static int compare(struct key a, struct key b)
{
  const uint64_t one[] = {(uint64_t)a.list, a.size, a.age, a.addr};
  const uint64_t two[] = {(uint64_t)b.list, b.size, b.age, b.addr};
  for (int i = 0; i < 4; i++) {
    if (one[i] != two[i]) {
      return one[i] < two[i] ? -1 : 1;
    }
  }
  return 0;
}

/* --- what the index must answer: scans of `member` --- */

/* Oracle: REQ-BESTFIT-order, REQ-BESTFIT-least, REQ-BESTFIT-none, REQ-LADDER-order. */
static int32_t scan_above(const struct ashlar_manager *m, const bool *member, struct key key,
                          bool inclusive)
{
  int32_t found = -1;
  for (int32_t i = 0; i < m->top; i++) {
    const int order = compare(key_of(m, i), key);
    if (member[i] && m->list[i] == key.list && (order > 0 || (inclusive && order == 0)) &&
        (found == -1 || compare(key_of(m, i), key_of(m, found)) < 0)) {
      found = i;
    }
  }
  return found;
}

/* Oracle: REQ-LADDER-oversize. */
static int32_t scan_below(const struct ashlar_manager *m, const bool *member, struct key key)
{
  int32_t found = -1;
  for (int32_t i = 0; i < m->top; i++) {
    if (member[i] && m->list[i] == key.list && compare(key_of(m, i), key) < 0 &&
        (found == -1 || compare(key_of(m, i), key_of(m, found)) > 0)) {
      found = i;
    }
  }
  return found;
}

/* Covers REQ-BESTFIT-least, REQ-BESTFIT-none. */
static void check_answers(const struct ashlar_manager *m, const bool *member, struct key key)
{
  const struct key least = {key.size, 0, 0, key.list};
  assert_int_equal(ashlar_index_best(m, key.list, key.size), scan_above(m, member, least, true));
  assert_int_equal(ashlar_index_after(m, key.list, key.size, key.age, key.addr),
                   scan_above(m, member, key, false));
  assert_int_equal(ashlar_index_before(m, key.list, key.size, key.age, key.addr),
                   scan_below(m, member, key));
}

static void check_members(const struct ashlar_manager *m, const bool *member)
{
  char why[WHY];
  int32_t count = 0;
  if (!ashlar_core_check_parts(m, ASHLAR_CORE_INDEX, why, sizeof why)) {
    fail_msg("%s", why);
  }
  for (int32_t i = 0; i < m->top; i++) {
    if ((m->place[i] < m->free_count) != member[i]) {
      fail_msg("slot %d", (int)i);
    }
    count += member[i] ? 1 : 0;
  }
  assert_int_equal(m->free_count, count);
}

/* Few different values, so that keys agree in their first parts; and the ends of each range. */
static struct key random_key(uint64_t *seed, enum ashlar_order order)
{
  static const uint64_t sizes[] = {1, 512, 1024, 1048576, UINT64_MAX - 1, UINT64_MAX};
  static const int32_t lists[] = {0, 1, ASHLAR_STREAMS, ASHLAR_LISTS - 1};
  static const uint64_t ages[] = {0, 1, 2, UINT64_MAX};
  struct key key;
  key.size = sizes[ashlar_random_below(seed, sizeof sizes / sizeof sizes[0])];
  key.list = lists[ashlar_random_below(seed, sizeof lists / sizeof lists[0])];
  key.age = order == ASHLAR_ORDER_SEGMENT ? ages[ashlar_random_below(seed, 4)] : 0;
  key.addr = 512 * ashlar_random_below(seed, 256);
  return key;
}

/* Members have addresses of their own: the device promises that blocks are apart. */
static bool address_taken(const struct ashlar_manager *m, const bool *member, uint64_t addr)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (member[i] && m->addr[i] == addr) {
      return true;
    }
  }
  return false;
}

static void random_changes(struct ashlar_manager *m, enum ashlar_order order, uint64_t seed)
{
  bool member[FEW_SLOTS] = {false};
  grow(m, FEW_SLOTS);
  for (int step = 0; step < FEW_STEPS; step++) {
    const int32_t slot = (int32_t)ashlar_random_below(&seed, FEW_SLOTS);
    /* questions about keys that no block has, and about those of blocks */
    check_answers(m, member, random_key(&seed, order));
    check_answers(m, member, key_of(m, slot));
    if (member[slot]) {
      ashlar_index_remove(m, slot);
      member[slot] = false;
    } else {
      const struct key key = random_key(&seed, order);
      if (!address_taken(m, member, key.addr)) {
        set_key(m, slot, key);
        ashlar_index_insert(m, slot);
        member[slot] = true;
      }
    }
    check_members(m, member);
  }
  print_message("%d random steps\n", FEW_STEPS);
}

static void random_changes_in_address_order(void **state)
{
  random_changes(*state, ASHLAR_ORDER_ADDRESS, 1);
}

static void random_changes_in_segment_order(void **state)
{
  random_changes(*state, ASHLAR_ORDER_SEGMENT, 2);
}

/* All slots in and out, as far as the capacity goes: there is always room. */
static void many_blocks(void **state)
{
  struct ashlar_manager *m = *state;
  static bool member[MANY_SLOTS];
  const int32_t slots = ASHLAR_SLOTS < MANY_SLOTS ? ASHLAR_SLOTS : MANY_SLOTS;
  uint64_t seed = 3;
  grow(m, slots);
  for (int32_t i = 0; i < slots; i++) {
    struct key key = random_key(&seed, ASHLAR_ORDER_SEGMENT);
    key.addr = (uint64_t)512 * (uint64_t)((i * 7919) % slots);
    set_key(m, i, key);
    ashlar_index_insert(m, i);
    member[i] = true;
  }
  check_members(m, member);
  for (int step = 0; step < MANY_STEPS; step++) {
    const int32_t slot = (int32_t)ashlar_random_below(&seed, (uint64_t)slots);
    check_answers(m, member, random_key(&seed, ASHLAR_ORDER_SEGMENT));
    if (member[slot]) {
      ashlar_index_remove(m, slot);
    } else {
      ashlar_index_insert(m, slot);
    }
    member[slot] = !member[slot];
    check_members(m, member);
  }
  for (int32_t i = 0; i < slots; i++) {
    if (member[i]) {
      ashlar_index_remove(m, i);
      member[i] = false;
    }
  }
  check_members(m, member);
  print_message("%d slots, %d random steps\n", (int)slots, MANY_STEPS);
}

static void walk_is_in_order(struct ashlar_manager *m, const int32_t *expected, int32_t count)
{
  int32_t slot = ashlar_index_after(m, 0, 0, 0, 0);
  for (int32_t i = 0; i < count; i++) {
    assert_int_equal(slot, expected[i]);
    slot = ashlar_index_after(m, 0, m->size[slot], m->age[slot], m->addr[slot]);
  }
  assert_int_equal(slot, -1);
  slot = ashlar_index_before(m, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  for (int32_t i = count; i > 0; i--) {
    assert_int_equal(slot, expected[i - 1]);
    slot = ashlar_index_before(m, 0, m->size[slot], m->age[slot], m->addr[slot]);
  }
  assert_int_equal(slot, -1);
}

/* Blocks of one size: by address where ages are 0, else the older segment first. Nothing of other lists is met.
   Covers REQ-BESTFIT-order. */
static void both_orders(void **state)
{
  struct ashlar_manager *m = *state;
  static const struct key keys[] = {{1024, 0, 8192, 0}, {1024, 0, 4096, 0}, {512, 0, 16384, 0},
                                    {1024, 0, 2048, 0}, {512, 0, 512, 1},   {4096, 0, 1024, 1}};
  static const uint64_t ages[] = {1, 5, 9, 5, 0, 0};
  static const int32_t by_address[] = {2, 3, 1, 0};
  static const int32_t by_segment[] = {2, 0, 3, 1};
  grow(m, 6);
  for (int32_t i = 0; i < 6; i++) {
    set_key(m, i, keys[i]);
    ashlar_index_insert(m, i);
  }
  walk_is_in_order(m, by_address, 4);
  assert_int_equal(ashlar_index_best(m, 0, 513), 3);
  assert_int_equal(ashlar_index_best(m, 0, 1025), -1);
  for (int32_t i = 0; i < 6; i++) {
    ashlar_index_remove(m, i);
  }
  for (int32_t i = 0; i < 6; i++) {
    m->age[i] = ages[i];
    ashlar_index_insert(m, i);
  }
  walk_is_in_order(m, by_segment, 4);
  assert_int_equal(ashlar_index_best(m, 0, 513), 0);
  assert_int_equal(ashlar_index_best(m, 0, 0), 2);
  assert_int_equal(ashlar_index_best(m, 2, 0), -1);
}

/* Covers REQ-BESTFIT-none. */
static void an_empty_index_has_nothing(void **state)
{
  const struct ashlar_manager *m = *state;
  assert_int_equal(ashlar_index_best(m, 0, 0), -1);
  assert_int_equal(ashlar_index_after(m, 0, 0, 0, 0), -1);
  assert_int_equal(ashlar_index_before(m, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX), -1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_empty_index_has_nothing, start, stop),
      cmocka_unit_test_setup_teardown(both_orders, start, stop),
      cmocka_unit_test_setup_teardown(random_changes_in_address_order, start, stop),
      cmocka_unit_test_setup_teardown(random_changes_in_segment_order, start, stop),
      cmocka_unit_test_setup_teardown(many_blocks, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
