/* growable.h - growable segments: ranges of addresses that are reserved once, and mapped and unmapped in pages.
 *
 * The arithmetic of pages, and the search for a run of blocks to map. Requirement: REQ-GROW.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_GROWABLE_H
#define ASHLAR_CORE_GROWABLE_H

#include "core/segment.h"
#include "spec/growable.h"

/* Bytes of a page of growable segments of a home. O(1). */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    requires settings: page_allowed(m->config.large_segment_size);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_page: \result == page_of(m->config.large_segment_size, home);
    ensures bytes: 0 < \result <= 1152921504606846975 && \result % 512 == 0;
*/
uint64_t ashlar_growable_page(const struct ashlar_manager *m, int32_t home);

/* Least multiple of a page of `page` granules that is at least `bytes`, in bytes. O(1). */
/*@ requires page: 0 < page && bytes + page * 512 <= UINT64_MAX - 512;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_map_pages: rounds_up_to(\result, bytes, page * 512);
    ensures granule: \result % 512 == 0;
*/
uint64_t ashlar_growable_pages(uint64_t bytes, uint64_t page);

/* Bytes of the range to reserve for a home: REQ-GROW-reserve. O(1). */
/*@ requires \valid(m);
    requires home: 0 <= home < ASHLAR_LISTS;
    requires settings: page_allowed(m->config.large_segment_size) && m->config.device_total <= ASHLAR_MAX_REQUEST;
    terminates \true; exits \false;
    assigns \nothing;
    ensures granule: \result % 512 == 0;
    ensures some: 0 < m->config.device_total ==> 0 < \result;
    ensures REQ_GROW_reserve_bytes: rounds_up_to(\result, range_bytes(m->config.device_total, range_most(*m, home)),
      page_of(m->config.large_segment_size, home));
*/
uint64_t ashlar_growable_reservation(const struct ashlar_manager *m, int32_t home);

/* Of a block of a growable segment: bytes before its first whole page, and of its whole pages. O(1). */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires block: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    requires settings: page_allowed(m->config.large_segment_size);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_unmap_lead: \result == lead_of(*m, slot);
    ensures granule: 0 <= \result < page_of(m->config.large_segment_size, m->home[slot]) && \result % 512 == 0;
    ensures REQ_GROW_page_lead: rounds_up_to(m->addr[slot] - m->base[slot] + \result, m->addr[slot] - m->base[slot],
      page_of(m->config.large_segment_size, m->home[slot]));
*/
uint64_t ashlar_growable_lead(const struct ashlar_manager *m, int32_t slot);
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires block: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    requires settings: page_allowed(m->config.large_segment_size);
    requires lead: lead == lead_of(*m, slot) && lead % 512 == 0;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_unmap_pages: \result % 512 == 0 && (0 < \result ==> lead + \result <= m->size[slot]);
    ensures some: 0 < \result <==> has_pages(*m, slot);
    ensures REQ_GROW_unmap_most: rounds_down_to(\result, lead < m->size[slot] ? m->size[slot] - lead : 0,
      page_of(m->config.large_segment_size, m->home[slot]));
*/
uint64_t ashlar_growable_whole(const struct ashlar_manager *m, int32_t slot, uint64_t lead);

/* Where the run starts that a request of a home maps: the first run of open blocks, in the order of the addresses of
   its unmapped blocks, with at least `size` bytes. -1: there is none. O(log free blocks) for each pair of unmapped
   blocks of the home, and for each of them linear in its run. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS;
    requires size: 0 < size;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_GROW_run: \result != -1 ==> 0 <= \result < m->top && m->home[\result] == home && run_open(*m, \result, size) &&
      m->growable[\result] == 1;
    ensures REQ_GROW_run_start: \result != -1 ==> m->state[\result] == ASHLAR_UNMAPPED ||
      (0 <= m->next[\result] < m->top && gives_start(*m, home, m->next[\result], \result));
    ensures REQ_GROW_run_first: \forall integer i; 0 <= i < m->top ==> \forall integer start; 0 <= start < m->top ==>
      gives_start(*m, home, i, start) ==> run_open(*m, start, size) ==>
      \result != -1 && m->addr[\result] <= m->addr[start];
*/
int32_t ashlar_growable_run(const struct ashlar_manager *m, int32_t home, uint64_t size);

#endif
