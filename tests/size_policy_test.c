/* size_policy_test.c - every rounding of a size: worked examples, boundaries, and an oracle of its own.
 *
 * The oracle counts in 128 bits, where nothing can wrap, and looks for the least multiple in the plainest way.
 * Here each function of size_policy is reached from inputs that meet its precondition: division_row, division_valid,
 * round_size (and with it round_up and division_granules), pool_class, segment_size, may_serve, should_split.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>

#include <cmocka.h>

#include "core/size_policy.h"
#include "tests/storage.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define LARGE UINT64_C(20971520) /* the default size of a large segment */

enum {
  RANDOM_SIZES = 4000000,
  RANDOM_DIVISIONS = 1000000,
  RANDOM_PAIRS = 1000000,
  SIZES_A_ROW = 8
};

typedef unsigned __int128 wide;

/* --- the oracle --- */

static wide least_multiple(wide bytes, wide quantum)
{
  const wide rest = bytes % quantum;
  return rest == 0 ? bytes : bytes - rest + quantum;
}

static wide power_at_most(wide bytes)
{
  wide power = 1;
  while (power * 2 <= bytes) {
    power *= 2;
  }
  return power;
}

/* Oracle: REQ-SIZE-least, REQ-SIZE-divided, REQ-SIZE-refused. */
static uint64_t expected_round(uint64_t bytes, uint32_t d)
{
  const wide one_exbibyte = (wide)1 << 60;
  if (bytes >= one_exbibyte) {
    return 0;
  }
  if (bytes < 512) {
    return 512;
  }
  if (d > 1 && bytes > (wide)512 * d) {
    return (uint64_t)least_multiple(bytes, power_at_most(bytes) / d);
  }
  return (uint64_t)least_multiple(bytes, 512);
}

/* Oracle: REQ-SIZE-segment. */
static uint64_t expected_segment(uint64_t size, uint64_t large)
{
  if (size <= MIB) {
    return 2 * MIB;
  }
  return size < 10 * MIB ? large : (uint64_t)least_multiple(size, UINT64_C(2097152));
}

/* Oracle: REQ-SIZE-row. */
static uint32_t expected_row(uint64_t bytes)
{
  uint32_t log = 0;
  while (log < 63 && (bytes >> (log + 1)) != 0) {
    log++;
  }
  if (log <= 20) {
    return 0;
  }
  return log - 20 < 15 ? log - 20 : 15;
}

/* All that the policy says of one size.
   Oracle: REQ-SIZE-enough, REQ-SIZE-granule, REQ-POOL-class. */
static void check_size(uint64_t bytes, uint32_t d, uint64_t large)
{
  const uint64_t rounded = ashlar_round_size(bytes, d);
  if (rounded != expected_round(bytes, d)) {
    fail_msg("%" PRIu64 " bytes, %" PRIu32 " divisions: rounded to %" PRIu64, bytes, d, rounded);
  }
  if (rounded % 512 != 0 || (rounded != 0 && rounded < bytes)) {
    fail_msg("%" PRIu64 " bytes: %" PRIu64 " is no block size", bytes, rounded);
  }
  if (ashlar_division_row(bytes) != expected_row(bytes)) {
    fail_msg("%" PRIu64 " bytes: row %" PRIu32, bytes, ashlar_division_row(bytes));
  }
  if (ashlar_pool_class(rounded) != (rounded <= MIB ? ASHLAR_CLASS_SMALL : ASHLAR_CLASS_LARGE)) {
    fail_msg("%" PRIu64 " bytes: wrong pool", rounded);
  }
  if (ashlar_segment_size(rounded, large) != expected_segment(rounded, large)) {
    fail_msg("%" PRIu64 " bytes: segment of %" PRIu64, rounded,
             ashlar_segment_size(rounded, large));
  }
}

static uint32_t division(uint32_t exponent)
{
  return exponent == 0 ? 0 : (uint32_t)1 << (exponent - 1); /* 0, 1, 2, 4, ... 2^31 */
}

/* --- tests --- */

static const struct {
  uint64_t bytes;
  uint64_t rounded;
  uint64_t segment;
  int32_t pool;
  int split;
} EXAMPLES[] = {
    {1, 512, 2 * MIB, ASHLAR_CLASS_SMALL, 1},
    {511, 512, 2 * MIB, ASHLAR_CLASS_SMALL, 1},
    {512, 512, 2 * MIB, ASHLAR_CLASS_SMALL, 1},
    {513, 1024, 2 * MIB, ASHLAR_CLASS_SMALL, 1},
    {1048576, 1048576, 2 * MIB, ASHLAR_CLASS_SMALL, 1},
    {1048577, 1049088, 20 * MIB, ASHLAR_CLASS_LARGE, 1},
    {10485248, 10485248, 20 * MIB, ASHLAR_CLASS_LARGE, 1},
    {10485249, 10485760, 10 * MIB, ASHLAR_CLASS_LARGE, 0},
    {10485760, 10485760, 10 * MIB, ASHLAR_CLASS_LARGE, 0},
    {10485761, 10486272, 12 * MIB, ASHLAR_CLASS_LARGE, 1},
    {11 * MIB, 11 * MIB, 12 * MIB, ASHLAR_CLASS_LARGE, 0}, /* exactly 1 MiB is left: not more */
    {11 * MIB - 512, 11 * MIB - 512, 12 * MIB, ASHLAR_CLASS_LARGE, 1},
    {13107200, 13107200, 14 * MIB, ASHLAR_CLASS_LARGE, 1},
    {20 * MIB, 20 * MIB, 20 * MIB, ASHLAR_CLASS_LARGE, 0},
};
enum { EXAMPLE_COUNT = sizeof EXAMPLES / sizeof EXAMPLES[0] };

/* Covers REQ-SIZE-least, REQ-SIZE-segment, REQ-SIZE-split, REQ-POOL-class. */
static void worked_examples(void **state)
{
  (void)state;
  for (size_t i = 0; i < EXAMPLE_COUNT; i++) {
    const uint64_t size = ashlar_round_size(EXAMPLES[i].bytes, 0);
    assert_int_equal(size, EXAMPLES[i].rounded);
    assert_int_equal(ashlar_pool_class(size), EXAMPLES[i].pool);
    assert_int_equal(ashlar_segment_size(size, LARGE), EXAMPLES[i].segment);
    assert_int_equal(ashlar_should_split(EXAMPLES[i].pool, EXAMPLES[i].segment, size, UINT64_MAX) !=
                         0,
                     EXAMPLES[i].split);
    check_size(EXAMPLES[i].bytes, 0, LARGE);
  }
  print_message("%d examples\n", EXAMPLE_COUNT);
}

/* Scenario 44. There, one division means "the next power of two"; the rules and the specification say that it is off,
   so 514 MiB stay 514 MiB.
   Covers REQ-SIZE-divided. */
static void divisions_of_514_mib(void **state)
{
  static const struct {
    uint32_t d;
    uint64_t mebibytes;
  } rows[] = {{0, 514}, {1, 514}, {2, 768}, {4, 640}, {8, 576}, {16, 544}, {256, 514}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(ashlar_round_size(514 * MIB, rows[i].d), rows[i].mebibytes * MIB);
    assert_int_equal(ashlar_round_size(512 * MIB, rows[i].d), 512 * MIB);
  }
  /* 1200 bytes with 4 divisions: no division, because 1200 <= 512 * 4 */
  assert_int_equal(ashlar_round_size(1200, 4), 1536);
  assert_int_equal(ashlar_round_size(2048, 4), 2048);
  assert_int_equal(ashlar_round_size(2049, 4), 2560);
}

/* Scenario 32: requests on the borders between classes, and beside them.
   Covers REQ-SIZE-least, REQ-SIZE-segment, REQ-POOL-class. */
static void boundaries(void **state)
{
  static const uint64_t borders[] = {512, MIB, 2 * MIB, 10 * MIB, 20 * MIB};
  static const uint64_t offsets[] = {0, 1, 511, 512, 513};
  size_t count = 0;
  (void)state;
  for (size_t b = 0; b < sizeof borders / sizeof borders[0]; b++) {
    for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
      for (uint32_t e = 0; e <= 32; e++) {
        check_size(borders[b] + offsets[k], division(e), LARGE);
        check_size(borders[b] < offsets[k] ? 0 : borders[b] - offsets[k], division(e), LARGE);
        count += 2;
      }
    }
  }
  print_message("%zu boundary sizes\n", count);
}

/* Every row of the table with every division: its ends, the sizes beside them, and some inside.
   Covers REQ-SIZE-row, REQ-SIZE-divided. */
static void all_divisions(void **state)
{
  uint64_t seed = 44;
  size_t count = 0;
  (void)state;
  for (uint32_t row = 0; row < ASHLAR_DIVISIONS; row++) {
    const uint64_t low = row == 0 ? 0 : (uint64_t)1 << (20 + row);
    const uint64_t high = row == 15 ? (uint64_t)1 << 60 : (uint64_t)1 << (21 + row);
    assert_int_equal(ashlar_division_row(low), row);
    assert_int_equal(ashlar_division_row(high - 1), row);
    assert_int_equal(ashlar_division_row(high), row == 15 ? 15 : row + 1);
    for (uint32_t e = 0; e <= 32; e++) {
      const uint32_t d = division(e);
      const uint64_t guard = (uint64_t)512 * d;
      const uint64_t sizes[] = {low,      low + 1,    low + 511, low + 512, (low + high) / 2,
                                high - 1, high - 512, high,      guard,     guard + 1};
      for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        check_size(sizes[k], d, LARGE);
        count++;
      }
      for (int k = 0; k < SIZES_A_ROW; k++) {
        check_size(low + ashlar_random_below(&seed, high - low), d, LARGE);
        count++;
      }
    }
  }
  assert_int_equal(ashlar_division_row(UINT64_MAX), 15);
  print_message("%zu sizes in rows of the division table\n", count);
}

/* Sizes of every magnitude, with all divisions and many sizes of large segments.
   Covers REQ-SIZE-enough, REQ-SIZE-granule, REQ-SIZE-least, REQ-SIZE-divided, REQ-SIZE-segment. */
static void random_sizes(void **state)
{
  uint64_t seed = 41;
  (void)state;
  for (int i = 0; i < RANDOM_SIZES; i++) {
    const uint64_t bytes = ashlar_random(&seed) >> ashlar_random_below(&seed, 64);
    const uint64_t large = 12 * MIB + 2 * MIB * ashlar_random_below(&seed, 1000);
    check_size(bytes, division((uint32_t)ashlar_random_below(&seed, 33)), large);
  }
  print_message("%d random sizes\n", RANDOM_SIZES);
}

/* Scenarios 39 to 42: sizes that wrap when they are rounded up to 512, or then to 2 MiB.
   Covers REQ-SIZE-refused. */
static void nothing_wraps(void **state)
{
  static const uint64_t sizes[] = {UINT64_MAX - 1117952,    UINT64_MAX - 2 * MIB + 1,
                                   UINT64_MAX - 2 * MIB,    (uint64_t)1 << 63,
                                   ((uint64_t)1 << 63) - 1, ((uint64_t)1 << 63) + 1,
                                   (uint64_t)1 << 60,       ((uint64_t)1 << 60) + 1};
  (void)state;
  for (uint64_t k = 0; k < 4096; k++) {
    for (uint32_t e = 0; e <= 32; e++) {
      assert_int_equal(ashlar_round_size(UINT64_MAX - k, division(e)), 0);
    }
  }
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_int_equal(ashlar_round_size(sizes[i], 0), 0);
  }
  assert_int_equal(ashlar_round_size((uint64_t)1 << 48, 0), (uint64_t)1 << 48);
  /* the largest request, and the largest block */
  assert_int_equal(ashlar_round_size(ASHLAR_MAX_REQUEST, 0), (uint64_t)1 << 60);
  assert_int_equal(ashlar_round_size(ASHLAR_MAX_REQUEST, 2), (uint64_t)1 << 60);
  assert_int_equal(ashlar_segment_size((uint64_t)1 << 60, LARGE), (uint64_t)1 << 60);
  assert_int_equal(ashlar_segment_size((uint64_t)1 << 61, LARGE), (uint64_t)1 << 61);
  assert_int_equal(ashlar_segment_size(((uint64_t)1 << 61) - 512, LARGE), (uint64_t)1 << 61);
}

/* Oracle: REQ-SIZE-division. */
static int is_power_or_zero(uint32_t d)
{
  int bits = 0;
  for (uint32_t left = d; left != 0; left >>= 1U) {
    bits += (left & 1U) != 0 ? 1 : 0;
  }
  return bits <= 1;
}

/* Covers REQ-SIZE-division. */
static void valid_divisions(void **state)
{
  uint64_t seed = 51;
  (void)state;
  for (uint32_t e = 0; e <= 32; e++) {
    const uint32_t d = division(e);
    assert_int_equal(ashlar_division_valid(d), 1);
    assert_int_equal(ashlar_division_valid(d + 1), is_power_or_zero(d + 1));
    assert_int_equal(ashlar_division_valid(d - 1), is_power_or_zero(d - 1));
  }
  assert_int_equal(ashlar_division_valid(3), 0);
  assert_int_equal(ashlar_division_valid(UINT32_MAX), 0);
  for (int i = 0; i < RANDOM_DIVISIONS; i++) {
    const uint32_t d = (uint32_t)(ashlar_random(&seed) >> (32 + ashlar_random_below(&seed, 32)));
    if (ashlar_division_valid(d) != is_power_or_zero(d)) {
      fail_msg("%" PRIu32 " divisions", d);
    }
  }
}

/* A size near one of the limits, or anything. */
static uint64_t some_size(uint64_t *seed, uint64_t limit, uint64_t slack)
{
  static const uint64_t near[] = {0, 512, MIB, MIB + 512};
  const uint64_t offset = near[ashlar_random_below(seed, 4)];
  switch (ashlar_random_below(seed, 4)) {
  case 0:
    return limit - (limit < offset ? limit : offset);
  case 1:
    return limit > UINT64_MAX - offset ? UINT64_MAX : limit + offset;
  case 2:
    return slack > UINT64_MAX - offset ? UINT64_MAX : slack + offset;
  default:
    return ashlar_random(seed) >> ashlar_random_below(seed, 64);
  }
}

/* Which block may serve, and when its rest is split off: random pairs around the limits.
   Covers REQ-SIZE-split, REQ-BESTFIT-oversize. */
static void limits(void **state)
{
  uint64_t seed = 36;
  size_t served = 0;
  size_t split = 0;
  (void)state;
  for (int i = 0; i < RANDOM_PAIRS; i++) {
    const uint64_t limit = ashlar_random_below(&seed, 4) == 0
                               ? UINT64_MAX
                               : 20 * MIB + ashlar_random_below(&seed, GIB);
    const uint64_t slack = 20 * MIB + ashlar_random_below(&seed, GIB);
    const uint64_t one = some_size(&seed, limit, slack);
    const uint64_t two = some_size(&seed, limit, slack);
    const uint64_t want = one < two ? one : two;
    const uint64_t size = one < two ? two : one;
    const int serves = want < limit ? size < limit : (wide)size < (wide)want + slack;
    const int splits = want < limit && (wide)size > (wide)want + (wide)MIB;
    if ((ashlar_may_serve(want, size, limit, slack) != 0) != serves ||
        (ashlar_should_split(ASHLAR_CLASS_LARGE, size, want, limit) != 0) != splits ||
        (ashlar_should_split(ASHLAR_CLASS_SMALL, size, want, limit) != 0) != (size - want >= 512)) {
      fail_msg("%" PRIu64 " of %" PRIu64 ", limit %" PRIu64 ", slack %" PRIu64, want, size, limit,
               slack);
    }
    served += serves != 0 ? 1 : 0;
    split += splits != 0 ? 1 : 0;
  }
  /* both answers were given, often */
  assert_in_range(served, RANDOM_PAIRS / 10, RANDOM_PAIRS * 9 / 10);
  assert_in_range(split, RANDOM_PAIRS / 10, RANDOM_PAIRS * 9 / 10);
  print_message("%d pairs, %zu may serve, %zu are split\n", RANDOM_PAIRS, served, split);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked_examples), cmocka_unit_test(divisions_of_514_mib),
      cmocka_unit_test(boundaries),      cmocka_unit_test(all_divisions),
      cmocka_unit_test(random_sizes),    cmocka_unit_test(nothing_wraps),
      cmocka_unit_test(valid_divisions), cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
