/* harness.c - see harness.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz/harness.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t fuzz_operations;
bool fuzz_is_printing;
bool fuzz_is_new;

/* The input that is running. */
static struct {
  const uint8_t *data;
  size_t size;
  fuzz_target target;
} current;

static uint64_t inputs;

static void print_counts(void)
{
  (void)fprintf(stderr, "fuzz: %" PRIu64 " operations, %" PRIu64 " inputs\n", fuzz_operations,
                inputs);
}

static void start(void)
{
  const char *wanted = getenv("ASHLAR_FUZZ_PRINT");
  fuzz_is_printing = wanted != NULL && strcmp(wanted, "1") == 0;
  if (atexit(print_counts) != 0) {
    (void)fputs("fuzz: the counts will not be printed\n", stderr);
  }
}

int fuzz_run(const uint8_t *data, size_t size, fuzz_target target)
{
  struct fuzz_input in = {data, data + size};
  if (inputs == 0) {
    start();
  }
  inputs++;
  current.data = data;
  current.size = size;
  current.target = target;
  FUZZ_SAY("input of %zu bytes", size);
  target(&in);
  return 0;
}

void fuzz_print(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stderr);
}

_Noreturn void fuzz_fail(const char *format, ...)
{
  va_list arguments;
  if (!fuzz_is_printing) {
    struct fuzz_input again = {current.data, current.data + current.size};
    (void)fputs("fuzz: a check failed; the operations that led to it:\n", stderr);
    fuzz_is_printing = true;
    current.target(&again);
    (void)fputs("fuzz: repeated, the input passes: something is kept from input to input\n",
                stderr);
  }
  (void)fputs("fuzz: FAILED: ", stderr);
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stderr);
  print_counts();
  abort();
}
