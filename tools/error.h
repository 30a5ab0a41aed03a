/* error.h - why an input was refused: a place in it and a sentence.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_ERROR_H
#define ASHLAR_TOOLS_ERROR_H

#include <stdbool.h>
#include <stdint.h>

enum { ASHLAR_ERROR_TEXT = 200 /* bytes of the text with its terminator */ };

struct ashlar_error {
  uint64_t position;            /* line (text, from 1) or byte offset (binary) */
  char text[ASHLAR_ERROR_TEXT]; /* the reason, terminated, on one line and without a final dot */
};

/* Stores position and text; a text that is too long is cut. `error` may be NULL: then nothing is
   stored. Always returns false, so that a refusal is one statement: return ashlar_error_set(…). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool ashlar_error_set(struct ashlar_error *error, uint64_t position, const char *format, ...);

#endif
