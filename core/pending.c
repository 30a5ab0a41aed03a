/* pending.c - see pending.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/pending.h"

enum ashlar_status ashlar_pending_use(struct ashlar_manager *m, int32_t slot, int32_t stream,
                                      uint8_t captured)
{
  int32_t use = ashlar_use_find(m, slot, stream);
  if (use != -1) {
    if (m->config.policy == ASHLAR_POLICY_FAITHFUL) {
      m->use_captured[use] |= captured;
    } else {
      m->use_captured[use] &= captured;
    }
    return ASHLAR_OK;
  }
  if (!ashlar_use_room(m, m->first_use[slot] == 0 ? 2 : 1)) {
    return ASHLAR_ERROR_USES;
  }
  if (m->first_use[slot] == 0) {
    (void)ashlar_use_add(m, slot, ASHLAR_STREAM_DEFERRED, 0);
  }
  (void)ashlar_use_add(m, slot, stream, captured);
  return ASHLAR_OK;
}

/* Submits all uses of a block but that of deferral, which is dropped; the block is free where none is left. */
static int submit(struct ashlar_manager *m, int32_t slot)
{
  int32_t deferral = ashlar_use_find(m, slot, ASHLAR_STREAM_DEFERRED);
  if (deferral != -1) {
    ashlar_use_drop(m, deferral);
  }
  if (m->first_use[slot] == 0) {
    (void)ashlar_allocation_free(m, slot);
    return 0;
  }
  ashlar_uses_submit(m, slot);
  return 1;
}

int ashlar_pending_back(struct ashlar_manager *m, int32_t slot, int captured)
{
  int32_t last = m->first_use[slot] - 1;
  if (captured && last != -1 && m->use_stream[last] != ASHLAR_STREAM_DEFERRED) {
    (void)ashlar_use_submit(m, ashlar_use_find(m, slot, ASHLAR_STREAM_DEFERRED));
    return 0;
  }
  return submit(m, slot);
}

/* Drops the uses of a block that were recorded during a capture. */
static void drop_captured(struct ashlar_manager *m, int32_t slot)
{
  int32_t use = m->first_use[slot] - 1;
  while (use != -1) {
    int32_t more = m->use_more[use];
    if (m->use_captured[use] != 0) {
      ashlar_use_drop(m, use);
    }
    use = more;
  }
}

void ashlar_pending_go_on(struct ashlar_manager *m)
{
  int32_t slot;
  m->completed[ASHLAR_STREAM_DEFERRED] = m->submitted[ASHLAR_STREAM_DEFERRED];
  slot = ashlar_use_pop(m, ASHLAR_STREAM_DEFERRED);
  while (slot != -1) {
    drop_captured(m, slot);
    (void)submit(m, slot);
    slot = ashlar_use_pop(m, ASHLAR_STREAM_DEFERRED);
  }
}

int32_t ashlar_pending_finish(struct ashlar_manager *m, int32_t stream, uint64_t number)
{
  int32_t freed = 0;
  int32_t slot;
  if (number > m->completed[stream]) {
    m->completed[stream] = number;
  }
  slot = ashlar_use_pop(m, stream);
  while (slot != -1) {
    if (m->first_use[slot] == 0) {
      (void)ashlar_allocation_free(m, slot);
      freed++;
    }
    slot = ashlar_use_pop(m, stream);
  }
  return freed;
}

uint64_t ashlar_pending_last(const struct ashlar_manager *m, int32_t stream, int32_t pool)
{
  int32_t use = m->queue_head[stream] - 1;
  uint64_t last = 0;
  if (pool == -1) {
    return m->queue_tail[stream] == 0 ? 0 : m->use_number[m->queue_tail[stream] - 1];
  }
  while (use != -1) {
    if (ashlar_home_pool(m->home[m->use_block[use]]) == pool) {
      last = m->use_number[use];
    }
    use = m->use_next[use];
  }
  return last;
}

void ashlar_pending_forget(struct ashlar_manager *m, int32_t stream)
{
  int32_t use = 0;
  while (use < m->use_top) {
    if (m->use_block[use] != -1 && m->use_stream[use] == stream && m->use_number[use] == 0) {
      ashlar_use_drop(m, use);
    }
    use++;
  }
}
