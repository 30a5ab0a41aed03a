"""The checks that every C file of a package passes."""

_CHECKS = ["compilers", "cppcheck", "format", "tidy"]

def ashlar_lint(includes = [], tests = False):
    """Makes :sources, all C files of the package, and one test for each check over them.

    The tests are lint_compilers (gcc and clang, every warning an error), lint_cppcheck, lint_format
    (clang-format) and lint_tidy (clang-tidy). A test of the repository sees that each C file
    belongs to some package's :sources.

    Args:
      includes: the :sources of the packages whose headers are included.
      tests: whether the package holds tests, where some checks are off.
    """
    native.filegroup(
        name = "sources",
        srcs = native.glob(["**/*.c", "**/*.h"]),
        visibility = ["//visibility:public"],
    )
    for check in _CHECKS:
        native.sh_test(
            name = "lint_" + check,
            timeout = "long",
            srcs = ["//tools/bazel:lint.sh"],
            args = [check + ("-tests" if tests else ""), "$(locations :sources)"],
            data = [":sources", "//:.clang-format", "//:.clang-tidy"] + includes,
            tags = ["lint"],
        )
