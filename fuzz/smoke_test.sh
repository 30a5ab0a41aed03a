#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# smoke_test.sh FUZZER RUNS: a fuzzer, a fixed number of runs from its seeds with a fixed start of its random numbers.
# It must perform them all and count at least as many operations.
set -u

fuzzer=$1
runs=$2
target=${fuzzer##*/}
options=(-seed=1 -runs="$runs" -artifact_prefix="$TEST_TMPDIR/" -verbosity=1)
if [ -f "fuzz/$target.dict" ]; then
  options+=(-dict="fuzz/$target.dict")
fi
found=$TEST_TMPDIR/found
mkdir -p "$found"
corpus=("$found")
for kind in corpus crashes; do
  if [ -d "fuzz/$kind/$target" ]; then
    corpus+=("fuzz/$kind/$target")
  fi
done

if ! "$fuzzer" "${options[@]}" "${corpus[@]}" > "$TEST_TMPDIR/log" 2>&1; then
  cat "$TEST_TMPDIR/log"
  echo "not ok 1 - $target fails"
  exit 1
fi
operations=$(sed -n 's/^fuzz: \([0-9]*\) operations.*/\1/p' "$TEST_TMPDIR/log")
if ! grep -qE "^Done $runs runs in" "$TEST_TMPDIR/log" || [ "${operations:-0}" -lt "$runs" ]; then
  tail -n 20 "$TEST_TMPDIR/log"
  echo "not ok 1 - $target did not perform $runs runs"
  exit 1
fi
echo "ok 1 - $target: $operations operations in $runs runs, $(find "$found" -type f | wc -l) inputs found"
