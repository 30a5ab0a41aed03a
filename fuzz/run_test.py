#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py over real fuzzers, one of which must fail, and over some that misbehave."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

FUZZERS = Path("fuzz/bin").resolve()


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name) / "state"

    def run_fuzzer(self, target, *words, binary=None):
        done = subprocess.run(
            [
                "python3", "fuzz/run.py", target, "--seed", "1", "--state", self.state,
                "--binary", binary or FUZZERS / target, *words,
            ],
            capture_output=True, text=True, check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def script(self, text):
        path = self.state.parent / "fuzzer"
        path.write_text("#!/bin/bash\n" + text + "\n")
        path.chmod(0o755)
        return path

    def test_a_clean_run_counts_and_keeps_what_it_found(self):
        status, out, _ = self.run_fuzzer("size_policy", "--seconds", "2", "--json")
        outcome = json.loads(out)
        self.assertEqual((status, outcome["result"], outcome["failure"]), (0, "clean", None))
        self.assertGreater(outcome["operations"], outcome["executions"])
        self.assertGreater(outcome["executions"], 1000)
        self.assertEqual(outcome["inputs"], len(os.listdir(self.state / "corpus")))
        self.assertGreater(outcome["inputs"], 10)
        status, out, _ = self.run_fuzzer("size_policy", "--seconds", "1", "--json")
        self.assertGreaterEqual(json.loads(out)["inputs"], outcome["inputs"] * 3 // 4)
        self.assertEqual(status, 0)

    def test_a_failure_is_kept_and_printed(self):
        for _ in range(2):  # the second time the file is there already
            status, out, err = self.run_fuzzer("planted_fault", "--seconds", "30", "--json")
            outcome = json.loads(out)
            self.assertEqual((status, outcome["result"]), (1, "failed"))
            failure = Path(outcome["failure"])
            self.assertGreater(failure.stat().st_size, 0)
            self.assertIn("fuzz: FAILED: ", err)
            self.assertRegex(err, r"(?m)^insert slot \d+: list ")
            self.assertIn(str(failure), err)
            self.assertIn("fuzz: FAILED: ", failure.with_name(failure.name + ".txt").read_text())

    def test_what_is_no_fuzzer(self):
        for text in ("exit 0", "echo fuzz: 1 operations; exit 0", "exit 5", "kill -9 $$"):
            status, out, err = self.run_fuzzer("size_policy", "--seconds", "1", binary=self.script(text))
            self.assertEqual((status, out), (2, ""), text)
            self.assertIn("ashlar fuzz: ", err)
        status, _, err = self.run_fuzzer("size_policy", binary=self.state / "nothing")
        self.assertEqual(status, 2)
        self.assertIn("there is no fuzzer", err)

    def test_usage(self):
        for words in (("--seconds", "0"), ("--seconds", "x"), ("--seed", "0"), ("more",)):
            self.assertEqual(self.run_fuzzer("size_policy", *words)[:2], (3, ""), words)
        self.assertEqual(self.run_fuzzer("../size_policy")[0], 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
