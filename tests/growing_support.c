/* growing_support.c - see growing_support.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/growing_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct ashlar_config growing_config(void)
{
  struct ashlar_config config = ashlar_default_config();
  config.growable = 1;
  config.device_total = GIB;
  return config;
}

int32_t slot_at(const struct ashlar_manager *m, uint64_t address)
{
  for (int32_t slot = 0; slot < ashlar_slot_limit(m); slot++) {
    const struct ashlar_block_view view = ashlar_block(m, slot);
    if (view.state != ASHLAR_UNUSED && view.address == address) {
      return slot;
    }
  }
  fail_msg("no block starts at %llu", (unsigned long long)address);
  return -1;
}

/* The block of a state that has the byte at an address. */
static int32_t slot_with(const struct ashlar_manager *m, uint64_t address, uint8_t state)
{
  for (int32_t slot = 0; slot < ashlar_slot_limit(m); slot++) {
    const struct ashlar_block_view view = ashlar_block(m, slot);
    if (view.state == state && view.address <= address && address - view.address < view.size) {
      return slot;
    }
  }
  fail_msg("no such block at %llu", (unsigned long long)address);
  return -1;
}

void lay(struct fixture *f, uint64_t address, const struct part *parts, int32_t pool,
         int32_t stream)
{
  uint64_t bytes = 0;
  for (const struct part *part = parts; part->layer != LAYER_END; part++) {
    bytes += part->bytes;
  }
  assert_int_equal(ashlar_range_add(f->m, address, bytes, pool, ASHLAR_CLASS_LARGE, stream).status,
                   ASHLAR_OK);
  for (const struct part *part = parts; part->layer != LAYER_END; part++) {
    if (part->layer != LAYER_UNMAPPED) {
      const int32_t slot = slot_with(f->m, address, ASHLAR_UNMAPPED);
      assert_int_equal(ashlar_range_map(f->m, slot, address, part->bytes).status, ASHLAR_OK);
    }
    if (part->layer == LAYER_OWNED) {
      const int32_t slot = slot_with(f->m, address, ASHLAR_FREE);
      assert_int_equal(ashlar_allocate_at(f->m, slot, address, part->bytes, part->bytes).status,
                       ASHLAR_OK);
    }
    address += part->bytes;
  }
  check_whole(f->m);
}

struct ashlar_step performed(struct fixture *f, struct ashlar_step step)
{
  struct ashlar_pretend *device = &f->device;
  uint64_t value = step.address;
  if (step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RESERVE) {
    value = device->next;
    device->next += step.bytes;
  }
  assert_true(device->step_count < ASHLAR_PRETEND_LOG);
  device->step[device->step_count] =
      (struct ashlar_pretend_step){step.kind, false, value, step.bytes};
  device->step_count++;
  return ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, value);
}

struct ashlar_step finished(struct fixture *f, struct ashlar_step step)
{
  f->device.step_count = 0;
  while (step.kind < ASHLAR_STEP_DONE) {
    step = performed(f, step);
  }
  check_whole(f->m);
  return step;
}

struct ashlar_step begun(struct fixture *f, uint64_t bytes, int32_t stream)
{
  return ashlar_allocate_begin(f->m, bytes, stream, ashlar_nobody());
}
