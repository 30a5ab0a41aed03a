/* replay_growth.c - see replay_device.h: growable segments on the recorded device.
 *
 * A recording tells what was mapped and unmapped, never which addresses were reserved. A range is taken to begin where
 * something of it is mapped first, and to be as long as what lies behind allows.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_device.h"

#include "core/size_policy.h"

#define DEVICE_TOTAL (UINT64_C(1) << 50) /* of which nothing depends: the ranges are limited */
#define SPARE_RANGES (UINT64_C(1) << 60) /* far above all that a recording names */
#define RANGE_MOST (UINT64_C(1) << 46)   /* bytes */

static void shorten(uint64_t *most, uint64_t size, uint64_t page)
{
  const uint64_t whole = size / page * page;
  *most = whole < *most ? whole : *most;
}

bool ashlar_play_ranges(const struct ashlar_requests *requests, struct ashlar_config *config)
{
  const uint64_t page = config->large_segment_size;
  uint64_t small = RANGE_MOST / ASHLAR_SMALL_SEGMENT * ASHLAR_SMALL_SEGMENT;
  uint64_t large = RANGE_MOST / page * page;
  for (size_t i = 0; i < requests->range_count; i++) {
    const struct ashlar_request_range *range = &requests->ranges[i];
    if (range->class == ASHLAR_CLASS_SMALL) {
      shorten(&small, range->size, ASHLAR_SMALL_SEGMENT);
    } else {
      shorten(&large, range->size, page);
    }
  }
  config->growable = 1;
  config->device_total = DEVICE_TOTAL;
  config->reservation_small = small;
  config->reservation_large = large;
  return small > 0 && large > 0;
}

/* Where the next range of this pool, class and stream begins; an address of no meaning where none does. */
static uint64_t place_of(struct ashlar_play *play, const struct ashlar_step *step)
{
  const struct ashlar_requests *requests = play->requests;
  const struct ashlar_sim_script_line *line = ashlar_sim_expected(&play->sim);
  const int32_t home = play->manager->request[step->request].home;
  for (size_t i = 0; line != NULL && i < requests->range_count; i++) {
    const struct ashlar_request_range *range = &requests->ranges[i];
    if (range->device == play->device && range->begin != UINT64_MAX &&
        range->begin >= line->position && range->class == ashlar_home_class(home) &&
        range->pool == play->pool_names[step->pool] &&
        range->stream == play->streams[step->stream]) {
      return range->address;
    }
  }
  play->spare_ranges++;
  return SPARE_RANGES + play->spare_ranges * RANGE_MOST;
}

bool ashlar_play_is_growth(const struct ashlar_step *step)
{
  return step->kind == ASHLAR_STEP_RESERVE || step->kind == ASHLAR_STEP_UNRESERVE ||
         step->kind == ASHLAR_STEP_MAP || step->kind == ASHLAR_STEP_UNMAP;
}

struct ashlar_step ashlar_play_grow(struct ashlar_play *play, const struct ashlar_step *step)
{
  enum ashlar_outcome outcome = ASHLAR_OUTCOME_DONE;
  uint64_t value = 0;
  if (step->kind == ASHLAR_STEP_RESERVE) {
    value = place_of(play, step);
  } else if (step->kind == ASHLAR_STEP_MAP || step->kind == ASHLAR_STEP_UNMAP) {
    const struct ashlar_block_view view = ashlar_block(play->manager, step->slot);
    const struct ashlar_play_owner owner = {play->streams[view.stream],
                                            play->pool_names[view.pool]};
    const bool is_map = step->kind == ASHLAR_STEP_MAP;
    if (!is_map) {
      ashlar_sim_unmap_scripted(&play->sim, step->address, step->bytes);
    } else if (ashlar_sim_map_scripted(&play->sim, step->address, step->bytes) != ASHLAR_SIM_OK) {
      outcome = ASHLAR_OUTCOME_REFUSED;
    }
    if (outcome == ASHLAR_OUTCOME_DONE) {
      ashlar_play_note(play, is_map ? ASHLAR_ACTION_SEGMENT_MAP : ASHLAR_ACTION_SEGMENT_UNMAP,
                       step->address, step->bytes, owner);
    }
  }
  return ashlar_resume(play->manager, step->request, outcome, value);
}
