/* replay.c - see replay.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* clock_gettime */
#include "tools/replay.h"

#include <stdlib.h>
#include <time.h>

#include "tools/audit.h"
#include "tools/replay_device.h"
#include "tools/replay_seed.h"
#include "tools/replaying.h"

#define ADDRESS_BASE (UINT64_C(1) << 44) /* of device 0; far above what a program would have */
#define ADDRESS_STEP (UINT64_C(1) << 44) /* from one device to the next */
#define SECOND_NS UINT64_C(1000000000)

static bool no_memory(const struct ashlar_replaying *work)
{
  return ashlar_error_set(work->error, 0, "out of memory");
}

/* --- devices --- */

static bool begin_device(struct ashlar_replaying *work, uint8_t device)
{
  const struct ashlar_replay_options *options = &work->replay->options;
  struct ashlar_play *play = &work->plays[device];
  struct ashlar_sim_config sim = {
      .capacity = options->capacity,
      .base = ADDRESS_BASE + device * ADDRESS_STEP,
      .placement = options->placement,
  };
  if (options->placement == ASHLAR_SIM_RECORDED && work->requests->scripts != NULL) {
    sim.script = work->requests->scripts[device].lines;
    sim.script_length = work->requests->scripts[device].length;
  }
  play->requests = work->requests;
  play->recorder = &work->recorder;
  play->replay = work->replay;
  play->result = &work->replay->devices[device];
  play->device = device;
  if (!ashlar_play_begin(play, &work->replay->config, &sim)) {
    return no_memory(work);
  }
  if (work->collects != NULL && work->collects[device] != UINT64_MAX) {
    /* A limit that never refuses: the recorded device does that. */
    (void)ashlar_limit_set(play->manager, UINT64_MAX - 1, work->collects[device]);
  }
  play->result->is_used = true;
  return true;
}

/* The seeds of a device, as a range of the arrays that are sorted by device. */
static struct ashlar_seeds seeds_of(const struct ashlar_requests *requests, uint8_t device)
{
  size_t segment = 0;
  size_t block = 0;
  while (segment < requests->segment_count && requests->segments[segment].device < device) {
    segment++;
  }
  while (block < requests->seed_count && requests->seeds[block].device < device) {
    block++;
  }
  struct ashlar_seeds seeds = {
      .segments = requests->segments + segment,
      .blocks = requests->seeds + block,
  };
  while (segment + seeds.segment_count < requests->segment_count &&
         seeds.segments[seeds.segment_count].device == device) {
    seeds.segment_count++;
  }
  while (block + seeds.block_count < requests->seed_count &&
         seeds.blocks[seeds.block_count].device == device) {
    seeds.block_count++;
  }
  return seeds;
}

static bool seed_device(struct ashlar_replaying *work, uint8_t device)
{
  const struct ashlar_seeds seeds = seeds_of(work->requests, device);
  if (seeds.segment_count == 0 && seeds.block_count == 0) {
    return true;
  }
  if (!begin_device(work, device)) {
    return false;
  }
  struct ashlar_play *play = &work->plays[device];
  const bool is_recorded = work->replay->options.placement == ASHLAR_SIM_RECORDED;
  const bool is_done = is_recorded
                           ? ashlar_seed_recorded(play, &seeds, work->allocations, work->error)
                           : ashlar_seed_anew(play, &seeds, work->allocations, work->error);
  const struct ashlar_sim_counts *counts = &play->sim.counts;
  play->result->seed_calls = counts->allocs + counts->frees + counts->refused;
  ashlar_sim_reset_counts(&play->sim);
  return is_done;
}

static bool seed_devices(struct ashlar_replaying *work)
{
  for (uint32_t device = 0; device < work->requests->device_count; device++) {
    struct ashlar_replay_device *result = &work->replay->devices[device];
    result->at_peak_reserved.event = ASHLAR_REPLAY_BEFORE;
    result->at_peak_allocated.event = ASHLAR_REPLAY_BEFORE;
    if (!seed_device(work, (uint8_t)device)) {
      return false;
    }
    if (work->plays[device].manager != NULL) {
      ashlar_play_measure(&work->plays[device], ASHLAR_REPLAY_BEFORE);
    }
  }
  return true;
}

/* --- the requests --- */

static bool do_on_device(struct ashlar_replaying *work, const struct ashlar_request_item *item,
                         uint8_t device)
{
  struct ashlar_play *play = &work->plays[device];
  if (play->manager == NULL && !begin_device(work, device)) {
    return false;
  }
  play->time_us = item->time_us;
  work->replay->operations++;
  if (!ashlar_replaying_request(work, play, item)) {
    return false;
  }
  if (play->is_out_of_memory || work->recorder.is_out_of_memory) {
    return no_memory(work);
  }
  /* Releases stand at the first of their events, of which more are to come. */
  if (work->replay->options.placement == ASHLAR_SIM_RECORDED &&
      item->kind != ASHLAR_REQUEST_EMPTY_CACHE && item->kind != ASHLAR_REQUEST_RELEASE) {
    ashlar_sim_advance(&play->sim, item->event);
  }
  ashlar_play_measure(play, item->event);
  return true;
}

static bool do_on_every_device(struct ashlar_replaying *work,
                               const struct ashlar_request_item *item)
{
  for (uint32_t device = 0; device < work->requests->device_count; device++) {
    if (work->plays[device].manager != NULL && !do_on_device(work, item, (uint8_t)device)) {
      return false;
    }
  }
  return true;
}

static uint64_t now_ns(void)
{
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static bool do_items(struct ashlar_replaying *work)
{
  const struct ashlar_requests *requests = work->requests;
  const uint64_t start = now_ns();
  for (size_t i = 0; i < requests->item_count; i++) {
    const struct ashlar_request_item *item = &requests->items[i];
    const bool is_done = item->device == ASHLAR_REQUESTS_EVERY_DEVICE
                             ? do_on_every_device(work, item)
                             : do_on_device(work, item, item->device);
    if (!is_done) {
      return false;
    }
  }
  work->replay->wall_ns = now_ns() - start;
  return true;
}

/* --- the end --- */

static void count_live(struct ashlar_replaying *work)
{
  for (uint32_t i = 0; i < work->requests->number_count; i++) {
    const struct ashlar_allocation *allocation = &work->allocations[i];
    struct ashlar_replay_device *result = &work->replay->devices[allocation->device];
    if (allocation->state == ASHLAR_ALLOCATION_LIVE ||
        allocation->state == ASHLAR_ALLOCATION_USED ||
        allocation->state == ASHLAR_ALLOCATION_PENDING) {
      result->live_blocks++;
      result->live_bytes += ashlar_play_bytes(&work->plays[allocation->device], allocation);
      result->pending_blocks += allocation->state == ASHLAR_ALLOCATION_PENDING ? 1 : 0;
    }
  }
}

static void close_figures(struct ashlar_replaying *work)
{
  const struct ashlar_requests *requests = work->requests;
  const uint64_t last = requests->item_count == 0 ? ASHLAR_REPLAY_BEFORE
                                                  : requests->items[requests->item_count - 1].event;
  for (uint32_t device = 0; device < requests->device_count; device++) {
    struct ashlar_play *play = &work->plays[device];
    if (play->manager != NULL) {
      /* What the script still holds did not happen. */
      ashlar_sim_advance(&play->sim, UINT64_MAX);
      play->result->calls = play->sim.counts;
      play->result->calls_uncached += play->result->frees;
      play->result->at_end = ashlar_play_moment(play, last);
    }
  }
  count_live(work);
}

static bool add_state(struct ashlar_replaying *work, uint8_t device,
                      struct ashlar_snapshot *recording)
{
  const struct ashlar_play *play = &work->plays[device];
  uint8_t *pending = calloc((size_t)ashlar_slot_limit(play->manager) + 1, sizeof *pending);
  if (pending == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < work->requests->number_count; i++) {
    const struct ashlar_allocation *allocation = &work->allocations[i];
    if (allocation->device == device && allocation->state == ASHLAR_ALLOCATION_PENDING) {
      pending[allocation->slot] = 1;
    }
  }
  const struct ashlar_recorder_state state = {
      .manager = play->manager,
      .streams = play->streams,
      .pools = play->pool_names,
      .pending = pending,
      .device = device,
  };
  const bool is_done = ashlar_recorder_add_state(&state, recording);
  free(pending);
  return is_done;
}

static bool make_recording(struct ashlar_replaying *work, struct ashlar_snapshot *recording)
{
  bool is_done =
      ashlar_recorder_finish(&work->recorder, work->requests, &work->replay->config, recording);
  for (uint32_t i = 0; is_done && i < work->requests->device_count; i++) {
    is_done = work->plays[i].manager == NULL || add_state(work, (uint8_t)i, recording);
  }
  if (is_done && work->replay->options.placement == ASHLAR_SIM_RECORDED) {
    is_done = ashlar_recorder_adopt_requested(work->requests, recording, &work->replay->adopted);
  }
  if (!is_done) {
    ashlar_snapshot_free(recording);
  }
  return is_done || no_memory(work);
}

static bool check_settings(struct ashlar_replaying *work)
{
  const struct ashlar_replay_options *options = &work->replay->options;
  const struct ashlar_requests *requests = work->requests;
  struct ashlar_config *config = &work->replay->config;
  *config = requests->config;
  config->policy = options->policy;
  config->order = options->order;
  if (options->max_split_size != 0) {
    config->max_split_size = options->max_split_size;
  }
  if (config->max_split_size < config->large_segment_size) {
    return ashlar_error_set(work->error, 0, "the split limit is below %llu bytes",
                            (unsigned long long)config->large_segment_size);
  }
  if (options->placement != ASHLAR_SIM_RECORDED) {
    return true;
  }
  if (requests->snapshot == NULL) {
    return ashlar_error_set(
        work->error, 0, "a text trace tells no addresses: the recorded device needs a snapshot");
  }
  if (requests->has_growable) {
    return ashlar_error_set(work->error, 0,
                            "growable segments were recorded of which the ranges are not told");
  }
  if (requests->grows && !ashlar_play_ranges(requests, config)) {
    return ashlar_error_set(work->error, 0,
                            "growable segments were recorded whose ranges overlap: how long they "
                            "were is not told");
  }
  return true;
}

/* Whether decisions hang on how much is reserved when segments are collected for their age. */
static bool collects(const struct ashlar_replaying *work)
{
  const struct ashlar_snapshot *snapshot = work->requests->snapshot;
  return work->replay->options.placement == ASHLAR_SIM_RECORDED &&
         work->replay->options.policy == ASHLAR_POLICY_FAITHFUL &&
         snapshot->settings.garbage_collection_threshold > 0;
}

/* A recording tells what part of the limit is free of collection, but not the limit. What was collected and what was not
   tells between which bounds it is; where ages that nobody recorded decided that, nothing does. */
static bool find_collections(struct ashlar_replaying *work)
{
  const struct ashlar_audit_options options = {
      .order = work->replay->options.order == ASHLAR_ORDER_SEGMENT ? ASHLAR_AUDIT_ORDER_SEGMENT
                                                                   : ASHLAR_AUDIT_ORDER_ADDRESS};
  struct ashlar_audit audit;
  bool is_told = true;
  work->collects = malloc(ASHLAR_REQUESTS_DEVICES * sizeof *work->collects);
  if (work->collects == NULL ||
      !ashlar_audit_snapshot(work->requests->snapshot, "", &options, &audit, work->error)) {
    return no_memory(work);
  }
  for (int32_t i = 0; i < ASHLAR_REQUESTS_DEVICES; i++) {
    work->collects[i] = UINT64_MAX;
  }
  for (uint64_t i = 0; i < audit.device_count; i++) {
    const struct ashlar_audit_device *device = &audit.devices[i];
    if (device->device < 0 || device->device >= ASHLAR_REQUESTS_DEVICES ||
        device->collects_below == UINT64_MAX) {
      continue;
    }
    is_told = is_told && !device->has_open_ages;
    work->collects[device->device] = device->collects_from;
  }
  ashlar_audit_free(&audit);
  return is_told ||
         ashlar_error_set(work->error, 0,
                          "segments were collected by age, and how old those from before the "
                          "recording are is not told: the recorded device cannot be replayed");
}

static bool run(struct ashlar_replaying *work, struct ashlar_snapshot *recording)
{
  const uint32_t devices = work->requests->device_count;
  if (!check_settings(work) || (collects(work) && !find_collections(work))) {
    return false;
  }
  work->replay->devices = calloc((size_t)devices + 1, sizeof *work->replay->devices);
  work->plays = calloc((size_t)devices + 1, sizeof *work->plays);
  work->allocations = calloc((size_t)work->requests->number_count + 1, sizeof *work->allocations);
  if (work->replay->devices == NULL || work->plays == NULL || work->allocations == NULL) {
    return no_memory(work);
  }
  work->replay->device_count = devices;
  if (recording != NULL) {
    ashlar_recorder_start(&work->recorder, work->replay->options.max_entries);
  }
  if (!seed_devices(work) || !do_items(work)) {
    return false;
  }
  close_figures(work);
  return recording == NULL || make_recording(work, recording);
}

static bool run_and_clean(struct ashlar_replaying *work,
                          const struct ashlar_replay_options *options,
                          struct ashlar_snapshot *recording)
{
  *work->replay = (struct ashlar_replay){.options = *options};
  const bool is_done = run(work, recording);
  for (uint32_t i = 0; work->plays != NULL && i < work->requests->device_count; i++) {
    ashlar_play_end(&work->plays[i]);
  }
  free(work->plays);
  free(work->allocations);
  free(work->collects);
  ashlar_recorder_free(&work->recorder);
  if (!is_done) {
    ashlar_replay_free(work->replay);
  }
  return is_done;
}

/* Finds out what the releases of a recording were for, which shows only in the state that was
   recorded: a replay as recorded comes first. Where that is not possible they count as the
   ladder's. */
static void decide_releases(const struct ashlar_replaying *asked,
                            const struct ashlar_replay_options *options)
{
  struct ashlar_replay replay = {0};
  struct ashlar_error error = {0};
  struct ashlar_replay_options as_recorded = *options;
  struct ashlar_replaying work = {
      .requests = asked->requests,
      .replay = &replay,
      .was_call = asked->was_call,
      .is_deciding = true,
      .error = &error,
  };
  as_recorded.placement = ASHLAR_SIM_RECORDED;
  as_recorded.capacity = ASHLAR_SIM_UNLIMITED;
  as_recorded.max_split_size = 0;
  if (run_and_clean(&work, &as_recorded, NULL)) {
    ashlar_replay_free(&replay);
  }
}

bool ashlar_replay_run(const struct ashlar_requests *requests,
                       const struct ashlar_replay_options *options, struct ashlar_replay *replay,
                       struct ashlar_snapshot *recording, struct ashlar_error *error)
{
  struct ashlar_replaying work = {
      .requests = requests,
      .replay = replay,
      .is_deciding = options->placement == ASHLAR_SIM_RECORDED,
      .error = error,
  };
  *replay = (struct ashlar_replay){0};
  if (recording != NULL) {
    *recording = (struct ashlar_snapshot){0};
  }
  work.was_call = calloc((size_t)requests->release_count + 1, sizeof *work.was_call);
  if (work.was_call == NULL) {
    return no_memory(&work);
  }
  if (requests->release_count > 0 && !work.is_deciding) {
    decide_releases(&work, options);
  }
  const bool is_done = run_and_clean(&work, options, recording);
  free(work.was_call);
  return is_done;
}

void ashlar_replay_free(struct ashlar_replay *replay)
{
  free(replay->devices);
  free(replay->failures);
  *replay = (struct ashlar_replay){0};
}

int ashlar_replay_exit_status(const struct ashlar_replay *replay)
{
  for (uint32_t i = 0; i < replay->device_count; i++) {
    const struct ashlar_replay_device *device = &replay->devices[i];
    if (device->failed > 0 || device->elsewhere > 0 || device->calls.off_script > 0) {
      return 1;
    }
  }
  return 0;
}

double ashlar_replay_fragmentation(const struct ashlar_replay_moment *moment)
{
  return moment->free == 0 ? 0 : 1 - (double)moment->largest_free / (double)moment->free;
}

double ashlar_replay_saved_seconds(const struct ashlar_replay *replay,
                                   const struct ashlar_replay_device *device)
{
  const uint64_t made = device->calls.allocs + device->calls.frees + device->calls.refused;
  const double saved = (double)device->calls_uncached - (double)made;
  return saved * (double)replay->options.call_cost / (double)SECOND_NS;
}
