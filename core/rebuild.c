/* rebuild.c - see block_manager.h: reconstructing a given state, and looking at one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

static struct ashlar_placement placement(enum ashlar_status status, int32_t slot)
{
  struct ashlar_placement result;
  result.status = status;
  result.slot = slot;
  return result;
}

/* Why a segment cannot be added. */
static enum ashlar_status refusal(const struct ashlar_manager *m, uint64_t address, uint64_t size,
                                  int32_t pool, int32_t class, int32_t stream)
{
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (pool != 0 && !ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  if ((class != ASHLAR_CLASS_SMALL && class != ASHLAR_CLASS_LARGE) || size == 0 ||
      size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 || size > UINT64_MAX - address) {
    return ASHLAR_ERROR_RANGE;
  }
  if (size > UINT64_MAX - ashlar_block_bytes(m) || m->segments_created == UINT64_MAX ||
      ashlar_reclaim_room(m) < 1) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

struct ashlar_placement ashlar_segment_add(struct ashlar_manager *m, uint64_t address,
                                           uint64_t size, int32_t pool, int32_t class,
                                           int32_t stream)
{
  enum ashlar_status status = refusal(m, address, size, pool, class, stream);
  int32_t slot = -1;
  if (status == ASHLAR_OK) {
    (void)ashlar_block_reserve(m, 1);
    slot = ashlar_segment_create(m, address, size, ashlar_home(pool, class, stream), 0);
    ashlar_block_put(m, slot);
    m->entered[slot] = m->pool_searches[ashlar_home_pool_class(m->home[slot])];
  }
  return placement(status, slot);
}

struct ashlar_placement ashlar_range_add(struct ashlar_manager *m, uint64_t address, uint64_t size,
                                         int32_t pool, int32_t class, int32_t stream)
{
  enum ashlar_status status = refusal(m, address, size, pool, class, stream);
  int32_t slot = -1;
  if (status == ASHLAR_OK) {
    (void)ashlar_block_reserve(m, 1);
    slot = ashlar_segment_create(m, address, size, ashlar_home(pool, class, stream), 1);
    ashlar_block_put_unmapped(m, slot);
  }
  return placement(status, slot);
}

/* Slots that are needed for what is before and behind a part of a block. */
static int32_t slots_beside(const struct ashlar_manager *m, int32_t slot, uint64_t address,
                            uint64_t size)
{
  uint64_t before = address - m->addr[slot];
  return (before > 0 ? 1 : 0) + (size < m->size[slot] - before ? 1 : 0);
}

/* Why a part of a block in a state cannot be taken. */
static enum ashlar_status part_refusal(const struct ashlar_manager *m, int32_t slot, uint8_t state,
                                       uint64_t address, uint64_t size)
{
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != state) {
    return ASHLAR_ERROR_SLOT;
  }
  if (size == 0 || size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 ||
      address < m->addr[slot] || address - m->addr[slot] > m->size[slot] ||
      size > m->size[slot] - (address - m->addr[slot])) {
    return ASHLAR_ERROR_RANGE;
  }
  return ashlar_reclaim_room(m) < slots_beside(m, slot, address, size) ? ASHLAR_ERROR_CAPACITY
                                                                       : ASHLAR_OK;
}

/* Takes a part of an open block; what is before and behind stays as it was. Slot of the part. */
static int32_t take_part(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size)
{
  uint8_t state = m->state[slot];
  uint64_t entered = m->entered[slot];
  uint64_t before = address - m->addr[slot];
  ashlar_block_take(m, slot);
  if (before > 0) {
    int32_t part = ashlar_block_cut(m, slot, before);
    (void)ashlar_block_release(m, slot, state);
    slot = part;
  }
  if (size < m->size[slot]) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    (void)ashlar_block_release(m, rest, state);
    m->entered[rest] = entered;
  }
  return slot;
}

struct ashlar_placement ashlar_range_map(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                         uint64_t size)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_UNMAPPED, address, size);
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  (void)ashlar_block_reserve(m, slots_beside(m, slot, address, size));
  slot = take_part(m, slot, address, size);
  ashlar_segment_reserved(m, m->home[slot], size);
  slot = ashlar_block_release(m, slot, ASHLAR_FREE);
  m->entered[slot] = m->pool_searches[ashlar_home_pool_class(m->home[slot])];
  return placement(ASHLAR_OK, slot);
}

struct ashlar_placement ashlar_range_unmap(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_FREE, address, size);
  if (status == ASHLAR_OK && m->growable[slot] == 0) {
    status = ASHLAR_ERROR_SLOT;
  }
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  (void)ashlar_block_reserve(m, slots_beside(m, slot, address, size));
  slot = take_part(m, slot, address, size);
  ashlar_segment_unreserved(m, m->home[slot], size);
  return placement(ASHLAR_OK, ashlar_block_release(m, slot, ASHLAR_UNMAPPED));
}

enum ashlar_status ashlar_segment_remove(struct ashlar_manager *m, int32_t slot)
{
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top ||
      (m->state[slot] != ASHLAR_FREE && m->state[slot] != ASHLAR_UNMAPPED) || m->prev[slot] != -1 ||
      m->next[slot] != -1) {
    return ASHLAR_ERROR_SLOT;
  }
  if (m->growable[slot] == 0) {
    ashlar_segment_leave(m, slot, 0);
  } else {
    if (m->state[slot] == ASHLAR_FREE) {
      ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
    }
    ashlar_growth_hold_range(m, 0, slot);
  }
  ashlar_segment_end(m, slot);
  ashlar_ladder_end_pools(m);
  return ASHLAR_OK;
}

struct ashlar_placement ashlar_allocate_at(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size, uint64_t requested)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_FREE, address, size);
  if (status == ASHLAR_OK && requested > size) {
    status = ASHLAR_ERROR_RANGE;
  }
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  (void)ashlar_block_reserve(m, slots_beside(m, slot, address, size));
  return placement(ASHLAR_OK, ashlar_allocation_take_at(m, slot, address, size, requested));
}

enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  uint64_t room;
  int joins;
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_ALLOCATED) {
    return ASHLAR_ERROR_SLOT;
  }
  joins = m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE;
  room = m->size[slot] + (joins ? m->size[m->next[slot]] : 0);
  if (size == 0 || size % ASHLAR_GRANULE != 0 || size > room || size < m->requested[slot]) {
    return ASHLAR_ERROR_RANGE;
  }
  if (!ashlar_block_reserve(m, !joins && size < room ? 1 : 0)) {
    return ASHLAR_ERROR_CAPACITY;
  }
  ashlar_allocation_resize(m, slot, size);
  return ASHLAR_OK;
}

struct ashlar_block_view ashlar_block(const struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_block_view view;
  view.address = 0;
  view.size = 0;
  view.requested = 0;
  view.age = 0;
  view.prev = -1;
  view.next = -1;
  view.pool = 0;
  view.class = 0;
  view.stream = 0;
  view.generation = 0;
  view.state = ASHLAR_UNUSED;
  view.growable = 0;
  if (slot >= 0 && slot < m->top && m->state[slot] != ASHLAR_UNUSED) {
    view.address = m->addr[slot];
    view.size = m->size[slot];
    view.requested = m->requested[slot];
    view.age = m->age[slot];
    view.prev = m->prev[slot];
    view.next = m->next[slot];
    view.pool = ashlar_home_pool(m->home[slot]);
    view.class = ashlar_home_class(m->home[slot]);
    view.stream = ashlar_home_stream(m->home[slot]);
    view.generation = m->generation[slot];
    view.state = m->state[slot];
    view.growable = m->growable[slot];
  }
  return view;
}

int32_t ashlar_slot_limit(const struct ashlar_manager *m)
{
  return m->top;
}

int32_t ashlar_release_next(const struct ashlar_manager *m, int32_t slot)
{
  if (slot != -1 && (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_FREE)) {
    return -1;
  }
  return ashlar_reclaim_behind(m, slot);
}

uint64_t ashlar_largest(const struct ashlar_manager *m)
{
  uint64_t largest = 0;
  int32_t slot = 0;
  while (slot < m->top) {
    if (m->state[slot] == ASHLAR_FREE && m->size[slot] > largest) {
      largest = m->size[slot];
    }
    slot++;
  }
  return largest;
}
