/* commands.h - the commands of the tool, one function each. Private to the tool.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_COMMANDS_H
#define ASHLAR_TOOLS_COMMANDS_H

#include <stdio.h>

/* argv[0] is the name of the command as it is printed. The result is the exit status. */
int ashlar_command_audit(int argc, char **argv, FILE *out, FILE *err);
int ashlar_command_replay(int argc, char **argv, FILE *out, FILE *err);
int ashlar_command_demo(int argc, char **argv, FILE *out, FILE *err);

#endif
