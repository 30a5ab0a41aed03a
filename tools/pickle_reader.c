/* A reader of Python pickles that executes nothing and builds nothing: the stack machine.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pickle_reader.h"

#include <stdlib.h>

#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

/* The pair that two integers of 0 or more form as a tuple; another value where they do not. */
static struct ashlar_pickle_value pair_of(const struct ashlar_pickle_value *first,
                                          const struct ashlar_pickle_value *second)
{
  struct ashlar_pickle_value made = {.tag = ASHLAR_PICKLE_OTHER};

  if (first->tag == ASHLAR_PICKLE_INT && second->tag == ASHLAR_PICKLE_INT) {
    made.tag = ASHLAR_PICKLE_PAIR;
    made.bits = first->bits;
    made.extra = second->bits;
  }
  return made;
}

/* TUPLE1, TUPLE2, TUPLE3 and, with the values above a mark, TUPLE and FROZENSET: `count` values
 * become one. */
static bool make_one(struct ashlar_pickle_machine *machine, size_t count, bool has_mark,
                     uint8_t opcode, uint64_t position)
{
  struct ashlar_pickle_value made = {.tag = ASHLAR_PICKLE_OTHER};

  if (has_mark && machine->mark_count == 0) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  if (!ashlar_machine_may_take(machine, count, opcode, position)) {
    return false;
  }
  if (count == 2 && opcode != ASHLAR_OP_FROZENSET) {
    made = pair_of(&machine->stack[machine->depth - 2], &machine->stack[machine->depth - 1]);
  }
  made.position = position;
  if (has_mark) {
    ashlar_machine_pop_mark(machine);
  } else {
    machine->depth -= count;
  }
  return ashlar_machine_push(machine, &made);
}

/* LIST and DICT. Empty ones are as good as EMPTY_LIST and EMPTY_DICT; others came too late to get
 * a role, as their contents were there first: they can only be skipped. */
static bool make_container(struct ashlar_pickle_machine *machine, uint8_t opcode, uint64_t position)
{
  const size_t count = ashlar_machine_above(machine);
  const enum ashlar_pickle_tag kind =
      opcode == ASHLAR_OP_LIST ? ASHLAR_PICKLE_LIST : ASHLAR_PICKLE_DICT;
  const struct ashlar_pickle_value made = {.position = position, .tag = (uint8_t)kind};

  if (machine->mark_count == 0) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  if (kind == ASHLAR_PICKLE_DICT && count % 2 != 0) {
    return ashlar_error_set(machine->error, position, "DICT finds a key with no value");
  }
  if (!ashlar_machine_may_take(machine, count, opcode, position)) {
    return false;
  }
  ashlar_machine_pop_mark(machine);
  return count == 0 ? ashlar_machine_new_container(machine, kind, position)
                    : ashlar_machine_push(machine, &made);
}

static bool pop(struct ashlar_pickle_machine *machine, uint8_t opcode, uint64_t position)
{
  const size_t count = opcode == ASHLAR_OP_POP_MARK ? ashlar_machine_above(machine) : 1;
  const bool is_mark =
      machine->mark_count > 0 && (opcode == ASHLAR_OP_POP_MARK || machine->depth == machine->fence);

  if (opcode == ASHLAR_OP_POP_MARK && !is_mark) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  if (is_mark && opcode == ASHLAR_OP_POP) {
    ashlar_machine_pop_mark(machine);
    return true;
  }
  if (!ashlar_machine_may_take(machine, count, opcode, position)) {
    return false;
  }
  if (is_mark) {
    ashlar_machine_pop_mark(machine);
  } else {
    machine->depth--;
  }
  return true;
}

static bool get(struct ashlar_pickle_machine *machine, uint64_t index, uint64_t position)
{
  const uint64_t packed = ashlar_memo_get(&machine->memo, index);
  struct ashlar_pickle_value value;

  if (packed == 0) {
    return ashlar_error_set(machine->error, position, "memo index %llu is not defined",
                            (unsigned long long)index);
  }
  value = ashlar_memo_value(&machine->memo, packed, position);
  return ashlar_machine_push(machine, &value);
}

static bool put(struct ashlar_pickle_machine *machine, uint64_t index, uint8_t opcode,
                uint64_t position)
{
  struct ashlar_pickle_value *last = ashlar_machine_top(machine);

  if (last == NULL) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  if (last->role == ASHLAR_ROLE_PAIR && index < UINT32_MAX) {
    last->count = (uint32_t)index + 1;
  }
  return ashlar_machine_put(machine, index, last, position);
}

static bool mark(struct ashlar_pickle_machine *machine, uint64_t position)
{
  const struct ashlar_pickle_value *last = ashlar_machine_top(machine);
  struct ashlar_pickle_value made = {0};

  if (last == NULL || !ashlar_machine_is_container(last)) {
    return ashlar_machine_push_mark(machine, position);
  }
  if (last->tag == ASHLAR_PICKLE_DICT && ashlar_machine_has_role(last)) {
    return ashlar_machine_pairs(machine, position);
  }
  if (last->role != ASHLAR_ROLE_SKIP) {
    return ashlar_machine_push_mark(machine, position);
  }
  switch (ashlar_machine_skip(machine, (enum ashlar_pickle_tag)last->tag, &made)) {
  case ASHLAR_SKIP_STORED:
    return true;
  case ASHLAR_SKIP_MADE:
    return ashlar_machine_push(machine, &made);
  default:
    return false;
  }
}

/* The dictionary that a text pushed now, above a key, is the value in, where the schema keeps the
 * texts of that place: its role, or ASHLAR_ROLE_SKIP. */
static unsigned text_place(const struct ashlar_pickle_machine *machine)
{
  const struct ashlar_pickle_value *key = ashlar_machine_top(machine);
  const struct ashlar_pickle_value *outer = ashlar_machine_below_mark(machine);
  const size_t above = ashlar_machine_above(machine);

  if (key == NULL || key->tag != ASHLAR_PICKLE_TEXT) {
    return ASHLAR_ROLE_SKIP;
  }
  if (above >= 2 && key[-1].tag == ASHLAR_PICKLE_DICT &&
      machine->schema->wants_text(key[-1].role, key->word)) {
    return key[-1].role;
  }
  if (above % 2 == 1 && outer != NULL && outer->tag == ASHLAR_PICKLE_DICT &&
      machine->schema->wants_text(outer->role, key->word)) {
    return outer->role;
  }
  return ASHLAR_ROLE_SKIP;
}

static bool literal(struct ashlar_pickle_machine *machine, uint8_t opcode)
{
  const unsigned role = text_place(machine);
  const unsigned key = role != ASHLAR_ROLE_SKIP ? ashlar_machine_top(machine)->word : 0;
  struct ashlar_pickle_value value;

  if (!ashlar_machine_literal(machine, opcode, role, key, &value)) {
    return false;
  }
  return value.tag == 0 || ashlar_machine_push(machine, &value);
}

static bool dup(struct ashlar_pickle_machine *machine, uint8_t opcode, uint64_t position)
{
  struct ashlar_pickle_value copy;

  if (!ashlar_machine_may_take(machine, 1, opcode, position)) {
    return false;
  }
  copy = *ashlar_machine_top(machine);
  return ashlar_machine_push(machine, &copy);
}

/* Executes one opcode other than STOP; `source->next` stands behind its first byte. */
static bool execute(struct ashlar_pickle_machine *machine, uint8_t opcode)
{
  struct ashlar_byte_source *source = machine->source;
  const uint64_t position = ashlar_machine_here(machine);
  const uint8_t *argument = source->next;
  const struct ashlar_pickle_value other = {.position = position, .tag = ASHLAR_PICKLE_OTHER};

  switch (opcode) {
  case ASHLAR_OP_BINGET:
    source->next += 1;
    return get(machine, *argument, position);
  case ASHLAR_OP_LONG_BINGET:
    source->next += 4;
    return get(machine, ashlar_load32(argument), position);
  case ASHLAR_OP_MEMOIZE:
    return put(machine, machine->memo.stored, opcode, position);
  case ASHLAR_OP_BINPUT:
    source->next += 1;
    return put(machine, *argument, opcode, position);
  case ASHLAR_OP_LONG_BINPUT:
    source->next += 4;
    return put(machine, ashlar_load32(argument), opcode, position);
  case ASHLAR_OP_MARK:
    return mark(machine, position);
  case ASHLAR_OP_EMPTY_DICT:
    return ashlar_machine_new_container(machine, ASHLAR_PICKLE_DICT, position);
  case ASHLAR_OP_EMPTY_LIST:
    return ashlar_machine_new_container(machine, ASHLAR_PICKLE_LIST, position);
  case ASHLAR_OP_EMPTY_SET:
    return ashlar_machine_new_container(machine, ASHLAR_PICKLE_SET, position);
  case ASHLAR_OP_SETITEMS:
  case ASHLAR_OP_APPENDS:
  case ASHLAR_OP_ADDITEMS:
    return ashlar_machine_fill_many(machine, opcode, position);
  case ASHLAR_OP_APPEND:
  case ASHLAR_OP_SETITEM:
    return ashlar_machine_fill_one(machine, opcode, position);
  case ASHLAR_OP_EMPTY_TUPLE:
    return ashlar_machine_push(machine, &other);
  case ASHLAR_OP_TUPLE1:
  case ASHLAR_OP_TUPLE2:
  case ASHLAR_OP_TUPLE3:
    return make_one(machine, (size_t)(opcode - ASHLAR_OP_TUPLE1) + 1, false, opcode, position);
  case ASHLAR_OP_TUPLE:
  case ASHLAR_OP_FROZENSET:
    return make_one(machine, ashlar_machine_above(machine), true, opcode, position);
  case ASHLAR_OP_LIST:
  case ASHLAR_OP_DICT:
    return make_container(machine, opcode, position);
  case ASHLAR_OP_POP:
  case ASHLAR_OP_POP_MARK:
    return pop(machine, opcode, position);
  case ASHLAR_OP_DUP:
    return dup(machine, opcode, position);
  default:
    return literal(machine, opcode);
  }
}

/* After STOP: one value, which the schema knows, and nothing behind it. */
static bool finish(struct ashlar_pickle_machine *machine)
{
  const uint64_t position = ashlar_machine_here(machine);
  const struct ashlar_pickle_value *root = machine->stack;

  if (machine->depth == 0) {
    return ashlar_machine_underflow(machine, ASHLAR_OP_STOP, position);
  }
  if (machine->depth != 1 || machine->mark_count != 0) {
    return ashlar_error_set(machine->error, position, "STOP leaves %zu values on the stack",
                            machine->depth - 1 + machine->mark_count);
  }
  if (!ashlar_machine_is_container(root) || !ashlar_machine_has_role(root)) {
    return ashlar_error_set(machine->error, root->position,
                            "the outermost value is %s, not one that is read here",
                            ashlar_pickle_value_name(root));
  }
  machine->facts.root_kind = root->tag;
  if (!machine->schema->close(machine->context, root->role, position)) {
    return false;
  }
  if (ashlar_source_fill(machine->source, 1)) {
    return ashlar_error_set(machine->error, position + 1, "bytes follow the end of the pickle");
  }
  if (machine->source->read_errno != 0) {
    return ashlar_machine_cut_short(machine);
  }
  return true;
}

static bool begin(struct ashlar_pickle_machine *machine)
{
  struct ashlar_byte_source *source = machine->source;

  if (!ashlar_source_fill(source, 2) && source->next == source->end) {
    return source->read_errno != 0 ? ashlar_machine_cut_short(machine)
                                   : ashlar_error_set(machine->error, 0, "the input is empty");
  }
  if (*source->next != ASHLAR_OP_PROTO) {
    return ashlar_error_set(
        machine->error, 0, "no pickle of protocol 2 to 5: it must begin with byte 0x80, not 0x%02x",
        *source->next);
  }
  if (!ashlar_machine_ready(machine)) {
    return false;
  }
  machine->facts.protocol = source->next[1];
  return true;
}

static bool run(struct ashlar_pickle_machine *machine)
{
  struct ashlar_byte_source *source = machine->source;

  if (!begin(machine)) {
    return false;
  }
  for (;;) {
    uint8_t opcode;

    if (source->end - source->next < 9 && !ashlar_machine_ready(machine)) {
      return false;
    }
    opcode = *source->next;
    source->next++;
    if (opcode == ASHLAR_OP_STOP) {
      return finish(machine);
    }
    if (!execute(machine, opcode)) {
      return false;
    }
  }
}

bool ashlar_pickle_read(struct ashlar_byte_source *source,
                        const struct ashlar_pickle_schema *schema, void *context,
                        struct ashlar_pickle_facts *facts, struct ashlar_error *error)
{
  struct ashlar_pickle_machine machine = {
      .source = source,
      .schema = schema,
      .context = context,
      .error = error,
      .small_length = UINT8_MAX,
  };
  bool is_read;

  *facts = (struct ashlar_pickle_facts){0};
  machine.stack_capacity = ASHLAR_MACHINE_FIRST_STACK;
  machine.stack = malloc(machine.stack_capacity * sizeof *machine.stack);
  if (machine.stack == NULL) {
    return ashlar_error_set(error, 0, "out of memory for the stack");
  }
  is_read = run(&machine);
  *facts = machine.facts;
  ashlar_memo_free(&machine.memo);
  free(machine.stack);
  free(machine.marks);
  free(machine.levels);
  return is_read;
}
