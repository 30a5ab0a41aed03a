/* allocation.c - see allocation.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/allocation.h"

/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result != 0 <==> (m->prev[slot] != -1 || m->next[slot] != -1);
*/
static int is_split(const struct ashlar_manager *m, int32_t slot)
{
  return m->prev[slot] != -1 || m->next[slot] != -1;
}

/* Replaces `old_count` inactive split blocks of `old_bytes` by new ones. Counts the difference only, once, so that
   peaks and totals see what a user sees and not the steps in between. */
/*@ requires \valid(m);
    requires pool: pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
static void change_inactive(struct ashlar_manager *m, int32_t pool, uint64_t old_count,
                            uint64_t old_bytes, uint64_t new_count, uint64_t new_bytes)
{
  if (new_count >= old_count) {
    ashlar_stats_increase(m, ASHLAR_STAT_INACTIVE_SPLIT, pool, new_count - old_count);
  } else {
    ashlar_stats_decrease(m, ASHLAR_STAT_INACTIVE_SPLIT, pool, old_count - new_count);
  }
  if (new_bytes >= old_bytes) {
    ashlar_stats_increase(m, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, pool, new_bytes - old_bytes);
  } else {
    ashlar_stats_decrease(m, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, pool, old_bytes - new_bytes);
  }
}

/* Counts and maps a block that a request of `bytes` now owns. */
/*@ requires \valid(m); REQUIRES_MAP
    requires slot: 0 <= slot < m->top && 0 <= m->list[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations, m->requested[slot], m->bucket[0 .. ASHLAR_BUCKETS - 1],
      m->chain[slot];
    ENSURES_MAP
*/
static void enter(struct ashlar_manager *m, int32_t slot, uint64_t bytes)
{
  int32_t pool = m->list[slot] / ASHLAR_STREAMS;
  m->requested[slot] = bytes;
  ashlar_map_insert(m, slot);
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATION, pool, 1);
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATED_BYTES, pool, m->size[slot]);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE, pool, 1);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE_BYTES, pool, m->size[slot]);
  ashlar_stats_increase(m, ASHLAR_STAT_REQUESTED_BYTES, pool, bytes);
  if (m->size[slot] >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_increase(m->oversize_allocations, 1);
  }
}

int32_t ashlar_allocation_choose(const struct ashlar_manager *m, int32_t list, uint64_t size)
{
  int32_t slot = ashlar_index_best(m, list, size);
  if (slot == -1 ||
      !ashlar_may_serve(size, m->size[slot], m->config.max_split_size, m->config.oversize_slack)) {
    return -1;
  }
  return slot;
}

/* splits the rest off an allocated block and hands the block out; the old inactive figures are the caller's */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && size <= m->size[slot];
    ensures REQ_FRAME_give: others_kept(\old(*m), *m, slot);
*/
static void give(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                 uint64_t old_count, uint64_t old_bytes)
{
  int32_t pool = m->list[slot] / ASHLAR_STREAMS;
  if (ashlar_should_split(pool, m->size[slot], size, m->config.max_split_size)) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    ashlar_block_put(m, rest);
    change_inactive(m, pool, old_count, old_bytes, 1, m->size[rest]);
  } else {
    change_inactive(m, pool, old_count, old_bytes, 0, 0);
  }
  enter(m, slot, bytes);
}

void ashlar_allocation_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size)
{
  uint64_t split = is_split(m, slot) ? 1 : 0;
  ashlar_block_take(m, slot);
  give(m, slot, bytes, size, split, split ? m->size[slot] : 0);
}

void ashlar_allocation_take_new(struct ashlar_manager *m, int32_t slot, uint64_t bytes,
                                uint64_t size)
{
  give(m, slot, bytes, size, 0, 0);
}

int32_t ashlar_allocation_take_at(struct ashlar_manager *m, int32_t slot, uint64_t addr,
                                  uint64_t size, uint64_t bytes)
{
  int32_t pool = m->list[slot] / ASHLAR_STREAMS;
  uint64_t old_count = is_split(m, slot) ? 1 : 0;
  uint64_t old_bytes = old_count ? m->size[slot] : 0;
  uint64_t count = 0;
  uint64_t left = m->size[slot] - size;
  int32_t block = slot;
  ashlar_block_take(m, slot);
  if (addr > m->addr[slot]) {
    block = ashlar_block_cut(m, slot, addr - m->addr[slot]);
    /* this block comes out of a cut and not out of the index, which would have renewed its handle */
    m->generation[block] = m->generation[block] == UINT32_MAX ? 0 : m->generation[block] + 1;
    ashlar_block_put(m, slot);
    count++;
  }
  if (size < m->size[block]) {
    int32_t rest = ashlar_block_cut(m, block, size);
    ashlar_block_put(m, rest);
    count++;
  }
  change_inactive(m, pool, old_count, old_bytes, count, left);
  enter(m, block, bytes);
  return block;
}

/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == (0 <= slot < m->top && m->state[slot] == ASHLAR_FREE ? m->size[slot] : 0);
*/
static uint64_t free_size(const struct ashlar_manager *m, int32_t slot)
{
  return slot >= 0 && slot < m->top && m->state[slot] == ASHLAR_FREE ? m->size[slot] : 0;
}

void ashlar_allocation_release(struct ashlar_manager *m, int32_t slot)
{
  int32_t pool = m->list[slot] / ASHLAR_STREAMS;
  uint64_t size = m->size[slot];
  uint64_t before = free_size(m, m->prev[slot]);
  uint64_t after = free_size(m, m->next[slot]);
  uint64_t absorbed = (before > 0 ? 1U : 0U) + (after > 0 ? 1U : 0U);
  int32_t result;
  ashlar_map_remove(m, slot);
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATION, pool, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATED_BYTES, pool, size);
  if (size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_decrease(m->oversize_allocations, 1);
  }
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE, pool, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE_BYTES, pool, size);
  ashlar_stats_decrease(m, ASHLAR_STAT_REQUESTED_BYTES, pool, m->requested[slot]);
  result = ashlar_block_release(m, slot);
  if (is_split(m, result)) {
    change_inactive(m, pool, absorbed, before + after, 1, m->size[result]);
  } else {
    change_inactive(m, pool, absorbed, before + after, 0, 0);
  }
}

void ashlar_allocation_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  int32_t pool = m->list[slot] / ASHLAR_STREAMS;
  uint64_t old_size = m->size[slot];
  uint64_t after = free_size(m, m->next[slot]);
  uint64_t rest_size = old_size + after - size;
  if (after > 0) {
    ashlar_block_take(m, m->next[slot]);
    ashlar_block_join(m, slot);
  }
  if (rest_size > 0) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    ashlar_block_put(m, rest);
  }
  change_inactive(m, pool, after > 0 ? 1 : 0, after, rest_size > 0 ? 1 : 0, rest_size);
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATED_BYTES, pool, old_size);
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATED_BYTES, pool, size);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE_BYTES, pool, old_size);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE_BYTES, pool, size);
  if (old_size < m->config.max_split_size && size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_increase(m->oversize_allocations, 1);
  } else if (old_size >= m->config.max_split_size && size < m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_decrease(m->oversize_allocations, 1);
  }
}
