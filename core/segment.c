/* segment.c - see segment.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/segment.h"

uint64_t ashlar_segment_age(const struct ashlar_manager *m)
{
  return m->config.order == ASHLAR_ORDER_SEGMENT ? m->segments_created : 0;
}

int32_t ashlar_segment_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t list)
{
  int32_t pool = list / ASHLAR_STREAMS;
  int32_t slot = ashlar_block_create(m, addr, size, list, ashlar_segment_age(m), 0);
  m->segments_created++;
  ashlar_stats_increase(m, ASHLAR_STAT_SEGMENT, pool, 1);
  ashlar_stats_increase(m, ASHLAR_STAT_RESERVED_BYTES, pool, size);
  if (size >= m->config.max_split_size) {
    m->oversize_segments = ashlar_counter_increase(m->oversize_segments, 1);
  }
  return slot;
}

void ashlar_segment_destroy(struct ashlar_manager *m, int32_t slot)
{
  int32_t pool = m->home[slot] / ASHLAR_STREAMS;
  uint64_t size = m->size[slot];
  ashlar_block_take(m, slot);
  ashlar_block_destroy(m, slot);
  ashlar_stats_decrease(m, ASHLAR_STAT_SEGMENT, pool, 1);
  ashlar_stats_decrease(m, ASHLAR_STAT_RESERVED_BYTES, pool, size);
  if (size >= m->config.max_split_size) {
    m->oversize_segments = ashlar_counter_decrease(m->oversize_segments, 1);
  }
}
