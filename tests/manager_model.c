/* manager_model.c - see manager_model.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/manager_model.h"

#include "core/size_policy.h"

struct model_request model_request_of(const struct ashlar_manager *m, uint64_t bytes,
                                      int32_t stream)
{
  struct model_request request = {0};
  request.size = ashlar_round_size(bytes, m->config.divisions[ashlar_division_row(bytes)]);
  request.class = request.size <= 1048576 ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  request.stream = stream;
  return request;
}

/* Order of free blocks of one list: size, age of the segment where the setting says so, address.
   Oracle: REQ-BESTFIT-order. */
static bool before(const struct ashlar_manager *m, int32_t i, int32_t j)
{
  if (m->size[i] != m->size[j]) {
    return m->size[i] < m->size[j];
  }
  if (m->config.order == ASHLAR_ORDER_SEGMENT && m->age[i] != m->age[j]) {
    return m->age[i] < m->age[j];
  }
  return m->addr[i] < m->addr[j];
}

/* Of a block of the default pool. */
static int32_t class_of(const struct ashlar_manager *m, int32_t slot)
{
  return m->home[slot] / ASHLAR_STREAMS;
}

static int32_t stream_of(const struct ashlar_manager *m, int32_t slot)
{
  return m->home[slot] % ASHLAR_STREAMS;
}

/* Oracle: REQ-STREAM-own, REQ-POOL-apart. */
static bool is_candidate(const struct ashlar_manager *m, int32_t slot,
                         const struct model_request *request)
{
  return m->state[slot] == ASHLAR_FREE && class_of(m, slot) == request->class &&
         stream_of(m, slot) == request->stream;
}

static bool is_whole(const struct ashlar_manager *m, int32_t slot)
{
  return m->state[slot] == ASHLAR_FREE && m->prev[slot] == -1 && m->next[slot] == -1;
}

/* Oracle: REQ-BESTFIT-least, REQ-BESTFIT-none, REQ-BESTFIT-oversize. */
int32_t model_choice(const struct ashlar_manager *m, const struct model_request *request)
{
  const uint64_t limit = m->config.max_split_size;
  int32_t best = -1;
  for (int32_t i = 0; i < m->top; i++) {
    if (is_candidate(m, i, request) && m->size[i] >= request->size &&
        (best == -1 || before(m, i, best))) {
      best = i;
    }
  }
  if (best == -1 || (request->size < limit && m->size[best] >= limit)) {
    return -1;
  }
  return request->size >= limit && m->size[best] - request->size >= m->config.oversize_slack ? -1
                                                                                             : best;
}

/* Oracle: REQ-SIZE-split. */
uint64_t model_given(const struct ashlar_manager *m, const struct model_request *request,
                     uint64_t size)
{
  const uint64_t rest = size - request->size;
  const bool split = request->class == ASHLAR_CLASS_SMALL
                         ? rest >= 512
                         : request->size < m->config.max_split_size && rest > 1048576;
  return split ? request->size : size;
}

/* Release order: large before small, streams by key, then free-list order.
   Oracle: REQ-LADDER-order. */
static bool released_before(const struct ashlar_manager *m, int32_t i, int32_t j)
{
  const uint64_t key_i = m->stream_key[stream_of(m, i)];
  const uint64_t key_j = m->stream_key[stream_of(m, j)];
  if (class_of(m, i) != class_of(m, j)) {
    return class_of(m, i) == ASHLAR_CLASS_LARGE;
  }
  return key_i != key_j ? key_i < key_j : before(m, i, j);
}

/* Oracle: REQ-LADDER-all. */
int32_t model_release(const struct ashlar_manager *m)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->top; i++) {
    if (is_whole(m, i) && (first == -1 || released_before(m, i, first))) {
      first = i;
    }
  }
  return first;
}

/* The least segment that is enough by itself, else the greatest oversize one.
   Oracle: REQ-LADDER-oversize. */
static int32_t oversize(const struct ashlar_manager *m, const struct model_request *request,
                        uint64_t need)
{
  int32_t enough = -1;
  int32_t greatest = -1;
  for (int32_t i = 0; i < m->top; i++) {
    if (is_candidate(m, i, request) && is_whole(m, i)) {
      if (m->size[i] >= need && (enough == -1 || before(m, i, enough))) {
        enough = i;
      }
      if (m->size[i] >= m->config.max_split_size && (greatest == -1 || before(m, greatest, i))) {
        greatest = i;
      }
    }
  }
  return enough != -1 ? enough : greatest;
}

static struct model_step release(const struct ashlar_manager *m, int32_t slot)
{
  return (struct model_step){ASHLAR_STEP_RELEASE, m->addr[slot], m->size[slot]};
}

static struct model_step ask(const struct ashlar_manager *m, struct model_request *request,
                             enum model_place place)
{
  request->place = place;
  return (struct model_step){ASHLAR_STEP_ALLOCATE, 0,
                             ashlar_segment_size(request->size, m->config.large_segment_size)};
}

/* Oracle: REQ-LADDER-device, REQ-LADDER-oversize, REQ-LADDER-all, REQ-LADDER-last, REQ-LADDER-once,
   REQ-LADDER-resort. */
struct model_step model_next(const struct ashlar_manager *m, struct model_request *request)
{
  const uint64_t limit = m->config.max_split_size;
  const uint64_t need = request->size > limit ? request->size : limit;
  int32_t slot = -1;
  if (request->place == MODEL_LAST && m->config.policy == ASHLAR_POLICY_COMPLETE) {
    return ask(m, request, MODEL_AGAIN);
  }
  if (request->place >= MODEL_LAST) {
    return (struct model_step){ASHLAR_STEP_OUT_OF_MEMORY, 0, request->size};
  }
  if (limit != UINT64_MAX && request->place <= MODEL_OVERSIZE) {
    if (request->released >= need) {
      return ask(m, request, MODEL_SECOND);
    }
    slot = oversize(m, request, need);
    if (slot != -1) {
      request->place = MODEL_OVERSIZE;
      request->released += m->size[slot];
      return release(m, slot);
    }
  }
  slot = model_release(m);
  if (slot == -1) {
    return ask(m, request, MODEL_LAST);
  }
  request->place = MODEL_ALL;
  return release(m, slot);
}
