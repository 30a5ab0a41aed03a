/* recordings.c - see recordings.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/recordings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/requests.h"

enum {
  LIVE_MOST = 512, /* allocations live at a time */
  LINE_ROOM = 128, /* bytes of the longest line */
  SIZES_MOST = 64,
  STREAMS_MOST = 8,
  PERCENT = 100,
  PERMILLE = 1000
};

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1024) * KIB)

/* Handles as they are seen: the default stream, legacy and per-thread ones, and pointers, whose
   order is not that of their appearance. */
static const uint64_t HANDLES[STREAMS_MOST] = {
    0,
    UINT64_C(0x7f3a5c0012a0),
    2,
    UINT64_C(0x55d2c8e40010),
    UINT64_C(0xffff8880a5c01000),
    1,
    UINT64_C(0x55d2c8e40000),
    UINT64_C(0x7f3a5c000000),
};

/* --- random numbers: splitmix64 --- */

static uint64_t draw(uint64_t *state)
{
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = *state;
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ (mixed >> 31);
}

static uint64_t draw_below(uint64_t *state, uint64_t end)
{
  return draw(state) % end;
}

/* Every power of two is as likely as the next, up to `largest`. */
static uint64_t draw_size(uint64_t *state, uint64_t largest)
{
  unsigned bits = 0;
  while (bits < 63 && (largest >> bits) > 1) {
    bits++;
  }
  const unsigned bit = (unsigned)draw_below(state, bits + 1U);
  const uint64_t size = (UINT64_C(1) << bit) + draw_below(state, UINT64_C(1) << bit);
  return size > largest ? largest : size;
}

/* --- plans --- */

struct ashlar_recording_plan ashlar_recording_plan(unsigned index)
{
  static const uint64_t SPLITS[] = {0, 20 * MIB, 32 * MIB, 0, 64 * MIB, 200 * MIB};
  static const uint64_t FACTORS[] = {0, 3, 6, 0,
                                     2}; /* capacity over the largest request; 0: no limit */
  static const uint64_t LARGEST[] = {256 * MIB, 4 * KIB,   24 * MIB, 1 * MIB,
                                     64 * MIB,  200 * MIB, 3 * MIB};
  static const enum ashlar_sim_placement PLACEMENTS[] = {ASHLAR_SIM_ASCENDING, ASHLAR_SIM_FIRST_FIT,
                                                         ASHLAR_SIM_DESCENDING};
  static const uint64_t ENTRIES[] = {UINT64_MAX, UINT64_MAX, 500, 150};
  struct ashlar_recording_plan plan = {
      .seed = UINT64_C(0xa51a4) + index,
      .largest = LARGEST[index % 7],
      .operations = 400 + 37 * index,
      .devices = index % 8 == 5 ? 2 : 1,
      .streams = 1 + index % STREAMS_MOST,
      .free_percent = 35 + index % 3 * 10,
      .use_permille = index % 2 == 1 ? 80 : 0,
      .cache_permille = index % 5 == 2 || index % 2 == 1 ? 8 : 0,
      .repeated_sizes = index % 4 >= 2 ? 12 : 0,
  };
  plan.options.policy = index % 2 == 0 ? ASHLAR_POLICY_FAITHFUL : ASHLAR_POLICY_COMPLETE;
  plan.options.order = index / 2 % 2 == 0 ? ASHLAR_ORDER_ADDRESS : ASHLAR_ORDER_SEGMENT;
  plan.options.placement = PLACEMENTS[(index + index / 4) % 3];
  plan.options.capacity = ASHLAR_SIM_UNLIMITED;
  if (FACTORS[index % 5] != 0) {
    plan.options.capacity = FACTORS[index % 5] * plan.largest + 8 * MIB * plan.streams;
  }
  plan.options.max_split_size = SPLITS[index % 6];
  plan.options.call_cost = ASHLAR_REPLAY_CALL_COST;
  plan.options.max_entries = ENTRIES[index / 3 % 4];
  return plan;
}

/* --- traces --- */

struct writing {
  const struct ashlar_recording_plan *plan;
  uint64_t random;
  uint64_t sizes[SIZES_MOST];
  char *text;
  size_t length;
  size_t room;
  uint64_t live[LIVE_MOST]; /* ids */
  uint32_t live_count;
  uint64_t next_id;
};

static void add_line(struct writing *work, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length =
      vsnprintf(work->text + work->length, work->room - work->length, format, arguments);
  va_end(arguments);
  work->length += length > 0 ? (size_t)length : 0;
}

static uint64_t pick_stream(struct writing *work)
{
  return HANDLES[draw_below(&work->random, work->plan->streams)];
}

static void add_allocation(struct writing *work)
{
  const struct ashlar_recording_plan *plan = work->plan;
  const uint64_t size = plan->repeated_sizes > 0
                            ? work->sizes[draw_below(&work->random, plan->repeated_sizes)]
                            : draw_size(&work->random, plan->largest);
  const uint64_t stream = pick_stream(work);
  const uint64_t device = draw_below(&work->random, plan->devices);
  add_line(work, "a %" PRIu64 " %" PRIu64 " 0x%" PRIx64 " %" PRIu64 "\n", work->next_id, size,
           stream, device);
  work->live[work->live_count] = work->next_id;
  work->live_count++;
  work->next_id++;
}

static void add_operation(struct writing *work)
{
  const struct ashlar_recording_plan *plan = work->plan;
  const uint64_t kind = draw_below(&work->random, PERMILLE);
  if (kind < plan->cache_permille) {
    add_line(work, "e\n");
    return;
  }
  if (work->live_count > 0) {
    const uint64_t place = draw_below(&work->random, work->live_count);
    if (kind < plan->cache_permille + plan->use_permille) {
      add_line(work, "u %" PRIu64 " 0x%" PRIx64 "\n", work->live[place], pick_stream(work));
      return;
    }
    if (work->live_count == LIVE_MOST || draw_below(&work->random, PERCENT) < plan->free_percent) {
      add_line(work, "f %" PRIu64 "\n", work->live[place]);
      work->live_count--;
      work->live[place] = work->live[work->live_count];
      return;
    }
  }
  add_allocation(work);
}

char *ashlar_recording_trace(const struct ashlar_recording_plan *plan, size_t *length)
{
  struct writing work = {.plan = plan, .random = plan->seed};
  work.room = ((size_t)plan->operations + 2) * LINE_ROOM;
  work.text = malloc(work.room);
  if (work.text == NULL) {
    return NULL;
  }
  for (uint32_t i = 0; i < plan->repeated_sizes && i < SIZES_MOST; i++) {
    work.sizes[i] = draw_size(&work.random, plan->largest);
  }
  add_line(&work, "ashlar-trace 1\n");
  for (uint32_t i = 0; i < plan->operations; i++) {
    add_operation(&work);
  }
  *length = work.length;
  return work.text;
}

/* --- recordings --- */

bool ashlar_recording_make(const struct ashlar_recording_plan *plan,
                           struct ashlar_snapshot *snapshot, struct ashlar_replay *replay,
                           struct ashlar_error *error)
{
  struct ashlar_requests requests;
  struct ashlar_replay own;
  size_t length = 0;
  char *text = ashlar_recording_trace(plan, &length);
  if (text == NULL) {
    return ashlar_error_set(error, 0, "out of memory");
  }
  bool is_done = ashlar_requests_read_memory(text, length, &requests, error);
  free(text);
  if (!is_done) {
    return false;
  }
  is_done =
      ashlar_replay_run(&requests, &plan->options, replay != NULL ? replay : &own, snapshot, error);
  if (is_done && replay == NULL) {
    ashlar_replay_free(&own);
  }
  ashlar_requests_free(&requests);
  return is_done;
}
