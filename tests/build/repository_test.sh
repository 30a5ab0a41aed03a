#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# repository_test.sh [FOLDER]: rules for every file of the checkout, or of another folder. Patterns are
# written so that this file does not match itself.
# shellcheck disable=SC2317 # the rules are called by name
set -u

cd "${1:-$(dirname "$(readlink -f WORKSPACE)")}" || exit 1
assumptions=proofs/ASSUMPTIONS.md

list_files() {
  if git -c safe.directory='*' rev-parse --git-dir > /dev/null 2>&1; then
    git -c safe.directory='*' ls-files --cached --others --exclude-standard
  else
    find . -type f ! -path './.git/*' ! -path './bazel-*' -printf '%P\n'
  fi | while IFS= read -r file; do
    [ -f "$file" ] && [ ! -L "$file" ] && printf '%s\n' "$file"
  done
}
mapfile -t text < <(list_files | xargs -d '\n' grep -lI '')
mapfile -t sources < <(printf '%s\n' "${text[@]}" | grep -E '\.[ch]$')
mapfile -t scripts < <(grep -lE '^#!' "${text[@]}")
mapfile -t shell_scripts < <(grep -lE '^#!/bin/(ba)?sh' "${scripts[@]}")

# Each rule prints the offences against it.
files_are_found() {
  [ ${#text[@]} -ge 20 ] || echo "only ${#text[@]} files"
  [ ${#sources[@]} -ge 1 ] || echo "no C file"
  [ ${#shell_scripts[@]} -ge 3 ] || echo "only ${#shell_scripts[@]} shell scripts"
}

c_files_are_linted() {
  local source folder
  for source in "${sources[@]}"; do
    folder=$(dirname "$source")
    while [ ! -f "$folder/BUILD" ] && [ "$folder" != . ]; do
      folder=$(dirname "$folder")
    done
    grep -qs '^ashlar_lint(' "$folder/BUILD" || echo "$source: no ashlar_lint() in $folder/BUILD"
  done
}

licence_is_named() {
  grep -L 'SPDX-License-Identifier: BSD-3-Clause' "${sources[@]}" "${scripts[@]}"
}

no_path_of_a_machine() {
  grep -nE '(^|[^A-Za-z0-9_.*])/(work|home|root|Users)/' "${text[@]}"
}

no_package_registry() {
  grep -niE '(pypi|pythonhosted|deb[.]debian)[.](org|net)' "${text[@]}"
}

nothing_is_assumed_in_the_core() {
  grep -rnE --include='*.[ch]' '\b(admit|axiom|axiomatic|no_wp)\b' core spec
}

scripts_can_be_executed() {
  local script
  for script in "${scripts[@]}"; do
    [ -x "$script" ] || echo "$script"
  done
}

shellcheck_is_content() {
  shellcheck "${shell_scripts[@]}" 2>&1
}

# Numbered exceptions: A-nn assumptions of the proofs, D-nn lint exceptions.
named_exceptions_are_explained() {
  local number
  grep -ohE '\b[AD]-[0-9]{2}\b' "${text[@]}" | sort -u | while IFS= read -r number; do
    grep -q "^### $number " "$assumptions" || echo "$number is not in $assumptions"
  done
}

explained_lint_exceptions_are_used() {
  local number
  grep -oE '^### D-[0-9]{2}' "$assumptions" | cut -c5- | while IFS= read -r number; do
    grep -lw -- "$number" "${text[@]}" | grep -qvx "$assumptions" || echo "$number is used nowhere"
  done
}

suppressions_name_their_exception() {
  grep -nE 'NOLINT|cppcheck-suppress' "${sources[@]}" | grep -vE 'D-[0-9]{2}'
}

disabled_checks_are_numbered() {
  local check
  sed -n 's/^ *-\([a-z][A-Za-z.-]*\),\{0,1\}$/\1/p' .clang-tidy | while IFS= read -r check; do
    grep -qE "^# +D-[0-9]{2} $check" .clang-tidy || echo "$check is off without a number"
  done
}

case_number=0
failed=0
for rule in files_are_found c_files_are_linted licence_is_named no_path_of_a_machine \
  no_package_registry nothing_is_assumed_in_the_core scripts_can_be_executed shellcheck_is_content \
  named_exceptions_are_explained explained_lint_exceptions_are_used \
  suppressions_name_their_exception disabled_checks_are_numbered; do
  case_number=$((case_number + 1))
  offences=$("$rule")
  if [ -z "$offences" ]; then
    echo "ok $case_number - $rule"
  else
    printf '%s\n' "$offences"
    echo "not ok $case_number - $rule"
    failed=1
  fi
done
exit $failed
