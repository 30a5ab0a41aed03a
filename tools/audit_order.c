/* audit_order.c - see audit_run.h: what a pool releases, in which order.
 *
 * The default pool releases its large class first, others the small one; a class its ordinary segments, then whole pages
 * of growable ones; streams ascend by handle, and the blocks of a list as it has them.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

/* A place in the order. */
struct place {
  int32_t pool;
  int32_t turn; /* first or second class */
  uint8_t growable;
  int32_t rank; /* of the stream */
};

enum { TURNS = 2 };

static int32_t class_of(const struct place *place)
{
  return (place->pool == 0) == (place->turn == 0) ? ASHLAR_CLASS_LARGE : ASHLAR_CLASS_SMALL;
}

static int32_t home_of(const struct ashlar_manager *manager, const struct place *place)
{
  return ashlar_home(place->pool, class_of(place), manager->stream_order[place->rank]);
}

/* Whether the free block goes back in its turn. */
static bool is_releasable(const struct ashlar_manager *manager, int32_t slot, uint8_t growable)
{
  if (manager->growable[slot] != growable) {
    return false;
  }
  return growable != 0
             ? ashlar_growable_whole(manager, slot, ashlar_growable_lead(manager, slot)) > 0
             : manager->prev[slot] < 0 && manager->next[slot] < 0;
}

/* The first block to release among those of a list from `slot` on, -1: none. */
static int32_t from_here(const struct ashlar_manager *manager, const struct place *place,
                         int32_t slot)
{
  while (slot >= 0 && !is_releasable(manager, slot, place->growable)) {
    slot = ashlar_index_after(manager, home_of(manager, place), manager->size[slot],
                              manager->age[slot], manager->addr[slot]);
  }
  return slot;
}

/* Goes on to the next list. False: there is none. */
static bool next_list(const struct ashlar_manager *manager, struct place *place)
{
  place->rank++;
  if (place->rank < manager->stream_count) {
    return true;
  }
  place->rank = 0;
  place->growable++;
  if (place->growable <= 1) {
    return true;
  }
  place->growable = 0;
  place->turn++;
  return place->turn < TURNS;
}

/* The first block to release in the lists from `place` on. */
static int32_t from_list(const struct ashlar_manager *manager, struct place place)
{
  if (manager->stream_count == 0) {
    return -1;
  }
  do {
    const int32_t slot =
        from_here(manager, &place, ashlar_index_best(manager, home_of(manager, &place), 0));
    if (slot >= 0) {
      return slot;
    }
  } while (next_list(manager, &place));
  return -1;
}

int32_t ashlar_run_first_release(const struct ashlar_audit_run *run, int32_t pool)
{
  return from_list(run->manager, (struct place){.pool = pool});
}

int32_t ashlar_run_next_release(const struct ashlar_audit_run *run, int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t home = manager->home[slot];
  struct place place = {
      .pool = ashlar_home_pool(home),
      .growable = manager->growable[slot],
      .rank = manager->stream_rank[ashlar_home_stream(home)],
  };
  place.turn = class_of(&place) == ashlar_home_class(home) ? 0 : 1;
  const int32_t behind = from_here(manager, &place,
                                   ashlar_index_after(manager, home, manager->size[slot],
                                                      manager->age[slot], manager->addr[slot]));
  return behind >= 0 || !next_list(manager, &place) ? behind : from_list(manager, place);
}
