/* lockstep.h - one run of the subject and the model side by side: what both know of, how they are compared, and which
 * cells of operation, outcome and rung were seen.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_LOCKSTEP_H
#define ASHLAR_FUZZ_LOCKSTEP_H

#include "fuzz/harness.h"
#include "fuzz/lockstep_subject.h"
#include "spec/model/parts.h"

#define MIB UINT64_C(1048576)

enum { LIVE = 512, DEAD = 64, STREAMS = 6, POOLS = 5 };

/* One block that was handed out, as both name it. */
struct pair {
  int32_t slot;
  uint32_t generation;
  int32_t model_slot;
  uint32_t model_generation;
  uint64_t address;
};

/* A request in flight: what it waits for, as the model says it, and its number in the subject. */
struct flight {
  struct model_step step;
  int32_t request;
};

struct lockstep {
  struct model *model;
  struct model_checkpoint *saved; /* SUBJECT_CHECKPOINTS of them */
  bool is_saved[SUBJECT_CHECKPOINTS];
  struct pair live[LIVE];
  int32_t live_count;
  struct pair dead[DEAD]; /* handles of blocks that were freed; the oldest are forgotten */
  uint32_t dead_count;
  struct flight flight[MODEL_REQUESTS];
  int32_t flights;
  int32_t twin[MODEL_BLOCKS]; /* by slot of the subject: where the model had the block */
  /* the device */
  uint64_t above;    /* segments are given upwards from here */
  uint64_t below;    /* and downwards from here */
  uint64_t released; /* the range that was given back last */
  uint64_t room;     /* its bytes */
  uint32_t refusals; /* of eight requests for memory, so many are refused */
  uint32_t failures; /* of 256 steps, so many fail */
  int32_t wanted;    /* live blocks that the churn goes for */
  uint32_t sizes;    /* which sizes it takes */
};

/* --- what is the same: lockstep_compare.c --- */

void lockstep_same_status(const char *what, enum model_status status, enum model_status expected);
void lockstep_same_step(struct model_step step, struct model_step expected);

/* Ends an operation: counters, blocks and rungs are the same, and the state of the subject is whole. */
void lockstep_compare(struct lockstep *run);

/* --- what was seen: lockstep_table.c --- */

enum lockstep_operation {
  OP_STREAM_REGISTER = 0,
  OP_STREAM_GONE,
  OP_CAPTURE_BEGIN,
  OP_CAPTURE_END,
  OP_RECORD_USE,
  OP_EVENT_NEXT,
  OP_COMPLETE,
  OP_POOL_CREATE,
  OP_POOL_RETAIN,
  OP_POOL_RELEASE,
  OP_POOL_USE_ON_OOM,
  OP_POOL_NO_SPLIT,
  OP_SCOPE_OPEN,
  OP_SCOPE_CLOSE,
  OP_ALLOCATE,
  OP_EMPTY_CACHE,
  OP_ALLOCATED, /* outcomes of steps */
  OP_ALLOCATE_REFUSED,
  OP_ALLOCATE_FAILED,
  OP_RELEASED,
  OP_RELEASE_FAILED,
  OP_RESERVED,
  OP_RESERVE_FAILED,
  OP_UNRESERVED,
  OP_UNRESERVE_FAILED,
  OP_MAPPED,
  OP_MAP_REFUSED,
  OP_MAP_FAILED,
  OP_UNMAPPED,
  OP_UNMAP_FAILED,
  OP_WAITED,
  OP_WAIT_FAILED,
  OP_CALLED_BACK,
  OP_CALLED_BACK_FREED,
  OP_CALLBACKS_FAILED,
  OP_RESUME, /* of no request */
  OP_ABANDON,
  OP_LIMIT_SET,
  OP_GROWABLE_SET,
  OP_CHOOSE,
  OP_ALLOCATE_EXACTLY,
  OP_FREE,
  OP_FREE_ADDRESS,
  OP_RETAIN,
  OP_RELEASE,
  OP_BASE,
  OP_FIND,
  OP_RESET_PEAKS,
  OP_RESET_TOTALS,
  OP_SAVE,
  OP_RESTORE,
  OPERATIONS
};

/* A status, or one of these. */
enum lockstep_outcome {
  OUTCOME_STEP = MODEL_STATUSES,                  /* and the kind of the step, but for errors */
  OUTCOME_NONE = OUTCOME_STEP + MODEL_STEP_ERROR, /* nothing found, nothing needed */
  OUTCOME_WAITS,                                  /* the block is pending */
  OUTCOME_DEFERRED,                               /* the block is deferred */
  OUTCOME_KEPT,                                   /* a reference is left */
  OUTCOME_SOME,                                   /* blocks came back */
  OUTCOMES
};

/* Counts a cell. Rung -1: no request is in flight. */
void lockstep_count(enum lockstep_operation operation, int32_t outcome, int32_t rung);

/* The same for an operation that is no request: one cell for each request in flight. */
void lockstep_count_beside(const struct lockstep *run, enum lockstep_operation operation,
                           int32_t outcome);

/* Counts an operation with many live blocks. */
void lockstep_count_live(const struct lockstep *run);

/* --- operations, by subject --- */

/* Requests and the device: lockstep_requests.c. */
void lockstep_allocate(struct lockstep *run, struct fuzz_input *in);
void lockstep_allocate_many(struct lockstep *run, struct fuzz_input *in);
void lockstep_exactly(struct lockstep *run, struct fuzz_input *in);
void lockstep_choose(struct lockstep *run, struct fuzz_input *in);
void lockstep_empty_cache(struct lockstep *run, struct fuzz_input *in);
void lockstep_make_hole(struct lockstep *run, struct fuzz_input *in);
void lockstep_go_on(struct lockstep *run, struct fuzz_input *in);
void lockstep_no_request(struct lockstep *run, struct fuzz_input *in);

/* Blocks of owners: lockstep_owners.c. */
void lockstep_free(struct lockstep *run, struct fuzz_input *in);
void lockstep_free_many(struct lockstep *run, struct fuzz_input *in);
void lockstep_free_wrong(struct lockstep *run, struct fuzz_input *in);
void lockstep_references(struct lockstep *run, struct fuzz_input *in);
void lockstep_record_use(struct lockstep *run, struct fuzz_input *in);
void lockstep_look(struct lockstep *run, struct fuzz_input *in);
void lockstep_checkpoint(struct lockstep *run, struct fuzz_input *in);

/* Streams, pools and settings: lockstep_settings.c. */
void lockstep_start(struct lockstep *run, struct fuzz_input *in);
void lockstep_streams(struct lockstep *run, struct fuzz_input *in);
void lockstep_complete(struct lockstep *run, struct fuzz_input *in);
void lockstep_pools(struct lockstep *run, struct fuzz_input *in);
void lockstep_scopes(struct lockstep *run, struct fuzz_input *in);
void lockstep_settings(struct lockstep *run, struct fuzz_input *in);

/* A block that was handed out, one that is not any more, and what of the live ones was freed on the way. */
void lockstep_add_live(struct lockstep *run, struct pair block);
void lockstep_drop_live(struct lockstep *run, int32_t i);
void lockstep_sweep(struct lockstep *run);

/* Frees the live block of a slot of the model, if there is one. */
void lockstep_free_slot(struct lockstep *run, int32_t model_slot);

/* Who calls, and for which stream. */
struct model_caller lockstep_caller(struct fuzz_input *in);
int32_t lockstep_stream(const struct lockstep *run, struct fuzz_input *in);

#endif
