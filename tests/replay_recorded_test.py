#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""replay_recorded_test.py ASHLAR: replays of the recorded snapshots, seen from Python.

On a recorded device with the faithful policy, the snapshot that comes out equals the source for
`pickle.load`, in segments, blocks and actions. On the pretend device's own addresses, every request
is served. ASHLAR_SNAPSHOTS names the folder of the snapshots.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

NAMES = (
    "cnn-training",
    "finetune-notebook",
    "lm-forward-mixed-ctx128",
    "lm-fullstep-ctx128",
    "lm-fullstep-ctx512-emptycache",
    "lm-inference-midstart-ctx1024",
    "lm-training-midstart-ctx128",
    "small-midstart",
    "tiny-fresh",
)
WITHOUT_HISTORY = ("llm-oldformat-notrace", "oom-oldformat")
# Free blocks from before the recording: what was requested of them last is taken from the source.
ADOPTED = {"finetune-notebook": 11}
# Of rules 9.1 to 9.8, with frames, which are empty lists.
SEGMENT_KEYS = {
    "device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
    "segment_type", "segment_pool_id", "is_expandable", "frames", "blocks",
}  # fmt: skip
BLOCK_KEYS = {"address", "size", "requested_size", "state", "frames"}
EVENT_KEYS = {"action", "addr", "size", "stream", "time_us", "pool_id"}
SETTINGS_KEYS = {
    "PYTORCH_CUDA_ALLOC_CONF", "max_split_size", "garbage_collection_threshold",
    "expandable_segments", "pinned_num_register_threads", "release_lock_on_cudamalloc",
    "pinned_use_cuda_host_register", "graph_capture_record_stream_reuse",
    "roundup_power2_divisions",
}  # fmt: skip

ashlar = ""
folder = ""


class PlainUnpickler(pickle.Unpickler):
    """Refuses everything that is not plain data."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused: {module}.{name}")


def load(path):
    with open(path, "rb") as file:
        return PlainUnpickler(file).load()


def without(entry, *keys):
    return {key: value for key, value in entry.items() if key not in keys}


def segments(snapshot):
    """The segments and, apart from them, their blocks."""
    return (
        [without(segment, "frames", "blocks") for segment in snapshot["segments"]],
        [[without(block, "frames") for block in segment["blocks"]] for segment in snapshot["segments"]],
    )


def actions(snapshot):
    return [
        [(event["action"], event["addr"], event["size"], event["stream"]) for event in trace]
        for trace in snapshot["device_traces"]
    ]


def replay(name, *arguments):
    """Status, JSON report and snapshot of a replay."""
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "out.pickle")
        command = [ashlar, "replay", "--json", "--out", out, *arguments]
        run = subprocess.run([*command, os.path.join(folder, name + ".pickle")], capture_output=True, check=False)
        return run.returncode, json.loads(run.stdout), load(out)


class RecordedDevice(unittest.TestCase):
    """The same decisions give the same recording."""

    def compare(self, name):
        source = load(os.path.join(folder, name + ".pickle"))
        status, report, written = replay(name, "--device", "recorded", "--policy", "faithful")
        self.assertEqual(status, 0)
        self.assertEqual(segments(source)[0], segments(written)[0])
        self.assertEqual(segments(source)[1], segments(written)[1])
        self.assertEqual(actions(source), actions(written))
        self.assertEqual(report["stale_sizes_taken_over"], ADOPTED.get(name, 0))
        self.assertEqual(report["totals"]["allocations"], sum(a[0] == "alloc" for t in actions(source) for a in t))
        (device,) = report["devices"]
        self.assertEqual((device["failed"], device["placed_elsewhere"], device["calls_off_script"]), (0, 0, 0))
        self.keys(written)

    def keys(self, snapshot):
        self.assertEqual(
            set(snapshot), {"segments", "device_traces", "allocator_settings", "external_annotations"}
        )
        self.assertEqual(SETTINGS_KEYS, set(snapshot["allocator_settings"]))
        for segment in snapshot["segments"]:
            self.assertEqual(SEGMENT_KEYS, set(segment))
            for block in segment["blocks"]:
                self.assertEqual(BLOCK_KEYS, set(block))
        for event in snapshot["device_traces"][0]:
            self.assertLessEqual(EVENT_KEYS, set(event))


class OwnAddresses(unittest.TestCase):
    """Elsewhere the requests are the same, whatever the decisions."""

    def serve(self, name):
        source = load(os.path.join(folder, name + ".pickle"))
        for order in "address", "segment":
            for policy in "faithful", "complete":
                status, report, written = replay(name, "--order", order, "--policy", policy)
                (device,) = report["devices"]
                self.assertEqual((status, device["failed"]), (0, 0))
                self.assertEqual(device["served"], device["allocations"])
                requested = [b["requested_size"] for s in source["segments"] for b in s["blocks"]
                             if b["state"] != "inactive"]  # fmt: skip
                left = [b["requested_size"] for s in written["segments"] for b in s["blocks"]
                        if b["state"] != "inactive"]  # fmt: skip
                self.assertEqual(sorted(requested), sorted(left))
                self.assertEqual(sum(s["total_size"] for s in written["segments"]), device["at_end"]["reserved"])
                self.assertGreaterEqual(device["peak_reserved"], device["peak_allocated"])


class WithoutHistory(unittest.TestCase):
    """There is nothing to replay, and what is live is seeded."""

    def seed(self, name):
        source = load(os.path.join(folder, name + ".pickle"))
        live = [b["size"] for s in source["segments"] for b in s["blocks"] if b["state"] != "inactive"]
        status, report, _ = replay(name, "--device", "recorded")
        (device,) = report["devices"]
        self.assertEqual(status, 0)
        self.assertEqual(device["allocations"], 0)
        self.assertEqual(device["seeds"]["segments"], len(source["segments"]))
        self.assertEqual(device["at_end"]["allocated"], sum(live))


def add_tests():
    for name in NAMES:
        label = "test_" + name.replace("-", "_")
        setattr(RecordedDevice, label, lambda self, name=name: self.compare(name))
        setattr(OwnAddresses, label, lambda self, name=name: self.serve(name))
    for name in WITHOUT_HISTORY:
        setattr(WithoutHistory, "test_" + name.replace("-", "_"), lambda self, name=name: self.seed(name))


if __name__ == "__main__":
    ashlar = os.path.realpath(sys.argv.pop(1))
    folder = os.environ.get("ASHLAR_SNAPSHOTS", "")
    if not os.path.isfile(os.path.join(folder, NAMES[0] + ".pickle")):
        print("SKIPPED: replay_recorded_test: no recorded snapshots")
        sys.exit(0)
    add_tests()
    unittest.main(verbosity=2)
