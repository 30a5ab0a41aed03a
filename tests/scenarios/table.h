/* table.h - the table of rows, as text: see rows.txt for its form.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_TABLE_H
#define ASHLAR_TESTS_SCENARIOS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { TABLE_ROWS = 160, TABLE_PLAYS = 320, TABLE_FAULT = 256 };

/* Why a row, or a part of it, is not played. */
enum table_reason { TABLE_PART_D = 0, TABLE_LATER, TABLE_TOOL, TABLE_DIFFERS, TABLE_REASONS };

struct table_play {
  const char *title;
  const char *script;
  bool policy[2]; /* whether it is played in each; subject.h */
  bool order[2];
};

struct table_row {
  const char *number; /* as in the collection: `13`, `3.1` */
  const char *title;
  const char *reason[TABLE_REASONS]; /* NULL: none */
  size_t first_play;
  size_t play_count;
};

struct table {
  char *text; /* what all the others point into */
  struct table_row row[TABLE_ROWS];
  size_t row_count;
  struct table_play play[TABLE_PLAYS];
  size_t play_count;
  char fault[TABLE_FAULT]; /* empty: none */
};

/* Reads a file; false, and `fault` says where and why, where it is no table. table_free is due either way. */
bool table_read(struct table *table, const char *path);

/* The same of a text that has been read; it is changed. */
bool table_parse(struct table *table, char *text);

void table_free(struct table *table);

/* What a reason is called in the table. */
const char *table_reason_name(enum table_reason reason);

#endif
