/* model_fixture.c - see model_fixture.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct model model;
struct model before;
struct model_device device;
const struct model_caller nobody = {-1, 0};

void start(struct model_config config, uint64_t capacity)
{
  memset(&model, 0, sizeof model);
  model_device_start(&device, capacity);
  assert_int_equal(model_init(&model, config), MODEL_OK);
  for (uint64_t key = 0; key < 3; key++) {
    assert_int_equal(model_stream_register(&model, 100 - key).status, MODEL_OK);
  }
}

void sound(void)
{
  const char *why = model_broken(&model);
  if (why != NULL) {
    fail_msg("%s", why);
  }
}

struct model_step request(uint64_t bytes, int32_t stream)
{
  const struct model_step step =
      model_device_run(&device, &model, model_allocate_begin(&model, bytes, stream, nobody));
  sound();
  return step;
}

struct model_step must(uint64_t bytes, int32_t stream)
{
  const struct model_step step = request(bytes, stream);
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  assert_true(step.bytes >= bytes);
  return step;
}

int32_t give(struct model_step block)
{
  const struct model_freed freed = model_free(&model, block.slot, block.generation, nobody);
  assert_int_equal(freed.status, MODEL_OK);
  sound();
  return freed.count;
}

void empty_cache(void)
{
  const struct model_step step =
      model_device_run(&device, &model, model_empty_cache_begin(&model, -1, nobody));
  assert_int_equal(step.kind, MODEL_STEP_DONE);
  sound();
}

uint64_t now(enum model_statistic statistic)
{
  return model.statistic[statistic][MODEL_ALL].current;
}

struct model_step request_by(uint64_t bytes, struct model_caller caller)
{
  const struct model_step step =
      model_device_run(&device, &model, model_allocate_begin(&model, bytes, 0, caller));
  sound();
  return step;
}
