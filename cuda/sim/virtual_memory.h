/* virtual_memory.h - ranges of addresses that are reserved, and pieces of memory mapped into them.
 *
 * Each page of a reservation is in one of three states, and these calls lead between them:
 *
 *               map                  set access
 *   reserved ---------> mapped ---------------------> accessible (to some devices)
 *      ^                   |                                |
 *      +------ unmap ------+------------- unmap ------------+
 *
 * A piece is physical memory of one device. It counts against that device's capacity from its
 * creation until it is both released and mapped nowhere: it may be released while it is mapped. A
 * piece is mapped as a whole, any number of times; only whole mappings are unmapped.
 *
 * Addresses are common to all devices. Addresses and sizes are multiples of ASHLAR_SIM_ALIGNMENT.
 * Reservations are placed at the lowest gap from the base on: an address given back comes again.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_VIRTUAL_MEMORY_H
#define ASHLAR_CUDA_SIM_VIRTUAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/device.h"
#include "cuda/sim/handle.h"
#include "cuda/sim/status.h"

enum {
  ASHLAR_SIM_MOST_DEVICES = 64 /* one bit of `access` each */
};

struct ashlar_sim_reservation {
  uint64_t address;
  uint64_t bytes;
  size_t mappings; /* in it */
};

struct ashlar_sim_mapping {
  uint64_t address;
  uint64_t bytes;
  uint32_t piece;  /* entry of `pieces` */
  uint64_t access; /* bit d: device d may touch it */
};

struct ashlar_sim_piece {
  uint64_t bytes;
  int32_t device;
  uint32_t mappings; /* how many there are of it */
  bool released;
};

/* How often each call succeeded. */
struct ashlar_sim_virtual_counts {
  uint64_t reserves;
  uint64_t unreserves;
  uint64_t creates;
  uint64_t releases;
  uint64_t maps;
  uint64_t unmaps; /* of mappings */
};

/* Read the fields; change them by functions only. */
struct ashlar_sim_virtual_memory {
  uint64_t base;   /* no reservation lies below */
  uint64_t budget; /* bytes of addresses that may be reserved at a time */
  uint64_t reserved;
  uint64_t peak_reserved;
  uint64_t mapped;                            /* bytes, each mapping counted */
  struct ashlar_sim_reservation *reservation; /* ascending by address */
  size_t reservation_count;
  size_t reservation_capacity;
  struct ashlar_sim_mapping *mapping; /* ascending by address */
  size_t mapping_count;
  size_t mapping_capacity;
  struct ashlar_sim_handles pieces;
  struct ashlar_sim_piece *piece; /* by entry of `pieces`, which closes when the memory is gone */
  size_t piece_capacity;
  size_t piece_count; /* pieces whose memory is not gone */
  struct ashlar_sim_virtual_counts counts;
};

/* An empty one. The base is rounded up to ASHLAR_SIM_ALIGNMENT. */
void ashlar_sim_virtual_init(struct ashlar_sim_virtual_memory *memory, uint64_t base,
                             uint64_t budget);

void ashlar_sim_virtual_destroy(struct ashlar_sim_virtual_memory *memory);

/* Reserves addresses. OK; RANGE, MISALIGNED; ADDRESS_BUDGET; HOST_MEMORY. O(reservations), as is
   unreserve. */
enum ashlar_sim_status ashlar_sim_reserve(struct ashlar_sim_virtual_memory *memory, uint64_t bytes,
                                          uint64_t *address);

/* Gives a reservation back, as a whole. OK; UNKNOWN if there is none of that address and size;
   STILL_MAPPED. */
enum ashlar_sim_status ashlar_sim_unreserve(struct ashlar_sim_virtual_memory *memory,
                                            uint64_t address, uint64_t bytes);

/* Makes a piece of the memory of devices[device]; in all calls `devices` are the same. OK; RANGE,
   MISALIGNED; REFUSED; HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_create_piece(struct ashlar_sim_virtual_memory *memory,
                                               struct ashlar_sim_device *devices, int32_t device,
                                               uint64_t bytes, uint64_t *handle);

/* The device of a piece that is not released; -1 if there is no such piece. */
int32_t ashlar_sim_piece_device(const struct ashlar_sim_virtual_memory *memory, uint64_t handle);

/* Gives up a piece; the handle is gone. OK, UNKNOWN. */
enum ashlar_sim_status ashlar_sim_release_piece(struct ashlar_sim_virtual_memory *memory,
                                                struct ashlar_sim_device *devices, uint64_t handle);

/* Maps a piece at an address. No device has access yet. OK; MISALIGNED; UNKNOWN: no such piece;
   NOT_RESERVED; ALREADY_MAPPED; HOST_MEMORY. O(mappings). */
enum ashlar_sim_status ashlar_sim_map(struct ashlar_sim_virtual_memory *memory, uint64_t address,
                                      uint64_t handle);

/* Gives a device access to a range of whole mappings, or takes it away. OK; NO_DEVICE; RANGE,
   MISALIGNED; NOT_RESERVED, NOT_MAPPED, CUTS_MAPPING. */
enum ashlar_sim_status ashlar_sim_set_access(struct ashlar_sim_virtual_memory *memory,
                                             uint64_t address, uint64_t bytes, int32_t device,
                                             bool access);

/* Unmaps a range of whole mappings. Refused as set access is. O(mappings). */
enum ashlar_sim_status ashlar_sim_unmap(struct ashlar_sim_virtual_memory *memory,
                                        struct ashlar_sim_device *devices, uint64_t address,
                                        uint64_t bytes);

/* The mapping that holds the address, NULL if none does. O(log mappings). */
const struct ashlar_sim_mapping *
ashlar_sim_mapping_at(const struct ashlar_sim_virtual_memory *memory, uint64_t address);

/* Whether a device may touch all of a range, which is not empty and does not wrap. */
bool ashlar_sim_is_accessible(const struct ashlar_sim_virtual_memory *memory, uint64_t address,
                              uint64_t bytes, int32_t device);

/* Whether all that was reserved, created and mapped has been taken back. */
bool ashlar_sim_is_balanced(const struct ashlar_sim_virtual_memory *memory);

#endif
