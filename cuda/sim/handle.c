/* handle.c - see handle.h. A handle is: generation, entry number + 1, four zero bits.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/handle.h"

#include <stdlib.h>

#include "cuda/sim/array.h"

enum { ENTRY_SHIFT = 4, GENERATION_SHIFT = 32, MOST_ENTRIES = 1 << 27 };

void ashlar_sim_handles_destroy(struct ashlar_sim_handles *handles)
{
  free(handles->entry);
  *handles = (struct ashlar_sim_handles){0};
}

static uint64_t handle_of(const struct ashlar_sim_handles *handles, uint32_t entry)
{
  return (uint64_t)handles->entry[entry].generation << GENERATION_SHIFT | ((uint64_t)entry + 1)
                                                                              << ENTRY_SHIFT;
}

uint32_t ashlar_sim_handle_open(struct ashlar_sim_handles *handles, bool reuse, uint64_t *handle)
{
  uint32_t entry = ASHLAR_SIM_NONE;
  if (handles->free_entries != 0) {
    entry = handles->free_entries - 1;
    struct ashlar_sim_handle_entry *again = &handles->entry[entry];
    handles->free_entries = again->next_free;
    again->generation += reuse ? 0 : 1;
    again->open = true;
  } else {
    if (handles->count >= MOST_ENTRIES) {
      return ASHLAR_SIM_NONE;
    }
    struct ashlar_sim_handle_entry *moved = ashlar_sim_grow(
        handles->entry, &handles->capacity, handles->count + 1, sizeof *handles->entry);
    if (moved == NULL) {
      return ASHLAR_SIM_NONE;
    }
    handles->entry = moved;
    entry = (uint32_t)handles->count;
    handles->entry[entry] = (struct ashlar_sim_handle_entry){.open = true};
    handles->count++;
  }
  *handle = handle_of(handles, entry);
  return entry;
}

uint32_t ashlar_sim_handle_find(const struct ashlar_sim_handles *handles, uint64_t handle)
{
  const uint64_t number = (handle & UINT32_MAX) >> ENTRY_SHIFT;
  if (number == 0 || number > handles->count) {
    return ASHLAR_SIM_NONE;
  }
  const uint32_t entry = (uint32_t)number - 1;
  return handles->entry[entry].open && handle_of(handles, entry) == handle ? entry
                                                                           : ASHLAR_SIM_NONE;
}

void ashlar_sim_handle_close(struct ashlar_sim_handles *handles, uint32_t entry)
{
  struct ashlar_sim_handle_entry *closed = &handles->entry[entry];
  closed->open = false;
  /* An entry that has used up its generations never opens again. */
  if (closed->generation != UINT32_MAX) {
    closed->next_free = handles->free_entries;
    handles->free_entries = entry + 1;
  }
}
