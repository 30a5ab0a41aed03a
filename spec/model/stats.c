/* stats.c - every statistic is worked out anew from the list of blocks, after each change; the differences make peaks
 * and totals.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* What one block adds to each statistic. Memory that is not mapped, or leaving, adds nothing. REQ-ACCOUNT-bytes,
   REQ-ACCOUNT-allocation, REQ-ACCOUNT-active, REQ-ACCOUNT-segment, REQ-ACCOUNT-reserved, REQ-ACCOUNT-inactive,
   REQ-ACCOUNT-oversize, REQ-ATOMIC-leaving, REQ-GROW-hidden. */
struct share {
  uint64_t of[MODEL_STATISTICS];
};
static struct share share_of(const struct model *m, int32_t slot)
{
  const struct model_block block = m->block[slot];
  const struct model_segment segment = m->segment[block.segment];
  const bool oversize = block.size >= m->config.max_split_size;
  const uint64_t allocated = block.state == MODEL_ALLOCATED ? 1 : 0;
  const uint64_t active = block.state == MODEL_PENDING ? 1 : allocated;
  const uint64_t mapped = block.mapped ? 1 : 0;
  const uint64_t first = block.address == segment.address && !segment.growable ? mapped : 0;
  const uint64_t inactive =
      block.state == MODEL_FREE && !model_whole(m, slot) && !segment.growable ? 1 : 0;
  return (struct share){{
      [MODEL_ALLOCATION] = allocated,
      [MODEL_ALLOCATED_BYTES] = allocated * block.size,
      [MODEL_ACTIVE] = active,
      [MODEL_ACTIVE_BYTES] = active * block.size,
      [MODEL_REQUESTED_BYTES] = active * block.requested,
      [MODEL_SEGMENT] = first,
      [MODEL_RESERVED_BYTES] = mapped * block.size,
      [MODEL_INACTIVE_SPLIT] = inactive,
      [MODEL_INACTIVE_SPLIT_BYTES] = inactive * block.size,
      [MODEL_OVERSIZE_ALLOCATIONS] = oversize ? allocated : 0,
      [MODEL_OVERSIZE_SEGMENTS] = segment.size >= m->config.max_split_size ? first : 0,
  }};
}

static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A counter at its new value. REQ-ACCOUNT-counter, REQ-ACCOUNT-saturate. */
static struct model_counter moved(struct model_counter counter, uint64_t now)
{
  if (now >= counter.current) {
    counter.allocated = saturating_sum(counter.allocated, now - counter.current);
  } else {
    counter.freed = saturating_sum(counter.freed, counter.current - now);
  }
  counter.current = now;
  counter.peak = now > counter.peak ? now : counter.peak;
  return counter;
}

/* The counter of both classes: its totals move as theirs do. REQ-ACCOUNT-columns. */
static struct model_counter moved_both(struct model_counter both, uint64_t now,
                                       struct model_counter before[MODEL_COLUMNS],
                                       struct model_counter after[MODEL_COLUMNS])
{
  both.current = now;
  both.peak = now > both.peak ? now : both.peak;
  for (int32_t column = MODEL_SMALL; column <= MODEL_LARGE; column++) {
    const uint64_t was = before[column].current;
    const uint64_t is = after[column].current;
    both.allocated = saturating_sum(both.allocated, is > was ? is - was : 0);
    both.freed = saturating_sum(both.freed, was > is ? was - is : 0);
  }
  return both;
}

/* The end of a change, and the only place where a statistic moves: so it moves once. REQ-ACCOUNT-net,
   REQ-ACCOUNT-columns, REQ-ACCOUNT-private. */
void model_settle(struct model *m)
{
  uint64_t now[MODEL_STATISTICS][MODEL_COLUMNS] = {{0}};
  uint64_t reserved[MODEL_POOLS] = {0};
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_UNUSED) {
      continue;
    }
    const struct model_segment segment = m->segment[m->block[i].segment];
    const struct share share = share_of(m, i);
    for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
      now[kind][MODEL_ALL] += share.of[kind];
      now[kind][segment.small ? MODEL_SMALL : MODEL_LARGE] += share.of[kind];
    }
    reserved[segment.pool] += share.of[MODEL_RESERVED_BYTES];
  }
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    struct model_counter before[MODEL_COLUMNS];
    for (int32_t column = MODEL_SMALL; column <= MODEL_LARGE; column++) {
      before[column] = m->statistic[kind][column];
      m->statistic[kind][column] = moved(before[column], now[kind][column]);
    }
    m->statistic[kind][MODEL_ALL] =
        moved_both(m->statistic[kind][MODEL_ALL], now[kind][MODEL_ALL], before, m->statistic[kind]);
  }
  for (int32_t pool = 0; pool < m->pools; pool++) {
    m->pool[pool].reserved = moved(m->pool[pool].reserved, reserved[pool]);
  }
  model_end_pools(m);
}

static struct model_counter restarted(struct model_counter counter, bool peak)
{
  return peak ? (struct model_counter){counter.current, counter.current, counter.allocated,
                                       counter.freed}
              : (struct model_counter){counter.current, counter.peak, 0, 0};
}

static void restart(struct model *m, bool peak)
{
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    for (int32_t column = 0; column < MODEL_COLUMNS; column++) {
      m->statistic[kind][column] = restarted(m->statistic[kind][column], peak);
    }
  }
  for (int32_t pool = 0; pool < MODEL_POOLS; pool++) {
    m->pool[pool].reserved = restarted(m->pool[pool].reserved, peak);
  }
}

/* REQ-ACCOUNT-reset. */
void model_reset_peaks(struct model *m)
{
  restart(m, true);
}

/* REQ-ACCOUNT-reset, REQ-ACCOUNT-calls, REQ-ACCOUNT-rejected. */
void model_reset_totals(struct model *m)
{
  restart(m, false);
  m->calls = (struct model_calls){0};
}

/* REQ-ACCOUNT-largest. */
uint64_t model_largest(const struct model *m)
{
  uint64_t largest = 0;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_FREE && m->block[i].mapped && m->block[i].size > largest) {
      largest = m->block[i].size;
    }
  }
  return largest;
}
