/* block_manager_status_test.c - every status of every public operation; a failed call leaves every byte as it was.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/manager_support.h"
#include "tests/storage.h"

#define SEGMENT (UINT64_C(1) << 33) /* where segments are added by hand */
#define ADDRESS_END (UINT64_MAX - 511)

enum { BUSY_PHASES = 6 };

/* --- settings --- */

static struct ashlar_config with_divisions(int32_t row, uint32_t divisions)
{
  struct ashlar_config config = ashlar_default_config();
  config.divisions[row] = divisions;
  return config;
}

static struct ashlar_config with_sizes(uint64_t large, uint64_t split, uint64_t slack)
{
  struct ashlar_config config = ashlar_default_config();
  config.large_segment_size = large;
  config.max_split_size = split;
  config.oversize_slack = slack;
  return config;
}

static struct ashlar_config with_choices(uint32_t order, uint32_t policy)
{
  struct ashlar_config config = ashlar_default_config();
  config.order = order;
  config.policy = policy;
  return config;
}

/* Covers REQ-SIZE-settings, REQ-CANON-empty. */
static void init_default_settings(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_config config = ashlar_default_config();
  assert_int_equal(config.max_split_size, UINT64_MAX);
  assert_int_equal(config.large_segment_size, 20 * MIB);
  assert_int_equal(config.oversize_slack, 20 * MIB);
  assert_int_equal(config.order, ASHLAR_ORDER_ADDRESS);
  assert_int_equal(config.policy, ASHLAR_POLICY_COMPLETE);
  for (int32_t row = 0; row < ASHLAR_DIVISIONS; row++) {
    assert_int_equal(config.divisions[row], 0);
  }
  assert_int_equal(ashlar_slot_limit(f->m), 0);
}

/* Covers REQ-SIZE-settings, REQ-SIZE-division. */
static void init_checks_settings(void **state)
{
  struct fixture *f = *state;
  const struct {
    struct ashlar_config config;
    enum ashlar_status status;
  } rows[] = {
      {ashlar_default_config(), ASHLAR_OK},
      {with_divisions(0, 1), ASHLAR_OK},
      {with_divisions(15, 0x80000000U), ASHLAR_OK},
      {with_divisions(0, 3), ASHLAR_ERROR_SETTING},
      {with_divisions(15, UINT32_MAX), ASHLAR_ERROR_SETTING},
      {with_divisions(7, 0x80000001U), ASHLAR_ERROR_SETTING},
      {with_sizes(12 * MIB, 12 * MIB, 12 * MIB), ASHLAR_OK},
      {with_sizes(10 * MIB, 20 * MIB, 20 * MIB), ASHLAR_ERROR_SETTING},
      {with_sizes(0, 20 * MIB, 20 * MIB), ASHLAR_ERROR_SETTING},
      {with_sizes(13 * MIB, 20 * MIB, 20 * MIB), ASHLAR_ERROR_SETTING},
      {with_sizes(20 * MIB + 512, 40 * MIB, 40 * MIB), ASHLAR_ERROR_SETTING},
      {with_sizes(UINT64_C(1) << 60, UINT64_MAX, UINT64_MAX), ASHLAR_ERROR_SETTING},
      {with_sizes((UINT64_C(1) << 60) - 2 * MIB, UINT64_MAX, UINT64_MAX), ASHLAR_OK},
      {with_sizes(20 * MIB, 20 * MIB - 1, 20 * MIB), ASHLAR_ERROR_SETTING},
      {with_sizes(20 * MIB, 20 * MIB, 20 * MIB - 1), ASHLAR_ERROR_SETTING},
      {with_sizes(20 * MIB, 0, UINT64_MAX), ASHLAR_ERROR_SETTING},
      {with_sizes(20 * MIB, UINT64_MAX, 0), ASHLAR_ERROR_SETTING},
      {with_sizes(20 * MIB, 20 * MIB, UINT64_MAX), ASHLAR_OK},
      {with_choices(ASHLAR_ORDER_SEGMENT, ASHLAR_POLICY_FAITHFUL), ASHLAR_OK},
      {with_choices(2, 0), ASHLAR_ERROR_SETTING},
      {with_choices(0, 2), ASHLAR_ERROR_SETTING},
      {with_choices(UINT32_MAX, UINT32_MAX), ASHLAR_ERROR_SETTING},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ashlar_storage_clear(f->m);
    ashlar_storage_clear(f->before);
    assert_int_equal(ashlar_manager_init(f->m, rows[i].config), rows[i].status);
    if (rows[i].status == ASHLAR_OK) {
      check_whole(f->m);
      assert_memory_equal(&f->m->config, &rows[i].config, sizeof f->m->config);
    } else {
      must_be_unchanged(f);
    }
  }
  print_message("%zu settings\n", sizeof rows / sizeof rows[0]);
}

/* --- while a request is in flight --- */

/* Brings the manager into the phase. One request for 64 MiB passes through all of them: a block of 96 MiB is cached,
   too large to serve it, and released first; then the segment of the small request. */
static void enter_phase(struct fixture *f, uint32_t phase)
{
  struct ashlar_step step;
  fixture_restart(f, with_sizes(20 * MIB, 32 * MIB, 20 * MIB), 2, UINT64_MAX);
  must_free(f, must_allocate(f, 96 * MIB, 0).slot);
  must_free(f, must_allocate(f, 4 * MIB, 0).slot);
  step = phase == ASHLAR_PHASE_EMPTY_CACHE ? ashlar_empty_cache_begin(f->m)
                                           : ashlar_allocate_begin(f->m, 64 * MIB, 0);
  while (f->m->request.phase != phase) {
    const bool asks = step.kind == ASHLAR_STEP_ALLOCATE;
    assert_true(asks || step.kind == ASHLAR_STEP_RELEASE);
    step = ashlar_resume(f->m, asks ? ASHLAR_OUTCOME_REFUSED : ASHLAR_OUTCOME_DONE, 0);
  }
  check_whole(f->m);
}

/* Covers REQ-ATOMIC-busy, REQ-ATOMIC. */
static void busy_in_every_phase(void **state)
{
  struct fixture *f = *state;
  static const uint32_t phases[BUSY_PHASES] = {
      ASHLAR_PHASE_ALLOCATE,    ASHLAR_PHASE_RELEASE_OVERSIZE, ASHLAR_PHASE_ALLOCATE_OVERSIZE,
      ASHLAR_PHASE_RELEASE_ALL, ASHLAR_PHASE_ALLOCATE_LAST,    ASHLAR_PHASE_EMPTY_CACHE};
  for (int i = 0; i < BUSY_PHASES; i++) {
    enter_phase(f, phases[i]);
    remember(f);
    must_refuse(ashlar_allocate_begin(f->m, 512, 0), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_allocate_begin(f->m, 0, 0), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_allocate_begin(f->m, 512, -1), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_empty_cache_begin(f->m), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free(f->m, 0, 1), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free_address(f->m, f->m->addr[0]), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free_address(f->m, 1), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_segment_add(f->m, SEGMENT, MIB, 0, 0).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_segment_add(f->m, SEGMENT, MIB, 0, 0).slot, -1);
    assert_int_equal(ashlar_segment_remove(f->m, 0), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_allocate_at(f->m, 0, f->m->addr[0], 512, 1).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_allocate_at(f->m, 0, f->m->addr[0], 512, 1).slot, -1);
    assert_int_equal(ashlar_resize(f->m, 0, 512), ASHLAR_ERROR_BUSY);
    must_be_unchanged(f);
    assert_int_equal(ashlar_abandon(f->m), ASHLAR_OK);
    check_whole(f->m);
    f->before->request.phase = ASHLAR_PHASE_IDLE;
    must_be_unchanged(f);
    (void)must_allocate(f, 64 * MIB, 1); /* the next call works */
    check_whole(f->m);
  }
  print_message("%d phases\n", BUSY_PHASES);
}

static void no_request(void **state)
{
  struct fixture *f = *state;
  (void)must_allocate(f, 512, 0);
  remember(f);
  must_refuse(ashlar_resume(f->m, ASHLAR_OUTCOME_DONE, SEGMENT), ASHLAR_ERROR_NO_REQUEST);
  must_refuse(ashlar_resume(f->m, ASHLAR_OUTCOME_REFUSED, 0), ASHLAR_ERROR_NO_REQUEST);
  assert_int_equal(ashlar_abandon(f->m), ASHLAR_ERROR_NO_REQUEST);
  must_be_unchanged(f);
}

/* --- requests --- */

/* Covers REQ-SIZE-refused, REQ-STREAM-own, REQ-ATOMIC. */
static void allocate_refuses(void **state)
{
  struct fixture *f = *state;
  static const int32_t streams[] = {-1, 2, ASHLAR_STREAMS, ASHLAR_LISTS, INT32_MIN, INT32_MAX};
  static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX - 511,
                                   UINT64_MAX};
  (void)must_allocate(f, 512, 0);
  remember(f);
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
    must_refuse(ashlar_allocate_begin(f->m, 512, streams[i]), ASHLAR_ERROR_STREAM);
    must_refuse(ashlar_allocate_begin(f->m, 0, streams[i]), ASHLAR_ERROR_STREAM);
    assert_int_equal(ashlar_choose(f->m, 512, streams[i]), -1);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    must_refuse(ashlar_allocate_begin(f->m, sizes[i], 0), ASHLAR_ERROR_TOO_LARGE);
    assert_int_equal(ashlar_choose(f->m, sizes[i], 0), -1);
  }
  must_be_unchanged(f);
}

/* Covers REQ-SIZE-nothing. */
static void nothing_for_nothing(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = (remember(f), ashlar_allocate_begin(f->m, 0, 1));
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.status, ASHLAR_OK);
  assert_int_equal(step.slot, -1);
  assert_int_equal(step.address, 0);
  assert_int_equal(step.bytes, 0);
  assert_int_equal(ashlar_choose(f->m, 0, 1), -1);
  must_be_unchanged(f);
}

/* A segment that cannot be used stays the caller's; the request is over, and the next one works.
   Covers REQ-ATOMIC. */
static void resume_refuses_segments(void **state)
{
  struct fixture *f = *state;
  static const uint64_t addresses[] = {1, 511, SEGMENT + 256, ADDRESS_END, UINT64_MAX};
  (void)must_allocate(f, 512, 0);
  for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    assert_int_equal(ashlar_allocate_begin(f->m, 4 * MIB, 0).kind, ASHLAR_STEP_ALLOCATE);
    remember(f);
    must_refuse(ashlar_resume(f->m, ASHLAR_OUTCOME_DONE, addresses[i]), ASHLAR_ERROR_RANGE);
    f->before->request.phase = ASHLAR_PHASE_IDLE;
    must_be_unchanged(f);
  }
  /* creation numbers used up */
  assert_int_equal(ashlar_allocate_begin(f->m, 4 * MIB, 0).kind, ASHLAR_STEP_ALLOCATE);
  f->m->segments_created = UINT64_MAX;
  remember(f);
  must_refuse(ashlar_resume(f->m, ASHLAR_OUTCOME_DONE, SEGMENT), ASHLAR_ERROR_CAPACITY);
  f->before->request.phase = ASHLAR_PHASE_IDLE;
  must_be_unchanged(f);
  f->m->segments_created = 1;
  (void)must_allocate(f, 4 * MIB, 0);
  check_whole(f->m);
}

/* The bytes of all blocks fit 64 bits: one segment of 2^64 - 2 MiB leaves no room for 20 MiB. */
static void bytes_are_counted_in_64_bits(void **state)
{
  struct fixture *f = *state;
  const uint64_t size = UINT64_MAX - 2 * MIB + 1;
  const int32_t huge = must_add(f, 0, size, ASHLAR_CLASS_LARGE, 1);
  check_whole(f->m);
  assert_int_equal(f->m->bytes[ASHLAR_FREE], size);
  remember(f);
  assert_int_equal(ashlar_segment_add(f->m, size, 2 * MIB, 0, 0).status, ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_segment_add(f->m, 0, 2 * MIB, 0, 0).status, ASHLAR_ERROR_CAPACITY);
  must_be_unchanged(f);
  assert_int_equal(ashlar_allocate_begin(f->m, 4 * MIB, 0).kind, ASHLAR_STEP_ALLOCATE);
  remember(f);
  must_refuse(ashlar_resume(f->m, ASHLAR_OUTCOME_DONE, 0), ASHLAR_ERROR_CAPACITY);
  f->before->request.phase = ASHLAR_PHASE_IDLE;
  must_be_unchanged(f);
  assert_int_equal(ashlar_segment_remove(f->m, huge), ASHLAR_OK);
  check_whole(f->m);
}

/* --- frees --- */

/* Covers REQ-FREE-exact. */
static void free_by_handle(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step first = must_allocate(f, 512, 0);
  const struct ashlar_step second = must_allocate(f, 512, 0);
  static const int32_t slots[] = {-1, INT32_MIN, INT32_MAX, ASHLAR_SLOTS};
  must_free(f, second.slot);
  remember(f);
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
    assert_int_equal(ashlar_free(f->m, slots[i], first.generation), ASHLAR_ERROR_SLOT);
  }
  assert_int_equal(ashlar_free(f->m, ashlar_slot_limit(f->m), 0), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation + 1), ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation - 1), ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, second.slot, second.generation), ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation), ASHLAR_OK);
  remember(f);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation), ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  check_whole(f->m);
}

/* Covers REQ-FREE-found, REQ-FREE-address. */
static void free_by_address(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step first = must_allocate(f, 4 * MIB, 0);
  const struct ashlar_step second = must_allocate(f, 4 * MIB, 0);
  const uint64_t unknown[] = {0,
                              1,
                              16,
                              first.address - 512,
                              first.address + 1,
                              first.address + 512,
                              second.address + second.bytes, /* the free rest */
                              first.address + 20 * MIB,      /* the end of the segment */
                              UINT64_MAX};
  remember(f);
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    assert_int_equal(ashlar_free_address(f->m, unknown[i]), ASHLAR_ERROR_UNKNOWN_ADDRESS);
    assert_int_equal(ashlar_find(f->m, unknown[i]), -1);
  }
  assert_int_equal(ashlar_find(f->m, second.address), second.slot);
  must_be_unchanged(f);
  assert_int_equal(ashlar_free_address(f->m, first.address), ASHLAR_OK);
  remember(f);
  assert_int_equal(ashlar_free_address(f->m, first.address), ASHLAR_ERROR_UNKNOWN_ADDRESS);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation), ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  check_whole(f->m);
}

/* --- segments --- */

static void segment_add_refuses(void **state)
{
  struct fixture *f = *state;
  static const struct {
    uint64_t address;
    uint64_t size;
    int32_t pool;
    int32_t stream;
    enum ashlar_status status;
  } rows[] = {
      {SEGMENT, MIB, ASHLAR_CLASS_SMALL, -1, ASHLAR_ERROR_STREAM},
      {SEGMENT, MIB, ASHLAR_CLASS_SMALL, 2, ASHLAR_ERROR_STREAM},
      {SEGMENT, MIB, -1, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT, MIB, ASHLAR_CLASSES, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT, 0, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT, MIB + 1, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT, UINT64_MAX, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT + 1, MIB, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {SEGMENT + 256, MIB, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {ADDRESS_END, 512, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {ADDRESS_END - 512, 1024, ASHLAR_CLASS_SMALL, 0, ASHLAR_ERROR_RANGE},
      {ADDRESS_END - 512, 512, ASHLAR_CLASS_SMALL, 0, ASHLAR_OK},
      {0, 512, ASHLAR_CLASS_LARGE, 1, ASHLAR_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct ashlar_placement made;
    remember(f);
    made = ashlar_segment_add(f->m, rows[i].address, rows[i].size, rows[i].pool, rows[i].stream);
    assert_int_equal(made.status, rows[i].status);
    if (made.status == ASHLAR_OK) {
      const struct ashlar_block_view view = ashlar_block(f->m, made.slot);
      check_whole(f->m);
      assert_int_equal(view.state, ASHLAR_FREE);
      assert_int_equal(view.address, rows[i].address);
      assert_int_equal(view.size, rows[i].size);
      assert_int_equal(view.pool, rows[i].pool);
      assert_int_equal(view.stream, rows[i].stream);
      assert_int_equal(view.requested, 0);
    } else {
      assert_int_equal(made.slot, -1);
      must_be_unchanged(f);
    }
  }
  f->m->segments_created = UINT64_MAX;
  remember(f);
  assert_int_equal(ashlar_segment_add(f->m, SEGMENT, MIB, 0, 0).status, ASHLAR_ERROR_CAPACITY);
  must_be_unchanged(f);
}

static void segment_remove_refuses(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step first = must_allocate(f, 512, 0);
  const struct ashlar_step second = must_allocate(f, 512, 0);
  const int32_t rest = ashlar_block(f->m, second.slot).next;
  must_free(f, first.slot);
  remember(f);
  assert_int_equal(ashlar_segment_remove(f->m, -1), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_segment_remove(f->m, INT32_MIN), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_segment_remove(f->m, INT32_MAX), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_segment_remove(f->m, ashlar_slot_limit(f->m)), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_segment_remove(f->m, first.slot), ASHLAR_ERROR_SLOT);  /* has a next */
  assert_int_equal(ashlar_segment_remove(f->m, second.slot), ASHLAR_ERROR_SLOT); /* allocated */
  assert_int_equal(ashlar_segment_remove(f->m, rest), ASHLAR_ERROR_SLOT); /* has a previous one */
  must_be_unchanged(f);
  must_free(f, second.slot);
  remember(f);
  assert_int_equal(ashlar_segment_remove(f->m, rest), ASHLAR_ERROR_SLOT); /* unused */
  must_be_unchanged(f);
  assert_int_equal(ashlar_segment_remove(f->m, first.slot), ASHLAR_OK);
  check_whole(f->m);
  assert_int_equal(f->m->bytes[ASHLAR_FREE], 0);
  assert_int_equal(ashlar_segment_remove(f->m, first.slot), ASHLAR_ERROR_SLOT);
}

/* --- placing and resizing --- */

static void allocate_at_refuses(void **state)
{
  struct fixture *f = *state;
  const int32_t slot = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
  const int32_t used = ashlar_allocate_at(f->m, slot, SEGMENT, 512, 1).slot;
  const int32_t room = ashlar_block(f->m, used).next;
  const uint64_t begin = SEGMENT + 512;
  const uint64_t end = SEGMENT + MIB;
  const struct {
    uint64_t address;
    uint64_t size;
    uint64_t requested;
    int32_t slot;
    enum ashlar_status status;
  } rows[] = {
      {begin, 512, 1, -1, ASHLAR_ERROR_SLOT},
      {begin, 512, 1, INT32_MAX, ASHLAR_ERROR_SLOT},
      {begin, 512, 1, ashlar_slot_limit(f->m), ASHLAR_ERROR_SLOT},
      {SEGMENT, 512, 1, used, ASHLAR_ERROR_SLOT},
      {begin, 0, 0, room, ASHLAR_ERROR_RANGE},
      {begin, 513, 1, room, ASHLAR_ERROR_RANGE},
      {begin + 1, 512, 1, room, ASHLAR_ERROR_RANGE},
      {begin, 512, 513, room, ASHLAR_ERROR_RANGE},
      {SEGMENT, 512, 1, room, ASHLAR_ERROR_RANGE},
      {SEGMENT, 1024, 1, room, ASHLAR_ERROR_RANGE},
      {0, 512, 1, room, ASHLAR_ERROR_RANGE},
      {end, 512, 1, room, ASHLAR_ERROR_RANGE},
      {end - 512, 1024, 1, room, ASHLAR_ERROR_RANGE},
      {begin, MIB, 1, room, ASHLAR_ERROR_RANGE},
      {begin, ADDRESS_END, 1, room, ASHLAR_ERROR_RANGE},
      {ADDRESS_END, 512, 1, room, ASHLAR_ERROR_RANGE},
  };
  remember(f);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct ashlar_placement made =
        ashlar_allocate_at(f->m, rows[i].slot, rows[i].address, rows[i].size, rows[i].requested);
    assert_int_equal(made.status, rows[i].status);
    assert_int_equal(made.slot, -1);
    must_be_unchanged(f);
  }
  print_message("%zu refused\n", sizeof rows / sizeof rows[0]);
}

static void resize_refuses(void **state)
{
  struct fixture *f = *state;
  const int32_t whole = must_add(f, SEGMENT, MIB, ASHLAR_CLASS_SMALL, 0);
  const int32_t first = ashlar_allocate_at(f->m, whole, SEGMENT, 2048, 1500).slot;
  const int32_t hole = ashlar_block(f->m, first).next;
  const int32_t last = ashlar_allocate_at(f->m, hole, SEGMENT + MIB - 512, 512, 512).slot;
  const uint64_t room = MIB - 512;
  remember(f);
  assert_int_equal(ashlar_resize(f->m, -1, 512), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_resize(f->m, INT32_MAX, 512), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_resize(f->m, ashlar_slot_limit(f->m), 512), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_resize(f->m, hole, 512), ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_resize(f->m, first, 0), ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_resize(f->m, first, 2047), ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_resize(f->m, first, 1024), ASHLAR_ERROR_RANGE); /* 1500 were asked for */
  assert_int_equal(ashlar_resize(f->m, first, room + 512), ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_resize(f->m, first, ADDRESS_END), ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_resize(f->m, last, 1024), ASHLAR_ERROR_RANGE);
  must_be_unchanged(f);
  assert_int_equal(ashlar_resize(f->m, first, room), ASHLAR_OK);
  check_whole(f->m);
  remember(f);
  assert_int_equal(ashlar_resize(f->m, first, room + 512), ASHLAR_ERROR_RANGE);
  must_be_unchanged(f);
}

/* --- streams and looking --- */

/* Covers REQ-STREAM-registered, REQ-CAPACITY-streams. */
static void registration(void **state)
{
  struct fixture *f = *state;
  fixture_restart(f, ashlar_default_config(), 0, UINT64_MAX);
  assert_int_equal(ashlar_stream_find(f->m, 0), -1);
  for (int32_t k = 0; k < ASHLAR_STREAMS; k++) {
    const uint64_t key = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15); /* 0, then in no order */
    struct ashlar_registration made = ashlar_stream_register(f->m, key);
    assert_int_equal(made.status, ASHLAR_OK);
    assert_int_equal(made.stream, k);
    remember(f);
    made = ashlar_stream_register(f->m, key);
    assert_int_equal(made.status, ASHLAR_ERROR_DUPLICATE);
    assert_int_equal(made.stream, k);
    must_be_unchanged(f);
    if (k % 32 == 0) {
      check_whole(f->m);
    }
  }
  assert_int_equal(ashlar_stream_register(f->m, 1).status, ASHLAR_ERROR_CAPACITY);
  assert_int_equal(ashlar_stream_register(f->m, UINT64_MAX).status, ASHLAR_ERROR_CAPACITY);
  assert_int_equal(ashlar_stream_register(f->m, 0).status, ASHLAR_ERROR_DUPLICATE);
  must_be_unchanged(f);
  for (int32_t k = 0; k < ASHLAR_STREAMS; k++) {
    assert_int_equal(ashlar_stream_find(f->m, (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15)), k);
  }
  assert_int_equal(ashlar_stream_find(f->m, 1), -1);
  assert_int_equal(ashlar_stream_find(f->m, UINT64_MAX), -1);
  (void)must_allocate(f, 512, ASHLAR_STREAMS - 1);
  check_whole(f->m);
}

static void looking_changes_nothing(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = must_allocate(f, 700, 1);
  static const int32_t outside[] = {-1, INT32_MIN, INT32_MAX, ASHLAR_SLOTS};
  struct ashlar_block_view view;
  remember(f);
  view = ashlar_block(f->m, step.slot);
  assert_int_equal(view.state, ASHLAR_ALLOCATED);
  assert_int_equal(view.address, step.address);
  assert_int_equal(view.size, 1024);
  assert_int_equal(view.requested, 700);
  assert_int_equal(view.age, 0);
  assert_int_equal(view.prev, -1);
  assert_int_equal(ashlar_block(f->m, view.next).prev, step.slot);
  assert_int_equal(view.pool, ASHLAR_CLASS_SMALL);
  assert_int_equal(view.stream, 1);
  assert_int_equal(view.generation, step.generation);
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    view = ashlar_block(f->m, outside[i]);
    assert_int_equal(view.state, ASHLAR_UNUSED);
    assert_int_equal(view.prev, -1);
    assert_int_equal(view.next, -1);
    assert_int_equal(view.size, 0);
  }
  assert_int_equal(ashlar_choose(f->m, 512, 1), ashlar_block(f->m, step.slot).next);
  assert_int_equal(ashlar_choose(f->m, 512, 0), -1);
  assert_int_equal(ashlar_choose(f->m, 2 * MIB, 1), -1);
  assert_int_equal(ashlar_release_next(f->m, -1), -1);
  assert_int_equal(ashlar_release_next(f->m, step.slot), -1);
  assert_int_equal(ashlar_release_next(f->m, INT32_MAX), -1);
  assert_int_equal(ashlar_release_next(f->m, INT32_MIN), -1);
  must_be_unchanged(f);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, fixture_start, fixture_stop)

int main(void)
{
  const struct CMUnitTest tests[] = {
      EACH(init_default_settings),
      EACH(init_checks_settings),
      EACH(busy_in_every_phase),
      EACH(no_request),
      EACH(allocate_refuses),
      EACH(nothing_for_nothing),
      EACH(resume_refuses_segments),
      EACH(bytes_are_counted_in_64_bits),
      EACH(free_by_handle),
      EACH(free_by_address),
      EACH(segment_add_refuses),
      EACH(segment_remove_refuses),
      EACH(allocate_at_refuses),
      EACH(resize_refuses),
      EACH(registration),
      EACH(looking_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
