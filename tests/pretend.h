/* pretend.h - a device that gives addresses and has no memory behind them, and the loop that performs a manager's
 * steps on it.
 *
 * Addresses are never given twice. Every call is written down, so that a test can say which steps were taken.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_PRETEND_H
#define ASHLAR_TESTS_PRETEND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block_manager.h"

enum {
  ASHLAR_PRETEND_LOG = 64 /* steps kept of one request; more are only counted */
};

/* What happened in one step. */
struct ashlar_pretend_step {
  enum ashlar_step_kind kind;
  bool refused;
  uint64_t address; /* of the segment */
  uint64_t bytes;
};

struct ashlar_pretend {
  uint64_t capacity;    /* bytes that may be out at a time */
  uint64_t used;        /* bytes that are out */
  uint64_t next;        /* where the next segment begins; descending: where it ends */
  uint64_t gap;         /* bytes between segments; 0: they touch */
  bool descending;      /* each segment below those before */
  bool refuses;         /* everything, whatever its capacity */
  uint32_t allocations; /* segments given */
  uint32_t releases;    /* segments taken back */
  uint32_t refusals;
  uint32_t step_count; /* steps of the last request */
  struct ashlar_pretend_step step[ASHLAR_PRETEND_LOG];
};

/* A caller that is in no capture. */
static inline struct ashlar_caller ashlar_nobody(void)
{
  return (struct ashlar_caller){.stream = -1};
}

/* A device from 1 TiB on, segments touching, ascending. */
static inline struct ashlar_pretend ashlar_pretend_new(uint64_t capacity)
{
  return (struct ashlar_pretend){.capacity = capacity, .next = UINT64_C(1) << 40};
}

/* Performs one step; the address of a new segment comes back in *address. */
static inline enum ashlar_outcome ashlar_pretend_perform(struct ashlar_pretend *device,
                                                         struct ashlar_step step, uint64_t *address)
{
  bool refused = false;
  *address = step.address;
  if (step.kind == ASHLAR_STEP_RELEASE) {
    device->used -= step.bytes;
    device->releases++;
  } else if (device->refuses || step.bytes > device->capacity - device->used) {
    refused = true;
    device->refusals++;
  } else {
    const uint64_t room = step.bytes + device->gap;
    *address = device->descending ? device->next - step.bytes : device->next;
    device->next = device->descending ? device->next - room : device->next + room;
    device->used += step.bytes;
    device->allocations++;
  }
  if (device->step_count < ASHLAR_PRETEND_LOG) {
    device->step[device->step_count] =
        (struct ashlar_pretend_step){step.kind, refused, *address, step.bytes};
  }
  device->step_count++;
  return refused ? ASHLAR_OUTCOME_REFUSED : ASHLAR_OUTCOME_DONE;
}

/* Performs steps until the manager wants no more. */
static inline struct ashlar_step ashlar_pretend_finish(struct ashlar_manager *m,
                                                       struct ashlar_pretend *device,
                                                       struct ashlar_step step)
{
  device->step_count = 0;
  while (step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RELEASE) {
    uint64_t address = 0;
    const enum ashlar_outcome outcome = ashlar_pretend_perform(device, step, &address);
    step = ashlar_resume(m, step.request, outcome, address);
  }
  return step;
}

static inline struct ashlar_step ashlar_pretend_allocate(struct ashlar_manager *m,
                                                         struct ashlar_pretend *device,
                                                         uint64_t bytes, int32_t stream)
{
  return ashlar_pretend_finish(m, device, ashlar_allocate_begin(m, bytes, stream, ashlar_nobody()));
}

/* Empties the cache; the number of segments that went back. */
static inline uint32_t ashlar_pretend_empty(struct ashlar_manager *m, struct ashlar_pretend *device)
{
  const uint32_t before = device->releases;
  (void)ashlar_pretend_finish(m, device, ashlar_empty_cache_begin(m, -1, ashlar_nobody()));
  return device->releases - before;
}

#endif
