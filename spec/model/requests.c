/* requests.c - how requests begin, what comes of the device's answers, and how they end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

static int32_t in_flight(const struct model *m)
{
  int32_t count = 0;
  for (int32_t i = 0; i < MODEL_REQUESTS; i++) {
    count += m->request[i].used ? 1 : 0;
  }
  return count;
}

/* REQ-ATOMIC-busy. */
bool model_busy(const struct model *m)
{
  return m->config.policy == MODEL_FAITHFUL && in_flight(m) > 0;
}

static struct model_step error(enum model_status status)
{
  return (struct model_step){
      .kind = MODEL_STEP_ERROR, .status = status, .request = -1, .slot = -1, .stream = -1};
}

static struct model_step start(struct model *m, struct model_request asker)
{
  int32_t request = 0;
  while (request < MODEL_REQUESTS - 1 && m->request[request].used) {
    request++;
  }
  if (!model_in_capture(m, asker.caller)) {
    model_go_on(m);
  }
  asker.used = true;
  asker.held = -1;
  asker.waited = MODEL_NOT_WAITED;
  m->request[request] = asker;
  return model_go(m, request);
}

/* The request as its list sees it. REQ-POOL-allocator: a pool with one has no growable segments. */
static struct model_want wanted(const struct model *m, uint64_t bytes, int32_t stream,
                                struct model_caller caller)
{
  struct model_want want = {.bytes = bytes, .stream = stream};
  want.size = model_rounded(m, bytes);
  want.small = model_is_small(want.size);
  want.pool = model_route(m, stream, caller);
  want.growable = m->growable && m->pool[want.pool].allocator == 0;
  return want;
}

/* Before the first step. REQ-SIZE-refused, REQ-CAPACITY-slots, REQ-CAPACITY-others, REQ-ATOMIC-flight. */
static enum model_status refusal(const struct model *m, uint64_t bytes, int32_t stream)
{
  const int32_t requests = in_flight(m) + 1;
  if (!model_live_stream(m, stream)) {
    return MODEL_ERROR_STREAM;
  }
  if (bytes >= MODEL_GREATEST) {
    return MODEL_ERROR_TOO_LARGE;
  }
  if (requests > MODEL_REQUESTS) {
    return MODEL_ERROR_REQUESTS;
  }
  return model_room(m) < MODEL_SPARE * requests ? MODEL_ERROR_BLOCKS : MODEL_OK;
}

/* REQ-SIZE-nothing. */
struct model_step model_allocate_begin(struct model *m, uint64_t bytes, int32_t stream,
                                       struct model_caller caller)
{
  const enum model_status status = model_busy(m) ? MODEL_ERROR_BUSY : refusal(m, bytes, stream);
  if (status != MODEL_OK) {
    return error(status);
  }
  return bytes == 0 ? model_done(m, -1)
                    : start(m, (struct model_request){.rung = MODEL_RUNG_SEARCH,
                                                      .want = wanted(m, bytes, stream, caller),
                                                      .caller = caller});
}

/* REQ-LADDER-empty. */
struct model_step model_empty_cache_begin(struct model *m, int32_t pool, struct model_caller caller)
{
  if (model_busy(m) || in_flight(m) == MODEL_REQUESTS) {
    return error(model_busy(m) ? MODEL_ERROR_BUSY : MODEL_ERROR_REQUESTS);
  }
  if (pool != -1 && !model_private(m, pool)) {
    return error(MODEL_ERROR_POOL);
  }
  return start(m, (struct model_request){.rung = MODEL_RUNG_EMPTY_WAIT,
                                         .want = {.pool = pool, .stream = -1},
                                         .caller = caller});
}

int32_t model_choose(const struct model *m, uint64_t bytes, int32_t stream,
                     struct model_caller caller)
{
  return bytes == 0 || model_busy(m) || refusal(m, bytes, stream) != MODEL_OK
             ? -1
             : model_search(m, wanted(m, bytes, stream, caller));
}

/* At this address, in a free block that has room from there on; the device is not asked. REQ-BESTFIT-at. */
struct model_step model_allocate_exactly(struct model *m, uint64_t address, uint64_t bytes,
                                         int32_t stream, struct model_caller caller)
{
  const enum model_status status = model_busy(m) ? MODEL_ERROR_BUSY : refusal(m, bytes, stream);
  if (status != MODEL_OK || address % MODEL_GRANULE != 0) {
    return error(status != MODEL_OK ? status : MODEL_ERROR_RANGE);
  }
  if (bytes == 0) {
    return model_done(m, -1);
  }
  if (!model_in_capture(m, caller)) {
    model_go_on(m);
  }
  const struct model_want want = wanted(m, bytes, stream, caller);
  for (int32_t i = 0; i < m->blocks; i++) {
    const struct model_block block = m->block[i];
    if (model_listed(m, i, want.pool, want.small) && m->segment[block.segment].stream == stream &&
        block.address <= address && block.size >= want.size &&
        address - block.address <= block.size - want.size) {
      const int32_t slot = block.address == address ? i : model_cut(m, i, address - block.address);
      model_take(m, want, slot);
      return model_done(m, slot);
    }
  }
  return error(MODEL_ERROR_MISFIT);
}

/* What a request has becomes free again; what was to be released or unmapped is mapped still. REQ-ATOMIC-error. */
static void undo(struct model *m, int32_t request)
{
  const struct model_step asked = m->request[request].asked;
  if (asked.kind == MODEL_STEP_RELEASE || asked.kind == MODEL_STEP_UNMAP) {
    m->block[m->request[request].held].mapped = true;
    m->calls.device_frees -= m->calls.device_frees > 0 ? 1 : 0;
  }
  (void)model_let_go(m, request);
  model_settle(m);
}

/* The device gave a segment. What it gives must be usable, or it stays the caller's. REQ-LADDER-device. */
static struct model_step given(struct model *m, int32_t request, uint64_t address)
{
  const uint64_t bytes = m->request[request].asked.bytes;
  if (address % MODEL_GRANULE != 0 || address > UINT64_MAX - bytes ||
      !model_apart(m, address, bytes)) {
    return model_over(m, request, error(MODEL_ERROR_RANGE));
  }
  m->calls.device_allocs++;
  return model_served(m, request,
                      model_add_segment(m, m->request[request].want, address, bytes, false));
}

bool model_step_is_open(struct model_step step)
{
  return step.kind != MODEL_STEP_DONE && step.kind != MODEL_STEP_OUT_OF_MEMORY &&
         step.kind != MODEL_STEP_REJECTED && step.kind != MODEL_STEP_ERROR;
}

struct model_step model_resume(struct model *m, int32_t request, enum model_outcome outcome,
                               uint64_t value)
{
  if (request < 0 || request >= MODEL_REQUESTS || !m->request[request].used) {
    return error(MODEL_ERROR_NO_REQUEST);
  }
  const struct model_step asked = m->request[request].asked;
  const bool may_refuse = asked.kind == MODEL_STEP_ALLOCATE || asked.kind == MODEL_STEP_MAP;
  if (outcome == MODEL_FAILED || (outcome == MODEL_REFUSED && !may_refuse)) {
    undo(m, request);
    return model_over(m, request, error(MODEL_ERROR_DEVICE)); /* REQ-ATOMIC-error */
  }
  enum model_status status = MODEL_OK;
  switch (asked.kind) {
  case MODEL_STEP_ALLOCATE:
    if (outcome == MODEL_PERFORMED) {
      return given(m, request, value);
    }
    (void)model_next_rung(m, request);
    break;
  case MODEL_STEP_RELEASE:
    model_remove_segment(m, m->request[request].held);
    break;
  case MODEL_STEP_WAIT:
    (void)model_finish(m, asked.stream, asked.number);
    break;
  case MODEL_STEP_CALLBACKS:
    m->request[request].freed = value == 1;
    (void)model_next_rung(m, request);
    break;
  default:
    status = model_grown(m, request, outcome, value);
    if (status != MODEL_OK) {
      return model_over(m, request, error(status));
    }
    break;
  }
  return model_go(m, request);
}

/* What was released stays released; a release that was not reported counts as done. REQ-ATOMIC. */
enum model_status model_abandon(struct model *m, int32_t request)
{
  if (request < 0 || request >= MODEL_REQUESTS || !m->request[request].used) {
    return MODEL_ERROR_NO_REQUEST;
  }
  const enum model_step_kind kind = m->request[request].asked.kind;
  if (kind == MODEL_STEP_RELEASE) {
    model_remove_segment(m, m->request[request].held);
  } else if (kind == MODEL_STEP_UNMAP || kind == MODEL_STEP_UNRESERVE) {
    (void)model_grown(m, request, MODEL_PERFORMED, 0);
  }
  (void)model_let_go(m, request);
  model_settle(m);
  (void)model_over(m, request, model_done(m, -1));
  return MODEL_OK;
}

enum model_status model_limit_set(struct model *m, uint64_t limit, uint64_t collect_above)
{
  m->limit = limit;
  m->collect_above = collect_above;
  return MODEL_OK;
}

/* REQ-GROW-toggle. */
enum model_status model_growable_set(struct model *m, bool on)
{
  if (on && m->config.device_total == 0) {
    return MODEL_ERROR_SETTING;
  }
  m->growable = on;
  return MODEL_OK;
}

/* REQ-SIZE-settings, REQ-CANON-empty. */
enum model_status model_init(struct model *m, struct model_config config)
{
  if (!model_config_allowed(&config)) {
    return MODEL_ERROR_SETTING;
  }
  m->config = config;
  m->growable = config.growable;
  m->limit = MODEL_UNSET;
  m->collect_above = MODEL_UNSET;
  m->pool[0].used = true;
  m->pools = 1;
  return MODEL_OK;
}
