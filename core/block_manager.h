/* block_manager.h - the public operations of the verified block manager.
 *
 * The manager decides and never calls out. An allocation may need the device; then the call returns a *step*, the
 * caller performs it, and reports the outcome with ashlar_resume, until the step is DONE, OUT_OF_MEMORY or ERROR:
 *
 *     struct ashlar_step step = ashlar_allocate_begin(m, bytes, stream);
 *     while (step.kind == ASHLAR_STEP_ALLOCATE || step.kind == ASHLAR_STEP_RELEASE)
 *       step = ashlar_resume(m, perform(&step, &address), address);
 *
 * One request may be in flight. Not thread safe: one lock around a manager.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_BLOCK_MANAGER_H
#define ASHLAR_CORE_BLOCK_MANAGER_H

#include "core/allocation.h"
#include "core/manager.h"
#include "core/reclaim.h"
#include "core/segment.h"
#include "core/stream_table.h"
#include "spec/block_manager.h"

enum ashlar_step_kind {
  ASHLAR_STEP_DONE =
      0, /* `slot`, `address`, `bytes` (the block's size) name the block; slot -1: none was needed */
  ASHLAR_STEP_ALLOCATE,      /* ask the device for `bytes` bytes */
  ASHLAR_STEP_RELEASE,       /* give the segment at `address` of `bytes` bytes back to the device */
  ASHLAR_STEP_OUT_OF_MEMORY, /* the ladder is exhausted; `bytes`: the rounded size */
  ASHLAR_STEP_ERROR          /* `status` says why; the state is as it was */
};

struct ashlar_step {
  enum ashlar_step_kind kind;
  enum ashlar_status status; /* ASHLAR_OK unless kind is ASHLAR_STEP_ERROR */
  int32_t slot;
  uint32_t generation; /* with slot: the handle of the block */
  uint64_t address;
  uint64_t bytes;
};

enum ashlar_outcome {
  ASHLAR_OUTCOME_DONE = 0, /* performed; for ALLOCATE, `address` is the start of the new segment */
  ASHLAR_OUTCOME_REFUSED   /* the device has no memory (only for ALLOCATE) */
};

/* Results of more than one value come back as one struct: an out pointer would be memory to the prover. */
struct ashlar_registration {
  enum ashlar_status status;
  int32_t
      stream; /* number of the stream; of the one that has the key already, with ASHLAR_ERROR_DUPLICATE */
};

struct ashlar_placement {
  enum ashlar_status status;
  int32_t slot; /* of the new block; -1 on failure */
};

/* What a slot holds. */
struct ashlar_block_view {
  uint64_t address;
  uint64_t size;
  uint64_t requested;
  uint64_t age;
  int32_t prev; /* slots of the neighbours in the segment, -1: none */
  int32_t next;
  int32_t pool;
  int32_t stream;
  uint32_t generation;
  uint8_t state;
};

/* PyTorch's defaults: no split limit, 20 MiB segments, no divisions, address order; complete policy. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_default: valid_config(\result);
*/
struct ashlar_config ashlar_default_config(void);

/* Starts a manager in zeroed storage. ASHLAR_ERROR_SETTING: a value is not allowed (divisions: 0 or a power of two;
   large_segment_size: a multiple of 2 MiB above 10 MiB; max_split_size and oversize_slack: at least
   large_segment_size). O(1), touches none of the slots. */
/*@ requires \valid(m);
    requires zeroed: zeroed_map(*m);
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ensures REQ_ATOMIC_init: \result != ASHLAR_OK ==> \result == ASHLAR_ERROR_SETTING && *m == \old(*m);
    ensures REQ_CANON_empty: \result == ASHLAR_OK ==> m->top == 0 && m->free_count == 0 && m->request.phase == 0;
    behavior started:
      assumes valid_config(config);
      ENSURES_MANAGER
      ensures done: \result == ASHLAR_OK;
    behavior refused:
      assumes !valid_config(config);
      ensures done: \result == ASHLAR_ERROR_SETTING;
*/
enum ashlar_status ashlar_manager_init(struct ashlar_manager *m, struct ashlar_config config);

/* Registers a stream with its ordering key (the handle's value, for PyTorch's order). Streams are numbered from 0 in
   the order of registration. ASHLAR_ERROR_DUPLICATE, ASHLAR_ERROR_CAPACITY. O(streams). */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns m->stream_count, m->stream_key[0 .. ASHLAR_STREAMS - 1], m->stream_order[0 .. ASHLAR_STREAMS - 1];
    ENSURES_MANAGER
    ensures REQ_STREAM_registered: \result.status == ASHLAR_OK ==> m->stream_key[\result.stream] == key &&
      m->stream_count == \old(m->stream_count) + 1;
    ensures REQ_CAPACITY_streams: \result.status == ASHLAR_ERROR_CAPACITY ==> m->stream_count == ASHLAR_STREAMS;
    ensures REQ_ATOMIC_register: \result.status != ASHLAR_OK ==> m->stream_count == \old(m->stream_count);
*/
struct ashlar_registration ashlar_stream_register(struct ashlar_manager *m, uint64_t key);

/* Number of the stream with this key, or -1. O(log streams). */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures found: \result != -1 ==> 0 <= \result < m->stream_count && m->stream_key[\result] == key;
    ensures none: \result == -1 ==> \forall integer k; 0 <= k < m->stream_count ==>
      m->stream_key[m->stream_order[k]] != key;
*/
int32_t ashlar_stream_find(const struct ashlar_manager *m, uint64_t key);

/* Asks for a block of at least `bytes` bytes on a stream. bytes == 0 gives DONE with slot -1: no block is needed.
   Errors: BUSY, STREAM, TOO_LARGE, CAPACITY. O(log blocks) comparisons. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures REQ_SIZE_served: \result.kind == ASHLAR_STEP_DONE ==> bytes > 0 ==> bytes <= \result.bytes;
    ensures REQ_SIZE_aligned_step: \result.kind == ASHLAR_STEP_DONE ==> bytes > 0 ==>
      \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> bytes > 0 ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->generation[\result.slot] == \result.generation;
    ensures REQ_FRAME_allocate: \result.kind == ASHLAR_STEP_DONE ==> others_kept(\old(*m), *m, \result.slot);
    ensures REQ_ATOMIC_allocate: \result.kind != ASHLAR_STEP_DONE ==> blocks_kept(\old(*m), *m);
    ensures REQ_LADDER_device_asked: \result.kind == ASHLAR_STEP_ALLOCATE ==> device_asked(*m) &&
      \result.bytes == m->request.segment && m->request.bytes == bytes;
    ensures REQ_CAPACITY_slots_allocate: \result.status == ASHLAR_ERROR_CAPACITY ==>
      m->top == ASHLAR_SLOTS && m->spare_count < 2;
*/
struct ashlar_step ashlar_allocate_begin(struct ashlar_manager *m, uint64_t bytes, int32_t stream);

/* Releases every segment that is free to the device, one a step; ends with DONE, slot -1. Error: BUSY. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures REQ_FRAME_empty: others_kept(\old(*m), *m, -1);
*/
struct ashlar_step ashlar_empty_cache_begin(struct ashlar_manager *m);

/* Reports the outcome of the last step, with the start of the new segment where the device gave one, and gives the next
   step. The device promises that a new segment is apart from every block. Errors: NO_REQUEST; RANGE and CAPACITY where
   the segment given cannot be used: it stays the caller's, and the request is over. */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires apart: device_asked(*m) ==> outcome == ASHLAR_OUTCOME_DONE ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] != ASHLAR_UNUSED ==>
      address + m->request.segment <= m->addr[j] || m->addr[j] + m->size[j] <= address;
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures REQ_FRAME_resume: \result.kind == ASHLAR_STEP_DONE ==> others_kept(\old(*m), *m, \result.slot);
    ensures REQ_ATOMIC_resume: \result.kind == ASHLAR_STEP_ERROR ==> blocks_kept(\old(*m), *m);
    ensures REQ_SIZE_enough_resumed: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==>
      \old(m->request.bytes) <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->generation[\result.slot] == \result.generation;
    ensures REQ_LADDER_device_asked: \result.kind == ASHLAR_STEP_ALLOCATE ==> device_asked(*m) &&
      \result.bytes == m->request.segment;
*/
struct ashlar_step ashlar_resume(struct ashlar_manager *m, enum ashlar_outcome outcome,
                                 uint64_t address);

/* Drops the request in flight; what it has released stays released. Error: NO_REQUEST. O(1). */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns m->request.phase;
    ENSURES_MANAGER
    ensures REQ_ATOMIC_abandon: blocks_kept(\old(*m), *m);
*/
enum ashlar_status ashlar_abandon(struct ashlar_manager *m);

/* Frees by handle. Errors: BUSY; SLOT for a number that never held a block; STALE_HANDLE where the block was freed (a
   double free, until the generation of a slot has wrapped, 2^32 blocks later). */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures REQ_FREE_exact: \old(m->request.phase) == ASHLAR_PHASE_IDLE ==> (\result == ASHLAR_OK <==>
      0 <= slot < \old(m->top) && \old(*m).state[slot] == ASHLAR_ALLOCATED && \old(*m).generation[slot] == generation);
    ensures REQ_FREE_done: \result == ASHLAR_OK ==>
      m->state[slot] != ASHLAR_ALLOCATED && m->generation[slot] != generation;
    ensures REQ_FRAME_free: others_kept(\old(*m), *m, slot);
    ensures REQ_ATOMIC_free: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_free(struct ashlar_manager *m, int32_t slot, uint32_t generation);

/* Frees by start address: OK exactly where an allocated block starts there. Errors: BUSY; UNKNOWN_ADDRESS for anything
   else. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures REQ_FREE_done: \result == ASHLAR_OK ==> \exists integer j; 0 <= j < \old(m->top) &&
      \old(*m).state[j] == ASHLAR_ALLOCATED && \old(*m).addr[j] == address && m->state[j] != ASHLAR_ALLOCATED &&
      others_kept(\old(*m), *m, j);
    ensures REQ_FREE_address_unknown: \result == ASHLAR_ERROR_UNKNOWN_ADDRESS ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_ALLOCATED ==> m->addr[j] != address;
    ensures REQ_FREE_exact: \old(m->request.phase) == ASHLAR_PHASE_IDLE ==>
      \result == ASHLAR_OK || \result == ASHLAR_ERROR_UNKNOWN_ADDRESS;
    ensures REQ_ATOMIC_free: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_free_address(struct ashlar_manager *m, uint64_t address);

/* Slot of the allocated block that starts at the address, or -1. Expected O(1). */
/*@ requires \valid(m); REQUIRES_MAP(-1)
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_found: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED &&
      m->addr[\result] == address;
    ensures REQ_FREE_found_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_ALLOCATED ==> m->addr[j] != address;
*/
int32_t ashlar_find(const struct ashlar_manager *m, uint64_t address);

/* What the next allocation would take: slot of the free block, or -1 where the device would be asked. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_choice: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      bytes <= m->size[\result];
*/
int32_t ashlar_choose(const struct ashlar_manager *m, uint64_t bytes, int32_t stream);

/* --- reconstructing a given state (audit, replay) --- */

/* Adds a segment as one free block. Caller's promise: the range is apart from every block. Errors: BUSY, STREAM, RANGE,
   CAPACITY. */
/*@ requires \valid(m); REQUIRES_MANAGER
    requires apart: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
      address + size <= m->addr[j] || m->addr[j] + m->size[j] <= address;
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures added: \result.status == ASHLAR_OK ==> 0 <= \result.slot < m->top && whole_free(*m, \result.slot) &&
      m->addr[\result.slot] == address && m->size[\result.slot] == size;
    ensures REQ_FRAME_add: others_kept(\old(*m), *m, -1);
    ensures REQ_ATOMIC_add: \result.status != ASHLAR_OK ==> blocks_kept(\old(*m), *m);
*/
struct ashlar_placement ashlar_segment_add(struct ashlar_manager *m, uint64_t address,
                                           uint64_t size, int32_t pool, int32_t stream);

/* Forgets a segment that is one free block. Errors: BUSY, SLOT. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures gone: \result == ASHLAR_OK ==> m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_remove: others_kept(\old(*m), *m, -1);
    ensures REQ_ATOMIC_remove: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_segment_remove(struct ashlar_manager *m, int32_t slot);

/* Allocates exactly [address, address + size) out of the free block `slot`; what is left before and behind stays free.
   requested <= size. Errors: BUSY, SLOT, RANGE, CAPACITY. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures placed: \result.status == ASHLAR_OK ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == address && m->size[\result.slot] == size;
    ensures REQ_FRAME_place: others_kept(\old(*m), *m, \result.slot);
    ensures REQ_ATOMIC_place: \result.status != ASHLAR_OK ==> blocks_kept(\old(*m), *m);
*/
struct ashlar_placement ashlar_allocate_at(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size, uint64_t requested);

/* Moves the end of an allocated block: into the free block behind it, or back. Errors: BUSY, SLOT, CAPACITY, and RANGE
   where size is 0, no multiple of 512, below the block's request or beyond the room. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns ASSIGNS_MANAGER;
    ENSURES_MANAGER
    ensures resized: \result == ASHLAR_OK ==> m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size;
    ensures REQ_FRAME_resize: others_kept(\old(*m), *m, slot);
    ensures REQ_ATOMIC_resize: \result != ASHLAR_OK ==> blocks_kept(\old(*m), *m);
*/
enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size);

/* --- looking --- */

/* The block in a slot; state ASHLAR_UNUSED for an unused slot or a number out of range. O(1). */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns \nothing;
    ensures state: \result.state == (0 <= slot < m->top ? m->state[slot] : ASHLAR_UNUSED);
*/
struct ashlar_block_view ashlar_block(const struct ashlar_manager *m, int32_t slot);

/* Slots below this number may hold blocks. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == m->top;
*/
int32_t ashlar_slot_limit(const struct ashlar_manager *m);

/* The releases that would come next, without doing them: whole free blocks in release order. Pass -1 for the first,
   then the slot that was returned; -1: no more. */
/*@ requires \valid(m); REQUIRES_MANAGER
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_order: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
*/
int32_t ashlar_release_next(const struct ashlar_manager *m, int32_t slot);

#endif
