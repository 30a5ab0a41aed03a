/* model_random_test.c - the reference model under random calls, several requests in flight, and a device that refuses
 * and fails: what must hold at any time holds after every call.
 *
 * Oracle: REQ-DISJOINT-blocks, REQ-TILE-blocks, REQ-COALESCE-blocks, REQ-COALESCE-mapping, REQ-COALESCE-pending,
 * REQ-ACCOUNT-counter, REQ-FRAME, REQ-ATOMIC, REQ-ATOMIC-flight, REQ-STREAM-pending, REQ-OOM-complete, REQ-CANON-whole,
 * REQ-POOL-freeable, REQ-GROW-partial, REQ-GROW-unmap.
 *
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

enum { RUNS = 60, CALLS = 400, LIVE = 200, STREAMS = 4 };

enum happened {
  SERVED = 0,
  OUT_OF_MEMORY,
  WAITED,
  MAPPED,
  UNMAPPED,
  UNRESERVED,
  RELEASED,
  CALLED_BACK,
  FAILED,
  REFUSED_MAP,
  ABANDONED,
  TWO_IN_FLIGHT,
  DEFERRED,
  LENT,
  KINDS
};

struct live {
  int32_t slot;
  uint32_t generation;
  uint64_t address;
  uint64_t size;
};

static struct model model;
static struct model before;
static struct model_device device;
static struct live live[LIVE];
static int32_t live_count;
static struct model_step open[MODEL_REQUESTS];
static int32_t open_count;
static uint64_t seed;
static uint64_t happened[KINDS];
static bool alone;  /* whether a request runs from its begin to its end */
static bool faults; /* whether device calls fail, so that the device and the model may differ */

static uint64_t below(uint64_t bound)
{
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (seed >> 33) % bound;
}

static int32_t any(int32_t bound)
{
  return (int32_t)below((uint64_t)bound);
}

static struct model_caller caller(void)
{
  return (struct model_caller){any(STREAMS + 1) - 1, 1 + below(2)};
}

static uint64_t size(void)
{
  static const uint64_t tops[] = {2048, MIB, MIB + 4096, 9 * MIB, 12 * MIB, 40 * MIB, 100 * MIB};
  return 1 + below(tops[below(sizeof tops / sizeof tops[0])]);
}

static void sound(void)
{
  const char *why = model_broken(&model);
  if (why != NULL) {
    fail_msg("%s", why);
  }
  for (int32_t i = 0; i < live_count; i++) {
    const struct model_block b = model.block[live[i].slot];
    assert_int_equal(b.state, MODEL_ALLOCATED);
    assert_int_equal(b.generation, live[i].generation);
    assert_int_equal(b.address, live[i].address);
    assert_int_equal(b.size, live[i].size);
  }
  if (open_count == 0 && !faults) {
    assert_int_equal(device.given, model.statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current);
  }
}

/* Out of memory in `complete`, outside a capture, and no other call came in between. */
static void out_of_memory(const struct model_request *request)
{
  happened[OUT_OF_MEMORY]++;
  if (model.config.policy != MODEL_COMPLETE || !alone || model.stream[0].capturing) {
    return;
  }
  for (int32_t i = 0; i < STREAMS; i++) {
    assert_int_equal(model_queue_head(&model, i), 0);
  }
  for (int32_t i = 0; i < model.blocks; i++) {
    const struct model_block b = model.block[i];
    const struct model_segment s = model.segment[b.segment];
    if (b.state == MODEL_FREE && !s.growable) {
      assert_false(b.size == s.size && (s.pool == 0 || s.pool == request->want.pool));
    }
  }
}

static void take(struct model_step step, struct model_request request)
{
  if (model_step_is_open(step)) {
    open[open_count] = step;
    open_count++;
    happened[TWO_IN_FLIGHT] += open_count > 1 ? 1 : 0;
  } else if (step.kind == MODEL_STEP_DONE && step.slot != -1) {
    assert_true(live_count < LIVE);
    live[live_count] = (struct live){step.slot, step.generation, step.address, step.bytes};
    live_count++;
    happened[SERVED]++;
    happened[LENT] += request.used && step.pool != request.want.pool ? 1 : 0;
  } else if (step.kind == MODEL_STEP_OUT_OF_MEMORY) {
    out_of_memory(&request);
  }
}

static void count_step(struct model_step step, uint32_t maps)
{
  happened[WAITED] += step.kind == MODEL_STEP_WAIT ? 1 : 0;
  happened[MAPPED] += device.maps - maps;
  happened[REFUSED_MAP] += step.kind == MODEL_STEP_MAP && device.maps == maps ? 1 : 0;
  happened[UNMAPPED] += step.kind == MODEL_STEP_UNMAP ? 1 : 0;
  happened[UNRESERVED] += step.kind == MODEL_STEP_UNRESERVE ? 1 : 0;
  happened[RELEASED] += step.kind == MODEL_STEP_RELEASE ? 1 : 0;
}

static void go_on(bool honest)
{
  const int32_t i = any(open_count);
  const struct model_step step = open[i];
  const struct model_request request = model.request[step.request];
  const uint32_t maps = device.maps;
  struct model_step next = {.kind = MODEL_STEP_ERROR};
  open_count--;
  open[i] = open[open_count];
  if (!honest && faults && below(10) == 0) {
    next = model_resume(&model, step.request, MODEL_FAILED, 0);
    assert_int_equal(next.status, MODEL_ERROR_DEVICE);
    happened[FAILED]++;
  } else if (!honest && below(20) == 0) {
    if (step.kind == MODEL_STEP_RELEASE || step.kind == MODEL_STEP_UNMAP) {
      device.given -= step.bytes;
    }
    assert_int_equal(model_abandon(&model, step.request), MODEL_OK);
    happened[ABANDONED]++;
  } else if (step.kind == MODEL_STEP_CALLBACKS) {
    next = model_resume(&model, step.request, MODEL_PERFORMED, below(2));
    happened[CALLED_BACK]++;
  } else {
    next = model_device_perform(&device, &model, step);
    count_step(step, maps);
  }
  take(next, request);
}

static void allocate(void)
{
  if (live_count + open_count < LIVE) {
    const struct model_step step = model_allocate_begin(&model, size(), any(STREAMS), caller());
    take(step, model_step_is_open(step) ? model.request[step.request] : (struct model_request){0});
    if (step.kind == MODEL_STEP_ERROR) {
      assert_memory_equal(&before, &model, sizeof model);
    }
    alone = open_count == 1 && model_step_is_open(step) && below(2) == 0;
    while (alone && open_count > 0) {
      go_on(true);
    }
    alone = false;
  }
}

static void use_and_free(void)
{
  if (live_count == 0) {
    return;
  }
  const int32_t i = any(live_count);
  const struct live block = live[i];
  if (below(2) == 0) {
    const enum model_status status =
        model_record_use(&model, block.slot, block.generation, any(STREAMS), caller());
    assert_true(status == MODEL_OK || status == MODEL_ERROR_BUSY || status == MODEL_ERROR_STREAM);
    return;
  }
  const struct model_freed freed = below(2) == 0
                                       ? model_free(&model, block.slot, block.generation, caller())
                                       : model_free_address(&model, block.address, caller());
  if (freed.status == MODEL_OK) {
    live_count--;
    live[i] = live[live_count];
    happened[DEFERRED] += model.block[block.slot].deferred != 0 ? 1 : 0;
    if (freed.count > 0) {
      assert_int_not_equal(model_event_next(&model).stream, -1);
      while (model_event_next(&model).stream != -1) {
      }
    }
  } else {
    assert_int_equal(freed.status, MODEL_ERROR_BUSY);
    assert_memory_equal(&before, &model, sizeof model);
  }
}

static void streams(void)
{
  const int32_t stream = any(STREAMS);
  const uint64_t head = model_queue_head(&model, stream);
  switch (below(8)) {
  case 0:
    (void)model_capture_begin(&model, 0);
    break;
  case 1:
  case 2:
    (void)model_capture_end(&model, 0);
    break;
  case 3:
    if (stream == STREAMS - 1 && model_stream_gone(&model, stream, caller()) == MODEL_OK) {
      assert_int_equal(model_queue_head(&model, stream), 0);
      assert_int_equal(model_stream_find(&model, 90 + (uint64_t)stream), -1);
    }
    break;
  default:
    (void)model_complete(&model, stream, head, caller());
    break;
  }
}

static void pools(void)
{
  const int32_t pool = any(4);
  switch (below(8)) {
  case 0:
    (void)model_pool_create(&model, below(2) == 0 ? 0 : 7);
    break;
  case 1:
    (void)model_pool_release(&model, pool);
    break;
  case 2:
    (void)model_pool_set_use_on_oom(&model, pool, below(2) == 0);
    break;
  case 3:
    (void)model_pool_set_no_split(&model, pool);
    break;
  case 4:
  case 5:
    (void)model_scope_open(&model, pool, below(3), any(STREAMS + 1) - 1);
    break;
  default:
    (void)model_scope_close(&model, pool);
    break;
  }
}

static void settings(void)
{
  switch (below(6)) {
  case 0:
    (void)model_limit_set(&model, below(2) == 0 ? MODEL_UNSET : 200 * MIB,
                          below(2) == 0 ? MODEL_UNSET : 100 * MIB);
    break;
  case 1:
    (void)model_growable_set(&model, below(3) != 0);
    break;
  default:
    if (open_count < MODEL_REQUESTS && below(3) == 0) {
      take(model_empty_cache_begin(&model, any(4) - 1, caller()), (struct model_request){0});
    }
    break;
  }
}

static void begin(uint64_t run)
{
  struct model_config config = model_default_config();
  seed = run * 1000003 + 17;
  memset(&model, 0, sizeof model);
  live_count = 0;
  open_count = 0;
  faults = run % 3 == 2;
  config.policy = (uint32_t)(run % 2);
  config.order = (uint32_t)(run / 2 % 2);
  config.max_split_size = run / 4 % 2 == 0 ? MODEL_UNSET : 32 * MIB;
  config.growable = run / 8 % 2 == 1;
  config.callbacks = run / 16 % 2 == 1;
  config.device_total = 256 * MIB;
  config.reservation_large = run / 32 % 2 == 0 ? 0 : 60 * MIB;
  config.division[0] = run % 5;
  config.division[0] = config.division[0] == 3 ? 8 : config.division[0];
  model_device_start(&device, 256 * MIB);
  assert_int_equal(model_init(&model, config), MODEL_OK);
  for (uint64_t key = 0; key < STREAMS; key++) {
    assert_int_equal(model_stream_register(&model, 90 + key).status, MODEL_OK);
  }
}

/* Everything is given back: nothing is left. */
static void end(void)
{
  const struct model_caller nobody = {-1, 0};
  while (open_count > 0) {
    go_on(true);
    sound();
  }
  (void)model_capture_end(&model, 0);
  while (live_count > 0) {
    live_count--;
    assert_int_equal(
        model_free(&model, live[live_count].slot, live[live_count].generation, nobody).status,
        MODEL_OK);
  }
  for (int32_t pool = 1; pool < MODEL_POOLS; pool++) {
    (void)model_scope_close(&model, pool);
    while (model_pool_release(&model, pool) == MODEL_OK) {
    }
  }
  take(model_empty_cache_begin(&model, -1, nobody), (struct model_request){0});
  while (open_count > 0) {
    go_on(true);
    sound();
  }
  assert_true(model_is_canonical(&model));
  assert_int_equal(model.statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current, 0);
  assert_int_equal(model.statistic[MODEL_SEGMENT][MODEL_ALL].current, 0);
  /* Only a range that was never mapped, or undone, keeps a pool: no release left it unmapped. */
  for (int32_t pool = 1; pool < MODEL_POOLS; pool++) {
    bool range = false;
    for (int32_t i = 0; i < model.segments; i++) {
      range = range || (model.segment[i].used && model.segment[i].pool == pool);
    }
    assert_int_equal(model.pool[pool].used, range);
  }
}

static void random_calls(void **state)
{
  (void)state;
  for (uint64_t run = 0; run < RUNS; run++) {
    begin(run);
    for (int32_t call = 0; call < CALLS; call++) {
      before = model;
      const uint64_t what = below(16);
      if (open_count > 0 && what < 7) {
        go_on(false);
      } else if (what < 10) {
        allocate();
      } else if (what < 13) {
        use_and_free();
      } else if (what == 13) {
        streams();
      } else if (what == 14) {
        pools();
      } else {
        settings();
      }
      sound();
    }
    end();
  }
  for (int i = 0; i < KINDS; i++) {
    if (happened[i] == 0) {
      fail_msg("the runs are too tame: %d never happened", i);
    }
    print_message("%d: %d\n", i, (int)happened[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
