/* array.h - arrays that grow.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_ARRAY_H
#define ASHLAR_CUDA_SIM_ARRAY_H

#include <stddef.h>

/* Gives an array of elements of so many bytes room for `needed` of them; the capacity at least
   doubles. The array, perhaps moved, or NULL where host memory is short: then it is as it was, and
   still the caller's. What is new is not initialised. `needed` is positive. */
void *ashlar_sim_grow(void *array, size_t *capacity, size_t needed, size_t bytes);

#endif
