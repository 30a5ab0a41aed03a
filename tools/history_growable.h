/* history_growable.h - growable segments in a history: which class had what is unmapped, and whether they can be followed.
 * Private to history*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_GROWABLE_H
#define ASHLAR_TOOLS_HISTORY_GROWABLE_H

#include "tools/history.h"

/* Class of what each segment_unmap took away, in the order of events; ASHLAR_CLASSES: not known. */
struct ashlar_unmapped {
  uint8_t *classes; /* the caller's to free() */
  uint64_t count;
};

/* Finds the classes by the requests that the memory served. Where it was mapped before the recording began nothing may tell.
   False: memory is short. */
bool ashlar_unmapped_find(const struct ashlar_device_part *part, const struct ashlar_config *config,
                          struct ashlar_unmapped *unmapped);

/* Behind the first event: the ranges from before the recording are among the segments. Where parts were found to overlap,
   ranges overlap something else, or the settings do not go with the picture of history_ranges.h, nothing is followed. False:
   memory is short. */
bool ashlar_history_settle_ranges(const struct ashlar_device_part *part,
                                  struct ashlar_history *history);

#endif
