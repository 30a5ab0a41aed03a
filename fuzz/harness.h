/* harness.h - what all fuzz targets share: one input run, operations counted and printed, a difference reported.
 *
 * A target is one function of an input. It starts from nothing each time, so that the same bytes do the same again:
 * where a check fails, the input runs a second time with its operations printed, and the process aborts.
 *
 * Environment: ASHLAR_FUZZ_PRINT=1 prints the operations of every input; for inputs that end the process in other ways
 * (a sanitizer, a signal), give such an input alone.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_HARNESS_H
#define ASHLAR_FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/input.h"

typedef void (*fuzz_target)(struct fuzz_input *in);

/* What a fuzzing engine calls; each target defines it as `return fuzz_run(data, size, target)`. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs the target over the bytes; always 0. At the end of the process the number of operations and inputs is printed:
   `fuzz: N operations, N inputs`. */
int fuzz_run(const uint8_t *data, size_t size, fuzz_target target);

/* Operations performed so far by this process; targets count into it. */
extern uint64_t fuzz_operations;

/* A target that knows sets it where the input has reached something that none did before in this process. */
extern bool fuzz_is_new;

/* Prints an operation, as a line of its own, while operations are printed; else costs a comparison. */
#define FUZZ_SAY(...) (fuzz_is_printing ? fuzz_print(__VA_ARGS__) : (void)0)
extern bool fuzz_is_printing;
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void fuzz_print(const char *format, ...);

/* Ends the process as a crash where the condition does not hold; the rest says what is wrong, as for printf. */
#define FUZZ_CHECK(condition, ...) ((condition) ? (void)0 : fuzz_fail(__VA_ARGS__))
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
_Noreturn void
fuzz_fail(const char *format, ...);

#endif
