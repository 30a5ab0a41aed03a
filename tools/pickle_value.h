/* A value on the stack of the pickle reader, and its short form of 8 bytes in the memo.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_PICKLE_VALUE_H
#define ASHLAR_TOOLS_PICKLE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum ashlar_pickle_tag {
  ASHLAR_PICKLE_OTHER = 1, /* a value of no interest: bytes, tuple, set, … */
  ASHLAR_PICKLE_NONE,
  ASHLAR_PICKLE_BOOL,      /* bits: 0 or 1 */
  ASHLAR_PICKLE_INT,       /* bits: 0 … 2^64 - 1 */
  ASHLAR_PICKLE_NEGATIVE,  /* bits: two's complement of -2^63 … -1 */
  ASHLAR_PICKLE_HUGE,      /* an integer outside -2^63 … 2^64 - 1 */
  ASHLAR_PICKLE_FLOAT,     /* bits: of the double */
  ASHLAR_PICKLE_TEXT,      /* word: its number where known, else 0 */
  ASHLAR_PICKLE_PAIR,      /* bits, extra: a tuple or list of two integers >= 0 */
  ASHLAR_PICKLE_LIST,      /* a container, with a role */
  ASHLAR_PICKLE_DICT,      /* a container, with a role */
  ASHLAR_PICKLE_SET,       /* a container, always skipped */
  ASHLAR_PICKLE_REFERENCE, /* a container with a role, met again through the memo */
  ASHLAR_PICKLE_RUN,       /* `count` finished containers of one role, side by side */
  ASHLAR_PICKLE_WIDE,      /* in the memo only: bits: index into its side table */
  ASHLAR_PICKLE_UNKNOWN    /* in skipped data only: a value that was not kept track of */
};

/* Roles that every schema shares; its own follow. A role says what a container is for, and comes
 * from the place where the container is created. */
enum {
  ASHLAR_ROLE_SKIP = 0, /* consumed without being built */
  ASHLAR_ROLE_ROOT = 1, /* stands for the place of the outermost value */
  ASHLAR_ROLE_PAIR = 2, /* a list that should become a pair of integers */
  ASHLAR_ROLE_FIRST = 3 /* the first that a schema defines */
};

struct ashlar_pickle_value {
  uint64_t bits;
  uint64_t extra;
  uint64_t position; /* offset of the opcode that made the value */
  uint32_t count;    /* RUN: how many; PAIR list: memo index + 1, or 0 */
  uint16_t word;     /* TEXT; PAIR list: integers so far */
  uint8_t tag;       /* enum ashlar_pickle_tag */
  uint8_t role;      /* LIST, DICT, REFERENCE, RUN */
};

/* The short form: the tag in the top 8 bits, 56 bits of content below. 0 is no value. */
enum {
  ASHLAR_SHORT_TAG_SHIFT = 56,
  ASHLAR_SHORT_TEXT_SHIFT = 16, /* TEXT: 40 bits of position above 16 bits of word */
  ASHLAR_SHORT_PAIR_SHIFT = 28  /* PAIR: 28 bits each */
};

#define ASHLAR_SHORT_CONTENT_MASK ((UINT64_C(1) << ASHLAR_SHORT_TAG_SHIFT) - 1)
#define ASHLAR_SHORT_PAIR_MASK ((UINT64_C(1) << ASHLAR_SHORT_PAIR_SHIFT) - 1)

static inline uint64_t ashlar_short_make(enum ashlar_pickle_tag tag, uint64_t content)
{
  return ((uint64_t)tag << ASHLAR_SHORT_TAG_SHIFT) | content;
}

static inline unsigned ashlar_short_tag(uint64_t packed)
{
  return (unsigned)(packed >> ASHLAR_SHORT_TAG_SHIFT);
}

/* What the short form of a text says. */
static inline uint16_t ashlar_short_word(uint64_t packed)
{
  return (uint16_t)(packed & ((UINT64_C(1) << ASHLAR_SHORT_TEXT_SHIFT) - 1));
}

static inline uint64_t ashlar_short_text_position(uint64_t packed)
{
  return (packed & ASHLAR_SHORT_CONTENT_MASK) >> ASHLAR_SHORT_TEXT_SHIFT;
}

/* An integer >= 0; OTHER where it does not fit. For skipped data, where it does not matter. */
static inline uint64_t ashlar_short_int(uint64_t number)
{
  return number <= ASHLAR_SHORT_CONTENT_MASK ? ashlar_short_make(ASHLAR_PICKLE_INT, number)
                                             : ashlar_short_make(ASHLAR_PICKLE_OTHER, 0);
}

/* The pair of two short values; OTHER where they are not two small integers. */
uint64_t ashlar_short_pair(uint64_t first, uint64_t second);

/* Packs *value. False where its content does not fit (a wide number or pair). Containers with a
 * role become REFERENCE. */
bool ashlar_short_pack(const struct ashlar_pickle_value *value, uint64_t *packed);

/* The value of a short form other than WIDE. A text's position is that of its own opcode; all
 * other values get `position`. */
struct ashlar_pickle_value ashlar_short_unpack(uint64_t packed, uint64_t position);

#endif
