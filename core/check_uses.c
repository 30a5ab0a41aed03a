/* check_uses.c - see check.h: streams, records of uses, chains of blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

/* --- spec/stream_table.h --- */

static int is_number(const struct ashlar_manager *m, int32_t stream)
{
  return stream >= 0 && stream < m->stream_count;
}

static int32_t streams_in_range(const struct ashlar_manager *m)
{
  int32_t k = 0;
  if (m->stream_count < 0 || m->stream_count >= ASHLAR_STREAMS) {
    return 0;
  }
  while (k < m->stream_count) {
    if (!is_number(m, m->stream_order[k]) || m->stream_rank[m->stream_order[k]] != k ||
        !is_number(m, m->stream_rank[k]) || m->stream_order[m->stream_rank[k]] != k) {
      return k;
    }
    k++;
  }
  return -1;
}

static int is_less(const struct ashlar_manager *m, int32_t a, int32_t b)
{
  uint64_t key = m->stream_key[a];
  uint64_t other = m->stream_key[b];
  return key < other || (key == other && a < b);
}

/* Neighbours are enough: the order is transitive. */
static int32_t streams_sorted(const struct ashlar_manager *m)
{
  int32_t k = 1;
  while (k < m->stream_count) {
    if (!is_less(m, m->stream_order[k - 1], m->stream_order[k])) {
      return m->stream_order[k];
    }
    k++;
  }
  return -1;
}

/* Equal keys are neighbours in the order; of those that take requests the last one before is enough. */
static int32_t streams_distinct(const struct ashlar_manager *m)
{
  int32_t before = -1;
  int32_t k = 0;
  while (k < m->stream_count) {
    int32_t stream = m->stream_order[k];
    if (m->stream_gone[stream] == 0) {
      if (before != -1 && m->stream_key[before] == m->stream_key[stream]) {
        return stream;
      }
      before = stream;
    }
    k++;
  }
  return -1;
}

/* --- spec/stream_use.h: records --- */

static int is_use(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] != -1;
}

static int32_t uses_in_range(const struct ashlar_manager *m)
{
  int32_t u = 0;
  if (m->use_top < 0 || m->use_top > ASHLAR_USES || m->use_spare_count < 0 ||
      m->use_spare_count > m->use_top) {
    return 0;
  }
  while (u < m->use_top) {
    if (m->use_block[u] < -1 || m->use_block[u] >= ASHLAR_SLOTS) {
      return u;
    }
    if (is_use(m, u) && (m->use_stream[u] < 0 || m->use_stream[u] >= ASHLAR_STREAMS ||
                         m->use_serial[u] == 0 || m->use_serial[u] > m->use_serials)) {
      return u;
    }
    u++;
  }
  return -1;
}

/* A record below use_top. */
static int is_record(const struct ashlar_manager *m, int32_t u)
{
  return u >= 0 && u < m->use_top;
}

static int32_t uses_spare(const struct ashlar_manager *m)
{
  int32_t k = 0;
  int32_t u = 0;
  while (k < m->use_spare_count) {
    if (!is_record(m, m->use_spare[k]) || is_use(m, m->use_spare[k]) ||
        m->use_next[m->use_spare[k]] != k) {
      return k;
    }
    k++;
  }
  while (u < m->use_top) {
    if (!is_use(m, u) && (m->use_next[u] < 0 || m->use_next[u] >= m->use_spare_count ||
                          m->use_spare[m->use_next[u]] != u)) {
      return u;
    }
    u++;
  }
  return -1;
}

/* --- spec/stream_use.h: the chain of a block --- */

static int32_t chain_more(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t more = m->use_more[u];
    if (is_use(m, u) && more != -1 &&
        (!is_record(m, more) || m->use_block[more] != m->use_block[u] ||
         m->use_serial[more] >= m->use_serial[u] || m->use_less[more] != u)) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t chain_less(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t less = m->use_less[u];
    if (is_use(m, u) && less == -1 && m->first_use[m->use_block[u]] != u + 1) {
      return u;
    }
    if (is_use(m, u) && less != -1 &&
        (!is_record(m, less) || m->use_block[less] != m->use_block[u] ||
         m->use_serial[less] <= m->use_serial[u] || m->use_more[less] != u)) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t chain_starts(const struct ashlar_manager *m)
{
  int32_t i = 0;
  while (i < ASHLAR_SLOTS) {
    int32_t link = m->first_use[i];
    if (link < 0 || link > m->use_top ||
        (link > 0 && (m->use_block[link - 1] != i || m->use_less[link - 1] != -1))) {
      return i;
    }
    i++;
  }
  return -1;
}

/* A chain has all uses of its block: it is enough to remember, for each stream, the last block whose chain had it. */
static int32_t uses_unique(const struct ashlar_manager *m)
{
  int32_t user[ASHLAR_STREAMS] = {0}; /* block + 1 */
  int32_t i = 0;
  while (i < ASHLAR_SLOTS) {
    int32_t u = m->first_use[i] - 1;
    while (u != -1) {
      if (user[m->use_stream[u]] == i + 1) {
        return u;
      }
      user[m->use_stream[u]] = i + 1;
      u = m->use_more[u];
    }
    i++;
  }
  return -1;
}

/* Puts serials into a batch, from a record on; the record behind the last one looked at. */
static int32_t gather_serials(const struct ashlar_manager *m, int32_t u,
                              struct ashlar_ranges *serials)
{
  while (u < m->use_top && serials->count < ASHLAR_RANGES) {
    if (is_use(m, u)) {
      ashlar_ranges_insert(serials, m->use_serial[u], m->use_serial[u], u);
    }
    u++;
  }
  return u;
}

/* Serials of one block differ, since its chain descends. Those of different blocks have no order: batch by batch. */
static int32_t serials_distinct(const struct ashlar_manager *m)
{
  struct ashlar_ranges serials;
  int32_t from = 0;
  int32_t broken = -1;
  while (from < m->use_top && broken == -1) {
    int32_t u;
    serials.count = 0;
    from = gather_serials(m, from, &serials);
    broken = ashlar_ranges_overlapped(&serials);
    u = from;
    while (u < m->use_top && broken == -1) {
      if (is_use(m, u) && ashlar_ranges_have(&serials, m->use_serial[u])) {
        broken = u;
      }
      u++;
    }
  }
  return broken;
}

int32_t ashlar_check_uses(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_STREAMS_IN_RANGE:
    return streams_in_range(m);
  case ASHLAR_CLAUSE_STREAMS_SORTED:
    return streams_sorted(m);
  case ASHLAR_CLAUSE_STREAMS_DISTINCT:
    return streams_distinct(m);
  case ASHLAR_CLAUSE_USES_IN_RANGE:
    return uses_in_range(m);
  case ASHLAR_CLAUSE_USES_SPARE:
    return uses_spare(m);
  case ASHLAR_CLAUSE_CHAIN_MORE:
    return chain_more(m);
  case ASHLAR_CLAUSE_CHAIN_LESS:
    return chain_less(m);
  case ASHLAR_CLAUSE_CHAIN_STARTS:
    return chain_starts(m);
  case ASHLAR_CLAUSE_USES_UNIQUE:
    return uses_unique(m);
  case ASHLAR_CLAUSE_SERIALS_DISTINCT:
    return serials_distinct(m);
  default:
    return -1;
  }
}
