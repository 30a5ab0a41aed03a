/* audit_command.c - the command `ashlar audit`.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <string.h>

#include "tools/audit.h"
#include "tools/audit_report.h"
#include "tools/options.h"

struct arguments {
  struct ashlar_invocation invocation; /* first: the option parser expects it */
  struct ashlar_audit_options options;
};

static error_t parse_order(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  if (strcmp(argument, "address") == 0) {
    arguments->options.order = ASHLAR_AUDIT_ORDER_ADDRESS;
  } else if (strcmp(argument, "segment") == 0) {
    arguments->options.order = ASHLAR_AUDIT_ORDER_SEGMENT;
  } else if (strcmp(argument, "auto") == 0) {
    arguments->options.order = ASHLAR_AUDIT_ORDER_AUTO;
  } else {
    return ashlar_options_refuse(state, "order", argument, "address, segment or auto");
  }
  return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
  return key == ASHLAR_OPTION_ORDER ? parse_order(argument, state)
                                    : ashlar_options_common(key, argument, state);
}

int ashlar_command_audit(int argc, char **argv, FILE *out, FILE *err)
{
  static const struct argp_option OPTIONS[] = {
      {"json", ASHLAR_OPTION_JSON, NULL, 0, "print one JSON object", 0},
      {"order", ASHLAR_OPTION_ORDER, "ORDER", 0,
       "order of equal free blocks: address, segment (age of the segment first), or auto, the one "
       "that "
       "agrees with the whole file (default)",
       0},
      ASHLAR_COMMON_OPTIONS,
      {0},
  };
  static const struct argp PARSER = {
      .options = OPTIONS,
      .parser = parse,
      .args_doc = "FILE",
      .doc = "Checks a recorded PyTorch memory snapshot: its segments and blocks against the "
             "rules, and "
             "every recorded decision against the verified core. FILE - is standard input.\v"
             "Exit status: 0 nothing found, 1 findings or differences, 2 input unusable, 3 wrong "
             "usage.",
  };
  struct arguments arguments = {
      .invocation = {.out = out, .err = err, .needs_file = true},
      .options = {.order = ASHLAR_AUDIT_ORDER_AUTO},
  };
  struct ashlar_audit audit;
  struct ashlar_error error = {0};
  if (!ashlar_options_parse(&PARSER, argc, argv, &arguments.invocation)) {
    return ASHLAR_STATUS_USAGE;
  }
  if (arguments.invocation.is_finished) {
    return ASHLAR_STATUS_CLEAN;
  }
  if (!ashlar_audit_file(arguments.invocation.file, &arguments.options, &audit, &error)) {
    return ashlar_options_unusable(err, arguments.invocation.file, "byte", &error);
  }
  int status = ashlar_audit_exit_status(&audit);
  const bool is_printed = arguments.invocation.is_json ? ashlar_audit_print_json(out, &audit)
                                                       : ashlar_audit_print_text(out, &audit);
  ashlar_audit_free(&audit);
  if (!is_printed) {
    (void)fprintf(err, "%s: the report cannot be written\n", argv[0]);
    status = ASHLAR_STATUS_UNUSABLE;
  }
  return status;
}
