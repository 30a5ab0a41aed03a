#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of the audit measures what it says: its snapshots are as Python would write them, are
clean, and what is wrong with an audit makes it fail."""
import os
import pickle
import pickletools
import subprocess
import sys
import tempfile
import unittest

import grow_snapshot

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
TOOL = os.path.join(HERE, "..", "..", "tools", "ashlar")
SNAPSHOTS = os.environ.get("ASHLAR_SNAPSHOTS", os.path.join("..", "ashlar_snapshots", "snapshots"))
TRACE = os.path.join(HERE, "..", "data", "transformer-training.trace")

# How frames and batches are cut, which differs.
CUTS = {"FRAME", "MARK", "APPEND", "APPENDS"}


def opcodes(data):
    return [(opcode.name, argument) for opcode, argument, _ in pickletools.genops(data)
            if opcode.name not in CUTS]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def recording(self, name):
        path = os.path.join(SNAPSHOTS, name + ".pickle")
        if not os.path.exists(path):
            self.skipTest("no recorded snapshots")
        return grow_snapshot.load(path)


class Grown(Folder):
    def check(self, source, has_frames, size):
        history = grow_snapshot.History(source, TOOL, self.folder.name)
        path = self.path("grown.pickle")
        grown = grow_snapshot.grow(history, has_frames, size, path)
        with open(path, "rb") as file:
            data = file.read()
        loaded = pickle.loads(data)
        events = loaded["device_traces"][0]
        self.assertEqual(grown.bytes, len(data))
        self.assertGreaterEqual(len(data), size)
        self.assertEqual(grown.events, len(events))
        self.assertEqual(grown.allocations, sum(event["action"] == "alloc" for event in events))
        self.assertEqual(grown.memo, sum(name == "MEMOIZE" for name, _ in opcodes(data)))
        self.assertEqual(opcodes(data), opcodes(pickle.dumps(loaded, 4)))
        self.assertEqual([("frames" in event) for event in events], [has_frames] * len(events))
        times = [event["time_us"] for event in events]
        self.assertEqual(times, sorted(set(times)))
        audit = subprocess.run([TOOL, "audit", path], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(audit.returncode, 0, audit.stdout)
        return events, grown.repetitions

    def test_frames_as_recorded(self):
        source = self.recording("tiny-fresh")
        events, repetitions = self.check(source, True, 300_000)
        recorded = [event for event in source["device_traces"][0] if event["action"] == "alloc"]
        repeated = [event for event in events if event["action"] == "alloc"]
        self.assertEqual(len(repeated), repetitions * len(recorded))
        for index, event in enumerate(repeated):
            expected = recorded[index % len(recorded)]
            self.assertEqual(event["frames"], expected["frames"])
            self.assertEqual(event["size"], expected["size"])
        self.assertGreater(repetitions, 3)

    def test_texts_of_newer_releases(self):
        source = self.recording("tiny-fresh")
        for event in source["device_traces"][0]:
            event["compile_context"] = "N/A"
            event["user_metadata"] = ""
        events, _ = self.check(source, False, 100_000)
        with open(self.path("grown.pickle"), "rb") as file:
            texts = [argument for name, argument in opcodes(file.read()) if name == "SHORT_BINUNICODE"]
        self.assertEqual(texts.count("N/A"), len(events))
        self.assertEqual(texts.count(""), 1)

    def test_no_frames(self):
        self.check(self.recording("small-midstart"), False, 200_000)

    def test_trace(self):
        self.check(TRACE, False, 1_000_000)

    def test_least(self):
        _, repetitions = self.check(TRACE, False, 0)
        self.assertEqual(repetitions, 3)


class Benchmark(Folder):
    def run_benchmark(self, *options):
        done = subprocess.run(
            [os.path.join(HERE, "audit_speed.py"), "--megabytes", "1", "--rounds", "1", "--folder",
             self.folder.name, "--recording", "tiny-fresh", "--tool", TOOL, *options],
            stdout=subprocess.PIPE, text=True, check=False,
        )
        self.assertEqual(os.listdir(self.folder.name), [name for name in ("tool",) if "--tool" in options])
        return done.returncode, done.stdout

    def fake(self, audit):
        """A tool whose audit is another one."""
        path = self.path("tool")
        with open(path, "w", encoding="ascii") as file:
            file.write(f'#!/bin/bash\n[ "$1" = audit ] || exec {os.path.abspath(TOOL)} "$@"\n{audit}\n')
        os.chmod(path, 0o755)
        return "--tool", path

    def test_clean(self):
        status, said = self.run_benchmark("--python-rounds", "1")
        self.assertEqual(status, 0, said)
        for part in ("machine: ", "MB/s (median of 1)", "memory: peak", "all agree", "pickle.load of"):
            self.assertIn(part, said)

    def test_too_slow(self):
        status, said = self.run_benchmark("--require", "1000000", "--python-rounds", "0")
        self.assertIn("TOO SLOW", said)
        self.assertEqual(status, 1)

    def test_findings(self):
        status, said = self.run_benchmark(*self.fake("exit 1"), "--python-rounds", "0")
        self.assertIn("NOT CLEAN: status 1", said)
        self.assertEqual(status, 1)

    def test_allocations_missing(self):
        totals = ('{"totals": {"allocations": 1, "agree": 1, "differ": 0, "undetermined": 0, '
                  '"findings": 0}}')
        status, said = self.run_benchmark(*self.fake(f"echo '{totals}'"), "--python-rounds", "0")
        self.assertIn("NOT CLEAN: {", said)
        self.assertEqual(status, 1)

    def test_too_much_memory(self):
        program = "import subprocess, sys; x = b'x' * 10 ** 8; sys.exit(subprocess.call(sys.argv[1:]))"
        audit = f'exec /usr/bin/python3 -c "{program}" {os.path.abspath(TOOL)} "$@"'
        status, said = self.run_benchmark(*self.fake(audit), "--python-rounds", "0")
        self.assertIn("TOO MUCH MEMORY", said)
        self.assertNotIn("NOT CLEAN", said)
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
