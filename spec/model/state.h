/* state.h - what the model remembers: lists of blocks, segments, streams, uses, pools, scopes and requests.
 *
 * Nothing here can be worked out from something else but `current` of the statistics, which is worked out anew after
 * each change (stats.c). No list has an order; whoever looks for something looks at all of it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_MODEL_STATE_H
#define ASHLAR_SPEC_MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef MODEL_BLOCKS
#if defined(ASHLAR_SLOTS) && ASHLAR_SLOTS < 4096
#define MODEL_BLOCKS ASHLAR_SLOTS /* beside a small core: the same room */
#else
#define MODEL_BLOCKS 4096
#endif
#endif
#ifndef MODEL_USES
#define MODEL_USES MODEL_BLOCKS
#endif

enum {
  MODEL_SEGMENTS = MODEL_BLOCKS, /* each has a block: never the first to run out */
  MODEL_STREAMS = 255,
  MODEL_POOLS = 65, /* number 0 is the default pool, the others are private */
  MODEL_REQUESTS = 8,
  MODEL_ROWS = 16 /* of the division table */
};

#define MODEL_UNSET UINT64_MAX /* no split limit, no memory limit, no collection */
#define MODEL_MIB UINT64_C(1048576)
#define MODEL_GRANULE UINT64_C(512)
#define MODEL_GREATEST (UINT64_C(1) << 60) /* no request reaches it */

enum model_status {
  MODEL_OK = 0,
  MODEL_ERROR_SETTING,
  MODEL_ERROR_TOO_LARGE,
  MODEL_ERROR_BUSY,
  MODEL_ERROR_NO_REQUEST,
  MODEL_ERROR_DEVICE,    /* a device call failed other than for want of memory */
  MODEL_ERROR_CAPTURE,   /* not during a capture; captured already, or not */
  MODEL_ERROR_STREAM,    /* never registered, or gone */
  MODEL_ERROR_DUPLICATE, /* a stream with this key is registered */
  MODEL_ERROR_POOL,      /* no such pool, or one without users */
  MODEL_ERROR_SCOPE,     /* open already, or not open */
  MODEL_ERROR_RANGE,     /* an address or number that cannot be */
  MODEL_ERROR_SLOT,      /* never a block */
  MODEL_ERROR_STALE,     /* the block that this handle named was freed */
  MODEL_ERROR_FOREIGN,   /* an address of no segment */
  MODEL_ERROR_INTERIOR,  /* an address inside a block */
  MODEL_ERROR_FREED,     /* the start of a block that is not allocated */
  MODEL_ERROR_SHARED,    /* a block with more than one reference */
  MODEL_ERROR_COUNT,     /* a count of references that would pass its greatest value */
  MODEL_ERROR_GROWABLE,  /* not for blocks of growable segments */
  MODEL_ERROR_PENDING,   /* a block of the pool is pending or held */
  MODEL_ERROR_MISFIT,    /* nothing free there; a checkpoint that does not fit */
  MODEL_ERROR_BLOCKS,    /* no room for blocks; so for the others */
  MODEL_ERROR_STREAMS,
  MODEL_ERROR_USES,
  MODEL_ERROR_POOLS,
  MODEL_ERROR_REQUESTS,
  MODEL_STATUSES
};

enum { MODEL_ORDER_ADDRESS = 0, MODEL_ORDER_SEGMENT };
enum { MODEL_COMPLETE = 0, MODEL_FAITHFUL };

struct model_config {
  uint64_t max_split_size;
  uint64_t large_segment_size;
  uint64_t oversize_slack;
  uint64_t division[MODEL_ROWS];
  uint32_t order;
  uint32_t policy;
  bool growable;              /* whether growable segments are on at the start */
  bool callbacks;             /* whether there are free-memory callbacks */
  uint64_t reservation_small; /* bytes of the range of a growable segment; 0: the total + 1/8 */
  uint64_t reservation_large;
  uint64_t device_total; /* 0: unknown */
  uint64_t reject_above; /* reserved bytes; 0: no device allocation is rejected */
};

/* Who calls. */
struct model_caller {
  int32_t stream; /* the current stream of the calling thread; -1: none */
  uint64_t thread;
};

enum model_block_state {
  MODEL_UNUSED = 0, /* no block */
  MODEL_FREE,
  MODEL_ALLOCATED,
  MODEL_PENDING, /* given back, and in use on another stream */
  MODEL_HELD     /* a request has it: it is being mapped, unmapped or released */
};

struct model_block {
  enum model_block_state state;
  bool mapped;    /* backed by device memory that counts: not that of a segment that is leaving */
  bool fresh;     /* held: mapped by the request that holds it */
  int32_t holder; /* held: number of the request */
  int32_t segment;
  uint32_t generation; /* with the slot, a handle; 0: the slot never held a block */
  uint32_t references; /* while allocated */
  uint64_t address;
  uint64_t size;
  uint64_t requested; /* bytes of the last request that it served */
  uint64_t entered;   /* free: searches of its pool and class when it entered the list */
  uint64_t deferred;  /* pending: when it was deferred; 0: it is not */
};

struct model_segment {
  bool used;
  bool growable;
  bool small; /* class */
  int32_t pool;
  int32_t stream;
  uint32_t allocator; /* 0: the device's own */
  uint64_t address;
  uint64_t size;
  uint64_t age; /* segments that were created before it */
};

/* What a growable segment holds. */
struct model_growable {
  int32_t segment; /* -1: there is none */
  int32_t stream;
  bool small;
  uint64_t address;
  uint64_t mapped; /* bytes */
};

struct model_stream {
  bool used;
  bool gone;
  bool capturing;
  uint64_t key;
  uint64_t submitted; /* number of the last use submitted */
  uint64_t completed; /* number up to which uses are finished */
};

/* A use of a block: recorded (number 0), then submitted, when its block is given back. */
struct model_use {
  bool used;
  bool captured; /* recorded during a capture */
  bool told;     /* the layer knows of it */
  int32_t slot;
  int32_t stream;
  uint64_t number; /* counts the uses submitted to the stream */
};

enum model_statistic {
  MODEL_ALLOCATION = 0,
  MODEL_SEGMENT,
  MODEL_ACTIVE,
  MODEL_INACTIVE_SPLIT,
  MODEL_ALLOCATED_BYTES,
  MODEL_RESERVED_BYTES,
  MODEL_ACTIVE_BYTES,
  MODEL_INACTIVE_SPLIT_BYTES,
  MODEL_REQUESTED_BYTES,
  MODEL_OVERSIZE_ALLOCATIONS, /* these two for all blocks only */
  MODEL_OVERSIZE_SEGMENTS,
  MODEL_STATISTICS
};
enum { MODEL_ALL = 0, MODEL_SMALL, MODEL_LARGE, MODEL_COLUMNS };

struct model_counter {
  uint64_t current;
  uint64_t peak;
  uint64_t allocated;
  uint64_t freed;
};

struct model_calls {
  uint64_t alloc_retries;
  uint64_t ooms;
  uint64_t oom_rejections;
  uint64_t sync_all_streams;
  uint64_t device_allocs;
  uint64_t device_frees;
};

/* Routes requests to its pool; each pool has at most one. */
struct model_scope {
  bool open;
  uint64_t thread; /* 0: every */
  int32_t stream;  /* -1: every */
  uint64_t opened; /* when, among all */
};

struct model_pool {
  bool used;
  bool use_on_oom;
  bool no_split;
  uint32_t allocator;
  uint32_t users;       /* 0: freeable */
  uint64_t created;     /* when, among all */
  uint64_t searches[2]; /* of the large and of the small class, while ages are counted */
  struct model_scope scope;
  struct model_counter reserved;
};

enum model_step_kind {
  MODEL_STEP_NONE = 0, /* never given */
  MODEL_STEP_DONE,
  MODEL_STEP_ALLOCATE,
  MODEL_STEP_RELEASE,
  MODEL_STEP_RESERVE,
  MODEL_STEP_UNRESERVE,
  MODEL_STEP_MAP,
  MODEL_STEP_UNMAP,
  MODEL_STEP_WAIT,
  MODEL_STEP_CALLBACKS,
  MODEL_STEP_OUT_OF_MEMORY,
  MODEL_STEP_REJECTED, /* not served, and at least once the device was not asked: REQ-LADDER-reject */
  MODEL_STEP_ERROR
};

struct model_step {
  enum model_step_kind kind;
  enum model_status status;
  int32_t request;
  int32_t slot; /* with DONE: the block; -1: none was needed */
  uint32_t generation;
  int32_t stream; /* UNMAP: to be idle first, -1: none; WAIT */
  int32_t pool;
  uint32_t allocator;
  uint64_t address;
  uint64_t bytes;
  uint64_t number; /* WAIT: of the use to be finished */
};

enum model_outcome {
  MODEL_PERFORMED =
      0,         /* value: the address of what was given, or whether a callback freed memory */
  MODEL_REFUSED, /* for want of memory */
  MODEL_FAILED
};

/* A request as its list sees it. */
struct model_want {
  uint64_t bytes; /* as asked */
  uint64_t size;  /* rounded */
  int32_t pool;
  bool small;
  int32_t stream;
  bool growable; /* growable segments are on for it */
};

struct model_request {
  bool used;
  int32_t rung; /* of the ladder, ladder.c */
  struct model_want want;
  struct model_caller caller;
  struct model_step asked; /* the step that waits for its outcome */
  int32_t held;            /* what that step is about: a slot, -1 */
  uint64_t released;       /* bytes, by the rung at hand */
  bool enough;             /* the rung of oversize segments released enough */
  bool freed;              /* callbacks returned memory */
  uint64_t target;         /* of the collection, in bytes */
  uint64_t cutoff;         /* least age of what this pass of the collection releases */
  bool passed;             /* this pass released something */
  int32_t waited;          /* last stream that was waited for; see ladder.c */
  int32_t growth;          /* where growing stands, growable.c */
  bool reserved;           /* a range was reserved on this rung */
  bool rejected;           /* a device allocation was rejected */
};

/* One mapped block of a checkpoint. */
struct model_saved {
  struct model_segment segment;
  uint64_t address;
  uint64_t size;
  bool allocated;
  bool use[MODEL_STREAMS]; /* streams of its uses */
};

/* The mapped blocks of a private pool, ascending by address. */
struct model_checkpoint {
  int32_t pool;
  int32_t blocks;
  struct model_saved block[MODEL_BLOCKS];
};

struct model {
  struct model_config config;
  bool growable;
  uint64_t limit;         /* of reserved bytes; MODEL_UNSET */
  uint64_t collect_above; /* reserved bytes; MODEL_UNSET: no collection by age */
  uint64_t time;          /* counts what has to be told apart by when it happened */
  uint64_t segments_created;
  int32_t blocks; /* slots below were used at least once; so of the others */
  int32_t segments;
  int32_t streams;
  int32_t uses;
  int32_t pools;
  struct model_block block[MODEL_BLOCKS];
  struct model_segment segment[MODEL_SEGMENTS];
  struct model_stream stream[MODEL_STREAMS];
  struct model_use use[MODEL_USES];
  struct model_pool pool[MODEL_POOLS];
  struct model_request request[MODEL_REQUESTS];
  struct model_counter statistic[MODEL_STATISTICS][MODEL_COLUMNS];
  struct model_calls calls;
};

#endif
