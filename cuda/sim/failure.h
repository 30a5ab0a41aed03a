/* failure.h - calls that fail because the test says so.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_FAILURE_H
#define ASHLAR_CUDA_SIM_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/status.h"

/* Kinds of calls to a machine (machine.h). What the test does itself is no call: draining, opening
   gates, advancing time, destroying graphs. */
enum ashlar_sim_call {
  ASHLAR_SIM_CALL_SET_DEVICE = 0,
  ASHLAR_SIM_CALL_ALLOCATE,
  ASHLAR_SIM_CALL_FREE,
  ASHLAR_SIM_CALL_MEMORY_INFO,
  ASHLAR_SIM_CALL_RESERVE,
  ASHLAR_SIM_CALL_UNRESERVE,
  ASHLAR_SIM_CALL_CREATE,
  ASHLAR_SIM_CALL_RELEASE,
  ASHLAR_SIM_CALL_MAP,
  ASHLAR_SIM_CALL_UNMAP,
  ASHLAR_SIM_CALL_SET_ACCESS,
  ASHLAR_SIM_CALL_STREAM_CREATE,
  ASHLAR_SIM_CALL_STREAM_DESTROY,
  ASHLAR_SIM_CALL_SUBMIT,
  ASHLAR_SIM_CALL_STREAM_WAIT,
  ASHLAR_SIM_CALL_STREAM_QUERY,
  ASHLAR_SIM_CALL_STREAM_SYNCHRONIZE,
  ASHLAR_SIM_CALL_DEVICE_SYNCHRONIZE,
  ASHLAR_SIM_CALL_EVENT_CREATE,
  ASHLAR_SIM_CALL_EVENT_DESTROY,
  ASHLAR_SIM_CALL_EVENT_RECORD,
  ASHLAR_SIM_CALL_EVENT_QUERY,
  ASHLAR_SIM_CALL_EVENT_SYNCHRONIZE,
  ASHLAR_SIM_CALL_CAPTURE_BEGIN,
  ASHLAR_SIM_CALL_CAPTURE_END,
  ASHLAR_SIM_CALLS /* number of kinds */
};

enum {
  ASHLAR_SIM_PLANNED = 8 /* failures of a kind that may be planned at a time */
};

struct ashlar_sim_call_record {
  uint64_t calls;  /* made, whatever came of them */
  uint64_t failed; /* of those, the ones that this file let fail */
  bool all;        /* every call fails */
  size_t planned_count;
  uint64_t planned[ASHLAR_SIM_PLANNED]; /* numbers of calls that will fail: the next is calls + 1 */
};

/* Zeroed: nothing fails. Read the fields; change them by functions only. */
struct ashlar_sim_failures {
  struct ashlar_sim_call_record kind[ASHLAR_SIM_CALLS];
};

/* The k-th call of the kind from now on fails; the next one is the first. Several may be planned.
   OK; RANGE if k is 0 or too large to be counted to; LIMIT if too many are planned. */
enum ashlar_sim_status ashlar_sim_fail_call(struct ashlar_sim_failures *failures,
                                            enum ashlar_sim_call kind, uint64_t k);

/* Every call of the kind fails from now on. */
void ashlar_sim_fail_all(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind);

/* Nothing that is planned for the kind happens. The counts stay. */
void ashlar_sim_fail_none(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind);

/* Counts a call; whether it is to fail. */
bool ashlar_sim_call_fails(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind);

/* What a kind of call is called: "set device", … */
const char *ashlar_sim_call_name(enum ashlar_sim_call kind);

#endif
