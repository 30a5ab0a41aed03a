/* The inside of the snapshot reader, shared by its files only.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_SNAPSHOT_READING_H
#define ASHLAR_TOOLS_SNAPSHOT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/byte_source.h"
#include "tools/pickle_reader.h"
#include "tools/snapshot.h"
#include "tools/snapshot_words.h"

/* What the containers of a snapshot are for. */
enum ashlar_role {
  ASHLAR_ROLE_TOP = ASHLAR_ROLE_FIRST,
  ASHLAR_ROLE_SEGMENTS,
  ASHLAR_ROLE_SEGMENT,
  ASHLAR_ROLE_BLOCKS,
  ASHLAR_ROLE_BLOCK,
  ASHLAR_ROLE_TRACES,
  ASHLAR_ROLE_TRACE,
  ASHLAR_ROLE_EVENT,
  ASHLAR_ROLE_SETTINGS,
  ASHLAR_ROLE_DIVISIONS,
  ASHLAR_ROLE_END
};

/* Numbers of texts that are not words: unknown actions are FIRST_NAME + their index. */
enum {
  ASHLAR_TEXT_FIRST_NAME = 0x100,
  ASHLAR_TEXT_CONF = ASHLAR_TEXT_FIRST_NAME + ASHLAR_SNAPSHOT_MAX_NAMES
};

_Static_assert((int)ASHLAR_WORD_COUNT <= (int)ASHLAR_TEXT_FIRST_NAME,
               "words and names share one numbering");

/* Largest address and size of a segment, block or allocation. */
#define ASHLAR_MAX_SIZE ((uint64_t)INT64_MAX)

/* The event that is being read. Its numbers are judged when it is complete, because what they may
 * be depends on the action. */
struct ashlar_open_event {
  struct ashlar_event event;
  uint64_t device_free;
  struct ashlar_pickle_value odd; /* the first value of the wrong kind; tag 0: none */
  unsigned odd_key;
  bool has_action;
};

struct ashlar_snapshot_reading {
  struct ashlar_snapshot *snapshot;
  struct ashlar_byte_source *source;
  struct ashlar_error *error;
  struct ashlar_open_event open_event;
  struct ashlar_block block;     /* the one that is being read */
  struct ashlar_segment segment; /* the one that is being read; its place is taken already */
  uint32_t opened;               /* bit r: a container with role r began that may come only once */
  bool block_has_size, block_has_state;
  bool segment_has_address;
};

/* Sets the error for `value` of `key`: "<the thing being read>: key '<key>' holds <value><why>".
 * Returns false. */
bool ashlar_reading_bad_value(const struct ashlar_snapshot_reading *reading, unsigned role,
                              unsigned key, const struct ashlar_pickle_value *value,
                              const char *why);

/* Sets the error for a key that must be there and is not; returns false. */
bool ashlar_reading_missing(const struct ashlar_snapshot_reading *reading, unsigned role,
                            unsigned key, uint64_t position);

/* Sets an error of the thing being read in words; returns false. */
bool ashlar_reading_fail(const struct ashlar_snapshot_reading *reading, unsigned role,
                         const char *text, uint64_t position);

/* Each stores `value` in its own form and sets `flag` in *flags. None counts as an absent key: 0 is
 * stored and the flag cleared, also where the key came before, as the last value counts. False, with the error set, for a value of another kind or range. Bools count as
 * 0 and 1, as in Python; floats are never integers. */
bool ashlar_reading_size(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, uint64_t *number, uint16_t *flags,
                         unsigned flag);
bool ashlar_reading_flag(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, bool *truth, uint16_t *flags,
                         unsigned flag);
bool ashlar_reading_stream(const struct ashlar_snapshot_reading *reading, unsigned role,
                           unsigned key, const struct ashlar_pickle_value *value, uint16_t *index,
                           uint16_t *flags, unsigned flag);
bool ashlar_reading_pool(const struct ashlar_snapshot_reading *reading, unsigned role, unsigned key,
                         const struct ashlar_pickle_value *value, uint16_t *index, uint16_t *flags,
                         unsigned flag);

/* The text of `value`, whose tag is TEXT, in *bytes: that of a word, of a name, or read again into
 * `buffer` of `room` bytes. */
bool ashlar_reading_text(const struct ashlar_snapshot_reading *reading,
                         const struct ashlar_pickle_value *value, uint8_t *buffer, size_t room,
                         const char **bytes, size_t *length);

/* One pair each of functions for the roles of one kind; see struct ashlar_pickle_schema. */
bool ashlar_reading_store_event(struct ashlar_snapshot_reading *reading, unsigned key,
                                const struct ashlar_pickle_value *value);
bool ashlar_reading_close_event(struct ashlar_snapshot_reading *reading, uint64_t position);
bool ashlar_reading_store_segment(struct ashlar_snapshot_reading *reading, unsigned key,
                                  const struct ashlar_pickle_value *value);
bool ashlar_reading_close_segment(struct ashlar_snapshot_reading *reading, uint64_t position);
bool ashlar_reading_store_block(struct ashlar_snapshot_reading *reading, unsigned key,
                                const struct ashlar_pickle_value *value);
bool ashlar_reading_close_block(struct ashlar_snapshot_reading *reading, uint64_t position);
bool ashlar_reading_store_settings(struct ashlar_snapshot_reading *reading, unsigned key,
                                   const struct ashlar_pickle_value *value);
bool ashlar_reading_store_division(struct ashlar_snapshot_reading *reading, unsigned key,
                                   const struct ashlar_pickle_value *value);

#endif
