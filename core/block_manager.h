/* block_manager.h - the public operations of the verified block manager.
 *
 * The manager decides and never calls out. A request may need the device; then the call returns a *step*, the caller
 * performs it, and reports the outcome with ashlar_resume, until the step is DONE, OUT_OF_MEMORY, REJECTED or ERROR:
 *
 *     struct ashlar_step step = ashlar_allocate_begin(m, bytes, stream, caller);
 *     while (step.kind < ASHLAR_STEP_DONE)
 *       step = ashlar_resume(m, step.request, perform(&step, &value), value);
 *
 * Between the steps other calls may come in, and up to ASHLAR_REQUESTS requests be in flight; the faithful policy admits one
 * and answers ASHLAR_ERROR_BUSY meanwhile. What a request has in its hands is *held*: nobody's. Not thread safe: one
 * lock around each call, and none while the device works.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_BLOCK_MANAGER_H
#define ASHLAR_CORE_BLOCK_MANAGER_H

#include "core/ladder.h"
#include "core/manager.h"
#include "core/pool.h"
#include "core/step.h"
#include "spec/block_manager.h"
#include "spec/flight.h"
#include "spec/rebuild.h"

/* Who calls. A caller is in a capture where its stream is captured. */
struct ashlar_caller {
  int32_t stream;  /* the current stream of the calling thread; -1: none */
  uint64_t thread; /* any number that names the calling thread */
};

/* Results of more than one value come back as one struct: an out pointer would be memory to the prover. */
struct ashlar_registration {
  enum ashlar_status status;
  int32_t
      stream; /* number of the stream; with ASHLAR_ERROR_DUPLICATE of the one that has the key */
};

struct ashlar_placement {
  enum ashlar_status status;
  int32_t slot; /* of the new block; -1 on failure */
};

struct ashlar_freed {
  enum ashlar_status status;
  int32_t waits; /* 1: uses were submitted; ask ashlar_event_next until it has none */
};

struct ashlar_completed {
  enum ashlar_status status;
  int32_t freed; /* blocks that are free now */
};

struct ashlar_submission {
  int32_t stream; /* -1: none */
  uint64_t number;
};

struct ashlar_range {
  enum ashlar_status status;
  uint64_t address;
  uint64_t bytes;
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
  int32_t class;
  int32_t stream;
  uint32_t generation;
  uint8_t state;
  uint8_t growable;
};

/* --- settings --- */

/* PyTorch's defaults: no split limit, 20 MiB segments, no divisions, address order; complete policy; growable segments
   off. O(1). */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_SIZE_default: valid_config(\result);
*/
struct ashlar_config ashlar_default_config(void);

/* Starts a manager in zeroed storage. ASHLAR_ERROR_SETTING: a value is not allowed (divisions: 0 or a power of two;
   large_segment_size: a multiple of 2 MiB above 10 MiB; max_split_size and oversize_slack: at least
   large_segment_size; growable and callbacks: 0 or 1; device_total: below 2^60, and not 0 where growable is 1;
   reject_above: below 2^60). O(1), touches none of the slots. */
/*@ requires \valid(m);
    requires zeroed: NOTHING_YET;
    terminates \true; exits \false;
    assigns m->config, m->growable_on, m->limit, m->collect_above;
    ensures REQ_SIZE_settings_refused: valid_config(config) ? \result == ASHLAR_OK : \result == ASHLAR_ERROR_SETTING;
    ensures REQ_ATOMIC_init: \result != ASHLAR_OK ==> *m == \old(*m);
    behavior valid:
      assumes valid_config(config);
      ENSURES_SERVING
      ensures set: m->config == config && m->growable_on == config.growable;
      ensures REQ_CANON_empty: NOTHING_YET;
      ensures REQ_LADDER_limit_unset: m->limit == UINT64_MAX && m->collect_above == UINT64_MAX;
*/
enum ashlar_status ashlar_manager_init(struct ashlar_manager *m, struct ashlar_config config);

/* Limits reserved memory, and sets from where on the collection by age releases: bytes, UINT64_MAX: off. O(1). */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns m->limit, m->collect_above;
    ENSURES_SERVING
    ensures set: \result == ASHLAR_OK && m->limit == limit && m->collect_above == collect_above;
*/
enum ashlar_status ashlar_limit_set(struct ashlar_manager *m, uint64_t limit,
                                    uint64_t collect_above);

/* Switches growable segments on or off for requests to come; those that exist stay. ASHLAR_ERROR_SETTING: on, and the bytes
   of the device are unknown. O(1). */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns m->growable_on;
    ENSURES_SERVING
    ensures REQ_GROW_toggle_refused: on != 0 && m->config.device_total == 0 ? \result == ASHLAR_ERROR_SETTING &&
      m->growable_on == \old(m->growable_on) : \result == ASHLAR_OK && (m->growable_on != 0 <==> on != 0);
*/
enum ashlar_status ashlar_growable_set(struct ashlar_manager *m, int on);

/* --- streams and uses: stream_calls.c --- */

/* Registers a stream with its ordering key (the handle's value, for PyTorch's order); its number is the next one, or that
   of a stream that is gone and has no segment left. ASHLAR_ERROR_DUPLICATE, ASHLAR_ERROR_STREAMS. O(streams). */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_STREAMS;
    ENSURES_STANDING
    ensures REQ_STREAM_registered_added: \result.status == ASHLAR_OK ==> is_stream(*m, \result.stream) &&
      m->stream_key[\result.stream] == key && m->stream_captured[\result.stream] == 0;
    ensures REQ_STREAM_registered_new: \result.status == ASHLAR_OK ==> !is_stream(\old(*m), \result.stream) &&
      (\result.stream < \old(m->stream_count) ==> \old(*m).stream_segments[\result.stream] == 0);
    ensures REQ_STREAM_registered_others: \forall integer s; 0 <= s < \old(m->stream_count) ==> s != \result.stream ==>
      m->stream_key[s] == \old(*m).stream_key[s] && m->stream_gone[s] == \old(*m).stream_gone[s] &&
      m->stream_captured[s] == \old(*m).stream_captured[s];
    ensures REQ_STREAM_registered_duplicate: \result.status == ASHLAR_ERROR_DUPLICATE ==> is_stream(*m, \result.stream) &&
      m->stream_key[\result.stream] == key;
    ensures REQ_CAPACITY_streams_full: \result.status == ASHLAR_ERROR_STREAMS ==> \result.stream == -1 &&
      m->stream_count == ASHLAR_STREAM_DEFERRED && \forall integer s; 0 <= s < m->stream_count ==>
      m->stream_gone[s] == 0 || 0 < m->stream_segments[s];
    ensures REQ_STREAM_registered_answer: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_DUPLICATE ||
      \result.status == ASHLAR_ERROR_STREAMS;
    ensures REQ_ATOMIC_register: \result.status != ASHLAR_OK ==> *m == \old(*m);
*/
struct ashlar_registration ashlar_stream_register(struct ashlar_manager *m, uint64_t key);

/* Number of the stream with this key, or -1. O(log streams), and linear in those that are gone and had the key. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_registered_found: \result != -1 ==> is_stream(*m, \result) && m->stream_key[\result] == key;
    ensures REQ_STREAM_registered_none: \result == -1 ==> \forall integer s; is_stream(*m, s) ==>
      m->stream_key[s] != key;
*/
int32_t ashlar_stream_find(const struct ashlar_manager *m, uint64_t key);

/* The stream goes away: everything submitted to it is finished, and nothing more will use it. Its uses are forgotten,
   its cached blocks serve nobody and can be released. STREAM; CAPTURE while it, or the caller, is in a capture; BUSY
   while a request is for it or waits for it. Linear in the records of uses, and O(free blocks) moves for each block
   that is free then. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_FINISHED, m->stream_gone[0 .. ASHLAR_STREAMS - 1];
    ENSURES_STANDING
    ensures REQ_STREAM_gone_answer: !is_stream(\old(*m), stream) ? \result == ASHLAR_ERROR_STREAM :
      \old(in_capture(*m, stream)) || \old(in_capture(*m, caller.stream)) ? \result == ASHLAR_ERROR_CAPTURE :
      \old(is_busy(*m)) ? \result == ASHLAR_ERROR_BUSY : \result == ASHLAR_OK || \result == ASHLAR_ERROR_BUSY;
    ensures REQ_STREAM_gone_wanted: \result == ASHLAR_OK ==> \forall integer r; 0 <= r < ASHLAR_REQUESTS ==>
      !wants_stream(m->request[r], stream);
    ensures REQ_ATOMIC_busy_wanted: \result == ASHLAR_ERROR_BUSY ==> is_busy(*m) || \exists integer r;
      0 <= r < ASHLAR_REQUESTS && wants_stream(m->request[r], stream);
    ensures REQ_STREAM_gone_gone: \result == ASHLAR_OK ==> !is_stream(*m, stream);
    ensures REQ_STREAM_gone_drained: \result == ASHLAR_OK ==> \forall integer u; 0 <= u < m->use_top ==>
      0 <= m->use_block[u] ==> m->use_stream[u] == stream ==>
      m->use_number[u] == 0 && m->state[m->use_block[u]] == ASHLAR_PENDING;
    ensures others: \forall integer s; 0 <= s < m->stream_count ==> s != stream ==>
      m->stream_gone[s] == \old(*m).stream_gone[s];
    ensures REQ_FRAME_gone: owned_kept(\old(*m), *m);
    ensures REQ_ATOMIC_gone: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_stream_gone(struct ashlar_manager *m, int32_t stream,
                                      struct ashlar_caller caller);

/* A capture of the stream begins, or ends, whether it succeeded or not. STREAM; CAPTURE: it has begun, or has not. O(1). */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns m->stream_captured[0 .. ASHLAR_STREAMS - 1];
    ENSURES_STANDING
    ensures REQ_LADDER_capture_begin: !is_stream(*m, stream) ? \result == ASHLAR_ERROR_STREAM :
      \old(*m).stream_captured[stream] != 0 ? \result == ASHLAR_ERROR_CAPTURE : \result == ASHLAR_OK;
    ensures REQ_LADDER_capture_begun: \result == ASHLAR_OK ==> in_capture(*m, stream);
    ensures others: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> s != stream ==>
      m->stream_captured[s] == \old(*m).stream_captured[s];
    ensures REQ_ATOMIC_capture: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_capture_begin(struct ashlar_manager *m, int32_t stream);
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns m->stream_captured[0 .. ASHLAR_STREAMS - 1];
    ENSURES_STANDING
    ensures REQ_LADDER_capture_end: !is_stream(*m, stream) ? \result == ASHLAR_ERROR_STREAM :
      \old(*m).stream_captured[stream] == 0 ? \result == ASHLAR_ERROR_CAPTURE : \result == ASHLAR_OK;
    ensures REQ_LADDER_capture_ended: \result == ASHLAR_OK ==> !in_capture(*m, stream);
    ensures others: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> s != stream ==>
      m->stream_captured[s] == \old(*m).stream_captured[s];
    ensures REQ_ATOMIC_capture: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_capture_end(struct ashlar_manager *m, int32_t stream);

/* Records that an allocated block is used on a stream; its own needs no record. BUSY; SLOT and STALE_HANDLE as
   ashlar_free; STREAM; USES. Linear in the streams that use the block. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDED;
    ENSURES_STANDING
    ensures REQ_FREE_distinct_use: call_answer(*m, slot, generation, \result);
    ensures REQ_STREAM_use_answer: !is_busy(*m) ==> is_handle(*m, slot, generation) ==>
      (!is_stream(*m, stream) ? \result == ASHLAR_ERROR_STREAM :
        m->home[slot] % ASHLAR_STREAMS == stream ? \result == ASHLAR_OK :
          \result == ASHLAR_OK || \result == ASHLAR_ERROR_USES);
    ensures REQ_STREAM_use_recorded: \result == ASHLAR_OK ==> m->home[slot] % ASHLAR_STREAMS != stream ==>
      \exists integer u; 0 <= u < m->use_top && m->use_block[u] == slot && m->use_stream[u] == stream;
    ensures REQ_STREAM_use_own: \result == ASHLAR_OK ==> m->home[slot] % ASHLAR_STREAMS == stream ==> *m == \old(*m);
    ensures REQ_ATOMIC_use: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_record_use(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                     int32_t stream, struct ashlar_caller caller);

/* The next use that was submitted and that the caller was not told of: an event is to be recorded on its stream. Streams
   ascending by key. O(streams). */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns m->told[0 .. ASHLAR_STREAMS - 1];
    ENSURES_STANDING
    ensures REQ_STREAM_queue_told: \result.stream != -1 ==> 0 <= \result.stream < m->stream_count &&
      m->told[\result.stream] == \result.number && m->completed[\result.stream] < \result.number <=
      m->submitted[\result.stream];
    ensures REQ_STREAM_queue_once: \result.stream != -1 ==> \old(*m).told[\result.stream] < \result.number &&
      (\result.number == \old(*m).told[\result.stream] + 1 || \result.number == m->completed[\result.stream] + 1);
    ensures REQ_STREAM_queue_order: \result.stream != -1 ==> \forall integer s; 0 <= s < m->stream_count ==>
      m->stream_rank[s] < m->stream_rank[\result.stream] ==> m->submitted[s] <= m->told[s];
    ensures REQ_STREAM_queue_none: \result.stream == -1 ==> \forall integer s; 0 <= s < m->stream_count ==>
      m->submitted[s] <= m->told[s];
    ensures REQ_STREAM_queue_others: \forall integer s; 0 <= s < m->stream_count ==> s != \result.stream ==>
      m->told[s] == \old(*m).told[s] || (\old(*m).told[s] < m->told[s] && m->told[s] == m->completed[s]);
*/
struct ashlar_submission ashlar_event_next(struct ashlar_manager *m);

/* All uses of the stream up to a number are finished. BUSY; STREAM; RANGE: no such use was submitted. Linear in the
   uses that are finished and, outside a capture, in those of deferred blocks; O(free blocks) moves for each block that
   is free then. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_FINISHED;
    ENSURES_STANDING
    ensures REQ_STREAM_poll_answer: \old(is_busy(*m)) ? \result.status == ASHLAR_ERROR_BUSY :
      !is_stream(*m, stream) ? \result.status == ASHLAR_ERROR_STREAM :
      \old(*m).submitted[stream] < number ? \result.status == ASHLAR_ERROR_RANGE : \result.status == ASHLAR_OK;
    ensures REQ_STREAM_poll_done: \result.status == ASHLAR_OK ==> \forall integer u; 0 <= u < m->use_top ==>
      0 <= m->use_block[u] ==> m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures REQ_STREAM_poll_completed: \result.status == ASHLAR_OK ==> number <= m->completed[stream];
    ensures REQ_STREAM_defer_completed: \result.status == ASHLAR_OK ==> !in_capture(*m, caller.stream) ==>
      \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
    ensures count: 0 <= \result.freed;
    ensures REQ_FRAME_complete: owned_kept(\old(*m), *m);
    ensures REQ_ATOMIC_complete: \result.status != ASHLAR_OK ==> \result.freed == 0 && *m == \old(*m);
*/
struct ashlar_completed ashlar_complete(struct ashlar_manager *m, int32_t stream, uint64_t number,
                                        struct ashlar_caller caller);

/* Number of the first use of the stream that is submitted and not finished: what to ask the device for; 0: none. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_queue_head: 0 < \result ==> 0 <= stream < m->stream_count && \result <= m->submitted[stream] &&
      \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==> m->use_stream[u] == stream ==>
      0 < m->use_number[u] ==> \result <= m->use_number[u];
    ensures REQ_STREAM_queue_empty: \result == 0 ==> 0 <= stream < m->stream_count ==> \forall integer u;
      0 <= u < m->use_top ==> 0 <= m->use_block[u] ==> m->use_stream[u] == stream ==> m->use_number[u] == 0;
*/
uint64_t ashlar_queue_head(const struct ashlar_manager *m, int32_t stream);

/* --- pools: pool.h has the rest --- */

/* Takes a user from a private pool, or closes its scope; the pool ends where nothing leads to it any more. Errors of
   ashlar_pool_release and ashlar_scope_close. O(pools). */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns ASSIGNS_END, m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS], m->pool_no_split[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_SERVING
*/
enum ashlar_status ashlar_pool_leave(struct ashlar_manager *m, int32_t pool);
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns ASSIGNS_END, m->scope_serial[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_SERVING
*/
enum ashlar_status ashlar_scope_leave(struct ashlar_manager *m, int32_t pool);

/* --- requests --- */

/* Asks for a block of at least `bytes` bytes on a stream. bytes == 0 gives DONE with slot -1: no block is needed.
   Errors, with the state as it was: BUSY, STREAM, TOO_LARGE, REQUESTS, CAPACITY. O(pools + log bytes); deferred blocks
   go on (ashlar_pending_go_on) where the caller is outside a capture; then the rungs up to the first step:
   ashlar_ladder_go. */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->size[\result.slot] == \result.bytes && m->generation[\result.slot] == \result.generation;
    ensures REQ_SIZE_enough_served: \result.kind == ASHLAR_STEP_DONE ==> bytes > 0 ==> \result.slot != -1 &&
      bytes <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_SIZE_nothing: bytes == 0 ==> \result.status == ASHLAR_OK ==> \result.kind == ASHLAR_STEP_DONE &&
      \result.slot == -1 && *m == \old(*m);
    ensures REQ_FRAME_allocate:
      FRAME(\old(*m), \result.request, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1);
    ensures REQ_ATOMIC_allocate: \result.kind == ASHLAR_STEP_ERROR ==> *m == \old(*m);
    ensures REQ_CAPACITY_slots_allocate: \result.status == ASHLAR_ERROR_CAPACITY ==>
      ROOM(*m) < ASHLAR_REQUEST_SLOTS * (m->in_flight + 1);
*/
struct ashlar_step ashlar_allocate_begin(struct ashlar_manager *m, uint64_t bytes, int32_t stream,
                                         struct ashlar_caller caller);

/* Releases cached memory, of all pools that may be released (-1) or of one private pool, if it is freeable: steps
   RELEASE, UNMAP, UNRESERVE and WAIT, then DONE with slot -1. Errors: BUSY, REQUESTS, POOL. O(1); deferred blocks go on
   as above; then the rungs up to the first step: ashlar_ladder_go. */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ensures REQ_FRAME_empty: FRAME(\old(*m), \result.request, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1);
    ensures REQ_ATOMIC_empty: \result.kind == ASHLAR_STEP_ERROR ==> *m == \old(*m);
*/
struct ashlar_step ashlar_empty_cache_begin(struct ashlar_manager *m, int32_t pool,
                                            struct ashlar_caller caller);

/* Reports the outcome of a request's last step and gives its next one. `value`: what the step asks for. The device
   promises that a new segment or range is apart from every block. Errors end the request: DEVICE where the step failed
   other than for want of memory; RANGE and CAPACITY where what was given cannot be used (it stays the caller's).
   NO_REQUEST. O(pools), linear in the uses that are finished, O(free blocks) moves for each block that changes hands,
   linear in a bucket of the address map; and the rungs up to the next step: ashlar_ladder_go. */
/*@ REQUIRES_SERVING
    requires apart: 0 <= request < ASHLAR_REQUESTS ==> m->request[request].rung != ASHLAR_RUNG_IDLE ==>
      outcome == ASHLAR_OUTCOME_DONE ==> (m->request[request].step == ASHLAR_STEP_ALLOCATE ||
        m->request[request].step == ASHLAR_STEP_RESERVE) ==> APART(value, m->request[request].asked);
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->size[\result.slot] == \result.bytes && m->generation[\result.slot] == \result.generation;
    ensures REQ_FRAME_resume: FRAME(\old(*m), request, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1);
    ensures REQ_SIZE_enough_resumed: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==>
      0 <= request < ASHLAR_REQUESTS && \old(m->request[request].bytes) <= \result.bytes &&
      \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_ATOMIC_resume: \result.status == ASHLAR_ERROR_NO_REQUEST ==> *m == \old(*m);
    ensures REQ_ATOMIC_resume_unknown: !(0 <= request < ASHLAR_REQUESTS && \old(m->request[request].rung) != ASHLAR_RUNG_IDLE) ==>
      \result.kind == ASHLAR_STEP_ERROR && \result.status == ASHLAR_ERROR_NO_REQUEST && *m == \old(*m);
    ensures REQ_ATOMIC_leaving_nobodys: \result.kind == ASHLAR_STEP_ERROR ==> HOLDS_NONE(request) || *m == \old(*m);
*/
struct ashlar_step ashlar_resume(struct ashlar_manager *m, int32_t request,
                                 enum ashlar_outcome outcome, uint64_t value);

/* Drops a request; what it has released stays released, and a release that was not reported counts as done. NO_REQUEST.
   O(pools), and O(free blocks) moves for each block that it holds. */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ensures REQ_FRAME_abandon: FRAME(\old(*m), request, -1);
    ensures REQ_ATOMIC_abandon: \result != ASHLAR_OK ==> *m == \old(*m);
    ensures dropped: \result == ASHLAR_OK ==> m->request[request].rung == ASHLAR_RUNG_IDLE && HOLDS_NONE(request);
*/
enum ashlar_status ashlar_abandon(struct ashlar_manager *m, int32_t request);

/* What the next allocation would take: slot of the free block, or -1. O(pools + log bytes), and O(log free blocks), the
   latter again for each block of a growable segment that is passed over. */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_choice: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      bytes <= m->size[\result];
*/
int32_t ashlar_choose(const struct ashlar_manager *m, uint64_t bytes, int32_t stream,
                      struct ashlar_caller caller);

/* Allocates at an address: out of the free block there, of the list of the request; the device is not asked. Errors as
   ashlar_allocate_begin; RANGE: no multiple of 512; MISFIT: no such block has room from there on. O(pools + log bytes),
   O(log free blocks) for each block of the list, O(free blocks) moves, linear in a bucket of the address map; deferred
   blocks go on before, as in ashlar_allocate_begin. */
/*@ REQUIRES_SERVING
    terminates \true; exits \false;
    assigns *m;
    ENSURES_SERVING
    ensures REQ_FREE_handle: \result.kind == ASHLAR_STEP_DONE ==> \result.slot != -1 ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == \result.address &&
      m->size[\result.slot] == \result.bytes && m->generation[\result.slot] == \result.generation;
    ensures REQ_SIZE_enough_served: \result.kind == ASHLAR_STEP_DONE ==> bytes > 0 ==> \result.slot != -1 &&
      bytes <= \result.bytes && \result.bytes % 512 == 0 && \result.address % 512 == 0;
    ensures REQ_SIZE_nothing_exactly: bytes == 0 ==> \result.status == ASHLAR_OK ==>
      \result.kind == ASHLAR_STEP_DONE && \result.slot == -1 && *m == \old(*m);
    ensures REQ_FRAME_exactly: FRAME(\old(*m), -1, \result.kind == ASHLAR_STEP_DONE ? \result.slot : -1);
*/
struct ashlar_step ashlar_allocate_exactly(struct ashlar_manager *m, uint64_t address,
                                           uint64_t bytes, int32_t stream,
                                           struct ashlar_caller caller);

/* --- blocks of an owner: owner.c --- */

/* Frees by handle. Errors: BUSY; SLOT for a number that never held a block; STALE_HANDLE where the block was freed (a
   double free, until the generation of a slot has wrapped, 2^32 blocks later); SHARED. Linear in the streams that use
   the block and in its bucket of the address map; O(free blocks) moves where none does. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_GIVEN_BACK;
    ENSURES_STANDING
    ensures REQ_FREE_exact_answer: call_answer(\old(*m), slot, generation, \result.status);
    ensures REQ_FREE_exact: !is_busy(*m) ==> \old(is_handle(*m, slot, generation)) ==>
      (1 < m->references[slot] ? \result.status == ASHLAR_ERROR_SHARED : \result.status == ASHLAR_OK);
    ENSURES_FREED(slot)
    ensures REQ_ATOMIC_free: \result.status != ASHLAR_OK ==> \result.waits == 0 && *m == \old(*m);
*/
struct ashlar_freed ashlar_free(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                struct ashlar_caller caller);

/* Frees by start address. Errors: BUSY, SHARED; INTERIOR, FREED, UNKNOWN_ADDRESS: what is there instead. As
   ashlar_free; where nothing starts there linear in the slots. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_GIVEN_BACK;
    ENSURES_STANDING
    ensures REQ_ATOMIC_busy_free: is_busy(*m) <==> \result.status == ASHLAR_ERROR_BUSY;
    ensures REQ_FREE_address_freed: \result.status == ASHLAR_OK ==> \exists integer i; 0 <= i < m->top &&
      \old(*m).state[i] == ASHLAR_ALLOCATED && m->addr[i] == address && m->state[i] != ASHLAR_ALLOCATED &&
      others_kept(\old(*m), *m, i);
    ensures REQ_FREE_address_found: !is_busy(*m) ==> \forall integer i; 0 <= i < m->top ==>
      \old(*m).state[i] == ASHLAR_ALLOCATED ==> m->addr[i] == address ==>
      (1 < m->references[i] ? \result.status == ASHLAR_ERROR_SHARED : \result.status == ASHLAR_OK);
    ensures REQ_FREE_distinct_interior: \result.status == ASHLAR_ERROR_INTERIOR ==> \exists integer i;
      contains(*m, i, address) && m->addr[i] != address;
    ensures REQ_FREE_distinct_freed: \result.status == ASHLAR_ERROR_FREED ==> \exists integer i;
      contains(*m, i, address) && m->addr[i] == address && m->state[i] != ASHLAR_ALLOCATED;
    ensures REQ_FREE_distinct_unknown: \result.status == ASHLAR_ERROR_UNKNOWN_ADDRESS ==> \forall integer i;
      !contains(*m, i, address);
    ensures REQ_FREE_distinct_answers: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_BUSY ||
      \result.status == ASHLAR_ERROR_SHARED || \result.status == ASHLAR_ERROR_INTERIOR ||
      \result.status == ASHLAR_ERROR_FREED || \result.status == ASHLAR_ERROR_UNKNOWN_ADDRESS;
    ensures REQ_ATOMIC_free: \result.status != ASHLAR_OK ==> \result.waits == 0 && *m == \old(*m);
*/
struct ashlar_freed ashlar_free_address(struct ashlar_manager *m, uint64_t address,
                                        struct ashlar_caller caller);

/* A further reference to a block. BUSY, SLOT, STALE_HANDLE, COUNT. O(1). */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ALL(references);
    ENSURES_STANDING
    ensures REQ_LIFETIME_stale_retain: call_answer(*m, slot, generation, \result);
    ensures REQ_LIFETIME_stale_greatest: !is_busy(*m) ==> is_handle(*m, slot, generation) ==>
      (\old(*m).references[slot] == UINT32_MAX ? \result == ASHLAR_ERROR_COUNT : \result == ASHLAR_OK);
    ensures REQ_LIFETIME_once_retain: \result == ASHLAR_OK ==> m->references[slot] == \old(*m).references[slot] + 1;
    ensures others: \forall integer i; 0 <= i < m->top ==> i != slot ==> m->references[i] == \old(*m).references[i];
    ensures REQ_ATOMIC_retain: \result != ASHLAR_OK ==> *m == \old(*m);
*/
enum ashlar_status ashlar_retain(struct ashlar_manager *m, int32_t slot, uint32_t generation);

/* Drops a reference; with the last one the block is freed. BUSY, SLOT, STALE_HANDLE. O(1); with the last one as
   ashlar_free. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_GIVEN_BACK, ALL(references);
    ENSURES_STANDING
    ensures REQ_LIFETIME_stale_release: call_answer(\old(*m), slot, generation, \result.status);
    ensures REQ_LIFETIME_once_answer: !is_busy(*m) ==> \old(is_handle(*m, slot, generation)) ==>
      \result.status == ASHLAR_OK;
    ensures REQ_LIFETIME_once_drop: \result.status == ASHLAR_OK ==> 1 < \old(*m).references[slot] ==>
      is_handle(*m, slot, generation) && m->references[slot] == \old(*m).references[slot] - 1 && \result.waits == 0 &&
      blocks_kept(\old(*m), *m);
    ensures REQ_LIFETIME_once_last: \result.status == ASHLAR_OK ==> \old(*m).references[slot] <= 1 ==>
      m->state[slot] != ASHLAR_ALLOCATED;
    ensures others: \forall integer i; 0 <= i < m->top ==> i != slot ==> m->references[i] == \old(*m).references[i];
    ensures REQ_FRAME_dropped: \result.status == ASHLAR_OK ==> others_kept(\old(*m), *m, slot);
    ensures REQ_ATOMIC_release: \result.status != ASHLAR_OK ==> \result.waits == 0 && *m == \old(*m);
*/
struct ashlar_freed ashlar_release(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                   struct ashlar_caller caller);

/* The ordinary segment of an allocated block: its first byte and its size. SLOT, STALE_HANDLE, GROWABLE. Linear in the
   blocks of the segment. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_distinct_base: handle_answer(*m, slot, generation, \result.status);
    ensures REQ_TILE_base_answer: is_handle(*m, slot, generation) ==>
      (m->growable[slot] != 0 ? \result.status == ASHLAR_ERROR_GROWABLE : \result.status == ASHLAR_OK);
    ensures REQ_TILE_base_first: \result.status == ASHLAR_OK ==> \result.address == m->base[slot] &&
      \result.address <= m->addr[slot] && m->addr[slot] + m->size[slot] <= \result.address + \result.bytes;
    ensures REQ_TILE_base_last: \result.status == ASHLAR_OK ==> \exists integer i; 0 <= i < m->top &&
      m->state[i] != ASHLAR_UNUSED && m->base[i] == \result.address && m->next[i] == -1 &&
      m->addr[i] + m->size[i] == \result.address + \result.bytes;
    ensures REQ_TILE_base_none: \result.status != ASHLAR_OK ==> \result.address == 0 && \result.bytes == 0;
*/
struct ashlar_range ashlar_base(const struct ashlar_manager *m, int32_t slot, uint32_t generation);

/* Slot of the allocated block that starts at the address, or -1. Linear in a bucket of the address map, expected
   O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_FREE_found: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED &&
      m->addr[\result] == address;
    ensures REQ_FREE_found_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==>
      m->state[j] == ASHLAR_ALLOCATED ==> m->addr[j] != address;
*/
int32_t ashlar_find(const struct ashlar_manager *m, uint64_t address);

/* --- reconstructing a given state (audit, replay): rebuild.c --- */

/* Adds an ordinary segment as one free block. Caller's promise: the range is apart from every block. Errors: BUSY,
   STREAM, POOL, RANGE, CAPACITY. O(free blocks) moves. */
/*@ REQUIRES_CALL
    requires apart: apart(m->top, m->state, m->addr, m->size, address, size);
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT_ADDED;
    ENSURES_CALL
    ENSURES_ADDED
    ensures free: \result.status == ASHLAR_OK ==> whole_free(*m, \result.slot) && m->growable[\result.slot] == 0;
*/
struct ashlar_placement ashlar_segment_add(struct ashlar_manager *m, uint64_t address,
                                           uint64_t size, int32_t pool, int32_t class,
                                           int32_t stream);

/* The same for a growable segment: one unmapped block. O(free blocks) moves. */
/*@ REQUIRES_CALL
    requires apart: apart(m->top, m->state, m->addr, m->size, address, size);
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT_ADDED;
    ENSURES_CALL
    ENSURES_ADDED
    ensures unmapped: \result.status == ASHLAR_OK ==> m->state[\result.slot] == ASHLAR_UNMAPPED &&
      m->prev[\result.slot] == -1 && m->next[\result.slot] == -1 && m->growable[\result.slot] == 1;
*/
struct ashlar_placement ashlar_range_add(struct ashlar_manager *m, uint64_t address, uint64_t size,
                                         int32_t pool, int32_t class, int32_t stream);

/* Maps, or unmaps, exactly [address, address + size), which lies in an unmapped, or in a free, block `slot` of a
   growable segment. Slot of the free, or unmapped, block that has it now. Errors: BUSY, SLOT, RANGE, CAPACITY.
   O(free blocks) moves. */
/*@ REQUIRES_CALL
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_BLOCKS, ASSIGNS_RESERVED, ALL(entered);
    ENSURES_CALL
    ENSURES_PART(ASHLAR_UNMAPPED)
    ENSURES_PASSED(ASHLAR_FREE)
*/
struct ashlar_placement ashlar_range_map(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                         uint64_t size);
/*@ REQUIRES_CALL
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_BLOCKS, ASSIGNS_RESERVED, ALL(entered);
    ENSURES_CALL
    ENSURES_PART(ASHLAR_FREE)
    ensures REQ_GROW_unmap_growable: \result.status == ASHLAR_OK ==> \old(*m).growable[slot] == 1;
    ENSURES_PASSED(ASHLAR_UNMAPPED)
*/
struct ashlar_placement ashlar_range_unmap(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size);

/* Forgets a segment that is one block, free or unmapped. Errors: BUSY, SLOT. O(free blocks) moves, and O(pools). */
/*@ REQUIRES_CALL
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, ALL(hold), ALL(holder), ASSIGNS_SEGMENT_COUNTS,
      m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_CALL
    ensures REQ_ATOMIC_busy_remove: 0 < \old(m->in_flight) ==> \result == ASHLAR_ERROR_BUSY;
    ensures refused: \result == ASHLAR_OK || \result == ASHLAR_ERROR_BUSY || \result == ASHLAR_ERROR_SLOT;
    ensures segment: \result != ASHLAR_ERROR_BUSY ==> (\result == ASHLAR_OK <==> 0 <= slot < \old(m->top) &&
      is_open(\old(*m), slot) && \old(*m).prev[slot] == -1 && \old(*m).next[slot] == -1);
    ensures REQ_ATOMIC_remove: \result != ASHLAR_OK ==> *m == \old(*m);
    ensures gone: \result == ASHLAR_OK ==> m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_remove: had_kept(\old(*m), *m, -1);
*/
enum ashlar_status ashlar_segment_remove(struct ashlar_manager *m, int32_t slot);

/* Allocates exactly [address, address + size) out of the free block `slot`; what is left before and behind stays free.
   requested <= size. Errors: BUSY, SLOT, RANGE, CAPACITY. O(free blocks) moves, and linear in a bucket of the address
   map. */
/*@ REQUIRES_CALL
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_ALLOCATION;
    ENSURES_CALL
    ENSURES_PART(ASHLAR_FREE)
    ensures REQ_SIZE_enough_placed: \result.status == ASHLAR_OK ==> requested <= size;
    ensures REQ_SIZE_enough_exactly: \result.status == ASHLAR_OK ==> 0 <= \result.slot < m->top &&
      m->state[\result.slot] == ASHLAR_ALLOCATED && m->addr[\result.slot] == address && m->size[\result.slot] == size &&
      m->requested[\result.slot] == requested && m->home[\result.slot] == \old(*m).home[slot];
    ensures REQ_DISJOINT_blocks_new: \result.status == ASHLAR_OK ==> \result.slot < \old(m->top) ==>
      !is_had(\old(*m), \result.slot);
    ensures REQ_FRAME_place: had_kept(\old(*m), *m, \result.slot);
*/
struct ashlar_placement ashlar_allocate_at(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size, uint64_t requested);

/* Moves the end of an allocated block: into the free block behind it, or back. Errors: BUSY, SLOT, CAPACITY, and RANGE
   where size is 0, no multiple of 512, below the block's request or beyond the room. O(free blocks) moves, and linear
   in a bucket of the address map. */
/*@ REQUIRES_CALL
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_ALLOCATION;
    ENSURES_CALL
    ensures REQ_ATOMIC_busy_resize: 0 < \old(m->in_flight) ==> \result == ASHLAR_ERROR_BUSY;
    ensures slot: \result == ASHLAR_OK ==> 0 <= slot < \old(m->top) && \old(*m).state[slot] == ASHLAR_ALLOCATED;
    ensures REQ_ATOMIC_resize: \result != ASHLAR_OK ==> *m == \old(*m);
    ensures REQ_SIZE_enough_resized: \result == ASHLAR_OK ==> m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(*m).addr[slot] && m->requested[slot] == \old(*m).requested[slot] &&
      m->requested[slot] <= size;
    ensures REQ_FRAME_resize: had_kept(\old(*m), *m, slot);
*/
enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size);

/* The block in a slot; state ASHLAR_UNUSED for an unused slot or a number out of range. O(1). */
/*@ requires \valid(m); requires whole: WHOLE_STATE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures none: \result.state == ASHLAR_UNUSED <==> slot < 0 || m->top <= slot || m->state[slot] == ASHLAR_UNUSED;
    ensures block: \result.state != ASHLAR_UNUSED ==> \result.address == m->addr[slot] && \result.size == m->size[slot] &&
      \result.requested == m->requested[slot] && \result.age == m->age[slot] && \result.prev == m->prev[slot] &&
      \result.next == m->next[slot] && \result.generation == m->generation[slot] && \result.state == m->state[slot] &&
      \result.growable == m->growable[slot] && \result.pool == m->home[slot] / ASHLAR_STREAMS / ASHLAR_CLASSES &&
      \result.class == m->home[slot] / ASHLAR_STREAMS % ASHLAR_CLASSES &&
      \result.stream == m->home[slot] % ASHLAR_STREAMS;
*/
struct ashlar_block_view ashlar_block(const struct ashlar_manager *m, int32_t slot);

/* Slots below this number may hold blocks. O(1). */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == m->top;
*/
int32_t ashlar_slot_limit(const struct ashlar_manager *m);

/* The releases of ordinary segments of the default pool that would come next, without doing them. Pass -1 for the
   first, then the slot that was returned; -1: no more. O(log free blocks) for each stream, and again for each block
   passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_next_released: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
    ensures free: \result != -1 ==> slot == -1 || (0 <= slot < m->top && m->state[slot] == ASHLAR_FREE);
*/
int32_t ashlar_release_next(const struct ashlar_manager *m, int32_t slot);

/* Bytes of the largest free block; 0: there is none. Linear in the slots. */
/*@ requires \valid(m); requires whole: WHOLE_STATE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_ACCOUNT_largest: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_FREE ==>
      m->size[i] <= \result;
    ensures REQ_ACCOUNT_largest_one: \result == 0 || \exists integer i; 0 <= i < m->top && m->state[i] == ASHLAR_FREE && m->size[i] == \result;
*/
uint64_t ashlar_largest(const struct ashlar_manager *m);

#endif
