/* replay_json.c - the report of a replay as JSON; see replay_report.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay_report.h"

#include <inttypes.h>
#include <jansson.h>

enum { NUMBER_TEXT = 24 };

/* Every set function of jansson takes the value over, and refuses NULL: a failure anywhere is
   seen here. */
static bool set(json_t *object, const char *key, json_t *value)
{
  return json_object_set_new(object, key, value) == 0;
}

static json_t *number(uint64_t value)
{
  if (value <= INT64_MAX) {
    return json_integer((json_int_t)value);
  }
  char text[NUMBER_TEXT];
  (void)snprintf(text, sizeof text, "%" PRIu64, value);
  return json_string(text);
}

struct pair {
  const char *key;
  uint64_t value;
};

static bool set_numbers(json_t *object, const struct pair *pairs, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (!set(object, pairs[i].key, number(pairs[i].value))) {
      return false;
    }
  }
  return true;
}

static json_t *event_of(uint64_t event)
{
  return event == ASHLAR_REPLAY_BEFORE ? json_null() : number(event);
}

static json_t *object_of(const struct pair *pairs, size_t count)
{
  json_t *object = json_object();
  if (object != NULL && !set_numbers(object, pairs, count)) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static json_t *moment_of(const struct ashlar_replay_moment *moment)
{
  const struct pair pairs[] = {
      {"reserved", moment->reserved},         {"allocated", moment->allocated},
      {"pending", moment->pending},           {"free", moment->free},
      {"largest_free", moment->largest_free}, {"unused", moment->reserved - moment->allocated},
  };
  json_t *object = object_of(pairs, sizeof pairs / sizeof pairs[0]);
  if (object != NULL &&
      (!set(object, "event", event_of(moment->event)) ||
       !set(object, "fragmentation", json_real(ashlar_replay_fragmentation(moment))))) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static json_t *calls_of(const struct ashlar_replay *replay,
                        const struct ashlar_replay_device *device)
{
  const struct ashlar_sim_counts *calls = &device->calls;
  const struct pair pairs[] = {
      {"alloc", calls->allocs},
      {"free", calls->frees},
      {"refused", calls->refused},
      {"total", calls->allocs + calls->frees + calls->refused},
      {"without_cache", device->calls_uncached},
  };
  json_t *object = object_of(pairs, sizeof pairs / sizeof pairs[0]);
  if (object != NULL &&
      !set(object, "saved_seconds", json_real(ashlar_replay_saved_seconds(replay, device)))) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static json_t *failure_of(const struct ashlar_replay_failure *failure,
                          const struct ashlar_replay_subject *subject)
{
  json_t *object = json_object();
  bool is_done =
      object != NULL && set(object, "event", event_of(failure->event)) &&
      set(object, "bytes", number(failure->bytes)) &&
      set(object, "stream", number(subject->requests->streams[failure->stream].handle)) &&
      set(object, "reason", json_string(ashlar_replay_reason_text(failure->reason)));
  if (is_done && failure->address != ASHLAR_NO_ADDRESS) {
    is_done = set(object, "address", number(failure->address));
  }
  if (is_done && failure->reason == ASHLAR_REPLAY_OUT_OF_MEMORY) {
    is_done = set(object, "cached", number(failure->cached)) &&
              set(object, "device_free", number(failure->free));
  }
  if (!is_done) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static json_t *failures_of(const struct ashlar_replay *replay, uint32_t device,
                           const struct ashlar_replay_subject *subject)
{
  json_t *array = json_array();
  for (size_t i = 0; array != NULL && i < replay->failure_count; i++) {
    if (replay->failures[i].device == device &&
        json_array_append_new(array, failure_of(&replay->failures[i], subject)) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

static json_t *seeds_of(const struct ashlar_replay_device *device)
{
  const struct pair pairs[] = {
      {"segments", device->seeded_segments},
      {"blocks", device->seeded_blocks},
      {"bytes", device->seeded_bytes},
      {"device_calls", device->seed_calls},
  };
  return object_of(pairs, sizeof pairs / sizeof pairs[0]);
}

static json_t *device_of(const struct ashlar_replay *replay, uint32_t index,
                         const struct ashlar_replay_subject *subject)
{
  const struct ashlar_replay_device *device = &replay->devices[index];
  const struct pair pairs[] = {
      {"device", index},
      {"allocations", device->allocations},
      {"served", device->served},
      {"failed", device->failed},
      {"frees", device->frees},
      {"skipped", device->skipped},
      {"uses", device->uses},
      {"cache_releases", device->cache_releases},
      {"refused_when_recorded", device->refused_before},
      {"refused_again", device->refused_again},
      {"peak_reserved", device->at_peak_reserved.reserved},
      {"peak_allocated", device->at_peak_allocated.allocated},
      {"live_blocks", device->live_blocks},
      {"live_bytes", device->live_bytes},
      {"pending_blocks", device->pending_blocks},
      {"placed_elsewhere", device->elsewhere},
      {"calls_off_script", device->calls.off_script},
  };
  json_t *object = object_of(pairs, sizeof pairs / sizeof pairs[0]);
  if (object != NULL && (!set(object, "seeds", seeds_of(device)) ||
                         !set(object, "at_peak_reserved", moment_of(&device->at_peak_reserved)) ||
                         !set(object, "at_peak_allocated", moment_of(&device->at_peak_allocated)) ||
                         !set(object, "at_end", moment_of(&device->at_end)) ||
                         !set(object, "device_calls", calls_of(replay, device)) ||
                         !set(object, "failures", failures_of(replay, index, subject)))) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static json_t *devices_of(const struct ashlar_replay *replay,
                          const struct ashlar_replay_subject *subject)
{
  json_t *array = json_array();
  for (uint32_t i = 0; array != NULL && i < replay->device_count; i++) {
    if (replay->devices[i].is_used &&
        json_array_append_new(array, device_of(replay, i, subject)) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

static json_t *totals_of(const struct ashlar_replay *replay)
{
  uint64_t allocations = 0;
  uint64_t served = 0;
  uint64_t failed = 0;
  uint64_t calls = 0;
  uint64_t uncached = 0;
  double saved = 0;
  for (uint32_t i = 0; i < replay->device_count; i++) {
    const struct ashlar_replay_device *device = &replay->devices[i];
    allocations += device->allocations;
    served += device->served;
    failed += device->failed;
    calls += device->calls.allocs + device->calls.frees + device->calls.refused;
    uncached += device->calls_uncached;
    saved += ashlar_replay_saved_seconds(replay, device);
  }
  const struct pair pairs[] = {
      {"operations", replay->operations},
      {"allocations", allocations},
      {"served", served},
      {"failed", failed},
      {"device_calls", calls},
      {"device_calls_without_cache", uncached},
  };
  json_t *object = object_of(pairs, sizeof pairs / sizeof pairs[0]);
  if (object != NULL && !set(object, "saved_seconds", json_real(saved))) {
    json_decref(object);
    return NULL;
  }
  return object;
}

static bool set_settings(json_t *object, const struct ashlar_replay *replay)
{
  const struct ashlar_config *config = &replay->config;
  const struct ashlar_replay_options *options = &replay->options;
  const bool is_limited = options->capacity != ASHLAR_SIM_UNLIMITED;
  const bool has_split_limit = config->max_split_size != UINT64_MAX;
  return set(object, "policy",
             json_string(config->policy == ASHLAR_POLICY_FAITHFUL ? "faithful" : "complete")) &&
         set(object, "order",
             json_string(config->order == ASHLAR_ORDER_SEGMENT ? "segment" : "address")) &&
         set(object, "device",
             json_string(options->placement == ASHLAR_SIM_RECORDED ? "recorded" : "sim")) &&
         set(object, "capacity", is_limited ? number(options->capacity) : json_null()) &&
         set(object, "max_split_size",
             has_split_limit ? number(config->max_split_size) : json_null()) &&
         set(object, "assumed_call_ns", number(options->call_cost));
}

static bool fill(json_t *object, const struct ashlar_replay *replay,
                 const struct ashlar_replay_subject *subject)
{
  const double operations = replay->operations == 0 ? 1 : (double)replay->operations;
  json_t *file = json_string(subject->file);
  if (file == NULL) {
    file = json_string("(a name that is not UTF-8)");
  }
  return set(object, "file", file) &&
         set(object, "input",
             json_string(subject->requests->snapshot != NULL ? "snapshot" : "trace")) &&
         set_settings(object, replay) && set(object, "wall_ns", number(replay->wall_ns)) &&
         set(object, "ns_per_operation", json_real((double)replay->wall_ns / operations)) &&
         set(object, "stale_sizes_taken_over", number(replay->adopted)) &&
         set(object, "events_ignored", number(subject->requests->ignored)) &&
         set(object, "devices", devices_of(replay, subject)) &&
         set(object, "totals", totals_of(replay));
}

bool ashlar_replay_print_json(FILE *stream, const struct ashlar_replay *replay,
                              const struct ashlar_replay_subject *subject)
{
  json_t *object = json_object();
  const bool is_done = object != NULL && fill(object, replay, subject) &&
                       json_dumpf(object, stream, JSON_INDENT(2)) == 0 &&
                       fputc('\n', stream) != EOF;
  json_decref(object);
  return is_done;
}
