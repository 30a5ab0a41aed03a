/* replay_seed.h - puts in place what was live before the recording began. Private to replay*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAY_SEED_H
#define ASHLAR_TOOLS_REPLAY_SEED_H

#include <stdbool.h>

#include "tools/replay_device.h"

/* What one device is seeded with, a part of the arrays of the request sequence. */
struct ashlar_seeds {
  const struct ashlar_seed_segment *segments;
  const struct ashlar_seed_block *blocks;
  size_t segment_count;
  size_t block_count;
};

/* Places segments and blocks exactly where they were. A block that has no place there is
   reported as a failure. False, with *error set: a segment has no place, or memory is short.
   Linear in the seeds. */
bool ashlar_seed_recorded(struct ashlar_play *play, const struct ashlar_seeds *seeds,
                          struct ashlar_allocation *allocations, struct ashlar_error *error);

/* Asks the manager for a block for each one that was live, in address order, and lets the device
   place the segments. Recorded as requests are. False: memory is short. */
bool ashlar_seed_anew(struct ashlar_play *play, const struct ashlar_seeds *seeds,
                      struct ashlar_allocation *allocations, struct ashlar_error *error);

#endif
