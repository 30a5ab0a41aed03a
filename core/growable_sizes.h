/* growable_sizes.h - what each growable segment holds: its stream, its class and the bytes of it that are mapped.
 *
 * For reports: a reservation says nothing of the memory behind it. Requirement: REQ-GROW-sizes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_GROWABLE_SIZES_H
#define ASHLAR_CORE_GROWABLE_SIZES_H

#include "core/block_table.h"
#include "core/manager.h"
#include "core/step.h"
#include "core/whole.h"
#include "spec/growable_sizes.h"

struct ashlar_growable_size {
  int32_t slot; /* of the first block of the segment; -1: there is none */
  int32_t stream;
  int32_t class;
  uint64_t mapped; /* bytes; what a request is unmapping counts as gone */
};

/* The next growable segment by the slot of its first block. Pass -1 for the first one, then the slot that was returned.
   Linear in the slots. */
/*@ requires \valid(m); requires whole: WHOLE_STATE;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_sizes_none: \result.slot == -1 ==> \forall integer i; slot < i < m->top ==> 0 <= i ==>
      !begins_growable(*m, i);
    ensures REQ_GROW_sizes_next: \result.slot != -1 ==> slot < \result.slot && 0 <= \result.slot < m->top &&
      begins_growable(*m, \result.slot) && \forall integer i; slot < i < \result.slot ==> 0 <= i ==>
      !begins_growable(*m, i);
    ensures REQ_GROW_sizes_home: \result.slot != -1 ==> \result.stream == m->home[\result.slot] % ASHLAR_STREAMS &&
      \result.class == m->home[\result.slot] / ASHLAR_STREAMS % ASHLAR_CLASSES;
    ensures REQ_GROW_sizes_mapped: \result.slot != -1 ==> \result.mapped ==
      mapped_in(m->state, m->hold, m->base, m->size, m->addr[\result.slot], m->top);
*/
struct ashlar_growable_size ashlar_growable_next(const struct ashlar_manager *m, int32_t slot);

#endif
