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

# What a target may call. The linker takes what it needs.
shared=(core/*.c fuzz/harness.c fuzz/index_check.c
  tools/{error,id_table,byte_source,utf8}.c tools/{trace,pickle,snapshot}*.c tests/snapshot_support.c
  spec/model/*.c tests/core_check.c)

sources=("${shared[@]}")
for target in "${targets[@]}"; do
  sources+=("fuzz/${target}_fuzz.c")
done

object_of() { # SOURCE
  local object=${1%.c}
  echo "$WORK/${object//\//_}.o"
}
compile() { # SOURCE
  # Unquoted: a list of flags. Managers of 64 slots: quick to reset and to scan, and soon full. The model has some more.
  # shellcheck disable=SC2086
  "$CC" -std=c11 $CFLAGS -I. -DASHLAR_SLOTS=64 -DMODEL_BLOCKS=256 -DMODEL_USES=64 -c "$1" -o "$(object_of "$1")"
}
export -f object_of compile
# shellcheck disable=SC2016 # expanded by the shell that xargs starts
printf '%s\n' "${sources[@]}" | xargs -P "${JOBS:-1}" -I {} bash -c 'compile "$1"' compile {}

objects=()
for source in "${shared[@]}"; do
  objects+=("$(object_of "$source")")
done
rm -f "$WORK/shared.a"
ar crs "$WORK/shared.a" "${objects[@]}"

for target in "${targets[@]}"; do
  # shellcheck disable=SC2086
  "$CXX" $CXXFLAGS "$(object_of "fuzz/${target}_fuzz.c")" "$WORK/shared.a" $LIB_FUZZING_ENGINE \
    -o "$OUT/$target"
  if [ -f "fuzz/$target.dict" ]; then
    cp "fuzz/$target.dict" "$OUT/"
  fi
  if [ -d "fuzz/corpus/$target" ]; then
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "fuzz/corpus/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
  fi
done
