/* model_machine.h - the device under a reference model that is recorded: memory at addresses of its own choice, ranges
 * of addresses, and streams whose work is finished some time later.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_MACHINE_H
#define ASHLAR_TESTS_MODEL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/model_plan.h"

enum { MODEL_MACHINE_RANGES = 1024 };

struct model_machine_range {
  uint64_t address;
  uint64_t bytes;
};

/* When the uses of a stream are finished, by their number less one; never earlier than the one before. */
struct model_machine_queue {
  uint64_t *due;
  uint64_t count;
};

struct model_machine {
  const struct model_plan *plan;
  uint64_t *random; /* of the program */
  uint64_t given;   /* bytes */
  uint64_t next;    /* address, where they are never given twice */
  uint64_t next_range;
  struct model_machine_range memory[MODEL_MACHINE_RANGES]; /* given, by address */
  uint32_t memory_count;
  struct model_machine_range spare; /* a range that came back last; bytes 0: none */
  struct model_machine_queue queue[MODEL_STREAMS];
  uint64_t
      refused; /* bytes that were refused although there was room; until some go back, or the next request, no
                       more is given. 0: none */
};

/* `device` tells where its addresses are. */
void model_machine_start(struct model_machine *machine, const struct model_plan *plan,
                         int32_t device, uint64_t *random);
void model_machine_stop(struct model_machine *machine);

/* Memory of its own address; 0: refused. */
uint64_t model_machine_allocate(struct model_machine *machine, uint64_t bytes);
void model_machine_release(struct model_machine *machine, uint64_t address);

/* A range of addresses. */
uint64_t model_machine_reserve(struct model_machine *machine, uint64_t bytes);
void model_machine_unreserve(struct model_machine *machine, uint64_t address, uint64_t bytes);

/* Memory for a part of a range. */
bool model_machine_map(struct model_machine *machine, uint64_t bytes);
void model_machine_unmap(struct model_machine *machine, uint64_t bytes);

uint64_t model_machine_free_bytes(const struct model_machine *machine);

/* A use was submitted at `now`, with the number that follows the last. */
void model_machine_submit(struct model_machine *machine, int32_t stream, uint64_t now);

/* The number up to which the uses of a stream are finished at `now`; 0: none. */
uint64_t model_machine_finished(const struct model_machine *machine, int32_t stream, uint64_t now);

/* The uses of the stream up to a number are waited for. */
void model_machine_wait(struct model_machine *machine, int32_t stream, uint64_t number);

#endif
