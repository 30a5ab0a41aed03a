/* player.c - see player.h: words one by one, the checks after each call, and the end of a play.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strtok_r */

#include "tests/scenarios/player.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scenarios/playing.h"

bool playing_fault(struct playing *p, const char *format, ...)
{
  struct player_result *result = p->result;
  char text[PLAYER_FAULT - PLAYING_WORD - 2];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (result->holds) {
    (void)snprintf(result->fault, sizeof result->fault, "%s: %s", p->word, text);
  }
  result->holds = false;
  return false;
}

bool playing_failed(const struct playing *p)
{
  return !p->result->holds;
}

/* --- what must hold --- */

/* Every block that the script has is there as it was handed out, and no other is allocated. */
static bool check_owners(struct playing *p)
{
  size_t owned = 0;
  size_t there = 0;
  for (size_t i = 0; i < p->now->count; i++) {
    there += p->now->block[i].state == SUBJECT_ALLOCATED ? 1 : 0;
  }
  for (size_t k = 0; k < p->block_count; k++) {
    const struct playing_block *mine = &p->block[k];
    if (!mine->live || mine->raw) {
      continue;
    }
    bool found = false;
    for (size_t i = 0; i < p->now->count; i++) {
      const struct subject_block *block = &p->now->block[i];
      found = found || (block->state == SUBJECT_ALLOCATED && block->slot == mine->slot &&
                        block->generation == mine->generation && block->address == mine->address &&
                        block->size == mine->bytes);
    }
    if (!found) {
      return playing_fault(p, "P6: the block %s at 0x%" PRIx64 " is not as it was handed out",
                           mine->name, mine->address);
    }
    owned++;
  }
  return owned == there ? true
                        : playing_fault(p, "P6: %zu blocks are allocated, and %zu have an owner",
                                        there, owned);
}

bool playing_check(struct playing *p)
{
  char why[WORLD_WHY] = "";
  if (p->world.why[0] != '\0') {
    return playing_fault(p, "%s", p->world.why);
  }
  if (!view_take(p->now, &p->world)) {
    return playing_fault(p, "too many blocks to look at");
  }
  if (!check_state(&p->world, p->now, p->settings, why)) {
    return playing_fault(p, "%s", why);
  }
  if (!p->subject->is_sound(p->world.self, why, sizeof why)) {
    return playing_fault(p, "its own invariant: %s", why);
  }
  return check_owners(p);
}

/* Violations that the script did not claim. P4, P8. */
static bool check_violations(struct playing *p)
{
  const struct ashlar_sim_machine *m = &p->world.machine;
  static const char *const CHECKS[ASHLAR_SIM_VIOLATIONS] = {
      [ASHLAR_SIM_VIOLATION_RACE] = "P4",
      [ASHLAR_SIM_VIOLATION_FAULT] = "P4",
      [ASHLAR_SIM_VIOLATION_CAPTURE] = "P8",
      [ASHLAR_SIM_VIOLATION_DEVICE] = "P8",
  };
  for (int kind = 0; kind < ASHLAR_SIM_VIOLATIONS; kind++) {
    if (m->violation[kind].count != p->seen[kind]) {
      return playing_fault(p, "%s: %s", CHECKS[kind], m->violation[kind].last);
    }
  }
  return m->races.incomplete ? playing_fault(p, "P4: the judge was short of memory") : true;
}

static void swap_views(struct playing *p)
{
  struct view *view = p->before;
  p->before = p->now;
  p->now = view;
}

bool playing_poll(struct playing *p)
{
  world_poll(&p->world, p->made_by);
  if (!playing_check(p)) {
    return false;
  }
  swap_views(p);
  return true;
}

enum subject_status playing_request(struct playing *p, struct subject_step step, int32_t stream)
{
  p->last = world_finish(&p->world, step);
  if (p->last.kind == SUBJECT_STEP_ERROR) {
    return p->last.status;
  }
  if (p->last.kind == SUBJECT_STEP_OUT_OF_MEMORY) {
    char why[WORLD_WHY] = "";
    if (!view_take(p->now, &p->world) ||
        !check_out_of_memory(p->now, p->last, stream, p->settings,
                             world_in_capture(&p->world, p->made_by), why)) {
      (void)playing_fault(p, "%s", why);
    }
    return SUBJECT_OUT_OF_MEMORY;
  }
  const struct world_stream *owner = world_stream_numbered(&p->world, stream);
  if (p->last.slot != -1 && (owner == NULL || ashlar_sim_machine_hand_over(
                                                  &p->world.machine, owner->handle, p->last.address,
                                                  p->last.bytes) != ASHLAR_SIM_OK)) {
    (void)playing_fault(p, "a block of 0x%" PRIx64 " for a stream that is not there",
                        p->last.address);
  }
  return SUBJECT_OK;
}

/* --- words --- */

/* Cuts NAME(argument,...)!STATUS into its parts; blanks around arguments go. */
static bool cut(struct playing *p)
{
  (void)snprintf(p->split, sizeof p->split, "%s", p->word);
  char *open = strchr(p->split, '(');
  char *close = strrchr(p->split, ')');
  char *refusal = strchr(close == NULL ? p->split : close, '!');
  p->name = p->split;
  p->argument_count = 0;
  p->refusal = NULL;
  if (refusal != NULL) {
    *refusal = '\0';
    p->refusal = refusal + 1;
  }
  if (open == NULL) {
    return close == NULL ? true : playing_fault(p, "a bracket is missing");
  }
  if (close == NULL || close < open || (close[1] != '\0' && strcmp(close, "){") != 0)) {
    return playing_fault(p, "a bracket is missing");
  }
  *open = '\0';
  *close = '\0';
  char *rest = NULL;
  for (char *text = strtok_r(open + 1, ",", &rest); text != NULL;
       text = strtok_r(NULL, ",", &rest)) {
    if (p->argument_count == PLAYING_ARGUMENTS) {
      return playing_fault(p, "too many arguments");
    }
    text += strspn(text, " ");
    p->argument[p->argument_count] = text;
    p->argument_count++;
  }
  return true;
}

static const char *outcome_name(enum subject_status outcome)
{
  static const char *const NAMES[SUBJECT_STATUSES] = {
      "ok",      "setting",  "too-large", "busy",     "no-request", "device",
      "capture", "stream",   "duplicate", "pool",     "scope",      "range",
      "slot",    "stale",    "foreign",   "interior", "freed",      "shared",
      "count",   "growable", "pending",   "misfit",   "capacity",   "oom"};
  return NAMES[outcome];
}

static bool start(struct playing *p)
{
  p->started = true;
  p->machine.devices = p->device;
  p->settings = (struct check_settings){
      .max_split_size = p->config.max_split_size,
      .oversize_slack = p->config.oversize_slack,
      .complete = p->config.policy == SUBJECT_COMPLETE,
      .totals = true,
  };
  const enum subject_status status = world_start(&p->world, p->subject, &p->machine, &p->config);
  const bool expected = strcmp(p->name, "start") == 0 && p->refusal != NULL;
  p->refused = status != SUBJECT_OK;
  if (strcmp(outcome_name(status), expected ? p->refusal : "ok") != 0) {
    return playing_fault(p, "the start came to: %s", outcome_name(status));
  }
  return p->refused ? true : playing_check(p);
}

/* What came of a call, and what must hold then. */
static bool judge(struct playing *p, enum subject_status outcome)
{
  const char *expected = p->refusal == NULL ? "ok" : p->refusal;
  char why[WORLD_WHY] = "";
  bool holds = true;
  if (strcmp(outcome_name(outcome), expected) != 0) {
    return playing_fault(p, "it came to: %s, steps %s", outcome_name(outcome), p->world.steps);
  }
  if (outcome == SUBJECT_OUT_OF_MEMORY || outcome == SUBJECT_DEVICE) {
    holds = check_kept(p->before, p->now, why);
  } else if (outcome != SUBJECT_OK) {
    holds = check_unchanged(p->before, p->now, why);
  }
  return holds ? true : playing_fault(p, "%s", why);
}

static uint64_t mixed(uint64_t digest, uint64_t value)
{
  return (digest ^ value) * UINT64_C(0x100000001b3) + (digest >> 32);
}

/* Of all that can be seen but slots and generations, which are each subject's own. */
static uint64_t digest_of(const struct view *view)
{
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < view->count; i++) {
    const struct subject_block *block = &view->block[i];
    digest = mixed(mixed(mixed(digest, block->address), block->size), block->requested);
    digest = mixed(mixed(digest, (uint64_t)block->state), (uint64_t)block->stream);
    digest = mixed(mixed(digest, (uint64_t)block->pool), block->segment);
  }
  for (int kind = 0; kind < SUBJECT_STATISTICS; kind++) {
    const int columns = kind < SUBJECT_STAT_OVERSIZE_ALLOCATIONS ? SUBJECT_COLUMNS : 1;
    for (int column = 0; column < columns; column++) {
      const struct subject_counter counter = view->counter[kind][column];
      digest = mixed(mixed(digest, counter.current), counter.peak);
      digest = mixed(mixed(digest, counter.allocated), counter.freed);
    }
  }
  digest = mixed(mixed(digest, view->calls.alloc_retries), view->calls.ooms);
  digest = mixed(mixed(digest, view->calls.device_allocs), view->calls.device_frees);
  return mixed(digest, view->calls.sync_all_streams);
}

static void write_log(struct playing *p, enum subject_status outcome)
{
  struct player_result *result = p->result;
  const size_t used = strlen(result->log);
  const bool block = p->last.kind == SUBJECT_STEP_DONE && p->last.slot != -1;
  const int length = snprintf(
      result->log + used, sizeof result->log - used,
      "%s: %s %s 0x%" PRIx64 " %" PRIu64 ", state %016" PRIx64 "\n", p->word, outcome_name(outcome),
      p->world.steps, block ? p->last.address : 0, block ? p->last.bytes : 0, digest_of(p->now));
  if (length < 0 || (size_t)length >= sizeof result->log - used) {
    (void)playing_fault(p, "the log is full");
  }
}

static void run_call(struct playing *p, const struct playing_call *call)
{
  if (!check_violations(p)) {
    return;
  }
  p->made_by = p->caller;
  p->last = (struct subject_step){.kind = SUBJECT_STEP_DONE, .slot = -1};
  world_new_operation(&p->world, p->made_by);
  for (int kind = 0; kind < ASHLAR_SIM_CALLS; kind++) {
    p->calls_before[kind] = p->world.machine.failures.kind[kind].calls;
  }
  swap_views(p);
  const enum subject_status outcome = call->call(p);
  if (!playing_failed(p) && playing_check(p) && judge(p, outcome)) {
    p->result->calls++;
    write_log(p, outcome);
  }
}

static bool takes(struct playing *p, size_t least, size_t most)
{
  return p->argument_count >= least && p->argument_count <= most
             ? true
             : playing_fault(p, "%zu arguments", p->argument_count);
}

static void run_claim(struct playing *p, const struct playing_claim *claim)
{
  const bool of_violations = strcmp(p->name, "race") == 0 || strcmp(p->name, "forbidden") == 0 ||
                             strcmp(p->name, "faults") == 0;
  if (p->refusal != NULL) {
    (void)playing_fault(p, "a claim is not refused");
  } else if ((of_violations || check_violations(p)) && claim->holds(p) && !playing_failed(p)) {
    p->result->claims++;
  } else {
    (void)playing_fault(p, "it does not hold; the steps were %s", p->world.steps);
  }
}

static const struct playing_call *call_named(const char *name)
{
  static const struct playing_calls *const CALLS[] = {&PLAYING_REQUESTS, &PLAYING_WORK,
                                                      &PLAYING_POOL_CALLS};
  for (size_t k = 0; k < sizeof CALLS / sizeof CALLS[0]; k++) {
    for (size_t i = 0; i < CALLS[k]->count; i++) {
      if (strcmp(CALLS[k]->call[i].name, name) == 0) {
        return &CALLS[k]->call[i];
      }
    }
  }
  return NULL;
}

static const struct playing_claim *claim_named(const char *name)
{
  for (size_t i = 0; i < PLAYING_CLAIM_COUNT; i++) {
    if (strcmp(PLAYING_CLAIMS[i].name, name) == 0) {
      return &PLAYING_CLAIMS[i];
    }
  }
  return NULL;
}

static void run_word(struct playing *p)
{
  if (!cut(p)) {
    return;
  }
  for (size_t i = 0; i < PLAYING_SETTING_COUNT && !p->started; i++) {
    if (strcmp(PLAYING_SETTINGS[i].name, p->name) == 0) {
      if (takes(p, PLAYING_SETTINGS[i].least, PLAYING_SETTINGS[i].most)) {
        PLAYING_SETTINGS[i].set(p);
      }
      return;
    }
  }
  if (p->refused || (p->started && strcmp(p->name, "start") == 0)) {
    (void)playing_fault(p, "it has started, or was refused");
    return;
  }
  if (!p->started && (!start(p) || strcmp(p->name, "start") == 0)) {
    return;
  }
  const struct playing_call *call = call_named(p->name);
  const struct playing_claim *claim = claim_named(p->name);
  if (call != NULL && takes(p, call->least, call->most)) {
    run_call(p, call);
  } else if (claim != NULL && takes(p, claim->least, claim->most)) {
    run_claim(p, claim);
  } else {
    (void)playing_fault(p, "no such word");
  }
}

/* The next word, up to a blank outside brackets; false: there is none. */
static bool next_word(struct playing *p, const char **text)
{
  const char *from = *text + strspn(*text, " \n");
  const char *to = from;
  int depth = 0;
  while (*to != '\0' && (depth > 0 || (*to != ' ' && *to != '\n'))) {
    depth += *to == '(' ? 1 : 0;
    depth -= *to == ')' ? 1 : 0;
    to++;
  }
  (void)snprintf(p->word, sizeof p->word, "%.*s", (int)(to - from), from);
  *text = to;
  return to > from && ((size_t)(to - from) < sizeof p->word || playing_fault(p, "too long a word"));
}

static void run_script(struct playing *p, const char *script)
{
  struct {
    const char *from;
    uint64_t left;
  } loop[PLAYING_LOOPS];
  size_t depth = 0;
  const char *text = script;
  while (!playing_failed(p) && next_word(p, &text)) {
    if (strncmp(p->word, "repeat(", 7) == 0) {
      if (!cut(p) || p->argument_count != 1 || depth == PLAYING_LOOPS) {
        (void)playing_fault(p, "no loop");
        return;
      }
      loop[depth].from = text;
      loop[depth].left = playing_size(p, p->argument[0]);
      depth++;
    } else if (strcmp(p->word, "}") == 0) {
      if (depth == 0) {
        (void)playing_fault(p, "no loop ends here");
        return;
      }
      loop[depth - 1].left--;
      if (loop[depth - 1].left > 0) {
        text = loop[depth - 1].from;
      } else {
        depth--;
      }
    } else {
      run_word(p);
    }
  }
  if (depth > 0) {
    (void)playing_fault(p, "a loop does not end");
  }
}

/* --- the end --- */

/* Runs a word of our own, which must succeed. */
static void also(struct playing *p, const char *format, const char *name)
{
  if (!playing_failed(p)) {
    (void)snprintf(p->word, sizeof p->word, format, name);
    run_word(p);
  }
}

static void give_back(struct playing *p)
{
  for (size_t i = 0; i < p->graph_count; i++) {
    if (p->graph[i].capturing) {
      also(p, "CE(%s)", p->graph[i].pool->name);
    }
    if (p->graph[i].kept) {
      also(p, "R(%s)", p->graph[i].pool->name);
    }
  }
  also(p, "off%s", "");
  for (size_t i = 0; i < p->block_count; i++) {
    while (p->block[i].live && !playing_failed(p)) {
      also(p, p->block[i].raw ? "drop(%s)" : "release(%s)", p->block[i].name);
    }
  }
  for (size_t i = 0; i < p->pool_count; i++) {
    if (p->pool[i].scope) {
      also(p, "close(%s)", p->pool[i].name);
    }
    while (p->pool[i].users > 0 && !playing_failed(p)) {
      also(p, "leave(%s)", p->pool[i].name);
    }
  }
}

/* What the machine has is only ranges that were never mapped, or were undone. */
static bool nothing_left(struct playing *p)
{
  const struct ashlar_sim_left left = ashlar_sim_machine_left(&p->world.machine);
  return p->now->count == left.reservations && left.segments == 0 && left.mappings == 0 &&
         left.pieces == 0 && left.events == 0 && left.captures == 0 && left.items == 0 &&
         p->now->counter[SUBJECT_STAT_RESERVED_BYTES][SUBJECT_ALL].current == 0;
}

static void finish(struct playing *p)
{
  char why[WORLD_WHY] = "";
  for (int kind = 0; kind < ASHLAR_SIM_CALLS; kind++) {
    ashlar_sim_fail_none(&p->world.machine.failures, (enum ashlar_sim_call)kind);
  }
  give_back(p);
  if (!playing_failed(p) && ashlar_sim_machine_drain_all(&p->world.machine) != ASHLAR_SIM_OK) {
    (void)playing_fault(p, "the streams cannot be drained");
  }
  also(p, "E%s", "");
  (void)snprintf(p->word, sizeof p->word, "end");
  if (!playing_failed(p) && check_violations(p) && !check_canonical(p->now, why)) {
    (void)playing_fault(p, "%s", why);
  }
  also(p, "EC%s", "");
  if (!playing_failed(p) && !nothing_left(p)) {
    (void)playing_fault(p, "P7: memory, events or work are left");
  }
}

void player_play(const struct subject *subject, uint32_t policy, uint32_t order, const char *script,
                 struct player_result *result)
{
  struct playing *p = calloc(1, sizeof *p);
  *result = (struct player_result){.holds = p != NULL};
  if (p == NULL) {
    (void)snprintf(result->fault, sizeof result->fault, "no memory for a play");
    return;
  }
  p->subject = subject;
  p->result = result;
  p->before = &p->view[0];
  p->now = &p->view[1];
  p->caller.stream = -1;
  p->limit = SUBJECT_UNSET;
  p->collect_above = SUBJECT_UNSET;
  p->config = (struct subject_config){.max_split_size = SUBJECT_UNSET,
                                      .large_segment_size = UINT64_C(20) << 20,
                                      .oversize_slack = UINT64_C(20) << 20,
                                      .order = order,
                                      .policy = policy,
                                      .device_total = UINT64_C(1) << 30};
  p->machine = (struct ashlar_sim_machine_config){
      .device_count = 1,
      .address_budget = ASHLAR_SIM_UNLIMITED,
      .behaviour = {.relaxed_capture = true},
  };
  for (int i = 0; i < PLAYING_DEVICES; i++) {
    p->device[i].capacity = UINT64_C(1) << 40;
  }
  run_script(p, script);
  if (!p->started) {
    (void)playing_fault(p, "a script without a call");
  }
  if (!playing_failed(p) && !p->refused) {
    finish(p);
  }
  world_stop(&p->world);
  free(p);
}
