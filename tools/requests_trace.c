/* requests_trace.c - the requests of a text trace; see requests.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/requests.h"

#include "tools/trace.h"

static uint8_t kind_of(uint8_t operation)
{
  switch (operation) {
  case ASHLAR_TRACE_ALLOCATE:
    return ASHLAR_REQUEST_ALLOCATE;
  case ASHLAR_TRACE_FREE:
    return ASHLAR_REQUEST_FREE;
  case ASHLAR_TRACE_USE:
    return ASHLAR_REQUEST_USE;
  default:
    return ASHLAR_REQUEST_EMPTY_CACHE;
  }
}

static bool add_operation(struct ashlar_requests *requests,
                          const struct ashlar_trace_operation *operation, uint64_t index,
                          struct ashlar_error *error)
{
  struct ashlar_request_item item = {
      .size = operation->size,
      .address = ASHLAR_NO_ADDRESS,
      .event = index,
      .time_us = index,
      .number = operation->number,
      .kind = kind_of(operation->kind),
      .device = operation->device,
  };
  if (operation->kind != ASHLAR_TRACE_EMPTY_CACHE &&
      !ashlar_requests_stream(requests, operation->stream, false, &item.stream)) {
    return ashlar_error_set(error, 0, "out of memory, or more than %d streams",
                            (int)ASHLAR_REQUESTS_STREAMS);
  }
  return ashlar_requests_add(requests, &item) || ashlar_error_set(error, 0, "out of memory");
}

static bool add_operations(struct ashlar_requests *requests, const struct ashlar_trace *trace,
                           struct ashlar_error *error)
{
  for (size_t i = 0; i < trace->operation_count; i++) {
    if (trace->operations[i].kind == ASHLAR_TRACE_MARKER) {
      requests->ignored++;
    } else if (!add_operation(requests, &trace->operations[i], i, error)) {
      return false;
    }
  }
  requests->number_count = (uint32_t)trace->allocation_count;
  return true;
}

bool ashlar_requests_of_trace(struct ashlar_requests *requests, const void *data, size_t size,
                              struct ashlar_error *error)
{
  struct ashlar_trace trace;
  if (!ashlar_trace_read_memory(data, size, &trace, error)) {
    return false;
  }
  const bool done = add_operations(requests, &trace, error);
  ashlar_trace_free(&trace);
  return done;
}
