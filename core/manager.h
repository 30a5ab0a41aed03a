/* manager.h - the state of one block manager: plain arrays of a build-time capacity, no pointers.
 *
 * One struct is one manager (one device). The caller provides the storage, zeroed; nothing in it points anywhere, so
 * it may be copied, hashed or written to disk. Slots are named by 32-bit numbers; sizes and addresses are bytes.
 *
 * Why arrays beside each other and not an array of block records: each array is one map to the prover, so an array
 * that an operation does not write is the same before and after by syntax, and frame conditions cost nothing.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_MANAGER_H
#define ASHLAR_CORE_MANAGER_H

#include <stdint.h>

#ifndef ASHLAR_SLOTS
#define ASHLAR_SLOTS 2097152 /* blocks that a manager can hold, live and free together */
#endif

#ifndef ASHLAR_USES
#define ASHLAR_USES ASHLAR_SLOTS /* uses of blocks on other streams, recorded and not finished */
#endif

enum {
  ASHLAR_STREAMS = 256, /* numbers of streams, the one below included */
  ASHLAR_STREAM_DEFERRED =
      ASHLAR_STREAMS - 1, /* no stream: its queue is of blocks that a capture defers */
  ASHLAR_CLASS_SMALL = 0,
  ASHLAR_CLASS_LARGE = 1,
  ASHLAR_CLASSES = 2,
  ASHLAR_PRIVATE_POOLS = 64, /* private pools are 1 .. 64; 0 is the default pool */
  ASHLAR_POOL_NUMBERS = ASHLAR_PRIVATE_POOLS + 1,
  ASHLAR_POOL_CLASSES = ASHLAR_POOL_NUMBERS * ASHLAR_CLASSES,
  ASHLAR_LISTS =
      ASHLAR_POOL_CLASSES * ASHLAR_STREAMS, /* one free list for each (pool, class, stream) */
  ASHLAR_INDEX_LISTS = 2 * ASHLAR_LISTS,    /* and behind them one of unmapped blocks for each */
  ASHLAR_BUCKETS =
      ASHLAR_SLOTS - 1,    /* of the address map; odd where the slots are a power of two */
  ASHLAR_DIVISIONS = 16,   /* size ranges of the power-of-two division table */
  ASHLAR_REQUESTS = 8,     /* requests in flight */
  ASHLAR_SET_ASIDE = 32,   /* slots for all of them: 4 each */
  ASHLAR_REQUEST_SLOTS = 4 /* slots that a request may need, until it ends */
};

/* What a slot holds. */
enum {
  ASHLAR_UNUSED = 0,    /* no block */
  ASHLAR_FREE = 1,      /* a block that is in the free index */
  ASHLAR_ALLOCATED = 2, /* a block that has an owner */
  ASHLAR_PENDING = 3,   /* freed by its owner; uses on other streams are not finished */
  ASHLAR_UNMAPPED = 4,  /* addresses of a growable segment without memory; in the free index */
  ASHLAR_HELD = 5,      /* in the hands of a request that waits for the device */
  ASHLAR_TAKEN = 6,     /* in the hands of an operation; between operations there is none */
  ASHLAR_STATES = 7
};

/* What a request does with a block that it holds. */
enum {
  ASHLAR_HOLD_NONE = 0,
  ASHLAR_HOLD_LEAVING,  /* it is being released to the device, or unmapped */
  ASHLAR_HOLD_MAPPED,   /* of a run that is being mapped: was mapped before */
  ASHLAR_HOLD_UNMAPPED, /* of such a run: is not mapped yet */
  ASHLAR_HOLD_FRESH     /* of such a run: was mapped by the request */
};

/* What a number of a private pool stands for. */
enum {
  ASHLAR_POOL_UNUSED = 0,
  ASHLAR_POOL_LIVE = 1,     /* it has users */
  ASHLAR_POOL_FREEABLE = 2, /* it has none any more; its memory may go back */
  ASHLAR_POOL_STATES = 3
};

/* Result of an operation. Everything but ASHLAR_OK leaves the state as it was. */
enum ashlar_status {
  ASHLAR_OK = 0,
  ASHLAR_ERROR_TOO_LARGE,       /* request above ASHLAR_MAX_REQUEST */
  ASHLAR_ERROR_CAPACITY,        /* no slot or byte count left */
  ASHLAR_ERROR_BUSY,            /* a request is in flight */
  ASHLAR_ERROR_NO_REQUEST,      /* resume or abandon without a request in flight */
  ASHLAR_ERROR_STREAM,          /* not a registered stream, or one that is gone */
  ASHLAR_ERROR_DUPLICATE,       /* a stream with this key is registered already */
  ASHLAR_ERROR_UNKNOWN_ADDRESS, /* an address of no block */
  ASHLAR_ERROR_SLOT, /* slot number out of range, or the block is not in the state asked for */
  ASHLAR_ERROR_STALE_HANDLE,   /* the block that this handle named was freed */
  ASHLAR_ERROR_RANGE,          /* address or size out of range, not aligned, or outside the block */
  ASHLAR_ERROR_SETTING,        /* a configuration value is not allowed */
  ASHLAR_ERROR_POOLS,          /* no private pool left */
  ASHLAR_ERROR_POOL,           /* not a private pool that was created and has not ended */
  ASHLAR_ERROR_POOL_RELEASED,  /* the pool has no user any more */
  ASHLAR_ERROR_POOL_ALLOCATOR, /* the allocator of a pool is given when it is created, not later */
  ASHLAR_ERROR_POOL_USES,      /* the use count of the pool is at its greatest */
  ASHLAR_ERROR_POOL_BUSY,      /* the pool has users, segments or an open scope */
  ASHLAR_ERROR_SCOPE,          /* the pool has no open scope */
  ASHLAR_ERROR_SCOPE_OPEN,     /* the pool has an open scope already */
  ASHLAR_ERROR_SCOPES,         /* no scope can be opened any more */
  ASHLAR_ERROR_INTERIOR,       /* an address inside a block */
  ASHLAR_ERROR_FREED,          /* the start of a block that nobody owns */
  ASHLAR_ERROR_SHARED,         /* the block has more than one reference */
  ASHLAR_ERROR_COUNT,          /* the references of the block are at their greatest number */
  ASHLAR_ERROR_DEVICE,         /* a device call failed other than for want of memory */
  ASHLAR_ERROR_CAPTURE,        /* not during a capture; captured already; not captured */
  ASHLAR_ERROR_GROWABLE,       /* not for blocks of growable segments */
  ASHLAR_ERROR_PENDING,        /* a block of the pool is pending or held */
  ASHLAR_ERROR_MISFIT,         /* nothing free there; a checkpoint that does not fit */
  ASHLAR_ERROR_STREAMS,        /* no stream left */
  ASHLAR_ERROR_USES,           /* no use left to record */
  ASHLAR_ERROR_REQUESTS        /* no request left */
};

enum ashlar_order {
  ASHLAR_ORDER_ADDRESS = 0, /* free blocks of equal size by address */
  ASHLAR_ORDER_SEGMENT = 1  /* free blocks of equal size by age of their segment, then address */
};

enum ashlar_policy {
  ASHLAR_POLICY_COMPLETE = 0, /* default: out of memory only when nothing can help */
  ASHLAR_POLICY_FAITHFUL = 1  /* PyTorch's decisions, bit for bit */
};

/* Settings of a manager; see ashlar_default_config. */
struct ashlar_config {
  uint64_t
      max_split_size; /* bytes; blocks of at least this size are kept whole; UINT64_MAX: no limit */
  uint64_t large_segment_size; /* bytes asked of the device for medium requests */
  uint64_t
      oversize_slack; /* bytes by which a block may exceed an oversize request that takes it whole */
  uint32_t divisions[ASHLAR_DIVISIONS]; /* 0, 1: off; else a power of two (requirement REQ-SIZE) */
  uint32_t order;                       /* enum ashlar_order */
  uint32_t policy;                      /* enum ashlar_policy */
  uint32_t growable;                    /* 1: growable segments are on at the start */
  uint32_t callbacks;                   /* 1: there are free-memory callbacks to be asked */
  uint64_t device_total;                /* bytes of the device; 0: unknown */
  uint64_t
      reservation_small; /* bytes of the range of a growable segment, at most; 0: no limit but the device's */
  uint64_t reservation_large;
  uint64_t
      reject_above; /* reserved bytes above which a device allocation is rejected; 0: none is */
};

/* One counter. allocated - freed == current as long as nobody resets them. */
struct ashlar_counter {
  uint64_t current;
  uint64_t peak;
  uint64_t allocated;
  uint64_t freed;
};

/* Kinds of counters; each exists for all blocks, small pool, large pool: index = kind * 3 + column. */
enum {
  ASHLAR_STAT_ALLOCATION = 0,
  ASHLAR_STAT_SEGMENT,
  ASHLAR_STAT_ACTIVE,
  ASHLAR_STAT_INACTIVE_SPLIT,
  ASHLAR_STAT_ALLOCATED_BYTES,
  ASHLAR_STAT_RESERVED_BYTES,
  ASHLAR_STAT_ACTIVE_BYTES,
  ASHLAR_STAT_INACTIVE_SPLIT_BYTES,
  ASHLAR_STAT_REQUESTED_BYTES,
  ASHLAR_STAT_KINDS,
  ASHLAR_STAT_ALL = 0,
  ASHLAR_STAT_SMALL = 1,
  ASHLAR_STAT_LARGE = 2,
  ASHLAR_STAT_COLUMNS = 3,
  ASHLAR_STATS = ASHLAR_STAT_KINDS * ASHLAR_STAT_COLUMNS
};

/* The rungs of the ladder, in their order (REQ-LADDER), and behind them those of emptying the cache. */
enum ashlar_rung {
  ASHLAR_RUNG_IDLE = 0, /* no request */
  ASHLAR_RUNG_SEARCH,
  ASHLAR_RUNG_CALLBACKS,
  ASHLAR_RUNG_SEARCH_CALLED,
  ASHLAR_RUNG_COLLECT,
  ASHLAR_RUNG_ASK,
  ASHLAR_RUNG_FALLBACK,
  ASHLAR_RUNG_OVERSIZE,
  ASHLAR_RUNG_ASK_OVERSIZE,
  ASHLAR_RUNG_WAIT,
  ASHLAR_RUNG_SEARCH_WAITED,
  ASHLAR_RUNG_RELEASE,
  ASHLAR_RUNG_ASK_LAST,
  ASHLAR_RUNG_SEARCH_RELEASED,
  ASHLAR_RUNG_WAIT_AGAIN,
  ASHLAR_RUNG_SEARCH_AGAIN,
  ASHLAR_RUNG_RELEASE_AGAIN,
  ASHLAR_RUNG_SEARCH_LAST,
  ASHLAR_RUNG_ASK_AGAIN,
  ASHLAR_RUNG_OUT_OF_MEMORY,
  ASHLAR_RUNG_EMPTY_WAIT,
  ASHLAR_RUNG_EMPTY_RELEASE,
  ASHLAR_RUNG_EMPTY
};

/* Where growing stands on a rung that asks the device. */
enum ashlar_growth {
  ASHLAR_GROWTH_NONE = 0,
  ASHLAR_GROWTH_RESERVING, /* a range is asked for */
  ASHLAR_GROWTH_MAPPING,   /* a run of blocks is held and mapped */
  ASHLAR_GROWTH_UNDOING,   /* what was mapped of it is unmapped */
  ASHLAR_GROWTH_RETURNING  /* a range that is one unmapped block goes back */
};

/* A request in flight; meaningful while rung is not ASHLAR_RUNG_IDLE. */
struct ashlar_request {
  uint64_t bytes;    /* as asked; 0: the cache is emptied */
  uint64_t size;     /* rounded */
  uint64_t released; /* bytes released on this rung */
  uint64_t target;   /* bytes that the collection is to release */
  uint64_t cutoff;   /* least age of what this pass of the collection releases */
  uint64_t asked;    /* bytes of the segment or range that the device is asked for */
  uint64_t run_end;  /* held run: first byte behind it */
  uint64_t number;   /* of the use that is waited for */
  uint64_t address;  /* of a range that is too short */
  int32_t
      home; /* list that the request is served from; emptying one pool: any list of it; -1: all */
  int32_t slot; /* held block that the step is about; -1: none */
  int32_t run;  /* held run: its first block; -1: none */
  int32_t
      waited; /* the last stream that was waited for on this rung; -1: none yet; -2: not begun */
  int32_t caller;   /* the stream of its caller, -1: none */
  uint8_t rung;     /* enum ashlar_rung */
  uint32_t step;    /* enum ashlar_step_kind that waits for its outcome */
  uint8_t growth;   /* enum ashlar_growth */
  uint8_t growable; /* 1: growable segments are on for it */
  uint8_t reserved; /* 1: a range was reserved on this rung */
  uint8_t enough;   /* 1: the rung of oversize segments released enough */
  uint8_t freed;    /* 1: callbacks returned memory */
  uint8_t passed;   /* 1: this pass of the collection released something */
  uint8_t rejected; /* 1: a device allocation was rejected */
};

struct ashlar_manager {
  /* block table: one entry a slot; meaningful for slots below `top` */
  uint64_t addr[ASHLAR_SLOTS]; /* first byte */
  uint64_t size[ASHLAR_SLOTS]; /* bytes, > 0 for blocks */
  uint64_t
      requested[ASHLAR_SLOTS]; /* bytes of the last request that the block served; 0 for none */
  uint64_t age[ASHLAR_SLOTS];  /* creation number of the segment in segment order, else 0 */
  uint64_t base[ASHLAR_SLOTS]; /* first byte of the segment */
  int32_t home[ASHLAR_SLOTS];  /* pool * ASHLAR_STREAMS + stream */
  int32_t list[ASHLAR_SLOTS];  /* home; of an unmapped block home + ASHLAR_LISTS */
  int32_t prev[ASHLAR_SLOTS];  /* neighbour before, in the same segment; -1: first of its segment */
  int32_t
      next[ASHLAR_SLOTS]; /* neighbour after; -1: last. Of an unused slot: its place in `spare` */
  uint32_t generation
      [ASHLAR_SLOTS]; /* counts the blocks of the slot that their owner gave back; behind 2^32 - 1 comes 1 */
  uint8_t state[ASHLAR_SLOTS];
  uint8_t growable[ASHLAR_SLOTS];    /* 1: of a growable segment */
  uint8_t hold[ASHLAR_SLOTS];        /* of a held block: why */
  int32_t holder[ASHLAR_SLOTS];      /* of a held block: number of the request */
  uint32_t references[ASHLAR_SLOTS]; /* of an allocated block */
  uint64_t entered
      [ASHLAR_SLOTS]; /* of a free block: searches of its pool and class when it entered its list */
  int32_t first_use[ASHLAR_SLOTS]; /* the latest use on another stream + 1; 0: none */
  int32_t spare[ASHLAR_SLOTS];     /* [0, spare_count): the unused slots below top */
  int32_t spare_count;
  int32_t top; /* slots below were used at least once */

  /* free index: [0, free_count) of `order` are the free blocks, ascending by (list, size, age, addr) */
  int32_t order[ASHLAR_SLOTS]; /* a permutation of the slots below top */
  int32_t place[ASHLAR_SLOTS]; /* its inverse */
  int32_t free_count;

  uint64_t bytes[ASHLAR_STATES]; /* by state; equal to the sums over the block table */

  /* address map: start address of every allocated block */
  int32_t bucket[ASHLAR_SLOTS]; /* first slot of the chain + 1; 0: empty */
  int32_t chain[ASHLAR_SLOTS];  /* next slot of the chain + 1; 0: last */
  uint8_t in_map[ASHLAR_SLOTS]; /* 1: the block of the slot is in the map */

  /* streams, by registration number; stream_order lists them ascending by key, of equal keys by number */
  uint64_t stream_key[ASHLAR_STREAMS];
  int32_t stream_order[ASHLAR_STREAMS];
  int32_t stream_rank[ASHLAR_STREAMS]; /* the inverse of stream_order */
  int32_t stream_count;
  uint8_t stream_gone[ASHLAR_STREAMS];      /* 1: it takes no more requests */
  uint8_t stream_captured[ASHLAR_STREAMS];  /* 1: it is being captured */
  uint64_t stream_segments[ASHLAR_STREAMS]; /* segments that belong to it */

  /* private pools, by number; of entry 0, the default pool, only the segments are counted */
  uint8_t pool_state[ASHLAR_POOL_NUMBERS];
  uint32_t pool_uses[ASHLAR_POOL_NUMBERS];      /* users; > 0 exactly while the pool is live */
  uint64_t pool_segments[ASHLAR_POOL_NUMBERS];  /* segments that belong to the pool */
  uint32_t pool_allocator[ASHLAR_POOL_NUMBERS]; /* where its segments are from; 0: the device */
  uint8_t pool_use_on_oom[ASHLAR_POOL_NUMBERS]; /* 1: it lends free blocks to the default pool */
  uint8_t pool_no_split[ASHLAR_POOL_NUMBERS];   /* 1: its blocks are not split; live pools only */
  uint64_t pool_serial[ASHLAR_POOL_NUMBERS];    /* order of creation, from 1 */
  uint64_t pool_serials;                        /* the last one given */
  uint64_t
      pool_searches[ASHLAR_POOL_CLASSES]; /* searches, counted while ages are; pool * 2 + class */
  struct ashlar_counter pool_reserved[ASHLAR_POOL_NUMBERS];
  int32_t pool_top; /* pools up to this number were used at least once */

  /* scopes, by the pool that they route to: a pool has at most one */
  uint64_t scope_serial[ASHLAR_POOL_NUMBERS]; /* order of opening, from 1; 0: no open scope */
  uint64_t scope_thread[ASHLAR_POOL_NUMBERS]; /* requests of this caller; 0: of every one */
  int32_t scope_stream[ASHLAR_POOL_NUMBERS];  /* requests on this stream; -1: on every one */
  uint64_t scope_serials;                     /* the last one given */

  /* uses of blocks on streams other than their own. A block's uses form a chain, the latest first; those of a block
     that its owner has freed stand, each, in the queue of its stream too, in the order in which they were submitted */
  int32_t use_block[ASHLAR_USES]; /* slot; -1: a spare record */
  int32_t use_stream[ASHLAR_USES];
  uint64_t use_serial[ASHLAR_USES]; /* order of recording, from 1 */
  uint64_t
      use_number[ASHLAR_USES]; /* place in the stream's order of submission; 0: not in its queue */
  int32_t use_less[ASHLAR_USES]; /* chain: the use recorded after this one, -1: none */
  int32_t use_more[ASHLAR_USES]; /* chain: the use recorded before this one, -1: none */
  int32_t use_next
      [ASHLAR_USES]; /* queue: the next one, -1: last. Of a spare record: its place in use_spare */
  int32_t use_spare[ASHLAR_USES]; /* [0, use_spare_count): the spare records below use_top */
  int32_t use_spare_count;
  int32_t use_top;                    /* records below were used at least once */
  uint64_t use_submissions;           /* uses that were ever submitted */
  uint64_t use_serials;               /* the last serial given */
  int32_t queue_head[ASHLAR_STREAMS]; /* record + 1; 0: the queue is empty */
  int32_t queue_tail[ASHLAR_STREAMS];
  uint64_t submitted[ASHLAR_STREAMS]; /* clock: number of the last use submitted */
  uint64_t completed[ASHLAR_STREAMS]; /* clock: uses up to this number are finished */
  uint64_t told[ASHLAR_STREAMS];      /* uses up to this number are known to the layer above */
  uint8_t use_captured[ASHLAR_USES];  /* 1: recorded during a capture */

  uint64_t segments_created; /* age of the next segment */
  struct ashlar_config config;
  uint32_t growable_on;   /* 1: growable segments are on */
  uint64_t limit;         /* of reserved bytes; UINT64_MAX: none */
  uint64_t collect_above; /* reserved bytes above which the collection releases; UINT64_MAX: none */
  struct ashlar_request request[ASHLAR_REQUESTS];
  int32_t in_flight; /* requests in flight */

  struct ashlar_counter stat[ASHLAR_STATS];
  struct ashlar_counter oversize_allocations;
  struct ashlar_counter oversize_segments;
  uint64_t alloc_retries;  /* last device allocations of the ladder */
  uint64_t ooms;           /* requests that ended out of memory; rejected ones are not among them */
  uint64_t oom_rejections; /* device allocations that were rejected */
  uint64_t sync_all_streams;
  uint64_t device_allocs;
  uint64_t device_frees;
};

#endif
