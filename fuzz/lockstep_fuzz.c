/* lockstep_fuzz.c - the core and the reference model, the same calls on both: every step, address, status, statistic and
 * block is compared after each, and the whole state of the core is checked.
 *
 * Compared are the operations that the core has. Two things of the model are not built in the core yet: `complete` asks
 * the device once more at the end (REQ-LADDER-resort), which is refused here and then forgotten; and it takes calls
 * while a request is in flight (REQ-ATOMIC-flight), which are made in `faithful` only, where both refuse them.
 *
 * Oracle of REQ-SIZE-enough, REQ-SIZE-segment, REQ-SIZE-split, REQ-BESTFIT-least, REQ-BESTFIT-oversize,
 * REQ-LADDER-oversize, REQ-LADDER-all, REQ-LADDER-order, REQ-LADDER-last, REQ-FREE-exact, REQ-FREE-address,
 * REQ-ACCOUNT-net, REQ-ACCOUNT-calls, REQ-ATOMIC-busy.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz/harness.h"
#include "spec/model/model.h"
#include "tests/core_check.h"

#define MIB UINT64_C(1048576)
#define MIDDLE (UINT64_C(1) << 62) /* segments are given upwards and downwards from here */

enum { BLOCKS = 256, STREAMS = 3, REASON = 256 };

/* One block that was handed out, as both name it. */
struct pair {
  int32_t slot;
  uint32_t generation;
  int32_t model_slot;
  uint32_t model_generation;
  uint64_t address;
};

struct run {
  struct ashlar_manager *m;
  struct model *model;
  struct pair block[BLOCKS]; /* all that were handed out, freed or not; the oldest are forgotten */
  uint32_t handed_out;
  struct ashlar_step step; /* while a request is in flight */
  int32_t request;
  bool in_flight;
  uint64_t above;
  uint64_t below;
  uint64_t released; /* the address of the last segment that was released */
  uint64_t resorts;
};

static const struct model_caller NOBODY = {-1, 0};

/* --- what is the same --- */

static FUZZ_ORACLE enum model_step_kind model_kind(enum ashlar_step_kind kind)
{
  static const enum model_step_kind KINDS[] = {MODEL_STEP_DONE, MODEL_STEP_ALLOCATE,
                                               MODEL_STEP_RELEASE, MODEL_STEP_OUT_OF_MEMORY,
                                               MODEL_STEP_ERROR};
  return KINDS[kind];
}

static FUZZ_ORACLE bool same_status(enum ashlar_status status, enum model_status expected)
{
  switch (status) {
  case ASHLAR_OK:
    return expected == MODEL_OK;
  case ASHLAR_ERROR_TOO_LARGE:
    return expected == MODEL_ERROR_TOO_LARGE;
  case ASHLAR_ERROR_BUSY:
    return expected == MODEL_ERROR_BUSY;
  case ASHLAR_ERROR_NO_REQUEST:
    return expected == MODEL_ERROR_NO_REQUEST;
  case ASHLAR_ERROR_STREAM:
    return expected == MODEL_ERROR_STREAM;
  case ASHLAR_ERROR_DUPLICATE:
    return expected == MODEL_ERROR_DUPLICATE;
  case ASHLAR_ERROR_UNKNOWN_ADDRESS:
    return expected == MODEL_ERROR_FOREIGN || expected == MODEL_ERROR_INTERIOR ||
           expected == MODEL_ERROR_FREED;
  case ASHLAR_ERROR_SLOT:
    return expected == MODEL_ERROR_SLOT;
  case ASHLAR_ERROR_STALE_HANDLE:
    return expected == MODEL_ERROR_STALE;
  case ASHLAR_ERROR_RANGE:
    return expected == MODEL_ERROR_RANGE;
  case ASHLAR_ERROR_SETTING:
    return expected == MODEL_ERROR_SETTING;
  case ASHLAR_ERROR_CAPACITY:
  default:
    return false;
  }
}

static FUZZ_ORACLE bool same_counter(struct ashlar_counter a, struct model_counter b)
{
  return a.current == b.current && a.peak == b.peak && a.allocated == b.allocated &&
         a.freed == b.freed;
}

static FUZZ_ORACLE void compare_statistics(const struct run *run)
{
  const struct ashlar_manager *m = run->m;
  for (int32_t kind = 0; kind < ASHLAR_STAT_KINDS; kind++) {
    for (int32_t column = 0; column < ASHLAR_STAT_COLUMNS; column++) {
      const struct ashlar_counter a = m->stat[kind * ASHLAR_STAT_COLUMNS + column];
      const struct model_counter b = run->model->statistic[kind][column];
      FUZZ_CHECK(same_counter(a, b),
                 "statistic %" PRId32 ", column %" PRId32 ": %" PRIu64 " %" PRIu64 " %" PRIu64
                 " %" PRIu64 ", expected %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 kind, column, a.current, a.peak, a.allocated, a.freed, b.current, b.peak,
                 b.allocated, b.freed);
    }
  }
  FUZZ_CHECK(same_counter(m->oversize_allocations,
                          run->model->statistic[MODEL_OVERSIZE_ALLOCATIONS][MODEL_ALL]),
             "oversize allocations: %" PRIu64, m->oversize_allocations.current);
  FUZZ_CHECK(
      same_counter(m->oversize_segments, run->model->statistic[MODEL_OVERSIZE_SEGMENTS][MODEL_ALL]),
      "oversize segments: %" PRIu64, m->oversize_segments.current);
  const struct model_calls calls = run->model->calls;
  FUZZ_CHECK(m->alloc_retries == calls.alloc_retries, "retries: %" PRIu64, m->alloc_retries);
  FUZZ_CHECK(m->ooms == calls.ooms, "out of memory: %" PRIu64, m->ooms);
  FUZZ_CHECK(m->sync_all_streams == calls.sync_all_streams - run->resorts,
             "waits: %" PRIu64 ", expected %" PRIu64, m->sync_all_streams,
             calls.sync_all_streams - run->resorts);
  FUZZ_CHECK(m->device_allocs == calls.device_allocs, "device allocations: %" PRIu64,
             m->device_allocs);
  FUZZ_CHECK(m->device_frees == calls.device_frees, "device frees: %" PRIu64, m->device_frees);
}

static FUZZ_ORACLE int32_t model_block_at(const struct run *run, uint64_t address)
{
  for (int32_t i = 0; i < run->model->blocks; i++) {
    const struct model_block block = run->model->block[i];
    if (block.address == address && (block.state == MODEL_FREE || block.state == MODEL_ALLOCATED)) {
      return i;
    }
  }
  return -1;
}

static FUZZ_ORACLE void compare_block(const struct run *run, int32_t slot)
{
  const struct ashlar_block_view a = ashlar_block(run->m, slot);
  const int32_t found = model_block_at(run, a.address);
  FUZZ_CHECK(found != -1, "a block at 0x%" PRIx64 ", expected none", a.address);
  const struct model_block b = run->model->block[found];
  const struct model_segment segment = run->model->segment[b.segment];
  FUZZ_CHECK(a.size == b.size && a.requested == b.requested,
             "the block at 0x%" PRIx64 " has %" PRIu64 " bytes of %" PRIu64 ", expected %" PRIu64
             " of %" PRIu64,
             a.address, a.size, a.requested, b.size, b.requested);
  FUZZ_CHECK((a.state == ASHLAR_ALLOCATED) == (b.state == MODEL_ALLOCATED),
             "the block at 0x%" PRIx64 " is in state %d", a.address, a.state);
  FUZZ_CHECK((a.pool == ASHLAR_CLASS_SMALL) == segment.small && a.stream == segment.stream,
             "the block at 0x%" PRIx64 " is of pool %" PRId32 ", stream %" PRId32, a.address,
             a.pool, a.stream);
  FUZZ_CHECK(run->m->config.order == ASHLAR_ORDER_ADDRESS || a.age == segment.age,
             "the block at 0x%" PRIx64 " has age %" PRIu64 ", expected %" PRIu64, a.address, a.age,
             segment.age);
  FUZZ_CHECK((a.prev == -1) == (b.address == segment.address) &&
                 (a.next == -1) == (b.address + b.size == segment.address + segment.size),
             "the block at 0x%" PRIx64 " has neighbours %" PRId32 ", %" PRId32, a.address, a.prev,
             a.next);
}

static FUZZ_ORACLE void compare(const struct run *run)
{
  char why[REASON];
  int32_t blocks = 0;
  int32_t expected = 0;
  FUZZ_CHECK(ashlar_core_check(run->m, why, sizeof why), "the state is broken: %s", why);
  for (int32_t i = 0; i < ashlar_slot_limit(run->m); i++) {
    if (ashlar_block(run->m, i).state != ASHLAR_UNUSED) {
      compare_block(run, i);
      blocks++;
    }
  }
  for (int32_t i = 0; i < run->model->blocks; i++) {
    const enum model_block_state state = run->model->block[i].state;
    expected += state == MODEL_FREE || state == MODEL_ALLOCATED ? 1 : 0;
  }
  FUZZ_CHECK(blocks == expected, "%" PRId32 " blocks, expected %" PRId32, blocks, expected);
  compare_statistics(run);
  fuzz_operations++;
}

/* --- calls --- */

/* What is left of the model's ladder when the core's is at its end. */
static FUZZ_ORACLE struct model_step after_resort(struct run *run, struct ashlar_step step,
                                                  struct model_step expected)
{
  if (step.kind == ASHLAR_STEP_OUT_OF_MEMORY && expected.kind == MODEL_STEP_ALLOCATE &&
      run->m->config.policy == ASHLAR_POLICY_COMPLETE) {
    run->resorts++;
    return model_resume(run->model, expected.request, MODEL_REFUSED, 0);
  }
  return expected;
}

/* A step of the core and that of the model; the block that was handed out is remembered. */
static void take(struct run *run, struct ashlar_step step, struct model_step first)
{
  const struct model_step expected = after_resort(run, step, first);
  FUZZ_SAY("  step %d status %d: slot %" PRId32 " at 0x%" PRIx64 ", %" PRIu64 " bytes",
           (int)step.kind, (int)step.status, step.slot, step.address, step.bytes);
  FUZZ_CHECK(model_kind(step.kind) == expected.kind, "step %d, expected %d", (int)step.kind,
             (int)expected.kind);
  FUZZ_CHECK(same_status(step.status, expected.status), "status %d, expected %d", (int)step.status,
             (int)expected.status);
  if (step.kind != ASHLAR_STEP_ERROR) {
    FUZZ_CHECK(step.bytes == expected.bytes, "%" PRIu64 " bytes, expected %" PRIu64, step.bytes,
               expected.bytes);
  }
  if (step.kind == ASHLAR_STEP_RELEASE || step.kind == ASHLAR_STEP_DONE) {
    FUZZ_CHECK(step.address == expected.address, "at 0x%" PRIx64 ", expected 0x%" PRIx64,
               step.address, expected.address);
    FUZZ_CHECK((step.slot == -1) == (expected.slot == -1), "slot %" PRId32, step.slot);
  }
  if (step.kind == ASHLAR_STEP_DONE && step.slot != -1) {
    run->block[run->handed_out % BLOCKS] =
        (struct pair){step.slot, step.generation, expected.slot, expected.generation, step.address};
    run->handed_out++;
  }
  run->in_flight = step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RELEASE;
  run->step = step;
  run->request = expected.request;
  compare(run);
}

static bool is_room(const struct run *run)
{
  int32_t blocks = 0;
  for (int32_t i = 0; i < ashlar_slot_limit(run->m); i++) {
    blocks += ashlar_block(run->m, i).state != ASHLAR_UNUSED ? 1 : 0;
  }
  return blocks + 2 <= ASHLAR_SLOTS;
}

static uint64_t draw_bytes(struct fuzz_input *in)
{
  static const uint64_t TOPS[] = {512,      4096,     MIB / 2,  MIB,      MIB + 512,
                                  10 * MIB, 11 * MIB, 24 * MIB, 33 * MIB, 44 * MIB};
  const uint8_t form = fuzz_byte(in);
  return form < 192 ? TOPS[form % 10] - (form / 64) * (uint64_t)fuzz_byte(in) : fuzz_size(in);
}

static void allocate(struct run *run, struct fuzz_input *in)
{
  const int32_t stream = (int32_t)fuzz_below(in, STREAMS + 2) - 1;
  const uint64_t bytes = draw_bytes(in);
  const bool room = is_room(run);
  FUZZ_SAY("allocate %" PRIu64 " bytes on stream %" PRId32, bytes, stream);
  if (!run->in_flight) {
    const int32_t slot = ashlar_choose(run->m, bytes, stream);
    const int32_t expected = model_choose(run->model, bytes, stream, NOBODY);
    FUZZ_CHECK((slot == -1) == (expected == -1) &&
                   (slot == -1 ||
                    ashlar_block(run->m, slot).address == run->model->block[expected].address),
               "choice: slot %" PRId32, slot);
  }
  const struct ashlar_step step = ashlar_allocate_begin(run->m, bytes, stream);
  if (step.kind == ASHLAR_STEP_ERROR && step.status == ASHLAR_ERROR_CAPACITY) {
    FUZZ_CHECK(!room, "refused for want of slots, of which there are some");
    compare(run);
    return;
  }
  const bool was_in_flight = run->in_flight;
  const struct ashlar_step waiting = run->step;
  const int32_t request = run->request;
  take(run, step, model_allocate_begin(run->model, bytes, stream, NOBODY));
  if (was_in_flight) {
    run->in_flight = true;
    run->step = waiting;
    run->request = request;
  }
}

static bool is_apart(const struct run *run, uint64_t address, uint64_t bytes)
{
  bool apart = true;
  for (int32_t i = 0; i < ashlar_slot_limit(run->m); i++) {
    const struct ashlar_block_view block = ashlar_block(run->m, i);
    apart = apart && (block.state == ASHLAR_UNUSED || address + bytes <= block.address ||
                      block.address + block.size <= address);
  }
  return apart;
}

/* Where the device puts a segment: beside the one before, on either side, where one was released, or where none can be. */
static uint64_t draw_address(struct run *run, struct fuzz_input *in, uint64_t bytes)
{
  const uint32_t form = fuzz_below(in, 8);
  if (form == 0) {
    return run->above + 1 + fuzz_below(in, 256);
  }
  if (form == 1 && run->released != 0 && run->released + bytes <= run->above &&
      is_apart(run, run->released, bytes)) {
    return run->released;
  }
  if (form < 4 && bytes <= run->below) {
    run->below -= bytes;
    return run->below;
  }
  const uint64_t address = run->above;
  run->above += bytes;
  return address;
}

static void go_on(struct run *run, struct fuzz_input *in)
{
  const uint32_t answer = fuzz_below(in, 8);
  const uint64_t bytes = run->step.bytes;
  if (answer == 0) {
    FUZZ_SAY("abandon");
    FUZZ_CHECK(ashlar_abandon(run->m) == ASHLAR_OK, "not abandoned");
    FUZZ_CHECK(model_abandon(run->model, run->request) == MODEL_OK, "no request to abandon");
    run->in_flight = false;
    compare(run);
    return;
  }
  const bool allocates = run->step.kind == ASHLAR_STEP_ALLOCATE;
  run->released = allocates ? run->released : run->step.address;
  const bool refused = allocates && (answer < 4 || run->above > UINT64_MAX / 2 + MIDDLE - bytes);
  const uint64_t address = allocates && !refused ? draw_address(run, in, bytes) : 0;
  FUZZ_SAY(refused ? "  refused" : "  performed, 0x%" PRIx64, address);
  const struct ashlar_step step =
      ashlar_resume(run->m, refused ? ASHLAR_OUTCOME_REFUSED : ASHLAR_OUTCOME_DONE, address);
  take(run, step,
       model_resume(run->model, run->request, refused ? MODEL_REFUSED : MODEL_PERFORMED, address));
}

/* By handle or by address: of a block in use, of one freed before, or of none. */
static void free_block(struct run *run, struct fuzz_input *in)
{
  const uint32_t known = run->handed_out < BLOCKS ? run->handed_out : BLOCKS;
  const struct pair block = run->block[(run->handed_out - 1 - fuzz_byte(in) % known) % BLOCKS];
  const bool by_handle = fuzz_below(in, 2) == 0;
  const uint64_t address = block.address + (uint64_t)(fuzz_below(in, 8) == 0 ? 256 : 0);
  FUZZ_SAY("free %s: slot %" PRId32 " generation %" PRIu32 ", 0x%" PRIx64,
           by_handle ? "by handle" : "by address", block.slot, block.generation, address);
  const enum ashlar_status status = by_handle ? ashlar_free(run->m, block.slot, block.generation)
                                              : ashlar_free_address(run->m, address);
  const struct model_freed expected =
      by_handle ? model_free(run->model, block.model_slot, block.model_generation, NOBODY)
                : model_free_address(run->model, address, NOBODY);
  FUZZ_CHECK(same_status(status, expected.status), "free: status %d, expected %d", (int)status,
             (int)expected.status);
  compare(run);
}

static void empty_cache(struct run *run)
{
  FUZZ_SAY("empty cache");
  take(run, ashlar_empty_cache_begin(run->m), model_empty_cache_begin(run->model, -1, NOBODY));
}

static void start(struct run *run, struct fuzz_input *in)
{
  struct ashlar_config config = ashlar_default_config();
  struct model_config expected = model_default_config();
  const uint8_t form = fuzz_byte(in);
  config.policy = form % 2 == 0 ? ASHLAR_POLICY_COMPLETE : ASHLAR_POLICY_FAITHFUL;
  config.order = form / 2 % 2 == 0 ? ASHLAR_ORDER_ADDRESS : ASHLAR_ORDER_SEGMENT;
  config.max_split_size = form / 4 % 2 == 0 ? UINT64_MAX : 24 * MIB;
  config.large_segment_size = form / 8 % 2 == 0 ? 20 * MIB : 12 * MIB;
  config.divisions[0] = form / 16 % 4 == 0 ? 0 : UINT32_C(1) << form / 16 % 4;
  config.divisions[3] = config.divisions[0];
  if (form / 64 % 4 == 3) {
    config.large_segment_size = fuzz_size(in);
    config.divisions[0] = fuzz_byte(in);
  }
  expected.policy = form % 2 == 0 ? MODEL_COMPLETE : MODEL_FAITHFUL;
  expected.order = config.order;
  expected.max_split_size = config.max_split_size;
  expected.large_segment_size = config.large_segment_size;
  expected.division[0] = config.divisions[0];
  expected.division[3] = config.divisions[3];
  FUZZ_SAY("policy %" PRIu32 " order %" PRIu32 " split limit %" PRIu64 " segments %" PRIu64
           " divisions %" PRIu32,
           config.policy, config.order, config.max_split_size, config.large_segment_size,
           config.divisions[0]);
  const enum ashlar_status status = ashlar_manager_init(run->m, config);
  FUZZ_CHECK(same_status(status, model_init(run->model, expected)), "init: status %d", (int)status);
  if (status != ASHLAR_OK) {
    (void)ashlar_manager_init(run->m, ashlar_default_config());
    (void)model_init(run->model, model_default_config());
  }
  for (uint32_t i = 0; i < STREAMS; i++) {
    const uint64_t key = fuzz_byte(in);
    const struct ashlar_registration made = ashlar_stream_register(run->m, key);
    const struct model_registration wanted = model_stream_register(run->model, key);
    FUZZ_SAY("stream %" PRId32 ": key %" PRIu64, made.stream, key);
    FUZZ_CHECK(same_status(made.status, wanted.status) && made.stream == wanted.number,
               "stream %" PRId32 ", status %d", made.stream, (int)made.status);
  }
}

static void run_input(struct fuzz_input *in)
{
  static struct ashlar_manager storage;
  static struct model model;
  struct run run = {.m = &storage, .model = &model, .above = MIDDLE, .below = MIDDLE};
  run.block[0] = (struct pair){.slot = -1, .model_slot = -1};
  run.handed_out = 1;
  memset(&storage, 0, sizeof storage);
  memset(&model, 0, sizeof model);
  start(&run, in);
  while (fuzz_more(in)) {
    const uint32_t what = fuzz_below(in, 8);
    const bool busy = run.in_flight && run.m->config.policy == ASHLAR_POLICY_FAITHFUL;
    if (run.in_flight && (what < 6 || !busy)) {
      go_on(&run, in);
    } else if (what < 4) {
      allocate(&run, in);
    } else if (what < 7 || busy) {
      free_block(&run, in);
    } else {
      empty_cache(&run);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run_input);
}
