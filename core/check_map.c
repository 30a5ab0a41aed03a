/* check_map.c - see check.h: address map.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/size_policy.h"

/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_IN_RANGE)
    CHECKS(ASHLAR_SLOTS - 1, map_in_range(m->top, m->bucket, m->chain))
*/
static int32_t map_in_range(const struct ashlar_manager *m)
{
  int32_t b = 0;
  int32_t i = 0;
  /*@ loop invariant bucket: 0 <= b <= ASHLAR_BUCKETS;
      loop invariant passed: \forall integer c; 0 <= c < b ==> 0 <= m->bucket[c] <= m->top;
      loop assigns b;
      loop variant ASHLAR_BUCKETS - b;
  */
  while (b < ASHLAR_BUCKETS) {
    if (m->bucket[b] < 0 || m->bucket[b] > m->top) {
      return b;
    }
    b++;
  }
  /*@ loop invariant slot: 0 <= i <= ASHLAR_SLOTS;
      loop invariant passed: \forall integer j; 0 <= j < i ==> 0 <= m->chain[j] <= m->top;
      loop assigns i;
      loop variant ASHLAR_SLOTS - i;
  */
  while (i < ASHLAR_SLOTS) {
    if (m->chain[i] < 0 || m->chain[i] > m->top) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures number: \result == bucket_number(m->addr[i]) && \result < ASHLAR_BUCKETS;
*/
static uint64_t bucket_number(const struct ashlar_manager *m, int32_t i)
{
  return m->addr[i] / ASHLAR_GRANULE % ASHLAR_BUCKETS;
}

/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_HEADS)
    CHECKS(m->top - 1, map_heads(m->top, m->in_map, m->bucket, m->addr))
*/
static int32_t map_heads(const struct ashlar_manager *m)
{
  int32_t b = 0;
  uint64_t number = 0;
  /*@ loop invariant bucket: 0 <= b <= ASHLAR_BUCKETS && number == b;
      loop invariant passed: \forall integer c; 0 <= c < b ==> \forall integer j; 0 <= j < m->top ==>
        m->bucket[c] <= j + 1 <= m->bucket[c] ==> m->in_map[j] == 1 && bucket_number(m->addr[j]) == c;
      loop assigns b, number;
      loop variant ASHLAR_BUCKETS - b;
  */
  while (b < ASHLAR_BUCKETS) {
    int32_t first = m->bucket[b] - 1;
    if (first != -1 && (m->in_map[first] != 1 || bucket_number(m, first) != number)) {
      return first;
    }
    b++;
    number++;
  }
  return -1;
}

/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_CHAINS)
    CHECKS(m->top - 1, map_chains(m->top, m->in_map, m->chain, m->addr))
*/
static int32_t map_chains(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant passed: \forall integer k; 0 <= k < i ==> m->in_map[k] == 1 ==>
        \forall integer j; 0 <= j < m->top ==>
        m->chain[k] <= j + 1 <= m->chain[k] ==>
        k < j && m->in_map[j] == 1 && bucket_number(m->addr[j]) == bucket_number(m->addr[k]);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t after = m->chain[i] - 1;
    if (m->in_map[i] == 1 && after != -1 &&
        (after <= i || m->in_map[after] != 1 || bucket_number(m, after) != bucket_number(m, i))) {
      return i;
    }
    /*@ assert after: m->in_map[i] == 1 ==> after != -1 ==> i < after < m->top && m->in_map[after] == 1 &&
          bucket_number(m->addr[after]) == bucket_number(m->addr[i]); */
    /*@ assert next: m->in_map[i] == 1 ==> \forall integer j; 0 <= j < m->top ==>
          m->chain[i] <= j + 1 <= m->chain[i] ==> j == after; */
    i++;
  }
  return -1;
}

/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_FIRST)
    CHECKS(m->top - 1, map_first(m->top, m->in_map, m->bucket, m->addr))
*/
static int32_t map_first(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant passed: map_first(i, m->in_map, m->bucket, m->addr);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->in_map[i] == 1) {
      int32_t first = m->bucket[bucket_number(m, i)] - 1;
      if (first == -1 || first > i) {
        return i;
      }
    }
    i++;
  }
  return -1;
}

/*@ ghost
  /@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
     requires bucket: 0 <= b < ASHLAR_BUCKETS;
     READS
     ensures next: below_bucket(m->in_map, m->addr, b + 1, m->top) ==
       below_bucket(m->in_map, m->addr, b, m->top) + in_bucket(m->in_map, m->addr, b, m->top);
     ensures few: 0 <= below_bucket(m->in_map, m->addr, b + 1, m->top) <= m->top;
     ensures some: 0 <= in_bucket(m->in_map, m->addr, b, m->top);
  @/
  static void one_bucket_more(const struct ashlar_manager *m, int32_t b)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant next: below_bucket(m->in_map, m->addr, b + 1, k) ==
         below_bucket(m->in_map, m->addr, b, k) + in_bucket(m->in_map, m->addr, b, k);
       loop invariant few: 0 <= below_bucket(m->in_map, m->addr, b + 1, k) <= k;
       loop invariant some: 0 <= in_bucket(m->in_map, m->addr, b, k);
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      k++;
    }
  }

  // no buckets, no blocks
  /@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
     READS
     ensures none: below_bucket(m->in_map, m->addr, 0, m->top) == 0;
     ensures numbers: \forall integer i; 0 <= i < m->top ==> 0 <= bucket_number(m->addr[i]) < ASHLAR_BUCKETS;
  @/
  static void no_bucket(const struct ashlar_manager *m)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant none: below_bucket(m->in_map, m->addr, 0, k) == 0;
       loop invariant numbers: \forall integer i; 0 <= i < k ==> 0 <= bucket_number(m->addr[i]) < ASHLAR_BUCKETS;
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      //@ assert number: 0 <= bucket_number(m->addr[k]) < ASHLAR_BUCKETS;
      k++;
    }
  }

  // up to the first block of a bucket there is none
  /@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
     requires bucket: 0 <= b < ASHLAR_BUCKETS;
     requires slot: 0 <= to <= m->top && (m->bucket[b] == 0 || to < m->bucket[b]);
     READS
     ensures none: in_bucket(m->in_map, m->addr, b, to) == 0;
     ensures complete: chain_complete(*m, b, to);
  @/
  static void before_first(const struct ashlar_manager *m, int32_t b, int32_t to)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= to;
       loop invariant none: in_bucket(m->in_map, m->addr, b, k) == 0;
       loop invariant passed: \forall integer i; 0 <= i < k ==> m->in_map[i] == 1 ==> bucket_number(m->addr[i]) != b;
       loop assigns k;
       loop variant to - k;
    @/
    while (k < to) {
      k++;
    }
  }

  // behind a block of a bucket, up to a slot, there is that block and perhaps others
  /@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
     requires slots: 0 <= i < to <= m->top && m->in_map[i] == 1 && bucket_number(m->addr[i]) == b;
     READS
     ensures more: in_bucket(m->in_map, m->addr, b, to) >= in_bucket(m->in_map, m->addr, b, i) + 1;
     ensures none: in_bucket(m->in_map, m->addr, b, to) == in_bucket(m->in_map, m->addr, b, i) + 1 <==>
       \forall integer j; i < j < to ==> m->in_map[j] == 1 ==> bucket_number(m->addr[j]) != b;
  @/
  static void between(const struct ashlar_manager *m, int32_t b, int32_t i, int32_t to)
  {
    int32_t k = i + 1;
    /@ loop invariant slot: i < k <= to;
       loop invariant more: in_bucket(m->in_map, m->addr, b, k) >= in_bucket(m->in_map, m->addr, b, i) + 1;
       loop invariant none: in_bucket(m->in_map, m->addr, b, k) == in_bucket(m->in_map, m->addr, b, i) + 1 <==>
         \forall integer j; i < j < k ==> m->in_map[j] == 1 ==> bucket_number(m->addr[j]) != b;
       loop assigns k;
       loop variant to - k;
    @/
    while (k < to) {
      k++;
    }
  }
*/

/* How many blocks the chains have, all together. Each chain ascends, and in the blocks of its own bucket, so none is met
   twice. */
/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
    READS
    ensures all: \result == below_bucket(m->in_map, m->addr, ASHLAR_BUCKETS, m->top) <==>
      map_next(m->top, m->in_map, m->chain, m->addr);
*/
static int32_t chained(const struct ashlar_manager *m)
{
  //@ ghost no_bucket(m);
  int32_t count = 0;
  int32_t b = 0;
  /*@ loop invariant bucket: 0 <= b <= ASHLAR_BUCKETS;
      loop invariant count: 0 <= count <= below_bucket(m->in_map, m->addr, b, m->top) <= m->top;
      loop invariant complete: count == below_bucket(m->in_map, m->addr, b, m->top) <==> chains_complete(*m, b);
      loop assigns b, count;
      loop variant ASHLAR_BUCKETS - b;
  */
  while (b < ASHLAR_BUCKETS) {
    int32_t link = m->bucket[b];
    //@ ghost int32_t before = count;
    //@ ghost int32_t slot = link == 0 ? m->top : link - 1;
    //@ ghost one_bucket_more(m, b);
    //@ ghost before_first(m, b, slot);
    /*@ loop invariant link: 0 <= link <= m->top && slot == (link == 0 ? m->top : link - 1);
        loop invariant mapped: link != 0 ==> m->in_map[link - 1] == 1 && bucket_number(m->addr[link - 1]) == b;
        loop invariant count: before <= count <= before + in_bucket(m->in_map, m->addr, b, slot);
        loop invariant few: in_bucket(m->in_map, m->addr, b, slot) <= in_bucket(m->in_map, m->addr, b, m->top);
        loop invariant complete: count == before + in_bucket(m->in_map, m->addr, b, slot) <==>
          chain_complete(*m, b, slot);
        loop assigns link, count, slot;
        loop variant m->top - slot;
    */
    while (link != 0) {
      //@ ghost between(m, b, slot, m->top);
      //@ ghost int32_t next = m->chain[link - 1] == 0 ? m->top : m->chain[link - 1] - 1;
      //@ assert mapped: m->chain[slot] != 0 ==> m->in_map[m->chain[slot] - 1] == 1 && slot < m->chain[slot] - 1;
      //@ assert next: slot < next <= m->top;
      //@ ghost between(m, b, slot, next);
      count++;
      link = m->chain[link - 1];
      //@ ghost slot = next;
      //@ ghost if (link != 0) { between(m, b, slot, m->top); }
    }
    b++;
  }
  return count;
}

/* The last block of a chain that does not stand behind a block: behind it, the chain leaves that block out or has it. */
/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
    requires slot: 0 <= i < m->top && m->in_map[i] == 1;
    READS
    ensures block: 0 <= \result <= i;
*/
static int32_t last_until(const struct ashlar_manager *m, int32_t i)
{
  int32_t last = m->bucket[bucket_number(m, i)] - 1;
  /*@ loop invariant block: 0 <= last <= i && m->in_map[last] == 1;
      loop assigns last;
      loop variant i - last;
  */
  while (m->chain[last] != 0 && m->chain[last] - 1 <= i) {
    last = m->chain[last] - 1;
  }
  return last;
}

/* A chain that ascends leaves no block of its bucket out between two others exactly if all blocks of the map are in chains;
   and none is met twice, so it is enough to count them. Where one is missing, it is looked for. */
/*@ requires \valid(m); MAP_BEFORE(ASHLAR_CLAUSE_MAP_NEXT)
    CHECKS(m->top - 1, map_next(m->top, m->in_map, m->chain, m->addr))
*/
static int32_t map_next(const struct ashlar_manager *m)
{
  int32_t mapped = 0;
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant mapped: 0 <= mapped <= i && mapped == below_bucket(m->in_map, m->addr, ASHLAR_BUCKETS, i);
      loop assigns i, mapped;
      loop variant m->top - i;
  */
  while (i < m->top) {
    //@ assert number: 0 <= bucket_number(m->addr[i]) < ASHLAR_BUCKETS;
    mapped += m->in_map[i] == 1;
    i++;
  }
  if (mapped == chained(m)) {
    return -1;
  }
  i = 0;
  /*@ loop invariant slot: 0 <= i < m->top;
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top - 1 && (m->in_map[i] != 1 || last_until(m, i) == i)) {
    i++;
  }
  return i;
}

int32_t ashlar_check_map(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_MAP_IN_RANGE:
    return map_in_range(m);
  case ASHLAR_CLAUSE_MAP_HEADS:
    return map_heads(m);
  case ASHLAR_CLAUSE_MAP_CHAINS:
    return map_chains(m);
  case ASHLAR_CLAUSE_MAP_FIRST:
    return map_first(m);
  case ASHLAR_CLAUSE_MAP_NEXT:
    return map_next(m);
  default:
    return -1;
  }
}
