/* command.h - the `ashlar` tool as a function, so that tests can call it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_COMMAND_H
#define ASHLAR_TOOLS_COMMAND_H

#include <stdio.h>

/* Runs the tool with the arguments of its main function; argv[argc] is NULL. What it says goes
   to `out` and `err` (of an unknown option the C library tells standard error); snapshots that
   it writes to "-" go to the standard output itself. Never exits. Returns the exit status: 0
   nothing found, 1 findings, differences or failed requests, 2 input unusable, 3 wrong usage.
   Not thread safe. */
int ashlar_main(int argc, char **argv, FILE *out, FILE *err);

#endif
