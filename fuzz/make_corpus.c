/* make_corpus.c - writes seeds for the fuzz targets: make_corpus FOLDER makes FOLDER/TARGET/NAME.
 *
 * Seeds of the readers are the cases of the tests that are not large, a small trace and a small recording; seeds of the
 * others are spelled out here or random. Which of them are kept in corpus/ is a choice by coverage (README.md); a test
 * sees that those kept are what is written here.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/pickle_text.h"
#include "tests/recordings.h"
#include "tests/snapshot_cases.h"
#include "tests/trace_cases.h"
#include "tools/snapshot_writer.h"

enum {
  PATH_ROOM = 4096,
  LARGEST_SEED = 512,
  RANDOM_SEED = 512,
  RANDOM_SEEDS = 3,
  FEW_REQUESTS = 24
};

struct seed {
  uint8_t bytes[4096];
  size_t size;
};

static _Noreturn void stop(const char *what, const char *why)
{
  (void)fprintf(stderr, "make_corpus: %s: %s\n", what, why);
  exit(EXIT_FAILURE);
}

static void make_folder(const char *path)
{
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    stop(path, strerror(errno));
  }
}

/* FOLDER/TARGET/NAME; what is no letter, digit or point in the name becomes a hyphen. */
static void make_path(char path[PATH_ROOM], const char *folder, const char *target,
                      const char *name)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  (void)snprintf(path, PATH_ROOM, "%s/%s", folder, target);
  make_folder(path);
  const size_t start = strlen(path) + 1;
  (void)snprintf(path, PATH_ROOM, "%s/%s/%s", folder, target, name);
  for (size_t i = start; path[i] != '\0'; i++) {
    if (strchr(plain, path[i]) == NULL) {
      path[i] = '-';
    }
  }
}

static void write_seed(const char *folder, const char *target, const char *name, const void *bytes,
                       size_t size)
{
  char path[PATH_ROOM];
  make_path(path, folder, target, name);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    stop(path, "cannot be written");
  }
}

/* --- readers --- */

static void write_pickle(const char *folder, const char *kind, const char *name, const char *text)
{
  char full[PATH_ROOM];
  struct pickle_bytes pickle = pickle_assemble(text);
  (void)snprintf(full, sizeof full, "%s-%s", kind, name);
  if (pickle.size <= LARGEST_SEED) {
    write_seed(folder, "snapshot_reader", full, pickle.bytes, pickle.size);
  }
  pickle_bytes_free(&pickle);
}

static struct ashlar_recording_plan small_plan(unsigned index)
{
  struct ashlar_recording_plan plan = ashlar_recording_plan(index);
  plan.operations = FEW_REQUESTS;
  return plan;
}

static void write_recording(const char *folder, unsigned index)
{
  const struct ashlar_recording_plan plan = small_plan(index);
  struct ashlar_snapshot snapshot;
  struct ashlar_error error = {0};
  char name[PATH_ROOM];
  char path[PATH_ROOM];
  (void)snprintf(name, sizeof name, "recording-%u", index);
  make_path(path, folder, "snapshot_reader", name);
  if (!ashlar_recording_make(&plan, &snapshot, NULL, &error) ||
      !ashlar_snapshot_write_file(path, &snapshot, &error)) {
    stop(name, error.text);
  }
  ashlar_snapshot_free(&snapshot);
}

static void write_snapshots(const char *folder)
{
  for (size_t i = 0; i < COUNT(ACCEPTED_CASES); i++) {
    write_pickle(folder, "accepted", ACCEPTED_CASES[i].name, ACCEPTED_CASES[i].pickle);
  }
  for (size_t i = 0; i < COUNT(REFUSED_CASES); i++) {
    write_pickle(folder, "refused", REFUSED_CASES[i].name, REFUSED_CASES[i].pickle);
  }
  write_recording(folder, 1);
  write_recording(folder, 5);
}

static void write_traces(const char *folder)
{
  char name[PATH_ROOM];
  for (size_t i = 0; i < COUNT(GOOD); i++) {
    (void)snprintf(name, sizeof name, "accepted-%02zu", i);
    write_seed(folder, "trace_reader", name, GOOD[i].text, strlen(GOOD[i].text));
  }
  for (size_t i = 0; i < COUNT(BAD); i++) {
    const size_t length = BAD[i].length == 0 ? strlen(BAD[i].text) : BAD[i].length;
    (void)snprintf(name, sizeof name, "refused-%02zu", i);
    write_seed(folder, "trace_reader", name, BAD[i].text, length);
  }
  for (unsigned index = 1; index <= 5; index += 4) {
    const struct ashlar_recording_plan plan = small_plan(index);
    size_t length = 0;
    char *text = ashlar_recording_trace(&plan, &length);
    if (text == NULL) {
      stop("trace_reader", "out of memory");
    }
    (void)snprintf(name, sizeof name, "recording-%u", index);
    write_seed(folder, "trace_reader", name, text, length);
    free(text);
  }
}

/* --- sequences of operations; the bytes are those that the targets read --- */

static void put(struct seed *seed, unsigned byte)
{
  if (seed->size == sizeof seed->bytes) {
    stop("seed", "too long");
  }
  seed->bytes[seed->size] = (uint8_t)byte;
  seed->size++;
}

static void write_random(const char *folder, const char *target)
{
  uint64_t state = 1;
  for (unsigned k = 1; k <= RANDOM_SEEDS; k++) {
    struct seed seed = {.size = 0};
    char name[PATH_ROOM];
    for (size_t i = 0; i < RANDOM_SEED; i++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      put(&seed, (unsigned)(state >> 56));
    }
    (void)snprintf(name, sizeof name, "random-%u", k);
    write_seed(folder, target, name, seed.bytes, seed.size);
  }
}

/* Each function with each power of two and what is one less. */
static void write_powers(const char *folder)
{
  for (unsigned less = 0; less <= 1; less++) {
    struct seed seed = {.size = 0};
    for (unsigned exponent = 0; exponent < 64; exponent++) {
      for (unsigned operation = 0; operation < 4; operation++) {
        put(&seed, operation);
        put(&seed, 64 * less + exponent); /* the size */
        put(&seed, 0);                    /* as it is */
        if (operation == 2) {
          put(&seed, exponent % 33); /* divisions */
        }
      }
    }
    write_seed(folder, "size_policy", less == 0 ? "powers" : "powers-less-one", seed.bytes,
               seed.size);
  }
}

/* Blocks of one size and list come in and are asked for; then they go, one by one. */
static void write_ties(const char *folder)
{
  struct seed seed = {.size = 0};
  put(&seed, 31); /* 32 slots */
  for (unsigned slot = 0; slot < 32; slot++) {
    const unsigned insert[] = {8, slot, 0, 7, 0, slot * 37 % 64};
    const unsigned ask[] = {1, 4 * slot + 3, 4, 4 * slot + 1, 6, 4 * slot + 3};
    for (size_t i = 0; i < COUNT(insert); i++) {
      put(&seed, insert[i]);
    }
    for (size_t i = 0; i < COUNT(ask); i++) {
      put(&seed, ask[i]);
    }
  }
  for (unsigned slot = 0; slot < 32; slot++) {
    put(&seed, 8);
    put(&seed, slot * 11 % 32);
    put(&seed, 1);
    put(&seed, 4 * slot + 3);
  }
  write_seed(folder, "free_index", "ties", seed.bytes, seed.size);
}

/* One long chain, from which the last, the first and the middle ones go. */
static void write_chain(const char *folder)
{
  struct seed seed = {.size = 0};
  for (unsigned slot = 0; slot < 32; slot++) {
    put(&seed, 1);
    put(&seed, slot);
    put(&seed, 4 * slot);
  }
  for (unsigned k = 0; k < 32; k++) {
    put(&seed, 1);
    put(&seed, k % 2 == 0 ? 31 - k / 2 : k / 2);
    put(&seed, 0);
    put(&seed, k); /* ask for the start of a block */
  }
  write_seed(folder, "address_map", "chain", seed.bytes, seed.size);
}

int main(int argc, char **argv)
{
  if (argc != 2) {
    (void)fputs("usage: make_corpus FOLDER\n", stderr);
    return 3;
  }
  make_folder(argv[1]);
  write_snapshots(argv[1]);
  write_traces(argv[1]);
  write_powers(argv[1]);
  write_ties(argv[1]);
  write_chain(argv[1]);
  write_random(argv[1], "size_policy");
  write_random(argv[1], "free_index");
  write_random(argv[1], "address_map");
  write_random(argv[1], "lockstep");
  return 0;
}
