/* history_live.c - see history_live.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/history_live.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

#define UNUSED UINT64_MAX
#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by it: spreads multiples of 512 */

/* Place at which the search for an address starts. The product's upper half is mixed in, because
   the low bits of an address are all alike. */
static uint64_t home_of(const struct ashlar_live_table *table, uint64_t address)
{
  const uint64_t product = address * GOLDEN_RATIO;
  return (product ^ (product >> 32)) & (table->capacity - 1);
}

void ashlar_live_free(struct ashlar_live_table *table)
{
  free(table->entries);
  *table = (struct ashlar_live_table){0};
}

struct ashlar_live *ashlar_live_find(const struct ashlar_live_table *table, uint64_t address)
{
  if (table->count == 0) {
    return NULL;
  }
  uint64_t place = home_of(table, address);
  while (table->entries[place].address != address) {
    if (table->entries[place].address == UNUSED) {
      return NULL;
    }
    place = (place + 1) & (table->capacity - 1);
  }
  return &table->entries[place];
}

static bool grow(struct ashlar_live_table *table)
{
  struct ashlar_live_table grown = {NULL, table->capacity * 2, table->count};
  if (grown.capacity == 0) {
    grown.capacity = FIRST_CAPACITY;
  }
  if (grown.capacity > SIZE_MAX / sizeof *grown.entries) {
    return false;
  }
  grown.entries = malloc((size_t)grown.capacity * sizeof *grown.entries);
  if (grown.entries == NULL) {
    return false;
  }
  memset(grown.entries, 0xff, (size_t)grown.capacity * sizeof *grown.entries);
  for (uint64_t i = 0; i < table->capacity; i++) {
    if (table->entries[i].address != UNUSED) {
      uint64_t place = home_of(&grown, table->entries[i].address);
      while (grown.entries[place].address != UNUSED) {
        place = (place + 1) & (grown.capacity - 1);
      }
      grown.entries[place] = table->entries[i];
    }
  }
  free(table->entries);
  *table = grown;
  return true;
}

struct ashlar_live *ashlar_live_add(struct ashlar_live_table *table, uint64_t address)
{
  if (table->count >= table->capacity / 2 && !grow(table)) {
    return NULL;
  }
  uint64_t place = home_of(table, address);
  while (table->entries[place].address != UNUSED && table->entries[place].address != address) {
    place = (place + 1) & (table->capacity - 1);
  }
  struct ashlar_live *entry = &table->entries[place];
  if (entry->address == UNUSED) {
    *entry = (struct ashlar_live){.address = address, .event = ASHLAR_NO_EVENT};
    table->count++;
  }
  return entry;
}

void ashlar_live_remove(struct ashlar_live_table *table, const struct ashlar_live *entry)
{
  uint64_t hole = (uint64_t)(entry - table->entries);
  uint64_t place = hole;
  const uint64_t mask = table->capacity - 1;
  table->count--;
  /* Close the hole, so that no search stops at it: move up each entry that may stand there. */
  for (;;) {
    place = (place + 1) & mask;
    if (table->entries[place].address == UNUSED) {
      break;
    }
    const uint64_t home = home_of(table, table->entries[place].address);
    if (((place - home) & mask) >= ((place - hole) & mask)) {
      table->entries[hole] = table->entries[place];
      hole = place;
    }
  }
  table->entries[hole].address = UNUSED;
}

bool ashlar_live_copy(struct ashlar_live_table *copy, const struct ashlar_live_table *table)
{
  *copy = (struct ashlar_live_table){0};
  if (table->capacity == 0) {
    return true;
  }
  const size_t bytes = (size_t)table->capacity * sizeof *table->entries;
  copy->entries = malloc(bytes);
  if (copy->entries == NULL) {
    return false;
  }
  memcpy(copy->entries, table->entries, bytes);
  copy->capacity = table->capacity;
  copy->count = table->count;
  return true;
}
