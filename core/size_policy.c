/* size_policy.c - see size_policy.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/size_policy.h"

/* What the proofs of this file use. */
/*@
  lemma pow2_plus_9: \forall integer j; 0 <= j ==> pow2(j + 9) == 512 * pow2(j);
  lemma pow2_21: pow2(21) == 2097152;
  lemma multiple_quotient: \forall integer n, q; 0 < q ==> multiple((n / q) * q, q);
*/

uint32_t ashlar_division_row(uint64_t bytes)
{
  uint32_t row = 0;
  uint64_t bound = 2097152;
  //@ ghost uint64_t left = 32768;
  /*@ loop invariant row: 0 <= row <= 15;
      loop invariant bound: bound == pow2(21 + row) && 2097152 <= bound;
      loop invariant limit: bound * left == 68719476736 && left == pow2(15 - row) && 1 <= left;
      loop invariant low: row > 0 ==> pow2(20 + row) <= bytes;
      loop assigns row, bound, left;
      loop variant 15 - row;
  */
  while (row < 15 && bytes >= bound) {
    //@ assert half: left == 2 * pow2(14 - row);
    //@ ghost left = left / 2;
    row++;
    bound *= 2;
  }
  return row;
}

int ashlar_division_valid(uint32_t d)
{
  uint64_t power = 1;
  if (d == 0) {
    return 1;
  }
  //@ ghost int k = 0;
  /*@ loop invariant k: 0 <= k <= 32 && power == pow2(k);
      loop invariant range: 1 <= power <= 4294967296;
      loop invariant room: k == 32 ==> power == 4294967296;
      loop invariant below: \forall integer j; 0 <= j < k ==> pow2(j) < d;
      loop invariant start: k == 0 || power < 2 * d;
      loop assigns k, power;
      loop variant 2 * d - power;
  */
  while (power < d) {
    power *= 2;
    //@ ghost k++;
  }
  /*@ ghost
    int above = k;
    /@ loop invariant above: k <= above <= 32;
       loop invariant larger: \forall integer j; k <= j <= above ==> pow2(k) <= pow2(j);
       loop assigns above;
       loop variant 32 - above;
    @/
    while (above < 32) above++;
  */
  return power == d;
}

/* greatest power of two that is at most bytes, divided by d, in granules of 512 bytes */
/*@ requires 2 <= d && valid_division(d);
    requires 512 * d < bytes <= ASHLAR_MAX_REQUEST;
    terminates \true; exits \false;
    assigns \nothing;
    ensures power: \exists integer k; 0 <= k && pow2(k) <= bytes < pow2(k + 1) && (512 * \result) * d == pow2(k);
    ensures range: 1 <= \result && 512 * \result <= bytes;
*/
static uint64_t division_granules(uint64_t bytes, uint32_t d)
{
  uint64_t granules = 1;
  uint64_t power = (uint64_t)512 * d;
  /*@ loop invariant power: (512 * granules) * d == power && power <= bytes;
      loop invariant exact: \exists integer k; 0 <= k && power == pow2(k);
      loop invariant range: 1 <= granules && 512 * granules <= power;
      loop assigns granules, power;
      loop variant bytes - power;
  */
  while (power <= bytes / 2) {
    power *= 2;
    granules *= 2;
  }
  return granules;
}

/* Counts in granules, so that the result is a multiple of 512 by its form and nobody needs to reason about products. */
/*@ requires 1 <= granules && 512 * granules <= ASHLAR_MAX_REQUEST;
    requires bytes <= 2305843009213693952;
    terminates \true; exits \false;
    assigns \nothing;
    ensures up: rounds_up_to(\result, bytes, 512 * granules);
    ensures granule: \result % 512 == 0;
*/
static uint64_t round_up(uint64_t bytes, uint64_t granules)
{
  uint64_t quantum = 512 * granules;
  uint64_t count = (bytes + (quantum - 1)) / quantum;
  //@ assert product: quantum * count <= bytes + (quantum - 1) < quantum * count + quantum;
  //@ assert multiple(count * quantum, quantum);
  return count * granules * 512;
}

uint64_t ashlar_round_size(uint64_t bytes, uint32_t d)
{
  if (bytes > ASHLAR_MAX_REQUEST) {
    return 0;
  }
  if (bytes < ASHLAR_GRANULE) {
    return ASHLAR_GRANULE;
  }
  if (d < 2 || bytes <= (uint64_t)ASHLAR_GRANULE * d) {
    return round_up(bytes, 1);
  }
  return round_up(bytes, division_granules(bytes, d));
}

int32_t ashlar_pool_class(uint64_t size)
{
  return size <= ASHLAR_SMALL_LIMIT ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
}

uint64_t ashlar_segment_size(uint64_t size, uint64_t large_segment)
{
  if (size <= ASHLAR_SMALL_LIMIT) {
    return ASHLAR_SMALL_SEGMENT;
  }
  if (size < ASHLAR_LARGE_EXACT) {
    return large_segment;
  }
  return round_up(size, ASHLAR_LARGE_STEP / ASHLAR_GRANULE);
}

int ashlar_may_serve(uint64_t want, uint64_t size, uint64_t limit, uint64_t slack)
{
  return want < limit ? size < limit : size - want < slack;
}

int ashlar_should_split(int32_t pool, uint64_t whole, uint64_t want, uint64_t limit)
{
  uint64_t rest = whole - want;
  if (pool == ASHLAR_CLASS_SMALL) {
    return rest >= ASHLAR_GRANULE;
  }
  return want < limit && rest > ASHLAR_SMALL_LIMIT;
}
