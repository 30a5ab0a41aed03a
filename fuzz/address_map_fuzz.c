/* address_map_fuzz.c - the map from start addresses to slots against a linear scan.
 *
 * Few addresses, most of which share their bucket with others. Oracle of REQ-FREE-found.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/address_map.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz/harness.h"

enum { GRANULE = 512, SLOTS = ASHLAR_SLOTS < 64 ? ASHLAR_SLOTS : 64 };

/* The same bucket again. */
#define ONCE_AROUND ((uint64_t)GRANULE * (uint64_t)ASHLAR_BUCKETS)

/* The map, and what it must hold: `mapped` says of each slot whether it is in, `addr` where. */
struct run {
  struct ashlar_manager *m;
  bool mapped[SLOTS];
  uint64_t addr[SLOTS];
};

static FUZZ_ORACLE int32_t scan(const struct run *run, uint64_t addr)
{
  for (int32_t i = 0; i < SLOTS; i++) {
    if (run->mapped[i] && run->addr[i] == addr) {
      return i;
    }
  }
  return -1;
}

static uint64_t draw_address(struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  if (form < 240) {
    return (uint64_t)GRANULE * (form % 4) + ONCE_AROUND * (form / 4);
  }
  if (form < 248) {
    return UINT64_MAX - (GRANULE - 1) - (uint64_t)GRANULE * (form % 4);
  }
  return fuzz_size(in) / GRANULE * GRANULE;
}

/* Is the start of a block, inside one, or any number. */
static uint64_t draw_question(const struct run *run, struct fuzz_input *in)
{
  const uint8_t form = fuzz_byte(in);
  switch (form / 64) {
  case 0:
    return run->addr[form % SLOTS];
  case 1:
    return run->addr[form % SLOTS] + 1 + fuzz_byte(in);
  case 2:
    return draw_address(in);
  default:
    return fuzz_size(in);
  }
}

static void ask(const struct run *run, uint64_t addr)
{
  const int32_t found = ashlar_map_find(run->m, addr);
  const int32_t expected = scan(run, addr);
  FUZZ_SAY("find 0x%" PRIx64 ": slot %" PRId32, addr, found);
  FUZZ_CHECK(found == expected, "find: slot %" PRId32 ", expected %" PRId32, found, expected);
  fuzz_operations++;
}

/* A mapped slot goes out; another one gets an address and goes in, unless the address is taken. */
static void change(struct run *run, struct fuzz_input *in)
{
  const uint32_t slot = fuzz_below(in, SLOTS);
  if (run->mapped[slot]) {
    FUZZ_SAY("remove slot %" PRIu32, slot);
    run->mapped[slot] = false;
    ashlar_map_remove(run->m, (int32_t)slot);
    FUZZ_CHECK(run->m->in_map[slot] == 0, "slot %" PRIu32 " is still marked", slot);
    fuzz_operations++;
    return;
  }
  const uint64_t addr = draw_address(in);
  if (scan(run, addr) >= 0) {
    ask(run, addr);
    return;
  }
  FUZZ_SAY("insert slot %" PRIu32 " at 0x%" PRIx64, slot, addr);
  run->mapped[slot] = true;
  run->addr[slot] = addr;
  run->m->addr[slot] = addr;
  ashlar_map_insert(run->m, (int32_t)slot);
  FUZZ_CHECK(run->m->in_map[slot] == 1, "slot %" PRIu32 " is not marked", slot);
  fuzz_operations++;
}

static void run_input(struct fuzz_input *in)
{
  static struct ashlar_manager storage;
  struct run run = {.m = &storage};
  memset(&storage, 0, sizeof storage);
  storage.top = SLOTS;
  while (fuzz_more(in)) {
    if (fuzz_below(in, 2) == 0) {
      ask(&run, draw_question(&run, in));
    } else {
      change(&run, in);
    }
  }
  for (int32_t i = 0; i < SLOTS; i++) {
    ask(&run, run.addr[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_run(data, size, run_input);
}
