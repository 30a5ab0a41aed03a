/* check_pools.c - see check.h: private pools and scopes, of which there are so few that pairs are compared.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

static int is_pool(const struct ashlar_manager *m, int32_t p)
{
  return m->pool_state[p] != ASHLAR_POOL_UNUSED;
}

static int32_t pools_in_range(const struct ashlar_manager *m)
{
  int32_t p = 0;
  if (m->pool_top < 0 || m->pool_top >= ASHLAR_POOL_NUMBERS || is_pool(m, 0)) {
    return 0;
  }
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_state[p] >= ASHLAR_POOL_STATES || (p > m->pool_top && is_pool(m, p))) {
      return p;
    }
    p++;
  }
  return -1;
}

static int32_t pools_counted(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if ((m->pool_state[p] == ASHLAR_POOL_LIVE) != (m->pool_uses[p] > 0)) {
      return p;
    }
    p++;
  }
  return -1;
}

static int32_t pools_ended(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (!is_pool(m, p) && ((p > 0 && m->pool_segments[p] != 0) || m->pool_use_on_oom[p] != 0 ||
                           m->scope_serial[p] != 0)) {
      return p;
    }
    p++;
  }
  return -1;
}

static int32_t pools_whole(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_no_split[p] != 0 && m->pool_state[p] != ASHLAR_POOL_LIVE) {
      return p;
    }
    p++;
  }
  return -1;
}

static int32_t pools_created(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (is_pool(m, p) && (m->pool_serial[p] == 0 || m->pool_serial[p] > m->pool_serials)) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Whether a pool before this one has its serial. */
static int is_created_again(const struct ashlar_manager *m, int32_t p)
{
  int32_t q = 0;
  while (q < p && (!is_pool(m, q) || m->pool_serial[q] != m->pool_serial[p])) {
    q++;
  }
  return q < p;
}

static int32_t pools_distinct(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (is_pool(m, p) && is_created_again(m, p)) {
      return p;
    }
    p++;
  }
  return -1;
}

static int32_t scopes_opened(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->scope_serial[p] > m->scope_serials) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Whether the scope of a pool before this one has its serial. */
static int is_opened_again(const struct ashlar_manager *m, int32_t p)
{
  int32_t q = 0;
  while (q < p && m->scope_serial[q] != m->scope_serial[p]) {
    q++;
  }
  return q < p;
}

static int32_t scopes_distinct(const struct ashlar_manager *m)
{
  int32_t p = 0;
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->scope_serial[p] > 0 && is_opened_again(m, p)) {
      return p;
    }
    p++;
  }
  return -1;
}

int32_t ashlar_check_pools(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_POOLS_IN_RANGE:
    return pools_in_range(m);
  case ASHLAR_CLAUSE_POOLS_COUNTED:
    return pools_counted(m);
  case ASHLAR_CLAUSE_POOLS_ENDED:
    return pools_ended(m);
  case ASHLAR_CLAUSE_POOLS_WHOLE:
    return pools_whole(m);
  case ASHLAR_CLAUSE_POOLS_CREATED:
    return pools_created(m);
  case ASHLAR_CLAUSE_POOLS_DISTINCT:
    return pools_distinct(m);
  case ASHLAR_CLAUSE_SCOPES_OPENED:
    return scopes_opened(m);
  case ASHLAR_CLAUSE_SCOPES_DISTINCT:
    return scopes_distinct(m);
  default:
    return -1;
  }
}
