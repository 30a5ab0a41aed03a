/* ladder.c - see ladder.h. Each rung gives a step for the layer above, the end of the request, or NONE: then the next rung
 * is tried.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/ladder.h"

enum { NOT_WAITED = -2 };

int ashlar_ladder_in_capture(const struct ashlar_manager *m, int32_t caller_stream)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_stream_live(m, caller_stream) && m->stream_captured[caller_stream] != 0;
}

int ashlar_ladder_busy(const struct ashlar_manager *m)
{
  return m->config.policy == ASHLAR_POLICY_FAITHFUL && m->in_flight > 0;
}

void ashlar_ladder_poll(struct ashlar_manager *m, int32_t caller_stream)
{
  if (!ashlar_ladder_in_capture(m, caller_stream)) {
    ashlar_move_go_on(m);
  }
}

/* Whether a request in flight is for a pool. */
/*@ requires \valid(m);
    requires homed: HOMED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures wanted: \result == 0 ==> \forall integer q; 0 <= q < ASHLAR_REQUESTS ==>
      m->request[q].rung != ASHLAR_RUNG_IDLE ==> 0 <= m->request[q].home ==>
      m->request[q].home / ASHLAR_STREAMS / ASHLAR_CLASSES != pool;
*/
static int is_wanted(const struct ashlar_manager *m, int32_t pool)
{
  int32_t i = 0;
  /*@ loop invariant i: 0 <= i <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer q; 0 <= q < i ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==>
        0 <= m->request[q].home ==> m->request[q].home / ASHLAR_STREAMS / ASHLAR_CLASSES != pool;
      loop assigns i;
      loop variant ASHLAR_REQUESTS - i;
  */
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
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_pools_open(m);
  /*@ loop invariant pool: 1 <= pool <= m->pool_top + 1;
      loop invariant whole: WHOLE_STATE;
      loop invariant wanted: WANTED_KEPT(\at(*m, Pre), -1);
      loop assigns pool, ASSIGNS_END;
      loop variant m->pool_top + 1 - pool;
  */
  while (pool <= m->pool_top) {
    if (m->pool_state[pool] == ASHLAR_POOL_FREEABLE && !is_wanted(m, pool) &&
        ashlar_move_end_pool(m, pool)) {
      m->pool_reserved[pool] = nothing; /* the number may come again, for another pool */
    }
    pool++;
  }
}

struct ashlar_step ashlar_ladder_about(const struct ashlar_manager *m, enum ashlar_step_kind kind,
                                       int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  return ashlar_step_about(m, kind, slot);
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
  ashlar_move_take(m, slot, m->request[request].bytes, m->request[request].size,
                   m->request[request].growable);
  return ashlar_ladder_over(m, request, ashlar_ladder_about(m, ASHLAR_STEP_DONE, slot));
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
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request) && m->request[request].run == -1;
    requires rung: m->request[request].rung < ASHLAR_RUNG_EMPTY &&
      m->request[request].rung != ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns m->request[request];
    ENSURES_STEP
    ensures none: \result.kind == ASHLAR_STEP_NONE;
    ensures next: m->request[request].rung == \old(m->request[request].rung) + 1 &&
      m->request[request].rejected == \old(m->request[request].rejected);
*/
static struct ashlar_step pass_on(struct ashlar_manager *m, int32_t request)
{
  ashlar_ladder_next_rung(m, request);
  return ashlar_step_of(ASHLAR_STEP_NONE);
}

/* A step about a block that the request holds, or about none, waits for its outcome. */
/*@ REQUIRES_GOING
    requires slot: slot == -1 || (0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED);
    terminates \true; exits \false;
    assigns m->request[request].slot, m->request[request].step;
    ensures asked: \result.kind == kind && \result.status == ASHLAR_OK && \result.request == request &&
      m->request[request].slot == slot && m->request[request].step == kind && (slot == -1 ==> \result.slot == -1);
*/
static struct ashlar_step ask(struct ashlar_manager *m, int32_t request, enum ashlar_step_kind kind,
                              int32_t slot)
{
  struct ashlar_step step = ashlar_step_of(kind);
  if (slot != -1) {
    step = ashlar_ladder_about(m, kind, slot);
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
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns m->request[request].slot, m->request[request].step, m->request[request].asked;
    ensures asked: \result.kind == kind && \result.status == ASHLAR_OK && \result.request == request &&
      m->request[request].slot == -1 && m->request[request].step == kind && m->request[request].asked == bytes &&
      \result.slot == -1 && \result.bytes == bytes;
*/
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
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns \nothing;
    ensures left: \result != 0 ==> m->request[request].growth == ASHLAR_GROWTH_NONE &&
      m->request[request].rung < ASHLAR_RUNG_EMPTY && m->request[request].rung != ASHLAR_RUNG_OUT_OF_MEMORY;
    ensures first: \result != 0 ==> m->request[request].rung != ASHLAR_RUNG_ASK;
*/
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
  case ASHLAR_RUNG_EMPTY_RELEASE:
    return complete && capture;
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

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung < ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step search(struct ashlar_manager *m, int32_t request)
{
  int32_t home = m->request[request].home;
  int32_t slot;
  ashlar_move_searched(m, home);
  slot = ashlar_move_choose(m, home, m->request[request].size, m->request[request].growable);
  if (slot == -1) {
    return pass_on(m, request);
  }
  return ashlar_ladder_serve(m, request, slot);
}

/* Searches the pools that lend to the default pool, in the order of their creation, without growable segments. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_FALLBACK;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step search_lenders(struct ashlar_manager *m, int32_t request)
{
  int32_t class = ashlar_home_class(m->request[request].home);
  int32_t stream = ashlar_home_stream(m->request[request].home);
  int32_t pool = ashlar_move_lender(m, 0);
  /*@ loop invariant pool: 0 <= pool < ASHLAR_POOL_NUMBERS;
      loop invariant whole: WHOLE_STATE;
      loop assigns pool, m->pool_searches[0 .. ASHLAR_POOL_CLASSES - 1];
      loop variant pool == 0 ? 0 : UINT64_MAX + 1 - m->pool_serial[pool];
  */
  while (pool != 0) {
    int32_t home = ashlar_home(pool, class, stream);
    int32_t slot;
    ashlar_move_searched(m, home);
    slot = ashlar_move_choose(m, home, m->request[request].size, 0);
    if (slot != -1) {
      return ashlar_ladder_serve(m, request, slot);
    }
    pool = ashlar_move_lender(m, m->pool_serial[pool]);
  }
  return pass_on(m, request);
}

/* The held run: the next block of it is mapped; where all of it is, the request is served. */
/*@ REQUIRES_GOING
    requires run: HOLDS_RUN(request) && HOLDS_TO_MAP(request) &&
      m->request[request].growth == ASHLAR_GROWTH_MAPPING &&
      m->request[request].size <= m->request[request].run_end - m->addr[m->request[request].run];
    requires rung: asks(m->request[request].rung) && m->request[request].growable != 0;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
    ensures step: \result.kind != ASHLAR_STEP_NONE;
*/
static struct ashlar_step map_run(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = ashlar_move_find(m, request, ASHLAR_HOLD_UNMAPPED);
  if (slot != -1) {
    return ask(m, request, ASHLAR_STEP_MAP, slot);
  }
  slot = ashlar_move_gather(m, request);
  return ashlar_ladder_serve(m, request, slot);
}

/* What the request has mapped of its run is unmapped; then the rung is over. */
/*@ REQUIRES_GOING
    requires run: HOLDS_RUN(request) && HOLDS_TO_MAP(request) &&
      m->request[request].growth == ASHLAR_GROWTH_UNDOING &&
      m->request[request].size <= m->request[request].run_end - m->addr[m->request[request].run];
    requires rung: asks(m->request[request].rung) && m->request[request].growable != 0;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step undo_run(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = ashlar_move_find(m, request, ASHLAR_HOLD_FRESH);
  if (slot != -1) {
    struct ashlar_step step;
    ashlar_move_unmapped(m, slot, request);
    m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
    step = ask(m, request, ASHLAR_STEP_UNMAP, slot);
    step.stream = -1; /* nobody has used it: in a capture the stream could not be waited for */
    return step;
  }
  ashlar_move_let_go(m, request);
  return pass_on(m, request);
}

/* A run of open blocks is held and mapped; where there is none, a range is reserved. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: asks(m->request[request].rung) && m->request[request].growable != 0;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step begin_growing(struct ashlar_manager *m, int32_t request)
{
  int32_t home = m->request[request].home;
  int32_t slot;
  if (!ashlar_reclaim_has_room(m)) {
    return pass_on(m, request);
  }
  slot = ashlar_move_run(m, home, m->request[request].size);
  if (slot == -1) {
    m->request[request].growth = ASHLAR_GROWTH_RESERVING;
    return ask_bytes(m, request, ASHLAR_STEP_RESERVE, ashlar_growable_reservation(m, home));
  }
  ashlar_move_hold_run(m, request, slot);
  m->request[request].growth = ASHLAR_GROWTH_MAPPING;
  return map_run(m, request);
}

/* Asks for what growing needs next; once a run is mapped the request is served, and once it is undone the rung is over. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires rung: asks(m->request[request].rung) && m->request[request].growable != 0;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step grow(struct ashlar_manager *m, int32_t request)
{
  if (m->request[request].growth == ASHLAR_GROWTH_NONE) {
    return begin_growing(m, request);
  }
  if (m->request[request].growth == ASHLAR_GROWTH_RESERVING) { /* the range is too short */
    struct ashlar_step step =
        ask_bytes(m, request, ASHLAR_STEP_UNRESERVE, m->request[request].asked);
    step.address = m->request[request].address;
    return step;
  }
  if (m->request[request].growth == ASHLAR_GROWTH_MAPPING) {
    return map_run(m, request);
  }
  return undo_run(m, request);
}

/* Bytes of device memory that the manager has. */
/*@ requires \valid_read(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures reserved: \result == m->stat[ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS].current;
*/
static uint64_t reserved_bytes(const struct ashlar_manager *m)
{
  int32_t all = ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS;
  return m->stat[all].current;
}

/* Asks for a segment. */
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request) && m->request[request].growth == ASHLAR_GROWTH_NONE &&
      m->request[request].run == -1;
    requires rung: asks(m->request[request].rung);
    requires bytes: m->request[request].size <= bytes && bytes % 512 == 0;
    terminates \true; exits \false;
    assigns m->request[request].slot, m->request[request].step, m->request[request].asked;
    ENSURES_STEP
    ensures kind: \result.kind == ASHLAR_STEP_ALLOCATE;
*/
static struct ashlar_step ask_segment(struct ashlar_manager *m, int32_t request, uint64_t bytes)
{
  return ask_bytes(m, request, ASHLAR_STEP_ALLOCATE, bytes);
}

/* Whether nothing was asked on this rung yet. On the last rung that PyTorch has, a retry is counted. */
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns m->alloc_retries;
    ensures first: \result != 0 <==> m->request[request].growth == ASHLAR_GROWTH_NONE && m->request[request].reserved == 0;
*/
static int asks_first(struct ashlar_manager *m, int32_t request)
{
  int first = m->request[request].growth == ASHLAR_GROWTH_NONE && m->request[request].reserved == 0;
  if (first && m->request[request].rung == ASHLAR_RUNG_ASK_LAST) {
    m->alloc_retries = ashlar_saturating_sum(m->alloc_retries, 1);
  }
  return first;
}

/* Whether so many bytes more are beyond the limit. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_limit_refuses: \result != 0 <==> m->limit != UINT64_MAX &&
      m->limit < m->stat[ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS].current + bytes;
*/
static int is_over_limit(const struct ashlar_manager *m, uint64_t bytes)
{
  return m->limit != UINT64_MAX && (bytes > m->limit || reserved_bytes(m) > m->limit - bytes);
}

/* Whether so many bytes more are rejected. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_reject_above: \result != 0 <==> rejects(m->config.reject_above, RESERVED_BY(*m), bytes);
*/
static int is_rejected(const struct ashlar_manager *m, uint64_t bytes)
{
  uint64_t above = m->config.reject_above;
  return above != 0 && (bytes > above || reserved_bytes(m) > above - bytes);
}

/* A device allocation is rejected. The first one of a request skips the rungs up to its end. */
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request) && m->request[request].growth == ASHLAR_GROWTH_NONE &&
      m->request[request].run == -1;
    requires rung: asks(m->request[request].rung);
    terminates \true; exits \false;
    assigns m->request[request], m->oom_rejections;
    ENSURES_STEP
    ensures noted: \result.kind == ASHLAR_STEP_NONE && m->request[request].rejected != 0;
    ensures skips: \old(m->request[request].rung) == ASHLAR_RUNG_ASK ==>
      m->request[request].rung == ASHLAR_RUNG_OUT_OF_MEMORY;
    ensures counted: m->oom_rejections == total_of(\old(m->oom_rejections), 1);
*/
static struct ashlar_step reject(struct ashlar_manager *m, int32_t request)
{
  m->oom_rejections = ashlar_saturating_sum(m->oom_rejections, 1);
  m->request[request].rejected = 1;
  if (m->request[request].rung == ASHLAR_RUNG_ASK) {
    m->request[request].rung = ASHLAR_RUNG_ASK_AGAIN; /* behind it the request ends */
  }
  return pass_on(m, request);
}

/* Bytes that the device is asked for, for a request. */
/*@ requires \valid(m);
    requires config: valid_config(m->config);
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires size: m->request[request].size <= 2305843009213693952;
    terminates \true; exits \false;
    assigns \nothing;
    ensures bytes: \result == ASKED_BY(*m, request);
    ensures enough: m->request[request].size <= \result && \result % 512 == 0;
*/
static uint64_t segment_bytes(const struct ashlar_manager *m, int32_t request)
{
  uint64_t bytes = ashlar_segment_size(m->request[request].size, m->config.large_segment_size);
  //@ assert step: 10485760 <= m->request[request].size ==> bytes % 2097152 == 0;
  return bytes;
}

/* Asks the device, unless the limit refuses, or the settings have it rejected. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires rung: asks(m->request[request].rung);
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER, m->oom_rejections;
    ENSURES_STEP
    ENSURES_COUNTED
    ENSURES_REJECTED
*/
static struct ashlar_step ask_device(struct ashlar_manager *m, int32_t request)
{
  uint64_t bytes = segment_bytes(m, request);
  int first = asks_first(m, request);
  if (first && is_over_limit(m, bytes)) {
    return pass_on(m, request);
  }
  if (first && is_rejected(m, bytes)) {
    return reject(m, request);
  }
  if (m->request[request].growable != 0) {
    return grow(m, request);
  }
  return ask_segment(m, request, bytes);
}

/* A segment leaves. What left is not there to be released again. */
/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request) && m->request[request].growth == ASHLAR_GROWTH_NONE &&
      m->request[request].run == -1;
    requires whole: 0 <= slot < m->top && whole_free(*m, slot) && m->growable[slot] == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
    ensures kind: \result.kind == ASHLAR_STEP_RELEASE;
*/
static struct ashlar_step leave(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  m->request[request].released = ashlar_saturating_sum(m->request[request].released, m->size[slot]);
  ashlar_move_leave(m, slot, request);
  m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
  return ask(m, request, ASHLAR_STEP_RELEASE, slot);
}

/* The segment that the collection releases next; -1: it is over. A pass releases what is at least as old as the mean at
   its start; there is another while the target is not reached and the last one released something. */
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns m->request[request].cutoff, m->request[request].passed;
    ensures whole: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) && m->growable[\result] == 0;
*/
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

/* What the collection is to release, as it begins: what is beyond where it starts. */
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns m->request[request].target, m->request[request].cutoff;
*/
static void set_target(struct ashlar_manager *m, int32_t request)
{
  uint64_t reserved = reserved_bytes(m);
  if (m->request[request].target == 0) {
    m->request[request].target = reserved > m->collect_above ? reserved - m->collect_above : 0;
    m->request[request].cutoff = UINT64_MAX;
  }
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_COLLECT;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step collect(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = -1;
  set_target(m, request);
  if (m->request[request].target != 0) {
    slot = collectable(m, request);
  }
  if (slot == -1) {
    return pass_on(m, request);
  }
  return leave(m, request, slot);
}

/* The oversize segment that is released next, so that there is room for the request; -1: none, or enough has gone. */
/*@ REQUIRES_GOING
    requires rung: m->request[request].rung < ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns m->request[request].enough;
    ensures whole: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) && m->growable[\result] == 0;
*/
static int32_t next_oversize(struct ashlar_manager *m, int32_t request)
{
  uint64_t limit = m->config.max_split_size;
  uint64_t need = m->request[request].size > limit ? m->request[request].size : limit;
  m->request[request].enough = m->request[request].released >= need;
  if (m->request[request].enough != 0) {
    return -1;
  }
  return ashlar_reclaim_oversize(m, m->request[request].home, need, limit,
                                 m->request[request].released == 0);
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_OVERSIZE;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step release_oversize(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = next_oversize(m, request);
  if (slot == -1) {
    return pass_on(m, request);
  }
  return leave(m, request, slot);
}

/* The place, among the streams ascending, from which on this rung waits. Before the first one deferred blocks go on. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_CHANGED
    ensures place: 0 <= \result <= m->stream_count;
    ensures rung: m->request[request].rung == \old(m->request[request].rung) &&
      m->request[request].growth == ASHLAR_GROWTH_NONE;
*/
static int32_t waiting_place(struct ashlar_manager *m, int32_t request)
{
  if (m->request[request].waited == NOT_WAITED) {
    m->sync_all_streams = ashlar_saturating_sum(m->sync_all_streams, 1);
    ashlar_move_go_on(m);
    m->request[request].waited = -1;
    return 0;
  }
  if (m->request[request].waited >= 0) {
    return ashlar_move_place(m, m->request[request].waited) + 1;
  }
  return 0;
}

/* Waits for the last use of a stream. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires stream: 0 <= stream < m->stream_count && number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns m->request[request];
    ENSURES_STEP
    ensures kind: \result.kind == ASHLAR_STEP_WAIT;
*/
static struct ashlar_step wait_for(struct ashlar_manager *m, int32_t request, int32_t stream,
                                   uint64_t number)
{
  struct ashlar_step step = ask(m, request, ASHLAR_STEP_WAIT, -1);
  step.stream = stream;
  step.number = number;
  m->request[request].number = number;
  m->request[request].waited = stream;
  return step;
}

/* Waits for the first stream, from a place on, that has uses in its queue, of blocks of a pool (-1: of any). */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung < ASHLAR_RUNG_EMPTY &&
      m->request[request].rung != ASHLAR_RUNG_OUT_OF_MEMORY;
    requires place: 0 <= place <= m->stream_count;
    terminates \true; exits \false;
    assigns m->request[request];
    ENSURES_STEP
    ensures kind: \result.kind == ASHLAR_STEP_WAIT || \result.kind == ASHLAR_STEP_NONE;
*/
static struct ashlar_step wait_from(struct ashlar_manager *m, int32_t request, int32_t place,
                                    int32_t pool)
{
  /*@ loop invariant place: 0 <= place <= m->stream_count;
      loop assigns place;
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count) {
    int32_t stream = ashlar_move_at_place(m, place);
    uint64_t number = ashlar_move_last(m, stream, pool);
    if (number > 0) {
      return wait_for(m, request, stream, number);
    }
    place++;
  }
  return pass_on(m, request);
}

/* Waits for the uses of each stream once, streams ascending. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung < ASHLAR_RUNG_EMPTY &&
      m->request[request].rung != ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step wait_all(struct ashlar_manager *m, int32_t request)
{
  int emptying = m->request[request].rung == ASHLAR_RUNG_EMPTY_WAIT;
  int32_t pool = -1;
  int32_t place;
  if (emptying && m->request[request].home >= 0) {
    pool = ashlar_home_pool(m->request[request].home);
    if (m->pool_state[pool] != ASHLAR_POOL_FREEABLE) {
      return pass_on(m, request);
    }
  }
  place = waiting_place(m, request);
  return wait_from(m, request, place, pool);
}

/* The block that is released next, when everything is; -1: none. */
/*@ REQUIRES_GOING
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_first_releasable: \result != -1 ==> 0 <= \result < m->top && can_go(*m, \result);
    ensures pages: \result != -1 ==> m->growable[\result] != 0 ==> m->state[\result] == ASHLAR_FREE &&
      m->growable[\result] == 1 && has_pages(*m, \result);
*/
static int32_t releasable(const struct ashlar_manager *m, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t home = m->request[request].home;
  int32_t pool = home >= 0 ? ashlar_home_pool(home) : 0;
  if (m->request[request].rung != ASHLAR_RUNG_EMPTY_RELEASE) {
    return ashlar_reclaim_next(m, 1, m->config.policy == ASHLAR_POLICY_COMPLETE ? pool : 0);
  }
  if (home >= 0 && m->pool_state[pool] != ASHLAR_POOL_FREEABLE) {
    return -1;
  }
  if (home >= 0) {
    return ashlar_reclaim_in_pool(m, pool);
  }
  return ashlar_reclaim_next(m, !ashlar_ladder_in_capture(m, m->request[request].caller), 0);
}

/* Releases everything that can be: segments as a whole, and pages of growable ones. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires rung: releases(m->request[request].rung);
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
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
  slot = ashlar_move_take_pages(m, slot, request);
  m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
  return ask(m, request, ASHLAR_STEP_UNMAP, slot);
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_OUT_OF_MEMORY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
    ENSURES_END
*/
static struct ashlar_step out_of_memory(struct ashlar_manager *m, int32_t request)
{
  int rejected = m->request[request].rejected != 0;
  struct ashlar_step step =
      ask(m, request, rejected ? ASHLAR_STEP_REJECTED : ASHLAR_STEP_OUT_OF_MEMORY, -1);
  if (!rejected) {
    m->ooms = ashlar_saturating_sum(m->ooms, 1);
  }
  step.bytes = m->request[request].size;
  return ashlar_ladder_over(m, request, step);
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_CALLBACKS;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step ask_callbacks(struct ashlar_manager *m, int32_t request)
{
  return ask(m, request, ASHLAR_STEP_CALLBACKS, -1);
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung == ASHLAR_RUNG_EMPTY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step emptied(struct ashlar_manager *m, int32_t request)
{
  return ashlar_ladder_over(m, request, ashlar_step_of(ASHLAR_STEP_DONE));
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures rung: \result != 0 <==> asks(rung);
*/
static int is_asking(uint8_t rung)
{
  return rung == ASHLAR_RUNG_ASK || rung == ASHLAR_RUNG_ASK_OVERSIZE ||
         rung == ASHLAR_RUNG_ASK_LAST || rung == ASHLAR_RUNG_ASK_AGAIN;
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures rung: \result != 0 <==> releases(rung);
*/
static int is_releasing(uint8_t rung)
{
  return rung == ASHLAR_RUNG_RELEASE || rung == ASHLAR_RUNG_RELEASE_AGAIN ||
         rung == ASHLAR_RUNG_EMPTY_RELEASE;
}

/* A rung that is tried where nothing was begun on it. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    requires none: m->request[request].growth == ASHLAR_GROWTH_NONE;
    requires rung: m->request[request].rung < ASHLAR_RUNG_OUT_OF_MEMORY && !asks(m->request[request].rung) &&
      !releases(m->request[request].rung);
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER;
    ENSURES_STEP
*/
static struct ashlar_step try_rung(struct ashlar_manager *m, int32_t request)
{
  uint8_t rung = m->request[request].rung;
  if (rung == ASHLAR_RUNG_CALLBACKS) {
    return ask_callbacks(m, request);
  }
  if (rung == ASHLAR_RUNG_COLLECT) {
    return collect(m, request);
  }
  if (rung == ASHLAR_RUNG_FALLBACK) {
    return search_lenders(m, request);
  }
  if (rung == ASHLAR_RUNG_OVERSIZE) {
    return release_oversize(m, request);
  }
  if (rung == ASHLAR_RUNG_WAIT || rung == ASHLAR_RUNG_WAIT_AGAIN) {
    return wait_all(m, request);
  }
  return search(m, request);
}

/* What a rung does that is not left out. */
/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER, m->oom_rejections;
    ENSURES_STEP
    ENSURES_COUNTED
    ENSURES_REJECTED
    ENSURES_END
*/
static struct ashlar_step attempt(struct ashlar_manager *m, int32_t request)
{
  uint8_t rung = m->request[request].rung;
  if (is_asking(rung)) {
    return ask_device(m, request);
  }
  if (is_releasing(rung)) {
    return release_all(m, request);
  }
  if (rung == ASHLAR_RUNG_OUT_OF_MEMORY) {
    return out_of_memory(m, request);
  }
  if (rung == ASHLAR_RUNG_EMPTY_WAIT) {
    return wait_all(m, request);
  }
  if (rung == ASHLAR_RUNG_EMPTY) {
    return emptied(m, request);
  }
  return try_rung(m, request);
}

/*@ REQUIRES_GOING
    requires poised: POISED(request);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_LADDER, m->oom_rejections;
    ENSURES_STEP
    ENSURES_END
    ensures REQ_LADDER_reject_first: IS_REJECTED(\old(*m), request) ==>
      \old(m->request[request].rung) == ASHLAR_RUNG_ASK ==> \result.kind == ASHLAR_STEP_NONE &&
      m->request[request].rung == ASHLAR_RUNG_OUT_OF_MEMORY && m->request[request].rejected != 0;
    ensures REQ_ACCOUNT_rejected_only: m->oom_rejections != \old(m->oom_rejections) ==>
      IS_REJECTED(\old(*m), request) && m->oom_rejections == \old(m->oom_rejections) + 1;
*/
static struct ashlar_step climb(struct ashlar_manager *m, int32_t request)
{
  if (is_left_out(m, request)) {
    return pass_on(m, request);
  }
  return attempt(m, request);
}

struct ashlar_step ashlar_ladder_go(struct ashlar_manager *m, int32_t request)
{
  struct ashlar_step step;
  step = climb(m, request);
  /*@ STEP_CLAUSES(loop invariant, \at(*m, Pre), step)
      loop invariant rung: m->request[request].rung <= ASHLAR_RUNG_EMPTY && step.kind != ASHLAR_STEP_ERROR;
      loop assigns step, ASSIGNS_LADDER, m->oom_rejections;
      loop variant step.kind == ASHLAR_STEP_NONE ? 23 - m->request[request].rung : 0;
  */
  while (step.kind == ASHLAR_STEP_NONE) {
    step = climb(m, request);
  }
  return step;
}
