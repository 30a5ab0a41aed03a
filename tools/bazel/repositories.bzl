"""Repositories made from what the machine has. None fetches anything."""

def _link_folder(repository_ctx, folder, name, patterns):
    """Links an existing folder and makes :files of it; an empty :files where there is none."""
    if folder and folder.exists:
        repository_ctx.symlink(folder, name)
    repository_ctx.file("BUILD", """\
filegroup(
    name = "files",
    srcs = glob(%s),
    visibility = ["//visibility:public"],
)
""" % ["%s/%s" % (name, pattern) for pattern in patterns])

def _snapshots_impl(repository_ctx):
    named = repository_ctx.os.environ.get("ASHLAR_SNAPSHOTS", "")
    if named:
        folder = repository_ctx.path(named)
    else:
        root = repository_ctx.path(Label("//:WORKSPACE")).dirname
        folder = root.dirname.get_child("shared").get_child("snapshots")
    _link_folder(repository_ctx, folder, "snapshots", ["*.pickle", "README.md"])

# The folder of recorded snapshots: the one that ASHLAR_SNAPSHOTS names, else ../shared/snapshots
# beside the root of the workspace.
ashlar_snapshots = repository_rule(
    implementation = _snapshots_impl,
    configure = True,
    environ = ["ASHLAR_SNAPSHOTS"],
    local = True,
)

def _torch_impl(repository_ctx):
    named = repository_ctx.os.environ.get("ASHLAR_TORCH", "")
    folder = repository_ctx.path(named) if named else None
    _link_folder(repository_ctx, folder, "torch", ["_memory_viz.py"])

# PyTorch's snapshot viewer, in the folder that ASHLAR_TORCH names; the launcher provides it.
ashlar_torch = repository_rule(
    implementation = _torch_impl,
    configure = True,
    environ = ["ASHLAR_TORCH"],
    local = True,
)

def _cuda_impl(repository_ctx):
    home = repository_ctx.path(repository_ctx.os.environ.get("CUDA_HOME", "") or "/usr/local/cuda")
    include = home.get_child("include")
    found = include.get_child("cuda_runtime_api.h").exists
    if found:
        repository_ctx.symlink(include, "include")
    repository_ctx.file("defs.bzl", "HAVE_CUDA = %s\n" % found)
    repository_ctx.file("BUILD", """\
cc_library(
    name = "runtime",
    hdrs = glob(["include/**/*.h", "include/**/*.hpp"]),
    includes = ["include"],
    linkopts = %s,
    visibility = ["//visibility:public"],
)
""" % (["-L%s/lib64" % home, "-lcudart"] if found else []))

# The CUDA toolkit in CUDA_HOME or /usr/local/cuda: HAVE_CUDA in @ashlar_cuda//:defs.bzl, and
# @ashlar_cuda//:runtime, its headers and runtime library; empty where there is no toolkit.
ashlar_cuda = repository_rule(
    implementation = _cuda_impl,
    configure = True,
    environ = ["CUDA_HOME"],
    local = True,
)
