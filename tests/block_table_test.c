/* block_table_test.c - the primitives of the block table, each from a valid state: what it does, and that the whole
 * invariant holds after it.
 *
 * Here each function of block_table is reached: reserve (and grow), create, destroy, take, put, put_unmapped, pass, cut,
 * join, release (and absorb_next, absorb_prev, aligned_sum, aligned_rest).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/block_table.h"
#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, LIST = ASHLAR_STREAMS + 3, SEGMENTS = 5, STEPS = 20000 };

#define BASE UINT64_C(4096)
#define UNIT UINT64_C(512)

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

static void check(const struct ashlar_manager *m)
{
  char why[WHY];
  if (!ashlar_core_check_parts(m, ASHLAR_CORE_INDEX + ASHLAR_CORE_BLOCKS, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

/* A segment of so many units, as one taken block. */
static int32_t create(struct ashlar_manager *m, uint64_t addr, uint64_t units)
{
  int32_t slot = -1;
  assert_int_not_equal(ashlar_block_reserve(m, 4), 0);
  slot = ashlar_block_create(m, addr, units * UNIT, LIST, 7, 0);
  check(m);
  return slot;
}

/* Covers REQ-CAPACITY-slots, REQ-CAPACITY-spares. */
static void reserve_grows_to_the_capacity(void **state)
{
  struct ashlar_manager *m = *state;
  static const int32_t counts[] = {0, 1, 1, 5, 3, 17};
  int32_t most = 0;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    most = counts[i] > most ? counts[i] : most;
    assert_int_not_equal(ashlar_block_reserve(m, counts[i]), 0);
    assert_int_equal(m->spare_count, most);
    assert_int_equal(m->top, most);
    check(m);
  }
  assert_int_not_equal(ashlar_block_reserve(m, ASHLAR_SLOTS), 0);
  assert_int_equal(m->spare_count, ASHLAR_SLOTS);
  check(m);
  (void)ashlar_block_create(m, BASE, UNIT, LIST, 0, 0);
  assert_int_equal(ashlar_block_reserve(m, ASHLAR_SLOTS), 0);
  assert_int_not_equal(ashlar_block_reserve(m, ASHLAR_SLOTS - 1), 0);
  assert_int_equal(m->spare_count, ASHLAR_SLOTS - 1);
  check(m);
}

static void create_and_destroy(void **state)
{
  struct ashlar_manager *m = *state;
  const int32_t slot = create(m, BASE, 10);
  assert_int_equal(m->state[slot], ASHLAR_TAKEN);
  assert_int_equal(m->addr[slot], BASE);
  assert_int_equal(m->size[slot], 10 * UNIT);
  assert_int_equal(m->list[slot], LIST);
  assert_int_equal(m->age[slot], 7);
  assert_int_equal(m->requested[slot], 0);
  assert_int_equal(m->prev[slot], -1);
  assert_int_equal(m->next[slot], -1);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 10 * UNIT);
  assert_int_equal(m->spare_count, 3);
  m->requested[slot] = 99;
  ashlar_block_destroy(m, slot);
  check(m);
  assert_int_equal(m->state[slot], ASHLAR_UNUSED);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 0);
  assert_int_equal(m->spare_count, 4);
  assert_int_equal(create(m, BASE, 3), slot);
  assert_int_equal(m->requested[slot], 0); /* nothing of the block before */
}

/* Covers REQ-ACCOUNT-bytes. */
static void put_and_take(void **state)
{
  struct ashlar_manager *m = *state;
  const int32_t slot = create(m, BASE, 10);
  ashlar_block_put(m, slot);
  check(m);
  assert_int_equal(m->state[slot], ASHLAR_FREE);
  assert_int_equal(m->bytes[ASHLAR_FREE], 10 * UNIT);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 0);
  ashlar_block_take(m, slot);
  check(m);
  assert_int_equal(m->state[slot], ASHLAR_TAKEN);
  assert_int_equal(m->bytes[ASHLAR_FREE], 0);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 10 * UNIT);
}

/* Covers REQ-SIZE-front, REQ-STREAM-inherited. */
static void cut_and_join(void **state)
{
  struct ashlar_manager *m = *state;
  const int32_t first = create(m, BASE, 10);
  int32_t middle = -1;
  int32_t last = -1;
  m->requested[first] = 77;
  last = ashlar_block_cut(m, first, 7 * UNIT);
  check(m);
  middle = ashlar_block_cut(m, first, 4 * UNIT);
  check(m);
  assert_int_equal(m->next[first], middle);
  assert_int_equal(m->next[middle], last);
  assert_int_equal(m->prev[last], middle);
  assert_int_equal(m->addr[middle], BASE + 4 * UNIT);
  assert_int_equal(m->size[middle], 3 * UNIT);
  assert_int_equal(m->addr[last], BASE + 7 * UNIT);
  assert_int_equal(m->size[last], 3 * UNIT);
  assert_int_equal(m->list[middle], LIST);
  assert_int_equal(m->age[last], 7);
  assert_int_equal(m->requested[last], 77);
  assert_int_equal(m->state[middle], ASHLAR_TAKEN);
  assert_int_equal(m->spare_count, 1);
  ashlar_block_join(m, first);
  check(m);
  assert_int_equal(m->state[middle], ASHLAR_UNUSED);
  assert_int_equal(m->size[first], 7 * UNIT);
  assert_int_equal(m->prev[last], first);
  ashlar_block_join(m, first);
  check(m);
  assert_int_equal(m->size[first], 10 * UNIT);
  assert_int_equal(m->next[first], -1);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 10 * UNIT);
  assert_int_equal(m->spare_count, 3);
}

/* Release with every kind of neighbour on both sides: | before 2 | block 3 | after 4 |, in units.
   Covers REQ-COALESCE-blocks, REQ-COALESCE-request, REQ-STREAM-inherited, REQ-ACCOUNT-bytes. */
static void release_coalesces(void **state)
{
  struct ashlar_manager *m = *state;
  static const uint8_t kinds[] = {ASHLAR_UNUSED, ASHLAR_FREE, ASHLAR_TAKEN};
  uint64_t addr = BASE;
  for (int pair = 0; pair < 9; pair++) {
    const uint8_t before = kinds[pair / 3];
    const uint8_t after = kinds[pair % 3];
    const uint64_t begin = before == ASHLAR_UNUSED ? 0 : 2;
    const uint64_t end = begin + 3;
    const uint64_t bytes = m->bytes[ASHLAR_TAKEN];
    const int32_t first = create(m, addr, end + (after == ASHLAR_UNUSED ? 0 : 4));
    int32_t slot = first;
    int32_t result = -1;
    if (after != ASHLAR_UNUSED) {
      const int32_t rest = ashlar_block_cut(m, first, end * UNIT);
      if (after == ASHLAR_FREE) {
        ashlar_block_put(m, rest);
      }
    }
    if (before != ASHLAR_UNUSED) {
      slot = ashlar_block_cut(m, first, begin * UNIT);
      if (before == ASHLAR_FREE) {
        ashlar_block_put(m, first);
      }
    }
    check(m);
    m->requested[slot] = 1000 + (uint64_t)pair;
    result = ashlar_block_release(m, slot, ASHLAR_FREE);
    check(m);
    assert_int_equal(m->state[result], ASHLAR_FREE);
    assert_int_equal(m->addr[result], addr + (before == ASHLAR_FREE ? 0 : begin * UNIT));
    assert_int_equal(m->size[result], 3 * UNIT + (before == ASHLAR_FREE ? 2 * UNIT : 0) +
                                          (after == ASHLAR_FREE ? 4 * UNIT : 0));
    assert_int_equal(m->prev[result] == -1, before != ASHLAR_TAKEN);
    assert_int_equal(m->next[result] == -1, after != ASHLAR_TAKEN);
    assert_int_equal(m->requested[result], 1000 + pair); /* the last request, as recorded */
    assert_int_equal(m->list[result], LIST);
    assert_int_equal(m->bytes[ASHLAR_TAKEN], bytes + (before == ASHLAR_TAKEN ? 2 * UNIT : 0) +
                                                 (after == ASHLAR_TAKEN ? 4 * UNIT : 0));
    addr += 64 * UNIT;
  }
}

/* The states of a growable segment: mapped and unmapped blocks, coalesced each among their own kind.
   Covers REQ-COALESCE-blocks, REQ-GROW-map, REQ-GROW-unmap. */
static void growable_segments_map_and_unmap(void **state)
{
  struct ashlar_manager *m = *state;
  int32_t first = -1;
  int32_t second = -1;
  int32_t third = -1;
  assert_int_not_equal(ashlar_block_reserve(m, 4), 0);
  first = ashlar_block_create(m, BASE, 12 * UNIT, LIST, 7, 1);
  ashlar_block_put_unmapped(m, first);
  check(m);
  assert_int_equal(m->list[first], LIST + ASHLAR_LISTS);
  assert_int_equal(m->bytes[ASHLAR_UNMAPPED], 12 * UNIT);
  /* map the first third, and the middle one behind it as a block of its own */
  ashlar_block_take(m, first);
  assert_int_equal(m->list[first], LIST);
  second = ashlar_block_cut(m, first, 4 * UNIT);
  third = ashlar_block_cut(m, second, 4 * UNIT);
  assert_int_equal(ashlar_block_release(m, third, ASHLAR_UNMAPPED), third);
  check(m);
  assert_int_equal(ashlar_block_release(m, first, ASHLAR_FREE), first);
  check(m); /* a free one and an unmapped one are neighbours of a taken one */
  assert_int_equal(m->base[third], BASE);
  assert_int_equal(m->growable[third], 1);
  /* the middle becomes unmapped: it joins the last, not the first */
  assert_int_equal(ashlar_block_release(m, second, ASHLAR_UNMAPPED), second);
  check(m);
  assert_int_equal(m->state[third], ASHLAR_UNUSED);
  assert_int_equal(m->size[second], 8 * UNIT);
  assert_int_equal(m->state[first], ASHLAR_FREE);
  assert_int_equal(m->bytes[ASHLAR_FREE], 4 * UNIT);
  assert_int_equal(m->bytes[ASHLAR_UNMAPPED], 8 * UNIT);
  assert_int_equal(ashlar_block_bytes(m), 12 * UNIT);
  /* unmapped again as a whole, and gone */
  ashlar_block_take(m, first);
  assert_int_equal(ashlar_block_release(m, first, ASHLAR_UNMAPPED), first);
  check(m);
  assert_int_equal(m->size[first], 12 * UNIT);
  ashlar_block_take(m, first);
  ashlar_block_destroy(m, first);
  check(m);
  assert_int_equal(ashlar_block_bytes(m), 0);
}

/* A block goes from an operation to its owner, to its pending uses, to a request, and back; its bytes go with it.
   Covers REQ-ACCOUNT-bytes. */
static void blocks_pass_from_hand_to_hand(void **state)
{
  static const uint8_t hands[] = {ASHLAR_ALLOCATED, ASHLAR_PENDING, ASHLAR_HELD,
                                  ASHLAR_ALLOCATED, ASHLAR_HELD,    ASHLAR_TAKEN};
  struct ashlar_manager *m = *state;
  const int32_t slot = create(m, BASE, 6);
  const int32_t rest = ashlar_block_cut(m, slot, 2 * UNIT);
  for (size_t i = 0; i < sizeof hands / sizeof hands[0]; i++) {
    ashlar_block_pass(m, slot, hands[i]);
    check(m);
    assert_int_equal(m->state[slot], hands[i]);
    assert_int_equal(m->bytes[hands[i]], 2 * UNIT + (hands[i] == ASHLAR_TAKEN ? 4 * UNIT : 0));
    assert_int_equal(ashlar_block_bytes(m), 6 * UNIT);
  }
  /* a neighbour that somebody has is not absorbed, whoever has it */
  ashlar_block_pass(m, slot, ASHLAR_PENDING);
  assert_int_equal(ashlar_block_release(m, rest, ASHLAR_FREE), rest);
  check(m);
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  assert_int_equal(ashlar_block_release(m, slot, ASHLAR_FREE), slot);
  check(m);
  assert_int_equal(m->size[slot], 6 * UNIT);
}

/* Neighbouring segments touch, and stay apart when all is free.
   Covers REQ-TILE-blocks. */
static void segments_never_join(void **state)
{
  struct ashlar_manager *m = *state;
  const int32_t one = create(m, BASE, 8);
  const int32_t two = create(m, BASE + 8 * UNIT, 8);
  const int32_t three = create(m, BASE + 16 * UNIT, 8);
  assert_int_equal(ashlar_block_release(m, one, ASHLAR_FREE), one);
  assert_int_equal(ashlar_block_release(m, three, ASHLAR_FREE), three);
  assert_int_equal(ashlar_block_release(m, two, ASHLAR_FREE), two);
  check(m);
  assert_int_equal(m->free_count, 3);
}

/* One random step on a block: cut, release, take, or, of the blocks of a whole segment, destroy and create. */
static void random_step(struct ashlar_manager *m, int32_t slot, uint64_t *seed, uint64_t *addr)
{
  const uint64_t choice = ashlar_random_below(seed, 8);
  if (m->state[slot] == ASHLAR_FREE) {
    ashlar_block_take(m, slot);
  } else if (choice < 4 && m->size[slot] > UNIT && m->spare_count > 0) {
    const uint64_t units = m->size[slot] / UNIT;
    (void)ashlar_block_cut(m, slot, UNIT * (1 + ashlar_random_below(seed, units - 1)));
  } else if (choice == 4 && m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_TAKEN) {
    ashlar_block_join(m, slot);
  } else if (choice == 5 && m->next[slot] == -1 && m->prev[slot] == -1) {
    ashlar_block_destroy(m, slot);
    (void)ashlar_block_create(m, *addr, UNIT * (1 + ashlar_random_below(seed, 64)), LIST, 1,
                              choice % 2);
    *addr += 64 * UNIT;
  } else {
    (void)ashlar_block_release(m, slot, ASHLAR_FREE);
  }
}

/* Covers REQ-SIZE-granule, REQ-DISJOINT-blocks, REQ-TILE-blocks, REQ-COALESCE-blocks, REQ-ACCOUNT-bytes,
   REQ-CAPACITY-spares. */
static void random_steps(void **state)
{
  struct ashlar_manager *m = *state;
  uint64_t seed = 19;
  uint64_t addr = BASE;
  size_t steps = 0;
  int32_t fewest = ASHLAR_SLOTS; /* spare slots, when there were most blocks */
  for (int i = 0; i < SEGMENTS; i++) {
    (void)create(m, addr, 64);
    addr += 64 * UNIT;
  }
  assert_int_not_equal(ashlar_block_reserve(m, 200), 0);
  while (steps < STEPS) {
    const int32_t slot = (int32_t)ashlar_random_below(&seed, (uint64_t)m->top);
    if (m->state[slot] != ASHLAR_UNUSED) {
      random_step(m, slot, &seed, &addr);
      check(m);
      steps++;
      fewest = m->spare_count < fewest ? m->spare_count : fewest;
    }
  }
  assert_true(m->top - fewest > 4 * SEGMENTS);
  /* Everything back: each segment is one free block. */
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_TAKEN) {
      (void)ashlar_block_release(m, i, ASHLAR_FREE);
    }
  }
  check(m);
  assert_int_equal(m->free_count, SEGMENTS);
  assert_int_equal(m->bytes[ASHLAR_TAKEN], 0);
  print_message("%zu random steps, up to %d blocks\n", steps, (int)(m->top - fewest));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(reserve_grows_to_the_capacity, start, stop),
      cmocka_unit_test_setup_teardown(create_and_destroy, start, stop),
      cmocka_unit_test_setup_teardown(put_and_take, start, stop),
      cmocka_unit_test_setup_teardown(cut_and_join, start, stop),
      cmocka_unit_test_setup_teardown(release_coalesces, start, stop),
      cmocka_unit_test_setup_teardown(segments_never_join, start, stop),
      cmocka_unit_test_setup_teardown(growable_segments_map_and_unmap, start, stop),
      cmocka_unit_test_setup_teardown(blocks_pass_from_hand_to_hand, start, stop),
      cmocka_unit_test_setup_teardown(random_steps, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
