/* model_recorder.h - writes down what a reference model does, as PyTorch does: the last events of each device, then the
 * segments and blocks as they are in the end.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_RECORDER_H
#define ASHLAR_TESTS_MODEL_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/model_plan.h"
#include "tools/snapshot.h"

enum { MODEL_RECORDER_DEVICES = 2 };

/* Two numbers name a pool: those of captures are (n, 0), those of users (0, n); (0, 0) is the default pool. */
struct model_recorded_event {
  struct ashlar_event event; /* but for stream and pool */
  uint64_t stream;           /* handle */
  struct ashlar_pool_id pool;
};

struct model_recorder {
  struct model_recorded_event
      *events[MODEL_RECORDER_DEVICES]; /* all; the ring is cut out in the end */
  uint64_t count[MODEL_RECORDER_DEVICES];
  uint64_t time_us;
};

void model_recorder_stop(struct model_recorder *recorder);

void model_recorder_note(struct model_recorder *recorder, int32_t device, enum ashlar_action action,
                         uint64_t address, uint64_t size, uint64_t stream,
                         struct ashlar_pool_id pool);

/* Begins the snapshot, uninitialised so far: settings, and the events that the ring of the plan holds. */
void model_recorder_finish(const struct model_recorder *recorder, const struct model_plan *plan,
                           struct ashlar_snapshot *snapshot);

/* Adds the segments and blocks of a device; `pools` has the names of the model's pools. */
void model_recorder_add_state(const struct model *model, const struct ashlar_pool_id *pools,
                              int32_t device, struct ashlar_snapshot *snapshot);

#endif
