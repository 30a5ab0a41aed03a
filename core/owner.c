/* owner.c - see block_manager.h: what the owner of a block does with it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

/* Whether a handle names an allocated block. Generation 0 says that no owner has given a block of the slot back yet. */
static enum ashlar_status named(const struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  if (slot < 0 || slot >= m->top ||
      (m->state[slot] != ASHLAR_ALLOCATED && m->generation[slot] == 0)) {
    return ASHLAR_ERROR_SLOT;
  }
  if (m->state[slot] != ASHLAR_ALLOCATED || m->generation[slot] != generation) {
    return ASHLAR_ERROR_STALE_HANDLE;
  }
  return ASHLAR_OK;
}

static struct ashlar_freed failed(enum ashlar_status status)
{
  struct ashlar_freed freed;
  freed.status = status;
  freed.waits = 0;
  return freed;
}

/* Gives an allocated block back. */
static struct ashlar_freed give_back(struct ashlar_manager *m, int32_t slot,
                                     struct ashlar_caller caller)
{
  struct ashlar_freed freed = failed(ASHLAR_OK);
  ashlar_allocation_end(m, slot);
  freed.waits = ashlar_pending_back(m, slot, ashlar_ladder_in_capture(m, caller.stream));
  return freed;
}

struct ashlar_freed ashlar_free(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                struct ashlar_caller caller)
{
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return failed(status);
  }
  if (m->references[slot] > 1) {
    return failed(ASHLAR_ERROR_SHARED);
  }
  return give_back(m, slot, caller);
}

/* What is at an address where no allocated block starts. */
static enum ashlar_status found_instead(const struct ashlar_manager *m, uint64_t address)
{
  int32_t slot = 0;
  while (slot < m->top) {
    if (m->state[slot] != ASHLAR_UNUSED && address >= m->addr[slot] &&
        address - m->addr[slot] < m->size[slot]) {
      return address == m->addr[slot] ? ASHLAR_ERROR_FREED : ASHLAR_ERROR_INTERIOR;
    }
    slot++;
  }
  return ASHLAR_ERROR_UNKNOWN_ADDRESS;
}

struct ashlar_freed ashlar_free_address(struct ashlar_manager *m, uint64_t address,
                                        struct ashlar_caller caller)
{
  int32_t slot = ashlar_map_find(m, address);
  if (ashlar_ladder_busy(m)) {
    return failed(ASHLAR_ERROR_BUSY);
  }
  if (slot == -1) {
    return failed(found_instead(m, address));
  }
  return ashlar_free(m, slot, m->generation[slot], caller);
}

enum ashlar_status ashlar_retain(struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (m->references[slot] == UINT32_MAX) {
    return ASHLAR_ERROR_COUNT;
  }
  m->references[slot]++;
  return ASHLAR_OK;
}

struct ashlar_freed ashlar_release(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                   struct ashlar_caller caller)
{
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return failed(status);
  }
  if (m->references[slot] > 1) {
    m->references[slot]--;
    return failed(ASHLAR_OK);
  }
  return give_back(m, slot, caller);
}

enum ashlar_status ashlar_record_use(struct ashlar_manager *m, int32_t slot, uint32_t generation,
                                     int32_t stream, struct ashlar_caller caller)
{
  enum ashlar_status status =
      ashlar_ladder_busy(m) ? ASHLAR_ERROR_BUSY : named(m, slot, generation);
  if (status != ASHLAR_OK) {
    return status;
  }
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (stream == ashlar_home_stream(m->home[slot])) {
    return ASHLAR_OK;
  }
  return ashlar_pending_use(m, slot, stream, ashlar_ladder_in_capture(m, caller.stream) ? 1 : 0);
}

struct ashlar_range ashlar_base(const struct ashlar_manager *m, int32_t slot, uint32_t generation)
{
  struct ashlar_range range;
  int32_t last = slot;
  range.status = named(m, slot, generation);
  range.address = 0;
  range.bytes = 0;
  if (range.status != ASHLAR_OK) {
    return range;
  }
  if (m->growable[slot] != 0) {
    range.status = ASHLAR_ERROR_GROWABLE;
    return range;
  }
  while (m->next[last] != -1) {
    last = m->next[last];
  }
  range.address = m->base[slot];
  range.bytes = m->addr[last] + m->size[last] - m->base[slot];
  return range;
}

int32_t ashlar_find(const struct ashlar_manager *m, uint64_t address)
{
  return ashlar_map_find(m, address);
}
