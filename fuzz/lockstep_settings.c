/* lockstep_settings.c - the start of a run, streams, pools, scopes and what can be set.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "fuzz/lockstep.h"

enum { KEYS = 8, FULL_KEYS = 1000 /* keys from here on fill the table of streams */ };

static void same(const char *what, const struct lockstep *run, enum lockstep_operation operation,
                 enum model_status status, enum model_status expected)
{
  lockstep_same_status(what, status, expected);
  lockstep_count_beside(run, operation, (int32_t)expected);
}

/* --- the start --- */

static void draw_config(struct model_config *config, struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  const uint8_t device = fuzz_byte(in);
  config->policy = form % 4 == 0 ? MODEL_FAITHFUL : MODEL_COMPLETE;
  config->order = form / 4 % 2 == 0 ? MODEL_ORDER_ADDRESS : MODEL_ORDER_SEGMENT;
  config->max_split_size = form / 8 % 2 == 0 ? MODEL_UNSET : 24 * MIB;
  config->large_segment_size = form / 16 % 2 == 0 ? 20 * MIB : 12 * MIB;
  config->division[0] = form / 32 % 2 == 0 ? 0 : 4;
  config->division[3] = config->division[0];
  config->callbacks = form / 64 % 2 == 1;
  config->growable = form / 128 % 2 == 1;
  config->device_total = device % 8 == 0 ? 0 : (UINT64_C(64) << device % 8) * MIB;
  config->reservation_large = device / 8 % 2 == 0 ? 0 : 60 * MIB;
  config->reservation_small = device / 16 % 2 == 0 ? 0 : 6 * MIB;
  config->reject_above = device / 32 % 8 == 6 ? (UINT64_C(40) << device / 8 % 4) * MIB : 0;
  if (device / 32 % 8 == 7) { /* mostly not allowed */
    config->reject_above = fuzz_size(in);
    config->large_segment_size = fuzz_size(in);
    config->oversize_slack = fuzz_size(in);
    config->division[0] = fuzz_byte(in);
    config->order = fuzz_below(in, 3);
  }
}

static void draw_run(struct lockstep *run, struct fuzz_input *in)
{
  static const int32_t WANTED[] = {6, 20, 50, 120, 260, 300};
  const uint8_t form = fuzz_byte(in);
  run->wanted = WANTED[form % 6];
  run->sizes = form / 8;
  run->refusals = form / 32;
  run->failures = form / 64 % 4 == 3 ? 24 : 0;
}

static void register_stream(struct lockstep *run, uint64_t key)
{
  const struct model_registration made = subject_stream_register(key);
  const struct model_registration expected = model_stream_register(run->model, key);
  FUZZ_SAY("register stream %" PRId32 ": key %" PRIu64, made.number, key);
  same("stream", run, OP_STREAM_REGISTER, made.status, expected.status);
  FUZZ_CHECK(expected.number == -1 || made.number == expected.number,
             "stream %" PRId32 ", expected %" PRId32, made.number, expected.number);
}

void lockstep_start(struct lockstep *run, struct fuzz_input *in)
{
  struct model_config config = model_default_config();
  draw_config(&config, in);
  draw_run(run, in);
  FUZZ_SAY("policy %" PRIu32 " order %" PRIu32 " split limit %" PRIu64 " segments %" PRIu64
           " division %" PRIu64 " growable %d of %" PRIu64 ", %" PRIu64 ", total %" PRIu64
           " reject above %" PRIu64,
           config.policy, config.order, config.max_split_size, config.large_segment_size,
           config.division[0], (int)config.growable, config.reservation_small,
           config.reservation_large, config.device_total, config.reject_above);
  const enum model_status status = subject_start(&config);
  const enum model_status expected = model_init(run->model, config);
  lockstep_same_status("start", status, expected);
  if (expected != MODEL_OK) {
    config = model_default_config();
    lockstep_same_status("start", subject_start(&config), model_init(run->model, config));
  }
  for (uint64_t key = 0; key < 3; key++) {
    register_stream(run, key * 5 % KEYS);
  }
  lockstep_compare(run);
}

/* --- streams --- */

static void capture(struct lockstep *run, int32_t stream, bool begins)
{
  FUZZ_SAY("capture of stream %" PRId32 " %s", stream, begins ? "begins" : "ends");
  const enum model_status status =
      begins ? subject_capture_begin(stream) : subject_capture_end(stream);
  const enum model_status expected =
      begins ? model_capture_begin(run->model, stream) : model_capture_end(run->model, stream);
  same("capture", run, begins ? OP_CAPTURE_BEGIN : OP_CAPTURE_END, status, expected);
}

static void fill_streams(struct lockstep *run)
{
  for (uint64_t key = FULL_KEYS; run->model->streams < MODEL_STREAMS; key++) {
    register_stream(run, key);
  }
}

void lockstep_streams(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t what = fuzz_below(in, 64);
  if (what < 16) {
    register_stream(run, fuzz_below(in, KEYS));
    FUZZ_CHECK(subject_stream_find(what % KEYS) == model_stream_find(run->model, what % KEYS),
               "the stream with key %" PRIu32, what % KEYS);
  } else if (what < 24) {
    const int32_t stream = lockstep_stream(run, in);
    const struct model_caller caller = lockstep_caller(in);
    FUZZ_SAY("stream %" PRId32 " is gone, caller %" PRId32, stream, caller.stream);
    same("gone", run, OP_STREAM_GONE, subject_stream_gone(stream, caller),
         model_stream_gone(run->model, stream, caller));
  } else if (what < 38) {
    capture(run, lockstep_stream(run, in), true);
  } else if (what < 63) {
    capture(run, lockstep_stream(run, in), false);
  } else if (fuzz_below(in, 8) == 0) {
    fill_streams(run);
    register_stream(run, FULL_KEYS * UINT64_C(2));
  }
  lockstep_compare(run);
}

/* Events are asked for, or uses are finished. */
void lockstep_complete(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t form = fuzz_byte(in);
  if (form < 96) {
    const struct model_event event = subject_event_next();
    const struct model_event expected = model_event_next(run->model);
    FUZZ_SAY("event: stream %" PRId32 ", use %" PRIu64, event.stream, event.number);
    FUZZ_CHECK(event.stream == expected.stream &&
                   (event.stream == -1 || event.number == expected.number),
               "event: stream %" PRId32 ", use %" PRIu64 ", expected %" PRId32 ", %" PRIu64,
               event.stream, event.number, expected.stream, expected.number);
    lockstep_count_beside(run, OP_EVENT_NEXT, expected.stream == -1 ? (int32_t)OUTCOME_NONE : 0);
  } else {
    const int32_t stream = lockstep_stream(run, in);
    const uint64_t head = subject_queue_head(stream);
    const struct model_caller caller = lockstep_caller(in);
    FUZZ_CHECK(head == model_queue_head(run->model, stream), "the queue begins with %" PRIu64,
               head);
    const uint64_t number = head + form % 4 - (form % 32 == 31 ? 3 : 0);
    FUZZ_SAY("uses of stream %" PRId32 " up to %" PRIu64 " are finished, caller %" PRId32, stream,
             number, caller.stream);
    const struct model_freed freed = subject_complete(stream, number, caller);
    const struct model_freed expected = model_complete(run->model, stream, number, caller);
    lockstep_same_status("complete", freed.status, expected.status);
    FUZZ_CHECK(freed.count == expected.count, "complete: %" PRId32 " blocks, expected %" PRId32,
               freed.count, expected.count);
    lockstep_count_beside(run, OP_COMPLETE,
                          expected.count > 0 ? (int32_t)OUTCOME_SOME : (int32_t)expected.status);
  }
  lockstep_compare(run);
}

/* --- pools --- */

static struct model_registration create_pool(struct lockstep *run, uint32_t allocator)
{
  const struct model_registration made = subject_pool_create(allocator);
  const struct model_registration expected = model_pool_create(run->model, allocator);
  FUZZ_SAY("create pool %" PRId32 ", allocator %" PRIu32, made.number, allocator);
  same("pool", run, OP_POOL_CREATE, made.status, expected.status);
  FUZZ_CHECK(expected.status != MODEL_OK || made.number == expected.number,
             "pool %" PRId32 ", expected %" PRId32, made.number, expected.number);
  return expected;
}

static int32_t draw_pool(struct fuzz_input *in)
{
  const uint32_t form = fuzz_below(in, 64);
  return form < 62 ? 1 + (int32_t)form % POOLS : ((int32_t)form - 62) * 100 - 1 + 1;
}

/* All that there can be, and one more; then all but a few go again. */
static void fill_pools(struct lockstep *run)
{
  while (create_pool(run, 0).status == MODEL_OK) {
  }
  for (int32_t pool = POOLS + 1; pool < MODEL_POOLS; pool++) {
    same("release of the pool", run, OP_POOL_RELEASE, subject_pool_release(pool),
         model_pool_release(run->model, pool));
  }
}

void lockstep_pools(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t what = fuzz_below(in, 64);
  const int32_t pool = draw_pool(in);
  const bool on = what % 2 == 0;
  if (what < 16) {
    if (run->model->pools <= POOLS || pool < 3) {
      (void)create_pool(run, what < 4 ? 7 : 0);
    }
  } else if (what < 22) {
    FUZZ_SAY("pool %" PRId32 " gets a user", pool);
    same("retain of the pool", run, OP_POOL_RETAIN, subject_pool_retain(pool),
         model_pool_retain(run->model, pool));
  } else if (what < 38) {
    FUZZ_SAY("pool %" PRId32 " loses a user", pool);
    same("release of the pool", run, OP_POOL_RELEASE, subject_pool_release(pool),
         model_pool_release(run->model, pool));
  } else if (what < 54) {
    FUZZ_SAY("pool %" PRId32 " lends: %d", pool, (int)on);
    same("lending", run, OP_POOL_USE_ON_OOM, subject_pool_set_use_on_oom(pool, on),
         model_pool_set_use_on_oom(run->model, pool, on));
  } else if (what < 63) {
    FUZZ_SAY("pool %" PRId32 " is not split", pool);
    same("no splits", run, OP_POOL_NO_SPLIT, subject_pool_set_no_split(pool),
         model_pool_set_no_split(run->model, pool));
  } else if (fuzz_below(in, 8) == 0) {
    fill_pools(run);
  }
  lockstep_compare(run);
}

void lockstep_scopes(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t form = fuzz_below(in, 64);
  const int32_t pool = draw_pool(in);
  if (form < 36) {
    const uint64_t thread = form % 3;
    const int32_t stream = form % 4 == 0 ? lockstep_stream(run, in) : -1;
    FUZZ_SAY("open a scope of pool %" PRId32 ": thread %" PRIu64 ", stream %" PRId32, pool, thread,
             stream);
    same("scope", run, OP_SCOPE_OPEN, subject_scope_open(pool, thread, stream),
         model_scope_open(run->model, pool, thread, stream));
  } else {
    FUZZ_SAY("close the scope of pool %" PRId32, pool);
    same("end of a scope", run, OP_SCOPE_CLOSE, subject_scope_close(pool),
         model_scope_close(run->model, pool));
  }
  lockstep_compare(run);
}

/* --- what can be set --- */

void lockstep_settings(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t what = fuzz_below(in, 32);
  if (what < 6) {
    const uint64_t reserved = run->model->statistic[MODEL_RESERVED_BYTES][MODEL_ALL].current;
    const uint64_t limit = what < 3 ? MODEL_UNSET : reserved + fuzz_byte(in) * MIB;
    const uint64_t above = what % 3 == 0 ? MODEL_UNSET : reserved / 256 * fuzz_byte(in);
    FUZZ_SAY("limit %" PRIu64 ", collect above %" PRIu64, limit, above);
    same("limit", run, OP_LIMIT_SET, subject_limit_set(limit, above),
         model_limit_set(run->model, limit, above));
  } else if (what < 10) {
    FUZZ_SAY("growable segments: %d", (int)what % 2);
    same("growable", run, OP_GROWABLE_SET, subject_growable_set(what % 2 == 1),
         model_growable_set(run->model, what % 2 == 1));
  } else if (what < 12) {
    FUZZ_SAY("reset peaks");
    subject_reset_peaks();
    model_reset_peaks(run->model);
    lockstep_count_beside(run, OP_RESET_PEAKS, 0);
  } else if (what < 14) {
    FUZZ_SAY("reset totals");
    subject_reset_totals();
    model_reset_totals(run->model);
    lockstep_count_beside(run, OP_RESET_TOTALS, 0);
  } else if (what < 24) {
    run->refusals = fuzz_below(in, 8);
    run->failures = what % 4 == 3 ? 24 : 0;
    return;
  } else {
    run->sizes = fuzz_byte(in);
    return;
  }
  lockstep_compare(run);
}
