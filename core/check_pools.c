/* check_pools.c - see check.h: private pools and scopes, of which there are so few that pairs are compared.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

/*@ requires \valid(m);
    requires number: 0 <= p < ASHLAR_POOL_NUMBERS;
    READS
    ensures pool: \result != 0 <==> m->pool_state[p] != ASHLAR_POOL_UNUSED;
*/
static int is_pool(const struct ashlar_manager *m, int32_t p)
{
  return m->pool_state[p] != ASHLAR_POOL_UNUSED;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_in_range(m->pool_top, m->pool_state, m->pool_segments))
*/
static int32_t pools_in_range(const struct ashlar_manager *m)
{
  int32_t p = 0;
  if (m->pool_top < 0 || m->pool_top >= ASHLAR_POOL_NUMBERS || is_pool(m, 0)) {
    return 0;
  }
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==>
        m->pool_state[q] < ASHLAR_POOL_STATES && (m->pool_top < q ==> m->pool_state[q] == ASHLAR_POOL_UNUSED);
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_state[p] >= ASHLAR_POOL_STATES || (p > m->pool_top && is_pool(m, p))) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_counted(m->pool_state, m->pool_uses))
*/
static int32_t pools_counted(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==>
        (m->pool_state[q] == ASHLAR_POOL_LIVE <==> 0 < m->pool_uses[q]);
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if ((m->pool_state[p] == ASHLAR_POOL_LIVE) != (m->pool_uses[p] > 0)) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_ended(m->pool_state, m->pool_segments, m->pool_use_on_oom, m->scope_serial))
*/
static int32_t pools_ended(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> m->pool_state[q] == ASHLAR_POOL_UNUSED ==>
        (0 < q ==> m->pool_segments[q] == 0) && m->pool_use_on_oom[q] == 0 && m->scope_serial[q] == 0;
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (!is_pool(m, p) && ((p > 0 && m->pool_segments[p] != 0) || m->pool_use_on_oom[p] != 0 ||
                           m->scope_serial[p] != 0)) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_whole(m->pool_state, m->pool_no_split))
*/
static int32_t pools_whole(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> m->pool_no_split[q] != 0 ==>
        m->pool_state[q] == ASHLAR_POOL_LIVE;
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->pool_no_split[p] != 0 && m->pool_state[p] != ASHLAR_POOL_LIVE) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_created(m->pool_state, m->pool_serial, m->pool_serials))
*/
static int32_t pools_created(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> m->pool_state[q] != ASHLAR_POOL_UNUSED ==>
        0 < m->pool_serial[q] <= m->pool_serials;
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    uint64_t serial = m->pool_serial[p];
    if (is_pool(m, p) && (serial == 0 || serial > m->pool_serials)) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Whether a pool before this one has its serial. */
/*@ requires \valid(m);
    requires number: 0 <= p < ASHLAR_POOL_NUMBERS;
    READS
    ensures again: \result == 0 <==> \forall integer q; 0 <= q < p ==> m->pool_state[q] != ASHLAR_POOL_UNUSED ==>
      m->pool_serial[q] != m->pool_serial[p];
*/
static int is_created_again(const struct ashlar_manager *m, int32_t p)
{
  int32_t q = 0;
  /*@ loop invariant place: 0 <= q <= p;
      loop invariant passed: \forall integer r; 0 <= r < q ==> m->pool_state[r] != ASHLAR_POOL_UNUSED ==>
        m->pool_serial[r] != m->pool_serial[p];
      loop assigns q;
      loop variant p - q;
  */
  while (q < p && (!is_pool(m, q) || m->pool_serial[q] != m->pool_serial[p])) {
    q++;
  }
  return q < p;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, pools_distinct(m->pool_state, m->pool_serial))
*/
static int32_t pools_distinct(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> \forall integer r; 0 <= r < p ==>
        m->pool_state[q] != ASHLAR_POOL_UNUSED ==> m->pool_state[r] != ASHLAR_POOL_UNUSED ==> q != r ==>
        m->pool_serial[q] != m->pool_serial[r];
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (is_pool(m, p) && is_created_again(m, p)) {
      return p;
    }
    p++;
  }
  return -1;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, scopes_opened(m->scope_serial, m->scope_serials))
*/
static int32_t scopes_opened(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> m->scope_serial[q] <= m->scope_serials;
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
  while (p < ASHLAR_POOL_NUMBERS) {
    if (m->scope_serial[p] > m->scope_serials) {
      return p;
    }
    p++;
  }
  return -1;
}

/* Whether the scope of a pool before this one has its serial. */
/*@ requires \valid(m);
    requires number: 0 <= p < ASHLAR_POOL_NUMBERS;
    READS
    ensures again: \result == 0 <==> \forall integer q; 0 <= q < p ==> m->scope_serial[q] != m->scope_serial[p];
*/
static int is_opened_again(const struct ashlar_manager *m, int32_t p)
{
  int32_t q = 0;
  /*@ loop invariant place: 0 <= q <= p;
      loop invariant passed: \forall integer r; 0 <= r < q ==> m->scope_serial[r] != m->scope_serial[p];
      loop assigns q;
      loop variant p - q;
  */
  while (q < p && m->scope_serial[q] != m->scope_serial[p]) {
    q++;
  }
  return q < p;
}

/*@ requires \valid(m);
    CHECKS(ASHLAR_POOL_NUMBERS - 1, scopes_distinct(m->scope_serial))
*/
static int32_t scopes_distinct(const struct ashlar_manager *m)
{
  int32_t p = 0;
  /*@ loop invariant place: 0 <= p <= ASHLAR_POOL_NUMBERS;
      loop invariant passed: \forall integer q; 0 <= q < p ==> \forall integer r; 0 <= r < p ==>
        0 < m->scope_serial[q] ==> q != r ==> m->scope_serial[q] != m->scope_serial[r];
      loop assigns p;
      loop variant ASHLAR_POOL_NUMBERS - p;
  */
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
