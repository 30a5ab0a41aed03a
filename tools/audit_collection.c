/* audit_collection.c - see audit_run.h: which segments were released for their age.
 *
 * While a memory limit and a threshold are set, a request that cannot be served first has old segments of the default
 * pool released, in passes: each takes those that are at least as old as the mean. Neither the limit nor the ages are
 * recorded. The ages follow from the searches, of which each request makes one. The bytes above which something is
 * collected are one number for the whole recording; every collection, and every one that did not happen, tells of it.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

#include <inttypes.h>
#include <stdlib.h>

#define UNKNOWN UINT64_MAX /* when a block entered its list */

bool ashlar_ages_start(struct ashlar_audit_run *run)
{
  run->ages = (struct ashlar_audit_ages){.most = UINT64_MAX, .request = ASHLAR_NO_EVENT};
  if (!(run->part->snapshot->settings.garbage_collection_threshold > 0)) {
    return true;
  }
  run->ages.entered = calloc(ASHLAR_SLOTS, sizeof *run->ages.entered);
  if (run->ages.entered == NULL) {
    return false;
  }
  const int32_t limit = ashlar_slot_limit(run->manager);
  for (int32_t slot = 0; slot < limit; slot++) {
    run->ages.entered[slot] = UNKNOWN;
  }
  return true;
}

void ashlar_ages_search(struct ashlar_audit_run *run, uint16_t pool, int32_t class)
{
  run->ages.searches += pool == 0 && class == ASHLAR_CLASS_LARGE ? 1 : 0;
}

void ashlar_ages_enter(struct ashlar_audit_run *run, int32_t slot)
{
  if (run->ages.entered != NULL) {
    run->ages.entered[slot] = run->ages.searches;
  }
}

void ashlar_ages_enter_rest(struct ashlar_audit_run *run, int32_t slot)
{
  const int32_t rest = run->manager->next[slot];
  if (rest >= 0 && run->manager->state[rest] == ASHLAR_FREE) {
    ashlar_ages_enter(run, rest);
  }
}

/* --- passes --- */

struct candidate {
  uint64_t address;
  uint64_t size;
  uint64_t age;
  bool is_gone;
};

/* The segments that may be collected, in the order of their release. */
struct candidates {
  struct candidate *list;
  uint64_t count;
};

static int32_t next_candidate(const struct ashlar_audit_run *run, int32_t slot)
{
  slot = slot < 0 ? ashlar_run_first_release(run, 0) : ashlar_run_next_release(run, slot);
  return slot >= 0 && ashlar_home_class(run->manager->home[slot]) == ASHLAR_CLASS_LARGE ? slot : -1;
}

/* False: memory is short. */
static bool list_candidates(struct ashlar_audit_run *run, uint64_t searches,
                            struct candidates *candidates)
{
  for (int32_t slot = next_candidate(run, -1); slot >= 0; slot = next_candidate(run, slot)) {
    candidates->count++;
  }
  candidates->list = calloc((size_t)candidates->count + 1, sizeof *candidates->list);
  if (candidates->list == NULL) {
    run->is_out_of_memory = true;
    return false;
  }
  struct candidate *next = candidates->list;
  for (int32_t slot = next_candidate(run, -1); slot >= 0; slot = next_candidate(run, slot)) {
    const uint64_t entered = run->ages.entered[slot];
    run->ages.is_open = run->ages.is_open || entered == UNKNOWN;
    *next = (struct candidate){
        .address = run->manager->addr[slot],
        .size = run->manager->size[slot],
        .age = searches - entered,
    };
    next++;
  }
  return true;
}

/* The least age of what a pass releases; UINT64_MAX: nothing is left. */
static uint64_t mean_age(const struct candidates *candidates)
{
  uint64_t sum = 0;
  uint64_t count = 0;
  for (uint64_t i = 0; i < candidates->count; i++) {
    sum += candidates->list[i].is_gone ? 0 : candidates->list[i].age;
    count += candidates->list[i].is_gone ? 0 : 1;
  }
  return count == 0 ? UINT64_MAX : sum / count + (sum % count == 0 ? 0 : 1);
}

/* Event behind the releases of one pass, if those from `event` on are exactly that; else `event`. */
static uint64_t match_pass(const struct ashlar_audit_run *run, const struct candidates *candidates,
                           uint64_t event, uint64_t end, uint64_t cutoff)
{
  const struct ashlar_event *events = run->part->events;
  uint64_t at = event;
  for (uint64_t i = 0; i < candidates->count; i++) {
    const struct candidate *candidate = &candidates->list[i];
    if (candidate->is_gone || candidate->age < cutoff) {
      continue;
    }
    if (at >= end || events[at].action != ASHLAR_ACTION_SEGMENT_FREE ||
        events[at].address != candidate->address) {
      return event;
    }
    at = ashlar_history_next(run->part, at + 1);
  }
  return at;
}

static uint64_t carry_out(struct candidates *candidates, uint64_t cutoff)
{
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < candidates->count; i++) {
    struct candidate *candidate = &candidates->list[i];
    if (!candidate->is_gone && candidate->age >= cutoff) {
      candidate->is_gone = true;
      bytes += candidate->size;
    }
  }
  return bytes;
}

/* --- the bound --- */

/* The bound is in [least, most). Where that contradicts what was known, one of the decisions was wrong. */
static void learn(struct ashlar_audit_run *run, uint64_t event, uint64_t least, uint64_t most)
{
  struct ashlar_audit_ages *ages = &run->ages;
  if (least >= ages->most || most <= ages->least) {
    ashlar_audit_find(run->result, ASHLAR_RULE_LADDER, event, 0,
                      "with %" PRIu64
                      " bytes reserved, what is collected by age contradicts what was "
                      "collected before",
                      run->reserved);
    ages->least = least;
    ages->most = most;
    return;
  }
  ages->least = least > ages->least ? least : ages->least;
  ages->most = most < ages->most ? most : ages->most;
}

/* Whether the releases leave something of the default pool. If they leave nothing, the cache may have been emptied by a
   call before the request was made, and they tell nothing of the bound. */
static bool is_something_left(const struct ashlar_audit_run *run, uint64_t begin, uint64_t end)
{
  uint64_t released = 0;
  for (uint64_t i = begin; i < end; i = ashlar_history_next(run->part, i + 1)) {
    const struct ashlar_event *recorded = &run->part->events[i];
    if (recorded->action != ASHLAR_ACTION_SEGMENT_FREE) {
      return false; /* blocks came back */
    }
    released += recorded->pool == 0 ? 1 : 0;
  }
  int32_t slot = ashlar_run_first_release(run, 0);
  while (slot >= 0 && released > 0) {
    slot = ashlar_run_next_release(run, slot);
    released--;
  }
  return slot >= 0;
}

uint64_t ashlar_collection_match(struct ashlar_audit_run *run, uint64_t begin, uint64_t end,
                                 const struct ashlar_audit_request *request)
{
  struct candidates candidates = {0};
  uint64_t at = begin;
  uint64_t left = run->reserved;
  const bool is_counted = request->owner == 0 && request->class == ASHLAR_CLASS_LARGE;
  run->ages.is_open = false;
  if (run->ages.entered == NULL) {
    return begin;
  }
  run->ages.request = request->event;
  /* The search of the request itself counts, and comes before. */
  const bool is_listed =
      list_candidates(run, run->ages.searches + (is_counted ? 1 : 0), &candidates);
  run->ages.was_open = run->ages.was_open || run->ages.is_open;
  if (is_listed && !run->ages.is_open) {
    uint64_t most = UINT64_MAX;
    uint64_t cutoff = mean_age(&candidates);
    uint64_t behind = match_pass(run, &candidates, at, end, cutoff);
    while (behind != at) {
      at = behind;
      most = left;
      left -= carry_out(&candidates, cutoff);
      cutoff = mean_age(&candidates);
      behind = match_pass(run, &candidates, at, end, cutoff);
    }
    if (is_something_left(run, begin, end)) {
      learn(run, begin, cutoff == UINT64_MAX ? 0 : left, most);
    }
  }
  free(candidates.list);
  return at;
}

bool ashlar_collection_is_open(const struct ashlar_audit_run *run)
{
  return run->ages.is_open;
}

void ashlar_collection_miss(struct ashlar_audit_run *run, uint64_t request)
{
  if (run->ages.entered == NULL || run->ages.request == request) {
    return;
  }
  run->ages.is_open = false;
  const int32_t candidate = next_candidate(run, -1);
  for (int32_t slot = candidate; slot >= 0; slot = next_candidate(run, slot)) {
    run->ages.is_open = run->ages.is_open || run->ages.entered[slot] == UNKNOWN;
  }
  run->ages.was_open = run->ages.was_open || run->ages.is_open;
  if (candidate >= 0) {
    learn(run, request, run->reserved, UINT64_MAX);
  }
}
