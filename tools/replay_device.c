/* replay_device.c - see replay_device.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_device.h"

#include <stdlib.h>

#include "tools/caller.h"

enum { FIRST_CAPACITY = 16 };

bool ashlar_play_begin(struct ashlar_play *play, const struct ashlar_config *config,
                       const struct ashlar_sim_config *sim)
{
  /* Zeroed pages from the system: those that are never touched are never there. */
  play->manager = calloc(1, sizeof *play->manager);
  if (play->manager == NULL) {
    return false;
  }
  if (ashlar_manager_init(play->manager, *config) != ASHLAR_OK) {
    free(play->manager);
    play->manager = NULL;
    return false;
  }
  ashlar_sim_init(&play->sim, *sim);
  play->last_number = -1;
  play->captured = -1;
  const size_t pools = play->requests->snapshot == NULL ? 1 : play->requests->snapshot->pool_count;
  play->pools = calloc(pools, sizeof *play->pools);
  play->pool_names = calloc(ASHLAR_POOL_NUMBERS, sizeof *play->pool_names);
  if (play->pools == NULL || play->pool_names == NULL) {
    ashlar_play_end(play);
    return false;
  }
  return true;
}

void ashlar_play_end(struct ashlar_play *play)
{
  free(play->manager);
  free(play->waiting.entries);
  free(play->pools);
  free(play->pool_names);
  ashlar_sim_destroy(&play->sim);
  *play = (struct ashlar_play){0};
}

void ashlar_play_note(struct ashlar_play *play, enum ashlar_action action, uint64_t address,
                      uint64_t size, struct ashlar_play_owner owner)
{
  const struct ashlar_event event = {
      .address = address,
      .size = size,
      .time_us = play->time_us,
      .stream = owner.stream,
      .pool = owner.pool,
      .action = (uint8_t)action,
      .flags = (uint8_t)((action == ASHLAR_ACTION_OOM ? ASHLAR_EVENT_HAS_DEVICE_FREE
                                                      : ASHLAR_EVENT_HAS_ADDRESS) |
                         ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM | ASHLAR_EVENT_HAS_TIME |
                         ASHLAR_EVENT_HAS_POOL),
  };
  if (play->recorder != NULL) {
    ashlar_recorder_note(play->recorder, play->device, &event);
  }
}

int32_t ashlar_play_stream_number(struct ashlar_play *play, uint16_t stream)
{
  if (play->last_number != -1 && play->last_stream == stream) {
    return play->last_number;
  }
  const uint64_t key = play->requests->streams[stream].handle;
  int32_t number = ashlar_stream_find(play->manager, key);
  if (number == -1) {
    const struct ashlar_registration added = ashlar_stream_register(play->manager, key);
    if (added.status != ASHLAR_OK) {
      return -1;
    }
    number = added.stream;
    play->streams[number] = stream;
  }
  play->last_stream = stream;
  play->last_number = number;
  return number;
}

/* --- steps --- */

static struct ashlar_step ask_device(struct ashlar_play *play, const struct ashlar_step *step,
                                     struct ashlar_play_owner owner)
{
  const struct ashlar_sim_result result =
      ashlar_sim_allocate(&play->sim, step->bytes, owner.stream);
  if (result.status == ASHLAR_SIM_HOST_MEMORY) {
    play->is_out_of_memory = true;
  }
  if (result.status != ASHLAR_SIM_OK && play->waits_first) {
    (void)ashlar_abandon(play->manager, step->request);
    play->must_wait = true;
    return (struct ashlar_step){.kind = ASHLAR_STEP_OUT_OF_MEMORY, .slot = -1};
  }
  if (result.status != ASHLAR_SIM_OK) {
    return ashlar_resume(play->manager, step->request, ASHLAR_OUTCOME_REFUSED, 0);
  }
  const struct ashlar_step next =
      ashlar_resume(play->manager, step->request, ASHLAR_OUTCOME_DONE, result.address);
  if (next.kind == ASHLAR_STEP_ERROR) {
    /* The manager cannot use the segment, which is still ours. */
    (void)ashlar_sim_free(&play->sim, result.address);
  } else {
    ashlar_play_note(play, ASHLAR_ACTION_SEGMENT_ALLOC, result.address, step->bytes, owner);
  }
  return next;
}

static struct ashlar_step give_back(struct ashlar_play *play, const struct ashlar_step *step)
{
  const struct ashlar_sim_result result = ashlar_sim_free(&play->sim, step->address);
  const struct ashlar_play_owner owner = {(uint16_t)result.tag, play->pool_names[step->pool]};
  ashlar_play_note(play, ASHLAR_ACTION_SEGMENT_FREE, step->address, step->bytes, owner);
  return ashlar_resume(play->manager, step->request, ASHLAR_OUTCOME_DONE, 0);
}

/* Carries steps out until the request is over; `owner` is the request's. */
static struct ashlar_step carry_out(struct ashlar_play *play, struct ashlar_step step,
                                    struct ashlar_play_owner owner)
{
  while (step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RELEASE ||
         ashlar_play_is_growth(&step)) {
    if (ashlar_play_is_growth(&step)) {
      step = ashlar_play_grow(play, &step);
      continue;
    }
    step =
        step.kind == ASHLAR_STEP_ALLOCATE ? ask_device(play, &step, owner) : give_back(play, &step);
  }
  return step;
}

static struct ashlar_play_outcome refused(enum ashlar_replay_reason reason)
{
  return (struct ashlar_play_outcome){.reason = reason, .slot = -1};
}

static enum ashlar_replay_reason reason_of(enum ashlar_status status)
{
  switch (status) {
  case ASHLAR_ERROR_TOO_LARGE:
    return ASHLAR_REPLAY_TOO_LARGE;
  case ASHLAR_ERROR_CAPACITY:
    return ASHLAR_REPLAY_NO_SLOT;
  default:
    return ASHLAR_REPLAY_BAD_SEGMENT;
  }
}

struct ashlar_play_outcome ashlar_play_allocate(struct ashlar_play *play, uint64_t bytes,
                                                struct ashlar_play_owner owner, bool waits_first)
{
  const int32_t number = ashlar_play_stream_number(play, owner.stream);
  if (number == -1) {
    return refused(ASHLAR_REPLAY_NO_STREAM);
  }
  if (ashlar_play_pool(play, owner.pool) == -1) {
    return refused(ASHLAR_REPLAY_NO_POOL);
  }
  const struct ashlar_caller caller = ashlar_play_caller(play, owner.pool);
  play->waits_first = waits_first;
  play->must_wait = false;
  const struct ashlar_step step =
      carry_out(play, ashlar_allocate_begin(play->manager, bytes, number, caller), owner);
  if (step.kind == ASHLAR_STEP_OUT_OF_MEMORY) {
    struct ashlar_play_outcome outcome = refused(ASHLAR_REPLAY_OUT_OF_MEMORY);
    outcome.size = step.bytes;
    outcome.must_wait = play->must_wait;
    return outcome;
  }
  if (step.kind != ASHLAR_STEP_DONE) {
    return refused(reason_of(step.status));
  }
  if (step.slot != -1) {
    ashlar_play_note(play, ASHLAR_ACTION_ALLOC, step.address, bytes, owner);
  }
  return (struct ashlar_play_outcome){
      .is_served = true,
      .slot = step.slot,
      .generation = step.generation,
      .address = step.address,
  };
}

void ashlar_play_note_oom(struct ashlar_play *play, const struct ashlar_play_outcome *outcome,
                          struct ashlar_play_owner owner)
{
  if (!outcome->is_served && outcome->reason == ASHLAR_REPLAY_OUT_OF_MEMORY) {
    ashlar_play_note(play, ASHLAR_ACTION_OOM, ashlar_sim_free_bytes(&play->sim), outcome->size,
                     owner);
  }
}

void ashlar_play_empty_cache(struct ashlar_play *play, int32_t pool)
{
  const struct ashlar_play_owner nobody = {0};
  (void)carry_out(play, ashlar_empty_cache_begin(play->manager, pool, ashlar_recorded_caller()),
                  nobody);
}

/* --- frees --- */

uint64_t ashlar_play_bytes(const struct ashlar_play *play,
                           const struct ashlar_allocation *allocation)
{
  return ashlar_block(play->manager, allocation->slot).size;
}

static struct ashlar_play_owner owner_of(const struct ashlar_allocation *allocation)
{
  return (struct ashlar_play_owner){allocation->stream, allocation->pool};
}

void ashlar_play_let_go(struct ashlar_play *play, struct ashlar_allocation *allocation)
{
  const struct ashlar_block_view view = ashlar_block(play->manager, allocation->slot);
  ashlar_play_note(play, ASHLAR_ACTION_FREE_REQUESTED, view.address, view.requested,
                   owner_of(allocation));
  allocation->state = ASHLAR_ALLOCATION_PENDING;
  play->pending_bytes += view.size;
}

void ashlar_play_complete(struct ashlar_play *play, struct ashlar_allocation *allocation)
{
  const struct ashlar_block_view view = ashlar_block(play->manager, allocation->slot);
  ashlar_play_note(play, ASHLAR_ACTION_FREE_COMPLETED, view.address, view.requested,
                   owner_of(allocation));
  if (allocation->state == ASHLAR_ALLOCATION_PENDING) {
    play->pending_bytes -= view.size;
  }
  allocation->state = ASHLAR_ALLOCATION_GONE;
  (void)ashlar_free(play->manager, allocation->slot, allocation->generation,
                    ashlar_recorded_caller());
}

/* --- figures --- */

bool ashlar_play_fail(struct ashlar_play *play, struct ashlar_replay_failure failure)
{
  struct ashlar_replay *replay = play->replay;
  if (replay->failure_count == replay->failure_capacity) {
    const size_t capacity =
        replay->failure_capacity == 0 ? FIRST_CAPACITY : replay->failure_capacity * 2;
    struct ashlar_replay_failure *grown = NULL;
    if (capacity <= SIZE_MAX / sizeof *grown) {
      grown = realloc(replay->failures, capacity * sizeof *grown);
    }
    if (grown == NULL) {
      return false;
    }
    replay->failures = grown;
    replay->failure_capacity = capacity;
  }
  failure.device = play->device;
  if (failure.reason == ASHLAR_REPLAY_OUT_OF_MEMORY) {
    failure.free = ashlar_sim_free_bytes(&play->sim);
    failure.cached = play->manager->bytes[ASHLAR_FREE];
  }
  replay->failures[replay->failure_count] = failure;
  replay->failure_count++;
  play->result->failed++;
  return true;
}

/* Bytes of segments, and of what is mapped of growable ones. */
static uint64_t reserved(const struct ashlar_manager *manager)
{
  return manager->bytes[ASHLAR_ALLOCATED] + manager->bytes[ASHLAR_FREE];
}

static uint64_t largest_in(const struct ashlar_manager *manager, int32_t pool)
{
  uint64_t largest = 0;
  for (int32_t class = 0; class < ASHLAR_CLASSES; class ++) {
    for (int32_t stream = 0; stream < manager->stream_count; stream++) {
      const int32_t slot = ashlar_index_before(manager, ashlar_home(pool, class, stream),
                                               UINT64_MAX, UINT64_MAX, UINT64_MAX);
      if (slot != -1 && manager->size[slot] > largest) {
        largest = manager->size[slot];
      }
    }
  }
  return largest;
}

static uint64_t largest_free(const struct ashlar_manager *manager)
{
  uint64_t largest = 0;
  for (int32_t pool = 0; pool <= manager->pool_top; pool++) {
    const uint64_t in_pool = largest_in(manager, pool);
    largest = in_pool > largest ? in_pool : largest;
  }
  return largest;
}

struct ashlar_replay_moment ashlar_play_moment(const struct ashlar_play *play, uint64_t event)
{
  const struct ashlar_manager *manager = play->manager;
  return (struct ashlar_replay_moment){
      .event = event,
      .reserved = reserved(manager),
      .allocated = manager->bytes[ASHLAR_ALLOCATED] - play->pending_bytes,
      .pending = play->pending_bytes,
      .free = manager->bytes[ASHLAR_FREE],
      .largest_free = largest_free(manager),
  };
}

void ashlar_play_measure(struct ashlar_play *play, uint64_t event)
{
  const struct ashlar_manager *manager = play->manager;
  struct ashlar_replay_device *result = play->result;
  if (reserved(manager) > result->at_peak_reserved.reserved) {
    result->at_peak_reserved = ashlar_play_moment(play, event);
  }
  if (manager->bytes[ASHLAR_ALLOCATED] - play->pending_bytes >
      result->at_peak_allocated.allocated) {
    result->at_peak_allocated = ashlar_play_moment(play, event);
  }
}
