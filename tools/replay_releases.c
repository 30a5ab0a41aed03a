/* replay_releases.c - see replay_releases.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_releases.h"

#include "core/reclaim.h"
#include "tools/history.h"

/* --- what the recording says --- */

static struct ashlar_device_part part_of(const struct ashlar_play *play)
{
  const struct ashlar_snapshot *snapshot = play->requests->snapshot;
  struct ashlar_device_part part = {.snapshot = snapshot, .device = play->device};
  if (snapshot != NULL && play->device < snapshot->trace_count) {
    part.events = snapshot->traces[play->device].events;
    part.event_count = snapshot->traces[play->device].event_count;
  }
  return part;
}

/* The event at a place; NULL: the recording has none there. */
static const struct ashlar_event *event_at(const struct ashlar_device_part *part, uint64_t i)
{
  return part->events != NULL && i < part->event_count ? part->events + i : NULL;
}

static bool is_release(const struct ashlar_event *event)
{
  return event->action == ASHLAR_ACTION_SEGMENT_FREE ||
         event->action == ASHLAR_ACTION_SEGMENT_UNMAP;
}

/* Whether the event may stand in a run of releases: blocks may come back between them. */
static bool is_in_run(const struct ashlar_event *event)
{
  return is_release(event) || event->action == ASHLAR_ACTION_FREE_COMPLETED;
}

void ashlar_releases_give_up(struct ashlar_play *play, const struct ashlar_request_item *item)
{
  const struct ashlar_device_part part = part_of(play);
  uint64_t i = item->event;
  const struct ashlar_event *event = event_at(&part, i);
  while (event != NULL && is_in_run(event)) {
    if (is_release(event) && event->pool != 0) {
      ashlar_play_give_up(play, event->pool);
    }
    i = ashlar_history_next(&part, i + 1);
    event = event_at(&part, i);
  }
}

/* The request that the releases may be for: the next allocation or failure. */
static const struct ashlar_event *request_behind(const struct ashlar_play *play,
                                                 const struct ashlar_request_item *item)
{
  const struct ashlar_device_part part = part_of(play);
  uint64_t i = item->event;
  const struct ashlar_event *event = event_at(&part, i);
  while (event != NULL && event->action != ASHLAR_ACTION_ALLOC &&
         event->action != ASHLAR_ACTION_OOM) {
    i = ashlar_history_next(&part, i + 1);
    event = event_at(&part, i);
  }
  return event;
}

/* The release that the recorded device expects next, by its event; NULL: none. */
static const struct ashlar_event *expected(const struct ashlar_play *play)
{
  const struct ashlar_device_part part = part_of(play);
  const struct ashlar_sim_script_line *line = ashlar_sim_expected(&play->sim);
  return line != NULL &&
                 (line->kind == ASHLAR_SIM_SCRIPT_FREE || line->kind == ASHLAR_SIM_SCRIPT_UNMAP)
             ? event_at(&part, line->position)
             : NULL;
}

/* --- by a call, or not --- */

/* What would be released for a request before anything is waited for: for its age, or because of the split limit; -1:
   nothing. */
static int32_t first_of_ladder(const struct ashlar_play *play, int32_t home, uint64_t size)
{
  const struct ashlar_manager *manager = play->manager;
  const int32_t all = ASHLAR_STAT_RESERVED_BYTES * ASHLAR_STAT_COLUMNS;
  const uint64_t limit = manager->config.max_split_size;
  int32_t first = -1;
  if (ashlar_collect_counts(manager) && manager->stat[all].current > manager->collect_above) {
    first = ashlar_collect_next(manager, ashlar_collect_mean(manager));
  }
  if (first == -1 && limit != UINT64_MAX) {
    first = ashlar_reclaim_oversize(manager, home, size > limit ? size : limit, limit, 1);
  }
  return first;
}

bool ashlar_releases_were_a_call(struct ashlar_play *play, const struct ashlar_request_item *item)
{
  const struct ashlar_event *request = request_behind(play, item);
  const struct ashlar_event *release = expected(play);
  const uint16_t pool = request == NULL ? 0 : request->pool;
  const int32_t stream = ashlar_play_stream_number(play, item->stream);
  const int32_t number = ashlar_play_pool(play, pool);
  const uint64_t size = ashlar_history_rounded(&play->manager->config, item->size);
  const struct ashlar_caller caller = ashlar_play_caller(play, pool);
  if (stream == -1 || number == -1 || size == 0) {
    return false;
  }
  if (ashlar_choose(play->manager, item->size, stream, caller) != -1) {
    return true;
  }
  const int32_t first =
      first_of_ladder(play, ashlar_home(number, ashlar_pool_class(size), stream), size);
  if (first != -1) {
    return !ashlar_sim_expects_free(&play->sim, play->manager->addr[first]);
  }
  if (caller.stream != -1) {
    return true; /* in a capture nothing else is released */
  }
  return release != NULL && release->pool != 0 && ashlar_reclaim_in_pool(play->manager, 0) != -1;
}

void ashlar_releases_by_call(struct ashlar_play *play, const struct ashlar_request_item *item)
{
  const struct ashlar_event *release = expected(play);
  if (play->sim.config.placement != ASHLAR_SIM_RECORDED || release == NULL) {
    ashlar_releases_give_up(play, item);
    ashlar_play_empty_cache(play, -1);
    return;
  }
  const struct ashlar_device_part part = part_of(play);
  uint64_t end = item->event;
  const struct ashlar_event *event = event_at(&part, end);
  while (event != NULL && is_release(event)) {
    end = ashlar_history_next(&part, end + 1);
    event = event_at(&part, end);
  }
  size_t played = SIZE_MAX;
  while (release != NULL && release < part.events + end && played != play->sim.script_next) {
    played = play->sim.script_next;
    if (release->pool == 0) {
      ashlar_releases_give_up(play, item);
      ashlar_play_empty_cache(play, -1);
    } else {
      ashlar_play_give_up(play, release->pool);
      ashlar_play_empty_cache(play, ashlar_play_pool(play, release->pool));
    }
    release = expected(play);
  }
}
