/* capture.c - see capture.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/capture.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/sim/array.h"

void ashlar_sim_captures_destroy(struct ashlar_sim_captures *captures)
{
  for (size_t i = 0; i < captures->count; i++) {
    free(captures->capture[i].member);
  }
  free(captures->capture);
  *captures = (struct ashlar_sim_captures){0};
}

struct ashlar_sim_capture *ashlar_sim_capture_find(const struct ashlar_sim_captures *captures,
                                                   uint64_t id)
{
  for (size_t i = 0; i < captures->count; i++) {
    if (captures->capture[i].id == id) {
      return &captures->capture[i];
    }
  }
  return NULL;
}

/* Makes a stream a member, with a shadow that begins with the clock. */
static enum ashlar_sim_status add_member(struct ashlar_sim_capture *capture,
                                         struct ashlar_sim_streams *streams, uint32_t slot,
                                         const struct ashlar_sim_clock *clock)
{
  struct ashlar_sim_member *member = ashlar_sim_grow(capture->member, &capture->member_capacity,
                                                     capture->member_count + 1, sizeof *member);
  if (member == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  capture->member = member;
  uint32_t shadow = 0;
  const enum ashlar_sim_status status =
      ashlar_sim_stream_shadow(streams, streams->slot[slot].device, clock, &shadow);
  if (status != ASHLAR_SIM_OK) {
    return status;
  }
  streams->slot[slot].capture = capture->id;
  streams->slot[slot].shadow_slot = shadow;
  streams->slot[shadow].capture = capture->id;
  streams->slot[shadow].handle = streams->slot[slot].handle;
  member[capture->member_count] =
      (struct ashlar_sim_member){slot, shadow, streams->slot[shadow].submitted};
  capture->member_count++;
  return ASHLAR_SIM_OK;
}

/* What a capture on a stream begins with: all that came before in the stream, and the graph that it
   comes after. */
static bool first_clock(const struct ashlar_sim_streams *streams, uint32_t slot,
                        const struct ashlar_sim_capture *after, struct ashlar_sim_clock *clock)
{
  if (!ashlar_sim_clock_reserve(clock, streams->count)) {
    return false;
  }
  ashlar_sim_clock_join(clock, &streams->slot[slot].clock);
  if (after != NULL) {
    ashlar_sim_clock_join(clock, &streams->slot[after->member[0].shadow].clock);
  }
  return true;
}

enum ashlar_sim_status ashlar_sim_capture_begin(struct ashlar_sim_captures *captures,
                                                struct ashlar_sim_streams *streams, uint32_t slot,
                                                uint64_t after, uint64_t *id)
{
  if (streams->slot[slot].capture != 0) {
    return ASHLAR_SIM_CAPTURING;
  }
  struct ashlar_sim_capture *moved =
      ashlar_sim_grow(captures->capture, &captures->capacity, captures->count + 1, sizeof *moved);
  if (moved == NULL) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  captures->capture = moved;
  const struct ashlar_sim_capture *graph = NULL;
  if (after != 0) {
    graph = ashlar_sim_capture_find(captures, after);
    if (graph == NULL || !graph->ended) {
      return ASHLAR_SIM_UNKNOWN;
    }
  }
  if (ashlar_sim_stream_refresh(streams, slot) != ASHLAR_SIM_OK) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  struct ashlar_sim_clock clock = {0};
  if (!first_clock(streams, slot, graph, &clock)) {
    return ASHLAR_SIM_HOST_MEMORY;
  }
  struct ashlar_sim_capture capture = {.id = captures->last_id + 1};
  const enum ashlar_sim_status status = add_member(&capture, streams, slot, &clock);
  ashlar_sim_clock_destroy(&clock);
  if (status != ASHLAR_SIM_OK) {
    free(capture.member);
    return status;
  }
  captures->capture[captures->count] = capture;
  captures->count++;
  captures->active++;
  captures->last_id++;
  *id = capture.id;
  return ASHLAR_SIM_OK;
}

enum ashlar_sim_status ashlar_sim_capture_join(struct ashlar_sim_captures *captures,
                                               struct ashlar_sim_streams *streams, uint64_t id,
                                               uint32_t slot, const struct ashlar_sim_clock *clock)
{
  if (streams->slot[slot].capture != 0) {
    return ASHLAR_SIM_CAPTURING;
  }
  struct ashlar_sim_capture *capture = ashlar_sim_capture_find(captures, id);
  return add_member(capture, streams, slot, clock);
}

void ashlar_sim_capture_invalidate(struct ashlar_sim_captures *captures, uint64_t id)
{
  struct ashlar_sim_capture *capture = ashlar_sim_capture_find(captures, id);
  if (capture != NULL && !capture->ended) {
    capture->invalid = true;
  }
}

void ashlar_sim_capture_invalidate_all(struct ashlar_sim_captures *captures)
{
  for (size_t i = 0; i < captures->count; i++) {
    captures->capture[i].invalid = !captures->capture[i].ended || captures->capture[i].invalid;
  }
}

/* Captured work that can never run is over: the host knows that. There is room in its clock since
   the shadow was made. */
static void discard(struct ashlar_sim_captures *captures, struct ashlar_sim_streams *streams,
                    struct ashlar_sim_capture *capture)
{
  for (size_t i = 0; i < capture->member_count; i++) {
    const uint32_t shadow = capture->member[i].shadow;
    struct ashlar_sim_stream *stream = &streams->slot[shadow];
    ashlar_sim_clock_learn(&streams->host, (struct ashlar_sim_position){shadow, stream->submitted});
    stream->open = false;
  }
  streams->host_version++;
  free(capture->member);
  captures->count--;
  *capture = captures->capture[captures->count];
}

static bool is_joined(const struct ashlar_sim_capture *capture,
                      const struct ashlar_sim_streams *streams)
{
  const struct ashlar_sim_clock *first = &streams->slot[capture->member[0].shadow].clock;
  for (size_t i = 1; i < capture->member_count; i++) {
    const struct ashlar_sim_member *member = &capture->member[i];
    const uint64_t submitted = streams->slot[member->shadow].submitted;
    if (submitted > member->from &&
        !ashlar_sim_clock_has(first, (struct ashlar_sim_position){member->shadow, submitted})) {
      return false;
    }
  }
  return true;
}

enum ashlar_sim_status ashlar_sim_capture_end(struct ashlar_sim_captures *captures,
                                              struct ashlar_sim_streams *streams, uint32_t slot)
{
  const uint64_t id = streams->slot[slot].capture;
  struct ashlar_sim_capture *capture = id == 0 ? NULL : ashlar_sim_capture_find(captures, id);
  if (capture == NULL || capture->member[0].slot != slot) {
    return ASHLAR_SIM_NOT_CAPTURING;
  }
  for (size_t i = 0; i < capture->member_count; i++) {
    struct ashlar_sim_stream *stream = &streams->slot[capture->member[i].slot];
    stream->capture = 0;
    stream->shadow_slot = ASHLAR_SIM_NONE;
  }
  captures->active--;
  enum ashlar_sim_status status = ASHLAR_SIM_OK;
  if (capture->invalid) {
    status = ASHLAR_SIM_CAPTURE_INVALID;
  } else if (!is_joined(capture, streams)) {
    status = ASHLAR_SIM_CAPTURE_UNJOINED;
  }
  capture->ended = true;
  if (status != ASHLAR_SIM_OK) {
    discard(captures, streams, capture);
  }
  return status;
}

enum ashlar_sim_status ashlar_sim_graph_destroy(struct ashlar_sim_captures *captures,
                                                struct ashlar_sim_streams *streams, uint64_t id)
{
  struct ashlar_sim_capture *capture = ashlar_sim_capture_find(captures, id);
  if (capture == NULL || !capture->ended) {
    return ASHLAR_SIM_UNKNOWN;
  }
  discard(captures, streams, capture);
  return ASHLAR_SIM_OK;
}
