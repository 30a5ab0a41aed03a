/* checkpoint.h (ACSL only) - what a record says of a block, and when it fits (REQ-CHECKPOINT). After struct ashlar_saved.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_CHECKPOINT_H
#define ASHLAR_SPEC_CHECKPOINT_H

#include "spec/rebuild.h"
/*@
  predicate in_pool(struct ashlar_manager m, integer pool, integer i) =
    m.home[i] / ASHLAR_STREAMS / ASHLAR_CLASSES == pool;
  // a block that has memory
  predicate is_mapped(struct ashlar_manager m, integer i) =
    m.state[i] != ASHLAR_UNUSED && m.state[i] != ASHLAR_UNMAPPED;
  // how many of the first k slots hold such a block of a pool, or, of these, an allocated one
  logic integer blocks_in(uint8_t state[ASHLAR_SLOTS], int32_t home[ASHLAR_SLOTS], integer pool, integer allocated,
    integer k) =
    k <= 0 ? 0 : blocks_in(state, home, pool, allocated, k - 1) +
      (state[k - 1] != ASHLAR_UNUSED && state[k - 1] != ASHLAR_UNMAPPED &&
        (allocated == 0 || state[k - 1] == ASHLAR_ALLOCATED) &&
        home[k - 1] / ASHLAR_STREAMS / ASHLAR_CLASSES == pool ? 1 : 0);

  // no block of the pool waits for a stream or for the device
  predicate pool_settled(struct ashlar_manager m, integer pool) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] == ASHLAR_PENDING || m.state[i] == ASHLAR_HELD ==>
      !in_pool(m, pool, i);
  // no block of the pool is used on another stream
  predicate pool_unused(struct ashlar_manager m, integer pool) =
    \forall integer u; 0 <= u < m.use_top ==> 0 <= m.use_block[u] ==> m.use_stream[u] != ASHLAR_STREAM_DEFERRED ==>
      !in_pool(m, pool, m.use_block[u]);

  // an entry is of a block
  predicate is_entry(struct ashlar_manager m, integer address, integer size, integer home, integer allocated, integer i) =
    address == m.addr[i] && size == m.size[i] && home == m.home[i] && (allocated != 0 <==> m.state[i] == ASHLAR_ALLOCATED);
  // an entry is of a mapped block of a pool
  predicate is_recorded(struct ashlar_manager m, integer pool, integer address, integer size, integer home,
    integer allocated) =
    \exists integer i; 0 <= i < m.top && is_mapped(m, i) && in_pool(m, pool, i) &&
      is_entry(m, address, size, home, allocated, i);
  // an entry has the mark of a stream
  predicate is_marked(struct ashlar_saved saved, integer s) = (saved.use[s / 64] >> (s % 64)) % 2 != 0;
  predicate marks_live(struct ashlar_manager m, struct ashlar_saved saved) =
    \forall integer s; 0 <= s < ASHLAR_STREAM_DEFERRED ==> is_marked(saved, s) ==> is_stream(m, s);

  // an address has memory of a home, in the segment that begins at `base`; so have all from one up to another
  predicate has_memory(struct ashlar_manager m, integer home, integer base, integer x) =
    \exists integer i; 0 <= i < m.top && is_mapped(m, i) && m.home[i] == home && m.base[i] == base &&
      m.addr[i] <= x < m.addr[i] + m.size[i];
  predicate is_backed(struct ashlar_manager m, integer home, integer base, integer from, integer to) =
    \forall integer x; from <= x < to ==> has_memory(m, home, base, x);
  predicate is_one_piece(struct ashlar_manager m, integer home, integer from, integer to) =
    \exists integer base; has_memory(m, home, base, from) && is_backed(m, home, base, from, to);
  predicate is_in_memory(struct ashlar_manager m, struct ashlar_saved saved) =
    is_one_piece(m, saved.home, saved.address, saved.address + saved.size);
  // an entry is of a pool, and makes sense
  predicate is_sound(struct ashlar_saved saved, integer pool) =
    0 <= saved.home < ASHLAR_LISTS && saved.home / ASHLAR_STREAMS / ASHLAR_CLASSES == pool && 0 < saved.size &&
    saved.size % 512 == 0 && saved.address % 512 == 0 && saved.address + saved.size <= UINT64_MAX;
  // an entry fits: the streams of its uses are live, and all of it has memory, in one segment
  predicate is_fit(struct ashlar_manager m, struct ashlar_saved saved, integer pool) =
    is_sound(saved, pool) && marks_live(m, saved) && is_in_memory(m, saved);

  // a free block of a home has room for some bytes, where they were; for an entry
  predicate is_room(struct ashlar_manager m, integer home, integer x, integer bytes) =
    \exists integer i; 0 <= i < m.top && m.state[i] == ASHLAR_FREE && m.home[i] == home && m.addr[i] <= x &&
      x + bytes <= m.addr[i] + m.size[i];
  predicate is_there(struct ashlar_manager m, struct ashlar_saved saved) =
    is_room(m, saved.home, saved.address, saved.size);
  // ... and it is a block as it was recorded
  predicate is_made(struct ashlar_manager m, struct ashlar_saved saved) =
    \exists integer i; 0 <= i < m.top && m.state[i] == ASHLAR_ALLOCATED && m.addr[i] == saved.address &&
      m.size[i] == saved.size && m.home[i] == saved.home;

  // REQ-FRAME: blocks that somebody has, but for allocated ones of the pool, are what they were
  predicate foreign_kept(struct ashlar_manager a, struct ashlar_manager b, integer pool) =
    \forall integer j; 0 <= j < a.top ==> is_had(a, j) ==> (a.state[j] == ASHLAR_ALLOCATED ==> !in_pool(a, pool, j)) ==>
      a.state[j] == b.state[j] && same_block(a, b, j) && a.next[j] == b.next[j] && a.generation[j] == b.generation[j];
  // ... and nobody has anything new,
  predicate pool_freed(struct ashlar_manager a, struct ashlar_manager b, integer pool) =
    foreign_kept(a, b, pool) &&
    (\forall integer j; 0 <= j < a.top ==> is_had(b, j) ==> a.state[j] == b.state[j] && same_block(a, b, j));
*/
// clang-format off
#define ENTRY_OF(SAVED, I) is_entry(*m, (SAVED).address, (SAVED).size, (SAVED).home, (SAVED).allocated, I)
#define HOME_POOL(I) (m->home[I] / ASHLAR_STREAMS / ASHLAR_CLASSES)
/* the first N entries are of mapped blocks of a pool */
#define RECORDED(POOL, SAVED, N) \forall integer k; 0 <= k < (N) ==> is_recorded(*m, POOL, (SAVED)[k].address, \
  (SAVED)[k].size, (SAVED)[k].home, (SAVED)[k].allocated)
#define ASSIGNS_TAKEN_BACK ASSIGNS_ENDED, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->oversize_allocations, ASSIGNS_MAP, \
  ALL(in_map), ALL(generation)
/* what has memory has it still, in its segment */
#define STILL_MEMORY(A) \forall integer h, b, x; has_memory(A, h, b, x) ==> has_memory(*m, h, b, x)
/* allocated blocks of a pool that no stream uses become free */
#define ENSURES_EMPTIED \
  ensures REQ_FRAME_free: pool_freed(\old(*m), *m, pool); \
  ensures unused: pool_unused(*m, pool); \
  ensures memory: STILL_MEMORY(\old(*m)); \
  ENSURES_SLOTS_LEFT \
  ensures spare: m->spare_count >= \old(m->spare_count);
#define KEEPS_EMPTYING \
  loop invariant frame: pool_freed(\at(*m, Pre), *m, pool); \
  loop invariant unused: pool_unused(*m, pool); \
  loop invariant left: SLOTS_LEFT(\at(*m, Pre)); \
  loop invariant memory: STILL_MEMORY(\at(*m, Pre)); \
  loop invariant spare: m->spare_count >= \at(m->spare_count, Pre);
/* an entry is a block again; what else is free is free still */
#define ENSURES_RESTORED \
  ensures REQ_CHECKPOINT_restore_block: 0 <= \result < m->top && m->state[\result] == ASHLAR_ALLOCATED && \
    m->addr[\result] == saved.address && m->size[\result] == saved.size && m->home[\result] == saved.home; \
  ensures new: !is_had(\old(*m), \result); \
  ensures left: \forall integer h, x, n; 0 < n ==> \
    x + n <= saved.address || saved.address + saved.size <= x ==> is_room(\old(*m), h, x, n) ==> is_room(*m, h, x, n); \
  ensures REQ_FRAME_rebuild: others_kept(\old(*m), *m, \result); \
  ensures spare: m->spare_count >= \old(m->spare_count) - 2;
/* no two entries have an address in common */
#define ENTRIES_APART \forall integer k, l; 0 <= k < l < count ==> \
  saved[k].address + saved[k].size <= saved[l].address || saved[l].address + saved[l].size <= saved[k].address
// clang-format on
#endif
