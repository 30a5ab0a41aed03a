/* block_manager_device_test.c - random requests against a device that keeps a list of what it gave: every block lies in
 * it, and what is counted and mapped is what the device says.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"
#include "tests/storage.h"

enum { ROUNDS = 400, MOST = 64, RANGES = 256, STREAMS = 2, CELLS = 128 };

#define CELL                                                                                       \
  (2 *                                                                                             \
   MIB) /* what is mapped and unmapped is a multiple of it: pages are, and ranges begin at one */

/* A range that the device gave and did not take back; of a growable one, by cell, whether it is mapped. */
struct range {
  uint64_t address;
  uint64_t bytes; /* 0: no range */
  bool growable;
  bool mapped[CELLS];
};

struct device {
  uint64_t capacity;
  uint64_t used;
  uint64_t next;
  struct range range[RANGES];
};

static struct device device;

static struct range *range_with(uint64_t address, uint64_t bytes)
{
  for (size_t i = 0; i < RANGES; i++) {
    struct range *range = &device.range[i];
    if (range->bytes > 0 && range->address <= address &&
        address - range->address <= range->bytes - bytes && bytes <= range->bytes) {
      return range;
    }
  }
  return NULL;
}

static uint64_t give_range(uint64_t bytes, bool growable)
{
  size_t i = 0;
  while (device.range[i].bytes > 0) {
    i++;
    assert_true(i < RANGES);
  }
  device.range[i] = (struct range){.address = device.next, .bytes = bytes, .growable = growable};
  device.next += (bytes + CELL - 1) / CELL * CELL;
  return device.range[i].address;
}

/* Maps or unmaps cells, none of which is as it is to be. */
static void change_cells(uint64_t address, uint64_t bytes, bool mapped)
{
  struct range *range = range_with(address, bytes);
  assert_non_null(range);
  assert_true(range->growable);
  assert_int_equal((address - range->address) % CELL + bytes % CELL, 0);
  for (uint64_t at = address - range->address; at < address - range->address + bytes; at += CELL) {
    assert_int_equal(range->mapped[at / CELL], !mapped);
    range->mapped[at / CELL] = mapped;
  }
  device.used = mapped ? device.used + bytes : device.used - bytes;
}

/* A range goes back as a whole, and unmapped. */
static void take_range(uint64_t address, uint64_t bytes, bool growable)
{
  struct range *range = range_with(address, bytes);
  assert_non_null(range);
  assert_int_equal(range->address, address);
  assert_int_equal(range->bytes, bytes);
  assert_int_equal(range->growable, growable);
  for (size_t i = 0; i < CELLS; i++) {
    assert_false(range->mapped[i]);
  }
  device.used -= growable ? 0 : bytes;
  range->bytes = 0;
}

static enum ashlar_outcome perform(struct ashlar_step step, uint64_t *value)
{
  const bool takes = step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_MAP;
  if (takes && step.bytes > device.capacity - device.used) {
    return ASHLAR_OUTCOME_REFUSED;
  }
  switch (step.kind) {
  case ASHLAR_STEP_ALLOCATE:
    *value = give_range(step.bytes, false);
    device.used += step.bytes;
    break;
  case ASHLAR_STEP_RESERVE:
    assert_true(step.bytes <= CELLS * CELL);
    *value = give_range(step.bytes, true);
    break;
  case ASHLAR_STEP_RELEASE:
    take_range(step.address, step.bytes, false);
    break;
  case ASHLAR_STEP_UNRESERVE:
    take_range(step.address, step.bytes, true);
    break;
  case ASHLAR_STEP_MAP:
  case ASHLAR_STEP_UNMAP:
    change_cells(step.address, step.bytes, step.kind == ASHLAR_STEP_MAP);
    break;
  default:
    break;
  }
  return ASHLAR_OUTCOME_DONE;
}

/* The block lies in a range, which begins where its first block does and ends where its last one does. Covers
   REQ-DISJOINT-inside. */
static void block_must_be_inside(const struct ashlar_block_view *view)
{
  const struct range *range = range_with(view->address, view->size);
  assert_non_null(range);
  assert_int_equal(view->growable != 0, range->growable);
  assert_int_equal(view->prev == -1, view->address == range->address);
  assert_int_equal(view->next == -1, view->address + view->size == range->address + range->bytes);
}

/* Whether the block behind is free or unmapped as well, and alike. Covers REQ-COALESCE-mapping. */
static void block_must_be_apart(const struct ashlar_manager *m,
                                const struct ashlar_block_view *view)
{
  if (view->next != -1 && (view->state == ASHLAR_FREE || view->state == ASHLAR_UNMAPPED)) {
    assert_int_not_equal(ashlar_block(m, view->next).state, view->state);
  }
}

/* The block is mapped or unmapped as the device says. */
static void block_must_be_mapped(const struct ashlar_block_view *view)
{
  const struct range *range = range_with(view->address, view->size);
  const uint64_t first = view->address - range->address;
  for (uint64_t at = first; at < first + view->size; at = at / CELL * CELL + CELL) {
    assert_int_equal(range->mapped[at / CELL], view->state != ASHLAR_UNMAPPED);
  }
}

/* Between two requests. What the device has out is what is counted as reserved, unmapped addresses are not. Covers
   REQ-DISJOINT-inside, REQ-COALESCE-mapping, REQ-GROW-hidden. */
static void must_agree(const struct fixture *f)
{
  uint64_t ranges = 0;
  uint64_t blocks = 0;
  check_whole(f->m);
  for (int32_t slot = 0; slot < ashlar_slot_limit(f->m); slot++) {
    const struct ashlar_block_view view = ashlar_block(f->m, slot);
    if (view.state != ASHLAR_UNUSED) {
      block_must_be_inside(&view);
      block_must_be_apart(f->m, &view);
      if (view.growable != 0) {
        block_must_be_mapped(&view);
      }
      blocks += view.size;
    }
  }
  for (size_t i = 0; i < RANGES; i++) {
    ranges += device.range[i].bytes;
  }
  assert_int_equal(blocks, ranges);
  assert_int_equal(current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL), device.used);
}

/* While a request waits for the device its blocks are where they were, even those that it holds. Covers
   REQ-DISJOINT-inside. */
static void must_be_inside(const struct ashlar_manager *m)
{
  for (int32_t slot = 0; slot < ashlar_slot_limit(m); slot++) {
    const struct ashlar_block_view view = ashlar_block(m, slot);
    if (view.state != ASHLAR_UNUSED) {
      block_must_be_inside(&view);
    }
  }
}

static struct ashlar_step finished(struct fixture *f, struct ashlar_step step)
{
  while (step.kind < ASHLAR_STEP_DONE) {
    uint64_t value = 0;
    enum ashlar_outcome outcome = ASHLAR_OUTCOME_DONE;
    must_be_inside(f->m);
    outcome = perform(step, &value);
    step = ashlar_resume(f->m, step.request, outcome, value);
  }
  must_agree(f);
  return step;
}

struct owned {
  int32_t slot[MOST];
  size_t count;
};

static void step_once(struct fixture *f, struct owned *owned, uint64_t *seed)
{
  const uint64_t draw = ashlar_random_below(seed, 16);
  if (draw == 0) {
    (void)finished(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()));
  } else if (draw == 1) {
    assert_int_equal(ashlar_growable_set(f->m, (int)ashlar_random_below(seed, 4) > 0), ASHLAR_OK);
  } else if (owned->count == MOST || (draw < 7 && owned->count > 0)) {
    const size_t k = (size_t)ashlar_random_below(seed, owned->count);
    must_free(f, owned->slot[k]);
    owned->count--;
    owned->slot[k] = owned->slot[owned->count];
    must_agree(f);
  } else {
    const uint64_t most = draw < 11 ? 2 * MIB : 50 * MIB;
    const struct ashlar_step step = finished(
        f, ashlar_allocate_begin(f->m, 1 + ashlar_random_below(seed, most),
                                 (int32_t)ashlar_random_below(seed, STREAMS), ashlar_nobody()));
    if (step.kind == ASHLAR_STEP_DONE) {
      owned->slot[owned->count] = step.slot;
      owned->count++;
    }
  }
}

static void the_device_and_the_manager_agree(void **state)
{
  struct fixture *f = *state;
  for (uint32_t run = 0; run < 4; run++) {
    struct ashlar_config config = ashlar_default_config();
    struct owned owned = {.count = 0};
    uint64_t seed = 7 + run;
    config.growable = 1;
    config.policy = run % 2;
    config.device_total = 160 * MIB;
    config.reservation_large = run < 2 ? 0 : 40 * MIB; /* too short for the largest requests */
    fixture_restart(f, config, STREAMS, UINT64_MAX);
    device = (struct device){.capacity = 160 * MIB, .next = GIB};
    for (int round = 0; round < ROUNDS; round++) {
      step_once(f, &owned, &seed);
    }
    while (owned.count > 0) {
      owned.count--;
      must_free(f, owned.slot[owned.count]);
    }
    (void)finished(f, ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()));
    assert_int_equal(device.used, 0);
    for (size_t i = 0; i < RANGES; i++) { /* a range in which nothing was ever mapped stays */
      assert_true(device.range[i].bytes == 0 || device.range[i].growable);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_device_and_the_manager_agree),
  };
  return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
