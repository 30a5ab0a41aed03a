#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The summary counts what logs of every kind say, and exits accordingly."""

import json
import os
import subprocess
import tempfile
import unittest

CMOCKA = """[==========] Running 3 test(s).
[ RUN      ] good
[       OK ] good
[ RUN      ] bad
[  ERROR   ] --- 1 != 2
[  FAILED  ] bad
[ RUN      ] absent
SKIPPED: absent: no snapshots
[  SKIPPED ] absent
[==========] 3 test(s) run.
[  PASSED  ] 1 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] absent
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] bad
"""


class Summary(unittest.TestCase):
    def summarise(self, tests, *options):
        """Runs the summary over (label, status, log); a log of None is a test that did not build."""
        with tempfile.TemporaryDirectory() as folder:
            events = os.path.join(folder, "events")
            with open(events, "w", encoding="utf-8") as out:
                for number, (label, status, log) in enumerate(tests):
                    said = [{"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}}]
                    if log is not None:
                        path = os.path.join(folder, f"log {number}")
                        with open(path, "w", encoding="utf-8") as log_file:
                            log_file.write(log)
                        outputs = [{"name": "test.log", "uri": "file://" + path.replace(" ", "%20")}]
                        said.append({"id": {"testResult": {"label": label}}, "testResult": {"testActionOutput": outputs}})
                        said.append({"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}})
                    out.writelines(json.dumps(event) + "\n" for event in said)
            done = subprocess.run(
                ["python3", "tools/bazel/test_summary.py", *options, events],
                stdout=subprocess.PIPE, text=True, check=False,
            )
        return done.returncode, done.stdout.splitlines()

    def test_cmocka(self):
        status, lines = self.summarise([("//a:b", "FAILED", CMOCKA)])
        self.assertEqual(lines, [
            "SKIPPED: //a:b: absent: no snapshots", "FAILED: //a:b: bad", "1 passed, 1 failed, 1 skipped",
        ])
        self.assertEqual(status, 1)

    def test_tap(self):
        log = "ok 1 - one\nok 2 - two # SKIP no peer\nok 3\nnot ok 4 - four\n"
        status, lines = self.summarise([("//a:b", "FAILED", log)])
        self.assertEqual(lines[1:], ["FAILED: //a:b: four", "2 passed, 1 failed, 1 skipped"])
        self.assertEqual(status, 1)

    def test_unittest(self):
        log = "test_a (m.T.test_a) ... ok\ntest_b (m.T.test_b) ... FAIL\ntest_c (m.T.test_c) ... skipped 'why'\n"
        _, lines = self.summarise([("//a:b", "FAILED", log)])
        self.assertEqual(
            lines, ["SKIPPED: //a:b: test_c 'why'", "FAILED: //a:b: test_b", "1 passed, 1 failed, 1 skipped"]
        )

    def test_plain_programs(self):
        status, lines = self.summarise([("//a:b", "PASSED", "fine\n"), ("//a:c", "PASSED", "")])
        self.assertEqual((status, lines), (0, ["2 passed, 0 failed, 0 skipped"]))

    def test_a_crash_is_a_failure(self):
        status, lines = self.summarise([("//a:b", "FAILED", "[       OK ] one\n[ RUN      ] two\n")])
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_timeout_is_a_failure(self):
        status, lines = self.summarise([("//a:b", "TIMEOUT", "")])
        self.assertEqual((status, lines), (1, ["FAILED: //a:b: TIMEOUT", "0 passed, 1 failed, 0 skipped"]))

    def test_what_did_not_build_is_a_failure(self):
        status, lines = self.summarise([("//a:b", None, None), ("//a:c", "PASSED", "")])
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_failing_case_in_a_passing_program_is_a_failure(self):
        status, lines = self.summarise([("//a:b", "PASSED", "not ok 1 - one\n")])
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_skipped_program(self):
        log = "SKIPPED: viewer: not fetched\n"
        status, lines = self.summarise([("//a:b", "PASSED", log), ("//a:c", "PASSED", "")])
        self.assertEqual(lines, ["SKIPPED: //a:b: viewer: not fetched", "1 passed, 0 failed, 1 skipped"])
        self.assertEqual(status, 0)

    def test_a_skip_that_the_framework_was_not_told_of(self):
        log = "[       OK ] one\nSKIPPED: two: no data\n[       OK ] two\n"
        _, lines = self.summarise([("//a:b", "PASSED", log)])
        self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")

    def test_proofs(self):
        log = "proved: m f 3/3 goals, 64 slots\nNOT PROVED: m g 2/3 goals, 64 slots\nnoise\nFAILED: m: why\n"
        status, lines = self.summarise([("//p:m", "FAILED", log)], "--proofs")
        self.assertEqual(lines, [
            "proved: m f 3/3 goals, 64 slots", "NOT PROVED: m g 2/3 goals, 64 slots", "FAILED: m: why",
            "FAILED: //p:m: m g 2/3 goals", "1 passed, 1 failed, 0 skipped",
        ])
        self.assertEqual(status, 1)

    def test_nothing_ran(self):
        status, lines = self.summarise([])
        self.assertEqual((status, lines), (1, ["0 passed, 0 failed, 0 skipped"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
