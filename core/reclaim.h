/* reclaim.h - which cached segments go back to the device, and in which order (REQ-LADDER).
 *
 * A segment can be released when it is one free block. Release order: large pool, then small pool; in a pool the
 * streams ascending by key; in a list the free-list order.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_RECLAIM_H
#define ASHLAR_CORE_RECLAIM_H

#include "core/block_table.h"
#include "core/stream_table.h"
#include "spec/reclaim.h"

/* First whole free block in release order, -1: none. Linear in the free blocks it passes over. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_first: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
    ensures REQ_LADDER_all_none: \result == -1 ==> nothing_to_release(*m);
*/
int32_t ashlar_reclaim_first(const struct ashlar_manager *m);

/* First whole free block behind `slot`, a block whose stream is registered, in release order; -1: none. */
/*@ requires \valid(m); REQUIRES_BLOCKS REQUIRES_STREAMS
    requires slot: 0 <= slot < m->top && 0 <= m->list[slot] < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_next: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
*/
int32_t ashlar_reclaim_next(const struct ashlar_manager *m, int32_t slot);

/* The next oversize block to release for a request that needs `bytes` (at least the split limit) in a list: the least
   whole free block of at least `bytes`; where there is none, the greatest of at least `limit`. -1: none. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires list: 0 <= list < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_oversize: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) &&
      m->list[\result] == list && (bytes <= m->size[\result] || limit <= m->size[\result]);
*/
int32_t ashlar_reclaim_oversize(const struct ashlar_manager *m, int32_t list, uint64_t bytes,
                                uint64_t limit);

#endif
