/* core_check_blocks.c - see core_check.h: free index, block table and address map, clause by clause.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"
#include "tests/core_check_clauses.h"

#include <stdlib.h>

enum { HOLDS = ASHLAR_CORE_HOLDS, GRANULE = 512 };

/* --- free index --- */

/* Whether block i stands before block j in free-list order. */
static bool block_less(const struct ashlar_manager *m, int32_t i, int32_t j)
{
  if (m->list[i] != m->list[j]) {
    return m->list[i] < m->list[j];
  }
  if (m->size[i] != m->size[j]) {
    return m->size[i] < m->size[j];
  }
  if (m->age[i] != m->age[j]) {
    return m->age[i] < m->age[j];
  }
  return m->addr[i] < m->addr[j];
}

static int64_t index_counts(const struct ashlar_manager *m)
{
  const bool good =
      0 <= m->free_count && m->free_count <= m->top && 0 <= m->top && m->top <= ASHLAR_SLOTS;
  return good ? HOLDS : 0;
}

/* Both directions, entry by entry. */
static int64_t index_bijective(const struct ashlar_manager *m)
{
  for (int32_t k = 0; k < m->top; k++) {
    if (m->order[k] < 0 || m->order[k] >= m->top || m->place[m->order[k]] != k || m->place[k] < 0 ||
        m->place[k] >= m->top || m->order[m->place[k]] != k) {
      return k;
    }
  }
  return HOLDS;
}

/* The order is transitive, so neighbours are enough.
   Oracle: REQ-BESTFIT-order. */
static int64_t index_sorted(const struct ashlar_manager *m)
{
  for (int32_t k = 1; k < m->free_count; k++) {
    if (!block_less(m, m->order[k - 1], m->order[k])) {
      return k;
    }
  }
  return HOLDS;
}

/* --- block table --- */

static bool is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

static int64_t states_valid(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] >= ASHLAR_STATES) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t blocks_in_range(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) && (m->size[i] == 0 || m->size[i] > UINT64_MAX - m->addr[i] ||
                           m->home[i] < 0 || m->home[i] >= ASHLAR_LISTS)) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-SIZE-granule. */
static int64_t blocks_aligned(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) &&
        (m->addr[i] % GRANULE != 0 || m->size[i] % GRANULE != 0 || m->base[i] % GRANULE != 0)) {
      return i;
    }
  }
  return HOLDS;
}

struct extent {
  uint64_t from;
  uint64_t to;
  int32_t slot;
};

static int compare_extents(const void *a, const void *b)
{
  const struct extent *one = a;
  const struct extent *two = b;
  return one->from < two->from ? -1 : one->from > two->from;
}

/* Sorted by address, each block must end before the next one begins.
   Oracle: REQ-DISJOINT-blocks. */
static int64_t blocks_disjoint(const struct ashlar_manager *m)
{
  struct extent *extents = ashlar_core_memory((size_t)m->top + 1, sizeof *extents);
  size_t count = 0;
  int64_t found = HOLDS;
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i)) {
      extents[count].from = m->addr[i];
      extents[count].to = m->addr[i] + m->size[i];
      extents[count].slot = i;
      count++;
    }
  }
  qsort(extents, count, sizeof *extents, compare_extents);
  for (size_t k = 1; k < count && found == HOLDS; k++) {
    if (extents[k - 1].to > extents[k].from) {
      found = extents[k].slot;
    }
  }
  free(extents);
  return found;
}

/* Oracle: REQ-TILE-blocks. */
static int64_t links_next(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    const int32_t j = m->next[i];
    if (is_block(m, i) &&
        (j < -1 || j >= m->top || (j >= 0 && (!is_block(m, j) || m->prev[j] != i)))) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t links_prev(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    const int32_t j = m->prev[i];
    if (is_block(m, i) &&
        (j < -1 || j >= m->top || (j >= 0 && (!is_block(m, j) || m->next[j] != i)))) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-TILE-blocks, REQ-STREAM-inherited, REQ-POOL-apart. */
static int64_t blocks_tile(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    const int32_t j = m->next[i];
    if (is_block(m, i) && j >= 0 &&
        (m->addr[j] != m->addr[i] + m->size[i] || m->home[j] != m->home[i] ||
         m->age[j] != m->age[i] || m->base[j] != m->base[i] || m->growable[j] != m->growable[i])) {
      return i;
    }
  }
  return HOLDS;
}

/* A block is indexed by the pool and stream that it belongs to, an unmapped one apart. */
static int64_t blocks_listed(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    const int32_t apart = m->state[i] == ASHLAR_UNMAPPED ? ASHLAR_LISTS : 0;
    if (is_block(m, i) && m->list[i] != m->home[i] + apart) {
      return i;
    }
  }
  return HOLDS;
}

/* A segment begins with its first block. */
static int64_t blocks_based(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) &&
        (m->base[i] > m->addr[i] || (m->prev[i] == -1 && m->base[i] != m->addr[i]))) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t unmapped_growable(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if ((m->state[i] == ASHLAR_UNMAPPED && m->growable[i] != 1) ||
        (is_block(m, i) && m->growable[i] > 1)) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-COALESCE-blocks. */
static int64_t blocks_coalesced(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if ((m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED) && m->next[i] >= 0 &&
        m->state[m->next[i]] == m->state[i]) {
      return i;
    }
  }
  return HOLDS;
}

static int64_t index_is_free(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if ((m->place[i] < m->free_count) !=
        (m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED)) {
      return i;
    }
  }
  return HOLDS;
}

/* This clause and the next make `spare` a bijection, so that spares_counted holds as well.
   Oracle: REQ-CAPACITY-spares. */
static int64_t spares_unused(const struct ashlar_manager *m)
{
  if (m->spare_count < 0 || m->spare_count > m->top) {
    return 0;
  }
  for (int32_t k = 0; k < m->spare_count; k++) {
    const int32_t i = m->spare[k];
    if (i < 0 || i >= m->top || is_block(m, i) || m->next[i] != k) {
      return k;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-CAPACITY-spares. */
static int64_t unused_spare(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (!is_block(m, i) &&
        (m->next[i] < 0 || m->next[i] >= m->spare_count || m->spare[m->next[i]] != i)) {
      return i;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-ACCOUNT-bytes. */
static int64_t bytes_counted(const struct ashlar_manager *m)
{
  uint64_t sum[ASHLAR_STATES] = {0};
  uint64_t all = 0;
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i)) {
      if (m->size[i] > UINT64_MAX - all) {
        return i;
      }
      all += m->size[i];
      sum[m->state[i]] += m->size[i];
    }
  }
  for (int32_t s = ASHLAR_FREE; s < ASHLAR_STATES; s++) {
    if (m->bytes[s] != sum[s]) {
      return s;
    }
  }
  return HOLDS;
}

/* --- address map --- */

static int64_t map_in_range(const struct ashlar_manager *m)
{
  if (m->top < 0 || m->top > ASHLAR_SLOTS) {
    return 0;
  }
  for (int32_t b = 0; b < ASHLAR_BUCKETS; b++) {
    if (m->bucket[b] < 0 || m->bucket[b] > m->top) {
      return b;
    }
  }
  for (int32_t i = 0; i < ASHLAR_SLOTS; i++) {
    if (m->chain[i] < 0 || m->chain[i] > m->top) {
      return i;
    }
  }
  return HOLDS;
}

/* The chains hold blocks of the map only, and as many of them as there are. That each one is in the chain of its bucket
   (the next clause) and that the numbers agree leaves no room for a second entry or a wrong one.
   Oracle: REQ-FREE-found, REQ-FREE-address. */
static int64_t map_members(const struct ashlar_manager *m)
{
  int32_t mapped = 0;
  int32_t entries = 0;
  for (int32_t i = 0; i < m->top; i++) {
    mapped += m->in_map[i] == 1 ? 1 : 0;
  }
  for (int32_t b = 0; b < ASHLAR_BUCKETS; b++) {
    for (int32_t link = m->bucket[b]; link > 0; link = m->chain[link - 1]) {
      entries++;
      if (entries > mapped || m->in_map[link - 1] != 1) {
        return link - 1;
      }
    }
  }
  return entries == mapped ? HOLDS : m->top;
}

/* Oracle: REQ-FREE-found, REQ-FREE-address. */
static int64_t map_finds(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->in_map[i] == 1) {
      int32_t link = m->bucket[(m->addr[i] / GRANULE) % ASHLAR_BUCKETS];
      while (link > 0 && link != i + 1) {
        link = m->chain[link - 1];
      }
      if (link != i + 1) {
        return i;
      }
    }
  }
  return HOLDS;
}

static int64_t map_ascends(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->in_map[i] == 1 && m->chain[i] != 0 && m->chain[i] <= i + 1) {
      return i;
    }
  }
  return HOLDS;
}

const struct ashlar_core_clause ashlar_core_block_clauses[] = {
    {ASHLAR_CORE_INDEX, "index_counts", index_counts},
    {ASHLAR_CORE_INDEX, "index_bijective", index_bijective},
    {ASHLAR_CORE_INDEX, "index_sorted", index_sorted},
    {ASHLAR_CORE_BLOCKS, "states_valid", states_valid},
    {ASHLAR_CORE_BLOCKS, "blocks_in_range", blocks_in_range},
    {ASHLAR_CORE_BLOCKS, "blocks_aligned", blocks_aligned},
    {ASHLAR_CORE_BLOCKS, "links_next", links_next},
    {ASHLAR_CORE_BLOCKS, "links_prev", links_prev},
    {ASHLAR_CORE_BLOCKS, "blocks_tile", blocks_tile},
    {ASHLAR_CORE_BLOCKS, "blocks_listed", blocks_listed},
    {ASHLAR_CORE_BLOCKS, "blocks_based", blocks_based},
    {ASHLAR_CORE_BLOCKS, "unmapped_growable", unmapped_growable},
    {ASHLAR_CORE_BLOCKS, "blocks_disjoint", blocks_disjoint},
    {ASHLAR_CORE_BLOCKS, "blocks_coalesced", blocks_coalesced},
    {ASHLAR_CORE_BLOCKS, "index_is_free", index_is_free},
    {ASHLAR_CORE_BLOCKS, "spares_unused", spares_unused},
    {ASHLAR_CORE_BLOCKS, "unused_spare", unused_spare},
    {ASHLAR_CORE_BLOCKS, "bytes_counted", bytes_counted},
    {ASHLAR_CORE_MAP, "map_in_range", map_in_range},
    {ASHLAR_CORE_MAP, "map_members", map_members},
    {ASHLAR_CORE_MAP, "map_finds", map_finds},
    {ASHLAR_CORE_MAP, "map_ascends", map_ascends},
    {0, NULL, NULL},
};
