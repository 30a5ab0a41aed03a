/* stream_table.c - see stream_table.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/stream_table.h"

int32_t ashlar_stream_place(const struct ashlar_manager *m, uint64_t key)
{
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

void ashlar_stream_add(struct ashlar_manager *m, uint64_t key)
{
  int32_t at = ashlar_stream_place(m, key);
  int32_t k = m->stream_count;
  m->stream_key[k] = key;
  /*@ loop invariant range: at <= k <= m->stream_count;
      loop invariant low: \forall integer j; 0 <= j < k ==> m->stream_order[j] == \at(m->stream_order[j], Pre);
      loop invariant high: \forall integer j; k < j <= m->stream_count ==>
        m->stream_order[j] == \at(m->stream_order[j - 1], Pre);
      loop invariant shifted: \forall integer j; k <= j < m->stream_count ==>
        m->stream_order[j + 1] == \at(m->stream_order[j], Pre);
      loop assigns k, m->stream_order[0 .. ASHLAR_STREAMS - 1];
      loop variant k;
  */
  while (k > at) {
    m->stream_order[k] = m->stream_order[k - 1];
    k--;
  }
  m->stream_order[at] = m->stream_count;
  m->stream_count++;
}
