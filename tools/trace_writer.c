/* trace_writer.c - writing the text of a trace.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/trace.h"
#include "tools/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
  char *text;
  size_t length;
  size_t room;
};

/* Room for one more line, and where it starts; NULL: no memory. */
static char *next_line(struct writer *writer)
{
  char *text =
      ashlar_trace_room(writer->text, &writer->room, writer->length + ASHLAR_TRACE_LINE_MAX + 2, 1);
  if (text == NULL) {
    return NULL;
  }
  writer->text = text;
  return text + writer->length;
}

/* Ends the line that snprintf made; it returned `made`. */
static void end_line(struct writer *writer, int made)
{
  writer->length += (size_t)made;
  writer->text[writer->length] = '\n';
  writer->length++;
}

static bool write_head(struct writer *writer, const struct ashlar_trace *trace)
{
  char *text_at = next_line(writer);
  if (text_at == NULL) {
    return false;
  }
  end_line(writer,
           snprintf(text_at, ASHLAR_TRACE_LINE_MAX, "ashlar-trace %d", ASHLAR_TRACE_VERSION));
  size_t start = 0;
  while (start < trace->notes_length) {
    const char *note = trace->notes + start;
    const char *end = memchr(note, '\n', trace->notes_length - start);
    const size_t length = (size_t)(end - note);
    text_at = next_line(writer);
    if (text_at == NULL) {
      return false;
    }
    text_at[0] = '#';
    memcpy(text_at + 1, note, length);
    end_line(writer, (int)length + 1);
    start += length + 1;
  }
  const uint64_t values[ASHLAR_TRACE_STATEMENTS] = {trace->allocation_count, trace->free_count,
                                                    trace->peak_bytes};
  for (size_t i = 0; i < ASHLAR_TRACE_STATEMENTS; i++) {
    text_at = next_line(writer);
    if (text_at == NULL) {
      return false;
    }
    end_line(writer, snprintf(text_at, ASHLAR_TRACE_LINE_MAX, "%s %" PRIu64,
                              ASHLAR_TRACE_STATEMENT_KEYS[i], values[i]));
  }
  return true;
}

enum {
  STREAM_TEXT = 24,
  FIRST_HEXADECIMAL = 65536
}; /* bytes: "0x", 16 digits, terminator, and some to spare */

/* Small streams are numbers that people chose, large ones are addresses. */
static void format_stream(char text[STREAM_TEXT], uint64_t stream)
{
  (void)snprintf(text, STREAM_TEXT, stream < FIRST_HEXADECIMAL ? "%" PRIu64 : "0x%" PRIx64, stream);
}

static bool write_operation(struct writer *writer, const struct ashlar_trace *trace,
                            const struct ashlar_trace_operation *operation)
{
  char *text_at = next_line(writer);
  if (text_at == NULL) {
    return false;
  }
  const size_t room = ASHLAR_TRACE_LINE_MAX;
  char stream[STREAM_TEXT];
  format_stream(stream, operation->stream);
  int made = 0;
  switch (operation->kind) {
  case ASHLAR_TRACE_ALLOCATE:
    made = snprintf(text_at, room, "a %" PRIu64 " %" PRIu64, operation->id, operation->size);
    if (operation->stream != 0 || operation->device != 0) {
      made += snprintf(text_at + made, room - (size_t)made, " %s", stream);
    }
    if (operation->device != 0) {
      made += snprintf(text_at + made, room - (size_t)made, " %u", (unsigned)operation->device);
    }
    break;
  case ASHLAR_TRACE_FREE:
    made = snprintf(text_at, room, "f %" PRIu64, operation->id);
    break;
  case ASHLAR_TRACE_USE:
    made = snprintf(text_at, room, "u %" PRIu64 " %s", operation->id, stream);
    break;
  case ASHLAR_TRACE_EMPTY_CACHE:
    made = operation->device == ASHLAR_TRACE_EVERY_DEVICE
               ? snprintf(text_at, room, "e")
               : snprintf(text_at, room, "e %u", (unsigned)operation->device);
    break;
  default: /* MARKER: nothing else can have been appended */
    made = snprintf(text_at, room, "s %s", trace->names[operation->number].text);
    break;
  }
  end_line(writer, made);
  return true;
}

bool ashlar_trace_write_memory(const struct ashlar_trace *trace, char **text, size_t *length,
                               struct ashlar_error *error)
{
  struct writer writer = {0};
  bool good = write_head(&writer, trace);
  for (size_t i = 0; good && i < trace->operation_count; i++) {
    good = write_operation(&writer, trace, &trace->operations[i]);
    if (writer.length > ASHLAR_TRACE_BYTES_MAX) {
      free(writer.text);
      return ashlar_trace_too_large(error);
    }
  }
  if (!good) {
    free(writer.text);
    return ashlar_trace_no_memory(error);
  }
  *text = writer.text;
  *length = writer.length;
  return true;
}

bool ashlar_trace_write_file(const char *path, const struct ashlar_trace *trace,
                             struct ashlar_error *error)
{
  char *text = NULL;
  size_t length = 0;
  if (!ashlar_trace_write_memory(trace, &text, &length, error)) {
    return false;
  }
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    free(text);
    return ashlar_error_set(error, 0, "cannot be created: %s", strerror(errno));
  }
  bool good = fwrite(text, 1, length, file) == length;
  int reason = errno;
  free(text);
  /* A full disk may be noticed only when the last bytes are flushed. */
  if (fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  return good || ashlar_error_set(error, 0, "cannot be written: %s", strerror(reason));
}
