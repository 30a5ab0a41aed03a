/* replaying.h - a replay under way: what its parts share. Private to replay*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_REPLAYING_H
#define ASHLAR_TOOLS_REPLAYING_H

#include <stdbool.h>

#include "tools/replay_device.h"

struct ashlar_replaying {
  const struct ashlar_requests *requests;
  struct ashlar_replay *replay;
  struct ashlar_recorder recorder;
  struct ashlar_play *plays; /* by device; those without a manager were not named yet */
  struct ashlar_allocation *allocations;
  uint64_t *collects; /* by device: bytes above which there is a collection by age; NULL: none */
  uint8_t *was_call;  /* by RELEASE request: 1 where it emptied the cache */
  uint32_t release;   /* the next of these */
  bool is_deciding;   /* on a recorded device; else they are known, or taken as the ladder's */
  struct ashlar_error *error;
};

/* Carries out one request on the device that it names. False, with *error set: memory is short.
   replay_requests.c */
bool ashlar_replaying_request(struct ashlar_replaying *work, struct ashlar_play *play,
                              const struct ashlar_request_item *item);

#endif
