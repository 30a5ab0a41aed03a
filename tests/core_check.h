/* core_check.h - looks at the whole state of a manager, twice: by core/check, and by clauses that know nothing of it.
 *
 * These are written from spec/ and not from core/: each is a loop of its own, as naive as the predicate that it follows,
 * and calls nothing of the core. They may take memory and time that the core has not got. Any state that the public
 * operations can reach must pass both, in flight or not, and any other both must refuse.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORE_CHECK_H
#define ASHLAR_TESTS_CORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"

/* Groups of clauses; a test of one module keeps only its own. */
enum ashlar_core_part {
  ASHLAR_CORE_INDEX = 1,    /* spec/free_index.h */
  ASHLAR_CORE_BLOCKS = 2,   /* spec/block_table.h; needs INDEX */
  ASHLAR_CORE_MAP = 4,      /* spec/address_map.h */
  ASHLAR_CORE_STREAMS = 8,  /* spec/stream_table.h */
  ASHLAR_CORE_REQUEST = 16, /* settings, ages, requests in flight; needs all but STATS */
  ASHLAR_CORE_STATS = 32,   /* every statistic against the block list; needs BLOCKS */
  ASHLAR_CORE_USES = 64,    /* spec/stream_use.h */
  ASHLAR_CORE_POOLS = 128,  /* spec/pool.h */
  ASHLAR_CORE_STATE = 256,  /* what holds between the others; needs all but REQUEST and STATS */
  ASHLAR_CORE_WHOLE = 511
};

/* Checks the state, and that both ways of doing so agree. On false, `why` (n bytes, n > 0) names the clause and the
   number of the entry that breaks it. O(slots), and O(n log n) in the blocks. Ends the process where the machine has no
   memory. */
bool ashlar_core_check(const struct ashlar_manager *m, char *why, size_t n);

/* The same for some of the groups, a sum of enum ashlar_core_part, and without core/check. */
bool ashlar_core_check_parts(const struct ashlar_manager *m, unsigned parts, char *why, size_t n);

/* Name of the i-th clause of these, NULL behind the last: for the test that sees each of them fail. */
const char *ashlar_core_clause(size_t i);

/* What the block list says, in the layout of manager.h: current values by definition. */
struct ashlar_core_count {
  uint64_t stat[ASHLAR_STATS];
  uint64_t oversize_allocations;
  uint64_t oversize_segments;
  uint64_t reserved[ASHLAR_POOL_NUMBERS]; /* bytes of the blocks of a pool */
};
struct ashlar_core_count ashlar_core_recount(const struct ashlar_manager *m);

#endif
