/* check_blocks.c - see check.h: free index and block table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"
#include "core/size_policy.h"

static int is_block(const struct ashlar_manager *m, int32_t i)
{
  return m->state[i] != ASHLAR_UNUSED;
}

/* A slot below top. */
static int is_slot(const struct ashlar_manager *m, int32_t i)
{
  return i >= 0 && i < m->top;
}

/* --- spec/free_index.h --- */

static int32_t index_bijective(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->top < 0 || m->top > ASHLAR_SLOTS || m->free_count < 0 || m->free_count > m->top) {
    return 0;
  }
  while (k < m->top) {
    if (!is_slot(m, m->order[k]) || m->place[m->order[k]] != k || !is_slot(m, m->place[k]) ||
        m->order[m->place[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

static int is_less(const struct ashlar_manager *m, int32_t i, int32_t j)
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

/* Neighbours are enough: the order is transitive. */
static int32_t index_sorted(const struct ashlar_manager *m)
{
  int32_t k = 1;
  while (k < m->free_count) {
    if (!is_less(m, m->order[k - 1], m->order[k])) {
      return m->order[k];
    }
    k++;
  }
  return -1;
}

/* --- spec/block_table.h --- */

static int32_t states_valid(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (m->state[i] >= ASHLAR_STATES) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t blocks_in_range(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (is_block(m, i) && (m->size[i] == 0 || m->size[i] > UINT64_MAX - m->addr[i] ||
                           m->home[i] < 0 || m->home[i] >= ASHLAR_LISTS)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t blocks_aligned(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (is_block(m, i) && (m->addr[i] % ASHLAR_GRANULE != 0 || m->size[i] % ASHLAR_GRANULE != 0 ||
                           m->base[i] % ASHLAR_GRANULE != 0)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t blocks_listed(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t list = m->state[i] == ASHLAR_UNMAPPED ? m->home[i] + ASHLAR_LISTS : m->home[i];
    if (is_block(m, i) && m->list[i] != list) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t links_next(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t after = m->next[i];
    if (is_block(m, i) && after != -1 &&
        (!is_slot(m, after) || !is_block(m, after) || m->prev[after] != i)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t links_prev(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t before = m->prev[i];
    if (is_block(m, i) && before != -1 &&
        (!is_slot(m, before) || !is_block(m, before) || m->next[before] != i)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t blocks_tile(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int32_t after = m->next[i];
    if (is_block(m, i) && after != -1 &&
        (m->addr[after] != m->addr[i] + m->size[i] || m->home[after] != m->home[i] ||
         m->age[after] != m->age[i] || m->base[after] != m->base[i] ||
         m->growable[after] != m->growable[i])) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t blocks_based(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (is_block(m, i) &&
        (m->base[i] > m->addr[i] || (m->prev[i] == -1 && m->base[i] != m->addr[i]))) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t unmapped_growable(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if ((m->state[i] == ASHLAR_UNMAPPED && m->growable[i] != 1) ||
        (is_block(m, i) && m->growable[i] > 1)) {
      return i;
    }
    i++;
  }
  return -1;
}

static int is_first(const struct ashlar_manager *m, int32_t i)
{
  return is_block(m, i) && m->prev[i] == -1;
}

/* The last byte of the segment that begins with a block. */
static uint64_t last_byte(const struct ashlar_manager *m, int32_t i)
{
  while (m->next[i] != -1) {
    i = m->next[i];
  }
  return m->addr[i] + (m->size[i] - 1);
}

/* Puts segments into a batch, from a slot on; the slot behind the last one looked at. */
static int32_t gather_segments(const struct ashlar_manager *m, int32_t i,
                               struct ashlar_ranges *segments)
{
  while (i < m->top && segments->count < ASHLAR_RANGES) {
    if (is_first(m, i)) {
      ashlar_ranges_insert(segments, m->addr[i], last_byte(m, i), i);
    }
    i++;
  }
  return i;
}

/* The first block outside [from, to) whose segment begins inside one of a batch. */
static int32_t begins_inside(const struct ashlar_manager *m, int32_t from, int32_t to,
                             const struct ashlar_ranges *segments)
{
  int32_t i = 0;
  while (i < m->top) {
    if ((i < from || i >= to) && is_first(m, i) && ashlar_ranges_have(segments, m->addr[i])) {
      return i;
    }
    i++;
  }
  return -1;
}

/* Blocks of one segment are disjoint since they tile it: each begins where the one before it ends, below 2^64. Every block
   is in the segment of one that is first: prev leads to lower addresses. So blocks are disjoint where segments are. */
static int32_t blocks_disjoint(const struct ashlar_manager *m)
{
  struct ashlar_ranges segments;
  int32_t from = 0;
  int32_t broken = -1;
  while (from < m->top && broken == -1) {
    int32_t to;
    segments.count = 0;
    to = gather_segments(m, from, &segments);
    broken = ashlar_ranges_overlapped(&segments);
    if (broken == -1) {
      broken = begins_inside(m, from, to, &segments);
    }
    from = to;
  }
  return broken;
}

static int32_t blocks_coalesced(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if ((m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED) && m->next[i] != -1 &&
        m->state[m->next[i]] == m->state[i]) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t index_is_free(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    int open = m->state[i] == ASHLAR_FREE || m->state[i] == ASHLAR_UNMAPPED;
    int indexed = m->place[i] < m->free_count;
    if (open != indexed) {
      return i;
    }
    i++;
  }
  return -1;
}

static int32_t spares_unused(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->spare_count < 0 || m->spare_count > m->top) {
    return 0;
  }
  while (k < m->spare_count) {
    if (!is_slot(m, m->spare[k]) || is_block(m, m->spare[k]) || m->next[m->spare[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

static int32_t unused_spare(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < m->top) {
    if (!is_block(m, i) &&
        (m->next[i] < 0 || m->next[i] >= m->spare_count || m->spare[m->next[i]] != i)) {
      return i;
    }
    i++;
  }
  return -1;
}

/* Sums cannot wrap: blocks are disjoint and end below 2^64. */
static int32_t bytes_counted(const struct ashlar_manager *m)
{
  uint64_t bytes[ASHLAR_STATES] = {0};
  int32_t i = 0;
  int32_t state = ASHLAR_FREE;
  while (i < m->top) {
    bytes[m->state[i]] += is_block(m, i) ? m->size[i] : 0;
    i++;
  }
  while (state < ASHLAR_STATES) {
    if (m->bytes[state] != bytes[state]) {
      return state;
    }
    state++;
  }
  return -1;
}

int32_t ashlar_check_blocks(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_INDEX_BIJECTIVE:
    return index_bijective(m);
  case ASHLAR_CLAUSE_INDEX_SORTED:
    return index_sorted(m);
  case ASHLAR_CLAUSE_STATES_VALID:
    return states_valid(m);
  case ASHLAR_CLAUSE_BLOCKS_IN_RANGE:
    return blocks_in_range(m);
  case ASHLAR_CLAUSE_BLOCKS_ALIGNED:
    return blocks_aligned(m);
  case ASHLAR_CLAUSE_BLOCKS_LISTED:
    return blocks_listed(m);
  case ASHLAR_CLAUSE_LINKS_NEXT:
    return links_next(m);
  case ASHLAR_CLAUSE_LINKS_PREV:
    return links_prev(m);
  case ASHLAR_CLAUSE_BLOCKS_TILE:
    return blocks_tile(m);
  case ASHLAR_CLAUSE_BLOCKS_BASED:
    return blocks_based(m);
  case ASHLAR_CLAUSE_UNMAPPED_GROWABLE:
    return unmapped_growable(m);
  case ASHLAR_CLAUSE_BLOCKS_DISJOINT:
    return blocks_disjoint(m);
  case ASHLAR_CLAUSE_BLOCKS_COALESCED:
    return blocks_coalesced(m);
  case ASHLAR_CLAUSE_INDEX_IS_FREE:
    return index_is_free(m);
  case ASHLAR_CLAUSE_SPARES_UNUSED:
    return spares_unused(m);
  case ASHLAR_CLAUSE_UNUSED_SPARE:
    return unused_spare(m);
  case ASHLAR_CLAUSE_BYTES_COUNTED:
    return bytes_counted(m);
  default:
    return -1;
  }
}
