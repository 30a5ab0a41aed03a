/* audit_support.c - see audit_support.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/audit_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

uint16_t stream_index(struct ashlar_snapshot *snapshot, uint64_t handle)
{
  uint16_t index = 0;
  assert_true(ashlar_snapshot_stream(snapshot, handle, false, &index));
  return index;
}

void add_event(struct ashlar_snapshot *snapshot, enum ashlar_action action, uint64_t address,
               uint64_t size, uint64_t stream)
{
  const struct ashlar_event event = {
      .address = address,
      .size = size,
      .stream = stream_index(snapshot, stream),
      .action = (uint8_t)action,
      .flags = ASHLAR_EVENT_HAS_ADDRESS | ASHLAR_EVENT_HAS_SIZE | ASHLAR_EVENT_HAS_STREAM |
               ASHLAR_EVENT_HAS_POOL,
  };
  assert_true(ashlar_snapshot_add_event(snapshot, 0, &event));
}

void add_free(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size, uint64_t stream)
{
  add_event(snapshot, ASHLAR_ACTION_FREE_REQUESTED, address, size, stream);
  add_event(snapshot, ASHLAR_ACTION_FREE_COMPLETED, address, size, stream);
}

void add_segment_and_alloc(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t total,
                           uint64_t size, uint64_t stream)
{
  add_event(snapshot, ASHLAR_ACTION_SEGMENT_ALLOC, address, total, stream);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, address, size, stream);
}

void list_segment(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t total,
                  uint64_t stream)
{
  const struct ashlar_segment segment = {
      .address = address,
      .total_size = total,
      .stream = stream_index(snapshot, stream),
      .flags = ASHLAR_SEGMENT_HAS_DEVICE | ASHLAR_SEGMENT_HAS_STREAM | ASHLAR_SEGMENT_HAS_POOL |
               ASHLAR_SEGMENT_HAS_EXPANDABLE | ASHLAR_SEGMENT_HAS_TOTAL |
               ASHLAR_SEGMENT_HAS_ALLOCATED | ASHLAR_SEGMENT_HAS_ACTIVE |
               ASHLAR_SEGMENT_HAS_REQUESTED | ASHLAR_SEGMENT_HAS_BLOCKS,
      .type = total == 2 * MIB ? ASHLAR_SEGMENT_SMALL : ASHLAR_SEGMENT_LARGE,
  };
  assert_true(ashlar_snapshot_add_segment(snapshot, &segment));
}

void fix_sums(struct ashlar_snapshot *snapshot, uint64_t segment)
{
  struct ashlar_segment *changed = &snapshot->segments[segment];
  changed->allocated_size = 0;
  changed->active_size = 0;
  changed->requested_size = 0;
  for (uint64_t i = 0; i < changed->block_count; i++) {
    const struct ashlar_block *block = &snapshot->blocks[changed->first_block + i];
    if (block->state != ASHLAR_BLOCK_INACTIVE) {
      changed->active_size += block->size;
      changed->requested_size += block->requested_size;
      changed->allocated_size += block->state == ASHLAR_BLOCK_ALLOCATED ? block->size : 0;
    }
  }
}

void list_block(struct ashlar_snapshot *snapshot, uint64_t size, uint64_t requested,
                enum ashlar_block_state state)
{
  const struct ashlar_segment *segment = &snapshot->segments[snapshot->segment_count - 1];
  struct ashlar_block block = {
      .address = segment->address,
      .size = size,
      .requested_size = requested,
      .state = (uint8_t)state,
      .flags = ASHLAR_BLOCK_HAS_ADDRESS | ASHLAR_BLOCK_HAS_REQUESTED,
  };
  if (segment->block_count > 0) {
    const struct ashlar_block *last = &snapshot->blocks[snapshot->block_count - 1];
    block.address = last->address + last->size;
  }
  assert_true(ashlar_snapshot_add_block(snapshot, &block));
  fix_sums(snapshot, snapshot->segment_count - 1);
}

void insert_event(struct ashlar_snapshot *snapshot, uint64_t place, enum ashlar_action action,
                  uint64_t address, uint64_t size, uint64_t stream)
{
  add_event(snapshot, action, address, size, stream);
  struct ashlar_device_trace *trace = &snapshot->traces[0];
  const struct ashlar_event added = trace->events[trace->event_count - 1];
  for (uint64_t i = trace->event_count - 1; i > place; i--) {
    trace->events[i] = trace->events[i - 1];
  }
  trace->events[place] = added;
}

void remove_event(struct ashlar_snapshot *snapshot, uint64_t place)
{
  struct ashlar_device_trace *trace = &snapshot->traces[0];
  for (uint64_t i = place; i + 1 < trace->event_count; i++) {
    trace->events[i] = trace->events[i + 1];
  }
  trace->event_count--;
}

void begin_snapshot(struct ashlar_snapshot *snapshot)
{
  assert_true(ashlar_snapshot_init(snapshot));
  assert_true(ashlar_snapshot_add_trace(snapshot));
  snapshot->settings.is_present = true;
  snapshot->settings.flags = ASHLAR_SETTINGS_HAS_MAX_SPLIT;
  snapshot->settings.max_split_size = -1;
}

void good_recording(struct ashlar_snapshot *snapshot)
{
  const uint64_t exact = 31 * MIB + 5; /* rounded 31 MiB + 512, from a segment of 32 MiB, unsplit */
  const uint64_t reuse =
      5 * MIB / 2; /* in a hole of 3 MiB: the rest is too small to be split off */
  begin_snapshot(snapshot);
  add_segment_and_alloc(snapshot, LARGE_A, 20 * MIB, 3 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A + 3 * MIB, 2 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A + 5 * MIB, 4 * MIB, 0);
  add_free(snapshot, LARGE_A, 3 * MIB, 0);
  add_segment_and_alloc(snapshot, SMALL_A, 2 * MIB, 1000, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, SMALL_A + KIB, 512, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A, reuse, 0);
  add_segment_and_alloc(snapshot, LARGE_B, 20 * MIB, 4 * MIB, OTHER_STREAM);
  add_segment_and_alloc(snapshot, LARGE_C, 32 * MIB, exact, 0);
  add_free(snapshot, LARGE_C, exact, 0);
  add_free(snapshot, LARGE_B, 4 * MIB, OTHER_STREAM);
  add_event(snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_C, 32 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_SEGMENT_FREE, LARGE_B, 20 * MIB, OTHER_STREAM);
  add_free(snapshot, LARGE_A + 5 * MIB, 4 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_ALLOC, LARGE_A + 5 * MIB, 9 * MIB, 0);
  add_event(snapshot, ASHLAR_ACTION_FREE_REQUESTED, SMALL_A + KIB, 512, 0);
  assert_int_equal(snapshot->traces[0].event_count, GOOD_EVENTS);

  list_segment(snapshot, LARGE_A, 20 * MIB, 0);
  list_block(snapshot, 3 * MIB, reuse, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 2 * MIB, 2 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 9 * MIB, 9 * MIB, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 6 * MIB, 4 * MIB, ASHLAR_BLOCK_INACTIVE);
  list_segment(snapshot, SMALL_A, 2 * MIB, 0);
  list_block(snapshot, KIB, 1000, ASHLAR_BLOCK_ALLOCATED);
  list_block(snapshot, 512, 512, ASHLAR_BLOCK_PENDING_FREE);
  list_block(snapshot, 2 * MIB - KIB - 512, 0, ASHLAR_BLOCK_INACTIVE);
}

struct ashlar_audit audit_of(const struct ashlar_snapshot *snapshot, enum ashlar_audit_order order)
{
  const struct ashlar_audit_options options = {order};
  struct ashlar_audit audit;
  struct ashlar_error error;
  assert_true(ashlar_audit_snapshot(snapshot, "test", &options, &audit, &error));
  for (uint64_t i = 0; i < audit.device_count; i++) {
    const struct ashlar_audit_device *device = &audit.devices[i];
    assert_int_equal(device->allocations, device->agree + device->differ + device->undetermined);
  }
  return audit;
}

uint64_t count_rule(const struct ashlar_audit *audit, enum ashlar_rule rule)
{
  uint64_t count = 0;
  for (uint64_t i = 0; i < audit->device_count; i++) {
    for (uint64_t k = 0; k < audit->devices[i].findings_kept; k++) {
      count += audit->devices[i].findings[k].rule == rule ? 1 : 0;
    }
  }
  return count;
}

void print_findings(const struct ashlar_audit *audit)
{
  for (uint64_t i = 0; i < audit->device_count; i++) {
    for (uint64_t k = 0; k < audit->devices[i].findings_kept; k++) {
      const struct ashlar_finding *finding = &audit->devices[i].findings[k];
      print_message("  %s at event %lld: %s\n", ashlar_rule_name(finding->rule),
                    (long long)finding->event, finding->detail);
    }
  }
}
