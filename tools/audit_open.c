/* audit_open.c - see audit_run.h: unknown sizes and unknown ages.
 *
 * The gap behind an open block is a free block of some size in [least, greatest], of which all sizes
 * between are possible, in steps of 512. Gaps do not influence each other, so a decision is settled
 * when no gap, at its most favourable size, would have been preferred to the block that was taken.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/audit_run.h"

enum { TIES_LOOKED_AT = 64 };

/* --- unknown sizes --- */

static struct ashlar_open_block *open_of_slot(const struct ashlar_audit_run *run, int32_t slot)
{
  const uint64_t address = run->manager->addr[slot];
  uint64_t low = 0;
  uint64_t high = run->open_count;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (run->open[middle].address <= address) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &run->open[low];
}

/* Bytes of the gap as the manager has it, the least possible. */
static uint64_t least_gap(const struct ashlar_audit_run *run, const struct ashlar_open_block *block)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t behind = manager->next[block->slot];
  return behind >= 0 && manager->state[behind] == ASHLAR_FREE ? manager->size[behind] : 0;
}

static uint64_t greatest_gap(const struct ashlar_audit_run *run,
                             const struct ashlar_open_block *block)
{
  return least_gap(run, block) + (block->high - block->low);
}

/* A gap up to this size serves nobody: open blocks are in the large pool only. */
static bool matters(const struct ashlar_audit_run *run, const struct ashlar_open_block *block)
{
  return block->is_live && block->low < block->high &&
         greatest_gap(run, block) > ASHLAR_SMALL_LIMIT;
}

void ashlar_open_consider(struct ashlar_audit_run *run, int32_t slot)
{
  struct ashlar_open_block *block = open_of_slot(run, slot);
  if (!block->is_near && matters(run, block)) {
    block->is_near = true;
    run->near[run->near_count] = (uint64_t)(block - run->open);
    run->near_count++;
  }
}

void ashlar_open_forget(struct ashlar_audit_run *run, int32_t slot)
{
  struct ashlar_open_block *block = open_of_slot(run, slot);
  block->is_live = false;
  run->open_live--;
}

void ashlar_open_restore(struct ashlar_audit_run *run, int32_t slot)
{
  struct ashlar_open_block *block = open_of_slot(run, slot);
  block->slot = slot;
  block->is_live = true;
  run->open_live++;
  ashlar_open_consider(run, slot);
}

/* Drops the gaps that no longer matter. */
static void sweep_near(struct ashlar_audit_run *run)
{
  uint64_t kept = 0;
  ashlar_run_spend(run, run->near_count);
  for (uint64_t i = 0; i < run->near_count; i++) {
    struct ashlar_open_block *block = &run->open[run->near[i]];
    if (matters(run, block)) {
      run->near[kept] = run->near[i];
      kept++;
    } else {
      block->is_near = false;
    }
  }
  run->near_count = kept;
}

/* The recording did not take the gap, so it was too small, where nothing else explains that. */
static void narrow_below(const struct ashlar_audit_run *run, struct ashlar_open_block *block,
                         uint64_t size)
{
  const uint64_t end = block->high + least_gap(run, block);
  block->low = end - (size - ASHLAR_GRANULE);
}

static bool is_in_list(const struct ashlar_audit_run *run, const struct ashlar_open_block *block,
                       const struct ashlar_audit_request *request)
{
  return run->manager->home[block->slot] ==
         ashlar_home(request->pool, request->class, request->stream);
}

/* The open block whose gap is the free block in `slot`, or NULL. */
static struct ashlar_open_block *open_before(const struct ashlar_audit_run *run, int32_t slot)
{
  const int32_t before = run->manager->prev[slot];
  if (run->open_live == 0 || before < 0 || (run->marks[before] & ASHLAR_MARK_OPEN) == 0) {
    return NULL;
  }
  struct ashlar_open_block *block = open_of_slot(run, before);
  return block->low < block->high ? block : NULL;
}

/* Whether two segments are there from before the recording, so that nobody knows which is older. */
static bool are_ages_unknown(const struct ashlar_audit_run *run, uint64_t age, uint64_t other)
{
  return age < run->old_ages && other < run->old_ages && age != other;
}

/* Whether a free block of `size` at `address` of the age may come before another in free-list order. */
static bool may_come_before(const struct ashlar_audit_run *run, uint64_t size, uint64_t age,
                            uint64_t address, uint64_t other_size, uint64_t other_age,
                            uint64_t other_address)
{
  if (size == other_size && are_ages_unknown(run, age, other_age)) {
    return true;
  }
  if (size != other_size) {
    return size < other_size;
  }
  return age != other_age ? age < other_age : address < other_address;
}

static enum ashlar_open_reason gaps_after_match(struct ashlar_audit_run *run,
                                                const struct ashlar_audit_request *request,
                                                int32_t slot, uint64_t taken)
{
  const struct ashlar_manager *manager = run->manager;
  enum ashlar_open_reason reason = ASHLAR_OPEN_NONE;
  sweep_near(run);
  for (uint64_t i = 0; i < run->near_count; i++) {
    struct ashlar_open_block *block = &run->open[run->near[i]];
    const uint64_t least = least_gap(run, block);
    const uint64_t greatest = greatest_gap(run, block);
    if (!is_in_list(run, block, request) || least >= request->size || greatest < request->size) {
      continue; /* too small at any size, or adequate already and yet not preferred */
    }
    const uint64_t end = block->address + block->high + least;
    if (may_come_before(run, request->size, manager->age[block->slot], end - request->size, taken,
                        manager->age[slot], manager->addr[slot])) {
      reason = ASHLAR_OPEN_SIZE;
      if (greatest < taken) {
        narrow_below(run, block, request->size);
      }
    }
  }
  return reason;
}

enum ashlar_open_reason ashlar_open_after_miss(struct ashlar_audit_run *run,
                                               const struct ashlar_audit_request *request)
{
  enum ashlar_open_reason reason = ASHLAR_OPEN_NONE;
  if (run->near_count == 0 || request->class != ASHLAR_CLASS_LARGE) {
    return reason;
  }
  sweep_near(run);
  for (uint64_t i = 0; i < run->near_count; i++) {
    struct ashlar_open_block *block = &run->open[run->near[i]];
    if (is_in_list(run, block, request) && least_gap(run, block) < request->size &&
        greatest_gap(run, block) >= request->size) {
      reason = ASHLAR_OPEN_SIZE;
      narrow_below(run, block, request->size);
    }
  }
  return reason;
}

/* The gaps that the manager prefers to the recorded block may have been larger than that one: makes
   them as large as they can be, one after the other, and sees whether the recorded block is chosen. */
static enum ashlar_open_reason gaps_after_mismatch(struct ashlar_audit_run *run,
                                                   const struct ashlar_audit_request *request,
                                                   int32_t choice, int32_t recorded)
{
  struct ashlar_manager *manager = run->manager;
  enum ashlar_open_reason reason = ASHLAR_OPEN_NONE;
  for (uint64_t tries = run->near_count; tries > 0 && choice >= 0; tries--) {
    const struct ashlar_open_block *block = open_before(run, choice);
    if (block == NULL || manager->size[block->slot] != block->high ||
        ashlar_resize(manager, block->slot, block->low) != ASHLAR_OK) {
      break;
    }
    choice = ashlar_request_choose(run, request);
    if (choice >= 0 && (choice == recorded ||
                        (manager->size[choice] == manager->size[recorded] &&
                         are_ages_unknown(run, manager->age[choice], manager->age[recorded])))) {
      reason = ASHLAR_OPEN_SIZE;
      break;
    }
  }
  for (uint64_t i = 0; i < run->near_count; i++) {
    const struct ashlar_open_block *block = &run->open[run->near[i]];
    if (block->is_live && manager->size[block->slot] != block->high) {
      (void)ashlar_resize(manager, block->slot, block->high);
    }
  }
  return reason;
}

/* --- unknown ages --- */

enum tie { TIE_AGREES, TIE_DIFFERS, TIE_OPEN };

static bool is_known_older(const struct ashlar_audit_run *run, uint64_t older, uint64_t younger)
{
  return ashlar_live_find(&run->older, (older << 32) + younger) != NULL;
}

/* The recording took a block of the old segment `age` although one of the same size was free in the
   old segment `other`: then `age` is the older one, unless the opposite is known. */
static enum tie compare_ages(struct ashlar_audit_run *run, uint64_t age, uint64_t other)
{
  if (is_known_older(run, other, age)) {
    return TIE_DIFFERS;
  }
  if (is_known_older(run, age, other)) {
    return TIE_AGREES;
  }
  if (ashlar_live_add(&run->older, (age << 32) + other) == NULL) {
    run->is_out_of_memory = true;
  }
  return TIE_OPEN;
}

/* Judges the choice of a block at (age, address) against the free blocks of its size in old
   segments. The block itself may be among them. */
static enum tie judge_tie(struct ashlar_audit_run *run, int32_t list, uint64_t size, uint64_t age,
                          uint64_t address)
{
  const struct ashlar_manager *manager = run->manager;
  enum tie result = TIE_AGREES;
  int32_t slot = ashlar_index_best(manager, list, size);
  for (int looked_at = 0;
       slot >= 0 && manager->size[slot] == size && manager->age[slot] < run->old_ages;
       looked_at++) {
    if (looked_at == TIES_LOOKED_AT) {
      return TIE_OPEN;
    }
    if (open_before(run, slot) != NULL) {
      result = TIE_OPEN; /* it may be larger */
    } else if (manager->age[slot] != age) {
      const enum tie one = compare_ages(run, age, manager->age[slot]);
      if (one == TIE_DIFFERS) {
        return one;
      }
      if (one == TIE_OPEN) {
        result = one;
      }
    } else if (manager->addr[slot] < address) {
      return TIE_DIFFERS;
    }
    slot = ashlar_index_after(manager, list, size, manager->age[slot], manager->addr[slot]);
  }
  return result;
}

/* Whether address order would have taken another block of the same size. */
static bool is_evidence(const struct ashlar_audit_run *run, int32_t list, uint64_t size,
                        uint64_t address)
{
  const struct ashlar_manager *manager = run->manager;
  int32_t slot = ashlar_index_best(manager, list, size);
  for (int looked_at = 0; slot >= 0 && manager->size[slot] == size && looked_at < TIES_LOOKED_AT;
       looked_at++) {
    if (manager->addr[slot] < address) {
      return true;
    }
    slot = ashlar_index_after(manager, list, size, manager->age[slot], manager->addr[slot]);
  }
  return false;
}

enum ashlar_open_reason ashlar_open_after_match(struct ashlar_audit_run *run,
                                                const struct ashlar_audit_request *request,
                                                int32_t slot, bool *differs)
{
  const struct ashlar_manager *manager = run->manager;
  const int32_t rest = manager->next[slot];
  uint64_t taken = manager->size[slot];
  *differs = false;
  if (manager->growable[slot] != 0) {
    return ASHLAR_OPEN_NONE; /* all sizes are known, and a list has one range */
  }
  if (rest >= 0 && manager->state[rest] == ASHLAR_FREE) {
    taken += manager->size[rest];
  }
  if (run->near_count > 0 && request->class == ASHLAR_CLASS_LARGE) {
    const enum ashlar_open_reason reason = gaps_after_match(run, request, slot, taken);
    if (reason != ASHLAR_OPEN_NONE) {
      return reason;
    }
  }
  if (manager->age[slot] < run->old_ages) {
    const enum tie tie =
        judge_tie(run, manager->list[slot], taken, manager->age[slot], manager->addr[slot]);
    if (tie != TIE_AGREES) {
      run->ties_open += tie == TIE_OPEN ? 1 : 0;
      *differs = tie == TIE_DIFFERS;
      run->only_address +=
          *differs && !is_evidence(run, manager->list[slot], taken, manager->addr[slot]) ? 1 : 0;
      return tie == TIE_OPEN ? ASHLAR_OPEN_AGE : ASHLAR_OPEN_NONE;
    }
  }
  if (run->config.order == ASHLAR_ORDER_SEGMENT &&
      is_evidence(run, manager->list[slot], taken, manager->addr[slot])) {
    run->only_segment++;
  }
  return ASHLAR_OPEN_NONE;
}

/* The manager and the recording take different blocks of one size. */
static enum ashlar_open_reason tie_after_mismatch(struct ashlar_audit_run *run, int32_t choice,
                                                  int32_t recorded, bool *agrees)
{
  const struct ashlar_manager *manager = run->manager;
  const bool is_lower = manager->addr[recorded] < manager->addr[choice];
  enum tie tie = TIE_DIFFERS;
  if (manager->age[choice] < run->old_ages && manager->age[recorded] < run->old_ages) {
    tie = judge_tie(run, manager->list[recorded], manager->size[recorded], manager->age[recorded],
                    manager->addr[recorded]);
  }
  run->ties_open += tie == TIE_OPEN ? 1 : 0;
  *agrees = tie == TIE_AGREES;
  run->only_segment += tie == TIE_AGREES && !is_lower ? 1 : 0;
  run->only_address += tie == TIE_DIFFERS && is_lower ? 1 : 0;
  return tie == TIE_OPEN ? ASHLAR_OPEN_AGE : ASHLAR_OPEN_NONE;
}

enum ashlar_open_reason ashlar_open_after_mismatch(struct ashlar_audit_run *run,
                                                   const struct ashlar_audit_request *request,
                                                   int32_t choice, int32_t recorded, bool *agrees)
{
  const struct ashlar_manager *manager = run->manager;
  *agrees = false;
  if (manager->addr[recorded] != request->address || manager->growable[recorded] != 0) {
    return ASHLAR_OPEN_NONE; /* not the front of a free block, or nothing about it is unknown */
  }
  if (choice >= 0 && open_before(run, choice) == NULL &&
      run->config.order == ASHLAR_ORDER_SEGMENT &&
      manager->list[choice] == manager->list[recorded] &&
      manager->size[choice] == manager->size[recorded]) {
    return tie_after_mismatch(run, choice, recorded, agrees);
  }
  if (run->near_count > 0 && request->class == ASHLAR_CLASS_LARGE) {
    return gaps_after_mismatch(run, request, choice, recorded);
  }
  return ASHLAR_OPEN_NONE;
}
