#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes spec/groups.h: for each module's invariant one predicate that is the conjunction of its clauses.

Functions that only hand a state on prove at once with one name for it; the clauses are needed where the state changes. The
clauses stay where they are, in the macros of the other headers; here they are only put together. Run it after a clause
has changed: spec/make_groups.py [--check]
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SIZES = {
    "ASHLAR_STREAMS": "256",
    "ASHLAR_STATES": "7",
    "ASHLAR_POOL_NUMBERS": "65",
    "ASHLAR_POOL_CLASSES": "130",
}
# predicate, macro of its clauses, macro that names it
GROUPS = [
    ("blocks_state", "BLOCK_CLAUSES", "BLOCKS_STATE"),
    ("map_state", "MAP_CLAUSES", "MAP_STATE"),
    ("uses_state", "USES_CLAUSES", "USES_STATE"),
    ("pools_state", "POOL_CLAUSES", "POOLS_STATE"),
    ("streams_state", "STREAM_CLAUSES", "STREAMS_STATE"),
]
HEADERS = ["address_map", "block_table", "free_index", "pool", "stream_table", "stream_use"]
WIDTH = 118


def manager_fields():
    """Type and array size of each field of the manager."""
    with open(os.path.join(ROOT, "core", "manager.h"), encoding="utf-8") as header:
        text = header.read()
    text = re.sub(r"/\*.*?\*/", "", text[text.index("struct ashlar_manager {"):], flags=re.DOTALL)
    fields = {}
    for kind, name, size in re.findall(r"(u?int\d+_t)\s+(\w+)\s*(?:\[(\w+)\])?\s*;", text):
        fields[name] = (kind, SIZES.get(size, size))
    return fields


def clauses_of(macro):
    """The predicates of a macro of clauses, as they are written for `m`."""
    stub = "".join(f'#include "spec/{name}.h"\n' for name in HEADERS) + f"BEGIN {macro}(@@) END\n"
    text = subprocess.run(
        ["gcc", "-E", "-P", "-I.", "-"], input=stub, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
    ).stdout
    body = text[text.index("BEGIN") + 5:text.rindex("END")]
    return [re.sub(r"\s+", " ", one.strip()) for one in re.findall(r"@@\s*\w+:\s*(.*?);", body, re.DOTALL)]


def wrapped(start, items, end, tail=""):
    """The items, separated by commas, in lines of bounded width."""
    lines, line = [], start
    for number, item in enumerate(items):
        piece = item + (", " if number < len(items) - 1 else end)
        if len(line) + len(piece.rstrip()) > WIDTH - len(tail):
            lines.append(line.rstrip())
            line = "    "
        line += piece
    return (tail + "\n").join(lines + [line])


def group(fields, predicate, macro, name):
    clauses = clauses_of(macro)
    used = []
    for clause in clauses:
        for field in re.findall(r"m\s*->\s*(\w+)", clause):
            if field not in used:
                used.append(field)
    parameters = []
    for field in used:
        kind, size = fields[field]
        parameters.append(f"{kind} {field}[{size}]" if size else f"integer {field}")
    text = "/*@\n" + wrapped(f"  predicate {predicate}(", parameters, ") =") + "\n"
    text += " &&\n".join("    " + re.sub(r"m\s*->\s*", "", clause) for clause in clauses) + ";\n*/\n"
    text += "// clang-format off\n"
    text += wrapped(f"#define {name} {predicate}(", ["m->" + field for field in used], ")", " \\") + "\n"
    return text + "// clang-format on\n\n"


def generated():
    fields = manager_fields()
    text = """/* groups.h (ACSL only) - the invariant of each module as one predicate: the conjunction of its clauses.
 *
 * Written by spec/make_groups.py. A predicate takes the arrays and not the manager: then a write to any other field leaves
 * it as it is by syntax.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_GROUPS_H
#define ASHLAR_SPEC_GROUPS_H

"""
    text += "".join(f'#include "spec/{name}.h"\n' for name in HEADERS) + "\n"
    text += "".join(group(fields, *one) for one in GROUPS)
    return text + "#endif\n"


def main(arguments):
    path = os.path.join(HERE, "groups.h")
    text = generated()
    if arguments == ["--check"]:
        with open(path, encoding="utf-8") as header:
            if header.read() != text:
                print("spec/groups.h is not what spec/make_groups.py writes", file=sys.stderr)
                return 1
        return 0
    with open(path, "w", encoding="utf-8") as header:
        header.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
