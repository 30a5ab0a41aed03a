/* model_test.c - the reference model on worked examples: sizes, placement, ladder, uses, pools, growable segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model_support.h"

#define MIB UINT64_C(1048576)

static struct model model;
static struct model before;
static struct model_device device;
static const struct model_caller nobody = {-1, 0};

static void start(struct model_config config, uint64_t capacity)
{
  memset(&model, 0, sizeof model);
  model_device_start(&device, capacity);
  assert_int_equal(model_init(&model, config), MODEL_OK);
  for (uint64_t key = 0; key < 3; key++) {
    assert_int_equal(model_stream_register(&model, 100 - key).status, MODEL_OK);
  }
}

static void sound(void)
{
  const char *why = model_broken(&model);
  if (why != NULL) {
    fail_msg("%s", why);
  }
}

static struct model_step request(uint64_t bytes, int32_t stream)
{
  const struct model_step step =
      model_device_run(&device, &model, model_allocate_begin(&model, bytes, stream, nobody));
  sound();
  return step;
}

static struct model_step must(uint64_t bytes, int32_t stream)
{
  const struct model_step step = request(bytes, stream);
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  assert_true(step.bytes >= bytes);
  return step;
}

static int32_t give(struct model_step block)
{
  const struct model_freed freed = model_free(&model, block.slot, block.generation, nobody);
  assert_int_equal(freed.status, MODEL_OK);
  sound();
  return freed.count;
}

static void empty_cache(void)
{
  const struct model_step step =
      model_device_run(&device, &model, model_empty_cache_begin(&model, -1, nobody));
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  sound();
}

static uint64_t now(enum model_statistic statistic)
{
  return model.statistic[statistic][MODEL_ALL].current;
}

/* Request, block, segment. Covers REQ-SIZE-least, REQ-SIZE-segment, REQ-SIZE-split. */
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

/* 514 MiB by divisions; a power of two stays. Covers REQ-SIZE-divided, REQ-SIZE-row. */
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

/* Covers REQ-SIZE-refused, REQ-SIZE-nothing, REQ-ATOMIC. */
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

/* Three blocks of one size: address order takes the lowest, segment order the oldest. Covers REQ-BESTFIT-order. */
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

/* Scenario 19: segments that touch do not coalesce. Covers REQ-COALESCE-blocks, REQ-CANON-whole. */
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

/* Scenario 21: a split limit keeps the large block whole, and it is released. Covers REQ-BESTFIT-oversize,
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

/* Scenario 22: from the greatest down until there is enough. Covers REQ-LADDER-oversize. */
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

/* Scenario 25: the slack. Covers REQ-BESTFIT-oversize. */
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

/* Scenario 27: what the limit refuses is tried again after the release. Covers REQ-LADDER-limit, REQ-LADDER-last. */
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

/* Scenario 20: the block that came back by the wait serves, in `complete`; `faithful` releases it and asks, and where it
   is a part of a segment, fails. Covers REQ-LADDER-search, REQ-OOM-complete, REQ-OOM-faithful. */
static void came_back(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    config.policy = policy;
    start(config, 64 * MIB);
    give(must(60 * MIB, 0));
    must(20 * MIB, 0);
    const struct model_step x = must(40 * MIB, 0);
    assert_int_equal(model_record_use(&model, x.slot, x.generation, 1, nobody), MODEL_OK);
    assert_int_equal(give(x), 1);
    const struct model_event event = model_event_next(&model);
    assert_int_equal(event.stream, 1);
    assert_int_equal(event.number, 1);
    assert_int_equal(model_event_next(&model).stream, -1);
    assert_int_equal(now(MODEL_ALLOCATION), 1);
    assert_int_equal(now(MODEL_ACTIVE), 2);
    const struct model_step y = request(40 * MIB, 0);
    assert_int_equal(device.waits, 1);
    if (policy == MODEL_COMPLETE) {
      assert_int_equal(y.kind, MODEL_STEP_DONE);
      assert_int_equal(y.address, x.address);
    } else {
      assert_int_equal(y.kind, MODEL_STEP_OUT_OF_MEMORY);
      assert_int_equal(must(40 * MIB, 0).address, x.address);
    }
  }
}

/* Scenario 13: a use that is finished is not held back by one of another stream. Covers REQ-STREAM-poll,
   REQ-STREAM-use, REQ-STREAM-pending, REQ-STREAM-queue. */
static void uses(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const struct model_step a = must(8 * MIB, 0);
  const struct model_step b = must(8 * MIB, 0);
  assert_int_equal(model_record_use(&model, a.slot, a.generation, 0, nobody), MODEL_OK);
  assert_int_equal(model_record_use(&model, a.slot, a.generation, 1, nobody), MODEL_OK);
  assert_int_equal(model_record_use(&model, a.slot, a.generation, 1, nobody), MODEL_OK);
  assert_int_equal(model_record_use(&model, b.slot, b.generation, 2, nobody), MODEL_OK);
  assert_int_equal(give(b), 1);
  assert_int_equal(give(a), 1);
  assert_int_equal(model_queue_head(&model, 1), 1);
  assert_int_equal(model_queue_head(&model, 0), 0);
  assert_int_equal(model_complete(&model, 1, 2, nobody).status, MODEL_ERROR_RANGE);
  const struct model_freed freed = model_complete(&model, 1, 1, nobody);
  assert_int_equal(freed.count, 1);
  assert_int_equal(must(8 * MIB, 0).address, a.address);
  assert_int_equal(model_free(&model, b.slot, b.generation, nobody).status, MODEL_ERROR_STALE);
}

/* Scenario 88: a block freed in a capture is deferred, and goes on after it; the use of the capture is dropped, that from
   before is queued. Covers REQ-STREAM-defer, REQ-LADDER-capture. */
static void deferred(void **state)
{
  const struct model_caller inside = {1, 0};
  (void)state;
  start(model_default_config(), 40 * MIB);
  const struct model_step a = must(8 * MIB, 0);
  const struct model_step b = must(8 * MIB, 0);
  assert_int_equal(model_record_use(&model, b.slot, b.generation, 2, nobody), MODEL_OK);
  assert_int_equal(model_capture_begin(&model, 1), MODEL_OK);
  assert_int_equal(model_capture_begin(&model, 1), MODEL_ERROR_CAPTURE);
  assert_int_equal(model_record_use(&model, a.slot, a.generation, 1, inside), MODEL_OK);
  assert_int_equal(model_free(&model, a.slot, a.generation, inside).count, 0);
  assert_int_equal(model_free(&model, b.slot, b.generation, inside).count, 0);
  sound();
  assert_int_equal(now(MODEL_ACTIVE), 2);
  /* Nothing is waited for or released in the capture. */
  device.capacity = 20 * MIB;
  const struct model_step c =
      model_device_run(&device, &model, model_allocate_begin(&model, 30 * MIB, 0, inside));
  assert_int_equal(c.kind, MODEL_STEP_OUT_OF_MEMORY);
  assert_int_equal(device.waits + device.releases, 0);
  assert_int_equal(model_capture_end(&model, 1), MODEL_OK);
  assert_int_equal(must(8 * MIB, 0).address, a.address);
  assert_int_equal(model_event_next(&model).stream, 2);
  assert_int_equal(model_event_next(&model).stream, -1);
}

/* Scenario 69. Covers REQ-FREE-exact, REQ-FREE-distinct, REQ-FREE-address, REQ-LIFETIME-once, REQ-LIFETIME-stale. */
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

/* A failed release leaves the segment in the cache; a failed allocation leaves all as it was. Covers REQ-ATOMIC-error,
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

static struct model_step request_by(uint64_t bytes, struct model_caller caller)
{
  const struct model_step step =
      model_device_run(&device, &model, model_allocate_begin(&model, bytes, 0, caller));
  sound();
  return step;
}

/* Scenarios 90, 93, 94: memory of a live pool serves nobody else, and goes back through the pool's allocator after its
   release. Covers REQ-POOL-scope, REQ-POOL-count, REQ-POOL-apart, REQ-POOL-freeable, REQ-POOL-allocator. */
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

/* A second scope for one pool is refused; the count stays raised in `faithful` alone. Covers REQ-POOL-scope. */
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

/* A pool's own cache helps its requests in `complete`, and not in `faithful`. Covers REQ-LADDER-private. */
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
   Covers REQ-LADDER-fallback, REQ-POOL-nosplit. */
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

/* Scenario 46: what is as old as the mean is released, also without a limit in `complete`. Covers REQ-LADDER-collect,
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

/* Once a request, and the search is repeated only where memory came back. Covers REQ-LADDER-callbacks. */
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

static void start_growable(uint32_t policy, uint64_t capacity)
{
  struct model_config config = model_default_config();
  config.policy = policy;
  config.growable = true;
  config.device_total = 160 * MIB;
  start(config, capacity);
}

/* Pages are mapped as far as they are missing; what is free behind is joined; releases unmap whole pages and give the
   range back. Covers REQ-GROW-page, REQ-GROW-reserve, REQ-GROW-run, REQ-GROW-allocate, REQ-GROW-map, REQ-GROW-split,
   REQ-GROW-unmap, REQ-GROW-destroy, REQ-GROW-hidden, REQ-GROW-toggle, REQ-BESTFIT-skip, REQ-TILE-base. */
static void growing(void **state)
{
  (void)state;
  start_growable(MODEL_COMPLETE, UINT64_MAX);
  struct model_step step = model_allocate_begin(&model, 3 * MIB, 0, nobody);
  assert_int_equal(step.kind, MODEL_STEP_RESERVE);
  assert_int_equal(step.bytes, 180 * MIB);
  step = model_device_perform(&device, &model, step);
  assert_int_equal(step.kind, MODEL_STEP_MAP);
  assert_int_equal(step.bytes, 20 * MIB);
  const struct model_step a = model_device_perform(&device, &model, step);
  assert_int_equal(a.bytes, 3 * MIB);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 20 * MIB);
  assert_int_equal(now(MODEL_SEGMENT) + now(MODEL_INACTIVE_SPLIT), 0);
  assert_int_equal(model_base(&model, a.slot, a.generation).status, MODEL_ERROR_GROWABLE);
  const struct model_step b = must(30 * MIB, 0);
  assert_int_equal(b.address, a.address + 3 * MIB);
  assert_int_equal(device.maps, 2);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 40 * MIB);
  give(b);
  assert_int_equal(model_growable_set(&model, false), MODEL_OK);
  const struct model_step c = must(5 * MIB, 0);
  assert_int_equal(device.allocations, 1);
  assert_int_equal(model_base(&model, c.slot, c.generation).bytes, 20 * MIB);
  empty_cache();
  assert_int_equal(device.unmaps, 1);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 40 * MIB);
  give(a);
  empty_cache();
  assert_int_equal(device.unmaps, 2);
  assert_int_equal(device.order[(device.steps - 1) % 64], MODEL_STEP_UNRESERVE);
  assert_int_equal(now(MODEL_RESERVED_BYTES), 20 * MIB);
}

/* X and Z unmapped beside Y, which is free; memory for X is there, and none for Z: `faithful` keeps X, `complete` undoes
   it. Covers REQ-GROW-partial. */
static void partly_mapped(void **state)
{
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_step made[3];
    start_growable(policy, 60 * MIB);
    for (int i = 0; i < 3; i++) {
      made[i] = must(20 * MIB, 0);
    }
    give(made[0]);
    give(made[2]);
    empty_cache();
    give(made[1]);
    device.capacity = 40 * MIB;
    struct model_step step = model_allocate_begin(&model, 60 * MIB, 0, nobody);
    assert_int_equal(step.kind, MODEL_STEP_MAP);
    assert_int_equal(step.address, made[0].address);
    step = model_device_perform(&device, &model, step);
    assert_int_equal(step.kind, MODEL_STEP_MAP);
    assert_int_equal(step.address, made[2].address);
    assert_int_equal(now(MODEL_RESERVED_BYTES), 40 * MIB);
    step = model_device_perform(&device, &model, step);
    assert_int_equal(step.kind, MODEL_STEP_UNMAP);
    assert_int_equal(step.address, made[0].address);
    assert_int_equal(step.bytes, (policy == MODEL_COMPLETE ? 20 : 40) * MIB);
    assert_int_equal(model_device_run(&device, &model, step).kind, MODEL_STEP_OUT_OF_MEMORY);
    assert_int_equal(now(MODEL_RESERVED_BYTES), 0);
  }
}

/* The least block that fits lies before unmapped pages; the next one, closed in, has less room and is taken. Covers
   REQ-BESTFIT-walk. */
static void walk(void **state)
{
  (void)state;
  start_growable(MODEL_COMPLETE, UINT64_MAX);
  const struct model_step a = must(9 * MIB, 0);
  must(MIB + 512, 0);
  const struct model_step c = must(4 * MIB, 0);
  give(a);
  assert_int_equal(model.block[model_choose(&model, 2 * MIB, 0, nobody)].address, a.address);
  assert_int_equal(must(9 * MIB, 0).address, a.address);
  assert_int_equal(must(2 * MIB, 0).address, c.address + 4 * MIB);
}

/* Covers REQ-BESTFIT-at. */
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
  assert_true(model_is_canonical(&model));
}

/* Scenarios 8, 11: the blocks of a stream that is gone serve nobody, its uses are finished, and its key may come again.
   Covers REQ-STREAM-gone, REQ-STREAM-registered. */
static void stream_gone(void **state)
{
  (void)state;
  start(model_default_config(), UINT64_MAX);
  const struct model_step a = must(4 * MIB, 1);
  const struct model_step b = must(4 * MIB, 0);
  give(a);
  assert_int_equal(model_record_use(&model, b.slot, b.generation, 1, nobody), MODEL_OK);
  give(b);
  assert_int_equal(model_stream_register(&model, 99).status, MODEL_ERROR_DUPLICATE);
  assert_int_equal(model_stream_gone(&model, 1, nobody), MODEL_OK);
  sound();
  assert_int_equal(now(MODEL_ACTIVE), 0);
  assert_int_equal(request(4 * MIB, 1).status, MODEL_ERROR_STREAM);
  const struct model_registration again = model_stream_register(&model, 99);
  assert_int_equal(again.status, MODEL_OK);
  assert_int_not_equal(again.number, 1);
  assert_int_not_equal(must(4 * MIB, again.number).address, a.address);
  empty_cache();
  assert_int_equal(device.releases, 2);
  assert_int_equal(model_largest(&model), 16 * MIB);
}

/* Covers REQ-ACCOUNT-reset, REQ-ACCOUNT-largest. */
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

/* Scenario 89: recorded, changed, restored; a pending block is refused, and so is a segment that is gone. Covers
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked_examples),
      cmocka_unit_test(divisions),
      cmocka_unit_test(sizes_refused),
      cmocka_unit_test(orders),
      cmocka_unit_test(touching_segments),
      cmocka_unit_test(split_limit),
      cmocka_unit_test(oversize_from_the_greatest),
      cmocka_unit_test(slack),
      cmocka_unit_test(limit),
      cmocka_unit_test(came_back),
      cmocka_unit_test(uses),
      cmocka_unit_test(deferred),
      cmocka_unit_test(handles),
      cmocka_unit_test(failures),
      cmocka_unit_test(private_pool),
      cmocka_unit_test(scope_twice),
      cmocka_unit_test(own_cache),
      cmocka_unit_test(lent),
      cmocka_unit_test(collection),
      cmocka_unit_test(callbacks),
      cmocka_unit_test(growing),
      cmocka_unit_test(partly_mapped),
      cmocka_unit_test(walk),
      cmocka_unit_test(exactly),
      cmocka_unit_test(stream_gone),
      cmocka_unit_test(resets),
      cmocka_unit_test(checkpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
