/* pool.c - see pool.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/pool.h"

/*@ ghost
  void ashlar_pools_open(const struct ashlar_manager *m) { ; }

  void ashlar_pools_close(const struct ashlar_manager *m) { ; }
*/

/* the lowest number that stands for no pool; ASHLAR_POOL_NUMBERS: all are taken */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 < \result <= m->pool_top + 1;
    ensures unused: \result < ASHLAR_POOL_NUMBERS ==> m->pool_state[\result] == ASHLAR_POOL_UNUSED;
    ensures below: \forall integer p; 0 < p < \result ==> m->pool_state[p] != ASHLAR_POOL_UNUSED;
*/
static int32_t lowest_unused(const struct ashlar_manager *m)
{
  //@ ghost ashlar_pools_open(m);
  int32_t pool = 1;
  /*@ loop invariant range: 0 < pool <= m->pool_top + 1;
      loop invariant below: \forall integer p; 0 < p < pool ==> m->pool_state[p] != ASHLAR_POOL_UNUSED;
      loop assigns pool;
      loop variant m->pool_top - pool;
  */
  while (pool <= m->pool_top && m->pool_state[pool] != ASHLAR_POOL_UNUSED) {
    pool++;
  }
  return pool;
}

int ashlar_pool_exists(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  return pool > 0 && pool < ASHLAR_POOL_NUMBERS && m->pool_state[pool] != ASHLAR_POOL_UNUSED;
}

/* whether the pool has users */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures used: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      m->pool_uses[pool] == 0 ? \result == ASHLAR_ERROR_POOL_RELEASED : \result == ASHLAR_OK;
*/
static enum ashlar_status used(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  if (!ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  return m->pool_uses[pool] == 0 ? ASHLAR_ERROR_POOL_RELEASED : ASHLAR_OK;
}

struct ashlar_pool_creation ashlar_pool_create(struct ashlar_manager *m, uint32_t allocator)
{
  //@ ghost ashlar_pools_open(m);
  struct ashlar_pool_creation result;
  int32_t pool = lowest_unused(m);
  result.status = ASHLAR_ERROR_POOLS;
  result.pool = 0;
  if (pool == ASHLAR_POOL_NUMBERS || m->pool_serials == UINT64_MAX) {
    return result;
  }
  if (pool > m->pool_top) {
    m->pool_top = pool;
  }
  m->pool_serials++;
  m->pool_serial[pool] = m->pool_serials;
  m->pool_state[pool] = ASHLAR_POOL_LIVE;
  m->pool_uses[pool] = 1;
  m->pool_allocator[pool] = allocator;
  result.status = ASHLAR_OK;
  result.pool = pool;
  //@ ghost ashlar_pools_close(m);
  return result;
}

enum ashlar_status ashlar_pool_acquire(struct ashlar_manager *m, int32_t pool, uint32_t allocator)
{
  //@ ghost ashlar_pools_open(m);
  enum ashlar_status status = used(m, pool);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (allocator != 0) {
    return ASHLAR_ERROR_POOL_ALLOCATOR;
  }
  if (m->pool_uses[pool] == UINT32_MAX) {
    return ASHLAR_ERROR_POOL_USES;
  }
  m->pool_uses[pool]++;
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_release(struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  enum ashlar_status status = used(m, pool);
  if (status != ASHLAR_OK) {
    return status;
  }
  m->pool_uses[pool]--;
  if (m->pool_uses[pool] == 0) {
    m->pool_state[pool] = ASHLAR_POOL_FREEABLE;
    m->pool_no_split[pool] = 0;
  }
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_end(struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  if (!ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  if (m->pool_state[pool] != ASHLAR_POOL_FREEABLE || m->pool_segments[pool] > 0 ||
      m->scope_serial[pool] > 0) {
    return ASHLAR_ERROR_POOL_BUSY;
  }
  m->pool_state[pool] = ASHLAR_POOL_UNUSED;
  m->pool_use_on_oom[pool] = 0;
  m->pool_allocator[pool] = 0;
  m->pool_serial[pool] = 0;
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_set_use_on_oom(struct ashlar_manager *m, int32_t pool, int on)
{
  //@ ghost ashlar_pools_open(m);
  if (!ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  m->pool_use_on_oom[pool] = on != 0 ? 1 : 0;
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_set_no_split(struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  enum ashlar_status status = used(m, pool);
  if (status == ASHLAR_OK) {
    m->pool_no_split[pool] = 1;
  }
  //@ ghost ashlar_pools_close(m);
  return status;
}

/* the first pool created behind `after` in the state and, where `marked`, with the mark to lend */
/*@ requires \valid(m); REQUIRES_POOLS
    requires state: state == ASHLAR_POOL_LIVE || state == ASHLAR_POOL_FREEABLE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures first: walk_next(*m, after, state, marked, own, \result);
*/
static int32_t next_in(const struct ashlar_manager *m, uint64_t after, uint8_t state, int marked,
                       int32_t own)
{
  //@ ghost ashlar_pools_open(m);
  int32_t found = 0;
  int32_t pool = 1;
  /*@ loop invariant range: 0 <= found < pool <= m->pool_top + 1;
      loop invariant found: 0 < found ==> walks(*m, found, state, marked, own) && after < m->pool_serial[found];
      loop invariant least: \forall integer p; 0 < p < pool ==> walks(*m, p, state, marked, own) ==>
        after < m->pool_serial[p] ==> 0 < found && m->pool_serial[found] <= m->pool_serial[p];
      loop assigns found, pool;
      loop variant m->pool_top - pool;
  */
  while (pool <= m->pool_top) {
    if (m->pool_state[pool] != ASHLAR_POOL_UNUSED &&
        ((m->pool_state[pool] == state && (!marked || m->pool_use_on_oom[pool] != 0)) ||
         pool == own) &&
        m->pool_serial[pool] > after &&
        (found == 0 || m->pool_serial[pool] < m->pool_serial[found])) {
      found = pool;
    }
    pool++;
  }
  return found;
}

int32_t ashlar_pool_next_freeable(const struct ashlar_manager *m, uint64_t after, int32_t own)
{
  //@ ghost ashlar_pools_open(m);
  return next_in(m, after, ASHLAR_POOL_FREEABLE, 0, own);
}

int32_t ashlar_pool_next_use_on_oom(const struct ashlar_manager *m, uint64_t after)
{
  //@ ghost ashlar_pools_open(m);
  return next_in(m, after, ASHLAR_POOL_LIVE, 1, 0);
}

enum ashlar_status ashlar_scope_open(struct ashlar_manager *m, int32_t pool, uint64_t thread,
                                     int32_t stream)
{
  //@ ghost ashlar_pools_open(m);
  enum ashlar_status status = used(m, pool);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (m->pool_uses[pool] == UINT32_MAX) {
    return ASHLAR_ERROR_POOL_USES;
  }
  if (stream < -1 || stream >= m->stream_count) {
    return ASHLAR_ERROR_STREAM;
  }
  if (m->scope_serial[pool] > 0) {
    if (m->config.policy == ASHLAR_POLICY_FAITHFUL) {
      m->pool_uses[pool]++;
    }
    return ASHLAR_ERROR_SCOPE_OPEN;
  }
  if (m->scope_serials == UINT64_MAX) {
    return ASHLAR_ERROR_SCOPES;
  }
  m->pool_uses[pool]++;
  m->scope_serials++;
  m->scope_serial[pool] = m->scope_serials;
  m->scope_thread[pool] = thread;
  m->scope_stream[pool] = stream;
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_scope_close(struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_pools_open(m);
  if (!ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  if (m->scope_serial[pool] == 0) {
    return ASHLAR_ERROR_SCOPE;
  }
  m->scope_serial[pool] = 0;
  //@ ghost ashlar_pools_close(m);
  return ASHLAR_OK;
}

/*@ requires \valid(m); REQUIRES_POOLS
    requires pool: 0 < pool < ASHLAR_POOL_NUMBERS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures applies: \result != 0 <==> scope_applies(*m, pool, thread, stream);
*/
static int applies(const struct ashlar_manager *m, int32_t pool, uint64_t thread, int32_t stream)
{
  //@ ghost ashlar_pools_open(m);
  return m->scope_serial[pool] > 0 &&
         (m->scope_thread[pool] == 0 || m->scope_thread[pool] == thread) &&
         (m->scope_stream[pool] == -1 || m->scope_stream[pool] == stream);
}

int32_t ashlar_scope_route(const struct ashlar_manager *m, uint64_t thread, int32_t stream)
{
  //@ ghost ashlar_pools_open(m);
  int32_t newest = 0;
  int32_t pool = 1;
  /*@ loop invariant range: 0 <= newest < pool <= m->pool_top + 1;
      loop invariant newest: 0 < newest ==> scope_applies(*m, newest, thread, stream);
      loop invariant last: \forall integer p; 0 < p < pool ==> scope_applies(*m, p, thread, stream) ==>
        0 < newest && m->scope_serial[p] <= m->scope_serial[newest];
      loop assigns newest, pool;
      loop variant m->pool_top - pool;
  */
  while (pool <= m->pool_top) {
    if (applies(m, pool, thread, stream) && m->scope_serial[pool] > m->scope_serial[newest]) {
      newest = pool;
    }
    pool++;
  }
  return newest;
}
