/* model_recording.h - memory snapshots that the reference model makes: random calls by a plan, in PyTorch's policy,
 * over a device of the test's, recorded as PyTorch records.
 *
 * Nothing of the core is in it: what audit and replay say of such a recording is said by the core of what somebody else
 * decided.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_RECORDING_H
#define ASHLAR_TESTS_MODEL_RECORDING_H

#include <stdint.h>

#include "tests/model_plan.h"
#include "tools/snapshot.h"

/* What was going on; each counts how often. */
enum model_happening {
  MODEL_HAPPENED_ALLOC = 0,
  MODEL_HAPPENED_FREE_AT_ONCE,
  MODEL_HAPPENED_USE,
  MODEL_HAPPENED_PENDING,   /* freed while in use on another stream */
  MODEL_HAPPENED_COMPLETED, /* such a block came back */
  MODEL_HAPPENED_WAITED,    /* a request waited for a stream */
  MODEL_HAPPENED_DEVICE,    /* a segment was given */
  MODEL_HAPPENED_REFUSED,   /* or was not */
  MODEL_HAPPENED_LIMITED,   /* a segment was not asked for, because of the limit */
  MODEL_HAPPENED_COLLECTED, /* a segment was released for its age */
  MODEL_HAPPENED_OVERSIZE,  /* one was released because of the split limit */
  MODEL_HAPPENED_RELEASED,  /* one was released with all others, for a request */
  MODEL_HAPPENED_EMPTIED,   /* one was released by a call */
  MODEL_HAPPENED_OUT_OF_MEMORY,
  MODEL_HAPPENED_MAPPED,
  MODEL_HAPPENED_MAP_REFUSED,
  MODEL_HAPPENED_MAPPED_IN_PARTS, /* a request needed more than one map */
  MODEL_HAPPENED_UNMAPPED,
  MODEL_HAPPENED_RANGE_RETURNED,
  MODEL_HAPPENED_WALKED, /* the least adequate block of a growable segment was not the one chosen */
  MODEL_HAPPENED_POOL_ALLOC,
  MODEL_HAPPENED_POOL_RELEASED, /* a segment of a pool that was given up */
  MODEL_HAPPENED_LENT,          /* a pool served a request that was not for it */
  MODEL_HAPPENED_UNSPLIT,       /* a pool kept a block whole */
  MODEL_HAPPENED_FOREIGN,       /* a segment came from a pool's own allocator */
  MODEL_HAPPENED_CAPTURE,
  MODEL_HAPPENED_DEFERRED, /* a free was put off until the end of a capture */
  MODEL_HAPPENED_SNAPSHOT,
  MODEL_HAPPENINGS
};

struct model_counts {
  uint64_t of[MODEL_HAPPENINGS];
};

const char *model_happening_name(enum model_happening happening);

/* Makes the recording of a plan; the snapshot, uninitialised so far, is the caller's to free. Adds to *counts. Ends the
   process where memory is short. */
void model_recording_make(const struct model_plan *plan, struct ashlar_snapshot *snapshot,
                          struct model_counts *counts);

#endif
