/* world.c - see world.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scenarios/world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE UINT64_C(2097152) /* bytes that are mapped at a time */

static void impossible(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first thing that went wrong is kept. */
static void impossible(struct world *w, const char *format, ...)
{
  char why[WORLD_WHY];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  if (w->why[0] == '\0') {
    memcpy(w->why, why, sizeof why);
  }
}

enum subject_status world_start(struct world *w, const struct subject *subject,
                                const struct ashlar_sim_machine_config *machine,
                                const struct subject_config *config)
{
  memset(w, 0, sizeof *w);
  w->subject = subject;
  if (ashlar_sim_machine_init(&w->machine, machine) != ASHLAR_SIM_OK) {
    impossible(w, "the machine does not start");
    return SUBJECT_CAPACITY;
  }
  w->self = subject->create();
  if (w->self == NULL) {
    impossible(w, "no memory for the subject");
    return SUBJECT_CAPACITY;
  }
  return subject->start(w->self, config);
}

void world_stop(struct world *w)
{
  if (w->self != NULL) {
    w->subject->destroy(w->self);
  }
  if (w->machine.device != NULL) {
    ashlar_sim_machine_destroy(&w->machine);
  }
  memset(w, 0, sizeof *w);
}

int32_t world_enter(struct world *w, int32_t device)
{
  const int32_t before = w->machine.current;
  if (device != before && ashlar_sim_machine_set_device(&w->machine, device) != ASHLAR_SIM_OK) {
    impossible(w, "there is no device %" PRId32, device);
  }
  return before;
}

void world_new_operation(struct world *w, struct subject_caller caller)
{
  w->machine.behaviour.relaxed_capture = !world_in_capture(w, caller);
  w->step_count = 0;
  w->steps[0] = '\0';
}

/* --- streams --- */

struct world_stream *world_stream(struct world *w, const char *name)
{
  struct world_stream *stream = &w->stream[w->stream_count];
  const char *at = strchr(name, '@');
  for (size_t i = 0; i < w->stream_count; i++) {
    if (strcmp(w->stream[i].name, name) == 0) {
      return &w->stream[i];
    }
  }
  if (w->stream_count == WORLD_STREAMS || strlen(name) >= WORLD_NAME) {
    return NULL;
  }
  *stream = (struct world_stream){.device = at == NULL ? 0 : at[1] - '0'};
  (void)snprintf(stream->name, sizeof stream->name, "%s", name);
  const int32_t before = world_enter(w, stream->device);
  const enum ashlar_sim_status made =
      ashlar_sim_machine_stream_create(&w->machine, stream->device, &stream->handle);
  (void)world_enter(w, before);
  const struct subject_number registered =
      made == ASHLAR_SIM_OK ? w->subject->stream_register(w->self, stream->handle)
                            : (struct subject_number){SUBJECT_CAPACITY, -1};
  if (registered.status != SUBJECT_OK) {
    return NULL;
  }
  stream->number = registered.number;
  w->stream_count++;
  return stream;
}

struct world_stream *world_stream_numbered(struct world *w, int32_t number)
{
  for (size_t i = 0; i < w->stream_count; i++) {
    if (w->stream[i].number == number && !w->stream[i].gone) {
      return &w->stream[i];
    }
  }
  return NULL;
}

bool world_in_capture(struct world *w, struct subject_caller caller)
{
  const struct world_stream *stream = world_stream_numbered(w, caller.stream);
  return stream != NULL && stream->capturing;
}

/* --- events --- */

static struct world_event *event_of(struct world *w, int32_t stream, uint64_t number)
{
  for (size_t i = 0; i < w->event_count; i++) {
    if (w->event[i].stream == stream && w->event[i].number == number) {
      return &w->event[i];
    }
  }
  return NULL;
}

/* The uses of the stream up to a number are finished: their events are not needed any more. */
static void forget_events(struct world *w, int32_t stream, uint64_t number)
{
  size_t kept = 0;
  for (size_t i = 0; i < w->event_count; i++) {
    if (w->event[i].stream == stream && w->event[i].number <= number) {
      if (w->event[i].handle != 0) {
        (void)ashlar_sim_machine_event_destroy(&w->machine, w->event[i].handle);
      }
    } else {
      w->event[kept] = w->event[i];
      kept++;
    }
  }
  w->event_count = kept;
}

static uint64_t record_event(struct world *w, const struct world_stream *stream)
{
  const int32_t before = world_enter(w, stream->device);
  uint64_t handle = 0;
  if (ashlar_sim_machine_event_create(&w->machine, stream->device, &handle) != ASHLAR_SIM_OK) {
    handle = 0;
  } else if (ashlar_sim_machine_event_record(&w->machine, handle, stream->handle) !=
             ASHLAR_SIM_OK) {
    (void)ashlar_sim_machine_event_destroy(&w->machine, handle);
    handle = 0;
  }
  (void)world_enter(w, before);
  return handle;
}

void world_note_events(struct world *w)
{
  struct subject_event event = w->subject->event_next(w->self);
  while (event.stream != -1 && w->why[0] == '\0') {
    const struct world_stream *stream = world_stream_numbered(w, event.stream);
    if (stream == NULL || w->event_count == WORLD_EVENTS) {
      impossible(w, "a use of stream %" PRId32 ", which is none, or of too many", event.stream);
      return;
    }
    w->event[w->event_count] =
        (struct world_event){event.stream, event.number, record_event(w, stream)};
    w->event_count++;
    event = w->subject->event_next(w->self);
  }
}

static bool is_finished(struct world *w, const struct world_stream *stream, uint64_t number)
{
  const struct world_event *event = event_of(w, stream->number, number);
  if (event == NULL) {
    impossible(w, "use %" PRIu64 " of stream %s was never told of", number, stream->name);
    return false;
  }
  return (event->handle == 0
              ? ashlar_sim_machine_stream_query(&w->machine, stream->handle)
              : ashlar_sim_machine_event_query(&w->machine, event->handle)) == ASHLAR_SIM_OK;
}

void world_poll(struct world *w, struct subject_caller caller)
{
  if (world_in_capture(w, caller)) {
    return;
  }
  for (size_t i = 0; i < w->stream_count && w->why[0] == '\0'; i++) {
    const struct world_stream *stream = &w->stream[i];
    uint64_t head = stream->gone ? 0 : w->subject->queue_head(w->self, stream->number);
    while (head != 0 && is_finished(w, stream, head)) {
      if (w->subject->complete(w->self, stream->number, head, caller) != SUBJECT_OK ||
          w->subject->queue_head(w->self, stream->number) == head) {
        impossible(w, "P7: use %" PRIu64 " of stream %s is finished and stays in its queue", head,
                   stream->name);
        return;
      }
      forget_events(w, stream->number, head);
      world_note_events(w);
      head = w->subject->queue_head(w->self, stream->number);
    }
  }
}

/* Waits for a use; by its event, or for all work of the stream. */
static bool wait_for(struct world *w, int32_t queue, uint64_t number)
{
  const struct world_stream *stream = world_stream_numbered(w, queue);
  const struct world_event *event = event_of(w, queue, number);
  if (stream == NULL || event == NULL) {
    impossible(w, "a wait for use %" PRIu64 " of stream %" PRId32 ", which is none", number, queue);
    return false;
  }
  return (event->handle == 0
              ? ashlar_sim_machine_stream_synchronize(&w->machine, stream->handle)
              : ashlar_sim_machine_event_synchronize(&w->machine, event->handle)) == ASHLAR_SIM_OK;
}

enum subject_status world_gone(struct world *w, struct world_stream *stream,
                               struct subject_caller caller)
{
  uint64_t last = 0;
  for (size_t i = 0; i < w->event_count; i++) {
    last = w->event[i].stream == stream->number && w->event[i].number > last ? w->event[i].number
                                                                             : last;
  }
  if (last != 0 && !wait_for(w, stream->number, last)) {
    return SUBJECT_DEVICE;
  }
  const enum subject_status status = w->subject->stream_gone(w->self, stream->number, caller);
  if (status == SUBJECT_OK) {
    forget_events(w, stream->number, UINT64_MAX);
    stream->gone = true;
    if (ashlar_sim_machine_stream_destroy(&w->machine, stream->handle) != ASHLAR_SIM_OK) {
      impossible(w, "stream %s cannot be destroyed", stream->name);
    }
    world_note_events(w);
  }
  return status;
}

/* --- steps --- */

static enum subject_outcome allocate(struct world *w, struct subject_step step, uint64_t *address)
{
  const enum ashlar_sim_status status =
      ashlar_sim_machine_allocate(&w->machine, 0, step.bytes, address);
  if (step.allocator >= WORLD_ALLOCATORS) {
    impossible(w, "there is no allocator %" PRIu32, step.allocator);
    return SUBJECT_FAILED;
  }
  w->gives[step.allocator] += status == ASHLAR_SIM_OK ? 1 : 0;
  if (status == ASHLAR_SIM_OK) {
    return SUBJECT_PERFORMED;
  }
  return status == ASHLAR_SIM_REFUSED || status == ASHLAR_SIM_FAILED ? SUBJECT_REFUSED
                                                                     : SUBJECT_FAILED;
}

static enum subject_outcome release(struct world *w, struct subject_step step)
{
  const struct ashlar_sim_segment *segment =
      ashlar_sim_segment_at(&w->machine.device[0], step.address);
  if (step.allocator >= WORLD_ALLOCATORS || segment == NULL || segment->address != step.address ||
      segment->bytes != step.bytes) {
    impossible(w, "P1: a release of 0x%" PRIx64 ", %" PRIu64 " bytes, which is no segment",
               step.address, step.bytes);
    return SUBJECT_FAILED;
  }
  const bool done = ashlar_sim_machine_free(&w->machine, 0, step.address) == ASHLAR_SIM_OK;
  w->takes[step.allocator] += done ? 1 : 0;
  return done ? SUBJECT_PERFORMED : SUBJECT_FAILED;
}

/* Piece by piece; what was mapped before one failed is taken back. */
static enum subject_outcome map(struct world *w, struct subject_step step)
{
  struct ashlar_sim_machine *m = &w->machine;
  enum ashlar_sim_status status = ASHLAR_SIM_OK;
  bool short_of_memory = false;
  uint64_t mapped = 0;
  if (step.bytes % PIECE != 0) {
    impossible(w, "a map of %" PRIu64 " bytes", step.bytes);
    return SUBJECT_FAILED;
  }
  while (mapped < step.bytes && status == ASHLAR_SIM_OK) {
    uint64_t piece = 0;
    status = ashlar_sim_machine_create(m, 0, PIECE, &piece);
    short_of_memory = status == ASHLAR_SIM_REFUSED || status == ASHLAR_SIM_FAILED;
    if (status == ASHLAR_SIM_OK) {
      status = ashlar_sim_machine_map(m, step.address + mapped, piece);
      mapped += status == ASHLAR_SIM_OK ? PIECE : 0;
      (void)ashlar_sim_machine_release(m, piece);
    }
  }
  if (status == ASHLAR_SIM_OK) {
    status = ashlar_sim_machine_set_access(m, step.address, step.bytes, 0, true);
  }
  if (status == ASHLAR_SIM_OK) {
    return SUBJECT_PERFORMED;
  }
  if (mapped > 0 && ashlar_sim_machine_unmap(m, step.address, mapped) != ASHLAR_SIM_OK) {
    impossible(w, "a map cannot be undone");
  }
  return short_of_memory ? SUBJECT_REFUSED : SUBJECT_FAILED;
}

/* The stream is idle first, if one is named; where it is gone, all are. */
static enum subject_outcome unmap(struct world *w, struct subject_step step)
{
  const struct world_stream *stream = world_stream_numbered(w, step.stream);
  enum ashlar_sim_status idle = ASHLAR_SIM_OK;
  if (stream != NULL) {
    idle = ashlar_sim_machine_stream_synchronize(&w->machine, stream->handle);
  } else if (step.stream != -1) {
    idle = ashlar_sim_machine_device_synchronize(&w->machine, 0);
  }
  if (idle != ASHLAR_SIM_OK) {
    return SUBJECT_FAILED;
  }
  return ashlar_sim_machine_unmap(&w->machine, step.address, step.bytes) == ASHLAR_SIM_OK
             ? SUBJECT_PERFORMED
             : SUBJECT_FAILED;
}

static enum subject_outcome perform(struct world *w, struct subject_step step, uint64_t *value)
{
  switch (step.kind) {
  case SUBJECT_STEP_ALLOCATE:
    return allocate(w, step, value);
  case SUBJECT_STEP_RELEASE:
    return release(w, step);
  case SUBJECT_STEP_RESERVE:
    return ashlar_sim_machine_reserve(&w->machine, step.bytes, value) == ASHLAR_SIM_OK
               ? SUBJECT_PERFORMED
               : SUBJECT_REFUSED;
  case SUBJECT_STEP_UNRESERVE:
    return ashlar_sim_machine_unreserve(&w->machine, step.address, step.bytes) == ASHLAR_SIM_OK
               ? SUBJECT_PERFORMED
               : SUBJECT_FAILED;
  case SUBJECT_STEP_MAP:
    return map(w, step);
  case SUBJECT_STEP_UNMAP:
    return unmap(w, step);
  case SUBJECT_STEP_WAIT:
    return wait_for(w, step.stream, step.number) ? SUBJECT_PERFORMED : SUBJECT_FAILED;
  default:
    *value = 0; /* no callback has anything to free */
    return SUBJECT_PERFORMED;
  }
}

/* What a capture does not forbid, if it is asked for in the right way: to get memory, and to undo that. */
static bool is_allowed(struct subject_step step)
{
  switch (step.kind) {
  case SUBJECT_STEP_ALLOCATE:
  case SUBJECT_STEP_RESERVE:
  case SUBJECT_STEP_UNRESERVE:
  case SUBJECT_STEP_MAP:
    return true;
  case SUBJECT_STEP_UNMAP:
    return step.stream == -1;
  default:
    return false;
  }
}

static char letter(enum subject_kind kind, enum subject_outcome outcome)
{
  static const char PERFORMED[] = "Arvnmuwc";
  if (outcome == SUBJECT_PERFORMED) {
    return PERFORMED[kind];
  }
  return outcome == SUBJECT_REFUSED ? 'x' : '!';
}

struct subject_step world_finish(struct world *w, struct subject_step step)
{
  world_note_events(w);
  while (step.kind < SUBJECT_STEP_DONE) {
    uint64_t value = 0;
    if (w->step_count == WORLD_STEPS || w->why[0] != '\0') {
      impossible(w, "a request that does not end");
      return (struct subject_step){.kind = SUBJECT_STEP_ERROR, .status = SUBJECT_NO_REQUEST};
    }
    const int32_t before = world_enter(w, 0);
    const bool relaxed = w->machine.behaviour.relaxed_capture;
    w->machine.behaviour.relaxed_capture = relaxed || is_allowed(step);
    const enum subject_outcome outcome = perform(w, step, &value);
    w->machine.behaviour.relaxed_capture = relaxed;
    (void)world_enter(w, before);
    w->steps[w->step_count] = letter(step.kind, outcome);
    w->step_count++;
    w->steps[w->step_count] = '\0';
    const struct subject_step asked = step;
    step = w->subject->resume(w->self, asked.request, outcome, value);
    if (asked.kind == SUBJECT_STEP_WAIT && outcome == SUBJECT_PERFORMED) {
      forget_events(w, asked.stream, asked.number);
    }
    world_note_events(w);
  }
  return step;
}
