/* event.h - events: a place in a stream that the host and other streams can wait for.
 *
 * Recording an event takes down how far the stream has been filled, and the stream's clock; what is
 * queued later does not count. An event is ready when all work up to that place has run. An event
 * that was never recorded is ready, and waiting for it orders nothing. An event destroyed is gone
 * for the caller; waits for it that are queued stay.
 *
 * Whether a capture allows a call is not judged here (machine.h).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_EVENT_H
#define ASHLAR_CUDA_SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/handle.h"
#include "cuda/sim/status.h"
#include "cuda/sim/stream.h"

struct ashlar_sim_event {
  int32_t device;
  bool recorded;
  struct ashlar_sim_position position; /* recorded: what it waits for */
  uint64_t capture;                    /* recorded: in which capture; 0 outside */
  struct ashlar_sim_clock clock;       /* recorded: what comes before it */
};

/* Zeroed: none. Read the fields; change them by functions only. */
struct ashlar_sim_events {
  struct ashlar_sim_event *event; /* by entry of `handles`; closed ones keep their room */
  size_t capacity;
  struct ashlar_sim_handles handles;
  size_t open; /* how many there are */
};

void ashlar_sim_events_destroy(struct ashlar_sim_events *events);

/* OK, HOST_MEMORY. With `reuse` the handle is that of the event destroyed last. */
enum ashlar_sim_status ashlar_sim_event_create(struct ashlar_sim_events *events, int32_t device,
                                               bool reuse, uint64_t *handle);

/* OK, NO_EVENT. */
enum ashlar_sim_status ashlar_sim_event_destroy(struct ashlar_sim_events *events, uint64_t handle);

/* NULL: no open event has the handle. Valid until an event is created. */
struct ashlar_sim_event *ashlar_sim_event_find(const struct ashlar_sim_events *events,
                                               uint64_t handle);

/* Records what a stream has been filled with so far. OK; WRONG_DEVICE where the event is another
   device's; HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_event_record(struct ashlar_sim_event *event,
                                               struct ashlar_sim_streams *streams, uint32_t slot);

/* Whether the event is ready, which the host then knows. OK, NOT_READY, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_event_query(const struct ashlar_sim_event *event,
                                              struct ashlar_sim_streams *streams);

/* The host waits: what the event needs runs, and no more. OK, DEADLOCK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_event_wait(const struct ashlar_sim_event *event,
                                             struct ashlar_sim_streams *streams);

/* A stream waits: what is queued in it later comes after the event. OK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_event_block(const struct ashlar_sim_event *event,
                                              struct ashlar_sim_streams *streams, uint32_t slot);

#endif
