/* stream.h - streams: queues of work that runs when the test lets it.
 *
 * Two orders are kept apart. What *has run* is the test's choice: nothing runs until the test drains
 * a stream, advances the virtual clock, or has the host wait. What *comes before what* does not
 * depend on that choice: it follows from the queues, the waits between them and what the host has
 * waited for, and is known when an item is queued. It is kept as a vector clock (clock.h) for each
 * stream and for the host: work queued later comes after all that the host knows to be done. That
 * work happened to have run is no order; that the host saw it is.
 *
 * A wait names an event that was recorded before, so that waits alone cannot form a circle. A
 * stream may stop at a gate, which stands for whatever the device waits for on the host's side:
 * waiting for what is behind a closed gate is a deadlock, and reported as one.
 *
 * A stream has a handle, which the caller sees, and a slot, which clocks count by. A slot of a
 * destroyed stream goes to a new one only when the host knows all its work to be done, so a handle
 * that is reused early is another slot, and its work is not in order with the old.
 *
 * While a stream captures (capture.h), its work is queued in a shadow: a slot of its own, whose items
 * have positions and a clock but never run. Captured work is thereby in order with itself, after
 * what came before in its stream, and before nothing outside.
 *
 * Virtual time is in ticks, of no particular length. Draining takes no time.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_STREAM_H
#define ASHLAR_CUDA_SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/clock.h"
#include "cuda/sim/handle.h"
#include "cuda/sim/status.h"

enum {
  ASHLAR_SIM_MOST_STREAMS = 4096 /* slots: open streams, and closed ones not known to be done */
};

/* A range of memory that an item reads or writes when it runs: address <= address + bytes - 1. */
struct ashlar_sim_touch {
  uint64_t address;
  uint64_t bytes; /* positive */
  bool writes;
};

/* What is to be queued. Copied; the touches too. */
struct ashlar_sim_work {
  const struct ashlar_sim_touch *touches; /* NULL if there is none */
  size_t touch_count;
  uint64_t ticks; /* how long it runs under ashlar_sim_streams_advance */
};

enum ashlar_sim_item_kind {
  ASHLAR_SIM_ITEM_WORK = 0,
  ASHLAR_SIM_ITEM_WAIT, /* passes when `wait` is done */
  ASHLAR_SIM_ITEM_GATE  /* passes when the test has opened it */
};

struct ashlar_sim_item {
  enum ashlar_sim_item_kind kind;
  struct ashlar_sim_position wait; /* WAIT only */
  size_t touch_count;              /* WORK only: of the stream's queue of touches */
  uint64_t ticks;
  uint64_t queued_at; /* virtual time */
};

/* Read the fields; change them by functions only. */
struct ashlar_sim_stream {
  uint64_t handle; /* of a closed stream: the one it had; of a shadow: the stream's */
  int32_t device;
  bool open;
  uint64_t submitted;   /* position of the item queued last */
  uint64_t completed;   /* position of the item that ran last */
  uint64_t free_at;     /* virtual time at which that ran */
  bool shadow;          /* holds the order of captured work, which does not run */
  uint64_t capture;     /* of a stream that captures, and of its shadow: which one; else 0 */
  uint32_t shadow_slot; /* a stream that captures: its shadow */
  struct ashlar_sim_clock clock; /* what comes before the item queued next */
  uint64_t host_known;           /* version of the host's clock that `clock` includes */
  size_t gates;                  /* gates in the queue, open or closed */
  size_t gates_open;             /* the first so many of them are open */

  struct ashlar_sim_item *items; /* items[head .. head + count) wait to run */
  size_t item_head;
  size_t item_count;
  size_t item_capacity;
  struct ashlar_sim_touch *touches; /* of those items, in their order */
  size_t touch_head;
  size_t touch_count;
  size_t touch_capacity;
};

/* Called for each item of WORK when it runs. It must not call back into the streams. */
struct ashlar_sim_hook {
  void (*ran)(void *context, struct ashlar_sim_position position,
              const struct ashlar_sim_touch *touches, size_t touch_count); /* or NULL */
  void *context;
};

/* Read the fields; change them by functions only. */
struct ashlar_sim_streams {
  struct ashlar_sim_stream *slot; /* open streams and closed ones */
  size_t count;
  size_t capacity;
  struct ashlar_sim_handles handles;
  uint32_t *slot_of; /* by entry of `handles` */
  size_t slot_of_capacity;
  struct ashlar_sim_clock host; /* what the host knows to be done */
  uint64_t host_version;        /* counts changes of `host` */
  uint64_t now;                 /* virtual time */
  uint64_t pending;             /* items in all queues */
  uint64_t ran;                 /* items that have left them */
  struct ashlar_sim_hook hook;
};

void ashlar_sim_streams_init(struct ashlar_sim_streams *streams, struct ashlar_sim_hook hook);

/* Releases what the streams own; what has not run never runs. */
void ashlar_sim_streams_destroy(struct ashlar_sim_streams *streams);

/* A new stream of a device, after all that the host knows. With `reuse` its handle is that of the
   stream destroyed last. OK, LIMIT, HOST_MEMORY. O(slots). */
enum ashlar_sim_status ashlar_sim_stream_create(struct ashlar_sim_streams *streams, int32_t device,
                                                bool reuse, uint64_t *handle);

/* Closes a stream. Its work goes on. OK, NO_STREAM. */
enum ashlar_sim_status ashlar_sim_stream_destroy(struct ashlar_sim_streams *streams,
                                                 uint64_t handle);

/* A shadow of a stream that begins with a clock. OK, LIMIT, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_stream_shadow(struct ashlar_sim_streams *streams, int32_t device,
                                                const struct ashlar_sim_clock *clock,
                                                uint32_t *slot);

/* The slot of an open stream; ASHLAR_SIM_NONE if there is no such stream. */
uint32_t ashlar_sim_stream_find(const struct ashlar_sim_streams *streams, uint64_t handle);

/* --- queueing; `slot` is that of an open stream or of a shadow --- */

/* Queues work. The stream's clock then includes the item. OK; RANGE for a touch that is empty or wraps; HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_stream_submit(struct ashlar_sim_streams *streams, uint32_t slot,
                                                const struct ashlar_sim_work *work,
                                                struct ashlar_sim_position *position);

/* What is queued next comes after all that a clock knows, and does not run before the position is
   done. OK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_stream_wait(struct ashlar_sim_streams *streams, uint32_t slot,
                                              struct ashlar_sim_position position,
                                              const struct ashlar_sim_clock *clock);

/* Queues a gate, which is closed; not in a shadow. OK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_stream_gate(struct ashlar_sim_streams *streams, uint32_t slot);

/* Opens the first closed gate. OK, NO_GATE. */
enum ashlar_sim_status ashlar_sim_stream_open(struct ashlar_sim_streams *streams, uint32_t slot);

/* Brings a stream's clock up to what the host knows. OK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_stream_refresh(struct ashlar_sim_streams *streams, uint32_t slot);

/* Whether everything up to the position has run. */
bool ashlar_sim_stream_reached(const struct ashlar_sim_streams *streams,
                               struct ashlar_sim_position position);

/* --- running --- */

/* Runs the next item of a stream. OK; IDLE, BLOCKED or HELD, and nothing has run. */
enum ashlar_sim_status ashlar_sim_stream_run_one(struct ashlar_sim_streams *streams, uint32_t slot);

/* Runs a stream as far as it can go while no other does. OK, and it is empty; BLOCKED or HELD. */
enum ashlar_sim_status ashlar_sim_stream_run(struct ashlar_sim_streams *streams, uint32_t slot);

/* Runs what a position needs, in any stream, and no more. OK; DEADLOCK, and what was possible has
   run. An item costs as many steps as streams wait for each other in a row. */
enum ashlar_sim_status ashlar_sim_streams_run_until(struct ashlar_sim_streams *streams,
                                                    struct ashlar_sim_position position);

/* Runs everything that no closed gate holds up. OK, and nothing is left; DEADLOCK. */
enum ashlar_sim_status ashlar_sim_streams_run_all(struct ashlar_sim_streams *streams);

/* Lets time pass: runs the items that end in it, in the order of their ends, equal ones in the order
   of slots. An item begins when the one before it in its stream has run and what it waits for is
   done. Returns how many items ran, waits and gates included. O(slots) an item. */
uint64_t ashlar_sim_streams_advance(struct ashlar_sim_streams *streams, uint64_t ticks);

/* --- the host --- */

/* The host has seen that everything that the clock knows is done. OK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_host_learns(struct ashlar_sim_streams *streams,
                                              const struct ashlar_sim_clock *clock);

#endif
