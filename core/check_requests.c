/* check_requests.c - see check.h: settings, and requests in flight with what they hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"
#include "core/size_policy.h"
#include "core/step.h"

/* --- settings --- */

static int sizes_valid(const struct ashlar_config *config)
{
  return config->large_segment_size > ASHLAR_LARGE_EXACT &&
         config->large_segment_size <= ASHLAR_MAX_REQUEST &&
         config->large_segment_size % ASHLAR_LARGE_STEP == 0 &&
         config->max_split_size >= config->large_segment_size &&
         config->oversize_slack >= config->large_segment_size &&
         config->device_total <= ASHLAR_MAX_REQUEST;
}

/* The row of the division table that is wrong, ASHLAR_DIVISIONS for another setting. */
static int32_t valid_config(const struct ashlar_manager *m)
{
  int32_t row = 0;
  while (row < ASHLAR_DIVISIONS) {
    if (!ashlar_division_valid(m->config.divisions[row])) {
      return row;
    }
    row++;
  }
  return m->config.order <= ASHLAR_ORDER_SEGMENT && m->config.policy <= ASHLAR_POLICY_FAITHFUL &&
                 m->config.growable <= 1 && m->config.callbacks <= 1 &&
                 (m->config.growable == 0 || m->config.device_total > 0) && sizes_valid(&m->config)
             ? -1
             : ASHLAR_DIVISIONS;
}

static int32_t growable_allowed(const struct ashlar_manager *m)
{
  return m->growable_on == 0 || (m->growable_on == 1 && m->config.device_total > 0) ? -1 : 0;
}

/* --- requests --- */

static int flies(const struct ashlar_manager *m, int32_t r)
{
  return m->request[r].rung != ASHLAR_RUNG_IDLE;
}

static int32_t flight_counted(const struct ashlar_manager *m)
{
  int32_t count = 0;
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    count += flies(m, r);
    r++;
  }
  return m->in_flight == count ? -1 : 0;
}

/* The request for which slots are missing. */
static int32_t flight_room(const struct ashlar_manager *m)
{
  int32_t room = m->spare_count + (ASHLAR_SLOTS - m->top);
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && m->request[r].bytes > 0) {
      room -= ASHLAR_REQUEST_SLOTS;
      if (room < 0) {
        return r;
      }
    }
    r++;
  }
  return -1;
}

static int is_sized(const struct ashlar_manager *m, int32_t r)
{
  return m->request[r].bytes > 0 && m->request[r].bytes <= m->request[r].size &&
         m->request[r].size <= 2 * (ASHLAR_MAX_REQUEST + 1) &&
         m->request[r].size % ASHLAR_GRANULE == 0 && m->request[r].home != -1;
}

static int32_t requests_valid(const struct ashlar_manager *m)
{
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r)) {
      int known = m->request[r].rung <= ASHLAR_RUNG_EMPTY &&
                  m->request[r].growth <= ASHLAR_GROWTH_RETURNING && m->request[r].home >= -1 &&
                  m->request[r].home < ASHLAR_LISTS;
      int fits =
          m->request[r].rung < ASHLAR_RUNG_EMPTY_WAIT ? is_sized(m, r) : m->request[r].bytes == 0;
      if (!known || !fits) {
        return r;
      }
    }
    r++;
  }
  return -1;
}

static int is_homed(const struct ashlar_manager *m, int32_t r)
{
  int32_t pool = ashlar_home_pool(m->request[r].home);
  int32_t stream = ashlar_home_stream(m->request[r].home);
  return (pool == 0 || m->pool_state[pool] != ASHLAR_POOL_UNUSED) &&
         (m->request[r].bytes == 0 || (stream < m->stream_count && m->stream_gone[stream] == 0));
}

static int32_t requests_homed(const struct ashlar_manager *m)
{
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && m->request[r].home != -1 && !is_homed(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

/* --- what they hold --- */

static int32_t blocks_held(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_HELD) {
      int held = m->holder[i] >= 0 && m->holder[i] < ASHLAR_REQUESTS && flies(m, m->holder[i]) &&
                 m->hold[i] != ASHLAR_HOLD_NONE && m->hold[i] <= ASHLAR_HOLD_FRESH;
      int leaves = m->hold[i] == ASHLAR_HOLD_LEAVING && m->prev[i] == -1 && m->next[i] == -1;
      if (!held || (m->growable[i] == 0 && !leaves)) {
        return i;
      }
    }
    i++;
  }
  return -1;
}

/* Whether a request holds a block. */
static int holds(const struct ashlar_manager *m, int32_t r, int32_t i)
{
  return i >= 0 && i < m->top && m->state[i] == ASHLAR_HELD && m->holder[i] == r;
}

/* Whether a request holds a block as a part of its run. */
static int runs(const struct ashlar_manager *m, int32_t r, int32_t i)
{
  return holds(m, r, i) && m->hold[i] != ASHLAR_HOLD_LEAVING;
}

static int32_t requests_hold(const struct ashlar_manager *m)
{
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && ((m->request[r].slot != -1 && !holds(m, r, m->request[r].slot)) ||
                        (m->request[r].run != -1 && !runs(m, r, m->request[r].run)))) {
      return r;
    }
    r++;
  }
  return -1;
}

static int32_t leaving_asked(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_HELD && m->hold[i] == ASHLAR_HOLD_LEAVING &&
        m->request[m->holder[i]].slot != i) {
      return i;
    }
    i++;
  }
  return -1;
}

/* prev leads to the first block of the run. */
static int32_t runs_begin(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_HELD && m->hold[i] != ASHLAR_HOLD_LEAVING) {
      int32_t first = m->request[m->holder[i]].run;
      if (first == -1 || (first != i && !runs(m, m->holder[i], m->prev[i]))) {
        return i;
      }
    }
    i++;
  }
  return -1;
}

/* next leads to its end. */
static int32_t runs_end(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] == ASHLAR_HELD && m->hold[i] != ASHLAR_HOLD_LEAVING) {
      uint64_t end = m->addr[i] + m->size[i];
      uint64_t run_end = m->request[m->holder[i]].run_end;
      if (end > run_end || (end < run_end && !runs(m, m->holder[i], m->next[i]))) {
        return i;
      }
    }
    i++;
  }
  return -1;
}

/* --- what they have asked for --- */

/* Memory, or a range, that can be a segment; for a segment as much as the request needs. */
static int asks_bytes(const struct ashlar_manager *m, int32_t r, uint64_t least)
{
  return m->request[r].bytes > 0 && m->request[r].asked > 0 && m->request[r].asked >= least &&
         m->request[r].asked % ASHLAR_GRANULE == 0;
}

/* Whether the held block, if there is one, is what the step is about. */
static int asks_fitting(const struct ashlar_manager *m, int32_t r)
{
  int32_t i = m->request[r].slot;
  int single = m->request[r].run == -1;
  int none = single && i == -1;
  int leaves = single && i != -1 && m->hold[i] == ASHLAR_HOLD_LEAVING;
  int unmapped = !single && i != -1 && m->hold[i] == ASHLAR_HOLD_UNMAPPED;
  int growth = m->request[r].growth;
  switch (m->request[r].step) {
  case ASHLAR_STEP_ALLOCATE:
    return none && asks_bytes(m, r, m->request[r].size);
  case ASHLAR_STEP_RESERVE:
    return none && growth == ASHLAR_GROWTH_RESERVING && asks_bytes(m, r, 1);
  case ASHLAR_STEP_RELEASE:
    return leaves && m->growable[i] == 0;
  case ASHLAR_STEP_UNRESERVE:
    return (none && growth == ASHLAR_GROWTH_RESERVING) ||
           (leaves && growth == ASHLAR_GROWTH_RETURNING && m->growable[i] != 0 &&
            m->prev[i] == -1 && m->next[i] == -1);
  case ASHLAR_STEP_MAP:
    return unmapped && growth == ASHLAR_GROWTH_MAPPING;
  case ASHLAR_STEP_UNMAP:
    return (unmapped && growth == ASHLAR_GROWTH_UNDOING) ||
           (leaves && growth == ASHLAR_GROWTH_NONE && m->growable[i] != 0);
  case ASHLAR_STEP_WAIT:
  case ASHLAR_STEP_CALLBACKS:
    return none;
  default:
    return 0;
  }
}

static int32_t requests_asked(const struct ashlar_manager *m)
{
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && !asks_fitting(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

static int waits_fitting(const struct ashlar_manager *m, int32_t r)
{
  int32_t stream = m->request[r].waited;
  if (stream < -2 || stream >= m->stream_count) {
    return 0;
  }
  return m->request[r].step != ASHLAR_STEP_WAIT ||
         (stream >= 0 && m->request[r].number <= m->submitted[stream]);
}

static int32_t requests_wait(const struct ashlar_manager *m)
{
  int32_t r = 0;
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && !waits_fitting(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

int32_t ashlar_check_requests(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_VALID_CONFIG:
    return valid_config(m);
  case ASHLAR_CLAUSE_GROWABLE_ALLOWED:
    return growable_allowed(m);
  case ASHLAR_CLAUSE_FLIGHT_COUNTED:
    return flight_counted(m);
  case ASHLAR_CLAUSE_FLIGHT_ROOM:
    return flight_room(m);
  case ASHLAR_CLAUSE_REQUESTS_VALID:
    return requests_valid(m);
  case ASHLAR_CLAUSE_REQUESTS_HOMED:
    return requests_homed(m);
  case ASHLAR_CLAUSE_BLOCKS_HELD:
    return blocks_held(m);
  case ASHLAR_CLAUSE_REQUESTS_HOLD:
    return requests_hold(m);
  case ASHLAR_CLAUSE_LEAVING_ASKED:
    return leaving_asked(m);
  case ASHLAR_CLAUSE_RUNS_BEGIN:
    return runs_begin(m);
  case ASHLAR_CLAUSE_RUNS_END:
    return runs_end(m);
  case ASHLAR_CLAUSE_REQUESTS_ASKED:
    return requests_asked(m);
  case ASHLAR_CLAUSE_REQUESTS_WAIT:
    return requests_wait(m);
  default:
    return -1;
  }
}
