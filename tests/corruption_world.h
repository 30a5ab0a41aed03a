/* corruption_world.h - the blocks of one device at each moment of a good recording, kept as plain
 * lists.
 *
 * The faulty snapshots are made from this, so it shares nothing with the audit and the block
 * manager but the size rules: blocks are followed event by event where the recording says that
 * they are. It is for recordings without fault; one that cannot be followed is reported as broken.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORRUPTION_WORLD_H
#define ASHLAR_TESTS_CORRUPTION_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"
#include "tools/history_live.h"
#include "tools/snapshot.h"

struct ashlar_world_block {
  uint64_t address;
  uint64_t size;      /* bytes; of a vague block the least that it can have */
  uint64_t requested; /* bytes */
  uint64_t made_at;   /* index of its alloc, ASHLAR_NO_EVENT: before the recording */
  uint8_t state;      /* enum ashlar_block_state */
  bool is_vague; /* live, and its end is not known: nor is the start of the free block behind */
};

/* A segment, or a part of a growable one that is mapped without gap. */
struct ashlar_world_segment {
  struct ashlar_world_block *blocks; /* by address; they tile the segment */
  size_t count;
  size_t capacity;
  uint64_t address;
  uint64_t size;
  uint64_t
      made_at; /* index of its segment_alloc or segment_map, ASHLAR_NO_EVENT: before the recording */
  uint16_t stream; /* index into ashlar_snapshot.streams */
  uint16_t pool;   /* index into ashlar_snapshot.pools */
  int32_t class;   /* ASHLAR_CLASS_... */
  bool is_growable;
};

struct ashlar_world {
  const struct ashlar_snapshot *snapshot;
  const struct ashlar_event *events; /* of the device */
  uint64_t event_count;
  uint64_t next; /* the event that comes next: the state is that before it */
  struct ashlar_world_segment *segments; /* by address */
  size_t segment_count;
  size_t segment_capacity;
  struct ashlar_config config; /* of which the sizes and limits are used */
  bool *splits;                /* by pool: blocks of ordinary segments are split */
  int32_t device;
  bool is_broken; /* an event did not go with the state; the message is on standard error */
};

/* Where a block is. */
struct ashlar_world_place {
  struct ashlar_world_segment *segment; /* NULL: nowhere */
  size_t index;                         /* of the block that contains the address */
};

/* The state before the first event, found from the listed one by undoing the events. The snapshot
   must outlive it. Free with ashlar_world_free. */
void ashlar_world_start(struct ashlar_world *world, const struct ashlar_snapshot *snapshot,
                        int32_t device);
void ashlar_world_free(struct ashlar_world *world);

/* Makes *copy, an empty or zeroed world, an independent copy. */
void ashlar_world_copy(struct ashlar_world *copy, const struct ashlar_world *world);

/* Carries out one event, which need not be the next one of the recording; `index` is what made_at
   becomes. */
void ashlar_world_apply(struct ashlar_world *world, const struct ashlar_event *event,
                        uint64_t index);

/* Carries out the next event. */
void ashlar_world_step(struct ashlar_world *world);

struct ashlar_world_place ashlar_world_at(const struct ashlar_world *world, uint64_t address);

/* Whether the extent of the block is known for certain. */
bool ashlar_world_is_certain(const struct ashlar_world_segment *segment, size_t index);

/* Class of an ordinary segment, by its size. */
int32_t ashlar_world_class(uint64_t size);

/* Whether what a request leaves of so many bytes becomes a free block. */
bool ashlar_world_splits(const struct ashlar_world *world,
                         const struct ashlar_world_segment *segment, uint64_t room,
                         uint64_t rounded);

/* Rounded size of a request. */
uint64_t ashlar_world_rounded(const struct ashlar_world *world, uint64_t bytes);

/* Whether a free block of `size` bytes may serve a request of `rounded` bytes. */
bool ashlar_world_may_serve(const struct ashlar_world *world, uint64_t size, uint64_t rounded);

enum ashlar_world_choice { ASHLAR_WORLD_NONE, ASHLAR_WORLD_FOUND, ASHLAR_WORLD_UNSURE };

/* The best free block of ordinary segments for a request, an event, by looking at all. UNSURE: two have the same size, one
   of a size that is not known might be the best, or segments grow. */
enum ashlar_world_choice ashlar_world_choose(const struct ashlar_world *world,
                                             const struct ashlar_event *request, uint64_t *address);

/* Memory for the tests: never NULL, the process ends instead. */
void *ashlar_world_grown(void *array, size_t count, size_t size);

#endif
