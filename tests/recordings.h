/* recordings.h - memory snapshots made for tests: random requests, replayed on the verified
 * core.
 *
 * Each recording has its own settings: streams, split limit, capacity (so that the ladder runs),
 * order, policy, address reuse, length of the ring. All of it follows from the index: the same
 * index gives the same snapshot on every machine.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_RECORDINGS_H
#define ASHLAR_TESTS_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/error.h"
#include "tools/replay.h"
#include "tools/snapshot.h"

enum { ASHLAR_RECORDINGS = 64 };

/* How a recording is made. */
struct ashlar_recording_plan {
  uint64_t seed;
  uint64_t largest; /* bytes, of a request */
  uint32_t operations;
  uint32_t devices;
  uint32_t streams;
  uint32_t free_percent;   /* of the operations that are about a block */
  uint32_t use_permille;   /* of the operations: a use on another stream */
  uint32_t cache_permille; /* of the operations: a cache release */
  uint32_t repeated_sizes; /* sizes are drawn from so many; 0: all are possible */
  struct ashlar_replay_options options;
};

/* The plan of recording `index`, below ASHLAR_RECORDINGS. */
struct ashlar_recording_plan ashlar_recording_plan(unsigned index);

/* The requests of a plan as a text trace (spec/trace-format.md); the caller's to free(). NULL:
   memory is short. */
char *ashlar_recording_trace(const struct ashlar_recording_plan *plan, size_t *length);

/* Makes the recording of a plan: *snapshot and, unless NULL, *replay are the caller's to free. */
bool ashlar_recording_make(const struct ashlar_recording_plan *plan,
                           struct ashlar_snapshot *snapshot, struct ashlar_replay *replay,
                           struct ashlar_error *error);

#endif
