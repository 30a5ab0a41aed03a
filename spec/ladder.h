/* ladder.h (ACSL only) - one request: what it wants, what it holds, what its step is about, and what a step of it leaves.
 *
 * The predicates take fields and arrays, as in moves.h. They say more than the invariant of the manager does of a request:
 * on which rungs a step is asked and a run is held, so that the request can go on.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_LADDER_H
#define ASHLAR_SPEC_LADDER_H

#include "spec/moves.h"
/*@
  // rungs that ask the device for memory, and that release everything
  predicate asks(integer rung) = rung == ASHLAR_RUNG_ASK || rung == ASHLAR_RUNG_ASK_OVERSIZE ||
    rung == ASHLAR_RUNG_ASK_LAST || rung == ASHLAR_RUNG_ASK_AGAIN;
  predicate releases(integer rung) = rung == ASHLAR_RUNG_RELEASE || rung == ASHLAR_RUNG_RELEASE_AGAIN ||
    rung == ASHLAR_RUNG_EMPTY_RELEASE;

  // bytes that the device is asked for, of a rounded size: REQ-SIZE-segment
  logic integer segment_bytes(integer size, integer large) = size <= 1048576 ? 2097152 :
    size < 10485760 ? large : (size + 2097151) / 2097152 * 2097152;
  // REQ-LADDER-limit, REQ-LADDER-reject: so many bytes more are refused without asking, or rejected
  predicate over_limit(integer limit, integer reserved, integer bytes) = limit != UINT64_MAX && limit < reserved + bytes;
  predicate rejects(integer above, integer reserved, integer bytes) = above != 0 && above < reserved + bytes;

  // what a request in flight asks for: a block for a home whose pool and stream are there; or that the cache be emptied
  predicate request_wants(integer rung, integer home, integer bytes, integer size, integer waited,
    integer growable, integer total, uint8_t pool_state[65], integer stream_count) =
    ASHLAR_RUNG_SEARCH <= rung <= ASHLAR_RUNG_EMPTY && -2 <= waited < stream_count && (growable != 0 ==> 0 < total) &&
    -1 <= home < ASHLAR_LISTS && (0 <= home ==> home / ASHLAR_STREAMS / ASHLAR_CLASSES == 0 ||
      pool_state[home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED) &&
    (rung <= ASHLAR_RUNG_OUT_OF_MEMORY ==> 0 < bytes <= size <= 2305843009213693952 && size % 512 == 0 && 0 <= home &&
      home % ASHLAR_STREAMS < stream_count) &&
    (ASHLAR_RUNG_OUT_OF_MEMORY < rung ==> bytes == 0);

  // what it holds: nothing; while it leaves or is unmapped, one block; a run while that is mapped or undone; a range that
  // goes back, one block and all of its segment
  predicate request_holds(integer rung, integer growth, integer growable, integer run, integer end, integer slot,
    integer size, integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS], uint8_t hold[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], uint64_t sizes[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    uint8_t growables[ASHLAR_SLOTS], integer r, integer one) =
    ASHLAR_GROWTH_NONE <= growth <= ASHLAR_GROWTH_RETURNING &&
    (growth == ASHLAR_GROWTH_NONE ==> run == -1 &&
      (one == 0 ==> holds_none(top, state, holder, r)) && (one != 0 ==>
        holds_one(top, state, holder, r, slot) && hold[slot] == ASHLAR_HOLD_LEAVING)) &&
    (growth == ASHLAR_GROWTH_RESERVING ==> run == -1 && asks(rung) && growable != 0 &&
      holds_none(top, state, holder, r)) &&
    (growth == ASHLAR_GROWTH_MAPPING || growth == ASHLAR_GROWTH_UNDOING ==> asks(rung) && growable != 0 &&
      holds_run(top, state, holder, addr, sizes, next, growables, r, run, end) && size <= end - addr[run] &&
      holds_to_map(top, state, holder, hold, r)) &&
    (growth == ASHLAR_GROWTH_RETURNING ==> run == -1 && releases(rung) && holds_one(top, state, holder, r, slot) &&
      hold[slot] == ASHLAR_HOLD_LEAVING && base[slot] == addr[slot] && next[slot] == -1 && growables[slot] == 1);

  // what its step, which waits for an outcome, is about
  predicate request_asked(integer rung, integer step, integer growth, integer slot, integer size, integer asked,
    integer waited, integer number, integer top, uint8_t state[ASHLAR_SLOTS], int32_t holder[ASHLAR_SLOTS],
    uint8_t hold[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    uint8_t growable[ASHLAR_SLOTS], uint64_t submitted[256], integer r) =
    ASHLAR_STEP_NONE < step < ASHLAR_STEP_DONE &&
    (step == ASHLAR_STEP_ALLOCATE ==> growth == ASHLAR_GROWTH_NONE && asks(rung) && slot == -1 && size <= asked &&
      asked % 512 == 0) &&
    (step == ASHLAR_STEP_RELEASE ==> growth == ASHLAR_GROWTH_NONE && base[slot] == addr[slot] && next[slot] == -1 &&
      growable[slot] == 0) &&
    (step == ASHLAR_STEP_RESERVE ==> growth == ASHLAR_GROWTH_RESERVING && slot == -1 && 0 < asked && asked % 512 == 0) &&
    (step == ASHLAR_STEP_UNRESERVE ==> growth == ASHLAR_GROWTH_RETURNING ||
      (growth == ASHLAR_GROWTH_RESERVING && slot == -1)) &&
    (step == ASHLAR_STEP_MAP ==> growth == ASHLAR_GROWTH_MAPPING && hold[slot] == ASHLAR_HOLD_UNMAPPED) &&
    (step == ASHLAR_STEP_UNMAP ==> (growth == ASHLAR_GROWTH_UNDOING && hold[slot] == ASHLAR_HOLD_UNMAPPED) ||
      (growth == ASHLAR_GROWTH_NONE && growable[slot] == 1 && releases(rung))) &&
    (step == ASHLAR_STEP_MAP || step == ASHLAR_STEP_UNMAP ==> 0 <= slot < top && state[slot] == ASHLAR_HELD &&
      holder[slot] == r) &&
    (step == ASHLAR_STEP_WAIT ==> growth == ASHLAR_GROWTH_NONE && slot == -1 && 0 <= waited &&
      number <= submitted[waited]) &&
    (step == ASHLAR_STEP_CALLBACKS ==> growth == ASHLAR_GROWTH_NONE && slot == -1 && rung == ASHLAR_RUNG_CALLBACKS);
*/
// clang-format off
#define WANTS(R) request_wants(m->request[R].rung, m->request[R].home, m->request[R].bytes, m->request[R].size, \
  m->request[R].waited, m->request[R].growable, m->config.device_total, m->pool_state, m->stream_count)
#define HOLDS(R, ONE) request_holds(m->request[R].rung, m->request[R].growth, m->request[R].growable, \
  m->request[R].run, m->request[R].run_end, m->request[R].slot, m->request[R].size, m->top, m->state, m->holder, \
  m->hold, m->addr, m->size, m->base, m->next, m->growable, R, ONE)
#define POISED(R) HOLDS(R, 0)
#define STEP_IS_ABOUT_ONE(R) \
  (m->request[R].step == ASHLAR_STEP_RELEASE || m->request[R].step == ASHLAR_STEP_UNMAP ? 1 : 0)
#define ASKED(R) request_asked(m->request[R].rung, m->request[R].step, m->request[R].growth, m->request[R].slot, \
  m->request[R].size, m->request[R].asked, m->request[R].waited, m->request[R].number, m->top, m->state, m->holder, \
  m->hold, m->addr, m->base, m->next, m->growable, m->submitted, R)
/* A device allocation that a request is about to begin is rejected; the limit is tested first. */
#define RESERVED_BY(A) (A).stat[ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS].current
#define ASKED_BY(A, R) segment_bytes((A).request[R].size, (A).config.large_segment_size)
#define IS_REJECTED(A, R) (asks((A).request[R].rung) && (A).request[R].growth == ASHLAR_GROWTH_NONE && \
  (A).request[R].reserved == 0 && !over_limit((A).limit, RESERVED_BY(A), ASKED_BY(A, R)) && \
  rejects((A).config.reject_above, RESERVED_BY(A), ASKED_BY(A, R)))
/* every request in flight is for a home, or for none */
#define HOMED \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> m->request[q].rung != ASHLAR_RUNG_IDLE ==> \
  m->request[q].home < ASHLAR_LISTS
/* pools that requests in flight are for are there still; but for one request */
#define WANTED_KEPT(A, BUT) \forall integer q; 0 <= q < ASHLAR_REQUESTS ==> q != (BUT) ==> \
  m->request[q].rung != ASHLAR_RUNG_IDLE ==> 0 <= m->request[q].home ==> \
  m->pool_state[m->request[q].home / ASHLAR_STREAMS / ASHLAR_CLASSES] == \
    (A).pool_state[m->request[q].home / ASHLAR_STREAMS / ASHLAR_CLASSES]
/* slots that are spare or were never used; those that a block needs; and, when a request goes on, those set aside too */
#define ROOM(A) ((A).spare_count + ASHLAR_SLOTS - (A).top)
#define ENOUGH(R) (m->request[R].rung <= ASHLAR_RUNG_OUT_OF_MEMORY ==> ASHLAR_REQUEST_SLOTS <= m->spare_count)
#define READY (1 + ASHLAR_SET_ASIDE < m->spare_count || m->top == ASHLAR_SLOTS)

#define ASSIGNS_END m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS], \
  m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS], \
  m->pool_reserved[0 .. ASHLAR_POOL_NUMBERS - 1]
#define ASSIGNS_LADDER ASSIGNS_ALLOCATION, ASSIGNS_RESERVED, m->oversize_segments, ALL(hold), ALL(holder), \
  ASSIGNS_USES, m->completed[0 .. ASHLAR_STREAMS - 1], m->request[request], m->in_flight, ASSIGNS_END, \
  m->pool_searches[0 .. ASHLAR_POOL_CLASSES - 1], m->alloc_retries, m->ooms, m->sync_all_streams, m->device_allocs, \
  m->device_frees

/* that is counted, and nothing else is */
#define ENSURES_COUNTED ensures REQ_ACCOUNT_rejected_once: IS_REJECTED(\old(*m), request) ? \
  m->oom_rejections == total_of(\old(m->oom_rejections), 1) : m->oom_rejections == \old(m->oom_rejections);
/* the device is not asked; on the first rung that asks, the rungs up to the end are skipped */
#define ENSURES_REJECTED ensures REQ_LADDER_reject_unasked: IS_REJECTED(\old(*m), request) ==> \
    \result.kind == ASHLAR_STEP_NONE && m->request[request].rejected != 0; \
  ensures REQ_LADDER_reject_skips: IS_REJECTED(\old(*m), request) ==> \
    \old(m->request[request].rung) == ASHLAR_RUNG_ASK ==> m->request[request].rung == ASHLAR_RUNG_OUT_OF_MEMORY;
/* a request that was rejected ends so; one that was not ends out of memory */
#define ENSURES_END ensures REQ_LADDER_reject_ends: \old(m->request[request].rung) == ASHLAR_RUNG_OUT_OF_MEMORY ==> \
    \result.kind == (\old(m->request[request].rejected) != 0 ? ASHLAR_STEP_REJECTED : ASHLAR_STEP_OUT_OF_MEMORY); \
  ensures REQ_ACCOUNT_calls_ooms: \old(m->request[request].rung) == ASHLAR_RUNG_OUT_OF_MEMORY ==> m->ooms == \
    (\old(m->request[request].rejected) != 0 ? \old(m->ooms) : total_of(\old(m->ooms), 1));

/* a request that can go on */
#define REQUIRES_GOING requires \valid(m); REQUIRES_WHOLE \
  requires config: valid_config(m->config); \
  requires request: 0 <= request < ASHLAR_REQUESTS; \
  requires wants: WANTS(request); \
  requires homed: HOMED; \
  requires flight: 1 <= m->in_flight <= ASHLAR_REQUESTS; \
  requires spare: ENOUGH(request); \
  requires linked: RUN_LINKED(request);
/* what a step leaves: the next rung (NONE), a request that waits for an outcome, or one that is over */
#define STEP_CLAUSES(K, A, STEP) K whole: WHOLE_STATE; \
  K REQ_FRAME_ladder: FRAME(A, request, (STEP).kind == ASHLAR_STEP_DONE ? (STEP).slot : -1); \
  K kind: ASHLAR_STEP_NONE <= (STEP).kind <= ASHLAR_STEP_ERROR; \
  K status: (STEP).kind != ASHLAR_STEP_ERROR ==> (STEP).status == ASHLAR_OK; \
  K next: (STEP).kind == ASHLAR_STEP_NONE ==> WANTS(request) && POISED(request) && \
    (A).request[request].rung < m->request[request].rung && m->request[request].run == -1 && \
    m->request[request].size == (A).request[request].size && m->in_flight == (A).in_flight && \
    (A).spare_count <= m->spare_count; \
  K waits: ASHLAR_STEP_NONE < (STEP).kind < ASHLAR_STEP_DONE ==> WANTS(request) && ASKED(request) && \
    HOLDS(request, STEP_IS_ABOUT_ONE(request)) && RUN_LINKED(request) && \
    m->request[request].step == (STEP).kind && \
    m->in_flight == (A).in_flight; \
  K class: (STEP).kind < ASHLAR_STEP_DONE ==> (m->request[request].rung <= ASHLAR_RUNG_OUT_OF_MEMORY <==> \
    (A).request[request].rung <= ASHLAR_RUNG_OUT_OF_MEMORY); \
  K same: m->request[request].bytes == (A).request[request].bytes && \
    m->request[request].home == (A).request[request].home; \
  K over: ASHLAR_STEP_DONE <= (STEP).kind ==> m->request[request].rung == ASHLAR_RUNG_IDLE && HOLDS_NONE(request) && \
    m->in_flight == (A).in_flight - 1; \
  K named: (STEP).kind != ASHLAR_STEP_NONE ==> (STEP).request == request; \
  K homed: HOMED; \
  K REQ_CAPACITY_slots_left: ROOM(A) <= ROOM(*m) || ASHLAR_SET_ASIDE <= ROOM(*m) || ((STEP).kind == ASHLAR_STEP_DONE && \
    (A).request[request].rung <= ASHLAR_RUNG_OUT_OF_MEMORY && \
    (ROOM(A) - 2 <= ROOM(*m) || ASHLAR_SET_ASIDE - ASHLAR_REQUEST_SLOTS <= ROOM(*m))); \
  K pools: WANTED_KEPT(A, request); \
  K clocks: clocks_on((A).submitted, m->submitted); \
  K REQ_FREE_handle_step: (STEP).kind == ASHLAR_STEP_DONE ==> (STEP).slot != -1 ==> 0 <= (STEP).slot < m->top && \
    m->state[(STEP).slot] == ASHLAR_ALLOCATED && m->addr[(STEP).slot] == (STEP).address && \
    m->size[(STEP).slot] == (STEP).bytes && m->generation[(STEP).slot] == (STEP).generation; \
  K REQ_SIZE_enough_step: (STEP).kind == ASHLAR_STEP_DONE ==> (STEP).slot != -1 ==> (A).request[request].size <= (STEP).bytes; \
  K REQ_SIZE_aligned_step: (STEP).kind == ASHLAR_STEP_DONE ==> (STEP).slot != -1 ==> (STEP).bytes % 512 == 0 && \
    (STEP).address % 512 == 0; \
  K REQ_LADDER_device_asked: (STEP).kind == ASHLAR_STEP_ALLOCATE || (STEP).kind == ASHLAR_STEP_RESERVE ==> \
    (STEP).bytes == m->request[request].asked; \
  K none: (STEP).kind == ASHLAR_STEP_DONE ==> (STEP).slot == -1 ==> (A).request[request].rung > ASHLAR_RUNG_OUT_OF_MEMORY;
#define ENSURES_STEP STEP_CLAUSES(ensures, \old(*m), \result) ensures no_error: \result.kind != ASHLAR_STEP_ERROR;

/* a request that waits for an outcome */
#define REQUEST_OK(R) (WANTS(R) && ASKED(R) && HOLDS(R, STEP_IS_ABOUT_ONE(R)))
#define ASSIGNS_RESUME ASSIGNS_LADDER, m->oom_rejections, m->segments_created, ASSIGNS_SEGMENT_COUNTS, ASSIGNS_RESERVE
/* a request that an outcome is reported to */
#define REQUIRES_REPORTED REQUIRES_GOING \
  requires asked: ASKED(request) && HOLDS(request, STEP_IS_ABOUT_ONE(request));
/* a change that leaves the request such that it can go on */
#define ENSURES_CHANGED ensures whole: WHOLE_STATE; \
  ensures REQ_FRAME_change: FRAME(\old(*m), request, -1); \
  ensures wants: WANTS(request) && m->request[request].size == \old(m->request[request].size); \
  ensures same: m->request[request].bytes == \old(m->request[request].bytes) && \
    m->request[request].home == \old(m->request[request].home); \
  ensures poised: POISED(request) && RUN_LINKED(request); \
  ensures rung: \old(m->request[request].rung) <= m->request[request].rung && m->in_flight == \old(m->in_flight) && \
    (m->request[request].rung <= ASHLAR_RUNG_OUT_OF_MEMORY <==> \old(m->request[request].rung) <= ASHLAR_RUNG_OUT_OF_MEMORY); \
  ensures homed: HOMED; \
  ensures pools: WANTED_KEPT(\old(*m), request); \
  ensures clocks: clocks_on(\old(*m).submitted, m->submitted); \
  ensures spare: \old(m->spare_count) <= m->spare_count && m->top == \old(m->top);
/* what comes of an outcome: its next step, or its end */
#define ENSURES_NEXT_STEP STEP_CLAUSES(ensures, \old(*m), \result) \
  ensures step: \result.kind != ASHLAR_STEP_NONE && \result.status != ASHLAR_ERROR_NO_REQUEST;
/* a request that is dropped: there may be no spare slots */
#define REQUIRES_DROPPED requires \valid(m); REQUIRES_WHOLE \
  requires request: 0 <= request < ASHLAR_REQUESTS; \
  requires wants: WANTS(request); \
  requires homed: HOMED; \
  requires linked: RUN_LINKED(request); \
  requires asked: ASKED(request) && HOLDS(request, STEP_IS_ABOUT_ONE(request));
/* a request whose blocks are nobody's now */
#define ENSURES_LET_GO ENSURES_WHOLE \
  ENSURES_FRAME(request, -1) \
  ensures none: HOLDS_NONE(request); \
  ensures flight: m->in_flight == \old(m->in_flight) && m->request[request].rung == \old(m->request[request].rung); \
  ensures wants: WANTS(request); \
  ensures same: m->request[request].bytes == \old(m->request[request].bytes) && \
    m->request[request].home == \old(m->request[request].home); \
  ensures homed: HOMED; \
  ensures pools: WANTED_KEPT(\old(*m), request); \
  ensures clocks: clocks_on(\old(*m).submitted, m->submitted); \
  ensures spare: \old(m->spare_count) <= m->spare_count && m->top == \old(m->top);
// clang-format on
#endif
