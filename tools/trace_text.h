/* trace_text.h - what the files that make up tools/trace.h share. Not for others.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_TRACE_TEXT_H
#define ASHLAR_TOOLS_TRACE_TEXT_H

#include "tools/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { ASHLAR_TRACE_STATEMENTS = 3 };

/* Words of the statements, in the order in which they are written: number of allocations, number of
   frees, peak bytes. */
extern const char *const ASHLAR_TRACE_STATEMENT_KEYS[ASHLAR_TRACE_STATEMENTS];

/* Makes room for `needed` elements of `element` bytes in an array of *room, doubling so that
   appending is O(1) on average. Returns the array, moved or not, or NULL with the old one
   untouched. */
void *ashlar_trace_room(void *array, size_t *room, size_t needed, size_t element);

/* Whether a field may hold the byte: 0x21 to 0x7e. */
bool ashlar_trace_is_printable(char byte);

/* Index of the first byte that a comment may not hold, or `length`. */
size_t ashlar_trace_comment_end(const char *text, size_t length);

/* Refusals that occur in several places. Both return false. */
bool ashlar_trace_no_memory(struct ashlar_error *error);
bool ashlar_trace_too_large(struct ashlar_error *error);

#endif
