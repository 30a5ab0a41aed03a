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
