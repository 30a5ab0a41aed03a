# SPDX-License-Identifier: BSD-3-Clause
"""What an export of llvm-cov leaves uncovered, and the list of what cannot be covered.

A gap is a line that did not run (`lines`), a condition that was never true or never false (`true`, `false`), or one that
was both and yet never decided alone (`alone`, MC/DC). A condition that lacks a side cannot decide alone; that follows from
the side and is neither reported nor listed besides.

The list has one entry after another, with an empty line between; `#` begins a comment line:

    core/pool.c retain_pool
      | if (m->uses == UINT32_MAX) {
      |   return ASHLAR_ERROR_POOL_USES;
      | }
      true: m->uses == UINT32_MAX
      lines
      reason: why no test can do this,
        on as many lines as it takes

The quoted lines stand one behind the other in that function, and nowhere in it a second time. Below them are the gaps
there: `lines` are all lines among the quoted ones that did not run, the others name a condition by its text.
"""

import collections
import json
import re

MEASURES = ("lines", "branches", "conditions")
SIDES = ("true", "false")

# Positions in the arrays of the export.
TRUE_COUNT, FALSE_COUNT, BRANCH_FILE, BRANCH_KIND = 4, 5, 6, 8
REGION_FILE = 5
RECORD_CONDITIONS = 6
CONDITION = 6  # kind of a branch that is a condition of a decision with MC/DC

SUMMARY = {"branches": "branches", "conditions": "mcdc"}

HEAD = re.compile(r"^(\S+) (\w+)$")
FIELD = re.compile(r"^  (?:\| ?(?P<quoted>.*)|(?P<side>true|false|alone): (?P<text>.+)|(?P<lines>lines)|reason: (?P<reason>.+))$")

MEASURE_OF = {"lines": "lines", "true": "branches", "false": "branches", "alone": "conditions"}

Gap = collections.namedtuple("Gap", "file function line column kind text")


class Unusable(Exception):
    """An export or a list that cannot be understood."""


class File:
    """What is covered of a file: for each measure how many are, and how many there are."""

    def __init__(self):
        self.covered = dict.fromkeys(MEASURES, 0)
        self.total = dict.fromkeys(MEASURES, 0)

    def count(self, measure, covered):
        self.total[measure] += 1
        self.covered[measure] += covered


class Function:
    """Where a function stands."""

    def __init__(self, file, name, first, last):
        self.file, self.name, self.first, self.last = file, name, first, last


def place_of(gap):
    return gap.file, gap.line, gap.column


def squeeze(text):
    """Text with its white space made one blank each, so that how a line is broken does not matter."""
    return " ".join(text.split())


def text_between(lines, place):
    """The source text from line and column to line and column, the last one not included."""
    first, start, last, end = place
    if first == last:
        return squeeze(lines[first - 1][start - 1 : end - 1])
    return squeeze(" ".join([lines[first - 1][start - 1 :], *lines[first : last - 1], lines[last - 1][: end - 1]]))


# --- reading an export ---


def read_lines(lcov):
    """File -> line -> how often it ran."""
    files = {}
    counts = None
    for row in lcov.splitlines():
        key, _, value = row.partition(":")
        if key == "SF":
            counts = files.setdefault(value, {})
        elif key == "DA":
            line, count = value.split(",")[:2]
            counts[int(line)] = int(count)
    return files


def conditions_of(record, branches):
    """The conditions of a decision, in the order in which its record has them."""
    begin, end = tuple(record[0:2]), tuple(record[2:4])
    inside = [
        branch for branch in branches
        if branch[BRANCH_KIND] == CONDITION and begin <= tuple(branch[0:2]) and tuple(branch[2:4]) <= end
    ]
    if len(inside) != len(record[RECORD_CONDITIONS]):
        raise Unusable(f"line {record[0]}: a decision of {len(record[RECORD_CONDITIONS])} conditions has {len(inside)} branches")
    return sorted(inside)


class Export:
    """The files and functions of an export, what is covered of each file, the gaps, and those that follow from others.

    sources gives the lines of a file by the name that the export has for it.
    """

    def __init__(self, exported, lcov, sources):
        data = json.loads(exported)
        if data.get("type") != "llvm.coverage.json.export" or not data["version"].startswith("2."):
            raise Unusable("this is no export of llvm-cov that this script knows")
        self.sources = sources
        self.files = {}
        self.functions = []
        self.gaps = []
        for function in data["data"][0]["functions"]:
            self._add_function(function)
        # A header without functions has lines too, those of macros that are used elsewhere.
        for name, counts in read_lines(lcov).items():
            if name in self.files:
                self._add_lines(name, counts)
        self.gaps.sort(key=lambda gap: (gap.file, gap.line, gap.column, gap.kind))
        lacking = {place_of(gap) for gap in self.gaps if gap.kind in SIDES}
        self.following = [gap for gap in self.gaps if gap.kind == "alone" and place_of(gap) in lacking]
        self.gaps = [gap for gap in self.gaps if gap not in self.following]
        self._compare_with_summary(data["data"][0]["files"])

    def _add_function(self, data):
        name = data["name"].rpartition(":")[2]
        bodies = [region for region in data["regions"] if region[REGION_FILE] == 0]
        here = Function(
            data["filenames"][0], name, min(region[0] for region in bodies), max(region[2] for region in bodies)
        )
        self.functions.append(here)
        for branch in data["branches"]:
            if branch[BRANCH_FILE] != 0:
                raise Unusable(f"{here.file}: {name}: a condition in a macro cannot be told from its other uses")
        file = self.files.setdefault(here.file, File())
        for branch in data["branches"]:
            for side, count in zip(SIDES, branch[TRUE_COUNT : FALSE_COUNT + 1]):
                file.count("branches", count > 0)
                if count == 0:
                    self._add_gap(here, branch, side)
        for record in data["mcdc_records"]:
            conditions = conditions_of(record, data["branches"])
            for condition, alone in zip(conditions, record[RECORD_CONDITIONS]):
                file.count("conditions", alone)
                if not alone:
                    self._add_gap(here, condition, "alone")

    def _add_gap(self, function, branch, kind):
        text = text_between(self.sources(function.file), branch[0:4])
        self.gaps.append(Gap(function.file, function.name, branch[0], branch[1], kind, text))

    def _add_lines(self, name, counts):
        file = self.files[name]
        lines = self.sources(name)
        for line, count in counts.items():
            file.count("lines", count > 0)
            if count == 0:
                function = self.function_at(name, line)
                self.gaps.append(Gap(name, function.name, line, 0, "lines", squeeze(lines[line - 1])))

    def function_at(self, file, line):
        for function in self.functions:
            if function.file == file and function.first <= line <= function.last:
                return function
        raise Unusable(f"{file}:{line}: a line of code in no function")

    def _compare_with_summary(self, files):
        """What this script counts is what llvm-cov counts; else it has misread the export. Lines it has not counted itself."""
        for data in files:
            file = self.files.get(data["filename"], File())
            for measure, key in SUMMARY.items():
                summary = data["summary"][key]
                if (file.covered[measure], file.total[measure]) != (summary["covered"], summary["count"]):
                    raise Unusable(
                        f"{data['filename']}: {file.covered[measure]} of {file.total[measure]} {measure},"
                        f" llvm-cov has {summary['covered']} of {summary['count']}"
                    )


# --- the list of what cannot be covered ---


class Entry:
    """What is not covered of a few lines of a function, and why it cannot be."""

    def __init__(self, line, file, function):
        self.line, self.file, self.function = line, file, function
        self.quoted = []
        self.gaps = []  # kind and text
        self.reason = ""


def read_list(text):
    """The entries of the list."""
    entries = []
    entry = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            continue
        if not line.strip():
            entry = None
            continue
        head = HEAD.match(line)
        if entry is None and head:
            entry = Entry(number, *head.groups())
            entries.append(entry)
            continue
        field = FIELD.match(line)
        if entry is None:
            raise Unusable(f"line {number}: an entry begins with a file and a function")
        if field is None and entry.reason and line.startswith("    "):
            entry.reason += " " + line.strip()
        elif field is None or entry.reason:
            raise Unusable(f"line {number}: this is nothing that an entry has here: {line}")
        elif field["quoted"] is not None:
            entry.quoted.append(squeeze(field["quoted"]))
        elif field["reason"]:
            entry.reason = field["reason"]
        else:
            entry.gaps.append(("lines", "") if field["lines"] else (field["side"], squeeze(field["text"])))
    for entry in entries:
        if not entry.quoted or not entry.gaps or not entry.reason:
            raise Unusable(f"line {entry.line}: an entry has quoted lines, what is not covered of them, and a reason")
    return entries


def find_quoted(entry, lines, first, last):
    """The line where the quoted lines begin, between two lines of a file."""
    many = len(entry.quoted)
    squeezed = [squeeze(line) for line in lines]
    found = [at for at in range(first, last - many + 2) if squeezed[at - 1 : at - 1 + many] == entry.quoted]
    if len(found) != 1:
        raise Unusable(f"line {entry.line}: the quoted lines are {len(found)} times in {entry.function} of {entry.file}")
    return found[0]


def match_entry(entry, export):
    """The gaps that an entry explains."""
    functions = [one for one in export.functions if (one.file, one.name) == (entry.file, entry.function)]
    if len(functions) != 1:
        raise Unusable(f"line {entry.line}: there is no {entry.function} in {entry.file}")
    start = find_quoted(entry, export.sources(entry.file), functions[0].first, functions[0].last)
    there = [
        gap for gap in export.gaps
        if (gap.file, gap.function) == (entry.file, entry.function) and start <= gap.line < start + len(entry.quoted)
    ]
    explained = []
    for kind, text in entry.gaps:
        matching = [gap for gap in there if gap.kind == kind and (kind == "lines" or gap.text == text)]
        if not matching:
            raise Unusable(f"line {entry.line}: covered, or it follows from another: {kind}: {text}".removesuffix(": "))
        if kind != "lines" and len(matching) > 1:
            raise Unusable(f"line {entry.line}: the quoted lines have more than one {kind}: {text}")
        explained += matching
    return explained


class Judgement:
    """The gaps of an export that the list explains, those that it does not, and faults of the list."""

    def __init__(self, export, entries):
        self.export = export
        self.explained = []
        self.faults = []
        for entry in entries:
            try:
                self._add(entry)
            except Unusable as cause:
                self.faults.append(str(cause))
        self.open = [gap for gap in export.gaps if gap not in self.explained]
        excused = {place_of(gap) for gap in self.explained if gap.kind in SIDES}
        self.explained += [gap for gap in export.following if place_of(gap) in excused]

    def _add(self, entry):
        for gap in match_entry(entry, self.export):
            if gap in self.explained:
                raise Unusable(f"line {entry.line}: explained before: {gap.kind} {gap.text}")
            self.explained.append(gap)

    def clean(self):
        return not self.open and not self.faults

    def figures(self, name=None):
        """Of each measure, in one file or in all: how many are covered, explained, there."""
        files = [file for key, file in self.export.files.items() if name in (None, key)]
        return {
            measure: (
                sum(file.covered[measure] for file in files),
                sum(MEASURE_OF[gap.kind] == measure for gap in self.explained if name in (None, gap.file)),
                sum(file.total[measure] for file in files),
            )
            for measure in MEASURES
        }

    def report(self):
        """The figures of each file, then what is open and what is wrong with the list."""
        rows = [("", *MEASURES)]
        for name in [*sorted(self.export.files), None]:
            figures = self.figures(name)
            cells = [f"{covered}/{there}" + (f" ({listed})" if listed else "") for covered, listed, there in figures.values()]
            rows.append((name or "all", *cells))
        widths = [max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]))]
        text = ["".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        text.append("(in brackets: listed as unreachable)")
        for gap in self.open:
            text.append(f"{gap.file}:{gap.line}: {gap.function}: not covered: {gap.kind}: {gap.text}")
        text += [f"list of the unreachable: {fault}" for fault in self.faults]
        return "\n".join(text)
