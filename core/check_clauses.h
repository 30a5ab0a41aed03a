/* check_clauses.h - what check.c runs: one function a group of clauses, which gives the first entry where a clause is
 * broken, -1 where it holds or is of another group.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_CHECK_CLAUSES_H
#define ASHLAR_CORE_CHECK_CLAUSES_H

#include "core/check.h"

int32_t ashlar_check_blocks(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_map(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_uses(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_queues(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_pools(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_state(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_requests(const struct ashlar_manager *m, int32_t clause);
int32_t ashlar_check_stats(const struct ashlar_manager *m, int32_t clause);

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

/* Puts a range where it belongs by its first number; there is room. Linear in those behind it. */
void ashlar_ranges_insert(struct ashlar_ranges *ranges, uint64_t first, uint64_t last,
                          int32_t name);

/* The name of a range whose first number is in the one before it; -1: none. Linear. */
int32_t ashlar_ranges_overlapped(const struct ashlar_ranges *ranges);

/* Whether a number is in a range, where these are disjoint. Logarithmic. */
int ashlar_ranges_have(const struct ashlar_ranges *ranges, uint64_t number);

#endif
