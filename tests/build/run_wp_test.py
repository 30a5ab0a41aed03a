#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gate of the proofs: run_wp.py passes a good proof and refuses each way to look like one."""

import importlib.util
import os
import re
import subprocess
import tempfile
import unittest

GOOD = """
/*@ requires small: x < 100; terminates \\true; exits \\false; assigns \\nothing;
    ensures next: \\result == x + 1; */
int next(int x)
{
  return x + 1;
}
"""
RECORD = "# module function goals\nm next 5\n"
# What proofs/provers tells about WP's own theory: records, and equality as a value.
LEMMAS = """
struct pair
{
  int one;
  int more[4];
};

/*@ predicate same(struct pair a, struct pair b) = a == b;
    logic boolean equal(integer x, integer y) = x == y;
    logic boolean differ(integer x, integer y) = x != y;
    lemma record: \\forall struct pair a, b; same(a, b) ==> a.one == b.one && a.more[2] == b.more[2];
    lemma equal: \\forall integer x, y; equal(x, y) == \\true ==> differ(x, y) == \\false;
    lemma no_record: \\forall struct pair a, b; a.one == b.one ==> same(a, b);
    lemma not_equal: \\forall integer x, y; equal(x, y) == differ(x, y); */
"""


def load_runner():
    """proofs/run_wp.py as a module."""
    spec = importlib.util.spec_from_file_location("run_wp", "proofs/run_wp.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    return runner


class Gate(unittest.TestCase):
    def run_wp(self, text, *options, functions=("next",), record=RECORD, tools=None):
        """The status and the output of a run over one C file with this text."""
        runner = os.path.abspath("proofs/run_wp.py")
        tools = tools or os.path.abspath("proofs/tool-versions.txt")
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("m.c", text), ("goals.txt", record)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                    out.write(content)
            command = [runner, "--module=m", "--src=m.c", "--slots=64", "--goals=goals.txt", "--timeout=2"]
            command += ["--tools=" + tools, "--provers=" + os.path.abspath("proofs/provers"), *options]
            command += ["--function=" + name for name in functions]
            done = subprocess.run(
                command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
        return done.returncode, done.stdout

    def refused(self, reason, *arguments, **options):
        status, output = self.run_wp(*arguments, **options)
        self.assertEqual(status, 1, output)
        self.assertIn(reason, output)

    def test_a_good_proof(self):
        status, output = self.run_wp(GOOD, "--smoke")
        self.assertEqual(status, 0, output)
        self.assertIn("proved: m next 5/5 goals, 64 slots", output)

    def test_one_function_alone(self):
        other = GOOD.replace("next(", "other(").replace("return x + 1", "return x")
        status, output = self.run_wp(GOOD + other, "--only=next")
        self.assertEqual(status, 0, output)
        self.assertNotIn("other", output)

    def test_parts_have_each_function_once(self):
        both = GOOD + GOOD.replace("next(", "other(")
        record = RECORD + "m other 5\n"
        for part, name in (("1", "next"), ("2", "other")):
            status, output = self.run_wp(both, "--part=" + part, "--parts=2", functions=(), record=record)
            self.assertEqual(status, 0, output)
            self.assertIn(f"proved: m {name} 5/5 goals", output)
            self.assertIn("m: 5 / 5 goals, 1 functions", output)

    def test_the_first_part_has_the_lemmas(self):
        lemma = "/*@ lemma twice: \\forall integer x; x + x == 2 * x; */\n"
        both = GOOD + GOOD.replace("next(", "other(") + lemma
        record = RECORD + "m other 5\n"
        options = ("--part=1", "--parts=2")
        status, output = self.run_wp(both, *options, functions=(), record=record + "m (lemmas) 1\n")
        self.assertEqual(status, 0, output)
        self.assertIn("m: 1 / 1 goals of lemmas, 0 beside the parts", output)
        self.refused("(lemmas) has 1 goals, recorded are none", both, *options, functions=(), record=record)
        wrong = both.replace("2 * x", "3 * x")
        self.refused("not proved: typed_ref_lemma_twice", wrong, *options, functions=(), record=record + "m (lemmas) 1\n")

    def test_the_first_part_finds_what_is_not_recorded(self):
        three = GOOD + GOOD.replace("next(", "other(") + GOOD.replace("next(", "third(")
        self.refused(
            "third is proved and not listed",
            three, "--part=1", "--parts=2", functions=(), record=RECORD + "m other 5\n",
        )

    def test_the_capacity_is_defined(self):
        status, output = self.run_wp("#if ASHLAR_SLOTS != 64\n#error capacity\n#endif\n" + GOOD)
        self.assertEqual(status, 0, output)

    def test_a_wrong_body(self):
        self.refused("not proved: typed_ref_next_ensures_next", GOOD.replace("return x + 1", "return x"))

    def test_a_missing_bound(self):
        self.refused("next_assert_rte_signed_overflow", GOOD.replace("x < 100", "x < 1000000000000"))

    def test_a_false_lemma(self):
        self.refused("not proved: typed_ref_lemma_wrong", GOOD + "/*@ lemma wrong: \\forall integer n; n > 3; */\n")

    def test_another_number_of_goals(self):
        self.refused("next has 5 goals, recorded are 7", GOOD, record="m next 7\n")

    def test_a_function_without_record(self):
        self.refused("recorded are none", GOOD, record="other next 5\n")

    def test_a_function_that_has_no_goal(self):
        self.refused("gone had no goal", GOOD, functions=("next", "gone"))

    def test_a_function_that_is_not_listed(self):
        self.refused("next is proved and not listed", GOOD, functions=("other",))

    def test_missing_assigns(self):
        self.refused("assigns", GOOD.replace("assigns \\nothing;", ""))

    def test_a_call_without_contract(self):
        self.refused("warning:", GOOD.replace("return x", "return other(x) * 0 + x"))

    def test_an_annotation_that_does_not_parse(self):
        self.refused("frama-c exited", GOOD.replace("\\result == x + 1", "\\result == unheard_of"))

    def test_an_assumed_fact(self):
        self.refused("taken for granted", GOOD.replace("return", "//@ admit x == 5;\n  return"))

    def test_an_unproved_law(self):
        self.refused("taken for granted", "/*@ axiomatic A { axiom a: 1 == 2; } */\n" + GOOD)

    def test_words_in_plain_comments_are_free(self):
        status, output = self.run_wp("/* We admit nothing. */\n// no axiom either\n" + GOOD)
        self.assertEqual(status, 0, output)

    def test_a_loop_without_variant(self):
        loop = "/*@ loop assigns i; */\n  for (int i = 0; i < 3; i++) { }\n  return"
        self.refused("1 loops and only 0 'loop variant'", GOOD.replace("return", loop))

    def test_contradictory_requirements(self):
        self.refused("smoke test failed", GOOD.replace("x < 100", "x < 100 && x > 100"), "--smoke")

    def test_unreachable_code(self):
        dead = GOOD.replace("return x", "if (x > 200) {\n    return 7;\n  }\n  return x")
        self.refused("smoke test failed", dead, "--smoke")

    def test_an_assumed_separation(self):
        two = "/*@ requires \\valid(a) && \\valid(b); assigns *a, *b; ensures *a == 1; */\n"
        two += "void two(int *a, int *b)\n{\n  *a = 1;\n  *b = 2;\n}\n"
        self.refused("taken to be separated", two, functions=("two",))

    def test_a_separation_from_an_array(self):
        text = "/*@ requires \\valid(m) && \\valid_read(a + (0 .. 1)){}; assigns *m; ensures *m == a[1]; */\n"
        text += "void copy(int *m, const int *a)\n{{\n  *m = 0;\n  *m = a[1];\n}}\n"
        self.refused("taken to be separated", text.format(""), functions=("copy",))
        stated = text.format(" && \\separated(m, a + (..))")
        status, output = self.run_wp(stated, functions=("copy",), record="m copy 5\n")
        self.assertEqual(status, 0, output)

    def test_other_hypotheses_are_not_accepted(self):
        runner = load_runner()
        text = "[wp] m.c:1: Warning: \n  Memory model hypotheses for function 'f':\n  /*@\n     behavior wp_typed_ref:\n"
        text += "       requires \\valid(m);\n       requires {};\n     */\n  void f(int *m);\n"
        for clause in ("\\valid(a)", "\\separated(m, a)", "\\separated(m, a + (..))"):
            self.assertTrue(runner.HYPOTHESIS.fullmatch(text.format(clause)), clause)
        three, two, endless = "\\separated(m, a, b)", "\\valid(a, b)", "\\valid(" + "a" * 60 + "+"
        for clause in ("\\valid(a + (..))", "\\separated(m)", three, two, endless):
            self.assertFalse(runner.HYPOTHESIS.fullmatch(text.format(clause)), clause)

    def test_another_tool(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
            pins.write("z3 --version = 99.0\n")
            pins.flush()
            self.refused("pinned is '99.0'", GOOD, tools=pins.name)

    def test_a_seeded_fault(self):
        status, output = self.run_wp(
            GOOD, "--file=m.c", "--old=return x + 1", "--new=return x + 2", "--expect=next_ensures_next"
        )
        self.assertEqual(status, 0, output)
        self.assertIn("refuted: m next", output)

    def test_a_seeded_fault_that_changes_nothing_wrong(self):
        self.refused(
            "no goal named 'next_ensures_next' failed",
            GOOD, "--file=m.c", "--old=return x + 1", "--new=return 1 + x", "--expect=next_ensures_next",
        )

    def test_a_seeded_fault_that_does_not_apply(self):
        self.refused("occurs 0 times", GOOD, "--file=m.c", "--old=absent", "--new=", "--expect=next_ensures_next")

    def test_a_seeded_fault_that_does_not_parse(self):
        self.refused(
            "frama-c exited", GOOD, "--file=m.c", "--old=return x + 1", "--new=return y", "--expect=next_ensures_next"
        )

    def test_a_seeded_fault_in_what_is_not_proved(self):
        bad = GOOD.replace("return x + 1", "return x + 3")
        self.refused(
            "before the fault was seeded",
            bad, "--file=m.c", "--old=return x + 3", "--new=return x", "--expect=next_ensures_next",
        )


class Provers(unittest.TestCase):
    run_wp = load_runner()

    def proved_by(self, prover):
        """The lemmas that a prover proves alone."""
        with tempfile.TemporaryDirectory() as folder:
            env = self.run_wp.make_home(folder, "proofs/provers")
            source = os.path.join(folder, "lemmas.c")
            with open(source, "w", encoding="utf-8") as out:
                out.write(LEMMAS)
            command = ["frama-c", "-wp", "-wp-cache", "none", "-wp-model", "Typed+ref", "-wp-timeout", "2"]
            done = subprocess.run(
                [*command, "-wp-prover", prover, source],
                env=dict(env, PWD=folder), cwd=folder, stdout=subprocess.PIPE, text=True, check=False,
            )
        self.assertIn("[wp] 4 goals scheduled", done.stdout)
        return sorted(re.findall(r"Goal typed_ref_lemma_(\w+) : Valid", done.stdout))

    def test_each_prover_proves_what_holds_and_nothing_else(self):
        for prover in self.run_wp.FORMS:
            with self.subTest(prover):
                self.assertEqual(self.proved_by(prover), ["equal", "record"])


class TwoPasses(unittest.TestCase):
    def test_a_goal_tried_again_counts_as_the_console_says(self):
        run_wp = load_runner()
        first = (
            "[wp] [Z3] Goal typed_ref_next_loop_invariant_x_established : Valid\n"
            "[wp] [Z3] Goal typed_ref_next_loop_invariant_x_preserved : Failed\n"
            "[wp] Proved goals:    1 / 2\n"
        )
        second = (
            "[wp] [Z3] Goal typed_ref_next_loop_invariant_x_preserved : Valid\n"
            "[wp] [Z3] Goal typed_ref_next_loop_invariant_x_established : Valid\n"
            "[wp] Proved goals:    1 / 2\n"
        )
        report = {"wp:functions": {"next": {"next_loop_invariant_x": {"wp:main": {"total": 2, "valid": 1}}}}}
        outcome = run_wp.Outcome(first + second, report, 2)
        self.assertEqual((outcome.proved, outcome.goals, outcome.unproved), (2, 2, []))
        self.assertEqual(outcome.functions, {"next": [2, 2]})
        outcome = run_wp.Outcome(first + second.replace("preserved : Valid", "preserved : Timeout"), report, 2)
        self.assertEqual((outcome.proved, outcome.goals), (1, 2))
        self.assertEqual(outcome.unproved, ["typed_ref_next_loop_invariant_x_preserved"])
        self.assertEqual(outcome.functions, {"next": [1, 2]})


if __name__ == "__main__":
    unittest.main(verbosity=2)
