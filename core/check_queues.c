/* check_queues.c - see check.h: queues of streams.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

/*@ requires \valid(m);
    requires record: 0 <= u < ASHLAR_USES;
    READS
    ensures queued: \result != 0 <==> m->use_block[u] != -1 && 0 < m->use_number[u];
*/
static int is_queued(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] != -1 && m->use_number[u] > 0;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_NEXT)
    CHECKS(m->use_top - 1,
      queue_next(m->use_top, m->use_block, m->use_number, m->use_next, m->use_stream))
*/
static int32_t queue_next(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==> 0 < m->use_number[w] ==>
        -1 <= m->use_next[w] < m->use_top &&
        (\forall integer v; 0 <= v < m->use_top ==> m->use_next[w] <= v <= m->use_next[w] ==>
          0 <= m->use_block[v] && m->use_stream[v] == m->use_stream[w] && m->use_number[w] < m->use_number[v]);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    int32_t next = m->use_next[u];
    if (is_queued(m, u) && next != -1 &&
        (next < 0 || next >= m->use_top || m->use_block[next] == -1 ||
         m->use_stream[next] != m->use_stream[u] || m->use_number[next] <= m->use_number[u])) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_ENDS)
    CHECKS(ASHLAR_STREAMS - 1,
      queue_ends(m->queue_head, m->use_top, m->queue_tail))
*/
static int32_t queue_ends(const struct ashlar_manager *m)
{
  int32_t s = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> 0 <= m->queue_head[t] <= m->use_top &&
        0 <= m->queue_tail[t] <= m->use_top && (0 < m->queue_head[t] <==> 0 < m->queue_tail[t]);
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    if (m->queue_head[s] < 0 || m->queue_head[s] > m->use_top || m->queue_tail[s] < 0 ||
        m->queue_tail[s] > m->use_top || (m->queue_head[s] == 0) != (m->queue_tail[s] == 0)) {
      return s;
    }
    s++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_HEADS)
    CHECKS(ASHLAR_STREAMS - 1,
      queue_heads(m->use_top, m->queue_head, m->use_block, m->use_stream, m->use_number))
*/
static int32_t queue_heads(const struct ashlar_manager *m)
{
  int32_t s = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> \forall integer v; 0 <= v < m->use_top ==>
        m->queue_head[t] <= v + 1 <= m->queue_head[t] ==>
        0 <= m->use_block[v] && m->use_stream[v] == t && 0 < m->use_number[v];
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    int32_t head = m->queue_head[s] - 1;
    if (head != -1 && (!is_queued(m, head) || m->use_stream[head] != s)) {
      return s;
    }
    s++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_TAILS)
    CHECKS(ASHLAR_STREAMS - 1,
      queue_tails(m->use_top, m->queue_tail, m->use_block, m->use_stream, m->use_number, m->use_next))
*/
static int32_t queue_tails(const struct ashlar_manager *m)
{
  int32_t s = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> \forall integer v; 0 <= v < m->use_top ==>
        m->queue_tail[t] <= v + 1 <= m->queue_tail[t] ==>
        0 <= m->use_block[v] && m->use_stream[v] == t && 0 < m->use_number[v] && m->use_next[v] == -1;
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    int32_t tail = m->queue_tail[s] - 1;
    if (tail != -1 &&
        (!is_queued(m, tail) || m->use_stream[tail] != s || m->use_next[tail] != -1)) {
      return s;
    }
    s++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_FIRST)
    CHECKS(m->use_top - 1,
      queue_first(m->use_top, m->use_block, m->use_number, m->queue_head, m->use_stream))
*/
static int32_t queue_first(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==> 0 < m->use_number[w] ==>
        0 < m->queue_head[m->use_stream[w]] && (\forall integer v; 0 <= v < m->use_top ==>
          m->queue_head[m->use_stream[w]] <= v + 1 <= m->queue_head[m->use_stream[w]] ==>
          m->use_number[v] <= m->use_number[w]);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      int32_t head = m->queue_head[m->use_stream[u]] - 1;
      if (head == -1 || m->use_number[head] > m->use_number[u]) {
        return u;
      }
    }
    u++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_LAST)
    CHECKS(m->use_top - 1,
      queue_last(m->use_top, m->use_block, m->use_number, m->queue_tail, m->use_stream))
*/
static int32_t queue_last(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==> 0 < m->use_number[w] ==>
        0 < m->queue_tail[m->use_stream[w]] && (\forall integer v; 0 <= v < m->use_top ==>
          m->queue_tail[m->use_stream[w]] <= v + 1 <= m->queue_tail[m->use_stream[w]] ==>
          m->use_number[w] <= m->use_number[v]);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      int32_t tail = m->queue_tail[m->use_stream[u]] - 1;
      if (tail == -1 || m->use_number[tail] < m->use_number[u]) {
        return u;
      }
    }
    u++;
  }
  return -1;
}

/*@ ghost
  // before the first use of a queue there is none, and behind all numbers all are
  /@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
     requires stream: 0 <= s < ASHLAR_STREAMS;
     READS
     ensures none: queued_below(m->use_block, m->use_number, m->use_stream, s,
       number_at(m->use_number, m->queue_head[s] - 1), m->use_top) == 0;
     ensures complete: queue_complete(*m, s, number_at(m->use_number, m->queue_head[s] - 1));
     ensures all: queued_below(m->use_block, m->use_number, m->use_stream, s, UINT64_MAX + 1, m->use_top) ==
       queued_on(m->use_block, m->use_number, m->use_stream, s, m->use_top);
     ensures few: queued_on(m->use_block, m->use_number, m->use_stream, s, m->use_top) <= m->use_top;
  @/
  static void before_head(const struct ashlar_manager *m, int32_t s)
  {
    int32_t k = 0;
    /@ loop invariant record: 0 <= k <= m->use_top;
       loop invariant none: queued_below(m->use_block, m->use_number, m->use_stream, s,
         number_at(m->use_number, m->queue_head[s] - 1), k) == 0;
       loop invariant passed: \forall integer v; 0 <= v < k ==> queued(*m, s, v) ==>
         number_at(m->use_number, m->queue_head[s] - 1) <= m->use_number[v];
       loop invariant all: queued_below(m->use_block, m->use_number, m->use_stream, s, UINT64_MAX + 1, k) ==
         queued_on(m->use_block, m->use_number, m->use_stream, s, k);
       loop invariant few: queued_on(m->use_block, m->use_number, m->use_stream, s, k) <= k;
       loop assigns k;
       loop variant m->use_top - k;
    @/
    while (k < m->use_top) {
      k++;
    }
  }

  // from a use of a queue to the next one there is that use, and perhaps others
  /@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
     requires use: 0 <= u < m->use_top && queued(*m, s, u);
     READS
     ensures more: queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number,
       m->use_next[u]), m->use_top) >=
       queued_below(m->use_block, m->use_number, m->use_stream, s, m->use_number[u], m->use_top) + 1;
     ensures none:
       queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number, m->use_next[u]),
       m->use_top) ==
       queued_below(m->use_block, m->use_number, m->use_stream, s, m->use_number[u], m->use_top) + 1 <==>
       \forall integer v; 0 <= v < m->use_top ==> v != u ==> queued(*m, s, v) ==>
         m->use_number[v] < m->use_number[u] || number_at(m->use_number, m->use_next[u]) <= m->use_number[v];
     ensures few: queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number,
       m->use_next[u]), m->use_top) <=
       m->use_top;
  @/
  static void between(const struct ashlar_manager *m, int32_t s, int32_t u)
  {
    int32_t k = 0;
    //@ assert later: m->use_number[u] < number_at(m->use_number, m->use_next[u]);
    /@ loop invariant record: 0 <= k <= m->use_top;
       loop invariant more: queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number,
         m->use_next[u]), k) >=
         queued_below(m->use_block, m->use_number, m->use_stream, s, m->use_number[u], k) + (u < k ? 1 : 0);
       loop invariant none:
         queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number, m->use_next[u]), k) ==
         queued_below(m->use_block, m->use_number, m->use_stream, s, m->use_number[u], k) + (u < k ? 1 : 0) <==>
         \forall integer v; 0 <= v < k ==> v != u ==> queued(*m, s, v) ==>
           m->use_number[v] < m->use_number[u] || number_at(m->use_number, m->use_next[u]) <= m->use_number[v];
       loop invariant few: queued_below(m->use_block, m->use_number, m->use_stream, s, number_at(m->use_number,
         m->use_next[u]), k) <= k;
       loop assigns k;
       loop variant m->use_top - k;
    @/
    while (k < m->use_top) {
      k++;
    }
  }

  // where it is so, the queue is complete up to the next use, and else it is not
  /@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
     requires use: 0 <= u < m->use_top && queued(*m, s, u);
     READS
     ensures complete: queue_complete(*m, s, number_at(m->use_number, m->use_next[u])) <==>
       queue_complete(*m, s, m->use_number[u]) && \forall integer v; 0 <= v < m->use_top ==> v != u ==>
         queued(*m, s, v) ==>
         m->use_number[v] < m->use_number[u] || number_at(m->use_number, m->use_next[u]) <= m->use_number[v];
  @/
  static void complete_up_to(const struct ashlar_manager *m, int32_t s, int32_t u)
  {
    //@ assert later: m->use_number[u] < number_at(m->use_number, m->use_next[u]);
    /@ assert clear: queue_clear(*m, s, u) <==> \forall integer v; 0 <= v < m->use_top ==> v != u ==>
         queued(*m, s, v) ==>
         m->use_number[v] < m->use_number[u] || number_at(m->use_number, m->use_next[u]) <= m->use_number[v]; @/
  }
*/

/* How many uses a queue has. It ascends, so none is met twice. */
/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
    requires stream: 0 <= s < ASHLAR_STREAMS;
    READS
    ensures all: \result == queued_on(m->use_block, m->use_number, m->use_stream, s, m->use_top) <==>
      queue_complete(*m, s, UINT64_MAX + 1);
*/
static int32_t length(const struct ashlar_manager *m, int32_t s)
{
  //@ ghost before_head(m, s);
  int32_t count = 0;
  int32_t u = m->queue_head[s] - 1;
  /*@ loop invariant use: -1 <= u < m->use_top && (u != -1 ==> queued(*m, s, u));
      loop invariant count: 0 <= count <= queued_below(m->use_block, m->use_number, m->use_stream, s,
        number_at(m->use_number, u), m->use_top);
      loop invariant complete: count == queued_below(m->use_block, m->use_number, m->use_stream, s,
        number_at(m->use_number, u), m->use_top) <==> queue_complete(*m, s, number_at(m->use_number, u));
      loop assigns u, count;
      loop variant UINT64_MAX + 1 - number_at(m->use_number, u);
  */
  while (u != -1) {
    //@ ghost between(m, s, u);
    //@ ghost complete_up_to(m, s, u);
    count++;
    u = m->use_next[u];
  }
  return count;
}

/*@ ghost
  /@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
     requires complete: \forall integer t; 0 <= t < ASHLAR_STREAMS ==> queue_complete(*m, t, UINT64_MAX + 1);
     READS
     ensures dense: queue_dense(m->use_top, m->use_block, m->use_number, m->use_stream, m->use_next);
     ensures distinct: numbers_distinct(m->use_top, m->use_block, m->use_number, m->use_stream);
  @/
  static void complete_is_dense(const struct ashlar_manager *m)
  {
    int32_t u = 0;
    /@ loop invariant record: 0 <= u <= m->use_top;
       loop invariant clear: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==> 0 < m->use_number[w] ==>
         queue_clear(*m, m->use_stream[w], w);
       loop assigns u;
       loop variant m->use_top - u;
    @/
    while (u < m->use_top) {
      /@ assert complete: 0 <= m->use_block[u] ==> queue_complete(*m, m->use_stream[u], UINT64_MAX + 1); @/
      /@ assert number: m->use_number[u] < UINT64_MAX + 1; @/
      /@ assert clear: 0 <= m->use_block[u] ==> 0 < m->use_number[u] ==> queue_clear(*m, m->use_stream[u], u); @/
      u++;
    }
  }
*/

/* A queue that ascends leaves no use out between two others, and no two have one number, exactly if it has all uses that
   are queued on its stream; so it is enough to count them. */
/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_QUEUE_DENSE)
    CHECKS(ASHLAR_STREAMS - 1,
      queue_dense(m->use_top, m->use_block, m->use_number, m->use_stream, m->use_next) &&
      numbers_distinct(m->use_top, m->use_block, m->use_number, m->use_stream))
*/
static int32_t queue_dense(const struct ashlar_manager *m)
{
  int32_t queued[ASHLAR_STREAMS] = {0};
  int32_t u = 0;
  int32_t s = 0;
  /*@ loop invariant record: 0 <= u <= m->use_top;
      loop invariant counted: \forall integer t; 0 <= t < ASHLAR_STREAMS ==> 0 <= queued[t] <= u &&
        queued[t] == queued_on(m->use_block, m->use_number, m->use_stream, t, u);
      loop assigns u, queued[0 .. ASHLAR_STREAMS - 1];
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      queued[m->use_stream[u]]++;
    }
    u++;
  }
  /*@ loop invariant stream: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> queue_complete(*m, t, UINT64_MAX + 1);
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    /*@ assert dense: queue_dense(m->use_top, m->use_block, m->use_number, m->use_stream, m->use_next) ==>
          numbers_distinct(m->use_top, m->use_block, m->use_number, m->use_stream) ==>
          queue_complete(*m, s, UINT64_MAX + 1); */
    if (queued[s] != length(m, s)) {
      return s;
    }
    s++;
  }
  //@ ghost complete_is_dense(m);
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_CLOCKS_VALID)
    CHECKS((ASHLAR_USES > ASHLAR_STREAMS ? ASHLAR_USES : ASHLAR_STREAMS) - 1,
      clocks_valid(m->completed, m->submitted, m->use_top, m->use_block, m->use_number, m->use_stream))
*/
static int32_t clocks_valid(const struct ashlar_manager *m)
{
  int32_t s = 0;
  int32_t u = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> m->completed[t] <= m->submitted[t];
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    if (m->completed[s] > m->submitted[s]) {
      return s;
    }
    s++;
  }
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer v; 0 <= v < u ==> 0 <= m->use_block[v] ==>
        m->use_number[v] <= m->submitted[m->use_stream[v]];
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (is_queued(m, u) && m->use_number[u] > m->submitted[m->use_stream[u]]) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_CLOCKS_BOUNDED)
    CHECKS(ASHLAR_STREAMS - 1,
      clocks_bounded(m->submitted, m->use_submissions))
*/
static int32_t clocks_bounded(const struct ashlar_manager *m)
{
  int32_t s = 0;
  /*@ loop invariant place: 0 <= s <= ASHLAR_STREAMS;
      loop invariant passed: \forall integer t; 0 <= t < s ==> m->submitted[t] <= m->use_submissions;
      loop assigns s;
      loop variant ASHLAR_STREAMS - s;
  */
  while (s < ASHLAR_STREAMS) {
    if (m->submitted[s] > m->use_submissions) {
      return s;
    }
    s++;
  }
  return -1;
}

/*@ ghost
  /@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_USES_CLOCKED)
     READS
     ensures grows: \forall integer k; 0 <= k <= m->use_top ==>
       0 <= waiting_uses(m->use_block, m->use_number, k) <= waiting_uses(m->use_block, m->use_number, m->use_top);
  @/
  static void waiting_grows(const struct ashlar_manager *m)
  {
    int32_t n = 0;
    /@ loop invariant record: 0 <= n <= m->use_top;
       loop invariant grows: \forall integer k; 0 <= k <= n ==>
         0 <= waiting_uses(m->use_block, m->use_number, k) <= waiting_uses(m->use_block, m->use_number, n);
       loop assigns n;
       loop variant m->use_top - n;
    @/
    while (n < m->use_top) {
      n++;
    }
  }
*/

/* The first use that waits and was not recorded, by the numbers. */
/*@ requires \valid(m); QUEUES_BEFORE(ASHLAR_CLAUSE_USES_CLOCKED)
    CHECKS(ASHLAR_USES - 1,
      uses_clocked(m->use_block, m->use_number, m->use_top, m->use_submissions, m->use_serials))
*/
static int32_t uses_clocked(const struct ashlar_manager *m)
{
  int32_t u = 0;
  uint64_t room;
  //@ ghost waiting_grows(m);
  if (m->use_submissions > m->use_serials) {
    return 0;
  }
  room = m->use_serials - m->use_submissions;
  /*@ loop invariant record: 0 <= u <= m->use_top;
      loop invariant room: room == m->use_serials - m->use_submissions - waiting_uses(m->use_block, m->use_number, u);
      loop assigns u, room;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (m->use_block[u] != -1 && m->use_number[u] == 0) {
      /*@ assert more: waiting_uses(m->use_block, m->use_number, u + 1) ==
            waiting_uses(m->use_block, m->use_number, u) + 1; */
      if (room == 0) {
        return u;
      }
      room--;
    }
    u++;
  }
  return -1;
}

int32_t ashlar_check_queues(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_QUEUE_NEXT:
    return queue_next(m);
  case ASHLAR_CLAUSE_QUEUE_ENDS:
    return queue_ends(m);
  case ASHLAR_CLAUSE_QUEUE_HEADS:
    return queue_heads(m);
  case ASHLAR_CLAUSE_QUEUE_TAILS:
    return queue_tails(m);
  case ASHLAR_CLAUSE_QUEUE_FIRST:
    return queue_first(m);
  case ASHLAR_CLAUSE_QUEUE_LAST:
    return queue_last(m);
  case ASHLAR_CLAUSE_QUEUE_DENSE:
    return queue_dense(m);
  case ASHLAR_CLAUSE_CLOCKS_VALID:
    return clocks_valid(m);
  case ASHLAR_CLAUSE_CLOCKS_BOUNDED:
    return clocks_bounded(m);
  case ASHLAR_CLAUSE_USES_CLOCKED:
    return uses_clocked(m);
  default:
    return -1;
  }
}
