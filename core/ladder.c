/* ladder.c - see ladder.h. Each rung gives a step for the layer above, the end of the request, or NONE: then the next rung
 * is tried.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/ladder.h"

enum { NOT_WAITED = -2 };

int ashlar_ladder_in_capture(const struct ashlar_manager *m, int32_t caller_stream)
{
  return ashlar_stream_live(m, caller_stream) && m->stream_captured[caller_stream] != 0;
}

/* Whether a request in flight is for a pool. */
static int is_wanted(const struct ashlar_manager *m, int32_t pool)
{
  int32_t i = 0;
  while (i < ASHLAR_REQUESTS) {
    if (m->request[i].rung != ASHLAR_RUNG_IDLE && m->request[i].home >= 0 &&
        ashlar_home_pool(m->request[i].home) == pool) {
      return 1;
    }
    i++;
  }
  return 0;
}

void ashlar_ladder_end_pools(struct ashlar_manager *m)
{
  const struct ashlar_counter nothing = {0, 0, 0, 0};
  int32_t pool = 1;
  while (pool < ASHLAR_POOL_NUMBERS) {
    if (m->pool_state[pool] == ASHLAR_POOL_FREEABLE && !is_wanted(m, pool) &&
        ashlar_pool_end(m, pool) == ASHLAR_OK) {
      m->pool_reserved[pool] = nothing; /* the number may come again, for another pool */
    }
    pool++;
  }
}

struct ashlar_step ashlar_ladder_over(struct ashlar_manager *m, int32_t request,
                                      struct ashlar_step step)
{
  m->request[request].rung = ASHLAR_RUNG_IDLE;
  m->in_flight--;
  ashlar_ladder_end_pools(m);
  step.request = request;
  return step;
}

struct ashlar_step ashlar_ladder_serve(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  ashlar_allocation_take(m, slot, m->request[request].bytes, m->request[request].size,
                         m->request[request].growable);
  return ashlar_ladder_over(m, request, ashlar_step_about(m, ASHLAR_STEP_DONE, slot));
}

void ashlar_ladder_next_rung(struct ashlar_manager *m, int32_t request)
{
  m->request[request].rung++;
  m->request[request].released = 0;
  m->request[request].waited = NOT_WAITED;
  m->request[request].growth = ASHLAR_GROWTH_NONE;
  m->request[request].reserved = 0;
}

/* Nothing comes of a rung. */
static struct ashlar_step pass_on(struct ashlar_manager *m, int32_t request)
{
  ashlar_ladder_next_rung(m, request);
  return ashlar_step_of(ASHLAR_STEP_NONE);
}

/* A step about a block that the request holds, or about none, waits for its outcome. */
static struct ashlar_step ask(struct ashlar_manager *m, int32_t request, enum ashlar_step_kind kind,
                              int32_t slot)
{
  struct ashlar_step step = ashlar_step_of(kind);
  if (slot != -1) {
    step = ashlar_step_about(m, kind, slot);
  } else if (m->request[request].home >= 0) {
    step.stream = ashlar_home_stream(m->request[request].home);
    step.pool = ashlar_home_pool(m->request[request].home);
    step.allocator = m->pool_allocator[step.pool];
  }
  step.request = request;
  m->request[request].slot = slot;
  m->request[request].step = kind;
  return step;
}

/* Asks for a segment, or for a range of addresses, of so many bytes. */
static struct ashlar_step ask_bytes(struct ashlar_manager *m, int32_t request,
                                    enum ashlar_step_kind kind, uint64_t bytes)
{
  struct ashlar_step step = ask(m, request, kind, -1);
  step.bytes = bytes;
  m->request[request].asked = bytes;
  return step;
}

/* Whether a rung is left out, or left where a capture has begun since: by what it is about, by the policy, in a capture.
   What was begun with a range is ended first: a held run, a reserved range would be lost. */
static int is_left_out(const struct ashlar_manager *m, int32_t request)
{
  int complete = m->config.policy == ASHLAR_POLICY_COMPLETE;
  int capture = ashlar_ladder_in_capture(m, m->request[request].caller);
  if (m->request[request].growth != ASHLAR_GROWTH_NONE) {
    return 0;
  }
  switch (m->request[request].rung) {
  case ASHLAR_RUNG_CALLBACKS:
    return m->config.callbacks == 0;
  case ASHLAR_RUNG_SEARCH_CALLED:
    return m->request[request].freed == 0;
  case ASHLAR_RUNG_COLLECT:
    return !ashlar_collect_counts(m) || (complete && capture);
  case ASHLAR_RUNG_FALLBACK:
    return ashlar_home_pool(m->request[request].home) != 0;
  case ASHLAR_RUNG_OVERSIZE:
    return m->config.max_split_size == UINT64_MAX || (complete && capture);
  case ASHLAR_RUNG_ASK_OVERSIZE:
    return m->request[request].enough == 0;
  case ASHLAR_RUNG_WAIT:
  case ASHLAR_RUNG_RELEASE:
  case ASHLAR_RUNG_ASK_LAST:
  case ASHLAR_RUNG_EMPTY_WAIT:
    return capture;
  case ASHLAR_RUNG_SEARCH_WAITED:
  case ASHLAR_RUNG_SEARCH_RELEASED:
  case ASHLAR_RUNG_WAIT_AGAIN:
  case ASHLAR_RUNG_SEARCH_AGAIN:
  case ASHLAR_RUNG_RELEASE_AGAIN:
  case ASHLAR_RUNG_SEARCH_LAST:
  case ASHLAR_RUNG_ASK_AGAIN:
    return capture || !complete;
  default:
    return 0;
  }
}

static struct ashlar_step search(struct ashlar_manager *m, int32_t request)
{
  int32_t home = m->request[request].home;
  int32_t slot;
  ashlar_collect_searched(m, home);
  slot = ashlar_allocation_choose(m, home, m->request[request].size, m->request[request].growable);
  return slot != -1 ? ashlar_ladder_serve(m, request, slot) : pass_on(m, request);
}

/* Searches the pools that lend to the default pool, in the order of their creation, without growable segments. */
static struct ashlar_step search_lenders(struct ashlar_manager *m, int32_t request)
{
  int32_t class = ashlar_home_class(m->request[request].home);
  int32_t stream = ashlar_home_stream(m->request[request].home);
  int32_t pool = ashlar_pool_next_use_on_oom(m, 0);
  while (pool != 0) {
    int32_t home = ashlar_home(pool, class, stream);
    int32_t slot;
    ashlar_collect_searched(m, home);
    slot = ashlar_allocation_choose(m, home, m->request[request].size, 0);
    if (slot != -1) {
      return ashlar_ladder_serve(m, request, slot);
    }
    pool = ashlar_pool_next_use_on_oom(m, m->pool_serial[pool]);
  }
  return pass_on(m, request);
}

/* Asks for what growing needs next; `grown`: a run is mapped, and the request served; else the rung is over. */
static struct ashlar_step grow(struct ashlar_manager *m, int32_t request)
{
  int32_t home = m->request[request].home;
  int32_t slot;
  if (m->request[request].growth == ASHLAR_GROWTH_NONE) {
    if (!ashlar_reclaim_has_room(m)) {
      return pass_on(m, request);
    }
    slot = ashlar_growable_run(m, home, m->request[request].size);
    if (slot == -1) {
      m->request[request].growth = ASHLAR_GROWTH_RESERVING;
      return ask_bytes(m, request, ASHLAR_STEP_RESERVE, ashlar_growable_reservation(m, home));
    }
    ashlar_growth_hold(m, request, slot);
    m->request[request].growth = ASHLAR_GROWTH_MAPPING;
  }
  if (m->request[request].growth == ASHLAR_GROWTH_RESERVING) { /* the range is too short */
    struct ashlar_step step =
        ask_bytes(m, request, ASHLAR_STEP_UNRESERVE, m->request[request].asked);
    step.address = m->request[request].address;
    return step;
  }
  if (m->request[request].growth == ASHLAR_GROWTH_MAPPING) {
    slot = ashlar_growth_find(m, request, m->request[request].run, ASHLAR_HOLD_UNMAPPED);
    if (slot != -1) {
      return ask(m, request, ASHLAR_STEP_MAP, slot);
    }
    return ashlar_ladder_serve(m, request, ashlar_growth_gather(m, request));
  }
  slot = ashlar_growth_find(m, request, m->request[request].run, ASHLAR_HOLD_FRESH);
  if (slot != -1) {
    ashlar_growth_unmapped(m, slot, ASHLAR_HOLD_UNMAPPED);
    m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
    return ask(m, request, ASHLAR_STEP_UNMAP, slot);
  }
  ashlar_growth_let_go(m, request);
  return pass_on(m, request);
}

/* Asks the device, unless the limit refuses. */
static struct ashlar_step ask_device(struct ashlar_manager *m, int32_t request)
{
  uint64_t bytes = ashlar_segment_size(m->request[request].size, m->config.large_segment_size);
  uint64_t reserved = m->stat[ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS].current;
  int first = m->request[request].growth == ASHLAR_GROWTH_NONE && m->request[request].reserved == 0;
  if (first && m->request[request].rung == ASHLAR_RUNG_ASK_LAST) {
    m->alloc_retries = ashlar_saturating_sum(m->alloc_retries, 1);
  }
  if (first && m->limit != UINT64_MAX && (bytes > m->limit || reserved > m->limit - bytes)) {
    return pass_on(m, request);
  }
  if (m->request[request].growable != 0) {
    return grow(m, request);
  }
  return ask_bytes(m, request, ASHLAR_STEP_ALLOCATE, bytes);
}

/* A segment leaves. What left is not there to be released again. */
static struct ashlar_step leave(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  m->request[request].released = ashlar_saturating_sum(m->request[request].released, m->size[slot]);
  ashlar_segment_leave(m, slot, request);
  m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
  return ask(m, request, ASHLAR_STEP_RELEASE, slot);
}

/* The segment that the collection releases next; -1: it is over. A pass releases what is at least as old as the mean at
   its start; there is another while the target is not reached and the last one released something. */
static int32_t collectable(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = -1;
  if (m->request[request].cutoff != UINT64_MAX) {
    slot = ashlar_collect_next(m, m->request[request].cutoff);
    if (slot == -1 && (m->request[request].passed == 0 ||
                       m->request[request].released >= m->request[request].target)) {
      return -1;
    }
  }
  if (slot == -1) {
    m->request[request].passed = 0;
    m->request[request].cutoff = ashlar_collect_mean(m);
    slot = ashlar_collect_next(m, m->request[request].cutoff);
  }
  if (slot != -1) {
    m->request[request].passed = 1;
  }
  return slot;
}

static struct ashlar_step collect(struct ashlar_manager *m, int32_t request)
{
  uint64_t reserved = m->stat[ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS].current;
  int32_t slot;
  if (m->request[request].target == 0) {
    m->request[request].target = reserved > m->collect_above ? reserved - m->collect_above : 0;
    m->request[request].cutoff = UINT64_MAX;
  }
  slot = m->request[request].target == 0 ? -1 : collectable(m, request);
  return slot != -1 ? leave(m, request, slot) : pass_on(m, request);
}

static struct ashlar_step release_oversize(struct ashlar_manager *m, int32_t request)
{
  uint64_t limit = m->config.max_split_size;
  uint64_t need = m->request[request].size > limit ? m->request[request].size : limit;
  int32_t slot = -1;
  m->request[request].enough = m->request[request].released >= need;
  if (m->request[request].enough == 0) {
    slot = ashlar_reclaim_oversize(m, m->request[request].home, need, limit,
                                   m->request[request].released == 0);
  }
  return slot != -1 ? leave(m, request, slot) : pass_on(m, request);
}

/* Waits for the uses of each stream once, streams ascending. */
static struct ashlar_step wait_all(struct ashlar_manager *m, int32_t request)
{
  int emptying = m->request[request].rung == ASHLAR_RUNG_EMPTY_WAIT;
  int32_t pool = -1;
  int32_t place = 0;
  if (emptying && m->request[request].home >= 0) {
    pool = ashlar_home_pool(m->request[request].home);
    if (m->pool_state[pool] != ASHLAR_POOL_FREEABLE) {
      return pass_on(m, request);
    }
  }
  if (m->request[request].waited == NOT_WAITED) {
    m->sync_all_streams = ashlar_saturating_sum(m->sync_all_streams, 1);
    ashlar_pending_go_on(m);
    m->request[request].waited = -1;
  } else if (m->request[request].waited >= 0) {
    place = ashlar_stream_rank(m, m->request[request].waited) + 1;
  }
  while (place < m->stream_count) {
    int32_t stream = m->stream_order[place];
    uint64_t number = ashlar_pending_last(m, stream, pool);
    if (number > 0) {
      struct ashlar_step step = ask(m, request, ASHLAR_STEP_WAIT, -1);
      step.stream = stream;
      step.number = number;
      m->request[request].number = number;
      m->request[request].waited = stream;
      return step;
    }
    place++;
  }
  return pass_on(m, request);
}

/* The block that is released next, when everything is; -1: none. */
static int32_t releasable(const struct ashlar_manager *m, int32_t request)
{
  int32_t home = m->request[request].home;
  int32_t pool = home >= 0 ? ashlar_home_pool(home) : 0;
  if (m->request[request].rung != ASHLAR_RUNG_EMPTY_RELEASE) {
    return ashlar_reclaim_next(m, 1, m->config.policy == ASHLAR_POLICY_COMPLETE ? pool : 0);
  }
  if (home >= 0) {
    return m->pool_state[pool] == ASHLAR_POOL_FREEABLE ? ashlar_reclaim_in_pool(m, pool) : -1;
  }
  return ashlar_reclaim_next(m, !ashlar_ladder_in_capture(m, m->request[request].caller), 0);
}

/* Releases everything that can be: segments as a whole, and pages of growable ones. */
static struct ashlar_step release_all(struct ashlar_manager *m, int32_t request)
{
  int32_t slot;
  if (m->request[request].growth == ASHLAR_GROWTH_RETURNING) {
    return ask(m, request, ASHLAR_STEP_UNRESERVE, m->request[request].slot);
  }
  slot = releasable(m, request);
  if (slot == -1) {
    return pass_on(m, request);
  }
  if (m->growable[slot] == 0) {
    return leave(m, request, slot);
  }
  m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
  return ask(m, request, ASHLAR_STEP_UNMAP, ashlar_growth_take_pages(m, request, slot));
}

static struct ashlar_step out_of_memory(struct ashlar_manager *m, int32_t request)
{
  struct ashlar_step step = ask(m, request, ASHLAR_STEP_OUT_OF_MEMORY, -1);
  m->ooms = ashlar_saturating_sum(m->ooms, 1);
  step.bytes = m->request[request].size;
  return ashlar_ladder_over(m, request, step);
}

static struct ashlar_step climb(struct ashlar_manager *m, int32_t request)
{
  if (is_left_out(m, request)) {
    return pass_on(m, request);
  }
  switch (m->request[request].rung) {
  case ASHLAR_RUNG_CALLBACKS:
    return ask(m, request, ASHLAR_STEP_CALLBACKS, -1);
  case ASHLAR_RUNG_COLLECT:
    return collect(m, request);
  case ASHLAR_RUNG_ASK:
  case ASHLAR_RUNG_ASK_OVERSIZE:
  case ASHLAR_RUNG_ASK_LAST:
  case ASHLAR_RUNG_ASK_AGAIN:
    return ask_device(m, request);
  case ASHLAR_RUNG_FALLBACK:
    return search_lenders(m, request);
  case ASHLAR_RUNG_OVERSIZE:
    return release_oversize(m, request);
  case ASHLAR_RUNG_WAIT:
  case ASHLAR_RUNG_WAIT_AGAIN:
  case ASHLAR_RUNG_EMPTY_WAIT:
    return wait_all(m, request);
  case ASHLAR_RUNG_RELEASE:
  case ASHLAR_RUNG_RELEASE_AGAIN:
  case ASHLAR_RUNG_EMPTY_RELEASE:
    return release_all(m, request);
  case ASHLAR_RUNG_OUT_OF_MEMORY:
    return out_of_memory(m, request);
  case ASHLAR_RUNG_EMPTY:
    return ashlar_ladder_over(m, request, ashlar_step_of(ASHLAR_STEP_DONE));
  default:
    return search(m, request);
  }
}

struct ashlar_step ashlar_ladder_go(struct ashlar_manager *m, int32_t request)
{
  struct ashlar_step step;
  step = climb(m, request);
  while (step.kind == ASHLAR_STEP_NONE) {
    step = climb(m, request);
  }
  return step;
}
