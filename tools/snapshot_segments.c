/* The snapshot reader: segments and blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/snapshot_reading.h"

/* What one numeric key of a segment fills. */
static uint64_t *number_of_segment(struct ashlar_segment *segment, unsigned key, unsigned *flag)
{
  switch (key) {
  case ASHLAR_WORD_TOTAL_SIZE:
    *flag = ASHLAR_SEGMENT_HAS_TOTAL;
    return &segment->total_size;
  case ASHLAR_WORD_ALLOCATED_SIZE:
    *flag = ASHLAR_SEGMENT_HAS_ALLOCATED;
    return &segment->allocated_size;
  case ASHLAR_WORD_ACTIVE_SIZE:
    *flag = ASHLAR_SEGMENT_HAS_ACTIVE;
    return &segment->active_size;
  case ASHLAR_WORD_REQUESTED_SIZE:
    *flag = ASHLAR_SEGMENT_HAS_REQUESTED;
    return &segment->requested_size;
  default:
    return NULL;
  }
}

static bool store_device(struct ashlar_snapshot_reading *reading,
                         const struct ashlar_pickle_value *value)
{
  struct ashlar_segment *segment = &reading->segment;
  const bool is_negative = value->tag == ASHLAR_PICKLE_NEGATIVE;
  const bool is_number =
      is_negative || value->tag == ASHLAR_PICKLE_INT || value->tag == ASHLAR_PICKLE_BOOL;

  segment->device = 0;
  segment->flags = (uint16_t)(segment->flags & (unsigned)~ASHLAR_SEGMENT_HAS_DEVICE);
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  /* A negative number's complement is its distance below -1. */
  if (!is_number || (is_negative ? ~value->bits : value->bits) > INT32_MAX) {
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_SEGMENT, ASHLAR_WORD_DEVICE, value,
                                    ", not a device number of 32 bits");
  }
  segment->device = is_negative ? -(int32_t)~value->bits - 1 : (int32_t)value->bits;
  segment->flags = (uint16_t)(segment->flags | ASHLAR_SEGMENT_HAS_DEVICE);
  return true;
}

static bool store_type(struct ashlar_snapshot_reading *reading,
                       const struct ashlar_pickle_value *value)
{
  reading->segment.type = ASHLAR_SEGMENT_UNTYPED;
  if (value->tag == ASHLAR_PICKLE_NONE) {
    return true;
  }
  if (value->tag == ASHLAR_PICKLE_TEXT && value->word == ASHLAR_WORD_SMALL) {
    reading->segment.type = ASHLAR_SEGMENT_SMALL;
    return true;
  }
  if (value->tag == ASHLAR_PICKLE_TEXT && value->word == ASHLAR_WORD_LARGE) {
    reading->segment.type = ASHLAR_SEGMENT_LARGE;
    return true;
  }
  return ashlar_reading_bad_value(reading, ASHLAR_ROLE_SEGMENT, ASHLAR_WORD_SEGMENT_TYPE, value,
                                  ", neither 'small' nor 'large'");
}

bool ashlar_reading_store_segment(struct ashlar_snapshot_reading *reading, unsigned key,
                                  const struct ashlar_pickle_value *value)
{
  struct ashlar_segment *segment = &reading->segment;
  uint16_t has_address = 0;
  unsigned flag = 0;
  uint64_t *number = number_of_segment(segment, key, &flag);

  if (number != NULL) {
    return ashlar_reading_size(reading, ASHLAR_ROLE_SEGMENT, key, value, number, &segment->flags,
                               flag);
  }
  switch (key) {
  case ASHLAR_WORD_ADDRESS:
    if (!ashlar_reading_size(reading, ASHLAR_ROLE_SEGMENT, key, value, &segment->address,
                             &has_address, 1)) {
      return false;
    }
    reading->segment_has_address = has_address != 0;
    return true;
  case ASHLAR_WORD_DEVICE:
    return store_device(reading, value);
  case ASHLAR_WORD_SEGMENT_TYPE:
    return store_type(reading, value);
  case ASHLAR_WORD_STREAM:
    return ashlar_reading_stream(reading, ASHLAR_ROLE_SEGMENT, key, value, &segment->stream,
                                 &segment->flags, ASHLAR_SEGMENT_HAS_STREAM);
  case ASHLAR_WORD_SEGMENT_POOL_ID:
    return ashlar_reading_pool(reading, ASHLAR_ROLE_SEGMENT, key, value, &segment->pool,
                               &segment->flags, ASHLAR_SEGMENT_HAS_POOL);
  case ASHLAR_WORD_IS_EXPANDABLE:
    return ashlar_reading_flag(reading, ASHLAR_ROLE_SEGMENT, key, value, &segment->is_expandable,
                               &segment->flags, ASHLAR_SEGMENT_HAS_EXPANDABLE);
  case ASHLAR_WORD_BLOCKS:
    /* None is an absent key; the list itself does not come here. */
    return value->tag == ASHLAR_PICKLE_NONE ||
           ashlar_reading_bad_value(reading, ASHLAR_ROLE_SEGMENT, key, value,
                                    ", not a list of its own");
  default:
    return true;
  }
}

/* Gives blocks with no address the end of the block before them, and sums the sizes. Ends stay
 * within 2^63, so that no sum wraps. */
static bool place_blocks(const struct ashlar_snapshot_reading *reading,
                         const struct ashlar_segment *segment, uint64_t *sum, uint64_t position)
{
  struct ashlar_block *blocks = reading->snapshot->blocks;
  uint64_t end = segment->address;

  *sum = 0;
  for (uint64_t i = 0; i < segment->block_count; i++) {
    struct ashlar_block *block = &blocks[segment->first_block + i];

    if ((block->flags & ASHLAR_BLOCK_HAS_ADDRESS) == 0) {
      block->address = end;
    }
    if (block->address > ASHLAR_MAX_SIZE || block->address + block->size > ASHLAR_MAX_SIZE + 1 ||
        block->size > ASHLAR_MAX_SIZE - *sum) {
      return ashlar_reading_fail(reading, ASHLAR_ROLE_SEGMENT, "a block reaches beyond 2^63",
                                 position);
    }
    end = block->address + block->size;
    *sum += block->size;
  }
  return true;
}

bool ashlar_reading_close_segment(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  struct ashlar_segment *place = &reading->snapshot->segments[reading->snapshot->segment_count - 1];
  struct ashlar_segment *segment = &reading->segment;
  uint64_t sum = 0;

  segment->first_block = place->first_block;
  segment->block_count = place->block_count;
  if (!reading->segment_has_address) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_SEGMENT, ASHLAR_WORD_ADDRESS, position);
  }
  if (!place_blocks(reading, segment, &sum, position)) {
    return false;
  }
  if ((segment->flags & ASHLAR_SEGMENT_HAS_TOTAL) == 0) {
    segment->total_size = sum;
  }
  if (segment->address + segment->total_size > ASHLAR_MAX_SIZE + 1) {
    return ashlar_reading_fail(reading, ASHLAR_ROLE_SEGMENT,
                               "keys 'address' and 'total_size' reach beyond address 2^63",
                               position);
  }
  *place = *segment;
  return true;
}

static bool store_state(struct ashlar_snapshot_reading *reading,
                        const struct ashlar_pickle_value *value)
{
  struct ashlar_block *block = &reading->block;

  block->flags = (uint8_t)(block->flags & (unsigned)~ASHLAR_BLOCK_SAYS_AWAITING);
  switch (value->tag == ASHLAR_PICKLE_TEXT ? value->word : (unsigned)ASHLAR_WORD_NONE) {
  case ASHLAR_WORD_INACTIVE:
    block->state = ASHLAR_BLOCK_INACTIVE;
    break;
  case ASHLAR_WORD_ACTIVE_ALLOCATED:
    block->state = ASHLAR_BLOCK_ALLOCATED;
    break;
  case ASHLAR_WORD_ACTIVE_PENDING_FREE:
    block->state = ASHLAR_BLOCK_PENDING_FREE;
    break;
  case ASHLAR_WORD_ACTIVE_AWAITING_FREE:
    block->state = ASHLAR_BLOCK_PENDING_FREE;
    block->flags = (uint8_t)(block->flags | ASHLAR_BLOCK_SAYS_AWAITING);
    break;
  default:
    return ashlar_reading_bad_value(reading, ASHLAR_ROLE_BLOCK, ASHLAR_WORD_STATE, value,
                                    ", not one of the states of a block");
  }
  reading->block_has_state = true;
  return true;
}

bool ashlar_reading_store_block(struct ashlar_snapshot_reading *reading, unsigned key,
                                const struct ashlar_pickle_value *value)
{
  struct ashlar_block *block = &reading->block;
  uint16_t flags = block->flags;
  uint16_t has_size = 0;
  bool is_good = true;

  switch (key) {
  case ASHLAR_WORD_ADDRESS:
    is_good = ashlar_reading_size(reading, ASHLAR_ROLE_BLOCK, key, value, &block->address, &flags,
                                  ASHLAR_BLOCK_HAS_ADDRESS);
    break;
  case ASHLAR_WORD_REQUESTED_SIZE:
    is_good = ashlar_reading_size(reading, ASHLAR_ROLE_BLOCK, key, value, &block->requested_size,
                                  &flags, ASHLAR_BLOCK_HAS_REQUESTED);
    break;
  case ASHLAR_WORD_SIZE:
    is_good =
        ashlar_reading_size(reading, ASHLAR_ROLE_BLOCK, key, value, &block->size, &has_size, 1);
    reading->block_has_size = has_size != 0;
    break;
  case ASHLAR_WORD_STATE:
    return store_state(reading, value);
  default:
    return true;
  }
  block->flags = (uint8_t)flags;
  return is_good;
}

bool ashlar_reading_close_block(struct ashlar_snapshot_reading *reading, uint64_t position)
{
  if (!reading->block_has_size) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_BLOCK, ASHLAR_WORD_SIZE, position);
  }
  if (!reading->block_has_state) {
    return ashlar_reading_missing(reading, ASHLAR_ROLE_BLOCK, ASHLAR_WORD_STATE, position);
  }
  if (!ashlar_snapshot_add_block(reading->snapshot, &reading->block)) {
    return ashlar_reading_fail(reading, ASHLAR_ROLE_BLOCK, "out of memory", position);
  }
  return true;
}
