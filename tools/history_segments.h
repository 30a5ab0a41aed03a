/* history_segments.h - the segments of one device at one moment, ordered by address and apart.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_HISTORY_SEGMENTS_H
#define ASHLAR_TOOLS_HISTORY_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Why a decision cannot be judged; for some reasons that holds for all in a segment. */
enum ashlar_open_reason {
  ASHLAR_OPEN_NONE = 0,
  ASHLAR_OPEN_SIZE,     /* size of a block from before the recording is not known exactly */
  ASHLAR_OPEN_AGE,      /* ages of segments from before the recording are not known */
  ASHLAR_OPEN_CUT,      /* the recording begins inside the request */
  ASHLAR_OPEN_EVENTS,   /* blocks came back while the request ran, perhaps after its search */
  ASHLAR_OPEN_LOCK,     /* the lock was released during device calls */
  ASHLAR_OPEN_POOL,     /* a private pool that events do not name, or one too many */
  ASHLAR_OPEN_GROWABLE, /* growable segments whose ranges are not known */
  ASHLAR_OPEN_STREAMS,  /* more streams than a manager holds */
  ASHLAR_OPEN_CAPACITY, /* more blocks than a manager holds */
  ASHLAR_OPEN_SETTINGS, /* the recorded settings are not allowed */
  ASHLAR_OPEN_SEGMENT,  /* the segment as listed breaks a state rule and cannot be followed */
  ASHLAR_OPEN_DAMAGE,   /* too damaged to be followed any further */
  ASHLAR_OPEN_COUNT
};

struct ashlar_segment_record {
  uint64_t address;
  uint64_t size;       /* bytes, > 0 */
  int32_t slot;        /* first block in the manager, -1: not held by it */
  uint32_t generation; /* of that block when the segment was made */
  uint16_t stream;     /* index into ashlar_snapshot.streams */
  uint16_t pool;       /* index into ashlar_snapshot.pools */
  uint8_t class;       /* ASHLAR_CLASS_SMALL or ASHLAR_CLASS_LARGE */
  uint8_t reason;   /* why its allocations are not judged, enum ashlar_open_reason; 0: they are */
  bool is_old;      /* was there before the first event */
  bool is_inferred; /* known only because it is released later */
  bool is_growable; /* a range of addresses, of which parts are mapped */
  uint64_t mapped;  /* bytes, of a range; of a part of one what the user says */
};

/* A zeroed struct is a valid empty set. */
struct ashlar_segment_set {
  struct ashlar_segment_record *records; /* stable places; some are spare */
  uint32_t *order; /* [0, count): places ascending by address, then spare ones */
  uint32_t count;
  uint32_t capacity;
};

/* Releases everything and zeroes *set. */
void ashlar_segments_free(struct ashlar_segment_set *set);

/* The segment that contains the address, or NULL. O(log segments). Pointers to records stay valid
   until the next insertion. */
struct ashlar_segment_record *ashlar_segments_at(const struct ashlar_segment_set *set,
                                                 uint64_t address);

/* The segment that starts at the address, or NULL. O(log segments). */
struct ashlar_segment_record *ashlar_segments_find(const struct ashlar_segment_set *set,
                                                   uint64_t address);

/* A segment that shares a byte with [address, address + size), or NULL; address + size does not
   wrap. O(log segments). */
struct ashlar_segment_record *ashlar_segments_overlapping(const struct ashlar_segment_set *set,
                                                          uint64_t address, uint64_t size);

enum ashlar_segments_result {
  ASHLAR_SEGMENTS_ADDED,
  ASHLAR_SEGMENTS_OVERLAP,  /* it is empty or not apart from the others; nothing was added */
  ASHLAR_SEGMENTS_NO_MEMORY /* nothing was added */
};

/* Adds a segment. O(segments) moves of four bytes. */
enum ashlar_segments_result ashlar_segments_add(struct ashlar_segment_set *set,
                                                const struct ashlar_segment_record *record);

/* Removes a segment that one of the functions above returned. O(segments) moves of four bytes. */
void ashlar_segments_remove(struct ashlar_segment_set *set,
                            const struct ashlar_segment_record *record);

/* The k-th segment by address, k < count. O(1). */
struct ashlar_segment_record *ashlar_segments_nth(const struct ashlar_segment_set *set, uint32_t k);

/* Makes *copy an independent copy of *set. False when memory is short; then *copy is empty. */
bool ashlar_segments_copy(struct ashlar_segment_set *copy, const struct ashlar_segment_set *set);

#endif
