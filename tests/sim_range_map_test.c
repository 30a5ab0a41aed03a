/* sim_range_map_test.c - the interval map against an array that has an entry for each byte.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/sim/range_map.h"

enum { BYTES = 3000, STEPS = 6000 };

static struct ashlar_sim_cell *first_cell(struct ashlar_sim_range_map *map, uint64_t address,
                                          struct ashlar_sim_place *place)
{
  *place = ashlar_sim_range_map_find(map, address);
  return ashlar_sim_range_map_cell(map, *place);
}

static struct ashlar_sim_cell *next_cell(struct ashlar_sim_range_map *map,
                                         struct ashlar_sim_place *place)
{
  *place = ashlar_sim_range_map_next(map, *place);
  return ashlar_sim_range_map_cell(map, *place);
}

/* Sets what a range says, to "never" if the value is 0. */
static void set(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end, uint64_t value)
{
  if (value == 0) {
    assert_true(ashlar_sim_range_map_cut(map, begin, end));
  } else {
    assert_true(ashlar_sim_range_map_cover(map, begin, end));
  }
  struct ashlar_sim_place place;
  struct ashlar_sim_cell *cell = first_cell(map, begin, &place);
  while (cell != NULL && cell->begin < end) {
    assert_true(cell->begin >= begin && cell->end <= end);
    cell->read = value % 2 != 0 ? value : 0;
    cell->write = value % 3 == 0 ? value : 0;
    cell->old_read = value % 5 == 0 ? value : 0;
    cell->old_write = value;
    cell = next_cell(map, &place);
  }
  ashlar_sim_range_map_tidy(map, begin, end);
}

/* The map says what the array does, and as briefly as it can. */
static void check(struct ashlar_sim_range_map *map, const uint64_t *array)
{
  struct ashlar_sim_place place;
  const struct ashlar_sim_cell *cell = first_cell(map, 0, &place);
  size_t cells = 0;
  uint64_t at = 0;
  for (; cell != NULL; cell = next_cell(map, &place), cells++) {
    assert_true(cell->begin < cell->end && cell->end <= BYTES);
    for (; at < cell->begin; at++) {
      assert_int_equal(array[at], 0);
    }
    /* A cell begins where something changes. */
    assert_true(at == 0 || array[at - 1] != array[at]);
    for (; at < cell->end; at++) {
      assert_int_equal(array[at], cell->old_write);
      assert_true(array[at] != 0);
    }
  }
  for (; at < BYTES; at++) {
    assert_int_equal(array[at], 0);
  }
  assert_int_equal(cells, map->cell_count);
  size_t in_pages = 0;
  for (size_t i = 0; i < map->page_count; i++) {
    const size_t count = map->page[i].cells->count;
    assert_true(count > 0 && count <= ASHLAR_SIM_PAGE_CELLS);
    in_pages += count;
  }
  assert_int_equal(in_pages, cells);
}

static void the_map_says_what_an_array_does(void **state)
{
  (void)state;
  struct ashlar_sim_range_map map = {0};
  uint64_t *array = calloc(BYTES, sizeof *array);
  assert_non_null(array);
  uint64_t random = 5;
  size_t most = 0;
  size_t most_pages = 0;
  for (int i = 0; i < STEPS; i++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t begin = (random >> 33) % BYTES;
    /* Long ranges are rare, so that there are many cells; then the map empties for a while. */
    const uint64_t most_bytes = random >> 60 == 0 && i % 64 == 0 ? BYTES : 4;
    const uint64_t bytes = 1 + (random >> 20) % most_bytes;
    const uint64_t end = bytes < BYTES - begin ? begin + bytes : BYTES;
    const bool is_emptying = i / 1500 % 2 != 0;
    const uint64_t value = is_emptying || (random >> 62) == 0 ? 0 : 1 + (random >> 40) % 7;
    set(&map, begin, end, value);
    for (uint64_t at = begin; at < end; at++) {
      array[at] = value;
    }
    most = map.cell_count > most ? map.cell_count : most;
    most_pages = map.page_count > most_pages ? map.page_count : most_pages;
    if (i % 8 == 0) {
      check(&map, array);
    }
  }
  assert_true(most > 500);
  assert_true(most_pages >= 8);
  /* Pages that empty are joined. */
  for (uint64_t at = 0; at < BYTES; at++) {
    set(&map, at, at + 1, 1 + at % 2);
  }
  assert_int_equal(map.cell_count, BYTES);
  for (uint64_t at = 0; at < BYTES; at++) {
    if (at % 100 != 0) {
      set(&map, at, at + 1, 0);
    }
  }
  assert_int_equal(map.cell_count, BYTES / 100);
  assert_true(map.page_count <= 3);
  set(&map, 0, BYTES, 0);
  assert_int_equal(map.cell_count, 0);
  assert_int_equal(map.page_count, 0);
  free(array);
  ashlar_sim_range_map_destroy(&map);
}

static void addresses_may_be_the_greatest(void **state)
{
  (void)state;
  struct ashlar_sim_range_map map = {0};
  set(&map, UINT64_MAX - 1, UINT64_MAX, 3);
  set(&map, 0, 1, 3);
  assert_int_equal(map.cell_count, 2);
  set(&map, 0, UINT64_MAX, 2);
  assert_int_equal(map.cell_count, 1);
  set(&map, 1, UINT64_MAX, 0);
  assert_int_equal(map.cell_count, 1);
  set(&map, 0, 1, 0);
  assert_int_equal(map.page_count, 0);
  ashlar_sim_range_map_destroy(&map);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_map_says_what_an_array_does),
      cmocka_unit_test(addresses_may_be_the_greatest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
