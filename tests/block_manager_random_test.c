/* block_manager_random_test.c - long random runs: every decision against the model, every other block as it was, every
 * counter followed, and the whole state checked.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/size_policy.h"
#include "tests/core_check.h"
#include "tests/manager_model.h"
#include "tests/manager_support.h"
#include "tests/storage.h"

enum {
  RUNS = 48,
  STEPS = 250,
  LIVE = 160,
  STALE = 32,
  STREAMS = 3,
  EVENTS = 8,
  CROWDED = 64, /* so few slots run out often */
  /* the check reads the whole address map, which is large at a large capacity */
  CHECK_EVERY = ASHLAR_SLOTS / 8192 + 1
};

/* A block in use, as it must stay until it is freed. */
struct live {
  uint64_t address;
  uint64_t size;
  uint64_t requested;
  int32_t slot;
  uint32_t generation;
  int32_t stream;
  int32_t class;
};

/* What must have happened in the end, or the runs were too tame. */
enum event {
  EVENT_REUSED = 0,
  EVENT_NEW_SEGMENT,
  EVENT_OVERSIZE_RELEASE,
  EVENT_RELEASE,
  EVENT_SAVED, /* served after releases */
  EVENT_OUT_OF_MEMORY,
  EVENT_BAD_SEGMENT,
  EVENT_ABANDONED
};

struct run {
  struct fixture *f;
  struct live live[LIVE];
  int live_count;
  struct live stale[STALE];
  uint64_t stale_count;
  struct ashlar_core_count seen;
  struct ashlar_counter expected[ASHLAR_STATS];
  uint64_t seed;
  uint64_t observed;
};

static uint64_t events[EVENTS];
static uint64_t capacity_errors;

static uint64_t below(struct run *r, uint64_t bound)
{
  return ashlar_random_below(&r->seed, bound);
}

/* Oracle: REQ-CAPACITY-slots. */
static int32_t slots_left(const struct ashlar_manager *m)
{
  return m->spare_count + (ASHLAR_SLOTS - m->top);
}

/* --- what is looked at after every call --- */

/* One call changes a counter at most once: so the counters follow from the block lists before and after.
   Oracle: REQ-ACCOUNT-counter, REQ-ACCOUNT-net. */
static void follow_counters(struct run *r, bool resized)
{
  const struct ashlar_core_count now = ashlar_core_recount(r->f->m);
  for (int32_t k = 0; k < ASHLAR_STATS; k++) {
    struct ashlar_counter *counter = &r->expected[k];
    const int32_t kind = k / ASHLAR_STAT_COLUMNS;
    counter->current = now.stat[k];
    if (now.stat[k] >= r->seen.stat[k]) {
      counter->allocated += now.stat[k] - r->seen.stat[k];
    } else {
      counter->freed += r->seen.stat[k] - now.stat[k];
    }
    if (counter->peak < counter->current) {
      counter->peak = counter->current;
    }
    /* how a resize counts in the totals of bytes is not laid down */
    if (resized && (kind == ASHLAR_STAT_ALLOCATED_BYTES || kind == ASHLAR_STAT_ACTIVE_BYTES)) {
      counter->allocated = r->f->m->stat[k].allocated;
      counter->freed = r->f->m->stat[k].freed;
    }
    if (memcmp(counter, &r->f->m->stat[k], sizeof *counter) != 0) {
      fail_msg("counter %d is not what the blocks say", (int)k);
    }
  }
  r->seen = now;
}

/* Oracle: REQ-FRAME. */
static void check_live(const struct run *r, const struct live *block)
{
  const struct ashlar_block_view view = ashlar_block(r->f->m, block->slot);
  if (view.state != ASHLAR_ALLOCATED || view.address != block->address ||
      view.size != block->size || view.requested != block->requested ||
      view.stream != block->stream || view.class != block->class ||
      view.generation != block->generation || ashlar_find(r->f->m, block->address) != block->slot) {
    fail_msg("the block in slot %d is not what it was", (int)block->slot);
  }
}

static void observe(struct run *r, bool resized)
{
  follow_counters(r, resized);
  for (int i = 0; i < r->live_count; i++) {
    check_live(r, &r->live[i]);
  }
  r->observed++;
  if (r->observed % CHECK_EVERY == 0) {
    check_whole(r->f->m);
  }
}

static void enter(struct run *r, int32_t slot, uint64_t requested)
{
  const struct ashlar_block_view view = ashlar_block(r->f->m, slot);
  assert_int_equal(view.state, ASHLAR_ALLOCATED);
  r->live[r->live_count] = (struct live){view.address,    view.size,   requested, slot,
                                         view.generation, view.stream, view.class};
  r->live_count++;
}

/* --- allocation --- */

static uint64_t random_bytes(struct run *r)
{
  switch (below(r, 8)) {
  case 0:
    return 1 + below(r, 4096);
  case 1:
  case 2:
    return 1 + below(r, MIB);
  case 3:
    return UINT64_C(512) << below(r, 18);
  case 4:
    return MIB - 1024 + 512 * below(r, 4);
  case 5:
    return 10 * MIB - 1024 + 512 * below(r, 4);
  case 6:
    return MIB + below(r, 12 * MIB);
  default:
    return 10 * MIB + below(r, 60 * MIB);
  }
}

/* The block is the one expected: where, how large, for whom.
   Covers REQ-SIZE-enough, REQ-BESTFIT-least, REQ-STREAM-own, REQ-POOL-apart. */
static void served(struct run *r, const struct model_request *request, struct ashlar_step step,
                   uint64_t address, uint64_t room, uint64_t bytes)
{
  const struct ashlar_manager *m = r->f->m;
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  assert_int_equal(step.address, address);
  assert_int_equal(step.bytes, model_given(m, request, room));
  assert_int_equal(step.generation, ashlar_block(m, step.slot).generation);
  assert_int_equal(ashlar_block(m, step.slot).stream, request->stream);
  assert_int_equal(ashlar_block(m, step.slot).class, request->class);
  enter(r, step.slot, bytes);
}

static void must_match(struct ashlar_step step, struct model_step expected)
{
  if (step.kind != expected.kind || step.bytes != expected.bytes ||
      step.address != expected.address) {
    fail_msg("step %d of %llu bytes at %llx; expected %d of %llu at %llx", (int)step.kind,
             (unsigned long long)step.bytes, (unsigned long long)step.address, (int)expected.kind,
             (unsigned long long)expected.bytes, (unsigned long long)expected.address);
  }
}

/* Reports an address that cannot be one; the segment goes back to the device, and the request is over. */
static void give_bad_segment(struct run *r, struct ashlar_step step, uint64_t address)
{
  must_refuse(ashlar_resume(r->f->m, step.request, ASHLAR_OUTCOME_DONE, address + 256),
              ASHLAR_ERROR_RANGE);
  r->f->device.used -= step.bytes;
  events[EVENT_BAD_SEGMENT]++;
  observe(r, false);
}

/* Follows a request that asks the device to its end, step by step beside the model.
   Covers REQ-LADDER-device, REQ-LADDER-oversize, REQ-LADDER-all, REQ-LADDER-order, REQ-LADDER-last,
   REQ-LADDER-once, REQ-SIZE-segment. */
static void follow(struct run *r, struct model_request request, struct ashlar_step step,
                   uint64_t bytes)
{
  struct ashlar_manager *m = r->f->m;
  uint64_t releases = 0;
  must_match(step,
             (struct model_step){ASHLAR_STEP_ALLOCATE, 0,
                                 ashlar_segment_size(request.size, m->config.large_segment_size)});
  while (step.kind != ASHLAR_STEP_OUT_OF_MEMORY) {
    uint64_t address = 0;
    struct model_step expected;
    enum ashlar_outcome outcome = ASHLAR_OUTCOME_DONE;
    observe(r, false);
    if (below(r, 100) == 0) {
      assert_int_equal(ashlar_abandon(m, step.request), ASHLAR_OK);
      if (step.kind == ASHLAR_STEP_RELEASE) {
        r->f->device.used -= step.bytes;
      }
      events[EVENT_ABANDONED]++;
      return;
    }
    outcome = ashlar_pretend_perform(&r->f->device, step, &address);
    if (step.kind == ASHLAR_STEP_ALLOCATE && outcome == ASHLAR_OUTCOME_DONE) {
      if (below(r, 40) == 0) {
        give_bad_segment(r, step, address);
        return;
      }
      served(r, &request, ashlar_resume(m, step.request, outcome, address), address, step.bytes,
             bytes);
      events[releases > 0 ? EVENT_SAVED : EVENT_NEW_SEGMENT]++;
      return;
    }
    expected = model_next(m, &request);
    step = ashlar_resume(m, step.request, outcome, address);
    must_match(step, expected);
    if (step.kind == ASHLAR_STEP_RELEASE) {
      releases++;
      events[request.place == MODEL_OVERSIZE ? EVENT_OVERSIZE_RELEASE : EVENT_RELEASE]++;
    }
  }
  /* Oracle: REQ-OOM-complete. Nothing that fits is left, and nothing that could be released. */
  assert_int_equal(model_choice(m, &request), -1);
  assert_int_equal(model_release(m), -1);
  events[EVENT_OUT_OF_MEMORY]++;
}

/* Covers REQ-BESTFIT-least, REQ-BESTFIT-none, REQ-CAPACITY-slots. */
static void allocate(struct run *r)
{
  struct ashlar_manager *m = r->f->m;
  const uint64_t bytes = random_bytes(r);
  const struct model_request request = model_request_of(m, bytes, (int32_t)below(r, STREAMS));
  const int32_t choice = model_choice(m, &request);
  const uint64_t address = choice == -1 ? 0 : m->addr[choice];
  const uint64_t room = choice == -1 ? 0 : m->size[choice];
  struct ashlar_step step;
  /* a request that is refused takes none */
  assert_int_equal(ashlar_choose(m, bytes, request.stream, ashlar_nobody()),
                   slots_left(m) < ASHLAR_REQUEST_SLOTS ? -1 : choice);
  step = ashlar_allocate_begin(m, bytes, request.stream, ashlar_nobody());
  if (step.kind == ASHLAR_STEP_ERROR) {
    assert_int_equal(step.status, ASHLAR_ERROR_CAPACITY);
    assert_true(slots_left(m) < ASHLAR_REQUEST_SLOTS);
    capacity_errors++;
  } else if (choice != -1) {
    served(r, &request, step, address, room, bytes);
    events[EVENT_REUSED]++;
  } else {
    follow(r, request, step, bytes);
  }
  observe(r, false);
}

/* --- the other operations --- */

static void free_one(struct run *r)
{
  const int k = (int)below(r, (uint64_t)r->live_count);
  const struct live block = r->live[k];
  r->live_count--;
  r->live[k] = r->live[r->live_count];
  if (below(r, 2) == 0) {
    assert_int_equal(ashlar_free(r->f->m, block.slot, block.generation, ashlar_nobody()).status,
                     ASHLAR_OK);
  } else {
    assert_int_equal(ashlar_free_address(r->f->m, block.address, ashlar_nobody()).status,
                     ASHLAR_OK);
  }
  r->stale[r->stale_count % STALE] = block;
  r->stale_count++;
  observe(r, false);
}

/* Handles and addresses that are none: nothing changes.
   Oracle: REQ-FREE-exact, REQ-FREE-handle. */
static void free_nothing(struct run *r)
{
  for (uint64_t i = 0; i < STALE && i < r->stale_count; i++) {
    const enum ashlar_status status =
        ashlar_free(r->f->m, r->stale[i].slot, r->stale[i].generation, ashlar_nobody()).status;
    assert_int_equal(status, ASHLAR_ERROR_STALE_HANDLE);
  }
  if (r->live_count > 0) {
    const struct live *block = &r->live[below(r, (uint64_t)r->live_count)];
    assert_int_equal(ashlar_free_address(r->f->m, block->address + 1 + below(r, block->size - 1),
                                         ashlar_nobody())
                         .status,
                     ASHLAR_ERROR_INTERIOR);
  }
  observe(r, false);
}

/* Oracle: REQ-LADDER-empty. */
static void empty_cache(struct run *r)
{
  struct ashlar_manager *m = r->f->m;
  int32_t first = model_release(m);
  struct model_step expected = {ASHLAR_STEP_RELEASE, first == -1 ? 0 : m->addr[first],
                                first == -1 ? 0 : m->size[first]};
  struct ashlar_step step = ashlar_empty_cache_begin(m, -1, ashlar_nobody());
  while (first != -1) {
    uint64_t address = 0;
    must_match(step, expected);
    observe(r, false);
    (void)ashlar_pretend_perform(&r->f->device, step, &address);
    first = model_release(m);
    if (first != -1) {
      expected.address = m->addr[first];
      expected.bytes = m->size[first];
    }
    step = ashlar_resume(m, step.request, ASHLAR_OUTCOME_DONE, 0);
  }
  must_match(step, (struct model_step){ASHLAR_STEP_DONE, 0, 0});
  assert_int_equal(step.slot, -1);
  observe(r, false);
}

/* A free block, -1: there is none. */
static int32_t random_free(struct run *r)
{
  const struct ashlar_manager *m = r->f->m;
  return m->free_count == 0 ? -1 : m->order[below(r, (uint64_t)m->free_count)];
}

static void place(struct run *r)
{
  const int32_t slot = random_free(r);
  if (slot != -1) {
    const struct ashlar_block_view view = ashlar_block(r->f->m, slot);
    const uint64_t from = 512 * below(r, view.size / 512);
    const uint64_t size = 512 * (1 + below(r, (view.size - from) / 512));
    const uint64_t requested = below(r, size + 1);
    const struct ashlar_placement made =
        ashlar_allocate_at(r->f->m, slot, view.address + from, size, requested);
    if (made.status == ASHLAR_ERROR_CAPACITY) {
      assert_true(slots_left(r->f->m) < 2);
      capacity_errors++;
    } else {
      assert_int_equal(made.status, ASHLAR_OK);
      assert_int_equal(ashlar_block(r->f->m, made.slot).address, view.address + from);
      assert_int_equal(ashlar_block(r->f->m, made.slot).size, size);
      enter(r, made.slot, requested);
    }
    observe(r, false);
  }
}

static void resize(struct run *r)
{
  struct live *block = &r->live[below(r, (uint64_t)r->live_count)];
  const struct ashlar_block_view after =
      ashlar_block(r->f->m, ashlar_block(r->f->m, block->slot).next);
  const uint64_t room = block->size + (after.state == ASHLAR_FREE ? after.size : 0);
  const uint64_t size = 512 * (1 + below(r, room / 512));
  const enum ashlar_status status = ashlar_resize(r->f->m, block->slot, size);
  if (size < block->requested) {
    assert_int_equal(status, ASHLAR_ERROR_RANGE);
  } else if (status == ASHLAR_ERROR_CAPACITY) {
    assert_int_equal(slots_left(r->f->m), 0);
    capacity_errors++;
  } else {
    assert_int_equal(status, ASHLAR_OK);
    block->size = size;
  }
  observe(r, true);
}

static void add_or_remove(struct run *r)
{
  struct ashlar_pretend *device = &r->f->device;
  const uint64_t size = 512 * (1 + below(r, 65536));
  const int32_t slot = random_free(r);
  if (slot != -1 && below(r, 2) == 0) {
    const struct ashlar_block_view view = ashlar_block(r->f->m, slot);
    const bool whole = view.prev == -1 && view.next == -1;
    assert_int_equal(ashlar_segment_remove(r->f->m, slot), whole ? ASHLAR_OK : ASHLAR_ERROR_SLOT);
    device->used -= whole ? view.size : 0;
  } else if (size <= device->capacity - device->used) {
    const struct ashlar_placement made =
        ashlar_segment_add(r->f->m, device->next, size, 0, (int32_t)below(r, ASHLAR_CLASSES),
                           (int32_t)below(r, STREAMS));
    if (made.status == ASHLAR_ERROR_CAPACITY) {
      assert_int_equal(slots_left(r->f->m), 0);
      capacity_errors++;
    } else {
      assert_int_equal(made.status, ASHLAR_OK);
      device->next += size;
      device->used += size;
    }
  }
  observe(r, false);
}

static void random_step(struct run *r, bool reconstructs)
{
  const uint64_t choice = below(r, 64);
  if (r->live_count == LIVE || (choice < 26 && r->live_count > 0)) {
    free_one(r);
  } else if (choice == 63) {
    empty_cache(r);
  } else if (choice >= 61) {
    free_nothing(r);
  } else if (reconstructs && choice >= 58) {
    place(r);
  } else if (reconstructs && choice >= 56 && r->live_count > 0) {
    resize(r);
  } else if (reconstructs && choice >= 54) {
    add_or_remove(r);
  } else {
    allocate(r);
  }
}

/* --- runs --- */

/* Each run has its own settings: all orders, policies, limits, divisions and capacities meet. */
static struct ashlar_config config_of(uint64_t run)
{
  static const uint64_t limits[] = {UINT64_MAX, 20 * MIB, 33 * MIB};
  static const uint32_t divisions[] = {0, 1, 4};
  struct ashlar_config config = ashlar_default_config();
  config.order = run % 2 == 0 ? ASHLAR_ORDER_ADDRESS : ASHLAR_ORDER_SEGMENT;
  config.policy = run / 2 % 2 == 0 ? ASHLAR_POLICY_COMPLETE : ASHLAR_POLICY_FAITHFUL;
  config.max_split_size = limits[run % 3];
  config.oversize_slack = (run / 5 % 2 == 0 ? 20 : 30) * MIB;
  for (uint64_t row = 0; row < ASHLAR_DIVISIONS; row++) {
    config.divisions[row] = divisions[(run / 4 + row) % 3];
  }
  return config;
}

/* Everything is freed: one free block a segment; then everything is released.
   Oracle: REQ-CANON-whole. */
static void must_be_canonical(struct run *r)
{
  const struct ashlar_manager *m = r->f->m;
  while (r->live_count > 0) {
    free_one(r);
  }
  check_whole(m);
  assert_int_equal(m->free_count, current(r->f, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL));
  assert_int_equal(m->bytes[ASHLAR_FREE], r->f->device.used);
  empty_cache(r);
  assert_int_equal(m->free_count, 0);
  assert_int_equal(r->f->device.used, 0);
  assert_int_equal(slots_left(m), ASHLAR_SLOTS);
  check_whole(m);
}

static void random_runs(struct fixture *f, bool reconstructs)
{
  static const uint64_t capacities[] = {96 * MIB, 256 * MIB, 700 * MIB, 64 * GIB};
  uint64_t observed = 0;
  for (uint64_t run = 0; run < RUNS; run++) {
    static struct run r;
    memset(&r, 0, sizeof r);
    r.f = f;
    r.seed = run + (reconstructs ? 1000 : 0);
    fixture_restart(f, config_of(run), 0, capacities[run / 12 % 4]);
    f->device.gap = run % 5 == 0 ? 2 * MIB : 0;
    for (uint64_t k = 0; k < STREAMS; k++) {
      assert_int_equal(ashlar_stream_register(f->m, (k * 2 + run) % STREAMS).status, ASHLAR_OK);
    }
    for (int step = 0; step < STEPS; step++) {
      random_step(&r, reconstructs);
    }
    must_be_canonical(&r);
    observed += r.observed;
  }
  print_message("%d runs, %llu states looked at\n", RUNS, (unsigned long long)observed);
}

/* Requests, frees, and emptying the cache.
   Covers REQ-FRAME, REQ-ACCOUNT-net, REQ-ACCOUNT-counter. */
static void requests_and_frees(void **state)
{
  random_runs(*state, false);
}

/* And the operations that reconstruct a given state, in between.
   Covers REQ-FRAME, REQ-DISJOINT-blocks. */
static void with_reconstruction(void **state)
{
  random_runs(*state, true);
}

/* Everything that can happen has happened, several times. */
static void nothing_was_left_out(void **state)
{
  static const char *const names[EVENTS] = {
      "served from a free block", "new segment",   "oversize release", "release",
      "served after releases",    "out of memory", "bad segment",      "abandoned"};
  (void)state;
  for (int i = 0; i < EVENTS; i++) {
    print_message("%s: %llu\n", names[i], (unsigned long long)events[i]);
    assert_true(events[i] >= 10);
  }
  print_message("refused for want of slots: %llu\n", (unsigned long long)capacity_errors);
  assert_true(capacity_errors >= 10 || ASHLAR_SLOTS > CROWDED);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(requests_and_frees, fixture_start, fixture_stop),
      cmocka_unit_test_setup_teardown(with_reconstruction, fixture_start, fixture_stop),
      cmocka_unit_test(nothing_was_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
