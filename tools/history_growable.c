/* history_growable.c - see history_growable.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history_growable.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_MOST (UINT64_C(1) << 44) /* bytes; no device has as much memory */

/* Votes of requests for the class of the memory that they were served from, in struct ashlar_segment_record.mapped. */
#define VOTE_SMALL UINT64_C(1)
#define VOTE_LARGE (UINT64_C(1) << 32)

static uint64_t vote_of(const struct ashlar_config *config, const struct ashlar_event *recorded)
{
  return ashlar_pool_class(ashlar_history_rounded(config, recorded->size)) == ASHLAR_CLASS_SMALL
             ? VOTE_SMALL
             : VOTE_LARGE;
}

/* What the votes say; where they are equal, ASHLAR_CLASSES: not known. */
static uint8_t elected(uint64_t votes)
{
  const uint64_t large = votes / VOTE_LARGE;
  const uint64_t small = votes % VOTE_LARGE;
  if (large == small) {
    return ASHLAR_CLASSES;
  }
  return large > small ? ASHLAR_CLASS_LARGE : ASHLAR_CLASS_SMALL;
}

/* Follows what is mapped; gives the classes of what is unmapped. False: memory is short. */
static bool count_votes(const struct ashlar_device_part *part, const struct ashlar_config *config,
                        struct ashlar_range_set *seen, struct ashlar_unmapped *unmapped)
{
  bool is_done = true;
  for (uint64_t i = 0; is_done && i < part->event_count; i++) {
    const struct ashlar_event *recorded = &part->events[i];
    const struct ashlar_segment_record record = {.address = recorded->address,
                                                 .size = recorded->size};
    struct ashlar_segment_record *found = ashlar_segments_at(&seen->mapped, recorded->address);
    switch (recorded->action) {
    case ASHLAR_ACTION_SEGMENT_MAP:
      is_done = ashlar_ranges_add(seen, &record) != ASHLAR_RANGES_NO_MEMORY;
      break;
    case ASHLAR_ACTION_SEGMENT_UNMAP:
      unmapped->classes[unmapped->count] = found == NULL ? ASHLAR_CLASSES : elected(found->mapped);
      unmapped->count++;
      is_done = ashlar_ranges_undo_map(seen, i, recorded->address, recorded->size) !=
                ASHLAR_RANGES_NO_MEMORY;
      break;
    case ASHLAR_ACTION_ALLOC:
    case ASHLAR_ACTION_FREE_COMPLETED:
      if (found != NULL) {
        found->mapped += vote_of(config, recorded);
      }
      break;
    default:
      break;
    }
  }
  return is_done;
}

bool ashlar_unmapped_find(const struct ashlar_device_part *part, const struct ashlar_config *config,
                          struct ashlar_unmapped *unmapped)
{
  struct ashlar_range_set seen = {0};
  uint64_t count = 0;
  for (uint64_t i = 0; i < part->event_count; i++) {
    count += part->events[i].action == ASHLAR_ACTION_SEGMENT_UNMAP ? 1 : 0;
  }
  *unmapped = (struct ashlar_unmapped){.classes = malloc((size_t)count + 1)};
  if (unmapped->classes == NULL) {
    return false;
  }
  const bool is_done = count == 0 || count_votes(part, config, &seen, unmapped);
  ashlar_ranges_free(&seen);
  return is_done;
}

static int by_value(const void *left, const void *right)
{
  const uint64_t a = *(const uint64_t *)left;
  const uint64_t b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* Where anything ever began, ascending: a range does not go on behind that. The caller's to free(); NULL: memory is short. */
static uint64_t *list_starts(const struct ashlar_device_part *part,
                             const struct ashlar_range_set *ranges, uint64_t *count)
{
  uint64_t most = part->segment_count + ranges->count + 1;
  for (uint64_t i = 0; i < part->event_count; i++) {
    most += part->events[i].action == ASHLAR_ACTION_SEGMENT_ALLOC ||
                    part->events[i].action == ASHLAR_ACTION_SEGMENT_FREE
                ? 1
                : 0;
  }
  uint64_t *starts = malloc((size_t)most * sizeof *starts);
  *count = 0;
  for (uint64_t i = 0; starts != NULL && i < part->event_count; i++) {
    if (part->events[i].action == ASHLAR_ACTION_SEGMENT_ALLOC ||
        part->events[i].action == ASHLAR_ACTION_SEGMENT_FREE) {
      starts[(*count)++] = part->events[i].address;
    }
  }
  for (uint64_t i = 0; starts != NULL && i < part->segment_count; i++) {
    const struct ashlar_segment *segment = &part->snapshot->segments[part->segments[i]];
    if (!segment->is_expandable) {
      starts[(*count)++] = segment->address;
    }
  }
  for (uint64_t i = 0; starts != NULL && i < ranges->count; i++) {
    starts[(*count)++] = ranges->lives[i].address;
  }
  if (starts != NULL) {
    qsort(starts, (size_t)*count, sizeof *starts, by_value);
  }
  return starts;
}

/* Whether nothing is known against the picture of history_ranges.h. */
static bool is_followable(const struct ashlar_device_part *part,
                          const struct ashlar_history *history)
{
  const struct ashlar_text *conf = &part->snapshot->settings.conf;
  static const char RESERVE[] = "expandable_segments_reserve";
  const size_t length = sizeof RESERVE - 1;
  for (uint32_t i = 0; conf->length >= length && i <= conf->length - length; i++) {
    if (memcmp(conf->bytes + i, RESERVE, length) == 0) {
      return false;
    }
  }
  for (uint64_t i = 0; i < history->ranges.count; i++) {
    if (history->has_segments[history->ranges.lives[i].pool]) {
      return false; /* switched on or off in between, and nothing tells when */
    }
  }
  return !(history->grows && history->has_segments[0]);
}

/* The ranges from before the recording are among the segments. False: memory is short. */
static bool add_old_ranges(struct ashlar_history *history)
{
  for (uint64_t i = 0; i < history->ranges.count && !history->is_growable; i++) {
    const struct ashlar_range_life *life = &history->ranges.lives[i];
    const struct ashlar_segment_record record = {
        .address = life->address,
        .size = life->size,
        .slot = -1,
        .stream = life->stream,
        .pool = life->pool,
        .class = life->class,
        .is_old = true,
        .is_growable = true,
        .mapped = life->mapped,
    };
    if (life->begin != ASHLAR_NO_EVENT) {
      continue;
    }
    switch (ashlar_segments_add(&history->segments, &record)) {
    case ASHLAR_SEGMENTS_ADDED:
      break;
    case ASHLAR_SEGMENTS_OVERLAP:
      history->is_growable = true;
      break;
    default:
      return false;
    }
  }
  return true;
}

bool ashlar_history_settle_ranges(const struct ashlar_device_part *part,
                                  struct ashlar_history *history)
{
  uint64_t count = 0;
  uint64_t *starts = list_starts(part, &history->ranges, &count);
  if (starts == NULL) {
    return false;
  }
  ashlar_ranges_finish(&history->ranges, starts, count, RANGE_MOST);
  free(starts);
  history->grows = part->snapshot->settings.expandable_segments || history->ranges.count > 0;
  history->is_growable = history->is_growable || !is_followable(part, history);
  if (!add_old_ranges(history)) {
    return false;
  }
  for (uint32_t i = 0; history->is_growable && i < history->segments.count; i++) {
    ashlar_segments_nth(&history->segments, i)->reason = ASHLAR_OPEN_GROWABLE;
  }
  return true;
}
