/* race.c - see race.h.
 *
 * There is a map for each slot. Of the accesses of one stream to a range only the last matters: they
 * are in order with each other, so whatever comes after the last comes after all.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/race.h"

#include <stdlib.h>

#include "cuda/sim/array.h"

enum {
  SWEEP_MORE = 1024 /* cells that may be added, besides as many as there are, between sweeps */
};

void ashlar_sim_race_log_destroy(struct ashlar_sim_race_log *log)
{
  for (size_t i = 0; i < log->map_count; i++) {
    ashlar_sim_range_map_destroy(&log->map[i]);
  }
  free(log->map);
  *log = (struct ashlar_sim_race_log){0};
}

static bool reserve_maps(struct ashlar_sim_race_log *log, size_t count)
{
  if (count == 0 || count <= log->map_count) {
    return true;
  }
  struct ashlar_sim_range_map *map =
      ashlar_sim_grow(log->map, &log->map_capacity, count, sizeof *log->map);
  if (map == NULL) {
    return false;
  }
  log->map = map;
  while (log->map_count < count) {
    log->map[log->map_count] = (struct ashlar_sim_range_map){0};
    log->map_count++;
  }
  return true;
}

/* --- forgetting what the host knows --- */

static uint64_t unless_known(uint64_t position, uint64_t known)
{
  return position > known ? position : 0;
}

static void forget_known(struct ashlar_sim_cell *cell, uint64_t known)
{
  cell->read = unless_known(cell->read, known);
  cell->write = unless_known(cell->write, known);
  cell->old_read = unless_known(cell->old_read, known);
  cell->old_write = unless_known(cell->old_write, known);
}

/* Once the maps have doubled, and the host has learnt something, they are gone through. So a sweep
   costs no more than the accesses since the last one did. */
static void sweep(struct ashlar_sim_race_log *log, const struct ashlar_sim_streams *streams)
{
  size_t cells = 0;
  for (size_t i = 0; i < log->map_count; i++) {
    cells += log->map[i].cell_count;
  }
  if (cells <= 2 * log->cell_count + SWEEP_MORE || log->host_version == streams->host_version) {
    return;
  }
  log->cell_count = 0;
  log->host_version = streams->host_version;
  for (uint32_t i = 0; i < log->map_count; i++) {
    struct ashlar_sim_range_map *map = &log->map[i];
    const uint64_t known = ashlar_sim_clock_at(&streams->host, i);
    struct ashlar_sim_place place = {0, 0};
    for (struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place); cell != NULL;
         cell = ashlar_sim_range_map_cell(map, place)) {
      forget_known(cell, known);
      place = ashlar_sim_range_map_next(map, place);
    }
    ashlar_sim_range_map_tidy(map, 0, UINT64_MAX);
    log->cell_count += map->cell_count;
  }
}

/* --- finding races --- */

static uint64_t greater(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* The last access in a cell that conflicts with something later. */
static uint64_t conflicting(const struct ashlar_sim_cell *cell, enum ashlar_sim_race_kind kind,
                            bool writes)
{
  const uint64_t old = writes ? greater(cell->old_read, cell->old_write) : cell->old_write;
  if (kind == ASHLAR_SIM_RACE_TOUCHED) {
    return old;
  }
  return greater(greater(cell->old_read, cell->old_write), greater(cell->read, cell->write));
}

static void report(struct ashlar_sim_race_log *log, struct ashlar_sim_race race)
{
  if (log->race_count < ASHLAR_SIM_RACES_KEPT) {
    log->race[log->race_count] = race;
  }
  log->race_count++;
}

/* What happens to a range, and what comes before it. */
struct later {
  enum ashlar_sim_race_kind kind;
  struct ashlar_sim_position position;
  const struct ashlar_sim_clock *clock;
  uint64_t begin;
  uint64_t end;
  bool writes; /* TOUCHED only */
};

/* Reports the first range of a slot whose last access does not come before what happens now. */
static uint64_t find_race(struct ashlar_sim_race_log *log, uint32_t slot, const struct later *later)
{
  const struct ashlar_sim_range_map *map = &log->map[slot];
  const uint64_t known = ashlar_sim_clock_at(later->clock, slot);
  struct ashlar_sim_place place = ashlar_sim_range_map_find(map, later->begin);
  const struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
  while (cell != NULL && cell->begin < later->end) {
    const uint64_t access = conflicting(cell, later->kind, later->writes);
    if (access > known) {
      const uint64_t begin = greater(cell->begin, later->begin);
      const uint64_t end = cell->end < later->end ? cell->end : later->end;
      report(log, (struct ashlar_sim_race){.kind = later->kind,
                                           .earlier = {slot, access},
                                           .earlier_writes =
                                               access == cell->write || access == cell->old_write,
                                           .later = later->position,
                                           .address = begin,
                                           .bytes = end - begin});
      return 1;
    }
    place = ashlar_sim_range_map_next(map, place);
    cell = ashlar_sim_range_map_cell(map, place);
  }
  return 0;
}

static uint64_t find_races(struct ashlar_sim_race_log *log, const struct later *later)
{
  uint64_t count = 0;
  for (uint32_t i = 0; i < log->map_count; i++) {
    if (log->map[i].cell_count > 0) {
      count += find_race(log, i, later);
    }
  }
  return count;
}

/* --- public --- */

static void enter_access(struct ashlar_sim_race_log *log, const struct ashlar_sim_streams *streams,
                         struct ashlar_sim_position position, const struct later *later)
{
  if (!reserve_maps(log, (size_t)position.slot + 1)) {
    log->incomplete = true;
    return;
  }
  struct ashlar_sim_range_map *map = &log->map[position.slot];
  if (!ashlar_sim_range_map_cover(map, later->begin, later->end)) {
    log->incomplete = true;
    return;
  }
  const uint64_t known = ashlar_sim_clock_at(&streams->host, position.slot);
  struct ashlar_sim_place place = ashlar_sim_range_map_find(map, later->begin);
  struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
  while (cell != NULL && cell->begin < later->end) {
    forget_known(cell, known);
    if (later->writes) {
      cell->write = position.at;
    } else {
      cell->read = position.at;
    }
    place = ashlar_sim_range_map_next(map, place);
    cell = ashlar_sim_range_map_cell(map, place);
  }
  ashlar_sim_range_map_tidy(map, later->begin, later->end);
}

uint64_t ashlar_sim_race_touch(struct ashlar_sim_race_log *log,
                               const struct ashlar_sim_streams *streams,
                               struct ashlar_sim_position position, struct ashlar_sim_touch touch)
{
  const struct later later = {.kind = ASHLAR_SIM_RACE_TOUCHED,
                              .position = position,
                              .clock = &streams->slot[position.slot].clock,
                              .begin = touch.address,
                              .end = touch.address + touch.bytes,
                              .writes = touch.writes};
  const uint64_t count = find_races(log, &later);
  enter_access(log, streams, position, &later);
  sweep(log, streams);
  return count;
}

uint64_t ashlar_sim_race_hand_over(struct ashlar_sim_race_log *log,
                                   const struct ashlar_sim_streams *streams, uint32_t slot,
                                   uint64_t address, uint64_t bytes)
{
  const struct later later = {.kind = ASHLAR_SIM_RACE_HANDED,
                              .position = {slot, streams->slot[slot].submitted},
                              .clock = &streams->slot[slot].clock,
                              .begin = address,
                              .end = address + bytes};
  const uint64_t count = find_races(log, &later);
  for (uint32_t i = 0; i < log->map_count; i++) {
    struct ashlar_sim_range_map *map = &log->map[i];
    if (map->cell_count == 0) {
      continue;
    }
    if (!ashlar_sim_range_map_cut(map, later.begin, later.end)) {
      log->incomplete = true;
      continue;
    }
    const uint64_t known = ashlar_sim_clock_at(&streams->host, i);
    struct ashlar_sim_place place = ashlar_sim_range_map_find(map, later.begin);
    struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
    while (cell != NULL && cell->begin < later.end) {
      cell->old_read = greater(cell->old_read, cell->read);
      cell->old_write = greater(cell->old_write, cell->write);
      cell->read = 0;
      cell->write = 0;
      forget_known(cell, known);
      place = ashlar_sim_range_map_next(map, place);
      cell = ashlar_sim_range_map_cell(map, place);
    }
    ashlar_sim_range_map_tidy(map, later.begin, later.end);
  }
  return count;
}

uint64_t ashlar_sim_race_release(struct ashlar_sim_race_log *log,
                                 const struct ashlar_sim_streams *streams, uint64_t address,
                                 uint64_t bytes)
{
  const struct later later = {.kind = ASHLAR_SIM_RACE_RELEASED,
                              .position = {ASHLAR_SIM_NONE, 0},
                              .clock = &streams->host,
                              .begin = address,
                              .end = address + bytes};
  const uint64_t count = find_races(log, &later);
  for (size_t i = 0; i < log->map_count; i++) {
    struct ashlar_sim_range_map *map = &log->map[i];
    if (!ashlar_sim_range_map_cut(map, later.begin, later.end)) {
      log->incomplete = true;
      continue;
    }
    struct ashlar_sim_place place = ashlar_sim_range_map_find(map, later.begin);
    struct ashlar_sim_cell *cell = ashlar_sim_range_map_cell(map, place);
    while (cell != NULL && cell->begin < later.end) {
      forget_known(cell, UINT64_MAX);
      place = ashlar_sim_range_map_next(map, place);
      cell = ashlar_sim_range_map_cell(map, place);
    }
    ashlar_sim_range_map_tidy(map, later.begin, later.end);
  }
  return count;
}
