#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh [TARGET...]: builds fuzz targets into $OUT, as a public fuzzing service does it: with the compilers, flags and
# engine that the environment gives. No Bazel, no library but the C library; Python packs the seeds. By default all
# targets are built but the one that must fail.
#
#   OUT                  folder for TARGET, TARGET.dict and TARGET_seed_corpus.zip; required
#   CC, CXX              compilers; default clang, clang++
#   CFLAGS, CXXFLAGS     flags, with the sanitizers; default: address and undefined, counted for libFuzzer
#   LIB_FUZZING_ENGINE   what is linked for main(): a flag, a library or an object; default -fsanitize=fuzzer
#   WORK                 folder for objects; default: a temporary one
#   JOBS                 compilations at a time; default 1
set -euo pipefail

: "${OUT:?names no folder to build into}"
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
if [ -n "${WORK-}" ]; then
  mkdir -p "$WORK"
  WORK=$(cd "$WORK" && pwd)
else
  WORK=$(mktemp -d)
  trap 'rm -rf "$WORK"' EXIT
fi
export WORK
cd "$(dirname "$0")/.."

export CC=${CC:-clang} CXX=${CXX:-clang++}
sanitizers=-fsanitize=address,undefined
default_flags="-O2 -g -fno-omit-frame-pointer $sanitizers -fno-sanitize-recover=all"
export CFLAGS=${CFLAGS-$default_flags -fsanitize=fuzzer-no-link}
CXXFLAGS=${CXXFLAGS-$CFLAGS}
LIB_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in fuzz/*_fuzz.c; do
    name=${source##*/}
    name=${name%_fuzz.c}
    [ "$name" = planted_fault ] || targets+=("$name")
  done
fi

# What a target may call: the linker takes what it needs. Managers of 64 slots are quick to reset and to scan, and soon
# full; the lockstep has several hundred blocks.
slots_of() { # TARGET
  if [ "$1" = lockstep ]; then echo 512; else echo 64; fi
}
shared=(core/*.c fuzz/harness.c fuzz/index_check.c
  tools/{error,id_table,byte_source,utf8}.c tools/{trace,pickle,snapshot}*.c tests/snapshot_support.c)
lockstep=(core/*.c spec/model/*.c fuzz/harness.c fuzz/lockstep_{cells,compare,core,owners,requests,settings,table}.c
  tests/core_check{,_blocks,_requests,_stats,_uses}.c)

object_of() { # SLOTS SOURCE
  local object=${2%.c}
  echo "$WORK/$1_${object//\//_}.o"
}
compile() { # SLOTS SOURCE
  # Unquoted: a list of flags.
  # shellcheck disable=SC2086
  "$CC" -std=c11 $CFLAGS -I. "-DASHLAR_SLOTS=$1" -c "$2" -o "$(object_of "$1" "$2")"
}
export -f object_of compile

# Slots and source, each once.
jobs=()
for target in "${targets[@]}"; do
  slots=$(slots_of "$target")
  jobs+=("$slots fuzz/${target}_fuzz.c")
  if [ "$target" = lockstep ]; then sources=("${lockstep[@]}"); else sources=("${shared[@]}"); fi
  for source in "${sources[@]}"; do
    jobs+=("$slots $source")
  done
done
# shellcheck disable=SC2016 # expanded by the shell that xargs starts
printf '%s\n' "${jobs[@]}" | sort -u | xargs -P "${JOBS:-1}" -L 1 bash -c 'compile "$1" "$2"' compile

for target in "${targets[@]}"; do
  slots=$(slots_of "$target")
  if [ "$target" = lockstep ]; then sources=("${lockstep[@]}"); else sources=("${shared[@]}"); fi
  objects=()
  for source in "${sources[@]}"; do
    objects+=("$(object_of "$slots" "$source")")
  done
  rm -f "$WORK/$slots.a"
  ar crs "$WORK/$slots.a" "${objects[@]}"
  # shellcheck disable=SC2086
  "$CXX" $CXXFLAGS "$(object_of "$slots" "fuzz/${target}_fuzz.c")" "$WORK/$slots.a" $LIB_FUZZING_ENGINE \
    -o "$OUT/$target"
  if [ -f "fuzz/$target.dict" ]; then
    cp "fuzz/$target.dict" "$OUT/"
  fi
  if [ -d "fuzz/corpus/$target" ]; then
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "fuzz/corpus/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
  fi
done
