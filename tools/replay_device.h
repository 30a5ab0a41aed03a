/* replay_device.h - one device under replay: a block manager, the pretend device below it, and the
 * recorder beside it. Private to replay*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAY_DEVICE_H
#define ASHLAR_TOOLS_REPLAY_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block_manager.h"
#include "cuda/sim/device.h"
#include "tools/recorder.h"
#include "tools/replay.h"
#include "tools/requests.h"

enum ashlar_allocation_state {
  ASHLAR_ALLOCATION_NONE = 0, /* not asked for yet */
  ASHLAR_ALLOCATION_LIVE,
  ASHLAR_ALLOCATION_USED,    /* live, and used on another stream */
  ASHLAR_ALLOCATION_PENDING, /* its owner has let go, and it is still in use */
  ASHLAR_ALLOCATION_GONE,    /* returned */
  ASHLAR_ALLOCATION_ABSENT   /* there is no block: the request failed, or was for 0 bytes */
};

/* One allocation of the sequence, by number. */
struct ashlar_allocation {
  int32_t slot;
  uint32_t generation;
  uint16_t stream;
  uint16_t pool;
  uint8_t state; /* enum ashlar_allocation_state */
  uint8_t device;
};

/* A block that is used on other streams, and its owner has let go. */
struct ashlar_waiting {
  uint64_t due; /* count of the device's allocation requests from which on it counts as finished */
  uint32_t number;
};

/* Those of one device, oldest first; those before `first` are done. */
struct ashlar_waiting_list {
  struct ashlar_waiting *entries;
  size_t first;
  size_t end;
  size_t capacity;
};

struct ashlar_play {
  const struct ashlar_requests *requests;
  struct ashlar_manager *manager;
  struct ashlar_sim_device sim;
  struct ashlar_recorder *recorder;
  struct ashlar_replay *replay;
  struct ashlar_replay_device *result;
  uint16_t streams[ASHLAR_STREAMS]; /* index into the request streams, by number in the manager */
  uint16_t last_stream;             /* a stream that was just looked up, and its number */
  int32_t last_number;              /* -1: none yet */
  int32_t *pools;        /* by pool of the recording: number in the manager; see replay_pool.c */
  uint16_t *pool_names;  /* by number in the manager */
  int32_t captured;      /* number of a stream that is captured all the time; -1: none yet */
  uint64_t spare_ranges; /* ranges so far that the recording tells nothing of */
  struct ashlar_waiting_list waiting;
  uint64_t pending_bytes;
  uint64_t time_us; /* of the request at hand */
  uint8_t device;
  bool is_out_of_memory; /* of this machine, not of the pretend device */
  bool waits_first;      /* of the request in flight: it is dropped when the device refuses */
  bool must_wait;        /* it was */
};

/* Whose memory it is: indices into the request streams and into the pools of the recording. */
struct ashlar_play_owner {
  uint16_t stream;
  uint16_t pool;
};

/* How an allocation ended. */
struct ashlar_play_outcome {
  bool is_served;
  bool must_wait; /* nothing was done: the device refuses, and the caller meant to wait first */
  enum ashlar_replay_reason reason; /* where not served */
  int32_t slot;                     /* of the block; -1: none is needed */
  uint32_t generation;
  uint64_t address;
  uint64_t size; /* OUT_OF_MEMORY: the request, rounded */
};

/* Starts a device. False, with nothing to stop, where memory is short or the settings are
   refused. */
bool ashlar_play_begin(struct ashlar_play *play, const struct ashlar_config *config,
                       const struct ashlar_sim_config *sim);
void ashlar_play_end(struct ashlar_play *play);

/* Number in the manager of a request stream, registered where new; -1: no more can be. */
int32_t ashlar_play_stream_number(struct ashlar_play *play, uint16_t stream);

/* Asks for a block and carries out the steps; records what happens, but not that memory ran out.
   With `waits_first` the request is dropped when the device refuses, before anything is released
   for it. */
struct ashlar_play_outcome ashlar_play_allocate(struct ashlar_play *play, uint64_t bytes,
                                                struct ashlar_play_owner owner, bool waits_first);

/* Records that memory ran out, where the outcome says so. */
void ashlar_play_note_oom(struct ashlar_play *play, const struct ashlar_play_outcome *outcome,
                          struct ashlar_play_owner owner);

/* The owner lets go; recorded. */
void ashlar_play_let_go(struct ashlar_play *play, struct ashlar_allocation *allocation);

/* The block returns to its pool; recorded. The allocation holds a block. */
void ashlar_play_complete(struct ashlar_play *play, struct ashlar_allocation *allocation);

/* Releases the cache: all of it, or (a number in the manager) that of one pool. */
void ashlar_play_empty_cache(struct ashlar_play *play, int32_t pool);

/* Bytes of the block of an allocation, and bytes requested of it. */
uint64_t ashlar_play_bytes(const struct ashlar_play *play,
                           const struct ashlar_allocation *allocation);

/* The memory now. O(streams log blocks). */
struct ashlar_replay_moment ashlar_play_moment(const struct ashlar_play *play, uint64_t event);

/* Takes the memory now into the peaks. O(1) where there is no new peak. */
void ashlar_play_measure(struct ashlar_play *play, uint64_t event);

/* Adds a failure; `device` is filled in, and for OUT_OF_MEMORY what the device has left. False:
   memory is short. */
bool ashlar_play_fail(struct ashlar_play *play, struct ashlar_replay_failure failure);

/* Records an event now. */
void ashlar_play_note(struct ashlar_play *play, enum ashlar_action action, uint64_t address,
                      uint64_t size, struct ashlar_play_owner owner);

/* --- replay_growth.c: growable segments on the recorded device --- */

/* Settings by which ranges are as long as the recorded ones can have been. False: they overlap, so that the recording does
   not tell how long they were. */
bool ashlar_play_ranges(const struct ashlar_requests *requests, struct ashlar_config *config);

/* Carries out a step about a range, or a part of one. */
struct ashlar_step ashlar_play_grow(struct ashlar_play *play, const struct ashlar_step *step);

/* Whether a step is one of those. */
bool ashlar_play_is_growth(const struct ashlar_step *step);

/* --- replay_pool.c: private pools. Each serves requests of a thread of its own --- */

/* Number in the manager of a pool of the recording, made where new; -1: no more can be. */
int32_t ashlar_play_pool(struct ashlar_play *play, uint16_t pool);

/* Who makes requests of the pool: for a pool of graphs somebody in a capture. */
struct ashlar_caller ashlar_play_caller(struct ashlar_play *play, uint16_t pool);

/* The pool has no user any more: from now on its segments are released with the others. */
void ashlar_play_give_up(struct ashlar_play *play, uint16_t pool);

#endif
