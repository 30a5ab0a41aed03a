/* step.c - see step.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/step.h"

#include "core/home.h"

struct ashlar_step ashlar_step_of(enum ashlar_step_kind kind)
{
  struct ashlar_step step;
  step.kind = kind;
  step.status = ASHLAR_OK;
  step.request = -1;
  step.slot = -1;
  step.generation = 0;
  step.stream = -1;
  step.pool = 0;
  step.allocator = 0;
  step.address = 0;
  step.bytes = 0;
  step.number = 0;
  return step;
}

struct ashlar_step ashlar_step_error(enum ashlar_status status)
{
  struct ashlar_step step = ashlar_step_of(ASHLAR_STEP_ERROR);
  step.status = status;
  return step;
}

struct ashlar_step ashlar_step_about(const struct ashlar_manager *m, enum ashlar_step_kind kind,
                                     int32_t slot)
{
  struct ashlar_step step = ashlar_step_of(kind);
  step.slot = slot;
  step.generation = m->generation[slot];
  step.stream = ashlar_home_stream(m->home[slot]);
  step.pool = ashlar_home_pool(m->home[slot]);
  step.allocator = m->pool_allocator[step.pool];
  step.address = m->addr[slot];
  step.bytes = m->size[slot];
  return step;
}
