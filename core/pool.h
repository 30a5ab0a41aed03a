/* pool.h - private pools with their users, and scopes that route requests to them (REQ-POOL).
 *
 * A pool is a number, 0 for the default pool, which is always there. Users keep a private pool alive; when the last one
 * releases it, it is freeable, and it ends when the layer above has given its segments back. A scope names the requests
 * that a pool serves; a pool has at most one, so scopes are as many as pools and cannot run out before them.
 * Unless a contract says otherwise, an error changes nothing. No operation costs more than O(pools).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_POOL_H
#define ASHLAR_CORE_POOL_H

#include "core/manager.h"
#include "spec/groups.h"

/* For the prover only: the state opened into its clauses, and closed again. Comments to the compiler. */
/*@ ghost
  /@ requires \valid(m);
     requires pools: POOLS_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     POOL_CLAUSES(ensures)
  @/
  void ashlar_pools_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     POOL_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures pools: POOLS_STATE;
  @/
  void ashlar_pools_close(const struct ashlar_manager *m);
*/

struct ashlar_pool_creation {
  enum ashlar_status status;
  int32_t pool; /* 0 on an error */
};

/* Creates a pool with one user under the lowest number that stands for none; its segments come from `allocator`, 0: the
   device. ASHLAR_ERROR_POOLS: every number is taken (or 2^64 - 1 pools were created). O(pools). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serials, m->pool_top;
    ENSURES_POOLS
    ensures REQ_CAPACITY_others_pools: 
      \old(m->pool_serials) == UINT64_MAX || (\forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==> has_pool(\old(*m), p)) ?
      \result.status == ASHLAR_ERROR_POOLS : \result.status == ASHLAR_OK;
    ensures REQ_POOL_count_created: \result.status == ASHLAR_OK ==> has_pool(*m, \result.pool) &&
      m->pool_state[\result.pool] == ASHLAR_POOL_LIVE && m->pool_uses[\result.pool] == 1 &&
      m->pool_no_split[\result.pool] == 0;
    ensures REQ_POOL_allocator_given: \result.status == ASHLAR_OK ==> m->pool_allocator[\result.pool] == allocator;
    ensures lowest: \result.status == ASHLAR_OK ==> !has_pool(\old(*m), \result.pool) &&
      (\forall integer p; 0 < p < \result.pool ==> has_pool(\old(*m), p));
    ensures REQ_POOL_freeable_newest: \result.status == ASHLAR_OK ==> \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==>
      p != \result.pool ==> has_pool(*m, p) ==> m->pool_serial[p] < m->pool_serial[\result.pool];
    ensures REQ_FRAME_pools: \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==> p != \result.pool ==>
      same_pool(\old(*m), *m, p);
    ensures REQ_ATOMIC_pools: \result.status != ASHLAR_OK ==> \result.pool == 0 && same_pools(\old(*m), *m);
*/
struct ashlar_pool_creation ashlar_pool_create(struct ashlar_manager *m, uint32_t allocator);

/* 1 where the number stands for a private pool. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures has: \result != 0 <==> has_pool(*m, pool);
*/
int ashlar_pool_exists(const struct ashlar_manager *m, int32_t pool);

/* Adds a user. An allocator (other than 0) is given when a pool is created and may not be given here. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_POOL_count_acquire: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      \old(*m).pool_uses[pool] == 0 ? \result == ASHLAR_ERROR_POOL_RELEASED : allocator != 0 ? \result == ASHLAR_ERROR_POOL_ALLOCATOR :
      \old(*m).pool_uses[pool] == UINT32_MAX ? \result == ASHLAR_ERROR_POOL_USES : \result == ASHLAR_OK;
    ensures REQ_POOL_count_acquired: \result == ASHLAR_OK ==> m->pool_uses[pool] == \old(*m).pool_uses[pool] + 1;
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_pool_acquire(struct ashlar_manager *m, int32_t pool, uint32_t allocator);

/* Takes a user. Without any the pool is freeable, and may be split again. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS], m->pool_state[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_no_split[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_POOL_count_release: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      \old(*m).pool_uses[pool] == 0 ? \result == ASHLAR_ERROR_POOL_RELEASED : \result == ASHLAR_OK;
    ensures REQ_POOL_count_released: \result == ASHLAR_OK ==> m->pool_uses[pool] == \old(*m).pool_uses[pool] - 1;
    ensures REQ_POOL_count_last: \result == ASHLAR_OK ==> m->pool_uses[pool] == 0 ==>
      m->pool_state[pool] == ASHLAR_POOL_FREEABLE && m->pool_no_split[pool] == 0;
    ensures kept: \result == ASHLAR_OK ==> 0 < m->pool_uses[pool] ==> same_but_uses(\old(*m), *m, pool);
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_pool_release(struct ashlar_manager *m, int32_t pool);

/* Ends a freeable pool that has neither segments nor an open scope: its number stands for none. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_state[0 .. ASHLAR_PRIVATE_POOLS], m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS],
      m->pool_allocator[0 .. ASHLAR_PRIVATE_POOLS], m->pool_serial[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_POOL_freeable_end: !has_pool(\old(*m), pool) ? \result == ASHLAR_ERROR_POOL :
      \old(*m).pool_state[pool] != ASHLAR_POOL_FREEABLE || 0 < \old(*m).pool_segments[pool] ||
      0 < \old(*m).scope_serial[pool] ? \result == ASHLAR_ERROR_POOL_BUSY : \result == ASHLAR_OK;
    ensures ended: \result == ASHLAR_OK ==> !has_pool(*m, pool);
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_pool_end(struct ashlar_manager *m, int32_t pool);

/* Sets (or, with 0, takes away) the mark by which the pool lends free blocks to the default pool. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_use_on_oom[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_LADDER_fallback_mark: has_pool(*m, pool) ? \result == ASHLAR_OK : \result == ASHLAR_ERROR_POOL;
    ensures marked: \result == ASHLAR_OK ==> (m->pool_use_on_oom[pool] != 0 <==> on != 0);
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_pool_set_use_on_oom(struct ashlar_manager *m, int32_t pool, int on);

/* Marks the pool, until its last user releases it: no block of it is split. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_no_split[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_POOL_nosplit_mark: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      m->pool_uses[pool] == 0 ? \result == ASHLAR_ERROR_POOL_RELEASED : \result == ASHLAR_OK;
    ensures REQ_POOL_nosplit_marked: \result == ASHLAR_OK ==> m->pool_no_split[pool] != 0;
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_pool_set_no_split(struct ashlar_manager *m, int32_t pool);

/* The first pool that is freeable, or `own`, created behind the one whose m->pool_serial is `after`, 0: behind none; 0:
   there is none. The
   walk goes on where the pool that it stood at has ended. O(pools). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_POOL_freeable_order: walk_next(*m, after, ASHLAR_POOL_FREEABLE, 0, own, \result);
*/
int32_t ashlar_pool_next_freeable(const struct ashlar_manager *m, uint64_t after, int32_t own);

/* The same for live pools that lend to the default pool. O(pools). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_LADDER_fallback_order: walk_next(*m, after, ASHLAR_POOL_LIVE, 1, 0, \result);
*/
int32_t ashlar_pool_next_use_on_oom(const struct ashlar_manager *m, uint64_t after);

/* Acquires the pool and opens its scope: from now on it serves the requests of the thread (0: of all) on the stream
   (-1: on all). ASHLAR_ERROR_SCOPE_OPEN: the pool has an open scope; the count stays raised in the faithful policy.
   O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->pool_uses[0 .. ASHLAR_PRIVATE_POOLS], m->scope_serial[0 .. ASHLAR_PRIVATE_POOLS],
      m->scope_thread[0 .. ASHLAR_PRIVATE_POOLS], m->scope_stream[0 .. ASHLAR_PRIVATE_POOLS], m->scope_serials;
    ENSURES_POOLS
    ensures REQ_POOL_scope_open: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      \old(*m).pool_uses[pool] == 0 ? \result == ASHLAR_ERROR_POOL_RELEASED :
      \old(*m).pool_uses[pool] == UINT32_MAX ? \result == ASHLAR_ERROR_POOL_USES :
      stream < -1 || m->stream_count <= stream ? \result == ASHLAR_ERROR_STREAM :
      0 < \old(*m).scope_serial[pool] ? \result == ASHLAR_ERROR_SCOPE_OPEN :
      \old(m->scope_serials) == UINT64_MAX ? \result == ASHLAR_ERROR_SCOPES : \result == ASHLAR_OK;
    ensures REQ_POOL_scope_opened: \result == ASHLAR_OK ==> 0 < m->scope_serial[pool] &&
      m->scope_thread[pool] == thread && m->scope_stream[pool] == stream;
    ensures REQ_POOL_scope_newest: \result == ASHLAR_OK ==> \forall integer p; 0 <= p < ASHLAR_POOL_NUMBERS ==>
      p != pool ==> m->scope_serial[p] < m->scope_serial[pool];
    ensures REQ_POOL_scope_acquired: \result == ASHLAR_OK ==> m->pool_uses[pool] == \old(*m).pool_uses[pool] + 1;
    ensures REQ_POOL_scope_faithful: \result == ASHLAR_ERROR_SCOPE_OPEN ==> same_scope(\old(*m), *m, pool) &&
      m->scope_serials == \old(m->scope_serials) && m->pool_uses[pool] ==
      \old(*m).pool_uses[pool] + (m->config.policy == ASHLAR_POLICY_FAITHFUL ? 1 : 0);
    ENSURES_POOL_FRAME
    ensures REQ_ATOMIC_pools: \result != ASHLAR_OK ==>
      (\result == ASHLAR_ERROR_SCOPE_OPEN ==> m->config.policy != ASHLAR_POLICY_FAITHFUL) ==> same_pools(\old(*m), *m);
*/
enum ashlar_status ashlar_scope_open(struct ashlar_manager *m, int32_t pool, uint64_t thread,
                                     int32_t stream);

/* Closes the scope of a pool, which keeps its users. O(1). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns m->scope_serial[0 .. ASHLAR_PRIVATE_POOLS];
    ENSURES_POOLS
    ensures REQ_POOL_scope_close: !has_pool(*m, pool) ? \result == ASHLAR_ERROR_POOL :
      \old(*m).scope_serial[pool] == 0 ? \result == ASHLAR_ERROR_SCOPE : \result == ASHLAR_OK;
    ensures REQ_POOL_scope_closed: \result == ASHLAR_OK ==> m->scope_serial[pool] == 0;
    ENSURES_POOL_FRAME
    ENSURES_POOL_ATOMIC
*/
enum ashlar_status ashlar_scope_close(struct ashlar_manager *m, int32_t pool);

/* The pool that serves a request: that of the newest scope that applies, 0: the default pool. O(pools). */
/*@ requires \valid(m); REQUIRES_POOLS
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_POOL_scope_route: \result == 0 || has_pool(*m, \result) && scope_applies(*m, \result, thread, stream);
    ensures REQ_POOL_scope_route_newest: \forall integer p; 0 < p < ASHLAR_POOL_NUMBERS ==>
      scope_applies(*m, p, thread, stream) ==> 0 < \result && m->scope_serial[p] <= m->scope_serial[\result];
*/
int32_t ashlar_scope_route(const struct ashlar_manager *m, uint64_t thread, int32_t stream);

#endif
