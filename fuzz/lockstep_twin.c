/* lockstep_twin.c - a second model as the subject: two that do the same must not differ, and one that does not must be
 * found out. With LOCKSTEP_FAULT defined a block that is freed by handle remembers, now and then, one byte too much of
 * the request that it served.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "fuzz/lockstep_subject.h"

static struct model twin;
static struct model_checkpoint saved[SUBJECT_CHECKPOINTS];

enum model_status subject_start(const struct model_config *config)
{
  memset(&twin, 0, sizeof twin);
  return model_init(&twin, *config);
}

struct model_registration subject_stream_register(uint64_t key)
{
  return model_stream_register(&twin, key);
}
int32_t subject_stream_find(uint64_t key)
{
  return model_stream_find(&twin, key);
}
enum model_status subject_stream_gone(int32_t stream, struct model_caller caller)
{
  return model_stream_gone(&twin, stream, caller);
}
enum model_status subject_capture_begin(int32_t stream)
{
  return model_capture_begin(&twin, stream);
}
enum model_status subject_capture_end(int32_t stream)
{
  return model_capture_end(&twin, stream);
}

enum model_status subject_record_use(int32_t slot, uint32_t generation, int32_t stream,
                                     struct model_caller caller)
{
  return model_record_use(&twin, slot, generation, stream, caller);
}
struct model_event subject_event_next(void)
{
  return model_event_next(&twin);
}
struct model_freed subject_complete(int32_t stream, uint64_t number, struct model_caller caller)
{
  return model_complete(&twin, stream, number, caller);
}
uint64_t subject_queue_head(int32_t stream)
{
  return model_queue_head(&twin, stream);
}

struct model_registration subject_pool_create(uint32_t allocator)
{
  return model_pool_create(&twin, allocator);
}
enum model_status subject_pool_retain(int32_t pool)
{
  return model_pool_retain(&twin, pool);
}
enum model_status subject_pool_release(int32_t pool)
{
  return model_pool_release(&twin, pool);
}
enum model_status subject_pool_set_use_on_oom(int32_t pool, bool on)
{
  return model_pool_set_use_on_oom(&twin, pool, on);
}
enum model_status subject_pool_set_no_split(int32_t pool)
{
  return model_pool_set_no_split(&twin, pool);
}
enum model_status subject_scope_open(int32_t pool, uint64_t thread, int32_t stream)
{
  return model_scope_open(&twin, pool, thread, stream);
}
enum model_status subject_scope_close(int32_t pool)
{
  return model_scope_close(&twin, pool);
}

struct model_step subject_allocate_begin(uint64_t bytes, int32_t stream, struct model_caller caller)
{
  return model_allocate_begin(&twin, bytes, stream, caller);
}
struct model_step subject_empty_cache_begin(int32_t pool, struct model_caller caller)
{
  return model_empty_cache_begin(&twin, pool, caller);
}
struct model_step subject_resume(int32_t request, enum model_outcome outcome, uint64_t value)
{
  return model_resume(&twin, request, outcome, value);
}
enum model_status subject_abandon(int32_t request)
{
  return model_abandon(&twin, request);
}
enum model_status subject_limit_set(uint64_t limit, uint64_t collect_above)
{
  return model_limit_set(&twin, limit, collect_above);
}
enum model_status subject_growable_set(bool on)
{
  return model_growable_set(&twin, on);
}
int32_t subject_choose(uint64_t bytes, int32_t stream, struct model_caller caller)
{
  return model_choose(&twin, bytes, stream, caller);
}
struct model_step subject_allocate_exactly(uint64_t address, uint64_t bytes, int32_t stream,
                                           struct model_caller caller)
{
  return model_allocate_exactly(&twin, address, bytes, stream, caller);
}

struct model_freed subject_free(int32_t slot, uint32_t generation, struct model_caller caller)
{
  const struct model_freed freed = model_free(&twin, slot, generation, caller);
#ifdef LOCKSTEP_FAULT
  if (freed.status == MODEL_OK && generation % 4 == 3) {
    twin.block[slot].requested++;
  }
#endif
  return freed;
}
struct model_freed subject_free_address(uint64_t address, struct model_caller caller)
{
  return model_free_address(&twin, address, caller);
}
enum model_status subject_retain(int32_t slot, uint32_t generation)
{
  return model_retain(&twin, slot, generation);
}
struct model_freed subject_release(int32_t slot, uint32_t generation, struct model_caller caller)
{
  return model_release(&twin, slot, generation, caller);
}
struct model_range subject_base(int32_t slot, uint32_t generation)
{
  return model_base(&twin, slot, generation);
}

int32_t subject_find(uint64_t address)
{
  for (int32_t i = 0; i < twin.blocks; i++) {
    if (twin.block[i].state == MODEL_ALLOCATED && twin.block[i].address == address) {
      return i;
    }
  }
  return -1;
}

enum model_status subject_checkpoint_save(int32_t number, int32_t pool, struct model_caller caller)
{
  return model_checkpoint_save(&twin, pool, caller, &saved[number]);
}
struct model_restored subject_checkpoint_restore(int32_t number, struct model_caller caller)
{
  return model_checkpoint_restore(&twin, caller, &saved[number]);
}
const char *subject_checkpoint_differs(int32_t number, const struct model_checkpoint *expected)
{
  const struct model_checkpoint *own = &saved[number];
  if (own->pool != expected->pool || own->blocks != expected->blocks) {
    return "pool or number of blocks";
  }
  for (int32_t i = 0; i < own->blocks; i++) {
    const struct model_saved *a = &own->block[i];
    const struct model_saved *b = &expected->block[i];
    if (a->address != b->address || a->size != b->size || a->allocated != b->allocated ||
        memcmp(a->use, b->use, sizeof a->use) != 0) {
      return "a block";
    }
  }
  return NULL;
}

void subject_reset_peaks(void)
{
  model_reset_peaks(&twin);
}
void subject_reset_totals(void)
{
  model_reset_totals(&twin);
}
uint64_t subject_largest(void)
{
  return model_largest(&twin);
}
struct model_growable subject_growable_next(int32_t segment)
{
  return model_growable_next(&twin, segment);
}
struct model_counter subject_counter(int32_t kind, int32_t column)
{
  return twin.statistic[kind][column];
}
struct model_counter subject_pool_reserved(int32_t pool)
{
  return twin.pool[pool].reserved;
}
struct model_calls subject_calls(void)
{
  return twin.calls;
}

int32_t subject_limit(void)
{
  return twin.blocks;
}

struct subject_block subject_block(int32_t slot)
{
  const struct model_block *b = &twin.block[slot];
  const struct model_segment *s = &twin.segment[b->segment];
  return (struct subject_block){
      .state = b->state,
      .unmapped = b->state == MODEL_FREE && !b->mapped,
      .small = s->small,
      .growable = s->growable,
      .first = b->address == s->address,
      .last = b->address + b->size == s->address + s->size,
      .pool = s->pool,
      .stream = s->stream,
      .references = b->references,
      .generation = b->generation,
      .age = s->age,
      .address = b->address,
      .size = b->size,
      .requested = b->requested,
  };
}

int32_t subject_rung(int32_t request)
{
  return twin.request[request].rung;
}

const char *subject_check(void)
{
  return NULL;
}
