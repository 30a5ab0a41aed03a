/* block_table.h (ACSL only) - the invariant of the block table, its folds, and what "unchanged" means.
 *
 * Element facts stand inside the quantifiers, never behind a predicate of their own: the provers instantiate on array
 * reads. State what is needed in both directions (next and prev), so that each proof needs one instantiation. Folds
 * take the arrays that they read and not the manager: then a write to any other field leaves them as they are by
 * syntax. (An array parameter needs a literal size: ASHLAR_SLOTS is a macro for that reason.)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_BLOCK_TABLE_H
#define ASHLAR_SPEC_BLOCK_TABLE_H
/*@
  predicate states_valid(integer top, uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> 0 <= state[i] <= 6;

  predicate blocks_in_range(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      0 < size[i] && addr[i] + size[i] <= UINT64_MAX && 0 <= home[i] < ASHLAR_LISTS;

  // a block is indexed by the pool and stream it belongs to; unmapped ones apart
  predicate blocks_listed(integer top, uint8_t state[ASHLAR_SLOTS], int32_t list[ASHLAR_SLOTS],
    int32_t home[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==>
      (state[i] == ASHLAR_UNMAPPED ==> list[i] == home[i] + ASHLAR_LISTS) &&
      (state[i] != ASHLAR_UNMAPPED ==> state[i] != ASHLAR_UNUSED ==> list[i] == home[i]);

  // REQ-SIZE: multiples of 512 bytes at addresses that are multiples of 512
  predicate blocks_aligned(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      addr[i] % 512 == 0 && size[i] % 512 == 0 && base[i] % 512 == 0;

  // REQ-DISJOINT
  predicate blocks_disjoint(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> \forall integer j; 0 <= j < top ==> i != j ==>
      state[i] != ASHLAR_UNUSED ==> state[j] != ASHLAR_UNUSED ==>
      addr[i] + size[i] <= addr[j] || addr[j] + size[j] <= addr[i];

  predicate links_next(integer top, uint8_t state[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    int32_t prev[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      -1 <= next[i] < top &&
      (0 <= next[i] ==> state[next[i]] != ASHLAR_UNUSED && prev[next[i]] == i);

  predicate links_prev(integer top, uint8_t state[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS],
    int32_t next[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      -1 <= prev[i] < top &&
      (0 <= prev[i] ==> state[prev[i]] != ASHLAR_UNUSED && next[prev[i]] == i);

  // REQ-TILE: the next block of a segment starts where this one ends, and is of the same segment, pool and stream
  predicate blocks_tile(integer top, uint8_t state[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], uint64_t age[ASHLAR_SLOTS],
    uint64_t base[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==> 0 <= next[i] ==>
      addr[next[i]] == addr[i] + size[i] && home[next[i]] == home[i] && age[next[i]] == age[i] &&
      base[next[i]] == base[i] && growable[next[i]] == growable[i];

  // a segment begins with its first block
  predicate blocks_based(integer top, uint8_t state[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], int32_t prev[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==>
      base[i] <= addr[i] && (prev[i] == -1 ==> base[i] == addr[i]);

  // only growable segments have addresses without memory
  predicate unmapped_growable(integer top, uint8_t state[ASHLAR_SLOTS], uint8_t growable[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==>
      (state[i] == ASHLAR_UNMAPPED ==> growable[i] == 1) && (state[i] != ASHLAR_UNUSED ==> growable[i] <= 1);

  // REQ-COALESCE: neighbours are not both free, nor both unmapped
  predicate blocks_coalesced(integer top, int32_t next[ASHLAR_SLOTS], uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> 0 <= next[i] ==>
      (state[i] == ASHLAR_FREE ==> state[next[i]] != ASHLAR_FREE) &&
      (state[i] == ASHLAR_UNMAPPED ==> state[next[i]] != ASHLAR_UNMAPPED);

  // the free index holds the free and the unmapped blocks and nothing else
  predicate index_is_free(integer top, int32_t place[ASHLAR_SLOTS], integer free_count, uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==>
      (0 <= place[i] < free_count <==> state[i] == ASHLAR_FREE || state[i] == ASHLAR_UNMAPPED);

  // REQ-CAPACITY: the spare slots are the unused ones, all of them
  predicate spares_unused(integer spare_count, integer top, int32_t spare[ASHLAR_SLOTS], uint8_t state[ASHLAR_SLOTS],
    int32_t next[ASHLAR_SLOTS]) =
    0 <= spare_count <= top &&
    (\forall integer k; 0 <= k < spare_count ==>
      0 <= spare[k] < top && state[spare[k]] == ASHLAR_UNUSED && next[spare[k]] == k);
  predicate unused_spare(integer top, uint8_t state[ASHLAR_SLOTS], int32_t next[ASHLAR_SLOTS], integer spare_count,
    int32_t spare[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_UNUSED ==>
      0 <= next[i] < spare_count && spare[next[i]] == i;

  // REQ-ACCOUNT: folds over the first k slots: bytes, and number, of those in state s
  logic integer bytes_in(uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer s, integer k) =
    k <= 0 ? 0 : bytes_in(state, size, s, k - 1) + (state[k - 1] == s ? size[k - 1] : 0);
  logic integer slots_in(uint8_t state[ASHLAR_SLOTS], integer s, integer k) =
    k <= 0 ? 0 : slots_in(state, s, k - 1) + (state[k - 1] == s ? 1 : 0);
  predicate bytes_counted(uint64_t bytes[7], uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer top) =
    bytes[ASHLAR_FREE] == bytes_in(state, size, ASHLAR_FREE, top) &&
    bytes[ASHLAR_ALLOCATED] == bytes_in(state, size, ASHLAR_ALLOCATED, top) &&
    bytes[ASHLAR_PENDING] == bytes_in(state, size, ASHLAR_PENDING, top) &&
    bytes[ASHLAR_UNMAPPED] == bytes_in(state, size, ASHLAR_UNMAPPED, top) &&
    bytes[ASHLAR_HELD] == bytes_in(state, size, ASHLAR_HELD, top) &&
    bytes[ASHLAR_TAKEN] == bytes_in(state, size, ASHLAR_TAKEN, top);
  logic integer all_bytes(uint64_t bytes[7]) =
    bytes[ASHLAR_FREE] + bytes[ASHLAR_ALLOCATED] + bytes[ASHLAR_PENDING] + bytes[ASHLAR_UNMAPPED] +
    bytes[ASHLAR_HELD] + bytes[ASHLAR_TAKEN];
  predicate bytes_bounded(uint64_t bytes[7]) = all_bytes(bytes) <= UINT64_MAX;
  predicate spares_counted(integer spare_count, uint8_t state[ASHLAR_SLOTS], integer top) = spare_count == slots_in(state, ASHLAR_UNUSED, top);

  // every block belongs to a stream that the table lists
  predicate homes_listed(integer top, uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer stream_count) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_UNUSED ==> home[i] % ASHLAR_STREAMS < stream_count;

  // REQ-LADDER-age: no free block entered its list after the last search
  predicate ages_valid(integer top, uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS],
    uint64_t entered[ASHLAR_SLOTS], uint64_t pool_searches[130]) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_FREE ==>
      entered[i] <= pool_searches[home[i] / ASHLAR_STREAMS];

  // between operations none has a block in its hands
  predicate none_taken(integer top, uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> state[i] != ASHLAR_TAKEN;

  // --- two states ---
  predicate same_block(struct ashlar_manager a, struct ashlar_manager b, integer i) =
    a.addr[i] == b.addr[i] && a.size[i] == b.size[i] && a.home[i] == b.home[i] && a.age[i] == b.age[i] &&
    a.base[i] == b.base[i] && a.growable[i] == b.growable[i] && a.requested[i] == b.requested[i];

  // somebody has the block: its owner, its pending uses, a request, an operation
  predicate is_had(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_ALLOCATED || m.state[i] == ASHLAR_PENDING || m.state[i] == ASHLAR_HELD ||
    m.state[i] == ASHLAR_TAKEN;

  // REQ-FRAME: blocks that somebody has, other than i, are the same set and the same blocks, each before the same one;
  // handles of other slots are kept
  predicate others_kept(struct ashlar_manager a, struct ashlar_manager b, integer i) =
    \forall integer j; 0 <= j < a.top ==> j != i ==>
      (is_had(a, j) || is_had(b, j) ==> a.state[j] == b.state[j] && same_block(a, b, j) && a.next[j] == b.next[j]) &&
      a.generation[j] == b.generation[j];

  // the same where pending blocks may have become free
  predicate is_owned(struct ashlar_manager m, integer i) =
    m.state[i] == ASHLAR_ALLOCATED || m.state[i] == ASHLAR_HELD || m.state[i] == ASHLAR_TAKEN;
  predicate owned_kept(struct ashlar_manager a, struct ashlar_manager b) =
    \forall integer j; 0 <= j < a.top ==>
      (is_owned(a, j) || is_owned(b, j) ==> a.state[j] == b.state[j] && same_block(a, b, j) && a.next[j] == b.next[j]) &&
      (b.state[j] == ASHLAR_PENDING ==> a.state[j] == ASHLAR_PENDING && same_block(a, b, j)) &&
      a.generation[j] == b.generation[j];

  // no slot comes into use, and none goes out of use whose block is the first of its segment
  predicate slots_left(integer top, uint8_t a_state[ASHLAR_SLOTS], uint8_t b_state[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS], uint64_t base[ASHLAR_SLOTS]) =
    \forall integer j; 0 <= j < top ==> (b_state[j] != ASHLAR_UNUSED ==> a_state[j] != ASHLAR_UNUSED) &&
      (a_state[j] != ASHLAR_UNUSED ==> base[j] == addr[j] ==> b_state[j] != ASHLAR_UNUSED);

  // every block is what it was
  predicate blocks_kept(struct ashlar_manager a, struct ashlar_manager b) =
    \forall integer j; 0 <= j < a.top ==> a.state[j] == b.state[j] && a.generation[j] == b.generation[j] &&
      (a.state[j] != ASHLAR_UNUSED ==> same_block(a, b, j) && a.prev[j] == b.prev[j] && a.next[j] == b.next[j]);
*/

// clang-format off
#define BLOCK_CLAUSES(K) \
  INDEX_INVARIANT(K) \
  K states: states_valid(m->top, m->state); \
  K range: blocks_in_range(m->top, m->state, m->size, m->addr, m->home); \
  K REQ_SIZE_aligned: blocks_aligned(m->top, m->state, m->addr, m->size, m->base); \
  K REQ_POOL_apart_listed: blocks_listed(m->top, m->state, m->list, m->home); \
  K REQ_DISJOINT_blocks: blocks_disjoint(m->top, m->state, m->addr, m->size); \
  K links_next: links_next(m->top, m->state, m->next, m->prev); \
  K links_prev: links_prev(m->top, m->state, m->prev, m->next); \
  K REQ_TILE_blocks: blocks_tile(m->top, m->state, m->next, m->addr, m->size, m->home, m->age, m->base, m->growable); \
  K REQ_TILE_base: blocks_based(m->top, m->state, m->base, m->addr, m->prev); \
  K growable: unmapped_growable(m->top, m->state, m->growable); \
  K REQ_COALESCE_blocks: blocks_coalesced(m->top, m->next, m->state); \
  K index: index_is_free(m->top, m->place, m->free_count, m->state); \
  K REQ_CAPACITY_spares: spares_unused(m->spare_count, m->top, m->spare, m->state, m->next); \
  K REQ_CAPACITY_unused: unused_spare(m->top, m->state, m->next, m->spare_count, m->spare); \
  K REQ_ACCOUNT_bytes: bytes_counted(m->bytes, m->state, m->size, m->top); \
  K REQ_ACCOUNT_total: bytes_bounded(m->bytes); \
  K REQ_ACCOUNT_spares: spares_counted(m->spare_count, m->state, m->top);
#define REQUIRES_BLOCKS requires blocks: BLOCKS_STATE;
#define ENSURES_BLOCKS ensures blocks: BLOCKS_STATE;

/* What an operation keeps, where it was so before: the streams of blocks are listed, the ages of free blocks are valid. */
#define ENSURES_LISTED \
  ensures homes: \old(homes_listed(m->top, m->state, m->home, m->stream_count)) ==> \
    homes_listed(m->top, m->state, m->home, m->stream_count); \
  ensures ages: \old(ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches)) ==> \
    ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches);
#define KEEPS_LISTED \
  loop invariant homes: \at(homes_listed(m->top, m->state, m->home, m->stream_count), Pre) ==> \
    homes_listed(m->top, m->state, m->home, m->stream_count); \
  loop invariant ages: \at(ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches), Pre) ==> \
    ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches);

/* Freed and coalesced blocks leave the segments what they are. */
#define SLOTS_LEFT(A) slots_left(m->top, (A).state, m->state, m->addr, m->base)
#define ENSURES_SLOTS_LEFT ensures REQ_STREAM_kept_slots: SLOTS_LEFT(\old(*m));

/* Every slot of an array. */
#define ALL(field) m->field[0 .. ASHLAR_SLOTS - 1]
#define ASSIGNS_RESERVE m->top, ALL(state), ALL(generation), ALL(in_map), ALL(next), ALL(spare), m->spare_count, \
  ALL(order), ALL(place)
#define ASSIGNS_BYTES m->bytes[0 .. ASHLAR_STATES - 1]
#define ASSIGNS_STATE ALL(state), ALL(list), ASSIGNS_BYTES, ASSIGNS_INDEX
#define ASSIGNS_SHAPE ALL(size), ALL(prev), ALL(next), ALL(spare), m->spare_count
#define ASSIGNS_IDENTITY ALL(addr), ALL(base), ALL(home), ALL(age), ALL(growable), ALL(requested)
#define ASSIGNS_FREED ASSIGNS_STATE, ASSIGNS_SHAPE, ALL(requested)
#define ASSIGNS_BLOCKS ASSIGNS_STATE, ASSIGNS_SHAPE, ASSIGNS_IDENTITY
// clang-format on
#endif
