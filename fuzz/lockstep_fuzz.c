/* lockstep_fuzz.c - the core and the reference model, the same calls on both: every result, step, counter and block is
 * compared after each, and the whole state of the core is checked.
 *
 * All public operations are called, but for those that reconstruct a recorded state. Several requests are in flight;
 * the device performs, refuses or fails their steps in any order. Not compared: what happens when the room for uses runs
 * out (the first one that a block gets takes two), and the ages of segments in address order, which the core does not
 * keep.
 *
 * Oracle of REQ-SIZE-enough, REQ-SIZE-nothing, REQ-SIZE-segment, REQ-SIZE-split, REQ-SIZE-front, REQ-TILE-base,
 * REQ-COALESCE-mapping, REQ-COALESCE-pending, REQ-COALESCE-request, REQ-BESTFIT-least, REQ-BESTFIT-oversize,
 * REQ-BESTFIT-skip, REQ-BESTFIT-walk, REQ-BESTFIT-at, REQ-STREAM-use, REQ-STREAM-pending, REQ-STREAM-queue,
 * REQ-STREAM-poll, REQ-STREAM-scan, REQ-STREAM-defer, REQ-STREAM-drain, REQ-STREAM-gone, REQ-LADDER-device,
 * REQ-LADDER-oversize, REQ-LADDER-all, REQ-LADDER-order, REQ-LADDER-last, REQ-LADDER-once, REQ-LADDER-capture,
 * REQ-LADDER-callbacks, REQ-LADDER-search, REQ-LADDER-resort, REQ-LADDER-private, REQ-LADDER-fallback,
 * REQ-LADDER-limit, REQ-LADDER-reject, REQ-LADDER-collect, REQ-LADDER-age, REQ-LADDER-empty, REQ-OOM-complete,
 * REQ-OOM-faithful, REQ-ACCOUNT-rejected,
 * REQ-FREE-exact, REQ-FREE-address, REQ-FREE-distinct, REQ-ACCOUNT-net, REQ-ACCOUNT-calls, REQ-ACCOUNT-private,
 * REQ-ACCOUNT-reset, REQ-ACCOUNT-largest, REQ-ATOMIC-busy, REQ-ATOMIC-flight, REQ-ATOMIC-leaving, REQ-ATOMIC-error,
 * REQ-POOL-count, REQ-POOL-scope, REQ-POOL-freeable, REQ-POOL-nosplit, REQ-POOL-allocator, REQ-POOL-capture,
 * REQ-GROW-page, REQ-GROW-reserve, REQ-GROW-run, REQ-GROW-allocate, REQ-GROW-map, REQ-GROW-partial, REQ-GROW-unmap,
 * REQ-GROW-release, REQ-GROW-destroy, REQ-GROW-split, REQ-GROW-hidden, REQ-GROW-toggle, REQ-GROW-sizes,
 * REQ-CHECKPOINT-save, REQ-CHECKPOINT-restore, REQ-LIFETIME-once, REQ-LIFETIME-stale, REQ-CAPACITY-streams,
 * REQ-CAPACITY-others.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "fuzz/lockstep.h"

#define MIDDLE (UINT64_C(1) << 62)

typedef void (*operation)(struct lockstep *run, struct fuzz_input *in);

/* Of 256 operations, how many. The first is the churn. */
static const struct {
  uint32_t weight;
  operation perform;
} DRAWN[] = {
    {16, lockstep_allocate},   {8, lockstep_allocate_many}, {4, lockstep_free_many},
    {8, lockstep_free_wrong},  {6, lockstep_references},    {18, lockstep_record_use},
    {6, lockstep_look},        {6, lockstep_checkpoint},    {18, lockstep_complete},
    {12, lockstep_streams},    {10, lockstep_pools},        {12, lockstep_scopes},
    {8, lockstep_settings},    {8, lockstep_exactly},       {4, lockstep_choose},
    {6, lockstep_empty_cache}, {4, lockstep_make_hole},     {3, lockstep_no_request},
};

static void churn(struct lockstep *run, struct fuzz_input *in, uint32_t what)
{
  if (run->live_count < run->wanted ? what % 8 < 6 : what % 8 < 3) {
    lockstep_allocate(run, in);
  } else {
    lockstep_free(run, in);
  }
}

static void one(struct lockstep *run, struct fuzz_input *in)
{
  uint32_t what = fuzz_byte(in);
  const bool full = run->model->config.policy == MODEL_FAITHFUL || run->flights > 4;
  if (run->flights > 0 && what % 8 < (full ? 6 : 3)) {
    lockstep_go_on(run, in);
    return;
  }
  for (size_t i = 0; i < sizeof DRAWN / sizeof DRAWN[0]; i++) {
    if (what < DRAWN[i].weight) {
      DRAWN[i].perform(run, in);
      return;
    }
    what -= DRAWN[i].weight;
  }
  churn(run, in, what);
}

static void run_input(struct fuzz_input *in)
{
  static struct model model;
  static struct model_checkpoint saved[SUBJECT_CHECKPOINTS];
  static struct lockstep run;
  memset(&model, 0, sizeof model);
  run = (struct lockstep){.model = &model, .saved = saved, .above = MIDDLE, .below = MIDDLE};
  lockstep_start(&run, in);
  while (fuzz_more(in)) {
    one(&run, in);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run_input);
}
