/* pools.c - private pools, and the scopes that route requests to them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

bool model_private(const struct model *m, int32_t pool)
{
  return 0 < pool && pool < MODEL_POOLS && m->pool[pool].used;
}

/* REQ-POOL-count, REQ-CAPACITY-others. */
struct model_registration model_pool_create(struct model *m, uint32_t allocator)
{
  for (int32_t i = 1; i < MODEL_POOLS; i++) {
    if (!m->pool[i].used) {
      m->time++;
      m->pools = i >= m->pools ? i + 1 : m->pools;
      m->pool[i] =
          (struct model_pool){.used = true, .allocator = allocator, .users = 1, .created = m->time};
      return (struct model_registration){MODEL_OK, i};
    }
  }
  return (struct model_registration){MODEL_ERROR_POOLS, -1};
}

/* REQ-POOL-count. */
enum model_status model_pool_retain(struct model *m, int32_t pool)
{
  if (!model_private(m, pool) || m->pool[pool].users == 0) {
    return MODEL_ERROR_POOL;
  }
  if (m->pool[pool].users == UINT32_MAX) {
    return MODEL_ERROR_COUNT;
  }
  m->pool[pool].users++;
  return MODEL_OK;
}

/* REQ-POOL-count: without users the pool is freeable, and its blocks may be split. */
enum model_status model_pool_release(struct model *m, int32_t pool)
{
  if (!model_private(m, pool) || m->pool[pool].users == 0) {
    return MODEL_ERROR_POOL;
  }
  m->pool[pool].users--;
  m->pool[pool].no_split = m->pool[pool].no_split && m->pool[pool].users > 0;
  model_end_pools(m);
  return MODEL_OK;
}

/* REQ-LADDER-fallback. */
enum model_status model_pool_set_use_on_oom(struct model *m, int32_t pool, bool on)
{
  if (!model_private(m, pool)) {
    return MODEL_ERROR_POOL;
  }
  m->pool[pool].use_on_oom = on;
  return MODEL_OK;
}

/* REQ-POOL-nosplit. */
enum model_status model_pool_set_no_split(struct model *m, int32_t pool)
{
  if (!model_private(m, pool) || m->pool[pool].users == 0) {
    return MODEL_ERROR_POOL;
  }
  m->pool[pool].no_split = true;
  return MODEL_OK;
}

/* The private pool that was created next after another, the first for 0; -1: none. */
int32_t model_next_pool(const struct model *m, int32_t pool)
{
  int32_t next = -1;
  for (int32_t i = 1; i < m->pools; i++) {
    if (m->pool[i].used && m->pool[i].created > m->pool[pool].created &&
        (next == -1 || m->pool[i].created < m->pool[next].created)) {
      next = i;
    }
  }
  return next;
}

/* REQ-POOL-scope: the pool is acquired first, in `faithful` also where the scope is refused. */
enum model_status model_scope_open(struct model *m, int32_t pool, uint64_t thread, int32_t stream)
{
  if (!model_private(m, pool) || m->pool[pool].users == 0) {
    return MODEL_ERROR_POOL;
  }
  if (m->pool[pool].users == UINT32_MAX) {
    return MODEL_ERROR_COUNT;
  }
  if (stream < -1 || stream >= m->streams) { /* one that is gone makes no requests */
    return MODEL_ERROR_STREAM;
  }
  const bool twice = m->pool[pool].scope.open;
  m->pool[pool].users += twice && m->config.policy != MODEL_FAITHFUL ? 0 : 1;
  if (twice) {
    return MODEL_ERROR_SCOPE;
  }
  m->time++;
  m->pool[pool].scope = (struct model_scope){true, thread, stream, m->time};
  return MODEL_OK;
}

/* REQ-POOL-scope: the pool is not released by this. */
enum model_status model_scope_close(struct model *m, int32_t pool)
{
  if (!model_private(m, pool)) {
    return MODEL_ERROR_POOL;
  }
  if (!m->pool[pool].scope.open) {
    return MODEL_ERROR_SCOPE;
  }
  m->pool[pool].scope.open = false;
  model_end_pools(m);
  return MODEL_OK;
}

/* The pool of a request: that of the newest scope that applies to it, or the default pool. REQ-POOL-scope. */
int32_t model_route(const struct model *m, int32_t stream, struct model_caller caller)
{
  uint64_t newest = 0;
  int32_t pool = 0;
  for (int32_t i = 1; i < m->pools; i++) {
    const struct model_scope scope = m->pool[i].scope;
    const bool applies = m->pool[i].used && scope.open &&
                         (scope.thread == 0 || scope.thread == caller.thread) &&
                         (scope.stream == -1 || scope.stream == stream);
    if (applies && scope.opened > newest) {
      newest = scope.opened;
      pool = i;
    }
  }
  return pool;
}

/* Whether users, a scope, a segment or a request lead to the pool. */
static bool needed(const struct model *m, int32_t pool)
{
  bool found = m->pool[pool].users > 0 || m->pool[pool].scope.open;
  for (int32_t i = 0; i < m->segments && !found; i++) {
    found = m->segment[i].used && m->segment[i].pool == pool;
  }
  for (int32_t i = 0; i < MODEL_REQUESTS && !found; i++) {
    found = m->request[i].used && m->request[i].want.pool == pool;
  }
  return found;
}

/* A pool ends when it is freeable and nothing leads to it any more. REQ-POOL-freeable. */
void model_end_pools(struct model *m)
{
  for (int32_t pool = 1; pool < m->pools; pool++) {
    m->pool[pool].used = m->pool[pool].used && needed(m, pool);
  }
}
