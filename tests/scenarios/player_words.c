/* player_words.c - what the arguments of a word mean.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/playing.h"

#define KIB UINT64_C(1024)

const char *playing_argument(const struct playing *p, size_t i)
{
  return i < p->argument_count ? p->argument[i] : "";
}

/* `12`, `20M`, `0x10`, `2^63` or SIZE_MAX; leaves `*rest` behind it. 2^64 is 0, so that 2^64-1 is what it says. */
static uint64_t term(struct playing *p, const char *text, const char **rest)
{
  static const char LARGEST[] = "SIZE_MAX";
  char *end = NULL;
  if (strncmp(text, LARGEST, sizeof LARGEST - 1) == 0) {
    *rest = text + sizeof LARGEST - 1;
    return UINT64_MAX;
  }
  uint64_t value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 0) : 0;
  if (end == NULL) {
    (void)playing_fault(p, "no size: %s", text);
    *rest = text + strlen(text);
    return 0;
  }
  if (*end == '^' && value == 2) {
    const unsigned long power = strtoul(end + 1, &end, 10);
    value = power < 64 ? UINT64_C(1) << power : 0;
  }
  static const char UNITS[] = "KMG";
  const char *unit = *end == '\0' ? NULL : strchr(UNITS, *end);
  if (unit != NULL) {
    end++;
    for (const char *u = UNITS; u <= unit; u++) {
      value *= KIB;
    }
  }
  *rest = end;
  return value;
}

uint64_t playing_size(struct playing *p, const char *text)
{
  const char *rest = text;
  uint64_t value = term(p, text, &rest);
  while (*rest == '+' || *rest == '-') {
    const bool minus = *rest == '-';
    const uint64_t more = term(p, rest + 1, &rest);
    value = minus ? value - more : value + more;
  }
  if (*rest != '\0') {
    (void)playing_fault(p, "no size: %s", text);
  }
  return value;
}

struct world_stream *playing_stream(struct playing *p, const char *name)
{
  const bool named = name[0] != '\0' && strcspn(name, "!:<>.,") == strlen(name);
  struct world_stream *stream = named ? world_stream(&p->world, name) : NULL;
  if (stream == NULL) {
    (void)playing_fault(p, "no such stream: %s", name);
  }
  return stream;
}

int32_t playing_stream_number(struct playing *p, const char *name)
{
  if (strcmp(name, "none") == 0) {
    return -1;
  }
  const struct world_stream *stream = playing_stream(p, name);
  return stream == NULL ? -1 : stream->number;
}

struct playing_block *playing_block(struct playing *p, const char *name)
{
  for (size_t i = 0; i < p->block_count; i++) {
    if (strcmp(p->block[i].name, name) == 0) {
      return &p->block[i];
    }
  }
  (void)playing_fault(p, "no such block: %s", name);
  return NULL;
}

struct playing_block *playing_new_block(struct playing *p, const char *name)
{
  size_t i = 0;
  while (i < p->block_count && strcmp(p->block[i].name, name) != 0) {
    i++;
  }
  if (i == PLAYING_BLOCKS || strlen(name) >= PLAYING_NAME ||
      (i < p->block_count && p->block[i].live)) {
    (void)playing_fault(p, "the name is in use, too long or one too many: %s", name);
    return NULL;
  }
  p->block_count = i == p->block_count ? i + 1 : p->block_count;
  p->block[i] = (struct playing_block){.slot = -1};
  (void)snprintf(p->block[i].name, sizeof p->block[i].name, "%s", name);
  return &p->block[i];
}

static struct playing_pool *pool_named(struct playing *p, const char *name)
{
  for (size_t i = 0; i < p->pool_count; i++) {
    if (strcmp(p->pool[i].name, name) == 0) {
      return &p->pool[i];
    }
  }
  return NULL;
}

struct playing_pool *playing_pool(struct playing *p, const char *name)
{
  struct playing_pool *pool = pool_named(p, name);
  if (pool == NULL) {
    (void)playing_fault(p, "no such pool: %s", name);
  }
  return pool;
}

struct playing_pool *playing_new_pool(struct playing *p, const char *name)
{
  if (pool_named(p, name) != NULL || p->pool_count == PLAYING_POOLS ||
      strlen(name) >= PLAYING_NAME) {
    (void)playing_fault(p, "the name is in use, too long or one too many: %s", name);
    return NULL;
  }
  struct playing_pool *pool = &p->pool[p->pool_count];
  *pool = (struct playing_pool){0};
  (void)snprintf(pool->name, sizeof pool->name, "%s", name);
  p->pool_count++;
  return pool;
}

enum ashlar_sim_call playing_call(struct playing *p, const char *name)
{
  static const struct {
    const char *name;
    enum ashlar_sim_call call;
  } NAMES[] = {
      {"malloc", ASHLAR_SIM_CALL_ALLOCATE},
      {"free", ASHLAR_SIM_CALL_FREE},
      {"meminfo", ASHLAR_SIM_CALL_MEMORY_INFO},
      {"setdevice", ASHLAR_SIM_CALL_SET_DEVICE},
      {"reserve", ASHLAR_SIM_CALL_RESERVE},
      {"create", ASHLAR_SIM_CALL_CREATE},
      {"map", ASHLAR_SIM_CALL_MAP},
      {"unmap", ASHLAR_SIM_CALL_UNMAP},
      {"setaccess", ASHLAR_SIM_CALL_SET_ACCESS},
      {"event_create", ASHLAR_SIM_CALL_EVENT_CREATE},
      {"event_query", ASHLAR_SIM_CALL_EVENT_QUERY},
      {"event_sync", ASHLAR_SIM_CALL_EVENT_SYNCHRONIZE},
      {"stream_sync", ASHLAR_SIM_CALL_STREAM_SYNCHRONIZE},
      {"capture_begin", ASHLAR_SIM_CALL_CAPTURE_BEGIN},
  };
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    if (strcmp(NAMES[i].name, name) == 0) {
      return NAMES[i].call;
    }
  }
  (void)playing_fault(p, "no such call: %s", name);
  return ASHLAR_SIM_CALL_SET_DEVICE;
}

bool playing_on(struct playing *p, const char *word)
{
  const bool on = strcmp(word, "on") == 0;
  if (!on && strcmp(word, "off") != 0) {
    (void)playing_fault(p, "neither on nor off: %s", word);
  }
  return on;
}

bool playing_name(struct playing *p, const char *names, uint32_t k, char name[PLAYING_NAME])
{
  const char *dots = strstr(names, "..");
  const size_t stem = strcspn(names, "0123456789.");
  if (dots == NULL) {
    if (strlen(names) >= PLAYING_NAME) {
      (void)playing_fault(p, "too long a name: %s", names);
      return false;
    }
    (void)snprintf(name, PLAYING_NAME, "%s", names);
    return k == 0;
  }
  const unsigned long first = strtoul(names + stem, NULL, 10);
  const unsigned long last =
      strncmp(dots + 2, names, stem) == 0 ? strtoul(dots + 2 + stem, NULL, 10) : 0;
  if (stem == 0 || stem > 4 || last < first || last > 9999) {
    (void)playing_fault(p, "no names: %s", names);
    return false;
  }
  (void)snprintf(name, PLAYING_NAME, "%.*s%lu", (int)stem, names, first + k);
  return first + k <= last;
}
