/* Writes the opcodes of a pickle of protocol 4 through a buffer.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_PICKLE_WRITER_H
#define ASHLAR_TOOLS_PICKLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/error.h"
#include "tools/pickle_opcodes.h"

enum {
  ASHLAR_WRITER_BUFFER = 64 * 1024,
  ASHLAR_WRITER_BATCH = 1000 /* elements of a list between two APPENDS, as Python has it */
};

/* The first failure is kept and reported by ashlar_pickle_writer_close; what is written after it
 * goes nowhere, so that callers need not check every call. */
struct ashlar_pickle_writer {
  uint8_t *buffer;
  size_t used;
  uint64_t written;    /* bytes already handed to the file */
  uint32_t memo_count; /* texts stored in the memo so far */
  int file;
  int write_errno; /* of the write that failed, or 0 */
  bool owns_file;
};

/* Creates or replaces the file at `path` ("-": standard output) and writes the protocol header.
 * False, with *error set and nothing to close, where that fails. */
bool ashlar_pickle_writer_open(struct ashlar_pickle_writer *writer, const char *path,
                               struct ashlar_error *error);

/* Writes STOP and what is buffered, and closes. False, with *error set, where any write failed. */
bool ashlar_pickle_writer_close(struct ashlar_pickle_writer *writer, struct ashlar_error *error);

void ashlar_pickle_put_opcode(struct ashlar_pickle_writer *writer,
                              enum ashlar_pickle_opcode opcode);
void ashlar_pickle_put_unsigned(struct ashlar_pickle_writer *writer, uint64_t number);
void ashlar_pickle_put_signed(struct ashlar_pickle_writer *writer, int64_t number);
void ashlar_pickle_put_bool(struct ashlar_pickle_writer *writer, bool truth);
void ashlar_pickle_put_float(struct ashlar_pickle_writer *writer, double number);

/* `length` < 2^32 bytes of UTF-8 text. *memo is 0 before the first call with this text and belongs
 * to it: the text is written once and fetched from the memo from then on. `memo` may be NULL. */
void ashlar_pickle_put_text(struct ashlar_pickle_writer *writer, const char *text, size_t length,
                            uint32_t *memo);

#endif
