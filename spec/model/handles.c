/* handles.c - what the owner of a block does with it, by handle or by address.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* Whether the handle names an allocated block. REQ-FREE-exact, REQ-FREE-distinct, REQ-LIFETIME-stale. */
static enum model_status named(const struct model *m, int32_t slot, uint32_t generation)
{
  if (slot < 0 || slot >= m->blocks || m->block[slot].generation == 0) {
    return MODEL_ERROR_SLOT;
  }
  if (m->block[slot].state != MODEL_ALLOCATED || m->block[slot].generation != generation) {
    return MODEL_ERROR_STALE;
  }
  return MODEL_OK;
}

/* And whether something may be done with the block. REQ-ATOMIC-busy. */
static enum model_status usable(const struct model *m, int32_t slot, uint32_t generation)
{
  return model_busy(m) ? MODEL_ERROR_BUSY : named(m, slot, generation);
}

/* Any number of references. The block that is free then, or pending, is not allocated. REQ-LIFETIME-once. */
static struct model_freed drop(struct model *m, int32_t slot, struct model_caller caller)
{
  if (m->block[slot].references > 1) {
    m->block[slot].references--;
    return (struct model_freed){MODEL_OK, 0};
  }
  return (struct model_freed){MODEL_OK, model_give_back(m, slot, caller) ? 1 : 0};
}

struct model_freed model_free(struct model *m, int32_t slot, uint32_t generation,
                              struct model_caller caller)
{
  const enum model_status status = usable(m, slot, generation);
  if (status == MODEL_OK && m->block[slot].references > 1) {
    return (struct model_freed){MODEL_ERROR_SHARED, 0};
  }
  return status != MODEL_OK ? (struct model_freed){status, 0} : drop(m, slot, caller);
}

/* REQ-FREE-found, REQ-FREE-address, REQ-FREE-distinct. */
struct model_freed model_free_address(struct model *m, uint64_t address, struct model_caller caller)
{
  enum model_status status = MODEL_ERROR_FOREIGN;
  if (model_busy(m)) {
    return (struct model_freed){MODEL_ERROR_BUSY, 0};
  }
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_UNUSED || address < m->block[i].address ||
        address - m->block[i].address >= m->block[i].size) {
      continue;
    }
    if (m->block[i].address != address) {
      status = MODEL_ERROR_INTERIOR;
    } else if (m->block[i].state != MODEL_ALLOCATED) {
      status = MODEL_ERROR_FREED;
    } else {
      return model_free(m, i, m->block[i].generation, caller);
    }
  }
  return (struct model_freed){status, 0};
}

/* REQ-LIFETIME-once, REQ-LIFETIME-stale. */
enum model_status model_retain(struct model *m, int32_t slot, uint32_t generation)
{
  const enum model_status status = usable(m, slot, generation);
  if (status != MODEL_OK) {
    return status;
  }
  if (m->block[slot].references == UINT32_MAX) {
    return MODEL_ERROR_COUNT;
  }
  m->block[slot].references++;
  return MODEL_OK;
}

struct model_freed model_release(struct model *m, int32_t slot, uint32_t generation,
                                 struct model_caller caller)
{
  const enum model_status status = usable(m, slot, generation);
  return status != MODEL_OK ? (struct model_freed){status, 0} : drop(m, slot, caller);
}

/* REQ-STREAM-use. */
enum model_status model_record_use(struct model *m, int32_t slot, uint32_t generation,
                                   int32_t stream, struct model_caller caller)
{
  const enum model_status status = usable(m, slot, generation);
  if (status != MODEL_OK || !model_live_stream(m, stream)) {
    return status != MODEL_OK ? status : MODEL_ERROR_STREAM;
  }
  return model_add_use(m, slot, stream, model_in_capture(m, caller));
}

/* The segment of an allocated block: its first byte, and the sum of its blocks. REQ-TILE-base. */
struct model_range model_base(const struct model *m, int32_t slot, uint32_t generation)
{
  const enum model_status status = named(m, slot, generation);
  struct model_range range = {MODEL_OK, UINT64_MAX, 0};
  if (status != MODEL_OK) {
    return (struct model_range){status, 0, 0};
  }
  if (m->segment[m->block[slot].segment].growable) {
    return (struct model_range){MODEL_ERROR_GROWABLE, 0, 0};
  }
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state != MODEL_UNUSED && m->block[i].segment == m->block[slot].segment) {
      range.address = m->block[i].address < range.address ? m->block[i].address : range.address;
      range.bytes += m->block[i].size;
    }
  }
  return range;
}
