#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lockstep_fault_test.sh FAULTY SAME: random inputs over two models, of which one has a fault, fail and say how, the kept
# input fails again; over two that are the same they do not.
set -u

faulty=$1
same=$2
log=$TEST_TMPDIR/log
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

"$faulty" -seed=1 -operations=1000000 -artifact_prefix="$TEST_TMPDIR/" > "$log" 2>&1
status=$?
check "the fault is found (status $status)" [ $status -ne 0 ]
check "what differs is said" grep -qE '^fuzz: FAILED: the block at 0x[0-9a-f]+ has [0-9]+ bytes of [0-9]+, expected' "$log"
check "and which operation led to it" grep -qE '^free 0: slot [0-9]+ generation [0-9]+' "$log"
crash=$(find "$TEST_TMPDIR" -name 'crash-*' | head -n 1)
check "the input is kept" [ -s "$crash" ]
"$faulty" "$crash" > "$log" 2>&1
status=$?
check "and fails again" [ $status -ne 0 ]

"$same" "$crash" > "$log" 2>&1
status=$?
check "without the fault it passes" [ $status -eq 0 ]
"$same" -seed=1 -operations=200000 > "$log" 2>&1
status=$?
check "as do others" [ $status -eq 0 ]
check "of as many operations" grep -qE '^fuzz: 2[0-9]{5} operations' "$log"
exit $failed
