/* sim_support.h - a pretend machine, and calls that must succeed.
 *
 * Each helper fails the running test where the call does not answer OK.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SIM_SUPPORT_H
#define ASHLAR_TESTS_SIM_SUPPORT_H

#include <stdint.h>

#include "cuda/sim/machine.h"

#define MIB (UINT64_C(1) << 20)

/* A machine of so many devices of so many bytes, whose segments ascend. It stays where it is. */
void sim_start(struct ashlar_sim_machine *m, int32_t devices, uint64_t capacity);

/* As above, with 4 GiB each. */
void sim_start_plain(struct ashlar_sim_machine *m, int32_t devices);

/* Ends a machine that has seen no violation. */
void sim_stop_clean(struct ashlar_sim_machine *m);

/* Ends a machine that has seen so many violations of a kind, and none of another. */
void sim_stop_after(struct ashlar_sim_machine *m, enum ashlar_sim_violation kind, uint64_t count);

/* A stream, an event, a segment of the current device. */
uint64_t sim_stream(struct ashlar_sim_machine *m);
uint64_t sim_event(struct ashlar_sim_machine *m);
uint64_t sim_segment(struct ashlar_sim_machine *m, uint64_t bytes);

/* Work on the stream that reads or writes a range. */
void sim_read(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes);
void sim_write(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes);

/* The later stream waits for all that is queued in the earlier one. */
void sim_order(struct ashlar_sim_machine *m, uint64_t later, uint64_t earlier);

/* A range goes to a request on the stream. */
void sim_hand(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes);

/* Races so far. */
uint64_t sim_races(const struct ashlar_sim_machine *m);

/* The next of a sequence of numbers below a bound. */
uint64_t sim_random(uint64_t *state, uint64_t bound);

#endif
