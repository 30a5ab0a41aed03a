/* model_machine.c - see model_machine.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/storage.h"

#define MIB MODEL_MIB
#define MEMORY_BASE (UINT64_C(1) << 44) /* of device 0; the others follow, far apart */
#define MEMORY_STEP (UINT64_C(1) << 42)
#define RANGE_BASE (UINT64_C(1) << 45)
#define PERMILLE 1000
#define LAG 60 /* operations that a use may take */

void model_machine_start(struct model_machine *machine, const struct model_plan *plan,
                         int32_t device, uint64_t *random)
{
  memset(machine, 0, sizeof *machine);
  machine->plan = plan;
  machine->random = random;
  machine->next = MEMORY_BASE + (uint64_t)device * MEMORY_STEP;
  machine->next += plan->addresses == MODEL_ADDRESSES_DESCEND ? MEMORY_STEP / 2 : 0;
  machine->next_range = RANGE_BASE + (uint64_t)device * MEMORY_STEP;
}

void model_machine_stop(struct model_machine *machine)
{
  for (int32_t i = 0; i < MODEL_STREAMS; i++) {
    free(machine->queue[i].due);
  }
}

/* Whether there is memory, and the device is not in the mood to say no: other programs use it too. */
static bool has_room(struct model_machine *machine, uint64_t bytes)
{
  if (bytes > machine->plan->capacity || machine->given > machine->plan->capacity - bytes) {
    return false;
  }
  if (machine->refused != 0) {
    return bytes < machine->refused;
  }
  if (machine->plan->refuse_permille > 0 &&
      ashlar_random_below(machine->random, PERMILLE) < machine->plan->refuse_permille) {
    machine->refused = bytes;
    return false;
  }
  return true;
}

/* The lowest address from which on nothing is given, for so many bytes; *at: the place in the list. */
static uint64_t lowest(const struct model_machine *machine, uint64_t bytes, uint32_t *at)
{
  uint64_t address = machine->next;
  uint32_t place = 0;
  while (place < machine->memory_count && machine->memory[place].address - address < bytes) {
    address = machine->memory[place].address + machine->memory[place].bytes;
    place++;
  }
  *at = place;
  return address;
}

static uint64_t next_address(struct model_machine *machine, uint64_t bytes, uint32_t *at)
{
  uint64_t address = machine->next;
  switch (machine->plan->addresses) {
  case MODEL_ADDRESSES_LOWEST:
    return lowest(machine, bytes, at);
  case MODEL_ADDRESSES_DESCEND:
    machine->next -= bytes;
    *at = 0;
    return machine->next;
  default:
    machine->next += bytes;
    *at = machine->memory_count;
    return address;
  }
}

uint64_t model_machine_allocate(struct model_machine *machine, uint64_t bytes)
{
  uint32_t at = 0;
  if (machine->memory_count == MODEL_MACHINE_RANGES || !has_room(machine, bytes)) {
    return 0;
  }
  const uint64_t address = next_address(machine, bytes, &at);
  memmove(&machine->memory[at + 1], &machine->memory[at],
          (machine->memory_count - at) * sizeof machine->memory[0]);
  machine->memory[at] = (struct model_machine_range){address, bytes};
  machine->memory_count++;
  machine->given += bytes;
  return address;
}

void model_machine_release(struct model_machine *machine, uint64_t address)
{
  uint32_t at = 0;
  while (at < machine->memory_count && machine->memory[at].address != address) {
    at++;
  }
  if (at == machine->memory_count) {
    (void)fprintf(stderr, "the model releases what it was not given\n");
    abort();
  }
  machine->given -= machine->memory[at].bytes;
  machine->refused = 0;
  machine->memory_count--;
  memmove(&machine->memory[at], &machine->memory[at + 1],
          (machine->memory_count - at) * sizeof machine->memory[0]);
}

uint64_t model_machine_reserve(struct model_machine *machine, uint64_t bytes)
{
  if (machine->spare.bytes == bytes && ashlar_random_below(machine->random, 2) == 0) {
    machine->spare.bytes = 0;
    return machine->spare.address;
  }
  const uint64_t address = machine->next_range;
  machine->next_range += bytes + 64 * MIB;
  return address;
}

void model_machine_unreserve(struct model_machine *machine, uint64_t address, uint64_t bytes)
{
  machine->spare = (struct model_machine_range){address, bytes};
}

bool model_machine_map(struct model_machine *machine, uint64_t bytes)
{
  if (!has_room(machine, bytes)) {
    return false;
  }
  machine->given += bytes;
  return true;
}

void model_machine_unmap(struct model_machine *machine, uint64_t bytes)
{
  machine->given -= bytes;
  machine->refused = 0;
}

uint64_t model_machine_free_bytes(const struct model_machine *machine)
{
  return machine->plan->capacity - machine->given;
}

void model_machine_submit(struct model_machine *machine, int32_t stream, uint64_t now)
{
  struct model_machine_queue *queue = &machine->queue[stream];
  uint64_t due = now + ashlar_random_below(machine->random, LAG);
  uint64_t *grown = realloc(queue->due, (queue->count + 1) * sizeof *grown);
  if (grown == NULL) {
    abort();
  }
  if (queue->count > 0 && grown[queue->count - 1] > due) {
    due = grown[queue->count - 1];
  }
  queue->due = grown;
  queue->due[queue->count] = due;
  queue->count++;
}

uint64_t model_machine_finished(const struct model_machine *machine, int32_t stream, uint64_t now)
{
  const struct model_machine_queue *queue = &machine->queue[stream];
  uint64_t count = 0;
  while (count < queue->count && queue->due[count] <= now) {
    count++;
  }
  return count;
}

void model_machine_wait(struct model_machine *machine, int32_t stream, uint64_t number)
{
  for (uint64_t i = 0; i < number && i < machine->queue[stream].count; i++) {
    machine->queue[stream].due[i] = 0;
  }
}
