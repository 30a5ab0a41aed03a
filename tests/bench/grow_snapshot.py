# SPDX-License-Identifier: BSD-3-Clause
"""Makes a large memory snapshot out of a small one, for benchmarks.

The requests of a recorded history are placed anew by `ashlar replay`, from empty memory on, so that
the history can be repeated: after each repetition but the last its live blocks are freed and the
cache is emptied, and the next one happens at higher addresses. The last repetition ends as the
recording does, with the segments and blocks that are live then.

The opcodes and the memo are those that Python's pickler would write for the same data, apart from
where it cuts frames and batches; frame dictionaries are shared, and lists of frames are new for each
traceback, as PyTorch has them. But they are written straight away, and never more than three
repetitions are in memory.
"""
import collections
import os
import pickle
import struct
import subprocess

BATCH = 1000  # elements that the pickler puts between two APPENDS or SETITEMS
FRAME = 64 * 1024  # bytes after which it ends a frame

ADDRESS_BASE = 1 << 46  # seven hexadecimal digits and more, as on a GPU; all take six bytes
ADDRESS_END = 1 << 47
TIME_BASE = 1_700_000_000_000_000  # microseconds; seven bytes
GIB = 1 << 30

PER_EVENT = ("compile_context", "user_metadata")  # texts that newer releases give each event

Grown = collections.namedtuple("Grown", "bytes events allocations memo repetitions")


class PlainUnpickler(pickle.Unpickler):
    """Refuses everything that is not plain data."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused: {module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("refused: persistent id")


def load(path):
    with open(path, "rb") as file:
        return PlainUnpickler(file).load()


class Patches:
    """Where the bytes of one repetition differ from those of the next."""

    def __init__(self):
        self.addresses = []  # (offset, address)
        self.times = []  # (offset, time)
        self.memo = []  # (offset, index) of lists of frames


class Writer:
    """The opcodes of protocol 4 for plain data, as Python's pickler chooses them.

    Offsets in `patches` are relative to the bytes returned by take().
    """

    def __init__(self):
        self.out = bytearray()
        self.count = 0  # memo entries
        self.texts = {}
        self.objects = {}  # id -> memo index
        self.kept = []  # keeps those objects alive, so that no id is used twice
        self.patches = Patches()

    def take(self):
        done, self.out, self.patches = (self.out, self.patches), bytearray(), Patches()
        return done

    def memoize(self, value):
        self.out += b"\x94"
        self.objects[id(value)] = self.count
        self.kept.append(value)
        self.count += 1

    def fetch(self, index):
        self.out += struct.pack("<cB", b"h", index) if index < 256 else struct.pack("<cI", b"j", index)

    def number(self, value):
        if 0 <= value < 256:
            self.out += struct.pack("<cB", b"K", value)
        elif 0 <= value < 65536:
            self.out += struct.pack("<cH", b"M", value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += struct.pack("<ci", b"J", value)
        else:
            length = value.bit_length() // 8 + 1
            self.out += bytes((0x8A, length)) + value.to_bytes(length, "little", signed=True)

    def text(self, value):
        if value in self.texts:
            self.fetch(self.texts[value])
            return
        data = value.encode("utf-8", "surrogatepass")
        self.out += struct.pack("<cB", b"\x8c", len(data)) if len(data) < 256 else struct.pack("<cI", b"X", len(data))
        self.out += data + b"\x94"
        self.texts[value] = self.count
        self.count += 1

    def new_text(self, value):
        """A text that is another object each time, as PyTorch makes it: written out each time."""
        if len(value) > 1:
            self.texts.pop(value, None)
        self.text(value)

    def items(self, values, put, one, many):
        for first in range(0, len(values), BATCH):
            batch = values[first:first + BATCH]
            if len(batch) > 1:
                self.out += b"("
            for value in batch:
                put(value)
            self.out += many if len(batch) > 1 else one

    def pair(self, pair):
        self.value(pair[0])
        self.value(pair[1])

    def value(self, value):
        if value is None or isinstance(value, bool):
            self.out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif isinstance(value, int):
            self.number(value)
        elif isinstance(value, float):
            self.out += struct.pack(">cd", b"G", value)
        elif isinstance(value, str):
            self.text(value)
        elif id(value) in self.objects:
            self.fetch(self.objects[id(value)])
        elif isinstance(value, dict):
            self.out += b"}"
            self.memoize(value)
            self.items(list(value.items()), self.pair, b"s", b"u")
        elif isinstance(value, list):
            self.out += b"]"
            self.memoize(value)
            self.items(value, self.value, b"a", b"e")
        elif isinstance(value, tuple) and len(value) == 2:
            self.pair(value)
            self.out += b"\x86"
            self.memoize(value)
        else:
            raise TypeError(f"no plain data: {value!r}")

    def event(self, event):
        """As value(), and notes what the next repetition changes."""
        self.out += b"}"
        self.memoize(event)
        self.out += b"("
        for key, value in event.items():
            self.text(key)
            if key == "addr":
                self.patches.addresses.append((len(self.out), value))
            elif key == "time_us":
                self.patches.times.append((len(self.out), value))
            elif key == "frames" and id(value) in self.objects:
                self.patches.memo.append((len(self.out), self.objects[id(value)]))
            if key in PER_EVENT:
                self.new_text(value)
            else:
                self.value(value)
        self.out += b"u"


class Frames:
    """Writes to the file and cuts what is written into the pickler's frames."""

    def __init__(self, file):
        self.file = file
        self.pending = bytearray()
        file.write(b"\x80\x04")
        self.written = 2

    def put(self, data):
        self.pending += data
        if len(self.pending) >= FRAME:
            self.flush()

    def flush(self):
        if self.pending:
            self.file.write(struct.pack("<cQ", b"\x95", len(self.pending)))
            self.file.write(self.pending)
            self.written += 9 + len(self.pending)
            self.pending = bytearray()


class History:
    """A recorded history with placements of its own: how it begins from nothing, and how it ends."""

    def __init__(self, source, tool, folder):
        """`source`: a loaded snapshot, or the path of a text trace (then there are no frames)."""
        self.source = source if isinstance(source, dict) else None
        trace = os.path.join(folder, "requests.trace")
        self.replayed = os.path.join(folder, "replayed.pickle")
        self.frees = []  # for each free in the order of the trace: its frames; at the end, None
        self.alloc_frames = []
        self.texts = {}
        lines, live = self.requests() if self.source else self.from_trace(source)
        self.open_end = self.replay(tool, trace, lines)
        self.closed = self.replay(tool, trace, lines + [f"f {name}" for name in live] + ["e"])
        self.span = self.place()

    def requests(self):
        """The requests of the snapshot's first history as lines of a text trace, and what stays live."""
        lines, live = [], {}
        recorded = next(trace for trace in self.source["device_traces"] if trace)
        self.texts = {key: recorded[0][key] for key in PER_EVENT if key in recorded[0]}
        for event in recorded:
            address = event["addr"] if "addr" in event else None
            if event["action"] == "alloc":
                live[address] = len(self.alloc_frames)
                lines.append(f"a {len(self.alloc_frames)} {event['size']} {event['stream']}")
                self.alloc_frames.append(event.get("frames", []))
            elif event["action"] == "free_completed" and address in live:
                lines.append(f"f {live.pop(address)}")
                self.frees.append(event.get("frames", []))
        return lines, sorted(live.values())

    @staticmethod
    def from_trace(path):
        with open(path, encoding="ascii") as file:
            lines = [line.rstrip() for line in file]
        lines = [line for line in lines if line[:2] in ("a ", "f ")]
        live = {}
        for line in lines:
            if line[0] == "a":
                live[line.split()[1]] = True
            else:
                del live[line.split()[1]]
        return lines, list(live)

    def replay(self, tool, trace, lines):
        with open(trace, "w", encoding="ascii") as file:
            file.write("\n".join(["ashlar-trace 1"] + lines) + "\n")
        subprocess.run(
            [tool, "replay", "--policy", "faithful", "--out", self.replayed, trace],
            check=True, stdout=subprocess.DEVNULL,
        )
        return load(self.replayed)

    def place(self):
        """Moves everything to the base address; bytes from one repetition to the next."""
        events = self.closed["device_traces"][0]
        mapped = [event for event in events if event["action"] == "segment_alloc"]
        low = min(event["addr"] for event in mapped)
        high = max(event["addr"] + event["size"] for event in mapped)
        for segment in self.open_end["segments"]:
            segment["address"] += ADDRESS_BASE - low
            for block in segment["blocks"]:
                block["address"] += ADDRESS_BASE - low
        for snapshot in (self.open_end, self.closed):
            for event in snapshot["device_traces"][0]:
                event["addr"] += ADDRESS_BASE - low
        return (high - low + GIB - 1) // GIB * GIB

    def add_frames(self, events):
        """Gives the events the frames of their requests. Lists are new, and shared where recorded so."""
        copies = {}
        frames_of = iter(self.alloc_frames)
        freed = iter(self.frees)
        current = last = []
        requested = {}
        for event in events:
            if event["action"] == "alloc":
                current = next(frames_of)
                frames = current
            elif event["action"] == "free_requested":
                last = frames = requested[event["addr"]] = next(freed, last)
            elif event["action"] == "free_completed":
                frames = requested.pop(event["addr"])
            elif event["action"] == "segment_alloc":
                frames = None  # those of the alloc behind it
            else:
                frames = last
            if frames is not None:
                event["frames"] = copies.setdefault(id(frames), list(frames))
        following = []
        for event in reversed(events):
            if event["action"] == "alloc":
                following = event["frames"]
            elif event["action"] == "segment_alloc":
                event["frames"] = following

    def repetition(self, number, has_frames):
        """Events of one repetition, in the order of keys that PyTorch has."""
        events = []
        for index, event in enumerate(self.closed["device_traces"][0]):
            events.append({
                "action": event["action"],
                "addr": event["addr"] + number * self.span,
                "size": event["size"],
                "stream": event["stream"],
                "time_us": TIME_BASE + number * len(self.closed["device_traces"][0]) + index,
                **self.texts,
            })
        if has_frames:
            self.add_frames(events)
        return events

    def final_segments(self, number, events):
        """The segments that the last repetition leaves, its live blocks with the frames of `events`."""
        frames = {event["addr"]: event["frames"] for event in events
                  if event["action"] in ("alloc", "segment_alloc") and "frames" in event}
        segments = []
        for segment in self.open_end["segments"]:
            moved = dict(segment, address=segment["address"] + number * self.span)
            moved["frames"] = frames.get(moved["address"], [])
            moved["blocks"] = []
            for block in segment["blocks"]:
                address = block["address"] + number * self.span
                is_free = block["state"] == "inactive"
                moved["blocks"].append(
                    dict(block, address=address, frames=[] if is_free else frames.get(address, [])))
            segments.append(moved)
        return segments


def advance(data, patches, step, memo_step, span):
    """Makes the bytes of a repetition those of the one `step` after it."""
    for offset, address in patches.addresses:
        data[offset + 2:offset + 8] = (address + step * span).to_bytes(6, "little")
    for offset, time in patches.times:
        data[offset + 2:offset + 9] = (time + step * len(patches.times)).to_bytes(7, "little")
    for offset, index in patches.memo:
        if data[offset:offset + 1] != b"j":
            raise ValueError("the history is too short to be repeated")
        data[offset + 1:offset + 5] = (index + step * memo_step).to_bytes(4, "little")


class Growing:
    """One file being written."""

    def __init__(self, history, has_frames, file):
        self.history = history
        self.has_frames = has_frames
        self.writer = Writer()
        self.frames = Frames(file)
        self.events = 0
        self.allocations = 0
        self.pattern_bytes = 0

    def write_chunks(self, chunks):
        for data in chunks:
            self.frames.put(data)

    def encode(self, events):
        """Chunks of bytes of the events, cut where a frame may end, with their patches."""
        chunks = []
        for first in range(0, len(events), BATCH):
            batch = events[first:first + BATCH]
            self.writer.out += b"("
            for event in batch:
                self.writer.event(event)
                if len(self.writer.out) >= FRAME:
                    chunks.append(self.writer.take())
            self.writer.out += b"e"
        chunks.append(self.writer.take())
        return chunks

    def count(self, events):
        self.events += len(events)
        self.allocations += sum(event["action"] == "alloc" for event in events)

    def write(self, repetitions):
        history, writer = self.history, self.writer
        last = repetitions - 1
        if ADDRESS_BASE + repetitions * history.span > ADDRESS_END:
            raise OverflowError("too many repetitions for the address space")
        ending = history.repetition(last, self.has_frames)[:len(history.open_end["device_traces"][0])]
        writer.out += b"}"
        writer.memoize({})
        writer.out += b"("
        writer.text("segments")
        writer.value(history.final_segments(last, ending))
        writer.text("device_traces")
        writer.out += b"]"
        writer.memoize([])
        writer.out += b"]"
        writer.memoize([])
        self.frames.put(writer.take()[0])
        # The first repetition introduces texts and frames, the second is the pattern of all others.
        if last > 0:
            events = history.repetition(0, self.has_frames)
            self.count(events)
            self.write_chunks(data for data, _ in self.encode(events))
        if last > 1:
            self.repeat(last)
        self.count(ending)
        self.write_chunks(data for data, _ in self.encode(ending))
        writer.out += b"a"
        writer.text("allocator_settings")
        writer.value(history.open_end["allocator_settings"])
        writer.out += b"u."
        self.frames.put(writer.take()[0])
        self.frames.flush()
        return Grown(self.frames.written, self.events, self.allocations, writer.count, repetitions)

    def repeat(self, last):
        """Writes the repetitions from the second to the last but one."""
        before = self.writer.count
        events = self.history.repetition(1, self.has_frames)
        pattern = self.encode(events)
        memo_step = self.writer.count - before
        self.pattern_bytes = sum(len(data) for data, _ in pattern)
        for number in range(1, last):
            for data, patches in pattern:
                advance(data, patches, number - 1, memo_step, self.history.span)
                self.frames.put(data)
            self.count(events)
        self.writer.count = before + memo_step * (last - 1)


def grow(history, has_frames, size, path):
    """Writes a snapshot of at least `size` bytes; what it holds."""
    with open(os.devnull, "wb") as nowhere:
        trial = Growing(history, has_frames, nowhere)
        least = trial.write(3)
    repetitions = 3 + max(0, -(-(size - least.bytes) // trial.pattern_bytes))
    with open(path, "wb") as file:
        return Growing(history, has_frames, file).write(repetitions)
