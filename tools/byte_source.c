/* Bytes read once from front to back, out of a file, a pipe or memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* O_CLOEXEC, posix_fadvise */
#include "tools/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Describes `source->file`: its size and whether earlier bytes can be read again. */
static bool inspect(struct ashlar_byte_source *source, const char *path, struct ashlar_error *error)
{
  struct stat status;

  if (fstat(source->file, &status) != 0) {
    return ashlar_error_set(error, 0, "cannot inspect %.120s: %s", path, strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return ashlar_error_set(error, 0, "%.160s is a directory", path);
  }
  source->size = UINT64_MAX;
  if (S_ISREG(status.st_mode)) {
    source->origin = lseek(source->file, 0, SEEK_CUR);
    source->can_seek = source->origin >= 0;
    /* Files of /proc call themselves empty; an empty file is found out by reading it. */
    if (source->can_seek && status.st_size > source->origin) {
      source->size = (uint64_t)(status.st_size - source->origin);
    }
    (void)posix_fadvise(source->file, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return true;
}

bool ashlar_source_open(struct ashlar_byte_source *source, const char *path,
                        struct ashlar_error *error)
{
  *source = (struct ashlar_byte_source){.file = STDIN_FILENO};
  if (strcmp(path, "-") != 0) {
    source->file = open(path, O_RDONLY | O_CLOEXEC);
    if (source->file < 0) {
      return ashlar_error_set(error, 0, "cannot open %.120s: %s", path, strerror(errno));
    }
    source->owns_file = true;
  }
  source->buffer = malloc(ASHLAR_SOURCE_BUFFER);
  if (source->buffer == NULL) {
    (void)ashlar_error_set(error, 0, "out of memory");
  }
  if (source->buffer == NULL || !inspect(source, path, error)) {
    ashlar_source_close(source);
    return false;
  }
  source->window = source->buffer;
  source->next = source->buffer;
  source->end = source->buffer;
  return true;
}

void ashlar_source_open_memory(struct ashlar_byte_source *source, const void *data, size_t size)
{
  static const uint8_t nothing[1];

  *source = (struct ashlar_byte_source){.file = STDIN_FILENO, .size = size, .at_end = true};
  source->window = size > 0 ? data : nothing; /* data may be NULL then */
  source->next = source->window;
  source->end = source->window + size;
}

void ashlar_source_close(struct ashlar_byte_source *source)
{
  if (source->owns_file) {
    (void)close(source->file);
  }
  free(source->buffer);
  *source = (struct ashlar_byte_source){.file = STDIN_FILENO};
}

/* Reads at least one byte behind `end`, or sets at_end. */
static void read_more(struct ashlar_byte_source *source)
{
  uint8_t *free_part = source->buffer + (source->end - source->buffer);
  const size_t room = (size_t)(source->buffer + ASHLAR_SOURCE_BUFFER - source->end);
  ssize_t count;

  do {
    count = read(source->file, free_part, room);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) {
    source->read_errno = count < 0 ? errno : 0;
    source->at_end = true;
    return;
  }
  source->end += count;
}

bool ashlar_source_fill(struct ashlar_byte_source *source, size_t wanted)
{
  size_t unread = (size_t)(source->end - source->next);

  if (unread >= wanted || source->at_end) {
    return unread >= wanted;
  }
  source->window_at += (uint64_t)(source->next - source->window);
  memmove(source->buffer, source->next, unread);
  source->next = source->buffer;
  source->end = source->buffer + unread;
  while (unread < wanted && !source->at_end) {
    read_more(source);
    unread = (size_t)(source->end - source->next);
  }
  return unread >= wanted;
}

bool ashlar_source_skip(struct ashlar_byte_source *source, uint64_t count)
{
  /* Known sizes are checked first: a length of 2^63 is not worth reading the rest for. */
  if (source->size != UINT64_MAX && count > source->size - ashlar_source_position(source)) {
    return false;
  }
  while (count > (uint64_t)(source->end - source->next)) {
    count -= (uint64_t)(source->end - source->next);
    source->next = source->end;
    if (!ashlar_source_fill(source, 1)) {
      return false;
    }
  }
  source->next += count;
  return true;
}

bool ashlar_source_again(const struct ashlar_byte_source *source, uint64_t position, size_t count,
                         uint8_t *bytes)
{
  const uint64_t in_memory = (uint64_t)(source->end - source->window);

  if (position >= source->window_at && position - source->window_at <= in_memory &&
      count <= in_memory - (position - source->window_at)) {
    memcpy(bytes, source->window + (position - source->window_at), count);
    return true;
  }
  if (!source->can_seek || position > (uint64_t)(INT64_MAX - source->origin)) {
    return false;
  }
  while (count > 0) {
    const ssize_t got =
        pread(source->file, bytes, count, (off_t)((uint64_t)source->origin + position));

    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    bytes += got;
    position += (uint64_t)got;
    count -= (size_t)got;
  }
  return true;
}
