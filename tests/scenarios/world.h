/* world.h - the layer between a subject and a pretend machine: it performs the subject's steps, records an event for each
 * use that was submitted, and polls them. What the front of the product does, with nothing left to chance.
 *
 * The manager is that of device 0; streams may be of other devices.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_WORLD_H
#define ASHLAR_TESTS_SCENARIOS_WORLD_H

#include "cuda/sim/machine.h"
#include "tests/scenarios/subject.h"

enum {
  WORLD_NAME = 12,
  WORLD_STREAMS = 24,
  WORLD_EVENTS = 512,
  WORLD_STEPS = 512, /* letters kept of one operation */
  WORLD_ALLOCATORS = 8,
  WORLD_WHY = 256
};

struct world_stream {
  char name[WORLD_NAME];
  uint64_t handle; /* at the machine, and the key at the subject */
  int32_t device;
  int32_t number; /* at the subject */
  bool gone;
  bool capturing;
};

/* For use `number` of a stream; handle 0: it could not be recorded, and the stream is waited for instead. */
struct world_event {
  int32_t stream;
  uint64_t number;
  uint64_t handle;
};

struct world {
  const struct subject *subject;
  void *self;
  struct ashlar_sim_machine machine;
  struct world_stream stream[WORLD_STREAMS];
  size_t stream_count;
  struct world_event event[WORLD_EVENTS];
  size_t event_count;
  char steps[WORLD_STEPS + 1]; /* of the last operation, a letter each; see below */
  size_t step_count;
  uint64_t gives[WORLD_ALLOCATORS]; /* segments that each allocator gave, and took back */
  uint64_t takes[WORLD_ALLOCATORS];
  uint64_t raw;        /* bytes of device 0 that are nobody's but the script's */
  char why[WORLD_WHY]; /* what the subject asked for that cannot be; empty: nothing */
};

/* Letters of steps: `A` allocated, `x` refused, `r` released, `v` reserved, `n` range given back, `m` mapped, `u` unmapped,
   `w` waited, `c` callbacks, `!` failed. */

/* Whether the subject started; world_stop is due either way. */
enum subject_status world_start(struct world *w, const struct subject *subject,
                                const struct ashlar_sim_machine_config *machine,
                                const struct subject_config *config);
void world_stop(struct world *w);

/* The stream of this name, made where it is new; its device follows `@`, 0 where there is none. NULL: it cannot be. */
struct world_stream *world_stream(struct world *w, const char *name);

/* The stream of this number; NULL: none. */
struct world_stream *world_stream_numbered(struct world *w, int32_t number);

bool world_in_capture(struct world *w, struct subject_caller caller);

/* Performs steps until nothing more is asked. */
struct subject_step world_finish(struct world *w, struct subject_step step);

/* Records an event for every use that was submitted since. After every call of the subject. */
void world_note_events(struct world *w);

/* Tells the subject which uses are finished; not in a capture. */
void world_poll(struct world *w, struct subject_caller caller);

/* Destroys the stream: uses that were submitted to it are waited for, other work goes on. */
enum subject_status world_gone(struct world *w, struct world_stream *stream,
                               struct subject_caller caller);

/* Forgets the steps of the last operation. One of a caller in a capture is made as such: nothing but memory may be asked
   of the machine then. */
void world_new_operation(struct world *w, struct subject_caller caller);

/* Makes a device current; gives the one that was. */
int32_t world_enter(struct world *w, int32_t device);

#endif
