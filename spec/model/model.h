/* model.h - the executable reference model: the public operations of the block manager, on lists that are scanned.
 *
 * It says what the manager must do, in the plainest form: written from requirements.md alone, to be read in one sitting
 * and compared with. It is slow. The core may be fast in any way, as long as it answers the same.
 *
 * Slots are the model's own; whoever compares goes by address. The caller provides the storage, zeroed. A request that
 * needs the device gives a step; it is performed and reported by model_resume, until DONE, OUT_OF_MEMORY, REJECTED or
 * ERROR.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_MODEL_MODEL_H
#define ASHLAR_SPEC_MODEL_MODEL_H

#include "spec/model/state.h"

struct model_freed {
  enum model_status status;
  int32_t
      count; /* free: 1 where uses were submitted, whose events are asked for; complete: blocks freed */
};

struct model_registration {
  enum model_status status;
  int32_t number; /* of the stream or pool; with DUPLICATE that of the one that is there */
};

struct model_event {
  int32_t stream; /* -1: none */
  uint64_t number;
};

struct model_range {
  enum model_status status;
  uint64_t address;
  uint64_t bytes;
};

struct model_restored {
  enum model_status status;
  int32_t freed;   /* blocks that were allocated before */
  int32_t created; /* blocks that are allocated now */
};

struct model_config model_default_config(void);
enum model_status model_init(struct model *m, struct model_config config);

/* --- streams, captures, uses: streams.c, uses.c --- */
struct model_registration model_stream_register(struct model *m, uint64_t key);
int32_t model_stream_find(const struct model *m, uint64_t key);
enum model_status model_stream_gone(struct model *m, int32_t stream, struct model_caller caller);
enum model_status model_capture_begin(struct model *m, int32_t stream);
enum model_status model_capture_end(struct model *m, int32_t stream);
enum model_status model_record_use(struct model *m, int32_t slot, uint32_t generation,
                                   int32_t stream, struct model_caller caller);
struct model_event model_event_next(struct model *m);
struct model_freed model_complete(struct model *m, int32_t stream, uint64_t number,
                                  struct model_caller caller);
uint64_t model_queue_head(const struct model *m, int32_t stream);

/* --- private pools and scopes: pools.c --- */
struct model_registration model_pool_create(struct model *m, uint32_t allocator);
enum model_status model_pool_retain(struct model *m, int32_t pool);
enum model_status model_pool_release(struct model *m, int32_t pool);
enum model_status model_pool_set_use_on_oom(struct model *m, int32_t pool, bool on);
enum model_status model_pool_set_no_split(struct model *m, int32_t pool);
enum model_status model_scope_open(struct model *m, int32_t pool, uint64_t thread, int32_t stream);
enum model_status model_scope_close(struct model *m, int32_t pool);

/* --- requests: requests.c --- */
struct model_step model_allocate_begin(struct model *m, uint64_t bytes, int32_t stream,
                                       struct model_caller caller);
struct model_step model_empty_cache_begin(struct model *m, int32_t pool,
                                          struct model_caller caller);
bool model_step_is_open(struct model_step step); /* it waits for an outcome */
struct model_step model_resume(struct model *m, int32_t request, enum model_outcome outcome,
                               uint64_t value);
enum model_status model_abandon(struct model *m, int32_t request);
enum model_status model_limit_set(struct model *m, uint64_t limit, uint64_t collect_above);
enum model_status model_growable_set(struct model *m, bool on);
int32_t model_choose(const struct model *m, uint64_t bytes, int32_t stream,
                     struct model_caller caller);
struct model_step model_allocate_exactly(struct model *m, uint64_t address, uint64_t bytes,
                                         int32_t stream, struct model_caller caller);

/* --- blocks of an owner: handles.c --- */
struct model_freed model_free(struct model *m, int32_t slot, uint32_t generation,
                              struct model_caller caller);
struct model_freed model_free_address(struct model *m, uint64_t address,
                                      struct model_caller caller);
enum model_status model_retain(struct model *m, int32_t slot, uint32_t generation);
struct model_freed model_release(struct model *m, int32_t slot, uint32_t generation,
                                 struct model_caller caller);
struct model_range model_base(const struct model *m, int32_t slot, uint32_t generation);

/* --- checkpoints: checkpoint.c --- */
enum model_status model_checkpoint_save(struct model *m, int32_t pool, struct model_caller caller,
                                        struct model_checkpoint *checkpoint);
struct model_restored model_checkpoint_restore(struct model *m, struct model_caller caller,
                                               const struct model_checkpoint *checkpoint);

/* --- growable segments: growable.c --- */
struct model_growable model_growable_next(const struct model *m, int32_t segment);

/* --- statistics: stats.c --- */
void model_reset_peaks(struct model *m);
void model_reset_totals(struct model *m);
uint64_t model_largest(const struct model *m);

#endif
