/* player_work.c - words of a script about work, streams, the machine and settings. Each gives what it came to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/playing.h"

/* --- memory that is not the manager's --- */

static enum subject_status get_raw(struct playing *p)
{
  struct playing_block *block = playing_new_block(p, playing_argument(p, 0));
  const uint64_t bytes = playing_size(p, playing_argument(p, 1));
  uint64_t address = 0;
  if (block == NULL ||
      ashlar_sim_machine_allocate(&p->world.machine, 0, bytes, &address) != ASHLAR_SIM_OK) {
    (void)playing_fault(p, "the machine gives no memory");
    return SUBJECT_OK;
  }
  *block = (struct playing_block){.live = true, .raw = true, .slot = -1, .references = 1};
  (void)strncpy(block->name, playing_argument(p, 0), sizeof block->name - 1);
  block->address = address;
  block->bytes = bytes;
  p->world.raw += bytes;
  return SUBJECT_OK;
}

static enum subject_status drop_raw(struct playing *p)
{
  struct playing_block *block = playing_block(p, playing_argument(p, 0));
  if (block == NULL || !block->raw ||
      ashlar_sim_machine_free(&p->world.machine, 0, block->address) != ASHLAR_SIM_OK) {
    (void)playing_fault(p, "the machine does not take it back");
    return SUBJECT_OK;
  }
  block->live = false;
  p->world.raw -= block->bytes;
  return SUBJECT_OK;
}

/* --- work --- */

static enum subject_status queue_work(struct playing *p)
{
  const struct world_stream *stream = playing_stream(p, playing_argument(p, 0));
  struct ashlar_sim_touch touch[PLAYING_ARGUMENTS];
  size_t count = 0;
  for (size_t i = 1; i < p->argument_count && stream != NULL; i++) {
    char name[PLAYING_NAME] = "";
    const char *text = playing_argument(p, i);
    const size_t length = strcspn(text, ":");
    if (length >= PLAYING_NAME || (text[length] == ':' && strchr("rw", text[length + 1]) == NULL)) {
      (void)playing_fault(p, "no touch: %s", text);
      return SUBJECT_OK;
    }
    memcpy(name, text, length);
    const struct playing_block *block = playing_block(p, name);
    if (block != NULL) {
      touch[count] = (struct ashlar_sim_touch){block->address, block->bytes,
                                               text[length] == '\0' || text[length + 1] == 'w'};
      count++;
    }
  }
  if (stream == NULL) {
    return SUBJECT_OK;
  }
  const int32_t before = world_enter(&p->world, stream->device);
  const struct ashlar_sim_work work = {.touches = touch, .touch_count = count, .ticks = 1};
  const enum ashlar_sim_status status =
      ashlar_sim_machine_submit(&p->world.machine, stream->handle, &work);
  (void)world_enter(&p->world, before);
  return status == ASHLAR_SIM_OK ? SUBJECT_OK : SUBJECT_DEVICE;
}

static enum subject_status drain(struct playing *p)
{
  const struct world_stream *stream = playing_stream(p, playing_argument(p, 0));
  const enum ashlar_sim_status status =
      stream == NULL ? ASHLAR_SIM_OK : ashlar_sim_machine_drain(&p->world.machine, stream->handle);
  return status == ASHLAR_SIM_OK || status == ASHLAR_SIM_IDLE ? SUBJECT_OK : SUBJECT_DEVICE;
}

/* `s2<-s1`: what comes on s2 is after what is queued on s1. */
static enum subject_status wait_between(struct playing *p)
{
  struct ashlar_sim_machine *m = &p->world.machine;
  char name[WORLD_NAME] = "";
  const char *arrow = strstr(playing_argument(p, 0), "<-");
  const size_t length = arrow == NULL ? WORLD_NAME : (size_t)(arrow - playing_argument(p, 0));
  if (length >= WORLD_NAME) {
    (void)playing_fault(p, "no wait");
    return SUBJECT_OK;
  }
  memcpy(name, playing_argument(p, 0), length);
  const struct world_stream *later = playing_stream(p, name);
  const struct world_stream *earlier = playing_stream(p, arrow + 2);
  if (later == NULL || earlier == NULL) {
    return SUBJECT_OK;
  }
  uint64_t event = 0;
  const int32_t before = world_enter(&p->world, earlier->device);
  enum ashlar_sim_status status = ashlar_sim_machine_event_create(m, earlier->device, &event);
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_machine_event_record(m, event, earlier->handle);
    if (status == ASHLAR_SIM_OK) {
      status = ashlar_sim_machine_stream_wait(m, later->handle, event);
    }
    (void)ashlar_sim_machine_event_destroy(m, event);
  }
  (void)world_enter(&p->world, before);
  return status == ASHLAR_SIM_OK ? SUBJECT_OK : SUBJECT_DEVICE;
}

/* Also where nothing is queued a poll lets deferred blocks go on, which a completion of nothing does. */
static enum subject_status poll_events(struct playing *p)
{
  enum subject_status status = SUBJECT_OK;
  size_t i = 0;
  while (i < p->world.stream_count && p->world.stream[i].gone) {
    i++;
  }
  if (i < p->world.stream_count) {
    status = p->subject->complete(p->world.self, p->world.stream[i].number, 0, p->made_by);
    world_note_events(&p->world);
  }
  world_poll(&p->world, p->made_by);
  return status;
}

/* --- settings that may change, and the caller --- */

static enum subject_status set_limit(struct playing *p)
{
  p->limit = playing_size(p, playing_argument(p, 0));
  return p->subject->limit_set(p->world.self, p->limit, p->collect_above);
}

static enum subject_status set_collect(struct playing *p)
{
  p->collect_above = playing_size(p, playing_argument(p, 0));
  return p->subject->limit_set(p->world.self, p->limit, p->collect_above);
}

static enum subject_status set_growable(struct playing *p)
{
  return p->subject->growable_set(p->world.self, playing_on(p, playing_argument(p, 0)));
}

static enum subject_status reset(struct playing *p)
{
  if (strcmp(playing_argument(p, 0), "peaks") == 0) {
    p->subject->reset_peaks(p->world.self);
  } else if (strcmp(playing_argument(p, 0), "totals") == 0) {
    p->settings.totals = false;
    p->subject->reset_totals(p->world.self);
  } else {
    (void)playing_fault(p, "neither peaks nor totals");
  }
  return SUBJECT_OK;
}

static enum subject_status gone(struct playing *p)
{
  struct world_stream *stream = playing_stream(p, playing_argument(p, 0));
  return stream == NULL ? SUBJECT_OK : world_gone(&p->world, stream, p->made_by);
}

static enum subject_status make_current(struct playing *p)
{
  p->caller.stream = playing_stream_number(p, playing_argument(p, 0));
  return SUBJECT_OK;
}

static enum subject_status make_none_current(struct playing *p)
{
  p->caller.stream = -1;
  return SUBJECT_OK;
}

static enum subject_status set_thread(struct playing *p)
{
  p->caller.thread = playing_size(p, playing_argument(p, 0));
  return SUBJECT_OK;
}

static enum subject_status set_device(struct playing *p)
{
  (void)world_enter(&p->world, (int32_t)playing_size(p, playing_argument(p, 0)));
  return SUBJECT_OK;
}

static enum subject_status fail_machine(struct playing *p)
{
  struct ashlar_sim_failures *failures = &p->world.machine.failures;
  const enum ashlar_sim_call call = playing_call(p, playing_argument(p, 0));
  if (strcmp(playing_argument(p, 1), "all") == 0) {
    ashlar_sim_fail_all(failures, call);
  } else if (strcmp(playing_argument(p, 1), "none") == 0) {
    ashlar_sim_fail_none(failures, call);
  } else if (ashlar_sim_fail_call(failures, call, playing_size(p, playing_argument(p, 1))) !=
             ASHLAR_SIM_OK) {
    (void)playing_fault(p, "no such failure");
  }
  return SUBJECT_OK;
}

static const struct playing_call CALLS[] = {
    {"raw", 2, 2, get_raw},
    {"drop", 1, 1, drop_raw},
    {"K", 1, PLAYING_ARGUMENTS, queue_work},
    {"D", 1, 1, drain},
    {"W", 1, 1, wait_between},
    {"E", 0, 0, poll_events},
    {"MF", 2, 2, fail_machine},
    {"limit", 1, 1, set_limit},
    {"collect", 1, 1, set_collect},
    {"growable", 1, 1, set_growable},
    {"reset", 1, 1, reset},
    {"gone", 1, 1, gone},
    {"on", 1, 1, make_current},
    {"off", 0, 0, make_none_current},
    {"thread", 1, 1, set_thread},
    {"dev", 1, 1, set_device},
};
const struct playing_calls PLAYING_WORK = {CALLS, sizeof CALLS / sizeof CALLS[0]};
