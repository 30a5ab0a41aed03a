/* machine.c - see machine.h: making a machine, and judging calls.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/sim/machine_check.h"

/* --- making one --- */

/* Whether a range lies in what a device may touch: segments of any device, and mappings that it has
   access to. */
static bool may_touch(const struct ashlar_sim_machine *machine, int32_t device,
                      struct ashlar_sim_touch touch)
{
  uint64_t address = touch.address;
  const uint64_t end = touch.address + touch.bytes;
  while (address < end) {
    const struct ashlar_sim_segment *segment = NULL;
    for (int32_t i = 0; i < machine->device_count && segment == NULL; i++) {
      segment = ashlar_sim_segment_at(&machine->device[i], address);
    }
    if (segment == NULL) {
      return ashlar_sim_is_accessible(&machine->memory, address, end - address, device);
    }
    address = segment->address + segment->bytes;
  }
  return true;
}

static void check_touches(void *context, struct ashlar_sim_position position,
                          const struct ashlar_sim_touch *touches, size_t touch_count)
{
  struct ashlar_sim_machine *machine = context;
  const struct ashlar_sim_stream *stream = &machine->streams.slot[position.slot];
  for (size_t i = 0; i < touch_count; i++) {
    if (!may_touch(machine, stream->device, touches[i])) {
      ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_FAULT,
                         "item %" PRIu64 " of stream 0x%" PRIx64 " on device %" PRId32
                         " %s memory it may not touch: 0x%" PRIx64 ", %" PRIu64 " bytes",
                         position.at, stream->handle, stream->device,
                         touches[i].writes ? "writes" : "reads", touches[i].address,
                         touches[i].bytes);
    }
  }
}

enum ashlar_sim_status ashlar_sim_machine_init(struct ashlar_sim_machine *machine,
                                               const struct ashlar_sim_machine_config *config)
{
  if (config->device_count < 1 || config->device_count > ASHLAR_SIM_MOST_DEVICES) {
    return ASHLAR_SIM_RANGE;
  }
  *machine = (struct ashlar_sim_machine){.device_count = config->device_count,
                                         .behaviour = config->behaviour};
  machine->device = calloc((size_t)config->device_count, sizeof *machine->device);
  if (machine->device == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  for (int32_t i = 0; i < config->device_count; i++) {
    struct ashlar_sim_config device = config->devices[i];
    if (device.base == 0) {
      device.base = ((uint64_t)i + 1) * ASHLAR_SIM_DEVICE_SPACE;
    }
    ashlar_sim_init(&machine->device[i], device);
  }
  ashlar_sim_virtual_init(&machine->memory, ASHLAR_SIM_VIRTUAL_BASE, config->address_budget);
  ashlar_sim_streams_init(&machine->streams,
                          (struct ashlar_sim_hook){.ran = check_touches, .context = machine});
  return ASHLAR_SIM_OK;
}

void ashlar_sim_machine_destroy(struct ashlar_sim_machine *machine)
{
  for (int32_t i = 0; i < machine->device_count; i++) {
    ashlar_sim_destroy(&machine->device[i]);
  }
  free(machine->device);
  ashlar_sim_virtual_destroy(&machine->memory);
  ashlar_sim_captures_destroy(&machine->captures);
  ashlar_sim_events_destroy(&machine->events);
  ashlar_sim_race_log_destroy(&machine->races);
  ashlar_sim_streams_destroy(&machine->streams);
  *machine = (struct ashlar_sim_machine){0};
}

struct ashlar_sim_left ashlar_sim_machine_left(const struct ashlar_sim_machine *machine)
{
  struct ashlar_sim_left left = {
      .reservations = machine->memory.reservation_count,
      .mappings = machine->memory.mapping_count,
      .pieces = machine->memory.piece_count,
      .events = machine->events.open,
      .captures = machine->captures.active,
      .graphs = machine->captures.count - machine->captures.active,
      .items = machine->streams.pending,
  };
  for (int32_t i = 0; i < machine->device_count; i++) {
    left.segments += machine->device[i].segment_count;
  }
  for (size_t i = 0; i < machine->streams.count; i++) {
    const struct ashlar_sim_stream *stream = &machine->streams.slot[i];
    left.streams += stream->open && !stream->shadow ? 1 : 0;
  }
  return left;
}

uint64_t ashlar_sim_machine_violations(const struct ashlar_sim_machine *machine)
{
  uint64_t count = 0;
  for (size_t i = 0; i < ASHLAR_SIM_VIOLATIONS; i++) {
    count += machine->violation[i].count;
  }
  return count;
}

/* --- violations --- */

void ashlar_sim_violate(struct ashlar_sim_machine *machine, enum ashlar_sim_violation kind,
                        const char *format, ...)
{
  struct ashlar_sim_violation_record *record = &machine->violation[kind];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(record->last, sizeof record->last, format, arguments);
  va_end(arguments);
  record->count++;
}

static const char *race_name(enum ashlar_sim_race_kind kind)
{
  switch (kind) {
  case ASHLAR_SIM_RACE_HANDED:
    return "handed to";
  case ASHLAR_SIM_RACE_TOUCHED:
    return "touched by";
  default:
    return "released by";
  }
}

void ashlar_sim_violate_races(struct ashlar_sim_machine *machine, uint64_t before)
{
  for (uint64_t i = before; i < machine->races.race_count; i++) {
    if (i >= ASHLAR_SIM_RACES_KEPT) {
      machine->violation[ASHLAR_SIM_VIOLATION_RACE].count++;
      continue;
    }
    const struct ashlar_sim_race *race = &machine->races.race[i];
    const bool by_host = race->later.slot == ASHLAR_SIM_NONE;
    ashlar_sim_violate(
        machine, ASHLAR_SIM_VIOLATION_RACE,
        "0x%" PRIx64 ", %" PRIu64 " bytes, %s %s 0x%" PRIx64 " (item %" PRIu64
        ") without waiting for item %" PRIu64 " of stream 0x%" PRIx64 ", which %s it",
        race->address, race->bytes, race_name(race->kind), by_host ? "host" : "stream",
        by_host ? 0 : machine->streams.slot[race->later.slot].handle, race->later.at,
        race->earlier.at, machine->streams.slot[race->earlier.slot].handle,
        race->earlier_writes ? "writes" : "reads");
  }
}

/* --- judging --- */

enum ashlar_sim_status ashlar_sim_judge_device(struct ashlar_sim_machine *machine,
                                               enum ashlar_sim_call call, int32_t device)
{
  if (device < 0 || device >= machine->device_count) {
    return ASHLAR_SIM_NO_DEVICE;
  }
  if (device != machine->current) {
    ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_DEVICE,
                       "%s on device %" PRId32 " while device %" PRId32 " is current",
                       ashlar_sim_call_name(call), device, machine->current);
    return ASHLAR_SIM_WRONG_DEVICE;
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_judge_capture(struct ashlar_sim_machine *machine,
                                                enum ashlar_sim_call call)
{
  if (machine->captures.active == 0 || machine->behaviour.relaxed_capture) {
    return ASHLAR_SIM_OK;
  }
  ashlar_sim_capture_invalidate_all(&machine->captures);
  ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_CAPTURE,
                     "%s while a capture is in progress that is not relaxed",
                     ashlar_sim_call_name(call));
  return ASHLAR_SIM_CAPTURE_FORBIDS;
}

enum ashlar_sim_status ashlar_sim_judge_stream_capture(struct ashlar_sim_machine *machine,
                                                       enum ashlar_sim_call call, uint32_t slot)
{
  const struct ashlar_sim_stream *stream = &machine->streams.slot[slot];
  if (stream->capture == 0) {
    return ASHLAR_SIM_OK;
  }
  ashlar_sim_capture_invalidate(&machine->captures, stream->capture);
  ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_CAPTURE,
                     "%s of stream 0x%" PRIx64 ", which captures", ashlar_sim_call_name(call),
                     stream->handle);
  return ASHLAR_SIM_CAPTURE_FORBIDS;
}

enum ashlar_sim_status ashlar_sim_judge_device_capture(struct ashlar_sim_machine *machine,
                                                       enum ashlar_sim_call call, int32_t device)
{
  enum ashlar_sim_status result = ASHLAR_SIM_OK;
  if (machine->captures.active == 0) {
    return result;
  }
  for (uint32_t i = 0; i < machine->streams.count; i++) {
    const struct ashlar_sim_stream *stream = &machine->streams.slot[i];
    if (stream->capture == 0 || stream->shadow || stream->device != device) {
      continue;
    }
    ashlar_sim_capture_invalidate(&machine->captures, stream->capture);
    if (result == ASHLAR_SIM_OK) {
      ashlar_sim_violate(machine, ASHLAR_SIM_VIOLATION_CAPTURE,
                         "%s waits for device %" PRId32 ", of which stream 0x%" PRIx64 " captures",
                         ashlar_sim_call_name(call), device, stream->handle);
    }
    result = ASHLAR_SIM_CAPTURE_FORBIDS;
  }
  return result;
}

enum ashlar_sim_status ashlar_sim_wait_for_device(struct ashlar_sim_machine *machine,
                                                  int32_t device)
{
  struct ashlar_sim_streams *streams = &machine->streams;
  enum ashlar_sim_status status = ASHLAR_SIM_OK;
  for (uint32_t i = 0; i < streams->count && status == ASHLAR_SIM_OK; i++) {
    const struct ashlar_sim_stream *stream = &streams->slot[i];
    if (stream->device != device || stream->shadow) {
      continue;
    }
    status =
        ashlar_sim_streams_run_until(streams, (struct ashlar_sim_position){i, stream->submitted});
    if (status == ASHLAR_SIM_OK &&
        !ashlar_sim_clock_has(&streams->host, (struct ashlar_sim_position){i, stream->submitted})) {
      status = ashlar_sim_host_learns(streams, &stream->clock);
    }
  }
  return status;
}
