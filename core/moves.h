/* moves.h - each change that a request or an owner makes to blocks, with the whole state before and after.
 *
 * The modules below say what they need and keep clause by clause; from here on the state is one predicate, and a change
 * is that, its frame and its effect. Nothing here decides.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_MOVES_H
#define ASHLAR_CORE_MOVES_H

#include "core/growth.h"
#include "core/pending.h"
#include "core/reclaim.h"
#include "spec/moves.h"

/* A free block is taken for a request of `bytes` bytes, rounded to `size`. O(free blocks) moves, and linear in a bucket
   of the address map. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires fits: 0 < size <= m->size[slot] && size % 512 == 0;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(slot)
    ensures given: m->state[slot] == ASHLAR_ALLOCATED && m->addr[slot] == \old(m->addr[slot]) &&
      m->home[slot] == \old(m->home[slot]) && m->requested[slot] == bytes && m->references[slot] == 1;
    ensures REQ_SIZE_split_taken: \old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==> m->size[slot] == size;
    ensures REQ_SIZE_split_kept: !\old(splits(*m, m->home[slot], m->size[slot], size, growable)) ==>
      m->size[slot] == \old(m->size[slot]);
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_move_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                      int growable);

/* An ordinary segment that is one free block leaves: the request holds it. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires whole: 0 <= slot < m->top && whole_free(*m, slot) && m->growable[slot] == 0;
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_NONE(request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_RESERVED, m->oversize_segments, m->hold[slot], m->holder[slot];
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_ATOMIC_leaving_held: HOLDS_ONE(request, slot) && IS_WHOLE(slot) &&
      m->hold[slot] == ASHLAR_HOLD_LEAVING && m->growable[slot] == 0;
*/
void ashlar_move_leave(struct ashlar_manager *m, int32_t slot, int32_t request);

/* All uses of a stream up to a number are finished. How many blocks are free now. Linear in the uses that are finished,
   and O(free blocks) moves for each block that is free then. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires stream: 0 <= stream < m->stream_count;
    requires number: number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[stream];
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_STREAM_poll_done: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_move_finish(struct ashlar_manager *m, int32_t stream, uint64_t number);

/* Sees to the slots that a request may need, and those set aside, as long as there are any. O(slots set aside). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_ATOMIC_move_reserve: blocks_kept(\old(*m), *m);
    ensures fresh: \old(m->top) <= m->top &&
      \forall integer j; \old(m->top) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED;
    ensures room: m->spare_count - m->top == \old(m->spare_count) - \old(m->top);
    ensures ready: 2 + ASHLAR_SET_ASIDE <= m->spare_count || m->top == ASHLAR_SLOTS;
*/
void ashlar_move_reserve(struct ashlar_manager *m);

/* The device gave a segment: it is created, and a request of `bytes` bytes, rounded to `want`, takes it. Its slot.
   O(free blocks) moves, and linear in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires spare: 2 <= m->spare_count;
    requires range: 0 < size && address + size <= UINT64_MAX && address % 512 == 0 && size % 512 == 0;
    requires home: 0 <= home < ASHLAR_LISTS && home % ASHLAR_STREAMS < m->stream_count &&
      (home / ASHLAR_STREAMS / ASHLAR_CLASSES == 0 ||
        m->pool_state[home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED);
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX && m->segments_created < UINT64_MAX;
    requires apart: APART(address, size);
    requires fits: 0 < want <= size && want % 512 == 0;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, ASSIGNS_RESERVED, m->oversize_segments, m->segments_created,
      ASSIGNS_SEGMENT_COUNTS, m->device_allocs;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(\result)
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->home[\result] == home && m->requested[\result] == bytes && want <= m->size[\result];
    ensures spare: m->spare_count >= \old(m->spare_count) - 2;
*/
int32_t ashlar_move_adopt(struct ashlar_manager *m, uint64_t address, uint64_t size, int32_t home,
                          uint64_t bytes, uint64_t want, int growable);

/* A range of addresses is reserved: a growable segment without memory. Its slot. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires spare: 1 <= m->spare_count;
    requires range: 0 < size && address + size <= UINT64_MAX && address % 512 == 0 && size % 512 == 0;
    requires home: 0 <= home < ASHLAR_LISTS && home % ASHLAR_STREAMS < m->stream_count &&
      (home / ASHLAR_STREAMS / ASHLAR_CLASSES == 0 ||
        m->pool_state[home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED);
    requires total: all_bytes(m->bytes) + size <= UINT64_MAX && m->segments_created < UINT64_MAX;
    requires apart: APART(address, size);
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, m->segments_created, ASSIGNS_SEGMENT_COUNTS;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_GROW_reserve_added: 0 <= \result < m->top && m->state[\result] == ASHLAR_UNMAPPED &&
      m->addr[\result] == address && m->size[\result] == size && m->home[\result] == home;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
*/
int32_t ashlar_move_add_range(struct ashlar_manager *m, uint64_t address, uint64_t size,
                              int32_t home);

/* A segment that was leaving is a cached segment again. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_ONE(request, slot) && IS_WHOLE(slot);
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, ALL(entered);
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_ATOMIC_error_cached: m->state[slot] == ASHLAR_FREE && HOLDS_NONE(request);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_move_stay(struct ashlar_manager *m, int32_t slot, int32_t request);

/* A segment that is one held block is the manager's no more. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_ONE(request, slot) && IS_WHOLE(slot);
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_SEGMENT_COUNTS;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures gone: m->state[slot] == ASHLAR_UNUSED && HOLDS_NONE(request);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_move_end(struct ashlar_manager *m, int32_t slot, int32_t request);

/* The request holds a run of open blocks from one on, to be mapped. O(free blocks) moves for each block of the run. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_NONE(request);
    requires start: 0 <= start < m->top && run_open(*m, start, m->request[request].size) && m->growable[start] == 1;
    requires size: 0 < m->request[request].size && m->request[request].size % 512 == 0 &&
      m->request[request].size <= 2305843009213693952;
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(hold), ALL(holder), m->request[request].run, m->request[request].run_end;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_GROW_allocate_held: HOLDS_RUN(request) && HOLDS_TO_MAP(request) && RUN_LINKED(request) &&
      m->request[request].run == start &&
      m->addr[start] + m->request[request].size <= m->request[request].run_end;
    ensures spare: m->spare_count >= \old(m->spare_count) - 1;
*/
void ashlar_move_hold_run(struct ashlar_manager *m, int32_t request, int32_t start);

/* The device has mapped the memory of a held block. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD && m->holder[slot] == request;
    terminates \true; exits \false;
    assigns m->hold[slot], ASSIGNS_RESERVED;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_GROW_map_fresh: m->hold[slot] == ASHLAR_HOLD_FRESH;
    ensures run: \old(HOLDS_TO_MAP(request)) ==> HOLDS_TO_MAP(request);
*/
void ashlar_move_mapped(struct ashlar_manager *m, int32_t slot, int32_t request);

/* A held block that the request has mapped is to be unmapped again. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS;
    requires held: 0 <= slot < m->top && m->state[slot] == ASHLAR_HELD && m->holder[slot] == request;
    terminates \true; exits \false;
    assigns m->hold[slot], ASSIGNS_RESERVED;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures undone: m->hold[slot] == ASHLAR_HOLD_UNMAPPED;
    ensures run: \old(HOLDS_TO_MAP(request)) ==> HOLDS_TO_MAP(request);
*/
void ashlar_move_unmapped(struct ashlar_manager *m, int32_t slot, int32_t request);

/* The one block that the request holds is let go, free or unmapped. Slot of the result. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_ONE(request, slot);
    requires state: state == ASHLAR_FREE || (state == ASHLAR_UNMAPPED && m->growable[slot] == 1);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered);
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures put: 0 <= \result < m->top && m->state[\result] == state && m->growable[\result] == \old(m->growable[slot]);
    ensures none: HOLDS_NONE(request);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_move_put(struct ashlar_manager *m, int32_t slot, uint8_t state, int32_t request);

/* The held run is let go: what is mapped is free, the rest unmapped. O(free blocks) moves for each block of the run. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_RUN(request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered), m->request[request].run;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures over: m->request[request].run == -1 && HOLDS_NONE(request);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_move_let_go(struct ashlar_manager *m, int32_t request);

/* The held run, all of which is mapped, is one free block. Its slot. Linear in the blocks of the run, and
   O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_RUN(request);
    requires mapped: RUN_MAPPED(request);
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested), ALL(entered), m->request[request].run;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures over: m->request[request].run == -1 && HOLDS_NONE(request);
    ensures REQ_GROW_allocate_covered: 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      \old(m->request[request].run_end) - \old(m->addr[m->request[request].run]) <= m->size[\result];
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
int32_t ashlar_move_gather(struct ashlar_manager *m, int32_t request);

/* The first block of the held run that is held for a reason; -1: none. Linear in the blocks of the run. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_RUN(request);
    terminates \true; exits \false;
    assigns \nothing;
    ensures found: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_HELD &&
      m->holder[\result] == request && m->hold[\result] == hold;
    ensures none: \result == -1 ==> hold == ASHLAR_HOLD_UNMAPPED ==> RUN_MAPPED(request);
*/
int32_t ashlar_move_find(const struct ashlar_manager *m, int32_t request, uint8_t hold);

/* The whole pages of a free block of a growable segment are held, to be unmapped. Slot of the held block.
   O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_NONE(request);
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->growable[slot] == 1 && has_pages(*m, slot);
    requires spare: 2 <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, ALL(entered), ALL(hold), ALL(holder);
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_GROW_unmap_held: HOLDS_ONE(request, \result) && m->growable[\result] == 1 &&
      m->hold[\result] == ASHLAR_HOLD_LEAVING;
    ensures spare: m->spare_count >= \old(m->spare_count) - 2;
*/
int32_t ashlar_move_take_pages(struct ashlar_manager *m, int32_t slot, int32_t request);

/* An unmapped block that is all of its segment is held, to be given back. O(free blocks) moves. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires request: 0 <= request < ASHLAR_REQUESTS && HOLDS_NONE(request);
    requires whole: 0 <= slot < m->top && m->state[slot] == ASHLAR_UNMAPPED && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, m->hold[slot], m->holder[slot];
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
    ensures REQ_GROW_destroy_held: HOLDS_ONE(request, slot) && IS_WHOLE(slot) && m->growable[slot] == 1 &&
      m->hold[slot] == ASHLAR_HOLD_LEAVING;
*/
void ashlar_move_hold_range(struct ashlar_manager *m, int32_t slot, int32_t request);

/* Deferred blocks go on. Linear in the uses of these, and O(free blocks) moves for each block that is free then. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_BLOCKS, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(-1)
    ensures REQ_FRAME_go_on: owned_kept(\old(*m), *m);
    ensures REQ_STREAM_defer_none: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
void ashlar_move_go_on(struct ashlar_manager *m);

/* A private pool that nothing leads to ends. Whether it does. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_WHOLE
    ensures others: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> p != pool ==>
      m->pool_state[p] == \old(*m).pool_state[p];
*/
int ashlar_move_end_pool(struct ashlar_manager *m, int32_t pool);

/* A search in a pool and class is counted. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns m->pool_searches[0 .. ASHLAR_POOL_CLASSES - 1];
    ENSURES_WHOLE

*/
void ashlar_move_searched(struct ashlar_manager *m, int32_t home);

/* The free block that a request takes; -1: none. O(log free blocks), and again for each block of a growable segment
   that is passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_BESTFIT_choice: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_FREE &&
      m->home[\result] == home && size <= m->size[\result] &&
      within_split_limit(size, m->size[\result], m->config.max_split_size, m->config.oversize_slack);
*/
int32_t ashlar_move_choose(const struct ashlar_manager *m, int32_t home, uint64_t size,
                           int growable);

/* Where the run starts that a request maps; -1: there is none. O(log free blocks) for each pair of unmapped blocks of
   the home, and for each of them linear in its run. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    requires size: 0 < size;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_run: \result != -1 ==> 0 <= \result < m->top && m->home[\result] == home &&
      run_open(*m, \result, size) && m->growable[\result] == 1;
*/
int32_t ashlar_move_run(const struct ashlar_manager *m, int32_t home, uint64_t size);

/* Number of the last use in the queue of a stream, of a block of a pool (-1: of any); 0: there is none. Linear in the
   queue, for -1 O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_drain_number: \result <= m->submitted[stream];
*/
uint64_t ashlar_move_last(const struct ashlar_manager *m, int32_t stream, int32_t pool);

/* 1 where the number is of a stream that takes requests. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_STREAM_gone_refused: \result != 0 <==> is_stream(*m, stream);
    ensures number: \result != 0 ==> stream < ASHLAR_STREAM_DEFERRED;
*/
int ashlar_move_live(const struct ashlar_manager *m, int32_t stream);

/* The stream at a place of the table. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires place: 0 <= place < m->stream_count;
    terminates \true; exits \false;
    assigns \nothing;
    ensures stream: 0 <= \result < m->stream_count && m->stream_count <= ASHLAR_STREAM_DEFERRED;
*/
int32_t ashlar_move_at_place(const struct ashlar_manager *m, int32_t place);

/* The place of a stream in the table. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires stream: 0 <= stream < m->stream_count;
    terminates \true; exits \false;
    assigns \nothing;
    ensures place: 0 <= \result < m->stream_count && m->stream_count <= ASHLAR_STREAM_DEFERRED;
*/
int32_t ashlar_move_place(const struct ashlar_manager *m, int32_t stream);

/* The first pool that lends to the default pool, created behind a serial number; 0: none. O(pools). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures next: 0 <= \result < ASHLAR_POOL_NUMBERS && (0 < \result ==> after < m->pool_serial[\result]);
*/
int32_t ashlar_move_lender(const struct ashlar_manager *m, uint64_t after);

/* Exactly [address, address + size) of a free block is allocated for a request of `bytes` bytes. Slot of the block.
   O(free blocks) moves, and linear in a bucket of the address map. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires inside: 0 < size && address % 512 == 0 && size % 512 == 0 && m->addr[slot] <= address &&
      address + size <= m->addr[slot] + m->size[slot];
    requires spare: 2 <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ENSURES_FRAME_ALL(\result)
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->size[\result] == size && m->requested[\result] == bytes && m->home[\result] == \old(m->home[slot]);
    ensures spare: m->spare_count >= \old(m->spare_count) - 2;
*/
int32_t ashlar_move_take_at(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                            uint64_t bytes);

#endif
