/* lockstep_subject.h - what is compared with the reference model, in the terms of the model: the core (lockstep_core.c),
 * or a second model (lockstep_twin.c), by which the harness itself is tested.
 *
 * There is one subject in a process; its storage is its own. Its slots, generations and numbers of requests need not be
 * those of the model.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_LOCKSTEP_SUBJECT_H
#define ASHLAR_FUZZ_LOCKSTEP_SUBJECT_H

#include "spec/model/model.h"

/* A block as both sides can tell it. */
struct subject_block {
  enum model_block_state state;
  bool unmapped; /* free: without memory */
  bool small;
  bool growable;
  bool first; /* of its segment */
  bool last;
  int32_t pool;
  int32_t stream;
  uint32_t references; /* allocated: */
  uint32_t generation; /* allocated: of its handle */
  uint64_t age;        /* of its segment, in segment order */
  uint64_t address;
  uint64_t size;
  uint64_t requested;
};

enum { SUBJECT_CHECKPOINTS = 3 };

/* Forgets everything, and starts. */
enum model_status subject_start(const struct model_config *config);

struct model_registration subject_stream_register(uint64_t key);
int32_t subject_stream_find(uint64_t key);
enum model_status subject_stream_gone(int32_t stream, struct model_caller caller);
enum model_status subject_capture_begin(int32_t stream);
enum model_status subject_capture_end(int32_t stream);

enum model_status subject_record_use(int32_t slot, uint32_t generation, int32_t stream,
                                     struct model_caller caller);
struct model_event subject_event_next(void);
struct model_freed subject_complete(int32_t stream, uint64_t number, struct model_caller caller);
uint64_t subject_queue_head(int32_t stream);

struct model_registration subject_pool_create(uint32_t allocator);
enum model_status subject_pool_retain(int32_t pool);
enum model_status subject_pool_release(int32_t pool);
enum model_status subject_pool_set_use_on_oom(int32_t pool, bool on);
enum model_status subject_pool_set_no_split(int32_t pool);
enum model_status subject_scope_open(int32_t pool, uint64_t thread, int32_t stream);
enum model_status subject_scope_close(int32_t pool);

struct model_step subject_allocate_begin(uint64_t bytes, int32_t stream,
                                         struct model_caller caller);
struct model_step subject_empty_cache_begin(int32_t pool, struct model_caller caller);
struct model_step subject_resume(int32_t request, enum model_outcome outcome, uint64_t value);
enum model_status subject_abandon(int32_t request);
enum model_status subject_limit_set(uint64_t limit, uint64_t collect_above);
enum model_status subject_growable_set(bool on);
int32_t subject_choose(uint64_t bytes, int32_t stream, struct model_caller caller);
struct model_step subject_allocate_exactly(uint64_t address, uint64_t bytes, int32_t stream,
                                           struct model_caller caller);

struct model_freed subject_free(int32_t slot, uint32_t generation, struct model_caller caller);
struct model_freed subject_free_address(uint64_t address, struct model_caller caller);
enum model_status subject_retain(int32_t slot, uint32_t generation);
struct model_freed subject_release(int32_t slot, uint32_t generation, struct model_caller caller);
struct model_range subject_base(int32_t slot, uint32_t generation);

/* Slot of the allocated block that starts there, -1: none. */
int32_t subject_find(uint64_t address);

/* Checkpoints are kept under numbers below SUBJECT_CHECKPOINTS. The subject compares what it saved with what the model
   did: NULL, or what differs. */
enum model_status subject_checkpoint_save(int32_t number, int32_t pool, struct model_caller caller);
struct model_restored subject_checkpoint_restore(int32_t number, struct model_caller caller);
const char *subject_checkpoint_differs(int32_t number, const struct model_checkpoint *expected);

void subject_reset_peaks(void);
void subject_reset_totals(void);
uint64_t subject_largest(void);

/* The next growable segment by a number of the subject's, -1: the first. */
struct model_growable subject_growable_next(int32_t segment);
struct model_counter subject_counter(int32_t kind, int32_t column);
struct model_counter subject_pool_reserved(int32_t pool);
struct model_calls subject_calls(void);

/* Slots below may hold blocks. */
int32_t subject_limit(void);
struct subject_block subject_block(int32_t slot);

/* The rung on which a request in flight stands. */
int32_t subject_rung(int32_t request);

/* Looks at the whole state: NULL, or what is broken. */
const char *subject_check(void);

#endif
