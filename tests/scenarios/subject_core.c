/* subject_core.c - the core as a subject.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scenarios/subject.h"

#include <stdlib.h>

#include "core/block_manager.h"
#include "core/checkpoint.h"
#include "core/stats.h"
#include "tests/core_check.h"

enum { SAVED = 512 }; /* blocks of a checkpoint */

struct instance {
  struct ashlar_manager manager;
  struct ashlar_saved saved[SUBJECT_CHECKPOINTS][SAVED];
  int32_t count[SUBJECT_CHECKPOINTS];
  int32_t pool[SUBJECT_CHECKPOINTS];
};

static struct ashlar_manager *manager_of(void *self)
{
  return &((struct instance *)self)->manager;
}

static const struct ashlar_manager *manager_in(const void *self)
{
  return &((const struct instance *)self)->manager;
}

static enum subject_status status_of(enum ashlar_status status)
{
  static const enum subject_status STATUSES[] = {
      [ASHLAR_OK] = SUBJECT_OK,
      [ASHLAR_ERROR_TOO_LARGE] = SUBJECT_TOO_LARGE,
      [ASHLAR_ERROR_CAPACITY] = SUBJECT_CAPACITY,
      [ASHLAR_ERROR_BUSY] = SUBJECT_BUSY,
      [ASHLAR_ERROR_NO_REQUEST] = SUBJECT_NO_REQUEST,
      [ASHLAR_ERROR_STREAM] = SUBJECT_STREAM,
      [ASHLAR_ERROR_DUPLICATE] = SUBJECT_DUPLICATE,
      [ASHLAR_ERROR_UNKNOWN_ADDRESS] = SUBJECT_FOREIGN,
      [ASHLAR_ERROR_SLOT] = SUBJECT_SLOT,
      [ASHLAR_ERROR_STALE_HANDLE] = SUBJECT_STALE,
      [ASHLAR_ERROR_RANGE] = SUBJECT_RANGE,
      [ASHLAR_ERROR_SETTING] = SUBJECT_SETTING,
      [ASHLAR_ERROR_POOLS] = SUBJECT_CAPACITY,
      [ASHLAR_ERROR_POOL] = SUBJECT_POOL,
      [ASHLAR_ERROR_POOL_RELEASED] = SUBJECT_POOL,
      [ASHLAR_ERROR_POOL_ALLOCATOR] = SUBJECT_POOL,
      [ASHLAR_ERROR_POOL_USES] = SUBJECT_COUNT,
      [ASHLAR_ERROR_POOL_BUSY] = SUBJECT_POOL,
      [ASHLAR_ERROR_SCOPE] = SUBJECT_SCOPE,
      [ASHLAR_ERROR_SCOPE_OPEN] = SUBJECT_SCOPE,
      [ASHLAR_ERROR_SCOPES] = SUBJECT_CAPACITY,
      [ASHLAR_ERROR_INTERIOR] = SUBJECT_INTERIOR,
      [ASHLAR_ERROR_FREED] = SUBJECT_FREED,
      [ASHLAR_ERROR_SHARED] = SUBJECT_SHARED,
      [ASHLAR_ERROR_COUNT] = SUBJECT_COUNT,
      [ASHLAR_ERROR_DEVICE] = SUBJECT_DEVICE,
      [ASHLAR_ERROR_CAPTURE] = SUBJECT_CAPTURE,
      [ASHLAR_ERROR_GROWABLE] = SUBJECT_GROWABLE,
      [ASHLAR_ERROR_PENDING] = SUBJECT_PENDING,
      [ASHLAR_ERROR_MISFIT] = SUBJECT_MISFIT,
      [ASHLAR_ERROR_STREAMS] = SUBJECT_CAPACITY,
      [ASHLAR_ERROR_USES] = SUBJECT_CAPACITY,
      [ASHLAR_ERROR_REQUESTS] = SUBJECT_CAPACITY,
  };
  return STATUSES[status];
}

static struct subject_step step_of(struct ashlar_step step)
{
  static const enum subject_kind KINDS[] = {
      [ASHLAR_STEP_NONE] = SUBJECT_STEP_ERROR,
      [ASHLAR_STEP_ALLOCATE] = SUBJECT_STEP_ALLOCATE,
      [ASHLAR_STEP_RELEASE] = SUBJECT_STEP_RELEASE,
      [ASHLAR_STEP_RESERVE] = SUBJECT_STEP_RESERVE,
      [ASHLAR_STEP_UNRESERVE] = SUBJECT_STEP_UNRESERVE,
      [ASHLAR_STEP_MAP] = SUBJECT_STEP_MAP,
      [ASHLAR_STEP_UNMAP] = SUBJECT_STEP_UNMAP,
      [ASHLAR_STEP_WAIT] = SUBJECT_STEP_WAIT,
      [ASHLAR_STEP_CALLBACKS] = SUBJECT_STEP_CALLBACKS,
      [ASHLAR_STEP_DONE] = SUBJECT_STEP_DONE,
      [ASHLAR_STEP_OUT_OF_MEMORY] = SUBJECT_STEP_OUT_OF_MEMORY,
      [ASHLAR_STEP_REJECTED] = SUBJECT_STEP_ERROR, /* no script sets reject_above */
      [ASHLAR_STEP_ERROR] = SUBJECT_STEP_ERROR,
  };
  return (struct subject_step){
      .kind = KINDS[step.kind],
      .status = status_of(step.status),
      .request = step.request,
      .slot = step.slot,
      .generation = step.generation,
      .stream = step.stream,
      .pool = step.pool,
      .allocator = step.allocator,
      .address = step.address,
      .bytes = step.bytes,
      .number = step.number,
  };
}

static struct ashlar_caller caller_of(struct subject_caller caller)
{
  return (struct ashlar_caller){caller.stream, caller.thread};
}

static void *create(void)
{
  return calloc(1, sizeof(struct instance));
}

static enum subject_status start(void *self, const struct subject_config *config)
{
  struct ashlar_config settings = ashlar_default_config();
  settings.max_split_size = config->max_split_size;
  settings.large_segment_size = config->large_segment_size;
  settings.oversize_slack = config->oversize_slack;
  for (int row = 0; row < ASHLAR_DIVISIONS; row++) {
    settings.divisions[row] = config->division;
  }
  settings.order = config->order == SUBJECT_SEGMENT ? ASHLAR_ORDER_SEGMENT : ASHLAR_ORDER_ADDRESS;
  settings.policy =
      config->policy == SUBJECT_FAITHFUL ? ASHLAR_POLICY_FAITHFUL : ASHLAR_POLICY_COMPLETE;
  settings.growable = config->growable ? 1 : 0;
  settings.callbacks = config->callbacks ? 1 : 0;
  settings.reservation_small = config->reservation_small;
  settings.reservation_large = config->reservation_large;
  settings.device_total = config->device_total;
  return status_of(ashlar_manager_init(manager_of(self), settings));
}

static struct subject_number stream_register(void *self, uint64_t key)
{
  const struct ashlar_registration made = ashlar_stream_register(manager_of(self), key);
  return (struct subject_number){status_of(made.status), made.stream};
}

static enum subject_status stream_gone(void *self, int32_t stream, struct subject_caller caller)
{
  return status_of(ashlar_stream_gone(manager_of(self), stream, caller_of(caller)));
}

static enum subject_status capture_begin(void *self, int32_t stream)
{
  return status_of(ashlar_capture_begin(manager_of(self), stream));
}

static enum subject_status capture_end(void *self, int32_t stream)
{
  return status_of(ashlar_capture_end(manager_of(self), stream));
}

static enum subject_status record_use(void *self, int32_t slot, uint32_t generation, int32_t stream,
                                      struct subject_caller caller)
{
  return status_of(
      ashlar_record_use(manager_of(self), slot, generation, stream, caller_of(caller)));
}

static struct subject_event event_next(void *self)
{
  const struct ashlar_submission event = ashlar_event_next(manager_of(self));
  return (struct subject_event){event.stream, event.number};
}

static enum subject_status complete(void *self, int32_t stream, uint64_t number,
                                    struct subject_caller caller)
{
  return status_of(ashlar_complete(manager_of(self), stream, number, caller_of(caller)).status);
}

static uint64_t queue_head(const void *self, int32_t stream)
{
  return ashlar_queue_head(manager_in(self), stream);
}

static struct subject_number pool_create(void *self, uint32_t allocator)
{
  const struct ashlar_pool_creation made = ashlar_pool_create(manager_of(self), allocator);
  return (struct subject_number){status_of(made.status), made.pool};
}

static enum subject_status pool_acquire(void *self, int32_t pool)
{
  return status_of(ashlar_pool_acquire(manager_of(self), pool, 0));
}

static enum subject_status pool_leave(void *self, int32_t pool)
{
  return status_of(ashlar_pool_leave(manager_of(self), pool));
}

static enum subject_status pool_lend(void *self, int32_t pool, bool on)
{
  return status_of(ashlar_pool_set_use_on_oom(manager_of(self), pool, on ? 1 : 0));
}

static enum subject_status pool_no_split(void *self, int32_t pool)
{
  return status_of(ashlar_pool_set_no_split(manager_of(self), pool));
}

static enum subject_status scope_open(void *self, int32_t pool, uint64_t thread, int32_t stream)
{
  return status_of(ashlar_scope_open(manager_of(self), pool, thread, stream));
}

static enum subject_status scope_leave(void *self, int32_t pool)
{
  return status_of(ashlar_scope_leave(manager_of(self), pool));
}

static struct subject_step allocate_begin(void *self, uint64_t bytes, int32_t stream,
                                          struct subject_caller caller)
{
  return step_of(ashlar_allocate_begin(manager_of(self), bytes, stream, caller_of(caller)));
}

static struct subject_step empty_cache_begin(void *self, int32_t pool, struct subject_caller caller)
{
  return step_of(ashlar_empty_cache_begin(manager_of(self), pool, caller_of(caller)));
}

static struct subject_step resume(void *self, int32_t request, enum subject_outcome outcome,
                                  uint64_t value)
{
  static const enum ashlar_outcome OUTCOMES[] = {ASHLAR_OUTCOME_DONE, ASHLAR_OUTCOME_REFUSED,
                                                 ASHLAR_OUTCOME_FAILED};
  return step_of(ashlar_resume(manager_of(self), request, OUTCOMES[outcome], value));
}

static struct subject_step allocate_exactly(void *self, uint64_t address, uint64_t bytes,
                                            int32_t stream, struct subject_caller caller)
{
  return step_of(
      ashlar_allocate_exactly(manager_of(self), address, bytes, stream, caller_of(caller)));
}

static enum subject_status limit_set(void *self, uint64_t limit, uint64_t collect_above)
{
  return status_of(ashlar_limit_set(manager_of(self), limit, collect_above));
}

static enum subject_status growable_set(void *self, bool on)
{
  return status_of(ashlar_growable_set(manager_of(self), on ? 1 : 0));
}

static enum subject_status free_handle(void *self, int32_t slot, uint32_t generation,
                                       struct subject_caller caller)
{
  return status_of(ashlar_free(manager_of(self), slot, generation, caller_of(caller)).status);
}

static enum subject_status free_address(void *self, uint64_t address, struct subject_caller caller)
{
  return status_of(ashlar_free_address(manager_of(self), address, caller_of(caller)).status);
}

static enum subject_status retain(void *self, int32_t slot, uint32_t generation)
{
  return status_of(ashlar_retain(manager_of(self), slot, generation));
}

static enum subject_status release(void *self, int32_t slot, uint32_t generation,
                                   struct subject_caller caller)
{
  return status_of(ashlar_release(manager_of(self), slot, generation, caller_of(caller)).status);
}

static struct subject_range base(const void *self, int32_t slot, uint32_t generation)
{
  const struct ashlar_range range = ashlar_base(manager_in(self), slot, generation);
  return (struct subject_range){status_of(range.status), range.address, range.bytes};
}

static enum subject_status checkpoint_save(void *self, int32_t pool, struct subject_caller caller,
                                           int32_t which)
{
  struct instance *instance = self;
  const struct ashlar_recorded recorded = ashlar_checkpoint_save(
      &instance->manager, pool, caller_of(caller), instance->saved[which], SAVED);
  instance->count[which] = recorded.count;
  instance->pool[which] = pool;
  return status_of(recorded.status);
}

static enum subject_status checkpoint_restore(void *self, struct subject_caller caller,
                                              int32_t which)
{
  struct instance *instance = self;
  return status_of(ashlar_checkpoint_restore(&instance->manager, instance->pool[which],
                                             caller_of(caller), instance->saved[which],
                                             instance->count[which])
                       .status);
}

static void reset_peaks(void *self)
{
  ashlar_stats_reset_peaks(manager_of(self));
}

static void reset_totals(void *self)
{
  ashlar_stats_reset_totals(manager_of(self));
}

static uint64_t largest(const void *self)
{
  return ashlar_largest(manager_in(self));
}

static struct subject_counter counter(const void *self, enum subject_statistic kind, int column)
{
  static const int KINDS[] = {
      [SUBJECT_STAT_ALLOCATION] = ASHLAR_STAT_ALLOCATION,
      [SUBJECT_STAT_SEGMENT] = ASHLAR_STAT_SEGMENT,
      [SUBJECT_STAT_ACTIVE] = ASHLAR_STAT_ACTIVE,
      [SUBJECT_STAT_INACTIVE_SPLIT] = ASHLAR_STAT_INACTIVE_SPLIT,
      [SUBJECT_STAT_ALLOCATED_BYTES] = ASHLAR_STAT_ALLOCATED_BYTES,
      [SUBJECT_STAT_RESERVED_BYTES] = ASHLAR_STAT_RESERVED_BYTES,
      [SUBJECT_STAT_ACTIVE_BYTES] = ASHLAR_STAT_ACTIVE_BYTES,
      [SUBJECT_STAT_INACTIVE_SPLIT_BYTES] = ASHLAR_STAT_INACTIVE_SPLIT_BYTES,
      [SUBJECT_STAT_REQUESTED_BYTES] = ASHLAR_STAT_REQUESTED_BYTES,
  };
  const struct ashlar_manager *m = manager_in(self);
  struct ashlar_counter c = m->oversize_segments;
  if (kind == SUBJECT_STAT_OVERSIZE_ALLOCATIONS) {
    c = m->oversize_allocations;
  } else if (kind < SUBJECT_STAT_OVERSIZE_ALLOCATIONS) {
    c = m->stat[KINDS[kind] * ASHLAR_STAT_COLUMNS + column];
  }
  return (struct subject_counter){c.current, c.peak, c.allocated, c.freed};
}

static struct subject_calls calls(const void *self)
{
  const struct ashlar_manager *m = manager_in(self);
  return (struct subject_calls){m->alloc_retries, m->ooms, m->sync_all_streams, m->device_allocs,
                                m->device_frees};
}

static bool is_sound(const void *self, char *why, size_t n)
{
  return ashlar_core_check(manager_in(self), why, n);
}

static enum subject_state state_of(uint8_t state)
{
  switch (state) {
  case ASHLAR_FREE:
    return SUBJECT_FREE;
  case ASHLAR_ALLOCATED:
    return SUBJECT_ALLOCATED;
  case ASHLAR_PENDING:
    return SUBJECT_PENDING_BLOCK;
  case ASHLAR_UNMAPPED:
    return SUBJECT_UNMAPPED;
  default:
    return SUBJECT_HELD;
  }
}

static size_t blocks(const void *self, struct subject_block *block, size_t room)
{
  const struct ashlar_manager *m = manager_in(self);
  size_t count = 0;
  for (int32_t slot = 0; slot < ashlar_slot_limit(m); slot++) {
    const struct ashlar_block_view view = ashlar_block(m, slot);
    if (view.state == ASHLAR_UNUSED) {
      continue;
    }
    if (count < room) {
      block[count] = (struct subject_block){
          .state = state_of(view.state),
          .slot = slot,
          .generation = view.generation,
          .stream = view.stream,
          .pool = view.pool,
          .small = view.class == ASHLAR_CLASS_SMALL,
          .growable = view.growable != 0,
          .segment = m->base[slot],
          .address = view.address,
          .size = view.size,
          .requested = view.requested,
      };
    }
    count++;
  }
  return count;
}

const struct subject subject_core = {
    .name = "core",
    .create = create,
    .destroy = free,
    .start = start,
    .stream_register = stream_register,
    .stream_gone = stream_gone,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .record_use = record_use,
    .event_next = event_next,
    .complete = complete,
    .queue_head = queue_head,
    .pool_create = pool_create,
    .pool_acquire = pool_acquire,
    .pool_leave = pool_leave,
    .pool_lend = pool_lend,
    .pool_no_split = pool_no_split,
    .scope_open = scope_open,
    .scope_leave = scope_leave,
    .allocate_begin = allocate_begin,
    .empty_cache_begin = empty_cache_begin,
    .resume = resume,
    .allocate_exactly = allocate_exactly,
    .limit_set = limit_set,
    .growable_set = growable_set,
    .free_handle = free_handle,
    .free_address = free_address,
    .retain = retain,
    .release = release,
    .base = base,
    .checkpoint_save = checkpoint_save,
    .checkpoint_restore = checkpoint_restore,
    .reset_peaks = reset_peaks,
    .reset_totals = reset_totals,
    .largest = largest,
    .counter = counter,
    .calls = calls,
    .is_sound = is_sound,
    .blocks = blocks,
};
