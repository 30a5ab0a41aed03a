/* index_check.c - see index_check.h.
 *
 * Only the header of the index and the fields that describe blocks are used, so that any structure may stand behind
 * the header. Keys are those that blocks can have: sizes and addresses are multiples of 512, ends do not wrap. Oracle of
 * REQ-BESTFIT-order, REQ-BESTFIT-least and REQ-BESTFIT-none.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz/index_check.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "fuzz/harness.h"

enum {
  GRANULE = 512,
  SLOTS = ASHLAR_SLOTS < 64 ? ASHLAR_SLOTS : 64,
  PLACES = 64,     /* addresses drawn, apart by more than any size drawn from one byte */
  STREAMS_USED = 3 /* of each pool */
};
#define PLACE_BYTES (UINT64_C(1) << 36)

struct key {
  uint64_t size;
  uint64_t age;
  uint64_t addr;
  int32_t list;
};

/* The index, and what it must hold: `member` says of each slot whether it is in. */
struct run {
  const struct fuzz_index *index;
  struct ashlar_manager *m;
  bool member[SLOTS];
  struct key key[SLOTS];
};

/* --- oracle: scans of all slots --- */

/* -1, 0, 1: a stands before b, is b, stands behind b. */
static FUZZ_ORACLE int compare(const struct key *a, const struct key *b)
{
  if (a->size != b->size) {
    return a->size < b->size ? -1 : 1;
  }
  if (a->age != b->age) {
    return a->age < b->age ? -1 : 1;
  }
  if (a->addr != b->addr) {
    return a->addr < b->addr ? -1 : 1;
  }
  return 0;
}

/* The first member of the key's list behind the key. */
static FUZZ_ORACLE int32_t scan_after(const struct run *run, struct key key)
{
  int32_t found = -1;
  for (int32_t i = 0; i < run->m->top; i++) {
    if (run->member[i] && run->key[i].list == key.list && compare(&run->key[i], &key) > 0 &&
        (found < 0 || compare(&run->key[i], &run->key[found]) < 0)) {
      found = i;
    }
  }
  return found;
}

/* The last one before it. */
static FUZZ_ORACLE int32_t scan_before(const struct run *run, struct key key)
{
  int32_t found = -1;
  for (int32_t i = 0; i < run->m->top; i++) {
    if (run->member[i] && run->key[i].list == key.list && compare(&run->key[i], &key) < 0 &&
        (found < 0 || compare(&run->key[i], &run->key[found]) > 0)) {
      found = i;
    }
  }
  return found;
}

/* The first one of at least that size. */
static FUZZ_ORACLE int32_t scan_best(const struct run *run, int32_t list, uint64_t size)
{
  int32_t found = -1;
  for (int32_t i = 0; i < run->m->top; i++) {
    if (run->member[i] && run->key[i].list == list && run->key[i].size >= size &&
        (found < 0 || compare(&run->key[i], &run->key[found]) < 0)) {
      found = i;
    }
  }
  return found;
}

static FUZZ_ORACLE bool is_taken(const struct run *run, uint64_t addr)
{
  for (int32_t i = 0; i < run->m->top; i++) {
    if (run->member[i] && run->key[i].addr == addr) {
      return true;
    }
  }
  return false;
}

/* --- drawing --- */

static int32_t draw_list(struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  const int32_t stream = form < 250 ? form / 2 % STREAMS_USED : ASHLAR_STREAMS - 1;
  return form % 2 * ASHLAR_STREAMS + stream;
}

/* Few different sizes, so that keys agree in their first parts; and any. */
static uint64_t draw_block_size(struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  if (form < 224) {
    return (uint64_t)GRANULE * (1 + form % 7);
  }
  return (1 + fuzz_size(in) % (PLACE_BYTES / GRANULE)) * GRANULE;
}

static uint64_t draw_age(struct fuzz_input *in)
{
  static const uint64_t ages[] = {0, 0, 0, 0, 1, 2, 3, UINT64_MAX};
  return ages[fuzz_below(in, 8)];
}

static struct key draw_key(struct fuzz_input *in)
{
  struct key key;
  key.list = draw_list(in);
  key.size = draw_block_size(in);
  key.age = draw_age(in);
  key.addr = PLACE_BYTES * fuzz_below(in, PLACES);
  return key;
}

/* A key to ask about: of a block, beside it, or any. */
static struct key draw_question(struct run *run, struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  struct key key;
  if (form % 4 == 0 || run->m->top == 0) {
    return draw_key(in);
  }
  key = run->key[form / 4 % run->m->top];
  key.addr += form % 4 == 1 ? GRANULE : 0;
  key.size -= form % 4 == 2 && form >= 128 ? 1 : 0;
  return key;
}

/* --- operations --- */

static void grow(struct run *run)
{
  struct ashlar_manager *m = run->m;
  const int32_t slot = m->top;
  if (slot == SLOTS) {
    return;
  }
  m->state[slot] = ASHLAR_ALLOCATED;
  m->prev[slot] = -1;
  m->next[slot] = -1;
  run->index->grow(m);
  FUZZ_SAY("grow: %" PRId32 " slots", m->top);
  FUZZ_CHECK(m->top == slot + 1, "grown to %" PRId32 " slots", m->top);
}

/* A member goes out; another slot gets a key and goes in, unless the address belongs to a member. */
static void change(struct run *run, struct fuzz_input *in)
{
  struct ashlar_manager *m = run->m;
  if (m->top == 0) {
    grow(run);
  }
  const int32_t slot = (int32_t)fuzz_below(in, (uint32_t)m->top);
  if (run->member[slot]) {
    FUZZ_SAY("remove slot %" PRId32, slot);
    run->member[slot] = false;
    run->index->remove(m, slot);
    m->state[slot] = ASHLAR_ALLOCATED;
    return;
  }
  const struct key key = draw_key(in);
  if (is_taken(run, key.addr)) {
    return;
  }
  FUZZ_SAY("insert slot %" PRId32 ": list %" PRId32 ", %" PRIu64 " bytes, age %" PRIu64
           ", at 0x%" PRIx64,
           slot, key.list, key.size, key.age, key.addr);
  m->list[slot] = key.list;
  m->size[slot] = key.size;
  m->age[slot] = key.age;
  m->addr[slot] = key.addr;
  m->state[slot] = ASHLAR_FREE;
  run->key[slot] = key;
  run->member[slot] = true;
  run->index->insert(m, slot);
}

static void ask_best(struct run *run, struct fuzz_input *in)
{
  const struct key key = draw_question(run, in);
  const int32_t found = run->index->best(run->m, key.list, key.size);
  const int32_t expected = scan_best(run, key.list, key.size);
  FUZZ_SAY("best of list %" PRId32 ", %" PRIu64 " bytes: slot %" PRId32, key.list, key.size, found);
  FUZZ_CHECK(found == expected, "best: slot %" PRId32 ", expected %" PRId32, found, expected);
}

static void ask_after(struct run *run, struct fuzz_input *in)
{
  const struct key key = draw_question(run, in);
  const int32_t found = run->index->after(run->m, key.list, key.size, key.age, key.addr);
  const int32_t expected = scan_after(run, key);
  FUZZ_SAY("after list %" PRId32 ", %" PRIu64 " bytes, age %" PRIu64 ", 0x%" PRIx64
           ": slot %" PRId32,
           key.list, key.size, key.age, key.addr, found);
  FUZZ_CHECK(found == expected, "after: slot %" PRId32 ", expected %" PRId32, found, expected);
}

static void ask_before(struct run *run, struct fuzz_input *in)
{
  const struct key key = draw_question(run, in);
  const int32_t found = run->index->before(run->m, key.list, key.size, key.age, key.addr);
  const int32_t expected = scan_before(run, key);
  FUZZ_SAY("before list %" PRId32 ", %" PRIu64 " bytes, age %" PRIu64 ", 0x%" PRIx64
           ": slot %" PRId32,
           key.list, key.size, key.age, key.addr, found);
  FUZZ_CHECK(found == expected, "before: slot %" PRId32 ", expected %" PRId32, found, expected);
}

/* From the first block of a list to the last: each member is met once, in order. */
static void walk(const struct run *run, int32_t list)
{
  const struct ashlar_manager *m = run->m;
  int32_t members = 0;
  int32_t met = 0;
  for (int32_t i = 0; i < m->top; i++) {
    members += run->member[i] && run->key[i].list == list ? 1 : 0;
  }
  int32_t slot = run->index->best(m, list, 0);
  while (slot >= 0 && slot < m->top && met < members) {
    const int32_t next = run->index->after(m, list, m->size[slot], m->age[slot], m->addr[slot]);
    FUZZ_CHECK(run->member[slot] && run->key[slot].list == list,
               "walk of list %" PRId32 ": slot %" PRId32 " is no member", list, slot);
    FUZZ_CHECK(next < 0 || next >= m->top || compare(&run->key[slot], &run->key[next]) < 0,
               "walk of list %" PRId32 ": slot %" PRId32 " before %" PRId32, list, slot, next);
    met++;
    slot = next;
  }
  FUZZ_SAY("walk of list %" PRId32 ": %" PRId32 " members", list, met);
  FUZZ_CHECK(met == members && slot == -1,
             "walk of list %" PRId32 ": %" PRId32 " of %" PRId32 " members, then slot %" PRId32,
             list, met, members, slot);
  fuzz_operations += (uint64_t)met + 1;
}

void fuzz_check_index(const struct fuzz_index *index, struct fuzz_input *in)
{
  static struct ashlar_manager storage;
  struct run run = {.index = index, .m = &storage};
  const uint32_t slots = 1 + fuzz_below(in, SLOTS);
  memset(&storage, 0, sizeof storage);
  for (uint32_t i = 0; i < slots; i++) {
    grow(&run);
  }
  while (fuzz_more(in)) {
    switch (fuzz_below(in, 16)) {
    case 0:
      grow(&run);
      break;
    case 1:
    case 2:
    case 3:
      ask_best(&run, in);
      break;
    case 4:
    case 5:
      ask_after(&run, in);
      break;
    case 6:
    case 7:
      ask_before(&run, in);
      break;
    default:
      change(&run, in);
      break;
    }
    fuzz_operations++;
  }
  for (int32_t pool = 0; pool < ASHLAR_CLASSES; pool++) {
    for (int32_t stream = 0; stream < STREAMS_USED; stream++) {
      walk(&run, pool * ASHLAR_STREAMS + stream);
    }
    walk(&run, pool * ASHLAR_STREAMS + ASHLAR_STREAMS - 1);
  }
}
