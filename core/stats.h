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
#include "spec/stats.h"

// clang-format off
#define ASSIGNS_STATS m->stat[0 .. ASHLAR_STATS - 1]
// clang-format on

/* a + b, or UINT64_MAX where that does not fit. O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures sum: \result == (a + b <= UINT64_MAX ? a + b : UINT64_MAX);
*/
uint64_t ashlar_saturating_sum(uint64_t a, uint64_t b);

/* Adds to, or takes from, a counter of a kind (ASHLAR_STAT_…) for all blocks and for one class. O(1). */
/*@ requires \valid(m);
    requires kind: 0 <= kind < ASHLAR_STAT_KINDS && (class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
void ashlar_stats_increase(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t amount);
/*@ requires \valid(m);
    requires kind: 0 <= kind < ASHLAR_STAT_KINDS && (class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
void ashlar_stats_decrease(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t amount);

/* Replaces `before` by `now` in such a counter: one movement, so that peaks and totals see what a user sees and not the
   steps in between. O(1). */
/*@ requires \valid(m);
    requires kind: 0 <= kind < ASHLAR_STAT_KINDS && (class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS;
*/
void ashlar_stats_change(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t before,
                         uint64_t now);

/* The counters of blocks as they are now, and their movement since then as one: from those values to the current ones.
   Linear in the counters. */
struct ashlar_stats_copy {
  struct ashlar_counter stat[ASHLAR_STATS];
  struct ashlar_counter oversize_allocations;
};
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures \forall integer k; 0 <= k < ASHLAR_STATS ==> \result.stat[k].current == m->stat[k].current;
    ensures copied: \forall integer k; 0 <= k < ASHLAR_STATS ==> \result.stat[k] == m->stat[k];
    ensures oversize: \result.oversize_allocations == m->oversize_allocations;
*/
struct ashlar_stats_copy ashlar_stats_copy(const struct ashlar_manager *m);
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations;
    ensures REQ_ACCOUNT_net_once: \forall integer k; 0 <= k < ASHLAR_STATS ==>
      m->stat[k].current == \old(m->stat[k].current);
    ensures REQ_ACCOUNT_net_class: \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==>
      moved_once(before.stat[kind * 3 + 1], m->stat[kind * 3 + 1]) &&
      moved_once(before.stat[kind * 3 + 2], m->stat[kind * 3 + 2]);
    ensures REQ_ACCOUNT_net_both: \forall integer kind; 0 <= kind < ASHLAR_STAT_KINDS ==>
      moved_with(before.stat[kind * 3], m->stat[kind * 3], before.stat[kind * 3 + 1].current,
        m->stat[kind * 3 + 1].current, before.stat[kind * 3 + 2].current, m->stat[kind * 3 + 2].current);
    ensures REQ_ACCOUNT_net_oversize: m->oversize_allocations.current == \old(m->oversize_allocations.current) &&
      moved_once(before.oversize_allocations, m->oversize_allocations);
*/
void ashlar_stats_once(struct ashlar_manager *m, struct ashlar_stats_copy before);

/* Peaks go on from the current values; totals begin anew. Linear in the counters. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations, m->oversize_segments,
      m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1];
    ensures REQ_ACCOUNT_reset_peaks: \forall integer k; 0 <= k < ASHLAR_STATS ==>
      peak_begun(\old(*m).stat[k], m->stat[k]);
    ensures REQ_ACCOUNT_reset_peaks_oversize: peak_begun(\old(m->oversize_allocations), m->oversize_allocations) &&
      peak_begun(\old(m->oversize_segments), m->oversize_segments);
    ensures REQ_ACCOUNT_reset_peaks_pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==>
      peak_begun(\old(*m).pool_reserved[p], m->pool_reserved[p]);
*/
void ashlar_stats_reset_peaks(struct ashlar_manager *m);
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns ASSIGNS_STATS, m->oversize_allocations, m->oversize_segments,
      m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1], m->alloc_retries, m->ooms, m->oom_rejections,
      m->sync_all_streams, m->device_allocs, m->device_frees;
    ensures REQ_ACCOUNT_reset_totals: \forall integer k; 0 <= k < ASHLAR_STATS ==>
      totals_begun(\old(*m).stat[k], m->stat[k]);
    ensures REQ_ACCOUNT_reset_totals_oversize: totals_begun(\old(m->oversize_allocations), m->oversize_allocations) &&
      totals_begun(\old(m->oversize_segments), m->oversize_segments);
    ensures REQ_ACCOUNT_reset_totals_pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==>
      totals_begun(\old(*m).pool_reserved[p], m->pool_reserved[p]);
    ensures REQ_ACCOUNT_calls_reset: m->alloc_retries == 0 && m->ooms == 0 && m->sync_all_streams == 0 &&
      m->device_allocs == 0 && m->device_frees == 0;
    ensures REQ_ACCOUNT_rejected_reset: m->oom_rejections == 0;
*/
void ashlar_stats_reset_totals(struct ashlar_manager *m);

/* The same for a counter on its own: the new value is returned. O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_current: counter.current + amount <= UINT64_MAX ==> \result.current == counter.current + amount;
    ensures REQ_ACCOUNT_peak: \result.peak >= counter.peak && \result.peak >= \result.current &&
      (\result.peak == counter.peak || \result.peak == \result.current);
    ensures REQ_ACCOUNT_total: \result.allocated == total_of(counter.allocated, amount);
    ensures freed: \result.freed == counter.freed;
*/
struct ashlar_counter ashlar_counter_increase(struct ashlar_counter counter, uint64_t amount);
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_current: amount <= counter.current ==> \result.current == counter.current - amount;
    ensures REQ_ACCOUNT_peak: \result.peak == counter.peak && \result.allocated == counter.allocated;
    ensures REQ_ACCOUNT_total: \result.freed == total_of(counter.freed, amount);
*/
struct ashlar_counter ashlar_counter_decrease(struct ashlar_counter counter, uint64_t amount);

#endif
