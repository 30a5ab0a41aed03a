/* address_map.h (ACSL only) - the invariant of the address map.
 *
 * The chain of each bucket holds the blocks of the map in that bucket, all of them, ascending by slot. The order makes
 * "is in the chain" first-order: no slot of the bucket lies between a block and the next one of its chain. So no
 * reachability is needed. Which blocks are in the map is told by an array of its own, so that a block may change its
 * state while the map stays as it is.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_ADDRESS_MAP_H
#define ASHLAR_SPEC_ADDRESS_MAP_H
/*@
  // recursive for numbers that are no address, only so that the provers leave the divisions alone
  logic integer bucket_number(integer addr) =
    addr < 0 ? bucket_number(-addr) : (addr / 512) % ASHLAR_BUCKETS;

  predicate map_in_range(integer top, int32_t bucket[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS]) =
    0 <= top <= ASHLAR_SLOTS &&
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> 0 <= bucket[b] <= top) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> 0 <= chain[i] <= top);

  // A bucket holds a block of its number. Said of that block's slot, j, so that no read stands inside another, and
  // with two inequalities: provers would put the other side of an equation in the place of j.
  predicate map_heads(integer top, uint8_t in_map[ASHLAR_SLOTS], int32_t bucket[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS]) =
    \forall integer b; 0 <= b < ASHLAR_BUCKETS ==> \forall integer j; 0 <= j < top ==>
      bucket[b] <= j + 1 <= bucket[b] ==> in_map[j] == 1 && bucket_number(addr[j]) == b;

  // the next block of a chain is a block of the same bucket, of a higher slot
  predicate map_chains(integer top, uint8_t in_map[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> in_map[i] == 1 ==> \forall integer j; 0 <= j < top ==>
      chain[i] <= j + 1 <= chain[i] ==>
      i < j && in_map[j] == 1 && bucket_number(addr[j]) == bucket_number(addr[i]);

  // no block of a bucket is before its first one ...
  predicate map_first(integer top, uint8_t in_map[ASHLAR_SLOTS], int32_t bucket[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> in_map[i] == 1 ==> 0 < bucket[bucket_number(addr[i])] <= i + 1;

  // ... or between one and the next
  predicate map_next(integer top, uint8_t in_map[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS],
    uint64_t addr[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> in_map[i] == 1 ==> \forall integer j; i < j < top ==> in_map[j] == 1 ==>
      bucket_number(addr[i]) == bucket_number(addr[j]) ==> 0 < chain[i] <= j + 1;

  // the map has the allocated blocks, and no others
  predicate map_allocated(integer top, uint8_t in_map[ASHLAR_SLOTS], uint8_t state[ASHLAR_SLOTS]) =
    \forall integer i; 0 <= i < top ==> in_map[i] <= 1 && (in_map[i] == 1 <==> state[i] == ASHLAR_ALLOCATED);

  predicate zeroed_map(int32_t bucket[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS]) =
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> bucket[b] == 0) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> chain[i] == 0);
*/
// clang-format off
#define MAP_CLAUSES(K) K map: map_in_range(m->top, m->bucket, m->chain); \
  K map_heads: map_heads(m->top, m->in_map, m->bucket, m->addr); \
  K map_chains: map_chains(m->top, m->in_map, m->chain, m->addr); \
  K map_first: map_first(m->top, m->in_map, m->bucket, m->addr); \
  K map_next: map_next(m->top, m->in_map, m->chain, m->addr);
#define REQUIRES_MAP requires map: MAP_STATE;
#define ENSURES_MAP ensures map: MAP_STATE;
#define ASSIGNS_MAP m->bucket[0 .. ASHLAR_BUCKETS - 1], m->chain[0 .. ASHLAR_SLOTS - 1]
// clang-format on
#endif
