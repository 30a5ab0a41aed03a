/* check.c - see check.h: runs the clauses in their order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check.h"

#include "core/check_clauses.h"

/*@ ghost
  void ashlar_checked_is_valid(const struct ashlar_manager *m) { ; }

  void ashlar_valid_is_checked(const struct ashlar_manager *m) { ; }

  // all clauses hold only where those before a number do
  /@ requires \valid(m);
     requires clause: 0 <= clause <= ASHLAR_CLAUSES;
     READS
     ensures before: checked(*m, ASHLAR_CLAUSES) ==> checked(*m, clause);
  @/
  static void those_before(const struct ashlar_manager *m, int32_t clause) { ; }
*/

/* Where a clause is broken; -1: it holds. Each group has the clauses up to its last one. */
/*@ requires \valid(m);
    requires clause: 0 <= clause < ASHLAR_CLAUSES;
    requires before: checked(*m, clause);
    READS
    ensures index: -1 <= \result;
    ensures holds: \result == -1 <==> checked(*m, clause + 1);
*/
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
  if (clause <= ASHLAR_CLAUSE_REQUESTS_READY) {
    return ashlar_check_requests(m, clause);
  }
  return ashlar_check_stats(m, clause);
}

struct ashlar_finding ashlar_check(const struct ashlar_manager *m)
{
  struct ashlar_finding finding;
  finding.clause = 0;
  finding.at = broken_at(m, 0);
  /*@ loop invariant clause: 0 <= finding.clause < ASHLAR_CLAUSES && -1 <= finding.at;
      loop invariant before: checked(*m, finding.clause);
      loop invariant holds: finding.at == -1 <==> checked(*m, finding.clause + 1);
      loop assigns finding;
      loop variant ASHLAR_CLAUSES - finding.clause;
  */
  while (finding.at == -1 && finding.clause < ASHLAR_CLAUSES - 1) {
    finding.clause++;
    finding.at = broken_at(m, finding.clause);
  }
  //@ ghost those_before(m, finding.clause + 1);
  if (finding.at == -1) {
    finding.clause = -1;
  }
  return finding;
}
