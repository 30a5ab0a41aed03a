/* pool_test.c - private pools and scopes, against two plain lists: pools in the order of their creation, scopes in the
 * order of their opening, each searched from end to end.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/pool.h"
#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, STREAMS = 3, THREADS = 3, STEPS = 15000, MOST = ASHLAR_PRIVATE_POOLS };

/* A pool, as the oracle has it. */
struct entry {
  int32_t pool;
  uint32_t uses;
  uint32_t allocator;
  int32_t segments;
  bool use_on_oom;
  bool no_split;
};

struct scope {
  int32_t pool;
  uint64_t thread;
  int32_t stream;
};

struct lists {
  struct entry pools[MOST];
  int32_t pool_count;
  struct scope scopes[MOST];
  int32_t scope_count;
  bool faithful;
};

/* A manager and what it must be like. */
struct fixture {
  struct ashlar_manager *m;
  struct ashlar_manager *before;
  struct lists lists;
};

static int start(void **state)
{
  static struct fixture fixture;
  memset(&fixture, 0, sizeof fixture);
  fixture.m = ashlar_storage_new();
  fixture.before = ashlar_storage_new();
  fixture.m->stream_count = STREAMS;
  *state = &fixture;
  return 0;
}

static int stop(void **state)
{
  struct fixture *f = *state;
  ashlar_storage_delete(f->m);
  ashlar_storage_delete(f->before);
  return 0;
}

static void check(const struct ashlar_manager *m)
{
  char why[WHY];
  if (!ashlar_core_check_parts(m, ASHLAR_CORE_POOLS, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

/* --- the lists --- */

static struct entry *find(struct lists *lists, int32_t pool)
{
  for (int32_t k = 0; k < lists->pool_count; k++) {
    if (lists->pools[k].pool == pool) {
      return &lists->pools[k];
    }
  }
  return NULL;
}

static int32_t find_scope(const struct lists *lists, int32_t pool)
{
  for (int32_t k = 0; k < lists->scope_count; k++) {
    if (lists->scopes[k].pool == pool) {
      return k;
    }
  }
  return -1;
}

/* Oracle: REQ-POOL-count. */
static struct ashlar_pool_creation list_create(struct lists *lists, uint32_t allocator)
{
  for (int32_t pool = 1; pool <= MOST; pool++) {
    if (find(lists, pool) == NULL) {
      lists->pools[lists->pool_count] =
          (struct entry){.pool = pool, .uses = 1, .allocator = allocator};
      lists->pool_count++;
      return (struct ashlar_pool_creation){ASHLAR_OK, pool};
    }
  }
  return (struct ashlar_pool_creation){ASHLAR_ERROR_POOLS, 0};
}

static enum ashlar_status list_used(struct lists *lists, int32_t pool)
{
  const struct entry *entry = find(lists, pool);
  if (entry == NULL) {
    return ASHLAR_ERROR_POOL;
  }
  return entry->uses == 0 ? ASHLAR_ERROR_POOL_RELEASED : ASHLAR_OK;
}

/* Oracle: REQ-POOL-count. */
static enum ashlar_status list_acquire(struct lists *lists, int32_t pool, uint32_t allocator)
{
  const enum ashlar_status status = list_used(lists, pool);
  if (status != ASHLAR_OK || allocator != 0) {
    return status != ASHLAR_OK ? status : ASHLAR_ERROR_POOL_ALLOCATOR;
  }
  find(lists, pool)->uses++;
  return ASHLAR_OK;
}

/* Oracle: REQ-POOL-count, REQ-POOL-nosplit. */
static enum ashlar_status list_release(struct lists *lists, int32_t pool)
{
  const enum ashlar_status status = list_used(lists, pool);
  struct entry *entry = find(lists, pool);
  if (status == ASHLAR_OK) {
    entry->uses--;
    entry->no_split = entry->no_split && entry->uses > 0;
  }
  return status;
}

/* Oracle: REQ-POOL-freeable. */
static enum ashlar_status list_end(struct lists *lists, int32_t pool)
{
  struct entry *entry = find(lists, pool);
  if (entry == NULL) {
    return ASHLAR_ERROR_POOL;
  }
  if (entry->uses > 0 || entry->segments > 0 || find_scope(lists, pool) != -1) {
    return ASHLAR_ERROR_POOL_BUSY;
  }
  lists->pool_count--;
  for (; entry < &lists->pools[lists->pool_count]; entry++) {
    entry[0] = entry[1];
  }
  return ASHLAR_OK;
}

/* Oracle: REQ-POOL-scope. */
static enum ashlar_status list_open(struct lists *lists, struct scope scope)
{
  enum ashlar_status status = list_used(lists, scope.pool);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (scope.stream < -1 || scope.stream >= STREAMS) {
    return ASHLAR_ERROR_STREAM;
  }
  if (find_scope(lists, scope.pool) != -1) {
    find(lists, scope.pool)->uses += lists->faithful ? 1 : 0;
    return ASHLAR_ERROR_SCOPE_OPEN;
  }
  find(lists, scope.pool)->uses++;
  lists->scopes[lists->scope_count] = scope;
  lists->scope_count++;
  return ASHLAR_OK;
}

/* Oracle: REQ-POOL-scope. */
static enum ashlar_status list_close(struct lists *lists, int32_t pool)
{
  const int32_t at = find_scope(lists, pool);
  if (find(lists, pool) == NULL) {
    return ASHLAR_ERROR_POOL;
  }
  if (at == -1) {
    return ASHLAR_ERROR_SCOPE;
  }
  lists->scope_count--;
  for (int32_t k = at; k < lists->scope_count; k++) {
    lists->scopes[k] = lists->scopes[k + 1];
  }
  return ASHLAR_OK;
}

/* Oracle: REQ-POOL-scope. */
static int32_t list_route(const struct lists *lists, uint64_t thread, int32_t stream)
{
  for (int32_t k = lists->scope_count - 1; k >= 0; k--) {
    const struct scope *scope = &lists->scopes[k];
    if ((scope->thread == 0 || scope->thread == thread) &&
        (scope->stream == -1 || scope->stream == stream)) {
      return scope->pool;
    }
  }
  return 0;
}

/* --- agreement --- */

/* The walks meet the pools of the list that they are for, in its order.
   Oracle: REQ-POOL-freeable, REQ-LADDER-fallback, REQ-LADDER-private. */
static void walk_must_agree(const struct ashlar_manager *m, const struct lists *lists, int32_t own)
{
  uint64_t after = 0;
  for (int32_t k = 0; k < lists->pool_count; k++) {
    const struct entry *entry = &lists->pools[k];
    if (entry->uses == 0 || entry->pool == own) {
      const int32_t pool = ashlar_pool_next_freeable(m, after, own);
      assert_int_equal(pool, entry->pool);
      after = m->pool_serial[pool];
    }
  }
  assert_int_equal(ashlar_pool_next_freeable(m, after, own), 0);
}

static void walks_must_agree(const struct ashlar_manager *m, const struct lists *lists)
{
  uint64_t lending = 0;
  walk_must_agree(m, lists, 0);
  walk_must_agree(m, lists, 1 + (int32_t)(m->pool_serials % MOST)); /* another one each time */
  for (int32_t k = 0; k < lists->pool_count; k++) {
    const struct entry *entry = &lists->pools[k];
    if (entry->uses > 0 && entry->use_on_oom) {
      const int32_t pool = ashlar_pool_next_use_on_oom(m, lending);
      assert_int_equal(pool, entry->pool);
      lending = m->pool_serial[pool];
    }
  }
  assert_int_equal(ashlar_pool_next_use_on_oom(m, lending), 0);
}

static void must_agree(struct fixture *f)
{
  const struct ashlar_manager *m = f->m;
  check(m);
  for (int32_t pool = 1; pool <= MOST; pool++) {
    const struct entry *entry = find(&f->lists, pool);
    assert_int_equal(m->pool_state[pool], entry == NULL      ? ASHLAR_POOL_UNUSED
                                          : entry->uses == 0 ? ASHLAR_POOL_FREEABLE
                                                             : ASHLAR_POOL_LIVE);
    if (entry != NULL) {
      assert_int_equal(m->pool_uses[pool], entry->uses);
      assert_int_equal(m->pool_allocator[pool], entry->allocator);
      assert_int_equal(m->pool_segments[pool], entry->segments);
      assert_int_equal(m->pool_use_on_oom[pool] != 0, entry->use_on_oom);
      assert_int_equal(m->pool_no_split[pool] != 0, entry->no_split);
    }
  }
  for (uint64_t thread = 1; thread <= THREADS; thread++) {
    for (int32_t stream = 0; stream < STREAMS; stream++) {
      assert_int_equal(ashlar_scope_route(m, thread, stream),
                       list_route(&f->lists, thread, stream));
    }
  }
  walks_must_agree(m, &f->lists);
}

/* --- random steps --- */

/* As the segments do it. */
static void step_segments(struct fixture *f, int32_t pool, bool add)
{
  struct entry *entry = find(&f->lists, pool);
  if (entry == NULL) {
    return;
  }
  if (add) {
    f->m->pool_segments[pool]++;
    entry->segments++;
  } else if (entry->segments > 0) {
    f->m->pool_segments[pool]--;
    entry->segments--;
  }
}

static enum ashlar_status step_mark(struct fixture *f, int32_t pool, uint64_t which)
{
  struct entry *entry = find(&f->lists, pool);
  enum ashlar_status status = ASHLAR_OK;
  enum ashlar_status expected = ASHLAR_OK;
  if (which == 0) {
    status = ashlar_pool_set_no_split(f->m, pool);
    expected = list_used(&f->lists, pool);
    if (expected == ASHLAR_OK) {
      entry->no_split = true;
    }
  } else {
    status = ashlar_pool_set_use_on_oom(f->m, pool, which == 1);
    expected = entry == NULL ? ASHLAR_ERROR_POOL : ASHLAR_OK;
    if (entry != NULL) {
      entry->use_on_oom = which == 1;
    }
  }
  assert_int_equal(status, expected);
  return status;
}

static enum ashlar_status step_create(struct fixture *f, uint32_t allocator)
{
  const struct ashlar_pool_creation expected = list_create(&f->lists, allocator);
  const struct ashlar_pool_creation creation = ashlar_pool_create(f->m, allocator);
  assert_int_equal(creation.status, expected.status);
  assert_int_equal(creation.pool, expected.pool);
  return creation.status;
}

static enum ashlar_status step_open(struct fixture *f, uint64_t *seed, int32_t pool)
{
  const struct scope scope = {.pool = pool,
                              .thread = ashlar_random_below(seed, THREADS + 1),
                              .stream = (int32_t)ashlar_random_below(seed, STREAMS + 3) - 2};
  const enum ashlar_status status = ashlar_scope_open(f->m, pool, scope.thread, scope.stream);
  assert_int_equal(status, list_open(&f->lists, scope));
  return status;
}

/* One operation on the manager and on the lists, with the same result. At most `most` pools are created. */
static enum ashlar_status step(struct fixture *f, uint64_t *seed, int32_t pool, int32_t most)
{
  const uint32_t allocator = (uint32_t)ashlar_random_below(seed, 3);
  enum ashlar_status status = ASHLAR_OK;
  enum ashlar_status expected = ASHLAR_OK;
  switch (ashlar_random_below(seed, 9)) {
  case 0:
    return f->lists.pool_count < most ? step_create(f, allocator) : ASHLAR_OK;
  case 1:
    return step_open(f, seed, pool);
  case 2:
    return step_mark(f, pool, ashlar_random_below(seed, 3));
  case 3:
    step_segments(f, pool, ashlar_random_below(seed, 2) == 0);
    return ASHLAR_OK;
  case 4:
    status = ashlar_pool_acquire(f->m, pool, allocator);
    expected = list_acquire(&f->lists, pool, allocator);
    break;
  case 5:
    status = ashlar_pool_end(f->m, pool);
    expected = list_end(&f->lists, pool);
    break;
  case 6:
    status = ashlar_scope_close(f->m, pool);
    expected = list_close(&f->lists, pool);
    break;
  default:
    status = ashlar_pool_release(f->m, pool);
    expected = list_release(&f->lists, pool);
  }
  assert_int_equal(status, expected);
  return status;
}

/* Steps on pools of [-1, bound], at most bound of them at once: a small one lets each live through a lot, one above the
   capacity lets the numbers run out. */
static void run(struct fixture *f, int32_t bound, bool faithful)
{
  size_t seen[ASHLAR_ERROR_SCOPES + 1] = {0};
  uint64_t seed = (uint64_t)bound;
  f->lists.faithful = faithful;
  f->m->config.policy = faithful ? ASHLAR_POLICY_FAITHFUL : ASHLAR_POLICY_COMPLETE;
  for (int k = 0; k < STEPS; k++) {
    enum ashlar_status status = ASHLAR_OK;
    ashlar_storage_copy(f->before, f->m);
    status = step(f, &seed, (int32_t)ashlar_random_below(&seed, (uint64_t)bound + 2) - 1, bound);
    seen[status]++;
    must_agree(f);
    if (status != ASHLAR_OK && !(faithful && status == ASHLAR_ERROR_SCOPE_OPEN)) {
      assert_true(ashlar_storage_same(f->m, f->before));
    }
  }
  for (size_t k = ASHLAR_ERROR_POOL; k <= ASHLAR_ERROR_SCOPE_OPEN; k++) {
    if (k != ASHLAR_ERROR_POOL_USES && seen[k] == 0) {
      fail_msg("status %zu was not seen", k);
    }
  }
  print_message("%d pools, %zu times none left\n", (int)f->m->pool_top, seen[ASHLAR_ERROR_POOLS]);
}

/* Covers REQ-POOL-count, REQ-POOL-scope, REQ-POOL-freeable, REQ-POOL-nosplit, REQ-POOL-allocator. */
static void random_steps(void **state)
{
  run(*state, 12, false);
}

static void random_steps_faithful(void **state)
{
  run(*state, ASHLAR_PRIVATE_POOLS + 1, true);
}

/* --- limits --- */

/* Covers REQ-CAPACITY-others. */
static void pools_run_out(void **state)
{
  struct fixture *f = *state;
  for (int32_t pool = 1; pool <= MOST; pool++) {
    assert_int_equal(step_create(f, 0), ASHLAR_OK);
    assert_int_equal(list_open(&f->lists, (struct scope){pool, 0, -1}), ASHLAR_OK);
    assert_int_equal(ashlar_scope_open(f->m, pool, 0, -1),
                     ASHLAR_OK); /* scopes do not run out first */
  }
  assert_int_equal(step_create(f, 0), ASHLAR_ERROR_POOLS);
  must_agree(f);
  assert_int_equal(ashlar_scope_route(f->m, 1, 0), MOST);
  assert_int_equal(ashlar_scope_close(f->m, 9), ASHLAR_OK);
  assert_int_equal(ashlar_pool_release(f->m, 9), ASHLAR_OK);
  assert_int_equal(ashlar_pool_end(f->m, 9), ASHLAR_ERROR_POOL_BUSY); /* its creator */
  assert_int_equal(ashlar_pool_release(f->m, 9), ASHLAR_OK);
  assert_int_equal(ashlar_pool_end(f->m, 9), ASHLAR_OK);
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 9);
  check(f->m);
}

static void must_refuse(struct fixture *f, enum ashlar_status status, enum ashlar_status expected)
{
  assert_int_equal(status, expected);
  assert_true(ashlar_storage_same(f->m, f->before));
}

/* Covers REQ-CAPACITY-others. */
static void counters_run_out(void **state)
{
  struct fixture *f = *state;
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 1);
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 2);
  f->m->pool_serials = UINT64_MAX - 1;
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 3);
  f->m->pool_uses[1] = UINT32_MAX - 1;
  assert_int_equal(ashlar_pool_acquire(f->m, 1, 0), ASHLAR_OK);
  f->m->scope_serials = UINT64_MAX - 1;
  assert_int_equal(ashlar_scope_open(f->m, 3, 0, -1), ASHLAR_OK);
  check(f->m);
  ashlar_storage_copy(f->before, f->m);
  must_refuse(f, ashlar_pool_create(f->m, 0).status, ASHLAR_ERROR_POOLS);
  must_refuse(f, ashlar_pool_acquire(f->m, 1, 0), ASHLAR_ERROR_POOL_USES);
  must_refuse(f, ashlar_scope_open(f->m, 1, 0, -1), ASHLAR_ERROR_POOL_USES);
  must_refuse(f, ashlar_scope_open(f->m, 2, 0, -1), ASHLAR_ERROR_SCOPES);
}

/* The walk goes on behind a pool that has ended, though its number stands for a new one.
   Covers REQ-POOL-freeable. */
static void walk_ends_pools(void **state)
{
  struct fixture *f = *state;
  uint64_t after = 0;
  static const int32_t EXPECTED[] = {1, 3, 4, 5, 2};
  int32_t met[5] = {0};
  int32_t count = 0;
  for (int32_t pool = 1; pool <= 5; pool++) {
    assert_int_equal(ashlar_pool_create(f->m, 0).pool, pool);
    assert_int_equal(ashlar_pool_release(f->m, pool), ASHLAR_OK);
  }
  assert_int_equal(ashlar_pool_end(f->m, 2), ASHLAR_OK);
  assert_int_equal(ashlar_pool_create(f->m, 0).pool, 2); /* now the youngest */
  assert_int_equal(ashlar_pool_release(f->m, 2), ASHLAR_OK);
  for (int32_t pool = ashlar_pool_next_freeable(f->m, after, 0); pool != 0 && count < 5;
       pool = ashlar_pool_next_freeable(f->m, after, 0)) {
    met[count] = pool;
    count++;
    after = f->m->pool_serial[pool];
    assert_int_equal(ashlar_pool_end(f->m, pool), ASHLAR_OK);
    assert_int_equal(ashlar_pool_create(f->m, 0).pool, pool);
  }
  assert_int_equal(count, 5);
  assert_memory_equal(met, EXPECTED, sizeof EXPECTED);
  assert_int_equal(ashlar_pool_next_freeable(f->m, after, 0), 0);
  check(f->m);
}

/* The default pool counts its segments too, and is otherwise no private pool. */
static void default_pool(void **state)
{
  struct fixture *f = *state;
  f->m->pool_segments[0] = 1;
  check(f->m);
  ashlar_storage_copy(f->before, f->m);
  must_refuse(f, ashlar_pool_acquire(f->m, 0, 0), ASHLAR_ERROR_POOL);
  must_refuse(f, ashlar_pool_release(f->m, 0), ASHLAR_ERROR_POOL);
  must_refuse(f, ashlar_pool_end(f->m, 0), ASHLAR_ERROR_POOL);
  must_refuse(f, ashlar_scope_open(f->m, 0, 0, -1), ASHLAR_ERROR_POOL);
  must_refuse(f, ashlar_scope_open(f->m, INT32_MAX, 0, -1), ASHLAR_ERROR_POOL);
  must_refuse(f, ashlar_scope_close(f->m, INT32_MIN), ASHLAR_ERROR_POOL);
  assert_int_equal(ashlar_scope_route(f->m, 1, 0), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(random_steps, start, stop),
      cmocka_unit_test_setup_teardown(random_steps_faithful, start, stop),
      cmocka_unit_test_setup_teardown(pools_run_out, start, stop),
      cmocka_unit_test_setup_teardown(counters_run_out, start, stop),
      cmocka_unit_test_setup_teardown(walk_ends_pools, start, stop),
      cmocka_unit_test_setup_teardown(default_pool, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
