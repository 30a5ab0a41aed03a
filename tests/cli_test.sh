#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cli_test.sh ASHLAR TRACE: the tool as a user calls it: what it prints where, and its exit status.
# shellcheck disable=SC2317 # the functions are called by name
set -u

ashlar=$(readlink -f "$1")
trace=$(readlink -f "$2")
work=${TEST_TMPDIR:-$(mktemp -d)}
cd "$work" || exit 1
out=$work/out
err=$work/err
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
    head -c 2000 "$out" "$err" | sed 's/^/  | /'
    failed=1
  fi
}

# Runs the tool; what it prints goes to $out and $err, and its status must be the one given.
runs() { # STATUS, then arguments
  local expected=$1 status
  shift
  "$ashlar" "$@" > "$out" 2> "$err" < /dev/null
  status=$?
  [ "$status" -eq "$expected" ] || {
    echo "status $status for: ashlar $*"
    false
  }
}

says() { # FILE, then a pattern: the file has a line that matches
  grep -qE -- "$2" "$1"
}

is_empty() {
  [ ! -s "$1" ]
}

usage() { # arguments: wrong usage is told on standard error only
  runs 3 "$@" && is_empty "$out" && [ -s "$err" ]
}

unusable() { # PATTERN, then arguments
  local pattern=$1
  shift
  runs 2 "$@" && is_empty "$out" && says "$err" "$pattern" && [ "$(wc -l < "$err")" -eq 1 ]
}

# A value of the JSON in $out, by an expression over it, j.
json() {
  python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$out" "$1"
}

json_is() { # EXPRESSION VALUE
  local value
  value=$(json "$1")
  [ "$value" = "$2" ] || {
    echo "$1 is $value, not $2"
    false
  }
}

# --- the tool itself ---
check "no command" usage
check "unknown command" usage frobnicate
check "unknown command is named" says "$err" "frobnicate"
check "help" runs 0 --help
check "help goes to standard output" says "$out" "^usage: ashlar"
check "help, short" runs 0 -h
check "version" runs 0 --version
check "version is one line" says "$out" '^ashlar [0-9]+\.[0-9]+\.[0-9]+$'
for command in audit replay demo; do
  check "$command --help" runs 0 "$command" --help
  check "$command --help names it" says "$out" "^Usage: ashlar $command"
  check "$command --help tells the statuses" says "$out" "Exit status: 0"
  check "$command --usage" runs 0 "$command" --usage
  check "$command with an unknown option" usage "$command" --frobnicate x
done

# --- wrong usage ---
printf 'ashlar-trace 1\na 0 1000\na 1 20971520\nf 0\n' > good.trace
check "replay without a file" usage replay
check "replay of two files" usage replay good.trace good.trace
check "audit without a file" usage audit
check "demo with a file" usage demo good.trace
check "an option without its value" usage replay good.trace --capacity
for option in --policy=best --order=size --device=gpu --capacity=12x --capacity=-1 --capacity= \
  --capacity=99999999999999999999 --capacity=16777216T --max-split=19M --max-split=x \
  --max-entries=many --call-cost=1e3 --placement=somewhere --max-entries=5 --json=yes; do
  check "replay $option" usage replay good.trace "$option"
done
check "audit --order=size" usage audit good.trace --order=size
check "replay on a GPU is refused" usage replay good.trace --device cuda
check "and the reason is told" says "$err" "not in this version"
check "a placement on a recorded device" usage replay good.trace --device recorded --placement ascending

# --- input that is no use ---
printf 'ashlar-trace 1\na 0 1\nf 1\n' > bad.trace
printf '\x80\x04c' > bad.pickle
: > empty
check "no such file" unusable 'ashlar: missing: byte 0: .*No such file' replay missing
check "no such file to audit" unusable 'missing' audit missing
check "a folder" unusable '.' replay /
check "a bad trace, with its line" unusable 'ashlar: bad.trace: line 3: ' replay bad.trace
check "a bad pickle, with its byte" unusable 'ashlar: bad.pickle: byte [0-9]+: ' replay bad.pickle
check "a bad pickle to audit" unusable 'ashlar: bad.pickle: byte [0-9]+: ' audit bad.pickle
check "an empty file" unusable 'empty: byte 0: ' replay empty
check "a trace is no snapshot to audit" unusable 'good.trace' audit good.trace
check "a trace on a recorded device" unusable 'needs a snapshot' replay good.trace --device recorded
check "demo without its data" unusable 'missing' demo --data missing

# --- replay ---
check "a good trace" runs 0 replay good.trace
check "nothing on standard error" is_empty "$err"
check "the device is named as what it is" says "$out" '^device: pretend \(sim\), not a GPU'
check "the assumed cost is told" says "$out" 'assuming 100000 ns a call'
check "as JSON" runs 0 replay good.trace --json --capacity 1G --call-cost 5000
check "file" json_is 'j["file"]' good.trace
check "capacity" json_is 'j["capacity"]' 1073741824
check "policy" json_is 'j["policy"]' complete
check "order" json_is 'j["order"]' address
check "device" json_is 'j["device"]' sim
check "cost" json_is 'j["assumed_call_ns"]' 5000
check "allocations" json_is 'j["totals"]["allocations"]' 2
check "peak reserved" json_is 'j["devices"][0]["peak_reserved"]' 23068672
check "peak allocated" json_is 'j["devices"][0]["peak_allocated"]' 20972544
check "device calls" json_is 'j["devices"][0]["device_calls"]["total"]' 2
check "without a cache" json_is 'j["devices"][0]["device_calls"]["without_cache"]' 3
check "saved" json_is 'j["totals"]["saved_seconds"]' 5e-06
check "fragmentation" json_is 'j["devices"][0]["at_end"]["fragmentation"]' 0.0
check "unused at the end" json_is 'j["devices"][0]["at_end"]["unused"]' 2097152
check "left" json_is 'j["devices"][0]["live_blocks"]' 1
check "no failures" json_is 'j["devices"][0]["failures"]' '[]'
check "other settings" runs 0 replay good.trace --json --policy faithful --order segment --max-split 32M
check "policy, set" json_is 'j["policy"]' faithful
check "order, set" json_is 'j["order"]' segment
check "split limit, set" json_is 'j["max_split_size"]' 33554432
check "suffixes" runs 0 replay good.trace --json --capacity 2048MiB
check "suffixes, value" json_is 'j["capacity"]' 2147483648

check "a device that is too small" runs 1 replay good.trace --capacity 20M
check "the failure is told" says "$out" 'event 1: 20.00 MiB \(20971520 bytes\): out of memory'
check "the failure as JSON" runs 1 replay good.trace --capacity 20M --json
check "its event" json_is 'j["devices"][0]["failures"][0]["event"]' 1
check "its reason" json_is 'j["devices"][0]["failures"][0]["reason"]' "out of memory"
check "what was left" json_is 'j["devices"][0]["failures"][0]["device_free"]' 18874368
{
  echo 'ashlar-trace 1'
  for i in $(seq 100); do echo "a $i 1073741824"; done
  echo 'a 0 18446744073709551615'
} > many.trace
check "many failures" runs 1 replay many.trace --capacity 1M
check "only the first ones are printed" says "$out" 'and 81 more; --json lists all of them'
check "many failures as JSON" runs 1 replay many.trace --capacity 1M --json
check "all of them" json_is 'len(j["devices"][0]["failures"])' 101
check "a size beyond 2^63" json_is 'j["devices"][0]["failures"][100]["bytes"]' 18446744073709551615

# --- from standard input, through a pipe, to a file ---
from_standard_input() {
  "$ashlar" replay - < good.trace > "$out" 2> "$err"
}

through_a_pipe() {
  # shellcheck disable=SC2002 # a pipe is what this is about
  cat "$1" | "$ashlar" replay --json - > "$out" 2> "$err"
}

from_a_named_pipe() {
  "$ashlar" replay <(cat good.trace) > "$out" 2> "$err"
}

has_events() { # FILE COUNT
  python3 -c 'import pickle, sys
sys.exit(len(pickle.load(open(sys.argv[1], "rb"))["device_traces"][0]) != int(sys.argv[2]))' "$@"
}

fails_to_print() {
  "$ashlar" replay good.trace > /dev/full 2> "$err"
  [ $? -eq 2 ]
}

check "from standard input" from_standard_input
check "a trace through a pipe" through_a_pipe good.trace
check "from a pipe with a name" from_a_named_pipe
check "a snapshot is written" runs 0 replay good.trace --out made.pickle
check "with all events" has_events made.pickle 6
check "and audited" runs 0 audit made.pickle --json
check "its allocations agree" json_is 'j["totals"]["agree"]' 2
check "a snapshot through a pipe" through_a_pipe made.pickle
check "the same allocations" json_is 'j["totals"]["allocations"]' 2
check "and on a recorded device" runs 0 replay made.pickle --device recorded --policy faithful \
  --out again.pickle
check "the same file comes out" cmp made.pickle again.pickle
check "a ring of two" runs 0 replay good.trace --out ring.pickle --max-entries 2
check "keeps two events" has_events ring.pickle 2
check "a folder that is not there" runs 2 replay good.trace --out no/such/file
check "is told" says "$err" 'no/such/file'
if [ -w /dev/full ]; then
  check "a full disk" fails_to_print
  check "a full disk for the snapshot" runs 2 replay good.trace --out /dev/full
fi

# --- demo ---
last_line_is() { # PATTERN
  tail -n 1 "$out" | grep -qE -- "$1"
}

mkdir -p temporary root/tests/data
cp "$trace" root/tests/data/transformer-training.trace
export TMPDIR=$work/temporary
check "demo" runs 0 demo --data "$trace"
check "its replay" says "$out" '^  allocations: 5370, served: 5370, frees: 5154$'
check "its audit" says "$out" '5370 allocations: 5370 agree, 0 differ, 0 undetermined'
check "its last line" last_line_is '^shown: 10524 requests .* 5370 '
check "nothing is left behind" rmdir temporary
check "without a folder for it" runs 2 demo --data "$trace"
mkdir temporary
ASHLAR_ROOT=root
export ASHLAR_ROOT
check "demo of the tree" runs 0 demo
check "its last line" last_line_is '^shown: 10524 requests .* 5370 '
check "demo of something else" runs 0 demo --data good.trace
check "its last line" last_line_is '^shown: 3 requests'

exit $failed
