/* audit_state.h - the rules that the segments and blocks of a snapshot keep at any moment.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_AUDIT_STATE_H
#define ASHLAR_TOOLS_AUDIT_STATE_H

#include "core/manager.h"
#include "tools/audit.h"
#include "tools/history.h"

/* Checks the segments of one device: they are apart; their blocks tile them without gap or overlap and
   without two free neighbours; sizes are whole granules, as large as their requests and no larger than
   the split rule leaves them; recorded sums are the sums; segments and blocks are of one pool class.
   Faults are added to *result. Linear in the blocks. */
void ashlar_audit_state(const struct ashlar_device_part *part, const struct ashlar_config *config,
                        struct ashlar_audit_device *result);

#endif
