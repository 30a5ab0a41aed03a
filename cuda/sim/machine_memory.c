/* machine_memory.c - see machine.h: the calls about devices and memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/machine.h"
#include "cuda/sim/machine_check.h"

/* What all calls about the memory of a device begin with. */
static enum ashlar_sim_status begin(struct ashlar_sim_machine *machine, enum ashlar_sim_call call,
                                    int32_t device)
{
  if (ashlar_sim_call_fails(&machine->failures, call)) {
    return ASHLAR_SIM_FAILED;
  }
  const enum ashlar_sim_status status = ashlar_sim_judge_device(machine, call, device);
  return status == ASHLAR_SIM_OK ? ashlar_sim_judge_capture(machine, call) : status;
}

/* The same where no device need be current. */
static enum ashlar_sim_status begin_anywhere(struct ashlar_sim_machine *machine,
                                             enum ashlar_sim_call call)
{
  if (ashlar_sim_call_fails(&machine->failures, call)) {
    return ASHLAR_SIM_FAILED;
  }
  return ashlar_sim_judge_capture(machine, call);
}

enum ashlar_sim_status ashlar_sim_machine_set_device(struct ashlar_sim_machine *machine,
                                                     int32_t device)
{
  if (ashlar_sim_call_fails(&machine->failures, ASHLAR_SIM_CALL_SET_DEVICE)) {
    return ASHLAR_SIM_FAILED;
  }
  if (device < 0 || device >= machine->device_count) {
    return ASHLAR_SIM_NO_DEVICE;
  }
  machine->current = device;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_machine_allocate(struct ashlar_sim_machine *machine,
                                                   int32_t device, uint64_t bytes,
                                                   uint64_t *address)
{
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_ALLOCATE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const struct ashlar_sim_result result = ashlar_sim_allocate(&machine->device[device], bytes, 0);
  if (result.status == ASHLAR_SIM_OK) {
    *address = result.address;
  }
  return result.status;
}

enum ashlar_sim_status ashlar_sim_machine_free(struct ashlar_sim_machine *machine, int32_t device,
                                               uint64_t address)
{
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_FREE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const struct ashlar_sim_segment *segment =
      ashlar_sim_segment_at(&machine->device[device], address);
  if (segment != NULL && segment->address == address) {
    if (!machine->behaviour.free_returns_at_once) {
      status = ashlar_sim_judge_device_capture(machine, ASHLAR_SIM_CALL_FREE, device);
      if (status == ASHLAR_SIM_OK) {
        status = ashlar_sim_wait_for_device(machine, device);
      }
      if (status != ASHLAR_SIM_OK) {
        return status;
      }
    }
    const uint64_t races = machine->races.race_count;
    (void)ashlar_sim_race_release(&machine->races, &machine->streams, address, segment->bytes);
    ashlar_sim_violate_races(machine, races);
  }
  return ashlar_sim_free(&machine->device[device], address).status;
}

enum ashlar_sim_status ashlar_sim_machine_memory_info(struct ashlar_sim_machine *machine,
                                                      int32_t device, uint64_t *free_bytes,
                                                      uint64_t *total_bytes)
{
  if (ashlar_sim_call_fails(&machine->failures, ASHLAR_SIM_CALL_MEMORY_INFO)) {
    return ASHLAR_SIM_FAILED;
  }
  if (device < 0 || device >= machine->device_count) {
    return ASHLAR_SIM_NO_DEVICE;
  }
  *free_bytes = ashlar_sim_free_bytes(&machine->device[device]);
  *total_bytes = machine->device[device].config.capacity;
  return ASHLAR_SIM_OK;
}

/* --- virtual memory --- */

enum ashlar_sim_status ashlar_sim_machine_reserve(struct ashlar_sim_machine *machine,
                                                  uint64_t bytes, uint64_t *address)
{
  const enum ashlar_sim_status status = begin_anywhere(machine, ASHLAR_SIM_CALL_RESERVE);
  return status == ASHLAR_SIM_OK ? ashlar_sim_reserve(&machine->memory, bytes, address) : status;
}

enum ashlar_sim_status ashlar_sim_machine_unreserve(struct ashlar_sim_machine *machine,
                                                    uint64_t address, uint64_t bytes)
{
  const enum ashlar_sim_status status = begin_anywhere(machine, ASHLAR_SIM_CALL_UNRESERVE);
  return status == ASHLAR_SIM_OK ? ashlar_sim_unreserve(&machine->memory, address, bytes) : status;
}

enum ashlar_sim_status ashlar_sim_machine_create(struct ashlar_sim_machine *machine, int32_t device,
                                                 uint64_t bytes, uint64_t *piece)
{
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_CREATE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_create_piece(&machine->memory, machine->device, device, bytes, piece);
}

/* For calls about a piece or a mapping: its device, or the current one if there is no such thing,
   so that the call itself says so. */
static int32_t device_or_current(const struct ashlar_sim_machine *machine, int32_t device)
{
  return device >= 0 ? device : machine->current;
}

enum ashlar_sim_status ashlar_sim_machine_release(struct ashlar_sim_machine *machine,
                                                  uint64_t piece)
{
  const int32_t device =
      device_or_current(machine, ashlar_sim_piece_device(&machine->memory, piece));
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_RELEASE, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  return ashlar_sim_release_piece(&machine->memory, machine->device, piece);
}

enum ashlar_sim_status ashlar_sim_machine_map(struct ashlar_sim_machine *machine, uint64_t address,
                                              uint64_t piece)
{
  const int32_t device =
      device_or_current(machine, ashlar_sim_piece_device(&machine->memory, piece));
  const enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_MAP, device);
  return status == ASHLAR_SIM_OK ? ashlar_sim_map(&machine->memory, address, piece) : status;
}

enum ashlar_sim_status ashlar_sim_machine_set_access(struct ashlar_sim_machine *machine,
                                                     uint64_t address, uint64_t bytes,
                                                     int32_t device, bool access)
{
  const enum ashlar_sim_status status = begin_anywhere(machine, ASHLAR_SIM_CALL_SET_ACCESS);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  if (device < 0 || device >= machine->device_count) {
    return ASHLAR_SIM_NO_DEVICE;
  }
  return ashlar_sim_set_access(&machine->memory, address, bytes, device, access);
}

enum ashlar_sim_status ashlar_sim_machine_unmap(struct ashlar_sim_machine *machine,
                                                uint64_t address, uint64_t bytes)
{
  struct ashlar_sim_virtual_memory *memory = &machine->memory;
  const struct ashlar_sim_mapping *mapping = ashlar_sim_mapping_at(memory, address);
  const int32_t device =
      device_or_current(machine, mapping == NULL ? -1 : memory->piece[mapping->piece].device);
  enum ashlar_sim_status status = begin(machine, ASHLAR_SIM_CALL_UNMAP, device);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  status = ashlar_sim_unmap(memory, machine->device, address, bytes);
  if (status == ASHLAR_SIM_OK) {
    const uint64_t races = machine->races.race_count;
    (void)ashlar_sim_race_release(&machine->races, &machine->streams, address, bytes);
    ashlar_sim_violate_races(machine, races);
  }
  return status;
}
