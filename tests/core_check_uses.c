/* core_check_uses.c - see core_check.h: streams, uses on other streams, private pools, clause by clause.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"
#include "tests/core_check_clauses.h"

#include <stdlib.h>

enum { HOLDS = ASHLAR_CORE_HOLDS };

/* --- streams --- */

static int64_t streams_in_range(const struct ashlar_manager *m)
{
  if (m->stream_count < 0 || m->stream_count >= ASHLAR_STREAMS) {
    return 0;
  }
  for (int32_t k = 0; k < m->stream_count; k++) {
    if (m->stream_order[k] < 0 || m->stream_order[k] >= m->stream_count || m->stream_rank[k] < 0 ||
        m->stream_rank[k] >= m->stream_count || m->stream_rank[m->stream_order[k]] != k ||
        m->stream_order[m->stream_rank[k]] != k) {
      return k;
    }
  }
  return HOLDS;
}

/* Ascending keys, of equal ones (all but one of these streams are gone) ascending numbers. */
static int64_t streams_sorted(const struct ashlar_manager *m)
{
  for (int32_t k = 1; k < m->stream_count; k++) {
    const int32_t one = m->stream_order[k - 1];
    const int32_t two = m->stream_order[k];
    const uint64_t first = m->stream_key[one];
    const uint64_t second = m->stream_key[two];
    if (first > second || (first == second && one > two)) {
      return k;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-STREAM-registered. */
static int64_t streams_distinct(const struct ashlar_manager *m)
{
  for (int32_t a = 0; a < m->stream_count; a++) {
    for (int32_t b = 0; b < a; b++) {
      if (m->stream_gone[a] == 0 && m->stream_gone[b] == 0 &&
          m->stream_key[a] == m->stream_key[b]) {
        return a;
      }
    }
  }
  return HOLDS;
}

/* --- uses on other streams --- */

static bool is_use(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] >= 0;
}

static bool is_queued(const struct ashlar_manager *m, int32_t u)
{
  return is_use(m, u) && m->use_number[u] > 0;
}

static int64_t uses_in_range(const struct ashlar_manager *m)
{
  if (m->use_spare_count < 0 || m->use_spare_count > m->use_top || m->use_top > ASHLAR_USES) {
    return 0;
  }
  for (int32_t u = 0; u < m->use_top; u++) {
    if (m->use_block[u] < -1 || m->use_block[u] >= ASHLAR_SLOTS ||
        (is_use(m, u) && (m->use_stream[u] < 0 || m->use_stream[u] >= ASHLAR_STREAMS ||
                          m->use_serial[u] == 0 || m->use_serial[u] > m->use_serials))) {
      return u;
    }
  }
  return HOLDS;
}

/* Every spare record stands in the stack once, and nothing else does. */
static int64_t uses_spare(const struct ashlar_manager *m)
{
  int32_t spare = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    if (!is_use(m, u)) {
      const int32_t k = m->use_next[u];
      if (k < 0 || k >= m->use_spare_count || m->use_spare[k] != u) {
        return u;
      }
      spare++;
    }
  }
  return spare == m->use_spare_count ? HOLDS : m->use_top;
}

static int compare_serials(const void *a, const void *b)
{
  const uint64_t one = *(const uint64_t *)a;
  const uint64_t two = *(const uint64_t *)b;
  return one < two ? -1 : one > two;
}

/* No two uses have one serial. */
static int64_t serials_distinct(const struct ashlar_manager *m)
{
  uint64_t *serials = ashlar_core_memory((size_t)m->use_top + 1, sizeof *serials);
  size_t count = 0;
  int64_t found = HOLDS;
  for (int32_t u = 0; u < m->use_top; u++) {
    if (is_use(m, u)) {
      serials[count] = m->use_serial[u];
      count++;
    }
  }
  qsort(serials, count, sizeof *serials, compare_serials);
  for (size_t k = 1; k < count && found == HOLDS; k++) {
    if (serials[k - 1] == serials[k]) {
      found = (int64_t)k;
    }
  }
  free(serials);
  return found;
}

/* The chain of each block has all of its uses, the latest first, one for a stream. */
static int64_t use_chains(const struct ashlar_manager *m)
{
  int32_t known = 0;
  int32_t chained = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    known += is_use(m, u) ? 1 : 0;
  }
  for (int32_t i = 0; i < ASHLAR_SLOTS; i++) {
    if (m->first_use[i] == 0) {
      continue;
    }
    bool used[ASHLAR_STREAMS] = {false};
    int32_t after = -1;
    if (m->first_use[i] < 0 || m->first_use[i] > m->use_top) {
      return i;
    }
    for (int32_t u = m->first_use[i] - 1; u != -1; u = m->use_more[u]) {
      if (u < 0 || u >= m->use_top || m->use_block[u] != i || m->use_less[u] != after ||
          (after != -1 && m->use_serial[u] >= m->use_serial[after]) || used[m->use_stream[u]]) {
        return i;
      }
      used[m->use_stream[u]] = true;
      after = u;
      chained++;
    }
  }
  return chained == known ? HOLDS : ASHLAR_SLOTS;
}

/* The queue of each stream has all uses that have a number on it, ascending. */
static int64_t use_queues(const struct ashlar_manager *m)
{
  int32_t with_number = 0;
  int32_t queued = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    with_number += is_queued(m, u) ? 1 : 0;
  }
  for (int32_t s = 0; s < ASHLAR_STREAMS; s++) {
    int32_t last = -1;
    if (m->queue_head[s] < 0 || m->queue_head[s] > m->use_top) {
      return s;
    }
    for (int32_t u = m->queue_head[s] - 1; u != -1; u = m->use_next[u]) {
      if (u < 0 || u >= m->use_top || !is_queued(m, u) || m->use_stream[u] != s ||
          (last != -1 && m->use_number[u] <= m->use_number[last])) {
        return s;
      }
      last = u;
      queued++;
    }
    if (m->queue_tail[s] != last + 1 || m->completed[s] > m->submitted[s] ||
        (last != -1 && m->use_number[last] > m->submitted[s])) {
      return s;
    }
  }
  return queued == with_number ? HOLDS : ASHLAR_STREAMS;
}

/* --- private pools and scopes --- */

static bool is_pool(const struct ashlar_manager *m, int32_t p)
{
  return m->pool_state[p] != ASHLAR_POOL_UNUSED;
}

static int64_t pools_in_range(const struct ashlar_manager *m)
{
  if (m->pool_top < 0 || m->pool_top > ASHLAR_PRIVATE_POOLS || is_pool(m, 0)) {
    return 0;
  }
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (m->pool_state[p] >= ASHLAR_POOL_STATES || (p > m->pool_top && is_pool(m, p))) {
      return p;
    }
  }
  return HOLDS;
}

/* A pool has users exactly while it is live; without them no block of it is kept whole.
   Oracle: REQ-POOL-count. */
static int64_t pools_counted(const struct ashlar_manager *m)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    const bool live = m->pool_state[p] == ASHLAR_POOL_LIVE;
    if (live != (m->pool_uses[p] > 0) || (!live && m->pool_no_split[p] != 0)) {
      return p;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-POOL-freeable. */
static int64_t pools_ended(const struct ashlar_manager *m)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (!is_pool(m, p) && ((p > 0 && m->pool_segments[p] > 0) || m->pool_use_on_oom[p] != 0 ||
                           m->scope_serial[p] > 0)) {
      return p;
    }
  }
  return HOLDS;
}

/* Whether the entries that count have different numbers of [1, last]. */
static int64_t numbered(const uint64_t *serial, const bool *counts, uint64_t last)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (counts[p] && (serial[p] == 0 || serial[p] > last)) {
      return p;
    }
    for (int32_t q = 0; q < p; q++) {
      if (counts[p] && counts[q] && serial[p] == serial[q]) {
        return p;
      }
    }
  }
  return HOLDS;
}

static int64_t pools_ordered(const struct ashlar_manager *m)
{
  bool counts[ASHLAR_POOL_NUMBERS];
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    counts[p] = is_pool(m, p);
  }
  return numbered(m->pool_serial, counts, m->pool_serials);
}

/* Oracle: REQ-POOL-scope. */
static int64_t scopes_ordered(const struct ashlar_manager *m)
{
  bool counts[ASHLAR_POOL_NUMBERS];
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    counts[p] = m->scope_serial[p] > 0;
  }
  return numbered(m->scope_serial, counts, m->scope_serials);
}

/* No clock can run over: what was submitted, and what waits for it, was recorded before. Oracle: REQ-CAPACITY-others. */
static int64_t clocks_bounded(const struct ashlar_manager *m)
{
  uint64_t waiting = 0;
  for (int32_t s = 0; s < ASHLAR_STREAMS; s++) {
    if (m->submitted[s] > m->use_submissions) {
      return s;
    }
  }
  for (int32_t u = 0; u < m->use_top; u++) {
    waiting += is_use(m, u) && !is_queued(m, u) ? 1 : 0;
  }
  return m->use_submissions <= m->use_serials && waiting <= m->use_serials - m->use_submissions
             ? HOLDS
             : ASHLAR_STREAMS;
}

const struct ashlar_core_clause ashlar_core_use_clauses[] = {
    {ASHLAR_CORE_STREAMS, "streams_in_range", streams_in_range},
    {ASHLAR_CORE_STREAMS, "streams_sorted", streams_sorted},
    {ASHLAR_CORE_STREAMS, "streams_distinct", streams_distinct},
    {ASHLAR_CORE_USES, "uses_in_range", uses_in_range},
    {ASHLAR_CORE_USES, "uses_spare", uses_spare},
    {ASHLAR_CORE_USES, "serials_distinct", serials_distinct},
    {ASHLAR_CORE_USES, "use_chains", use_chains},
    {ASHLAR_CORE_USES, "use_queues", use_queues},
    {ASHLAR_CORE_USES, "clocks_bounded", clocks_bounded},
    {ASHLAR_CORE_POOLS, "pools_in_range", pools_in_range},
    {ASHLAR_CORE_POOLS, "pools_counted", pools_counted},
    {ASHLAR_CORE_POOLS, "pools_ended", pools_ended},
    {ASHLAR_CORE_POOLS, "pools_ordered", pools_ordered},
    {ASHLAR_CORE_POOLS, "scopes_ordered", scopes_ordered},
    {0, NULL, NULL},
};
