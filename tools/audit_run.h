/* audit_run.h - one device's history being replayed on a block manager: state shared by the audit's
 * parts, and the operations that make the manager's state the recorded one.
 *
 * Private to audit*.c. The manager holds the segments and ranges of all pools that the recording lets it follow. Blocks
 * elsewhere (pools that events do not name, growable segments switched on in between, damaged segments) are only known
 * by address; they are called strays.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_AUDIT_RUN_H
#define ASHLAR_TOOLS_AUDIT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block_manager.h"
#include "tools/audit.h"
#include "tools/caller.h"
#include "tools/history.h"

/* What the audit knows of the block in a slot. */
enum {
  ASHLAR_MARK_PENDING = 1,     /* free requested, not completed */
  ASHLAR_MARK_INFERRED = 2,    /* live before the recording, known only from its free */
  ASHLAR_MARK_OPEN = 4,        /* its end is not known exactly; it is in `open` */
  ASHLAR_MARK_UNREQUESTED = 8, /* the file does not say what was requested */
  ASHLAR_MARK_OLD = 16 /* live before the recording: its free may have been requested then */
};

#define ASHLAR_ASKS_DEVICE UINT64_MAX /* in place of the address of a block */

/* Notes of strays (struct ashlar_live.note). */
enum { ASHLAR_STRAY_PENDING = 1, ASHLAR_STRAY_FAULTY = 2 /* has its finding already */ };

/* A block from before the recording whose size is in [low, high]. The manager has it at `high`, so
   that the free block behind it (the gap) is as small as it can be. */
struct ashlar_open_block {
  uint64_t address;
  uint64_t low;
  uint64_t high;
  int32_t slot;
  bool is_live;
  bool is_near; /* in `near`: the gap may be large enough to serve a request */
};

/* An inferred block that was freed on trial. */
struct ashlar_trial {
  uint64_t address;
  uint64_t size;
  uint64_t requested;
  uint8_t marks;
};

enum { ASHLAR_TRIALS = 32 /* blocks freed on trial at a time */ };

/* A block of the recording that the audit does not follow, because it takes its place for wrong. */
struct ashlar_phantom {
  uint64_t address;
  uint64_t size;
  uint64_t event;
};

enum { ASHLAR_PHANTOMS = 32 };

/* An allocation being judged. */
struct ashlar_audit_request {
  uint64_t event;   /* of the `alloc` */
  uint64_t address; /* recorded */
  uint64_t bytes;   /* requested, at least 1 */
  uint64_t size;    /* rounded; 0: above the greatest request */
  int32_t stream;   /* numbers in the manager */
  int32_t pool;
  int32_t class;  /* ASHLAR_CLASS_… */
  uint16_t owner; /* the pool whose request it is, an index of the snapshot; 0: the default pool */
};

/* Ages of free blocks, and what earlier collections have told of the bytes above which there is one. */
struct ashlar_audit_ages {
  uint64_t
      *entered; /* by slot: searches when the block entered its list; NULL: nothing is collected */
  uint64_t searches; /* in the default pool's large class */
  uint64_t least;    /* the bound is at least this, */
  uint64_t most;     /* and below this */
  uint64_t request;  /* the alloc or failure for which a collection was looked for last */
  bool is_open;      /* there, an age was not known */
  bool was_open;     /* somewhere, one was not */
};

struct ashlar_audit_run {
  const struct ashlar_device_part *part;
  const struct ashlar_history *history;
  struct ashlar_config config;
  struct ashlar_audit_device *result;
  struct ashlar_manager *manager;
  uint8_t *marks; /* by slot */
  struct ashlar_segment_set segments;
  struct ashlar_live_table strays;
  int32_t *streams;                      /* by index of the snapshot: number, or a value below 0 */
  int32_t *pools;                        /* likewise */
  uint16_t stream_names[ASHLAR_STREAMS]; /* index of the snapshot by number */
  uint16_t pool_names[ASHLAR_POOL_NUMBERS];
  struct ashlar_open_block *open; /* ascending by address */
  uint64_t open_count;
  uint64_t open_live;
  uint64_t *near; /* places in `open` */
  uint64_t near_count;
  struct ashlar_trial trials[ASHLAR_TRIALS];
  uint64_t trial_count;
  struct ashlar_phantom phantoms[ASHLAR_PHANTOMS];
  uint64_t phantom_count;
  uint64_t suspect;       /* address of the segment that was expected last, against the recording */
  uint64_t suspect_count; /* how often in a row */
  uint64_t conflict;      /* place in history->conflicts of the next one */
  uint64_t conflict_event; /* its event, ASHLAR_NO_EVENT: none */
  uint64_t first_event;    /* that tells of memory */
  uint64_t old_ages;       /* segments with a lower age were there before; 0 in address order */
  struct ashlar_live_table older; /* pairs of old segments, older one first, as (age << 32) + age */
  uint64_t ties_open;    /* choices between segments of unknown age, and releases of such */
  uint64_t only_segment; /* decisions that segment order explains and address order does not */
  uint64_t only_address; /* the other way round; both are counted in segment order */
  uint64_t reserved;     /* bytes of all segments */
  struct ashlar_audit_ages ages;
  uint64_t steps_left; /* of searches that only damage makes necessary, see ashlar_run_spend */
  uint64_t ladder;     /* the alloc or failure for which memory was released last, perhaps */
  uint64_t next_life;  /* place in history->ranges of the range that begins next */
  bool has_private;    /* private pools are listed */
  uint8_t blind;       /* enum ashlar_open_reason: nothing can be judged any more */
  bool is_out_of_memory;
};

/* --- audit_world.c: making and keeping the recorded state --- */

/* Counts steps of a search. Damaged recordings need many; once a generous number is used up, the rest of
   the recording is not judged, so that no input takes for ever. */
void ashlar_run_spend(struct ashlar_audit_run *run, uint64_t steps);

/* Starts with the state before the first event. *run is overwritten; ashlar_run_stop frees what it
   holds. False when memory is short. */
bool ashlar_run_start(struct ashlar_audit_run *run, const struct ashlar_device_part *part,
                      const struct ashlar_history *history, const struct ashlar_config *config,
                      struct ashlar_audit_device *result);
void ashlar_run_stop(struct ashlar_audit_run *run);

/* Numbers in the manager of a stream and of a pool of the snapshot; below 0 where it has no room for one more. */
int32_t ashlar_run_stream(struct ashlar_audit_run *run, uint16_t index);
int32_t ashlar_run_pool(struct ashlar_audit_run *run, uint16_t index);

/* Handle of a stream, by its number. */
uint64_t ashlar_run_handle(const struct ashlar_audit_run *run, int32_t stream);

/* Who makes requests of a pool, by its number. */
struct ashlar_caller ashlar_run_caller(int32_t pool);

/* Why blocks in such a segment cannot be followed: the manager has no room for its stream or pool. */
enum ashlar_open_reason ashlar_run_no_room(struct ashlar_audit_run *run, uint16_t pool,
                                           uint16_t stream);

/* The first memory that is released of a pool, by its number, and what comes behind that in `slot`: a segment that is one
   free block, or the whole pages of a free block of a growable one. -1: none. */
int32_t ashlar_run_first_release(const struct ashlar_audit_run *run, int32_t pool);
int32_t ashlar_run_next_release(const struct ashlar_audit_run *run, int32_t slot);

/* Slot of the block of a held segment that contains the address. Linear in the segment's blocks. */
int32_t ashlar_run_block_at(struct ashlar_audit_run *run,
                            const struct ashlar_segment_record *segment, uint64_t address);

/* Frees the allocated block in a slot and forgets its marks. */
void ashlar_run_release(struct ashlar_audit_run *run, int32_t slot);

/* Adds a segment that the manager holds as one free block: address, size, stream, pool and class of *wanted. NULL: not
   apart, not aligned, or no room. */
struct ashlar_segment_record *ashlar_run_add_segment(struct ashlar_audit_run *run,
                                                     const struct ashlar_segment_record *wanted);

/* Removes a segment; one that the manager holds must be one free block, else nothing happens and
   false is returned. */
bool ashlar_run_remove_segment(struct ashlar_audit_run *run, struct ashlar_segment_record *segment);

/* Tells that the manager wanted the free block in `slot` and the recording did not. True: it is a whole
   segment that nothing but its later release tells of, this has happened again and again, and it was
   removed. That release will be the finding. */
bool ashlar_run_suspect(struct ashlar_audit_run *run, int32_t slot);

/* Puts the recorded block where the recording has it; live blocks in its way are freed. Where that is
   not possible it becomes a stray. */
void ashlar_run_adopt(struct ashlar_audit_run *run, const struct ashlar_audit_request *request);

/* Frees a block on trial; ashlar_run_put_back makes up for it. */
void ashlar_run_try_release(struct ashlar_audit_run *run, int32_t slot);

/* Puts the blocks that were freed on trial back where they were. */
void ashlar_run_put_back(struct ashlar_audit_run *run);

/* Frees the blocks in [address, address + size) of the segment on trial if all that are live there were
   only inferred from a later free. True: the range is free now and was not before. */
bool ashlar_run_retract(struct ashlar_audit_run *run, const struct ashlar_segment_record *segment,
                        uint64_t address, uint64_t size);

/* Remembers a live block that the manager does not hold. False: one starts there already. */
bool ashlar_run_add_stray(struct ashlar_audit_run *run, uint64_t address, uint64_t requested,
                          uint64_t note);

/* The conflict of the event, NULL: none. Events are asked in ascending order. */
const struct ashlar_conflict *ashlar_run_conflict(struct ashlar_audit_run *run, uint64_t event);

/* --- counting --- */

void ashlar_run_agree(struct ashlar_audit_run *run);
void ashlar_run_undetermined(struct ashlar_audit_run *run, enum ashlar_open_reason reason);
/* `expected`: address of the block that the manager takes, or ASHLAR_ASKS_DEVICE. */
void ashlar_run_differ(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                       uint64_t expected, bool recorded_device);

/* --- audit_open.c: what a recording from the middle leaves open --- */

/* The manager took the block of the recording, now in `slot`. Whether it would have taken it whatever
   the unknown sizes and ages are: ASHLAR_OPEN_NONE, or why not. `differs`: it cannot have. */
enum ashlar_open_reason ashlar_open_after_match(struct ashlar_audit_run *run,
                                                const struct ashlar_audit_request *request,
                                                int32_t slot, bool *differs);

/* The manager would ask the device, and so did the recording. */
enum ashlar_open_reason ashlar_open_after_miss(struct ashlar_audit_run *run,
                                               const struct ashlar_audit_request *request);

/* The manager takes the free block `choice` (-1: asks the device), the recording the free block
   `recorded`. ASHLAR_OPEN_NONE: they differ, whatever is unknown. *agrees: unknown ages that earlier
   decisions have told say that the recording is right. */
enum ashlar_open_reason ashlar_open_after_mismatch(struct ashlar_audit_run *run,
                                                   const struct ashlar_audit_request *request,
                                                   int32_t choice, int32_t recorded, bool *agrees);

/* Tells that a block begins to matter: the gap behind the open block in `slot` changed. */
void ashlar_open_consider(struct ashlar_audit_run *run, int32_t slot);

/* Forgets the open block in `slot`, which is about to be freed; restore takes that back. */
void ashlar_open_forget(struct ashlar_audit_run *run, int32_t slot);
void ashlar_open_restore(struct ashlar_audit_run *run, int32_t slot);

/* --- audit_allocation.c --- */

/* Judges an alloc that is served by what is there. */
void ashlar_run_alloc(struct ashlar_audit_run *run, uint64_t event);

/* Fills *request from an alloc; a reason where its stream has no number. */
enum ashlar_open_reason ashlar_request_of(struct ashlar_audit_run *run, uint64_t event,
                                          struct ashlar_audit_request *request);

/* Takes a decision of the manager back. */
void ashlar_request_undo(struct ashlar_audit_run *run, const struct ashlar_step *step);

/* Makes the request of the manager; what it would take, without making it (-1: asks the device). */
struct ashlar_step ashlar_request_begin(struct ashlar_audit_run *run,
                                        const struct ashlar_audit_request *request);
int32_t ashlar_request_choose(const struct ashlar_audit_run *run,
                              const struct ashlar_audit_request *request);

/* Deals with an error of the manager: the request is impossible, or its tables are full. */
void ashlar_request_refuse(struct ashlar_audit_run *run, const struct ashlar_audit_request *request,
                           const struct ashlar_step *step);

/* Finds fault with a block that nothing tells of later, although it is not in the list. */
void ashlar_request_find_lost(struct ashlar_audit_run *run,
                              const struct ashlar_audit_request *request);

/* --- audit_collection.c: collection by age --- */

/* Follows ages, if the recording says that something is collected. False: memory is short. */
bool ashlar_ages_start(struct ashlar_audit_run *run);

/* A search in a pool (an index of the snapshot) and class; a free block that has entered its list. */
void ashlar_ages_search(struct ashlar_audit_run *run, uint16_t pool, int32_t class);
void ashlar_ages_enter(struct ashlar_audit_run *run, int32_t slot);

/* The rest of a block that was split, if it was. */
void ashlar_ages_enter_rest(struct ashlar_audit_run *run, int32_t slot);

/* Looks whether the releases in [begin, end) begin with a collection for the request, which cannot be served; gives the event behind it. Nothing is released by this. */
uint64_t ashlar_collection_match(struct ashlar_audit_run *run, uint64_t begin, uint64_t end,
                                 const struct ashlar_audit_request *request);

/* Whether ages were not known there. */
bool ashlar_collection_is_open(const struct ashlar_audit_run *run);

/* The request at the event could not be served. If nothing was released for it, nothing had to be collected. */
void ashlar_collection_miss(struct ashlar_audit_run *run, uint64_t request);

/* --- audit_growable.c --- */

/* Adds a range of which nothing is mapped. NULL: not apart, or no room. */
struct ashlar_segment_record *ashlar_run_add_range(struct ashlar_audit_run *run,
                                                   const struct ashlar_range_life *life);

/* Maps a part of a range. False: it is in none, or mapped already. */
bool ashlar_run_map(struct ashlar_audit_run *run, uint64_t address, uint64_t size);

/* Unmaps a part of the free block in `slot`. A range of which nothing is mapped any more is gone. False: it is not free. */
bool ashlar_run_unmap(struct ashlar_audit_run *run, struct ashlar_segment_record *record,
                      int32_t slot, uint64_t address, uint64_t size);

/* Where a request begins that its range may serve without a search, as it is after the ladder: the slot of an open block, -1:
   nowhere. */
int32_t ashlar_run_growing(const struct ashlar_audit_run *run,
                           const struct ashlar_audit_request *request);

/* Judges the segment_map events of one request, and its alloc if that comes right behind; index of the next event. */
uint64_t ashlar_run_segment_map(struct ashlar_audit_run *run, uint64_t event);

/* --- audit_segment.c --- */

/* Why the manager may see a block that the recorded search did not, before the device was asked at the event. */
enum ashlar_open_reason ashlar_request_excuse(const struct ashlar_audit_run *run, uint64_t event,
                                              int32_t choice);

/* Judges a segment_alloc together with the alloc behind it; index of the next event. */
uint64_t ashlar_run_segment_alloc(struct ashlar_audit_run *run, uint64_t event);

/* --- audit_release.c --- */

/* Judges a run of segment_free and segment_unmap events; index of the next event. */
uint64_t ashlar_run_segment_free(struct ashlar_audit_run *run, uint64_t event);

void ashlar_run_oom(struct ashlar_audit_run *run, uint64_t event);

/* Whether the pool, an index of the snapshot, is one of captures. */
bool ashlar_run_is_graph(const struct ashlar_audit_run *run, uint16_t pool);

/* Whether the free block may have come back while the request at `event` was being served, so that its
   search did not see it: when the ladder waits for events. `is_retried`: the device had memory in the
   end, so something was released after that. */
bool ashlar_run_came_late(const struct ashlar_audit_run *run, uint64_t event, int32_t slot,
                          bool is_retried);

/* --- audit_events.c --- */

/* Replays the events. False when memory is short. */
bool ashlar_run_events(struct ashlar_audit_run *run);
void ashlar_run_free_completed(struct ashlar_audit_run *run, uint64_t event);

/* --- audit_final.c --- */

/* Compares the state that the events lead to with the one listed. */
void ashlar_run_compare(struct ashlar_audit_run *run);

#endif
