/* size_policy_fuzz.c - every rounding of a size against arithmetic in 128 bits.
 *
 * An operation is one call, of one function, compared. The oracles are one formula each and have no loop: of
 * REQ-SIZE-enough, REQ-SIZE-granule, REQ-SIZE-least, REQ-SIZE-divided, REQ-SIZE-row, REQ-SIZE-division,
 * REQ-SIZE-refused, REQ-SIZE-segment, REQ-SIZE-split, REQ-POOL-class and REQ-BESTFIT-oversize.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/size_policy.h"

#include <inttypes.h>

#include "fuzz/harness.h"

typedef unsigned __int128 wide;

#define MEBIBYTE UINT64_C(1048576)
#define LARGEST_BLOCK (UINT64_C(1) << 61)
#define LARGEST_REQUEST ((UINT64_C(1) << 60) - 1)
#define LEAST_LARGE_SEGMENT (10 * MEBIBYTE)

enum { GRANULE = 512, LAST_ROW = 15, LOG_OF_ROW_0 = 20 };

/* --- oracles --- */

static FUZZ_ORACLE uint32_t log_of(uint64_t number)
{
  return 63U - (uint32_t)__builtin_clzll(number | 1U);
}

static FUZZ_ORACLE wide up(wide number, wide quantum)
{
  return (number + quantum - 1) / quantum * quantum;
}

static FUZZ_ORACLE uint32_t expected_row(uint64_t bytes)
{
  const uint32_t log = log_of(bytes);
  if (log <= LOG_OF_ROW_0) {
    return 0;
  }
  return log - LOG_OF_ROW_0 > LAST_ROW ? LAST_ROW : log - LOG_OF_ROW_0;
}

static FUZZ_ORACLE uint64_t expected_size(uint64_t bytes, uint32_t d)
{
  const bool is_divided = d >= 2 && (wide)bytes > (wide)GRANULE * d;
  if (bytes > LARGEST_REQUEST) {
    return 0;
  }
  return (uint64_t)up(bytes == 0 ? 1 : bytes,
                      is_divided ? ((wide)1 << log_of(bytes)) / d : GRANULE);
}

static FUZZ_ORACLE uint64_t expected_segment(uint64_t size, uint64_t large)
{
  if (size <= MEBIBYTE) {
    return 2 * MEBIBYTE;
  }
  return size < 10 * MEBIBYTE ? large : (uint64_t)up(size, (wide)2 * MEBIBYTE);
}

static FUZZ_ORACLE bool expected_serves(uint64_t want, uint64_t size, uint64_t limit,
                                        uint64_t slack)
{
  return want < limit ? size < limit : (wide)size < (wide)want + slack;
}

static FUZZ_ORACLE bool expected_split(int32_t pool, uint64_t size, uint64_t want, uint64_t limit)
{
  return pool == ASHLAR_CLASS_SMALL ? (wide)want + GRANULE <= size
                                    : want < limit && (wide)want + MEBIBYTE < size;
}

/* --- operations --- */

/* 0, 1, 2, 4 … 2^31: what the table may hold. */
static uint32_t draw_division(struct fuzz_input *in)
{
  const uint32_t exponent = fuzz_below(in, 33);
  return exponent == 0 ? 0 : (uint32_t)1 << (exponent - 1);
}

/* Sizes near the borders of classes as well as near powers of two. */
static uint64_t draw_size(struct fuzz_input *in)
{
  static const uint64_t borders[] = {0,
                                     10 * MEBIBYTE,
                                     20 * MEBIBYTE,
                                     12 * MEBIBYTE,
                                     LARGEST_REQUEST,
                                     LARGEST_BLOCK,
                                     UINT64_MAX - 2 * MEBIBYTE,
                                     UINT64_MAX};
  const uint64_t size = fuzz_size(in);
  const uint8_t form = fuzz_byte(in);
  return form < 128 ? size : borders[form % 8] + (form < 192 ? size % 1024 : 0 - size % 1024);
}

static void check_row(struct fuzz_input *in)
{
  const uint64_t bytes = draw_size(in);
  const uint32_t row = ashlar_division_row(bytes);
  FUZZ_SAY("division_row(%" PRIu64 "): %" PRIu32, bytes, row);
  FUZZ_CHECK(row == expected_row(bytes), "row %" PRIu32 ", expected %" PRIu32, row,
             expected_row(bytes));
}

static void check_division(struct fuzz_input *in)
{
  /* a power of two in every other, and what is beside it */
  const uint8_t form = fuzz_byte(in);
  const uint32_t d = form < 128 ? ((uint32_t)1 << (form % 32)) + (uint32_t)(form / 32) - 1U
                                : (uint32_t)fuzz_number(in, 4);
  const int valid = ashlar_division_valid(d);
  FUZZ_SAY("division_valid(%" PRIu32 "): %d", d, valid);
  FUZZ_CHECK(valid == ((d & (d - 1U)) == 0 ? 1 : 0), "%" PRIu32 " divisions: %d", d, valid);
}

static void check_round(struct fuzz_input *in)
{
  const uint64_t bytes = draw_size(in);
  const uint32_t d = draw_division(in);
  const uint64_t size = ashlar_round_size(bytes, d);
  FUZZ_SAY("round_size(%" PRIu64 ", %" PRIu32 "): %" PRIu64, bytes, d, size);
  FUZZ_CHECK(size == expected_size(bytes, d), "size %" PRIu64 ", expected %" PRIu64, size,
             expected_size(bytes, d));
}

static void check_pool(struct fuzz_input *in)
{
  const uint64_t size = draw_size(in);
  const int32_t pool = ashlar_pool_class(size);
  FUZZ_SAY("pool_class(%" PRIu64 "): %" PRId32, size, pool);
  FUZZ_CHECK(pool == (size > MEBIBYTE ? ASHLAR_CLASS_LARGE : ASHLAR_CLASS_SMALL), "pool %" PRId32,
             pool);
}

static void check_segment(struct fuzz_input *in)
{
  const uint64_t size = draw_size(in) % (LARGEST_BLOCK + 1);
  const uint64_t drawn = draw_size(in);
  const uint64_t large = drawn < LEAST_LARGE_SEGMENT ? drawn + LEAST_LARGE_SEGMENT : drawn;
  const uint64_t segment = ashlar_segment_size(size, large);
  FUZZ_SAY("segment_size(%" PRIu64 ", %" PRIu64 "): %" PRIu64, size, large, segment);
  FUZZ_CHECK(segment == expected_segment(size, large), "segment %" PRIu64 ", expected %" PRIu64,
             segment, expected_segment(size, large));
}

/* A second number, as often near the first as anywhere. */
static uint64_t draw_near(struct fuzz_input *in, uint64_t number)
{
  const uint8_t form = fuzz_byte(in);
  const uint64_t offset = form % 4 == 0 ? 0 : fuzz_size(in);
  return form < 128 ? number + offset : offset;
}

static void check_serves(struct fuzz_input *in)
{
  const uint64_t one = draw_size(in);
  const uint64_t two = draw_near(in, one);
  const uint64_t want = one < two ? one : two;
  const uint64_t size = one < two ? two : one;
  const uint64_t limit = draw_near(in, want);
  const uint64_t slack = draw_near(in, size - want);
  const int serves = ashlar_may_serve(want, size, limit, slack);
  FUZZ_SAY("may_serve(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "): %d", want, size, limit,
           slack, serves);
  FUZZ_CHECK(serves == (expected_serves(want, size, limit, slack) ? 1 : 0), "may serve: %d",
             serves);
}

static void check_split(struct fuzz_input *in)
{
  const uint64_t one = draw_size(in);
  const uint64_t two = draw_near(in, one);
  const uint64_t want = one < two ? one : two;
  const uint64_t size = one < two ? two : one;
  const uint64_t limit = draw_near(in, want);
  const int32_t pool = fuzz_below(in, 2) == 0 ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE;
  const int split = ashlar_should_split(pool, size, want, limit);
  FUZZ_SAY("should_split(%" PRId32 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "): %d", pool, size, want,
           limit, split);
  FUZZ_CHECK(split == (expected_split(pool, size, want, limit) ? 1 : 0), "splits: %d", split);
}

static void run(struct fuzz_input *in)
{
  static void (*const operations[])(struct fuzz_input *) = {
      check_row,     check_division, check_round, check_pool,
      check_segment, check_serves,   check_split, check_round,
  };
  while (fuzz_more(in)) {
    operations[fuzz_below(in, sizeof operations / sizeof operations[0])](in);
    fuzz_operations++;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run);
}
