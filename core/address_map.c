/* address_map.c - see address_map.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/address_map.h"

/* Block addresses are multiples of 512; the modulus is odd, so neighbouring blocks spread over the buckets. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures 0 <= \result < ASHLAR_BUCKETS;
*/
static uint32_t bucket_of(uint64_t addr)
{
  return (uint32_t)((addr / 512) % ASHLAR_BUCKETS);
}

int32_t ashlar_map_find(const struct ashlar_manager *m, uint64_t addr)
{
  int32_t link = m->bucket[bucket_of(addr)];
  int32_t left = m->top; /* a chain has at most one link a slot */
  /*@ loop invariant link: 0 <= link <= m->top && 0 <= left <= m->top;
      loop assigns link, left;
      loop variant left;
  */
  while (link > 0 && left > 0) {
    if (m->addr[link - 1] == addr) {
      return link - 1;
    }
    link = m->chain[link - 1];
    left--;
  }
  return -1;
}

void ashlar_map_insert(struct ashlar_manager *m, int32_t slot)
{
  uint32_t bucket = bucket_of(m->addr[slot]);
  m->chain[slot] = m->bucket[bucket];
  m->bucket[bucket] = slot + 1;
}

void ashlar_map_remove(struct ashlar_manager *m, int32_t slot)
{
  uint32_t bucket = bucket_of(m->addr[slot]);
  int32_t link = m->bucket[bucket];
  int32_t left = m->top;
  if (link == slot + 1) {
    m->bucket[bucket] = m->chain[slot];
    return;
  }
  /*@ loop invariant link: 0 <= link <= m->top && 0 <= left <= m->top;
      loop assigns link, left;
      loop variant left;
  */
  while (link > 0 && m->chain[link - 1] != slot + 1 && left > 0) {
    link = m->chain[link - 1];
    left--;
  }
  if (link > 0 && m->chain[link - 1] == slot + 1) {
    m->chain[link - 1] = m->chain[slot];
  }
}
