/* core_check_requests.c - see core_check.h: what holds between the parts of a manager, and requests in flight, clause by
 * clause.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"
#include "tests/core_check_clauses.h"

#include <stdlib.h>

#include "core/step.h"

enum { HOLDS = ASHLAR_CORE_HOLDS, GRANULE = 512 };

static bool is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

static int32_t pool_of(int32_t home)
{
  return home / (ASHLAR_STREAMS * ASHLAR_CLASSES);
}

static bool known_pool(const struct ashlar_manager *m, int32_t pool)
{
  return pool == 0 || m->pool_state[pool] != ASHLAR_POOL_UNUSED;
}

/* --- blocks and their owners --- */

static int64_t none_taken(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_TAKEN) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-FREE-found. */
static int64_t map_allocated(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    const uint8_t mapped = m->state[i] == ASHLAR_ALLOCATED ? 1 : 0;
    if (m->in_map[i] != mapped) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-LIFETIME-once. */
static int64_t blocks_referenced(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->references[i] == 0) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t blocks_homed(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) &&
        (m->home[i] % ASHLAR_STREAMS >= m->stream_count || !known_pool(m, pool_of(m->home[i])))) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t ages_valid(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_FREE &&
        m->entered[i] > m->pool_searches[m->home[i] / ASHLAR_STREAMS]) {
      return i;
    }
  }
  return HOLDS;
}

/* In address order ages are no part of the key; in segment order they are creation numbers, one a segment. */
static int64_t ages_created(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) &&
        (m->config.order == ASHLAR_ORDER_SEGMENT ? m->age[i] >= m->segments_created
                                                 : m->age[i] != 0)) {
      return i;
    }
  }
  return HOLDS;
}

/* Segments of streams; the number of a pool counts from ASHLAR_STREAMS on. Oracle: REQ-STREAM-gone. */
static int64_t segments_counted(const struct ashlar_manager *m)
{
  uint64_t of_stream[ASHLAR_STREAMS] = {0};
  uint64_t of_pool[ASHLAR_POOL_NUMBERS] = {0};
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) && m->prev[i] == -1) {
      of_stream[m->home[i] % ASHLAR_STREAMS]++;
      of_pool[pool_of(m->home[i])]++;
    }
  }
  for (int32_t s = 0; s < ASHLAR_STREAMS; s++) {
    if (m->stream_segments[s] != of_stream[s] || of_stream[s] > m->segments_created) {
      return s;
    }
  }
  for (int32_t p = 0; p < ASHLAR_POOL_NUMBERS; p++) {
    if (m->pool_segments[p] != of_pool[p] || of_pool[p] > m->segments_created) {
      return ASHLAR_STREAMS + p;
    }
  }
  return HOLDS;
}

/* --- uses --- */

/* Oracle: REQ-STREAM-pending, REQ-STREAM-use. */
static int64_t uses_of_states(const struct ashlar_manager *m)
{
  for (int32_t u = 0; u < m->use_top; u++) {
    const int32_t i = m->use_block[u];
    if (i < 0) {
      continue;
    }
    if (i >= m->top || (m->state[i] != ASHLAR_ALLOCATED && m->state[i] != ASHLAR_PENDING) ||
        (m->use_number[u] > 0 && m->state[i] == ASHLAR_ALLOCATED)) {
      return u;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-STREAM-pending. */
static int64_t pending_used(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_PENDING && m->first_use[i] == 0) {
      return i;
    }
  }
  return HOLDS;
}

/* Of a block whose use of deferral is queued no other use is. Oracle: REQ-STREAM-defer. */
static int64_t deferred_waits(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    int32_t queued = 0;
    bool deferred = false;
    for (int32_t u = m->first_use[i] - 1; u != -1; u = m->use_more[u]) {
      queued += m->use_number[u] > 0 ? 1 : 0;
      deferred |= m->use_stream[u] == ASHLAR_STREAM_DEFERRED && m->use_number[u] > 0;
    }
    if (deferred && queued > 1) {
      return i;
    }
  }
  return HOLDS;
}

/* The use that was recorded first, for an allocated block, is that of deferral. Oracle: REQ-STREAM-defer. */
static int64_t deferral_first(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->first_use[i] > 0) {
      int32_t u = m->first_use[i] - 1;
      while (m->use_more[u] != -1) {
        u = m->use_more[u];
      }
      if (m->use_stream[u] != ASHLAR_STREAM_DEFERRED) {
        return i;
      }
    }
  }
  return HOLDS;
}

/* --- settings --- */

/* Oracle: REQ-SIZE-settings. */
static int64_t settings_valid(const struct ashlar_manager *m)
{
  const struct ashlar_config *c = &m->config;
  for (int32_t row = 0; row < ASHLAR_DIVISIONS; row++) {
    if ((c->divisions[row] & (c->divisions[row] - 1U)) != 0) {
      return row;
    }
  }
  const bool sizes = c->large_segment_size > 10485760 && c->large_segment_size % 2097152 == 0 &&
                     c->large_segment_size < UINT64_C(1) << 60 &&
                     c->max_split_size >= c->large_segment_size &&
                     c->oversize_slack >= c->large_segment_size &&
                     c->device_total < UINT64_C(1) << 60 && c->reject_above < UINT64_C(1) << 60;
  const bool switches = c->order <= ASHLAR_ORDER_SEGMENT && c->policy <= ASHLAR_POLICY_FAITHFUL &&
                        c->growable <= 1 && c->callbacks <= 1 && m->growable_on <= 1 &&
                        (c->device_total > 0 || (c->growable == 0 && m->growable_on == 0));
  return sizes && switches ? HOLDS : ASHLAR_DIVISIONS;
}

/* --- requests in flight --- */

static bool flies(const struct ashlar_manager *m, int32_t r)
{
  return m->request[r].rung != ASHLAR_RUNG_IDLE;
}

/* Oracle: REQ-ATOMIC-flight. */
static int64_t flight_counted(const struct ashlar_manager *m)
{
  int32_t flying = 0;
  for (int32_t r = 0; r < ASHLAR_REQUESTS; r++) {
    flying += flies(m, r) ? 1 : 0;
  }
  return m->in_flight == flying ? HOLDS : ASHLAR_REQUESTS;
}

/* Slots are set aside for each request for memory. Oracle: REQ-CAPACITY-slots. */
static int64_t flight_room(const struct ashlar_manager *m)
{
  int32_t room = m->spare_count + (ASHLAR_SLOTS - m->top);
  for (int32_t r = 0; r < ASHLAR_REQUESTS; r++) {
    room -= flies(m, r) && m->request[r].bytes > 0 ? ASHLAR_REQUEST_SLOTS : 0;
  }
  return room >= 0 ? HOLDS : m->in_flight;
}

static bool size_valid(const struct ashlar_request *r)
{
  return r->bytes > 0 && r->bytes <= r->size && r->size % GRANULE == 0 &&
         r->size <= UINT64_C(1) << 61;
}

/* What a request is for: memory of a list of a stream that takes requests, or an empty cache. */
static int64_t requests_valid(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < ASHLAR_REQUESTS; i++) {
    const struct ashlar_request *r = &m->request[i];
    const bool emptying = r->rung >= ASHLAR_RUNG_EMPTY_WAIT;
    if (!flies(m, i)) {
      continue;
    }
    if (r->rung > ASHLAR_RUNG_EMPTY || r->growth > ASHLAR_GROWTH_RETURNING || r->home < -1 ||
        r->home >= ASHLAR_LISTS || (emptying ? r->bytes > 0 : r->home < 0 || !size_valid(r))) {
      return i;
    }
    if (r->home >= 0 && !known_pool(m, pool_of(r->home))) {
      return i;
    }
    if (!emptying && (r->home % ASHLAR_STREAMS >= m->stream_count ||
                      m->stream_gone[r->home % ASHLAR_STREAMS] != 0)) {
      return i;
    }
  }
  return HOLDS;
}

/* A held block has a request in flight and a reason; what leaves of ordinary segments is whole. */
static int64_t blocks_held(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] != ASHLAR_HELD) {
      continue;
    }
    const bool whole = m->prev[i] == -1 && m->next[i] == -1;
    if (m->holder[i] < 0 || m->holder[i] >= ASHLAR_REQUESTS || !flies(m, m->holder[i]) ||
        m->hold[i] == ASHLAR_HOLD_NONE || m->hold[i] > ASHLAR_HOLD_FRESH ||
        (m->growable[i] == 0 && (m->hold[i] != ASHLAR_HOLD_LEAVING || !whole))) {
      return i;
    }
  }
  return HOLDS;
}

static bool holds(const struct ashlar_manager *m, int32_t r, int32_t i)
{
  return i >= 0 && i < m->top && m->state[i] == ASHLAR_HELD && m->holder[i] == r;
}

/* Marks what a request has in its hands: the blocks of its run, by the links, and a block that leaves. */
static bool mark_held(const struct ashlar_manager *m, int32_t r, bool *marked)
{
  int32_t i = m->request[r].run;
  const int32_t slot = m->request[r].slot;
  while (i != -1) {
    if (!holds(m, r, i) || m->hold[i] == ASHLAR_HOLD_LEAVING ||
        m->addr[i] + m->size[i] > m->request[r].run_end) {
      return false;
    }
    marked[i] = true;
    if (m->addr[i] + m->size[i] == m->request[r].run_end) {
      break;
    }
    i = m->next[i];
    if (i == -1) {
      return false;
    }
  }
  if (slot != -1) {
    if (!holds(m, r, slot) || (!marked[slot] && m->hold[slot] != ASHLAR_HOLD_LEAVING)) {
      return false;
    }
    marked[slot] = true;
  }
  return true;
}

/* What requests have in their hands is held by them, and nothing else is held. Oracle: REQ-ATOMIC-leaving. */
static int64_t requests_hold(const struct ashlar_manager *m)
{
  bool *marked = ashlar_core_memory((size_t)m->top + 1, sizeof *marked);
  int64_t found = HOLDS;
  for (int32_t r = 0; r < ASHLAR_REQUESTS && found == HOLDS; r++) {
    if (flies(m, r) && !mark_held(m, r, marked)) {
      found = r;
    }
  }
  for (int32_t i = 0; i < m->top && found == HOLDS; i++) {
    if (m->state[i] == ASHLAR_HELD && !marked[i]) {
      found = ASHLAR_REQUESTS + (int64_t)i;
    }
  }
  free(marked);
  return found;
}

/* Whether the step that waits for its outcome is about what the request holds. */
static bool step_fits(const struct ashlar_manager *m, const struct ashlar_request *r)
{
  const bool runs = r->run != -1;
  const uint8_t hold = r->slot == -1 ? ASHLAR_HOLD_NONE : m->hold[r->slot];
  const bool growable = r->slot != -1 && m->growable[r->slot] != 0;
  const bool whole = r->slot != -1 && m->prev[r->slot] == -1 && m->next[r->slot] == -1;
  switch (r->step) {
  case ASHLAR_STEP_ALLOCATE:
    return !runs && hold == ASHLAR_HOLD_NONE && r->asked >= r->size && r->asked % GRANULE == 0 &&
           r->bytes > 0;
  case ASHLAR_STEP_RESERVE:
    return !runs && hold == ASHLAR_HOLD_NONE && r->asked > 0 && r->asked % GRANULE == 0 &&
           r->bytes > 0 && r->growth == ASHLAR_GROWTH_RESERVING;
  case ASHLAR_STEP_RELEASE:
    return !runs && hold == ASHLAR_HOLD_LEAVING && !growable;
  case ASHLAR_STEP_UNRESERVE:
    return !runs && (r->growth == ASHLAR_GROWTH_RETURNING
                         ? hold == ASHLAR_HOLD_LEAVING && growable && whole
                         : r->growth == ASHLAR_GROWTH_RESERVING && hold == ASHLAR_HOLD_NONE);
  case ASHLAR_STEP_MAP:
    return runs && hold == ASHLAR_HOLD_UNMAPPED && r->growth == ASHLAR_GROWTH_MAPPING;
  case ASHLAR_STEP_UNMAP:
    return runs ? hold == ASHLAR_HOLD_UNMAPPED && r->growth == ASHLAR_GROWTH_UNDOING
                : hold == ASHLAR_HOLD_LEAVING && growable && r->growth == ASHLAR_GROWTH_NONE;
  case ASHLAR_STEP_WAIT:
    return !runs && hold == ASHLAR_HOLD_NONE && r->waited >= 0 && r->waited < m->stream_count &&
           r->number <= m->submitted[r->waited];
  default:
    return r->step == ASHLAR_STEP_CALLBACKS && !runs && hold == ASHLAR_HOLD_NONE;
  }
}

/* Oracle: REQ-LADDER-device. */
static int64_t requests_asked(const struct ashlar_manager *m)
{
  for (int32_t r = 0; r < ASHLAR_REQUESTS; r++) {
    if (flies(m, r) && (!step_fits(m, &m->request[r]) || m->request[r].waited < -2 ||
                        m->request[r].waited >= m->stream_count)) {
      return r;
    }
  }
  return HOLDS;
}

static int asks_for_memory(const struct ashlar_request *r)
{
  return r->rung == ASHLAR_RUNG_ASK || r->rung == ASHLAR_RUNG_ASK_OVERSIZE ||
         r->rung == ASHLAR_RUNG_ASK_LAST || r->rung == ASHLAR_RUNG_ASK_AGAIN;
}

static int releases_all(const struct ashlar_request *r)
{
  return r->rung == ASHLAR_RUNG_RELEASE || r->rung == ASHLAR_RUNG_RELEASE_AGAIN ||
         r->rung == ASHLAR_RUNG_EMPTY_RELEASE;
}

/* The step belongs to the rung, and to what the request is about on it. */
static int rung_fits(const struct ashlar_manager *m, const struct ashlar_request *r)
{
  const int grows = r->growth == ASHLAR_GROWTH_RESERVING || r->growth == ASHLAR_GROWTH_MAPPING ||
                    r->growth == ASHLAR_GROWTH_UNDOING;
  if (r->growable && m->config.device_total == 0) {
    return 0;
  }
  if (grows && (!r->growable || !asks_for_memory(r))) {
    return 0;
  }
  switch (r->step) {
  case ASHLAR_STEP_ALLOCATE:
    return r->growth == ASHLAR_GROWTH_NONE && asks_for_memory(r);
  case ASHLAR_STEP_RESERVE:
  case ASHLAR_STEP_MAP:
    return grows;
  case ASHLAR_STEP_UNMAP:
    return grows || releases_all(r);
  case ASHLAR_STEP_UNRESERVE:
    return grows || (r->growth == ASHLAR_GROWTH_RETURNING && releases_all(r));
  case ASHLAR_STEP_CALLBACKS:
    return r->growth == ASHLAR_GROWTH_NONE && r->rung == ASHLAR_RUNG_CALLBACKS;
  default: /* RELEASE, WAIT */
    return r->growth == ASHLAR_GROWTH_NONE;
  }
}

/* Oracle: REQ-LADDER-device. A request can go on: the run that it holds is long enough for it. */
static int64_t requests_ready(const struct ashlar_manager *m)
{
  for (int32_t r = 0; r < ASHLAR_REQUESTS; r++) {
    const struct ashlar_request *request = &m->request[r];
    if (flies(m, r) &&
        (!rung_fits(m, request) ||
         (request->run != -1 && request->run_end - m->addr[request->run] < request->size))) {
      return r;
    }
  }
  return HOLDS;
}

const struct ashlar_core_clause ashlar_core_request_clauses[] = {
    {ASHLAR_CORE_STATE, "none_taken", none_taken},
    {ASHLAR_CORE_STATE, "map_allocated", map_allocated},
    {ASHLAR_CORE_STATE, "uses_of_states", uses_of_states},
    {ASHLAR_CORE_STATE, "pending_used", pending_used},
    {ASHLAR_CORE_STATE, "deferral_first", deferral_first},
    {ASHLAR_CORE_STATE, "deferred_waits", deferred_waits},
    {ASHLAR_CORE_STATE, "blocks_referenced", blocks_referenced},
    {ASHLAR_CORE_STATE, "blocks_homed", blocks_homed},
    {ASHLAR_CORE_STATE, "ages_valid", ages_valid},
    {ASHLAR_CORE_REQUEST, "settings_valid", settings_valid},
    {ASHLAR_CORE_REQUEST, "ages_created", ages_created},
    {ASHLAR_CORE_STATE, "segments_counted", segments_counted},
    {ASHLAR_CORE_REQUEST, "flight_counted", flight_counted},
    {ASHLAR_CORE_REQUEST, "flight_room", flight_room},
    {ASHLAR_CORE_REQUEST, "requests_valid", requests_valid},
    {ASHLAR_CORE_REQUEST, "blocks_held", blocks_held},
    {ASHLAR_CORE_REQUEST, "requests_hold", requests_hold},
    {ASHLAR_CORE_REQUEST, "requests_asked", requests_asked},
    {ASHLAR_CORE_REQUEST, "requests_ready", requests_ready},
    {0, NULL, NULL},
};
