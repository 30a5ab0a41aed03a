/* audit_final.c - see audit_run.h: the state that the events lead to against the state listed.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>

static uint8_t listed_state(const struct ashlar_audit_run *run, int32_t slot)
{
  if (run->manager->state[slot] != ASHLAR_ALLOCATED) {
    return ASHLAR_BLOCK_INACTIVE;
  }
  return (run->marks[slot] & ASHLAR_MARK_PENDING) != 0 ? ASHLAR_BLOCK_PENDING_FREE
                                                       : ASHLAR_BLOCK_ALLOCATED;
}

static const char *state_name(uint8_t state)
{
  switch (state) {
  case ASHLAR_BLOCK_INACTIVE:
    return "free";
  case ASHLAR_BLOCK_ALLOCATED:
    return "allocated";
  default:
    return "waiting to be free";
  }
}

/* Compares one listed block with the manager's; true: equal. */
static bool compare_block(struct ashlar_audit_run *run, const struct ashlar_block *block,
                          int32_t slot)
{
  const struct ashlar_manager *manager = run->manager;
  if (manager->addr[slot] != block->address || manager->size[slot] != block->size) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, ASHLAR_NO_EVENT, block->address,
                      "listed with %" PRIu64 " bytes, but by the events the block is at 0x%" PRIx64
                      " with %" PRIu64,
                      block->size, manager->addr[slot], manager->size[slot]);
    return false;
  }
  const uint8_t state = listed_state(run, slot);
  if (state != block->state) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, block->address,
                      "listed as %s, but by the events it is %s", state_name(block->state),
                      state_name(state));
    return false;
  }
  const uint64_t requested = block->requested_size == 0 ? 1 : block->requested_size;
  if (state != ASHLAR_BLOCK_INACTIVE && (block->flags & ASHLAR_BLOCK_HAS_REQUESTED) != 0 &&
      (run->marks[slot] & ASHLAR_MARK_UNREQUESTED) == 0 && manager->requested[slot] != requested) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, block->address,
                      "listed with a request of %" PRIu64
                      " bytes, but by the events it is %" PRIu64,
                      block->requested_size, manager->requested[slot]);
    return false;
  }
  return true;
}

/* Compares the blocks of a segment; the first difference is the finding. */
static void compare_blocks(struct ashlar_audit_run *run, const struct ashlar_segment *segment,
                           int32_t slot)
{
  const struct ashlar_block *blocks = &run->part->snapshot->blocks[segment->first_block];
  for (uint64_t i = 0; i < segment->block_count; i++) {
    if (slot < 0 || run->manager->state[slot] == ASHLAR_UNMAPPED) {
      ashlar_audit_find(run->result, ASHLAR_RULE_TILE, ASHLAR_NO_EVENT, blocks[i].address,
                        "listed, but by the events there is no block here");
      return;
    }
    if (!compare_block(run, &blocks[i], slot)) {
      return;
    }
    slot = run->manager->next[slot];
  }
  if (slot >= 0 && run->manager->state[slot] != ASHLAR_UNMAPPED) {
    ashlar_audit_find(run->result, ASHLAR_RULE_TILE, ASHLAR_NO_EVENT, run->manager->addr[slot],
                      "by the events there is a block here, but it is not listed");
  }
}

/* Compares the live blocks of a segment that the manager does not hold. Those found are taken out of
   the strays. */
static void compare_strays(struct ashlar_audit_run *run, const struct ashlar_segment *segment)
{
  const struct ashlar_block *blocks = &run->part->snapshot->blocks[segment->first_block];
  for (uint64_t i = 0; i < segment->block_count; i++) {
    if (blocks[i].state == ASHLAR_BLOCK_INACTIVE) {
      continue;
    }
    struct ashlar_live *stray = ashlar_live_find(&run->strays, blocks[i].address);
    if (stray == NULL) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, blocks[i].address,
                        "listed as %s, but by the events it is free", state_name(blocks[i].state));
      continue;
    }
    if ((blocks[i].flags & ASHLAR_BLOCK_HAS_REQUESTED) != 0 && stray->requested != 0 &&
        stray->requested != blocks[i].requested_size) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, blocks[i].address,
                        "listed with a request of %" PRIu64
                        " bytes, but by the events it is %" PRIu64,
                        blocks[i].requested_size, stray->requested);
    }
    ashlar_live_remove(&run->strays, stray);
  }
}

/* A part of a range: its blocks, and that nothing is mapped on either side. */
static void compare_part(struct ashlar_audit_run *run, const struct ashlar_segment *segment)
{
  const struct ashlar_manager *manager = run->manager;
  struct ashlar_segment_record *record = ashlar_segments_at(&run->segments, segment->address);
  if (record == NULL || !record->is_growable) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, segment->address,
                      "the growable segment is listed, but by the events it is not there");
    return;
  }
  if (record->pool != segment->pool) {
    ashlar_audit_find(run->result, ASHLAR_RULE_POOL, ASHLAR_NO_EVENT, segment->address,
                      "the segment is listed in another pool than it was mapped for");
  } else if (ashlar_run_stream(run, record->stream) != ashlar_run_stream(run, segment->stream)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, ASHLAR_NO_EVENT, segment->address,
                      "the segment is listed under another stream than it was mapped on");
  }
  const int32_t slot = ashlar_run_block_at(run, record, segment->address);
  const int32_t before = manager->prev[slot];
  uint64_t mapped = 0;
  for (int32_t i = slot; i >= 0 && manager->state[i] != ASHLAR_UNMAPPED; i = manager->next[i]) {
    mapped += manager->size[i];
  }
  if (mapped != segment->total_size || (before >= 0 && manager->state[before] != ASHLAR_UNMAPPED)) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, segment->address,
                      "%" PRIu64
                      " bytes are listed as mapped here, but by the events it is %" PRIu64,
                      segment->total_size, mapped);
    record->mapped = 0;
    return;
  }
  compare_blocks(run, segment, slot);
  record->mapped -= mapped < record->mapped ? mapped : record->mapped;
}

static void compare_segment(struct ashlar_audit_run *run, const struct ashlar_segment *segment)
{
  struct ashlar_segment_record *record = ashlar_segments_find(&run->segments, segment->address);
  if (run->history->is_growable) {
    compare_strays(run, segment);
    return;
  }
  if (segment->is_expandable) {
    compare_part(run, segment);
    return;
  }
  if (record == NULL) {
    ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, segment->address,
                      "the segment is listed, but by the events it is not there");
    return;
  }
  if (record->reason != ASHLAR_OPEN_NONE) {
    compare_strays(run, segment);
  } else {
    if (record->size != segment->total_size) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, segment->address,
                        "the segment is listed with %" PRIu64
                        " bytes, but by the events it has %" PRIu64,
                        segment->total_size, record->size);
    }
    if (record->pool != segment->pool) {
      ashlar_audit_find(run->result, ASHLAR_RULE_POOL, ASHLAR_NO_EVENT, segment->address,
                        "the segment is listed in another pool than it was allocated for");
    } else if (ashlar_run_stream(run, record->stream) != ashlar_run_stream(run, segment->stream)) {
      ashlar_audit_find(run->result, ASHLAR_RULE_STREAM, ASHLAR_NO_EVENT, segment->address,
                        "the segment is listed under another stream than it was allocated on");
    }
    compare_blocks(run, segment, record->slot);
  }
  record->slot = -1; /* seen */
  record->size = 0;
}

void ashlar_run_compare(struct ashlar_audit_run *run)
{
  for (uint64_t i = 0; i < run->part->segment_count; i++) {
    compare_segment(run, &run->part->snapshot->segments[run->part->segments[i]]);
  }
  for (uint32_t i = 0; i < run->segments.count && !run->history->is_growable; i++) {
    const struct ashlar_segment_record *record = ashlar_segments_nth(&run->segments, i);
    if (record->is_growable && record->mapped > 0) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, record->address,
                        "by the events %" PRIu64
                        " bytes of the range here are mapped that are not listed",
                        record->mapped);
    } else if (record->size > 0 && !record->is_growable) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, record->address,
                        "by the events there is a segment of %" PRIu64
                        " bytes here, but it is not listed",
                        record->size);
    }
  }
  for (uint64_t i = 0; i < run->strays.capacity; i++) {
    const struct ashlar_live *stray = &run->strays.entries[i];
    if (stray->address != UINT64_MAX && (stray->note & ASHLAR_STRAY_FAULTY) == 0) {
      ashlar_audit_find(run->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, stray->address,
                        "by the events a block is live here, but it is not listed");
    }
  }
}
