/* audit_support.h - recordings made by hand, for the tests of the audit.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_AUDIT_SUPPORT_H
#define ASHLAR_TESTS_AUDIT_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/audit.h"
#include "tools/snapshot.h"

#define MIB ((uint64_t)1 << 20)
#define KIB ((uint64_t)1 << 10)

/* Segments of the recordings below, far apart from each other. */
#define LARGE_A UINT64_C(0x100000000)
#define SMALL_A UINT64_C(0x200000000)
#define LARGE_B UINT64_C(0x300000000)
#define LARGE_C UINT64_C(0x400000000)
#define OTHER_STREAM UINT64_C(0x700)

/* Appends one event of device 0, on a stream given by its handle. */
void add_event(struct ashlar_snapshot *snapshot, enum ashlar_action action, uint64_t address,
               uint64_t size, uint64_t stream);

/* Both events of a free that does not wait. */
void add_free(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t size, uint64_t stream);

/* A new segment and the allocation at its start. */
void add_segment_and_alloc(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t total,
                           uint64_t size, uint64_t stream);

/* Lists a segment of device 0, and then its blocks; the sums follow. */
void list_segment(struct ashlar_snapshot *snapshot, uint64_t address, uint64_t total,
                  uint64_t stream);
void list_block(struct ashlar_snapshot *snapshot, uint64_t size, uint64_t requested,
                enum ashlar_block_state state);

/* Makes the sums of a listed segment right again. */
void fix_sums(struct ashlar_snapshot *snapshot, uint64_t segment);

/* Puts an event in front of another one. */
void insert_event(struct ashlar_snapshot *snapshot, uint64_t place, enum ashlar_action action,
                  uint64_t address, uint64_t size, uint64_t stream);
void remove_event(struct ashlar_snapshot *snapshot, uint64_t place);

/* Index of a stream handle in the snapshot. */
uint16_t stream_index(struct ashlar_snapshot *snapshot, uint64_t handle);

/* An empty snapshot with one event list and default settings. */
void begin_snapshot(struct ashlar_snapshot *snapshot);

/* A recording of 24 events from an empty device, without fault: reuse with and without split, two
   pools, two streams, an emptied cache, a pending free. The enumeration names its events. */
enum good_event {
  GOOD_SEGMENT_A,
  GOOD_ALLOC_A,
  GOOD_ALLOC_B,
  GOOD_ALLOC_C,
  GOOD_REQUESTED_A,
  GOOD_COMPLETED_A,
  GOOD_SEGMENT_SMALL,
  GOOD_ALLOC_SMALL,
  GOOD_ALLOC_SMALL_2,
  GOOD_ALLOC_REUSE, /* takes the hole of A whole */
  GOOD_SEGMENT_OTHER,
  GOOD_ALLOC_OTHER, /* on the other stream */
  GOOD_SEGMENT_EXACT,
  GOOD_ALLOC_EXACT,
  GOOD_REQUESTED_EXACT,
  GOOD_COMPLETED_EXACT,
  GOOD_REQUESTED_OTHER,
  GOOD_COMPLETED_OTHER,
  GOOD_RELEASE_EXACT, /* the cache is emptied */
  GOOD_RELEASE_OTHER,
  GOOD_REQUESTED_C,
  GOOD_COMPLETED_C,
  GOOD_ALLOC_SPLIT, /* takes the front of the hole of C */
  GOOD_REQUESTED_SMALL_2,
  GOOD_EVENTS
};
void good_recording(struct ashlar_snapshot *snapshot);

/* The audit of a snapshot; free with ashlar_audit_free. */
struct ashlar_audit audit_of(const struct ashlar_snapshot *snapshot, enum ashlar_audit_order order);

/* Number of findings with the rule, over all devices. */
uint64_t count_rule(const struct ashlar_audit *audit, enum ashlar_rule rule);

/* Prints the findings, for a test that is about to fail. */
void print_findings(const struct ashlar_audit *audit);

#endif
