/* core_check_faults_blocks.c - see core_check_faults.h: free index, block table, address map.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/core_check_faults.h"

#include "core/growth.h"

#define MIB (UINT64_C(1) << 20)

static int32_t bucket_of(const struct ashlar_manager *m, int32_t block)
{
  return (int32_t)(m->addr[block] / 512 % ASHLAR_BUCKETS);
}

static int32_t empty_bucket(const struct ashlar_manager *m)
{
  int32_t bucket = 0;
  while (m->bucket[bucket] != 0) {
    bucket++;
  }
  return bucket;
}

#define FAULT(name) static void name(struct ashlar_manager *m, const struct core_check_slots *slot)

FAULT(free_count_negative)
{
  (void)slot;
  m->free_count = -1;
}

FAULT(free_count_beyond)
{
  (void)slot;
  m->free_count = m->top + 1;
}

FAULT(top_beyond)
{
  (void)slot;
  m->top = ASHLAR_SLOTS + 1;
}

FAULT(top_negative)
{
  (void)slot;
  m->top = -1;
}

FAULT(order_beyond)
{
  (void)slot;
  m->order[m->top - 1] = m->top;
}

FAULT(order_twice)
{
  (void)slot;
  m->order[0] = m->order[1];
}

FAULT(order_exchanged)
{
  (void)slot;
  const int32_t one = m->order[0];
  m->order[0] = m->order[1];
  m->order[1] = one;
  m->place[m->order[0]] = 0;
  m->place[m->order[1]] = 1;
}

FAULT(key_changed)
{
  (void)slot;
  m->list[m->order[0]] = ASHLAR_INDEX_LISTS;
}

FAULT(state_unknown)
{
  m->state[slot->first] = ASHLAR_STATES;
}

FAULT(size_zero)
{
  m->size[slot->large] = 0;
}

FAULT(block_wraps)
{
  m->addr[slot->large] = UINT64_MAX - 512;
}

FAULT(home_beyond)
{
  m->home[slot->large] = ASHLAR_LISTS;
}

FAULT(home_negative)
{
  m->home[slot->large] = -1;
}

FAULT(address_odd)
{
  m->addr[slot->large] += 1;
}

FAULT(size_odd)
{
  m->size[slot->large] -= 256;
}

FAULT(base_odd)
{
  m->base[slot->large] -= 1;
}

FAULT(listed_elsewhere)
{
  m->list[slot->first] += 1;
}

FAULT(unmapped_listed)
{
  m->state[slot->whole] = ASHLAR_UNMAPPED;
}

FAULT(next_elsewhere)
{
  m->next[slot->large] = slot->first;
}

FAULT(next_unused)
{
  m->next[slot->large] = m->spare[0];
}

FAULT(next_beyond)
{
  m->next[slot->large] = m->top;
}

FAULT(prev_elsewhere)
{
  m->prev[slot->large] = slot->first;
}

FAULT(prev_beyond)
{
  m->prev[slot->large] = -2;
}

FAULT(gap_between)
{
  m->size[slot->first] += 512;
}

FAULT(stream_changes)
{
  m->list[slot->first] += 1;
  m->home[slot->first] += 1;
}

FAULT(age_changes)
{
  m->age[slot->first] += 1;
}

FAULT(base_changes)
{
  m->base[slot->rest] += 512;
}

FAULT(growable_changes)
{
  m->growable[slot->first] = 1;
}

FAULT(base_of_first)
{
  m->base[slot->large] -= 512;
}

FAULT(unmapped_ordinary)
{
  m->state[slot->large] = ASHLAR_UNMAPPED;
  m->list[slot->large] += ASHLAR_LISTS;
}

FAULT(growable_unknown)
{
  m->growable[slot->large] = 2;
}

FAULT(segments_overlap)
{
  m->addr[slot->large] = m->addr[slot->whole] + 2 * MIB;
  m->base[slot->large] = m->addr[slot->large];
}

FAULT(segments_at_once)
{
  m->addr[slot->large] = m->addr[slot->whole];
  m->base[slot->large] = m->addr[slot->large];
}

FAULT(not_coalesced)
{
  m->state[slot->third] = ASHLAR_FREE;
}

FAULT(free_unindexed)
{
  m->state[slot->large] = ASHLAR_FREE;
}

FAULT(indexed_allocated)
{
  m->state[slot->whole] = ASHLAR_ALLOCATED;
}

FAULT(spare_in_use)
{
  m->spare[0] = slot->first;
}

FAULT(spare_beyond)
{
  (void)slot;
  m->spare[0] = m->top;
}

FAULT(spare_count_negative)
{
  (void)slot;
  m->spare_count = -1;
}

FAULT(spare_lost)
{
  (void)slot;
  m->spare_count--;
}

FAULT(bytes_allocated_wrong)
{
  (void)slot;
  m->bytes[ASHLAR_ALLOCATED] += 512;
}

FAULT(bytes_free_wrong)
{
  (void)slot;
  m->bytes[ASHLAR_FREE] -= 512;
}

FAULT(bytes_taken_wrong)
{
  (void)slot;
  m->bytes[ASHLAR_TAKEN] = 512;
}

FAULT(bucket_beyond)
{
  (void)slot;
  m->bucket[3] = m->top + 1;
}

FAULT(chain_beyond)
{
  (void)slot;
  m->chain[ASHLAR_SLOTS - 1] = -1;
}

FAULT(bucket_of_free)
{
  m->bucket[empty_bucket(m)] = slot->whole + 1;
}

FAULT(bucket_of_another)
{
  m->bucket[empty_bucket(m)] = slot->first + 1;
  m->bucket[bucket_of(m, slot->first)] = 0;
}

FAULT(chain_cyclic)
{
  m->chain[slot->first] = slot->first + 1;
}

FAULT(chain_to_free)
{
  m->chain[slot->first] = slot->whole + 1;
}

/* The two blocks of a bucket in the wrong order. */
FAULT(chain_descends)
{
  const int32_t home = bucket_of(m, slot->large);
  const int32_t one = m->bucket[home] - 1;
  const int32_t two = m->chain[one] - 1;
  m->bucket[home] = two + 1;
  m->chain[two] = one + 1;
  m->chain[one] = 0;
}

FAULT(bucket_emptied)
{
  m->bucket[bucket_of(m, slot->large)] = 0;
}

FAULT(chain_cut)
{
  m->chain[m->bucket[bucket_of(m, slot->large)] - 1] = 0;
}

/* What is unmapped of a growable segment, in two blocks. */
FAULT(not_coalesced_unmapped)
{
  int32_t block = m->request[slot->maps].run;
  int32_t rest = -1;
  ashlar_growth_let_go(m, slot->maps);
  while (m->state[block] != ASHLAR_UNMAPPED) {
    block = m->next[block];
  }
  ashlar_block_take(m, block);
  rest = ashlar_block_cut(m, block, 512);
  ashlar_block_put_unmapped(m, rest);
  ashlar_block_put_unmapped(m, block);
}

FAULT(spare_count_beyond)
{
  (void)slot;
  m->spare_count = m->top + 1;
}

FAULT(spare_nowhere)
{
  (void)slot;
  m->spare_count--;
  m->next[m->spare[m->spare_count]] = -1;
}

FAULT(spare_of_another)
{
  (void)slot;
  m->spare_count--;
  m->next[m->spare[m->spare_count]] = 0;
}

FAULT(chain_of_another)
{
  m->chain[slot->first] = slot->third + 1;
}

FAULT(bucket_begins_late)
{
  const int32_t home = bucket_of(m, slot->large);
  m->bucket[home] = m->chain[m->bucket[home] - 1];
}

/* The third of four blocks of a bucket is in no chain. */
FAULT(chain_leaves_out)
{
  enum { FOUR = 4 };
  int32_t two = -1;
  uint64_t address = UINT64_C(1) << 36;
  (void)slot;
  for (int k = 0; k < FOUR; k++) {
    const int32_t block = ashlar_segment_create(m, address, 512, 0, 0);
    ashlar_block_put(m, block);
    ashlar_map_insert(m, block);
    address += UINT64_C(512) * ASHLAR_BUCKETS;
  }
  two = m->chain[m->bucket[(UINT64_C(1) << 36) / 512 % ASHLAR_BUCKETS] - 1] - 1;
  m->chain[two] = m->chain[m->chain[two] - 1];
}

/* The last slot, which is unused. */
FAULT(last_slot_left_out)
{
  m->addr[m->top - 1] = m->addr[slot->first];
  m->in_map[m->top - 1] = 1;
}

const struct core_check_fault core_check_faults_blocks[] = {
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_counts", free_count_negative},
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_counts", free_count_beyond},
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_counts", top_beyond},
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_counts", top_negative},
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_bijective", order_beyond},
    {ASHLAR_CLAUSE_INDEX_BIJECTIVE, "index_bijective", order_twice},
    {ASHLAR_CLAUSE_INDEX_SORTED, "index_sorted", order_exchanged},
    {ASHLAR_CLAUSE_INDEX_SORTED, "index_sorted", key_changed},
    {ASHLAR_CLAUSE_STATES_VALID, "states_valid", state_unknown},
    {ASHLAR_CLAUSE_BLOCKS_IN_RANGE, "blocks_in_range", size_zero},
    {ASHLAR_CLAUSE_BLOCKS_IN_RANGE, "blocks_in_range", block_wraps},
    {ASHLAR_CLAUSE_BLOCKS_IN_RANGE, "blocks_in_range", home_beyond},
    {ASHLAR_CLAUSE_BLOCKS_IN_RANGE, "blocks_in_range", home_negative},
    {ASHLAR_CLAUSE_BLOCKS_ALIGNED, "blocks_aligned", address_odd},
    {ASHLAR_CLAUSE_BLOCKS_ALIGNED, "blocks_aligned", size_odd},
    {ASHLAR_CLAUSE_BLOCKS_ALIGNED, "blocks_aligned", base_odd},
    {ASHLAR_CLAUSE_BLOCKS_LISTED, "blocks_listed", listed_elsewhere},
    {ASHLAR_CLAUSE_BLOCKS_LISTED, "blocks_listed", unmapped_listed},
    {ASHLAR_CLAUSE_LINKS_NEXT, "links_next", next_elsewhere},
    {ASHLAR_CLAUSE_LINKS_NEXT, "links_next", next_unused},
    {ASHLAR_CLAUSE_LINKS_NEXT, "links_next", next_beyond},
    {ASHLAR_CLAUSE_LINKS_PREV, "links_prev", prev_elsewhere},
    {ASHLAR_CLAUSE_LINKS_PREV, "links_prev", prev_beyond},
    {ASHLAR_CLAUSE_BLOCKS_TILE, "blocks_tile", gap_between},
    {ASHLAR_CLAUSE_BLOCKS_TILE, "blocks_tile", stream_changes},
    {ASHLAR_CLAUSE_BLOCKS_TILE, "blocks_tile", age_changes},
    {ASHLAR_CLAUSE_BLOCKS_TILE, "blocks_tile", base_changes},
    {ASHLAR_CLAUSE_BLOCKS_TILE, "blocks_tile", growable_changes},
    {ASHLAR_CLAUSE_BLOCKS_BASED, "blocks_based", base_of_first},
    {ASHLAR_CLAUSE_UNMAPPED_GROWABLE, "unmapped_growable", unmapped_ordinary},
    {ASHLAR_CLAUSE_UNMAPPED_GROWABLE, "unmapped_growable", growable_unknown},
    {ASHLAR_CLAUSE_BLOCKS_DISJOINT, "blocks_disjoint", segments_overlap},
    {ASHLAR_CLAUSE_BLOCKS_DISJOINT, "blocks_disjoint", segments_at_once},
    {ASHLAR_CLAUSE_BLOCKS_COALESCED, "blocks_coalesced", not_coalesced},
    {ASHLAR_CLAUSE_BLOCKS_COALESCED, "blocks_coalesced", not_coalesced_unmapped},
    {ASHLAR_CLAUSE_INDEX_IS_FREE, "index_is_free", free_unindexed},
    {ASHLAR_CLAUSE_INDEX_IS_FREE, "index_is_free", indexed_allocated},
    {ASHLAR_CLAUSE_SPARES_UNUSED, "spares_unused", spare_in_use},
    {ASHLAR_CLAUSE_SPARES_UNUSED, "spares_unused", spare_beyond},
    {ASHLAR_CLAUSE_SPARES_UNUSED, "spares_unused", spare_count_negative},
    {ASHLAR_CLAUSE_SPARES_UNUSED, "spares_unused", spare_count_beyond},
    {ASHLAR_CLAUSE_UNUSED_SPARE, "unused_spare", spare_lost},
    {ASHLAR_CLAUSE_UNUSED_SPARE, "unused_spare", spare_nowhere},
    {ASHLAR_CLAUSE_UNUSED_SPARE, "unused_spare", spare_of_another},
    {ASHLAR_CLAUSE_BYTES_COUNTED, "bytes_counted", bytes_allocated_wrong},
    {ASHLAR_CLAUSE_BYTES_COUNTED, "bytes_counted", bytes_free_wrong},
    {ASHLAR_CLAUSE_BYTES_COUNTED, "bytes_counted", bytes_taken_wrong},
    {ASHLAR_CLAUSE_MAP_IN_RANGE, "map_in_range", bucket_beyond},
    {ASHLAR_CLAUSE_MAP_IN_RANGE, "map_in_range", chain_beyond},
    {ASHLAR_CLAUSE_MAP_HEADS, "map_members", bucket_of_free},
    {ASHLAR_CLAUSE_MAP_HEADS, "map_finds", bucket_of_another},
    {ASHLAR_CLAUSE_MAP_CHAINS, "map_members", chain_cyclic},
    {ASHLAR_CLAUSE_MAP_CHAINS, "map_members", chain_to_free},
    {ASHLAR_CLAUSE_MAP_CHAINS, "map_ascends", chain_descends},
    {ASHLAR_CLAUSE_MAP_CHAINS, "map_members", chain_of_another},
    {ASHLAR_CLAUSE_MAP_FIRST, "map_members", bucket_emptied},
    {ASHLAR_CLAUSE_MAP_FIRST, "map_members", bucket_begins_late},
    {ASHLAR_CLAUSE_MAP_NEXT, "map_members", chain_cut},
    {ASHLAR_CLAUSE_MAP_NEXT, "map_members", chain_leaves_out},
    {ASHLAR_CLAUSE_MAP_NEXT, "map_members", last_slot_left_out},
    {-1, NULL, NULL},
};
