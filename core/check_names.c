/* check_names.c - see check.h: names of the clauses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check.h"

/* the last row is the name of what is no clause */
static const char NAMES[ASHLAR_CLAUSES + 1][ASHLAR_NAME_BYTES] = {
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
    [ASHLAR_CLAUSE_REQUESTS_READY] = "requests_ready",
    [ASHLAR_CLAUSE_BLOCKS_COUNTED] = "blocks_counted",
    [ASHLAR_CLAUSE_RESERVED_COUNTED] = "reserved_counted",
    [ASHLAR_CLAUSE_OVERSIZE_COUNTED] = "oversize_counted",
    [ASHLAR_CLAUSE_TOTALS_VALID] = "totals_valid",
    [ASHLAR_CLAUSE_COLUMNS_SUMMED] = "columns_summed",
    [ASHLAR_CLAUSES] = "",
};

// clang-format off
/* what is so of every row: the provers look at them one by one */
#define ROWS_8(P, K) P(K) && P((K) + 1) && P((K) + 2) && P((K) + 3) && P((K) + 4) && P((K) + 5) && P((K) + 6) && P((K) + 7)
#define ROWS(P) ROWS_8(P, 0) && ROWS_8(P, 8) && ROWS_8(P, 16) && ROWS_8(P, 24) && ROWS_8(P, 32) && ROWS_8(P, 40) && \
  ROWS_8(P, 48) && ROWS_8(P, 56) && ROWS_8(P, 64) && ROWS_8(P, 72) && P(80) && P(81) && P(82) && P(83) && P(84)
#define IS_ENDED(K) NAMES[K][ASHLAR_NAME_BYTES - 1] == 0
#define IS_OTHER(K) row != (K)
// clang-format on

/*@ ghost
  /@ requires 0 <= row <= ASHLAR_CLAUSES;
     terminates \true; exits \false;
     assigns \nothing;
     ensures ended: NAMES[row][ASHLAR_NAME_BYTES - 1] == 0;
     ensures named: row < ASHLAR_CLAUSES ==> NAMES[row][0] != 0;
  @/
  static void look_up(int32_t row)
  {
    /@ assert ends: ROWS(IS_ENDED); @/
    /@ assert rows: !(ROWS(IS_OTHER)); @/
  }
*/

/*@ requires 0 <= row <= ASHLAR_CLAUSES;
    terminates \true; exits \false;
    assigns \result \from row;
    ensures readable: \valid_read(\result + (0 .. ASHLAR_NAME_BYTES - 1));
    ensures found: \result == &NAMES[row][0];
*/
static const char *name_of(int32_t row)
{
  return NAMES[row];
}

const char *ashlar_check_name(int32_t clause)
{
  int32_t row = clause >= 0 && clause < ASHLAR_CLAUSES ? clause : ASHLAR_CLAUSES;
  //@ ghost look_up(row);
  return name_of(row);
}
