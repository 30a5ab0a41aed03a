/* machine_check.h - what the calls of a machine have in common: for machine*.c alone.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_MACHINE_CHECK_H
#define ASHLAR_CUDA_SIM_MACHINE_CHECK_H

#include "cuda/sim/machine.h"

/* Writes a violation down; the text is cut where it is too long. */
void ashlar_sim_violate(struct ashlar_sim_machine *machine, enum ashlar_sim_violation kind,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes down the races that a call has added; `before` is their number before it. */
void ashlar_sim_violate_races(struct ashlar_sim_machine *machine, uint64_t before);

/* OK; NO_DEVICE, or WRONG_DEVICE and a violation: another device is current. */
enum ashlar_sim_status ashlar_sim_judge_device(struct ashlar_sim_machine *machine,
                                               enum ashlar_sim_call call, int32_t device);

/* OK; CAPTURE_FORBIDS and a violation: a capture is in progress and not relaxed. */
enum ashlar_sim_status ashlar_sim_judge_capture(struct ashlar_sim_machine *machine,
                                                enum ashlar_sim_call call);

/* OK; CAPTURE_FORBIDS and a violation: the stream at the slot captures. */
enum ashlar_sim_status ashlar_sim_judge_stream_capture(struct ashlar_sim_machine *machine,
                                                       enum ashlar_sim_call call, uint32_t slot);

/* OK; CAPTURE_FORBIDS and a violation: a stream of the device captures. */
enum ashlar_sim_status ashlar_sim_judge_device_capture(struct ashlar_sim_machine *machine,
                                                       enum ashlar_sim_call call, int32_t device);

/* The host waits for all streams of a device. OK; DEADLOCK, HOST_MEMORY. */
enum ashlar_sim_status ashlar_sim_wait_for_device(struct ashlar_sim_machine *machine,
                                                  int32_t device);

#endif
