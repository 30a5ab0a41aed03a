/* malformed_test.c - no input makes the tool crash, hang, or report nonsense: every truncation of a
 * recorded snapshot, random damage, and every nasty snapshot of snapshot_cases.h, through the
 * tool's own entry. Built with the sanitizers as well, which is where it bites.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/malformed_support.h"
#include "tests/pickle_text.h"
#include "tests/recordings.h"
#include "tests/snapshot_cases.h"
#include "tests/snapshot_support.h"
#include "tools/snapshot_writer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_FLIPS = 4, GENERATED = 1, NAME_SIZE = 64, STATUSES = 3 };

static uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint8_t *recorded_bytes(const char *name, size_t *size)
{
  char path[SNAPSHOT_PATH_SIZE];
  return recorded_path(name, path) ? read_whole_file(path, size) : NULL;
}

/* A snapshot made here: several streams, no frames, so that every byte of it means something. */
static uint8_t *generated_bytes(size_t *size)
{
  const struct ashlar_recording_plan plan = ashlar_recording_plan(GENERATED);
  char path[SNAPSHOT_PATH_SIZE];
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  uint8_t *bytes;
  assert_true(ashlar_recording_make(&plan, &snapshot, NULL, &error));
  assert_true(make_temporary(path));
  assert_true(ashlar_snapshot_write_file(path, &snapshot, &error));
  ashlar_snapshot_free(&snapshot);
  bytes = read_whole_file(path, size);
  (void)unlink(path);
  assert_non_null(bytes);
  return bytes;
}

/* --- nasty snapshots --- */

static void refused(void **state)
{
  struct malformed_tool tool;
  (void)state;
  malformed_open(&tool);
  for (size_t i = 0; i < COUNT(REFUSED_CASES); i++) {
    const struct refused_case *row = &REFUSED_CASES[i];
    struct pickle_bytes pickle = pickle_assemble(row->pickle);
    malformed_write(&tool, pickle.bytes, pickle.size);
    if (malformed_audit(&tool, row->name, pickle.size, i % 2 == 0) != 2 ||
        strstr(tool.complained, row->message) == NULL) {
      fail_msg("%s: %s%s", row->name, tool.complained, tool.said);
    }
    pickle_bytes_free(&pickle);
  }
  print_message("%zu nasty snapshots refused\n", COUNT(REFUSED_CASES));
  malformed_close(&tool);
}

static void readable(void **state)
{
  struct malformed_tool tool;
  size_t statuses[STATUSES] = {0};
  (void)state;
  malformed_open(&tool);
  for (size_t i = 0; i < COUNT(ACCEPTED_CASES); i++) {
    const struct accepted_case *row = &ACCEPTED_CASES[i];
    struct pickle_bytes pickle = pickle_assemble(row->pickle);
    malformed_write(&tool, pickle.bytes, pickle.size);
    for (int is_json = 0; is_json < 2; is_json++) {
      const int status = malformed_audit(&tool, row->name, pickle.size, is_json != 0);
      if (status == 2) {
        fail_msg("%s: %s", row->name, tool.complained);
      }
      statuses[status]++;
    }
    pickle_bytes_free(&pickle);
  }
  print_message("%zu readable nasty snapshots: %zu clean, %zu with findings\n",
                COUNT(ACCEPTED_CASES), statuses[0] / 2, statuses[1] / 2);
  malformed_close(&tool);
}

/* --- truncations --- */

static void every_truncation_of(const char *name, const uint8_t *bytes, size_t size)
{
  struct malformed_tool tool;
  malformed_open(&tool);
  malformed_write(&tool, bytes, size);
  assert_int_equal(malformed_audit(&tool, name, size, true), 0);
  for (size_t length = size; length-- > 0;) {
    malformed_cut(&tool, length);
    if (malformed_audit(&tool, name, length, length % 2 == 0) != 2) {
      fail_msg("%s, the first %zu bytes: %s", name, length, tool.said);
    }
  }
  print_message("%zu truncations of %s refused\n", size, name);
  malformed_close(&tool);
}

static void truncations(void **state)
{
  size_t size = 0;
  uint8_t *bytes = recorded_bytes("tiny-fresh", &size);
  (void)state;
  if (bytes == NULL) {
    skip();
  }
  every_truncation_of("tiny-fresh", bytes, size);
  free(bytes);
}

static void truncations_of_a_generated_snapshot(void **state)
{
  size_t size = 0;
  uint8_t *bytes = generated_bytes(&size);
  (void)state;
  every_truncation_of("a generated snapshot", bytes, size);
  free(bytes);
}

/* --- random damage --- */

/* Changes one to MOST_FLIPS bytes of the file, audits it, and changes them back. */
static int audit_damaged(struct malformed_tool *tool, const char *name, const uint8_t *bytes,
                         size_t size, uint64_t *random)
{
  const size_t count = 1 + (size_t)(next_random(random) % MOST_FLIPS);
  size_t places[MOST_FLIPS];
  int status;
  for (size_t i = 0; i < count; i++) {
    const size_t place = (size_t)(next_random(random) % size);
    const uint8_t damaged = (uint8_t)(bytes[place] ^ (1 + next_random(random) % UINT8_MAX));
    places[i] = place;
    malformed_patch(tool, place, &damaged, 1);
  }
  status = malformed_audit(tool, name, size, next_random(random) % 2 == 0);
  for (size_t i = 0; i < count; i++) {
    malformed_patch(tool, places[i], &bytes[places[i]], 1);
  }
  return status;
}

static void random_damage_of(const char *name, const uint8_t *bytes, size_t size, size_t rounds)
{
  uint64_t random = UINT64_C(0x2545f4914f6cdd1d);
  size_t statuses[STATUSES] = {0};
  struct malformed_tool tool;
  malformed_open(&tool);
  malformed_write(&tool, bytes, size);
  for (size_t i = 0; i < rounds; i++) {
    char round[NAME_SIZE];
    (void)snprintf(round, sizeof round, "%s, damage %zu", name, i);
    statuses[audit_damaged(&tool, round, bytes, size, &random)]++;
  }
  print_message("%zu damaged copies of %s: %zu clean, %zu with findings, %zu refused\n", rounds,
                name, statuses[0], statuses[1], statuses[2]);
  assert_true(statuses[0] > 0 && statuses[1] > 0 && statuses[2] > 0);
  malformed_close(&tool);
}

static void random_damage_of_recorded(const char *name, size_t rounds)
{
  size_t size = 0;
  uint8_t *bytes = recorded_bytes(name, &size);
  if (bytes == NULL) {
    skip();
  }
  random_damage_of(name, bytes, size, rounds);
  free(bytes);
}

static void damage_to_a_fresh_recording(void **state)
{
  (void)state;
  random_damage_of_recorded("tiny-fresh", 70000);
}

static void damage_to_a_recording_from_the_middle(void **state)
{
  (void)state;
  random_damage_of_recorded("small-midstart", 30000);
}

static void damage_to_a_generated_snapshot(void **state)
{
  size_t size = 0;
  uint8_t *bytes = generated_bytes(&size);
  (void)state;
  random_damage_of("a generated snapshot", bytes, size, 20000);
  free(bytes);
}

static void memory(void **state)
{
  (void)state;
  assert_true(malformed_memory_is_bounded());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refused),
      cmocka_unit_test(readable),
      cmocka_unit_test(truncations),
      cmocka_unit_test(truncations_of_a_generated_snapshot),
      cmocka_unit_test(damage_to_a_fresh_recording),
      cmocka_unit_test(damage_to_a_recording_from_the_middle),
      cmocka_unit_test(damage_to_a_generated_snapshot),
      cmocka_unit_test(memory), /* of all of the above */
  };
  if (!limit_memory()) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
