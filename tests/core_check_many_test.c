/* core_check_many_test.c - the check of the whole state where segments and uses are more than it sorts at a time: what is
 * alike is found in whatever batches it is.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/check.h"
#include "core/check_clauses.h"
#include "tests/core_check.h"
#include "tests/manager_support.h"

enum {
  PAIRS =
      ASHLAR_RANGES + 50, /* segments of two blocks, of which the first is used on another stream */
  WHOLES = ASHLAR_RANGES + 50 /* and behind them segments of one, allocated */
};

#define FIRST_PAIR (UINT64_C(1) << 33)
#define FIRST_WHOLE (UINT64_C(1) << 34)

static int32_t pair[PAIRS];
static int32_t whole[WHOLES];

static int32_t taken(struct fixture *f, uint64_t address, uint64_t segment)
{
  const int32_t added = must_add(f, address, segment, ASHLAR_CLASS_SMALL, 0);
  const struct ashlar_placement placed = ashlar_allocate_at(f->m, added, address, 512, 1);
  assert_int_equal(placed.status, ASHLAR_OK);
  return placed.slot;
}

static int start(void **state)
{
  struct fixture *f = NULL;
  if (fixture_start(state) != 0) {
    return -1;
  }
  f = *state;
  for (uint64_t k = 0; k < PAIRS; k++) {
    pair[k] = taken(f, FIRST_PAIR + 2048 * k, 1024);
    assert_int_equal(ashlar_record_use(f->m, pair[k], 0, 1, ashlar_nobody()), ASHLAR_OK);
  }
  for (uint64_t k = 0; k < WHOLES; k++) {
    whole[k] = taken(f, FIRST_WHOLE + 2048 * k, 512);
  }
  must_free(f, pair[PAIRS - 10]); /* spare records among the last ones */
  assert_int_equal(ashlar_complete(f->m, 1, 1, ashlar_nobody()).freed, 1);
  assert_true(f->m->use_top > 2 * ASHLAR_RANGES);
  assert_int_equal(f->m->use_spare_count, 2);
  check_whole(f->m);
  return 0;
}

/* Both checks find the clause broken, core/check where it is said. */
static void must_find(struct fixture *f, enum ashlar_clause clause, int32_t at, const char *naive)
{
  char why[128];
  const struct ashlar_finding finding = ashlar_check(f->m);
  assert_int_equal(finding.clause, clause);
  assert_int_equal(finding.at, at);
  assert_false(ashlar_core_check(f->m, why, sizeof why));
  assert_memory_equal(why, naive, strlen(naive));
  assert_null(strchr(why, ','));
}

/* Moves a segment of one block to the second block of another one. */
static void move_into(struct ashlar_manager *m, int32_t slot, int32_t other)
{
  m->addr[slot] = m->addr[other] + 512;
  m->base[slot] = m->addr[slot];
}

/* A segment that lies in one of an earlier batch, of a later batch, of its own. Oracle: REQ-VALID, REQ-DISJOINT-blocks. */
static void segments_overlap(void **state)
{
  struct fixture *f = *state;
  struct ashlar_manager *m = f->m;
  const int32_t last = whole[WHOLES - 1];
  const uint64_t address = m->addr[last];
  const uint64_t before = m->addr[pair[0]];
  move_into(m, last, pair[3]);
  must_find(f, ASHLAR_CLAUSE_BLOCKS_DISJOINT, last, "blocks_disjoint");
  m->addr[last] = address;
  m->base[last] = address;
  check_whole(m);

  /* the pair, both of its blocks, into a pair of the second batch: it begins at the second block of that */
  m->addr[pair[0]] = m->addr[pair[PAIRS - 1]] + 512;
  m->base[pair[0]] = m->addr[pair[0]];
  m->addr[m->next[pair[0]]] = m->addr[pair[0]] + 512;
  m->base[m->next[pair[0]]] = m->addr[pair[0]];
  assert_int_equal(ashlar_check_blocks(m, ASHLAR_CLAUSE_BLOCKS_DISJOINT), pair[0]);
  m->addr[pair[0]] = before;
  m->base[pair[0]] = before;
  m->addr[m->next[pair[0]]] = before + 512;
  m->base[m->next[pair[0]]] = before;

  move_into(m, whole[WHOLES - 2], pair[PAIRS - 1]);
  assert_true(ashlar_check_blocks(m, ASHLAR_CLAUSE_BLOCKS_DISJOINT) >= 0);
  m->addr[whole[WHOLES - 2]] = address - 2048;
  m->base[whole[WHOLES - 2]] = address - 2048;
  check_whole(m);
}

/* Two uses of different blocks with one serial, in two batches and in one. Oracle: REQ-VALID. */
static void serials_are_equal(void **state)
{
  struct fixture *f = *state;
  struct ashlar_manager *m = f->m;
  const int32_t use = m->first_use[pair[PAIRS - 1]] - 1;
  const int32_t late = m->use_more[use];
  const int32_t early = m->first_use[pair[0]] - 1;
  const uint64_t serial = m->use_serial[late];
  m->use_serial[late] = m->use_serial[early];
  must_find(f, ASHLAR_CLAUSE_SERIALS_DISTINCT, late, "serials_distinct");

  m->use_serial[late] = m->use_serial[m->first_use[pair[PAIRS - 2]] - 1];
  assert_true(ashlar_check_uses(m, ASHLAR_CLAUSE_SERIALS_DISTINCT) >= 0);
  m->use_serial[late] = serial;
  check_whole(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(segments_overlap),
      cmocka_unit_test(serials_are_equal),
  };
  return cmocka_run_group_tests(tests, start, fixture_stop);
}
