/* audit.h - checks a recorded snapshot against the rules and against the verified block manager.
 *
 * Two kinds of checks. State rules look at the segments and blocks as listed. Conformance replays the
 * recorded events: each allocation is first asked of the block manager, whose answer is compared with
 * the recorded address; only then the recorded state is adopted, so that one fault is one difference.
 * What was live before the recording began is found by running the events backwards (history.h).
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_AUDIT_H
#define ASHLAR_TOOLS_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/error.h"
#include "tools/history_live.h"
#include "tools/history_segments.h"
#include "tools/snapshot.h"

/* The requirement that a finding is about. */
enum ashlar_rule {
  ASHLAR_RULE_SIZE,
  ASHLAR_RULE_DISJOINT,
  ASHLAR_RULE_TILE,
  ASHLAR_RULE_COALESCE,
  ASHLAR_RULE_BESTFIT,
  ASHLAR_RULE_STREAM,
  ASHLAR_RULE_ACCOUNT,
  ASHLAR_RULE_FREE,
  ASHLAR_RULE_OOM,
  ASHLAR_RULE_LADDER,
  ASHLAR_RULE_POOL,
  ASHLAR_RULE_COUNT
};

enum {
  ASHLAR_FINDING_TEXT = 232,
  ASHLAR_FINDINGS_KEPT = 25 /* of each rule and device; one fault may have a long tail of others */
};

struct ashlar_finding {
  uint64_t event;                   /* index in the event list of the device, or ASHLAR_NO_EVENT */
  uint64_t address;                 /* of the block or segment */
  uint8_t rule;                     /* enum ashlar_rule */
  char detail[ASHLAR_FINDING_TEXT]; /* one sentence, terminated */
};

/* The first decision that the manager would have taken otherwise. */
struct ashlar_difference {
  uint64_t event; /* of the `alloc` */
  uint64_t size;  /* bytes requested */
  uint64_t recorded_address;
  uint64_t expected_address; /* of the block chosen; 0 where the device is asked */
  bool expects_device;       /* the manager asks the device for a segment */
  bool recorded_device;      /* the recording did */
};

struct ashlar_audit_device {
  int32_t device;
  /* What decisions tell of the reserved bytes above which there is a collection by age: at least so many, and fewer than
     `collects_below`; UINT64_MAX: nothing was collected. */
  uint64_t collects_from;
  uint64_t collects_below;
  bool has_open_ages; /* one of those decisions hung on ages from before the recording */
  uint64_t segments;  /* listed */
  uint64_t blocks;    /* listed */
  uint64_t events;
  uint64_t allocations; /* agree + differ + undetermined */
  uint64_t agree;
  uint64_t differ;
  uint64_t undetermined;
  uint64_t releases;      /* segment_free events whose order was checked */
  uint64_t live_before;   /* blocks live before the first event */
  uint64_t unknown_sizes; /* of those, blocks whose size stayed an interval */
  uint64_t undetermined_for[ASHLAR_OPEN_COUNT];
  bool has_difference;
  struct ashlar_difference first_difference;
  struct ashlar_finding *findings; /* the first ASHLAR_FINDINGS_KEPT of each rule */
  uint64_t findings_kept;
  uint64_t finding_count_by_rule[ASHLAR_RULE_COUNT]; /* all */
  uint64_t finding_count;                            /* all */
};

enum ashlar_audit_order {
  ASHLAR_AUDIT_ORDER_ADDRESS = 0, /* as enum ashlar_order */
  ASHLAR_AUDIT_ORDER_SEGMENT,
  ASHLAR_AUDIT_ORDER_AUTO
};

struct ashlar_audit_options {
  enum ashlar_audit_order order;
};

/* Owns what it points to; a zeroed struct is a valid empty report. */
struct ashlar_audit {
  char *file;
  struct ashlar_audit_device *devices; /* ascending by device number */
  uint64_t device_count;
  enum ashlar_audit_order order; /* the one used, never AUTO */
  bool order_was_chosen;         /* by AUTO */
  bool has_history;              /* else only the state rules were checked */
  uint8_t format;                /* enum ashlar_snapshot_format */
  uint8_t protocol;              /* of the pickle */
};

/* Audits the snapshot in a file ("-": standard input). *audit is overwritten and is the caller's to
   free with ashlar_audit_free. False: the file cannot be read, or memory is short; then *audit is
   empty and *error says why. Linear in the file, times the logarithm of the blocks for each event;
   reads 32 bytes an event into memory. */
bool ashlar_audit_file(const char *path, const struct ashlar_audit_options *options,
                       struct ashlar_audit *audit, struct ashlar_error *error);

/* The same for a snapshot in memory; `name` is printed as the file. */
bool ashlar_audit_snapshot(const struct ashlar_snapshot *snapshot, const char *name,
                           const struct ashlar_audit_options *options, struct ashlar_audit *audit,
                           struct ashlar_error *error);

void ashlar_audit_free(struct ashlar_audit *audit);

/* 0: nothing found; 1: findings or differences. (2 and 3 are for unusable input and wrong usage.) */
int ashlar_audit_exit_status(const struct ashlar_audit *audit);

/* "REQ-SIZE" and so on; a sentence for an open reason. Static text. */
const char *ashlar_rule_name(unsigned rule);
const char *ashlar_open_reason_text(unsigned reason);

/* Counts a finding and keeps it while there is room; the text is cut where it is too long. Short
   memory loses the text, never the count. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void ashlar_audit_find(struct ashlar_audit_device *device, enum ashlar_rule rule, uint64_t event,
                       uint64_t address, const char *format, ...);

#endif
