/* check_clauses.h - what check.c runs: one function a group of clauses, which gives the first entry where a clause is
 * broken, -1 where it holds or is of another group.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_CHECK_CLAUSES_H
#define ASHLAR_CORE_CHECK_CLAUSES_H

#include "core/check.h"

/* What one clause costs is named in check.h: linear in the slots, uses, buckets, streams and counters, or in pairs of
   pools; of segments, and of uses, pairs batch by batch. */
/*@ requires \valid(m); BLOCKS_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS;
    ensures REQ_VALID_blocks: \result == -1 <==> blocks_checked(*m, clause + 1);
*/
int32_t ashlar_check_blocks(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); MAP_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS;
    ensures REQ_VALID_map: \result == -1 <==> map_checked(*m, clause + 1);
*/
int32_t ashlar_check_map(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); USES_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS + ASHLAR_USES + ASHLAR_STREAMS;
    ensures REQ_VALID_uses: \result == -1 <==> uses_checked(*m, clause + 1);
*/
int32_t ashlar_check_uses(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); QUEUES_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_USES + ASHLAR_STREAMS;
    ensures REQ_VALID_queues: \result == -1 <==> queues_checked(*m, clause + 1);
*/
int32_t ashlar_check_queues(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); POOLS_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_POOL_NUMBERS;
    ensures REQ_VALID_pools: \result == -1 <==> pools_checked(*m, clause + 1);
*/
int32_t ashlar_check_pools(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); STATE_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS + ASHLAR_USES + ASHLAR_STREAMS + ASHLAR_POOL_NUMBERS;
    ensures REQ_VALID_state: \result == -1 <==> state_checked(*m, clause + 1);
*/
int32_t ashlar_check_state(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); REQUESTS_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS + ASHLAR_REQUESTS + ASHLAR_DIVISIONS;
    ensures REQ_VALID_requests: \result == -1 <==> requests_checked(*m, clause + 1);
*/
int32_t ashlar_check_requests(const struct ashlar_manager *m, int32_t clause);
/*@ requires \valid(m); STATS_BEFORE(clause)
    READS
    ensures index: -1 <= \result < ASHLAR_SLOTS + ASHLAR_STATS + ASHLAR_POOL_NUMBERS + 2;
    ensures REQ_VALID_stats: \result == -1 <==> stats_checked(*m, clause + 1);
*/
int32_t ashlar_check_stats(const struct ashlar_manager *m, int32_t clause);

/* Blocks are disjoint and end below 2^64, so that sums of sizes do not wrap: for the prover only. */
/*@ ghost
  /@ requires \valid(m); BLOCKS_BEFORE(ASHLAR_CLAUSE_BLOCKS_DISJOINT + 1)
     READS
     ensures bounded: \forall integer k; 0 <= k <= m->top ==> 0 <= block_bytes(m->state, m->size, k) <= UINT64_MAX;
  @/
  void ashlar_blocks_bounded(const struct ashlar_manager *m);
*/

/* --- ranges of numbers --- */

/* Whether many ranges are disjoint, without an order and without memory for one: a batch of them is sorted, all others are
   looked up in it by their first number, and so on batch by batch. Two ranges overlap exactly if the first number of one
   is in the other. */
enum { ASHLAR_RANGES = 256 };
struct ashlar_ranges {
  int32_t count;
  uint64_t first[ASHLAR_RANGES];
  uint64_t last[ASHLAR_RANGES];
  int32_t name[ASHLAR_RANGES];
};

/* Puts a range where it belongs by its first number; there is room. Its place. Linear in those behind it. */
/*@ requires \valid(ranges);
    requires room: 0 <= ranges->count < ASHLAR_RANGES;
    requires sorted: ranges_sorted(ranges->count, ranges->first);
    terminates \true; exits \false;
    assigns *ranges;
    ensures count: ranges->count == \old(ranges->count) + 1;
    ensures sorted: ranges_sorted(ranges->count, ranges->first);
    ensures place: 0 <= \result < ranges->count && ranges->first[\result] == first && ranges->last[\result] == last &&
      ranges->name[\result] == name;
    ensures before: \forall integer k; 0 <= k < \result ==> ranges->first[k] == \old(*ranges).first[k] &&
      ranges->last[k] == \old(*ranges).last[k] && ranges->name[k] == \old(*ranges).name[k];
    ensures behind: \forall integer k; \result <= k < \old(ranges->count) ==>
      ranges->first[k + 1] == \old(*ranges).first[k] && ranges->last[k + 1] == \old(*ranges).last[k] &&
      ranges->name[k + 1] == \old(*ranges).name[k];
    ensures moved: \forall integer k; \result < k < ranges->count ==> ranges->first[k] == \old(*ranges).first[k - 1] &&
      ranges->last[k] == \old(*ranges).last[k - 1] && ranges->name[k] == \old(*ranges).name[k - 1];
*/
int32_t ashlar_ranges_insert(struct ashlar_ranges *ranges, uint64_t first, uint64_t last,
                             int32_t name);

/* The name of a range whose first number is in the one before it; -1: none. Linear. */
/*@ requires \valid(ranges);
    requires count: 0 <= ranges->count <= ASHLAR_RANGES;
    requires sorted: ranges_sorted(ranges->count, ranges->first);
    requires filled: ranges_filled(ranges->count, ranges->first, ranges->last);
    requires names: \forall integer k; 0 <= k < ranges->count ==> 0 <= ranges->name[k];
    READS
    ensures REQ_VALID_overlapped: \result == -1 <==> ranges_apart(ranges->count, ranges->first, ranges->last);
    ensures name: \result != -1 ==> \exists integer k; 0 <= k < ranges->count && ranges->name[k] == \result;
*/
int32_t ashlar_ranges_overlapped(const struct ashlar_ranges *ranges);

/* Whether a number is in a range, where these are disjoint. Logarithmic. */
/*@ requires \valid(ranges);
    requires count: 0 <= ranges->count <= ASHLAR_RANGES;
    requires sorted: ranges_sorted(ranges->count, ranges->first);
    requires apart: ranges_apart(ranges->count, ranges->first, ranges->last);
    READS
    ensures REQ_VALID_inside: \result != 0 <==> in_ranges(ranges->count, ranges->first, ranges->last, number);
*/
int ashlar_ranges_have(const struct ashlar_ranges *ranges, uint64_t number);

#endif
