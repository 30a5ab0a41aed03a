/* block_table.h (ACSL only) - the invariant of the block table, its folds, and what "unchanged" means.
 *
 * Element facts stand inside the quantifiers, never behind a predicate of their own: the provers instantiate on array
 * reads. State what is needed in both directions (next and prev), so that each proof needs one instantiation.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_BLOCK_TABLE_H
#define ASHLAR_SPEC_BLOCK_TABLE_H
/*@
  predicate states_valid(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> 0 <= m.state[i] <= 2;

  predicate blocks_in_range(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      0 < m.size[i] && m.addr[i] + m.size[i] <= UINT64_MAX && 0 <= m.list[i] < ASHLAR_LISTS;

  // REQ-SIZE: multiples of 512 bytes at addresses that are multiples of 512
  predicate blocks_aligned(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      m.addr[i] % 512 == 0 && m.size[i] % 512 == 0;

  // REQ-DISJOINT; over arrays, so that it survives writes to other fields without a look inside
  predicate disjoint(uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
                     integer top) =
    \forall integer i; 0 <= i < top ==> \forall integer j; 0 <= j < top ==> i != j ==>
      state[i] != ASHLAR_UNUSED ==> state[j] != ASHLAR_UNUSED ==>
      addr[i] + size[i] <= addr[j] || addr[j] + size[j] <= addr[i];
  predicate blocks_disjoint(struct ashlar_manager m) = disjoint(m.state, m.addr, m.size, m.top);

  predicate links_next(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      -1 <= m.next[i] < m.top &&
      (0 <= m.next[i] ==> m.state[m.next[i]] != ASHLAR_UNUSED && m.prev[m.next[i]] == i);

  predicate links_prev(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==>
      -1 <= m.prev[i] < m.top &&
      (0 <= m.prev[i] ==> m.state[m.prev[i]] != ASHLAR_UNUSED && m.next[m.prev[i]] == i);

  // REQ-TILE: the next block of a segment starts where this one ends; both are of one list and one segment age
  predicate blocks_tile(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] != ASHLAR_UNUSED ==> 0 <= m.next[i] ==>
      m.addr[m.next[i]] == m.addr[i] + m.size[i] && m.list[m.next[i]] == m.list[i] && m.age[m.next[i]] == m.age[i];

  // REQ-COALESCE
  predicate blocks_coalesced(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] == ASHLAR_FREE ==> 0 <= m.next[i] ==>
      m.state[m.next[i]] != ASHLAR_FREE;

  // the free index holds the free blocks and nothing else
  predicate index_is_free(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> (indexed(m, i) <==> m.state[i] == ASHLAR_FREE);

  // REQ-CAPACITY: the spare slots are the unused ones, all of them
  predicate spares_unused(struct ashlar_manager m) =
    0 <= m.spare_count <= m.top &&
    (\forall integer k; 0 <= k < m.spare_count ==>
      0 <= m.spare[k] < m.top && m.state[m.spare[k]] == ASHLAR_UNUSED && m.next[m.spare[k]] == k);
  predicate unused_spare(struct ashlar_manager m) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] == ASHLAR_UNUSED ==>
      0 <= m.next[i] < m.spare_count && m.spare[m.next[i]] == i;

  // REQ-ACCOUNT: folds over the first k slots: bytes, and number, of those in state s. They take the arrays and not the
  // manager, so that after a write to any other field they are the same by syntax. (The sizes must be literals.)
  logic integer bytes_in(uint8_t state[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS], integer s, integer k) =
    k <= 0 ? 0 : bytes_in(state, size, s, k - 1) + (state[k - 1] == s ? size[k - 1] : 0);
  logic integer slots_in(uint8_t state[ASHLAR_SLOTS], integer s, integer k) =
    k <= 0 ? 0 : slots_in(state, s, k - 1) + (state[k - 1] == s ? 1 : 0);
  predicate bytes_counted(struct ashlar_manager m) =
    m.allocated_bytes == bytes_in(m.state, m.size, ASHLAR_ALLOCATED, m.top) &&
    m.free_bytes == bytes_in(m.state, m.size, ASHLAR_FREE, m.top) &&
    m.allocated_bytes + m.free_bytes <= UINT64_MAX;
  predicate spares_counted(struct ashlar_manager m) = m.spare_count == slots_in(m.state, ASHLAR_UNUSED, m.top);

  // --- two states ---
  predicate same_block(struct ashlar_manager a, struct ashlar_manager b, integer i) =
    a.addr[i] == b.addr[i] && a.size[i] == b.size[i] && a.list[i] == b.list[i] && a.age[i] == b.age[i] &&
    a.requested[i] == b.requested[i];

  // REQ-FRAME: allocated blocks other than i are the same set, with the same contents; handles of other slots are kept
  predicate others_kept(struct ashlar_manager a, struct ashlar_manager b, integer i) =
    \forall integer j; 0 <= j < a.top ==> j != i ==>
      (a.state[j] == ASHLAR_ALLOCATED <==> b.state[j] == ASHLAR_ALLOCATED) &&
      (a.state[j] == ASHLAR_ALLOCATED ==> same_block(a, b, j)) && a.generation[j] == b.generation[j];

  // every block is what it was
  predicate blocks_kept(struct ashlar_manager a, struct ashlar_manager b) =
    \forall integer j; 0 <= j < a.top ==> a.state[j] == b.state[j] && a.generation[j] == b.generation[j] &&
      (a.state[j] != ASHLAR_UNUSED ==> same_block(a, b, j) && a.prev[j] == b.prev[j] && a.next[j] == b.next[j]);
*/

// clang-format off
#define BLOCK_TABLE_INVARIANT(K) \
  REQ_INVARIANT_INDEX(K) \
  K states: states_valid(*m); K range: blocks_in_range(*m); K REQ_SIZE_aligned: blocks_aligned(*m); \
  K REQ_DISJOINT_blocks: blocks_disjoint(*m); K links_next: links_next(*m); K links_prev: links_prev(*m); \
  K REQ_TILE_blocks: blocks_tile(*m); K REQ_COALESCE_blocks: blocks_coalesced(*m); K index: index_is_free(*m); \
  K REQ_CAPACITY_spares: spares_unused(*m); K REQ_CAPACITY_unused: unused_spare(*m); \
  K REQ_ACCOUNT_bytes: bytes_counted(*m); K REQ_ACCOUNT_spares: spares_counted(*m);
#define REQ_INVARIANT_INDEX(K) K bijective: index_bijective(*m); K sorted: index_sorted(*m);
#define REQUIRES_BLOCKS BLOCK_TABLE_INVARIANT(requires)
#define ENSURES_BLOCKS BLOCK_TABLE_INVARIANT(ensures)
#define ASSIGNS_STATE m->state[0 .. ASHLAR_SLOTS - 1], m->allocated_bytes, m->free_bytes, ASSIGNS_INDEX
#define ASSIGNS_SHAPE m->size[0 .. ASHLAR_SLOTS - 1], m->prev[0 .. ASHLAR_SLOTS - 1], m->next[0 .. ASHLAR_SLOTS - 1], m->spare[0 .. ASHLAR_SLOTS - 1], m->spare_count
#define ASSIGNS_BLOCKS ASSIGNS_STATE, ASSIGNS_SHAPE, m->addr[0 .. ASHLAR_SLOTS - 1], m->list[0 .. ASHLAR_SLOTS - 1], m->age[0 .. ASHLAR_SLOTS - 1], \
  m->requested[0 .. ASHLAR_SLOTS - 1]
// clang-format on
#endif
