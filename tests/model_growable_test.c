/* model_growable_test.c - the reference model on worked examples: growable segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model_fixture.h"

static void start_growable(uint32_t policy, uint64_t capacity)
{
  struct model_config config = model_default_config();
  config.policy = policy;
  config.growable = true;
  config.device_total = 160 * MIB;
  start(config, capacity);
}

/* Pages are mapped as far as they are missing; what is free behind is joined; releases unmap whole pages and give the
   range back. Oracle: REQ-GROW-page, REQ-GROW-reserve, REQ-GROW-run, REQ-GROW-allocate, REQ-GROW-map, REQ-GROW-split,
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
   it. Oracle: REQ-GROW-partial. */
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

/* The least block that fits lies before unmapped pages; the next one, closed in, has less room and is taken. Oracle:
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

/* A range that is just long enough serves; one that is shorter goes back at once, takes no age, and counts as a refusal.
   Oracle: REQ-GROW-reserve. */
static void short_range(void **state)
{
  (void)state;
  for (uint64_t more = 0; more < 2; more++) {
    struct model_config config = model_default_config();
    config.growable = true;
    config.device_total = 640 * MIB;
    config.reservation_large = 50 * MIB; /* three pages */
    start(config, UINT64_MAX);
    struct model_step step = model_allocate_begin(&model, 60 * MIB + more, 0, nobody);
    assert_int_equal(step.kind, MODEL_STEP_RESERVE);
    assert_int_equal(step.bytes, 60 * MIB);
    const uint64_t address = device.next;
    step = model_device_perform(&device, &model, step);
    assert_int_equal(step.kind, more == 0 ? MODEL_STEP_MAP : MODEL_STEP_UNRESERVE);
    assert_int_equal(step.address, address);
    assert_int_equal(step.bytes, 60 * MIB);
    assert_int_equal(model.segments_created, 1 - more);
    step = model_device_run(&device, &model, step);
    assert_int_equal(step.kind, more == 0 ? MODEL_STEP_DONE : MODEL_STEP_OUT_OF_MEMORY);
    sound();
  }
}

/* A reservation that fails is an error of the device. Oracle: REQ-GROW-reserve, REQ-ATOMIC-error. */
static void no_range(void **state)
{
  (void)state;
  start_growable(MODEL_COMPLETE, UINT64_MAX);
  const struct model_step step = model_allocate_begin(&model, 4096, 0, nobody);
  assert_int_equal(step.bytes, 180 * MIB);
  assert_int_equal(model_resume(&model, step.request, MODEL_REFUSED, 0).status, MODEL_ERROR_DEVICE);
  sound();
  must(4096, 0);
}

/* In a class the ordinary segments go before the growable ones. Oracle: REQ-GROW-release, REQ-LADDER-order. */
static void ordinary_first(void **state)
{
  static const enum model_step_kind expected[] = {MODEL_STEP_RELEASE, MODEL_STEP_UNMAP,
                                                  MODEL_STEP_UNRESERVE, MODEL_STEP_UNMAP,
                                                  MODEL_STEP_UNRESERVE};
  (void)state;
  start_growable(MODEL_COMPLETE, UINT64_MAX);
  const struct model_step a = must(2 * MIB, 0);
  give(must(4096, 0));
  assert_int_equal(model_growable_set(&model, false), MODEL_OK);
  const struct model_step b = must(30 * MIB, 0);
  give(a);
  give(b);
  struct model_step step = model_empty_cache_begin(&model, -1, nobody);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_int_equal(step.kind, expected[i]);
    step = model_device_perform(&device, &model, step);
  }
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  assert_int_equal(model.calls.device_frees, 3);
}

/* Equal room does not lead on. Oracle: REQ-BESTFIT-walk. */
static void walk_stops(void **state)
{
  (void)state;
  start_growable(MODEL_COMPLETE, UINT64_MAX);
  const struct model_step a = must(4 * MIB, 0);
  must(MIB + 512, 0);
  const struct model_step b = must(4 * MIB, 0);
  must(9 * MIB, 0);
  give(a);
  give(b);
  assert_int_equal(must(4 * MIB, 0).address, a.address);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_range), cmocka_unit_test(no_range), cmocka_unit_test(ordinary_first),
      cmocka_unit_test(walk_stops),  cmocka_unit_test(growing),  cmocka_unit_test(partly_mapped),
      cmocka_unit_test(walk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
