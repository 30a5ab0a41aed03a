/* check_stats.c - see check.h: statistics, recomputed from the blocks.
 *
 * Sums of sizes cannot wrap: blocks are disjoint and end below 2^64. Bytes that were asked for are no part of a block's
 * shape; their sum may wrap in a broken state, and is then compared as it is.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"
#include "core/stats.h"

/* Whether memory of the device stands behind a block; what leaves counts as gone. */
static int is_reserved(const struct ashlar_manager *m, int32_t i)
{
  if (m->state[i] == ASHLAR_HELD) {
    return m->hold[i] == ASHLAR_HOLD_MAPPED || m->hold[i] == ASHLAR_HOLD_FRESH;
  }
  return m->state[i] != ASHLAR_UNUSED && m->state[i] != ASHLAR_UNMAPPED;
}

static int is_active(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING;
}

static int is_inactive_split(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] == ASHLAR_FREE && m->growable[i] == 0 &&
         (m->prev[i] != -1 || m->next[i] != -1);
}

/* An ordinary segment begins with the block, and is not leaving. */
static int is_segment(const struct ashlar_manager *m, int32_t i)
{
  return m->growable[i] == 0 && m->prev[i] == -1 && is_reserved(m, i);
}

struct sums {
  uint64_t of[ASHLAR_STAT_KINDS];
};

/* What a block adds to each kind of counter. */
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
  return share;
}

/* Adds up what blocks of a class, or of all (ASHLAR_CLASSES), add. */
static struct sums sums_of(const struct ashlar_manager *m, int32_t class)
{
  struct sums sums = {{0}};
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] != ASHLAR_UNUSED &&
        (class == ASHLAR_CLASSES || class == ashlar_home_class(m->home[i]))) {
      struct sums share = share_of(m, i);
      int32_t kind = 0;
      while (kind < ASHLAR_STAT_KINDS) {
        sums.of[kind] += share.of[kind];
        kind++;
      }
    }
    i++;
  }
  return sums;
}

/* The first counter of a column that is not the sum; -1: none. */
static int32_t differs(const struct ashlar_manager *m, int32_t class, int32_t column)
{
  struct sums sums = sums_of(m, class);
  int32_t kind = 0;
  while (kind < ASHLAR_STAT_KINDS) {
    if (m->stat[kind * ASHLAR_STAT_COLUMNS + column].current != sums.of[kind]) {
      return kind * ASHLAR_STAT_COLUMNS + column;
    }
    kind++;
  }
  return -1;
}

static int32_t blocks_counted(const struct ashlar_manager *m)
{
  int32_t at = differs(m, ASHLAR_CLASSES, ASHLAR_STAT_ALL);
  if (at == -1) {
    at = differs(m, ASHLAR_CLASS_SMALL, ASHLAR_STAT_SMALL);
  }
  if (at == -1) {
    at = differs(m, ASHLAR_CLASS_LARGE, ASHLAR_STAT_LARGE);
  }
  return at;
}

static int32_t reserved_counted(const struct ashlar_manager *m)
{
  uint64_t reserved[ASHLAR_POOL_NUMBERS] = {0};
  int32_t i = 0;
  int32_t p = 0;
  while (i < m->top) {
    if (is_reserved(m, i)) {
      reserved[ashlar_home_pool(m->home[i])] += m->size[i];
    }
    i++;
  }
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_reserved[p].current != reserved[p]) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Bytes of the segment that begins with a block. */
static uint64_t segment_bytes(const struct ashlar_manager *m, int32_t first)
{
  int32_t last = first;
  while (m->next[last] != -1) {
    last = m->next[last];
  }
  return m->addr[last] + m->size[last] - m->addr[first];
}

/* 0: of allocations, 1: of segments. */
static int32_t oversize_counted(const struct ashlar_manager *m)
{
  uint64_t allocations = 0;
  uint64_t segments = 0;
  int32_t i = 0;
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
static int is_counter(struct ashlar_counter counter)
{
  return counter.current <= counter.peak &&
         counter.allocated <= ashlar_saturating_sum(counter.current, counter.freed);
}

/* Counters by kind and column; behind them those of pools, and two of oversize. */
static int32_t totals_valid(const struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t p = 0;
  while (k < ASHLAR_STATS) {
    if (!is_counter(m->stat[k])) {
      return k;
    }
    k++;
  }
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
static int32_t columns_summed(const struct ashlar_manager *m)
{
  int32_t kind = 0;
  while (kind < ASHLAR_STAT_KINDS) {
    int32_t k = kind * ASHLAR_STAT_COLUMNS;
    struct ashlar_counter small = m->stat[k + ASHLAR_STAT_SMALL];
    struct ashlar_counter large = m->stat[k + ASHLAR_STAT_LARGE];
    if (m->stat[k].allocated != ashlar_saturating_sum(small.allocated, large.allocated) ||
        m->stat[k].freed != ashlar_saturating_sum(small.freed, large.freed)) {
      return k;
    }
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
