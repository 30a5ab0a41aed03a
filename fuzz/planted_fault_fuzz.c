/* planted_fault_fuzz.c - the harness of free_index_fuzz.c over an index with a fault: it must fail.
 *
 * Of blocks of one size and age the one at the greatest address is taken for the best, not the one at the least. A test
 * sees that the fuzzer finds this within a fixed number of runs: a harness that has gone blind is noticed.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/free_index.h"

#include "fuzz/harness.h"
#include "fuzz/index_check.h"

static int32_t faulty_best(const struct ashlar_manager *m, int32_t list, uint64_t size)
{
  int32_t slot = ashlar_index_best(m, list, size);
  int32_t next = slot;
  while (next >= 0 && m->size[next] == m->size[slot] && m->age[next] == m->age[slot]) {
    slot = next;
    next = ashlar_index_after(m, list, m->size[slot], m->age[slot], m->addr[slot]);
  }
  return slot;
}

static void run(struct fuzz_input *in)
{
  static const struct fuzz_index index = {
      faulty_best,         ashlar_index_after,  ashlar_index_before,
      ashlar_index_insert, ashlar_index_remove, ashlar_index_grow,
  };
  fuzz_check_index(&index, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run);
}
