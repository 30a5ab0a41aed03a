/* Pickles written as text, for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/pickle_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void give_up(const char *text)
{
  (void)fprintf(stderr, "pickle_assemble: malformed: %s\n", text);
  abort();
}

static void require(int is_good, const char *text)
{
  if (!is_good) {
    give_up(text);
  }
}

void pickle_bytes_add(struct pickle_bytes *pickle, const void *bytes, size_t size)
{
  if (size > pickle->capacity - pickle->size) {
    const size_t capacity = (pickle->size + size) * 2;
    uint8_t *grown = realloc(pickle->bytes, capacity);

    if (grown == NULL) {
      give_up("out of memory");
    }
    pickle->bytes = grown;
    pickle->capacity = capacity;
  }
  if (size > 0) {
    memcpy(pickle->bytes + pickle->size, bytes, size);
  }
  pickle->size += size;
}

void pickle_bytes_free(struct pickle_bytes *pickle)
{
  free(pickle->bytes);
  *pickle = (struct pickle_bytes){.marked = SIZE_MAX};
}

static void add_byte(struct pickle_bytes *pickle, unsigned byte)
{
  const uint8_t narrow = (uint8_t)byte;

  pickle_bytes_add(pickle, &narrow, 1);
}

static void add_little_endian(struct pickle_bytes *pickle, uint64_t number, unsigned width)
{
  for (unsigned i = 0; i < width; i++) {
    add_byte(pickle, (unsigned)(number >> (8 * i)) & UINT8_MAX);
  }
}

static void add_integer(struct pickle_bytes *pickle, const char *digits)
{
  const int is_negative = *digits == '-';
  const uint64_t magnitude = strtoull(digits + is_negative, NULL, 10);

  if (!is_negative && magnitude <= UINT8_MAX) {
    add_byte(pickle, 'K');
    add_little_endian(pickle, magnitude, 1);
  } else if (!is_negative && magnitude <= UINT16_MAX) {
    add_byte(pickle, 'M');
    add_little_endian(pickle, magnitude, 2);
  } else if (magnitude <= INT32_MAX) {
    add_byte(pickle, 'J');
    add_little_endian(pickle, is_negative ? ~magnitude + 1 : magnitude, 4);
  } else {
    add_byte(pickle, 0x8a);
    add_byte(pickle, 9);
    add_little_endian(pickle, is_negative ? ~magnitude + 1 : magnitude, 8);
    add_byte(pickle, is_negative ? UINT8_MAX : 0);
  }
}

static void add_text(struct pickle_bytes *pickle, const char *text, size_t length)
{
  if (length <= UINT8_MAX) {
    add_byte(pickle, 0x8c);
    add_little_endian(pickle, length, 1);
  } else {
    add_byte(pickle, 'X');
    add_little_endian(pickle, length, 4);
  }
  pickle_bytes_add(pickle, text, length);
}

static unsigned hex_digit(int character)
{
  return (unsigned)(isdigit(character) ? character - '0' : tolower(character) - 'a' + 10);
}

/* One token of `length` characters that is no text. */
static void add_token(struct pickle_bytes *pickle, const char *token, size_t length)
{
  if (*token == '#' && length > 1) {
    add_integer(pickle, token + 1);
  } else if (*token == '@' && length == 1) {
    pickle->marked = pickle->size;
  } else if (length == 1) {
    add_byte(pickle, (unsigned char)*token);
  } else {
    require(length == 2 && isxdigit((unsigned char)token[0]) && isxdigit((unsigned char)token[1]),
            token);
    add_byte(pickle, hex_digit((unsigned char)token[0]) * 16 + hex_digit((unsigned char)token[1]));
  }
}

/* A token and the number of times that it stands for; returns what follows. */
static const char *add_repeated(struct pickle_bytes *pickle, const char *text)
{
  const size_t whole = strcspn(text, " ");
  const char *star = memchr(text + 1, '*', whole - 1);
  const size_t length = star != NULL ? (size_t)(star - text) : whole;
  const unsigned long count = star != NULL ? strtoul(star + 1, NULL, 10) : 1;

  for (unsigned long i = 0; i < count; i++) {
    add_token(pickle, text, length);
  }
  return text + whole;
}

struct pickle_bytes pickle_assemble(const char *text)
{
  struct pickle_bytes pickle = {.marked = SIZE_MAX};

  while (*text != '\0') {
    if (*text == ' ') {
      text++;
    } else if (*text == '\'') {
      const char *end = strchr(text + 1, '\'');

      if (end == NULL) {
        give_up(text);
      }
      add_text(&pickle, text + 1, (size_t)(end - text - 1));
      text = end + 1;
    } else {
      text = add_repeated(&pickle, text);
    }
  }
  return pickle;
}
