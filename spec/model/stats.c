/* stats.c - every statistic is worked out anew from the list of blocks, after each change; the differences make peaks
 * and totals.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* What one block adds to a statistic: 0, 1 or its bytes. Memory that is not mapped, or leaving, adds nothing. */
static uint64_t share(const struct model *m, int32_t slot, enum model_statistic statistic)
{
  const struct model_block block = m->block[slot];
  const struct model_segment segment = m->segment[block.segment];
  const uint64_t allocated = block.state == MODEL_ALLOCATED ? 1 : 0;
  const uint64_t active = block.state == MODEL_PENDING ? 1 : allocated;
  const uint64_t first =
      !segment.growable && block.mapped && block.address == segment.address ? 1 : 0;
  const uint64_t inactive = model_listed(m, slot, segment.pool, segment.small) &&
                                    !segment.growable && !model_whole(m, slot)
                                ? 1
                                : 0;
  switch (statistic) {
  case MODEL_ALLOCATION: /* REQ-ACCOUNT-allocation */
    return allocated;
  case MODEL_ALLOCATED_BYTES: /* REQ-ACCOUNT-bytes */
    return allocated * block.size;
  case MODEL_SEGMENT: /* REQ-ACCOUNT-segment, REQ-GROW-hidden */
    return first;
  case MODEL_RESERVED_BYTES: /* REQ-ACCOUNT-reserved, REQ-ATOMIC-leaving */
    return block.mapped ? block.size : 0;
  case MODEL_ACTIVE: /* REQ-ACCOUNT-active */
    return active;
  case MODEL_ACTIVE_BYTES:
    return active * block.size;
  case MODEL_REQUESTED_BYTES:
    return active * block.requested;
  case MODEL_INACTIVE_SPLIT: /* REQ-ACCOUNT-inactive */
    return inactive;
  case MODEL_INACTIVE_SPLIT_BYTES:
    return inactive * block.size;
  case MODEL_OVERSIZE_ALLOCATIONS: /* REQ-ACCOUNT-oversize */
    return block.size >= m->config.max_split_size ? allocated : 0;
  case MODEL_OVERSIZE_SEGMENTS:
    return segment.size >= m->config.max_split_size ? first : 0;
  case MODEL_STATISTICS:
  default:
    return 0;
  }
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
    for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
      const uint64_t bytes = share(m, i, (enum model_statistic)kind);
      now[kind][MODEL_ALL] += bytes;
      now[kind][segment.small ? MODEL_SMALL : MODEL_LARGE] += bytes;
    }
    reserved[segment.pool] += share(m, i, MODEL_RESERVED_BYTES);
  }
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    for (int32_t column = 0; column < MODEL_COLUMNS; column++) {
      m->statistic[kind][column] = moved(m->statistic[kind][column], now[kind][column]);
    }
  }
  for (int32_t pool = 0; pool < MODEL_POOLS; pool++) {
    m->pool[pool].reserved = moved(m->pool[pool].reserved, reserved[pool]);
  }
  model_end_pools(m);
}

/* REQ-ACCOUNT-reset. */
void model_reset_peaks(struct model *m)
{
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    for (int32_t column = 0; column < MODEL_COLUMNS; column++) {
      m->statistic[kind][column].peak = m->statistic[kind][column].current;
    }
  }
  for (int32_t pool = 0; pool < MODEL_POOLS; pool++) {
    m->pool[pool].reserved.peak = m->pool[pool].reserved.current;
  }
}

/* REQ-ACCOUNT-reset. */
void model_reset_totals(struct model *m)
{
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    for (int32_t column = 0; column < MODEL_COLUMNS; column++) {
      m->statistic[kind][column].allocated = 0;
      m->statistic[kind][column].freed = 0;
    }
  }
  for (int32_t pool = 0; pool < MODEL_POOLS; pool++) {
    m->pool[pool].reserved.allocated = 0;
    m->pool[pool].reserved.freed = 0;
  }
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
