/* audit_report.h - prints what an audit found, for machines and for people.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_AUDIT_REPORT_H
#define ASHLAR_TOOLS_AUDIT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/audit.h"

/* One JSON object and a line end. False when memory is short or the stream refuses. */
bool ashlar_audit_print_json(FILE *stream, const struct ashlar_audit *audit);

/* A readable report. False when the stream refuses. */
bool ashlar_audit_print_text(FILE *stream, const struct ashlar_audit *audit);

#endif
