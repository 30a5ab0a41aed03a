/* outcome.h - what comes of the outcome of the step that a request waits for.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_OUTCOME_H
#define ASHLAR_CORE_OUTCOME_H

#include "core/ladder.h"

/* The outcome is carried out, and the request goes on or ends: its next step. O(pools), linear in the uses that are
   finished, O(free blocks) moves for each block that changes hands, linear in a bucket of the address map; and the
   rungs up to the next step: ashlar_ladder_go. */
/*@ REQUIRES_REPORTED
    requires apart: outcome == ASHLAR_OUTCOME_DONE ==> m->request[request].step == ASHLAR_STEP_ALLOCATE ||
      m->request[request].step == ASHLAR_STEP_RESERVE ==> APART(value, m->request[request].asked);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
struct ashlar_step ashlar_outcome_take(struct ashlar_manager *m, int32_t request,
                                       enum ashlar_outcome outcome, uint64_t value);

/* What a request that is dropped holds is nobody's; a release that was not reported counts as done. O(free blocks)
   moves for each block that it holds. */
/*@ REQUIRES_DROPPED
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_LET_GO
*/
void ashlar_outcome_drop(struct ashlar_manager *m, int32_t request);

#endif
