/* A reader of Python pickles that executes nothing and builds nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It runs the pickle's stack machine over plain data only (None, bools, numbers, text, bytes,
 * tuples, lists, dictionaries, sets) and hands what a schema asks for to that schema, in one pass.
 * Containers get a role from the place where they are created; those that the schema has no role
 * for are consumed without being kept.
 *
 * Accepted: protocols 2 to 5, with a protocol header.
 *
 * Refused, with the position: everything that imports, calls, builds or refers outside (GLOBAL,
 * REDUCE, BUILD, PERSID, …), out-of-band buffers, the text opcodes of protocols 0 and 1 (which no
 * writer of protocol 2 or later uses), protocol 6 and later, truncated input, lengths beyond the
 * input, stack underflow, memo indices that are undefined or far beyond the entries stored,
 * nesting beyond 2^20.
 * Refused although Python takes it: values left over at STOP, bytes after STOP, and a container of
 * the schema that is used twice, filled through the memo, taken out of its place or built by LIST
 * or DICT after its contents.
 *
 * Accepted although Python does not take it, where it is skipped and nothing depends on it: texts
 * that are not UTF-8, keys that cannot be hashed, and SETITEM or APPEND on a value that was not
 * kept track of. Frame lengths are only checked against the rest of the input; lists in themselves
 * are harmless in skipped data. */
#ifndef ASHLAR_TOOLS_PICKLE_READER_H
#define ASHLAR_TOOLS_PICKLE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/byte_source.h"
#include "tools/error.h"
#include "tools/pickle_value.h"

enum {
  ASHLAR_PICKLE_MAX_DEPTH = 1 << 20,     /* values on the stack; marks on the stack */
  ASHLAR_PICKLE_MAX_WORD = 40,           /* longest text that is offered to schema->word */
  ASHLAR_PICKLE_MAX_KEPT_TEXT = 1 << 16, /* exclusive bound for schema->keep_text */
  ASHLAR_PICKLE_FIRST_PROTOCOL = 2,
  ASHLAR_PICKLE_LAST_PROTOCOL = 5
};

/* What the reader tells and asks. All functions must be set. Those that return bool fill the
 * reader's error (ashlar_error_set) before they return false; reading ends there. */
struct ashlar_pickle_schema {
  /* Number of a text that the schema knows, or 0. length <= ASHLAR_PICKLE_MAX_WORD. */
  uint16_t (*word)(const char *text, size_t length);

  /* Role of a LIST or DICT (`kind`) that is an element of a list with role `parent` (key 0), the
   * value at `key` of a dictionary, or outermost (parent ASHLAR_ROLE_ROOT); ASHLAR_ROLE_SKIP where
   * there is nothing of interest in it. */
  unsigned (*child)(unsigned parent, unsigned key, enum ashlar_pickle_tag kind);

  /* What a container with this role is, for messages: "the list of segments". */
  const char *(*role_name)(unsigned role);

  /* Whether keep_text is wanted for an unknown text at this key. */
  bool (*wants_text)(unsigned role, unsigned key);

  /* Gives the unknown text a number of the schema's own, which then also stands in the memo.
   * `length` < ASHLAR_PICKLE_MAX_KEPT_TEXT. */
  bool (*keep_text)(void *context, unsigned key, const char *text, size_t length, uint64_t position,
                    uint16_t *word);

  /* A container with a role begins; nothing of it is known yet. Elements of a list begin in order,
   * and each is closed before the next begins. */
  bool (*open)(void *context, unsigned role, uint64_t position);

  /* A dictionary with a role has `value` at `key` (never 0). Values that are containers with the
   * role that the schema gives in this place do not come here: they are opened and closed. */
  bool (*store)(void *context, unsigned role, unsigned key,
                const struct ashlar_pickle_value *value);

  /* The container is complete and stands where its role says. */
  bool (*close)(void *context, unsigned role, uint64_t position);
};

/* Facts about the pickle, valid after success. */
struct ashlar_pickle_facts {
  uint8_t protocol;  /* 2 to 5 */
  uint8_t root_kind; /* ASHLAR_PICKLE_LIST or ASHLAR_PICKLE_DICT */
};

/* Reads one pickle that fills *source to its end. `context` is passed to the schema's functions.
 * Linear time; no recursion; memory: 8 bytes a memo entry, and a stack whose runs of finished
 * elements take one entry. */
bool ashlar_pickle_read(struct ashlar_byte_source *source,
                        const struct ashlar_pickle_schema *schema, void *context,
                        struct ashlar_pickle_facts *facts, struct ashlar_error *error);

/* For schema functions: the text of a value with tag TEXT, read again from *source, at most `room`
 * bytes. False, with *error set, where it is longer or cannot be read again. */
bool ashlar_pickle_text_again(const struct ashlar_byte_source *source,
                              const struct ashlar_pickle_value *value, uint8_t *bytes, size_t room,
                              size_t *length, struct ashlar_error *error);

/* For messages: what a value is: "a list", "an integer", … Static text. */
const char *ashlar_pickle_value_name(const struct ashlar_pickle_value *value);

#endif
