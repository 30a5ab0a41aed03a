/* size_policy.h - every rounding of a size: block size, pool class, device allocation size, split rules.
 *
 * Pure functions of numbers, total for all 64-bit inputs unless a `requires` says otherwise. All sizes are bytes.
 * Requirement: REQ-SIZE (and the limits that REQ-BESTFIT names).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_SIZE_POLICY_H
#define ASHLAR_CORE_SIZE_POLICY_H

#include <stdint.h>
#include "core/manager.h"
#include "spec/size_policy.h"

#define ASHLAR_GRANULE 512U           /* block sizes and addresses are multiples of this */
#define ASHLAR_SMALL_LIMIT 1048576U   /* largest rounded size of the small pool, inclusive */
#define ASHLAR_SMALL_SEGMENT 2097152U /* device allocation for small requests */
#define ASHLAR_LARGE_EXACT 10485760U  /* from here on a device allocation follows the request */
#define ASHLAR_LARGE_STEP 2097152U    /* and is rounded up to a multiple of this */
#define ASHLAR_DEFAULT_LARGE_SEGMENT 20971520U  /* device allocation for requests between the two */
#define ASHLAR_MAX_REQUEST 1152921504606846975U /* 2^60 - 1: larger requests are refused */

/* Row of the division table that governs a size: 0 below 2 MiB, then one row for each power of two, 15 from 32 GiB.
   O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_row: 0 <= \result <= 15;
    ensures REQ_SIZE_row_low: \result > 0 ==> pow2(20 + \result) <= bytes;
    ensures REQ_SIZE_row_high: \result < 15 ==> bytes < pow2(21 + \result);
*/
uint32_t ashlar_division_row(uint64_t bytes);

/* 1 where the table may hold d: 0 (off) or a power of two. O(log d). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_division: \result != 0 <==> valid_division(d);
    ensures bool: \result == 0 || \result == 1;
*/
int ashlar_division_valid(uint32_t d);

/* Size of the block for a request: the least multiple of 512 (512 for smaller requests), or, with d >= 2 divisions and
   bytes > 512 * d, the least multiple of 2^floor(log2 bytes) / d. 0 where bytes exceeds ASHLAR_MAX_REQUEST.
   O(log bytes) with divisions, else O(1). */
/*@ requires division: valid_division(d);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_refused: \result == 0 <==> bytes > ASHLAR_MAX_REQUEST;
    ensures REQ_SIZE_enough: \result != 0 ==> bytes <= \result;
    ensures REQ_SIZE_bound: \result <= 2305843009213693952;
    ensures REQ_SIZE_granule: \result % 512 == 0;
    ensures REQ_SIZE_least: \result != 0 ==> 0 < bytes ==> (d < 2 || bytes <= 512 * d) ==>
      rounds_up_to(\result, bytes, 512);
    ensures REQ_SIZE_zero: bytes == 0 ==> \result == 512;
    ensures REQ_SIZE_divided: \result != 0 ==> 2 <= d ==> bytes > 512 * d ==>
      \exists integer k; 0 <= k && pow2(k) <= bytes < pow2(k + 1) &&
        \exists integer step; step * d == pow2(k) && rounds_up_to(\result, bytes, step);
*/
uint64_t ashlar_round_size(uint64_t bytes, uint32_t d);

/* Pool of a rounded size. O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_POOL_class: \result == (size <= ASHLAR_SMALL_LIMIT ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE);
*/
int32_t ashlar_pool_class(uint64_t size);

/* Bytes to ask of the device for a rounded size; never less than `size`. O(1). */
/*@ requires size: size <= 2305843009213693952;
    requires segment: ASHLAR_LARGE_EXACT <= large_segment;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_segment_enough: size <= \result;
    ensures REQ_SIZE_segment_granule: large_segment % ASHLAR_GRANULE == 0 ==> \result % ASHLAR_GRANULE == 0;
    ensures REQ_SIZE_segment_small: size <= ASHLAR_SMALL_LIMIT ==> \result == ASHLAR_SMALL_SEGMENT;
    ensures REQ_SIZE_segment_medium: ASHLAR_SMALL_LIMIT < size < ASHLAR_LARGE_EXACT ==> \result == large_segment;
    ensures REQ_SIZE_segment_large: ASHLAR_LARGE_EXACT <= size ==> rounds_up_to(\result, size, ASHLAR_LARGE_STEP);
*/
uint64_t ashlar_segment_size(uint64_t size, uint64_t large_segment);

/* 1 where a free block of `size` bytes may serve a request of `want` rounded bytes under the split limit. O(1). */
/*@ requires want <= size;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_oversize: \result != 0 <==> within_split_limit(want, size, limit, slack);
    ensures bool: \result == 0 || \result == 1;
*/
int ashlar_may_serve(uint64_t want, uint64_t size, uint64_t limit, uint64_t slack);

/* 1 where the rest of a block of `whole` bytes behind a request of `want` bytes becomes a block of its own. O(1). */
/*@ requires want <= whole;
    requires pool == ASHLAR_CLASS_SMALL || pool == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_split: \result != 0 <==> splits_off(pool, whole, want, limit);
    ensures bool: \result == 0 || \result == 1;
*/
int ashlar_should_split(int32_t pool, uint64_t whole, uint64_t want, uint64_t limit);

#endif
