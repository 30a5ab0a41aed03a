#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The judging of coverage, on the export of a small program; and that the list quotes lines that there are.

The export is made anew in example/ by

    clang-19 -x c -std=c11 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc example.txt -o PROGRAM
    LLVM_PROFILE_FILE=PROFRAW PROGRAM; llvm-profdata-19 merge PROFRAW -o PROFILE
    llvm-cov-19 export PROGRAM -instr-profile PROFILE (and with -format=lcov), without the path before example.txt.
"""

import json
import re
import sys
import unittest
from pathlib import Path

HERE = Path("tests/coverage")
sys.path.insert(0, str(HERE))
import gaps  # pylint: disable=wrong-import-position # its folder is only now known

EXAMPLE = HERE / "example"
FUNCTION = re.compile(r"^\S.*?\b(\w+)\(")

DECIDE = """example.txt decide
  | if (a && (b ||
  | c)) {
  | return 1;
  | }
  true: b
  true: c
  alone: a
  lines
  reason: it is called
    with no b and no c
"""


REST = """
# the same lines twice: quoted with what is before them
example.txt twice
  | {
  | if (a == 1) {
  | return 1;
  | }
  true: a == 1
  lines
  reason: r

example.txt twice
  | if (a == 1) {
  | return 1;
  | }
  | return 0;
  true: a == 1
  lines
  reason: r

example.txt alone
  | if (a || b) {
  | return 1;
  | }
  | return 0;
  alone: a
  false: b
  lines
  reason: r

example.txt main
  | return decide(1, 0, 0) + decide(0, 0, 0) + twice(0) + alone(1, 0) + alone(0, 1) == 7 ? 0 : 1;
  false: decide(1, 0, 0) + decide(0, 0, 0) + twice(0) + alone(1, 0) + alone(0, 1) == 7
  reason: r
"""


def example(change=lambda data: None):
    data = json.loads((EXAMPLE / "export.json").read_text())
    change(data)
    source = (EXAMPLE / "example.txt").read_text().splitlines()
    return gaps.Export(json.dumps(data), (EXAMPLE / "export.lcov").read_text(), lambda name: source)


def judge(text):
    return gaps.Judgement(example(), gaps.read_list(text))


class Judging(unittest.TestCase):
    def test_what_is_left(self):
        judgement = judge("")
        found = {(gap.function, gap.kind, gap.text) for gap in judgement.open}
        self.assertTrue({
            ("decide", "true", "b"), ("decide", "true", "c"), ("decide", "alone", "a"), ("decide", "lines", "return 1;"),
            ("twice", "true", "a == 1"), ("twice", "lines", "return 1;"), ("alone", "false", "b"),
        } <= found, found)
        self.assertNotIn(("decide", "alone", "b"), found, "it follows from the side that b lacks")
        self.assertNotIn(("twice", "false", "a == 1"), found)
        self.assertFalse(judgement.clean())
        self.assertIn("example.txt:5: decide: not covered: true: b", judgement.report())

    def test_an_entry_takes_away_what_it_names_and_nothing_else(self):
        before, after = judge(""), judge("# comment\n\n" + DECIDE)
        self.assertEqual(after.faults, [])
        self.assertEqual({gap.function for gap in after.open}, {gap.function for gap in before.open} - {"decide"})
        covered, listed, there = after.figures()["conditions"]
        self.assertEqual((covered, listed, there), (0, 3, 5), "conditions that follow are listed with their sides")
        self.assertEqual(after.figures()["branches"][1], 2)
        without = judge(DECIDE.replace("  true: c\n", ""))
        self.assertEqual({(gap.kind, gap.text) for gap in without.open if gap.function == "decide"}, {("true", "c")})

    def test_an_entry_for_what_is_covered_is_a_fault(self):
        for wrong in ("false: b", "alone: b", "true: a", "true: nothing"):
            judgement = judge(DECIDE.replace("true: c", wrong))
            self.assertEqual(len(judgement.faults), 1, wrong)
            self.assertIn("another: " + wrong, judgement.report())
            self.assertFalse(judgement.clean())

    def test_an_entry_for_lines_that_are_not_there_or_twice_is_a_fault(self):
        for changed in (
            DECIDE.replace("| c))", "| d))"), DECIDE.replace("txt decide", "txt twice"), DECIDE.replace("decide", "none"),
            DECIDE.replace("example.txt", "other.c"), DECIDE + "\n" + DECIDE,
            "example.txt twice\n  | if (a == 1) {\n  true: a == 1\n  reason: which one?\n",
        ):
            judgement = judge(changed)
            self.assertEqual(len(judgement.faults), 1, changed)
            self.assertFalse(judgement.clean())

    def test_a_list_that_is_no_list_is_refused(self):
        for text in (
            "example.txt\n", "  true: a\n", DECIDE.replace("  reason: it is called\n    with no b and no c\n", ""),
            DECIDE.replace("true: b", "never: b"), "a.c f\n  | x\n  reason: y\n", "a.c f\n  true: x\n  reason: y\n",
            DECIDE + "  lines\n",
        ):
            with self.assertRaises(gaps.Unusable, msg=text):
                gaps.read_list(text)

    def test_an_export_that_was_misread_is_refused(self):
        def other_version(data):
            data["version"] = "3.0.0"

        def other_sum(data):
            data["data"][0]["files"][0]["summary"]["branches"]["covered"] += 1

        def a_macro(data):
            next(f for f in data["data"][0]["functions"] if f["branches"])["branches"][0][gaps.BRANCH_FILE] = 1

        for change in (other_version, other_sum, a_macro):
            with self.assertRaises(gaps.Unusable, msg=change.__name__):
                example(change)

    def test_all_listed_is_clean(self):
        judgement = judge(DECIDE + REST)
        self.assertEqual(judgement.faults, [])
        self.assertEqual(judgement.open, [])
        self.assertTrue(judgement.clean())
        for covered, listed, there in judgement.figures().values():
            self.assertEqual(covered + listed, there)


class TheList(unittest.TestCase):
    """Without a measurement: every entry quotes lines of its function, once."""

    def test_it_quotes_lines_that_there_are(self):
        for entry in gaps.read_list((HERE / "unreachable.txt").read_text()):
            lines = Path(entry.file).read_text().splitlines()
            names = [FUNCTION.match(line) for line in lines]
            starts = [at for at, name in enumerate(names, start=1) if name and name[1] == entry.function]
            self.assertTrue(starts, f"line {entry.line}: there is no {entry.function} in {entry.file}")
            end = lines.index("}", starts[-1]) + 1
            gaps.find_quoted(entry, lines, starts[-1], end)


if __name__ == "__main__":
    unittest.main(verbosity=2)
