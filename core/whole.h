/* whole.h - for the prover only: the state as one predicate, opened into its clauses and closed again.
 *
 * Both are ghost functions: comments to the compiler, proved like any other in whole.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CORE_WHOLE_H
#define ASHLAR_CORE_WHOLE_H

#include "core/manager.h"
#include "spec/whole.h"

/*@ ghost
  /@ requires \valid(m);
     requires whole: WHOLE_STATE;
     terminates \true; exits \false;
     assigns \nothing;
     WHOLE_CLAUSES(ensures)
  @/
  void ashlar_whole_open(const struct ashlar_manager *m);

  /@ requires \valid(m);
     WHOLE_CLAUSES(requires)
     terminates \true; exits \false;
     assigns \nothing;
     ensures whole: WHOLE_STATE;
  @/
  void ashlar_whole_close(const struct ashlar_manager *m);
*/

#endif
