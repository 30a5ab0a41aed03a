/* lockstep_table.c - see lockstep.h. Which cells can be reached is written in lockstep_cells.h; at the end is told how many
 * of them were, and which were reached that are not written there.
 *
 * Environment: ASHLAR_FUZZ_TABLE=FILE adds, at the end of the process, what was seen to the table in the file.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/lockstep.h"
#include "fuzz/lockstep_cells.h"

enum { LINE = 256, MANY = 200, CELLS = 4096 };

/* By operation, outcome and rung + 1: the number of the cell + 1, 0 where it cannot be reached. */
static uint16_t cell_of[OPERATIONS][OUTCOMES][MODEL_RUNGS + 1];
static int32_t cells;
static bool is_started;

static uint64_t count[CELLS];
static bool is_missing[OPERATIONS][OUTCOMES][MODEL_RUNGS + 1]; /* reached, and no cell */
static uint64_t many_live;

/* A fuzzer that finds a new cell keeps the input. */
#if defined(__clang__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t seen[CELLS];

/* --- names --- */

static const char *outcome_name(int32_t outcome)
{
  return outcome < (int32_t)OUTCOME_STEP ? STATUS_NAMES[outcome]
                                         : OUTCOME_NAMES[outcome - (int32_t)OUTCOME_STEP];
}

static const char *rung_name(int32_t rung)
{
  return rung == -1 ? "none" : RUNG_NAMES[rung];
}

/* The cell that a line of a table names, -1: none. */
static int32_t find_cell(const char *operation, const char *outcome, const char *rung)
{
  for (int32_t a = 0; a < OPERATIONS; a++) {
    for (int32_t b = 0; b < OUTCOMES && strcmp(OPERATION_NAMES[a], operation) == 0; b++) {
      for (int32_t c = 0; c <= MODEL_RUNGS && strcmp(outcome_name(b), outcome) == 0; c++) {
        if (strcmp(rung_name(c - 1), rung) == 0) {
          return (int32_t)cell_of[a][b][c] - 1;
        }
      }
    }
  }
  return -1;
}

/* --- the table in a file --- */

/* Adds what an earlier process has seen. */
static void read_table(FILE *file, uint64_t all[CELLS])
{
  char line[LINE];
  while (fgets(line, sizeof line, file) != NULL) {
    char operation[LINE];
    char outcome[LINE];
    char rung[LINE];
    int behind = 0;
    if (sscanf(line, "%255s %255s %255s%n", operation, outcome, rung, &behind) == 3) {
      const int32_t cell = find_cell(operation, outcome, rung);
      if (cell != -1) {
        all[cell] += strtoull(line + behind, NULL, 10);
      }
    }
  }
}

static void write_table(FILE *file, const uint64_t all[CELLS])
{
  for (int32_t a = 0; a < OPERATIONS; a++) {
    for (int32_t b = 0; b < OUTCOMES; b++) {
      for (int32_t c = 0; c <= MODEL_RUNGS; c++) {
        if (cell_of[a][b][c] != 0) {
          (void)fprintf(file, "%-22s %-18s %-16s %" PRIu64 "\n", OPERATION_NAMES[a],
                        outcome_name(b), rung_name(c - 1), all[cell_of[a][b][c] - 1]);
        }
      }
    }
  }
}

/* A new file takes the place of the old one, so that a process that is ended leaves one of the two. */
static void update_table(const char *path, uint64_t all[CELLS])
{
  char new_path[4 * LINE];
  FILE *old = fopen(path, "r");
  if (old != NULL) {
    read_table(old, all);
    (void)fclose(old);
  }
  const int length = snprintf(new_path, sizeof new_path, "%s.new", path);
  FILE *file = length < (int)sizeof new_path ? fopen(new_path, "w") : NULL;
  if (file == NULL) {
    (void)fprintf(stderr, "fuzz: %s cannot be written: %s\n", path, strerror(errno));
    return;
  }
  write_table(file, all);
  if (fclose(file) != 0 || rename(new_path, path) != 0) {
    (void)fprintf(stderr, "fuzz: %s cannot be written: %s\n", path, strerror(errno));
  }
}

static void finish(void)
{
  static uint64_t all[CELLS];
  const char *path = getenv("ASHLAR_FUZZ_TABLE");
  int32_t reached = 0;
  memcpy(all, count, sizeof all);
  if (path != NULL) {
    update_table(path, all);
  }
  for (int32_t i = 0; i < cells; i++) {
    reached += all[i] > 0 ? 1 : 0;
  }
  for (int32_t a = 0; a < OPERATIONS; a++) {
    for (int32_t b = 0; b < OUTCOMES; b++) {
      for (int32_t c = 0; c <= MODEL_RUNGS; c++) {
        if (is_missing[a][b][c]) {
          (void)fprintf(stderr, "fuzz: no cell of the table: %s %s %s\n", OPERATION_NAMES[a],
                        outcome_name(b), rung_name(c - 1));
        }
      }
    }
  }
  (void)fprintf(stderr,
                "fuzz: %" PRId32 " of %" PRId32 " cells reached, %" PRIu64
                " operations with more than %d live blocks\n",
                reached, cells, many_live, (int)MANY);
}

/* --- counting --- */

static void start(void)
{
  is_started = true;
  for (int32_t row = 0; row < LOCKSTEP_ROW_COUNT; row++) {
    for (int32_t rung = 0; rung <= MODEL_RUNGS; rung++) {
      if ((LOCKSTEP_ROWS[row].rungs >> rung & 1) != 0) {
        cells++;
        FUZZ_CHECK(cells < CELLS, "there are too many cells");
        cell_of[LOCKSTEP_ROWS[row].operation][LOCKSTEP_ROWS[row].outcome][rung] = (uint16_t)cells;
      }
    }
  }
  if (atexit(finish) != 0) {
    (void)fputs("fuzz: the table will not be told\n", stderr);
  }
}

void lockstep_count(enum lockstep_operation operation, int32_t outcome, int32_t rung)
{
  if (!is_started) {
    start();
  }
  const int32_t cell = (int32_t)cell_of[operation][outcome][rung + 1] - 1;
  if (cell == -1) {
    is_missing[operation][outcome][rung + 1] = true;
    return;
  }
  fuzz_is_new = fuzz_is_new || count[cell] == 0;
  count[cell]++;
  seen[cell] = 1;
}

void lockstep_count_beside(const struct lockstep *run, enum lockstep_operation operation,
                           int32_t outcome)
{
  if (run->flights == 0) {
    lockstep_count(operation, outcome, -1);
  }
  for (int32_t i = 0; i < run->flights; i++) {
    lockstep_count(operation, outcome, run->model->request[run->flight[i].step.request].rung);
  }
}

void lockstep_count_live(const struct lockstep *run)
{
  many_live += run->live_count > MANY ? 1 : 0;
}
