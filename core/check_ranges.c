/* check_ranges.c - see check_clauses.h: ranges of numbers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

void ashlar_ranges_insert(struct ashlar_ranges *ranges, uint64_t first, uint64_t last, int32_t name)
{
  int32_t place = ranges->count;
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
}

int32_t ashlar_ranges_overlapped(const struct ashlar_ranges *ranges)
{
  int32_t place = 1;
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
