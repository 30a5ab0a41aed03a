/* home.h - the home of a block: pool, class and stream in one number, which names its free list.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_HOME_H
#define ASHLAR_CORE_HOME_H

#include "core/manager.h"

/* The home of a pool, class and stream. O(1). */
/*@ requires pool: 0 <= pool < ASHLAR_POOL_NUMBERS;
    requires class: class == ASHLAR_CLASS_SMALL || class == ASHLAR_CLASS_LARGE;
    requires stream: 0 <= stream < ASHLAR_STREAMS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures home: \result == (pool * ASHLAR_CLASSES + class) * ASHLAR_STREAMS + stream;
    ensures range: 0 <= \result < ASHLAR_LISTS;
    ensures parts: \result / ASHLAR_STREAMS == pool * ASHLAR_CLASSES + class && \result % ASHLAR_STREAMS == stream;
    ensures REQ_POOL_apart_home: \result / ASHLAR_STREAMS / ASHLAR_CLASSES == pool &&
      \result / ASHLAR_STREAMS % ASHLAR_CLASSES == class;
*/
int32_t ashlar_home(int32_t pool, int32_t class, int32_t stream);

/* What a home is made of: number of the pool and class together, pool * 2 + class; each of the three. O(1). */
/*@ requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == home / ASHLAR_STREAMS && 0 <= \result < ASHLAR_POOL_CLASSES;
*/
int32_t ashlar_home_pool_class(int32_t home);

/*@ requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == home / ASHLAR_STREAMS / ASHLAR_CLASSES && 0 <= \result < ASHLAR_POOL_NUMBERS;
*/
int32_t ashlar_home_pool(int32_t home);

/*@ requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == home / ASHLAR_STREAMS % ASHLAR_CLASSES;
    ensures class: \result == ASHLAR_CLASS_SMALL || \result == ASHLAR_CLASS_LARGE;
*/
int32_t ashlar_home_class(int32_t home);

/*@ requires home: 0 <= home < ASHLAR_LISTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures \result == home % ASHLAR_STREAMS && 0 <= \result < ASHLAR_STREAMS;
*/
int32_t ashlar_home_stream(int32_t home);

#endif
