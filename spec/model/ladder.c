/* ladder.c - a request goes down the rungs until one serves it. Each call goes on until the device is needed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

enum { MODEL_SPARE = 4 }; /* slots that one request may need */

int32_t model_in_flight(const struct model *m)
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
  return m->config.policy == MODEL_FAITHFUL && model_in_flight(m) > 0;
}

static struct model_step error(enum model_status status)
{
  return (struct model_step){
      .kind = MODEL_STEP_ERROR, .status = status, .request = -1, .slot = -1, .stream = -1};
}

static struct model_step done(const struct model *m, int32_t slot)
{
  struct model_step step = {.kind = MODEL_STEP_DONE, .request = -1, .slot = slot, .stream = -1};
  if (slot != -1) {
    step.generation = m->block[slot].generation;
    step.address = m->block[slot].address;
    step.bytes = m->block[slot].size;
    step.stream = m->segment[m->block[slot].segment].stream;
    step.pool = m->segment[m->block[slot].segment].pool;
  }
  return step;
}

/* The request is over; pools that were needed by it alone end. */
static struct model_step over(struct model *m, int32_t request, struct model_step step)
{
  m->request[request].used = false;
  model_end_pools(m);
  step.request = request;
  return step;
}

static struct model_step served(struct model *m, int32_t request, int32_t slot)
{
  model_take(m, m->request[request].want, slot);
  return over(m, request, done(m, slot));
}

/* Asks the layer, and remembers what for. */
struct model_step model_ask(struct model *m, int32_t request, enum model_step_kind kind,
                            int32_t slot, uint64_t bytes)
{
  const struct model_want want = m->request[request].want;
  struct model_step step = {.kind = kind, .request = request, .slot = -1, .bytes = bytes};
  step.stream = want.stream;
  step.pool = want.pool;
  step.allocator = want.pool > 0 ? m->pool[want.pool].allocator : 0;
  if (slot != -1) {
    const struct model_segment segment = m->segment[m->block[slot].segment];
    step.address = m->block[slot].address;
    step.bytes = m->block[slot].size;
    step.stream = segment.stream;
    step.pool = segment.pool;
    step.allocator = segment.allocator; /* REQ-POOL-allocator */
  }
  m->request[request].held = slot;
  m->request[request].asked = step;
  return step;
}

/* A free block is nobody's but the request's: in no list, and counted only if it stays mapped. REQ-ATOMIC-leaving. */
void model_hold(struct model *m, int32_t request, int32_t slot, bool counted)
{
  m->block[slot].state = MODEL_HELD;
  m->block[slot].holder = request;
  m->block[slot].mapped = m->block[slot].mapped && counted;
}

/* A segment leaves. REQ-LADDER-once: what left is not there to be released again. */
static struct model_step leave(struct model *m, int32_t request, int32_t slot)
{
  m->request[request].released += m->block[slot].size;
  model_hold(m, request, slot, false);
  m->calls.device_frees++;
  model_settle(m);
  return model_ask(m, request, MODEL_STEP_RELEASE, slot, 0);
}

/* Whether a rung is left out: by what it is about, by the policy, in a capture. REQ-LADDER-capture, REQ-LADDER-search,
   REQ-LADDER-resort, REQ-OOM-faithful. */
static bool left_out(const struct model *m, int32_t request)
{
  const struct model_request asker = m->request[request];
  const bool complete = m->config.policy == MODEL_COMPLETE;
  const bool capture = model_in_capture(m, asker.caller);
  switch (asker.rung) {
  case MODEL_RUNG_CALLBACKS:
    return !m->config.callbacks;
  case MODEL_RUNG_SEARCH_CALLED:
    return !asker.freed;
  case MODEL_RUNG_COLLECT:
    return !model_ages_count(m) || (complete && capture);
  case MODEL_RUNG_FALLBACK:
    return asker.want.pool != 0;
  case MODEL_RUNG_OVERSIZE:
    return m->config.max_split_size == MODEL_UNSET || (complete && capture);
  case MODEL_RUNG_ASK_OVERSIZE:
    return !asker.enough;
  case MODEL_RUNG_WAIT:
  case MODEL_RUNG_RELEASE:
  case MODEL_RUNG_ASK_LAST:
  case MODEL_RUNG_EMPTY_WAIT:
    return capture;
  case MODEL_RUNG_SEARCH_WAITED:
  case MODEL_RUNG_SEARCH_RELEASED:
  case MODEL_RUNG_WAIT_AGAIN:
  case MODEL_RUNG_SEARCH_AGAIN:
  case MODEL_RUNG_RELEASE_AGAIN:
  case MODEL_RUNG_SEARCH_LAST:
  case MODEL_RUNG_ASK_AGAIN:
    return capture || !complete;
  default:
    return false;
  }
}

static struct model_step next_rung(struct model *m, int32_t request)
{
  m->request[request].rung++;
  m->request[request].released = 0;
  m->request[request].waited = MODEL_NOT_WAITED;
  m->request[request].growth = MODEL_GROWTH_NONE;
  m->request[request].reserved = false;
  return (struct model_step){.kind = MODEL_STEP_NONE};
}

/* Rungs 2 and 6. REQ-LADDER-fallback: other pools in the order of their creation, growable segments off. */
static struct model_step search(struct model *m, int32_t request, bool fallback)
{
  struct model_want want = m->request[request].want;
  int32_t pool = fallback ? model_next_pool(m, 0) : want.pool;
  want.growable = want.growable && !fallback;
  for (int32_t round = 0; round < MODEL_POOLS && pool != -1; round++) {
    want.pool = pool;
    if (!fallback || m->pool[pool].use_on_oom) {
      model_count_search(m, want);
      const int32_t slot = model_search(m, want);
      if (slot != -1) {
        return served(m, request, slot);
      }
    }
    pool = fallback ? model_next_pool(m, pool) : -1;
  }
  return next_rung(m, request);
}

/* Rungs 5, 7 and 8: asks the device, unless the limit refuses. REQ-LADDER-device, REQ-LADDER-limit, REQ-LADDER-last. */
static struct model_step ask_device(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const uint64_t bytes = model_segment_size(m, want.size);
  const uint64_t reserved = m->statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current;
  const bool first =
      m->request[request].growth == MODEL_GROWTH_NONE && !m->request[request].reserved;
  if (first && m->request[request].rung == MODEL_RUNG_ASK_LAST) {
    m->calls.alloc_retries++;
  }
  if (first && m->limit != MODEL_UNSET && (bytes > m->limit || reserved > m->limit - bytes)) {
    return next_rung(m, request);
  }
  if (!want.growable) {
    return model_ask(m, request, MODEL_STEP_ALLOCATE, -1, bytes);
  }
  const struct model_step step = model_grow(m, request);
  if (m->request[request].growth == MODEL_GROWTH_GROWN) {
    return served(m, request, m->request[request].held);
  }
  return m->request[request].growth == MODEL_GROWTH_REFUSED ? next_rung(m, request) : step;
}

/* Rung 4. */
static struct model_step collect(struct model *m, int32_t request)
{
  const uint64_t reserved = m->statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current;
  if (m->request[request].target == 0) {
    m->request[request].target = reserved > m->collect_above ? reserved - m->collect_above : 0;
    m->request[request].cutoff = MODEL_UNSET;
  }
  const int32_t slot = m->request[request].target == 0 ? -1 : model_collectable(m, request);
  return slot == -1 ? next_rung(m, request) : leave(m, request, slot);
}

/* Waits for the uses of each stream once, streams ascending. REQ-STREAM-drain, REQ-LADDER-empty. */
static struct model_step wait_all(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const bool emptying = m->request[request].rung == MODEL_RUNG_EMPTY_WAIT;
  if (emptying && want.pool != -1 && m->pool[want.pool].users > 0) {
    return next_rung(m, request);
  }
  if (m->request[request].waited == MODEL_NOT_WAITED) {
    m->calls.sync_all_streams++;
    model_go_on(m);
    m->request[request].waited = -1;
  }
  const struct model_event event =
      model_outstanding(m, m->request[request].waited, emptying ? want.pool : -1);
  if (event.stream == -1) {
    return next_rung(m, request);
  }
  struct model_step step = model_ask(m, request, MODEL_STEP_WAIT, -1, 0);
  step.stream = event.stream;
  step.number = event.number;
  m->request[request].asked = step;
  m->request[request].waited = event.stream;
  return step;
}

/* Rung 8: everything that can be released. REQ-LADDER-all. */
static struct model_step release_all(struct model *m, int32_t request)
{
  if (m->request[request].growth == MODEL_GROWTH_RETURNING) { /* REQ-GROW-destroy */
    model_hold(m, request, m->request[request].held, false);
    return model_ask(m, request, MODEL_STEP_UNRESERVE, m->request[request].held, 0);
  }
  const int32_t slot = model_releasable(m, request);
  if (slot == -1) {
    return next_rung(m, request);
  }
  return m->segment[m->block[slot].segment].growable ? model_unmap(m, request, slot)
                                                     : leave(m, request, slot);
}

/* One rung: a step for the layer, the end of the request, or NONE and on to the next rung. */
static struct model_step climb(struct model *m, int32_t request)
{
  int32_t slot = -1;
  if (left_out(m, request)) {
    return next_rung(m, request);
  }
  switch (m->request[request].rung) {
  case MODEL_RUNG_CALLBACKS: /* REQ-LADDER-callbacks */
    return model_ask(m, request, MODEL_STEP_CALLBACKS, -1, 0);
  case MODEL_RUNG_COLLECT:
    return collect(m, request);
  case MODEL_RUNG_ASK:
  case MODEL_RUNG_ASK_OVERSIZE:
  case MODEL_RUNG_ASK_LAST:
  case MODEL_RUNG_ASK_AGAIN:
    return ask_device(m, request);
  case MODEL_RUNG_FALLBACK:
    return search(m, request, true);
  case MODEL_RUNG_OVERSIZE:
    slot = model_oversize(m, request);
    return slot == -1 ? next_rung(m, request) : leave(m, request, slot);
  case MODEL_RUNG_WAIT:
  case MODEL_RUNG_WAIT_AGAIN:
  case MODEL_RUNG_EMPTY_WAIT:
    return wait_all(m, request);
  case MODEL_RUNG_RELEASE:
  case MODEL_RUNG_RELEASE_AGAIN:
  case MODEL_RUNG_EMPTY_RELEASE:
    return release_all(m, request);
  case MODEL_RUNG_OUT_OF_MEMORY: /* REQ-OOM-complete, REQ-OOM-faithful, REQ-OOM-report */
    m->calls.ooms++;
    return over(m, request,
                (struct model_step){.kind = MODEL_STEP_OUT_OF_MEMORY,
                                    .slot = -1,
                                    .bytes = m->request[request].want.size,
                                    .stream = m->request[request].want.stream,
                                    .pool = m->request[request].want.pool});
  case MODEL_RUNG_EMPTY:
    return over(m, request, done(m, -1));
  default: /* the searches */
    return search(m, request, false);
  }
}

static struct model_step go(struct model *m, int32_t request)
{
  struct model_step step = {.kind = MODEL_STEP_NONE};
  for (int32_t i = 0; i < MODEL_RUNGS && step.kind == MODEL_STEP_NONE; i++) {
    step = climb(m, request);
  }
  return step;
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
  return go(m, request);
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
  const int32_t requests = model_in_flight(m) + 1;
  if (!model_live_stream(m, stream)) {
    return MODEL_ERROR_STREAM;
  }
  if (bytes >= MODEL_GREATEST) {
    return MODEL_ERROR_TOO_LARGE;
  }
  if (requests > MODEL_REQUESTS) {
    return MODEL_ERROR_REQUESTS;
  }
  if (model_room(m) < MODEL_SPARE * requests) {
    return MODEL_ERROR_BLOCKS;
  }
  return model_segment_room(m) < requests ? MODEL_ERROR_SEGMENTS : MODEL_OK;
}

/* REQ-SIZE-nothing. */
struct model_step model_allocate_begin(struct model *m, uint64_t bytes, int32_t stream,
                                       struct model_caller caller)
{
  const enum model_status status = model_busy(m) ? MODEL_ERROR_BUSY : refusal(m, bytes, stream);
  if (status != MODEL_OK) {
    return error(status);
  }
  return bytes == 0 ? done(m, -1)
                    : start(m, (struct model_request){.rung = MODEL_RUNG_SEARCH,
                                                      .want = wanted(m, bytes, stream, caller),
                                                      .caller = caller});
}

/* REQ-LADDER-empty. */
struct model_step model_empty_cache_begin(struct model *m, int32_t pool, struct model_caller caller)
{
  if (model_busy(m) || model_in_flight(m) == MODEL_REQUESTS) {
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
  return bytes == 0 || refusal(m, bytes, stream) != MODEL_OK
             ? -1
             : model_search(m, wanted(m, bytes, stream, caller));
}

/* What a request has becomes free again; what was to be released or unmapped is mapped still. REQ-ATOMIC-error. */
static void undo(struct model *m, int32_t request)
{
  const struct model_step asked = m->request[request].asked;
  if (asked.kind == MODEL_STEP_RELEASE || asked.kind == MODEL_STEP_UNMAP) {
    m->block[m->request[request].held].mapped = true;
    m->calls.device_frees -= m->calls.device_frees > 0 ? 1 : 0;
  }
  (void)model_let_go(m, request, true);
  model_settle(m);
}

/* The device gave a segment. What it gives must be usable, or it stays the caller's. REQ-LADDER-device. */
static struct model_step given(struct model *m, int32_t request, uint64_t address)
{
  const uint64_t bytes = m->request[request].asked.bytes;
  if (address % MODEL_GRANULE != 0 || address > UINT64_MAX - bytes ||
      !model_apart(m, address, bytes)) {
    return over(m, request, error(MODEL_ERROR_RANGE));
  }
  m->calls.device_allocs++;
  return served(m, request, model_add_segment(m, m->request[request].want, address, bytes, false));
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
    return over(m, request, error(MODEL_ERROR_DEVICE)); /* REQ-ATOMIC-error */
  }
  switch (asked.kind) {
  case MODEL_STEP_ALLOCATE:
    if (outcome == MODEL_PERFORMED) {
      return given(m, request, value);
    }
    (void)next_rung(m, request);
    break;
  case MODEL_STEP_RELEASE:
    model_remove_segment(m, m->request[request].held);
    break;
  case MODEL_STEP_WAIT:
    (void)model_finish(m, asked.stream, asked.number);
    break;
  case MODEL_STEP_CALLBACKS:
    m->request[request].freed = value == 1;
    (void)next_rung(m, request);
    break;
  default:
    if (model_grown(m, request, outcome, value) != MODEL_OK) {
      return over(m, request, error(MODEL_ERROR_RANGE));
    }
    break;
  }
  return go(m, request);
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
  (void)model_let_go(m, request, true);
  model_settle(m);
  (void)over(m, request, done(m, -1));
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
  return MODEL_OK;
}
