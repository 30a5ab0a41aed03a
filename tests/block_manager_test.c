/* block_manager_test.c - what the public operations do: placement, ladder, release order, streams, capacity, handles,
 * statistics.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/manager_support.h"
#include "tests/storage.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */

static struct ashlar_config split_limit(uint64_t limit)
{
  struct ashlar_config config = ashlar_default_config();
  config.max_split_size = limit;
  return config;
}

static struct ashlar_config ordered(enum ashlar_order order)
{
  struct ashlar_config config = ashlar_default_config();
  config.order = order;
  return config;
}

/* --- free-list order --- */

/* Three whole segments of one size, created at falling addresses: address order takes the lowest, segment order the
   oldest, which is the highest. A smaller block would win over both.
   Covers REQ-BESTFIT-order. */
static void equal_sizes_by_order(void **state)
{
  struct fixture *f = *state;
  for (int order = ASHLAR_ORDER_ADDRESS; order <= ASHLAR_ORDER_SEGMENT; order++) {
    struct ashlar_step made[3];
    fixture_restart(f, ordered((enum ashlar_order)order), 1, UINT64_MAX);
    f->device.descending = true;
    for (int i = 0; i < 3; i++) {
      made[i] = must_allocate(f, 16 * MIB, 0);
      assert_int_equal(made[i].bytes, 16 * MIB);
    }
    for (int i = 0; i < 3; i++) {
      must_free(f, made[(i + 1) % 3].slot);
    }
    check_whole(f->m);
    for (int i = 0; i < 3; i++) {
      const int expected = order == ASHLAR_ORDER_ADDRESS ? 2 - i : i;
      assert_int_equal(ashlar_choose(f->m, 16 * MIB, 0, ashlar_nobody()), made[expected].slot);
      assert_int_equal(must_allocate(f, 16 * MIB, 0).address, made[expected].address);
    }
    assert_int_equal(f->device.allocations, 3);
  }
}

/* Within a segment the lower address first, in both orders: all blocks of a segment have its age.
   Covers REQ-BESTFIT-order. */
static void equal_sizes_in_one_segment(void **state)
{
  struct fixture *f = *state;
  for (int order = ASHLAR_ORDER_ADDRESS; order <= ASHLAR_ORDER_SEGMENT; order++) {
    struct ashlar_step made[5];
    fixture_restart(f, ordered((enum ashlar_order)order), 1, UINT64_MAX);
    for (int i = 0; i < 5; i++) {
      made[i] = must_allocate(f, 1024, 0);
      assert_int_equal(ashlar_block(f->m, made[i].slot).age, 0);
    }
    must_free(f, made[3].slot);
    must_free(f, made[1].slot);
    assert_int_equal(must_allocate(f, 1000, 0).address, made[1].address);
    assert_int_equal(must_allocate(f, 1000, 0).address, made[3].address);
    check_whole(f->m);
  }
}

/* Covers REQ-BESTFIT-least, REQ-SIZE-split. */
static void best_fit_takes_the_smallest(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {8 * MIB, 3 * MIB, 5 * MIB, 4 * MIB};
  struct ashlar_step step;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    (void)must_add(f, SEGMENT + i * 64 * MIB, sizes[i], ASHLAR_CLASS_LARGE, 0);
  }
  step = must_allocate(f, 4 * MIB - 512, 0);
  assert_int_equal(step.address, SEGMENT + 192 * MIB);
  assert_int_equal(step.bytes, 4 * MIB); /* 512 bytes would be left: not split off */
  step = must_allocate(f, 4 * MIB - 512, 0);
  assert_int_equal(step.address, SEGMENT + 128 * MIB);
  assert_int_equal(step.bytes, 4 * MIB - 512); /* 1 MiB and 512 bytes are left: split off */
  assert_int_equal(f->device.allocations, 0);
  check_whole(f->m);
}

/* --- streams and pools --- */

/* Each stream and pool has segments of its own; rests stay with the stream (scenario 6).
   Covers REQ-STREAM-own, REQ-STREAM-inherited, REQ-POOL-apart, REQ-POOL-class. */
static void streams_and_pools_are_separate(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {512, 2 * MIB};
  fixture_restart(f, ashlar_default_config(), 3, UINT64_MAX);
  for (int32_t stream = 0; stream < 3; stream++) {
    for (int i = 0; i < 2; i++) {
      const struct ashlar_step step = must_allocate(f, sizes[i], stream);
      const struct ashlar_block_view view = ashlar_block(f->m, step.slot);
      const struct ashlar_block_view rest = ashlar_block(f->m, view.next);
      assert_int_equal(view.stream, stream);
      assert_int_equal(view.class, i);
      assert_int_equal(rest.state, ASHLAR_FREE);
      assert_int_equal(rest.stream, stream);
      assert_int_equal(rest.class, i);
      must_free(f, step.slot);
    }
  }
  assert_int_equal(f->device.allocations, 6);
  /* all is free now, and each stream takes its own again */
  for (int32_t stream = 0; stream < 3; stream++) {
    assert_int_equal(ashlar_block(f->m, must_allocate(f, 512, stream).slot).stream, stream);
    assert_int_equal(ashlar_block(f->m, must_allocate(f, 2 * MIB, stream).slot).stream, stream);
  }
  assert_int_equal(f->device.allocations, 6);
  check_whole(f->m);
}

/* --- ladder --- */

static void must_have_taken(const struct fixture *f, const struct ashlar_pretend_step *steps,
                            uint32_t count)
{
  assert_int_equal(f->device.step_count, count);
  for (uint32_t i = 0; i < count; i++) {
    assert_int_equal(f->device.step[i].kind, steps[i].kind);
    assert_int_equal(f->device.step[i].refused, steps[i].refused);
    assert_int_equal(f->device.step[i].bytes, steps[i].bytes);
    if (steps[i].address != 0) {
      assert_int_equal(f->device.step[i].address, steps[i].address);
    }
  }
}

/* No limit: the device, everything released, the device once more. Where that is not enough the complete policy waits
   and asks again.
   Covers REQ-LADDER-device, REQ-LADDER-all, REQ-LADDER-last, REQ-LADDER-resort, REQ-ACCOUNT-calls. */
static void ladder_without_split_limit(void **state)
{
  struct fixture *f = *state;
  struct ashlar_pretend_step steps[] = {{ASHLAR_STEP_ALLOCATE, true, 0, 40 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 10 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 20 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 2 * MIB},
                                        {ASHLAR_STEP_ALLOCATE, false, 0, 40 * MIB}};
  struct ashlar_step made[3];
  fixture_restart(f, ashlar_default_config(), 2, 64 * MIB);
  made[0] = must_allocate(f, 512, 0);
  made[2] = must_allocate(f, 10 * MIB, 1);
  made[1] = must_allocate(f, 4 * MIB, 1);
  steps[1].address = made[2].address;
  steps[2].address = made[1].address;
  steps[3].address = made[0].address;
  for (int i = 0; i < 3; i++) {
    must_free(f, made[i].slot);
  }
  (void)must_allocate(f, 40 * MIB, 0);
  must_have_taken(f, steps, 5);
  assert_int_equal(f->m->alloc_retries, 1);
  assert_int_equal(f->m->sync_all_streams, 1);
  assert_int_equal(f->m->ooms, 0);
  assert_int_equal(f->m->device_allocs, 4);
  assert_int_equal(f->m->device_frees, 3);
  must_run_out(f, 40 * MIB, 1);
  assert_int_equal(f->device.step_count, 3);
  assert_int_equal(f->m->ooms, 1);
  assert_int_equal(f->m->alloc_retries, 2);
  assert_int_equal(f->m->sync_all_streams, 3);
  check_whole(f->m);
}

/* Oversize blocks of the request's stream go first: the least that is enough by itself.
   Covers REQ-LADDER-oversize. */
static void ladder_releases_one_oversize_block(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {110 * MIB, 40 * MIB, 90 * MIB, 36 * MIB};
  struct ashlar_pretend_step steps[] = {{ASHLAR_STEP_ALLOCATE, true, 0, 66 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 90 * MIB},
                                        {ASHLAR_STEP_ALLOCATE, false, 0, 66 * MIB}};
  struct ashlar_step made[4];
  fixture_restart(f, split_limit(32 * MIB), 2, 340 * MIB);
  (void)must_add(f, SEGMENT, 66 * MIB, ASHLAR_CLASS_LARGE, 1); /* of another stream */
  for (int i = 0; i < 4; i++) {
    made[i] = must_allocate(f, sizes[i], 0);
  }
  for (int i = 0; i < 4; i++) {
    must_free(f, made[i].slot);
  }
  (void)must_allocate(f, 65 * MIB, 0); /* 90 MiB exceed it by more than the slack of 20 MiB */
  must_have_taken(f, steps, 3);
  assert_int_equal(f->m->alloc_retries, 0);
  assert_int_equal(f->m->sync_all_streams, 0);
  check_whole(f->m);
}

/* None is enough: the greatest first, until the sum is (scenario 22).
   Covers REQ-LADDER-oversize, REQ-ACCOUNT-oversize. */
static void ladder_releases_several_oversize_blocks(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {34 * MIB, 36 * MIB, 38 * MIB};
  struct ashlar_pretend_step steps[] = {{ASHLAR_STEP_ALLOCATE, true, 0, 72 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 38 * MIB},
                                        {ASHLAR_STEP_RELEASE, false, 0, 36 * MIB},
                                        {ASHLAR_STEP_ALLOCATE, false, 0, 72 * MIB}};
  struct ashlar_step made[3];
  fixture_restart(f, split_limit(32 * MIB), 1, 110 * MIB);
  for (int i = 0; i < 3; i++) {
    made[i] = must_allocate(f, sizes[i], 0);
  }
  assert_int_equal(f->m->oversize_allocations.current, 3);
  assert_int_equal(f->m->oversize_segments.current, 3);
  for (int i = 0; i < 3; i++) {
    must_free(f, made[i].slot);
  }
  (void)must_allocate(f, 72 * MIB, 0);
  must_have_taken(f, steps, 4);
  assert_int_equal(f->m->oversize_allocations.current, 1);
  assert_int_equal(f->m->oversize_segments.current, 2);
  check_whole(f->m);
}

/* The oversize blocks are not enough: what they gave is gone, then everything goes, and the device is asked once. Then
   again, with an oversize release that was enough by its size and the device refuses all the same.
   Covers REQ-LADDER-oversize, REQ-LADDER-all, REQ-LADDER-last, REQ-LADDER-resort, REQ-OOM-complete. */
static void to_the_end(struct fixture *f, enum ashlar_policy policy)
{
  struct ashlar_config config = split_limit(32 * MIB);
  const uint32_t more = policy == ASHLAR_POLICY_COMPLETE ? 1 : 0; /* the last step of each */
  const struct ashlar_pretend_step short_of[] = {{ASHLAR_STEP_ALLOCATE, true, 0, 90 * MIB},
                                                 {ASHLAR_STEP_RELEASE, false, 0, 40 * MIB},
                                                 {ASHLAR_STEP_RELEASE, false, 0, 12 * MIB},
                                                 {ASHLAR_STEP_ALLOCATE, true, 0, 90 * MIB},
                                                 {ASHLAR_STEP_ALLOCATE, true, 0, 90 * MIB}};
  const struct ashlar_pretend_step enough[] = {
      {ASHLAR_STEP_ALLOCATE, true, 0, 34 * MIB}, {ASHLAR_STEP_RELEASE, false, 0, 60 * MIB},
      {ASHLAR_STEP_ALLOCATE, true, 0, 34 * MIB}, {ASHLAR_STEP_RELEASE, false, 0, 12 * MIB},
      {ASHLAR_STEP_ALLOCATE, true, 0, 34 * MIB}, {ASHLAR_STEP_ALLOCATE, true, 0, 34 * MIB}};
  struct ashlar_step large;
  struct ashlar_step small;
  config.policy = policy;
  fixture_restart(f, config, 1, 80 * MIB);
  large = must_allocate(f, 40 * MIB, 0);
  small = must_allocate(f, 12 * MIB, 0);
  must_free(f, large.slot);
  must_free(f, small.slot);
  must_run_out(f, 90 * MIB, 0);
  must_have_taken(f, short_of, 4 + more);
  assert_int_equal(f->device.used, 0);
  check_whole(f->m);

  large = must_allocate(f, 60 * MIB, 0);
  small = must_allocate(f, 12 * MIB, 0);
  must_free(f, large.slot);
  must_free(f, small.slot);
  f->device.refuses = true;
  must_run_out(f, 34 * MIB, 0);
  must_have_taken(f, enough, 5 + more);
  assert_int_equal(f->m->ooms, 2);
  assert_int_equal(f->m->alloc_retries, 2);
  check_whole(f->m);
}

static void ladder_to_the_end(void **state)
{
  to_the_end(*state, ASHLAR_POLICY_FAITHFUL);
  to_the_end(*state, ASHLAR_POLICY_COMPLETE);
}

/* A segment that is partly used is never released.
   Covers REQ-LADDER-all. */
static void used_segments_stay(void **state)
{
  struct fixture *f = *state;
  struct ashlar_step kept;
  struct ashlar_step gone;
  fixture_restart(f, ashlar_default_config(), 1, 40 * MIB);
  kept = must_allocate(f, 4 * MIB, 0);
  gone = must_allocate(f, 4 * MIB, 0);
  must_free(f, gone.slot);
  must_run_out(f, 30 * MIB, 0);
  assert_int_equal(f->device.step_count, 3);
  assert_int_equal(ashlar_pretend_empty(f->m, &f->device), 0);
  assert_int_equal(ashlar_block(f->m, kept.slot).state, ASHLAR_ALLOCATED);
  must_free(f, kept.slot);
  (void)must_allocate(f, 30 * MIB, 0);
  assert_int_equal(f->device.releases, 1);
  check_whole(f->m);
}

/* A request can be dropped after any step: what was released is gone, and so is what is being released; the rest is as
   it was.
   Covers REQ-ATOMIC. */
static void abandoned_requests(void **state)
{
  struct fixture *f = *state;
  for (uint32_t steps = 0; steps <= 3; steps++) {
    struct ashlar_step step;
    int32_t kept = -1;
    fixture_restart(f, ashlar_default_config(), 1, UINT64_MAX);
    kept = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
    kept = ashlar_allocate_at(f->m, kept, SEGMENT + 512, 512, 5).slot;
    (void)must_add(f, SEGMENT + 64 * MIB, 20 * MIB, ASHLAR_CLASS_LARGE, 0);
    (void)must_add(f, SEGMENT + 96 * MIB, 2 * MIB, ASHLAR_CLASS_SMALL, 0);
    step = ashlar_allocate_begin(f->m, 30 * MIB, 0, ashlar_nobody());
    for (uint32_t i = 0; i < steps; i++) {
      const bool asks = step.kind == ASHLAR_STEP_ALLOCATE;
      step =
          ashlar_resume(f->m, step.request, asks ? ASHLAR_OUTCOME_REFUSED : ASHLAR_OUTCOME_DONE, 0);
    }
    assert_int_equal(step.kind,
                     steps == 1 || steps == 2 ? ASHLAR_STEP_RELEASE : ASHLAR_STEP_ALLOCATE);
    assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
    check_whole(f->m);
    assert_int_equal(current(f, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL), 3 - (steps < 2 ? steps : 2));
    assert_int_equal(ashlar_block(f->m, kept).address, SEGMENT + 512);
    assert_int_equal(f->m->ooms, 0);
    (void)must_allocate(f, 30 * MIB, 0);
  }
}

/* --- emptying the cache --- */

/* Large pool before small pool; streams by key, not by number; in a list by size, then order.
   Covers REQ-LADDER-order, REQ-LADDER-empty, REQ-ACCOUNT-calls. */
static void release_order(void **state)
{
  struct fixture *f = *state;
  static const uint64_t keys[] = {30, 10, 20};
  static const struct {
    uint64_t megabytes; /* size; the address is SEGMENT + 64 MiB * place */
    uint64_t place;
    int32_t pool;
    int32_t stream;
  } rows[] = {/* in the order in which they must be released */
              {4, 9, ASHLAR_CLASS_LARGE, 1},  {6, 3, ASHLAR_CLASS_LARGE, 1},
              {6, 5, ASHLAR_CLASS_LARGE, 1},  {2, 11, ASHLAR_CLASS_LARGE, 2},
              {1, 12, ASHLAR_CLASS_LARGE, 0}, {2, 1, ASHLAR_CLASS_SMALL, 1},
              {2, 0, ASHLAR_CLASS_SMALL, 2},  {1, 6, ASHLAR_CLASS_SMALL, 0},
              {2, 2, ASHLAR_CLASS_SMALL, 0}};
  enum { ROWS = sizeof rows / sizeof rows[0] };
  int32_t next = -1;
  fixture_restart(f, ashlar_default_config(), 0, UINT64_MAX);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    assert_int_equal(ashlar_stream_register(f->m, keys[i]).stream, (int32_t)i);
  }
  for (int i = 0; i < ROWS; i++) {
    const int k = i * 4 % ROWS; /* added in another order */
    (void)must_add(f, SEGMENT + rows[k].place * 64 * MIB, rows[k].megabytes * MIB, rows[k].pool,
                   rows[k].stream);
  }
  /* a segment in use, which is passed over */
  (void)ashlar_allocate_at(f->m, must_add(f, SEGMENT / 2, 3 * MIB, ASHLAR_CLASS_LARGE, 1),
                           SEGMENT / 2 + MIB, MIB, MIB);
  f->device.used = 64 * MIB;
  for (int i = 0; i < ROWS; i++) {
    next = ashlar_release_next(f->m, next);
    assert_int_equal(ashlar_block(f->m, next).address, SEGMENT + rows[i].place * 64 * MIB);
  }
  assert_int_equal(ashlar_release_next(f->m, next), -1);
  assert_int_equal(ashlar_pretend_empty(f->m, &f->device), ROWS);
  assert_int_equal(f->device.step_count, ROWS);
  for (int i = 0; i < ROWS; i++) {
    assert_int_equal(f->device.step[i].address, SEGMENT + rows[i].place * 64 * MIB);
    assert_int_equal(f->device.step[i].bytes, rows[i].megabytes * MIB);
  }
  assert_int_equal(f->m->device_frees, ROWS);
  assert_int_equal(f->m->alloc_retries, 0);
  assert_int_equal(f->m->sync_all_streams, 1);
  assert_int_equal(ashlar_release_next(f->m, -1), -1);
  check_whole(f->m);
}

static void emptying_nothing(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.slot, -1);
  check_whole(f->m);
}

/* --- placing and resizing --- */

/* At the start, at the end, in the middle, the whole: what is left stays free. */
static void allocate_at_places(void **state)
{
  struct fixture *f = *state;
  static const struct {
    uint64_t from;
    uint64_t size;
    int free_blocks;
  } rows[] = {{0, 512, 1}, {MIB - 512, 512, 1}, {1024, 2048, 2}, {0, MIB, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct ashlar_placement made;
    int32_t slot = -1;
    fixture_restart(f, ashlar_default_config(), 2, UINT64_MAX);
    slot = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_LARGE, 1);
    made = ashlar_allocate_at(f->m, slot, SEGMENT + rows[i].from, rows[i].size, 300);
    assert_int_equal(made.status, ASHLAR_OK);
    check_whole(f->m);
    assert_int_equal(ashlar_block(f->m, made.slot).address, SEGMENT + rows[i].from);
    assert_int_equal(ashlar_block(f->m, made.slot).size, rows[i].size);
    assert_int_equal(ashlar_block(f->m, made.slot).requested, 300);
    assert_int_equal(ashlar_block(f->m, made.slot).stream, 1);
    assert_int_equal(f->m->free_count, rows[i].free_blocks);
    assert_int_equal(current(f, ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_LARGE),
                     rows[i].free_blocks);
    assert_int_equal(ashlar_find(f->m, SEGMENT + rows[i].from), made.slot);
    must_free(f, made.slot);
    check_whole(f->m);
    assert_int_equal(ashlar_segment_remove(f->m, ashlar_release_next(f->m, -1)), ASHLAR_OK);
    assert_int_equal(f->m->free_count, 0);
  }
}

static void resize_moves_the_end(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {4096, 512, MIB, 1536, 1536, 1024, MIB - 512, 512};
  const int32_t slot = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
  const int32_t block = ashlar_allocate_at(f->m, slot, SEGMENT, 2048, 100).slot;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const uint32_t generation = ashlar_block(f->m, block).generation;
    assert_int_equal(ashlar_resize(f->m, block, sizes[i]), ASHLAR_OK);
    check_whole(f->m);
    assert_int_equal(ashlar_block(f->m, block).size, sizes[i]);
    assert_int_equal(ashlar_block(f->m, block).generation, generation); /* the same block still */
    assert_int_equal(ashlar_find(f->m, SEGMENT), block);
    assert_int_equal(current(f, ASHLAR_STAT_ALLOCATED_BYTES, ASHLAR_STAT_SMALL), sizes[i]);
    assert_int_equal(f->m->free_count, sizes[i] == MIB ? 0 : 1);
  }
}

/* A block that a resize moves over the split limit counts as oversize from then on, and back.
   Covers REQ-ACCOUNT-oversize. */
static void resize_counts_oversize_blocks(void **state)
{
  struct fixture *f = *state;
  static const uint64_t sizes[] = {18 * MIB,       24 * MIB, 20 * MIB,
                                   20 * MIB - 512, 20 * MIB, 20 * MIB - 512};
  int32_t block = -1;
  fixture_restart(f, split_limit(20 * MIB), 1, UINT64_MAX);
  block = must_add(f, SEGMENT, 64 * MIB, ASHLAR_CLASS_LARGE, 0);
  block = ashlar_allocate_at(f->m, block, SEGMENT, 18 * MIB, 1).slot;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_int_equal(f->m->oversize_allocations.current, sizes[i] >= 20 * MIB ? 1 : 0);
    assert_int_equal(ashlar_resize(f->m, block, sizes[(i + 1) % 6]), ASHLAR_OK);
    check_whole(f->m);
  }
  assert_int_equal(f->m->oversize_allocations.allocated, 2); /* twice over the limit */
  assert_int_equal(f->m->oversize_allocations.freed, 2);
}

/* --- handles --- */

/* No handle that was ever freed names a block again, though slots are used again and again.
   Covers REQ-FREE-handle. */
static void handles_are_never_reused(void **state)
{
  struct fixture *f = *state;
  enum { ROUNDS = 60, BLOCKS = 8 };
  static struct ashlar_step stale[ROUNDS * BLOCKS];
  uint64_t seed = 69;
  size_t count = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      stale[count + (size_t)i] = must_allocate(f, 512 * (1 + ashlar_random_below(&seed, 4)), 0);
      for (size_t k = 0; k < count; k++) {
        assert_int_equal(
            ashlar_free(f->m, stale[k].slot, stale[k].generation, ashlar_nobody()).status,
            ASHLAR_ERROR_STALE_HANDLE);
      }
    }
    for (int i = 0; i < BLOCKS; i++) {
      must_free(f, stale[count + (size_t)((i * 3 + round) % BLOCKS)].slot);
    }
    count += BLOCKS;
    check_whole(f->m);
  }
  print_message("%zu stale handles\n", count);
}

/* The same where blocks are placed by address: the block's slot may be one that was just given up.
   Covers REQ-FREE-handle. */
static void handles_of_placed_blocks(void **state)
{
  struct fixture *f = *state;
  const int32_t whole = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
  const int32_t first = ashlar_allocate_at(f->m, whole, SEGMENT, 512, 1).slot;
  const int32_t rest = ashlar_block(f->m, first).next;
  const int32_t second = ashlar_allocate_at(f->m, rest, SEGMENT + 512, 512, 1).slot;
  const uint32_t stale = ashlar_block(f->m, second).generation;
  must_free(f, first);
  must_free(f, second); /* joins the block before it: its slot is spare now, and next to be used */
  assert_int_equal(ashlar_release_next(f->m, -1), first);
  assert_int_equal(ashlar_allocate_at(f->m, first, SEGMENT + 1024, 512, 1).status, ASHLAR_OK);
  assert_int_equal(ashlar_free(f->m, second, stale, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  check_whole(f->m);
}

/* The same where the slot first holds the free rest of a split, and is then placed into by address. */
static void handles_of_placed_rests(void **state)
{
  struct fixture *f = *state;
  int32_t first = must_allocate(f, 2 * MIB, 0).slot;
  int32_t second = must_allocate(f, 2 * MIB, 1).slot;
  uint32_t stale = 0;
  struct ashlar_step step;
  must_free(f, first);
  must_free(f, second);
  assert_int_equal(ashlar_pretend_empty(f->m, &f->device), 2); /* slots enough are spare now */
  first = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
  first = ashlar_allocate_at(f->m, first, SEGMENT, 1024, 1).slot;
  second = ashlar_allocate_at(f->m, ashlar_block(f->m, first).next, SEGMENT + 1024, 512, 1).slot;
  stale = ashlar_block(f->m, second).generation;
  must_free(f, first);
  must_free(f, second); /* coalesced: its slot is spare now */
  step = must_allocate(f, 512, 0);
  assert_int_equal(ashlar_block(f->m, step.slot).next, second); /* the rest of the split */
  assert_int_equal(ashlar_free(f->m, second, stale, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_allocate_at(f->m, second, SEGMENT + 512, 512, 1).slot, second);
  assert_int_equal(ashlar_free(f->m, second, stale, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  check_whole(f->m);
  assert_int_equal(
      ashlar_free(f->m, second, ashlar_block(f->m, second).generation, ashlar_nobody()).status,
      ASHLAR_OK);
  check_whole(f->m);
}

/* --- nothing allocated: one free block a segment (REQ-CANON) --- */

/* Covers REQ-CANON-whole. */
static void all_freed_is_canonical(void **state)
{
  struct fixture *f = *state;
  enum { BLOCKS = 64 };
  struct ashlar_step made[BLOCKS];
  uint64_t seed = 37;
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      made[i] =
          must_allocate(f, 1 + (ashlar_random(&seed) >> (39 + ashlar_random_below(&seed, 20))),
                        (int32_t)ashlar_random_below(&seed, 2));
    }
    check_whole(f->m);
    for (int i = BLOCKS; i > 0; i--) {
      const uint64_t k = ashlar_random_below(&seed, (uint64_t)i);
      must_free(f, made[k].slot);
      made[k] = made[i - 1];
    }
    check_whole(f->m);
    assert_int_equal(f->m->bytes[ASHLAR_ALLOCATED], 0);
    assert_int_equal(f->m->free_count, current(f, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL));
    assert_int_equal(current(f, ASHLAR_STAT_INACTIVE_SPLIT, ASHLAR_STAT_ALL), 0);
    assert_int_equal(f->device.used, f->m->bytes[ASHLAR_FREE]);
  }
  assert_int_equal(ashlar_pretend_empty(f->m, &f->device), f->device.allocations);
  assert_int_equal(f->device.used, 0);
  assert_int_equal(f->m->free_count, 0);
  check_whole(f->m);
}

/* Over both classes, all streams and all pools, and of free blocks alone: not of owned ones, of pending ones, or of
   segments on their way to the device. Covers REQ-ACCOUNT-largest. */
static void the_largest_free_block(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_caller thread = {-1, 5};
  const int32_t pool = ashlar_pool_create(f->m, 0).pool;
  struct ashlar_step small;
  struct ashlar_step large;
  struct ashlar_step owned;
  assert_int_equal(ashlar_scope_open(f->m, pool, 5, -1), ASHLAR_OK);
  assert_int_equal(ashlar_largest(f->m), 0);
  small = must_allocate(f, MIB, 0);
  assert_int_equal(ashlar_largest(f->m), MIB); /* the rest of its segment */
  must_free(f, small.slot);
  assert_int_equal(ashlar_largest(f->m), 2 * MIB);
  large = must_allocate(f, 14 * MIB, 1);
  assert_int_equal(ashlar_largest(f->m), 2 * MIB);
  owned = ashlar_pretend_finish(f->m, &f->device, ashlar_allocate_begin(f->m, 30 * MIB, 0, thread));
  assert_int_equal(owned.pool, pool);
  assert_int_equal(ashlar_largest(f->m), 2 * MIB);
  must_free(f, owned.slot);
  assert_int_equal(ashlar_largest(f->m), 30 * MIB);
  (void)ashlar_pretend_finish(f->m, &f->device, ashlar_allocate_begin(f->m, 25 * MIB, 0, thread));
  assert_int_equal(ashlar_largest(f->m), 5 * MIB);

  assert_int_equal(ashlar_record_use(f->m, large.slot, large.generation, 0, ashlar_nobody()),
                   ASHLAR_OK);
  must_free(f, large.slot);
  assert_int_equal(ashlar_largest(f->m), 5 * MIB);
  assert_int_equal(ashlar_complete(f->m, 0, 1, ashlar_nobody()).freed, 1);
  assert_int_equal(ashlar_largest(f->m), 14 * MIB);
  assert_int_equal(ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()).kind, ASHLAR_STEP_RELEASE);
  (void)ashlar_pretend_finish(f->m, &f->device,
                              ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()));
  assert_int_equal(ashlar_largest(f->m), 5 * MIB);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, fixture_start, fixture_stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      EACH(equal_sizes_by_order),
      EACH(equal_sizes_in_one_segment),
      EACH(best_fit_takes_the_smallest),
      EACH(streams_and_pools_are_separate),
      EACH(ladder_without_split_limit),
      EACH(ladder_releases_one_oversize_block),
      EACH(ladder_releases_several_oversize_blocks),
      EACH(ladder_to_the_end),
      EACH(used_segments_stay),
      EACH(abandoned_requests),
      EACH(release_order),
      EACH(emptying_nothing),
      EACH(allocate_at_places),
      EACH(resize_moves_the_end),
      EACH(resize_counts_oversize_blocks),
      EACH(handles_are_never_reused),
      EACH(handles_of_placed_blocks),
      EACH(handles_of_placed_rests),
      EACH(all_freed_is_canonical),
      EACH(the_largest_free_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
