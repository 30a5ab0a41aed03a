/* check_map.c - see check.h: address map.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/size_policy.h"

static int32_t map_in_range(const struct ashlar_manager *m)
{
  int32_t b = 0;
  int32_t i = 0;
  while (b < ASHLAR_BUCKETS) {
    if (m->bucket[b] < 0 || m->bucket[b] > m->top) {
      return b;
    }
    b++;
  }
  while (i < ASHLAR_SLOTS) {
    if (m->chain[i] < 0 || m->chain[i] > m->top) {
      return i;
    }
    i++;
  }
  return -1;
}

static uint64_t bucket_number(const struct ashlar_manager *m, int32_t i)
{
  return m->addr[i] / ASHLAR_GRANULE % ASHLAR_BUCKETS;
}

static int32_t map_heads(const struct ashlar_manager *m)
{
  int32_t b = 0;
  uint64_t number = 0;
  while (b < ASHLAR_BUCKETS) {
    int32_t first = m->bucket[b] - 1;
    if (first != -1 && (m->in_map[first] != 1 || bucket_number(m, first) != number)) {
      return first;
    }
    b++;
    number++;
  }
  return -1;
}

static int32_t map_chains(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t after = m->chain[i] - 1;
    if (m->in_map[i] == 1 && after != -1 &&
        (after <= i || m->in_map[after] != 1 || bucket_number(m, after) != bucket_number(m, i))) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t map_first(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->in_map[i] == 1) {
      int32_t first = m->bucket[bucket_number(m, i)] - 1;
      if (first == -1 || first > i) {
        return i;
      }
    }
    i++;
  }
  return -1;
}

/* How many blocks the chains have, all together. Each chain ascends, and in the blocks of its own bucket, so none is met
   twice. */
static int32_t chained(const struct ashlar_manager *m)
{
  int32_t count = 0;
  int32_t b = 0;
  while (b < ASHLAR_BUCKETS) {
    int32_t link = m->bucket[b];
    while (link != 0) {
      count++;
      link = m->chain[link - 1];
    }
    b++;
  }
  return count;
}

/* The last block of a chain that does not stand behind a block: behind it, the chain leaves that block out or has it. */
static int32_t last_until(const struct ashlar_manager *m, int32_t i)
{
  int32_t last = m->bucket[bucket_number(m, i)] - 1;
  while (m->chain[last] != 0 && m->chain[last] - 1 <= i) {
    last = m->chain[last] - 1;
  }
  return last;
}

/* A chain that ascends leaves no block of its bucket out between two others exactly if all blocks of the map are in chains;
   and none is met twice, so it is enough to count them. Where one is missing, it is looked for. */
static int32_t map_next(const struct ashlar_manager *m)
{
  int32_t mapped = 0;
  int32_t i = 0;
  while (i < m->top) {
    mapped += m->in_map[i] == 1;
    i++;
  }
  if (mapped == chained(m)) {
    return -1;
  }
  i = 0;
  while (i < m->top - 1 && (m->in_map[i] != 1 || last_until(m, i) == i)) {
    i++;
  }
  return i;
}

int32_t ashlar_check_map(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_MAP_IN_RANGE:
    return map_in_range(m);
  case ASHLAR_CLAUSE_MAP_HEADS:
    return map_heads(m);
  case ASHLAR_CLAUSE_MAP_CHAINS:
    return map_chains(m);
  case ASHLAR_CLAUSE_MAP_FIRST:
    return map_first(m);
  case ASHLAR_CLAUSE_MAP_NEXT:
    return map_next(m);
  default:
    return -1;
  }
}
