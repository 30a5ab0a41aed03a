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

/*@ requires pool == ASHLAR_POOL_SMALL || pool == ASHLAR_POOL_LARGE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == (pool == ASHLAR_POOL_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE);
*/
static int32_t column_of(int32_t pool)
{
  return pool == ASHLAR_POOL_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE;
}

void ashlar_stats_increase(struct ashlar_manager *m, int32_t kind, int32_t pool, uint64_t amount)
{
  int32_t all = kind * ASHLAR_STAT_COLUMNS;
  int32_t one = all + column_of(pool);
  m->stat[all] = ashlar_counter_increase(m->stat[all], amount);
  m->stat[one] = ashlar_counter_increase(m->stat[one], amount);
}

void ashlar_stats_decrease(struct ashlar_manager *m, int32_t kind, int32_t pool, uint64_t amount)
{
  int32_t all = kind * ASHLAR_STAT_COLUMNS;
  int32_t one = all + column_of(pool);
  m->stat[all] = ashlar_counter_decrease(m->stat[all], amount);
  m->stat[one] = ashlar_counter_decrease(m->stat[one], amount);
}
