/* The memo of the pickle reader: values stored under a number for later use.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pickle_memo.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void ashlar_memo_free(struct ashlar_pickle_memo *memo)
{
  free(memo->entries);
  free(memo->wide);
  *memo = (struct ashlar_pickle_memo){0};
}

/* Doubling does not cost twice the memory: realloc moves the pages of a large block, and pages
 * that were never written take none. */
static bool make_room(struct ashlar_pickle_memo *memo, uint64_t index)
{
  uint64_t capacity = memo->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : memo->capacity;
  uint64_t *entries;

  while (capacity <= index) {
    capacity *= 2;
  }
  if (capacity == memo->capacity) {
    return true;
  }
  if (capacity > SIZE_MAX / sizeof *entries) {
    return false;
  }
  entries = realloc(memo->entries, (size_t)capacity * sizeof *entries);
  if (entries == NULL) {
    return false;
  }
  memo->entries = entries;
  memo->capacity = capacity;
  return true;
}

enum ashlar_memo_status ashlar_memo_extend(struct ashlar_pickle_memo *memo, uint64_t index,
                                           uint64_t packed)
{
  if (index >= memo->count) {
    if (index > ASHLAR_MEMO_SLACK + ASHLAR_MEMO_SLACK_FACTOR * memo->stored) {
      return ASHLAR_MEMO_TOO_FAR;
    }
    if (!make_room(memo, index)) {
      return ASHLAR_MEMO_NO_MEMORY;
    }
    memset(memo->entries + memo->count, 0, (size_t)(index - memo->count) * sizeof *memo->entries);
    memo->entries[index] = 0;
    memo->count = index + 1;
  }
  if (memo->entries[index] == 0) {
    memo->stored++;
  }
  memo->entries[index] = packed;
  return ASHLAR_MEMO_STORED;
}

/* Puts the content of *value in the side table, or finds it in the last place there. */
static bool keep_wide(struct ashlar_pickle_memo *memo, const struct ashlar_pickle_value *value,
                      uint64_t *place)
{
  if (memo->wide_count > 0) {
    const struct ashlar_memo_wide *last = &memo->wide[memo->wide_count - 1];

    if (last->tag == value->tag && last->bits == value->bits && last->extra == value->extra) {
      *place = memo->wide_count - 1;
      return true;
    }
  }
  if (memo->wide_count == memo->wide_capacity) {
    const uint64_t capacity = memo->wide_capacity == 0 ? FIRST_CAPACITY : memo->wide_capacity * 2;
    struct ashlar_memo_wide *wide = realloc(memo->wide, (size_t)capacity * sizeof *wide);

    if (wide == NULL) {
      return false;
    }
    memo->wide = wide;
    memo->wide_capacity = capacity;
  }
  memo->wide[memo->wide_count] =
      (struct ashlar_memo_wide){.bits = value->bits, .extra = value->extra, .tag = value->tag};
  *place = memo->wide_count;
  memo->wide_count++;
  return true;
}

enum ashlar_memo_status ashlar_memo_put_value(struct ashlar_pickle_memo *memo, uint64_t index,
                                              const struct ashlar_pickle_value *value)
{
  uint64_t packed = 0;

  if (!ashlar_short_pack(value, &packed)) {
    uint64_t place = 0;

    if (!keep_wide(memo, value, &place)) {
      return ASHLAR_MEMO_NO_MEMORY;
    }
    packed = ashlar_short_make(ASHLAR_PICKLE_WIDE, place);
  }
  return ashlar_memo_put(memo, index, packed);
}

struct ashlar_pickle_value ashlar_memo_value(const struct ashlar_pickle_memo *memo, uint64_t packed,
                                             uint64_t position)
{
  struct ashlar_pickle_value value = ashlar_short_unpack(packed, position);

  if (value.tag == ASHLAR_PICKLE_WIDE) {
    const struct ashlar_memo_wide *wide = &memo->wide[value.bits];

    value.tag = wide->tag;
    value.bits = wide->bits;
    value.extra = wide->extra;
  }
  return value;
}
