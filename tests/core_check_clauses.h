/* core_check_clauses.h - the clauses of core_check.h, one table a file. A clause returns the number of the first entry that
 * breaks it, ASHLAR_CORE_HOLDS where it holds.
 *
 * The order of a table matters: a clause may index by what an earlier one has found to be in range.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORE_CHECK_CLAUSES_H
#define ASHLAR_TESTS_CORE_CHECK_CLAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"

enum { ASHLAR_CORE_HOLDS = -1 };

struct ashlar_core_clause {
  unsigned part; /* enum ashlar_core_part */
  const char *name;
  int64_t (*broken_at)(const struct ashlar_manager *m);
};

/* Each table ends with a clause without name. */
extern const struct ashlar_core_clause ashlar_core_block_clauses[];
extern const struct ashlar_core_clause ashlar_core_use_clauses[];
extern const struct ashlar_core_clause ashlar_core_request_clauses[];
extern const struct ashlar_core_clause ashlar_core_stat_clauses[];

/* Zeroed memory; ends the process where the machine has none. */
void *ashlar_core_memory(size_t count, size_t size);

#endif
