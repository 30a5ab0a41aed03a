/* rebuild.c - see block_manager.h: reconstructing a given state, and looking at one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

/*@ ghost
  /@ requires \valid(m);
     requires flight: flight_counted(m->in_flight, m->request);
     terminates \true; exits \false;
     assigns \nothing;
     ensures count: 0 <= m->in_flight;
     ensures idle: m->in_flight == 0 ==> all_idle(m->request);
  @/
  static void idle_open(const struct ashlar_manager *m)
  {
    int32_t r = 0;
    /@ loop invariant r: 0 <= r <= ASHLAR_REQUESTS && 0 <= flying(m->request, r);
       loop invariant idle: flying(m->request, r) == 0 ==> \forall integer q; 0 <= q < r ==>
         m->request[q].rung == ASHLAR_RUNG_IDLE;
       loop assigns r;
       loop variant ASHLAR_REQUESTS - r;
    @/
    while (r < ASHLAR_REQUESTS) r++;
  }

  /@ requires \valid(m);
     requires whole: WHOLE_STATE;
     requires idle: all_idle(m->request);
     requires flight: m->in_flight == 0;
     requires held: none_held(m->top, m->state);
     terminates \true; exits \false;
     assigns \nothing;
     REQUESTS_INVARIANT(ensures)
  @/
  static void idle_close(const struct ashlar_manager *m)
  {
    int32_t r = 0;
    ashlar_whole_open(m);
    ashlar_blocks_open(m);
    /@ loop invariant r: 0 <= r <= ASHLAR_REQUESTS;
       loop invariant idle: flying(m->request, r) == 0 && slots_needed(m->request, r) == 0;
       loop assigns r;
       loop variant ASHLAR_REQUESTS - r;
    @/
    while (r < ASHLAR_REQUESTS) r++;
  }
*/

/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures \result.status == status && \result.slot == slot;
*/
static struct ashlar_placement placement(enum ashlar_status status, int32_t slot)
{
  struct ashlar_placement result;
  result.status = status;
  result.slot = slot;
  return result;
}

/* Why a segment cannot be added. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures refusal: 0 < m->in_flight ? \result == ASHLAR_ERROR_BUSY :
      !is_stream(*m, stream) ? \result == ASHLAR_ERROR_STREAM :
      pool != 0 && !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      !placeable(address, size, class) ? \result == ASHLAR_ERROR_RANGE :
      UINT64_MAX < all_bytes(m->bytes) + size || m->segments_created == UINT64_MAX || ROOM_OF(*m) < 1 ?
      \result == ASHLAR_ERROR_CAPACITY : \result == ASHLAR_OK;
*/
static enum ashlar_status refusal(const struct ashlar_manager *m, uint64_t address, uint64_t size,
                                  int32_t pool, int32_t class, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (pool != 0 && !ashlar_pool_exists(m, pool)) {
    return ASHLAR_ERROR_POOL;
  }
  if ((class != ASHLAR_CLASS_SMALL && class != ASHLAR_CLASS_LARGE) || size == 0 ||
      size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 || size > UINT64_MAX - address) {
    return ASHLAR_ERROR_RANGE;
  }
  if (size > UINT64_MAX - ashlar_block_bytes(m) || m->segments_created == UINT64_MAX ||
      ashlar_reclaim_room(m) < 1) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

/* Sees to spare slots, of which there are enough. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires room: 0 <= count <= ROOM_OF(*m) && count <= ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    ENSURES_WHOLE
    ensures spare: count <= m->spare_count;
    ensures kept: blocks_kept(\old(*m), *m) && \old(m->top) <= m->top;
    ensures fresh: \forall integer j; \old(m->top) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED;
*/
static void reserve(struct ashlar_manager *m, int32_t count)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  (void)ashlar_block_reserve(m, count);
  //@ ghost ashlar_map_close(m);
  //@ ghost ashlar_whole_close(m);
}

/* Searches so far in the pool and class of a block. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS && 0 <= m->home[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_age_now: \result == m->pool_searches[m->home[slot] / ASHLAR_STREAMS];
*/
static uint64_t searches(const struct ashlar_manager *m, int32_t slot)
{
  return m->pool_searches[ashlar_home_pool_class(m->home[slot])];
}

/* The one block of a new segment is free, or of a growable one unmapped. */
/*@ requires \valid(m); REQUIRES_STATE
    requires new: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns m->state[slot], m->list[slot], ASSIGNS_BYTES, ASSIGNS_INDEX, m->entered[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures state: m->state[slot] == (m->growable[slot] == 0 ? ASHLAR_FREE : ASHLAR_UNMAPPED);
*/
static void put_new(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  if (m->growable[slot] == 0) {
    ashlar_block_put(m, slot);
    m->entered[slot] = searches(m, slot);
  } else {
    ashlar_block_put_unmapped(m, slot);
  }
}

/* A segment as one block, free, or of a growable one unmapped; its slot. */
/*@ requires \valid(m); REQUIRES_WHOLE
    REQUIRES_NEW_SEGMENT(address, size, home)
    requires stream: home % ASHLAR_STREAMS < m->stream_count;
    requires pool: 0 < home / ASHLAR_STREAMS / ASHLAR_CLASSES ==>
      m->pool_state[home / ASHLAR_STREAMS / ASHLAR_CLASSES] != ASHLAR_POOL_UNUSED;
    requires growable: growable <= 1;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, m->segments_created, ASSIGNS_SEGMENT_COUNTS,
      ALL(entered);
    ENSURES_WHOLE
    ensures new: 0 <= \result < m->top && m->addr[\result] == address && m->size[\result] == size &&
      m->home[\result] == home && m->growable[\result] == growable && m->prev[\result] == -1 && m->next[\result] == -1;
    ensures state: m->state[\result] == (growable == 0 ? ASHLAR_FREE : ASHLAR_UNMAPPED);
    ensures unused: \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures REQ_FRAME_create: others_kept(\old(*m), *m, -1);
*/
static int32_t create(struct ashlar_manager *m, uint64_t address, uint64_t size, int32_t home,
                      uint8_t growable)
{
  int32_t slot;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_pools_open(m);
  slot = ashlar_segment_create(m, address, size, home, growable);
  put_new(m, slot);
  //@ ghost ashlar_pools_close(m);
  //@ ghost ashlar_whole_close(m);
  return slot;
}

/* Adds a segment, ordinary or growable. */
/*@ REQUIRES_CALL
    requires apart: apart(m->top, m->state, m->addr, m->size, address, size);
    requires growable: growable <= 1;
    terminates \true; exits \false;
    assigns ASSIGNS_SEGMENT_ADDED;
    ENSURES_CALL
    ENSURES_ADDED
    ensures block: \result.status == ASHLAR_OK ==> m->growable[\result.slot] == growable &&
      m->prev[\result.slot] == -1 && m->next[\result.slot] == -1 &&
      m->state[\result.slot] == (growable == 0 ? ASHLAR_FREE : ASHLAR_UNMAPPED);
*/
static struct ashlar_placement add(struct ashlar_manager *m, uint64_t address, uint64_t size,
                                   int32_t pool, int32_t class, int32_t stream, uint8_t growable)
{
  enum ashlar_status status = refusal(m, address, size, pool, class, stream);
  int32_t slot = -1;
  //@ ghost idle_open(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  if (status == ASHLAR_OK) {
    reserve(m, 1);
    slot = create(m, address, size, ashlar_home(pool, class, stream), growable);
    //@ ghost idle_close(m);
  }
  return placement(status, slot);
}

struct ashlar_placement ashlar_segment_add(struct ashlar_manager *m, uint64_t address,
                                           uint64_t size, int32_t pool, int32_t class,
                                           int32_t stream)
{
  return add(m, address, size, pool, class, stream, 0);
}

struct ashlar_placement ashlar_range_add(struct ashlar_manager *m, uint64_t address, uint64_t size,
                                         int32_t pool, int32_t class, int32_t stream)
{
  return add(m, address, size, pool, class, stream, 1);
}

/* Slots that are needed for what is before and behind a part of a block. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    terminates \true; exits \false;
    assigns \nothing;
    ensures parts: \result == parts_beside(m->addr[slot], m->size[slot], address, size);
    ensures two: 0 <= \result <= 2;
*/
static int32_t slots_beside(const struct ashlar_manager *m, int32_t slot, uint64_t address,
                            uint64_t size)
{
  uint64_t before = address - m->addr[slot];
  return (before > 0 ? 1 : 0) + (size < m->size[slot] - before ? 1 : 0);
}

/* Why a part of a block in a state cannot be taken. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires state: state != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures refusal: 0 < m->in_flight ? \result == ASHLAR_ERROR_BUSY :
      slot < 0 || m->top <= slot || m->state[slot] != state ? \result == ASHLAR_ERROR_SLOT :
      !is_part(m->addr[slot], m->size[slot], address, size) ? \result == ASHLAR_ERROR_RANGE :
      ROOM_OF(*m) < parts_beside(m->addr[slot], m->size[slot], address, size) ? \result == ASHLAR_ERROR_CAPACITY :
      \result == ASHLAR_OK;
*/
static enum ashlar_status part_refusal(const struct ashlar_manager *m, int32_t slot, uint8_t state,
                                       uint64_t address, uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  if (slot < 0 || slot >= m->top || m->state[slot] != state) {
    return ASHLAR_ERROR_SLOT;
  }
  if (size == 0 || size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 ||
      address < m->addr[slot] || address - m->addr[slot] > m->size[slot] ||
      size > m->size[slot] - (address - m->addr[slot])) {
    return ASHLAR_ERROR_RANGE;
  }
  return ashlar_reclaim_room(m) < slots_beside(m, slot, address, size) ? ASHLAR_ERROR_CAPACITY
                                                                       : ASHLAR_OK;
}

/* Cuts a taken block after `before` bytes; they are unmapped. Slot of the rest, which is taken. */
/*@ requires \valid(m); REQUIRES_STATE
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN && m->growable[slot] == 1;
    requires front: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] != ASHLAR_UNMAPPED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != ASHLAR_UNMAPPED;
    requires inside: before % 512 == 0 && 0 < before < m->size[slot];
    requires spare: 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_STATE ENSURES_LISTED
    ensures rest: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN &&
      m->addr[\result] == \old(m->addr[slot]) + before && m->size[\result] == \old(m->size[slot]) - before &&
      m->home[\result] == \old(m->home[slot]) && m->growable[\result] == 1;
    ensures new: \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures unmapped: m->state[slot] == ASHLAR_UNMAPPED;
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != ASHLAR_UNMAPPED;
    ensures spare: m->spare_count == \old(m->spare_count) - 1;
    ensures REQ_FRAME_cut_front: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j];
*/
static int32_t cut_front(struct ashlar_manager *m, int32_t slot, uint64_t before)
{
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  int32_t rest = ashlar_block_cut(m, slot, before);
  //@ assert apart: m->in_map[rest] != 1 && m->in_map[slot] != 1;
  /*@ assert starts: \forall integer j; 0 <= j < m->top ==> m->in_map[j] == 1 ==>
        m->addr[j] == \at(m->addr[j], Pre); */
  //@ ghost ashlar_map_close(m);
  ashlar_block_put_unmapped(m, slot);
  return rest;
}

/* Takes what an unmapped block has from `before` bytes on; what is before stays unmapped. Slot of the block taken. */
/*@ requires \valid(m); REQUIRES_STATE
    requires unmapped: 0 <= slot < m->top && m->state[slot] == ASHLAR_UNMAPPED;
    requires inside: before % 512 == 0 && before < m->size[slot];
    requires spare: 0 < before ==> 0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_STATE ENSURES_LISTED
    ensures taken: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN &&
      m->addr[\result] == \old(m->addr[slot]) + before && m->size[\result] == \old(m->size[slot]) - before &&
      m->home[\result] == \old(m->home[slot]) && m->growable[\result] == 1;
    ensures old: \old(*m).state[\result] == ASHLAR_UNMAPPED || \old(*m).state[\result] == ASHLAR_UNUSED;
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != ASHLAR_UNMAPPED;
    ensures spare: m->spare_count == \old(m->spare_count) - (0 < before ? 1 : 0);
    ensures REQ_FRAME_take: others_kept(\old(*m), *m, \result);
*/
static int32_t take_unmapped(struct ashlar_manager *m, int32_t slot, uint64_t before)
{
  //@ ghost ashlar_blocks_open(m);
  //@ assert behind: 0 <= m->next[slot] ==> m->next[slot] != slot && m->state[m->next[slot]] != ASHLAR_UNMAPPED;
  //@ assert front: 0 <= m->prev[slot] ==> m->prev[slot] != slot && m->state[m->prev[slot]] != ASHLAR_UNMAPPED;
  ashlar_block_take(m, slot);
  if (before > 0) {
    slot = cut_front(m, slot, before);
  }
  return slot;
}

/* Bytes before a part of a block. A function only for the provers, which lose this fact among the arrays. */
/*@ requires start % 512 == 0 && part % 512 == 0 && start <= part;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == part - start && \result % 512 == 0;
*/
static inline uint64_t bytes_before(uint64_t start, uint64_t part)
{
  return part - start;
}

/* Takes a part of an unmapped block; what is before and behind stays unmapped. Slot of the part. */
/*@ requires \valid(m); REQUIRES_STATE
    requires unmapped: 0 <= slot < m->top && m->state[slot] == ASHLAR_UNMAPPED;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires spare: parts_beside(m->addr[slot], m->size[slot], address, size) <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS;
    ENSURES_STATE ENSURES_LISTED
    ENSURES_CUT_OUT
*/
static int32_t cut_unmapped(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  slot = take_unmapped(m, slot, bytes_before(m->addr[slot], address));
  ashlar_growth_shorten(m, slot, size);
  return slot;
}

/* The same of a free block. */
/*@ requires \valid(m); REQUIRES_STATE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires entered: m->entered[slot] <= m->pool_searches[m->home[slot] / ASHLAR_STREAMS];
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires spare: parts_beside(m->addr[slot], m->size[slot], address, size) <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered);
    ENSURES_STATE ENSURES_LISTED
    ENSURES_CUT_OUT
*/
static int32_t cut_free(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t entered = m->entered[slot];
  slot = ashlar_allocation_take_from(m, slot, bytes_before(m->addr[slot], address));
  ashlar_allocation_shorten(m, slot, size, entered);
  return slot;
}

/* A part of an unmapped block is free, and what is before and behind stays unmapped. Slot of the block that has it. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires unmapped: 0 <= slot < m->top && m->state[slot] == ASHLAR_UNMAPPED;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires spare: parts_beside(m->addr[slot], m->size[slot], address, size) <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered);
    ENSURES_WHOLE
    ENSURES_REMADE(ASHLAR_FREE)
*/
static int32_t map_part(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  slot = cut_unmapped(m, slot, address, size);
  slot = ashlar_block_release(m, slot, ASHLAR_FREE);
  //@ ghost ashlar_blocks_open(m);
  /*@ assert used: \forall integer j; 0 <= j < m->top ==> \at(m->state[j], Pre) == ASHLAR_ALLOCATED ||
        \at(m->state[j], Pre) == ASHLAR_PENDING ==> m->state[j] == \at(m->state[j], Pre); */
  m->entered[slot] = searches(m, slot);
  //@ ghost ashlar_whole_close(m);
  return slot;
}

/* The other way about. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->growable[slot] == 1;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires spare: parts_beside(m->addr[slot], m->size[slot], address, size) <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ALL(entered);
    ENSURES_WHOLE
    ENSURES_REMADE(ASHLAR_UNMAPPED)
*/
static int32_t unmap_part(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  slot = cut_free(m, slot, address, size);
  slot = ashlar_block_release(m, slot, ASHLAR_UNMAPPED);
  /*@ assert used: \forall integer j; 0 <= j < m->top ==> \at(m->state[j], Pre) == ASHLAR_ALLOCATED ||
        \at(m->state[j], Pre) == ASHLAR_PENDING ==> m->state[j] == \at(m->state[j], Pre); */
  //@ ghost ashlar_whole_close(m);
  return slot;
}

struct ashlar_placement ashlar_range_map(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                         uint64_t size)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_UNMAPPED, address, size);
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  //@ ghost idle_open(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  reserve(m, slots_beside(m, slot, address, size));
  ashlar_segment_reserved(m, m->home[slot], size);
  slot = map_part(m, slot, address, size);
  //@ ghost idle_close(m);
  return placement(ASHLAR_OK, slot);
}

struct ashlar_placement ashlar_range_unmap(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_FREE, address, size);
  if (status == ASHLAR_OK && m->growable[slot] == 0) {
    status = ASHLAR_ERROR_SLOT;
  }
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  //@ ghost idle_open(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  reserve(m, slots_beside(m, slot, address, size));
  ashlar_segment_unreserved(m, m->home[slot], size);
  slot = unmap_part(m, slot, address, size);
  //@ ghost idle_close(m);
  return placement(ASHLAR_OK, slot);
}

/* A segment that is one block leaves the statistics, and is held. */
/*@ requires \valid(m); REQUIRES_STATE
    requires open: 0 <= slot < m->top && is_open(*m, slot) && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_RESERVED, m->oversize_segments, m->hold[slot], m->holder[slot];
    ENSURES_STATE ENSURES_LISTED
    ensures held: m->state[slot] == ASHLAR_HELD;
    ensures REQ_FRAME_withdraw: others_kept(\old(*m), *m, slot);
*/
static void withdraw(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  if (m->growable[slot] == 0) {
    ashlar_segment_leave(m, slot, 0);
  } else {
    if (m->state[slot] == ASHLAR_FREE) {
      ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
    }
    ashlar_growth_hold_range(m, 0, slot);
  }
}

/* Forgets a segment that is one block. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires open: 0 <= slot < m->top && is_open(*m, slot) && m->prev[slot] == -1 && m->next[slot] == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_BLOCKS, ASSIGNS_RESERVED, m->oversize_segments, m->hold[slot], m->holder[slot], ASSIGNS_SEGMENT_COUNTS;
    ENSURES_WHOLE
    ensures gone: m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_forget: others_kept(\old(*m), *m, slot) && m->generation[slot] == \old(m->generation[slot]);
*/
static void forget(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_pools_open(m);
  withdraw(m, slot);
  ashlar_segment_end(m, slot);
  //@ ghost ashlar_pools_close(m);
  //@ ghost ashlar_whole_close(m);
}

enum ashlar_status ashlar_segment_remove(struct ashlar_manager *m, int32_t slot)
{
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  //@ ghost idle_open(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (slot < 0 || slot >= m->top ||
      (m->state[slot] != ASHLAR_FREE && m->state[slot] != ASHLAR_UNMAPPED) || m->prev[slot] != -1 ||
      m->next[slot] != -1) {
    return ASHLAR_ERROR_SLOT;
  }
  forget(m, slot);
  ashlar_ladder_end_pools(m);
  //@ ghost idle_close(m);
  return ASHLAR_OK;
}

/* Allocates a part of a free block; its slot. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires spare: parts_beside(m->addr[slot], m->size[slot], address, size) <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->size[\result] == size && m->requested[\result] == requested && m->home[\result] == \old(m->home[slot]);
    ensures REQ_DISJOINT_blocks_new: !is_had(\old(*m), \result);
    ensures REQ_FRAME_place: others_kept(\old(*m), *m, \result);
    ensures REQ_LIFETIME_once_placed: m->references[\result] == 1 && \forall integer j; 0 <= j < m->top ==>
      j != \result ==> m->references[j] == \old(*m).references[j];
*/
static int32_t take_part(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                         uint64_t requested)
{
  //@ ghost ashlar_whole_open(m);
  slot = ashlar_allocation_take_at(m, slot, address, size, requested);
  //@ ghost ashlar_whole_close(m);
  return slot;
}

/* The same with the spare slots that it needs. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE;
    requires part: is_part(m->addr[slot], m->size[slot], address, size);
    requires room: parts_beside(m->addr[slot], m->size[slot], address, size) <= ROOM_OF(*m);
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ensures given: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && m->addr[\result] == address &&
      m->size[\result] == size && m->requested[\result] == requested && m->home[\result] == \old(m->home[slot]);
    ensures REQ_DISJOINT_blocks_new: \result < \old(m->top) ==> !is_had(\old(*m), \result);
    ensures REQ_FRAME_place: others_kept(\old(*m), *m, \result);
    ensures fresh: \old(m->top) <= m->top && \forall integer j; \old(m->top) <= j < m->top ==> j != \result ==>
      m->state[j] == ASHLAR_UNUSED || m->state[j] == ASHLAR_FREE || m->state[j] == ASHLAR_UNMAPPED;
    ensures REQ_LIFETIME_once_placed: m->references[\result] == 1 && \forall integer j; 0 <= j < m->top ==>
      j != \result ==> m->references[j] == \old(*m).references[j];
*/
static int32_t place(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                     uint64_t requested)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  reserve(m, slots_beside(m, slot, address, size));
  return take_part(m, slot, address, size, requested);
}

struct ashlar_placement ashlar_allocate_at(struct ashlar_manager *m, int32_t slot, uint64_t address,
                                           uint64_t size, uint64_t requested)
{
  enum ashlar_status status = part_refusal(m, slot, ASHLAR_FREE, address, size);
  if (status == ASHLAR_OK && requested > size) {
    status = ASHLAR_ERROR_RANGE;
  }
  if (status != ASHLAR_OK) {
    return placement(status, -1);
  }
  //@ ghost idle_open(m);
  slot = place(m, slot, address, size, requested);
  //@ ghost idle_close(m);
  return placement(ASHLAR_OK, slot);
}

/* Moves the end of an allocated block inside its room. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires spare: size < m->size[slot] ==> (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) ||
      0 < m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_resize: others_kept(\old(*m), *m, slot);
    ensures REQ_LIFETIME_once_resized: \forall integer j; 0 <= j < m->top ==> m->references[j] == \old(*m).references[j];
*/
static void resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_allocation_resize(m, slot, size);
  //@ ghost ashlar_whole_close(m);
}

/* The same with a spare slot, where it needs one. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires inside: 0 < size && size % 512 == 0 &&
      (size <= m->size[slot] || (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE &&
        size <= m->size[slot] + m->size[m->next[slot]]));
    requires needed: 0 <= needed <= 1 && needed <= ROOM_OF(*m) && (size < m->size[slot] ==>
      (0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE) || 0 < needed);
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE, ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ensures resized: m->state[slot] == ASHLAR_ALLOCATED && m->size[slot] == size &&
      m->addr[slot] == \old(m->addr[slot]) && m->requested[slot] == \old(m->requested[slot]);
    ensures REQ_FRAME_resize: others_kept(\old(*m), *m, slot);
    ensures fresh: \old(m->top) <= m->top && \forall integer j; \old(m->top) <= j < m->top ==>
      m->state[j] == ASHLAR_UNUSED || m->state[j] == ASHLAR_FREE || m->state[j] == ASHLAR_UNMAPPED;
    ensures REQ_LIFETIME_once_resized: \forall integer j; 0 <= j < m->top ==> m->references[j] == \old(*m).references[j];
*/
static void move_end(struct ashlar_manager *m, int32_t slot, uint64_t size, int32_t needed)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  reserve(m, needed);
  resize(m, slot, size);
}

/* Whether the block behind one is free. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures joins: \result != 0 <==> 0 <= m->next[slot] && m->state[m->next[slot]] == ASHLAR_FREE;
*/
static int joins(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  return m->next[slot] >= 0 && m->state[m->next[slot]] == ASHLAR_FREE;
}

enum ashlar_status ashlar_resize(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  uint64_t room;
  int32_t needed;
  if (m->in_flight > 0) {
    return ASHLAR_ERROR_BUSY;
  }
  //@ ghost idle_open(m);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_ALLOCATED) {
    return ASHLAR_ERROR_SLOT;
  }
  room = m->size[slot] + (joins(m, slot) ? m->size[m->next[slot]] : 0);
  needed = !joins(m, slot) && size < room ? 1 : 0;
  if (size == 0 || size % ASHLAR_GRANULE != 0 || size > room || size < m->requested[slot]) {
    return ASHLAR_ERROR_RANGE;
  }
  if (ashlar_reclaim_room(m) < needed) {
    return ASHLAR_ERROR_CAPACITY;
  }
  move_end(m, slot, size, needed);
  //@ ghost idle_close(m);
  return ASHLAR_OK;
}

struct ashlar_block_view ashlar_block(const struct ashlar_manager *m, int32_t slot)
{
  struct ashlar_block_view view;
  view.address = 0;
  view.size = 0;
  view.requested = 0;
  view.age = 0;
  view.prev = -1;
  view.next = -1;
  view.pool = 0;
  view.class = 0;
  view.stream = 0;
  view.generation = 0;
  view.state = ASHLAR_UNUSED;
  view.growable = 0;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (slot >= 0 && slot < m->top && m->state[slot] != ASHLAR_UNUSED) {
    view.address = m->addr[slot];
    view.size = m->size[slot];
    view.requested = m->requested[slot];
    view.age = m->age[slot];
    view.prev = m->prev[slot];
    view.next = m->next[slot];
    view.pool = ashlar_home_pool(m->home[slot]);
    view.class = ashlar_home_class(m->home[slot]);
    view.stream = ashlar_home_stream(m->home[slot]);
    view.generation = m->generation[slot];
    view.state = m->state[slot];
    view.growable = m->growable[slot];
  }
  return view;
}

int32_t ashlar_slot_limit(const struct ashlar_manager *m)
{
  return m->top;
}

int32_t ashlar_release_next(const struct ashlar_manager *m, int32_t slot)
{
  if (slot != -1 && (slot < 0 || slot >= m->top || m->state[slot] != ASHLAR_FREE)) {
    return -1;
  }
  return ashlar_reclaim_behind(m, slot);
}

uint64_t ashlar_largest(const struct ashlar_manager *m)
{
  uint64_t largest = 0;
  int32_t slot = 0;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  /*@ loop invariant slot: 0 <= slot <= m->top;
      loop invariant greatest: \forall integer i; 0 <= i < slot ==> m->state[i] == ASHLAR_FREE ==> m->size[i] <= largest;
      loop invariant one: largest == 0 || \exists integer i; 0 <= i < slot && m->state[i] == ASHLAR_FREE &&
        m->size[i] == largest;
      loop assigns slot, largest;
      loop variant m->top - slot;
  */
  while (slot < m->top) {
    if (m->state[slot] == ASHLAR_FREE && m->size[slot] > largest) {
      largest = m->size[slot];
    }
    slot++;
  }
  return largest;
}
