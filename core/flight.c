/* flight.c - see flight.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/flight.h"

/*@ ghost
  void ashlar_flight_open(const struct ashlar_manager *m) { ; }

  void ashlar_flight_close(const struct ashlar_manager *m)
  {
    ashlar_whole_open(m);
    ashlar_blocks_open(m);
  }
*/
