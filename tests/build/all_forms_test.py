#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The campaign of the proofs: both forms of each module once, anew when a file changes, and a failure is told."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

MODULE = """/*@ requires small: x < 100; terminates \\true; exits \\false; assigns \\nothing; ensures same: \\result == x; */
int same(int x)
{
  return x;
}
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.root = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        for name in ("core", "spec", "proofs"):
            (self.root / name).mkdir()
        for name in ("all_forms.py", "run_wp.py", "tool-versions.txt"):
            shutil.copy(Path("proofs") / name, self.root / "proofs" / name)
        shutil.copytree("proofs/provers", self.root / "proofs/provers")
        (self.root / "core/one.c").write_text(MODULE, encoding="utf-8")
        self.record(4)

    def record(self, goals):
        (self.root / "proofs/goals.txt").write_text(f"# record\none same {goals}\n", encoding="utf-8")

    def run_all(self, seconds=60):
        """The status and the outcome."""
        command = ["python3", "proofs/all_forms.py", "--json", f"--seconds={seconds}", "--state=state", "--slots=128"]
        done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, json.loads(done.stdout)

    def test_each_form_is_proved_once(self):
        status, outcome = self.run_all()
        self.assertEqual((status, outcome["result"]), (0, "clean"), outcome)
        self.assertEqual((outcome["executions"], outcome["modules"], outcome["complete"]), (2, [1, 1], True))
        self.assertGreaterEqual(outcome["operations"], 8)  # and the smoke tests
        status, outcome = self.run_all()
        self.assertEqual((status, outcome["executions"], outcome["complete"]), (0, 0, True))

    def test_what_changed_is_proved_again(self):
        self.run_all()
        (self.root / "core/one.c").write_text(MODULE + "/* more */\n", encoding="utf-8")
        self.assertEqual(self.run_all()[1]["executions"], 2)

    def test_no_time_is_not_complete(self):
        status, outcome = self.run_all(seconds=0)
        self.assertEqual((status, outcome["executions"], outcome["modules"], outcome["complete"]), (0, 0, [0, 1], False))

    def test_a_failure_is_told(self):
        self.record(5)
        status, outcome = self.run_all()
        self.assertEqual((status, outcome["result"], outcome["complete"]), (1, "failed", False))
        self.assertIn("same has 4 goals, recorded are 5", Path(self.root, outcome["failure"]).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
