/* malformed_support.h - runs the tool's audit on bytes, in process and by its own entry, and checks
 * what any input may lead to.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MALFORMED_SUPPORT_H
#define ASHLAR_TESTS_MALFORMED_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MALFORMED_SECONDS = 20, MALFORMED_PATH_SIZE = 64 };

/* A file in memory that the tool is given again and again, and what it said the last time. */
struct malformed_tool {
  int file;
  char path[MALFORMED_PATH_SIZE];
  char *said; /* the report; "" after a refusal */
  size_t said_size;
  char *complained; /* on the error stream; "" after a report */
  size_t complained_size;
};

/* The test fails where the system does not provide what is needed. */
void malformed_open(struct malformed_tool *tool);
void malformed_close(struct malformed_tool *tool);

/* Puts the bytes in the file; the tool is given the first `size` of them. */
void malformed_write(struct malformed_tool *tool, const void *bytes, size_t size);

/* Overwrites some bytes of the file, or cuts it. */
void malformed_patch(struct malformed_tool *tool, size_t offset, const void *bytes, size_t size);
void malformed_cut(struct malformed_tool *tool, size_t size);

/* Audits the file, which has `size` bytes; its exit status. The test fails where
 *   - the status is not 0, 1 or 2;
 *   - 2 comes without one line that names file, position (at most `size`) and reason, or with a
 *     report;
 *   - 0 or 1 come without a report, with complaints, or not in agreement with the counts in it;
 *   - MALFORMED_SECONDS of processor time do not suffice: then the process ends, naming `name`. */
int malformed_audit(struct malformed_tool *tool, const char *name, size_t size, bool is_json);

/* Whether this process has never had more than 1 GiB of memory; prints how much it was. */
bool malformed_memory_is_bounded(void);

#endif
