/* check_state.c - see check.h: what holds between blocks, map, uses, streams and pools.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"

/*@ requires \valid(m);
    requires slot: 0 <= i < ASHLAR_SLOTS;
    READS
    ensures block: \result != 0 <==> m->state[i] != ASHLAR_UNUSED;
*/
static int is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_MAP_ALLOCATED)
    CHECKS(m->top - 1, map_allocated(m->top, m->in_map, m->state))
*/
static int32_t map_allocated(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: map_allocated(i, m->in_map, m->state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->in_map[i] > 1 || (m->in_map[i] == 1) != (m->state[i] == ASHLAR_ALLOCATED)) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_NONE_TAKEN)
    CHECKS(m->top - 1, none_taken(m->top, m->state))
*/
static int32_t none_taken(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: none_taken(i, m->state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] == ASHLAR_TAKEN) {
      return i;
    }
    i++;
  }
  return -1;
}

/* --- spec/pending.h --- */

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_USES_HAD)
    CHECKS(m->use_top - 1, uses_had(m->top, m->use_top, m->use_block, m->state))
*/
static int32_t uses_had(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: uses_had(m->top, u, m->use_block, m->state);
      loop assigns u;
      loop variant m->use_top - u;
  */
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

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_SUBMITTED_PENDING)
    CHECKS(m->use_top - 1, submitted_pending(m->use_top, m->use_block, m->use_number, m->state))
*/
static int32_t submitted_pending(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: submitted_pending(u, m->use_block, m->use_number, m->state);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    int32_t i = m->use_block[u];
    if (i != -1 && m->use_number[u] > 0 && m->state[i] != ASHLAR_PENDING) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_PENDING_USED)
    CHECKS(m->top - 1, pending_used(m->top, m->state, m->first_use, -1))
*/
static int32_t pending_used(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: pending_used(i, m->state, m->first_use, -1);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] == ASHLAR_PENDING && m->first_use[i] == 0) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_DEFERRAL_FIRST)
    CHECKS(m->use_top - 1, deferral_first(m->use_top, m->use_block, m->use_more, m->use_stream, m->state))
*/
static int32_t deferral_first(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: deferral_first(u, m->use_block, m->use_more, m->use_stream, m->state);
      loop assigns u;
      loop variant m->use_top - u;
  */
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
/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_DEFERRED_WAITS)
    requires use: 0 <= use < m->use_top && 0 <= m->use_block[use];
    READS
    ensures index: -1 <= \result < m->use_top;
    ensures none: \result == -1 ==> \forall integer v; 0 <= v < m->use_top ==>
      m->use_block[v] == m->use_block[use] ==>
      v != use ==> m->use_number[v] == 0;
    ensures some: \result != -1 ==> m->use_block[\result] == m->use_block[use] && \result != use &&
      m->use_number[\result] != 0;
*/
static int32_t submitted_beside(const struct ashlar_manager *m, int32_t use)
{
  int32_t u = m->first_use[m->use_block[use]] - 1;
  /*@ loop invariant use: -1 <= u < m->use_top && (u != -1 ==> m->use_block[u] == m->use_block[use]);
      loop invariant passed: \forall integer v; 0 <= v < m->use_top ==> m->use_block[v] == m->use_block[use] ==>
        u == -1 || m->use_serial[u] < m->use_serial[v] ==> v != use ==> m->use_number[v] == 0;
      loop assigns u;
      loop variant u == -1 ? 0 : m->use_serial[u];
  */
  while (u != -1 && (u == use || m->use_number[u] == 0)) {
    u = m->use_more[u];
  }
  return u;
}

/* A chain has all uses of its block, and one of deferral at most: so each chain is walked once at most. */
/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_DEFERRED_WAITS)
    CHECKS(m->use_top - 1, deferred_waits(m->use_top, m->use_block, m->use_number, m->use_stream))
*/
static int32_t deferred_waits(const struct ashlar_manager *m)
{
  int32_t u = 0;
  int32_t broken = -1;
  /*@ loop invariant record: 0 <= u <= m->use_top;
      loop invariant index: -1 <= broken < m->use_top;
      loop invariant broken: broken != -1 ==> !deferred_waits(m->use_top, m->use_block, m->use_number, m->use_stream);
      loop invariant passed: broken == -1 ==> \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==>
        m->use_stream[w] == ASHLAR_STREAM_DEFERRED ==> 0 < m->use_number[w] ==>
        \forall integer v; 0 <= v < m->use_top ==>
        m->use_block[v] == m->use_block[w] ==> v != w ==> m->use_number[v] == 0;
      loop assigns u, broken;
      loop variant m->use_top - u;
  */
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

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_BLOCKS_REFERENCED)
    CHECKS(m->top - 1, blocks_referenced(m->top, m->state, m->references))
*/
static int32_t blocks_referenced(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: blocks_referenced(i, m->state, m->references);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->references[i] == 0) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_HOMES_LISTED)
    CHECKS(m->top - 1, homes_listed(m->top, m->state, m->home, m->stream_count))
*/
static int32_t homes_listed(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: homes_listed(i, m->state, m->home, m->stream_count);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_block(m, i) && ashlar_home_stream(m->home[i]) >= m->stream_count) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_HOMES_POOLED)
    CHECKS(m->top - 1, homes_pooled(m->top, m->state, m->home, m->pool_state))
*/
static int32_t homes_pooled(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: homes_pooled(i, m->state, m->home, m->pool_state);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    int32_t pool = is_block(m, i) ? ashlar_home_pool(m->home[i]) : 0;
    if (pool != 0 && m->pool_state[pool] == ASHLAR_POOL_UNUSED) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_AGES_VALID)
    CHECKS(m->top - 1, ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches))
*/
static int32_t ages_valid(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: ages_valid(i, m->state, m->home, m->entered, m->pool_searches);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] == ASHLAR_FREE &&
        m->entered[i] > m->pool_searches[ashlar_home_pool_class(m->home[i])]) {
      return i;
    }
    i++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_AGES_CREATED)
    CHECKS(m->top - 1, ages_created(m->top, m->state, m->age, m->config.order, m->segments_created))
*/
static int32_t ages_created(const struct ashlar_manager *m)
{
  int by_age = m->config.order == ASHLAR_ORDER_SEGMENT;
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: ages_created(i, m->state, m->age, m->config.order, m->segments_created);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_block(m, i) && (by_age ? m->age[i] >= m->segments_created : m->age[i] != 0)) {
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

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_STREAM_SEGMENTS)
    CHECKS(ASHLAR_STREAMS - 1, stream_segments(m->stream_segments, m->state, m->prev, m->home, m->top))
*/
static int32_t stream_segments(const struct ashlar_manager *m)
{
  uint64_t segments[ASHLAR_STREAMS] = {0};
  int32_t i = 0;
  int32_t s = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant counted: \forall integer k; 0 <= k < ASHLAR_STREAMS ==> 0 <= segments[k] <= i &&
        segments[k] == stream_heads(m->state, m->prev, m->home, k, i);
      loop assigns i, segments[0 .. ASHLAR_STREAMS - 1];
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_first(m, i)) {
      segments[ashlar_home_stream(m->home[i])]++;
    }
    i++;
  }
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer k; 0 <= k < s ==> m->stream_segments[k] == segments[k];
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    if (m->stream_segments[s] != segments[s]) {
      return s;
    }
    s++;
  }
  return -1;
}

/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_POOL_SEGMENTS)
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pool_segments(m->pool_segments, m->state, m->prev, m->home, m->top))
*/
static int32_t pool_segments(const struct ashlar_manager *m)
{
  uint64_t segments[ASHLAR_POOL_NUMBERS] = {0};
  int32_t i = 0;
  int32_t p = 0;
  /*@ loop invariant slot: 0 <= i <= m->top;
      loop invariant counted: \forall integer k; 0 <= k < ASHLAR_POOL_NUMBERS ==> 0 <= segments[k] <= i &&
        segments[k] == pool_heads(m->state, m->prev, m->home, k, i);
      loop assigns i, segments[0 .. ASHLAR_POOL_NUMBERS - 1];
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (is_first(m, i)) {
      segments[ashlar_home_pool(m->home[i])]++;
    }
    i++;
  }
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer k; 0 <= k < p ==> m->pool_segments[k] == segments[k];
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_segments[p] != segments[p]) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Of streams and, behind them, of pools. */
/*@ requires \valid(m); STATE_BEFORE(ASHLAR_CLAUSE_SEGMENTS_COUNTED)
    CHECKS(ASHLAR_STREAMS + ASHLAR_POOL_NUMBERS - 1, segments_counted(m->segments_created, m->stream_segments, m->pool_segments))
*/
static int32_t segments_counted(const struct ashlar_manager *m)
{
  int32_t s = 0;
  int32_t p = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer k; 0 <= k < s ==> m->stream_segments[k] <= m->segments_created;
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    if (m->stream_segments[s] > m->segments_created) {
      return s;
    }
    s++;
  }
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer k; 0 <= k < p ==> m->pool_segments[k] <= m->segments_created;
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
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
