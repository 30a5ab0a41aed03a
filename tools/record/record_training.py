#!/usr/bin/env python3
"""Records the memory history of a small transformer's training as an Ashlar trace.

Trains on the CPU under torch.profiler and writes every allocation and every release that PyTorch's
CPU allocator reported, in order, in the text form of spec/trace-format.md. README.md beside this
file says how to run it.

SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import collections
import datetime
import platform
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

SEED = 20260
VOCABULARY = 8192
WIDTH = 256
HEADS = 4
LAYERS = 4
FEED_FORWARD = 1024
DROPOUT = 0.1
LEARNING_RATE = 3e-4
CLIP_NORM = 1.0
LONGEST = 160

# (sequences, tokens a sequence) of each training step. They differ on purpose: the activations of
# a step then do not fit the holes that the step before has left.
STEPS = [(4, 96), (8, 128), (2, 160), (6, 64), (8, 112)]
VALIDATION = (3, 144)

MARK = "ashlar:"  # prefix of the profiler ranges that become markers of the trace


class SmallTransformer(nn.Module):
    """A causal language model: embeddings, pre-norm encoder layers, untied output projection."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, FEED_FORWARD, DROPOUT, activation="gelu", batch_first=True,
            norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, text):
        length = text.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        hidden = self.tokens(text) + self.places(torch.arange(length))
        hidden = self.layers(hidden, mask=mask, is_causal=True)
        return self.output(self.norm(hidden))


def make_batch(sequences, length):
    """Counting sequences with a random start and stride: something that can be learnt."""
    start = torch.randint(VOCABULARY, (sequences, 1))
    stride = torch.randint(1, 5, (sequences, 1))
    text = (start + stride * torch.arange(length + 1)) % VOCABULARY
    return text[:, :-1], text[:, 1:]


def loss_of(model, shape):
    text, target = make_batch(*shape)
    logits = model(text)
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


def marked(name):
    return record_function(MARK + name)


def train(losses):
    """Builds the model and trains it. Returns what must stay alive until recording has ended."""
    with marked("build"):
        model = SmallTransformer()
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for number, shape in enumerate(STEPS, start=1):
        with marked(f"step-{number}-forward"):
            loss = loss_of(model, shape)
        with marked(f"step-{number}-backward"):
            loss.backward()
        with marked(f"step-{number}-optimizer"):
            nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    with marked("validation"), torch.no_grad():
        model.eval()
        losses.append(loss_of(model, VALIDATION).item())
    return model, optimizer


def in_order(roots):
    """All profiler events by start; events of equal start keep their order in the tree."""
    events = []
    waiting = list(reversed(roots))
    while waiting:
        event = waiting.pop()
        events.append(event)
        waiting.extend(reversed(event.children))
    return sorted(events, key=lambda event: event.start_time_ns)


class Conversion:
    """Turns memory events, named by address, into trace operations, named by number."""

    def __init__(self):
        self.lines = []
        self.live = {}  # address -> (id, bytes)
        self.sizes = []
        self.frees = 0
        self.bytes = 0
        self.peak = 0
        self.unknown_frees = 0

    def mark(self, name):
        self.lines.append(f"s {name}")

    def memory(self, address, size, profiler_total):
        if size > 0:
            if address in self.live:
                raise ValueError(f"{address:#x} allocated twice without a release between")
            number = len(self.sizes)
            self.live[address] = (number, size)
            self.sizes.append(size)
            self.lines.append(f"a {number} {size}")
        elif address in self.live:
            number, allocated = self.live.pop(address)
            if allocated != -size:
                raise ValueError(f"{address:#x}: {allocated} bytes allocated, {-size} released")
            self.frees += 1
            self.lines.append(f"f {number}")
        else:
            # Live before the recording began. Its allocation was not seen, so neither is this.
            self.unknown_frees += 1
            return
        self.bytes += size
        self.peak = max(self.peak, self.bytes)
        # The profiler counts by itself. A sum that differs shows an event that is missing, doubled
        # or out of order.
        if self.bytes != profiler_total:
            raise ValueError(
                f"after {len(self.lines)} lines: {self.bytes} bytes live, profiler {profiler_total}")


def convert(events):
    conversion = Conversion()
    for event in events:
        if str(event.tag).endswith("Allocation"):
            fields = event.extra_fields
            if fields.device.type != "cpu":
                raise ValueError(f"memory event on {fields.device}")
            conversion.memory(fields.ptr, fields.alloc_size, fields.total_allocated)
        elif event.name.startswith(MARK):
            conversion.mark(event.name[len(MARK):])
    return conversion


def notes(conversion):
    shapes = ", ".join(f"{batch}x{length}" for batch, length in STEPS)
    left = sum(size for _, size in conversion.live.values())
    return [
        "Training of a small transformer on the CPU: what PyTorch's allocator was asked for.",
        f"recorded {datetime.date.today().isoformat()} by tools/record/record_training.py, "
        f"seed {SEED}",
        f"torch {torch.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, one thread, float32",
        f"model: causal, {LAYERS} layers, width {WIDTH}, {HEADS} heads, feed-forward "
        f"{FEED_FORWARD}, vocabulary {VOCABULARY}, dropout {DROPOUT}",
        f"{len(STEPS)} steps of Adam, sequences x tokens: {shapes}; then a validation pass, "
        f"{VALIDATION[0]}x{VALIDATION[1]}",
        f"sizes {min(conversion.sizes)} to {max(conversion.sizes)} bytes; live at the end: "
        f"{len(conversion.live)} allocations, {left} bytes (weights, Adam's moments)",
        "Sizes are as requested, before any rounding. No streams, no empty-cache calls.",
    ]


def write(path, conversion):
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write("ashlar-trace 1\n")
        for note in notes(conversion):
            out.write(f"# {note}\n")
        out.write(f"allocations {len(conversion.sizes)}\n")
        out.write(f"frees {conversion.frees}\n")
        out.write(f"peak {conversion.peak}\n")
        for line in conversion.lines:
            out.write(line + "\n")


def report(conversion, losses):
    classes = collections.Counter()
    for size in conversion.sizes:
        classes["up to 1 MiB" if size <= 2**20 else
                "above 1 MiB, below 10 MiB" if size < 10 * 2**20 else "10 MiB and more"] += 1
    print(f"{len(conversion.sizes)} allocations, {conversion.frees} frees, "
          f"peak {conversion.peak} bytes, {len(conversion.live)} live at the end")
    print("sizes: " + "; ".join(f"{name}: {count}" for name, count in classes.items()))
    print(f"releases of addresses unknown to the recording, left out: {conversion.unknown_frees}")
    print("loss: " + " ".join(f"{loss:.3f}" for loss in losses))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("output", help="trace to write")
    arguments = parser.parse_args()
    # One thread: with several, the order of the events of different threads is the clock's.
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    losses = []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        kept = train(losses)
    events = in_order(profiler.profiler.kineto_results.experimental_event_tree())
    del kept
    conversion = convert(events)
    write(arguments.output, conversion)
    report(conversion, losses)
    return 0


if __name__ == "__main__":
    sys.exit(main())
