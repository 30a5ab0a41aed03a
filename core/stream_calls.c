/* stream_calls.c - see block_manager.h: streams, captures, and the uses that were submitted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/block_manager.h"

int32_t ashlar_stream_find(const struct ashlar_manager *m, uint64_t key)
{
  return ashlar_stream_lookup(m, key);
}

/* The number for a new stream: that of one that is gone and has no segment left, or the next one. */
static int32_t number_for(const struct ashlar_manager *m)
{
  int32_t stream = 0;
  while (stream < m->stream_count &&
         (m->stream_gone[stream] == 0 || m->stream_segments[stream] > 0)) {
    stream++;
  }
  return stream;
}

struct ashlar_registration ashlar_stream_register(struct ashlar_manager *m, uint64_t key)
{
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
  struct ashlar_submission event;
  int32_t place = 0;
  event.stream = -1;
  event.number = 0;
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
  if (stream < 0 || stream >= m->stream_count || m->queue_head[stream] == 0) {
    return 0;
  }
  return m->use_number[m->queue_head[stream] - 1];
}
