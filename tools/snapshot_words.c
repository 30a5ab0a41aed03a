/* The keys and values that a memory snapshot is spelled with.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/snapshot_words.h"

#include <string.h>

static const char *const WORDS[ASHLAR_WORD_COUNT] = {
    [ASHLAR_WORD_NONE] = "",
    [ASHLAR_WORD_EMPTY] = "",
    [ASHLAR_WORD_DIVISION_1] = "1",
    [ASHLAR_WORD_DIVISION_2] = "2",
    [ASHLAR_WORD_DIVISION_4] = "4",
    [ASHLAR_WORD_DIVISION_8] = "8",
    [ASHLAR_WORD_DIVISION_16] = "16",
    [ASHLAR_WORD_DIVISION_32] = "32",
    [ASHLAR_WORD_DIVISION_64] = "64",
    [ASHLAR_WORD_DIVISION_128] = "128",
    [ASHLAR_WORD_DIVISION_256] = "256",
    [ASHLAR_WORD_DIVISION_512] = "512",
    [ASHLAR_WORD_OOM] = "oom",
    [ASHLAR_WORD_DIVISION_1024] = "1024",
    [ASHLAR_WORD_DIVISION_2048] = "2048",
    [ASHLAR_WORD_DIVISION_4096] = "4096",
    [ASHLAR_WORD_DIVISION_8192] = "8192",
    [ASHLAR_WORD_ADDR] = "addr",
    [ASHLAR_WORD_SIZE] = "size",
    [ASHLAR_WORD_DIVISION_16384] = "16384",
    [ASHLAR_WORD_DIVISION_32768] = "32768",
    [ASHLAR_WORD_ALLOC] = "alloc",
    [ASHLAR_WORD_LARGE] = "large",
    [ASHLAR_WORD_SMALL] = "small",
    [ASHLAR_WORD_STATE] = "state",
    [ASHLAR_WORD_ACTION] = "action",
    [ASHLAR_WORD_BLOCKS] = "blocks",
    [ASHLAR_WORD_DEVICE] = "device",
    [ASHLAR_WORD_STREAM] = "stream",
    [ASHLAR_WORD_ADDRESS] = "address",
    [ASHLAR_WORD_POOL_ID] = "pool_id",
    [ASHLAR_WORD_TIME_US] = "time_us",
    [ASHLAR_WORD_INACTIVE] = "inactive",
    [ASHLAR_WORD_SEGMENTS] = "segments",
    [ASHLAR_WORD_SNAPSHOT] = "snapshot",
    [ASHLAR_WORD_TOTAL_SIZE] = "total_size",
    [ASHLAR_WORD_ACTIVE_SIZE] = "active_size",
    [ASHLAR_WORD_DEVICE_FREE] = "device_free",
    [ASHLAR_WORD_SEGMENT_MAP] = "segment_map",
    [ASHLAR_WORD_SEGMENT_FREE] = "segment_free",
    [ASHLAR_WORD_SEGMENT_TYPE] = "segment_type",
    [ASHLAR_WORD_DEVICE_TRACES] = "device_traces",
    [ASHLAR_WORD_IS_EXPANDABLE] = "is_expandable",
    [ASHLAR_WORD_SEGMENT_ALLOC] = "segment_alloc",
    [ASHLAR_WORD_SEGMENT_UNMAP] = "segment_unmap",
    [ASHLAR_WORD_ALLOCATED_SIZE] = "allocated_size",
    [ASHLAR_WORD_FREE_COMPLETED] = "free_completed",
    [ASHLAR_WORD_FREE_REQUESTED] = "free_requested",
    [ASHLAR_WORD_MAX_SPLIT_SIZE] = "max_split_size",
    [ASHLAR_WORD_REQUESTED_SIZE] = "requested_size",
    [ASHLAR_WORD_SEGMENT_POOL_ID] = "segment_pool_id",
    [ASHLAR_WORD_ACTIVE_ALLOCATED] = "active_allocated",
    [ASHLAR_WORD_ALLOCATOR_SETTINGS] = "allocator_settings",
    [ASHLAR_WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
    [ASHLAR_WORD_EXPANDABLE_SEGMENTS] = "expandable_segments",
    [ASHLAR_WORD_ACTIVE_AWAITING_FREE] = "active_awaiting_free",
    [ASHLAR_WORD_EXTERNAL_ANNOTATIONS] = "external_annotations",
    [ASHLAR_WORD_ALLOC_CONF] = "PYTORCH_CUDA_ALLOC_CONF",
    [ASHLAR_WORD_ROUNDUP_POWER2_DIVISIONS] = "roundup_power2_divisions",
    [ASHLAR_WORD_RELEASE_LOCK_ON_CUDAMALLOC] = "release_lock_on_cudamalloc",
    [ASHLAR_WORD_PINNED_NUM_REGISTER_THREADS] = "pinned_num_register_threads",
    [ASHLAR_WORD_GARBAGE_COLLECTION_THRESHOLD] = "garbage_collection_threshold",
    [ASHLAR_WORD_PINNED_USE_CUDA_HOST_REGISTER] = "pinned_use_cuda_host_register",
    [ASHLAR_WORD_GRAPH_CAPTURE_RECORD_STREAM_REUSE] = "graph_capture_record_stream_reuse",
};

static const uint16_t ACTION_WORDS[ASHLAR_ACTION_COUNT] = {
    [ASHLAR_ACTION_ALLOC] = ASHLAR_WORD_ALLOC,
    [ASHLAR_ACTION_FREE_REQUESTED] = ASHLAR_WORD_FREE_REQUESTED,
    [ASHLAR_ACTION_FREE_COMPLETED] = ASHLAR_WORD_FREE_COMPLETED,
    [ASHLAR_ACTION_SEGMENT_ALLOC] = ASHLAR_WORD_SEGMENT_ALLOC,
    [ASHLAR_ACTION_SEGMENT_FREE] = ASHLAR_WORD_SEGMENT_FREE,
    [ASHLAR_ACTION_SEGMENT_MAP] = ASHLAR_WORD_SEGMENT_MAP,
    [ASHLAR_ACTION_SEGMENT_UNMAP] = ASHLAR_WORD_SEGMENT_UNMAP,
    [ASHLAR_ACTION_OOM] = ASHLAR_WORD_OOM,
    [ASHLAR_ACTION_SNAPSHOT] = ASHLAR_WORD_SNAPSHOT,
};

static const uint16_t DIVISION_WORDS[ASHLAR_DIVISION_SLOTS] = {
    ASHLAR_WORD_DIVISION_1,     ASHLAR_WORD_DIVISION_2,    ASHLAR_WORD_DIVISION_4,
    ASHLAR_WORD_DIVISION_8,     ASHLAR_WORD_DIVISION_16,   ASHLAR_WORD_DIVISION_32,
    ASHLAR_WORD_DIVISION_64,    ASHLAR_WORD_DIVISION_128,  ASHLAR_WORD_DIVISION_256,
    ASHLAR_WORD_DIVISION_512,   ASHLAR_WORD_DIVISION_1024, ASHLAR_WORD_DIVISION_2048,
    ASHLAR_WORD_DIVISION_4096,  ASHLAR_WORD_DIVISION_8192, ASHLAR_WORD_DIVISION_16384,
    ASHLAR_WORD_DIVISION_32768,
};

/* Order of length, then bytes: negative, 0 or positive. */
static int compare(const char *text, size_t length, unsigned word)
{
  const size_t word_length = strlen(WORDS[word]);

  if (length != word_length) {
    return length < word_length ? -1 : 1;
  }
  return memcmp(text, WORDS[word], length);
}

uint16_t ashlar_word_find(const char *text, size_t length)
{
  unsigned low = 1;
  unsigned high = ASHLAR_WORD_COUNT;

  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    const int order = compare(text, length, middle);

    if (order == 0) {
      return (uint16_t)middle;
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return ASHLAR_WORD_NONE;
}

const char *ashlar_word_text(unsigned word)
{
  return WORDS[word < ASHLAR_WORD_COUNT ? word : ASHLAR_WORD_NONE];
}

unsigned ashlar_word_of_action(unsigned action)
{
  return action < ASHLAR_ACTION_COUNT ? ACTION_WORDS[action] : (unsigned)ASHLAR_WORD_NONE;
}

enum ashlar_action ashlar_action_of_word(unsigned word)
{
  static const uint8_t ACTIONS[ASHLAR_WORD_COUNT] = {
      [ASHLAR_WORD_ALLOC] = ASHLAR_ACTION_ALLOC,
      [ASHLAR_WORD_FREE_REQUESTED] = ASHLAR_ACTION_FREE_REQUESTED,
      [ASHLAR_WORD_FREE_COMPLETED] = ASHLAR_ACTION_FREE_COMPLETED,
      [ASHLAR_WORD_SEGMENT_ALLOC] = ASHLAR_ACTION_SEGMENT_ALLOC,
      [ASHLAR_WORD_SEGMENT_FREE] = ASHLAR_ACTION_SEGMENT_FREE,
      [ASHLAR_WORD_SEGMENT_MAP] = ASHLAR_ACTION_SEGMENT_MAP,
      [ASHLAR_WORD_SEGMENT_UNMAP] = ASHLAR_ACTION_SEGMENT_UNMAP,
      [ASHLAR_WORD_OOM] = ASHLAR_ACTION_OOM,
      [ASHLAR_WORD_SNAPSHOT] = ASHLAR_ACTION_SNAPSHOT,
  };

  return word < ASHLAR_WORD_COUNT ? (enum ashlar_action)ACTIONS[word] : ASHLAR_ACTION_OTHER;
}

int ashlar_division_of_word(unsigned word)
{
  for (int i = 0; i < ASHLAR_DIVISION_SLOTS; i++) {
    if (DIVISION_WORDS[i] == word) {
      return i;
    }
  }
  return -1;
}

unsigned ashlar_word_of_division(unsigned slot)
{
  return DIVISION_WORDS[slot];
}
