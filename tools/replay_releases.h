/* replay_releases.h - segments that a recording gives back: by a call that empties the cache, or for a request.
 *
 * Private to replay*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAY_RELEASES_H
#define ASHLAR_TOOLS_REPLAY_RELEASES_H

#include <stdbool.h>

#include "tools/replay_device.h"

/* Whether the releases of a RELEASE request were made by a call, not for the request behind them. */
bool ashlar_releases_were_a_call(struct ashlar_play *play, const struct ashlar_request_item *item);

/* Empties the cache; of a recorded device as its releases show: all of it, or that of single pools. */
void ashlar_releases_by_call(struct ashlar_play *play, const struct ashlar_request_item *item);

/* A pool that something is released of has no user any more. Nothing is allocated in it again. */
void ashlar_releases_give_up(struct ashlar_play *play, const struct ashlar_request_item *item);

#endif
