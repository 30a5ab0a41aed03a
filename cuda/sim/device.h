/* device.h - the pretend device: hands out segment addresses, counts calls, refuses.
 *
 * There is no memory behind the addresses. Placement is deterministic, so that a replay gives the
 * same addresses every time. In the mode RECORDED the device plays a script: the segments that a
 * recording got and gave back, in its order. It then refuses where the recorded device refused,
 * which a recording shows by the segments released before the next one was handed out.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_CUDA_SIM_DEVICE_H
#define ASHLAR_CUDA_SIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/sim/status.h"

#define ASHLAR_SIM_ALIGNMENT UINT64_C(2097152)     /* of the addresses handed out, bytes */
#define ASHLAR_SIM_ADDRESS_END (UINT64_C(1) << 62) /* no segment ends beyond this */
#define ASHLAR_SIM_DESCENT (UINT64_C(1) << 43)     /* DESCENDING begins so far above `base` */
#define ASHLAR_SIM_UNLIMITED UINT64_MAX            /* as capacity */
#define ASHLAR_SIM_TOUCHING UINT64_C(512)          /* alignment of ADJACENT segments, bytes */

enum {
  ASHLAR_SIM_FREED = 32 /* freed ranges that REUSE remembers; the oldest is forgotten first */
};

enum ashlar_sim_placement {
  ASHLAR_SIM_ASCENDING = 0, /* each segment behind all that came before */
  ASHLAR_SIM_DESCENDING,    /* each segment below all that came before, down to `base` */
  ASHLAR_SIM_FIRST_FIT,     /* the lowest gap: freed ranges are handed out again */
  ASHLAR_SIM_RECORDED,      /* as the script says */
  ASHLAR_SIM_ADJACENT,      /* as ASCENDING, but segments of any size touch, at 512 bytes */
  ASHLAR_SIM_REUSE          /* at the start of the range freed last that is large enough; else as
                               ASCENDING */
};

enum ashlar_sim_script_kind {
  ASHLAR_SIM_SCRIPT_ALLOC = 0, /* the next allocation gets `address`, if it asks for `bytes` */
  ASHLAR_SIM_SCRIPT_FREE,  /* until the segment at `address` is freed, allocations are refused */
  ASHLAR_SIM_SCRIPT_MAP,   /* the next map is of `bytes` bytes at `address` */
  ASHLAR_SIM_SCRIPT_UNMAP, /* until that is unmapped, allocations and maps are refused */
  ASHLAR_SIM_SCRIPT_REFUSE /* allocations are refused up to `position`; `address` bytes free */
};

/* One line of the script. `position` ascends; what it counts is the caller's affair. */
struct ashlar_sim_script_line {
  uint64_t position;
  uint64_t address;
  uint64_t bytes;
  enum ashlar_sim_script_kind kind;
};

struct ashlar_sim_config {
  uint64_t capacity; /* bytes that can be handed out at a time */
  uint64_t base;     /* lowest address; rounded up to ASHLAR_SIM_ALIGNMENT */
  enum ashlar_sim_placement placement;
  const struct ashlar_sim_script_line *script; /* RECORDED: must outlive the device; else NULL */
  size_t script_length;
};

/* A segment that the device has handed out. */
struct ashlar_sim_segment {
  uint64_t address;
  uint64_t bytes;
  uint64_t tag; /* the caller's */
};

struct ashlar_sim_counts {
  uint64_t allocs;  /* calls that handed out a segment */
  uint64_t frees;   /* calls that took one back */
  uint64_t refused; /* allocation calls refused, whatever the reason */
  uint64_t unknown; /* free calls for what is no segment */
  /* RECORDED only: calls that were not the script's next, and lines that were passed over */
  uint64_t off_script;
};

/* Read the fields; change them by the functions below only. */
struct ashlar_sim_device {
  struct ashlar_sim_config config;
  struct ashlar_sim_segment *segments; /* ascending by address */
  size_t segment_count;
  size_t segment_capacity;
  uint64_t used;      /* bytes of all segments, and bytes taken without an address */
  uint64_t taken;     /* the latter alone */
  uint64_t peak_used; /* greatest value of `used` so far */
  uint64_t next; /* ASCENDING: where the next segment goes. DESCENDING: where it ends at most */
  size_t script_next; /* RECORDED: first line not yet played */
  bool placed;        /* whether `place` says where the next segment goes */
  uint64_t place;
  struct ashlar_sim_segment freed[ASHLAR_SIM_FREED]; /* REUSE: ranges freed, the last one last */
  size_t freed_count;
  struct ashlar_sim_counts counts;
};

struct ashlar_sim_result {
  enum ashlar_sim_status status;
  uint64_t address; /* allocate: of the segment; 0 on failure */
  uint64_t bytes;   /* free: of the segment that is gone; 0 on failure */
  uint64_t tag;     /* free: as given when the segment was handed out */
};

/* Makes an empty device. It needs no memory before its first segment. */
void ashlar_sim_init(struct ashlar_sim_device *device, struct ashlar_sim_config config);

/* Releases what the device owns and zeroes *device. */
void ashlar_sim_destroy(struct ashlar_sim_device *device);

/* Asks for a segment. On failure nothing changes but the counts. O(segments). */
struct ashlar_sim_result ashlar_sim_allocate(struct ashlar_sim_device *device, uint64_t bytes,
                                             uint64_t tag);

/* Gives a segment back, by its start address. O(segments). */
struct ashlar_sim_result ashlar_sim_free(struct ashlar_sim_device *device, uint64_t address);

/* Takes over a segment that was handed out before the device's life began; not counted as a call.
   It may exceed the capacity. O(segments). */
enum ashlar_sim_status ashlar_sim_adopt(struct ashlar_sim_device *device, uint64_t address,
                                        uint64_t bytes, uint64_t tag);

/* RECORDED: everything up to `position` has happened; lines up to there that were not played are
   passed over and, unless they are refusals, counted as off script. */
void ashlar_sim_advance(struct ashlar_sim_device *device, uint64_t position);

/* RECORDED: whether the next thing that the script has is a free of the segment at the address. */
bool ashlar_sim_expects_free(const struct ashlar_sim_device *device, uint64_t address);

/* RECORDED: the line of the script that is to be played next; NULL: none is left. */
const struct ashlar_sim_script_line *ashlar_sim_expected(const struct ashlar_sim_device *device);

/* RECORDED: maps, or unmaps, a part of a growable segment. A map is refused where the script has something else. */
enum ashlar_sim_status ashlar_sim_map_scripted(struct ashlar_sim_device *device, uint64_t address,
                                               uint64_t bytes);
void ashlar_sim_unmap_scripted(struct ashlar_sim_device *device, uint64_t address, uint64_t bytes);

/* The next segment that is handed out begins at this address, whatever the placement (RECORDED: no
   effect). An allocation that fails leaves this as it is: OVERLAP or RANGE, where the segment cannot
   be there. */
void ashlar_sim_place_next(struct ashlar_sim_device *device, uint64_t address);

/* Takes memory of the device that has no address yet, or has one that is not its segment's: pieces
   that are mapped elsewhere. OK, RANGE or REFUSED; not counted as a call. */
enum ashlar_sim_status ashlar_sim_take(struct ashlar_sim_device *device, uint64_t bytes);

/* Gives such memory back: OK, or UNKNOWN where less than that is taken. */
enum ashlar_sim_status ashlar_sim_give(struct ashlar_sim_device *device, uint64_t bytes);

/* The segment that holds the address, NULL if none does. O(log segments). */
const struct ashlar_sim_segment *ashlar_sim_segment_at(const struct ashlar_sim_device *device,
                                                       uint64_t address);

/* Bytes that can still be handed out: of the capacity, or what the script's next line says where
   that is a refusal. */
uint64_t ashlar_sim_free_bytes(const struct ashlar_sim_device *device);

/* Zeroes the counts; the segments stay. */
void ashlar_sim_reset_counts(struct ashlar_sim_device *device);

#endif
