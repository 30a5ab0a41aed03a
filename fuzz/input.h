/* input.h - the bytes of a fuzzer read as operations.
 *
 * Every function is total: where the bytes end, what is missing reads as zero. So each string of bytes is a sequence of
 * operations, and a target that turns what makes no sense into something legal never throws an input away.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_INPUT_H
#define ASHLAR_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
/* For oracles: what they do tells a fuzzer nothing of the code under test, and uncounted they are quick. */
#define FUZZ_ORACLE __attribute__((no_sanitize("coverage", "address", "undefined")))
#else
#define FUZZ_ORACLE
#endif

struct fuzz_input {
  const uint8_t *next;
  const uint8_t *end;
};

/* Whether there is a byte left; the loop over operations asks. */
static inline bool fuzz_more(const struct fuzz_input *in)
{
  return in->next < in->end;
}

/* The next 8 bits. */
static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
  return in->next < in->end ? *in->next++ : 0;
}

/* A number of so many bytes (at most 8), the low one first. */
static inline uint64_t fuzz_number(struct fuzz_input *in, unsigned bytes)
{
  uint64_t number = 0;
  for (unsigned i = 0; i < bytes; i++) {
    number |= (uint64_t)fuzz_byte(in) << (8 * i);
  }
  return number;
}

/* A number below the bound, 1 to 256, from one byte: what to do, which block, whether the device refuses. */
static inline uint32_t fuzz_below(struct fuzz_input *in, uint32_t bound)
{
  return fuzz_byte(in) % bound;
}

/* A size or limit in bytes, any 64-bit number, with a liking for powers of two and what is beside them. */
static inline uint64_t fuzz_size(struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  const uint64_t power = (uint64_t)1 << (form % 64);
  switch (form / 64) {
  case 0:
    return power;
  case 1:
    return power - 1;
  case 2:
    return power + fuzz_number(in, 2);
  default:
    return fuzz_number(in, 1 + form % 8);
  }
}

#endif
