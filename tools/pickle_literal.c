/* The pickle reader: numbers, text and bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

enum {
  WIDE_INTEGER = 8,    /* bytes of the widest integer whose value is kept */
  MAX_INTEGER = 65536, /* bytes of the longest integer that is looked at; longer ones are huge */
  NEGATIVE_BYTE = 0x80 /* the sign bit of the last byte */
};

bool ashlar_machine_cut_short(const struct ashlar_pickle_machine *machine)
{
  const struct ashlar_byte_source *source = machine->source;
  const uint64_t end = source->window_at + (uint64_t)(source->end - source->window);

  if (source->read_errno != 0) {
    return ashlar_error_set(machine->error, end, "cannot read the file: %s",
                            strerror(source->read_errno));
  }
  return ashlar_error_set(machine->error, end, "unexpected end of input: the pickle is cut short");
}

bool ashlar_machine_ready(struct ashlar_pickle_machine *machine)
{
  struct ashlar_byte_source *source = machine->source;

  /* One opcode byte and up to 8 bytes of argument. */
  if (ashlar_source_fill(source, 9)) {
    return true;
  }
  if (source->next == source->end ||
      (size_t)(source->end - source->next) < 1 + ashlar_pickle_argument_bytes(*source->next)) {
    return ashlar_machine_cut_short(machine);
  }
  return true;
}

bool ashlar_machine_refuse(const struct ashlar_pickle_machine *machine, uint8_t opcode,
                           uint64_t position)
{
  const char *name = ashlar_pickle_opcode_name(opcode);

  if (name == NULL) {
    return ashlar_error_set(machine->error, position, "byte 0x%02x is not a pickle opcode", opcode);
  }
  return ashlar_error_set(machine->error, position,
                          "opcode %s (0x%02x) is refused: only plain data is read", name, opcode);
}

bool ashlar_machine_underflow(const struct ashlar_pickle_machine *machine, uint8_t opcode,
                              uint64_t position)
{
  return ashlar_error_set(machine->error, position, "opcode %s finds too few values on the stack",
                          ashlar_pickle_opcode_name(opcode));
}

/* Sets *value to the little-endian two's complement integer of `length` bytes. */
static void decode_integer(const uint8_t *bytes, size_t length, struct ashlar_pickle_value *value)
{
  const bool is_negative = length > 0 && (bytes[length - 1] & NEGATIVE_BYTE) != 0;
  const uint8_t filler = is_negative ? UINT8_MAX : 0;
  uint64_t bits = 0;

  for (size_t i = 0; i < WIDE_INTEGER; i++) {
    bits |= (uint64_t)(i < length ? bytes[i] : filler) << (8 * i);
  }
  value->bits = bits;
  value->tag = is_negative ? ASHLAR_PICKLE_NEGATIVE : ASHLAR_PICKLE_INT;
  for (size_t i = WIDE_INTEGER; i < length; i++) {
    if (bytes[i] != filler) {
      value->tag = ASHLAR_PICKLE_HUGE;
    }
  }
  if (is_negative && bits >> 63 == 0) {
    value->tag = ASHLAR_PICKLE_HUGE;
  }
}

/* LONG1 and LONG4: an integer of `length` bytes. */
static bool read_integer(struct ashlar_pickle_machine *machine, uint64_t length,
                         struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;

  if (length > MAX_INTEGER) {
    value->tag = ASHLAR_PICKLE_HUGE;
    return ashlar_source_skip(source, length) || ashlar_machine_cut_short(machine);
  }
  if (!ashlar_source_fill(source, length)) {
    return ashlar_machine_cut_short(machine);
  }
  decode_integer(source->next, length, value);
  source->next += length;
  return true;
}

/* BINFLOAT: a big-endian double. */
static void read_float(struct ashlar_byte_source *source, struct ashlar_pickle_value *value)
{
  value->bits = 0;
  for (int i = 0; i < 8; i++) {
    value->bits = (value->bits << 8) | source->next[i];
  }
  value->tag = ASHLAR_PICKLE_FLOAT;
  source->next += 8;
}

/* A length that cannot be is reported as such where the size of the input is known, or where no
 * input could be so long. */
static bool length_is_possible(const struct ashlar_pickle_machine *machine, uint64_t length,
                               uint64_t position)
{
  const struct ashlar_byte_source *source = machine->source;
  const uint64_t at = ashlar_source_position(source);
  const uint64_t rest = source->size == UINT64_MAX ? INT64_MAX : source->size - at;

  if (source->size != UINT64_MAX && at > source->size) {
    return true; /* the file grew meanwhile; reading will tell */
  }
  if (length > rest) {
    return ashlar_error_set(machine->error, position,
                            "a length of %llu bytes is more than the rest of the input: cut short, "
                            "or a wrong length",
                            (unsigned long long)length);
  }
  return true;
}

static bool read_text(struct ashlar_pickle_machine *machine, uint64_t length, unsigned keep_role,
                      unsigned keep_key, struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;
  const bool is_wanted =
      keep_role != ASHLAR_ROLE_SKIP && machine->schema->wants_text(keep_role, keep_key);

  value->tag = ASHLAR_PICKLE_TEXT;
  value->bits = length;
  if (!length_is_possible(machine, length, value->position)) {
    return false;
  }
  if (is_wanted && length >= ASHLAR_PICKLE_MAX_KEPT_TEXT) {
    return ashlar_error_set(machine->error, value->position,
                            "a text of %llu bytes is too long here", (unsigned long long)length);
  }
  if (is_wanted || length <= ASHLAR_PICKLE_MAX_WORD) {
    const char *text;

    if (!ashlar_source_fill(source, (size_t)length)) {
      return ashlar_machine_cut_short(machine);
    }
    text = (const char *)source->next;
    if (length <= ASHLAR_PICKLE_MAX_WORD) {
      value->word = machine->schema->word(text, (size_t)length);
    }
    if (is_wanted && value->word == 0 &&
        !machine->schema->keep_text(machine->context, keep_key, text, (size_t)length,
                                    value->position, &value->word)) {
      return false;
    }
    source->next += length;
    return true;
  }
  return ashlar_source_skip(source, length) || ashlar_machine_cut_short(machine);
}

/* Bytes: nothing of interest is ever in them. */
static bool pass_bytes(struct ashlar_pickle_machine *machine, uint64_t length,
                       struct ashlar_pickle_value *value)
{
  value->tag = ASHLAR_PICKLE_OTHER;
  if (!length_is_possible(machine, length, value->position)) {
    return false;
  }
  return ashlar_source_skip(machine->source, length) || ashlar_machine_cut_short(machine);
}

static bool check_protocol(const struct ashlar_pickle_machine *machine, unsigned protocol,
                           uint64_t position)
{
  if (protocol < ASHLAR_PICKLE_FIRST_PROTOCOL || protocol > ASHLAR_PICKLE_LAST_PROTOCOL) {
    return ashlar_error_set(machine->error, position,
                            "pickle protocol %u is not supported (2 to 5 are)", protocol);
  }
  return true;
}

/* The numbers of fixed width. */
static void read_fixed(struct ashlar_byte_source *source, uint8_t opcode,
                       struct ashlar_pickle_value *value)
{
  const uint8_t *bytes = source->next;

  value->tag = ASHLAR_PICKLE_INT;
  switch (opcode) {
  case ASHLAR_OP_BININT1:
    value->bits = bytes[0];
    break;
  case ASHLAR_OP_BININT2:
    value->bits = ashlar_load16(bytes);
    break;
  case ASHLAR_OP_BININT:
    decode_integer(bytes, 4, value);
    break;
  case ASHLAR_OP_NEWTRUE:
  case ASHLAR_OP_NEWFALSE:
    value->tag = ASHLAR_PICKLE_BOOL;
    value->bits = opcode == ASHLAR_OP_NEWTRUE ? 1 : 0;
    break;
  default:
    value->tag = ASHLAR_PICKLE_NONE;
    break;
  }
  source->next += ashlar_pickle_argument_bytes(opcode);
}

bool ashlar_machine_literal(struct ashlar_pickle_machine *machine, uint8_t opcode,
                            unsigned keep_role, unsigned keep_key,
                            struct ashlar_pickle_value *value)
{
  struct ashlar_byte_source *source = machine->source;
  const unsigned width = ashlar_pickle_argument_bytes(opcode);
  uint64_t length = 0;

  *value = (struct ashlar_pickle_value){.position = ashlar_machine_here(machine)};
  for (unsigned i = 0; i < width; i++) {
    length |= (uint64_t)source->next[i] << (8 * i);
  }
  switch (opcode) {
  case ASHLAR_OP_BININT1:
  case ASHLAR_OP_BININT2:
  case ASHLAR_OP_BININT:
  case ASHLAR_OP_NEWTRUE:
  case ASHLAR_OP_NEWFALSE:
  case ASHLAR_OP_NONE:
    read_fixed(source, opcode, value);
    return true;
  case ASHLAR_OP_BINFLOAT:
    read_float(source, value);
    return true;
  default:
    break;
  }
  source->next += width;
  switch (opcode) {
  case ASHLAR_OP_LONG4:
    if (length > INT32_MAX) {
      return ashlar_error_set(machine->error, value->position, "LONG4 has a negative length");
    }
    return read_integer(machine, length, value);
  case ASHLAR_OP_LONG1:
    return read_integer(machine, length, value);
  case ASHLAR_OP_BINSTRING:
    if (length > INT32_MAX) {
      return ashlar_error_set(machine->error, value->position, "BINSTRING has a negative length");
    }
    return read_text(machine, length, keep_role, keep_key, value);
  case ASHLAR_OP_SHORT_BINSTRING:
  case ASHLAR_OP_SHORT_BINUNICODE:
  case ASHLAR_OP_BINUNICODE:
  case ASHLAR_OP_BINUNICODE8:
    return read_text(machine, length, keep_role, keep_key, value);
  case ASHLAR_OP_BINBYTES:
  case ASHLAR_OP_SHORT_BINBYTES:
  case ASHLAR_OP_BINBYTES8:
  case ASHLAR_OP_BYTEARRAY8:
    return pass_bytes(machine, length, value);
  case ASHLAR_OP_PROTO:
    return check_protocol(machine, (unsigned)length, value->position);
  case ASHLAR_OP_FRAME:
    return length_is_possible(machine, length, value->position);
  default:
    return ashlar_machine_refuse(machine, opcode, value->position);
  }
}

bool ashlar_pickle_text_again(const struct ashlar_byte_source *source,
                              const struct ashlar_pickle_value *value, uint8_t *bytes, size_t room,
                              size_t *length, struct ashlar_error *error)
{
  uint8_t head[9] = {0};
  uint64_t long_length = 0;
  unsigned width;

  if (value->position == 0 || !ashlar_source_again(source, value->position, 1, head)) {
    return ashlar_error_set(error, value->position,
                            "a text first met in data that is skipped cannot be read again");
  }
  width = ashlar_pickle_argument_bytes(head[0]);
  if (!ashlar_source_again(source, value->position, 1 + width, head)) {
    return ashlar_error_set(error, value->position, "a text cannot be read again");
  }
  for (unsigned i = 0; i < width; i++) {
    long_length |= (uint64_t)head[1 + i] << (8 * i);
  }
  if (long_length > room) {
    return ashlar_error_set(error, value->position, "a text of %llu bytes is too long here",
                            (unsigned long long)long_length);
  }
  *length = (size_t)long_length;
  if (!ashlar_source_again(source, value->position + 1 + width, *length, bytes)) {
    return ashlar_error_set(error, value->position, "a text cannot be read again");
  }
  return true;
}

/* Sets the error for a value that the memo did not take; true where it did. */
static bool memo_took(const struct ashlar_pickle_machine *machine, enum ashlar_memo_status status,
                      uint64_t index, uint64_t position)
{
  if (status == ASHLAR_MEMO_TOO_FAR) {
    return ashlar_error_set(machine->error, position,
                            "memo index %llu is far beyond the %llu entries stored so far",
                            (unsigned long long)index, (unsigned long long)machine->memo.stored);
  }
  if (status == ASHLAR_MEMO_NO_MEMORY) {
    return ashlar_error_set(machine->error, position, "out of memory for the memo");
  }
  return true;
}

bool ashlar_machine_put_short(struct ashlar_pickle_machine *machine, uint64_t index,
                              uint64_t packed, uint64_t position)
{
  return memo_took(machine, ashlar_memo_put(&machine->memo, index, packed), index, position);
}

bool ashlar_machine_put(struct ashlar_pickle_machine *machine, uint64_t index,
                        const struct ashlar_pickle_value *value, uint64_t position)
{
  return memo_took(machine, ashlar_memo_put_value(&machine->memo, index, value), index, position);
}
