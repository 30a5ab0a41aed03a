#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts test cases after `bazel test --build_event_json_file=FILE`.

    test_summary.py FILE            lists failed and skipped cases; the last line is
                                    `N passed, N failed, N skipped`
    test_summary.py --proofs FILE   prints the lines of the proof tests instead

A case is one cmocka test, one test of Python's unittest (verbosity 2), one TAP line, or one function
proved; a test program that prints none of these is one case. A line `SKIPPED: NAME: REASON` in a log is a skipped case. Exits with 1 if a case
failed or if none ran.
"""

import json
import re
import sys
from urllib.parse import unquote, urlparse

CASE = r"(test\w*) \(.*\) \.\.\. "
PASSED = re.compile(rf"^(?:\[       OK \] |ok \d+(?!.*# SKIP)|{CASE}ok$|proved: |refuted: )", re.MULTILINE)
FAILED = re.compile(
    rf"^(?:\[  FAILED  \] (?!\d+ test\(s\))(\S+)|not ok \d+(?: -)? ?(.*)|{CASE}(?:FAIL|ERROR)$"
    r"|NOT PROVED: (.*?),)",
    re.MULTILINE,
)
SKIPPED = re.compile(
    rf"^(?:\[  SKIPPED \] (?!\d+ test\(s\))(\S+)|ok \d+(?: -)? ?(.*# SKIP.*)|{CASE}skipped (.*))$", re.MULTILINE
)
REASON = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
PROOF_LINE = re.compile(r"^(?:proved: |NOT PROVED: |refuted: |smoke tests: |FAILED: ).*$", re.MULTILINE)


class Test:
    """One test target and what its log says."""

    def __init__(self, label):
        self.label = label
        self.status = "NOT BUILT"
        self.log = ""

    def cases(self):
        """The number of passed cases, and the failed and skipped ones by name."""
        failed = unique(FAILED, self.log)
        skipped = unique(SKIPPED, self.log)
        reasons = REASON.findall(self.log)
        passed = len(PASSED.findall(self.log))
        if self.status != "PASSED" and not failed:
            failed = [self.status]
        if not passed and not failed and not skipped and not reasons:
            passed = 1
        # A test that explains a skip without telling its framework was counted as passed.
        passed = max(0, passed - max(0, len(reasons) - len(skipped)))
        return passed, failed, reasons if len(reasons) >= len(skipped) else skipped


def unique(pattern, text):
    """The names that the groups of a pattern catch, each once; frameworks repeat them at the end."""
    names = [" ".join(filter(None, found)) or "?" for found in pattern.findall(text)]
    return list(dict.fromkeys(names))


def read_log(outputs):
    for output in outputs:
        if output.get("name") == "test.log":
            with open(unquote(urlparse(output["uri"]).path), encoding="utf-8", errors="replace") as log:
                return log.read()
    return ""


def read_events(path):
    """All test targets of a build, in the order of their labels."""
    tests = {}
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            kind, where = next(iter(event["id"].items()))
            label = where.get("label") if isinstance(where, dict) else None
            if kind == "targetConfigured" and "testSize" in event.get("configured", {}):
                tests.setdefault(label, Test(label))
            elif kind == "testResult":
                tests.setdefault(label, Test(label)).log += read_log(event["testResult"].get("testActionOutput", []))
            elif kind == "testSummary":
                tests.setdefault(label, Test(label)).status = event["testSummary"]["overallStatus"]
    return [tests[label] for label in sorted(tests)]


def main(arguments):
    tests = read_events(arguments[-1])
    if arguments[0] == "--proofs":
        for test in tests:
            for line in PROOF_LINE.findall(test.log):
                print(line)
    passed, failed, skipped = 0, [], []
    for test in tests:
        now_passed, now_failed, now_skipped = test.cases()
        passed += now_passed
        failed += [f"FAILED: {test.label}: {name}" for name in now_failed]
        skipped += [f"SKIPPED: {test.label}: {name}" for name in now_skipped]
    for line in skipped + failed:
        print(line)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
