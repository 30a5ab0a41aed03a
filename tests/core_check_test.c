/* core_check_test.c - the check of the whole state fails: each clause, for a state that breaks it; and whatever bytes are
 * there, both checks end and agree.
 *
 * A check that nothing can break would hide faults in every other test.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/block_manager.h"
#include "core/check.h"
#include "core/check_clauses.h"
#include "tests/core_check.h"
#include "tests/core_check_faults.h"
#include "tests/storage.h"

#define MIB (UINT64_C(1) << 20)

enum { WHY = 128, ROUNDS = 20000 };

static const struct ashlar_caller CALLER = {-1, 0};

static struct ashlar_manager *good;   /* a state with a bit of everything */
static struct ashlar_manager *broken; /* its copy */
static struct core_check_slots slot;  /* where things are in it */
static const struct core_check_fault *const FAULTS[] = {
    core_check_faults_blocks, core_check_faults_uses, core_check_faults_state};
enum { FAULT_TABLES = sizeof FAULTS / sizeof FAULTS[0] };

static uint64_t next_address; /* what the device gives next; addresses are never given twice */

/* Performs steps until the request is over, or is at a step of this kind. */
static struct ashlar_step performed(struct ashlar_step step, enum ashlar_step_kind until)
{
  while (step.kind < ASHLAR_STEP_DONE && step.kind != until) {
    const uint64_t address = next_address;
    if (step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RESERVE) {
      next_address += step.bytes + 2 * MIB;
    }
    step = ashlar_resume(good, step.request, ASHLAR_OUTCOME_DONE, address);
  }
  return step;
}

static int32_t allocated(uint64_t bytes, int32_t stream)
{
  const struct ashlar_step step =
      performed(ashlar_allocate_begin(good, bytes, stream, CALLER), ASHLAR_STEP_DONE);
  assert_int_equal(step.kind, ASHLAR_STEP_DONE);
  return step.slot;
}

static void freed(int32_t block, int32_t stream)
{
  const struct ashlar_caller caller = {stream, 0};
  assert_int_equal(ashlar_free(good, block, good->generation[block], caller).status, ASHLAR_OK);
}

static void used(int32_t block, int32_t stream)
{
  assert_int_equal(ashlar_record_use(good, block, good->generation[block], stream, CALLER),
                   ASHLAR_OK);
}

static void make_blocks(void)
{
  int32_t last = -1;
  slot.first = allocated(512, 0);
  slot.hole = allocated(1024, 0);
  slot.third = allocated(512, 0);
  last = allocated(512, 0);
  slot.whole = allocated(40 * MIB, 0);
  slot.large = allocated(36 * MIB, 0);
  next_address = good->addr[slot.large] + UINT64_C(512000) * ASHLAR_BUCKETS;
  slot.other = allocated(4 * MIB, 1);
  freed(allocated(48 * MIB, 0), -1);
  freed(slot.hole, -1);
  freed(slot.whole, -1);
  freed(last, -1);
}

/* Uses of every kind: finished, submitted, recorded, and what will be deferred. */
static void make_uses(void)
{
  int32_t block[4] = {0};
  for (int32_t k = 0; k < 4; k++) {
    block[k] = allocated(2048, 0); /* not the hole */
    used(block[k], k == 3 ? 3 : 1);
  }
  for (int32_t k = 0; k < 4; k++) {
    freed(block[k], -1);
  }
  slot.queued = block[0];
  used(slot.third, 1);
  used(slot.third, 3);
  slot.deferred = allocated(2048, 0);
  used(slot.deferred, 3);
  assert_int_equal(ashlar_complete(good, 3, 1, CALLER).freed, 1);
}

/* Pools: 1 live with a scope, 2 unused again, 3 live with a scope and both marks, 4 freeable with a segment. */
static void make_pools(void)
{
  for (int32_t pool = 1; pool <= 4; pool++) {
    assert_int_equal(ashlar_pool_create(good, 0).pool, pool);
  }
  assert_int_equal(ashlar_scope_open(good, 3, 6, -1), ASHLAR_OK);
  assert_int_equal(ashlar_scope_open(good, 1, 5, 1), ASHLAR_OK);
  assert_int_equal(ashlar_pool_set_use_on_oom(good, 3, 1), ASHLAR_OK);
  assert_int_equal(ashlar_pool_set_no_split(good, 3), ASHLAR_OK);
  assert_int_equal(ashlar_segment_add(good, next_address, 2 * MIB, 4, ASHLAR_CLASS_SMALL, 0).status,
                   ASHLAR_OK);
  next_address += 4 * MIB;
  assert_int_equal(ashlar_pool_leave(good, 4), ASHLAR_OK);
  assert_int_equal(ashlar_pool_leave(good, 2), ASHLAR_OK);
}

/* Requests in flight: one that waits, one that maps a run of two blocks, one that releases, one that asks. */
static void make_requests(void)
{
  struct ashlar_step step;
  assert_int_equal(ashlar_growable_set(good, 1), ASHLAR_OK);
  (void)allocated(MIB, 1);
  (void)allocated(MIB / 2, 1);
  step = performed(ashlar_allocate_begin(good, MIB, 1, CALLER), ASHLAR_STEP_MAP);
  assert_int_equal(step.kind, ASHLAR_STEP_MAP);
  slot.maps = step.request;
  assert_int_equal(good->hold[good->request[slot.maps].run], ASHLAR_HOLD_MAPPED);
  assert_int_equal(ashlar_growable_set(good, 0), ASHLAR_OK);

  step = ashlar_allocate_begin(good, 64 * MIB, 0, CALLER);
  step = ashlar_resume(good, step.request, ASHLAR_OUTCOME_REFUSED, 0);
  assert_int_equal(step.kind, ASHLAR_STEP_RELEASE);
  slot.releases = step.request;

  step = ashlar_allocate_begin(good, 30 * MIB, 1, CALLER);
  assert_int_equal(step.kind, ASHLAR_STEP_ALLOCATE);
  slot.asks = step.request;
}

static int make_good(void **state)
{
  struct ashlar_config config = ashlar_default_config();
  (void)state;
  good = ashlar_storage_new();
  broken = ashlar_storage_new();
  next_address = UINT64_C(1) << 40;
  config.max_split_size = 32 * MIB;
  config.order = ASHLAR_ORDER_SEGMENT;
  config.device_total = 1024 * MIB;
  config.reservation_small = 8 * MIB;
  assert_int_equal(ashlar_manager_init(good, config), ASHLAR_OK);
  for (uint64_t k = 0; k < 4; k++) {
    const uint64_t key[] = {7, 3, 9, 11};
    assert_int_equal(ashlar_stream_register(good, key[k]).stream, (int32_t)k);
  }
  assert_int_equal(ashlar_stream_gone(good, 2, CALLER), ASHLAR_OK);
  make_blocks();
  make_pools();
  make_requests();
  make_uses();
  slot.rest = slot.third;
  while (good->next[slot.rest] != -1) {
    slot.rest = good->next[slot.rest];
  }
  slot.waits = ashlar_empty_cache_begin(good, -1, CALLER).request;
  assert_int_equal(ashlar_capture_begin(good, 1), ASHLAR_OK);
  freed(slot.deferred, 1);
  assert_int_equal(ashlar_capture_end(good, 1), ASHLAR_OK);
  return 0;
}

static int drop_good(void **state)
{
  (void)state;
  ashlar_storage_delete(good);
  ashlar_storage_delete(broken);
  return 0;
}

/* The good state has blocks of every kind, requests that hold some, and uses that wait. */
static void the_good_state_passes(void **state)
{
  char why[WHY];
  const struct ashlar_finding finding = ashlar_check(good);
  (void)state;
  assert_int_equal(good->state[slot.hole], ASHLAR_FREE);
  assert_int_equal(good->next[slot.hole], slot.third);
  assert_int_equal(good->state[slot.rest], ASHLAR_FREE);
  assert_int_equal(good->state[slot.whole], ASHLAR_FREE);
  assert_int_equal(good->next[slot.whole], -1);
  assert_int_equal(good->state[slot.queued], ASHLAR_PENDING);
  assert_int_equal(good->state[slot.deferred], ASHLAR_PENDING);
  assert_int_equal(good->request[slot.waits].step, ASHLAR_STEP_WAIT);
  assert_true(good->queue_head[ASHLAR_STREAM_DEFERRED] > 0);
  assert_true(good->bytes[ASHLAR_UNMAPPED] > 0);
  assert_true(good->spare_count > 0);
  assert_true(good->use_spare_count > 0);
  assert_int_equal(good->in_flight, 4);
  if (!ashlar_core_check(good, why, sizeof why)) {
    fail_msg("%s", why);
  }
  assert_string_equal(why, "");
  assert_int_equal(finding.clause, -1);
  assert_int_equal(finding.at, -1);
}

/* An empty manager passes, whatever its settings, and before it has any. */
static void the_empty_state_passes(void **state)
{
  char why[WHY];
  (void)state;
  ashlar_storage_clear(broken);
  assert_int_equal(ashlar_check(broken).clause, ASHLAR_CLAUSE_VALID_CONFIG);
  assert_int_equal(ashlar_manager_init(broken, ashlar_default_config()), ASHLAR_OK);
  assert_true(ashlar_core_check(broken, why, sizeof why));
}

/* Both checks name the clause that the fault is of. */
static void must_be_seen(const struct core_check_fault *fault, size_t number)
{
  char why[WHY];
  const char *name = ashlar_check_name(fault->clause);
  const size_t length = strlen(fault->naive);
  struct ashlar_finding finding;
  ashlar_storage_copy(broken, good);
  assert_true(ashlar_storage_same(broken, good));
  fault->fault(broken, &slot);
  finding = ashlar_check(broken);
  if (finding.clause != fault->clause || finding.at < 0) {
    fail_msg("fault %zu of %s was seen as %s at %d", number, name,
             ashlar_check_name(finding.clause), (int)finding.at);
  }
  assert_false(ashlar_core_check(broken, why, sizeof why));
  if (strncmp(why, fault->naive, length) != 0 || why[length] != ':' || strchr(why, ',') != NULL) {
    fail_msg("fault %zu of %s was seen as %s and not as %s", number, name, why, fault->naive);
  }
}

/* Oracle: REQ-VALID. */
static void each_fault_breaks_its_clause(void **state)
{
  size_t seen = 0;
  (void)state;
  for (size_t t = 0; t < FAULT_TABLES; t++) {
    for (size_t i = 0; FAULTS[t][i].fault != NULL; i++) {
      must_be_seen(&FAULTS[t][i], i);
      seen++;
    }
  }
  print_message("%zu faults seen\n", seen);
}

/* The slot where it is broken is named, and of two clauses the first; the state stays as it was, broken or not. Covers
   REQ-VALID. */
static void the_place_is_named(void **state)
{
  struct ashlar_manager *copy = ashlar_storage_new();
  const int32_t places[] = {slot.first, slot.third, slot.large, slot.other};
  (void)state;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    const int32_t at = places[i];
    struct ashlar_finding finding;
    ashlar_storage_copy(broken, good);
    broken->references[at] = 0;
    ashlar_storage_copy(copy, broken);
    finding = ashlar_check(broken);
    assert_int_equal(finding.clause, ASHLAR_CLAUSE_BLOCKS_REFERENCED);
    assert_int_equal(finding.at, at);
    broken->growable[slot.whole] = 2;
    finding = ashlar_check(broken);
    assert_int_equal(finding.clause, ASHLAR_CLAUSE_UNMAPPED_GROWABLE);
    assert_int_equal(finding.at, slot.whole);
    broken->growable[slot.whole] = 0;
    assert_true(ashlar_storage_same(broken, copy));
    broken->references[at] = good->references[at];
    assert_int_equal(ashlar_check(broken).clause, -1);
    assert_true(ashlar_storage_same(broken, good));
  }
  ashlar_storage_delete(copy);
}

/* Whether there is a fault for a clause, of the one check or of the other. */
static bool has_fault(int32_t clause, const char *naive)
{
  for (size_t t = 0; t < FAULT_TABLES; t++) {
    for (size_t i = 0; FAULTS[t][i].fault != NULL; i++) {
      if (FAULTS[t][i].clause == clause || strcmp(FAULTS[t][i].naive, naive) == 0) {
        return true;
      }
    }
  }
  return false;
}

static void each_clause_has_a_fault(void **state)
{
  size_t clauses = 0;
  (void)state;
  for (int32_t clause = 0; clause < ASHLAR_CLAUSES; clause++) {
    assert_true(strlen(ashlar_check_name(clause)) > 0);
    for (int32_t other = 0; other < clause; other++) {
      assert_string_not_equal(ashlar_check_name(clause), ashlar_check_name(other));
    }
    if (!has_fault(clause, "")) {
      fail_msg("no fault for %s", ashlar_check_name(clause));
    }
  }
  for (const char *name = ashlar_core_clause(0); name != NULL; name = ashlar_core_clause(clauses)) {
    if (!has_fault(-1, name)) {
      fail_msg("no fault for %s", name);
    }
    clauses++;
  }
  assert_true(clauses > 0);
  assert_string_equal(ashlar_check_name(-1), "");
  assert_string_equal(ashlar_check_name(ASHLAR_CLAUSES), "");
  print_message("%d clauses, and %zu\n", (int)ASHLAR_CLAUSES, clauses);
}

/* --- clauses by themselves --- */

typedef int32_t group(const struct ashlar_manager *m, int32_t clause);
static group *const GROUPS[] = {ashlar_check_blocks,   ashlar_check_map,   ashlar_check_uses,
                                ashlar_check_queues,   ashlar_check_pools, ashlar_check_state,
                                ashlar_check_requests, ashlar_check_stats};
enum { GROUP_COUNT = sizeof GROUPS / sizeof GROUPS[0] };

/* A clause is of one group; the others say nothing of it, whatever is broken. */
static void each_clause_is_of_one_group(void **state)
{
  (void)state;
  for (size_t t = 0; t < FAULT_TABLES; t++) {
    for (const struct core_check_fault *fault = FAULTS[t]; fault->fault != NULL; fault++) {
      size_t seen = 0;
      ashlar_storage_copy(broken, good);
      fault->fault(broken, &slot);
      for (size_t g = 0; g < GROUP_COUNT; g++) {
        seen += GROUPS[g](broken, fault->clause) == -1 ? 0 : 1;
      }
      if (seen != 1) {
        fail_msg("%zu groups see %s", seen, ashlar_check_name(fault->clause));
      }
    }
  }
}

/* What one clause finds is not left to it alone: a later one that is asked by itself does not believe it. */
static void later_clauses_find_it_too(void **state)
{
  const int32_t last = good->first_use[slot.third] - 1;
  (void)state;
  ashlar_storage_copy(broken, good);
  broken->queue_head[1] = 0;
  broken->queue_tail[1] = 0;
  assert_int_equal(ashlar_check(broken).clause, ASHLAR_CLAUSE_QUEUE_FIRST);
  assert_int_equal(ashlar_check_queues(broken, ASHLAR_CLAUSE_QUEUE_LAST),
                   ashlar_check_queues(broken, ASHLAR_CLAUSE_QUEUE_FIRST));

  ashlar_storage_copy(broken, good);
  broken->first_use[slot.third] = broken->use_more[last] + 1;
  assert_int_equal(ashlar_check(broken).clause, ASHLAR_CLAUSE_CHAIN_LESS);
  assert_int_equal(ashlar_check_uses(broken, ASHLAR_CLAUSE_CHAIN_STARTS), slot.third);

  ashlar_storage_copy(broken, good);
  broken->request[slot.maps].run = -1;
  assert_int_equal(ashlar_check(broken).clause, ASHLAR_CLAUSE_RUNS_BEGIN);
  assert_int_equal(ashlar_check_requests(broken, ASHLAR_CLAUSE_REQUESTS_ASKED), slot.maps);
}

/* A request that empties one pool, not all: of a stream it needs none. */
static void a_request_of_one_pool_passes(void **state)
{
  char why[WHY];
  (void)state;
  ashlar_storage_copy(broken, good);
  broken->request[slot.waits].home = ashlar_home(4, ASHLAR_CLASS_SMALL, ASHLAR_STREAMS - 1);
  if (!ashlar_core_check(broken, why, sizeof why)) {
    fail_msg("%s", why);
  }
}

/* A group is looked at only where it is asked for. */
static void parts_are_separate(void **state)
{
  char why[WHY];
  (void)state;
  ashlar_storage_copy(broken, good);
  broken->bucket[3] = -1;
  assert_true(
      ashlar_core_check_parts(broken, ASHLAR_CORE_WHOLE - ASHLAR_CORE_MAP, why, sizeof why));
  assert_false(ashlar_core_check_parts(broken, ASHLAR_CORE_MAP, why, sizeof why));
}

/* --- any bytes --- */

/* An array, of which the first entries are in use. */
struct field {
  size_t at;
  size_t width;
  size_t count;
};

#define FIELD(name, used)                                                                          \
  {                                                                                                \
    offsetof(struct ashlar_manager, name), sizeof good->name[0], (size_t)(used)                    \
  }

/* A few bits, a small number, or any number, at an entry that is in use, or at any byte. */
static void corrupt(uint64_t *seed)
{
  const struct field fields[] = {
      FIELD(addr, good->top),
      FIELD(size, good->top),
      FIELD(age, good->top),
      FIELD(base, good->top),
      FIELD(home, good->top),
      FIELD(list, good->top),
      FIELD(prev, good->top),
      FIELD(next, good->top),
      FIELD(state, good->top),
      FIELD(growable, good->top),
      FIELD(hold, good->top),
      FIELD(holder, good->top),
      FIELD(references, good->top),
      FIELD(entered, good->top),
      FIELD(first_use, good->top),
      FIELD(spare, good->spare_count),
      FIELD(order, good->top),
      FIELD(place, good->top),
      FIELD(bytes, ASHLAR_STATES),
      FIELD(bucket, ASHLAR_BUCKETS),
      FIELD(chain, good->top),
      FIELD(in_map, good->top),
      FIELD(stream_key, good->stream_count),
      FIELD(stream_order, good->stream_count),
      FIELD(stream_rank, good->stream_count),
      FIELD(stream_gone, good->stream_count),
      FIELD(pool_state, 6),
      FIELD(pool_uses, 6),
      FIELD(pool_segments, 6),
      FIELD(pool_serial, 6),
      FIELD(scope_serial, 6),
      FIELD(use_block, good->use_top),
      FIELD(use_stream, good->use_top),
      FIELD(use_serial, good->use_top),
      FIELD(use_number, good->use_top),
      FIELD(use_less, good->use_top),
      FIELD(use_more, good->use_top),
      FIELD(use_next, good->use_top),
      FIELD(use_spare, good->use_spare_count),
      FIELD(queue_head, good->stream_count),
      FIELD(queue_tail, good->stream_count),
      FIELD(submitted, good->stream_count),
      FIELD(completed, good->stream_count),
      FIELD(request, ASHLAR_REQUESTS),
      FIELD(stat, ASHLAR_STATS),
  };
  enum { COUNT = sizeof fields / sizeof fields[0], ANY_BYTE = 4 };
  unsigned char *bytes = (unsigned char *)broken;
  const size_t which = ashlar_random_below(seed, COUNT + ANY_BYTE);
  if (which < COUNT) {
    const struct field field = fields[which];
    const uint64_t entry = ashlar_random_below(seed, field.count);
    uint64_t value = ashlar_random_below(seed, 2 * (uint64_t)good->top) - 2;
    if (field.width > sizeof value || ashlar_random_below(seed, 2) == 0) {
      bytes[field.at + entry * field.width + ashlar_random_below(seed, field.width)] ^=
          (unsigned char)(1U << ashlar_random_below(seed, 8));
    } else {
      value = ashlar_random_below(seed, 4) == 0 ? ashlar_random(seed) : value;
      memcpy(bytes + field.at + entry * field.width, &value, field.width);
    }
  } else {
    bytes[ashlar_random_below(seed, sizeof *broken)] = (unsigned char)ashlar_random(seed);
  }
}

/* Neither check reads what is not there, or goes on for ever; they are each other's oracle. Oracle: REQ-VALID. */
static void any_bytes_are_judged_alike(void **state)
{
  char why[WHY];
  uint64_t seed = 1;
  int refused = 0;
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t changes = 1 + ashlar_random_below(&seed, round % 4 == 0 ? 20 : 2);
    struct ashlar_finding finding;
    ashlar_storage_copy(broken, good);
    for (uint64_t k = 0; k < changes; k++) {
      corrupt(&seed);
    }
    finding = ashlar_check(broken);
    if (ashlar_core_check_parts(broken, ASHLAR_CORE_WHOLE, why, sizeof why) !=
        (finding.clause == -1)) {
      fail_msg("round %d: core/check says \"%s\" %d, tests/core_check says \"%s\"", round,
               ashlar_check_name(finding.clause), (int)finding.at, why);
    }
    refused += finding.clause != -1 ? 1 : 0;
  }
  assert_true(refused > ROUNDS / 2);
  assert_true(refused < ROUNDS);
  print_message("%d of %d states refused\n", refused, ROUNDS);
}

/* The clause of a manager of nothing but noise is one of the first. */
static void noise_is_refused(void **state)
{
  char why[WHY];
  uint64_t seed = 2;
  unsigned char *bytes = (unsigned char *)broken;
  (void)state;
  for (int round = 0; round < 20; round++) {
    for (size_t k = 0; k < sizeof *broken; k++) {
      bytes[k] = (unsigned char)ashlar_random(&seed);
    }
    assert_int_equal(ashlar_check(broken).clause, ASHLAR_CLAUSE_INDEX_BIJECTIVE);
    assert_false(ashlar_core_check(broken, why, sizeof why));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_good_state_passes),        cmocka_unit_test(the_empty_state_passes),
      cmocka_unit_test(each_fault_breaks_its_clause), cmocka_unit_test(each_clause_has_a_fault),
      cmocka_unit_test(each_clause_is_of_one_group),  cmocka_unit_test(later_clauses_find_it_too),
      cmocka_unit_test(a_request_of_one_pool_passes), cmocka_unit_test(parts_are_separate),
      cmocka_unit_test(any_bytes_are_judged_alike),   cmocka_unit_test(noise_is_refused),
      cmocka_unit_test(the_place_is_named),
  };
  return cmocka_run_group_tests(tests, make_good, drop_good);
}
