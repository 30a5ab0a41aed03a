/* Numbers distinct pairs of 64-bit integers 0, 1, 2, … in the order of their first appearance.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/id_table.h"

#include <stddef.h>
#include <stdlib.h>

enum {
  MAX_PAIRS = 65536, /* an index is 16 bits wide */
  FIRST_SLOTS = 16   /* power of two */
};

struct pair {
  uint64_t first;
  uint64_t second;
};

/* Open addressing with linear probing; at most half of the slots are in use. */
struct ashlar_id_table {
  struct pair *pairs; /* slot_count / 2 of them */
  uint32_t *slots;    /* number of the pair + 1; 0: free */
  uint32_t slot_count;
  uint32_t pair_count;
  uint32_t last; /* the answer of the last look-up: nearly always the next one too */
};

/* Finaliser of a 64-bit multiplicative hash; the constants are odd and have bits well spread. */
static uint32_t hash_pair(uint64_t first, uint64_t second)
{
  uint64_t mixed = (first ^ (second * UINT64_C(0x9e3779b97f4a7c15))) + second;

  mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return (uint32_t)(mixed >> 32);
}

static bool holds(const struct ashlar_id_table *table, uint32_t number, uint64_t first,
                  uint64_t second)
{
  return table->pairs[number].first == first && table->pairs[number].second == second;
}

/* The slot of the pair, or the free slot where it would go. */
static uint32_t find_slot(const struct ashlar_id_table *table, uint64_t first, uint64_t second)
{
  const uint32_t mask = table->slot_count - 1;
  uint32_t slot = hash_pair(first, second) & mask;

  while (table->slots[slot] != 0 && !holds(table, table->slots[slot] - 1, first, second)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

static bool grow(struct ashlar_id_table *table)
{
  const uint32_t slot_count = table->slot_count * 2;
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  struct pair *pairs = realloc(table->pairs, (slot_count / 2) * sizeof *pairs);

  if (pairs != NULL) {
    table->pairs = pairs;
  }
  if (slots == NULL || pairs == NULL) {
    free(slots);
    return false;
  }
  free(table->slots);
  table->slots = slots;
  table->slot_count = slot_count;
  for (uint32_t i = 0; i < table->pair_count; i++) {
    slots[find_slot(table, pairs[i].first, pairs[i].second)] = i + 1;
  }
  return true;
}

struct ashlar_id_table *ashlar_id_table_new(void)
{
  struct ashlar_id_table *table = calloc(1, sizeof *table);

  if (table == NULL) {
    return NULL;
  }
  table->slot_count = FIRST_SLOTS;
  table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
  table->pairs = calloc(FIRST_SLOTS / 2, sizeof *table->pairs);
  if (table->slots == NULL || table->pairs == NULL) {
    ashlar_id_table_free(table);
    return NULL;
  }
  return table;
}

void ashlar_id_table_free(struct ashlar_id_table *table)
{
  if (table != NULL) {
    free(table->slots);
    free(table->pairs);
    free(table);
  }
}

bool ashlar_id_table_find(struct ashlar_id_table *table, uint64_t first, uint64_t second,
                          uint16_t *index, bool *is_new)
{
  uint32_t slot;

  *is_new = false;
  if (table->last < table->pair_count && holds(table, table->last, first, second)) {
    *index = (uint16_t)table->last;
    return true;
  }
  slot = find_slot(table, first, second);
  if (table->slots[slot] == 0) {
    if (table->pair_count == MAX_PAIRS) {
      return false;
    }
    if (table->pair_count == table->slot_count / 2) {
      if (!grow(table)) {
        return false;
      }
      slot = find_slot(table, first, second);
    }
    table->pairs[table->pair_count] = (struct pair){first, second};
    table->pair_count++;
    table->slots[slot] = table->pair_count;
    *is_new = true;
  }
  table->last = table->slots[slot] - 1;
  *index = (uint16_t)table->last;
  return true;
}
