/* free_index.h (ACSL only) - the order of free lists and the invariant of the free index.
 *
 * Predicates take the manager by value: then WP (Typed+ref) sees a plain logic value and no memory. Quantifiers range
 * over one variable at a time with the bounds written first, the form that run-time checking executes as well.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_FREE_INDEX_H
#define ASHLAR_SPEC_FREE_INDEX_H
/*@
  // order of free blocks: list, size, age of the segment, address
  predicate key_less(integer l1, integer z1, integer g1, integer a1, integer l2, integer z2, integer g2, integer a2) =
    l1 < l2 || (l1 == l2 && (z1 < z2 || (z1 == z2 && (g1 < g2 || (g1 == g2 && a1 < a2)))));

  lemma key_less_transitive:
    \forall integer l1, z1, g1, a1, l2, z2, g2, a2, l3, z3, g3, a3;
      key_less(l1, z1, g1, a1, l2, z2, g2, a2) ==> key_less(l2, z2, g2, a2, l3, z3, g3, a3) ==>
      key_less(l1, z1, g1, a1, l3, z3, g3, a3);

  predicate block_less(struct ashlar_manager m, integer i, integer j) =
    key_less(m.list[i], m.size[i], m.age[i], m.addr[i], m.list[j], m.size[j], m.age[j], m.addr[j]);
  predicate below(struct ashlar_manager m, integer i, integer l, integer z, integer g, integer a) =
    key_less(m.list[i], m.size[i], m.age[i], m.addr[i], l, z, g, a);
  predicate above(struct ashlar_manager m, integer i, integer l, integer z, integer g, integer a) =
    key_less(l, z, g, a, m.list[i], m.size[i], m.age[i], m.addr[i]);

  predicate indexed(struct ashlar_manager m, integer i) = 0 <= m.place[i] < m.free_count;

  // `order` is a permutation of the slots in use and `place` its inverse
  predicate index_bijective(struct ashlar_manager m) =
    0 <= m.free_count <= m.top && 0 <= m.top <= ASHLAR_SLOTS &&
    (\forall integer k; 0 <= k < m.top ==> 0 <= m.order[k] < m.top && m.place[m.order[k]] == k) &&
    (\forall integer i; 0 <= i < m.top ==> 0 <= m.place[i] < m.top && m.order[m.place[i]] == i);

  // over arrays, as the folds of the block table are: writes to other fields leave it the same by syntax
  predicate sorted_by_key(int32_t order[ASHLAR_SLOTS], int32_t list[ASHLAR_SLOTS], uint64_t size[ASHLAR_SLOTS],
                          uint64_t age[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS], integer count) =
    \forall integer j; 0 <= j < count ==> \forall integer k; j < k < count ==>
      key_less(list[order[j]], size[order[j]], age[order[j]], addr[order[j]],
               list[order[k]], size[order[k]], age[order[k]], addr[order[k]]);
  predicate index_sorted(struct ashlar_manager m) =
    sorted_by_key(m.order, m.list, m.size, m.age, m.addr, m.free_count);
*/

/* One clause for each conjunct: each goal stays small, and a failure has a name. */
// clang-format off
#define REQUIRES_INDEX requires bijective: index_bijective(*m); requires sorted: index_sorted(*m);
#define ENSURES_INDEX ensures bijective: index_bijective(*m); ensures sorted: index_sorted(*m);
#define ASSIGNS_INDEX m->free_count, m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1]
// clang-format on
#endif
