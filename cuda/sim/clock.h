/* clock.h - vector clocks: how far in each stream something is known to be done.
 *
 * The items of a stream have positions 1, 2, 3, … in the order they were queued. A clock holds for
 * each stream slot the position up to which all items come before; 0 where none does. An item at
 * position p of slot s comes before whatever has a clock whose value at s is p or more.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_CLOCK_H
#define ASHLAR_CUDA_SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a stream: everything up to and including the item at `at`; at 0 there is nothing. */
struct ashlar_sim_position {
  uint32_t slot;
  uint64_t at;
};

/* Zeroed: nothing is known. */
struct ashlar_sim_clock {
  uint64_t *at; /* by slot; a slot from `length` on counts as 0 */
  size_t length;
  size_t capacity;
};

void ashlar_sim_clock_destroy(struct ashlar_sim_clock *clock);

/* Position known of a slot. */
uint64_t ashlar_sim_clock_at(const struct ashlar_sim_clock *clock, uint32_t slot);

/* Whether everything up to the position comes before what has the clock. */
bool ashlar_sim_clock_has(const struct ashlar_sim_clock *clock,
                          struct ashlar_sim_position position);

/* Makes room for so many slots, so that join and learn cannot fail. False: host memory is short. */
bool ashlar_sim_clock_reserve(struct ashlar_sim_clock *clock, size_t slots);

/* What the other clock knows is known here too. There must be room for the other's length. */
void ashlar_sim_clock_join(struct ashlar_sim_clock *clock, const struct ashlar_sim_clock *other);

/* The position is known here too. There must be room for its slot. */
void ashlar_sim_clock_learn(struct ashlar_sim_clock *clock, struct ashlar_sim_position position);

/* Forgets everything; the room stays. */
void ashlar_sim_clock_reset(struct ashlar_sim_clock *clock);

#endif
