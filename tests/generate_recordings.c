/* generate_recordings.c - writes the recordings of recordings.h as files:
 * FOLDER/recording-NN.pickle, and beside each its trace, recording-NN.trace.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/recordings.h"
#include "tools/snapshot_writer.h"

enum { NAME_ROOM = 4096 };

static bool write_trace(const struct ashlar_recording_plan *plan, const char *name)
{
  size_t length = 0;
  char *text = ashlar_recording_trace(plan, &length);
  FILE *file = text == NULL ? NULL : fopen(name, "wb");
  bool is_done = file != NULL && fwrite(text, 1, length, file) == length;
  if (file != NULL) {
    is_done = fclose(file) == 0 && is_done;
  }
  free(text);
  return is_done;
}

static void say(unsigned index, const struct ashlar_recording_plan *plan,
                const struct ashlar_replay *replay, const struct ashlar_snapshot *snapshot)
{
  const struct ashlar_replay_device *device = &replay->devices[0];
  (void)printf("%02u: %s policy, %s order, %u streams, %u devices, split limit %" PRIu64
               ", capacity %" PRIu64 "; %" PRIu64 " events kept, %zu segments; device 0: %" PRIu64
               " served, %" PRIu64 " failed, calls %" PRIu64 "/%" PRIu64 "/%" PRIu64
               ", pending %" PRIu64 "\n",
               index, plan->options.policy == ASHLAR_POLICY_FAITHFUL ? "faithful" : "complete",
               plan->options.order == ASHLAR_ORDER_SEGMENT ? "segment" : "address", plan->streams,
               plan->devices, plan->options.max_split_size, plan->options.capacity,
               snapshot->event_count, (size_t)snapshot->segment_count, device->served,
               device->failed, device->calls.allocs, device->calls.frees, device->calls.refused,
               device->pending_blocks);
}

static bool write_recording(const char *folder, unsigned index)
{
  const struct ashlar_recording_plan plan = ashlar_recording_plan(index);
  char name[NAME_ROOM];
  struct ashlar_snapshot snapshot;
  struct ashlar_replay replay;
  struct ashlar_error error = {0};
  (void)snprintf(name, sizeof name, "%s/recording-%02u.trace", folder, index);
  if (!write_trace(&plan, name)) {
    (void)fprintf(stderr, "%s cannot be written\n", name);
    return false;
  }
  if (!ashlar_recording_make(&plan, &snapshot, &replay, &error)) {
    (void)fprintf(stderr, "recording %u: %s\n", index, error.text);
    return false;
  }
  say(index, &plan, &replay, &snapshot);
  (void)snprintf(name, sizeof name, "%s/recording-%02u.pickle", folder, index);
  const bool is_done = ashlar_snapshot_write_file(name, &snapshot, &error);
  if (!is_done) {
    (void)fprintf(stderr, "%s: %s\n", name, error.text);
  }
  ashlar_snapshot_free(&snapshot);
  ashlar_replay_free(&replay);
  return is_done;
}

int main(int argc, char **argv)
{
  if (argc != 2) {
    (void)fprintf(stderr, "usage: generate_recordings FOLDER\n");
    return 3;
  }
  for (unsigned i = 0; i < ASHLAR_RECORDINGS; i++) {
    if (!write_recording(argv[1], i)) {
      return 1;
    }
  }
  return 0;
}
