/* replay.h - runs a request sequence on the verified core over the pretend device.
 *
 * A block that was used on another stream returns to its pool some time after its owner lets go.
 * The pretend device has no clock, so the replay decides when, and tells the core of no use: one
 * counts as finished after ASHLAR_REPLAY_USE_LAG further allocations on the device, at a cache
 * release, and when the device refuses a request, before anything is released for it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAY_H
#define ASHLAR_TOOLS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"
#include "cuda/sim/device.h"
#include "tools/error.h"
#include "tools/requests.h"
#include "tools/snapshot.h"

enum { ASHLAR_REPLAY_USE_LAG = 16 };

/* What one device call costs where the user states nothing else: an order of magnitude, and
   meant so. */
#define ASHLAR_REPLAY_CALL_COST UINT64_C(100000) /* nanoseconds */

#define ASHLAR_REPLAY_BEFORE UINT64_MAX /* event of what happened before the first request */

struct ashlar_replay_options {
  enum ashlar_policy policy;
  enum ashlar_order order;
  enum ashlar_sim_placement placement;
  uint64_t capacity;       /* of each device, bytes; ASHLAR_SIM_UNLIMITED */
  uint64_t max_split_size; /* bytes; 0: as recorded */
  uint64_t call_cost;      /* nanoseconds a device call */
  uint64_t max_entries;    /* of the recording made, events a device */
};

/* Why a request failed. */
enum ashlar_replay_reason {
  ASHLAR_REPLAY_OUT_OF_MEMORY = 0,
  ASHLAR_REPLAY_TOO_LARGE,   /* above the greatest request */
  ASHLAR_REPLAY_NO_SLOT,     /* the manager holds no more blocks */
  ASHLAR_REPLAY_NO_STREAM,   /* the manager knows no more streams */
  ASHLAR_REPLAY_BAD_SEGMENT, /* the device gave a segment that cannot be used */
  ASHLAR_REPLAY_NOT_LIVE,    /* frees what is not live */
  ASHLAR_REPLAY_LIVE,        /* allocates where a block is live */
  ASHLAR_REPLAY_NO_POOL,     /* the manager knows no more private pools */
  ASHLAR_REPLAY_NO_PLACE,    /* a block from before the recording has no place there */
  ASHLAR_REPLAY_REASONS
};

struct ashlar_replay_failure {
  uint64_t event;   /* as in struct ashlar_request_item, or ASHLAR_REPLAY_BEFORE */
  uint64_t bytes;   /* requested */
  uint64_t address; /* recorded, or ASHLAR_NO_ADDRESS */
  uint64_t free;    /* OUT_OF_MEMORY: bytes that the device had left */
  uint64_t cached;  /* OUT_OF_MEMORY: bytes in free blocks */
  uint16_t stream;  /* index into the request streams */
  uint8_t device;
  uint8_t reason; /* enum ashlar_replay_reason */
};

/* The memory of one device at one moment. */
struct ashlar_replay_moment {
  uint64_t event;        /* the request after which it was so, or ASHLAR_REPLAY_BEFORE */
  uint64_t reserved;     /* bytes in segments */
  uint64_t allocated;    /* bytes in blocks that have an owner */
  uint64_t pending;      /* bytes in blocks whose owner has let go and that are still in use */
  uint64_t free;         /* bytes in free blocks: reserved - allocated - pending */
  uint64_t largest_free; /* bytes of the largest free block */
};

struct ashlar_replay_device {
  bool is_used;             /* the sequence names this device */
  uint64_t seeded_segments; /* RECORDED: placed as they were */
  uint64_t seeded_blocks;
  uint64_t seeded_bytes;
  uint64_t seed_calls;  /* device calls made for the seeds; not in the counts below */
  uint64_t allocations; /* requests for memory */
  uint64_t served;      /* of these; a request of 0 bytes counts and needs no block */
  uint64_t failed;      /* requests of any kind */
  uint64_t frees;       /* blocks returned */
  uint64_t skipped;     /* requests about blocks that failed, or were never needed */
  uint64_t uses;
  uint64_t cache_releases;
  uint64_t refused_before; /* requests that ran out of memory when they were recorded */
  uint64_t refused_again;  /* of these: asked again (RECORDED only), and refused again */
  uint64_t elsewhere;      /* RECORDED: blocks that are not at the recorded address */
  struct ashlar_sim_counts calls;
  uint64_t calls_uncached; /* that no cache would have made */
  uint64_t live_blocks;    /* at the end, pending ones included */
  uint64_t live_bytes;
  uint64_t pending_blocks;
  struct ashlar_replay_moment at_peak_reserved; /* the first time that it was reached */
  struct ashlar_replay_moment at_peak_allocated;
  struct ashlar_replay_moment at_end;
};

/* Owns what it points to; a zeroed struct is a valid empty result. */
struct ashlar_replay {
  struct ashlar_replay_device *devices; /* by number */
  uint32_t device_count;
  struct ashlar_replay_failure *failures;
  size_t failure_count;
  size_t failure_capacity;
  struct ashlar_config config; /* in force */
  struct ashlar_replay_options options;
  uint64_t operations; /* requests carried out, of every kind */
  uint64_t wall_ns;    /* for them, with the pretend device and the recording */
  uint64_t adopted;    /* stale sizes taken over from the recording */
};

/* Runs the sequence. *replay is overwritten and is the caller's to free. recording, where not
   NULL, is overwritten with a snapshot of the replay, the caller's to free. False: the replay
   could not be done (memory is short, the settings are refused, RECORDED without a recording);
   *error says why, and both are empty. Requests that fail do not make it false. Time: that of
   the core's operations; for each request also O(streams). Memory: 16 bytes an allocation, the
   managers, 32 bytes an event recorded. */
bool ashlar_replay_run(const struct ashlar_requests *requests,
                       const struct ashlar_replay_options *options, struct ashlar_replay *replay,
                       struct ashlar_snapshot *recording, struct ashlar_error *error);

void ashlar_replay_free(struct ashlar_replay *replay);

/* 0: every request was served, on a recorded device as recorded. 1: not so. */
int ashlar_replay_exit_status(const struct ashlar_replay *replay);

/* 1 - largest free block / free bytes; 0 where nothing is free. */
double ashlar_replay_fragmentation(const struct ashlar_replay_moment *moment);

/* Time that the cache saved, by the stated cost of a call; negative where it cost calls. */
double ashlar_replay_saved_seconds(const struct ashlar_replay *replay,
                                   const struct ashlar_replay_device *device);

#endif
