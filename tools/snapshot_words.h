/* The keys and values that a memory snapshot is spelled with.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_SNAPSHOT_WORDS_H
#define ASHLAR_TOOLS_SNAPSHOT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/snapshot.h"

/* In the order of length, then bytes: the look-up depends on it. */
enum ashlar_word {
  ASHLAR_WORD_NONE = 0,
  /* The empty text, which Python keeps once: the settings string is the same object as the name of
   * some stack frame, and must be known without being read again. */
  ASHLAR_WORD_EMPTY,
  ASHLAR_WORD_DIVISION_1,
  ASHLAR_WORD_DIVISION_2,
  ASHLAR_WORD_DIVISION_4,
  ASHLAR_WORD_DIVISION_8,
  ASHLAR_WORD_DIVISION_16,
  ASHLAR_WORD_DIVISION_32,
  ASHLAR_WORD_DIVISION_64,
  ASHLAR_WORD_DIVISION_128,
  ASHLAR_WORD_DIVISION_256,
  ASHLAR_WORD_DIVISION_512,
  ASHLAR_WORD_OOM,
  ASHLAR_WORD_DIVISION_1024,
  ASHLAR_WORD_DIVISION_2048,
  ASHLAR_WORD_DIVISION_4096,
  ASHLAR_WORD_DIVISION_8192,
  ASHLAR_WORD_ADDR,
  ASHLAR_WORD_SIZE,
  ASHLAR_WORD_DIVISION_16384,
  ASHLAR_WORD_DIVISION_32768,
  ASHLAR_WORD_ALLOC,
  ASHLAR_WORD_LARGE,
  ASHLAR_WORD_SMALL,
  ASHLAR_WORD_STATE,
  ASHLAR_WORD_ACTION,
  ASHLAR_WORD_BLOCKS,
  ASHLAR_WORD_DEVICE,
  ASHLAR_WORD_STREAM,
  ASHLAR_WORD_ADDRESS,
  ASHLAR_WORD_POOL_ID,
  ASHLAR_WORD_TIME_US,
  ASHLAR_WORD_INACTIVE,
  ASHLAR_WORD_SEGMENTS,
  ASHLAR_WORD_SNAPSHOT,
  ASHLAR_WORD_TOTAL_SIZE,
  ASHLAR_WORD_ACTIVE_SIZE,
  ASHLAR_WORD_DEVICE_FREE,
  ASHLAR_WORD_SEGMENT_MAP,
  ASHLAR_WORD_SEGMENT_FREE,
  ASHLAR_WORD_SEGMENT_TYPE,
  ASHLAR_WORD_DEVICE_TRACES,
  ASHLAR_WORD_IS_EXPANDABLE,
  ASHLAR_WORD_SEGMENT_ALLOC,
  ASHLAR_WORD_SEGMENT_UNMAP,
  ASHLAR_WORD_ALLOCATED_SIZE,
  ASHLAR_WORD_FREE_COMPLETED,
  ASHLAR_WORD_FREE_REQUESTED,
  ASHLAR_WORD_MAX_SPLIT_SIZE,
  ASHLAR_WORD_REQUESTED_SIZE,
  ASHLAR_WORD_SEGMENT_POOL_ID,
  ASHLAR_WORD_ACTIVE_ALLOCATED,
  ASHLAR_WORD_ALLOCATOR_SETTINGS,
  ASHLAR_WORD_ACTIVE_PENDING_FREE,
  ASHLAR_WORD_EXPANDABLE_SEGMENTS,
  ASHLAR_WORD_ACTIVE_AWAITING_FREE,
  ASHLAR_WORD_EXTERNAL_ANNOTATIONS,
  ASHLAR_WORD_ALLOC_CONF,
  ASHLAR_WORD_ROUNDUP_POWER2_DIVISIONS,
  ASHLAR_WORD_RELEASE_LOCK_ON_CUDAMALLOC,
  ASHLAR_WORD_PINNED_NUM_REGISTER_THREADS,
  ASHLAR_WORD_GARBAGE_COLLECTION_THRESHOLD,
  ASHLAR_WORD_PINNED_USE_CUDA_HOST_REGISTER,
  ASHLAR_WORD_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
  ASHLAR_WORD_COUNT
};

/* The word that `length` bytes of `text` spell, or ASHLAR_WORD_NONE. Seven comparisons at most. */
uint16_t ashlar_word_find(const char *text, size_t length);

/* The spelling of a word; "" for ASHLAR_WORD_NONE and values out of range. Static text. */
const char *ashlar_word_text(unsigned word);

/* The word that spells an action; ASHLAR_WORD_NONE for OTHER. */
unsigned ashlar_word_of_action(unsigned action);

/* The action that a word spells, or ASHLAR_ACTION_OTHER. */
enum ashlar_action ashlar_action_of_word(unsigned word);

/* The slot k whose key in roundup_power2_divisions, 2^k, is spelled by a word; -1 for others. */
int ashlar_division_of_word(unsigned word);

/* The word that spells the key of slot k < ASHLAR_DIVISION_SLOTS. */
unsigned ashlar_word_of_division(unsigned slot);

#endif
