/* range_map.h - for the memory of one stream's accesses: which range was last read and written when.
 *
 * A sorted sequence of cells that do not overlap, in pages: finding is logarithmic, inserting moves
 * at most a page of cells and the list of pages. Memory in no cell was not accessed.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_RANGE_MAP_H
#define ASHLAR_CUDA_SIM_RANGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASHLAR_SIM_PAGE_CELLS = 64 };

/* Positions are those of clock.h; 0: never. */
struct ashlar_sim_cell {
  uint64_t begin; /* bytes begin .. end - 1 */
  uint64_t end;
  uint64_t read; /* last access since the range was handed to its present owner */
  uint64_t write;
  uint64_t old_read; /* last access before that */
  uint64_t old_write;
};

struct ashlar_sim_page {
  size_t count; /* positive */
  struct ashlar_sim_cell cell[ASHLAR_SIM_PAGE_CELLS];
};

struct ashlar_sim_page_entry {
  struct ashlar_sim_page *cells;
};

/* Zeroed: empty. */
struct ashlar_sim_range_map {
  struct ashlar_sim_page_entry *page; /* ascending by address */
  size_t page_count;
  size_t page_capacity;
  size_t cell_count;
};

/* A cell of the map, or its end: page == page_count. Valid until the map changes. */
struct ashlar_sim_place {
  size_t page;
  size_t at;
};

void ashlar_sim_range_map_destroy(struct ashlar_sim_range_map *map);

/* The first cell that ends behind the address. */
struct ashlar_sim_place ashlar_sim_range_map_find(const struct ashlar_sim_range_map *map,
                                                  uint64_t address);

/* The cell of a place; NULL at the end. */
struct ashlar_sim_cell *ashlar_sim_range_map_cell(const struct ashlar_sim_range_map *map,
                                                  struct ashlar_sim_place place);

struct ashlar_sim_place ashlar_sim_range_map_next(const struct ashlar_sim_range_map *map,
                                                  struct ashlar_sim_place place);

/* Cuts the cells that lie across the ends of a range in two. What the map says stays the same. False
   where host memory is short. */
bool ashlar_sim_range_map_cut(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end);

/* As cut, and then the range is all cells: those added say "never". */
bool ashlar_sim_range_map_cover(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end);

/* Removes the cells of a range that say "never", and joins those that
   touch and say the same, the neighbours of the range included. */
void ashlar_sim_range_map_tidy(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end);

#endif
