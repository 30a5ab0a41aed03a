/* sizes.c - roundings, classes, and what a block of a size may do.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spec/model/parts.h"

#define LARGE_SEGMENT (UINT64_C(20) * MODEL_MIB)

struct model_config model_default_config(void)
{
  struct model_config config = {0};
  config.max_split_size = MODEL_UNSET;
  config.large_segment_size = LARGE_SEGMENT;
  config.oversize_slack = LARGE_SEGMENT;
  return config;
}

static bool is_power_of_two(uint64_t n)
{
  return n != 0 && (n & (n - 1)) == 0;
}

/* REQ-SIZE-settings, REQ-SIZE-division. */
bool model_config_allowed(const struct model_config *config)
{
  const uint64_t large = config->large_segment_size;
  bool allowed = config->order <= MODEL_ORDER_SEGMENT && config->policy <= MODEL_FAITHFUL &&
                 large > 10 * MODEL_MIB && large < MODEL_GREATEST && large % (2 * MODEL_MIB) == 0 &&
                 config->max_split_size >= large && config->oversize_slack >= large &&
                 config->device_total < MODEL_GREATEST && config->reject_above < MODEL_GREATEST &&
                 (!config->growable || config->device_total > 0);
  for (int32_t row = 0; row < MODEL_ROWS; row++) {
    const uint64_t division = config->division[row];
    allowed = allowed && division <= UINT32_MAX && (division == 0 || is_power_of_two(division));
  }
  return allowed;
}

uint64_t model_up(uint64_t n, uint64_t step)
{
  return n % step == 0 ? n : n + (step - n % step);
}

/* The greatest power of two that is at most n > 0. */
static uint64_t power_below(uint64_t n)
{
  uint64_t power = 1;
  for (int32_t bit = 0; bit < 63 && n / 2 >= power; bit++) {
    power *= 2;
  }
  return power;
}

/* REQ-SIZE-row: row 0 below 2 MiB, row 15 from 32 GiB, and one for each power of two between. */
static int32_t row_of(uint64_t n)
{
  int32_t row = 0;
  for (uint64_t bound = 2 * MODEL_MIB; row < MODEL_ROWS - 1 && n >= bound; bound *= 2) {
    row++;
  }
  return row;
}

/* For 0 < bytes < 2^60, so that nothing wraps. REQ-SIZE-least, REQ-SIZE-divided. */
uint64_t model_rounded(const struct model *m, uint64_t bytes)
{
  const uint64_t division = m->config.division[row_of(bytes)];
  if (bytes < MODEL_GRANULE) {
    return MODEL_GRANULE;
  }
  if (division < 2 || bytes / MODEL_GRANULE < division || bytes == MODEL_GRANULE * division) {
    return model_up(bytes, MODEL_GRANULE);
  }
  return model_up(bytes, power_below(bytes) / division);
}

/* REQ-POOL-class. */
bool model_is_small(uint64_t size)
{
  return size <= MODEL_MIB;
}

/* REQ-SIZE-segment. */
uint64_t model_segment_size(const struct model *m, uint64_t size)
{
  if (model_is_small(size)) {
    return 2 * MODEL_MIB;
  }
  return size < 10 * MODEL_MIB ? m->config.large_segment_size : model_up(size, 2 * MODEL_MIB);
}

/* Whether what the request leaves of the block becomes one of its own.
   REQ-SIZE-split, REQ-GROW-split, REQ-POOL-nosplit. */
bool model_splits(const struct model *m, struct model_want want, int32_t slot)
{
  const uint64_t rest = m->block[slot].size - want.size;
  if (m->pool[m->segment[m->block[slot].segment].pool].no_split) {
    return false;
  }
  if (want.small || want.growable) {
    return rest >= MODEL_GRANULE;
  }
  return want.size < m->config.max_split_size && rest > MODEL_MIB;
}

/* Whether a request of a rounded size may take a block of at least this size. REQ-BESTFIT-oversize. */
bool model_may_serve(const struct model *m, uint64_t size, uint64_t block)
{
  if (size < m->config.max_split_size) {
    return block < m->config.max_split_size;
  }
  return block - size < m->config.oversize_slack;
}
