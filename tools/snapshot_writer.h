/* Writes a memory snapshot as a pickle that Python and PyTorch's viewers read.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_SNAPSHOT_WRITER_H
#define ASHLAR_TOOLS_SNAPSHOT_WRITER_H

#include <stdbool.h>

#include "tools/error.h"
#include "tools/snapshot.h"

/* Writes *snapshot to the file at `path` (created or replaced; "-" is standard output) in pickle
 * protocol 4, always in the dictionary form. Optional keys are written where the flags say that
 * they are known; frames are empty lists. On failure false is returned, *error says why, and the
 * file, if it was created, is incomplete. Linear time, constant memory. */
bool ashlar_snapshot_write_file(const char *path, const struct ashlar_snapshot *snapshot,
                                struct ashlar_error *error);

#endif
