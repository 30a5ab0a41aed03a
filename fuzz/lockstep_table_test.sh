#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lockstep_table_test.sh RANDOM LIST: the inputs that are named in the list reach every cell of operation, outcome and rung,
# and none that the table does not have.
set -u

random=$1
list=$2
log=$TEST_TMPDIR/log
table=$TEST_TMPDIR/table

if ! ASHLAR_FUZZ_TABLE=$table "$random" -list="$list" -artifact_prefix="$TEST_TMPDIR/" > "$log" 2>&1; then
  tail -n 40 "$log"
  echo "not ok 1 - an input of the list fails"
  exit 1
fi
reached=$(grep -E '^fuzz: [0-9]+ of [0-9]+ cells reached' "$log")
read -r _ some _ all _ <<< "$reached"
if [ "${some:-0}" -lt 1000 ] || [ "$some" != "$all" ] || grep '^fuzz: no cell' "$log"; then
  awk '$4 == 0' "$table"
  echo "not ok 1 - $reached"
  exit 1
fi
echo "ok 1 - $reached; $(grep -c . "$list") inputs"
