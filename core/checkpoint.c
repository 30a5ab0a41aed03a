/* checkpoint.c - see checkpoint.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/checkpoint.h"

/* Why a pool cannot be recorded or restored now. */
static enum ashlar_status refusal(const struct ashlar_manager *m, int32_t pool)
{
  if (ashlar_ladder_busy(m)) {
    return ASHLAR_ERROR_BUSY;
  }
  return ashlar_pool_exists(m, pool) ? ASHLAR_OK : ASHLAR_ERROR_POOL;
}

/* Whether a block is pending, or held by a request. */
static enum ashlar_status settled(const struct ashlar_manager *m, int32_t pool)
{
  int32_t slot = 0;
  while (slot < m->top) {
    if ((m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_HELD) &&
        ashlar_home_pool(m->home[slot]) == pool) {
      return ASHLAR_ERROR_PENDING;
    }
    slot++;
  }
  return ASHLAR_OK;
}

/* A mapped block as it is recorded. */
static struct ashlar_saved saved_of(const struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_saved saved;
  int32_t use = m->first_use[slot] - 1;
  int32_t word = 0;
  while (word < ASHLAR_SAVED_WORDS) {
    saved.use[word] = 0;
    word++;
  }
  saved.address = m->addr[slot];
  saved.size = m->size[slot];
  saved.home = m->home[slot];
  saved.allocated = m->state[slot] == ASHLAR_ALLOCATED;
  while (use != -1) {
    int32_t stream = m->use_stream[use];
    saved.use[stream / 64] |= UINT64_C(1) << (stream % 64);
    use = m->use_more[use];
  }
  return saved;
}

struct ashlar_recorded ashlar_checkpoint_save(struct ashlar_manager *m, int32_t pool,
                                              struct ashlar_caller caller,
                                              struct ashlar_saved *saved, int32_t room)
{
  struct ashlar_recorded recorded;
  int32_t head = 0;
  recorded.count = 0;
  recorded.status = refusal(m, pool);
  if (recorded.status != ASHLAR_OK) {
    return recorded;
  }
  ashlar_ladder_poll(m, caller.stream);
  recorded.status = settled(m, pool);
  if (recorded.status != ASHLAR_OK) {
    return recorded;
  }
  while (head < m->top) {
    int32_t slot = head;
    if (m->state[head] == ASHLAR_UNUSED || m->prev[head] != -1 ||
        ashlar_home_pool(m->home[head]) != pool) {
      slot = -1;
    }
    while (slot != -1) {
      if (m->state[slot] != ASHLAR_UNMAPPED) {
        if (recorded.count < room) {
          saved[recorded.count] = saved_of(m, slot);
        }
        recorded.count++;
      }
      slot = m->next[slot];
    }
    head++;
  }
  recorded.status = recorded.count <= room ? ASHLAR_OK : ASHLAR_ERROR_CAPACITY;
  return recorded;
}

/* The mapped block of a home that has a byte; first looked for at a slot (-1: nowhere). -1: there is none. */
static int32_t block_with(const struct ashlar_manager *m, int32_t home, uint64_t address,
                          int32_t first)
{
  int32_t slot = 0;
  if (first != -1 && m->home[first] == home && m->state[first] != ASHLAR_UNUSED &&
      m->state[first] != ASHLAR_UNMAPPED && m->addr[first] <= address &&
      address - m->addr[first] < m->size[first]) {
    return first;
  }
  while (slot < m->top) {
    if (m->state[slot] != ASHLAR_UNUSED && m->state[slot] != ASHLAR_UNMAPPED &&
        m->home[slot] == home && m->addr[slot] <= address &&
        address - m->addr[slot] < m->size[slot]) {
      return slot;
    }
    slot++;
  }
  return -1;
}

/* The block from which what was recorded goes on, where all of it is mapped; first looked for at a slot. -1: it is not. */
static int32_t block_behind(const struct ashlar_manager *m, struct ashlar_saved saved,
                            int32_t first)
{
  int32_t slot = block_with(m, saved.home, saved.address, first);
  while (slot != -1 && m->state[slot] != ASHLAR_UNMAPPED &&
         m->size[slot] - (saved.address - m->addr[slot]) < saved.size) {
    uint64_t there = m->size[slot] - (saved.address - m->addr[slot]);
    saved.address += there;
    saved.size -= there;
    slot = m->next[slot];
  }
  return slot != -1 && m->state[slot] != ASHLAR_UNMAPPED ? slot : -1;
}

/* Whether the streams that used a block take requests still. Deferral is no stream: bit 255 counts as live. */
static int streams_live(const struct ashlar_manager *m, struct ashlar_saved saved)
{
  int32_t stream = 0;
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0 && !ashlar_stream_live(m, stream)) {
      return 0;
    }
    stream++;
  }
  return 1;
}

/* Records that the uses of a block need: one for each stream, and that of deferral. */
static int32_t records_of(struct ashlar_saved saved)
{
  int32_t stream = 0;
  int32_t count = 0;
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0) {
      count++;
    }
    stream++;
  }
  return count > 0 ? count + 1 : 0;
}

/* Whether a block of the pool is used on another stream. */
static int is_used(const struct ashlar_manager *m, int32_t pool)
{
  int32_t use = 0;
  while (use < m->use_top) {
    if (m->use_block[use] != -1 && m->use_stream[use] != ASHLAR_STREAM_DEFERRED &&
        ashlar_home_pool(m->home[m->use_block[use]]) == pool) {
      return 1;
    }
    use++;
  }
  return 0;
}

/* Why a record cannot be restored. */
static enum ashlar_status misfit(const struct ashlar_manager *m, int32_t pool,
                                 const struct ashlar_saved *saved, int32_t count)
{
  int32_t i = 0;
  int32_t slot = -1;
  int32_t records = m->use_spare_count + (ASHLAR_USES - m->use_top);
  int32_t slots = ashlar_reclaim_room(m) - ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS;
  while (i < count) {
    if (saved[i].home < 0 || saved[i].home >= ASHLAR_LISTS ||
        ashlar_home_pool(saved[i].home) != pool || saved[i].size == 0 ||
        saved[i].size % ASHLAR_GRANULE != 0 || saved[i].address % ASHLAR_GRANULE != 0 ||
        saved[i].size > UINT64_MAX - saved[i].address) {
      return ASHLAR_ERROR_MISFIT;
    }
    slot = block_behind(m, saved[i], slot);
    if (slot == -1 || !streams_live(m, saved[i])) {
      return ASHLAR_ERROR_MISFIT;
    }
    if (records_of(saved[i]) > records) {
      return ASHLAR_ERROR_USES;
    }
    records -= records_of(saved[i]);
    i++;
  }
  if (is_used(m, pool)) {
    return ASHLAR_ERROR_PENDING;
  }
  if (slots < 0 || count > slots / 2) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

/* Frees every allocated block of a segment, ascending by address; how many there were. */
static int32_t free_segment(struct ashlar_manager *m, int32_t head)
{
  int32_t slot = head;
  int32_t freed = 0;
  while (slot != -1) {
    int32_t next = m->next[slot];
    while (next != -1 && m->state[next] == ASHLAR_FREE) { /* may be joined */
      next = m->next[next];
    }
    if (m->state[slot] == ASHLAR_ALLOCATED) {
      ashlar_allocation_end(m, slot);
      (void)ashlar_pending_back(m, slot, 0);
      freed++;
    }
    slot = next;
  }
  return freed;
}

/* Frees every allocated block of a pool; how many there were. */
static int32_t free_all(struct ashlar_manager *m, int32_t pool)
{
  int32_t head = 0;
  int32_t freed = 0;
  while (head < m->top) {
    if (m->state[head] != ASHLAR_UNUSED && m->prev[head] == -1 &&
        ashlar_home_pool(m->home[head]) == pool) {
      freed += free_segment(m, head);
    }
    head++;
  }
  return freed;
}

/* Takes a block as it was recorded, out of the free block that is there; its slot. */
static int32_t rebuild(struct ashlar_manager *m, struct ashlar_saved saved, int32_t first)
{
  int32_t slot = block_with(m, saved.home, saved.address, first);
  int32_t stream = 0;
  slot = ashlar_allocation_take_at(m, slot, saved.address, saved.size, saved.size);
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0) {
      (void)ashlar_pending_use(m, slot, stream, 0);
    }
    stream++;
  }
  return slot;
}

struct ashlar_restored ashlar_checkpoint_restore(struct ashlar_manager *m, int32_t pool,
                                                 struct ashlar_caller caller,
                                                 const struct ashlar_saved *saved, int32_t count)
{
  struct ashlar_restored restored;
  struct ashlar_stats_copy before;
  int32_t i = 0;
  int32_t slot = -1;
  restored.freed = 0;
  restored.created = 0;
  restored.status = refusal(m, pool);
  if (restored.status != ASHLAR_OK) {
    return restored;
  }
  ashlar_ladder_poll(m, caller.stream);
  restored.status = settled(m, pool);
  if (restored.status == ASHLAR_OK) {
    restored.status = misfit(m, pool, saved, count);
  }
  if (restored.status != ASHLAR_OK) {
    return restored;
  }
  (void)ashlar_block_reserve(m, 2 * count + ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS);
  before = ashlar_stats_copy(m);
  restored.freed = free_all(m, pool);
  while (i < count) {
    if (saved[i].allocated != 0) {
      slot = rebuild(m, saved[i], slot == -1 ? -1 : m->next[slot]);
      restored.created++;
    }
    i++;
  }
  ashlar_stats_once(m, before);
  return restored;
}
