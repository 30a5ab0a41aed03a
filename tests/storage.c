/* storage.c - see storage.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MADV_DONTNEED */

#include "tests/storage.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTEWISE_SLOTS = 65536 }; /* up to here a whole manager is a few megabytes */

/* One array of slots inside the manager. */
struct span {
  size_t at;
  size_t width;
};

#define SPAN(field)                                                                                \
  {                                                                                                \
    offsetof(struct ashlar_manager, field), sizeof(((struct ashlar_manager *)0)->field[0])         \
  }

static const struct span SLOT_ARRAYS[] = {
    SPAN(addr),    SPAN(size),      SPAN(requested), SPAN(age),    SPAN(base),
    SPAN(home),    SPAN(list),      SPAN(prev),      SPAN(next),   SPAN(generation),
    SPAN(state),   SPAN(growable),  SPAN(hold),      SPAN(holder), SPAN(references),
    SPAN(entered), SPAN(first_use), SPAN(spare),     SPAN(order),  SPAN(place)};
enum { SLOT_ARRAY_COUNT = sizeof SLOT_ARRAYS / sizeof SLOT_ARRAYS[0] };

/* Arrays of use records. */
static const struct span USE_ARRAYS[] = {SPAN(use_block),  SPAN(use_stream), SPAN(use_serial),
                                         SPAN(use_number), SPAN(use_less),   SPAN(use_more),
                                         SPAN(use_next),   SPAN(use_spare)};
enum { USE_ARRAY_COUNT = sizeof USE_ARRAYS / sizeof USE_ARRAYS[0] };

/* Ranges that are no arrays of slots or uses. */
struct range {
  size_t from;
  size_t to;
};

static const struct range OTHERS[] = {
    {offsetof(struct ashlar_manager, spare_count), offsetof(struct ashlar_manager, order)},
    {offsetof(struct ashlar_manager, free_count), offsetof(struct ashlar_manager, use_block)},
    {offsetof(struct ashlar_manager, use_spare_count), sizeof(struct ashlar_manager)}};
enum { OTHER_COUNT = sizeof OTHERS / sizeof OTHERS[0] };

struct ashlar_manager *ashlar_storage_new(void)
{
  void *memory = mmap(NULL, sizeof(struct ashlar_manager), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    (void)fputs("no memory for a manager\n", stderr);
    exit(EXIT_FAILURE);
  }
  return memory;
}

void ashlar_storage_delete(struct ashlar_manager *m)
{
  if (munmap(m, sizeof *m) != 0) {
    (void)fputs("cannot give a manager's memory back\n", stderr);
    exit(EXIT_FAILURE);
  }
}

void ashlar_storage_clear(struct ashlar_manager *m)
{
  if (madvise(m, sizeof *m, MADV_DONTNEED) != 0) {
    (void)fputs("cannot zero a manager\n", stderr);
    exit(EXIT_FAILURE);
  }
}

static size_t entries(const struct ashlar_manager *m)
{
  return m->top < 0 ? 0 : (size_t)m->top;
}

static size_t uses(const struct ashlar_manager *m)
{
  return m->use_top < 0 ? 0 : (size_t)m->use_top;
}

void ashlar_storage_copy(struct ashlar_manager *to, const struct ashlar_manager *from)
{
  size_t count = entries(from);
  if (ASHLAR_SLOTS <= BYTEWISE_SLOTS) {
    memcpy(to, from, sizeof *to);
    return;
  }
  count = entries(to) > count ? entries(to) : count;
  for (size_t i = 0; i < SLOT_ARRAY_COUNT; i++) {
    memcpy((char *)to + SLOT_ARRAYS[i].at, (const char *)from + SLOT_ARRAYS[i].at,
           count * SLOT_ARRAYS[i].width);
  }
  count = uses(to) > uses(from) ? uses(to) : uses(from);
  for (size_t i = 0; i < USE_ARRAY_COUNT; i++) {
    memcpy((char *)to + USE_ARRAYS[i].at, (const char *)from + USE_ARRAYS[i].at,
           count * USE_ARRAYS[i].width);
  }
  for (size_t i = 0; i < OTHER_COUNT; i++) {
    memcpy((char *)to + OTHERS[i].from, (const char *)from + OTHERS[i].from,
           OTHERS[i].to - OTHERS[i].from);
  }
}

bool ashlar_storage_same(const struct ashlar_manager *a, const struct ashlar_manager *b)
{
  const size_t count = entries(a) > entries(b) ? entries(a) : entries(b);
  const size_t use_count = uses(a) > uses(b) ? uses(a) : uses(b);
  if (ASHLAR_SLOTS <= BYTEWISE_SLOTS) {
    return memcmp((const char *)a, (const char *)b, sizeof *a) == 0;
  }
  for (size_t i = 0; i < SLOT_ARRAY_COUNT; i++) {
    if (memcmp((const char *)a + SLOT_ARRAYS[i].at, (const char *)b + SLOT_ARRAYS[i].at,
               count * SLOT_ARRAYS[i].width) != 0) {
      return false;
    }
  }
  for (size_t i = 0; i < USE_ARRAY_COUNT; i++) {
    if (memcmp((const char *)a + USE_ARRAYS[i].at, (const char *)b + USE_ARRAYS[i].at,
               use_count * USE_ARRAYS[i].width) != 0) {
      return false;
    }
  }
  for (size_t i = 0; i < OTHER_COUNT; i++) {
    if (memcmp((const char *)a + OTHERS[i].from, (const char *)b + OTHERS[i].from,
               OTHERS[i].to - OTHERS[i].from) != 0) {
      return false;
    }
  }
  return true;
}

uint64_t ashlar_random(uint64_t *seed)
{
  uint64_t value;
  *seed += UINT64_C(0x9e3779b97f4a7c15);
  value = *seed;
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

uint64_t ashlar_random_below(uint64_t *seed, uint64_t bound)
{
  return ashlar_random(seed) % bound;
}
