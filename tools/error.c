/* error.c - see error.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

bool ashlar_error_set(struct ashlar_error *error, uint64_t position, const char *format, ...)
{
  if (error == NULL) {
    return false;
  }
  error->position = position;
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  if (written < 0) {
    error->text[0] = '\0';
  }
  return false;
}
