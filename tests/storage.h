/* storage.h - storage for managers under test: zeroed, compared, copied; and random numbers that are the same
 * everywhere.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_STORAGE_H
#define ASHLAR_TESTS_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/manager.h"

/* A manager in zeroed storage; pages are taken when touched, so that the largest capacity costs no more than a small
   one. Ends the process where the machine has no memory. */
struct ashlar_manager *ashlar_storage_new(void);
void ashlar_storage_delete(struct ashlar_manager *m);

/* What was used is zero again, and the manager is not started: as good as a new one. */
void ashlar_storage_clear(struct ashlar_manager *m);

/* Makes `to` equal to `from` in every byte that ashlar_storage_same looks at. */
void ashlar_storage_copy(struct ashlar_manager *to, const struct ashlar_manager *from);

/* Whether the two are the same: every byte up to a capacity of 65536; above, the entries below the greater `top`, the
   whole address map and all that is no array of slots. */
bool ashlar_storage_same(const struct ashlar_manager *a, const struct ashlar_manager *b);

/* The next of a sequence of random numbers (splitmix64); any start gives a good one. */
uint64_t ashlar_random(uint64_t *seed);

/* A random number of [0, bound), bound > 0. */
uint64_t ashlar_random_below(uint64_t *seed, uint64_t bound);

#endif
