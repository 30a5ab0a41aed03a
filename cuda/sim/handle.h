/* handle.h - handles of streams and events: new values, or values used before, as the test wants.
 *
 * A runtime may give a new stream the handle of one that was destroyed. Here that happens when it is
 * asked for, and only then: otherwise no value comes twice.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_HANDLE_H
#define ASHLAR_CUDA_SIM_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASHLAR_SIM_NONE UINT32_MAX /* no entry, no slot */

struct ashlar_sim_handle_entry {
  uint32_t generation; /* upper half of the handle */
  uint32_t next_free;  /* closed: number of the entry closed before, plus 1; 0: none */
  bool open;
};

/* Zeroed: none open. */
struct ashlar_sim_handles {
  struct ashlar_sim_handle_entry *entry;
  size_t count;
  size_t capacity;
  uint32_t free_entries; /* number of the entry closed last, plus 1; 0: none */
};

void ashlar_sim_handles_destroy(struct ashlar_sim_handles *handles);

/* Opens an entry. With `reuse` its handle is that of the entry closed last, if there is one. Handles
   are never below 16, so that those which a runtime gives a meaning of its own stay free. The entry,
   or ASHLAR_SIM_NONE where host memory is short. */
uint32_t ashlar_sim_handle_open(struct ashlar_sim_handles *handles, bool reuse, uint64_t *handle);

/* The open entry of a handle, or ASHLAR_SIM_NONE. */
uint32_t ashlar_sim_handle_find(const struct ashlar_sim_handles *handles, uint64_t handle);

/* Closes an open entry. */
void ashlar_sim_handle_close(struct ashlar_sim_handles *handles, uint32_t entry);

#endif
