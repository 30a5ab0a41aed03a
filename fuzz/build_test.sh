#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build_test.sh TARGET...: build.sh makes every target with the engine, compilers and flags that it is given.
# shellcheck disable=SC2317 # functions are called by name
set -u

number=0
failed=0
check() { # NAME, then a command
  local name=$1
  shift
  number=$((number + 1))
  if "$@"; then
    echo "ok $number - $name"
  else
    tail -n 40 "$TEST_TMPDIR/log"
    echo "not ok $number - $name"
    failed=1
  fi
}

# As a public fuzzing service does it.
engine() {
  env OUT="$TEST_TMPDIR/engine" CC=clang CXX=clang++ \
    CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link" \
    CXXFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link" \
    LIB_FUZZING_ENGINE=-fsanitize=fuzzer fuzz/build.sh > "$TEST_TMPDIR/log" 2>&1
}
check "builds with libFuzzer" engine
for target in "$@"; do
  check "$target is a fuzzer" grep -q 'Done 100 runs' <("$TEST_TMPDIR/engine/$target" -seed=1 -runs=100 2>&1)
  check "$target has its seeds" [ -s "$TEST_TMPDIR/engine/${target}_seed_corpus.zip" ]
done
check "nothing else is made, above all nothing that must fail" [ \
  "$(find "$TEST_TMPDIR/engine" -type f ! -name '*.zip' ! -name '*.dict' -printf '%f\n' | sort | xargs)" = \
  "$(printf '%s\n' "$@" | sort | xargs)" ]

# An engine that is an object, and gcc.
gcc -std=c11 -O1 -I. -c fuzz/replay_main.c -o "$TEST_TMPDIR/replay.o" || failed=1
object() {
  env OUT="$TEST_TMPDIR/object" CC=gcc CXX=g++ CFLAGS=-O1 CXXFLAGS= \
    LIB_FUZZING_ENGINE="$TEST_TMPDIR/replay.o" fuzz/build.sh "$@" > "$TEST_TMPDIR/log" 2>&1
}
check "builds with an object as engine" object "$@"
run_seeds() { # TARGET
  "$TEST_TMPDIR/object/$1" "fuzz/corpus/$1" > "$TEST_TMPDIR/log" 2>&1
}
for target in "$@"; do
  check "$target runs its seeds" run_seeds "$target"
done

no_folder() {
  ! env -u OUT fuzz/build.sh > "$TEST_TMPDIR/log" 2>&1
}
check "refuses to guess a folder" no_folder
no_target() {
  ! env OUT="$TEST_TMPDIR/none" fuzz/build.sh no_such_target > "$TEST_TMPDIR/log" 2>&1
}
check "refuses an unknown target" no_target
exit $failed
