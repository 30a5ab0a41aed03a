/* moves.c - see moves.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/moves.h"

void ashlar_move_take(struct ashlar_manager *m, int32_t slot, uint64_t bytes, uint64_t size,
                      int growable)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_allocation_take(m, slot, bytes, size, growable);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_leave(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_segment_leave(m, slot, request);
  //@ ghost ashlar_whole_close(m);
}

int32_t ashlar_move_finish(struct ashlar_manager *m, int32_t stream, uint64_t number)
{
  int32_t freed;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  freed = ashlar_pending_finish(m, stream, number);
  //@ ghost ashlar_whole_close(m);
  return freed;
}

void ashlar_move_reserve(struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  (void)ashlar_block_reserve(m, 2 + ASHLAR_SET_ASIDE);
  //@ ghost ashlar_map_close(m);
  //@ ghost ashlar_whole_close(m);
}

int32_t ashlar_move_adopt(struct ashlar_manager *m, uint64_t address, uint64_t size, int32_t home,
                          uint64_t bytes, uint64_t want, int growable)
{
  int32_t slot;
  //@ ghost ashlar_whole_open(m);
  slot = ashlar_segment_create(m, address, size, home, 0);
  //@ assert others: \forall integer j; 0 <= j < m->top ==> j != slot ==> m->state[j] != ASHLAR_TAKEN;
  //@ assert frame: \forall integer r; FRAME(\at(*m, Pre), r, -1);
  m->device_allocs = ashlar_saturating_sum(m->device_allocs, 1);
  ashlar_allocation_take_new(m, slot, bytes, want, growable);
  //@ ghost ashlar_whole_close(m);
  return slot;
}

int32_t ashlar_move_add_range(struct ashlar_manager *m, uint64_t address, uint64_t size,
                              int32_t home)
{
  int32_t slot;
  //@ ghost ashlar_whole_open(m);
  slot = ashlar_segment_create(m, address, size, home, 1);
  //@ ghost ashlar_blocks_open(m);
  ashlar_block_put_unmapped(m, slot);
  //@ ghost ashlar_whole_close(m);
  return slot;
}

void ashlar_move_stay(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  (void)request;
  ashlar_segment_stay(m, slot);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_end(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_pools_open(m);
  (void)request;
  ashlar_segment_end(m, slot);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_hold_run(struct ashlar_manager *m, int32_t request, int32_t start)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_growth_hold(m, request, start);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_mapped(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  (void)request;
  ashlar_growth_mapped(m, slot);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_unmapped(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  (void)request;
  ashlar_growth_unmapped(m, slot, ASHLAR_HOLD_UNMAPPED);
  //@ ghost ashlar_whole_close(m);
}

int32_t ashlar_move_put(struct ashlar_manager *m, int32_t slot, uint8_t state, int32_t request)
{
  int32_t result;
  //@ ghost ashlar_whole_open(m);
  (void)request;
  result = ashlar_growth_put(m, slot, state);
  //@ ghost ashlar_whole_close(m);
  return result;
}

void ashlar_move_let_go(struct ashlar_manager *m, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_growth_let_go(m, request);
  /*@ assert run: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==> m->holder[i] == request ==>
        in_run(*m, request, i); */
  //@ ghost ashlar_whole_close(m);
}

int32_t ashlar_move_gather(struct ashlar_manager *m, int32_t request)
{
  int32_t result;
  //@ ghost ashlar_whole_open(m);
  result = ashlar_growth_gather(m, request);
  /*@ assert run: \forall integer i; 0 <= i < m->top ==> m->state[i] == ASHLAR_HELD ==> m->holder[i] == request ==>
        in_run(*m, request, i); */
  //@ ghost ashlar_whole_close(m);
  return result;
}

int32_t ashlar_move_find(const struct ashlar_manager *m, int32_t request, uint8_t hold)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_growth_find(m, request, m->request[request].run, hold);
}

int32_t ashlar_move_take_pages(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  int32_t result;
  //@ ghost ashlar_whole_open(m);
  result = ashlar_growth_take_pages(m, request, slot);
  //@ ghost ashlar_whole_close(m);
  return result;
}

void ashlar_move_hold_range(struct ashlar_manager *m, int32_t slot, int32_t request)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_growth_hold_range(m, request, slot);
  //@ ghost ashlar_whole_close(m);
}

void ashlar_move_go_on(struct ashlar_manager *m)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_pending_go_on(m);
  //@ ghost ashlar_whole_close(m);
}

int ashlar_move_end_pool(struct ashlar_manager *m, int32_t pool)
{
  int ended;
  //@ ghost ashlar_whole_open(m);
  ended = ashlar_pool_end(m, pool) == ASHLAR_OK;
  //@ ghost ashlar_whole_close(m);
  return ended;
}

void ashlar_move_searched(struct ashlar_manager *m, int32_t home)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  ashlar_collect_searched(m, home);
  //@ ghost ashlar_whole_close(m);
}

int32_t ashlar_move_choose(const struct ashlar_manager *m, int32_t home, uint64_t size,
                           int growable)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_allocation_choose(m, home, size, growable);
}

int32_t ashlar_move_run(const struct ashlar_manager *m, int32_t home, uint64_t size)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_growable_run(m, home, size);
}

uint64_t ashlar_move_last(const struct ashlar_manager *m, int32_t stream, int32_t pool)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_pending_last(m, stream, pool);
}

int ashlar_move_live(const struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  return ashlar_stream_live(m, stream);
}

int32_t ashlar_move_at_place(const struct ashlar_manager *m, int32_t place)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  return m->stream_order[place];
}

int32_t ashlar_move_place(const struct ashlar_manager *m, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_streams_open(m);
  return ashlar_stream_rank(m, stream);
}

int32_t ashlar_move_lender(const struct ashlar_manager *m, uint64_t after)
{
  //@ ghost ashlar_whole_open(m);
  return ashlar_pool_next_use_on_oom(m, after);
}

int32_t ashlar_move_take_at(struct ashlar_manager *m, int32_t slot, uint64_t address, uint64_t size,
                            uint64_t bytes)
{
  int32_t block;
  //@ ghost ashlar_whole_open(m);
  block = ashlar_allocation_take_at(m, slot, address, size, bytes);
  //@ ghost ashlar_whole_close(m);
  return block;
}
