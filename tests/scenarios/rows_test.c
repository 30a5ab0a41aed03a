/* rows_test.c - plays every row of the table on every subject, in the policies and orders that it is for, and sees that
 * no number of the collection is missing. Subjects must give the same places, by the same steps.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/scenarios/player.h"
#include "tests/scenarios/table.h"

#define PATH "tests/scenarios/rows.txt"

/* The collection, each row once. */
static const char *const NUMBERS[] = {
    "1",  "2",  "3",  "5",  "6",  "7",  "8",   "9",   "11",  "13",  "14",  "15",  "17",  "18",
    "19", "20", "21", "22", "24", "25", "27",  "28",  "30",  "31",  "32",  "34",  "35",  "36",
    "37", "39", "40", "41", "42", "43", "44",  "46",  "47",  "48",  "49",  "51",  "52",  "54",
    "55", "56", "57", "59", "60", "61", "63",  "64",  "65",  "67",  "68",  "69",  "71",  "72",
    "73", "75", "76", "77", "78", "80", "81",  "82",  "84",  "85",  "86",  "88",  "89",  "90",
    "91", "93", "94", "95", "97", "99", "100", "101", "102", "104", "105", "3.1", "3.2", "3.3"};
enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };

static const struct subject *const SUBJECTS[] = {&subject_model, &subject_core};
enum { SUBJECT_COUNT_PLAYED = sizeof SUBJECTS / sizeof SUBJECTS[0] };

static struct table table;
static struct player_result *result[2]; /* of the subject at hand, and of the first one */

static void is_complete(void **state)
{
  (void)state;
  for (size_t i = 0; i < NUMBER_COUNT; i++) {
    size_t count = 0;
    for (size_t k = 0; k < table.row_count; k++) {
      count += strcmp(table.row[k].number, NUMBERS[i]) == 0 ? 1 : 0;
    }
    if (count != 1) {
      fail_msg("row %s is there %zu times", NUMBERS[i], count);
    }
  }
  assert_int_equal(table.row_count, NUMBER_COUNT);
}

/* The line of two logs that differs first. */
static const char *first_difference(const char *log, const char *other)
{
  const char *line = log;
  for (size_t i = 0; log[i] != '\0' && log[i] == other[i]; i++) {
    line = log[i] == '\n' ? log + i + 1 : line;
  }
  return line;
}

/* One play in one policy and order, on all subjects. */
static void play_on_all(const struct table_play *play, uint32_t policy, uint32_t order)
{
  for (size_t i = 0; i < SUBJECT_COUNT_PLAYED; i++) {
    struct player_result *this = result[i == 0 ? 0 : 1];
    player_play(SUBJECTS[i], policy, order, play->script, this);
    if (!this->holds) {
      fail_msg("%s, %s, %s, %s: %s", play->title, SUBJECTS[i]->name,
               policy == SUBJECT_COMPLETE ? "complete" : "faithful",
               order == SUBJECT_ADDRESS ? "address" : "segment", this->fault);
    }
    if (strcmp(this->log, result[0]->log) != 0) {
      fail_msg("%s: %s differs from %s: %s", play->title, SUBJECTS[i]->name, SUBJECTS[0]->name,
               first_difference(this->log, result[0]->log));
    }
  }
}

static void play_row(void **state)
{
  const struct table_row *row = *state;
  uint64_t calls = 0;
  uint64_t claims = 0;
  for (size_t i = row->first_play; i < row->first_play + row->play_count; i++) {
    for (uint32_t variant = 0; variant < 4; variant++) {
      if (table.play[i].policy[variant / 2] && table.play[i].order[variant % 2]) {
        play_on_all(&table.play[i], variant / 2, variant % 2);
        calls += result[0]->calls;
        claims += result[0]->claims;
        assert_true(result[0]->calls > 0 || strstr(table.play[i].script, "start!") != NULL);
      }
    }
  }
  print_message("row %s: %zu plays, %d calls, %d claims\n", row->number, row->play_count,
                (int)calls, (int)claims);
}

/* The account: how many rows are played, and why others, or parts of rows, are not. */
static void account(void)
{
  size_t played = 0;
  size_t whole = 0;
  for (size_t i = 0; i < table.row_count; i++) {
    const struct table_row *row = &table.row[i];
    bool open = false;
    for (int reason = 0; reason < TABLE_DIFFERS; reason++) {
      open = open || row->reason[reason] != NULL;
    }
    played += row->play_count > 0 ? 1 : 0;
    whole += row->play_count > 0 && !open ? 1 : 0;
    for (int reason = 0; reason < TABLE_REASONS; reason++) {
      if (row->reason[reason] != NULL) {
        print_message("row %s, %s: %s\n", row->number, table_reason_name((enum table_reason)reason),
                      row->reason[reason]);
      }
    }
  }
  print_message("%zu rows: %zu played, %zu of them wholly; %zu listed only\n", table.row_count,
                played, whole, table.row_count - played);
}

int main(void)
{
  static char name[TABLE_ROWS][128];
  static struct CMUnitTest tests[TABLE_ROWS + 1];
  size_t count = 1;
  if (!table_read(&table, PATH)) {
    print_error("%s: %s\n", PATH, table.fault);
    table_free(&table);
    return 1;
  }
  result[0] = malloc(sizeof *result[0]);
  result[1] = malloc(sizeof *result[1]);
  tests[0] = (struct CMUnitTest)cmocka_unit_test(is_complete);
  for (size_t i = 0; i < table.row_count; i++) {
    if (table.row[i].play_count > 0) {
      (void)snprintf(name[i], sizeof name[i], "row %s: %s", table.row[i].number,
                     table.row[i].title);
      tests[count].name = name[i];
      tests[count].test_func = play_row;
      tests[count].initial_state = &table.row[i];
      count++;
    }
  }
  const int failed = result[0] == NULL || result[1] == NULL
                         ? 1
                         : _cmocka_run_group_tests("rows", tests, count, NULL, NULL);
  account();
  free(result[0]);
  free(result[1]);
  table_free(&table);
  return failed;
}
