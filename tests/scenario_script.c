/* scenario_script.c - see scenario_script.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strtok_r */

#include "tests/scenario_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCRIPT = 1024, WORDS = 4, NAMES = 24, NAME = 8 };

struct named {
  char name[NAME];
  struct ashlar_step step;
};

struct play {
  struct fixture *f;
  struct ashlar_config config;
  uint64_t capacity;
  int32_t streams;
  bool started;
  struct named named[NAMES];
  size_t named_count;
  const char *word[WORDS]; /* of the command; missing ones are empty */
  char text[SCRIPT];       /* of the command, for messages */
};

static void holds(const struct play *p, bool condition)
{
  if (!condition) {
    fail_msg("does not hold: %s", p->text);
  }
}

static uint64_t number(const struct play *p, const char *word)
{
  char *end = NULL;
  const uint64_t value = strtoull(word, &end, 10);
  holds(p, end != word);
  switch (*end) {
  case 'K':
    return value * KIB;
  case 'M':
    return value * MIB;
  case 'G':
    return value * GIB;
  default:
    holds(p, *end == '\0');
    return value;
  }
}

static int32_t stream_of(const struct play *p, const char *word)
{
  return word[0] == '\0' ? 0 : (int32_t)number(p, word);
}

/* The block of this name, in use or freed. */
static const struct ashlar_step *block(const struct play *p, const char *name)
{
  for (size_t i = 0; i < p->named_count; i++) {
    if (strcmp(p->named[i].name, name) == 0) {
      return &p->named[i].step;
    }
  }
  fail_msg("no such name: %s", p->text);
  return NULL;
}

/* --- settings --- */

static void set_capacity(struct play *p)
{
  p->capacity = number(p, p->word[1]);
}

static void set_split(struct play *p)
{
  p->config.max_split_size = number(p, p->word[1]);
}

static void set_slack(struct play *p)
{
  p->config.oversize_slack = number(p, p->word[1]);
}

static void set_divisions(struct play *p)
{
  for (int row = 0; row < ASHLAR_DIVISIONS; row++) {
    p->config.divisions[row] = (uint32_t)number(p, p->word[1]);
  }
}

static void set_streams(struct play *p)
{
  p->streams = (int32_t)number(p, p->word[1]);
}

/* --- operations --- */

static void allocate(struct play *p)
{
  struct named *named = &p->named[p->named_count];
  holds(p, p->named_count < NAMES && strlen(p->word[1]) < NAME);
  (void)snprintf(named->name, sizeof named->name, "%s", p->word[1]);
  named->step = ashlar_pretend_allocate(p->f->m, &p->f->device, number(p, p->word[2]),
                                        stream_of(p, p->word[3]));
  holds(p, named->step.kind == ASHLAR_STEP_DONE && named->step.slot != -1);
  p->named_count++;
}

static void run_out(struct play *p)
{
  const struct ashlar_step step = ashlar_pretend_allocate(
      p->f->m, &p->f->device, number(p, p->word[1]), stream_of(p, p->word[2]));
  holds(p, step.kind == ASHLAR_STEP_OUT_OF_MEMORY);
}

static void too_large(struct play *p)
{
  const struct ashlar_step step =
      ashlar_allocate_begin(p->f->m, number(p, p->word[1]), 0, ashlar_nobody());
  holds(p, step.kind == ASHLAR_STEP_ERROR && step.status == ASHLAR_ERROR_TOO_LARGE);
}

static enum ashlar_status free_handle(const struct play *p)
{
  const struct ashlar_step *step = block(p, p->word[1]);
  return ashlar_free(p->f->m, step->slot, step->generation, ashlar_nobody()).status;
}

static void free_block(struct play *p)
{
  holds(p, free_handle(p) == ASHLAR_OK);
}

static void free_address(struct play *p)
{
  holds(p, ashlar_free_address(p->f->m, block(p, p->word[1])->address, ashlar_nobody()).status ==
               ASHLAR_OK);
}

static void free_stale(struct play *p)
{
  remember(p->f);
  holds(p, free_handle(p) == ASHLAR_ERROR_STALE_HANDLE);
  must_be_unchanged(p->f);
}

static void free_wrongly(struct play *p, enum ashlar_status status)
{
  const uint64_t address = block(p, p->word[1])->address + number(p, p->word[2]);
  remember(p->f);
  holds(p, ashlar_free_address(p->f->m, address, ashlar_nobody()).status == status);
  must_be_unchanged(p->f);
}

static void free_interior(struct play *p)
{
  free_wrongly(p, ASHLAR_ERROR_INTERIOR);
}

static void free_freed(struct play *p)
{
  free_wrongly(p, ASHLAR_ERROR_FREED);
}

static void free_unknown(struct play *p)
{
  free_wrongly(p, ASHLAR_ERROR_UNKNOWN_ADDRESS);
}

static void empty_cache(struct play *p)
{
  holds(p, ashlar_pretend_empty(p->f->m, &p->f->device) == number(p, p->word[1]));
}

/* --- what must hold --- */

static void is_same(struct play *p)
{
  holds(p, block(p, p->word[1])->address == block(p, p->word[2])->address);
}

static void is_apart(struct play *p)
{
  holds(p, block(p, p->word[1])->address != block(p, p->word[2])->address);
}

static void is_inside(struct play *p)
{
  const struct ashlar_step *x = block(p, p->word[1]);
  const struct ashlar_step *y = block(p, p->word[2]);
  holds(p, y->address <= x->address && x->address + x->bytes <= y->address + y->bytes);
}

static void is_outside(struct play *p)
{
  const struct ashlar_step *x = block(p, p->word[1]);
  const struct ashlar_step *y = block(p, p->word[2]);
  holds(p, x->address + x->bytes <= y->address || y->address + y->bytes <= x->address);
}

static void has_size(struct play *p)
{
  const struct ashlar_step *step = block(p, p->word[1]);
  holds(p, step->bytes == number(p, p->word[2]) &&
               ashlar_block(p->f->m, step->slot).size == step->bytes);
}

static void has_stream(struct play *p)
{
  const struct ashlar_block_view view = ashlar_block(p->f->m, block(p, p->word[1])->slot);
  holds(p, view.stream == stream_of(p, p->word[2]));
}

static void took_steps(struct play *p)
{
  char steps[ASHLAR_PRETEND_LOG + 1] = "-";
  const struct ashlar_pretend *device = &p->f->device;
  holds(p, device->step_count <= ASHLAR_PRETEND_LOG);
  for (uint32_t i = 0; i < device->step_count; i++) {
    if (device->step[i].kind == ASHLAR_STEP_RELEASE) {
      steps[i] = 'r';
    } else {
      steps[i] = device->step[i].refused ? 'x' : 'A';
    }
    steps[i + 1] = '\0';
  }
  if (strcmp(steps, p->word[1]) != 0) {
    fail_msg("does not hold: %s; the steps were %s", p->text, steps);
  }
}

static void figure(const struct play *p, uint64_t value)
{
  if (value != number(p, p->word[1])) {
    fail_msg("does not hold: %s; it is %llu", p->text, (unsigned long long)value);
  }
}

static void reserved(struct play *p)
{
  figure(p, current(p->f, ASHLAR_STAT_RESERVED_BYTES, ASHLAR_STAT_ALL));
  holds(p, p->f->device.used == number(p, p->word[1]));
}

static void allocated(struct play *p)
{
  figure(p, current(p->f, ASHLAR_STAT_ALLOCATED_BYTES, ASHLAR_STAT_ALL));
}

static void segments(struct play *p)
{
  figure(p, current(p->f, ASHLAR_STAT_SEGMENT, ASHLAR_STAT_ALL));
}

static void largest(struct play *p)
{
  uint64_t most = 0;
  for (int32_t slot = 0; slot < ashlar_slot_limit(p->f->m); slot++) {
    const struct ashlar_block_view view = ashlar_block(p->f->m, slot);
    if (view.state == ASHLAR_FREE && view.size > most) {
      most = view.size;
    }
  }
  figure(p, most);
}

static void ooms(struct play *p)
{
  figure(p, p->f->m->ooms);
}

static void retries(struct play *p)
{
  figure(p, p->f->m->alloc_retries);
}

static const struct {
  const char *name;
  void (*run)(struct play *p);
  bool is_setting;
} COMMANDS[] = {
    {"cap", set_capacity, true},
    {"split", set_split, true},
    {"slack", set_slack, true},
    {"divide", set_divisions, true},
    {"streams", set_streams, true},
    {"A", allocate, false},
    {"OOM", run_out, false},
    {"LARGE", too_large, false},
    {"F", free_block, false},
    {"FA", free_address, false},
    {"STALE", free_stale, false},
    {"UNKNOWN", free_unknown, false},
    {"INTERIOR", free_interior, false},
    {"FREED", free_freed, false},
    {"EC", empty_cache, false},
    {"same", is_same, false},
    {"apart", is_apart, false},
    {"inside", is_inside, false},
    {"outside", is_outside, false},
    {"size", has_size, false},
    {"stream", has_stream, false},
    {"steps", took_steps, false},
    {"reserved", reserved, false},
    {"allocated", allocated, false},
    {"segments", segments, false},
    {"largest", largest, false},
    {"ooms", ooms, false},
    {"retries", retries, false},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

/* Splits the command into words, in place. */
static void split_words(struct play *p, char *command)
{
  char *rest = NULL;
  char *word = strtok_r(command, " ", &rest);
  for (int i = 0; i < WORDS; i++) {
    p->word[i] = word != NULL ? word : "";
    word = word != NULL ? strtok_r(NULL, " ", &rest) : NULL;
  }
  holds(p, word == NULL);
}

static void run_command(struct play *p, char *command)
{
  (void)snprintf(p->text, sizeof p->text, "%s", command);
  split_words(p, command);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(p->word[0], COMMANDS[i].name) == 0) {
      holds(p, !(COMMANDS[i].is_setting && p->started));
      if (!COMMANDS[i].is_setting && !p->started) {
        fixture_restart(p->f, p->config, p->streams, p->capacity);
        p->started = true;
      }
      COMMANDS[i].run(p);
      return;
    }
  }
  fail_msg("no such command: %s", p->text);
}

size_t scenario_play(struct fixture *f, const char *script)
{
  struct play play = {.f = f, .config = ashlar_default_config(), .capacity = UINT64_MAX};
  char text[SCRIPT];
  char *rest = NULL;
  size_t count = 0;
  play.streams = 1;
  assert_true(strlen(script) < sizeof text);
  (void)snprintf(text, sizeof text, "%s", script);
  for (char *command = strtok_r(text, ";", &rest); command != NULL;
       command = strtok_r(NULL, ";", &rest)) {
    run_command(&play, command);
    if (play.started) {
      check_whole(f->m);
    }
    count++;
  }
  return count;
}
