#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants each kind of fault that check_requirements.py must report in a small tree without any."""

import os
import subprocess
import tempfile
import unittest

# Written in parts, so that nothing here reads as a tag of this repository.
REQ = "REQ" + "-"
LABEL = "REQ" + "_"

PAGE = f"""# Requirements

Text before the first entry is free, {REQ}SIZE or not.

## {REQ}SIZE

A claim with parts.

### {REQ}SIZE-round
A size is rounded up.
- predicate: `rounds`,
  `multiple`
- clause: `{LABEL}SIZE_zero`
- why: a reason
- from: rule 1
- evidence: proved in `size_policy`; `tests/size_test.c`

### {REQ}SIZE-later
Something that is not there yet.
- why: a reason
- from: rule 2
- planned: all

## {REQ}RTE

A claim without parts.
- predicate: none: generated
- clause: none: generated
- why: a reason
- from: rule 3
- evidence: sanitizers

## Not taken over

- free text
"""

TREE = {
    "spec/requirements.md": PAGE,
    "spec/size.h": """/*@
  predicate rounds(integer r, integer n) = n <= r;
  predicate multiple(integer r) = \\true;
*/
#define CLAUSES(K) K %sSIZE_round_clauses: \\true;
""" % LABEL,
    "core/size.c": f"""/* size.c - {REQ}SIZE */
/*@ ensures {LABEL}SIZE_round_up: rounds(\\result, n);
    ensures {LABEL}SIZE_zero: n == 0 ==> \\result == 0; */
int size(int n);
""",
    "tests/size_test.c": f"""/* Covers {REQ}SIZE-round, {REQ}RTE. */
static const char *text = "{REQ}NO-such";
""",
    "tests/check.c": f"""/* Recounts.
   Oracle: {REQ}SIZE-round. */
// Oracle: {REQ}RTE.
""",
    "proofs/goals.txt": "# module function goals\nsize_policy size 3\n",
    "proofs/BUILD": f'expect = ["size_ensures_{LABEL}SIZE_round_up"]\n',
    "tools/audit.c": f'/* Finds offences against {REQ}RTE. */\n',
}


class Requirements(unittest.TestCase):
    def check(self, changes=(), options=()):
        """Runs the check over the tree with (path, old, new) replaced; old None writes the whole file."""
        with tempfile.TemporaryDirectory() as root:
            tree = dict(TREE)
            for path, old, new in changes:
                if old is None:
                    tree[path] = new
                else:
                    self.assertEqual(tree[path].count(old), 1, old)
                    tree[path] = tree[path].replace(old, new)
            for path, text in tree.items():
                if text is not None:
                    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                    with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                        out.write(text)
            done = subprocess.run(
                ["python3", "spec/check_requirements.py", "--root", root, *options],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )
        return done.returncode, done.stdout

    def must_report(self, changes, *texts):
        """The tree with the changes has these faults and no others."""
        status, output = self.check(changes)
        faults = output.partition("\nfaults:\n")[2].partition("\n\n")[0].splitlines()
        self.assertEqual(status, 1, output)
        self.assertEqual(len(faults), len(texts), output)
        for text in texts:
            self.assertTrue(any(fault.endswith(text) for fault in faults), f"{text} is not in {output}")

    def page(self, old, new):
        return [("spec/requirements.md", old, new)]

    # --- a tree without fault ---

    def test_the_good_tree_passes(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.startswith(REQ)}
        self.assertEqual(rows[f"{REQ}SIZE-round"], ["2", "3", "1", "1", "1"])
        self.assertEqual(rows[f"{REQ}SIZE-later"], ["-", "-", "-", "-", "0"])
        self.assertEqual(rows[f"{REQ}RTE"], ["none", "none", "1", "1", "0"])
        self.assertNotIn(f"{REQ}SIZE", rows)
        self.assertIn(f"planned:\n  {REQ}SIZE-later: all\n", output)
        self.assertEqual(
            output.splitlines()[-1],
            "3 requirements: 2 complete, 0 planned in part, 1 planned; 2 links that cannot exist; 0 faults",
        )

    def test_strict_fails_on_what_is_planned(self):
        status, output = self.check(options=["--strict"])
        self.assertEqual(status, 1)
        self.assertIn(f"planned: {REQ}SIZE-later: all", output.partition("faults:")[2])

    def test_strict_passes_where_nothing_is_planned(self):
        start = PAGE.index(f"### {REQ}SIZE-later")
        end = PAGE.index(f"## {REQ}RTE")
        status, output = self.check(self.page(PAGE[start:end], ""), ["--strict"])
        self.assertEqual(status, 0, output)

    def test_a_plan_that_is_done_is_told(self):
        changes = [("tests/more_test.c", None, f"/* {REQ}SIZE-later */\n")]
        status, output = self.check(changes)
        self.assertEqual(status, 0)
        self.assertIn(f"{REQ}SIZE-later: test is planned and there", output)
        self.assertEqual(self.check(changes, ["--strict"])[0], 1)

    def test_where_prints_the_places(self):
        status, output = self.check(options=["--where", f"{REQ}SIZE-round"])
        self.assertEqual(status, 0)
        for place in ("spec/size.h:2", "core/size.c:2", "core/size.c:3", "tests/size_test.c:1", "tests/check.c:2"):
            self.assertIn(place, output)
        self.assertEqual(self.check(options=["--where", f"{REQ}SIZE-none"])[0], 2)

    # --- missing links ---

    def test_no_predicate(self):
        self.must_report(self.page("- predicate: `rounds`,\n  `multiple`\n", ""), f"{REQ}SIZE-round has no predicate")

    def test_no_contract(self):
        self.must_report(
            self.page(f"- clause: `{LABEL}SIZE_zero`\n", "")
            + [("core/size.c", None, "int size(int n);\n"), ("spec/size.h", f"{LABEL}SIZE_round_clauses", "clauses")],
            f"{REQ}SIZE-round has no contract",
        )

    def test_no_test(self):
        self.must_report([("tests/size_test.c", f"{REQ}SIZE-round, ", "")], f"{REQ}SIZE-round has no test")

    def test_no_oracle(self):
        self.must_report([("tests/check.c", "Oracle: %sSIZE" % REQ, "Test: %sSIZE" % REQ)],
                         f"{REQ}SIZE-round has no oracle")

    def test_what_is_planned_may_be_missing(self):
        status, output = self.check(
            [("tests/check.c", None, f"/* Oracle: {REQ}RTE */")]
            + self.page("`tests/size_test.c`\n", "`tests/size_test.c`\n- planned: oracle\n")
        )
        self.assertEqual(status, 0, output)
        self.assertIn("1 complete, 1 planned in part, 1 planned", output)

    def test_what_is_open_is_not_complete(self):
        changes = self.page("`tests/size_test.c`\n", "`tests/size_test.c`\n- open: the rest\n")
        status, output = self.check(changes)
        self.assertEqual(status, 0, output)
        self.assertIn("1 complete, 1 planned in part, 1 planned", output)
        self.assertIn(f"{REQ}SIZE-round: the rest of the statement\n", output)
        self.assertEqual(self.check(changes, ["--strict"])[0], 1)

    def test_what_is_not_stated_is_no_exception(self):
        self.must_report(
            self.page("`tests/size_test.c`\n", "`tests/size_test.c`\n- except: zero is not stated\n"),
            f"{REQ}SIZE-round: what is not stated is no exception; a line open names it",
        )

    def test_a_plan_covers_only_what_it_names(self):
        self.must_report(
            [("tests/check.c", None, f"/* Oracle: {REQ}RTE */"), ("tests/size_test.c", f"{REQ}SIZE-round, ", "")]
            + self.page("`tests/size_test.c`\n", "`tests/size_test.c`\n- planned: oracle\n"),
            f"{REQ}SIZE-round has no test",
        )

    def test_what_cannot_exist_needs_a_reason(self):
        self.must_report(self.page("- predicate: none: generated", "- predicate: none:"), f"{REQ}RTE has no predicate")

    def test_fuzzers_and_the_model_are_oracles(self):
        for path in ("fuzz/size_fuzz.c", "spec/model/model.c", "spec/model/model.h"):
            status, output = self.check([
                ("tests/check.c", f"Oracle: {REQ}SIZE-round", "Nothing"), (path, None, f"/* {REQ}SIZE-round */\n"),
            ])
            self.assertEqual(status, 0, output)

    # --- rows of the scenarios ---

    ROWS = "tests/scenarios/rows.txt"

    def rows(self, text, source="rule 1; scenarios 7, 9", evidence="`tests/scenarios/rows_test.c`"):
        """A page whose first entry comes from rows, and a table of rows."""
        return [
            ("spec/requirements.md", "- from: rule 1\n", f"- from: {source}\n"),
            ("spec/requirements.md", "`tests/size_test.c`\n", f"`tests/size_test.c`; {evidence}\n"),
            ("tests/scenarios/rows_test.c", None, "/* plays */\n"),
            (self.ROWS, None, text),
        ]

    def test_rows_that_cover(self):
        play = "  play: some\n    E\n"
        covers = f"# Covers {REQ}SIZE-round.\n"
        for text in (
            f"{covers}row 7: a\n{play}\n{covers}row 9: b\n{play}",
            f"{covers}row 7: a\n{play}\nrow 9: b\n{play}  part D: threads\n",
            f"row 7: a\n  # Covers {REQ}SIZE-round.\n{play}\nrow 9: b\n  later: c\n",
        ):
            status, output = self.check(self.rows(text))
            self.assertEqual(status, 0, output)

    def test_rows_that_do_not_cover(self):
        play = "  play: some\n    E\n"
        covers = f"# Covers {REQ}SIZE-round.\n"
        both = f"{covers}row 7: a\n{play}\n{covers}row 9: b\n{play}"
        self.must_report(self.rows(f"{covers}row 7: a\n{play}"), f"{REQ}SIZE-round: there is no row 9 in {self.ROWS}")
        self.must_report(self.rows(f"{covers}row 7: a\n{play}row 9: b\n{play}"),
                         f"{REQ}SIZE-round: row 9 does not cover it")
        self.must_report(self.rows(f"{covers}\nrow 7: a\n{play}{covers}row 9: b\n{play}"),
                         f"{REQ}SIZE-round: row 7 does not cover it")
        self.must_report(self.rows(both, evidence="nothing"), "its evidence does not name tests/scenarios/rows_test.c")
        self.must_report(self.rows(both)[:1] + self.rows(both)[2:3], f"{REQ}SIZE-round: there is no row 7 in {self.ROWS}",
                         f"{REQ}SIZE-round: there is no row 9 in {self.ROWS}")

    def test_a_table_is_a_test(self):
        status, output = self.check(
            [("tests/size_test.c", f", {REQ}RTE", ""), ("tests/rows.txt", None, f"# Covers {REQ}RTE.\nrow 1: it's one\n")],
        )
        self.assertEqual(status, 0, output)

    def test_tools_are_no_tests(self):
        self.must_report(
            [("tests/size_test.c", f", {REQ}RTE", "")],
            f"{REQ}RTE has no test",
        )

    # --- names that name nothing ---

    def test_a_tag_that_names_nothing(self):
        for path in ("tests/a.c", "tests/a.sh", "tests/a.py", "tests/a.txt", "fuzz/a.c", "tools/a.c", "cuda/a.h",
                     "core/a.c", "spec/a.h"):
            mark = "# " if path.endswith((".sh", ".py", ".txt")) else "// "
            self.must_report([(path, None, f"\n{mark}{REQ}SIZE-rund\n")], f"{path}:2: {REQ}SIZE-rund names no requirement")
        self.must_report([("tests/a.c", None, f"/* {REQ}NONE */")], f"{REQ}NONE names no requirement")

    def test_a_label_that_names_nothing(self):
        for label in ("SIZE_rund", "SIZE_rounding", "NONE_round", "Size_round"):
            self.must_report([("core/a.h", None, f"/*@ ensures {LABEL}{label}: \\true; */\n")],
                             f"core/a.h:1: {LABEL}{label} names no requirement")

    def test_a_seeded_fault_that_names_nothing(self):
        self.must_report([("proofs/BUILD", "round_up", "rund")], f"{LABEL}SIZE_rund names no requirement")

    def test_a_family_may_be_named_but_is_no_link(self):
        status, output = self.check([("tests/more_test.c", None, f"/* {REQ}SIZE */\n")])
        self.assertEqual(status, 0, output)
        self.must_report([("tests/size_test.c", f"{REQ}SIZE-round", f"{REQ}SIZE")], f"{REQ}SIZE-round has no test")

    def test_a_predicate_that_does_not_exist(self):
        self.must_report(self.page("`multiple`", "`multiples`"),
                         f"{REQ}SIZE-round: there is no predicate multiples in spec/*.h")

    def test_a_clause_that_does_not_exist(self):
        self.must_report(
            [("core/size.c", f"{LABEL}SIZE_zero", "zero")], f"{REQ}SIZE-round: there is no clause {LABEL}SIZE_zero"
        )

    def test_evidence_that_does_not_exist(self):
        self.must_report(self.page("`tests/size_test.c`", "`tests/no_test.c`"),
                         f"{REQ}SIZE-round: there is no file tests/no_test.c")
        self.must_report(self.page("proved in `size_policy`", "proved in `size_policies`"),
                         f"{REQ}SIZE-round: no module size_policies is proved")

    def test_strings_are_no_comments(self):
        self.must_report(
            [("tests/size_test.c", None, f'const char *t = "/* {REQ}SIZE-round */"; /* {REQ}RTE */\n')],
            f"{REQ}SIZE-round has no test",
        )
        self.must_report(
            [("tests/size_test.c", None, ""), ("tests/a.py", None, f't = "# {REQ}SIZE-round"  # {REQ}RTE\n')],
            f"{REQ}SIZE-round has no test",
        )

    # --- the page ---

    def test_lines_that_are_missing(self):
        entry = f"- clause: `{LABEL}SIZE_zero`\n"
        self.must_report(self.page(entry + "- why: a reason\n", entry), f"{REQ}SIZE-round: no line why")
        self.must_report(self.page("- from: rule 2\n", ""), f"{REQ}SIZE-later: no line from")
        self.must_report(self.page("- evidence: sanitizers\n", ""), f"{REQ}RTE: no line evidence")
        self.must_report(self.page("Something that is not there yet.\n", ""), f"{REQ}SIZE-later says nothing")

    def test_lines_that_do_not_belong(self):
        self.must_report(self.page("- from: rule 2\n", "- from: rule 2\n- form: rule 2\n"),
                         f"{REQ}SIZE-later: no such line: form")
        self.must_report(self.page("- from: rule 2\n", "- from: rule 2\n- from: rule 2\n"),
                         f"{REQ}SIZE-later: a second line from")
        self.must_report(self.page("- planned: all", "- planned: all, proof"),
                         f"{REQ}SIZE-later has no predicate", f"{REQ}SIZE-later has no contract",
                         f"{REQ}SIZE-later has no test", f"{REQ}SIZE-later has no oracle",
                         f"{REQ}SIZE-later: no line evidence", f"{REQ}SIZE-later: all cannot be planned",
                         f"{REQ}SIZE-later: proof cannot be planned")

    def test_identifiers(self):
        self.must_report(self.page(f"### {REQ}SIZE-later\n", f"### {REQ}SIZE-round\n"), "is there twice, first in line 9")
        self.must_report(self.page(f"### {REQ}SIZE-later\n", f"### {REQ}SIZE-Later\n"),
                         f"{REQ}SIZE-Later is no identifier of this level")
        self.must_report(self.page(f"### {REQ}SIZE-later\n", f"## {REQ}SIZE-later\n"),
                         f"{REQ}SIZE-later is no identifier of this level")
        self.must_report(self.page(f"### {REQ}SIZE-later\n", f"### {REQ}OTHER-later\n"),
                         f"{REQ}OTHER-later stands under no family")
        self.must_report(self.page("- planned: all\n", f"- planned: all\n\n### {REQ}SIZE-more: a title\nText.\n"),
                         "a heading of a requirement is its identifier alone")
        self.must_report(self.page("- planned: all\n", f"- planned: all\n\n## {REQ}ALONE\n\nA claim.\n"),
                         f"{REQ}ALONE has neither lines nor parts")

    def test_a_page_that_is_no_use(self):
        self.assertEqual(self.check([("spec/requirements.md", None, None)])[0], 2)
        status, output = self.check([("spec/requirements.md", None, "# Requirements\n")])
        self.assertEqual(status, 1)
        self.assertIn("there is no requirement", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
