#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a long check until its deadline and appends a dated record.

    campaign.py NAME [--minutes N]   runs it; default 10 minutes
    campaign.py --ages               how old the last record of each is
    campaign.py --target NAME        what Bazel builds for it

campaigns.txt lists the campaigns. One is run in slices of a minute, each with a seed of its own; what
the slices found and did is kept outside the tree, in $XDG_CACHE_HOME/ashlar/campaigns/NAME (default
~/.cache), so that a campaign that was interrupted goes on where it was and the next record counts what
was done. A record is one line of JSON in NAME.jsonl here.

Status: 0 nothing found, 1 the check failed, 2 it could not run, 3 wrong usage.
"""

import argparse
import contextlib
import datetime
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SLICE_SECONDS = 60
COUNTS = ("operations", "executions", "seconds")
ADDED = ("many_live",)  # counts that only some checks have
# of the last slice, where a check has them
LAST = ("inputs", "cells", "cells_in_all", "lines", "branches", "conditions", "modules")


class CannotRun(Exception):
    """The check did not do its work; the text says why."""


class Unknown(Exception):
    """No campaign of this name."""


# --- the table and the records ---


def read_table(path):
    """Name, Bazel target and command of each campaign."""
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            if len(words) < 3 or words[0] in table:
                raise CannotRun(f"{path}: this is no row of its own: {line}")
            table[words[0]] = (words[1], words[2:])
    return table


def look_up(table, name):
    if name not in table:
        raise Unknown(f"there is no campaign '{name}'; there are: {', '.join(table)}")
    return table[name]


def last_record(folder, name):
    """The last record of a campaign, None where it has none."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").split("\n")
    try:
        record = json.loads(lines[-2])
        datetime.datetime.fromisoformat(record["date"])
    except (IndexError, ValueError, KeyError, TypeError) as cause:
        raise CannotRun(f"{path}: the last record cannot be read") from cause
    return record


def describe_age(record, now):
    if record is None:
        return "never run"
    days = (now - datetime.datetime.fromisoformat(record["date"])).days
    age = "today" if days < 1 else "1 day old" if days == 1 else f"{days} days old"
    return f"{age}: {record.get('result')}, {record.get('operations')} operations, commit {record.get('commit')}"


def print_ages(table, folder):
    now = datetime.datetime.now(datetime.timezone.utc)
    for name in table:
        try:
            text = describe_age(last_record(folder, name), now)
        except CannotRun as cause:
            text = str(cause)
        print(f"campaign {name}: {text}")


def append_record(folder, name, record):
    with open(folder / f"{name}.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")


def commit():
    """The commit of the tree, with a mark where files differ from it; records of campaigns do not count."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", ".", ":(exclude)tests/campaigns/*.jsonl"],
            capture_output=True, text=True, check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("-dirty" if changed else "")


# --- what is kept from run to run ---


def nothing_done(head):
    return {"commit": head, "seed": None, "slices": 0, "operations": 0, "executions": 0, "seconds": 0}


def read_progress(folder, head):
    """The next seed, and what was done for this commit since the last record."""
    path = folder / "progress.json"
    if not path.exists():
        return {"next_seed": 1, "since_record": nothing_done(head)}
    try:
        progress = json.loads(path.read_text(encoding="utf-8"))
        done = progress["since_record"]
        if int(progress["next_seed"]) < 1 or any(float(done[key]) < 0 for key in (*COUNTS, "slices")):
            raise ValueError
        if done["commit"] != head:
            progress["since_record"] = nothing_done(head)
    except (ValueError, KeyError, TypeError) as cause:
        raise CannotRun(f"{path} cannot be read; without it the campaign starts anew") from cause
    return progress


def write_progress(folder, progress):
    new = folder / "progress.json.new"
    new.write_text(json.dumps(progress) + "\n", encoding="utf-8")
    new.replace(folder / "progress.json")


@contextlib.contextmanager
def only_one(folder):
    """At most one run of a campaign at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            raise CannotRun(f"{folder} is in use by another run") from cause
        yield


# --- running ---


def run_slice(command, seconds, seed, state):
    """What the check says of one slice."""
    line = [*command, "--seconds", str(seconds), "--seed", str(seed), "--state", str(state), "--json"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE) as check:
        try:
            output, _ = check.communicate()
        except BaseException:
            check.terminate()
            raise
    try:
        outcome = json.loads(output)
        counts = [outcome[key] for key in COUNTS]
    except (ValueError, KeyError, TypeError) as cause:
        raise CannotRun(f"{line[0]} ended with status {check.returncode} and without an outcome") from cause
    clean = outcome.get("result") == "clean"
    if check.returncode != (0 if clean else 1) or (clean and None in counts):
        raise CannotRun(f"{line[0]} ended with status {check.returncode} and the outcome {outcome}")
    return outcome


def add_slice(done, outcome, seed):
    if done["slices"] == 0:
        done["seed"] = seed
    done["slices"] += 1
    for key in COUNTS:
        done[key] = round(done[key] + (outcome[key] or 0), 1)
    for key in ADDED:
        if key in outcome:
            done[key] = done.get(key, 0) + outcome[key]


def make_record(name, done, outcome):
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": done["commit"],
        "name": name,
        "seed": done["seed"],
        "slices": done["slices"],
        **{key: done[key] for key in COUNTS},
        **{key: done[key] for key in ADDED if key in done},
        "result": outcome["result"],
        **{key: outcome[key] for key in LAST if outcome.get(key) is not None},
    }
    if outcome.get("failure"):
        record["failure"] = Path(outcome["failure"]).name
    return record


def run_campaign(name, command, arguments):
    """Slices until the deadline or a failure, then a record, which is returned."""
    deadline = time.monotonic() + 60 * arguments.minutes
    state = arguments.state / name
    with only_one(state):
        progress = read_progress(state, commit())
        done = progress["since_record"]
        outcome = None
        while outcome is None or outcome["result"] == "clean":
            left = int(deadline - time.monotonic())
            if left < 1 and outcome is not None:
                break
            seed = progress["next_seed"]
            outcome = run_slice(command, max(1, min(arguments.slice, left)), seed, state)
            add_slice(done, outcome, seed)
            progress["next_seed"] = seed + 1
            write_progress(state, progress)
            if outcome.get("complete"):
                break
        record = make_record(name, done, outcome)
        append_record(arguments.records, name, record)
        progress["since_record"] = nothing_done(done["commit"])
        write_progress(state, progress)
    return record


# --- the command line ---


class Parser(argparse.ArgumentParser):
    """Wrong usage is status 3, as everywhere in Ashlar."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


def positive(text):
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def read_arguments(words):
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = Parser(prog="ashlar campaign", description="Runs a long check until its deadline and records it.")
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--minutes", type=positive, default=10, metavar="N", help="how long; default 10")
    parser.add_argument("--ages", action="store_true", help="print how old the records are")
    parser.add_argument("--target", action="store_true", help="print what Bazel builds for NAME")
    parser.add_argument("--slice", type=int, default=SLICE_SECONDS, metavar="SECONDS", help="length of a slice")
    parser.add_argument("--table", type=Path, default=HERE / "campaigns.txt", metavar="FILE")
    parser.add_argument("--records", type=Path, default=HERE, metavar="FOLDER")
    parser.add_argument("--state", type=Path, default=cache / "ashlar" / "campaigns", metavar="FOLDER")
    arguments = parser.parse_args(words)
    if (arguments.name is None) != arguments.ages:
        parser.error("a NAME or --ages is needed")
    return arguments


def main(words):
    arguments = read_arguments(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        table = read_table(arguments.table)
        if arguments.ages:
            print_ages(table, arguments.records)
            return 0
        target, command = look_up(table, arguments.name)
        if arguments.target:
            print(target)
            return 0
        record = run_campaign(arguments.name, command, arguments)
    except Unknown as cause:
        print(f"ashlar campaign: {cause}", file=sys.stderr)
        return 3
    except (CannotRun, OSError) as cause:
        print(f"ashlar campaign: {cause}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ashlar campaign: interrupted; the next run goes on from the last slice", file=sys.stderr)
        return 130
    print(json.dumps(record))
    return 0 if record["result"] == "clean" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
