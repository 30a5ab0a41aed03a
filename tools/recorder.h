/* recorder.h - makes a memory snapshot of a replay: events as they happen, then the final state.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_RECORDER_H
#define ASHLAR_TOOLS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/manager.h"
#include "tools/requests.h"
#include "tools/snapshot.h"

/* The last events of one device. */
struct ashlar_recorder_ring {
  struct ashlar_event *events;
  uint64_t count;    /* kept */
  uint64_t next;     /* where the next one goes once the ring is full: the oldest is there */
  uint64_t capacity; /* allocated */
};

/* All zero records nothing; see ashlar_recorder_start. */
struct ashlar_recorder {
  struct ashlar_recorder_ring rings[ASHLAR_REQUESTS_DEVICES];
  uint64_t max_entries; /* kept for each device; 0: not recording */
  bool is_out_of_memory;
};

/* What the final state of one device is made from. */
struct ashlar_recorder_state {
  const struct ashlar_manager *manager;
  const uint16_t *streams; /* index into the request streams, by number in the manager */
  const uint16_t *pools;   /* index into the pools of the recording, by number in the manager */
  const uint8_t *pending;  /* by slot: 1 where the owner has let go; NULL: nowhere */
  int32_t device;
};

/* Starts recording; at most max_entries events a device are kept, the oldest are overwritten. 0
   counts as 1, as PyTorch has it. */
void ashlar_recorder_start(struct ashlar_recorder *recorder, uint64_t max_entries);

/* Stops recording and forgets the events. */
void ashlar_recorder_free(struct ashlar_recorder *recorder);

/* Records an event, unless *recorder does not record. `stream` of the event is an index into the
   request streams. Amortised O(1). Short memory is told by is_out_of_memory. */
void ashlar_recorder_note(struct ashlar_recorder *recorder, uint8_t device,
                          const struct ashlar_event *event);

/* Begins *snapshot, an uninitialised one: streams and settings. Device traces as far as
   requests->device_count, at least one. The caller frees it, on failure (memory is short) too. */
bool ashlar_recorder_finish(const struct ashlar_recorder *recorder,
                            const struct ashlar_requests *requests,
                            const struct ashlar_config *config, struct ashlar_snapshot *snapshot);

/* Appends the segments and blocks of one device, by address. Devices come in ascending order.
   O(n log n) for n segments, besides a walk over all slots. False: memory is short. */
bool ashlar_recorder_add_state(const struct ashlar_recorder_state *state,
                               struct ashlar_snapshot *snapshot);

/* The sizes last requested of free blocks from before the recording: a replay cannot know them.
   Takes them over from the recording, block by block where it lists the same free block;
   *adopted counts them. O(blocks). False: memory is short. */
bool ashlar_recorder_adopt_requested(const struct ashlar_requests *requests,
                                     struct ashlar_snapshot *snapshot, uint64_t *adopted);

#endif
