/* stats.c - see stats.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/stats.h"

uint64_t ashlar_saturating_sum(uint64_t a, uint64_t b)
{
  return b <= UINT64_MAX - a ? a + b : UINT64_MAX;
}

struct ashlar_counter ashlar_counter_increase(struct ashlar_counter counter, uint64_t amount)
{
  counter.current = ashlar_saturating_sum(counter.current, amount);
  counter.allocated = ashlar_saturating_sum(counter.allocated, amount);
  if (counter.peak < counter.current) {
    counter.peak = counter.current;
  }
  return counter;
}

struct ashlar_counter ashlar_counter_decrease(struct ashlar_counter counter, uint64_t amount)
{
  counter.current = amount <= counter.current ? counter.current - amount : 0;
  counter.freed = ashlar_saturating_sum(counter.freed, amount);
  return counter;
}

/*@ requires class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == (class == ASHLAR_CLASS_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE);
*/
static int32_t column_of(int32_t class)
{
  return class == ASHLAR_CLASS_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE;
}

void ashlar_stats_increase(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t amount)
{
  int32_t all = kind * ASHLAR_STAT_COLUMNS;
  int32_t one = all + column_of(class);
  m->stat[all] = ashlar_counter_increase(m->stat[all], amount);
  m->stat[one] = ashlar_counter_increase(m->stat[one], amount);
}

void ashlar_stats_decrease(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t amount)
{
  int32_t all = kind * ASHLAR_STAT_COLUMNS;
  int32_t one = all + column_of(class);
  m->stat[all] = ashlar_counter_decrease(m->stat[all], amount);
  m->stat[one] = ashlar_counter_decrease(m->stat[one], amount);
}

void ashlar_stats_change(struct ashlar_manager *m, int32_t kind, int32_t class, uint64_t before,
                         uint64_t now)
{
  if (now >= before) {
    ashlar_stats_increase(m, kind, class, now - before);
  } else {
    ashlar_stats_decrease(m, kind, class, before - now);
  }
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures anew: peak_begun(counter, \result);
*/
static struct ashlar_counter peak_anew(struct ashlar_counter counter)
{
  counter.peak = counter.current;
  return counter;
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures anew: totals_begun(counter, \result);
*/
static struct ashlar_counter totals_anew(struct ashlar_counter counter)
{
  counter.allocated = 0;
  counter.freed = 0;
  return counter;
}

void ashlar_stats_reset_peaks(struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t pool = 0;
  /*@ loop invariant k: 0 <= k <= ASHLAR_STATS;
      loop invariant done: \forall integer j; 0 <= j < k ==> peak_begun(\at(*m, Pre).stat[j], m->stat[j]);
      loop invariant rest: \forall integer j; k <= j < ASHLAR_STATS ==> m->stat[j] == \at(*m, Pre).stat[j];
      loop assigns k, ASSIGNS_STATS;
      loop variant ASHLAR_STATS - k;
  */
  while (k < ASHLAR_STATS) {
    m->stat[k] = peak_anew(m->stat[k]);
    k++;
  }
  m->oversize_allocations = peak_anew(m->oversize_allocations);
  m->oversize_segments = peak_anew(m->oversize_segments);
  /*@ loop invariant pool: 0 <= pool <= ASHLAR_POOL_NUMBERS;
      loop invariant begun: \forall integer p; 0 <= p < pool ==>
        peak_begun(\at(*m, Pre).pool_reserved[p], m->pool_reserved[p]);
      loop invariant left: \forall integer p; pool <= p < ASHLAR_POOL_NUMBERS ==>
        m->pool_reserved[p] == \at(*m, Pre).pool_reserved[p];
      loop assigns pool, m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1];
      loop variant ASHLAR_POOL_NUMBERS - pool;
  */
  while (pool < ASHLAR_POOL_NUMBERS) {
    m->pool_reserved[pool] = peak_anew(m->pool_reserved[pool]);
    pool++;
  }
}

void ashlar_stats_reset_totals(struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t pool = 0;
  /*@ loop invariant k: 0 <= k <= ASHLAR_STATS;
      loop invariant done: \forall integer j; 0 <= j < k ==> totals_begun(\at(*m, Pre).stat[j], m->stat[j]);
      loop invariant rest: \forall integer j; k <= j < ASHLAR_STATS ==> m->stat[j] == \at(*m, Pre).stat[j];
      loop assigns k, ASSIGNS_STATS;
      loop variant ASHLAR_STATS - k;
  */
  while (k < ASHLAR_STATS) {
    m->stat[k] = totals_anew(m->stat[k]);
    k++;
  }
  m->oversize_allocations = totals_anew(m->oversize_allocations);
  m->oversize_segments = totals_anew(m->oversize_segments);
  /*@ loop invariant pool: 0 <= pool <= ASHLAR_POOL_NUMBERS;
      loop invariant begun: \forall integer p; 0 <= p < pool ==>
        totals_begun(\at(*m, Pre).pool_reserved[p], m->pool_reserved[p]);
      loop invariant left: \forall integer p; pool <= p < ASHLAR_POOL_NUMBERS ==>
        m->pool_reserved[p] == \at(*m, Pre).pool_reserved[p];
      loop assigns pool, m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1];
      loop variant ASHLAR_POOL_NUMBERS - pool;
  */
  while (pool < ASHLAR_POOL_NUMBERS) {
    m->pool_reserved[pool] = totals_anew(m->pool_reserved[pool]);
    pool++;
  }
  m->alloc_retries = 0;
  m->ooms = 0;
  m->oom_rejections = 0;
  m->sync_all_streams = 0;
  m->device_allocs = 0;
  m->device_frees = 0;
}

struct ashlar_stats_copy ashlar_stats_copy(const struct ashlar_manager *m)
{
  struct ashlar_stats_copy copy;
  int32_t k = 0;
  /*@ loop invariant k: 0 <= k <= ASHLAR_STATS;
      loop invariant copied: \forall integer j; 0 <= j < k ==> copy.stat[j] == m->stat[j];
      loop assigns k, copy.stat[0 .. ASHLAR_STATS - 1];
      loop variant ASHLAR_STATS - k;
  */
  while (k < ASHLAR_STATS) {
    copy.stat[k] = m->stat[k];
    k++;
  }
  copy.oversize_allocations = m->oversize_allocations;
  return copy;
}

/* A counter that moves once, to a value. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.current == now;
    ensures once: moved_once(counter, \result);
*/
static struct ashlar_counter moved(struct ashlar_counter counter, uint64_t now)
{
  if (now >= counter.current) {
    return ashlar_counter_increase(counter, now - counter.current);
  }
  return ashlar_counter_decrease(counter, counter.current - now);
}

/* By how much a number is above another. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result == risen(b, a);
*/
static uint64_t above(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* The counter of both classes, when these move at once: its totals stay the sums of theirs (REQ-ACCOUNT-columns). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.current == now;
    ensures both: moved_with(counter, \result, small_before, small_now, large_before, large_now);
*/
static struct ashlar_counter moved_both(struct ashlar_counter counter, uint64_t now,
                                        uint64_t small_before, uint64_t small_now,
                                        uint64_t large_before, uint64_t large_now)
{
  struct ashlar_counter result = moved(counter, now);
  result.allocated = ashlar_saturating_sum(
      ashlar_saturating_sum(counter.allocated, above(small_now, small_before)),
      above(large_now, large_before));
  result.freed =
      ashlar_saturating_sum(ashlar_saturating_sum(counter.freed, above(small_before, small_now)),
                            above(large_before, large_now));
  return result;
}

void ashlar_stats_once(struct ashlar_manager *m, struct ashlar_stats_copy before)
{
  int32_t kind = 0;
  /*@ loop invariant kind: 0 <= kind <= ASHLAR_STAT_KINDS;
      loop invariant done: \forall integer j; 0 <= j < kind * ASHLAR_STAT_COLUMNS ==>
        m->stat[j].current == \at(m->stat[j].current, Pre);
      loop invariant rest: \forall integer j; kind * ASHLAR_STAT_COLUMNS <= j < ASHLAR_STATS ==>
        m->stat[j].current == \at(m->stat[j].current, Pre);
      loop invariant class: \forall integer j; 0 <= j < kind ==>
        moved_once(before.stat[j * 3 + 1], m->stat[j * 3 + 1]) &&
        moved_once(before.stat[j * 3 + 2], m->stat[j * 3 + 2]);
      loop invariant both: \forall integer j; 0 <= j < kind ==>
        moved_with(before.stat[j * 3], m->stat[j * 3], before.stat[j * 3 + 1].current, m->stat[j * 3 + 1].current,
          before.stat[j * 3 + 2].current, m->stat[j * 3 + 2].current);
      loop assigns kind, ASSIGNS_STATS;
      loop variant ASHLAR_STAT_KINDS - kind;
  */
  while (kind < ASHLAR_STAT_KINDS) {
    int32_t all = kind * ASHLAR_STAT_COLUMNS;
    int32_t small = all + ASHLAR_STAT_SMALL;
    int32_t large = all + ASHLAR_STAT_LARGE;
    m->stat[all] =
        moved_both(before.stat[all], m->stat[all].current, before.stat[small].current,
                   m->stat[small].current, before.stat[large].current, m->stat[large].current);
    m->stat[small] = moved(before.stat[small], m->stat[small].current);
    m->stat[large] = moved(before.stat[large], m->stat[large].current);
    kind++;
  }
  m->oversize_allocations = moved(before.oversize_allocations, m->oversize_allocations.current);
}
