/* address_map.h (ACSL only) - the invariant of the address map.
 *
 * The chain of each bucket holds the allocated blocks of that bucket, all of them, ascending by slot. The order makes
 * "is in the chain" first-order: no slot of the bucket lies between a block and the next one of its chain. So no
 * reachability is needed.
 *
 * `out` is one allocated block that is not mapped, for the moments between handing out and mapping; -1: none.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_ADDRESS_MAP_H
#define ASHLAR_SPEC_ADDRESS_MAP_H
/*@
  // recursive for numbers that are no address, only so that the provers leave the divisions alone
  logic integer bucket_number(integer addr) =
    addr < 0 ? bucket_number(-addr) : (addr / 512) % ASHLAR_BUCKETS;

  predicate map_in_range(struct ashlar_manager m) =
    0 <= m.top <= ASHLAR_SLOTS &&
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> 0 <= m.bucket[b] <= m.top) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> 0 <= m.chain[i] <= m.top);

  // A bucket holds a mapped block of its number. Said of that block's slot, j, so that no read stands inside another,
  // and with two inequalities: provers would put the other side of an equation in the place of j.
  predicate map_heads(struct ashlar_manager m, integer out) =
    \forall integer b; 0 <= b < ASHLAR_BUCKETS ==> \forall integer j; 0 <= j < m.top ==>
      m.bucket[b] <= j + 1 <= m.bucket[b] ==>
        m.state[j] == ASHLAR_ALLOCATED && j != out && bucket_number(m.addr[j]) == b;

  // the next block of a chain is a mapped block of the same bucket, of a higher slot
  predicate chained(uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS], integer top,
                    integer out) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_ALLOCATED ==> i != out ==>
      \forall integer j; 0 <= j < top ==> chain[i] <= j + 1 <= chain[i] ==>
        i < j && state[j] == ASHLAR_ALLOCATED && j != out && bucket_number(addr[j]) == bucket_number(addr[i]);
  predicate map_chains(struct ashlar_manager m, integer out) = chained(m.state, m.addr, m.chain, m.top, out);

  // no mapped block of a bucket is before its first one ...
  predicate map_first(struct ashlar_manager m, integer out) =
    \forall integer i; 0 <= i < m.top ==> m.state[i] == ASHLAR_ALLOCATED ==> i != out ==>
      0 < m.bucket[bucket_number(m.addr[i])] <= i + 1;

  // ... or between one and the next
  predicate in_order(uint8_t state[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], int32_t chain[ASHLAR_SLOTS], integer top,
                     integer out) =
    \forall integer i; 0 <= i < top ==> state[i] == ASHLAR_ALLOCATED ==> i != out ==>
      \forall integer j; i < j < top ==> state[j] == ASHLAR_ALLOCATED ==> j != out ==>
        bucket_number(addr[i]) == bucket_number(addr[j]) ==> 0 < chain[i] <= j + 1;
  predicate map_next(struct ashlar_manager m, integer out) = in_order(m.state, m.addr, m.chain, m.top, out);

  predicate zeroed_map(struct ashlar_manager m) =
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> m.bucket[b] == 0) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> m.chain[i] == 0);
*/
// clang-format off
#define MAP_INVARIANT(K, OUT) K map: map_in_range(*m); K map_heads: map_heads(*m, OUT); \
  K map_chains: map_chains(*m, OUT); K map_first: map_first(*m, OUT); K map_next: map_next(*m, OUT);
#define REQUIRES_MAP(OUT) MAP_INVARIANT(requires, OUT)
#define ENSURES_MAP(OUT) MAP_INVARIANT(ensures, OUT)
// clang-format on
#endif
