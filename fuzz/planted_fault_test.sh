#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# planted_fault_test.sh PLANTED CLEAN REPLAY: the fuzzer over an index with a fault fails within a fixed number of runs
# and says how; the same harness over the core's index does not, in as many; and a replay of the input fails without a
# fuzzing engine as well.
set -u

planted=$1
clean=$2
replay=$3
runs=100000
log=$TEST_TMPDIR/log
kept=fuzz/crashes/planted_fault/greatest-address
failed=0
number=0
check() { # NAME, then a command
  local name=$1
  shift
  number=$((number + 1))
  if "$@"; then
    echo "ok $number - $name"
  else
    tail -n 40 "$log"
    echo "not ok $number - $name"
    failed=1
  fi
}
options=(-seed=1 -runs="$runs" -artifact_prefix="$TEST_TMPDIR/")

"$planted" "${options[@]}" > "$log" 2>&1
status=$?
check "the fuzzer finds the fault (status $status)" [ $status -ne 0 ]
check "it says what is wrong" grep -qE '^fuzz: FAILED: (best|walk)' "$log"
check "and which operations led to it" grep -qE '^insert slot [0-9]+: list' "$log"
check "and how many there were" grep -qE '^fuzz: [0-9]+ operations, [0-9]+ inputs$' "$log"
crash=$(find "$TEST_TMPDIR" -name 'crash-*' | head -n 1)
check "it keeps the input" [ -s "$crash" ]

"$clean" "${options[@]}" > "$log" 2>&1
status=$?
check "without the fault the harness finds nothing" [ $status -eq 0 ]
check "in as many runs" grep -qE "^Done $runs runs in" "$log"

"$replay" "$kept" > "$log" 2>&1
status=$?
check "without an engine the kept input fails as well" [ $status -ne 0 ]
check "for the same reason" grep -qE '^fuzz: FAILED: (best|walk)' "$log"
"$replay" "$crash" > "$log" 2>&1
status=$?
check "and so does the one just found" [ $status -ne 0 ]
exit $failed
