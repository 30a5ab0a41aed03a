/* outcome.c - see outcome.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/outcome.h"

/*@ REQUIRES_GOING
    requires none: HOLDS_NONE(request);
    requires status: status != ASHLAR_ERROR_NO_REQUEST;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
    ensures error: \result.kind == ASHLAR_STEP_ERROR;
*/
static struct ashlar_step over_with_error(struct ashlar_manager *m, int32_t request,
                                          enum ashlar_status status)
{
  return ashlar_ladder_over(m, request, ashlar_step_error(status));
}

/* Whether [address, address + bytes) can be a segment. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures answers: \result != ASHLAR_ERROR_NO_REQUEST;
    ensures usable: \result == ASHLAR_OK ==> address % 512 == 0 && address + bytes <= UINT64_MAX &&
      all_bytes(m->bytes) + bytes <= UINT64_MAX && m->segments_created < UINT64_MAX;
*/
static enum ashlar_status usable(const struct ashlar_manager *m, uint64_t address, uint64_t bytes)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (address % ASHLAR_GRANULE != 0 || address > UINT64_MAX - bytes) {
    return ASHLAR_ERROR_RANGE;
  }
  if (bytes > UINT64_MAX - ashlar_block_bytes(m) || m->segments_created == UINT64_MAX) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

/* The device gave a segment: the request takes it. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_ALLOCATE;
    requires apart: APART(address, m->request[request].asked);
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step adopt(struct ashlar_manager *m, int32_t request, uint64_t address)
{
  uint64_t bytes = m->request[request].asked;
  enum ashlar_status status = usable(m, address, bytes);
  int32_t slot;
  if (status != ASHLAR_OK) {
    return over_with_error(m, request, status);
  }
  slot = ashlar_move_adopt(m, address, bytes, m->request[request].home, m->request[request].bytes,
                           m->request[request].size, m->request[request].growable);
  return ashlar_ladder_over(m, request, ashlar_ladder_about(m, ASHLAR_STEP_DONE, slot));
}

/* A range is reserved that is long enough: a segment without memory. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_RESERVE;
    requires apart: APART(address, m->request[request].asked);
    requires usable: address % 512 == 0 && address + m->request[request].asked <= UINT64_MAX &&
      all_bytes(m->bytes) + m->request[request].asked <= UINT64_MAX && m->segments_created < UINT64_MAX;
    requires room: has_room(*m);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step take_range(struct ashlar_manager *m, int32_t request, uint64_t address)
{
  m->request[request].address = address;
  (void)ashlar_move_add_range(m, address, m->request[request].asked, m->request[request].home);
  //@ assert added: FRAME(\at(*m, Pre), request, -1);
  ashlar_move_reserve(m); /* the range took a slot */
  //@ assert frame: FRAME(\at(*m, Pre), request, -1);
  m->request[request].growth = ASHLAR_GROWTH_NONE;
  m->request[request].reserved = 1;
  return ashlar_ladder_go(m, request);
}

/* A range is reserved that is too short, or that there are no slots for: it goes back. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_RESERVE;
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step refuse_range(struct ashlar_manager *m, int32_t request, uint64_t address)
{
  m->request[request].address = address;
  return ashlar_ladder_go(m, request);
}

/* A range is reserved: it is taken, or goes back where it is too short or there are no slots for it. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_RESERVE;
    requires apart: APART(address, m->request[request].asked);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step reserve(struct ashlar_manager *m, int32_t request, uint64_t address)
{
  uint64_t bytes = m->request[request].asked;
  enum ashlar_status status = usable(m, address, bytes);
  if (status != ASHLAR_OK) {
    return over_with_error(m, request, status);
  }
  if (bytes < m->request[request].size || !ashlar_reclaim_has_room(m)) {
    return refuse_range(m, request, address);
  }
  return take_range(m, request, address);
}

/* The device refused a segment. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_ALLOCATE;
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step allocate_refused(struct ashlar_manager *m, int32_t request)
{
  ashlar_ladder_next_rung(m, request);
  return ashlar_ladder_go(m, request);
}

/* What the request has mapped of its run stays, as free blocks; the rung is over. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_MAP;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_CHANGED
*/
static void give_up_run(struct ashlar_manager *m, int32_t request)
{
  ashlar_move_let_go(m, request);
  ashlar_ladder_next_rung(m, request);
}

/* A run is not mapped any further: what is mapped of it stays, as free blocks (faithful), or is to be undone. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_MAP;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_CHANGED
*/
static void stop_mapping(struct ashlar_manager *m, int32_t request)
{
  if (m->config.policy == ASHLAR_POLICY_FAITHFUL) {
    give_up_run(m, request);
  } else {
    m->request[request].growth = ASHLAR_GROWTH_UNDOING;
  }
}

/* The device refused to map. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_MAP;
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step map_refused(struct ashlar_manager *m, int32_t request)
{
  stop_mapping(m, request);
  return ashlar_ladder_go(m, request);
}

/* The device has unmapped the held block of a request: of its run, or a part of a segment, which may be all of it now. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_UNMAP;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_CHANGED
*/
static void unmapped(struct ashlar_manager *m, int32_t request)
{
  int32_t slot = m->request[request].slot;
  if (m->request[request].growth == ASHLAR_GROWTH_UNDOING) {
    return;
  }
  slot = ashlar_move_put(m, slot, ASHLAR_UNMAPPED, request);
  if (m->prev[slot] == -1 && m->next[slot] == -1) {
    ashlar_move_hold_range(m, slot, request);
    m->request[request].slot = slot;
    m->request[request].growth = ASHLAR_GROWTH_RETURNING;
  }
}

/* A range is given back: that of a segment, or one that was too short. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_UNRESERVE;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_CHANGED
*/
static void unreserved(struct ashlar_manager *m, int32_t request)
{
  if (m->request[request].growth == ASHLAR_GROWTH_RETURNING) {
    ashlar_move_end(m, m->request[request].slot, request);
    ashlar_ladder_end_pools(m);
    m->request[request].growth = ASHLAR_GROWTH_NONE;
  } else {
    ashlar_ladder_next_rung(m, request);
  }
}

/* What the last step of a request did, other than to get memory. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step != ASHLAR_STEP_ALLOCATE && m->request[request].step != ASHLAR_STEP_RESERVE;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_CHANGED
*/
static void carried_out(struct ashlar_manager *m, int32_t request, uint64_t value)
{
  switch (m->request[request].step) {
  case ASHLAR_STEP_RELEASE:
    ashlar_move_end(m, m->request[request].slot, request);
    ashlar_ladder_end_pools(m);
    break;
  case ASHLAR_STEP_UNRESERVE:
    unreserved(m, request);
    break;
  case ASHLAR_STEP_MAP:
    ashlar_move_mapped(m, m->request[request].slot, request);
    m->device_allocs = ashlar_saturating_sum(m->device_allocs, 1);
    break;
  case ASHLAR_STEP_UNMAP:
    unmapped(m, request);
    break;
  case ASHLAR_STEP_WAIT:
    (void)ashlar_move_finish(m, m->request[request].waited, m->request[request].number);
    break;
  default: /* callbacks */
    m->request[request].freed = value == 1 ? 1 : 0;
    ashlar_ladder_next_rung(m, request);
    break;
  }
}

/* What the last step did is carried out, and the request goes on. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step != ASHLAR_STEP_ALLOCATE && m->request[request].step != ASHLAR_STEP_RESERVE;
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step carry_on(struct ashlar_manager *m, int32_t request, uint64_t value)
{
  carried_out(m, request, value);
  return ashlar_ladder_go(m, request);
}

/* What the last step of a request was performed with. */
/*@ REQUIRES_REPORTED
    requires apart: m->request[request].step == ASHLAR_STEP_ALLOCATE || m->request[request].step == ASHLAR_STEP_RESERVE ==>
      APART(value, m->request[request].asked);
    requires ready: READY;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step performed(struct ashlar_manager *m, int32_t request, uint64_t value)
{
  if (m->request[request].step == ASHLAR_STEP_ALLOCATE) {
    return adopt(m, request, value);
  }
  if (m->request[request].step == ASHLAR_STEP_RESERVE) {
    return reserve(m, request, value);
  }
  return carry_on(m, request, value);
}

/* One device call less was made than was counted. */
/*@ requires \valid(m);
    terminates \true; exits \false;
    assigns m->device_frees;
*/
static void uncount_free(struct ashlar_manager *m)
{
  if (m->device_frees > 0) {
    m->device_frees--;
  }
}

/* A block that was to be unmapped is mapped still. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_UNMAP;
    terminates \true; exits \false;
    assigns m->hold[m->request[request].slot], ASSIGNS_RESERVED, m->device_frees;
    ENSURES_WHOLE
    ENSURES_FRAME(request, -1)
*/
static void stay_mapped(struct ashlar_manager *m, int32_t request)
{
  ashlar_move_mapped(m, m->request[request].slot, request);
  uncount_free(m);
}

/* The last step failed, of a request that holds a run. */
/*@ REQUIRES_REPORTED
    requires run: m->request[request].run != -1;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_LET_GO
*/
static void undo_run(struct ashlar_manager *m, int32_t request)
{
  if (m->request[request].step == ASHLAR_STEP_UNMAP) {
    stay_mapped(m, request);
  }
  ashlar_move_let_go(m, request);
}

/* The device did not unmap a part of a segment: it is free again. */
/*@ REQUIRES_REPORTED
    requires part: m->request[request].step == ASHLAR_STEP_UNMAP && m->request[request].run == -1;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_LET_GO
*/
static void undo_unmap(struct ashlar_manager *m, int32_t request)
{
  stay_mapped(m, request);
  (void)ashlar_move_put(m, m->request[request].slot, ASHLAR_FREE, request);
}

/* The device did not take a segment back: it is cached again. */
/*@ REQUIRES_REPORTED
    requires step: m->request[request].step == ASHLAR_STEP_RELEASE;
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_LET_GO
*/
static void undo_release(struct ashlar_manager *m, int32_t request)
{
  ashlar_move_stay(m, m->request[request].slot, request);
  uncount_free(m);
}

/* The last step failed: what the request holds is as it was before the step, and then nobody's. */
/*@ REQUIRES_REPORTED
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_LET_GO
*/
static void undo(struct ashlar_manager *m, int32_t request)
{
  if (m->request[request].run != -1) {
    undo_run(m, request);
  } else if (m->request[request].step == ASHLAR_STEP_RELEASE) {
    undo_release(m, request);
  } else if (m->request[request].step == ASHLAR_STEP_UNMAP) {
    undo_unmap(m, request);
  } else if (m->request[request].step == ASHLAR_STEP_UNRESERVE && m->request[request].slot != -1) {
    (void)ashlar_move_put(m, m->request[request].slot, ASHLAR_UNMAPPED, request);
  }
}

/* The last step failed: the request ends. */
/*@ REQUIRES_REPORTED
    terminates \true; exits \false;
    assigns ASSIGNS_RESUME;
    ENSURES_NEXT_STEP
*/
static struct ashlar_step failed(struct ashlar_manager *m, int32_t request)
{
  undo(m, request);
  return over_with_error(m, request, ASHLAR_ERROR_DEVICE);
}

struct ashlar_step ashlar_outcome_take(struct ashlar_manager *m, int32_t request,
                                       enum ashlar_outcome outcome, uint64_t value)
{
  if (outcome == ASHLAR_OUTCOME_DONE) {
    return performed(m, request, value);
  }
  if (outcome == ASHLAR_OUTCOME_REFUSED && m->request[request].step == ASHLAR_STEP_ALLOCATE) {
    return allocate_refused(m, request);
  }
  if (outcome == ASHLAR_OUTCOME_REFUSED && m->request[request].step == ASHLAR_STEP_MAP) {
    return map_refused(m, request);
  }
  return failed(m, request);
}

void ashlar_outcome_drop(struct ashlar_manager *m, int32_t request)
{
  uint32_t step = m->request[request].step;
  if (m->request[request].run != -1) {
    ashlar_move_let_go(m, request);
  } else if (step == ASHLAR_STEP_UNMAP) {
    (void)ashlar_move_put(m, m->request[request].slot, ASHLAR_UNMAPPED, request);
  } else if (step == ASHLAR_STEP_RELEASE ||
             (step == ASHLAR_STEP_UNRESERVE && m->request[request].slot != -1)) {
    ashlar_move_end(m, m->request[request].slot, request);
  }
}
