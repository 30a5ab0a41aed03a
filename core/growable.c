/* growable.c - see growable.h. Pages are counted in granules, so that every result is a multiple of 512 by its form.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/growable.h"

/*@ ghost
  /@ requires product: granules == count * page;
     terminates \true; exits \false;
     assigns \nothing;
     ensures whole: multiple(granules * 512, page * 512);
  @/
  static void whole_pages(uint64_t granules, uint64_t count, uint64_t page)
  {
    //@ assert bytes: granules * 512 == count * (page * 512);
  }
*/

uint64_t ashlar_growable_page(const struct ashlar_manager *m, int32_t home)
{
  return ashlar_home_class(home) == ASHLAR_CLASS_SMALL ? ASHLAR_SMALL_SEGMENT
                                                       : m->config.large_segment_size;
}

uint64_t ashlar_growable_pages(uint64_t bytes, uint64_t page)
{
  uint64_t granules = bytes / ASHLAR_GRANULE + (bytes % ASHLAR_GRANULE == 0 ? 0 : 1);
  uint64_t over = granules % page;
  //@ ghost uint64_t count = granules / page;
  //@ assert quotient: count * page + over == granules;
  if (over > 0) {
    granules += page - over;
  }
  //@ ghost whole_pages(granules, over == 0 ? count : count + 1, page);
  return granules * ASHLAR_GRANULE;
}

uint64_t ashlar_growable_reservation(const struct ashlar_manager *m, int32_t home)
{
  uint64_t bytes = m->config.device_total + m->config.device_total / 8;
  uint64_t most = ashlar_home_class(home) == ASHLAR_CLASS_SMALL ? m->config.reservation_small
                                                                : m->config.reservation_large;
  if (most != 0 && most < bytes) {
    bytes = most;
  }
  uint64_t page = ashlar_growable_page(m, home) / ASHLAR_GRANULE;
  //@ assert page: page * 512 == page_of(m->config.large_segment_size, home);
  return ashlar_growable_pages(bytes, page);
}

uint64_t ashlar_growable_lead(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t bytes = ashlar_growable_page(m, m->home[slot]);
  uint64_t page = bytes / ASHLAR_GRANULE;
  uint64_t over = (m->addr[slot] - m->base[slot]) / ASHLAR_GRANULE % page;
  uint64_t lead = over == 0 ? 0 : (page - over) * ASHLAR_GRANULE;
  //@ assert lead: lead == lead_of(*m, slot);
  //@ assert granule: 0 <= lead < bytes && lead % 512 == 0;
  //@ ghost uint64_t granules = (m->addr[slot] - m->base[slot]) / ASHLAR_GRANULE;
  //@ ghost uint64_t count = granules / page;
  //@ assert page: page * 512 == bytes;
  //@ assert offset: granules * 512 == m->addr[slot] - m->base[slot];
  //@ assert quotient: count * page + over == granules;
  //@ ghost uint64_t total = over == 0 ? granules : granules + (page - over);
  //@ ghost whole_pages(total, over == 0 ? count : count + 1, page);
  //@ assert sum: m->addr[slot] - m->base[slot] + lead == total * 512;
  //@ assert multiple: multiple(total * 512, bytes);
  return lead;
}

uint64_t ashlar_growable_whole(const struct ashlar_manager *m, int32_t slot, uint64_t lead)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t bytes = ashlar_growable_page(m, m->home[slot]);
  uint64_t page = bytes / ASHLAR_GRANULE;
  uint64_t granules = lead < m->size[slot] ? (m->size[slot] - lead) / ASHLAR_GRANULE : 0;
  uint64_t over = granules % page;
  //@ ghost uint64_t count = granules / page;
  //@ assert page: page * 512 == bytes;
  //@ assert rest: granules * 512 == (lead < m->size[slot] ? m->size[slot] - lead : 0);
  //@ assert quotient: count * page + over == granules;
  //@ ghost whole_pages(granules - over, count, page);
  //@ assert none: granules < page ==> over == granules;
  //@ assert multiple: multiple((granules - over) * 512, bytes);
  return (granules - over) * ASHLAR_GRANULE;
}

/*@ requires \valid(m);
    requires slot: 0 <= slot < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures open: \result != 0 <==> is_open(*m, slot);
*/
static int is_open(const struct ashlar_manager *m, int32_t slot)
{
  return m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNMAPPED;
}

/* Whether the open blocks from one on have `size` bytes together. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    requires size: 0 < size;
    terminates \true; exits \false;
    assigns \nothing;
    ensures room: \result != 0 <==> run_open(*m, slot, size);
*/
static int has_room(const struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t missing = size;
  //@ ghost int32_t start = slot;
  //@ ghost int32_t last = slot;
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] != ASHLAR_UNUSED &&
        m->addr[slot] + missing == m->addr[start] + size && m->base[slot] == m->base[start] &&
        m->addr[start] <= m->addr[slot]);
      loop invariant missing: 0 < missing <= size;
      loop invariant passed: slot != -1 ==> \forall integer i; 0 <= i < m->top ==> m->state[i] != ASHLAR_UNUSED ==>
        m->addr[start] <= m->addr[i] < m->addr[slot] ==>
        is_open(*m, i) && m->base[i] == m->base[start] && 0 <= m->next[i];
      loop invariant ended: 0 <= last < m->top && (slot == -1 ==>
        m->state[last] != ASHLAR_UNUSED && m->next[last] == -1 &&
        m->addr[start] <= m->addr[last] && m->addr[last] + m->size[last] < m->addr[start] + size);
      loop assigns slot, missing, last;
      loop variant missing;
  */
  while (slot != -1 && is_open(m, slot) && m->size[slot] < missing) {
    //@ ghost last = slot;
    missing -= m->size[slot];
    slot = m->next[slot];
  }
  return slot != -1 && is_open(m, slot);
}

/* The unmapped block of a home with the least address that is at least `addr`; -1: none. */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures found: \result != -1 ==> 0 <= \result < m->top && m->state[\result] == ASHLAR_UNMAPPED &&
      m->home[\result] == home && addr <= m->addr[\result];
    ensures REQ_GROW_run_first: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_UNMAPPED ==>
      m->home[j] == home ==> addr <= m->addr[j] ==> \result != -1 && m->addr[\result] <= m->addr[j];
*/
static int32_t unmapped_after(const struct ashlar_manager *m, int32_t home, uint64_t addr)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t found = -1;
  int32_t slot = ashlar_index_after(m, home + ASHLAR_LISTS, 0, 0, 0);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> indexed(*m, slot) && m->list[slot] == home + ASHLAR_LISTS);
      loop invariant found: -1 <= found < m->top && (found != -1 ==> m->state[found] == ASHLAR_UNMAPPED &&
        m->home[found] == home && addr <= m->addr[found]);
      loop invariant passed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_UNMAPPED ==>
        m->home[j] == home ==> addr <= m->addr[j] ==>
        (found != -1 && m->addr[found] <= m->addr[j]) || (slot != -1 && (j == slot || block_less(*m, slot, j)));
      loop assigns slot, found;
      loop variant slot == -1 ? 0 : m->free_count - m->place[slot];
  */
  while (slot != -1) {
    if (m->addr[slot] >= addr && (found == -1 || m->addr[slot] < m->addr[found])) {
      found = slot;
    }
    slot = ashlar_index_after(m, home + ASHLAR_LISTS, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return found;
}

int32_t ashlar_growable_run(const struct ashlar_manager *m, int32_t home, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = unmapped_after(m, home, 0);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] == ASHLAR_UNMAPPED &&
        m->home[slot] == home);
      loop invariant passed: \forall integer i; 0 <= i < m->top ==> \forall integer j; 0 <= j < m->top ==>
        gives_start(*m, home, i, j) ==> slot == -1 || m->addr[i] < m->addr[slot] ==> !run_open(*m, j, size);
      loop assigns slot;
      loop variant slot == -1 ? 0 : UINT64_MAX - m->addr[slot] + 1;
  */
  while (slot != -1) {
    /*@ assert alone: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_UNMAPPED ==>
          m->addr[i] == m->addr[slot] ==> i == slot; */
    int32_t before = m->prev[slot];
    int32_t start = before != -1 && is_open(m, before) ? before : slot;
    //@ assert start: gives_start(*m, home, slot, start) && m->addr[start] <= m->addr[slot];
    if (has_room(m, start, size)) {
      /*@ assert behind: \forall integer i; 0 <= i < m->top ==> \forall integer j; 0 <= j < m->top ==>
            gives_start(*m, home, i, j) ==> m->addr[slot] < m->addr[i] ==> m->addr[slot] <= m->addr[j]; */
      return start;
    }
    slot = unmapped_after(m, home, m->addr[slot] + 1);
  }
  return -1;
}
