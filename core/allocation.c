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

/* Distance of two multiples of 512: a fact that the provers lose among the arrays. */
/*@ requires a % 512 == 0 && b % 512 == 0 && a <= b;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == b - a && \result % 512 == 0;
*/
static inline uint64_t aligned_distance(uint64_t a, uint64_t b)
{
  return b - a;
}

/* Counts and maps a block that a request of `bytes` now owns. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED && 0 <= m->list[slot] < ASHLAR_LISTS;
    REQUIRES_MAP(slot)
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations, m->requested[slot], m->bucket[0 .. ASHLAR_BUCKETS - 1],
      m->chain[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MAP(-1)
    ensures request: m->requested[slot] == bytes;
*/
static void enter(struct ashlar_manager *m, int32_t slot, uint64_t bytes)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
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

/* Cuts an allocated block after `size` bytes, where it is larger, and frees the rest. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: size < m->size[slot] ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_BLOCKS
    ensures kept: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->list[slot] == \old(m->list[slot]) && m->size[slot] == size &&
      m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_shorten: others_kept(\old(*m), *m, slot);
*/
static void shorten(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  if (size < m->size[slot]) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    ashlar_block_put(m, rest);
  }
}

/* Splits the rest off an allocated block and hands the block out; the old inactive figures are the caller's. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    REQUIRES_MAP(slot)
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: SPLITS(slot, size) ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->requested[slot] == bytes;
    ensures REQ_SIZE_split: \old(SPLITS(slot, size)) ==> m->size[slot] == size;
    ensures REQ_SIZE_split_whole: !\old(SPLITS(slot, size)) ==> m->size[slot] == \old(m->size[slot]);
    ensures REQ_FRAME_give: others_kept(\old(*m), *m, slot);
*/
static void give(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                 uint64_t old_count, uint64_t old_bytes)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
  uint64_t whole = m->size[slot];
  if (!ashlar_should_split(pool, whole, size, m->config.max_split_size)) {
    size = whole;
  }
  shorten(m, slot, size);
  enter(m, slot, bytes);
  change_inactive(m, pool, old_count, old_bytes, size < whole ? 1 : 0, whole - size);
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

/* Frees the first `size` bytes of an allocated block; slot of what is left. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires before: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] != ASHLAR_FREE;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires inside: 0 < size < m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_BLOCKS
    ensures left: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && \result != slot &&
      \old(*m).state[\result] == ASHLAR_UNUSED && m->addr[\result] == \old(m->addr[slot]) + size &&
      m->size[\result] == \old(m->size[slot]) - size;
    ensures freed: m->state[slot] == ASHLAR_FREE;
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != ASHLAR_FREE;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
    ensures states: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      m->state[j] == \old(*m).state[j];
    ensures REQ_FRAME_behead: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      same_block(\old(*m), *m, j);
*/
static int32_t behead(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  int32_t rest;
  //@ assert front: 0 <= m->prev[slot] ==> m->prev[slot] != slot;
  //@ assert behind: 0 <= m->next[slot] ==> m->next[slot] != slot;
  rest = ashlar_block_cut(m, slot, size);
  ashlar_block_put(m, slot);
  return rest;
}

/* Takes what a free block has from an address on; what is before stays free. Slot of the block taken. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: addr % 512 == 0 && m->addr[slot] <= addr < m->addr[slot] + m->size[slot];
    requires spare: m->addr[slot] < addr ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_BLOCKS ENSURES_MAP(\result)
    ensures taken: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == addr &&
      m->size[\result] == \old(m->addr[slot]) + \old(m->size[slot]) - addr;
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != ASHLAR_FREE;
    ensures spare: m->spare_count == \old(m->spare_count) - (\old(m->addr[slot]) < addr ? 1 : 0);
    ensures REQ_FRAME_take: others_kept(\old(*m), *m, \result);
*/
static int32_t take_from(struct ashlar_manager *m, int32_t slot, uint64_t addr)
{
  uint64_t before = aligned_distance(m->addr[slot], addr);
  int32_t block = slot;
  //@ assert neighbours: 0 <= m->next[slot] ==> m->next[slot] != slot && m->state[m->next[slot]] != ASHLAR_FREE;
  //@ assert front: 0 <= m->prev[slot] ==> m->prev[slot] != slot && m->state[m->prev[slot]] != ASHLAR_FREE;
  ashlar_block_take(m, slot);
  if (before > 0) {
    block = behead(m, slot, before);
    /*@ assert states: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != block ==>
          m->state[j] == \at(*m, Pre).state[j] && same_block(\at(*m, Pre), *m, j); */
    //@ assert both: m->state[slot] == ASHLAR_FREE && \at(*m, Pre).state[block] == ASHLAR_UNUSED;
  }
  /*@ assert mapped: \forall integer j; 0 <= j < m->top ==>
        (m->state[j] == ASHLAR_ALLOCATED && j != block <==> \at(*m, Pre).state[j] == ASHLAR_ALLOCATED); */
  /*@ assert placed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==> j != block ==>
        same_block(\at(*m, Pre), *m, j); */
  return block;
}

int32_t ashlar_allocation_take_at(struct ashlar_manager *m, int32_t slot, uint64_t addr,
                                  uint64_t size, uint64_t bytes)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
  uint64_t whole = m->size[slot];
  uint64_t before = addr - m->addr[slot];
  uint64_t count = (before > 0 ? 1U : 0U) + (size < whole - before ? 1U : 0U);
  uint64_t old_count = is_split(m, slot) ? 1 : 0;
  int32_t block = take_from(m, slot, addr);
  shorten(m, block, size);
  enter(m, block, bytes);
  change_inactive(m, pool, old_count, old_count ? whole : 0, count, whole - size);
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

/* Voids the handle of a block and puts it, coalesced, into the free index; slot of the result. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, m->generation[slot], m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1];
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures result: 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE;
    ensures REQ_FREE_done: m->state[slot] != ASHLAR_ALLOCATED;
    ensures REQ_FREE_handle_renewed: m->generation[slot] != \old(m->generation[slot]);
    ensures REQ_FRAME_free: others_kept(\old(*m), *m, slot);
*/
static int32_t take_back(struct ashlar_manager *m, int32_t slot)
{
  ashlar_map_remove(m, slot);
  m->generation[slot] = m->generation[slot] == UINT32_MAX ? 0 : m->generation[slot] + 1;
  return ashlar_block_release(m, slot, ASHLAR_FREE);
}

/* Counts that a block of `size` bytes, which served a request of `bytes`, is no longer owned. */
/*@ requires \valid(m);
    requires pool: pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
*/
static void count_out(struct ashlar_manager *m, int32_t pool, uint64_t size, uint64_t bytes)
{
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATION, pool, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATED_BYTES, pool, size);
  if (size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_decrease(m->oversize_allocations, 1);
  }
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE, pool, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE_BYTES, pool, size);
  ashlar_stats_decrease(m, ASHLAR_STAT_REQUESTED_BYTES, pool, bytes);
}

void ashlar_allocation_release(struct ashlar_manager *m, int32_t slot)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
  uint64_t size = m->size[slot];
  uint64_t bytes = m->requested[slot];
  uint64_t before = free_size(m, m->prev[slot]);
  uint64_t after = free_size(m, m->next[slot]);
  uint64_t absorbed = (before > 0 ? 1U : 0U) + (after > 0 ? 1U : 0U);
  int32_t result = take_back(m, slot);
  uint64_t split = is_split(m, result) ? 1 : 0;
  count_out(m, pool, size, bytes);
  change_inactive(m, pool, absorbed, ashlar_saturating_sum(before, after), split,
                  split ? m->size[result] : 0);
}

/* Counts that an owned block changes its size. */
/*@ requires \valid(m);
    requires pool: pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
*/
static void count_resize(struct ashlar_manager *m, int32_t pool, uint64_t old_size, uint64_t size)
{
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

/* Joins an allocated block with a free block behind it. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires after: 0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE;
    ENSURES_BLOCKS
    ensures joined: m->state[slot] == ASHLAR_ALLOCATED &&
      m->size[slot] == \old(m->size[slot]) + \old(m->size[m->next[slot]]);
    ensures after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    ensures spare: 0 < m->spare_count;
    ensures REQ_FRAME_lengthen: others_kept(\old(*m), *m, slot);
*/
static void lengthen(struct ashlar_manager *m, int32_t slot)
{
  int32_t after = m->next[slot];
  //@ assert beyond: 0 <= m->next[after] ==> m->state[m->next[after]] != ASHLAR_FREE && m->next[after] != after;
  ashlar_block_take(m, after);
  ashlar_block_join(m, slot);
}

/* Moves the end of an allocated block. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_BLOCKS
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_reshape: others_kept(\old(*m), *m, slot);
*/
static void reshape(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  if (m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE) {
    lengthen(m, slot);
  }
  shorten(m, slot, size);
}

/* The same with the address map, which it leaves as it is. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_move: others_kept(\old(*m), *m, slot);
*/
static void move_end(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  reshape(m, slot, size);
  /*@ assert mapped: \forall integer j; 0 <= j < m->top ==>
        (m->state[j] == ASHLAR_ALLOCATED <==> \at(*m, Pre).state[j] == ASHLAR_ALLOCATED); */
  /*@ assert placed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
        m->addr[j] == \at(*m, Pre).addr[j]; */
}

void ashlar_allocation_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
  uint64_t old_size = m->size[slot];
  uint64_t after = free_size(m, m->next[slot]);
  uint64_t rest = old_size + after - size;
  move_end(m, slot, size);
  change_inactive(m, pool, after > 0 ? 1 : 0, after, rest > 0 ? 1 : 0, rest);
  count_resize(m, pool, old_size, size);
}
