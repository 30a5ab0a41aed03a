/* model_support.c - see model_support.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_support.h"

#include <stddef.h>

void model_device_start(struct model_device *device, uint64_t capacity)
{
  *device = (struct model_device){.capacity = capacity, .next = UINT64_C(1) << 32};
}

static bool room_for(const struct model_device *device, uint64_t bytes)
{
  return bytes <= device->capacity && device->given <= device->capacity - bytes;
}

struct model_step model_device_perform(struct model_device *device, struct model *m,
                                       struct model_step step)
{
  enum model_outcome outcome = MODEL_PERFORMED;
  uint64_t value = 0;
  device->order[device->steps % 64] = step.kind;
  device->steps++;
  switch (step.kind) {
  case MODEL_STEP_ALLOCATE:
  case MODEL_STEP_MAP:
    outcome = room_for(device, step.bytes) ? MODEL_PERFORMED : MODEL_REFUSED;
    if (outcome == MODEL_PERFORMED) {
      device->given += step.bytes;
      device->allocations += step.kind == MODEL_STEP_ALLOCATE ? 1 : 0;
      device->maps += step.kind == MODEL_STEP_MAP ? 1 : 0;
    }
    break;
  case MODEL_STEP_RELEASE:
    device->given -= step.bytes;
    device->releases++;
    break;
  case MODEL_STEP_UNMAP:
    device->given -= step.bytes;
    device->unmaps++;
    break;
  case MODEL_STEP_WAIT:
    device->waits++;
    break;
  default:
    break;
  }
  if (outcome == MODEL_PERFORMED &&
      (step.kind == MODEL_STEP_ALLOCATE || step.kind == MODEL_STEP_RESERVE)) {
    value = device->next;
    device->next += step.bytes;
  }
  return model_resume(m, step.request, outcome, value);
}

struct model_step model_device_run(struct model_device *device, struct model *m,
                                   struct model_step step)
{
  while (model_step_is_open(step)) {
    step = model_device_perform(device, m, step);
  }
  return step;
}

static uint64_t end_of(struct model_block block)
{
  return block.address + block.size;
}

static const char *broken_block(const struct model *m, struct model_block b)
{
  const struct model_segment s = m->segment[b.segment];
  if (!s.used || b.size == 0 || b.size % 512 != 0 || b.address % 512 != 0) {
    return "a block is of no segment, empty or not aligned";
  }
  if (b.address < s.address || end_of(b) > s.address + s.size) {
    return "a block reaches out of its segment";
  }
  if (b.state == MODEL_HELD && !m->request[b.holder].used) {
    return "a block is held by nobody";
  }
  if (b.state == MODEL_ALLOCATED && (!b.mapped || b.requested > b.size || b.references == 0)) {
    return "an allocated block is not mapped, too small or without owner";
  }
  return NULL;
}

static const char *broken_pair(struct model_block b, struct model_block c)
{
  if (b.address < end_of(c) && c.address < end_of(b)) {
    return "two blocks overlap";
  }
  if (b.segment == c.segment && end_of(b) == c.address && b.state == MODEL_FREE &&
      c.state == MODEL_FREE && b.mapped == c.mapped) {
    return "two free neighbours did not coalesce";
  }
  return NULL;
}

static const char *broken_blocks(const struct model *m)
{
  uint64_t sum[MODEL_SEGMENTS] = {0};
  const char *why = NULL;
  for (int32_t i = 0; i < m->blocks && why == NULL; i++) {
    if (m->block[i].state != MODEL_UNUSED) {
      why = broken_block(m, m->block[i]);
      sum[m->block[i].segment] += m->block[i].size;
    }
    for (int32_t j = 0; j < m->blocks && why == NULL; j++) {
      if (j != i && m->block[i].state != MODEL_UNUSED && m->block[j].state != MODEL_UNUSED) {
        why = broken_pair(m->block[i], m->block[j]);
      }
    }
  }
  for (int32_t i = 0; i < m->segments && why == NULL; i++) {
    if (m->segment[i].used && sum[i] != m->segment[i].size) {
      why = "the blocks of a segment do not tile it";
    }
  }
  return why;
}

static const char *broken_uses(const struct model *m)
{
  uint32_t submitted[MODEL_BLOCKS] = {0};
  uint32_t recorded[MODEL_BLOCKS] = {0};
  for (int32_t u = 0; u < m->uses; u++) {
    const struct model_use use = m->use[u];
    if (use.used && use.number != 0 && use.number <= m->stream[use.stream].completed) {
      return "a finished use is in its queue";
    }
    submitted[use.slot] += use.used && use.number != 0 ? 1 : 0;
    recorded[use.slot] += use.used && use.number == 0 ? 1 : 0;
  }
  for (int32_t i = 0; i < m->blocks; i++) {
    const struct model_block b = m->block[i];
    const bool deferred = b.state == MODEL_PENDING && b.deferred != 0;
    const bool queued = b.state == MODEL_PENDING && b.deferred == 0;
    if (queued != (submitted[i] > 0)) {
      return "a block is in a queue and not pending, or pending and in none";
    }
    if (b.state != MODEL_ALLOCATED && deferred != (recorded[i] > 0)) {
      return "a block that is not allocated has recorded uses, or a deferred one has none";
    }
  }
  return NULL;
}

/* What the blocks say, counted one statistic at a time. */
static uint64_t recount(const struct model *m, int kind, int column)
{
  uint64_t sum = 0;
  for (int32_t i = 0; i < m->blocks; i++) {
    const struct model_block b = m->block[i];
    const struct model_segment s = m->segment[b.state == MODEL_UNUSED ? 0 : b.segment];
    if (b.state == MODEL_UNUSED || (column == MODEL_SMALL && !s.small) ||
        (column == MODEL_LARGE && s.small)) {
      continue;
    }
    const uint64_t live = b.state == MODEL_ALLOCATED ? 1 : 0;
    const uint64_t active = b.state == MODEL_ALLOCATED || b.state == MODEL_PENDING ? 1 : 0;
    const uint64_t idle =
        b.state == MODEL_FREE && !s.growable && b.size < s.size && b.mapped ? 1 : 0;
    const uint64_t head = !s.growable && b.mapped && b.address == s.address ? 1 : 0;
    const uint64_t values[MODEL_STATISTICS] = {
        [MODEL_ALLOCATION] = live,
        [MODEL_SEGMENT] = head,
        [MODEL_ACTIVE] = active,
        [MODEL_INACTIVE_SPLIT] = idle,
        [MODEL_ALLOCATED_BYTES] = live * b.size,
        [MODEL_RESERVED_BYTES] = b.mapped ? b.size : 0,
        [MODEL_ACTIVE_BYTES] = active * b.size,
        [MODEL_INACTIVE_SPLIT_BYTES] = idle * b.size,
        [MODEL_REQUESTED_BYTES] = active * b.requested,
        [MODEL_OVERSIZE_ALLOCATIONS] = b.size >= m->config.max_split_size ? live : 0,
        [MODEL_OVERSIZE_SEGMENTS] = s.size >= m->config.max_split_size ? head : 0,
    };
    sum += values[kind];
  }
  return sum;
}

const char *model_broken(const struct model *m)
{
  const char *why = broken_blocks(m);
  why = why == NULL ? broken_uses(m) : why;
  for (int kind = 0; kind < MODEL_STATISTICS && why == NULL; kind++) {
    for (int column = 0; column < MODEL_COLUMNS; column++) {
      const struct model_counter c = m->statistic[kind][column];
      if (c.current != recount(m, kind, column)) {
        return "a statistic is not what the blocks say";
      }
      if (c.peak < c.current || c.allocated - c.freed != c.current) {
        return "peak or totals of a statistic do not go with its value";
      }
    }
  }
  return why;
}

bool model_is_canonical(const struct model *m)
{
  bool canonical = true;
  for (int32_t i = 0; i < m->blocks; i++) {
    const struct model_block b = m->block[i];
    if (b.state != MODEL_UNUSED) {
      canonical = canonical && b.state == MODEL_FREE &&
                  (m->segment[b.segment].growable || b.size == m->segment[b.segment].size);
    }
  }
  return canonical;
}
