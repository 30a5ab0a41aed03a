/* check_blocks.c - see check.h: free index and block table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/size_policy.h"

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures block: \result != 0 <==> m->state[i] != ASHLAR_UNUSED;
*/
static int is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

/* A slot below top. */
/*@ requires \valid(m);
    READS
    ensures slot: \result != 0 <==> 0 <= i < m->top;
*/
static int is_slot(const struct ashlar_manager *m, int32_t i)
{
  return i >= 0 && i < m->top;
}

/* --- spec/free_index.h --- */

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_INDEX_BIJECTIVE)
    CHECKS(ASHLAR_SLOTS - 1,
      index_bijective(m->free_count, m->top, m->order, m->place))
*/
static int32_t index_bijective(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->top < 0 || m->top > ASHLAR_SLOTS || m->free_count < 0 || m->free_count > m->top) {
    return 0;
  }
  /*@ loop invariant slot: 0 <= k;
      loop invariant passed: \forall integer j; 0 <= j < k ==>
        0 <= m->order[j] < m->top && m->place[m->order[j]] == j &&
        0 <= m->place[j] < m->top && m->order[m->place[j]] == j;
      loop assigns k;
      loop variant m->top - k;
  */
  while (k < m->top) {
    if (!is_slot(m, m->order[k]) || m->place[m->order[k]] != k || !is_slot(m, m->place[k]) ||
        m->order[m->place[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires slots: 0 <= i < ASHLAR_SLOTS && 0 <= j < ASHLAR_SLOTS;
    READS
    ensures less: \result != 0 <==> block_less(*m, i, j);
*/
static int is_less(const struct ashlar_manager *m, int32_t i, int32_t j)
{
  if (m->list[i] != m->list[j]) {
    return m->list[i] < m->list[j];
  }
  if (m->size[i] != m->size[j]) {
    return m->size[i] < m->size[j];
  }
  if (m->age[i] != m->age[j]) {
    return m->age[i] < m->age[j];
  }
  return m->addr[i] < m->addr[j];
}

/* Neighbours are enough: the order is transitive. */
/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_INDEX_SORTED)
    CHECKS(m->top - 1,
      index_sorted(m->free_count, m->order, m->list, m->size, m->age, m->addr))
*/
static int32_t index_sorted(const struct ashlar_manager *m)
{
  int32_t k = 1;
  /*@ loop invariant slot: 1 <= k;
      loop invariant passed: k <= m->free_count || k == 1;
      loop invariant sorted: k <= m->free_count ==> index_sorted(k, m->order, m->list, m->size, m->age, m->addr);
      loop assigns k;
      loop variant m->free_count - k;
  */
  while (k < m->free_count) {
    if (!is_less(m, m->order[k - 1], m->order[k])) {
      return m->order[k];
    }
    k++;
  }
  return -1;
}

/* --- spec/block_table.h --- */

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_STATES_VALID)
    CHECKS(m->top - 1,
      states_valid(m->top, m->state))
*/
static int32_t states_valid(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: states_valid(i, m->state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] >= ASHLAR_STATES) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_IN_RANGE)
    CHECKS(m->top - 1,
      blocks_in_range(m->top, m->state, m->size, m->addr, m->home))
*/
static int32_t blocks_in_range(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_in_range(i, m->state, m->size, m->addr, m->home);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_block(m, i) && (m->size[i] == 0 || m->size[i] > UINT64_MAX - m->addr[i] ||
                           m->home[i] < 0 || m->home[i] >= ASHLAR_LISTS)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_ALIGNED)
    CHECKS(m->top - 1,
      blocks_aligned(m->top, m->state, m->addr, m->size, m->base))
*/
static int32_t blocks_aligned(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_aligned(i, m->state, m->addr, m->size, m->base);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_block(m, i) && (m->addr[i] % ASHLAR_GRANULE != 0 || m->size[i] % ASHLAR_GRANULE != 0 ||
                           m->base[i] % ASHLAR_GRANULE != 0)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_LISTED)
    CHECKS(m->top - 1,
      blocks_listed(m->top, m->state, m->list, m->home))
*/
static int32_t blocks_listed(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_listed(i, m->state, m->list, m->home);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t list = m->state[i] == ASHLAR_UNMAPPED ? m->home[i] + ASHLAR_LISTS : m->home[i];
    if (is_block(m, i) && m->list[i] != list) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_LINKS_NEXT)
    CHECKS(m->top - 1,
      links_next(m->top, m->state, m->next, m->prev))
*/
static int32_t links_next(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: \forall integer j; 0 <= j < i ==> m->state[j] != ASHLAR_UNUSED ==>
        -1 <= m->next[j] < m->top &&
        (0 <= m->next[j] ==> m->state[m->next[j]] != ASHLAR_UNUSED && m->prev[m->next[j]] == j);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t after = m->next[i];
    if (is_block(m, i) && after != -1 &&
        (!is_slot(m, after) || !is_block(m, after) || m->prev[after] != i)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_LINKS_PREV)
    CHECKS(m->top - 1,
      links_prev(m->top, m->state, m->prev, m->next))
*/
static int32_t links_prev(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: \forall integer j; 0 <= j < i ==> m->state[j] != ASHLAR_UNUSED ==>
        -1 <= m->prev[j] < m->top &&
        (0 <= m->prev[j] ==> m->state[m->prev[j]] != ASHLAR_UNUSED && m->next[m->prev[j]] == j);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t before = m->prev[i];
    if (is_block(m, i) && before != -1 &&
        (!is_slot(m, before) || !is_block(m, before) || m->next[before] != i)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_TILE)
    CHECKS(m->top - 1,
      blocks_tile(m->top, m->state, m->next, m->addr, m->size, m->home, m->age, m->base, m->growable))
*/
static int32_t blocks_tile(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_tile(i, m->state, m->next, m->addr, m->size, m->home, m->age, m->base,
        m->growable);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t after = m->next[i];
    if (is_block(m, i) && after != -1 &&
        (m->addr[after] != m->addr[i] + m->size[i] || m->home[after] != m->home[i] ||
         m->age[after] != m->age[i] || m->base[after] != m->base[i] ||
         m->growable[after] != m->growable[i])) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_BASED)
    CHECKS(m->top - 1,
      blocks_based(m->top, m->state, m->base, m->addr, m->prev))
*/
static int32_t blocks_based(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_based(i, m->state, m->base, m->addr, m->prev);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_block(m, i) &&
        (m->base[i] > m->addr[i] || (m->prev[i] == -1 && m->base[i] != m->addr[i]))) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_UNMAPPED_GROWABLE)
    CHECKS(m->top - 1,
      unmapped_growable(m->top, m->state, m->growable))
*/
static int32_t unmapped_growable(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: unmapped_growable(i, m->state, m->growable);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if ((m->state[i] == ASHLAR_UNMAPPED && m->growable[i] != 1) ||
        (is_block(m, i) && m->growable[i] > 1)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures first: \result != 0 <==> begins_segment(m->state, m->prev, i);
*/
static int is_first(const struct ashlar_manager *m, int32_t i)
{
  return is_block(m, i) && m->prev[i] == -1;
}

/*@ ghost
  // the first block of the segment of a block
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires block: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED;
     READS
     ensures first: 0 <= \result < m->top && begins_segment(m->state, m->prev, \result);
     ensures base: m->addr[\result] == m->base[i] && m->addr[\result] <= m->addr[i];
     ensures end: segment_end(m->next, m->addr, m->size, \result) == segment_end(m->next, m->addr, m->size, i);
     ensures itself: m->prev[i] == -1 ==> \result == i;
  @/
  static int32_t first_of(const struct ashlar_manager *m, int32_t i)
  {
    int32_t first = i;
    /@ loop invariant block: 0 <= first < m->top && m->state[first] != ASHLAR_UNUSED;
       loop invariant base: m->base[first] == m->base[i] && m->addr[first] <= m->addr[i];
       loop invariant end: segment_end(m->next, m->addr, m->size, first) == segment_end(m->next, m->addr, m->size, i);
       loop invariant itself: m->prev[i] == -1 ==> first == i;
       loop assigns first;
       loop variant m->addr[first];
    @/
    while (m->prev[first] != -1) {
      //@ assert links: 0 <= m->prev[first] < m->top && m->next[m->prev[first]] == first;
      first = m->prev[first];
    }
    return first;
  }

  // a segment does not end before a block of it
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires block: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED;
     READS
     ensures end: m->addr[i] + m->size[i] <= segment_end(m->next, m->addr, m->size, i) <= UINT64_MAX;
  @/
  static void ends_behind(const struct ashlar_manager *m, int32_t i)
  {
    int32_t last = i;
    /@ loop invariant block: 0 <= last < m->top && m->state[last] != ASHLAR_UNUSED;
       loop invariant behind: m->addr[i] + m->size[i] <= m->addr[last] + m->size[last];
       loop invariant end: segment_end(m->next, m->addr, m->size, last) == segment_end(m->next, m->addr, m->size, i);
       loop assigns last;
       loop variant UINT64_MAX - m->addr[last];
    @/
    while (m->next[last] != -1) {
      last = m->next[last];
    }
  }

  // where segments are apart, no block reaches into a block that is first in its segment ...
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires blocks: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED && 0 <= first < m->top && i != first;
     requires first: begins_segment(m->state, m->prev, first) && m->addr[i] <= m->addr[first];
     READS
     ensures apart: segments_apart(*m, m->top) ==> m->addr[i] + m->size[i] <= m->addr[first];
  @/
  static void before_first(const struct ashlar_manager *m, int32_t i, int32_t first)
  {
    int32_t own = first_of(m, i);
    ends_behind(m, i);
    if (m->prev[i] != -1) {
      //@ assert links: 0 <= m->prev[i] < m->top && m->next[m->prev[i]] == i;
      //@ assert base: m->base[i] <= m->addr[m->prev[i]] < m->addr[i];
    }
    //@ assert other: own != first;
  }

  // ... nor into any other
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires blocks: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED && 0 <= j < m->top &&
       m->state[j] != ASHLAR_UNUSED && i != j;
     READS
     ensures apart: segments_apart(*m, m->top) ==>
       m->addr[i] + m->size[i] <= m->addr[j] || m->addr[j] + m->size[j] <= m->addr[i];
  @/
  static void blocks_apart(const struct ashlar_manager *m, int32_t i, int32_t j)
  {
    int32_t low = m->addr[i] <= m->addr[j] ? i : j;
    int32_t high = m->addr[i] <= m->addr[j] ? j : i;
    int32_t before = m->prev[high];
    /@ loop invariant blocks: 0 <= low < m->top && m->state[low] != ASHLAR_UNUSED && 0 <= high < m->top &&
         m->state[high] != ASHLAR_UNUSED && low != high;
       loop invariant order: m->addr[low] <= m->addr[high];
       loop invariant before: before == m->prev[high];
       loop invariant apart: m->addr[low] + m->size[low] <= m->addr[high] ==>
         m->addr[i] + m->size[i] <= m->addr[j] || m->addr[j] + m->size[j] <= m->addr[i];
       loop assigns low, high, before;
       loop variant m->addr[low] + m->addr[high];
    @/
    while (before != -1 && before != low && (m->addr[low] < m->addr[high] || m->prev[low] != -1)) {
      int32_t other = m->addr[low] < m->addr[high] ? low : m->prev[low];
      //@ assert links: 0 <= before < m->top && m->next[before] == high && m->state[before] != ASHLAR_UNUSED;
      //@ assert tile: m->addr[before] + m->size[before] == m->addr[high];
      //@ assert other: 0 <= other < m->top && m->state[other] != ASHLAR_UNUSED && other != before;
      //@ assert less: m->addr[other] < m->addr[high];
      low = m->addr[other] <= m->addr[before] ? other : before;
      high = m->addr[other] <= m->addr[before] ? before : other;
      before = m->prev[high];
    }
    if (before == -1) {
      before_first(m, low, high);
    } else if (before != low) {
      before_first(m, high, low);
    }
  }

  // a segment that begins inside another one begins inside a block of it
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires blocks: 0 <= f < m->top && 0 <= g < m->top && f != g;
     requires first: begins_segment(m->state, m->prev, f) && begins_segment(m->state, m->prev, g);
     READS
     ensures apart: blocks_disjoint(m->top, m->state, m->addr, m->size) ==>
       m->addr[f] < m->addr[g] || segment_end(m->next, m->addr, m->size, g) <= m->addr[f];
  @/
  static void firsts_apart(const struct ashlar_manager *m, int32_t f, int32_t g)
  {
    int32_t i = g;
    /@ loop invariant block: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED;
       loop invariant end: segment_end(m->next, m->addr, m->size, i) == segment_end(m->next, m->addr, m->size, g);
       loop invariant before: m->addr[g] <= m->addr[f] ==> m->addr[i] <= m->addr[f];
       loop invariant other: i != f;
       loop assigns i;
       loop variant UINT64_MAX - m->addr[i];
    @/
    while (m->next[i] != -1 && m->addr[i] + m->size[i] <= m->addr[f]) {
      i = m->next[i];
    }
  }

  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     READS
     ensures apart: blocks_disjoint(m->top, m->state, m->addr, m->size) <==> segments_apart(*m, m->top);
  @/
  static void disjoint_where_apart(const struct ashlar_manager *m)
  {
    int32_t i = 0;
    /@ loop invariant slot: 0 <= i <= m->top;
       loop invariant disjoint: segments_apart(*m, m->top) ==> \forall integer a; 0 <= a < i ==>
         \forall integer b; 0 <= b < m->top ==> a != b ==> m->state[a] != ASHLAR_UNUSED ==>
         m->state[b] != ASHLAR_UNUSED ==>
         m->addr[a] + m->size[a] <= m->addr[b] || m->addr[b] + m->size[b] <= m->addr[a];
       loop invariant apart: blocks_disjoint(m->top, m->state, m->addr, m->size) ==> segments_apart(*m, i);
       loop assigns i;
       loop variant m->top - i;
    @/
    while (i < m->top) {
      int32_t j = 0;
      /@ loop invariant slot: 0 <= j <= m->top;
         loop invariant disjoint: segments_apart(*m, m->top) ==> \forall integer b; 0 <= b < j ==> i != b ==>
           m->state[i] != ASHLAR_UNUSED ==> m->state[b] != ASHLAR_UNUSED ==>
           m->addr[i] + m->size[i] <= m->addr[b] || m->addr[b] + m->size[b] <= m->addr[i];
         loop invariant apart: blocks_disjoint(m->top, m->state, m->addr, m->size) ==>
           \forall integer f; 0 <= f < j ==> f != i ==>
           begins_segment(m->state, m->prev, i) ==> begins_segment(m->state, m->prev, f) ==>
           m->addr[f] < m->addr[i] || segment_end(m->next, m->addr, m->size, i) <= m->addr[f];
         loop assigns j;
         loop variant m->top - j;
      @/
      while (j < m->top) {
        if (i != j && m->state[i] != ASHLAR_UNUSED && m->state[j] != ASHLAR_UNUSED) {
          blocks_apart(m, i, j);
          if (m->prev[i] == -1 && m->prev[j] == -1) {
            firsts_apart(m, j, i);
          }
        }
        j++;
      }
      i++;
    }
  }
*/

/* The last byte of the segment that begins with a block. */
/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
    requires block: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED;
    READS
    ensures end: \result + 1 == segment_end(m->next, m->addr, m->size, i);
    ensures behind: m->addr[i] <= \result;
*/
static uint64_t last_byte(const struct ashlar_manager *m, int32_t i)
{
  /*@ loop invariant block: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED;
      loop invariant behind: m->addr[\at(i, Pre)] <= m->addr[i];
      loop invariant end: segment_end(m->next, m->addr, m->size, i) ==
        segment_end(m->next, m->addr, m->size, \at(i, Pre));
      loop assigns i;
      loop variant UINT64_MAX - m->addr[i];
  */
  while (m->next[i] != -1) {
    i = m->next[i];
  }
  return m->addr[i] + (m->size[i] - 1);
}

/* Puts segments into a batch, from a slot on; the slot behind the last one looked at. */
/*@ requires \valid(m) && \valid(segments) && \separated(m, segments); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
    requires slot: 0 <= i < m->top;
    requires empty: segments->count == 0;
    terminates \true; exits \false;
    assigns *segments;
    ensures slot: i < \result <= m->top;
    ensures count: 0 <= segments->count <= ASHLAR_RANGES;
    ensures sorted: ranges_sorted(segments->count, segments->first);
    ensures filled: ranges_filled(segments->count, segments->first, segments->last);
    ensures segments: batch_segments(*m, i, \result, segments->count, segments->first, segments->last,
      segments->name);
    ensures once: batch_once(segments->count, segments->name);
    ensures all: batch_all(*m, i, \result, segments->count, segments->name);
*/
static int32_t gather_segments(const struct ashlar_manager *m, int32_t i,
                               struct ashlar_ranges *segments)
{
  /*@ loop invariant slot: \at(i, Pre) <= i <= m->top;
      loop invariant some: i == \at(i, Pre) ==> segments->count == 0;
      loop invariant count: 0 <= segments->count <= ASHLAR_RANGES;
      loop invariant sorted: ranges_sorted(segments->count, segments->first);
      loop invariant filled: ranges_filled(segments->count, segments->first, segments->last);
      loop invariant segments: batch_segments(*m, \at(i, Pre), i, segments->count, segments->first, segments->last,
        segments->name);
      loop invariant once: batch_once(segments->count, segments->name);
      loop invariant all: batch_all(*m, \at(i, Pre), i, segments->count, segments->name);
      loop assigns i, *segments;
      loop variant m->top - i;
  */
  while (i < m->top && segments->count < ASHLAR_RANGES) {
    if (is_first(m, i)) {
      (void)ashlar_ranges_insert(segments, m->addr[i], last_byte(m, i), i);
    }
    i++;
  }
  return i;
}

/* The first block outside [from, to) whose segment begins inside one of a batch. */
/*@ requires \valid(m) && \valid(segments); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
    requires count: 0 <= segments->count <= ASHLAR_RANGES;
    requires sorted: ranges_sorted(segments->count, segments->first);
    requires apart: ranges_apart(segments->count, segments->first, segments->last);
    READS
    ensures index: -1 <= \result < m->top;
    ensures none: \result == -1 ==> \forall integer f; 0 <= f < m->top ==> f < from || to <= f ==>
      begins_segment(m->state, m->prev, f) ==>
      !in_ranges(segments->count, segments->first, segments->last, m->addr[f]);
    ensures some: \result != -1 ==> (\result < from || to <= \result) && begins_segment(m->state, m->prev, \result) &&
      in_ranges(segments->count, segments->first, segments->last, m->addr[\result]);
*/
static int32_t begins_inside(const struct ashlar_manager *m, int32_t from, int32_t to,
                             const struct ashlar_ranges *segments)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: \forall integer f; 0 <= f < i ==> f < from || to <= f ==>
        begins_segment(m->state, m->prev, f) ==>
        !in_ranges(segments->count, segments->first, segments->last, m->addr[f]);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if ((i < from || i >= to) && is_first(m, i) && ashlar_ranges_have(segments, m->addr[i])) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ ghost
  // a batch of segments, in which none begins, of the batch or not
  /@ requires \valid(m) && \valid(segments); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
     requires slots: 0 <= from <= to <= m->top;
     requires count: 0 <= segments->count <= ASHLAR_RANGES;
     requires filled: ranges_filled(segments->count, segments->first, segments->last);
     requires apart: ranges_apart(segments->count, segments->first, segments->last);
     requires segments: batch_segments(*m, from, to, segments->count, segments->first, segments->last,
       segments->name);
     requires all: batch_all(*m, from, to, segments->count, segments->name);
     requires none: \forall integer f; 0 <= f < m->top ==> f < from || to <= f ==>
       begins_segment(m->state, m->prev, f) ==>
       !in_ranges(segments->count, segments->first, segments->last, m->addr[f]);
     requires before: segments_apart(*m, from);
     READS
     ensures apart: segments_apart(*m, to);
  @/
  static void batch_apart(const struct ashlar_manager *m, const struct ashlar_ranges *segments, int32_t from,
    int32_t to)
  {
    /@ assert outside: \forall integer k; 0 <= k < segments->count ==> \forall integer f; 0 <= f < m->top ==>
         f < from || to <= f ==> begins_segment(m->state, m->prev, f) ==>
         m->addr[f] < segments->first[k] || segments->last[k] < m->addr[f]; @/
    /@ assert inside: \forall integer k; 0 <= k < segments->count ==> \forall integer f; from <= f < to ==>
         f != segments->name[k] ==> begins_segment(m->state, m->prev, f) ==>
         m->addr[f] < segments->first[k] || segments->last[k] < m->addr[f]; @/
    /@ assert batch: \forall integer g; from <= g < to ==> \forall integer f; 0 <= f < m->top ==> f != g ==>
         begins_segment(m->state, m->prev, g) ==> begins_segment(m->state, m->prev, f) ==>
         m->addr[f] < m->addr[g] || segment_end(m->next, m->addr, m->size, g) <= m->addr[f]; @/
  }
*/

/* Blocks of one segment are disjoint since they tile it: each begins where the one before it ends, below 2^64. Every block
   is in the segment of one that is first: prev leads to lower addresses. So blocks are disjoint where segments are. */
/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT)
    CHECKS(m->top - 1, blocks_disjoint(m->top, m->state, m->addr, m->size))
*/
static int32_t blocks_disjoint(const struct ashlar_manager *m)
{
  //@ ghost disjoint_where_apart(m);
  struct ashlar_ranges segments;
  int32_t from = 0;
  int32_t broken = -1;
  /*@ loop invariant slot: 0 <= from && (from == 0 || from <= m->top);
      loop invariant index: -1 <= broken < m->top || broken == -1;
      loop invariant apart: broken == -1 ==> segments_apart(*m, from);
      loop invariant broken: broken != -1 ==> !segments_apart(*m, m->top);
      loop assigns from, broken, segments;
      loop variant m->top - from;
  */
  while (from < m->top && broken == -1) {
    int32_t to;
    segments.count = 0;
    to = gather_segments(m, from, &segments);
    broken = ashlar_ranges_overlapped(&segments);
    if (broken == -1) {
      broken = begins_inside(m, from, to, &segments);
      //@ ghost if (broken == -1) { batch_apart(m, &segments, from, to); }
    }
    from = to;
  }
  return broken;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COALESCED)
    CHECKS(m->top - 1,
      blocks_coalesced(m->top, m->next, m->state))
*/
static int32_t blocks_coalesced(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: blocks_coalesced(i, m->next, m->state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if ((m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED) && m->next[i] != -1 &&
        m->state[m->next[i]] == m->state[i]) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_INDEX_IS_FREE)
    CHECKS(m->top - 1,
      index_is_free(m->top, m->place, m->free_count, m->state))
*/
static int32_t index_is_free(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: index_is_free(i, m->place, m->free_count, m->state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int open = m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED;
    int indexed = m->place[i] < m->free_count;
    if (open != indexed) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_SPARES_UNUSED)
    CHECKS(ASHLAR_SLOTS - 1,
      spares_unused(m->spare_count, m->top, m->spare, m->state, m->next))
*/
static int32_t spares_unused(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->spare_count < 0 || m->spare_count > m->top) {
    return 0;
  }
  /*@ loop invariant slot: 0 <= k;
      loop invariant passed: \forall integer j; 0 <= j < k ==> 0 <= m->spare[j] < m->top &&
        m->state[m->spare[j]] == ASHLAR_UNUSED && m->next[m->spare[j]] == j;
      loop assigns k;
      loop variant m->spare_count - k;
  */
  while (k < m->spare_count) {
    if (!is_slot(m, m->spare[k]) || is_block(m, m->spare[k]) || m->next[m->spare[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

/*@ ghost
  // one more place of `spare` is one more unused slot: the one that stands there
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_UNUSED_SPARE)
     requires unused: unused_spare(m->top, m->state, m->next, m->spare_count, m->spare);
     requires place: 0 <= k < m->spare_count;
     READS
     ensures more: spares_below(m->state, m->next, k + 1, m->top) == spares_below(m->state, m->next, k, m->top) + 1;
  @/
  static void spare_at(const struct ashlar_manager *m, int32_t k)
  {
    int32_t n = 0;
    /@ loop invariant slot: 0 <= n <= m->top;
       loop invariant more: spares_below(m->state, m->next, k + 1, n) == spares_below(m->state, m->next, k, n) +
         (m->spare[k] < n ? 1 : 0);
       loop assigns n;
       loop variant m->top - n;
    @/
    while (n < m->top) {
      //@ assert unused: m->state[n] == ASHLAR_UNUSED ==> m->spare[m->next[n]] == n;
      //@ assert place: m->next[n] == k ==> m->state[n] == ASHLAR_UNUSED ==> n == m->spare[k];
      n++;
    }
  }

  // `spare` has each unused slot once
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_UNUSED_SPARE)
     requires unused: unused_spare(m->top, m->state, m->next, m->spare_count, m->spare);
     READS
     ensures counted: spares_counted(m->spare_count, m->state, m->top);
  @/
  static void count_spares(const struct ashlar_manager *m)
  {
    int32_t n = 0;
    int32_t k = 0;
    /@ loop invariant slot: 0 <= n <= m->top;
       loop invariant none: spares_below(m->state, m->next, 0, n) == 0;
       loop invariant all: spares_below(m->state, m->next, m->spare_count, n) == slots_in(m->state, ASHLAR_UNUSED, n);
       loop assigns n;
       loop variant m->top - n;
    @/
    while (n < m->top) {
      n++;
    }
    /@ loop invariant place: 0 <= k <= m->spare_count;
       loop invariant below: spares_below(m->state, m->next, k, m->top) == k;
       loop assigns k;
       loop variant m->spare_count - k;
    @/
    while (k < m->spare_count) {
      spare_at(m, k);
      k++;
    }
  }
*/

/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_UNUSED_SPARE)
    CHECKS(m->top - 1, unused_spare(m->top, m->state, m->next, m->spare_count, m->spare))
    ensures REQ_VALID_spares: \result == -1 ==> spares_counted(m->spare_count, m->state, m->top);
*/
static int32_t unused_spare(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i;
      loop invariant passed: unused_spare(i, m->state, m->next, m->spare_count, m->spare);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (!is_block(m, i) &&
        (m->next[i] < 0 || m->next[i] >= m->spare_count || m->spare[m->next[i]] != i)) {
      return i;
    }
    i++;
  }
  //@ ghost count_spares(m);
  return -1;
}

/*@ ghost
  // one more address is one more byte at most
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT + 1)
     requires address: x < UINT64_MAX;
     READS
     ensures more: covered(m->state, m->addr, m->size, x + 1, m->top) <=
       covered(m->state, m->addr, m->size, x, m->top) + 1;
  @/
  static void covered_at(const struct ashlar_manager *m, uint64_t x)
  {
    int32_t k = 0;
    int32_t at = -1;
    /@ loop invariant slot: 0 <= k <= m->top && -1 <= at < k;
       loop invariant at: at != -1 ==> m->state[at] != ASHLAR_UNUSED && m->addr[at] <= x < m->addr[at] + m->size[at];
       loop invariant more: covered(m->state, m->addr, m->size, x + 1, k) ==
         covered(m->state, m->addr, m->size, x, k) +
         (at == -1 ? 0 : 1);
       loop assigns k, at;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      if (m->state[k] != ASHLAR_UNUSED && m->addr[k] <= x && x < m->addr[k] + m->size[k]) {
        //@ assert one: at == -1;
        at = k;
      }
      k++;
    }
  }

  void ashlar_blocks_bounded(const struct ashlar_manager *m)
  {
    int32_t k = 0;
    uint64_t x = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant none: covered(m->state, m->addr, m->size, 0, k) == 0;
       loop invariant all: covered(m->state, m->addr, m->size, UINT64_MAX, k) == block_bytes(m->state, m->size, k);
       loop invariant grows: \forall integer n; 0 <= n <= k ==>
         0 <= block_bytes(m->state, m->size, n) <= block_bytes(m->state, m->size, k);
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      k++;
    }
    /@ loop invariant below: covered(m->state, m->addr, m->size, x, m->top) <= x;
       loop assigns x;
       loop variant UINT64_MAX - x;
    @/
    while (x < UINT64_MAX) {
      covered_at(m, x);
      x++;
    }
  }
*/

/* Sums cannot wrap: blocks are disjoint and end below 2^64. */
/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BYTES_COUNTED)
    CHECKS(ASHLAR_STATES - 1, bytes_counted(m->bytes, m->state, m->size, m->top))
    ensures REQ_VALID_bounded: \result == -1 ==> bytes_bounded(m->bytes);
*/
static int32_t bytes_counted(const struct ashlar_manager *m)
{
  //@ ghost ashlar_blocks_bounded(m);
  uint64_t bytes[ASHLAR_STATES] = {0};
  int32_t i = 0;
  int32_t state = ASHLAR_FREE;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant sums: \forall integer s; ASHLAR_FREE <= s < ASHLAR_STATES ==>
        bytes[s] == bytes_in(m->state, m->size, s, i);
      loop invariant unused: bytes[ASHLAR_UNUSED] == 0;
      loop invariant all: all_bytes(bytes) == block_bytes(m->state, m->size, i);
      loop assigns i, bytes[0 .. ASHLAR_STATES - 1];
      loop variant m->top - i;
  */
  while (i < m->top) {
    //@ assert bounded: block_bytes(m->state, m->size, i + 1) <= UINT64_MAX;
    bytes[m->state[i]] += is_block(m, i) ? m->size[i] : 0;
    i++;
  }
  /*@ loop invariant state: ASHLAR_FREE <= state <= ASHLAR_STATES;
      loop invariant passed: \forall integer s; ASHLAR_FREE <= s < state ==> m->bytes[s] == bytes[s];
      loop assigns state;
      loop variant ASHLAR_STATES - state;
  */
  while (state < ASHLAR_STATES) {
    if (m->bytes[state] != bytes[state]) {
      return state;
    }
    state++;
  }
  return -1;
}

int32_t ashlar_check_blocks(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_INDEX_BIJECTIVE:
    return index_bijective(m);
  case ASHLAR_CLAUSE_INDEX_SORTED:
    return index_sorted(m);
  case ASHLAR_CLAUSE_STATES_VALID:
    return states_valid(m);
  case ASHLAR_CLAUSE_BLOCKS_IN_RANGE:
    return blocks_in_range(m);
  case ASHLAR_CLAUSE_BLOCKS_ALIGNED:
    return blocks_aligned(m);
  case ASHLAR_CLAUSE_BLOCKS_LISTED:
    return blocks_listed(m);
  case ASHLAR_CLAUSE_LINKS_NEXT:
    return links_next(m);
  case ASHLAR_CLAUSE_LINKS_PREV:
    return links_prev(m);
  case ASHLAR_CLAUSE_BLOCKS_TILE:
    return blocks_tile(m);
  case ASHLAR_CLAUSE_BLOCKS_BASED:
    return blocks_based(m);
  case ASHLAR_CLAUSE_UNMAPPED_GROWABLE:
    return unmapped_growable(m);
  case ASHLAR_CLAUSE_BLOCKS_DISJOINT:
    return blocks_disjoint(m);
  case ASHLAR_CLAUSE_BLOCKS_COALESCED:
    return blocks_coalesced(m);
  case ASHLAR_CLAUSE_INDEX_IS_FREE:
    return index_is_free(m);
  case ASHLAR_CLAUSE_SPARES_UNUSED:
    return spares_unused(m);
  case ASHLAR_CLAUSE_UNUSED_SPARE:
    return unused_spare(m);
  case ASHLAR_CLAUSE_BYTES_COUNTED:
    return bytes_counted(m);
  default:
    return -1;
  }
}
