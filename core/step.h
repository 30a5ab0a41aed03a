/* step.h - what a request asks the layer above to do, and what comes of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_STEP_H
#define ASHLAR_CORE_STEP_H

#include "core/manager.h"
#include "spec/pool.h"

enum ashlar_step_kind {
  ASHLAR_STEP_NONE = 0, /* never given */
  ASHLAR_STEP_ALLOCATE, /* ask the device, or the allocator, for `bytes` bytes; value: the address */
  ASHLAR_STEP_RELEASE,  /* give the segment of `bytes` bytes at `address` back to it */
  ASHLAR_STEP_RESERVE,  /* reserve a range of `bytes` addresses; value: the address */
  ASHLAR_STEP_UNRESERVE, /* give the range of `bytes` addresses at `address` back */
  ASHLAR_STEP_MAP,       /* map `bytes` bytes at `address` */
  ASHLAR_STEP_UNMAP, /* wait until `stream` is idle (-1: for nothing), then unmap `bytes` bytes at `address` */
  ASHLAR_STEP_WAIT,      /* wait until use `number` of `stream` is finished */
  ASHLAR_STEP_CALLBACKS, /* run the free-memory callbacks; value: 1 if one freed something, else 0 */
  ASHLAR_STEP_DONE, /* `slot`, `generation`, `address`, `bytes` name the block; slot -1: none was needed */
  ASHLAR_STEP_OUT_OF_MEMORY, /* the ladder is exhausted; `bytes`: the rounded size */
  ASHLAR_STEP_REJECTED, /* not served, and the device was not asked, by the settings; `bytes`: as above */
  ASHLAR_STEP_ERROR /* `status` says why */
};

struct ashlar_step {
  enum ashlar_step_kind kind;
  enum ashlar_status status; /* ASHLAR_OK unless kind is ASHLAR_STEP_ERROR */
  int32_t request;           /* number of the request; -1: there was none */
  int32_t slot;
  uint32_t generation; /* with slot: the handle of the block */
  int32_t stream;
  int32_t pool;
  uint32_t allocator; /* of the pool; 0: the device's own */
  uint64_t address;
  uint64_t bytes;
  uint64_t number;
};

enum ashlar_outcome {
  ASHLAR_OUTCOME_DONE = 0, /* performed */
  ASHLAR_OUTCOME_REFUSED,  /* no memory, for ALLOCATE and MAP; for other steps the same as FAILED */
  ASHLAR_OUTCOME_FAILED    /* failed otherwise: the request ends with ASHLAR_ERROR_DEVICE */
};

/* A step without block, stream or pool. O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == kind && \result.status == ASHLAR_OK && \result.request == -1 && \result.slot == -1 &&
      \result.stream == -1 && \result.bytes == 0 && \result.address == 0;
*/
struct ashlar_step ashlar_step_of(enum ashlar_step_kind kind);

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == ASHLAR_STEP_ERROR && \result.status == status && \result.request == -1 &&
      \result.slot == -1;
*/
struct ashlar_step ashlar_step_error(enum ashlar_status status);

/* A step about a block: its address, size, stream, pool and handle. O(1). */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= m->home[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result.kind == kind && \result.status == ASHLAR_OK && \result.request == -1 && \result.slot == slot &&
      \result.address == m->addr[slot] && \result.bytes == m->size[slot] &&
      \result.generation == m->generation[slot] && \result.stream == m->home[slot] % ASHLAR_STREAMS &&
      \result.pool == m->home[slot] / ASHLAR_STREAMS / ASHLAR_CLASSES;
    ensures REQ_POOL_allocator_about: is_from(*m, slot, \result.allocator);
*/
struct ashlar_step ashlar_step_about(const struct ashlar_manager *m, enum ashlar_step_kind kind,
                                     int32_t slot);

#endif
