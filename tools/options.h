/* options.h - values and habits that the commands' option parsers share.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_OPTIONS_H
#define ASHLAR_TOOLS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/error.h"

/* Exit statuses of every command. */
enum {
  ASHLAR_STATUS_CLEAN = 0,
  ASHLAR_STATUS_FINDINGS = 1, /* findings, differences, failed requests */
  ASHLAR_STATUS_UNUSABLE = 2, /* the input cannot be used, or the output cannot be written */
  ASHLAR_STATUS_USAGE = 3
};

/* Keys of options that have no letter. */
enum {
  ASHLAR_OPTION_JSON = 256,
  ASHLAR_OPTION_ORDER,
  ASHLAR_OPTION_POLICY,
  ASHLAR_OPTION_DEVICE,
  ASHLAR_OPTION_CAPACITY,
  ASHLAR_OPTION_MAX_SPLIT,
  ASHLAR_OPTION_MAX_ENTRIES,
  ASHLAR_OPTION_CALL_COST,
  ASHLAR_OPTION_PLACEMENT,
  ASHLAR_OPTION_DATA,
  ASHLAR_OPTION_USAGE
};

/* The options that every command has, for its list of options. */
#define ASHLAR_COMMON_OPTIONS                                                                      \
  {"help", 'h', NULL, 0, "print this text", -1},                                                   \
  {                                                                                                \
    "usage", ASHLAR_OPTION_USAGE, NULL, 0, "print a short form of it", -1                          \
  }

/* Where a command reads from and prints to, and what its arguments said. */
struct ashlar_invocation {
  FILE *out;
  FILE *err;
  const char *file; /* the argument; NULL: none */
  bool needs_file;  /* the command takes exactly one file */
  bool is_json;
  bool is_finished; /* help was printed: there is nothing left to do */
};

/* Parses the arguments of a command, argv[0] being its name as printed. `parser` has the
   command's own options, its input is `input`, whose first member is a struct ashlar_invocation.
   False: wrong usage, which has been said on invocation->err (by getopt itself on standard
   error). */
bool ashlar_options_parse(const struct argp *parser, int argc, char **argv,
                          struct ashlar_invocation *input);

/* Handles the keys that commands have in common. ARGP_ERR_UNKNOWN for all others. */
error_t ashlar_options_common(int key, char *argument, struct argp_state *state);

/* Says what is wrong with an argument; returns EINVAL. */
error_t ashlar_options_refuse(const struct argp_state *state, const char *option,
                              const char *argument, const char *expected);

/* A whole decimal number. False where it is none or above 2^64 - 1. */
bool ashlar_options_number(const char *text, uint64_t *number);

/* A number of bytes: decimal, with an optional suffix K, M, G or T for a power of 1024, and that
   with an optional B or iB. False where it is none or 2^64 and more. */
bool ashlar_options_bytes(const char *text, uint64_t *bytes);

/* Prints why a file is unusable; `unit` is that of the position ("byte", "line"). Returns
   ASHLAR_STATUS_UNUSABLE. */
int ashlar_options_unusable(FILE *err, const char *file, const char *unit,
                            const struct ashlar_error *error);

#endif
