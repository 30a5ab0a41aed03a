/* array.c - see array.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 8 };

void *ashlar_sim_grow(void *array, size_t *capacity, size_t needed, size_t bytes)
{
  if (needed <= *capacity) {
    return array;
  }
  size_t grown = *capacity == 0 ? FIRST_CAPACITY : *capacity;
  while (grown < needed) {
    if (grown > SIZE_MAX / 2) {
      return NULL;
    }
    grown *= 2;
  }
  if (grown > SIZE_MAX / bytes) {
    return NULL;
  }
  void *moved = realloc(array, grown * bytes);
  if (moved != NULL) {
    *capacity = grown;
  }
  return moved;
}
