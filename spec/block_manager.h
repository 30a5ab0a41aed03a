/* block_manager.h (ACSL only) - the whole invariant of a manager, and legal settings.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_BLOCK_MANAGER_H
#define ASHLAR_SPEC_BLOCK_MANAGER_H
/*@
  predicate valid_config(struct ashlar_config c) =
    c.order <= ASHLAR_ORDER_SEGMENT && c.policy <= ASHLAR_POLICY_FAITHFUL &&
    10485760 < c.large_segment_size <= 1152921504606846975 && c.large_segment_size % 2097152 == 0 &&
    c.large_segment_size <= c.max_split_size && c.large_segment_size <= c.oversize_slack &&
    (\forall integer k; 0 <= k < ASHLAR_DIVISIONS ==> valid_division(c.divisions[k]));

  // there are slots for a new segment for the request in flight: its block, and the rest that is split off
  predicate segment_fits(struct ashlar_manager m) = 1 <= m.spare_count &&
    (splits_off(m.request.list / ASHLAR_STREAMS, m.request.segment, m.request.size, m.config.max_split_size) ==>
      2 <= m.spare_count);

  // a request in flight has a rounded size, a list, a segment to ask for, and the slots that it may need
  predicate request_valid(struct ashlar_manager m) =
    0 <= m.request.phase <= ASHLAR_PHASE_EMPTY_CACHE &&
    (m.request.phase != ASHLAR_PHASE_IDLE ==> m.request.phase != ASHLAR_PHASE_EMPTY_CACHE ==>
      0 < m.request.bytes <= m.request.size <= m.request.segment && m.request.size % 512 == 0 &&
      m.request.segment % 512 == 0 && 0 <= m.request.list < ASHLAR_LISTS && segment_fits(m));

  // the step that the caller performs is to ask the device for a segment
  predicate device_asked(struct ashlar_manager m) =
    m.request.phase == ASHLAR_PHASE_ALLOCATE || m.request.phase == ASHLAR_PHASE_ALLOCATE_OVERSIZE ||
    m.request.phase == ASHLAR_PHASE_ALLOCATE_LAST;
*/
// clang-format off
#define MANAGER_INVARIANT(K) BLOCK_TABLE_INVARIANT(K) \
  MAP_INVARIANT(K, -1) K streams: streams_in_range(m->stream_count, m->stream_order); K stream_order: streams_sorted(m->stream_count, m->stream_key, m->stream_order); \
  K settings: valid_config(m->config); K request: request_valid(*m);
#define REQUIRES_MANAGER MANAGER_INVARIANT(requires)
#define ENSURES_MANAGER MANAGER_INVARIANT(ensures)
#define ASSIGNS_MANAGER *m
// clang-format on
#endif
