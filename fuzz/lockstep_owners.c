/* lockstep_owners.c - what owners do with their blocks, rightly and wrongly; checkpoints.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stddef.h>

#include "fuzz/lockstep.h"

enum { AT_ONCE = 24, USES_KEPT = 16 /* of the room for uses */ };

/* --- who is live --- */

void lockstep_add_live(struct lockstep *run, struct pair block)
{
  FUZZ_CHECK(run->live_count < LIVE, "more blocks than there can be");
  run->live[run->live_count] = block;
  run->live_count++;
}

void lockstep_drop_live(struct lockstep *run, int32_t i)
{
  run->dead[run->dead_count % DEAD] = run->live[i];
  run->dead_count++;
  run->live_count--;
  run->live[i] = run->live[run->live_count];
}

static bool is_live(const struct lockstep *run, struct pair block)
{
  const struct model_block *b = &run->model->block[block.model_slot];
  return b->state == MODEL_ALLOCATED && b->generation == block.model_generation;
}

void lockstep_sweep(struct lockstep *run)
{
  for (int32_t i = run->live_count - 1; i >= 0; i--) {
    if (!is_live(run, run->live[i])) {
      lockstep_drop_live(run, i);
    }
  }
}

static int32_t draw_live(const struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t place = (uint32_t)fuzz_number(in, run->live_count > 256 ? 2 : 1);
  return run->live_count == 0 ? -1 : (int32_t)(place % (uint32_t)run->live_count);
}

/* --- freeing --- */

static int32_t outcome_of(const struct lockstep *run, struct pair block, struct model_freed freed)
{
  if (freed.status != MODEL_OK) {
    return (int32_t)freed.status;
  }
  const struct model_block *b = &run->model->block[block.model_slot];
  if (is_live(run, block)) {
    return OUTCOME_KEPT;
  }
  if (freed.count > 0) {
    return OUTCOME_WAITS;
  }
  return b->state == MODEL_PENDING && b->deferred != 0 ? (int32_t)OUTCOME_DEFERRED : MODEL_OK;
}

static void same_freed(const char *what, struct model_freed freed, struct model_freed expected)
{
  lockstep_same_status(what, freed.status, expected.status);
  FUZZ_CHECK(freed.count == expected.count, "%s: %" PRId32 ", expected %" PRId32, what, freed.count,
             expected.count);
}

enum way { BY_HANDLE = 0, BY_ADDRESS, BY_REFERENCE };

/* Frees what the handle or its address names, which need not be a block any more. */
static void free_pair(struct lockstep *run, struct pair block, enum way way,
                      struct model_caller caller)
{
  struct model_freed freed;
  struct model_freed expected;
  enum lockstep_operation operation = OP_FREE;
  FUZZ_SAY("free %d: slot %" PRId32 " generation %" PRIu32 ", 0x%" PRIx64 ", caller %" PRId32,
           (int)way, block.slot, block.generation, block.address, caller.stream);
  if (way == BY_HANDLE) {
    freed = subject_free(block.slot, block.generation, caller);
    expected = model_free(run->model, block.model_slot, block.model_generation, caller);
  } else if (way == BY_ADDRESS) {
    operation = OP_FREE_ADDRESS;
    freed = subject_free_address(block.address, caller);
    expected = model_free_address(run->model, block.address, caller);
  } else {
    operation = OP_RELEASE;
    freed = subject_release(block.slot, block.generation, caller);
    expected = model_release(run->model, block.model_slot, block.model_generation, caller);
  }
  same_freed("free", freed, expected);
  lockstep_count_beside(run, operation, outcome_of(run, block, expected));
  lockstep_compare(run);
}

static void free_live(struct lockstep *run, int32_t i, enum way way, struct model_caller caller)
{
  free_pair(run, run->live[i], way, caller);
  if (!is_live(run, run->live[i])) {
    lockstep_drop_live(run, i);
  }
}

void lockstep_free(struct lockstep *run, struct fuzz_input *in)
{
  const int32_t i = draw_live(run, in);
  const uint32_t form = fuzz_below(in, 64);
  if (i != -1) {
    free_live(run, i, (enum way)(form % 3),
              form < 48 ? (struct model_caller){-1, 0} : lockstep_caller(in));
  }
}

void lockstep_free_slot(struct lockstep *run, int32_t model_slot)
{
  for (int32_t i = 0; i < run->live_count; i++) {
    if (run->live[i].model_slot == model_slot) {
      free_live(run, i, BY_HANDLE, (struct model_caller){-1, 0});
      return;
    }
  }
}

void lockstep_free_many(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t count = 1 + fuzz_below(in, AT_ONCE);
  const uint32_t step = 1 + fuzz_below(in, 8);
  int32_t i = draw_live(run, in);
  for (uint32_t k = 0; k < count && run->live_count > 0; k++) {
    i = (i + (int32_t)step) % run->live_count;
    free_live(run, i, BY_HANDLE, (struct model_caller){-1, 0});
  }
}

/* A handle of a block that was freed, or that never was; an address inside a block, or of none. */
static struct pair draw_wrong(const struct lockstep *run, struct fuzz_input *in, uint32_t form)
{
  const int32_t i = draw_live(run, in);
  struct pair block = {.slot = -1, .model_slot = -1};
  if (form < 12 && run->dead_count > 0) {
    block = run->dead[fuzz_byte(in) % (run->dead_count < DEAD ? run->dead_count : DEAD)];
  } else if (form < 20 && i != -1) {
    block = run->live[i];
    block.address += form % 2 == 0 ? 256 : 512;
  } else if (form < 24) {
    block.address = fuzz_size(in);
  } else if (form < 28) {
    block.slot = INT32_MAX - (int32_t)form;
    block.model_slot = block.slot;
  }
  return block;
}

/* What starts at an address, if anything does: it need not be the block that is said to. */
static void free_address(struct lockstep *run, uint64_t address)
{
  const struct model_caller caller = {-1, 0};
  FUZZ_SAY("free what is at 0x%" PRIx64, address);
  const struct model_freed freed = subject_free_address(address, caller);
  const struct model_freed expected = model_free_address(run->model, address, caller);
  same_freed("free", freed, expected);
  lockstep_count_beside(run, OP_FREE_ADDRESS,
                        expected.count > 0 ? (int32_t)OUTCOME_WAITS : (int32_t)expected.status);
  lockstep_sweep(run);
  lockstep_compare(run);
}

void lockstep_free_wrong(struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t form = fuzz_below(in, 32);
  const struct pair block = draw_wrong(run, in, form);
  const bool is_slot = block.model_slot >= 0 && block.model_slot < MODEL_BLOCKS;
  if ((form >= 12 && form < 24) || form % 3 == BY_ADDRESS) {
    free_address(run, block.address);
  } else if (is_slot) {
    free_pair(run, block, (enum way)(form % 3), (struct model_caller){-1, 0});
  } else {
    const struct model_caller caller = {-1, 0};
    FUZZ_SAY("free slot %" PRId32 ", which is none", block.slot);
    const struct model_freed expected = model_free(run->model, block.model_slot, 0, caller);
    same_freed("free", subject_free(block.slot, 0, caller), expected);
    lockstep_count_beside(run, OP_FREE, (int32_t)expected.status);
    lockstep_compare(run);
  }
}

/* --- references and uses --- */

/* A live block, or now and then one that was freed. */
static struct pair draw_pair(const struct lockstep *run, struct fuzz_input *in)
{
  const uint32_t form = fuzz_byte(in);
  const int32_t i = draw_live(run, in);
  if (form < 240 && i != -1) {
    return run->live[i];
  }
  if (form < 250 && run->dead_count > 0) {
    return run->dead[form % (run->dead_count < DEAD ? run->dead_count : DEAD)];
  }
  return (struct pair){.slot = -1, .model_slot = -1};
}

void lockstep_references(struct lockstep *run, struct fuzz_input *in)
{
  const struct pair block = draw_pair(run, in);
  FUZZ_SAY("retain slot %" PRId32 " generation %" PRIu32, block.slot, block.generation);
  const enum model_status status = subject_retain(block.slot, block.generation);
  const enum model_status expected =
      model_retain(run->model, block.model_slot, block.model_generation);
  lockstep_same_status("retain", status, expected);
  lockstep_count_beside(run, OP_RETAIN, (int32_t)expected);
  lockstep_compare(run);
}

void lockstep_record_use(struct lockstep *run, struct fuzz_input *in)
{
  const struct pair block = draw_pair(run, in);
  const int32_t stream = lockstep_stream(run, in);
  const struct model_caller caller = lockstep_caller(in);
  if (model_use_room(run->model) <= USES_KEPT) {
    return;
  }
  FUZZ_SAY("use slot %" PRId32 " generation %" PRIu32 " at 0x%" PRIx64 " on stream %" PRId32
           ", caller %" PRId32,
           block.slot, block.generation, block.address, stream, caller.stream);
  const enum model_status status = subject_record_use(block.slot, block.generation, stream, caller);
  const enum model_status expected =
      model_record_use(run->model, block.model_slot, block.model_generation, stream, caller);
  lockstep_same_status("use", status, expected);
  lockstep_count_beside(run, OP_RECORD_USE, (int32_t)expected);
  lockstep_compare(run);
}

/* The growable segments are the same ones, of the same streams and classes, with as many bytes mapped. */
static void same_growable(const struct lockstep *run)
{
  int32_t left = 0;
  for (int32_t i = -1; (i = model_growable_next(run->model, i).segment) != -1;) {
    left++;
  }
  struct model_growable one = subject_growable_next(-1);
  for (; one.segment != -1; one = subject_growable_next(one.segment)) {
    struct model_growable expected = model_growable_next(run->model, -1);
    while (expected.segment != -1 && expected.address != one.address) {
      expected = model_growable_next(run->model, expected.segment);
    }
    FUZZ_CHECK(expected.segment != -1 && one.stream == expected.stream &&
                   one.small == expected.small && one.mapped == expected.mapped,
               "growable segment at 0x%" PRIx64 " of stream %" PRId32 ", %" PRIu64
               " bytes mapped, expected stream %" PRId32 ", %" PRIu64 " bytes",
               one.address, one.stream, one.mapped, expected.stream, expected.mapped);
    left--;
  }
  FUZZ_CHECK(left == 0, "%" PRId32 " growable segments are not listed", left);
}

/* What changes nothing: the base of a block, the block at an address, the largest free one, the growable segments. */
void lockstep_look(struct lockstep *run, struct fuzz_input *in)
{
  const struct pair block = draw_pair(run, in);
  const struct model_range range = subject_base(block.slot, block.generation);
  const struct model_range expected =
      model_base(run->model, block.model_slot, block.model_generation);
  FUZZ_SAY("look at slot %" PRId32 " generation %" PRIu32 ", 0x%" PRIx64, block.slot,
           block.generation, block.address);
  lockstep_same_status("base", range.status, expected.status);
  FUZZ_CHECK(range.status != MODEL_OK ||
                 (range.address == expected.address && range.bytes == expected.bytes),
             "base 0x%" PRIx64 ", %" PRIu64 " bytes, expected 0x%" PRIx64 ", %" PRIu64,
             range.address, range.bytes, expected.address, expected.bytes);
  lockstep_count_beside(run, OP_BASE, (int32_t)expected.status);
  const bool live = block.model_slot != -1 && is_live(run, block);
  const int32_t found = subject_find(block.address);
  FUZZ_CHECK(!live || found == block.slot, "found slot %" PRId32, found);
  FUZZ_CHECK(found == -1 || subject_block(found).address == block.address, "found slot %" PRId32,
             found);
  lockstep_count_beside(run, OP_FIND, found == -1 ? (int32_t)OUTCOME_NONE : 0);
  FUZZ_CHECK(subject_largest() == model_largest(run->model), "the largest free block");
  same_growable(run);
  lockstep_compare(run);
}

/* --- checkpoints --- */

/* The blocks that were rebuilt, by their addresses: nobody has handles of them yet. */
static void adopt(struct lockstep *run, const struct model_checkpoint *checkpoint)
{
  const struct model *m = run->model;
  for (int32_t k = 0; k < checkpoint->blocks; k++) {
    if (!checkpoint->block[k].allocated) {
      continue;
    }
    const uint64_t address = checkpoint->block[k].address;
    const int32_t slot = subject_find(address);
    int32_t model_slot = 0;
    while (model_slot < m->blocks && (m->block[model_slot].state != MODEL_ALLOCATED ||
                                      m->block[model_slot].address != address)) {
      model_slot++;
    }
    FUZZ_CHECK(slot != -1 && model_slot < m->blocks, "no block at 0x%" PRIx64, address);
    lockstep_add_live(run, (struct pair){slot, subject_block(slot).generation, model_slot,
                                         m->block[model_slot].generation, address});
  }
}

static void save(struct lockstep *run, int32_t number, int32_t pool, struct model_caller caller)
{
  struct model_checkpoint *checkpoint = &run->saved[number];
  FUZZ_SAY("save pool %" PRId32 " as %" PRId32 ", caller %" PRId32, pool, number, caller.stream);
  const enum model_status status = subject_checkpoint_save(number, pool, caller);
  const enum model_status expected = model_checkpoint_save(run->model, pool, caller, checkpoint);
  lockstep_same_status("save", status, expected);
  if (expected == MODEL_OK) {
    const char *why = subject_checkpoint_differs(number, checkpoint);
    FUZZ_CHECK(why == NULL, "the checkpoint differs: %s", why);
    run->is_saved[number] = true;
  }
  lockstep_count_beside(run, OP_SAVE, (int32_t)expected);
  lockstep_compare(run);
}

static void restore(struct lockstep *run, int32_t number, struct model_caller caller)
{
  FUZZ_SAY("restore %" PRId32 ", caller %" PRId32, number, caller.stream);
  const struct model_restored restored = subject_checkpoint_restore(number, caller);
  const struct model_restored expected =
      model_checkpoint_restore(run->model, caller, &run->saved[number]);
  lockstep_same_status("restore", restored.status, expected.status);
  FUZZ_CHECK(restored.freed == expected.freed && restored.created == expected.created,
             "freed %" PRId32 ", created %" PRId32 ", expected %" PRId32 ", %" PRId32,
             restored.freed, restored.created, expected.freed, expected.created);
  lockstep_count_beside(run, OP_RESTORE, (int32_t)expected.status);
  lockstep_compare(run);
  if (expected.status == MODEL_OK) {
    lockstep_sweep(run);
    adopt(run, &run->saved[number]);
  }
}

static int32_t uses_of(const struct model_checkpoint *checkpoint)
{
  int32_t count = 0;
  for (int32_t i = 0; i < checkpoint->blocks; i++) {
    count++;
    for (int32_t stream = 0; stream < MODEL_STREAMS; stream++) {
      count += checkpoint->block[i].use[stream] ? 1 : 0;
    }
  }
  return count;
}

void lockstep_checkpoint(struct lockstep *run, struct fuzz_input *in)
{
#ifdef LOCKSTEP_NO_CHECKPOINT
  (void)fuzz_byte(in);
  return;
#endif
  const int32_t number = (int32_t)fuzz_below(in, SUBJECT_CHECKPOINTS);
  const uint32_t form = fuzz_below(in, 2 * (POOLS + 2));
  const struct model_caller caller = lockstep_caller(in);
  if (form % 2 == 0 || !run->is_saved[number]) {
    save(run, number, (int32_t)form / 2 - 1, caller);
  } else if (model_use_room(run->model) > USES_KEPT + uses_of(&run->saved[number])) {
    restore(run, number, caller);
  }
}
