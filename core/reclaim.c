/* reclaim.c - see reclaim.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim.h"

/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result != 0 <==> (m->prev[slot] == -1 && m->next[slot] == -1);
*/
static int is_whole(const struct ashlar_manager *m, int32_t slot)
{
  return m->prev[slot] == -1 && m->next[slot] == -1;
}

/* first whole free block of a list behind a key */
/*@ requires \valid(m); REQUIRES_BLOCKS
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) && m->list[\result] == list &&
      above(*m, \result, list, size, age, addr);
    ensures first: \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==> m->list[j] == list ==>
      above(*m, j, list, size, age, addr) ==> \result != -1 && (j == \result || block_less(*m, \result, j));
*/
static int32_t whole_after(const struct ashlar_manager *m, int32_t list, uint64_t size,
                           uint64_t age, uint64_t addr)
{
  int32_t slot = ashlar_index_after(m, list, size, age, addr);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && indexed(*m, slot) && m->list[slot] == list &&
        above(*m, slot, list, size, age, addr);
      loop invariant none: slot == -1 || 0 <= slot;
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==> m->list[j] == list ==>
        above(*m, j, list, size, age, addr) ==> slot != -1 && (j == slot || block_less(*m, slot, j));
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1 && !is_whole(m, slot)) {
    slot = ashlar_index_after(m, list, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

/* first whole free block in the lists from a place in release order on: [0, n) large pool, [n, 2n) small pool */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_STREAMS
    requires place: 0 <= place <= 2 * m->stream_count;
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
    ensures none_large: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
      \forall integer k; place <= k < m->stream_count ==>
        m->list[j] != ASHLAR_POOL_LARGE * ASHLAR_STREAMS + m->stream_order[k];
    ensures none_small: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
      \forall integer k; 0 <= k < m->stream_count ==> place <= m->stream_count + k ==>
        m->list[j] != ASHLAR_POOL_SMALL * ASHLAR_STREAMS + m->stream_order[k];
*/
static int32_t whole_from(const struct ashlar_manager *m, int32_t place)
{
  int32_t count = m->stream_count;
  /*@ loop invariant place: \at(place, Pre) <= place <= 2 * count;
      loop invariant large: \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
        \forall integer k; \at(place, Pre) <= k < m->stream_count ==> k < place ==>
          m->list[j] != ASHLAR_POOL_LARGE * ASHLAR_STREAMS + m->stream_order[k];
      loop invariant small: \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
        \forall integer k; 0 <= k < m->stream_count ==> \at(place, Pre) <= count + k < place ==>
          m->list[j] != ASHLAR_POOL_SMALL * ASHLAR_STREAMS + m->stream_order[k];
      loop assigns place;
      loop variant 2 * count - place;
  */
  while (place < 2 * count) {
    int32_t pool = place < count ? ASHLAR_POOL_LARGE : ASHLAR_POOL_SMALL;
    int32_t stream = m->stream_order[place < count ? place : place - count];
    int32_t slot = whole_after(m, pool * ASHLAR_STREAMS + stream, 0, 0, 0);
    if (slot != -1) {
      return slot;
    }
    place++;
  }
  return -1;
}

int32_t ashlar_reclaim_first(const struct ashlar_manager *m)
{
  return whole_from(m, 0);
}

int32_t ashlar_reclaim_next(const struct ashlar_manager *m, int32_t slot)
{
  int32_t list = m->list[slot];
  int32_t stream = list % ASHLAR_STREAMS;
  int32_t next = whole_after(m, list, m->size[slot], m->age[slot], m->addr[slot]);
  int32_t place;
  if (next != -1 || stream >= m->stream_count) {
    return next;
  }
  place = ashlar_stream_place(m, m->stream_key[stream]);
  if (place >= m->stream_count) {
    return -1;
  }
  return whole_from(m, list / ASHLAR_STREAMS == ASHLAR_POOL_LARGE ? place + 1
                                                                  : m->stream_count + place + 1);
}

int32_t ashlar_reclaim_oversize(const struct ashlar_manager *m, int32_t list, uint64_t bytes,
                                uint64_t limit)
{
  int32_t slot = bytes > 0 ? whole_after(m, list, bytes - 1, UINT64_MAX, UINT64_MAX) : -1;
  if (slot != -1) {
    return slot;
  }
  slot = ashlar_index_before(m, list, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  /*@ loop invariant slot: slot != -1 ==> 0 <= slot < m->top && indexed(*m, slot) && m->list[slot] == list;
      loop invariant none: slot == -1 || 0 <= slot;
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->place[slot] + 1;
  */
  while (slot != -1 && !is_whole(m, slot)) {
    slot = ashlar_index_before(m, list, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot != -1 && m->size[slot] >= limit ? slot : -1;
}
