/* corruption_kinds.h - the functions behind the kinds of faults; what each does is said where it
 * is.
 *
 * Private to tests/corruption*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORRUPTION_KINDS_H
#define ASHLAR_TESTS_CORRUPTION_KINDS_H

#include "tests/corruption_edit.h"

/* --- corruption_listing.c: the segments and blocks as listed --- */
bool ashlar_corrupt_block_starts_early(struct ashlar_corruption *corruption);
bool ashlar_corrupt_block_grows(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_block_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_live_block_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_block_shrinks(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_block_in_two(struct ashlar_corruption *corruption);
bool ashlar_corrupt_total_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_allocated_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_active_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_requested_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_size_not_rounded(struct ashlar_corruption *corruption);
bool ashlar_corrupt_empty_block(struct ashlar_corruption *corruption);
bool ashlar_corrupt_request_exceeds_block(struct ashlar_corruption *corruption);
bool ashlar_corrupt_block_not_split(struct ashlar_corruption *corruption);
bool ashlar_corrupt_block_split(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_type(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segments_overlap(struct ashlar_corruption *corruption);

/* --- corruption_final.c: the listing against the recording --- */
bool ashlar_corrupt_segment_unaligned(struct ashlar_corruption *corruption);
bool ashlar_corrupt_live_listed_free(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_listed_live(struct ashlar_corruption *corruption);
bool ashlar_corrupt_pending_state(struct ashlar_corruption *corruption);
bool ashlar_corrupt_listed_request(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_not_listed(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_still_listed(struct ashlar_corruption *corruption);
bool ashlar_corrupt_listed_stream(struct ashlar_corruption *corruption);

/* --- corruption_placement.c: where requests are placed --- */
bool ashlar_corrupt_not_best(struct ashlar_corruption *corruption);
bool ashlar_corrupt_not_best_throughout(struct ashlar_corruption *corruption);
bool ashlar_corrupt_not_first_of_equals(struct ashlar_corruption *corruption);
bool ashlar_corrupt_not_at_front(struct ashlar_corruption *corruption);
bool ashlar_corrupt_over_split_limit(struct ashlar_corruption *corruption);
bool ashlar_corrupt_into_live_block(struct ashlar_corruption *corruption);
bool ashlar_corrupt_into_too_small(struct ashlar_corruption *corruption);
bool ashlar_corrupt_outside(struct ashlar_corruption *corruption);
bool ashlar_corrupt_alloc_unaligned(struct ashlar_corruption *corruption);
bool ashlar_corrupt_other_pool(struct ashlar_corruption *corruption);
bool ashlar_corrupt_private_pool(struct ashlar_corruption *corruption);
bool ashlar_corrupt_other_stream_block(struct ashlar_corruption *corruption);
bool ashlar_corrupt_to_other_stream(struct ashlar_corruption *corruption);
bool ashlar_corrupt_zero_bytes(struct ashlar_corruption *corruption);
bool ashlar_corrupt_exabytes(struct ashlar_corruption *corruption);
bool ashlar_corrupt_request_exceeds_room(struct ashlar_corruption *corruption);
bool ashlar_corrupt_request_changed(struct ashlar_corruption *corruption);

/* --- corruption_frees.c: frees, missing and doubled events --- */
bool ashlar_corrupt_free_outside(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_interior(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_of_free(struct ashlar_corruption *corruption);
bool ashlar_corrupt_double_free(struct ashlar_corruption *corruption);
bool ashlar_corrupt_stale_free(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_completion_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_request_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_requested_twice(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_reversed(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_stream(struct ashlar_corruption *corruption);
bool ashlar_corrupt_free_too_late(struct ashlar_corruption *corruption);
bool ashlar_corrupt_alloc_missing_then_freed(struct ashlar_corruption *corruption);
bool ashlar_corrupt_alloc_missing_of_live(struct ashlar_corruption *corruption);
bool ashlar_corrupt_alloc_after_free(struct ashlar_corruption *corruption);
bool ashlar_corrupt_alloc_twice(struct ashlar_corruption *corruption);

/* --- corruption_segments.c: asking the device and giving back --- */
bool ashlar_corrupt_needless_segment(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_for_nobody(struct ashlar_corruption *corruption);
bool ashlar_corrupt_new_segment_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_new_segment_size_throughout(struct ashlar_corruption *corruption);
bool ashlar_corrupt_new_segment_overlaps(struct ashlar_corruption *corruption);
bool ashlar_corrupt_new_segment_stream(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_alloc_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_segment_alloc_twice(struct ashlar_corruption *corruption);
bool ashlar_corrupt_oom_while_block_fits(struct ashlar_corruption *corruption);
bool ashlar_corrupt_oom_before_release(struct ashlar_corruption *corruption);

/* --- corruption_growable.c: mapping and unmapping --- */
bool ashlar_corrupt_map_twice(struct ashlar_corruption *corruption);
bool ashlar_corrupt_map_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_map_elsewhere(struct ashlar_corruption *corruption);
bool ashlar_corrupt_map_stream(struct ashlar_corruption *corruption);
bool ashlar_corrupt_map_needless(struct ashlar_corruption *corruption);
bool ashlar_corrupt_map_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_unmap_in_use(struct ashlar_corruption *corruption);
bool ashlar_corrupt_unmap_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_unmap_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_unmap_order(struct ashlar_corruption *corruption);
bool ashlar_corrupt_part_not_listed(struct ashlar_corruption *corruption);
bool ashlar_corrupt_part_listed_ordinary(struct ashlar_corruption *corruption);

/* --- corruption_releases.c: giving segments back --- */
bool ashlar_corrupt_release_in_use(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_order(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_missing(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_skipped(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_alone(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_twice(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_unknown(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_size(struct ashlar_corruption *corruption);
bool ashlar_corrupt_release_stream(struct ashlar_corruption *corruption);

#endif
