/* check.h - what must hold after every operation of a scenario, worked out from the subject's list of blocks and from the
 * machine alone.
 *
 *   P1  blocks are disjoint, and each lies inside what the machine gave
 *   P2  blocks tile their segment, which is of one pool, class and stream; no two free neighbours stay apart
 *   P3  every counter is what the blocks say, totals are those of both classes, and reserved bytes are what the machine
 *       has given
 *   P4  no block is handed to a stream while other streams' work on it is not ordered before that: the machine's judge
 *   P5  out of memory only where nothing fits (`complete`: and nothing is left to wait for or to release)
 *   P6  a refused call changes nothing; a failed one leaves owners what they have
 *   P7  with everything freed and drained, each ordinary segment is one free block
 *   P8  nothing is asked of the machine that a capture, or the current device, forbids
 *
 * Each answers whether it holds; where not, `why` says what is broken, and begins with the number.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_CHECK_H
#define ASHLAR_TESTS_SCENARIOS_CHECK_H

#include "tests/scenarios/world.h"

enum { VIEW_BLOCKS = 2048 };

/* What can be seen of a subject. Blocks ascend by address. */
struct view {
  size_t count;
  struct subject_block block[VIEW_BLOCKS];
  struct subject_counter counter[SUBJECT_STATISTICS][SUBJECT_COLUMNS];
  struct subject_calls calls;
};

/* False: more blocks than there is room for. */
bool view_take(struct view *view, const struct world *w);

struct check_settings {
  uint64_t max_split_size;
  uint64_t oversize_slack;
  bool complete;
  bool totals; /* nobody has reset the totals */
};

/* P1, P2, P3. */
bool check_state(const struct world *w, const struct view *view, struct check_settings settings,
                 char why[WORLD_WHY]);

/* P5, at the end of a request on the stream; `captured`: in a capture. */
bool check_out_of_memory(const struct view *view, struct subject_step step, int32_t stream,
                         struct check_settings settings, bool captured, char why[WORLD_WHY]);

/* P6: nothing changed. */
bool check_unchanged(const struct view *before, const struct view *after, char why[WORLD_WHY]);

/* P6: allocated blocks are as they were, and no other is allocated; nothing became pending. */
bool check_kept(const struct view *before, const struct view *after, char why[WORLD_WHY]);

/* P7. */
bool check_canonical(const struct view *view, char why[WORLD_WHY]);

#endif
