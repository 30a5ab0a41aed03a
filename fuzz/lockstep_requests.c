/* lockstep_requests.c - requests, and the device that performs, refuses or fails their steps as the input has it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "fuzz/lockstep.h"

enum { SIZE_FORMS = 4, AT_ONCE = 24, ABANDONED = 251 /* of 256 */ };

#define HIGHEST ((UINT64_C(1) << 63) + (UINT64_C(1) << 62)) /* the device has no addresses above */

struct model_caller lockstep_caller(struct fuzz_input *in)
{
  const uint32_t form = fuzz_below(in, 64);
  const int32_t stream = form < 40 ? -1 : (int32_t)form % (STREAMS + 1);
  return (struct model_caller){stream, form % 3};
}

int32_t lockstep_stream(const struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t form = fuzz_below(in, 128);
  const int32_t streams = run->model->streams;
  if (form >= 126) {
    return form == 126 ? streams : -1;
  }
  int32_t stream = (int32_t)form % (streams < STREAMS ? streams : STREAMS);
  for (int32_t k = 0; k < STREAMS && form % 16 != 0 && run->model->stream[stream].gone; k++) {
    stream = (stream + 1) % streams; /* mostly one that is there */
  }
  return stream;
}

/* --- what comes of a request --- */

static int32_t outcome_of(struct model_step step)
{
  if (step.kind == MODEL_STEP_ERROR) {
    return (int32_t)step.status;
  }
  return step.kind == MODEL_STEP_DONE && step.slot == -1
             ? (int32_t)OUTCOME_NONE
             : (int32_t)OUTCOME_STEP + (int32_t)step.kind;
}

/* What the model says is in flight, or handed out. */
static void take(struct lockstep *run, struct model_step step, struct model_step expected)
{
  lockstep_same_step(step, expected);
  if (model_step_is_open(expected)) {
    run->flight[run->flights] = (struct flight){expected, step.request};
    run->flights++;
  } else if (expected.kind == MODEL_STEP_DONE && expected.slot != -1) {
    lockstep_add_live(run, (struct pair){step.slot, step.generation, expected.slot,
                                         expected.generation, expected.address});
  }
  lockstep_compare(run);
}

/* The rung on which the request began to wait, or ended. */
static int32_t rung_of(const struct lockstep *run, struct model_step step)
{
  return step.request == -1 ? -1 : run->model->request[step.request].rung;
}

/* --- the device --- */

static bool is_apart(const struct lockstep *run, uint64_t address, uint64_t bytes)
{
  const struct model *m = run->model;
  bool apart = true;
  for (int32_t i = 0; i < m->segments && apart; i++) {
    const struct model_segment *s = &m->segment[i];
    apart = !s->used || address + bytes <= s->address || s->address + s->size <= address;
  }
  return apart;
}

/* Where the device puts a segment or range: beside the one before, on either side, or where one was released. */
static uint64_t draw_address(struct lockstep *run, struct fuzz_input *in, uint64_t bytes)
{
  const uint32_t form = fuzz_below(in, 32);
  if (form == 0) {
    return run->above + 1 + fuzz_below(in, 256); /* not aligned */
  }
  if (form < 10 && bytes <= run->room && is_apart(run, run->released, bytes)) {
    return run->released;
  }
  if (form < 18 && bytes <= run->below) {
    run->below -= bytes;
    return run->below;
  }
  const uint64_t address = run->above + (form % 4 == 0 ? 2 * MIB : 0);
  run->above = address + bytes;
  return address;
}

/* --- requests --- */

static uint64_t draw_bytes(const struct lockstep *run, struct fuzz_input *in)
{
  static const uint64_t TOPS[SIZE_FORMS][8] = {
      {512, 1024, 1024, 2048, 4096, 4096, 8192, 65536},
      {512, 4096, MIB / 2, MIB, MIB + 512, 2 * MIB, 10 * MIB, 24 * MIB},
      {MIB + 512, 2 * MIB, 5 * MIB, 9 * MIB, 10 * MIB, 12 * MIB, 20 * MIB, 33 * MIB},
      {12 * MIB, 20 * MIB, 24 * MIB, 33 * MIB, 44 * MIB, 60 * MIB, 80 * MIB, 150 * MIB},
  };
  const uint8_t form = fuzz_byte(in);
  if (form == 249) {
    return 0;
  }
  return form < 249 ? TOPS[run->sizes % SIZE_FORMS][form % 8] - (form / 8) * UINT64_C(13)
                    : fuzz_size(in);
}

static struct model_step begin(struct lockstep *run, uint64_t bytes, int32_t stream,
                               struct model_caller caller)
{
  FUZZ_SAY("allocate %" PRIu64 " bytes on stream %" PRId32 ", caller %" PRId32 " %" PRIu64, bytes,
           stream, caller.stream, caller.thread);
  const struct model_step step = subject_allocate_begin(bytes, stream, caller);
  const struct model_step expected = model_allocate_begin(run->model, bytes, stream, caller);
  lockstep_count(OP_ALLOCATE, outcome_of(expected), rung_of(run, expected));
  take(run, step, expected);
  return expected;
}

void lockstep_allocate(struct lockstep *run, struct fuzz_input *in)
{
  const uint64_t bytes = draw_bytes(run, in);
  const int32_t stream = lockstep_stream(run, in);
  (void)begin(run, bytes, stream, lockstep_caller(in));
}

/* The outcome of the i-th step in flight, and what follows. */
static void resume(struct lockstep *run, int32_t i, enum model_outcome outcome, uint64_t value,
                   enum lockstep_operation operation)
{
  const struct flight flight = run->flight[i];
  const int32_t rung = run->model->request[flight.step.request].rung;
  FUZZ_SAY("resume %" PRId32 " on rung %" PRId32 ": outcome %d, value 0x%" PRIx64, flight.request,
           rung, (int)outcome, value);
  run->flights--;
  run->flight[i] = run->flight[run->flights];
  const struct model_step step = subject_resume(flight.request, outcome, value);
  const struct model_step expected = model_resume(run->model, flight.step.request, outcome, value);
  lockstep_count(operation, outcome_of(expected), rung);
  take(run, step, expected);
}

/* Performs the i-th step in flight as it was meant. */
static void perform(struct lockstep *run, struct fuzz_input *in, int32_t i)
{
  const struct model_step step = run->flight[i].step;
  const bool no_room = run->above > HIGHEST - step.bytes || step.bytes > HIGHEST / 4;
  uint32_t freed = 0;
  switch (step.kind) {
  case MODEL_STEP_ALLOCATE:
    resume(run, i, no_room ? MODEL_REFUSED : MODEL_PERFORMED,
           no_room ? 0 : draw_address(run, in, step.bytes),
           no_room ? OP_ALLOCATE_REFUSED : OP_ALLOCATED);
    break;
  case MODEL_STEP_RESERVE:
    resume(run, i, no_room ? MODEL_FAILED : MODEL_PERFORMED,
           no_room ? 0 : draw_address(run, in, step.bytes),
           no_room ? OP_RESERVE_FAILED : OP_RESERVED);
    break;
  case MODEL_STEP_MAP:
    resume(run, i, MODEL_PERFORMED, 0, OP_MAPPED);
    break;
  case MODEL_STEP_RELEASE:
  case MODEL_STEP_UNRESERVE:
    run->released = step.address;
    run->room = step.bytes;
    resume(run, i, MODEL_PERFORMED, 0,
           step.kind == MODEL_STEP_RELEASE ? OP_RELEASED : OP_UNRESERVED);
    break;
  case MODEL_STEP_UNMAP:
    resume(run, i, MODEL_PERFORMED, 0, OP_UNMAPPED);
    break;
  case MODEL_STEP_WAIT:
    resume(run, i, MODEL_PERFORMED, 0, OP_WAITED);
    break;
  default:
    freed = fuzz_below(in, 2);
    resume(run, i, MODEL_PERFORMED, freed, freed == 1 ? OP_CALLED_BACK_FREED : OP_CALLED_BACK);
    break;
  }
}

/* How the failure of a step is called; `refused` one for want of memory. */
static enum lockstep_operation failure_of(enum model_step_kind kind, bool refused)
{
  switch (kind) {
  case MODEL_STEP_ALLOCATE:
    return refused ? OP_ALLOCATE_REFUSED : OP_ALLOCATE_FAILED;
  case MODEL_STEP_MAP:
    return refused ? OP_MAP_REFUSED : OP_MAP_FAILED;
  case MODEL_STEP_RELEASE:
    return OP_RELEASE_FAILED;
  case MODEL_STEP_RESERVE:
    return OP_RESERVE_FAILED;
  case MODEL_STEP_UNRESERVE:
    return OP_UNRESERVE_FAILED;
  case MODEL_STEP_UNMAP:
    return OP_UNMAP_FAILED;
  case MODEL_STEP_WAIT:
    return OP_WAIT_FAILED;
  default:
    return OP_CALLBACKS_FAILED;
  }
}

static void abandon(struct lockstep *run, int32_t i)
{
  const struct flight flight = run->flight[i];
  const int32_t rung = run->model->request[flight.step.request].rung;
  FUZZ_SAY("abandon %" PRId32, flight.request);
  run->flights--;
  run->flight[i] = run->flight[run->flights];
  const enum model_status status = subject_abandon(flight.request);
  lockstep_same_status("abandon", status, model_abandon(run->model, flight.step.request));
  lockstep_count(OP_ABANDON, (int32_t)OUTCOME_STEP + (int32_t)flight.step.kind, rung);
  lockstep_compare(run);
}

void lockstep_go_on(struct lockstep *run, struct fuzz_input *in)
{
  if (run->flights == 0) {
    lockstep_allocate(run, in);
    return;
  }
  const int32_t i = run->flights == 1 ? 0 : (int32_t)fuzz_below(in, (uint32_t)run->flights);
  const enum model_step_kind kind = run->flight[i].step.kind;
  const uint32_t luck = fuzz_byte(in);
  if (luck >= ABANDONED) {
    abandon(run, i);
  } else if (luck < run->failures) {
    const bool refused = luck % 2 == 1;
    const bool other = kind != MODEL_STEP_ALLOCATE && kind != MODEL_STEP_MAP;
    resume(run, i, refused && other ? MODEL_REFUSED : MODEL_FAILED, 0, failure_of(kind, false));
  } else if (luck % 8 < run->refusals && (kind == MODEL_STEP_ALLOCATE || kind == MODEL_STEP_MAP)) {
    resume(run, i, MODEL_REFUSED, 0, failure_of(kind, true));
  } else {
    perform(run, in, i);
  }
}

/* Performs the steps of a request that has just begun, until it is over. */
static void perform_all(struct lockstep *run, struct fuzz_input *in, int32_t request)
{
  while (run->flights > 0 && run->flight[run->flights - 1].step.request == request) {
    perform(run, in, run->flights - 1);
  }
}

/* Blocks of one size, whose device calls are performed. */
void lockstep_allocate_many(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t count = 1 + fuzz_below(in, AT_ONCE);
  const uint64_t bytes = draw_bytes(run, in);
  const int32_t stream = lockstep_stream(run, in);
  struct model_step step = {.kind = MODEL_STEP_DONE};
  for (uint32_t k = 0; k < count && run->live_count < run->wanted && step.kind != MODEL_STEP_ERROR;
       k++) {
    step = begin(run, bytes, stream, (struct model_caller){-1, 0});
    perform_all(run, in, step.request);
  }
}

static int32_t empty_cache(struct lockstep *run, int32_t pool, struct model_caller caller)
{
  FUZZ_SAY("empty the cache of pool %" PRId32 ", caller %" PRId32, pool, caller.stream);
  const struct model_step step = subject_empty_cache_begin(pool, caller);
  const struct model_step expected = model_empty_cache_begin(run->model, pool, caller);
  lockstep_count(OP_EMPTY_CACHE, outcome_of(expected), rung_of(run, expected));
  take(run, step, expected);
  return expected.request;
}

void lockstep_empty_cache(struct lockstep *run, struct fuzz_input *in)
{
  const int32_t pool = (int32_t)fuzz_below(in, POOLS + 3) - 1;
  (void)empty_cache(run, pool, lockstep_caller(in));
}

/* Three blocks of a growable segment, of which the outer ones are unmapped and the one between is freed: a request for all
   needs several maps. */
void lockstep_make_hole(struct lockstep *run, struct fuzz_input *in)
{
  const struct model_caller nobody = {-1, 0};
  const int32_t stream = lockstep_stream(run, in);
  const uint64_t page = run->model->config.large_segment_size;
  const uint32_t form = fuzz_below(in, 16);
  const uint64_t sizes[] = {(2 + form % 2) * page, form < 8 ? page / 2 : 2 * page, 2 * page};
  struct pair made[3];
  if (!run->model->growable) {
    return;
  }
  for (int32_t k = 0; k < 3; k++) {
    const int32_t before = run->live_count;
    perform_all(run, in, begin(run, sizes[k], stream, nobody).request);
    if (run->live_count == before) {
      return;
    }
    made[k] = run->live[before];
  }
  lockstep_free_slot(run, made[0].model_slot);
  lockstep_free_slot(run, made[2].model_slot);
  perform_all(run, in, empty_cache(run, -1, nobody));
  lockstep_free_slot(run, made[1].model_slot);
  (void)begin(run, sizes[0] + sizes[1] + page, stream, nobody);
}

/* --- requests that need no device --- */

/* Inside a block that there is, or anywhere. */
static uint64_t draw_place(const struct lockstep *run, struct fuzz_input *in)
{
  const struct model *m = run->model;
  const uint32_t form = fuzz_byte(in);
  if (m->blocks == 0 || form >= 250) {
    return fuzz_size(in);
  }
  const struct model_block *block = &m->block[(int32_t)(form * 7 % (uint32_t)m->blocks)];
  const uint64_t step = form % 8 == 0 ? 1 : 512;
  return block->address + (form % 2 == 0 ? 0 : step * fuzz_byte(in));
}

void lockstep_exactly(struct lockstep *run, struct fuzz_input *in)
{
  const uint64_t address = draw_place(run, in);
  const uint64_t bytes = draw_bytes(run, in);
  const int32_t stream = lockstep_stream(run, in);
  const struct model_caller caller = lockstep_caller(in);
  FUZZ_SAY("allocate exactly %" PRIu64 " bytes at 0x%" PRIx64 " on stream %" PRId32, bytes, address,
           stream);
  const struct model_step step = subject_allocate_exactly(address, bytes, stream, caller);
  const struct model_step expected =
      model_allocate_exactly(run->model, address, bytes, stream, caller);
  lockstep_count_beside(run, OP_ALLOCATE_EXACTLY, outcome_of(expected));
  take(run, step, expected);
}

void lockstep_choose(struct lockstep *run, struct fuzz_input *in)
{
  const uint64_t bytes = draw_bytes(run, in);
  const int32_t stream = lockstep_stream(run, in);
  const struct model_caller caller = lockstep_caller(in);
  const int32_t slot = subject_choose(bytes, stream, caller);
  const int32_t expected = model_choose(run->model, bytes, stream, caller);
  FUZZ_SAY("choose for %" PRIu64 " bytes on stream %" PRId32 ": slot %" PRId32, bytes, stream,
           slot);
  FUZZ_CHECK((slot == -1) == (expected == -1) &&
                 (slot == -1 || subject_block(slot).address == run->model->block[expected].address),
             "choice: slot %" PRId32 ", expected %" PRId32, slot, expected);
  lockstep_count_beside(run, OP_CHOOSE, expected == -1 ? (int32_t)OUTCOME_NONE : 0);
  lockstep_compare(run);
}

/* An outcome for a request that is not in flight. */
void lockstep_no_request(struct lockstep *run, struct fuzz_input *in)
{
  const int32_t request = (int32_t)fuzz_below(in, MODEL_REQUESTS + 3) - 1;
  for (int32_t i = 0; i < run->flights; i++) {
    if (run->flight[i].step.request == request || run->flight[i].request == request) {
      return;
    }
  }
  FUZZ_SAY("resume and abandon %" PRId32 ", which is not in flight", request);
  const struct model_step step = subject_resume(request, MODEL_PERFORMED, 0);
  const struct model_step expected = model_resume(run->model, request, MODEL_PERFORMED, 0);
  lockstep_same_step(step, expected);
  lockstep_count_beside(run, OP_RESUME, outcome_of(expected));
  const enum model_status status = subject_abandon(request);
  lockstep_same_status("abandon", status, model_abandon(run->model, request));
  lockstep_compare(run);
}
