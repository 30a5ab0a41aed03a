/* stream_table.c - see stream_table.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/stream_table.h"

/*@ ghost
  void ashlar_streams_open(const struct ashlar_manager *m) { ; }

  void ashlar_streams_close(const struct ashlar_manager *m) { ; }
*/

int ashlar_stream_live(const struct ashlar_manager *m, int32_t stream)
{
  return stream >= 0 && stream < m->stream_count && m->stream_gone[stream] == 0;
}

/* Place in ascending key order where the first stream with the key stands, or would stand. */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 <= \result <= m->stream_count;
    ensures low: \forall integer k; 0 <= k < \result ==> m->stream_key[m->stream_order[k]] < key;
    ensures high: \forall integer k; \result <= k < m->stream_count ==> key <= m->stream_key[m->stream_order[k]];
*/
static int32_t place_of(const struct ashlar_manager *m, uint64_t key)
{
  //@ ghost ashlar_streams_open(m);
  int32_t low = 0;
  int32_t high = m->stream_count;
  /*@ loop invariant range: 0 <= low <= high <= m->stream_count;
      loop invariant low: \forall integer k; 0 <= k < low ==> m->stream_key[m->stream_order[k]] < key;
      loop invariant high: \forall integer k; high <= k < m->stream_count ==>
        key <= m->stream_key[m->stream_order[k]];
      loop assigns low, high;
      loop variant high - low;
  */
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (m->stream_key[m->stream_order[middle]] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int32_t ashlar_stream_lookup(const struct ashlar_manager *m, uint64_t key)
{
  //@ ghost ashlar_streams_open(m);
  int32_t place = place_of(m, key);
  /*@ loop invariant place: 0 <= place <= m->stream_count;
      loop invariant passed: \forall integer s; 0 <= s < m->stream_count ==> m->stream_rank[s] < place ==>
        m->stream_key[s] != key || m->stream_gone[s] != 0;
      loop invariant ahead: \forall integer k; place <= k < m->stream_count ==>
        key <= m->stream_key[m->stream_order[k]];
      loop assigns place;
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count && m->stream_key[m->stream_order[place]] == key) {
    if (m->stream_gone[m->stream_order[place]] == 0) {
      return m->stream_order[place];
    }
    place++;
  }
  /*@ assert beyond: \forall integer k; place <= k < m->stream_count ==> key < m->stream_key[m->stream_order[k]]; */
  /*@ assert streams: \forall integer s; 0 <= s < m->stream_count ==> place <= m->stream_rank[s] ==>
        key < m->stream_key[s]; */
  return -1;
}

/*@ requires \valid(m);
    requires streams: 0 <= a < ASHLAR_STREAMS && 0 <= b < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result != 0 <==> stream_less(m->stream_key, a, b);
*/
static int is_less(const struct ashlar_manager *m, int32_t a, int32_t b)
{
  uint64_t key = m->stream_key[a];
  uint64_t other = m->stream_key[b];
  return key < other || (key == other && a < b);
}

/* Whether the stream at a place belongs before the one ahead of it. */
/*@ requires \valid(m);
    requires streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
    requires place: 0 <= place < m->stream_count;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result != 0 <==> 0 < place && stream_less(m->stream_key, m->stream_order[place], m->stream_order[place - 1]);
*/
static int is_early(const struct ashlar_manager *m, int32_t place)
{
  if (place == 0) {
    return 0;
  }
  return is_less(m, m->stream_order[place], m->stream_order[place - 1]);
}

/* Exchanges two neighbours of the order. */
/*@ requires \valid(m);
    requires streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
    requires place: 0 <= place && place + 1 < m->stream_count;
    terminates \true; exits \false;
    assigns m->stream_order[place], m->stream_order[place + 1], m->stream_rank[0 .. ASHLAR_STREAMS - 1];
    ensures streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
    ensures exchanged: m->stream_order[place] == \old(m->stream_order[place + 1]) &&
      m->stream_order[place + 1] == \old(m->stream_order[place]);
*/
static void exchange(struct ashlar_manager *m, int32_t place)
{
  int32_t stream = m->stream_order[place];
  m->stream_order[place] = m->stream_order[place + 1];
  m->stream_order[place + 1] = stream;
  m->stream_rank[m->stream_order[place]] = place;
  m->stream_rank[stream] = place + 1;
}

/* Moves the stream at a place, the only one out of order, to where it belongs. */
/*@ requires \valid(m);
    requires streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
    requires place: 0 <= place < m->stream_count;
    requires sorted: sorted_but(m->stream_count, m->stream_key, m->stream_order, place);
    terminates \true; exits \false;
    assigns m->stream_order[0 .. ASHLAR_STREAMS - 1], m->stream_rank[0 .. ASHLAR_STREAMS - 1];
    ensures streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
    ensures stream_order: streams_sorted(m->stream_count, m->stream_key, m->stream_order);
*/
static void settle(struct ashlar_manager *m, int32_t place)
{
  /*@ loop invariant place: 0 <= place < m->stream_count;
      loop invariant streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
      loop invariant sorted: sorted_but(m->stream_count, m->stream_key, m->stream_order, place);
      loop invariant behind: place == \at(place, LoopEntry) || (\forall integer k; place < k < m->stream_count ==>
        stream_less(m->stream_key, m->stream_order[place], m->stream_order[k]));
      loop assigns place, m->stream_order[0 .. ASHLAR_STREAMS - 1], m->stream_rank[0 .. ASHLAR_STREAMS - 1];
      loop variant place;
  */
  while (is_early(m, place)) {
    exchange(m, place - 1);
    place--;
  }
  /*@ loop invariant place: 0 <= place < m->stream_count;
      loop invariant streams: streams_in_range(m->stream_count, m->stream_order, m->stream_rank);
      loop invariant sorted: sorted_but(m->stream_count, m->stream_key, m->stream_order, place);
      loop invariant before: \forall integer j; 0 <= j < place ==>
        stream_less(m->stream_key, m->stream_order[j], m->stream_order[place]);
      loop assigns place, m->stream_order[0 .. ASHLAR_STREAMS - 1], m->stream_rank[0 .. ASHLAR_STREAMS - 1];
      loop variant m->stream_count - place;
  */
  while (place + 1 < m->stream_count &&
         is_less(m, m->stream_order[place + 1], m->stream_order[place])) {
    exchange(m, place);
    place++;
  }
}

void ashlar_stream_put(struct ashlar_manager *m, int32_t stream, uint64_t key)
{
  //@ ghost ashlar_streams_open(m);
  if (stream == m->stream_count) {
    m->stream_order[stream] = stream;
    m->stream_rank[stream] = stream;
    m->stream_count++;
  }
  m->stream_key[stream] = key;
  m->stream_gone[stream] = 0;
  m->stream_captured[stream] = 0;
  settle(m, m->stream_rank[stream]);
  //@ ghost ashlar_streams_close(m);
}

int32_t ashlar_stream_rank(const struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_streams_open(m);
  return m->stream_rank[stream];
}
