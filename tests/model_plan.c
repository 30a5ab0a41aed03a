/* model_plan.c - see model_plan.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/model_plan.h"

#define MIB MODEL_MIB
#define GIB (UINT64_C(1024) * MIB)

/* What the plans of one family have in common. What is 0 here goes by their number in the family; limit and capacity are
   what is added to a few of the largest requests. */
static const struct model_plan FAMILIES[MODEL_FAMILIES] = {
    {.family = "streams"},
    {.family = "uses", .use_permille = 120},
    {.family = "split limit",
     .max_split_size = 32 * MIB,
     .largest = 100 * MIB,
     .capacity = 1 * MIB,
     .streams = 2,
     .refuse_permille = 60},
    {.family = "limit", .limit = 40 * MIB, .use_permille = 40},
    {.family = "collection", .largest = 48 * MIB, .limit = 160 * MIB, .threshold = 0.4},
    {.family = "collection and split limit",
     .largest = 64 * MIB,
     .limit = 200 * MIB,
     .threshold = 0.5,
     .max_split_size = 40 * MIB,
     .streams = 3,
     .use_permille = 60},
    {.family = "pools", .pool_permille = 60},
    {.family = "captures", .graph_permille = 30, .use_permille = 120},
    {.family = "odd pools", .pool_permille = 60, .odd_pools = true, .refuse_permille = 250},
    {.family = "growable", .growable = true},
    {.family = "growable, uses",
     .growable = true,
     .least = 3 * MIB,
     .largest = 100 * MIB,
     .capacity = 2500 * MIB,
     .streams = 2,
     .cache_permille = 60,
     .use_permille = 100,
     .refuse_permille = 60},
    {.family = "growable, pools", .growable = true, .pool_permille = 60},
    {.family = "growable, captures",
     .growable = true,
     .graph_permille = 30,
     .use_permille = 80,
     .refuse_permille = 30},
    {.family = "two devices", .devices = 2, .use_permille = 60, .pool_permille = 30},
    {.family = "refusals", .refuse_permille = 150, .use_permille = 60},
    {.family = "everything ordinary",
     .largest = 64 * MIB,
     .limit = 250 * MIB,
     .threshold = 0.5,
     .max_split_size = 48 * MIB,
     .use_permille = 80,
     .pool_permille = 40,
     .graph_permille = 20,
     .refuse_permille = 30,
     .odd_pools = true,
     .devices = 2},
};

struct model_plan model_plan(unsigned index)
{
  static const uint64_t LARGEST[] = {24 * MIB, 1 * MIB, 64 * MIB, 200 * MIB, 3 * MIB};
  static const uint64_t DIVISIONS[] = {0, 0, 4, 0, 8, 0, 2};
  const unsigned number = index / MODEL_FAMILIES;
  struct model_plan plan = FAMILIES[index % MODEL_FAMILIES];
  plan.seed = UINT64_C(0x0a51a4) + index;
  plan.least = plan.least == 0 ? 1 : plan.least;
  plan.largest = plan.largest == 0 ? LARGEST[number % 5] : plan.largest;
  plan.operations = 300 + 20 * (index % 11);
  plan.streams = plan.streams == 0 ? 1 + (number + index) % MODEL_PLAN_STREAMS : plan.streams;
  plan.streams = plan.streams < 2 && plan.use_permille + plan.graph_permille > 0 ? 2 : plan.streams;
  plan.devices = plan.devices == 0 ? 1 : plan.devices;
  plan.live = 12 + 7 * (number % 6);
  plan.order = number % 2 == 0 ? MODEL_ORDER_ADDRESS : MODEL_ORDER_SEGMENT;
  plan.addresses = (enum model_addresses)((number + index) % 3);
  if (plan.capacity == 0) {
    plan.capacity = 200 * MIB;
  }
  plan.capacity = plan.refuse_permille > 0 ? 6 * plan.largest + plan.capacity : 20 * GIB;
  if (plan.cache_permille == 0 && number % 3 != 0) {
    plan.cache_permille = 12;
  }
  plan.entries = number % 5 == 3 ? 250 : UINT64_MAX;
  plan.division = DIVISIONS[number % 7];
  plan.limit = plan.limit == 0 ? MODEL_UNSET : plan.limit + 4 * plan.largest;
  if (plan.max_split_size == 0) {
    plan.max_split_size = number % 4 == 3 ? 100 * MIB : MODEL_UNSET;
  }
  return plan;
}
