/* event.c - see event.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/event.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/sim/array.h"

void ashlar_sim_events_destroy(struct ashlar_sim_events *events)
{
  for (size_t i = 0; i < events->handles.count; i++) {
    ashlar_sim_clock_destroy(&events->event[i].clock);
  }
  free(events->event);
  ashlar_sim_handles_destroy(&events->handles);
  *events = (struct ashlar_sim_events){0};
}

enum ashlar_sim_status ashlar_sim_event_create(struct ashlar_sim_events *events, int32_t device,
                                               bool reuse, uint64_t *handle)
{
  const size_t count = events->handles.count;
  struct ashlar_sim_event *moved =
      ashlar_sim_grow(events->event, &events->capacity, count + 1, sizeof *events->event);
  if (moved == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  events->event = moved;
  const uint32_t entry = ashlar_sim_handle_open(&events->handles, reuse, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  struct ashlar_sim_event *event = &events->event[entry];
  if (entry == count) {
    *event = (struct ashlar_sim_event){0};
  }
  event->device = device;
  event->recorded = false;
  event->capture = 0;
  events->open++;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_event_destroy(struct ashlar_sim_events *events, uint64_t handle)
{
  const uint32_t entry = ashlar_sim_handle_find(&events->handles, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_NO_EVENT;
  }
  ashlar_sim_handle_close(&events->handles, entry);
  events->open--;
  return ASHLAR_SIM_OK;
}

struct ashlar_sim_event *ashlar_sim_event_find(const struct ashlar_sim_events *events,
                                               uint64_t handle)
{
  const uint32_t entry = ashlar_sim_handle_find(&events->handles, handle);
  return entry == ASHLAR_SIM_NONE ? NULL : &events->event[entry];
}

enum ashlar_sim_status ashlar_sim_event_record(struct ashlar_sim_event *event,
                                               struct ashlar_sim_streams *streams, uint32_t slot)
{
  const struct ashlar_sim_stream *stream = &streams->slot[slot];
  if (event->device != stream->device) {
    return ASHLAR_SIM_WRONG_DEVICE;
  }
  if (ashlar_sim_stream_refresh(streams, slot) != ASHLAR_SIM_OK ||
      !ashlar_sim_clock_reserve(&event->clock, streams->count)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  ashlar_sim_clock_reset(&event->clock);
  ashlar_sim_clock_join(&event->clock, &stream->clock);
  event->position = (struct ashlar_sim_position){slot, stream->submitted};
  event->capture = stream->capture;
  event->recorded = true;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_event_query(const struct ashlar_sim_event *event,
                                              struct ashlar_sim_streams *streams)
{
  if (!event->recorded) {
    return ASHLAR_SIM_OK;
  }
  if (!ashlar_sim_stream_reached(streams, event->position)) {
    return ASHLAR_SIM_NOT_READY;
  }
  return ashlar_sim_host_learns(streams, &event->clock);
}

enum ashlar_sim_status ashlar_sim_event_wait(const struct ashlar_sim_event *event,
                                             struct ashlar_sim_streams *streams)
{
  if (!event->recorded) {
    return ASHLAR_SIM_OK;
  }
  const enum ashlar_sim_status status = ashlar_sim_streams_run_until(streams, event->position);
  return status == ASHLAR_SIM_OK ? ashlar_sim_host_learns(streams, &event->clock) : status;
}

enum ashlar_sim_status ashlar_sim_event_block(const struct ashlar_sim_event *event,
                                              struct ashlar_sim_streams *streams, uint32_t slot)
{
  if (!event->recorded) {
    return ASHLAR_SIM_OK;
  }
  return ashlar_sim_stream_wait(streams, slot, event->position, &event->clock);
}
