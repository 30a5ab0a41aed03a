/* reclaim.c - see reclaim.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim.h"

int32_t ashlar_reclaim_room(const struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  return m->spare_count + (ASHLAR_SLOTS - m->top);
}

int ashlar_reclaim_has_room(const struct ashlar_manager *m)
{
  return ashlar_reclaim_room(m) >= 2 + ASHLAR_SET_ASIDE;
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

/* Whether a free block can be released, as one of an ordinary or of a growable segment. Unmapping needs slots for what
   is before and behind the pages, beside those that requests in flight may need. */
/*@ requires \valid(m); REQUIRES_WHOLE REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures go: \result != 0 <==> can_go(*m, slot) && m->growable[slot] == growable;
*/
static int can_go(const struct ashlar_manager *m, int32_t slot, uint8_t growable)
{
  //@ ghost ashlar_blocks_open(m);
  if (m->growable[slot] != growable) {
    return 0;
  }
  if (growable == 0) {
    return is_whole(m, slot);
  }
  return ashlar_growable_whole(m, slot, ashlar_growable_lead(m, slot)) > 0 &&
         ashlar_reclaim_has_room(m);
}

/* First block of a list behind a key that can be released. */
/*@ requires \valid(m); REQUIRES_WHOLE REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && can_go(*m, \result) && m->growable[\result] == growable &&
      m->home[\result] == home && above(*m, \result, home, size, age, addr);
    ensures first: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==> m->growable[j] == growable ==>
      m->home[j] == home ==> above(*m, j, home, size, age, addr) ==>
      \result != -1 && (j == \result || block_less(*m, \result, j));
*/
static int32_t first_behind(const struct ashlar_manager *m, int32_t home, uint8_t growable,
                            uint64_t size, uint64_t age, uint64_t addr)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_index_after(m, home, size, age, addr);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home &&
        above(*m, slot, home, size, age, addr));
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==> m->growable[j] == growable ==>
        m->list[j] == home ==> above(*m, j, home, size, age, addr) ==>
        slot != -1 && (j == slot || block_less(*m, slot, j));
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1 && !can_go(m, slot, growable)) {
    slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

/* First block of a pool and class, in the lists of the streams from a place of the table on. */
/*@ requires \valid(m); REQUIRES_WHOLE REQUIRES_LISTED
    requires pool: 0 <= pool < ASHLAR_POOL_NUMBERS;
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    requires place: 0 <= place <= m->stream_count;
    requires kind: growable <= 1;
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && can_go(*m, \result) && m->growable[\result] == growable &&
      m->home[\result] / ASHLAR_STREAMS == pool * ASHLAR_CLASSES + class &&
      place <= m->stream_rank[m->home[\result] % ASHLAR_STREAMS];
    ensures first: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==> m->growable[j] == growable ==>
      m->home[j] / ASHLAR_STREAMS == pool * ASHLAR_CLASSES + class ==>
      place <= m->stream_rank[m->home[j] % ASHLAR_STREAMS] ==>
      \result != -1 && (j == \result || list_before(*m, \result, j));
    ensures none: \result == -1 ==> place == 0 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
      m->growable[j] == growable ==> m->home[j] / ASHLAR_STREAMS != pool * ASHLAR_CLASSES + class;
*/
static int32_t first_in_class(const struct ashlar_manager *m, int32_t pool, int32_t class,
                              uint8_t growable, int32_t place)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_streams_open(m);
  /*@ loop invariant place: \at(place, Pre) <= place <= m->stream_count;
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==> m->growable[j] == growable ==>
        m->home[j] / ASHLAR_STREAMS == pool * ASHLAR_CLASSES + class ==>
        \at(place, Pre) <= m->stream_rank[m->home[j] % ASHLAR_STREAMS] ==>
        place <= m->stream_rank[m->home[j] % ASHLAR_STREAMS];
      loop assigns place;
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count) {
    int32_t home = ashlar_home(pool, class, m->stream_order[place]);
    int32_t slot = first_behind(m, home, growable, 0, 0, 0);
    /*@ assert here: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
          m->home[j] / ASHLAR_STREAMS == pool * ASHLAR_CLASSES + class ==>
          m->stream_rank[m->home[j] % ASHLAR_STREAMS] == place ==> m->home[j] == home; */
    /*@ assert least: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==> m->growable[j] == growable ==>
          m->home[j] == home ==> slot != -1 && (j == slot || block_less(*m, slot, j)); */
    if (slot != -1) {
      return slot;
    }
    place++;
  }
  return -1;
}

/*@ ghost
  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     ensures whole: nothing_active(*m) ==> ordinary_whole(*m);
  @/
  static void whole_when_idle(const struct ashlar_manager *m)
  {
    ashlar_blocks_open(m);
    /@ assert free: nothing_active(*m) ==> \forall integer i; 0 <= i < m->top ==> m->state[i] != ASHLAR_UNUSED ==>
         m->growable[i] == 0 ==> m->state[i] == ASHLAR_FREE; @/
    /@ assert behind: nothing_active(*m) ==> \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_FREE ==>
         m->growable[i] == 0 ==> m->next[i] == -1; @/
    /@ assert before: nothing_active(*m) ==> \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_FREE ==>
         m->growable[i] == 0 ==> m->prev[i] == -1; @/
  }
*/

int32_t ashlar_reclaim_in_pool(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost whole_when_idle(m);
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
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_pools_open(m);
  //@ ghost whole_when_idle(m);
  int32_t slot = in_default != 0 ? ashlar_reclaim_in_pool(m, 0) : -1;
  int32_t pool = ashlar_pool_next_freeable(m, 0, own);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && can_go(*m, slot);
      loop invariant pool: 0 <= pool < ASHLAR_POOL_NUMBERS &&
        (0 < pool ==> walks(*m, pool, ASHLAR_POOL_FREEABLE, 0, own));
      loop invariant first: in_default != 0 ==> slot == -1 ==> none_in_class(*m, 0) && none_in_class(*m, 1);
      loop invariant default: in_default != 0 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
        m->home[j] / ASHLAR_STREAMS < ASHLAR_CLASSES ==> slot != -1 && (j == slot || pool_before(*m, slot, j));
      loop invariant from: slot != -1 ==> (m->home[slot] / ASHLAR_STREAMS < ASHLAR_CLASSES ? in_default != 0 :
        walks(*m, m->home[slot] / ASHLAR_STREAMS / ASHLAR_CLASSES, ASHLAR_POOL_FREEABLE, 0, own));
      loop invariant ahead: slot == -1 ==> \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==>
        walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
        m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES == p ==> pool != 0 && m->pool_serial[pool] <= m->pool_serial[p];
      loop invariant found: slot != -1 ==> \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==>
        walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
        m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES == p ==> j == slot || pool_before(*m, slot, j);
      loop assigns slot, pool;
      loop variant pool == 0 ? 0 : UINT64_MAX + 1 - m->pool_serial[pool];
  */
  while (slot == -1 && pool != 0) {
    //@ ghost int32_t passed = pool;
    slot = ashlar_reclaim_in_pool(m, pool);
    /*@ assert none: slot == -1 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
          m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES != passed; */
    /*@ assert same: slot != -1 ==> m->home[slot] / ASHLAR_STREAMS / ASHLAR_CLASSES == passed &&
          \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
          m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES == passed ==> j == slot || pool_before(*m, slot, j); */
    /*@ assert apart: \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==> walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==>
          p != passed ==> m->pool_serial[passed] <= m->pool_serial[p] ==> m->pool_serial[passed] < m->pool_serial[p]; */
    /*@ assert later: slot != -1 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
          0 < m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES ==>
          m->pool_serial[passed] < m->pool_serial[m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES] ==>
          pool_before(*m, slot, j); */
    pool = ashlar_pool_next_freeable(m, m->pool_serial[pool], own);
    /*@ assert next: \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==> walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==>
          m->pool_serial[passed] < m->pool_serial[p] ==> 0 < pool && m->pool_serial[pool] <= m->pool_serial[p]; */
  }
  return slot;
}

int32_t ashlar_reclaim_behind(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
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
  //@ ghost ashlar_whole_open(m);
  int32_t slot = -1;
  if (first != 0 && bytes > 0) {
    slot = first_behind(m, home, 0, bytes - 1, UINT64_MAX, UINT64_MAX);
  }
  if (slot != -1) {
    return slot;
  }
  /*@ assert none: first != 0 && 0 < bytes ==> \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
        m->growable[j] == 0 ==> m->home[j] == home ==> m->size[j] < bytes; */
  slot = ashlar_index_before(m, home, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home);
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==> m->growable[j] == 0 ==>
        m->home[j] == home ==> slot != -1 && (j == slot || block_less(*m, j, slot));
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->place[slot] + 1;
  */
  while (slot != -1 && !can_go(m, slot, 0)) {
    slot = ashlar_index_before(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot != -1 && m->size[slot] >= limit ? slot : -1;
}
