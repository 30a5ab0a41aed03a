#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves each module in the two forms that are too long for every test run; the command of the campaign `proofs`.

    all_forms.py [--seconds N] [--state FOLDER] [--slots N] [--json]

Forms: `small`, at 64 slots, so that no proof depends on how large the arrays are; `smoke`, at the built capacity, with a
search for contradictory hypotheses. The modules are those of goals.txt. It begins no further proof after N seconds; what is
proved is kept in STATE/proved.json for as long as core/, spec/ and proofs/ stay the same, and not proved again.

With --json standard output is one JSON object: result, operations (goals proved), executions (proofs run), seconds, failure
(a file with what the proof printed, or null), modules (proved in both forms, all), and complete once all are.

Status: 0 all that was run is proved, 1 not so, 2 it could not run, 3 wrong usage.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMS = ("small", "smoke")
SMALL_SLOTS = 64
TIMEOUT = 60
GOALS = re.compile(r"^\w+: (\d+) / (\d+) goals", re.MULTILINE)


def modules():
    """The recorded modules, in the order of the record."""
    lines = (ROOT / "proofs/goals.txt").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split()[0] for line in lines if line and not line.startswith("#")))


def digest():
    """What the proofs are of."""
    read = hashlib.sha256()
    for pattern in ("core/*.[ch]", "spec/*.h", "proofs/**/*"):
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                read.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return read.hexdigest()


def command(module, form, slots):
    words = [sys.executable, "proofs/run_wp.py", "--module", module, "--src", f"core/{module}.c"]
    words += ["--timeout", str(TIMEOUT), "--slots", str(SMALL_SLOTS if form == "small" else slots)]
    for header in sorted([*ROOT.glob("core/*.h"), *ROOT.glob("spec/*.h")]):
        words += ["--hdr", str(header.relative_to(ROOT))]
    return words + (["--smoke"] if form == "smoke" else [])


def prove(module, form, slots):
    """How many goals were proved, and what was printed where not all were."""
    done = subprocess.run(
        command(module, form, slots), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    found = GOALS.search(done.stdout)
    if done.returncode != 0 or found is None:
        return 0, f"{module}, {form}:\n{done.stdout}"
    return int(found[1]), None


def read_state(path, of):
    if path.exists():
        state = json.loads(path.read_text(encoding="utf-8"))
        if state["of"] == of:
            return state["proved"]
    return {}


def work(arguments):
    """The object that --json prints."""
    started = time.monotonic()
    of = digest()
    arguments.state.mkdir(parents=True, exist_ok=True)
    path = arguments.state / "proved.json"
    proved = read_state(path, of)
    goals = executions = 0
    failure = None
    names = modules()
    for module, form in [(module, form) for module in names for form in FORMS]:
        if f"{module} {form}" in proved:
            continue
        if time.monotonic() - started >= arguments.seconds:
            break
        count, said = prove(module, form, arguments.slots)
        executions += 1
        if said is not None:
            print(said, file=sys.stderr)
            failure = arguments.state / "failure.txt"
            failure.write_text(said, encoding="utf-8")
            break
        goals += count
        proved[f"{module} {form}"] = count
        print(f"proved: {module}, {form}: {count} goals", file=sys.stderr)
        path.write_text(json.dumps({"of": of, "proved": proved}), encoding="utf-8")
    both = sum(all(f"{module} {form}" in proved for form in FORMS) for module in names)
    return {
        "result": "clean" if failure is None else "failed",
        "operations": goals,
        "executions": executions,
        "seconds": round(time.monotonic() - started, 1),
        "failure": None if failure is None else str(failure),
        "modules": [both, len(names)],
        "complete": both == len(names),
    }


class Parser(argparse.ArgumentParser):
    """Wrong usage is status 3, as elsewhere."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


def main(words):
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600, metavar="N", help="begins no proof after that; default 600")
    parser.add_argument("--state", type=Path, default=cache / "ashlar" / "proofs", metavar="FOLDER",
                        help="where what is proved is kept")
    parser.add_argument("--slots", type=int, default=1 << 21, metavar="N", help="the built capacity; default 2^21")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    try:
        outcome = work(arguments)
    except (OSError, ValueError, KeyError) as cause:
        print(f"all_forms.py: {cause}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(outcome))
    else:
        print("{} goals proved; of {} modules {} in both forms".format(outcome["operations"], *outcome["modules"][::-1]))
    return 0 if outcome["failure"] is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
