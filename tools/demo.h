/* demo.h - the main job on embedded data: replay, write a snapshot, audit it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_DEMO_H
#define ASHLAR_TOOLS_DEMO_H

#include <stdio.h>

/* Replays the trace in the file `data`, printed as `name`, audits the snapshot made of it, and
   prints both reports and a last line that says what was shown. The snapshot goes to a temporary
   file, which is removed. Returns an exit status: 0 when every request was served and the audit
   found nothing. */
int ashlar_demo(const char *data, const char *name, FILE *out, FILE *err);

#endif
