/* clock.c - see clock.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/clock.h"

#include <stdlib.h>

#include "cuda/sim/array.h"

void ashlar_sim_clock_destroy(struct ashlar_sim_clock *clock)
{
  free(clock->at);
  *clock = (struct ashlar_sim_clock){0};
}

uint64_t ashlar_sim_clock_at(const struct ashlar_sim_clock *clock, uint32_t slot)
{
  return slot < clock->length ? clock->at[slot] : 0;
}

bool ashlar_sim_clock_has(const struct ashlar_sim_clock *clock, struct ashlar_sim_position position)
{
  return ashlar_sim_clock_at(clock, position.slot) >= position.at;
}

bool ashlar_sim_clock_reserve(struct ashlar_sim_clock *clock, size_t slots)
{
  if (slots == 0) {
    return true;
  }
  uint64_t *at = ashlar_sim_grow(clock->at, &clock->capacity, slots, sizeof *clock->at);
  if (at == NULL) {
    return false;
  }
  clock->at = at;
  return true;
}

static void lengthen(struct ashlar_sim_clock *clock, size_t length)
{
  while (clock->length < length) {
    clock->at[clock->length] = 0;
    clock->length++;
  }
}

void ashlar_sim_clock_join(struct ashlar_sim_clock *clock, const struct ashlar_sim_clock *other)
{
  lengthen(clock, other->length);
  for (size_t i = 0; i < other->length; i++) {
    if (clock->at[i] < other->at[i]) {
      clock->at[i] = other->at[i];
    }
  }
}

void ashlar_sim_clock_learn(struct ashlar_sim_clock *clock, struct ashlar_sim_position position)
{
  if (position.at == 0) {
    return;
  }
  lengthen(clock, (size_t)position.slot + 1);
  if (clock->at[position.slot] < position.at) {
    clock->at[position.slot] = position.at;
  }
}

void ashlar_sim_clock_reset(struct ashlar_sim_clock *clock)
{
  clock->length = 0;
}
