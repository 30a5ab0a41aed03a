/* block_table.c - see block_table.h.
 *
 * The ghost loops are induction: they carry the folds of REQ-ACCOUNT from the state before to the state after. They are
 * comments to the compiler.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_table.h"

/*@ ghost
  void ashlar_blocks_open(const struct ashlar_manager *m) { ; }

  void ashlar_blocks_close(const struct ashlar_manager *m) { ; }
*/

uint64_t ashlar_block_bytes(const struct ashlar_manager *m)
{
  return m->bytes[ASHLAR_FREE] + m->bytes[ASHLAR_ALLOCATED] + m->bytes[ASHLAR_PENDING] +
         m->bytes[ASHLAR_UNMAPPED] + m->bytes[ASHLAR_HELD] + m->bytes[ASHLAR_TAKEN];
}

/* one never-used slot becomes spare; only called without spare slots, so that it is the first of them */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires room: m->top < ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns m->top, m->state[m->top], m->generation[m->top], m->in_map[m->top], m->next[m->top], m->spare[m->spare_count],
            m->spare_count, m->order[m->top], m->place[m->top];
    ENSURES_BLOCKS
    ensures grown: m->top == \old(m->top) + 1 && m->spare_count == \old(m->spare_count) + 1 &&
      m->state[\old(m->top)] == ASHLAR_UNUSED && m->in_map[\old(m->top)] == 0;
*/
static void grow(struct ashlar_manager *m)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = m->top;
  ashlar_index_grow(m);
  m->state[slot] = ASHLAR_UNUSED;
  m->generation[slot] = 0;
  m->in_map[slot] = 0;
  m->next[slot] = m->spare_count;
  m->spare[m->spare_count] = slot;
  m->spare_count++;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= slot;
       loop invariant bytes: \forall integer s; bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), m->size, s, g);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g);
       loop assigns g;
       loop variant slot - g;
    @/
    while (g < slot) g++;
  */
  //@ ghost ashlar_blocks_close(m);
}

int ashlar_block_reserve(struct ashlar_manager *m, int32_t count)
{
  //@ ghost ashlar_blocks_open(m);
  /*@ loop invariant grown: \at(m->top, Pre) <= m->top <= ASHLAR_SLOTS;
      loop invariant kept: blocks_kept(\at(*m, Pre), *m);
      loop invariant fresh: \forall integer j; \at(m->top, Pre) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED &&
        m->in_map[j] == 0;
      loop invariant map: \forall integer j; 0 <= j < \at(m->top, Pre) ==> m->in_map[j] == \at(m->in_map[j], Pre);
      loop invariant blocks: BLOCKS_STATE;
      loop invariant room: m->spare_count - m->top == \at(m->spare_count, Pre) - \at(m->top, Pre);
      loop assigns m->top, ALL(state), ALL(generation), ALL(in_map), ALL(next), ALL(spare), m->spare_count, ALL(order),
        ALL(place);
      loop variant ASHLAR_SLOTS - m->top;
  */
  while (m->spare_count < count) {
    if (m->top >= ASHLAR_SLOTS) {
      return 0;
    }
    grow(m);
  }
  return 1;
}

/* moves the bytes of a block from the counter of one state to that of another, and marks the block */
/*@ requires \valid(m);
    requires slot: 0 <= slot < m->top <= ASHLAR_SLOTS;
    requires states: m->state[slot] == from && 1 <= from < ASHLAR_STATES && 1 <= to < ASHLAR_STATES;
    requires range: 0 <= m->size[slot];
    requires REQ_ACCOUNT_bytes: bytes_counted(m->bytes, m->state, m->size, m->top);
    requires REQ_ACCOUNT_total: bytes_bounded(m->bytes);
    requires REQ_ACCOUNT_spares: spares_counted(m->spare_count, m->state, m->top);
    terminates \true; exits \false;
    assigns m->state[slot], ASSIGNS_BYTES;
    ensures marked: m->state[slot] == to;
    ensures REQ_ACCOUNT_bytes: bytes_counted(m->bytes, m->state, m->size, m->top);
    ensures REQ_ACCOUNT_total: bytes_bounded(m->bytes) && all_bytes(m->bytes) == \old(all_bytes(m->bytes));
    ensures REQ_ACCOUNT_spares: spares_counted(m->spare_count, m->state, m->top);
    ensures from: from != to ==> m->bytes[from] == \old(m->bytes[from]) - m->size[slot];
    ensures to: from != to ==> m->bytes[to] == \old(m->bytes[to]) + m->size[slot];
    ensures others: \forall integer s; 0 <= s < ASHLAR_STATES ==> s != from ==> s != to ==>
      m->bytes[s] == \old(m->bytes[s]);
*/
static void mark(struct ashlar_manager *m, int32_t slot, uint8_t from, uint8_t to)
{
  /*@ ghost
    int32_t h = 0;
    /@ loop invariant h: 0 <= h <= m->top;
       loop invariant counted: 0 <= bytes_in(m->state, m->size, from, h) &&
         (slot < h ==> m->size[slot] <= bytes_in(m->state, m->size, from, h));
       loop assigns h;
       loop variant m->top - h;
    @/
    while (h < m->top) h++;
  */
  m->bytes[from] -= m->size[slot];
  m->bytes[to] += m->size[slot];
  m->state[slot] = to;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->top;
       loop invariant bytes: \forall integer s; bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), m->size, s, g) +
         (slot < g && s == to ? m->size[slot] : 0) - (slot < g && s == from ? m->size[slot] : 0);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g);
       loop assigns g;
       loop variant m->top - g;
    @/
    while (g < m->top) g++;
  */
}

void ashlar_block_take(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  ashlar_index_remove(m, slot);
  mark(m, slot, m->state[slot], ASHLAR_TAKEN);
  m->list[slot] = m->home[slot];
  //@ ghost ashlar_blocks_close(m);
}

void ashlar_block_put(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  mark(m, slot, ASHLAR_TAKEN, ASHLAR_FREE);
  ashlar_index_insert(m, slot);
  //@ ghost ashlar_blocks_close(m);
}

void ashlar_block_put_unmapped(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  mark(m, slot, ASHLAR_TAKEN, ASHLAR_UNMAPPED);
  m->list[slot] = m->home[slot] + ASHLAR_LISTS;
  ashlar_index_insert(m, slot);
  //@ ghost ashlar_blocks_close(m);
}

void ashlar_block_pass(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  //@ ghost ashlar_blocks_open(m);
  mark(m, slot, m->state[slot], state);
  //@ ghost ashlar_blocks_close(m);
}

/* Sum and difference of multiples of 512. Functions only for the provers, which lose this fact among the arrays. */
/*@ requires a % 512 == 0 && b % 512 == 0 && a + b <= UINT64_MAX;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == a + b && \result % 512 == 0;
*/
static inline uint64_t aligned_sum(uint64_t a, uint64_t b)
{
  return a + b;
}

/*@ requires a % 512 == 0 && b % 512 == 0 && b <= a;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == a - b && \result % 512 == 0;
*/
static inline uint64_t aligned_rest(uint64_t a, uint64_t b)
{
  return a - b;
}

int32_t ashlar_block_cut(struct ashlar_manager *m, int32_t slot, uint64_t size)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t rest = m->spare[m->spare_count - 1];
  int32_t after = m->next[slot];
  m->spare_count--;
  m->addr[rest] = aligned_sum(m->addr[slot], size);
  m->size[rest] = aligned_rest(m->size[slot], size);
  m->base[rest] = m->base[slot];
  m->home[rest] = m->home[slot];
  m->list[rest] = m->list[slot];
  m->age[rest] = m->age[slot];
  m->growable[rest] = m->growable[slot];
  m->requested[rest] = m->requested[slot];
  m->state[rest] = ASHLAR_TAKEN;
  m->next[rest] = after;
  m->prev[rest] = slot;
  if (after >= 0) {
    m->prev[after] = rest;
  }
  m->next[slot] = rest;
  m->size[slot] = size;
  /*@ assert keys: \forall integer j; 0 <= j < m->top ==> 0 <= m->place[j] < m->free_count ==> j != slot && j != rest; */
  /*@ assert places: \forall integer k; 0 <= k < m->free_count ==> 0 <= m->order[k] < m->top &&
        m->place[m->order[k]] == k; */
  /*@ assert members: \forall integer k; 0 <= k < m->free_count ==> m->order[k] != slot && m->order[k] != rest; */
  //@ assert sorted: index_sorted(m->free_count, m->order, m->list, m->size, m->age, m->addr);
  /*@ assert spares: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_UNUSED ==>
        i != rest && \at(m->state[i], Pre) == ASHLAR_UNUSED && m->next[i] == \at(m->next[i], Pre) &&
        m->next[i] != m->spare_count; */
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->top;
       loop invariant bytes: \forall integer s; s != ASHLAR_UNUSED ==> bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), \at(m->size, Pre), s, g) +
         (s == ASHLAR_TAKEN ? (rest < g ? m->size[rest] : 0) - (slot < g ? m->size[rest] : 0) : 0);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g) - (rest < g ? 1 : 0);
       loop assigns g;
       loop variant m->top - g;
    @/
    while (g < m->top) g++;
  */
  //@ ghost ashlar_blocks_close(m);
  return rest;
}

void ashlar_block_join(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t gone = m->next[slot];
  int32_t after = m->next[gone];
  /*@ ghost
    int32_t h = 0;
    /@ loop invariant h: 0 <= h <= m->top;
       loop invariant room: slots_in(m->state, ASHLAR_UNUSED, h) + (gone < h ? 1 : 0) <= h;
       loop assigns h;
       loop variant m->top - h;
    @/
    while (h < m->top) h++;
  */
  //@ assert room: m->spare_count < m->top;
  m->size[slot] = aligned_sum(m->size[slot], m->size[gone]);
  m->next[slot] = after;
  if (after >= 0) {
    m->prev[after] = slot;
  }
  m->state[gone] = ASHLAR_UNUSED;
  m->next[gone] = m->spare_count;
  m->spare[m->spare_count] = gone;
  m->spare_count++;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->top;
       loop invariant bytes: \forall integer s; s != ASHLAR_UNUSED ==> bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), \at(m->size, Pre), s, g) +
         (s == ASHLAR_TAKEN ? (slot < g ? m->size[gone] : 0) - (gone < g ? m->size[gone] : 0) : 0);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g) + (gone < g ? 1 : 0);
       loop assigns g;
       loop variant m->top - g;
    @/
    while (g < m->top) g++;
  */
  //@ ghost ashlar_blocks_close(m);
}

/* lets a taken block absorb a successor of a state, free or unmapped */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires state: state == ASHLAR_FREE || state == ASHLAR_UNMAPPED;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, m->size[slot], ALL(prev), ALL(next), ALL(spare), m->spare_count;
    ENSURES_BLOCKS
    ensures self: m->state[slot] == ASHLAR_TAKEN && m->prev[slot] == \old(m->prev[slot]) &&
      \old(m->size[slot]) <= m->size[slot];
    ensures after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != state;
    ensures before: 0 <= m->prev[slot] ==> m->state[m->prev[slot]] == \old(m->state[m->prev[slot]]);
    ensures others: \forall integer j; 0 <= j < m->top ==> m->state[j] == \old(*m).state[j] ||
      (\old(*m).state[j] == state && m->state[j] == ASHLAR_UNUSED);
    ensures REQ_FRAME_absorb_next: \forall integer j; 0 <= j < m->top ==> j != slot ==> m->state[j] != ASHLAR_UNUSED ==>
      m->next[j] == \old(*m).next[j];
    ensures bytes: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - \old(m->size[slot]) +
      m->size[slot] && all_bytes(m->bytes) == \old(all_bytes(m->bytes));
    ensures spare: m->spare_count >= \old(m->spare_count);
    ENSURES_SLOTS_LEFT
*/
static void absorb_next(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t after = m->next[slot];
  if (after >= 0 && m->state[after] == state) {
    //@ assert beyond: 0 <= m->next[after] ==> m->state[m->next[after]] != state && m->next[after] != after;
    ashlar_block_take(m, after);
    ashlar_block_join(m, slot);
  }
}

/* lets a predecessor of a state absorb a taken block; returns the slot of the result */
/*@ requires \valid(m); REQUIRES_BLOCKS
    requires taken: 0 <= slot < m->top && m->state[slot] == ASHLAR_TAKEN;
    requires state: state == ASHLAR_FREE || state == ASHLAR_UNMAPPED;
    requires after: 0 <= m->next[slot] ==> m->state[m->next[slot]] != state;
    terminates \true; exits \false;
    assigns ASSIGNS_STATE, ASSIGNS_SHAPE;
    ENSURES_BLOCKS
    ensures result: 0 <= \result < m->top && m->state[\result] == ASHLAR_TAKEN;
    ensures which: \result == slot || (m->state[slot] == ASHLAR_UNUSED && \old(*m).state[\result] == state);
    ensures span: m->addr[\result] <= m->addr[slot] &&
      m->addr[slot] + \old(m->size[slot]) <= m->addr[\result] + m->size[\result];
    ensures identity: m->home[\result] == m->home[slot] && m->age[\result] == m->age[slot] &&
      m->base[\result] == m->base[slot] && m->growable[\result] == m->growable[slot];
    ensures after: 0 <= m->next[\result] ==> m->state[m->next[\result]] != state;
    ensures before: 0 <= m->prev[\result] ==> m->state[m->prev[\result]] != state;
    ensures others: \forall integer j; 0 <= j < m->top ==> j != slot ==> j != \result ==>
      m->state[j] == \old(*m).state[j] && m->size[j] == \old(*m).size[j] && m->next[j] == \old(*m).next[j];
    ensures bytes: m->bytes[ASHLAR_TAKEN] == \old(m->bytes[ASHLAR_TAKEN]) - \old(m->size[slot]) +
      m->size[\result] && all_bytes(m->bytes) == \old(all_bytes(m->bytes));
    ensures spare: m->spare_count >= \old(m->spare_count);
    ENSURES_SLOTS_LEFT
*/
static int32_t absorb_prev(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t before = m->prev[slot];
  if (before >= 0 && m->state[before] == state) {
    //@ assert beyond: 0 <= m->prev[before] ==> m->state[m->prev[before]] != state;
    ashlar_block_take(m, before);
    ashlar_block_join(m, before);
    return before;
  }
  return slot;
}

int32_t ashlar_block_release(struct ashlar_manager *m, int32_t slot, uint8_t state)
{
  //@ ghost ashlar_blocks_open(m);
  uint64_t request = m->requested[slot];
  int32_t result;
  absorb_next(m, slot, state);
  result = absorb_prev(m, slot, state);
  m->requested[result] = request;
  if (state == ASHLAR_FREE) {
    ashlar_block_put(m, result);
  } else {
    ashlar_block_put_unmapped(m, result);
  }
  return result;
}

int32_t ashlar_block_create(struct ashlar_manager *m, uint64_t addr, uint64_t size, int32_t home,
                            uint64_t age, uint8_t growable)
{
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = m->spare[m->spare_count - 1];
  m->spare_count--;
  m->addr[slot] = addr;
  m->size[slot] = size;
  m->base[slot] = addr;
  m->home[slot] = home;
  m->list[slot] = home;
  m->age[slot] = age;
  m->growable[slot] = growable;
  m->requested[slot] = 0;
  m->state[slot] = ASHLAR_TAKEN;
  m->prev[slot] = -1;
  m->next[slot] = -1;
  m->bytes[ASHLAR_TAKEN] += size;
  /*@ assert spares: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_UNUSED ==>
        i != slot && \at(m->state[i], Pre) == ASHLAR_UNUSED && m->next[i] == \at(m->next[i], Pre) &&
        m->next[i] != m->spare_count; */
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->top;
       loop invariant bytes: \forall integer s; s != ASHLAR_UNUSED ==> bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), \at(m->size, Pre), s, g) + (s == ASHLAR_TAKEN && slot < g ? size : 0);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g) - (slot < g ? 1 : 0);
       loop assigns g;
       loop variant m->top - g;
    @/
    while (g < m->top) g++;
  */
  //@ ghost ashlar_blocks_close(m);
  return slot;
}

void ashlar_block_destroy(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_blocks_open(m);
  /*@ ghost
    int32_t h = 0;
    /@ loop invariant h: 0 <= h <= m->top;
       loop invariant room: slots_in(m->state, ASHLAR_UNUSED, h) + (slot < h ? 1 : 0) <= h;
       loop invariant counted: 0 <= bytes_in(m->state, m->size, ASHLAR_TAKEN, h) &&
         (slot < h ==> m->size[slot] <= bytes_in(m->state, m->size, ASHLAR_TAKEN, h));
       loop assigns h;
       loop variant m->top - h;
    @/
    while (h < m->top) h++;
  */
  //@ assert room: m->spare_count < m->top;
  m->state[slot] = ASHLAR_UNUSED;
  m->next[slot] = m->spare_count;
  m->spare[m->spare_count] = slot;
  m->spare_count++;
  m->bytes[ASHLAR_TAKEN] -= m->size[slot];
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->top;
       loop invariant bytes: \forall integer s; s != ASHLAR_UNUSED ==> bytes_in(m->state, m->size, s, g) ==
         bytes_in(\at(m->state, Pre), m->size, s, g) - (s == ASHLAR_TAKEN && slot < g ? m->size[slot] : 0);
       loop invariant unused: slots_in(m->state, ASHLAR_UNUSED, g) ==
         slots_in(\at(m->state, Pre), ASHLAR_UNUSED, g) + (slot < g ? 1 : 0);
       loop assigns g;
       loop variant m->top - g;
    @/
    while (g < m->top) g++;
  */
  //@ ghost ashlar_blocks_close(m);
}
