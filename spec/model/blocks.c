/* blocks.c - the list of blocks: neighbours, order, split and coalesce.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* The block of the same segment that starts where this one ends; -1: none. REQ-TILE-blocks. */
int32_t model_behind(const struct model *m, int32_t slot)
{
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state != MODEL_UNUSED && m->block[i].segment == m->block[slot].segment &&
        m->block[i].address == m->block[slot].address + m->block[slot].size) {
      return i;
    }
  }
  return -1;
}

/* The block that ends where this one starts. */
int32_t model_ahead(const struct model *m, int32_t slot)
{
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state != MODEL_UNUSED && m->block[i].segment == m->block[slot].segment &&
        m->block[i].address + m->block[i].size == m->block[slot].address) {
      return i;
    }
  }
  return -1;
}

/* Whether the block is all of its segment. */
bool model_whole(const struct model *m, int32_t slot)
{
  return m->block[slot].size == m->segment[m->block[slot].segment].size;
}

/* Whether the block is in a free list of the pool and class. REQ-POOL-apart. */
bool model_listed(const struct model *m, int32_t slot, int32_t pool, bool small)
{
  const int32_t segment = m->block[slot].segment;
  return m->block[slot].state == MODEL_FREE && m->block[slot].mapped &&
         m->segment[segment].pool == pool && m->segment[segment].small == small;
}

/* Order of free blocks: size, age of the segment if so set, address. REQ-BESTFIT-order. */
bool model_before(const struct model *m, int32_t slot, int32_t other)
{
  const uint64_t age = m->segment[m->block[slot].segment].age;
  const uint64_t other_age = m->segment[m->block[other].segment].age;
  if (m->block[slot].size != m->block[other].size) {
    return m->block[slot].size < m->block[other].size;
  }
  if (m->config.order == MODEL_ORDER_SEGMENT && age != other_age) {
    return age < other_age;
  }
  return m->block[slot].address < m->block[other].address;
}

/* Slots that hold no block. */
int32_t model_room(const struct model *m)
{
  int32_t room = MODEL_BLOCKS;
  for (int32_t i = 0; i < m->blocks; i++) {
    room -= m->block[i].state != MODEL_UNUSED ? 1 : 0;
  }
  return room;
}

/* Whether a range may grow or lose pages: two slots beside those that requests in flight may need. REQ-CAPACITY-slots. */
bool model_has_room(const struct model *m)
{
  return model_room(m) >= 2 + MODEL_RESERVE;
}

/* Whether a range shares no byte with a segment, one that is leaving included.
   REQ-DISJOINT-blocks, REQ-ATOMIC-leaving. */
bool model_apart(const struct model *m, uint64_t address, uint64_t bytes)
{
  bool apart = true;
  for (int32_t i = 0; i < m->segments; i++) {
    apart = apart && (!m->segment[i].used || address + bytes <= m->segment[i].address ||
                      m->segment[i].address + m->segment[i].size <= address);
  }
  return apart;
}

/* Another block comes into the slot, or the block another owner: no handle given before is equal. REQ-FREE-handle. */
void model_renew(struct model *m, int32_t slot)
{
  const uint32_t old = m->block[slot].generation;
  m->block[slot].generation = old == UINT32_MAX ? 1 : old + 1;
}

/* A new block in the first unused slot, of which there is one. */
static int32_t add_block(struct model *m, struct model_block block)
{
  int32_t slot = 0;
  while (slot < m->blocks && m->block[slot].state != MODEL_UNUSED) {
    slot++;
  }
  m->blocks = slot == m->blocks ? slot + 1 : m->blocks;
  block.generation = m->block[slot].generation;
  m->block[slot] = block;
  model_renew(m, slot);
  return slot;
}

/* A new segment as one free block, for which there is room. REQ-LADDER-device, REQ-GROW-reserve. */
int32_t model_add_segment(struct model *m, struct model_want want, uint64_t address, uint64_t bytes,
                          bool growable)
{
  int32_t segment = 0;
  while (segment < m->segments && m->segment[segment].used) {
    segment++;
  }
  m->segments = segment == m->segments ? segment + 1 : m->segments;
  m->segment[segment] = (struct model_segment){true,      growable,    want.small,
                                               want.pool, want.stream, m->pool[want.pool].allocator,
                                               address,   bytes,       m->segments_created};
  m->segments_created++;
  return add_block(m, (struct model_block){.state = MODEL_FREE,
                                           .mapped = !growable,
                                           .segment = segment,
                                           .address = address,
                                           .size = bytes});
}

/* A segment that is one block goes, and its pool where that was the last thing it had. REQ-POOL-freeable. */
void model_remove_segment(struct model *m, int32_t slot)
{
  m->segment[m->block[slot].segment].used = false;
  m->block[slot].state = MODEL_UNUSED;
  model_end_pools(m);
}

/* Cuts a block: the front, of `size` bytes, keeps the slot and its state; the rest, whose slot is given, is free. Both
   are of one segment, mapped or not as before, and have the old request.
   REQ-SIZE-front, REQ-STREAM-inherited, REQ-COALESCE-request. */
int32_t model_cut(struct model *m, int32_t slot, uint64_t size)
{
  struct model_block rest = m->block[slot];
  rest.state = MODEL_FREE;
  rest.address += size;
  rest.size -= size;
  m->block[slot].size = size;
  return add_block(m, rest);
}

/* Joins a neighbour into a block that is becoming free, if both are mapped alike. REQ-COALESCE-blocks,
   REQ-COALESCE-mapping, REQ-COALESCE-request. */
static void join(struct model *m, int32_t slot, int32_t neighbour)
{
  if (neighbour == -1 || m->block[neighbour].state != MODEL_FREE ||
      m->block[neighbour].mapped != m->block[slot].mapped) {
    return;
  }
  if (m->block[neighbour].address < m->block[slot].address) {
    m->block[slot].address = m->block[neighbour].address;
  }
  m->block[slot].size += m->block[neighbour].size;
  m->block[neighbour].state = MODEL_UNUSED;
}

/* A block becomes free: it joins the one ahead, then the one behind, and enters its list. REQ-COALESCE-pending,
   REQ-LADDER-age. */
void model_enter(struct model *m, int32_t slot)
{
  const int32_t segment = m->block[slot].segment;
  m->block[slot].state = MODEL_FREE;
  m->block[slot].fresh = false;
  join(m, slot, model_ahead(m, slot));
  join(m, slot, model_behind(m, slot));
  m->block[slot].entered =
      m->pool[m->segment[segment].pool].searches[m->segment[segment].small ? 1 : 0];
}
