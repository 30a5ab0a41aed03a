/* Reads a PyTorch memory snapshot without executing anything.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_SNAPSHOT_READER_H
#define ASHLAR_TOOLS_SNAPSHOT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/error.h"
#include "tools/snapshot.h"

/* Reads the snapshot in the file at `path`; "-" is standard input, and pipes will do. *snapshot is
 * overwritten (it need not be initialised) and is the caller's to free with ashlar_snapshot_free.
 * On failure false is returned, *snapshot is empty (zeroed) and *error names the reason and its
 * byte position. Takes one pass and linear time; memory: 32 bytes an event, 8 a memo entry, the
 * segments and blocks, and under 1 MiB beside (up to 70 MiB where values are nested a million deep).
 *
 * What is refused and what is taken in what way:
 *   - The form: a dictionary with the key `segments`, or the list of segments itself. Unknown keys
 *     are ignored, None counts as an absent key, of a key that comes twice the last value counts
 *     (a list or dictionary that is read here may come once only).
 *   - A segment needs `address`, a block `size` and `state`, an event `action`; events that name
 *     memory (all but `oom`, `snapshot` and unknown actions) need `addr` and `size`. Everything else
 *     may be absent.
 *   - Integers are taken exactly, whatever number of bytes they are written with; bools are 0 and
 *     1. Floats, texts and so on in the place of an integer, negative sizes, and sizes and addresses
 *     of 2^63 or more are refused with their key. Exceptions: `time_us` that is no number counts as
 *     absent, as do `addr` and `size` of unknown actions and `snapshot`; `oom` takes any 64-bit
 *     number; a stream may be any integer from -2^63 to 2^64 - 1; a device any of 32 bits.
 *   - `active_awaiting_free` is `active_pending_free`.
 *   - More than ASHLAR_SNAPSHOT_MAX_… distinct streams, pools, unknown actions, or traces are
 *     refused. */
bool ashlar_snapshot_read_file(const char *path, struct ashlar_snapshot *snapshot,
                               struct ashlar_error *error);

/* The same for `size` bytes at `data`, which are not copied. */
bool ashlar_snapshot_read_memory(const void *data, size_t size, struct ashlar_snapshot *snapshot,
                                 struct ashlar_error *error);

#endif
