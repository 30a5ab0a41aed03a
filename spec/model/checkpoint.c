/* checkpoint.c - the blocks of a private pool, recorded and restored.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

static bool is_of_pool(const struct model *m, int32_t slot, int32_t pool)
{
  return m->block[slot].state != MODEL_UNUSED && m->segment[m->block[slot].segment].pool == pool;
}

/* Whether no block of the pool is pending or held, and a checkpoint may be taken or restored. */
static enum model_status settled(const struct model *m, int32_t pool)
{
  bool moving = false;
  for (int32_t i = 0; i < m->blocks; i++) {
    moving = moving || (is_of_pool(m, i, pool) &&
                        (m->block[i].state == MODEL_PENDING || m->block[i].state == MODEL_HELD));
  }
  return moving ? MODEL_ERROR_PENDING : MODEL_OK;
}

/* The mapped block of the pool with the lowest address from there on; -1: none. */
static int32_t next_mapped(const struct model *m, int32_t pool, uint64_t from)
{
  int32_t next = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (is_of_pool(m, i, pool) && m->block[i].mapped && m->block[i].address >= from &&
        (next == -1 || m->block[i].address < m->block[next].address)) {
      next = i;
    }
  }
  return next;
}

/* REQ-CHECKPOINT-save. */
enum model_status model_checkpoint_save(struct model *m, int32_t pool, struct model_caller caller,
                                        struct model_checkpoint *checkpoint)
{
  if (model_busy(m) || !model_private(m, pool)) {
    return model_busy(m) ? MODEL_ERROR_BUSY : MODEL_ERROR_POOL;
  }
  if (!model_in_capture(m, caller)) {
    model_go_on(m);
  }
  const enum model_status status = settled(m, pool);
  if (status != MODEL_OK) {
    return status;
  }
  checkpoint->pool = pool;
  checkpoint->blocks = 0;
  int32_t slot = next_mapped(m, pool, 0);
  for (int32_t i = 0; i < MODEL_BLOCKS && slot != -1; i++) {
    const struct model_segment segment = m->segment[m->block[slot].segment];
    struct model_saved saved = {.segment = segment,
                                .address = m->block[slot].address,
                                .size = m->block[slot].size,
                                .allocated = m->block[slot].state == MODEL_ALLOCATED};
    for (int32_t use = 0; use < m->uses; use++) {
      if (m->use[use].used && m->use[use].slot == slot) {
        saved.use[m->use[use].stream] = true;
      }
    }
    checkpoint->block[i] = saved;
    checkpoint->blocks = i + 1;
    slot = next_mapped(m, pool, saved.address + saved.size);
  }
  return MODEL_OK;
}

/* Whether a segment is of the list that was recorded, and has the address of the block. */
static bool is_home(struct model_segment segment, struct model_saved saved)
{
  return segment.pool == saved.segment.pool && segment.small == saved.segment.small &&
         segment.stream == saved.segment.stream && segment.address <= saved.address &&
         saved.address - segment.address < segment.size;
}

/* Whether what was recorded of a block can be there again: it lies in one segment of its list, mapped, and will be free;
   and the streams of its uses are there. */
static bool fits(const struct model *m, struct model_saved saved)
{
  uint64_t mapped = 0;
  bool there = true;
  for (int32_t i = 0; i < m->blocks; i++) {
    const uint64_t start = m->block[i].address;
    const uint64_t end = start + m->block[i].size;
    const uint64_t from = start > saved.address ? start : saved.address;
    const uint64_t to = end < saved.address + saved.size ? end : saved.address + saved.size;
    if (m->block[i].state != MODEL_UNUSED && m->block[i].mapped && from < to &&
        is_home(m->segment[m->block[i].segment], saved)) {
      mapped += to - from;
    }
  }
  for (int32_t stream = 0; stream < MODEL_STREAMS; stream++) {
    there = there && (!saved.use[stream] || model_live_stream(m, stream));
  }
  return there && mapped == saved.size;
}

/* What model_add_use asks for. */
static int32_t uses_of(const struct model_checkpoint *checkpoint)
{
  int32_t count = 0;
  for (int32_t i = 0; i < checkpoint->blocks; i++) {
    int32_t streams = 0;
    for (int32_t stream = 0; stream < MODEL_STREAMS; stream++) {
      streams += checkpoint->block[i].use[stream] ? 1 : 0;
    }
    count += streams > 0 ? streams + 1 : 0;
  }
  return count;
}

/* Before anything changes. A block with uses would be pending, not free. */
static enum model_status misfit(const struct model *m, const struct model_checkpoint *checkpoint)
{
  enum model_status status = settled(m, checkpoint->pool);
  for (int32_t i = 0; i < checkpoint->blocks && status == MODEL_OK; i++) {
    status = fits(m, checkpoint->block[i]) ? MODEL_OK : MODEL_ERROR_MISFIT;
  }
  for (int32_t i = 0; i < m->uses && status == MODEL_OK; i++) {
    status = m->use[i].used && is_of_pool(m, m->use[i].slot, checkpoint->pool) ? MODEL_ERROR_PENDING
                                                                               : MODEL_OK;
  }
  if (status == MODEL_OK && model_use_room(m) < uses_of(checkpoint)) {
    status = MODEL_ERROR_USES;
  }
  return status == MODEL_OK && model_room(m) < 2 * checkpoint->blocks + MODEL_RESERVE
             ? MODEL_ERROR_BLOCKS
             : status;
}

/* An allocated block as it was recorded, out of the free block that is there; what is left stays free. */
static void rebuild(struct model *m, struct model_saved saved, struct model_want want)
{
  int32_t slot = next_mapped(m, want.pool, 0);
  for (int32_t i = 0;
       i < MODEL_BLOCKS && m->block[slot].address + m->block[slot].size <= saved.address; i++) {
    slot = next_mapped(m, want.pool, m->block[slot].address + m->block[slot].size);
  }
  if (m->block[slot].address < saved.address) {
    slot = model_cut(m, slot, saved.address - m->block[slot].address);
  }
  if (m->block[slot].size > saved.size) {
    (void)model_cut(m, slot, saved.size);
  }
  m->block[slot].requested = saved.size;
  model_hand_out(m, slot);
  for (int32_t stream = 0; stream < MODEL_STREAMS; stream++) {
    if (saved.use[stream]) {
      (void)model_add_use(m, slot, stream, false);
    }
  }
}

/* The allocated block of the pool with the lowest address; -1: none. */
static int32_t first_allocated(const struct model *m, int32_t pool)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (is_of_pool(m, i, pool) && m->block[i].state == MODEL_ALLOCATED &&
        (first == -1 || m->block[i].address < m->block[first].address)) {
      first = i;
    }
  }
  return first;
}

/* REQ-CHECKPOINT-restore, REQ-ACCOUNT-net. */
struct model_restored model_checkpoint_restore(struct model *m, struct model_caller caller,
                                               const struct model_checkpoint *checkpoint)
{
  struct model_restored restored = {MODEL_OK, 0, 0};
  if (model_busy(m) || !model_private(m, checkpoint->pool)) {
    restored.status = model_busy(m) ? MODEL_ERROR_BUSY : MODEL_ERROR_POOL;
    return restored;
  }
  if (!model_in_capture(m, caller)) {
    model_go_on(m);
  }
  restored.status = misfit(m, checkpoint);
  if (restored.status != MODEL_OK) {
    return restored;
  }
  int32_t slot = first_allocated(m, checkpoint->pool);
  for (int32_t round = 0; round < MODEL_BLOCKS && slot != -1; round++) {
    m->block[slot].references = 0;
    model_enter(m, slot); /* it has no uses */
    restored.freed++;
    slot = first_allocated(m, checkpoint->pool);
  }
  for (int32_t i = 0; i < checkpoint->blocks; i++) {
    if (checkpoint->block[i].allocated) {
      rebuild(m, checkpoint->block[i], (struct model_want){.pool = checkpoint->pool});
      restored.created++;
    }
  }
  model_settle(m);
  return restored;
}
