#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each function that a header of the core declares names its worst-case cost (REQ-BOUND-cost).

The cost stands in the comment above the declaration, or in that of the group it stands in: the last comment before it.
The head of a file and comments inside structs begin no group; contracts and ghost code are no comments.
"""

import re
import unittest
from pathlib import Path

TOKEN = re.compile(
    r"(?P<contract>/\*@.*?\*/|//@[^\n]*)"
    r"|(?P<comment>/\*.*?\*/|//[^\n]*)"
    r"|(?P<directive>^[ \t]*#(?:\\\n|[^\n])*)"
    r"|(?P<brace>[{}])"
    r"|\b(?P<function>ashlar_\w+)\s*\(",
    re.DOTALL | re.MULTILINE,
)
COST = re.compile(r"\bO\(|(?i:\b(?:linear|logarithmic)\b)")


def functions(header):
    """The functions that a header declares, in their order: name, and whether it names a cost."""
    found = []
    depth = 0
    costs = False
    for token in TOKEN.finditer(header):
        if token["brace"]:
            depth += 1 if token["brace"] == "{" else -1
        elif depth == 0 and token["comment"]:
            costs = "SPDX-License-Identifier" not in token["comment"] and COST.search(token["comment"]) is not None
        elif depth == 0 and token["function"]:
            found.append((token["function"], costs))
    return found


class Headers(unittest.TestCase):
    # REQ-BOUND-cost: that a cost is named; whether it is the cost, a reader has to see.
    def test_each_function_names_a_cost(self):
        missing = []
        count = 0
        for path in sorted(Path("core").glob("*.h")):
            for name, costs in functions(path.read_text(encoding="utf-8")):
                count += 1
                if not costs:
                    missing.append(f"{path}: {name}")
        self.assertEqual(missing, [])
        self.assertGreaterEqual(count, 200)


class Reading(unittest.TestCase):
    """What is refused, and what is not, on headers of a line or two."""

    def check(self, header, *costs):
        self.assertEqual(functions(header), [(f"ashlar_{name}", cost) for name, cost in zip("abc", costs)])

    def test_a_function_without_a_cost(self):
        self.check("int ashlar_a(void);\n", False)
        self.check("/* Does it. */\nint ashlar_a(void);\n", False)
        self.check("/* Goes to(its) end, along a line. */\nint ashlar_a(void);\n", False)

    def test_a_function_with_one(self):
        self.check("/* Does it. O(1). */\nint ashlar_a(void);\n", True)
        self.check("/* Linear in\n   the pools. */\n/*@ assigns \\nothing; */\nint *ashlar_a(\n  int a);\n", True)
        self.check("// Logarithmic.\nint ashlar_a(void);\n", True)

    def test_a_group_ends_with_the_next_comment(self):
        group = "/* O(1). */\nint ashlar_a(void);\nint ashlar_b(void);\n"
        self.check(group, True, True)
        self.check(group + "/* Else. */\nint ashlar_c(void);\n", True, True, False)
        self.check("/* O(1). */\nint ashlar_a(void);\n/* --- else --- */\nint ashlar_b(void);\n", True, False)

    def test_what_is_no_comment_of_a_function(self):
        self.check("/* a.h - linear.\n * SPDX-License-Identifier: BSD-3-Clause */\nint ashlar_a(void);\n", False)
        self.check("/* Does it. */\n/*@ ensures O(1); */\nint ashlar_a(void);\n", False)
        self.check("/* Does it. */\nstruct a {\n  int b; /* linear */\n};\nint ashlar_a(void);\n", False)
        self.check("/* Does it. */\n#define O(x) \\\n  linear\nint ashlar_a(void);\n", False)

    def test_what_is_no_function(self):
        self.check("/*@ ghost\n  /@ assigns \\nothing; @/\n  void ashlar_a(void);\n*/\n")
        self.check("//@ ghost ashlar_a(m);\n/* ashlar_a(m) */\n#define A \\\n  ashlar_a(m)\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
