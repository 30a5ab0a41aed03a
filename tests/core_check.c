/* core_check.c - see core_check.h. A clause returns the number of the first entry that breaks it, -1 where it holds.
 *
 * The order of the table matters: a clause may index by what an earlier one has found to be in range.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOLDS = -1, GRANULE = 512 };

typedef int64_t (*clause_function)(const struct ashlar_manager *m);

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
    if (is_block(m, i) && (m->addr[i] % GRANULE != 0 || m->size[i] % GRANULE != 0)) {
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
  struct extent *extents = calloc((size_t)m->top + 1, sizeof *extents);
  size_t count = 0;
  int64_t found = HOLDS;
  if (extents == NULL) {
    (void)fputs("no memory to check a manager\n", stderr);
    exit(EXIT_FAILURE);
  }
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
    if (m->state[i] == ASHLAR_UNMAPPED && m->growable[i] != 1) {
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

static int64_t map_buckets(const struct ashlar_manager *m)
{
  for (int32_t b = 0; b < ASHLAR_BUCKETS; b++) {
    if (m->bucket[b] < 0 || m->bucket[b] > m->top) {
      return b;
    }
  }
  return HOLDS;
}

static int64_t map_chains(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < ASHLAR_SLOTS; i++) {
    if (m->chain[i] < 0 || m->chain[i] > m->top) {
      return i;
    }
  }
  return HOLDS;
}

/* The chains hold allocated blocks only, and as many of them as there are. That each one is in the chain of its bucket
   (the next clause) and that the numbers agree leaves no room for a second entry or a wrong one.
   Oracle: REQ-FREE-found, REQ-FREE-address. */
static int64_t map_members(const struct ashlar_manager *m)
{
  int32_t allocated = 0;
  int32_t entries = 0;
  for (int32_t i = 0; i < m->top; i++) {
    allocated += m->state[i] == ASHLAR_ALLOCATED ? 1 : 0;
  }
  for (int32_t b = 0; b < ASHLAR_BUCKETS; b++) {
    for (int32_t link = m->bucket[b]; link > 0; link = m->chain[link - 1]) {
      entries++;
      if (entries > allocated || m->state[link - 1] != ASHLAR_ALLOCATED) {
        return link - 1;
      }
    }
  }
  return entries == allocated ? HOLDS : m->top;
}

/* Oracle: REQ-FREE-found, REQ-FREE-address. */
static int64_t map_finds(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED) {
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

/* --- uses on other streams --- */

static bool is_use(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] >= 0;
}

static bool is_queued(const struct ashlar_manager *m, int32_t u)
{
  return is_use(m, u) && m->use_number[u] > 0;
}

static int64_t uses_in_range(const struct ashlar_manager *m)
{
  if (m->use_spare_count < 0 || m->use_spare_count > m->use_top || m->use_top > ASHLAR_USES) {
    return 0;
  }
  for (int32_t u = 0; u < m->use_top; u++) {
    if (m->use_block[u] < -1 || m->use_block[u] >= ASHLAR_SLOTS ||
        (is_use(m, u) && (m->use_stream[u] < 0 || m->use_stream[u] >= ASHLAR_STREAMS ||
                          m->use_serial[u] == 0 || m->use_serial[u] > m->use_serials))) {
      return u;
    }
  }
  return HOLDS;
}

/* Every spare record stands in the stack once, and nothing else does. */
static int64_t uses_spare(const struct ashlar_manager *m)
{
  int32_t spare = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    if (!is_use(m, u)) {
      const int32_t k = m->use_next[u];
      if (k < 0 || k >= m->use_spare_count || m->use_spare[k] != u) {
        return u;
      }
      spare++;
    }
  }
  return spare == m->use_spare_count ? HOLDS : m->use_top;
}

/* The chain of each block has all of its uses, the latest first, one for a stream. */
static int64_t use_chains(const struct ashlar_manager *m)
{
  int32_t known = 0;
  int32_t chained = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    known += is_use(m, u) ? 1 : 0;
  }
  for (int32_t i = 0; i < m->top; i++) {
    if (m->first_use[i] == 0) {
      continue;
    }
    bool used[ASHLAR_STREAMS] = {false};
    int32_t after = -1;
    if (m->first_use[i] < 0 || m->first_use[i] > m->use_top) {
      return i;
    }
    for (int32_t u = m->first_use[i] - 1; u != -1; u = m->use_more[u]) {
      if (u < 0 || u >= m->use_top || m->use_block[u] != i || m->use_less[u] != after ||
          (after != -1 && m->use_serial[u] >= m->use_serial[after]) || used[m->use_stream[u]]) {
        return i;
      }
      used[m->use_stream[u]] = true;
      after = u;
      chained++;
    }
  }
  return chained == known ? HOLDS : m->top;
}

/* The queue of each stream has all uses that have a number on it, ascending. */
static int64_t use_queues(const struct ashlar_manager *m)
{
  int32_t numbered = 0;
  int32_t queued = 0;
  for (int32_t u = 0; u < m->use_top; u++) {
    numbered += is_queued(m, u) ? 1 : 0;
  }
  for (int32_t s = 0; s < ASHLAR_STREAMS; s++) {
    int32_t last = -1;
    if (m->queue_head[s] < 0 || m->queue_head[s] > m->use_top) {
      return s;
    }
    for (int32_t u = m->queue_head[s] - 1; u != -1; u = m->use_next[u]) {
      if (u < 0 || u >= m->use_top || !is_queued(m, u) || m->use_stream[u] != s ||
          (last != -1 && m->use_number[u] <= m->use_number[last])) {
        return s;
      }
      last = u;
      queued++;
    }
    if (m->queue_tail[s] != last + 1 || m->completed[s] > m->submitted[s] ||
        (last != -1 && m->use_number[last] > m->submitted[s])) {
      return s;
    }
  }
  return queued == numbered ? HOLDS : ASHLAR_STREAMS;
}

static int64_t map_ascends(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (m->state[i] == ASHLAR_ALLOCATED && m->chain[i] != 0 && m->chain[i] <= i + 1) {
      return i;
    }
  }
  return HOLDS;
}

/* --- private pools and scopes --- */

static bool is_pool(const struct ashlar_manager *m, int32_t p)
{
  return m->pool_state[p] != ASHLAR_POOL_UNUSED;
}

static int64_t pools_in_range(const struct ashlar_manager *m)
{
  if (m->pool_top < 0 || m->pool_top > ASHLAR_PRIVATE_POOLS || is_pool(m, 0)) {
    return 0;
  }
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (m->pool_state[p] >= ASHLAR_POOL_STATES || (p > m->pool_top && is_pool(m, p)) ||
        m->pool_segments[p] < 0 || m->pool_segments[p] > ASHLAR_SLOTS) {
      return p;
    }
  }
  return HOLDS;
}

/* A pool has users exactly while it is live; without them no block of it is kept whole.
   Oracle: REQ-POOL-count. */
static int64_t pools_counted(const struct ashlar_manager *m)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    const bool live = m->pool_state[p] == ASHLAR_POOL_LIVE;
    if (live != (m->pool_uses[p] > 0) || (!live && m->pool_no_split[p] != 0)) {
      return p;
    }
  }
  return HOLDS;
}

/* Oracle: REQ-POOL-freeable. */
static int64_t pools_ended(const struct ashlar_manager *m)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (!is_pool(m, p) && ((p > 0 && m->pool_segments[p] > 0) || m->pool_use_on_oom[p] != 0 ||
                           m->scope_serial[p] > 0)) {
      return p;
    }
  }
  return HOLDS;
}

/* Whether the entries that count have different numbers of [1, last]. */
static int64_t numbered(const uint64_t *serial, const bool *counts, uint64_t last)
{
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    if (counts[p] && (serial[p] == 0 || serial[p] > last)) {
      return p;
    }
    for (int32_t q = 0; q < p; q++) {
      if (counts[p] && counts[q] && serial[p] == serial[q]) {
        return p;
      }
    }
  }
  return HOLDS;
}

static int64_t pools_ordered(const struct ashlar_manager *m)
{
  bool counts[ASHLAR_POOL_NUMBERS];
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    counts[p] = is_pool(m, p);
  }
  return numbered(m->pool_serial, counts, m->pool_serials);
}

/* Oracle: REQ-POOL-scope. */
static int64_t scopes_ordered(const struct ashlar_manager *m)
{
  bool counts[ASHLAR_POOL_NUMBERS];
  for (int32_t p = 0; p <= ASHLAR_PRIVATE_POOLS; p++) {
    counts[p] = m->scope_serial[p] > 0;
  }
  return numbered(m->scope_serial, counts, m->scope_serials);
}

/* --- streams --- */

static int64_t streams_in_range(const struct ashlar_manager *m)
{
  if (m->stream_count < 0 || m->stream_count > ASHLAR_STREAMS) {
    return 0;
  }
  for (int32_t k = 0; k < m->stream_count; k++) {
    if (m->stream_order[k] < 0 || m->stream_order[k] >= m->stream_count) {
      return k;
    }
  }
  return HOLDS;
}

/* Strictly ascending keys: each stream is listed once.
   Oracle: REQ-STREAM-registered. */
static int64_t streams_sorted(const struct ashlar_manager *m)
{
  for (int32_t k = 1; k < m->stream_count; k++) {
    if (m->stream_key[m->stream_order[k - 1]] >= m->stream_key[m->stream_order[k]]) {
      return k;
    }
  }
  return HOLDS;
}

static int64_t blocks_of_streams(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) && m->home[i] % ASHLAR_STREAMS >= m->stream_count) {
      return i;
    }
  }
  return HOLDS;
}

/* --- settings and request --- */

/* Oracle: REQ-SIZE-settings. */
static int64_t settings_valid(const struct ashlar_manager *m)
{
  const struct ashlar_config *c = &m->config;
  for (int32_t row = 0; row < ASHLAR_DIVISIONS; row++) {
    if ((c->divisions[row] & (c->divisions[row] - 1U)) != 0) {
      return row;
    }
  }
  return c->order <= ASHLAR_ORDER_SEGMENT && c->policy <= ASHLAR_POLICY_FAITHFUL &&
                 c->large_segment_size > 10485760 && c->large_segment_size % 2097152 == 0 &&
                 c->large_segment_size < UINT64_C(1) << 60 &&
                 c->max_split_size >= c->large_segment_size &&
                 c->oversize_slack >= c->large_segment_size
             ? HOLDS
             : ASHLAR_DIVISIONS;
}

static int64_t request_valid(const struct ashlar_manager *m)
{
  const struct ashlar_request *r = &m->request;
  uint64_t rest = 0;
  bool split = false;
  if (r->phase > ASHLAR_PHASE_EMPTY_CACHE) {
    return r->phase;
  }
  if (r->phase == ASHLAR_PHASE_IDLE || r->phase == ASHLAR_PHASE_EMPTY_CACHE) {
    return HOLDS;
  }
  if (r->bytes == 0 || r->size < r->bytes || r->size % GRANULE != 0 || r->list < 0 ||
      r->list >= ASHLAR_LISTS || r->segment < r->size || r->segment % GRANULE != 0) {
    return r->phase;
  }
  rest = r->segment - r->size;
  split = r->list < ASHLAR_STREAMS ? rest >= GRANULE
                                   : r->size < m->config.max_split_size && rest > 1048576;
  return m->spare_count >= (split ? 2 : 1) ? HOLDS : (int64_t)r->phase;
}

/* In address order ages are no part of the key; in segment order they are creation numbers, one a segment. */
static int64_t ages_valid(const struct ashlar_manager *m)
{
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i) &&
        (m->config.order == ASHLAR_ORDER_SEGMENT ? m->age[i] >= m->segments_created
                                                 : m->age[i] != 0)) {
      return i;
    }
  }
  return HOLDS;
}

/* --- statistics --- */

static void add(struct ashlar_core_count *total, int32_t kind, int32_t pool, uint64_t amount)
{
  const int32_t all = kind * ASHLAR_STAT_COLUMNS;
  total->stat[all + ASHLAR_STAT_ALL] += amount;
  total->stat[all + (pool == ASHLAR_CLASS_SMALL ? ASHLAR_STAT_SMALL : ASHLAR_STAT_LARGE)] += amount;
}

/* Oracle: REQ-ACCOUNT-allocation, REQ-ACCOUNT-active, REQ-ACCOUNT-reserved, REQ-ACCOUNT-inactive,
   REQ-ACCOUNT-oversize. */
static void count_block(struct ashlar_core_count *total, const struct ashlar_manager *m, int32_t i)
{
  const int32_t pool = m->home[i] / ASHLAR_STREAMS;
  add(total, ASHLAR_STAT_RESERVED_BYTES, pool, m->size[i]);
  if (m->state[i] == ASHLAR_ALLOCATED) {
    add(total, ASHLAR_STAT_ALLOCATION, pool, 1);
    add(total, ASHLAR_STAT_ACTIVE, pool, 1);
    add(total, ASHLAR_STAT_ALLOCATED_BYTES, pool, m->size[i]);
    add(total, ASHLAR_STAT_ACTIVE_BYTES, pool, m->size[i]);
    add(total, ASHLAR_STAT_REQUESTED_BYTES, pool, m->requested[i]);
    total->oversize_allocations += m->size[i] >= m->config.max_split_size ? 1 : 0;
  } else if (m->prev[i] != -1 || m->next[i] != -1) {
    add(total, ASHLAR_STAT_INACTIVE_SPLIT, pool, 1);
    add(total, ASHLAR_STAT_INACTIVE_SPLIT_BYTES, pool, m->size[i]);
  }
}

/* Oracle: REQ-ACCOUNT-segment, REQ-ACCOUNT-oversize. */
static void count_segment(struct ashlar_core_count *total, const struct ashlar_manager *m,
                          int32_t head)
{
  uint64_t bytes = 0;
  add(total, ASHLAR_STAT_SEGMENT, m->home[head] / ASHLAR_STREAMS, 1);
  for (int32_t i = head; i >= 0; i = m->next[i]) {
    bytes += m->size[i];
  }
  total->oversize_segments += bytes >= m->config.max_split_size ? 1 : 0;
}

struct ashlar_core_count ashlar_core_recount(const struct ashlar_manager *m)
{
  struct ashlar_core_count total = {0};
  for (int32_t i = 0; i < m->top; i++) {
    if (is_block(m, i)) {
      count_block(&total, m, i);
      if (m->prev[i] == -1) {
        count_segment(&total, m, i);
      }
    }
  }
  return total;
}

static int64_t stats_current(const struct ashlar_manager *m)
{
  const struct ashlar_core_count total = ashlar_core_recount(m);
  for (int32_t k = 0; k < ASHLAR_STATS; k++) {
    if (m->stat[k].current != total.stat[k]) {
      return k;
    }
  }
  return HOLDS;
}

static int64_t stats_oversize(const struct ashlar_manager *m)
{
  const struct ashlar_core_count total = ashlar_core_recount(m);
  if (m->oversize_allocations.current != total.oversize_allocations) {
    return 0;
  }
  return m->oversize_segments.current != total.oversize_segments ? 1 : HOLDS;
}

/* Peaks are no less than what is; totals differ by what is, unless they have saturated.
   Oracle: REQ-ACCOUNT-counter. */
static bool counter_consistent(const struct ashlar_counter *counter)
{
  return counter->peak >= counter->current && counter->allocated >= counter->peak &&
         (counter->allocated == UINT64_MAX ||
          counter->allocated - counter->freed == counter->current);
}

static int64_t stats_totals(const struct ashlar_manager *m)
{
  for (int32_t k = 0; k < ASHLAR_STATS; k++) {
    if (!counter_consistent(&m->stat[k])) {
      return k;
    }
  }
  if (!counter_consistent(&m->oversize_allocations) || !counter_consistent(&m->oversize_segments)) {
    return ASHLAR_STATS;
  }
  return HOLDS;
}

/* Current values and totals of "all" are the sums of both pools. Peaks are not: they may be of different times.
   Oracle: REQ-ACCOUNT-columns. */
static int64_t stats_columns(const struct ashlar_manager *m)
{
  for (int32_t k = 0; k < ASHLAR_STATS; k += ASHLAR_STAT_COLUMNS) {
    const struct ashlar_counter *all = &m->stat[k + ASHLAR_STAT_ALL];
    const struct ashlar_counter *small = &m->stat[k + ASHLAR_STAT_SMALL];
    const struct ashlar_counter *large = &m->stat[k + ASHLAR_STAT_LARGE];
    if (all->current != small->current + large->current ||
        (all->allocated != UINT64_MAX && (all->allocated != small->allocated + large->allocated ||
                                          all->freed != small->freed + large->freed))) {
      return k;
    }
  }
  return HOLDS;
}

static const struct {
  unsigned part;
  const char *name;
  clause_function broken_at;
} CLAUSES[] = {
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
    {ASHLAR_CORE_USES, "uses_in_range", uses_in_range},
    {ASHLAR_CORE_USES, "uses_spare", uses_spare},
    {ASHLAR_CORE_USES, "use_chains", use_chains},
    {ASHLAR_CORE_USES, "use_queues", use_queues},
    {ASHLAR_CORE_POOLS, "pools_in_range", pools_in_range},
    {ASHLAR_CORE_POOLS, "pools_counted", pools_counted},
    {ASHLAR_CORE_POOLS, "pools_ended", pools_ended},
    {ASHLAR_CORE_POOLS, "pools_ordered", pools_ordered},
    {ASHLAR_CORE_POOLS, "scopes_ordered", scopes_ordered},
    {ASHLAR_CORE_MAP, "map_buckets", map_buckets},
    {ASHLAR_CORE_MAP, "map_chains", map_chains},
    {ASHLAR_CORE_MAP, "map_members", map_members},
    {ASHLAR_CORE_MAP, "map_finds", map_finds},
    {ASHLAR_CORE_MAP, "map_ascends", map_ascends},
    {ASHLAR_CORE_STREAMS, "streams_in_range", streams_in_range},
    {ASHLAR_CORE_STREAMS, "streams_sorted", streams_sorted},
    {ASHLAR_CORE_STREAMS, "blocks_of_streams", blocks_of_streams},
    {ASHLAR_CORE_REQUEST, "settings_valid", settings_valid},
    {ASHLAR_CORE_REQUEST, "request_valid", request_valid},
    {ASHLAR_CORE_REQUEST, "ages_valid", ages_valid},
    {ASHLAR_CORE_STATS, "stats_current", stats_current},
    {ASHLAR_CORE_STATS, "stats_oversize", stats_oversize},
    {ASHLAR_CORE_STATS, "stats_totals", stats_totals},
    {ASHLAR_CORE_STATS, "stats_columns", stats_columns},
};
enum { CLAUSE_COUNT = sizeof CLAUSES / sizeof CLAUSES[0] };

const char *ashlar_core_clause(size_t i)
{
  return i < CLAUSE_COUNT ? CLAUSES[i].name : NULL;
}

bool ashlar_core_check_parts(const struct ashlar_manager *m, unsigned parts, char *why, size_t n)
{
  for (size_t i = 0; i < CLAUSE_COUNT; i++) {
    if ((parts & CLAUSES[i].part) != 0) {
      const int64_t at = CLAUSES[i].broken_at(m);
      if (at != HOLDS) {
        (void)snprintf(why, n, "%s: %" PRId64, CLAUSES[i].name, at);
        return false;
      }
    }
  }
  why[0] = '\0';
  return true;
}

bool ashlar_core_check(const struct ashlar_manager *m, char *why, size_t n)
{
  return ashlar_core_check_parts(m, ASHLAR_CORE_WHOLE, why, n);
}
