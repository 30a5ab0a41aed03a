/* growable_sizes.c - see growable_sizes.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/growable_sizes.h"

#include "core/home.h"

/*@ ghost
  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires k: 0 <= k <= m->top;
     terminates \true; exits \false;
     assigns \nothing;
     ensures bounded: bytes_before(m->state, m->size, k) <= UINT64_MAX;
  @/
  static void bounded(const struct ashlar_manager *m, int32_t k)
  {
    int32_t j = k;
    ashlar_blocks_open(m);
    /@ loop invariant j: k <= j <= m->top;
       loop invariant more: bytes_before(m->state, m->size, k) <= bytes_before(m->state, m->size, j);
       loop assigns j;
       loop variant m->top - j;
    @/
    while (j < m->top) j++;
  }
*/

/* Whether memory stands behind a block. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures backed: \result != 0 <==> is_reserved(m->state[slot], m->hold[slot]) == 1;
*/
static int is_backed(const struct ashlar_manager *m, int32_t slot)
{
  uint8_t state = m->state[slot];
  uint8_t hold = m->hold[slot];
  return state == ASHLAR_FREE || state == ASHLAR_ALLOCATED || state == ASHLAR_PENDING ||
         state == ASHLAR_TAKEN ||
         (state == ASHLAR_HELD && (hold == ASHLAR_HOLD_MAPPED || hold == ASHLAR_HOLD_FRESH));
}

/* Mapped bytes of the segment that begins at an address. */
/*@ requires \valid(m); requires blocks: BLOCKS_STATE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures mapped: \result == mapped_in(m->state, m->hold, m->base, m->size, address, m->top);
*/
static uint64_t mapped_bytes(const struct ashlar_manager *m, uint64_t address)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t mapped = 0;
  int32_t i = 0;
  /*@ loop invariant i: 0 <= i <= m->top;
      loop invariant mapped: mapped == mapped_in(m->state, m->hold, m->base, m->size, address, i);
      loop invariant less: mapped <= bytes_before(m->state, m->size, i);
      loop assigns i, mapped;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->base[i] == address && is_backed(m, i)) {
      //@ ghost bounded(m, i + 1);
      mapped += m->size[i];
    }
    i++;
  }
  return mapped;
}

/* The first block of a growable segment, from a slot on; -1: there is none. */
/*@ requires \valid(m); requires blocks: BLOCKS_STATE;
    requires from: 0 <= from;
    terminates \true; exits \false;
    assigns \nothing;
    ensures none: \result == -1 ==> \forall integer i; from <= i < m->top ==> !begins_growable(*m, i);
    ensures first: \result != -1 ==> from <= \result < m->top && begins_growable(*m, \result) &&
      \forall integer i; from <= i < \result ==> !begins_growable(*m, i);
*/
static int32_t first_from(const struct ashlar_manager *m, int32_t from)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t i = from;
  /*@ loop invariant i: from <= i;
      loop invariant passed: \forall integer j; from <= j < i ==> j < m->top ==> !begins_growable(*m, j);
      loop assigns i;
      loop variant m->top - i;
  */
  while (i < m->top) {
    if (m->state[i] != ASHLAR_UNUSED && m->growable[i] != 0 && m->prev[i] == -1) {
      return i;
    }
    i++;
  }
  return -1;
}

struct ashlar_growable_size ashlar_growable_next(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  struct ashlar_growable_size next;
  next.slot = -1;
  next.stream = 0;
  next.class = 0;
  next.mapped = 0;
  if (slot >= m->top) {
    return next;
  }
  next.slot = first_from(m, slot < 0 ? 0 : slot + 1);
  if (next.slot != -1) {
    next.stream = ashlar_home_stream(m->home[next.slot]);
    next.class = ashlar_home_class(m->home[next.slot]);
    next.mapped = mapped_bytes(m, m->addr[next.slot]);
  }
  return next;
}
