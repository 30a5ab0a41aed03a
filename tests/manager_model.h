/* manager_model.h - what a manager must do next, found by scanning all its blocks.
 *
 * The rules as they are written in the requirements, in the plainest form: no free lists, no index. Ordinary segments of
 * the default pool, one request at a time, and no uses: then waits and further searches find nothing. Rounding is taken
 * from size_policy, which has an oracle of its own.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MANAGER_MODEL_H
#define ASHLAR_TESTS_MANAGER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block_manager.h"

/* Where a request stands, in the model's own words. */
enum model_place {
  MODEL_FIRST = 0, /* the device was asked */
  MODEL_OVERSIZE,  /* an oversize block was released */
  MODEL_SECOND,    /* the device was asked after that */
  MODEL_ALL,       /* a segment was released, on the way to releasing all */
  MODEL_LAST,      /* the device was asked behind the last release */
  MODEL_AGAIN      /* complete policy: once more */
};

struct model_request {
  uint64_t size; /* rounded */
  uint64_t released;
  int32_t class;
  int32_t stream;
  enum model_place place;
};

/* The step that is to come: kind, and for a release its address; bytes. */
struct model_step {
  enum ashlar_step_kind kind;
  uint64_t address;
  uint64_t bytes;
};

/* The request as the rules see it. */
struct model_request model_request_of(const struct ashlar_manager *m, uint64_t bytes,
                                      int32_t stream);

/* Slot of the free block that serves the request; -1: the device must be asked. */
int32_t model_choice(const struct ashlar_manager *m, const struct model_request *request);

/* Bytes of the block that the request gets out of a block of `size` bytes. */
uint64_t model_given(const struct ashlar_manager *m, const struct model_request *request,
                     uint64_t size);

/* Slot of the first segment to be released when everything goes; -1: none. */
int32_t model_release(const struct ashlar_manager *m);

/* The step after one that the device refused, or after a release; moves the request on. To be called before the manager
   is told. */
struct model_step model_next(const struct ashlar_manager *m, struct model_request *request);

#endif
