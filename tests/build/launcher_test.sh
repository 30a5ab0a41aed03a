#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The launcher with stand-ins for dpkg-query, apt-get and bazel.
set -u

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
    sed 's/^/  | /' "$out" "$err" "$calls"
    failed=1
  fi
}

# A checkout with a tool already built: it prints its arguments and folder and exits with 2. And with a fuzzer, which
# says what fuzzers say.
home=$TEST_TMPDIR/checkout
mkdir -p "$home/bazel-bin/tools" "$home/bazel-bin/fuzz/bin" "$TEST_TMPDIR/bin" "$TEST_TMPDIR/elsewhere"
cp -rL ashlar CHANGELOG.md fuzz proofs tests tools "$home/"
cat > "$home/bazel-bin/fuzz/bin/size_policy" << 'EOF'
#!/bin/bash
echo "fuzzer $*" >> "$calls"
sleep 1
echo "fuzz: 5000 operations, 70 inputs"
EOF
cat > "$home/bazel-bin/tools/ashlar" << 'EOF'
#!/bin/bash
echo "$PWD|$ASHLAR_ROOT|$*"
exit 2
EOF

# Stand-ins. They log how they are called; apt-get fails as often as $fail_apt says.
calls=$TEST_TMPDIR/calls
out=$TEST_TMPDIR/out
err=$TEST_TMPDIR/err
cat > "$TEST_TMPDIR/bin/dpkg-query" << 'EOF'
#!/bin/bash
shift 2
for package in "$@"; do
  case " $absent " in
    *" $package "*) ;;
    *) printf 'installed:%s ' "$package" ;;
  esac
done
EOF
cat > "$TEST_TMPDIR/bin/apt-get" << 'EOF'
#!/bin/bash
echo "apt-get $*" >> "$calls"
case $1 in
  install) [ "$(grep -c 'apt-get install' "$calls")" -gt "$fail_apt" ] ;;
esac
EOF
cat > "$TEST_TMPDIR/bin/bazel" << 'EOF'
#!/bin/bash
echo "bazel $*" >> "$calls"
for argument in "$@"; do
  case $argument in
    --build_event_json_file=*) cp "$prepared" "${argument#*=}" ;;
  esac
done
exit "$bazel_status"
EOF
printf '#!/bin/bash\nexec "$@"\n' > "$TEST_TMPDIR/bin/sudo"
chmod +x "$TEST_TMPDIR"/bin/* "$home/bazel-bin/tools/ashlar" "$home/bazel-bin/fuzz/bin/size_policy"

# PyTorch's viewer is in the cache already, so that no test goes to the network.
release=$(sed -n 's/^\(torch==[0-9.]*\).*/\1/p' tools/bazel/torch-peer.txt)
export XDG_CACHE_HOME=$TEST_TMPDIR/cache
mkdir -p "$XDG_CACHE_HOME/ashlar/$release"
touch "$XDG_CACHE_HOME/ashlar/$release/_memory_viz.py"

export calls absent="" fail_apt=0 bazel_status=0 prepared=$TEST_TMPDIR/events
run() {
  : > "$calls"
  (cd "$TEST_TMPDIR/elsewhere" && PATH=$TEST_TMPDIR/bin:$PATH "$home/ashlar" "$@") > "$out" 2> "$err"
  status=$?
}

run --help
check "--help ends with 0" [ $status -eq 0 ]
for command in demo test prove fuzz campaign coverage bench audit replay; do
  check "--help names $command" grep -qE "^  $command" "$out"
done
run --version
check "--version" grep -qxE 'ashlar [0-9]+\.[0-9]+\.[0-9]+' "$out"
run
check "no command is wrong usage" [ $status -eq 3 ]
check "help and version run nothing" [ ! -s "$calls" ]

run audit 'a file' --json
check "other commands go to the tool, in the caller's folder" \
  [ "$(cat "$out")" = "$TEST_TMPDIR/elsewhere|$home|audit a file --json" ]
check "with the tool's status" [ $status -eq 2 ]
check "setup is silent when nothing is missing" [ ! -s "$err" ]
check "and installs nothing" [ "$(grep -c apt-get "$calls")" -eq 0 ]

absent="gcc libjansson-dev"
run audit file
check "missing packages are named" grep -q 'installing.*: gcc libjansson-dev$' "$err"
check "and installed" grep -q 'apt-get install .*--no-install-recommends gcc libjansson-dev$' "$calls"
fail_apt=1
run audit file
check "a failed installation is repeated with new lists" \
  [ "$(sed 's/^\(apt-get [a-z]*\).*/\1/; s/^bazel.*/bazel/' "$calls" | uniq | tail -n 3 | xargs)" = \
  "apt-get update apt-get install bazel" ]
fail_apt=9
run audit file
check "an impossible one is an error" [ $status -eq 1 ]
check "before anything is built" [ "$(grep -c bazel "$calls")" -eq 0 ]
absent=""
fail_apt=0

bazel_status=1
run audit file
check "a failed build is an error" [ $status -eq 1 ]
bazel_status=0

log=$TEST_TMPDIR/test.log
printf 'SKIPPED: reading: no data\n[       OK ] one\n' > "$log"
cat > "$prepared" << EOF
{"id":{"targetConfigured":{"label":"//a:a"}},"configured":{"testSize":"SMALL"}}
{"id":{"testResult":{"label":"//a:a"}},"testResult":{"testActionOutput":[{"name":"test.log","uri":"file://$log"}]}}
{"id":{"testSummary":{"label":"//a:a"}},"testSummary":{"overallStatus":"PASSED"}}
EOF
printf '[       OK ] two\n' >> "$log"
run test
check "test ends with the counts" [ "$(tail -n 1 "$out")" = "1 passed, 0 failed, 1 skipped" ]
check "names what it skipped" grep -qx 'SKIPPED: //a:a: reading: no data' "$out"
check "says how old the records of campaigns are" \
  grep -qx 'campaign fuzz-size-policy: never run' "$out"
check "and ends with 0" [ $status -eq 0 ]
check "having run all tests" grep -qE '^bazel test .* //\.\.\.$' "$calls"
bazel_status=3
run test //a/...
check "a failure of Bazel is a failure" [ $status -eq 3 ]
check "chosen targets are passed on" grep -qE '^bazel test .* //a/\.\.\.$' "$calls"
bazel_status=0
: > "$prepared"
run test
check "no test at all is a failure" [ $status -eq 1 ]
run prove no_such_function
check "prove refuses an unknown function" [ $status -eq 3 ]

run fuzz size_policy --seconds 2
check "fuzz runs a fuzzer" [ $status -eq 0 ]
check "having built it" grep -qE '^bazel build .* //fuzz:fuzzers$' "$calls"
check "for the time given, with what was found before, outside the tree" \
  grep -qE "^fuzzer .*-max_total_time=2 .* $XDG_CACHE_HOME/ashlar/fuzz/size_policy/corpus" "$calls"
check "and says what it did" grep -q '^size_policy: nothing found in 5000 operations, 70 inputs' "$out"
run fuzz no_such_target
check "fuzz refuses an unknown target" [ $status -eq 3 ]
check "and names those that there are" grep -q 'one of: .*size_policy' "$err"
run fuzz
check "fuzz needs a target" [ $status -eq 3 ]
run fuzz size_policy --seconds 0
check "fuzz refuses no time" [ $status -eq 3 ]

records=$home/tests/campaigns/fuzz-size-policy.jsonl
run campaign fuzz-size-policy --minutes 0.02
check "campaign runs a long check" [ $status -eq 0 ]
check "having built it" grep -qE '^bazel build .* //fuzz:fuzzers$' "$calls"
check "and records it" \
  grep -qE '^\{"date": "[^"]*", "commit": "[^"]*", "name": "fuzz-size-policy", "seed": 1,.*"operations": 5000,' "$records"
run campaign fuzz-size-policy --minutes 0.02
check "once a run" [ "$(wc -l < "$records")" -eq 2 ]
run campaign no-such-campaign
check "campaign refuses an unknown name" [ $status -eq 3 ]
check "and names those that there are" grep -q 'there are: .*fuzz-size-policy' "$err"
run campaign
check "campaign needs a name" [ $status -eq 3 ]

absent="clang-19"
run coverage --jobs 0
check "coverage refuses no job" [ $status -eq 3 ]
check "having installed what it needs" grep -q 'apt-get install .*--no-install-recommends clang-19$' "$calls"
absent=""
: > "$prepared"
run coverage
check "coverage without rules of Bazel could not run" [ $status -eq 2 ]
check "having asked for them" grep -qE '^bazel query .*//\.\.\.$' "$calls"

start=$(date +%s%N)
run audit file
elapsed=$((($(date +%s%N) - start) / 1000000))
check "the setup check takes under a second ($elapsed ms)" [ $elapsed -lt 1000 ]
exit $failed
