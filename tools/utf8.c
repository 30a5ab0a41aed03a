/* Whether bytes are UTF-8.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/utf8.h"

enum { FOLLOWER_MASK = 0xc0, FOLLOWER = 0x80, FOLLOWER_BITS = 6, LAST_POINT = 0x10ffff };

/* A sequence of 1 to 4 bytes: what its first byte looks like and the least code point that needs
 * it. */
struct form {
  uint8_t mask;
  uint8_t lead;
  uint32_t least;
};

static const struct form FORMS[] = {
    {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

enum { FORM_COUNT = sizeof FORMS / sizeof FORMS[0] };

/* Length of the well-formed sequence at `bytes`, of which `length` >= 1 are readable; 0 if none. */
static size_t sequence_length(const uint8_t *bytes, size_t length)
{
  size_t form = 0;
  uint32_t point;

  while (form < FORM_COUNT && (bytes[0] & FORMS[form].mask) != FORMS[form].lead) {
    form++;
  }
  if (form == FORM_COUNT || form >= length) {
    return 0;
  }
  point = bytes[0] & (uint8_t)~FORMS[form].mask;
  for (size_t i = 1; i <= form; i++) {
    if ((bytes[i] & FOLLOWER_MASK) != FOLLOWER) {
      return 0;
    }
    point = (point << FOLLOWER_BITS) | (bytes[i] & (uint8_t)~FOLLOWER_MASK);
  }
  return point >= FORMS[form].least && point <= LAST_POINT ? form + 1 : 0;
}

bool ashlar_is_utf8(const uint8_t *bytes, size_t length)
{
  size_t at = 0;

  while (at < length) {
    const size_t used = sequence_length(bytes + at, length - at);

    if (used == 0) {
      return false;
    }
    at += used;
  }
  return true;
}
