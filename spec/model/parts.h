/* parts.h - what the files of the model ask of each other.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_MODEL_PARTS_H
#define ASHLAR_SPEC_MODEL_PARTS_H

#include "spec/model/model.h"

/* The rungs of the ladder (REQ-LADDER), and those of emptying the cache. */
enum model_rung {
  MODEL_RUNG_SEARCH = 0,
  MODEL_RUNG_CALLBACKS,
  MODEL_RUNG_SEARCH_CALLED,
  MODEL_RUNG_COLLECT,
  MODEL_RUNG_ASK,
  MODEL_RUNG_FALLBACK,
  MODEL_RUNG_OVERSIZE,
  MODEL_RUNG_ASK_OVERSIZE,
  MODEL_RUNG_WAIT,
  MODEL_RUNG_SEARCH_WAITED,
  MODEL_RUNG_RELEASE,
  MODEL_RUNG_ASK_LAST,
  MODEL_RUNG_SEARCH_RELEASED,
  MODEL_RUNG_WAIT_AGAIN,
  MODEL_RUNG_SEARCH_AGAIN,
  MODEL_RUNG_RELEASE_AGAIN,
  MODEL_RUNG_SEARCH_LAST,
  MODEL_RUNG_ASK_AGAIN,
  MODEL_RUNG_OUT_OF_MEMORY,
  MODEL_RUNG_EMPTY_WAIT,
  MODEL_RUNG_EMPTY_RELEASE,
  MODEL_RUNG_EMPTY,
  MODEL_RUNGS
};

/* Where growing stands. */
enum {
  MODEL_GROWTH_NONE = 0,
  MODEL_GROWTH_RESERVING,
  MODEL_GROWTH_MAPPING,
  MODEL_GROWTH_UNDOING,   /* what was mapped is unmapped */
  MODEL_GROWTH_RETURNING, /* a range that is one unmapped block goes back */
  MODEL_GROWTH_GROWN,
  MODEL_GROWTH_REFUSED
};

enum {
  MODEL_SPARE = 4,                             /* slots that one request may need */
  MODEL_RESERVE = MODEL_SPARE * MODEL_REQUESTS /* and all that may be in flight */
};

enum { MODEL_NOT_WAITED = -2 }; /* before the first stream, -1: the first is next */

/* --- sizes.c --- */
bool model_config_allowed(const struct model_config *config);
uint64_t model_up(uint64_t n,
                  uint64_t step); /* least multiple of step that is at least n <= 2^63 */
uint64_t model_rounded(const struct model *m, uint64_t bytes);
bool model_is_small(uint64_t size);
uint64_t model_segment_size(const struct model *m, uint64_t size);
bool model_splits(const struct model *m, struct model_want want, int32_t slot);
bool model_may_serve(const struct model *m, uint64_t size, uint64_t block);

/* --- blocks.c --- */
int32_t model_behind(const struct model *m, int32_t slot);
int32_t model_ahead(const struct model *m, int32_t slot);
bool model_whole(const struct model *m, int32_t slot);
bool model_listed(const struct model *m, int32_t slot, int32_t pool, bool small);
bool model_before(const struct model *m, int32_t slot, int32_t other);
int32_t model_room(const struct model *m);
bool model_has_room(const struct model *m);
bool model_apart(const struct model *m, uint64_t address, uint64_t bytes);
int32_t model_add_segment(struct model *m, struct model_want want, uint64_t address, uint64_t bytes,
                          bool growable);
void model_remove_segment(struct model *m, int32_t slot);
void model_renew(struct model *m, int32_t slot);
int32_t model_cut(struct model *m, int32_t slot, uint64_t size);
void model_enter(struct model *m, int32_t slot);

/* --- search.c --- */
int32_t model_search(const struct model *m, struct model_want want);
bool model_ages_count(const struct model *m);
void model_count_search(struct model *m, struct model_want want);
void model_hand_out(struct model *m, int32_t slot);
void model_take(struct model *m, struct model_want want, int32_t slot);

/* --- streams.c, uses.c --- */
bool model_live_stream(const struct model *m, int32_t stream);
bool model_stream_before(const struct model *m, int32_t stream, int32_t other);
bool model_in_capture(const struct model *m, struct model_caller caller);
int32_t model_use_room(const struct model *m);
enum model_status model_add_use(struct model *m, int32_t slot, int32_t stream, bool captured);
bool model_give_back(struct model *m, int32_t slot, struct model_caller caller);
void model_go_on(struct model *m);
int32_t model_finish(struct model *m, int32_t stream, uint64_t number);
struct model_event model_outstanding(const struct model *m, int32_t last, int32_t pool);

/* --- pools.c --- */
bool model_private(const struct model *m, int32_t pool);
int32_t model_next_pool(const struct model *m, int32_t pool);
int32_t model_route(const struct model *m, int32_t stream, struct model_caller caller);
void model_end_pools(struct model *m);

/* --- requests.c, ladder.c, reclaim.c, growable.c --- */
struct model_step model_ask(struct model *m, int32_t request, enum model_step_kind kind,
                            int32_t slot, uint64_t bytes);
void model_hold(struct model *m, int32_t request, int32_t slot, bool counted);
int32_t model_let_go(struct model *m, int32_t request);
bool model_unmappable(const struct model *m, int32_t slot);
struct model_step model_unmap(struct model *m, int32_t request, int32_t slot);
struct model_step model_grow(struct model *m, int32_t request);
enum model_status model_grown(struct model *m, int32_t request, enum model_outcome outcome,
                              uint64_t value);
bool model_busy(const struct model *m);
struct model_step model_done(const struct model *m, int32_t slot);
struct model_step model_over(struct model *m, int32_t request, struct model_step step);
struct model_step model_served(struct model *m, int32_t request, int32_t slot);
struct model_step model_next_rung(struct model *m, int32_t request);
struct model_step model_go(struct model *m, int32_t request);
int32_t model_collectable(struct model *m, int32_t request);
int32_t model_oversize(struct model *m, int32_t request);
int32_t model_releasable(const struct model *m, int32_t request);

/* --- stats.c --- */
void model_settle(struct model *m);

#endif
