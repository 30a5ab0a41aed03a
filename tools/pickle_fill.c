/* The pickle reader: creating and filling containers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pickle_machine.h"
#include "tools/pickle_opcodes.h"

/* Closes the open container at the top and turns it into a run, joined with the run below it. */
static bool finish_top(struct ashlar_pickle_machine *machine, uint64_t position)
{
  struct ashlar_pickle_value *item = &machine->stack[machine->depth - 1];

  if (!machine->schema->close(machine->context, item->role, position)) {
    return false;
  }
  item->tag = ASHLAR_PICKLE_RUN;
  item->count = 1;
  if (ashlar_machine_above(machine) >= 2 && item[-1].tag == ASHLAR_PICKLE_RUN &&
      item[-1].role == item->role && item[-1].count < UINT32_MAX) {
    item[-1].count++;
    machine->depth--;
  }
  return true;
}

/* The dictionary and key that a value pushed now belongs to, if any: the last value is a text and
 * either stands on a dictionary (SETITEM follows) or in the place of a key above the mark of one
 * (SETITEMS follows). The schema knows the key in at most one of the two. */
static unsigned role_at_key(const struct ashlar_pickle_machine *machine,
                            enum ashlar_pickle_tag kind)
{
  const struct ashlar_pickle_value *key = ashlar_machine_top(machine);
  const struct ashlar_pickle_value *outer = ashlar_machine_below_mark(machine);
  unsigned role = ASHLAR_ROLE_SKIP;

  if (ashlar_machine_above(machine) >= 2 && key[-1].tag == ASHLAR_PICKLE_DICT &&
      ashlar_machine_has_role(&key[-1])) {
    role = machine->schema->child(key[-1].role, key->word, kind);
  }
  if (role == ASHLAR_ROLE_SKIP && outer != NULL && outer->tag == ASHLAR_PICKLE_DICT &&
      ashlar_machine_has_role(outer) && (ashlar_machine_above(machine)) % 2 == 1) {
    role = machine->schema->child(outer->role, key->word, kind);
  }
  return role;
}

/* What a container created now is for. */
static unsigned role_here(const struct ashlar_pickle_machine *machine, enum ashlar_pickle_tag kind)
{
  const struct ashlar_pickle_value *last = ashlar_machine_top(machine);
  const struct ashlar_pickle_value *outer = ashlar_machine_below_mark(machine);
  unsigned role = ASHLAR_ROLE_SKIP;

  if (last == NULL && machine->mark_count == 0) {
    return machine->schema->child(ASHLAR_ROLE_ROOT, 0, kind);
  }
  if (last != NULL && last->tag == ASHLAR_PICKLE_TEXT) {
    return role_at_key(machine, kind);
  }
  /* A list on top is filled by APPEND; the kinds of elements tell it from a sibling. */
  if (last != NULL && last->tag == ASHLAR_PICKLE_LIST && ashlar_machine_has_role(last)) {
    role = machine->schema->child(last->role, 0, kind);
  }
  if (role == ASHLAR_ROLE_SKIP && outer != NULL && outer->tag == ASHLAR_PICKLE_LIST &&
      ashlar_machine_has_role(outer)) {
    role = machine->schema->child(outer->role, 0, kind);
  }
  return role;
}

/* An element of a list with a role begins: the one before it is complete, and nothing else stands
 * between. */
static bool finish_sibling(struct ashlar_pickle_machine *machine, unsigned role, uint64_t position)
{
  const struct ashlar_pickle_value *last = ashlar_machine_top(machine);

  if (last == NULL || last->tag == ASHLAR_PICKLE_TEXT) {
    return true; /* the first element, or the value at a key */
  }
  if (last->role == role) {
    return last->tag == ASHLAR_PICKLE_RUN || finish_top(machine, position);
  }
  if (last->tag == ASHLAR_PICKLE_LIST && ashlar_machine_has_role(last)) {
    return true; /* the list itself, filled by APPEND */
  }
  return ashlar_error_set(machine->error, position, "%s follows %s, which does not belong there",
                          machine->schema->role_name(role), ashlar_pickle_value_name(last));
}

bool ashlar_machine_new_container(struct ashlar_pickle_machine *machine,
                                  enum ashlar_pickle_tag kind, uint64_t position)
{
  const unsigned role = role_here(machine, kind);
  const struct ashlar_pickle_value value = {
      .position = position, .tag = (uint8_t)kind, .role = (uint8_t)role};

  if (role >= ASHLAR_ROLE_FIRST) {
    if (!finish_sibling(machine, role, position) ||
        !machine->schema->open(machine->context, role, position)) {
      return false;
    }
  }
  return ashlar_machine_push(machine, &value);
}

/* A list that should be a pair gets one value more; it is none if that is not the first or second
 * integer of 0 or more. */
static void extend_pair(struct ashlar_pickle_value *list, const struct ashlar_pickle_value *item)
{
  if (item->tag != ASHLAR_PICKLE_INT || list->word == 2) {
    list->role = ASHLAR_ROLE_SKIP;
  } else if (list->word == 0) {
    list->bits = item->bits;
    list->word = 1;
  } else {
    list->extra = item->bits;
    list->word = 2;
  }
}

/* What the list has become stands in the memo too. */
static bool memoize_pair(struct ashlar_pickle_machine *machine,
                         const struct ashlar_pickle_value *list, uint64_t position)
{
  struct ashlar_pickle_value pair = *list;

  if (list->count == 0) {
    return true;
  }
  if (list->role == ASHLAR_ROLE_PAIR && list->word == 2) {
    pair.tag = ASHLAR_PICKLE_PAIR;
    pair.role = ASHLAR_ROLE_SKIP;
  }
  return ashlar_machine_put(machine, list->count - 1, &pair, position);
}

static bool append_to_pair(struct ashlar_pickle_machine *machine, struct ashlar_pickle_value *list,
                           size_t count, uint8_t opcode, uint64_t position)
{
  if (!ashlar_machine_may_take(machine, count, opcode, position)) {
    return false;
  }
  for (size_t i = machine->depth - count; i < machine->depth; i++) {
    extend_pair(list, &machine->stack[i]);
  }
  return memoize_pair(machine, list, position);
}

/* Puts the value `item` into `list`, on behalf of APPEND and APPENDS. */
static bool append_item(struct ashlar_pickle_machine *machine,
                        const struct ashlar_pickle_value *list,
                        const struct ashlar_pickle_value *item, uint64_t position)
{
  const enum ashlar_pickle_tag kind = (enum ashlar_pickle_tag)item->tag;

  if (item->tag == ASHLAR_PICKLE_RUN) {
    if (item->role == machine->schema->child(list->role, 0, ASHLAR_PICKLE_DICT) ||
        item->role == machine->schema->child(list->role, 0, ASHLAR_PICKLE_LIST)) {
      return true;
    }
  } else if (ashlar_machine_is_container(item) && ashlar_machine_has_role(item) &&
             item->role == machine->schema->child(list->role, 0, kind)) {
    return machine->schema->close(machine->context, item->role, position);
  }
  return ashlar_error_set(machine->error, item->position,
                          "%s holds %s, which does not belong there",
                          machine->schema->role_name(list->role), ashlar_pickle_value_name(item));
}

/* A list that is skipped swallows everything except what has a place elsewhere. */
static bool append_items(struct ashlar_pickle_machine *machine, struct ashlar_pickle_value *list,
                         size_t count, uint8_t opcode, uint64_t position)
{
  if (list->role == ASHLAR_ROLE_SKIP) {
    return ashlar_machine_may_take(machine, count, opcode, position);
  }
  if (list->role == ASHLAR_ROLE_PAIR) {
    return append_to_pair(machine, list, count, opcode, position);
  }
  for (size_t i = machine->depth - count; i < machine->depth; i++) {
    if (!append_item(machine, list, &machine->stack[i], position)) {
      return false;
    }
  }
  return true;
}

/* Puts a key and a value into a dictionary of the schema. */
static bool store_item(struct ashlar_pickle_machine *machine,
                       const struct ashlar_pickle_value *dict,
                       const struct ashlar_pickle_value *key,
                       const struct ashlar_pickle_value *value, uint64_t position)
{
  const unsigned word = key->tag == ASHLAR_PICKLE_TEXT ? key->word : 0;

  if (ashlar_machine_has_role(key) || value->tag == ASHLAR_PICKLE_RUN) {
    return ashlar_error_set(machine->error, position,
                            "a container stands where it does not belong");
  }
  if (ashlar_machine_is_container(value) && ashlar_machine_has_role(value)) {
    if (word == 0 || value->role != machine->schema->child(dict->role, word,
                                                           (enum ashlar_pickle_tag)value->tag)) {
      return ashlar_error_set(machine->error, value->position, "%s stands at a wrong key",
                              machine->schema->role_name(value->role));
    }
    return machine->schema->close(machine->context, value->role, position);
  }
  return word == 0 || machine->schema->store(machine->context, dict->role, word, value);
}

static bool store_items(struct ashlar_pickle_machine *machine,
                        const struct ashlar_pickle_value *dict, size_t count, uint8_t opcode,
                        uint64_t position)
{
  const size_t first = machine->depth - count;

  if (count % 2 != 0) {
    return ashlar_error_set(machine->error, position, "SETITEMS finds a key with no value");
  }
  if (dict->role == ASHLAR_ROLE_SKIP) {
    return ashlar_machine_may_take(machine, count, opcode, position);
  }
  for (size_t i = first; i < machine->depth; i += 2) {
    struct ashlar_pickle_value *value = &machine->stack[i + 1];

    /* A pair written as a list: complete, or never. */
    if (value->tag == ASHLAR_PICKLE_LIST && value->role == ASHLAR_ROLE_PAIR) {
      value->tag = value->word == 2 ? ASHLAR_PICKLE_PAIR : ASHLAR_PICKLE_LIST;
      value->role = ASHLAR_ROLE_SKIP;
    }
    if (!store_item(machine, dict, &machine->stack[i], value, position)) {
      return false;
    }
  }
  return true;
}

/* The container that APPENDS, SETITEMS or ADDITEMS fills, of the right kind; NULL with the error
 * set. */
static struct ashlar_pickle_value *to_fill(const struct ashlar_pickle_machine *machine,
                                           struct ashlar_pickle_value *container,
                                           enum ashlar_pickle_tag kind, uint8_t opcode,
                                           uint64_t position)
{
  if (container == NULL || container->tag != kind) {
    (void)ashlar_error_set(machine->error, position, "opcode %s finds no container to fill",
                           ashlar_pickle_opcode_name(opcode));
    return NULL;
  }
  return container;
}

bool ashlar_machine_fill_many(struct ashlar_pickle_machine *machine, uint8_t opcode,
                              uint64_t position)
{
  const size_t count = ashlar_machine_above(machine);
  const enum ashlar_pickle_tag kind = opcode == ASHLAR_OP_APPENDS    ? ASHLAR_PICKLE_LIST
                                      : opcode == ASHLAR_OP_SETITEMS ? ASHLAR_PICKLE_DICT
                                                                     : ASHLAR_PICKLE_SET;
  struct ashlar_pickle_value *container;

  if (machine->mark_count == 0) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  container = to_fill(machine, ashlar_machine_below_mark(machine), kind, opcode, position);
  if (container == NULL) {
    return false;
  }
  if (kind == ASHLAR_PICKLE_LIST   ? !append_items(machine, container, count, opcode, position)
      : kind == ASHLAR_PICKLE_DICT ? !store_items(machine, container, count, opcode, position)
                                   : !ashlar_machine_may_take(machine, count, opcode, position)) {
    return false;
  }
  ashlar_machine_pop_mark(machine);
  return true;
}

bool ashlar_machine_fill_one(struct ashlar_pickle_machine *machine, uint8_t opcode,
                             uint64_t position)
{
  const bool is_append = opcode == ASHLAR_OP_APPEND;
  const size_t count = is_append ? 1 : 2;
  struct ashlar_pickle_value *container;

  if (ashlar_machine_above(machine) < count + 1) {
    return ashlar_machine_underflow(machine, opcode, position);
  }
  container = to_fill(machine, &machine->stack[machine->depth - count - 1],
                      is_append ? ASHLAR_PICKLE_LIST : ASHLAR_PICKLE_DICT, opcode, position);
  if (container == NULL ||
      !(is_append ? append_items(machine, container, count, opcode, position)
                  : store_items(machine, container, count, opcode, position))) {
    return false;
  }
  machine->depth -= count;
  return true;
}
