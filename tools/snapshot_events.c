/* The snapshot reader: recorded events.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tools/snapshot_reading.h"

static void set_flag(struct ashlar_event *event, unsigned flag)
{
  event->flags = (uint8_t)(event->flags | flag);
}

static void clear_flag(struct ashlar_event *event, unsigned flag)
{
  event->flags = (uint8_t)(event->flags & ~flag);
}

/* A number whose range depends on the action. What is no number >= 0 is remembered for then. Of a
 * key that comes twice the last value counts. */
static void store_number(struct ashlar_open_event *open, unsigned key,
                         const struct ashlar_pickle_value *value, uint64_t *number, unsigned flag)
{
  const bool is_number = value->tag == ASHLAR_PICKLE_INT || value->tag == ASHLAR_PICKLE_BOOL;

  if (open->odd.tag != 0 && open->odd_key == key) {
    open->odd.tag = 0;
  }
  if (is_number) {
    *number = value->bits;
    set_flag(&open->event, flag);
    return;
  }
  *number = 0;
  clear_flag(&open->event, flag);
  if (value->tag != ASHLAR_PICKLE_NONE && open->odd.tag == 0) {
    open->odd = *value;
    open->odd_key = key;
  }
}

/* The time decides nothing, so that an odd one only counts as absent. */
static void store_time(struct ashlar_event *event, const struct ashlar_pickle_value *value)
{
  double microseconds = 0;

  event->time_us = 0;
  clear_flag(event, ASHLAR_EVENT_HAS_TIME);
  if (value->tag == ASHLAR_PICKLE_INT) {
    event->time_us = value->bits;
    set_flag(event, ASHLAR_EVENT_HAS_TIME);
  } else if (value->tag == ASHLAR_PICKLE_FLOAT) {
    memcpy(&microseconds, &value->bits, sizeof microseconds);
    if (microseconds >= 0 && microseconds < (double)INT64_MAX) {
      event->time_us = (uint64_t)microseconds;
      set_flag(event, ASHLAR_EVENT_HAS_TIME);
    }
  }
}

static bool store_action(struct ashlar_snapshot_reading *reading,
                         const struct ashlar_pickle_value *value)
{
  struct ashlar_open_event *open = &reading->open_event;
  uint8_t buffer[ASHLAR_SNAPSHOT_MAX_NAME_BYTES];
  const char *text = NULL;
  size_t length = 0;

  if (value->tag != ASHLAR_PICKLE_TEXT) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_EVENT, ASHLAR_WORD_ACTION, value, "");
  }
  open->has_action = true;
  open->event.action = (uint8_t)ashlar_action_of_word(value->word);
  open->event.name = 0;
  if (open->event.action != ASHLAR_ACTION_OTHER) {
    return true;
  }
  if (value->word >= ASHLAR_TEXT_FIRST_NAME && value->word < ASHLAR_TEXT_CONF) {
    open->event.name = (uint16_t)(value->word - ASHLAR_TEXT_FIRST_NAME);
    return true;
  }
  /* A text that was met elsewhere first. */
  if (!ashlar_reading_text(reading, value, buffer, sizeof buffer, &text, &length)) {
    return false;
  }
  if (!ashlar_snapshot_name(reading->snapshot, text, (uint32_t)length, &open->event.name)) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_EVENT, ASHLAR_WORD_ACTION, value,
                                    ": too many different actions, or out of memory");
  }
  return true;
}

bool ashlar_reading_store_event(struct ashlar_snapshot_reading *reading, unsigned key,
                                const struct ashlar_pickle_value *value)
{
  struct ashlar_open_event *open = &reading->open_event;
  struct ashlar_event *event = &open->event;
  uint16_t flags = event->flags;
  bool is_good = true;

  switch (key) {
  case ASHLAR_WORD_ACTION:
    return store_action(reading, value);
  case ASHLAR_WORD_ADDR:
    store_number(open, key, value, &event->address, ASHLAR_EVENT_HAS_ADDRESS);
    return true;
  case ASHLAR_WORD_DEVICE_FREE:
    store_number(open, key, value, &open->device_free, ASHLAR_EVENT_HAS_DEVICE_FREE);
    return true;
  case ASHLAR_WORD_SIZE:
    store_number(open, key, value, &event->size, ASHLAR_EVENT_HAS_SIZE);
    return true;
  case ASHLAR_WORD_TIME_US:
    store_time(event, value);
    return true;
  case ASHLAR_WORD_STREAM:
    is_good = ashlar_reading_stream(reading, ASHLAR_ROLE_EVENT, key, value, &event->stream, &flags,
                                    ASHLAR_EVENT_HAS_STREAM);
    break;
  case ASHLAR_WORD_POOL_ID:
    is_good = ashlar_reading_pool(reading, ASHLAR_ROLE_EVENT, key, value, &event->pool, &flags,
                                  ASHLAR_EVENT_HAS_POOL);
    break;
  default:
    return true;
  }
  event->flags = (uint8_t)flags;
  return is_good;
}

/* Whether the numbers of an event with this action are an address and a size of memory. */
static bool names_memory(unsigned action)
{
  return action != ASHLAR_ACTION_OTHER && action != ASHLAR_ACTION_SNAPSHOT &&
         action != ASHLAR_ACTION_OOM;
}

static bool check_event(const struct ashlar_snapshot_reading *reading, uint64_t position)
{
  const struct ashlar_open_event *open = &reading->open_event;
  const struct ashlar_event *event = &open->event;

  if (!open->has_action) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_EVENT, ASHLAR_WORD_ACTION, position);
  }
  if (open->odd.tag != 0 && event->action != ASHLAR_ACTION_OTHER &&
      event->action != ASHLAR_ACTION_SNAPSHOT) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_EVENT, open->odd_key, &open->odd,
                                    ", not a number of 0 or more");
  }
  if (!names_memory(event->action)) {
    return true;
  }
  if ((event->flags & ASHLAR_EVENT_HAS_ADDRESS) == 0) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_EVENT, ASHLAR_WORD_ADDR, position);
  }
  if ((event->flags & ASHLAR_EVENT_HAS_SIZE) == 0) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_EVENT, ASHLAR_WORD_SIZE, position);
  }
  if (event->address > ASHLAR_MAX_SIZE || event->size > ASHLAR_MAX_SIZE ||
      event->address + event->size > ASHLAR_MAX_SIZE + 1) {
    return ashlar_reading_fail(reading, ASHLAR_ROLE_EVENT,
                               "keys 'addr' and 'size' reach beyond address 2^63", position);
  }
  return true;
}

bool ashlar_reading_close_event(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  struct ashlar_open_event *open = &reading->open_event;

  if (!check_event(reading, position)) {
    return false;
  }
  if ((open->event.flags & ASHLAR_EVENT_HAS_ADDRESS) == 0) {
    open->event.address = open->device_free;
  }
  if (!ashlar_snapshot_add_event(reading->snapshot, reading->snapshot->trace_count - 1,
                                 &open->event)) {
    return ashlar_reading_fail(reading, ASHLAR_ROLE_EVENT, "out of memory", position);
  }
  return true;
}
