/* subject_model.c - the reference model as a subject.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scenarios/subject.h"

#include <stdio.h>
#include <stdlib.h>

#include "spec/model/model.h"
#include "tests/model_support.h"

struct instance {
  struct model model;
  struct model_checkpoint checkpoint[SUBJECT_CHECKPOINTS];
};

static struct model *model_of(void *self)
{
  return &((struct instance *)self)->model;
}

static const struct model *model_in(const void *self)
{
  return &((const struct instance *)self)->model;
}

static enum subject_status status_of(enum model_status status)
{
  static const enum subject_status STATUSES[] = {
      [MODEL_OK] = SUBJECT_OK,
      [MODEL_ERROR_SETTING] = SUBJECT_SETTING,
      [MODEL_ERROR_TOO_LARGE] = SUBJECT_TOO_LARGE,
      [MODEL_ERROR_BUSY] = SUBJECT_BUSY,
      [MODEL_ERROR_NO_REQUEST] = SUBJECT_NO_REQUEST,
      [MODEL_ERROR_DEVICE] = SUBJECT_DEVICE,
      [MODEL_ERROR_CAPTURE] = SUBJECT_CAPTURE,
      [MODEL_ERROR_STREAM] = SUBJECT_STREAM,
      [MODEL_ERROR_DUPLICATE] = SUBJECT_DUPLICATE,
      [MODEL_ERROR_POOL] = SUBJECT_POOL,
      [MODEL_ERROR_SCOPE] = SUBJECT_SCOPE,
      [MODEL_ERROR_RANGE] = SUBJECT_RANGE,
      [MODEL_ERROR_SLOT] = SUBJECT_SLOT,
      [MODEL_ERROR_STALE] = SUBJECT_STALE,
      [MODEL_ERROR_FOREIGN] = SUBJECT_FOREIGN,
      [MODEL_ERROR_INTERIOR] = SUBJECT_INTERIOR,
      [MODEL_ERROR_FREED] = SUBJECT_FREED,
      [MODEL_ERROR_SHARED] = SUBJECT_SHARED,
      [MODEL_ERROR_COUNT] = SUBJECT_COUNT,
      [MODEL_ERROR_GROWABLE] = SUBJECT_GROWABLE,
      [MODEL_ERROR_PENDING] = SUBJECT_PENDING,
      [MODEL_ERROR_MISFIT] = SUBJECT_MISFIT,
      [MODEL_ERROR_BLOCKS] = SUBJECT_CAPACITY,
      [MODEL_ERROR_STREAMS] = SUBJECT_CAPACITY,
      [MODEL_ERROR_USES] = SUBJECT_CAPACITY,
      [MODEL_ERROR_POOLS] = SUBJECT_CAPACITY,
      [MODEL_ERROR_REQUESTS] = SUBJECT_CAPACITY,
  };
  return STATUSES[status];
}

static struct subject_step step_of(struct model_step step)
{
  static const enum subject_kind KINDS[] = {
      [MODEL_STEP_DONE] = SUBJECT_STEP_DONE,
      [MODEL_STEP_ALLOCATE] = SUBJECT_STEP_ALLOCATE,
      [MODEL_STEP_RELEASE] = SUBJECT_STEP_RELEASE,
      [MODEL_STEP_RESERVE] = SUBJECT_STEP_RESERVE,
      [MODEL_STEP_UNRESERVE] = SUBJECT_STEP_UNRESERVE,
      [MODEL_STEP_MAP] = SUBJECT_STEP_MAP,
      [MODEL_STEP_UNMAP] = SUBJECT_STEP_UNMAP,
      [MODEL_STEP_WAIT] = SUBJECT_STEP_WAIT,
      [MODEL_STEP_CALLBACKS] = SUBJECT_STEP_CALLBACKS,
      [MODEL_STEP_OUT_OF_MEMORY] = SUBJECT_STEP_OUT_OF_MEMORY,
      [MODEL_STEP_REJECTED] = SUBJECT_STEP_ERROR, /* no script sets reject_above */
      [MODEL_STEP_ERROR] = SUBJECT_STEP_ERROR,
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

static struct model_caller caller_of(struct subject_caller caller)
{
  return (struct model_caller){caller.stream, caller.thread};
}

static struct subject_number number_of(struct model_registration registration)
{
  return (struct subject_number){status_of(registration.status), registration.number};
}

static void *create(void)
{
  return calloc(1, sizeof(struct instance));
}

static enum subject_status start(void *self, const struct subject_config *config)
{
  struct model_config settings = model_default_config();
  settings.max_split_size = config->max_split_size;
  settings.large_segment_size = config->large_segment_size;
  settings.oversize_slack = config->oversize_slack;
  for (int row = 0; row < MODEL_ROWS; row++) {
    settings.division[row] = config->division;
  }
  settings.order = config->order == SUBJECT_SEGMENT ? MODEL_ORDER_SEGMENT : MODEL_ORDER_ADDRESS;
  settings.policy = config->policy == SUBJECT_FAITHFUL ? MODEL_FAITHFUL : MODEL_COMPLETE;
  settings.growable = config->growable;
  settings.callbacks = config->callbacks;
  settings.reservation_small = config->reservation_small;
  settings.reservation_large = config->reservation_large;
  settings.device_total = config->device_total;
  return status_of(model_init(model_of(self), settings));
}

static struct subject_number stream_register(void *self, uint64_t key)
{
  return number_of(model_stream_register(model_of(self), key));
}

static enum subject_status stream_gone(void *self, int32_t stream, struct subject_caller caller)
{
  return status_of(model_stream_gone(model_of(self), stream, caller_of(caller)));
}

static enum subject_status capture_begin(void *self, int32_t stream)
{
  return status_of(model_capture_begin(model_of(self), stream));
}

static enum subject_status capture_end(void *self, int32_t stream)
{
  return status_of(model_capture_end(model_of(self), stream));
}

static enum subject_status record_use(void *self, int32_t slot, uint32_t generation, int32_t stream,
                                      struct subject_caller caller)
{
  return status_of(model_record_use(model_of(self), slot, generation, stream, caller_of(caller)));
}

static struct subject_event event_next(void *self)
{
  const struct model_event event = model_event_next(model_of(self));
  return (struct subject_event){event.stream, event.number};
}

static enum subject_status complete(void *self, int32_t stream, uint64_t number,
                                    struct subject_caller caller)
{
  return status_of(model_complete(model_of(self), stream, number, caller_of(caller)).status);
}

static uint64_t queue_head(const void *self, int32_t stream)
{
  return model_queue_head(model_in(self), stream);
}

static struct subject_number pool_create(void *self, uint32_t allocator)
{
  return number_of(model_pool_create(model_of(self), allocator));
}

static enum subject_status pool_acquire(void *self, int32_t pool)
{
  return status_of(model_pool_retain(model_of(self), pool));
}

static enum subject_status pool_leave(void *self, int32_t pool)
{
  return status_of(model_pool_release(model_of(self), pool));
}

static enum subject_status pool_lend(void *self, int32_t pool, bool on)
{
  return status_of(model_pool_set_use_on_oom(model_of(self), pool, on));
}

static enum subject_status pool_no_split(void *self, int32_t pool)
{
  return status_of(model_pool_set_no_split(model_of(self), pool));
}

static enum subject_status scope_open(void *self, int32_t pool, uint64_t thread, int32_t stream)
{
  return status_of(model_scope_open(model_of(self), pool, thread, stream));
}

static enum subject_status scope_leave(void *self, int32_t pool)
{
  return status_of(model_scope_close(model_of(self), pool));
}

static struct subject_step allocate_begin(void *self, uint64_t bytes, int32_t stream,
                                          struct subject_caller caller)
{
  return step_of(model_allocate_begin(model_of(self), bytes, stream, caller_of(caller)));
}

static struct subject_step empty_cache_begin(void *self, int32_t pool, struct subject_caller caller)
{
  return step_of(model_empty_cache_begin(model_of(self), pool, caller_of(caller)));
}

static struct subject_step resume(void *self, int32_t request, enum subject_outcome outcome,
                                  uint64_t value)
{
  static const enum model_outcome OUTCOMES[] = {MODEL_PERFORMED, MODEL_REFUSED, MODEL_FAILED};
  return step_of(model_resume(model_of(self), request, OUTCOMES[outcome], value));
}

static struct subject_step allocate_exactly(void *self, uint64_t address, uint64_t bytes,
                                            int32_t stream, struct subject_caller caller)
{
  return step_of(model_allocate_exactly(model_of(self), address, bytes, stream, caller_of(caller)));
}

static enum subject_status limit_set(void *self, uint64_t limit, uint64_t collect_above)
{
  return status_of(model_limit_set(model_of(self), limit, collect_above));
}

static enum subject_status growable_set(void *self, bool on)
{
  return status_of(model_growable_set(model_of(self), on));
}

static enum subject_status free_handle(void *self, int32_t slot, uint32_t generation,
                                       struct subject_caller caller)
{
  return status_of(model_free(model_of(self), slot, generation, caller_of(caller)).status);
}

static enum subject_status free_address(void *self, uint64_t address, struct subject_caller caller)
{
  return status_of(model_free_address(model_of(self), address, caller_of(caller)).status);
}

static enum subject_status retain(void *self, int32_t slot, uint32_t generation)
{
  return status_of(model_retain(model_of(self), slot, generation));
}

static enum subject_status release(void *self, int32_t slot, uint32_t generation,
                                   struct subject_caller caller)
{
  return status_of(model_release(model_of(self), slot, generation, caller_of(caller)).status);
}

static struct subject_range base(const void *self, int32_t slot, uint32_t generation)
{
  const struct model_range range = model_base(model_in(self), slot, generation);
  return (struct subject_range){status_of(range.status), range.address, range.bytes};
}

static enum subject_status checkpoint_save(void *self, int32_t pool, struct subject_caller caller,
                                           int32_t which)
{
  struct instance *instance = self;
  return status_of(model_checkpoint_save(&instance->model, pool, caller_of(caller),
                                         &instance->checkpoint[which]));
}

static enum subject_status checkpoint_restore(void *self, struct subject_caller caller,
                                              int32_t which)
{
  struct instance *instance = self;
  return status_of(
      model_checkpoint_restore(&instance->model, caller_of(caller), &instance->checkpoint[which])
          .status);
}

static void reset_peaks(void *self)
{
  model_reset_peaks(model_of(self));
}

static void reset_totals(void *self)
{
  model_reset_totals(model_of(self));
}

static uint64_t largest(const void *self)
{
  return model_largest(model_in(self));
}

static struct subject_counter counter(const void *self, enum subject_statistic kind, int column)
{
  static const enum model_statistic KINDS[SUBJECT_STATISTICS] = {
      [SUBJECT_STAT_ALLOCATION] = MODEL_ALLOCATION,
      [SUBJECT_STAT_SEGMENT] = MODEL_SEGMENT,
      [SUBJECT_STAT_ACTIVE] = MODEL_ACTIVE,
      [SUBJECT_STAT_INACTIVE_SPLIT] = MODEL_INACTIVE_SPLIT,
      [SUBJECT_STAT_ALLOCATED_BYTES] = MODEL_ALLOCATED_BYTES,
      [SUBJECT_STAT_RESERVED_BYTES] = MODEL_RESERVED_BYTES,
      [SUBJECT_STAT_ACTIVE_BYTES] = MODEL_ACTIVE_BYTES,
      [SUBJECT_STAT_INACTIVE_SPLIT_BYTES] = MODEL_INACTIVE_SPLIT_BYTES,
      [SUBJECT_STAT_REQUESTED_BYTES] = MODEL_REQUESTED_BYTES,
      [SUBJECT_STAT_OVERSIZE_ALLOCATIONS] = MODEL_OVERSIZE_ALLOCATIONS,
      [SUBJECT_STAT_OVERSIZE_SEGMENTS] = MODEL_OVERSIZE_SEGMENTS,
  };
  const struct model_counter c = model_in(self)->statistic[KINDS[kind]][column];
  return (struct subject_counter){c.current, c.peak, c.allocated, c.freed};
}

static struct subject_calls calls(const void *self)
{
  const struct model_calls c = model_in(self)->calls;
  return (struct subject_calls){c.alloc_retries, c.ooms, c.sync_all_streams, c.device_allocs,
                                c.device_frees};
}

static bool is_sound(const void *self, char *why, size_t n)
{
  const char *broken = model_broken(model_in(self));
  (void)snprintf(why, n, "%s", broken == NULL ? "" : broken);
  return broken == NULL;
}

static enum subject_state state_of(const struct model_block *block)
{
  switch (block->state) {
  case MODEL_ALLOCATED:
    return SUBJECT_ALLOCATED;
  case MODEL_PENDING:
    return SUBJECT_PENDING_BLOCK;
  case MODEL_HELD:
    return SUBJECT_HELD;
  default:
    return block->mapped ? SUBJECT_FREE : SUBJECT_UNMAPPED;
  }
}

static size_t blocks(const void *self, struct subject_block *block, size_t room)
{
  const struct model *m = model_in(self);
  size_t count = 0;
  for (int32_t i = 0; i < m->blocks; i++) {
    const struct model_segment segment = m->segment[m->block[i].segment];
    if (m->block[i].state == MODEL_UNUSED) {
      continue;
    }
    if (count < room) {
      block[count] = (struct subject_block){
          .state = state_of(&m->block[i]),
          .slot = i,
          .generation = m->block[i].generation,
          .stream = segment.stream,
          .pool = segment.pool,
          .small = segment.small,
          .growable = segment.growable,
          .segment = segment.address,
          .address = m->block[i].address,
          .size = m->block[i].size,
          .requested = m->block[i].requested,
      };
    }
    count++;
  }
  return count;
}

const struct subject subject_model = {
    .name = "model",
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
