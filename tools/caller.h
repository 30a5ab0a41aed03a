/* caller.h - who makes a request that was recorded.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_CALLER_H
#define ASHLAR_TOOLS_CALLER_H

#include "core/block_manager.h"

/* Nobody in a capture: recordings and traces tell neither threads nor captures. */
static inline struct ashlar_caller ashlar_recorded_caller(void)
{
  return (struct ashlar_caller){.stream = -1, .thread = 0};
}

#endif
