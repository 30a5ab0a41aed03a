/* audit_world.c - see audit_run.h: the recorded state on the manager.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1, REFUSED = -2, SUSPICIONS = 3, FOREIGN = 1 /* an allocator */ };

#define DEVICE_TOTAL                                                                               \
  (UINT64_C(1) << 50) /* of which nothing depends: ranges are as the recording has them */

#define STEPS UINT64_C(1000000000)
#define STEPS_AN_EVENT 64

void ashlar_run_spend(struct ashlar_audit_run *run, uint64_t steps)
{
  if (run->steps_left < steps) {
    run->steps_left = 0;
    run->blind = ASHLAR_OPEN_DAMAGE;
  } else {
    run->steps_left -= steps;
  }
}

/* --- streams and pools --- */

int32_t ashlar_run_stream(struct ashlar_audit_run *run, uint16_t index)
{
  if (run->streams[index] == UNKNOWN) {
    const uint64_t handle = run->part->snapshot->streams[index].handle;
    const struct ashlar_registration added = ashlar_stream_register(run->manager, handle);
    /* Two entries may be one handle, written once as a negative number. */
    run->streams[index] = added.status == ASHLAR_OK || added.status == ASHLAR_ERROR_DUPLICATE
                              ? added.stream
                              : REFUSED;
    if (added.status == ASHLAR_OK) {
      run->stream_names[added.stream] = index;
    }
  }
  return run->streams[index];
}

struct ashlar_caller ashlar_run_caller(int32_t pool)
{
  /* Each private pool has a thread of its own; one of the default pool is in no scope. */
  return (struct ashlar_caller){.stream = -1,
                                .thread = pool == 0 ? UINT64_MAX : (uint64_t)(uint32_t)pool};
}

/* A pool that serves its own thread, and does what the recording shows of it. */
static int32_t new_pool(struct ashlar_audit_run *run, uint16_t index)
{
  const bool is_foreign = run->history->grows && run->history->has_segments[index];
  const struct ashlar_pool_creation created =
      ashlar_pool_create(run->manager, is_foreign ? FOREIGN : 0);
  if (created.status != ASHLAR_OK) {
    return REFUSED;
  }
  (void)ashlar_scope_open(run->manager, created.pool, ashlar_run_caller(created.pool).thread, -1);
  if (!ashlar_history_splits(run->history, index)) {
    (void)ashlar_pool_set_no_split(run->manager, created.pool);
  }
  run->pool_names[created.pool] = index;
  return created.pool;
}

int32_t ashlar_run_pool(struct ashlar_audit_run *run, uint16_t index)
{
  if (run->pools[index] == UNKNOWN) {
    run->pools[index] = new_pool(run, index);
  }
  return run->pools[index];
}

uint64_t ashlar_run_handle(const struct ashlar_audit_run *run, int32_t stream)
{
  return run->manager->stream_key[stream];
}

enum ashlar_open_reason ashlar_run_no_room(struct ashlar_audit_run *run, uint16_t pool,
                                           uint16_t stream)
{
  if (ashlar_run_stream(run, stream) < 0) {
    return ASHLAR_OPEN_STREAMS;
  }
  return ashlar_run_pool(run, pool) < 0 ? ASHLAR_OPEN_POOL : ASHLAR_OPEN_NONE;
}

int32_t ashlar_run_block_at(struct ashlar_audit_run *run,
                            const struct ashlar_segment_record *segment, uint64_t address)
{
  /* The first block of a segment keeps its slot: cutting and joining keep the front's. */
  const struct ashlar_manager *manager = run->manager;
  int32_t slot = segment->slot;
  uint64_t steps = 1;
  while (address - manager->addr[slot] >= manager->size[slot] && manager->next[slot] >= 0) {
    slot = manager->next[slot];
    steps++;
  }
  ashlar_run_spend(run, steps);
  return slot;
}

void ashlar_run_release(struct ashlar_audit_run *run, int32_t slot)
{
  struct ashlar_manager *manager = run->manager;
  int32_t before = manager->prev[slot];
  int32_t joined = slot;
  if ((run->marks[slot] & ASHLAR_MARK_OPEN) != 0) {
    ashlar_open_forget(run, slot);
  }
  if (before >= 0 && manager->state[before] == ASHLAR_FREE) {
    joined = before;
    before = manager->prev[before];
  }
  run->marks[slot] = 0;
  (void)ashlar_free(manager, slot, manager->generation[slot], ashlar_recorded_caller());
  ashlar_ages_enter(run, joined);
  if (before >= 0 && (run->marks[before] & ASHLAR_MARK_OPEN) != 0) {
    ashlar_open_consider(run, before);
  }
}

struct ashlar_segment_record *ashlar_run_add_segment(struct ashlar_audit_run *run,
                                                     const struct ashlar_segment_record *wanted)
{
  struct ashlar_segment_record record = *wanted;
  const uint64_t address = wanted->address;
  if (ashlar_run_no_room(run, wanted->pool, wanted->stream) != ASHLAR_OPEN_NONE ||
      record.size == 0 || record.size % ASHLAR_GRANULE != 0 || address % ASHLAR_GRANULE != 0 ||
      ashlar_segments_overlapping(&run->segments, address, record.size) != NULL) {
    return NULL;
  }
  const struct ashlar_placement placed =
      ashlar_segment_add(run->manager, address, record.size, ashlar_run_pool(run, record.pool),
                         (int32_t)record.class, ashlar_run_stream(run, record.stream));
  if (placed.status != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_CAPACITY;
    return NULL;
  }
  record.slot = placed.slot;
  if (ashlar_segments_add(&run->segments, &record) != ASHLAR_SEGMENTS_ADDED) {
    run->is_out_of_memory = true;
    return NULL;
  }
  run->reserved += record.size;
  return ashlar_segments_find(&run->segments, address);
}

bool ashlar_run_remove_segment(struct ashlar_audit_run *run, struct ashlar_segment_record *segment)
{
  if (segment->reason == ASHLAR_OPEN_NONE &&
      ashlar_segment_remove(run->manager, segment->slot) != ASHLAR_OK) {
    return false;
  }
  run->reserved -= segment->size;
  ashlar_segments_remove(&run->segments, segment);
  return true;
}

bool ashlar_run_suspect(struct ashlar_audit_run *run, int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  struct ashlar_segment_record *segment = ashlar_segments_find(&run->segments, manager->addr[slot]);
  if (segment == NULL || !segment->is_inferred || segment->slot != slot ||
      segment->generation != manager->generation[slot] || segment->size != manager->size[slot]) {
    return false; /* the generation would have changed with any allocation from it */
  }
  run->suspect_count = run->suspect == segment->address ? run->suspect_count + 1 : 1;
  run->suspect = segment->address;
  return run->suspect_count >= SUSPICIONS && ashlar_run_remove_segment(run, segment);
}

bool ashlar_run_add_stray(struct ashlar_audit_run *run, uint64_t address, uint64_t requested,
                          uint64_t note)
{
  const bool is_new = ashlar_live_find(&run->strays, address) == NULL;
  struct ashlar_live *entry = ashlar_live_add(&run->strays, address);
  if (entry == NULL) {
    run->is_out_of_memory = true;
    return true;
  }
  entry->requested = requested;
  entry->note = note;
  return is_new;
}

/* Slot of the first live block that shares a byte with the range of the segment, or -1. */
static int32_t live_in_range(struct ashlar_audit_run *run,
                             const struct ashlar_segment_record *segment, uint64_t address,
                             uint64_t size)
{
  const struct ashlar_manager *manager = run->manager;
  int32_t slot = ashlar_run_block_at(run, segment, address);
  while (slot >= 0 && manager->state[slot] != ASHLAR_ALLOCATED) {
    slot = manager->next[slot];
  }
  /* The first block may start before the range; every other one starts in it or behind it. */
  if (slot >= 0 && manager->addr[slot] > address && manager->addr[slot] - address >= size) {
    return -1;
  }
  return slot;
}

static bool all_inferred(struct ashlar_audit_run *run, const struct ashlar_segment_record *segment,
                         uint64_t address, uint64_t size)
{
  const struct ashlar_manager *manager = run->manager;
  int32_t slot = ashlar_run_block_at(run, segment, address);
  uint64_t count = 0;
  while (slot >= 0 && (manager->addr[slot] <= address || manager->addr[slot] - address < size)) {
    if (manager->state[slot] == ASHLAR_ALLOCATED) {
      if ((run->marks[slot] & ASHLAR_MARK_INFERRED) == 0) {
        return false;
      }
      count++;
    }
    slot = manager->next[slot];
  }
  return count > 0 && count <= ASHLAR_TRIALS;
}

void ashlar_run_try_release(struct ashlar_audit_run *run, int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  run->trials[run->trial_count] = (struct ashlar_trial){
      .address = manager->addr[slot],
      .size = manager->size[slot],
      .requested = manager->requested[slot],
      .marks = run->marks[slot],
  };
  run->trial_count++;
  ashlar_run_release(run, slot);
}

void ashlar_run_put_back(struct ashlar_audit_run *run)
{
  for (uint64_t i = 0; i < run->trial_count; i++) {
    const struct ashlar_trial *trial = &run->trials[i];
    const struct ashlar_segment_record *segment =
        ashlar_segments_at(&run->segments, trial->address);
    const struct ashlar_placement placed =
        ashlar_allocate_at(run->manager, ashlar_run_block_at(run, segment, trial->address),
                           trial->address, trial->size, trial->requested);
    if (placed.status != ASHLAR_OK) {
      run->blind = ASHLAR_OPEN_CAPACITY;
      return;
    }
    run->marks[placed.slot] = trial->marks;
    if ((trial->marks & ASHLAR_MARK_OPEN) != 0) {
      ashlar_open_restore(run, placed.slot);
    }
  }
  run->trial_count = 0;
}

bool ashlar_run_retract(struct ashlar_audit_run *run, const struct ashlar_segment_record *segment,
                        uint64_t address, uint64_t size)
{
  run->trial_count = 0;
  if (!all_inferred(run, segment, address, size)) {
    return false;
  }
  int32_t slot = live_in_range(run, segment, address, size);
  while (slot >= 0) {
    ashlar_run_try_release(run, slot);
    slot = live_in_range(run, segment, address, size);
  }
  return true;
}

/* The free block that has the recorded one, -1: what is there is not mapped. */
static int32_t free_with_room(struct ashlar_audit_run *run,
                              const struct ashlar_segment_record *segment,
                              const struct ashlar_audit_request *request)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t slot = ashlar_run_block_at(run, segment, request->address);
  return manager->state[slot] == ASHLAR_FREE &&
                 request->size <= manager->size[slot] - (request->address - manager->addr[slot])
             ? slot
             : -1;
}

/* Where the recorded block fits once what is in its way is freed: the free block; -1: nowhere. */
static int32_t make_room(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&run->segments, request->address);
  if (segment == NULL || segment->reason != ASHLAR_OPEN_NONE || request->size == 0 ||
      request->address % ASHLAR_GRANULE != 0 ||
      request->size > segment->size - (request->address - segment->address)) {
    return -1;
  }
  for (;;) {
    const int32_t slot = live_in_range(run, segment, request->address, request->size);
    if (slot < 0) {
      return free_with_room(run, segment, request);
    }
    ashlar_run_release(run, slot);
  }
}

void ashlar_run_adopt(struct ashlar_audit_run *run, const struct ashlar_audit_request *request)
{
  struct ashlar_manager *manager = run->manager;
  const int32_t slot = make_room(run, request);
  if (slot < 0) {
    (void)ashlar_run_add_stray(run, request->address, request->bytes, ASHLAR_STRAY_FAULTY);
    return;
  }
  const uint64_t room = manager->size[slot] - (request->address - manager->addr[slot]);
  const int32_t home = manager->home[slot];
  const int32_t pool = ashlar_home_pool(home);
  const bool grows = manager->growable_on != 0 && manager->pool_allocator[pool] == 0;
  const bool is_split = manager->pool_no_split[pool] == 0 &&
                        (grows ? room > request->size
                               : ashlar_should_split(ashlar_home_class(home), room, request->size,
                                                     run->config.max_split_size) != 0);
  const struct ashlar_placement placed = ashlar_allocate_at(
      manager, slot, request->address, is_split ? request->size : room, request->bytes);
  if (placed.status != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_CAPACITY;
    return;
  }
  ashlar_ages_enter_rest(run, placed.slot);
}

const struct ashlar_conflict *ashlar_run_conflict(struct ashlar_audit_run *run, uint64_t event)
{
  const struct ashlar_history *history = run->history;
  while (run->conflict < history->conflict_count &&
         history->conflicts[run->conflict].event < event) {
    run->conflict++;
  }
  if (run->conflict == history->conflict_count) {
    run->conflict_event = ASHLAR_NO_EVENT;
    return NULL;
  }
  const struct ashlar_conflict *next = &history->conflicts[run->conflict];
  run->conflict_event = next->event;
  return next->event == event ? next : NULL;
}

/* --- counting --- */

void ashlar_run_agree(struct ashlar_audit_run *run)
{
  run->result->agree++;
}

void ashlar_run_undetermined(struct ashlar_audit_run *run, enum ashlar_open_reason reason)
{
  run->result->undetermined++;
  run->result->undetermined_for[reason]++;
}

void ashlar_run_differ(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                       uint64_t expected, bool recorded_device)
{
  struct ashlar_audit_device *result = run->result;
  result->differ++;
  if (!result->has_difference) {
    result->has_difference = true;
    result->first_difference = (struct ashlar_difference){
        .event = request->event,
        .size = request->bytes,
        .recorded_address = request->address,
        .expected_address = expected == ASHLAR_ASKS_DEVICE ? 0 : expected,
        .expects_device = expected == ASHLAR_ASKS_DEVICE,
        .recorded_device = recorded_device,
    };
  }
}

/* --- the state before the first event --- */

/* A range from before the recording, with what was mapped of it. */
static void place_range(struct ashlar_audit_run *run, struct ashlar_segment_record *record)
{
  const struct ashlar_segment_set *mapped = &run->history->ranges.mapped;
  const struct ashlar_placement placed = ashlar_range_add(
      run->manager, record->address, record->size, ashlar_run_pool(run, record->pool),
      (int32_t)record->class, ashlar_run_stream(run, record->stream));
  record->slot = placed.slot;
  record->mapped = 0;
  if (placed.status != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_CAPACITY;
    return;
  }
  for (uint32_t i = 0; i < mapped->count; i++) {
    const struct ashlar_segment_record *part = ashlar_segments_nth(mapped, i);
    if (part->address - record->address < record->size &&
        !ashlar_run_map(run, part->address, part->size)) {
      run->blind = ASHLAR_OPEN_CAPACITY;
    }
  }
}

static void place_segments(struct ashlar_audit_run *run)
{
  for (uint32_t i = 0; i < run->segments.count && run->blind == ASHLAR_OPEN_NONE; i++) {
    struct ashlar_segment_record *record = ashlar_segments_nth(&run->segments, i);
    if (record->reason == ASHLAR_OPEN_NONE) {
      record->reason = (uint8_t)ashlar_run_no_room(run, record->pool, record->stream);
    }
    if (record->is_growable && record->reason == ASHLAR_OPEN_NONE) {
      place_range(run, record);
      continue;
    }
    run->reserved += record->size;
    if (record->reason != ASHLAR_OPEN_NONE) {
      continue;
    }
    const struct ashlar_placement placed = ashlar_segment_add(
        run->manager, record->address, record->size, ashlar_run_pool(run, record->pool),
        (int32_t)record->class, ashlar_run_stream(run, record->stream));
    record->slot = placed.slot;
    record->generation = placed.slot < 0 ? 0 : run->manager->generation[placed.slot];
    if (placed.status != ASHLAR_OK) {
      run->blind = ASHLAR_OPEN_CAPACITY;
    }
  }
}

static void enter_open(struct ashlar_audit_run *run, const struct ashlar_old_block *block,
                       int32_t slot)
{
  run->open[run->open_count] = (struct ashlar_open_block){
      .address = block->address,
      .low = block->low,
      .high = block->high,
      .slot = slot,
      .is_live = true,
  };
  run->open_count++;
  run->open_live++;
  run->marks[slot] |= ASHLAR_MARK_OPEN;
}

/* Places one old block into the free rest of its segment; slot of the block, -1: no room. */
static int32_t place_block(struct ashlar_audit_run *run, const struct ashlar_old_block *block,
                           const struct ashlar_segment_record *segment, int32_t before)
{
  struct ashlar_manager *manager = run->manager;
  int32_t rest = segment->slot;
  if (segment->is_growable) {
    rest = ashlar_run_block_at(run, segment, block->address);
  } else if (before >= 0 && manager->addr[before] >= segment->address) {
    rest = manager->next[before];
  }
  const uint64_t requested = block->requested < block->high ? block->requested : block->high;
  const struct ashlar_placement placed =
      ashlar_allocate_at(manager, rest, block->address, block->high, requested);
  if (placed.status != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_CAPACITY;
    return -1;
  }
  return placed.slot;
}

static void place_blocks(struct ashlar_audit_run *run)
{
  const struct ashlar_history *history = run->history;
  int32_t before = -1;
  for (uint64_t i = 0; i < history->block_count && run->blind == ASHLAR_OPEN_NONE; i++) {
    const struct ashlar_old_block *block = &history->blocks[i];
    const struct ashlar_segment_record *segment =
        ashlar_segments_at(&run->segments, block->address);
    if (!block->is_held || segment == NULL || segment->reason != ASHLAR_OPEN_NONE) {
      (void)ashlar_run_add_stray(run, block->address, block->requested, 0);
      continue;
    }
    before = place_block(run, block, segment, before);
    if (before < 0) {
      continue;
    }
    run->marks[before] |= ASHLAR_MARK_OLD;
    if (block->freed_at != ASHLAR_NO_EVENT) {
      run->marks[before] |= ASHLAR_MARK_INFERRED;
    } else if (block->requested == 0) {
      run->marks[before] |= ASHLAR_MARK_UNREQUESTED;
    }
    if (block->low < block->high) {
      enter_open(run, block, before);
    }
  }
  /* Only now all neighbours stand. */
  for (uint64_t i = 0; i < run->open_count; i++) {
    ashlar_open_consider(run, run->open[i].slot);
  }
}

static bool allocate_parts(struct ashlar_audit_run *run)
{
  const uint32_t stream_count = run->part->snapshot->stream_count;
  const uint32_t pool_count = run->part->snapshot->pool_count;
  const uint64_t unknown = run->history->unknown_sizes;
  run->manager = calloc(1, sizeof *run->manager);
  run->marks = calloc(ASHLAR_SLOTS, sizeof *run->marks);
  run->streams = malloc(((size_t)stream_count + 1) * sizeof *run->streams);
  run->pools = malloc(((size_t)pool_count + 1) * sizeof *run->pools);
  run->open = malloc(((size_t)unknown + 1) * sizeof *run->open);
  run->near = malloc(((size_t)unknown + 1) * sizeof *run->near);
  if (run->manager == NULL || run->marks == NULL || run->streams == NULL || run->pools == NULL ||
      run->open == NULL || run->near == NULL ||
      !ashlar_segments_copy(&run->segments, &run->history->segments)) {
    return false;
  }
  for (uint32_t i = 0; i < stream_count; i++) {
    run->streams[i] = UNKNOWN;
  }
  for (uint32_t i = 0; i < pool_count; i++) {
    run->pools[i] = i == 0 ? 0 : UNKNOWN;
  }
  return true;
}

bool ashlar_run_start(struct ashlar_audit_run *run, const struct ashlar_device_part *part,
                      const struct ashlar_history *history, const struct ashlar_config *config,
                      struct ashlar_audit_device *result)
{
  *run = (struct ashlar_audit_run){
      .part = part,
      .history = history,
      .config = *config,
      .result = result,
      .steps_left = STEPS + STEPS_AN_EVENT * part->event_count,
      .ladder = ASHLAR_NO_EVENT,
  };
  if (!allocate_parts(run)) {
    ashlar_run_stop(run);
    return false;
  }
  run->first_event = ashlar_history_next(part, 0);
  (void)ashlar_run_conflict(run, 0);
  for (uint32_t i = 0; i < run->segments.count; i++) {
    if (ashlar_segments_nth(&run->segments, i)->pool != 0) {
      run->has_private = true;
    }
  }
  for (uint64_t i = 0; i < part->segment_count; i++) {
    if (part->snapshot->segments[part->segments[i]].pool != 0) {
      run->has_private = true;
    }
  }
  struct ashlar_config growing = *config;
  growing.growable = history->grows && !history->is_growable ? 1 : 0;
  growing.device_total = DEVICE_TOTAL;
  if (ashlar_manager_init(run->manager, growing) != ASHLAR_OK) {
    run->blind = ASHLAR_OPEN_SETTINGS;
    return true;
  }
  place_segments(run);
  if (config->order == ASHLAR_ORDER_SEGMENT) {
    run->old_ages = run->manager->segments_created;
  }
  place_blocks(run);
  return !run->is_out_of_memory && ashlar_ages_start(run);
}

void ashlar_run_stop(struct ashlar_audit_run *run)
{
  free(run->manager);
  free(run->marks);
  free(run->streams);
  free(run->pools);
  free(run->open);
  free(run->near);
  free(run->ages.entered);
  ashlar_segments_free(&run->segments);
  ashlar_live_free(&run->strays);
  ashlar_live_free(&run->older);
  *run = (struct ashlar_audit_run){0};
}
