/* corruption_listing.c - faults of the listed segments and blocks, which need no recording to be
 * seen.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

#define ODD_BYTES 8                 /* less than the granule of 512 */
#define CHANGE_MOST UINT64_C(32768) /* bytes by which a sum or a size is wrong */

static void expect_segment(struct ashlar_corruption *corruption, uint64_t segment)
{
  const struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  ashlar_expect_range(corruption, listed->address, listed->total_size);
}

static bool is_plain(const struct ashlar_segment *segment)
{
  return segment->pool == 0 && !segment->is_expandable;
}

/* An allocated block whose request is listed. */
static bool has_request(const struct ashlar_block *block)
{
  return block->state == ASHLAR_BLOCK_ALLOCATED && (block->flags & ASHLAR_BLOCK_HAS_REQUESTED) != 0;
}

/* --- places --- */

/* A block begins before the end of the one before it. */
static bool try_start_early(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  if (block == 0) {
    return false;
  }
  struct ashlar_block *moved = ashlar_faulty_block(corruption, segment, block);
  moved->address -= ashlar_draw_granules(corruption, moved[-1].size);
  moved->flags |= ASHLAR_BLOCK_HAS_ADDRESS;
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_block_starts_early(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_start_early);
}

/* A block reaches into the next one. */
static bool try_grow(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  if (block + 1 == ashlar_faulty_segment(corruption, segment)->block_count) {
    return false;
  }
  struct ashlar_block *grown = ashlar_faulty_block(corruption, segment, block);
  grown[1].flags |= ASHLAR_BLOCK_HAS_ADDRESS;
  grown->size += ashlar_draw_granules(corruption, grown[1].size);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_block_grows(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_grow);
}

/* Removes a block from the list; the one behind it keeps its address. */
static bool try_remove(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block,
                       bool is_live)
{
  const struct ashlar_block *removed = ashlar_faulty_block(corruption, segment, block);
  if ((removed->state != ASHLAR_BLOCK_INACTIVE) != is_live) {
    return false;
  }
  ashlar_remove_block(corruption, segment, block);
  if (block < ashlar_faulty_segment(corruption, segment)->block_count) {
    ashlar_faulty_block(corruption, segment, block)->flags |= ASHLAR_BLOCK_HAS_ADDRESS;
  }
  ashlar_sum_up(corruption, segment, false);
  expect_segment(corruption, segment);
  return true;
}

static bool try_remove_free(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  return try_remove(corruption, segment, block, false);
}

static bool try_remove_live(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  return try_remove(corruption, segment, block, true);
}

bool ashlar_corrupt_free_block_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_remove_free);
}

bool ashlar_corrupt_live_block_missing(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_remove_live);
}

/* A block ends before the next one begins, or before its segment ends. */
static bool try_shrink(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_block *shrunk = ashlar_faulty_block(corruption, segment, block);
  if (shrunk->size <= ASHLAR_GRANULE) {
    return false;
  }
  shrunk->size -= ashlar_draw_granules(corruption, shrunk->size - ASHLAR_GRANULE);
  if (block + 1 < ashlar_faulty_segment(corruption, segment)->block_count) {
    shrunk[1].flags |= ASHLAR_BLOCK_HAS_ADDRESS;
  }
  ashlar_sum_up(corruption, segment, false);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_block_shrinks(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_shrink);
}

/* Two free blocks where there was one. */
static bool try_free_in_two(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_block *front = ashlar_faulty_block(corruption, segment, block);
  if (front->state != ASHLAR_BLOCK_INACTIVE || front->size <= ASHLAR_GRANULE) {
    return false;
  }
  struct ashlar_block rest = *front;
  front->size = ashlar_draw_granules(corruption, front->size - ASHLAR_GRANULE);
  rest.address += front->size;
  rest.size -= front->size;
  ashlar_insert_block(corruption, segment, block + 1, &rest);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_free_block_in_two(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_free_in_two);
}

/* Two segments overlap: one moves, with its blocks, into another one. */
static bool try_overlap(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *moved = ashlar_faulty_segment(corruption, segment);
  const struct ashlar_snapshot *good = corruption->good;
  const uint64_t into = ashlar_draw(corruption, good->segment_count);
  const struct ashlar_segment *other = &good->segments[into];
  if (block != 0 || into == segment || other->device != moved->device || other->total_size == 0) {
    return false;
  }
  const uint64_t address =
      other->address + other->total_size - ashlar_draw_granules(corruption, other->total_size);
  for (uint64_t i = 0; i < moved->block_count; i++) {
    struct ashlar_block *carried = ashlar_faulty_block(corruption, segment, i);
    carried->address = carried->address - moved->address + address;
  }
  moved->address = address;
  ashlar_expect_range(corruption, address < other->address ? address : other->address,
                      moved->total_size + other->total_size);
  return true;
}

bool ashlar_corrupt_segments_overlap(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_overlap);
}

/* --- sums --- */

static uint64_t wrong_sum(struct ashlar_corruption *corruption, uint64_t sum)
{
  const uint64_t change = ashlar_draw_granules(corruption, CHANGE_MOST);
  return sum >= change && ashlar_draw(corruption, 2) == 0 ? sum - change : sum + change;
}

static bool try_total(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if ((listed->flags & ASHLAR_SEGMENT_HAS_TOTAL) == 0 || block != 0) {
    return false;
  }
  expect_segment(corruption, segment);
  listed->total_size = wrong_sum(corruption, listed->total_size);
  return true;
}

bool ashlar_corrupt_total_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_total);
}

static bool try_allocated(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if ((listed->flags & ASHLAR_SEGMENT_HAS_ALLOCATED) == 0 || block != 0) {
    return false;
  }
  expect_segment(corruption, segment);
  listed->allocated_size = wrong_sum(corruption, listed->allocated_size);
  return true;
}

bool ashlar_corrupt_allocated_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_allocated);
}

static bool try_active(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if ((listed->flags & ASHLAR_SEGMENT_HAS_ACTIVE) == 0 || block != 0) {
    return false;
  }
  expect_segment(corruption, segment);
  listed->active_size = wrong_sum(corruption, listed->active_size);
  return true;
}

bool ashlar_corrupt_active_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_active);
}

static bool try_requested(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if ((listed->flags & ASHLAR_SEGMENT_HAS_REQUESTED) == 0 || block != 0) {
    return false;
  }
  for (uint64_t i = 0; i < listed->block_count; i++) {
    const struct ashlar_block *one = ashlar_faulty_block(corruption, segment, i);
    if (one->state != ASHLAR_BLOCK_INACTIVE && (one->flags & ASHLAR_BLOCK_HAS_REQUESTED) == 0) {
      return false;
    }
  }
  expect_segment(corruption, segment);
  listed->requested_size = wrong_sum(corruption, listed->requested_size);
  return true;
}

bool ashlar_corrupt_requested_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_requested);
}

/* --- sizes --- */

/* The boundary between two blocks is not a multiple of 512. */
static bool try_not_rounded(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  if (block + 1 == ashlar_faulty_segment(corruption, segment)->block_count) {
    return false;
  }
  struct ashlar_block *front = ashlar_faulty_block(corruption, segment, block);
  const uint64_t odd = ODD_BYTES * (1 + ashlar_draw(corruption, ASHLAR_GRANULE / ODD_BYTES - 1));
  front->size += odd;
  front[1].address += odd;
  front[1].size -= odd;
  ashlar_sum_up(corruption, segment, false);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_size_not_rounded(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_not_rounded);
}

static bool try_empty_block(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  const struct ashlar_block *before = ashlar_faulty_block(corruption, segment, block);
  const struct ashlar_block empty = {
      .address = before->address + before->size,
      .state =
          before->state == ASHLAR_BLOCK_INACTIVE ? ASHLAR_BLOCK_ALLOCATED : ASHLAR_BLOCK_INACTIVE,
      .flags = before->flags,
  };
  ashlar_insert_block(corruption, segment, block + 1, &empty);
  const struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  ashlar_expect_range(corruption, listed->address, listed->total_size + 1);
  return true;
}

bool ashlar_corrupt_empty_block(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_empty_block);
}

static bool try_request_exceeds(struct ashlar_corruption *corruption, uint64_t segment,
                                uint64_t block)
{
  struct ashlar_block *listed = ashlar_faulty_block(corruption, segment, block);
  if (!has_request(listed)) {
    return false;
  }
  listed->requested_size = listed->size + 1 + ashlar_draw(corruption, listed->size);
  ashlar_sum_up(corruption, segment, false);
  ashlar_expect_range(corruption, listed->address, 1);
  return true;
}

bool ashlar_corrupt_request_exceeds_block(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_request_exceeds);
}

/* A live block holds the free one behind it as well, which should have been split off. */
static bool try_not_split(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  const struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  struct ashlar_block *front = ashlar_faulty_block(corruption, segment, block);
  if (!is_plain(listed) || block + 1 == listed->block_count || !has_request(front) ||
      front[1].state != ASHLAR_BLOCK_INACTIVE ||
      ashlar_should_split(ashlar_world_class(listed->total_size), front->size + front[1].size,
                          ashlar_world_rounded(corruption->start, front->requested_size),
                          corruption->start->config.max_split_size) == 0) {
    return false;
  }
  front->size += front[1].size;
  ashlar_remove_block(corruption, segment, block + 1);
  ashlar_sum_up(corruption, segment, false);
  ashlar_expect_range(corruption, ashlar_faulty_block(corruption, segment, block)->address, 1);
  return true;
}

bool ashlar_corrupt_block_not_split(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_not_split);
}

/* The rest of a live block that was taken whole is listed as a free block. */
static bool try_split(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  const struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  struct ashlar_block *front = ashlar_faulty_block(corruption, segment, block);
  const struct ashlar_world_place place = ashlar_world_at(&corruption->world, front->address);
  const uint64_t rounded = ashlar_world_rounded(corruption->start, front->requested_size);
  const bool is_last = block + 1 == listed->block_count;
  if (!has_request(front) || place.segment->blocks[place.index].made_at == ASHLAR_NO_EVENT ||
      !corruption->world.splits[listed->pool] || rounded >= front->size ||
      (!is_last && front[1].state == ASHLAR_BLOCK_INACTIVE)) {
    return false;
  }
  const struct ashlar_block rest = {
      .address = front->address + rounded,
      .size = front->size - rounded,
      .flags = front->flags,
  };
  front->size = rounded;
  ashlar_insert_block(corruption, segment, block + 1, &rest);
  ashlar_sum_up(corruption, segment, false);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_block_split(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_split);
}

static bool try_segment_type(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if (listed->type == ASHLAR_SEGMENT_UNTYPED || !is_plain(listed) || block != 0) {
    return false;
  }
  listed->type = listed->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_SEGMENT_LARGE : ASHLAR_SEGMENT_SMALL;
  ashlar_expect_range(corruption, listed->address, 1);
  return true;
}

bool ashlar_corrupt_segment_type(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_segment_type);
}

/* The last block, and so the segment, is longer than any request makes a segment. */
static bool try_segment_size(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if (!is_plain(listed) || block + 1 != listed->block_count) {
    return false;
  }
  const uint64_t more = ashlar_draw_granules(corruption, CHANGE_MOST);
  ashlar_faulty_block(corruption, segment, block)->size += more;
  ashlar_sum_up(corruption, segment, true);
  expect_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_segment_size(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_segment_size);
}
