/* flight.h - for the prover only: the invariant of a manager, opened into what is known of each request and closed again.
 *
 * Ghost functions, as in whole.h: comments to the compiler, proved in flight.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_FLIGHT_H
#define ASHLAR_CORE_FLIGHT_H

#include "core/block_table.h"
#include "core/step.h"
#include "core/whole.h"
#include "spec/flight.h"

/*@ ghost
  /@ requires \valid(m);
     SERVING_INVARIANT(requires)
     terminates \true; exits \false;
     assigns \nothing;
     FLIGHT_INVARIANT(ensures)
     ensures settings: page_allowed(m->config.large_segment_size);
  @/
  void ashlar_flight_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     FLIGHT_INVARIANT(requires)
     terminates \true; exits \false;
     assigns \nothing;
     SERVING_INVARIANT(ensures)
  @/
  void ashlar_flight_close(const struct ashlar_manager *m);
*/

#endif
