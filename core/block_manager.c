/* block_manager.c - see block_manager.h: settings, pools and requests. Every operation checks everything first and only then
 * writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

#include "core/flight.h"
#include "core/outcome.h"
#include "spec/kept.h"

// clang-format off
/* a request that is to begin, and its first step */
#define REQUIRES_BEGUN \
  requires flight: m->in_flight < ASHLAR_REQUESTS; \
  requires wants: request_wants(request.rung, request.home, request.bytes, request.size, request.waited, \
    request.growable, m->config.device_total, m->pool_state, m->stream_count); \
  requires begun: request.run == -1 && request.growth == ASHLAR_GROWTH_NONE; \
  requires stream: 0 < request.bytes ==> m->stream_gone[request.home % ASHLAR_STREAMS] == 0; \
  requires room: 0 < request.bytes ==> ASHLAR_REQUEST_SLOTS * (m->in_flight + 1) <= ROOM(*m);
#define ENSURES_HANDLE \
  ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> 0 <= \result.slot < m->top && \
    m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address && \
    m->size[\result.slot] == \result.bytes && m->generation[\result.slot] == \result.generation;
#define ENSURES_BEGUN ENSURES_HANDLE \
  ensures kind: ASHLAR_STEP_NONE < \result.kind < ASHLAR_STEP_ERROR && \result.status == ASHLAR_OK && \
    0 <= \result.request < ASHLAR_REQUESTS; \
  ensures REQ_FRAME_begun: FRAME(\old(*m), \result.request, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1); \
  ensures REQ_SIZE_enough_begun: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> \
    request.size <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0; \
  ensures none: \result.kind == ASHLAR_STEP_DONE ==> \result.slot == -1 ==> ASHLAR_RUNG_OUT_OF_MEMORY < request.rung;
/* a request that goes on, and its next step */
#define REQUIRES_FLYING \
  requires flies: 0 <= request < ASHLAR_REQUESTS && m->request[request].rung != ASHLAR_RUNG_IDLE;
#define REQUIRES_OUTCOME REQUIRES_FLYING \
  requires apart: outcome == ASHLAR_OUTCOME_DONE ==> m->request[request].step == ASHLAR_STEP_ALLOCATE || \
    m->request[request].step == ASHLAR_STEP_RESERVE ==> APART(value, m->request[request].asked);
#define ENSURES_RESUMED ENSURES_HANDLE \
  ensures kind: \result.kind != ASHLAR_STEP_NONE && \result.status != ASHLAR_ERROR_NO_REQUEST; \
  ensures REQ_FRAME_resumed: FRAME(\old(*m), request, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1); \
  ensures REQ_SIZE_enough_resumed: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> \
    \old(m->request[request].bytes) <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0; \
  ensures REQ_ATOMIC_leaving_nobodys: \result.kind == ASHLAR_STEP_ERROR ==> HOLDS_NONE(request);
#define ENSURES_DROPPED ensures REQ_FRAME_dropped: FRAME(\old(*m), request, -1); \
  ensures dropped: m->request[request].rung == ASHLAR_RUNG_IDLE && HOLDS_NONE(request);
/* an allocation at an address */
#define REQUIRES_PLACE \
  requires home: 0 <= home < ASHLAR_LISTS; \
  requires granule: 0 < size && size % 512 == 0 && address % 512 == 0 && bytes <= size; \
  requires room: m->in_flight < ASHLAR_REQUESTS && ASHLAR_REQUEST_SLOTS * (m->in_flight + 1) <= ROOM(*m);
#define ENSURES_PLACED ENSURES_HANDLE \
  ensures kind: \result.kind == ASHLAR_STEP_DONE || \result.kind == ASHLAR_STEP_ERROR; \
  ensures REQ_FRAME_placed: FRAME(\old(*m), -1, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1); \
  ensures REQ_SIZE_enough_placed: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 && \
    bytes <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0;
// clang-format on

struct ashlar_config ashlar_default_config(void)
{
  struct ashlar_config config;
  int32_t row = 0;
  config.max_split_size = UINT64_MAX;
  config.large_segment_size = ASHLAR_DEFAULT_LARGE_SEGMENT;
  config.oversize_slack = ASHLAR_DEFAULT_LARGE_SEGMENT;
  config.order = ASHLAR_ORDER_ADDRESS;
  config.policy = ASHLAR_POLICY_COMPLETE;
  config.growable = 0;
  config.callbacks = 0;
  config.device_total = 0;
  config.reservation_small = 0;
  config.reservation_large = 0;
  config.reject_above = 0;
  /*@ loop invariant row: 0 <= row <= ASHLAR_DIVISIONS;
      loop invariant off: \forall integer k; 0 <= k < row ==> config.divisions[k] == 0;
      loop assigns row, config.divisions[0 .. ASHLAR_DIVISIONS - 1];
      loop variant ASHLAR_DIVISIONS - row;
  */
  while (row < ASHLAR_DIVISIONS) {
    config.divisions[row] = 0;
    row++;
  }
  return config;
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_settings: \result != 0 <==> valid_config(config);
*/
static int config_valid(struct ashlar_config config)
{
  int32_t row = 0;
  if (config.order > ASHLAR_ORDER_SEGMENT || config.policy > ASHLAR_POLICY_FAITHFUL ||
      config.large_segment_size <= ASHLAR_LARGE_EXACT ||
      config.large_segment_size > ASHLAR_MAX_REQUEST ||
      config.large_segment_size % ASHLAR_LARGE_STEP != 0 ||
      config.max_split_size < config.large_segment_size ||
      config.oversize_slack < config.large_segment_size || config.growable > 1 ||
      config.callbacks > 1 || config.device_total > ASHLAR_MAX_REQUEST ||
      config.reject_above > ASHLAR_MAX_REQUEST ||
      (config.growable == 1 && config.device_total == 0)) {
    return 0;
  }
  /*@ loop invariant row: 0 <= row <= ASHLAR_DIVISIONS;
      loop invariant valid: \forall integer k; 0 <= k < row ==> valid_division(config.divisions[k]);
      loop assigns row;
      loop variant ASHLAR_DIVISIONS - row;
  */
  while (row < ASHLAR_DIVISIONS) {
    if (!ashlar_division_valid(config.divisions[row])) {
      return 0;
    }
    row++;
  }
  return 1;
}

/* A manager with nothing in it. */
/*@ requires \valid(m);
    requires zeroed: NOTHING_YET;
    requires valid: valid_config(config);
    terminates \true; exits \false;
    assigns m->config, m->growable_on, m->limit, m->collect_above;
    ENSURES_SERVING
    ensures set: m->config == config && m->growable_on == config.growable && m->limit == UINT64_MAX &&
      m->collect_above == UINT64_MAX;
*/
static void set_up(struct ashlar_manager *m, struct ashlar_config config)
{
  m->config = config;
  m->growable_on = config.growable;
  m->limit = UINT64_MAX;
  m->collect_above = UINT64_MAX;
  //@ ghost ashlar_blocks_close(m);
  //@ ghost ashlar_map_close(m);
  //@ ghost ashlar_uses_close(m);
  //@ ghost ashlar_pools_close(m);
  //@ ghost ashlar_streams_close(m);
  //@ ghost ashlar_whole_close(m);
}

enum ashlar_status ashlar_manager_init(struct ashlar_manager *m, struct ashlar_config config)
{
  if (!config_valid(config)) {
    return ASHLAR_ERROR_SETTING;
  }
  set_up(m, config);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_limit_set(struct ashlar_manager *m, uint64_t limit,
                                    uint64_t collect_above)
{
  m->limit = limit;
  m->collect_above = collect_above;
  return ASHLAR_OK;
}

enum ashlar_status ashlar_growable_set(struct ashlar_manager *m, int on)
{
  if (on != 0 && m->config.device_total == 0) {
    return ASHLAR_ERROR_SETTING;
  }
  m->growable_on = on != 0;
  return ASHLAR_OK;
}

/* --- pools --- */

/* Pools that nothing leads to any more end. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    terminates \true; exits \false;
    assigns ASSIGNS_END;
    FLIGHT_INVARIANT(ensures)
*/
static void end_pools(struct ashlar_manager *m)
{
  ashlar_ladder_end_pools(m);
  //@ assert want: OTHERS_WANT(-1);
}

/* A user of a private pool leaves, and its scope is closed; the pool stays. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    terminates \true; exits \false;
    assigns m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS], m->pool_state[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_no_split[0 .. ASHLAR_PRIVATE_POOLS];
    FLIGHT_INVARIANT(ensures)
*/
static enum ashlar_status release(struct ashlar_manager *m, int32_t pool)
{
  enum ashlar_status status;
  //@ ghost ashlar_whole_open(m);
  status = ashlar_pool_release(m, pool);
  //@ ghost ashlar_whole_close(m);
  //@ assert want: OTHERS_WANT(-1);
  return status;
}
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    terminates \true; exits \false;
    assigns m->scope_serial[0 .. ASHLAR_PRIVATE_POOLS];
    FLIGHT_INVARIANT(ensures)
*/
static enum ashlar_status close_scope(struct ashlar_manager *m, int32_t pool)
{
  enum ashlar_status status;
  //@ ghost ashlar_whole_open(m);
  status = ashlar_scope_close(m, pool);
  //@ ghost ashlar_whole_close(m);
  return status;
}

enum ashlar_status ashlar_pool_leave(struct ashlar_manager *m, int32_t pool)
{
  enum ashlar_status status;
  //@ ghost ashlar_flight_open(m);
  status = release(m, pool);
  end_pools(m);
  //@ ghost ashlar_flight_close(m);
  return status;
}

enum ashlar_status ashlar_scope_leave(struct ashlar_manager *m, int32_t pool)
{
  enum ashlar_status status;
  //@ ghost ashlar_flight_open(m);
  status = close_scope(m, pool);
  end_pools(m);
  //@ ghost ashlar_flight_close(m);
  return status;
}

/* --- requests --- */

/*@ requires \valid(m);
    requires config: valid_config(m->config);
    terminates \true; exits \false;
    assigns \nothing;
    ensures size: \result == 0 <==> bytes > ASHLAR_MAX_REQUEST;
    ensures granule: \result % 512 == 0 && \result <= 2305843009213693952;
    ensures enough: \result != 0 ==> bytes <= \result;
*/
static uint64_t rounded(const struct ashlar_manager *m, uint64_t bytes)
{
  return ashlar_round_size(bytes, m->config.divisions[ashlar_division_row(bytes)]);
}

/* Why a request is refused before its first step. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires flight: 0 <= m->in_flight <= ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures ok: \result == ASHLAR_OK ==> is_stream(*m, stream) && bytes <= ASHLAR_MAX_REQUEST &&
      m->in_flight < ASHLAR_REQUESTS && ASHLAR_REQUEST_SLOTS * (m->in_flight + 1) <= ROOM(*m);
    ensures stream: \result == ASHLAR_OK ==> stream < ASHLAR_STREAM_DEFERRED;
    ensures REQ_CAPACITY_slots_refused: \result == ASHLAR_ERROR_CAPACITY ==>
      ROOM(*m) < ASHLAR_REQUEST_SLOTS * (m->in_flight + 1);
*/
static enum ashlar_status refusal(const struct ashlar_manager *m, uint64_t bytes, int32_t stream)
{
  if (ashlar_ladder_busy(m)) {
    return ASHLAR_ERROR_BUSY;
  }
  if (!ashlar_move_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (bytes > ASHLAR_MAX_REQUEST) {
    return ASHLAR_ERROR_TOO_LARGE;
  }
  if (m->in_flight >= ASHLAR_REQUESTS) {
    return ASHLAR_ERROR_REQUESTS;
  }
  if (ashlar_reclaim_room(m) < ASHLAR_REQUEST_SLOTS * (m->in_flight + 1)) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

/* A number that no request in flight has. */
/*@ requires \valid(m);
    requires flight: flight_counted(m->in_flight, m->request) && m->in_flight < ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures unused: 0 <= \result < ASHLAR_REQUESTS && m->request[\result].rung == ASHLAR_RUNG_IDLE;
*/
static int32_t unused_request(const struct ashlar_manager *m)
{
  int32_t request = 0;
  /*@ loop invariant request: 0 <= request < ASHLAR_REQUESTS;
      loop invariant passed: \forall integer r; 0 <= r < request ==> m->request[r].rung != ASHLAR_RUNG_IDLE;
      loop assigns request;
      loop variant ASHLAR_REQUESTS - request;
  */
  while (request < ASHLAR_REQUESTS - 1 && m->request[request].rung != ASHLAR_RUNG_IDLE) {
    request++;
  }
  return request;
}

/* A request as it begins: on a rung, for a home (-1: none) and a caller. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures begun: \result.rung == rung && \result.home == home && \result.bytes == 0 && \result.size == 0 &&
      \result.waited == -2 && \result.run == -1 && \result.growth == ASHLAR_GROWTH_NONE &&
      \result.growable == 0;
*/
static struct ashlar_request request_of(uint8_t rung, int32_t home, struct ashlar_caller caller)
{
  struct ashlar_request request;
  request.bytes = 0;
  request.size = 0;
  request.released = 0;
  request.target = 0;
  request.cutoff = UINT64_MAX;
  request.asked = 0;
  request.run_end = 0;
  request.number = 0;
  request.address = 0;
  request.home = home;
  request.slot = -1;
  request.run = -1;
  request.waited = -2;
  request.caller = caller.stream;
  request.rung = rung;
  request.step = ASHLAR_STEP_NONE;
  request.growth = ASHLAR_GROWTH_NONE;
  request.growable = 0;
  request.reserved = 0;
  request.enough = 0;
  request.freed = 0;
  request.passed = 0;
  request.rejected = 0;
  return request;
}

/* Deferred blocks go on where the caller is outside a capture. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    FLIGHT_INVARIANT(ensures)
    ENSURES_FRAME_ALL(-1)
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
static void poll(struct ashlar_manager *m, int32_t caller_stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_ladder_poll(m, caller_stream);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert want: OTHERS_WANT(-1);
  //@ assert hold: OTHERS_HOLD(-1);
  //@ assert asked: OTHERS_ASKED(-1);
  //@ assert linked: OTHERS_LINKED(-1);
}

/* The first step of a request. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    REQUIRES_BEGUN
    terminates \true; exits \false;
    assigns *m;
    FLIGHT_INVARIANT(ensures)
    ENSURES_BEGUN
*/
static struct ashlar_step start(struct ashlar_manager *m, struct ashlar_request request)
{
  int32_t number = unused_request(m);
  struct ashlar_step step;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_move_reserve(m);
  //@ assert frame: FRAME(\at(*m, Pre), number, -1);
  m->request[number] = request;
  m->in_flight++;
  step = ashlar_ladder_go(m, number);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert frame: FRAME(\at(*m, Pre), number, step.kind == ASHLAR_STEP_DONE ? step.slot : -1);
  //@ assert clocks: clocks_on(\at(*m, Pre).submitted, m->submitted);
  //@ assert count: COUNT_CHANGED(\at(*m, Pre), number);
  //@ assert need: NEED_CHANGED(\at(*m, Pre), number);
  /*@ assert least: slots_needed(m->request, ASHLAR_REQUESTS) <=
        ASHLAR_SET_ASIDE - ASHLAR_REQUEST_SLOTS + NEEDS(m->request[number]); */
  /*@ assert most: slots_needed(\at(*m, Pre).request, ASHLAR_REQUESTS) <=
        ASHLAR_REQUEST_SLOTS * \at(m->in_flight, Pre); */
  //@ assert want: OTHERS_WANT(number);
  //@ assert hold: OTHERS_HOLD(number);
  //@ assert asked: OTHERS_ASKED(number);
  //@ assert linked: OTHERS_LINKED(number);
  return step;
}

/* A request begins. */
/*@ REQUIRES_SERVING
    REQUIRES_BEGUN
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ENSURES_BEGUN
*/
static struct ashlar_step begin(struct ashlar_manager *m, struct ashlar_request request,
                                struct ashlar_caller caller)
{
  struct ashlar_step step;
  //@ ghost ashlar_flight_open(m);
  poll(m, caller.stream);
  step = start(m, request);
  //@ ghost ashlar_flight_close(m);
  return step;
}

/* The list that serves a request of a rounded size. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures home: 0 <= \result < ASHLAR_LISTS && \result % ASHLAR_STREAMS == stream;
    ensures REQ_POOL_scope_home: \result / ASHLAR_STREAMS / ASHLAR_CLASSES == 0 ||
      m->pool_state[\result / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED;
*/
static int32_t home_of(const struct ashlar_manager *m, uint64_t size, int32_t stream,
                       struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_home(ashlar_scope_route(m, caller.thread, stream), ashlar_pool_class(size), stream);
}

/* Whether growable segments are on for a home: a pool with an allocator of its own has none. */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_toggle_home: \result == (m->growable_on != 0 && m->pool_allocator[home / ASHLAR_STREAMS / ASHLAR_CLASSES] == 0 ? 1 : 0);
*/
static uint8_t is_growable(const struct ashlar_manager *m, int32_t home)
{
  int32_t pool = ashlar_home_pool(home);
  return m->growable_on != 0 && m->pool_allocator[pool] == 0 ? 1 : 0;
}

struct ashlar_step ashlar_allocate_begin(struct ashlar_manager *m, uint64_t bytes, int32_t stream,
                                         struct ashlar_caller caller)
{
  enum ashlar_status status = refusal(m, bytes, stream);
  struct ashlar_request request;
  uint64_t size;
  if (status != ASHLAR_OK) {
    return ashlar_step_error(status);
  }
  if (bytes == 0) {
    return ashlar_step_of(ASHLAR_STEP_DONE);
  }
  size = rounded(m, bytes);
  request = request_of(ASHLAR_RUNG_SEARCH, home_of(m, size, stream, caller), caller);
  request.bytes = bytes;
  request.size = size;
  request.growable = is_growable(m, request.home);
  return begin(m, request, caller);
}

struct ashlar_step ashlar_empty_cache_begin(struct ashlar_manager *m, int32_t pool,
                                            struct ashlar_caller caller)
{
  int32_t home = -1;
  if (ashlar_ladder_busy(m)) {
    return ashlar_step_error(ASHLAR_ERROR_BUSY);
  }
  if (m->in_flight >= ASHLAR_REQUESTS) {
    return ashlar_step_error(ASHLAR_ERROR_REQUESTS);
  }
  if (pool != -1) {
    if (!ashlar_pool_exists(m, pool)) {
      return ashlar_step_error(ASHLAR_ERROR_POOL);
    }
    home = ashlar_home(pool, ASHLAR_CLASS_SMALL, 0);
  }
  return begin(m, request_of(ASHLAR_RUNG_EMPTY_WAIT, home, caller), caller);
}

int32_t ashlar_choose(const struct ashlar_manager *m, uint64_t bytes, int32_t stream,
                      struct ashlar_caller caller)
{
  uint64_t size;
  int32_t home;
  if (bytes == 0 || refusal(m, bytes, stream) != ASHLAR_OK) {
    return -1;
  }
  size = rounded(m, bytes);
  home = home_of(m, size, stream, caller);
  return ashlar_move_choose(m, home, size, is_growable(m, home));
}

/* The free block of a list that has [address, address + size); -1: none. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    requires size: 0 < size;
    terminates \true; exits \false;
    assigns \nothing;
    ensures around: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->home[\result] == home && m->addr[\result] <= address && address + size <= m->addr[\result] + m->size[\result];
*/
static int32_t block_around(const struct ashlar_manager *m, int32_t home, uint64_t address,
                            uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = ashlar_index_best(m, home, size);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home &&
        size <= m->size[slot]);
      loop assigns slot;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1 &&
         (address < m->addr[slot] || address - m->addr[slot] > m->size[slot] - size)) {
    slot = ashlar_index_after(m, home, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

/* Sees to spare slots. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    FLIGHT_INVARIANT(ensures)
    ENSURES_FRAME_ALL(-1)
    ensures room: ROOM(*m) == ROOM(\old(*m));
    ensures ready: READY;
*/
static void set_aside(struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_move_reserve(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert want: OTHERS_WANT(-1);
  //@ assert hold: OTHERS_HOLD(-1);
  //@ assert asked: OTHERS_ASKED(-1);
  //@ assert linked: OTHERS_LINKED(-1);
}

/* Exactly [address, address + size) of a free block is taken. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: 0 < size && address % 512 == 0 && size % 512 == 0 && m->addr[slot] <= address &&
      address + size <= m->addr[slot] + m->size[slot];
    requires room: 2 <= m->spare_count && slots_needed(m->request, ASHLAR_REQUESTS) + 2 <= ROOM(*m);
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    FLIGHT_INVARIANT(ensures)
    ENSURES_FRAME_ALL(\result)
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->size[\result] == size;
*/
static int32_t take_at(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                       uint64_t bytes)
{
  int32_t block;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  block = ashlar_move_take_at(m, slot, address, size, bytes);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert want: OTHERS_WANT(-1);
  //@ assert hold: OTHERS_HOLD(-1);
  //@ assert asked: OTHERS_ASKED(-1);
  //@ assert linked: OTHERS_LINKED(-1);
  return block;
}

/* What is taken of a free block from an address on: `size` bytes where it is split there, else all. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    requires around: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->addr[slot] <= address &&
      address + size <= m->addr[slot] + m->size[slot];
    requires granule: 0 < size && size % 512 == 0 && address % 512 == 0;
    terminates \true; exits \false;
    assigns \nothing;
    ensures taken: size <= \result && address + \result <= m->addr[slot] + m->size[slot] && \result % 512 == 0;
*/
static uint64_t taken_size(const struct ashlar_manager *m, int32_t slot, uint64_t address,
                           uint64_t size, int32_t home)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  uint64_t whole = m->size[slot] - (address - m->addr[slot]);
  return ashlar_allocation_splits(m, home, whole, size, is_growable(m, home)) ? size : whole;
}

/* Allocates [address, address + size) out of a list. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    REQUIRES_PLACE
    requires ready: READY;
    terminates \true; exits \false;
    assigns *m;
    FLIGHT_INVARIANT(ensures)
    ENSURES_PLACED
*/
static struct ashlar_step place(struct ashlar_manager *m, uint64_t address, uint64_t bytes,
                                uint64_t size, int32_t home)
{
  int32_t slot = block_around(m, home, address, size);
  if (slot == -1) {
    return ashlar_step_error(ASHLAR_ERROR_MISFIT);
  }
  //@ assert needed: slots_needed(m->request, ASHLAR_REQUESTS) <= ASHLAR_REQUEST_SLOTS * m->in_flight;
  //@ assert counted: 0 <= m->in_flight;
  slot = take_at(m, slot, address, taken_size(m, slot, address, size, home), bytes);
  return ashlar_ladder_about(m, ASHLAR_STEP_DONE, slot);
}

/* The same, of a manager; deferred blocks go on before. */
/*@ REQUIRES_SERVING
    REQUIRES_PLACE
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ENSURES_PLACED
*/
static struct ashlar_step place_polled(struct ashlar_manager *m, uint64_t address, uint64_t bytes,
                                       uint64_t size, int32_t home, struct ashlar_caller caller)
{
  struct ashlar_step step;
  //@ ghost ashlar_flight_open(m);
  set_aside(m);
  poll(m, caller.stream);
  step = place(m, address, bytes, size, home);
  //@ ghost ashlar_flight_close(m);
  return step;
}

struct ashlar_step ashlar_allocate_exactly(struct ashlar_manager *m, uint64_t address,
                                           uint64_t bytes, int32_t stream,
                                           struct ashlar_caller caller)
{
  enum ashlar_status status = refusal(m, bytes, stream);
  uint64_t size;
  if (status != ASHLAR_OK || address % ASHLAR_GRANULE != 0) {
    return ashlar_step_error(status != ASHLAR_OK ? status : ASHLAR_ERROR_RANGE);
  }
  if (bytes == 0) {
    return ashlar_step_of(ASHLAR_STEP_DONE);
  }
  size = rounded(m, bytes);
  return place_polled(m, address, bytes, size, home_of(m, size, stream, caller), caller);
}

/* --- outcomes: outcome.c --- */

/* Goes on with a request in flight. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    REQUIRES_OUTCOME
    terminates \true; exits \false;
    assigns *m;
    FLIGHT_INVARIANT(ensures)
    ENSURES_RESUMED
*/
static struct ashlar_step go_on(struct ashlar_manager *m, int32_t request,
                                enum ashlar_outcome outcome, uint64_t value)
{
  struct ashlar_step step;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_move_reserve(m);
  //@ assert frame: FRAME(\at(*m, Pre), request, -1);
  //@ assert own: HOLDS(request, STEP_IS_ABOUT_ONE(request)) && ASKED(request);
  step = ashlar_outcome_take(m, request, outcome, value);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert framed: FRAME(\at(*m, Pre), request, step.kind == ASHLAR_STEP_DONE ? step.slot : -1);
  //@ assert clocks: clocks_on(\at(*m, Pre).submitted, m->submitted);
  //@ assert over: m->request[request].rung == ASHLAR_RUNG_IDLE ==> HOLDS_NONE(request);
  //@ assert none: OTHERS_NONE(request);
  /*@ assert stream: 0 < m->request[request].bytes ==>
        m->stream_gone[m->request[request].home % ASHLAR_STREAMS] == 0; */
  //@ assert count: COUNT_CHANGED(\at(*m, Pre), request);
  //@ assert need: NEED_CHANGED(\at(*m, Pre), request);
  /*@ assert least: slots_needed(m->request, ASHLAR_REQUESTS) <=
        ASHLAR_SET_ASIDE - ASHLAR_REQUEST_SLOTS + NEEDS(m->request[request]); */
  /*@ assert most: slots_needed(\at(*m, Pre).request, ASHLAR_REQUESTS) <=
        ASHLAR_REQUEST_SLOTS * \at(m->in_flight, Pre); */
  //@ assert want: OTHERS_WANT(request);
  //@ assert hold: OTHERS_HOLD(request);
  //@ assert asked: OTHERS_ASKED(request);
  //@ assert linked: OTHERS_LINKED(request);
  return step;
}

/* The same, of a manager. */
/*@ REQUIRES_SERVING
    REQUIRES_OUTCOME
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ENSURES_RESUMED
*/
static struct ashlar_step resume(struct ashlar_manager *m, int32_t request,
                                 enum ashlar_outcome outcome, uint64_t value)
{
  struct ashlar_step step;
  //@ ghost ashlar_flight_open(m);
  step = go_on(m, request, outcome, value);
  //@ ghost ashlar_flight_close(m);
  return step;
}

struct ashlar_step ashlar_resume(struct ashlar_manager *m, int32_t request,
                                 enum ashlar_outcome outcome, uint64_t value)
{
  if (request < 0 || request >= ASHLAR_REQUESTS || m->request[request].rung == ASHLAR_RUNG_IDLE) {
    return ashlar_step_error(ASHLAR_ERROR_NO_REQUEST);
  }
  return resume(m, request, outcome, value);
}

/* Ends a request in flight. */
/*@ requires \valid(m); FLIGHT_INVARIANT(requires)
    REQUIRES_FLYING
    terminates \true; exits \false;
    assigns *m;
    FLIGHT_INVARIANT(ensures)
    ENSURES_DROPPED
*/
static void end(struct ashlar_manager *m, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_outcome_drop(m, request);
  (void)ashlar_ladder_over(m, request, ashlar_step_of(ASHLAR_STEP_DONE));
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert count: COUNT_CHANGED(\at(*m, Pre), request);
  //@ assert need: NEED_CHANGED(\at(*m, Pre), request);
  /*@ assert least: slots_needed(m->request, ASHLAR_REQUESTS) <=
        ASHLAR_SET_ASIDE - ASHLAR_REQUEST_SLOTS + NEEDS(m->request[request]); */
  /*@ assert most: slots_needed(\at(*m, Pre).request, ASHLAR_REQUESTS) <=
        ASHLAR_REQUEST_SLOTS * \at(m->in_flight, Pre); */
  //@ assert want: OTHERS_WANT(request);
  //@ assert hold: OTHERS_HOLD(request);
  //@ assert asked: OTHERS_ASKED(request);
  //@ assert linked: OTHERS_LINKED(request);
}

/* The same, of a manager. */
/*@ REQUIRES_SERVING
    REQUIRES_FLYING
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ENSURES_DROPPED
*/
static void abandon(struct ashlar_manager *m, int32_t request)
{
  //@ ghost ashlar_flight_open(m);
  end(m, request);
  //@ ghost ashlar_flight_close(m);
}

enum ashlar_status ashlar_abandon(struct ashlar_manager *m, int32_t request)
{
  if (request < 0 || request >= ASHLAR_REQUESTS || m->request[request].rung == ASHLAR_RUNG_IDLE) {
    return ASHLAR_ERROR_NO_REQUEST;
  }
  abandon(m, request);
  return ASHLAR_OK;
}
