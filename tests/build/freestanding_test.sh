#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# freestanding_test.sh FILE...: the core compiles with a plain C compiler and needs no C library.
set -u

sources=()
for file in "$@"; do
  case $file in
    *.c) sources+=("$file") ;;
  esac
done
if [ ${#sources[@]} -eq 0 ]; then
  echo "no C file given"
  exit 1
fi

case_number=0
failed=0
result() { # STATUS NAME
  case_number=$((case_number + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $case_number - $2"
  else
    echo "not ok $case_number - $2"
    failed=1
  fi
}

for compiler in cc gcc clang; do
  objects=()
  status=0
  mkdir -p "$TEST_TMPDIR/$compiler"
  for source in "${sources[@]}"; do
    object=$TEST_TMPDIR/$compiler/${source//\//_}.o
    "$compiler" -std=c11 -ffreestanding -O2 -I. -c "$source" -o "$object" || status=1
    objects+=("$object")
  done
  result $status "$compiler -std=c11 -ffreestanding compiles ${#sources[@]} files"
  # Compilers may call these four even in freestanding code; nothing else may stay undefined.
  foreign=$(ld -r -o "$TEST_TMPDIR/$compiler/core.o" "${objects[@]}" &&
    nm --undefined-only --format=posix "$TEST_TMPDIR/$compiler/core.o" |
    awk '$1 !~ /^mem(cpy|move|set|cmp)$/ { print $1 }') || foreign="(ld or nm failed)"
  [ -z "$foreign" ] || echo "$foreign"
  result "$([ -z "$foreign" ] && echo 0 || echo 1)" "objects of $compiler need no library"
done
exit $failed
