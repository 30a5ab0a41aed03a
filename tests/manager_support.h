/* manager_support.h - a manager over a pretend device, for tests of the public operations.
 *
 * Each helper fails the running test where what it is named after does not hold.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MANAGER_SUPPORT_H
#define ASHLAR_TESTS_MANAGER_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "core/block_manager.h"
#include "tests/pretend.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

struct fixture {
  struct ashlar_manager *m;
  struct ashlar_manager *before; /* what remember() saw */
  struct ashlar_pretend device;
};

/* Set-up and tear-down of a cmocka test: *state is a struct fixture with default settings, two streams and a device
   without limit. */
int fixture_start(void **state);
int fixture_stop(void **state);

/* Starts anew: settings, so many streams (stream k has the key 100 + k), bytes of the device. */
void fixture_restart(struct fixture *f, struct ashlar_config config, int32_t streams,
                     uint64_t capacity);

/* The whole invariant holds. */
void check_whole(const struct ashlar_manager *m);

/* The request ends with a block, which is returned. */
struct ashlar_step must_allocate(struct fixture *f, uint64_t bytes, int32_t stream);

/* The request ends without memory. */
void must_run_out(struct fixture *f, uint64_t bytes, int32_t stream);

/* The block in the slot is freed. */
void must_free(struct fixture *f, int32_t slot);

/* A segment is added as one free block, whose slot is returned. */
int32_t must_add(struct fixture *f, uint64_t address, uint64_t size, int32_t class, int32_t stream);

/* Keeps a copy of the state; later, the state is the same, byte for byte. */
void remember(struct fixture *f);
void must_be_unchanged(const struct fixture *f);

/* The blocks are the same as when they were remembered, and the manager is still valid. What the capacity of the tables
   allows for may have been prepared. */
void must_keep_blocks(const struct fixture *f);

/* The step is an error of this kind. */
void must_refuse(struct ashlar_step step, enum ashlar_status status);

/* A counter, by kind and column of manager.h; and its current value. */
struct ashlar_counter counter_of(const struct ashlar_manager *m, size_t kind, size_t column);
uint64_t current(const struct fixture *f, size_t kind, size_t column);

#endif
