/* table.c - see table.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scenarios/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20 };

static const char *const REASONS[TABLE_REASONS] = {"part D", "later", "tool", "differs"};

const char *table_reason_name(enum table_reason reason)
{
  return REASONS[reason];
}

static bool fault(struct table *table, size_t line, const char *why)
{
  (void)snprintf(table->fault, sizeof table->fault, "line %zu: %s", line, why);
  return false;
}

static bool starts_with(const char *text, const char *start)
{
  return strncmp(text, start, strlen(start)) == 0;
}

/* `play [complete|faithful] [address|segment]`, cut out of its line. */
static bool take_filters(struct table_play *play, const char *words)
{
  static const char *const POLICIES[] = {" complete", " faithful"};
  static const char *const ORDERS[] = {" address", " segment"};
  bool some[2] = {false, false};
  const char *rest = words;
  for (size_t i = 0; i < 2; i++) {
    if (starts_with(rest, POLICIES[i])) {
      play->policy[1 - i] = false;
      some[0] = true;
      rest += strlen(POLICIES[i]);
      break;
    }
  }
  for (size_t i = 0; i < 2; i++) {
    if (starts_with(rest, ORDERS[i])) {
      play->order[1 - i] = false;
      some[1] = true;
      rest += strlen(ORDERS[i]);
      break;
    }
  }
  return *rest == '\0' && (some[0] || some[1] || rest == words);
}

static bool take_row(struct table *table, char *line, size_t number)
{
  char *colon = strstr(line, ": ");
  if (colon == NULL || colon[2] == '\0' || table->row_count == TABLE_ROWS) {
    return fault(table, number, "a row without title, or one too many");
  }
  *colon = '\0';
  table->row[table->row_count] = (struct table_row){
      .number = line + strlen("row "), .title = colon + 2, .first_play = table->play_count};
  table->row_count++;
  return true;
}

static bool take_play(struct table *table, char *line, size_t number)
{
  struct table_row *row = &table->row[table->row_count - 1];
  char *colon = strstr(line, ": ");
  if (colon == NULL || table->play_count == TABLE_PLAYS) {
    return fault(table, number, "a play without title, or one too many");
  }
  *colon = '\0';
  struct table_play *play = &table->play[table->play_count];
  *play = (struct table_play){
      .title = colon + 2, .script = "", .policy = {true, true}, .order = {true, true}};
  if (!take_filters(play, line + strlen("  play"))) {
    return fault(table, number, "neither policy nor order");
  }
  table->play_count++;
  row->play_count++;
  return true;
}

static bool take_reason(struct table *table, char *line, size_t number)
{
  struct table_row *row = &table->row[table->row_count - 1];
  char *colon = strstr(line, ": ");
  if (colon != NULL) {
    *colon = '\0';
    for (size_t i = 0; i < TABLE_REASONS; i++) {
      if (strcmp(line + 2, REASONS[i]) == 0 && row->reason[i] == NULL) {
        row->reason[i] = colon + 2;
        return true;
      }
    }
  }
  return fault(table, number, "no such line, or a second one");
}

/* A line that goes on with the one before: of a script, or of a reason, whose text stays one with it. */
static bool take_more(struct table *table, char *line, const char **last, size_t number)
{
  struct table_play *play = table->play_count == 0 ? NULL : &table->play[table->play_count - 1];
  if (*last == NULL) {
    return fault(table, number, "nothing goes on here");
  }
  if (play != NULL && *last == play->title && play->script[0] == '\0') {
    play->script = line;
    *last = line;
  } else {
    line[-1] = '\n';
  }
  return true;
}

static bool take_line(struct table *table, char *line, const char **last, size_t number)
{
  const size_t indent = strspn(line, " ");
  if (line[indent] == '\0') {
    *last = NULL;
    return true;
  }
  if (line[indent] == '#') {
    *last = NULL;
    return true;
  }
  if (indent == 0) {
    *last = NULL;
    return starts_with(line, "row ") ? take_row(table, line, number)
                                     : fault(table, number, "no row");
  }
  if (indent == 4) {
    return take_more(table, line, last, number);
  }
  if (indent != 2 || table->row_count == 0) {
    return fault(table, number, "an indent that means nothing");
  }
  if (starts_with(line, "  play")) {
    const bool taken = take_play(table, line, number);
    *last = taken ? table->play[table->play_count - 1].title : NULL;
    return taken;
  }
  *last = line;
  return take_reason(table, line, number);
}

/* Every row is played or has a reason, and every play has a script. */
static bool check_whole(struct table *table)
{
  for (size_t i = 0; i < table->row_count; i++) {
    const struct table_row *row = &table->row[i];
    bool told = row->play_count > 0;
    for (size_t k = 0; k < TABLE_REASONS; k++) {
      told = told || (k != TABLE_DIFFERS && row->reason[k] != NULL);
    }
    if (!told) {
      (void)snprintf(table->fault, sizeof table->fault, "row %s: neither played nor listed",
                     row->number);
      return false;
    }
  }
  for (size_t i = 0; i < table->play_count; i++) {
    if (table->play[i].script[0] == '\0') {
      (void)snprintf(table->fault, sizeof table->fault, "play %s: no script", table->play[i].title);
      return false;
    }
  }
  return true;
}

bool table_parse(struct table *table, char *text)
{
  const char *last = NULL;
  size_t number = 1;
  for (char *line = text; line != NULL; number++) {
    char *end = strchr(line, '\n');
    if (end != NULL) {
      *end = '\0';
    }
    if (!take_line(table, line, &last, number)) {
      return false;
    }
    line = end == NULL ? NULL : end + 1;
  }
  return check_whole(table);
}

bool table_read(struct table *table, const char *path)
{
  *table = (struct table){.text = calloc(1, MOST_TEXT)};
  FILE *file = table->text == NULL ? NULL : fopen(path, "re");
  const size_t length = file == NULL ? 0 : fread(table->text, 1, MOST_TEXT, file);
  if (file != NULL) {
    (void)fclose(file);
  }
  if (length == 0 || length == MOST_TEXT || strlen(table->text) != length) {
    (void)snprintf(table->fault, sizeof table->fault, "%s: no text, or too long a one", path);
    return false;
  }
  return table_parse(table, table->text);
}

void table_free(struct table *table)
{
  free(table->text);
  table->text = NULL;
}
