/* snapshot_reader_fuzz.c - any bytes as a memory snapshot.
 *
 * What is refused must say where and why and leave nothing; what is accepted must keep the promises of
 * tools/snapshot.h, and what the writer makes of it must read as something that is written as the same bytes. An
 * operation is one input, segment, block or event.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/harness.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_reader.h"
#include "tools/snapshot_writer.h"

enum { PATH_ROOM = 64 };

static bool is_empty(const struct ashlar_snapshot *snapshot)
{
  return snapshot->segments == NULL && snapshot->blocks == NULL && snapshot->traces == NULL &&
         snapshot->streams == NULL && snapshot->pools == NULL && snapshot->names == NULL &&
         snapshot->settings.conf.bytes == NULL && snapshot->stream_ids == NULL &&
         snapshot->pool_ids == NULL && snapshot->segment_count == 0 && snapshot->block_count == 0 &&
         snapshot->trace_count == 0 && snapshot->stream_count == 0 && snapshot->pool_count == 0 &&
         snapshot->name_count == 0 && snapshot->event_count == 0;
}

static void check_refusal(const struct ashlar_snapshot *snapshot, const struct ashlar_error *error,
                          size_t size)
{
  const size_t said = strnlen(error->text, sizeof error->text);
  FUZZ_SAY("refused: byte %" PRIu64 ": %s", error->position, error->text);
  FUZZ_CHECK(0 < said && said < sizeof error->text, "a refusal without a reason");
  FUZZ_CHECK(strpbrk(error->text, "\n\r") == NULL, "a refusal of more than one line");
  FUZZ_CHECK(error->position <= size, "byte %" PRIu64 " of %zu", error->position, size);
  FUZZ_CHECK(is_empty(snapshot), "something is left of a refused snapshot");
}

/* --- what an accepted snapshot must be --- */

static void print_segments(const struct ashlar_snapshot *snapshot)
{
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    const struct ashlar_segment *segment = &snapshot->segments[i];
    fuzz_print("segment 0x%" PRIx64 ", %" PRIu64 " bytes, %" PRIu64 " blocks", segment->address,
               segment->total_size, segment->block_count);
  }
  for (uint64_t i = 0; i < snapshot->block_count; i++) {
    fuzz_print("block 0x%" PRIx64 ", %" PRIu64 " bytes, state %u", snapshot->blocks[i].address,
               snapshot->blocks[i].size, (unsigned)snapshot->blocks[i].state);
  }
}

static void print_events(const struct ashlar_snapshot *snapshot)
{
  for (uint32_t trace = 0; trace < snapshot->trace_count; trace++) {
    for (uint64_t i = 0; i < snapshot->traces[trace].event_count; i++) {
      const struct ashlar_event *event = &snapshot->traces[trace].events[i];
      fuzz_print("device %" PRIu32 ": %s 0x%" PRIx64 ", %" PRIu64, trace,
                 ashlar_action_name(event->action), event->address, event->size);
    }
  }
}

static void check_snapshot(const struct ashlar_snapshot *snapshot, size_t size)
{
  uint64_t events = 0;
  if (fuzz_is_printing) {
    print_segments(snapshot);
    print_events(snapshot);
  }
  FUZZ_CHECK(ashlar_snapshot_is_valid(snapshot), "a promise of the reader is broken");
  for (uint32_t trace = 0; trace < snapshot->trace_count; trace++) {
    events += snapshot->traces[trace].event_count;
  }
  FUZZ_CHECK(events == snapshot->event_count, "%" PRIu64 " events counted", snapshot->event_count);
  FUZZ_CHECK(snapshot->has_history == (events > 0), "has a history: %d",
             (int)snapshot->has_history);
  /* each takes at least one byte to write down */
  FUZZ_CHECK(events + snapshot->segment_count + snapshot->block_count + snapshot->trace_count <=
                 size,
             "more is read than was there");
}

/* --- there and back --- */

/* A file in memory. */
struct file {
  int descriptor;
  char path[PATH_ROOM];
};

static void open_file(struct file *file)
{
  file->descriptor = memfd_create("snapshot", MFD_CLOEXEC);
  (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
  if (file->descriptor < 0) {
    perror("fuzz: memfd_create");
    exit(EXIT_FAILURE);
  }
}

/* Two files, made once: to make them costs more than most inputs. */
static struct file *get_file(size_t number)
{
  static struct file files[2];
  static bool is_open;
  if (!is_open) {
    open_file(&files[0]);
    open_file(&files[1]);
    is_open = true;
  }
  return &files[number];
}

/* Writes the snapshot; its bytes, to be freed. */
static uint8_t *write_snapshot(const struct file *file, const struct ashlar_snapshot *snapshot,
                               size_t *size)
{
  struct ashlar_error error = {0};
  struct stat status;
  FUZZ_CHECK(ashlar_snapshot_write_file(file->path, snapshot, &error), "not written: %s",
             error.text);
  FUZZ_CHECK(fstat(file->descriptor, &status) == 0 && status.st_size > 0, "nothing was written");
  *size = (size_t)status.st_size;
  uint8_t *bytes = malloc(*size);
  FUZZ_CHECK(bytes != NULL && pread(file->descriptor, bytes, *size, 0) == (ssize_t)*size,
             "cannot read what was written");
  return bytes;
}

static void check_round_trip(const struct ashlar_snapshot *snapshot)
{
  struct ashlar_snapshot again;
  struct ashlar_error error = {0};
  size_t size[2];
  uint8_t *bytes[2];
  bytes[0] = write_snapshot(get_file(0), snapshot, &size[0]);
  FUZZ_CHECK(ashlar_snapshot_read_memory(bytes[0], size[0], &again, &error),
             "what was written is refused: byte %" PRIu64 ": %s", error.position, error.text);
  FUZZ_CHECK(snapshots_are_equal(snapshot, &again), "what was written reads as something else");
  bytes[1] = write_snapshot(get_file(1), &again, &size[1]);
  FUZZ_CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0,
             "two spellings of one snapshot");
  ashlar_snapshot_free(&again);
  free(bytes[0]);
  free(bytes[1]);
}

static void run(struct fuzz_input *in)
{
  const size_t size = (size_t)(in->end - in->next);
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  fuzz_operations++;
  if (!ashlar_snapshot_read_memory(in->next, size, &snapshot, &error)) {
    check_refusal(&snapshot, &error, size);
    return;
  }
  fuzz_operations += snapshot.segment_count + snapshot.block_count + snapshot.event_count;
  check_snapshot(&snapshot, size);
  check_round_trip(&snapshot);
  ashlar_snapshot_free(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run);
}
