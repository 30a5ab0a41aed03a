/* model_recording.c - see model_recording.h: the random calls.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_recording.h"

#include <stdlib.h>
#include <string.h>

#include "tests/model_player.h"
#include "tests/storage.h"

enum {
  PERMILLE = 1000,
  SIZES = 10, /* that come again and again */
  POOLS = 4,  /* of users, at a time */
  THREADS = 2,
  GRAPH_OPERATIONS = 25,
  POOL_PERMILLE = 600 /* of the operations while a pool is entered: by the thread that is in it */
};

/* One device, and what is going on there. */
struct program {
  struct model_player player;
  int32_t pools[POOLS]; /* numbers in the model; 0: none */
  int32_t entered;      /* by thread 2; 0: none */
  int32_t graph_pool;   /* of the capture that goes on; 0: none */
  int32_t kept_graph;   /* the pool of the last one, which lives on; 0: none */
  int32_t graph_stream;
  uint32_t graph_left; /* operations */
  uint64_t graphs;
  uint64_t users_pools;
  uint64_t sizes[SIZES];
  uint64_t *random;
};

const char *model_happening_name(enum model_happening happening)
{
  static const char *const NAMES[MODEL_HAPPENINGS] = {
      [MODEL_HAPPENED_ALLOC] = "allocations",
      [MODEL_HAPPENED_FREE_AT_ONCE] = "frees at once",
      [MODEL_HAPPENED_USE] = "uses recorded",
      [MODEL_HAPPENED_PENDING] = "frees of blocks in use",
      [MODEL_HAPPENED_COMPLETED] = "blocks that came back later",
      [MODEL_HAPPENED_WAITED] = "waits in a request",
      [MODEL_HAPPENED_DEVICE] = "segments given",
      [MODEL_HAPPENED_REFUSED] = "segments refused",
      [MODEL_HAPPENED_LIMITED] = "releases because of the limit",
      [MODEL_HAPPENED_COLLECTED] = "segments collected by age",
      [MODEL_HAPPENED_OVERSIZE] = "oversize segments released",
      [MODEL_HAPPENED_RELEASED] = "segments released for a request",
      [MODEL_HAPPENED_EMPTIED] = "segments released by a call",
      [MODEL_HAPPENED_OUT_OF_MEMORY] = "out of memory",
      [MODEL_HAPPENED_MAPPED] = "maps",
      [MODEL_HAPPENED_MAP_REFUSED] = "maps refused",
      [MODEL_HAPPENED_MAPPED_IN_PARTS] = "requests mapped in parts",
      [MODEL_HAPPENED_UNMAPPED] = "unmaps",
      [MODEL_HAPPENED_RANGE_RETURNED] = "ranges returned",
      [MODEL_HAPPENED_WALKED] = "growable blocks chosen by the walk",
      [MODEL_HAPPENED_POOL_ALLOC] = "allocations in pools",
      [MODEL_HAPPENED_POOL_RELEASED] = "segments of pools released",
      [MODEL_HAPPENED_LENT] = "blocks lent by a pool",
      [MODEL_HAPPENED_UNSPLIT] = "blocks kept whole by a pool",
      [MODEL_HAPPENED_FOREIGN] = "segments of a pool's allocator",
      [MODEL_HAPPENED_CAPTURE] = "captures",
      [MODEL_HAPPENED_DEFERRED] = "frees deferred by a capture",
      [MODEL_HAPPENED_SNAPSHOT] = "snapshots in between",
  };
  return NAMES[happening];
}

static uint64_t below(struct program *program, uint64_t bound)
{
  return ashlar_random_below(program->random, bound);
}

static bool happens(struct program *program, uint32_t permille)
{
  return below(program, PERMILLE) < permille;
}

/* Every power of two from the least to the largest is as likely as the next. */
static uint64_t any_size(struct program *program)
{
  const uint64_t least = program->player.plan->least;
  const uint64_t largest = program->player.plan->largest;
  uint32_t bits = 0;
  while ((largest / least >> bits) > 1) {
    bits++;
  }
  const uint64_t power = least << below(program, bits + 1U);
  const uint64_t size = power + below(program, power);
  return size > largest ? largest : size;
}

static int32_t any_stream(struct program *program)
{
  return (int32_t)below(program, program->player.plan->streams);
}

/* Thread 1 captures, thread 2 enters pools. While a stream is captured only thread 1 is on it. */
static struct model_caller any_caller(struct program *program)
{
  struct model_caller caller = {any_stream(program), 1 + below(program, THREADS)};
  if (program->entered != 0 && happens(program, POOL_PERMILLE)) {
    caller.thread = 2;
  }
  if (program->graph_pool != 0) {
    if (caller.thread == 1) {
      caller.stream = program->graph_stream;
    } else if (caller.stream == program->graph_stream) {
      caller.stream = (caller.stream + 1) % (int32_t)program->player.plan->streams;
    }
  }
  return caller;
}

/* --- pools --- */

static int32_t new_pool(struct program *program, uint64_t first, uint64_t second,
                        uint32_t allocator)
{
  struct model_player *player = &program->player;
  const struct model_registration created = model_pool_create(player->model, allocator);
  model_player_must(created.status == MODEL_OK, "a pool is refused");
  player->pools[created.number] = (struct ashlar_pool_id){first, second};
  return created.number;
}

/* Some pools of users have an allocator, or do not split, or lend; these not where something is collected by age: a
   request that is lent a block is not recorded as one of the default pool, whose searches count. */
static int32_t new_users_pool(struct program *program)
{
  struct model *m = program->player.model;
  const uint64_t kind = program->player.plan->odd_pools ? 1 + below(program, 4) : 0;
  program->users_pools++;
  const int32_t pool = new_pool(program, 0, program->users_pools, kind == 1 ? 7 : 0);
  if (kind == 2) {
    (void)model_pool_set_no_split(m, pool);
  } else if (kind >= 3 && !(program->player.plan->threshold > 0)) {
    (void)model_pool_set_use_on_oom(m, pool, true);
  }
  return pool;
}

static void leave(struct program *program)
{
  struct model *m = program->player.model;
  model_player_must(model_scope_close(m, program->entered) == MODEL_OK &&
                        model_pool_release(m, program->entered) == MODEL_OK,
                    "a pool cannot be left");
  program->entered = 0;
}

/* Enters a pool, which may be new; leaves it; or gives one up, and perhaps empties it. */
static void do_pool(struct program *program)
{
  struct model *m = program->player.model;
  int32_t *pool = &program->pools[below(program, POOLS)];
  if (program->entered != 0) {
    leave(program);
  } else if (*pool == 0 || happens(program, 700)) {
    *pool = *pool == 0 ? new_users_pool(program) : *pool;
    model_player_must(model_scope_open(m, *pool, 2, -1) == MODEL_OK, "a pool cannot be entered");
    program->entered = *pool;
  } else {
    model_player_must(model_pool_release(m, *pool) == MODEL_OK, "a pool cannot be given up");
    if (m->pool[*pool].used && happens(program, 500)) {
      model_player_empty_cache(&program->player, *pool, any_caller(program));
    }
    *pool = 0;
  }
}

/* --- captures --- */

static void end_capture(struct program *program)
{
  struct model *m = program->player.model;
  model_player_must(model_capture_end(m, program->graph_stream) == MODEL_OK &&
                        model_scope_close(m, program->graph_pool) == MODEL_OK,
                    "a capture cannot be ended");
  program->kept_graph = program->graph_pool;
  program->graph_pool = 0;
}

/* The graph of the last capture is thrown away before the next one begins, or shares its pool. */
static void begin_capture(struct program *program)
{
  struct model *m = program->player.model;
  if (program->kept_graph != 0 && happens(program, 600)) {
    while (model_pool_release(m, program->kept_graph) == MODEL_OK) {
    }
    program->kept_graph = 0;
  }
  if (program->kept_graph == 0) {
    program->graphs++;
    program->graph_pool = new_pool(program, program->graphs, 0, 0);
  } else {
    program->graph_pool = program->kept_graph;
  }
  program->graph_stream = any_stream(program);
  program->graph_left = GRAPH_OPERATIONS;
  model_player_must(model_scope_open(m, program->graph_pool, 0, program->graph_stream) ==
                            MODEL_OK &&
                        model_capture_begin(m, program->graph_stream) == MODEL_OK,
                    "a capture cannot begin");
  program->player.counts->of[MODEL_HAPPENED_CAPTURE]++;
}

static void go_on_capturing(struct program *program)
{
  if (program->graph_pool == 0) {
    return;
  }
  program->graph_left--;
  if (program->graph_left == 0) {
    end_capture(program);
  }
}

/* --- operations --- */

static void do_block(struct program *program)
{
  struct model_player *player = &program->player;
  const struct model_caller caller = any_caller(program);
  const uint64_t place = player->live_count == 0 ? 0 : below(program, (uint64_t)player->live_count);
  const bool is_full = player->live_count > (int32_t)player->plan->live;
  if (player->live_count == MODEL_PLAYER_LIVE ||
      (player->live_count > 0 && happens(program, is_full ? 650 : 350))) {
    model_player_free(player, (int32_t)place, caller);
  } else {
    const uint64_t size =
        happens(program, 500) ? program->sizes[below(program, SIZES)] : any_size(program);
    model_player_allocate(player, size, caller.stream, caller);
  }
}

static void do_operation(struct program *program)
{
  struct model_player *player = &program->player;
  const struct model_plan *plan = player->plan;
  player->now++;
  go_on_capturing(program);
  if (happens(program, plan->use_permille) && player->live_count > 0) {
    const struct model_caller caller = any_caller(program);
    const int32_t stream = any_stream(program);
    const uint64_t place = below(program, (uint64_t)player->live_count);
    model_player_use(player, (int32_t)place, stream, caller);
  } else if (happens(program, plan->cache_permille)) {
    model_player_empty_cache(player, -1, any_caller(program));
  } else if (happens(program, plan->pool_permille)) {
    do_pool(program);
  } else if (program->graph_pool == 0 && happens(program, plan->graph_permille)) {
    begin_capture(program);
  } else if (happens(program, 3)) {
    model_player_snapshot(player);
  } else {
    do_block(program);
  }
}

void model_recording_make(const struct model_plan *plan, struct ashlar_snapshot *snapshot,
                          struct model_counts *counts)
{
  struct model_recorder recorder = {0};
  struct program *programs = calloc(plan->devices, sizeof *programs);
  uint64_t random = plan->seed;
  model_player_must(programs != NULL, "no memory for it");
  if (programs == NULL) {
    return; /* never: the line above has ended the process */
  }
  for (uint32_t device = 0; device < plan->devices; device++) {
    struct program *program = &programs[device];
    model_player_start(&program->player, plan, (int32_t)device, &random, &recorder, counts);
    program->random = &random;
    for (int32_t i = 0; i < SIZES; i++) {
      program->sizes[i] = any_size(program);
    }
  }
  for (uint32_t i = 0; i < plan->operations; i++) {
    do_operation(&programs[ashlar_random_below(&random, plan->devices)]);
  }
  model_recorder_finish(&recorder, plan, snapshot);
  for (uint32_t device = 0; device < plan->devices; device++) {
    struct model_player *player = &programs[device].player;
    model_recorder_add_state(player->model, player->pools, (int32_t)device, snapshot);
    model_player_stop(player);
  }
  model_recorder_stop(&recorder);
  free(programs);
}
