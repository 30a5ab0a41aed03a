/* virtual_memory.c - see virtual_memory.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/virtual_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/sim/array.h"

void ashlar_sim_virtual_init(struct ashlar_sim_virtual_memory *memory, uint64_t base,
                             uint64_t budget)
{
  if (base > ASHLAR_SIM_ADDRESS_END) {
    base = ASHLAR_SIM_ADDRESS_END;
  }
  base = (base + (ASHLAR_SIM_ALIGNMENT - 1)) / ASHLAR_SIM_ALIGNMENT * ASHLAR_SIM_ALIGNMENT;
  *memory = (struct ashlar_sim_virtual_memory){.base = base, .budget = budget};
}

void ashlar_sim_virtual_destroy(struct ashlar_sim_virtual_memory *memory)
{
  free(memory->reservation);
  free(memory->mapping);
  free(memory->piece);
  ashlar_sim_handles_destroy(&memory->pieces);
  *memory = (struct ashlar_sim_virtual_memory){0};
}

/* OK for a size that can be reserved or created. */
static enum ashlar_sim_status judge_size(uint64_t bytes)
{
  if (bytes == 0 || bytes > ASHLAR_SIM_ADDRESS_END) {
    return ASHLAR_SIM_RANGE;
  }
  return bytes % ASHLAR_SIM_ALIGNMENT == 0 ? ASHLAR_SIM_OK : ASHLAR_SIM_MISALIGNED;
}

/* --- reservations --- */

/* The number of reservations that begin at or below the address. */
static size_t reservations_up_to(const struct ashlar_sim_virtual_memory *memory, uint64_t address)
{
  size_t low = 0;
  size_t high = memory->reservation_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (memory->reservation[middle].address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The reservation that holds all of a range, or NULL. */
static struct ashlar_sim_reservation *reservation_of(const struct ashlar_sim_virtual_memory *memory,
                                                     uint64_t address, uint64_t bytes)
{
  const size_t count = reservations_up_to(memory, address);
  if (count == 0) {
    return NULL;
  }
  struct ashlar_sim_reservation *reservation = &memory->reservation[count - 1];
  const uint64_t offset = address - reservation->address;
  const bool is_inside = offset < reservation->bytes && bytes <= reservation->bytes - offset;
  return is_inside ? reservation : NULL;
}

enum ashlar_sim_status ashlar_sim_reserve(struct ashlar_sim_virtual_memory *memory, uint64_t bytes,
                                          uint64_t *address)
{
  const enum ashlar_sim_status status = judge_size(bytes);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  if (bytes > memory->budget - memory->reserved) {
    return ASHLAR_SIM_ADDRESS_BUDGET;
  }
  uint64_t begin = memory->base;
  size_t at = 0;
  while (at < memory->reservation_count && memory->reservation[at].address - begin < bytes) {
    begin = memory->reservation[at].address + memory->reservation[at].bytes;
    at++;
  }
  if (bytes > ASHLAR_SIM_ADDRESS_END - begin) {
    return ASHLAR_SIM_RANGE;
  }
  struct ashlar_sim_reservation *moved =
      ashlar_sim_grow(memory->reservation, &memory->reservation_capacity,
                      memory->reservation_count + 1, sizeof *moved);
  if (moved == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  memory->reservation = moved;
  memmove(moved + at + 1, moved + at, (memory->reservation_count - at) * sizeof *moved);
  moved[at] = (struct ashlar_sim_reservation){.address = begin, .bytes = bytes};
  memory->reservation_count++;
  memory->reserved += bytes;
  if (memory->reserved > memory->peak_reserved) {
    memory->peak_reserved = memory->reserved;
  }
  memory->counts.reserves++;
  *address = begin;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_unreserve(struct ashlar_sim_virtual_memory *memory,
                                            uint64_t address, uint64_t bytes)
{
  const size_t count = reservations_up_to(memory, address);
  if (count == 0) {
    return ASHLAR_SIM_UNKNOWN;
  }
  const size_t at = count - 1;
  struct ashlar_sim_reservation *reservation = memory->reservation;
  if (reservation[at].address != address || reservation[at].bytes != bytes) {
    return ASHLAR_SIM_UNKNOWN;
  }
  if (reservation[at].mappings > 0) {
    return ASHLAR_SIM_STILL_MAPPED;
  }
  memory->reservation_count--;
  memmove(reservation + at, reservation + at + 1,
          (memory->reservation_count - at) * sizeof *reservation);
  memory->reserved -= bytes;
  memory->counts.unreserves++;
  return ASHLAR_SIM_OK;
}

/* --- pieces --- */

enum ashlar_sim_status ashlar_sim_create_piece(struct ashlar_sim_virtual_memory *memory,
                                               struct ashlar_sim_device *devices, int32_t device,
                                               uint64_t bytes, uint64_t *handle)
{
  enum ashlar_sim_status status = judge_size(bytes);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  struct ashlar_sim_piece *moved = ashlar_sim_grow(memory->piece, &memory->piece_capacity,
                                                   memory->pieces.count + 1, sizeof *moved);
  if (moved == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  memory->piece = moved;
  status = ashlar_sim_take(&devices[device], bytes);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const uint32_t entry = ashlar_sim_handle_open(&memory->pieces, false, handle);
  if (entry == ASHLAR_SIM_NONE) {
    (void)ashlar_sim_give(&devices[device], bytes);
    return ASHLAR_SIM_HOST_MEMORY;
  }
  memory->piece[entry] = (struct ashlar_sim_piece){.bytes = bytes, .device = device};
  memory->piece_count++;
  memory->counts.creates++;
  return ASHLAR_SIM_OK;
}

/* The entry of a piece that is not released. */
static uint32_t find_piece(const struct ashlar_sim_virtual_memory *memory, uint64_t handle)
{
  const uint32_t entry = ashlar_sim_handle_find(&memory->pieces, handle);
  return entry != ASHLAR_SIM_NONE && !memory->piece[entry].released ? entry : ASHLAR_SIM_NONE;
}

int32_t ashlar_sim_piece_device(const struct ashlar_sim_virtual_memory *memory, uint64_t handle)
{
  const uint32_t entry = find_piece(memory, handle);
  return entry == ASHLAR_SIM_NONE ? -1 : memory->piece[entry].device;
}

/* The memory of a piece goes back once nobody can name it and nothing maps it. */
static void drop_if_unused(struct ashlar_sim_virtual_memory *memory,
                           struct ashlar_sim_device *devices, uint32_t entry)
{
  const struct ashlar_sim_piece *piece = &memory->piece[entry];
  if (piece->released && piece->mappings == 0) {
    (void)ashlar_sim_give(&devices[piece->device], piece->bytes);
    ashlar_sim_handle_close(&memory->pieces, entry);
    memory->piece_count--;
  }
}

enum ashlar_sim_status ashlar_sim_release_piece(struct ashlar_sim_virtual_memory *memory,
                                                struct ashlar_sim_device *devices, uint64_t handle)
{
  const uint32_t entry = find_piece(memory, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_UNKNOWN;
  }
  memory->piece[entry].released = true;
  memory->counts.releases++;
  drop_if_unused(memory, devices, entry);
  return ASHLAR_SIM_OK;
}

/* --- mappings --- */

/* The first mapping that ends behind the address. */
static size_t first_mapping(const struct ashlar_sim_virtual_memory *memory, uint64_t address)
{
  size_t low = 0;
  size_t high = memory->mapping_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const struct ashlar_sim_mapping *mapping = &memory->mapping[middle];
    if (mapping->address + mapping->bytes <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const struct ashlar_sim_mapping *
ashlar_sim_mapping_at(const struct ashlar_sim_virtual_memory *memory, uint64_t address)
{
  const size_t at = first_mapping(memory, address);
  const bool is_held = at < memory->mapping_count && memory->mapping[at].address <= address;
  return is_held ? &memory->mapping[at] : NULL;
}

enum ashlar_sim_status ashlar_sim_map(struct ashlar_sim_virtual_memory *memory, uint64_t address,
                                      uint64_t handle)
{
  if (address % ASHLAR_SIM_ALIGNMENT != 0) {
    return ASHLAR_SIM_MISALIGNED;
  }
  const uint32_t entry = find_piece(memory, handle);
  if (entry == ASHLAR_SIM_NONE) {
    return ASHLAR_SIM_UNKNOWN;
  }
  struct ashlar_sim_piece *piece = &memory->piece[entry];
  struct ashlar_sim_reservation *reservation = reservation_of(memory, address, piece->bytes);
  if (reservation == NULL) {
    return ASHLAR_SIM_NOT_RESERVED;
  }
  const size_t at = first_mapping(memory, address);
  if (at < memory->mapping_count && memory->mapping[at].address < address + piece->bytes) {
    return ASHLAR_SIM_ALREADY_MAPPED;
  }
  struct ashlar_sim_mapping *moved = ashlar_sim_grow(memory->mapping, &memory->mapping_capacity,
                                                     memory->mapping_count + 1, sizeof *moved);
  if (moved == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  memory->mapping = moved;
  memmove(moved + at + 1, moved + at, (memory->mapping_count - at) * sizeof *moved);
  moved[at] =
      (struct ashlar_sim_mapping){.address = address, .bytes = piece->bytes, .piece = entry};
  memory->mapping_count++;
  memory->mapped += piece->bytes;
  piece->mappings++;
  reservation->mappings++;
  memory->counts.maps++;
  return ASHLAR_SIM_OK;
}

/* Mappings first .. last - 1 are exactly a range. */
struct mappings {
  size_t first;
  size_t last;
};

static enum ashlar_sim_status find_mappings(const struct ashlar_sim_virtual_memory *memory,
                                            uint64_t address, uint64_t bytes,
                                            struct mappings *found)
{
  const enum ashlar_sim_status status = judge_size(bytes);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  if (address % ASHLAR_SIM_ALIGNMENT != 0) {
    return ASHLAR_SIM_MISALIGNED;
  }
  if (reservation_of(memory, address, bytes) == NULL) {
    return ASHLAR_SIM_NOT_RESERVED;
  }
  const uint64_t end = address + bytes;
  found->first = first_mapping(memory, address);
  found->last = found->first;
  if (found->first < memory->mapping_count && memory->mapping[found->first].address < address) {
    return ASHLAR_SIM_CUTS_MAPPING;
  }
  for (uint64_t reached = address; reached < end; found->last++) {
    if (found->last == memory->mapping_count) {
      return ASHLAR_SIM_NOT_MAPPED;
    }
    const struct ashlar_sim_mapping *mapping = &memory->mapping[found->last];
    if (mapping->address != reached) {
      return ASHLAR_SIM_NOT_MAPPED;
    }
    reached += mapping->bytes;
    if (reached > end) {
      return ASHLAR_SIM_CUTS_MAPPING;
    }
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_set_access(struct ashlar_sim_virtual_memory *memory,
                                             uint64_t address, uint64_t bytes, int32_t device,
                                             bool access)
{
  if (device < 0 || device >= ASHLAR_SIM_MOST_DEVICES) {
    return ASHLAR_SIM_NO_DEVICE;
  }
  struct mappings found = {0};
  const enum ashlar_sim_status status = find_mappings(memory, address, bytes, &found);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  const uint64_t bit = UINT64_C(1) << device;
  for (size_t i = found.first; i < found.last; i++) {
    struct ashlar_sim_mapping *mapping = &memory->mapping[i];
    mapping->access = access ? mapping->access | bit : mapping->access & ~bit;
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_unmap(struct ashlar_sim_virtual_memory *memory,
                                        struct ashlar_sim_device *devices, uint64_t address,
                                        uint64_t bytes)
{
  struct mappings found = {0};
  const enum ashlar_sim_status status = find_mappings(memory, address, bytes, &found);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  struct ashlar_sim_reservation *reservation = reservation_of(memory, address, bytes);
  for (size_t i = found.first; i < found.last; i++) {
    const struct ashlar_sim_mapping *mapping = &memory->mapping[i];
    struct ashlar_sim_piece *piece = &memory->piece[mapping->piece];
    piece->mappings--;
    reservation->mappings--;
    memory->mapped -= mapping->bytes;
    memory->counts.unmaps++;
    drop_if_unused(memory, devices, mapping->piece);
  }
  memmove(memory->mapping + found.first, memory->mapping + found.last,
          (memory->mapping_count - found.last) * sizeof *memory->mapping);
  memory->mapping_count -= found.last - found.first;
  return ASHLAR_SIM_OK;
}

bool ashlar_sim_is_accessible(const struct ashlar_sim_virtual_memory *memory, uint64_t address,
                              uint64_t bytes, int32_t device)
{
  const uint64_t end = address + bytes;
  for (size_t i = first_mapping(memory, address); address < end; i++) {
    if (i == memory->mapping_count || memory->mapping[i].address > address ||
        (memory->mapping[i].access >> device & 1) == 0) {
      return false;
    }
    address = memory->mapping[i].address + memory->mapping[i].bytes;
  }
  return true;
}

bool ashlar_sim_is_balanced(const struct ashlar_sim_virtual_memory *memory)
{
  const struct ashlar_sim_virtual_counts *counts = &memory->counts;
  return memory->reservation_count == 0 && memory->mapping_count == 0 && memory->piece_count == 0 &&
         counts->reserves == counts->unreserves && counts->creates == counts->releases &&
         counts->maps == counts->unmaps;
}
