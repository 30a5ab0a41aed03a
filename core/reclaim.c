/* reclaim.c - see reclaim.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim.h"

int32_t ashlar_reclaim_room(const struct ashlar_manager *m)
{
  return m->spare_count + (ASHLAR_SLOTS - m->top);
}

static int is_whole(const struct ashlar_manager *m, int32_t slot)
{
  return m->prev[slot] == -1 && m->next[slot] == -1;
}

/* Whether a free block can be released, as one of an ordinary or of a growable segment. Unmapping needs slots for what
   is before and behind the pages, beside those that requests in flight may need. */
static int can_go(const struct ashlar_manager *m, int32_t slot, uint8_t growable)
{
  if (m->growable[slot] != growable) {
    return 0;
  }
  if (growable == 0) {
    return is_whole(m, slot);
  }
  return ashlar_growable_whole(m, slot, ashlar_growable_lead(m, slot)) > 0 &&
         ashlar_reclaim_room(m) >= 2 + ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS;
}

/* First block of a list behind a key that can be released. */
static int32_t first_behind(const struct ashlar_manager *m, int32_t home, uint8_t growable,
                            uint64_t size, uint64_t age, uint64_t addr)
{
  int32_t slot = ashlar_index_after(m, home, size, age, addr);
  while (slot != -1 && !can_go(m, slot, growable)) {
    slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

/* First block of a pool and class, in the lists of the streams from a place of the table on. */
static int32_t first_in_class(const struct ashlar_manager *m, int32_t pool, int32_t class,
                              uint8_t growable, int32_t place)
{
  while (place < m->stream_count) {
    int32_t home = ashlar_home(pool, class, m->stream_order[place]);
    int32_t slot = first_behind(m, home, growable, 0, 0, 0);
    if (slot != -1) {
      return slot;
    }
    place++;
  }
  return -1;
}

int32_t ashlar_reclaim_in_pool(const struct ashlar_manager *m, int32_t pool)
{
  int32_t first = pool == 0 ? ASHLAR_CLASS_LARGE : ASHLAR_CLASS_SMALL;
  int32_t second = pool == 0 ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  int32_t slot = first_in_class(m, pool, first, 0, 0);
  if (slot == -1) {
    slot = first_in_class(m, pool, first, 1, 0);
  }
  if (slot == -1) {
    slot = first_in_class(m, pool, second, 0, 0);
  }
  if (slot == -1) {
    slot = first_in_class(m, pool, second, 1, 0);
  }
  return slot;
}

int32_t ashlar_reclaim_next(const struct ashlar_manager *m, int in_default, int32_t own)
{
  int32_t slot = in_default != 0 ? ashlar_reclaim_in_pool(m, 0) : -1;
  int32_t pool = ashlar_pool_next_freeable(m, 0, own);
  while (slot == -1 && pool != 0) {
    slot = ashlar_reclaim_in_pool(m, pool);
    pool = ashlar_pool_next_freeable(m, m->pool_serial[pool], own);
  }
  return slot;
}

int32_t ashlar_reclaim_behind(const struct ashlar_manager *m, int32_t slot)
{
  int32_t place = 0;
  int32_t class = ASHLAR_CLASS_LARGE;
  int32_t next = -1;
  if (slot != -1) {
    next = first_behind(m, m->home[slot], 0, m->size[slot], m->age[slot], m->addr[slot]);
    class = ashlar_home_class(m->home[slot]);
    place = ashlar_stream_rank(m, ashlar_home_stream(m->home[slot])) + 1;
  }
  if (next == -1) {
    next = first_in_class(m, 0, class, 0, place);
  }
  if (next == -1 && class == ASHLAR_CLASS_LARGE) {
    next = first_in_class(m, 0, ASHLAR_CLASS_SMALL, 0, 0);
  }
  return next;
}

int32_t ashlar_reclaim_oversize(const struct ashlar_manager *m, int32_t home, uint64_t bytes,
                                uint64_t limit, int first)
{
  int32_t slot = -1;
  if (first != 0 && bytes > 0) {
    slot = first_behind(m, home, 0, bytes - 1, UINT64_MAX, UINT64_MAX);
  }
  if (slot != -1) {
    return slot;
  }
  slot = ashlar_index_before(m, home, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  while (slot != -1 && !can_go(m, slot, 0)) {
    slot = ashlar_index_before(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot != -1 && m->size[slot] >= limit ? slot : -1;
}
