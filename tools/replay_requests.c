/* replay_requests.c - what each kind of request does to a device under replay; see replaying.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replaying.h"

#include <stdlib.h>

#include "tools/replay_releases.h"

enum { FIRST_WAITING = 16 };

static bool no_memory(const struct ashlar_replaying *work)
{
  return ashlar_error_set(work->error, 0, "out of memory");
}

/* --- blocks whose owner has let go while they are in use elsewhere --- */

static bool wait_for_uses(struct ashlar_replaying *work, struct ashlar_play *play, uint32_t number)
{
  struct ashlar_waiting_list *list = &play->waiting;
  if (list->end == list->capacity) {
    const size_t capacity = list->capacity == 0 ? FIRST_WAITING : list->capacity * 2;
    struct ashlar_waiting *grown = NULL;
    if (capacity <= SIZE_MAX / sizeof *grown) {
      grown = realloc(list->entries, capacity * sizeof *grown);
    }
    if (grown == NULL) {
      return no_memory(work);
    }
    list->entries = grown;
    list->capacity = capacity;
  }
  list->entries[list->end] = (struct ashlar_waiting){
      .due = play->result->allocations + ASHLAR_REPLAY_USE_LAG,
      .number = number,
  };
  list->end++;
  return true;
}

/* Returns the blocks whose uses count as finished once there have been `allocations`. */
static void finish_uses(struct ashlar_replaying *work, struct ashlar_play *play,
                        uint64_t allocations)
{
  struct ashlar_waiting_list *list = &play->waiting;
  while (list->first < list->end && list->entries[list->first].due <= allocations) {
    ashlar_play_complete(play, &work->allocations[list->entries[list->first].number]);
    play->result->frees++;
    list->first++;
  }
  if (list->first == list->end) {
    list->first = 0;
    list->end = 0;
  }
}

/* --- requests --- */

static bool fail(struct ashlar_replaying *work, struct ashlar_play *play,
                 const struct ashlar_request_item *item, enum ashlar_replay_reason reason)
{
  const struct ashlar_replay_failure failure = {
      .event = item->event,
      .bytes = item->size,
      .address = item->address,
      .stream = item->stream,
      .reason = (uint8_t)reason,
  };
  return ashlar_play_fail(play, failure) || no_memory(work);
}

static struct ashlar_play_owner owner_of(const struct ashlar_play *play,
                                         const struct ashlar_request_item *item)
{
  const struct ashlar_event *event = ashlar_requests_event(play->requests, item);
  return (struct ashlar_play_owner){item->stream, event == NULL ? 0 : event->pool};
}

/* Before anything is released for a request, everything that other streams still use is waited
   for. */
static struct ashlar_play_outcome ask(struct ashlar_replaying *work, struct ashlar_play *play,
                                      const struct ashlar_request_item *item)
{
  finish_uses(work, play, play->result->allocations);
  const bool waits_first = play->waiting.first < play->waiting.end;
  const struct ashlar_play_owner owner = owner_of(play, item);
  struct ashlar_play_outcome outcome = ashlar_play_allocate(play, item->size, owner, waits_first);
  if (outcome.must_wait) {
    finish_uses(work, play, UINT64_MAX);
    outcome = ashlar_play_allocate(play, item->size, owner, false);
  }
  ashlar_play_note_oom(play, &outcome, owner);
  return outcome;
}

static bool do_allocate(struct ashlar_replaying *work, struct ashlar_play *play,
                        const struct ashlar_request_item *item)
{
  struct ashlar_allocation *allocation = &work->allocations[item->number];
  play->result->allocations++;
  const struct ashlar_play_outcome outcome = ask(work, play, item);
  allocation->device = item->device;
  allocation->stream = item->stream;
  allocation->pool = owner_of(play, item).pool;
  if (!outcome.is_served || outcome.slot == -1) {
    allocation->state = ASHLAR_ALLOCATION_ABSENT;
    play->result->served += outcome.is_served ? 1 : 0;
    return outcome.is_served || fail(work, play, item, outcome.reason);
  }
  allocation->state = ASHLAR_ALLOCATION_LIVE;
  allocation->slot = outcome.slot;
  allocation->generation = outcome.generation;
  play->result->served++;
  play->result->calls_uncached++;
  if (work->replay->options.placement == ASHLAR_SIM_RECORDED && item->address != outcome.address) {
    play->result->elsewhere++;
  }
  return true;
}

/* Ran out of memory when it was recorded. A recorded device does so again. Any other has its own
   capacity, and nothing in the recording says what would have become of the block. */
static bool do_refused(struct ashlar_replaying *work, struct ashlar_play *play,
                       const struct ashlar_request_item *item)
{
  play->result->refused_before++;
  if (work->replay->options.placement != ASHLAR_SIM_RECORDED) {
    return true;
  }
  const struct ashlar_play_outcome outcome = ask(work, play, item);
  if (!outcome.is_served) {
    play->result->refused_again += outcome.reason == ASHLAR_REPLAY_OUT_OF_MEMORY ? 1 : 0;
  } else if (outcome.slot != -1) {
    struct ashlar_allocation unwanted = {
        .slot = outcome.slot,
        .generation = outcome.generation,
        .stream = item->stream,
        .pool = owner_of(play, item).pool,
        .state = ASHLAR_ALLOCATION_LIVE,
    };
    ashlar_play_let_go(play, &unwanted);
    ashlar_play_complete(play, &unwanted);
  }
  return true;
}

static void return_block(struct ashlar_play *play, struct ashlar_allocation *allocation)
{
  ashlar_play_complete(play, allocation);
  play->result->frees++;
}

static bool do_free(struct ashlar_replaying *work, struct ashlar_play *play,
                    const struct ashlar_request_item *item)
{
  struct ashlar_allocation *allocation = &work->allocations[item->number];
  switch (allocation->state) {
  case ASHLAR_ALLOCATION_LIVE:
    ashlar_play_let_go(play, allocation);
    if (!work->requests->has_completions) {
      return_block(play, allocation);
    }
    return true;
  case ASHLAR_ALLOCATION_USED:
    ashlar_play_let_go(play, allocation);
    return work->requests->has_completions || wait_for_uses(work, play, item->number);
  case ASHLAR_ALLOCATION_ABSENT:
    play->result->skipped++;
    return true;
  default:
    return fail(work, play, item, ASHLAR_REPLAY_NOT_LIVE);
  }
}

/* A block may complete without a request to free it, which was made before the recording then. */
static bool do_complete(struct ashlar_replaying *work, struct ashlar_play *play,
                        const struct ashlar_request_item *item)
{
  struct ashlar_allocation *allocation = &work->allocations[item->number];
  switch (allocation->state) {
  case ASHLAR_ALLOCATION_LIVE:
  case ASHLAR_ALLOCATION_USED:
  case ASHLAR_ALLOCATION_PENDING:
    return_block(play, allocation);
    return true;
  case ASHLAR_ALLOCATION_ABSENT:
    return true;
  default:
    return fail(work, play, item, ASHLAR_REPLAY_NOT_LIVE);
  }
}

static void do_use(struct ashlar_replaying *work, struct ashlar_play *play,
                   const struct ashlar_request_item *item)
{
  struct ashlar_allocation *allocation = &work->allocations[item->number];
  if (allocation->state == ASHLAR_ALLOCATION_ABSENT) {
    play->result->skipped++;
    return;
  }
  play->result->uses++;
  if (allocation->state == ASHLAR_ALLOCATION_LIVE && allocation->stream != item->stream) {
    allocation->state = ASHLAR_ALLOCATION_USED;
  }
}

static void do_empty_cache(struct ashlar_replaying *work, struct ashlar_play *play,
                           const struct ashlar_request_item *item)
{
  finish_uses(work, play, UINT64_MAX);
  ashlar_releases_by_call(play, item);
  play->result->cache_releases++;
}

static void do_release(struct ashlar_replaying *work, struct ashlar_play *play,
                       const struct ashlar_request_item *item)
{
  if (work->is_deciding) {
    work->was_call[work->release] = ashlar_releases_were_a_call(play, item) ? 1 : 0;
  }
  if (work->was_call[work->release] != 0) {
    do_empty_cache(work, play, item);
  } else {
    ashlar_releases_give_up(play, item);
  }
  work->release++;
}

static bool do_impossible(struct ashlar_replaying *work, struct ashlar_play *play,
                          const struct ashlar_request_item *item)
{
  static const enum ashlar_replay_reason REASONS[] = {
      [ASHLAR_IMPOSSIBLE_UNKNOWN] = ASHLAR_REPLAY_NOT_LIVE,
      [ASHLAR_IMPOSSIBLE_LIVE] = ASHLAR_REPLAY_LIVE,
  };
  return fail(work, play, item, REASONS[item->number]);
}

bool ashlar_replaying_request(struct ashlar_replaying *work, struct ashlar_play *play,
                              const struct ashlar_request_item *item)
{
  switch (item->kind) {
  case ASHLAR_REQUEST_ALLOCATE:
    return do_allocate(work, play, item);
  case ASHLAR_REQUEST_FREE:
    return do_free(work, play, item);
  case ASHLAR_REQUEST_COMPLETE:
    return do_complete(work, play, item);
  case ASHLAR_REQUEST_USE:
    do_use(work, play, item);
    return true;
  case ASHLAR_REQUEST_EMPTY_CACHE:
    do_empty_cache(work, play, item);
    return true;
  case ASHLAR_REQUEST_RELEASE:
    do_release(work, play, item);
    return true;
  case ASHLAR_REQUEST_REFUSED:
    return do_refused(work, play, item);
  case ASHLAR_REQUEST_SNAPSHOT:
    ashlar_play_note(play, ASHLAR_ACTION_SNAPSHOT, 0, play->manager->bytes[ASHLAR_ALLOCATED],
                     (struct ashlar_play_owner){0});
    return true;
  default:
    return do_impossible(work, play, item);
  }
}
