"""The rules of fuzz targets."""

load("//tools/bazel:defs.bzl", "ashlar_cc_test")

# Managers of this many slots: quick to reset and to scan, and soon full. build.sh has the same numbers.
SLOTS = 64
LOCKSTEP_SLOTS = 512 # several hundred blocks

def ashlar_fuzzers(name, targets, srcs):
    """Builds the fuzzers, bin/TARGET each, with clang and libFuzzer under the sanitizers.

    One action, by the script that a public fuzzing service runs; so the rest of the build keeps its
    compiler, and what is tested here is what is run there.

    Args:
      name: the rule.
      targets: names of the targets; the source of each is TARGET_fuzz.c.
      srcs: all files that build.sh compiles or includes.
    """
    native.genrule(
        name = name,
        testonly = True,
        srcs = srcs,
        outs = ["bin/" + target for target in targets],
        cmd = "OUT=$(RULEDIR)/bin $(location build.sh) %s" % " ".join(targets),
        tools = ["build.sh"],
        message = "Building fuzzers",
    )

def ashlar_fuzz_target(name, runs, deps, slots = SLOTS):
    """The tests of one fuzz target, whose source is NAME_fuzz.c.

    NAME_replay runs the files of corpus/NAME and crashes/NAME, with the compiler of the build, and
    NAME_replay_asan under the sanitizers; NAME_smoke runs the fuzzer.

    Args:
      name: the target.
      runs: inputs of the smoke test, a few seconds' worth.
      deps: libraries under test.
      slots: capacity of the managers.
    """
    folders = [folder for folder in ["corpus/" + name, "crashes/" + name] if native.glob([folder + "/*"])]
    files = native.glob([folder + "/*" for folder in folders])
    ashlar_cc_test(
        name = name + "_replay",
        size = "small",
        srcs = [
            name + "_fuzz.c",
            "replay_main.c",
        ],
        args = ["fuzz/" + folder for folder in folders],
        data = files,
        slots = slots,
        deps = [":harness"] + deps,
    )
    native.sh_test(
        name = name + "_smoke",
        size = "medium",
        srcs = ["smoke_test.sh"],
        args = [
            "$(location bin/%s)" % name,
            str(runs),
        ],
        data = ["bin/" + name] + files + native.glob([name + ".dict"]),
    )
