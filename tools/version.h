/* version.h - the version that the tool prints; the same as the first heading of CHANGELOG.md.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_VERSION_H
#define ASHLAR_TOOLS_VERSION_H

#define ASHLAR_VERSION "0.1.0"

#endif
