#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one fuzzer for some time and says what came of it.

    run.py TARGET [--seconds N] [--seed N] [--state FOLDER] [--binary FILE] [--json]

The inputs found are kept in the state folder, so that the next run goes on from them; without --state
that is $XDG_CACHE_HOME/ashlar/fuzz/TARGET (default ~/.cache). The fuzzer is bazel-bin/fuzz/bin/TARGET
unless named. An input on which the target fails is kept in STATE/failures, and its operations are
printed. With --json standard output is one JSON object: result ("clean" or "failed"), operations,
executions, seconds, inputs (found so far) and failure (the file, or null); all else goes to standard error.
A target that has a table of what was reached keeps it in STATE/table, and the object has `cells`, how many
of it were reached so far, `cells_in_all`, and `many_live`, operations of this run with many live blocks.

Status: 0 nothing found, 1 the target failed, 2 the fuzzer could not run, 3 wrong usage.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 40  # last lines printed of a failure
GRACE = 60  # seconds after which a fuzzer that does not stop by itself is ended
KEPT = re.compile(r"Test unit written to (.+)$", re.MULTILINE)
REPORT = re.compile(r"^==\d+==", re.MULTILINE)  # of the sanitizer or libFuzzer, behind the operations
COUNTS = re.compile(r"^fuzz: (\d+) operations, (\d+) inputs$", re.MULTILINE)
TABLE = re.compile(r"^fuzz: (\d+) of (\d+) cells reached, (\d+) operations with more than \d+ live", re.MULTILINE)
LONG = {"lockstep": 16384}  # targets whose inputs are longer than the engine would have them


class CannotRun(Exception):
    """The fuzzer is not there or did not do what fuzzers do."""


def state_folder(name):
    """Where a fuzzer keeps what it found, outside the tree."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "ashlar" / "fuzz" / name


def command(binary, target, arguments, state):
    """The command line of a fuzzer: its state first, where it writes, then the seeds of the tree."""
    line = [
        str(binary), f"-max_total_time={arguments.seconds}", f"-seed={arguments.seed}", "-print_final_stats=1",
        "-timeout=25",  # an input that has not ended by then is a failure. Oracle: REQ-BOUND-variant
        f"-artifact_prefix={state / 'failures'}{os.sep}",
    ]
    if target in LONG:
        line.append(f"-max_len={LONG[target]}")
    dictionary = ROOT / "fuzz" / f"{target}.dict"
    if dictionary.is_file():
        line.append(f"-dict={dictionary}")
    line.append(str(state / "corpus"))
    line += [str(seeds) for kind in ("corpus", "crashes") if (seeds := ROOT / "fuzz" / kind / target).is_dir()]
    return line


def run_fuzzer(line, seconds, table):
    """Its status and all that it printed. The fuzzer is ended where this process is."""
    environment = {**os.environ, "ASHLAR_FUZZ_TABLE": str(table)}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as fuzzer:
        try:
            output, _ = fuzzer.communicate(timeout=seconds + GRACE)
        except BaseException as cause:
            fuzzer.kill()
            if isinstance(cause, subprocess.TimeoutExpired):
                raise CannotRun(f"{line[0]} does not stop") from cause
            raise
    return fuzzer.returncode, output.decode(errors="replace")


def print_failure(binary, failure, output):
    """The operations of the failing input, from a run of it alone, and how the fuzzer ended."""
    try:
        done = subprocess.run(
            [str(binary), "-timeout=25", str(failure)], env={**os.environ, "ASHLAR_FUZZ_PRINT": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=GRACE,
        )
        text = done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as cause:
        text = (cause.stdout or b"").decode(errors="replace")
    listing = failure.with_name(failure.name + ".txt")
    listing.write_text(text + "\n--- the run that found it ---\n" + output, encoding="utf-8")
    report = REPORT.search(text)
    operations = text[: report.start()] if report else text
    print("\n".join(operations.splitlines()[-SHOWN:]), file=sys.stderr)
    if report:
        print(text[report.start() :].split("\n", 1)[0], file=sys.stderr)
    print(f"fuzz: the input is {failure}, all that it did is in {listing}", file=sys.stderr)


def fuzz(arguments):
    """Runs the fuzzer; the object that --json prints."""
    binary = arguments.binary or ROOT / "bazel-bin" / "fuzz" / "bin" / arguments.target
    if not os.access(binary, os.X_OK):
        raise CannotRun(f"there is no fuzzer {binary}")
    state = arguments.state or state_folder(arguments.target)
    for name in ("corpus", "failures"):
        (state / name).mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    line = command(binary, arguments.target, arguments, state)
    status, output = run_fuzzer(line, arguments.seconds, state / "table")
    seconds = time.monotonic() - start
    counts = COUNTS.findall(output)
    operations, executions = map(int, counts[-1]) if counts else (None, None)
    failure = None
    if status == 0 and not counts:
        raise CannotRun(f"{binary} ended without its counts")
    if status != 0:
        kept = KEPT.search(output)
        if not kept:
            print(output[-4000:], file=sys.stderr)
            raise CannotRun(f"{binary} ended with status {status} and kept no input")
        failure = Path(kept[1])
        print_failure(binary, failure, output)
    tables = TABLE.findall(output)
    table = dict(zip(("cells", "cells_in_all", "many_live"), map(int, tables[-1]))) if tables else {}
    return {
        "result": "failed" if failure else "clean",
        "operations": operations,
        "executions": executions,
        "seconds": round(seconds, 1),
        "inputs": sum(1 for _ in (state / "corpus").iterdir()),
        "failure": str(failure) if failure else None,
        **table,
    }


class Parser(argparse.ArgumentParser):
    """Wrong usage is status 3, as everywhere in Ashlar."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


def whole(text):
    """A whole number, at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def read_arguments(words):
    parser = Parser(prog="ashlar fuzz", description="Runs one fuzzer for some time.")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--seconds", type=whole, default=60, metavar="N", help="how long; default 60")
    parser.add_argument("--seed", type=whole, default=None, metavar="N", help="default: another one each time")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="where inputs found are kept")
    parser.add_argument("--binary", type=Path, metavar="FILE", help="the fuzzer")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    arguments = parser.parse_args(words)
    if not re.fullmatch(r"\w+", arguments.target):
        parser.error(f"'{arguments.target}' is no target")
    if arguments.seed is None:
        arguments.seed = int(time.time()) % 2**31 or 1
    return arguments


def main(words):
    arguments = read_arguments(words)
    # So that the fuzzer is ended with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        outcome = fuzz(arguments)
    except CannotRun as cause:
        print(f"ashlar fuzz: {cause}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(outcome))
    elif outcome["result"] == "clean":
        rate = outcome["operations"] / max(outcome["seconds"], 0.1)
        print(
            f"{arguments.target}: nothing found in {outcome['operations']} operations, {outcome['executions']} inputs,"
            f" {outcome['seconds']} s ({rate:.2g} operations a second), seed {arguments.seed};"
            f" {outcome['inputs']} inputs kept"
        )
        if "cells" in outcome:
            print(
                f"{arguments.target}: {outcome['cells']} of {outcome['cells_in_all']} cells of the table reached so far,"
                f" {outcome['many_live']} operations with many live blocks"
            )
    else:
        print(f"{arguments.target}: FAILED, seed {arguments.seed}")
    return 0 if outcome["result"] == "clean" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
