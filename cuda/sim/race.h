/* race.h - whether memory that changes hands does so in order.
 *
 * The log holds for each range of memory the last accesses of each stream, by position (clock.h).
 * The caller tells it when a range is handed to a new owner: a block to a request, or memory back to
 * the device. Three things are races, each with an earlier access that is not in order before the
 * later thing:
 *
 *   HANDED    a block is handed to a request on a stream, and work of another stream on it does not
 *             come before what that stream does next. Work of the same stream always does.
 *   TOUCHED   work touches memory that an earlier owner's work touched, and one of the two writes.
 *   RELEASED  memory goes back to the device, and the host does not know the work on it to be done.
 *
 * Accesses of one and the same owner are its own affair. HANDED is the allocator's fault always;
 * TOUCHED alone, without HANDED, is that of a client which uses a block on a second stream without
 * putting that one after the first.
 *
 * All this is decided when work is queued and calls are made, from clocks alone: which of the two
 * really runs first does not matter, so a race is reported also when it does no harm this time.
 *
 * What the host knows to be done can race with nothing any more, and is forgotten.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_RACE_H
#define ASHLAR_CUDA_SIM_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/clock.h"
#include "cuda/sim/range_map.h"
#include "cuda/sim/status.h"
#include "cuda/sim/stream.h"

enum {
  ASHLAR_SIM_RACES_KEPT = 16 /* reports; later ones are counted only */
};

enum ashlar_sim_race_kind {
  ASHLAR_SIM_RACE_HANDED = 0,
  ASHLAR_SIM_RACE_TOUCHED,
  ASHLAR_SIM_RACE_RELEASED
};

/* One for each earlier stream and call. */
struct ashlar_sim_race {
  enum ashlar_sim_race_kind kind;
  struct ashlar_sim_position earlier; /* stream and item of the access that is out of order */
  bool earlier_writes;                /* that item writes; else it only reads */
  struct ashlar_sim_position later;   /* TOUCHED: stream and item. HANDED: the stream, and the item
                                         queued in it last. RELEASED: slot ASHLAR_SIM_NONE, the host */
  uint64_t address;                   /* the first range that both concern */
  uint64_t bytes;
};

/* Zeroed: nothing was accessed. Read the fields; change them by functions only. */
struct ashlar_sim_race_log {
  struct ashlar_sim_range_map *map; /* by slot */
  size_t map_count;
  size_t map_capacity;
  size_t cell_count;                                  /* of all maps, after the last sweep */
  uint64_t host_version;                              /* of the host's clock, at the last sweep */
  struct ashlar_sim_race race[ASHLAR_SIM_RACES_KEPT]; /* the first ones */
  uint64_t race_count;                                /* all of them */
  bool incomplete; /* host memory was short: accesses are missing, races may be */
};

void ashlar_sim_race_log_destroy(struct ashlar_sim_race_log *log);

/* Work at a position of a stream, which has been queued, touches a range. The clock of the stream
   includes the work. Returns how many races that is. In all three calls host memory that runs short
   sets `incomplete`. O(slots * (log cells + cells in the range)). */
uint64_t ashlar_sim_race_touch(struct ashlar_sim_race_log *log,
                               const struct ashlar_sim_streams *streams,
                               struct ashlar_sim_position position, struct ashlar_sim_touch touch);

/* A range, not empty, gets a new owner, which uses it on the stream. The stream's clock must have
   been refreshed. Returns how many races that is. */
uint64_t ashlar_sim_race_hand_over(struct ashlar_sim_race_log *log,
                                   const struct ashlar_sim_streams *streams, uint32_t slot,
                                   uint64_t address, uint64_t bytes);

/* A range, not empty, goes back to the device; its accesses are forgotten. Returns how many races
   that is. */
uint64_t ashlar_sim_race_release(struct ashlar_sim_race_log *log,
                                 const struct ashlar_sim_streams *streams, uint64_t address,
                                 uint64_t bytes);

#endif
