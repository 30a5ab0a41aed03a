/* model_fixture.h - one model over one device, for worked examples: each helper checks what it does, and the whole state.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_MODEL_FIXTURE_H
#define ASHLAR_TESTS_MODEL_FIXTURE_H

#include "tests/model_support.h"

#define MIB UINT64_C(1048576)

extern struct model model;
extern struct model before; /* for what must leave the model as it was */
extern struct model_device device;
extern const struct model_caller nobody; /* no current stream, no thread of a scope */

/* A new model, a device of so many bytes, and three streams, whose keys descend. */
void start(struct model_config config, uint64_t capacity);

void sound(void);

/* A request to its end, whatever that is; and one that must succeed. */
struct model_step request(uint64_t bytes, int32_t stream);
struct model_step request_by(uint64_t bytes, struct model_caller caller);
struct model_step must(uint64_t bytes, int32_t stream);

/* Frees; returns whether uses were submitted. */
int32_t give(struct model_step block);

void empty_cache(void);

/* The current value of a statistic, over all blocks. */
uint64_t now(enum model_statistic statistic);

#endif
