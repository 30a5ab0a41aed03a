/* lockstep_compare.c - see lockstep.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stddef.h>

#include "fuzz/lockstep.h"

FUZZ_ORACLE void lockstep_same_status(const char *what, enum model_status status,
                                      enum model_status expected)
{
  FUZZ_CHECK(status == expected, "%s: status %d, expected %d", what, (int)status, (int)expected);
}

/* Which fields of a step say something. */
static FUZZ_ORACLE bool has_range(enum model_step_kind kind)
{
  return kind == MODEL_STEP_RELEASE || kind == MODEL_STEP_UNRESERVE || kind == MODEL_STEP_MAP ||
         kind == MODEL_STEP_UNMAP || kind == MODEL_STEP_DONE;
}

FUZZ_ORACLE void lockstep_same_step(struct model_step step, struct model_step expected)
{
  const enum model_step_kind kind = step.kind;
  FUZZ_SAY("  step %d status %d: 0x%" PRIx64 ", %" PRIu64 " bytes, stream %" PRId32
           ", number %" PRIu64 ", request %" PRId32,
           (int)kind, (int)step.status, step.address, step.bytes, step.stream, step.number,
           step.request);
  if (kind != expected.kind || step.address != expected.address || step.bytes != expected.bytes) {
    FUZZ_SAY("  expected %d status %d: 0x%" PRIx64 ", %" PRIu64 " bytes, stream %" PRId32
             ", number %" PRIu64,
             (int)expected.kind, (int)expected.status, expected.address, expected.bytes,
             expected.stream, expected.number);
  }
  FUZZ_CHECK(kind == expected.kind && step.status == expected.status,
             "step %d status %d, expected %d status %d", (int)kind, (int)step.status,
             (int)expected.kind, (int)expected.status);
  FUZZ_CHECK(kind != MODEL_STEP_DONE || (step.slot == -1) == (expected.slot == -1),
             "slot %" PRId32 ", expected %" PRId32, step.slot, expected.slot);
  if (kind == MODEL_STEP_DONE && expected.slot == -1) {
    return;
  }
  FUZZ_CHECK(!has_range(kind) || step.address == expected.address,
             "at 0x%" PRIx64 ", expected 0x%" PRIx64, step.address, expected.address);
  FUZZ_CHECK(kind == MODEL_STEP_ERROR || kind == MODEL_STEP_WAIT || kind == MODEL_STEP_CALLBACKS ||
                 step.bytes == expected.bytes,
             "%" PRIu64 " bytes, expected %" PRIu64, step.bytes, expected.bytes);
  FUZZ_CHECK((kind != MODEL_STEP_UNMAP && kind != MODEL_STEP_WAIT) ||
                 step.stream == expected.stream,
             "stream %" PRId32 ", expected %" PRId32, step.stream, expected.stream);
  FUZZ_CHECK(kind != MODEL_STEP_WAIT || step.number == expected.number,
             "use %" PRIu64 ", expected %" PRIu64, step.number, expected.number);
  FUZZ_CHECK((kind != MODEL_STEP_ALLOCATE && kind != MODEL_STEP_RELEASE) ||
                 (step.allocator == expected.allocator && step.pool == expected.pool),
             "allocator %" PRIu32 " of pool %" PRId32 ", expected %" PRIu32 " of %" PRId32,
             step.allocator, step.pool, expected.allocator, expected.pool);
}

static FUZZ_ORACLE bool same_counter(struct model_counter a, struct model_counter b)
{
  return a.current == b.current && a.peak == b.peak && a.allocated == b.allocated &&
         a.freed == b.freed;
}

static FUZZ_ORACLE void check_counter(const char *what, int32_t number, struct model_counter a,
                                      struct model_counter b)
{
  FUZZ_CHECK(same_counter(a, b),
             "%s %" PRId32 ": %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", expected %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64,
             what, number, a.current, a.peak, a.allocated, a.freed, b.current, b.peak, b.allocated,
             b.freed);
}

static FUZZ_ORACLE void compare_statistics(const struct lockstep *run)
{
  const struct model *m = run->model;
  for (int32_t kind = 0; kind < MODEL_STATISTICS; kind++) {
    const int32_t columns = kind < MODEL_OVERSIZE_ALLOCATIONS ? MODEL_COLUMNS : 1;
    for (int32_t column = 0; column < columns; column++) {
      check_counter("statistic", kind * MODEL_COLUMNS + column, subject_counter(kind, column),
                    m->statistic[kind][column]);
    }
  }
  for (int32_t pool = 1; pool < m->pools; pool++) {
    if (m->pool[pool].used) {
      check_counter("bytes of pool", pool, subject_pool_reserved(pool), m->pool[pool].reserved);
    }
  }
  const struct model_calls calls = subject_calls();
  const struct model_calls expected = m->calls;
  FUZZ_CHECK(calls.oom_rejections == expected.oom_rejections,
             "rejections %" PRIu64 ", expected %" PRIu64, calls.oom_rejections,
             expected.oom_rejections);
  FUZZ_CHECK(calls.alloc_retries == expected.alloc_retries && calls.ooms == expected.ooms &&
                 calls.sync_all_streams == expected.sync_all_streams &&
                 calls.device_allocs == expected.device_allocs &&
                 calls.device_frees == expected.device_frees,
             "retries %" PRIu64 " ooms %" PRIu64 " waits %" PRIu64 " allocations %" PRIu64
             " frees %" PRIu64 ", expected %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
             " %" PRIu64,
             calls.alloc_retries, calls.ooms, calls.sync_all_streams, calls.device_allocs,
             calls.device_frees, expected.alloc_retries, expected.ooms, expected.sync_all_streams,
             expected.device_allocs, expected.device_frees);
}

/* Where the model has the block that starts there, looked for first where it was. */
static FUZZ_ORACLE int32_t model_slot_of(struct lockstep *run, int32_t slot, uint64_t address)
{
  const struct model *m = run->model;
  const int32_t before = run->twin[slot];
  if (before < m->blocks && m->block[before].state != MODEL_UNUSED &&
      m->block[before].address == address) {
    return before;
  }
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state != MODEL_UNUSED && m->block[i].address == address) {
      run->twin[slot] = i;
      return i;
    }
  }
  return -1;
}

static FUZZ_ORACLE void compare_block(struct lockstep *run, int32_t slot, struct subject_block a)
{
  const struct model *m = run->model;
  const int32_t found = model_slot_of(run, slot, a.address);
  FUZZ_CHECK(found != -1, "a block at 0x%" PRIx64 ", expected none", a.address);
  const struct model_block *b = &m->block[found];
  const struct model_segment *segment = &m->segment[b->segment];
  FUZZ_CHECK(a.state == b->state && a.unmapped == (b->state == MODEL_FREE && !b->mapped),
             "the block at 0x%" PRIx64 " is in state %d, unmapped: %d, expected %d, mapped: %d",
             a.address, (int)a.state, (int)a.unmapped, (int)b->state, (int)b->mapped);
  FUZZ_CHECK(a.size == b->size && a.requested == b->requested,
             "the block at 0x%" PRIx64 " has %" PRIu64 " bytes of %" PRIu64 ", expected %" PRIu64
             " of %" PRIu64,
             a.address, a.size, a.requested, b->size, b->requested);
  FUZZ_CHECK(a.small == segment->small && a.growable == segment->growable &&
                 a.pool == segment->pool && a.stream == segment->stream,
             "the block at 0x%" PRIx64 " is of pool %" PRId32 ", stream %" PRId32
             ", small: %d, growable: %d",
             a.address, a.pool, a.stream, (int)a.small, (int)a.growable);
  FUZZ_CHECK(m->config.order == MODEL_ORDER_ADDRESS || a.age == segment->age,
             "the block at 0x%" PRIx64 " has age %" PRIu64 ", expected %" PRIu64, a.address, a.age,
             segment->age);
  FUZZ_CHECK(a.first == (b->address == segment->address) &&
                 a.last == (b->address + b->size == segment->address + segment->size),
             "the block at 0x%" PRIx64 " is the first: %d, the last: %d", a.address, (int)a.first,
             (int)a.last);
  FUZZ_CHECK(b->state != MODEL_ALLOCATED || a.references == b->references,
             "the block at 0x%" PRIx64 " has %" PRIu32 " references, expected %" PRIu32, a.address,
             a.references, b->references);
}

static FUZZ_ORACLE void compare_blocks(struct lockstep *run)
{
  const struct model *m = run->model;
  const int32_t limit = subject_limit();
  FUZZ_CHECK(limit <= MODEL_BLOCKS, "%" PRId32 " slots, of %d", limit, (int)MODEL_BLOCKS);
  int32_t blocks = 0;
  int32_t expected = 0;
  for (int32_t i = 0; i < limit; i++) {
    const struct subject_block block = subject_block(i);
    if (block.state != MODEL_UNUSED) {
      compare_block(run, i, block);
      blocks++;
    }
  }
  for (int32_t i = 0; i < m->blocks; i++) {
    expected += m->block[i].state != MODEL_UNUSED ? 1 : 0;
  }
  FUZZ_CHECK(blocks == expected, "%" PRId32 " blocks, expected %" PRId32, blocks, expected);
}

FUZZ_ORACLE void lockstep_compare(struct lockstep *run)
{
  const char *why = subject_check();
  FUZZ_CHECK(why == NULL, "the state is broken: %s", why);
  compare_blocks(run);
  compare_statistics(run);
  for (int32_t i = 0; i < run->flights; i++) {
    const int32_t rung = run->model->request[run->flight[i].step.request].rung;
    FUZZ_CHECK(subject_rung(run->flight[i].request) == rung,
               "a request is on rung %" PRId32 ", expected %" PRId32,
               subject_rung(run->flight[i].request), rung);
  }

  lockstep_count_live(run);
  fuzz_operations++;
}
