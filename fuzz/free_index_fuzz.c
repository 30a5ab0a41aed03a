/* free_index_fuzz.c - the core's free index against linear scans.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/free_index.h"

#include "fuzz/harness.h"
#include "fuzz/index_check.h"

static void run(struct fuzz_input *in)
{
  static const struct fuzz_index index = {
      ashlar_index_best,   ashlar_index_after,  ashlar_index_before,
      ashlar_index_insert, ashlar_index_remove, ashlar_index_grow,
  };
  fuzz_check_index(&index, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run);
}
