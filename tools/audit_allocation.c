/* audit_allocation.c - see audit_run.h: judging the recorded allocations.
 *
 * The manager decides first. Where it takes the recorded block, that decision stands and nothing has to
 * be adopted. Elsewhere it is undone, the difference is explained, and the recorded block is put in its
 * place.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

enum {
  PROBE_COST = 1000 /* of freeing a block on trial, against looking at one */
};

static bool is_capable(const struct ashlar_audit_run *run)
{
  return run->blind == ASHLAR_OPEN_NONE;
}

static const struct ashlar_event *event_of(const struct ashlar_audit_run *run, uint64_t event)
{
  return &run->part->events[event];
}

void ashlar_request_undo(struct ashlar_audit_run *run, const struct ashlar_step *step)
{
  if (step->kind == ASHLAR_STEP_DONE) {
    (void)ashlar_free(run->manager, step->slot, step->generation, ashlar_recorded_caller());
  } else if (step->request >= 0) {
    (void)ashlar_abandon(run->manager, step->request);
  }
}

static uint64_t address_of(const struct ashlar_step *step)
{
  return step->kind == ASHLAR_STEP_DONE ? step->address : ASHLAR_ASKS_DEVICE;
}

int32_t ashlar_request_choose(const struct ashlar_audit_run *run,
                              const struct ashlar_audit_request *request)
{
  return ashlar_choose(run->manager, request->bytes, request->stream,
                       ashlar_run_caller(request->pool));
}

struct ashlar_step ashlar_request_begin(struct ashlar_audit_run *run,
                                        const struct ashlar_audit_request *request)
{
  const struct ashlar_step step = ashlar_allocate_begin(
      run->manager, request->bytes, request->stream, ashlar_run_caller(request->pool));
  if (step.kind == ASHLAR_STEP_DONE) {
    ashlar_ages_enter_rest(run, step.slot);
  }
  return step;
}

enum ashlar_open_reason ashlar_request_of(struct ashlar_audit_run *run, uint64_t event,
                                          struct ashlar_audit_request *request)
{
  const struct ashlar_event *recorded = event_of(run, event);
  request->event = event;
  request->address = recorded->address;
  request->bytes = recorded->size == 0 ? 1 : recorded->size;
  request->size = ashlar_history_rounded(&run->config, request->bytes);
  request->class = ashlar_pool_class(request->size);
  request->owner = recorded->pool;
  request->stream = ashlar_run_stream(run, recorded->stream);
  request->pool = ashlar_run_pool(run, recorded->pool);
  if (recorded->size == 0) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, event, recorded->address,
                      "an allocation of 0 bytes, which takes no block, is recorded");
  }
  return ashlar_run_no_room(run, recorded->pool, recorded->stream);
}

/* An allocation outside of what the manager holds. */
static void count_stray(struct ashlar_audit_run *run, uint64_t event,
                        enum ashlar_open_reason reason)
{
  const struct ashlar_event *recorded = event_of(run, event);
  ashlar_run_undetermined(run, reason);
  if (!ashlar_run_add_stray(run, recorded->address, recorded->size, 0)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, event, recorded->address,
                      "allocated although the block that starts there is live");
  }
}

/* --- a block that is moved by the recording --- */

/* Remembers where the recording has a block that the audit does not follow. If it was not moved but its
   free is missing, the next allocation there will tell. */
static void add_phantom(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  if (run->phantom_count < ASHLAR_PHANTOMS) {
    run->phantoms[run->phantom_count] =
        (struct ashlar_phantom){request->address, request->size, request->event};
    run->phantom_count++;
  }
}

static void find_phantom(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  for (uint64_t i = 0; i < run->phantom_count; i++) {
    const struct ashlar_phantom *phantom = &run->phantoms[i];
    if (request->address < phantom->address + phantom->size &&
        phantom->address < request->address + request->size) {
      ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, request->event, request->address,
                        "overlaps the block that event %" PRIu64 " placed at 0x%" PRIx64
                        " and nothing freed",
                        phantom->event, phantom->address);
      run->phantom_count--;
      run->phantoms[i] = run->phantoms[run->phantom_count];
      return;
    }
  }
}

/* The block that this allocation takes is never heard of again, and `block`, which is live for no known
   reason, is of the same request. Whether it is what the manager takes here: then the allocation was
   really of that block. */
static bool is_moved_from(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                          const struct ashlar_old_block *block)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t slot = ashlar_find(manager, block->address);
  if (!block->is_held || block->freed_at < request->event || block->requested != request->bytes ||
      slot < 0 || manager->size[slot] != block->high) {
    return false;
  }
  ashlar_run_spend(run, PROBE_COST);
  run->trial_count = 0;
  ashlar_run_try_release(run, slot);
  const int32_t choice = ashlar_request_choose(run, request);
  if (choice >= 0 && manager->addr[choice] == block->address) {
    return true;
  }
  ashlar_run_put_back(run);
  return false;
}

/* Called with the decision undone. True: a difference was found, and the manager's choice stands. */
static bool find_moved(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  for (uint64_t i = 0; i < run->history->block_count && is_capable(run); i++) {
    const struct ashlar_old_block *block = &run->history->blocks[i];
    ashlar_run_spend(run, 1);
    if (is_moved_from(run, request, block)) {
      ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                        "%" PRIu64
                        " bytes were placed here although the best block is at 0x%" PRIx64
                        ", where the recording goes on with them",
                        request->bytes, block->address);
      ashlar_run_differ(run, request, block->address, false);
      add_phantom(run, request);
      (void)ashlar_request_begin(run, request);
      return true;
    }
  }
  return false;
}

/* --- an allocation from what is there --- */

/* What is wrong with the place itself; each fault is a finding. */
static bool find_misplaced(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                           const struct ashlar_segment_record *segment)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t stream = ashlar_run_stream(run, segment->stream);
  bool is_found = false;
  if (segment->pool != request->owner) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, request->event, request->address,
                      "a request of one pool was served by a segment of another");
    is_found = true;
  } else if (stream != request->stream) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, request->event, request->address,
                      "allocated on stream %" PRIu64 " in a segment of stream %" PRIu64,
                      ashlar_run_handle(run, request->stream), ashlar_run_handle(run, stream));
    is_found = true;
  }
  if (segment->class != request->class) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, request->event, request->address,
                      "a request of %" PRIu64 " bytes was served by a segment of the %s pool",
                      request->bytes, segment->class == ASHLAR_CLASS_SMALL ? "small" : "large");
    is_found = true;
  }
  const int32_t slot = ashlar_run_block_at(run, segment, request->address);
  if (manager->state[slot] == ASHLAR_ALLOCATED) {
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, request->event, request->address,
                      "allocated inside the live block of %" PRIu64 " bytes at 0x%" PRIx64,
                      manager->size[slot], manager->addr[slot]);
    return true;
  }
  if (manager->state[slot] == ASHLAR_UNMAPPED) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, request->event, request->address,
                      "allocated where no memory is mapped");
    return true;
  }
  const uint64_t room = manager->size[slot] - (request->address - manager->addr[slot]);
  if (room < request->size) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, request->event, request->address,
                      "%" PRIu64 " bytes were placed where only %" PRIu64 " bytes are free",
                      request->bytes, room);
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, request->event, request->address,
                      "the block of %" PRIu64 " bytes runs into %s", request->size,
                      manager->next[slot] >= 0 ? "a live block" : "the end of its segment");
    return true;
  }
  return is_found;
}

/* Why a place that is possible but not the manager's may be right after all. */
static enum ashlar_open_reason excuse_place(struct ashlar_audit_run *run,
                                            const struct ashlar_audit_request *request,
                                            const struct ashlar_step *step, bool *agrees)
{
  const struct ashlar_manager *manager = run->manager;
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&run->segments, request->address);
  const int32_t recorded = ashlar_run_block_at(run, segment, request->address);
  const int32_t choice = step->kind == ASHLAR_STEP_DONE ? step->slot : -1;
  const enum ashlar_open_reason reason =
      ashlar_open_after_mismatch(run, request, choice, recorded, agrees);
  if (reason != ASHLAR_OPEN_NONE || *agrees) {
    return reason;
  }
  if (request->event == run->first_event && segment->is_growable) {
    return ASHLAR_OPEN_CUT;
  }
  /* The recording may begin between the new segment and the block for which it was made. */
  if (request->event == run->first_event && segment->address == request->address &&
      manager->prev[recorded] < 0 && manager->next[recorded] < 0 &&
      segment->size == ashlar_segment_size(request->size, run->config.large_segment_size)) {
    return ASHLAR_OPEN_CUT;
  }
  const bool has_pool = (event_of(run, request->event)->flags & ASHLAR_EVENT_HAS_POOL) != 0;
  return run->has_private && !has_pool ? ASHLAR_OPEN_POOL : ASHLAR_OPEN_NONE;
}

static void find_not_best(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                          const struct ashlar_step *step)
{
  if (step->kind == ASHLAR_STEP_DONE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                      "%" PRIu64 " bytes were placed here although the best block is at 0x%" PRIx64,
                      request->bytes, step->address);
  } else {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                      "%" PRIu64
                      " bytes were placed here although no free block may serve them and "
                      "the device is to be asked",
                      request->bytes);
  }
}

/* Whether the recorded block is the best without a segment that proves doubtful. */
static bool is_explained_without(struct ashlar_audit_run *run,
                                 const struct ashlar_audit_request *request,
                                 const struct ashlar_step *step)
{
  if (step->kind != ASHLAR_STEP_DONE || !ashlar_run_suspect(run, step->slot)) {
    return false;
  }
  const int32_t choice = ashlar_request_choose(run, request);
  return choice >= 0 && run->manager->addr[choice] == request->address;
}

/* The recorded block and the manager's decision, which is undone, are not the same. */
static void explain(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                    const struct ashlar_step *step)
{
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&run->segments, request->address);
  bool agrees = false;
  enum ashlar_open_reason reason = ASHLAR_OPEN_NONE;
  if (segment == NULL) {
    ashlar_audit_find(run->result, ASHLAR_RULE_DISJOINT, request->event, request->address,
                      "the block of %" PRIu64 " bytes is in no segment", request->size);
  } else if (segment->reason != ASHLAR_OPEN_NONE) {
    count_stray(run, request->event, (enum ashlar_open_reason)segment->reason);
    return;
  } else if (request->address % ASHLAR_GRANULE != 0) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, request->event, request->address,
                      "the address of the block is not a multiple of 512");
  } else if (!find_misplaced(run, request, segment)) {
    reason = excuse_place(run, request, step, &agrees);
    if (reason == ASHLAR_OPEN_NONE && !agrees) {
      agrees = is_explained_without(run, request, step);
    }
    if (reason == ASHLAR_OPEN_NONE && !agrees) {
      find_not_best(run, request, step);
    }
  }
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, request->event);
  if (agrees) {
    ashlar_run_agree(run);
  } else if (reason != ASHLAR_OPEN_NONE) {
    ashlar_run_undetermined(run, reason);
  } else {
    ashlar_run_differ(run, request, address_of(step), false);
    if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_BLOCK &&
        step->kind == ASHLAR_STEP_DONE) {
      /* The recorded block is never heard of again: the rest of the recording goes by the other. */
      (void)ashlar_request_begin(run, request);
      return;
    }
  }
  ashlar_run_adopt(run, request);
}

/* The manager took the recorded block. */
static void confirm(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                    struct ashlar_step step)
{
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, request->event);
  if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_BLOCK && conflict->value == 0) {
    ashlar_request_undo(run, &step);
    if (find_moved(run, request)) {
      return;
    }
    step = ashlar_request_begin(run, request);
  }
  bool differs = false;
  const enum ashlar_open_reason reason = ashlar_open_after_match(run, request, step.slot, &differs);
  if (differs) {
    ashlar_audit_find(run->result, ASHLAR_RULE_BESTFIT, request->event, request->address,
                      "%" PRIu64 " bytes were placed here although a block of the same size in an "
                      "older segment was free",
                      request->bytes);
    ashlar_run_differ(run, request, request->address, false);
  } else if (reason != ASHLAR_OPEN_NONE) {
    ashlar_run_undetermined(run, reason);
  } else {
    ashlar_run_agree(run);
  }
}

void ashlar_request_refuse(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                           const struct ashlar_step *step)
{
  if (step->status == ASHLAR_ERROR_TOO_LARGE) {
    ashlar_audit_find(run->result, ASHLAR_RULE_SIZE, request->event, request->address,
                      "%" PRIu64 " bytes are more than any request may have", request->bytes);
    ashlar_run_differ(run, request, ASHLAR_ASKS_DEVICE, false);
    ashlar_run_adopt(run, request);
    return;
  }
  run->blind = ASHLAR_OPEN_CAPACITY;
  ashlar_run_undetermined(run, ASHLAR_OPEN_CAPACITY);
}

static bool is_doubtful(const struct ashlar_audit_run *run, uint64_t event)
{
  return run->near_count > 0 || run->config.order == ASHLAR_ORDER_SEGMENT ||
         event >= run->conflict_event;
}

/* Blocks that were only inferred from their later free may be wrong. One that is in the way of an
   allocation that is right without it is: it goes, and its free will be the finding. */
static bool retract(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&run->segments, request->address);
  if (segment == NULL || segment->reason != ASHLAR_OPEN_NONE || segment->class != request->class ||
      segment->pool != request->owner ||
      ashlar_run_stream(run, segment->stream) != request->stream ||
      !ashlar_run_retract(run, segment, request->address, request->size)) {
    return false;
  }
  const int32_t choice = ashlar_request_choose(run, request);
  if (choice >= 0 && run->manager->addr[choice] == request->address) {
    return true;
  }
  ashlar_run_put_back(run);
  return false;
}

void ashlar_request_find_lost(struct ashlar_audit_run *run,
                              const struct ashlar_audit_request *request)
{
  const struct ashlar_conflict *conflict = ashlar_run_conflict(run, request->event);
  if (conflict != NULL && conflict->kind == ASHLAR_CONFLICT_BLOCK && conflict->value == 0) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, request->event, request->address,
                      "the block is neither freed later nor listed as live");
  }
}

/* Behind the ladder a request takes what its range has for it, whatever is free elsewhere. */
static bool is_found_in_range(struct ashlar_audit_run *run,
                              const struct ashlar_audit_request *request)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t slot = run->ladder == request->event ? ashlar_run_growing(run, request) : -1;
  return slot >= 0 && manager->state[slot] == ASHLAR_FREE && manager->size[slot] >= request->size &&
         manager->addr[slot] == request->address;
}

static void judge(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  ashlar_ages_search(run, request->owner, request->class);
  struct ashlar_step step = ashlar_request_begin(run, request);
  if (step.kind == ASHLAR_STEP_ERROR) {
    ashlar_request_refuse(run, request, &step);
    return;
  }
  if (step.kind != ASHLAR_STEP_DONE || step.address != request->address) {
    ashlar_request_undo(run, &step);
    if (is_found_in_range(run, request)) {
      ashlar_run_agree(run);
      ashlar_run_adopt(run, request);
      return;
    }
    if (!retract(run, request)) {
      explain(run, request, &step);
      return;
    }
    step = ashlar_request_begin(run, request);
  }
  if (is_doubtful(run, request->event)) {
    confirm(run, request, step);
  } else {
    ashlar_run_agree(run);
  }
}

void ashlar_run_alloc(struct ashlar_audit_run *run, uint64_t event)
{
  struct ashlar_audit_request request;
  run->result->allocations++;
  if (!is_capable(run)) {
    ashlar_run_undetermined(run, (enum ashlar_open_reason)run->blind);
    return;
  }
  if (run->history->is_growable) {
    count_stray(run, event, ASHLAR_OPEN_GROWABLE);
    return;
  }
  const enum ashlar_open_reason reason = ashlar_request_of(run, event, &request);
  if (reason != ASHLAR_OPEN_NONE) {
    count_stray(run, event, reason);
    return;
  }
  if (run->phantom_count > 0) {
    find_phantom(run, &request);
  }
  judge(run, &request);
  if (event >= run->conflict_event) {
    ashlar_request_find_lost(run, &request);
  }
}
