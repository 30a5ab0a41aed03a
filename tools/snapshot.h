/* A PyTorch memory snapshot in memory: segments, blocks, recorded events, settings.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Plain arrays that the reader fills, the audit and replay walk, and the writer prints. All sizes
 * and addresses are in bytes. What the reader promises of a snapshot that it returns:
 *   - addresses and sizes of segments and blocks are below 2^63, and so are their ends
 *     (address + size <= 2^63), so that no sum of two of them wraps;
 *   - the same holds for events, except those whose action is OOM, SNAPSHOT or OTHER: their
 *     two numbers may be any 64-bit value;
 *   - every index (stream, pool, name, first_block) is within its table, and the block ranges of
 *     the segments follow each other in order without gap.
 *   - an action, state or type is one of its enumeration; an event that names memory (any action
 *     but those three) has an address and a size.
 * Nothing else is promised: overlaps, gaps, wrong sums and odd sizes are for the audit to find. */
#ifndef ASHLAR_TOOLS_SNAPSHOT_H
#define ASHLAR_TOOLS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/error.h"

enum {
  ASHLAR_DIVISION_SLOTS = 16,           /* keys "1", "2", … "32768" of roundup_power2_divisions */
  ASHLAR_SNAPSHOT_MAX_STREAMS = 65536,  /* distinct stream handles in one snapshot */
  ASHLAR_SNAPSHOT_MAX_POOLS = 65536,    /* distinct pool ids in one snapshot */
  ASHLAR_SNAPSHOT_MAX_NAMES = 256,      /* distinct actions that are not in the enumeration */
  ASHLAR_SNAPSHOT_MAX_TRACES = 4096,    /* devices with an event list */
  ASHLAR_SNAPSHOT_MAX_NAME_BYTES = 255, /* length of an unknown action */
  ASHLAR_SNAPSHOT_MAX_CONF_BYTES = 65535 /* length of the settings string */
};

/* What an event records. The spelling in the file is the lower-case name. OTHER is any action not
 * listed here (a vendor's, an annotation); its name is kept, see ashlar_event.name. */
enum ashlar_action {
  ASHLAR_ACTION_OTHER = 0,
  ASHLAR_ACTION_ALLOC,
  ASHLAR_ACTION_FREE_REQUESTED,
  ASHLAR_ACTION_FREE_COMPLETED,
  ASHLAR_ACTION_SEGMENT_ALLOC,
  ASHLAR_ACTION_SEGMENT_FREE,
  ASHLAR_ACTION_SEGMENT_MAP,
  ASHLAR_ACTION_SEGMENT_UNMAP,
  ASHLAR_ACTION_OOM,
  ASHLAR_ACTION_SNAPSHOT,
  ASHLAR_ACTION_COUNT
};

/* Bits of ashlar_event.flags: which optional keys the file had. */
enum {
  ASHLAR_EVENT_HAS_ADDRESS = 1, /* key `addr` */
  ASHLAR_EVENT_HAS_DEVICE_FREE = 2 /* key `device_free`; address holds it where `addr` is absent */,
  ASHLAR_EVENT_HAS_SIZE = 4,
  ASHLAR_EVENT_HAS_STREAM = 8,
  ASHLAR_EVENT_HAS_TIME = 16,
  ASHLAR_EVENT_HAS_POOL = 32
};

/* One recorded event. A field whose key was absent is 0; stream 0 and pool 0 are the indices of
 * handle 0 and of pool id (0, 0). Actions other than OOM, SNAPSHOT and OTHER always have an
 * address and a size. 32 bytes, because there are millions of them. */
struct ashlar_event {
  uint64_t address; /* of the block or segment; for OOM the free bytes of the device */
  uint64_t size;    /* bytes; ALLOC: as requested, not rounded */
  uint64_t time_us; /* microseconds since 1970 */
  uint16_t stream;  /* index into ashlar_snapshot.streams */
  uint16_t pool;    /* index into ashlar_snapshot.pools */
  uint16_t name;    /* index into ashlar_snapshot.names where action is OTHER, else 0 */
  uint8_t action;   /* enum ashlar_action */
  uint8_t flags;    /* ASHLAR_EVENT_HAS_… */
};

_Static_assert(sizeof(struct ashlar_event) == 32, "the memory bound is 32 bytes an event");

enum ashlar_block_state {
  ASHLAR_BLOCK_INACTIVE = 0,
  ASHLAR_BLOCK_ALLOCATED,   /* "active_allocated" */
  ASHLAR_BLOCK_PENDING_FREE /* "active_pending_free" or "active_awaiting_free" */
};

/* Bits of ashlar_block.flags. */
enum {
  ASHLAR_BLOCK_HAS_ADDRESS = 1,   /* else the address is the end of the block before it */
  ASHLAR_BLOCK_HAS_REQUESTED = 2, /* key `requested_size` */
  ASHLAR_BLOCK_SAYS_AWAITING = 4  /* spelled "active_awaiting_free" in the file */
};

struct ashlar_block {
  uint64_t address;
  uint64_t size;
  uint64_t requested_size; /* as last requested; stale in an inactive block; 0 where absent */
  uint8_t state;           /* enum ashlar_block_state */
  uint8_t flags;           /* ASHLAR_BLOCK_… */
};

enum ashlar_segment_type {
  ASHLAR_SEGMENT_UNTYPED = 0, /* key `segment_type` absent */
  ASHLAR_SEGMENT_SMALL,
  ASHLAR_SEGMENT_LARGE
};

/* Bits of ashlar_segment.flags: which optional keys the file had. `segment_type` has none: its
 * absence is ASHLAR_SEGMENT_UNTYPED. */
enum {
  ASHLAR_SEGMENT_HAS_DEVICE = 1,
  ASHLAR_SEGMENT_HAS_STREAM = 2,
  ASHLAR_SEGMENT_HAS_POOL = 4,
  ASHLAR_SEGMENT_HAS_EXPANDABLE = 8,
  ASHLAR_SEGMENT_HAS_TOTAL = 16, /* else total_size is the sum of the block sizes */
  ASHLAR_SEGMENT_HAS_ALLOCATED = 32,
  ASHLAR_SEGMENT_HAS_ACTIVE = 64,
  ASHLAR_SEGMENT_HAS_REQUESTED = 128,
  ASHLAR_SEGMENT_HAS_BLOCKS = 256,
  ASHLAR_SEGMENT_HAS_ALL = 511
};

/* One segment, or one contiguous mapped range of a growable segment. Numeric fields whose key was
 * absent are 0 (total_size: see the flag). */
struct ashlar_segment {
  uint64_t address;
  uint64_t total_size;
  uint64_t allocated_size; /* recorded sum over allocated blocks */
  uint64_t active_size;    /* recorded sum over allocated and pending blocks */
  uint64_t requested_size; /* recorded sum of requests over active blocks */
  uint64_t first_block;    /* index into ashlar_snapshot.blocks */
  uint64_t block_count;
  int32_t device;
  uint16_t stream; /* index into ashlar_snapshot.streams */
  uint16_t pool;   /* index into ashlar_snapshot.pools */
  uint16_t flags;  /* ASHLAR_SEGMENT_HAS_… */
  uint8_t type;    /* enum ashlar_segment_type */
  bool is_expandable;
};

/* The event list of one device, oldest first; its index in ashlar_snapshot.traces is the device. */
struct ashlar_device_trace {
  struct ashlar_event *events;
  uint64_t event_count;
  uint64_t event_capacity; /* private to snapshot.c */
};

/* Stream handles are unsigned 64-bit values; a recording may have written one as a negative
 * integer, which is kept apart so that it is written back as it was read. */
struct ashlar_stream {
  uint64_t handle; /* two's complement where negative */
  bool is_negative;
};

struct ashlar_pool_id {
  uint64_t first;
  uint64_t second;
};

/* A piece of text kept from the file: UTF-8, `length` bytes followed by a NUL that is not counted;
 * it may contain NULs itself. */
struct ashlar_text {
  char *bytes;
  uint32_t length;
};

/* Bits of ashlar_settings.flags: which keys the file had. */
enum {
  ASHLAR_SETTINGS_HAS_CONF = 1,
  ASHLAR_SETTINGS_HAS_MAX_SPLIT = 2,
  ASHLAR_SETTINGS_HAS_GC_THRESHOLD = 4,
  ASHLAR_SETTINGS_HAS_EXPANDABLE = 8,
  ASHLAR_SETTINGS_HAS_PINNED_THREADS = 16,
  ASHLAR_SETTINGS_HAS_RELEASE_LOCK = 32,
  ASHLAR_SETTINGS_HAS_HOST_REGISTER = 64,
  ASHLAR_SETTINGS_HAS_STREAM_REUSE = 128,
  ASHLAR_SETTINGS_HAS_DIVISIONS = 256
};

/* The allocator settings in force when the snapshot was taken (key `allocator_settings`). */
struct ashlar_settings {
  struct ashlar_text conf; /* PYTORCH_CUDA_ALLOC_CONF; bytes NULL where absent */
  int64_t max_split_size;  /* bytes; -1: unlimited */
  double garbage_collection_threshold;
  int64_t pinned_num_register_threads;
  uint64_t divisions[ASHLAR_DIVISION_SLOTS]; /* slot k: key 2^k; 0 where absent */
  uint32_t divisions_present;                /* bit k: slot k was in the file */
  uint16_t flags;                            /* ASHLAR_SETTINGS_HAS_… */
  bool expandable_segments;
  bool release_lock_on_cudamalloc;
  bool pinned_use_cuda_host_register;
  bool graph_capture_record_stream_reuse;
  bool is_present; /* the key `allocator_settings` was there */
};

enum ashlar_snapshot_format {
  ASHLAR_FORMAT_DICT = 0, /* dictionary with `segments`, … */
  ASHLAR_FORMAT_LIST      /* list of segments, the form of 2022 */
};

struct ashlar_id_table; /* finds the index of a stream or pool id; private */

/* Owns everything that it points to. A zeroed struct is a valid empty snapshot, apart from
 * the tables of streams and pools, which ashlar_snapshot_init gives their entry 0. */
struct ashlar_snapshot {
  struct ashlar_segment *segments;    /* in file order */
  struct ashlar_block *blocks;        /* those of segment 0, then those of segment 1, … */
  struct ashlar_device_trace *traces; /* one for each device */
  struct ashlar_stream *streams;      /* distinct; entry 0 is handle 0 */
  struct ashlar_pool_id *pools;       /* distinct; entry 0 is (0, 0) */
  struct ashlar_text *names;          /* distinct unknown actions; entry 0 is the empty text */
  uint64_t segment_count;
  uint64_t block_count;
  uint32_t trace_count;
  uint32_t stream_count;
  uint32_t pool_count;
  uint32_t name_count;
  struct ashlar_settings settings;
  uint8_t format;       /* enum ashlar_snapshot_format */
  uint8_t protocol;     /* of the pickle, 2 to 5; 0 where the snapshot was not read */
  bool has_traces;      /* key `device_traces` was there */
  bool has_annotations; /* key `external_annotations` was there */
  bool has_history;     /* has_traces, and at least one event in them */
  uint64_t event_count; /* over all traces */
  uint64_t segment_capacity, block_capacity, trace_capacity; /* private to snapshot.c */
  uint32_t stream_capacity, pool_capacity, name_capacity;    /* private to snapshot.c */
  struct ashlar_id_table *stream_ids, *pool_ids;             /* private to snapshot.c */
};

/* Makes *snapshot the empty snapshot with entry 0 of its tables. False when memory is short; then
 * *snapshot is zeroed. Free with ashlar_snapshot_free. */
bool ashlar_snapshot_init(struct ashlar_snapshot *snapshot);

/* Releases everything and zeroes *snapshot. Harmless on a zeroed struct and when repeated. */
void ashlar_snapshot_free(struct ashlar_snapshot *snapshot);

/* The functions below append one element and return false, with *snapshot as it was, when memory
 * is short or the stated limit is reached. Appending costs amortised constant time. Large arrays
 * grow in place of a copy where the C library can move pages, so that the peak stays near
 * 32 bytes an event. */

/* Appends a segment whose blocks are those appended after it. `first_block` and `block_count` of
 * *segment are ignored: the new one starts with none at the end of the block array. */
bool ashlar_snapshot_add_segment(struct ashlar_snapshot *snapshot,
                                 const struct ashlar_segment *segment);

/* Appends a block to the last segment, which must exist. */
bool ashlar_snapshot_add_block(struct ashlar_snapshot *snapshot, const struct ashlar_block *block);

/* Appends an empty event list, that of device `trace_count`, and sets has_traces. At most
 * ASHLAR_SNAPSHOT_MAX_TRACES. */
bool ashlar_snapshot_add_trace(struct ashlar_snapshot *snapshot);

/* Appends an event to the list of device `trace` (< trace_count). */
bool ashlar_snapshot_add_event(struct ashlar_snapshot *snapshot, uint32_t trace,
                               const struct ashlar_event *event);

/* Index of a stream handle, pool id or unknown action, added where new; expected constant time
 * (names: linear in their number). False when memory is short or the table is full. `text` is
 * copied. */
bool ashlar_snapshot_stream(struct ashlar_snapshot *snapshot, uint64_t handle, bool is_negative,
                            uint16_t *index);
bool ashlar_snapshot_pool(struct ashlar_snapshot *snapshot, uint64_t first, uint64_t second,
                          uint16_t *index);
bool ashlar_snapshot_name(struct ashlar_snapshot *snapshot, const char *text, uint32_t length,
                          uint16_t *index);

/* Sets the settings string to a copy of `length` bytes of `text`. */
bool ashlar_snapshot_set_conf(struct ashlar_snapshot *snapshot, const char *text, uint32_t length);

/* Whether the promises at the head of this file hold; the tests and fuzzers ask. Linear time. */
bool ashlar_snapshot_is_valid(const struct ashlar_snapshot *snapshot);

/* The spelling of an action; "other" for OTHER and for values out of range. Static text. */
const char *ashlar_action_name(unsigned action);

#endif
