/* The pickle reader: the fast way through the dictionaries of the schema.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A recorded event is a dictionary of a few keys from the memo and plain values, one of many in a
 * list. Here neither the pairs nor the steps from one event to the next see the stack. Whatever else
 * comes is left to the stack machine, in the middle if need be. */
#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

enum {
  MARGIN = 32, /* a key, a number of 8 bytes and its memo opcode, and some */
  SMALL_LONG = 8,
  SMALL_TEXT = 8
};

enum outcome {
  FAILED = 0, /* the error is set */
  TAKEN,
  NOT_PLAIN /* nothing was consumed */
};

/* Whether the next value and what follows it can be read without asking for more input. */
static inline bool has_margin(struct ashlar_byte_source *source)
{
  return source->end - source->next >= MARGIN || ashlar_source_fill(source, MARGIN);
}

/* LONG1 of at most 8 bytes, at `bytes`, behind which more than 8 are readable. */
static inline void decode_small(const uint8_t *bytes, unsigned length,
                                struct ashlar_pickle_value *value)
{
  const unsigned unused = 64 - 8 * length;
  const uint64_t bits = length > 0 ? ashlar_load64(bytes) << unused : 0;

  value->tag = bits >> 63 != 0 ? ASHLAR_PICKLE_NEGATIVE : ASHLAR_PICKLE_INT;
  value->bits = length > 0 ? bits >> unused : 0;
  if (value->tag == ASHLAR_PICKLE_NEGATIVE && length < SMALL_LONG) {
    value->bits |= ~UINT64_C(0) << (8 * length);
  }
}

/* The memo entry that BINGET or LONG_BINGET at `at` fetches, and where the next opcode is; 0 where
 * there is another opcode or no such entry. */
static inline uint64_t decode_entry(const struct ashlar_pickle_machine *machine, const uint8_t *at,
                                    const uint8_t **next)
{
  if (*at == ASHLAR_OP_LONG_BINGET) {
    *next = at + 5;
    return ashlar_memo_get(&machine->memo, ashlar_load32(at + 1));
  }
  *next = at + 2;
  return *at == ASHLAR_OP_BINGET ? ashlar_memo_get(&machine->memo, at[1]) : 0;
}

/* A memo entry or small integer at `at`, with MARGIN readable bytes: fills *value, except its
 * position where it is no text, and returns where the next opcode is. NULL where it is something
 * else. Every field is written by itself: a struct that is written whole and then read in parts,
 * or the reverse, would stall here. */
static inline const uint8_t *decode_common(const struct ashlar_pickle_machine *machine,
                                           const uint8_t *at, struct ashlar_pickle_value *value)
{
  const uint8_t *next = at;
  const uint64_t packed = decode_entry(machine, at, &next);

  value->count = 0;
  value->role = ASHLAR_ROLE_SKIP;
  value->tag = ASHLAR_PICKLE_INT;
  if (packed != 0) {
    if (ashlar_short_tag(packed) == ASHLAR_PICKLE_TEXT) {
      value->tag = ASHLAR_PICKLE_TEXT;
      value->word = ashlar_short_word(packed);
      value->position = ashlar_short_text_position(packed);
    } else {
      *value = ashlar_memo_value(&machine->memo, packed, value->position);
    }
    return next;
  }
  switch (*at) {
  case ASHLAR_OP_BININT1:
    value->bits = at[1];
    return at + 2;
  case ASHLAR_OP_BININT2:
    value->bits = ashlar_load16(at + 1);
    return at + 3;
  case ASHLAR_OP_BININT:
    value->bits = ashlar_load32(at + 1);
    if (value->bits > INT32_MAX) {
      value->bits |= UINT64_C(0xffffffff00000000);
      value->tag = ASHLAR_PICKLE_NEGATIVE;
    }
    return at + 5;
  case ASHLAR_OP_LONG1:
    if (at[1] > SMALL_LONG) {
      return NULL;
    }
    decode_small(at + 2, at[1], value);
    return at + 2 + at[1];
  default:
    return NULL;
  }
}

static bool is_integer_opcode(uint8_t opcode)
{
  return opcode == ASHLAR_OP_BININT1 || opcode == ASHLAR_OP_BININT2 || opcode == ASHLAR_OP_BININT ||
         opcode == ASHLAR_OP_LONG1;
}

/* Whether the value before this opcode is complete: a key follows, or the end of the pairs. Others
 * might put it in the memo, in a tuple, or take it back. */
static inline bool ends_value(uint8_t opcode)
{
  switch (opcode) {
  case ASHLAR_OP_SETITEMS:
  case ASHLAR_OP_BINGET:
  case ASHLAR_OP_LONG_BINGET:
  case ASHLAR_OP_SHORT_BINUNICODE:
  case ASHLAR_OP_BINUNICODE:
  case ASHLAR_OP_SHORT_BINSTRING:
  case ASHLAR_OP_BINSTRING:
    return true;
  default:
    return false;
  }
}

/* The usual case, in registers: a key from the memo, then a memo entry or small integer, which is
 * the whole value. Returns where the next opcode is; NULL, with nothing done, where it is
 * not the usual case. */
static inline const uint8_t *decode_usual(const struct ashlar_pickle_machine *machine,
                                          const uint8_t *at, unsigned *key,
                                          struct ashlar_pickle_value *value)
{
  const struct ashlar_byte_source *source = machine->source;
  const uint8_t *next = at;
  const uint64_t packed = decode_entry(machine, at, &next);

  if (ashlar_short_tag(packed) != ASHLAR_PICKLE_TEXT) {
    return NULL;
  }
  *key = ashlar_short_word(packed);
  value->position = source->window_at + (uint64_t)(next - source->window);
  next = decode_common(machine, next, value);
  return next != NULL && ends_value(*next) ? next : NULL;
}

static enum outcome take_common(const struct ashlar_pickle_machine *machine,
                                struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;
  const uint8_t *next;

  value->position = ashlar_source_position(source);
  next = decode_common(machine, source->next, value);
  if (next == NULL) {
    return NOT_PLAIN;
  }
  source->next = next;
  return TAKEN;
}

/* The memo opcode behind a value, if there is one. */
static inline bool take_put(struct ashlar_pickle_machine *machine,
                            const struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;
  const uint8_t *at = source->next;
  const uint64_t position = ashlar_source_position(source);

  if (*at == ASHLAR_OP_MEMOIZE) {
    source->next += 1;
    return ashlar_machine_put(machine, machine->memo.stored, value, position);
  }
  if (*at == ASHLAR_OP_BINPUT) {
    source->next += 2;
    return ashlar_machine_put(machine, at[1], value, position);
  }
  if (*at == ASHLAR_OP_LONG_BINPUT) {
    source->next += 5;
    return ashlar_machine_put(machine, ashlar_load32(at + 1), value, position);
  }
  return true;
}

/* Takes a text, bool, None or float that stands in the input itself. */
static enum outcome take_literal(struct ashlar_pickle_machine *machine, unsigned role, unsigned key,
                                 struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;
  const uint8_t opcode = *source->next;
  const bool is_wanted = role != ASHLAR_ROLE_SKIP && machine->schema->wants_text(role, key);

  switch (opcode) {
  case ASHLAR_OP_SHORT_BINUNICODE:
  case ASHLAR_OP_BINUNICODE:
  case ASHLAR_OP_SHORT_BINSTRING:
  case ASHLAR_OP_NONE:
  case ASHLAR_OP_NEWTRUE:
  case ASHLAR_OP_NEWFALSE:
  case ASHLAR_OP_BINFLOAT:
    break;
  default:
    return NOT_PLAIN;
  }
  source->next++;
  if (!ashlar_machine_literal(machine, opcode, is_wanted ? role : (unsigned)ASHLAR_ROLE_SKIP, key,
                              value)) {
    return FAILED;
  }
  return TAKEN;
}

/* Takes a memo entry or literal and the memo opcode behind it, if there is one. Near the end of the
 * input, where there is no margin, that is left to the stack machine. */
static enum outcome take_plain(struct ashlar_pickle_machine *machine, unsigned role, unsigned key,
                               struct ashlar_pickle_value *value)
{
  enum outcome outcome = take_common(machine, value);

  if (outcome == NOT_PLAIN) {
    outcome = take_literal(machine, role, key, value);
  }
  if (outcome == TAKEN && has_margin(machine->source) && !take_put(machine, value)) {
    return FAILED;
  }
  return outcome;
}

/* Goes on in the stack machine: the mark, and what was read after it. */
static bool leave(struct ashlar_pickle_machine *machine, uint64_t position,
                  const struct ashlar_pickle_value *values, size_t count)
{
  if (!ashlar_machine_push_mark(machine, position)) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!ashlar_machine_push(machine, &values[i])) {
      return false;
    }
  }
  return true;
}

/* values[0 … *count - 1] are a key and an integer, and another integer follows: takes it, and makes
 * a pair where TUPLE2 follows. NOT_PLAIN: the values are for the stack machine. */
static enum outcome take_pair(struct ashlar_pickle_machine *machine,
                              struct ashlar_pickle_value *values, size_t *count)
{
  if (take_common(machine, &values[2]) != TAKEN) {
    return NOT_PLAIN;
  }
  *count = 3;
  if (!has_margin(machine->source) || *machine->source->next != ASHLAR_OP_TUPLE2 ||
      values[1].tag != ASHLAR_PICKLE_INT || values[2].tag != ASHLAR_PICKLE_INT) {
    return NOT_PLAIN;
  }
  machine->source->next++;
  values[1].tag = ASHLAR_PICKLE_PAIR;
  values[1].extra = values[2].bits;
  *count = 2;
  if (!has_margin(machine->source)) {
    return NOT_PLAIN;
  }
  if (!take_put(machine, &values[1])) {
    return FAILED;
  }
  return has_margin(machine->source) && ends_value(*machine->source->next) ? TAKEN : NOT_PLAIN;
}

/* values[0] is a key whose value is a list that is skipped, and EMPTY_LIST comes next. TAKEN if
 * the list is complete for certain, because SETITEMS follows. */
static enum outcome take_skipped_list(struct ashlar_pickle_machine *machine,
                                      struct ashlar_pickle_value *values, size_t *count)
{
  struct ashlar_byte_source *source = machine->source;

  values[1] = (struct ashlar_pickle_value){.position = ashlar_source_position(source),
                                           .tag = ASHLAR_PICKLE_LIST};
  *count = 2;
  source->next++;
  if (!has_margin(source)) {
    return NOT_PLAIN;
  }
  if (!take_put(machine, &values[1])) {
    return FAILED;
  }
  while (has_margin(source) && *source->next == ASHLAR_OP_MARK) {
    source->next++;
    switch (ashlar_machine_skip(machine, ASHLAR_PICKLE_LIST, &values[2])) {
    case ASHLAR_SKIP_STORED:
      break;
    case ASHLAR_SKIP_MADE:
      *count = 3;
      return NOT_PLAIN;
    default:
      return FAILED;
    }
  }
  return has_margin(source) && *source->next == ASHLAR_OP_SETITEMS ? TAKEN : NOT_PLAIN;
}

/* The value at the key values[0], of a dictionary with this role. TAKEN: it is values[1].
 * NOT_PLAIN: values[0 … *count - 1] are for the stack machine. */
static enum outcome take_value(struct ashlar_pickle_machine *machine, unsigned role,
                               struct ashlar_pickle_value *values, size_t *count)
{
  const unsigned key = values[0].word;
  enum outcome outcome;

  *count = 1;
  if (*machine->source->next == ASHLAR_OP_EMPTY_LIST &&
      machine->schema->child(role, key, ASHLAR_PICKLE_LIST) == ASHLAR_ROLE_SKIP) {
    return take_skipped_list(machine, values, count);
  }
  outcome = take_plain(machine, role, key, &values[1]);
  if (outcome != TAKEN) {
    return outcome;
  }
  *count = 2;
  if (!has_margin(machine->source)) {
    return NOT_PLAIN;
  }
  if (is_integer_opcode(*machine->source->next)) {
    return take_pair(machine, values, count);
  }
  return ends_value(*machine->source->next) ? TAKEN : NOT_PLAIN;
}

/* The same for what is not the usual case: one key and value. TAKEN: stored. NOT_PLAIN: the mark,
 * and a key if one was read, are on the stack. */
static enum outcome store_unusual(struct ashlar_pickle_machine *machine, unsigned role,
                                  uint64_t position)
{
  struct ashlar_byte_source *source = machine->source;
  struct ashlar_pickle_value values[3] = {{0}};
  size_t count = 0;
  enum outcome outcome = take_plain(machine, ASHLAR_ROLE_SKIP, 0, &values[0]);

  if (outcome == TAKEN) {
    count = 1;
    outcome = values[0].tag == ASHLAR_PICKLE_TEXT && has_margin(source)
                  ? take_value(machine, role, values, &count)
                  : NOT_PLAIN;
  }
  if (outcome == NOT_PLAIN && !leave(machine, position, values, count)) {
    return FAILED;
  }
  if (outcome == TAKEN && values[0].word != 0 &&
      !machine->schema->store(machine->context, role, values[0].word, &values[1])) {
    return FAILED;
  }
  return outcome;
}

/* Number of a text of at most SMALL_TEXT bytes at `bytes`, where as many as that are readable. */
static uint16_t find_small_text(struct ashlar_pickle_machine *machine, const uint8_t *bytes,
                                uint8_t length)
{
  const uint64_t text = length > 0 ? ashlar_load64(bytes) << (64 - 8 * length) : 0;

  if (length != machine->small_length || text != machine->small_text) {
    machine->small_length = length;
    machine->small_text = text;
    machine->small_word = machine->schema->word((const char *)bytes, length);
  }
  return machine->small_word;
}

/* A key from the memo that the schema does not know, and a short text: newer releases write the same
 * one in every event. */
static enum outcome pass_small_text(struct ashlar_pickle_machine *machine)
{
  struct ashlar_byte_source *source = machine->source;
  const uint8_t *text = source->next;
  const uint64_t packed = decode_entry(machine, source->next, &text);
  struct ashlar_pickle_value value = {.tag = ASHLAR_PICKLE_TEXT};
  const uint8_t *behind;

  if (ashlar_short_tag(packed) != ASHLAR_PICKLE_TEXT || ashlar_short_word(packed) != 0 ||
      text[0] != ASHLAR_OP_SHORT_BINUNICODE || text[1] > SMALL_TEXT) {
    return NOT_PLAIN;
  }
  behind = text + 2 + text[1];
  if (behind[0] != ASHLAR_OP_MEMOIZE || !ends_value(behind[1])) {
    return NOT_PLAIN;
  }
  value.bits = text[1];
  value.word = find_small_text(machine, text + 2, text[1]);
  value.position = source->window_at + (uint64_t)(text - source->window);
  source->next = behind + 1;
  return ashlar_machine_put(machine, machine->memo.stored, &value,
                            value.position + (uint64_t)(behind - text))
             ? TAKEN
             : FAILED;
}

/* Whether the dictionary at the top, whose pairs are complete, is one of a run: a finished one of the
 * same role stands below it, and both above a list. */
static bool is_in_run(const struct ashlar_pickle_machine *machine)
{
  const struct ashlar_pickle_value *dict = ashlar_machine_top(machine);
  const struct ashlar_pickle_value *list = ashlar_machine_below_mark(machine);

  return ashlar_machine_above(machine) >= 2 && dict[-1].tag == ASHLAR_PICKLE_RUN &&
         dict[-1].role == dict->role && list != NULL && list->tag == ASHLAR_PICKLE_LIST &&
         machine->schema->child(list->role, 0, ASHLAR_PICKLE_DICT) == dict->role;
}

/* The next dictionary of a run begins in the usual way: EMPTY_DICT, perhaps MEMOIZE, MARK. TAKEN: the
 * one at the top has become part of the run below it, and the new one has its place. */
static inline enum outcome take_sibling(struct ashlar_pickle_machine *machine)
{
  struct ashlar_byte_source *source = machine->source;
  const uint8_t *at = source->next;
  const uint64_t position = ashlar_source_position(source);
  struct ashlar_pickle_value *dict = &machine->stack[machine->depth - 1];
  const bool is_stored = at[1] == ASHLAR_OP_MEMOIZE;

  if (at[0] != ASHLAR_OP_EMPTY_DICT || at[is_stored ? 2 : 1] != ASHLAR_OP_MARK ||
      dict[-1].count == UINT32_MAX) {
    return NOT_PLAIN;
  }
  if (!machine->schema->close(machine->context, dict->role, position) ||
      !machine->schema->open(machine->context, dict->role, position)) {
    return FAILED;
  }
  dict[-1].count++;
  dict->position = position;
  source->next = at + (is_stored ? 3 : 2);
  if (is_stored && !ashlar_machine_put_short(machine, machine->memo.stored,
                                             ashlar_short_make(ASHLAR_PICKLE_REFERENCE, dict->role),
                                             position + 1)) {
    return FAILED;
  }
  return TAKEN;
}

bool ashlar_machine_pairs(struct ashlar_pickle_machine *machine, uint64_t position)
{
  struct ashlar_byte_source *source = machine->source;
  const unsigned role = ashlar_machine_top(machine)->role;
  const bool has_siblings = is_in_run(machine);
  struct ashlar_pickle_value value = {0};

  while (has_margin(source)) {
    unsigned key = 0;
    const uint8_t *next = decode_usual(machine, source->next, &key, &value);
    enum outcome outcome = TAKEN;

    if (next != NULL) {
      source->next = next;
      if (key != 0 && !machine->schema->store(machine->context, role, key, &value)) {
        return false;
      }
    } else if (*source->next == ASHLAR_OP_SETITEMS) {
      source->next++;
      if (!has_siblings || !has_margin(source)) {
        return true;
      }
      outcome = take_sibling(machine);
      position = ashlar_machine_here(machine);
    } else {
      outcome = pass_small_text(machine);
      if (outcome == NOT_PLAIN) {
        outcome = store_unusual(machine, role, position);
      }
    }
    if (outcome != TAKEN) {
      return outcome == NOT_PLAIN;
    }
  }
  return leave(machine, position, NULL, 0);
}
