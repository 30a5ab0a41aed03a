#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# corpus_test.sh MAKE_CORPUS TARGET...: the seeds that are kept are those that make_corpus writes; each target has some.
set -u

make_corpus=$1
shift
made=$TEST_TMPDIR/made
"$make_corpus" "$made" || exit 1
failed=0
number=0
for target in "$@"; do
  count=0
  wrong=()
  for seed in fuzz/corpus/"$target"/*; do
    if cmp -s "$seed" "$made/$target/${seed##*/}"; then
      count=$((count + 1))
    else
      wrong+=("$seed")
    fi
  done
  number=$((number + 1))
  if [ $count -gt 0 ] && [ ${#wrong[@]} -eq 0 ]; then
    echo "ok $number - $target: $count seeds of $(find "$made/$target" -type f | wc -l)"
  else
    echo "not ok $number - $target: $count seeds are as made, not these: ${wrong[*]}"
    failed=1
  fi
done
exit $failed
