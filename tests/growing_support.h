/* growing_support.h - growable segments laid out as a test wants them, and a device that maps.
 *
 * Each helper fails the running test where what it is named after does not hold.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_GROWING_SUPPORT_H
#define ASHLAR_TESTS_GROWING_SUPPORT_H

#include <stdint.h>

#include "tests/manager_support.h"

/* What a part of a range is. */
enum layer {
  LAYER_END = 0, /* no part: the range ends before it */
  LAYER_OWNED,
  LAYER_FREE,
  LAYER_UNMAPPED
};

struct part {
  enum layer layer;
  uint64_t bytes;
};

/* Parts by their size in MiB. */
#define OWNED(mib)                                                                                 \
  {                                                                                                \
    LAYER_OWNED, (mib)*MIB                                                                         \
  }
#define FREE(mib)                                                                                  \
  {                                                                                                \
    LAYER_FREE, (mib)*MIB                                                                          \
  }
#define UNMAPPED(mib)                                                                              \
  {                                                                                                \
    LAYER_UNMAPPED, (mib)*MIB                                                                      \
  }

#define RANGE (UINT64_C(1) << 42) /* where tests lay ranges out */

/* Settings with growable segments on: a device of 1 GiB, pages of 20 MiB in the large class. */
struct ashlar_config growing_config(void);

/* Adds a range whose parts follow each other from an address on; of the large class. */
void lay(struct fixture *f, uint64_t address, const struct part *parts, int32_t pool,
         int32_t stream);

/* The slot of the block that starts at an address. */
int32_t slot_at(const struct ashlar_manager *m, uint64_t address);

/* The next step, after one that the device of the fixture performs: it gives addresses where it stands, whatever is
   asked for, and writes everything down. */
struct ashlar_step performed(struct fixture *f, struct ashlar_step step);

/* Performs all steps of a request, written down anew; gives the last. */
struct ashlar_step finished(struct fixture *f, struct ashlar_step step);

struct ashlar_step begun(struct fixture *f, uint64_t bytes, int32_t stream);

#endif
