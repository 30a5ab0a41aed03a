/* segment.c - see segment.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/segment.h"

uint64_t ashlar_segment_age(const struct ashlar_manager *m)
{
  return m->config.order == ASHLAR_ORDER_SEGMENT ? m->segments_created : 0;
}

void ashlar_segment_reserved(struct ashlar_manager *m, int32_t home, uint64_t bytes)
{
  int32_t pool = ashlar_home_pool(home);
  ashlar_stats_increase(m, ASHLAR_STAT_RESERVED_BYTES, ashlar_home_class(home), bytes);
  m->pool_reserved[pool] = ashlar_counter_increase(m->pool_reserved[pool], bytes);
}

void ashlar_segment_unreserved(struct ashlar_manager *m, int32_t home, uint64_t bytes)
{
  int32_t pool = ashlar_home_pool(home);
  ashlar_stats_decrease(m, ASHLAR_STAT_RESERVED_BYTES, ashlar_home_class(home), bytes);
  m->pool_reserved[pool] = ashlar_counter_decrease(m->pool_reserved[pool], bytes);
}

/* Counts an ordinary segment. */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVED, m->oversize_segments;
*/
static void count_in(struct ashlar_manager *m, int32_t home, uint64_t size)
{
  ashlar_stats_increase(m, ASHLAR_STAT_SEGMENT, ashlar_home_class(home), 1);
  ashlar_segment_reserved(m, home, size);
  if (size >= m->config.max_split_size) {
    m->oversize_segments = ashlar_counter_increase(m->oversize_segments, 1);
  }
}

/* Counts an ordinary segment no more. */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVED, m->oversize_segments;
*/
static void count_out(struct ashlar_manager *m, int32_t home, uint64_t size)
{
  ashlar_stats_decrease(m, ASHLAR_STAT_SEGMENT, ashlar_home_class(home), 1);
  ashlar_segment_unreserved(m, home, size);
  if (size >= m->config.max_split_size) {
    m->oversize_segments = ashlar_counter_decrease(m->oversize_segments, 1);
  }
}

int32_t ashlar_segment_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t home,
                              uint8_t growable)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  int32_t slot = ashlar_block_create(m, addr, size, home, ashlar_segment_age(m), growable);
  //@ ghost ashlar_map_close(m);
  m->segments_created++;
  m->stream_segments[ashlar_home_stream(home)]++;
  m->pool_segments[ashlar_home_pool(home)]++;
  if (growable == 0) {
    count_in(m, home, size);
  }
  return slot;
}

void ashlar_segment_leave(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_block_take(m, slot);
  ashlar_block_pass(m, slot, ASHLAR_HELD);
  m->hold[slot] = ASHLAR_HOLD_LEAVING;
  m->holder[slot] = request;
  count_out(m, m->home[slot], m->size[slot]);
}

void ashlar_segment_stay(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  ashlar_block_put(m, slot);
  m->entered[slot] = m->pool_searches[ashlar_home_pool_class(m->home[slot])];
  count_in(m, m->home[slot], m->size[slot]);
}

/* One less; never below 0, which the folds would show too, at the price of carrying them through every operation. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures less: \result <= count;
    ensures one: 0 < count ==> \result == count - 1;
*/
static uint64_t one_less(uint64_t count)
{
  return count - (count > 0);
}

void ashlar_segment_end(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t stream = ashlar_home_stream(m->home[slot]);
  int32_t pool = ashlar_home_pool(m->home[slot]);
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  ashlar_block_destroy(m, slot);
  m->stream_segments[stream] = one_less(m->stream_segments[stream]);
  m->pool_segments[pool] = one_less(m->pool_segments[pool]);
}
