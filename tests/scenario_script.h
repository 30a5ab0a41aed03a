/* scenario_script.h - scenarios as text: a line of commands, played on a manager over the pretend device.
 *
 * Commands are separated by `;`, words by blanks. Bytes may end in K, M or G (binary). Settings come first. After every
 * command the whole state is checked.
 *
 *     cap N · split N · slack N · divide N · streams N    settings; default: no limit, no split limit, 20M, 0, 1
 *     A x N [s]     allocates N bytes named x on stream s (0): there must be a block
 *     OOM N [s]     the request must end out of memory
 *     LARGE N       the request must be refused as too large
 *     F x · FA x    frees by handle · by address
 *     STALE x       a free by handle must be refused as stale
 *     INTERIOR x N · FREED x N · UNKNOWN x N      a free of the address N bytes behind the start of x must be refused: as
 *                                                 inside a block · start of one that is not in use · of no segment
 *     EC N          empties the cache: N segments are released
 *     same x y · apart x y       x starts where y starts, or started · does not
 *     inside x y · outside x y   x lies in what y has, or had · has no byte of it
 *     size x N · stream x N      of a block in use
 *     steps LETTERS              of the last request: `A` device gave, `x` device refused, `r` released, `-` none
 *     reserved N · allocated N · segments N · largest N · ooms N · retries N    figures; largest: free block
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIO_SCRIPT_H
#define ASHLAR_TESTS_SCENARIO_SCRIPT_H

#include <stddef.h>

#include "tests/manager_support.h"

/* Plays a script on the fixture, started anew; fails the running test where a command does not hold, naming it. Returns
   how many commands ran. */
size_t scenario_play(struct fixture *f, const char *script);

#endif
