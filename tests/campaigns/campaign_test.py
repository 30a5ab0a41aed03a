#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns: slices until the deadline, records, going on after an interruption; with a check that pretends."""

import datetime
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PRETEND = """#!/usr/bin/env python3
import json, os, sys, time
words = sys.argv[1:]
option = {word: words[i + 1] for i, word in enumerate(words[:-1]) if word.startswith("--")}
with open(os.environ["CALLS"], "a") as calls:
    calls.write(" ".join(words) + "\\n")
time.sleep(float(os.environ.get("TAKES", option["--seconds"])))
failed = os.environ.get("FAILS_WITH") == option["--seed"]
if os.environ.get("SAYS") is not None:
    print(os.environ["SAYS"])
    sys.exit(0)
print(json.dumps({
    "result": "failed" if failed else "clean", "operations": None if failed else 1000, "executions": 10,
    "complete": os.environ.get("COMPLETE") == "1",
    "seconds": 1.5, "inputs": 3, "cells": 7, "many_live": 100, "failure": "/some/folder/crash-1" if failed else None,
}))
sys.exit(1 if failed else 0)
"""


class Campaigns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.calls = self.folder / "calls"
        pretend = self.folder / "pretend.py"
        pretend.write_text(PRETEND, encoding="utf-8")
        self.table = self.folder / "table"
        self.table.write_text(f"# comment\n\none //a:b python3 {pretend} x\ntwo //c:d python3 {pretend} y\n")
        (self.folder / "records").mkdir()

    def start(self, *words, **environment):
        return subprocess.Popen(
            [
                "python3", "tests/campaigns/campaign.py", *words, "--table", self.table,
                "--records", self.folder / "records", "--state", self.folder / "state",
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "CALLS": str(self.calls), **environment},
        )

    def run_campaign(self, *words, **environment):
        process = self.start(*words, **environment)
        out, err = process.communicate()
        return process.returncode, out, err

    def records(self, name="one"):
        path = self.folder / "records" / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_slices_until_the_deadline(self):
        start = time.monotonic()
        status, out, _ = self.run_campaign("one", "--minutes", "0.05", "--slice", "1")
        self.assertEqual(status, 0)
        self.assertLess(time.monotonic() - start, 10)
        calls = self.called()
        self.assertIn(len(calls), (2, 3))
        state = self.folder / "state" / "one"
        self.assertEqual(calls[1], f"x --seconds 1 --seed 2 --state {state} --json")
        (record,) = self.records()
        self.assertEqual(json.loads(out), record)
        self.assertEqual(
            {key: value for key, value in record.items() if key not in ("date", "commit", "seconds")},
            {
                "name": "one", "seed": 1, "slices": len(calls), "operations": 1000 * len(calls),
                "executions": 10 * len(calls), "result": "clean", "inputs": 3, "cells": 7,
                "many_live": 100 * len(calls),
            },
        )
        self.assertTrue(record["commit"])
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(record["date"])
        self.assertLess(abs(age.total_seconds()), 60)

    def test_a_check_that_is_complete_is_run_once(self):
        self.assertEqual(self.run_campaign("one", "--minutes", "1", TAKES="0.1", COMPLETE="1")[0], 0)
        self.assertEqual(len(self.called()), 1)
        self.assertEqual(self.records()[0]["slices"], 1)

    def test_the_next_run_has_other_seeds_and_a_record_of_its_own(self):
        for _ in range(2):
            self.assertEqual(self.run_campaign("one", "--minutes", "0.02", TAKES="0.8")[0], 0)
        first, second = self.records()
        self.assertEqual(second["seed"], first["seed"] + first["slices"])
        self.assertEqual(second["operations"], 1000 * second["slices"])

    def test_an_interruption_loses_no_finished_slice(self):
        process = self.start("one", "--minutes", "5", "--slice", "1", TAKES="0.5")
        limit = time.monotonic() + 30
        while len(self.called()) < 3 and time.monotonic() < limit:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertIn("goes on", err)
        self.assertEqual(self.records(), [])
        before = len(self.called())
        self.assertEqual(self.run_campaign("one", "--minutes", "0.01", TAKES="0.5")[0], 0)
        (record,) = self.records()
        self.assertEqual(record["seed"], 1)
        self.assertEqual(record["slices"], len(self.called()) - 1)  # the one that was cut short is not counted
        self.assertGreater(record["slices"], before - 1)
        self.assertEqual(record["operations"], 1000 * record["slices"])

    def test_what_was_done_for_another_commit_is_not_counted(self):
        state = self.folder / "state" / "one"
        state.mkdir(parents=True)
        done = {"commit": "another", "seed": 1, "slices": 6, "operations": 6000, "executions": 60, "seconds": 9}
        (state / "progress.json").write_text(json.dumps({"next_seed": 7, "since_record": done}))
        self.assertEqual(self.run_campaign("one", "--minutes", "0.01", TAKES="0.7")[0], 0)
        self.assertEqual((self.records()[0]["seed"], self.records()[0]["slices"]), (7, 1))

    def test_a_failure_ends_it_and_is_recorded(self):
        status, _, _ = self.run_campaign("one", "--minutes", "5", TAKES="0", FAILS_WITH="3")
        self.assertEqual(status, 1)
        (record,) = self.records()
        self.assertEqual((record["result"], record["slices"], record["operations"]), ("failed", 3, 2000))
        self.assertEqual(record["failure"], "crash-1")

    def test_a_check_that_does_no_work_is_no_record(self):
        for says in ("", "nonsense", "[]", '{"result": "clean"}',
                     '{"result": "failed", "operations": 1, "executions": 1, "seconds": 1}',
                     '{"result": "clean", "operations": null, "executions": 1, "seconds": 1}'):
            status, _, err = self.run_campaign("one", TAKES="0", SAYS=says)
            self.assertEqual((status, self.records()), (2, []), says)
            self.assertIn("ashlar campaign: ", err)

    def test_a_damaged_state_is_an_error(self):
        state = self.folder / "state" / "one"
        state.mkdir(parents=True)
        for text in ("", "{}", "[1]", '{"next_seed": 0, "since_record": {}}'):
            (state / "progress.json").write_text(text)
            status, _, err = self.run_campaign("one", TAKES="0")
            self.assertEqual((status, self.called()), (2, []), text)
            self.assertIn("progress.json cannot be read", err)

    def test_two_at_a_time_are_refused(self):
        first = self.start("one", "--minutes", "5", TAKES="30")
        limit = time.monotonic() + 30
        while not self.called() and time.monotonic() < limit:
            time.sleep(0.05)
        status, _, err = self.run_campaign("one")
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
        self.assertEqual(status, 2)
        self.assertIn("in use", err)

    def test_ages(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        old = {"date": (now - datetime.timedelta(days=9, hours=1)).isoformat(), "result": "clean", "operations": 5}
        (self.folder / "records" / "one.jsonl").write_text('{"date": "x"}\n' + json.dumps({**old, "commit": "abc"}) + "\n")
        status, out, _ = self.run_campaign("--ages")
        self.assertEqual(status, 0)
        self.assertEqual(out.splitlines(), [
            "campaign one: 9 days old: clean, 5 operations, commit abc", "campaign two: never run",
        ])
        (self.folder / "records" / "two.jsonl").write_text("{\n")
        self.assertIn("cannot be read", self.run_campaign("--ages")[1].splitlines()[1])

    def test_targets_and_usage(self):
        self.assertEqual(self.run_campaign("two", "--target")[:2], (0, "//c:d\n"))
        for words in ((), ("three",), ("three", "--target"), ("one", "--minutes", "0"), ("one", "--ages"), ("one", "-x")):
            status, out, err = self.run_campaign(*words)
            self.assertEqual((status, out), (3, ""), words)
            self.assertNotEqual(err, "")

    def test_the_table_of_the_checkout(self):
        done = subprocess.run(["python3", "tests/campaigns/campaign.py", "--ages"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        names = [line.split()[1] for line in done.stdout.splitlines()]
        targets = [path.name[: -len("_fuzz.c")] for path in Path("fuzz").glob("*_fuzz.c")]
        self.assertGreaterEqual(len(targets), 6)
        for target in targets:
            if target != "planted_fault":
                self.assertIn(f"fuzz-{target.replace('_', '-')}:", names)


if __name__ == "__main__":
    unittest.main(verbosity=2)
