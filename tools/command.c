/* command.c - see command.h: finds the command and runs it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/command.h"

#include <stddef.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/options.h"
#include "tools/version.h"

static const struct {
  const char *name;
  const char *printed; /* its name in what it prints */
  const char *does;
  int (*run)(int argc, char **argv, FILE *out, FILE *err);
} COMMANDS[] = {
    {"audit", "ashlar audit", "check a recorded memory snapshot against the specification",
     ashlar_command_audit},
    {"replay", "ashlar replay", "run a recorded request sequence on the verified core",
     ashlar_command_replay},
    {"demo", "ashlar demo", "replay a real training trace, audit the result", ashlar_command_demo},
};

enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0], PRINTED_NAME = 32 };

static void print_usage(FILE *stream)
{
  (void)fprintf(stream,
                "usage: ashlar COMMAND [ARGUMENT...]\n\n"
                "A verified caching block manager for GPU memory, at work on recordings.\n\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    (void)fprintf(stream, "  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].does);
  }
  (void)fprintf(stream,
                "\n  --help, --version; ashlar COMMAND --help tells the arguments\n\n"
                "Exit status: 0 nothing found, 1 findings, differences or failed requests,\n"
                "2 input unusable, 3 wrong usage.\n");
}

static int run_command(size_t index, int argc, char **argv, FILE *out, FILE *err)
{
  /* Argument parsing permutes the array and prints its first element, so the caller's stays as
     it was. */
  char name[PRINTED_NAME];
  (void)snprintf(name, sizeof name, "%s", COMMANDS[index].printed);
  char *const own = argv[0];
  argv[0] = name;
  const int status = COMMANDS[index].run(argc, argv, out, err);
  argv[0] = own;
  return status;
}

int ashlar_main(int argc, char **argv, FILE *out, FILE *err)
{
  if (argc < 2) {
    print_usage(err);
    return ASHLAR_STATUS_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_usage(out);
    return ASHLAR_STATUS_CLEAN;
  }
  if (strcmp(name, "--version") == 0) {
    (void)fprintf(out, "ashlar %s\n", ASHLAR_VERSION);
    return ASHLAR_STATUS_CLEAN;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(name, COMMANDS[i].name) == 0) {
      return run_command(i, argc - 1, argv + 1, out, err);
    }
  }
  (void)fprintf(err, "ashlar: unknown command '%s'; see 'ashlar --help'\n", name);
  return ASHLAR_STATUS_USAGE;
}
