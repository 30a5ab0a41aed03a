#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# memory_viz_test.sh ASHLAR TRACE: PyTorch's own viewer reads the snapshots that the tool writes.
# ASHLAR_MEMORY_VIZ names its file, _memory_viz.py; the release is in tools/bazel/torch-peer.txt.
# shellcheck disable=SC2317 # the functions are called by name
set -u

if [ ! -f "${ASHLAR_MEMORY_VIZ-}" ]; then
  echo "SKIPPED: memory_viz_test: PyTorch's _memory_viz.py is not here"
  exit 0
fi
ashlar=$(readlink -f "$1")
trace=$(readlink -f "$2")
viewer=$(readlink -f "$ASHLAR_MEMORY_VIZ")
work=${TEST_TMPDIR:-$(mktemp -d)}
cd "$work" || exit 1
case_number=0
failed=0

check() { # NAME, then a command
  local name=$1
  shift
  case_number=$((case_number + 1))
  if "$@"; then
    echo "ok $case_number - $name"
  else
    echo "not ok $case_number - $name"
    head -c 3000 shown | sed 's/^/  | /'
    failed=1
  fi
}

shows() { # arguments of the viewer; what it prints goes to the file `shown`
  python3 -B "$viewer" "$@" > shown 2>&1
}

has() { # a line, whole and without patterns
  grep -qxF -- "$1" shown
}

contains() {
  grep -qF -- "$1" shown
}

# The parts of the viewer that would fetch a script to draw with are called from here instead.
lists() { # FUNCTION FILE
  python3 -B - "$viewer" "$@" > shown 2>&1 << 'EOF'
import importlib.util
import pickle
import sys

spec = importlib.util.spec_from_file_location("viewer", sys.argv[1])
viewer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viewer)
with open(sys.argv[3], "rb") as file:
    snapshot = pickle.load(file)
print(getattr(viewer, sys.argv[2])(snapshot, format_flamegraph=lambda lines: lines))
EOF
}

# Two segments, a block in use elsewhere, the ladder, and out of memory.
cat > small.trace << 'EOF'
ashlar-trace 1
a 0 5242880 7
a 1 4194304 7
f 0
a 2 1000 7
u 2 9
f 2
a 3 25165824 7
a 4 25165824 7
e
EOF
"$ashlar" replay small.trace --capacity 48M --out small.pickle > report
[ $? -eq 1 ] || exit 1 # the last allocation fails
check "trace" shows trace small.pickle
check "the events are counted" has "13 entries"
check "segments" has "a = cudaMalloc(17592186044416, 20.0MiB)"
check "a block" has "b = a[0:5.0MiB]"
check "the block behind it" has "c = a[5242880:4.0MiB]"
check "a free" has "del b # 5.0MiB"
check "its completion" has "# free completed for b 5.0MiB"
check "a free that waits" has "del e # 1000.0B"
check "out of memory" has "raise OutOfMemoryError # 24.0MiB requested, 4.0MiB free in CUDA"
check "stats" shows stats small.pickle
check "number of segments" has "segments: 2"
check "reserved" has "total_reserved: 44.0MiB"
check "allocated" has "total_allocated: 28.0MiB"
check "segments function" lists segments small.pickle
check "a live block" has "stream_7;seg_17592186044416;active_allocated;<non-python> 4194304"
check "a free block" contains "stream_7;seg_17592186044416;inactive;"
check "memory function" lists memory small.pickle
check "what is allocated" has "stream_7;active_allocated;<non-python> 4194304"

# The real trace: all of it is read, and the plots are made.
"$ashlar" replay "$trace" --out training.pickle > report || exit 1
check "trace of a training run" shows trace training.pickle
check "all its events" has "15729 entries"
check "stats of a training run" shows stats training.pickle
check "its segments" has "segments: 51"
check "its reserved memory" has "total_reserved: 320.0MiB"
for plot in trace_plot segment_plot; do
  check "$plot" shows "$plot" training.pickle -o "$plot.html"
  check "$plot has the snapshot" [ "$(stat -c %s "$plot.html" 2> /dev/null)" -gt 100000 ]
done

# Several streams and devices, free lists by segment age, and only the last events.
printf 'ashlar-trace 1\na 0 1000 1 0\na 1 2000 2 1\nf 0\na 2 3000 3 1\nf 1\n' > devices.trace
"$ashlar" replay devices.trace --order segment --max-entries 3 --out devices.pickle > report || exit 1
check "trace of two devices" shows trace devices.pickle
check "the first" has "Device 0 ----------------"
check "the second" contains "Device 1 ----------------"
check "three entries" has "3 entries"
check "stats of two devices" shows stats devices.pickle
check "their segments" has "segments: 3"

exit $failed
