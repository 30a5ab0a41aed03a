/* core_check_faults.h - a state with a bit of everything, and one fault for each clause of its check.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORE_CHECK_FAULTS_H
#define ASHLAR_TESTS_CORE_CHECK_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/check.h"
#include "core/manager.h"

/* Where things are in the state. */
struct core_check_slots {
  int32_t first;    /* allocated, first of its segment, alone in its bucket of the address map */
  int32_t hole;     /* free, between two allocated blocks */
  int32_t third;    /* allocated, behind the hole; used on two streams */
  int32_t rest;     /* free, last of that segment */
  int32_t whole;    /* free, a segment of its own */
  int32_t large;    /* allocated, a segment of its own, oversize; in the bucket of `other` */
  int32_t other;    /* allocated, of the other stream */
  int32_t queued;   /* pending, first in the queue of stream 1, of three */
  int32_t deferred; /* pending, its uses not submitted */
  int32_t maps;     /* request that holds a run of two blocks */
  int32_t releases; /* request that holds a segment on its way back */
  int32_t waits;    /* request that waits for a stream */
  int32_t asks;     /* request that asks for a segment, on stream 1 */
};

struct core_check_fault {
  int32_t clause;    /* of core/check */
  const char *naive; /* and of tests/core_check */
  void (*fault)(struct ashlar_manager *m, const struct core_check_slots *slot);
};

/* Each table ends with a fault of no clause. */
extern const struct core_check_fault core_check_faults_blocks[];
extern const struct core_check_fault core_check_faults_uses[];
extern const struct core_check_fault core_check_faults_state[];

#endif
