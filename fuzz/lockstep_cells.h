/* lockstep_cells.h - the cells of operation, outcome and rung that can be reached, and the names of all three.
 *
 * The rung of an operation that begins a request is that on which the request waits or ends, of an outcome that on which
 * it waited; of any other operation that of a request that waits meanwhile, none where there is none.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_FUZZ_LOCKSTEP_CELLS_H
#define ASHLAR_FUZZ_LOCKSTEP_CELLS_H

#include "fuzz/lockstep.h"

struct lockstep_row {
  int32_t operation;
  int32_t outcome;
  uint32_t rungs; /* bit r + 1: rung r; bit 0: none */
};

extern const struct lockstep_row LOCKSTEP_ROWS[];
extern const int32_t LOCKSTEP_ROW_COUNT;

extern const char *const OPERATION_NAMES[OPERATIONS];
extern const char *const STATUS_NAMES[MODEL_STATUSES];
extern const char *const OUTCOME_NAMES[OUTCOMES - OUTCOME_STEP];
extern const char *const RUNG_NAMES[MODEL_RUNGS];

#endif
