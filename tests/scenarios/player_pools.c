/* player_pools.c - words of a script about pools, checkpoints and captures. Each gives what it came to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/playing.h"

/* --- pools --- */

/* A pool under the first argument's name. */
static enum subject_status make_pool(struct playing *p, uint32_t allocator)
{
  const struct subject_number made = p->subject->pool_create(p->world.self, allocator);
  struct playing_pool *pool =
      made.status == SUBJECT_OK ? playing_new_pool(p, playing_argument(p, 0)) : NULL;
  if (pool != NULL) {
    pool->number = made.number;
    pool->users = 1;
  }
  return made.status;
}

static enum subject_status create_pool(struct playing *p)
{
  return make_pool(p,
                   p->argument_count > 1 ? (uint32_t)playing_size(p, playing_argument(p, 1)) : 0);
}

static enum subject_status acquire(struct playing *p)
{
  struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  if (pool == NULL) {
    return SUBJECT_OK;
  }
  const enum subject_status status = p->subject->pool_acquire(p->world.self, pool->number);
  pool->users += status == SUBJECT_OK ? 1 : 0;
  return status;
}

static enum subject_status leave(struct playing *p)
{
  struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  if (pool == NULL) {
    return SUBJECT_OK;
  }
  const enum subject_status status = p->subject->pool_leave(p->world.self, pool->number);
  pool->users -= status == SUBJECT_OK && pool->users > 0 ? 1 : 0;
  return status;
}

static enum subject_status open_scope(struct playing *p, struct playing_pool *pool, uint64_t thread,
                                      int32_t stream)
{
  const enum subject_status status =
      p->subject->scope_open(p->world.self, pool->number, thread, stream);
  pool->users += status == SUBJECT_OK ? 1 : 0;
  pool->scope = pool->scope || status == SUBJECT_OK;
  return status;
}

static enum subject_status close_scope(struct playing *p, struct playing_pool *pool)
{
  const enum subject_status status = p->subject->scope_leave(p->world.self, pool->number);
  pool->scope = pool->scope && status != SUBJECT_OK;
  return status;
}

static enum subject_status open_pool(struct playing *p)
{
  struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  uint64_t thread = 0;
  int32_t stream = -1;
  for (size_t i = 1; i < p->argument_count; i++) {
    if (strncmp(playing_argument(p, i), "thread ", 7) == 0) {
      thread = playing_size(p, playing_argument(p, i) + 7);
    } else {
      stream = playing_stream_number(p, playing_argument(p, i));
    }
  }
  return pool == NULL ? SUBJECT_OK : open_scope(p, pool, thread, stream);
}

static enum subject_status close_pool(struct playing *p)
{
  struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  return pool == NULL ? SUBJECT_OK : close_scope(p, pool);
}

static enum subject_status lend(struct playing *p)
{
  const struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  const bool on = playing_on(p, playing_argument(p, 1));
  return pool == NULL ? SUBJECT_OK : p->subject->pool_lend(p->world.self, pool->number, on);
}

static enum subject_status no_split(struct playing *p)
{
  const struct playing_pool *pool = playing_pool(p, playing_argument(p, 0));
  return pool == NULL ? SUBJECT_OK : p->subject->pool_no_split(p->world.self, pool->number);
}

static enum subject_status save(struct playing *p)
{
  const uint64_t which = playing_size(p, playing_argument(p, 0));
  const struct playing_pool *pool = playing_pool(p, playing_argument(p, 1));
  if (pool == NULL || which >= SUBJECT_CHECKPOINTS) {
    (void)playing_fault(p, "no such checkpoint");
    return SUBJECT_OK;
  }
  return p->subject->checkpoint_save(p->world.self, pool->number, p->made_by, (int32_t)which);
}

/* A name has its block again where one is allocated that is at its address and as large; others have none. */
static enum subject_status restore(struct playing *p)
{
  const uint64_t which = playing_size(p, playing_argument(p, 0));
  if (which >= SUBJECT_CHECKPOINTS) {
    (void)playing_fault(p, "no such checkpoint");
    return SUBJECT_OK;
  }
  const enum subject_status status =
      p->subject->checkpoint_restore(p->world.self, p->made_by, (int32_t)which);
  world_note_events(&p->world);
  if (status != SUBJECT_OK || !view_take(p->now, &p->world)) {
    return status;
  }
  for (size_t k = 0; k < p->block_count; k++) {
    struct playing_block *mine = &p->block[k];
    mine->live = false;
    for (size_t i = 0; i < p->now->count; i++) {
      const struct subject_block *block = &p->now->block[i];
      if (block->address == mine->address && block->size == mine->bytes) {
        mine->live = block->state == SUBJECT_ALLOCATED;
        mine->slot = block->slot;
        mine->generation = block->generation;
        mine->references = 1;
      }
    }
  }
  return status;
}

/* --- captures --- */

static struct playing_graph *graph_named(struct playing *p, const char *name)
{
  for (size_t i = 0; i < p->graph_count; i++) {
    if (strcmp(p->graph[i].pool->name, name) == 0) {
      return &p->graph[i];
    }
  }
  (void)playing_fault(p, "no such capture: %s", name);
  return NULL;
}

/* A pool of its own, a scope of it for the stream, and the capture: undone in turn where one of them fails. */
static enum subject_status begin_capture(struct playing *p)
{
  struct world_stream *stream = playing_stream(p, playing_argument(p, 1));
  const enum subject_status made = make_pool(p, 0);
  struct playing_pool *pool = made == SUBJECT_OK ? playing_pool(p, playing_argument(p, 0)) : NULL;
  if (stream == NULL || pool == NULL || p->graph_count == PLAYING_GRAPHS) {
    return made;
  }
  struct playing_graph *graph = &p->graph[p->graph_count];
  const enum subject_status opened = open_scope(p, pool, 0, stream->number);
  uint64_t capture = 0;
  if (opened != SUBJECT_OK) {
    return opened;
  }
  pool->users--;
  (void)p->subject->pool_leave(p->world.self, pool->number); /* the graph is the only user */
  if (ashlar_sim_machine_capture_begin(&p->world.machine, stream->handle, 0, &capture) !=
      ASHLAR_SIM_OK) {
    (void)close_scope(p, pool);
    (void)p->subject->pool_leave(p->world.self, pool->number);
    pool->users = 0;
    return SUBJECT_DEVICE;
  }
  *graph = (struct playing_graph){.pool = pool, .stream = stream, .capturing = true, .kept = true};
  p->graph_count++;
  stream->capturing = true;
  p->caller.stream = stream->number;
  return p->subject->capture_begin(p->world.self, stream->number);
}

static enum subject_status end_capture_of(struct playing *p, struct playing_graph *graph)
{
  const uint64_t handle = graph->stream->handle;
  uint64_t capture = 0;
  for (size_t i = 0; i < p->world.machine.streams.count; i++) {
    const struct ashlar_sim_stream *stream = &p->world.machine.streams.slot[i];
    capture =
        stream->handle == handle && !stream->shadow && stream->open ? stream->capture : capture;
  }
  const enum ashlar_sim_status ended = ashlar_sim_machine_capture_end(&p->world.machine, handle);
  graph->graph = ended == ASHLAR_SIM_OK ? capture : 0;
  if (graph->graph != 0 && !graph->kept) {
    (void)ashlar_sim_machine_graph_destroy(&p->world.machine, graph->graph);
  }
  graph->capturing = false;
  graph->stream->capturing = false;
  p->caller.stream = -1;
  p->made_by.stream = -1;
  const enum subject_status left = p->subject->capture_end(p->world.self, graph->stream->number);
  const enum subject_status closed = close_scope(p, graph->pool);
  if (left != SUBJECT_OK || closed != SUBJECT_OK) {
    return left != SUBJECT_OK ? left : closed;
  }
  return ended == ASHLAR_SIM_OK ? SUBJECT_OK : SUBJECT_CAPTURE;
}

static enum subject_status end_capture(struct playing *p)
{
  struct playing_graph *graph = graph_named(p, playing_argument(p, 0));
  return graph == NULL ? SUBJECT_OK : end_capture_of(p, graph);
}

static enum subject_status break_capture(struct playing *p)
{
  struct playing_graph *graph = graph_named(p, playing_argument(p, 0));
  if (graph == NULL ||
      ashlar_sim_machine_capture_spoil(&p->world.machine, graph->stream->handle) != ASHLAR_SIM_OK) {
    (void)playing_fault(p, "no capture to break");
    return SUBJECT_OK;
  }
  const enum subject_status outcome = end_capture_of(p, graph);
  return outcome == SUBJECT_CAPTURE ? SUBJECT_OK : outcome;
}

static enum subject_status drop_graph(struct playing *p)
{
  struct playing_graph *graph = graph_named(p, playing_argument(p, 0));
  if (graph == NULL || !graph->kept) {
    (void)playing_fault(p, "no graph to drop");
    return SUBJECT_OK;
  }
  if (graph->graph != 0) {
    (void)ashlar_sim_machine_graph_destroy(&p->world.machine, graph->graph);
  }
  graph->kept = false;
  graph->pool->users--;
  return p->subject->pool_leave(p->world.self, graph->pool->number);
}

static const struct playing_call CALLS[] = {
    {"pool", 1, 2, create_pool}, {"acquire", 1, 1, acquire},  {"leave", 1, 1, leave},
    {"open", 1, 3, open_pool},   {"close", 1, 1, close_pool}, {"lend", 2, 2, lend},
    {"nosplit", 1, 1, no_split}, {"save", 2, 2, save},        {"restore", 1, 1, restore},
    {"CB", 2, 2, begin_capture}, {"CE", 1, 1, end_capture},   {"CX", 1, 1, break_capture},
    {"R", 1, 1, drop_graph},
};
const struct playing_calls PLAYING_POOL_CALLS = {CALLS, sizeof CALLS / sizeof CALLS[0]};
