/* ladder.h - how a request is served: rung by rung, until the device is needed or the request is over (REQ-LADDER).
 *
 * A request is a number; where it stands is in the manager, so that other calls may come between its steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_LADDER_H
#define ASHLAR_CORE_LADDER_H

#include "core/growth.h"
#include "core/pending.h"
#include "core/reclaim.h"
#include "core/step.h"

/* Whether the caller of a stream is in a capture: the stream takes requests and is captured. O(1). */
int ashlar_ladder_in_capture(const struct ashlar_manager *m, int32_t caller_stream);

/* Goes on with a request, from its rung on, up to the next step. */
struct ashlar_step ashlar_ladder_go(struct ashlar_manager *m, int32_t request);

/* Goes on with the next rung. */
void ashlar_ladder_next_rung(struct ashlar_manager *m, int32_t request);

/* The request takes a free block and is over. */
struct ashlar_step ashlar_ladder_serve(struct ashlar_manager *m, int32_t request, int32_t slot);

/* The request is over with a step that ends it. */
struct ashlar_step ashlar_ladder_over(struct ashlar_manager *m, int32_t request,
                                      struct ashlar_step step);

/* Private pools that nothing leads to any more end: REQ-POOL-freeable. */
void ashlar_ladder_end_pools(struct ashlar_manager *m);

#endif
