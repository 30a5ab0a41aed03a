/* What the tests of snapshots share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SNAPSHOT_SUPPORT_H
#define ASHLAR_TESTS_SNAPSHOT_SUPPORT_H

#include "tools/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SNAPSHOT_PATH_SIZE = 4096, RECORDED_COUNT = 11 };

/* A recorded snapshot and what is known of it. */
struct recorded_snapshot {
  const char *name;
  uint64_t segments;
  uint64_t events;
  uint64_t allocations;
  uint64_t frees_completed;
  uint64_t segment_allocations;
  uint64_t segment_frees;
  bool has_settings;
  double reserved_gib; /* two digits after the point */
};

extern const struct recorded_snapshot RECORDED_SNAPSHOTS[RECORDED_COUNT];

/* The path of a recorded snapshot, below the folder that ASHLAR_SNAPSHOTS names. False, after
 * printing SKIPPED, where that is not set or has no such file. */
bool recorded_path(const char *name, char path[SNAPSHOT_PATH_SIZE]);

/* True where memory is that of the sanitizer, which reserves far more than it uses. */
bool has_sanitizer(void);

/* Lets this process have at most 1 GiB of memory, which is what no input may exceed. Does nothing
 * under a sanitizer. False where the limit cannot be set. */
bool limit_memory(void);

/* The bytes of a file, or NULL. Free with free. */
uint8_t *read_whole_file(const char *path, size_t *size);

/* An empty temporary file; false where none can be made. */
bool make_temporary(char path[SNAPSHOT_PATH_SIZE]);

/* Whether two snapshots hold the same, field by field; if not, prints the first difference. The
 * form (list or dictionary), protocol and numbering of streams, pools and names do not count. */
bool snapshots_are_equal(const struct ashlar_snapshot *left, const struct ashlar_snapshot *right);

#endif
