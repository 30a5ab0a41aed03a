/* trace.c - building sequences of allocation requests.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/trace.h"

#include "tools/trace_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, HALF_BITS = 32, OPERATION_BYTES = 32 };

_Static_assert(sizeof(struct ashlar_trace_operation) == OPERATION_BYTES, "memory bound in trace.h");
_Static_assert(ASHLAR_TRACE_DEVICE_MAX < ASHLAR_TRACE_EVERY_DEVICE, "EVERY_DEVICE is no device");

const char *const ASHLAR_TRACE_STATEMENT_KEYS[ASHLAR_TRACE_STATEMENTS] = {"allocations", "frees",
                                                                          "peak"};

/* ---- memory ------------------------------------------------------------------------------- */

/* The limits of trace.h keep every product below far from wrapping. */
void *ashlar_trace_room(void *array, size_t *room, size_t needed, size_t element)
{
  if (needed <= *room) {
    return array;
  }
  size_t larger = *room == 0 ? FIRST_ROOM : *room;
  while (larger < needed) {
    larger *= 2;
  }
  void *moved = realloc(array, larger * element);
  if (moved != NULL) {
    *room = larger;
  }
  return moved;
}

bool ashlar_trace_no_memory(struct ashlar_error *error)
{
  return ashlar_error_set(error, 0, "not enough memory");
}

bool ashlar_trace_too_large(struct ashlar_error *error)
{
  return ashlar_error_set(error, 0, "more than %d bytes", ASHLAR_TRACE_BYTES_MAX);
}

void ashlar_trace_free(struct ashlar_trace *trace)
{
  free(trace->operations);
  free(trace->names);
  free(trace->notes);
  free(trace->ids);
  *trace = (struct ashlar_trace){0};
}

/* ---- ids: a hash table with linear probing ------------------------------------------------ */

/* One id that was seen. Entries are never removed: a dead id keeps its place, which is what lets
   probing stop at the first empty one, and an error say that the id was freed before. */
struct ashlar_trace_id {
  uint64_t id;
  uint32_t place; /* index of its latest ALLOCATE in operations, plus 1; 0: entry is empty */
  uint32_t live;  /* 1: allocated and not freed since */
};

/* The entry of an id, or the empty one where it belongs. `room` is a power of two, and at least
   half of it is empty. Multiplying by 2^64 over the golden ratio spreads ids that follow each
   other; folding the halves, before and after, also those that differ in high bits only
   (addresses). */
static struct ashlar_trace_id *find_id(struct ashlar_trace_id *ids, size_t room, uint64_t wanted)
{
  const uint64_t spread = (wanted ^ (wanted >> HALF_BITS)) * UINT64_C(0x9e3779b97f4a7c15);
  size_t slot = (size_t)(spread ^ (spread >> HALF_BITS)) & (room - 1);
  while (ids[slot].place != 0 && ids[slot].id != wanted) {
    slot = (slot + 1) & (room - 1);
  }
  return &ids[slot];
}

/* Makes room for one more id, in a table twice as large where it would be more than half full. */
static bool room_for_id(struct ashlar_trace *trace)
{
  if (2 * (trace->id_count + 1) <= trace->id_room) {
    return true;
  }
  const size_t larger = trace->id_room == 0 ? FIRST_ROOM : 2 * trace->id_room;
  struct ashlar_trace_id *ids = calloc(larger, sizeof *ids);
  if (ids == NULL) {
    return false;
  }
  for (size_t i = 0; i < trace->id_room; i++) {
    if (trace->ids[i].place != 0) {
      *find_id(ids, larger, trace->ids[i].id) = trace->ids[i];
    }
  }
  free(trace->ids);
  trace->ids = ids;
  trace->id_room = larger;
  return true;
}

/* ---- appending: everything is checked and reserved before the first write ------------------- */

static bool room_for_operation(struct ashlar_trace *trace, struct ashlar_error *error)
{
  if (trace->operation_count >= ASHLAR_TRACE_OPERATIONS_MAX) {
    return ashlar_error_set(error, 0, "more than %d operations", ASHLAR_TRACE_OPERATIONS_MAX);
  }
  struct ashlar_trace_operation *operations =
      ashlar_trace_room(trace->operations, &trace->operation_room, trace->operation_count + 1,
                        sizeof *trace->operations);
  if (operations == NULL) {
    return ashlar_trace_no_memory(error);
  }
  trace->operations = operations;
  return true;
}

static void push(struct ashlar_trace *trace, struct ashlar_trace_operation operation)
{
  trace->operations[trace->operation_count] = operation;
  trace->operation_count++;
}

static bool append_allocate(struct ashlar_trace *trace, struct ashlar_trace_operation operation,
                            struct ashlar_error *error)
{
  if (operation.device > ASHLAR_TRACE_DEVICE_MAX) {
    return ashlar_error_set(error, 0, "device %u: the greatest is %d", (unsigned)operation.device,
                            ASHLAR_TRACE_DEVICE_MAX);
  }
  if (!room_for_id(trace)) {
    return ashlar_trace_no_memory(error);
  }
  struct ashlar_trace_id *entry = find_id(trace->ids, trace->id_room, operation.id);
  if (entry->live != 0) {
    return ashlar_error_set(error, 0, "id %" PRIu64 " is allocated and not freed yet",
                            operation.id);
  }
  if (entry->place == 0) {
    trace->id_count++;
  }
  entry->id = operation.id;
  entry->place = (uint32_t)trace->operation_count + 1;
  entry->live = 1;
  operation.number = (uint32_t)trace->allocation_count;
  trace->allocation_count++;
  trace->live_bytes += operation.size;
  /* A sum below its summand has wrapped; from then on the peak is "beyond 64 bits". */
  if (trace->live_bytes < operation.size) {
    trace->peak_bytes = UINT64_MAX;
  } else if (trace->live_bytes > trace->peak_bytes) {
    trace->peak_bytes = trace->live_bytes;
  }
  push(trace, operation);
  return true;
}

/* FREE and USE: the id must be live; size, number and device are the allocation's. */
static bool append_to_live(struct ashlar_trace *trace, struct ashlar_trace_operation operation,
                           struct ashlar_error *error)
{
  struct ashlar_trace_id *entry =
      trace->id_room == 0 ? NULL : find_id(trace->ids, trace->id_room, operation.id);
  if (entry == NULL || entry->place == 0) {
    return ashlar_error_set(error, 0, "id %" PRIu64 " was never allocated", operation.id);
  }
  if (entry->live == 0) {
    return ashlar_error_set(error, 0, "id %" PRIu64 " was freed before", operation.id);
  }
  const struct ashlar_trace_operation *allocation = &trace->operations[entry->place - 1];
  operation.size = allocation->size;
  operation.number = allocation->number;
  operation.device = allocation->device;
  if (operation.kind == ASHLAR_TRACE_FREE) {
    operation.stream = allocation->stream;
    entry->live = 0;
    trace->free_count++;
    trace->live_bytes -= operation.size;
  }
  push(trace, operation);
  return true;
}

static bool append_empty_cache(struct ashlar_trace *trace, uint8_t device,
                               struct ashlar_error *error)
{
  if (device > ASHLAR_TRACE_DEVICE_MAX && device != ASHLAR_TRACE_EVERY_DEVICE) {
    return ashlar_error_set(error, 0, "device %u: the greatest is %d", (unsigned)device,
                            ASHLAR_TRACE_DEVICE_MAX);
  }
  push(trace, (struct ashlar_trace_operation){.kind = ASHLAR_TRACE_EMPTY_CACHE, .device = device});
  return true;
}

bool ashlar_trace_append(struct ashlar_trace *trace, struct ashlar_trace_operation operation,
                         struct ashlar_error *error)
{
  if (!room_for_operation(trace, error)) {
    return false;
  }
  switch (operation.kind) {
  case ASHLAR_TRACE_ALLOCATE:
    return append_allocate(trace, operation, error);
  case ASHLAR_TRACE_FREE:
  case ASHLAR_TRACE_USE:
    return append_to_live(trace, operation, error);
  case ASHLAR_TRACE_EMPTY_CACHE:
    return append_empty_cache(trace, operation.device, error);
  default:
    return ashlar_error_set(error, 0, "operation of kind %u cannot be appended",
                            (unsigned)operation.kind);
  }
}

/* Where char is signed, bytes from 0x80 are below ' ', else above '~'. */
bool ashlar_trace_is_printable(char byte)
{
  return byte > ' ' && byte <= '~';
}

bool ashlar_trace_append_marker(struct ashlar_trace *trace, const char *name, size_t length,
                                struct ashlar_error *error)
{
  if (length == 0 || length > ASHLAR_TRACE_NAME_MAX) {
    return ashlar_error_set(error, 0, "a name of %zu bytes; 1 to %d are allowed", length,
                            ASHLAR_TRACE_NAME_MAX);
  }
  for (size_t i = 0; i < length; i++) {
    if (!ashlar_trace_is_printable(name[i])) {
      return ashlar_error_set(error, 0, "byte 0x%02x in a name", (unsigned)(unsigned char)name[i]);
    }
  }
  struct ashlar_trace_name *names = ashlar_trace_room(
      trace->names, &trace->marker_room, trace->marker_count + 1, sizeof *trace->names);
  if (names == NULL) {
    return ashlar_trace_no_memory(error);
  }
  trace->names = names;
  if (!room_for_operation(trace, error)) {
    return false;
  }
  names[trace->marker_count] = (struct ashlar_trace_name){{0}};
  memcpy(names[trace->marker_count].text, name, length);
  push(trace, (struct ashlar_trace_operation){.kind = ASHLAR_TRACE_MARKER,
                                              .number = (uint32_t)trace->marker_count});
  trace->marker_count++;
  return true;
}

size_t ashlar_trace_comment_end(const char *text, size_t length)
{
  size_t index = 0;
  while (index < length && text[index] != '\x7f' &&
         (text[index] == '\t' || (unsigned char)text[index] >= ' ')) {
    index++;
  }
  return index;
}

bool ashlar_trace_append_note(struct ashlar_trace *trace, const char *text, size_t length,
                              struct ashlar_error *error)
{
  if (length >= ASHLAR_TRACE_LINE_MAX) {
    return ashlar_error_set(error, 0, "a comment of %zu bytes; the longest line has %d", length,
                            ASHLAR_TRACE_LINE_MAX);
  }
  const size_t good = ashlar_trace_comment_end(text, length);
  if (good < length) {
    return ashlar_error_set(error, 0, "byte 0x%02x in a comment",
                            (unsigned)(unsigned char)text[good]);
  }
  char *notes =
      ashlar_trace_room(trace->notes, &trace->notes_room, trace->notes_length + length + 1, 1);
  if (notes == NULL) {
    return ashlar_trace_no_memory(error);
  }
  trace->notes = notes;
  memcpy(notes + trace->notes_length, text, length);
  notes[trace->notes_length + length] = '\n';
  trace->notes_length += length + 1;
  return true;
}
