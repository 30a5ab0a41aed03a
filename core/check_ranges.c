/* check_ranges.c - see check_clauses.h: ranges of numbers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

int32_t ashlar_ranges_insert(struct ashlar_ranges *ranges, uint64_t first, uint64_t last,
                             int32_t name)
{
  int32_t place = ranges->count;
  /*@ loop invariant place: 0 <= place <= ranges->count;
      loop invariant before: \forall integer k; 0 <= k < place ==>
        ranges->first[k] == \at(*ranges, Pre).first[k] && ranges->last[k] == \at(*ranges, Pre).last[k] &&
        ranges->name[k] == \at(*ranges, Pre).name[k];
      loop invariant moved: \forall integer k; place < k <= ranges->count ==>
        ranges->first[k] == \at(*ranges, Pre).first[k - 1] && ranges->last[k] == \at(*ranges, Pre).last[k - 1] &&
        ranges->name[k] == \at(*ranges, Pre).name[k - 1];
      loop invariant greater: \forall integer k; place < k <= ranges->count ==> ranges->first[k] > first;
      loop assigns place, ranges->first[0 .. ASHLAR_RANGES - 1], ranges->last[0 .. ASHLAR_RANGES - 1],
        ranges->name[0 .. ASHLAR_RANGES - 1];
      loop variant place;
  */
  while (place > 0 && ranges->first[place - 1] > first) {
    ranges->first[place] = ranges->first[place - 1];
    ranges->last[place] = ranges->last[place - 1];
    ranges->name[place] = ranges->name[place - 1];
    place--;
  }
  ranges->first[place] = first;
  ranges->last[place] = last;
  ranges->name[place] = name;
  ranges->count++;
  return place;
}

int32_t ashlar_ranges_overlapped(const struct ashlar_ranges *ranges)
{
  int32_t place = 1;
  /*@ loop invariant place: 1 <= place && (place == 1 || place <= ranges->count);
      loop invariant apart: place <= ranges->count ==> ranges_apart(place, ranges->first, ranges->last);
      loop assigns place;
      loop variant ranges->count - place;
  */
  while (place < ranges->count) {
    if (ranges->first[place] <= ranges->last[place - 1]) {
      return ranges->name[place];
    }
    place++;
  }
  return -1;
}

int ashlar_ranges_have(const struct ashlar_ranges *ranges, uint64_t number)
{
  int32_t low = 0;
  int32_t high = ranges->count;
  /*@ loop invariant ends: 0 <= low <= high <= ranges->count;
      loop invariant below: \forall integer k; 0 <= k < low ==> ranges->first[k] <= number;
      loop invariant above: \forall integer k; high <= k < ranges->count ==> number < ranges->first[k];
      loop assigns low, high;
      loop variant high - low;
  */
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (ranges->first[middle] <= number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && number <= ranges->last[low - 1];
}
