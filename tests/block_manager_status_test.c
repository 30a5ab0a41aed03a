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

static struct ashlar_config with_growable(uint32_t growable, uint32_t callbacks, uint64_t total)
{
  struct ashlar_config config = ashlar_default_config();
  config.growable = growable;
  config.callbacks = callbacks;
  config.device_total = total;
  return config;
}

static struct ashlar_config with_rejection(uint64_t reject_above)
{
  struct ashlar_config config = ashlar_default_config();
  config.reject_above = reject_above;
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
  assert_int_equal(config.growable, 0);
  assert_int_equal(config.callbacks, 0);
  assert_int_equal(config.reject_above, 0);
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
      {with_growable(0, 1, 0), ASHLAR_OK},
      {with_growable(1, 1, 1), ASHLAR_OK},
      {with_growable(1, 0, (UINT64_C(1) << 60) - 1), ASHLAR_OK},
      {with_growable(0, 0, UINT64_C(1) << 60), ASHLAR_ERROR_SETTING},
      {with_growable(1, 0, 0), ASHLAR_ERROR_SETTING}, /* how large a range would be is not known */
      {with_growable(2, 0, 1), ASHLAR_ERROR_SETTING},
      {with_growable(0, 2, 1), ASHLAR_ERROR_SETTING},
      {with_rejection((UINT64_C(1) << 60) - 1), ASHLAR_OK},
      {with_rejection(UINT64_C(1) << 60), ASHLAR_ERROR_SETTING},
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

/* The rungs on which a request waits for the device, and whether it empties the cache. */
static const uint8_t WAITING[] = {ASHLAR_RUNG_ASK,          ASHLAR_RUNG_OVERSIZE,
                                  ASHLAR_RUNG_ASK_OVERSIZE, ASHLAR_RUNG_RELEASE,
                                  ASHLAR_RUNG_ASK_LAST,     ASHLAR_RUNG_EMPTY_RELEASE};
enum { WAITING_COUNT = sizeof WAITING / sizeof WAITING[0] };

/* Brings a request onto the rung, which is returned with its step. One request for 64 MiB passes through all of them: a
   block of 96 MiB is cached, too large to serve it, and released first; then the segment of the small request. */
static struct ashlar_step enter_rung(struct fixture *f, uint8_t rung, enum ashlar_policy policy)
{
  struct ashlar_config config = with_sizes(20 * MIB, 32 * MIB, 20 * MIB);
  struct ashlar_step step;
  config.policy = policy;
  fixture_restart(f, config, 2, UINT64_MAX);
  must_free(f, must_allocate(f, 96 * MIB, 0).slot);
  must_free(f, must_allocate(f, 4 * MIB, 0).slot);
  (void)must_allocate(f, 512, 1);
  step = rung == ASHLAR_RUNG_EMPTY_RELEASE
             ? ashlar_empty_cache_begin(f->m, -1, ashlar_nobody())
             : ashlar_allocate_begin(f->m, 64 * MIB, 0, ashlar_nobody());
  while (f->m->request[step.request].rung != rung) {
    const bool asks = step.kind == ASHLAR_STEP_ALLOCATE;
    assert_true(asks || step.kind == ASHLAR_STEP_RELEASE);
    step =
        ashlar_resume(f->m, step.request, asks ? ASHLAR_OUTCOME_REFUSED : ASHLAR_OUTCOME_DONE, 0);
  }
  assert_int_equal(f->m->in_flight, 1);
  check_whole(f->m);
  return step;
}

/* Slot of the first allocated block. */
static int32_t owned(const struct ashlar_manager *m)
{
  int32_t slot = 0;
  while (ashlar_block(m, slot).state != ASHLAR_ALLOCATED) {
    assert_true(slot < ashlar_slot_limit(m));
    slot++;
  }
  return slot;
}

/* What reconstructs a state is refused in both policies. */
static void must_not_reconstruct(struct fixture *f, int32_t slot)
{
  const uint64_t address = f->m->addr[slot];
  struct ashlar_placement made = ashlar_segment_add(f->m, SEGMENT, MIB, 0, 0, 0);
  assert_int_equal(made.status, ASHLAR_ERROR_BUSY);
  assert_int_equal(made.slot, -1);
  made = ashlar_range_add(f->m, SEGMENT, 2 * MIB, 0, 0, 0);
  assert_int_equal(made.status, ASHLAR_ERROR_BUSY);
  assert_int_equal(made.slot, -1);
  assert_int_equal(ashlar_range_map(f->m, slot, address, 512).status, ASHLAR_ERROR_BUSY);
  assert_int_equal(ashlar_range_unmap(f->m, slot, address, 512).status, ASHLAR_ERROR_BUSY);
  assert_int_equal(ashlar_segment_remove(f->m, slot), ASHLAR_ERROR_BUSY);
  made = ashlar_allocate_at(f->m, slot, address, 512, 1);
  assert_int_equal(made.status, ASHLAR_ERROR_BUSY);
  assert_int_equal(made.slot, -1);
  assert_int_equal(ashlar_resize(f->m, slot, 512), ASHLAR_ERROR_BUSY);
}

/* Everything that changes blocks is refused until the request is over.
   Covers REQ-ATOMIC-busy, REQ-ATOMIC. */
static void faithful_is_busy(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_caller nobody = ashlar_nobody();
  for (int i = 0; i < WAITING_COUNT; i++) {
    const struct ashlar_step step = enter_rung(f, WAITING[i], ASHLAR_POLICY_FAITHFUL);
    const int32_t slot = owned(f->m);
    remember(f);
    must_refuse(ashlar_allocate_begin(f->m, 512, 0, nobody), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_allocate_begin(f->m, 0, 0, nobody), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_allocate_begin(f->m, 512, -1, nobody), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_allocate_exactly(f->m, SEGMENT, 512, 0, nobody), ASHLAR_ERROR_BUSY);
    must_refuse(ashlar_empty_cache_begin(f->m, -1, nobody), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free(f->m, slot, 1, nobody).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free(f->m, slot, f->m->generation[slot], nobody).status,
                     ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free_address(f->m, f->m->addr[slot], nobody).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_free_address(f->m, 1, nobody).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_retain(f->m, slot, f->m->generation[slot]), ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_release(f->m, slot, f->m->generation[slot], nobody).status,
                     ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_record_use(f->m, slot, f->m->generation[slot], 0, nobody),
                     ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_complete(f->m, 0, 0, nobody).status, ASHLAR_ERROR_BUSY);
    assert_int_equal(ashlar_stream_gone(f->m, 1, nobody), ASHLAR_ERROR_BUSY);
    must_not_reconstruct(f, slot);
    must_be_unchanged(f);
    assert_int_equal(ashlar_abandon(f->m, step.request), ASHLAR_OK);
    check_whole(f->m);
    (void)must_allocate(f, 64 * MIB, 1); /* the next call works */
    check_whole(f->m);
  }
  print_message("%d rungs\n", (int)WAITING_COUNT);
}

/* Other calls come in between the steps of a request, which goes on behind them; up to ASHLAR_REQUESTS are in flight.
   Covers REQ-ATOMIC-flight, REQ-CAPACITY-others. */
static void complete_goes_on(void **state)
{
  struct fixture *f = *state;
  for (int i = 0; i < WAITING_COUNT; i++) {
    const struct ashlar_step step = enter_rung(f, WAITING[i], ASHLAR_POLICY_COMPLETE);
    struct ashlar_step flying[ASHLAR_REQUESTS];
    struct ashlar_step other;
    remember(f);
    must_not_reconstruct(f, owned(f->m));
    must_be_unchanged(f);
    other = must_allocate(f, 512, 1);
    check_whole(f->m);
    must_free(f, other.slot);
    for (int k = 1; k < ASHLAR_REQUESTS; k++) {
      flying[k] = ashlar_allocate_begin(f->m, 30 * MIB, 1, ashlar_nobody());
      assert_int_equal(flying[k].kind, ASHLAR_STEP_ALLOCATE);
      check_whole(f->m);
    }
    remember(f);
    must_refuse(ashlar_allocate_begin(f->m, 512, 1, ashlar_nobody()), ASHLAR_ERROR_REQUESTS);
    must_refuse(ashlar_empty_cache_begin(f->m, -1, ashlar_nobody()), ASHLAR_ERROR_REQUESTS);
    must_be_unchanged(f);
    for (int k = ASHLAR_REQUESTS - 1; k > 0; k--) {
      assert_int_equal(ashlar_pretend_finish(f->m, &f->device, flying[k]).kind, ASHLAR_STEP_DONE);
      check_whole(f->m);
    }
    assert_int_equal(ashlar_pretend_finish(f->m, &f->device, step).kind, ASHLAR_STEP_DONE);
    assert_int_equal(f->m->in_flight, 0);
    check_whole(f->m);
  }
}

/* Numbers that name no request in flight. */
static void no_request(void **state)
{
  struct fixture *f = *state;
  static const int32_t numbers[] = {0,         1,        ASHLAR_REQUESTS - 1, ASHLAR_REQUESTS, -1,
                                    INT32_MIN, INT32_MAX};
  (void)must_allocate(f, 512, 0);
  remember(f);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    must_refuse(ashlar_resume(f->m, numbers[i], ASHLAR_OUTCOME_DONE, SEGMENT),
                ASHLAR_ERROR_NO_REQUEST);
    must_refuse(ashlar_resume(f->m, numbers[i], ASHLAR_OUTCOME_REFUSED, 0),
                ASHLAR_ERROR_NO_REQUEST);
    must_refuse(ashlar_resume(f->m, numbers[i], ASHLAR_OUTCOME_FAILED, 0), ASHLAR_ERROR_NO_REQUEST);
    assert_int_equal(ashlar_abandon(f->m, numbers[i]), ASHLAR_ERROR_NO_REQUEST);
  }
  must_be_unchanged(f);
}

/* --- requests --- */

/* Covers REQ-SIZE-refused, REQ-STREAM-own, REQ-ATOMIC. */
static void allocate_refuses(void **state)
{
  struct fixture *f = *state;
  static const int32_t streams[] = {
      -1, 2, ASHLAR_STREAM_DEFERRED, ASHLAR_STREAMS, ASHLAR_LISTS, INT32_MIN, INT32_MAX};
  static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX - 511,
                                   UINT64_MAX};
  (void)must_allocate(f, 512, 0);
  remember(f);
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
    must_refuse(ashlar_allocate_begin(f->m, 512, streams[i], ashlar_nobody()), ASHLAR_ERROR_STREAM);
    must_refuse(ashlar_allocate_begin(f->m, 0, streams[i], ashlar_nobody()), ASHLAR_ERROR_STREAM);
    assert_int_equal(ashlar_choose(f->m, 512, streams[i], ashlar_nobody()), -1);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    must_refuse(ashlar_allocate_begin(f->m, sizes[i], 0, ashlar_nobody()), ASHLAR_ERROR_TOO_LARGE);
    assert_int_equal(ashlar_choose(f->m, sizes[i], 0, ashlar_nobody()), -1);
  }
  must_be_unchanged(f);
}

/* Covers REQ-SIZE-nothing. */
static void nothing_for_nothing(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = (remember(f), ashlar_allocate_begin(f->m, 0, 1, ashlar_nobody()));
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.status, ASHLAR_OK);
  assert_int_equal(step.slot, -1);
  assert_int_equal(step.address, 0);
  assert_int_equal(step.bytes, 0);
  assert_int_equal(ashlar_choose(f->m, 0, 1, ashlar_nobody()), -1);
  must_be_unchanged(f);
}

/* The request in flight is over, and nothing else has changed since it was remembered. */
static void must_be_over(struct fixture *f, int32_t request)
{
  f->before->request[request].rung = ASHLAR_RUNG_IDLE;
  f->before->in_flight--;
  must_be_unchanged(f);
}

/* A request that asks for a segment of 20 MiB. */
static struct ashlar_step must_ask(struct fixture *f)
{
  const struct ashlar_step step = ashlar_allocate_begin(f->m, 4 * MIB, 0, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_ALLOCATE);
  return step;
}

/* A device call that fails otherwise than for want of memory ends the request, which released nothing for it.
   Covers REQ-ATOMIC-error. */
static void resume_reports_failures(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step step = must_ask(f);
  remember(f);
  must_refuse(ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_FAILED, 0), ASHLAR_ERROR_DEVICE);
  must_be_over(f, step.request);
  assert_int_equal(f->m->ooms, 0);
  (void)must_allocate(f, 4 * MIB, 0);
}

/* A segment whose release failed is a cached segment again, and is counted as one that was never given back.
   Covers REQ-ATOMIC-error, REQ-ATOMIC-leaving. */
static void a_failed_release_keeps_the_segment(void **state)
{
  struct fixture *f = *state;
  const int32_t slot = must_allocate(f, 16 * MIB, 0).slot;
  struct ashlar_step step;
  must_free(f, slot);
  step = ashlar_empty_cache_begin(f->m, -1, ashlar_nobody());
  assert_int_equal(step.kind, ASHLAR_STEP_RELEASE);
  assert_int_equal(ashlar_block(f->m, slot).state, ASHLAR_HELD);
  assert_int_equal(ashlar_choose(f->m, 16 * MIB, 0, ashlar_nobody()), -1);
  assert_int_equal(current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL), 0);
  check_whole(f->m);
  must_refuse(ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_FAILED, 0), ASHLAR_ERROR_DEVICE);
  assert_int_equal(f->m->in_flight, 0);
  assert_int_equal(f->m->device_frees, 0);
  assert_int_equal(current(f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL), 16 * MIB);
  check_whole(f->m);
  assert_int_equal(must_allocate(f, 16 * MIB, 0).slot, slot);
  assert_int_equal(f->device.allocations, 1);
}

/* A segment that cannot be used stays the caller's; the request is over, and the next one works.
   Covers REQ-ATOMIC. */
static void resume_refuses_segments(void **state)
{
  struct fixture *f = *state;
  static const uint64_t addresses[] = {1, 511, SEGMENT + 256, ADDRESS_END, UINT64_MAX};
  struct ashlar_step step;
  (void)must_allocate(f, 512, 0);
  for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    step = must_ask(f);
    remember(f);
    must_refuse(ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, addresses[i]),
                ASHLAR_ERROR_RANGE);
    must_be_over(f, step.request);
  }
  /* creation numbers used up */
  step = must_ask(f);
  f->m->segments_created = UINT64_MAX;
  remember(f);
  must_refuse(ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, SEGMENT),
              ASHLAR_ERROR_CAPACITY);
  must_be_over(f, step.request);
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
  struct ashlar_step step;
  check_whole(f->m);
  assert_int_equal(f->m->bytes[ASHLAR_FREE], size);
  remember(f);
  assert_int_equal(ashlar_segment_add(f->m, size, 2 * MIB, 0, 0, 0).status, ASHLAR_ERROR_RANGE);
  assert_int_equal(ashlar_segment_add(f->m, 0, 2 * MIB, 0, 0, 0).status, ASHLAR_ERROR_CAPACITY);
  must_be_unchanged(f);
  step = must_ask(f);
  remember(f);
  must_refuse(ashlar_resume(f->m, step.request, ASHLAR_OUTCOME_DONE, 0), ASHLAR_ERROR_CAPACITY);
  must_be_over(f, step.request);
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
    assert_int_equal(ashlar_free(f->m, slots[i], first.generation, ashlar_nobody()).status,
                     ASHLAR_ERROR_SLOT);
  }
  assert_int_equal(ashlar_free(f->m, ashlar_slot_limit(f->m), 0, ashlar_nobody()).status,
                   ASHLAR_ERROR_SLOT);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation + 1, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation - 1, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  assert_int_equal(ashlar_free(f->m, second.slot, second.generation, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation, ashlar_nobody()).status,
                   ASHLAR_OK);
  remember(f);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  check_whole(f->m);
}

/* Covers REQ-FREE-found, REQ-FREE-address, REQ-FREE-distinct. */
static void free_by_address(void **state)
{
  struct fixture *f = *state;
  const struct ashlar_step first = must_allocate(f, 4 * MIB, 0);
  const struct ashlar_step second = must_allocate(f, 4 * MIB, 0);
  const uint64_t rest = second.address + second.bytes;
  const struct {
    uint64_t address;
    enum ashlar_status status;
  } rows[] = {
      {0, ASHLAR_ERROR_UNKNOWN_ADDRESS},
      {1, ASHLAR_ERROR_UNKNOWN_ADDRESS},
      {16, ASHLAR_ERROR_UNKNOWN_ADDRESS},
      {first.address - 512, ASHLAR_ERROR_UNKNOWN_ADDRESS},
      {first.address - 1, ASHLAR_ERROR_UNKNOWN_ADDRESS},
      {first.address + 1, ASHLAR_ERROR_INTERIOR},
      {first.address + 512, ASHLAR_ERROR_INTERIOR},
      {second.address - 1, ASHLAR_ERROR_INTERIOR},
      {rest, ASHLAR_ERROR_FREED},
      {rest + 512, ASHLAR_ERROR_INTERIOR},
      {first.address + 20 * MIB - 1, ASHLAR_ERROR_INTERIOR},
      {first.address + 20 * MIB, ASHLAR_ERROR_UNKNOWN_ADDRESS}, /* the end of the segment */
      {UINT64_MAX, ASHLAR_ERROR_UNKNOWN_ADDRESS},
  };
  remember(f);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(ashlar_free_address(f->m, rows[i].address, ashlar_nobody()).status,
                     rows[i].status);
    assert_int_equal(ashlar_find(f->m, rows[i].address), -1);
  }
  assert_int_equal(ashlar_find(f->m, second.address), second.slot);
  must_be_unchanged(f);
  assert_int_equal(ashlar_free_address(f->m, first.address, ashlar_nobody()).status, ASHLAR_OK);
  remember(f);
  assert_int_equal(ashlar_free_address(f->m, first.address, ashlar_nobody()).status,
                   ASHLAR_ERROR_FREED);
  assert_int_equal(ashlar_free(f->m, first.slot, first.generation, ashlar_nobody()).status,
                   ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(f);
  check_whole(f->m);
}

/* --- segments --- */

static void segment_add_refuses(void **state)
{
  struct fixture *f = *state;
  static const int32_t pools[] = {-1, 1, ASHLAR_POOL_NUMBERS, INT32_MIN, INT32_MAX}; /* no pool */
  static const struct {
    uint64_t address;
    uint64_t size;
    int32_t class;
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
    made =
        ashlar_segment_add(f->m, rows[i].address, rows[i].size, 0, rows[i].class, rows[i].stream);
    assert_int_equal(made.status, rows[i].status);
    if (made.status == ASHLAR_OK) {
      const struct ashlar_block_view view = ashlar_block(f->m, made.slot);
      check_whole(f->m);
      assert_int_equal(view.state, ASHLAR_FREE);
      assert_int_equal(view.address, rows[i].address);
      assert_int_equal(view.size, rows[i].size);
      assert_int_equal(view.class, rows[i].class);
      assert_int_equal(view.stream, rows[i].stream);
      assert_int_equal(view.requested, 0);
    } else {
      assert_int_equal(made.slot, -1);
      must_be_unchanged(f);
    }
  }
  remember(f);
  for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
    assert_int_equal(ashlar_segment_add(f->m, SEGMENT, MIB, pools[i], 0, 0).status,
                     ASHLAR_ERROR_POOL);
  }
  must_be_unchanged(f);
  f->m->segments_created = UINT64_MAX;
  remember(f);
  assert_int_equal(ashlar_segment_add(f->m, SEGMENT, MIB, 0, 0, 0).status, ASHLAR_ERROR_CAPACITY);
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
  for (int32_t k = 0; k < ASHLAR_STREAM_DEFERRED; k++) {
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
  assert_int_equal(ashlar_stream_register(f->m, 1).status, ASHLAR_ERROR_STREAMS);
  assert_int_equal(ashlar_stream_register(f->m, 1).stream, -1);
  assert_int_equal(ashlar_stream_register(f->m, UINT64_MAX).status, ASHLAR_ERROR_STREAMS);
  assert_int_equal(ashlar_stream_register(f->m, 0).status, ASHLAR_ERROR_DUPLICATE);
  must_be_unchanged(f);
  for (int32_t k = 0; k < ASHLAR_STREAM_DEFERRED; k++) {
    assert_int_equal(ashlar_stream_find(f->m, (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15)), k);
  }
  assert_int_equal(ashlar_stream_find(f->m, 1), -1);
  assert_int_equal(ashlar_stream_find(f->m, UINT64_MAX), -1);
  (void)must_allocate(f, 512, ASHLAR_STREAM_DEFERRED - 1);
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
  assert_int_equal(view.class, ASHLAR_CLASS_SMALL);
  assert_int_equal(view.stream, 1);
  assert_int_equal(view.generation, step.generation);
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    view = ashlar_block(f->m, outside[i]);
    assert_int_equal(view.state, ASHLAR_UNUSED);
    assert_int_equal(view.prev, -1);
    assert_int_equal(view.next, -1);
    assert_int_equal(view.size, 0);
  }
  assert_int_equal(ashlar_choose(f->m, 512, 1, ashlar_nobody()),
                   ashlar_block(f->m, step.slot).next);
  assert_int_equal(ashlar_choose(f->m, 512, 0, ashlar_nobody()), -1);
  assert_int_equal(ashlar_choose(f->m, 2 * MIB, 1, ashlar_nobody()), -1);
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
      EACH(faithful_is_busy),
      EACH(complete_goes_on),
      EACH(no_request),
      EACH(allocate_refuses),
      EACH(nothing_for_nothing),
      EACH(resume_reports_failures),
      EACH(a_failed_release_keeps_the_segment),
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
