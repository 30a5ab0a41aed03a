/* check_stats.c - see check.h: statistics, recomputed from the blocks.
 *
 * Sums of sizes cannot wrap: blocks are disjoint and end below 2^64. Bytes that were asked for are no part of a block's
 * shape; their sum may be too large in a broken state, and is then what no counter has.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"
#include "core/stats.h"

/* Whether memory of the device stands behind a block; what leaves counts as gone. */
/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS && 0 <= m->state[i] < ASHLAR_STATES;
    READS
    ensures reserved: \result != 0 <==> is_reserved(m->state[i], m->hold[i]) == 1;
*/
static int is_reserved(const struct ashlar_manager *m, int32_t i)
{
  if (m->state[i] == ASHLAR_HELD) {
    return m->hold[i] == ASHLAR_HOLD_MAPPED || m->hold[i] == ASHLAR_HOLD_FRESH;
  }
  return m->state[i] != ASHLAR_UNUSED && m->state[i] != ASHLAR_UNMAPPED;
}

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures active: \result != 0 <==> m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING;
*/
static int is_active(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING;
}

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures inactive: \result != 0 <==> is_inactive_split(m->state[i], m->growable[i], m->prev[i], m->next[i]) == 1;
*/
static int is_inactive_split(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] == ASHLAR_FREE && m->growable[i] == 0 &&
         (m->prev[i] != -1 || m->next[i] != -1);
}

/* An ordinary segment begins with the block, and is not leaving. */
/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS && 0 <= m->state[i] < ASHLAR_STATES;
    READS
    ensures segment: \result != 0 <==> m->growable[i] == 0 && m->prev[i] == -1 &&
      is_reserved(m->state[i], m->hold[i]) == 1;
*/
static int is_segment(const struct ashlar_manager *m, int32_t i)
{
  return m->growable[i] == 0 && m->prev[i] == -1 && is_reserved(m, i);
}

struct sums {
  uint64_t of[ASHLAR_STAT_KINDS];
  int too_large; /* the last one, of bytes that were asked for, is more than a counter can have */
};

/* What a block adds to each kind of counter. */
/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS && 0 <= m->state[i] < ASHLAR_STATES;
    READS
    ensures share: \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==> \result.of[kind] == share(*m, kind, i);
*/
static struct sums share_of(const struct ashlar_manager *m, int32_t i)
{
  struct sums share;
  uint64_t size = m->size[i];
  int allocated = m->state[i] == ASHLAR_ALLOCATED;
  int active = is_active(m, i);
  int inactive = is_inactive_split(m, i);
  share.of[ASHLAR_STAT_ALLOCATION] = allocated ? 1 : 0;
  share.of[ASHLAR_STAT_SEGMENT] = is_segment(m, i) ? 1 : 0;
  share.of[ASHLAR_STAT_ACTIVE] = active ? 1 : 0;
  share.of[ASHLAR_STAT_INACTIVE_SPLIT] = inactive ? 1 : 0;
  share.of[ASHLAR_STAT_ALLOCATED_BYTES] = allocated ? size : 0;
  share.of[ASHLAR_STAT_RESERVED_BYTES] = is_reserved(m, i) ? size : 0;
  share.of[ASHLAR_STAT_ACTIVE_BYTES] = active ? size : 0;
  share.of[ASHLAR_STAT_INACTIVE_SPLIT_BYTES] = inactive ? size : 0;
  share.of[ASHLAR_STAT_REQUESTED_BYTES] = active ? m->requested[i] : 0;
  share.too_large = 0;
  return share;
}

/*@ ghost
  // the sums of a column are small enough to be added up, but for the last
  /@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
     requires column: 0 <= column < ASHLAR_STAT_COLUMNS;
     READS
     ensures numbers: \forall integer k; 0 <= k <= m->top ==>
       \forall integer kind; 0 <= kind < ASHLAR_STAT_ALLOCATED_BYTES ==>
       0 <= shares(*m, kind, column, k) <= k;
     ensures bytes: \forall integer k; 0 <= k <= m->top ==> \forall integer kind;
       ASHLAR_STAT_ALLOCATED_BYTES <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
       0 <= shares(*m, kind, column, k) <= block_bytes(m->state, m->size, k);
     ensures asked: \forall integer k; 0 <= k <= m->top ==>
       0 <= shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, k) <=
       shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, m->top);
  @/
  static void shares_bounded(const struct ashlar_manager *m, int32_t column)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant numbers: \forall integer n; 0 <= n <= k ==>
         \forall integer kind; 0 <= kind < ASHLAR_STAT_ALLOCATED_BYTES ==>
         0 <= shares(*m, kind, column, n) <= n;
       loop invariant bytes: \forall integer n; 0 <= n <= k ==> \forall integer kind;
         ASHLAR_STAT_ALLOCATED_BYTES <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
         0 <= shares(*m, kind, column, n) <= block_bytes(m->state, m->size, n);
       loop invariant asked: \forall integer n; 0 <= n <= k ==>
         0 <= shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, n) <=
         shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, k);
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      /@ assert number: \forall integer kind; 0 <= kind < ASHLAR_STAT_ALLOCATED_BYTES ==>
            0 <= share(*m, kind, k) <= 1; @/
      /@ assert size: \forall integer kind; ASHLAR_STAT_ALLOCATED_BYTES <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
           0 <= share(*m, kind, k) <= (m->state[k] != ASHLAR_UNUSED ? m->size[k] : 0); @/
      //@ assert asked: 0 <= share(*m, ASHLAR_STAT_REQUESTED_BYTES, k);
      k++;
    }
  }

  // they are what the specification adds up
  /@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
     requires column: 0 <= column < ASHLAR_STAT_COLUMNS;
     READS
     ensures numbers: shares(*m, ASHLAR_STAT_ALLOCATION, column, m->top) ==
       number_in(m->state, m->home, ASHLAR_ALLOCATED, column, m->top);
     ensures sizes: shares(*m, ASHLAR_STAT_ALLOCATED_BYTES, column, m->top) ==
       sizes_in(m->state, m->home, m->size, ASHLAR_ALLOCATED, column, m->top);
     ensures active: shares(*m, ASHLAR_STAT_ACTIVE, column, m->top) ==
       number_in(m->state, m->home, ASHLAR_ALLOCATED, column, m->top) +
       number_in(m->state, m->home, ASHLAR_PENDING, column, m->top);
     ensures active_sizes: shares(*m, ASHLAR_STAT_ACTIVE_BYTES, column, m->top) ==
       sizes_in(m->state, m->home, m->size, ASHLAR_ALLOCATED, column, m->top) +
       sizes_in(m->state, m->home, m->size, ASHLAR_PENDING, column, m->top);
     ensures asked: shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, m->top) ==
       sizes_in(m->state, m->home, m->requested, ASHLAR_ALLOCATED, column, m->top) +
       sizes_in(m->state, m->home, m->requested, ASHLAR_PENDING, column, m->top);
     ensures segments: shares(*m, ASHLAR_STAT_SEGMENT, column, m->top) ==
       segments_in(m->state, m->hold, m->growable, m->prev, m->home, column, m->top);
     ensures reserved: shares(*m, ASHLAR_STAT_RESERVED_BYTES, column, m->top) ==
       reserved_in(m->state, m->hold, m->home, m->size, column, m->top);
     ensures inactive: shares(*m, ASHLAR_STAT_INACTIVE_SPLIT, column, m->top) ==
       inactive_in(m->state, m->growable, m->prev, m->next, m->home, column, m->top);
     ensures inactive_sizes: shares(*m, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, column, m->top) ==
       inactive_bytes_in(m->state, m->growable, m->prev, m->next, m->home, m->size, column, m->top);
  @/
  static void shares_specified(const struct ashlar_manager *m, int32_t column)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant numbers: shares(*m, ASHLAR_STAT_ALLOCATION, column, k) ==
         number_in(m->state, m->home, ASHLAR_ALLOCATED, column, k);
       loop invariant sizes: shares(*m, ASHLAR_STAT_ALLOCATED_BYTES, column, k) ==
         sizes_in(m->state, m->home, m->size, ASHLAR_ALLOCATED, column, k);
       loop invariant active: shares(*m, ASHLAR_STAT_ACTIVE, column, k) ==
         number_in(m->state, m->home, ASHLAR_ALLOCATED, column, k) +
         number_in(m->state, m->home, ASHLAR_PENDING, column, k);
       loop invariant active_sizes: shares(*m, ASHLAR_STAT_ACTIVE_BYTES, column, k) ==
         sizes_in(m->state, m->home, m->size, ASHLAR_ALLOCATED, column, k) +
         sizes_in(m->state, m->home, m->size, ASHLAR_PENDING, column, k);
       loop invariant asked: shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, k) ==
         sizes_in(m->state, m->home, m->requested, ASHLAR_ALLOCATED, column, k) +
         sizes_in(m->state, m->home, m->requested, ASHLAR_PENDING, column, k);
       loop invariant segments: shares(*m, ASHLAR_STAT_SEGMENT, column, k) ==
         segments_in(m->state, m->hold, m->growable, m->prev, m->home, column, k);
       loop invariant reserved: shares(*m, ASHLAR_STAT_RESERVED_BYTES, column, k) ==
         reserved_in(m->state, m->hold, m->home, m->size, column, k);
       loop invariant inactive: shares(*m, ASHLAR_STAT_INACTIVE_SPLIT, column, k) ==
         inactive_in(m->state, m->growable, m->prev, m->next, m->home, column, k);
       loop invariant inactive_sizes: shares(*m, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, column, k) ==
         inactive_bytes_in(m->state, m->growable, m->prev, m->next, m->home, m->size, column, k);
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      k++;
    }
  }
*/

/* Adds the share of a block. */
/*@ requires bounded: \forall integer kind; 0 <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
      sums.of[kind] + share.of[kind] <= UINT64_MAX;
    READS
    ensures sums: \forall integer kind; 0 <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
      \result.of[kind] == sums.of[kind] + share.of[kind];
    ensures asked: \result.too_large == 0 ==> sums.too_large == 0 && \result.of[ASHLAR_STAT_REQUESTED_BYTES] ==
      sums.of[ASHLAR_STAT_REQUESTED_BYTES] + share.of[ASHLAR_STAT_REQUESTED_BYTES];
    ensures too_large: \result.too_large != 0 ==> sums.too_large != 0 ||
      UINT64_MAX < sums.of[ASHLAR_STAT_REQUESTED_BYTES] + share.of[ASHLAR_STAT_REQUESTED_BYTES];
*/
static struct sums sum_of(struct sums sums, struct sums share)
{
  struct sums sum = sums;
  int32_t kind = 0;
  /*@ loop invariant kind: 0 <= kind <= ASHLAR_STAT_REQUESTED_BYTES;
      loop invariant done: \forall integer k; 0 <= k < kind ==> sum.of[k] == sums.of[k] + share.of[k];
      loop invariant asked: sum.too_large == sums.too_large &&
        sum.of[ASHLAR_STAT_REQUESTED_BYTES] == sums.of[ASHLAR_STAT_REQUESTED_BYTES];
      loop assigns kind, sum.of[0 .. ASHLAR_STAT_KINDS - 1];
      loop variant ASHLAR_STAT_REQUESTED_BYTES - kind;
  */
  while (kind < ASHLAR_STAT_REQUESTED_BYTES) {
    sum.of[kind] = sums.of[kind] + share.of[kind];
    kind++;
  }
  if (share.of[kind] > UINT64_MAX - sums.of[kind]) {
    sum.too_large = 1;
  } else {
    sum.of[kind] = sums.of[kind] + share.of[kind];
  }
  return sum;
}

/* Adds up what the blocks of a column add. */
/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
    requires column: 0 <= column < ASHLAR_STAT_COLUMNS;
    READS
    ensures sums: \forall integer kind; 0 <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
      \result.of[kind] == shares(*m, kind, column, m->top);
    ensures asked: \result.too_large == 0 ==> \result.of[ASHLAR_STAT_REQUESTED_BYTES] ==
      shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, m->top);
    ensures too_large: \result.too_large != 0 ==>
      UINT64_MAX < shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, m->top);
*/
static struct sums sums_of(const struct ashlar_manager *m, int32_t column)
{
  //@ ghost ashlar_blocks_bounded(m);
  //@ ghost shares_bounded(m, column);
  struct sums sums = {{0}, 0};
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant sums: \forall integer kind; 0 <= kind < ASHLAR_STAT_REQUESTED_BYTES ==>
        sums.of[kind] == shares(*m, kind, column, i);
      loop invariant asked: sums.too_large == 0 ==> sums.of[ASHLAR_STAT_REQUESTED_BYTES] ==
        shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, i);
      loop invariant too_large: sums.too_large != 0 ==>
        UINT64_MAX < shares(*m, ASHLAR_STAT_REQUESTED_BYTES, column, i);
      loop assigns i, sums;
      loop variant m->top - i;
  */
  while (i < m->top) {
    /*@ assert unused: m->state[i] == ASHLAR_UNUSED ==> \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==>
          share(*m, kind, i) == 0; */
    /*@ assert next: \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==> shares(*m, kind, column, i + 1) ==
          shares(*m, kind, column, i) + (in_column(m->home[i], column) == 1 ? share(*m, kind, i) : 0); */
    if (m->state[i] != ASHLAR_UNUSED &&
        (column == ASHLAR_STAT_ALL || column == ashlar_home_class(m->home[i]) + 1)) {
      //@ assert column: in_column(m->home[i], column) == 1;
      sums = sum_of(sums, share_of(m, i));
    }
    i++;
  }
  return sums;
}

/* The first counter of a column that is not the sum; -1: none. */
/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
    requires column: 0 <= column < ASHLAR_STAT_COLUMNS;
    READS
    ensures index: -1 <= \result < ASHLAR_STATS;
    ensures counted: \result == -1 <==> column_counted(*m, column);
*/
static int32_t differs(const struct ashlar_manager *m, int32_t column)
{
  struct sums sums = sums_of(m, column);
  /*@ assert sums: \forall integer k; 0 <= k < ASHLAR_STAT_REQUESTED_BYTES ==>
        sums.of[k] == shares(*m, k, column, m->top); */
  int32_t kind = 0;
  /*@ loop invariant kind: 0 <= kind <= ASHLAR_STAT_KINDS;
      loop invariant passed: \forall integer k; 0 <= k < kind ==>
        counts(m->stat, k, column, shares(*m, k, column, m->top));
      loop assigns kind;
      loop variant ASHLAR_STAT_KINDS - kind;
  */
  while (kind < ASHLAR_STAT_KINDS) {
    //@ assert sum: kind < ASHLAR_STAT_REQUESTED_BYTES ==> sums.of[kind] == shares(*m, kind, column, m->top);
    /*@ assert asked: kind == ASHLAR_STAT_REQUESTED_BYTES ==> sums.too_large == 0 ==>
          sums.of[kind] == shares(*m, kind, column, m->top); */
    if (m->stat[kind * ASHLAR_STAT_COLUMNS + column].current != sums.of[kind] ||
        (kind == ASHLAR_STAT_REQUESTED_BYTES && sums.too_large != 0)) {
      //@ assert differs: !counts(m->stat, kind, column, shares(*m, kind, column, m->top));
      return kind * ASHLAR_STAT_COLUMNS + column;
    }
    //@ assert counts: counts(m->stat, kind, column, shares(*m, kind, column, m->top));
    kind++;
  }
  return -1;
}

/*@ ghost
  /@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
     requires column: 0 <= c < ASHLAR_STAT_COLUMNS;
     READS
     ensures specified: column_counted(*m, c) <==> column_specified(*m, c);
  @/
  static void column_is_specified(const struct ashlar_manager *m, int32_t c)
  {
    shares_specified(m, c);
    /@ assert kinds: column_counted(*m, c) ==>
         counts(m->stat, 0, c, shares(*m, 0, c, m->top)) &&
         counts(m->stat, 1, c, shares(*m, 1, c, m->top)) &&
         counts(m->stat, 2, c, shares(*m, 2, c, m->top)) &&
         counts(m->stat, 3, c, shares(*m, 3, c, m->top)) &&
         counts(m->stat, 4, c, shares(*m, 4, c, m->top)) &&
         counts(m->stat, 5, c, shares(*m, 5, c, m->top)) &&
         counts(m->stat, 6, c, shares(*m, 6, c, m->top)) &&
         counts(m->stat, 7, c, shares(*m, 7, c, m->top)) &&
         counts(m->stat, 8, c, shares(*m, 8, c, m->top)); @/
    /@ assert all: (
         counts(m->stat, 0, c, shares(*m, 0, c, m->top)) &&
         counts(m->stat, 1, c, shares(*m, 1, c, m->top)) &&
         counts(m->stat, 2, c, shares(*m, 2, c, m->top)) &&
         counts(m->stat, 3, c, shares(*m, 3, c, m->top)) &&
         counts(m->stat, 4, c, shares(*m, 4, c, m->top)) &&
         counts(m->stat, 5, c, shares(*m, 5, c, m->top)) &&
         counts(m->stat, 6, c, shares(*m, 6, c, m->top)) &&
         counts(m->stat, 7, c, shares(*m, 7, c, m->top)) &&
         counts(m->stat, 8, c, shares(*m, 8, c, m->top))) ==> \forall integer kind;
         kind == 0 || kind == 1 || kind == 2 || kind == 3 || kind == 4 || kind == 5 || kind == 6 || kind == 7 ||
         kind == 8 ==> counts(m->stat, kind, c, shares(*m, kind, c, m->top)); @/
  }

  /@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
     READS
     ensures counted: column_counted(*m, 0) && column_counted(*m, 1) && column_counted(*m, 2) <==>
       owned_counted(m->stat, m->state, m->home, m->size, m->requested, m->top) &&
       segments_and_rests_counted(m->stat, m->state, m->hold, m->growable, m->prev, m->next, m->home, m->size, m->top);
  @/
  static void columns_specified(const struct ashlar_manager *m)
  {
    column_is_specified(m, 0);
    column_is_specified(m, 1);
    column_is_specified(m, 2);
    /@ assert each: owned_counted(m->stat, m->state, m->home, m->size, m->requested, m->top) ==>
         segments_and_rests_counted(m->stat, m->state, m->hold, m->growable, m->prev, m->next, m->home, m->size,
           m->top) ==>
         column_specified(*m, 0) && column_specified(*m, 1) && column_specified(*m, 2); @/
    /@ assert owned: column_specified(*m, 0) ==> column_specified(*m, 1) ==> column_specified(*m, 2) ==>
         owned_counted(m->stat, m->state, m->home, m->size, m->requested, m->top); @/
    /@ assert rests: column_specified(*m, 0) ==> column_specified(*m, 1) ==> column_specified(*m, 2) ==>
         segments_and_rests_counted(m->stat, m->state, m->hold, m->growable, m->prev, m->next, m->home, m->size,
           m->top); @/
  }
*/

/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_BLOCKS_COUNTED)
    CHECKS(ASHLAR_STATS - 1,
      owned_counted(m->stat, m->state, m->home, m->size, m->requested, m->top) &&
      segments_and_rests_counted(m->stat, m->state, m->hold, m->growable, m->prev, m->next, m->home, m->size, m->top))
*/
static int32_t blocks_counted(const struct ashlar_manager *m)
{
  //@ ghost columns_specified(m);
  int32_t at = differs(m, ASHLAR_STAT_ALL);
  if (at == -1) {
    at = differs(m, ASHLAR_STAT_SMALL);
  }
  if (at == -1) {
    at = differs(m, ASHLAR_STAT_LARGE);
  }
  return at;
}

/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_RESERVED_COUNTED)
    CHECKS(ASHLAR_POOL_NUMBERS - 1,
      reserved_counted(m->pool_reserved, m->state, m->hold, m->home, m->size, m->top))
*/
static int32_t reserved_counted(const struct ashlar_manager *m)
{
  //@ ghost ashlar_blocks_bounded(m);
  uint64_t reserved[ASHLAR_POOL_NUMBERS] = {0};
  int32_t i = 0;
  int32_t p = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant sums: \forall integer k; 0 <= k < ASHLAR_POOL_NUMBERS ==>
        0 <= reserved[k] <= block_bytes(m->state, m->size, i) &&
        reserved[k] == pool_bytes_in(m->state, m->hold, m->home, m->size, k, i);
      loop assigns i, reserved[0 .. ASHLAR_POOL_NUMBERS - 1];
      loop variant m->top - i;
  */
  while (i < m->top) {
    //@ assert bounded: block_bytes(m->state, m->size, i + 1) <= UINT64_MAX;
    if (is_reserved(m, i)) {
      reserved[ashlar_home_pool(m->home[i])] += m->size[i];
    }
    i++;
  }
  /*@ loop invariant pool: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer k; 0 <= k < p ==> m->pool_reserved[k].current == reserved[k];
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_reserved[p].current != reserved[p]) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ ghost
  // of two blocks the one at the higher address has one more below it, and it is not among those
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSES)
     requires blocks: 0 <= i < m->top && 0 <= j < m->top && m->state[i] != ASHLAR_UNUSED &&
       m->state[j] != ASHLAR_UNUSED;
     requires order: m->addr[i] < m->addr[j];
     READS
     ensures more: blocks_below(m->state, m->addr, m->addr[i], m->top) + 1 <=
       blocks_below(m->state, m->addr, m->addr[j], m->top);
     ensures less: blocks_below(m->state, m->addr, m->addr[j], m->top) < m->top;
  @/
  static void one_more_below(const struct ashlar_manager *m, int32_t i, int32_t j)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant more: blocks_below(m->state, m->addr, m->addr[i], k) + (i < k ? 1 : 0) <=
         blocks_below(m->state, m->addr, m->addr[j], k);
       loop invariant less: blocks_below(m->state, m->addr, m->addr[j], k) + (j < k ? 1 : 0) <= k;
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      k++;
    }
  }

  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSES)
     READS
     ensures some: \forall integer x; 0 <= blocks_below(m->state, m->addr, x, m->top);
  @/
  static void some_below(const struct ashlar_manager *m)
  {
    int32_t k = 0;
    /@ loop invariant slot: 0 <= k <= m->top;
       loop invariant some: \forall integer x; 0 <= blocks_below(m->state, m->addr, x, k);
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) {
      k++;
    }
  }
*/

/* Bytes of the segment that begins with a block. */
/*@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSES)
    requires first: 0 <= first < m->top && m->state[first] != ASHLAR_UNUSED;
    READS
    ensures bytes: \result == bytes_from(m->next, m->size, first, m->top);
*/
static uint64_t segment_bytes(const struct ashlar_manager *m, int32_t first)
{
  int32_t last = first;
  //@ ghost int32_t steps = 0;
  //@ ghost some_below(m);
  /*@ loop invariant block: 0 <= last < m->top && m->state[last] != ASHLAR_UNUSED && m->addr[first] <= m->addr[last];
      loop invariant steps: 0 <= steps < m->top;
      loop invariant few: steps <= blocks_below(m->state, m->addr, m->addr[last], m->top);
      loop invariant bytes: bytes_from(m->next, m->size, first, m->top) ==
        m->addr[last] - m->addr[first] + bytes_from(m->next, m->size, last, m->top - steps);
      loop assigns last, steps;
      loop variant UINT64_MAX - m->addr[last];
  */
  while (m->next[last] != -1) {
    //@ ghost one_more_below(m, last, m->next[last]);
    last = m->next[last];
    //@ ghost steps++;
  }
  return m->addr[last] + m->size[last] - m->addr[first];
}

/* 0: of allocations, 1: of segments. */
/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_OVERSIZE_COUNTED)
    CHECKS(1,
      oversize_counted(m->oversize_allocations, m->oversize_segments, m->state, m->hold, m->growable, m->prev,
      m->next,
        m->size, m->config.max_split_size, m->top))
*/
static int32_t oversize_counted(const struct ashlar_manager *m)
{
  uint64_t allocations = 0;
  uint64_t segments = 0;
  int32_t i = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant allocations: 0 <= allocations <= i &&
        allocations == oversize_in(m->state, m->size, m->config.max_split_size, i);
      loop invariant segments: 0 <= segments <= i && segments == oversize_segments_in(m->state, m->hold, m->growable,
        m->prev, m->next, m->size, m->config.max_split_size, m->top, i);
      loop assigns i, allocations, segments;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->size[i] >= m->config.max_split_size) {
      allocations++;
    }
    if (is_segment(m, i) && segment_bytes(m, i) >= m->config.max_split_size) {
      segments++;
    }
    i++;
  }
  if (m->oversize_allocations.current != allocations) {
    return 0;
  }
  return m->oversize_segments.current != segments ? 1 : -1;
}

/* Totals may have begun anew since: no more has come than is there or went, and no less is there than a peak. */
/*@ READS
    ensures valid: \result != 0 <==> total_valid(counter);
*/
static int is_counter(struct ashlar_counter counter)
{
  return counter.current <= counter.peak &&
         counter.allocated <= ashlar_saturating_sum(counter.current, counter.freed);
}

/* Counters by kind and column; behind them those of pools, and two of oversize. */
/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_TOTALS_VALID)
    CHECKS(ASHLAR_STATS + ASHLAR_POOL_NUMBERS + 1,
      totals_valid(m->stat, m->pool_reserved, m->oversize_allocations, m->oversize_segments))
*/
static int32_t totals_valid(const struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t p = 0;
  /*@ loop invariant counter: 0 <= k <= ASHLAR_STATS;
      loop invariant passed: \forall integer j; 0 <= j < k ==> total_valid(m->stat[j]);
      loop assigns k;
      loop variant ASHLAR_STATS - k;
  */
  while (k < ASHLAR_STATS) {
    if (!is_counter(m->stat[k])) {
      return k;
    }
    k++;
  }
  /*@ loop invariant pool: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer j; 0 <= j < p ==> total_valid(m->pool_reserved[j]);
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (!is_counter(m->pool_reserved[p])) {
      return ASHLAR_STATS + p;
    }
    p++;
  }
  if (!is_counter(m->oversize_allocations)) {
    return ASHLAR_STATS + ASHLAR_POOL_NUMBERS;
  }
  return is_counter(m->oversize_segments) ? -1 : ASHLAR_STATS + ASHLAR_POOL_NUMBERS + 1;
}

/* That the current values of all are the sums of both classes follows from blocks_counted. */
/*@ requires \valid(m); STATS_BEFORE(ASHLAR_CLAUSE_COLUMNS_SUMMED)
    CHECKS(ASHLAR_STATS - 1,
      columns_summed(m->stat))
*/
static int32_t columns_summed(const struct ashlar_manager *m)
{
  int32_t kind = 0;
  /*@ loop invariant kind: 0 <= kind <= ASHLAR_STAT_KINDS;
      loop invariant passed: \forall integer k; 0 <= k < kind ==> kind_summed(m->stat, k);
      loop assigns kind;
      loop variant ASHLAR_STAT_KINDS - kind;
  */
  while (kind < ASHLAR_STAT_KINDS) {
    int32_t k = kind * ASHLAR_STAT_COLUMNS;
    struct ashlar_counter small = m->stat[k + ASHLAR_STAT_SMALL];
    struct ashlar_counter large = m->stat[k + ASHLAR_STAT_LARGE];
    if (m->stat[k].allocated != ashlar_saturating_sum(small.allocated, large.allocated) ||
        m->stat[k].freed != ashlar_saturating_sum(small.freed, large.freed)) {
      return k;
    }
    /*@ assert allocated: m->stat[3 * kind].allocated ==
          saturated(m->stat[3 * kind + 1].allocated + m->stat[3 * kind + 2].allocated); */
    //@ assert freed: m->stat[3 * kind].freed == saturated(m->stat[3 * kind + 1].freed + m->stat[3 * kind + 2].freed);
    //@ assert summed: kind_summed(m->stat, kind);
    kind++;
  }
  return -1;
}

int32_t ashlar_check_stats(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_BLOCKS_COUNTED:
    return blocks_counted(m);
  case ASHLAR_CLAUSE_RESERVED_COUNTED:
    return reserved_counted(m);
  case ASHLAR_CLAUSE_OVERSIZE_COUNTED:
    return oversize_counted(m);
  case ASHLAR_CLAUSE_TOTALS_VALID:
    return totals_valid(m);
  case ASHLAR_CLAUSE_COLUMNS_SUMMED:
    return columns_summed(m);
  default:
    return -1;
  }
}
