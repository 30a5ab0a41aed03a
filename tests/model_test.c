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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
