/* The pickle reader: contents of containers that are skipped.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Most of a recorded snapshot is stack frames, so this loop decides the speed. It keeps of every
 * level (the values above one mark) their number and the short forms of the last two: enough for
 * underflow checks, the memo, and pairs of integers that are reused outside. The state of the
 * innermost level is in local variables. */
#include <stdlib.h>

#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

enum {
  FIRST_LEVELS = 64,
  MARGIN = 10 /* more than an opcode and its argument */
};

/* The walk over one container's contents. `top` is the innermost level; the levels around it are in
 * machine->levels[0 … depth - 1]. */
struct walk {
  struct ashlar_pickle_machine *machine;
  struct ashlar_skip_level top;
  size_t depth;
  unsigned kind; /* tag of the container below the outermost mark */
  uint64_t made; /* short form of what the outermost level became */
  enum ashlar_skip_end end;
  bool is_over;
};

static uint64_t other(void)
{
  return ashlar_short_make(ASHLAR_PICKLE_OTHER, 0);
}

static inline void push(struct ashlar_skip_level *top, uint64_t packed)
{
  top->before = top->last;
  top->last = packed;
  top->count++;
}

static inline void drop_last(struct ashlar_skip_level *top)
{
  top->last = top->before;
  top->before = ashlar_short_make(ASHLAR_PICKLE_UNKNOWN, 0);
  top->count--;
}

/* Room for one more level. */
static bool deepen(struct walk *walk, uint64_t position)
{
  struct ashlar_pickle_machine *machine = walk->machine;
  const size_t capacity =
      machine->level_capacity < FIRST_LEVELS ? FIRST_LEVELS : machine->level_capacity * 2;
  struct ashlar_skip_level *levels;

  if (walk->depth == ASHLAR_PICKLE_MAX_DEPTH) {
    return ashlar_error_set(machine->error, position, "nested deeper than %d levels",
                            ASHLAR_PICKLE_MAX_DEPTH);
  }
  if (walk->depth < machine->level_capacity) {
    return true;
  }
  levels = realloc(machine->levels, capacity * sizeof *levels);
  if (levels == NULL) {
    return ashlar_error_set(machine->error, position, "out of memory for nested values");
  }
  machine->levels = levels;
  machine->level_capacity = capacity;
  return true;
}

static inline bool open_level(struct walk *walk, uint64_t position)
{
  if (walk->depth >= walk->machine->level_capacity && !deepen(walk, position)) {
    return false;
  }
  walk->machine->levels[walk->depth] = walk->top;
  walk->depth++;
  walk->top = (struct ashlar_skip_level){0, 0, 0};
  return true;
}

/* APPENDS, SETITEMS, ADDITEMS: the level goes into the container below its mark. */
static inline bool close_into(struct walk *walk, unsigned kind, uint8_t opcode, uint64_t position)
{
  const bool is_odd = kind == ASHLAR_PICKLE_DICT && walk->top.count % 2 != 0;
  unsigned below = walk->kind;

  if (walk->depth == 0) {
    walk->is_over = true;
    walk->end = ASHLAR_SKIP_STORED;
  } else {
    walk->depth--;
    walk->top = walk->machine->levels[walk->depth];
    if (walk->top.count == 0) {
      return ashlar_machine_underflow(walk->machine, opcode, position);
    }
    below = ashlar_short_tag(walk->top.last);
  }
  if (is_odd) {
    return ashlar_error_set(walk->machine->error, position, "SETITEMS finds a key with no value");
  }
  if (below != kind && below != ASHLAR_PICKLE_UNKNOWN) {
    return ashlar_error_set(walk->machine->error, position,
                            "opcode %s finds no container to fill below its mark",
                            ashlar_pickle_opcode_name(opcode));
  }
  return true;
}

/* TUPLE, LIST, DICT, FROZENSET: the level becomes one value. */
static void close_as(struct walk *walk, uint64_t packed)
{
  if (walk->depth == 0) {
    walk->is_over = true;
    walk->end = ASHLAR_SKIP_MADE;
    walk->made = packed;
    return;
  }
  walk->depth--;
  walk->top = walk->machine->levels[walk->depth];
  push(&walk->top, packed);
}

/* POP_MARK, or POP of a mark: the level goes away. */
static void close_level(struct walk *walk)
{
  if (walk->depth == 0) {
    walk->is_over = true;
    walk->end = ASHLAR_SKIP_STORED;
    return;
  }
  walk->depth--;
  walk->top = walk->machine->levels[walk->depth];
}

static bool needs(const struct walk *walk, uint64_t count, uint8_t opcode, uint64_t position)
{
  return walk->top.count >= count || ashlar_machine_underflow(walk->machine, opcode, position);
}

/* APPEND and SETITEM. */
static bool add_one(struct walk *walk, uint8_t opcode, uint64_t position)
{
  const bool is_append = opcode == ASHLAR_OP_APPEND;
  const unsigned kind = is_append ? ASHLAR_PICKLE_LIST : ASHLAR_PICKLE_DICT;
  unsigned found;

  if (!needs(walk, is_append ? 2 : 3, opcode, position)) {
    return false;
  }
  drop_last(&walk->top);
  if (!is_append) {
    drop_last(&walk->top);
  }
  found = ashlar_short_tag(walk->top.last);
  if (found != kind && found != ASHLAR_PICKLE_UNKNOWN) {
    return ashlar_error_set(walk->machine->error, position, "opcode %s finds no container to fill",
                            ashlar_pickle_opcode_name(opcode));
  }
  return true;
}

/* TUPLE1, TUPLE2, TUPLE3. */
static bool make_tuple(struct walk *walk, unsigned length, uint8_t opcode, uint64_t position)
{
  uint64_t packed = other();

  if (!needs(walk, length, opcode, position)) {
    return false;
  }
  if (length == 2) {
    packed = ashlar_short_pair(walk->top.before, walk->top.last);
  }
  for (unsigned i = 0; i < length; i++) {
    drop_last(&walk->top);
  }
  push(&walk->top, packed);
  return true;
}

/* The opcodes that snapshots seldom or never use. */
static bool rare(struct walk *walk, uint8_t opcode, uint64_t position)
{
  struct ashlar_pickle_machine *machine = walk->machine;
  struct ashlar_pickle_value value;
  uint64_t packed = 0;

  switch (opcode) {
  case ASHLAR_OP_APPEND:
  case ASHLAR_OP_SETITEM:
    return add_one(walk, opcode, position);
  case ASHLAR_OP_TUPLE1:
  case ASHLAR_OP_TUPLE2:
  case ASHLAR_OP_TUPLE3:
    return make_tuple(walk, (unsigned)(opcode - ASHLAR_OP_TUPLE1) + 1, opcode, position);
  case ASHLAR_OP_EMPTY_TUPLE:
    push(&walk->top, other());
    return true;
  case ASHLAR_OP_EMPTY_SET:
    push(&walk->top, ashlar_short_make(ASHLAR_PICKLE_SET, 0));
    return true;
  case ASHLAR_OP_ADDITEMS:
    return close_into(walk, ASHLAR_PICKLE_SET, opcode, position);
  case ASHLAR_OP_TUPLE:
    close_as(walk,
             walk->top.count == 2 ? ashlar_short_pair(walk->top.before, walk->top.last) : other());
    return true;
  case ASHLAR_OP_LIST:
    close_as(walk, ashlar_short_make(ASHLAR_PICKLE_LIST, 0));
    return true;
  case ASHLAR_OP_DICT:
    if (walk->top.count % 2 != 0) {
      return ashlar_error_set(machine->error, position, "DICT finds a key with no value");
    }
    close_as(walk, ashlar_short_make(ASHLAR_PICKLE_DICT, 0));
    return true;
  case ASHLAR_OP_FROZENSET:
    close_as(walk, other());
    return true;
  case ASHLAR_OP_POP_MARK:
    close_level(walk);
    return true;
  case ASHLAR_OP_POP:
    if (walk->top.count == 0) {
      close_level(walk);
    } else {
      drop_last(&walk->top);
    }
    return true;
  case ASHLAR_OP_DUP:
    if (!needs(walk, 1, opcode, position)) {
      return false;
    }
    push(&walk->top, walk->top.last);
    return true;
  case ASHLAR_OP_BINPUT:
    packed = *machine->source->next;
    machine->source->next++;
    return needs(walk, 1, opcode, position) &&
           ashlar_machine_put_short(machine, packed, walk->top.last, position);
  case ASHLAR_OP_LONG_BINPUT:
    packed = ashlar_load32(machine->source->next);
    machine->source->next += 4;
    return needs(walk, 1, opcode, position) &&
           ashlar_machine_put_short(machine, packed, walk->top.last, position);
  case ASHLAR_OP_STOP:
    return ashlar_error_set(machine->error, position, "STOP within a list or dictionary");
  default:
    break;
  }
  if (!ashlar_machine_literal(machine, opcode, ASHLAR_ROLE_SKIP, 0, &value)) {
    return false;
  }
  if (value.tag != 0) {
    if (!ashlar_short_pack(&value, &packed)) {
      packed = other();
    }
    push(&walk->top, packed);
  }
  return true;
}

static bool no_such_entry(const struct walk *walk, uint64_t index, uint64_t position)
{
  return ashlar_error_set(walk->machine->error, position, "memo index %llu is not defined",
                          (unsigned long long)index);
}

/* Memo entries in a row, the first at `next`, which begins with the opcode: the bulk of most
 * snapshots. Returns the first opcode that is something else or too near the end of what is in
 * memory; NULL on error. */
static const uint8_t *push_entries(struct walk *walk, const uint8_t *next)
{
  const struct ashlar_byte_source *source = walk->machine->source;
  const uint64_t *entries = walk->machine->memo.entries;
  const uint64_t count = walk->machine->memo.count;
  const uint8_t *end = source->end - MARGIN;
  uint64_t last = walk->top.last;
  uint64_t before = walk->top.before;
  uint64_t pushed = 0;

  do {
    uint64_t index;
    size_t used;

    if (*next == ASHLAR_OP_LONG_BINGET) {
      index = ashlar_load32(next + 1);
      used = 5;
    } else if (*next == ASHLAR_OP_BINGET) {
      index = next[1];
      used = 2;
    } else {
      break;
    }
    if (index >= count || entries[index] == 0) {
      (void)no_such_entry(walk, index, source->window_at + (uint64_t)(next - source->window));
      return NULL;
    }
    before = last;
    last = entries[index];
    pushed++;
    next += used;
  } while (next <= end);
  walk->top.last = last;
  walk->top.before = before;
  walk->top.count += pushed;
  return next;
}

/* One opcode at `next`, which with its argument is available. Returns the next one, or NULL on
 * error. */
static inline const uint8_t *step(struct walk *walk, const uint8_t *next)
{
  struct ashlar_pickle_machine *machine = walk->machine;
  struct ashlar_byte_source *source = machine->source;
  const uint64_t position = source->window_at + (uint64_t)(next - source->window);
  const uint8_t opcode = *next;

  next++;
  switch (opcode) {
  case ASHLAR_OP_LONG_BINGET:
  case ASHLAR_OP_BINGET:
    return push_entries(walk, next - 1);
  case ASHLAR_OP_MEMOIZE:
    if (!needs(walk, 1, opcode, position) ||
        !ashlar_machine_put_short(machine, machine->memo.stored, walk->top.last, position)) {
      return NULL;
    }
    return next;
  case ASHLAR_OP_EMPTY_LIST:
    push(&walk->top, ashlar_short_make(ASHLAR_PICKLE_LIST, 0));
    return next;
  case ASHLAR_OP_EMPTY_DICT:
    push(&walk->top, ashlar_short_make(ASHLAR_PICKLE_DICT, 0));
    return next;
  case ASHLAR_OP_MARK:
    return open_level(walk, position) ? next : NULL;
  case ASHLAR_OP_SETITEMS:
    return close_into(walk, ASHLAR_PICKLE_DICT, opcode, position) ? next : NULL;
  case ASHLAR_OP_APPENDS:
    return close_into(walk, ASHLAR_PICKLE_LIST, opcode, position) ? next : NULL;
  case ASHLAR_OP_BININT1:
    push(&walk->top, ashlar_short_int(*next));
    return next + 1;
  case ASHLAR_OP_BININT2:
    push(&walk->top, ashlar_short_int(ashlar_load16(next)));
    return next + 2;
  default:
    source->next = next;
    return rare(walk, opcode, position) ? source->next : NULL;
  }
}

enum ashlar_skip_end ashlar_machine_skip(struct ashlar_pickle_machine *machine,
                                         enum ashlar_pickle_tag kind,
                                         struct ashlar_pickle_value *made)
{
  struct ashlar_byte_source *source = machine->source;
  struct walk walk = {.machine = machine, .kind = kind};
  const uint8_t *next = source->next;

  while (!walk.is_over) {
    if (source->end - next < MARGIN) {
      source->next = next;
      if (!ashlar_machine_ready(machine)) {
        return ASHLAR_SKIP_FAILED;
      }
      next = source->next;
    }
    next = step(&walk, next);
    if (next == NULL) {
      return ASHLAR_SKIP_FAILED;
    }
  }
  source->next = next;
  if (walk.end == ASHLAR_SKIP_MADE) {
    *made = ashlar_short_unpack(walk.made, ashlar_source_position(source) - 1);
  }
  return walk.end;
}
