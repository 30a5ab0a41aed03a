/* growth.c - see growth.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/growth.h"

/* Holds a taken block for a request. */
static void hold(struct ashlar_manager *m, int32_t slot, int32_t request, uint8_t why)
{
  ashlar_block_pass(m, slot, ASHLAR_HELD);
  m->hold[slot] = why;
  m->holder[slot] = request;
}

/* Holds an open block; of an unmapped one that is larger no more than `most` bytes. */
static void hold_open(struct ashlar_manager *m, int32_t slot, int32_t request, uint64_t most)
{
  uint8_t why = m->state[slot] == ASHLAR_FREE ? ASHLAR_HOLD_MAPPED : ASHLAR_HOLD_UNMAPPED;
  ashlar_block_take(m, slot);
  if (why == ASHLAR_HOLD_UNMAPPED && m->size[slot] > most) {
    int32_t rest = ashlar_block_cut(m, slot, most);
    ashlar_block_put_unmapped(m, rest);
  }
  hold(m, slot, request, why);
}

void ashlar_growth_hold(struct ashlar_manager *m, int32_t request, int32_t start)
{
  uint64_t page = ashlar_growable_page(m, m->home[start]);
  uint64_t missing = m->request[request].size;
  int32_t slot = start;
  hold_open(m, slot, request, ashlar_growable_pages(missing, page));
  while (m->size[slot] < missing) {
    missing -= m->size[slot];
    slot = m->next[slot];
    hold_open(m, slot, request, ashlar_growable_pages(missing, page));
  }
  m->request[request].run = start;
  m->request[request].run_end = m->addr[slot] + m->size[slot];
}

int32_t ashlar_growth_find(const struct ashlar_manager *m, int32_t request, int32_t slot,
                           uint8_t hold)
{
  while (m->hold[slot] != hold) {
    if (m->addr[slot] + m->size[slot] >= m->request[request].run_end) {
      return -1;
    }
    slot = m->next[slot];
  }
  return slot;
}

void ashlar_growth_mapped(struct ashlar_manager *m, int32_t slot)
{
  m->hold[slot] = ASHLAR_HOLD_FRESH;
  ashlar_segment_reserved(m, m->home[slot], m->size[slot]);
}

void ashlar_growth_unmapped(struct ashlar_manager *m, int32_t slot, uint8_t hold)
{
  m->hold[slot] = hold;
  ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
}

int32_t ashlar_growth_put(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  int32_t result;
  ashlar_block_pass(m, slot, ASHLAR_TAKEN);
  result = ashlar_block_release(m, slot, state);
  m->entered[result] = m->pool_searches[ashlar_home_pool_class(m->home[result])];
  return result;
}

/* Lets a block of a held run go, by what it is held for. */
static int32_t put_held(struct ashlar_manager *m, int32_t slot)
{
  return ashlar_growth_put(m, slot,
                           m->hold[slot] == ASHLAR_HOLD_UNMAPPED ? ASHLAR_UNMAPPED : ASHLAR_FREE);
}

int32_t ashlar_growth_let_go(struct ashlar_manager *m, int32_t request)
{
  uint64_t end = m->request[request].run_end;
  int32_t slot = m->request[request].run;
  m->request[request].run = -1;
  while (m->addr[slot] + m->size[slot] < end) {
    int32_t next = m->next[slot];
    (void)put_held(m, slot);
    slot = next;
  }
  return put_held(m, slot);
}

int32_t ashlar_growth_take_pages(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  uint64_t lead = ashlar_growable_lead(m, slot);
  uint64_t pages = ashlar_growable_whole(m, slot, lead);
  uint64_t entered = m->entered[slot];
  ashlar_block_take(m, slot);
  if (lead > 0) {
    int32_t rest = ashlar_block_cut(m, slot, lead);
    ashlar_block_put(m, slot);
    slot = rest;
  }
  if (pages < m->size[slot]) {
    int32_t rest = ashlar_block_cut(m, slot, pages);
    ashlar_block_put(m, rest);
    m->entered[rest] = entered;
  }
  hold(m, slot, request, ASHLAR_HOLD_LEAVING);
  ashlar_segment_unreserved(m, m->home[slot], m->size[slot]);
  return slot;
}

void ashlar_growth_hold_range(struct ashlar_manager *m, int32_t request, int32_t slot)
{
  ashlar_block_take(m, slot);
  hold(m, slot, request, ASHLAR_HOLD_LEAVING);
}
