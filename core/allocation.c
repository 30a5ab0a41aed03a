/* allocation.c - see allocation.h. Shapes are changed first and statistics last: then nothing of the shape has to be
 * proved again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/allocation.h"

/* Bytes of a block that counts as inactive and split: a free part of an ordinary segment; else 0. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: -1 <= slot < m->top;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_inactive: \result == (0 <= slot && m->state[slot] == ASHLAR_FREE && m->growable[slot] == 0 &&
      (m->prev[slot] != -1 || m->next[slot] != -1) ? m->size[slot] : 0);
*/
static uint64_t inactive(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  if (slot < 0 || m->state[slot] != ASHLAR_FREE || m->growable[slot] != 0 ||
      (m->prev[slot] == -1 && m->next[slot] == -1)) {
    return 0;
  }
  return m->size[slot];
}

/* Replaces inactive split blocks by others: how many, and how many bytes. */
/*@ requires \valid(m);
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
static void change_inactive(struct ashlar_manager *m, int32_t class, uint64_t old_count,
                            uint64_t old_bytes, uint64_t count, uint64_t bytes)
{
  ashlar_stats_change(m, ASHLAR_STAT_INACTIVE_SPLIT, class, old_count, count);
  ashlar_stats_change(m, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, class, old_bytes, bytes);
}

/* Searches so far in the pool and class of a block. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= m->home[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_age_now: \result == m->pool_searches[m->home[slot] / ASHLAR_STREAMS];
*/
static uint64_t searches(const struct ashlar_manager *m, int32_t slot)
{
  return m->pool_searches[ashlar_home_pool_class(m->home[slot])];
}

/* What the block could grow to: its size, and that of the unmapped block behind it. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_walk_extent: \result == m->size[slot] +
      (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_UNMAPPED ? m->size[m->next[slot]] : 0);
*/
static uint64_t extent(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t after = m->next[slot];
  if (after < 0 || m->state[after] != ASHLAR_UNMAPPED) {
    return m->size[slot];
  }
  return m->size[slot] + m->size[after];
}

/* The least adequate block of an ordinary segment, -1: none. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->list[\result] == home && size <= m->size[\result] && m->growable[\result] == 0;
    ensures least: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==> m->list[j] == home ==>
      size <= m->size[j] ==> m->growable[j] == 0 ==>
      \result != -1 && (j == \result || block_less(*m, \result, j));
*/
static int32_t best_ordinary(const struct ashlar_manager *m, int32_t home, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_index_best(m, home, size);
  /*@ loop invariant slot: -1 <= slot < m->top;
      loop invariant adequate: slot != -1 ==> indexed(*m, slot) && m->list[slot] == home && size <= m->size[slot];
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==>
        m->list[j] == home ==> size <= m->size[j] ==> m->growable[j] == 0 ==>
        slot != -1 && (j == slot || block_less(*m, slot, j));
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1 && m->growable[slot] != 0) {
    slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

/* The walk of REQ-BESTFIT-walk from the least adequate block on; -1: there is none. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->list[\result] == home && size <= m->size[\result];
    ensures none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==>
      m->list[j] == home ==> m->size[j] < size;
    ensures ordinary: \result != -1 ==> m->growable[\result] == 0 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_FREE ==> m->list[j] == home ==> size <= m->size[j] ==> m->growable[j] == 0 ==>
      j == \result || block_less(*m, \result, j);
*/
static int32_t best_walked(const struct ashlar_manager *m, int32_t home, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_index_best(m, home, size);
  int32_t next = slot;
  /*@ loop invariant next: -1 <= next < m->top && -1 <= slot < m->top && (next != -1 ==> slot == next);
      loop invariant adequate: slot != -1 ==> indexed(*m, slot) && m->list[slot] == home && size <= m->size[slot];
      loop invariant none: slot == -1 ==> \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==>
        m->list[j] == home ==> m->size[j] < size;
      loop invariant passed: slot != -1 ==> (next != -1 || m->growable[slot] != 0) &&
        \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==> m->list[j] == home ==>
        size <= m->size[j] ==> m->growable[j] == 0 ==> next != -1 ==> j == slot || block_less(*m, slot, j);
      loop assigns slot, next;
      loop variant next == -1 ? 0 : m->free_count - m->place[next];
  */
  while (next != -1 && m->growable[next] != 0) {
    next = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
    if (next != -1 && extent(m, next) >= extent(m, slot)) {
      next = -1;
    }
    if (next != -1) {
      slot = next;
    }
  }
  return slot;
}

int32_t ashlar_allocation_choose(const struct ashlar_manager *m, int32_t home, uint64_t size,
                                 int growable)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = growable != 0 ? best_walked(m, home, size) : best_ordinary(m, home, size);
  if (slot == -1 ||
      !ashlar_may_serve(size, m->size[slot], m->config.max_split_size, m->config.oversize_slack)) {
    return -1;
  }
  return slot;
}

int ashlar_allocation_splits(const struct ashlar_manager *m, int32_t home, uint64_t whole,
                             uint64_t size, int growable)
{
  if (m->pool_no_split[ashlar_home_pool(home)] != 0) {
    return 0;
  }
  if (growable != 0) {
    return size < whole;
  }
  return ashlar_should_split(ashlar_home_class(home), whole, size, m->config.max_split_size);
}

void ashlar_allocation_shorten(struct ashlar_manager *m, int32_t slot, uint64_t size,
                               uint64_t entered)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  if (size < m->size[slot]) {
    int32_t rest = ashlar_block_cut(m, slot, size);
    ashlar_block_put(m, rest);
    //@ ghost ashlar_map_close(m);
    m->entered[rest] = entered;
  }
}

/* A taken block is allocated: mapped, with one reference, for a request of `bytes`. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES, m->requested[slot], m->references[slot], ASSIGNS_MAP, m->in_map[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures allocated: m->state[slot] == ASHLAR_ALLOCATED && m->requested[slot] == bytes && m->references[slot] == 1;
*/
static void own(struct ashlar_manager *m, int32_t slot, uint64_t bytes)
{
  //@ ghost ashlar_blocks_open(m);
  m->requested[slot] = bytes;
  m->references[slot] = 1;
  ashlar_block_pass(m, slot, ASHLAR_ALLOCATED);
  ashlar_map_insert(m, slot);
}

/* Counts a block of `size` bytes that a request of `bytes` now owns. */
/*@ requires \valid(m);
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
*/
static void count_in(struct ashlar_manager *m, int32_t class, uint64_t size, uint64_t bytes)
{
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATION, class, 1);
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATED_BYTES, class, size);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE, class, 1);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE_BYTES, class, size);
  ashlar_stats_increase(m, ASHLAR_STAT_REQUESTED_BYTES, class, bytes);
  if (size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_increase(m->oversize_allocations, 1);
  }
}

/* Splits the rest off a taken block and hands the block out; the old inactive bytes are the caller's. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_STATE ENSURES_LISTED ENSURES_GIVEN
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
static void give(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                 int growable, uint64_t old_inactive)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t class = ashlar_home_class(m->home[slot]);
  uint64_t whole = m->size[slot];
  uint64_t rest;
  if (!ashlar_allocation_splits(m, m->home[slot], whole, size, growable)) {
    size = whole;
  }
  rest = m->growable[slot] == 0 ? whole - size : 0;
  ashlar_allocation_shorten(m, slot, size, searches(m, slot));
  own(m, slot, bytes);
  count_in(m, class, size, bytes);
  change_inactive(m, class, old_inactive > 0 ? 1 : 0, old_inactive, rest > 0 ? 1 : 0, rest);
}

void ashlar_allocation_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                            int growable)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t old_inactive = inactive(m, slot);
  ashlar_block_take(m, slot);
  give(m, slot, bytes, size, growable, old_inactive);
}

void ashlar_allocation_take_new(struct ashlar_manager *m, int32_t slot, uint64_t bytes,
                                uint64_t size, int growable)
{
  //@ ghost ashlar_blocks_open(m);
  give(m, slot, bytes, size, growable, 0);
}

int32_t ashlar_allocation_take_from(struct ashlar_manager *m, int32_t slot, uint64_t before)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  int32_t block = slot;
  //@ assert behind: 0 <= m->next[slot] ==> m->next[slot] != slot && m->state[m->next[slot]] != ASHLAR_FREE;
  //@ assert front: 0 <= m->prev[slot] ==> m->prev[slot] != slot && m->state[m->prev[slot]] != ASHLAR_FREE;
  ashlar_block_take(m, slot);
  if (before > 0) {
    block = ashlar_block_cut(m, slot, before);
    /*@ assert addresses: \forall integer j; 0 <= j < m->top ==> m->in_map[j] == 1 ==>
          m->addr[j] == \at(*m, Pre).addr[j]; */
    //@ ghost ashlar_map_close(m);
    ashlar_block_put(m, slot);
    m->entered[block] = m->entered[slot];
    /*@ assert listed: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
          (m->home[j] == \at(*m, Pre).home[j] && \at(*m, Pre).state[j] != ASHLAR_UNUSED) ||
          m->home[j] == \at(*m, Pre).home[slot]; */
    /*@ assert rest: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==>
          m->home[j] == \at(*m, Pre).home[j] && \at(*m, Pre).state[j] == ASHLAR_FREE &&
          m->entered[j] == \at(*m, Pre).entered[j]; */
  }
  /* the same of both ways: said only here, it is not found */
  /*@ assert free: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_FREE ==>
        m->home[j] == \at(*m, Pre).home[j] && \at(*m, Pre).state[j] == ASHLAR_FREE &&
        m->entered[j] == \at(*m, Pre).entered[j]; */
  return block;
}

int32_t ashlar_allocation_take_at(struct ashlar_manager *m, int32_t slot, uint64_t addr,
                                  uint64_t size, uint64_t bytes)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t class = ashlar_home_class(m->home[slot]);
  uint64_t old_inactive = inactive(m, slot);
  uint64_t before = addr - m->addr[slot];
  uint64_t rest = m->size[slot] - size;
  uint64_t count = (before > 0 ? 1U : 0U) + (size < m->size[slot] - before ? 1U : 0U);
  int32_t growable = m->growable[slot];
  int32_t block = ashlar_allocation_take_from(m, slot, before);
  ashlar_allocation_shorten(m, block, size, searches(m, block));
  own(m, block, bytes);
  count_in(m, class, size, bytes);
  if (growable == 0) {
    change_inactive(m, class, old_inactive > 0 ? 1 : 0, old_inactive, count, rest);
  }
  return block;
}

/* Counts that a block of `size` bytes has no owner any more. */
/*@ requires \valid(m);
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
*/
static void count_out(struct ashlar_manager *m, int32_t class, uint64_t size)
{
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATION, class, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATED_BYTES, class, size);
  if (size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_decrease(m->oversize_allocations, 1);
  }
}

void ashlar_allocation_end(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_map_remove(m, slot);
  ashlar_block_pass(m, slot, ASHLAR_PENDING);
  m->generation[slot] = m->generation[slot] == UINT32_MAX ? 1 : m->generation[slot] + 1;
  count_out(m, ashlar_home_class(m->home[slot]), m->size[slot]);
}

int32_t ashlar_allocation_free(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t class = ashlar_home_class(m->home[slot]);
  uint64_t size = m->size[slot];
  uint64_t bytes = m->requested[slot];
  uint64_t before = inactive(m, m->prev[slot]);
  uint64_t after = inactive(m, m->next[slot]);
  uint64_t absorbed = (before > 0 ? 1U : 0U) + (after > 0 ? 1U : 0U);
  uint64_t left;
  int32_t result;
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  result = ashlar_block_release(m, slot, ASHLAR_FREE);
  m->entered[result] = searches(m, result);
  left = inactive(m, result);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE, class, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE_BYTES, class, size);
  ashlar_stats_decrease(m, ASHLAR_STAT_REQUESTED_BYTES, class, bytes);
  change_inactive(m, class, absorbed, ashlar_saturating_sum(before, after), left > 0 ? 1 : 0, left);
  return result;
}

/* Counts that an owned block changes its size. */
/*@ requires \valid(m);
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
*/
static void count_resize(struct ashlar_manager *m, int32_t class, uint64_t old_size, uint64_t size)
{
  ashlar_stats_decrease(m, ASHLAR_STAT_ALLOCATED_BYTES, class, old_size);
  ashlar_stats_increase(m, ASHLAR_STAT_ALLOCATED_BYTES, class, size);
  ashlar_stats_decrease(m, ASHLAR_STAT_ACTIVE_BYTES, class, old_size);
  ashlar_stats_increase(m, ASHLAR_STAT_ACTIVE_BYTES, class, size);
  if (old_size < m->config.max_split_size && size >= m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_increase(m->oversize_allocations, 1);
  } else if (old_size >= m->config.max_split_size && size < m->config.max_split_size) {
    m->oversize_allocations = ashlar_counter_decrease(m->oversize_allocations, 1);
  }
}

/* Joins a taken block with a free block behind it. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires after: 0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE;
    ENSURES_STATE ENSURES_LISTED
    ensures joined: m->state[slot] == ASHLAR_TAKEN && m->addr[slot] == \old(m->addr[slot]) &&
      m->size[slot] == \old(m->size[slot]) + \old(m->size[m->next[slot]]);
    ensures after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_FREE;
    ensures spare: 0 < m->spare_count;
    ensures REQ_FRAME_lengthen: others_kept(\old(*m), *m, slot);
*/
static void lengthen(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t after = m->next[slot];
  //@ assert beyond: 0 <= m->next[after] ==> m->state[m->next[after]] != ASHLAR_FREE && m->next[after] != after;
  ashlar_block_take(m, after);
  ashlar_block_join(m, slot);
}

/* Moves the end of an allocated block; the statistics are the caller's. */
/*@ requires \valid(m); REQUIRES_STATE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered), ASSIGNS_MAP, ALL(in_map);
    ENSURES_STATE ENSURES_LISTED
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_reshape: others_kept(\old(*m), *m, slot);
*/
static void reshape(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_map_remove(m, slot);
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  if (m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE) {
    lengthen(m, slot);
  }
  ashlar_allocation_shorten(m, slot, size, searches(m, slot));
  ashlar_block_pass(m, slot, ASHLAR_ALLOCATED);
  ashlar_map_insert(m, slot);
}

void ashlar_allocation_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t class = ashlar_home_class(m->home[slot]);
  uint64_t old_size = m->size[slot];
  uint64_t after = inactive(m, m->next[slot]);
  uint64_t rest;
  reshape(m, slot, size);
  rest = inactive(m, m->next[slot]);
  change_inactive(m, class, after > 0 ? 1 : 0, after, rest > 0 ? 1 : 0, rest);
  count_resize(m, class, old_size, size);
}
