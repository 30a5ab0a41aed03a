/* model_player.h - a reference model at work on its device, with every call written down. Private to model_*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_PLAYER_H
#define ASHLAR_TESTS_MODEL_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/model/model.h"
#include "tests/model_machine.h"
#include "tests/model_recorder.h"
#include "tests/model_recording.h"

enum { MODEL_PLAYER_LIVE = 256 };

struct model_player_block {
  int32_t slot;
  uint32_t generation;
};

/* A block that was given back and is in use still, as it was before a call. */
struct model_player_pending {
  int32_t slot;
  uint64_t address;
  uint64_t deferred; /* when; 0: it is not */
  uint64_t number;   /* of its use of the stream that is looked at; 0: none */
};

struct model_player {
  const struct model_plan *plan;
  struct model_recorder *recorder;
  struct model_counts *counts;
  struct model *model;
  struct model *before; /* of which the blocks are a copy, from before a request */
  struct model_machine machine;
  struct ashlar_pool_id pools[MODEL_POOLS];
  struct model_player_block live[MODEL_PLAYER_LIVE];
  struct model_player_pending pending[MODEL_BLOCKS];
  uint64_t now; /* operations so far */
  int32_t live_count;
  int32_t pending_count;
  int32_t device;
};

void model_player_start(struct model_player *player, const struct model_plan *plan, int32_t device,
                        uint64_t *random, struct model_recorder *recorder,
                        struct model_counts *counts);
void model_player_stop(struct model_player *player);

/* Takes back what streams have finished by now, unless the caller is captured. */
void model_player_poll(struct model_player *player, struct model_caller caller);

/* Polls, then asks for a block, which becomes the last of `live`, unless there is no memory. */
void model_player_allocate(struct model_player *player, uint64_t bytes, int32_t stream,
                           struct model_caller caller);

/* Of the block at a place in `live`. */
void model_player_free(struct model_player *player, int32_t place, struct model_caller caller);
void model_player_use(struct model_player *player, int32_t place, int32_t stream,
                      struct model_caller caller);

/* Of one pool, or -1. */
void model_player_empty_cache(struct model_player *player, int32_t pool,
                              struct model_caller caller);

/* A snapshot is taken and thrown away. */
void model_player_snapshot(struct model_player *player);

/* Ends the process: the model answered what it must not. */
void model_player_must(bool holds, const char *what);

#endif
