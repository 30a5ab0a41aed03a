/* machine.h - several pretend devices, their streams, and what a runtime would say to each call.
 *
 * A machine is what an allocator runs on where there is no GPU, and the judge of it: it answers
 * calls, fails those that the test wants to fail, and writes down as a *violation* whatever an
 * allocator must never cause. A violation of kind RACE or FAULT does not stop the call.
 *
 *   RACE     memory changes hands out of order: race.h
 *   FAULT    work runs that touches memory which its device may not touch, or which is gone
 *   CAPTURE  a call that a capture forbids, below
 *   DEVICE   a call made while another device is current than the one it is about
 *
 * Calls have a kind each (failure.h). Every call first counts and, if planned so, fails: FAILED. A
 * call that does not answer OK has changed nothing but counts and violations, unless it says so, and
 * but for captures that it made invalid.
 *
 * These calls answer WRONG_DEVICE while another device is current: allocate, free, create, release,
 * map, unmap, stream create, event create, submit, event record and device synchronize.
 *
 * While a capture is in progress these calls answer CAPTURE_FORBIDS:
 *   - any call about memory but memory info, any query and any synchronize, unless `relaxed_capture`
 *     is set; all captures are invalid then;
 *   - even so: a query, synchronize or destroy of a stream that captures, a query or synchronize of
 *     an event recorded in a capture (that has perhaps ended), and synchronize of a device with a
 *     stream that captures, and free, which waits for the device; the captures concerned are invalid
 *     then.
 *
 * Nothing is global: a test may have as many machines as it likes.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_MACHINE_H
#define ASHLAR_CUDA_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/capture.h"
#include "cuda/sim/device.h"
#include "cuda/sim/event.h"
#include "cuda/sim/failure.h"
#include "cuda/sim/race.h"
#include "cuda/sim/status.h"
#include "cuda/sim/stream.h"
#include "cuda/sim/virtual_memory.h"

#define ASHLAR_SIM_DEVICE_SPACE (UINT64_C(1) << 45) /* of addresses, from one device to the next */
#define ASHLAR_SIM_VIRTUAL_BASE (UINT64_C(1) << 61) /* reservations begin here */

enum ashlar_sim_violation {
  ASHLAR_SIM_VIOLATION_RACE = 0,
  ASHLAR_SIM_VIOLATION_FAULT,
  ASHLAR_SIM_VIOLATION_CAPTURE,
  ASHLAR_SIM_VIOLATION_DEVICE,
  ASHLAR_SIM_VIOLATIONS /* number of kinds */
};

enum { ASHLAR_SIM_MESSAGE = 192 };

struct ashlar_sim_violation_record {
  uint64_t count;
  char last[ASHLAR_SIM_MESSAGE]; /* what happened last; empty if nothing did */
};

/* How the runtime behaves. The test may change the fields at any time. */
struct ashlar_sim_behaviour {
  bool reuse_stream_handles; /* a new stream gets the handle of the one destroyed last */
  bool reuse_event_handles;
  bool free_returns_at_once; /* free does not wait for the device, as the runtime's does */
  bool relaxed_capture;      /* see above */
};

struct ashlar_sim_machine_config {
  /* A device each: copied. A base of 0 becomes (number + 1) * ASHLAR_SIM_DEVICE_SPACE; other bases
     must keep the devices' addresses apart. */
  const struct ashlar_sim_config *devices;
  int32_t device_count;    /* 1 .. ASHLAR_SIM_MOST_DEVICES */
  uint64_t address_budget; /* bytes of addresses that may be reserved; ASHLAR_SIM_UNLIMITED */
  struct ashlar_sim_behaviour behaviour;
};

/* Read the fields; but for `behaviour` and `failures`, change them by functions only. A machine must
   not be moved. */
struct ashlar_sim_machine {
  struct ashlar_sim_device *device; /* by number */
  int32_t device_count;
  int32_t current; /* device; 0 at first */
  struct ashlar_sim_behaviour behaviour;
  struct ashlar_sim_failures failures;
  struct ashlar_sim_virtual_memory memory;
  struct ashlar_sim_streams streams;
  struct ashlar_sim_events events;
  struct ashlar_sim_captures captures;
  struct ashlar_sim_race_log races;
  struct ashlar_sim_violation_record violation[ASHLAR_SIM_VIOLATIONS];
};

/* What is not taken back yet. */
struct ashlar_sim_left {
  size_t segments;
  size_t reservations;
  size_t mappings;
  size_t pieces;
  size_t streams; /* open */
  size_t events;
  size_t captures; /* in progress */
  size_t graphs;
  uint64_t items; /* queued */
};

/* OK; RANGE for a number of devices that cannot be; HOST_MEMORY. The machine is valid only if OK. */
enum ashlar_sim_status ashlar_sim_machine_init(struct ashlar_sim_machine *machine,
                                               const struct ashlar_sim_machine_config *config);

/* Releases what the machine owns and zeroes it. */
void ashlar_sim_machine_destroy(struct ashlar_sim_machine *machine);

/* What the test should find to be nothing when it ends. */
struct ashlar_sim_left ashlar_sim_machine_left(const struct ashlar_sim_machine *machine);

/* Violations of all kinds. */
uint64_t ashlar_sim_machine_violations(const struct ashlar_sim_machine *machine);

/* --- devices and their memory --- */

/* OK; NO_DEVICE, FAILED. */
enum ashlar_sim_status ashlar_sim_machine_set_device(struct ashlar_sim_machine *machine,
                                                     int32_t device);

/* A segment of a device. OK; NO_DEVICE, WRONG_DEVICE, CAPTURE_FORBIDS, FAILED; as
   ashlar_sim_allocate. Placement: the device's, and ashlar_sim_place_next. */
enum ashlar_sim_status ashlar_sim_machine_allocate(struct ashlar_sim_machine *machine,
                                                   int32_t device, uint64_t bytes,
                                                   uint64_t *address);

/* Frees a segment of a device. Before that the host waits for all streams of this device, and of no
   other, unless `free_returns_at_once`. OK; as allocate, but UNKNOWN; DEADLOCK, and some work may
   have run; HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_free(struct ashlar_sim_machine *machine, int32_t device,
                                               uint64_t address);

/* Bytes of a device: free, and in all (its capacity). OK; NO_DEVICE, FAILED. */
enum ashlar_sim_status ashlar_sim_machine_memory_info(struct ashlar_sim_machine *machine,
                                                      int32_t device, uint64_t *free_bytes,
                                                      uint64_t *total_bytes);

/* Virtual memory: as in virtual_memory.h, and FAILED, CAPTURE_FORBIDS; WRONG_DEVICE where another
   device than the piece's is current; NO_DEVICE. Memory that is unmapped must be done with: the host
   does not wait. */
enum ashlar_sim_status ashlar_sim_machine_reserve(struct ashlar_sim_machine *machine,
                                                  uint64_t bytes, uint64_t *address);
enum ashlar_sim_status ashlar_sim_machine_unreserve(struct ashlar_sim_machine *machine,
                                                    uint64_t address, uint64_t bytes);
enum ashlar_sim_status ashlar_sim_machine_create(struct ashlar_sim_machine *machine, int32_t device,
                                                 uint64_t bytes, uint64_t *piece);
enum ashlar_sim_status ashlar_sim_machine_release(struct ashlar_sim_machine *machine,
                                                  uint64_t piece);
enum ashlar_sim_status ashlar_sim_machine_map(struct ashlar_sim_machine *machine, uint64_t address,
                                              uint64_t piece);
enum ashlar_sim_status ashlar_sim_machine_set_access(struct ashlar_sim_machine *machine,
                                                     uint64_t address, uint64_t bytes,
                                                     int32_t device, bool access);
enum ashlar_sim_status ashlar_sim_machine_unmap(struct ashlar_sim_machine *machine,
                                                uint64_t address, uint64_t bytes);

/* --- streams; all answer NO_STREAM for a handle that no open stream has, and FAILED --- */

/* OK; NO_DEVICE, WRONG_DEVICE; LIMIT, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_stream_create(struct ashlar_sim_machine *machine,
                                                        int32_t device, uint64_t *stream);

/* Work that is queued goes on. OK; CAPTURE_FORBIDS. */
enum ashlar_sim_status ashlar_sim_machine_stream_destroy(struct ashlar_sim_machine *machine,
                                                         uint64_t stream);

/* Queues work, or captures it. OK; WRONG_DEVICE, CAPTURE_INVALID, RANGE, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_submit(struct ashlar_sim_machine *machine,
                                                 uint64_t stream,
                                                 const struct ashlar_sim_work *work);

/* What is queued in the stream later comes after the event. A stream that does not capture joins the
   capture that the event was recorded in. OK; NO_EVENT; CAPTURE_INVALID; CAPTURE_ISOLATION where the
   wait would lead into a capture, out of one, or from one to another, and a violation; LIMIT,
   HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_stream_wait(struct ashlar_sim_machine *machine,
                                                      uint64_t stream, uint64_t event);

/* Whether all work of the stream has run, which the host then knows. OK; NOT_READY;
   CAPTURE_FORBIDS, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_stream_query(struct ashlar_sim_machine *machine,
                                                       uint64_t stream);

/* The host waits for all work of the stream, or of all streams of the device; what that needs runs,
   and no more. OK; DEADLOCK, and some work may have run; CAPTURE_FORBIDS, HOST_MEMORY; NO_DEVICE,
   WRONG_DEVICE. */
enum ashlar_sim_status ashlar_sim_machine_stream_synchronize(struct ashlar_sim_machine *machine,
                                                             uint64_t stream);
enum ashlar_sim_status ashlar_sim_machine_device_synchronize(struct ashlar_sim_machine *machine,
                                                             int32_t device);

/* --- events; all answer NO_EVENT for a handle that no open event has, and FAILED --- */

/* OK; NO_DEVICE, WRONG_DEVICE; HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_event_create(struct ashlar_sim_machine *machine,
                                                       int32_t device, uint64_t *event);

enum ashlar_sim_status ashlar_sim_machine_event_destroy(struct ashlar_sim_machine *machine,
                                                        uint64_t event);

/* OK; NO_STREAM; WRONG_DEVICE, also where event and stream are of two devices; CAPTURE_INVALID,
   HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_event_record(struct ashlar_sim_machine *machine,
                                                       uint64_t event, uint64_t stream);

/* OK; NOT_READY; CAPTURE_FORBIDS, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_event_query(struct ashlar_sim_machine *machine,
                                                      uint64_t event);

/* The host waits. OK; DEADLOCK, and some work may have run; CAPTURE_FORBIDS, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_event_synchronize(struct ashlar_sim_machine *machine,
                                                            uint64_t event);

/* --- captures; as in capture.h, and NO_STREAM, FAILED --- */

enum ashlar_sim_status ashlar_sim_machine_capture_begin(struct ashlar_sim_machine *machine,
                                                        uint64_t stream, uint64_t after,
                                                        uint64_t *capture);
/* The graph has the number of the capture. */
enum ashlar_sim_status ashlar_sim_machine_capture_end(struct ashlar_sim_machine *machine,
                                                      uint64_t stream);

/* --- what the test does; no calls --- */

/* The capture that a stream takes part in is invalid from now on. OK; NO_STREAM, NOT_CAPTURING. */
enum ashlar_sim_status ashlar_sim_machine_capture_spoil(struct ashlar_sim_machine *machine,
                                                        uint64_t stream);

/* OK; UNKNOWN if there is no such graph. */
enum ashlar_sim_status ashlar_sim_machine_graph_destroy(struct ashlar_sim_machine *machine,
                                                        uint64_t graph);

/* A range, within memory that the allocator holds, is handed to a request on the stream: P4 is judged
   here. OK, also where that is a race; NO_STREAM; RANGE for a range that is empty or wraps;
   HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_machine_hand_over(struct ashlar_sim_machine *machine,
                                                    uint64_t stream, uint64_t address,
                                                    uint64_t bytes);

/* As in stream.h, by handle; and NO_STREAM. A gate in a stream that captures: CAPTURING. */
enum ashlar_sim_status ashlar_sim_machine_hold(struct ashlar_sim_machine *machine, uint64_t stream);
enum ashlar_sim_status ashlar_sim_machine_let_go(struct ashlar_sim_machine *machine,
                                                 uint64_t stream);
enum ashlar_sim_status ashlar_sim_machine_drain_one(struct ashlar_sim_machine *machine,
                                                    uint64_t stream);
enum ashlar_sim_status ashlar_sim_machine_drain(struct ashlar_sim_machine *machine,
                                                uint64_t stream);
enum ashlar_sim_status ashlar_sim_machine_drain_all(struct ashlar_sim_machine *machine);
uint64_t ashlar_sim_machine_advance(struct ashlar_sim_machine *machine, uint64_t ticks);

#endif
