/* machine_stream.c - see machine.h: the calls about streams, events and captures.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "cuda/sim/machine.h"
#include "cuda/sim/machine_check.h"

/* What all calls about a stream begin with: its slot. */
static enum ashlar_sim_status begin(struct ashlar_sim_machine *machine, enum ashlar_sim_call call,
                                    uint64_t stream, uint32_t *slot)
{
  if (ashlar_sim_call_fails(&machine->failures, call)) {
    return ASHLAR_SIM_FAILED;
  }
  *slot = ashlar_sim_stream_find(&machine->streams, stream);
  return *slot == ASHLAR_SIM_NONE ? ASHLAR_SIM_NO_STREAM : ASHLAR_SIM_OK;
}

/* The slot that work of a stream goes to: the stream's, or its shadow's. CAPTURE_INVALID where it
   goes nowhere. */
static enum ashlar_sim_status find_queue(const struct ashlar_sim_machine *machine, uint32_t *slot)
{
  const struct ashlar_sim_stream *stream = &machine->streams.slot[*slot];
  if (stream->capture == 0) {
    return ASHLAR_SIM_OK;
  }
  if (ashlar_sim_capture_find(&machine->captures, stream->capture)->invalid) {
    return ASHLAR_SIM_CAPTURE_INVALID;
  }
  *slot = stream->shadow_slot;
  return ASHLAR_SIM_OK;
}

/* --- streams --- */

enum ashlar_sim_status ashlar_sim_machine_stream_create(struct ashlar_sim_machine *machine,
                                                        int32_t device, uint64_t *stream)
{
  if (ashlar_sim_call_fails(&machine->failures, ASHLAR_SIM_CALL_STREAM_CREATE)) {
    return ASHLAR_SIM_FAILED;
  }
  const enum ashlar_sim_status status =
      ashlar_sim_judge_device(machine, ASHLAR_SIM_CALL_STREAM_CREATE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_stream_create(&machine->streams, device,
                                  machine->behaviour.reuse_stream_handles, stream);
}

enum ashlar_sim_status ashlar_sim_machine_stream_destroy(struct ashlar_sim_machine *machine,
                                                         uint64_t stream)
{
  uint32_t slot = 0;
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_STREAM_DESTROY, stream, &slot);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_stream_capture(machine, ASHLAR_SIM_CALL_STREAM_DESTROY, slot);
  }
  return status == ASHLAR_SIM_OK ? ashlar_sim_stream_destroy(&machine->streams, stream) : status;
}

enum ashlar_sim_status ashlar_sim_machine_submit(struct ashlar_sim_machine *machine,
                                                 uint64_t stream,
                                                 const struct ashlar_sim_work *work)
{
  uint32_t slot = 0;
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_SUBMIT, stream, &slot);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_device(machine, ASHLAR_SIM_CALL_SUBMIT,
                                     machine->streams.slot[slot].device);
  }
  if (status == ASHLAR_SIM_OK) {
    status = find_queue(machine, &slot);
  }
  struct ashlar_sim_position position = {0};
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_stream_submit(&machine->streams, slot, work, &position);
  }
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const uint64_t races = machine->races.race_count;
  for (size_t i = 0; i < work->touch_count; i++) {
    (void)ashlar_sim_race_touch(&machine->races, &machine->streams, position, work->touches[i]);
  }
  ashlar_sim_violate_races(machine, races);
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_machine_stream_query(struct ashlar_sim_machine *machine,
                                                       uint64_t stream)
{
  uint32_t slot = 0;
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_STREAM_QUERY, stream, &slot);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_stream_capture(machine, ASHLAR_SIM_CALL_STREAM_QUERY, slot);
  }
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_capture(machine, ASHLAR_SIM_CALL_STREAM_QUERY);
  }
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const struct ashlar_sim_stream *queried = &machine->streams.slot[slot];
  if (queried->completed < queried->submitted) {
    return ASHLAR_SIM_NOT_READY;
  }
  return ashlar_sim_host_learns(&machine->streams, &queried->clock);
}

enum ashlar_sim_status ashlar_sim_machine_stream_synchronize(struct ashlar_sim_machine *machine,
                                                             uint64_t stream)
{
  const enum ashlar_sim_call call = ASHLAR_SIM_CALL_STREAM_SYNCHRONIZE;
  uint32_t slot = 0;
  enum ashlar_sim_status status = begin(machine, call, stream, &slot);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_stream_capture(machine, call, slot);
  }
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_capture(machine, call);
  }
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const struct ashlar_sim_stream *awaited = &machine->streams.slot[slot];
  status = ashlar_sim_streams_run_until(&machine->streams,
                                        (struct ashlar_sim_position){slot, awaited->submitted});
  return status == ASHLAR_SIM_OK ? ashlar_sim_host_learns(&machine->streams, &awaited->clock)
                                 : status;
}

enum ashlar_sim_status ashlar_sim_machine_device_synchronize(struct ashlar_sim_machine *machine,
                                                             int32_t device)
{
  const enum ashlar_sim_call call = ASHLAR_SIM_CALL_DEVICE_SYNCHRONIZE;
  if (ashlar_sim_call_fails(&machine->failures, call)) {
    return ASHLAR_SIM_FAILED;
  }
  enum ashlar_sim_status status = ashlar_sim_judge_device(machine, call, device);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_device_capture(machine, call, device);
  }
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_judge_capture(machine, call);
  }
  return status == ASHLAR_SIM_OK ? ashlar_sim_wait_for_device(machine, device) : status;
}

/* --- waits between streams --- */

/* A wait would cross the border of a capture. */
static enum ashlar_sim_status isolate(struct ashlar_sim_machine *machine, uint64_t capture,
                                      uint64_t other, uint64_t stream)
{
  ashlar_sim_capture_invalidate(&machine->captures, capture);
  ashlar_sim_capture_invalidate(&machine->captures, other);
  ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_CAPTURE,
                     "stream 0x%" PRIx64 " waits across the border of a capture", stream);
  return ASHLAR_SIM_CAPTURE_ISOLATION;
}

/* A stream waits for an event that was recorded in a capture. */
static enum ashlar_sim_status wait_captured(struct ashlar_sim_machine *machine, uint32_t slot,
                                            const struct ashlar_sim_event *event)
{
  struct ashlar_sim_streams *streams = &machine->streams;
  const struct ashlar_sim_stream *stream = &streams->slot[slot];
  const struct ashlar_sim_capture *capture =
      ashlar_sim_capture_find(&machine->captures, event->capture);
  if (capture == NULL || capture->ended ||
      (stream->capture != 0 && stream->capture != event->capture)) {
    return isolate(machine, stream->capture, event->capture, stream->handle);
  }
  if (capture->invalid) {
    return ASHLAR_SIM_CAPTURE_INVALID;
  }
  if (stream->capture == 0) {
    return ashlar_sim_capture_join(&machine->captures, streams, event->capture, slot,
                                   &event->clock);
  }
  return ashlar_sim_event_block(event, streams, stream->shadow_slot);
}

enum ashlar_sim_status ashlar_sim_machine_stream_wait(struct ashlar_sim_machine *machine,
                                                      uint64_t stream, uint64_t event)
{
  uint32_t slot = 0;
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_STREAM_WAIT, stream, &slot);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const struct ashlar_sim_event *awaited = ashlar_sim_event_find(&machine->events, event);
  if (awaited == NULL) {
    return ASHLAR_SIM_NO_EVENT;
  }
  if (awaited->recorded && awaited->capture != 0) {
    return wait_captured(machine, slot, awaited);
  }
  if (awaited->recorded && machine->streams.slot[slot].capture != 0) {
    return isolate(machine, machine->streams.slot[slot].capture, 0, stream);
  }
  return ashlar_sim_event_block(awaited, &machine->streams, slot);
}

/* --- events --- */

enum ashlar_sim_status ashlar_sim_machine_event_create(struct ashlar_sim_machine *machine,
                                                       int32_t device, uint64_t *event)
{
  if (ashlar_sim_call_fails(&machine->failures, ASHLAR_SIM_CALL_EVENT_CREATE)) {
    return ASHLAR_SIM_FAILED;
  }
  const enum ashlar_sim_status status =
      ashlar_sim_judge_device(machine, ASHLAR_SIM_CALL_EVENT_CREATE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_event_create(&machine->events, device, machine->behaviour.reuse_event_handles,
                                 event);
}

enum ashlar_sim_status ashlar_sim_machine_event_destroy(struct ashlar_sim_machine *machine,
                                                        uint64_t event)
{
  if (ashlar_sim_call_fails(&machine->failures, ASHLAR_SIM_CALL_EVENT_DESTROY)) {
    return ASHLAR_SIM_FAILED;
  }
  return ashlar_sim_event_destroy(&machine->events, event);
}

enum ashlar_sim_status ashlar_sim_machine_event_record(struct ashlar_sim_machine *machine,
                                                       uint64_t event, uint64_t stream)
{
  uint32_t slot = 0;
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_EVENT_RECORD, stream, &slot);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  struct ashlar_sim_event *recorded = ashlar_sim_event_find(&machine->events, event);
  if (recorded == NULL) {
    return ASHLAR_SIM_NO_EVENT;
  }
  status = ashlar_sim_judge_device(machine, ASHLAR_SIM_CALL_EVENT_RECORD,
                                   machine->streams.slot[slot].device);
  if (status == ASHLAR_SIM_OK) {
    status = find_queue(machine, &slot);
  }
  return status == ASHLAR_SIM_OK ? ashlar_sim_event_record(recorded, &machine->streams, slot)
                                 : status;
}

/* What a query and a synchronize of an event begin with. */
static enum ashlar_sim_status begin_event(struct ashlar_sim_machine *machine,
                                          enum ashlar_sim_call call, uint64_t event,
                                          const struct ashlar_sim_event **found)
{
  if (ashlar_sim_call_fails(&machine->failures, call)) {
    return ASHLAR_SIM_FAILED;
  }
  *found = ashlar_sim_event_find(&machine->events, event);
  if (*found == NULL) {
    return ASHLAR_SIM_NO_EVENT;
  }
  if ((*found)->recorded && (*found)->capture != 0) {
    ashlar_sim_capture_invalidate(&machine->captures, (*found)->capture);
    ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_CAPTURE,
                       "%s of event 0x%" PRIx64 ", which was recorded in a capture",
                       ashlar_sim_call_name(call), event);
    return ASHLAR_SIM_CAPTURE_FORBIDS;
  }
  return ashlar_sim_judge_capture(machine, call);
}

enum ashlar_sim_status ashlar_sim_machine_event_query(struct ashlar_sim_machine *machine,
                                                      uint64_t event)
{
  const struct ashlar_sim_event *queried = NULL;
  const enum ashlar_sim_status status =
      begin_event(machine, ASHLAR_SIM_CALL_EVENT_QUERY, event, &queried);
  return status == ASHLAR_SIM_OK ? ashlar_sim_event_query(queried, &machine->streams) : status;
}

enum ashlar_sim_status ashlar_sim_machine_event_synchronize(struct ashlar_sim_machine *machine,
                                                            uint64_t event)
{
  const struct ashlar_sim_event *awaited = NULL;
  const enum ashlar_sim_status status =
      begin_event(machine, ASHLAR_SIM_CALL_EVENT_SYNCHRONIZE, event, &awaited);
  return status == ASHLAR_SIM_OK ? ashlar_sim_event_wait(awaited, &machine->streams) : status;
}

/* --- captures --- */

enum ashlar_sim_status ashlar_sim_machine_capture_begin(struct ashlar_sim_machine *machine,
                                                        uint64_t stream, uint64_t after,
                                                        uint64_t *capture)
{
  uint32_t slot = 0;
  const enum ashlar_sim_status status =
      begin(machine, ASHLAR_SIM_CALL_CAPTURE_BEGIN, stream, &slot);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_capture_begin(&machine->captures, &machine->streams, slot, after, capture);
}

enum ashlar_sim_status ashlar_sim_machine_capture_end(struct ashlar_sim_machine *machine,
                                                      uint64_t stream)
{
  uint32_t slot = 0;
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_CAPTURE_END, stream, &slot);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_capture_end(&machine->captures, &machine->streams, slot);
}

/* --- what the test does --- */

enum ashlar_sim_status ashlar_sim_machine_capture_spoil(struct ashlar_sim_machine *machine,
                                                        uint64_t stream)
{
  const uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  if (slot == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_NO_STREAM;
  }
  if (machine->streams.slot[slot].capture == 0) {
    return ASHLAR_SIM_NOT_CAPTURING;
  }
  ashlar_sim_capture_invalidate(&machine->captures, machine->streams.slot[slot].capture);
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_machine_graph_destroy(struct ashlar_sim_machine *machine,
                                                        uint64_t graph)
{
  return ashlar_sim_graph_destroy(&machine->captures, &machine->streams, graph);
}

enum ashlar_sim_status ashlar_sim_machine_hand_over(struct ashlar_sim_machine *machine,
                                                    uint64_t stream, uint64_t address,
                                                    uint64_t bytes)
{
  uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  if (slot == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_NO_STREAM;
  }
  if (bytes == 0 || bytes > UINT64_MAX - address) {
    return ASHLAR_SIM_RANGE;
  }
  if (machine->streams.slot[slot].capture != 0) {
    slot = machine->streams.slot[slot].shadow_slot;
  }
  if (ashlar_sim_stream_refresh(&machine->streams, slot) != ASHLAR_SIM_OK) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  const uint64_t races = machine->races.race_count;
  (void)ashlar_sim_race_hand_over(&machine->races, &machine->streams, slot, address, bytes);
  ashlar_sim_violate_races(machine, races);
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_machine_hold(struct ashlar_sim_machine *machine, uint64_t stream)
{
  const uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  if (slot == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_NO_STREAM;
  }
  if (machine->streams.slot[slot].capture != 0) {
    return ASHLAR_SIM_CAPTURING;
  }
  return ashlar_sim_stream_gate(&machine->streams, slot);
}

enum ashlar_sim_status ashlar_sim_machine_let_go(struct ashlar_sim_machine *machine,
                                                 uint64_t stream)
{
  const uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  return slot == ASHLAR_SIM_NONE ? ASHLAR_SIM_NO_STREAM
                                 : ashlar_sim_stream_open(&machine->streams, slot);
}

enum ashlar_sim_status ashlar_sim_machine_drain_one(struct ashlar_sim_machine *machine,
                                                    uint64_t stream)
{
  const uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  return slot == ASHLAR_SIM_NONE ? ASHLAR_SIM_NO_STREAM
                                 : ashlar_sim_stream_run_one(&machine->streams, slot);
}

enum ashlar_sim_status ashlar_sim_machine_drain(struct ashlar_sim_machine *machine, uint64_t stream)
{
  const uint32_t slot = ashlar_sim_stream_find(&machine->streams, stream);
  return slot == ASHLAR_SIM_NONE ? ASHLAR_SIM_NO_STREAM
                                 : ashlar_sim_stream_run(&machine->streams, slot);
}

enum ashlar_sim_status ashlar_sim_machine_drain_all(struct ashlar_sim_machine *machine)
{
  return ashlar_sim_streams_run_all(&machine->streams);
}

uint64_t ashlar_sim_machine_advance(struct ashlar_sim_machine *machine, uint64_t ticks)
{
  return ashlar_sim_streams_advance(&machine->streams, ticks);
}
