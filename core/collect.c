/* collect.c - see reclaim.h: collection by age.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim.h"

int ashlar_collect_counts(const struct ashlar_manager *m)
{
  return m->collect_above != UINT64_MAX &&
         (m->limit != UINT64_MAX || m->config.policy == ASHLAR_POLICY_COMPLETE);
}

void ashlar_collect_searched(struct ashlar_manager *m, int32_t home)
{
  int32_t pool_class = ashlar_home_pool_class(home);
  if (ashlar_collect_counts(m)) {
    m->pool_searches[pool_class] = ashlar_saturating_sum(m->pool_searches[pool_class], 1);
  }
}

/* Searches since a free block of the default pool's large class entered its list. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && m->entered[slot] <= m->pool_searches[ASHLAR_CLASS_LARGE];
    requires class: m->home[slot] / ASHLAR_STREAMS == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_age: \result == age_in_list(*m, slot);
*/
static uint64_t age_of(const struct ashlar_manager *m, int32_t slot)
{
  return m->pool_searches[ASHLAR_CLASS_LARGE] - m->entered[slot];
}

/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result != 0 <==> (m->prev[slot] == -1 && m->next[slot] == -1);
*/
static int is_whole(const struct ashlar_manager *m, int32_t slot)
{
  return m->prev[slot] == -1 && m->next[slot] == -1;
}

uint64_t ashlar_collect_mean(const struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  uint64_t sum = 0;
  uint64_t count = 0;
  int32_t place = 0;
  /*@ loop invariant place: 0 <= place <= m->stream_count;
      loop assigns place, sum, count;
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count) {
    int32_t home = ashlar_home(0, ASHLAR_CLASS_LARGE, m->stream_order[place]);
    int32_t slot = ashlar_index_after(m, home, 0, 0, 0);
    /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home);
        loop assigns slot, sum, count;
        loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
    */
    while (slot != -1) {
      if (is_whole(m, slot)) {
        sum = ashlar_saturating_sum(sum, age_of(m, slot));
        count = ashlar_saturating_sum(count, 1);
      }
      slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
    }
    place++;
  }
  if (count == 0) {
    return UINT64_MAX;
  }
  return ashlar_saturating_sum(sum / count, sum % count == 0 ? 0 : 1);
}

/* First block of a list that may be collected. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS && home / ASHLAR_STREAMS == ASHLAR_CLASS_LARGE;
    requires ages: ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches);
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) && m->growable[\result] == 0 &&
      m->home[\result] == home && cutoff <= m->pool_searches[ASHLAR_CLASS_LARGE] - m->entered[\result];
    ensures first: \forall integer j; 0 <= j < m->top ==> is_collected(*m, j, cutoff) ==> m->home[j] == home ==>
      \result != -1 && (j == \result || block_less(*m, \result, j));
*/
static int32_t old_in_list(const struct ashlar_manager *m, int32_t home, uint64_t cutoff)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_index_after(m, home, 0, 0, 0);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home);
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> is_collected(*m, j, cutoff) ==>
        m->home[j] == home ==> slot != -1 && (j == slot || block_less(*m, slot, j));
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1 && (m->growable[slot] != 0 || !is_whole(m, slot) || age_of(m, slot) < cutoff)) {
    slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

int32_t ashlar_collect_next(const struct ashlar_manager *m, uint64_t cutoff)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  int32_t place = 0;
  /*@ loop invariant place: 0 <= place <= m->stream_count;
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> is_collected(*m, j, cutoff) ==>
        place <= m->stream_rank[m->home[j] % ASHLAR_STREAMS];
      loop assigns place;
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count) {
    int32_t home = ashlar_home(0, ASHLAR_CLASS_LARGE, m->stream_order[place]);
    int32_t slot = old_in_list(m, home, cutoff);
    /*@ assert here: \forall integer j; 0 <= j < m->top ==> is_collected(*m, j, cutoff) ==>
          m->stream_rank[m->home[j] % ASHLAR_STREAMS] == place ==> m->home[j] == home; */
    if (slot != -1) {
      return slot;
    }
    place++;
  }
  return -1;
}
