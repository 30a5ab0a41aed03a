/* whole.c - see whole.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/whole.h"

/*@ ghost
  void ashlar_whole_open(const struct ashlar_manager *m) { ; }

  void ashlar_whole_close(const struct ashlar_manager *m) { ; }
*/
