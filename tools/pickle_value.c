/* A value on the stack of the pickle reader, and its short form of 8 bytes in the memo.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pickle_value.h"

#define MAX_TEXT_POSITION ((UINT64_C(1) << (ASHLAR_SHORT_TAG_SHIFT - ASHLAR_SHORT_TEXT_SHIFT)) - 1)

uint64_t ashlar_short_pair(uint64_t first, uint64_t second)
{
  const uint64_t first_number = first & ASHLAR_SHORT_CONTENT_MASK;
  const uint64_t second_number = second & ASHLAR_SHORT_CONTENT_MASK;

  if (ashlar_short_tag(first) == ASHLAR_PICKLE_INT &&
      ashlar_short_tag(second) == ASHLAR_PICKLE_INT && first_number <= ASHLAR_SHORT_PAIR_MASK &&
      second_number <= ASHLAR_SHORT_PAIR_MASK) {
    return ashlar_short_make(ASHLAR_PICKLE_PAIR,
                             (first_number << ASHLAR_SHORT_PAIR_SHIFT) | second_number);
  }
  return ashlar_short_make(ASHLAR_PICKLE_OTHER, 0);
}

bool ashlar_short_pack(const struct ashlar_pickle_value *value, uint64_t *packed)
{
  const enum ashlar_pickle_tag tag = (enum ashlar_pickle_tag)value->tag;
  uint64_t content = 0;

  switch (tag) {
  case ASHLAR_PICKLE_BOOL:
  case ASHLAR_PICKLE_INT:
    content = value->bits;
    break;
  case ASHLAR_PICKLE_NEGATIVE:
    content = ~value->bits; /* >= 0, and small where the number is near 0 */
    break;
  case ASHLAR_PICKLE_FLOAT:
    return false;
  case ASHLAR_PICKLE_TEXT:
    /* Position 0 is that of the protocol header, hence free to say "not known". */
    content = (value->position <= MAX_TEXT_POSITION ? value->position : 0)
              << ASHLAR_SHORT_TEXT_SHIFT;
    content |= value->word;
    break;
  case ASHLAR_PICKLE_PAIR:
    if (value->bits > ASHLAR_SHORT_PAIR_MASK || value->extra > ASHLAR_SHORT_PAIR_MASK) {
      return false;
    }
    content = (value->bits << ASHLAR_SHORT_PAIR_SHIFT) | value->extra;
    break;
  case ASHLAR_PICKLE_LIST:
  case ASHLAR_PICKLE_DICT:
  case ASHLAR_PICKLE_REFERENCE:
    if (value->role != ASHLAR_ROLE_SKIP) {
      *packed = ashlar_short_make(ASHLAR_PICKLE_REFERENCE, value->role);
      return true;
    }
    break;
  default:
    break;
  }
  *packed = ashlar_short_make(tag, content & ASHLAR_SHORT_CONTENT_MASK);
  return content <= ASHLAR_SHORT_CONTENT_MASK;
}

struct ashlar_pickle_value ashlar_short_unpack(uint64_t packed, uint64_t position)
{
  const uint64_t content = packed & ASHLAR_SHORT_CONTENT_MASK;
  struct ashlar_pickle_value value = {.bits = content, .position = position};

  value.tag = (uint8_t)ashlar_short_tag(packed);
  switch (value.tag) {
  case ASHLAR_PICKLE_NEGATIVE:
    value.bits = ~content;
    break;
  case ASHLAR_PICKLE_TEXT:
    value.bits = 0;
    value.position = ashlar_short_text_position(packed);
    value.word = ashlar_short_word(packed);
    break;
  case ASHLAR_PICKLE_PAIR:
    value.bits = content >> ASHLAR_SHORT_PAIR_SHIFT;
    value.extra = content & ASHLAR_SHORT_PAIR_MASK;
    break;
  case ASHLAR_PICKLE_REFERENCE:
    value.bits = 0;
    value.role = (uint8_t)content;
    break;
  default:
    break;
  }
  return value;
}
