#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures which lines, branches and conditions (MC/DC) of core/ the tests and the corpora of the fuzzers cover.

    coverage.py [--state FOLDER] [--jobs N] [--json] [--only EXPRESSION]

Builds with clang 19 every C test that has the core in it, the fuzz targets among them as replays of their corpora, each
with the capacity that it has; Bazel is asked which they are and what they are made of. The large ones, which are about
the tools, are left out. Runs them, merges what they covered, and prints the coverage of each file and all that is not
covered and not listed in unreachable.txt; gaps.py says how. The report is kept in STATE/report.txt, and STATE/profile.profdata with the objects for
a look by `llvm-cov-19 show`; without --state that is $XDG_CACHE_HOME/ashlar/coverage (default ~/.cache).

As a campaign it is also given --seconds and --seed, which change nothing: it does its work once. With --json standard
output is one JSON object: result, operations (what is covered), executions (tests run), seconds, failure (the report, or
null), lines, branches and conditions (each: covered, listed as unreachable, all), complete.

Status: 0 all is covered or listed, 1 not so, or a test failed, 2 it could not run, 3 wrong usage.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

import gaps

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VERSION = "19"
COMPILER = f"clang-{VERSION}"
COUNTED = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"]
MEASURED = "core/"
USABLE = (MEASURED, "spec/", "tests/", "fuzz/", "cuda/sim/", "tools/")  # where the sources of a test are, all of them
SLOTS = "//tools/bazel:slots"
TIMEOUT = 600  # seconds for a test
# What a test is run with besides: some of the inputs that reach every cell of the lockstep.
MORE = {"fuzz/lockstep_random": ["-list=fuzz/lockstep_inputs.txt", "-operations=200000"]}


class CannotRun(Exception):
    """Nothing was measured; the text says why."""


# --- which tests there are, from Bazel ---


class Rules:
    """The rules of the checkout, by label."""

    def __init__(self, text):
        root = xml.etree.ElementTree.fromstring(text)
        self.rules = {rule.get("name"): rule for rule in root.iter("rule")}

    def strings(self, label, attribute):
        """The values of an attribute that is a list of strings or labels."""
        rule = self.rules[label]
        return [
            item.get("value") for values in rule.findall("list") if values.get("name") == attribute for item in values
        ]

    def value(self, label, attribute):
        for item in self.rules[label]:
            if item.get("name") == attribute and item.tag != "list":
                return item.get("value")
        return None

    def libraries(self, label):
        """A rule and the libraries that it is made of."""
        found, waiting = [], [label]
        while waiting:
            one = waiting.pop()
            if one not in found and one in self.rules:
                found.append(one)
                waiting += self.strings(one, "deps")
        return found

    def path(self, label):
        return label.removeprefix("//").replace(":", "/").removeprefix("/")

    def sources(self, label):
        """The C files of a rule, each with the macros that it is compiled with."""
        return [
            (self.path(source), tuple(self.strings(one, "local_defines")))
            for one in self.libraries(label)
            for source in self.strings(one, "srcs")
            if source.endswith(".c")
        ]


class Test:
    """A test as it is built and run here."""

    def __init__(self, rules, name, built, slots):
        self.name = rules.path(name)
        self.slots = slots
        self.sources = rules.sources(built)
        self.links = [option for one in rules.libraries(built) for option in rules.strings(one, "linkopts")]
        self.runs = [[self._located(rules, built, word) for word in rules.strings(built, "args")]]
        if self.name in MORE:
            self.runs.append(MORE[self.name])

    @staticmethod
    def _located(rules, built, word):
        if not word.startswith("$(location "):
            return word
        label = word.removeprefix("$(location ").removesuffix(")")
        return rules.path(label if "//" in label else built.partition(":")[0] + "/" + label.removeprefix(":"))

    def usable(self):
        files = [source for source, _ in self.sources]
        return any(file.startswith(MEASURED) for file in files) and all(file.startswith(USABLE) for file in files)


def query_rules():
    done = subprocess.run(
        ["bazel", "query", "--noshow_progress", "--output=xml", "//..."],
        cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        raise CannotRun(f"bazel query ended with status {done.returncode}:\n{done.stderr.strip()}")
    try:
        return Rules(done.stdout)
    except xml.etree.ElementTree.ParseError as cause:
        raise CannotRun(f"bazel query printed no XML: {cause}") from cause


def find_tests(rules):
    """The tests of the core: each C test, once, with its capacity."""
    slots = int(rules.value(SLOTS, "build_setting_default"))
    variants = {}
    for name, rule in rules.rules.items():
        if rule.get("class") == "_variant_test" and rules.value(name, "sanitized") != "true":
            variants[rules.value(name, "test")] = (name, int(rules.value(name, "slots")))
    tests = []
    for name, rule in rules.rules.items():
        if rule.get("class") == "cc_test" and rules.value(name, "size") != "large":
            shown, capacity = variants.get(name, (name, slots))
            tests.append(Test(rules, shown, name, capacity))
    # What has no variant of its own and is not run by itself is a part of something that must fail.
    tests = [test for test in tests if test.usable() and not must_fail(rules, test)]
    return sorted(tests, key=lambda test: test.name)


def must_fail(rules, test):
    return "manual" in rules.strings("//" + ":".join(test.name.rsplit("/", 1)), "tags")


# --- building and running ---


def run(line, **options):
    """Its output; what it says goes with the failure."""
    done = subprocess.run([str(word) for word in line], cwd=ROOT, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise CannotRun(f"{line[0]} ended with status {done.returncode}:\n{done.stderr.strip()}")
    return done


def object_of(state, slots, source, defines):
    name = "-".join([str(slots), source.replace("/", "_").removesuffix(".c"), *defines])
    return state / "objects" / f"{name}.o"


def compile_source(state, slots, source, defines):
    counted = COUNTED if source.startswith(MEASURED) else []
    line = [COMPILER, "-std=c11", "-O1", "-Wall", "-Wextra", *counted, "-I.", f"-DASHLAR_SLOTS={slots}"]
    line += [f"-D{define}" for define in defines]
    done = run([*line, "-c", source, "-o", object_of(state, slots, source, defines)])
    if counted and done.stderr:  # above all: a decision that MC/DC does not cover
        raise CannotRun(done.stderr.strip())


def link(state, test):
    objects = [object_of(state, test.slots, *source) for source in test.sources]
    binary = state / "tests" / test.name
    binary.parent.mkdir(parents=True, exist_ok=True)
    run([COMPILER, "-fprofile-instr-generate", *objects, *test.links, "-o", binary])


def run_test(state, test):
    """The profiles that a test leaves, and how it failed, if it did."""
    profiles = [state / "profiles" / f"{test.name.replace('/', '_')}-{run}.profraw" for run in range(len(test.runs))]
    for profile, arguments in zip(profiles, test.runs):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "LLVM_PROFILE_FILE": str(profile), "TEST_TMPDIR": folder}
            try:
                done = subprocess.run(
                    [str(state / "tests" / test.name), *arguments], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=TIMEOUT,
                )
            except subprocess.TimeoutExpired:
                return profiles, f"{test.name} takes more than {TIMEOUT} s"
        if done.returncode != 0:
            return profiles, f"{test.name} ended with status {done.returncode}:\n{done.stdout.decode(errors='replace')}"
    return profiles, None


def export(state, compilations, profiles):
    """What was covered of the files of these compilations."""
    objects = [object_of(state, *one) for one in compilations]
    profile = state / "profile.profdata"
    run([f"llvm-profdata-{VERSION}", "merge", *profiles, "-o", profile])
    line = [f"llvm-cov-{VERSION}", "export", f"-instr-profile={profile}", objects[0]]
    line += [f"-object={one}" for one in objects[1:]]
    texts = []
    for form in ("text", "lcov"):
        done = run([*line, f"-format={form}"])
        if done.stderr:  # functions that differ from capacity to capacity
            raise CannotRun(done.stderr.strip())
        texts.append(done.stdout.replace(f"{ROOT}{os.sep}", ""))
    return gaps.Export(*texts, lambda name: (ROOT / name).read_text(encoding="utf-8").splitlines())


def measure(state, arguments):
    """The coverage, how many tests ran, and what those said that failed."""
    shutil.rmtree(state, ignore_errors=True)
    for folder in ("objects", "profiles", "tests"):
        (state / folder).mkdir(parents=True)
    tests = [test for test in find_tests(query_rules()) if re.search(arguments.only, test.name)]
    if not tests:
        raise CannotRun("there is no such test of the core")
    # Every file of the core is measured, whether or not a test links it.
    measured = [(tests[0].slots, path.relative_to(ROOT).as_posix(), ()) for path in (ROOT / MEASURED).glob("*.c")]
    compilations = {*measured, *((test.slots, *source) for test in tests for source in test.sources)}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda one: compile_source(state, *one), sorted(compilations)))
        list(pool.map(lambda one: link(state, one), tests))
        ran = list(pool.map(lambda one: run_test(state, one), tests))
    profiles = [profile for left, _ in ran for profile in left if profile.exists()]
    return export(state, measured, profiles), len(tests), [failure for _, failure in ran if failure]


# --- the command line ---


class Parser(argparse.ArgumentParser):
    """Wrong usage is status 3, as everywhere in Ashlar."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


def read_arguments(words):
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = Parser(prog="ashlar coverage", description="Measures the coverage of the core by tests and corpora.")
    parser.add_argument("--state", type=Path, default=cache / "ashlar" / "coverage", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="compilations, tests at a time")
    parser.add_argument("--only", default="", metavar="EXPRESSION", help="only the tests whose names it matches")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("--seconds", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    return arguments


def main(words):
    arguments = read_arguments(words)
    out = sys.stderr if arguments.json else sys.stdout
    state = arguments.state / "measured"
    start = time.monotonic()
    try:
        entries = gaps.read_list((HERE / "unreachable.txt").read_text(encoding="utf-8"))
        exported, tests, failures = measure(state, arguments)
        judgement = gaps.Judgement(exported, entries)
    except (CannotRun, gaps.Unusable, OSError) as cause:
        print(f"ashlar coverage: {cause}", file=sys.stderr)
        return 2
    report = "\n".join([judgement.report(), *(f"failed: {failure}" for failure in failures)])
    (state / "report.txt").write_text(report + "\n", encoding="utf-8")
    print(report, file=out)
    clean = judgement.clean() and not failures
    figures = judgement.figures()
    if arguments.json:
        print(json.dumps({
            "result": "clean" if clean else "failed",
            "operations": sum(covered for covered, _, _ in figures.values()),
            "executions": tests,
            "seconds": round(time.monotonic() - start, 1),
            "failure": None if clean else str(state / "report.txt"),
            **figures,
            "complete": True,
        }))
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
