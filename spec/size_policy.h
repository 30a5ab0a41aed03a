/* size_policy.h (ACSL only) - the arithmetic of sizes: powers of two, multiples, the size rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_SIZE_POLICY_H
#define ASHLAR_SPEC_SIZE_POLICY_H
/*@
  logic integer pow2(integer k) = k <= 0 ? 1 : 2 * pow2(k - 1);

  // 0 and 1 switch the division of a size range off
  predicate valid_division(integer d) =
    d == 0 || (\exists integer j; 0 <= j <= 31 && d == pow2(j));

  // r is the least multiple of q that is at least n
  predicate multiple(integer r, integer q) = \exists integer k; r == k * q;
  predicate rounds_up_to(integer r, integer n, integer q) = n <= r < n + q && multiple(r, q);
  // the greatest that is at most n
  predicate rounds_down_to(integer r, integer n, integer q) = r <= n < r + q && multiple(r, q);

  // a block of `size` bytes may serve a request of `want` bytes, given the split limit and its slack
  predicate within_split_limit(integer want, integer size, integer limit, integer slack) =
    want < limit ? size < limit : size < want + slack;

  // the rest behind `want` bytes of a block of `size` bytes becomes a block of its own
  predicate splits_off(integer pool, integer size, integer want, integer limit) =
    pool == 0 ? size - want >= 512 : want < limit && size - want > 1048576;
*/
#endif
