/* audit_state.c - see audit_state.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_state.h"

#include <inttypes.h>

/* One segment being checked. */
struct checking {
  const struct ashlar_config *config;
  struct ashlar_audit_device *result;
  const struct ashlar_segment *segment;
  uint64_t blocks; /* sums over its blocks, modulo 2^64 */
  uint64_t allocated;
  uint64_t active;
  uint64_t requested;
  bool has_requests; /* of all active blocks */
};

/* Page of a growable segment, which its class tells. */
static uint64_t page_of(const struct checking *check)
{
  return check->segment->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_SMALL_SEGMENT
                                                      : check->config->large_segment_size;
}

static int32_t class_of(const struct checking *check)
{
  const struct ashlar_segment *segment = check->segment;
  if (segment->is_expandable) {
    return segment->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  }
  return ashlar_history_listed_pool(check->config, segment);
}

static void check_segment_size(const struct checking *check)
{
  const struct ashlar_segment *segment = check->segment;
  const uint64_t size = segment->total_size;
  if (size == 0 || size % ASHLAR_GRANULE != 0 || segment->address % ASHLAR_GRANULE != 0) {
    ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, segment->address,
                      "the segment is empty, or its address or its size of %" PRIu64
                      " bytes is not a multiple of 512",
                      size);
  }
  if (segment->is_expandable) {
    if (segment->type != ASHLAR_SEGMENT_UNTYPED && size % page_of(check) != 0) {
      ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, segment->address,
                        "%" PRIu64 " bytes of a growable segment are not whole pages of %" PRIu64,
                        size, page_of(check));
    }
    return;
  }
  if (!ashlar_history_is_segment_size(check->config, size)) {
    ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, segment->address,
                      "no request leads to a segment of %" PRIu64 " bytes", size);
  } else if (segment->type != ASHLAR_SEGMENT_UNTYPED &&
             (segment->type == ASHLAR_SEGMENT_SMALL) != (size == ASHLAR_SMALL_SEGMENT)) {
    ashlar_audit_find(check->result, ASHLAR_RULE_POOL, ASHLAR_NO_EVENT, segment->address,
                      "a segment of %" PRIu64 " bytes is listed in the %s pool", size,
                      segment->type == ASHLAR_SEGMENT_SMALL ? "small" : "large");
  }
}

/* Whether the allocator leaves a block of this size unsplit for a rounded request. Private pools may be told not to split;
   growable segments always do. */
static bool is_unsplit(const struct checking *check, uint64_t size, uint64_t rounded)
{
  const uint64_t limit = check->config->max_split_size;
  if (check->segment->pool != 0 && size == check->segment->total_size) {
    return true;
  }
  if (check->segment->is_expandable) {
    return size == rounded || check->segment->pool != 0;
  }
  if (ashlar_should_split(class_of(check), size, rounded, limit) != 0) {
    return false;
  }
  return rounded < limit || size - rounded < check->config->oversize_slack;
}

/* An active block against its request. */
static void check_request(const struct checking *check, const struct ashlar_block *block)
{
  const uint64_t rounded = ashlar_history_rounded(check->config, block->requested_size);
  if (rounded == 0 || rounded > block->size) {
    ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, block->address,
                      "a block of %" PRIu64 " bytes serves a request of %" PRIu64, block->size,
                      block->requested_size);
    return;
  }
  if (!is_unsplit(check, block->size, rounded)) {
    ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, block->address,
                      "a block of %" PRIu64 " bytes was not split for a request of %" PRIu64,
                      block->size, block->requested_size);
  }
  if (check->segment->is_expandable && check->segment->type == ASHLAR_SEGMENT_UNTYPED) {
    return;
  }
  if (ashlar_pool_class(rounded) != class_of(check)) {
    ashlar_audit_find(check->result, ASHLAR_RULE_POOL, ASHLAR_NO_EVENT, block->address,
                      "a request of %" PRIu64
                      " bytes is served by the pool of a segment of %" PRIu64 " bytes",
                      block->requested_size, check->segment->total_size);
  }
}

static void check_block(struct checking *check, const struct ashlar_block *block)
{
  check->blocks += block->size;
  if (block->size == 0 || block->size % ASHLAR_GRANULE != 0 ||
      block->address % ASHLAR_GRANULE != 0) {
    ashlar_audit_find(check->result, ASHLAR_RULE_SIZE, ASHLAR_NO_EVENT, block->address,
                      "the block is empty, or its address or its size of %" PRIu64
                      " bytes is not a multiple of 512",
                      block->size);
  }
  if (block->state == ASHLAR_BLOCK_INACTIVE) {
    return;
  }
  check->active += block->size;
  if (block->state == ASHLAR_BLOCK_ALLOCATED) {
    check->allocated += block->size;
  }
  if ((block->flags & ASHLAR_BLOCK_HAS_REQUESTED) == 0) {
    check->has_requests = false;
    return;
  }
  check->requested += block->requested_size;
  check_request(check, block);
}

/* Blocks are listed in address order: each begins where the one before ends. */
static void check_place(const struct checking *check, const struct ashlar_block *block,
                        uint64_t expected)
{
  if (block->address < expected) {
    ashlar_audit_find(check->result, ASHLAR_RULE_DISJOINT, ASHLAR_NO_EVENT, block->address,
                      "the block begins %" PRIu64 " bytes before the end of the one before it",
                      expected - block->address);
  } else if (block->address > expected) {
    ashlar_audit_find(check->result, ASHLAR_RULE_TILE, ASHLAR_NO_EVENT, expected,
                      "there is a gap of %" PRIu64 " bytes before the next block",
                      block->address - expected);
  }
}

static void check_sum(const struct checking *check, const char *name, uint64_t recorded,
                      uint64_t sum)
{
  if (recorded != sum) {
    ashlar_audit_find(check->result, ASHLAR_RULE_ACCOUNT, ASHLAR_NO_EVENT, check->segment->address,
                      "%s is %" PRIu64 ", but its blocks have %" PRIu64, name, recorded, sum);
  }
}

static void check_sums(const struct checking *check)
{
  const struct ashlar_segment *segment = check->segment;
  if ((segment->flags & ASHLAR_SEGMENT_HAS_TOTAL) != 0) {
    check_sum(check, "total_size", segment->total_size, check->blocks);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_ALLOCATED) != 0) {
    check_sum(check, "allocated_size", segment->allocated_size, check->allocated);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_ACTIVE) != 0) {
    check_sum(check, "active_size", segment->active_size, check->active);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_REQUESTED) != 0 && check->has_requests) {
    check_sum(check, "requested_size", segment->requested_size, check->requested);
  }
}

static void check_end(const struct checking *check, uint64_t end)
{
  const struct ashlar_segment *segment = check->segment;
  const uint64_t expected = segment->address + segment->total_size;
  if (end > expected) {
    ashlar_audit_find(check->result, ASHLAR_RULE_DISJOINT, ASHLAR_NO_EVENT, segment->address,
                      "the blocks end %" PRIu64 " bytes behind the end of the segment",
                      end - expected);
  } else if (end < expected) {
    ashlar_audit_find(check->result, ASHLAR_RULE_TILE, ASHLAR_NO_EVENT, end,
                      "there is a gap of %" PRIu64 " bytes before the end of the segment",
                      expected - end);
  }
}

static void check_segment(const struct ashlar_device_part *part,
                          const struct ashlar_segment *segment, const struct ashlar_config *config,
                          struct ashlar_audit_device *result)
{
  struct checking check = {
      .config = config, .result = result, .segment = segment, .has_requests = true};
  const struct ashlar_block *blocks = &part->snapshot->blocks[segment->first_block];
  uint64_t end = segment->address;
  check_segment_size(&check);
  if ((segment->flags & ASHLAR_SEGMENT_HAS_BLOCKS) == 0) {
    return;
  }
  for (uint64_t i = 0; i < segment->block_count; i++) {
    check_place(&check, &blocks[i], end);
    check_block(&check, &blocks[i]);
    if (i > 0 && blocks[i].state == ASHLAR_BLOCK_INACTIVE &&
        blocks[i - 1].state == ASHLAR_BLOCK_INACTIVE && blocks[i].address == end) {
      ashlar_audit_find(result, ASHLAR_RULE_COALESCE, ASHLAR_NO_EVENT, blocks[i].address,
                        "free, and so is the block before it");
    }
    end = blocks[i].address + blocks[i].size;
  }
  check_end(&check, end);
  check_sums(&check);
}

void ashlar_audit_state(const struct ashlar_device_part *part, const struct ashlar_config *config,
                        struct ashlar_audit_device *result)
{
  uint64_t end = 0;
  for (uint64_t i = 0; i < part->segment_count; i++) {
    const struct ashlar_segment *segment = &part->snapshot->segments[part->segments[i]];
    const uint64_t segment_end = segment->address + segment->total_size;
    if (i > 0 && segment->address < end) {
      ashlar_audit_find(result, ASHLAR_RULE_DISJOINT, ASHLAR_NO_EVENT, segment->address,
                        "the segment begins %" PRIu64 " bytes before the end of another one",
                        end - segment->address);
    }
    end = segment_end > end ? segment_end : end;
    check_segment(part, segment, config, result);
    result->blocks += segment->block_count;
  }
  result->segments = part->segment_count;
}
