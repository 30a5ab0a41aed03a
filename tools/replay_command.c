/* replay_command.c - the command `ashlar replay`.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <string.h>

#include "core/block_manager.h"
#include "tools/options.h"
#include "tools/replay.h"
#include "tools/replay_report.h"
#include "tools/requests.h"
#include "tools/snapshot_writer.h"

struct arguments {
  struct ashlar_invocation invocation; /* first: the option parser expects it */
  struct ashlar_replay_options options;
  const char *output; /* file for the snapshot; NULL: none */
  bool is_on_cuda;
  bool is_recorded;
  bool has_placement;
};

static error_t parse_policy(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  if (strcmp(argument, "faithful") == 0) {
    arguments->options.policy = ASHLAR_POLICY_FAITHFUL;
  } else if (strcmp(argument, "complete") == 0) {
    arguments->options.policy = ASHLAR_POLICY_COMPLETE;
  } else {
    return ashlar_options_refuse(state, "policy", argument, "faithful or complete");
  }
  return 0;
}

static error_t parse_order(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  if (strcmp(argument, "address") == 0) {
    arguments->options.order = ASHLAR_ORDER_ADDRESS;
  } else if (strcmp(argument, "segment") == 0) {
    arguments->options.order = ASHLAR_ORDER_SEGMENT;
  } else {
    return ashlar_options_refuse(state, "order", argument, "address or segment");
  }
  return 0;
}

static error_t parse_device(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  arguments->is_on_cuda = strcmp(argument, "cuda") == 0;
  arguments->is_recorded = strcmp(argument, "recorded") == 0;
  if (!arguments->is_on_cuda && !arguments->is_recorded && strcmp(argument, "sim") != 0) {
    return ashlar_options_refuse(state, "device", argument, "sim, recorded or cuda");
  }
  return 0;
}

static error_t parse_placement(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  arguments->has_placement = true;
  if (strcmp(argument, "ascending") == 0) {
    arguments->options.placement = ASHLAR_SIM_ASCENDING;
  } else if (strcmp(argument, "descending") == 0) {
    arguments->options.placement = ASHLAR_SIM_DESCENDING;
  } else if (strcmp(argument, "first-fit") == 0) {
    arguments->options.placement = ASHLAR_SIM_FIRST_FIT;
  } else {
    return ashlar_options_refuse(state, "placement", argument,
                                 "ascending, descending or first-fit");
  }
  return 0;
}

static error_t parse_bytes(const char *option, const char *argument, const struct argp_state *state,
                           uint64_t *bytes)
{
  if (!ashlar_options_bytes(argument, bytes)) {
    return ashlar_options_refuse(state, option, argument,
                                 "a number of bytes (with K, M, G or T, if you like)");
  }
  return 0;
}

static error_t parse_max_split(const char *argument, const struct argp_state *state)
{
  struct arguments *arguments = state->input;
  const struct ashlar_config defaults = ashlar_default_config();
  const error_t error =
      parse_bytes("max-split", argument, state, &arguments->options.max_split_size);
  if (error == 0 && arguments->options.max_split_size < defaults.large_segment_size) {
    return ashlar_options_refuse(state, "max-split", argument, "at least 20M");
  }
  return error;
}

static error_t parse_number(const char *option, const char *argument,
                            const struct argp_state *state, uint64_t *number)
{
  if (!ashlar_options_number(argument, number)) {
    return ashlar_options_refuse(state, option, argument, "a whole number");
  }
  return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
  struct arguments *arguments = state->input;
  switch (key) {
  case ASHLAR_OPTION_POLICY:
    return parse_policy(argument, state);
  case ASHLAR_OPTION_ORDER:
    return parse_order(argument, state);
  case ASHLAR_OPTION_DEVICE:
    return parse_device(argument, state);
  case ASHLAR_OPTION_CAPACITY:
    return parse_bytes("capacity", argument, state, &arguments->options.capacity);
  case ASHLAR_OPTION_MAX_SPLIT:
    return parse_max_split(argument, state);
  case ASHLAR_OPTION_MAX_ENTRIES:
    return parse_number("max-entries", argument, state, &arguments->options.max_entries);
  case ASHLAR_OPTION_CALL_COST:
    return parse_number("call-cost", argument, state, &arguments->options.call_cost);
  case ASHLAR_OPTION_PLACEMENT:
    return parse_placement(argument, state);
  case 'o':
    arguments->output = argument;
    return 0;
  default:
    return ashlar_options_common(key, argument, state);
  }
}

static const struct argp_option OPTIONS[] = {
    {"policy", ASHLAR_OPTION_POLICY, "POLICY", 0,
     "complete (default): out of memory only when nothing can help; or faithful: PyTorch's "
     "decisions",
     0},
    {"order", ASHLAR_OPTION_ORDER, "ORDER", 0,
     "order of equal free blocks: address (default), or segment, the age of the segment first", 0},
    {"device", ASHLAR_OPTION_DEVICE, "DEVICE", 0,
     "sim (default): a pretend device; recorded: one that hands out and refuses what was recorded; "
     "cuda: "
     "a GPU, not in this version",
     0},
    {"capacity", ASHLAR_OPTION_CAPACITY, "BYTES", 0,
     "memory of each device; K, M, G, T are powers of 1024; default: without limit", 0},
    {"max-split", ASHLAR_OPTION_MAX_SPLIT, "BYTES", 0,
     "keep blocks of at least this size whole, at least 20M; default: as recorded, else no limit",
     0},
    {"placement", ASHLAR_OPTION_PLACEMENT, "WHERE", 0,
     "where the pretend device places segments: ascending (default), descending, or first-fit, "
     "which uses "
     "freed addresses again",
     0},
    {"call-cost", ASHLAR_OPTION_CALL_COST, "NS", 0,
     "nanoseconds that a device call is assumed to cost; default 100000", 0},
    {"json", ASHLAR_OPTION_JSON, NULL, 0, "print one JSON object", 0},
    {"out", 'o', "FILE", 0, "write a memory snapshot of the replay, a pickle as PyTorch writes it",
     0},
    {"max-entries", ASHLAR_OPTION_MAX_ENTRIES, "N", 0,
     "keep only the last N events of each device in it", 0},
    ASHLAR_COMMON_OPTIONS,
    {0},
};

static const struct argp PARSER = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "FILE",
    .doc = "Runs the requests of a recorded PyTorch memory snapshot, or of a text trace "
           "(spec/trace-format.md), "
           "on the verified core. FILE - is standard input.\v"
           "Exit status: 0 every request was served, 1 not so (or, on a recorded device, not as "
           "recorded), "
           "2 input unusable, 3 wrong usage.",
};

/* What cannot be asked for together. */
static bool check(const struct arguments *arguments, const char *name)
{
  FILE *err = arguments->invocation.err;
  if (arguments->is_on_cuda) {
    (void)fprintf(err, "%s: --device cuda is not in this version: it needs the CUDA layer\n", name);
    return false;
  }
  if (arguments->has_placement && arguments->is_recorded) {
    (void)fprintf(err, "%s: --placement and --device recorded contradict each other\n", name);
    return false;
  }
  if (arguments->options.max_entries != UINT64_MAX && arguments->output == NULL) {
    (void)fprintf(err, "%s: --max-entries is about the snapshot that --out writes\n", name);
    return false;
  }
  return true;
}

static int write_snapshot(const struct arguments *arguments, const struct ashlar_snapshot *snapshot)
{
  struct ashlar_error error = {0};
  if (ashlar_snapshot_write_file(arguments->output, snapshot, &error)) {
    return ASHLAR_STATUS_CLEAN;
  }
  (void)fprintf(arguments->invocation.err, "ashlar: %s: %s\n", arguments->output, error.text);
  return ASHLAR_STATUS_UNUSABLE;
}

static int report(const struct arguments *arguments, const struct ashlar_replay *replay,
                  const struct ashlar_requests *requests)
{
  const struct ashlar_invocation *invocation = &arguments->invocation;
  const struct ashlar_replay_subject subject = {invocation->file, requests};
  const bool is_printed = invocation->is_json
                              ? ashlar_replay_print_json(invocation->out, replay, &subject)
                              : ashlar_replay_print_text(invocation->out, replay, &subject);
  if (!is_printed) {
    (void)fprintf(invocation->err, "ashlar replay: the report cannot be written\n");
    return ASHLAR_STATUS_UNUSABLE;
  }
  return ashlar_replay_exit_status(replay);
}

static int replay_requests(const struct arguments *arguments,
                           const struct ashlar_requests *requests)
{
  struct ashlar_replay replay;
  struct ashlar_snapshot snapshot = {0};
  struct ashlar_error error = {0};
  const bool is_writing = arguments->output != NULL;
  if (!ashlar_replay_run(requests, &arguments->options, &replay, is_writing ? &snapshot : NULL,
                         &error)) {
    (void)fprintf(arguments->invocation.err, "ashlar: %s: %s\n", arguments->invocation.file,
                  error.text);
    return ASHLAR_STATUS_UNUSABLE;
  }
  const int status = report(arguments, &replay, requests);
  const int written = is_writing ? write_snapshot(arguments, &snapshot) : ASHLAR_STATUS_CLEAN;
  ashlar_snapshot_free(&snapshot);
  ashlar_replay_free(&replay);
  return written > status ? written : status;
}

int ashlar_command_replay(int argc, char **argv, FILE *out, FILE *err)
{
  struct arguments arguments = {
      .invocation = {.out = out, .err = err, .needs_file = true},
      .options = {.policy = ASHLAR_POLICY_COMPLETE,
                  .capacity = ASHLAR_SIM_UNLIMITED,
                  .call_cost = ASHLAR_REPLAY_CALL_COST,
                  .max_entries = UINT64_MAX},
  };
  struct ashlar_requests requests;
  struct ashlar_error error = {0};
  if (!ashlar_options_parse(&PARSER, argc, argv, &arguments.invocation)) {
    return ASHLAR_STATUS_USAGE;
  }
  if (arguments.invocation.is_finished) {
    return ASHLAR_STATUS_CLEAN;
  }
  if (!check(&arguments, argv[0])) {
    return ASHLAR_STATUS_USAGE;
  }
  if (arguments.is_recorded) {
    arguments.options.placement = ASHLAR_SIM_RECORDED;
  }
  if (!ashlar_requests_read_file(arguments.invocation.file, &requests, &error)) {
    return ashlar_options_unusable(err, arguments.invocation.file,
                                   requests.is_trace ? "line" : "byte", &error);
  }
  const int status = replay_requests(&arguments, &requests);
  ashlar_requests_free(&requests);
  return status;
}
