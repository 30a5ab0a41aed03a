/* Writes a memory snapshot as a pickle that Python and PyTorch's viewers read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/snapshot_writer.h"

#include <string.h>

#include "tools/pickle_writer.h"
#include "tools/snapshot_words.h"

/* The pickle being written, and where each text stands in its memo (index + 1; 0: not yet). */
struct writing {
  struct ashlar_pickle_writer pickle;
  const struct ashlar_snapshot *snapshot;
  uint32_t words[ASHLAR_WORD_COUNT];
  uint32_t names[ASHLAR_SNAPSHOT_MAX_NAMES];
  uint32_t frames;
};

static void put_word(struct writing *writing, unsigned word)
{
  const char *text = ashlar_word_text(word);

  ashlar_pickle_put_text(&writing->pickle, text, strlen(text), &writing->words[word]);
}

static void put_opcode(struct writing *writing, enum ashlar_pickle_opcode opcode)
{
  ashlar_pickle_put_opcode(&writing->pickle, opcode);
}

static void put_number(struct writing *writing, unsigned key, uint64_t number)
{
  put_word(writing, key);
  ashlar_pickle_put_unsigned(&writing->pickle, number);
}

static void put_truth(struct writing *writing, unsigned key, bool truth)
{
  put_word(writing, key);
  ashlar_pickle_put_bool(&writing->pickle, truth);
}

static void put_stream(struct writing *writing, uint16_t index)
{
  const struct ashlar_stream *stream = &writing->snapshot->streams[index];

  put_word(writing, ASHLAR_WORD_STREAM);
  if (stream->is_negative) {
    /* Two's complement to the signed number, without relying on the conversion. */
    ashlar_pickle_put_signed(&writing->pickle, -(int64_t)~stream->handle - 1);
  } else {
    ashlar_pickle_put_unsigned(&writing->pickle, stream->handle);
  }
}

static void put_pool(struct writing *writing, unsigned key, uint16_t index)
{
  const struct ashlar_pool_id *pool = &writing->snapshot->pools[index];

  put_word(writing, key);
  ashlar_pickle_put_unsigned(&writing->pickle, pool->first);
  ashlar_pickle_put_unsigned(&writing->pickle, pool->second);
  put_opcode(writing, ASHLAR_OP_TUPLE2);
}

/* Viewers expect the key; there are no stack frames to tell. */
static void put_no_frames(struct writing *writing)
{
  static const char FRAMES[] = "frames";

  ashlar_pickle_put_text(&writing->pickle, FRAMES, sizeof FRAMES - 1, &writing->frames);
  put_opcode(writing, ASHLAR_OP_EMPTY_LIST);
}

static void begin_dict(struct writing *writing)
{
  put_opcode(writing, ASHLAR_OP_EMPTY_DICT);
  put_opcode(writing, ASHLAR_OP_MARK);
}

static void end_dict(struct writing *writing)
{
  put_opcode(writing, ASHLAR_OP_SETITEMS);
}

/* Around element `index` of a list of `count`: the marks of its batch. */
static void before_element(struct writing *writing, uint64_t index)
{
  if (index % ASHLAR_WRITER_BATCH == 0) {
    put_opcode(writing, ASHLAR_OP_MARK);
  }
}

static void after_element(struct writing *writing, uint64_t index, uint64_t count)
{
  if ((index + 1) % ASHLAR_WRITER_BATCH == 0 || index + 1 == count) {
    put_opcode(writing, ASHLAR_OP_APPENDS);
  }
}

static void put_block(struct writing *writing, const struct ashlar_block *block)
{
  static const uint16_t STATES[] = {
      [ASHLAR_BLOCK_INACTIVE] = ASHLAR_WORD_INACTIVE,
      [ASHLAR_BLOCK_ALLOCATED] = ASHLAR_WORD_ACTIVE_ALLOCATED,
      [ASHLAR_BLOCK_PENDING_FREE] = ASHLAR_WORD_ACTIVE_PENDING_FREE,
  };

  begin_dict(writing);
  if ((block->flags & ASHLAR_BLOCK_HAS_ADDRESS) != 0) {
    put_number(writing, ASHLAR_WORD_ADDRESS, block->address);
  }
  put_number(writing, ASHLAR_WORD_SIZE, block->size);
  if ((block->flags & ASHLAR_BLOCK_HAS_REQUESTED) != 0) {
    put_number(writing, ASHLAR_WORD_REQUESTED_SIZE, block->requested_size);
  }
  put_word(writing, ASHLAR_WORD_STATE);
  put_word(writing, (block->flags & ASHLAR_BLOCK_SAYS_AWAITING) != 0
                        ? (unsigned)ASHLAR_WORD_ACTIVE_AWAITING_FREE
                        : STATES[block->state]);
  put_no_frames(writing);
  end_dict(writing);
}

static void put_blocks(struct writing *writing, const struct ashlar_segment *segment)
{
  put_word(writing, ASHLAR_WORD_BLOCKS);
  put_opcode(writing, ASHLAR_OP_EMPTY_LIST);
  for (uint64_t i = 0; i < segment->block_count; i++) {
    before_element(writing, i);
    put_block(writing, &writing->snapshot->blocks[segment->first_block + i]);
    after_element(writing, i, segment->block_count);
  }
}

static void put_sums(struct writing *writing, const struct ashlar_segment *segment)
{
  if ((segment->flags & ASHLAR_SEGMENT_HAS_TOTAL) != 0) {
    put_number(writing, ASHLAR_WORD_TOTAL_SIZE, segment->total_size);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_ALLOCATED) != 0) {
    put_number(writing, ASHLAR_WORD_ALLOCATED_SIZE, segment->allocated_size);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_ACTIVE) != 0) {
    put_number(writing, ASHLAR_WORD_ACTIVE_SIZE, segment->active_size);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_REQUESTED) != 0) {
    put_number(writing, ASHLAR_WORD_REQUESTED_SIZE, segment->requested_size);
  }
}

static void put_segment(struct writing *writing, const struct ashlar_segment *segment)
{
  begin_dict(writing);
  if ((segment->flags & ASHLAR_SEGMENT_HAS_DEVICE) != 0) {
    put_word(writing, ASHLAR_WORD_DEVICE);
    ashlar_pickle_put_signed(&writing->pickle, segment->device);
  }
  put_number(writing, ASHLAR_WORD_ADDRESS, segment->address);
  put_sums(writing, segment);
  if ((segment->flags & ASHLAR_SEGMENT_HAS_STREAM) != 0) {
    put_stream(writing, segment->stream);
  }
  if (segment->type != ASHLAR_SEGMENT_UNTYPED) {
    put_word(writing, ASHLAR_WORD_SEGMENT_TYPE);
    put_word(writing,
             segment->type == ASHLAR_SEGMENT_SMALL ? ASHLAR_WORD_SMALL : ASHLAR_WORD_LARGE);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_POOL) != 0) {
    put_pool(writing, ASHLAR_WORD_SEGMENT_POOL_ID, segment->pool);
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_EXPANDABLE) != 0) {
    put_truth(writing, ASHLAR_WORD_IS_EXPANDABLE, segment->is_expandable);
  }
  put_no_frames(writing);
  if ((segment->flags & ASHLAR_SEGMENT_HAS_BLOCKS) != 0) {
    put_blocks(writing, segment);
  }
  end_dict(writing);
}

static void put_action(struct writing *writing, const struct ashlar_event *event)
{
  put_word(writing, ASHLAR_WORD_ACTION);
  if (event->action == ASHLAR_ACTION_OTHER) {
    const struct ashlar_text *name = &writing->snapshot->names[event->name];

    ashlar_pickle_put_text(&writing->pickle, name->bytes, name->length,
                           &writing->names[event->name]);
  } else {
    put_word(writing, ashlar_word_of_action(event->action));
  }
}

static void put_event(struct writing *writing, const struct ashlar_event *event)
{
  begin_dict(writing);
  put_action(writing, event);
  if ((event->flags & ASHLAR_EVENT_HAS_ADDRESS) != 0) {
    put_number(writing, ASHLAR_WORD_ADDR, event->address);
  } else if ((event->flags & ASHLAR_EVENT_HAS_DEVICE_FREE) != 0) {
    put_number(writing, ASHLAR_WORD_DEVICE_FREE, event->address);
  }
  if ((event->flags & ASHLAR_EVENT_HAS_SIZE) != 0) {
    put_number(writing, ASHLAR_WORD_SIZE, event->size);
  }
  if ((event->flags & ASHLAR_EVENT_HAS_STREAM) != 0) {
    put_stream(writing, event->stream);
  }
  if ((event->flags & ASHLAR_EVENT_HAS_TIME) != 0) {
    put_number(writing, ASHLAR_WORD_TIME_US, event->time_us);
  }
  if ((event->flags & ASHLAR_EVENT_HAS_POOL) != 0) {
    put_pool(writing, ASHLAR_WORD_POOL_ID, event->pool);
  }
  put_no_frames(writing);
  end_dict(writing);
}

static void put_segments(struct writing *writing)
{
  const struct ashlar_snapshot *snapshot = writing->snapshot;

  put_word(writing, ASHLAR_WORD_SEGMENTS);
  put_opcode(writing, ASHLAR_OP_EMPTY_LIST);
  for (uint64_t i = 0; i < snapshot->segment_count; i++) {
    before_element(writing, i);
    put_segment(writing, &snapshot->segments[i]);
    after_element(writing, i, snapshot->segment_count);
  }
}

static void put_traces(struct writing *writing)
{
  const struct ashlar_snapshot *snapshot = writing->snapshot;

  put_word(writing, ASHLAR_WORD_DEVICE_TRACES);
  put_opcode(writing, ASHLAR_OP_EMPTY_LIST);
  for (uint32_t i = 0; i < snapshot->trace_count; i++) {
    const struct ashlar_device_trace *trace = &snapshot->traces[i];

    before_element(writing, i);
    put_opcode(writing, ASHLAR_OP_EMPTY_LIST);
    for (uint64_t k = 0; k < trace->event_count; k++) {
      before_element(writing, k);
      put_event(writing, &trace->events[k]);
      after_element(writing, k, trace->event_count);
    }
    after_element(writing, i, snapshot->trace_count);
  }
}

static void put_divisions(struct writing *writing)
{
  const struct ashlar_settings *settings = &writing->snapshot->settings;

  put_word(writing, ASHLAR_WORD_ROUNDUP_POWER2_DIVISIONS);
  begin_dict(writing);
  for (unsigned i = 0; i < ASHLAR_DIVISION_SLOTS; i++) {
    if ((settings->divisions_present & (1U << i)) != 0) {
      put_number(writing, ashlar_word_of_division(i), settings->divisions[i]);
    }
  }
  end_dict(writing);
}

static void put_settings(struct writing *writing)
{
  const struct ashlar_settings *settings = &writing->snapshot->settings;
  const struct {
    unsigned flag;
    unsigned key;
    bool truth;
  } truths[] = {
      {ASHLAR_SETTINGS_HAS_EXPANDABLE, ASHLAR_WORD_EXPANDABLE_SEGMENTS,
       settings->expandable_segments},
      {ASHLAR_SETTINGS_HAS_RELEASE_LOCK, ASHLAR_WORD_RELEASE_LOCK_ON_CUDAMALLOC,
       settings->release_lock_on_cudamalloc},
      {ASHLAR_SETTINGS_HAS_HOST_REGISTER, ASHLAR_WORD_PINNED_USE_CUDA_HOST_REGISTER,
       settings->pinned_use_cuda_host_register},
      {ASHLAR_SETTINGS_HAS_STREAM_REUSE, ASHLAR_WORD_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
       settings->graph_capture_record_stream_reuse},
  };

  put_word(writing, ASHLAR_WORD_ALLOCATOR_SETTINGS);
  begin_dict(writing);
  if ((settings->flags & ASHLAR_SETTINGS_HAS_CONF) != 0) {
    put_word(writing, ASHLAR_WORD_ALLOC_CONF);
    ashlar_pickle_put_text(&writing->pickle, settings->conf.bytes, settings->conf.length, NULL);
  }
  if ((settings->flags & ASHLAR_SETTINGS_HAS_MAX_SPLIT) != 0) {
    put_word(writing, ASHLAR_WORD_MAX_SPLIT_SIZE);
    ashlar_pickle_put_signed(&writing->pickle, settings->max_split_size);
  }
  if ((settings->flags & ASHLAR_SETTINGS_HAS_GC_THRESHOLD) != 0) {
    put_word(writing, ASHLAR_WORD_GARBAGE_COLLECTION_THRESHOLD);
    ashlar_pickle_put_float(&writing->pickle, settings->garbage_collection_threshold);
  }
  if ((settings->flags & ASHLAR_SETTINGS_HAS_PINNED_THREADS) != 0) {
    put_word(writing, ASHLAR_WORD_PINNED_NUM_REGISTER_THREADS);
    ashlar_pickle_put_signed(&writing->pickle, settings->pinned_num_register_threads);
  }
  for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
    if ((settings->flags & truths[i].flag) != 0) {
      put_truth(writing, truths[i].key, truths[i].truth);
    }
  }
  if ((settings->flags & ASHLAR_SETTINGS_HAS_DIVISIONS) != 0) {
    put_divisions(writing);
  }
  end_dict(writing);
}

bool ashlar_snapshot_write_file(const char *path, const struct ashlar_snapshot *snapshot,
                                struct ashlar_error *error)
{
  struct writing writing = {.snapshot = snapshot};

  if (!ashlar_pickle_writer_open(&writing.pickle, path, error)) {
    return false;
  }
  begin_dict(&writing);
  put_segments(&writing);
  if (snapshot->has_traces) {
    put_traces(&writing);
  }
  if (snapshot->settings.is_present) {
    put_settings(&writing);
  }
  if (snapshot->has_annotations) {
    put_word(&writing, ASHLAR_WORD_EXTERNAL_ANNOTATIONS);
    put_opcode(&writing, ASHLAR_OP_EMPTY_LIST);
  }
  end_dict(&writing);
  return ashlar_pickle_writer_close(&writing.pickle, error);
}
