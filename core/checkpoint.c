/* checkpoint.c - see checkpoint.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/checkpoint.h"

/* Why a pool cannot be recorded or restored now. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures refusal: is_busy(*m) ? \result == ASHLAR_ERROR_BUSY :
      has_pool(*m, pool) ? \result == ASHLAR_OK : \result == ASHLAR_ERROR_POOL;
*/
static enum ashlar_status refusal(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_whole_open(m);
  if (ashlar_ladder_busy(m)) {
    return ASHLAR_ERROR_BUSY;
  }
  return ashlar_pool_exists(m, pool) ? ASHLAR_OK : ASHLAR_ERROR_POOL;
}

/* Whether a block is pending, or held by a request. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_save_settled: pool_settled(*m, pool) ? \result == ASHLAR_OK : \result == ASHLAR_ERROR_PENDING;
*/
static enum ashlar_status settled(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = 0;
  /*@ loop invariant slot: 0 <= slot <= m->top;
      loop invariant passed: \forall integer i; 0 <= i < slot ==> m->state[i] == ASHLAR_PENDING ||
        m->state[i] == ASHLAR_HELD ==> !in_pool(*m, pool, i);
      loop assigns slot;
      loop variant m->top - slot;
  */
  while (slot < m->top) {
    if ((m->state[slot] == ASHLAR_PENDING || m->state[slot] == ASHLAR_HELD) &&
        ashlar_home_pool(m->home[slot]) == pool) {
      return ASHLAR_ERROR_PENDING;
    }
    slot++;
  }
  return ASHLAR_OK;
}

/* A mapped block as it is recorded. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires mapped: 0 <= slot < m->top && is_mapped(*m, slot);
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_save_block: ENTRY_OF(\result, slot);
*/
static struct ashlar_saved saved_of(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_uses_open(m);
  struct ashlar_saved saved;
  int32_t use = m->first_use[slot] - 1;
  int32_t word = 0;
  saved.address = m->addr[slot];
  saved.size = m->size[slot];
  saved.home = m->home[slot];
  saved.allocated = m->state[slot] == ASHLAR_ALLOCATED;
  /*@ loop invariant word: 0 <= word <= ASHLAR_SAVED_WORDS;
      loop assigns word, saved.use[0 .. ASHLAR_SAVED_WORDS - 1];
      loop variant ASHLAR_SAVED_WORDS - word;
  */
  while (word < ASHLAR_SAVED_WORDS) {
    saved.use[word] = 0;
    word++;
  }
  /*@ loop invariant use: -1 <= use < m->use_top && (0 <= use ==> m->use_block[use] == slot);
      loop assigns use, saved.use[0 .. ASHLAR_SAVED_WORDS - 1];
      loop variant use == -1 ? 0 : m->use_serial[use];
  */
  while (use != -1) {
    int32_t stream = m->use_stream[use];
    saved.use[stream / 64] |= UINT64_C(0x8000000000000000) >> (63 - stream % 64);
    use = m->use_more[use];
  }
  return saved;
}

/* How many mapped blocks a pool has, or how many allocated ones. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_save_count: \result == blocks_in(m->state, m->home, pool, allocated, m->top);
    ensures range: 0 <= \result <= m->top;
*/
static int32_t count_blocks(const struct ashlar_manager *m, int32_t pool, int allocated)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t count = 0;
  int32_t slot = 0;
  /*@ loop invariant slot: 0 <= count <= slot <= m->top;
      loop invariant count: count == blocks_in(m->state, m->home, pool, allocated, slot);
      loop assigns slot, count;
      loop variant m->top - slot;
  */
  while (slot < m->top) {
    if (m->state[slot] != ASHLAR_UNUSED && m->state[slot] != ASHLAR_UNMAPPED &&
        (!allocated || m->state[slot] == ASHLAR_ALLOCATED) &&
        ashlar_home_pool(m->home[slot]) == pool) {
      count++;
    }
    slot++;
  }
  return count;
}

/* Records the mapped blocks of a segment behind `count` others, as long as there is room; how many there are then. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires head: 0 <= head < m->top && m->state[head] != ASHLAR_UNUSED;
    requires room: 0 <= count <= room && \valid(saved + (0 .. room - 1));
    requires entries: RECORDED(HOME_POOL(head), saved, count);
    terminates \true; exits \false;
    assigns saved[count .. room - 1];
    ensures count: count <= \result <= room;
    ensures REQ_CHECKPOINT_save_entries: RECORDED(HOME_POOL(head), saved, \result);
*/
static int32_t record_segment(const struct ashlar_manager *m, int32_t head,
                              struct ashlar_saved *saved, int32_t count, int32_t room)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = head;
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] != ASHLAR_UNUSED &&
        m->home[slot] == m->home[head]);
      loop invariant count: \at(count, Pre) <= count <= room;
      loop invariant entries: RECORDED(HOME_POOL(head), saved, count);
      loop assigns slot, count, saved[\at(count, Pre) .. room - 1];
      loop variant slot == -1 ? 0 : UINT64_MAX - m->addr[slot];
  */
  while (slot != -1 && count < room) {
    if (m->state[slot] != ASHLAR_UNMAPPED) {
      saved[count] = saved_of(m, slot);
      /*@ assert one: is_mapped(*m, slot) && in_pool(*m, HOME_POOL(head), slot) &&
            ENTRY_OF(saved[count], slot); */
      /*@ assert left: \forall integer k; 0 <= k < count ==> saved[k].address == \at(saved[k].address, LoopCurrent) &&
            saved[k].size == \at(saved[k].size, LoopCurrent) && saved[k].home == \at(saved[k].home, LoopCurrent) &&
            saved[k].allocated == \at(saved[k].allocated, LoopCurrent); */
      //@ assert others: RECORDED(HOME_POOL(head), saved, count);
      count++;
    }
    slot = m->next[slot];
  }
  return count;
}

/* Records the mapped blocks of a pool, segment by segment, as long as there is room. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires room: 0 <= room && \valid(saved + (0 .. room - 1));
    terminates \true; exits \false;
    assigns saved[0 .. room - 1];
    ensures count: 0 <= \result <= room;
    ensures REQ_CHECKPOINT_save_entries: RECORDED(pool, saved, \result);
*/
static int32_t record_all(const struct ashlar_manager *m, int32_t pool, struct ashlar_saved *saved,
                          int32_t room)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t head = 0;
  int32_t count = 0;
  /*@ loop invariant head: 0 <= head <= m->top;
      loop invariant count: 0 <= count <= room;
      loop invariant entries: RECORDED(pool, saved, count);
      loop assigns head, count, saved[0 .. room - 1];
      loop variant m->top - head;
  */
  while (head < m->top) {
    if (m->state[head] != ASHLAR_UNUSED && m->prev[head] == -1 &&
        ashlar_home_pool(m->home[head]) == pool) {
      count = record_segment(m, head, saved, count, room);
    }
    head++;
  }
  return count;
}

struct ashlar_recorded ashlar_checkpoint_save(struct ashlar_manager *m, int32_t pool,
                                              struct ashlar_caller caller,
                                              struct ashlar_saved *saved, int32_t room)
{
  struct ashlar_recorded recorded;
  recorded.count = 0;
  recorded.status = refusal(m, pool);
  if (recorded.status != ASHLAR_OK) {
    return recorded;
  }
  ashlar_ladder_poll(m, caller.stream);
  recorded.status = settled(m, pool);
  if (recorded.status != ASHLAR_OK) {
    return recorded;
  }
  recorded.count = count_blocks(m, pool, 0);
  (void)record_all(m, pool, saved, room);
  if (recorded.count > room) {
    recorded.status = ASHLAR_ERROR_CAPACITY;
  }
  return recorded;
}

/* The mapped block of a home that has a byte; first looked for at a slot (-1: nowhere). -1: there is none. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires first: -1 <= first < m->top;
    terminates \true; exits \false;
    assigns \nothing;
    ensures found: -1 <= \result < m->top && (\result != -1 ==> is_mapped(*m, \result) && m->home[\result] == home &&
      m->addr[\result] <= address < m->addr[\result] + m->size[\result]);
    ensures none: \result == -1 ==> \forall integer i; 0 <= i < m->top ==> is_mapped(*m, i) ==> m->home[i] == home ==>
      address < m->addr[i] || m->addr[i] + m->size[i] <= address;
*/
static int32_t block_with(const struct ashlar_manager *m, int32_t home, uint64_t address,
                          int32_t first)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = 0;
  if (first != -1 && m->home[first] == home && m->state[first] != ASHLAR_UNUSED &&
      m->state[first] != ASHLAR_UNMAPPED && m->addr[first] <= address &&
      address - m->addr[first] < m->size[first]) {
    return first;
  }
  /*@ loop invariant slot: 0 <= slot <= m->top;
      loop invariant passed: \forall integer i; 0 <= i < slot ==> is_mapped(*m, i) ==> m->home[i] == home ==>
        address < m->addr[i] || m->addr[i] + m->size[i] <= address;
      loop assigns slot;
      loop variant m->top - slot;
  */
  while (slot < m->top) {
    if (m->state[slot] != ASHLAR_UNUSED && m->state[slot] != ASHLAR_UNMAPPED &&
        m->home[slot] == home && m->addr[slot] <= address &&
        address - m->addr[slot] < m->size[slot]) {
      return slot;
    }
    slot++;
  }
  return -1;
}

/*@ ghost
  /@ requires \valid(m);
     requires before: is_backed(*m, home, m->base[slot], from, to);
     requires slot: 0 <= slot < m->top && is_mapped(*m, slot) && m->home[slot] == home && m->addr[slot] <= to &&
       end <= m->addr[slot] + m->size[slot];
     terminates \true; exits \false;
     assigns \nothing;
     ensures backed: is_backed(*m, home, m->base[slot], from, end);
  @/
  static void back_on(const struct ashlar_manager *m, int32_t home, int32_t slot, uint64_t from, uint64_t to, uint64_t end)
  {
    /@ assert here: \forall integer x; to <= x < end ==> has_memory(*m, home, m->base[slot], x); @/
  }
*/

/* The block from which what was recorded goes on, where all of it is mapped; first looked for at a slot. -1: it is not. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires first: -1 <= first < m->top;
    requires size: 0 < saved.size && saved.address + saved.size <= UINT64_MAX;
    terminates \true; exits \false;
    assigns \nothing;
    ensures slot: -1 <= \result < m->top && (\result != -1 ==> is_mapped(*m, \result));
    ensures REQ_CHECKPOINT_restore_backed: \result != -1 ==>
      is_backed(*m, saved.home, m->base[\result], saved.address, saved.address + saved.size) &&
      has_memory(*m, saved.home, m->base[\result], saved.address);
*/
static int32_t block_behind(const struct ashlar_manager *m, struct ashlar_saved saved,
                            int32_t first)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost uint64_t from = saved.address;
  int32_t slot = block_with(m, saved.home, saved.address, first);
  //@ ghost int32_t begin = slot;
  /*@ loop invariant begin: slot != -1 ==> begin != -1 && m->base[slot] == m->base[begin];
      loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] != ASHLAR_UNUSED &&
        m->home[slot] == saved.home && m->addr[slot] <= saved.address < m->addr[slot] + m->size[slot]);
      loop invariant rest: 0 < saved.size && saved.address + saved.size == \at(saved.address + saved.size, Pre) &&
        saved.home == \at(saved.home, Pre) && \at(saved.address, Pre) <= saved.address;
      loop invariant backed: slot != -1 ==>
        is_backed(*m, saved.home, m->base[slot], \at(saved.address, Pre), saved.address);
      loop assigns slot, saved.address, saved.size;
      loop variant saved.size;
  */
  while (slot != -1 && m->state[slot] != ASHLAR_UNMAPPED &&
         m->size[slot] - (saved.address - m->addr[slot]) < saved.size) {
    uint64_t there = m->size[slot] - (saved.address - m->addr[slot]);
    //@ ghost back_on(m, saved.home, slot, from, saved.address, saved.address + there);
    saved.address += there;
    saved.size -= there;
    slot = m->next[slot];
  }
  /*@ ghost
    if (slot != -1 && m->state[slot] != ASHLAR_UNMAPPED)
      back_on(m, saved.home, slot, from, saved.address, saved.address + saved.size);
  */
  return slot != -1 && m->state[slot] != ASHLAR_UNMAPPED ? slot : -1;
}

/* Whether the streams that used a block take requests still. Deferral is no stream: bit 255 counts as live. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_restore_streams: \result != 0 <==> marks_live(*m, saved);
*/
static int streams_live(const struct ashlar_manager *m, struct ashlar_saved saved)
{
  //@ ghost ashlar_whole_open(m);
  int32_t stream = 0;
  /*@ loop invariant stream: 0 <= stream <= ASHLAR_STREAM_DEFERRED;
      loop invariant passed: \forall integer s; 0 <= s < stream ==> is_marked(saved, s) ==> is_stream(*m, s);
      loop assigns stream;
      loop variant ASHLAR_STREAM_DEFERRED - stream;
  */
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0 && !ashlar_stream_live(m, stream)) {
      return 0;
    }
    stream++;
  }
  return 1;
}

/* Records that the uses of a block need: one for each stream, and that of deferral. */
/*@ terminates \true; exits \false;
    assigns \nothing;
    ensures range: 0 <= \result <= ASHLAR_STREAMS;
    ensures none: \result == 0 ==> \forall integer s; 0 <= s < ASHLAR_STREAM_DEFERRED ==> !is_marked(saved, s);
*/
static int32_t records_of(struct ashlar_saved saved)
{
  int32_t stream = 0;
  int32_t count = 0;
  /*@ loop invariant stream: 0 <= count <= stream <= ASHLAR_STREAM_DEFERRED;
      loop invariant none: count == 0 ==> \forall integer s; 0 <= s < stream ==> !is_marked(saved, s);
      loop assigns stream, count;
      loop variant ASHLAR_STREAM_DEFERRED - stream;
  */
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0) {
      count++;
    }
    stream++;
  }
  return count > 0 ? count + 1 : 0;
}

/* Whether a block of the pool is used on another stream. */
/*@ requires \valid(m); REQUIRES_WHOLE
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_restore_unused: \result == 0 <==> pool_unused(*m, pool);
*/
static int is_used(const struct ashlar_manager *m, int32_t pool)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_uses_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t use = 0;
  /*@ loop invariant use: 0 <= use <= m->use_top;
      loop invariant passed: \forall integer u; 0 <= u < use ==> 0 <= m->use_block[u] ==>
        m->use_stream[u] != ASHLAR_STREAM_DEFERRED ==> !in_pool(*m, pool, m->use_block[u]);
      loop assigns use;
      loop variant m->use_top - use;
  */
  while (use < m->use_top) {
    if (m->use_block[use] != -1 && m->use_stream[use] != ASHLAR_STREAM_DEFERRED &&
        ashlar_home_pool(m->home[m->use_block[use]]) == pool) {
      return 1;
    }
    use++;
  }
  return 0;
}

/* Why an entry cannot be restored; first looked for at a slot. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires first: -1 <= first < m->top;
    terminates \true; exits \false;
    assigns \nothing;
    ensures slot: -1 <= \result < m->top && (\result != -1 ==> is_mapped(*m, \result));
    ensures REQ_CHECKPOINT_restore_fits: \result != -1 ==> is_fit(*m, saved, pool);
*/
static int32_t fit(const struct ashlar_manager *m, int32_t pool, struct ashlar_saved saved,
                   int32_t first)
{
  int32_t slot;
  if (saved.home < 0 || saved.home >= ASHLAR_LISTS || ashlar_home_pool(saved.home) != pool ||
      saved.size == 0 || saved.size % ASHLAR_GRANULE != 0 || saved.address % ASHLAR_GRANULE != 0 ||
      saved.size > UINT64_MAX - saved.address) {
    return -1;
  }
  slot = block_behind(m, saved, first);
  return slot != -1 && streams_live(m, saved) ? slot : -1;
}

/* Where the first entry before the i-th starts that ends behind the address of the i-th; UINT64_MAX: there is none. */
/*@ requires saved: 0 <= i && \valid_read(saved + (0 .. i));
    requires sizes: \forall integer k; 0 <= k <= i ==> 0 < saved[k].size <= UINT64_MAX - saved[k].address;
    terminates \true; exits \false;
    assigns \nothing;
    ensures least: \forall integer k; 0 <= k < i ==> saved[i].address < saved[k].address + saved[k].size ==>
      \result <= saved[k].address;
*/
static uint64_t next_start(const struct ashlar_saved *saved, int32_t i)
{
  uint64_t start = UINT64_MAX;
  int32_t k = 0;
  /*@ loop invariant k: 0 <= k <= i;
      loop invariant least: \forall integer j; 0 <= j < k ==> saved[i].address < saved[j].address + saved[j].size ==>
        start <= saved[j].address;
      loop assigns k, start;
      loop variant i - k;
  */
  while (k < i) {
    if (saved[i].address < saved[k].address + saved[k].size && saved[k].address < start) {
      start = saved[k].address;
    }
    k++;
  }
  return start;
}

/* Whether no two entries have an address in common. Entries that ascend up to the next one before them cost O(1), as those
   of one segment do; any other is compared with all before it. */
/*@ requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1));
    requires sizes: \forall integer k; 0 <= k < count ==> 0 < saved[k].size <= UINT64_MAX - saved[k].address;
    terminates \true; exits \false;
    assigns \nothing;
    ensures REQ_CHECKPOINT_restore_apart: \result != 0 ==> ENTRIES_APART;
*/
static int are_apart(const struct ashlar_saved *saved, int32_t count)
{
  uint64_t reached = 0;
  uint64_t limit = 0; /* where the first entry before i starts that lies behind it */
  int32_t i = 0;
  /*@ loop invariant i: 0 <= i <= count;
      loop invariant apart: \forall integer k, l; 0 <= k < l < i ==>
        saved[k].address + saved[k].size <= saved[l].address || saved[l].address + saved[l].size <= saved[k].address;
      loop invariant limit: \forall integer k; 0 <= k < i ==>
        saved[k].address + saved[k].size <= reached || limit <= saved[k].address;
      loop assigns i, limit, reached;
      loop variant count - i;
  */
  while (i < count) {
    if (saved[i].address < reached || limit < saved[i].address + saved[i].size) {
      limit = next_start(saved, i);
    }
    if (limit < saved[i].address + saved[i].size) {
      return 0;
    }
    reached = saved[i].address + saved[i].size;
    i++;
  }
  return 1;
}

/* Why a record cannot be restored. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1));
    terminates \true; exits \false;
    assigns \nothing;
    ensures status: \result == ASHLAR_OK || \result == ASHLAR_ERROR_MISFIT || \result == ASHLAR_ERROR_USES ||
      \result == ASHLAR_ERROR_PENDING || \result == ASHLAR_ERROR_CAPACITY;
    ensures REQ_CHECKPOINT_restore_fits: \result == ASHLAR_OK ==> \forall integer k; 0 <= k < count ==>
      is_fit(*m, saved[k], pool);
    ensures REQ_CHECKPOINT_restore_apart: \result == ASHLAR_OK ==> ENTRIES_APART;
    ensures REQ_CHECKPOINT_restore_unused: \result == ASHLAR_OK ==> pool_unused(*m, pool);
    ensures REQ_CAPACITY_slots_restored: \result == ASHLAR_OK ==>
      2 * count + ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS <= ROOM_OF(*m);
*/
static enum ashlar_status misfit(const struct ashlar_manager *m, int32_t pool,
                                 const struct ashlar_saved *saved, int32_t count)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_uses_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t i = 0;
  int32_t slot = -1;
  int32_t records = m->use_spare_count + (ASHLAR_USES - m->use_top);
  int32_t slots = ashlar_reclaim_room(m) - ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS;
  /*@ loop invariant i: 0 <= i <= count;
      loop invariant slot: -1 <= slot < m->top;
      loop invariant records: 0 <= records <= ASHLAR_USES;
      loop invariant fits: \forall integer k; 0 <= k < i ==> is_fit(*m, saved[k], pool);
      loop assigns i, slot, records;
      loop variant count - i;
  */
  while (i < count) {
    slot = fit(m, pool, saved[i], slot);
    if (slot == -1) {
      return ASHLAR_ERROR_MISFIT;
    }
    int32_t needed = records_of(saved[i]);
    if (needed > records) {
      return ASHLAR_ERROR_USES;
    }
    records -= needed;
    i++;
  }
  if (!are_apart(saved, count)) {
    return ASHLAR_ERROR_MISFIT;
  }
  if (is_used(m, pool)) {
    return ASHLAR_ERROR_PENDING;
  }
  if (slots < 0 || count > slots / 2) {
    return ASHLAR_ERROR_CAPACITY;
  }
  return ASHLAR_OK;
}

/* Sees to spare slots, of which there are enough. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires room: 0 <= count <= ROOM_OF(*m) && count <= ASHLAR_SLOTS;
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    ENSURES_WHOLE
    ensures spare: count <= m->spare_count;
    ensures kept: blocks_kept(\old(*m), *m) && \old(m->top) <= m->top;
    ensures fresh: \forall integer j; \old(m->top) <= j < m->top ==> m->state[j] == ASHLAR_UNUSED;
*/
static void reserve(struct ashlar_manager *m, int32_t count)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ ghost ashlar_map_open(m);
  (void)ashlar_block_reserve(m, count);
  //@ ghost ashlar_map_close(m);
  //@ ghost ashlar_whole_close(m);
}

/*@ ghost
  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires last: 0 <= last < m->top && m->state[last] != ASHLAR_UNUSED && m->next[last] == -1;
     requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED && m->base[slot] == m->base[last];
     terminates \true; exits \false;
     assigns \nothing;
     ensures before: m->addr[slot] <= m->addr[last];
  @/
  static void not_behind(const struct ashlar_manager *m, int32_t last, int32_t slot)
  {
    int32_t i = slot;
    ashlar_blocks_open(m);
    /@ loop invariant i: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED && m->base[i] == m->base[last];
       loop invariant behind: m->addr[i] > m->addr[last] || i == slot;
       loop assigns i;
       loop variant m->addr[i];
    @/
    while (m->addr[i] > m->addr[last]) i = m->prev[i];
  }

  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires last: 0 <= last < m->top && m->state[last] != ASHLAR_UNUSED && m->next[last] == -1;
     terminates \true; exits \false;
     assigns \nothing;
     ensures none: \forall integer j; 0 <= j < m->top ==> m->state[j] != ASHLAR_UNUSED ==>
       m->base[j] == m->base[last] ==> m->addr[j] <= m->addr[last];
  @/
  static void none_behind(const struct ashlar_manager *m, int32_t last)
  {
    int32_t j = 0;
    /@ loop invariant j: 0 <= j;
       loop invariant none: \forall integer i; 0 <= i < j ==> i < m->top ==> m->state[i] != ASHLAR_UNUSED ==>
         m->base[i] == m->base[last] ==> m->addr[i] <= m->addr[last];
       loop assigns j;
       loop variant m->top - j;
    @/
    while (j < m->top) {
      if (m->state[j] != ASHLAR_UNUSED && m->base[j] == m->base[last]) not_behind(m, last, j);
      j++;
    }
  }

  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
     terminates \true; exits \false;
     assigns \nothing;
     ensures head: 0 <= \result < m->top && m->state[\result] != ASHLAR_UNUSED &&
       m->base[\result] == m->addr[\result] && m->base[\result] == m->base[slot] &&
       m->home[\result] == m->home[slot];
  @/
  static int32_t head_of(const struct ashlar_manager *m, int32_t slot)
  {
    int32_t head = slot;
    ashlar_blocks_open(m);
    /@ loop invariant head: 0 <= head < m->top && m->state[head] != ASHLAR_UNUSED && m->base[head] == m->base[slot] &&
         m->home[head] == m->home[slot];
       loop assigns head;
       loop variant m->addr[head];
    @/
    while (m->prev[head] != -1) head = m->prev[head];
    return head;
  }
*/

/* The first allocated block of a segment from one of its blocks on; -1: there is none. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures first: -1 <= \result < m->top && (\result != -1 ==> m->state[\result] == ASHLAR_ALLOCATED &&
      m->home[\result] == m->home[slot] && m->base[\result] == m->base[slot] && m->addr[slot] <= m->addr[\result]);
    ensures none: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      m->base[j] == m->base[slot] ==> m->addr[slot] <= m->addr[j] ==> \result != -1 && m->addr[\result] <= m->addr[j];
*/
static int32_t first_allocated(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t i = slot;
  /*@ loop invariant i: 0 <= i < m->top && m->state[i] != ASHLAR_UNUSED && m->home[i] == m->home[slot] &&
        m->base[i] == m->base[slot] && m->addr[slot] <= m->addr[i];
      loop invariant none: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
        m->base[j] == m->base[slot] ==> m->addr[slot] <= m->addr[j] ==> m->addr[i] <= m->addr[j];
      loop assigns i;
      loop variant UINT64_MAX - m->addr[i];
  */
  while (m->state[i] != ASHLAR_ALLOCATED) {
    if (m->next[i] == -1) {
      //@ ghost none_behind(m, i);
      return -1;
    }
    i = m->next[i];
  }
  return i;
}

/* The same behind a block. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires slot: 0 <= slot < m->top && m->state[slot] != ASHLAR_UNUSED;
    terminates \true; exits \false;
    assigns \nothing;
    ensures next: -1 <= \result < m->top && (\result != -1 ==> m->state[\result] == ASHLAR_ALLOCATED &&
      m->home[\result] == m->home[slot] && m->base[\result] == m->base[slot] && m->addr[slot] < m->addr[\result]);
    ensures none: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      m->base[j] == m->base[slot] ==> m->addr[slot] < m->addr[j] ==> \result != -1 && m->addr[\result] <= m->addr[j];
*/
static int32_t next_allocated(const struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  if (m->next[slot] == -1) {
    //@ ghost none_behind(m, slot);
    return -1;
  }
  return first_allocated(m, m->next[slot]);
}

/* Frees an allocated block that no stream uses. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires unused: NOT_USED(*m, slot);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures REQ_FREE_done: m->state[slot] == ASHLAR_FREE || m->state[slot] == ASHLAR_UNUSED;
    ensures REQ_FRAME_free: others_kept(\old(*m), *m, slot);
    ensures uses_left: \forall integer u; 0 <= u < m->use_top ==> USE_LEFT(\old(*m), u);
    ENSURES_SLOTS_LEFT ENSURES_MEMORY_KEPT
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
static void free_block(struct ashlar_manager *m, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  ashlar_allocation_end(m, slot);
  (void)ashlar_pending_back(m, slot, 0);
  //@ ghost ashlar_whole_close(m);
}

/* Frees an allocated block of a pool; the next one of its segment. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires slot: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED && in_pool(*m, pool, slot);
    requires unused: pool_unused(*m, pool);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures next: -1 <= \result < m->top && (\result != -1 ==> m->state[\result] == ASHLAR_ALLOCATED &&
      m->home[\result] == m->home[slot] && m->base[\result] == m->base[slot] && m->addr[slot] < m->addr[\result]);
    ensures passed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      m->base[j] == m->base[slot] ==> m->addr[slot] <= m->addr[j] ==> \result != -1 && m->addr[\result] <= m->addr[j];
    ENSURES_EMPTIED
*/
static int32_t free_and_next(struct ashlar_manager *m, int32_t pool, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t next = next_allocated(m, slot);
  (void)pool;
  //@ assert unused: NOT_USED(*m, slot);
  /*@ assert behind: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
        m->base[j] == m->base[slot] ==> j != slot ==> m->addr[j] != m->addr[slot]; */
  free_block(m, slot);
  return next;
}

/* Frees every allocated block of a segment, ascending by address. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires head: 0 <= head < m->top && m->state[head] != ASHLAR_UNUSED && m->base[head] == m->addr[head] &&
      in_pool(*m, pool, head);
    requires unused: pool_unused(*m, pool);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures REQ_CHECKPOINT_restore_freed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      m->base[j] == m->base[head] ==> m->addr[j] < m->addr[head];
    ENSURES_EMPTIED
*/
static void free_segment(struct ashlar_manager *m, int32_t pool, int32_t head)
{
  int32_t slot = first_allocated(m, head);
  /*@ loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] == ASHLAR_ALLOCATED &&
        in_pool(*m, pool, slot) && m->base[slot] == m->base[head] && m->addr[head] <= m->addr[slot]);
      loop invariant freed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
        m->base[j] == m->base[head] ==> m->addr[head] <= m->addr[j] ==> slot != -1 && m->addr[slot] <= m->addr[j];
      loop invariant whole: WHOLE_STATE;
      KEEPS_EMPTYING
      loop assigns slot, ASSIGNS_TAKEN_BACK;
      loop variant slot == -1 ? 0 : UINT64_MAX - m->addr[slot];
  */
  while (slot != -1) {
    slot = free_and_next(m, pool, slot);
  }
}

/* The same where a slot holds the first block of a segment of the pool. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires head: 0 <= head < m->top;
    requires unused: pool_unused(*m, pool);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures REQ_CHECKPOINT_restore_freed: m->state[head] != ASHLAR_UNUSED ==> m->base[head] == m->addr[head] ==>
      in_pool(*m, pool, head) ==> \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      m->base[j] != m->base[head];
    ENSURES_EMPTIED
*/
static void free_from(struct ashlar_manager *m, int32_t pool, int32_t head)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert first: m->state[head] != ASHLAR_UNUSED ==> m->base[head] == m->addr[head] ==> m->prev[head] == -1;
  if (m->state[head] != ASHLAR_UNUSED && m->prev[head] == -1 &&
      ashlar_home_pool(m->home[head]) == pool) {
    free_segment(m, pool, head);
    //@ ghost ashlar_whole_open(m);
    //@ ghost ashlar_blocks_open(m);
    /*@ assert freed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
          m->base[j] != m->base[head]; */
  }
}

/*@ ghost
  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires heads: \forall integer h; 0 <= h < m->top ==> m->state[h] != ASHLAR_UNUSED ==>
       m->base[h] == m->addr[h] ==> in_pool(*m, pool, h) ==> \forall integer j; 0 <= j < m->top ==>
       m->state[j] == ASHLAR_ALLOCATED ==> m->base[j] != m->base[h];
     terminates \true; exits \false;
     assigns \nothing;
     ensures none: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==> !in_pool(*m, pool, j);
  @/
  static void none_allocated(const struct ashlar_manager *m, int32_t pool)
  {
    int32_t j = 0;
    /@ loop invariant j: 0 <= j;
       loop invariant none: \forall integer i; 0 <= i < j ==> i < m->top ==> m->state[i] == ASHLAR_ALLOCATED ==>
         !in_pool(*m, pool, i);
       loop assigns j;
       loop variant m->top - j;
    @/
    while (j < m->top) {
      if (m->state[j] == ASHLAR_ALLOCATED) (void)head_of(m, j);
      j++;
    }
  }
*/

/* Frees every allocated block of a pool. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires unused: pool_unused(*m, pool);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures REQ_CHECKPOINT_restore_freed: \forall integer j; 0 <= j < m->top ==> m->state[j] == ASHLAR_ALLOCATED ==>
      !in_pool(*m, pool, j);
    ENSURES_EMPTIED
*/
static void free_all(struct ashlar_manager *m, int32_t pool)
{
  int32_t head = 0;
  /*@ loop invariant head: 0 <= head;
      loop invariant freed: \forall integer h; 0 <= h < head ==> m->state[h] != ASHLAR_UNUSED ==>
        m->base[h] == m->addr[h] ==> in_pool(*m, pool, h) ==> \forall integer j; 0 <= j < m->top ==>
        m->state[j] == ASHLAR_ALLOCATED ==> m->base[j] != m->base[h];
      loop invariant whole: WHOLE_STATE;
      KEEPS_EMPTYING
      loop assigns head, ASSIGNS_TAKEN_BACK;
      loop variant m->top - head;
  */
  while (head < m->top) {
    free_from(m, pool, head);
    head++;
  }
  //@ ghost ashlar_whole_open(m);
  //@ ghost none_allocated(m, pool);
}

/*@ ghost
  /@ requires \valid(m);
     requires top: 0 <= m->top <= ASHLAR_SLOTS;
     requires memory: \exists integer i; 0 <= i < m->top && is_mapped(*m, i) && m->home[i] == home &&
       m->addr[i] <= x < m->addr[i] + m->size[i];
     terminates \true; exits \false;
     assigns \nothing;
     ensures found: 0 <= \result < m->top && is_mapped(*m, \result) && m->home[\result] == home &&
       m->addr[\result] <= x < m->addr[\result] + m->size[\result];
  @/
  static int32_t memory_of(const struct ashlar_manager *m, int32_t home, uint64_t x)
  {
    int32_t slot = 0;
    /@ loop invariant slot: 0 <= slot < m->top;
       loop invariant passed: \forall integer i; 0 <= i < slot ==> is_mapped(*m, i) ==> m->home[i] == home ==>
         x < m->addr[i] || m->addr[i] + m->size[i] <= x;
       loop assigns slot;
       loop variant m->top - slot;
    @/
    while (m->state[slot] == ASHLAR_UNUSED || m->state[slot] == ASHLAR_UNMAPPED || m->home[slot] != home ||
      m->addr[slot] > x || x - m->addr[slot] >= m->size[slot]) slot++;
    return slot;
  }

  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires size: 0 < size && address + size <= UINT64_MAX;
     requires backed: is_one_piece(*m, home, address, address + size);
     requires free: \forall integer i; 0 <= i < m->top ==> is_mapped(*m, i) ==> m->home[i] == home ==>
       m->state[i] == ASHLAR_FREE;
     terminates \true; exits \false;
     assigns \nothing;
     ensures there: is_room(*m, home, address, size);
  @/
  static void room_there(const struct ashlar_manager *m, int32_t home, uint64_t address, uint64_t size)
  {
    int32_t slot;
    uint64_t base;
    ashlar_blocks_open(m);
    slot = memory_of(m, home, address);
    base = m->base[slot];
    /@ assert one: \forall integer i; 0 <= i < m->top ==> is_mapped(*m, i) ==>
         m->addr[i] <= address < m->addr[i] + m->size[i] ==> i == slot; @/
    /@ assert base: \forall integer b; has_memory(*m, home, b, address) ==> b == base; @/
    /@ assert backed: is_backed(*m, home, base, address, address + size); @/
    /@ assert linked: \forall integer g; 0 <= g < m->top ==> m->state[g] != ASHLAR_UNUSED ==> m->base[g] == base ==>
         m->addr[g] == m->addr[slot] + m->size[slot] ==> m->prev[g] == slot; @/
    /@ assert alone: \forall integer g; 0 <= g < m->top ==> is_mapped(*m, g) ==> m->base[g] == base ==>
         m->home[g] == home ==> m->addr[g] != m->addr[slot] + m->size[slot]; @/
    /@ assert end: !has_memory(*m, home, base, m->addr[slot] + m->size[slot]); @/
    /@ assert whole: address + size <= m->addr[slot] + m->size[slot]; @/
  }

  /@ requires \valid(m);
     requires blocks: BLOCKS_STATE;
     requires sound: is_sound(saved, pool);
     requires backed: is_in_memory(*m, saved);
     requires free: \forall integer i; 0 <= i < m->top ==> is_mapped(*m, i) ==> in_pool(*m, pool, i) ==>
       m->state[i] == ASHLAR_FREE;
     terminates \true; exits \false;
     assigns \nothing;
     ensures there: is_there(*m, saved);
  @/
  static void free_there(const struct ashlar_manager *m, int32_t pool, struct ashlar_saved saved)
  {
    room_there(m, saved.home, saved.address, saved.size);
  }
*/

/* Frees every allocated block of a pool: what is recorded of it lies in free blocks then. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires settled: pool_settled(*m, pool);
    requires unused: pool_unused(*m, pool);
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1)) && \separated(m, saved + (..));
    requires fits: \forall integer k; 0 <= k < count ==> is_fit(*m, saved[k], pool);
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK;
    ENSURES_WHOLE
    ensures there: \forall integer k; 0 <= k < count ==> is_there(*m, saved[k]);
    ensures REQ_FRAME_free: pool_freed(\old(*m), *m, pool);
    ensures spare: m->spare_count >= \old(m->spare_count);
*/
static void clear(struct ashlar_manager *m, int32_t pool, const struct ashlar_saved *saved,
                  int32_t count)
{
  (void)saved;
  (void)count;
  free_all(m, pool);
  //@ assert memory: STILL_MEMORY(\at(*m, Pre));
  /*@ assert backed: \forall integer h, b, from, to; is_backed(\at(*m, Pre), h, b, from, to) ==>
        is_backed(*m, h, b, from, to); */
  //@ assert recorded: \forall integer k; 0 <= k < count ==> is_in_memory(\at(*m, Pre), saved[k]);
  /*@ assert pieces: \forall integer k; 0 <= k < count ==> is_in_memory(\at(*m, Pre), saved[k]) ==>
        is_in_memory(*m, saved[k]); */
  //@ assert still: \forall integer k; 0 <= k < count ==> is_in_memory(*m, saved[k]);
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  //@ assert free: \forall integer i; 0 <= i < m->top ==> is_mapped(*m, i) ==> in_pool(*m, pool, i) ==> m->state[i] == ASHLAR_FREE;
  //@ ghost int32_t k = 0;
  /*@ ghost
    /@ loop invariant k: 0 <= k <= count;
       loop invariant there: \forall integer l; 0 <= l < k ==> is_there(*m, saved[l]);
       loop assigns k;
       loop variant count - k;
    @/
    while (k < count) {
      free_there(m, pool, saved[k]);
      k++;
    }
  */
}

/* Records a use of an allocated block, if there is a record left. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    requires stream: 0 <= stream < ASHLAR_STREAM_DEFERRED;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDED;
    ENSURES_WHOLE
*/
static void use_on(struct ashlar_manager *m, int32_t slot, int32_t stream)
{
  //@ ghost ashlar_whole_open(m);
  (void)ashlar_pending_use(m, slot, stream, 0);
  //@ ghost ashlar_whole_close(m);
}

/* Takes a block as it was recorded, out of the free block that has room for it; its slot. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires sound: is_sound(saved, saved.home / ASHLAR_STREAMS / ASHLAR_CLASSES);
    requires free: 0 <= slot < m->top && m->state[slot] == ASHLAR_FREE && m->home[slot] == saved.home;
    requires part: is_part(m->addr[slot], m->size[slot], saved.address, saved.size);
    requires spare: 2 <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION;
    ENSURES_WHOLE
    ENSURES_RESTORED
*/
static int32_t take(struct ashlar_manager *m, struct ashlar_saved saved, int32_t slot)
{
  //@ ghost ashlar_whole_open(m);
  //@ assert used: \forall integer u; 0 <= u < m->use_top ==> m->use_block[u] < m->top;
  /*@ assert owned: \forall integer u, i; 0 <= u < m->use_top ==> 0 <= i < m->top ==>
        m->use_block[u] <= i <= m->use_block[u] ==>
        m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING; */
  slot = ashlar_allocation_take_at(m, slot, saved.address, saved.size, saved.size);
  /*@ assert had: \forall integer j; 0 <= j < m->top ==> \at(*m, Pre).state[j] == ASHLAR_ALLOCATED ||
        \at(*m, Pre).state[j] == ASHLAR_PENDING ==> m->state[j] == \at(*m, Pre).state[j]; */
  /*@ assert still: \forall integer u, i; 0 <= u < m->use_top ==> 0 <= i < m->top ==>
        m->use_block[u] <= i <= m->use_block[u] ==>
        m->state[i] == ASHLAR_ALLOCATED || m->state[i] == ASHLAR_PENDING; */
  //@ ghost ashlar_whole_close(m);
  /*@ assert before: \at(m->addr[slot], Pre) < saved.address ==> m->state[\at(slot, Pre)] == ASHLAR_FREE &&
        m->home[\at(slot, Pre)] == saved.home && m->addr[\at(slot, Pre)] == \at(m->addr[slot], Pre) &&
        m->addr[\at(slot, Pre)] + m->size[\at(slot, Pre)] == saved.address; */
  return slot;
}

/* An allocated block is used on the streams that an entry marks. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires allocated: 0 <= slot < m->top && m->state[slot] == ASHLAR_ALLOCATED;
    terminates \true; exits \false;
    assigns ASSIGNS_RECORDED;
    ENSURES_WHOLE
*/
static void use_marked(struct ashlar_manager *m, struct ashlar_saved saved, int32_t slot)
{
  int32_t stream = 0;
  /*@ loop invariant stream: 0 <= stream <= ASHLAR_STREAM_DEFERRED;
      loop invariant whole: WHOLE_STATE;
      loop assigns stream, ASSIGNS_RECORDED;
      loop variant ASHLAR_STREAM_DEFERRED - stream;
  */
  while (stream < ASHLAR_STREAM_DEFERRED) {
    if ((saved.use[stream / 64] >> (stream % 64)) % 2 != 0) {
      use_on(m, slot, stream);
    }
    stream++;
  }
}

/* Makes a block as it was recorded; first looked for at a slot. Its slot. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires first: -1 <= first < m->top;
    requires sound: is_sound(saved, saved.home / ASHLAR_STREAMS / ASHLAR_CLASSES);
    requires there: is_there(*m, saved);
    requires spare: 2 <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, ASSIGNS_RECORDED;
    ENSURES_WHOLE
    ENSURES_RESTORED
*/
static int32_t rebuild(struct ashlar_manager *m, struct ashlar_saved saved, int32_t first)
{
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_blocks_open(m);
  int32_t slot = block_with(m, saved.home, saved.address, first);
  //@ assert found: slot != -1;
  //@ assert free: m->state[slot] == ASHLAR_FREE && is_part(m->addr[slot], m->size[slot], saved.address, saved.size);
  slot = take(m, saved, slot);
  use_marked(m, saved, slot);
  return slot;
}

/* Makes the blocks of a record that were allocated; how many there are. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1)) && \separated(m, saved + (..));
    requires apart: ENTRIES_APART;
    requires sound: \forall integer k; 0 <= k < count ==> is_sound(saved[k], pool);
    requires there: \forall integer k; 0 <= k < count ==> is_there(*m, saved[k]);
    requires spare: 2 * count <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_ALLOCATION, ASSIGNS_RECORDED;
    ENSURES_WHOLE
    ensures count: 0 <= \result <= count;
    ensures REQ_CHECKPOINT_restore_done: \forall integer k; 0 <= k < count ==> saved[k].allocated != 0 ==>
      is_made(*m, saved[k]);
    ensures REQ_FRAME_rebuild: \forall integer j; 0 <= j < m->top ==> is_had(\old(*m), j) ==>
      m->state[j] == \old(*m).state[j] && same_block(\old(*m), *m, j) && m->next[j] == \old(*m).next[j] &&
      m->generation[j] == \old(*m).generation[j];
*/
static int32_t rebuild_all(struct ashlar_manager *m, int32_t pool, const struct ashlar_saved *saved,
                           int32_t count)
{
  int32_t i = 0;
  int32_t slot = -1;
  int32_t created = 0;
  (void)pool;
  /*@ loop invariant i: 0 <= created <= i <= count;
      loop invariant slot: -1 <= slot < m->top && (slot != -1 ==> m->state[slot] != ASHLAR_UNUSED);
      loop invariant whole: WHOLE_STATE;
      loop invariant frame: \forall integer j; 0 <= j < m->top ==> is_had(\at(*m, Pre), j) ==>
        m->state[j] == \at(*m, Pre).state[j] && same_block(\at(*m, Pre), *m, j) &&
        m->next[j] == \at(*m, Pre).next[j] && m->generation[j] == \at(*m, Pre).generation[j];
      loop invariant there: \forall integer k; i <= k < count ==> is_there(*m, saved[k]);
      loop invariant done: \forall integer k; 0 <= k < i ==> saved[k].allocated != 0 ==> is_made(*m, saved[k]);
      loop invariant spare: 2 * (count - i) <= m->spare_count;
      loop assigns i, slot, created, ASSIGNS_ALLOCATION, ASSIGNS_RECORDED;
      loop variant count - i;
  */
  while (i < count) {
    //@ ghost ashlar_whole_open(m);
    //@ ghost ashlar_blocks_open(m);
    if (saved[i].allocated != 0) {
      slot = rebuild(m, saved[i], slot == -1 ? -1 : m->next[slot]);
      created++;
    }
    i++;
  }
  return created;
}

/* Sees to spare slots for a record that fits. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires settled: pool_settled(*m, pool);
    requires unused: pool_unused(*m, pool);
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1)) && \separated(m, saved + (..));
    requires fits: \forall integer k; 0 <= k < count ==> is_fit(*m, saved[k], pool);
    requires room: 2 * count + ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS <= ROOM_OF(*m);
    terminates \true; exits \false;
    assigns ASSIGNS_RESERVE;
    ENSURES_WHOLE
    ensures settled: pool_settled(*m, pool);
    ensures unused: pool_unused(*m, pool);
    ensures fits: \forall integer k; 0 <= k < count ==> is_fit(*m, saved[k], pool);
    ensures spare: 2 * count <= m->spare_count;
    ensures kept: blocks_kept(\old(*m), *m) && \old(m->top) <= m->top;
*/
static void make_room(struct ashlar_manager *m, int32_t pool, const struct ashlar_saved *saved,
                      int32_t count)
{
  (void)pool;
  (void)saved;
  //@ ghost ashlar_whole_open(m);
  //@ ghost ashlar_uses_open(m);
  //@ ghost ashlar_blocks_open(m);
  reserve(m, 2 * count + ASHLAR_REQUEST_SLOTS * ASHLAR_REQUESTS);
  //@ assert memory: STILL_MEMORY(\at(*m, Pre));
  /*@ assert backed: \forall integer h, b, from, to; is_backed(\at(*m, Pre), h, b, from, to) ==>
        is_backed(*m, h, b, from, to); */
  //@ assert recorded: \forall integer k; 0 <= k < count ==> is_in_memory(\at(*m, Pre), saved[k]);
  /*@ assert pieces: \forall integer k; 0 <= k < count ==> is_in_memory(\at(*m, Pre), saved[k]) ==>
        is_in_memory(*m, saved[k]); */
  //@ assert still: \forall integer k; 0 <= k < count ==> is_in_memory(*m, saved[k]);
  //@ assert live: \forall integer k; 0 <= k < count ==> marks_live(*m, saved[k]);
}

/* Makes the blocks of a pool those of a record that fits. */
/*@ requires \valid(m); REQUIRES_WHOLE
    requires settled: pool_settled(*m, pool);
    requires unused: pool_unused(*m, pool);
    requires saved: 0 <= count && \valid_read(saved + (0 .. count - 1)) && \separated(m, saved + (..));
    requires apart: ENTRIES_APART;
    requires fits: \forall integer k; 0 <= k < count ==> is_fit(*m, saved[k], pool);
    requires spare: 2 * count <= m->spare_count;
    terminates \true; exits \false;
    assigns ASSIGNS_TAKEN_BACK, ASSIGNS_ALLOCATION, ASSIGNS_RECORDED;
    ENSURES_WHOLE
    ensures count: 0 <= \result <= count;
    ensures REQ_CHECKPOINT_restore_done: \forall integer k; 0 <= k < count ==> saved[k].allocated != 0 ==>
      is_made(*m, saved[k]);
    ensures REQ_FRAME_restore: foreign_kept(\old(*m), *m, pool);
*/
static int32_t remake(struct ashlar_manager *m, int32_t pool, const struct ashlar_saved *saved,
                      int32_t count)
{
  clear(m, pool, saved, count);
  return rebuild_all(m, pool, saved, count);
}

struct ashlar_restored ashlar_checkpoint_restore(struct ashlar_manager *m, int32_t pool,
                                                 struct ashlar_caller caller,
                                                 const struct ashlar_saved *saved, int32_t count)
{
  struct ashlar_restored restored;
  struct ashlar_stats_copy before;
  restored.freed = 0;
  restored.created = 0;
  restored.status = refusal(m, pool);
  if (restored.status != ASHLAR_OK) {
    return restored;
  }
  ashlar_ladder_poll(m, caller.stream);
  restored.status = settled(m, pool);
  if (restored.status == ASHLAR_OK) {
    restored.status = misfit(m, pool, saved, count);
  }
  if (restored.status != ASHLAR_OK) {
    return restored;
  }
  make_room(m, pool, saved, count);
  before = ashlar_stats_copy(m);
  restored.freed = count_blocks(m, pool, 1);
  restored.created = remake(m, pool, saved, count);
  ashlar_stats_once(m, before);
  return restored;
}
