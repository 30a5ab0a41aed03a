/* Whether bytes are UTF-8.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_TOOLS_UTF8_H
#define ASHLAR_TOOLS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `length` bytes are UTF-8 as a pickle may hold it: shortest forms up to U+10FFFF,
 * surrogates included, which Python writes. Linear time. */
bool ashlar_is_utf8(const uint8_t *bytes, size_t length);

#endif
