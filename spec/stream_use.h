/* stream_use.h (ACSL only) - the invariant of recorded uses: records, chains of blocks, queues of streams.
 *
 * Chains and queues are linked lists without reachability: a chain descends strictly by serial, a queue ascends strictly
 * by number, the first one is the extreme, and no member lies between a member and its successor. So "this list is
 * empty" says "no record is of this block", and removing the first leaves the extreme of the rest: all first-order.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_STREAM_USE_H
#define ASHLAR_SPEC_STREAM_USE_H
/*@
  predicate uses_in_range(integer use_spare_count, integer use_top, int32_t use_block[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], uint64_t use_serial[ASHLAR_USES], integer use_serials) =
    0 <= use_spare_count <= use_top <= ASHLAR_USES &&
    (\forall integer u; 0 <= u < use_top ==> -1 <= use_block[u] < ASHLAR_SLOTS &&
      (0 <= use_block[u] ==> 0 <= use_stream[u] < ASHLAR_STREAMS && 0 < use_serial[u] <= use_serials));

  predicate uses_spare(integer use_spare_count, int32_t use_spare[ASHLAR_USES], integer use_top,
    int32_t use_block[ASHLAR_USES], int32_t use_next[ASHLAR_USES]) =
    (\forall integer k; 0 <= k < use_spare_count ==>
      0 <= use_spare[k] < use_top && use_block[use_spare[k]] == -1 && use_next[use_spare[k]] == k) &&
    (\forall integer u; 0 <= u < use_top ==> use_block[u] == -1 ==>
      0 <= use_next[u] < use_spare_count && use_spare[use_next[u]] == u);

  // how many of the first k records are spare
  logic integer spare_uses(int32_t use_block[ASHLAR_USES], integer k) =
    k <= 0 ? 0 : spare_uses(use_block, k - 1) + (use_block[k - 1] == -1 ? 1 : 0);
  predicate uses_counted(integer use_spare_count, int32_t use_block[ASHLAR_USES], integer use_top) =
    use_spare_count == spare_uses(use_block, use_top);

  predicate serials_distinct(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_serial[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> \forall integer v; 0 <= v < use_top ==>
      0 <= use_block[u] ==> 0 <= use_block[v] ==> u != v ==> use_serial[u] != use_serial[v];

  // a block has one record for each stream that uses it
  predicate uses_unique(integer use_top, int32_t use_block[ASHLAR_USES], int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> \forall integer v; 0 <= v < use_top ==>
      0 <= use_block[u] ==> use_block[v] == use_block[u] ==> u != v ==> use_stream[u] != use_stream[v];

  // --- the chain of a block ---
  // "the record that x names" is said of a record v with x <= v <= x: no read stands inside another, and the provers
  // do not put the other side of an equation in the place of v
  predicate chain_more(integer use_top, int32_t use_block[ASHLAR_USES], int32_t use_more[ASHLAR_USES],
    uint64_t use_serial[ASHLAR_USES], int32_t use_less[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> -1 <= use_more[u] < use_top &&
      (\forall integer v; 0 <= v < use_top ==> use_more[u] <= v <= use_more[u] ==>
        use_block[v] == use_block[u] && use_serial[v] < use_serial[u] && use_less[v] == u);
  predicate chain_less(integer use_top, int32_t use_block[ASHLAR_USES], int32_t use_less[ASHLAR_USES],
    int32_t first_use[ASHLAR_SLOTS], uint64_t use_serial[ASHLAR_USES], int32_t use_more[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> -1 <= use_less[u] < use_top &&
      (use_less[u] == -1 ==> first_use[use_block[u]] == u + 1) &&
      (\forall integer v; 0 <= v < use_top ==> use_less[u] <= v <= use_less[u] ==>
        use_block[v] == use_block[u] && use_serial[u] < use_serial[v] && use_more[v] == u);
  predicate chain_starts(int32_t first_use[ASHLAR_SLOTS], integer use_top, int32_t use_block[ASHLAR_USES],
    int32_t use_less[ASHLAR_USES]) =
    \forall integer i; 0 <= i < ASHLAR_SLOTS ==> 0 <= first_use[i] <= use_top &&
      (\forall integer v; 0 <= v < use_top ==> first_use[i] <= v + 1 <= first_use[i] ==>
        use_block[v] == i && use_less[v] == -1);
  predicate chain_first(integer use_top, int32_t use_block[ASHLAR_USES], int32_t first_use[ASHLAR_SLOTS],
    uint64_t use_serial[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> 0 < first_use[use_block[u]] &&
      (\forall integer v; 0 <= v < use_top ==> first_use[use_block[u]] <= v + 1 <= first_use[use_block[u]] ==>
        use_serial[u] <= use_serial[v]);
  predicate chain_dense(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_serial[ASHLAR_USES],
    int32_t use_more[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> \forall integer v; 0 <= v < use_top ==>
      0 <= use_block[u] ==> use_block[v] == use_block[u] ==> use_serial[v] < use_serial[u] ==>
      0 <= use_more[u] && (\forall integer w; 0 <= w < use_top ==> use_more[u] <= w <= use_more[u] ==>
        use_serial[v] <= use_serial[w]);

  // --- the queue of a stream ---
  predicate queue_next(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_next[ASHLAR_USES], int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> 0 < use_number[u] ==>
      -1 <= use_next[u] < use_top &&
      (\forall integer v; 0 <= v < use_top ==> use_next[u] <= v <= use_next[u] ==>
        0 <= use_block[v] && use_stream[v] == use_stream[u] && use_number[u] < use_number[v]);
  predicate queue_ends(int32_t queue_head[256], integer use_top, int32_t queue_tail[256]) =
    \forall integer s; 0 <= s < ASHLAR_STREAMS ==>
      0 <= queue_head[s] <= use_top && 0 <= queue_tail[s] <= use_top &&
      (0 < queue_head[s] <==> 0 < queue_tail[s]);
  predicate queue_heads(integer use_top, int32_t queue_head[256], int32_t use_block[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], uint64_t use_number[ASHLAR_USES]) =
    \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \forall integer v; 0 <= v < use_top ==>
      queue_head[s] <= v + 1 <= queue_head[s] ==>
      0 <= use_block[v] && use_stream[v] == s && 0 < use_number[v];
  predicate queue_tails(integer use_top, int32_t queue_tail[256], int32_t use_block[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], uint64_t use_number[ASHLAR_USES], int32_t use_next[ASHLAR_USES]) =
    \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \forall integer v; 0 <= v < use_top ==>
      queue_tail[s] <= v + 1 <= queue_tail[s] ==>
      0 <= use_block[v] && use_stream[v] == s && 0 < use_number[v] && use_next[v] == -1;
  predicate queue_first(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t queue_head[256], int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> 0 < use_number[u] ==>
      0 < queue_head[use_stream[u]] &&
      (\forall integer v; 0 <= v < use_top ==>
        queue_head[use_stream[u]] <= v + 1 <= queue_head[use_stream[u]] ==> use_number[v] <= use_number[u]);
  predicate queue_last(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t queue_tail[256], int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> 0 < use_number[u] ==>
      0 < queue_tail[use_stream[u]] &&
      (\forall integer v; 0 <= v < use_top ==>
        queue_tail[use_stream[u]] <= v + 1 <= queue_tail[use_stream[u]] ==> use_number[u] <= use_number[v]);
  predicate queue_dense(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES], int32_t use_next[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> \forall integer v; 0 <= v < use_top ==>
      0 <= use_block[u] ==> 0 <= use_block[v] ==> 0 < use_number[u] ==> use_stream[u] == use_stream[v] ==>
      use_number[u] < use_number[v] ==>
      0 <= use_next[u] && (\forall integer w; 0 <= w < use_top ==> use_next[u] <= w <= use_next[u] ==>
        use_number[w] <= use_number[v]);
  predicate numbers_distinct(integer use_top, int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES],
    int32_t use_stream[ASHLAR_USES]) =
    \forall integer u; 0 <= u < use_top ==> \forall integer v; 0 <= v < use_top ==>
      0 <= use_block[u] ==> 0 <= use_block[v] ==> 0 < use_number[u] ==> u != v ==>
      use_stream[u] == use_stream[v] ==> use_number[u] != use_number[v];
  predicate clocks_valid(uint64_t completed[256], uint64_t submitted[256], integer use_top,
    int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES], int32_t use_stream[ASHLAR_USES]) =
    (\forall integer s; 0 <= s < ASHLAR_STREAMS ==> completed[s] <= submitted[s]) &&
    (\forall integer u; 0 <= u < use_top ==> 0 <= use_block[u] ==> use_number[u] <= submitted[use_stream[u]]);

  // no clock runs over: what was submitted and what waits for it are not more than what was ever recorded
  logic integer waiting_uses(int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES], integer k) =
    k <= 0 ? 0 : waiting_uses(use_block, use_number, k - 1) +
      (use_block[k - 1] != -1 && use_number[k - 1] == 0 ? 1 : 0);
  predicate uses_clocked(int32_t use_block[ASHLAR_USES], uint64_t use_number[ASHLAR_USES], integer use_top,
    integer use_submissions, integer use_serials) =
    use_submissions + waiting_uses(use_block, use_number, use_top) <= use_serials;
  predicate clocks_bounded(uint64_t submitted[256], integer use_submissions) =
    \forall integer s; 0 <= s < ASHLAR_STREAMS ==> submitted[s] <= use_submissions;

  // --- words for contracts ---
  predicate use_room(struct ashlar_manager m, integer count) =
    count <= m.use_spare_count + ASHLAR_USES - m.use_top && m.use_serials + count <= UINT64_MAX;
  predicate has_use(struct ashlar_manager m, integer i) =
    \exists integer u; 0 <= u < m.use_top && m.use_block[u] == i;
*/
// clang-format off
#define USES_LINKS(K) \
  K uses: uses_in_range(m->use_spare_count, m->use_top, m->use_block, m->use_stream, m->use_serial, m->use_serials); \
  K use_spares: uses_spare(m->use_spare_count, m->use_spare, m->use_top, m->use_block, m->use_next); \
  K use_count: uses_counted(m->use_spare_count, m->use_block, m->use_top); \
  K REQ_STREAM_use_once: uses_unique(m->use_top, m->use_block, m->use_stream); \
  K serials: serials_distinct(m->use_top, m->use_block, m->use_serial); \
  K chain_more: chain_more(m->use_top, m->use_block, m->use_more, m->use_serial, m->use_less); \
  K chain_less: chain_less(m->use_top, m->use_block, m->use_less, m->first_use, m->use_serial, m->use_more); \
  K chain_starts: chain_starts(m->first_use, m->use_top, m->use_block, m->use_less); \
  K chain_first: chain_first(m->use_top, m->use_block, m->first_use, m->use_serial); \
  K chain_dense: chain_dense(m->use_top, m->use_block, m->use_serial, m->use_more); \
  K queue_next: queue_next(m->use_top, m->use_block, m->use_number, m->use_next, m->use_stream); \
  K queue_ends: queue_ends(m->queue_head, m->use_top, m->queue_tail); \
  K queue_heads: queue_heads(m->use_top, m->queue_head, m->use_block, m->use_stream, m->use_number); \
  K queue_tails: queue_tails(m->use_top, m->queue_tail, m->use_block, m->use_stream, m->use_number, m->use_next); \
  K queue_first: queue_first(m->use_top, m->use_block, m->use_number, m->queue_head, m->use_stream); \
  K queue_last: queue_last(m->use_top, m->use_block, m->use_number, m->queue_tail, m->use_stream); \
  K queue_dense: queue_dense(m->use_top, m->use_block, m->use_number, m->use_stream, m->use_next); \
  K numbers: numbers_distinct(m->use_top, m->use_block, m->use_number, m->use_stream); \
  K clocks: clocks_valid(m->completed, m->submitted, m->use_top, m->use_block, m->use_number, m->use_stream); \
  K bounded: clocks_bounded(m->submitted, m->use_submissions);
#define USES_CLAUSES(K) USES_LINKS(K) \
  K clocked: uses_clocked(m->use_block, m->use_number, m->use_top, m->use_submissions, m->use_serials);
#define REQUIRES_USES requires uses: USES_STATE;
#define ENSURES_USES ensures uses: USES_STATE;
// a record is what it was (inline, so that the provers find it by any of its fields)
#define SAME_USE(U) (m->use_block[U] == \old(*m).use_block[U] && m->use_stream[U] == \old(*m).use_stream[U] && \
  m->use_serial[U] == \old(*m).use_serial[U] && m->use_number[U] == \old(*m).use_number[U])
#define ENSURES_OTHERS_FIRST(SLOT) ensures others_first: \
  \forall integer i; 0 <= i < ASHLAR_SLOTS ==> i != (SLOT) ==> m->first_use[i] == \old(*m).first_use[i];
// a record that goes out of a chain leaves the one behind it to the one before it
#define ENSURES_OTHERS_MORE(USE) ensures others_more: \
  \forall integer u; 0 <= u < m->use_top ==> u != (USE) ==> m->use_more[u] == \old(*m).use_more[u] || \
    (\old(*m).use_more[u] == (USE) && m->use_more[u] == \old(*m).use_more[USE]);
#define ENSURES_CLOCKS ensures clocks: \
  \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \old(*m).submitted[s] <= m->submitted[s];
#define KEEPS_CLOCKS loop invariant clocks: \
  \forall integer s; 0 <= s < ASHLAR_STREAMS ==> \at(*m, Pre).submitted[s] <= m->submitted[s];
#define EVERY_USE(field) m->field[0 .. ASHLAR_USES - 1]
#define ASSIGNS_CHAINS EVERY_USE(use_less), EVERY_USE(use_more), m->first_use[0 .. ASHLAR_SLOTS - 1]
#define ASSIGNS_QUEUES EVERY_USE(use_next), EVERY_USE(use_number), m->queue_head[0 .. ASHLAR_STREAMS - 1], \
  m->queue_tail[0 .. ASHLAR_STREAMS - 1], m->submitted[0 .. ASHLAR_STREAMS - 1], m->use_submissions
#define ASSIGNS_RECORDS EVERY_USE(use_block), EVERY_USE(use_next), EVERY_USE(use_spare), m->use_spare_count
// clang-format on
#endif
