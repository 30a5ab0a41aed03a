/* The pickle reader: the value stack and its marks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

const char *ashlar_pickle_value_name(const struct ashlar_pickle_value *value)
{
  static const char *const NAMES[] = {
      [ASHLAR_PICKLE_OTHER] = "another value",
      [ASHLAR_PICKLE_NONE] = "None",
      [ASHLAR_PICKLE_BOOL] = "a bool",
      [ASHLAR_PICKLE_INT] = "an integer",
      [ASHLAR_PICKLE_NEGATIVE] = "a negative integer",
      [ASHLAR_PICKLE_HUGE] = "an integer of more than 64 bits",
      [ASHLAR_PICKLE_FLOAT] = "a float",
      [ASHLAR_PICKLE_TEXT] = "a text",
      [ASHLAR_PICKLE_PAIR] = "a pair of integers",
      [ASHLAR_PICKLE_LIST] = "a list",
      [ASHLAR_PICKLE_DICT] = "a dictionary",
      [ASHLAR_PICKLE_SET] = "a set",
      [ASHLAR_PICKLE_REFERENCE] = "a container used twice",
      [ASHLAR_PICKLE_RUN] = "a container",
  };

  return value->tag < sizeof NAMES / sizeof NAMES[0] && NAMES[value->tag] != NULL
             ? NAMES[value->tag]
             : NAMES[ASHLAR_PICKLE_OTHER];
}

struct ashlar_pickle_value *ashlar_machine_below_mark(const struct ashlar_pickle_machine *machine)
{
  const size_t outer = machine->mark_count >= 2 ? machine->marks[machine->mark_count - 2] : 0;

  if (machine->mark_count == 0 || machine->fence == outer ||
      !ashlar_machine_is_container(&machine->stack[machine->fence - 1])) {
    return NULL;
  }
  return &machine->stack[machine->fence - 1];
}

bool ashlar_machine_push(struct ashlar_pickle_machine *machine,
                         const struct ashlar_pickle_value *value)
{
  if (machine->depth == machine->stack_capacity) {
    const size_t capacity = machine->depth * 2;
    struct ashlar_pickle_value *stack;

    if (machine->depth == ASHLAR_PICKLE_MAX_DEPTH) {
      return ashlar_error_set(machine->error, value->position, "more than %d values on the stack",
                              ASHLAR_PICKLE_MAX_DEPTH);
    }
    stack = realloc(machine->stack, capacity * sizeof *stack);
    if (stack == NULL) {
      return ashlar_error_set(machine->error, value->position, "out of memory for the stack");
    }
    machine->stack = stack;
    machine->stack_capacity = capacity;
  }
  machine->stack[machine->depth] = *value;
  machine->depth++;
  return true;
}

bool ashlar_machine_push_mark(struct ashlar_pickle_machine *machine, uint64_t position)
{
  if (machine->mark_count == machine->mark_capacity) {
    const size_t capacity =
        machine->mark_capacity == 0 ? ASHLAR_MACHINE_FIRST_STACK : machine->mark_count * 2;
    size_t *marks;

    if (machine->mark_count == ASHLAR_PICKLE_MAX_DEPTH) {
      return ashlar_error_set(machine->error, position, "more than %d marks on the stack",
                              ASHLAR_PICKLE_MAX_DEPTH);
    }
    marks = realloc(machine->marks, capacity * sizeof *marks);
    if (marks == NULL) {
      return ashlar_error_set(machine->error, position, "out of memory for the stack");
    }
    machine->marks = marks;
    machine->mark_capacity = capacity;
  }
  machine->marks[machine->mark_count] = machine->depth;
  machine->mark_count++;
  machine->fence = machine->depth;
  return true;
}

void ashlar_machine_pop_mark(struct ashlar_pickle_machine *machine)
{
  machine->depth = machine->fence;
  machine->mark_count--;
  machine->fence = machine->mark_count > 0 ? machine->marks[machine->mark_count - 1] : 0;
}

bool ashlar_machine_may_take(const struct ashlar_pickle_machine *machine, size_t count,
                             uint8_t opcode, uint64_t position)
{
  if (ashlar_machine_above(machine) < count) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  for (size_t i = machine->depth - count; i < machine->depth; i++) {
    if (ashlar_machine_has_role(&machine->stack[i]) &&
        machine->stack[i].tag != ASHLAR_PICKLE_REFERENCE) {
      return ashlar_error_set(machine->error, position, "opcode %s takes %s out of its place",
                              ashlar_pickle_opcode_name(opcode),
                              machine->schema->role_name(machine->stack[i].role));
    }
  }
  return true;
}
