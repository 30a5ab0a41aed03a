/* rebuild.h (ACSL only) - what the operations that reconstruct a state need and keep.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_REBUILD_H
#define ASHLAR_SPEC_REBUILD_H

#include "spec/block_manager.h"
/*@
  // no request is in flight ...
  predicate all_idle(struct ashlar_request request[8]) =
    \forall integer r; 0 <= r < ASHLAR_REQUESTS ==> request[r].rung == ASHLAR_RUNG_IDLE;
  // ... and so none holds a block
  predicate none_held(integer top, uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_HELD;

  // a range that is apart from every block: the promise of the device
  predicate apart(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    integer address, integer bytes) =
    \forall integer j; 0 <= j < top ==> state[j] != ASHLAR_UNUSED ==>
      address + bytes <= addr[j] || addr[j] + size[j] <= address;

  // where a segment is to be: what the caller gives makes sense, and leads to a stream and a pool
  predicate placeable(integer address, integer bytes, integer class) =
    (class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE) && 0 < bytes && bytes % 512 == 0 &&
    address % 512 == 0 && address + bytes <= UINT64_MAX;

  // a part of a block: multiples of 512 bytes
  predicate is_part(integer address, integer bytes, integer part, integer part_bytes) =
    0 < part_bytes && part_bytes % 512 == 0 && part % 512 == 0 && address <= part &&
    part + part_bytes <= address + bytes;
  logic integer parts_beside(integer address, integer bytes, integer part, integer part_bytes) =
    (address < part ? 1 : 0) + (part + part_bytes < address + bytes ? 1 : 0);

  // REQ-FRAME: what somebody has is what it was, and nobody has anything more but block `but`
  predicate had_kept(struct ashlar_manager a, struct ashlar_manager b, integer but) =
    a.top <= b.top && others_kept(a, b, but) &&
    (\forall integer j; a.top <= j < b.top ==> j != but ==> !is_had(b, j));
*/
// clang-format off
#define CALL_INVARIANT(K) K whole: WHOLE_STATE; SETTINGS_INVARIANT(K) REQUESTS_INVARIANT(K) \
  K REQ_LIFETIME_once_count: blocks_referenced(m->top, m->state, m->references);
#define REQUIRES_CALL requires \valid(m); CALL_INVARIANT(requires)
#define ENSURES_CALL CALL_INVARIANT(ensures)
#define ROOM_OF(M) ((M).spare_count + ASHLAR_SLOTS - (M).top)
#define ASSIGNS_SEGMENT_ADDED ASSIGNS_RESERVE, ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, m->segments_created, \
  ASSIGNS_SEGMENT_COUNTS, ALL(entered)
/* adding a segment: refused for one of these reasons, in this order; else it is there */
#define ENSURES_ADDED \
  ensures REQ_ATOMIC_busy_add: \result.status == ASHLAR_ERROR_BUSY <==> 0 < \old(m->in_flight); \
  ensures REQ_STREAM_gone_add: \old(m->in_flight) == 0 ==> \
    (\result.status == ASHLAR_ERROR_STREAM <==> !is_stream(\old(*m), stream)); \
  ensures REQ_POOL_apart_refused: \result.status == ASHLAR_ERROR_POOL ==> pool != 0 && !has_pool(\old(*m), pool); \
  ensures range: \result.status == ASHLAR_ERROR_RANGE ==> !placeable(address, size, class); \
  ensures REQ_CAPACITY_slots_add: \result.status == ASHLAR_ERROR_CAPACITY ==> ROOM_OF(\old(*m)) < 1 || \
    UINT64_MAX < all_bytes(\old(*m).bytes) + size || \old(m->segments_created) == UINT64_MAX; \
  ensures status: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_BUSY || \
    \result.status == ASHLAR_ERROR_STREAM || \result.status == ASHLAR_ERROR_POOL || \
    \result.status == ASHLAR_ERROR_RANGE || \result.status == ASHLAR_ERROR_CAPACITY; \
  ensures REQ_ATOMIC_add: \result.status != ASHLAR_OK ==> \result.slot == -1 && *m == \old(*m); \
  ensures REQ_DISJOINT_blocks_added: \result.status == ASHLAR_OK ==> 0 <= \result.slot < m->top && \
    m->addr[\result.slot] == address && m->size[\result.slot] == size && placeable(address, size, class); \
  ensures REQ_POOL_apart_add: \result.status == ASHLAR_OK ==> m->home[\result.slot] == \
    (pool * ASHLAR_CLASSES + class) * ASHLAR_STREAMS + stream && (pool == 0 || has_pool(*m, pool)); \
  ensures new: \result.status == ASHLAR_OK ==> \result.slot < \old(m->top) ==> \
    \old(*m).state[\result.slot] == ASHLAR_UNUSED; \
  ensures REQ_FRAME_add: had_kept(\old(*m), *m, -1);
/* taking a part of a block in a state: the same */
#define ENSURES_PART(STATE) \
  ensures REQ_ATOMIC_busy_part: \result.status == ASHLAR_ERROR_BUSY <==> 0 < \old(m->in_flight); \
  ensures slot: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_RANGE || \
    \result.status == ASHLAR_ERROR_CAPACITY ==> 0 <= slot < \old(m->top) && \old(*m).state[slot] == (STATE); \
  ensures part: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_CAPACITY ==> \
    is_part(\old(*m).addr[slot], \old(*m).size[slot], address, size); \
  ensures REQ_CAPACITY_slots_part: \result.status == ASHLAR_ERROR_CAPACITY ==> \
    ROOM_OF(\old(*m)) < parts_beside(\old(*m).addr[slot], \old(*m).size[slot], address, size); \
  ensures status: \result.status == ASHLAR_OK || \result.status == ASHLAR_ERROR_BUSY || \
    \result.status == ASHLAR_ERROR_SLOT || \result.status == ASHLAR_ERROR_RANGE || \
    \result.status == ASHLAR_ERROR_CAPACITY; \
  ensures REQ_ATOMIC_part: \result.status != ASHLAR_OK ==> \result.slot == -1 && *m == \old(*m);
#define ENSURES_CUT_OUT \
  ensures taken: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN && m->addr[\result] == address && \
    m->size[\result] == size && m->home[\result] == \old(m->home[slot]) && \
    m->growable[\result] == \old(m->growable[slot]); \
  ensures new: !is_had(\old(*m), \result); \
  ensures REQ_FRAME_cut_out: others_kept(\old(*m), *m, \result);
#define ENSURES_REMADE(STATE) \
  ensures remade: 0 <= \result < m->top && m->state[\result] == (STATE) && m->addr[\result] <= address && \
    address + size <= m->addr[\result] + m->size[\result] && m->home[\result] == \old(*m).home[slot] && \
    m->growable[\result] == 1; \
  ensures REQ_FRAME_remade: others_kept(\old(*m), *m, -1);
/* a part of a growable segment has got, or lost, its memory */
#define ENSURES_PASSED(STATE) \
  ensures REQ_GROW_map_part: \result.status == ASHLAR_OK ==> 0 <= \result.slot < m->top && \
    m->state[\result.slot] == (STATE) && m->addr[\result.slot] <= address && \
    address + size <= m->addr[\result.slot] + m->size[\result.slot]; \
  ensures home: \result.status == ASHLAR_OK ==> m->home[\result.slot] == \old(*m).home[slot] && \
    m->growable[\result.slot] == 1; \
  ensures REQ_FRAME_part: had_kept(\old(*m), *m, -1);
// clang-format on
#endif
