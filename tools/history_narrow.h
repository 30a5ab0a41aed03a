/* history_narrow.h - what later events tell of the sizes of blocks from before the recording. Private to history*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_NARROW_H
#define ASHLAR_TOOLS_HISTORY_NARROW_H

#include "tools/history.h"

/* Narrows the intervals of history->blocks by the events, and counts those that stay open. False: memory is short. */
bool ashlar_history_narrow(const struct ashlar_device_part *part, struct ashlar_history *history);

#endif
