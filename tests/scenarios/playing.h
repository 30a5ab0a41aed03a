/* playing.h - what the files of the player share: the state of one play.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TESTS_SCENARIOS_PLAYING_H
#define ASHLAR_TESTS_SCENARIOS_PLAYING_H

#include "tests/scenarios/check.h"
#include "tests/scenarios/player.h"

enum {
  PLAYING_NAME = 12,
  PLAYING_BLOCKS = 256,
  PLAYING_POOLS = 16,
  PLAYING_GRAPHS = 8,
  PLAYING_ARGUMENTS = 12,
  PLAYING_WORD = 160,
  PLAYING_LOOPS = 4,
  PLAYING_DEVICES = 4,
  PLAYING_RANDOM = 48 /* blocks in use at a time */
};

struct playing_block {
  char name[PLAYING_NAME]; /* empty: of a random run */
  bool live;
  bool raw; /* not the manager's */
  int32_t slot;
  uint32_t generation;
  uint32_t references;
  uint64_t address;
  uint64_t bytes;
};

struct playing_pool {
  char name[PLAYING_NAME];
  int32_t number;
  uint32_t users; /* that the script still has */
  bool scope;
};

struct playing_graph {
  struct playing_pool *pool; /* of the same name */
  struct world_stream *stream;
  bool capturing;
  bool kept;
  uint64_t graph; /* at the machine; 0: none */
};

struct playing {
  const struct subject *subject;
  struct player_result *result;

  /* settings */
  struct subject_config config;
  struct ashlar_sim_config device[PLAYING_DEVICES];
  struct ashlar_sim_machine_config machine;
  struct check_settings settings;
  bool started;
  bool refused; /* the settings, at the start */

  struct world world;
  struct playing_block block[PLAYING_BLOCKS];
  size_t block_count;
  struct playing_pool pool[PLAYING_POOLS];
  size_t pool_count;
  struct playing_graph graph[PLAYING_GRAPHS];
  size_t graph_count;
  struct subject_caller caller;  /* of the calls to come */
  struct subject_caller made_by; /* of the call at hand */
  struct view view[2];
  struct view *before; /* the call at hand */
  struct view *now;
  uint64_t limit;
  uint64_t collect_above;
  uint64_t seen[ASHLAR_SIM_VIOLATIONS]; /* violations that were claimed */
  uint64_t races_seen;
  uint64_t calls_before[ASHLAR_SIM_CALLS];
  uint64_t digest[2]; /* of the places of the last two random runs, the latest first */
  uint64_t peak[2];

  /* the word at hand */
  char word[PLAYING_WORD];
  char split[PLAYING_WORD]; /* the same, cut into its parts */
  const char *name;
  const char *argument[PLAYING_ARGUMENTS];
  size_t argument_count;
  const char *refusal;      /* behind `!`; NULL: none */
  struct subject_step last; /* of the last request */
};

/* The first fault is kept; gives false, for returns. */
bool playing_fault(struct playing *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool playing_failed(const struct playing *p);

/* Argument i of the word; empty where there is none. */
const char *playing_argument(const struct playing *p, size_t i);

/* --- words: player_words.c; each is a fault, and gives 0 or NULL, where the word says nothing of the kind --- */
uint64_t playing_size(struct playing *p, const char *text);
struct world_stream *playing_stream(struct playing *p, const char *name);
int32_t playing_stream_number(struct playing *p, const char *name); /* -1 for `none` */
struct playing_block *playing_block(struct playing *p, const char *name);
struct playing_block *playing_new_block(struct playing *p, const char *name);
struct playing_pool *playing_pool(struct playing *p, const char *name);
struct playing_pool *playing_new_pool(struct playing *p, const char *name);
enum ashlar_sim_call playing_call(struct playing *p, const char *name);
bool playing_on(struct playing *p, const char *word);
/* The k-th name of `p1..p5` or of a single name, into `name`; false: there are not so many. */
bool playing_name(struct playing *p, const char *names, uint32_t k, char name[PLAYING_NAME]);

/* --- kinds of words --- */

struct playing_setting {
  const char *name;
  size_t least; /* number of arguments */
  size_t most;
  void (*set)(struct playing *p);
};
struct playing_call {
  const char *name;
  size_t least;
  size_t most;
  enum subject_status (*call)(struct playing *p); /* gives what it came to */
};
struct playing_calls {
  const struct playing_call *call;
  size_t count;
};
struct playing_claim {
  const char *name;
  size_t least;
  size_t most;
  bool (*holds)(struct playing *p);
};
extern const struct playing_setting PLAYING_SETTINGS[];
extern const size_t PLAYING_SETTING_COUNT;
extern const struct playing_calls PLAYING_REQUESTS;
extern const struct playing_calls PLAYING_WORK;
extern const struct playing_calls PLAYING_POOL_CALLS;
extern const struct playing_claim PLAYING_CLAIMS[];
extern const size_t PLAYING_CLAIM_COUNT;

/* --- used by several: player.c --- */

/* Everything that must hold at any time, and what the names of the script say. */
bool playing_check(struct playing *p);

/* Polls, and takes what is then there as the state before the call at hand. */
bool playing_poll(struct playing *p);

/* A request to its end; a block that it got goes to the stream. Gives what it came to. */
enum subject_status playing_request(struct playing *p, struct subject_step step, int32_t stream);

#endif
