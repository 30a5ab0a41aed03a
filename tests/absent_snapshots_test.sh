#!/bin/sh
# Where the recorded snapshots are not, the tests that read them say so and pass.
# SPDX-License-Identifier: BSD-3-Clause
set -u
status=0
number=0
for program in "$@"; do
  name=$(basename "$program")
  number=$((number + 1))
  if ! ASHLAR_SNAPSHOTS=no-such-folder "$program" > log 2>&1; then
    cat log
    status=1
    echo "not ok $number - $name fails"
  elif ! grep -q '^SKIPPED: [^ ].*: ' log; then
    status=1
    echo "not ok $number - $name does not say what it skipped"
  else
    echo "ok $number - $name"
  fi
done
exit $status
