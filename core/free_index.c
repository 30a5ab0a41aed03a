/* free_index.c - the free index as one sorted array with binary search.
 *
 * `order` is a permutation of all slots in use: its first free_count entries are the free blocks, sorted; the rest
 * waits in any order. So membership is a comparison of `place` with free_count, a block is found in O(1), and there is
 * always room.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/free_index.h"

/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures below: \result != 0 <==> below(*m, slot, list, size, age, addr);
*/
static int key_below(const struct ashlar_manager *m, int32_t slot, int32_t list, uint64_t size,
                     uint64_t age, uint64_t addr)
{
  if (m->list[slot] != list) {
    return m->list[slot] < list;
  }
  if (m->size[slot] != size) {
    return m->size[slot] < size;
  }
  if (m->age[slot] != age) {
    return m->age[slot] < age;
  }
  return m->addr[slot] < addr;
}

/* first place whose block is not below the key */
/*@ requires \valid(m); REQUIRES_INDEX
    terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 <= \result <= m->free_count;
    ensures low: \forall integer k; 0 <= k < \result ==> below(*m, m->order[k], list, size, age, addr);
    ensures high: \forall integer k; \result <= k < m->free_count ==> !below(*m, m->order[k], list, size, age, addr);
*/
static int32_t lower_bound(const struct ashlar_manager *m, int32_t list, uint64_t size,
                           uint64_t age, uint64_t addr)
{
  int32_t low = 0;
  int32_t high = m->free_count;
  /*@ loop invariant range: 0 <= low <= high <= m->free_count;
      loop invariant low: \forall integer k; 0 <= k < low ==> below(*m, m->order[k], list, size, age, addr);
      loop invariant high: \forall integer k; high <= k < m->free_count ==>
        !below(*m, m->order[k], list, size, age, addr);
      loop assigns low, high;
      loop variant high - low;
  */
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (key_below(m, m->order[middle], list, size, age, addr)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int32_t ashlar_index_best(const struct ashlar_manager *m, int32_t list, uint64_t size)
{
  int32_t k = lower_bound(m, list, size, 0, 0);
  /*@ assert candidates: \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==> m->list[j] == list ==>
        size <= m->size[j] ==> k <= m->place[j]; */
  if (k < m->free_count && m->list[m->order[k]] == list) {
    return m->order[k];
  }
  return -1;
}

int32_t ashlar_index_after(const struct ashlar_manager *m, int32_t list, uint64_t size,
                           uint64_t age, uint64_t addr)
{
  int32_t k = lower_bound(m, list, size, age, addr);
  //@ ghost int32_t bound = k;
  if (k < m->free_count && m->list[m->order[k]] == list && m->size[m->order[k]] == size &&
      m->age[m->order[k]] == age && m->addr[m->order[k]] == addr) {
    k++;
  }
  //@ assert lower: \forall integer i; 0 <= i < k ==> !above(*m, m->order[i], list, size, age, addr);
  /*@ assert candidates: \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==> m->list[j] == list ==>
        above(*m, j, list, size, age, addr) ==> k <= m->place[j]; */
  if (k < m->free_count && m->list[m->order[k]] == list) {
    //@ assert second: bound < k ==> block_less(*m, m->order[bound], m->order[k]);
    return m->order[k];
  }
  return -1;
}

int32_t ashlar_index_before(const struct ashlar_manager *m, int32_t list, uint64_t size,
                            uint64_t age, uint64_t addr)
{
  int32_t k = lower_bound(m, list, size, age, addr);
  /*@ assert candidates: \forall integer j; 0 <= j < m->top ==> indexed(*m, j) ==>
        below(*m, j, list, size, age, addr) ==> m->place[j] < k; */
  if (k > 0 && m->list[m->order[k - 1]] == list) {
    return m->order[k - 1];
  }
  return -1;
}

/* exchange the entries at two places */
/*@ requires \valid(m); requires bijective: index_bijective(m->free_count, m->top, m->order, m->place);
    requires places: 0 <= a < m->top && 0 <= b < m->top;
    terminates \true; exits \false;
    assigns m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1];
    ensures bijective: index_bijective(m->free_count, m->top, m->order, m->place);
    ensures first: m->order[a] == \old(m->order[b]) && m->place[\old(m->order[b])] == a;
    ensures second: m->order[b] == \old(m->order[a]) && m->place[\old(m->order[a])] == b;
    ensures others: \forall integer k; 0 <= k < m->top ==> k != a ==> k != b ==> m->order[k] == \old(m->order[k]);
    ensures slots: \forall integer j; 0 <= j < m->top ==> \old(m->place[j]) != a ==> \old(m->place[j]) != b ==>
      m->place[j] == \old(m->place[j]);
*/
static void exchange(struct ashlar_manager *m, int32_t a, int32_t b)
{
  int32_t x = m->order[a];
  int32_t y = m->order[b];
  m->order[a] = y;
  m->place[y] = a;
  m->order[b] = x;
  m->place[x] = b;
}

void ashlar_index_insert(struct ashlar_manager *m, int32_t slot)
{
  int32_t at = lower_bound(m, m->list[slot], m->size[slot], m->age[slot], m->addr[slot]);
  int32_t k = m->free_count;
  //@ assert greater: \forall integer j; at <= j < m->free_count ==> block_less(*m, slot, m->order[j]);
  /* bring the slot to the place behind the members */
  exchange(m, m->place[slot], k);
  //@ assert members: \forall integer j; 0 <= j < m->free_count ==> m->order[j] == \at(m->order[j], Pre);
  /*@ assert kept: \forall integer j; 0 <= j < m->top ==> \at(indexed(*m, j), Pre) ==>
        m->place[j] == \at(m->place[j], Pre); */
  //@ ghost Behind: ;
  /* shift the greater ones up: a hole, which is the slot's, moves down to its place */
  /*@ loop invariant range: at <= k <= m->free_count;
      loop invariant low: \forall integer j; 0 <= j < k ==> m->order[j] == \at(m->order[j], Pre);
      loop invariant high: \forall integer j; k < j <= m->free_count ==> m->order[j] == \at(m->order[j - 1], Pre);
      loop invariant shifted: \forall integer j; k <= j < m->free_count ==> m->order[j + 1] == \at(m->order[j], Pre);
      loop invariant rest: \forall integer j; m->free_count < j < m->top ==> m->order[j] == \at(m->order[j], Behind);
      loop invariant order: \forall integer j; 0 <= j < m->top ==> j != k ==>
        0 <= m->order[j] < m->top && m->order[j] != slot && m->place[m->order[j]] == j;
      loop invariant place: \forall integer i; 0 <= i < m->top ==> i != slot ==>
        0 <= m->place[i] < m->top && m->place[i] != k && m->order[m->place[i]] == i;
      loop invariant members: \forall integer j; 0 <= j < m->top ==> j != slot ==>
        ((0 <= m->place[j] <= m->free_count) <==> \at(indexed(*m, j), Pre));
      loop assigns k, m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1];
      loop variant k;
  */
  while (k > at) {
    int32_t moved = m->order[k - 1];
    m->order[k] = moved;
    m->place[moved] = k;
    k--;
  }
  m->order[at] = slot;
  m->place[slot] = at;
  //@ assert less: \forall integer j; 0 <= j < at ==> block_less(*m, m->order[j], slot);
  //@ assert more: \forall integer j; at < j <= m->free_count ==> block_less(*m, slot, m->order[j]);
  /*@ assert low: \forall integer j; 0 <= j < at ==> \forall integer l; j < l < at ==>
        block_less(*m, m->order[j], m->order[l]); */
  /*@ assert high: \forall integer j; at < j <= m->free_count ==> \forall integer l; j < l <= m->free_count ==>
        block_less(*m, m->order[j], m->order[l]); */
  /*@ assert across: \forall integer j; 0 <= j < at ==> \forall integer l; at < l <= m->free_count ==>
        block_less(*m, m->order[j], m->order[l]); */
  /*@ assert all: \forall integer j; 0 <= j <= m->free_count ==> \forall integer l; j < l <= m->free_count ==>
        block_less(*m, m->order[j], m->order[l]); */
  m->free_count++;
}

void ashlar_index_remove(struct ashlar_manager *m, int32_t slot)
{
  int32_t k = m->place[slot];
  /* shift the greater ones down: the hole moves up to the end of the members */
  /*@ loop invariant range: \at(m->place[slot], Pre) <= k < m->free_count;
      loop invariant others: \forall integer j; 0 <= j < m->top ==> (j < \at(m->place[slot], Pre) || k < j) ==>
        m->order[j] == \at(m->order[j], Pre);
      loop invariant shifted: \forall integer j; \at(m->place[slot], Pre) <= j < k ==>
        m->order[j] == \at(m->order[j + 1], Pre);
      loop invariant down: \forall integer j; \at(m->place[slot], Pre) < j <= k ==>
        m->order[j - 1] == \at(m->order[j], Pre);
      loop invariant order: \forall integer j; 0 <= j < m->top ==> j != k ==>
        0 <= m->order[j] < m->top && m->order[j] != slot && m->place[m->order[j]] == j;
      loop invariant place: \forall integer i; 0 <= i < m->top ==> i != slot ==>
        0 <= m->place[i] < m->top && m->place[i] != k && m->order[m->place[i]] == i;
      loop invariant members: \forall integer j; 0 <= j < m->top ==> j != slot ==>
        (indexed(*m, j) <==> \at(indexed(*m, j), Pre));
      loop assigns k, m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1];
      loop variant m->free_count - k;
  */
  while (k < m->free_count - 1) {
    int32_t moved = m->order[k + 1];
    m->order[k] = moved;
    m->place[moved] = k;
    k++;
  }
  m->order[k] = slot;
  m->place[slot] = k;
  /*@ assert all: \forall integer j; 0 <= j < m->free_count - 1 ==> \forall integer l; j < l < m->free_count - 1 ==>
        block_less(*m, m->order[j], m->order[l]); */
  m->free_count--;
}

void ashlar_index_grow(struct ashlar_manager *m)
{
  m->order[m->top] = m->top;
  m->place[m->top] = m->top;
  m->top++;
}
