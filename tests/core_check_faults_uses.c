/* core_check_faults_uses.c - see core_check_faults.h: streams, uses, pools.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check_faults.h"

/* Record of the last use of a block. */
static int32_t last_use(const struct ashlar_manager *m, int32_t block)
{
  return m->first_use[block] - 1;
}

#define FAULT(name) static void name(struct ashlar_manager *m, const struct core_check_slots *slot)

FAULT(stream_count_beyond)
{
  (void)slot;
  m->stream_count = ASHLAR_STREAMS;
}

FAULT(stream_number_beyond)
{
  (void)slot;
  m->stream_order[0] = m->stream_count;
}

FAULT(stream_rank_beyond)
{
  (void)slot;
  m->stream_rank[0] = -1;
}

FAULT(stream_keys_equal)
{
  (void)slot;
  m->stream_key[0] = m->stream_key[1];
}

/* A stream that is gone takes requests again, with the key of another one. */
FAULT(stream_back)
{
  (void)slot;
  m->stream_key[2] = m->stream_key[0];
  m->stream_gone[2] = 0;
}

FAULT(use_of_no_block)
{
  (void)slot;
  m->use_block[0] = ASHLAR_SLOTS;
}

FAULT(use_of_no_stream)
{
  m->use_stream[last_use(m, slot->third)] = ASHLAR_STREAMS;
}

FAULT(use_without_serial)
{
  m->use_serial[last_use(m, slot->third)] = 0;
}

FAULT(use_top_beyond)
{
  (void)slot;
  m->use_top = ASHLAR_USES + 1;
}

FAULT(use_spare_lost)
{
  m->use_block[last_use(m, slot->third)] = -1;
}

FAULT(use_spare_in_use)
{
  m->use_spare[0] = last_use(m, slot->third);
}

FAULT(chain_elsewhere)
{
  m->use_more[last_use(m, slot->third)] = last_use(m, slot->queued);
}

FAULT(uses_out_of_order)
{
  const int32_t one = last_use(m, slot->third);
  const int32_t two = m->use_more[one];
  const uint64_t serial = m->use_serial[one];
  m->use_serial[one] = m->use_serial[two];
  m->use_serial[two] = serial;
}

FAULT(use_unchained)
{
  m->first_use[slot->third] = 0;
}

FAULT(use_chain_cut)
{
  m->use_more[last_use(m, slot->third)] = -1;
}

FAULT(chain_of_another)
{
  m->first_use[slot->whole] = m->first_use[slot->third];
}

FAULT(first_use_beyond)
{
  m->first_use[slot->whole] = m->use_top + 1;
}

FAULT(use_twice)
{
  const int32_t last = last_use(m, slot->third);
  m->use_stream[last] = m->use_stream[m->use_more[last]];
}

FAULT(uses_recorded_together)
{
  m->use_serial[last_use(m, slot->queued)] = m->use_serial[last_use(m, slot->third)];
}

FAULT(queue_cyclic)
{
  (void)slot;
  m->use_next[m->queue_head[1] - 1] = m->queue_head[1] - 1;
}

FAULT(queue_head_lost)
{
  (void)slot;
  m->queue_head[1] = 0;
}

FAULT(queue_tail_beyond)
{
  (void)slot;
  m->queue_tail[1] = m->use_top + 1;
}

FAULT(queue_of_another)
{
  (void)slot;
  m->queue_head[5] = m->queue_head[1];
  m->queue_tail[5] = m->queue_tail[1];
}

FAULT(queue_tail_wrong)
{
  (void)slot;
  m->queue_tail[1] = m->queue_head[1];
}

FAULT(queue_head_passed)
{
  (void)slot;
  m->queue_head[1] = m->use_next[m->queue_head[1] - 1] + 1;
}

FAULT(queue_cut)
{
  (void)slot;
  const int32_t second = m->use_next[m->queue_head[1] - 1];
  m->use_next[second] = -1;
  m->queue_tail[1] = second + 1;
}

FAULT(queue_left_out)
{
  (void)slot;
  const int32_t head = m->queue_head[1] - 1;
  m->use_next[head] = m->use_next[m->use_next[head]];
}

FAULT(clock_behind)
{
  (void)slot;
  m->submitted[1] = 1;
}

FAULT(clock_ahead)
{
  (void)slot;
  m->completed[5] = 1;
}

FAULT(submissions_lost)
{
  (void)slot;
  m->use_submissions = 1;
}

FAULT(submissions_unrecorded)
{
  (void)slot;
  m->use_submissions = m->use_serials;
}

FAULT(pool_top_beyond)
{
  (void)slot;
  m->pool_top = ASHLAR_POOL_NUMBERS;
}

FAULT(pool_beyond_top)
{
  (void)slot;
  m->pool_top = 3;
}

FAULT(pool_state_unknown)
{
  (void)slot;
  m->pool_state[1] = ASHLAR_POOL_STATES;
}

FAULT(pool_default_created)
{
  (void)slot;
  m->pool_state[0] = ASHLAR_POOL_LIVE;
}

FAULT(pool_without_users)
{
  (void)slot;
  m->pool_uses[1] = 0;
}

FAULT(pool_freeable_used)
{
  (void)slot;
  m->pool_uses[4] = 1;
}

FAULT(pool_ended_with_segment)
{
  (void)slot;
  m->pool_state[4] = ASHLAR_POOL_UNUSED;
}

FAULT(pool_ended_lends)
{
  (void)slot;
  m->pool_use_on_oom[2] = 1;
}

FAULT(pool_ended_routed)
{
  (void)slot;
  m->scope_serial[2] = 1;
}

FAULT(pool_freeable_whole)
{
  (void)slot;
  m->pool_no_split[4] = 1;
}

FAULT(pool_without_serial)
{
  (void)slot;
  m->pool_serial[1] = 0;
}

FAULT(pool_serial_beyond)
{
  (void)slot;
  m->pool_serials = 3;
}

FAULT(pools_created_together)
{
  (void)slot;
  m->pool_serial[4] = m->pool_serial[1];
}

FAULT(scope_serial_beyond)
{
  (void)slot;
  m->scope_serials = 1;
}

FAULT(scopes_opened_together)
{
  (void)slot;
  m->scope_serial[1] = m->scope_serial[3];
}

FAULT(stream_count_negative)
{
  (void)slot;
  m->stream_count = -1;
}

FAULT(use_top_negative)
{
  (void)slot;
  m->use_top = -1;
}

FAULT(use_spare_count_negative)
{
  (void)slot;
  m->use_spare_count = -1;
}

FAULT(use_spare_count_beyond)
{
  (void)slot;
  m->use_spare_count = m->use_top + 1;
}

FAULT(use_spare_nowhere)
{
  const int32_t use = last_use(m, slot->third);
  m->use_block[use] = -1;
  m->use_next[use] = -1;
}

FAULT(use_spare_of_another)
{
  const int32_t use = last_use(m, slot->third);
  m->use_block[use] = -1;
  m->use_next[use] = 0;
}

FAULT(queue_tail_of_another)
{
  (void)slot;
  m->queue_tail[1] = m->queue_tail[ASHLAR_STREAM_DEFERRED];
}

FAULT(queue_emptied)
{
  (void)slot;
  m->queue_head[1] = 0;
  m->queue_tail[1] = 0;
}

FAULT(submissions_beyond)
{
  (void)slot;
  m->use_submissions = m->use_serials + 1;
}

FAULT(pool_top_negative)
{
  (void)slot;
  m->pool_top = -1;
}

const struct core_check_fault core_check_faults_uses[] = {
    {ASHLAR_CLAUSE_STREAMS_IN_RANGE, "streams_in_range", stream_count_beyond},
    {ASHLAR_CLAUSE_STREAMS_IN_RANGE, "streams_in_range", stream_number_beyond},
    {ASHLAR_CLAUSE_STREAMS_IN_RANGE, "streams_in_range", stream_rank_beyond},
    {ASHLAR_CLAUSE_STREAMS_IN_RANGE, "streams_in_range", stream_count_negative},
    {ASHLAR_CLAUSE_STREAMS_SORTED, "streams_sorted", stream_keys_equal},
    {ASHLAR_CLAUSE_STREAMS_DISTINCT, "streams_distinct", stream_back},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_of_no_block},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_of_no_stream},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_without_serial},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_top_beyond},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_top_negative},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_spare_count_negative},
    {ASHLAR_CLAUSE_USES_IN_RANGE, "uses_in_range", use_spare_count_beyond},
    {ASHLAR_CLAUSE_USES_SPARE, "uses_spare", use_spare_lost},
    {ASHLAR_CLAUSE_USES_SPARE, "uses_spare", use_spare_in_use},
    {ASHLAR_CLAUSE_USES_SPARE, "uses_spare", use_spare_nowhere},
    {ASHLAR_CLAUSE_USES_SPARE, "uses_spare", use_spare_of_another},
    {ASHLAR_CLAUSE_CHAIN_MORE, "use_chains", chain_elsewhere},
    {ASHLAR_CLAUSE_CHAIN_MORE, "use_chains", uses_out_of_order},
    {ASHLAR_CLAUSE_CHAIN_LESS, "use_chains", use_unchained},
    {ASHLAR_CLAUSE_CHAIN_LESS, "use_chains", use_chain_cut},
    {ASHLAR_CLAUSE_CHAIN_STARTS, "use_chains", chain_of_another},
    {ASHLAR_CLAUSE_CHAIN_STARTS, "use_chains", first_use_beyond},
    {ASHLAR_CLAUSE_USES_UNIQUE, "use_chains", use_twice},
    {ASHLAR_CLAUSE_SERIALS_DISTINCT, "serials_distinct", uses_recorded_together},
    {ASHLAR_CLAUSE_QUEUE_NEXT, "use_queues", queue_cyclic},
    {ASHLAR_CLAUSE_QUEUE_ENDS, "use_queues", queue_head_lost},
    {ASHLAR_CLAUSE_QUEUE_ENDS, "use_queues", queue_tail_beyond},
    {ASHLAR_CLAUSE_QUEUE_HEADS, "use_queues", queue_of_another},
    {ASHLAR_CLAUSE_QUEUE_TAILS, "use_queues", queue_tail_wrong},
    {ASHLAR_CLAUSE_QUEUE_TAILS, "use_queues", queue_tail_of_another},
    {ASHLAR_CLAUSE_QUEUE_FIRST, "use_queues", queue_head_passed},
    {ASHLAR_CLAUSE_QUEUE_FIRST, "use_queues", queue_emptied},
    {ASHLAR_CLAUSE_QUEUE_LAST, "use_queues", queue_cut},
    {ASHLAR_CLAUSE_QUEUE_DENSE, "use_queues", queue_left_out},
    {ASHLAR_CLAUSE_CLOCKS_VALID, "use_queues", clock_behind},
    {ASHLAR_CLAUSE_CLOCKS_VALID, "use_queues", clock_ahead},
    {ASHLAR_CLAUSE_CLOCKS_BOUNDED, "clocks_bounded", submissions_lost},
    {ASHLAR_CLAUSE_USES_CLOCKED, "clocks_bounded", submissions_unrecorded},
    {ASHLAR_CLAUSE_USES_CLOCKED, "clocks_bounded", submissions_beyond},
    {ASHLAR_CLAUSE_POOLS_IN_RANGE, "pools_in_range", pool_top_beyond},
    {ASHLAR_CLAUSE_POOLS_IN_RANGE, "pools_in_range", pool_beyond_top},
    {ASHLAR_CLAUSE_POOLS_IN_RANGE, "pools_in_range", pool_state_unknown},
    {ASHLAR_CLAUSE_POOLS_IN_RANGE, "pools_in_range", pool_default_created},
    {ASHLAR_CLAUSE_POOLS_IN_RANGE, "pools_in_range", pool_top_negative},
    {ASHLAR_CLAUSE_POOLS_COUNTED, "pools_counted", pool_without_users},
    {ASHLAR_CLAUSE_POOLS_COUNTED, "pools_counted", pool_freeable_used},
    {ASHLAR_CLAUSE_POOLS_ENDED, "pools_ended", pool_ended_with_segment},
    {ASHLAR_CLAUSE_POOLS_ENDED, "pools_ended", pool_ended_lends},
    {ASHLAR_CLAUSE_POOLS_ENDED, "pools_ended", pool_ended_routed},
    {ASHLAR_CLAUSE_POOLS_WHOLE, "pools_counted", pool_freeable_whole},
    {ASHLAR_CLAUSE_POOLS_CREATED, "pools_ordered", pool_without_serial},
    {ASHLAR_CLAUSE_POOLS_CREATED, "pools_ordered", pool_serial_beyond},
    {ASHLAR_CLAUSE_POOLS_DISTINCT, "pools_ordered", pools_created_together},
    {ASHLAR_CLAUSE_SCOPES_OPENED, "scopes_ordered", scope_serial_beyond},
    {ASHLAR_CLAUSE_SCOPES_DISTINCT, "scopes_ordered", scopes_opened_together},
    {-1, NULL, NULL},
};
