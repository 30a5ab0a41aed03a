/* sim_device_test.c - the pretend device: placement, refusals, counts, and playing a script.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda/sim/device.h"

#define MIB (UINT64_C(1) << 20)
#define BASE (UINT64_C(1) << 40)

static struct ashlar_sim_device make(enum ashlar_sim_placement placement, uint64_t capacity)
{
  struct ashlar_sim_device device;
  ashlar_sim_init(&device, (struct ashlar_sim_config){
                               .capacity = capacity, .base = BASE, .placement = placement});
  return device;
}

/* Asks for a segment that must be given; returns its address. */
static uint64_t given(struct ashlar_sim_device *device, uint64_t bytes)
{
  const struct ashlar_sim_result result = ashlar_sim_allocate(device, bytes, 0);
  assert_int_equal(result.status, ASHLAR_SIM_OK);
  return result.address;
}

static enum ashlar_sim_status asked(struct ashlar_sim_device *device, uint64_t bytes)
{
  return ashlar_sim_allocate(device, bytes, 0).status;
}

static enum ashlar_sim_status freed(struct ashlar_sim_device *device, uint64_t address)
{
  return ashlar_sim_free(device, address).status;
}

static void ascending_segments_follow_each_other(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(given(&device, 2 * MIB), BASE);
  assert_int_equal(given(&device, 3 * MIB), BASE + 2 * MIB);
  /* Starts are aligned, so a gap of 1 MiB is left. */
  assert_int_equal(given(&device, 20 * MIB), BASE + 6 * MIB);
  assert_int_equal(freed(&device, BASE), ASHLAR_SIM_OK);
  /* What was freed is not handed out again. */
  assert_int_equal(given(&device, 2 * MIB), BASE + 26 * MIB);
  assert_int_equal(device.used, 25 * MIB);
  assert_int_equal(device.peak_used, 25 * MIB);
  ashlar_sim_destroy(&device);
}

static void descending_segments_go_down_to_the_base(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_DESCENDING, ASHLAR_SIM_UNLIMITED);
  const uint64_t top = BASE + ASHLAR_SIM_DESCENT;
  assert_int_equal(given(&device, 2 * MIB), top - 2 * MIB);
  assert_int_equal(given(&device, 3 * MIB), top - 6 * MIB);
  assert_int_equal(given(&device, ASHLAR_SIM_DESCENT - 6 * MIB), BASE);
  assert_int_equal(asked(&device, 1), ASHLAR_SIM_RANGE);
  assert_int_equal(device.counts.refused, 1);
  ashlar_sim_destroy(&device);
}

static void first_fit_takes_the_lowest_gap(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_FIRST_FIT, ASHLAR_SIM_UNLIMITED);
  for (uint64_t i = 0; i < 4; i++) {
    assert_int_equal(given(&device, 4 * MIB), BASE + i * 4 * MIB);
  }
  assert_int_equal(freed(&device, BASE + 4 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(freed(&device, BASE + 8 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(given(&device, 10 * MIB), BASE + 16 * MIB);
  assert_int_equal(given(&device, 2 * MIB), BASE + 4 * MIB);
  assert_int_equal(given(&device, 6 * MIB), BASE + 6 * MIB);
  assert_int_equal(given(&device, 3 * MIB), BASE + 26 * MIB);
  /* Starts are aligned here too. */
  assert_int_equal(given(&device, 2 * MIB), BASE + 30 * MIB);
  ashlar_sim_destroy(&device);
}

static void adjacent_segments_touch_whatever_their_sizes(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ADJACENT, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(given(&device, 3 * MIB), BASE);
  assert_int_equal(given(&device, 512), BASE + 3 * MIB);
  assert_int_equal(given(&device, 1), BASE + 3 * MIB + 512);
  assert_int_equal(given(&device, 2 * MIB), BASE + 3 * MIB + 1024);
  assert_int_equal(ashlar_sim_segment_at(&device, BASE + 3 * MIB)->bytes, 512);
  assert_int_equal(ashlar_sim_segment_at(&device, BASE + 3 * MIB - 1)->bytes, 3 * MIB);
  assert_null(ashlar_sim_segment_at(&device, BASE + 3 * MIB + 513));
  assert_null(ashlar_sim_segment_at(&device, BASE - 1));
  assert_null(ashlar_sim_segment_at(&device, UINT64_MAX));
  ashlar_sim_destroy(&device);
}

static void a_freed_address_comes_again(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_REUSE, ASHLAR_SIM_UNLIMITED);
  for (uint64_t i = 0; i < 4; i++) {
    assert_int_equal(given(&device, 4 * MIB), BASE + i * 4 * MIB);
  }
  assert_int_equal(freed(&device, BASE + 8 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(freed(&device, BASE), ASHLAR_SIM_OK);
  /* The last one freed first, also for a smaller segment; then the one before. */
  assert_int_equal(given(&device, 5 * MIB), BASE + 16 * MIB);
  assert_int_equal(given(&device, 1), BASE);
  assert_int_equal(given(&device, 4 * MIB), BASE + 8 * MIB);
  assert_int_equal(given(&device, 1), BASE + 22 * MIB);
  /* A freed range that was taken over is not handed out. */
  assert_int_equal(freed(&device, BASE + 8 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_adopt(&device, BASE + 9 * MIB, 512, 0), ASHLAR_SIM_OK);
  assert_int_equal(given(&device, 4 * MIB), BASE + 24 * MIB);
  assert_int_equal(given(&device, MIB), BASE + 8 * MIB);
  /* Only what the last segment there was counts; two ranges that touch are not one. */
  assert_int_equal(freed(&device, BASE), ASHLAR_SIM_OK);
  assert_int_equal(freed(&device, BASE + 4 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(given(&device, 4 * MIB), BASE + 4 * MIB);
  assert_int_equal(given(&device, 4 * MIB), BASE + 28 * MIB);
  assert_int_equal(freed(&device, BASE + 4 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(given(&device, 5), BASE + 4 * MIB);
  assert_int_equal(given(&device, 6), BASE + 32 * MIB);
  assert_int_equal(given(&device, 1), BASE);
  /* More are freed than are remembered. */
  for (uint64_t i = 0; i < ASHLAR_SIM_FREED + 5; i++) {
    assert_int_equal(given(&device, 2 * MIB), BASE + (34 + 2 * i) * MIB);
  }
  for (uint64_t i = 0; i < ASHLAR_SIM_FREED + 5; i++) {
    assert_int_equal(freed(&device, BASE + (34 + 2 * i) * MIB), ASHLAR_SIM_OK);
  }
  for (uint64_t i = ASHLAR_SIM_FREED + 5; i > 5; i--) {
    assert_int_equal(given(&device, 2 * MIB), BASE + (34 + 2 * (i - 1)) * MIB);
  }
  assert_int_equal(given(&device, 2 * MIB), BASE + (34 + 2 * (ASHLAR_SIM_FREED + 5)) * MIB);
  ashlar_sim_destroy(&device);
}

static void a_segment_goes_where_it_is_put(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(given(&device, 2 * MIB), BASE);
  ashlar_sim_place_next(&device, BASE + 2 * MIB - 512);
  assert_int_equal(asked(&device, 512), ASHLAR_SIM_OVERLAP);
  ashlar_sim_place_next(&device, ASHLAR_SIM_ADDRESS_END);
  assert_int_equal(asked(&device, 512), ASHLAR_SIM_RANGE);
  ashlar_sim_place_next(&device, BASE - 512);
  assert_int_equal(asked(&device, 513), ASHLAR_SIM_OVERLAP);
  assert_int_equal(given(&device, 512), BASE - 512);
  assert_int_equal(freed(&device, BASE), ASHLAR_SIM_OK);
  ashlar_sim_place_next(&device, BASE);
  assert_int_equal(given(&device, MIB), BASE);
  assert_int_equal(given(&device, MIB), BASE + 2 * MIB);
  ashlar_sim_destroy(&device);
}

static void memory_is_taken_without_an_address(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, 8 * MIB);
  assert_int_equal(ashlar_sim_take(&device, 0), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_take(&device, UINT64_MAX), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_take(&device, 8 * MIB + 1), ASHLAR_SIM_REFUSED);
  assert_int_equal(ashlar_sim_take(&device, 5 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(asked(&device, 4 * MIB), ASHLAR_SIM_REFUSED);
  (void)given(&device, 3 * MIB);
  assert_int_equal(ashlar_sim_take(&device, 1), ASHLAR_SIM_REFUSED);
  assert_int_equal(device.peak_used, 8 * MIB);
  assert_int_equal(ashlar_sim_give(&device, 5 * MIB + 1), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(ashlar_sim_give(&device, 5 * MIB), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_free_bytes(&device), 5 * MIB);
  device.config.capacity = ASHLAR_SIM_UNLIMITED;
  assert_int_equal(ashlar_sim_take(&device, ASHLAR_SIM_ADDRESS_END), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_take(&device, 1), ASHLAR_SIM_REFUSED);
  ashlar_sim_destroy(&device);
}

static void the_capacity_holds_and_is_told(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, 10 * MIB);
  const uint64_t first = given(&device, 6 * MIB);
  assert_int_equal(ashlar_sim_free_bytes(&device), 4 * MIB);
  assert_int_equal(asked(&device, 4 * MIB + 1), ASHLAR_SIM_REFUSED);
  assert_int_equal(asked(&device, UINT64_MAX), ASHLAR_SIM_RANGE);
  assert_int_equal(asked(&device, 0), ASHLAR_SIM_RANGE);
  (void)given(&device, 4 * MIB);
  assert_int_equal(ashlar_sim_free_bytes(&device), 0);
  assert_int_equal(asked(&device, 1), ASHLAR_SIM_REFUSED);
  assert_int_equal(freed(&device, first), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_free_bytes(&device), 6 * MIB);
  assert_int_equal(device.peak_used, 10 * MIB);
  assert_int_equal(device.counts.allocs, 2);
  assert_int_equal(device.counts.frees, 1);
  assert_int_equal(device.counts.refused, 4);
  ashlar_sim_destroy(&device);
}

static void only_what_was_handed_out_can_be_freed(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, ASHLAR_SIM_UNLIMITED);
  assert_int_equal(freed(&device, BASE), ASHLAR_SIM_UNKNOWN);
  const struct ashlar_sim_result handed = ashlar_sim_allocate(&device, 2 * MIB, 17);
  assert_int_equal(freed(&device, handed.address + 1), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(freed(&device, handed.address - 1), ASHLAR_SIM_UNKNOWN);
  const struct ashlar_sim_result gone = ashlar_sim_free(&device, handed.address);
  assert_int_equal(gone.status, ASHLAR_SIM_OK);
  assert_int_equal(gone.bytes, 2 * MIB);
  assert_int_equal(gone.tag, 17);
  assert_int_equal(freed(&device, handed.address), ASHLAR_SIM_UNKNOWN);
  assert_int_equal(device.counts.unknown, 4);
  assert_int_equal(device.used, 0);
  ashlar_sim_destroy(&device);
}

static void segments_from_before_are_adopted(void **state)
{
  (void)state;
  struct ashlar_sim_device device = make(ASHLAR_SIM_ASCENDING, 8 * MIB);
  assert_int_equal(ashlar_sim_adopt(&device, BASE + 512, 16 * MIB, 3), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_adopt(&device, BASE + 1024, 512, 3), ASHLAR_SIM_OVERLAP);
  assert_int_equal(ashlar_sim_adopt(&device, BASE, 513, 3), ASHLAR_SIM_OVERLAP);
  assert_int_equal(ashlar_sim_adopt(&device, BASE, 512, 3), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_adopt(&device, ASHLAR_SIM_ADDRESS_END, 1, 3), ASHLAR_SIM_RANGE);
  assert_int_equal(ashlar_sim_adopt(&device, UINT64_MAX, UINT64_MAX, 3), ASHLAR_SIM_RANGE);
  assert_int_equal(device.counts.allocs, 0);
  assert_int_equal(ashlar_sim_free_bytes(&device), 0);
  assert_int_equal(asked(&device, 512), ASHLAR_SIM_REFUSED);
  assert_int_equal(freed(&device, BASE + 512), ASHLAR_SIM_OK);
  /* New segments come behind those adopted. */
  assert_int_equal(given(&device, 2 * MIB), BASE + 18 * MIB);
  ashlar_sim_destroy(&device);
}

static struct ashlar_sim_device make_recorded(const struct ashlar_sim_script_line *script,
                                              size_t length)
{
  struct ashlar_sim_device device;
  ashlar_sim_init(&device, (struct ashlar_sim_config){.capacity = ASHLAR_SIM_UNLIMITED,
                                                      .placement = ASHLAR_SIM_RECORDED,
                                                      .script = script,
                                                      .script_length = length});
  return device;
}

static void a_script_is_played(void **state)
{
  (void)state;
  static const struct ashlar_sim_script_line SCRIPT[] = {
      {3, 0x5000000, 2 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {8, 0x1000000, 4 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {20, 0x5000000, 2 * MIB, ASHLAR_SIM_SCRIPT_FREE},
      {21, 0x5000000, 6 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {30, 12345, 8 * MIB, ASHLAR_SIM_SCRIPT_REFUSE},
  };
  struct ashlar_sim_device device = make_recorded(SCRIPT, 5);
  assert_int_equal(given(&device, 2 * MIB), 0x5000000);
  ashlar_sim_advance(&device, 4);
  assert_int_equal(given(&device, 4 * MIB), 0x1000000);
  ashlar_sim_advance(&device, 9);
  /* The recorded device refused, and a segment was freed for that. */
  assert_int_equal(asked(&device, 6 * MIB), ASHLAR_SIM_REFUSED);
  assert_true(ashlar_sim_expects_free(&device, 0x5000000));
  assert_false(ashlar_sim_expects_free(&device, 0x1000000));
  assert_int_equal(freed(&device, 0x5000000), ASHLAR_SIM_OK);
  assert_int_equal(given(&device, 6 * MIB), 0x5000000);
  ashlar_sim_advance(&device, 22);
  assert_int_equal(asked(&device, 8 * MIB), ASHLAR_SIM_REFUSED);
  assert_int_equal(asked(&device, 8 * MIB), ASHLAR_SIM_REFUSED);
  assert_int_equal(ashlar_sim_free_bytes(&device), 12345);
  ashlar_sim_advance(&device, UINT64_MAX);
  assert_int_equal(device.counts.off_script, 0);
  assert_int_equal(device.counts.allocs, 3);
  assert_int_equal(device.counts.frees, 1);
  assert_int_equal(device.counts.refused, 3);
  ashlar_sim_destroy(&device);
}

static void what_is_not_in_the_script_is_counted(void **state)
{
  (void)state;
  static const struct ashlar_sim_script_line SCRIPT[] = {
      {1, 0x5000000, 2 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {2, 0x5100000, 2 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {3, 0x7000000, 2 * MIB, ASHLAR_SIM_SCRIPT_ALLOC},
      {4, 0x7000000, 2 * MIB, ASHLAR_SIM_SCRIPT_FREE},
  };
  struct ashlar_sim_device device = make_recorded(SCRIPT, 4);
  assert_int_equal(asked(&device, 4 * MIB), ASHLAR_SIM_NOT_SCRIPTED);
  assert_int_equal(device.counts.off_script, 1);
  (void)given(&device, 2 * MIB);
  /* A recording that is damaged: this one overlaps the segment before it. */
  assert_int_equal(asked(&device, 2 * MIB), ASHLAR_SIM_OVERLAP);
  ashlar_sim_advance(&device, 2);
  assert_int_equal(device.counts.off_script, 2);
  (void)given(&device, 2 * MIB);
  assert_int_equal(freed(&device, 0x5000000), ASHLAR_SIM_OK);
  assert_int_equal(device.counts.off_script, 3);
  ashlar_sim_advance(&device, 4);
  assert_int_equal(device.counts.off_script, 4);
  assert_int_equal(asked(&device, 2 * MIB), ASHLAR_SIM_NOT_SCRIPTED);
  assert_int_equal(device.segment_count, 1);
  ashlar_sim_destroy(&device);
}

/* Many segments against a plain list: none overlaps another, and sums are right. */
static void random_calls_keep_segments_apart(void **state)
{
  (void)state;
  enum { CALLS = 20000, MOST = 400 };
  const uint64_t capacity = 96 * MIB;
  struct ashlar_sim_device device = make(ASHLAR_SIM_FIRST_FIT, capacity);
  uint64_t live[MOST][2];
  size_t count = 0;
  uint64_t sum = 0;
  uint64_t random = 7;
  for (int i = 0; i < CALLS; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t bytes = (random >> 33) % (8 * MIB) + 1;
    if ((random >> 60) < 8 && count < MOST) {
      const struct ashlar_sim_result result = ashlar_sim_allocate(&device, bytes, 0);
      if (result.status == ASHLAR_SIM_REFUSED) {
        assert_true(bytes > capacity - sum);
        continue;
      }
      assert_int_equal(result.status, ASHLAR_SIM_OK);
      for (size_t k = 0; k < count; k++) {
        assert_true(result.address + bytes <= live[k][0] ||
                    live[k][0] + live[k][1] <= result.address);
      }
      live[count][0] = result.address;
      live[count][1] = bytes;
      count++;
      sum += bytes;
    } else if (count > 0) {
      const size_t place = (size_t)(random >> 20) % count;
      const struct ashlar_sim_result result = ashlar_sim_free(&device, live[place][0]);
      assert_int_equal(result.bytes, live[place][1]);
      sum -= live[place][1];
      count--;
      live[place][0] = live[count][0];
      live[place][1] = live[count][1];
    }
    assert_int_equal(device.used, sum);
    assert_int_equal(device.segment_count, count);
  }
  assert_true(device.counts.refused > 0);
  ashlar_sim_destroy(&device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ascending_segments_follow_each_other),
      cmocka_unit_test(descending_segments_go_down_to_the_base),
      cmocka_unit_test(first_fit_takes_the_lowest_gap),
      cmocka_unit_test(adjacent_segments_touch_whatever_their_sizes),
      cmocka_unit_test(a_freed_address_comes_again),
      cmocka_unit_test(a_segment_goes_where_it_is_put),
      cmocka_unit_test(memory_is_taken_without_an_address),
      cmocka_unit_test(the_capacity_holds_and_is_told),
      cmocka_unit_test(only_what_was_handed_out_can_be_freed),
      cmocka_unit_test(segments_from_before_are_adopted),
      cmocka_unit_test(a_script_is_played),
      cmocka_unit_test(what_is_not_in_the_script_is_counted),
      cmocka_unit_test(random_calls_keep_segments_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
