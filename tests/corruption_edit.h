/* corruption_edit.h - what the kinds of corruption.h are made with: places for a fault, and edits.
 *
 * Private to tests/corruption*.c.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_CORRUPTION_EDIT_H
#define ASHLAR_TESTS_CORRUPTION_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/corruption.h"

/* Whose memory it is: indices of the snapshot. */
struct ashlar_owner {
  uint16_t stream;
  uint16_t pool;
};

/* Whether segments grow in the recording; whether some are released for their age. */
bool ashlar_grows(const struct ashlar_corruption *corruption);
bool ashlar_collects(const struct ashlar_corruption *corruption);

struct ashlar_owner ashlar_owner_of(const struct ashlar_world_segment *segment);
struct ashlar_owner ashlar_owner_of_event(const struct ashlar_event *event);

/* A number below `end`, which is not 0. */
uint64_t ashlar_draw(struct ashlar_corruption *corruption, uint64_t end);

/* A multiple of 512, at least 512 and at most `most`, which is at least 512. */
uint64_t ashlar_draw_granules(struct ashlar_corruption *corruption, uint64_t most);

/* Where a finding is expected. */
void ashlar_expect_event(struct ashlar_corruption *corruption, uint64_t event);
void ashlar_expect_range(struct ashlar_corruption *corruption, uint64_t low, uint64_t size);

/* --- places in the recording --- */

/* Puts the fault at an event, with corruption->world as it is before the event, or returns false.
   */
typedef bool (*ashlar_event_try)(struct ashlar_corruption *corruption, uint64_t event);

/* Tries the events from a drawn one on, around the end, until one will do. */
bool ashlar_seek_event(struct ashlar_corruption *corruption, ashlar_event_try try_event);

/* Lets corruption->world be the final state. */
void ashlar_seek_end(struct ashlar_corruption *corruption);

/* Puts the fault at a block of the final listing, or returns false. `segment` is an index into the
   listing, `block` one into the blocks of the segment. */
typedef bool (*ashlar_block_try)(struct ashlar_corruption *corruption, uint64_t segment,
                                 uint64_t block);

/* Tries the listed blocks of the device from a drawn segment on, with corruption->world as it is
   in the end. */
bool ashlar_seek_block(struct ashlar_corruption *corruption, ashlar_block_try try_block);

/* Whether a free block may be chosen as `data` has it. */
typedef bool (*ashlar_free_test)(const struct ashlar_corruption *corruption, const void *data,
                                 const struct ashlar_world_segment *segment, size_t index);

/* A drawn block of corruption->world, free and of known extent, that passes; NULL in place of the
   segment: there is none. */
struct ashlar_world_place ashlar_pick_free(struct ashlar_corruption *corruption,
                                           ashlar_free_test test, const void *data);

/* --- about events of the good recording --- */

const struct ashlar_event *ashlar_event_of(const struct ashlar_corruption *corruption,
                                           uint64_t event);
uint8_t ashlar_action_of(const struct ashlar_corruption *corruption, uint64_t event);

/* The event before that tells of memory, ASHLAR_NO_EVENT: none. */
uint64_t ashlar_event_before(const struct ashlar_corruption *corruption, uint64_t event);

/* More than the event or two that a recording leaves behind that was never enabled. */
bool ashlar_has_history(const struct ashlar_corruption *corruption);

/* Whether no request is under way before the event: something may be inserted here. */
bool ashlar_is_quiet(const struct ashlar_corruption *corruption, uint64_t event);

/* The same, and the event before is an alloc: nothing came back in between, unseen by a search. */
bool ashlar_is_settled(const struct ashlar_corruption *corruption, uint64_t event);

/* The first event of an action at an address after `event`, ASHLAR_NO_EVENT: none. Ends at the
   next alloc there. */
uint64_t ashlar_next_at(const struct ashlar_corruption *corruption, uint64_t event,
                        uint64_t address, uint8_t action);

/* The free_requested of the free_completed at `event`, ASHLAR_NO_EVENT: not recorded. */
uint64_t ashlar_request_of_free(const struct ashlar_corruption *corruption, uint64_t event);

/* Whether a block that starts in [low, high) was allocated before the event. Where it is free by
   then, that leaves no room for one that was live all the time. */
bool ashlar_was_used(const struct ashlar_corruption *corruption, uint64_t event, uint64_t low,
                     uint64_t high);

/* Whether the memory that the alloc at the event takes is known to have been free: it belongs to a
   segment from the recording, or was allocated before and freed. Only then no block from before the
   recording can be meant. With corruption->world at or behind the event. */
bool ashlar_was_free(const struct ashlar_corruption *corruption, uint64_t event);

/* Whether any segment but the one that starts at `address` was ever in [address, address + size).
   */
bool ashlar_is_shared(const struct ashlar_corruption *corruption, uint64_t address, uint64_t size);

/* An address where no segment ever was, with 64 GiB of such addresses behind it. */
uint64_t ashlar_fresh_address(struct ashlar_corruption *corruption);

/* Index of a stream that is not the given one: another of the recording's, or a new one. */
uint16_t ashlar_other_stream(struct ashlar_corruption *corruption, uint16_t stream);

/* --- edits of the faulty snapshot --- */

/* The events of the device in the faulty snapshot. */
struct ashlar_event *ashlar_faulty_events(struct ashlar_corruption *corruption);

/* Inserts an event before the one at `index`. Its time is that of its neighbour. */
void ashlar_insert_event(struct ashlar_corruption *corruption, uint64_t index,
                         const struct ashlar_event *event);
void ashlar_remove_event(struct ashlar_corruption *corruption, uint64_t index);

/* An event as the recording would have it; OTHER than the given values as in a neighbour. */
struct ashlar_event ashlar_new_event(const struct ashlar_corruption *corruption, uint8_t action,
                                     uint64_t address, uint64_t size, struct ashlar_owner owner);

struct ashlar_segment *ashlar_faulty_segment(struct ashlar_corruption *corruption,
                                             uint64_t segment);
struct ashlar_block *ashlar_faulty_block(struct ashlar_corruption *corruption, uint64_t segment,
                                         uint64_t block);
void ashlar_insert_block(struct ashlar_corruption *corruption, uint64_t segment, uint64_t index,
                         const struct ashlar_block *block);
void ashlar_remove_block(struct ashlar_corruption *corruption, uint64_t segment, uint64_t index);

/* Lets the sums of a listed segment be those of its blocks; its total only where asked. */
void ashlar_sum_up(struct ashlar_corruption *corruption, uint64_t segment, bool with_total);

/* Lists a segment of one free block. */
void ashlar_list_free_segment(struct ashlar_corruption *corruption, uint64_t address, uint64_t size,
                              struct ashlar_owner owner);

/* Removes a listed segment with its blocks. */
void ashlar_unlist_segment(struct ashlar_corruption *corruption, uint64_t segment);

/* Index of the listed segment of the device that starts at the address, ASHLAR_NO_EVENT: none. */
uint64_t ashlar_listed_at(const struct ashlar_corruption *corruption, uint64_t address);

/* Lists the blocks of a segment as they are in a world. */
void ashlar_list_as(struct ashlar_corruption *corruption,
                    const struct ashlar_world_segment *segment);

#endif
