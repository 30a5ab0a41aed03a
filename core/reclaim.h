/* reclaim.h - which cached memory goes back to the device, and in which order (REQ-LADDER).
 *
 * An ordinary segment can be released when it is one free block; of a growable one, whole pages of free blocks can be
 * unmapped. Release order: the default pool, large class first, then other pools in the order of their creation, small
 * class first; in a class ordinary segments before growable ones; streams ascending by key; in a list the free-list
 * order.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_RECLAIM_H
#define ASHLAR_CORE_RECLAIM_H

#include "core/growable.h"
#include "core/pool.h"
#include "core/stream_table.h"
#include "core/whole.h"
#include "spec/reclaim.h"

/* Slots that are spare or were never used. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CAPACITY_slots_room: \result == m->spare_count + ASHLAR_SLOTS - m->top;
*/
int32_t ashlar_reclaim_room(const struct ashlar_manager *m);

/* 1 where there are two slots beyond those that are set aside for requests in flight: growing and unmapping may take
   them. O(1). */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CAPACITY_slots_beyond: \result != 0 <==> has_room(*m);
*/
int ashlar_reclaim_has_room(const struct ashlar_manager *m);

/* The first block in release order that can be released, of the default pool (where `in_default` is not 0), of freeable
   pools, and of `own`, 0: none; -1: there is none. O(pools^2) for their order, O(log free blocks) for each stream of
   each of these pools, and again for each block passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_first: \result != -1 ==> 0 <= \result < m->top && can_go(*m, \result);
    ensures REQ_LADDER_order_default: in_default != 0 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
      m->home[j] / ASHLAR_STREAMS < ASHLAR_CLASSES ==> \result != -1 && (j == \result || pool_before(*m, \result, j));
    ensures REQ_POOL_freeable_gone: \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==>
      walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
      m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES == p ==>
      \result != -1 && (j == \result || pool_before(*m, \result, j));
    ensures REQ_POOL_freeable_only: \result != -1 ==>
      (m->home[\result] / ASHLAR_STREAMS < ASHLAR_CLASSES ? in_default != 0 :
      walks(*m, m->home[\result] / ASHLAR_STREAMS / ASHLAR_CLASSES, ASHLAR_POOL_FREEABLE, 0, own));
    ensures REQ_CANON_whole_default: nothing_active(*m) ==> \result == -1 ==> in_default != 0 ==> no_ordinary(*m, 0);
    ensures REQ_CANON_whole_freeable: nothing_active(*m) ==> \result == -1 ==>
      \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==> walks(*m, p, ASHLAR_POOL_FREEABLE, 0, own) ==>
      no_ordinary(*m, p);
    ensures REQ_LADDER_everything_default: \result == -1 ==> in_default != 0 ==> none_in_class(*m, 0) && none_in_class(*m, 1);
*/
int32_t ashlar_reclaim_next(const struct ashlar_manager *m, int in_default, int32_t own);

/* The same for one pool alone. O(log free blocks) for each stream, and again for each block passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires pool: 0 <= pool < ASHLAR_POOL_NUMBERS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_first_in_pool: \result != -1 ==> 0 <= \result < m->top && can_go(*m, \result) &&
      m->home[\result] / ASHLAR_STREAMS / ASHLAR_CLASSES == pool;
    ensures REQ_LADDER_order_in_pool: \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
      m->home[j] / ASHLAR_STREAMS / ASHLAR_CLASSES == pool ==>
      \result != -1 && (j == \result || goes_before(*m, \result, j));
    ensures REQ_GROW_release_order: \result != -1 ==> \forall integer j; 0 <= j < m->top ==> can_go(*m, j) ==>
      m->home[j] / ASHLAR_STREAMS == m->home[\result] / ASHLAR_STREAMS ==> j == \result || kind_before(*m, \result, j);
    ensures REQ_CANON_whole_free: nothing_active(*m) ==> ordinary_whole(*m);
    ensures REQ_CANON_whole_in_pool: nothing_active(*m) ==> \result == -1 ==> no_ordinary(*m, pool);
    ensures REQ_LADDER_everything_in_pool: \result == -1 ==>
      none_in_class(*m, pool * ASHLAR_CLASSES) && none_in_class(*m, pool * ASHLAR_CLASSES + 1);
*/
int32_t ashlar_reclaim_in_pool(const struct ashlar_manager *m, int32_t pool);

/* First whole free block of an ordinary segment behind `slot` (-1: of all) in the release order of the default pool;
   -1: none. For those who compare with a recorded order. O(log free blocks) for each stream, and again for each block
   passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires slot: slot == -1 || (0 <= slot < m->top && m->state[slot] == ASHLAR_FREE);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_next: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result);
    ensures REQ_LADDER_next_ordinary: slot == -1 || (m->home[slot] / ASHLAR_STREAMS < ASHLAR_CLASSES &&
      m->growable[slot] == 0) ==> \result != -1 ==> m->growable[\result] == 0 &&
      m->home[\result] / ASHLAR_STREAMS < ASHLAR_CLASSES;
    ensures REQ_LADDER_order_behind: slot == -1 || (m->home[slot] / ASHLAR_STREAMS < ASHLAR_CLASSES &&
      m->growable[slot] == 0) ==> \result != -1 ==> slot == -1 || goes_before(*m, slot, \result);
    ensures REQ_LADDER_order_next: slot == -1 || (m->home[slot] / ASHLAR_STREAMS < ASHLAR_CLASSES &&
      m->growable[slot] == 0) ==> \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==> m->growable[j] == 0 ==>
      m->home[j] / ASHLAR_STREAMS < ASHLAR_CLASSES ==> slot == -1 || goes_before(*m, slot, j) ==>
      \result != -1 && (j == \result || goes_before(*m, \result, j));
*/
int32_t ashlar_reclaim_behind(const struct ashlar_manager *m, int32_t slot);

/* The next oversize segment to release for a request that needs `bytes` (at least the split limit) of a list: the least
   of at least `bytes`, where `first` is not 0 and there is one; else the greatest of at least `limit`. -1: none.
   O(log free blocks), and again for each block passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_oversize: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) &&
      m->growable[\result] == 0 && m->home[\result] == home && (bytes <= m->size[\result] || limit <= m->size[\result]);
    ensures REQ_LADDER_oversize_least: first != 0 && 0 < bytes ==> \forall integer j; 0 <= j < m->top ==>
      whole_free(*m, j) ==> m->growable[j] == 0 ==> m->home[j] == home ==> bytes <= m->size[j] ==>
      \result != -1 && bytes <= m->size[\result] && (j == \result || block_less(*m, \result, j));
    ensures REQ_LADDER_oversize_greatest: \result != -1 ==> first == 0 || m->size[\result] < bytes ==>
      \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==> m->growable[j] == 0 ==> m->home[j] == home ==>
      j == \result || block_less(*m, j, \result);
    ensures REQ_LADDER_oversize_none: \result == -1 ==> \forall integer j; 0 <= j < m->top ==> whole_free(*m, j) ==>
      m->growable[j] == 0 ==> m->home[j] == home ==> m->size[j] < limit;
*/
int32_t ashlar_reclaim_oversize(const struct ashlar_manager *m, int32_t home, uint64_t bytes,
                                uint64_t limit, int first);

/* Collection by age. Whether ages count: there is a threshold, and what it is compared with. O(1). */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_age_counts: \result != 0 <==> ages_count(*m);
*/
int ashlar_collect_counts(const struct ashlar_manager *m);

/* A search in a pool and class is counted, while ages count. O(1). */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns m->pool_searches[0 .. ASHLAR_POOL_CLASSES - 1];
    ensures REQ_LADDER_age_more: \forall integer k; 0 <= k < ASHLAR_POOL_CLASSES ==>
      \old(*m).pool_searches[k] <= m->pool_searches[k];
    ensures REQ_LADDER_age_one: search_counted(\old(*m), *m, home / ASHLAR_STREAMS);
*/
void ashlar_collect_searched(struct ashlar_manager *m, int32_t home);

/* Mean age, rounded up, of the whole free blocks of the default pool's large class; UINT64_MAX: there is none.
   O(log free blocks) for each stream, and again for each free block of the class. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
*/
uint64_t ashlar_collect_mean(const struct ashlar_manager *m);

/* First of those of ordinary segments, in release order, whose age is at least `cutoff`; -1: none. O(log free blocks)
   for each stream, and again for each block passed over. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_collect_old: \result != -1 ==> 0 <= \result < m->top && whole_free(*m, \result) &&
      m->growable[\result] == 0 && m->home[\result] / ASHLAR_STREAMS == ASHLAR_CLASS_LARGE &&
      cutoff <= m->pool_searches[ASHLAR_CLASS_LARGE] - m->entered[\result];
    ensures REQ_LADDER_collect_first: \forall integer j; 0 <= j < m->top ==> is_collected(*m, j, cutoff) ==>
      \result != -1 && (j == \result || list_before(*m, \result, j));
*/
int32_t ashlar_collect_next(const struct ashlar_manager *m, uint64_t cutoff);

#endif
