/* The inside of the pickle reader, shared by its files only.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *   value stack   [ v v v | v v | v … ]      | : a mark, remembered as the height of the stack
 *
 * A dictionary or list is filled by  container MARK values… SETITEMS / APPENDS, or one at a time by
 * SETITEM / APPEND. While the container below the mark is one that is skipped, the reader is in
 * pickle_skip.c, which keeps of each level only how many values there are and the last two. */
#ifndef ASHLAR_TOOLS_PICKLE_MACHINE_H
#define ASHLAR_TOOLS_PICKLE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/pickle_memo.h"
#include "tools/pickle_reader.h"

enum { ASHLAR_MACHINE_FIRST_STACK = 256 }; /* values, and marks, that there is room for at first */

/* One level of skipped data: the values above one mark. */
struct ashlar_skip_level {
  uint64_t count;
  uint64_t last;   /* short form; meaningful if count >= 1 */
  uint64_t before; /* short form; meaningful if count >= 2 */
};

struct ashlar_pickle_machine {
  struct ashlar_byte_source *source;
  const struct ashlar_pickle_schema *schema;
  void *context;
  struct ashlar_error *error;
  struct ashlar_pickle_value *stack; /* never NULL */
  size_t depth, stack_capacity;
  size_t *marks; /* heights of the value stack */
  size_t mark_count, mark_capacity;
  size_t fence; /* height at the last mark, or 0: values below it are out of reach */
  struct ashlar_skip_level *levels;
  size_t level_capacity;
  struct ashlar_pickle_memo memo;
  struct ashlar_pickle_facts facts;
  /* The last short text that pickle_pairs.c looked up, its bytes at the upper end. */
  uint64_t small_text;
  uint16_t small_word;
  uint8_t small_length; /* UINT8_MAX: none yet */
};

/* Offset of the opcode that is being executed, given that `source->next` stands behind its first
 * byte. */
static inline uint64_t ashlar_machine_here(const struct ashlar_pickle_machine *machine)
{
  return ashlar_source_position(machine->source) - 1;
}

/* Little-endian numbers that follow an opcode. */
static inline uint32_t ashlar_load16(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] | ((uint32_t)bytes[1] << 8);
}

static inline uint32_t ashlar_load32(const uint8_t *bytes)
{
  return ashlar_load16(bytes) | (ashlar_load16(bytes + 2) << 16);
}

static inline uint64_t ashlar_load64(const uint8_t *bytes)
{
  return (uint64_t)ashlar_load32(bytes) | ((uint64_t)ashlar_load32(bytes + 4) << 32);
}

/* Makes the next opcode and the argument that directly follows it available. False, with the error
 * set, where the input ends before that. */
bool ashlar_machine_ready(struct ashlar_pickle_machine *machine);

/* Sets the error "unexpected end" or "cannot read" at the end of what was read; returns false. */
bool ashlar_machine_cut_short(const struct ashlar_pickle_machine *machine);

/* Sets the error for an opcode that is refused everywhere; returns false. */
bool ashlar_machine_refuse(const struct ashlar_pickle_machine *machine, uint8_t opcode,
                           uint64_t position);

/* Sets the error for an opcode that finds too few values above the mark; returns false. */
bool ashlar_machine_underflow(const struct ashlar_pickle_machine *machine, uint8_t opcode,
                              uint64_t position);

/* Executes an opcode that pushes a number, text or bytes, or that does nothing (PROTO, FRAME), with
 * `source->next` behind its first byte and its argument available. *value has tag 0 where nothing
 * is pushed. Text and bytes that are not wanted are passed over. `keep_role` and `keep_key` say for
 * which place a text is meant (role ASHLAR_ROLE_SKIP: none). */
bool ashlar_machine_literal(struct ashlar_pickle_machine *machine, uint8_t opcode,
                            unsigned keep_role, unsigned keep_key,
                            struct ashlar_pickle_value *value);

/* Stores a value in the memo; sets the error where that is refused. */
bool ashlar_machine_put(struct ashlar_pickle_machine *machine, uint64_t index,
                        const struct ashlar_pickle_value *value, uint64_t position);
bool ashlar_machine_put_short(struct ashlar_pickle_machine *machine, uint64_t index,
                              uint64_t packed, uint64_t position);

/* --- pickle_stack.c: the value stack and its marks --- */

/* Whether a value is a list, dictionary or set that can be filled. */
static inline bool ashlar_machine_is_container(const struct ashlar_pickle_value *value)
{
  return value->tag == ASHLAR_PICKLE_LIST || value->tag == ASHLAR_PICKLE_DICT ||
         value->tag == ASHLAR_PICKLE_SET;
}

/* Whether a value is, or stands for, a container that the schema has a role for. */
static inline bool ashlar_machine_has_role(const struct ashlar_pickle_value *value)
{
  return value->role >= ASHLAR_ROLE_FIRST;
}

/* The values above the last mark: their number, and the last of them or NULL. */
static inline size_t ashlar_machine_above(const struct ashlar_pickle_machine *machine)
{
  return machine->depth - machine->fence;
}

static inline struct ashlar_pickle_value *
ashlar_machine_top(const struct ashlar_pickle_machine *machine)
{
  return machine->depth > machine->fence ? &machine->stack[machine->depth - 1] : NULL;
}

/* The container that the values above the last mark may go into, or NULL. */
struct ashlar_pickle_value *ashlar_machine_below_mark(const struct ashlar_pickle_machine *machine);

/* Push a copy of a value, or a mark. False, with the error set, when there are too many of them or
 * memory is short. */
bool ashlar_machine_push(struct ashlar_pickle_machine *machine,
                         const struct ashlar_pickle_value *value);
bool ashlar_machine_push_mark(struct ashlar_pickle_machine *machine, uint64_t position);

/* Forgets the last mark and the values above it. */
void ashlar_machine_pop_mark(struct ashlar_pickle_machine *machine);

/* Whether the last `count` values are above the mark and none of them is a container with a role,
 * which may not be dropped, doubled or put elsewhere; else sets the error. */
bool ashlar_machine_may_take(const struct ashlar_pickle_machine *machine, size_t count,
                             uint8_t opcode, uint64_t position);

/* --- pickle_fill.c: creating and filling containers --- */

/* EMPTY_LIST, EMPTY_DICT, EMPTY_SET: gives the container its role and pushes it. */
bool ashlar_machine_new_container(struct ashlar_pickle_machine *machine,
                                  enum ashlar_pickle_tag kind, uint64_t position);

/* APPENDS, SETITEMS, ADDITEMS. */
bool ashlar_machine_fill_many(struct ashlar_pickle_machine *machine, uint8_t opcode,
                              uint64_t position);

/* APPEND, SETITEM. */
bool ashlar_machine_fill_one(struct ashlar_pickle_machine *machine, uint8_t opcode,
                             uint64_t position);

/* --- pickle_pairs.c: the fast way through the dictionaries of the schema --- */

/* MARK above a dictionary with a role: stores keys and values as they come, as long as they are
 * plain. Either reaches SETITEMS and consumes it, and likewise the dictionaries that follow in the same
 * list, or pushes the mark (and a key, if one was read) and leaves the rest to the stack machine. Only opcodes that take values back off the stack, which
 * no writer uses here, can tell the difference: they then find too few. */
bool ashlar_machine_pairs(struct ashlar_pickle_machine *machine, uint64_t position);

/* --- pickle_skip.c: contents of containers that are skipped --- */

/* How the skipping of one container's contents ended. */
enum ashlar_skip_end {
  ASHLAR_SKIP_FAILED = 0, /* the error is set */
  ASHLAR_SKIP_STORED,     /* the values went into the container, or only the mark was taken away */
  ASHLAR_SKIP_MADE        /* they became one value, *made, that is to be pushed */
};

/* Consumes everything up to and including the opcode that takes the mark just set away. The value
 * below that mark is a container of the given kind that is skipped. */
enum ashlar_skip_end ashlar_machine_skip(struct ashlar_pickle_machine *machine,
                                         enum ashlar_pickle_tag kind,
                                         struct ashlar_pickle_value *made);

#endif
