/* Whether a snapshot keeps its promises.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/snapshot.h"

static const uint64_t MAX_END = UINT64_C(1) << 63;

static bool is_within(uint64_t address, uint64_t size)
{
  return address < MAX_END && size < MAX_END && address + size <= MAX_END;
}

static bool segment_is_valid(const struct ashlar_snapshot *snapshot,
                             const struct ashlar_segment *segment, uint64_t first_block)
{
  return is_within(segment->address, segment->total_size) && segment->allocated_size < MAX_END &&
         segment->active_size < MAX_END && segment->requested_size < MAX_END &&
         segment->first_block == first_block &&
         segment->block_count <= snapshot->block_count - first_block &&
         segment->stream < snapshot->stream_count && segment->pool < snapshot->pool_count &&
         segment->type <= ASHLAR_SEGMENT_LARGE && segment->flags <= ASHLAR_SEGMENT_HAS_ALL;
}

static bool event_is_valid(const struct ashlar_snapshot *snapshot, const struct ashlar_event *event)
{
  const unsigned needed = ASHLAR_EVENT_HAS_ADDRESS | ASHLAR_EVENT_HAS_SIZE;

  if (event->stream >= snapshot->stream_count || event->pool >= snapshot->pool_count ||
      event->name >= snapshot->name_count || event->action >= ASHLAR_ACTION_COUNT) {
    return false;
  }
  if (event->action == ASHLAR_ACTION_OTHER) {
    return true;
  }
  if (event->name != 0) {
    return false;
  }
  if (event->action == ASHLAR_ACTION_OOM || event->action == ASHLAR_ACTION_SNAPSHOT) {
    return true;
  }
  return (event->flags & needed) == needed && is_within(event->address, event->size);
}

static bool traces_are_valid(const struct ashlar_snapshot *snapshot)
{
  uint64_t count = 0;

  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    const struct ashlar_device_trace *trace = &snapshot->traces[i];

    for (uint64_t k = 0; k < trace->event_count; k++) {
      if (!event_is_valid(snapshot, &trace->events[k])) {
        return false;
      }
    }
    count += trace->event_count;
  }
  return count == snapshot->event_count && snapshot->has_history == (count > 0) &&
         (snapshot->has_traces || snapshot->trace_count == 0);
}

bool ashlar_snapshot_is_valid(const struct ashlar_snapshot *snapshot)
{
  uint64_t first_block = 0;

  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    if (!segment_is_valid(snapshot, &snapshot->segments[i], first_block)) {
      return false;
    }
    first_block += snapshot->segments[i].block_count;
  }
  if (first_block != snapshot->block_count) {
    return false;
  }
  for (uint64_t i = 0; i < snapshot->block_count; i++) {
    const struct ashlar_block *block = &snapshot->blocks[i];

    if (!is_within(block->address, block->size) || block->requested_size >= MAX_END ||
        block->state > ASHLAR_BLOCK_PENDING_FREE) {
      return false;
    }
  }
  return traces_are_valid(snapshot);
}
