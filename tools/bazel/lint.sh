#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh CHECK[-tests] FILE...: one kind of check over C files, seen from the root of the workspace.
# Exceptions are numbered D-nn in proofs/ASSUMPTIONS.md.
set -u

check=$1
shift
sources=()
headers=()
for file in "$@"; do
  case $file in
    *.c) sources+=("$file") ;;
    *.h) headers+=("$file") ;;
  esac
done
if [ $# -eq 0 ]; then
  echo "lint.sh: no file to check"
  exit 1
fi

flags=(-std=c11 -I. -DASHLAR_SLOTS=2097152)
warnings=(-Wall -Wextra -Wconversion -Wshadow -Werror)
failed=0

# Both compilers, and each header by itself, so that it includes what it needs. Optimised, because
# some of gcc's warnings come from its optimiser.
compilers() {
  local compiler file
  for compiler in gcc clang; do
    for file in "${sources[@]}"; do
      "$compiler" "${flags[@]}" "${warnings[@]}" -O2 -c -o /dev/null "$file" || failed=1
    done
    for file in "${headers[@]}"; do
      "$compiler" "${flags[@]}" "${warnings[@]}" -fsyntax-only -x c - <<< "#include \"$file\"" ||
        failed=1
    done
  done
}

tidy() {
  local file extra=()
  # D-03: in tests a literal number is the datum.
  [ "$1" = tests ] && extra=(--checks=-readability-magic-numbers)
  for file in "${sources[@]}"; do
    clang-tidy --quiet "${extra[@]}" "$file" -- "${flags[@]}" \
      2> >(grep -v -E '^[0-9]+ warnings? (generated|treated)|^Suppressed ' >&2) || failed=1
  done
}

format() {
  local file
  for file in "$@"; do
    clang-format "$file" | diff -u --label "$file" --label "$file, formatted" "$file" - || failed=1
  done
}

case $check in
  compilers*) compilers ;;
  cppcheck*)
    # D-06: the system's headers are not parsed.
    cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr \
      --suppress=missingIncludeSystem --error-exitcode=1 -I. -DASHLAR_SLOTS=2097152 "$@" || failed=1
    ;;
  format*) format "$@" ;;
  tidy) tidy product ;;
  tidy-tests) tidy tests ;;
  *)
    echo "lint.sh: unknown check '$check'"
    exit 1
    ;;
esac
echo "$check: $# files checked"
exit $failed
