/* random_main.c - runs random inputs through a fuzz target, with any compiler and no fuzzing engine: quick where it
 * counts how much is done, and not what is new.
 *
 * random [-seed=N] [-max_total_time=SECONDS] [-operations=N] [-max_len=N] [-artifact_prefix=PATH] [FILE...]: the names are
 * those of libFuzzer, whose other options are ignored, as are folders: so the same command line runs either. It ends
 * after so many seconds or operations, whichever comes first; without either after one input. An input has up to max_len
 * bytes, every second one up to a sixteenth of that. With files, these are run and nothing else.
 *
 * An input is named by the seed and by its number in the run. -pick=1 prints the names of those that reached something
 * new, if the target knows; -list=FILE runs the inputs that are named in a file, one a line, up to so many seconds or
 * operations, if these are given.
 *
 * The input that is running is kept as PATHcrash-SEED-NUMBER where the target fails. Status 1: an option is wrong, or a
 * file cannot be read.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* stat, open */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/harness.h"

enum { LONGEST = 1 << 20, PATH_ROOM = 4096, LINE = 256, MODE = 0644 };

static struct {
  uint64_t seed;
  uint64_t seconds;
  uint64_t operations;
  uint64_t longest;
  uint64_t pick;
  const char *prefix;
  const char *list;
} options = {1, 0, 0, 16384, 0, "./", NULL};

static uint8_t bytes[LONGEST];
static size_t size;
static uint64_t input_number;

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* What is done where the target fails: prepared, as little may be called then. */
static struct {
  char path[PATH_ROOM];
  char text[PATH_ROOM + LINE];
  size_t length;
} failure;

static void prepare(void)
{
  (void)snprintf(failure.path, sizeof failure.path, "%scrash-%" PRIu64 "-%" PRIu64, options.prefix,
                 options.seed, input_number);
  const int length = snprintf(failure.text, sizeof failure.text,
                              "random: Test unit written to %s\n", failure.path);
  failure.length = length < 0 ? 0 : (size_t)length;
}

/* The target has failed and says why itself; the input is kept. */
static void keep(int signal_number)
{
  const int file = open(failure.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
  if (file >= 0 && write(file, bytes, size) == (ssize_t)size && close(file) == 0) {
    (void)!write(STDERR_FILENO, failure.text, failure.length);
  }
  (void)signal(signal_number, SIG_DFL);
  (void)raise(signal_number);
}

static bool read_number(const char *text, uint64_t *number)
{
  char *end = NULL;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0';
}

static bool read_option(const char *word)
{
  static const struct {
    const char *name;
    uint64_t *number;
  } NUMBERS[] = {{"-seed=", &options.seed},
                 {"-max_total_time=", &options.seconds},
                 {"-operations=", &options.operations},
                 {"-max_len=", &options.longest},
                 {"-pick=", &options.pick}};
  for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
    const size_t length = strlen(NUMBERS[i].name);
    if (strncmp(word, NUMBERS[i].name, length) == 0) {
      return read_number(word + length, NUMBERS[i].number);
    }
  }
  if (strncmp(word, "-artifact_prefix=", strlen("-artifact_prefix=")) == 0) {
    options.prefix = word + strlen("-artifact_prefix=");
  } else if (strncmp(word, "-list=", strlen("-list=")) == 0) {
    options.list = word + strlen("-list=");
  }
  return true;
}

/* Runs the input of this name. */
static void run_random(uint64_t seed, uint64_t number)
{
  uint64_t state = seed;
  state = draw(&state) + number;
  const uint64_t length = draw(&state);
  options.seed = seed;
  input_number = number;
  size = (size_t)(length % options.longest + 1);
  size = length >> 63 == 0 ? size : size / 16 + 1;
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t eight = draw(&state);
    for (size_t k = i; k < size && k < i + 8; k++) {
      bytes[k] = (uint8_t)(eight >> (8 * (k - i)));
    }
  }
  prepare();
  fuzz_is_new = false;
  (void)LLVMFuzzerTestOneInput(bytes, size);
}

/* Whether as much is done as there is a limit. */
static bool is_time(time_t start)
{
  const bool late = options.seconds > 0 && (uint64_t)(time(NULL) - start) >= options.seconds;
  const bool much = options.operations > 0 && fuzz_operations >= options.operations;
  return late || much;
}

static bool run_list(time_t start)
{
  char line[LINE];
  bool good = true;
  FILE *file = fopen(options.list, "r");
  if (file == NULL) {
    (void)fprintf(stderr, "random: %s: %s\n", options.list, strerror(errno));
    return false;
  }
  while (good && !is_time(start) && fgets(line, sizeof line, file) != NULL) {
    char *end = line;
    const uint64_t seed = strtoull(line, &end, 10);
    char *behind = end;
    const uint64_t number = strtoull(end, &behind, 10);
    good = end != line && behind != end && *behind == '\n';
    if (good) {
      run_random(seed, number);
    } else {
      (void)fprintf(stderr, "random: %s: this names no input: %s\n", options.list, line);
    }
  }
  (void)fclose(file);
  return good;
}

/* Runs a file that is named. */
static bool run_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    (void)fprintf(stderr, "random: %s: %s\n", path, strerror(errno));
    return false;
  }
  size = fread(bytes, 1, sizeof bytes, file);
  const bool whole = ferror(file) == 0 && fgetc(file) == EOF;
  (void)fclose(file);
  if (!whole) {
    (void)fprintf(stderr, "random: %s cannot be read, or is too long\n", path);
    return false;
  }
  (void)LLVMFuzzerTestOneInput(bytes, size);
  return true;
}

static bool is_folder(const char *path)
{
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int main(int argc, char **argv)
{
  const time_t start = time(NULL);
  bool is_replay = false;
  for (int i = 1; i < argc; i++) {
    if (!read_option(argv[i]) || options.longest == 0 || options.longest > LONGEST) {
      (void)fprintf(stderr, "random: wrong option: %s\n", argv[i]);
      return EXIT_FAILURE;
    }
  }
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-' && !is_folder(argv[i])) {
      is_replay = true;
      if (!run_file(argv[i])) {
        return EXIT_FAILURE;
      }
    }
  }
  if (is_replay) {
    return EXIT_SUCCESS;
  }
  (void)signal(SIGABRT, keep);
  (void)signal(SIGSEGV, keep);
  if (options.list != NULL) {
    return run_list(start) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  do {
    run_random(options.seed, input_number + 1);
    if (options.pick != 0 && fuzz_is_new) {
      (void)printf("%" PRIu64 " %" PRIu64 "\n", options.seed, input_number);
    }
  } while ((options.seconds > 0 || options.operations > 0) && !is_time(start));
  return EXIT_SUCCESS;
}
