/* model_test.c - the reference model on worked examples: sizes, placement, ladder, handles.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model_fixture.h"

/* Request, block, segment. Oracle: REQ-SIZE-least, REQ-SIZE-segment, REQ-SIZE-split. */
static void worked_examples(void **state)
{
  static const uint64_t rows[][3] = {
      {1, 512, 2 * MIB},
      {MIB, MIB, 2 * MIB},
      {MIB + 1, MIB + 512, 20 * MIB},
      {10485248, 10485248, 20 * MIB},
      {10485249, 10485760, 10 * MIB},
      {11 * MIB, 12 * MIB, 12 * MIB},
      {13107200, 13107200, 14 * MIB},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    start(model_default_config(), UINT64_MAX);
    assert_int_equal(must(rows[i][0], 0).bytes, rows[i][1]);
    assert_int_equal(now(MODEL_RESERVED_BYTES), rows[i][2]);
  }
}

/* 514 MiB by divisions; a power of two stays. Oracle: REQ-SIZE-divided, REQ-SIZE-row. */
static void divisions(void **state)
{
  static const uint64_t rows[][2] = {{0, 514}, {1, 514}, {2, 768}, {4, 640}, {8, 576}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct model_config config = model_default_config();
    config.division[9] = rows[i][0];
    start(config, UINT64_MAX);
    assert_int_equal(must(514 * MIB, 0).bytes, rows[i][1] * MIB);
    assert_int_equal(must(512 * MIB, 0).bytes, 512 * MIB);
  }
}

/* Oracle: REQ-SIZE-refused, REQ-SIZE-nothing, REQ-ATOMIC. */
static void sizes_refused(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  before = model;
  for (int shift = 60; shift < 64; shift++) {
    const struct model_step step = request(UINT64_C(1) << shift, 0);
    assert_int_equal(step.kind, MODEL_STEP_ERROR);
    assert_int_equal(step.status, MODEL_ERROR_TOO_LARGE);
    assert_int_equal(request(UINT64_MAX - (uint64_t)shift, 0).status, MODEL_ERROR_TOO_LARGE);
  }
  assert_int_equal(request(0, 0).slot, -1);
  assert_int_equal(request(512, 7).status, MODEL_ERROR_STREAM);
  assert_memory_equal(&before, &model, sizeof model);
}

/* Three blocks of one size: address order takes the lowest, segment order the oldest. Oracle: REQ-BESTFIT-order. */
static void orders(void **state)
{
  (void)state;
  for (uint32_t order = MODEL_ORDER_ADDRESS; order <= MODEL_ORDER_SEGMENT; order++) {
    struct model_config config = model_default_config();
    struct model_step made[3];
    config.order = order;
    start(config, UINT64_MAX);
    for (int i = 0; i < 3; i++) {
      device.next = (UINT64_C(1) << 32) - (uint64_t)i * 64 * MIB;
      made[i] = must(16 * MIB, 0);
    }
    for (int i = 0; i < 3; i++) {
      give(made[(i + 1) % 3]);
    }
    const int expected = order == MODEL_ORDER_ADDRESS ? 2 : 0;
    assert_int_equal(model_choose(&model, 16 * MIB, 0, nobody), made[expected].slot);
    assert_int_equal(must(16 * MIB, 0).address, made[expected].address);
  }
}

/* Scenario 19: segments that touch do not coalesce. Oracle: REQ-COALESCE-blocks, REQ-CANON-whole. */
static void touching_segments(void **state)
{
  struct model_step made[10];
  (void)state;
  start(model_default_config(), 40 * MIB);
  for (int i = 0; i < 10; i++) {
    made[i] = must(4 * MIB, 0);
  }
  for (int i = 0; i < 10; i++) {
    give(made[i * 7 % 10]);
  }
  assert_int_equal(now(MODEL_SEGMENT), 2);
  assert_true(model_is_canonical(&model));
  empty_cache();
  assert_int_equal(device.releases, 2);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 0);
}

/* Scenario 21: a split limit keeps the large block whole, and it is released. Oracle: REQ-BESTFIT-oversize,
   REQ-LADDER-oversize. */
static void split_limit(void **state)
{
  (void)state;
  for (int limited = 0; limited < 2; limited++) {
    struct model_config config = model_default_config();
    struct model_step part[5];
    config.max_split_size = limited != 0 ? 64 * MIB : MODEL_UNSET;
    start(config, 128 * MIB);
    give(must(100 * MIB, 0));
    for (int i = 0; i < 5; i++) {
      part[i] = must(12 * MIB, 0);
    }
    for (int i = 0; i < 5; i += 2) {
      give(part[i]);
    }
    assert_int_equal(request(100 * MIB, 0).kind,
                     limited != 0 ? MODEL_STEP_DONE : MODEL_STEP_OUT_OF_MEMORY);
    assert_int_equal(model.calls.ooms, 1 - limited);
  }
}

/* Scenario 22: from the greatest down until there is enough. Oracle: REQ-LADDER-oversize. */
static void oversize_from_the_greatest(void **state)
{
  struct model_config config = model_default_config();
  struct model_step made[3];
  (void)state;
  config.max_split_size = 32 * MIB;
  start(config, 110 * MIB);
  for (int i = 0; i < 3; i++) {
    made[i] = must((34 + 2 * (uint64_t)i) * MIB, 0);
  }
  for (int i = 0; i < 3; i++) {
    give(made[i]);
  }
  must(106 * MIB, 0);
  assert_int_equal(device.releases, 3);
  assert_int_equal(model.calls.device_frees, 3);
  assert_int_equal(model.calls.alloc_retries, 0);
}

/* Scenario 25: the slack. Oracle: REQ-BESTFIT-oversize. */
static void slack(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 2; i++) {
    struct model_config config = model_default_config();
    config.max_split_size = 400 * MIB;
    config.oversize_slack = i == 0 ? 20 * MIB : 600 * MIB;
    start(config, UINT64_MAX);
    give(must(1024 * MIB, 0));
    assert_int_equal(must(512 * MIB, 0).bytes, (i == 0 ? 512 : 1024) * MIB);
  }
}

/* Scenario 27: what the limit refuses is tried again after the release. Oracle: REQ-LADDER-limit, REQ-LADDER-last. */
static void limit(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  assert_int_equal(model_limit_set(&model, 1024 * MIB, MODEL_UNSET), MODEL_OK);
  give(must(512 * MIB, 0));
  must(768 * MIB, 0);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 768 * MIB);
  assert_int_equal(model.calls.alloc_retries, 1);
  must(256 * MIB, 0);
  assert_int_equal(request(512, 0).kind, MODEL_STEP_OUT_OF_MEMORY);
}

/* Rejected before anything is released, and after the limit has refused. Oracle: REQ-LADDER-reject,
   REQ-ACCOUNT-rejected, REQ-ACCOUNT-reset, REQ-LADDER-limit. */
static void rejection(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    config.policy = policy;
    config.reject_above = 40 * MIB;
    start(config, UINT64_MAX);
    must(20 * MIB, 0);
    give(must(20 * MIB, 0));
    assert_int_equal(request(22 * MIB, 0).kind, MODEL_STEP_REJECTED);
    assert_int_equal(request(42 * MIB, 0).kind, MODEL_STEP_REJECTED);
    assert_int_equal(model.calls.oom_rejections, 2);
    assert_int_equal(model.calls.device_frees, 0);
    assert_int_equal(model.calls.sync_all_streams, 0);
    assert_int_equal(model_limit_set(&model, 50 * MIB, MODEL_UNSET), MODEL_OK);
    assert_int_equal(request(30 * MIB, 0).kind, MODEL_STEP_REJECTED); /* the limit came first */
    assert_int_equal(model.calls.oom_rejections, policy == MODEL_COMPLETE ? 4 : 3);
    assert_int_equal(model.calls.device_frees, 1);
    assert_int_equal(model.calls.ooms, 0);
    assert_int_equal(request(40 * MIB, 0).kind, MODEL_STEP_OUT_OF_MEMORY);
    assert_int_equal(model.calls.ooms, 1);
    must(20 * MIB, 0);
    model_reset_totals(&model);
    assert_int_equal(model.calls.oom_rejections, 0);
  }
}

/* Scenario 46: what is as old as the mean is released, also without a limit in `complete`. Oracle: REQ-LADDER-collect,
   REQ-LADDER-age. */
static void collection(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    struct model_step made[5];
    config.policy = policy;
    start(config, UINT64_MAX);
    assert_int_equal(model_limit_set(&model, MODEL_UNSET, 50 * MIB), MODEL_OK);
    for (int i = 0; i < 5; i++) {
      made[i] = must(12 * MIB, 0);
    }
    give(made[3]);
    give(made[4]);
    give(must(512, 0));
    give(must(MIB + 512, 0)); /* a search of the large class */
    for (int i = 0; i < 3; i++) {
      give(made[i]);
    }
    must(14 * MIB, 0);
    assert_int_equal(device.releases, policy == MODEL_COMPLETE ? 2 : 0);
    if (policy == MODEL_COMPLETE) {
      assert_int_equal(device.waits, 0);
      assert_int_equal(must(12 * MIB, 0).address, made[0].address);
    }
  }
}

/* Once a request, and the search is repeated only where memory came back. Oracle: REQ-LADDER-callbacks. */
static void callbacks(void **state)
{
  struct model_config config = model_default_config();
  (void)state;
  config.callbacks = true;
  start(config, UINT64_MAX);
  struct model_step step = model_allocate_begin(&model, 4 * MIB, 0, nobody);
  assert_int_equal(step.kind, MODEL_STEP_CALLBACKS);
  step = model_resume(&model, step.request, MODEL_PERFORMED, 0);
  assert_int_equal(step.kind, MODEL_STEP_ALLOCATE);
  const struct model_step a = model_device_perform(&device, &model, step);
  must(14 * MIB, 0);
  step = model_allocate_begin(&model, 4 * MIB, 0, nobody);
  assert_int_equal(step.kind, MODEL_STEP_CALLBACKS);
  give(a);
  step = model_resume(&model, step.request, MODEL_PERFORMED, 1);
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  assert_int_equal(step.address, a.address);
}

/* Scenario 69. Oracle: REQ-FREE-exact, REQ-FREE-distinct, REQ-FREE-address, REQ-LIFETIME-once, REQ-LIFETIME-stale. */
static void handles(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const struct model_step a = must(4096, 0);
  before = model;
  assert_int_equal(model_free(&model, -1, 0, nobody).status, MODEL_ERROR_SLOT);
  assert_int_equal(model_free(&model, 500, 1, nobody).status, MODEL_ERROR_SLOT);
  assert_int_equal(model_free(&model, a.slot, a.generation + 1, nobody).status, MODEL_ERROR_STALE);
  assert_int_equal(model_free_address(&model, 0, nobody).status, MODEL_ERROR_FOREIGN);
  assert_int_equal(model_free_address(&model, a.address + 512, nobody).status,
                   MODEL_ERROR_INTERIOR);
  assert_int_equal(model_free_address(&model, a.address + 4096, nobody).status, MODEL_ERROR_FREED);
  assert_memory_equal(&before, &model, sizeof model);
  assert_int_equal(model_retain(&model, a.slot, a.generation), MODEL_OK);
  assert_int_equal(model_free(&model, a.slot, a.generation, nobody).status, MODEL_ERROR_SHARED);
  assert_int_equal(model_release(&model, a.slot, a.generation, nobody).status, MODEL_OK);
  assert_int_equal(now(MODEL_ALLOCATION), 1);
  assert_int_equal(model_release(&model, a.slot, a.generation, nobody).status, MODEL_OK);
  assert_int_equal(now(MODEL_ALLOCATION), 0);
  assert_int_equal(model_release(&model, a.slot, a.generation, nobody).status, MODEL_ERROR_STALE);
  assert_int_equal(model_retain(&model, a.slot, a.generation), MODEL_ERROR_STALE);
  assert_int_equal(model_free_address(&model, a.address, nobody).status, MODEL_ERROR_FREED);
}

/* A failed release leaves the segment in the cache; a failed allocation leaves all as it was. Oracle: REQ-ATOMIC-error,
   REQ-ATOMIC-busy, REQ-ATOMIC-leaving. */
static void failures(void **state)
{
  struct model_config config = model_default_config();
  (void)state;
  config.policy = MODEL_FAITHFUL;
  start(config, UINT64_MAX);
  give(must(30 * MIB, 0));
  struct model_step step = model_empty_cache_begin(&model, -1, nobody);
  assert_int_equal(step.kind, MODEL_STEP_RELEASE);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 0);
  sound();
  assert_int_equal(model_allocate_begin(&model, 512, 0, nobody).status, MODEL_ERROR_BUSY);
  step = model_resume(&model, step.request, MODEL_FAILED, 0);
  assert_int_equal(step.status, MODEL_ERROR_DEVICE);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 30 * MIB);
  assert_int_equal(model.calls.device_frees, 0);
  sound();
  step = model_allocate_begin(&model, 64 * MIB, 0, nobody);
  assert_int_equal(step.kind, MODEL_STEP_ALLOCATE);
  assert_int_equal(model_resume(&model, step.request, MODEL_FAILED, 0).status, MODEL_ERROR_DEVICE);
  assert_int_equal(model_resume(&model, step.request, MODEL_PERFORMED, 0).status,
                   MODEL_ERROR_NO_REQUEST);
  assert_int_equal(must(30 * MIB, 0).bytes, 30 * MIB);
}

/* Oracle: REQ-BESTFIT-at. */
static void exactly(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const struct model_step a = must(2 * MIB, 0);
  give(a);
  before = model;
  assert_int_equal(model_allocate_exactly(&model, a.address + 8, MIB + 512, 0, nobody).status,
                   MODEL_ERROR_RANGE);
  assert_int_equal(
      model_allocate_exactly(&model, a.address + 19 * MIB, MIB + 512, 0, nobody).status,
      MODEL_ERROR_MISFIT);
  assert_int_equal(model_allocate_exactly(&model, a.address, MIB, 0, nobody).status,
                   MODEL_ERROR_MISFIT); /* of the small class */
  assert_memory_equal(&before, &model, sizeof model);
  const struct model_step b = model_allocate_exactly(&model, a.address + 512, 4 * MIB, 0, nobody);
  sound();
  assert_int_equal(b.kind, MODEL_STEP_DONE);
  assert_int_equal(b.address, a.address + 512);
  assert_int_equal(b.bytes, 4 * MIB);
  assert_int_equal(now(MODEL_INACTIVE_SPLIT), 2);
  assert_int_equal(model_base(&model, b.slot, b.generation).address, a.address);
  give(b);
  const struct model_step c = model_allocate_exactly(&model, a.address, 4 * MIB, 0, nobody);
  assert_int_equal(c.address, a.address);
  give(c);
  assert_true(model_is_canonical(&model));
}

/* Oracle: REQ-ACCOUNT-reset, REQ-ACCOUNT-largest. */
static void resets(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  give(must(2 * MIB, 0));
  assert_int_equal(model.statistic[MODEL_ALLOCATED_BYTES][MODEL_LARGE].peak, 2 * MIB);
  model_reset_peaks(&model);
  model_reset_totals(&model);
  assert_int_equal(model.statistic[MODEL_ALLOCATED_BYTES][MODEL_LARGE].peak, 0);
  assert_int_equal(model.statistic[MODEL_RESERVED_BYTES][MODEL_ALL].peak, 20 * MIB);
  assert_int_equal(model.statistic[MODEL_RESERVED_BYTES][MODEL_ALL].allocated, 0);
  assert_int_equal(model.calls.device_allocs, 0);
  assert_int_equal(model_largest(&model), 20 * MIB);
}

/* A second pass where the first did not reach the target, and none where it did, or where nothing was released. Ages 3, 1
   and 1: the mean is 5/3, so the first pass takes the oldest alone. Oracle: REQ-LADDER-collect. */
static void collection_passes(void **state)
{
  (void)state;
  for (uint64_t above = 0; above < 3; above++) {
    struct model_step made[3];
    start(model_default_config(), UINT64_MAX);
    for (int i = 0; i < 3; i++) {
      made[i] = must(12 * MIB, 0);
    }
    assert_int_equal(model_limit_set(&model, MODEL_UNSET, 500 * MIB), MODEL_OK);
    give(made[1]);
    request(100 * MIB, 1);
    request(100 * MIB, 1);
    give(made[0]);
    give(made[2]);
    /* 236 MiB are reserved: the target is 1, 12 or 13 MiB. */
    static const uint64_t targets[] = {1, 12, 13};
    static const uint32_t releases[] = {1, 1, 3};
    assert_int_equal(model_limit_set(&model, MODEL_UNSET, (236 - targets[above]) * MIB), MODEL_OK);
    must(14 * MIB, 0);
    assert_int_equal(device.releases, releases[above]);
  }
}

/* In a capture `faithful` collects and releases oversize segments, `complete` does not. Oracle: REQ-LADDER-capture. */
static void releases_in_capture(void **state)
{
  const struct model_caller inside = {1, 0};
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    for (int collected = 0; collected < 2; collected++) {
      struct model_config config = model_default_config();
      config.policy = policy;
      config.max_split_size = collected != 0 ? MODEL_UNSET : 32 * MIB;
      start(config, 100 * MIB);
      give(must(90 * MIB, 0));
      assert_int_equal(model_limit_set(&model, 100 * MIB, collected != 0 ? 0 : MODEL_UNSET),
                       MODEL_OK);
      assert_int_equal(model_capture_begin(&model, 1), MODEL_OK);
      const struct model_step step = request_by((collected != 0 ? 95 : 40) * MIB, inside);
      assert_int_equal(step.kind,
                       policy == MODEL_FAITHFUL ? MODEL_STEP_DONE : MODEL_STEP_OUT_OF_MEMORY);
      assert_int_equal(device.releases, policy == MODEL_FAITHFUL ? 1 : 0);
    }
  }
}

/* Each kind of room has a status of its own, given when none is left, and nothing changes. Oracle: REQ-CAPACITY-slots,
   REQ-CAPACITY-streams, REQ-CAPACITY-others, REQ-ATOMIC-flight. */
static void capacity(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  for (uint64_t key = 3; key < MODEL_STREAMS; key++) {
    assert_int_equal(model_stream_register(&model, 1000 + key).status, MODEL_OK);
  }
  for (int i = 1; i < MODEL_POOLS; i++) {
    const int32_t pool = model_pool_create(&model, 0).number;
    assert_int_equal(model_scope_open(&model, pool, 77, -1), MODEL_OK);
  }
  const struct model_step block = must(4096, 0);
  int32_t count = 0;
  for (int i = 0; i < MODEL_REQUESTS; i++) {
    assert_int_equal(model_allocate_begin(&model, MIB, 1, nobody).kind, MODEL_STEP_ALLOCATE);
  }
  before = model;
  assert_int_equal(model_stream_register(&model, 5000).status, MODEL_ERROR_STREAMS);
  assert_int_equal(model_pool_create(&model, 0).status, MODEL_ERROR_POOLS);
  assert_int_equal(model_allocate_begin(&model, 512, 0, nobody).status, MODEL_ERROR_REQUESTS);
  assert_int_equal(model_empty_cache_begin(&model, -1, nobody).status, MODEL_ERROR_REQUESTS);
  assert_memory_equal(&before, &model, sizeof model);
  for (int i = 0; i < MODEL_REQUESTS; i++) {
    assert_int_equal(model_abandon(&model, i), MODEL_OK);
  }
  assert_int_equal(model_abandon(&model, 0), MODEL_ERROR_NO_REQUEST);
  struct model_step step = block;
  while (step.kind == MODEL_STEP_DONE) { /* without a look at all blocks each time */
    step = model_device_run(&device, &model, model_allocate_begin(&model, 512, 0, nobody));
    count++;
  }
  before = model;
  assert_int_equal(request(512, 0).status, MODEL_ERROR_BLOCKS);
  assert_memory_equal(&before, &model, sizeof model);
  assert_true(count > MODEL_BLOCKS - 100);
  assert_int_equal(give(block), 0);
}

/* Oracle: REQ-CAPACITY-others. */
static void capacity_of_uses(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  for (uint64_t key = 3; key < MODEL_STREAMS; key++) {
    assert_int_equal(model_stream_register(&model, 1000 + key).status, MODEL_OK);
  }
  struct model_step last = {.slot = -1};
  int32_t stream = 0;
  for (int32_t room = MODEL_USES; room > 0; room--) {
    if (stream == 0) { /* the first use of a block takes room for its deferral, too */
      last = must(512, 0);
      room--;
    }
    assert_true(room > 0);
    stream++;
    assert_int_equal(model_record_use(&model, last.slot, last.generation, stream, nobody),
                     MODEL_OK);
    stream = stream == MODEL_STREAMS - 1 ? 0 : stream;
  }
  const struct model_step block = must(512, 0);
  before = model;
  assert_int_equal(model_record_use(&model, block.slot, block.generation, 1, nobody),
                   MODEL_ERROR_USES);
  assert_memory_equal(&before, &model, sizeof model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(capacity),
      cmocka_unit_test(capacity_of_uses),
      cmocka_unit_test(collection_passes),
      cmocka_unit_test(releases_in_capture),
      cmocka_unit_test(worked_examples),
      cmocka_unit_test(divisions),
      cmocka_unit_test(sizes_refused),
      cmocka_unit_test(orders),
      cmocka_unit_test(touching_segments),
      cmocka_unit_test(split_limit),
      cmocka_unit_test(oversize_from_the_greatest),
      cmocka_unit_test(slack),
      cmocka_unit_test(limit),
      cmocka_unit_test(rejection),
      cmocka_unit_test(collection),
      cmocka_unit_test(callbacks),
      cmocka_unit_test(handles),
      cmocka_unit_test(failures),
      cmocka_unit_test(exactly),
      cmocka_unit_test(resets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
