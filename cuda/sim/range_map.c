/* range_map.c - see range_map.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/range_map.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/sim/array.h"

void ashlar_sim_range_map_destroy(struct ashlar_sim_range_map *map)
{
  for (size_t i = 0; i < map->page_count; i++) {
    free(map->page[i].cells);
  }
  free(map->page);
  *map = (struct ashlar_sim_range_map){0};
}

static uint64_t page_end(const struct ashlar_sim_page *page)
{
  return page->cell[page->count - 1].end;
}

struct ashlar_sim_place ashlar_sim_range_map_find(const struct ashlar_sim_range_map *map,
                                                  uint64_t address)
{
  size_t low = 0;
  size_t high = map->page_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (page_end(map->page[middle].cells) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == map->page_count) {
    return (struct ashlar_sim_place){low, 0};
  }
  const struct ashlar_sim_page *page = map->page[low].cells;
  size_t first = 0;
  size_t last = page->count;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (page->cell[middle].end <= address) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return (struct ashlar_sim_place){low, first};
}

struct ashlar_sim_cell *ashlar_sim_range_map_cell(const struct ashlar_sim_range_map *map,
                                                  struct ashlar_sim_place place)
{
  return place.page < map->page_count ? &map->page[place.page].cells->cell[place.at] : NULL;
}

struct ashlar_sim_place ashlar_sim_range_map_next(const struct ashlar_sim_range_map *map,
                                                  struct ashlar_sim_place place)
{
  if (place.at + 1 < map->page[place.page].cells->count) {
    return (struct ashlar_sim_place){place.page, place.at + 1};
  }
  return (struct ashlar_sim_place){place.page + 1, 0};
}

/* --- inserting and removing --- */

/* Adds an empty page in front of the page of that number. */
static struct ashlar_sim_page *add_page(struct ashlar_sim_range_map *map, size_t at)
{
  struct ashlar_sim_page_entry *list =
      ashlar_sim_grow(map->page, &map->page_capacity, map->page_count + 1, sizeof *list);
  if (list == NULL) {
    return NULL;
  }
  map->page = list;
  struct ashlar_sim_page *page = malloc(sizeof *page);
  if (page == NULL) {
    return NULL;
  }
  page->count = 0;
  memmove(list + at + 1, list + at, (map->page_count - at) * sizeof *list);
  list[at].cells = page;
  map->page_count++;
  return page;
}

/* Where a cell goes that is to stand before a place: within a page if there is one, at the end of
   the last page if the place is the map's end. Splits the page if it is full. */
static bool make_room(struct ashlar_sim_range_map *map, struct ashlar_sim_place *place)
{
  if (map->page_count == 0) {
    *place = (struct ashlar_sim_place){0, 0};
    return add_page(map, 0) != NULL;
  }
  if (place->page == map->page_count) {
    place->page--;
    place->at = map->page[place->page].cells->count;
  }
  struct ashlar_sim_page *page = map->page[place->page].cells;
  if (page->count < ASHLAR_SIM_PAGE_CELLS) {
    return true;
  }
  struct ashlar_sim_page *behind = add_page(map, place->page + 1);
  if (behind == NULL) {
    return false;
  }
  /* Cells are mostly added in ascending order: then the pages stay full. */
  const size_t kept = place->at == page->count ? page->count - 1 : page->count / 2;
  behind->count = page->count - kept;
  memcpy(behind->cell, page->cell + kept, behind->count * sizeof *behind->cell);
  page->count = kept;
  if (place->at > kept) {
    *place = (struct ashlar_sim_place){place->page + 1, place->at - kept};
  }
  return true;
}

static bool insert(struct ashlar_sim_range_map *map, struct ashlar_sim_place place,
                   struct ashlar_sim_cell cell)
{
  if (!make_room(map, &place)) {
    return false;
  }
  struct ashlar_sim_page *page = map->page[place.page].cells;
  memmove(page->cell + place.at + 1, page->cell + place.at,
          (page->count - place.at) * sizeof *page->cell);
  page->cell[place.at] = cell;
  page->count++;
  map->cell_count++;
  return true;
}

static void remove_page(struct ashlar_sim_range_map *map, size_t at)
{
  free(map->page[at].cells);
  map->page_count--;
  memmove(map->page + at, map->page + at + 1, (map->page_count - at) * sizeof *map->page);
}

/* Takes the cells of the next page into a page, if there is one and both are nearly empty. */
static bool merge_pages(struct ashlar_sim_range_map *map, size_t at)
{
  if (at + 1 >= map->page_count) {
    return false;
  }
  struct ashlar_sim_page *page = map->page[at].cells;
  const struct ashlar_sim_page *next = map->page[at + 1].cells;
  if (page->count + next->count > ASHLAR_SIM_PAGE_CELLS / 2) {
    return false;
  }
  memcpy(page->cell + page->count, next->cell, next->count * sizeof *page->cell);
  page->count += next->count;
  remove_page(map, at + 1);
  return true;
}

/* Removes a cell; the place of the one that came after it. */
static struct ashlar_sim_place erase(struct ashlar_sim_range_map *map,
                                     struct ashlar_sim_place place)
{
  struct ashlar_sim_page *page = map->page[place.page].cells;
  page->count--;
  map->cell_count--;
  memmove(page->cell + place.at, page->cell + place.at + 1,
          (page->count - place.at) * sizeof *page->cell);
  if (page->count == 0) {
    remove_page(map, place.page);
    return (struct ashlar_sim_place){place.page, 0};
  }
  (void)merge_pages(map, place.page);
  if (place.page > 0) {
    const size_t before = map->page[place.page - 1].cells->count;
    if (merge_pages(map, place.page - 1)) {
      place = (struct ashlar_sim_place){place.page - 1, before + place.at};
    }
  }
  if (place.at == map->page[place.page].cells->count) {
    return (struct ashlar_sim_place){place.page + 1, 0};
  }
  return place;
}

/* --- ranges --- */

static bool cut_at(struct ashlar_sim_range_map *map, uint64_t address)
{
  const struct ashlar_sim_place place = ashlar_sim_range_map_find(map, address);
  struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
  if (cell == NULL || cell->begin >= address) {
    return true;
  }
  struct ashlar_sim_cell front = *cell;
  front.end = address;
  const uint64_t begin = cell->begin;
  cell->begin = address;
  if (!insert(map, place, front)) {
    cell->begin = begin;
    return false;
  }
  return true;
}

bool ashlar_sim_range_map_cut(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end)
{
  return cut_at(map, begin) && cut_at(map, end);
}

bool ashlar_sim_range_map_cover(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end)
{
  if (!ashlar_sim_range_map_cut(map, begin, end)) {
    return false;
  }
  uint64_t covered = begin;
  while (covered < end) {
    const struct ashlar_sim_place place = ashlar_sim_range_map_find(map, covered);
    uint64_t gap_end = end;
    if (place.page < map->page_count) {
      const struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
      if (cell->begin <= covered) {
        covered = cell->end;
        continue;
      }
      gap_end = cell->begin < end ? cell->begin : end;
    }
    if (!insert(map, place, (struct ashlar_sim_cell){.begin = covered, .end = gap_end})) {
      return false;
    }
    covered = gap_end;
  }
  return true;
}

static bool is_never(const struct ashlar_sim_cell *cell)
{
  return cell->read == 0 && cell->write == 0 && cell->old_read == 0 && cell->old_write == 0;
}

static bool can_join(const struct ashlar_sim_cell *cell, const struct ashlar_sim_cell *next)
{
  return cell->end == next->begin && cell->read == next->read && cell->write == next->write &&
         cell->old_read == next->old_read && cell->old_write == next->old_write;
}

void ashlar_sim_range_map_tidy(struct ashlar_sim_range_map *map, uint64_t begin, uint64_t end)
{
  struct ashlar_sim_place place = ashlar_sim_range_map_find(map, begin == 0 ? 0 : begin - 1);
  struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
  while (cell != NULL && cell->begin < end) {
    if (is_never(cell)) {
      place = erase(map, place);
      cell = ashlar_sim_range_map_cell(map, place);
      continue;
    }
    const struct ashlar_sim_place next_place = ashlar_sim_range_map_next(map, place);
    struct ashlar_sim_cell *next = ashlar_sim_range_map_cell(map, next_place);
    if (next != NULL && can_join(cell, next)) {
      /* The later cell takes the earlier one in: erasing leads on to it. */
      next->begin = cell->begin;
      place = erase(map, place);
      cell = ashlar_sim_range_map_cell(map, place);
      continue;
    }
    place = next_place;
    cell = next;
  }
}
