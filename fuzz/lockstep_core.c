/* lockstep_core.c - the core as the subject: its results and its state in the terms of the model.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"
#include "core/check.h"
#include "core/checkpoint.h"
#include "core/growable_sizes.h"
#include "core/home.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/lockstep_subject.h"
#include "tests/core_check.h"

enum { REASON = 256 };

static struct ashlar_manager manager;
static uint32_t checks; /* since the start */
static struct {
  int32_t pool;
  int32_t count;
  struct ashlar_saved block[ASHLAR_SLOTS];
} saved[SUBJECT_CHECKPOINTS];

/* --- terms --- */

static enum model_status status_of(enum ashlar_status status)
{
  switch (status) {
  case ASHLAR_OK:
    return MODEL_OK;
  case ASHLAR_ERROR_TOO_LARGE:
    return MODEL_ERROR_TOO_LARGE;
  case ASHLAR_ERROR_CAPACITY:
    return MODEL_ERROR_BLOCKS;
  case ASHLAR_ERROR_BUSY:
    return MODEL_ERROR_BUSY;
  case ASHLAR_ERROR_NO_REQUEST:
    return MODEL_ERROR_NO_REQUEST;
  case ASHLAR_ERROR_STREAM:
    return MODEL_ERROR_STREAM;
  case ASHLAR_ERROR_DUPLICATE:
    return MODEL_ERROR_DUPLICATE;
  case ASHLAR_ERROR_UNKNOWN_ADDRESS:
    return MODEL_ERROR_FOREIGN;
  case ASHLAR_ERROR_SLOT:
    return MODEL_ERROR_SLOT;
  case ASHLAR_ERROR_STALE_HANDLE:
    return MODEL_ERROR_STALE;
  case ASHLAR_ERROR_RANGE:
    return MODEL_ERROR_RANGE;
  case ASHLAR_ERROR_SETTING:
    return MODEL_ERROR_SETTING;
  case ASHLAR_ERROR_POOLS:
    return MODEL_ERROR_POOLS;
  case ASHLAR_ERROR_POOL:
  case ASHLAR_ERROR_POOL_RELEASED:
    return MODEL_ERROR_POOL;
  case ASHLAR_ERROR_POOL_USES:
    return MODEL_ERROR_COUNT;
  case ASHLAR_ERROR_SCOPE:
  case ASHLAR_ERROR_SCOPE_OPEN:
    return MODEL_ERROR_SCOPE;
  case ASHLAR_ERROR_INTERIOR:
    return MODEL_ERROR_INTERIOR;
  case ASHLAR_ERROR_FREED:
    return MODEL_ERROR_FREED;
  case ASHLAR_ERROR_SHARED:
    return MODEL_ERROR_SHARED;
  case ASHLAR_ERROR_COUNT:
    return MODEL_ERROR_COUNT;
  case ASHLAR_ERROR_DEVICE:
    return MODEL_ERROR_DEVICE;
  case ASHLAR_ERROR_CAPTURE:
    return MODEL_ERROR_CAPTURE;
  case ASHLAR_ERROR_GROWABLE:
    return MODEL_ERROR_GROWABLE;
  case ASHLAR_ERROR_PENDING:
    return MODEL_ERROR_PENDING;
  case ASHLAR_ERROR_MISFIT:
    return MODEL_ERROR_MISFIT;
  case ASHLAR_ERROR_STREAMS:
    return MODEL_ERROR_STREAMS;
  case ASHLAR_ERROR_USES:
    return MODEL_ERROR_USES;
  case ASHLAR_ERROR_REQUESTS:
    return MODEL_ERROR_REQUESTS;
  default:
    return MODEL_STATUSES; /* equal to none */
  }
}

static enum model_step_kind kind_of(enum ashlar_step_kind kind)
{
  static const enum model_step_kind KINDS[] = {
      [ASHLAR_STEP_NONE] = MODEL_STEP_NONE,
      [ASHLAR_STEP_ALLOCATE] = MODEL_STEP_ALLOCATE,
      [ASHLAR_STEP_RELEASE] = MODEL_STEP_RELEASE,
      [ASHLAR_STEP_RESERVE] = MODEL_STEP_RESERVE,
      [ASHLAR_STEP_UNRESERVE] = MODEL_STEP_UNRESERVE,
      [ASHLAR_STEP_MAP] = MODEL_STEP_MAP,
      [ASHLAR_STEP_UNMAP] = MODEL_STEP_UNMAP,
      [ASHLAR_STEP_WAIT] = MODEL_STEP_WAIT,
      [ASHLAR_STEP_CALLBACKS] = MODEL_STEP_CALLBACKS,
      [ASHLAR_STEP_DONE] = MODEL_STEP_DONE,
      [ASHLAR_STEP_OUT_OF_MEMORY] = MODEL_STEP_OUT_OF_MEMORY,
      [ASHLAR_STEP_REJECTED] = MODEL_STEP_REJECTED,
      [ASHLAR_STEP_ERROR] = MODEL_STEP_ERROR,
  };
  return KINDS[kind];
}

static struct model_step step_of(struct ashlar_step step)
{
  return (struct model_step){
      .kind = kind_of(step.kind),
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

static struct ashlar_caller caller_of(struct model_caller caller)
{
  return (struct ashlar_caller){caller.stream, caller.thread};
}

static struct model_freed freed_of(struct ashlar_freed freed)
{
  return (struct model_freed){status_of(freed.status), freed.waits};
}

static struct model_counter counter_of(struct ashlar_counter counter)
{
  return (struct model_counter){counter.current, counter.peak, counter.allocated, counter.freed};
}

/* --- settings, streams, uses --- */

enum model_status subject_start(const struct model_config *config)
{
  struct ashlar_config own = ashlar_default_config();
  memset(&manager, 0, sizeof manager);
  checks = 0;
  own.max_split_size = config->max_split_size;
  own.large_segment_size = config->large_segment_size;
  own.oversize_slack = config->oversize_slack;
  for (int row = 0; row < ASHLAR_DIVISIONS; row++) {
    own.divisions[row] = (uint32_t)config->division[row];
  }
  own.order = config->order;
  own.policy = config->policy == MODEL_FAITHFUL ? ASHLAR_POLICY_FAITHFUL : ASHLAR_POLICY_COMPLETE;
  own.growable = config->growable ? 1 : 0;
  own.callbacks = config->callbacks ? 1 : 0;
  own.device_total = config->device_total;
  own.reservation_small = config->reservation_small;
  own.reservation_large = config->reservation_large;
  own.reject_above = config->reject_above;
  return status_of(ashlar_manager_init(&manager, own));
}

struct model_registration subject_stream_register(uint64_t key)
{
  const struct ashlar_registration made = ashlar_stream_register(&manager, key);
  return (struct model_registration){status_of(made.status), made.stream};
}

int32_t subject_stream_find(uint64_t key)
{
  return ashlar_stream_find(&manager, key);
}

enum model_status subject_stream_gone(int32_t stream, struct model_caller caller)
{
  return status_of(ashlar_stream_gone(&manager, stream, caller_of(caller)));
}

enum model_status subject_capture_begin(int32_t stream)
{
  return status_of(ashlar_capture_begin(&manager, stream));
}

enum model_status subject_capture_end(int32_t stream)
{
  return status_of(ashlar_capture_end(&manager, stream));
}

enum model_status subject_record_use(int32_t slot, uint32_t generation, int32_t stream,
                                     struct model_caller caller)
{
  return status_of(ashlar_record_use(&manager, slot, generation, stream, caller_of(caller)));
}

struct model_event subject_event_next(void)
{
  const struct ashlar_submission event = ashlar_event_next(&manager);
  return (struct model_event){event.stream, event.number};
}

struct model_freed subject_complete(int32_t stream, uint64_t number, struct model_caller caller)
{
  const struct ashlar_completed done = ashlar_complete(&manager, stream, number, caller_of(caller));
  return (struct model_freed){status_of(done.status), done.freed};
}

uint64_t subject_queue_head(int32_t stream)
{
  return ashlar_queue_head(&manager, stream);
}

/* --- pools and scopes --- */

struct model_registration subject_pool_create(uint32_t allocator)
{
  const struct ashlar_pool_creation made = ashlar_pool_create(&manager, allocator);
  return (struct model_registration){status_of(made.status), made.pool};
}

enum model_status subject_pool_retain(int32_t pool)
{
  return status_of(ashlar_pool_acquire(&manager, pool, 0));
}

enum model_status subject_pool_release(int32_t pool)
{
  return status_of(ashlar_pool_leave(&manager, pool));
}

enum model_status subject_pool_set_use_on_oom(int32_t pool, bool on)
{
  return status_of(ashlar_pool_set_use_on_oom(&manager, pool, on ? 1 : 0));
}

enum model_status subject_pool_set_no_split(int32_t pool)
{
  return status_of(ashlar_pool_set_no_split(&manager, pool));
}

enum model_status subject_scope_open(int32_t pool, uint64_t thread, int32_t stream)
{
  return status_of(ashlar_scope_open(&manager, pool, thread, stream));
}

enum model_status subject_scope_close(int32_t pool)
{
  return status_of(ashlar_scope_leave(&manager, pool));
}

/* --- requests --- */

struct model_step subject_allocate_begin(uint64_t bytes, int32_t stream, struct model_caller caller)
{
  return step_of(ashlar_allocate_begin(&manager, bytes, stream, caller_of(caller)));
}

struct model_step subject_empty_cache_begin(int32_t pool, struct model_caller caller)
{
  return step_of(ashlar_empty_cache_begin(&manager, pool, caller_of(caller)));
}

struct model_step subject_resume(int32_t request, enum model_outcome outcome, uint64_t value)
{
  static const enum ashlar_outcome OUTCOMES[] = {[MODEL_PERFORMED] = ASHLAR_OUTCOME_DONE,
                                                 [MODEL_REFUSED] = ASHLAR_OUTCOME_REFUSED,
                                                 [MODEL_FAILED] = ASHLAR_OUTCOME_FAILED};
  return step_of(ashlar_resume(&manager, request, OUTCOMES[outcome], value));
}

enum model_status subject_abandon(int32_t request)
{
  return status_of(ashlar_abandon(&manager, request));
}

enum model_status subject_limit_set(uint64_t limit, uint64_t collect_above)
{
  return status_of(ashlar_limit_set(&manager, limit, collect_above));
}

enum model_status subject_growable_set(bool on)
{
  return status_of(ashlar_growable_set(&manager, on ? 1 : 0));
}

int32_t subject_choose(uint64_t bytes, int32_t stream, struct model_caller caller)
{
  return ashlar_choose(&manager, bytes, stream, caller_of(caller));
}

struct model_step subject_allocate_exactly(uint64_t address, uint64_t bytes, int32_t stream,
                                           struct model_caller caller)
{
  return step_of(ashlar_allocate_exactly(&manager, address, bytes, stream, caller_of(caller)));
}

/* --- owners --- */

struct model_freed subject_free(int32_t slot, uint32_t generation, struct model_caller caller)
{
  return freed_of(ashlar_free(&manager, slot, generation, caller_of(caller)));
}

struct model_freed subject_free_address(uint64_t address, struct model_caller caller)
{
  return freed_of(ashlar_free_address(&manager, address, caller_of(caller)));
}

enum model_status subject_retain(int32_t slot, uint32_t generation)
{
  return status_of(ashlar_retain(&manager, slot, generation));
}

struct model_freed subject_release(int32_t slot, uint32_t generation, struct model_caller caller)
{
  return freed_of(ashlar_release(&manager, slot, generation, caller_of(caller)));
}

struct model_range subject_base(int32_t slot, uint32_t generation)
{
  const struct ashlar_range range = ashlar_base(&manager, slot, generation);
  return (struct model_range){status_of(range.status), range.address, range.bytes};
}

int32_t subject_find(uint64_t address)
{
  return ashlar_find(&manager, address);
}

/* --- checkpoints --- */

enum model_status subject_checkpoint_save(int32_t number, int32_t pool, struct model_caller caller)
{
  const struct ashlar_recorded recorded =
      ashlar_checkpoint_save(&manager, pool, caller_of(caller), saved[number].block, ASHLAR_SLOTS);
  if (recorded.status == ASHLAR_OK) {
    saved[number].pool = pool;
    saved[number].count = recorded.count;
  }
  return status_of(recorded.status);
}

struct model_restored subject_checkpoint_restore(int32_t number, struct model_caller caller)
{
  const struct ashlar_restored restored = ashlar_checkpoint_restore(
      &manager, saved[number].pool, caller_of(caller), saved[number].block, saved[number].count);
  return (struct model_restored){status_of(restored.status), restored.freed, restored.created};
}

static bool is_same_saved(const struct ashlar_saved *a, const struct model_saved *b)
{
  const int32_t class = b->segment.small ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  bool same =
      a->address == b->address && a->size == b->size && (a->allocated != 0) == b->allocated &&
      a->home == (b->segment.pool * ASHLAR_CLASSES + class) * ASHLAR_STREAMS + b->segment.stream;
  for (int32_t stream = 0; stream < MODEL_STREAMS; stream++) {
    same = same && (a->use[stream / 64] >> (stream % 64) & 1) == (b->use[stream] ? 1 : 0);
  }
  return same;
}

/* The core's record goes segment by segment, the model's by address. */
const char *subject_checkpoint_differs(int32_t number, const struct model_checkpoint *expected)
{
  if (saved[number].pool != expected->pool || saved[number].count != expected->blocks) {
    return "the pool, or the number of blocks";
  }
  for (int32_t i = 0; i < expected->blocks; i++) {
    int32_t k = 0;
    while (k < saved[number].count &&
           saved[number].block[k].address != expected->block[i].address) {
      k++;
    }
    if (k == saved[number].count || !is_same_saved(&saved[number].block[k], &expected->block[i])) {
      return "a block";
    }
  }
  return NULL;
}

/* --- looking --- */

void subject_reset_peaks(void)
{
  ashlar_stats_reset_peaks(&manager);
}

void subject_reset_totals(void)
{
  ashlar_stats_reset_totals(&manager);
}

uint64_t subject_largest(void)
{
  return ashlar_largest(&manager);
}

struct model_growable subject_growable_next(int32_t segment)
{
  const struct ashlar_growable_size next = ashlar_growable_next(&manager, segment);
  return (struct model_growable){next.slot, next.stream, next.class == ASHLAR_CLASS_SMALL,
                                 next.slot == -1 ? 0 : ashlar_block(&manager, next.slot).address,
                                 next.mapped};
}

struct model_counter subject_counter(int32_t kind, int32_t column)
{
  if (kind == MODEL_OVERSIZE_ALLOCATIONS) {
    return counter_of(manager.oversize_allocations);
  }
  if (kind == MODEL_OVERSIZE_SEGMENTS) {
    return counter_of(manager.oversize_segments);
  }
  return counter_of(manager.stat[kind * ASHLAR_STAT_COLUMNS + column]);
}

struct model_counter subject_pool_reserved(int32_t pool)
{
  return counter_of(manager.pool_reserved[pool]);
}

struct model_calls subject_calls(void)
{
  return (struct model_calls){.alloc_retries = manager.alloc_retries,
                              .ooms = manager.ooms,
                              .oom_rejections = manager.oom_rejections,
                              .sync_all_streams = manager.sync_all_streams,
                              .device_allocs = manager.device_allocs,
                              .device_frees = manager.device_frees};
}

int32_t subject_limit(void)
{
  return ashlar_slot_limit(&manager);
}

struct subject_block subject_block(int32_t slot)
{
  static const enum model_block_state STATES[ASHLAR_STATES] = {
      [ASHLAR_UNUSED] = MODEL_UNUSED,       [ASHLAR_FREE] = MODEL_FREE,
      [ASHLAR_ALLOCATED] = MODEL_ALLOCATED, [ASHLAR_PENDING] = MODEL_PENDING,
      [ASHLAR_UNMAPPED] = MODEL_FREE,       [ASHLAR_HELD] = MODEL_HELD,
      [ASHLAR_TAKEN] = MODEL_HELD + 1, /* equal to none */
  };
  const int32_t home = manager.home[slot];
  return (struct subject_block){
      .state = STATES[manager.state[slot]],
      .unmapped = manager.state[slot] == ASHLAR_UNMAPPED,
      .small = home / ASHLAR_STREAMS % ASHLAR_CLASSES == ASHLAR_CLASS_SMALL,
      .growable = manager.growable[slot] != 0,
      .first = manager.prev[slot] == -1,
      .last = manager.next[slot] == -1,
      .pool = home / ASHLAR_STREAMS / ASHLAR_CLASSES,
      .stream = home % ASHLAR_STREAMS,
      .references = manager.references[slot],
      .generation = manager.generation[slot],
      .age = manager.age[slot],
      .address = manager.addr[slot],
      .size = manager.size[slot],
      .requested = manager.requested[slot],
  };
}

int32_t subject_rung(int32_t request)
{
  return (int32_t)manager.request[request].rung - ASHLAR_RUNG_SEARCH;
}

/* The core's own check and the one that was written for the tests, in turns: neither must find anything. */
const char *subject_check(void)
{
  static char why[REASON];
  checks++;
  if (checks % 2 == 0) {
    return ashlar_core_check(&manager, why, sizeof why) ? NULL : why;
  }
  const struct ashlar_finding finding = ashlar_check(&manager);
  if (finding.clause == -1) {
    return NULL;
  }
  (void)snprintf(why, sizeof why, "%s: %" PRId32, ashlar_check_name(finding.clause), finding.at);
  return why;
}
