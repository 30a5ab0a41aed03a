/* player_requests.c - words of a script about requests and owners. Each gives what it came to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/playing.h"

/* `via s` as argument i: the call is made with that stream current. */
static void take_via(struct playing *p, size_t i)
{
  if (strncmp(playing_argument(p, i), "via ", 4) == 0) {
    p->made_by.stream = playing_stream_number(p, playing_argument(p, i) + 4);
  } else if (i < p->argument_count) {
    (void)playing_fault(p, "no `via`: %s", playing_argument(p, i));
  }
}

/* --- requests --- */

static void keep(struct playing *p, struct playing_block *block)
{
  block->live = p->last.slot != -1;
  block->slot = p->last.slot;
  block->generation = p->last.generation;
  block->references = 1;
  block->address = p->last.address;
  block->bytes = p->last.bytes;
}

static enum subject_status allocate(struct playing *p)
{
  const uint64_t bytes = playing_size(p, playing_argument(p, 1));
  const int32_t stream = playing_stream_number(p, playing_argument(p, 2));
  char name[PLAYING_NAME];
  enum subject_status outcome = SUBJECT_OK;
  p->made_by.stream = p->made_by.stream == -1 ? stream : p->made_by.stream;
  for (uint32_t k = 0; outcome == SUBJECT_OK && playing_name(p, playing_argument(p, 0), k, name);
       k++) {
    struct playing_block *block = p->refusal == NULL ? playing_new_block(p, name) : NULL;
    if (!playing_poll(p)) {
      return outcome;
    }
    outcome = playing_request(
        p, p->subject->allocate_begin(p->world.self, bytes, stream, p->made_by), stream);
    if (outcome == SUBJECT_OK && p->last.bytes < bytes) {
      (void)playing_fault(p, "the block is smaller than the request");
    }
    if (outcome == SUBJECT_OK && block != NULL) {
      keep(p, block);
    }
  }
  return outcome;
}

/* An address: a block's start, or a number, and an offset. */
static uint64_t address_of(struct playing *p, const char *text)
{
  char name[PLAYING_NAME];
  const size_t length = strcspn(text, "+-");
  if (text[0] >= '0' && text[0] <= '9') {
    return playing_size(p, text);
  }
  if (length >= PLAYING_NAME) {
    (void)playing_fault(p, "too long a name: %s", text);
    return 0;
  }
  memcpy(name, text, length);
  name[length] = '\0';
  const struct playing_block *block = playing_block(p, name);
  const uint64_t offset = text[length] == '\0' ? 0 : playing_size(p, text + length + 1);
  const uint64_t start = block == NULL ? 0 : block->address;
  return text[length] == '-' ? start - offset : start + offset;
}

static enum subject_status allocate_at(struct playing *p)
{
  const uint64_t address = address_of(p, playing_argument(p, 1));
  const uint64_t bytes = playing_size(p, playing_argument(p, 2));
  const int32_t stream = playing_stream_number(p, playing_argument(p, 3));
  struct playing_block *block =
      p->refusal == NULL ? playing_new_block(p, playing_argument(p, 0)) : NULL;
  if (!playing_poll(p)) {
    return SUBJECT_OK;
  }
  const enum subject_status outcome = playing_request(
      p, p->subject->allocate_exactly(p->world.self, address, bytes, stream, p->made_by), stream);
  if (outcome == SUBJECT_OK && block != NULL) {
    keep(p, block);
  }
  return outcome;
}

static enum subject_status each_size(struct playing *p)
{
  const char *dots = strstr(playing_argument(p, 0), "..");
  const int32_t stream = playing_stream_number(p, playing_argument(p, 1));
  if (dots == NULL) {
    (void)playing_fault(p, "no range of sizes");
    return SUBJECT_OK;
  }
  char first[PLAYING_WORD] = "";
  memcpy(first, playing_argument(p, 0), (size_t)(dots - playing_argument(p, 0)));
  const uint64_t from = playing_size(p, first);
  const uint64_t count = playing_size(p, dots + 2) - from + 1;
  enum subject_status outcome = SUBJECT_OK;
  for (uint64_t k = 0; k < count && !playing_failed(p); k++) {
    const enum subject_status this = playing_request(
        p, p->subject->allocate_begin(p->world.self, from + k, stream, p->made_by), stream);
    if (k > 0 && this != outcome) {
      (void)playing_fault(p, "some sizes end otherwise than the first");
    }
    outcome = this;
    if (outcome == SUBJECT_OK &&
        (p->last.bytes < from + k ||
         p->subject->free_handle(p->world.self, p->last.slot, p->last.generation, p->made_by) !=
             SUBJECT_OK)) {
      (void)playing_fault(p, "a block that is too small, or cannot be freed");
    }
  }
  return outcome;
}

static enum subject_status empty_cache(struct playing *p)
{
  const struct playing_pool *pool =
      p->argument_count > 0 ? playing_pool(p, playing_argument(p, 0)) : NULL;
  if (playing_failed(p)) {
    return SUBJECT_OK;
  }
  return playing_request(
      p, p->subject->empty_cache_begin(p->world.self, pool == NULL ? -1 : pool->number, p->made_by),
      -1);
}

/* --- owners --- */

static enum subject_status dropped(struct playing *p, struct playing_block *block,
                                   enum subject_status status)
{
  world_note_events(&p->world);
  if (status == SUBJECT_OK && block != NULL) {
    block->references -= block->references > 0 ? 1 : 0;
    block->live = block->references > 0;
  }
  return status;
}

/* All names of the word, but for the last argument where that is a `via`. */
static enum subject_status
for_blocks(struct playing *p, enum subject_status (*drop)(struct playing *, struct playing_block *))
{
  size_t count = p->argument_count;
  enum subject_status outcome = SUBJECT_OK;
  char name[PLAYING_NAME];
  if (count > 1 && strncmp(playing_argument(p, count - 1), "via ", 4) == 0) {
    count--;
    take_via(p, count);
  }
  for (size_t i = 0; i < count; i++) {
    for (uint32_t k = 0; outcome == SUBJECT_OK && playing_name(p, playing_argument(p, i), k, name);
         k++) {
      struct playing_block *block = playing_block(p, name);
      outcome = block == NULL ? SUBJECT_OK : drop(p, block);
    }
  }
  return outcome;
}

static enum subject_status free_one(struct playing *p, struct playing_block *block)
{
  return dropped(
      p, block, p->subject->free_handle(p->world.self, block->slot, block->generation, p->made_by));
}

static enum subject_status release_one(struct playing *p, struct playing_block *block)
{
  return dropped(p, block,
                 p->subject->release(p->world.self, block->slot, block->generation, p->made_by));
}

static enum subject_status free_blocks(struct playing *p)
{
  return for_blocks(p, free_one);
}

static enum subject_status release(struct playing *p)
{
  return for_blocks(p, release_one);
}

static enum subject_status free_address(struct playing *p)
{
  const uint64_t address = address_of(p, playing_argument(p, 0));
  struct playing_block *block = NULL;
  take_via(p, 1);
  for (size_t i = 0; i < p->block_count; i++) {
    block = p->block[i].live && p->block[i].address == address ? &p->block[i] : block;
  }
  return dropped(p, block, p->subject->free_address(p->world.self, address, p->made_by));
}

static enum subject_status retain(struct playing *p)
{
  struct playing_block *block = playing_block(p, playing_argument(p, 0));
  if (block == NULL) {
    return SUBJECT_OK;
  }
  const enum subject_status status =
      p->subject->retain(p->world.self, block->slot, block->generation);
  block->references += status == SUBJECT_OK ? 1 : 0;
  return status;
}

static enum subject_status record_use(struct playing *p)
{
  const struct playing_block *block = playing_block(p, playing_argument(p, 0));
  const int32_t stream = playing_stream_number(p, playing_argument(p, 1));
  take_via(p, 2);
  return block == NULL ? SUBJECT_OK
                       : p->subject->record_use(p->world.self, block->slot, block->generation,
                                                stream, p->made_by);
}

/* --- random runs --- */

/* splitmix64 */
static uint64_t random_below(uint64_t *seed, uint64_t bound)
{
  *seed += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *seed;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % bound;
}

/* From 1 to top, small ones more often. */
static uint64_t random_size(uint64_t *seed, uint64_t top)
{
  const uint64_t shift = random_below(seed, 24);
  const uint64_t bound = top >> shift;
  return 1 + random_below(seed, bound == 0 ? 1 : bound);
}

/* A request at random; its place, within its segment, goes into the digest. */
static bool random_request(struct playing *p, uint64_t *seed, uint64_t top,
                           struct playing_block *block)
{
  const uint64_t streams = p->argument_count - 3;
  const int32_t stream =
      playing_stream_number(p, playing_argument(p, 3 + random_below(seed, streams)));
  const uint64_t bytes = random_size(seed, top);
  const enum subject_status outcome = playing_request(
      p, p->subject->allocate_begin(p->world.self, bytes, stream, p->made_by), stream);
  if (outcome != SUBJECT_OK) {
    return playing_fault(p, "a request of %zu bytes fails: %d", (size_t)bytes, (int)outcome);
  }
  keep(p, block);
  if (!playing_check(p)) {
    return false;
  }
  for (size_t i = 0; i < p->now->count; i++) {
    const struct subject_block *found = &p->now->block[i];
    if (found->address == block->address) {
      p->digest[0] = (p->digest[0] ^ (found->address - found->segment) ^ found->size) *
                     UINT64_C(0x100000001b3);
    }
  }
  return true;
}

static enum subject_status random_run(struct playing *p)
{
  const uint64_t count = playing_size(p, playing_argument(p, 0));
  uint64_t seed = playing_size(p, playing_argument(p, 1));
  const uint64_t top = playing_size(p, playing_argument(p, 2));
  struct playing_block *block = &p->block[p->block_count];
  size_t live = 0;
  if (p->block_count + PLAYING_RANDOM > PLAYING_BLOCKS) {
    (void)playing_fault(p, "too many blocks");
    return SUBJECT_OK;
  }
  memset(block, 0, PLAYING_RANDOM * sizeof *block);
  p->block_count += PLAYING_RANDOM;
  p->digest[1] = p->digest[0];
  p->peak[1] = p->peak[0];
  p->digest[0] = UINT64_C(0xcbf29ce484222325);
  p->subject->reset_peaks(p->world.self);
  for (uint64_t k = 0; (k < count || live > 0) && !playing_failed(p); k++) {
    if (k < count && live < PLAYING_RANDOM && (live == 0 || random_below(&seed, 2) == 0)) {
      live += random_request(p, &seed, top, &block[live]) ? 1 : 0;
    } else {
      const size_t i = random_below(&seed, live);
      struct playing_block freed = block[i];
      live--;
      block[i] = block[live];
      block[live].live = false;
      if (free_one(p, &freed) != SUBJECT_OK || !playing_check(p)) {
        (void)playing_fault(p, "a free fails");
      }
    }
  }
  p->peak[0] = p->subject->counter(p->world.self, SUBJECT_STAT_RESERVED_BYTES, SUBJECT_ALL).peak;
  p->block_count -= PLAYING_RANDOM;
  return SUBJECT_OK;
}

static const struct playing_call CALLS[] = {
    {"A", 3, 3, allocate},
    {"AT", 4, 4, allocate_at},
    {"each", 2, 2, each_size},
    {"EC", 0, 1, empty_cache},
    {"F", 1, PLAYING_ARGUMENTS, free_blocks},
    {"FA", 1, 2, free_address},
    {"retain", 1, 1, retain},
    {"release", 1, PLAYING_ARGUMENTS, release},
    {"U", 2, 3, record_use},
    {"random", 4, PLAYING_ARGUMENTS, random_run},
};
const struct playing_calls PLAYING_REQUESTS = {CALLS, sizeof CALLS / sizeof CALLS[0]};
