/* growable.c - ranges that are reserved once, and mapped and unmapped in pages.
 *
 * A request holds the whole run that it maps, so that it is there when the device has answered.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

/* REQ-GROW-page. */
static uint64_t page_of(const struct model *m, bool small)
{
  return small ? 2 * MODEL_MIB : m->config.large_segment_size;
}

/* REQ-GROW-reserve. */
static uint64_t reservation(const struct model *m, bool small)
{
  const uint64_t full = m->config.device_total + m->config.device_total / 8;
  const uint64_t set = small ? m->config.reservation_small : m->config.reservation_large;
  return model_up(set != 0 && set < full ? set : full, page_of(m, small));
}

/* Where the run of open blocks starts that the request maps; -1: there is none. REQ-GROW-run. */
static int32_t run(const struct model *m, struct model_want want)
{
  uint64_t from = 0;
  for (int32_t round = 0; round < MODEL_BLOCKS; round++) {
    int32_t start = -1;
    uint64_t room = 0;
    for (int32_t i = 0; i < m->blocks; i++) {
      const struct model_segment segment = m->segment[m->block[i].segment];
      if (m->block[i].state == MODEL_FREE && !m->block[i].mapped && segment.pool == want.pool &&
          segment.small == want.small && segment.stream == want.stream &&
          m->block[i].address >= from &&
          (start == -1 || m->block[i].address < m->block[start].address)) {
        start = i;
      }
    }
    if (start == -1) {
      return -1;
    }
    from = m->block[start].address + 1;
    const int32_t ahead = model_ahead(m, start);
    start = ahead != -1 && m->block[ahead].state == MODEL_FREE ? ahead : start;
    int32_t open = start;
    for (int32_t i = 0; i < MODEL_BLOCKS && open != -1 && m->block[open].state == MODEL_FREE; i++) {
      room += m->block[open].size;
      open = model_behind(m, open);
    }
    if (room >= want.size) {
      return start;
    }
  }
  return -1;
}

/* Holds as much of the run as is needed, in whole pages where it is unmapped. REQ-GROW-allocate, REQ-GROW-map. */
static void hold_run(struct model *m, int32_t request, int32_t start)
{
  const struct model_want want = m->request[request].want;
  uint64_t missing = want.size;
  int32_t slot = start;
  for (int32_t i = 0; i < MODEL_BLOCKS && slot != -1 && missing > 0; i++) {
    const uint64_t pages = model_up(missing, page_of(m, want.small));
    if (!m->block[slot].mapped && m->block[slot].size > pages) {
      (void)model_cut(m, slot, pages);
    }
    model_hold(m, request, slot, true);
    missing -= m->block[slot].size < missing ? m->block[slot].size : missing;
    slot = model_behind(m, slot);
  }
}

/* The block with the lowest address that the request holds; -1: none. */
static int32_t held_block(const struct model *m, int32_t request)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_HELD && m->block[i].holder == request &&
        (first == -1 || m->block[i].address < m->block[first].address)) {
      first = i;
    }
  }
  return first;
}

/* Of those that the request has mapped, or of those that are not mapped. */
static int32_t held_page(const struct model *m, int32_t request, bool mapped)
{
  int32_t first = -1;
  for (int32_t i = 0; i < m->blocks; i++) {
    if (m->block[i].state == MODEL_HELD && m->block[i].holder == request &&
        m->block[i].mapped == mapped && m->block[i].fresh == mapped &&
        (first == -1 || m->block[i].address < m->block[first].address)) {
      first = i;
    }
  }
  return first;
}

/* Blocks that the request holds become free, ascending by address; returns the last, which has joined those before it. */
int32_t model_let_go(struct model *m, int32_t request)
{
  int32_t last = -1;
  int32_t next = held_block(m, request);
  for (int32_t round = 0; round < MODEL_BLOCKS && next != -1; round++) {
    model_enter(m, next);
    last = next;
    next = held_block(m, request);
  }
  return last;
}

/* Goes on with what the device is needed for, up to GROWN, with the block in `held`, or REFUSED. REQ-GROW-allocate,
   REQ-GROW-partial. */
struct model_step model_grow(struct model *m, int32_t request)
{
  const struct model_want want = m->request[request].want;
  const struct model_step none = {.kind = MODEL_STEP_NONE};
  int32_t slot = -1;
  if (m->request[request].growth == MODEL_GROWTH_NONE) {
    if (!model_has_room(m)) {
      m->request[request].growth = MODEL_GROWTH_REFUSED;
      return none;
    }
    const int32_t start = run(m, want);
    if (start == -1) {
      m->request[request].growth = MODEL_GROWTH_RESERVING;
      return model_ask(m, request, MODEL_STEP_RESERVE, -1, reservation(m, want.small));
    }
    hold_run(m, request, start);
    m->request[request].growth = MODEL_GROWTH_MAPPING;
  }
  switch (m->request[request].growth) {
  case MODEL_GROWTH_MAPPING:
    slot = held_page(m, request, false);
    if (slot != -1) {
      return model_ask(m, request, MODEL_STEP_MAP, slot, 0);
    }
    m->request[request].held = model_let_go(m, request);
    m->request[request].growth = MODEL_GROWTH_GROWN;
    return none;
  case MODEL_GROWTH_UNDOING:
    slot = held_page(m, request, true);
    if (slot != -1) { /* nobody has used it: nothing is waited for */
      struct model_step step = model_unmap(m, request, slot);
      step.stream = -1;
      m->request[request].asked = step;
      return step;
    }
    (void)model_let_go(m, request);
    m->request[request].growth = MODEL_GROWTH_REFUSED;
    return none;
  case MODEL_GROWTH_RESERVING: { /* the range is too short, or has no slot */
    const uint64_t address = m->request[request].asked.address;
    struct model_step step =
        model_ask(m, request, MODEL_STEP_UNRESERVE, -1, m->request[request].asked.bytes);
    step.address = address;
    m->request[request].asked = step;
    return step;
  }
  default:
    return none;
  }
}

/* The pages that lie inside the block, as offsets from the start of the range. REQ-GROW-unmap. */
static uint64_t first_page(const struct model *m, int32_t slot)
{
  const struct model_segment segment = m->segment[m->block[slot].segment];
  return model_up(m->block[slot].address - segment.address, page_of(m, segment.small));
}
static uint64_t last_page(const struct model *m, int32_t slot)
{
  const struct model_segment segment = m->segment[m->block[slot].segment];
  const uint64_t end = m->block[slot].address + m->block[slot].size - segment.address;
  return end - end % page_of(m, segment.small);
}

/* Whether pages of a free block could be unmapped. */
bool model_unmappable(const struct model *m, int32_t slot)
{
  const struct model_segment segment = m->segment[m->block[slot].segment];
  return segment.growable && model_listed(m, slot, segment.pool, segment.small) &&
         first_page(m, slot) < last_page(m, slot) && model_has_room(m);
}

/* Cuts the whole pages out of a block, and unmaps them. REQ-GROW-unmap. */
struct model_step model_unmap(struct model *m, int32_t request, int32_t slot)
{
  const uint64_t base = m->segment[m->block[slot].segment].address;
  const uint64_t first = first_page(m, slot);
  const uint64_t last = last_page(m, slot);
  if (base + first > m->block[slot].address) {
    slot = model_cut(m, slot, base + first - m->block[slot].address);
  }
  if (m->block[slot].size > last - first) {
    (void)model_cut(m, slot, last - first);
  }
  model_hold(m, request, slot, false);
  m->block[slot].fresh = false;
  m->calls.device_frees++;
  model_settle(m);
  return model_ask(m, request, MODEL_STEP_UNMAP, slot, 0);
}

/* The outcome of a step of a growable segment. */
enum model_status model_grown(struct model *m, int32_t request, enum model_outcome outcome,
                              uint64_t value)
{
  const struct model_step asked = m->request[request].asked;
  const struct model_want want = m->request[request].want;
  const int32_t slot = m->request[request].held;
  switch (asked.kind) {
  case MODEL_STEP_RESERVE: /* REQ-GROW-reserve */
    if (value % MODEL_GRANULE != 0 || value > UINT64_MAX - asked.bytes ||
        !model_apart(m, value, asked.bytes)) {
      return MODEL_ERROR_RANGE;
    }
    m->request[request].asked.address = value;
    if (asked.bytes >= want.size && model_has_room(m)) {
      (void)model_add_segment(m, want, value, asked.bytes, true);
      m->request[request].growth = MODEL_GROWTH_NONE;
      m->request[request].reserved = true;
    }
    break;
  case MODEL_STEP_MAP:
    if (outcome == MODEL_PERFORMED) {
      m->block[slot].mapped = true;
      m->block[slot].fresh = true;
      m->calls.device_allocs++;
    } else if (m->config.policy == MODEL_FAITHFUL) { /* REQ-GROW-partial */
      (void)model_let_go(m, request);
      m->request[request].growth = MODEL_GROWTH_REFUSED;
    } else {
      m->request[request].growth = MODEL_GROWTH_UNDOING;
    }
    break;
  case MODEL_STEP_UNMAP: /* REQ-COALESCE-mapping */
    if (m->request[request].growth == MODEL_GROWTH_UNDOING) {
      break; /* it is let go with the rest of the run */
    }
    model_enter(m, slot);
    if (model_whole(m, slot) && m->request[request].growth == MODEL_GROWTH_NONE) {
      m->request[request].growth = MODEL_GROWTH_RETURNING;
    }
    break;
  default: /* UNRESERVE */
    if (slot != -1) {
      model_remove_segment(m, slot);
    }
    m->request[request].growth = slot == -1 ? MODEL_GROWTH_REFUSED : MODEL_GROWTH_NONE;
    break;
  }
  model_settle(m);
  return MODEL_OK;
}

/* The next growable segment, and how much of it is mapped. REQ-GROW-sizes. */
struct model_growable model_growable_next(const struct model *m, int32_t segment)
{
  struct model_growable next = {.segment = -1};
  for (int32_t i = segment + 1; i < m->segments && next.segment == -1; i++) {
    if (m->segment[i].used && m->segment[i].growable) {
      next = (struct model_growable){i, m->segment[i].stream, m->segment[i].small,
                                     m->segment[i].address, 0};
    }
  }
  for (int32_t i = 0; i < m->blocks && next.segment != -1; i++) {
    if (m->block[i].state != MODEL_UNUSED && m->block[i].segment == next.segment &&
        m->block[i].mapped) {
      next.mapped += m->block[i].size;
    }
  }
  return next;
}
