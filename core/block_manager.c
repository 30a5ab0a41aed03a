/* block_manager.c - see block_manager.h. Every operation checks everything first and only then writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"
#include "core/stats.h"

enum { SLOTS_FOR_A_REQUEST = 2 }; /* a new segment, and the rest that is split off */

struct ashlar_config ashlar_default_config(void)
{
  struct ashlar_config config;
  int32_t row = 0;
  config.max_split_size = UINT64_MAX;
  config.large_segment_size = ASHLAR_DEFAULT_LARGE_SEGMENT;
  config.oversize_slack = ASHLAR_DEFAULT_LARGE_SEGMENT;
  config.order = ASHLAR_ORDER_ADDRESS;
  config.policy = ASHLAR_POLICY_COMPLETE;
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
    ensures REQ_SIZE_settings: \result != 0 ==> valid_config(config);
*/
static int config_valid(struct ashlar_config config)
{
  int32_t row = 0;
  if (config.order > ASHLAR_ORDER_SEGMENT || config.policy > ASHLAR_POLICY_FAITHFUL ||
      config.large_segment_size <= ASHLAR_LARGE_EXACT ||
      config.large_segment_size > ASHLAR_MAX_REQUEST ||
      config.large_segment_size % ASHLAR_LARGE_STEP != 0 ||
      config.max_split_size < config.large_segment_size ||
      config.oversize_slack < config.large_segment_size) {
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

enum ashlar_status ashlar_manager_init(struct ashlar_manager *m, struct ashlar_config config)
{
  if (!config_valid(config)) {
    return ASHLAR_ERROR_SETTING;
  }
  m->config = config;
  m->top = 0;
  m->spare_count = 0;
  m->free_count = 0;
  m->allocated_bytes = 0;
  m->free_bytes = 0;
  m->stream_count = 0;
  m->segments_created = 0;
  m->request.phase = ASHLAR_PHASE_IDLE;
  return ASHLAR_OK;
}

int32_t ashlar_stream_find(const struct ashlar_manager *m, uint64_t key)
{
  int32_t place = ashlar_stream_place(m, key);
  if (place < m->stream_count && m->stream_key[m->stream_order[place]] == key) {
    return m->stream_order[place];
  }
  return -1;
}

struct ashlar_registration ashlar_stream_register(struct ashlar_manager *m, uint64_t key)
{
  struct ashlar_registration result;
  result.stream = ashlar_stream_find(m, key);
  result.status = ASHLAR_OK;
  if (result.stream != -1) {
    result.status = ASHLAR_ERROR_DUPLICATE;
  } else if (m->stream_count >= ASHLAR_STREAMS) {
    result.status = ASHLAR_ERROR_CAPACITY;
  } else {
    result.stream = m->stream_count;
    ashlar_stream_add(m, key);
  }
  return result;
}

/* --- steps --- */

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == kind && \result.status == ASHLAR_OK && \result.slot == -1 &&
      \result.address == address && \result.bytes == bytes;
*/
static struct ashlar_step step_of(enum ashlar_step_kind kind, uint64_t address, uint64_t bytes)
{
  struct ashlar_step step;
  step.kind = kind;
  step.status = ASHLAR_OK;
  step.slot = -1;
  step.generation = 0;
  step.address = address;
  step.bytes = bytes;
  return step;
}

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == ASHLAR_STEP_ERROR && \result.status == status && \result.slot == -1;
*/
static struct ashlar_step error_of(enum ashlar_status status)
{
  struct ashlar_step step = step_of(ASHLAR_STEP_ERROR, 0, 0);
  step.status = status;
  return step;
}

/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == ASHLAR_STEP_DONE && \result.slot == slot && \result.address == m->addr[slot] &&
      \result.bytes == m->size[slot] && \result.generation == m->generation[slot];
*/
static struct ashlar_step done_with(const struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_step step = step_of(ASHLAR_STEP_DONE, m->addr[slot], m->size[slot]);
  step.slot = slot;
  step.generation = m->generation[slot];
  return step;
}

/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns \nothing;
    ensures size: \result == 0 <==> bytes > ASHLAR_MAX_REQUEST;
    ensures granule: \result % 512 == 0 && \result <= 2305843009213693952;
*/
static uint64_t rounded(const struct ashlar_manager *m, uint64_t bytes)
{
  return ashlar_round_size(bytes, m->config.divisions[ashlar_division_row(bytes)]);
}

/* the step that asks the device for a segment for the request in flight */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns m->request.phase;
    ensures \result.kind == ASHLAR_STEP_ALLOCATE && m->request.phase == phase;
*/
static struct ashlar_step ask_device(struct ashlar_manager *m, uint32_t phase)
{
  m->request.phase = phase;
  return step_of(ASHLAR_STEP_ALLOCATE, 0,
                 ashlar_segment_size(m->request.size, m->config.large_segment_size));
}

/* takes a whole free segment out of the manager, to be given back to the device */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires whole: 0 <= slot < m->top && whole_free(*m, slot);
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees;
    ENSURES_MANAGER
    ensures \result.kind == ASHLAR_STEP_RELEASE;
*/
static struct ashlar_step release(struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_step step = step_of(ASHLAR_STEP_RELEASE, m->addr[slot], m->size[slot]);
  ashlar_segment_destroy(m, slot);
  m->device_frees = ashlar_saturating_sum(m->device_frees, 1);
  return step;
}

/* next release of everything; behind the last one the request asks the device once more, or the call is done */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request, m->alloc_retries;
    ENSURES_MANAGER
    ensures REQ_LADDER_everything: \result.kind != ASHLAR_STEP_RELEASE ==>
      \forall integer j; 0 <= j < m->top ==> !whole_free(*m, j);
*/
static struct ashlar_step release_all(struct ashlar_manager *m)
{
  int32_t slot = ashlar_reclaim_first(m);
  if (slot != -1) {
    return release(m, slot);
  }
  if (m->request.phase == ASHLAR_PHASE_EMPTY_CACHE) {
    m->request.phase = ASHLAR_PHASE_IDLE;
    return step_of(ASHLAR_STEP_DONE, 0, 0);
  }
  m->alloc_retries = ashlar_saturating_sum(m->alloc_retries, 1);
  return ask_device(m, ASHLAR_PHASE_ALLOCATE_LAST);
}

/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request, m->alloc_retries, m->sync_all_streams;
    ENSURES_MANAGER
*/
static struct ashlar_step begin_release_all(struct ashlar_manager *m, uint32_t phase)
{
  m->request.phase = phase;
  m->sync_all_streams = ashlar_saturating_sum(m->sync_all_streams, 1);
  return release_all(m);
}

/* next release of an oversize block; behind the last one the device is asked, or everything is released */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request, m->alloc_retries, m->sync_all_streams;
    ENSURES_MANAGER
*/
static struct ashlar_step release_oversize(struct ashlar_manager *m)
{
  uint64_t limit = m->config.max_split_size;
  uint64_t need = m->request.size > limit ? m->request.size : limit;
  int32_t slot;
  if (limit == UINT64_MAX) {
    return begin_release_all(m, ASHLAR_PHASE_RELEASE_ALL);
  }
  if (m->request.released >= need) {
    return ask_device(m, ASHLAR_PHASE_ALLOCATE_OVERSIZE);
  }
  slot = ashlar_reclaim_oversize(m, m->request.list, need, limit);
  if (slot == -1) {
    return begin_release_all(m, ASHLAR_PHASE_RELEASE_ALL);
  }
  m->request.phase = ASHLAR_PHASE_RELEASE_OVERSIZE;
  m->request.released = ashlar_saturating_sum(m->request.released, m->size[slot]);
  return release(m, slot);
}

/* the device gave a segment: it becomes a block, from which the request is served */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires in_flight: m->request.phase != ASHLAR_PHASE_IDLE && m->request.phase != ASHLAR_PHASE_EMPTY_CACHE;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, ASSIGNS_ALLOCATION, m->request, m->device_allocs;
    ENSURES_MANAGER
*/
static struct ashlar_step adopt(struct ashlar_manager *m, uint64_t address)
{
  uint64_t bytes = ashlar_segment_size(m->request.size, m->config.large_segment_size);
  int32_t slot;
  m->request.phase = ASHLAR_PHASE_IDLE;
  if (address % ASHLAR_GRANULE != 0 || bytes > UINT64_MAX - address) {
    return error_of(ASHLAR_ERROR_RANGE);
  }
  if (bytes > UINT64_MAX - m->allocated_bytes - m->free_bytes ||
      m->segments_created == UINT64_MAX) {
    return error_of(ASHLAR_ERROR_CAPACITY);
  }
  slot = ashlar_segment_create(m, address, bytes, m->request.list);
  m->device_allocs = ashlar_saturating_sum(m->device_allocs, 1);
  ashlar_allocation_take_new(m, slot, m->request.bytes, m->request.size);
  return done_with(m, slot);
}

/* --- public operations --- */

struct ashlar_step ashlar_allocate_begin(struct ashlar_manager *m, uint64_t bytes, int32_t stream)
{
  uint64_t size;
  int32_t list;
  int32_t slot;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return error_of(ASHLAR_ERROR_BUSY);
  }
  if (stream < 0 || stream >= m->stream_count) {
    return error_of(ASHLAR_ERROR_STREAM);
  }
  if (bytes == 0) {
    return step_of(ASHLAR_STEP_DONE, 0, 0);
  }
  size = rounded(m, bytes);
  if (size == 0) {
    return error_of(ASHLAR_ERROR_TOO_LARGE);
  }
  if (!ashlar_block_reserve(m, SLOTS_FOR_A_REQUEST)) {
    return error_of(ASHLAR_ERROR_CAPACITY);
  }
  list = ashlar_pool_class(size) * ASHLAR_STREAMS + stream;
  slot = ashlar_allocation_choose(m, list, size);
  if (slot != -1) {
    ashlar_allocation_take(m, slot, bytes, size);
    return done_with(m, slot);
  }
  m->request.bytes = bytes;
  m->request.size = size;
  m->request.list = list;
  m->request.released = 0;
  return ask_device(m, ASHLAR_PHASE_ALLOCATE);
}

struct ashlar_step ashlar_empty_cache_begin(struct ashlar_manager *m)
{
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return error_of(ASHLAR_ERROR_BUSY);
  }
  return begin_release_all(m, ASHLAR_PHASE_EMPTY_CACHE);
}

struct ashlar_step ashlar_resume(struct ashlar_manager *m, enum ashlar_outcome outcome,
                                 uint64_t address)
{
  switch (m->request.phase) {
  case ASHLAR_PHASE_ALLOCATE:
    return outcome == ASHLAR_OUTCOME_DONE ? adopt(m, address) : release_oversize(m);
  case ASHLAR_PHASE_ALLOCATE_OVERSIZE:
    return outcome == ASHLAR_OUTCOME_DONE ? adopt(m, address)
                                          : begin_release_all(m, ASHLAR_PHASE_RELEASE_ALL);
  case ASHLAR_PHASE_ALLOCATE_LAST:
    if (outcome == ASHLAR_OUTCOME_DONE) {
      return adopt(m, address);
    }
    m->request.phase = ASHLAR_PHASE_IDLE;
    m->ooms = ashlar_saturating_sum(m->ooms, 1);
    return step_of(ASHLAR_STEP_OUT_OF_MEMORY, 0, m->request.size);
  case ASHLAR_PHASE_RELEASE_OVERSIZE:
    return release_oversize(m);
  case ASHLAR_PHASE_RELEASE_ALL:
  case ASHLAR_PHASE_EMPTY_CACHE:
    return release_all(m);
  default:
    return error_of(ASHLAR_ERROR_NO_REQUEST);
  }
}

enum ashlar_status ashlar_abandon(struct ashlar_manager *m)
{
  if (m->request.phase == ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_NO_REQUEST;
  }
  m->request.phase = ASHLAR_PHASE_IDLE;
  return ASHLAR_OK;
}

enum ashlar_status ashlar_free(struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top) {
    return ASHLAR_ERROR_SLOT;
  }
  if (m->state[slot] != ASHLAR_ALLOCATED || m->generation[slot] != generation) {
    return ASHLAR_ERROR_STALE_HANDLE;
  }
  ashlar_allocation_release(m, slot);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_free_address(struct ashlar_manager *m, uint64_t address)
{
  int32_t slot = ashlar_map_find(m, address);
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot == -1) {
    return ASHLAR_ERROR_UNKNOWN_ADDRESS;
  }
  return ashlar_free(m, slot, m->generation[slot]);
}

int32_t ashlar_find(const struct ashlar_manager *m, uint64_t address)
{
  return ashlar_map_find(m, address);
}

int32_t ashlar_choose(const struct ashlar_manager *m, uint64_t bytes, int32_t stream)
{
  uint64_t size;
  if (stream < 0 || stream >= m->stream_count || bytes == 0) {
    return -1;
  }
  size = rounded(m, bytes);
  if (size == 0) {
    return -1;
  }
  return ashlar_allocation_choose(m, ashlar_pool_class(size) * ASHLAR_STREAMS + stream, size);
}

struct ashlar_placement ashlar_segment_add(struct ashlar_manager *m, uint64_t address,
                                           uint64_t size, int32_t pool, int32_t stream)
{
  struct ashlar_placement result;
  result.status = ASHLAR_OK;
  result.slot = -1;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    result.status = ASHLAR_ERROR_BUSY;
  } else if (stream < 0 || stream >= m->stream_count) {
    result.status = ASHLAR_ERROR_STREAM;
  } else if ((pool != ASHLAR_POOL_SMALL && pool != ASHLAR_POOL_LARGE) || size == 0 ||
             size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 ||
             size > UINT64_MAX - address) {
    result.status = ASHLAR_ERROR_RANGE;
  } else if (size > UINT64_MAX - m->allocated_bytes - m->free_bytes ||
             m->segments_created == UINT64_MAX || !ashlar_block_reserve(m, 1)) {
    result.status = ASHLAR_ERROR_CAPACITY;
  } else {
    result.slot = ashlar_segment_create(m, address, size, pool * ASHLAR_STREAMS + stream);
    ashlar_block_put(m, result.slot);
  }
  return result;
}

enum ashlar_status ashlar_segment_remove(struct ashlar_manager *m, int32_t slot)
{
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_FREE || m->prev[slot] != -1 ||
      m->next[slot] != -1) {
    return ASHLAR_ERROR_SLOT;
  }
  ashlar_segment_destroy(m, slot);
  return ASHLAR_OK;
}

struct ashlar_placement ashlar_allocate_at(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size, uint64_t requested)
{
  struct ashlar_placement result;
  result.status = ASHLAR_OK;
  result.slot = -1;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    result.status = ASHLAR_ERROR_BUSY;
  } else if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_FREE) {
    result.status = ASHLAR_ERROR_SLOT;
  } else if (size == 0 || size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 ||
             requested > size || address < m->addr[slot] ||
             address - m->addr[slot] > m->size[slot] ||
             size > m->size[slot] - (address - m->addr[slot])) {
    result.status = ASHLAR_ERROR_RANGE;
  } else if (!ashlar_block_reserve(m, SLOTS_FOR_A_REQUEST)) {
    result.status = ASHLAR_ERROR_CAPACITY;
  } else {
    result.slot = ashlar_allocation_take_at(m, slot, address, size, requested);
  }
  return result;
}

enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  uint64_t room;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_ALLOCATED) {
    return ASHLAR_ERROR_SLOT;
  }
  room = m->size[slot];
  if (m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE) {
    room += m->size[m->next[slot]];
  }
  if (size == 0 || size % ASHLAR_GRANULE != 0 || size > room || size < m->requested[slot]) {
    return ASHLAR_ERROR_RANGE;
  }
  if (!ashlar_block_reserve(m, 1)) {
    return ASHLAR_ERROR_CAPACITY;
  }
  ashlar_allocation_resize(m, slot, size);
  return ASHLAR_OK;
}

struct ashlar_block_view ashlar_block(const struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_block_view view;
  view.state = ASHLAR_UNUSED;
  view.address = 0;
  view.size = 0;
  view.requested = 0;
  view.age = 0;
  view.prev = -1;
  view.next = -1;
  view.pool = 0;
  view.stream = 0;
  view.generation = 0;
  if (slot >= 0 && slot < m->top && m->state[slot] != ASHLAR_UNUSED) {
    view.state = m->state[slot];
    view.address = m->addr[slot];
    view.size = m->size[slot];
    view.requested = m->requested[slot];
    view.age = m->age[slot];
    view.prev = m->prev[slot];
    view.next = m->next[slot];
    view.pool = m->list[slot] / ASHLAR_STREAMS;
    view.stream = m->list[slot] % ASHLAR_STREAMS;
    view.generation = m->generation[slot];
  }
  return view;
}

int32_t ashlar_slot_limit(const struct ashlar_manager *m)
{
  return m->top;
}

int32_t ashlar_release_next(const struct ashlar_manager *m, int32_t slot)
{
  if (slot == -1) {
    return ashlar_reclaim_first(m);
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_FREE) {
    return -1;
  }
  return ashlar_reclaim_next(m, slot);
}
