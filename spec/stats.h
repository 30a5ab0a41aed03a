/* stats.h (ACSL only) - how counters move, and how they begin anew.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_STATS_H
#define ASHLAR_SPEC_STATS_H
/*@
  // REQ-ACCOUNT-reset: the peak goes on from the current value; totals begin at 0
  predicate peak_begun(struct ashlar_counter before, struct ashlar_counter now) =
    now.current == before.current && now.peak == before.current && now.allocated == before.allocated &&
    now.freed == before.freed;
  predicate totals_begun(struct ashlar_counter before, struct ashlar_counter now) =
    now.current == before.current && now.peak == before.peak && now.allocated == 0 && now.freed == 0;

  // a total stops at the greatest number
  logic integer total_of(integer total, integer more) = total + more <= UINT64_MAX ? total + more : UINT64_MAX;
  logic integer risen(integer before, integer now) = before < now ? now - before : 0;

  // REQ-ACCOUNT-net: one movement, from the value before to the one now; down it leaves the peak
  predicate moved_once(struct ashlar_counter before, struct ashlar_counter now) =
    now.peak == (before.current <= now.current && before.peak < now.current ? now.current : before.peak) &&
    now.allocated == total_of(before.allocated, risen(before.current, now.current)) &&
    now.freed == total_of(before.freed, risen(now.current, before.current));
  // of the counter of both classes: its totals move as theirs do
  predicate moved_with(struct ashlar_counter before, struct ashlar_counter now,
    integer small_before, integer small_now, integer large_before, integer large_now) =
    now.peak == (before.current <= now.current && before.peak < now.current ? now.current : before.peak) &&
    now.allocated == total_of(total_of(before.allocated, risen(small_before, small_now)),
      risen(large_before, large_now)) &&
    now.freed == total_of(total_of(before.freed, risen(small_now, small_before)), risen(large_now, large_before));
*/
#endif
