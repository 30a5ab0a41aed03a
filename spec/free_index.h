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
  predicate index_bijective(integer free_count, integer top, int32_t order[ASHLAR_SLOTS],
    int32_t place[ASHLAR_SLOTS]) =
    0 <= free_count <= top && 0 <= top <= ASHLAR_SLOTS &&
    (\forall integer k; 0 <= k < top ==> 0 <= order[k] < top && place[order[k]] == k) &&
    (\forall integer i; 0 <= i < top ==> 0 <= place[i] < top && order[place[i]] == i);

  predicate index_sorted(integer free_count, int32_t order[ASHLAR_SLOTS], int32_t list[ASHLAR_SLOTS],
    uint64_t size[ASHLAR_SLOTS], uint64_t age[ASHLAR_SLOTS], uint64_t addr[ASHLAR_SLOTS]) =
    \forall integer j; 0 <= j < free_count ==> \forall integer k; j < k < free_count ==>
      key_less(list[order[j]], size[order[j]], age[order[j]], addr[order[j]],
               list[order[k]], size[order[k]], age[order[k]], addr[order[k]]);
*/

/* One clause for each conjunct: each goal stays small, and a failure has a name. */
// clang-format off
#define INDEX_INVARIANT(K) K bijective: index_bijective(m->free_count, m->top, m->order, m->place); \
  K sorted: index_sorted(m->free_count, m->order, m->list, m->size, m->age, m->addr);
#define REQUIRES_INDEX INDEX_INVARIANT(requires)
#define ENSURES_INDEX INDEX_INVARIANT(ensures)
#define ASSIGNS_INDEX m->free_count, m->order[0 .. ASHLAR_SLOTS - 1], m->place[0 .. ASHLAR_SLOTS - 1]
// clang-format on
#endif
