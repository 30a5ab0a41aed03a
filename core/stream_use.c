/* stream_use.c - see stream_use.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/stream_use.h"

/*@ ghost
  void ashlar_uses_open(const struct ashlar_manager *m) { ; }

  void ashlar_uses_close(const struct ashlar_manager *m) { ; }
*/

int32_t ashlar_use_find(const struct ashlar_manager *m, int32_t slot, int32_t stream)
{
  int32_t use = m->first_use[slot] - 1;
  /*@ loop invariant use: -1 <= use < m->use_top && (0 <= use ==> m->use_block[use] == slot);
      loop invariant passed: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
        (use == -1 || m->use_serial[use] < m->use_serial[u]) ==> m->use_stream[u] != stream;
      loop assigns use;
      loop variant use == -1 ? 0 : m->use_serial[use];
  */
  while (use != -1 && m->use_stream[use] != stream) {
    use = m->use_more[use];
  }
  return use;
}

int ashlar_use_room(const struct ashlar_manager *m, int32_t count)
{
  //@ ghost ashlar_uses_open(m);
  return m->use_spare_count >= count - (ASHLAR_USES - m->use_top) &&
         m->use_serials <= UINT64_MAX - (count == 1 ? 1U : 2U);
}

int32_t ashlar_use_add(struct ashlar_manager *m, int32_t slot, int32_t stream, uint8_t captured)
{
  //@ ghost ashlar_uses_open(m);
  int32_t use;
  int32_t more = m->first_use[slot] - 1;
  //@ ghost int32_t before = m->use_top;
  if (m->use_spare_count > 0) {
    m->use_spare_count--;
    use = m->use_spare[m->use_spare_count];
  } else {
    use = m->use_top;
    m->use_top++;
  }
  m->use_serials++;
  m->use_block[use] = slot;
  m->use_stream[use] = stream;
  m->use_serial[use] = m->use_serials;
  m->use_number[use] = 0;
  m->use_captured[use] = captured;
  m->use_less[use] = -1;
  m->use_more[use] = more;
  if (more != -1) {
    m->use_less[more] = use;
  }
  m->first_use[slot] = use + 1;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= before;
       loop invariant spare: spare_uses(m->use_block, g) ==
         spare_uses(\at(m->use_block, Pre), g) - (use < g ? 1 : 0);
       loop invariant waiting: waiting_uses(m->use_block, m->use_number, g) ==
         waiting_uses(\at(m->use_block, Pre), \at(m->use_number, Pre), g) + (use < g ? 1 : 0);
       loop assigns g;
       loop variant before - g;
    @/
    while (g < before) g++;
  */
  //@ ghost ashlar_uses_close(m);
  return use;
}

/* takes a record out of its block's chain and makes it spare; the queues do not have it any more */
/*@ requires \valid(m);
    USES_LINKS(requires)
    requires known: 0 <= use < m->use_top && 0 <= m->use_block[use] && m->use_number[use] == 0;
    requires clocked: m->use_submissions + waiting_uses(m->use_block, m->use_number, m->use_top) <=
      m->use_serials + 1;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDS, ASSIGNS_CHAINS;
    ENSURES_USES
    ensures gone: m->use_block[use] == -1;
    ensures others: \forall integer u; 0 <= u < m->use_top ==> u != use ==> m->use_block[u] == \old(*m).use_block[u];
    ensures spare: m->use_spare_count == \old(m->use_spare_count) + 1;
    ENSURES_OTHERS_FIRST(\old(m->use_block[use]))
    ENSURES_OTHERS_MORE(use)
*/
static void forget(struct ashlar_manager *m, int32_t use)
{
  int32_t less = m->use_less[use];
  int32_t more = m->use_more[use];
  /*@ ghost
    int32_t h = 0;
    /@ loop invariant h: 0 <= h <= m->use_top;
       loop invariant room: spare_uses(m->use_block, h) + (use < h ? 1 : 0) <= h;
       loop assigns h;
       loop variant m->use_top - h;
    @/
    while (h < m->use_top) h++;
  */
  if (more != -1) {
    m->use_less[more] = less;
  }
  if (less != -1) {
    m->use_more[less] = more;
  } else {
    m->first_use[m->use_block[use]] = more + 1;
  }
  m->use_block[use] = -1;
  m->use_next[use] = m->use_spare_count;
  m->use_spare[m->use_spare_count] = use;
  m->use_spare_count++;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->use_top;
       loop invariant spare: spare_uses(m->use_block, g) ==
         spare_uses(\at(m->use_block, Pre), g) + (use < g ? 1 : 0);
       loop invariant waiting: waiting_uses(m->use_block, m->use_number, g) ==
         waiting_uses(\at(m->use_block, Pre), m->use_number, g) - (use < g ? 1 : 0);
       loop assigns g;
       loop variant m->use_top - g;
    @/
    while (g < m->use_top) g++;
  */
  //@ ghost ashlar_uses_close(m);
}

void ashlar_use_drop(struct ashlar_manager *m, int32_t use)
{
  //@ ghost ashlar_uses_open(m);
  forget(m, use);
}

uint64_t ashlar_use_submit(struct ashlar_manager *m, int32_t use)
{
  //@ ghost ashlar_uses_open(m);
  int32_t stream = m->use_stream[use];
  int32_t last = m->queue_tail[stream] - 1;
  /*@ assert tail: 0 <= last ==> last != use && 0 <= m->use_block[last] && m->use_stream[last] == stream; */
  /*@ ghost
    int32_t h = 0;
    /@ loop invariant h: 0 <= h <= m->use_top;
       loop invariant one: 0 <= waiting_uses(m->use_block, m->use_number, h) - (use < h ? 1 : 0);
       loop assigns h;
       loop variant m->use_top - h;
    @/
    while (h < m->use_top) h++;
  */
  m->use_submissions++;
  m->submitted[stream]++;
  m->use_number[use] = m->submitted[stream];
  m->use_next[use] = -1;
  if (last != -1) {
    m->use_next[last] = use;
  } else {
    m->queue_head[stream] = use + 1;
  }
  m->queue_tail[stream] = use + 1;
  /*@ assert spares: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == -1 ==>
        m->use_next[u] == \at(m->use_next[u], Pre) && m->use_number[u] == \at(m->use_number[u], Pre); */
  /*@ assert others: \forall integer u; 0 <= u < m->use_top ==> u != use ==> u != last ==>
        m->use_next[u] == \at(m->use_next[u], Pre) && m->use_number[u] == \at(m->use_number[u], Pre); */
  /*@ assert older: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==> u != use ==>
        m->use_stream[u] == stream ==> m->use_number[u] < m->use_number[use]; */
  /*@ assert empty: last == -1 ==> \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==> u != use ==>
        m->use_stream[u] == stream ==> m->use_number[u] == 0; */
  /*@ assert before: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==> u != use ==> 0 <= last ==>
        m->use_stream[u] == stream ==> m->use_number[u] <= m->use_number[last]; */
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->use_top;
       loop invariant waiting: waiting_uses(m->use_block, m->use_number, g) ==
         waiting_uses(m->use_block, \at(m->use_number, Pre), g) - (use < g ? 1 : 0);
       loop assigns g;
       loop variant m->use_top - g;
    @/
    while (g < m->use_top) g++;
  */
  //@ ghost ashlar_uses_close(m);
  return m->submitted[stream];
}

void ashlar_uses_submit(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_uses_open(m);
  int32_t use = m->first_use[slot] - 1;
  /*@ loop invariant use: -1 <= use < m->use_top && (0 <= use ==> m->use_block[use] == slot);
      loop invariant done: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
        (use == -1 || m->use_serial[use] < m->use_serial[u]) ==> 0 < m->use_number[u];
      loop invariant waiting: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
        0 <= use ==> m->use_serial[u] <= m->use_serial[use] ==>
        m->use_number[u] == 0;
      loop invariant others: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] != slot ==>
        m->use_number[u] == \at(m->use_number[u], Pre);
      loop invariant uses: USES_STATE;
      KEEPS_CLOCKS
      loop invariant deferred: (\forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == slot ==>
        m->use_stream[u] != ASHLAR_STREAM_DEFERRED) ==>
        m->submitted[ASHLAR_STREAM_DEFERRED] == \at(m->submitted[ASHLAR_STREAM_DEFERRED], Pre);
      loop assigns use, ASSIGNS_QUEUES;
      loop variant use == -1 ? 0 : m->use_serial[use];
  */
  while (use != -1) {
    int32_t more = m->use_more[use];
    (void)ashlar_use_submit(m, use);
    use = more;
  }
}

int32_t ashlar_use_pop(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_uses_open(m);
  int32_t use = m->queue_head[stream] - 1;
  int32_t next;
  int32_t slot;
  if (use == -1 || m->use_number[use] > m->completed[stream]) {
    return -1;
  }
  next = m->use_next[use];
  slot = m->use_block[use];
  m->queue_head[stream] = next + 1;
  if (next == -1) {
    m->queue_tail[stream] = 0;
  }
  m->use_number[use] = 0;
  /*@ ghost
    int32_t g = 0;
    /@ loop invariant g: 0 <= g <= m->use_top;
       loop invariant waiting: waiting_uses(m->use_block, m->use_number, g) ==
         waiting_uses(m->use_block, \at(m->use_number, Pre), g) + (use < g ? 1 : 0);
       loop assigns g;
       loop variant m->use_top - g;
    @/
    while (g < m->use_top) g++;
  */
  forget(m, use);
  return slot;
}
