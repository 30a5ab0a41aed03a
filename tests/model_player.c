/* model_player.c - see model_player.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/model/parts.h"

static void count(struct model_player *player, enum model_happening happening)
{
  player->counts->of[happening]++;
}

void model_player_must(bool holds, const char *what)
{
  if (!holds) {
    (void)fprintf(stderr, "the reference model: %s\n", what);
    abort();
  }
}

static const struct model_segment *segment_of(const struct model *m, int32_t slot)
{
  return &m->segment[m->block[slot].segment];
}

static void note(struct model_player *player, enum ashlar_action action, uint64_t address,
                 uint64_t size, int32_t stream, int32_t pool)
{
  model_recorder_note(player->recorder, player->device, action, address, size,
                      player->model->stream[stream].key, player->pools[pool]);
}

static void note_block(struct model_player *player, enum ashlar_action action, int32_t slot)
{
  const struct model_segment *segment = segment_of(player->model, slot);
  note(player, action, player->model->block[slot].address, player->model->block[slot].requested,
       segment->stream, segment->pool);
}

/* --- blocks that come back --- */

/* Remembers the blocks that are pending, before a call that may finish uses of a stream (-1: of none). */
static void watch(struct model_player *player, int32_t stream)
{
  const struct model *m = player->model;
  player->pending_count = 0;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_PENDING) {
      player->pending[player->pending_count] =
          (struct model_player_pending){i, m->block[i].address, m->block[i].deferred, 0};
      player->pending_count++;
    }
  }
  for (int32_t i = 0; i < player->pending_count; i++) {
    struct model_player_pending *pending = &player->pending[i];
    for (int32_t u = 0; u < m->uses; u++) {
      if (m->use[u].used && m->use[u].slot == pending->slot && m->use[u].stream == stream) {
        pending->number = m->use[u].number;
      }
    }
  }
  memcpy(player->before->block, m->block, (size_t)m->blocks * sizeof m->block[0]);
  memcpy(player->before->segment, m->segment, sizeof m->segment);
  player->before->blocks = m->blocks;
}

/* Blocks that were deferred come back first, as they were given back; then others, as their uses are finished. */
static bool is_earlier(const struct model_player_pending *a, const struct model_player_pending *b)
{
  if ((a->deferred != 0) != (b->deferred != 0)) {
    return a->deferred != 0;
  }
  return a->deferred != 0 ? a->deferred < b->deferred : a->number < b->number;
}

/* Writes down which of the blocks that were pending are not any more. */
static void note_completed(struct model_player *player)
{
  const struct model *m = player->model;
  for (;;) {
    int32_t first = -1;
    for (int32_t i = 0; i < player->pending_count; i++) {
      const struct model_player_pending *pending = &player->pending[i];
      const bool is_gone = m->block[pending->slot].state != MODEL_PENDING ||
                           m->block[pending->slot].address != pending->address;
      if (is_gone && (first == -1 || is_earlier(pending, &player->pending[first]))) {
        first = i;
      }
    }
    if (first == -1) {
      return;
    }
    const struct model_block *block = &player->before->block[player->pending[first].slot];
    const struct model_segment *segment = &player->before->segment[block->segment];
    note(player, ASHLAR_ACTION_FREE_COMPLETED, block->address, block->requested, segment->stream,
         segment->pool);
    count(player, MODEL_HAPPENED_COMPLETED);
    player->pending_count--;
    player->pending[first] = player->pending[player->pending_count];
  }
}

/* The device hears of what was submitted. */
static void submit(struct model_player *player)
{
  struct model_event event = model_event_next(player->model);
  while (event.stream != -1) {
    model_machine_submit(&player->machine, event.stream, player->now);
    event = model_event_next(player->model);
  }
}

/* Behind every call. */
static void settle(struct model_player *player)
{
  note_completed(player);
  submit(player);
}

void model_player_poll(struct model_player *player, struct model_caller caller)
{
  struct model *m = player->model;
  if (model_in_capture(m, caller)) {
    return;
  }
  for (int32_t stream = 0; stream < (int32_t)player->plan->streams; stream++) {
    const uint64_t finished = model_machine_finished(&player->machine, stream, player->now);
    uint64_t head = model_queue_head(m, stream);
    while (head != 0 && head <= finished) {
      watch(player, stream);
      model_player_must(model_complete(m, stream, head, caller).status == MODEL_OK,
                        "a use cannot be finished");
      settle(player);
      head = model_queue_head(m, stream);
    }
  }
}

/* --- steps --- */

/* What a request has gone through so far. */
struct progress {
  struct model_request request; /* as it began */
  bool is_emptying;
  uint32_t asked; /* the device, for memory */
  uint32_t maps;
};

static void count_release(struct model_player *player, const struct progress *progress,
                          struct model_step step)
{
  const int32_t rung = player->model->request[step.request].rung;
  if (progress->is_emptying) {
    count(player, MODEL_HAPPENED_EMPTIED);
  } else if (rung == MODEL_RUNG_COLLECT) {
    count(player, MODEL_HAPPENED_COLLECTED);
  } else if (rung == MODEL_RUNG_OVERSIZE) {
    count(player, MODEL_HAPPENED_OVERSIZE);
  } else {
    count(player, MODEL_HAPPENED_RELEASED);
  }
  if (rung != MODEL_RUNG_COLLECT && rung != MODEL_RUNG_OVERSIZE && step.pool != 0) {
    count(player, MODEL_HAPPENED_POOL_RELEASED);
  }
  if (!progress->is_emptying && rung > MODEL_RUNG_ASK && progress->asked == 0) {
    count(player, MODEL_HAPPENED_LIMITED);
  }
}

static enum model_outcome allocate_segment(struct model_player *player, struct model_step step,
                                           uint64_t *value)
{
  *value = model_machine_allocate(&player->machine, step.bytes);
  if (*value == 0) {
    count(player, MODEL_HAPPENED_REFUSED);
    return MODEL_REFUSED;
  }
  note(player, ASHLAR_ACTION_SEGMENT_ALLOC, *value, step.bytes, step.stream, step.pool);
  count(player, MODEL_HAPPENED_DEVICE);
  if (step.allocator != 0) {
    count(player, MODEL_HAPPENED_FOREIGN);
  }
  return MODEL_PERFORMED;
}

static enum model_outcome map(struct model_player *player, struct progress *progress,
                              struct model_step step)
{
  if (!model_machine_map(&player->machine, step.bytes)) {
    count(player, MODEL_HAPPENED_MAP_REFUSED);
    return MODEL_REFUSED;
  }
  note(player, ASHLAR_ACTION_SEGMENT_MAP, step.address, step.bytes, step.stream, step.pool);
  count(player, MODEL_HAPPENED_MAPPED);
  progress->maps++;
  if (progress->maps == 2) {
    count(player, MODEL_HAPPENED_MAPPED_IN_PARTS);
  }
  return MODEL_PERFORMED;
}

static struct model_step perform(struct model_player *player, struct progress *progress,
                                 struct model_step step)
{
  enum model_outcome outcome = MODEL_PERFORMED;
  uint64_t value = 0;
  watch(player, step.kind == MODEL_STEP_WAIT ? step.stream : -1);
  switch (step.kind) {
  case MODEL_STEP_ALLOCATE:
    progress->asked++;
    outcome = allocate_segment(player, step, &value);
    break;
  case MODEL_STEP_RELEASE:
    count_release(player, progress, step);
    note(player, ASHLAR_ACTION_SEGMENT_FREE, step.address, step.bytes, step.stream, step.pool);
    model_machine_release(&player->machine, step.address);
    break;
  case MODEL_STEP_RESERVE:
    value = model_machine_reserve(&player->machine, step.bytes);
    break;
  case MODEL_STEP_UNRESERVE:
    model_machine_unreserve(&player->machine, step.address, step.bytes);
    count(player, MODEL_HAPPENED_RANGE_RETURNED);
    break;
  case MODEL_STEP_MAP:
    progress->asked++;
    outcome = map(player, progress, step);
    break;
  case MODEL_STEP_UNMAP:
    model_machine_unmap(&player->machine, step.bytes);
    note(player, ASHLAR_ACTION_SEGMENT_UNMAP, step.address, step.bytes, step.stream, step.pool);
    count(player, MODEL_HAPPENED_UNMAPPED);
    break;
  default:
    model_player_must(step.kind == MODEL_STEP_WAIT, "a step that no recording has");
    model_machine_wait(&player->machine, step.stream, step.number);
    count(player, MODEL_HAPPENED_WAITED);
    break;
  }
  step = model_resume(player->model, step.request, outcome, value);
  settle(player);
  return step;
}

static struct model_step run(struct model_player *player, struct progress *progress,
                             struct model_step step)
{
  settle(player);
  while (model_step_is_open(step)) {
    progress->request = player->model->request[step.request];
    step = perform(player, progress, step);
  }
  model_player_must(step.kind != MODEL_STEP_ERROR, "a request ends in an error");
  return step;
}

/* --- requests --- */

/* Whether a growable block was taken although a smaller one was adequate. */
static bool has_walked(const struct model_player *player, struct model_step step)
{
  const struct model *before = player->before;
  if (step.slot >= before->blocks || before->block[step.slot].state != MODEL_FREE ||
      before->block[step.slot].address != step.address ||
      !segment_of(player->model, step.slot)->growable) {
    return false;
  }
  const struct model_segment *segment = segment_of(player->model, step.slot);
  for (int32_t i = 0; i < before->blocks; i++) {
    const struct model_segment *other = segment_of(before, i);
    if (before->block[i].state == MODEL_FREE && before->block[i].mapped &&
        other->pool == segment->pool && other->small == segment->small &&
        other->stream == segment->stream && before->block[i].size >= step.bytes &&
        before->block[i].size < before->block[step.slot].size) {
      return true;
    }
  }
  return false;
}

static void note_served(struct model_player *player, const struct progress *progress,
                        struct model_step step, uint64_t bytes)
{
  const struct model *m = player->model;
  if (progress->asked == 0 && has_walked(player, step)) {
    count(player, MODEL_HAPPENED_WALKED);
  }
  count(player, MODEL_HAPPENED_ALLOC);
  if (step.pool != 0) {
    count(player, MODEL_HAPPENED_POOL_ALLOC);
  }
  if (step.pool != 0 && progress->request.used && progress->request.want.pool == 0) {
    count(player, MODEL_HAPPENED_LENT);
  }
  if (m->pool[step.pool].no_split && step.bytes > model_rounded(m, bytes) + MODEL_MIB) {
    count(player, MODEL_HAPPENED_UNSPLIT);
  }
  note(player, ASHLAR_ACTION_ALLOC, step.address, bytes, step.stream, step.pool);
  player->live[player->live_count] = (struct model_player_block){step.slot, step.generation};
  player->live_count++;
}

void model_player_allocate(struct model_player *player, uint64_t bytes, int32_t stream,
                           struct model_caller caller)
{
  struct progress progress = {0};
  player->machine.refused = 0;
  model_player_poll(player, caller);
  watch(player, -1);
  const struct model_step first = model_allocate_begin(player->model, bytes, stream, caller);
  const struct model_step step = run(player, &progress, first);
  if (step.kind == MODEL_STEP_OUT_OF_MEMORY) {
    note(player, ASHLAR_ACTION_OOM, model_machine_free_bytes(&player->machine), step.bytes, stream,
         step.pool);
    count(player, MODEL_HAPPENED_OUT_OF_MEMORY);
  } else if (step.slot != -1) {
    note_served(player, &progress, step, bytes);
  }
}

void model_player_free(struct model_player *player, int32_t place, struct model_caller caller)
{
  const struct model_player_block block = player->live[place];
  player->live_count--;
  player->live[place] = player->live[player->live_count];
  note_block(player, ASHLAR_ACTION_FREE_REQUESTED, block.slot);
  bool is_used = false;
  for (int32_t u = 0; u < player->model->uses; u++) {
    is_used = is_used || (player->model->use[u].used && player->model->use[u].slot == block.slot);
  }
  if (!is_used) {
    note_block(player, ASHLAR_ACTION_FREE_COMPLETED, block.slot);
    count(player, MODEL_HAPPENED_FREE_AT_ONCE);
  }
  model_player_must(model_free(player->model, block.slot, block.generation, caller).status ==
                        MODEL_OK,
                    "a live block cannot be freed");
  if (is_used) {
    model_player_must(player->model->block[block.slot].state == MODEL_PENDING,
                      "a block in use is not pending");
    count(player, MODEL_HAPPENED_PENDING);
    if (player->model->block[block.slot].deferred != 0) {
      count(player, MODEL_HAPPENED_DEFERRED);
    }
  }
  submit(player);
}

void model_player_use(struct model_player *player, int32_t place, int32_t stream,
                      struct model_caller caller)
{
  const struct model_player_block block = player->live[place];
  model_player_must(model_record_use(player->model, block.slot, block.generation, stream, caller) ==
                        MODEL_OK,
                    "a use is refused");
  count(player, MODEL_HAPPENED_USE);
}

void model_player_empty_cache(struct model_player *player, int32_t pool, struct model_caller caller)
{
  struct progress progress = {.is_emptying = true};
  watch(player, -1);
  (void)run(player, &progress, model_empty_cache_begin(player->model, pool, caller));
}

void model_player_snapshot(struct model_player *player)
{
  model_recorder_note(player->recorder, player->device, ASHLAR_ACTION_SNAPSHOT, 0,
                      player->model->statistic[MODEL_ACTIVE_BYTES][MODEL_ALL].current, 0,
                      player->pools[0]);
  count(player, MODEL_HAPPENED_SNAPSHOT);
}

/* --- start and stop --- */

/* Handles as they are seen: their order is not that of their appearance. */
static const uint64_t HANDLES[MODEL_PLAN_STREAMS] = {
    0,
    UINT64_C(0x7f3a5c0012a0),
    2,
    UINT64_C(0x55d2c8e40010),
    UINT64_C(0xffff8880a5c01000),
    1,
    UINT64_C(0x55d2c8e40000),
    UINT64_C(0x7f3a5c000000),
};

static struct model_config config_of(const struct model_plan *plan)
{
  struct model_config config = model_default_config();
  config.policy = MODEL_FAITHFUL;
  config.order = plan->order;
  config.max_split_size = plan->max_split_size;
  config.growable = plan->growable;
  config.device_total = UINT64_C(65536) * MODEL_MIB;
  for (int32_t row = 0; row < MODEL_ROWS; row++) {
    config.division[row] = plan->division;
  }
  return config;
}

void model_player_start(struct model_player *player, const struct model_plan *plan, int32_t device,
                        uint64_t *random, struct model_recorder *recorder,
                        struct model_counts *counts)
{
  memset(player, 0, sizeof *player);
  player->plan = plan;
  player->recorder = recorder;
  player->counts = counts;
  player->device = device;
  player->model = calloc(1, sizeof *player->model);
  player->before = calloc(1, sizeof *player->before);
  model_player_must(player->model != NULL && player->before != NULL, "no memory for it");
  model_machine_start(&player->machine, plan, device, random);
  model_player_must(model_init(player->model, config_of(plan)) == MODEL_OK, "settings are refused");
  for (uint32_t i = 0; i < plan->streams; i++) {
    model_player_must(model_stream_register(player->model, HANDLES[i]).status == MODEL_OK,
                      "a stream is refused");
  }
  if (plan->limit != MODEL_UNSET) {
    const uint64_t above =
        plan->threshold > 0 ? (uint64_t)(plan->threshold * (double)plan->limit) : MODEL_UNSET;
    (void)model_limit_set(player->model, plan->limit, above);
  }
}

void model_player_stop(struct model_player *player)
{
  model_machine_stop(&player->machine);
  free(player->model);
  free(player->before);
}
