#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh BENCHMARK [ARGUMENT...]: runs one benchmark.
set -euo pipefail

case ${1-} in
  audit)
    shift
    exec "$(dirname "$0")/audit_speed" "$@"
    ;;
  -h | --help)
    echo "usage: bench audit [ARGUMENT...]    speed and memory of 'ashlar audit'; --help tells more"
    ;;
  *)
    echo "usage: bench audit [ARGUMENT...]" >&2
    exit 3
    ;;
esac
