/* manager_support.c - see manager_support.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/manager_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_check.h"
#include "tests/storage.h"

enum { WHY = 128, FIRST_KEY = 100, DEFAULT_STREAMS = 2 };

int fixture_start(void **state)
{
  struct fixture *f = calloc(1, sizeof *f);
  if (f == NULL) {
    return -1;
  }
  f->m = ashlar_storage_new();
  f->before = ashlar_storage_new();
  *state = f;
  fixture_restart(f, ashlar_default_config(), DEFAULT_STREAMS, UINT64_MAX);
  return 0;
}

int fixture_stop(void **state)
{
  struct fixture *f = *state;
  ashlar_storage_delete(f->m);
  ashlar_storage_delete(f->before);
  free(f);
  return 0;
}

void fixture_restart(struct fixture *f, struct ashlar_config config, int32_t streams,
                     uint64_t capacity)
{
  ashlar_storage_clear(f->m);
  ashlar_storage_clear(f->before);
  f->device = ashlar_pretend_new(capacity);
  assert_int_equal(ashlar_manager_init(f->m, config), ASHLAR_OK);
  for (int32_t k = 0; k < streams; k++) {
    const struct ashlar_registration made = ashlar_stream_register(f->m, FIRST_KEY + (uint64_t)k);
    assert_int_equal(made.status, ASHLAR_OK);
    assert_int_equal(made.stream, k);
  }
}

void check_whole(const struct ashlar_manager *m)
{
  char why[WHY];
  if (!ashlar_core_check(m, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

struct ashlar_step must_allocate(struct fixture *f, uint64_t bytes, int32_t stream)
{
  const struct ashlar_step step = ashlar_pretend_allocate(f->m, &f->device, bytes, stream);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.status, ASHLAR_OK);
  assert_true(step.bytes >= bytes);
  return step;
}

void must_run_out(struct fixture *f, uint64_t bytes, int32_t stream)
{
  const struct ashlar_step step = ashlar_pretend_allocate(f->m, &f->device, bytes, stream);
  assert_int_equal(step.kind, ASHLAR_STEP_OUT_OF_MEMORY);
  assert_int_equal(step.status, ASHLAR_OK);
  assert_int_equal(step.slot, -1);
  assert_int_equal(f->m->in_flight, 0);
}

void must_free(struct fixture *f, int32_t slot)
{
  assert_int_equal(
      ashlar_free(f->m, slot, ashlar_block(f->m, slot).generation, ashlar_nobody()).status,
      ASHLAR_OK);
}

int32_t must_add(struct fixture *f, uint64_t address, uint64_t size, int32_t class, int32_t stream)
{
  const struct ashlar_placement added = ashlar_segment_add(f->m, address, size, 0, class, stream);
  assert_int_equal(added.status, ASHLAR_OK);
  return added.slot;
}

void remember(struct fixture *f)
{
  ashlar_storage_copy(f->before, f->m);
}

/* Oracle: REQ-ATOMIC. */
void must_be_unchanged(const struct fixture *f)
{
  assert_true(ashlar_storage_same(f->m, f->before));
}

void must_keep_blocks(const struct fixture *f)
{
  const int32_t limit = ashlar_slot_limit(f->m);
  check_whole(f->m);
  assert_true(limit >= ashlar_slot_limit(f->before));
  for (int32_t slot = 0; slot < limit; slot++) {
    const struct ashlar_block_view old = ashlar_block(f->before, slot);
    const struct ashlar_block_view new = ashlar_block(f->m, slot);
    if (old.state != new.state || old.address != new.address || old.size != new.size ||
        old.requested != new.requested || old.age != new.age || old.prev != new.prev ||
        old.next != new.next || old.pool != new.pool || old.class != new.class ||
        old.stream != new.stream || old.growable != new.growable ||
        old.generation != new.generation) {
      fail_msg("slot %d is not what it was", (int)slot);
    }
  }
  assert_memory_equal(f->m->stat, f->before->stat, sizeof f->m->stat);
}

void must_refuse(struct ashlar_step step, enum ashlar_status status)
{
  assert_int_equal(step.kind, ASHLAR_STEP_ERROR);
  assert_int_equal(step.status, status);
  assert_int_equal(step.slot, -1);
}

struct ashlar_counter counter_of(const struct ashlar_manager *m, size_t kind, size_t column)
{
  return m->stat[kind * ASHLAR_STAT_COLUMNS + column];
}

uint64_t current(const struct fixture *f, size_t kind, size_t column)
{
  return counter_of(f->m, kind, column).current;
}
