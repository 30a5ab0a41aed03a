/* address_map.c - see address_map.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/address_map.h"

/*@ ghost
  void ashlar_map_open(const struct ashlar_manager *m) { ; }

  void ashlar_map_close(const struct ashlar_manager *m) { ; }
*/

/* Block addresses are multiples of 512; the modulus is odd, so neighbouring blocks spread over the buckets. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 <= \result < ASHLAR_BUCKETS;
    ensures number: \result == bucket_number(addr);
*/
static uint32_t bucket_of(uint64_t addr)
{
  return (uint32_t)((addr / 512) % ASHLAR_BUCKETS);
}

int32_t ashlar_map_find(const struct ashlar_manager *m, uint64_t addr)
{
  //@ ghost ashlar_map_open(m);
  int32_t link = m->bucket[bucket_of(addr)];
  /*@ loop invariant link: 0 <= link <= m->top;
      loop invariant mapped: 0 < link ==> m->in_map[link - 1] == 1 &&
        bucket_number(m->addr[link - 1]) == bucket_number(addr);
      loop invariant ahead: \forall integer j; 0 <= j < m->top ==> m->in_map[j] == 1 ==>
        m->addr[j] == addr ==> 0 < link <= j + 1;
      loop assigns link;
      loop variant link == 0 ? 0 : m->top + 1 - link;
  */
  while (link > 0) {
    if (m->addr[link - 1] == addr) {
      return link - 1;
    }
    link = m->chain[link - 1];
  }
  return -1;
}

/* The last block before `slot`, which is in the map or about to be, in the chain of its bucket, from a link before it on. */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top;
    requires map: map_in_range(m->top, m->bucket, m->chain);
    requires chains: \forall integer i; 0 <= i < slot ==> m->in_map[i] == 1 ==>
      \forall integer j; 0 <= j < m->top ==> m->chain[i] <= j + 1 <= m->chain[i] ==>
        i < j && m->in_map[j] == 1 && bucket_number(m->addr[j]) == bucket_number(m->addr[i]);
    requires link: 0 < link <= slot && m->in_map[link - 1] == 1 &&
      bucket_number(m->addr[link - 1]) == bucket_number(m->addr[slot]);
    terminates \true; exits \false;
    assigns \nothing;
    ensures block: 0 <= \result < slot && m->in_map[\result] == 1 &&
      bucket_number(m->addr[\result]) == bucket_number(m->addr[slot]);
    ensures last: m->chain[\result] == 0 || slot < m->chain[\result];
*/
static int32_t last_before(const struct ashlar_manager *m, int32_t slot, int32_t link)
{
  /*@ loop invariant link: 0 < link <= slot && m->in_map[link - 1] == 1 &&
        bucket_number(m->addr[link - 1]) == bucket_number(m->addr[slot]);
      loop assigns link;
      loop variant slot - link;
  */
  while (m->chain[link - 1] > 0 && m->chain[link - 1] <= slot) {
    link = m->chain[link - 1];
  }
  return link - 1;
}

/* Links `slot` behind `before`. */
/*@ requires \valid(m);
    requires top: m->top <= ASHLAR_SLOTS;
    requires blocks: 0 <= before < slot < m->top && m->in_map[before] == 1 &&
      m->in_map[slot] == 0 && bucket_number(m->addr[before]) == bucket_number(m->addr[slot]);
    requires last: m->chain[before] == 0 || slot < m->chain[before];
    requires chains: map_chains(m->top, m->in_map, m->chain, m->addr);
    terminates \true; exits \false;
    assigns m->chain[slot], m->chain[before], m->in_map[slot];
    ensures linked: m->chain[slot] == \old(m->chain[before]) && m->chain[before] == slot + 1 && m->in_map[slot] == 1;
    ensures chains: map_chains(m->top, m->in_map, m->chain, m->addr);
*/
static void link_behind(struct ashlar_manager *m, int32_t before, int32_t slot)
{
  m->chain[slot] = m->chain[before];
  m->chain[before] = slot + 1;
  m->in_map[slot] = 1;
}

/* Takes `slot` out of its chain, in which it stands behind `before`. */
/*@ requires \valid(m);
    requires top: m->top <= ASHLAR_SLOTS;
    requires blocks: 0 <= before < slot < m->top && m->in_map[before] == 1 &&
      m->in_map[slot] == 1 && bucket_number(m->addr[before]) == bucket_number(m->addr[slot]);
    requires next: m->chain[before] == slot + 1;
    requires alone: \forall integer i; 0 <= i < m->top ==> m->in_map[i] == 1 ==> i != before ==>
      m->chain[i] != slot + 1;
    requires chains: map_chains(m->top, m->in_map, m->chain, m->addr);
    terminates \true; exits \false;
    assigns m->chain[before], m->in_map[slot];
    ensures unlinked: m->chain[before] == m->chain[slot] && m->in_map[slot] == 0;
    ensures chains: map_chains(m->top, m->in_map, m->chain, m->addr);
*/
static void unlink_behind(struct ashlar_manager *m, int32_t before, int32_t slot)
{
  m->chain[before] = m->chain[slot];
  m->in_map[slot] = 0;
}

void ashlar_map_insert(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_map_open(m);
  uint32_t bucket = bucket_of(m->addr[slot]);
  int32_t link = m->bucket[bucket];
  if (link == 0 || link > slot) {
    m->chain[slot] = link;
    m->bucket[bucket] = slot + 1;
    m->in_map[slot] = 1;
  } else {
    int32_t before = last_before(m, slot, link);
    /*@ assert around: \forall integer j; 0 <= j < m->top ==> m->in_map[j] == 1 ==> j != slot ==>
          bucket_number(m->addr[j]) == bucket_number(m->addr[slot]) ==>
          (before < j ==> slot < j && 0 < m->chain[before] <= j + 1) &&
          (j < before ==> 0 < m->chain[j] <= before + 1); */
    link_behind(m, before, slot);
    /*@ assert behind: \forall integer j; slot < j < m->top ==> m->in_map[j] == 1 ==>
          bucket_number(m->addr[j]) == bucket_number(m->addr[slot]) ==> 0 < m->chain[slot] <= j + 1; */
    /*@ assert front: \forall integer j; 0 <= j < slot ==> m->in_map[j] == 1 ==>
          bucket_number(m->addr[j]) == bucket_number(m->addr[slot]) ==> 0 < m->chain[j] <= slot + 1; */
  }
  //@ ghost ashlar_map_close(m);
}

void ashlar_map_remove(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_map_open(m);
  uint32_t bucket = bucket_of(m->addr[slot]);
  int32_t link = m->bucket[bucket];
  if (link == slot + 1) {
    /*@ assert alone: \forall integer i; 0 <= i < m->top ==> m->in_map[i] == 1 ==>
          m->chain[i] != slot + 1; */
    m->bucket[bucket] = m->chain[slot];
    m->in_map[slot] = 0;
  } else {
    int32_t before = last_before(m, slot, link);
    //@ assert next: m->chain[before] == slot + 1;
    /*@ assert alone: \forall integer i; 0 <= i < m->top ==> m->in_map[i] == 1 ==> i != before ==>
          m->chain[i] != slot + 1; */
    //@ assert elsewhere: \forall integer b; 0 <= b < ASHLAR_BUCKETS ==> m->bucket[b] != slot + 1;
    unlink_behind(m, before, slot);
  }
  //@ ghost ashlar_map_close(m);
}
