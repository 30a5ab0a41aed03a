/* corruption.c - see corruption.h: the kinds of faults, and copies to put them into.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/corruption.h"

#include <stdlib.h>
#include <string.h>

#include "tests/corruption_kinds.h"
#include "tools/audit.h"

#define SIZE (1U << ASHLAR_RULE_SIZE)
#define DISJOINT (1U << ASHLAR_RULE_DISJOINT)
#define TILE (1U << ASHLAR_RULE_TILE)
#define COALESCE (1U << ASHLAR_RULE_COALESCE)
#define BESTFIT (1U << ASHLAR_RULE_BESTFIT)
#define STREAM (1U << ASHLAR_RULE_STREAM)
#define ACCOUNT (1U << ASHLAR_RULE_ACCOUNT)
#define FREE (1U << ASHLAR_RULE_FREE)
#define OOM (1U << ASHLAR_RULE_OOM)
#define LADDER (1U << ASHLAR_RULE_LADDER)
#define POOL (1U << ASHLAR_RULE_POOL)

/* More than one rule where the fault can be read in more than one way. */
const struct ashlar_corruption_kind ASHLAR_CORRUPTION_KINDS[] = {
    /* the listing by itself */
    {"block begins inside the one before", ashlar_corrupt_block_starts_early, DISJOINT, 0},
    {"block reaches into the next one", ashlar_corrupt_block_grows, DISJOINT, 0},
    {"segments overlap", ashlar_corrupt_segments_overlap, DISJOINT, 0},
    {"gap where a free block was", ashlar_corrupt_free_block_missing, TILE, 0},
    {"gap where a live block was", ashlar_corrupt_live_block_missing, TILE, 0},
    {"gap behind a block", ashlar_corrupt_block_shrinks, TILE, 0},
    {"adjacent free blocks", ashlar_corrupt_free_block_in_two, COALESCE, 0},
    {"total_size wrong", ashlar_corrupt_total_size, ACCOUNT, 0},
    {"allocated_size wrong", ashlar_corrupt_allocated_size, ACCOUNT, ASHLAR_CORRUPTION_SINGLE},
    {"active_size wrong", ashlar_corrupt_active_size, ACCOUNT, ASHLAR_CORRUPTION_SINGLE},
    {"requested_size wrong", ashlar_corrupt_requested_size, ACCOUNT, ASHLAR_CORRUPTION_SINGLE},
    {"size not rounded", ashlar_corrupt_size_not_rounded, SIZE, 0},
    {"empty block", ashlar_corrupt_empty_block, SIZE, 0},
    {"request larger than its block", ashlar_corrupt_request_exceeds_block, SIZE, 0},
    {"block that should have been split", ashlar_corrupt_block_not_split, SIZE, 0},
    {"block that should not have been split", ashlar_corrupt_block_split, TILE, 0},
    {"segment_type wrong", ashlar_corrupt_segment_type, POOL, ASHLAR_CORRUPTION_SINGLE},
    {"segment of a size that none has", ashlar_corrupt_segment_size, SIZE, 0},
    /* the listing after the recording */
    {"segment not aligned", ashlar_corrupt_segment_unaligned, SIZE, 0},
    {"live block listed as free", ashlar_corrupt_live_listed_free, ACCOUNT, 0},
    {"free block listed as live", ashlar_corrupt_free_listed_live,
     ACCOUNT | DISJOINT | FREE | LADDER, 0},
    {"live block listed as pending", ashlar_corrupt_pending_state, ACCOUNT, 0},
    {"another request listed", ashlar_corrupt_listed_request, ACCOUNT, 0},
    {"segment not listed", ashlar_corrupt_segment_not_listed, ACCOUNT, 0},
    {"released segment listed", ashlar_corrupt_segment_still_listed, ACCOUNT, 0},
    {"segment listed under another stream", ashlar_corrupt_listed_stream, STREAM, 0},
    /* placement */
    {"alloc in a larger block", ashlar_corrupt_not_best, BESTFIT, 0},
    {"alloc in a larger block throughout", ashlar_corrupt_not_best_throughout, BESTFIT,
     ASHLAR_CORRUPTION_SINGLE},
    {"alloc in the later of two equals", ashlar_corrupt_not_first_of_equals, BESTFIT,
     ASHLAR_CORRUPTION_ORDER},
    {"alloc behind the front of its block", ashlar_corrupt_not_at_front, BESTFIT, 0},
    {"alloc beyond the split limit", ashlar_corrupt_over_split_limit, BESTFIT, 0},
    {"alloc in a live block", ashlar_corrupt_into_live_block, DISJOINT, 0},
    {"alloc in too small a block", ashlar_corrupt_into_too_small, DISJOINT | SIZE, 0},
    {"alloc in no segment", ashlar_corrupt_outside, DISJOINT, 0},
    {"alloc not aligned", ashlar_corrupt_alloc_unaligned, SIZE, 0},
    {"alloc in the other pool", ashlar_corrupt_other_pool, POOL, 0},
    {"alloc of a private pool in the default one", ashlar_corrupt_private_pool, POOL, 0},
    {"alloc in another stream's block", ashlar_corrupt_other_stream_block, STREAM, 0},
    {"block handed to another stream", ashlar_corrupt_to_other_stream, STREAM, 0},
    {"alloc of no bytes", ashlar_corrupt_zero_bytes, SIZE, 0},
    {"alloc above the greatest request", ashlar_corrupt_exabytes, SIZE, 0},
    {"alloc of more than its free block has", ashlar_corrupt_request_exceeds_room, SIZE | DISJOINT,
     0},
    {"alloc of another size than freed or listed", ashlar_corrupt_request_changed, FREE | ACCOUNT,
     0},
    /* frees and events */
    {"free in no segment", ashlar_corrupt_free_outside, FREE, 0},
    {"free inside a live block", ashlar_corrupt_free_interior, FREE, 0},
    {"free of a free address", ashlar_corrupt_free_of_free, FREE, 0},
    {"double free", ashlar_corrupt_double_free, FREE, 0},
    {"double free later", ashlar_corrupt_stale_free, FREE, 0},
    {"free missing", ashlar_corrupt_free_missing, ACCOUNT | DISJOINT, 0},
    {"free_completed missing", ashlar_corrupt_completion_missing, ACCOUNT | DISJOINT, 0},
    {"free_requested missing", ashlar_corrupt_free_request_missing, FREE, 0},
    {"free requested twice", ashlar_corrupt_free_requested_twice, FREE, ASHLAR_CORRUPTION_SINGLE},
    {"free completed before requested", ashlar_corrupt_free_reversed, FREE, 0},
    {"free of another size", ashlar_corrupt_free_size, FREE, 0},
    {"free on another stream", ashlar_corrupt_free_stream, STREAM, 0},
    {"free after its memory was handed out", ashlar_corrupt_free_too_late, DISJOINT | FREE, 0},
    {"alloc missing, freed later", ashlar_corrupt_alloc_missing_then_freed, FREE, 0},
    {"alloc missing, live at the end", ashlar_corrupt_alloc_missing_of_live,
     ACCOUNT | DISJOINT | TILE | FREE, 0},
    {"alloc after its free", ashlar_corrupt_alloc_after_free, FREE | ACCOUNT, 0},
    {"alloc twice", ashlar_corrupt_alloc_twice, DISJOINT, 0},
    /* the device */
    {"new segment though a block fits", ashlar_corrupt_needless_segment, BESTFIT, 0},
    {"new segment for no request", ashlar_corrupt_segment_for_nobody, LADDER, 0},
    {"new segment of the wrong size", ashlar_corrupt_new_segment_size, SIZE, 0},
    {"new segment of the wrong size throughout", ashlar_corrupt_new_segment_size_throughout, SIZE,
     0},
    {"new segment overlaps another", ashlar_corrupt_new_segment_overlaps, DISJOINT, 0},
    {"new segment for another stream", ashlar_corrupt_new_segment_stream, STREAM, 0},
    {"segment_alloc missing", ashlar_corrupt_segment_alloc_missing, BESTFIT | LADDER, 0},
    {"segment_alloc twice", ashlar_corrupt_segment_alloc_twice, LADDER | DISJOINT, 0},
    {"out of memory while a block fits", ashlar_corrupt_oom_while_block_fits, OOM,
     ASHLAR_CORRUPTION_SINGLE},
    {"out of memory before releasing", ashlar_corrupt_oom_before_release, OOM,
     ASHLAR_CORRUPTION_SINGLE},
    {"release of a segment in use", ashlar_corrupt_release_in_use, LADDER, 0},
    {"release out of order", ashlar_corrupt_release_order, LADDER, 0},
    {"release missing", ashlar_corrupt_release_missing, LADDER, 0},
    {"release skipped, segment kept", ashlar_corrupt_release_skipped, LADDER, 0},
    {"release of one of several", ashlar_corrupt_release_alone, LADDER, 0},
    {"release twice", ashlar_corrupt_release_twice, LADDER, 0},
    {"release of an unknown segment", ashlar_corrupt_release_unknown, LADDER | BESTFIT, 0},
    {"release of another size", ashlar_corrupt_release_size, SIZE, 0},
    {"release on another stream", ashlar_corrupt_release_stream, STREAM, 0},
    /* growable segments */
    {"map twice", ashlar_corrupt_map_twice, TILE, 0},
    {"map of the wrong size", ashlar_corrupt_map_size, SIZE | TILE, 0},
    {"map of other addresses", ashlar_corrupt_map_elsewhere, TILE | BESTFIT, 0},
    {"map for another stream", ashlar_corrupt_map_stream, STREAM, 0},
    {"map though a block fits", ashlar_corrupt_map_needless, BESTFIT, 0},
    {"map missing", ashlar_corrupt_map_missing, BESTFIT | LADDER | TILE | SIZE, 0},
    {"unmap of memory in use", ashlar_corrupt_unmap_in_use, LADDER, 0},
    {"unmap of the wrong size", ashlar_corrupt_unmap_size, SIZE | TILE, 0},
    {"unmap missing", ashlar_corrupt_unmap_missing, TILE | LADDER, 0},
    {"unmap out of order", ashlar_corrupt_unmap_order, LADDER, 0},
    {"mapped memory not listed", ashlar_corrupt_part_not_listed, ACCOUNT | TILE, 0},
    {"growable segment listed as another", ashlar_corrupt_part_listed_ordinary,
     ACCOUNT | TILE | SIZE, 0},
};

const size_t ASHLAR_CORRUPTION_KIND_COUNT =
    sizeof ASHLAR_CORRUPTION_KINDS / sizeof ASHLAR_CORRUPTION_KINDS[0];

/* --- copies --- */

static bool copy_tables(struct ashlar_snapshot *copy, const struct ashlar_snapshot *source)
{
  uint16_t index = 0;
  for (uint32_t i = 0; i < source->stream_count; i++) {
    if (!ashlar_snapshot_stream(copy, source->streams[i].handle, source->streams[i].is_negative,
                                &index) ||
        index != i) {
      return false;
    }
  }
  for (uint32_t i = 0; i < source->pool_count; i++) {
    if (!ashlar_snapshot_pool(copy, source->pools[i].first, source->pools[i].second, &index) ||
        index != i) {
      return false;
    }
  }
  for (uint32_t i = 0; i < source->name_count; i++) {
    if (!ashlar_snapshot_name(copy, source->names[i].bytes, source->names[i].length, &index) ||
        index != i) {
      return false;
    }
  }
  return true;
}

static bool copy_listing(struct ashlar_snapshot *copy, const struct ashlar_snapshot *source)
{
  for (uint64_t i = 0; i < source->segment_count; i++) {
    const struct ashlar_segment *segment = &source->segments[i];
    if (!ashlar_snapshot_add_segment(copy, segment)) {
      return false;
    }
    for (uint64_t k = 0; k < segment->block_count; k++) {
      if (!ashlar_snapshot_add_block(copy, &source->blocks[segment->first_block + k])) {
        return false;
      }
    }
  }
  return true;
}

static bool copy_events(struct ashlar_snapshot *copy, const struct ashlar_snapshot *source)
{
  for (uint32_t i = 0; i < source->trace_count; i++) {
    if (!ashlar_snapshot_add_trace(copy)) {
      return false;
    }
    for (uint64_t k = 0; k < source->traces[i].event_count; k++) {
      if (!ashlar_snapshot_add_event(copy, i, &source->traces[i].events[k])) {
        return false;
      }
    }
  }
  return true;
}

static bool copy_snapshot(struct ashlar_snapshot *copy, const struct ashlar_snapshot *source)
{
  if (!ashlar_snapshot_init(copy) || !copy_tables(copy, source) || !copy_listing(copy, source) ||
      !copy_events(copy, source)) {
    return false;
  }
  const struct ashlar_text conf = copy->settings.conf;
  copy->settings = source->settings;
  copy->settings.conf = conf;
  copy->format = source->format;
  copy->protocol = source->protocol;
  copy->has_traces = source->has_traces;
  copy->has_annotations = source->has_annotations;
  copy->has_history = source->has_history;
  return source->settings.conf.bytes == NULL ||
         ashlar_snapshot_set_conf(copy, source->settings.conf.bytes, source->settings.conf.length);
}

bool ashlar_corruption_make(const struct ashlar_corruption_kind *kind,
                            const struct ashlar_world *start, enum ashlar_order order,
                            uint64_t seed, struct ashlar_corruption *corruption)
{
  *corruption = (struct ashlar_corruption){
      .good = start->snapshot,
      .start = start,
      .order = order,
      .random = seed,
      .event = ASHLAR_NO_EVENT,
  };
  if (!copy_snapshot(&corruption->faulty, start->snapshot)) {
    abort();
  }
  return kind->make(corruption);
}

void ashlar_corruption_free(struct ashlar_corruption *corruption)
{
  ashlar_snapshot_free(&corruption->faulty);
  ashlar_world_free(&corruption->world);
}
