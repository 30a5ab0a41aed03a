/* corruption_final.c - listings that are possible by themselves, but not after what was recorded.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption_kinds.h"

#include "core/size_policy.h"

/* The block as the recording leaves it. */
static const struct ashlar_world_block *final_block(const struct ashlar_corruption *corruption,
                                                    uint64_t address)
{
  const struct ashlar_world_place place = ashlar_world_at(&corruption->world, address);
  return &place.segment->blocks[place.index];
}

/* A segment that is not at a multiple of 512, consistently in listing and events. */
static bool try_unaligned(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  const uint64_t odd = 8 * (1 + ashlar_draw(corruption, ASHLAR_GRANULE / 8 - 1));
  const uint64_t low = listed->address;
  const uint64_t high = low + listed->total_size;
  if (block != 0 || listed->is_expandable ||
      ashlar_is_shared(corruption, low, listed->total_size + ASHLAR_GRANULE)) {
    return false;
  }
  for (uint64_t i = 0; i < listed->block_count; i++) {
    ashlar_faulty_block(corruption, segment, i)->address += odd;
  }
  for (uint64_t i = 0; i < corruption->start->event_count; i++) {
    struct ashlar_event *event = &ashlar_faulty_events(corruption)[i];
    if (event->action != ASHLAR_ACTION_OOM && event->action != ASHLAR_ACTION_SNAPSHOT &&
        event->action != ASHLAR_ACTION_OTHER && event->address >= low && event->address < high) {
      event->address += odd;
    }
  }
  listed->address += odd;
  ashlar_expect_range(corruption, listed->address, listed->total_size);
  return true;
}

bool ashlar_corrupt_segment_unaligned(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_unaligned);
}

/* Joins a free block with the free ones beside it, and sums up. */
static void coalesce(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_block *freed = ashlar_faulty_block(corruption, segment, block);
  if (block + 1 < ashlar_faulty_segment(corruption, segment)->block_count &&
      freed[1].state == ASHLAR_BLOCK_INACTIVE) {
    freed->size += freed[1].size;
    ashlar_remove_block(corruption, segment, block + 1);
  }
  if (block > 0 && freed[-1].state == ASHLAR_BLOCK_INACTIVE) {
    freed[-1].size += freed->size;
    ashlar_remove_block(corruption, segment, block);
  }
  ashlar_sum_up(corruption, segment, false);
}

/* A block that was allocated and not freed is listed as free. */
static bool try_live_as_free(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_block *listed = ashlar_faulty_block(corruption, segment, block);
  const struct ashlar_world_block *final = final_block(corruption, listed->address);
  if (listed->state == ASHLAR_BLOCK_INACTIVE || final->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_expect_event(corruption, final->made_at);
  ashlar_expect_range(corruption, listed->address, 1);
  listed->state = ASHLAR_BLOCK_INACTIVE;
  coalesce(corruption, segment, block);
  return true;
}

bool ashlar_corrupt_live_listed_free(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_live_as_free);
}

/* A block that was freed is listed as live. */
static bool try_free_as_live(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  const struct ashlar_segment *sums = ashlar_faulty_segment(corruption, segment);
  struct ashlar_block *listed = ashlar_faulty_block(corruption, segment, block);
  const struct ashlar_world_place place = ashlar_world_at(&corruption->world, listed->address);
  const bool is_small = listed->size <= ASHLAR_SMALL_LIMIT;
  if (listed->state != ASHLAR_BLOCK_INACTIVE || !ashlar_has_history(corruption) ||
      is_small != (place.segment->class == ASHLAR_CLASS_SMALL) ||
      (place.segment->made_at == ASHLAR_NO_EVENT &&
       !ashlar_was_used(corruption, corruption->start->event_count, listed->address,
                        listed->address + listed->size))) {
    return false;
  }
  listed->state = ASHLAR_BLOCK_ALLOCATED;
  listed->requested_size = listed->size;
  listed->flags |= ASHLAR_BLOCK_HAS_REQUESTED;
  ashlar_expect_range(corruption, sums->address, sums->total_size);
  ashlar_sum_up(corruption, segment, false);
  return true;
}

bool ashlar_corrupt_free_listed_live(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_free_as_live);
}

/* A live block is listed as waiting to be free, or the other way round. */
static bool try_pending(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  struct ashlar_block *listed = ashlar_faulty_block(corruption, segment, block);
  if (listed->state == ASHLAR_BLOCK_INACTIVE ||
      final_block(corruption, listed->address)->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  listed->state =
      listed->state == ASHLAR_BLOCK_ALLOCATED ? ASHLAR_BLOCK_PENDING_FREE : ASHLAR_BLOCK_ALLOCATED;
  ashlar_expect_range(corruption, listed->address, 1);
  ashlar_sum_up(corruption, segment, false);
  return true;
}

bool ashlar_corrupt_pending_state(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_pending);
}

/* A block is listed with a request that takes the same block, but was not the recorded one. */
static bool try_listed_request(struct ashlar_corruption *corruption, uint64_t segment,
                               uint64_t block)
{
  struct ashlar_block *listed = ashlar_faulty_block(corruption, segment, block);
  const uint64_t made_at = final_block(corruption, listed->address)->made_at;
  if (listed->state == ASHLAR_BLOCK_INACTIVE || (listed->flags & ASHLAR_BLOCK_HAS_REQUESTED) == 0 ||
      listed->requested_size < 2 || made_at == ASHLAR_NO_EVENT ||
      !ashlar_was_free(corruption, made_at)) {
    return false;
  }
  const uint64_t other = listed->requested_size % ASHLAR_GRANULE == 1 ? listed->requested_size + 1
                                                                      : listed->requested_size - 1;
  listed->requested_size = other;
  ashlar_expect_range(corruption, listed->address, 1);
  ashlar_sum_up(corruption, segment, false);
  return true;
}

bool ashlar_corrupt_listed_request(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_listed_request);
}

/* A segment that was allocated and not released is not listed. */
static bool try_not_listed(struct ashlar_corruption *corruption, uint64_t segment, uint64_t block)
{
  const struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  if (block != 0 || listed->is_expandable ||
      ashlar_world_at(&corruption->world, listed->address).segment->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  ashlar_expect_range(corruption, listed->address, listed->total_size);
  ashlar_unlist_segment(corruption, segment);
  return true;
}

bool ashlar_corrupt_segment_not_listed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_not_listed);
}

/* A segment that was released and not allocated again is listed. */
static bool try_still_listed(struct ashlar_corruption *corruption, uint64_t event)
{
  const struct ashlar_event *recorded = ashlar_event_of(corruption, event);
  if (recorded->action != ASHLAR_ACTION_SEGMENT_FREE ||
      ashlar_is_shared(corruption, recorded->address, recorded->size)) {
    return false;
  }
  ashlar_list_free_segment(corruption, recorded->address, recorded->size,
                           ashlar_owner_of_event(recorded));
  ashlar_expect_range(corruption, recorded->address, 1);
  return true;
}

bool ashlar_corrupt_segment_still_listed(struct ashlar_corruption *corruption)
{
  return ashlar_seek_event(corruption, try_still_listed);
}

/* A segment is listed under another stream than the one that it was used on. */
static bool try_listed_stream(struct ashlar_corruption *corruption, uint64_t segment,
                              uint64_t block)
{
  struct ashlar_segment *listed = ashlar_faulty_segment(corruption, segment);
  const struct ashlar_block *used = ashlar_faulty_block(corruption, segment, block);
  if ((listed->flags & ASHLAR_SEGMENT_HAS_STREAM) == 0 || listed->is_expandable ||
      final_block(corruption, used->address)->made_at == ASHLAR_NO_EVENT) {
    return false;
  }
  listed->stream = ashlar_other_stream(corruption, listed->stream);
  ashlar_expect_range(corruption, listed->address, listed->total_size);
  return true;
}

bool ashlar_corrupt_listed_stream(struct ashlar_corruption *corruption)
{
  return ashlar_seek_block(corruption, try_listed_stream);
}
