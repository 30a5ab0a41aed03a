/* growable.c - see growable.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/growable.h"

uint64_t ashlar_growable_page(const struct ashlar_manager *m, int32_t home)
{
  return ashlar_home_class(home) == ASHLAR_CLASS_SMALL ? ASHLAR_SMALL_SEGMENT
                                                       : m->config.large_segment_size;
}

uint64_t ashlar_growable_pages(uint64_t bytes, uint64_t page)
{
  uint64_t over = bytes % page;
  return over == 0 ? bytes : bytes + (page - over);
}

uint64_t ashlar_growable_reservation(const struct ashlar_manager *m, int32_t home)
{
  uint64_t bytes = m->config.device_total + m->config.device_total / 8;
  uint64_t most = ashlar_home_class(home) == ASHLAR_CLASS_SMALL ? m->config.reservation_small
                                                                : m->config.reservation_large;
  if (most != 0 && most < bytes) {
    bytes = most;
  }
  return ashlar_growable_pages(bytes, ashlar_growable_page(m, home));
}

uint64_t ashlar_growable_lead(const struct ashlar_manager *m, int32_t slot)
{
  uint64_t page = ashlar_growable_page(m, m->home[slot]);
  uint64_t over = (m->addr[slot] - m->base[slot]) % page;
  return over == 0 ? 0 : page - over;
}

uint64_t ashlar_growable_whole(const struct ashlar_manager *m, int32_t slot, uint64_t lead)
{
  uint64_t page = ashlar_growable_page(m, m->home[slot]);
  if (lead >= m->size[slot]) {
    return 0;
  }
  return m->size[slot] - lead - (m->size[slot] - lead) % page;
}

static int is_open(const struct ashlar_manager *m, int32_t slot)
{
  return m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNMAPPED;
}

/* Whether the open blocks from one on have `size` bytes together. */
static int has_room(const struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  uint64_t missing = size;
  while (slot != -1 && is_open(m, slot) && m->size[slot] < missing) {
    missing -= m->size[slot];
    slot = m->next[slot];
  }
  return slot != -1 && is_open(m, slot);
}

/* The unmapped block of a home with the least address behind another; -1: none. */
static int32_t unmapped_after(const struct ashlar_manager *m, int32_t home, uint64_t addr)
{
  int32_t found = -1;
  int32_t slot = ashlar_index_after(m, home + ASHLAR_LISTS, 0, 0, 0);
  while (slot != -1) {
    if (m->addr[slot] >= addr && (found == -1 || m->addr[slot] < m->addr[found])) {
      found = slot;
    }
    slot = ashlar_index_after(m, home + ASHLAR_LISTS, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return found;
}

int32_t ashlar_growable_run(const struct ashlar_manager *m, int32_t home, uint64_t size)
{
  int32_t slot = unmapped_after(m, home, 0);
  while (slot != -1) {
    int32_t before = m->prev[slot];
    int32_t start = before != -1 && is_open(m, before) ? before : slot;
    if (has_room(m, start, size)) {
      return start;
    }
    slot = unmapped_after(m, home, m->addr[slot] + 1);
  }
  return -1;
}
