/* replay_pool.c - see replay_device.h: private pools.
 *
 * A recording tells neither threads nor captures, only which pool served a request. So each pool serves a thread of the
 * replay's own, and requests of a pool whose first number is not 0, which graphs have, are made in a capture: there
 * nothing is waited for and little is released.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_device.h"

#include "tools/caller.h"

enum { NOT_YET = 0, REFUSED = -1, FOREIGN = 1 /* an allocator */ };

static uint8_t bits_of(const struct ashlar_play *play, uint16_t pool)
{
  const struct ashlar_requests *requests = play->requests;
  const size_t row = requests->whole_pools == NULL ? 0 : requests->snapshot->pool_count;
  return requests->whole_pools == NULL ? 0 : requests->whole_pools[play->device * row + pool];
}

int32_t ashlar_play_pool(struct ashlar_play *play, uint16_t pool)
{
  if (pool == 0 || play->pools[pool] != NOT_YET) {
    return play->pools[pool];
  }
  const uint8_t bits = bits_of(play, pool);
  const struct ashlar_pool_creation created =
      ashlar_pool_create(play->manager, (bits & ASHLAR_POOL_IS_FOREIGN) != 0 ? FOREIGN : 0);
  play->pools[pool] = REFUSED;
  if (created.status != ASHLAR_OK ||
      ashlar_scope_open(play->manager, created.pool, (uint64_t)(uint32_t)created.pool, -1) !=
          ASHLAR_OK) {
    return REFUSED;
  }
  if ((bits & ASHLAR_POOL_IS_WHOLE) != 0) {
    (void)ashlar_pool_set_no_split(play->manager, created.pool);
  }
  play->pools[pool] = created.pool;
  play->pool_names[created.pool] = pool;
  return created.pool;
}

/* A stream for captures, which no request is for: its key is the greatest that no stream of the recording has. */
static int32_t captured_stream(struct ashlar_play *play)
{
  uint64_t key = UINT64_MAX;
  for (uint32_t i = 0; i < play->requests->stream_count; i++) {
    if (play->requests->streams[i].handle == key) {
      key--;
      i = UINT32_MAX; /* again from the first */
    }
  }
  const struct ashlar_registration added = ashlar_stream_register(play->manager, key);
  if (added.status == ASHLAR_OK && ashlar_capture_begin(play->manager, added.stream) == ASHLAR_OK) {
    return added.stream;
  }
  return -1;
}

struct ashlar_caller ashlar_play_caller(struct ashlar_play *play, uint16_t pool)
{
  struct ashlar_caller caller = ashlar_recorded_caller();
  const int32_t number = ashlar_play_pool(play, pool);
  if (number <= 0) {
    return caller;
  }
  caller.thread = (uint64_t)(uint32_t)number;
  if (play->requests->snapshot->pools[pool].first != 0) {
    if (play->captured == -1) {
      play->captured = captured_stream(play);
    }
    caller.stream = play->captured;
  }
  return caller;
}

void ashlar_play_give_up(struct ashlar_play *play, uint16_t pool)
{
  const int32_t number = ashlar_play_pool(play, pool);
  if (number <= 0 || play->pool_names[number] != pool) {
    return; /* it is gone, and its number is another's */
  }
  (void)ashlar_scope_close(play->manager, number);
  while (ashlar_pool_release(play->manager, number) == ASHLAR_OK) {
  }
}
