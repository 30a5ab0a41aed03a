/* ladder.c - a request goes down the rungs until one serves it. Each call goes on until the device is needed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

struct model_step model_done(const struct model *m, int32_t slot)
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
struct model_step model_over(struct model *m, int32_t request, struct model_step step)
{
  m->request[request].used = false;
  model_end_pools(m);
  step.request = request;
  return step;
}

struct model_step model_served(struct model *m, int32_t request, int32_t slot)
{
  model_take(m, m->request[request].want, slot);
  return model_over(m, request, model_done(m, slot));
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

/* Whether a rung is left out, or left where a capture has begun since: by what it is about, by the policy, in a capture.
   What was begun with a range is ended first. REQ-LADDER-capture, REQ-LADDER-search, REQ-LADDER-resort,
   REQ-OOM-faithful. */
static bool left_out(const struct model *m, int32_t request)
{
  const struct model_request asker = m->request[request];
  const bool complete = m->config.policy == MODEL_COMPLETE;
  const bool capture = model_in_capture(m, asker.caller);
  if (asker.growth != MODEL_GROWTH_NONE) {
    return false;
  }
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
  case MODEL_RUNG_EMPTY_RELEASE:
    return complete && capture;
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

struct model_step model_next_rung(struct model *m, int32_t request)
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
    if (!fallback || (m->pool[pool].use_on_oom && m->pool[pool].users > 0)) {
      model_count_search(m, want);
      const int32_t slot = model_search(m, want);
      if (slot != -1) {
        return model_served(m, request, slot);
      }
    }
    pool = fallback ? model_next_pool(m, pool) : -1;
  }
  return model_next_rung(m, request);
}

/* Whether so many bytes more than are reserved are more than `most`. */
static bool exceeds(const struct model *m, uint64_t most, uint64_t bytes)
{
  const uint64_t reserved = m->statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current;
  return bytes > most || reserved > most - bytes;
}

/* A device allocation is rejected: on rung 5 the next rung is the last one. REQ-LADDER-reject, REQ-ACCOUNT-rejected. */
static struct model_step reject(struct model *m, int32_t request)
{
  const bool early = m->request[request].rung == MODEL_RUNG_ASK;
  const struct model_step step = model_next_rung(m, request);
  m->calls.oom_rejections++;
  m->request[request].rejected = true;
  if (early) {
    m->request[request].rung = MODEL_RUNG_OUT_OF_MEMORY;
  }
  return step;
}

/* Rungs 5, 7 and 8: asks the device, unless the limit refuses, or the settings have it rejected. REQ-LADDER-device,
   REQ-LADDER-limit, REQ-LADDER-reject, REQ-LADDER-last. */
static struct model_step ask_device(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const uint64_t bytes = model_segment_size(m, want.size);
  const bool first =
      m->request[request].growth == MODEL_GROWTH_NONE && !m->request[request].reserved;
  if (first && m->request[request].rung == MODEL_RUNG_ASK_LAST) {
    m->calls.alloc_retries++;
  }
  if (first && m->limit != MODEL_UNSET && exceeds(m, m->limit, bytes)) {
    return model_next_rung(m, request);
  }
  const uint64_t most = m->config.reject_above;
  if (first && most != 0 && exceeds(m, most, bytes)) {
    return reject(m, request);
  }
  if (!want.growable) {
    return model_ask(m, request, MODEL_STEP_ALLOCATE, -1, bytes);
  }
  const struct model_step step = model_grow(m, request);
  if (m->request[request].growth == MODEL_GROWTH_GROWN) {
    return model_served(m, request, m->request[request].held);
  }
  return m->request[request].growth == MODEL_GROWTH_REFUSED ? model_next_rung(m, request) : step;
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
  return slot == -1 ? model_next_rung(m, request) : leave(m, request, slot);
}

/* Waits for the uses of each stream once, streams ascending. REQ-STREAM-drain, REQ-LADDER-empty. */
static struct model_step wait_all(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const bool emptying = m->request[request].rung == MODEL_RUNG_EMPTY_WAIT;
  if (emptying && want.pool != -1 && m->pool[want.pool].users > 0) {
    return model_next_rung(m, request);
  }
  if (m->request[request].waited == MODEL_NOT_WAITED) {
    m->calls.sync_all_streams++;
    model_go_on(m);
    m->request[request].waited = -1;
  }
  const struct model_event event =
      model_outstanding(m, m->request[request].waited, emptying ? want.pool : -1);
  if (event.stream == -1) {
    return model_next_rung(m, request);
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
    return model_next_rung(m, request);
  }
  return m->segment[m->block[slot].segment].growable ? model_unmap(m, request, slot)
                                                     : leave(m, request, slot);
}

/* The request ends without a block. REQ-OOM-complete, REQ-OOM-faithful, REQ-OOM-report, REQ-LADDER-reject. */
static struct model_step run_out(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const bool rejected = m->request[request].rejected;
  m->calls.ooms += rejected ? 0 : 1;
  return model_over(
      m, request,
      (struct model_step){.kind = rejected ? MODEL_STEP_REJECTED : MODEL_STEP_OUT_OF_MEMORY,
                          .slot = -1,
                          .bytes = want.size,
                          .stream = want.stream,
                          .pool = want.pool});
}

/* One rung: a step for the layer, the end of the request, or NONE and on to the next rung. */
static struct model_step climb(struct model *m, int32_t request)
{
  int32_t slot = -1;
  if (left_out(m, request)) {
    return model_next_rung(m, request);
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
    return slot == -1 ? model_next_rung(m, request) : leave(m, request, slot);
  case MODEL_RUNG_WAIT:
  case MODEL_RUNG_WAIT_AGAIN:
  case MODEL_RUNG_EMPTY_WAIT:
    return wait_all(m, request);
  case MODEL_RUNG_RELEASE:
  case MODEL_RUNG_RELEASE_AGAIN:
  case MODEL_RUNG_EMPTY_RELEASE:
    return release_all(m, request);
  case MODEL_RUNG_OUT_OF_MEMORY:
    return run_out(m, request);
  case MODEL_RUNG_EMPTY:
    return model_over(m, request, model_done(m, -1));
  default: /* the searches */
    return search(m, request, false);
  }
}

struct model_step model_go(struct model *m, int32_t request)
{
  struct model_step step = {.kind = MODEL_STEP_NONE};
  for (int32_t i = 0; i < MODEL_RUNGS && step.kind == MODEL_STEP_NONE; i++) {
    step = climb(m, request);
  }
  return step;
}
