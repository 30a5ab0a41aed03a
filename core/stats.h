/* stats.h - counters in the layout that PyTorch users know (REQ-ACCOUNT).
 *
 * Every kind exists for all blocks, for the small pool and for the large pool; an update touches "all" and one pool.
 * Totals (`allocated`, `freed`) and peaks saturate instead of wrapping: 2^64 bytes are out of reach of a device, but a
 * counter must never lie by wrapping.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_STATS_H
#define ASHLAR_CORE_STATS_H

#include "core/manager.h"

// clang-format off
#define ASSIGNS_STATS m->stat[0 .. ASHLAR_STATS - 1]
// clang-format on

/* a + b, or UINT64_MAX where that does not fit. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures sum: \result == (a + b <= UINT64_MAX ? a + b : UINT64_MAX);
*/
uint64_t ashlar_saturating_sum(uint64_t a, uint64_t b);

/* Adds to, or takes from, a counter of a kind (ASHLAR_STAT_…) for all blocks and for one pool. O(1). */
/*@ requires \valid(m);
    requires kind: 0 <= kind < ASHLAR_STAT_KINDS && (pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
void ashlar_stats_increase(struct ashlar_manager *m, int32_t kind, int32_t pool, uint64_t amount);
/*@ requires \valid(m);
    requires kind: 0 <= kind < ASHLAR_STAT_KINDS && (pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
void ashlar_stats_decrease(struct ashlar_manager *m, int32_t kind, int32_t pool, uint64_t amount);

/* The same for a counter on its own: the new value is returned. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_current: counter.current + amount <= UINT64_MAX ==> \result.current == counter.current + amount;
    ensures REQ_ACCOUNT_peak: \result.peak >= counter.peak && \result.peak >= \result.current &&
      (\result.peak == counter.peak || \result.peak == \result.current);
    ensures REQ_ACCOUNT_total: counter.allocated + amount <= UINT64_MAX ==>
      \result.allocated == counter.allocated + amount;
    ensures freed: \result.freed == counter.freed;
*/
struct ashlar_counter ashlar_counter_increase(struct ashlar_counter counter, uint64_t amount);
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_current: amount <= counter.current ==> \result.current == counter.current - amount;
    ensures REQ_ACCOUNT_peak: \result.peak == counter.peak && \result.allocated == counter.allocated;
    ensures REQ_ACCOUNT_total: counter.freed + amount <= UINT64_MAX ==> \result.freed == counter.freed + amount;
*/
struct ashlar_counter ashlar_counter_decrease(struct ashlar_counter counter, uint64_t amount);

#endif
