/* uses.c - uses of blocks on other streams: recorded, submitted, finished; deferral during captures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* The use of a block on a stream that is recorded and not submitted yet; -1: none. */
static int32_t recorded(const struct model *m, int32_t slot, int32_t stream)
{
  for (int32_t i = 0; i < m->uses; i++) {
    if (m->use[i].used && m->use[i].slot == slot && m->use[i].stream == stream &&
        m->use[i].number == 0) {
      return i;
    }
  }
  return -1;
}

static bool in_use(const struct model *m, int32_t slot)
{
  bool found = false;
  for (int32_t i = 0; i < m->uses && !found; i++) {
    found = m->use[i].used && m->use[i].slot == slot;
  }
  return found;
}

/* The recorded use of a block whose stream comes first; -1: it has none. */
static int32_t first_recorded(const struct model *m, int32_t slot)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->uses; i++) {
    if (m->use[i].used && m->use[i].slot == slot && m->use[i].number == 0 &&
        (first == -1 || model_stream_before(m, m->use[i].stream, m->use[first].stream))) {
      first = i;
    }
  }
  return first;
}

/* Uses that can be recorded. A block with recorded uses has room for one more, which its deferral may need. */
int32_t model_use_room(const struct model *m)
{
  bool waits[MODEL_BLOCKS] = {false};
  int32_t room = MODEL_USES;
  for (int32_t i = 0; i < m->uses; i++) {
    const bool recorded_use = m->use[i].used && m->use[i].number == 0;
    room -= m->use[i].used ? 1 : 0;
    room -= recorded_use && !waits[m->use[i].slot] ? 1 : 0;
    waits[m->use[i].slot] = waits[m->use[i].slot] || recorded_use;
  }
  return room;
}

/* Once for each stream, and not for the block's own. `faithful`: a use that was recorded during a capture too counts as
   one of the capture. REQ-STREAM-use, REQ-CAPACITY-others. */
enum model_status model_add_use(struct model *m, int32_t slot, int32_t stream, bool captured)
{
  const int32_t known = recorded(m, slot, stream);
  if (stream == m->segment[m->block[slot].segment].stream) {
    return MODEL_OK;
  }
  if (known != -1) {
    const bool both = m->use[known].captured && captured;
    const bool either = m->use[known].captured || captured;
    m->use[known].captured = m->config.policy == MODEL_FAITHFUL ? either : both;
    return MODEL_OK;
  }
  if (model_use_room(m) < (in_use(m, slot) ? 1 : 2)) {
    return MODEL_ERROR_USES;
  }
  int32_t use = 0;
  while (use < m->uses && m->use[use].used) {
    use++;
  }
  m->uses = use == m->uses ? use + 1 : m->uses;
  m->use[use] =
      (struct model_use){.used = true, .captured = captured, .slot = slot, .stream = stream};
  return MODEL_OK;
}

/* Puts the recorded uses of a block at the end of the queues of their streams. REQ-STREAM-queue. */
static void submit(struct model *m, int32_t slot)
{
  int32_t use = first_recorded(m, slot);
  for (int32_t round = 0; round < MODEL_STREAMS && use != -1; round++) {
    const int32_t stream = m->use[use].stream;
    m->stream[stream].submitted++;
    m->use[use].number = m->stream[stream].submitted;
    use = first_recorded(m, slot);
  }
}

/* An allocated block is given back: it is free if it has no use, and else pending; during a capture it is deferred.
   Returns whether uses were submitted. REQ-STREAM-pending, REQ-STREAM-defer. */
bool model_give_back(struct model *m, int32_t slot, struct model_caller caller)
{
  bool submitted = false;
  m->block[slot].references = 0;
  m->block[slot].state = MODEL_PENDING;
  if (!in_use(m, slot)) {
    model_enter(m, slot);
  } else if (model_in_capture(m, caller)) {
    m->time++;
    m->block[slot].deferred = m->time;
  } else {
    submit(m, slot);
    submitted = true;
  }
  model_settle(m);
  return submitted;
}

/* The block that was deferred first; -1: none. */
static int32_t first_deferred(const struct model *m)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_PENDING && m->block[i].deferred != 0 &&
        (first == -1 || m->block[i].deferred < m->block[first].deferred)) {
      first = i;
    }
  }
  return first;
}

/* Outside a capture: deferred blocks lose the uses of the capture and go on. REQ-STREAM-defer. */
void model_go_on(struct model *m)
{
  int32_t slot = first_deferred(m);
  for (int32_t round = 0; round < MODEL_BLOCKS && slot != -1; round++) {
    m->block[slot].deferred = 0;
    for (int32_t i = 0; i < m->uses; i++) {
      if (m->use[i].slot == slot && m->use[i].captured) {
        m->use[i].used = false;
      }
    }
    if (in_use(m, slot)) {
      submit(m, slot);
    } else {
      model_enter(m, slot);
      model_settle(m);
    }
    slot = first_deferred(m);
  }
}

/* The first submitted use of a stream; -1: none. */
static int32_t head(const struct model *m, int32_t stream)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->uses; i++) {
    if (m->use[i].used && m->use[i].stream == stream && m->use[i].number != 0 &&
        (first == -1 || m->use[i].number < m->use[first].number)) {
      first = i;
    }
  }
  return first;
}

/* All uses of the stream up to a number are finished: they leave the queue, in order, and a block whose last use it was
   is free. Returns how many blocks that were. REQ-STREAM-poll, REQ-STREAM-scan, REQ-STREAM-pending. */
int32_t model_finish(struct model *m, int32_t stream, uint64_t number)
{
  int32_t freed = 0;
  int32_t use = head(m, stream);
  for (int32_t round = 0; round < MODEL_USES && use != -1 && m->use[use].number <= number;
       round++) {
    const int32_t slot = m->use[use].slot;
    m->use[use].used = false;
    if (!in_use(m, slot)) {
      model_enter(m, slot);
      model_settle(m);
      freed++;
    }
    use = head(m, stream);
  }
  if (number > m->stream[stream].completed) {
    m->stream[stream].completed = number;
  }
  return freed;
}

struct model_freed model_complete(struct model *m, int32_t stream, uint64_t number,
                                  struct model_caller caller)
{
  if (model_busy(m)) {
    return (struct model_freed){MODEL_ERROR_BUSY, 0};
  }
  if (!model_live_stream(m, stream)) {
    return (struct model_freed){MODEL_ERROR_STREAM, 0};
  }
  if (number > m->stream[stream].submitted) {
    return (struct model_freed){MODEL_ERROR_RANGE, 0};
  }
  if (!model_in_capture(m, caller)) {
    model_go_on(m);
  }
  return (struct model_freed){MODEL_OK, model_finish(m, stream, number)};
}

/* Streams ascending, in each the uses as they were submitted. */
static bool use_before(const struct model *m, int32_t use, int32_t other)
{
  const int32_t stream = m->use[use].stream;
  return stream == m->use[other].stream ? m->use[use].number < m->use[other].number
                                        : model_stream_before(m, stream, m->use[other].stream);
}

/* The next use that was submitted and is not finished, and that the layer does not know of: an event is to be recorded
   for it. REQ-STREAM-queue. */
struct model_event model_event_next(struct model *m)
{
  int32_t next = -1;
  for (int32_t i = 0; i < m->uses; i++) {
    if (m->use[i].used && m->use[i].number != 0 && !m->use[i].told &&
        (next == -1 || use_before(m, i, next))) {
      next = i;
    }
  }
  if (next == -1) {
    return (struct model_event){-1, 0};
  }
  m->use[next].told = true;
  return (struct model_event){m->use[next].stream, m->use[next].number};
}

uint64_t model_queue_head(const struct model *m, int32_t stream)
{
  const int32_t first = head(m, stream);
  return first == -1 ? 0 : m->use[first].number;
}

/* What to wait for next: the first stream after another (-1: of all) with an outstanding use of a block of the pool (-1:
   of any), and the last such use. Stream -1: nothing. REQ-STREAM-drain. */
struct model_event model_outstanding(const struct model *m, int32_t last, int32_t pool)
{
  struct model_event event = {-1, 0};
  for (int32_t i = 0; i < m->uses; i++) {
    const int32_t queue = m->use[i].stream;
    if (!m->use[i].used || m->use[i].number == 0 ||
        (last != -1 && !model_stream_before(m, last, queue)) ||
        (pool != -1 && m->segment[m->block[m->use[i].slot].segment].pool != pool)) {
      continue;
    }
    if (event.stream == -1 || model_stream_before(m, queue, event.stream)) {
      event = (struct model_event){queue, m->use[i].number};
    } else if (queue == event.stream && m->use[i].number > event.number) {
      event.number = m->use[i].number;
    }
  }
  return event;
}
