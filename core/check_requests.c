/* check_requests.c - see check.h: settings, and requests in flight with what they hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/home.h"
#include "core/size_policy.h"
#include "core/step.h"

/* --- settings --- */

/*@ requires \valid(m);
    READS
    ensures sizes: \result != 0 <==> 10485760 < m->config.large_segment_size <= 1152921504606846975 &&
      m->config.large_segment_size % 2097152 == 0 && m->config.large_segment_size <= m->config.max_split_size &&
      m->config.large_segment_size <= m->config.oversize_slack && m->config.device_total <= 1152921504606846975 &&
      m->config.reject_above <= 1152921504606846975;
*/
static int sizes_valid(const struct ashlar_manager *m)
{
  return m->config.large_segment_size > ASHLAR_LARGE_EXACT &&
         m->config.large_segment_size <= ASHLAR_MAX_REQUEST &&
         m->config.large_segment_size % ASHLAR_LARGE_STEP == 0 &&
         m->config.max_split_size >= m->config.large_segment_size &&
         m->config.oversize_slack >= m->config.large_segment_size &&
         m->config.device_total <= ASHLAR_MAX_REQUEST &&
         m->config.reject_above <= ASHLAR_MAX_REQUEST;
}

/* The row of the division table that is wrong, ASHLAR_DIVISIONS for another setting. */
/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_VALID_CONFIG)
    CHECKS(ASHLAR_DIVISIONS, valid_config(m->config))
*/
static int32_t valid_config(const struct ashlar_manager *m)
{
  int32_t row = 0;
  /*@ loop invariant place: 0 <= row <= ASHLAR_DIVISIONS;
      loop invariant passed: \forall integer k; 0 <= k < row ==> valid_division(m->config.divisions[k]);
      loop assigns row;
      loop variant ASHLAR_DIVISIONS - row;
  */
  while (row < ASHLAR_DIVISIONS) {
    if (!ashlar_division_valid(m->config.divisions[row])) {
      return row;
    }
    row++;
  }
  return m->config.order <= ASHLAR_ORDER_SEGMENT && m->config.policy <= ASHLAR_POLICY_FAITHFUL &&
                 m->config.growable <= 1 && m->config.callbacks <= 1 &&
                 (m->config.growable == 0 || m->config.device_total > 0) && sizes_valid(m)
             ? -1
             : ASHLAR_DIVISIONS;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_GROWABLE_ALLOWED)
    CHECKS(0, growable_allowed(m->growable_on, m->config))
*/
static int32_t growable_allowed(const struct ashlar_manager *m)
{
  return m->growable_on == 0 || (m->growable_on == 1 && m->config.device_total > 0) ? -1 : 0;
}

/* --- requests --- */

/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS;
    READS
    ensures flies: \result == (m->request[r].rung != ASHLAR_RUNG_IDLE ? 1 : 0);
*/
static int flies(const struct ashlar_manager *m, int32_t r)
{
  return m->request[r].rung != ASHLAR_RUNG_IDLE;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_FLIGHT_COUNTED)
    CHECKS(0, flight_counted(m->in_flight, m->request))
*/
static int32_t flight_counted(const struct ashlar_manager *m)
{
  int32_t count = 0;
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: 0 <= count <= r && count == flying(m->request, r);
      loop assigns r, count;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    count += flies(m, r);
    r++;
  }
  return m->in_flight == count ? -1 : 0;
}

/*@ ghost
  /@ requires \valid(m);
     READS
     ensures grows: \forall integer k; 0 <= k <= ASHLAR_REQUESTS ==>
       0 <= slots_needed(m->request, k) <= slots_needed(m->request, ASHLAR_REQUESTS);
  @/
  static void needs_grow(const struct ashlar_manager *m)
  {
    int32_t n = 0;
    /@ loop invariant request: 0 <= n <= ASHLAR_REQUESTS;
       loop invariant grows: \forall integer k; 0 <= k <= n ==>
         0 <= slots_needed(m->request, k) <= slots_needed(m->request, n);
       loop assigns n;
       loop variant ASHLAR_REQUESTS - n;
    @/
    while (n < ASHLAR_REQUESTS) {
      n++;
    }
  }
*/

/* The request for which slots are missing. */
/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_FLIGHT_ROOM)
    CHECKS(ASHLAR_REQUESTS - 1, flight_room(m->spare_count, m->top, m->request))
*/
static int32_t flight_room(const struct ashlar_manager *m)
{
  //@ ghost needs_grow(m);
  int32_t room = m->spare_count + (ASHLAR_SLOTS - m->top);
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: 0 <= room &&
        room == m->spare_count + (ASHLAR_SLOTS - m->top) - slots_needed(m->request, r);
      loop assigns r, room;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && m->request[r].bytes > 0) {
      //@ assert more: slots_needed(m->request, r + 1) == slots_needed(m->request, r) + ASHLAR_REQUEST_SLOTS;
      room -= ASHLAR_REQUEST_SLOTS;
      if (room < 0) {
        return r;
      }
    }
    r++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS;
    READS
    ensures sized: \result != 0 <==> 0 < m->request[r].bytes <= m->request[r].size <= 2305843009213693952 &&
      m->request[r].size % 512 == 0 && m->request[r].home != -1;
*/
static int is_sized(const struct ashlar_manager *m, int32_t r)
{
  return m->request[r].bytes > 0 && m->request[r].bytes <= m->request[r].size &&
         m->request[r].size <= 2 * (ASHLAR_MAX_REQUEST + 1) &&
         m->request[r].size % ASHLAR_GRANULE == 0 && m->request[r].home != -1;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_VALID)
    CHECKS(ASHLAR_REQUESTS - 1, requests_valid(m->request))
*/
static int32_t requests_valid(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        m->request[q].rung <= ASHLAR_RUNG_EMPTY && m->request[q].growth <= ASHLAR_GROWTH_RETURNING &&
        -1 <= m->request[q].home < ASHLAR_LISTS &&
        (m->request[q].rung < ASHLAR_RUNG_EMPTY_WAIT ==>
          0 < m->request[q].bytes <= m->request[q].size <= 2305843009213693952 && m->request[q].size % 512 == 0 &&
          0 <= m->request[q].home) &&
        (ASHLAR_RUNG_EMPTY_WAIT <= m->request[q].rung ==> m->request[q].bytes == 0);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
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

/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS && 0 <= m->request[r].home < ASHLAR_LISTS;
    READS
    ensures homed: \result != 0 <==> (ASHLAR_STREAMS * ASHLAR_CLASSES <= m->request[r].home ==>
        m->pool_state[m->request[r].home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED) &&
      (0 < m->request[r].bytes ==> m->request[r].home % ASHLAR_STREAMS < m->stream_count &&
        m->stream_gone[m->request[r].home % ASHLAR_STREAMS] == 0);
*/
static int is_homed(const struct ashlar_manager *m, int32_t r)
{
  int32_t pool = ashlar_home_pool(m->request[r].home);
  int32_t stream = ashlar_home_stream(m->request[r].home);
  return (pool == 0 || m->pool_state[pool] != ASHLAR_POOL_UNUSED) &&
         (m->request[r].bytes == 0 || (stream < m->stream_count && m->stream_gone[stream] == 0));
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_HOMED)
    CHECKS(ASHLAR_REQUESTS - 1, requests_homed(m->request, m->stream_count, m->stream_gone, m->pool_state))
*/
static int32_t requests_homed(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        0 <= m->request[q].home ==>
        (ASHLAR_STREAMS * ASHLAR_CLASSES <= m->request[q].home ==>
          m->pool_state[m->request[q].home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED) &&
        (0 < m->request[q].bytes ==> m->request[q].home % ASHLAR_STREAMS < m->stream_count &&
          m->stream_gone[m->request[q].home % ASHLAR_STREAMS] == 0);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && m->request[r].home != -1 && !is_homed(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

/* --- what they hold --- */

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_BLOCKS_HELD)
    CHECKS(m->top - 1, blocks_held(m->top, m->state, m->holder, m->hold, m->growable, m->prev, m->next, m->request))
*/
static int32_t blocks_held(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: blocks_held(i, m->state, m->holder, m->hold, m->growable, m->prev, m->next, m->request);
      loop assigns i;
      loop variant m->top - i;
  */
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
/*@ requires \valid(m);
    requires top: 0 <= m->top <= ASHLAR_SLOTS;
    READS
    ensures holds: \result != 0 <==> 0 <= i < m->top && m->state[i] == ASHLAR_HELD && m->holder[i] == r;
*/
static int holds(const struct ashlar_manager *m, int32_t r, int32_t i)
{
  return i >= 0 && i < m->top && m->state[i] == ASHLAR_HELD && m->holder[i] == r;
}

/* Whether a request holds a block as a part of its run. */
/*@ requires \valid(m);
    requires top: 0 <= m->top <= ASHLAR_SLOTS;
    READS
    ensures runs: \result != 0 <==> in_run(m->top, m->state, m->hold, m->holder, i, r);
*/
static int runs(const struct ashlar_manager *m, int32_t r, int32_t i)
{
  return holds(m, r, i) && m->hold[i] != ASHLAR_HOLD_LEAVING;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_HOLD)
    CHECKS(ASHLAR_REQUESTS - 1, requests_hold(m->request, m->top, m->state, m->holder, m->hold))
*/
static int32_t requests_hold(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        -1 <= m->request[q].slot < m->top && -1 <= m->request[q].run < m->top &&
        (0 <= m->request[q].slot ==> m->state[m->request[q].slot] == ASHLAR_HELD &&
          m->holder[m->request[q].slot] == q) &&
        (0 <= m->request[q].run ==> m->state[m->request[q].run] == ASHLAR_HELD &&
          m->holder[m->request[q].run] == q && m->hold[m->request[q].run] != ASHLAR_HOLD_LEAVING);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && ((m->request[r].slot != -1 && !holds(m, r, m->request[r].slot)) ||
                        (m->request[r].run != -1 && !runs(m, r, m->request[r].run)))) {
      return r;
    }
    r++;
  }
  return -1;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_LEAVING_ASKED)
    CHECKS(m->top - 1, leaving_asked(m->top, m->state, m->hold, m->holder, m->request))
*/
static int32_t leaving_asked(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: leaving_asked(i, m->state, m->hold, m->holder, m->request);
      loop assigns i;
      loop variant m->top - i;
  */
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
/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_RUNS_BEGIN)
    CHECKS(m->top - 1, runs_begin(m->top, m->state, m->hold, m->holder, m->prev, m->request))
*/
static int32_t runs_begin(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: \forall integer j; 0 <= j < i ==> m->state[j] == ASHLAR_HELD ==>
        m->hold[j] != ASHLAR_HOLD_LEAVING ==> m->request[m->holder[j]].run != -1 &&
        (m->request[m->holder[j]].run != j ==>
          in_run(m->top, m->state, m->hold, m->holder, m->prev[j], m->holder[j]));
      loop assigns i;
      loop variant m->top - i;
  */
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
/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_RUNS_END)
    CHECKS(m->top - 1, runs_end(m->top, m->state, m->hold, m->holder, m->next, m->addr, m->size, m->request))
*/
static int32_t runs_end(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= m->top;
      loop invariant passed: \forall integer j; 0 <= j < i ==> m->state[j] == ASHLAR_HELD ==>
        m->hold[j] != ASHLAR_HOLD_LEAVING ==> m->addr[j] + m->size[j] <= m->request[m->holder[j]].run_end &&
        (m->addr[j] + m->size[j] < m->request[m->holder[j]].run_end ==>
          in_run(m->top, m->state, m->hold, m->holder, m->next[j], m->holder[j]));
      loop assigns i;
      loop variant m->top - i;
  */
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
/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS;
    READS
    ensures asks: \result != 0 <==> 0 < m->request[r].bytes && 0 < m->request[r].asked &&
      least <= m->request[r].asked &&
      m->request[r].asked % 512 == 0;
*/
static int asks_bytes(const struct ashlar_manager *m, int32_t r, uint64_t least)
{
  return m->request[r].bytes > 0 && m->request[r].asked > 0 && m->request[r].asked >= least &&
         m->request[r].asked % ASHLAR_GRANULE == 0;
}

/* Whether the held block, if there is one, is what the step is about. */
/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS && -1 <= m->request[r].slot < ASHLAR_SLOTS;
    READS
    ensures fitting: \result != 0 <==> request_asked(*m, r);
*/
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

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_ASKED)
    CHECKS(ASHLAR_REQUESTS - 1, requests_asked(m->request, m->hold, m->growable, m->prev, m->next))
*/
static int32_t requests_asked(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        request_asked(*m, q);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && !asks_fitting(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS;
    requires streams: 0 <= m->stream_count < ASHLAR_STREAMS;
    READS
    ensures fitting: \result != 0 <==> -2 <= m->request[r].waited < m->stream_count &&
      (m->request[r].step == ASHLAR_STEP_WAIT ==> 0 <= m->request[r].waited &&
        m->request[r].number <= m->submitted[m->request[r].waited]);
*/
static int waits_fitting(const struct ashlar_manager *m, int32_t r)
{
  int32_t stream = m->request[r].waited;
  if (stream < -2 || stream >= m->stream_count) {
    return 0;
  }
  return m->request[r].step != ASHLAR_STEP_WAIT ||
         (stream >= 0 && m->request[r].number <= m->submitted[stream]);
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_WAIT)
    CHECKS(ASHLAR_REQUESTS - 1, requests_wait(m->request, m->stream_count, m->submitted))
*/
static int32_t requests_wait(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        -2 <= m->request[q].waited < m->stream_count && (m->request[q].step == ASHLAR_STEP_WAIT ==>
          0 <= m->request[q].waited && m->request[q].number <= m->submitted[m->request[q].waited]);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && !waits_fitting(m, r)) {
      return r;
    }
    r++;
  }
  return -1;
}

/* The rungs that ask the device for memory, and those that release everything. */
/*@ READS
    ensures asks: \result != 0 <==> asks(rung);
*/
static int asks(uint8_t rung)
{
  return rung == ASHLAR_RUNG_ASK || rung == ASHLAR_RUNG_ASK_OVERSIZE ||
         rung == ASHLAR_RUNG_ASK_LAST || rung == ASHLAR_RUNG_ASK_AGAIN;
}
/*@ READS
    ensures releases: \result != 0 <==> releases(rung);
*/
static int releases(uint8_t rung)
{
  return rung == ASHLAR_RUNG_RELEASE || rung == ASHLAR_RUNG_RELEASE_AGAIN ||
         rung == ASHLAR_RUNG_EMPTY_RELEASE;
}

/* Whether a request has a step that its rung and its growth have. */
/*@ requires \valid(m);
    requires request: 0 <= r < ASHLAR_REQUESTS && m->request[r].growth <= ASHLAR_GROWTH_RETURNING;
    READS
    ensures fitting: \result != 0 <==> on_rung(m->request[r]);
*/
static int on_rung(const struct ashlar_manager *m, int32_t r)
{
  uint32_t step = m->request[r].step;
  uint8_t rung = m->request[r].rung;
  uint8_t growth = m->request[r].growth;
  int grows = asks(rung) && m->request[r].growable != 0;
  int returns = step == ASHLAR_STEP_UNRESERVE && releases(rung);
  int idle = (step != ASHLAR_STEP_ALLOCATE || asks(rung)) &&
             (step != ASHLAR_STEP_UNMAP || releases(rung)) &&
             (step != ASHLAR_STEP_CALLBACKS || rung == ASHLAR_RUNG_CALLBACKS);
  int reserves = (step == ASHLAR_STEP_RESERVE || step == ASHLAR_STEP_UNRESERVE) && grows;
  int maps = step == ASHLAR_STEP_MAP && grows;
  int undoes = step == ASHLAR_STEP_UNMAP && grows;
  return (growth != ASHLAR_GROWTH_NONE || idle) &&
         (growth != ASHLAR_GROWTH_RESERVING || reserves) &&
         (growth != ASHLAR_GROWTH_MAPPING || maps) && (growth != ASHLAR_GROWTH_UNDOING || undoes) &&
         (growth != ASHLAR_GROWTH_RETURNING || returns);
}

/* Behind the first block of a run stand all others: for the prover only. */
/*@ ghost
  /@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_READY)
     requires request: 0 <= r < ASHLAR_REQUESTS && m->request[r].rung != ASHLAR_RUNG_IDLE && 0 <= m->request[r].run;
     requires block: 0 <= i < m->top && m->state[i] == ASHLAR_HELD && m->holder[i] == r &&
       m->hold[i] != ASHLAR_HOLD_LEAVING;
     READS
     ensures behind: m->addr[m->request[r].run] <= m->addr[i];
  @/
  static void starts_before(const struct ashlar_manager *m, int32_t r, int32_t i)
  {
    int32_t j = i;
    /@ loop invariant place: 0 <= j < m->top && m->state[j] == ASHLAR_HELD && m->holder[j] == r &&
         m->hold[j] != ASHLAR_HOLD_LEAVING && m->addr[j] <= m->addr[i];
       loop assigns j;
       loop variant m->addr[j];
    @/
    while (j != m->request[r].run) j = m->prev[j];
  }

  /@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_READY)
     requires request: 0 <= r < ASHLAR_REQUESTS && m->request[r].rung != ASHLAR_RUNG_IDLE && 0 <= m->request[r].run;
     READS
     ensures behind: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==> m->holder[i] == r ==>
       m->hold[i] != ASHLAR_HOLD_LEAVING ==> m->addr[m->request[r].run] <= m->addr[i];
  @/
  static void starts_first(const struct ashlar_manager *m, int32_t r)
  {
    int32_t i = 0;
    /@ loop invariant place: 0 <= i <= m->top;
       loop invariant behind: \forall integer j; 0 <= j < i ==> m->state[j] == ASHLAR_HELD ==> m->holder[j] == r ==>
         m->hold[j] != ASHLAR_HOLD_LEAVING ==> m->addr[m->request[r].run] <= m->addr[j];
       loop assigns i;
       loop variant m->top - i;
    @/
    while (i < m->top) {
      if (m->state[i] == ASHLAR_HELD && m->holder[i] == r && m->hold[i] != ASHLAR_HOLD_LEAVING) starts_before(m, r, i);
      i++;
    }
  }
*/

/* Whether a request can go on. */
/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_READY)
    requires request: 0 <= r < ASHLAR_REQUESTS && m->request[r].rung != ASHLAR_RUNG_IDLE;
    READS
    ensures ready: \result != 0 <==> request_ready(*m, r);
*/
static int is_ready(const struct ashlar_manager *m, int32_t r)
{
  //@ assert none: m->request[r].run == -1 ==> m->request[r].slot == -1 ==> HOLDS_NONE(r);
  //@ assert one: m->request[r].run == -1 ==> m->request[r].slot != -1 ==> HOLDS_ONE(r, m->request[r].slot);
  /*@ assert whole: asked_leaving(m->request[r], m->hold[m->request[r].slot], m->growable[m->request[r].slot],
        m->prev[m->request[r].slot], m->next[m->request[r].slot]) ==> 0 <= m->request[r].slot ==>
        m->request[r].step != ASHLAR_STEP_UNMAP ==> IS_WHOLE(m->request[r].slot); */
  //@ assert map: m->request[r].run != -1 ==> HOLDS_TO_MAP(r);
  //@ ghost if (m->request[r].run != -1) starts_first(m, r);
  //@ assert run: m->request[r].run != -1 ==> HOLDS_RUN(r);
  //@ assert wants: WANTS(r) <==> (m->request[r].growable != 0 ==> 0 < m->config.device_total);
  if ((m->request[r].growable != 0 && m->config.device_total == 0) || !on_rung(m, r)) {
    return 0;
  }
  return m->request[r].run == -1 ||
         m->request[r].run_end - m->addr[m->request[r].run] >= m->request[r].size;
}

/*@ requires \valid(m); REQUESTS_BEFORE(ASHLAR_CLAUSE_REQUESTS_READY)
    CHECKS(ASHLAR_REQUESTS - 1, requests_ready(*m))
*/
static int32_t requests_ready(const struct ashlar_manager *m)
{
  int32_t r = 0;
  /*@ loop invariant place: 0 <= r <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < r ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        request_ready(*m, q);
      loop assigns r;
      loop variant ASHLAR_REQUESTS - r;
  */
  while (r < ASHLAR_REQUESTS) {
    if (flies(m, r) && !is_ready(m, r)) {
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
  case ASHLAR_CLAUSE_REQUESTS_READY:
    return requests_ready(m);
  default:
    return -1;
  }
}
