/* player_claims.c - the words of a script that set things before the start, and those that say what must hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/scenarios/playing.h"

/* --- settings --- */

static void set_capacity(struct playing *p)
{
  const uint64_t device = p->argument_count > 1 ? playing_size(p, playing_argument(p, 1)) : 0;
  if (device >= PLAYING_DEVICES) {
    (void)playing_fault(p, "no such device");
    return;
  }
  p->device[device].capacity = playing_size(p, playing_argument(p, 0));
  p->config.device_total = device == 0 ? p->device[0].capacity : p->config.device_total;
}

static void set_total(struct playing *p)
{
  p->config.device_total = playing_size(p, playing_argument(p, 0));
}

static void set_devices(struct playing *p)
{
  p->machine.device_count = (int32_t)playing_size(p, playing_argument(p, 0));
  if (p->machine.device_count > PLAYING_DEVICES) {
    (void)playing_fault(p, "too many devices");
  }
}

static void set_placement(struct playing *p)
{
  static const struct {
    const char *name;
    enum ashlar_sim_placement placement;
  } PLACEMENTS[] = {
      {"ascending", ASHLAR_SIM_ASCENDING},
      {"descending", ASHLAR_SIM_DESCENDING},
      {"adjacent", ASHLAR_SIM_ADJACENT},
      {"reuse", ASHLAR_SIM_REUSE},
  };
  for (size_t i = 0; i < sizeof PLACEMENTS / sizeof PLACEMENTS[0]; i++) {
    if (strcmp(PLACEMENTS[i].name, playing_argument(p, 0)) == 0) {
      p->device[0].placement = PLACEMENTS[i].placement;
      return;
    }
  }
  (void)playing_fault(p, "no such placement");
}

static void set_addresses(struct playing *p)
{
  p->machine.address_budget = playing_size(p, playing_argument(p, 0));
}

static void set_handles(struct playing *p)
{
  p->machine.behaviour.reuse_stream_handles = strcmp(playing_argument(p, 0), "reuse") == 0;
}

static void set_split(struct playing *p)
{
  p->config.max_split_size = playing_size(p, playing_argument(p, 0));
}

static void set_slack(struct playing *p)
{
  p->config.oversize_slack = playing_size(p, playing_argument(p, 0));
}

static void set_large(struct playing *p)
{
  p->config.large_segment_size = playing_size(p, playing_argument(p, 0));
}

static void set_division(struct playing *p)
{
  p->config.division = (uint32_t)playing_size(p, playing_argument(p, 0));
}

static void set_growable(struct playing *p)
{
  p->config.growable = playing_on(p, playing_argument(p, 0));
}

static void set_ranges(struct playing *p)
{
  p->config.reservation_small = playing_size(p, playing_argument(p, 0));
  p->config.reservation_large = playing_size(p, playing_argument(p, 1));
}

static void set_callbacks(struct playing *p)
{
  p->config.callbacks = playing_on(p, playing_argument(p, 0));
}

const struct playing_setting PLAYING_SETTINGS[] = {
    {"cap", 1, 2, set_capacity},        {"total", 1, 1, set_total},
    {"devices", 1, 1, set_devices},     {"place", 1, 1, set_placement},
    {"va", 1, 1, set_addresses},        {"handles", 1, 1, set_handles},
    {"split", 1, 1, set_split},         {"slack", 1, 1, set_slack},
    {"large", 1, 1, set_large},         {"divide", 1, 1, set_division},
    {"growable", 1, 1, set_growable},   {"ranges", 2, 2, set_ranges},
    {"callbacks", 1, 1, set_callbacks},
};
const size_t PLAYING_SETTING_COUNT = sizeof PLAYING_SETTINGS / sizeof PLAYING_SETTINGS[0];

/* --- claims about places --- */

struct ranges {
  uint64_t start[2];
  uint64_t end[2];
};

/* What the two blocks that the word names have, or had. */
static struct ranges ranges_of(struct playing *p)
{
  struct ranges ranges = {{0, 0}, {0, 0}};
  for (size_t i = 0; i < 2; i++) {
    const struct playing_block *block = playing_block(p, playing_argument(p, i));
    ranges.start[i] = block == NULL ? 0 : block->address;
    ranges.end[i] = block == NULL ? 0 : block->address + block->bytes;
  }
  return ranges;
}

static bool is_same(struct playing *p)
{
  const struct ranges ranges = ranges_of(p);
  return ranges.start[0] == ranges.start[1];
}

static bool is_apart(struct playing *p)
{
  return !is_same(p);
}

static bool is_inside(struct playing *p)
{
  const struct ranges ranges = ranges_of(p);
  return ranges.start[1] <= ranges.start[0] && ranges.end[0] <= ranges.end[1];
}

static bool is_outside(struct playing *p)
{
  const struct ranges ranges = ranges_of(p);
  return ranges.end[0] <= ranges.start[1] || ranges.end[1] <= ranges.start[0];
}

/* y starts where x ends. */
static bool touches(struct playing *p)
{
  const struct ranges ranges = ranges_of(p);
  return ranges.end[0] == ranges.start[1];
}

/* The block that holds where x starts, or started; NULL: none. */
static const struct subject_block *seen(struct playing *p, const char *name)
{
  const struct playing_block *block = playing_block(p, name);
  for (size_t i = 0; block != NULL && i < p->now->count; i++) {
    const struct subject_block *found = &p->now->block[i];
    if (found->address <= block->address && block->address - found->address < found->size) {
      return found;
    }
  }
  return NULL;
}

static bool number_is(struct playing *p, uint64_t value, size_t i)
{
  const uint64_t expected = playing_size(p, playing_argument(p, i));
  return value == expected
             ? true
             : playing_fault(p, "it is %" PRIu64 ", the steps were %s", value, p->world.steps);
}

static bool has_size(struct playing *p)
{
  const struct subject_block *block = seen(p, playing_argument(p, 0));
  return block != NULL && number_is(p, block->size, 1);
}

static bool has_stream(struct playing *p)
{
  const struct subject_block *block = seen(p, playing_argument(p, 0));
  return block != NULL && block->stream == playing_stream_number(p, playing_argument(p, 1));
}

static bool has_pool(struct playing *p)
{
  const struct subject_block *block = seen(p, playing_argument(p, 0));
  const struct playing_pool *pool = strcmp(playing_argument(p, 1), "default") == 0
                                        ? NULL
                                        : playing_pool(p, playing_argument(p, 1));
  return block != NULL && block->pool == (pool == NULL ? 0 : pool->number);
}

static bool has_state(struct playing *p)
{
  static const char *const STATES[] = {"free", "allocated", "pending", "unmapped", "held"};
  const struct subject_block *block = seen(p, playing_argument(p, 0));
  return strcmp(block == NULL ? "none" : STATES[block->state], playing_argument(p, 1)) == 0;
}

/* Of its segment: the bytes that the subject tells. */
static bool has_base(struct playing *p)
{
  const struct playing_block *block = playing_block(p, playing_argument(p, 0));
  if (block == NULL) {
    return false;
  }
  const struct subject_range range =
      p->subject->base(p->world.self, block->slot, block->generation);
  return range.status == SUBJECT_OK && range.address <= block->address &&
         number_is(p, range.bytes, 1);
}

/* --- claims about figures --- */

static bool figure_is(struct playing *p, enum subject_statistic kind)
{
  return number_is(p, p->now->counter[kind][SUBJECT_ALL].current, 0);
}

static bool is_reserved(struct playing *p)
{
  return figure_is(p, SUBJECT_STAT_RESERVED_BYTES);
}

static bool is_allocated(struct playing *p)
{
  return figure_is(p, SUBJECT_STAT_ALLOCATED_BYTES);
}

static bool is_active(struct playing *p)
{
  return figure_is(p, SUBJECT_STAT_ACTIVE_BYTES);
}

static bool is_requested(struct playing *p)
{
  return figure_is(p, SUBJECT_STAT_REQUESTED_BYTES);
}

static bool has_segments(struct playing *p)
{
  return figure_is(p, SUBJECT_STAT_SEGMENT);
}

/* Reserved bytes that nobody uses. */
static bool is_free(struct playing *p)
{
  return number_is(p,
                   p->now->counter[SUBJECT_STAT_RESERVED_BYTES][SUBJECT_ALL].current -
                       p->now->counter[SUBJECT_STAT_ACTIVE_BYTES][SUBJECT_ALL].current,
                   0);
}

static bool is_largest(struct playing *p)
{
  return number_is(p, p->subject->largest(p->world.self), 0);
}

/* peak, gave, took: of a statistic by name. */
static const struct subject_counter *counter_named(struct playing *p)
{
  static const struct {
    const char *name;
    enum subject_statistic kind;
  } NAMES[] = {
      {"allocation", SUBJECT_STAT_ALLOCATION},     {"segment", SUBJECT_STAT_SEGMENT},
      {"allocated", SUBJECT_STAT_ALLOCATED_BYTES}, {"reserved", SUBJECT_STAT_RESERVED_BYTES},
      {"active", SUBJECT_STAT_ACTIVE_BYTES},       {"requested", SUBJECT_STAT_REQUESTED_BYTES},
  };
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    if (strcmp(NAMES[i].name, playing_argument(p, 0)) == 0) {
      return &p->now->counter[NAMES[i].kind][SUBJECT_ALL];
    }
  }
  (void)playing_fault(p, "no such figure");
  return NULL;
}

static bool is_peak(struct playing *p)
{
  const struct subject_counter *counter = counter_named(p);
  return counter != NULL && number_is(p, counter->peak, 1);
}

static bool is_total(struct playing *p)
{
  const struct subject_counter *counter = counter_named(p);
  return counter != NULL && number_is(p, counter->allocated, 1) && number_is(p, counter->freed, 2);
}

static bool has_ooms(struct playing *p)
{
  return number_is(p, p->now->calls.ooms, 0);
}

static bool has_retries(struct playing *p)
{
  return number_is(p, p->now->calls.alloc_retries, 0);
}

static bool has_syncs(struct playing *p)
{
  return number_is(p, p->now->calls.sync_all_streams, 0);
}

/* The rounded size that the report of an out of memory has. */
static bool is_report(struct playing *p)
{
  return p->last.kind == SUBJECT_STEP_OUT_OF_MEMORY && number_is(p, p->last.bytes, 0);
}

/* --- claims about what happened --- */

static bool took_steps(struct playing *p)
{
  const char *expected = p->argument_count == 0 ? "" : playing_argument(p, 0);
  return strcmp(p->world.steps, expected) == 0;
}

static uint64_t calls_of(struct playing *p)
{
  const enum ashlar_sim_call call = playing_call(p, playing_argument(p, 0));
  return p->world.machine.failures.kind[call].calls - p->calls_before[call];
}

static bool made_calls(struct playing *p)
{
  return number_is(p, calls_of(p), 1);
}

static bool made_at_most(struct playing *p)
{
  return calls_of(p) <= playing_size(p, playing_argument(p, 1));
}

/* Segments that an allocator gave, and took back, since the start. */
static bool allocator_did(struct playing *p)
{
  const uint64_t allocator = playing_size(p, playing_argument(p, 0));
  return allocator < WORLD_ALLOCATORS && number_is(p, p->world.gives[allocator], 1) &&
         number_is(p, p->world.takes[allocator], 2);
}

static bool runs_alike(struct playing *p)
{
  return p->digest[0] == p->digest[1] && p->peak[0] == p->peak[1] && p->peak[0] != 0;
}

/* Whether a race is of these two streams; `later` NULL: of the host, which gave the memory back. */
static bool is_race_of(const struct ashlar_sim_machine *m, const struct ashlar_sim_race *race,
                       const struct world_stream *earlier, const struct world_stream *later)
{
  if (m->streams.slot[race->earlier.slot].handle != earlier->handle) {
    return false;
  }
  return race->later.slot == ASHLAR_SIM_NONE
             ? later == NULL
             : later != NULL && m->streams.slot[race->later.slot].handle == later->handle;
}

/* There was a race since the last claim, and all were of the two streams, in this order. P4. */
static bool is_race(struct playing *p)
{
  const struct ashlar_sim_machine *m = &p->world.machine;
  const bool by_host = strcmp(playing_argument(p, 1), "host") == 0;
  const struct world_stream *earlier = playing_stream(p, playing_argument(p, 0));
  const struct world_stream *later = by_host ? NULL : playing_stream(p, playing_argument(p, 1));
  bool all = earlier != NULL && (by_host || later != NULL) && m->races.race_count > p->races_seen &&
             m->races.race_count <= ASHLAR_SIM_RACES_KEPT;
  for (uint64_t i = p->races_seen; all && i < m->races.race_count; i++) {
    all = is_race_of(m, &m->races.race[i], earlier, later);
  }
  p->races_seen = m->races.race_count;
  p->seen[ASHLAR_SIM_VIOLATION_RACE] = m->violation[ASHLAR_SIM_VIOLATION_RACE].count;
  return all;
}

/* So many violations of a kind since the last claim. */
static bool violated(struct playing *p, enum ashlar_sim_violation kind)
{
  const uint64_t count = p->world.machine.violation[kind].count;
  const uint64_t more = count - p->seen[kind];
  p->seen[kind] = count;
  return number_is(p, more, 0);
}

static bool is_forbidden(struct playing *p)
{
  return violated(p, ASHLAR_SIM_VIOLATION_CAPTURE);
}

static bool is_fault(struct playing *p)
{
  return violated(p, ASHLAR_SIM_VIOLATION_FAULT);
}

const struct playing_claim PLAYING_CLAIMS[] = {
    {"same", 2, 2, is_same},
    {"apart", 2, 2, is_apart},
    {"inside", 2, 2, is_inside},
    {"outside", 2, 2, is_outside},
    {"touch", 2, 2, touches},
    {"size", 2, 2, has_size},
    {"stream", 2, 2, has_stream},
    {"of", 2, 2, has_pool},
    {"is", 2, 2, has_state},
    {"base", 2, 2, has_base},
    {"reserved", 1, 1, is_reserved},
    {"allocated", 1, 1, is_allocated},
    {"active", 1, 1, is_active},
    {"requested", 1, 1, is_requested},
    {"segments", 1, 1, has_segments},
    {"free", 1, 1, is_free},
    {"largest", 1, 1, is_largest},
    {"peak", 2, 2, is_peak},
    {"totals", 3, 3, is_total},
    {"ooms", 1, 1, has_ooms},
    {"retries", 1, 1, has_retries},
    {"syncs", 1, 1, has_syncs},
    {"report", 1, 1, is_report},
    {"steps", 0, 1, took_steps},
    {"calls", 2, 2, made_calls},
    {"most", 2, 2, made_at_most},
    {"allocator", 3, 3, allocator_did},
    {"alike", 0, 0, runs_alike},
    {"race", 2, 2, is_race},
    {"forbidden", 1, 1, is_forbidden},
    {"faults", 1, 1, is_fault},
};
const size_t PLAYING_CLAIM_COUNT = sizeof PLAYING_CLAIMS / sizeof PLAYING_CLAIMS[0];
