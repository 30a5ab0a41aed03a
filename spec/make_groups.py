#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes spec/groups.h, for each module's invariant one predicate that is the conjunction of its clauses; and spec/whole.h,
one for the state of a manager.

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
WHOLE = ("whole", "WHOLE_CLAUSES", "WHOLE_STATE")
WHOLE_HEADERS = ["groups", "pending", "reclaim"]
WIDTH = 118

PREAMBLE = """/* {name}.h (ACSL only) - {what}
 *
 * Written by spec/make_groups.py. A predicate takes the arrays and not the manager: then a write to any other field leaves
 * it as it is by syntax.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASHLAR_SPEC_{guard}_H
#define ASHLAR_SPEC_{guard}_H

"""
WHOLE_MACROS = """// clang-format off
#define WHOLE_CLAUSES(K) PENDING_INVARIANT(K, -1) K pools: POOLS_STATE; K streams: STREAMS_STATE; \\
  K counts: segments_counted(m->segments_created, m->stream_segments, m->pool_segments); \\
  K homes: homes_listed(m->top, m->state, m->home, m->stream_count); \\
  K ages: ages_valid(m->top, m->state, m->home, m->entered, m->pool_searches); \\
  K taken: none_taken(m->top, m->state);
#define REQUIRES_WHOLE requires whole: WHOLE_STATE; requires settings: page_allowed(m->config.large_segment_size);
#define ENSURES_WHOLE ensures whole: WHOLE_STATE;
// clang-format on

"""


def manager_fields():
    """Type and array size of each field of the manager."""
    with open(os.path.join(ROOT, "core", "manager.h"), encoding="utf-8") as header:
        text = header.read()
    text = re.sub(r"/\*.*?\*/", "", text[text.index("struct ashlar_manager {"):], flags=re.DOTALL)
    fields = {}
    for kind, name, size in re.findall(r"(u?int\d+_t)\s+(\w+)\s*(?:\[(\w+)\])?\s*;", text):
        fields[name] = (kind, SIZES.get(size, size))
    return fields


def clauses_of(macro, headers):
    """The predicates of a macro of clauses, as they are written for `m`."""
    source = "".join(f'#include "spec/{name}.h"\n' for name in headers)
    source += (WHOLE_MACROS if macro == WHOLE[1] else "") + f"BEGIN {macro}(@@) END\n"
    text = subprocess.run(
        ["gcc", "-E", "-P", "-I.", "-"], input=source, text=True, stdout=subprocess.PIPE, cwd=ROOT, check=True
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


def group(fields, headers, predicate, macro, name):
    clauses = clauses_of(macro, headers)
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
    text += " &&\n".join(conjunct(clause) for clause in clauses) + ";\n*/\n"
    text += "// clang-format off\n"
    text += wrapped(f"#define {name} {predicate}(", ["m->" + field for field in used], ")", " \\") + "\n"
    return text + "// clang-format on\n\n"


def conjunct(clause):
    """A clause as a part of the predicate, in lines of bounded width."""
    clause = re.sub(r"m\s*->\s*", "", clause)
    name, _, rest = clause.partition("(")
    if name.isidentifier() and rest.endswith(")") and "(" not in rest:
        return wrapped(f"    {name}(", rest[:-1].split(", "), ")").replace("\n    ", "\n      ")
    return "    " + clause


def groups(fields):
    text = PREAMBLE.format(
        name="groups", guard="GROUPS", what="the invariant of each module as one predicate: the conjunction of its clauses."
    )
    text += "".join(f'#include "spec/{name}.h"\n' for name in HEADERS) + "\n"
    return text + "".join(group(fields, HEADERS, *one) for one in GROUPS) + "#endif\n"


def whole(fields):
    text = PREAMBLE.format(
        name="whole", guard="WHOLE", what="the state of a manager as one predicate, for the functions that only call others."
    )
    text += "".join(f'#include "spec/{name}.h"\n' for name in WHOLE_HEADERS) + "\n" + WHOLE_MACROS
    return text + group(fields, HEADERS + WHOLE_HEADERS, *WHOLE) + "#endif\n"


def main(arguments):
    fields = manager_fields()
    stale = False
    for name, make in (("groups", groups), ("whole", whole)):
        path = os.path.join(HERE, name + ".h")
        text = make(fields)
        if arguments == ["--check"]:
            with open(path, encoding="utf-8") as header:
                if header.read() != text:
                    print(f"spec/{name}.h is not what spec/make_groups.py writes", file=sys.stderr)
                    stale = True
        else:
            with open(path, "w", encoding="utf-8") as header:
                header.write(text)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
