/* check.h - the whole state of a manager, checked at run time: clause by clause, the predicates of the proof (REQ-VALID).
 *
 * Any bytes may be there: nothing is believed before it was checked. So the clauses have an order, and one may read by
 * an index that an earlier one has found in range. Each is a function named after its predicate of spec/, and proved to
 * find it broken exactly where it is. Predicates that follow from others are not run: they could not fail, which is proved
 * where the last of those is checked.
 *
 *   bytes_bounded, spares_counted: disjoint blocks below 2^64; a bijection between spare slots and unused ones
 *   uses_counted: the same of records
 *   chain_first, chain_dense: chain_less leads from every use to the first of its block, and chain_more back
 *   numbers_distinct: a queue that ascends strictly and has all uses of its stream
 *
 * Two loops over slots are nowhere needed but for segments, which have no order by address: see blocks_disjoint. Linear
 * in the slots, uses, buckets and streams, beside (slots * segments + uses^2) * log(ASHLAR_RANGES) / ASHLAR_RANGES,
 * O(pools^2), and, to find where map_next is broken, the square of the blocks of a bucket.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_CHECK_H
#define ASHLAR_CORE_CHECK_H

#include "core/manager.h"
#include "core/step.h"

enum ashlar_clause {
  /* spec/free_index.h, spec/block_table.h, spec/address_map.h */
  ASHLAR_CLAUSE_INDEX_BIJECTIVE = 0,
  ASHLAR_CLAUSE_INDEX_SORTED,
  ASHLAR_CLAUSE_STATES_VALID,
  ASHLAR_CLAUSE_BLOCKS_IN_RANGE,
  ASHLAR_CLAUSE_BLOCKS_ALIGNED,
  ASHLAR_CLAUSE_BLOCKS_LISTED,
  ASHLAR_CLAUSE_LINKS_NEXT,
  ASHLAR_CLAUSE_LINKS_PREV,
  ASHLAR_CLAUSE_BLOCKS_TILE,
  ASHLAR_CLAUSE_BLOCKS_BASED,
  ASHLAR_CLAUSE_UNMAPPED_GROWABLE,
  ASHLAR_CLAUSE_BLOCKS_DISJOINT,
  ASHLAR_CLAUSE_BLOCKS_COALESCED,
  ASHLAR_CLAUSE_INDEX_IS_FREE,
  ASHLAR_CLAUSE_SPARES_UNUSED,
  ASHLAR_CLAUSE_UNUSED_SPARE,
  ASHLAR_CLAUSE_BYTES_COUNTED,
  ASHLAR_CLAUSE_MAP_IN_RANGE,
  ASHLAR_CLAUSE_MAP_HEADS,
  ASHLAR_CLAUSE_MAP_CHAINS,
  ASHLAR_CLAUSE_MAP_FIRST,
  ASHLAR_CLAUSE_MAP_NEXT,
  /* spec/stream_table.h, spec/stream_use.h */
  ASHLAR_CLAUSE_STREAMS_IN_RANGE,
  ASHLAR_CLAUSE_STREAMS_SORTED,
  ASHLAR_CLAUSE_STREAMS_DISTINCT,
  ASHLAR_CLAUSE_USES_IN_RANGE,
  ASHLAR_CLAUSE_USES_SPARE,
  ASHLAR_CLAUSE_CHAIN_MORE,
  ASHLAR_CLAUSE_CHAIN_LESS,
  ASHLAR_CLAUSE_CHAIN_STARTS,
  ASHLAR_CLAUSE_USES_UNIQUE,
  ASHLAR_CLAUSE_SERIALS_DISTINCT,
  ASHLAR_CLAUSE_QUEUE_NEXT,
  ASHLAR_CLAUSE_QUEUE_ENDS,
  ASHLAR_CLAUSE_QUEUE_HEADS,
  ASHLAR_CLAUSE_QUEUE_TAILS,
  ASHLAR_CLAUSE_QUEUE_FIRST,
  ASHLAR_CLAUSE_QUEUE_LAST,
  ASHLAR_CLAUSE_QUEUE_DENSE,
  ASHLAR_CLAUSE_CLOCKS_VALID,
  ASHLAR_CLAUSE_CLOCKS_BOUNDED,
  ASHLAR_CLAUSE_USES_CLOCKED,
  /* spec/pool.h */
  ASHLAR_CLAUSE_POOLS_IN_RANGE,
  ASHLAR_CLAUSE_POOLS_COUNTED,
  ASHLAR_CLAUSE_POOLS_ENDED,
  ASHLAR_CLAUSE_POOLS_WHOLE,
  ASHLAR_CLAUSE_POOLS_CREATED,
  ASHLAR_CLAUSE_POOLS_DISTINCT,
  ASHLAR_CLAUSE_SCOPES_OPENED,
  ASHLAR_CLAUSE_SCOPES_DISTINCT,
  /* spec/address_map.h, spec/pending.h, spec/segment.h, spec/block_manager.h: what holds between the others */
  ASHLAR_CLAUSE_MAP_ALLOCATED,
  ASHLAR_CLAUSE_NONE_TAKEN,
  ASHLAR_CLAUSE_USES_HAD,
  ASHLAR_CLAUSE_SUBMITTED_PENDING,
  ASHLAR_CLAUSE_PENDING_USED,
  ASHLAR_CLAUSE_DEFERRAL_FIRST,
  ASHLAR_CLAUSE_DEFERRED_WAITS,
  ASHLAR_CLAUSE_BLOCKS_REFERENCED,
  ASHLAR_CLAUSE_HOMES_LISTED,
  ASHLAR_CLAUSE_HOMES_POOLED,
  ASHLAR_CLAUSE_AGES_VALID,
  ASHLAR_CLAUSE_AGES_CREATED,
  ASHLAR_CLAUSE_STREAM_SEGMENTS,
  ASHLAR_CLAUSE_POOL_SEGMENTS,
  ASHLAR_CLAUSE_SEGMENTS_COUNTED,
  /* spec/block_manager.h: settings and requests in flight */
  ASHLAR_CLAUSE_VALID_CONFIG,
  ASHLAR_CLAUSE_GROWABLE_ALLOWED,
  ASHLAR_CLAUSE_FLIGHT_COUNTED,
  ASHLAR_CLAUSE_FLIGHT_ROOM,
  ASHLAR_CLAUSE_REQUESTS_VALID,
  ASHLAR_CLAUSE_REQUESTS_HOMED,
  ASHLAR_CLAUSE_BLOCKS_HELD,
  ASHLAR_CLAUSE_REQUESTS_HOLD,
  ASHLAR_CLAUSE_LEAVING_ASKED,
  ASHLAR_CLAUSE_RUNS_BEGIN,
  ASHLAR_CLAUSE_RUNS_END,
  ASHLAR_CLAUSE_REQUESTS_ASKED,
  ASHLAR_CLAUSE_REQUESTS_WAIT,
  ASHLAR_CLAUSE_REQUESTS_READY,
  /* spec/block_manager.h: statistics */
  ASHLAR_CLAUSE_BLOCKS_COUNTED,
  ASHLAR_CLAUSE_RESERVED_COUNTED,
  ASHLAR_CLAUSE_OVERSIZE_COUNTED,
  ASHLAR_CLAUSE_TOTALS_VALID,
  ASHLAR_CLAUSE_COLUMNS_SUMMED,
  ASHLAR_CLAUSES
};

/* Names the clauses, and so stands behind them. */
#include "spec/check.h"

struct ashlar_finding {
  int32_t clause; /* enum ashlar_clause; -1: none is broken */
  int32_t
      at; /* the slot, bucket, stream, record, pool, request or counter where it is broken; -1: none is */
};

/* The first clause that is broken. Changes nothing, and may be called between any two calls, whatever is in flight.
   Linear in the slots, uses and buckets, beside what the head of this file names. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_VALID_named: -1 <= \result.clause < ASHLAR_CLAUSES;
    ensures REQ_VALID_whole: \result.clause == -1 <==> checked(*m, ASHLAR_CLAUSES);
    ensures REQ_VALID_first: \result.clause != -1 ==> checked(*m, \result.clause) && !checked(*m, \result.clause + 1) &&
      0 <= \result.at;
*/
struct ashlar_finding ashlar_check(const struct ashlar_manager *m);

/* What all clauses say is the invariant of a manager, neither less nor more: for the prover only. */
/*@ ghost
  /@ requires \valid(m);
     requires checked: checked(*m, ASHLAR_CLAUSES);
     terminates \true; exits \false; assigns \nothing;
     MANAGER_INVARIANT(ensures) READY_INVARIANT(ensures)
  @/
  void ashlar_checked_is_valid(const struct ashlar_manager *m);

  /@ requires \valid(m);
     MANAGER_INVARIANT(requires) READY_INVARIANT(requires)
     terminates \true; exits \false; assigns \nothing;
     ensures checked: checked(*m, ASHLAR_CLAUSES);
  @/
  void ashlar_valid_is_checked(const struct ashlar_manager *m);
*/

/* Bytes of the longest name, with its end. */
#define ASHLAR_NAME_BYTES 24

/* The name of a clause; "" for a number that is none. O(1). */
/*@ terminates \true; exits \false;
    assigns \result \from clause;
    ensures readable: \valid_read(\result + (0 .. ASHLAR_NAME_BYTES - 1));
    ensures ended: \result[ASHLAR_NAME_BYTES - 1] == 0;
    ensures REQ_VALID_named: 0 <= clause < ASHLAR_CLAUSES ==> \result[0] != 0;
    ensures REQ_VALID_unnamed: clause < 0 || ASHLAR_CLAUSES <= clause ==> \result[0] == 0;
*/
const char *ashlar_check_name(int32_t clause);

#endif
