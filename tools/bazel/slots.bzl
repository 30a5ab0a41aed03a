"""The slot capacity of a block manager, a build setting: --slots=N (see .bazelrc)."""

SlotsInfo = provider("The number of slots that a manager has.", fields = ["slots"])

# Slot numbers, and the number of buckets of the address map, one more, are of C's type int.
_LEAST = 16
_MOST = (1 << 31) - 2

def _slots_impl(ctx):
    slots = ctx.build_setting_value
    if slots < _LEAST or slots > _MOST:
        fail("slots = %d is not between %d and %d" % (slots, _LEAST, _MOST))
    defines = depset(["ASHLAR_SLOTS=%d" % slots])
    return [
        SlotsInfo(slots = slots),
        CcInfo(compilation_context = cc_common.create_compilation_context(defines = defines)),
    ]

# As a dependency of a library it defines ASHLAR_SLOTS there and in all that depends on it.
slots_setting = rule(
    implementation = _slots_impl,
    build_setting = config.int(flag = True),
)
