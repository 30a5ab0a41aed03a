/* trace.h - sequences of allocation requests, and their text form (spec/trace-format.md).
 *
 * A trace is built by appending operations, and only legal ones can be appended: what is in memory
 * can always be written, and what was read needs no second check. The reader appends like anyone
 * else. Every operation carries the number of its allocation, so that whoever replays a trace keeps
 * an array of allocation_count entries and never looks an id up.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_TRACE_H
#define ASHLAR_TOOLS_TRACE_H

#include "tools/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ASHLAR_TRACE_VERSION = 1,
  ASHLAR_TRACE_LINE_MAX = 255,      /* bytes of a line without its end */
  ASHLAR_TRACE_NAME_MAX = 63,       /* bytes of a marker's name */
  ASHLAR_TRACE_DEVICE_MAX = 127,    /* greatest device index */
  ASHLAR_TRACE_EVERY_DEVICE = 255,  /* device of an EMPTY_CACHE that names none */
  ASHLAR_TRACE_BYTES_MAX = 1 << 28, /* bytes of the text of a trace */
  ASHLAR_TRACE_OPERATIONS_MAX = 1 << 28
};

enum ashlar_trace_kind {
  ASHLAR_TRACE_ALLOCATE = 0,
  ASHLAR_TRACE_FREE,
  ASHLAR_TRACE_USE, /* the block is used by work on another stream than its own */
  ASHLAR_TRACE_EMPTY_CACHE,
  ASHLAR_TRACE_MARKER
};

struct ashlar_trace_operation {
  uint64_t id;     /* ALLOCATE, FREE, USE: the name in the file; may name several allocations, one
                      after the other */
  uint64_t size;   /* ALLOCATE: bytes asked for, 0 is possible. FREE, USE: the allocation's */
  uint64_t stream; /* ALLOCATE, USE: handle of the stream. FREE: the allocation's stream */
  uint32_t number; /* ALLOCATE, FREE, USE: the allocation, counted from 0 in order of ALLOCATE.
                      MARKER: index into names */
  uint8_t kind;    /* enum ashlar_trace_kind */
  uint8_t device;  /* ALLOCATE, FREE, USE: of the allocation. EMPTY_CACHE: it, or EVERY_DEVICE */
};

struct ashlar_trace_name {
  char text[ASHLAR_TRACE_NAME_MAX + 1]; /* terminated */
};

struct ashlar_trace_id;

/* All zero is an empty trace. Read the fields; change them by the functions below only. */
struct ashlar_trace {
  struct ashlar_trace_operation *operations;
  size_t operation_count;
  struct ashlar_trace_name *names; /* of the markers */
  size_t marker_count;
  char *notes; /* comment lines of the head without their '#', each ended by '\n'; not terminated */
  size_t notes_length;
  size_t allocation_count; /* ALLOCATE operations */
  size_t free_count;       /* FREE operations; the difference is what is live at the end */
  uint64_t live_bytes;     /* sum of the sizes of live ids, modulo 2^64 */
  uint64_t peak_bytes;     /* greatest such sum so far; UINT64_MAX once a sum went beyond it */

  /* what appending needs: room in the arrays, and the ids seen so far */
  size_t operation_room;
  size_t marker_room;
  size_t notes_room;
  struct ashlar_trace_id *ids;
  size_t id_count;
  size_t id_room;
};

/* Appends an operation that is not a marker. The caller fills kind and, by kind: id, size, stream,
   device (ALLOCATE); id (FREE); id, stream (USE); device (EMPTY_CACHE). All else is filled in.
   Refused, with the trace unchanged and position 0: an id that is live (ALLOCATE) or not live
   (FREE, USE), a device or kind out of range, no memory. Expected O(1), amortised. */
bool ashlar_trace_append(struct ashlar_trace *trace, struct ashlar_trace_operation operation,
                         struct ashlar_error *error);

/* Appends a marker. Name: 1 to 63 bytes from 0x21 to 0x7e, `length` of them, copied. */
bool ashlar_trace_append_marker(struct ashlar_trace *trace, const char *name, size_t length,
                                struct ashlar_error *error);

/* Appends one line to the notes, given without '#' and line end: at most 254 bytes, no control
   character but the tab. A leading space is the caller's, and usual. */
bool ashlar_trace_append_note(struct ashlar_trace *trace, const char *text, size_t length,
                              struct ashlar_error *error);

/* Reads a trace. `out` is written without being looked at; on failure it is an empty trace and
   `error` names the line, from 1, or 0 for the file as a whole (cannot be read, too large, no
   memory). The text may hold anything and need not be terminated; path "-" is standard input.
   Expected O(bytes). Memory besides the text, while the arrays grow: at most 96 bytes an operation,
   96 a distinct id and 192 a marker. */
bool ashlar_trace_read_memory(const char *text, size_t length, struct ashlar_trace *out,
                              struct ashlar_error *error);
bool ashlar_trace_read_file(const char *path, struct ashlar_trace *out, struct ashlar_error *error);

/* Writes the one spelling of a trace. Memory: *text is the caller's, to free(); not terminated.
   File: replaced if it exists; where writing fails it may be incomplete. Refused: a text that no
   reader would take, being longer than ASHLAR_TRACE_BYTES_MAX. `error->position` is 0. */
bool ashlar_trace_write_memory(const struct ashlar_trace *trace, char **text, size_t *length,
                               struct ashlar_error *error);
bool ashlar_trace_write_file(const char *path, const struct ashlar_trace *trace,
                             struct ashlar_error *error);

/* Releases what the trace owns and makes it empty. */
void ashlar_trace_free(struct ashlar_trace *trace);

#endif
