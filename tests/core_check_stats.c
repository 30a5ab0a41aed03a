/* core_check_stats.c - see core_check.h: every statistic against the block list, clause by clause.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"
#include "tests/core_check_clauses.h"

enum { HOLDS = ASHLAR_CORE_HOLDS };

static void add(struct ashlar_core_count *total, int32_t kind, int32_t class, uint64_t amount)
{
  const int32_t all = kind * ASHLAR_STAT_COLUMNS;
  total->stat[all + ASHLAR_STAT_ALL] += amount;
  total->stat[all + (class == ASHLAR_CLASS_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE)] +=
      amount;
}

/* Whether the device has given memory for a block and not got it back. A block that is leaving counts as gone. */
static bool has_memory(const struct ashlar_manager *m, int32_t i)
{
  if (m->state[i] == ASHLAR_HELD) {
    return m->hold[i] == ASHLAR_HOLD_MAPPED || m->hold[i] == ASHLAR_HOLD_FRESH;
  }
  return m->state[i] != ASHLAR_UNMAPPED;
}

/* What an owner has, or had and other streams use still.
   Oracle: REQ-ACCOUNT-allocation, REQ-ACCOUNT-active, REQ-ACCOUNT-oversize. */
static void count_active(struct ashlar_core_count *total, const struct ashlar_manager *m, int32_t i,
                         int32_t class)
{
  if (m->state[i] == ASHLAR_ALLOCATED) {
    add(total, ASHLAR_STAT_ALLOCATION, class, 1);
    add(total, ASHLAR_STAT_ALLOCATED_BYTES, class, m->size[i]);
    total->oversize_allocations += m->size[i] >= m->config.max_split_size ? 1 : 0;
  }
  add(total, ASHLAR_STAT_ACTIVE, class, 1);
  add(total, ASHLAR_STAT_ACTIVE_BYTES, class, m->size[i]);
  add(total, ASHLAR_STAT_REQUESTED_BYTES, class, m->requested[i]);
}

/* Oracle: REQ-ACCOUNT-reserved, REQ-ACCOUNT-inactive, REQ-ACCOUNT-private, REQ-GROW-hidden. */
static void count_block(struct ashlar_core_count *total, const struct ashlar_manager *m, int32_t i)
{
  const int32_t pool = m->home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES;
  const int32_t class = m->home[i] / ASHLAR_STREAMS % ASHLAR_CLASSES;
  if (has_memory(m, i)) {
    add(total, ASHLAR_STAT_RESERVED_BYTES, class, m->size[i]);
    total->reserved[pool] += m->size[i];
  }
  if (m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING) {
    count_active(total, m, i, class);
  } else if (m->state[i] == ASHLAR_FREE && m->growable[i] == 0 &&
             (m->prev[i] != -1 || m->next[i] != -1)) {
    add(total, ASHLAR_STAT_INACTIVE_SPLIT, class, 1);
    add(total, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, class, m->size[i]);
  }
}

/* Oracle: REQ-ACCOUNT-segment, REQ-ACCOUNT-oversize. */
static void count_segment(struct ashlar_core_count *total, const struct ashlar_manager *m,
                          int32_t head)
{
  uint64_t bytes = 0;
  add(total, ASHLAR_STAT_SEGMENT, m->home[head] / ASHLAR_STREAMS % ASHLAR_CLASSES, 1);
  for (int32_t i = head; i >= 0; i = m->next[i]) {
    bytes += m->size[i];
  }
  total->oversize_segments += bytes >= m->config.max_split_size ? 1 : 0;
}

struct ashlar_core_count ashlar_core_recount(const struct ashlar_manager *m)
{
  struct ashlar_core_count total = {0};
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] != ASHLAR_UNUSED) {
      count_block(&total, m, i);
      if (m->prev[i] == -1 && m->growable[i] == 0 && has_memory(m, i)) {
        count_segment(&total, m, i);
      }
    }
  }
  return total;
}

/* Bytes that were asked for are no part of a block's shape: their sum may be more than a counter can have. */
static bool asked_too_much(const struct ashlar_manager *m)
{
  uint64_t sum = 0;
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING) {
      if (m->requested[i] > UINT64_MAX - sum) {
        return true;
      }
      sum += m->requested[i];
    }
  }
  return false;
}

static int64_t stats_current(const struct ashlar_manager *m)
{
  const struct ashlar_core_count total = ashlar_core_recount(m);
  if (asked_too_much(m)) {
    const int32_t requested = ASHLAR_STAT_REQUESTED_BYTES * ASHLAR_STAT_COLUMNS;
    return requested;
  }
  for (int32_t k = 0; k < ASHLAR_STATS; k++) {
    if (m->stat[k].current != total.stat[k]) {
      return k;
    }
  }
  return HOLDS;
}

static int64_t stats_private(const struct ashlar_manager *m)
{
  const struct ashlar_core_count total = ashlar_core_recount(m);
  for (int32_t p = 0; p < ASHLAR_POOL_NUMBERS; p++) {
    if (m->pool_reserved[p].current != total.reserved[p]) {
      return p;
    }
  }
  return HOLDS;
}

static int64_t stats_oversize(const struct ashlar_manager *m)
{
  const struct ashlar_core_count total = ashlar_core_recount(m);
  if (m->oversize_allocations.current != total.oversize_allocations) {
    return 0;
  }
  return m->oversize_segments.current != total.oversize_segments ? 1 : HOLDS;
}

static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Peaks are no less than what is. Totals may have begun anew, but no more can have come than is there or went.
   Oracle: REQ-ACCOUNT-counter. */
static bool counter_consistent(const struct ashlar_counter *counter)
{
  return counter->peak >= counter->current &&
         counter->allocated <= saturating_sum(counter->current, counter->freed);
}

static int64_t stats_totals(const struct ashlar_manager *m)
{
  for (int32_t k = 0; k < ASHLAR_STATS; k++) {
    if (!counter_consistent(&m->stat[k])) {
      return k;
    }
  }
  for (int32_t p = 0; p < ASHLAR_POOL_NUMBERS; p++) {
    if (!counter_consistent(&m->pool_reserved[p])) {
      return ASHLAR_STATS + p;
    }
  }
  return counter_consistent(&m->oversize_allocations) && counter_consistent(&m->oversize_segments)
             ? HOLDS
             : ASHLAR_STATS + ASHLAR_POOL_NUMBERS;
}

/* Totals of "all" are the sums of both classes, as far as they can be counted. Peaks are not: they may be of different
   times. (That current values are follows from the block list.) Oracle: REQ-ACCOUNT-columns. */
static int64_t stats_columns(const struct ashlar_manager *m)
{
  for (int32_t k = 0; k < ASHLAR_STATS; k += ASHLAR_STAT_COLUMNS) {
    const struct ashlar_counter *all = &m->stat[k + ASHLAR_STAT_ALL];
    const struct ashlar_counter *small = &m->stat[k + ASHLAR_STAT_SMALL];
    const struct ashlar_counter *large = &m->stat[k + ASHLAR_STAT_LARGE];
    if (all->allocated != saturating_sum(small->allocated, large->allocated) ||
        all->freed != saturating_sum(small->freed, large->freed)) {
      return k;
    }
  }
  return HOLDS;
}

const struct ashlar_core_clause ashlar_core_stat_clauses[] = {
    {ASHLAR_CORE_STATS, "stats_current", stats_current},
    {ASHLAR_CORE_STATS, "stats_private", stats_private},
    {ASHLAR_CORE_STATS, "stats_oversize", stats_oversize},
    {ASHLAR_CORE_STATS, "stats_totals", stats_totals},
    {ASHLAR_CORE_STATS, "stats_columns", stats_columns},
    {0, NULL, NULL},
};
