/* capture.h - captures: work that streams take down instead of running it.
 *
 * A capture begins on one stream. Another stream joins it by waiting for an event that was recorded
 * in it, and must be waited for in turn before the first stream ends the capture. What has been
 * captured is then a graph, until that is destroyed. Graphs are not launched here: what counts for
 * an allocator is that a graph may run at any time, so that nothing outside is in order with it.
 * Memory that a graph uses must stay where it is; a hand-over of it is a race until the graph is
 * gone. A second graph may be captured *after* another, by a promise that they run in that order:
 * then it may use the same memory.
 *
 * An invalid capture takes in nothing more, and comes to nothing when it ends.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_CAPTURE_H
#define ASHLAR_CUDA_SIM_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/clock.h"
#include "cuda/sim/status.h"
#include "cuda/sim/stream.h"

/* A stream that takes part. */
struct ashlar_sim_member {
  uint32_t slot;   /* of the stream; of no meaning when the capture has ended */
  uint32_t shadow; /* the slot of its captured work */
  uint64_t from;   /* position of the shadow when the stream joined */
};

struct ashlar_sim_capture {
  uint64_t id; /* 1, 2, 3, …; never reused */
  bool invalid;
  bool ended;                       /* it is a graph now */
  struct ashlar_sim_member *member; /* the first one began the capture */
  size_t member_count;
  size_t member_capacity;
};

/* Zeroed: none. Read the fields; change them by functions only. */
struct ashlar_sim_captures {
  struct ashlar_sim_capture *capture; /* in progress, and graphs */
  size_t count;
  size_t capacity;
  size_t active; /* captures in progress */
  uint64_t last_id;
};

void ashlar_sim_captures_destroy(struct ashlar_sim_captures *captures);

/* A capture or graph; NULL if there is none. */
struct ashlar_sim_capture *ashlar_sim_capture_find(const struct ashlar_sim_captures *captures,
                                                   uint64_t id);

/* Begins a capture on a stream, after a graph if `after` is not 0. OK, CAPTURING; UNKNOWN if `after`
   is no graph; LIMIT, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_capture_begin(struct ashlar_sim_captures *captures,
                                                struct ashlar_sim_streams *streams, uint32_t slot,
                                                uint64_t after, uint64_t *id);

/* A stream joins a capture in progress, and begins there with the clock. OK; CAPTURING if it takes
   part in one; LIMIT, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_capture_join(struct ashlar_sim_captures *captures,
                                               struct ashlar_sim_streams *streams, uint64_t id,
                                               uint32_t slot, const struct ashlar_sim_clock *clock);

/* Makes one capture invalid, or all that are in progress. */
void ashlar_sim_capture_invalidate(struct ashlar_sim_captures *captures, uint64_t id);
void ashlar_sim_capture_invalidate_all(struct ashlar_sim_captures *captures);

/* Ends the capture that a stream began. OK, and the capture is a graph. NOT_CAPTURING: the stream
   did not begin one, and nothing has changed. CAPTURE_INVALID, CAPTURE_UNJOINED: the capture has
   ended, and there is no graph. */
enum ashlar_sim_status ashlar_sim_capture_end(struct ashlar_sim_captures *captures,
                                              struct ashlar_sim_streams *streams, uint32_t slot);

/* A graph will never run again, and is not running: its accesses are over. OK; UNKNOWN. */
enum ashlar_sim_status ashlar_sim_graph_destroy(struct ashlar_sim_captures *captures,
                                                struct ashlar_sim_streams *streams, uint64_t id);

#endif
