/* address_map.h (ACSL only) - the invariant of the address map.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_ADDRESS_MAP_H
#define ASHLAR_SPEC_ADDRESS_MAP_H
/*@
  predicate map_in_range(struct ashlar_manager m) =
    0 <= m.top <= ASHLAR_SLOTS &&
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> 0 <= m.bucket[b] <= m.top) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> 0 <= m.chain[i] <= m.top);

  predicate zeroed_map(struct ashlar_manager m) =
    (\forall integer b; 0 <= b < ASHLAR_BUCKETS ==> m.bucket[b] == 0) &&
    (\forall integer i; 0 <= i < ASHLAR_SLOTS ==> m.chain[i] == 0);
*/
// clang-format off
#define REQUIRES_MAP requires map: map_in_range(*m);
#define ENSURES_MAP ensures map: map_in_range(*m);
// clang-format on
#endif
