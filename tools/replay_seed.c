/* replay_seed.c - see replay_seed.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_seed.h"

static void enter(struct ashlar_play *play, const struct ashlar_seed_block *seed, int32_t slot,
                  struct ashlar_allocation *allocations)
{
  const struct ashlar_block_view view = ashlar_block(play->manager, slot);
  struct ashlar_allocation *allocation = &allocations[seed->number];
  *allocation = (struct ashlar_allocation){
      .slot = slot,
      .generation = view.generation,
      .stream = seed->stream,
      .pool = seed->pool,
      .state = seed->is_pending ? ASHLAR_ALLOCATION_PENDING : ASHLAR_ALLOCATION_LIVE,
      .device = seed->device,
  };
  if (seed->is_pending) {
    play->pending_bytes += view.size;
  }
  play->result->seeded_blocks++;
  play->result->seeded_bytes += view.size;
}

static bool fail(struct ashlar_play *play, const struct ashlar_seed_block *seed,
                 enum ashlar_replay_reason reason, struct ashlar_allocation *allocations,
                 struct ashlar_error *error)
{
  allocations[seed->number] =
      (struct ashlar_allocation){.state = ASHLAR_ALLOCATION_ABSENT, .device = seed->device};
  const struct ashlar_replay_failure failure = {
      .event = ASHLAR_REPLAY_BEFORE,
      .bytes = seed->requested,
      .address = seed->address,
      .stream = seed->stream,
      .reason = (uint8_t)reason,
  };
  return ashlar_play_fail(play, failure) || ashlar_error_set(error, 0, "out of memory");
}

/* --- at the recorded places --- */

static bool add_segment(struct ashlar_play *play, const struct ashlar_seed_segment *segment,
                        int32_t *slot, struct ashlar_error *error)
{
  const int32_t stream = ashlar_play_stream_number(play, segment->stream);
  const int32_t pool = ashlar_play_pool(play, segment->pool);
  struct ashlar_placement placed = {.status = ASHLAR_ERROR_STREAM};
  if (segment->is_growable && stream != -1 && pool != -1) {
    placed = ashlar_range_add(play->manager, segment->address, segment->size, pool, segment->class,
                              stream);
  } else if (stream != -1 && pool != -1 &&
             ashlar_sim_adopt(&play->sim, segment->address, segment->size, segment->stream) ==
                 ASHLAR_SIM_OK) {
    placed = ashlar_segment_add(play->manager, segment->address, segment->size, pool,
                                segment->class, stream);
  }
  if (placed.status != ASHLAR_OK) {
    return ashlar_error_set(
        error, 0, "the segment at 0x%llx of %llu bytes cannot be put in its place",
        (unsigned long long)segment->address, (unsigned long long)segment->size);
  }
  *slot = placed.slot;
  play->result->seeded_segments++;
  return true;
}

/* The block that has the address, or the last one, from a block of the segment on. */
static int32_t block_with(const struct ashlar_play *play, int32_t slot, uint64_t address)
{
  struct ashlar_block_view view = ashlar_block(play->manager, slot);
  while (view.next != -1 && address - view.address >= view.size) {
    slot = view.next;
    view = ashlar_block(play->manager, slot);
  }
  return slot;
}

/* Maps what was mapped of a range. */
static bool map_parts(struct ashlar_play *play, const struct ashlar_seed_segment *range,
                      int32_t slot, struct ashlar_error *error)
{
  const struct ashlar_requests *requests = play->requests;
  for (size_t i = 0; range->is_growable && i < requests->mapped_count; i++) {
    const struct ashlar_seed_segment *part = &requests->mapped[i];
    if (part->device == range->device && part->address - range->address < range->size &&
        ashlar_range_map(play->manager, block_with(play, slot, part->address), part->address,
                         part->size)
                .status != ASHLAR_OK) {
      return ashlar_error_set(error, 0, "the part at 0x%llx of %llu bytes cannot be mapped",
                              (unsigned long long)part->address, (unsigned long long)part->size);
    }
  }
  return true;
}

/* Places the blocks that start in a segment, whose only block is the free one in `slot`. What is
   left behind one is where the next one goes. */
static bool fill_segment(struct ashlar_play *play, const struct ashlar_seed_segment *segment,
                         int32_t slot, const struct ashlar_seeds *seeds, size_t *next,
                         struct ashlar_allocation *allocations, struct ashlar_error *error)
{
  while (*next < seeds->block_count &&
         seeds->blocks[*next].address - segment->address < segment->size) {
    const struct ashlar_seed_block *seed = &seeds->blocks[*next];
    slot = block_with(play, slot, seed->address);
    const struct ashlar_placement placed =
        ashlar_allocate_at(play->manager, slot, seed->address, seed->size, seed->requested);
    (*next)++;
    if (placed.status == ASHLAR_OK) {
      enter(play, seed, placed.slot, allocations);
      slot = placed.slot;
    } else if (!fail(play, seed, ASHLAR_REPLAY_NO_PLACE, allocations, error)) {
      return false;
    }
  }
  return true;
}

bool ashlar_seed_recorded(struct ashlar_play *play, const struct ashlar_seeds *seeds,
                          struct ashlar_allocation *allocations, struct ashlar_error *error)
{
  size_t next = 0;
  for (size_t i = 0; i < seeds->segment_count; i++) {
    const struct ashlar_seed_segment *segment = &seeds->segments[i];
    int32_t slot = -1;
    if (!add_segment(play, segment, &slot, error) || !map_parts(play, segment, slot, error)) {
      return false;
    }
    while (next < seeds->block_count && seeds->blocks[next].address < segment->address) {
      if (!fail(play, &seeds->blocks[next], ASHLAR_REPLAY_NO_PLACE, allocations, error)) {
        return false;
      }
      next++;
    }
    if (!fill_segment(play, segment, slot, seeds, &next, allocations, error)) {
      return false;
    }
  }
  for (; next < seeds->block_count; next++) {
    if (!fail(play, &seeds->blocks[next], ASHLAR_REPLAY_NO_PLACE, allocations, error)) {
      return false;
    }
  }
  return true;
}

/* --- anew --- */

bool ashlar_seed_anew(struct ashlar_play *play, const struct ashlar_seeds *seeds,
                      struct ashlar_allocation *allocations, struct ashlar_error *error)
{
  for (size_t i = 0; i < seeds->block_count; i++) {
    const struct ashlar_seed_block *seed = &seeds->blocks[i];
    const struct ashlar_play_owner owner = {seed->stream, seed->pool};
    const struct ashlar_play_outcome outcome =
        ashlar_play_allocate(play, seed->requested, owner, false);
    ashlar_play_note_oom(play, &outcome, owner);
    if (outcome.is_served && outcome.slot != -1) {
      enter(play, seed, outcome.slot, allocations);
    } else if (!fail(play, seed, outcome.reason, allocations, error)) {
      return false;
    }
  }
  return true;
}
