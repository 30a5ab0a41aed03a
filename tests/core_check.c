/* core_check.c - see core_check.h: runs the clauses of all tables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "tests/core_check_clauses.h"

void *ashlar_core_memory(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  if (memory == NULL) {
    (void)fputs("no memory to check a manager\n", stderr);
    exit(EXIT_FAILURE);
  }
  return memory;
}

static const struct ashlar_core_clause *const TABLES[] = {
    ashlar_core_block_clauses, ashlar_core_use_clauses, ashlar_core_request_clauses,
    ashlar_core_stat_clauses};
enum { TABLE_COUNT = sizeof TABLES / sizeof TABLES[0] };

const char *ashlar_core_clause(size_t i)
{
  for (size_t t = 0; t < TABLE_COUNT; t++) {
    for (const struct ashlar_core_clause *clause = TABLES[t]; clause->name != NULL; clause++) {
      if (i == 0) {
        return clause->name;
      }
      i--;
    }
  }
  return NULL;
}

bool ashlar_core_check_parts(const struct ashlar_manager *m, unsigned parts, char *why, size_t n)
{
  for (size_t t = 0; t < TABLE_COUNT; t++) {
    for (const struct ashlar_core_clause *clause = TABLES[t]; clause->name != NULL; clause++) {
      const int64_t at = (parts & clause->part) != 0 ? clause->broken_at(m) : ASHLAR_CORE_HOLDS;
      if (at != ASHLAR_CORE_HOLDS) {
        (void)snprintf(why, n, "%s: %" PRId64, clause->name, at);
        return false;
      }
    }
  }
  why[0] = '\0';
  return true;
}

bool ashlar_core_check(const struct ashlar_manager *m, char *why, size_t n)
{
  const struct ashlar_finding finding = ashlar_check(m);
  const bool valid = ashlar_core_check_parts(m, ASHLAR_CORE_WHOLE, why, n);
  if (valid && finding.clause != -1) {
    (void)snprintf(why, n, "%s: %" PRId32 ", by core/check alone",
                   ashlar_check_name(finding.clause), finding.at);
  } else if (!valid && finding.clause == -1) {
    const size_t length = strlen(why);
    (void)snprintf(why + length, n - length, ", unknown to core/check");
  }
  return valid && finding.clause == -1;
}
