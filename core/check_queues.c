/* check_queues.c - see check.h: queues of streams.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/check_clauses.h"

static int is_queued(const struct ashlar_manager *m, int32_t u)
{
  return m->use_block[u] != -1 && m->use_number[u] > 0;
}

static int32_t queue_next(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    int32_t next = m->use_next[u];
    if (is_queued(m, u) && next != -1 &&
        (next < 0 || next >= m->use_top || m->use_block[next] == -1 ||
         m->use_stream[next] != m->use_stream[u] || m->use_number[next] <= m->use_number[u])) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t queue_ends(const struct ashlar_manager *m)
{
  int32_t s = 0;
  while (s < ASHLAR_STREAMS) {
    if (m->queue_head[s] < 0 || m->queue_head[s] > m->use_top || m->queue_tail[s] < 0 ||
        m->queue_tail[s] > m->use_top || (m->queue_head[s] == 0) != (m->queue_tail[s] == 0)) {
      return s;
    }
    s++;
  }
  return -1;
}

static int32_t queue_heads(const struct ashlar_manager *m)
{
  int32_t s = 0;
  while (s < ASHLAR_STREAMS) {
    int32_t head = m->queue_head[s] - 1;
    if (head != -1 && (!is_queued(m, head) || m->use_stream[head] != s)) {
      return s;
    }
    s++;
  }
  return -1;
}

static int32_t queue_tails(const struct ashlar_manager *m)
{
  int32_t s = 0;
  while (s < ASHLAR_STREAMS) {
    int32_t tail = m->queue_tail[s] - 1;
    if (tail != -1 &&
        (!is_queued(m, tail) || m->use_stream[tail] != s || m->use_next[tail] != -1)) {
      return s;
    }
    s++;
  }
  return -1;
}

static int32_t queue_first(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      int32_t head = m->queue_head[m->use_stream[u]] - 1;
      if (head == -1 || m->use_number[head] > m->use_number[u]) {
        return u;
      }
    }
    u++;
  }
  return -1;
}

static int32_t queue_last(const struct ashlar_manager *m)
{
  int32_t u = 0;
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      int32_t tail = m->queue_tail[m->use_stream[u]] - 1;
      if (tail == -1 || m->use_number[tail] < m->use_number[u]) {
        return u;
      }
    }
    u++;
  }
  return -1;
}

/* How many uses a queue has. It ascends, so none is met twice. */
static int32_t length(const struct ashlar_manager *m, int32_t s)
{
  int32_t count = 0;
  int32_t u = m->queue_head[s] - 1;
  while (u != -1) {
    count++;
    u = m->use_next[u];
  }
  return count;
}

/* A queue that ascends leaves no use out between two others, and no two have one number, exactly if it has all uses that
   are queued on its stream; so it is enough to count them. */
static int32_t queue_dense(const struct ashlar_manager *m)
{
  int32_t queued[ASHLAR_STREAMS] = {0};
  int32_t u = 0;
  int32_t s = 0;
  while (u < m->use_top) {
    if (is_queued(m, u)) {
      queued[m->use_stream[u]]++;
    }
    u++;
  }
  while (s < ASHLAR_STREAMS) {
    if (queued[s] != length(m, s)) {
      return s;
    }
    s++;
  }
  return -1;
}

static int32_t clocks_valid(const struct ashlar_manager *m)
{
  int32_t s = 0;
  int32_t u = 0;
  while (s < ASHLAR_STREAMS) {
    if (m->completed[s] > m->submitted[s]) {
      return s;
    }
    s++;
  }
  while (u < m->use_top) {
    if (is_queued(m, u) && m->use_number[u] > m->submitted[m->use_stream[u]]) {
      return u;
    }
    u++;
  }
  return -1;
}

static int32_t clocks_bounded(const struct ashlar_manager *m)
{
  int32_t s = 0;
  while (s < ASHLAR_STREAMS) {
    if (m->submitted[s] > m->use_submissions) {
      return s;
    }
    s++;
  }
  return -1;
}

/* The first use that waits and was not recorded, by the numbers. */
static int32_t uses_clocked(const struct ashlar_manager *m)
{
  int32_t u = 0;
  uint64_t room = m->use_serials - m->use_submissions;
  if (m->use_submissions > m->use_serials) {
    return 0;
  }
  while (u < m->use_top) {
    if (m->use_block[u] != -1 && m->use_number[u] == 0) {
      if (room == 0) {
        return u;
      }
      room--;
    }
    u++;
  }
  return -1;
}

int32_t ashlar_check_queues(const struct ashlar_manager *m, int32_t clause)
{
  switch (clause) {
  case ASHLAR_CLAUSE_QUEUE_NEXT:
    return queue_next(m);
  case ASHLAR_CLAUSE_QUEUE_ENDS:
    return queue_ends(m);
  case ASHLAR_CLAUSE_QUEUE_HEADS:
    return queue_heads(m);
  case ASHLAR_CLAUSE_QUEUE_TAILS:
    return queue_tails(m);
  case ASHLAR_CLAUSE_QUEUE_FIRST:
    return queue_first(m);
  case ASHLAR_CLAUSE_QUEUE_LAST:
    return queue_last(m);
  case ASHLAR_CLAUSE_QUEUE_DENSE:
    return queue_dense(m);
  case ASHLAR_CLAUSE_CLOCKS_VALID:
    return clocks_valid(m);
  case ASHLAR_CLAUSE_CLOCKS_BOUNDED:
    return clocks_bounded(m);
  case ASHLAR_CLAUSE_USES_CLOCKED:
    return uses_clocked(m);
  default:
    return -1;
  }
}
