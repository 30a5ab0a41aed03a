/* replay_report.c - the report of a replay for people; see replay_report.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_report.h"

#include <inttypes.h>

enum { SIZE_TEXT = 48, UNIT = 1024 };

#define MILLISECOND_NS 1e6

const char *ashlar_replay_reason_text(unsigned reason)
{
  static const char *const TEXTS[ASHLAR_REPLAY_REASONS] = {
      [ASHLAR_REPLAY_OUT_OF_MEMORY] = "out of memory",
      [ASHLAR_REPLAY_TOO_LARGE] = "larger than any request can be",
      [ASHLAR_REPLAY_NO_SLOT] = "the manager has no room for another block",
      [ASHLAR_REPLAY_NO_STREAM] = "the manager has no room for another stream",
      [ASHLAR_REPLAY_BAD_SEGMENT] = "the segment that the device gave cannot be used",
      [ASHLAR_REPLAY_NOT_LIVE] = "no block is live there",
      [ASHLAR_REPLAY_LIVE] = "a block is live there already",
      [ASHLAR_REPLAY_NO_POOL] = "more private pools than a manager knows",
      [ASHLAR_REPLAY_NO_PLACE] = "a block from before the recording has no place where it was",
  };
  return reason < ASHLAR_REPLAY_REASONS ? TEXTS[reason] : "unknown";
}

/* "1.50 GiB (1610612736 bytes)"; small sizes as bytes only. */
static const char *size_text(uint64_t bytes, char text[SIZE_TEXT])
{
  static const char *const UNITS[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double scaled = (double)bytes / UNIT;
  size_t unit = 0;
  if (bytes < UNIT) {
    (void)snprintf(text, SIZE_TEXT, "%" PRIu64 " bytes", bytes);
    return text;
  }
  while (scaled >= UNIT && unit + 1 < sizeof UNITS / sizeof UNITS[0]) {
    scaled /= UNIT;
    unit++;
  }
  (void)snprintf(text, SIZE_TEXT, "%.2f %s (%" PRIu64 " bytes)", scaled, UNITS[unit], bytes);
  return text;
}

static void print_moment(FILE *stream, const char *name, const struct ashlar_replay_moment *moment)
{
  char text[SIZE_TEXT];
  (void)fprintf(stream, "  %s", name);
  if (moment->event == ASHLAR_REPLAY_BEFORE) {
    (void)fprintf(stream, ", before the first request:\n");
  } else {
    (void)fprintf(stream, ", after event %" PRIu64 ":\n", moment->event);
  }
  (void)fprintf(stream, "    reserved              %s\n", size_text(moment->reserved, text));
  (void)fprintf(stream, "    allocated             %s\n", size_text(moment->allocated, text));
  if (moment->pending > 0) {
    (void)fprintf(stream, "    waiting to be free    %s\n", size_text(moment->pending, text));
  }
  (void)fprintf(stream, "    reserved - allocated  %s\n",
                size_text(moment->reserved - moment->allocated, text));
  (void)fprintf(stream, "    fragmentation         %.4f (1 - largest free block / free bytes)\n",
                ashlar_replay_fragmentation(moment));
}

static void print_seeds(FILE *stream, const struct ashlar_replay_device *device)
{
  char text[SIZE_TEXT];
  if (device->seeded_blocks == 0 && device->seeded_segments == 0) {
    return;
  }
  (void)fprintf(stream, "  live before the recording: %" PRIu64 " blocks, %s",
                device->seeded_blocks, size_text(device->seeded_bytes, text));
  if (device->seeded_segments > 0) {
    (void)fprintf(stream, ", in %" PRIu64 " segments that were there\n", device->seeded_segments);
  } else {
    (void)fprintf(stream, ", placed anew with %" PRIu64 " device calls, not counted below\n",
                  device->seed_calls);
  }
}

static void print_requests(FILE *stream, const struct ashlar_replay_device *device)
{
  (void)fprintf(stream, "  allocations: %" PRIu64 ", served: %" PRIu64 ", frees: %" PRIu64,
                device->allocations, device->served, device->frees);
  if (device->uses > 0) {
    (void)fprintf(stream, ", uses on other streams: %" PRIu64, device->uses);
  }
  if (device->cache_releases > 0) {
    (void)fprintf(stream, ", cache releases: %" PRIu64, device->cache_releases);
  }
  (void)fprintf(stream, "\n  failed requests: %" PRIu64, device->failed);
  if (device->skipped > 0) {
    (void)fprintf(stream, "; %" PRIu64 " later requests about blocks that do not exist skipped",
                  device->skipped);
  }
  (void)fprintf(stream, "\n");
  if (device->refused_before > 0) {
    (void)fprintf(stream,
                  "  out of memory when recorded: %" PRIu64
                  " requests; asked and refused again: %" PRIu64 "\n",
                  device->refused_before, device->refused_again);
  }
}

static void print_calls(FILE *stream, const struct ashlar_replay *replay,
                        const struct ashlar_replay_device *device)
{
  const struct ashlar_sim_counts *calls = &device->calls;
  (void)fprintf(stream,
                "  device calls: %" PRIu64 " (alloc %" PRIu64 ", free %" PRIu64 ", refused %" PRIu64
                "); without a cache: %" PRIu64 "\n",
                calls->allocs + calls->frees + calls->refused, calls->allocs, calls->frees,
                calls->refused, device->calls_uncached);
  (void)fprintf(stream,
                "  time saved by the cache: %.3f s, assuming %" PRIu64 " ns a call (--call-cost)\n",
                ashlar_replay_saved_seconds(replay, device), replay->options.call_cost);
}

static void print_recorded(FILE *stream, const struct ashlar_replay_device *device)
{
  (void)fprintf(stream,
                "  against the recording: %" PRIu64 " blocks placed elsewhere, %" PRIu64
                " device calls unlike the recorded ones\n",
                device->elsewhere, device->calls.off_script);
}

static void print_device(FILE *stream, const struct ashlar_replay *replay, uint32_t index)
{
  const struct ashlar_replay_device *device = &replay->devices[index];
  char text[SIZE_TEXT];
  (void)fprintf(stream, "device %u\n", (unsigned)index);
  print_seeds(stream, device);
  print_requests(stream, device);
  (void)fprintf(stream, "  peak reserved:  %s\n",
                size_text(device->at_peak_reserved.reserved, text));
  (void)fprintf(stream, "  peak allocated: %s\n",
                size_text(device->at_peak_allocated.allocated, text));
  print_moment(stream, "at peak reserved", &device->at_peak_reserved);
  print_moment(stream, "at peak allocated", &device->at_peak_allocated);
  print_moment(stream, "at the end", &device->at_end);
  print_calls(stream, replay, device);
  if (replay->options.placement == ASHLAR_SIM_RECORDED) {
    print_recorded(stream, device);
  }
  (void)fprintf(stream, "  left at the end: %" PRIu64 " live blocks, %s", device->live_blocks,
                size_text(device->live_bytes, text));
  if (device->pending_blocks > 0) {
    (void)fprintf(stream, "; %" PRIu64 " of them waiting to be free", device->pending_blocks);
  }
  (void)fprintf(stream, "\n");
}

static void print_failure(FILE *stream, const struct ashlar_replay_failure *failure)
{
  char text[SIZE_TEXT];
  if (failure->event == ASHLAR_REPLAY_BEFORE) {
    (void)fprintf(stream, "  device %u, before the first event: ", (unsigned)failure->device);
  } else {
    (void)fprintf(stream, "  device %u, event %" PRIu64 ": ", (unsigned)failure->device,
                  failure->event);
  }
  (void)fprintf(stream, "%s: %s", size_text(failure->bytes, text),
                ashlar_replay_reason_text(failure->reason));
  if (failure->reason == ASHLAR_REPLAY_OUT_OF_MEMORY) {
    (void)fprintf(stream, "; the device has %s left", size_text(failure->free, text));
    (void)fprintf(stream, ", the cache %s", size_text(failure->cached, text));
  } else if (failure->address != ASHLAR_NO_ADDRESS) {
    (void)fprintf(stream, "; recorded at 0x%" PRIx64, failure->address);
  }
  (void)fprintf(stream, "\n");
}

static void print_failures(FILE *stream, const struct ashlar_replay *replay)
{
  if (replay->failure_count == 0) {
    return;
  }
  (void)fprintf(stream, "requests that failed and were skipped\n");
  for (size_t i = 0; i < replay->failure_count && i < ASHLAR_REPLAY_FAILURES_SHOWN; i++) {
    print_failure(stream, &replay->failures[i]);
  }
  if (replay->failure_count > ASHLAR_REPLAY_FAILURES_SHOWN) {
    (void)fprintf(stream, "  and %zu more; --json lists all of them\n",
                  replay->failure_count - ASHLAR_REPLAY_FAILURES_SHOWN);
  }
}

static void print_settings(FILE *stream, const struct ashlar_replay *replay)
{
  const struct ashlar_config *config = &replay->config;
  char text[SIZE_TEXT];
  (void)fprintf(stream, "policy %s, free lists in %s order, ",
                config->policy == ASHLAR_POLICY_FAITHFUL ? "faithful" : "complete",
                config->order == ASHLAR_ORDER_SEGMENT ? "segment" : "address");
  if (config->max_split_size == UINT64_MAX) {
    (void)fprintf(stream, "no split limit\n");
  } else {
    (void)fprintf(stream, "split limit %s\n", size_text(config->max_split_size, text));
  }
  (void)fprintf(stream, "device: %s, capacity ",
                replay->options.placement == ASHLAR_SIM_RECORDED
                    ? "pretend, with the recorded segments"
                    : "pretend (sim), not a GPU");
  if (replay->options.capacity == ASHLAR_SIM_UNLIMITED) {
    (void)fprintf(stream, "without limit\n");
  } else {
    (void)fprintf(stream, "%s\n", size_text(replay->options.capacity, text));
  }
}

bool ashlar_replay_print_text(FILE *stream, const struct ashlar_replay *replay,
                              const struct ashlar_replay_subject *subject)
{
  const double operations = replay->operations == 0 ? 1 : (double)replay->operations;
  (void)fprintf(stream, "replay of %s (%s)\n", subject->file,
                subject->requests->snapshot != NULL ? "snapshot" : "trace");
  print_settings(stream, replay);
  (void)fprintf(stream,
                "%" PRIu64 " requests in %.3f ms: %.0f ns each, with all that is counted here\n",
                replay->operations, (double)replay->wall_ns / MILLISECOND_NS,
                (double)replay->wall_ns / operations);
  for (uint32_t i = 0; i < replay->device_count; i++) {
    if (replay->devices[i].is_used) {
      print_device(stream, replay, i);
    }
  }
  print_failures(stream, replay);
  return fflush(stream) == 0 && ferror(stream) == 0;
}
