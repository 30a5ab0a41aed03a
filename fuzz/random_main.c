/* random_main.c - runs random inputs through a fuzz target, with any compiler and no fuzzing engine: quick where it
 * counts how much is done, and not what is new.
 *
 * random [-seed=N] [-max_total_time=SECONDS] [-operations=N] [-max_len=N] [-artifact_prefix=PATH]: the names are those of
 * libFuzzer; other options and the names of files are ignored, so that the same command line runs either. The same seed
 * makes the same inputs. It ends after so many seconds or operations, whichever comes first; without either after one
 * input. An input has up to max_len bytes, every second one up to a sixteenth of that.
 *
 * The input that is running is kept as PATHcrash-SEED-NUMBER where the target fails. Status 1: an option is wrong.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/harness.h"

enum { LONGEST = 1 << 20, PATH_ROOM = 4096 };

static struct {
  uint64_t seed;
  uint64_t seconds;
  uint64_t operations;
  uint64_t longest;
  const char *prefix;
} options = {1, 0, 0, 16384, "./"};

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

/* The target has failed and says why itself; the input is kept. */
static void keep(int signal_number)
{
  char path[PATH_ROOM];
  (void)snprintf(path, sizeof path, "%scrash-%" PRIu64 "-%" PRIu64, options.prefix, options.seed,
                 input_number);
  FILE *file = fopen(path, "wb");
  if (file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0) {
    (void)fprintf(stderr, "artifact_prefix='%s'; Test unit written to %s\n", options.prefix, path);
  } else {
    (void)fprintf(stderr, "random: %s cannot be written: %s\n", path, strerror(errno));
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
                 {"-max_len=", &options.longest}};
  for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
    const size_t length = strlen(NUMBERS[i].name);
    if (strncmp(word, NUMBERS[i].name, length) == 0) {
      return read_number(word + length, NUMBERS[i].number);
    }
  }
  if (strncmp(word, "-artifact_prefix=", strlen("-artifact_prefix=")) == 0) {
    options.prefix = word + strlen("-artifact_prefix=");
  }
  return true;
}

static bool is_time(time_t start)
{
  const bool late = options.seconds > 0 && (uint64_t)(time(NULL) - start) >= options.seconds;
  const bool much = options.operations > 0 && fuzz_operations >= options.operations;
  return late || much || (options.seconds == 0 && options.operations == 0);
}

int main(int argc, char **argv)
{
  const time_t start = time(NULL);
  for (int i = 1; i < argc; i++) {
    if (!read_option(argv[i]) || options.longest == 0 || options.longest > LONGEST) {
      (void)fprintf(stderr, "random: wrong option: %s\n", argv[i]);
      return EXIT_FAILURE;
    }
  }
  (void)signal(SIGABRT, keep);
  (void)signal(SIGSEGV, keep);
  uint64_t state = options.seed;
  do {
    const uint64_t length = draw(&state);
    size = (size_t)(length % options.longest + 1);
    size = length >> 63 == 0 ? size : size / 16 + 1;
    for (size_t i = 0; i < size; i += 8) {
      const uint64_t eight = draw(&state);
      for (size_t k = i; k < size && k < i + 8; k++) {
        bytes[k] = (uint8_t)(eight >> (8 * (k - i)));
      }
    }
    input_number++;
    (void)LLVMFuzzerTestOneInput(bytes, size);
  } while (!is_time(start));
  return EXIT_SUCCESS;
}
