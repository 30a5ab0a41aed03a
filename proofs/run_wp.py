#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs Frama-C WP on C files and judges the outcome; proofs/wp.bzl makes Bazel tests of it.

`frama-c -wp` exits 0 with goals unproved and only warns where it drops or assumes something, so the
exit status means little. This script passes only if every goal was proved, every listed function
and no other had goals, their number is the recorded one (proofs/goals.txt), nothing was assumed,
every loop has a variant, and no unexpected warning was printed.

A negative run (--old, --new) seeds one fault and passes only if the goals named by --expect are
proved without it and not proved with it.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Most goals are easy for one prover: it goes first, alone and with few steps; the next ones have what is left, each with
# goals in the form that it is good at (proofs/provers), and all together have the rest with all of the time. To write a
# goal out for a prover takes longer than most proofs. Each pass: provers, seconds, steps (0: as many as there is time for).
Z3, CVC4 = ("z3", 10, 1200000), ("cvc4", 10, 220000)
UNFOLDED, AXIOMS, SEEDS = ("cvc4d", 10, 100000), ("cvc4a", 4, 0), ("z3b,z3c", 10, 1200000)
PASSES = {"z3": [Z3, CVC4, UNFOLDED, SEEDS, AXIOMS], "cvc4": [CVC4, UNFOLDED, AXIOMS, Z3, SEEDS]}
# The forms that goals are tried in, in the order of the last pass: by name, the prover, what writes goals for it (a driver
# of proofs/provers, or Why3's own, where records are axioms), and the seed.
FORMS = {
    "cvc4a": ("CVC4", "cvc4_17", None),
    "z3": ("Z3", "@HOME@/z3.drv", 42),
    "cvc4d": ("CVC4", "@HOME@/cvc4d.drv", None),
    "cvc4": ("CVC4", "@HOME@/cvc4.drv", None),
    "z3b": ("Z3", "@HOME@/z3.drv", 5),
    "z3c": ("Z3", "@HOME@/z3.drv", 1),
    "z3a": ("Z3", "z3_471", 42),
}
PROVERS = ",".join(FORMS)
# Versions as in tool-versions.txt; how each prover is run for %t seconds on %f, and how its steps are limited too.
RUN = {
    "Z3": ("4.8.12", "z3 -smt2 -T:%t sat.random_seed={0} nlsat.randomize=false smt.random_seed={0} -st", "rlimit=%S"),
    "CVC4": ("1.8", "cvc4 --stats --tlimit=%t000 --lang=smt2", "--rlimit=%S"),
}
WHY3_CONF = """[main]
datadir = "@DATA@"
libdir = "@LIB@"
magic = 14
memlimit = 1000
running_provers_max = 2
timelimit = 5
"""
PROVER_CONF = """
[prover]
name = "{name}"
version = "{version}"
alternative = "{form}"
shortcut = "{form}"
command = "{command} %f"
command_steps = "{command} {steps} %f"
driver = "{driver}"
editor = ""
in_place = false
interactive = false
"""
# Simplifications that take Frama-C longer than they spare the provers: a third of its own time.
LEFT_OUT = ["-wp-no-ground", "-wp-no-simpl"]
LEMMAS = "(lemmas)"

# What Typed+ref takes for granted about parameters. -wp-check-memory-model makes each of these a
# precondition that callers must prove, so these warnings, and no others, are accepted (A-02 in
# ASSUMPTIONS.md).
PARAMETER = r"\w+(?: \+ \(\.\.\))?"
HYPOTHESIS = re.compile(
    r"\[wp\] \S+: Warning: *\n"
    r"  Memory model hypotheses for function '(\w+)':\n"
    r"  /\*@ *\n? *behavior wp_typed_ref:\n"
    rf"((?: *requires \\(?:valid\(\w+\)|separated\({PARAMETER}, {PARAMETER}\)); *\n?)+) *\*/\n"
    r"(?:  .*\n)+"
)
SEPARATED = re.compile(rf"\\separated\(({PARAMETER}), ({PARAMETER})\);")
PLAIN_COMMENT = re.compile(r"/\*(?!@).*?\*/|//(?!@)[^\n]*", re.DOTALL)
ASSUMED = re.compile(r"\b(admit|axiom|axiomatic|no_wp)\b")
LOOP = re.compile(r"\b(?:for|while)\s*\(")
VARIANT = re.compile(r"\bloop\s+variant\b")
VERDICT = re.compile(r"^\[wp\] \[([^\]]+)\] (Goal|Smoke-test) (\S+)(.*)$", re.MULTILINE)
PROPERTY = re.compile(r"_(?:ensures|assert|loop_invariant)_(\w+?)(?:_\d+)?(?:_preserved|_established)?$")
TOTAL = re.compile(r"^\[wp\] Proved goals: +(\d+) / (\d+)$", re.MULTILINE)


class Failure(Exception):
    """The run does not count as a proof; the text says why."""


def check_tools(pinned_file):
    """Compares the installed tools with the pinned ones and returns them in one line."""
    found = []
    with open(pinned_file, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            command, _, pinned = (part.strip() for part in line.partition("="))
            shown = subprocess.run(
                command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            ).stdout.strip()
            if pinned not in shown:
                raise Failure(f"'{command}' says '{shown[:80]}', pinned is '{pinned}'")
            found.append(f"{command.split()[0]} {pinned}")
    if not found:
        raise Failure(f"no tool is pinned in {pinned_file}")
    return ", ".join(found)


def annotated_text(path):
    """The code and the annotations of a file, without the plain comments."""
    with open(path, encoding="utf-8") as source:
        return PLAIN_COMMENT.sub(" ", source.read())


def check_source(path):
    """Refuses what WP would take for granted: assumptions, and loops without a variant."""
    text = annotated_text(path)
    assumed = ASSUMED.search(text)
    if assumed:
        raise Failure(f"{path}: '{assumed.group(1)}' is taken for granted, not proved")
    loops, variants = len(LOOP.findall(text)), len(VARIANT.findall(text))
    if variants < loops:
        raise Failure(f"{path}: {loops} loops and only {variants} 'loop variant' clauses")


def why3_conf():
    """Where Why3 finds the provers, in each form, with marks for the places that are known later."""
    text = WHY3_CONF
    for form, (name, driver, seed) in FORMS.items():
        version, command, steps = RUN[name]
        text += PROVER_CONF.format(
            form=form, name=name, version=version, command=command.format(seed), steps=steps, driver=driver
        )
    return text


def make_home(folder, provers):
    """Makes a HOME of our own in folder, where Why3 finds the provers and how to write a goal for each."""
    home = os.path.join(folder, "home")
    os.mkdir(home)
    env = dict(os.environ, HOME=home, LC_ALL="C")
    for name in ("WHY3CONFIG", "XDG_CONFIG_HOME", "FRAMAC_SESSION", "FRAMAC_WP_CACHE"):
        env.pop(name, None)
    places = {"@HOME@": home}
    for mark, option in (("@DATA@", "--print-datadir"), ("@LIB@", "--print-libdir")):
        shown = subprocess.run(["why3", option], env=env, stdout=subprocess.PIPE, text=True, check=False)
        if shown.returncode != 0:
            raise Failure(f"why3 {option} failed")
        places[mark] = shown.stdout.strip()
    texts = {".why3.conf": why3_conf()}
    for name in os.listdir(provers):
        with open(os.path.join(provers, name), encoding="utf-8") as source:
            texts[name] = source.read()
    for name, text in texts.items():
        for mark, place in places.items():
            text = text.replace(mark, place)
        with open(os.path.join(home, name), "w", encoding="utf-8") as out:
            out.write(text)
    return env


class Outcome:
    """What one frama-c run said."""

    def __init__(self, console, report, passes):
        total = TOTAL.search(console)
        if not total and "[wp] Warning: No goal generated\n" not in console:
            raise Failure("frama-c printed no 'Proved goals' line")
        self.proved, self.goals = (int(total.group(1)), int(total.group(2))) if total else (0, 0)
        first_pass = console[: total.end()] if total else ""
        # where all are proved before the last
        later_passes = console[len(first_pass) :].replace("[wp] Warning: No goal generated\n", "", passes - 1)
        self.console = first_pass + later_passes
        self.unproved, self.doomed, self.first_proved = [], [], self.proved
        for verdict, kind, name, rest in VERDICT.findall(first_pass):
            if kind == "Goal" and not rest.startswith(" : Valid"):
                self.unproved.append(name)
            if kind == "Smoke-test" and verdict != "Passed" and name not in self.doomed:
                self.doomed.append(name)
        for verdict, kind, name, rest in VERDICT.findall(later_passes):
            if kind == "Goal" and name in self.unproved and rest.startswith(" : Valid"):
                self.unproved.remove(name)
                self.proved += 1
        self.hypotheses = dict(HYPOTHESIS.findall(console))
        self.functions, self.smoke = {}, 0
        for section, fixed_name in (("wp:functions", None), ("wp:axiomatics", LEMMAS)):
            for name, properties in report.get(section, {}).items():
                self._count(fixed_name or name, properties)

        # Goals that the control flow settles are in the console's sum and not in the report.
        for verdict, kind, goal, _ in VERDICT.findall(first_pass):
            if verdict == "CFG" and kind == "Goal" and self._owner(goal):
                self._add(self._owner(goal), 1)
        for goal in self.unproved:
            if self._owner(goal):
                self.functions[self._owner(goal)][0] -= 1

    def _owner(self, goal):
        """The function that a goal belongs to, by its name."""
        short = re.sub(r"^typed_ref_", "", goal)
        return max((name for name in self.functions if short.startswith(name + "_")), key=len, default=None)

    def _add(self, name, goals):
        entry = self.functions.setdefault(name, [0, 0])
        entry[0] += goals
        entry[1] += goals

    def _count(self, name, properties):
        # How many were proved is told by the console: in a second pass the report counts a goal that
        # one prover gave up and the other proved as not proved.
        for label, provers in properties.items():
            if label == "wp:section":
                continue
            goals = provers["wp:main"]["total"]
            if "_wp_smoke_" in label:
                self.smoke += goals
                continue
            self._add(name, goals)

    def unusual(self):
        """The console without what went well."""
        lines = HYPOTHESIS.sub("", self.console).splitlines()
        return "\n".join(line for line in lines if not re.search(r"Goal .* : Valid|^\[rte:annot\]", line))

    def warnings(self):
        """The warnings and errors other than the accepted hypothesis."""
        rest = HYPOTHESIS.sub("", self.console)
        found = re.findall(r"^.*(?:Warning:|User Error|Failure:)[^\n]*(?:\n  [^\n]*)*", rest, re.MULTILINE)
        return [one for one in found if "Failed smoke-test" not in one]


def part_of(record, part, parts):
    """The functions of one of several parts of a module, of about as many goals each."""
    order = sorted(set(record) - {LEMMAS}, key=lambda name: (-record[name], name))
    chosen, weights = [[] for _ in range(parts)], [0] * parts
    for name in order:
        least = weights.index(min(weights))
        chosen[least].append(name)
        weights[least] += record[name]
    return chosen[part - 1]


def run_frama_c(options, root, env, functions=(), properties=(), skipped=(), last=PROVERS):
    """Runs WP in the folder root, on the given functions and properties or on all, and returns the Outcome.

    The provers `last` have all of the time; where these are not all, only they are tried before.
    """
    work = tempfile.mkdtemp(dir=env["HOME"])
    report_file = os.path.join(work, "report.json")
    command = ["frama-c", "-machdep", "x86_64", "-warn-unsigned-overflow", "-warn-unsigned-downcast"]
    command += [f"-cpp-extra-args=-I. -DASHLAR_SLOTS={options.slots}"]
    command += ["-wp", "-wp-rte", "-wp-model", "Typed+ref", "-wp-check-memory-model"]
    command += ["-wp-cache", "none", "-wp-par", "2", "-wp-session", os.path.join(work, "session"), *LEFT_OUT]
    # Frama-C forgets the choice of functions after -then; that of provers it keeps and adds to or takes from.
    chosen = ["-wp-fct", ",".join(functions)] if functions else []
    chosen += ["-wp-skip-fct", ",".join(skipped)] if skipped else []
    chosen += ["-wp-prop", ",".join(properties)] if properties else []
    passes = [] if options.smoke else PASSES[options.first]  # each pass would make the smoke tests again
    if options.smoke:
        command += ["-wp-smoke-tests", "-wp-smoke-timeout", "2"]
    command += [*options.option, *options.src]
    passes = [one for one in passes if last == PROVERS or one[0] in last.split(",")]
    before = []
    for provers, seconds, steps in [*passes, (last, options.timeout, 0)]:
        wanted = [*("-" + one for one in before), *("+" + one for one in provers.split(","))]
        command += ["-then", "-wp"] if before else []
        command += [f"-wp-prover={','.join(wanted)}", "-wp-timeout", str(min(seconds, options.timeout))]
        command += ["-wp-steps", str(steps), *chosen]
        before = provers.split(",")
    command += ["-wp-report-json", report_file]
    # Frama-C finds its input files by PWD and not by the directory that it runs in.
    env = dict(env, PWD=os.path.abspath(root))
    done = subprocess.run(
        command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise Failure(f"frama-c exited with {done.returncode}:\n{done.stdout}")
    if not os.path.exists(report_file):
        raise Failure("frama-c wrote no report:\n" + done.stdout)
    with open(report_file, encoding="utf-8") as report:
        return Outcome(done.stdout, json.load(report) or {}, len(passes) + 1)


def check_hypotheses(outcome, paths):
    """Two parameters are only taken to be separated where a contract says so to the C caller too."""
    text = "".join(annotated_text(path) for path in paths)
    for function, clauses in outcome.hypotheses.items():
        for one, other in SEPARATED.findall(clauses):
            one, other = re.escape(one), re.escape(other)
            if not re.search(rf"\\separated\(\s*({one}\s*,\s*{other}|{other}\s*,\s*{one})\s*\)", text):
                yield f"{function}: '{one}' and '{other}' are taken to be separated and no contract requires it"


def read_record(path, module):
    """The recorded number of goals of each function of a module."""
    record = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.split("#")[0].split()
            if fields and fields[0] == module:
                record[fields[1]] = int(fields[2])
    return record


def write_record(path, module, functions):
    """Replaces the lines of a module in the record; keeps the others and their order."""
    with open(path, encoding="utf-8") as lines:
        kept = [line for line in lines if line.split()[:1] != [module]]
    kept += [f"{module} {name} {counts[1]}\n" for name, counts in sorted(functions.items())]
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(kept)


def judge(outcome, expected, record, smoke):
    """All reasons why the outcome is no proof of the expected functions."""
    reasons = []
    if outcome.goals == 0:
        reasons.append("there was no goal")
    if outcome.proved != outcome.goals and not outcome.doomed:
        reasons.append(f"{outcome.goals - outcome.proved} of {outcome.goals} goals not proved")
    reasons += [f"not proved: {name}" for name in outcome.unproved]
    reasons += [f"smoke test failed, the hypotheses contradict each other: {name}" for name in outcome.doomed]
    reasons += ["warning: " + " ".join(one.split()) for one in outcome.warnings()]
    counted = sum(goals for _, goals in outcome.functions.values()) + outcome.smoke
    if counted != outcome.goals:
        reasons.append(f"the report has {counted} goals, the console {outcome.goals}")
    if smoke and outcome.smoke == 0:
        reasons.append("smoke tests were asked for and there was none")
    seen = set(outcome.functions) - {LEMMAS}
    reasons += [f"{name} had no goal" for name in sorted(set(expected) - seen)]
    reasons += [f"{name} is proved and not listed" for name in sorted(seen - set(expected))]
    for name, (_, goals) in sorted(outcome.functions.items()):
        if record is not None and record.get(name) != goals:
            reasons.append(f"{name} has {goals} goals, recorded are {record.get(name, 'none')}")
    if record is not None and seen == set(expected):
        reasons += [f"{name} is recorded and had no goal" for name in sorted(set(record) - set(outcome.functions))]
    return reasons


def prove_rest(options, env, recorded):
    """What is in no part of a module: its lemmas, and no function beside the recorded ones."""
    others = run_frama_c(options, ".", env, (), (), sorted(set(recorded) - {LEMMAS}))
    reasons = [f"{name} is proved and not listed" for name in sorted(set(others.functions) - set(recorded))]
    lemmas = run_frama_c(options, ".", env, (), ["@lemma"])
    expected = {LEMMAS: recorded[LEMMAS]} if LEMMAS in recorded else {}
    if lemmas.goals or expected:
        reasons += judge(lemmas, [], expected, False)
    if reasons:
        print(others.unusual() + lemmas.unusual())
        raise Failure("\n".join(reasons))
    print(f"{options.module}: {lemmas.proved} / {lemmas.goals} goals of lemmas, {others.goals} beside the parts")


def prove(options, env):
    """The positive run: one line for each function, then the judgement."""
    recorded = read_record(options.goals, options.module)
    functions = [options.only] if options.only else options.function
    started = time.time()
    if options.parts > 1:
        functions = part_of(recorded, options.part, options.parts)
        if options.part == 1:
            prove_rest(options, env, recorded)
        recorded = {name: recorded[name] for name in functions}
    outcome = run_frama_c(options, ".", env, functions if options.only or options.parts > 1 else [])
    if not functions:
        functions = sorted(set(outcome.functions if options.record else recorded) - {LEMMAS})
    for name, (valid, goals) in sorted(outcome.functions.items()):
        mark = "proved" if valid == goals else "NOT PROVED"
        print(f"{mark}: {options.module} {name} {valid}/{goals} goals, {options.slots} slots")
    if options.smoke:
        print(f"smoke tests: {options.module} {outcome.smoke} run, {len(outcome.doomed)} failed")
    record = None if options.record else recorded
    if options.only and record is not None:
        record = {name: goals for name, goals in record.items() if name == options.only}
    reasons = judge(outcome, functions, record, options.smoke)
    reasons += check_hypotheses(outcome, options.src + options.hdr)
    if reasons:
        print(outcome.unusual())
        raise Failure("\n".join(reasons))
    if options.record:
        write_record(options.goals, options.module, outcome.functions)
        print(f"recorded in {options.goals}")
    print(
        f"{options.module}: {outcome.proved} / {outcome.goals} goals, {len(functions)} functions, "
        f"{options.slots} slots, {time.time() - started:.0f} s, {outcome.first_proved} at first"
    )


def refute(options, env, folder):
    """The negative run: clean without the seeded fault, the expected goals unproved with it."""
    root = os.path.join(folder, "root")
    for path in options.src + options.hdr:
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        shutil.copy(path, os.path.join(root, path))
    clean = run_frama_c(options, root, env, options.function)
    reasons = judge(clean, options.function, None, False)
    if reasons:
        raise Failure("before the fault was seeded:\n" + "\n".join(reasons))
    target = os.path.join(root, options.file)
    with open(target, encoding="utf-8") as source:
        text = source.read()
    if text.count(options.old) != 1 or options.old == options.new:
        raise Failure(f"{options.file}: the text to replace occurs {text.count(options.old)} times, not once")
    with open(target, "w", encoding="utf-8") as source:
        source.write(text.replace(options.old, options.new))
    # A goal that fails costs all of its time: only those are tried that are to fail, by each prover in one form.
    properties = sorted({match.group(1) for match in map(PROPERTY.search, options.expect) if match})
    if len(properties) < len(options.expect):
        properties = []
    faulty = run_frama_c(options, root, env, options.function, properties, last="cvc4,z3")
    for label in options.expect:
        if not any(label in name for name in faulty.unproved):
            print(faulty.unusual())
            raise Failure(f"the fault was seeded and no goal named '{label}' failed")
    print(f"refuted: {options.module} {', '.join(options.function)}: {clean.goals} goals proved; with the fault "
          f"{faulty.goals - faulty.proved} of {faulty.goals} fail, among them {', '.join(options.expect)}")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", required=True, help="name of the module in the record")
    parser.add_argument("--src", action="append", default=[], help="C file to prove, seen from the root")
    parser.add_argument("--hdr", action="append", default=[], help="file that a C file includes")
    parser.add_argument("--function", action="append", default=[], help="function that must have goals; default: the recorded ones")
    parser.add_argument("--slots", type=int, required=True, help="slot capacity")
    parser.add_argument("--timeout", type=int, default=30, help="seconds for each prover and goal")
    parser.add_argument("--first", choices=sorted(PASSES), default="z3", help="prover of the first pass")
    parser.add_argument("--smoke", action="store_true", help="look for contradictory hypotheses too")
    parser.add_argument("--option", action="append", default=[], help="further frama-c option")
    parser.add_argument("--goals", default="proofs/goals.txt", help="record of the number of goals")
    parser.add_argument("--tools", default="proofs/tool-versions.txt", help="pinned tools")
    parser.add_argument("--provers", default="proofs/provers", help="folder that says how goals are written for the provers")
    parser.add_argument("--only", help="prove this function alone")
    parser.add_argument("--part", type=int, default=1, help="prove this part of the recorded functions, and")
    parser.add_argument("--parts", type=int, default=1, help="how many parts there are")
    parser.add_argument("--record", action="store_true", help="write the record instead of comparing")
    parser.add_argument("--file", help="negative run: file with the seeded fault")
    parser.add_argument("--old", help="negative run: text to replace, found exactly once")
    parser.add_argument("--new", help="negative run: the text in its place")
    parser.add_argument("--expect", action="append", default=[], help="negative run: part of a goal's name")
    options = parser.parse_args(arguments)
    if not options.src or (options.file and not options.function):
        parser.error("at least one --src is needed, and one --function for a negative run")
    if options.file and not (options.old and options.new is not None and options.expect):
        parser.error("--file goes with --old, --new and --expect")
    if (options.only or options.parts > 1) and options.record:
        parser.error("--record records a whole module")
    if not 1 <= options.part <= options.parts or (options.parts > 1 and (options.only or options.function)):
        parser.error("--part is one of --parts, of all functions")
    return options


def main(arguments):
    options = parse(arguments)
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    try:
        print("tools: " + check_tools(options.tools))
        for path in options.src + options.hdr:
            check_source(path)
        env = make_home(folder, options.provers)
        if options.file:
            refute(options, env, folder)
        else:
            prove(options, env)
    except Failure as failure:
        print(f"FAILED: {options.module}: {failure}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
