/* malformed_test.c - no input makes the tool crash, hang or report nonsense: every truncation of a
 * recorded snapshot, random damage, and every nasty snapshot of snapshot_cases.h, through the
 * tool's own entry. Built with the sanitizers as well, which is where it bites.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/pickle_text.h"
#include "tests/snapshot_cases.h"
#include "tests/snapshot_support.h"
#include "tools/command.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { FLIPS = 100000, MOST_FLIPS = 4, PATH_SIZE = 64 };

/* One file in memory that the tool reads again and again, and what it said of it. */
struct subject {
  int file;
  char path[PATH_SIZE];
  FILE *out;
  char *said; /* of the last run */
};

static struct subject open_subject(void)
{
  struct subject subject;
  memset(&subject, 0, sizeof subject);
  subject.file = memfd_create("malformed", 0);
  assert_true(subject.file >= 0);
  (void)snprintf(subject.path, sizeof subject.path, "/proc/self/fd/%d", subject.file);
  subject.out = fopen("/dev/null", "w");
  assert_non_null(subject.out);
  return subject;
}

static void close_subject(struct subject *subject)
{
  (void)fclose(subject->out);
  free(subject->said);
  (void)close(subject->file);
}

/* Audits the bytes; the status is 0 or 1, or 2 with a reason. */
static int audit_bytes(struct subject *subject, const uint8_t *bytes, size_t size)
{
  char program[] = "ashlar";
  char command[] = "audit";
  char json[] = "--json";
  char *arguments[] = {program, command, json, subject->path, NULL};
  size_t said_size = 0;
  FILE *err;
  int status;
  free(subject->said);
  subject->said = NULL;
  err = open_memstream(&subject->said, &said_size);
  assert_non_null(err);
  assert_int_equal(ftruncate(subject->file, 0), 0);
  assert_int_equal(pwrite(subject->file, bytes, size, 0), (ssize_t)size);
  status = ashlar_main(COUNT(arguments) - 1, arguments, subject->out, err);
  (void)fclose(err);
  assert_in_range(status, 0, 2);
  if (status == 2) {
    assert_true(said_size > 0);
  }
  return status;
}

static uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint8_t *recorded_bytes(size_t *size)
{
  char path[SNAPSHOT_PATH_SIZE];
  return recorded_path("tiny-fresh", path) ? read_whole_file(path, size) : NULL;
}

static void test_truncations(void **state)
{
  size_t size = 0;
  uint8_t *bytes = recorded_bytes(&size);
  struct subject subject;
  size_t length;
  (void)state;
  if (bytes == NULL) {
    return;
  }
  subject = open_subject();
  for (length = 0; length < size; length++) {
    assert_int_equal(audit_bytes(&subject, bytes, length), 2);
  }
  assert_int_equal(audit_bytes(&subject, bytes, size), 0);
  print_message("%zu truncations refused\n", size);
  close_subject(&subject);
  free(bytes);
}

static void test_flips(void **state)
{
  size_t size = 0;
  uint8_t *bytes = recorded_bytes(&size);
  uint8_t *damaged;
  uint64_t seed = UINT64_C(0x2545F4914F6CDD1D);
  size_t statuses[3] = {0, 0, 0};
  struct subject subject;
  int round;
  (void)state;
  if (bytes == NULL) {
    return;
  }
  damaged = malloc(size);
  assert_non_null(damaged);
  subject = open_subject();
  for (round = 0; round < FLIPS; round++) {
    uint64_t left = 1 + next_random(&seed) % MOST_FLIPS;
    memcpy(damaged, bytes, size);
    while (left > 0) {
      damaged[next_random(&seed) % size] ^= (uint8_t)(1 + next_random(&seed) % UINT8_MAX);
      left--;
    }
    statuses[audit_bytes(&subject, damaged, size)]++;
  }
  print_message("%d damaged files: %zu clean, %zu with findings, %zu refused\n", FLIPS, statuses[0],
                statuses[1], statuses[2]);
  assert_true(statuses[1] > 0 && statuses[2] > 0);
  close_subject(&subject);
  free(damaged);
  free(bytes);
}

static void test_nasty(void **state)
{
  struct subject subject = open_subject();
  size_t row;
  (void)state;
  for (row = 0; row < COUNT(REFUSED_CASES); row++) {
    struct pickle_bytes pickle = pickle_assemble(REFUSED_CASES[row].pickle);
    int status = audit_bytes(&subject, pickle.bytes, pickle.size);
    if (status != 2 || strstr(subject.said, REFUSED_CASES[row].message) == NULL) {
      fail_msg("%s: status %d, said: %s", REFUSED_CASES[row].name, status, subject.said);
    }
    pickle_bytes_free(&pickle);
  }
  for (row = 0; row < COUNT(ACCEPTED_CASES); row++) {
    struct pickle_bytes pickle = pickle_assemble(ACCEPTED_CASES[row].pickle);
    (void)audit_bytes(&subject, pickle.bytes, pickle.size);
    pickle_bytes_free(&pickle);
  }
  print_message("%zu refused and %zu readable nasty snapshots\n", COUNT(REFUSED_CASES),
                COUNT(ACCEPTED_CASES));
  close_subject(&subject);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nasty),
      cmocka_unit_test(test_truncations),
      cmocka_unit_test(test_flips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
