#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every module of the core has a proof in the test run, or is named among those that have none (A-06 of ASSUMPTIONS.md)."""

import re
import unittest
from pathlib import Path


def named(text, heading):
    """The words in backquotes in the section under a heading."""
    section = text.split(f"\n### {heading} ", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
    return set(re.findall(r"`(\w+)`", section))


class Modules(unittest.TestCase):
    def test_each_is_proved_or_named(self):
        modules = {path.stem for path in Path("core").glob("*.c")}
        self.assertIn("free_index", modules)
        build = Path("proofs/BUILD").read_text(encoding="utf-8")
        rule = r'^wp_test\(\n    name = "(\w+)",\n(?:    [^\n]*\n)*?    srcs = \["//core:(\w+)\.c"\]'
        tests = re.findall(rule, build, re.MULTILINE)
        proved = {source for _, source in tests}
        self.assertEqual([name for name, source in tests if name != source], [])
        self.assertEqual(len(tests), build.count("\nwp_test("))
        lines = Path("proofs/goals.txt").read_text(encoding="utf-8").splitlines()
        recorded = {line.split()[0] for line in lines if line and not line.startswith("#")}
        self.assertEqual(recorded, proved)
        open_ones = named(Path("proofs/ASSUMPTIONS.md").read_text(encoding="utf-8"), "A-06")
        self.assertEqual(modules - proved, open_ones)


if __name__ == "__main__":
    unittest.main(verbosity=2)
