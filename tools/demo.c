/* demo.c - see demo.h; and the command `ashlar demo`.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* mkstemp, asprintf */
#include "tools/demo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/audit.h"
#include "tools/audit_report.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/replay.h"
#include "tools/replay_report.h"
#include "tools/requests.h"
#include "tools/snapshot_reader.h"
#include "tools/snapshot_writer.h"

static const char DATA[] = "tests/data/transformer-training.trace";

struct figures {
  uint64_t requests;
  uint64_t allocations;
  uint64_t agree;
  int status;
};

/* --- the two halves --- */

static bool print_replay(const struct ashlar_requests *requests, const char *name,
                         const char *snapshot_file, struct figures *figures, FILE *out,
                         struct ashlar_error *error)
{
  const struct ashlar_replay_options options = {
      .policy = ASHLAR_POLICY_COMPLETE,
      .capacity = ASHLAR_SIM_UNLIMITED,
      .call_cost = ASHLAR_REPLAY_CALL_COST,
      .max_entries = UINT64_MAX,
  };
  const struct ashlar_replay_subject subject = {name, requests};
  struct ashlar_replay replay;
  struct ashlar_snapshot snapshot;
  if (!ashlar_replay_run(requests, &options, &replay, &snapshot, error)) {
    return false;
  }
  bool is_done = ashlar_snapshot_write_file(snapshot_file, &snapshot, error);
  if (is_done && !ashlar_replay_print_text(out, &replay, &subject)) {
    is_done = ashlar_error_set(error, 0, "the report cannot be written");
  }
  figures->requests = replay.operations;
  figures->status = ashlar_replay_exit_status(&replay);
  ashlar_snapshot_free(&snapshot);
  ashlar_replay_free(&replay);
  return is_done;
}

static bool print_audit(const char *snapshot_file, struct figures *figures, FILE *out,
                        struct ashlar_error *error)
{
  const struct ashlar_audit_options options = {.order = ASHLAR_AUDIT_ORDER_AUTO};
  struct ashlar_snapshot snapshot;
  struct ashlar_audit audit = {0};
  if (!ashlar_snapshot_read_file(snapshot_file, &snapshot, error)) {
    return false;
  }
  const bool is_audited =
      ashlar_audit_snapshot(&snapshot, "audit of the snapshot", &options, &audit, error);
  ashlar_snapshot_free(&snapshot);
  if (!is_audited) {
    return false;
  }
  const bool is_printed = ashlar_audit_print_text(out, &audit);
  for (uint64_t i = 0; i < audit.device_count; i++) {
    figures->allocations += audit.devices[i].allocations;
    figures->agree += audit.devices[i].agree;
  }
  if (ashlar_audit_exit_status(&audit) != ASHLAR_STATUS_CLEAN) {
    figures->status = ASHLAR_STATUS_FINDINGS;
  }
  ashlar_audit_free(&audit);
  return is_printed || ashlar_error_set(error, 0, "the report cannot be written");
}

/* --- together --- */

/* A new, empty file for the snapshot; its name is the caller's to free(). NULL: it cannot be
   made. */
static char *make_file(void)
{
  const char *folder = getenv("TMPDIR");
  char *name = NULL;
  if (asprintf(&name, "%s/ashlar-demo-XXXXXX",
               folder != NULL && folder[0] != '\0' ? folder : "/tmp") < 0) {
    return NULL;
  }
  const int descriptor = mkstemp(name);
  if (descriptor < 0) {
    free(name);
    return NULL;
  }
  (void)close(descriptor);
  return name;
}

static int show(const struct ashlar_requests *requests, const char *name, const char *snapshot_file,
                FILE *out, FILE *err)
{
  struct figures figures = {0};
  struct ashlar_error error = {0};
  if (!print_replay(requests, name, snapshot_file, &figures, out, &error) ||
      fprintf(out, "\n") < 0 || !print_audit(snapshot_file, &figures, out, &error)) {
    (void)fprintf(err, "ashlar demo: %s\n", error.text);
    return ASHLAR_STATUS_UNUSABLE;
  }
  (void)fprintf(
      out,
      "\nshown: %" PRIu64 " requests of a recorded training run on the verified core, over a "
      "pretend device; of the %" PRIu64 " allocations in the snapshot made of it the audit "
      "finds %" PRIu64 " as specified\n",
      figures.requests, figures.allocations, figures.agree);
  return figures.status;
}

int ashlar_demo(const char *data, const char *name, FILE *out, FILE *err)
{
  struct ashlar_requests requests;
  struct ashlar_error error = {0};
  if (!ashlar_requests_read_file(data, &requests, &error)) {
    return ashlar_options_unusable(err, data, requests.is_trace ? "line" : "byte", &error);
  }
  char *snapshot_file = make_file();
  int status = ASHLAR_STATUS_UNUSABLE;
  if (snapshot_file == NULL) {
    (void)fprintf(err, "ashlar demo: no temporary file can be made\n");
  } else {
    status = show(&requests, name, snapshot_file, out, err);
    (void)unlink(snapshot_file);
  }
  free(snapshot_file);
  ashlar_requests_free(&requests);
  return status;
}

/* --- the command --- */

struct arguments {
  struct ashlar_invocation invocation; /* first: the option parser expects it */
  const char *data;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
  struct arguments *arguments = state->input;
  if (key == ASHLAR_OPTION_DATA) {
    arguments->data = argument;
    return 0;
  }
  return ashlar_options_common(key, argument, state);
}

/* The trace of the tree that the launcher belongs to, or of the current folder. */
static char *default_data(void)
{
  const char *root = getenv("ASHLAR_ROOT");
  char *name = NULL;
  if (asprintf(&name, "%s%s%s", root != NULL ? root : "", root != NULL ? "/" : "", DATA) < 0) {
    return NULL;
  }
  return name;
}

int ashlar_command_demo(int argc, char **argv, FILE *out, FILE *err)
{
  static const struct argp_option OPTIONS[] = {
      {"data", ASHLAR_OPTION_DATA, "FILE", 0,
       "the trace or snapshot to replay; default: the training run in tests/data of the folder in "
       "ASHLAR_ROOT",
       0},
      ASHLAR_COMMON_OPTIONS,
      {0},
  };
  static const struct argp PARSER = {
      .options = OPTIONS,
      .parser = parse,
      .doc = "Replays a recorded training run on the verified core, writes the snapshot of that, "
             "audits it, "
             "and prints both reports.\v"
             "Exit status: 0 all as specified, 1 not so, 2 input unusable, 3 wrong usage.",
  };
  struct arguments arguments = {.invocation = {.out = out, .err = err}};
  if (!ashlar_options_parse(&PARSER, argc, argv, &arguments.invocation)) {
    return ASHLAR_STATUS_USAGE;
  }
  if (arguments.invocation.is_finished) {
    return ASHLAR_STATUS_CLEAN;
  }
  if (arguments.data != NULL) {
    return ashlar_demo(arguments.data, arguments.data, out, err);
  }
  char *data = default_data();
  if (data == NULL) {
    (void)fprintf(err, "ashlar demo: out of memory\n");
    return ASHLAR_STATUS_UNUSABLE;
  }
  const int status = ashlar_demo(data, DATA, out, err);
  free(data);
  return status;
}
