/* check_state.c - see check.h: what holds between blocks, map, uses, streams and pools.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"

static int is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

static int32_t map_allocated(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->in_map[i] > 1 || (m->in_map[i] == 1) != (m->state[i] == ASHLAR_ALLOCATED)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t none_taken(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_TAKEN) {
      return i;
    }
    i++;
  }
  return -1;
}

/* --- spec/pending.h --- */

static int32_t uses_had(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t i = m->use_block[u];
    if (i != -1 &&
        (i >= m->top || (m->state[i] != ASHLAR_ALLOCATED && m->state[i] != ASHLAR_PENDING))) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t submitted_pending(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t i = m->use_block[u];
    if (i != -1 && m->use_number[u] > 0 && m->state[i] != ASHLAR_PENDING) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t pending_used(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_PENDING && m->first_use[i] == 0) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t deferral_first(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t i = m->use_block[u];
    if (i != -1 && m->state[i] == ASHLAR_ALLOCATED && m->use_more[u] == -1 &&
        m->use_stream[u] != ASHLAR_STREAM_DEFERRED) {
      return u;
    }
    u++;
  }
  return -1;
}

/* The first use of a block, beside one, that is submitted; -1: none. */
static int32_t submitted_beside(const struct ashlar_manager *m, int32_t use)
{
  int32_t u = m->first_use[m->use_block[use]] - 1;
  while (u != -1 && (u == use || m->use_number[u] == 0)) {
    u = m->use_more[u];
  }
  return u;
}

/* A chain has all uses of its block, and one of deferral at most: so each chain is walked once at most. */
static int32_t deferred_waits(const struct ashlar_manager *m)
{
  int32_t u = 0;
  int32_t broken = -1;
  while (u < m->use_top && broken == -1) {
    if (m->use_block[u] != -1 && m->use_stream[u] == ASHLAR_STREAM_DEFERRED &&
        m->use_number[u] > 0) {
      broken = submitted_beside(m, u);
    }
    u++;
  }
  return broken;
}

/* --- spec/block_manager.h --- */

static int32_t blocks_referenced(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->references[i] == 0) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t homes_listed(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (is_block(m, i) && ashlar_home_stream(m->home[i]) >= m->stream_count) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t homes_pooled(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t pool = is_block(m, i) ? ashlar_home_pool(m->home[i]) : 0;
    if (pool != 0 && m->pool_state[pool] == ASHLAR_POOL_UNUSED) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t ages_valid(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_FREE &&
        m->entered[i] > m->pool_searches[ashlar_home_pool_class(m->home[i])]) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t ages_created(const struct ashlar_manager *m)
{
  int by_age = m->config.order == ASHLAR_ORDER_SEGMENT;
  int32_t i = 0;
  while (i < m->top) {
    if (is_block(m, i) && (by_age ? m->age[i] >= m->segments_created : m->age[i] != 0)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int is_first(const struct ashlar_manager *m, int32_t i)
{
  return is_block(m, i) && m->prev[i] == -1;
}

static int32_t stream_segments(const struct ashlar_manager *m)
{
  uint64_t segments[ASHLAR_STREAMS] = {0};
  int32_t i = 0;
  int32_t s = 0;
  while (i < m->top) {
    if (is_first(m, i)) {
      segments[ashlar_home_stream(m->home[i])]++;
    }
    i++;
  }
  while (s < ASHLAR_STREAMS) {
    if (m->stream_segments[s] != segments[s]) {
      return s;
    }
    s++;
  }
  return -1;
}

static int32_t pool_segments(const struct ashlar_manager *m)
{
  uint64_t segments[ASHLAR_POOL_NUMBERS] = {0};
  int32_t i = 0;
  int32_t p = 0;
  while (i < m->top) {
    if (is_first(m, i)) {
      segments[ashlar_home_pool(m->home[i])]++;
    }
    i++;
  }
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_segments[p] != segments[p]) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Of streams and, behind them, of pools. */
static int32_t segments_counted(const struct ashlar_manager *m)
{
  int32_t s = 0;
  int32_t p = 0;
  while (s < ASHLAR_STREAMS) {
    if (m->stream_segments[s] > m->segments_created) {
      return s;
    }
    s++;
  }
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_segments[p] > m->segments_created) {
      return ASHLAR_STREAMS + p;
    }
    p++;
  }
  return -1;
}

int32_t ashlar_check_state(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_MAP_ALLOCATED:
    return map_allocated(m);
  case ASHLAR_CLAUSE_NONE_TAKEN:
    return none_taken(m);
  case ASHLAR_CLAUSE_USES_HAD:
    return uses_had(m);
  case ASHLAR_CLAUSE_SUBMITTED_PENDING:
    return submitted_pending(m);
  case ASHLAR_CLAUSE_PENDING_USED:
    return pending_used(m);
  case ASHLAR_CLAUSE_DEFERRAL_FIRST:
    return deferral_first(m);
  case ASHLAR_CLAUSE_DEFERRED_WAITS:
    return deferred_waits(m);
  case ASHLAR_CLAUSE_BLOCKS_REFERENCED:
    return blocks_referenced(m);
  case ASHLAR_CLAUSE_HOMES_LISTED:
    return homes_listed(m);
  case ASHLAR_CLAUSE_HOMES_POOLED:
    return homes_pooled(m);
  case ASHLAR_CLAUSE_AGES_VALID:
    return ages_valid(m);
  case ASHLAR_CLAUSE_AGES_CREATED:
    return ages_created(m);
  case ASHLAR_CLAUSE_STREAM_SEGMENTS:
    return stream_segments(m);
  case ASHLAR_CLAUSE_POOL_SEGMENTS:
    return pool_segments(m);
  case ASHLAR_CLAUSE_SEGMENTS_COUNTED:
    return segments_counted(m);
  default:
    return -1;
  }
}
