/* home.c - see home.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/home.h"

int32_t ashlar_home(int32_t pool, int32_t class, int32_t stream)
{
  return (pool * ASHLAR_CLASSES + class) * ASHLAR_STREAMS + stream;
}

int32_t ashlar_home_pool_class(int32_t home)
{
  return home / ASHLAR_STREAMS;
}

int32_t ashlar_home_pool(int32_t home)
{
  return home / ASHLAR_STREAMS / ASHLAR_CLASSES;
}

int32_t ashlar_home_class(int32_t home)
{
  return home / ASHLAR_STREAMS % ASHLAR_CLASSES;
}

int32_t ashlar_home_stream(int32_t home)
{
  return home % ASHLAR_STREAMS;
}
