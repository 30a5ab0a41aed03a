#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_snapshots.py SOURCE WRITTEN: whether two snapshots hold the same for Python.

Compared are segments, blocks, events and settings, with the types of all numbers; not stack frames
and the texts that a writer without frames does not know. Loads plain data only.
"""
import pickle
import sys

NOT_KEPT = {"frames", "forward_frames", "history", "compile_context", "user_metadata"}


class PlainUnpickler(pickle.Unpickler):
    """Refuses everything that is not plain data."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused: {module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("refused: persistent id")


def load(path):
    with open(path, "rb") as file:
        data = PlainUnpickler(file).load()
        if file.read(1):
            raise pickle.UnpicklingError(f"{path}: bytes after the pickle")
    return {"segments": data} if isinstance(data, list) else data


def kept(entry):
    return {key: value for key, value in entry.items() if key not in NOT_KEPT}


def content(data):
    segments = []
    for segment in data["segments"]:
        plain = kept(segment)
        if "blocks" in plain:
            plain["blocks"] = [kept(block) for block in plain["blocks"]]
        # Written as a pair, whatever it was.
        if "segment_pool_id" in plain:
            plain["segment_pool_id"] = tuple(plain["segment_pool_id"])
        segments.append(plain)
    return {
        "segments": segments,
        "device_traces": data.get("device_traces")
        and [[kept(event) for event in trace] for trace in data["device_traces"]],
        "allocator_settings": data.get("allocator_settings"),
    }


def same(left, right):
    """Equality that tells 1 from True and 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def main():
    source, written = (load(path) for path in sys.argv[1:3])
    left, right = content(source), content(written)
    for key in left:
        if not same(left[key], right[key]):
            if isinstance(left[key], list) and isinstance(right[key], list):
                for index, pair in enumerate(zip(left[key], right[key])):
                    if not same(*pair):
                        print(f"{key}[{index}]: {str(pair[0])[:300]} != {str(pair[1])[:300]}")
                        break
            print(f"{sys.argv[1]}: {key} differ")
            return 1
    for entry in written["segments"]:
        assert entry["frames"] == []
    print(f"same: {len(left['segments'])} segments, "
          f"{sum(map(len, left['device_traces'] or []))} events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
