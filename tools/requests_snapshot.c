/* requests_snapshot.c - the requests of a recorded snapshot, and what was live before it began.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/requests.h"

#include <stdlib.h>

#include "core/size_policy.h"
#include "tools/history.h"
#include "tools/snapshot.h"

/* Notes of live blocks (struct ashlar_live.note); the entry's `size` is the allocation's number. */
enum {
  NOTE_REQUESTED = 1, /* its owner has let go */
  NOTE_OUTSIDE = 2,   /* in a private pool that events do not name: its free is no request either */
  NOTE_FAULT = 4      /* not live at all; stays until its free is complete, so that it fails once */
};

/* One device's events on their way to requests. */
struct converting {
  struct ashlar_requests *requests;
  struct ashlar_device_part part;
  struct ashlar_history history;
  struct ashlar_live_table live;
  uint64_t releases_end; /* event behind the last run of releases */
  struct ashlar_error *error;
};

static bool no_memory(struct ashlar_error *error)
{
  return ashlar_error_set(error, 0, "out of memory");
}

static struct ashlar_request_item item_of(const struct converting *work, uint64_t event,
                                          enum ashlar_request_kind kind, uint64_t number)
{
  const struct ashlar_event *recorded = &work->part.events[event];
  return (struct ashlar_request_item){
      .size = recorded->size,
      .address = kind == ASHLAR_REQUEST_ALLOCATE ? recorded->address : ASHLAR_NO_ADDRESS,
      .event = event,
      .time_us = (recorded->flags & ASHLAR_EVENT_HAS_TIME) != 0 ? recorded->time_us : event,
      .number = (uint32_t)number,
      .stream = recorded->stream,
      .kind = (uint8_t)kind,
      .device = (uint8_t)work->part.device,
  };
}

static bool add_item(struct converting *work, uint64_t event, enum ashlar_request_kind kind,
                     uint64_t number)
{
  const struct ashlar_request_item item = item_of(work, event, kind, number);
  return ashlar_requests_add(work->requests, &item) || no_memory(work->error);
}

/* The number of a new allocation. */
static bool next_number(struct converting *work, uint32_t *number)
{
  if (work->requests->number_count == UINT32_MAX) {
    return ashlar_error_set(work->error, 0, "more than 2^32 - 1 allocations");
  }
  *number = work->requests->number_count;
  work->requests->number_count++;
  return true;
}

/* --- before the first event --- */

/* Whether memory of the pool cannot be told from that of the default pool in the events. */
static bool is_untold(const struct converting *work, uint16_t pool)
{
  return pool != 0 && !work->history.tells_pools;
}

/* Which pools keep their blocks whole. */
static bool add_pools(struct converting *work)
{
  struct ashlar_requests *requests = work->requests;
  const size_t count = requests->snapshot->pool_count;
  if (requests->whole_pools == NULL) {
    requests->whole_pools = calloc(count * ASHLAR_REQUESTS_DEVICES, 1);
  }
  if (requests->whole_pools == NULL) {
    return no_memory(work->error);
  }
  for (size_t i = 1; i < count; i++) {
    requests->whole_pools[(size_t)work->part.device * count + i] =
        (uint8_t)((ashlar_history_splits(&work->history, (uint16_t)i) ? 0 : ASHLAR_POOL_IS_WHOLE) |
                  (work->history.grows && work->history.has_segments[i] ? ASHLAR_POOL_IS_FOREIGN
                                                                        : 0));
  }
  return true;
}

/* Growable segments: their ranges, and what was mapped. */
static bool add_ranges(struct converting *work)
{
  const struct ashlar_range_set *set = &work->history.ranges;
  bool is_done = true;
  for (uint64_t i = 0; is_done && i < set->count; i++) {
    const struct ashlar_range_life *life = &set->lives[i];
    const struct ashlar_request_range range = {
        .address = life->address,
        .size = life->size,
        .begin = life->begin,
        .stream = life->stream,
        .pool = life->pool,
        .class = life->class,
        .device = (uint8_t)work->part.device,
    };
    is_done = ashlar_requests_add_range(work->requests, &range);
  }
  for (uint32_t i = 0; is_done && i < set->mapped.count; i++) {
    const struct ashlar_segment_record *record = ashlar_segments_nth(&set->mapped, i);
    const struct ashlar_seed_segment part = {
        .address = record->address,
        .size = record->size,
        .device = (uint8_t)work->part.device,
    };
    is_done = ashlar_requests_add_mapped(work->requests, &part);
  }
  return is_done || no_memory(work->error);
}

static bool add_segments(struct converting *work)
{
  for (uint32_t i = 0; i < work->history.segments.count; i++) {
    const struct ashlar_segment_record *record = ashlar_segments_nth(&work->history.segments, i);
    const struct ashlar_seed_segment segment = {
        .address = record->address,
        .size = record->size,
        .stream = record->stream,
        .device = (uint8_t)work->part.device,
        .class = record->class,
        .pool = record->pool,
        .is_growable = record->is_growable,
    };
    if (!is_untold(work, record->pool) && !ashlar_requests_add_segment(work->requests, &segment)) {
      return no_memory(work->error);
    }
  }
  return true;
}

/* Bytes from the start of an old block to the next one, or to the end of its segment. */
static uint64_t room_of(const struct converting *work, uint64_t index,
                        const struct ashlar_segment_record *segment)
{
  const struct ashlar_old_block *block = &work->history.blocks[index];
  const uint64_t room = segment->size - (block->address - segment->address);
  if (index + 1 < work->history.block_count && block[1].address - block->address < room) {
    return block[1].address - block->address;
  }
  return room;
}

/* The size of an old block. Where it is an interval the least size is taken, but in the large
   pool no free block is as small as what would be left behind it then: the block has that too. */
static uint64_t size_of(const struct converting *work, uint64_t index,
                        const struct ashlar_segment_record *segment)
{
  const struct ashlar_old_block *block = &work->history.blocks[index];
  if (!block->is_held || segment == NULL) {
    return block->requested;
  }
  const uint64_t room = room_of(work, index, segment);
  if (block->low < block->high && segment->class == ASHLAR_CLASS_LARGE &&
      room - block->low <= ASHLAR_SMALL_LIMIT && room <= block->high) {
    return room;
  }
  return block->low;
}

static bool add_seed(struct converting *work, uint64_t index)
{
  const struct ashlar_old_block *block = &work->history.blocks[index];
  const struct ashlar_segment_record *segment =
      ashlar_segments_at(&work->history.segments, block->address);
  struct ashlar_live *entry = ashlar_live_add(&work->live, block->address);
  if (entry == NULL) {
    return no_memory(work->error);
  }
  if (segment != NULL && is_untold(work, segment->pool)) {
    entry->note = NOTE_OUTSIDE;
    return true;
  }
  struct ashlar_seed_block seed = {
      .address = block->address,
      .size = size_of(work, index, segment),
      .requested = block->requested,
      .stream = segment == NULL ? 0 : segment->stream,
      .pool = segment == NULL ? 0 : segment->pool,
      .device = (uint8_t)work->part.device,
  };
  if (seed.requested == 0 || (block->is_held && seed.requested > seed.size)) {
    seed.requested = seed.size;
  }
  if (!next_number(work, &seed.number)) {
    return false;
  }
  entry->size = seed.number;
  return ashlar_requests_add_seed(work->requests, &seed) || no_memory(work->error);
}

static bool add_seeds(struct converting *work)
{
  for (uint64_t i = 0; i < work->history.block_count; i++) {
    if (!add_seed(work, i)) {
      return false;
    }
  }
  return true;
}

/* --- the events --- */

/* What cannot be replayed is a request too, so that it is counted and reported. */
static bool add_impossible(struct converting *work, uint64_t event, enum ashlar_impossible reason)
{
  return add_item(work, event, ASHLAR_REQUEST_IMPOSSIBLE, reason);
}

static bool convert_alloc(struct converting *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part.events[event];
  if (ashlar_live_find(&work->live, recorded->address) != NULL) {
    return add_impossible(work, event, ASHLAR_IMPOSSIBLE_LIVE);
  }
  struct ashlar_live *entry = ashlar_live_add(&work->live, recorded->address);
  if (entry == NULL) {
    return no_memory(work->error);
  }
  uint32_t number = 0;
  if (!next_number(work, &number)) {
    return false;
  }
  entry->size = number;
  return add_item(work, event, ASHLAR_REQUEST_ALLOCATE, number);
}

static bool convert_unknown_free(struct converting *work, uint64_t event, bool is_complete)
{
  if (!is_complete) {
    struct ashlar_live *entry = ashlar_live_add(&work->live, work->part.events[event].address);
    if (entry == NULL) {
      return no_memory(work->error);
    }
    entry->note = NOTE_FAULT;
  }
  return add_impossible(work, event, ASHLAR_IMPOSSIBLE_UNKNOWN);
}

static bool convert_free(struct converting *work, uint64_t event)
{
  const bool is_complete = work->part.events[event].action == ASHLAR_ACTION_FREE_COMPLETED;
  struct ashlar_live *entry = ashlar_live_find(&work->live, work->part.events[event].address);
  if (entry == NULL) {
    return convert_unknown_free(work, event, is_complete);
  }
  const struct ashlar_live found = *entry;
  entry->note |= NOTE_REQUESTED;
  if (is_complete) {
    ashlar_live_remove(&work->live, entry);
  }
  if ((found.note & (NOTE_OUTSIDE | NOTE_FAULT)) != 0) {
    return true;
  }
  return add_item(work, event, is_complete ? ASHLAR_REQUEST_COMPLETE : ASHLAR_REQUEST_FREE,
                  found.size);
}

/* Whether a free was completed by itself, not by the call that requested it. */
static bool is_late_free(const struct converting *work, uint64_t event)
{
  const struct ashlar_event *recorded = &work->part.events[event];
  return recorded->action == ASHLAR_ACTION_FREE_COMPLETED &&
         (event == 0 || recorded[-1].action != ASHLAR_ACTION_FREE_REQUESTED ||
          recorded[-1].address != recorded->address);
}

/* The event behind a run of releases, with the late frees that the ladder has in between. */
static uint64_t end_of_releases(const struct converting *work, uint64_t begin)
{
  uint64_t end = begin;
  while (end < work->part.event_count &&
         (work->part.events[end].action == ASHLAR_ACTION_SEGMENT_FREE ||
          work->part.events[end].action == ASHLAR_ACTION_SEGMENT_UNMAP ||
          is_late_free(work, end))) {
    end = ashlar_history_next(&work->part, end + 1);
  }
  return end;
}

/* A run of releases is one request, at the first of them. It emptied the cache, unless a new
   segment or a failure right behind says that it may have been for a request. */
static bool convert_releases(struct converting *work, uint64_t event)
{
  if (event < work->releases_end) {
    return true;
  }
  work->releases_end = end_of_releases(work, event);
  uint64_t request = work->releases_end;
  if (request < work->part.event_count &&
      work->part.events[request].action == ASHLAR_ACTION_SEGMENT_ALLOC) {
    request = ashlar_history_next(&work->part, request + 1);
  }
  while (request < work->part.event_count &&
         work->part.events[request].action == ASHLAR_ACTION_SEGMENT_MAP) {
    request = ashlar_history_next(&work->part, request + 1);
  }
  struct ashlar_request_item item = item_of(work, event, ASHLAR_REQUEST_EMPTY_CACHE, 0);
  if (request < work->part.event_count) {
    const struct ashlar_event *recorded = &work->part.events[request];
    if (recorded->action == ASHLAR_ACTION_OOM ||
        (recorded->action == ASHLAR_ACTION_ALLOC &&
         (request != work->releases_end || work->history.grows))) {
      item.kind = ASHLAR_REQUEST_RELEASE;
      item.size = recorded->size;
      item.stream = recorded->stream;
    }
  }
  return ashlar_requests_add(work->requests, &item) || no_memory(work->error);
}

/* What the device did, for the device that plays it. */
static bool add_line(struct converting *work, uint64_t event, enum ashlar_sim_script_kind kind)
{
  const struct ashlar_event *recorded = &work->part.events[event];
  const struct ashlar_sim_script_line line = {event, recorded->address, recorded->size, kind};
  return ashlar_requests_add_line(work->requests, (uint8_t)work->part.device, &line) ||
         no_memory(work->error);
}

static bool convert_event(struct converting *work, uint64_t event)
{
  switch (work->part.events[event].action) {
  case ASHLAR_ACTION_ALLOC:
    return convert_alloc(work, event);
  case ASHLAR_ACTION_FREE_REQUESTED:
  case ASHLAR_ACTION_FREE_COMPLETED:
    return convert_free(work, event);
  case ASHLAR_ACTION_SEGMENT_ALLOC:
    return add_line(work, event, ASHLAR_SIM_SCRIPT_ALLOC);
  case ASHLAR_ACTION_SEGMENT_FREE:
    return add_line(work, event, ASHLAR_SIM_SCRIPT_FREE) && convert_releases(work, event);
  case ASHLAR_ACTION_SEGMENT_MAP:
    return add_line(work, event, ASHLAR_SIM_SCRIPT_MAP);
  case ASHLAR_ACTION_SEGMENT_UNMAP:
    return add_line(work, event, ASHLAR_SIM_SCRIPT_UNMAP) && convert_releases(work, event);
  case ASHLAR_ACTION_OOM:
    return add_line(work, event, ASHLAR_SIM_SCRIPT_REFUSE) &&
           add_item(work, event, ASHLAR_REQUEST_REFUSED, 0);
  case ASHLAR_ACTION_SNAPSHOT:
    return add_item(work, event, ASHLAR_REQUEST_SNAPSHOT, 0);
  default:
    work->requests->ignored++;
    return true;
  }
}

/* Blocks that were already pending when the recording began, and still are at its end. */
static void mark_pending(struct converting *work, size_t first_seed)
{
  const struct ashlar_snapshot *snapshot = work->part.snapshot;
  for (uint64_t i = 0; i < work->part.segment_count; i++) {
    const struct ashlar_segment *segment = &snapshot->segments[work->part.segments[i]];
    for (uint64_t k = 0; k < segment->block_count; k++) {
      const struct ashlar_block *block = &snapshot->blocks[segment->first_block + k];
      const struct ashlar_live *entry = ashlar_live_find(&work->live, block->address);
      if (block->state != ASHLAR_BLOCK_PENDING_FREE || entry == NULL || entry->note != 0 ||
          entry->size < work->requests->seeds[first_seed].number) {
        continue;
      }
      const uint64_t place = entry->size - work->requests->seeds[first_seed].number;
      if (place < work->requests->seed_count - first_seed) {
        work->requests->seeds[first_seed + place].is_pending = true;
      }
    }
  }
}

static bool convert_part(struct converting *work)
{
  const size_t first_seed = work->requests->seed_count;
  if (!ashlar_history_rebuild(&work->part, &work->requests->config, &work->history)) {
    return no_memory(work->error);
  }
  work->requests->has_growable = work->requests->has_growable || work->history.is_growable;
  work->requests->grows = work->requests->grows || work->history.grows;
  if (!add_pools(work) || !add_ranges(work) || !add_segments(work) || !add_seeds(work)) {
    return false;
  }
  for (uint64_t i = 0; i < work->part.event_count; i++) {
    if (!convert_event(work, i)) {
      return false;
    }
  }
  if (first_seed < work->requests->seed_count) {
    mark_pending(work, first_seed);
  }
  return true;
}

/* --- devices --- */

struct place {
  uint64_t address;
  uint64_t index;
  int32_t device;
};

static int by_place(const void *left, const void *right)
{
  const struct place *a = left;
  const struct place *b = right;
  if (a->device != b->device) {
    return a->device < b->device ? -1 : 1;
  }
  if (a->address != b->address) {
    return a->address < b->address ? -1 : 1;
  }
  return (a->index > b->index) - (a->index < b->index);
}

/* The segments, by device and then by address; the caller's to free(). */
static struct place *sorted_segments(const struct ashlar_snapshot *snapshot)
{
  struct place *places = calloc((size_t)snapshot->segment_count + 1, sizeof *places);
  if (places == NULL) {
    return NULL;
  }
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    places[i] = (struct place){snapshot->segments[i].address, i, snapshot->segments[i].device};
  }
  qsort(places, (size_t)snapshot->segment_count, sizeof *places, by_place);
  return places;
}

static bool convert_device(struct ashlar_requests *requests, int32_t device,
                           const uint64_t *segments, uint64_t segment_count,
                           struct ashlar_error *error)
{
  const struct ashlar_snapshot *snapshot = requests->snapshot;
  struct converting work = {.requests = requests, .error = error};
  work.part = (struct ashlar_device_part){
      .snapshot = snapshot,
      .segments = segments,
      .segment_count = segment_count,
      .device = device,
  };
  if ((uint32_t)device < snapshot->trace_count) {
    work.part.events = snapshot->traces[device].events;
    work.part.event_count = snapshot->traces[device].event_count;
  }
  if (segment_count == 0 && work.part.event_count == 0) {
    return true;
  }
  const bool is_done = convert_part(&work);
  ashlar_history_free(&work.history);
  ashlar_live_free(&work.live);
  return is_done;
}

static bool check_devices(const struct ashlar_snapshot *snapshot, struct ashlar_error *error)
{
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    const int32_t device = snapshot->segments[i].device;
    if (device < 0 || device >= ASHLAR_REQUESTS_DEVICES) {
      return ashlar_error_set(error, 0,
                              "segment %llu is on device %d; only devices 0 to %d can be replayed",
                              (unsigned long long)i, (int)device, ASHLAR_REQUESTS_DEVICES - 1);
    }
  }
  for (uint32_t i = ASHLAR_REQUESTS_DEVICES; i < snapshot->trace_count; i++) {
    if (snapshot->traces[i].event_count > 0) {
      return ashlar_error_set(error, 0,
                              "device %u has events; only devices 0 to %d can be replayed",
                              (unsigned)i, ASHLAR_REQUESTS_DEVICES - 1);
    }
  }
  return true;
}

static bool convert_devices(struct ashlar_requests *requests, const struct place *places,
                            uint64_t *indices, struct ashlar_error *error)
{
  const uint64_t count = requests->snapshot->segment_count;
  uint64_t first = 0;
  for (uint64_t i = 0; i < count; i++) {
    indices[i] = places[i].index;
  }
  for (int32_t device = 0; device < ASHLAR_REQUESTS_DEVICES; device++) {
    uint64_t end = first;
    while (end < count && places[end].device == device) {
      end++;
    }
    if (!convert_device(requests, device, &indices[first], end - first, error)) {
      return false;
    }
    first = end;
  }
  return true;
}

/* The settings that were in force, as far as the recording tells and the manager has them. */
static void read_settings(struct ashlar_requests *requests)
{
  const struct ashlar_settings *settings = &requests->snapshot->settings;
  struct ashlar_config *config = &requests->config;
  if ((settings->flags & ASHLAR_SETTINGS_HAS_MAX_SPLIT) != 0 &&
      settings->max_split_size >= (int64_t)config->large_segment_size) {
    config->max_split_size = (uint64_t)settings->max_split_size;
  }
  for (unsigned i = 0; i < ASHLAR_DIVISIONS; i++) {
    const uint64_t divisions = settings->divisions[i];
    if ((settings->divisions_present & (1U << i)) != 0 && divisions <= UINT32_MAX &&
        ashlar_division_valid((uint32_t)divisions)) {
      config->divisions[i] = (uint32_t)divisions;
    }
  }
}

bool ashlar_requests_of_snapshot(struct ashlar_requests *requests, struct ashlar_error *error)
{
  const struct ashlar_snapshot *snapshot = requests->snapshot;
  if (!check_devices(snapshot, error)) {
    return false;
  }
  requests->has_completions = true;
  for (uint32_t i = 0; i < snapshot->stream_count; i++) {
    uint16_t index = 0;
    if (!ashlar_requests_stream(requests, snapshot->streams[i].handle,
                                snapshot->streams[i].is_negative, &index)) {
      return no_memory(error);
    }
  }
  read_settings(requests);
  struct place *places = sorted_segments(snapshot);
  uint64_t *indices = calloc((size_t)snapshot->segment_count + 1, sizeof *indices);
  const bool is_done = places != NULL && indices != NULL
                           ? convert_devices(requests, places, indices, error)
                           : no_memory(error);
  free(places);
  free(indices);
  return is_done;
}
