/* check.c - see check.h: runs the clauses in their order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check.h"

#include "core/check_clauses.h"

static const char *const NAMES[ASHLAR_CLAUSES] = {
    [ASHLAR_CLAUSE_INDEX_BIJECTIVE] = "index_bijective",
    [ASHLAR_CLAUSE_INDEX_SORTED] = "index_sorted",
    [ASHLAR_CLAUSE_STATES_VALID] = "states_valid",
    [ASHLAR_CLAUSE_BLOCKS_IN_RANGE] = "blocks_in_range",
    [ASHLAR_CLAUSE_BLOCKS_ALIGNED] = "blocks_aligned",
    [ASHLAR_CLAUSE_BLOCKS_LISTED] = "blocks_listed",
    [ASHLAR_CLAUSE_LINKS_NEXT] = "links_next",
    [ASHLAR_CLAUSE_LINKS_PREV] = "links_prev",
    [ASHLAR_CLAUSE_BLOCKS_TILE] = "blocks_tile",
    [ASHLAR_CLAUSE_BLOCKS_BASED] = "blocks_based",
    [ASHLAR_CLAUSE_UNMAPPED_GROWABLE] = "unmapped_growable",
    [ASHLAR_CLAUSE_BLOCKS_DISJOINT] = "blocks_disjoint",
    [ASHLAR_CLAUSE_BLOCKS_COALESCED] = "blocks_coalesced",
    [ASHLAR_CLAUSE_INDEX_IS_FREE] = "index_is_free",
    [ASHLAR_CLAUSE_SPARES_UNUSED] = "spares_unused",
    [ASHLAR_CLAUSE_UNUSED_SPARE] = "unused_spare",
    [ASHLAR_CLAUSE_BYTES_COUNTED] = "bytes_counted",
    [ASHLAR_CLAUSE_MAP_IN_RANGE] = "map_in_range",
    [ASHLAR_CLAUSE_MAP_HEADS] = "map_heads",
    [ASHLAR_CLAUSE_MAP_CHAINS] = "map_chains",
    [ASHLAR_CLAUSE_MAP_FIRST] = "map_first",
    [ASHLAR_CLAUSE_MAP_NEXT] = "map_next",
    [ASHLAR_CLAUSE_STREAMS_IN_RANGE] = "streams_in_range",
    [ASHLAR_CLAUSE_STREAMS_SORTED] = "streams_sorted",
    [ASHLAR_CLAUSE_STREAMS_DISTINCT] = "streams_distinct",
    [ASHLAR_CLAUSE_USES_IN_RANGE] = "uses_in_range",
    [ASHLAR_CLAUSE_USES_SPARE] = "uses_spare",
    [ASHLAR_CLAUSE_CHAIN_MORE] = "chain_more",
    [ASHLAR_CLAUSE_CHAIN_LESS] = "chain_less",
    [ASHLAR_CLAUSE_CHAIN_STARTS] = "chain_starts",
    [ASHLAR_CLAUSE_USES_UNIQUE] = "uses_unique",
    [ASHLAR_CLAUSE_SERIALS_DISTINCT] = "serials_distinct",
    [ASHLAR_CLAUSE_QUEUE_NEXT] = "queue_next",
    [ASHLAR_CLAUSE_QUEUE_ENDS] = "queue_ends",
    [ASHLAR_CLAUSE_QUEUE_HEADS] = "queue_heads",
    [ASHLAR_CLAUSE_QUEUE_TAILS] = "queue_tails",
    [ASHLAR_CLAUSE_QUEUE_FIRST] = "queue_first",
    [ASHLAR_CLAUSE_QUEUE_LAST] = "queue_last",
    [ASHLAR_CLAUSE_QUEUE_DENSE] = "queue_dense",
    [ASHLAR_CLAUSE_CLOCKS_VALID] = "clocks_valid",
    [ASHLAR_CLAUSE_CLOCKS_BOUNDED] = "clocks_bounded",
    [ASHLAR_CLAUSE_USES_CLOCKED] = "uses_clocked",
    [ASHLAR_CLAUSE_POOLS_IN_RANGE] = "pools_in_range",
    [ASHLAR_CLAUSE_POOLS_COUNTED] = "pools_counted",
    [ASHLAR_CLAUSE_POOLS_ENDED] = "pools_ended",
    [ASHLAR_CLAUSE_POOLS_WHOLE] = "pools_whole",
    [ASHLAR_CLAUSE_POOLS_CREATED] = "pools_created",
    [ASHLAR_CLAUSE_POOLS_DISTINCT] = "pools_distinct",
    [ASHLAR_CLAUSE_SCOPES_OPENED] = "scopes_opened",
    [ASHLAR_CLAUSE_SCOPES_DISTINCT] = "scopes_distinct",
    [ASHLAR_CLAUSE_MAP_ALLOCATED] = "map_allocated",
    [ASHLAR_CLAUSE_NONE_TAKEN] = "none_taken",
    [ASHLAR_CLAUSE_USES_HAD] = "uses_had",
    [ASHLAR_CLAUSE_SUBMITTED_PENDING] = "submitted_pending",
    [ASHLAR_CLAUSE_PENDING_USED] = "pending_used",
    [ASHLAR_CLAUSE_DEFERRAL_FIRST] = "deferral_first",
    [ASHLAR_CLAUSE_DEFERRED_WAITS] = "deferred_waits",
    [ASHLAR_CLAUSE_BLOCKS_REFERENCED] = "blocks_referenced",
    [ASHLAR_CLAUSE_HOMES_LISTED] = "homes_listed",
    [ASHLAR_CLAUSE_HOMES_POOLED] = "homes_pooled",
    [ASHLAR_CLAUSE_AGES_VALID] = "ages_valid",
    [ASHLAR_CLAUSE_AGES_CREATED] = "ages_created",
    [ASHLAR_CLAUSE_STREAM_SEGMENTS] = "stream_segments",
    [ASHLAR_CLAUSE_POOL_SEGMENTS] = "pool_segments",
    [ASHLAR_CLAUSE_SEGMENTS_COUNTED] = "segments_counted",
    [ASHLAR_CLAUSE_VALID_CONFIG] = "valid_config",
    [ASHLAR_CLAUSE_GROWABLE_ALLOWED] = "growable_allowed",
    [ASHLAR_CLAUSE_FLIGHT_COUNTED] = "flight_counted",
    [ASHLAR_CLAUSE_FLIGHT_ROOM] = "flight_room",
    [ASHLAR_CLAUSE_REQUESTS_VALID] = "requests_valid",
    [ASHLAR_CLAUSE_REQUESTS_HOMED] = "requests_homed",
    [ASHLAR_CLAUSE_BLOCKS_HELD] = "blocks_held",
    [ASHLAR_CLAUSE_REQUESTS_HOLD] = "requests_hold",
    [ASHLAR_CLAUSE_LEAVING_ASKED] = "leaving_asked",
    [ASHLAR_CLAUSE_RUNS_BEGIN] = "runs_begin",
    [ASHLAR_CLAUSE_RUNS_END] = "runs_end",
    [ASHLAR_CLAUSE_REQUESTS_ASKED] = "requests_asked",
    [ASHLAR_CLAUSE_REQUESTS_WAIT] = "requests_wait",
    [ASHLAR_CLAUSE_BLOCKS_COUNTED] = "blocks_counted",
    [ASHLAR_CLAUSE_RESERVED_COUNTED] = "reserved_counted",
    [ASHLAR_CLAUSE_OVERSIZE_COUNTED] = "oversize_counted",
    [ASHLAR_CLAUSE_TOTALS_VALID] = "totals_valid",
    [ASHLAR_CLAUSE_COLUMNS_SUMMED] = "columns_summed",
};

/* Where a clause is broken; -1: it holds. Each group has the clauses up to its last one. */
static int32_t broken_at(const struct ashlar_manager *m, int32_t clause)
{
  if (clause <= ASHLAR_CLAUSE_BYTES_COUNTED) {
    return ashlar_check_blocks(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_MAP_NEXT) {
    return ashlar_check_map(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_SERIALS_DISTINCT) {
    return ashlar_check_uses(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_USES_CLOCKED) {
    return ashlar_check_queues(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_SCOPES_DISTINCT) {
    return ashlar_check_pools(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_SEGMENTS_COUNTED) {
    return ashlar_check_state(m, clause);
  }
  if (clause <= ASHLAR_CLAUSE_REQUESTS_WAIT) {
    return ashlar_check_requests(m, clause);
  }
  return ashlar_check_stats(m, clause);
}

struct ashlar_finding ashlar_check(const struct ashlar_manager *m)
{
  struct ashlar_finding finding;
  finding.clause = 0;
  finding.at = broken_at(m, 0);
  while (finding.at == -1 && finding.clause < ASHLAR_CLAUSES - 1) {
    finding.clause++;
    finding.at = broken_at(m, finding.clause);
  }
  if (finding.at == -1) {
    finding.clause = -1;
  }
  return finding;
}

const char *ashlar_check_name(int32_t clause)
{
  return clause >= 0 && clause < ASHLAR_CLAUSES ? NAMES[clause] : "";
}
