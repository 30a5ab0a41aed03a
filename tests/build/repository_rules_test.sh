#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every rule of repository_test.sh can fail: a folder that offends against all of them at once.
set -u

folder=$TEST_TMPDIR/offender
mkdir -p "$folder/core" "$folder/spec" "$folder/proofs"
slash=/
unused=98
unknown=99
cat > "$folder/core/bad.c" << EOF
/* See ${slash}home${slash}someone and pypi${slash:+.}org. NOLINT */
/*@ axiom wrong: 1 == 2; */
EOF
printf '#!/bin/bash\necho %s1\n' '$' > "$folder/bad.sh"
printf 'Checks: >-\n  -*,\n  -misc-bad,\n' > "$folder/.clang-tidy"
echo "### D-$unused is used nowhere, D-$unknown is explained nowhere" > "$folder/proofs/ASSUMPTIONS.md"

output=$(tests/build/repository_test.sh "$folder")
# Indented, so that nobody counts these lines as cases.
while IFS= read -r line; do
  echo "  $line"
done <<< "$output"
rules=$(grep -cE '^(not )?ok [0-9]+ - ' <<< "$output")
passed=$(grep -E '^ok [0-9]+ - ' <<< "$output")
if [ "$rules" -ge 12 ] && [ -z "$passed" ]; then
  echo "ok 1 - all $rules rules can fail"
else
  echo "not ok 1 - of $rules rules these did not fail: $passed"
  exit 1
fi
