/* failure.c - see failure.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cuda/sim/failure.h"

enum ashlar_sim_status ashlar_sim_fail_call(struct ashlar_sim_failures *failures,
                                            enum ashlar_sim_call kind, uint64_t k)
{
  struct ashlar_sim_call_record *record = &failures->kind[kind];
  if (k == 0 || k > UINT64_MAX - record->calls) {
    return ASHLAR_SIM_RANGE;
  }
  if (record->planned_count == ASHLAR_SIM_PLANNED) {
    return ASHLAR_SIM_LIMIT;
  }
  record->planned[record->planned_count] = record->calls + k;
  record->planned_count++;
  return ASHLAR_SIM_OK;
}

void ashlar_sim_fail_all(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind)
{
  failures->kind[kind].all = true;
}

void ashlar_sim_fail_none(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind)
{
  failures->kind[kind].all = false;
  failures->kind[kind].planned_count = 0;
}

bool ashlar_sim_call_fails(struct ashlar_sim_failures *failures, enum ashlar_sim_call kind)
{
  struct ashlar_sim_call_record *record = &failures->kind[kind];
  bool fails = record->all;
  record->calls++;
  for (size_t i = record->planned_count; i > 0; i--) {
    if (record->planned[i - 1] == record->calls) {
      fails = true;
      record->planned_count--;
      record->planned[i - 1] = record->planned[record->planned_count];
    }
  }
  record->failed += fails ? 1 : 0;
  return fails;
}

const char *ashlar_sim_call_name(enum ashlar_sim_call kind)
{
  static const char *const NAMES[] = {
      [ASHLAR_SIM_CALL_SET_DEVICE] = "set device",
      [ASHLAR_SIM_CALL_ALLOCATE] = "allocate",
      [ASHLAR_SIM_CALL_FREE] = "free",
      [ASHLAR_SIM_CALL_MEMORY_INFO] = "memory info",
      [ASHLAR_SIM_CALL_RESERVE] = "reserve",
      [ASHLAR_SIM_CALL_UNRESERVE] = "unreserve",
      [ASHLAR_SIM_CALL_CREATE] = "create",
      [ASHLAR_SIM_CALL_RELEASE] = "release",
      [ASHLAR_SIM_CALL_MAP] = "map",
      [ASHLAR_SIM_CALL_UNMAP] = "unmap",
      [ASHLAR_SIM_CALL_SET_ACCESS] = "set access",
      [ASHLAR_SIM_CALL_STREAM_CREATE] = "stream create",
      [ASHLAR_SIM_CALL_STREAM_DESTROY] = "stream destroy",
      [ASHLAR_SIM_CALL_SUBMIT] = "submit",
      [ASHLAR_SIM_CALL_STREAM_WAIT] = "stream wait",
      [ASHLAR_SIM_CALL_STREAM_QUERY] = "stream query",
      [ASHLAR_SIM_CALL_STREAM_SYNCHRONIZE] = "stream synchronize",
      [ASHLAR_SIM_CALL_DEVICE_SYNCHRONIZE] = "device synchronize",
      [ASHLAR_SIM_CALL_EVENT_CREATE] = "event create",
      [ASHLAR_SIM_CALL_EVENT_DESTROY] = "event destroy",
      [ASHLAR_SIM_CALL_EVENT_RECORD] = "event record",
      [ASHLAR_SIM_CALL_EVENT_QUERY] = "event query",
      [ASHLAR_SIM_CALL_EVENT_SYNCHRONIZE] = "event synchronize",
      [ASHLAR_SIM_CALL_CAPTURE_BEGIN] = "capture begin",
      [ASHLAR_SIM_CALL_CAPTURE_END] = "capture end",
  };
  _Static_assert(sizeof NAMES / sizeof NAMES[0] == ASHLAR_SIM_CALLS, "each kind has a name");
  return kind < ASHLAR_SIM_CALLS ? NAMES[kind] : "no call";
}
