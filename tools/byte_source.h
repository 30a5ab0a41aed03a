/* Bytes read once from front to back, out of a file, a pipe or memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_BYTE_SOURCE_H
#define ASHLAR_TOOLS_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/error.h"

enum { ASHLAR_SOURCE_BUFFER = 256 * 1024 };

/* The bytes [next, end) are in memory and unread. The user moves `next` forward, never past `end`,
 * and calls ashlar_source_fill for more. A file is read through a fixed buffer and not mapped: its
 * pages would count as this process's memory, and a file cut short meanwhile would kill it. */
struct ashlar_byte_source {
  const uint8_t *next;
  const uint8_t *end;
  const uint8_t *window; /* first byte in memory */
  uint64_t window_at;    /* its offset in the input */
  uint64_t size;         /* of the whole input; UINT64_MAX where unknown (a pipe) */
  uint8_t *buffer;       /* NULL for memory */
  int64_t origin;        /* file offset of the first byte, where can_seek */
  int file;
  int read_errno; /* of the read that failed, or 0 */
  bool owns_file;
  bool can_seek;
  bool at_end; /* nothing follows `end` */
};

/* Opens the file at `path`, "-" for standard input. On false *error is set and nothing is to be
 * closed. */
bool ashlar_source_open(struct ashlar_byte_source *source, const char *path,
                        struct ashlar_error *error);

/* Reads from `size` bytes at `data`, which must outlive *source. */
void ashlar_source_open_memory(struct ashlar_byte_source *source, const void *data, size_t size);

/* Closes what was opened. */
void ashlar_source_close(struct ashlar_byte_source *source);

/* Makes at least `wanted` (<= half of ASHLAR_SOURCE_BUFFER) unread bytes available. False where
 * the input ends before that, or reading failed (read_errno); then what there is is available. May
 * move [next, end) in memory. */
bool ashlar_source_fill(struct ashlar_byte_source *source, size_t wanted);

/* Passes over `count` bytes. False where the input has fewer. */
bool ashlar_source_skip(struct ashlar_byte_source *source, uint64_t count);

/* Copies `count` bytes that begin at offset `position`, which was passed before, to `bytes`.
 * False where they cannot be had again (a pipe). */
bool ashlar_source_again(const struct ashlar_byte_source *source, uint64_t position, size_t count,
                         uint8_t *bytes);

/* Offset of the next unread byte in the input. */
static inline uint64_t ashlar_source_position(const struct ashlar_byte_source *source)
{
  return source->window_at + (uint64_t)(source->next - source->window);
}

#endif
