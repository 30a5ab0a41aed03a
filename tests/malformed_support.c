/* malformed_support.c - see malformed_support.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create, open_memstream */
#include "tests/malformed_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>
#include <jansson.h>

#include "tools/command.h"

/* --- the file --- */

void malformed_open(struct malformed_tool *tool)
{
  *tool = (struct malformed_tool){.file = memfd_create("malformed", MFD_CLOEXEC)};
  assert_true(tool->file >= 0);
  (void)snprintf(tool->path, sizeof tool->path, "/proc/self/fd/%d", tool->file);
}

static void forget(struct malformed_tool *tool)
{
  free(tool->said);
  free(tool->complained);
  tool->said = NULL;
  tool->complained = NULL;
}

void malformed_close(struct malformed_tool *tool)
{
  forget(tool);
  (void)close(tool->file);
}

void malformed_patch(struct malformed_tool *tool, size_t offset, const void *bytes, size_t size)
{
  assert_int_equal(pwrite(tool->file, bytes, size, (off_t)offset), (ssize_t)size);
}

void malformed_cut(struct malformed_tool *tool, size_t size)
{
  assert_int_equal(ftruncate(tool->file, (off_t)size), 0);
}

void malformed_write(struct malformed_tool *tool, const void *bytes, size_t size)
{
  malformed_cut(tool, 0);
  malformed_patch(tool, 0, bytes, size);
}

/* --- the time that a run may take --- */

static const char *volatile running = "";

static void end_hang(int number)
{
  static const char HUNG[] = ": does not end\n";
  const char *name = running;
  (void)number;
  if (write(STDERR_FILENO, name, strlen(name)) >= 0) {
    (void)!write(STDERR_FILENO, HUNG, sizeof HUNG - 1);
  }
  _exit(1);
}

/* Processor time, so that a busy machine changes nothing. 0: no limit. */
static void limit_time(const char *name, int seconds)
{
  const struct itimerval limit = {.it_value = {.tv_sec = seconds}};
  struct sigaction action = {.sa_handler = end_hang};
  running = name;
  assert_int_equal(sigemptyset(&action.sa_mask), 0);
  assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
  assert_int_equal(setitimer(ITIMER_PROF, &limit, NULL), 0);
}

/* --- what the tool may say --- */

static uint64_t count_of(const json_t *totals, const char *key)
{
  const json_t *count = json_object_get(totals, key);
  assert_true(json_is_integer(count) && json_integer_value(count) >= 0);
  return (uint64_t)json_integer_value(count);
}

/* A report as JSON: whole, and its counts are those that the status tells of. */
static void check_json(const struct malformed_tool *tool, const char *name, int status)
{
  json_t *report = json_loadb(tool->said, tool->said_size, JSON_REJECT_DUPLICATES, NULL);
  const json_t *totals = json_object_get(report, "totals");
  const json_t *device;
  size_t index;
  uint64_t allocations = 0;
  if (!json_is_object(totals)) {
    fail_msg("%s: no report: %s", name, tool->said);
  }
  json_array_foreach(json_object_get(report, "devices"), index, device)
  {
    const uint64_t judged =
        count_of(device, "agree") + count_of(device, "differ") + count_of(device, "undetermined");
    assert_int_equal(count_of(device, "allocations"), judged);
    allocations += judged;
  }
  assert_int_equal(count_of(totals, "allocations"), allocations);
  if ((status == 1) != (count_of(totals, "differ") + count_of(totals, "findings") > 0)) {
    fail_msg("%s: status %d, but: %s", name, status, tool->said);
  }
  json_decref(report);
}

static void check_text(const struct malformed_tool *tool, const char *name, int status)
{
  const bool is_clean = strstr(tool->said, "\nnothing found\n") != NULL;
  if (strncmp(tool->said, tool->path, strlen(tool->path)) != 0 || is_clean != (status == 0)) {
    fail_msg("%s: status %d, but: %s", name, status, tool->said);
  }
}

/* "ashlar: FILE: byte POSITION: REASON", and nothing else. */
static void check_refusal(const struct malformed_tool *tool, const char *name, size_t size)
{
  char start[2 * MALFORMED_PATH_SIZE];
  const char *line = tool->complained;
  char *reason = NULL;
  unsigned long long position = 0;
  (void)snprintf(start, sizeof start, "ashlar: %s: byte ", tool->path);
  if (strncmp(line, start, strlen(start)) == 0) {
    position = strtoull(line + strlen(start), &reason, 10);
  }
  if (reason == NULL || strncmp(reason, ": ", 2) != 0 || position > size ||
      strchr(line, '\n') != line + tool->complained_size - 1 || tool->said_size != 0) {
    fail_msg("%s: refused without saying why: %s%s", name, line, tool->said);
  }
}

int malformed_audit(struct malformed_tool *tool, const char *name, size_t size, bool is_json)
{
  char program[] = "ashlar";
  char command[] = "audit";
  char json[] = "--json";
  char *arguments[] = {program, command, tool->path, is_json ? json : NULL, NULL};
  int status;
  FILE *out;
  FILE *err;
  forget(tool);
  out = open_memstream(&tool->said, &tool->said_size);
  err = open_memstream(&tool->complained, &tool->complained_size);
  assert_true(out != NULL && err != NULL);
  limit_time(name, MALFORMED_SECONDS);
  status = ashlar_main(is_json ? 4 : 3, arguments, out, err);
  limit_time(name, 0);
  assert_int_equal(fclose(out), 0);
  assert_int_equal(fclose(err), 0);
  if (status == 2) {
    check_refusal(tool, name, size);
    return status;
  }
  if (status < 0 || status > 2 || tool->complained_size != 0) {
    fail_msg("%s: status %d, and it complains: %s", name, status, tool->complained);
  }
  if (is_json) {
    check_json(tool, name, status);
  } else {
    check_text(tool, name, status);
  }
  return status;
}

bool malformed_memory_is_bounded(void)
{
  struct rusage usage;
  assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
  print_message("at most %ld MiB of memory\n", usage.ru_maxrss / 1024);
  return usage.ru_maxrss <= 1024L * 1024;
}
