/* model_pools_test.c - the reference model on worked examples: private pools, scopes, checkpoints.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model_fixture.h"

/* Scenarios 90, 93, 94: memory of a live pool serves nobody else, and goes back through the pool's allocator after its
   release. Oracle: REQ-POOL-scope, REQ-POOL-count, REQ-POOL-apart, REQ-POOL-freeable, REQ-POOL-allocator. */
static void private_pool(void **state)
{
  const struct model_caller one = {-1, 1};
  const struct model_caller two = {-1, 2};
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const int32_t pool = model_pool_create(&model, 9).number;
  assert_int_equal(model_scope_open(&model, pool, 1, -1), MODEL_OK);
  const struct model_step a = request_by(8 * MIB, one);
  const struct model_step b = request_by(8 * MIB, two);
  assert_int_equal(a.pool, pool);
  assert_int_equal(b.pool, 0);
  give(a);
  give(b);
  assert_int_equal(request_by(8 * MIB, two).address, b.address);
  assert_int_equal(model_scope_close(&model, pool), MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool), MODEL_ERROR_SCOPE);
  empty_cache();
  assert_int_equal(device.releases, 0);
  assert_int_equal(model_pool_release(&model, pool), MODEL_OK);
  assert_int_equal(model.pool[pool].users, 1);
  assert_int_equal(model_pool_release(&model, pool), MODEL_OK);
  assert_int_equal(model_pool_release(&model, pool), MODEL_ERROR_POOL);
  assert_int_equal(model_pool_retain(&model, pool), MODEL_ERROR_POOL);
  assert_int_equal(model.pool[pool].reserved.current, 20 * MIB);
  const struct model_step step = model_empty_cache_begin(&model, pool, nobody);
  assert_int_equal(step.kind, MODEL_STEP_RELEASE);
  assert_int_equal(step.allocator, 9);
  assert_int_equal(model_device_run(&device, &model, step).kind, MODEL_STEP_DONE);
  assert_false(model.pool[pool].used);
}

/* A second scope for one pool is refused; the count stays raised in `faithful` alone. Oracle: REQ-POOL-scope. */
static void scope_twice(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    config.policy = policy;
    start(config, UINT64_MAX);
    const int32_t pool = model_pool_create(&model, 0).number;
    assert_int_equal(model_scope_open(&model, pool, 0, -1), MODEL_OK);
    assert_int_equal(model_scope_open(&model, pool, 0, -1), MODEL_ERROR_SCOPE);
    assert_int_equal(model.pool[pool].users, policy == MODEL_FAITHFUL ? 3 : 2);
  }
}

/* A pool's own cache helps its requests in `complete`, and not in `faithful`. Oracle: REQ-LADDER-private. */
static void own_cache(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    config.policy = policy;
    start(config, 60 * MIB);
    assert_int_equal(model_scope_open(&model, model_pool_create(&model, 0).number, 0, -1),
                     MODEL_OK);
    give(must(30 * MIB, 0));
    assert_int_equal(request(50 * MIB, 0).kind,
                     policy == MODEL_COMPLETE ? MODEL_STEP_DONE : MODEL_STEP_OUT_OF_MEMORY);
  }
}

/* A pool that is marked lends its cache before anything is released, and splits nothing where it is marked for that.
   Oracle: REQ-LADDER-fallback, REQ-POOL-nosplit. */
static void lent(void **state)
{
  const struct model_caller one = {-1, 1};
  (void)state;
  start(model_default_config(), 40 * MIB);
  const int32_t pool = model_pool_create(&model, 0).number;
  assert_int_equal(model_pool_set_use_on_oom(&model, pool, true), MODEL_OK);
  assert_int_equal(model_pool_set_no_split(&model, pool), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool, 1, -1), MODEL_OK);
  const struct model_step a = request_by(30 * MIB, one);
  assert_int_equal(request_by(4 * MIB, one).kind, MODEL_STEP_OUT_OF_MEMORY);
  give(a);
  const struct model_step b = request_by(20 * MIB, nobody);
  assert_int_equal(b.address, a.address);
  assert_int_equal(b.bytes, 30 * MIB);
  assert_int_equal(b.pool, pool);
  assert_int_equal(device.releases, 0);
}

/* Scenario 89: recorded, changed, restored; a pending block is refused, and so is a segment that is gone. Oracle:
   REQ-CHECKPOINT-save, REQ-CHECKPOINT-restore. */
static void checkpoint(void **state)
{
  static struct model_checkpoint saved;
  static struct model_checkpoint again;
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const int32_t pool = model_pool_create(&model, 0).number;
  assert_int_equal(model_scope_open(&model, pool, 0, -1), MODEL_OK);
  const struct model_step a = must(2 * MIB, 0);
  const struct model_step b = must(3 * MIB, 0);
  const struct model_step c = must(4096, 0);
  give(a);
  memset(&again, 0, sizeof again);
  memset(&saved, 0, sizeof saved);
  assert_int_equal(model_checkpoint_save(&model, 0, nobody, &saved), MODEL_ERROR_POOL);
  assert_int_equal(model_checkpoint_save(&model, pool, nobody, &saved), MODEL_OK);
  assert_int_equal(saved.blocks, 5);
  give(b);
  must(7 * MIB, 0);
  const struct model_step d = must(30 * MIB, 0);
  assert_int_equal(model_record_use(&model, c.slot, c.generation, 1, nobody), MODEL_OK);
  give(c);
  assert_int_equal(model_checkpoint_restore(&model, nobody, &saved).status, MODEL_ERROR_PENDING);
  assert_int_equal(model_checkpoint_save(&model, pool, nobody, &again), MODEL_ERROR_PENDING);
  assert_int_equal(model_complete(&model, 1, 1, nobody).count, 1);
  const struct model_restored restored = model_checkpoint_restore(&model, nobody, &saved);
  sound();
  assert_int_equal(restored.status, MODEL_OK);
  assert_int_equal(restored.freed, 2);
  assert_int_equal(restored.created, 2);
  assert_int_equal(model.block[model_choose(&model, 30 * MIB, 0, nobody)].address, d.address);
  assert_int_equal(model_checkpoint_save(&model, pool, nobody, &again), MODEL_OK);
  assert_int_equal(again.blocks, 6);
  assert_memory_equal(saved.block, again.block, 5 * sizeof saved.block[0]);
  assert_int_equal(model_free_address(&model, b.address, nobody).status, MODEL_OK);
  assert_int_equal(model_free_address(&model, c.address, nobody).status, MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool), MODEL_OK);
  while (model_pool_release(&model, pool) == MODEL_OK) {
  }
  empty_cache();
  assert_int_equal(model_checkpoint_restore(&model, nobody, &saved).status, MODEL_ERROR_POOL);
  assert_int_equal(model_pool_create(&model, 0).number, pool);
  assert_int_equal(model_checkpoint_restore(&model, nobody, &saved).status, MODEL_ERROR_MISFIT);
}

/* Of the scopes that apply the newest wins; threads and streams are filters. Oracle: REQ-POOL-scope. */
static void newest_scope(void **state)
{
  static const struct {
    struct model_caller caller;
    int32_t stream;
    int32_t scope;
  } rows[] = {
      {{-1, 1}, 0, 2},
      {{-1, 2}, 0, 0},
      {{-1, 2}, 1, 1},
      {{-1, 1}, 1, 2},
  };
  int32_t pool[3];
  (void)state;
  start(model_default_config(), UINT64_MAX);
  for (int i = 0; i < 3; i++) {
    pool[i] = model_pool_create(&model, 0).number;
  }
  assert_int_equal(model_scope_open(&model, pool[0], 0, -1), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[2], 0, -1), MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool[2]), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[1], 0, 1), MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool[0]), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[2], 1, -1), MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool[1]), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[0], 2, 0), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[1], 2, 1), MODEL_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct model_step step = model_device_run(
        &device, &model, model_allocate_begin(&model, 4096, rows[i].stream, rows[i].caller));
    assert_int_equal(step.pool, pool[rows[i].scope]);
  }
  /* Opened later for every stream, in a place of the list before the others. */
  assert_int_equal(model_scope_close(&model, pool[0]), MODEL_OK);
  assert_int_equal(model_scope_close(&model, pool[2]), MODEL_OK);
  assert_int_equal(model_scope_open(&model, pool[2], 0, -1), MODEL_OK);
  assert_int_equal(request_by(4096, (struct model_caller){-1, 2}).pool, pool[2]);
}

/* Freeable pools follow the default one in the order of their creation, which is not that of their numbers; in each the
   small class comes first. Oracle: REQ-POOL-freeable, REQ-LADDER-order, REQ-POOL-count. */
static void release_order(void **state)
{
  static const uint64_t expected[] = {20, 2, 2, 20, 2, 20};
  static const int32_t of_pool[] = {0, 0, 1, 1, 2, 2};
  int32_t pool[3] = {0, 0, 0};
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const int32_t first = model_pool_create(&model, 0).number;
  pool[1] = model_pool_create(&model, 0).number;
  assert_int_equal(model_pool_release(&model, first), MODEL_OK);
  pool[2] = model_pool_create(&model, 0).number;
  assert_true(pool[2] < pool[1]);
  for (int i = 0; i < 3; i++) {
    if (i > 0) {
      assert_int_equal(model_pool_set_no_split(&model, pool[i]), MODEL_OK);
      assert_int_equal(model_scope_open(&model, pool[i], 0, -1), MODEL_OK);
    }
    const struct model_step small = must(4096, 0);
    const struct model_step large = must(2 * MIB, 0);
    assert_int_equal(large.bytes, (i > 0 ? 20 : 2) * MIB);
    give(small);
    give(large);
    if (i > 0) {
      assert_int_equal(model_scope_close(&model, pool[i]), MODEL_OK);
      assert_int_equal(model_pool_release(&model, pool[i]), MODEL_OK);
      assert_true(model.pool[pool[i]].no_split);
      assert_int_equal(model_pool_release(&model, pool[i]), MODEL_OK);
      assert_false(model.pool[pool[i]].no_split);
    }
  }
  struct model_step step = model_empty_cache_begin(&model, -1, nobody);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(step.kind, MODEL_STEP_RELEASE);
    assert_int_equal(step.bytes, expected[i] * MIB);
    assert_int_equal(step.pool, pool[of_pool[i]]);
    step = model_device_perform(&device, &model, step);
  }
  assert_int_equal(step.kind, MODEL_STEP_DONE);
}

/* Emptying the cache for one pool waits for that pool's uses alone, and only if it is freeable. Oracle: REQ-LADDER-empty,
   REQ-STREAM-drain. */
static void empty_one_pool(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const struct model_step a = must(2 * MIB, 0);
  const int32_t pool = model_pool_create(&model, 0).number;
  assert_int_equal(model_scope_open(&model, pool, 0, -1), MODEL_OK);
  const struct model_step b = must(2 * MIB, 0);
  assert_int_equal(model_record_use(&model, a.slot, a.generation, 1, nobody), MODEL_OK);
  assert_int_equal(model_record_use(&model, b.slot, b.generation, 2, nobody), MODEL_OK);
  give(a);
  give(b);
  assert_int_equal(model_empty_cache_begin(&model, 0, nobody).status, MODEL_ERROR_POOL);
  assert_int_equal(model_empty_cache_begin(&model, pool, nobody).kind, MODEL_STEP_DONE);
  assert_int_equal(model.calls.sync_all_streams, 0);
  assert_int_equal(model_scope_close(&model, pool), MODEL_OK);
  while (model_pool_release(&model, pool) == MODEL_OK) {
  }
  const struct model_step step = model_empty_cache_begin(&model, pool, nobody);
  assert_int_equal(step.kind, MODEL_STEP_WAIT);
  assert_int_equal(step.stream, 2);
  assert_int_equal(model_device_run(&device, &model, step).kind, MODEL_STEP_DONE);
  assert_int_equal(device.waits, 1);
  assert_int_equal(device.releases, 1);
  assert_int_equal(now(MODEL_ACTIVE), 1);
}

/* Nothing is lent to a request of another private pool, nor a block of a growable segment. Oracle: REQ-LADDER-fallback,
   REQ-BESTFIT-skip. */
static void not_lent(void **state)
{
  (void)state;
  for (int growable = 0; growable < 2; growable++) {
    struct model_config config = model_default_config();
    config.device_total = 40 * MIB;
    config.growable = growable == 1;
    start(config, 40 * MIB);
    const int32_t pool = model_pool_create(&model, 0).number;
    assert_int_equal(model_pool_set_use_on_oom(&model, pool, true), MODEL_OK);
    assert_int_equal(model_scope_open(&model, pool, 0, -1), MODEL_OK);
    give(must(30 * MIB, 0));
    if (growable == 0) {
      const int32_t other = model_pool_create(&model, 0).number;
      assert_int_equal(model_scope_open(&model, other, 0, -1), MODEL_OK);
    } else {
      assert_int_equal(model_scope_close(&model, pool), MODEL_OK);
    }
    assert_int_equal(request(20 * MIB, 0).kind, MODEL_STEP_OUT_OF_MEMORY);
  }
}

/* Of two pools that could lend the one that was created first does; of two that are freeable the one named is emptied; a
   pool with an allocator has no growable segments. Oracle: REQ-LADDER-fallback, REQ-LADDER-empty, REQ-POOL-allocator. */
static void two_pools(void **state)
{
  struct model_config config = model_default_config();
  struct model_step made[2];
  int32_t pool[2];
  (void)state;
  config.growable = true;
  config.device_total = 60 * MIB;
  start(config, 60 * MIB);
  const int32_t first = model_pool_create(&model, 0).number;
  pool[0] = model_pool_create(&model, 8).number;
  assert_int_equal(model_pool_release(&model, first), MODEL_OK);
  pool[1] = model_pool_create(&model, 9).number;
  assert_true(pool[1] < pool[0]);
  for (int i = 1; i >= 0; i--) {
    assert_int_equal(model_pool_set_use_on_oom(&model, pool[i], true), MODEL_OK);
    assert_int_equal(model_scope_open(&model, pool[i], 0, -1), MODEL_OK);
    made[i] = must(30 * MIB, 0);
    give(made[i]);
    assert_int_equal(model_scope_close(&model, pool[i]), MODEL_OK);
  }
  assert_int_equal(device.allocations, 2);
  const struct model_step lent_block = must(30 * MIB, 0);
  assert_int_equal(lent_block.address, made[0].address);
  give(lent_block);
  for (int i = 0; i < 2; i++) {
    while (model_pool_release(&model, pool[i]) == MODEL_OK) {
    }
  }
  const struct model_step step =
      model_device_run(&device, &model, model_empty_cache_begin(&model, pool[1], nobody));
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  assert_int_equal(device.releases, 1);
  assert_true(model.pool[pool[0]].used);
  assert_false(model.pool[pool[1]].used);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_pools),      cmocka_unit_test(not_lent),
      cmocka_unit_test(newest_scope),   cmocka_unit_test(release_order),
      cmocka_unit_test(empty_one_pool), cmocka_unit_test(private_pool),
      cmocka_unit_test(scope_twice),    cmocka_unit_test(own_cache),
      cmocka_unit_test(lent),           cmocka_unit_test(checkpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
