#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast `ashlar audit` is on a large memory snapshot, and how much memory it takes.

Makes the snapshot by repeating a recorded history (grow_snapshot.py), once with its frames and once
without, audits each several times, and reads the same file with Python's pickle for comparison.
Status: 0, or 1 where an audit is not clean, takes more memory than the design allows, or is slower
than --require says.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import grow_snapshot

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# The design's bound on the memory of an audit, and what may come on top: code, libraries, the read
# buffer, the manager's blocks in use.
BYTES_AN_EVENT = 32
BYTES_A_MEMO_ENTRY = 8
CONSTANT = 16 * 1024 * 1024

# What Python is expected to need at most: bytes of memory for each byte of the file.
PYTHON_FACTOR = 8

# Runs a command. A process of its own, a small one, because the memory that the system counts for a
# program is at least that of the process which started it.
RUN = """
import json, os, sys, time
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(int(sys.argv[1]), 1)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), time.perf_counter() - start,
                  usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]))
"""

LOAD = """
import pickle, sys, time
class PlainUnpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("refused")
with open(sys.argv[1], "rb") as file:
    start = time.perf_counter()
    data = PlainUnpickler(file).load()
    print(time.perf_counter() - start, flush=True)
import os
os._exit(0)  # taking it all apart again is not what is measured
"""


def default_tool():
    """The tool that was built beside this program, in bazel-bin or in runfiles."""
    return os.path.join(HERE, "..", "..", "tools", "ashlar")


def recording_path(name):
    """The file of a recorded snapshot, or None where the snapshots are not there."""
    for folder in (
        os.environ.get("ASHLAR_SNAPSHOTS"),
        os.path.join(HERE, "..", "..", "..", "ashlar_snapshots", "snapshots"),
        os.path.join(ROOT, "..", "shared", "snapshots"),
    ):
        path = os.path.join(folder, name + ".pickle") if folder else ""
        if os.path.exists(path):
            return path
    return None


def machine():
    """One line about the machine and how busy it is."""
    names = {}
    for line in subprocess.run(["lscpu"], env={"LC_ALL": "C", "PATH": os.defpath}, check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines():
        key, _, value = line.partition(":")
        names[key.strip()] = value.strip()
    load = os.getloadavg()[0]
    return f"{names.get('Model name', 'unknown processor')}, {os.cpu_count()} CPUs, load {load:.1f}"


class Measured:
    """One run of a command: what it printed, how it ended, its time and memory."""

    def __init__(self, command):
        with tempfile.TemporaryFile() as out:
            done = subprocess.run([sys.executable, "-I", "-S", "-c", RUN, str(out.fileno()), *command],
                                  check=True, stdout=subprocess.PIPE, pass_fds=[out.fileno()])
            out.seek(0)
            self.output = out.read()
        self.status, self.wall, self.processor, self.peak = json.loads(done.stdout)


def clean(grown, run):
    """Whether the audit saw everything and found nothing; says what is wrong."""
    if run.status != 0:
        print(f"  NOT CLEAN: status {run.status}")
        return False
    totals = json.loads(run.output)["totals"]
    expected = {"allocations": grown.allocations, "agree": grown.allocations, "differ": 0,
                "undetermined": 0, "findings": 0}
    if any(totals[key] != value for key, value in expected.items()):
        print(f"  NOT CLEAN: {totals}, expected {expected}")
        return False
    return True


def speed(size, seconds):
    return f"{seconds:.2f} s, {size / seconds / 1e6:.0f} MB/s"


def audit(options, grown, path):
    """Audits the file; the median time, and whether all is as it should be."""
    runs = [Measured([options.tool, "audit", "--json", path]) for _ in range(options.rounds)]
    wall = statistics.median(run.wall for run in runs)
    print(f"  audit: {speed(grown.bytes, wall)} (median of {len(runs)}); "
          f"processor time {speed(grown.bytes, statistics.median(run.processor for run in runs))}, "
          f"best {speed(grown.bytes, min(run.processor for run in runs))}")
    peak = max(run.peak for run in runs)
    bound = BYTES_AN_EVENT * grown.events + BYTES_A_MEMO_ENTRY * grown.memo
    print(f"  memory: peak {peak / 1e6:.1f} MB; {BYTES_AN_EVENT} bytes an event and "
          f"{BYTES_A_MEMO_ENTRY} a memo entry are {bound / 1e6:.1f} MB; the rest, "
          f"{(peak - bound) / 1e6:.1f} MB, may be {CONSTANT / 1e6:.1f} MB")
    is_good = all(clean(grown, run) for run in runs)
    if is_good:
        print(f"  result: {grown.allocations} allocations, all agree; nothing found")
    if peak > bound + CONSTANT:
        print("  TOO MUCH MEMORY")
        is_good = False
    if grown.bytes / wall / 1e6 < options.require:
        print(f"  TOO SLOW: {options.require} MB/s are required")
        is_good = False
    return wall, is_good


def load_in_python(options, grown, path, audit_wall):
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if "MemAvailable" in line)
    if available < PYTHON_FACTOR * grown.bytes:
        print(f"  SKIPPED: Python's pickle.load may need {PYTHON_FACTOR * grown.bytes / 1e9:.0f} GB of "
              f"memory, {available / 1e9:.0f} GB are available")
        return
    runs = [Measured([sys.executable, "-c", LOAD, path]) for _ in range(options.python_rounds)]
    if any(run.status != 0 for run in runs):
        raise RuntimeError("Python cannot read the snapshot")
    wall = statistics.median(float(run.output) for run in runs)
    print(f"  pickle.load of Python {sys.version.split()[0]}: {speed(grown.bytes, wall)} "
          f"(median of {len(runs)}), peak {max(run.peak for run in runs) / 1e6:.0f} MB; "
          f"the audit takes {audit_wall / wall:.2f} of that time")


def measure(options, history, has_frames, folder):
    """One snapshot from its making to its measures; whether all is as it should be."""
    path = os.path.join(folder, "grown.pickle")
    grown = grow_snapshot.grow(history, has_frames, int(options.megabytes * 1e6), path)
    print(f"{'frames as recorded' if has_frames else 'no frames'}: {grown.bytes / 1e6:.1f} MB, "
          f"{grown.repetitions} repetitions, {grown.events} events of {grown.bytes / grown.events:.1f} "
          f"bytes, {grown.memo} memo entries", flush=True)
    wall, is_good = audit(options, grown, path)
    if options.python_rounds > 0:
        load_in_python(options, grown, path, wall)
    os.remove(path)
    sys.stdout.flush()
    return is_good


def arguments():
    parser = argparse.ArgumentParser(prog="audit_speed", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=1000, metavar="N",
                        help="size of each snapshot, millions of bytes (default 1000)")
    parser.add_argument("--recording", default="lm-fullstep-ctx128", metavar="NAME",
                        help="the recorded snapshot that is repeated (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="audits of each snapshot (default 3)")
    parser.add_argument("--python-rounds", type=int, default=3, metavar="N",
                        help="reads of each snapshot in Python; 0: none (default 3)")
    parser.add_argument("--require", type=float, default=0, metavar="MB/S",
                        help="fail where an audit is slower than this")
    parser.add_argument("--tool", default=default_tool(), metavar="FILE",
                        help="the ashlar program (default: the one built beside this)")
    parser.add_argument("--folder", metavar="FOLDER",
                        help="where the snapshots are made (default: the system's temporary folder)")
    return parser.parse_args()


def main():
    options = arguments()
    path = recording_path(options.recording)
    print(f"machine: {machine()}")
    with tempfile.TemporaryDirectory(prefix="ashlar-bench-", dir=options.folder) as folder:
        if path:
            print(f"history: the requests of {options.recording}, placed anew")
            history = grow_snapshot.History(grow_snapshot.load(path), options.tool, folder)
            variants = (True, False)
        else:
            trace = os.path.join(ROOT, "tests", "data", "transformer-training.trace")
            print(f"SKIPPED: frames as recorded: {options.recording} is not there")
            print("history: the requests of transformer-training.trace")
            history = grow_snapshot.History(trace, options.tool, folder)
            variants = (False,)
        results = [measure(options, history, has_frames, folder) for has_frames in variants]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
