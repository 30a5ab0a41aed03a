/* stream.c - see stream.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/stream.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/sim/array.h"

enum {
  KEPT = 256 /* an empty queue that has room for more is released */
};

/* --- the queues of a stream --- */

static bool reserve_item(struct ashlar_sim_stream *stream)
{
  /* What has run is overwritten once it is half of the queue: a move costs what was saved. */
  if (stream->item_head + stream->item_count == stream->item_capacity && stream->item_head > 0 &&
      stream->item_head >= stream->item_count) {
    memmove(stream->items, stream->items + stream->item_head,
            stream->item_count * sizeof *stream->items);
    stream->item_head = 0;
  }
  struct ashlar_sim_item *items =
      ashlar_sim_grow(stream->items, &stream->item_capacity,
                      stream->item_head + stream->item_count + 1, sizeof *items);
  if (items == NULL) {
    return false;
  }
  stream->items = items;
  return true;
}

static bool reserve_touches(struct ashlar_sim_stream *stream, size_t more)
{
  if (more == 0) {
    return true;
  }
  if (more > SIZE_MAX / 2 - stream->touch_head - stream->touch_count) {
    return false;
  }
  if (stream->touch_head > 0 && stream->touch_head >= stream->touch_count &&
      stream->touch_head + stream->touch_count + more > stream->touch_capacity) {
    memmove(stream->touches, stream->touches + stream->touch_head,
            stream->touch_count * sizeof *stream->touches);
    stream->touch_head = 0;
  }
  struct ashlar_sim_touch *touches =
      ashlar_sim_grow(stream->touches, &stream->touch_capacity,
                      stream->touch_head + stream->touch_count + more, sizeof *touches);
  if (touches == NULL) {
    return false;
  }
  stream->touches = touches;
  return true;
}

/* Queues an item, for which there is room, and makes it part of what the stream knows. */
static void append(struct ashlar_sim_streams *streams, uint32_t slot, struct ashlar_sim_item item)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  item.queued_at = streams->now;
  stream->items[stream->item_head + stream->item_count] = item;
  stream->item_count++;
  stream->submitted++;
  streams->pending++;
  ashlar_sim_clock_learn(&stream->clock, (struct ashlar_sim_position){slot, stream->submitted});
}

static void release_queues(struct ashlar_sim_stream *stream)
{
  stream->item_head = 0;
  stream->touch_head = 0;
  if (stream->item_capacity > KEPT) {
    free(stream->items);
    stream->items = NULL;
    stream->item_capacity = 0;
  }
  if (stream->touch_capacity > KEPT) {
    free(stream->touches);
    stream->touches = NULL;
    stream->touch_capacity = 0;
  }
}

/* --- opening and closing --- */

void ashlar_sim_streams_init(struct ashlar_sim_streams *streams, struct ashlar_sim_hook hook)
{
  *streams = (struct ashlar_sim_streams){.hook = hook};
}

void ashlar_sim_streams_destroy(struct ashlar_sim_streams *streams)
{
  for (size_t i = 0; i < streams->count; i++) {
    ashlar_sim_clock_destroy(&streams->slot[i].clock);
    free(streams->slot[i].items);
    free(streams->slot[i].touches);
  }
  free(streams->slot);
  free(streams->slot_of);
  ashlar_sim_clock_destroy(&streams->host);
  ashlar_sim_handles_destroy(&streams->handles);
  *streams = (struct ashlar_sim_streams){0};
}

/* A slot that a new stream can have: a closed one whose work the host knows to be done, or the next
   one. */
static size_t choose_slot(const struct ashlar_sim_streams *streams)
{
  for (uint32_t i = 0; i < streams->count; i++) {
    const struct ashlar_sim_stream *stream = &streams->slot[i];
    if (!stream->open && stream->completed == stream->submitted &&
        ashlar_sim_clock_has(&streams->host, (struct ashlar_sim_position){i, stream->submitted})) {
      return i;
    }
  }
  return streams->count;
}

static bool reserve_stream(struct ashlar_sim_streams *streams)
{
  struct ashlar_sim_stream *slots =
      ashlar_sim_grow(streams->slot, &streams->capacity, streams->count + 1, sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  streams->slot = slots;
  uint32_t *slot_of = ashlar_sim_grow(streams->slot_of, &streams->slot_of_capacity,
                                      streams->handles.count + 1, sizeof *slot_of);
  if (slot_of == NULL) {
    return false;
  }
  streams->slot_of = slot_of;
  return true;
}

/* Makes the slot a stream of a device that knows what the host knows, which covers all earlier work
   of the slot. */
static void begin_stream(struct ashlar_sim_streams *streams, size_t slot, int32_t device)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (slot == streams->count) {
    *stream = (struct ashlar_sim_stream){0};
    streams->count++;
  }
  stream->handle = 0;
  stream->device = device;
  stream->open = true;
  stream->shadow = false;
  stream->capture = 0;
  stream->shadow_slot = ASHLAR_SIM_NONE;
  ashlar_sim_clock_reset(&stream->clock);
  stream->host_known = UINT64_MAX;
}

enum ashlar_sim_status ashlar_sim_stream_create(struct ashlar_sim_streams *streams, int32_t device,
                                                bool reuse, uint64_t *handle)
{
  const size_t slot = choose_slot(streams);
  if (slot >= ASHLAR_SIM_MOST_STREAMS) {
    return ASHLAR_SIM_LIMIT;
  }
  if (!reserve_stream(streams)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  const uint32_t entry = ashlar_sim_handle_open(&streams->handles, reuse, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  begin_stream(streams, slot, device);
  streams->slot[slot].handle = *handle;
  streams->slot_of[entry] = (uint32_t)slot;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_stream_shadow(struct ashlar_sim_streams *streams, int32_t device,
                                                const struct ashlar_sim_clock *clock,
                                                uint32_t *slot)
{
  const size_t chosen = choose_slot(streams);
  if (chosen >= ASHLAR_SIM_MOST_STREAMS) {
    return ASHLAR_SIM_LIMIT;
  }
  /* The host's room is for the day on which the shadow goes: that cannot fail then. */
  struct ashlar_sim_clock room = {0};
  if (!ashlar_sim_clock_reserve(&room, streams->count + 1) ||
      !ashlar_sim_clock_reserve(&streams->host, streams->count + 1) || !reserve_stream(streams)) {
    ashlar_sim_clock_destroy(&room);
    return ASHLAR_SIM_HOST_MEMORY;
  }
  ashlar_sim_clock_join(&room, clock);
  begin_stream(streams, chosen, device);
  struct ashlar_sim_stream *stream = &streams->slot[chosen];
  ashlar_sim_clock_destroy(&stream->clock);
  stream->clock = room;
  stream->shadow = true;
  *slot = (uint32_t)chosen;
  return ASHLAR_SIM_OK;
}

uint32_t ashlar_sim_stream_find(const struct ashlar_sim_streams *streams, uint64_t handle)
{
  const uint32_t entry = ashlar_sim_handle_find(&streams->handles, handle);
  return entry == ASHLAR_SIM_NONE ? ASHLAR_SIM_NONE : streams->slot_of[entry];
}

enum ashlar_sim_status ashlar_sim_stream_destroy(struct ashlar_sim_streams *streams,
                                                 uint64_t handle)
{
  const uint32_t entry = ashlar_sim_handle_find(&streams->handles, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_NO_STREAM;
  }
  streams->slot[streams->slot_of[entry]].open = false;
  ashlar_sim_handle_close(&streams->handles, entry);
  return ASHLAR_SIM_OK;
}

/* --- queueing --- */

enum ashlar_sim_status ashlar_sim_stream_refresh(struct ashlar_sim_streams *streams, uint32_t slot)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (!ashlar_sim_clock_reserve(&stream->clock, streams->count)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  if (stream->host_known != streams->host_version) {
    ashlar_sim_clock_join(&stream->clock, &streams->host);
    stream->host_known = streams->host_version;
  }
  return ASHLAR_SIM_OK;
}

static bool is_touch(struct ashlar_sim_touch touch)
{
  return touch.bytes > 0 && touch.bytes <= UINT64_MAX - touch.address;
}

enum ashlar_sim_status ashlar_sim_stream_submit(struct ashlar_sim_streams *streams, uint32_t slot,
                                                const struct ashlar_sim_work *work,
                                                struct ashlar_sim_position *position)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  for (size_t i = 0; i < work->touch_count; i++) {
    if (!is_touch(work->touches[i])) {
      return ASHLAR_SIM_RANGE;
    }
  }
  if (ashlar_sim_stream_refresh(streams, slot) != ASHLAR_SIM_OK) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  if (stream->shadow) {
    stream->submitted++;
    stream->completed++;
    *position = (struct ashlar_sim_position){slot, stream->submitted};
    ashlar_sim_clock_learn(&stream->clock, *position);
    return ASHLAR_SIM_OK;
  }
  if (!reserve_item(stream) || !reserve_touches(stream, work->touch_count)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  if (work->touch_count > 0) {
    memcpy(stream->touches + stream->touch_head + stream->touch_count, work->touches,
           work->touch_count * sizeof *stream->touches);
    stream->touch_count += work->touch_count;
  }
  append(streams, slot,
         (struct ashlar_sim_item){
             .kind = ASHLAR_SIM_ITEM_WORK, .touch_count = work->touch_count, .ticks = work->ticks});
  *position = (struct ashlar_sim_position){slot, stream->submitted};
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_stream_wait(struct ashlar_sim_streams *streams, uint32_t slot,
                                              struct ashlar_sim_position position,
                                              const struct ashlar_sim_clock *clock)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (!reserve_item(stream) || ashlar_sim_stream_refresh(streams, slot) != ASHLAR_SIM_OK) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  ashlar_sim_clock_join(&stream->clock, clock);
  /* What is done, and what a stream waits for in itself, needs no item: only the order counts. */
  if (!stream->shadow && position.slot != slot && !ashlar_sim_stream_reached(streams, position)) {
    append(streams, slot, (struct ashlar_sim_item){.kind = ASHLAR_SIM_ITEM_WAIT, .wait = position});
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_stream_gate(struct ashlar_sim_streams *streams, uint32_t slot)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (!reserve_item(stream) || ashlar_sim_stream_refresh(streams, slot) != ASHLAR_SIM_OK) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  append(streams, slot, (struct ashlar_sim_item){.kind = ASHLAR_SIM_ITEM_GATE});
  stream->gates++;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_stream_open(struct ashlar_sim_streams *streams, uint32_t slot)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (stream->gates_open == stream->gates) {
    return ASHLAR_SIM_NO_GATE;
  }
  stream->gates_open++;
  return ASHLAR_SIM_OK;
}

bool ashlar_sim_stream_reached(const struct ashlar_sim_streams *streams,
                               struct ashlar_sim_position position)
{
  return streams->slot[position.slot].completed >= position.at;
}

/* --- running --- */

/* Why the next item of a stream cannot run; OK if it can. */
static enum ashlar_sim_status head_status(const struct ashlar_sim_streams *streams, uint32_t slot)
{
  const struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (stream->items == NULL || stream->item_count == 0) {
    return ASHLAR_SIM_IDLE;
  }
  const struct ashlar_sim_item *item = &stream->items[stream->item_head];
  if (item->kind == ASHLAR_SIM_ITEM_WAIT && !ashlar_sim_stream_reached(streams, item->wait)) {
    return ASHLAR_SIM_BLOCKED;
  }
  if (item->kind == ASHLAR_SIM_ITEM_GATE && stream->gates_open == 0) {
    return ASHLAR_SIM_HELD;
  }
  return ASHLAR_SIM_OK;
}

/* Runs the next item of a stream, which can run. */
static void run_head(struct ashlar_sim_streams *streams, uint32_t slot)
{
  struct ashlar_sim_stream *stream = &streams->slot[slot];
  const struct ashlar_sim_item item = stream->items[stream->item_head];
  stream->item_head++;
  stream->item_count--;
  stream->completed++;
  stream->free_at = streams->now;
  streams->pending--;
  streams->ran++;
  if (item.kind == ASHLAR_SIM_ITEM_GATE) {
    stream->gates--;
    stream->gates_open--;
  }
  if (item.kind == ASHLAR_SIM_ITEM_WORK && streams->hook.ran != NULL) {
    const struct ashlar_sim_touch *touches =
        item.touch_count == 0 ? NULL : stream->touches + stream->touch_head;
    streams->hook.ran(streams->hook.context, (struct ashlar_sim_position){slot, stream->completed},
                      touches, item.touch_count);
  }
  stream->touch_head += item.touch_count;
  stream->touch_count -= item.touch_count;
  if (stream->item_count == 0) {
    release_queues(stream);
  }
}

enum ashlar_sim_status ashlar_sim_stream_run_one(struct ashlar_sim_streams *streams, uint32_t slot)
{
  const enum ashlar_sim_status status = head_status(streams, slot);
  if (status == ASHLAR_SIM_OK) {
    run_head(streams, slot);
  }
  return status;
}

enum ashlar_sim_status ashlar_sim_stream_run(struct ashlar_sim_streams *streams, uint32_t slot)
{
  enum ashlar_sim_status status = ASHLAR_SIM_OK;
  while (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_stream_run_one(streams, slot);
  }
  return status == ASHLAR_SIM_IDLE ? ASHLAR_SIM_OK : status;
}

/* Runs one item that the next item of a stream needs, which may be that item. Each wait leads to an
   item that was queued before the wait was, so the search ends. */
static enum ashlar_sim_status run_towards(struct ashlar_sim_streams *streams, uint32_t slot)
{
  enum ashlar_sim_status status = ashlar_sim_stream_run_one(streams, slot);
  while (status == ASHLAR_SIM_BLOCKED) {
    const struct ashlar_sim_stream *stream = &streams->slot[slot];
    slot = stream->items[stream->item_head].wait.slot;
    status = ashlar_sim_stream_run_one(streams, slot);
  }
  return status;
}

enum ashlar_sim_status ashlar_sim_streams_run_until(struct ashlar_sim_streams *streams,
                                                    struct ashlar_sim_position position)
{
  while (!ashlar_sim_stream_reached(streams, position)) {
    if (run_towards(streams, position.slot) != ASHLAR_SIM_OK) {
      return ASHLAR_SIM_DEADLOCK;
    }
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_streams_run_all(struct ashlar_sim_streams *streams)
{
  enum ashlar_sim_status result = ASHLAR_SIM_OK;
  for (uint32_t i = 0; i < streams->count; i++) {
    const enum ashlar_sim_status status = ashlar_sim_streams_run_until(
        streams, (struct ashlar_sim_position){i, streams->slot[i].submitted});
    if (status != ASHLAR_SIM_OK) {
      result = status;
    }
  }
  return result;
}

static uint64_t later(uint64_t time, uint64_t other)
{
  return time > other ? time : other;
}

static uint64_t plus(uint64_t time, uint64_t ticks)
{
  return ticks > UINT64_MAX - time ? UINT64_MAX : time + ticks;
}

/* When the next item of a stream, which can run, ends. */
static uint64_t end_of_head(const struct ashlar_sim_streams *streams, uint32_t slot)
{
  const struct ashlar_sim_stream *stream = &streams->slot[slot];
  const struct ashlar_sim_item *item = &stream->items[stream->item_head];
  const uint64_t start = later(stream->free_at, item->queued_at);
  /* A wait and a gate pass at the moment at which they can. */
  return item->kind == ASHLAR_SIM_ITEM_WORK ? plus(start, item->ticks) : later(start, streams->now);
}

uint64_t ashlar_sim_streams_advance(struct ashlar_sim_streams *streams, uint64_t ticks)
{
  const uint64_t target = plus(streams->now, ticks);
  const uint64_t before = streams->ran;
  uint32_t first = 0;
  while (first != ASHLAR_SIM_NONE) {
    uint64_t first_end = target;
    first = ASHLAR_SIM_NONE;
    for (uint32_t i = 0; i < streams->count; i++) {
      if (head_status(streams, i) == ASHLAR_SIM_OK) {
        const uint64_t end = end_of_head(streams, i);
        if (end < first_end || (end == first_end && first == ASHLAR_SIM_NONE)) {
          first = i;
          first_end = end;
        }
      }
    }
    if (first != ASHLAR_SIM_NONE) {
      streams->now = later(streams->now, first_end);
      run_head(streams, first);
    }
  }
  streams->now = target;
  return streams->ran - before;
}

/* --- the host --- */

enum ashlar_sim_status ashlar_sim_host_learns(struct ashlar_sim_streams *streams,
                                              const struct ashlar_sim_clock *clock)
{
  if (!ashlar_sim_clock_reserve(&streams->host, streams->count)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  ashlar_sim_clock_join(&streams->host, clock);
  streams->host_version++;
  return ASHLAR_SIM_OK;
}
