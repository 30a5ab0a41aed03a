/* device.c - see device.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/device.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static struct ashlar_sim_result failure(enum ashlar_sim_status status)
{
  return (struct ashlar_sim_result){.status = status};
}

static uint64_t align_up(uint64_t address)
{
  return (address + (ASHLAR_SIM_ALIGNMENT - 1)) / ASHLAR_SIM_ALIGNMENT * ASHLAR_SIM_ALIGNMENT;
}

/* --- the segments held --- */

/* Number of segments that start before the address. */
static size_t count_before(const struct ashlar_sim_device *device, uint64_t address)
{
  size_t low = 0;
  size_t high = device->segment_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (device->segments[middle].address < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool is_apart(const struct ashlar_sim_device *device, uint64_t address, uint64_t bytes)
{
  const size_t at = count_before(device, address);
  if (at < device->segment_count && device->segments[at].address - address < bytes) {
    return false;
  }
  if (at == 0) {
    return true;
  }
  const struct ashlar_sim_segment *before = &device->segments[at - 1];
  return address - before->address >= before->bytes;
}

static bool is_range(uint64_t address, uint64_t bytes)
{
  return bytes > 0 && bytes <= ASHLAR_SIM_ADDRESS_END && address <= ASHLAR_SIM_ADDRESS_END - bytes;
}

static bool reserve_segment(struct ashlar_sim_device *device)
{
  if (device->segment_count < device->segment_capacity) {
    return true;
  }
  const size_t capacity =
      device->segment_capacity == 0 ? FIRST_CAPACITY : device->segment_capacity * 2;
  if (capacity > SIZE_MAX / sizeof *device->segments) {
    return false;
  }
  struct ashlar_sim_segment *segments =
      realloc(device->segments, capacity * sizeof *device->segments);
  if (segments == NULL) {
    return false;
  }
  device->segments = segments;
  device->segment_capacity = capacity;
  return true;
}

/* Enters a segment, if there is nothing in its way. */
static enum ashlar_sim_status enter(struct ashlar_sim_device *device, uint64_t address,
                                    uint64_t bytes, uint64_t tag)
{
  if (!is_range(address, bytes)) {
    return ASHLAR_SIM_RANGE;
  }
  if (!is_apart(device, address, bytes)) {
    return ASHLAR_SIM_OVERLAP;
  }
  if (!reserve_segment(device)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  const size_t at = count_before(device, address);
  memmove(&device->segments[at + 1], &device->segments[at],
          (device->segment_count - at) * sizeof *device->segments);
  device->segments[at] = (struct ashlar_sim_segment){address, bytes, tag};
  device->segment_count++;
  /* Segments are apart and end at 2^62 at most, and no more than 2^62 is taken, so the sum cannot
     wrap. */
  device->used += bytes;
  if (device->used > device->peak_used) {
    device->peak_used = device->used;
  }
  return ASHLAR_SIM_OK;
}

/* --- where a new segment goes --- */

static uint64_t first_gap(const struct ashlar_sim_device *device, uint64_t bytes)
{
  uint64_t address = align_up(device->config.base);
  for (size_t i = 0; i < device->segment_count; i++) {
    const struct ashlar_sim_segment *segment = &device->segments[i];
    if (segment->address >= address && segment->address - address >= bytes) {
      return address;
    }
    const uint64_t behind = align_up(segment->address + segment->bytes);
    if (behind > address) {
      address = behind;
    }
  }
  return address;
}

static const struct ashlar_sim_script_line *next_line(const struct ashlar_sim_device *device)
{
  if (device->script_next >= device->config.script_length) {
    return NULL;
  }
  return &device->config.script[device->script_next];
}

static struct ashlar_sim_result allocate_recorded(struct ashlar_sim_device *device, uint64_t bytes,
                                                  uint64_t tag)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  if (line != NULL && line->kind != ASHLAR_SIM_SCRIPT_ALLOC) {
    return failure(ASHLAR_SIM_REFUSED);
  }
  if (line == NULL || line->bytes != bytes) {
    device->counts.off_script++;
    return failure(ASHLAR_SIM_NOT_SCRIPTED);
  }
  const enum ashlar_sim_status status = enter(device, line->address, bytes, tag);
  if (status != ASHLAR_SIM_OK) {
    return failure(status);
  }
  device->script_next++;
  return (struct ashlar_sim_result){.address = line->address};
}

/* The last of the freed ranges that a segment of so many bytes fits in; their number if none is. A
   range may have been taken over since, by adoption or at a place that was asked for. */
static size_t find_freed(const struct ashlar_sim_device *device, uint64_t bytes)
{
  for (size_t i = device->freed_count; i > 0; i--) {
    const struct ashlar_sim_segment *range = &device->freed[i - 1];
    if (range->bytes >= bytes && is_apart(device, range->address, bytes)) {
      return i - 1;
    }
  }
  return device->freed_count;
}

static void drop_freed(struct ashlar_sim_device *device, size_t at)
{
  device->freed_count--;
  memmove(&device->freed[at], &device->freed[at + 1],
          (device->freed_count - at) * sizeof *device->freed);
}

/* Forgets the freed range that a segment begins at: what is behind the segment is not reused. */
static void drop_reused(struct ashlar_sim_device *device, uint64_t address)
{
  for (size_t i = 0; i < device->freed_count; i++) {
    if (device->freed[i].address == address) {
      drop_freed(device, i);
      return;
    }
  }
}

static void remember_freed(struct ashlar_sim_device *device, struct ashlar_sim_segment range)
{
  if (device->freed_count == ASHLAR_SIM_FREED) {
    drop_freed(device, 0);
  }
  device->freed[device->freed_count] = range;
  device->freed_count++;
}

/* Where a segment goes that no script places. 0, where no segment can be: no address is left. */
static uint64_t choose_address(const struct ashlar_sim_device *device, uint64_t bytes)
{
  const uint64_t base = align_up(device->config.base);
  switch (device->config.placement) {
  case ASHLAR_SIM_FIRST_FIT:
    return first_gap(device, bytes);
  case ASHLAR_SIM_DESCENDING:
    if (device->next < base || device->next - base < bytes) {
      return 0;
    }
    return (device->next - bytes) / ASHLAR_SIM_ALIGNMENT * ASHLAR_SIM_ALIGNMENT;
  case ASHLAR_SIM_REUSE: {
    const size_t freed = find_freed(device, bytes);
    return freed < device->freed_count ? device->freed[freed].address : device->next;
  }
  default:
    return device->next;
  }
}

/* Keeps `next` beyond a segment that was entered. */
static void pass(struct ashlar_sim_device *device, uint64_t address, uint64_t bytes)
{
  if (device->config.placement == ASHLAR_SIM_DESCENDING) {
    device->next = address < device->next ? address : device->next;
  } else if (address + bytes > device->next) {
    const uint64_t alignment = device->config.placement == ASHLAR_SIM_ADJACENT
                                   ? ASHLAR_SIM_TOUCHING
                                   : ASHLAR_SIM_ALIGNMENT;
    device->next = (address + bytes + (alignment - 1)) / alignment * alignment;
  }
}

static struct ashlar_sim_result allocate_unscripted(struct ashlar_sim_device *device,
                                                    uint64_t bytes, uint64_t tag)
{
  const uint64_t address = device->placed ? device->place : choose_address(device, bytes);
  const enum ashlar_sim_status status =
      address == 0 ? ASHLAR_SIM_RANGE : enter(device, address, bytes, tag);
  if (status != ASHLAR_SIM_OK) {
    return failure(status);
  }
  pass(device, address, bytes);
  device->placed = false;
  drop_reused(device, address);
  return (struct ashlar_sim_result){.address = address};
}

/* --- public --- */

void ashlar_sim_init(struct ashlar_sim_device *device, struct ashlar_sim_config config)
{
  if (config.base > ASHLAR_SIM_ADDRESS_END) {
    config.base = ASHLAR_SIM_ADDRESS_END;
  }
  *device = (struct ashlar_sim_device){.config = config, .next = align_up(config.base)};
  if (config.placement == ASHLAR_SIM_DESCENDING) {
    device->next += ASHLAR_SIM_DESCENT;
  }
}

void ashlar_sim_destroy(struct ashlar_sim_device *device)
{
  free(device->segments);
  *device = (struct ashlar_sim_device){0};
}

struct ashlar_sim_result ashlar_sim_allocate(struct ashlar_sim_device *device, uint64_t bytes,
                                             uint64_t tag)
{
  struct ashlar_sim_result result = failure(ASHLAR_SIM_REFUSED);
  if (bytes == 0 || bytes > ASHLAR_SIM_ADDRESS_END) {
    result = failure(ASHLAR_SIM_RANGE);
  } else if (device->used <= device->config.capacity &&
             bytes <= device->config.capacity - device->used) {
    result = device->config.placement == ASHLAR_SIM_RECORDED
                 ? allocate_recorded(device, bytes, tag)
                 : allocate_unscripted(device, bytes, tag);
  }
  if (result.status == ASHLAR_SIM_OK) {
    device->counts.allocs++;
  } else {
    device->counts.refused++;
  }
  return result;
}

struct ashlar_sim_result ashlar_sim_free(struct ashlar_sim_device *device, uint64_t address)
{
  const size_t at = count_before(device, address);
  if (at == device->segment_count || device->segments[at].address != address) {
    device->counts.unknown++;
    return failure(ASHLAR_SIM_UNKNOWN);
  }
  const struct ashlar_sim_segment gone = device->segments[at];
  device->segment_count--;
  memmove(&device->segments[at], &device->segments[at + 1],
          (device->segment_count - at) * sizeof *device->segments);
  device->used -= gone.bytes;
  device->counts.frees++;
  if (device->config.placement == ASHLAR_SIM_REUSE) {
    remember_freed(device, gone);
  }
  if (device->config.placement == ASHLAR_SIM_RECORDED) {
    if (ashlar_sim_expects_free(device, address)) {
      device->script_next++;
    } else {
      device->counts.off_script++;
    }
  }
  return (struct ashlar_sim_result){.bytes = gone.bytes, .tag = gone.tag};
}

enum ashlar_sim_status ashlar_sim_adopt(struct ashlar_sim_device *device, uint64_t address,
                                        uint64_t bytes, uint64_t tag)
{
  const enum ashlar_sim_status status = enter(device, address, bytes, tag);
  if (status == ASHLAR_SIM_OK) {
    pass(device, address, bytes);
  }
  return status;
}

void ashlar_sim_advance(struct ashlar_sim_device *device, uint64_t position)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  while (line != NULL && line->position <= position) {
    if (line->kind != ASHLAR_SIM_SCRIPT_REFUSE) {
      device->counts.off_script++;
    }
    device->script_next++;
    line = next_line(device);
  }
}

bool ashlar_sim_expects_free(const struct ashlar_sim_device *device, uint64_t address)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  return line != NULL && line->kind == ASHLAR_SIM_SCRIPT_FREE && line->address == address;
}

const struct ashlar_sim_script_line *ashlar_sim_expected(const struct ashlar_sim_device *device)
{
  return next_line(device);
}

/* Plays a line that says exactly this; else the call is off the script. */
static bool play_line(struct ashlar_sim_device *device, enum ashlar_sim_script_kind kind,
                      uint64_t address, uint64_t bytes)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  if (line == NULL || line->kind != kind || line->address != address || line->bytes != bytes) {
    device->counts.off_script++;
    return false;
  }
  device->script_next++;
  return true;
}

enum ashlar_sim_status ashlar_sim_map_scripted(struct ashlar_sim_device *device, uint64_t address,
                                               uint64_t bytes)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  if ((line != NULL && line->kind != ASHLAR_SIM_SCRIPT_MAP) ||
      !play_line(device, ASHLAR_SIM_SCRIPT_MAP, address, bytes)) {
    device->counts.refused++;
    return ASHLAR_SIM_REFUSED;
  }
  device->counts.allocs++;
  return ASHLAR_SIM_OK;
}

void ashlar_sim_unmap_scripted(struct ashlar_sim_device *device, uint64_t address, uint64_t bytes)
{
  (void)play_line(device, ASHLAR_SIM_SCRIPT_UNMAP, address, bytes);
  device->counts.frees++;
}

void ashlar_sim_place_next(struct ashlar_sim_device *device, uint64_t address)
{
  device->placed = true;
  device->place = address;
}

enum ashlar_sim_status ashlar_sim_take(struct ashlar_sim_device *device, uint64_t bytes)
{
  if (bytes == 0 || bytes > ASHLAR_SIM_ADDRESS_END) {
    return ASHLAR_SIM_RANGE;
  }
  /* Both sums stay below 2^64 by this: what is taken is at most 2^62, and so are the segments. */
  if (device->used > device->config.capacity || bytes > device->config.capacity - device->used ||
      bytes > ASHLAR_SIM_ADDRESS_END - device->taken) {
    return ASHLAR_SIM_REFUSED;
  }
  device->taken += bytes;
  device->used += bytes;
  if (device->used > device->peak_used) {
    device->peak_used = device->used;
  }
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_give(struct ashlar_sim_device *device, uint64_t bytes)
{
  if (bytes > device->taken) {
    return ASHLAR_SIM_UNKNOWN;
  }
  device->taken -= bytes;
  device->used -= bytes;
  return ASHLAR_SIM_OK;
}

const struct ashlar_sim_segment *ashlar_sim_segment_at(const struct ashlar_sim_device *device,
                                                       uint64_t address)
{
  const size_t behind =
      address == UINT64_MAX ? device->segment_count : count_before(device, address + 1);
  if (behind == 0) {
    return NULL;
  }
  const struct ashlar_sim_segment *segment = &device->segments[behind - 1];
  return address - segment->address < segment->bytes ? segment : NULL;
}

uint64_t ashlar_sim_free_bytes(const struct ashlar_sim_device *device)
{
  const struct ashlar_sim_script_line *line = next_line(device);
  if (line != NULL && line->kind == ASHLAR_SIM_SCRIPT_REFUSE) {
    return line->address;
  }
  return device->used < device->config.capacity ? device->config.capacity - device->used : 0;
}

void ashlar_sim_reset_counts(struct ashlar_sim_device *device)
{
  device->counts = (struct ashlar_sim_counts){0};
}
