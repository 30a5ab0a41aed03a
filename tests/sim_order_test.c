/* sim_order_test.c - random programs against an oracle that knows each item's ancestors as a set.
 *
 * The oracle keeps all accesses of all memory and compares every pair: no clocks, no ranges, nothing forgotten.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim_support.h"

enum {
  ITEMS = 320,
  WORDS = ITEMS / 64,
  STREAMS = 4,
  EVENTS = 5,
  UNITS = 24,
  STEPS = 900,
  ROUNDS = 60
};
#define UNIT UINT64_C(512)

/* A set of items. */
struct set {
  uint64_t word[WORDS];
};

struct access {
  size_t item;
  uint64_t owner; /* how often the unit had been handed over */
  bool writes;
};

struct oracle {
  struct set before[ITEMS]; /* ancestors, the item itself included */
  int stream_of[ITEMS];
  size_t item_count;
  struct set known[STREAMS]; /* what comes before the stream's next item */
  struct set event[EVENTS];
  bool recorded[EVENTS];
  struct set host;
  struct set ran;
  struct access access[UNITS][ITEMS];
  size_t access_count[UNITS];
  uint64_t owner[UNITS];
};

struct program {
  struct ashlar_sim_machine m;
  struct oracle o;
  uint64_t stream[STREAMS];
  uint64_t event[EVENTS];
  uint64_t base;
  uint64_t random;
  size_t races[3]; /* expected, by kind */
};

static bool has(const struct set *set, size_t item)
{
  return (set->word[item / 64] >> (item % 64) & 1) != 0;
}

static void add(struct set *set, size_t item)
{
  set->word[item / 64] |= UINT64_C(1) << (item % 64);
}

static void join(struct set *set, const struct set *other)
{
  for (size_t i = 0; i < WORDS; i++) {
    set->word[i] |= other->word[i];
  }
}

static bool is_within(const struct set *set, const struct set *other)
{
  for (size_t i = 0; i < WORDS; i++) {
    if ((set->word[i] & ~other->word[i]) != 0) {
      return false;
    }
  }
  return true;
}

/* The work of the machine names its item by the first byte that it touches in a segment of its own. */
static void check_run(void *context, struct ashlar_sim_position position,
                      const struct ashlar_sim_touch *touches, size_t touch_count)
{
  (void)position;
  struct program *p = context;
  assert_int_equal(touch_count, 2);
  const size_t item = (size_t)touches[0].address;
  struct set others = p->o.before[item];
  others.word[item / 64] &= ~(UINT64_C(1) << (item % 64));
  assert_true(is_within(&others, &p->o.ran));
  assert_false(has(&p->o.ran, item));
  add(&p->o.ran, item);
}

/* Streams that an access of an earlier owner, or of anybody if `any`, comes from that is not among what is known. */
static size_t count_races(const struct oracle *o, const struct set *known, int own, size_t first,
                          size_t last, bool any, bool writes)
{
  bool races[STREAMS] = {false};
  for (size_t unit = first; unit < last; unit++) {
    for (size_t i = 0; i < o->access_count[unit]; i++) {
      const struct access *access = &o->access[unit][i];
      const int stream = o->stream_of[access->item];
      const bool conflicts = any || (access->owner < o->owner[unit] && (writes || access->writes));
      if (stream != own && conflicts && !has(known, access->item)) {
        races[stream] = true;
      }
    }
  }
  size_t count = 0;
  for (size_t i = 0; i < STREAMS; i++) {
    count += races[i] ? 1 : 0;
  }
  return count;
}

/* A range of units. */
static void choose_range(struct program *p, size_t *first, size_t *last)
{
  *first = (size_t)sim_random(&p->random, UNITS);
  *last = *first + 1 + (size_t)sim_random(&p->random, UNITS - *first);
}

static void submit(struct program *p, size_t s)
{
  struct oracle *o = &p->o;
  const size_t item = o->item_count;
  if (item == ITEMS) {
    return;
  }
  size_t first = 0;
  size_t last = 0;
  choose_range(p, &first, &last);
  const bool writes = sim_random(&p->random, 2) != 0;
  join(&o->known[s], &o->host);
  add(&o->known[s], item);
  o->before[item] = o->known[s];
  o->stream_of[item] = (int)s;
  o->item_count++;
  p->races[ASHLAR_SIM_RACE_TOUCHED] +=
      count_races(o, &o->known[s], (int)s, first, last, false, writes);
  for (size_t unit = first; unit < last; unit++) {
    o->access[unit][o->access_count[unit]] = (struct access){item, o->owner[unit], writes};
    o->access_count[unit]++;
  }
  const struct ashlar_sim_touch touches[] = {
      {item, 1, false}, {p->base + first * UNIT, (last - first) * UNIT, writes}};
  const struct ashlar_sim_work work = {.touches = touches, .touch_count = 2, .ticks = item % 5};
  assert_int_equal(ashlar_sim_machine_submit(&p->m, p->stream[s], &work), ASHLAR_SIM_OK);
}

static void hand_over(struct program *p, size_t s)
{
  struct oracle *o = &p->o;
  size_t first = 0;
  size_t last = 0;
  choose_range(p, &first, &last);
  join(&o->known[s], &o->host);
  p->races[ASHLAR_SIM_RACE_HANDED] += count_races(o, &o->known[s], (int)s, first, last, true, true);
  for (size_t unit = first; unit < last; unit++) {
    o->owner[unit]++;
  }
  sim_hand(&p->m, p->stream[s], p->base + first * UNIT, (last - first) * UNIT);
}

static void see_event(struct program *p, size_t e)
{
  struct oracle *o = &p->o;
  const bool is_ready = !o->recorded[e] || is_within(&o->event[e], &o->ran);
  const enum ashlar_sim_status status = ashlar_sim_machine_event_query(&p->m, p->event[e]);
  /* Waits are no items of the oracle: one that has not passed yet makes an event late, never early. */
  assert_true(status == ASHLAR_SIM_NOT_READY || (status == ASHLAR_SIM_OK && is_ready));
  if (status == ASHLAR_SIM_OK && o->recorded[e]) {
    join(&o->host, &o->event[e]);
  }
}

static void step(struct program *p)
{
  struct oracle *o = &p->o;
  const size_t s = (size_t)sim_random(&p->random, STREAMS);
  const size_t e = (size_t)sim_random(&p->random, EVENTS);
  switch (sim_random(&p->random, 12)) {
  case 0:
  case 1:
  case 2:
    submit(p, s);
    break;
  case 3:
  case 4:
    hand_over(p, s);
    break;
  case 5:
    join(&o->known[s], &o->host);
    o->event[e] = o->known[s];
    o->recorded[e] = true;
    assert_int_equal(ashlar_sim_machine_event_record(&p->m, p->event[e], p->stream[s]),
                     ASHLAR_SIM_OK);
    break;
  case 6:
    if (o->recorded[e]) {
      join(&o->known[s], &o->event[e]);
    }
    assert_int_equal(ashlar_sim_machine_stream_wait(&p->m, p->stream[s], p->event[e]),
                     ASHLAR_SIM_OK);
    break;
  case 7:
    see_event(p, e);
    break;
  case 8:
    (void)ashlar_sim_machine_drain(&p->m, p->stream[s]);
    break;
  case 9:
    (void)ashlar_sim_machine_advance(&p->m, sim_random(&p->random, 6));
    break;
  case 10:
    if (sim_random(&p->random, 8) == 0) {
      assert_int_equal(ashlar_sim_machine_event_synchronize(&p->m, p->event[e]), ASHLAR_SIM_OK);
      if (o->recorded[e]) {
        assert_true(is_within(&o->event[e], &o->ran));
        join(&o->host, &o->event[e]);
      }
    }
    break;
  default:
    if (sim_random(&p->random, 16) == 0) {
      join(&o->known[s], &o->host);
      assert_int_equal(ashlar_sim_machine_stream_synchronize(&p->m, p->stream[s]), ASHLAR_SIM_OK);
      assert_true(is_within(&o->known[s], &o->ran));
      join(&o->host, &o->known[s]);
    }
  }
}

static size_t of_kind(const struct program *p, enum ashlar_sim_race_kind kind)
{
  return p->races[kind];
}

static void every_race_is_found_and_no_other(void **state)
{
  (void)state;
  struct program *p = malloc(sizeof *p);
  assert_non_null(p);
  size_t found = 0;
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    memset(&p->o, 0, sizeof p->o);
    memset(p->races, 0, sizeof p->races);
    p->random = round;
    sim_start_plain(&p->m, 1);
    p->m.streams.hook = (struct ashlar_sim_hook){.ran = check_run, .context = p};
    p->base = sim_segment(&p->m, UNITS * UNIT);
    for (size_t i = 0; i < STREAMS; i++) {
      p->stream[i] = sim_stream(&p->m);
    }
    for (size_t i = 0; i < EVENTS; i++) {
      p->event[i] = sim_event(&p->m);
    }
    for (int i = 0; i < STEPS; i++) {
      step(p);
      const size_t expected =
          of_kind(p, ASHLAR_SIM_RACE_HANDED) + of_kind(p, ASHLAR_SIM_RACE_TOUCHED);
      assert_int_equal(p->m.races.race_count, expected);
    }
    assert_int_equal(ashlar_sim_machine_drain_all(&p->m), ASHLAR_SIM_OK);
    for (size_t i = 0; i < p->o.item_count; i++) {
      assert_true(has(&p->o.ran, i));
    }
    found += p->m.races.race_count;
    ashlar_sim_machine_destroy(&p->m);
  }
  assert_true(found > 1000);
  free(p);
}

/* Many items, events and ranges: what is done is forgotten, so that neither memory nor time grows. */
static void a_long_run_stays_small(void **state)
{
  (void)state;
  enum { LONG = 100000, RANGES = 2000 };
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t base = sim_segment(&m, RANGES * UNIT * 4);
  uint64_t stream[STREAMS];
  for (size_t i = 0; i < STREAMS; i++) {
    stream[i] = sim_stream(&m);
  }
  uint64_t random = 3;
  size_t most_cells = 0;
  for (int i = 0; i < LONG; i++) {
    const uint64_t s = stream[sim_random(&random, STREAMS)];
    const uint64_t address = base + sim_random(&random, RANGES) * UNIT * 4;
    const uint64_t bytes = (1 + sim_random(&random, 4)) * UNIT;
    sim_hand(&m, s, address, bytes);
    sim_write(&m, s, address, bytes);
    if (i % 4 == 0) {
      sim_order(&m, stream[sim_random(&random, STREAMS)], s);
    }
    if (i % 64 == 0) {
      assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, s), ASHLAR_SIM_OK);
    }
    size_t cells = 0;
    for (size_t k = 0; k < m.races.map_count; k++) {
      cells += m.races.map[k].cell_count;
    }
    most_cells = cells > most_cells ? cells : most_cells;
    assert_true(m.streams.pending < 2000);
  }
  assert_true(most_cells < 10000);
  assert_int_equal(m.events.open, 0);
  assert_true(m.events.handles.count < 4);
  assert_int_equal(ashlar_sim_machine_device_synchronize(&m, 0), ASHLAR_SIM_OK);
  for (size_t i = 0; i < STREAMS; i++) {
    assert_true(m.streams.slot[i].item_capacity <= 256);
  }
  ashlar_sim_machine_destroy(&m);
}

/* Memory that is never touched again is forgotten too, once the host knows. */
static void what_the_host_knows_is_forgotten(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t base = sim_segment(&m, 1024 * MIB);
  const uint64_t s = sim_stream(&m);
  for (uint64_t i = 0; i < 50000; i++) {
    sim_write(&m, s, base + 2 * i * UNIT, UNIT);
    if (i % 500 == 0) {
      assert_int_equal(ashlar_sim_machine_stream_synchronize(&m, s), ASHLAR_SIM_OK);
    }
    assert_true(m.races.map[0].cell_count < 3000);
  }
  sim_stop_clean(&m);
}

static void what_is_touched_as_a_whole_is_one_cell(void **state)
{
  (void)state;
  struct ashlar_sim_machine m;
  sim_start_plain(&m, 1);
  const uint64_t base = sim_segment(&m, MIB);
  const uint64_t s = sim_stream(&m);
  for (uint64_t i = 0; i < 100; i++) {
    sim_write(&m, s, base + i * UNIT, UNIT);
  }
  assert_int_equal(m.races.map[0].cell_count, 100);
  sim_write(&m, s, base, MIB);
  assert_int_equal(m.races.map[0].cell_count, 1);
  sim_hand(&m, s, base + UNIT, UNIT);
  assert_int_equal(m.races.map[0].cell_count, 3);
  sim_hand(&m, s, base, MIB);
  assert_int_equal(m.races.map[0].cell_count, 1);
  sim_stop_clean(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_race_is_found_and_no_other),
      cmocka_unit_test(a_long_run_stays_small),
      cmocka_unit_test(what_the_host_knows_is_forgotten),
      cmocka_unit_test(what_is_touched_as_a_whole_is_one_cell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
