/* Writes the opcodes of a pickle of protocol 4 through a buffer.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "tools/pickle_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROTOCOL = 4, FILE_MODE = 0666, INTEGER_BYTES = 9 };

/* Hands `count` bytes to the file, unless a write failed before. */
static void write_out(struct ashlar_pickle_writer *writer, const uint8_t *bytes, size_t count)
{
  while (count > 0 && writer->write_errno == 0) {
    const ssize_t done = write(writer->file, bytes, count);

    if (done >= 0) {
      bytes += done;
      count -= (size_t)done;
      writer->written += (uint64_t)done;
    } else if (errno != EINTR) {
      writer->write_errno = errno;
    }
  }
}

static void flush(struct ashlar_pickle_writer *writer)
{
  write_out(writer, writer->buffer, writer->used);
  writer->used = 0;
}

static void put_bytes(struct ashlar_pickle_writer *writer, const void *bytes, size_t count)
{
  if (count > ASHLAR_WRITER_BUFFER - writer->used) {
    flush(writer);
  }
  if (count > ASHLAR_WRITER_BUFFER) {
    write_out(writer, bytes, count);
  } else if (count > 0) {
    memcpy(writer->buffer + writer->used, bytes, count);
    writer->used += count;
  }
}

/* An opcode with a little-endian argument of `width` <= 8 bytes. */
static void put_with_argument(struct ashlar_pickle_writer *writer, enum ashlar_pickle_opcode opcode,
                              uint64_t argument, size_t width)
{
  uint8_t bytes[1 + sizeof argument] = {(uint8_t)opcode};

  for (size_t i = 0; i < width; i++) {
    bytes[1 + i] = (uint8_t)(argument >> (8 * i));
  }
  put_bytes(writer, bytes, 1 + width);
}

bool ashlar_pickle_writer_open(struct ashlar_pickle_writer *writer, const char *path,
                               struct ashlar_error *error)
{
  *writer = (struct ashlar_pickle_writer){.file = STDOUT_FILENO};
  writer->buffer = malloc(ASHLAR_WRITER_BUFFER);
  if (writer->buffer == NULL) {
    return ashlar_error_set(error, 0, "out of memory");
  }
  if (strcmp(path, "-") != 0) {
    writer->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    if (writer->file < 0) {
      (void)ashlar_error_set(error, 0, "cannot create %.120s: %s", path, strerror(errno));
      free(writer->buffer);
      return false;
    }
    writer->owns_file = true;
  }
  put_with_argument(writer, ASHLAR_OP_PROTO, PROTOCOL, 1);
  return true;
}

bool ashlar_pickle_writer_close(struct ashlar_pickle_writer *writer, struct ashlar_error *error)
{
  ashlar_pickle_put_opcode(writer, ASHLAR_OP_STOP);
  flush(writer);
  /* Some file systems report a full disk only here. */
  if (writer->owns_file && close(writer->file) != 0 && writer->write_errno == 0) {
    writer->write_errno = errno;
  }
  free(writer->buffer);
  writer->buffer = NULL;
  if (writer->write_errno != 0) {
    return ashlar_error_set(error, writer->written, "cannot write: %s",
                            strerror(writer->write_errno));
  }
  return true;
}

void ashlar_pickle_put_opcode(struct ashlar_pickle_writer *writer, enum ashlar_pickle_opcode opcode)
{
  put_with_argument(writer, opcode, 0, 0);
}

void ashlar_pickle_put_unsigned(struct ashlar_pickle_writer *writer, uint64_t number)
{
  uint8_t bytes[2 + INTEGER_BYTES] = {ASHLAR_OP_LONG1};
  size_t count = 0;

  if (number <= UINT8_MAX) {
    put_with_argument(writer, ASHLAR_OP_BININT1, number, 1);
  } else if (number <= UINT16_MAX) {
    put_with_argument(writer, ASHLAR_OP_BININT2, number, 2);
  } else if (number <= INT32_MAX) {
    put_with_argument(writer, ASHLAR_OP_BININT, number, 4);
  } else {
    /* Two's complement, so that a set top bit needs one byte of zeros above it. */
    while (number > INT8_MAX) {
      bytes[2 + count] = (uint8_t)number;
      number >>= 8;
      count++;
    }
    bytes[2 + count] = (uint8_t)number;
    count++;
    bytes[1] = (uint8_t)count;
    put_bytes(writer, bytes, 2 + count);
  }
}

void ashlar_pickle_put_signed(struct ashlar_pickle_writer *writer, int64_t number)
{
  uint8_t bytes[2 + INTEGER_BYTES] = {ASHLAR_OP_LONG1, sizeof number};

  if (number >= 0) {
    ashlar_pickle_put_unsigned(writer, (uint64_t)number);
  } else if (number >= INT32_MIN) {
    put_with_argument(writer, ASHLAR_OP_BININT, (uint64_t)number, 4);
  } else {
    for (size_t i = 0; i < sizeof number; i++) {
      bytes[2 + i] = (uint8_t)((uint64_t)number >> (8 * i));
    }
    put_bytes(writer, bytes, 2 + sizeof number);
  }
}

void ashlar_pickle_put_bool(struct ashlar_pickle_writer *writer, bool truth)
{
  ashlar_pickle_put_opcode(writer, truth ? ASHLAR_OP_NEWTRUE : ASHLAR_OP_NEWFALSE);
}

void ashlar_pickle_put_float(struct ashlar_pickle_writer *writer, double number)
{
  uint8_t bytes[1 + sizeof number] = {ASHLAR_OP_BINFLOAT};
  uint64_t bits = 0;

  memcpy(&bits, &number, sizeof bits);
  for (size_t i = 0; i < sizeof bits; i++) {
    bytes[1 + i] = (uint8_t)(bits >> (8 * (sizeof bits - 1 - i)));
  }
  put_bytes(writer, bytes, sizeof bytes);
}

void ashlar_pickle_put_text(struct ashlar_pickle_writer *writer, const char *text, size_t length,
                            uint32_t *memo)
{
  if (memo != NULL && *memo != 0) {
    const uint32_t index = *memo - 1;

    if (index <= UINT8_MAX) {
      put_with_argument(writer, ASHLAR_OP_BINGET, index, 1);
    } else {
      put_with_argument(writer, ASHLAR_OP_LONG_BINGET, index, 4);
    }
    return;
  }
  if (length <= UINT8_MAX) {
    put_with_argument(writer, ASHLAR_OP_SHORT_BINUNICODE, length, 1);
  } else {
    put_with_argument(writer, ASHLAR_OP_BINUNICODE, length, 4);
  }
  put_bytes(writer, text, length);
  if (memo != NULL) {
    ashlar_pickle_put_opcode(writer, ASHLAR_OP_MEMOIZE);
    writer->memo_count++;
    *memo = writer->memo_count;
  }
}
