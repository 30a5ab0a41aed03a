/* streams.c - streams by number and key, and captures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* REQ-STREAM-gone. */
bool model_live_stream(const struct model *m, int32_t stream)
{
  return 0 <= stream && stream < MODEL_STREAMS && m->stream[stream].used && !m->stream[stream].gone;
}

/* Streams ascend by key; one that is gone may have the key of a later one. REQ-STREAM-registered. */
bool model_stream_before(const struct model *m, int32_t stream, int32_t other)
{
  if (m->stream[stream].key != m->stream[other].key) {
    return m->stream[stream].key < m->stream[other].key;
  }
  return stream < other;
}

int32_t model_stream_find(const struct model *m, uint64_t key)
{
  for (int32_t i = 0; i < m->streams; i++) {
    if (model_live_stream(m, i) && m->stream[i].key == key) {
      return i;
    }
  }
  return -1;
}

/* The number of a stream that is gone is free again when nothing of it is left. */
static bool has_segment(const struct model *m, int32_t stream)
{
  bool found = false;
  for (int32_t i = 0; i < m->segments; i++) {
    found = found || (m->segment[i].used && m->segment[i].stream == stream);
  }
  return found;
}

/* A number that comes again goes on counting its uses. REQ-STREAM-registered, REQ-CAPACITY-streams. */
struct model_registration model_stream_register(struct model *m, uint64_t key)
{
  const int32_t known = model_stream_find(m, key);
  if (known != -1) {
    return (struct model_registration){MODEL_ERROR_DUPLICATE, known};
  }
  for (int32_t i = 0; i < MODEL_STREAMS; i++) {
    if (!m->stream[i].used || (m->stream[i].gone && !has_segment(m, i))) {
      m->streams = i >= m->streams ? i + 1 : m->streams;
      m->stream[i].used = true;
      m->stream[i].gone = false;
      m->stream[i].key = key;
      return (struct model_registration){MODEL_OK, i};
    }
  }
  return (struct model_registration){MODEL_ERROR_STREAMS, -1};
}

/* Everything submitted to the stream is finished, and its blocks go to nobody. Not while a request is made on it or waits
   for it. REQ-STREAM-gone. */
enum model_status model_stream_gone(struct model *m, int32_t stream, struct model_caller caller)
{
  bool wanted = model_busy(m);
  for (int32_t i = 0; i < MODEL_REQUESTS; i++) {
    const struct model_request asker = m->request[i];
    wanted = wanted ||
             (asker.used && (asker.want.stream == stream || (asker.asked.kind == MODEL_STEP_WAIT &&
                                                             asker.asked.stream == stream)));
  }
  if (!model_live_stream(m, stream)) {
    return MODEL_ERROR_STREAM;
  }
  if (m->stream[stream].capturing || model_in_capture(m, caller)) {
    return MODEL_ERROR_CAPTURE;
  }
  if (wanted) {
    return MODEL_ERROR_BUSY;
  }
  m->stream[stream].gone = true;
  model_go_on(m);
  for (int32_t i = 0; i < m->uses; i++) {
    if (m->use[i].used && m->use[i].stream == stream && m->use[i].number == 0) {
      m->use[i].used = false;
    }
  }
  (void)model_finish(m, stream, m->stream[stream].submitted);
  return MODEL_OK;
}

/* REQ-POOL-capture. */
enum model_status model_capture_begin(struct model *m, int32_t stream)
{
  if (!model_live_stream(m, stream)) {
    return MODEL_ERROR_STREAM;
  }
  if (m->stream[stream].capturing) {
    return MODEL_ERROR_CAPTURE;
  }
  m->stream[stream].capturing = true;
  return MODEL_OK;
}

/* Of a capture that succeeded or failed alike. REQ-POOL-capture. */
enum model_status model_capture_end(struct model *m, int32_t stream)
{
  if (!model_live_stream(m, stream)) {
    return MODEL_ERROR_STREAM;
  }
  if (!m->stream[stream].capturing) {
    return MODEL_ERROR_CAPTURE;
  }
  m->stream[stream].capturing = false;
  return MODEL_OK;
}

bool model_in_capture(const struct model *m, struct model_caller caller)
{
  return model_live_stream(m, caller.stream) && m->stream[caller.stream].capturing;
}
