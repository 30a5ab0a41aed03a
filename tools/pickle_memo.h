/* The memo of the pickle reader: values stored under a number for later use.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_PICKLE_MEMO_H
#define ASHLAR_TOOLS_PICKLE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/pickle_value.h"

/* Content of a value that does not fit the 8 bytes of an entry; rare. */
struct ashlar_memo_wide {
  uint64_t bits;
  uint64_t extra;
  uint8_t tag;
};

/* 8 bytes an entry. Zeroed: an empty memo. */
struct ashlar_pickle_memo {
  uint64_t *entries; /* short forms; 0 where nothing is stored */
  uint64_t count;    /* one more than the highest index in use */
  uint64_t capacity;
  uint64_t stored; /* entries in use: the next index that MEMOIZE takes */
  struct ashlar_memo_wide *wide;
  uint64_t wide_count, wide_capacity;
};

enum ashlar_memo_status { ASHLAR_MEMO_STORED = 0, ASHLAR_MEMO_NO_MEMORY, ASHLAR_MEMO_TOO_FAR };

enum {
  /* An index may exceed the number of entries stored so far this much: writers count up from 0 or
   * 1, and a hostile index must not make the memo large. */
  ASHLAR_MEMO_SLACK = 65536,
  ASHLAR_MEMO_SLACK_FACTOR = 8
};

void ashlar_memo_free(struct ashlar_pickle_memo *memo);

/* The slow half of ashlar_memo_put. */
enum ashlar_memo_status ashlar_memo_extend(struct ashlar_pickle_memo *memo, uint64_t index,
                                           uint64_t packed);

/* Stores a short form, which is not 0, at `index`. Amortised constant time. */
static inline enum ashlar_memo_status ashlar_memo_put(struct ashlar_pickle_memo *memo,
                                                      uint64_t index, uint64_t packed)
{
  if (index == memo->count && index < memo->capacity) {
    memo->entries[index] = packed;
    memo->count++;
    memo->stored++;
    return ASHLAR_MEMO_STORED;
  }
  return ashlar_memo_extend(memo, index, packed);
}

/* Stores a value of any kind. */
enum ashlar_memo_status ashlar_memo_put_value(struct ashlar_pickle_memo *memo, uint64_t index,
                                              const struct ashlar_pickle_value *value);

/* The short form at `index`, or 0 where none is stored. */
static inline uint64_t ashlar_memo_get(const struct ashlar_pickle_memo *memo, uint64_t index)
{
  return index < memo->count ? memo->entries[index] : 0;
}

/* The value of a short form that came from this memo, or from skipped data. */
struct ashlar_pickle_value ashlar_memo_value(const struct ashlar_pickle_memo *memo, uint64_t packed,
                                             uint64_t position);

#endif
