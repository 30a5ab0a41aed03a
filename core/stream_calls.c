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

/* Whether a request in flight is for a stream, or waits for it. */
static int is_wanted(const struct ashlar_manager *m, int32_t stream)
{
  int32_t i = 0;
  while (i < ASHLAR_REQUESTS) {
    const int for_it = m->request[i].bytes > 0 && ashlar_home_stream(m->request[i].home) == stream;
    const int waits = m->request[i].step == ASHLAR_STEP_WAIT && m->request[i].waited == stream;
    if (m->request[i].rung != ASHLAR_RUNG_IDLE && (for_it || waits)) {
      return 1;
    }
    i++;
  }
  return 0;
}

enum ashlar_status ashlar_stream_gone(struct ashlar_manager *m, int32_t stream,
                                      struct ashlar_caller caller)
{
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
  ashlar_pending_go_on(m);
  ashlar_pending_forget(m, stream);
  (void)ashlar_pending_finish(m, stream, m->submitted[stream]);
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
    if (!ashlar_ladder_in_capture(m, caller.stream)) {
      ashlar_pending_go_on(m);
    }
    completed.freed = ashlar_pending_finish(m, stream, number);
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
