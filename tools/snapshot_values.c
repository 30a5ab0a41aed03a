/* The snapshot reader: single values and messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/snapshot_reading.h"
#include "tools/utf8.h"

enum { PLACE_TEXT = 80, VALUE_TEXT = 48 };

/* Names the thing of this role that is being read. */
static void describe_place(const struct ashlar_snapshot_reading *reading, unsigned role,
                           char text[PLACE_TEXT])
{
  const struct ashlar_snapshot *snapshot = reading->snapshot;
  /* The segment being read has its place already; a block and an event get theirs when complete. */
  const uint64_t segment = snapshot->segment_count > 0 ? snapshot->segment_count - 1 : 0;

  switch (role) {
  case ASHLAR_ROLE_SEGMENT:
    (void)snprintf(text, PLACE_TEXT, "segment %" PRIu64, segment);
    break;
  case ASHLAR_ROLE_BLOCK:
    (void)snprintf(text, PLACE_TEXT, "block %" PRIu64 " of segment %" PRIu64,
                   snapshot->segments[segment].block_count, segment);
    break;
  case ASHLAR_ROLE_EVENT:
    (void)snprintf(text, PLACE_TEXT, "event %" PRIu64 " of device %" PRIu32,
                   snapshot->traces[snapshot->trace_count - 1].event_count,
                   snapshot->trace_count - 1);
    break;
  case ASHLAR_ROLE_SETTINGS:
  case ASHLAR_ROLE_DIVISIONS:
    (void)snprintf(text, PLACE_TEXT, "allocator_settings");
    break;
  default:
    (void)snprintf(text, PLACE_TEXT, "snapshot");
    break;
  }
}

static void describe_value(const struct ashlar_pickle_value *value, char text[VALUE_TEXT])
{
  if (value->tag == ASHLAR_PICKLE_INT) {
    (void)snprintf(text, VALUE_TEXT, "%" PRIu64, value->bits);
  } else if (value->tag == ASHLAR_PICKLE_NEGATIVE) {
    (void)snprintf(text, VALUE_TEXT, "-%" PRIu64, ~value->bits + 1);
  } else {
    (void)snprintf(text, VALUE_TEXT, "%s", ashlar_pickle_value_name(value));
  }
}

bool ashlar_reading_bad_value(const struct ashlar_snapshot_reading *reading, unsigned role,
                              unsigned key, const struct ashlar_pickle_value *value,
                              const char *why)
{
  char place[PLACE_TEXT];
  char content[VALUE_TEXT];

  describe_place(reading, role, place);
  describe_value(value, content);
  return ashlar_error_set(reading->error, value->position, "%s: key '%s' holds %s%s", place,
                          ashlar_word_text(key), content, why);
}

bool ashlar_reading_missing(const struct ashlar_snapshot_reading *reading, unsigned role,
                            unsigned key, uint64_t position)
{
  char place[PLACE_TEXT];

  describe_place(reading, role, place);
  return ashlar_error_set(reading->error, position, "%s: key '%s' is missing", place,
                          ashlar_word_text(key));
}

bool ashlar_reading_fail(const struct ashlar_snapshot_reading *reading, unsigned role,
                         const char *text, uint64_t position)
{
  char place[PLACE_TEXT];

  describe_place(reading, role, place);
  return ashlar_error_set(reading->error, position, "%s: %s", place, text);
}

static void set_flag(uint16_t *flags, unsigned flag)
{
  *flags = (uint16_t)(*flags | flag);
}

static void clear_flag(uint16_t *flags, unsigned flag)
{
  *flags = (uint16_t)(*flags & ~flag);
}

bool ashlar_reading_size(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, uint64_t *number, uint16_t *flags,
                         unsigned flag)
{
  *number = 0;
  clear_flag(flags, flag);
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (value->tag != ASHLAR_PICKLE_INT && value->tag != ASHLAR_PICKLE_BOOL) {
    return ashlar_reading_bad_value(reading, role, key, value, ", not a number of bytes");
  }
  if (value->bits > ASHLAR_MAX_SIZE) {
    return ashlar_reading_bad_value(reading, role, key, value, ", which is 2^63 or more");
  }
  *number = value->bits;
  set_flag(flags, flag);
  return true;
}

bool ashlar_reading_flag(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, bool *truth, uint16_t *flags,
                         unsigned flag)
{
  *truth = false;
  clear_flag(flags, flag);
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if ((value->tag != ASHLAR_PICKLE_BOOL && value->tag != ASHLAR_PICKLE_INT) || value->bits > 1) {
    return ashlar_reading_bad_value(reading, role, key, value, ", neither True nor False");
  }
  *truth = value->bits != 0;
  set_flag(flags, flag);
  return true;
}

bool ashlar_reading_stream(const struct ashlar_snapshot_reading *reading, unsigned role,
                           unsigned key, const struct ashlar_pickle_value *value, uint16_t *index,
                           uint16_t *flags, unsigned flag)
{
  const bool is_negative = value->tag == ASHLAR_PICKLE_NEGATIVE;

  *index = 0;
  clear_flag(flags, flag);
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (!is_negative && value->tag != ASHLAR_PICKLE_INT && value->tag != ASHLAR_PICKLE_BOOL) {
    return ashlar_reading_bad_value(reading, role, key, value, ", not a stream");
  }
  if (!ashlar_snapshot_stream(reading->snapshot, value->bits, is_negative, index)) {
    return ashlar_reading_bad_value(reading, role, key, value,
                                    ": too many different streams, or out of memory");
  }
  set_flag(flags, flag);
  return true;
}

bool ashlar_reading_pool(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, uint16_t *index, uint16_t *flags,
                         unsigned flag)
{
  *index = 0;
  clear_flag(flags, flag);
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (value->tag != ASHLAR_PICKLE_PAIR) {
    return ashlar_reading_bad_value(reading, role, key, value,
                                    ", not a pair of integers of 0 or more");
  }
  if (!ashlar_snapshot_pool(reading->snapshot, value->bits, value->extra, index)) {
    return ashlar_reading_bad_value(reading, role, key, value,
                                    ": too many different pools, or out of memory");
  }
  set_flag(flags, flag);
  return true;
}

bool ashlar_reading_text(const struct ashlar_snapshot_reading *reading,
                         const struct ashlar_pickle_value *value, uint8_t *buffer, size_t room,
                         const char **bytes, size_t *length)
{
  const unsigned word = value->word;

  if (word != ASHLAR_WORD_NONE && word < ASHLAR_WORD_COUNT) {
    *bytes = ashlar_word_text(word);
    *length = strlen(*bytes);
    return true;
  }
  if (word >= ASHLAR_TEXT_FIRST_NAME && word < ASHLAR_TEXT_CONF) {
    const struct ashlar_text *name = &reading->snapshot->names[word - ASHLAR_TEXT_FIRST_NAME];

    *bytes = name->bytes;
    *length = name->length;
    return true;
  }
  *bytes = (const char *)buffer;
  if (!ashlar_pickle_text_again(reading->source, value, buffer, room, length, reading->error)) {
    return false;
  }
  if (!ashlar_is_utf8(buffer, *length)) {
    return ashlar_error_set(reading->error, value->position, "a text is not UTF-8");
  }
  return true;
}
