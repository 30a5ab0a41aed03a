#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the requirements together with what stands behind them.

    check_requirements.py [--root FOLDER] [--strict] [--where ID]

Reads spec/requirements.md, the predicates and labels in the ACSL of spec/ and core/, and the tags in the
comments of tests, fuzzers, oracles and tools. Prints for each requirement how many predicates, contract
clauses, tests, oracles and seeded proof faults it has, then the faults, one a line with its place.

A requirement may be linked and yet say more than its predicates and clauses do: a line `open` names the rest,
and it is not complete.

A fault is a requirement that lacks one of the first four and does not have it planned, a name in the page
that does not exist, a tag or label that names no requirement, and an exception that is only not stated. What
is planned or open is listed; with --strict it is a fault as well. --where prints the places behind one
requirement.

A requirement that comes from a row of the scenarios is covered there: the row is in the table, its comment
names the requirement, and the requirement's evidence names the test of the table; unless the table says why
the row, or a part of it, is not played.

Status: 0 no fault, 1 faults, 2 the page cannot be read.
"""

import argparse
import os
import re
import sys

PAGE = "spec/requirements.md"
ROWS = "tests/scenarios/rows.txt"
ROWS_TEST = "tests/scenarios/rows_test.c"
ASPECTS = ("predicate", "contract", "test", "oracle")
FIELDS = ("predicate", "clause", "why", "from", "except", "open", "evidence", "planned")

HEADING = re.compile(r"^(##|###) (REQ-\S+)\s*$")
IDENTIFIER = re.compile(r"^REQ-[A-Z]+(?:-[a-z0-9]+)?$")
FIELD = re.compile(r"^- ([a-z]+): ?(.*)$")
QUOTED = re.compile(r"`([^`]+)`")
NONE = re.compile(r"^none: \S")
PROVED = re.compile(r"proved(?: for `\w+`)? in (`\w+`(?:, `\w+`)*)")

# Rows of the scenarios: in a line `from`, and in the table, where comments stand before a row or inside it.
SCENARIOS = re.compile(r"\bscenarios? (\d[\d.]*(?:, \d[\d.]*)*)")
ROW = re.compile(r"^row (\S+): ")
LISTED = re.compile(r"^  (?:part D|later|tool): ")

# A label stands before its clause; in a macro over clauses too. A tag may end a sentence.
LABEL = re.compile(r"\b(REQ_\w+)(?=\s*:)")
NAME = re.compile(r"\bREQ[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]+")
SEEDED_LABEL = re.compile(r"REQ_[A-Z]+_[a-z]\w*")
ORACLE = re.compile(r"\bOracle:")
DEFINED = re.compile(r"\b(?:predicate|logic\s+\w+)\s+(\w+)\s*(?=[({=\[])")

C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
HASH_TOKEN = re.compile(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL)
C_FILES = (".c", ".h", ".cc")
HASH_FILES = (".py", ".sh", ".bzl")
TEXT_FILES = (".txt",)  # of tests: tables, whose comments are as in scripts


class Requirement:
    """An entry of the page, and the places that belong to it."""

    def __init__(self, identifier, line):
        self.id = identifier
        self.line = line
        self.statement = ""
        self.fields = {}
        self.places = {aspect: [] for aspect in (*ASPECTS, "seeded")}
        self.exempt = set()

    def is_family_only(self):
        """A heading that has nothing but parts."""
        return not self.fields

    def planned(self):
        words = {word.strip() for word in self.fields.get("planned", "").split(",")} - {""}
        return set(ASPECTS) if words == {"all"} else words

    def is_whole(self):
        """Nothing is planned, and no part of the statement is left unsaid by predicates and clauses."""
        return not self.planned() and not self.fields.get("open", "").strip()

    def keys(self):
        """The beginnings of labels that belong to it."""
        own = [self.id.replace("-", "_")]
        clause = self.fields.get("clause", "")
        return own if NONE.match(clause) else own + QUOTED.findall(clause)


def belongs(name, key):
    return name == key or name.startswith(key + "_")


class Check:
    """All requirements, what was found, and the faults."""

    def __init__(self, root):
        self.root = root
        self.requirements = {}
        self.predicates = {}
        self.labels = {}
        self.faults = []
        self.stale = []
        self.rows = {}

    def fault(self, place, text):
        self.faults.append(f"{place}: {text}")

    # --- reading ---

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as source:
            return source.read()

    def files(self, folder, endings):
        """Files below a folder, by name; a folder that is not there has none."""
        found = []
        for where, folders, names in os.walk(os.path.join(self.root, folder)):
            folders.sort()
            found += [os.path.relpath(os.path.join(where, name), self.root) for name in names if name.endswith(endings)]
        return sorted(found)

    def read_page(self):
        """Entries of the page. Text before the first and behind the last entry's section is free."""
        current = last = None
        for number, line in enumerate(self.read(PAGE).splitlines(), 1):
            place = f"{PAGE}:{number}"
            heading = HEADING.match(line)
            if heading:
                current = self.open_entry(heading.group(1), heading.group(2), number)
                last = None
            elif line.startswith("#"):
                current = None
                if "REQ" in line:
                    self.fault(place, "a heading of a requirement is its identifier alone")
            elif current is not None:
                last = self.read_line(current, line, last, place)

    def open_entry(self, level, identifier, number):
        place = f"{PAGE}:{number}"
        entry = Requirement(identifier, number)
        part = identifier.count("-") == 2
        if not IDENTIFIER.match(identifier) or part != (level == "###"):
            self.fault(place, f"{identifier} is no identifier of this level")
        elif part and identifier.rsplit("-", 1)[0] not in self.requirements:
            self.fault(place, f"{identifier} stands under no family")
        if identifier in self.requirements:
            self.fault(place, f"{identifier} is there twice, first in line {self.requirements[identifier].line}")
            return entry
        self.requirements[identifier] = entry
        return entry

    def read_line(self, entry, line, last, place):
        """One line of an entry; returns the field that a next line may continue."""
        field = FIELD.match(line)
        if field:
            name = field.group(1)
            if name not in FIELDS:
                self.fault(place, f"{entry.id}: no such line: {name}")
            elif name in entry.fields:
                self.fault(place, f"{entry.id}: a second line {name}")
            entry.fields[name] = field.group(2)
            return name
        if last is not None and line.startswith("  "):
            entry.fields[last] += " " + line.strip()
            return last
        if line.startswith("- "):
            self.fault(place, f"{entry.id}: a line without name")
        elif line.strip() and not line.startswith("|"):
            entry.statement += line + "\n"
        return None

    def read_sources(self):
        self.rows = self.read_rows()
        for path in self.files("spec", ".h"):
            text = self.read(path)
            for found in DEFINED.finditer(text):
                self.predicates.setdefault(found.group(1), place_of(path, text, found.start()))
        for path in self.files("spec", C_FILES) + self.files("core", C_FILES):
            is_model = path.startswith("spec/model/")
            text = self.read(path)
            if not is_model:
                for found in LABEL.finditer(text):
                    self.take_label(found.group(1), place_of(path, text, found.start()))
            self.take_tags(path, text, "oracle" if is_model else None)
        for path in self.files("spec/model", HASH_FILES) + self.files("fuzz", C_FILES + HASH_FILES):
            self.take_tags(path, self.read(path), "oracle")
        for path in self.files("tests", C_FILES + HASH_FILES + TEXT_FILES):
            self.take_tags(path, self.read(path), "test")
        for folder in ("tools", "cuda"):
            for path in self.files(folder, C_FILES + HASH_FILES):
                self.take_tags(path, self.read(path), None)
        for path in self.files("proofs", ("BUILD", *HASH_FILES)):
            text = self.read(path)
            for found in SEEDED_LABEL.finditer(text):
                self.credit(found.group(0), "seeded", place_of(path, text, found.start()))

    # --- linking ---

    def owners(self, name):
        """The requirements that a name belongs to: those with the longest matching key."""
        matches = [
            (len(key), entry)
            for entry in self.requirements.values()
            for key in entry.keys()
            if belongs(name, key)
        ]
        longest = max((length for length, _ in matches), default=0)
        return [entry for length, entry in matches if length == longest]

    def credit(self, name, aspect, place):
        """Gives a place to the requirements that it names; aspect None only checks the name."""
        found = self.owners(name.replace("-", "_"))
        exact = name.replace("_", "-") in self.requirements
        if not found or (found[0].is_family_only() and not exact):
            self.fault(place, f"{name} names no requirement")
            return
        for entry in found:
            if aspect is not None and place not in entry.places[aspect]:
                entry.places[aspect].append(place)

    def take_label(self, label, place):
        self.labels.setdefault(label, []).append(place)
        self.credit(label, "contract", place)

    def take_tags(self, path, text, aspect):
        """Tags in comments. Behind `Oracle:`, to the end of the comment, they are of an oracle."""
        for start, comment in comments(path, text):
            is_acsl = comment[2:3] == "@"
            oracle = ORACLE.search(comment)
            for found in NAME.finditer(comment):
                if is_acsl and found.group(0).startswith("REQ_"):
                    continue  # a label, read by itself
                is_oracle = oracle and oracle.start() < found.start()
                kind = "oracle" if is_oracle else aspect
                self.credit(found.group(0), kind, place_of(path, text, start + found.start()))

    def read_rows(self):
        """number -> (requirements that its comments name, whether it is played, whether something is left out)."""
        rows = {}
        tags = set()
        number = None
        try:
            lines = self.read(ROWS).splitlines()
        except FileNotFoundError:
            return rows
        for line in lines:
            row = ROW.match(line)
            if row:
                number = row.group(1)
                rows[number] = (tags, False, False)
                tags = set()
            elif not line.strip():
                tags = set()
            elif line.startswith("#"):
                tags |= {name.replace("_", "-") for name in NAME.findall(line)}
            elif number is not None:
                covered, played, listed = rows[number]
                if line.lstrip().startswith("#"):
                    covered |= {name.replace("_", "-") for name in NAME.findall(line)}
                rows[number] = (covered, played or line.startswith("  play"), listed or bool(LISTED.match(line)))
        return rows

    # --- judging ---

    def judge(self):
        families = {identifier.rsplit("-", 1)[0] for identifier in self.requirements if identifier.count("-") == 2}
        for entry in self.requirements.values():
            place = f"{PAGE}:{entry.line}"
            if not entry.statement.strip():
                self.fault(place, f"{entry.id} says nothing")
            if entry.is_family_only():
                if entry.id not in families:
                    self.fault(place, f"{entry.id} has neither lines nor parts")
                continue
            self.judge_names(entry, place)
            self.judge_lines(entry, place)
            self.judge_scenarios(entry, place)
            self.judge_links(entry, place)

    def judge_names(self, entry, place):
        """Predicates, clauses, modules and files that the entry names exist."""
        predicate = entry.fields.get("predicate", "")
        if NONE.match(predicate):
            entry.exempt.add("predicate")
        for name in [] if NONE.match(predicate) else QUOTED.findall(predicate):
            if name in self.predicates:
                entry.places["predicate"].append(self.predicates[name])
            else:
                self.fault(place, f"{entry.id}: there is no predicate {name} in spec/*.h")
        clause = entry.fields.get("clause", "")
        if NONE.match(clause):
            entry.exempt.add("contract")
        for name in [] if NONE.match(clause) else QUOTED.findall(clause):
            places = [place for label, found in self.labels.items() if belongs(label, name) for place in found]
            entry.places["contract"] += [place for place in places if place not in entry.places["contract"]]
            if not places:
                self.fault(place, f"{entry.id}: there is no clause {name}")
        evidence = entry.fields.get("evidence", "")
        for name in QUOTED.findall(evidence):
            if "/" in name and not os.path.exists(os.path.join(self.root, name)):
                self.fault(place, f"{entry.id}: there is no file {name}")
        modules = self.modules()
        for proved in PROVED.finditer(evidence):
            for name in QUOTED.findall(proved.group(1)):
                if name not in modules:
                    self.fault(place, f"{entry.id}: no module {name} is proved")

    def modules(self):
        try:
            lines = self.read("proofs/goals.txt").splitlines()
        except OSError:
            return set()
        return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}

    def judge_lines(self, entry, place):
        required = ["why", "from"] + ([] if entry.planned() == set(ASPECTS) else ["evidence"])
        for name in required:
            if not entry.fields.get(name, "").strip():
                self.fault(place, f"{entry.id}: no line {name}")
        if re.search(r"\b[Ss]tated\b", entry.fields.get("except", "")):
            self.fault(place, f"{entry.id}: what is not stated is no exception; a line open names it")
        for word in sorted(entry.planned() - set(ASPECTS)):
            self.fault(place, f"{entry.id}: {word} cannot be planned")

    def judge_scenarios(self, entry, place):
        """The rows that the entry comes from cover it."""
        covered = False
        for found in SCENARIOS.finditer(entry.fields.get("from", "")):
            for number in found.group(1).rstrip(".").split(", "):
                if number not in self.rows:
                    self.fault(place, f"{entry.id}: there is no row {number} in {ROWS}")
                    continue
                tags, played, listed = self.rows[number]
                covered = covered or (played and entry.id in tags)
                if entry.id not in tags and not listed:
                    self.fault(place, f"{entry.id}: row {number} does not cover it")
        if covered and f"`{ROWS_TEST}`" not in entry.fields.get("evidence", ""):
            self.fault(place, f"{entry.id}: a row covers it, and its evidence does not name {ROWS_TEST}")

    def judge_links(self, entry, place):
        for aspect in ASPECTS:
            there = bool(entry.places[aspect]) or aspect in entry.exempt
            if not there and aspect not in entry.planned():
                self.fault(place, f"{entry.id} has no {aspect}")
            if there and aspect in entry.planned():
                self.stale.append(f"{place}: {entry.id}: {aspect} is planned and there")

    # --- telling ---

    def table(self):
        """One line a requirement. `-`: planned, `none`: cannot exist and the page says why."""
        heads = ("predicate", "contract", "test", "oracle", "seeded")
        entries = [entry for entry in self.requirements.values() if not entry.is_family_only()]
        width = max((len(entry.id) for entry in entries), default=0)
        lines = [f"{'requirement':{width}}  " + "  ".join(f"{head:>9}" for head in heads)]
        for entry in entries:
            cells = []
            for head in heads:
                count = len(entry.places[head])
                cell = str(count)
                if count == 0:
                    cell = "none" if head in entry.exempt else "-" if head in entry.planned() else cell
                cells.append(f"{cell:>9}")
            lines.append(f"{entry.id:{width}}  " + "  ".join(cells))
        return lines

    def totals(self):
        entries = [entry for entry in self.requirements.values() if not entry.is_family_only()]
        whole = [entry for entry in entries if entry.is_whole()]
        nothing = [entry for entry in entries if entry.planned() == set(ASPECTS)]
        exempt = sum(len(entry.exempt) for entry in entries)
        return (
            f"{len(entries)} requirements: {len(whole)} complete, {len(entries) - len(whole) - len(nothing)} planned "
            f"in part, {len(nothing)} planned; {exempt} links that cannot exist; {len(self.faults)} faults"
        )

    def plans(self):
        for entry in self.requirements.values():
            if not entry.is_whole():
                words = [aspect for aspect in ASPECTS if aspect in entry.planned()]
                words += ["the rest of the statement"] if entry.fields.get("open", "").strip() else []
                yield f"{entry.id}: " + ("all" if words == list(ASPECTS) else ", ".join(words))

    def where(self, identifier):
        entry = self.requirements[identifier]
        yield f"{identifier}  {PAGE}:{entry.line}"
        for aspect, places in entry.places.items():
            for place in places:
                yield f"  {aspect:9}  {place}"


def place_of(path, text, position):
    return f"{path}:{text.count(chr(10), 0, position) + 1}"


def comments(path, text):
    """(position, text) of each comment; strings are passed over. Successive line comments are one."""
    token = C_TOKEN if path.endswith(C_FILES) else HASH_TOKEN
    run = None
    for found in token.finditer(text):
        body = found.group(0)
        if not body.startswith(("/", "#")):
            continue
        if body.startswith("/*"):
            yield found.start(), body
        elif run and not text[run[1] : found.start()].strip() and text.count("\n", run[1], found.start()) == 1:
            run = (run[0], found.end())
        else:
            if run:
                yield run[0], text[run[0] : run[1]]
            run = (found.start(), found.end())
    if run:
        yield run[0], text[run[0] : run[1]]


def main(arguments):
    parser = argparse.ArgumentParser(description="Holds the requirements together with what stands behind them.")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    parser.add_argument("--strict", action="store_true", help="what is planned is a fault")
    parser.add_argument("--where", metavar="ID", help="print the places behind one requirement")
    options = parser.parse_args(arguments)
    check = Check(options.root)
    try:
        check.read_page()
        check.read_sources()
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_requirements: {error}", file=sys.stderr)
        return 2
    check.judge()
    plans = list(check.plans())
    if options.where is not None:
        if options.where not in check.requirements:
            print(f"check_requirements: {options.where} names no requirement", file=sys.stderr)
            return 2
        print("\n".join(check.where(options.where)))
        return 0
    if not check.requirements:
        check.fault(PAGE, "there is no requirement")
    if options.strict:
        check.faults += [f"{PAGE}: planned: {plan}" for plan in plans] + check.stale
    print("\n".join(check.table()))
    for title, lines in (("planned", plans), ("no longer to be planned", check.stale), ("faults", check.faults)):
        if lines:
            print(f"\n{title}:\n  " + "\n  ".join(lines))
    print("\n" + check.totals())
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
