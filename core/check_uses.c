/* check_uses.c - see check.h: streams, records of uses, chains of blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

/* --- spec/stream_table.h --- */

/*@ requires \valid(m);
    READS
    ensures number: \result != 0 <==> 0 <= stream < m->stream_count;
*/
static int is_number(const struct ashlar_manager *m, int32_t stream)
{
  return stream >= 0 && stream < m->stream_count;
}

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_STREAMS_IN_RANGE)
    CHECKS(ASHLAR_STREAMS - 1,
      streams_in_range(m->stream_count, m->stream_order, m->stream_rank))
*/
static int32_t streams_in_range(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->stream_count < 0 || m->stream_count >= ASHLAR_STREAMS) {
    return 0;
  }
  /*@ loop invariant place: 0 <= k <= m->stream_count;
      loop invariant passed: \forall integer j; 0 <= j < k ==> 0 <= m->stream_order[j] < m->stream_count &&
        m->stream_rank[m->stream_order[j]] == j && 0 <= m->stream_rank[j] < m->stream_count &&
        m->stream_order[m->stream_rank[j]] == j;
      loop assigns k;
      loop variant m->stream_count - k;
  */
  while (k < m->stream_count) {
    if (!is_number(m, m->stream_order[k]) || m->stream_rank[m->stream_order[k]] != k ||
        !is_number(m, m->stream_rank[k]) || m->stream_order[m->stream_rank[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

/*@ requires \valid(m);
    requires streams: 0 <= a < ASHLAR_STREAMS && 0 <= b < ASHLAR_STREAMS;
    READS
    ensures less: \result != 0 <==> stream_less(m->stream_key, a, b);
*/
static int is_less(const struct ashlar_manager *m, int32_t a, int32_t b)
{
  uint64_t key = m->stream_key[a];
  uint64_t other = m->stream_key[b];
  return key < other || (key == other && a < b);
}

/* Neighbours are enough: the order is transitive. */
/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_STREAMS_SORTED)
    CHECKS(m->stream_count - 1,
      streams_sorted(m->stream_count, m->stream_key, m->stream_order))
*/
static int32_t streams_sorted(const struct ashlar_manager *m)
{
  int32_t k = 1;
  /*@ loop invariant place: 1 <= k && (k == 1 || k <= m->stream_count);
      loop invariant sorted: k <= m->stream_count ==> streams_sorted(k, m->stream_key, m->stream_order);
      loop assigns k;
      loop variant m->stream_count - k;
  */
  while (k < m->stream_count) {
    if (!is_less(m, m->stream_order[k - 1], m->stream_order[k])) {
      return m->stream_order[k];
    }
    k++;
  }
  return -1;
}

/* Equal keys are neighbours in the order; of those that take requests the last one before is enough. */
/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_STREAMS_DISTINCT)
    CHECKS(m->stream_count - 1,
      streams_distinct(m->stream_count, m->stream_key, m->stream_gone))
*/
static int32_t streams_distinct(const struct ashlar_manager *m)
{
  int32_t before = -1;
  int32_t k = 0;
  /*@ loop invariant place: 0 <= k <= m->stream_count;
      loop invariant before: -1 <= before < m->stream_count &&
        (before != -1 ==> m->stream_gone[before] == 0 && m->stream_rank[before] < k);
      loop invariant greatest: \forall integer a; 0 <= a < m->stream_count ==> m->stream_rank[a] < k ==>
        m->stream_gone[a] == 0 ==> before != -1 && m->stream_key[a] <= m->stream_key[before];
      loop invariant distinct: \forall integer a; 0 <= a < m->stream_count ==>
        \forall integer b; 0 <= b < m->stream_count ==>
        m->stream_rank[a] < k ==> m->stream_rank[b] < k ==> a != b ==> m->stream_gone[a] == 0 ==>
        m->stream_gone[b] == 0 ==> m->stream_key[a] != m->stream_key[b];
      loop assigns k, before;
      loop variant m->stream_count - k;
  */
  while (k < m->stream_count) {
    int32_t stream = m->stream_order[k];
    //@ assert at: \forall integer a; 0 <= a < m->stream_count ==> m->stream_rank[a] == k ==> a == stream;
    /*@ assert sorted: \forall integer a; 0 <= a < m->stream_count ==> m->stream_rank[a] < k ==>
          m->stream_key[a] <= m->stream_key[stream]; */
    if (m->stream_gone[stream] == 0) {
      if (before != -1 && m->stream_key[before] == m->stream_key[stream]) {
        return stream;
      }
      before = stream;
    }
    k++;
  }
  return -1;
}

/* --- spec/stream_use.h: records --- */

/*@ requires \valid(m);
    requires record: 0 <= u < ASHLAR_USES;
    READS
    ensures use: \result != 0 <==> m->use_block[u] != -1;
*/
static int is_use(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] != -1;
}

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_USES_IN_RANGE)
    CHECKS(ASHLAR_USES - 1,
      uses_in_range(m->use_spare_count, m->use_top, m->use_block, m->use_stream, m->use_serial, m->use_serials))
*/
static int32_t uses_in_range(const struct ashlar_manager *m)
{
  int32_t u = 0;
  if (m->use_top < 0 || m->use_top > ASHLAR_USES || m->use_spare_count < 0 ||
      m->use_spare_count > m->use_top) {
    return 0;
  }
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer v; 0 <= v < u ==> -1 <= m->use_block[v] < ASHLAR_SLOTS &&
        (0 <= m->use_block[v] ==> 0 <= m->use_stream[v] < ASHLAR_STREAMS && 0 < m->use_serial[v] <= m->use_serials);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    uint64_t serial = m->use_serial[u];
    if (m->use_block[u] < -1 || m->use_block[u] >= ASHLAR_SLOTS) {
      return u;
    }
    if (is_use(m, u) && (m->use_stream[u] < 0 || m->use_stream[u] >= ASHLAR_STREAMS ||
                         serial == 0 || serial > m->use_serials)) {
      return u;
    }
    u++;
  }
  return -1;
}

/* A record below use_top. */
/*@ requires \valid(m);
    READS
    ensures record: \result != 0 <==> 0 <= u < m->use_top;
*/
static int is_record(const struct ashlar_manager *m, int32_t u)
{
  return u >= 0 && u < m->use_top;
}

/*@ ghost
  // one more place of `use_spare` is one more spare record: the one that stands there
  /@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_USES_SPARE)
     requires spare: uses_spare(m->use_spare_count, m->use_spare, m->use_top, m->use_block, m->use_next);
     requires place: 0 <= k < m->use_spare_count;
     READS
     ensures more: spare_uses_below(m->use_block, m->use_next, k + 1, m->use_top) ==
       spare_uses_below(m->use_block, m->use_next, k, m->use_top) + 1;
  @/
  static void spare_at(const struct ashlar_manager *m, int32_t k)
  {
    int32_t n = 0;
    /@ loop invariant record: 0 <= n <= m->use_top;
       loop invariant more: spare_uses_below(m->use_block, m->use_next, k + 1, n) ==
         spare_uses_below(m->use_block, m->use_next, k, n) +
         (m->use_spare[k] < n ? 1 : 0);
       loop assigns n;
       loop variant m->use_top - n;
    @/
    while (n < m->use_top) {
      //@ assert spare: m->use_block[n] == -1 ==> m->use_spare[m->use_next[n]] == n;
      //@ assert place: m->use_next[n] == k ==> m->use_block[n] == -1 ==> n == m->use_spare[k];
      n++;
    }
  }

  // `use_spare` has each spare record once
  /@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_USES_SPARE)
     requires spare: uses_spare(m->use_spare_count, m->use_spare, m->use_top, m->use_block, m->use_next);
     READS
     ensures counted: uses_counted(m->use_spare_count, m->use_block, m->use_top);
  @/
  static void count_spares(const struct ashlar_manager *m)
  {
    int32_t n = 0;
    int32_t k = 0;
    /@ loop invariant record: 0 <= n <= m->use_top;
       loop invariant none: spare_uses_below(m->use_block, m->use_next, 0, n) == 0;
       loop invariant all: spare_uses_below(m->use_block, m->use_next, m->use_spare_count, n) ==
         spare_uses(m->use_block, n);
       loop assigns n;
       loop variant m->use_top - n;
    @/
    while (n < m->use_top) {
      n++;
    }
    /@ loop invariant place: 0 <= k <= m->use_spare_count;
       loop invariant below: spare_uses_below(m->use_block, m->use_next, k, m->use_top) == k;
       loop assigns k;
       loop variant m->use_spare_count - k;
    @/
    while (k < m->use_spare_count) {
      spare_at(m, k);
      k++;
    }
  }
*/

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_USES_SPARE)
    CHECKS(ASHLAR_USES - 1,
      uses_spare(m->use_spare_count, m->use_spare, m->use_top, m->use_block, m->use_next))
    ensures REQ_VALID_spares: \result == -1 ==> uses_counted(m->use_spare_count, m->use_block, m->use_top);
*/
static int32_t uses_spare(const struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t u = 0;
  /*@ loop invariant place: 0 <= k <= m->use_spare_count;
      loop invariant passed: \forall integer j; 0 <= j < k ==> 0 <= m->use_spare[j] < m->use_top &&
        m->use_block[m->use_spare[j]] == -1 && m->use_next[m->use_spare[j]] == j;
      loop assigns k;
      loop variant m->use_spare_count - k;
  */
  while (k < m->use_spare_count) {
    if (!is_record(m, m->use_spare[k]) || is_use(m, m->use_spare[k]) ||
        m->use_next[m->use_spare[k]] != k) {
      return k;
    }
    k++;
  }
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer v; 0 <= v < u ==> m->use_block[v] == -1 ==>
        0 <= m->use_next[v] < m->use_spare_count && m->use_spare[m->use_next[v]] == v;
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (!is_use(m, u) && (m->use_next[u] < 0 || m->use_next[u] >= m->use_spare_count ||
                          m->use_spare[m->use_next[u]] != u)) {
      return u;
    }
    u++;
  }
  //@ ghost count_spares(m);
  return -1;
}

/* --- spec/stream_use.h: the chain of a block --- */

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_MORE)
    CHECKS(m->use_top - 1,
      chain_more(m->use_top, m->use_block, m->use_more, m->use_serial, m->use_less))
*/
static int32_t chain_more(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==>
        -1 <= m->use_more[w] < m->use_top &&
        (\forall integer v; 0 <= v < m->use_top ==> m->use_more[w] <= v <= m->use_more[w] ==>
          m->use_block[v] == m->use_block[w] && m->use_serial[v] < m->use_serial[w] && m->use_less[v] == w);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    int32_t more = m->use_more[u];
    if (is_use(m, u) && more != -1 &&
        (!is_record(m, more) || m->use_block[more] != m->use_block[u] ||
         m->use_serial[more] >= m->use_serial[u] || m->use_less[more] != u)) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_LESS)
    CHECKS(m->use_top - 1,
      chain_less(m->use_top, m->use_block, m->use_less, m->first_use, m->use_serial, m->use_more))
*/
static int32_t chain_less(const struct ashlar_manager *m)
{
  int32_t u = 0;
  /*@ loop invariant place: 0 <= u <= m->use_top;
      loop invariant passed: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==>
        -1 <= m->use_less[w] < m->use_top &&
        (m->use_less[w] == -1 ==> m->first_use[m->use_block[w]] == w + 1) &&
        (\forall integer v; 0 <= v < m->use_top ==> m->use_less[w] <= v <= m->use_less[w] ==>
          m->use_block[v] == m->use_block[w] && m->use_serial[w] < m->use_serial[v] && m->use_more[v] == w);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    int32_t less = m->use_less[u];
    if (is_use(m, u) && less == -1 && m->first_use[m->use_block[u]] != u + 1) {
      return u;
    }
    if (is_use(m, u) && less != -1 &&
        (!is_record(m, less) || m->use_block[less] != m->use_block[u] ||
         m->use_serial[less] <= m->use_serial[u] || m->use_more[less] != u)) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ ghost
  // chain_less leads from every use to the first one of its block
  /@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_STARTS)
     requires starts: chain_starts(m->first_use, m->use_top, m->use_block, m->use_less);
     requires use: 0 <= u < m->use_top && 0 <= m->use_block[u];
     READS
     ensures first: 0 < m->first_use[m->use_block[u]] &&
       m->use_serial[u] <= m->use_serial[m->first_use[m->use_block[u]] - 1];
  @/
  static void first_of(const struct ashlar_manager *m, int32_t u)
  {
    int32_t first = u;
    /@ loop invariant use: 0 <= first < m->use_top && m->use_block[first] == m->use_block[u];
       loop invariant serial: m->use_serial[u] <= m->use_serial[first];
       loop assigns first;
       loop variant UINT64_MAX - m->use_serial[first];
    @/
    while (m->use_less[first] != -1) {
      first = m->use_less[first];
    }
  }

  // a use that chain_more does not lead to has one behind which it would be missing, ever later: up to the first one
  /@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_STARTS)
     requires starts: chain_starts(m->first_use, m->use_top, m->use_block, m->use_less);
     requires firsts: chain_first(m->use_top, m->use_block, m->first_use, m->use_serial);
     requires uses: 0 <= u < m->use_top && 0 <= v < m->use_top && u != v && 0 <= m->use_block[u] &&
       m->use_block[v] == m->use_block[u] && m->use_serial[v] <= m->use_serial[u];
     READS
     ensures on: goes_on(*m, u, v);
  @/
  static void leads_on(const struct ashlar_manager *m, int32_t u, int32_t v)
  {
    int32_t a = u;
    int32_t b = v;
    /@ loop invariant uses: 0 <= a < m->use_top && 0 <= b < m->use_top && a != b &&
         m->use_block[a] == m->use_block[u] && m->use_block[b] == m->use_block[u];
       loop invariant order: m->use_serial[b] <= m->use_serial[a];
       loop invariant on: goes_on(*m, a, b) ==> goes_on(*m, u, v);
       loop assigns a, b;
       loop variant 2 * UINT64_MAX - m->use_serial[a] - m->use_serial[b];
    @/
    while (m->use_more[a] == -1 || m->use_serial[m->use_more[a]] < m->use_serial[b]) {
      int32_t less = m->use_less[b];
      //@ assert same: m->use_less[a] == -1 ==> m->first_use[m->use_block[u]] == a + 1;
      //@ assert first: less == -1 ==> m->first_use[m->use_block[u]] == b + 1;
      //@ assert equal: less == -1 ==> m->use_serial[a] == m->use_serial[b] && 0 <= m->use_less[a];
      //@ assert later: 0 <= m->use_less[a] ==> m->use_serial[a] < m->use_serial[m->use_less[a]];
      //@ assert some: 0 <= less < m->use_top;
      //@ assert back: m->use_more[less] == b && m->use_serial[b] < m->use_serial[less];
      if (m->use_serial[a] == m->use_serial[b]) {
        int32_t other = m->use_less[a];
        //@ assert other: 0 <= other < m->use_top && m->use_more[other] == a;
        a = m->use_serial[less] <= m->use_serial[other] ? other : less;
        b = m->use_serial[less] <= m->use_serial[other] ? less : other;
      } else if (m->use_serial[less] <= m->use_serial[a]) {
        b = less;
      } else {
        b = a;
        a = less;
      }
    }
  }

  /@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_STARTS)
     requires starts: chain_starts(m->first_use, m->use_top, m->use_block, m->use_less);
     READS
     ensures first: chain_first(m->use_top, m->use_block, m->first_use, m->use_serial);
     ensures dense: chain_dense(m->use_top, m->use_block, m->use_serial, m->use_more);
     ensures whole: chain_whole(*m);
  @/
  static void chains_whole(const struct ashlar_manager *m)
  {
    int32_t u = 0;
    /@ loop invariant record: 0 <= u <= m->use_top;
       loop invariant first: \forall integer w; 0 <= w < u ==> 0 <= m->use_block[w] ==>
         0 < m->first_use[m->use_block[w]] && m->use_serial[w] <= m->use_serial[m->first_use[m->use_block[w]] - 1];
       loop assigns u;
       loop variant m->use_top - u;
    @/
    while (u < m->use_top) {
      if (m->use_block[u] != -1) {
        first_of(m, u);
      }
      u++;
    }
    //@ assert firsts: chain_first(m->use_top, m->use_block, m->first_use, m->use_serial);
    u = 0;
    /@ loop invariant record: 0 <= u <= m->use_top;
       loop invariant whole: \forall integer w; 0 <= w < u ==> \forall integer x; 0 <= x < m->use_top ==> w != x ==>
         0 <= m->use_block[w] ==> m->use_block[x] == m->use_block[w] ==> m->use_serial[x] <= m->use_serial[w] ==>
         goes_on(*m, w, x);
       loop assigns u;
       loop variant m->use_top - u;
    @/
    while (u < m->use_top) {
      int32_t v = 0;
      /@ loop invariant record: 0 <= v <= m->use_top;
         loop invariant whole: \forall integer x; 0 <= x < v ==> u != x ==> 0 <= m->use_block[u] ==>
           m->use_block[x] == m->use_block[u] ==> m->use_serial[x] <= m->use_serial[u] ==> goes_on(*m, u, x);
         loop assigns v;
         loop variant m->use_top - v;
      @/
      while (v < m->use_top) {
        if (u != v && m->use_block[u] != -1 && m->use_block[v] == m->use_block[u] &&
            m->use_serial[v] <= m->use_serial[u]) {
          leads_on(m, u, v);
        }
        v++;
      }
      u++;
    }
  }
*/

/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_CHAIN_STARTS)
    CHECKS(ASHLAR_SLOTS - 1,
      chain_starts(m->first_use, m->use_top, m->use_block, m->use_less))
    ensures REQ_VALID_chains: \result == -1 ==> chain_first(m->use_top, m->use_block, m->first_use, m->use_serial) &&
      chain_dense(m->use_top, m->use_block, m->use_serial, m->use_more) && chain_whole(*m);
*/
static int32_t chain_starts(const struct ashlar_manager *m)
{
  int32_t i = 0;
  /*@ loop invariant place: 0 <= i <= ASHLAR_SLOTS;
      loop invariant passed: \forall integer j; 0 <= j < i ==> 0 <= m->first_use[j] <= m->use_top &&
        (\forall integer v; 0 <= v < m->use_top ==> m->first_use[j] <= v + 1 <= m->first_use[j] ==>
          m->use_block[v] == j && m->use_less[v] == -1);
      loop assigns i;
      loop variant ASHLAR_SLOTS - i;
  */
  while (i < ASHLAR_SLOTS) {
    int32_t link = m->first_use[i];
    if (link < 0 || link > m->use_top ||
        (link > 0 && (m->use_block[link - 1] != i || m->use_less[link - 1] != -1))) {
      return i;
    }
    i++;
  }
  //@ ghost chains_whole(m);
  return -1;
}

/* A chain has all uses of its block: it is enough to remember, for each stream, the last block whose chain had it. */
/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_USES_UNIQUE)
    CHECKS(m->use_top - 1,
      uses_unique(m->use_top, m->use_block, m->use_stream))
*/
static int32_t uses_unique(const struct ashlar_manager *m)
{
  int32_t user[ASHLAR_STREAMS] = {0}; /* block + 1 */
  int32_t i = 0;
  //@ ghost int32_t by[ASHLAR_STREAMS] = {0};
  /*@ loop invariant slot: 0 <= i <= ASHLAR_SLOTS;
      loop invariant users: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> 0 <= user[s] <= i;
      loop invariant unique: \forall integer v; 0 <= v < m->use_top ==> \forall integer w; 0 <= w < m->use_top ==>
        0 <= m->use_block[v] < i ==> m->use_block[w] == m->use_block[v] ==> v != w ==>
        m->use_stream[v] != m->use_stream[w];
      loop assigns i, user[0 .. ASHLAR_STREAMS - 1], by[0 .. ASHLAR_STREAMS - 1];
      loop variant ASHLAR_SLOTS - i;
  */
  while (i < ASHLAR_SLOTS) {
    int32_t u = m->first_use[i] - 1;
    /*@ loop invariant use: -1 <= u < m->use_top && (u != -1 ==> m->use_block[u] == i);
        loop invariant users: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> 0 <= user[s] <= i + 1;
        loop invariant by: \forall integer s; 0 <= s < ASHLAR_STREAMS ==> user[s] == i + 1 ==>
          0 <= by[s] < m->use_top && m->use_block[by[s]] == i && m->use_stream[by[s]] == s &&
          (u != -1 ==> m->use_serial[u] < m->use_serial[by[s]]);
        loop invariant met: \forall integer v; 0 <= v < m->use_top ==> m->use_block[v] == i ==>
          u == -1 || m->use_serial[u] < m->use_serial[v] ==> user[m->use_stream[v]] == i + 1 &&
          by[m->use_stream[v]] == v;
        loop assigns u, user[0 .. ASHLAR_STREAMS - 1], by[0 .. ASHLAR_STREAMS - 1];
        loop variant u == -1 ? 0 : m->use_serial[u];
    */
    while (u != -1) {
      if (user[m->use_stream[u]] == i + 1) {
        return u;
      }
      user[m->use_stream[u]] = i + 1;
      //@ ghost by[m->use_stream[u]] = u;
      u = m->use_more[u];
    }
    i++;
  }
  return -1;
}

/* Puts serials into a batch, from a record on; the record behind the last one looked at. */
/*@ requires \valid(m) && \valid(serials) && \separated(m, serials); USES_BEFORE(ASHLAR_CLAUSE_SERIALS_DISTINCT)
    requires record: 0 <= u < m->use_top;
    requires empty: serials->count == 0;
    terminates \true; exits \false;
    assigns *serials;
    ensures record: u < \result <= m->use_top;
    ensures count: 0 <= serials->count <= ASHLAR_RANGES;
    ensures sorted: ranges_sorted(serials->count, serials->first);
    ensures serials: batch_serials(*m, u, \result, serials->count, serials->first, serials->last, serials->name);
    ensures once: batch_once(serials->count, serials->name);
    ensures all: batch_uses(*m, u, \result, serials->count, serials->name);
*/
static int32_t gather_serials(const struct ashlar_manager *m, int32_t u,
                              struct ashlar_ranges *serials)
{
  /*@ loop invariant record: \at(u, Pre) <= u <= m->use_top;
      loop invariant some: u == \at(u, Pre) ==> serials->count == 0;
      loop invariant count: 0 <= serials->count <= ASHLAR_RANGES;
      loop invariant sorted: ranges_sorted(serials->count, serials->first);
      loop invariant serials: batch_serials(*m, \at(u, Pre), u, serials->count, serials->first, serials->last,
        serials->name);
      loop invariant once: batch_once(serials->count, serials->name);
      loop invariant all: batch_uses(*m, \at(u, Pre), u, serials->count, serials->name);
      loop assigns u, *serials;
      loop variant m->use_top - u;
  */
  while (u < m->use_top && serials->count < ASHLAR_RANGES) {
    if (is_use(m, u)) {
      (void)ashlar_ranges_insert(serials, m->use_serial[u], m->use_serial[u], u);
    }
    u++;
  }
  return u;
}

/* The first use, from a record on, with the serial of one of a batch. */
/*@ requires \valid(m) && \valid(serials); USES_BEFORE(ASHLAR_CLAUSE_SERIALS_DISTINCT)
    requires record: 0 <= u <= m->use_top;
    requires count: 0 <= serials->count <= ASHLAR_RANGES;
    requires sorted: ranges_sorted(serials->count, serials->first);
    requires apart: ranges_apart(serials->count, serials->first, serials->last);
    READS
    ensures index: \result == -1 || u <= \result < m->use_top;
    ensures none: \result == -1 ==> \forall integer v; u <= v < m->use_top ==> 0 <= m->use_block[v] ==>
      !in_ranges(serials->count, serials->first, serials->last, m->use_serial[v]);
    ensures some: \result != -1 ==> 0 <= m->use_block[\result] &&
      in_ranges(serials->count, serials->first, serials->last, m->use_serial[\result]);
*/
static int32_t repeated(const struct ashlar_manager *m, int32_t u,
                        const struct ashlar_ranges *serials)
{
  /*@ loop invariant record: \at(u, Pre) <= u <= m->use_top;
      loop invariant passed: \forall integer v; \at(u, Pre) <= v < u ==> 0 <= m->use_block[v] ==>
        !in_ranges(serials->count, serials->first, serials->last, m->use_serial[v]);
      loop assigns u;
      loop variant m->use_top - u;
  */
  while (u < m->use_top) {
    if (is_use(m, u) && ashlar_ranges_have(serials, m->use_serial[u])) {
      return u;
    }
    u++;
  }
  return -1;
}

/*@ ghost
  // a batch without its own serials again, in it or behind it
  /@ requires \valid(m) && \valid(serials); USES_BEFORE(ASHLAR_CLAUSE_SERIALS_DISTINCT)
     requires records: 0 <= from <= to <= m->use_top;
     requires count: 0 <= serials->count <= ASHLAR_RANGES;
     requires apart: ranges_apart(serials->count, serials->first, serials->last);
     requires serials: batch_serials(*m, from, to, serials->count, serials->first, serials->last, serials->name);
     requires all: batch_uses(*m, from, to, serials->count, serials->name);
     requires none: \forall integer v; to <= v < m->use_top ==> 0 <= m->use_block[v] ==>
       !in_ranges(serials->count, serials->first, serials->last, m->use_serial[v]);
     requires before: serials_apart(*m, from);
     READS
     ensures apart: serials_apart(*m, to);
  @/
  static void batch_apart(const struct ashlar_manager *m, const struct ashlar_ranges *serials, int32_t from, int32_t to)
  { ; }
*/

/* Serials of one block differ, since its chain descends. Those of different blocks have no order: batch by batch. */
/*@ requires \valid(m); USES_BEFORE(ASHLAR_CLAUSE_SERIALS_DISTINCT)
    CHECKS(m->use_top - 1, serials_distinct(m->use_top, m->use_block, m->use_serial))
*/
static int32_t serials_distinct(const struct ashlar_manager *m)
{
  struct ashlar_ranges serials;
  int32_t from = 0;
  int32_t broken = -1;
  /*@ loop invariant record: 0 <= from <= m->use_top;
      loop invariant index: -1 <= broken < m->use_top;
      loop invariant apart: broken == -1 ==> serials_apart(*m, from);
      loop invariant broken: broken != -1 ==> !serials_distinct(m->use_top, m->use_block, m->use_serial);
      loop assigns from, broken, serials;
      loop variant m->use_top - from;
  */
  while (from < m->use_top && broken == -1) {
    int32_t to;
    serials.count = 0;
    to = gather_serials(m, from, &serials);
    broken = ashlar_ranges_overlapped(&serials);
    if (broken == -1) {
      broken = repeated(m, to, &serials);
      //@ ghost if (broken == -1) { batch_apart(m, &serials, from, to); }
    }
    from = to;
  }
  return broken;
}

int32_t ashlar_check_uses(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_STREAMS_IN_RANGE:
    return streams_in_range(m);
  case ASHLAR_CLAUSE_STREAMS_SORTED:
    return streams_sorted(m);
  case ASHLAR_CLAUSE_STREAMS_DISTINCT:
    return streams_distinct(m);
  case ASHLAR_CLAUSE_USES_IN_RANGE:
    return uses_in_range(m);
  case ASHLAR_CLAUSE_USES_SPARE:
    return uses_spare(m);
  case ASHLAR_CLAUSE_CHAIN_MORE:
    return chain_more(m);
  case ASHLAR_CLAUSE_CHAIN_LESS:
    return chain_less(m);
  case ASHLAR_CLAUSE_CHAIN_STARTS:
    return chain_starts(m);
  case ASHLAR_CLAUSE_USES_UNIQUE:
    return uses_unique(m);
  case ASHLAR_CLAUSE_SERIALS_DISTINCT:
    return serials_distinct(m);
  default:
    return -1;
  }
}
