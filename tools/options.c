/* options.c - see options.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { DECIMAL = 10, UNIT_SHIFT = 10 };

/* --- parsing --- */

static struct ashlar_invocation *invocation_of(const struct argp_state *state)
{
  return (struct ashlar_invocation *)state->input;
}

static error_t complain(const struct argp_state *state, const char *what, const char *which)
{
  (void)fprintf(invocation_of(state)->err, "%s: %s%s; see '%s --help'\n", state->name, what, which,
                state->name);
  return EINVAL;
}

static error_t take_file(char *argument, const struct argp_state *state)
{
  struct ashlar_invocation *invocation = invocation_of(state);
  if (!invocation->needs_file || invocation->file != NULL) {
    return complain(state, "unexpected argument: ", argument);
  }
  invocation->file = argument;
  return 0;
}

error_t ashlar_options_common(int key, char *argument, struct argp_state *state)
{
  struct ashlar_invocation *invocation = invocation_of(state);
  switch (key) {
  case ARGP_KEY_INIT:
    state->out_stream = invocation->out;
    state->err_stream = invocation->err;
    return 0;
  case 'h':
    argp_state_help(state, invocation->out,
                    ARGP_HELP_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG | ARGP_HELP_POST_DOC);
    invocation->is_finished = true;
    return 0;
  case ASHLAR_OPTION_USAGE:
    argp_state_help(state, invocation->out, ARGP_HELP_USAGE);
    invocation->is_finished = true;
    return 0;
  case ASHLAR_OPTION_JSON:
    invocation->is_json = true;
    return 0;
  case ARGP_KEY_ARG:
    return take_file(argument, state);
  case ARGP_KEY_END:
    if (invocation->needs_file && invocation->file == NULL && !invocation->is_finished) {
      return complain(state, "no file is given", "");
    }
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

bool ashlar_options_parse(const struct argp *parser, int argc, char **argv,
                          struct ashlar_invocation *input)
{
  return argp_parse(parser, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, input) == 0;
}

error_t ashlar_options_refuse(const struct argp_state *state, const char *option,
                              const char *argument, const char *expected)
{
  (void)fprintf(invocation_of(state)->err, "%s: --%s: '%s' is not %s\n", state->name, option,
                argument, expected);
  return EINVAL;
}

/* --- values --- */

/* Reads digits, at least one; *end is behind them. */
static bool read_digits(const char *text, uint64_t *number, const char **end)
{
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (value > (UINT64_MAX - digit) / DECIMAL) {
      return false;
    }
    value = value * DECIMAL + digit;
  }
  *number = value;
  *end = at;
  return at != text;
}

bool ashlar_options_number(const char *text, uint64_t *number)
{
  const char *end = text;
  return read_digits(text, number, &end) && *end == '\0';
}

bool ashlar_options_bytes(const char *text, uint64_t *bytes)
{
  static const char SUFFIXES[] = "KMGT";
  const char *end = text;
  if (!read_digits(text, bytes, &end)) {
    return false;
  }
  if (*end == '\0') {
    return true;
  }
  const char *suffix = strchr(SUFFIXES, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
  if (suffix == NULL) {
    return false;
  }
  const unsigned shift = (unsigned)(suffix - SUFFIXES + 1) * UNIT_SHIFT;
  if (*bytes > UINT64_MAX >> shift) {
    return false;
  }
  *bytes <<= shift;
  end++;
  return *end == '\0' || strcmp(end, "B") == 0 || strcmp(end, "iB") == 0;
}

int ashlar_options_unusable(FILE *err, const char *file, const char *unit,
                            const struct ashlar_error *error)
{
  (void)fprintf(err, "ashlar: %s: %s %" PRIu64 ": %s\n", file, unit, error->position, error->text);
  return ASHLAR_STATUS_UNUSABLE;
}
