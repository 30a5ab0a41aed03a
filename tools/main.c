/* main.c - the program `ashlar`.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tools/command.h"

int main(int argc, char **argv)
{
  return ashlar_main(argc, argv, stdout, stderr);
}
