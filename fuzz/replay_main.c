/* replay_main.c - runs files through a fuzz target, with any compiler and no fuzzing engine.
 *
 * replay FILE|FOLDER...: each file, and each file directly in a folder, is one case and prints one line. Where a target
 * fails, the process ends with the name of the file on the line before. Status 1: a file cannot be read, or there is
 * none.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* scandir */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/harness.h"

enum { PATH_ROOM = 4096 };

static bool complain(const char *path)
{
  (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return false;
}

/* The bytes of an open file, to be freed. Exactly as many are allocated, so that a sanitizer sees the first byte read
   behind them. */
static uint8_t *read_bytes(FILE *file, size_t *size)
{
  uint8_t *bytes = NULL;
  long end = -1;
  if (fseek(file, 0, SEEK_END) == 0) {
    end = ftell(file);
  }
  if (end < 0 || fseek(file, 0, SEEK_SET) != 0) {
    return NULL;
  }
  *size = (size_t)end;
  bytes = malloc(*size > 0 ? *size : 1);
  if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
    free(bytes);
    bytes = NULL;
  }
  return bytes;
}

static bool replay_file(const char *path, size_t *count)
{
  size_t size = 0;
  uint8_t *bytes = NULL;
  FILE *file = fopen(path, "rb");
  if (file != NULL) {
    bytes = read_bytes(file, &size);
    (void)fclose(file);
  }
  if (bytes == NULL) {
    return complain(path);
  }
  (void)fprintf(stderr, "%s\n", path);
  (void)LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  (*count)++;
  (void)printf("ok %zu - %s\n", *count, path);
  return true;
}

static bool replay_folder(const char *path, size_t *count)
{
  char name[PATH_ROOM];
  struct dirent **entries = NULL;
  bool is_good = true;
  const int found = scandir(path, &entries, NULL, alphasort);
  if (found < 0) {
    return complain(path);
  }
  for (int i = 0; i < found; i++) {
    const int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') {
      is_good = length < PATH_ROOM && replay_file(name, count) && is_good;
    }
    free(entries[i]);
  }
  free(entries);
  return is_good;
}

int main(int argc, char **argv)
{
  size_t count = 0;
  bool is_good = true;
  for (int i = 1; i < argc; i++) {
    struct stat status;
    if (stat(argv[i], &status) != 0) {
      is_good = complain(argv[i]);
    } else if (S_ISDIR(status.st_mode)) {
      is_good = replay_folder(argv[i], &count) && is_good;
    } else {
      is_good = replay_file(argv[i], &count) && is_good;
    }
  }
  if (count == 0) {
    (void)fputs("replay: no file was run; usage: replay FILE|FOLDER...\n", stderr);
    return EXIT_FAILURE;
  }
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
