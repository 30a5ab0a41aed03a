/* sim_virtual_memory_test.c - reservations, pieces and mappings of the pretend device.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda/sim/virtual_memory.h"

#define PAGE ASHLAR_SIM_ALIGNMENT
#define BASE (UINT64_C(1) << 61)

struct fixture {
  struct ashlar_sim_virtual_memory memory;
  struct ashlar_sim_device devices[2];
};

static void start(struct fixture *f, uint64_t budget, uint64_t capacity)
{
  ashlar_sim_virtual_init(&f->memory, BASE - 5, budget);
  for (int i = 0; i < 2; i++) {
    ashlar_sim_init(&f->devices[i], (struct ashlar_sim_config){.capacity = capacity, .base = PAGE});
  }
}

static void stop(struct fixture *f)
{
  ashlar_sim_virtual_destroy(&f->memory);
  for (int i = 0; i < 2; i++) {
    ashlar_sim_destroy(&f->devices[i]);
  }
}

static uint64_t reserve(struct fixture *f, uint64_t pages)
{
  uint64_t address = 0;
  assert_int_equal(ashlar_sim_reserve(&f->memory, pages * PAGE, &address), ASHLAR_SIM_OK);
  return address;
}

static uint64_t create(struct fixture *f, int32_t device, uint64_t pages)
{
  uint64_t piece = 0;
  assert_int_equal(ashlar_sim_create_piece(&f->memory, f->devices, device, pages * PAGE, &piece),
                   ASHLAR_SIM_OK);
  return piece;
}

static void reservations_take_the_lowest_gap(void **state)
{
  (void)state;
  struct fixture f;
  start(&f, ASHLAR_SIM_UNLIMITED, ASHLAR_SIM_UNLIMITED);
  const uint64_t a = reserve(&f, 2);
  assert_int_equal(a, BASE);
  assert_int_equal(reserve(&f, 3), BASE + 2 * PAGE);
  assert_int_equal(reserve(&f, 1), BASE + 5 * PAGE);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, BASE + 2 * PAGE, 3 * PAGE), ASHLAR_SIM_OK);
  assert_int_equal(reserve(&f, 4), BASE + 6 * PAGE);
  assert_int_equal(reserve(&f, 2), BASE + 2 * PAGE);
  assert_int_equal(reserve(&f, 1), BASE + 4 * PAGE);
  assert_int_equal(f.memory.reserved, 10 * PAGE);
  stop(&f);
}

static void reservations_are_judged(void **state)
{
  (void)state;
  struct fixture f;
  start(&f, 4 * PAGE, ASHLAR_SIM_UNLIMITED);
  uint64_t address = 1;
  assert_int_equal(ashlar_sim_reserve(&f.memory, 0, &address), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_reserve(&f.memory, UINT64_MAX, &address), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_reserve(&f.memory, PAGE + 1, &address), ASHLAR_SIM_MISALIGNED);
  assert_int_equal(ashlar_sim_reserve(&f.memory, 5 * PAGE, &address), ASHLAR_SIM_ADDRESS_BUDGET);
  const uint64_t a = reserve(&f, 3);
  assert_int_equal(ashlar_sim_reserve(&f.memory, 2 * PAGE, &address), ASHLAR_SIM_ADDRESS_BUDGET);
  assert_int_equal(address, 1);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, a, 2 * PAGE), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, a + PAGE, 2 * PAGE), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, 0, 3 * PAGE), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, a, 3 * PAGE), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_unreserve(&f.memory, a, 3 * PAGE), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(f.memory.peak_reserved, 3 * PAGE);
  assert_int_equal(f.memory.reserved, 0);
  /* All addresses that there are, and not one more. */
  f.memory.budget = ASHLAR_SIM_UNLIMITED;
  assert_int_equal(ashlar_sim_reserve(&f.memory, ASHLAR_SIM_ADDRESS_END - BASE + PAGE, &address),
                   ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_reserve(&f.memory, ASHLAR_SIM_ADDRESS_END - BASE, &address),
                   ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_reserve(&f.memory, PAGE, &address), ASHLAR_SIM_RANGE);
  stop(&f);
}

static void a_page_goes_through_its_states(void **state)
{
  (void)state;
  struct fixture f;
  start(&f, ASHLAR_SIM_UNLIMITED, 4 * PAGE);
  const uint64_t a = reserve(&f, 4);
  const uint64_t piece = create(&f, 1, 2);
  struct ashlar_sim_virtual_memory *v = &f.memory;
  assert_int_equal(ashlar_sim_piece_device(v, piece), 1);
  assert_int_equal(f.devices[1].used, 2 * PAGE);
  assert_int_equal(f.devices[0].used, 0);
  /* reserved */
  assert_null(ashlar_sim_mapping_at(v, a));
  assert_int_equal(ashlar_sim_set_access(v, a, 2 * PAGE, 0, true), ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a, 2 * PAGE), ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(ashlar_sim_map(v, a + 1, piece), ASHLAR_SIM_MISALIGNED);
  assert_int_equal(ashlar_sim_map(v, a + 3 * PAGE, piece), ASHLAR_SIM_NOT_RESERVED);
  assert_int_equal(ashlar_sim_map(v, a - PAGE, piece), ASHLAR_SIM_NOT_RESERVED);
  assert_int_equal(ashlar_sim_map(v, a, piece + 1), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_map(v, a + PAGE, piece), ASHLAR_SIM_OK);
  /* mapped */
  assert_non_null(ashlar_sim_mapping_at(v, a + PAGE));
  assert_null(ashlar_sim_mapping_at(v, a + PAGE - 1));
  assert_non_null(ashlar_sim_mapping_at(v, a + 3 * PAGE - 1));
  assert_null(ashlar_sim_mapping_at(v, a + 3 * PAGE));
  for (uint64_t i = 0; i < 3; i++) {
    assert_int_equal(ashlar_sim_map(v, a + i * PAGE, piece), ASHLAR_SIM_ALREADY_MAPPED);
  }
  assert_false(ashlar_sim_is_accessible(v, a + PAGE, 1, 0));
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, PAGE, 0, true), ASHLAR_SIM_CUTS_MAPPING);
  assert_int_equal(ashlar_sim_set_access(v, a + 2 * PAGE, PAGE, 0, true), ASHLAR_SIM_CUTS_MAPPING);
  assert_int_equal(ashlar_sim_set_access(v, a, 3 * PAGE, 0, true), ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 3 * PAGE, 0, true), ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 2 * PAGE, 64, true), ASHLAR_SIM_NO_DEVICE);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 2 * PAGE, -1, true), ASHLAR_SIM_NO_DEVICE);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 0, 0, true), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE + 1, PAGE, 0, true), ASHLAR_SIM_MISALIGNED);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 2 * PAGE, 63, true), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 2 * PAGE, 0, true), ASHLAR_SIM_OK);
  /* accessible */
  assert_true(ashlar_sim_is_accessible(v, a + PAGE, 2 * PAGE, 0));
  assert_true(ashlar_sim_is_accessible(v, a + 2 * PAGE, 7, 63));
  assert_false(ashlar_sim_is_accessible(v, a + 2 * PAGE, 7, 1));
  assert_false(ashlar_sim_is_accessible(v, a + 3 * PAGE - 1, 2, 0));
  assert_false(ashlar_sim_is_accessible(v, a + PAGE - 1, 2, 0));
  assert_int_equal(ashlar_sim_set_access(v, a + PAGE, 2 * PAGE, 63, false), ASHLAR_SIM_OK);
  assert_false(ashlar_sim_is_accessible(v, a + 2 * PAGE, 7, 63));
  assert_int_equal(ashlar_sim_unreserve(v, a, 4 * PAGE), ASHLAR_SIM_STILL_MAPPED);
  /* Released while mapped: the memory stays until it is unmapped. */
  assert_int_equal(ashlar_sim_release_piece(v, f.devices, piece), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_release_piece(v, f.devices, piece), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_piece_device(v, piece), -1);
  assert_int_equal(f.devices[1].used, 2 * PAGE);
  assert_true(ashlar_sim_is_accessible(v, a + PAGE, 2 * PAGE, 0));
  assert_false(ashlar_sim_is_balanced(v));
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a + PAGE, 2 * PAGE), ASHLAR_SIM_OK);
  assert_int_equal(f.devices[1].used, 0);
  assert_int_equal(ashlar_sim_map(v, a, piece), ASHLAR_SIM_UNKNOWN);
  assert_false(ashlar_sim_is_balanced(v));
  assert_int_equal(ashlar_sim_unreserve(v, a, 4 * PAGE), ASHLAR_SIM_OK);
  assert_true(ashlar_sim_is_balanced(v));
  stop(&f);
}

static void several_mappings_are_one_range(void **state)
{
  (void)state;
  struct fixture f;
  start(&f, ASHLAR_SIM_UNLIMITED, 8 * PAGE);
  struct ashlar_sim_virtual_memory *v = &f.memory;
  const uint64_t a = reserve(&f, 6);
  const uint64_t b = reserve(&f, 2);
  const uint64_t one = create(&f, 0, 1);
  const uint64_t two = create(&f, 1, 2);
  /* A piece may be mapped twice; reservations that touch are two. */
  assert_int_equal(ashlar_sim_map(v, a, one), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_map(v, a + PAGE, two), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_map(v, a + 3 * PAGE, one), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_map(v, a + 5 * PAGE, one), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_map(v, b, two), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_map(v, a + 5 * PAGE, two), ASHLAR_SIM_NOT_RESERVED);
  assert_int_equal(v->mapped, 7 * PAGE);
  assert_int_equal(f.devices[0].used, PAGE);
  assert_int_equal(ashlar_sim_set_access(v, a, 4 * PAGE, 0, true), ASHLAR_SIM_OK);
  assert_true(ashlar_sim_is_accessible(v, a, 4 * PAGE, 0));
  assert_false(ashlar_sim_is_accessible(v, a, 5 * PAGE, 0));
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a + 5 * PAGE, 2 * PAGE), ASHLAR_SIM_NOT_RESERVED);
  /* A page in the middle is not mapped. */
  assert_int_equal(ashlar_sim_set_access(v, a + 3 * PAGE, 2 * PAGE, 0, true),
                   ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a + 3 * PAGE, 3 * PAGE), ASHLAR_SIM_NOT_MAPPED);
  assert_int_equal(v->mapping_count, 5);
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a + PAGE, 3 * PAGE), ASHLAR_SIM_OK);
  assert_int_equal(v->mapping_count, 3);
  assert_int_equal(v->mapped, 4 * PAGE);
  assert_int_equal(ashlar_sim_release_piece(v, f.devices, one), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a, PAGE), ASHLAR_SIM_OK);
  assert_int_equal(f.devices[0].used, PAGE);
  assert_int_equal(ashlar_sim_unmap(v, f.devices, a + 5 * PAGE, PAGE), ASHLAR_SIM_OK);
  assert_int_equal(f.devices[0].used, 0);
  assert_int_equal(f.devices[1].used, 2 * PAGE);
  stop(&f);
}

static void pieces_count_against_the_capacity(void **state)
{
  (void)state;
  struct fixture f;
  start(&f, ASHLAR_SIM_UNLIMITED, 3 * PAGE);
  struct ashlar_sim_virtual_memory *v = &f.memory;
  uint64_t piece = 9;
  assert_int_equal(ashlar_sim_create_piece(v, f.devices, 0, 0, &piece), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_create_piece(v, f.devices, 0, 5, &piece), ASHLAR_SIM_MISALIGNED);
  assert_int_equal(ashlar_sim_create_piece(v, f.devices, 0, 4 * PAGE, &piece), ASHLAR_SIM_REFUSED);
  const uint64_t first = create(&f, 0, 2);
  assert_int_equal(ashlar_sim_create_piece(v, f.devices, 0, 2 * PAGE, &piece), ASHLAR_SIM_REFUSED);
  assert_int_equal(piece, 9);
  assert_int_equal(ashlar_sim_allocate(&f.devices[0], PAGE + 1, 0).status, ASHLAR_SIM_REFUSED);
  assert_int_equal(ashlar_sim_allocate(&f.devices[0], PAGE, 0).status, ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_free_bytes(&f.devices[0]), 0);
  assert_int_equal(ashlar_sim_create_piece(v, f.devices, 0, PAGE, &piece), ASHLAR_SIM_REFUSED);
  (void)create(&f, 1, 3);
  assert_int_equal(ashlar_sim_release_piece(v, f.devices, first), ASHLAR_SIM_OK);
  /* The handle is another one now. */
  assert_true(create(&f, 0, 2) != first);
  assert_int_equal(v->piece_count, 2);
  stop(&f);
}

/* Pages mapped and unmapped at random, against an array that says which are; handles do not pile up. */
static void random_calls_keep_the_books(void **state)
{
  (void)state;
  enum { CALLS = 20000, SLOTS = 32 };
  struct fixture f;
  start(&f, ASHLAR_SIM_UNLIMITED, 24 * PAGE);
  struct ashlar_sim_virtual_memory *v = &f.memory;
  const uint64_t a = reserve(&f, SLOTS);
  uint64_t piece[SLOTS] = {0}; /* mapped there */
  uint64_t random = 11;
  size_t mapped = 0;
  for (int i = 0; i < CALLS; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t slot = (random >> 33) % SLOTS;
    uint64_t made = 0;
    if (piece[slot] != 0) {
      assert_int_equal(ashlar_sim_unmap(v, f.devices, a + slot * PAGE, PAGE), ASHLAR_SIM_OK);
      assert_int_equal(ashlar_sim_release_piece(v, f.devices, piece[slot]), ASHLAR_SIM_OK);
      piece[slot] = 0;
      mapped--;
    } else if (ashlar_sim_create_piece(v, f.devices, 0, PAGE, &made) == ASHLAR_SIM_OK) {
      assert_int_equal(ashlar_sim_map(v, a + slot * PAGE, made), ASHLAR_SIM_OK);
      piece[slot] = made;
      mapped++;
    } else {
      assert_int_equal(mapped, 24);
    }
    assert_int_equal(v->mapping_count, mapped);
    assert_int_equal(f.devices[0].used, mapped * PAGE);
    assert_int_equal(ashlar_sim_mapping_at(v, a + slot * PAGE) != NULL, piece[slot] != 0);
  }
  assert_int_equal(v->counts.maps - v->counts.unmaps, mapped);
  assert_true(v->pieces.count <= 24);
  stop(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reservations_take_the_lowest_gap),
      cmocka_unit_test(reservations_are_judged),
      cmocka_unit_test(a_page_goes_through_its_states),
      cmocka_unit_test(several_mappings_are_one_range),
      cmocka_unit_test(pieces_count_against_the_capacity),
      cmocka_unit_test(random_calls_keep_the_books),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
