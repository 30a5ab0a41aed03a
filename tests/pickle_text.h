/* Pickles written as text, for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_PICKLE_TEXT_H
#define ASHLAR_TESTS_PICKLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes made from text. `marked` is the offset at which '@' stood, or SIZE_MAX. */
struct pickle_bytes {
  uint8_t *bytes;
  size_t size;
  size_t capacity;
  size_t marked;
};

/* Assembles tokens that are separated by blanks:
 *   }        any one character: that byte, which is how most opcodes are written
 *   8c       two hexadecimal digits: that byte
 *   'text'   SHORT_BINUNICODE (or BINUNICODE above 255 bytes) with that text
 *   #-12     the shortest integer opcode for that number, -2^63 … 2^64 - 1
 *   @        no byte: marks the place where an error is expected
 *   tok*9    the bytes of a token nine times
 * A malformed text is a fault of the test and aborts. Free with pickle_bytes_free. */
struct pickle_bytes pickle_assemble(const char *text);

void pickle_bytes_add(struct pickle_bytes *pickle, const void *bytes, size_t size);
void pickle_bytes_free(struct pickle_bytes *pickle);

#endif
