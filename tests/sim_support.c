/* sim_support.c - see sim_support.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

void sim_start(struct ashlar_sim_machine *m, int32_t devices, uint64_t capacity)
{
  struct ashlar_sim_config config[ASHLAR_SIM_MOST_DEVICES] = {0};
  for (int32_t i = 0; i < devices; i++) {
    config[i].capacity = capacity;
  }
  const struct ashlar_sim_machine_config machine = {
      .devices = config, .device_count = devices, .address_budget = ASHLAR_SIM_UNLIMITED};
  assert_int_equal(ashlar_sim_machine_init(m, &machine), ASHLAR_SIM_OK);
}

void sim_start_plain(struct ashlar_sim_machine *m, int32_t devices)
{
  sim_start(m, devices, 4096 * MIB);
}

void sim_stop_clean(struct ashlar_sim_machine *m)
{
  sim_stop_after(m, ASHLAR_SIM_VIOLATION_RACE, 0);
}

void sim_stop_after(struct ashlar_sim_machine *m, enum ashlar_sim_violation kind, uint64_t count)
{
  for (size_t i = 0; i < ASHLAR_SIM_VIOLATIONS; i++) {
    if (i != kind && m->violation[i].count != 0) {
      print_error("%s\n", m->violation[i].last);
    }
    assert_int_equal(m->violation[i].count, i == kind ? count : 0);
  }
  assert_false(m->races.incomplete);
  ashlar_sim_machine_destroy(m);
}

uint64_t sim_stream(struct ashlar_sim_machine *m)
{
  uint64_t stream = 0;
  assert_int_equal(ashlar_sim_machine_stream_create(m, m->current, &stream), ASHLAR_SIM_OK);
  return stream;
}

uint64_t sim_event(struct ashlar_sim_machine *m)
{
  uint64_t event = 0;
  assert_int_equal(ashlar_sim_machine_event_create(m, m->current, &event), ASHLAR_SIM_OK);
  return event;
}

uint64_t sim_segment(struct ashlar_sim_machine *m, uint64_t bytes)
{
  uint64_t address = 0;
  assert_int_equal(ashlar_sim_machine_allocate(m, m->current, bytes, &address), ASHLAR_SIM_OK);
  return address;
}

static void touch(struct ashlar_sim_machine *m, uint64_t stream, struct ashlar_sim_touch range)
{
  const struct ashlar_sim_work work = {.touches = &range, .touch_count = 1, .ticks = 1};
  assert_int_equal(ashlar_sim_machine_submit(m, stream, &work), ASHLAR_SIM_OK);
}

void sim_read(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes)
{
  touch(m, stream, (struct ashlar_sim_touch){address, bytes, false});
}

void sim_write(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes)
{
  touch(m, stream, (struct ashlar_sim_touch){address, bytes, true});
}

void sim_order(struct ashlar_sim_machine *m, uint64_t later, uint64_t earlier)
{
  const uint64_t event = sim_event(m);
  assert_int_equal(ashlar_sim_machine_event_record(m, event, earlier), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_stream_wait(m, later, event), ASHLAR_SIM_OK);
  assert_int_equal(ashlar_sim_machine_event_destroy(m, event), ASHLAR_SIM_OK);
}

void sim_hand(struct ashlar_sim_machine *m, uint64_t stream, uint64_t address, uint64_t bytes)
{
  assert_int_equal(ashlar_sim_machine_hand_over(m, stream, address, bytes), ASHLAR_SIM_OK);
}

uint64_t sim_races(const struct ashlar_sim_machine *m)
{
  return m->violation[ASHLAR_SIM_VIOLATION_RACE].count;
}

uint64_t sim_random(uint64_t *state, uint64_t bound)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 33) % bound;
}
