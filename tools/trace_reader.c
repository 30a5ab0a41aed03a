/* trace_reader.c - reading the text of a trace.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/trace.h"
#include "tools/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading: fields and numbers ---------------------------------------------------------- */

enum { FIELDS_MAX = 5, QUOTED_MAX = 40, DECIMAL = 10, HEXADECIMAL = 16, HEXADECIMAL_DIGITS = 16 };

struct field {
  const char *text; /* printable bytes, not terminated */
  size_t length;    /* > 0 */
};

struct line {
  struct field fields[FIELDS_MAX];
  size_t count;
};

/* What a file states about itself, and where. line 0: it does not. */
struct statement {
  uint64_t value;
  uint64_t line;
};

struct reader {
  struct ashlar_trace *trace;
  struct ashlar_error *error;
  uint64_t line;
  struct statement stated[ASHLAR_TRACE_STATEMENTS];
};

/* Forms of the operations: the letter, how many fields with it, and the text for an error. */
static const struct form {
  char letter;
  uint8_t kind;
  size_t least;
  size_t most;
  const char *usage;
} FORMS[] = {
    {'a', ASHLAR_TRACE_ALLOCATE, 3, 5, "a ID SIZE [STREAM [DEVICE]]"},
    {'f', ASHLAR_TRACE_FREE, 2, 2, "f ID"},
    {'u', ASHLAR_TRACE_USE, 3, 3, "u ID STREAM"},
    {'e', ASHLAR_TRACE_EMPTY_CACHE, 1, 2, "e [DEVICE]"},
    {'s', ASHLAR_TRACE_MARKER, 2, 2, "s NAME"},
};

/* For "%.*s": a field is quoted in an error, cut where it is long. */
static int quoted(struct field field)
{
  return field.length < QUOTED_MAX ? (int)field.length : QUOTED_MAX;
}

static bool equals(struct field field, const char *word)
{
  return strlen(word) == field.length && memcmp(field.text, word, field.length) == 0;
}

/* Value of a hexadecimal digit; 16 for any other byte. */
static unsigned digit_value(char byte)
{
  if (byte >= '0' && byte <= '9') {
    return (unsigned)(byte - '0');
  }
  if (byte >= 'a' && byte <= 'f') {
    return (unsigned)(byte - 'a') + DECIMAL;
  }
  if (byte >= 'A' && byte <= 'F') {
    return (unsigned)(byte - 'A') + DECIMAL;
  }
  return HEXADECIMAL;
}

static bool read_decimal(struct reader *reader, struct field field, uint64_t *value)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < field.length; i++) {
    const unsigned digit = digit_value(field.text[i]);
    if (digit >= DECIMAL || (field.text[0] == '0' && field.length > 1)) {
      return ashlar_error_set(reader->error, reader->line,
                              "'%.*s' is no decimal number (digits only, no leading zero)",
                              quoted(field), field.text);
    }
    if (sum > (UINT64_MAX - digit) / DECIMAL) {
      return ashlar_error_set(reader->error, reader->line, "number '%.*s' is above 2^64 - 1",
                              quoted(field), field.text);
    }
    sum = sum * DECIMAL + digit;
  }
  *value = sum;
  return true;
}

static bool read_stream(struct reader *reader, struct field field, uint64_t *value)
{
  if (field.length < 2 || field.text[0] != '0' || field.text[1] != 'x') {
    return read_decimal(reader, field, value);
  }
  uint64_t sum = 0;
  bool good = field.length > 2 && field.length <= 2 + HEXADECIMAL_DIGITS;
  for (size_t i = 2; good && i < field.length; i++) {
    const unsigned digit = digit_value(field.text[i]);
    good = digit < HEXADECIMAL;
    sum = sum * HEXADECIMAL + digit;
  }
  if (!good) {
    return ashlar_error_set(reader->error, reader->line,
                            "'%.*s' is no stream handle (0x and 1 to 16 hexadecimal digits)",
                            quoted(field), field.text);
  }
  *value = sum;
  return true;
}

static bool read_device(struct reader *reader, struct field field, uint8_t *device)
{
  uint64_t value = 0;
  if (!read_decimal(reader, field, &value)) {
    return false;
  }
  if (value > ASHLAR_TRACE_DEVICE_MAX) {
    return ashlar_error_set(reader->error, reader->line, "device %" PRIu64 ": the greatest is %d",
                            value, ASHLAR_TRACE_DEVICE_MAX);
  }
  *device = (uint8_t)value;
  return true;
}

/* ---- reading: lines ------------------------------------------------------------------------- */

static bool forbidden_byte(struct reader *reader, char byte)
{
  return ashlar_error_set(reader->error, reader->line, "byte 0x%02x is not allowed here",
                          (unsigned)(unsigned char)byte);
}

/* Cuts a line into fields. More than FIELDS_MAX are extra for every operation. */
static bool split(struct reader *reader, const char *text, size_t length, struct line *line)
{
  line->count = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] != ' ' && !ashlar_trace_is_printable(text[i])) {
      return forbidden_byte(reader, text[i]);
    }
    const bool starts = i == 0 || text[i - 1] == ' ';
    if (text[i] == ' ' && (starts || i + 1 == length)) {
      return ashlar_error_set(reader->error, reader->line,
                              "stray space: fields are separated by exactly one");
    }
    if (text[i] == ' ') {
      continue;
    }
    if (starts && line->count == FIELDS_MAX) {
      return ashlar_error_set(reader->error, reader->line, "extra field: more than %d in a line",
                              FIELDS_MAX);
    }
    if (starts) {
      line->fields[line->count] = (struct field){text + i, 0};
      line->count++;
    }
    line->fields[line->count - 1].length++;
  }
  return true;
}

/* Takes over a refusal of the appending functions, which do not know the line. */
static bool at_line(struct reader *reader, bool appended)
{
  if (!appended && reader->error != NULL) {
    reader->error->position = reader->line;
  }
  return appended;
}

static bool read_operation(struct reader *reader, const struct form *form, const struct line *line)
{
  const struct field *fields = line->fields;
  if (line->count < form->least || line->count > form->most) {
    return ashlar_error_set(reader->error, reader->line, "%s field: the form is '%s'",
                            line->count < form->least ? "missing" : "extra", form->usage);
  }
  struct ashlar_trace_operation operation = {.kind = form->kind};
  bool good = true;
  switch (form->kind) {
  case ASHLAR_TRACE_MARKER:
    return at_line(reader, ashlar_trace_append_marker(reader->trace, fields[1].text,
                                                      fields[1].length, reader->error));
  case ASHLAR_TRACE_EMPTY_CACHE:
    operation.device = ASHLAR_TRACE_EVERY_DEVICE;
    good = line->count < 2 || read_device(reader, fields[1], &operation.device);
    break;
  case ASHLAR_TRACE_ALLOCATE:
    good = read_decimal(reader, fields[1], &operation.id) &&
           read_decimal(reader, fields[2], &operation.size) &&
           (line->count < 4 || read_stream(reader, fields[3], &operation.stream)) &&
           (line->count < FIELDS_MAX || read_device(reader, fields[4], &operation.device));
    break;
  case ASHLAR_TRACE_USE:
    good = read_decimal(reader, fields[1], &operation.id) &&
           read_stream(reader, fields[2], &operation.stream);
    break;
  default: /* FREE */
    good = read_decimal(reader, fields[1], &operation.id);
    break;
  }
  return good && at_line(reader, ashlar_trace_append(reader->trace, operation, reader->error));
}

static bool read_statement(struct reader *reader, size_t key, const struct line *line)
{
  struct statement *stated = &reader->stated[key];
  if (line->count != 2) {
    return ashlar_error_set(reader->error, reader->line, "%s field: the form is '%s N'",
                            line->count < 2 ? "missing" : "extra",
                            ASHLAR_TRACE_STATEMENT_KEYS[key]);
  }
  if (reader->trace->operation_count > 0) {
    return ashlar_error_set(reader->error, reader->line, "'%s' after the first operation",
                            ASHLAR_TRACE_STATEMENT_KEYS[key]);
  }
  if (stated->line != 0) {
    return ashlar_error_set(reader->error, reader->line, "'%s' is stated already, in line %" PRIu64,
                            ASHLAR_TRACE_STATEMENT_KEYS[key], stated->line);
  }
  if (!read_decimal(reader, line->fields[1], &stated->value)) {
    return false;
  }
  stated->line = reader->line;
  return true;
}

static bool read_comment(struct reader *reader, const char *text, size_t length)
{
  const size_t good = ashlar_trace_comment_end(text, length);
  if (good < length) {
    return forbidden_byte(reader, text[good]);
  }
  if (reader->trace->operation_count > 0) {
    return true;
  }
  return at_line(reader,
                 ashlar_trace_append_note(reader->trace, text + 1, length - 1, reader->error));
}

static bool read_version(struct reader *reader, const struct line *line)
{
  if (line->count == 0 || !equals(line->fields[0], "ashlar-trace")) {
    return ashlar_error_set(reader->error, reader->line,
                            "no trace: the first line must be 'ashlar-trace %d'",
                            ASHLAR_TRACE_VERSION);
  }
  if (line->count != 2 || !equals(line->fields[1], "1")) {
    return ashlar_error_set(reader->error, reader->line,
                            "this version of the format is not known: expected 'ashlar-trace %d'",
                            ASHLAR_TRACE_VERSION);
  }
  return true;
}

/* One line without its end. */
static bool read_line(struct reader *reader, const char *text, size_t length)
{
  if (length > ASHLAR_TRACE_LINE_MAX) {
    return ashlar_error_set(reader->error, reader->line, "a line of %zu bytes; the longest has %d",
                            length, ASHLAR_TRACE_LINE_MAX);
  }
  if (reader->line > 1 && length > 0 && text[0] == '#') {
    return read_comment(reader, text, length);
  }
  struct line line;
  if (!split(reader, text, length, &line)) {
    return false;
  }
  if (reader->line == 1) {
    return read_version(reader, &line);
  }
  if (line.count == 0) {
    return true;
  }
  for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
    if (line.fields[0].length == 1 && line.fields[0].text[0] == FORMS[i].letter) {
      return read_operation(reader, &FORMS[i], &line);
    }
  }
  for (size_t i = 0; i < ASHLAR_TRACE_STATEMENTS; i++) {
    if (equals(line.fields[0], ASHLAR_TRACE_STATEMENT_KEYS[i])) {
      return read_statement(reader, i, &line);
    }
  }
  return ashlar_error_set(reader->error, reader->line, "'%.*s' is no operation or statement",
                          quoted(line.fields[0]), line.fields[0].text);
}

static bool check_statements(const struct reader *reader)
{
  const uint64_t found[ASHLAR_TRACE_STATEMENTS] = {
      reader->trace->allocation_count, reader->trace->free_count, reader->trace->peak_bytes};
  for (size_t i = 0; i < ASHLAR_TRACE_STATEMENTS; i++) {
    if (reader->stated[i].line != 0 && reader->stated[i].value != found[i]) {
      return ashlar_error_set(reader->error, reader->stated[i].line,
                              "'%s %" PRIu64 "' is stated, but there are %" PRIu64,
                              ASHLAR_TRACE_STATEMENT_KEYS[i], reader->stated[i].value, found[i]);
    }
  }
  return true;
}

bool ashlar_trace_read_memory(const char *text, size_t length, struct ashlar_trace *out,
                              struct ashlar_error *error)
{
  *out = (struct ashlar_trace){0};
  if (length > ASHLAR_TRACE_BYTES_MAX) {
    return ashlar_trace_too_large(error);
  }
  static const char mark[] = {'\xef', '\xbb', '\xbf'};
  if (length >= sizeof mark && memcmp(text, mark, sizeof mark) == 0) {
    return ashlar_error_set(error, 1, "byte order mark before the first line");
  }
  struct reader reader = {.trace = out, .error = error};
  bool good = true;
  size_t start = 0;
  /* An empty text has one line, so that it is refused for its missing version. */
  do {
    reader.line++;
    const char *newline = length == start ? NULL : memchr(text + start, '\n', length - start);
    const size_t end = newline == NULL ? length : (size_t)(newline - text);
    const bool has_return = end > start && text[end - 1] == '\r';
    good = read_line(&reader, text + start, end - start - (has_return ? 1 : 0));
    start = end + 1;
  } while (good && start < length);
  if (!good || !check_statements(&reader)) {
    ashlar_trace_free(out);
    return false;
  }
  return true;
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* All bytes of a stream, up to one more than a trace may have. */
static bool read_all(FILE *file, char **text, size_t *length, struct ashlar_error *error)
{
  size_t room = 0;
  size_t used = 0;
  while (used <= ASHLAR_TRACE_BYTES_MAX) {
    char *moved = ashlar_trace_room(*text, &room, used + BUFSIZ, 1);
    if (moved == NULL) {
      return ashlar_trace_no_memory(error);
    }
    *text = moved;
    const size_t more = fread(*text + used, 1, room - used, file);
    used += more;
    if (more == 0) {
      break;
    }
  }
  *length = used;
  if (ferror(file) != 0) {
    return ashlar_error_set(error, 0, "cannot be read: %s", strerror(errno));
  }
  return true;
}

bool ashlar_trace_read_file(const char *path, struct ashlar_trace *out, struct ashlar_error *error)
{
  *out = (struct ashlar_trace){0};
  const bool is_input = strcmp(path, "-") == 0;
  FILE *file = is_input ? stdin : fopen(path, "rb");
  if (file == NULL) {
    return ashlar_error_set(error, 0, "cannot be opened: %s", strerror(errno));
  }
  char *text = NULL;
  size_t length = 0;
  const bool good =
      read_all(file, &text, &length, error) && ashlar_trace_read_memory(text, length, out, error);
  free(text);
  if (!is_input) {
    (void)fclose(file); /* opened for reading: nothing can be lost */
  }
  return good;
}
