/* reclaim.c - what the ladder releases next: by age, oversize, or everything.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* Order of releases: the default pool, then others as they were created; in the default pool the large class first, in
   others the small one; ordinary segments before growable ones; streams ascending; then the order of the list.
   REQ-LADDER-order, REQ-POOL-freeable, REQ-GROW-release. */
static bool released_before(const struct model *m, int32_t slot, int32_t other)
{
  const struct model_segment a = m->segment[m->block[slot].segment];
  const struct model_segment b = m->segment[m->block[other].segment];
  if (a.pool != b.pool) {
    return m->pool[a.pool].created < m->pool[b.pool].created;
  }
  if (a.small != b.small) {
    return a.small == (a.pool != 0);
  }
  if (a.growable != b.growable) {
    return b.growable;
  }
  return a.stream != b.stream ? model_stream_before(m, a.stream, b.stream)
                              : model_before(m, slot, other);
}

/* A free block of an ordinary segment that is all of it. */
static bool is_free_segment(const struct model *m, int32_t slot)
{
  const struct model_segment segment = m->segment[m->block[slot].segment];
  return model_listed(m, slot, segment.pool, segment.small) && model_whole(m, slot) &&
         !segment.growable;
}

/* Whether the releases of a request reach a pool. REQ-LADDER-all, REQ-LADDER-private, REQ-LADDER-empty. */
static bool reaches(const struct model *m, int32_t request, int32_t pool)
{
  const struct model_request asker = m->request[request];
  const bool freeable = pool != 0 && m->pool[pool].users == 0;
  if (asker.rung == MODEL_RUNG_EMPTY_RELEASE) {
    return asker.want.pool == -1 ? freeable || (pool == 0 && !model_in_capture(m, asker.caller))
                                 : freeable && asker.want.pool == pool;
  }
  return freeable || pool == 0 || (pool == asker.want.pool && m->config.policy == MODEL_COMPLETE);
}

/* The block that is released next, when everything is; of a growable segment, whose whole pages are unmapped. */
int32_t model_releasable(const struct model *m, int32_t request)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_FREE && (is_free_segment(m, i) || model_unmappable(m, i)) &&
        reaches(m, request, m->segment[m->block[i].segment].pool) &&
        (first == -1 || released_before(m, i, first))) {
      first = i;
    }
  }
  return first;
}

/* The oversize block of the request's list that is released next; -1: none, or enough is released. REQ-LADDER-oversize,
   REQ-GROW-release. */
int32_t model_oversize(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const uint64_t limit = m->config.max_split_size;
  const uint64_t least = want.size > limit ? want.size : limit;
  int32_t fitting = -1;
  int32_t greatest = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (!model_listed(m, i, want.pool, want.small) || !is_free_segment(m, i) ||
        m->segment[m->block[i].segment].stream != want.stream) {
      continue;
    }
    if (m->block[i].size >= least && (fitting == -1 || model_before(m, i, fitting))) {
      fitting = i;
    }
    if (m->block[i].size >= limit && (greatest == -1 || model_before(m, greatest, i))) {
      greatest = i;
    }
  }
  m->request[request].enough = m->request[request].released >= least;
  if (m->request[request].enough) {
    return -1;
  }
  return m->request[request].released == 0 && fitting != -1 ? fitting : greatest;
}

static uint64_t age(const struct model *m, int32_t slot)
{
  return m->pool[0].searches[0] - m->block[slot].entered;
}

/* The mean age of the whole free blocks of the default large class, rounded up; UNSET: there is none. */
static uint64_t mean_age(const struct model *m)
{
  uint64_t sum = 0;
  uint64_t count = 0;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (model_listed(m, i, 0, false) && model_whole(m, i)) {
      sum += age(m, i);
      count++;
    }
  }
  return count == 0 ? MODEL_UNSET : sum / count + (sum % count == 0 ? 0 : 1);
}

/* The block that the collection releases next; -1: it is over. A pass releases what is at least as old as the mean at its
   start. REQ-LADDER-collect. */
int32_t model_collectable(struct model *m, int32_t request)
{
  for (int32_t pass = 0; pass < 2; pass++) {
    const uint64_t cutoff = m->request[request].cutoff;
    int32_t first = -1;
    for (int32_t i = 0; i < m->blocks && cutoff != MODEL_UNSET; i++) {
      if (model_listed(m, i, 0, false) && is_free_segment(m, i) && age(m, i) >= cutoff &&
          (first == -1 || released_before(m, i, first))) {
        first = i;
      }
    }
    if (first != -1) {
      m->request[request].passed = true;
      return first;
    }
    if (cutoff != MODEL_UNSET && (!m->request[request].passed ||
                                  m->request[request].released >= m->request[request].target)) {
      return -1;
    }
    m->request[request].passed = false;
    m->request[request].cutoff = mean_age(m);
  }
  return -1;
}
