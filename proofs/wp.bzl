"""Bazel tests that run Frama-C WP: wp_test proves a module, wp_negative_test seeds a fault.

Both run proofs/run_wp.py, which says what counts as proved. Prove with `./ashlar prove`.
"""

load("//tools/bazel:slots.bzl", "SlotsInfo")

# Every module is proved at the built capacity and, in a campaign, again at this one, so that nobody
# depends on how large the arrays are.
SMALL_SLOTS = 64

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _wp_impl(ctx):
    slots = ctx.attr.slots or ctx.attr._built_slots[SlotsInfo].slots
    words = [ctx.file._runner.short_path, "--module", ctx.attr.module, "--slots", str(slots)]
    words += ["--goals", ctx.file._goals.short_path, "--tools", ctx.file._tools.short_path]
    words += ["--timeout", str(ctx.attr.prover_timeout), "--first", ctx.attr.first_prover]
    for source in ctx.files.srcs:
        words += ["--src", source.short_path]
    headers = ctx.attr.lib[CcInfo].compilation_context.headers.to_list()
    for header in headers:
        words += ["--hdr", header.short_path]
    for function in ctx.attr.functions:
        words += ["--function", function]
    for option in ctx.attr.options:
        words.append("--option=" + option)
    if ctx.attr.smoke:
        words.append("--smoke")
    if ctx.attr.parts > 1:
        words += ["--part", str(ctx.attr.part), "--parts", str(ctx.attr.parts)]
    if ctx.file.file:
        words += ["--file", ctx.file.file.short_path, "--old", ctx.attr.old, "--new", ctx.attr.new]
        for label in ctx.attr.expect:
            words += ["--expect", label]
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        output = script,
        content = "#!/bin/sh\nexec python3 %s \"$@\"\n" % " ".join([_quote(word) for word in words]),
        is_executable = True,
    )
    inputs = ctx.files.srcs + headers + ctx.files._provers + [ctx.file._runner, ctx.file._goals, ctx.file._tools]
    return [DefaultInfo(executable = script, runfiles = ctx.runfiles(files = inputs))]

_wp_test = rule(
    implementation = _wp_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".c"], mandatory = True),
        "lib": attr.label(mandatory = True, providers = [CcInfo]),
        "module": attr.string(mandatory = True),
        "functions": attr.string_list(),
        "slots": attr.int(),
        "smoke": attr.bool(),
        "part": attr.int(default = 1),
        "parts": attr.int(default = 1),
        "prover_timeout": attr.int(default = 30),
        "first_prover": attr.string(default = "z3", values = ["cvc4", "z3"]),
        "options": attr.string_list(),
        "file": attr.label(allow_single_file = True),
        "old": attr.string(),
        "new": attr.string(),
        "expect": attr.string_list(),
        "_built_slots": attr.label(default = "//tools/bazel:slots"),
        "_runner": attr.label(default = "//proofs:run_wp.py", allow_single_file = True),
        "_goals": attr.label(default = "//proofs:goals.txt", allow_single_file = True),
        "_provers": attr.label(default = "//proofs:provers"),
        "_tools": attr.label(default = "//proofs:tool-versions.txt", allow_single_file = True),
    },
    test = True,
)

def wp_test(name, srcs, lib, deep = False, prover_timeout = 60, first_prover = "z3", options = [], timeout = "long", parts = 1):
    """Proves every function of srcs, and the lemmas that they see: as many goals as proofs/goals.txt records for each.

    Makes three tests: `name` at the built capacity; `name`_deep, the same with smoke tests; and `name`_small at
    SMALL_SLOTS. The latter two run by name, in the campaign of the proofs, and with all tests only where `deep` is set.

    Args:
      name: the module, as in proofs/goals.txt.
      srcs: C files to prove.
      lib: the library that they belong to; its headers are all that they include.
      deep: whether all three run with all tests.
      prover_timeout: seconds for each prover and goal.
      first_prover: the prover that tries each goal first: cvc4 where z3 gives up on many.
      options: further frama-c options.
      timeout: Bazel's timeout of the test.
      parts: into how many tests the functions are shared at the built capacity, where one would take too long:
        `name`, `name`_part_2 and so on.
    """
    runs = [("", 0, False, 1, parts), ("_deep", 0, True, 1, 1), ("_small", SMALL_SLOTS, False, 1, 1)]
    runs += [("_part_%d" % part, 0, False, part, parts) for part in range(2, parts + 1)]
    for suffix, slots, smoke, part, of in runs:
        _wp_test(
            name = name + suffix,
            srcs = srcs,
            lib = lib,
            module = name,
            slots = slots,
            smoke = smoke,
            part = part,
            parts = of,
            prover_timeout = prover_timeout,
            first_prover = first_prover,
            options = options,
            timeout = timeout,
            tags = ["wp"] + (["manual"] if suffix in ["_deep", "_small"] and not deep else []),
        )

def wp_negative_test(name, srcs, lib, functions, file, old, new, expect, prover_timeout = 10, timeout = "long"):
    """Passes if `functions` are proved as they stand and not once a fault is seeded.

    Args:
      name: what is wrong, for example "free_index_skips_ties".
      srcs: C files to prove.
      lib: the library that they belong to.
      functions: the functions to prove, before and after.
      file: the file that gets the fault, a body or a contract; one of srcs or of the headers of lib.
      old: text that occurs exactly once in the file.
      new: the text in its place.
      expect: parts of goal names, for example "fi_best_ensures_best"; each must match a goal that
        fails with the fault.
      prover_timeout: seconds for each prover and goal; enough for the functions without the fault.
      timeout: Bazel's timeout of the test.
    """
    _wp_test(
        name = name,
        srcs = srcs,
        lib = lib,
        module = name,
        functions = functions,
        slots = SMALL_SLOTS,
        prover_timeout = prover_timeout,
        file = file,
        old = old,
        new = new,
        expect = expect,
        timeout = timeout,
        tags = ["wp"],
    )
