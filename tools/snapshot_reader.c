/* Reads a PyTorch memory snapshot without executing anything.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The schema of a snapshot, for the pickle reader. Each element (segment, block, event) is
 * gathered in one struct and appended to the snapshot when it is complete. */
#include "tools/snapshot_reader.h"

#include "tools/snapshot_reading.h"
#include "tools/utf8.h"

static const char *role_name(unsigned role)
{
  static const char *const NAMES[ASHLAR_ROLE_END] = {
      [ASHLAR_ROLE_TOP] = "the snapshot's dictionary",
      [ASHLAR_ROLE_SEGMENTS] = "the list of segments",
      [ASHLAR_ROLE_SEGMENT] = "a segment",
      [ASHLAR_ROLE_BLOCKS] = "a segment's list of blocks",
      [ASHLAR_ROLE_BLOCK] = "a block",
      [ASHLAR_ROLE_TRACES] = "the list of device traces",
      [ASHLAR_ROLE_TRACE] = "a device's list of events",
      [ASHLAR_ROLE_EVENT] = "an event",
      [ASHLAR_ROLE_SETTINGS] = "the allocator settings",
      [ASHLAR_ROLE_DIVISIONS] = "the table of divisions",
  };

  return role < ASHLAR_ROLE_END && NAMES[role] != NULL ? NAMES[role] : "a container";
}

/* Where a container with a role stands: in which parent, at which key, and of which kind it is. */
struct place {
  uint8_t role;
  uint8_t parent;
  uint8_t kind;
  uint8_t key;
};

_Static_assert(ASHLAR_WORD_COUNT <= UINT8_MAX, "struct place holds a word in 8 bits");

static const struct place PLACES[] = {
    {ASHLAR_ROLE_EVENT, ASHLAR_ROLE_TRACE, ASHLAR_PICKLE_DICT, 0},
    {ASHLAR_ROLE_BLOCK, ASHLAR_ROLE_BLOCKS, ASHLAR_PICKLE_DICT, 0},
    {ASHLAR_ROLE_PAIR, ASHLAR_ROLE_EVENT, ASHLAR_PICKLE_LIST, ASHLAR_WORD_POOL_ID},
    {ASHLAR_ROLE_BLOCKS, ASHLAR_ROLE_SEGMENT, ASHLAR_PICKLE_LIST, ASHLAR_WORD_BLOCKS},
    {ASHLAR_ROLE_PAIR, ASHLAR_ROLE_SEGMENT, ASHLAR_PICKLE_LIST, ASHLAR_WORD_SEGMENT_POOL_ID},
    {ASHLAR_ROLE_SEGMENT, ASHLAR_ROLE_SEGMENTS, ASHLAR_PICKLE_DICT, 0},
    {ASHLAR_ROLE_TOP, ASHLAR_ROLE_ROOT, ASHLAR_PICKLE_DICT, 0},
    {ASHLAR_ROLE_SEGMENTS, ASHLAR_ROLE_ROOT, ASHLAR_PICKLE_LIST, 0},
    {ASHLAR_ROLE_SEGMENTS, ASHLAR_ROLE_TOP, ASHLAR_PICKLE_LIST, ASHLAR_WORD_SEGMENTS},
    {ASHLAR_ROLE_TRACES, ASHLAR_ROLE_TOP, ASHLAR_PICKLE_LIST, ASHLAR_WORD_DEVICE_TRACES},
    {ASHLAR_ROLE_SETTINGS, ASHLAR_ROLE_TOP, ASHLAR_PICKLE_DICT, ASHLAR_WORD_ALLOCATOR_SETTINGS},
    {ASHLAR_ROLE_TRACE, ASHLAR_ROLE_TRACES, ASHLAR_PICKLE_LIST, 0},
    {ASHLAR_ROLE_DIVISIONS, ASHLAR_ROLE_SETTINGS, ASHLAR_PICKLE_DICT,
     ASHLAR_WORD_ROUNDUP_POWER2_DIVISIONS},
};

static unsigned child(unsigned parent, unsigned key, enum ashlar_pickle_tag kind)
{
  for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
    if (PLACES[i].parent == parent && PLACES[i].key == key && PLACES[i].kind == kind) {
      return PLACES[i].role;
    }
  }
  return ASHLAR_ROLE_SKIP;
}

static bool wants_text(unsigned role, unsigned key)
{
  return (role == ASHLAR_ROLE_EVENT && key == ASHLAR_WORD_ACTION) ||
         (role == ASHLAR_ROLE_SETTINGS && key == ASHLAR_WORD_ALLOC_CONF);
}

static bool keep_text(void *context, unsigned key, const char *text, size_t length,
                      uint64_t position, uint16_t *word)
{
  struct ashlar_snapshot_reading *reading = context;
  uint16_t index = 0;

  if (!ashlar_is_utf8((const uint8_t *)text, length)) {
    return ashlar_error_set(reading->error, position, "key '%s' holds a text that is not UTF-8",
                            ashlar_word_text(key));
  }
  if (key == ASHLAR_WORD_ALLOC_CONF) {
    *word = ASHLAR_TEXT_CONF;
    return ashlar_snapshot_set_conf(reading->snapshot, text, (uint32_t)length) ||
           ashlar_error_set(reading->error, position, "out of memory for the settings");
  }
  if (length > ASHLAR_SNAPSHOT_MAX_NAME_BYTES) {
    return ashlar_error_set(reading->error, position, "an action of %zu bytes is too long", length);
  }
  if (!ashlar_snapshot_name(reading->snapshot, text, (uint32_t)length, &index)) {
    return ashlar_error_set(reading->error, position,
                            "more than %d different unknown actions, or out of memory",
                            ASHLAR_SNAPSHOT_MAX_NAMES);
  }
  *word = (uint16_t)(ASHLAR_TEXT_FIRST_NAME + index);
  return true;
}

static bool open_trace(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  return ashlar_snapshot_add_trace(reading->snapshot) ||
         ashlar_error_set(reading->error, position, "more than %d device traces, or out of memory",
                          ASHLAR_SNAPSHOT_MAX_TRACES);
}

static bool open_segment(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  reading->segment = (struct ashlar_segment){0};
  reading->segment_has_address = false;
  /* Its place is taken now, so that its blocks can follow. */
  return ashlar_snapshot_add_segment(reading->snapshot, &reading->segment) ||
         ashlar_error_set(reading->error, position, "out of memory for the segments");
}

static bool open_blocks(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  if ((reading->segment.flags & ASHLAR_SEGMENT_HAS_BLOCKS) != 0) {
    return ashlar_reading_fail(reading, ASHLAR_ROLE_SEGMENT, "key 'blocks' appears twice",
                               position);
  }
  reading->segment.flags = (uint16_t)(reading->segment.flags | ASHLAR_SEGMENT_HAS_BLOCKS);
  return true;
}

/* A container that a snapshot has once. */
static bool open_once(struct ashlar_snapshot_reading *reading, unsigned role, uint64_t position)
{
  struct ashlar_settings *settings = &reading->snapshot->settings;

  if ((reading->opened & (1U << role)) != 0) {
    return ashlar_error_set(reading->error, position, "%s appears twice", role_name(role));
  }
  reading->opened |= 1U << role;
  switch (role) {
  case ASHLAR_ROLE_TRACES:
    reading->snapshot->has_traces = true;
    break;
  case ASHLAR_ROLE_SETTINGS:
    settings->is_present = true;
    break;
  case ASHLAR_ROLE_DIVISIONS:
    settings->flags = (uint16_t)(settings->flags | ASHLAR_SETTINGS_HAS_DIVISIONS);
    break;
  default:
    break;
  }
  return true;
}

static bool open_container(void *context, unsigned role, uint64_t position)
{
  struct ashlar_snapshot_reading *reading = context;

  switch (role) {
  case ASHLAR_ROLE_EVENT:
    reading->open_event = (struct ashlar_open_event){0};
    return true;
  case ASHLAR_ROLE_BLOCK:
    reading->block = (struct ashlar_block){0};
    reading->block_has_size = false;
    reading->block_has_state = false;
    return true;
  case ASHLAR_ROLE_TRACE:
    return open_trace(reading, position);
  case ASHLAR_ROLE_SEGMENT:
    return open_segment(reading, position);
  case ASHLAR_ROLE_BLOCKS:
    return open_blocks(reading, position);
  default:
    return open_once(reading, role, position);
  }
}

static bool store_top(struct ashlar_snapshot_reading *reading, unsigned key,
                      const struct ashlar_pickle_value *value)
{
  switch (key) {
  case ASHLAR_WORD_SEGMENTS:
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_TOP, key, value, ", not a list");
  case ASHLAR_WORD_DEVICE_TRACES:
  case ASHLAR_WORD_ALLOCATOR_SETTINGS:
    return value->tag == ASHLAR_PICKLE_NONE ||
           ashlar_reading_bad_value(reading, ASHLAR_ROLE_TOP, key, value,
                                    key == ASHLAR_WORD_DEVICE_TRACES ? ", not a list"
                                                                     : ", not a dictionary");
  case ASHLAR_WORD_EXTERNAL_ANNOTATIONS:
    reading->snapshot->has_annotations = true;
    return true;
  default:
    return true;
  }
}

static bool store(void *context, unsigned role, unsigned key,
                  const struct ashlar_pickle_value *value)
{
  struct ashlar_snapshot_reading *reading = context;

  switch (role) {
  case ASHLAR_ROLE_EVENT:
    return ashlar_reading_store_event(reading, key, value);
  case ASHLAR_ROLE_BLOCK:
    return ashlar_reading_store_block(reading, key, value);
  case ASHLAR_ROLE_SEGMENT:
    return ashlar_reading_store_segment(reading, key, value);
  case ASHLAR_ROLE_SETTINGS:
    return ashlar_reading_store_settings(reading, key, value);
  case ASHLAR_ROLE_DIVISIONS:
    return ashlar_reading_store_division(reading, key, value);
  default:
    return store_top(reading, key, value);
  }
}

static bool close_container(void *context, unsigned role, uint64_t position)
{
  struct ashlar_snapshot_reading *reading = context;

  switch (role) {
  case ASHLAR_ROLE_EVENT:
    return ashlar_reading_close_event(reading, position);
  case ASHLAR_ROLE_BLOCK:
    return ashlar_reading_close_block(reading, position);
  case ASHLAR_ROLE_SEGMENT:
    return ashlar_reading_close_segment(reading, position);
  case ASHLAR_ROLE_TOP:
    return (reading->opened & (1U << ASHLAR_ROLE_SEGMENTS)) != 0 ||
           ashlar_reading_missing(reading, role, ASHLAR_WORD_SEGMENTS, position);
  default:
    return true;
  }
}

static bool read_source(struct ashlar_byte_source *source, struct ashlar_snapshot *snapshot,
                        struct ashlar_error *error)
{
  static const struct ashlar_pickle_schema SCHEMA = {
      .word = ashlar_word_find,
      .child = child,
      .role_name = role_name,
      .wants_text = wants_text,
      .keep_text = keep_text,
      .open = open_container,
      .store = store,
      .close = close_container,
  };
  struct ashlar_snapshot_reading reading = {.snapshot = snapshot, .source = source, .error = error};
  struct ashlar_pickle_facts facts = {0};

  if (!ashlar_snapshot_init(snapshot)) {
    return ashlar_error_set(error, 0, "out of memory");
  }
  if (!ashlar_pickle_read(source, &SCHEMA, &reading, &facts, error)) {
    ashlar_snapshot_free(snapshot);
    return false;
  }
  snapshot->protocol = facts.protocol;
  snapshot->format =
      facts.root_kind == ASHLAR_PICKLE_LIST ? ASHLAR_FORMAT_LIST : ASHLAR_FORMAT_DICT;
  return true;
}

bool ashlar_snapshot_read_file(const char *path, struct ashlar_snapshot *snapshot,
                               struct ashlar_error *error)
{
  struct ashlar_byte_source source;
  bool is_read;

  *snapshot = (struct ashlar_snapshot){0};
  if (!ashlar_source_open(&source, path, error)) {
    return false;
  }
  is_read = read_source(&source, snapshot, error);
  ashlar_source_close(&source);
  return is_read;
}

bool ashlar_snapshot_read_memory(const void *data, size_t size, struct ashlar_snapshot *snapshot,
                                 struct ashlar_error *error)
{
  struct ashlar_byte_source source;

  ashlar_source_open_memory(&source, data, size);
  return read_source(&source, snapshot, error);
}
