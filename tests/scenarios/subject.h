/* subject.h - what a scenario is played on: an implementation of the block manager's operations, seen through a table of
 * functions, and types that belong to neither core nor model.
 *
 * What an operation means is said in spec/requirements.md. A subject adds nothing and hides nothing: one call here is one
 * call there.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_SUBJECT_H
#define ASHLAR_TESTS_SCENARIOS_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBJECT_UNSET UINT64_MAX /* no split limit, no limit, no collection */

/* The finest that both can tell; SUBJECT_CAPACITY stands for every kind of room. */
enum subject_status {
  SUBJECT_OK = 0,
  SUBJECT_SETTING,
  SUBJECT_TOO_LARGE,
  SUBJECT_BUSY,
  SUBJECT_NO_REQUEST,
  SUBJECT_DEVICE,
  SUBJECT_CAPTURE,
  SUBJECT_STREAM,
  SUBJECT_DUPLICATE,
  SUBJECT_POOL,
  SUBJECT_SCOPE,
  SUBJECT_RANGE,
  SUBJECT_SLOT,
  SUBJECT_STALE,
  SUBJECT_FOREIGN,
  SUBJECT_INTERIOR,
  SUBJECT_FREED,
  SUBJECT_SHARED,
  SUBJECT_COUNT,
  SUBJECT_GROWABLE,
  SUBJECT_PENDING,
  SUBJECT_MISFIT,
  SUBJECT_CAPACITY,
  SUBJECT_OUT_OF_MEMORY, /* no call gives it: what a request came to */
  SUBJECT_STATUSES
};

enum { SUBJECT_ADDRESS = 0, SUBJECT_SEGMENT };   /* orders of free lists */
enum { SUBJECT_COMPLETE = 0, SUBJECT_FAITHFUL }; /* policies */
enum { SUBJECT_DIVISIONS = 16, SUBJECT_CHECKPOINTS = 2 };

struct subject_config {
  uint64_t max_split_size;
  uint64_t large_segment_size;
  uint64_t oversize_slack;
  uint32_t division; /* of every row of the table */
  uint32_t order;
  uint32_t policy;
  bool growable;
  bool callbacks;
  uint64_t reservation_small;
  uint64_t reservation_large;
  uint64_t device_total;
};

struct subject_caller {
  int32_t stream; /* the current stream of the calling thread; -1: none */
  uint64_t thread;
};

enum subject_kind {
  SUBJECT_STEP_ALLOCATE = 0,
  SUBJECT_STEP_RELEASE,
  SUBJECT_STEP_RESERVE,
  SUBJECT_STEP_UNRESERVE,
  SUBJECT_STEP_MAP,
  SUBJECT_STEP_UNMAP,
  SUBJECT_STEP_WAIT,
  SUBJECT_STEP_CALLBACKS,
  SUBJECT_STEP_DONE, /* from here on nothing is asked */
  SUBJECT_STEP_OUT_OF_MEMORY,
  SUBJECT_STEP_ERROR
};

struct subject_step {
  enum subject_kind kind;
  enum subject_status status; /* with ERROR */
  int32_t request;
  int32_t slot; /* with DONE; -1: no block was needed */
  uint32_t generation;
  int32_t stream;
  int32_t pool;
  uint32_t allocator;
  uint64_t address;
  uint64_t bytes;
  uint64_t number;
};

enum subject_outcome { SUBJECT_PERFORMED = 0, SUBJECT_REFUSED, SUBJECT_FAILED };

struct subject_number {
  enum subject_status status;
  int32_t number;
};

struct subject_event {
  int32_t stream; /* -1: none */
  uint64_t number;
};

struct subject_range {
  enum subject_status status;
  uint64_t address;
  uint64_t bytes;
};

enum subject_state {
  SUBJECT_FREE = 0,
  SUBJECT_ALLOCATED,
  SUBJECT_PENDING_BLOCK,
  SUBJECT_UNMAPPED,
  SUBJECT_HELD
};

struct subject_block {
  enum subject_state state;
  int32_t slot;
  uint32_t generation;
  int32_t stream;
  int32_t pool;
  bool small;
  bool growable;
  uint64_t segment; /* first byte of it */
  uint64_t address;
  uint64_t size;
  uint64_t requested;
};

enum subject_statistic {
  SUBJECT_STAT_ALLOCATION = 0,
  SUBJECT_STAT_SEGMENT,
  SUBJECT_STAT_ACTIVE,
  SUBJECT_STAT_INACTIVE_SPLIT,
  SUBJECT_STAT_ALLOCATED_BYTES,
  SUBJECT_STAT_RESERVED_BYTES,
  SUBJECT_STAT_ACTIVE_BYTES,
  SUBJECT_STAT_INACTIVE_SPLIT_BYTES,
  SUBJECT_STAT_REQUESTED_BYTES,
  SUBJECT_STAT_OVERSIZE_ALLOCATIONS, /* from here on column ALL only */
  SUBJECT_STAT_OVERSIZE_SEGMENTS,
  SUBJECT_STATISTICS
};
enum { SUBJECT_ALL = 0, SUBJECT_SMALL, SUBJECT_LARGE, SUBJECT_COLUMNS };

struct subject_counter {
  uint64_t current;
  uint64_t peak;
  uint64_t allocated;
  uint64_t freed;
};

struct subject_calls {
  uint64_t alloc_retries;
  uint64_t ooms;
  uint64_t sync_all_streams;
  uint64_t device_allocs;
  uint64_t device_frees;
};

/* `self` is what `create` gave. */
struct subject {
  const char *name;
  void *(*create)(void); /* NULL: no memory */
  void (*destroy)(void *self);
  enum subject_status (*start)(void *self, const struct subject_config *config);

  struct subject_number (*stream_register)(void *self, uint64_t key);
  enum subject_status (*stream_gone)(void *self, int32_t stream, struct subject_caller caller);
  enum subject_status (*capture_begin)(void *self, int32_t stream);
  enum subject_status (*capture_end)(void *self, int32_t stream);
  enum subject_status (*record_use)(void *self, int32_t slot, uint32_t generation, int32_t stream,
                                    struct subject_caller caller);
  struct subject_event (*event_next)(void *self);
  enum subject_status (*complete)(void *self, int32_t stream, uint64_t number,
                                  struct subject_caller caller);
  uint64_t (*queue_head)(const void *self, int32_t stream);

  struct subject_number (*pool_create)(void *self, uint32_t allocator);
  enum subject_status (*pool_acquire)(void *self, int32_t pool);
  enum subject_status (*pool_leave)(void *self, int32_t pool);
  enum subject_status (*pool_lend)(void *self, int32_t pool, bool on);
  enum subject_status (*pool_no_split)(void *self, int32_t pool);
  enum subject_status (*scope_open)(void *self, int32_t pool, uint64_t thread, int32_t stream);
  enum subject_status (*scope_leave)(void *self, int32_t pool);

  struct subject_step (*allocate_begin)(void *self, uint64_t bytes, int32_t stream,
                                        struct subject_caller caller);
  struct subject_step (*empty_cache_begin)(void *self, int32_t pool, struct subject_caller caller);
  struct subject_step (*resume)(void *self, int32_t request, enum subject_outcome outcome,
                                uint64_t value);
  struct subject_step (*allocate_exactly)(void *self, uint64_t address, uint64_t bytes,
                                          int32_t stream, struct subject_caller caller);
  enum subject_status (*limit_set)(void *self, uint64_t limit, uint64_t collect_above);
  enum subject_status (*growable_set)(void *self, bool on);

  enum subject_status (*free_handle)(void *self, int32_t slot, uint32_t generation,
                                     struct subject_caller caller);
  enum subject_status (*free_address)(void *self, uint64_t address, struct subject_caller caller);
  enum subject_status (*retain)(void *self, int32_t slot, uint32_t generation);
  enum subject_status (*release)(void *self, int32_t slot, uint32_t generation,
                                 struct subject_caller caller);
  struct subject_range (*base)(const void *self, int32_t slot, uint32_t generation);

  /* A subject has room for a few checkpoints, named by numbers. */
  enum subject_status (*checkpoint_save)(void *self, int32_t pool, struct subject_caller caller,
                                         int32_t which);
  enum subject_status (*checkpoint_restore)(void *self, struct subject_caller caller,
                                            int32_t which);

  void (*reset_peaks)(void *self);
  void (*reset_totals)(void *self);
  uint64_t (*largest)(const void *self);
  struct subject_counter (*counter)(const void *self, enum subject_statistic kind, int column);
  struct subject_calls (*calls)(const void *self);

  /* Whether its own invariant holds, of which `why` (n bytes) tells what is broken. */
  bool (*is_sound)(const void *self, char *why, size_t n);

  /* All blocks, unmapped ones too, in any order; returns how many there are, at most `room` are written. */
  size_t (*blocks)(const void *self, struct subject_block *block, size_t room);
};

extern const struct subject subject_core;
extern const struct subject subject_model;

#endif
