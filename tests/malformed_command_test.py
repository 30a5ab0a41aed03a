#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""malformed_command_test.py ASHLAR: 200 malformed snapshots through the command itself.

Each run has 1 GiB of address space and ten seconds. The status is 2 with a reason on standard
error, or that of a finished audit; never a signal. ASHLAR_SNAPSHOTS names the recorded snapshots.
"""

import os
import pickle
import random
import resource
import subprocess
import sys
import tempfile

MEMORY = 1 << 30
SECONDS = 10
COUNT = 200


class Forbidden:
    """Pickles as a call, which a reader of plain data must refuse."""

    def __reduce__(self):
        return (print, ("executed",))


def sources():
    """Whole snapshots to damage: a recorded one, where there is one, and one made here."""
    segment = {
        "device": 0, "address": 1 << 30, "total_size": 2097152, "allocated_size": 512, "active_size": 512,
        "requested_size": 100, "stream": 0, "segment_type": "small",
        "blocks": [
            {"address": 1 << 30, "size": 512, "requested_size": 100, "state": "active_allocated"},
            {"address": (1 << 30) + 512, "size": 2096640, "requested_size": 0, "state": "inactive"},
        ],
    }
    event = {"action": "alloc", "addr": 1 << 30, "size": 100, "stream": 0, "frames": []}
    made = {"segments": [segment], "device_traces": [[event] * 1]}
    yield from (pickle.dumps(made, protocol=protocol) for protocol in (2, 3, 4, 5))
    path = os.path.join(os.environ.get("ASHLAR_SNAPSHOTS", ""), "tiny-fresh.pickle")
    if os.path.isfile(path):
        with open(path, "rb") as snapshot:
            yield snapshot.read()
    else:
        print("SKIPPED: malformed_command_test: the recorded snapshots are not here")


def nasty():
    """Inputs that are malformed as they stand."""
    deep = b"\x80\x04" + b"]" * 100000 + b"a" * 99999 + b"."
    many = [{"device": device, "address": 4096, "total_size": 0, "blocks": []} for device in range(-1, 300)]
    yield from (b"", b"\x80\x06N.", deep, b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f.", b"\x80\x04r\xff\xff\xff\xff.")
    yield b"\x80\x04]\x94h\x00a."
    yield b"\x80\x02j\xff\xff\xff\xff."
    yield pickle.dumps({"segments": [Forbidden()]}, protocol=4)
    yield pickle.dumps({"segments": many}, protocol=4)
    yield pickle.dumps({"segments": [], "device_traces": [[] for _ in range(4000)]}, protocol=4)
    yield pickle.dumps([1.5, None, "x"], protocol=4)
    yield pickle.dumps({"segments": {}, "device_traces": 7}, protocol=5)


def inputs():
    """COUNT malformed inputs, the same on every run."""
    chance = random.Random(20261129)
    result = list(nasty())
    whole = list(sources())
    while len(result) < COUNT:
        data = bytearray(whole[len(result) % len(whole)])
        if len(result) % 3 == 0:
            del data[chance.randrange(len(data)):]
        else:
            for _ in range(chance.randint(1, 6)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        result.append(bytes(data))
    return result


def limit():
    """Runs in the child before the tool."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    """Runs all inputs and returns the exit status."""
    tool = os.path.abspath(sys.argv[1])
    statuses = {0: 0, 1: 0, 2: 0}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "malformed.pickle")
        for number, data in enumerate(inputs()):
            with open(path, "wb") as file:
                file.write(data)
            done = subprocess.run(
                [tool, "audit", "--json", path], capture_output=True, timeout=SECONDS, preexec_fn=limit, check=False
            )
            good = done.returncode in statuses and (done.returncode != 2 or path.encode() in done.stderr)
            if good:
                statuses[done.returncode] += 1
            else:
                failed += 1
                print(f"input {number}: status {done.returncode}: {done.stderr[:200]!r}")
    print(f"{COUNT} inputs: {statuses[0]} clean, {statuses[1]} with findings, {statuses[2]} refused, {failed} wrong")
    return 1 if failed or not statuses[2] else 0


if __name__ == "__main__":
    sys.exit(main())
