/* model_uses_test.c - the reference model on worked examples: uses on other streams, captures, streams that go.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model_fixture.h"

/* Scenario 20: the block that came back by the wait serves, in `complete`; `faithful` releases it and asks, and where it
   is a part of a segment, fails. Oracle: REQ-LADDER-search, REQ-OOM-complete, REQ-OOM-faithful. */
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

/* Scenario 13: a use that is finished is not held back by one of another stream. Oracle: REQ-STREAM-poll,
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
   before is queued. Oracle: REQ-STREAM-defer, REQ-LADDER-capture. */
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

/* Scenarios 8, 11: the blocks of a stream that is gone serve nobody, its uses are finished, and its key may come again.
   Oracle: REQ-STREAM-gone, REQ-STREAM-registered. */
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

/* A use that was recorded before the capture, and again in it: `complete` waits for it, `faithful` drops it, as the rules
   do. Oracle: REQ-STREAM-defer, REQ-STREAM-use. */
static void recorded_twice(void **state)
{
  const struct model_caller inside = {1, 0};
  (void)state;
  for (uint32_t policy = MODEL_COMPLETE; policy <= MODEL_FAITHFUL; policy++) {
    struct model_config config = model_default_config();
    config.policy = policy;
    start(config, UINT64_MAX);
    const struct model_step a = must(8 * MIB, 0);
    assert_int_equal(model_record_use(&model, a.slot, a.generation, 2, nobody), MODEL_OK);
    assert_int_equal(model_capture_begin(&model, 1), MODEL_OK);
    assert_int_equal(model_record_use(&model, a.slot, a.generation, 2, inside), MODEL_OK);
    assert_int_equal(model_free(&model, a.slot, a.generation, inside).status, MODEL_OK);
    assert_int_equal(model_capture_end(&model, 1), MODEL_OK);
    must(4096, 0);
    assert_int_equal(now(MODEL_ACTIVE), policy == MODEL_COMPLETE ? 2 : 1);
  }
}

/* Deferred blocks go on in the order in which they were deferred; events are asked for in the order of the streams' keys,
   in each in the order of submission. Oracle: REQ-STREAM-defer, REQ-STREAM-queue. */
static void order_of_events(void **state)
{
  const struct model_caller inside = {0, 0};
  struct model_step made[3];
  (void)state;
  start(model_default_config(), UINT64_MAX);
  for (int i = 0; i < 3; i++) {
    made[i] = must(2 * MIB, 0);
    assert_int_equal(model_record_use(&model, made[i].slot, made[i].generation, 1, nobody),
                     MODEL_OK);
  }
  assert_int_equal(model_record_use(&model, made[0].slot, made[0].generation, 2, nobody), MODEL_OK);
  assert_int_equal(model_capture_begin(&model, 0), MODEL_OK);
  for (int i = 2; i >= 0; i--) {
    assert_int_equal(model_free(&model, made[i].slot, made[i].generation, inside).count, 0);
  }
  assert_int_equal(model_capture_end(&model, 0), MODEL_OK);
  must(4096, 0);
  static const struct model_event expected[] = {{2, 1}, {1, 1}, {1, 2}, {1, 3}, {-1, 0}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    const struct model_event event = model_event_next(&model);
    assert_int_equal(event.stream, expected[i].stream);
    assert_int_equal(event.number, expected[i].number);
  }
  assert_int_equal(model_complete(&model, 1, 2, nobody).count, 2);
  assert_int_equal(model_complete(&model, 1, 3, nobody).count, 0);
  assert_int_equal(model_complete(&model, 2, 1, nobody).count, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recorded_twice), cmocka_unit_test(order_of_events),
      cmocka_unit_test(came_back),      cmocka_unit_test(uses),
      cmocka_unit_test(deferred),       cmocka_unit_test(stream_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
