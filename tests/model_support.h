/* model_support.h - a device for the reference model, and what must hold of its state at any time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_SUPPORT_H
#define ASHLAR_TESTS_MODEL_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/model/model.h"

/* A device that gives addresses, ascending and never twice, and has memory for so many bytes. */
struct model_device {
  uint64_t capacity;
  uint64_t given; /* bytes that it gave and did not take back */
  uint64_t next;  /* address */
  uint32_t allocations;
  uint32_t releases;
  uint32_t waits;
  uint32_t maps;
  uint32_t unmaps;
  enum model_step_kind order[64]; /* the last steps, for tests of one request */
  uint32_t steps;
};

void model_device_start(struct model_device *device, uint64_t capacity);

/* Performs one step and reports it; gives the next one. */
struct model_step model_device_perform(struct model_device *device, struct model *m,
                                       struct model_step step);

/* Performs all steps of a request; gives the last. */
struct model_step model_device_run(struct model_device *device, struct model *m,
                                   struct model_step step);

/* The always-on checks: blocks aligned, disjoint, inside and tiling their segments; coalesced; every statistic as the
   blocks say; no free block in use; held blocks of requests in flight. NULL, or what is broken.
   Oracle: REQ-DISJOINT-inside. */
const char *model_broken(const struct model *m);

/* Whether nothing is active, and every ordinary segment is one free block. */
bool model_is_canonical(const struct model *m);

#endif
