/* block_manager.c - see block_manager.h. Every operation checks everything first and only then writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"
#include "core/stats.h"

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
  m->bytes[ASHLAR_UNUSED] = 0;
  m->bytes[ASHLAR_FREE] = 0;
  m->bytes[ASHLAR_ALLOCATED] = 0;
  m->bytes[ASHLAR_PENDING] = 0;
  m->bytes[ASHLAR_UNMAPPED] = 0;
  m->bytes[ASHLAR_HELD] = 0;
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
    ensures \result.kind == ASHLAR_STEP_DONE && \result.status == ASHLAR_OK && \result.slot == slot &&
      \result.address == m->addr[slot] && \result.bytes == m->size[slot] && \result.generation == m->generation[slot];
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
    ensures enough: \result != 0 ==> bytes <= \result;
*/
static uint64_t rounded(const struct ashlar_manager *m, uint64_t bytes)
{
  return ashlar_round_size(bytes, m->config.divisions[ashlar_division_row(bytes)]);
}

/* the step that asks the device for a segment for the request in flight */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns m->request.phase;
    ensures asked: \result.kind == ASHLAR_STEP_ALLOCATE && \result.status == ASHLAR_OK &&
      \result.bytes == m->request.segment && m->request.phase == phase;
*/
static struct ashlar_step ask_device(struct ashlar_manager *m, uint32_t phase)
{
  m->request.phase = phase;
  return step_of(ASHLAR_STEP_ALLOCATE, 0, m->request.segment);
}

/* Steps on the way of releasing: to release one segment more, to ask the device, or none. */
// clang-format off
#define RELEASE_STEP \
  ensures kind: \result.kind == ASHLAR_STEP_RELEASE || \result.kind == ASHLAR_STEP_ALLOCATE || \
    (\result.kind == ASHLAR_STEP_DONE && \result.slot == -1); \
  ensures asked: \result.kind == ASHLAR_STEP_ALLOCATE ==> device_asked(*m) && \result.bytes == m->request.segment; \
  ensures REQ_FRAME_step: others_kept(\old(*m), *m, -1);
// clang-format on

/* takes a whole free segment out of the manager, to be given back to the device */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires whole: 0 <= slot < m->top && whole_free(*m, slot);
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees;
    ENSURES_MANAGER
    ensures kind: \result.kind == ASHLAR_STEP_RELEASE;
    ensures REQ_FRAME_release: others_kept(\old(*m), *m, -1);
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
    requires phase: m->request.phase == ASHLAR_PHASE_RELEASE_ALL || m->request.phase == ASHLAR_PHASE_EMPTY_CACHE;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request.phase, m->alloc_retries;
    ENSURES_MANAGER
    RELEASE_STEP
    ensures REQ_LADDER_everything: \result.kind != ASHLAR_STEP_RELEASE ==>
      \forall integer j; 0 <= j < m->top ==> !whole_free(*m, j);
    ensures REQ_LADDER_all_listed: \result.kind != ASHLAR_STEP_RELEASE ==> nothing_to_release(*m);
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
    requires phase: phase == ASHLAR_PHASE_EMPTY_CACHE || (phase == ASHLAR_PHASE_RELEASE_ALL &&
      m->request.phase != ASHLAR_PHASE_IDLE && m->request.phase != ASHLAR_PHASE_EMPTY_CACHE);
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request.phase, m->alloc_retries, m->sync_all_streams;
    ENSURES_MANAGER
    RELEASE_STEP
*/
static struct ashlar_step begin_release_all(struct ashlar_manager *m, uint32_t phase)
{
  m->request.phase = phase;
  m->sync_all_streams = ashlar_saturating_sum(m->sync_all_streams, 1);
  return release_all(m);
}

/* next release of an oversize block; behind the last one the device is asked, or everything is released */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires in_flight: m->request.phase != ASHLAR_PHASE_IDLE && m->request.phase != ASHLAR_PHASE_EMPTY_CACHE;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, m->device_frees, m->request.phase, m->request.released, m->alloc_retries,
      m->sync_all_streams;
    ENSURES_MANAGER
    RELEASE_STEP
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

/* adds a segment as one allocated block, which is not mapped; its slot */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires spare: 0 < m->spare_count;
    requires range: 0 < size && address + size <= UINT64_MAX && address % 512 == 0 && size % 512 == 0;
    requires list: 0 <= list < ASHLAR_LISTS;
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX;
    requires ages: m->segments_created < UINT64_MAX;
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      address + size <= m->addr[j] || m->addr[j] + m->size[j] <= address;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT;
    ENSURES_BLOCKS ENSURES_MAP(\result)
    ensures new: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->size[\result] == size && m->list[\result] == list && m->prev[\result] == -1 && m->next[\result] == -1;
    ensures free: \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
    ensures REQ_FRAME_add: others_kept(\old(*m), *m, \result);
*/
static int32_t add_segment(struct ashlar_manager *m, uint64_t address, uint64_t size, int32_t list)
{
  int32_t slot = ashlar_segment_create(m, address, size, list);
  /*@ assert mapped: \forall integer j; 0 <= j < m->top ==>
        (m->state[j] == ASHLAR_ALLOCATED && j != slot <==> \at(*m, Pre).state[j] == ASHLAR_ALLOCATED); */
  /*@ assert placed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==> j != slot ==>
        m->addr[j] == \at(*m, Pre).addr[j]; */
  /*@ assert links: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_ALLOCATED ==> i != slot ==>
        \forall integer j; 0 <= j < m->top ==> m->chain[i] <= j + 1 <= m->chain[i] ==> i < j &&
          \at(*m, Pre).state[j] == ASHLAR_ALLOCATED &&
          bucket_number(\at(*m, Pre).addr[j]) == bucket_number(\at(*m, Pre).addr[i]); */
  return slot;
}

/* the device gave a segment: it becomes a block, from which the request is served */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires in_flight: device_asked(*m);
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      address + m->request.segment <= m->addr[j] || m->addr[j] + m->size[j] <= address;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT, ASSIGNS_ALLOCATION, m->request.phase, m->device_allocs;
    ENSURES_MANAGER
    ensures kind: \result.kind == ASHLAR_STEP_DONE || \result.kind == ASHLAR_STEP_ERROR;
    ensures REQ_ATOMIC_adopt: \result.kind == ASHLAR_STEP_ERROR ==> blocks_kept(\old(*m), *m);
    ensures REQ_SIZE_enough_adopted: \result.kind == ASHLAR_STEP_DONE ==> m->request.bytes <= \result.bytes &&
      \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_FREE_handle_adopted: \result.kind == ASHLAR_STEP_DONE ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->generation[\result.slot] == \result.generation;
    ensures REQ_FRAME_adopt: \result.kind == ASHLAR_STEP_DONE ==> others_kept(\old(*m), *m, \result.slot);
*/
static struct ashlar_step adopt(struct ashlar_manager *m, uint64_t address)
{
  uint64_t bytes = m->request.segment;
  int32_t slot;
  m->request.phase = ASHLAR_PHASE_IDLE;
  if (address % ASHLAR_GRANULE != 0 || bytes > UINT64_MAX - address) {
    return error_of(ASHLAR_ERROR_RANGE);
  }
  if (bytes > UINT64_MAX - ashlar_block_bytes(m) ||
      m->segments_created == UINT64_MAX) {
    return error_of(ASHLAR_ERROR_CAPACITY);
  }
  slot = add_segment(m, address, bytes, m->request.list);
  m->device_allocs = ashlar_saturating_sum(m->device_allocs, 1);
  ashlar_allocation_take_new(m, slot, m->request.bytes, m->request.size);
  return done_with(m, slot);
}

/* the ladder is exhausted */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns m->request.phase, m->ooms;
    ensures kind: \result.kind == ASHLAR_STEP_OUT_OF_MEMORY && \result.bytes == m->request.size;
    ensures over: m->request.phase == ASHLAR_PHASE_IDLE;
*/
static struct ashlar_step out_of_memory(struct ashlar_manager *m)
{
  m->request.phase = ASHLAR_PHASE_IDLE;
  m->ooms = ashlar_saturating_sum(m->ooms, 1);
  return step_of(ASHLAR_STEP_OUT_OF_MEMORY, 0, m->request.size);
}

/* serves a request from a free block, the rest of which takes a slot where it is split off */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires idle: m->request.phase == ASHLAR_PHASE_IDLE;
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires fits: 0 < bytes <= size <= m->size[slot] && size % 512 == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, m->top, m->generation[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MANAGER
    ensures kind: \result.kind == ASHLAR_STEP_DONE ||
      (\result.kind == ASHLAR_STEP_ERROR && \result.status == ASHLAR_ERROR_CAPACITY);
    ensures block: \result.kind == ASHLAR_STEP_DONE ==> slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    ensures served: \result.kind == ASHLAR_STEP_DONE ==> \result.slot == slot && \result.status == ASHLAR_OK &&
      m->addr[slot] == \result.address && m->size[slot] == \result.bytes &&
      m->generation[slot] == \result.generation;
    ensures REQ_SIZE_enough: \result.kind == ASHLAR_STEP_DONE ==> bytes <= m->size[slot];
    ensures REQ_SIZE_aligned: \result.kind == ASHLAR_STEP_DONE ==>
      \result.address % 512 == 0 && \result.bytes % 512 == 0;
    ensures REQ_FRAME_serve: \result.kind == ASHLAR_STEP_DONE ==> others_kept(\old(*m), *m, slot);
    ensures REQ_ATOMIC_serve: \result.kind == ASHLAR_STEP_ERROR ==> blocks_kept(\old(*m), *m);
    ensures REQ_CAPACITY_slots_serve: \result.kind == ASHLAR_STEP_ERROR ==> m->top == ASHLAR_SLOTS && m->spare_count < 1;
*/
static struct ashlar_step serve(struct ashlar_manager *m, int32_t slot, uint64_t bytes,
                                uint64_t size)
{
  if (!ashlar_block_reserve(m, ashlar_should_split(m->list[slot] / ASHLAR_STREAMS, m->size[slot],
                                                   size, m->config.max_split_size))) {
    return error_of(ASHLAR_ERROR_CAPACITY);
  }
  ashlar_allocation_take(m, slot, bytes, size);
  //@ assert aligned: m->addr[slot] % 512 == 0 && m->size[slot] % 512 == 0;
  return done_with(m, slot);
}

/* --- public operations --- */

struct ashlar_step ashlar_allocate_begin(struct ashlar_manager *m, uint64_t bytes, int32_t stream)
{
  uint64_t size;
  uint64_t segment;
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
  list = ashlar_pool_class(size) * ASHLAR_STREAMS + stream;
  slot = ashlar_allocation_choose(m, list, size);
  if (slot != -1) {
    return serve(m, slot, bytes, size);
  }
  segment = ashlar_segment_size(size, m->config.large_segment_size);
  //@ assert granule: m->config.large_segment_size % ASHLAR_GRANULE == 0 && segment % ASHLAR_GRANULE == 0;
  if (!ashlar_block_reserve(m, 1 + ashlar_should_split(list / ASHLAR_STREAMS, segment, size,
                                                       m->config.max_split_size))) {
    return error_of(ASHLAR_ERROR_CAPACITY);
  }
  m->request.bytes = bytes;
  m->request.size = size;
  m->request.segment = segment;
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
  struct ashlar_step step = error_of(ASHLAR_ERROR_NO_REQUEST);
  switch (m->request.phase) {
  case ASHLAR_PHASE_ALLOCATE:
    step = outcome == ASHLAR_OUTCOME_DONE ? adopt(m, address) : release_oversize(m);
    break;
  case ASHLAR_PHASE_ALLOCATE_OVERSIZE:
    step = outcome == ASHLAR_OUTCOME_DONE ? adopt(m, address)
                                          : begin_release_all(m, ASHLAR_PHASE_RELEASE_ALL);
    break;
  case ASHLAR_PHASE_ALLOCATE_LAST:
    step = outcome == ASHLAR_OUTCOME_DONE ? adopt(m, address) : out_of_memory(m);
    break;
  case ASHLAR_PHASE_RELEASE_OVERSIZE:
    step = release_oversize(m);
    break;
  case ASHLAR_PHASE_RELEASE_ALL:
  case ASHLAR_PHASE_EMPTY_CACHE:
    step = release_all(m);
    break;
  default: /* idle */
    break;
  }
  return step;
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
  enum ashlar_status status;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot == -1) {
    return ASHLAR_ERROR_UNKNOWN_ADDRESS;
  }
  status = ashlar_free(m, slot, m->generation[slot]);
  /*@ assert freed: status == ASHLAR_OK && 0 <= slot < \at(m->top, Pre) &&
        \at(*m, Pre).state[slot] == ASHLAR_ALLOCATED && \at(*m, Pre).addr[slot] == address &&
        m->state[slot] != ASHLAR_ALLOCATED && others_kept(\at(*m, Pre), *m, slot); */
  return status;
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

/* adds a segment as one free block; its slot */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_MAP(-1)
    requires spare: 0 < m->spare_count;
    requires range: 0 < size && address + size <= UINT64_MAX && address % 512 == 0 && size % 512 == 0;
    requires list: 0 <= list < ASHLAR_LISTS;
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX;
    requires ages: m->segments_created < UINT64_MAX;
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      address + size <= m->addr[j] || m->addr[j] + m->size[j] <= address;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT;
    ENSURES_BLOCKS ENSURES_MAP(-1)
    ensures added: 0 <= \result < m->top && whole_free(*m, \result) && m->addr[\result] == address &&
      m->size[\result] == size;
    ensures REQ_FRAME_add: others_kept(\old(*m), *m, -1);
*/
static int32_t add_free(struct ashlar_manager *m, uint64_t address, uint64_t size, int32_t list)
{
  int32_t slot = add_segment(m, address, size, list);
  ashlar_block_put(m, slot);
  return slot;
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
  } else if (size > UINT64_MAX - ashlar_block_bytes(m) ||
             m->segments_created == UINT64_MAX || !ashlar_block_reserve(m, 1)) {
    result.status = ASHLAR_ERROR_CAPACITY;
  } else {
    result.slot = add_free(m, address, size, pool * ASHLAR_STREAMS + stream);
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

/* allocates a range of a free block; its slot, or -1 where what is left before and behind finds no slots */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires idle: m->request.phase == ASHLAR_PHASE_IDLE;
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: 0 < size && address % 512 == 0 && size % 512 == 0 && m->addr[slot] <= address &&
      address + size <= m->addr[slot] + m->size[slot];
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, m->top, m->generation[0 .. ASHLAR_SLOTS - 1];
    ENSURES_MANAGER
    ensures placed: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED &&
      m->addr[\result] == address && m->size[\result] == size;
    ensures REQ_FRAME_place: \result != -1 ==> others_kept(\old(*m), *m, \result);
    ensures REQ_ATOMIC_place: \result == -1 ==> blocks_kept(\old(*m), *m);
*/
static int32_t place(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                     uint64_t requested)
{
  int32_t before = address > m->addr[slot] ? 1 : 0;
  int32_t behind = size < m->size[slot] - (address - m->addr[slot]) ? 1 : 0;
  if (!ashlar_block_reserve(m, before + behind)) {
    return -1;
  }
  return ashlar_allocation_take_at(m, slot, address, size, requested);
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
  } else {
    result.slot = place(m, slot, address, size, requested);
    if (result.slot == -1) {
      result.status = ASHLAR_ERROR_CAPACITY;
    }
  }
  return result;
}

enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  uint64_t room;
  int joins;
  if (m->request.phase != ASHLAR_PHASE_IDLE) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_ALLOCATED) {
    return ASHLAR_ERROR_SLOT;
  }
  joins = m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE;
  room = m->size[slot] + (joins ? m->size[m->next[slot]] : 0);
  if (size == 0 || size % ASHLAR_GRANULE != 0 || size > room || size < m->requested[slot]) {
    return ASHLAR_ERROR_RANGE;
  }
  if (!ashlar_block_reserve(m, !joins && size < room ? 1 : 0)) {
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
    view.pool = m->home[slot] / ASHLAR_STREAMS;
    view.stream = m->home[slot] % ASHLAR_STREAMS;
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
