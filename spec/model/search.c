/* search.c - which free block serves a request, and how the request takes it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

static bool is_growable(const struct model *m, int32_t slot)
{
  return m->segment[m->block[slot].segment].growable;
}

/* Whether the block is in the list of the request; growable segments that are off for it are passed over.
   REQ-STREAM-own, REQ-POOL-apart, REQ-BESTFIT-skip, REQ-GROW-toggle. */
static bool in_list(const struct model *m, struct model_want want, int32_t slot)
{
  return model_listed(m, slot, want.pool, want.small) &&
         m->segment[m->block[slot].segment].stream == want.stream &&
         (want.growable || !is_growable(m, slot));
}

/* The least block of the list that has at least the size, and comes after another (-1: after none); -1: none.
   REQ-BESTFIT-least. */
static int32_t least(const struct model *m, struct model_want want, int32_t after)
{
  int32_t best = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (in_list(m, want, i) && m->block[i].size >= want.size &&
        (after == -1 || model_before(m, after, i)) && (best == -1 || model_before(m, i, best))) {
      best = i;
    }
  }
  return best;
}

/* What the block could grow to: its size and that of the unmapped block behind it. */
static uint64_t extent(const struct model *m, int32_t slot)
{
  const int32_t behind = model_behind(m, slot);
  const bool grows =
      behind != -1 && m->block[behind].state == MODEL_FREE && !m->block[behind].mapped;
  return m->block[slot].size + (grows ? m->block[behind].size : 0);
}

/* The block that serves the request; -1: none. REQ-BESTFIT-walk, REQ-BESTFIT-none. */
int32_t model_search(const struct model *m, struct model_want want)
{
  int32_t best = least(m, want, -1);
  for (int32_t round = 0; round < MODEL_BLOCKS && best != -1 && is_growable(m, best); round++) {
    const int32_t next = least(m, want, best);
    if (next == -1 || extent(m, next) >= extent(m, best)) {
      break;
    }
    best = next;
  }
  return best == -1 || !model_may_serve(m, want.size, m->block[best].size) ? -1 : best;
}

/* Ages count while there is a threshold and a base: the limit, and in `complete` without one the total of the device.
   REQ-LADDER-age, REQ-LADDER-collect. */
bool model_ages_count(const struct model *m)
{
  return m->collect_above != MODEL_UNSET &&
         (m->limit != MODEL_UNSET || m->config.policy == MODEL_COMPLETE);
}

/* REQ-LADDER-age: hits and misses. */
void model_count_search(struct model *m, struct model_want want)
{
  if (model_ages_count(m)) {
    m->pool[want.pool].searches[want.small ? 1 : 0]++;
  }
}

/* A block gets an owner, and a handle of its own. REQ-FREE-handle. */
void model_hand_out(struct model *m, int32_t slot)
{
  m->block[slot].state = MODEL_ALLOCATED;
  m->block[slot].references = 1;
  model_renew(m, slot);
}

/* The request takes a free block that is large enough, its front if it is split. REQ-SIZE-enough, REQ-SIZE-front. */
void model_take(struct model *m, struct model_want want, int32_t slot)
{
  const bool splits = model_splits(m, want, slot);
  model_hand_out(m, slot);
  if (splits) {
    model_enter(m, model_cut(m, slot, want.size));
  }
  m->block[slot].requested = want.bytes;
  model_settle(m);
}
