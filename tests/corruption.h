/* corruption.h - faulty snapshots made from good ones, one fault each, of many kinds.
 *
 * A fault is put where it breaks a rule for certain: the kinds look at the blocks of the moment
 * (corruption_world.h), never at what the audit says. What the recording leaves open (sizes of old
 * blocks, ages of old segments, equal candidates) is kept out of the way.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORRUPTION_H
#define ASHLAR_TESTS_CORRUPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/manager.h"
#include "tests/corruption_world.h"
#include "tools/snapshot.h"

/* One faulty snapshot, and where it came from. */
struct ashlar_corruption {
  const struct ashlar_snapshot *good;
  const struct ashlar_world *start; /* of the device, before its first event */
  enum ashlar_order order;          /* in which the good one was recorded */
  uint64_t random;                  /* state of the generator */
  struct ashlar_world world;        /* where the fault was put */
  struct ashlar_snapshot faulty;
  /* A finding is the right one if it is about this event, or about an address in [low, high). */
  uint64_t event; /* ASHLAR_NO_EVENT: none */
  uint64_t low;
  uint64_t high;
};

/* Bits of ashlar_corruption_kind.flags. */
enum {
  ASHLAR_CORRUPTION_SINGLE = 1, /* everything else is adjusted: there is this one finding only */
  ASHLAR_CORRUPTION_ORDER = 2   /* a fault in the recorded order, perhaps none in the other one */
};

struct ashlar_corruption_kind {
  const char *name;
  /* Puts the fault into `faulty`, a copy of `good`. False: this snapshot has no place for it. */
  bool (*make)(struct ashlar_corruption *corruption);
  uint32_t rules; /* bit 1 << rule: a finding under one of these is right */
  uint32_t flags;
};

extern const struct ashlar_corruption_kind ASHLAR_CORRUPTION_KINDS[];
extern const size_t ASHLAR_CORRUPTION_KIND_COUNT;

/* Makes a faulty snapshot of a kind; where the fault goes follows from the seed. *corruption is
   overwritten and is the caller's to free, in any case. False: no place for it. */
bool ashlar_corruption_make(const struct ashlar_corruption_kind *kind,
                            const struct ashlar_world *start, enum ashlar_order order,
                            uint64_t seed, struct ashlar_corruption *corruption);

void ashlar_corruption_free(struct ashlar_corruption *corruption);

#endif
