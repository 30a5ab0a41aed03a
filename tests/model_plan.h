/* model_plan.h - which recordings the reference model makes: a plan for each index.
 *
 * A plan names what is in it: streams, uses, limits, pools, captures, growable segments, refusals, a short ring. All of
 * it follows from the index, so that the same index gives the same recording everywhere.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_PLAN_H
#define ASHLAR_TESTS_MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/model/state.h"

enum { MODEL_PLANS = 240, MODEL_FAMILIES = 16, MODEL_PLAN_STREAMS = 8 };

enum model_addresses {
  MODEL_ADDRESSES_ASCEND = 0, /* never twice */
  MODEL_ADDRESSES_LOWEST,     /* the lowest that fits, so that they come back */
  MODEL_ADDRESSES_DESCEND
};

struct model_plan {
  const char *family;
  uint64_t seed;
  uint64_t least; /* bytes, of a request */
  uint64_t largest;
  uint64_t capacity;       /* bytes that the device has for us */
  uint64_t limit;          /* bytes that we may have; MODEL_UNSET */
  double threshold;        /* of the collection by age, as a part of the limit; 0: none */
  uint64_t max_split_size; /* MODEL_UNSET */
  uint64_t entries;        /* of the ring */
  uint64_t division;       /* of all rows; 0: off */
  enum model_addresses addresses;
  uint32_t order; /* MODEL_ORDER_... */
  uint32_t operations;
  uint32_t devices;
  uint32_t streams;
  uint32_t live;            /* blocks at a time, about */
  uint32_t use_permille;    /* of the operations: a use on another stream */
  uint32_t cache_permille;  /* the cache is released */
  uint32_t pool_permille;   /* a pool is made, entered, left, or given up */
  uint32_t graph_permille;  /* a capture begins */
  uint32_t refuse_permille; /* of what the device is asked for */
  bool growable;
  bool odd_pools; /* some do not split, some have an allocator, some lend */
};

/* The plan of an index below MODEL_PLANS. */
struct model_plan model_plan(unsigned index);

#endif
