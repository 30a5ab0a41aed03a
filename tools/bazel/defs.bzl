"""The C rules of Ashlar: the project's flags, and every test a second time under sanitizers."""

COPTS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
]

# Where a test finds the recorded snapshots when @ashlar_snapshots//:files is in its data.
SNAPSHOTS = "../ashlar_snapshots/snapshots"

_SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_SANITIZER_COPTS = _SANITIZERS + [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-UNDEBUG",
    "-U_FORTIFY_SOURCE",
    # gcc warns of this without reason once its own checks are woven in; clang does not know it.
    "-Wno-maybe-uninitialized",
    "-Wno-unknown-warning-option",
]

def ashlar_cc_library(name, **kwargs):
    """A cc_library with the project's flags."""
    native.cc_library(name = name, copts = COPTS + kwargs.pop("copts", []), **kwargs)

def ashlar_cc_binary(name, **kwargs):
    """A cc_binary with the project's flags."""
    native.cc_binary(name = name, copts = COPTS + kwargs.pop("copts", []), **kwargs)

def ashlar_cc_test(name, slots = 0, **kwargs):
    """A cmocka test, made twice.

    `name` is built as the product is; `name`_asan has itself and all that it depends on built with
    the address and undefined behaviour sanitizers and with assertions on.

    Args:
      name: the test.
      slots: capacity of the managers under test, 0 for the built one. With a capacity of its own
        the test and all that it depends on are built for it.
      **kwargs: as for cc_test.
    """
    built = name + "_built"
    common = {key: kwargs[key] for key in ["size", "timeout", "env", "args", "data"] if key in kwargs}
    tags = kwargs.pop("tags", [])
    native.cc_test(
        name = built if slots else name,
        copts = COPTS + kwargs.pop("copts", []),
        linkopts = kwargs.pop("linkopts", []) + ["-lcmocka"],
        linkstatic = True,
        tags = tags + (["manual"] if slots else []),
        **kwargs
    )
    if slots:
        _variant_test(name = name, test = built, slots = slots, tags = tags, **common)
    _variant_test(
        name = name + "_asan",
        test = built if slots else name,
        slots = slots,
        sanitized = True,
        tags = tags,
        **common
    )

def ashlar_snapshot_test(name, **kwargs):
    """An ashlar_cc_test that reads the recorded snapshots.

    The test finds their folder in the environment variable ASHLAR_SNAPSHOTS. Where there is no such
    folder it must print a line `SKIPPED: NAME: REASON` and pass.
    """
    env = dict(kwargs.pop("env", {}))
    env["ASHLAR_SNAPSHOTS"] = SNAPSHOTS
    ashlar_cc_test(
        name = name,
        data = kwargs.pop("data", []) + ["@ashlar_snapshots//:files"],
        env = env,
        **kwargs
    )

def _variant_transition_impl(settings, attr):
    copts = settings["//command_line_option:copt"]
    linkopts = settings["//command_line_option:linkopt"]
    if attr.sanitized:
        copts = copts + _SANITIZER_COPTS
        linkopts = linkopts + _SANITIZERS
    return {
        "//command_line_option:copt": copts,
        "//command_line_option:linkopt": linkopts,
        "//tools/bazel:slots": attr.slots or settings["//tools/bazel:slots"],
    }

_SETTINGS = [
    "//command_line_option:copt",
    "//command_line_option:linkopt",
    "//tools/bazel:slots",
]

_variant_transition = transition(
    implementation = _variant_transition_impl,
    inputs = _SETTINGS,
    outputs = _SETTINGS,
)

def _variant_test_impl(ctx):
    info = ctx.attr.test[0][DefaultInfo]
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = info.files_to_run.executable,
        is_executable = True,
    )
    environment = {"UBSAN_OPTIONS": "print_stacktrace=1"}
    environment.update(ctx.attr.env)
    return [
        DefaultInfo(executable = executable, runfiles = info.default_runfiles.merge(ctx.runfiles(files = ctx.files.data))),
        testing.TestEnvironment(environment),
    ]

# A test built in another configuration than the one asked for on the command line.
_variant_test = rule(
    implementation = _variant_test_impl,
    attrs = {
        "test": attr.label(cfg = _variant_transition, mandatory = True),
        "data": attr.label_list(allow_files = True),
        "env": attr.string_dict(),
        "sanitized": attr.bool(),
        "slots": attr.int(),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    test = True,
)
