/* index_check.h - a free index driven by operations and compared with linear scans.
 *
 * The index is given as a table of functions, so that the same harness runs over the core's index and over one with a
 * fault in it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_INDEX_CHECK_H
#define ASHLAR_FUZZ_INDEX_CHECK_H

#include <stdint.h>

#include "core/manager.h"
#include "fuzz/input.h"

/* As in core/free_index.h. */
struct fuzz_index {
  int32_t (*best)(const struct ashlar_manager *m, int32_t list, uint64_t size);
  int32_t (*after)(const struct ashlar_manager *m, int32_t list, uint64_t size, uint64_t age,
                   uint64_t addr);
  int32_t (*before)(const struct ashlar_manager *m, int32_t list, uint64_t size, uint64_t age,
                    uint64_t addr);
  void (*insert)(struct ashlar_manager *m, int32_t slot);
  void (*remove)(struct ashlar_manager *m, int32_t slot);
  void (*grow)(struct ashlar_manager *m);
};

/* Runs the operations of an input on an empty index. */
void fuzz_check_index(const struct fuzz_index *index, struct fuzz_input *in);

#endif
