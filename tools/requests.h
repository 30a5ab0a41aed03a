/* requests.h - a sequence of requests to replay, whatever it was made from.
 *
 * From a text trace: its operations, as they are. From a snapshot with a history: one request
 * for each recorded allocation, free and cache release, with what was live before the recording
 * began as seeds. Memory: 40 bytes a request.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REQUESTS_H
#define ASHLAR_TOOLS_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"
#include "cuda/sim/device.h"
#include "tools/error.h"

enum {
  ASHLAR_REQUESTS_DEVICES = 128,      /* devices 0 to 127 */
  ASHLAR_REQUESTS_EVERY_DEVICE = 255, /* device of an EMPTY_CACHE on all of them */
  ASHLAR_REQUESTS_STREAMS = 65536     /* distinct stream handles */
};

#define ASHLAR_NO_ADDRESS UINT64_MAX /* of a request whose address was not recorded */

enum ashlar_request_kind {
  ASHLAR_REQUEST_ALLOCATE,
  ASHLAR_REQUEST_FREE,     /* the owner lets go of the block */
  ASHLAR_REQUEST_COMPLETE, /* the block returns to its pool; only where `has_completions` */
  ASHLAR_REQUEST_USE,      /* work on another stream uses the block */
  ASHLAR_REQUEST_EMPTY_CACHE,
  /* Segments were released right before a request that needed one: for it, or by a call that emptied
     the cache. `size` and `stream` are those of the request behind it. */
  ASHLAR_REQUEST_RELEASE,
  ASHLAR_REQUEST_REFUSED,   /* an allocation that ran out of memory when it was recorded */
  ASHLAR_REQUEST_SNAPSHOT,  /* a snapshot was taken */
  ASHLAR_REQUEST_IMPOSSIBLE /* what was recorded cannot be replayed */
};

/* Why a request is impossible. */
enum ashlar_impossible {
  ASHLAR_IMPOSSIBLE_UNKNOWN = 0, /* it frees what is not live */
  ASHLAR_IMPOSSIBLE_LIVE         /* it allocates where a block is live */
};

struct ashlar_request_item {
  uint64_t size;    /* ALLOCATE, RELEASE, REFUSED, IMPOSSIBLE: bytes asked for */
  uint64_t address; /* ALLOCATE: as recorded, or ASHLAR_NO_ADDRESS */
  uint64_t event;   /* snapshot: index in the event list of the device. Trace: operation, from 0 */
  uint64_t time_us; /* of the recorded event; where none was recorded, the same as event */
  uint32_t number;  /* ALLOCATE, FREE, COMPLETE, USE: the allocation, from 0. IMPOSSIBLE: reason */
  uint16_t stream;  /* ALLOCATE, USE, RELEASE, REFUSED, IMPOSSIBLE: index into streams */
  uint8_t kind;     /* enum ashlar_request_kind */
  uint8_t device;
};

struct ashlar_request_stream {
  uint64_t handle;
  bool is_negative; /* written as a negative integer in the recording */
};

/* A segment that the allocator held when the recording began. */
struct ashlar_seed_segment {
  uint64_t address;
  uint64_t size;
  uint16_t stream;
  uint8_t device;
  uint8_t class;    /* ASHLAR_CLASS_SMALL or ASHLAR_CLASS_LARGE */
  uint16_t pool;    /* index into the pools of the recording */
  bool is_growable; /* a range; what is mapped of it is in `mapped` */
};

/* A range of addresses that a growable segment had, from its first map on. */
struct ashlar_request_range {
  uint64_t address;
  uint64_t size;  /* that it has at most */
  uint64_t begin; /* event of the first map; UINT64_MAX: before the recording */
  uint16_t stream;
  uint16_t pool;
  uint8_t class;
  uint8_t device;
};

/* A block that was live when the recording began. */
struct ashlar_seed_block {
  uint64_t address;
  uint64_t size;
  uint64_t requested; /* <= size */
  uint32_t number;
  uint16_t stream;
  uint16_t pool;
  uint8_t device;
  bool is_pending; /* its owner had let go, and nothing in the recording completes that */
};

/* What the recording says of the segments that one device handed out and took back. */
struct ashlar_request_script {
  struct ashlar_sim_script_line *lines;
  size_t length;
  size_t capacity;
};

/* What a recording shows of a private pool. */
enum ashlar_pool_bit {
  ASHLAR_POOL_IS_WHOLE = 1, /* no block of it was ever split */
  ASHLAR_POOL_IS_FOREIGN =
      2 /* it has ordinary segments where others are growable: an allocator of its own */
};

struct ashlar_event;
struct ashlar_id_table;
struct ashlar_snapshot;

/* All zero is an empty sequence. Read the fields; change them by the functions below only. */
struct ashlar_requests {
  struct ashlar_request_item *items;
  struct ashlar_request_stream *streams; /* distinct; entry 0 is handle 0 */
  struct ashlar_seed_segment *segments;  /* ascending by device, then address */
  struct ashlar_request_range *ranges;   /* by device, then by beginning */
  struct ashlar_seed_segment *mapped;    /* parts of ranges, when the recording began */
  struct ashlar_seed_block *seeds;       /* the same */
  struct ashlar_request_script *scripts; /* one for each device, or NULL */
  size_t item_count;
  size_t segment_count;
  size_t range_count;
  size_t mapped_count;
  size_t seed_count;
  uint32_t stream_count;
  uint32_t number_count;            /* allocations, with the seeds */
  uint32_t device_count;            /* greatest device + 1 */
  uint32_t release_count;           /* requests of kind RELEASE */
  struct ashlar_config config;      /* the settings recorded, else the defaults */
  struct ashlar_snapshot *snapshot; /* the recording; NULL where it is a text trace */
  bool is_trace;                    /* a text trace; known even where reading failed */
  bool has_completions;             /* frees and completions are requests of their own */
  bool has_growable;    /* growable segments were recorded of which the ranges are not known */
  bool grows;           /* segments were growable */
  uint8_t *whole_pools; /* by device, then by pool: bits of enum ashlar_pool_bit; or NULL */
  uint64_t ignored;     /* recorded events that are no requests */

  /* room in the arrays, and the streams seen so far */
  size_t item_capacity;
  size_t segment_capacity;
  size_t range_capacity;
  size_t mapped_capacity;
  size_t seed_capacity;
  size_t stream_capacity;
  struct ashlar_id_table *stream_ids;
};

/* Reads a request sequence from a file: a text trace where it begins with the word
   `ashlar-trace`, else a snapshot. "-" is standard input. *requests is overwritten and is the
   caller's to free. False: the input is unusable, *requests is empty (but for is_trace, which
   says whether the position in *error is a line or a byte) and *error says why. Expected linear
   in the input. */
bool ashlar_requests_read_file(const char *path, struct ashlar_requests *requests,
                               struct ashlar_error *error);

/* The same for `size` bytes at `data`, which are not kept. */
bool ashlar_requests_read_memory(const void *data, size_t size, struct ashlar_requests *requests,
                                 struct ashlar_error *error);

/* The recorded event of a request; NULL where there is none. */
const struct ashlar_event *ashlar_requests_event(const struct ashlar_requests *requests,
                                                 const struct ashlar_request_item *item);

/* Releases what the sequence owns and makes it empty. */
void ashlar_requests_free(struct ashlar_requests *requests);

/* --- for those who make a sequence: all of them return false when memory is short --- */

bool ashlar_requests_init(struct ashlar_requests *requests);
bool ashlar_requests_add(struct ashlar_requests *requests, const struct ashlar_request_item *item);
bool ashlar_requests_add_segment(struct ashlar_requests *requests,
                                 const struct ashlar_seed_segment *segment);
bool ashlar_requests_add_range(struct ashlar_requests *requests,
                               const struct ashlar_request_range *range);
bool ashlar_requests_add_mapped(struct ashlar_requests *requests,
                                const struct ashlar_seed_segment *part);
bool ashlar_requests_add_seed(struct ashlar_requests *requests,
                              const struct ashlar_seed_block *seed);
bool ashlar_requests_add_line(struct ashlar_requests *requests, uint8_t device,
                              const struct ashlar_sim_script_line *line);

/* Index of a stream, added where new. False as well where there are ASHLAR_REQUESTS_STREAMS. */
bool ashlar_requests_stream(struct ashlar_requests *requests, uint64_t handle, bool is_negative,
                            uint16_t *index);

/* Appends the requests of a trace that is read from the bytes. requests_trace.c */
bool ashlar_requests_of_trace(struct ashlar_requests *requests, const void *data, size_t size,
                              struct ashlar_error *error);

/* Appends the requests of requests->snapshot. requests_snapshot.c */
bool ashlar_requests_of_snapshot(struct ashlar_requests *requests, struct ashlar_error *error);

#endif
