/* stream_calls.c - see block_manager.h: streams, captures, and the uses that were submitted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

int32_t ashlar_stream_find(const struct ashlar_manager *m, uint64_t key)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_stream_lookup(m, key);
}

/* The number for a new stream: that of one that is gone and has no segment left, or the next one. */
/*@ requires \valid(m); REQUIRES_STREAMS
    terminates \true; exits \false;
    assigns \nothing;
    ensures number: 0 <= \result <= m->stream_count;
    ensures again: \result < m->stream_count ==> m->stream_gone[\result] != 0 && m->stream_segments[\result] == 0;
    ensures none: \result == m->stream_count ==> \forall integer s; 0 <= s < m->stream_count ==>
      m->stream_gone[s] == 0 || 0 < m->stream_segments[s];
*/
static int32_t number_for(const struct ashlar_manager *m)
{
  //@ ghost ashlar_streams_open(m);
  int32_t stream = 0;
  /*@ loop invariant stream: 0 <= stream <= m->stream_count;
      loop invariant passed: \forall integer s; 0 <= s < stream ==> m->stream_gone[s] == 0 || 0 < m->stream_segments[s];
      loop assigns stream;
      loop variant m->stream_count - stream;
  */
  while (stream < m->stream_count &&
         (m->stream_gone[stream] == 0 || m->stream_segments[stream] > 0)) {
    stream++;
  }
  return stream;
}

struct ashlar_registration ashlar_stream_register(struct ashlar_manager *m, uint64_t key)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  struct ashlar_registration result;
  result.stream = ashlar_stream_lookup(m, key);
  result.status = ASHLAR_ERROR_DUPLICATE;
  if (result.stream != -1) {
    return result;
  }
  result.stream = number_for(m);
  result.status = ASHLAR_ERROR_STREAMS;
  if (result.stream == ASHLAR_STREAM_DEFERRED) {
    result.stream = -1;
    return result;
  }
  result.status = ASHLAR_OK;
  ashlar_stream_put(m, result.stream, key);
  //@ ghost ashlar_streams_open(m);
  //@ ghost ashlar_whole_close(m);
  return result;
}

/* Whether a request is in flight, and for a stream, or waits for it. */
/*@ requires \valid(m);
    requires requests: requests_valid(m->request);
    requires request: 0 <= request < ASHLAR_REQUESTS;
    terminates \true; exits \false;
    assigns \nothing;
    ensures wants: \result != 0 <==> wants_stream(m->request[request], stream);
*/
static int wants(const struct ashlar_manager *m, int32_t request, int32_t stream)
{
  if (m->request[request].rung == ASHLAR_RUNG_IDLE) {
    return 0;
  }
  if (m->request[request].step == ASHLAR_STEP_WAIT && m->request[request].waited == stream) {
    return 1;
  }
  return m->request[request].bytes > 0 && ashlar_home_stream(m->request[request].home) == stream;
}

/* Whether a request in flight is for a stream, or waits for it. */
/*@ requires \valid(m);
    requires requests: requests_valid(m->request);
    terminates \true; exits \false;
    assigns \nothing;
    ensures some: \result != 0 ==> \exists integer r; 0 <= r < ASHLAR_REQUESTS && wants_stream(m->request[r], stream);
    ensures none: \result == 0 ==> \forall integer r; 0 <= r < ASHLAR_REQUESTS ==>
      !wants_stream(m->request[r], stream);
*/
static int is_wanted(const struct ashlar_manager *m, int32_t stream)
{
  int32_t i = 0;
  /*@ loop invariant i: 0 <= i <= ASHLAR_REQUESTS;
      loop invariant passed: \forall integer r; 0 <= r < i ==> !wants_stream(m->request[r], stream);
      loop assigns i;
      loop variant ASHLAR_REQUESTS - i;
  */
  while (i < ASHLAR_REQUESTS) {
    if (wants(m, i, stream)) {
      return 1;
    }
    i++;
  }
  return 0;
}

/* Deferred blocks go on; the invariants of requests in flight are kept. */
/*@ requires \valid(m); REQUIRES_STANDING
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->completed[ASHLAR_STREAM_DEFERRED];
    ENSURES_STANDING ENSURES_USES_LEFT
    ensures REQ_STREAM_defer_none: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
    ensures REQ_FRAME_go_on: owned_kept(\old(*m), *m);
*/
static void go_on(struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  ashlar_pending_go_on(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  /*@ ghost
    int32_t k = 0;
    /@ loop invariant k: 0 <= k <= m->top;
       HEADS_KEPT(k)
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) { k++; }
  */
  //@ ghost ashlar_whole_close(m);
}

/* The uses of a stream up to a number are finished; the same. */
/*@ requires \valid(m); REQUIRES_STANDING
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    requires number: number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns ASSIGNS_USES, ASSIGNS_FREED, ASSIGNS_STATS, ALL(entered), m->completed[stream];
    ENSURES_STANDING ENSURES_USES_LEFT
    ensures REQ_STREAM_poll_done: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures REQ_STREAM_poll_completed: m->completed[stream] ==
      (\old(m->completed[stream]) < number ? number : \old(m->completed[stream]));
    ensures count: 0 <= \result;
    ensures REQ_FRAME_finish: owned_kept(\old(*m), *m);
    ensures REQ_FRAME_finish_uses: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] == -1 ||
      SAME_USE(u);
*/
static int32_t finish(struct ashlar_manager *m, int32_t stream, uint64_t number)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  int32_t freed = ashlar_pending_finish(m, stream, number);
  //@ ghost ashlar_blocks_open(m);
  //@ assert firsts: FIRSTS(*m);
  /*@ ghost
    int32_t k = 0;
    /@ loop invariant k: 0 <= k <= m->top;
       HEADS_KEPT(k)
       loop assigns k;
       loop variant m->top - k;
    @/
    while (k < m->top) { k++; }
  */
  //@ ghost ashlar_whole_close(m);
  return freed;
}

/* Deferred blocks go on, where they may, and the uses of a stream up to a number are finished. */
/*@ requires \valid(m); REQUIRES_STANDING
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    requires number: number <= m->submitted[stream];
    terminates \true; exits \false;
    assigns ASSIGNS_FINISHED;
    ENSURES_STANDING
    ensures REQ_STREAM_poll_done: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> 0 < m->use_number[u] ==> number < m->use_number[u];
    ensures REQ_STREAM_poll_completed: number <= m->completed[stream];
    ensures REQ_STREAM_defer_none: captured == 0 ==> \forall integer u; 0 <= u < m->use_top ==>
      0 <= m->use_block[u] ==> m->use_stream[u] == ASHLAR_STREAM_DEFERRED ==> m->use_number[u] == 0;
    ensures count: 0 <= \result;
    ensures REQ_FRAME_complete: owned_kept(\old(*m), *m);
*/
static int32_t complete(struct ashlar_manager *m, int32_t stream, uint64_t number, int captured)
{
  if (!captured) {
    go_on(m);
  }
  return finish(m, stream, number);
}

/* Nothing waits for a stream any more: its uses are forgotten, or finished. */
/*@ requires \valid(m); REQUIRES_STANDING
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    terminates \true; exits \false;
    assigns ASSIGNS_FINISHED;
    ENSURES_STANDING
    ensures REQ_STREAM_gone_drained: \forall integer u; 0 <= u < m->use_top ==> 0 <= m->use_block[u] ==>
      m->use_stream[u] == stream ==> m->use_number[u] == 0 && m->state[m->use_block[u]] == ASHLAR_PENDING;
    ensures REQ_FRAME_gone: owned_kept(\old(*m), *m);
*/
static void drain(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_pending_forget(m, stream);
  //@ ghost ashlar_uses_open(m);
  //@ ghost ashlar_whole_close(m);
  (void)finish(m, stream, m->submitted[stream]);
  //@ ghost ashlar_whole_open(m);
}

enum ashlar_status ashlar_stream_gone(struct ashlar_manager *m, int32_t stream,
                                      struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (m->stream_captured[stream] != 0 || ashlar_ladder_in_capture(m, caller.stream)) {
    return ASHLAR_ERROR_CAPTURE;
  }
  if (ashlar_ladder_busy(m) || is_wanted(m, stream)) {
    return ASHLAR_ERROR_BUSY;
  }
  m->stream_gone[stream] = 1;
  //@ ghost ashlar_streams_close(m);
  //@ ghost ashlar_whole_close(m);
  go_on(m);
  drain(m, stream);
  return ASHLAR_OK;
}

enum ashlar_status ashlar_capture_begin(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (m->stream_captured[stream] != 0) {
    return ASHLAR_ERROR_CAPTURE;
  }
  m->stream_captured[stream] = 1;
  return ASHLAR_OK;
}

enum ashlar_status ashlar_capture_end(struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  if (!ashlar_stream_live(m, stream)) {
    return ASHLAR_ERROR_STREAM;
  }
  if (m->stream_captured[stream] == 0) {
    return ASHLAR_ERROR_CAPTURE;
  }
  m->stream_captured[stream] = 0;
  return ASHLAR_OK;
}

struct ashlar_submission ashlar_event_next(struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  //@ ghost ashlar_uses_open(m);
  struct ashlar_submission event;
  int32_t place = 0;
  event.stream = -1;
  event.number = 0;
  /*@ loop invariant place: 0 <= place <= m->stream_count;
      loop invariant none: event.stream == -1;
      loop invariant passed: \forall integer s; 0 <= s < m->stream_count ==> m->stream_rank[s] < place ==>
        m->submitted[s] <= m->told[s];
      loop invariant others: \forall integer s; 0 <= s < m->stream_count ==> m->told[s] == \at(*m, Pre).told[s] ||
        (\at(*m, Pre).told[s] < m->told[s] && m->told[s] == m->completed[s]);
      loop invariant ahead: \forall integer s; 0 <= s < m->stream_count ==> place <= m->stream_rank[s] ==>
        m->told[s] == \at(*m, Pre).told[s];
      loop assigns place, m->told[0 .. ASHLAR_STREAMS - 1];
      loop variant m->stream_count - place;
  */
  while (place < m->stream_count) {
    int32_t stream = m->stream_order[place];
    if (m->told[stream] < m->completed[stream]) {
      m->told[stream] = m->completed[stream];
    }
    if (m->told[stream] < m->submitted[stream]) {
      m->told[stream]++;
      event.stream = stream;
      event.number = m->told[stream];
      return event;
    }
    place++;
  }
  return event;
}

struct ashlar_completed ashlar_complete(struct ashlar_manager *m, int32_t stream, uint64_t number,
                                        struct ashlar_caller caller)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  struct ashlar_completed completed;
  completed.status = ASHLAR_OK;
  completed.freed = 0;
  if (ashlar_ladder_busy(m)) {
    completed.status = ASHLAR_ERROR_BUSY;
  } else if (!ashlar_stream_live(m, stream)) {
    completed.status = ASHLAR_ERROR_STREAM;
  } else if (number > m->submitted[stream]) {
    completed.status = ASHLAR_ERROR_RANGE;
  } else {
    completed.freed = complete(m, stream, number, ashlar_ladder_in_capture(m, caller.stream));
  }
  return completed;
}

uint64_t ashlar_queue_head(const struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  //@ ghost ashlar_uses_open(m);
  if (stream < 0 || stream >= m->stream_count || m->queue_head[stream] == 0) {
    return 0;
  }
  return m->use_number[m->queue_head[stream] - 1];
}
