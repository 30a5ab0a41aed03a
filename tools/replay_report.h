/* replay_report.h - prints what a replay showed, for machines and for people.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAY_REPORT_H
#define ASHLAR_TOOLS_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/replay.h"

/* What the report is about, besides the figures. */
struct ashlar_replay_subject {
  const char *file;
  const struct ashlar_requests *requests;
};

/* One JSON object and a line end. Numbers above 2^63 - 1 are strings of digits. False when
   memory is short or the stream refuses. */
bool ashlar_replay_print_json(FILE *stream, const struct ashlar_replay *replay,
                              const struct ashlar_replay_subject *subject);

/* A readable report; of the failures the first ASHLAR_REPLAY_FAILURES_SHOWN. False when the stream
   refuses. */
enum { ASHLAR_REPLAY_FAILURES_SHOWN = 20 };
bool ashlar_replay_print_text(FILE *stream, const struct ashlar_replay *replay,
                              const struct ashlar_replay_subject *subject);

/* "out of memory" and so on. Static text. */
const char *ashlar_replay_reason_text(unsigned reason);

#endif
